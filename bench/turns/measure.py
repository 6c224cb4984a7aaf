"""How long a small request waits for clients that send much at once to the same loop.

    python3 bench/turns/measure.py build/mishap [SECONDS]

Two clients send batches of 256 `resources/read` over MCP, or 256 requests ahead; a third asks for /health, one request at a time. Prints
its median and 99th percentile alone and beside them, and the ratio of the 99th percentile to the time that one batch takes alone: what
it would be if a batch was answered in one go is 1 and more.
"""
import json
import multiprocessing
import pathlib
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figures  # noqa: E402
import load  # noqa: E402

MOST = 0.5
AT_ONCE = 256
CLIENTS = 2
LEAST = 10000  # bytes of the resource that is read
FEWEST = 10  # requests of the third client
PATIENCE = 60


def connect(address):
    host, port = address.rsplit(":", 1)
    found = socket.create_connection((host, int(port)), timeout=PATIENCE)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def post(body, fields=""):
    text = json.dumps(body).encode()
    return (f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n{fields}"
            f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n").encode() + text


def responses(connection, count):
    """Read so many responses; the head of the last one."""
    held = b""
    for _ in range(count):
        while b"\r\n\r\n" not in held:
            held += received(connection)
        head, held = held.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 20"):
            raise figures.Void(f"the server answers {head[:60]!r}")
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
        while length > len(held):
            length -= len(held)
            held = received(connection)
        held = held[length:]
    return head


def received(connection):
    piece = connection.recv(1 << 20)
    if not piece:
        raise figures.Void("the server has closed a connection")
    return piece


def make_batch(connection, _address):
    """A session, and the bytes of a batch in it."""
    params = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    connection.sendall(post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
    head = responses(connection, 1).decode()
    session = next(line for line in head.split("\r\n") if line.lower().startswith("mcp-session-id"))
    read = {"jsonrpc": "2.0", "method": "resources/read", "params": {"uri": "catalog://codes"}}
    connection.sendall(post({**read, "id": 1}, session + "\r\n"))
    length = int(responses(connection, 1).lower().split(b"content-length:")[1].split()[0])
    if length < LEAST:
        raise figures.Void(f"a resource has only {length} bytes")
    return post([{**read, "id": i} for i in range(AT_ONCE)], session + "\r\n"), 1


def make_ahead(_connection, _address):
    return b"GET /errors HTTP/1.1\r\nHost: localhost\r\n\r\n" * AT_ONCE, AT_ONCE


def send_much(make, address, until):
    connection = connect(address)
    data, count = make(connection, address)
    while time.monotonic() < until:
        connection.sendall(data)
        responses(connection, count)


def alone(make, address):
    """Seconds that one of them takes."""
    connection = connect(address)
    data, count = make(connection, address)
    times = []
    for _ in range(7):
        began = time.perf_counter()
        connection.sendall(data)
        responses(connection, count)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def ask_often(address, seconds):
    """Seconds of each request, in order of their length."""
    connection, times, until = connect(address), [], time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        responses(connection, 1)
        times.append(time.perf_counter() - began)
        time.sleep(0.001)
    figures.answered("/health", len(times), FEWEST)
    return sorted(times)


def shown(times):
    return f"median {statistics.median(times) * 1000:.2f} ms, p99 {times[len(times) * 99 // 100] * 1000:.2f} ms"


def measure(name, make, address, seconds):
    whole = alone(make, address)
    quiet = ask_often(address, seconds)
    clients = [multiprocessing.Process(target=send_much, args=(make, address, time.monotonic() + seconds + 1)) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    time.sleep(0.3)
    beside = ask_often(address, seconds)
    for client in clients:
        client.join(PATIENCE)
        if client.exitcode != 0:
            client.kill()
            raise figures.Void(f"a client that sends {name} has failed")
    print(f"{name}: one takes {whole * 1000:.1f} ms. /health alone: {shown(quiet)}; beside {CLIENTS} of them: {shown(beside)}")
    figures.row(f"p99 of /health beside {CLIENTS} clients with {name}, against the time of one", beside[len(beside) * 99 // 100] / whole,
                "×", at_most=MOST)


def main():
    program, seconds = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="bench-turns-") as folder:
        server = load.Server(program, pathlib.Path(folder) / "data")
        try:
            for name, make in (("batches of 256", make_batch), ("256 requests ahead", make_ahead)):
                measure(name, make, server.address, seconds)
        finally:
            server.stop()


figures.run(main)
