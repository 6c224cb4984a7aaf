"""Heads and bodies: what is refused before a body is read, how much of bodies is held, who hears of a refusal, callers
that close their sending side.

    MISHAP_PROGRAM=… FAULTY_PROGRAM=… BYTES_PROGRAM=… python3 tests/http/bodies_test.py [PART-OF-A-NAME]

Speaks TAP. One connection in all its ways is in connection_test.py.
"""
import contextlib
import json
import os
import re
import signal
import socket
import time

import server
from blackbox import equal, expect, main, parsed, run_program, test, tests_of
from server import Server, chunked, request, wait_for

MEGABYTE = 1 << 20
FAULTY, BYTES = (os.path.abspath(os.environ[name]) for name in ("FAULTY_PROGRAM", "BYTES_PROGRAM"))
JSON_TYPE = "application/json"


def head(method, target, length, **fields):
    """The head of a request with a body, in whichever way: a number, or None for chunks."""
    size = {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
    return request(method, target, None, {"Content-Type": JSON_TYPE, **size, **{name.replace("_", "-"): value for name, value in fields.items()}})


def private(found):
    """The bytes that all processes of a server have for themselves."""
    parents = dict(server.processes())
    family = {found.process.pid}
    while True:
        more = {pid for pid, parent in parents.items() if parent in family} | family
        if more == family:
            break
        family = more
    total = 0
    for pid in family:
        with contextlib.suppress(OSError), open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
            total += int(re.search(r"^Private_Dirty:\s+(\d+) kB$", file.read(), re.M)[1]) * 1024
    return total


# ---- Keys ----------------------------------------------------------------------------------------


def keyed():
    data = os.path.join(server.FOLDER, "keyed")
    if not os.path.exists(data):
        made = run_program(server.PROGRAM, "keys", "add", "--name", "ci", "--data", data, "--output", "json")
        equal(made.status, 0, made.out)
        keyed.key, keyed.data = parsed(made.out)["data"]["key"], data
    return server.server("keyed", "--workers", "1", "--require-key", data=data)


@tests_of({"with a length": (1000,), "in chunks": (None,), "of /mcp": (1000, "/mcp"), "nowhere": (1000, "/nothing")})
def without_a_key_the_head_is_refused_while_the_body_is_withheld(length, target="/todos"):
    with keyed().connect() as connection:
        answer = connection.send(head("POST", target, length)).response("POST", target)
        equal((answer.status, answer["WWW-Authenticate"]), (401, "Bearer"))


@test
def who_waits_for_100_gets_401_instead():
    with keyed().connect() as connection:
        answer = connection.send(head("POST", "/todos", 1000, Expect="100-continue")).response("POST")
        equal((answer.status, answer.closes), (401, True))  # a first line with 100 would have failed the test
        connection.expect_closed()
    with keyed().connect() as connection:
        connection.send(head("POST", "/todos", 15, Expect="100-continue", X_Api_Key=keyed.key))
        equal(connection.interim(), 100)
        equal(connection.send(b'{"title":"yes"}').response("POST").status, 201)


@test
def a_small_body_of_a_request_that_was_refused_is_read_past():
    body = b"GET /nothing HTTP/1.1\r\n\r\n" * 2000  # which are no requests
    with keyed().connect() as connection:
        for _ in range(3):
            connection.send(head("POST", "/todos", len(body)))
            equal(connection.response("POST").status, 401)
            connection.send(body)
        expect(connection.is_open(), "it ended")


@test
def what_needs_no_key_still_needs_none():
    for target in ["/health", "/openapi.json", "/errors", "/errors/NOT_FOUND"]:
        equal(keyed().ask("GET", target).status, 200, target)
        equal(keyed().ask("GET", target, b"{}").status, 200, target)


@test
def bodies_without_a_key_take_no_memory():
    found = keyed()
    found.ask("GET", "/health")
    before = private(found)
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(found.connect()) for _ in range(200)]
        for peer in peers:
            peer.send(head("POST", "/todos", MEGABYTE)).send(b" " * (MEGABYTE - 1))
        taken = private(found) - before
        for peer in peers:
            equal(peer.response("POST").status, 401)
    expect(taken < 40 * MEGABYTE, "200 bodies took", taken)


# ---- Other refusals that the head decides --------------------------------------------------------

