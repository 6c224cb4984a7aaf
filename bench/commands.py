"""The program as a command: `check` over a large file, and the time from start to exit; scripts/bench calls this.

    commands.py PROGRAM PROGRAM-WITH-LIBM-LINKED FILE
"""
import os
import shutil
import sys

import figures
import load

CHECKS, STARTS = 5, 500
FLAG = "--no-such-flag"


def check(program, file):
    """Throughput on one core, and memory: the best of some runs, `wc -l` over the same file in turn."""
    size = figures.figure(file, os.path.getsize(file))
    ours, theirs = [], []
    for _ in range(CHECKS):
        theirs.append(load.run(["wc", "-l", file], os.environ, 0))
        ours.append(load.run([program, "check", "--dialect", "http-api", "--lines", file], os.environ, 0))
    best, other = (min(runs, key=lambda run: run["wall"]) for runs in (ours, theirs))
    print(f"mishap check --dialect http-api --lines over {size / 1e6:.0f} MB")
    figures.row("    throughput", size / best["wall"], "MB/s", at_least=300)
    figures.row("    CPU", best["cpu"] / 1e3, "ms")
    figures.row("    memory", max(run["memory_kb"] for run in ours) / 1024, "MB")
    figures.row("    time against wc -l over the same file", best["wall"] / other["wall"], "×")


def start(program):
    """A command with a bad flag, against /bin/true and another tool with a bad flag, in turn."""
    ours = [program, "connect", FLAG]
    others = {"/bin/true": (["/bin/true"], 0, 1.5)}
    if shutil.which("jq"):
        others["jq with a bad flag"] = (["jq", FLAG], 2, 1)
    times = {name: [] for name in ["ours", "version", *others]}
    for _ in range(STARTS):
        times["version"].append(load.run([program, "--version"], os.environ, 0)["wall"])
        times["ours"].append(load.run(ours, os.environ, 2)["wall"])
        for name, (command, status, _) in others.items():
            times[name].append(load.run(command, os.environ, status)["wall"])
    print("mishap connect with a bad flag, from start to exit")
    mine = figures.median("start of mishap", times["ours"])
    figures.row("    time", mine / 1e3, "ms")
    for name, (_, _, target) in others.items():
        figures.row(f"    against {name}", mine / figures.median(name, times[name]), "×", at_most=target)
    print("mishap --version, from start to exit")
    version = figures.median("mishap --version", times["version"])
    figures.row("    time", version / 1e3, "ms")
    figures.row("    against /bin/true", version / figures.median("/bin/true", times["/bin/true"]), "×")


def mathematics(program, linked):
    """What tool/mathematics.c saves: processor time of the shortest command, against a program that links libm, in turn."""
    times = {program: [], linked: []}
    for at in range(2 * STARTS):
        for one in (program, linked) if at % 2 else (linked, program):
            times[one].append(load.run([one, "--version"], os.environ, 0)["cpu"])
    print("mishap --version, processor time")
    ours, theirs = (figures.median(one, times[one]) for one in (program, linked))
    figures.row("    libm loaded when used", ours / 1e3, "ms")
    figures.row("    libm linked", theirs / 1e3, "ms")
    figures.row("    loaded against linked", ours / theirs, "×", at_most=0.98)


def main():
    program, linked, file = sys.argv[1:]
    check(program, file)
    start(program)
    mathematics(program, linked)


figures.run(main)
