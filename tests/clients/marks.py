# SPDX-License-Identifier: MIT
"""Tables in tests/README.md that what measured them writes anew, each between a mark and the next end."""

import os
import sys

README = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "README.md")
END = "<!-- the end of that -->"


def put(text, mark, lines):
    """The text with these lines between the mark and its end."""
    head, begin, rest = text.partition(mark)
    _, end, tail = rest.partition(END)
    if not end:
        sys.exit(f"{README} has no place for {mark}")
    return "\n".join([head + begin, *lines, end + tail])


def renew(tables):
    """Writes the lines of each mark."""
    with open(README, encoding="utf-8") as file:
        text = file.read()
    for mark, lines in tables.items():
        text = put(text, mark, lines)
    with open(README, "w", encoding="utf-8") as file:
        file.write(text)