decided = {
    "no such path": ("POST", "/nothing", {}, 404), "no such method": ("PATCH", "/todos", {}, 405),
    "a type that is not taken": ("POST", "/todos", {"Content-Type": "text/plain"}, 400),
    "a type that an operation does not take": ("POST", "/holds?until=x", {"Content-Type": "text/plain"}, 415),
    "a coding": ("POST", "/todos", {"Content-Encoding": "gzip"}, 400),
    "a foreign page": ("POST", "/todos", {"Origin": "http://evil.example"}, 403),
    "a foreign page, over /mcp": ("POST", "/mcp", {"Origin": "http://evil.example"}, 403),
    "a foreign host, over /mcp": ("POST", "/mcp", {"Host": "evil.example"}, 403),
    "a type that /mcp does not take": ("POST", "/mcp", {"Content-Type": "text/plain"}, 415),
    "a length": ("POST", "/todos", {"Content-Length": "1048577"}, 413),
    "a length, over /mcp": ("POST", "/mcp", {"Content-Length": "10485761"}, 413),
}


@tests_of(decided)
def it_is_decided_by_the_head(method, target, fields, status):
    program = FAULTY if target.startswith("/holds") else None
    found = server.server("decides-%s" % bool(program), "--workers", "1", program=program)
    for expects in [{}, {"Expect": "100-continue"}]:
        chosen = {"Content-Type": JSON_TYPE, "Content-Length": "20", **expects, **fields}
        data = request(method, target, None, chosen)
        if "Host" in fields:
            data = data.replace(b"Host: localhost\r\n", b"")
        with found.connect() as connection:
            answer = connection.send(data).response(method, target, checked=target != "/mcp")
            equal(answer.status, status)
            if target == "/mcp":
                equal((parsed(answer.body)["error"]["code"], "id" in parsed(answer.body)), (-32600, False))


@test
def a_caller_that_calls_too_often_is_refused_by_the_head_and_counted_once():
    with Server("--workers", "1", "--rate", "2") as found:
        with found.connect() as connection:
            for _ in range(2):  # whose bodies come late: each counts once
                connection.send(head("POST", "/todos", 15))
                expect(connection.is_silent(0.05), "it was answered")
                equal(connection.send(b'{"title":"yes"}').response("POST").status, 201)
            statuses = []
            for _ in range(50):
                connection.send(head("POST", "/nothing", 2)).send(b"{}")
                statuses.append(connection.response("POST").status)
            expect(429 in statuses, statuses)


# ---- Memory --------------------------------------------------------------------------------------

LIMITS = ("--workers", "1", "--body-limit", str(MEGABYTE), "--mcp-body-limit", str(MEGABYTE), "--max-body-memory-mb", "4")


def hold_bodies(found, stack, count=8, most=None):
    """Connections that have sent all of a body but its last byte, as far as that is taken: (taken, their answers). `most`: so many can be taken."""
    peers = [stack.enter_context(found.connect()) for _ in range(count)]
    for peer in peers:
        peer.send(head("POST", "/todos", MEGABYTE)).send(b'{"title":"held"' + b" " * (MEGABYTE - 17))
    with found.connect() as probe:  # the same loop has read all that came before this
        equal(probe.ask("GET", "/health").status, 200)
    wait_for(lambda: most is None or sum(peer.is_silent(0) for peer in peers) <= most)
    refused = [peer for peer in peers if not peer.is_silent(0)]
    return [peer for peer in peers if peer not in refused], [peer.response("POST") for peer in refused]


def check_busy(answer):
    equal((answer.status, answer["Retry-After"], parsed(answer.body)["error"]), (503, "1", "unavailable"))


def has_room(found):
    """Three bodies fit at once."""
    with contextlib.ExitStack() as stack:
        held, _ = hold_bodies(found, stack, 3)
        answers = [peer.send(b" }").response("POST").status for peer in held]
        return len(held) == 3 and set(answers) == {201}


@test
def bodies_beyond_the_limit_are_refused_until_there_is_room():
    with Server(*LIMITS) as found, contextlib.ExitStack() as stack:
        held, answers = hold_bodies(found, stack, most=4)
        expect(1 <= len(held) <= 4 and answers, len(held), "are held")
        for answer in answers:
            check_busy(answer)
        said = stack.enter_context(found.connect())
        said.send(request("POST", "/mcp", None, {"Content-Type": JSON_TYPE, "Content-Length": str(MEGABYTE)}))
        answer = said.response("POST", "/mcp", checked=False)
        error = parsed(answer.body)["error"]
        equal((answer.status, answer["Retry-After"], error["code"], error["data"]["code"]), (503, "1", -32603, "UNAVAILABLE"))
        equal(found.ask("POST", "/todos", {"title": "small"}).status, 201, "a small one")
        for peer in held:
            equal(peer.send(b" }").response("POST").status, 201)
        expect(wait_for(lambda: has_room(found)), "there is no room")


