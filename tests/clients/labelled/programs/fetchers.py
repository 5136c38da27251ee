# SPDX-License-Identifier: MIT
"""curl, wget, aria2: with their own retries."""

from client import Client, EachUnit

CURL = ["curl", "-sq", "--noproxy", "*", "-o", "/dev/null"]
RETRY = ["--retry", "2", "--retry-delay", "1", "--retry-all-errors", "--retry-connrefused"]
WGET = ["wget", "-q", "--no-config", "--no-proxy", "-O", "/dev/null"]
ARIA2 = ["aria2c", "-q", "--no-conf", "--no-proxy=*", "--allow-overwrite=true",
         "--auto-file-renaming=false", "--retry-wait=1", "--max-tries=3"]

CLIENTS = [
    EachUnit("curl --retry", [*CURL, *RETRY, "{url}/{unit}"]),
    # On kept connections curl sends a request again when the connection was dead.
    Client("curl, list of URLs", [*CURL, "-H", "Connection: close", "{url}/[0-{last}]"],
           retries=False),
    Client("curl, kept", [*CURL, "{url}/[0-{last}]"]),
    EachUnit(
        "wget --tries",
        [*WGET, "--tries=3", "--waitretry=1", "--retry-connrefused", "{url}/{unit}"],
    ),
    EachUnit("aria2", [*ARIA2, "-o", "{unit}.out", "{url}/{unit}"]),
]
