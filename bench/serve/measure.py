"""What `mishap serve` costs beside its requests, each figure against a limit or a peer of the same run; scripts/bench-serve calls this.

    read     a todo read through a worker, against a refused request: CPU of all processes, 64 connections, in turn
    first    the first call of each service after a start of the server
    resting  memory of all processes (PSS) when every service has answered a call and nothing is asked, a line for each process
    idle     connections that are open and ask nothing, against nginx
    streams  event streams of MCP that are open and have nothing to say, against responses that nginx sends slowly
"""
import argparse
import http.client
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import figures  # noqa: E402
import load  # noqa: E402
import processes  # noqa: E402
from figures import Void  # noqa: E402

CONNECTIONS, WARM = 64, 1
READ = load.Request("GET", "/todos/1", 200, '"id":"1"')
REFUSED = load.Request("POST", "/users", 422, "field_required", '{"name":"","age":200,"email":"invalid"}')
MADE = [load.Request("POST", "/users", 201, '"id":"1"', '{"name":"Ada","email":"ada@example.com"}'),
        load.Request("POST", "/todos", 201, '"id":"1"', '{"title":"Buy milk","user_id":"1"}')]
# A call that each service answers from its own process, and a part of the answer.
CALLS = {
    "todo": load.Request("GET", "/users?limit=1", 200, "{"),
    "artifacts": load.Request("POST", "/artifacts/genesis_ledger/balance", 200, "{", '{"args":["alice"]}'),
    "lisp": load.Request("POST", "/lisp/evaluate", 200, '"values":["3"]', '{"code":"(+ 1 2)"}'),
    "symbolic": load.Request("POST", "/symbolic/check", 200, '"verified"',
                             json.dumps({"code": "def f(x: int) -> int:\n    return x + 1\n", "function_name": "f"})),
    "python": load.Request("POST", "/python/call", 200, "3", json.dumps({"code": "def run(a, b):\n    return a + b\n", "args": [1, 2]})),
}
READ_MOST, FIRST_MS, RESTING_MB, HELD_MOST, BUSY_MOST = 2.0, 5, 25, 2, 1
SETTLED_S, STEADY_KB, LOOK_S = 4, 128, 5  # until a server that has started is idle; how long an idle one is looked at


def pss_kb(pid):
    return processes.memory_kb(pid, "Pss:")


def tree_pss_kb(root):
    return sum(pss_kb(pid) for pid in processes.family(root) if processes.alive(pid))


def settled_kb(root):
    """The memory of a server that has started everything that it starts while it is idle: it does not change any more."""
    deadline, before = time.monotonic() + load.PATIENCE, tree_pss_kb(root)
    time.sleep(SETTLED_S)
    while abs((after := tree_pss_kb(root)) - before) > STEADY_KB and time.monotonic() < deadline:
        before = after
        time.sleep(1)
    return after


def offered(server):
    """The services of this program: one that was not built cannot be asked."""
    connection = http.client.HTTPConnection(server.address, timeout=load.PATIENCE)
    connection.request("GET", "/openapi.json")
    paths = json.loads(connection.getresponse().read())["paths"]
    connection.close()
    return {name: call for name, call in CALLS.items() if any(path.startswith("/" + call.path.split("/")[1].split("?")[0]) for path in paths)}


# ---- Requests ----------------------------------------------------------------------------------------------------------


def read(options, folder):
    server = load.Server(options.program, folder / "read", options.server_cores)
    cost = {"read": [], "refused": []}
    try:
        for request in MADE:
            server.ask(request)
        for turn in range(options.rounds + 1):
            for name, request in (("read", READ), ("refused", REFUSED))[::1 if turn % 2 else -1]:
                seen = server.load(request, CONNECTIONS, options.seconds if turn else WARM, options.load_cores)
                if turn:
                    cost[name].append(seen["cpu"])
    finally:
        server.stop()
    print(f"a todo read through a worker against a refused request, {CONNECTIONS} connections, one loop, median of {options.rounds} rounds")
    figures.row("    a read, CPU of all processes", figures.median("read", cost["read"], options.rounds), "µs")
    figures.row("    a refused request", figures.median("refused", cost["refused"], options.rounds), "µs")
    figures.row("    a read against a refused request", statistics.median(figures.ratios("read", cost["read"], cost["refused"])), "×", at_most=READ_MOST)


