"""Measures tools/call over standard input and output against peers; scripts/bench-mcp builds what is needed.

Each server in turn gets a slice of calls, round after round: one at a time, then 64 in flight. What counts is a ratio
within the same round: machines are noisy from minute to minute, and far less so within seconds. CPU is that of all
processes of a server.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import figures  # noqa: E402
import load  # noqa: E402
import over_http  # noqa: E402

NPM = pathlib.Path(os.environ.get("MISHAP_NODE_MODULES") or HERE.parent.parent / "build/deps/npm/node_modules")
IN_FLIGHT = 64
FIRST, GROWTH_KB = 10_000, 256  # calls before the memory is looked at, and how much it may grow from then on

# (what, in flight, kind of call, calls in a slice)
SLICES = {
    "one": (1, "good", 10000),
    "many": (IN_FLIGHT, "good", 100000),
    "failing": (IN_FLIGHT, "bad", 100000),
}


class Absent(Exception):
    """A server that cannot take part, and why."""


# ---- One server ----------------------------------------------------------------------------------------------------


class Peer(load.Peer):
    """A server with its driver, and what each slice of calls took."""

    def __init__(self, key, name, command, options, bare=False, slow=1):
        self.key, self.name, self.slow, self.bare = key, name, slow, bare
        self.slices = {what: [] for what in SLICES}
        super().__init__(options.drive, ["--bare"] if bare else [], command, options.folder / key, options.load_cores,
                         options.server_cores)
        super().load(1, 100, "good")

    def slice(self, what):
        window, kind, calls = SLICES[what]
        if self.bare and kind == "bad":
            return
        self.slices[what].append(self.load(window, max(100, calls // self.slow), kind))

    def figures(self, what, figure):
        """Of all rounds; the rate is in calls a second."""
        return [1e6 / piece["wall"] if figure == "rate" else piece[figure] for piece in self.slices[what]]

    def figure(self, what, figure):
        return figures.median(f"{figure} of {self.name}", self.figures(what, figure))


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
        if key not in options.only:
            continue
        try:
            peers.append(start(options))
        except Absent as why:
            figures.say(f"without {key}: {why}")
    return peers


def ratio(above, below, figure, what, other=None):
    name = f"{figure} of {above.name} against {below.name}"
    return statistics.median(figures.ratios(name, above.figures(what, figure), below.figures(other or what, figure)))


def report(peers):
    row = "{:<24} {:>11} {:>11} {:>13} {:>11} {:>13}"
    print(row.format("", "calls/s", "µs CPU", "calls/s", "µs CPU", "µs CPU"))
    print(row.format("tools/call of an echo", "one by one", "a call", f"{IN_FLIGHT} in flight", "a call", "failing"))
    for peer in peers:
        text = lambda what, figure: (figures.shown(figure, peer.figure(what, figure)) if peer.slices[what] else "")
        print(row.format(peer.name, text("one", "rate"), text("one", "cpu"), text("many", "rate"), text("many", "cpu"),
                         text("failing", "cpu")).rstrip())


def judge(peers):
    by_key = {peer.key: peer for peer in peers}
    ours = by_key.get("ours")
    if not ours:
        return
    print()
    figures.row(f"CPU a call, {IN_FLIGHT} in flight", ours.figure("many", "cpu"), "µs", at_most=3)
    figures.row("CPU of a failing call, against a succeeding one", ratio(ours, ours, "cpu", "failing", "many"), "×", at_most=1.3)
    figures.row(f"calls/s, {IN_FLIGHT} in flight", ours.figure("many", "rate"), "/s", at_least=1e6)
    for key, goals in (("cmcp", (3, 5)), ("pipe", (0.85, None)), ("sdk", (None, None))):
        if key in by_key:
            for what, words, least in zip(("one", "many"), ("one by one", f"{IN_FLIGHT} in flight"), goals):
                figures.row(f"calls/s against {by_key[key].name}, {words}", ratio(ours, by_key[key], "rate", what), "×", at_least=least)


def memory(options):
    """It must not grow with the number of calls, good or bad."""
    calls = 10_000_000 if os.environ.get("LONG") == "1" else 1_000_000
    peer = Peer("memory", "mishap", [options.echo, "mcp"], options)
    peer.load(IN_FLIGHT, FIRST, "bad")
    before = figures.figure("memory", peer.private_kb())
    for _ in range(10):
        peer.load(IN_FLIGHT, calls // 20, "good")
        peer.load(IN_FLIGHT, calls // 20, "bad")
    after = peer.private_kb()
    peer.stop()
    print(f"memory of all processes after {FIRST:,} calls: {before:,} KB")
    figures.row(f"… and after {calls:,} more", after, "KB", at_most=before + GROWTH_KB)


def compare(options):
    peers = start_all(options)
    if not peers:
        return
    for turn in range(options.rounds):
        for what in SLICES:
            # There and back again, so that none always follows the same one.
            for peer in peers if turn % 2 == 0 else peers[::-1]:
                peer.slice(what)
        figures.say(f"round {turn + 1} of {options.rounds}")
    for peer in peers:
        peer.stop()
    report(peers)
    judge(peers)


def arguments():
    parts = [*STARTS, "http"]
    parser = argparse.ArgumentParser()
    for name in ("--echo", "--pipe", "--drive", "--mishap"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", type=lambda text: text.split(","), default=parts, help="with commas between: " + ", ".join(parts))
    options = parser.parse_args()
    if not set(options.only) <= set(parts):
        parser.error(f"--only takes {', '.join(parts)}")
    if options.rounds < 1:
        parser.error("there is no measurement without a round")
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    pin = len(cores) > 1 and shutil.which("taskset")
    options.server_cores, options.load_cores = (cores[0], cores[-1]) if pin else (None, None)
    return options


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="mishap-bench-") as folder:
        options.folder = pathlib.Path(folder)
        compare(options)
        if "ours" in options.only:
            memory(options)
        if "http" in options.only:
            if shutil.which("wrk"):
                over_http.measure(options)
            elif options.only == ["http"]:
                raise figures.Void("without wrk, calls over HTTP are not measured")
            else:
                figures.say("without wrk, calls over HTTP are not measured")


figures.run(main)