@test
def what_a_loop_held_that_was_killed_is_free():
    with Server(*LIMITS) as found, contextlib.ExitStack() as stack:
        held, _ = hold_bodies(found, stack)
        expect(held, "nothing is held")
        for pid in found.workers():
            os.kill(pid, signal.SIGKILL)
        for peer in held:
            while peer.more():
                pass
        expect(wait_for(lambda: has_room(found)), "there is no room")


@test
def bodies_of_calls_that_run_count():
    until, size = os.path.join(server.FOLDER, "until"), 900_000
    data = request("POST", "/holds?until=" + until, b"x" * size, media_type="application/octet-stream")
    with Server(*LIMITS, program=FAULTY) as found, contextlib.ExitStack() as stack:
        peers = [stack.enter_context(found.connect()) for _ in range(4)]
        for number, peer in enumerate(peers):
            peer.send(data)
            expect(wait_for(lambda: found.running_handlers() == number + 1), "it does not run")
        for _ in range(3):
            with found.connect() as peer:
                check_busy(peer.send(data).response("POST"))
        with open(until, "wb"):
            pass
        for peer in peers:
            equal(peer.response("POST").json, {"bytes": size})
        equal(stack.enter_context(found.connect()).send(data).response("POST").status, 200)


@test
def the_limit_is_never_less_than_one_body():
    with Server("--workers", "1", "--max-body-memory-mb", "1", "--body-limit", str(3 * MEGABYTE)) as found:
        equal(found.ask("POST", "/todos", b'{"title":"x"' + b" " * (3 * MEGABYTE - 13) + b"}").status, 201)


# ---- Refusals reach the caller -------------------------------------------------------------------


def send_all_then_read(found, *pieces):
    """A client that reads nothing before it has sent everything: its answer. Two seconds after it has answered a server does not
    wait any more for what is sent: if so much time has passed it is tried again."""
    while True:
        begun = time.monotonic()
        try:
            with found.connect() as connection:
                for piece in pieces:
                    connection.socket.sendall(piece)
                return connection.response("POST", checked=False)
        except ConnectionError as error:
            expect(1.5 < time.monotonic() - begun < server.PATIENCE, "it was not taken:", str(error))


@tests_of({"with a length": (5 * MEGABYTE,), "in chunks": (None,)})
def a_client_that_sends_all_of_a_body_that_is_too_large_gets_the_413(length):
    body = b" " * (5 * MEGABYTE)
    pieces = [body] if length else [chunked(body, 100_000), b"0\r\n\r\n"]
    found = server.server("large", "--workers", "1")
    answer = send_all_then_read(found, head("POST", "/todos", length), *pieces)
    equal((answer.status, answer.json["message"]), (413, "The request body can have at most 1048576 bytes."))
    answer = send_all_then_read(found, head("POST", "/todos", length, Accept="application/problem+json"), *pieces)
    equal(answer.json["context"]["limit_bytes"], MEGABYTE, answer.json)


def initialize(size):
    said = {"jsonrpc": "2.0", "id": 7, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}, "_meta": {"x": ""}}}
    said["params"]["_meta"]["x"] = "y" * (size - len(json.dumps(said)))
    return json.dumps(said).encode()


@tests_of({"with a length": (False,), "in chunks": (True,)})
def mcp_takes_nine_megabytes_and_refuses_eleven(in_chunks):
    found = server.server("large", "--workers", "1")
    for megabytes in 9, 11:
        body = initialize(megabytes * MEGABYTE)
        pieces = [chunked(body, 100_000), b"0\r\n\r\n"] if in_chunks else [body]
        answer = send_all_then_read(found, head("POST", "/mcp", None if in_chunks else len(body)), *pieces)
        if megabytes == 9:
            equal((answer.status, answer.json["id"], "result" in answer.json), (200, 7, True))
            continue
        error = answer.json["error"]
        equal((answer.status, error["code"], error["message"]), (413, -32600, "The request body can have at most 10485760 bytes."))
        equal((error["data"]["code"], answer.json.get("id")), ("CONTENT_TOO_LARGE", None))


# ---- Callers that close their sending side -------------------------------------------------------


def marked(name):
    return os.path.join(server.FOLDER, name)


