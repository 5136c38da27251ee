# SPDX-License-Identifier: MIT
"""curl, wget, aria2: with their own retries."""

from client import EachUnit, Logged

CURL = ["curl", "-sq", "--noproxy", "*", "-o", "/dev/null"]
RETRY = ["--retry", "2", "--retry-delay", "1", "--retry-all-errors", "--retry-connrefused"]
TOLD = ["-v", "-w", "%{{stderr}}done %{{url}}\\n"]
WGET = ["wget", "--no-config", "--no-proxy", "-O", "/dev/null"]
ARIA2 = ["aria2c", "-q", "--no-conf", "--no-proxy=*", "--allow-overwrite=true",
         "--auto-file-renaming=false", "--retry-wait=1", "--max-tries=3",
         "--log-level=info", "--log=-", "--console-log-level=error"]


# Feeds a list of all URLs to what follows.
FED = ["bash", "-c", "seq -f '{url}/%g' 0 {last} | exec \"$@\" >&2", ""]


def unit_of(line):
    return line.split("/u/")[1].split()[0] if "/u/" in line else ""


def wget_units(log):
    units, unit = [], ""
    for line in log.splitlines():
        if line.startswith("--"):
            unit = unit_of(line)
        units += [unit] if line.startswith("Connecting to") else []
    return units


def curl_units(log):
    units, open_from = [], 0
    for line in log.splitlines():
        if line.startswith("*   Trying"):
            units.append("")
        elif line.startswith("done "):
            units[open_from:] = [unit_of(line)] * (len(units) - open_from)
            open_from = len(units)
    return units


def aria2_units(log):
    """Each connect has the number of its command; that of a failed one comes again with its URI."""
    units, open_for = [], {}
    for line in log.splitlines():
        number = line.split("CUID#")[1].split()[0] if "CUID#" in line else ""
        if " - Connecting to" in line:
            open_for[number] = len(units)
            units.append("")
        elif "Restarting the download. URI=" in line and number in open_for:
            units[open_for.pop(number)] = unit_of(line)
    return units


CLIENTS = [
    EachUnit("curl --retry", [*CURL, *RETRY, "{url}/{unit}"], named=True),
    # On kept connections curl sends a request again when the connection was dead; not on new ones.
    Logged("curl, URLs, not kept", [*CURL, *TOLD, "-H", "Connection: close", "{url}/[0-{last}]"],
           read_log=curl_units, retries=False),
    Logged("curl, URLs, kept", [*CURL, *TOLD, "{url}/[0-{last}]"], read_log=curl_units),
    EachUnit(
        "wget --tries",
        [*WGET, "-q", "--tries=3", "--waitretry=1", "--retry-connrefused", "{url}/{unit}"],
    ),
    Logged(
        "wget --tries, URLs",
        [*FED, *WGET, "--tries=3", "--waitretry=0", "--retry-connrefused", "-i", "-"],
        read_log=wget_units,
        named=True,
    ),
    EachUnit("aria2", [*ARIA2, "-o", "{unit}.out", "{url}/{unit}"]),
    Logged(
        "aria2 -j4, URLs",
        [*FED, *ARIA2, "-j4", "-i", "-"],
        read_log=aria2_units,
    ),
]