def first(options, folder):
    """Each call is the first of its server, which has started and is idle."""
    taken, again = {}, {}
    for turn in range(options.rounds):
        for name in list(taken) or CALLS:
            server = load.Server(options.program, folder / f"first-{name}-{turn}")
            try:
                if name not in offered(server):
                    continue
                time.sleep(SETTLED_S)
                for found in (taken, again):
                    connection = http.client.HTTPConnection(server.address, timeout=load.PATIENCE)
                    connection.connect()
                    start = time.perf_counter()
                    server.ask(CALLS[name], connection)
                    found.setdefault(name, []).append((time.perf_counter() - start) * 1e3)
                    connection.close()
            finally:
                server.stop()
    print(f"first call of each service, {SETTLED_S} s after the start of the server, median of {options.rounds} starts")
    for name, values in taken.items():
        figures.row(f"    {name} (the next one: {figures.median(name, again[name]):.1f} ms)", figures.median(name, values, options.rounds), "ms",
                    at_most=FIRST_MS)


# ---- Memory ------------------------------------------------------------------------------------------------------------


def resting(options, folder):
    server = load.Server(options.program, folder / "resting")
    try:
        started = settled_kb(server.process.pid)
        asked = offered(server)
        for request in asked.values():
            server.ask(request)
        settled_kb(server.process.pid)
        found = {pid: (processes.name(pid), pss_kb(pid)) for pid in processes.family(server.process.pid) if processes.alive(pid)}
    finally:
        server.stop()
    print(f"memory at rest of mishap serve with one loop (PSS); called once: {', '.join(asked)}")
    for name in dict.fromkeys(name for name, _ in found.values()):
        sizes = [size for other, size in found.values() if other == name]
        print(f"        {len(sizes):2} × {name:<20} {sum(sizes) / 1024:7.1f} MB")
    figures.row("    all processes after the start", started / 1024, "MB", at_most=RESTING_MB)
    figures.row("    … and when each service has answered a call", sum(size for _, size in found.values()) / 1024, "MB", at_most=RESTING_MB)


# ---- What is held open ---------------------------------------------------------------------------------------------------

NGINX = """daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 20000;
events { worker_connections 16384; }
http {
    access_log off;
    keepalive_timeout 1h;
    client_header_timeout 1h;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    server {
        listen 127.0.0.1:@PORT@ backlog=4096;
        root .;
        location = /ready { return 200 "ready"; }
        location = /slow { limit_rate 100; }
    }
}
"""


class Nginx:
    def __init__(self, folder):
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            raise Void("nginx is not installed")
        folder.mkdir()
        folder.chmod(0o755)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % probe.getsockname()[1]
        (folder / "slow").write_bytes(bytes(1 << 20))
        (folder / "nginx.conf").write_text(NGINX.replace("@PORT@", self.address.split(":")[1]))
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen([program, "-p", folder, "-c", "nginx.conf"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + load.PATIENCE
        while True:
            try:
                return ask(self.address, "GET /ready HTTP/1.1\r\nHost: bench\r\n\r\n", b"200 OK").close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise Void("nginx does not answer: " + (folder / "log").read_text()) from None
                time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(load.PATIENCE)


def ask(address, text, expected):
    """A connection that stays open behind the beginning of a response."""
    host, port = address.split(":")
    link = socket.create_connection((host, int(port)), timeout=load.PATIENCE)
    link.sendall(text.encode())
    seen = link.recv(65536)
    if expected not in seen:
        raise Void(f"{address} answers {seen[:200]!r}")
    return link


def idle_link(address):
    return ask(address, "GET /ready HTTP/1.1\r\nHost: bench\r\n\r\n", b"200 OK")


def mcp_stream(address):
    connection = http.client.HTTPConnection(address, timeout=load.PATIENCE)
    fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {
        "name": "bench", "version": "1"}}}
    connection.request("POST", "/mcp", json.dumps(hello), fields)
    response = connection.getresponse()
    response.read()
    session = response.getheader("Mcp-Session-Id")
    connection.close()
    if not session:
        raise Void(f"there is no session: {response.status}")
    return ask(address, f"GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n"
                        "MCP-Protocol-Version: 2025-06-18\r\n\r\n", b"200 OK")