def leaving():
    return server.server("leaving", "--workers", "1", program=FAULTY)


@tests_of({"and answers": (False, 200), "and gives up": (True, 499)})
def a_handler_is_told_and_its_answer_is_written(gives_up, status):
    mark = marked("told-%d" % gives_up)
    with leaving().connect() as connection:
        connection.send(request("POST", "/watches", {"mark": mark, "gives_up": gives_up}))
        expect(wait_for(lambda: os.path.exists(mark + ".begun")), "it does not run")
        expect(connection.is_silent(0.05) and not os.path.exists(mark), "it was told too early")
        answer = connection.finish().response("POST")
    equal(answer.status, status)
    if status == 200:
        equal(answer.json, {"told": True})
    expect(answer.id not in server.Server.read(leaving().log).decode(), "it is in the log")


@test
def requests_that_were_sent_ahead_are_answered_whenever_the_caller_closes_its_side():
    found = server.server("ahead", "--workers", "1")
    for _ in range(100):  # the end is read at any moment between two answers
        with found.connect() as connection:
            connection.send(request("GET", "/todos") * 4).finish()
            equal([connection.response().status for _ in range(4)], [200] * 4)
            connection.expect_closed()


@tests_of({"in order": ("close",), "with a reset": ("reset",)})
def a_handler_is_told_of_a_caller_that_closes(how):
    mark = marked("closed-" + how)
    connection = leaving().connect()
    connection.send(request("POST", "/watches", {"mark": mark}))
    expect(wait_for(lambda: os.path.exists(mark + ".begun")), "it does not run")
    getattr(connection, how)()
    expect(wait_for(lambda: os.path.exists(mark)), "it was not told")


@test
def who_closes_its_side_with_the_request_is_answered():
    with leaving().connect() as connection:
        answer = connection.send(request("POST", "/watches", {"mark": marked("at-once")})).finish().response("POST")
        equal((answer.status, answer.json), (200, {"told": True}))
        connection.expect_closed()


@test
def a_stream_goes_on_for_a_reader_that_has_closed_its_side():
    with Server("--workers", "1", program=BYTES) as found, found.connect() as connection:
        connection.send(request("GET", "/tick?count=30&ms=5", fields={"Connection": "close"})).finish()
        while connection.more():
            pass
        expect(connection.received.endswith(b"3\r\n30\n\r\n0\r\n\r\n"), connection.received[-200:])


# ---- Streams -------------------------------------------------------------------------------------


@test
def head_of_an_endless_stream_is_answered_at_once_and_its_handler_ends():
    with Server("--workers", "1", program=BYTES) as found, found.connect() as connection:
        connection.send(request("HEAD", "/tick?count=1000000&ms=20"))
        status, fields = server.parse_head(connection.take_head())
        equal((status, dict(fields)["Content-Type"]), (200, "text/plain"))
        expect(connection.is_open(), "the connection does not go on")
        expect(wait_for(lambda: found.running_handlers() == 0), "its handler runs")


@tests_of({"of a worker": (2,), "of the loop": (0,)})
def a_handler_whose_stream_is_asked_for_its_head_keeps_its_caller(handlers):
    keyed()
    fields = {"Authorization": "Bearer " + keyed.key}
    with Server("--workers", "1", "--handlers", str(handlers), data=keyed.data, program=BYTES) as found, found.connect() as connection:
        connection.send(request("HEAD", "/whose", None, fields))
        equal(server.parse_head(connection.take_head())[0], 200)
        expect(wait_for(lambda: b"the stream of ci has ended\n" in found.read(found.stderr)), "its caller is gone")
        connection.send(request("GET", "/health"))
        equal(server.parse_head(connection.take_head())[0], 200, "the request behind it")


@tests_of({"HTTP/1.0": (True,), "HTTP/1.1": (False,)})
def a_stream_that_is_cut_does_not_look_whole(old):
    with Server("--workers", "1", program=BYTES) as found, found.connect() as connection:
        version = b"HTTP/1.0" if old else b"HTTP/1.1"
        connection.socket.sendall(b"GET /tick?count=3&ms=20&end=fail " + version + b"\r\nHost: localhost\r\n\r\n")
        received, was_reset = b"", False
        try:
            while piece := connection.socket.recv(65536):
                received += piece
        except ConnectionResetError:
            was_reset = True
        expect(was_reset if old else not received.endswith(b"0\r\n\r\n"), "it looks whole:", received)


# ---- After all -----------------------------------------------------------------------------------


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
