# SPDX-License-Identifier: MIT
"""What the storms looked like: a page with a picture of each, drawn by gnuplot, and its numbers."""

import html
import os
import platform
import re
import subprocess
import time

STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; font-size: 90%; } td, th { padding: .2em .7em; text-align: right; }
td:first-child, th:first-child { text-align: left; } tr:nth-child(even) { background: #8881; }
.bad { color: #b00020; } img, svg { max-width: 100%; height: auto; background: white; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } .bad { color: #ff8a80; } }
"""


def smooth(counts, step=10):
    """Per second, over a second each."""
    return [(i / 10, sum(counts[i:i + step]) * 10 / step) for i in range(0, len(counts) - step + 1, step)]


def panel(out, scene, variant, found, number, most):
    """The commands of one panel: what came to the server, and what it answered."""
    port = str(scene["plot"])
    files = []
    for name in ("load", "answered"):
        path = os.path.join(out, f"plot-{number}-{name}.dat")
        with open(path, "w", encoding="ascii") as file:
            for second, rate in smooth(found[name].get(port, [])):
                file.write(f"{second} {max(rate, 0.1) if scene.get('logarithmic') else rate}\n")
        files.append(path)
    lines = [f'set title "{variant}"', "unset label", "unset arrow"]
    for second, text in scene["marks"]:
        lines.append(f'set arrow from {second}, graph 0 to {second}, graph 1 nohead lc rgb "#999999" dt 2')
        lines.append(f'set label "{text}" at {second}, graph 0.95 offset 0.5,0 tc rgb "#666666"')
    if scene.get("logarithmic"):
        lines += ["set logscale y", f"set yrange [0.1:{most * 2}]"]
    else:
        lines.append(f"set yrange [0:{most * 1.1}]")
    draw = [f'"{files[0]}" with lines lw 2 lc rgb "#d95f02" title "attempts at the server"',
            f'"{files[1]}" with lines lw 2 lc rgb "#1b9e77" title "answered"']
    if scene.get("capacity"):
        draw.append(f'{scene["capacity"]} with lines dt 3 lc rgb "#555555" title "what it can do"')
    return [*lines, "plot " + ", ".join(draw)], files


def draw(out, name, scene, found):
    """NAME.svg and NAME.png."""
    port = str(scene["plot"])
    most = max(max((rate for _, rate in smooth(one[kind].get(port, [0] * 10))), default=1)
               for one in found.values() for kind in ("load", "answered")) or 1
    columns = min(2, len(found))
    rows = (len(found) + columns - 1) // columns
    commands, files = [], []
    for number, (variant, one) in enumerate(found.items()):
        more, used = panel(out, scene, variant, one, number, most)
        commands += more
        files += used
    for kind, terminal in (("svg", "svg dynamic font 'sans,13'"), ("png", "pngcairo font 'sans,10'")):
        script = [f"set terminal {terminal} size {500 * columns},{260 * rows}",
                  f'set output "{os.path.join(out, name)}.{kind}"',
                  f"set multiplot layout {rows},{columns}", "set grid ytics lc rgb '#dddddd'",
                  'set xlabel "seconds"', 'set ylabel "per second"', "set key top right",
                  *commands, "unset multiplot"]
        subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)
    for path in files:
        os.unlink(path)


def table(rows):
    heads = list(dict.fromkeys(key for _, row, _ in rows for key in row))
    lines = ["<table><tr><th></th>" + "".join(f"<th>{html.escape(head)}</th>" for head in heads) + "</tr>"]
    for variant, row, wrong in rows:
        cells = "".join(f"<td>{html.escape(str(row.get(head, '')))}</td>" for head in heads)
        lines.append(f"<tr><td>{html.escape(variant)}</td>{cells}</tr>")
        lines += [f'<tr><td colspan="{len(heads) + 1}" class="bad">{html.escape(problem)}</td></tr>' for problem in wrong]
    return "\n".join([*lines, "</table>"])


def chapter(out, name, about, scene, found, rows):
    draw(out, name, scene, found)
    with open(os.path.join(out, name + ".svg"), encoding="utf-8") as file:
        picture = re.sub(r"^<\?xml.*?\?>|<!DOCTYPE.*?>", "", file.read(), flags=re.S)
    # Several pictures in one page: their names must not meet.
    picture = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", picture)
    return (f'<h2 id="{name}">{html.escape(scene["title"])}</h2>\n<p>{html.escape(" ".join(about.split()))}</p>\n'
            f"{picture}\n{table(rows)}\n")


def write(out, chapters, options):
    path = os.path.join(out, "index.html")
    made = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    with open(path, "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>The storm lab</title>"
                   f"<style>{STYLE}</style></head><body>\n<h1>The storm lab</h1>\n"
                   f"<p>{made} UTC, {os.cpu_count()} cores, {html.escape(platform.release())}; "
                   f"{'the short form' if options.quick else 'the whole'}. All counted at the servers.</p>\n"
                   + "\n".join(chapters) + "</body></html>\n")
    return path
