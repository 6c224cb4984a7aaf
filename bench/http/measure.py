"""Measures the HTTP server against its peers; scripts/bench-http builds what is needed and calls this.

All servers run on one core and wrk on another. Each server in turn gets a slice of load, round after round. What
counts is the CPU time that a request costs its server, as a ratio to ours within the same round: machines are noisy
from minute to minute, and far less so within seconds.
"""
import argparse
import os
import pathlib
import resource
import signal
import statistics
import sys

import servers  # knows where the modules of all benchmarks are
from servers import Absent

import figures
from figures import Void, say
from load import wrk
from processes import machine_seconds

CONNECTIONS = 64
TWO_WORKERS = 1.8  # times the requests a second of one
QUIET = 0.1  # of a core may go to other programs; beyond that nothing is judged


class Peer:
    def __init__(self, key, name, start, at_most=None, at_least=None):
        self.key, self.name, self.start = key, name, start
        self.at_most = at_most    # our CPU a request, as a multiple of its
        self.at_least = at_least  # its CPU a request, as a multiple of ours
        self.slices = []


PEERS = [
    Peer("ours", "mishap serve", servers.ours),
    Peer("bare", "bare libuv + llhttp", servers.bare, at_most=1.15),
    Peer("again", "the same once more", servers.bare),  # how far apart two equal servers come out
    Peer("nginx", "nginx, a constant", servers.nginx, at_most=1.0),
    Peer("tuned", "Fastify + ajv tuned", servers.fastify_tuned, at_least=8),
    Peer("fastify", "Fastify as it comes", servers.fastify, at_least=14),
    Peer("fastapi", "FastAPI", servers.fastapi, at_least=25),
]


# ---- One slice ---------------------------------------------------------------------------------------------------


def load(server, seconds, cores, threads=1):
    """Has wrk ask for some seconds. The time and CPU of what it saw, or Void if it saw anything but refusals."""
    before, before_wrk, before_all = server.cpu_ns(), waited_us(), machine_seconds()
    seen = wrk(servers.HERE / "request.lua", f"127.0.0.1:{server.port}", CONNECTIONS, seconds, cores, threads)
    after, after_wrk, after_all = server.cpu_ns(), waited_us(), machine_seconds()
    requests, took = seen["requests"], seen["duration_us"]
    figures.answered(server.name, requests, 1, seen["failed"], seen["refused"], requests)
    try:
        server.verify()
    except (Absent, OSError) as why:
        raise Void(f"{server.name} no longer answers as it did: {why}") from None
    cpu_us, wrk_us = figures.figure(f"CPU of {server.name}", after - before) / 1e3, after_wrk - before_wrk
    return {
        "cpu": cpu_us / requests,
        "wrk_cpu": wrk_us / requests,
        "busy": cpu_us / took,
        "rate": requests / took * 1e6,
        "p50": seen["p50_us"],
        "p99": seen["p99_us"],
        "others": max(0, (after_all - before_all) * 1e6 - cpu_us - wrk_us) / took,
    }


