# SPDX-License-Identifier: MIT
"""The report: one page, with what was found on top, and of each storm its picture and its numbers."""

import html
import os
import platform
import subprocess
import time

import beside
import pictures

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; max-width: 90em; margin: 2em auto; padding: 0 1.5em; color: #222; }
table { border-collapse: collapse; font-size: 88%; margin: .5em 0 1em; }
td, th { padding: .2em .8em; text-align: right; vertical-align: bottom; } th { border-bottom: 1px solid #8888; }
td:first-child, th:first-child { text-align: left; white-space: nowrap; } tr:nth-child(even) { background: #8881; }
td.words { text-align: left; max-width: 26em; font-size: 90%; }
table.found td { text-align: left; vertical-align: top;
  padding: .3em 1.5em .3em .4em; } table.found td.big { font-weight: 600; }
p { max-width: 60em; } .legend > span { margin-right: 1.5em; white-space: nowrap; }
.legend { color: #555; font-size: 90%; max-width: none; }
.bad { color: #b00020; text-align: left !important; } .good { color: #1b7e5a; }
figure { margin: 0; } svg, img { max-width: 100%; height: auto; background: white; border-radius: 4px; }
details summary { cursor: pointer; color: #555; }
@media (prefers-color-scheme: dark) {
  body { background: #111; color: #ddd; } .bad { color: #ff8a80; } .good { color: #69d2a5; }
  .legend, details summary { color: #aaa; }
}
"""


def cell(value):
    text = str(value)
    kind = ' class="words"' if len(text) > 20 else ""
    return f"<td{kind}>{html.escape(text)}</td>"


def table(rows):
    heads = list(dict.fromkeys(key for _, row, *_ in rows for key in row))
    lines = ["<table><tr><th></th>" + "".join(f"<th>{html.escape(head)}</th>" for head in heads) + "</tr>"]
    for variant, row, wrong, known in rows:
        lines.append(f"<tr><td>{html.escape(variant)}</td>{''.join(cell(row.get(head, '')) for head in heads)}</tr>")
        lines += [f'<tr><td colspan="{len(heads) + 1}" class="bad">{html.escape(problem)}</td></tr>'
                  for problem in [*wrong, *known]]
    return "\n".join([*lines, "</table>"])


def beside_the_simulator(rows, tolerance):
    if not rows:
        return ""
    bad = sum(bool(wrong or known) for _, _, wrong, known in rows)
    says = f'<span class="bad">{bad} of {len(rows)} are off</span>' if bad else f"all {len(rows)} within"
    limits = "; ".join(f"{what} {share:.0%} or {least:g}{beside.unit_of(what)}"
                       for what, (share, least) in ((what, far) for what, far in tolerance.items() if far))
    return (f"<details{' open' if bad else ''}><summary>Beside the simulator: {says} (whichever is more: {limits})"
            f"</summary>\n{table(rows)}</details>\n")


def figure(picture, legend):
    return (f'<p class="legend">{" ".join(f"<span>{one}</span>" for one in legend)}</p>\n'
            f"<figure>{picture}</figure>\n")


def in_full(out, name, full, played):
    """The scenario as it stands in conf/scenarios, by the simulator."""
    picture, legend = pictures.draw_in_full(out, name + "-full", full, played["found"])
    return (f"<h3>In full, by the simulator: {full['scenario']}.ini</h3>\n{figure(picture, legend)}"
            f"{table(played['rows'])}\n<details><summary>As it prints it</summary><pre>{html.escape(played['text'])}"
            "</pre></details>\n")


class Told:
    """A chapter: what the report says of a storm, of which there are rows alone."""

    def __init__(self, name, about, scene, rows):
        self.name, self.scene, self.rows, self.beside, self.full = name, scene, rows, [], []
        self.text = f"{self.beginning(about)}{table(rows)}\n"

    def beginning(self, about):
        return (f'<h2 id="{self.name}">{html.escape(self.scene["title"])}</h2>\n'
                f"<p>{html.escape(' '.join(about.split()))}</p>\n")

    def headline(self):
        """A row of the table on top: the storm, what it was bare, what the library makes of it."""
        found = {variant: row for variant, row, *_ in self.rows}
        bad = sum(bool(wrong) for _, _, wrong, _ in [*self.rows, *self.beside, *self.full])
        known = sum(bool(known) for *_, known in self.rows)
        mark = (f'<td class="bad">{bad} failed</td>' if bad else '<td class="bad">open</td>' if known else
                '<td class="good">&#10003;</td>')
        bare, library, *keys = self.scene["headline"]
        said = "".join("<td>" + "<br>".join(
            f"{html.escape(text)}: <b>{html.escape(str(found.get(one, {}).get(key)))}</b>" for key, text in keys)
                       + "</td>" for one in (bare, library))
        title = f'<a href="#{self.name}">{html.escape(self.scene["title"])}</a>'
        return f'<tr><td class="big">{title}</td>{said}{mark}</tr>'


class Chapter(Told):
    """A scene, with its picture and what the simulator makes of it."""

    def __init__(self, out, name, about, scene, played):
        super().__init__(name, about, scene, played["rows"])
        self.beside = played["beside"]
        self.full = played["full"]["rows"] if played["full"] else []
        drawn = pictures.draw(out, name, scene, played["found"], self.rows, played["simulated"])
        self.text = (f"{self.beginning(about)}{''.join(figure(*one) for one in drawn)}{table(self.rows)}\n"
                     f"{beside_the_simulator(self.beside, played['tolerance'])}")
        if played["full"]:
            self.text += in_full(out, name, scene["full"], played["full"])


def region(out, options):
    """What the simulator says of other loads and outages: a map for each way of trying again."""
    svg = os.path.join(out, "region.svg")
    done = subprocess.run([os.path.join(options.build, "retrybudget"), "simulate", "--region", "--plot", svg,
                           "--scenario", os.path.join(ROOT, "conf", "scenarios", "region.ini")],
                          capture_output=True, text=True, check=True)
    with open(svg, encoding="utf-8") as file:
        drawn = file.read()
    return ("<h2 id=\"region\">After which outage it stays down</h2>\n<p>By the simulator: from which load, and after "
            "how long an outage, a server that could answer all does not come back, with three tries at once, with pauses "
            f"that double, and under the library.</p>\n<figure>{drawn[drawn.index('<svg'):]}</figure>\n"
            f"<details><summary>In numbers</summary><pre>{html.escape(done.stdout)}</pre></details>\n")


def write(out, chapters, options):
    path = os.path.join(out, "index.html")
    made = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    with open(path, "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>The storm lab</title>"
                   '<meta name="viewport" content="width=device-width">'
                   f"<style>{STYLE}</style></head><body>\n<h1>The storm lab</h1>\n"
                   "<p>Real programs around servers that fail, without the library and with it. All is counted at the "
                   f"servers. {made} UTC, {os.cpu_count()} cores, {html.escape(platform.release())}; "
                   f"{'the short form' if options.quick else 'the whole'}.</p>\n"
                   + (f'<p class="bad">{html.escape(options.disturbed)}</p>\n' if options.disturbed else "") +
                   '<table class="found"><tr><th>storm</th><th style="text-align:left">bare</th>'
                   '<th style="text-align:left">under the library</th><th></th></tr>'
                   + "\n".join(chapter.headline() for chapter in chapters) + "</table>\n"
                   + "\n".join(chapter.text for chapter in chapters)
                   + ("" if options.cycles else region(out, options)) + "</body></html>\n")
    return path
