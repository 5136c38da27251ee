# SPDX-License-Identifier: MIT
"""How to get into namespaces of one's own on this machine. Of IPC too: shared memory of System V, which
shares are, would outlive the test."""

import os
import subprocess
import sys


def namespaces():
    """The command before each case, or a clear end if this machine allows no namespaces."""
    ways = [["unshare", "-n", "-m", "-i"], ["unshare", "-r", "-n", "-m", "-i"]]
    for way in ways if os.getuid() == 0 else ways[1:]:
        if subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0:
            return way
    sys.exit(
        "clients: this machine lets us make no network namespace (unshare -n -m -i).\n"
        "clients: run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1.\n"
        "clients: in a container: --cap-add SYS_ADMIN --cap-add NET_ADMIN, or --privileged."
    )