def waited_us():
    """CPU time of the children that have ended: those that wrk was one of, while the servers run on."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1e6


def median(peer, figure):
    return figures.median(f"{figure} of {peer.name}", of(peer, figure))


def of(peer, figure):
    return [piece[figure] for piece in peer.slices]


def others(peers):
    """How much of a core other programs took."""
    return statistics.mean(piece["others"] for peer in peers for piece in peer.slices)


def quiet(peers):
    return others(peers) <= QUIET


def ratio(above, below):
    """Of CPU a request: the median over the rounds, and how far the rounds lie apart."""
    ratios = figures.ratios(f"CPU of {above.name} against {below.name}", of(above, "cpu"), of(below, "cpu"))
    return statistics.median(ratios), ratios[0], ratios[-1]


# ---- All servers, in turn ----------------------------------------------------------------------------------------


def start_all(options, cores):
    running = []
    for peer in PEERS:
        if options.only and peer.key not in options.only:
            continue
        try:
            running.append((peer, peer.start(peer.name, options, cores)))
        except Absent as why:
            if peer.key == "ours":
                raise Void(f"{peer.name} cannot be measured: {why}") from None
            say(f"without {peer.name}: {why}")
    if not running and options.only != ["workers"]:
        raise Void("none of the servers can be measured")
    return running


def compare(options, server_core, wrk_core):
    running = start_all(options, server_core)
    try:
        for _, server in running:  # caches, and what compiles while it runs
            load(server, options.warm, wrk_core)
        for turn in range(options.rounds if running else 0):
            # There and back again, so that none always follows the same one.
            for peer, server in running if turn % 2 == 0 else running[::-1]:
                peer.slices.append(load(server, options.seconds, wrk_core))
            say(f"round {turn + 1} of {options.rounds}")
    finally:
        for _, server in running:
            server.stop()
    return [peer for peer, _ in running]


ROW = "{:<22} {:>9} {:>10} {:>6} {:>7} {:>7}   {:<30} {:<22} {}"


def report(peers):
    by_key = {peer.key: peer for peer in peers}
    base = by_key.get("ours") or by_key.get("bare") or (peers[0] if peers else None)
    print(ROW.format("", "µs CPU", "requests", "core", "p50", "p99", "CPU a request", "", "").rstrip())
    print(ROW.format("one worker", "a request", "a second", "busy", "µs", "µs", f"against {base.name}", "target", ""
                     ).rstrip())
    for peer in peers:
        print(ROW.format(peer.name, f"{median(peer, 'cpu'):.2f}", f"{median(peer, 'rate'):,.0f}",
                         f"{median(peer, 'busy'):.0%}", f"{median(peer, 'p50'):.0f}", f"{median(peer, 'p99'):.0f}",
                         *verdict(peer, base, peers)).rstrip())
    if "bare" in by_key and "again" in by_key:
        _, low, high = ratio(by_key["again"], by_key["bare"])
        print(f"\nNoise: two bare servers, which do the same, lie between {low:.2f} and {high:.2f} of each other in a "
              "round.")
    if not quiet(peers):
        print(f"\nOther programs took {others(peers):.0%} of a core meanwhile: too much to judge by these figures.")


def verdict(peer, base, peers):
    """The ratio, the target, and whether it is met. Targets speak of ours."""
    if peer is base:
        return "", "", ""
    if peer.at_most and base.key == "ours":
        middle, low, high = ratio(base, peer)
        return (f"ours is {figures.shown('', middle)}× ({low:.2f}–{high:.2f})", figures.goal("×", peer.at_most),
                figures.outcome(middle, at_most=peer.at_most, sure=quiet(peers)))
    middle, low, high = ratio(peer, base)
    text = f"{figures.shown('', middle)}× ({low:.2f}–{high:.2f})"
    if not peer.at_least or base.key != "ours":
        return text, "", ""
    return (text, figures.goal("×", at_least=peer.at_least),
            figures.outcome(middle, at_least=peer.at_least, sure=quiet(peers)))


# ---- Two workers -------------------------------------------------------------------------------------------------


def compare_workers(options, cores):
    """Two workers against one, with two cores more for wrk where there are so many."""
    spare = len(cores) >= 4
    server_cores, wrk_cores = ",".join(cores[:2]), ",".join(cores[2:4] if spare else cores[:2])
    one, two = (Peer(f"{workers}", f"mishap serve --workers {workers}", servers.ours) for workers in (1, 2))
    running = []
    try:
        for peer in (one, two):
            running.append((peer, peer.start(peer.name, options, server_cores, int(peer.key))))
        for _, server in running:
            load(server, options.warm, wrk_cores, threads=2)
        for turn in range(options.rounds):
            for peer, server in running if turn % 2 == 0 else running[::-1]:
                peer.slices.append(load(server, options.seconds, wrk_cores, threads=2))
    except Absent as why:
        raise Void(f"two workers cannot be compared with one: {why}") from None
    finally:
        for _, server in running:
            server.stop()
    report_workers(one, two, spare)


def report_workers(one, two, spare):
    gains = figures.ratios("requests a second of two workers", of(two, "rate"), of(one, "rate"))
    gain = statistics.median(gains)
    # Each request costs what the workers and wrk need for it; without cores to spare, two have to do for both.
    cores = 2 - statistics.median(of(two, "others"))
    most = cores * 1e6 / (median(two, "cpu") + median(two, "wrk_cpu")) / median(one, "rate")
    seen = figures.outcome(gain, at_least=TWO_WORKERS, sure=quiet([one, two]))
    if seen == "MISSED" and not spare and most < TWO_WORKERS:
        seen = "not to be seen here"
    print(f"\nTwo workers: {median(two, 'rate'):,.0f} requests a second, p50 {median(two, 'p50'):.0f} µs, "
          f"p99 {median(two, 'p99'):.0f} µs; one: {median(one, 'rate'):,.0f}, {median(one, 'p50'):.0f} and "
          f"{median(one, 'p99'):.0f}.")
    print(f"    {figures.shown('', gain)}× ({gains[0]:.2f}–{gains[-1]:.2f}), target at least {TWO_WORKERS:.2f}×: {seen}")
    if spare:
        return
    more, low, high = ratio(two, one)
    print(f"    wrk has no cores of its own here and takes {median(two, 'wrk_cpu'):.1f} µs of them a request: more "
          f"than {most:.2f}× cannot be seen.\n"
          f"    A request costs two workers {more:.2f}× ({low:.2f}–{high:.2f}) the CPU that it costs one: on two "
          f"cores of their own they would do {2 / more:.2f}×.")


# ---- In this order -----------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description="Compares the HTTP server with its peers.")
    parser.add_argument("--program", type=pathlib.Path, default="build/mishap")
    parser.add_argument("--bare", type=pathlib.Path, default="build/bench/bench/bare")
    parser.add_argument("--folder", type=pathlib.Path, default="build/bench/http", help="for files of the servers")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=2, help="that each server has in a round")
    parser.add_argument("--warm", type=int, default=2, help="seconds before the first round")
    parser.add_argument("--only", type=lambda text: text.split(","),
                        help="with commas between: " + ", ".join(peer.key for peer in PEERS) + ", workers")
    options = parser.parse_args()
    if options.rounds < 1 or options.seconds < 1:
        parser.error("there is no round of less than one second")
    unknown = set(options.only or []) - {peer.key for peer in PEERS} - {"workers"}
    if unknown:
        parser.error(f"there is no server called {', '.join(sorted(unknown))}")
    options.program, options.bare, options.folder = (
        path.absolute() for path in (options.program, options.bare, options.folder))

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # no server is left behind
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    if len(cores) < 2:
        sys.exit("mishap: wrk needs a core of its own, and there is only one")
    try:
        peers = compare(options, cores[0], cores[1])
        if peers:
            report(peers)
        if not options.only or "workers" in options.only:
            compare_workers(options, cores)
    except FileNotFoundError as error:
        sys.exit(f"mishap: {error.filename} is not installed")
    print(f"\n{servers.versions()}")


if __name__ == "__main__":
    figures.run(main)
