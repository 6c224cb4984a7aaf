"""What the record of a failure costs a whole command: its processor time with and without a log; scripts/bench-journal calls this.

    commands.py PROGRAM

Each round runs each command with a log and without one, in turn. The cost is the difference of the medians, of some hundred runs. record.c measures
less: the functions that write the record, in a process that has made the failure and its answer before.
"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figures  # noqa: E402
import load  # noqa: E402

ROUNDS, MOST_US = 400, 20
COMMANDS = {"arguments that are refused": (["users", "create", "--name", "x"], 2), "a name that is not found": (["explain", "NOPE"], 5)}


def measure(program, folder, words, status):
    """The medians with a log and without one."""
    took = {"": [], os.path.join(folder, "log"): []}
    for at in range(ROUNDS):
        for log in sorted(took, reverse=at % 2):
            env = dict(os.environ, MISHAP_LOG=log, MISHAP_DATA=folder)
            took[log].append(load.run([program, *words, "--output", "json"], env, status)["cpu"])
    without, within = (figures.median(log, took[log], ROUNDS) for log in sorted(took))
    return within, without


def main():
    program, = sys.argv[1:]
    for what, (words, status) in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            within, without = measure(program, folder, words, status)
        print(f"mishap {' '.join(words)}: {what}")
        figures.row("    processor time without a log", without, "µs")
        figures.row("    what the record adds", within - without, "µs", at_most=MOST_US)


figures.run(main)
