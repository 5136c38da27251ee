# SPDX-License-Identifier: MIT
"""The pictures of the storms, drawn by gnuplot: over time, or as bars."""

import html
import os
import re
import subprocess

ATTEMPTS, ANSWERED, GREY = "#d95f02", "#1b9e77", "#777777"
BARS = ["#d95f02", "#7570b3", "#1b9e77", "#e6ab02", "#66a61e"]
COLOURS = dict(zip(("bare", "two hops of five", "library"), BARS))
LONGEST = 30000  # ms
WIDTH, HEIGHT, KEY = 470, 230, 20  # of a panel, and of the line above all


def smooth(counts, step=10):
    """Per second, over a second each, at its middle."""
    return [(i / 10 + step / 20, sum(counts[i:i + step]) * 10 / step)
            for i in range(0, max(1, len(counts) - step + 1), 2)]


class Drawing:
    """A picture of several panels, and the files that gnuplot reads for it."""

    def __init__(self, out, name):
        self.base, self.commands, self.files, self.panels = os.path.join(out, name), [], [], 0

    def data(self, rows):
        path = f"{self.base}-{len(self.files)}.dat"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(" ".join(map(str, row)) + "\n" for row in rows)
        self.files.append(path)
        return f'"{path}"'

    def panel(self, title, lines, draw):
        self.panels += 1
        self.commands += [f'set title "{title}" font ",13"', "unset label", "unset arrow", "unset logscale", *lines,
                          "plot " + ", ".join(draw)]

    def key(self, kinds, width, height):
        """What the colours say, on one line above all panels: a picture is passed on without its page."""
        at = 10
        for number, (colour, mark, text) in enumerate(kinds, 1):
            yield (f'set label {number} "{mark} {text}" at screen {at / width:.3f},{1 - 11 / height:.3f} left '
                   f'tc rgb "{colour}" font ",9"')
            at += 34 + 7.2 * len(text)

    def write(self, columns, kinds):
        """NAME.svg and NAME.png."""
        rows = (self.panels + columns - 1) // columns
        width, height = WIDTH * columns, HEIGHT * rows + KEY
        first = self.commands.index("unset label") + 1
        self.commands[first:first] = self.key(kinds, width, height)
        for kind, terminal in (("svg", "svg dynamic font 'sans,12' background '#ffffff'"),
                               ("png", "pngcairo font 'sans,9'")):
            script = [f"set terminal {terminal} size {width},{height}",
                      f'set output "{self.base}.{kind}"', f'set multiplot layout {rows},{columns} title " "',
                      "set grid ytics lc rgb '#dddddd'", "set border 3 lc rgb '#888888'", "set tics nomirror",
                      "unset key", *self.commands, "unset multiplot"]
            subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)
        for path in self.files:
            os.unlink(path)


def over_time(out, name, scene, found, simulated):
    """A panel for each variant: what came to the server, what it answered, and the same as simulated (dotted)."""
    drawing = Drawing(out, name)
    load, answers = str(scene["plot"]), str(scene.get("answers", scene["plot"]))
    least = 0.5 if scene.get("logarithmic") else 0
    series = [("load", load, ATTEMPTS), ("answered", answers, ANSWERED)]
    most = max(max((rate for _, rate in smooth(one[kind][port])), default=1)
               for one in found.values() for kind, port, _ in series) or 1
    for variant, one in found.items():
        lines = ['set xlabel "seconds" offset 0,0.7 tc rgb "#666666"', 'set ylabel "per second" tc rgb "#666666"',
                 f"set xrange [0:{one['seconds']}]"]
        for second, text in scene["marks"]:
            lines.append(f'set arrow from {second}, graph 0 to {second}, graph 1 nohead lc rgb "#999999" dt 2')
            lines.append(f'set label "{text}" at {second}, graph 0.96 offset 0.5,0 tc rgb "#666666" font ",10"')
        lines += (["set logscale y", f"set yrange [{least}:{most * 3}]"] if least else
                  [f"set yrange [0:{most * 1.15}]"])
        draw = []
        if scene.get("capacity"):
            draw.append(f'{scene["capacity"]} with lines dt 3 lc rgb "{GREY}"')
        for kind, port, colour in series:
            for source, style in ((simulated.get(variant), "lw 1.5 dt 3"), (one, "lw 2.5")):
                if source:
                    rows = [(second, max(rate, least)) for second, rate in smooth(source[kind][port])]
                    draw.append(f'{drawing.data(rows)} with lines {style} lc rgb "{colour}"')
        drawing.panel(variant, lines, draw)
    server = "the resolver" if scene["plot"] == "dns" else "the server"
    kinds = [(ATTEMPTS, "\u25ac", f"attempts that reach {server}"), (ANSWERED, "\u25ac", "answered")]
    if simulated:
        kinds.append((GREY, "\u22ef", "dotted: the simulator's"))
    if scene.get("capacity"):
        kinds.append((GREY, "\u22ef", f"grey: what it can answer, {scene['capacity']}/s"))
    drawing.write(2 if len(found) in (1, 2, 4) else 3, kinds)
    return kinds


