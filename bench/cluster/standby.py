"""What `serve --stale-ms` costs and saves: a primary of PostgreSQL with a synchronous standby, both started for it, and the todo service.

    python3 bench/cluster/standby.py build/mishap [SECONDS]

Two servers share the databases, one with --stale-ms 1000 and one without. Clients read lists, and then create todos, at each in turns: requests per
second, CPU of all processes of the primary for a list, and how many lists the standby has run.
"""
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import notices  # noqa: E402, which knows where the others are
import figures  # noqa: E402
import load  # noqa: E402
import pair as pairs  # noqa: E402
import processes  # noqa: E402

CLIENTS, ROUNDS, ROWS = 4, 5, 200


def per_second(server, seconds, ask):
    return notices.per_second(server, seconds, CLIENTS, "requests", ask)


def read(client):
    client.wire.request("GET", "/todos?limit=100")
    response = client.wire.getresponse()
    response.read()
    if response.status != 200:
        raise figures.Void("a list: %d" % response.status)


def create(client):
    client.ask("/todos", {"title": "one"})


def read_at_standby(server):
    client = notices.Client(server.address)
    client.wire.request("GET", "/metrics")
    text = client.wire.getresponse().read().decode()
    return int(re.search(r'^mishap_store_queries_total\{store="standby"\} (\d+)$', text, re.M)[1])


def main():
    program, seconds = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 10
    if not pairs.is_possible():
        raise figures.Void("there is no PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="bench-standby-") as folder, pairs.Pair(fsync="on", max_connections=100) as pair:
        folder, address, servers = pathlib.Path(folder), pair.address("bench"), []
        try:
            for name, flags in (("on", ("--stale-ms", "1000")), ("off", ())):
                servers.append(load.Server(program, folder / name, flags=("--todo-store", address, *flags)))
            on, off = servers
            for _ in range(ROWS):
                create(notices.Client(off.address))
            time.sleep(1.2)  # a server that has just begun reads at the primary
            reads, cpu, changes, lists, before = [], [], [], 0, read_at_standby(on)
            for _ in range(ROUNDS):
                begun = processes.cpu_ns(pair.primary.process.pid)
                without = per_second(off, seconds / ROUNDS, read)
                middle = processes.cpu_ns(pair.primary.process.pid)
                with_it = per_second(on, seconds / ROUNDS, read)
                end = processes.cpu_ns(pair.primary.process.pid)
                lists += with_it * seconds / ROUNDS
                reads.append(with_it / without)
                cpu.append((end - middle) / with_it / ((middle - begun) / without))
                changes.append(per_second(on, seconds / ROUNDS, create) / per_second(off, seconds / ROUNDS, create))
            figures.row("lists per second with --stale-ms, against without", figures.median("ratios", reads), "×")
            figures.row("CPU of the primary for a list, against without", figures.median("ratios", cpu), "×")
            figures.row("changes per second, against without", figures.median("ratios", changes), "×")
            # A list that is cut has two queries, of which the second counts.
            figures.row("queries of lists that the standby has run", 100 * (read_at_standby(on) - before) / (2 * lists), "%")
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    figures.run(main)
