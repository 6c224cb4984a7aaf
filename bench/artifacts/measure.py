"""What the artifacts service does in a second, and how long a search takes; scripts/bench-artifacts calls this.

All that is compared is measured in turns, round after round, and what counts is the ratio within a round: machines are noisy from
minute to minute, and far less so within seconds. CPU is that of all processes, clients included: on a machine whose
cores are all busy it says more than the time does.
"""
import argparse
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile

import stores
import search
import transfers
from stores import postgres

import figures

LEAST = {"quick": 2, "slow": 8, "pgbench": 0.9, "bare": 0.42}
LEAST_RATE, MOST_P99_MS, MOST_CPU = 40_000, 10, 25  # of durable transfers on SQLite
SOON_MS = 30


def middle(values):
    """The median, and the least and the most."""
    figures.figures("a figure", values)
    return statistics.median(values), min(values), max(values)


def verdict(name, values, least):
    figures.row("  " + name, figures.median(name, values), "×", at_least=least)
    print("    %.2f to %.2f in %d rounds" % (min(values), max(values), len(values)))


def line(name, rounds):
    rates = middle([seen["rate"] for seen in rounds])
    more = ""
    if "p99_us" in rounds[0]:
        more += ", p99 %6.1f ms" % statistics.median(seen["p99_us"] / 1000 for seen in rounds)
    if "cpu" in rounds[0]:
        more += ", CPU %4.0f µs each" % statistics.median(seen["cpu"] for seen in rounds)
    if "retried" in rounds[0]:
        more += ", %d retried" % sum(seen["retried"] for seen in rounds)
    print("  %-34s %7.0f/s  (%.0f to %.0f)%s" % (name, *rates, more))


def on_sqlite(options, folder):
    print("Transfers over HTTP on SQLite, %d connections" % transfers.CONNECTIONS)
    rounds = {name: [] for name in ("bare", "bare 64", "quick 1", "quick 64", "slow 1", "slow 64")}
    for turn in range(options.rounds):
        rounds["bare"].append(transfers.bare(options.program, options.parts / "artifacts_bare", folder / "store", options.seconds))
        rounds["bare 64"].append(transfers.bare(options.program, options.parts / "artifacts_bare", folder / "store", options.seconds, 64))
        for flush in ("quick", "slow"):
            for batch in ("1", "64"):
                preload = options.parts / "artifacts_flush.so" if flush == "slow" else None
                rounds["%s %s" % (flush, batch)].append(
                    transfers.over_http(options.program, folder / "store", options.seconds, turn, "--handler-batch", batch, preload=preload))
    line("a bare loop, one commit each", rounds["bare"])
    line("a bare loop, a commit for 64", rounds["bare 64"])
    line("one by one", rounds["quick 1"])
    line("in batches", rounds["quick 64"])
    line("one by one, flush +1 ms", rounds["slow 1"])
    line("in batches, flush +1 ms", rounds["slow 64"])
    for flush, name in (("quick", "in batches / one by one"), ("slow", "in batches / one by one, flush +1 ms")):
        ratios = [many["rate"] / one["rate"] for many, one in zip(rounds[flush + " 64"], rounds[flush + " 1"])]
        verdict(name, ratios, LEAST[flush])
    many = rounds["quick 64"]
    verdict("in batches / the bare loop with a commit for 64", [ours["rate"] / bare["rate"] for ours, bare in zip(many, rounds["bare 64"])],
            LEAST["bare"])
    figures.row("  transfers in batches", figures.median("rate", [seen["rate"] for seen in many]), "/s", at_least=LEAST_RATE)
    figures.row("  99th percentile", figures.median("p99", [seen["p99_us"] / 1000 for seen in many]), "ms", at_most=MOST_P99_MS)
    figures.row("  CPU of a transfer, the client's too", figures.median("CPU", [seen["cpu"] for seen in many]), "µs", at_most=MOST_CPU)


def on_postgresql(options, folder):
    print("Transfers over HTTP on PostgreSQL, %d connections, %d to the database" % (transfers.CONNECTIONS, transfers.HANDLERS))
    ours, theirs = [], []
    with postgres.Cluster(fsync="on", shared_buffers="128MB") as cluster:
        with transfers.Server(options.program, folder / "store", "--artifacts-store", cluster.address("bench"), "--handlers",
                              str(transfers.HANDLERS)) as server:
            server.load(1, 0, cluster.process.pid)
            cluster.sql("bench", "VACUUM ANALYZE")
            for turn in range(options.rounds):
                theirs.append(transfers.pgbench(cluster, "bench", options.seconds))
                ours.append(server.load(options.seconds, turn, cluster.process.pid))
    line("pgbench, the same statements", theirs)
    line("over HTTP", ours)
    verdict("over HTTP / pgbench", [one["rate"] / other["rate"] for one, other in zip(ours, theirs)], LEAST["pgbench"])
    print("  %-46s %6.2f  (%.2f to %.2f)" % ("… by CPU", *middle([other["cpu"] / one["cpu"] for one, other in zip(ours, theirs)])))


def report_searches(engine, found):
    print("Searches among %d artifacts on %s, at most %d hits" % (stores.ROWS, engine, search.LIMIT))
    for name, seen in found.items():
        print("  %-24s %7.1f ms  (%.1f to %.1f), CPU %6.1f ms, %s, %s" %
              (name, *middle(seen["ms"]), statistics.median(seen["cpu"]), "ranked" if seen["ranked"] else "newest first",
               "20,000 hits or more" if seen["hits"] is None else "%d hits" % seen["hits"]))
    for figure, words in (("ms", "time"), ("cpu", "CPU")):
        slowest = max(stores.WORDS, key=lambda name: statistics.median(found[name][figure]))
        figures.row("  %s of the slowest word, %s" % (words, slowest), figures.median(slowest, found[slowest][figure]), "ms", at_most=SOON_MS)
    print("  %.1f processes want a core, of %d" % (os.getloadavg()[0], os.cpu_count()))


def searches(options, folder):
    kept = options.kept
    stores.built(kept / "sqlite", lambda place: stores.fill_sqlite(options.program, place))
    report_searches("SQLite", search.measure(options.program, folder / "store", options.rounds, data=kept / "sqlite"))
    if not postgres.folder_of_programs():
        return

    def fill(place):
        with stores.Kept(place / "data", **stores.KEPT) as cluster:
            stores.fill_postgresql(options.program, cluster, place)
    stores.built(kept / "postgresql", fill)
    with stores.Kept(kept / "postgresql" / "data", **stores.KEPT) as cluster:
        report_searches("PostgreSQL", search.measure(options.program, folder / "store", options.rounds, "--artifacts-store",
                                                     cluster.address("million"), others=[cluster.process.pid]))


PARTS = {"sqlite": on_sqlite, "postgresql": on_postgresql, "search": searches}


def main():
    parser = argparse.ArgumentParser()
    for name in ("--program", "--parts", "--kept"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    chosen = options.only.split(",")
    if options.rounds < 1 or options.seconds < 1:
        parser.error("there is no round of less than one second")
    if not set(chosen) <= set(PARTS):
        parser.error("--only takes %s" % ", ".join(PARTS))
    if not postgres.folder_of_programs() and "postgresql" in chosen:
        print("mishap: PostgreSQL is not installed, and not measured", file=sys.stderr)
        chosen.remove("postgresql")
        if not chosen:
            raise figures.Void("nothing is left to measure")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-artifacts-"))
    try:
        for name in chosen:
            PARTS[name](options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


figures.run(main)
