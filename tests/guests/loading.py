# SPDX-License-Identifier: MIT
"""Ways into a program other than LD_PRELOAD with one path: dlopen at run time, plug-ins that look past
the shim, /etc/ld.so.preload, two copies, $LIB."""

import os
import shutil
import subprocess

from catalog import PORT
from lab import Helper
from stage import (
    Outage, compare, configuration, environment, guest_words, run_guest, run_plain, summary,
)

# Of 40 attempts in a row: the first, the bucket, and one that time may add. Or none is throttled.
FEW = """[destination default]
capacity = 4
floor = 0.1/s
base = 10ms
min = 5ms
cap = 20ms
probe = 1h
"""
LEAST, MOST, ALL = 4, 8, 40
# Of attempts between which the program is answered elsewhere, this many need not be retries.
UNCLEAR = 5
# A gate no shorter than what ends a row of tries that spin (a pause of 15 ms): whoever paces himself is
# not held, and would then be let through as often as he asks.
PAID = """[destination default]
capacity = 6
floor = 0.1/s
base = 10ms
min = 5ms
cap = 300ms
probe = 3s
"""
PAID_FOR = 6
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def servers(lab, build):
    lab.server_mode("down")
    return Helper(os.path.join(build, "clients", "server"), str(PORT + 1), "healthy")


def counted(lab, words, env, bare, least, most):
    """A run and what is wrong with it: another output than bare, or too many attempts."""
    before = lab.syns.count(PORT)
    said = run_plain(lab, words, env)
    attempts = lab.syns.count(PORT) - before
    problems = said.differs_from(bare) if bare else []
    if said.code != 0 or "wrong" in " ".join(said.lines):
        problems.append(f"{said.why} exit {said.code}, {said.lines} {said.errors}")
    if not least <= attempts <= most:
        problems.append(f"{attempts} attempts, not {least} to {most}")
    return said, attempts, problems


def run_dlopen(lab, build, shim, flags, trace):
    answering = servers(lab, build)
    program = os.path.join(build, "guests", "loader")
    talks = 5  # each with one attempt at the port that refuses, past the hook
    bare, _, problems = counted(
        lab, [program, "-", flags], environment(lab, ""), None, ALL + talks, ALL + talks)
    env = environment(lab, "", configuration(lab, FEW, trace))
    # Only the second half goes through the hook, by hand.
    said, attempts, more = counted(
        lab, [program, shim, flags], env, bare, LEAST + talks, MOST + talks)
    answering.process.kill()
    return {"problems": problems + more, "note": f"{attempts} attempts; {'; '.join(said.lines)}"}


def run_deepbind(lab, build, shim, what):
    answering = servers(lab, build)
    words = [os.path.join(build, "guests", word) for word in ("deepbind", "plugin.so")] + [what]
    everything, most = (ALL, MOST) if what == "storm" else (15, MOST + UNCLEAR)
    bare, _, problems = counted(
        lab, words, environment(lab, ""), None, everything, everything)
    notes = []
    for mode in ("keep", "strip"):
        text = configuration(lab, FEW, general=f"deepbind = {mode}\n")
        # What the program calls itself is seen in any case, what the plug-in calls if stripped.
        seen = what == "host" or mode == "strip"
        _, attempts, more = counted(
            lab, words, environment(lab, shim, text), bare,
            LEAST if seen else everything, most if seen else everything)
        problems += [f"{mode}: {problem}" for problem in more]
        notes.append(f"{mode} {attempts}")
    answering.process.kill()
    return {"problems": problems, "note": ", ".join(notes) + f" attempts of {everything}"}


def libraries_of(program):
    """The files that the loader takes into a program, itself included."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    words = [word for line in said.splitlines() for word in line.split()]
    return [word for word in words if word.startswith("/")]


def build_root(lab, build, shim):
    """A root directory with nothing in it but the guest and what it needs."""
    root = os.path.join(lab.folder, "root")
    guest = os.path.join(build, "guests", "guest")
    os.makedirs(os.path.join(root, "etc"))
    for source in libraries_of(guest):
        target = root + source
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)
    # Under two names: one for the file, and one that LD_PRELOAD has inside and outside.
    for source, target in ((guest, "/guest"), (shim, "/first.so"), (shim, shim)):
        os.makedirs(os.path.dirname(root + target), exist_ok=True)
        shutil.copy(source, root + target)
    for name in ("resolv.conf", "nsswitch.conf"):
        shutil.copy(os.path.join("/etc", name), os.path.join(root, "etc", name))
    for at, folders, files in os.walk(root):
        for name in folders + files:
            os.chmod(os.path.join(at, name), 0o755)
    os.chmod(root, 0o755)
    os.chmod(lab.folder, 0o755)
    return root


def run_chroot(lab, build, shim, kind):
    """/etc/ld.so.preload, which the loader obeys in set-uid programs as well."""
    root = build_root(lab, build, shim)
    text = configuration(lab)
    if kind == "two-copies":
        # On one budget, which is what bounds the attempts here: each must be paid for once.
        os.makedirs(os.path.join(root, "dev", "shm"))
        text = configuration(lab, PAID, general="scope = user\n")
    words = ["chroot"] + (["--userspec=65534:65534"] if kind == "set-uid" else [])
    words += [root, "/guest", *guest_words(build)[1:]]
    extra = {"RETRYBUDGET": "off"} if kind == "set-uid" else {}
    outage = Outage(lab)
    if kind == "set-uid":
        os.chmod(os.path.join(root, "guest"), 0o4755)
    bare = run_guest(lab, words, environment(lab, "", None, extra), outage, False)
    for name, text in (
        ("ld.so.preload", "/first.so\n"), ("retrybudget.ini", text),
    ):
        with open(os.path.join(root, "etc", name), "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(f.name, 0o644)
    env = environment(lab, shim if kind == "two-copies" else "", None, extra)
    said = run_guest(lab, words, env, outage, True)
    problems = compare(bare, said)
    if kind == "two-copies" and said.attempts and said.attempts[0] < PAID_FOR:
        problems.append(f"only {said.attempts[0]} attempts: paid for twice")
    return {
        "problems": problems,
        "note": summary(bare, said),
    }


def run_lib(lab, build, shim, kind):
    """LD_PRELOAD with $LIB in it: each program takes the copy for its own word size."""
    root, guests = os.path.join(lab.folder, "installed"), os.path.join(build, "guests")
    for program, library in (
        ("guest", shim), ("guest-32", os.path.join(build, "i386", "libretrybudget.so")),
    ):
        if not os.path.exists(library):
            return {"skipped": "the library for i386 could not be built here"}
        asked = [os.path.join(ROOT, "scripts", "loader-lib"), os.path.join(guests, program)]
        place = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        if not place:
            return {"skipped": f"the loader of {program} does not say where $LIB leads"}
        os.makedirs(os.path.join(root, place))
        shutil.copy(library, os.path.join(root, place))
    words = guest_words(build, program="guest-32" if kind.endswith("32") else "guest")
    if kind == "64-starts-32":
        words = ["sh", "-c", "\"$@\"; exit $?", "sh", os.path.join(guests, "guest-32"), *words[1:]]
    outage = Outage(lab)
    bare = run_guest(lab, words, environment(lab, ""), outage, False)
    env = environment(lab, root + "/$LIB/libretrybudget.so", configuration(lab))
    said = run_guest(lab, words, env, outage, True)
    return {
        "problems": compare(bare, said),
        "note": summary(bare, said),
    }
