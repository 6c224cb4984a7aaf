#!/usr/bin/env python3
"""What the metrics cost on the path of a request: instructions of a 422 with all of them, against one without any; and against an earlier program.

    bench/metrics/measure.py PROGRAM [UNRECORDED EARLIER]

PROGRAM is build/bench/bench/metrics_refused, EARLIER that of an earlier commit, which records no failure of a caller. UNRECORDED is compared with
it: metrics_unrecorded, the same program without records, whose cost `make bench-journal` measures.

Callgrind counts instructions, so the figures do not depend on what else the machine does, and targets are judged on a busy one, too. The start is
taken out by the difference of two counts.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figures  # noqa: E402

FEW, MANY, BAR, BAR_EARLIER = 200, 1200, 1.01, 1.02


def instructions(program, count, how):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(folder, "out"), program, str(count), how],
                              check=True, stderr=subprocess.PIPE, env=dict(os.environ, HOME=folder, XDG_STATE_HOME=folder, MEMORY_LOG=os.path.join(folder, "log")))
    return int(re.search(rb"Collected : (\d+)", done.stderr)[1])


def instructions_of_one(program, how):
    return (instructions(program, MANY, how) - instructions(program, FEW, how)) / (MANY - FEW)


def main():
    each = {how: instructions_of_one(sys.argv[1], how) for how in ("without", "with")}
    figures.row("a 422 without metrics", each["without"], "instructions")
    figures.row("a 422 with all metrics", each["with"], "instructions")
    tell("with all metrics, against without", each["with"], each["without"], BAR)
    if len(sys.argv) > 3:
        unrecorded, earlier = (instructions_of_one(program, "with") for program in sys.argv[2:4])
        figures.row("a 422 without its record", unrecorded, "instructions")
        figures.row("the same, earlier", earlier, "instructions")
        tell("now, against earlier", unrecorded, earlier, BAR_EARLIER)


def tell(what, now, before, bar):
    """A ratio with four decimal places, since a percent counts."""
    ratio = figures.figure(what, now) / figures.figure(what, before)
    print(f"{what:<58} {ratio:>11.4f}×   at most {bar:.2f} ×       {'met' if round(ratio, 4) <= bar else 'MISSED'}")


if __name__ == "__main__":
    figures.run(main)
