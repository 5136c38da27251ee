# SPDX-License-Identifier: MIT
"""What a client says about a failure, in its own words, and which failure it means by them."""

import re

MEANINGS = (
    ("crash", r"killed by signal|segmentation fault|core dumped|assertion .*failed|abort trap"),
    ("refused", r"refus"),
    ("broken", r"reset|aborted|broken pipe|no answer|empty reply|hang ?up|EOF|end of file|disconnect|"
               r"closed|without response|no data received|unexpected end|bad gateway|half an answer|"
               r"does not work|lost connection|remaining to read|incomplete|partial|truncated|\[19/|"
               r"not enough data|fewer bytes|invalid response|broken|short read|\[14/|prematurely"),
    ("timeout", r"tim(ed?|ing)[ -]?out|time limit|deadline|timeout|too slow|execution expired"),
    ("again", r"temporary failure|EAI_AGAIN|try again|\b-?3008|host name lookup failure"),
    ("unknown", r"name or service not known|not known|ENOTFOUND|unknown host|"
                r"could not resolve|unable to resolve|no address|nodename nor servname|bad host"),
    ("missing", r"no such file|ENOENT"),
    ("unreachable", r"unreachable|no route"),
    ("error", r"\b503\b|service unavailable|LOADING|\berror$|not yet"),
    ("odd", r"in progress|already|invalid argument|bad (file )?descriptor|interrupted|permission|"
            r"not connected|temporarily unavailable"),
)


def meanings(text):
    """The set of failures that the text speaks of; one line may speak of several."""
    found = set()
    for line in text.splitlines():
        # A time of day, or the number of a process, may hold a 503, too.
        line = re.sub(r"https?://\S+|\d{9,}\.\d+|\[\d+\]", "", line)
        found |= {name for name, pattern in MEANINGS if re.search(pattern, line, re.IGNORECASE)}
    return found


def summary(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = max(lines[-3:], key=lambda line: (bool(meanings(line)), len(line)), default="")
    return {"said": last[:300], "meanings": sorted(meanings(text[:100000] + "\n" + text[-100000:]))}


def short(text, room):
    """The end of the message says what is wrong; its beginning says who speaks."""
    text = re.sub(r"/\S*/unix.socket|https?://\S+|127\.0\.0\.1(:\d+)?", "", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "", text)
    text = re.sub(r"\s+", " ", text).strip(" :.")
    return text if len(text) <= room else ".." + text[2 - room:]