def slow_response(address):
    return ask(address, "GET /slow HTTP/1.1\r\nHost: bench\r\n\r\n", b"200 OK")


def hold(server, open_one, count):
    """{memory that they take, all memory, share of a core of the busiest process} while so many are open."""
    root = server.process.pid
    open_one(server.address).close()  # what the first one alone takes is not counted
    before = settled_kb(root)
    links = []
    try:
        for _ in range(count):
            links.append(open_one(server.address))
        time.sleep(1)
        family = processes.family(root)
        spent = {pid: processes.own_ns([pid]) for pid in family}
        time.sleep(LOOK_S)
        busiest = max((processes.own_ns([pid]) or 0) - (spent[pid] or 0) for pid in family)
        links[0].settimeout(0)
        links[-1].settimeout(0)
        for link in (links[0], links[-1]):
            try:
                if not link.recv(65536):
                    raise Void("a connection was closed meanwhile")
            except BlockingIOError:
                pass
        after = tree_pss_kb(root)
    finally:
        for link in links:
            link.close()
    return {"added": after - before, "all": after, "busy": busiest / LOOK_S / 1e9 * 100}


def compare_held(options, folder, name, count, of_ours, of_theirs, words):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count + 1000:
        raise Void(f"{count:,} connections need as many open files, and {hard:,} are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    flags = ("--idle-timeout-ms", "3600000", "--caller-share", "100")
    held = {}
    for key, start in (("ours", lambda: load.Server(options.program, folder / name, flags=flags)), ("nginx", lambda: Nginx(folder / f"{name}-nginx"))):
        server = start()
        try:
            held[key] = hold(server, of_ours if key == "ours" else of_theirs, count)
        finally:
            server.stop()
    ours, theirs = held["ours"], held["nginx"]
    print(words)
    figures.row("    mishap serve, memory of all processes that they add (PSS)", ours["added"] / 1024, "MB")
    figures.row("    nginx", theirs["added"] / 1024, "MB")
    figures.row("    against nginx", ours["added"] / figures.figure("memory of nginx", theirs["added"]), "×", at_most=HELD_MOST)
    figures.row("    one of them", ours["added"] * 1024 / count, "bytes")
    figures.row("    share of a core of the busiest process meanwhile", max(ours["busy"], 0.0001), "%", at_most=BUSY_MOST)


def idle(options, folder):
    compare_held(options, folder, "idle", options.idle, idle_link, idle_link, f"{options.idle:,} connections that ask nothing, after a request each")


def streams(options, folder):
    compare_held(options, folder, "streams", options.streams, mcp_stream, slow_response,
                 f"{options.streams:,} event streams of MCP sessions, against as many slow responses of nginx")


PARTS = {"read": read, "first": first, "resting": resting, "idle": idle, "streams": streams}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS))
    options = parser.parse_args()
    if not set(options.only) <= set(PARTS):
        parser.error(f"--only takes {', '.join(PARTS)}")
    if min(options.rounds, options.seconds, options.idle, options.streams) < 1:
        parser.error("there is nothing to measure without a round, a second or a connection")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    pin = len(cores) > 1 and shutil.which("taskset")
    options.server_cores, options.load_cores = (cores[0], cores[-1]) if pin else (None, None)
    with tempfile.TemporaryDirectory(prefix="mishap-bench-") as folder:
        pathlib.Path(folder).chmod(0o755)  # nginx reads as another user
        for name in options.only:
            PARTS[name](options, pathlib.Path(folder))


figures.run(main)
