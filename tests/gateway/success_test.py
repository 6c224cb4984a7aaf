"""Successes through `mishap gateway`: each is equal to what the server sent, by hash.

    MISHAP_PROGRAM=… MISHAP_NGINX_MODULE=… MISHAP_GATEWAY_SUCCESSES=100000 python3 tests/gateway/success_test.py [PART-OF-A-NAME]

The server makes its answer from the number in the path, and so does the client: sizes, chunks, fields, statuses and ranges differ with it. Both are one
process, with 16 connections that are used again and again.
"""
import asyncio
import collections
import hashlib
import os
import random
import re
import shutil
import subprocess
import tempfile

from gatewayed import TREE, Gateway, needed, wait_until
from blackbox import PATIENCE, Skipped, equal, expect, main, test
from filtered import response

COUNT = int(os.environ.get("MISHAP_GATEWAY_SUCCESSES", "6000"))
CONNECTIONS = 16
LARGE, EVERY = 10_000_000, 1000  # so many bytes, once in so many requests
WORDS = (b"first", b"second", b"third")
BLOCK = random.Random(27).randbytes(1 << 20)

Plan = collections.namedtuple("Plan", "method status body pieces fields range sent")


def make_body(number, size):
    at = number * 7919 % len(BLOCK)
    turned = BLOCK[at:] + BLOCK[:at] if size > 1000 else BLOCK[at:at + size]
    return (turned * (size // len(BLOCK) + 1))[:size]


def plan(number):
    """The request of a number and its answer. `pieces`: chunks; None: a length."""
    chance = random.Random(number)
    size = LARGE if number % EVERY == 0 else chance.choice([0, 1, 9, 1000, 4096, 20000, 70000])
    body, method, status, pieces, span, sent = make_body(number, size), "GET", chance.choice([200, 200, 201, 203, 299]), None, None, b""
    kind = chance.randrange(8)
    fields = ["X-Number: %d" % number, "ETag: \"%d\"" % number, "X-Debug-Exception: at /srv/app/%d.py" % number, "Set-Cookie: a=%d" % number, "Set-Cookie: b=%d" % number]
    if kind == 0:
        method = "HEAD"
    elif kind in (1, 2) and size:
        pieces = sorted(chance.sample(range(1, size), min(size - 1, chance.randrange(5))))
    elif kind == 3 and size > 10:
        first = chance.randrange(size - 1)
        last = chance.randrange(first, size)
        span, status = (first, last, size), 206
        body = body[first:last + 1]
        fields.append("Content-Range: bytes %d-%d/%d" % span)
    elif kind == 4:
        method, sent = chance.choice(["POST", "PUT", "PATCH"]), make_body(number + 1, chance.choice([1, 5000, 100000]))
    elif kind == 5:
        fields.append("Content-Encoding: br")  # of a success nothing is read
    elif kind == 6:
        status, body = chance.choice([(204, b""), (304, b""), (302, body)])
    return Plan(method, status, body, pieces, fields, span, sent)


# ---- The server ----------------------------------------------------------------------------------

async def read_body(reader, head):
    """The body of a message, by its head."""
    if b"\r\ntransfer-encoding: chunked" in head.lower():
        body = bytearray()
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
        return bytes(body)
    length = re.search(rb"\r\ncontent-length: (\d+)", head.lower())
    return await reader.readexactly(int(length[1])) if length else b""


def encoded(planned):
    lines = ["HTTP/1.1 %d Reason" % planned.status, *planned.fields]
    if planned.pieces is not None:
        ends = [*planned.pieces, len(planned.body)]
        pieces = [planned.body[start:end] for start, end in zip([0, *ends], ends)]
        return ("\r\n".join([*lines, "Transfer-Encoding: chunked"]) + "\r\n\r\n").encode() + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    if planned.status not in (204, 304):
        lines.append("Content-Length: %d" % len(planned.body))
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (planned.body if planned.method != "HEAD" else b"")


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            method, path = head.split(b" ", 2)[:2]
            number = int(path[1:])
            planned = plan(number)
            sent = await read_body(reader, head)
            if sent != planned.sent or method.decode() != planned.method or (planned.range and b"Range: bytes=%d-%d\r\n" % planned.range[:2] not in head):
                planned = Plan(method.decode(), 500, b"another request arrived", None, [], None, b"")
            writer.write(encoded(planned))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


# ---- The client ----------------------------------------------------------------------------------

def asked(number, planned):
    lines = ["%s /%d HTTP/1.1" % (planned.method, number), "Host: example.com"]
    if planned.range:
        lines.append("Range: bytes=%d-%d" % planned.range[:2])
    if planned.sent and number % 2:
        at = len(planned.sent) // 2 + 1
        pieces = [piece for piece in (planned.sent[:at], planned.sent[at:]) if piece]
        return ("\r\n".join([*lines, "Transfer-Encoding: chunked"]) + "\r\n\r\n").encode() + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    if planned.sent:
        lines.append("Content-Length: %d" % len(planned.sent))
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + planned.sent


async def ask(number, reader, writer):
    planned = plan(number)
    writer.write(asked(number, planned))
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    empty = planned.method == "HEAD" or planned.status in (204, 304)
    body = b"" if empty else await read_body(reader, head)
    equal(lines[0], "HTTP/1.1 %d Reason" % planned.status, str(number))
    missing = [field for field in planned.fields if field not in lines]
    equal(missing, [], "fields of %d" % number)
    if planned.method == "HEAD" and planned.status not in (204, 304):
        expect("Content-Length: %d" % len(planned.body) in lines, number, lines)
    equal(hashlib.sha256(body).hexdigest(), hashlib.sha256(b"" if empty else planned.body).hexdigest(), "the body of %d" % number)


async def ask_many(port, numbers):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        await ask(number, reader, writer)
    writer.close()


async def all_of_them(path):
    server = await asyncio.start_unix_server(serve, path, limit=1 << 20)
    os.chmod(path, 0o777)
    loop = asyncio.get_running_loop()
    gateway = await loop.run_in_executor(None, lambda: Gateway(to="http://unix:" + path, patience=PATIENCE + COUNT / 10))
    try:
        numbers = iter(range(COUNT))
        await asyncio.gather(*(ask_many(gateway.port, numbers) for _ in range(CONNECTIONS)))
        expect(not os.path.exists(gateway.log) or not gateway.incidents(), "there is an incident")
    finally:
        await loop.run_in_executor(None, lambda: gateway.__exit__())
        server.close()


@test
def every_success_is_equal_by_hash():
    needed()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        asyncio.run(all_of_them(os.path.join(folder, "server")))


# ---- One at a time -------------------------------------------------------------------------------

@test
def events_pass_one_by_one_and_so_do_the_pieces_of_a_request():
    with Gateway() as gateway:
        def both(connection, head):
            connection.sendall(response(200, b"", "Content-Type: text/event-stream", length=False))
            rest, told = head.partition(b"\r\n\r\n")[2], 0
            while told < len(WORDS):
                while told < len(WORDS) and WORDS[told] in rest:
                    connection.sendall(b"data: %s\n\n" % WORDS[told])
                    told += 1
                rest += connection.recv(65536) if told < len(WORDS) else b""

        gateway.routes["/both"] = both
        with gateway.connect() as connection:
            connection.sendall(b"POST /both HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            seen = b""
            for word in WORDS:  # each is sent when the answer to the one before it is there
                connection.sendall(b"%x\r\n%s\r\n" % (len(word), word))
                while b"data: %s\n\n" % word not in seen:
                    piece = connection.recv(65536)
                    expect(piece, "the stream ended after", seen)
                    seen += piece
            connection.sendall(b"0\r\n\r\n")


@test
def a_client_may_ask_to_continue():
    with Gateway() as gateway:
        def route(connection, head):
            while not head.endswith(b"body"):
                head += connection.recv(65536)
            connection.sendall(response(200, head[-4:], "Connection: close"))

        gateway.routes["/continue"] = route
        for method in (b"POST", b"PUT"):
            with gateway.connect() as connection:
                connection.sendall(method + b" /continue HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n")
                first = connection.recv(65536)
                expect(first.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"), first)
                connection.sendall(b"body")
                rest = first.partition(b"\r\n\r\n")[2]
                while piece := connection.recv(65536):
                    rest += piece
                expect(rest.startswith(b"HTTP/1.1 200 ") and rest.endswith(b"body"), rest)


@test
def a_websocket_passes():
    program, modules = shutil.which("node"), os.environ.get("MISHAP_NODE_MODULES", "")
    if not program or not os.path.isdir(os.path.join(modules, "ws")):
        raise Skipped("there is no Node, or no ws")
    script = os.path.join(TREE, "tests", "gateway", "websocket.mjs")
    with subprocess.Popen([program, script, "serve", modules], stdout=subprocess.PIPE, text=True) as server:
        try:
            port = int(server.stdout.readline())
            with Gateway(to="http://127.0.0.1:%d" % port) as gateway:
                done = subprocess.run([program, script, "ask", modules, str(gateway.port)], capture_output=True, text=True, timeout=PATIENCE, check=False)
                equal((done.returncode, done.stdout), (0, "1000 messages are equal\nrefused with 426\n"), done.stderr)
                wait_until(lambda: any(row["status"] == 426 for row in gateway.incidents()), "the refusal is recorded")
        finally:
            server.kill()


main()
