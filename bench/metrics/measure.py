#!/usr/bin/env python3
"""What the metrics cost on the path of a request: instructions of a 422 with all of them, against one without any; and against an earlier program.

    bench/metrics/measure.py PROGRAM [UNRECORDED EARLIER]

PROGRAM is build/bench/bench/metrics_refused, EARLIER that of an earlier commit, which records no failure of a caller. UNRECORDED is compared with
it: metrics_unrecorded, the same program without records, whose cost `make bench-journal` measures.

Callgrind counts instructions, so the figures do not depend on what else the machine does. The start is taken out by the difference
of two counts. Exits with 1 if a ratio is above its bar.
"""
import os
import re
import subprocess
import sys
import tempfile

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
    ratio = each["with"] / each["without"]
    print("a 422 without metrics   %9.0f instructions" % each["without"])
    print("a 422 with all metrics  %9.0f instructions: %.4f times, the bar is %.2f" % (each["with"], ratio, BAR))
    missed = ratio > BAR
    if len(sys.argv) > 3:
        unrecorded, earlier = (instructions_of_one(program, "with") for program in sys.argv[2:4])
        ratio = unrecorded / earlier
        print("… without its record    %9.0f instructions" % unrecorded)
        print("the same, earlier       %9.0f instructions: now %.4f times, the bar is %.2f" % (earlier, ratio, BAR_EARLIER))
        missed = missed or ratio > BAR_EARLIER
    sys.exit(missed)


if __name__ == "__main__":
    main()