def bars(out, name, panels):
    """panels: title, what the bars say, logarithmic, the groups, and for each kind its name and values."""
    drawing, names = Drawing(out, name), []
    for title, label, logarithmic, groups, kinds in panels:
        rows = [[f'"{group}"', *(values[i] for _, values in kinds)] for i, group in enumerate(groups)]
        path = drawing.data(rows)
        names = [kind for kind, _ in kinds]
        most = max(value for _, values in kinds for value in values)
        lines = ["set style data histogram", "set style histogram clustered gap 1", "set style fill solid border -1",
                 "set boxwidth 0.9", "set xrange [*:*]", "unset xlabel", f'set ylabel "{label}" tc rgb "#666666"']
        lines += (["set logscale y", f"set yrange [0.01:{most * 3}]"] if logarithmic else
                  [f"set yrange [0:{most * 1.1}]"])
        drawing.panel(title, lines, [f'{path} using (max0(${i + 2})):xtic(1) lc rgb "{BARS[i]}"'
                                     for i in range(len(kinds))])
    drawing.commands.insert(0, "max0(x) = x > 0.01 ? x : 0.01")
    kinds = [(BARS[i], "\u25a0", kind) for i, kind in enumerate(names)]
    drawing.write(2 if len(panels) != 3 else 3, kinds)
    return kinds


def shares(each, wanted=lambda good: True, points=200):
    """Of all work the share that was over after so many milliseconds, of what is wanted; to the edge of the picture."""
    times = sorted(ms for ms, good in each if wanted(good))
    places = sorted({len(times) * i // points for i in range(points)} | {len(times) - 1}) if times else []
    return [(max(times[place], 0.1), (place + 1) / len(each)) for place in places] + [(LONGEST, len(times) / len(each))]


def latencies(out, name, panels):
    """How long the work took: the share that was answered within a time, and (dotted) that was over by then, be it by
    an error. panels: title, and for each kind its name and its work (play.py)."""
    drawing, names = Drawing(out, name), []
    for title, kinds in panels:
        names = [kind for kind, _ in kinds]
        draw = []
        for kind, each in kinds:
            for style, wanted in (("lw 1.5 dt 3", lambda good: True), ("lw 2.5", bool)):
                draw.append(f'{drawing.data(shares(each, wanted))} with steps {style} lc rgb "{COLOURS[kind]}"')
        drawing.panel(title, ['set xlabel "milliseconds" offset 0,0.7 tc rgb "#666666"', "set logscale x",
                              f"set xrange [0.1:{LONGEST}]", "set yrange [0:1.05]",
                              'set ylabel "share of the requests" tc rgb "#666666"'], draw)
    kinds = [(COLOURS[kind], "\u25ac", f"{kind}: answered") for kind in names]
    kinds.append((GREY, "\u22ef", "dotted: with errors"))
    drawing.write({1: 1, 2: 2, 4: 2}.get(len(panels), 3), kinds)
    return kinds


def part_of_page(out, name, legend):
    """The picture as part of a page, and what its colours say."""
    with open(os.path.join(out, name + ".svg"), encoding="utf-8") as file:
        picture = re.sub(r"^<\?xml.*?\?>|<!DOCTYPE.*?>", "", file.read(), flags=re.S)
    # Several pictures in one page: their names must not meet.
    words = [f'<span style="color:{colour}">{mark}</span> {html.escape(text)}' for colour, mark, text in legend]
    return re.sub(r'(id="|href="#|xlink:href=\'#|url\(#)', rf"\g<1>{name}-", picture), words


def draw(out, name, scene, found, rows, simulated):
    """Draws NAME.svg and NAME.png, and where the scene has them the times of the work; yields each."""
    if "bars" in scene:
        legend = bars(out, name, list(scene["bars"]({variant: row for variant, row, *_ in rows})))
    else:
        legend = over_time(out, name, scene, found, simulated)
    yield part_of_page(out, name, legend)
    if "latencies" in scene:
        name += "-latency"
        yield part_of_page(out, name, latencies(out, name, list(scene["latencies"](found))))


def draw_in_full(out, name, full, found):
    """The same of a scenario that was simulated alone."""
    return part_of_page(out, name, over_time(out, name, full, found, {}))
