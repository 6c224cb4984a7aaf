"""What the leak detector costs an error response over HTTP: a refusal with status 422, with the detector and without it.

The second program is linked without the detector (unguarded.c); all else in it is the same. Callgrind counts the instructions of a refusal
inside of a program (bench/metrics/refused.c), no matter what else the machine does. Then the CPU time of whole servers is measured, the system's
part included: all run on one core and wrk on another, in turn, as in the benchmark of the server (bench/http). A second server of the first
program shows how far two equal servers come out apart.
"""
import argparse
import importlib.util
import os
import pathlib
import shutil
import statistics
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "http"))
import measure  # noqa: E402
import servers  # noqa: E402

import figures  # noqa: E402
from figures import Void, say  # noqa: E402

AT_MOST = 1.03  # times the CPU of a refusal without the detector


def counted(programs):
    """Instructions of a refusal, inside of a program that has the detector and of one that has it not."""
    if not shutil.which("valgrind"):
        say("without instructions: valgrind is not installed")
        return
    spec = importlib.util.spec_from_file_location("metrics", HERE.parent / "metrics/measure.py")
    metrics = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(metrics)
    each = {name: metrics.instructions_of_one(str(programs / program), "with")
            for name, program in (("with", "metrics_refused"), ("without", "refused_unguarded"))}
    for name, value in each.items():
        figures.row(f"a refusal (422) in a program, {name} the detector", value, "instructions")
    figures.row("the same as a ratio", each["with"] / each["without"], "×")


def start(name, program, folder, core):
    try:
        return servers.ours(name, types.SimpleNamespace(program=program, folder=folder / name), core)
    except servers.Absent as why:
        raise Void(f"the server {name} the detector cannot be measured: {why}") from None


def compare(running, rounds, seconds, core):
    """CPU of a request in microseconds, round by round, and how much of a core other programs took."""
    cpu, others = {name: [] for name in running}, []
    for server in running.values():
        measure.load(server, seconds, core)
    for turn in range(rounds):
        for name, server in list(running.items()) if turn % 2 == 0 else list(running.items())[::-1]:
            piece = measure.load(server, seconds, core)
            cpu[name].append(piece["cpu"])
            others.append(piece["others"])
        say(f"round {turn + 1} of {rounds}")
    return cpu, statistics.mean(others)


def tell(cpu, others):
    for name, values in cpu.items():
        figures.row(f"CPU of a refusal (422), {name} the detector, least", min(figures.figures(name, values)), "µs")
    equal = statistics.median(figures.ratios("two equal servers", cpu["again with"], cpu["with"]))
    figures.row("a second server with the detector, against the first", equal, "×")
    ratio = statistics.median(figures.ratios("with the detector", cpu["with"], cpu["without"]))
    figures.row("with the detector, against without it, median of rounds", ratio, "×", at_most=AT_MOST, sure=others <= measure.QUIET)
    least = min(cpu["with"] + cpu["again with"]) / min(cpu["without"])
    figures.row("with the detector, against without it, least of rounds", least, "×", at_most=AT_MOST)
    print(f"other programs took {others:.0%} of a core")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guarded", type=pathlib.Path, required=True)
    parser.add_argument("--unguarded", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="the folder of metrics_refused and refused_unguarded")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/bench/guard"))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=1)
    options = parser.parse_args()
    counted(options.programs)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Void("there is one core: the server and wrk need one each")
    running = {}
    try:
        for name, program in (("with", options.guarded), ("without", options.unguarded), ("again with", options.guarded)):
            running[name] = start(name, program, options.folder.resolve(), str(cores[0]))
        tell(*compare(running, options.rounds, options.seconds, str(cores[1])))
    finally:
        for server in running.values():
            server.stop()


if __name__ == "__main__":
    figures.run(main)
