"""What `mishap mcp-gateway` adds to a call of a tool, with the check of its arguments: the processor time of all processes of a server, alone and behind it.

    scripts/bench-mcp-gateway [--rounds 7]

Both get the same slices of calls in turn, one at a time and 64 in flight. What is added is the median of the differences within a round.
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
sys.path.insert(1, str(HERE))
import figures  # noqa: E402
import load  # noqa: E402
import over_http  # noqa: E402

SLICES = {"one by one": (1, 10000, 25), "64 in flight": (64, 100000, 1.5)}  # in flight, calls, the bar in µs


def measure(options, folder):
    server = [options.echo, "mcp"]
    ways = {"alone": server, "behind": [options.mishap, "mcp-gateway", "--", *server]}
    peers = {way: load.Peer(options.drive, [], command, folder / way, options.load_cores, options.server_cores) for way, command in ways.items()}
    seen = {what: {way: [] for way in ways} for what in SLICES}
    for peer in peers.values():
        peer.load(1, 100, "good")
    for turn in range(options.rounds):
        for what, (window, calls, _) in SLICES.items():
            for way in list(ways) if turn % 2 == 0 else list(ways)[::-1]:
                seen[what][way].append(peers[way].load(window, calls, "good")["cpu"])
        figures.say(f"round {turn + 1} of {options.rounds}")
    for peer in peers.values():
        peer.stop()
    print(f"tools/call of an echo over standard input and output, CPU a call, median of {options.rounds} rounds")
    for what, (_, _, bar) in SLICES.items():
        alone, behind = seen[what]["alone"], seen[what]["behind"]
        figures.row(f"    {what}: the server alone", figures.median(what, alone), "µs")
        figures.row(f"    {what}: added by the gateway", statistics.median(b - a for a, b in zip(alone, behind)), "µs", at_most=bar)


def main():
    parser = argparse.ArgumentParser()
    for name in ("--echo", "--drive", "--mishap"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("there is no measurement without a round")
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    pin = len(cores) > 1 and shutil.which("taskset")
    options.server_cores, options.load_cores = (cores[0], cores[-1]) if pin else (None, None)
    with tempfile.TemporaryDirectory(prefix="mishap-bench-") as folder:
        measure(options, pathlib.Path(folder))
        over_http.measure(options, pathlib.Path(folder))


figures.run(main)
