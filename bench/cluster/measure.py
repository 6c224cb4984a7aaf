"""How long a notice takes to another server of a cluster, and what --cluster costs; PostgreSQL is started for it.

    python3 bench/cluster/measure.py build/mishap [SECONDS]

Two servers share a database. Clients of the first create todos at 500 per second, each of which is two changes. Every 30 ms another one
creates a user, and a live subscription at the second server tells of it: the time from the response to the event. Then todos are created
as fast as one server does it, without --cluster and with it, in turns.
"""
import http.client
import json
import pathlib
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "store"))
import figures  # noqa: E402
import load  # noqa: E402
import postgres  # noqa: E402
import processes  # noqa: E402

TODOS_PER_SECOND, CLIENTS, PAUSE, ROUNDS, REQUESTS = 500, 4, 0.03, 5, 4000
P50_MS, P99_MS, LEAST, MOST = 10, 100, 0.85, 1.02


class Client:
    def __init__(self, address):
        self.wire = http.client.HTTPConnection(address, timeout=60)
        self.wire.connect()
        self.wire.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, path, body, wanted=(201,), **fields):
        self.wire.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **fields})
        response = self.wire.getresponse()
        text = response.read()
        if response.status not in wanted:
            raise figures.Void("%s: %d %r" % (path, response.status, text[:300]))
        return response, text


def subscribe(address, uri):
    """A stream that tells of changes of this resource."""
    client = Client(address)
    accept = {"Accept": "application/json, text/event-stream"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    response, _ = client.ask("/mcp", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, (200,), **accept)
    session = {"Mcp-Session-Id": response.getheader("Mcp-Session-Id"), "MCP-Protocol-Version": "2025-11-25"}
    client.ask("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, (202,), **accept, **session)
    client.ask("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": uri}}, (200,), **accept, **session)
    client.wire.request("GET", "/mcp", headers={"Accept": "text/event-stream", **session})
    return client.wire.getresponse(), client


def create_todos(address, until, counts, at):
    client, begun, pause = Client(address), time.monotonic(), CLIENTS / TODOS_PER_SECOND
    while time.monotonic() < until:
        client.ask("/todos", {"title": "one"})
        counts[at] += 1
        ahead = begun + counts[at] * pause - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)


def latencies(first, second, seconds):
    """Milliseconds from the response to the event, in order."""
    stream, _held = subscribe(second.address, "todo://users")
    told, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            line = stream.readline()
            if b"resources/updated" in line:
                told.append(time.monotonic())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    counts, until = [0] * CLIENTS, time.monotonic() + seconds
    clients = [threading.Thread(target=create_todos, args=(first.address, until, counts, at), daemon=True) for at in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(1)
    found, probe, number = [], Client(first.address), 0
    while time.monotonic() < until:
        number += 1
        before = len(told)
        probe.ask("/users", {"name": "n%d" % number, "email": "n%d@example.org" % number})
        begun, patience = time.monotonic(), time.monotonic() + 10
        while len(told) == before:
            if time.monotonic() > patience:
                raise figures.Void("a notice did not arrive")
            time.sleep(0.0005)
        found.append(max(0.0, told[before] - begun) * 1000)
        time.sleep(PAUSE)
    for client in clients:
        client.join()
    stop.set()
    figures.answered("notices", len(found), 20)
    return sorted(found), 2 * sum(counts) / seconds


def rate(server, seconds):
    until, counts = time.monotonic() + seconds, [0] * CLIENTS

    def work(at):
        client = Client(server.address)
        while time.monotonic() < until:
            client.ask("/todos", {"title": "one"})
            counts[at] += 1

    workers = [threading.Thread(target=work, args=(at,)) for at in range(CLIENTS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    figures.answered("todos", sum(counts), 50)
    return sum(counts) / seconds


def cpu(server):
    """Of all processes of a server, for one request that changes nothing."""
    client, before = Client(server.address), processes.cpu_ns(server.process.pid)
    for _ in range(REQUESTS):
        client.wire.request("GET", "/health")
        response = client.wire.getresponse()
        response.read()
        if response.status != 200:
            raise figures.Void("/health: %d" % response.status)
    return figures.figure("CPU", processes.cpu_ns(server.process.pid) - before) / REQUESTS


def main():
    program, seconds = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 10
    if not postgres.folder_of_programs():
        raise figures.Void("there is no PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as folder, postgres.Cluster(fsync="on", max_connections=100) as cluster:
        address, servers = cluster.address("bench"), []
        folder = pathlib.Path(folder)

        def serve(name, *flags):
            servers.append(load.Server(program, folder / name, flags=("--todo-store", address, *flags)))
            return servers[-1]

        try:
            first, second = serve("first", "--cluster", address), serve("second", "--cluster", address)
            alone = serve("alone")
            time.sleep(2.5)  # until they know each other
            found, changes = latencies(first, second, seconds)
            print("%d notices at %.0f changes per second" % (len(found), changes))
            figures.row("a notice at another server, p50", statistics.median(found), "ms", at_most=P50_MS)
            figures.row("a notice at another server, p99", found[len(found) * 99 // 100], "ms", at_most=P99_MS)
            changed, read = [], []
            for _ in range(ROUNDS):
                without, with_it = rate(alone, seconds / ROUNDS), rate(first, seconds / ROUNDS)
                changed.append(with_it / without)
                time.sleep(1)  # until there were no changes for a while
                read.append(cpu(first) / cpu(alone))
            figures.row("changes per second with notices, against without", figures.median("ratios", changed), "×", at_least=LEAST)
            figures.row("CPU of a request that changes nothing, against without", figures.median("ratios", read), "×", at_most=MOST)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    figures.run(main)
