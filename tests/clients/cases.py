# SPDX-License-Identifier: MIT
"""The list of cases, and the work of one of them inside its namespaces."""

import os
import shutil
import subprocess
import sys

import amplification
import blackhole
import breaker
import brief
import catalog
import datagrams
import deepbind
import healthy
import mixed
import outage
import secure
import secure_well
import statuses
import tools
from catalog import WAYS
from lab import Lab

# The default configuration takes a minute per case, so only three clients show it: one that blocks,
# one that does not, one with an event loop.
AT_DEFAULT = (
    ("python urllib", "refused"),
    ("bash /dev/tcp", "read-close"),
    ("node http", "refused"),
)


def case(identity, phase, weight, **what):
    return {"id": identity, "phase": phase, "weight": weight, **what}


def all_cases(build):
    found = []
    for client in catalog.clients(build):
        for failure in client.failures:
            what = {"client": client.name, "failure": failure}
            found.append(case(f"bare/{client.name}/{failure}", "bare", 1, kind="outage", **what))
            found.append(
                case(f"fast/{client.name}/{failure}", "shim", 1, kind="outage", pace="fast", **what)
            )
        for way in client.further:
            found += matrix_cases(client, way)
        if client.get:
            found.append(
                case(f"healthy/{client.name}", "shim", 1, kind="healthy", client=client.name)
            )
    for name, failure in AT_DEFAULT:
        what = {"client": name, "failure": failure, "pace": "default"}
        found.append(case(f"default/{name}/{failure}", "shim", 12, kind="outage", **what))
    for client in catalog.process_loops():
        what = {"client": client.name, "failure": "refused", "scope": "user"}
        found.append(case(f"bare/{client.name}/refused", "bare", 1, kind="outage", **what))
        found.append(
            case(f"fast/{client.name}/refused", "shim", 1, kind="outage", pace="fast", **what)
        )
        for way in client.further:
            found += matrix_cases(client, way)
    for client in tools.clients():
        for way in client.further:
            found += matrix_cases(client, way)
    for crowd in ("threads", "processes"):
        found.append(case(f"first-tries/{crowd}", "shim", 1, kind="first-tries", crowd=crowd))
    found.append(case("deepbind/php curl", "shim", 1, kind="deepbind"))
    for name in mixed.names():
        found.append(case(f"mixed/{name}", "mixed", 2, kind="mixed", client=name))
    for name in breaker.clients():
        found.append(case(f"breaker/{name}", "shim", 5, kind="breaker", client=name))
    found.append(case("amplification/a fifth failing", "shim", 11, kind="amplification"))
    found.append(case("breaker/first tries", "shim", 5, kind="breaker"))
    what = {"kind": "breaker-observe", "client": breaker.clients()[0]}
    found.append(case("breaker/observe", "shim", 2, **what))
    for name in datagrams.programs():
        found.append(case(f"datagrams/{name}", "shim", 9, kind="datagrams", client=name))
    for name in statuses.programs(build):
        for scene in statuses.SCENES:
            found.append(case(f"status/{name}/{statuses.label_of(scene)}", "shim", 6, kind="status",
                              client=name, scene=scene))
    for name in blackhole.programs(build):
        found.append(case(f"black-hole/{name}", "slow", 3, kind="black-hole", client=name))
    found.append(case("status/five connections", "mixed", 2, kind="loud"))
    for name in secure.programs():
        weight = 8 if "one process" in name else 4
        for scene in secure.SCENES:
            found.append(case(f"tls/status/{name}/{statuses.label_of(scene)}", "shim", weight,
                              kind="tls-status", client=name, scene=scene))
    for name in secure.STORMS:
        found.append(case(f"tls/storm/{name}", "mixed", 2, kind="tls-storm", client=name))
    for name in secure_well.programs(build):
        found.append(case(f"tls/healthy/{name}", "shim", 1, kind="tls-healthy", client=name))
    return found


