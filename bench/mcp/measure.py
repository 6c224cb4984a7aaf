"""Measures tools/call over standard input and output against peers; scripts/bench-mcp builds what is needed.

Each server in turn gets a slice of calls, round after round: one at a time, then 64 in flight. What counts is a ratio
within the same round: machines are noisy from minute to minute, and far less so within seconds.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NPM = pathlib.Path(os.environ.get("MISHAP_NODE_MODULES") or HERE.parent.parent / "build/deps/npm/node_modules")
IN_FLIGHT = 64

# (what, in flight, kind of call, calls in a slice)
SLICES = {
    "one": (1, "good", 10000),
    "many": (IN_FLIGHT, "good", 100000),
    "failing": (IN_FLIGHT, "bad", 100000),
}


class Absent(Exception):
    """A server that cannot take part, and why."""


def say(text):
    print(f"mishap: {text}", file=sys.stderr, flush=True)


# ---- One server ----------------------------------------------------------------------------------------------------


class Peer:
    """A server with its driver, which is told what to ask."""

    def __init__(self, key, name, command, options, bare=False, slow=1):
        self.key, self.name, self.slow, self.bare = key, name, slow, bare
        self.slices = {what: [] for what in SLICES}
        cores = sorted(os.sched_getaffinity(0))
        on = lambda core: ["taskset", "-c", str(core)] if len(cores) > 1 and shutil.which("taskset") else []
        self.process = subprocess.Popen(
            [*on(cores[0]), options.drive, *(["--bare"] if bare else []), *on(cores[-1]), *map(str, command)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(1, 100, "good")

    def ask(self, window, calls, kind):
        try:
            self.process.stdin.write(f"{window} {calls} {kind}\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError) as error:
            raise Absent(f"it does not answer as it should ({error})") from None

    def slice(self, what):
        window, kind, calls = SLICES[what]
        if self.bare and kind == "bad":
            return
        seen = self.ask(window, max(100, calls // self.slow), kind)
        self.slices[what].append({"cpu": seen["cpu"] / seen["calls"] * 1e6, "rate": seen["calls"] / seen["seconds"]})

    def figure(self, what, figure):
        values = [piece[figure] for piece in self.slices[what]]
        return statistics.median(values) if values else None

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)


def node():
    """Node 22 if npm brought one, else that of the system."""
    own = NPM / ".bin/node"
    found = str(own) if own.exists() else shutil.which("node")
    if not found:
        raise Absent("there is no Node")
    return found


def sdk(options):
    if not (NPM / "@modelcontextprotocol/sdk").is_dir():
        raise Absent("@modelcontextprotocol/sdk is not in build/deps/npm")
    return Peer("sdk", "TypeScript SDK", [node(), HERE / "sdk_server.mjs", NPM], options, slow=20)


def cmcp(options):
    if not os.environ.get("CMCP"):
        raise Absent("CMCP does not name a program")
    return Peer("cmcp", "cMCP", [os.environ["CMCP"]], options, slow=5)


STARTS = {
    "ours": lambda options: Peer("ours", "mishap", [options.echo, "mcp"], options),
    "pipe": lambda options: Peer("pipe", "a bare read-write loop", [options.pipe], options, bare=True),
    "cmcp": cmcp,
    "sdk": sdk,
}


# ---- All of them, in turn ------------------------------------------------------------------------------------------


def start_all(options):
    peers = []
    for key, start in STARTS.items():
        if options.only and key not in options.only:
            continue
        try:
            peers.append(start(options))
        except Absent as why:
            say(f"without {key}: {why}")
    return peers


def ratio(above, below, figure, what, other=None):
    pairs = zip(above.slices[what], below.slices[other or what])
    return statistics.median(a[figure] / b[figure] for a, b in pairs)


def report(peers):
    row = "{:<24} {:>11} {:>11} {:>13} {:>11} {:>13}"
    print(row.format("", "calls/s", "µs CPU", "calls/s", "µs CPU", "µs CPU"))
    print(row.format("tools/call of an echo", "one by one", "a call", f"{IN_FLIGHT} in flight", "a call", "failing"))
    for peer in peers:
        text = lambda what, figure, form: (form.format(peer.figure(what, figure)) if peer.slices[what] else "")
        print(row.format(peer.name, text("one", "rate", "{:,.0f}"), text("one", "cpu", "{:.2f}"),
                         text("many", "rate", "{:,.0f}"), text("many", "cpu", "{:.2f}"),
                         text("failing", "cpu", "{:.2f}")).rstrip())


def judge(peers):
    by_key = {peer.key: peer for peer in peers}
    ours = by_key.get("ours")
    if not ours:
        return
    def line(text, value, met):
        print(f"{text:<58} {value:>8}   {'met' if met else 'MISSED'}")
    print()
    cpu = ours.figure("many", "cpu")
    line(f"at most 3 µs of CPU a call, {IN_FLIGHT} in flight", f"{cpu:.2f}", cpu <= 3)
    cost = ratio(ours, ours, "cpu", "failing", "many")
    line("a failing call at most 1.5× a succeeding one", f"{cost:.2f}×", cost <= 1.5)
    if "cmcp" in by_key:
        one, many = (ratio(ours, by_key["cmcp"], "rate", what) for what in ("one", "many"))
        line("at least 3× the calls/s of cMCP, one by one", f"{one:.2f}×", one >= 3)
        line(f"at least 5× the calls/s of cMCP, {IN_FLIGHT} in flight", f"{many:.2f}×", many >= 5)
    for key in ("pipe", "sdk"):
        if key in by_key:
            one, many = (ratio(ours, by_key[key], "rate", what) for what in ("one", "many"))
            print(f"calls/s against {by_key[key].name}: {one:.2f}× one by one, {many:.2f}× with {IN_FLIGHT} in flight")


def memory(options):
    """It must not grow with the number of calls, good or bad."""
    calls = 10_000_000 if os.environ.get("LONG") == "1" else 1_000_000
    peer = Peer("ours", "mishap", [options.echo, "mcp"], options)
    before = peer.ask(IN_FLIGHT, 10000, "bad")["memory_kb"]
    for _ in range(10):
        peer.ask(IN_FLIGHT, calls // 20, "good")
        after = peer.ask(IN_FLIGHT, calls // 20, "bad")["memory_kb"]
    peer.stop()
    print(f"memory: {before} KB after ten thousand calls, {after} KB after {calls:,} more"
          f"   {'met' if after - before <= 256 else 'MISSED'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--echo", required=True)
    parser.add_argument("--pipe", required=True)
    parser.add_argument("--drive", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", type=lambda text: text.split(","))
    options = parser.parse_args()
    peers = start_all(options)
    for turn in range(options.rounds):
        for what in SLICES:
            # There and back again, so that none always follows the same one.
            for peer in peers if turn % 2 == 0 else peers[::-1]:
                peer.slice(what)
        say(f"round {turn + 1} of {options.rounds}")
    for peer in peers:
        peer.stop()
    report(peers)
    judge(peers)
    if not options.only or "ours" in options.only:
        memory(options)


main()
