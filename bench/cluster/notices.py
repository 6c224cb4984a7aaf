"""How long a notice takes to another server of a cluster, when a removed key is refused there, and what --cluster costs; PostgreSQL is started for it.

    python3 bench/cluster/notices.py build/mishap [SECONDS]

Two servers share a database. Clients of the first create todos at 500 per second, each of which is two changes. Every 30 ms another one
creates a user, and a live subscription at the second server tells of it: the time from the response to the event. Keys are removed by the command, and a
client of the second server asks with each until it is refused: the time from the start of the command. Then todos are created
as fast as one server does it, without --cluster and with it, in turns: at one PostgreSQL, and at a primary with a synchronous standby. Transfers of artifacts are
changes without notices, so todos stand for them.
"""
import contextlib
import http.client
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "store"))
import figures  # noqa: E402
import load  # noqa: E402
import pair as pairs  # noqa: E402
import postgres  # noqa: E402
import processes  # noqa: E402

TODOS_PER_SECOND, CLIENTS, PAUSE, ROUNDS, REQUESTS, KEYS = 500, 4, 0.03, 5, 4000, 10
P50_MS, P99_MS, KEY_SECONDS, LEAST, MOST = 10, 100, 2, 0.85, 1.02


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


def per_second(server, seconds, clients, what, ask):
    """How often `clients` threads ask together, each with a connection of its own."""
    until, counts = time.monotonic() + seconds, [0] * clients

    def work(at):
        client = Client(server.address)
        while time.monotonic() < until:
            ask(client)
            counts[at] += 1

    workers = [threading.Thread(target=work, args=(at,)) for at in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    figures.answered(what, sum(counts), 50)
    return sum(counts) / seconds


def rate(server, seconds):
    return per_second(server, seconds, CLIENTS, "todos", lambda client: client.ask("/todos", {"title": "one"}))


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


def keys(program, address, command, name):
    """The data of `keys add` or `keys remove`."""
    done = subprocess.run([program, "keys", command, "--name", name, "--cluster", address, "--output", "json"], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=load.PATIENCE)
    if done.returncode:
        raise figures.Void("keys %s: %r" % (command, done.stdout + done.stderr))
    return json.loads(done.stdout)["data"]


def time_removals(program, address, server):
    """Seconds from the start of `keys remove` until the server refuses the key, of several keys."""
    names = ["k%d" % number for number in range(KEYS)]
    fields = {name: {"X-Api-Key": keys(program, address, "add", name)["key"]} for name in names}
    client, took = Client(server.address), []

    def until(name, status):
        patience = time.monotonic() + load.PATIENCE
        while time.monotonic() < patience:
            client.wire.request("GET", "/users?limit=1", headers=fields[name])
            response = client.wire.getresponse()
            response.read()
            if response.status == status:
                return
            if response.status not in (200, 401):
                raise figures.Void("a request with a key: %d" % response.status)
            time.sleep(0.01)
        raise figures.Void("the status with a key is never %d" % status)
    for name in names:
        until(name, 200)
    for name in names:
        begun = time.monotonic()
        keys(program, address, "remove", name)
        until(name, 401)
        took.append(time.monotonic() - begun)
    return sorted(took)


@contextlib.contextmanager
def serving(program):
    """A function that starts a server on an address; all of them end with it."""
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as folder:
        servers = []

        def serve(address, *flags):
            servers.append(load.Server(program, pathlib.Path(folder) / str(len(servers)), flags=("--todo-store", address, *flags)))
            return servers[-1]
        try:
            yield serve
        finally:
            for server in servers:
                server.stop()


def compare(with_it, without, seconds, *more):
    """Changes per second with --cluster against without, and what else is compared, in turns: the ratios."""
    ratios = [[] for _ in range(1 + len(more))]
    for _ in range(ROUNDS):
        slow = rate(without, seconds / ROUNDS)
        ratios[0].append(rate(with_it, seconds / ROUNDS) / slow)
        time.sleep(1)  # until there were no changes for a while
        for at, measured in enumerate(more, 1):
            ratios[at].append(measured(with_it) / measured(without))
    return ratios


def measure_alone(program, seconds):
    with postgres.Cluster(fsync="on", max_connections=100) as cluster, serving(program) as serve:
        address = cluster.address("bench")
        first, second, alone = serve(address, "--cluster", address), serve(address, "--cluster", address), serve(address)
        time.sleep(2.5)  # until they know each other
        found, changes = latencies(first, second, seconds)
        print("%d notices at %.0f changes per second" % (len(found), changes))
        figures.row("a notice at another server, p50", statistics.median(found), "ms", at_most=P50_MS)
        figures.row("a notice at another server, p99", found[len(found) * 99 // 100], "ms", at_most=P99_MS)
        changed, read = compare(first, alone, seconds, cpu)
        figures.row("changes per second with notices, against without", figures.median("ratios", changed), "×", at_least=LEAST)
        figures.row("CPU of a request that changes nothing, against without", figures.median("ratios", read), "×", at_most=MOST)
        # The last: callers who have no key are refused from the first one on.
        took = time_removals(program, address, second)
        figures.row("a removed key is refused at another server, median", statistics.median(took), "s")
        figures.row("a removed key is refused at another server, longest", took[-1], "s", at_most=KEY_SECONDS)


def measure_with_a_standby(program, seconds):
    with pairs.Pair(fsync="on", max_connections=100) as pair, serving(program) as serve:
        address = pair.address("bench")
        first, _second, alone = serve(address, "--cluster", address), serve(address, "--cluster", address), serve(address)
        time.sleep(2.5)
        changed, = compare(first, alone, seconds)
        figures.row("the same with a synchronous standby", figures.median("ratios", changed), "×", at_least=LEAST)


def main():
    program, seconds = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 10
    if not pairs.is_possible():
        raise figures.Void("there is no PostgreSQL")
    measure_alone(program, seconds)
    measure_with_a_standby(program, seconds)


if __name__ == "__main__":
    figures.run(main)