def matrix_cases(client, way):
    """A client and a way of failing that are only in the matrix. What waits on others disturbs
    nobody; what the shim leaves alone is as loud as bare."""
    nature = WAYS[way].nature
    what = {"kind": "matrix", "client": client.name, "failure": way}
    bare, shim = {
        "storm": ("loud", "shim"),
        "slow": ("slow", "slow"),
        "free": ("loud", "loud"),
    }[nature]
    return [
        case(f"bare/{client.name}/{way}", bare, 1, shim=False, **what),
        case(f"matrix/{client.name}/{way}", shim, 1, shim=True, **what),
    ]


def everyone(build):
    return [*catalog.clients(build), *catalog.process_loops(), *tools.clients()]


def prepare(build, libraries):
    """Sees to it that everything is there before the first case starts."""
    programs = [os.path.join(build, "clients", p) for p in ("server", "dns", "syns", "bounded")]
    for path in programs + libraries:
        if not os.path.exists(path):
            sys.exit(f"clients: {path} is missing: run make first")
    missing = sorted({p for c in everyone(build) for p in c.missing()} | set(statuses.missing())
                     | set(blackhole.missing()) | set(secure.missing()))
    if not shutil.which("kdig"):
        missing.append("kdig")
    if missing or not shutil.which("javac"):
        missing += [] if shutil.which("javac") else ["javac"]
        sys.exit(
            f"clients: not installed: {', '.join(missing)}. Run scripts/install-deps check; "
            "a client that is not there is a failed test, not a skipped one."
        )
    mixed.prepare(build)
    classes = os.path.join(build, "clients", "classes")
    sources = [os.path.join(catalog.LOOPS, f) for f in ("UrlLoop.java", "SocketLoop.java", "StatusLoop.java",
                                                           "TlsLoop.java")]
    stale = [s for s in sources if older(target_of(s, classes), s)]
    if stale:
        subprocess.run(["javac", "-d", classes, *stale], check=True)


def target_of(source, classes):
    return os.path.join(classes, os.path.basename(source).replace(".java", ".class"))


def older(target, source):
    return not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source)


def work(what, build, library):
    """Does one case and returns its result; called inside the namespaces."""
    client = {c.name: c for c in everyone(build)}.get(what.get("client"))
    lab = Lab(build)
    try:
        if what["kind"] == "healthy":
            return healthy.compare(lab, client, library)
        if what["kind"] == "deepbind":
            return deepbind.compare(lab, build, library)
        if what["kind"] == "mixed":
            return mixed.compare(lab, what["client"], library)
        if what["kind"] == "amplification":
            return amplification.compare(lab, build, library)
        if what["kind"] == "breaker":
            return breaker.compare(lab, client, library)
        if what["kind"] == "breaker-observe":
            return breaker.observe(lab, client, library)
        if what["kind"] == "datagrams":
            return datagrams.compare(lab, what["client"], library)
        if what["kind"] == "status":
            return statuses.compare(lab, build, what["client"], what["scene"], library)
        if what["kind"] == "black-hole":
            return blackhole.compare(lab, build, what["client"], library)
        if what["kind"] == "loud":
            return statuses.loud(lab, library)
        if what["kind"] == "tls-status":
            return secure.compare(lab, what["client"], what["scene"], library)
        if what["kind"] == "tls-storm":
            return secure.storm(lab, what["client"], library)
        if what["kind"] == "tls-healthy":
            return secure_well.compare(lab, build, what["client"], library)
        if what["kind"] == "first-tries":
            return healthy.first_tries(lab, what["crowd"], library)
        if what["kind"] == "matrix":
            return brief.watch(lab, client, what["failure"], library if what["shim"] else "")
        if what["phase"] == "bare":
            return outage.bare(lab, client, what["failure"])
        pace = catalog.PACES[what["pace"]]
        scope = what.get("scope", "process")
        return outage.shim(lab, client, what["failure"], pace, library, scope)
    finally:
        shutil.rmtree(lab.folder, ignore_errors=True)
