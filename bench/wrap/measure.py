"""What `mishap wrap` adds to a command: the time of a start, beside coreutils' timeout, and the processor time of bytes that it passes on.

    python3 bench/wrap/measure.py PROGRAM [--rounds 300] [--megabytes 1024]

Each round runs the same command plainly, below timeout and below wrap, one after the other. What is added is the difference of the medians.
The bytes go through a pipe, which this process reads and forgets. Wall time and CPU of a start have the same targets.
"""
import argparse
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import figures  # noqa: E402

MOST_MS, MOST_RATIO, MOST_SECONDS = 1.3, 2, 0.5
TURNS = 5
MEGABYTE = 1 << 20


def spent(process):
    """Seconds of the processor of a process that has ended, and of its children."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise figures.Void(f"{process.args[0]} exits with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def start(command):
    """(wall, CPU) from start to end, in milliseconds; the outputs are pipes, as under a program that reads them."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read()
    cpu = spent(process)
    wall = time.perf_counter() - begun
    process.stdout.close()
    process.stderr.close()
    return 1e3 * wall, 1e3 * cpu


def starts(program, rounds):
    ways = {"plain": [], "timeout": ["timeout", "60"], "wrap": [program, "wrap", "--"]}
    seen = {way: [] for way in ways}
    for _ in range(rounds):
        for way, words in ways.items():
            seen[way].append(start([*words, "/bin/true"]))
    print(f"/bin/true, median of {rounds} starts")
    for column, name in enumerate(["wall", "CPU"]):
        plain, other, ours = (figures.median(way, [row[column] for row in rows]) for way, rows in seen.items())
        figures.row(f"    {name}: plain", plain, "ms")
        figures.row(f"    {name}: added by timeout", other - plain, "ms")
        figures.row(f"    {name}: added by wrap", ours - plain, "ms", at_most=MOST_MS)
        figures.row(f"    {name}: against timeout", (ours - plain) / (other - plain), "×", at_most=MOST_RATIO)


def relayed(command, megabytes):
    """CPU in seconds of a command that writes so much into a pipe."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0)
    left, room = megabytes * MEGABYTE, bytearray(MEGABYTE)
    while count := process.stdout.readinto(room):
        left -= count
    process.stdout.close()
    if left:
        raise figures.Void(f"{command[0]} did not write all: {left} bytes are missing")
    return spent(process)


def relays(program, megabytes):
    writer = ["dd", "if=/dev/zero", "bs=64K", f"count={megabytes * 16}", "status=none"]
    plain, ours = [], []
    for _ in range(TURNS):
        plain.append(relayed(writer, megabytes))
        ours.append(relayed([program, "wrap", "--", *writer], megabytes))
    print(f"{megabytes} MB through a pipe, median of {TURNS}")
    figures.row("    CPU: plain", figures.median("plain", plain), "s")
    figures.row("    CPU: added by wrap", figures.median("wrap", ours) - figures.median("plain", plain), "s", at_most=MOST_SECONDS * megabytes / 1024)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--megabytes", type=int, default=1024)
    options = parser.parse_args()
    starts(os.path.abspath(options.program), options.rounds)
    relays(os.path.abspath(options.program), options.megabytes)


figures.run(main)
