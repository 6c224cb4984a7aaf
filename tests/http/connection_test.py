"""One connection and its server: what is sent ahead, what the client does not read, what has no end, who listens where.

    MISHAP_PROGRAM=… FAULTY_PROGRAM=… python3 tests/http/connection_test.py [PART-OF-A-NAME]

Speaks TAP. Malformed bytes are in malformed_test.py, many connections in storm_test.py.
"""
import contextlib
import os
import re
import signal
import socket
import threading
import time

import server
from blackbox import Skipped, equal, expect, main, parsed, test, tests_of
from server import Server, request, wait_for

MEGABYTE = 1 << 20
HOST = b"Host: localhost\r\n"
CHUNKED = (b"POST /todos HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
           b"Transfer-Encoding: chunked\r\n\r\n")


def the_server():
    return server.server("connection", "--workers", "1", "--head-timeout-ms", "120000", "--body-timeout-ms", "120000")


def in_background(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def resident(pid):
    """The bytes of memory that a process has at this moment."""
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return int(re.search(r"^VmRSS:\s+(\d+) kB$", file.read(), re.M)[1]) * 1024


# ---- Requests that are sent ahead ----------------------------------------------------------------


def numbered(number):
    """A request whose answer has its number in it."""
    return request("GET", "/todos?limit=%d" % (1_000_000 + number))


def number_of(answer):
    equal(answer.status, 422, "status")
    return parsed(answer.body)["details"][0]["actual"] - 1_000_000


@test
def megabytes_of_requests_sent_ahead_and_not_read_are_answered_in_order():
    count = 30_000
    data = b"".join(numbered(number) for number in range(count))
    expect(len(data) > MEGABYTE, "only", len(data), "bytes")
    with Server("--workers", "1") as found:
        workers = found.workers()
        with found.connect(patience=300) as connection:
            sender = in_background(connection.send, data)
            time.sleep(0.5)
            for number in range(count):
                equal(number_of(connection.response(checked=number % 1000 == 0)), number, "the answer in this place")
            sender.join(server.PATIENCE)
            expect(connection.is_open(), "the connection is dead")
        equal(found.workers(), workers, "the workers")
        equal(found.stop().status, 0)


@test
def half_a_megabyte_behind_a_handler_is_answered_after_it():
    count = 15_000
    data = request("POST", "/todos", {"title": "first"}) + b"".join(numbered(number) for number in range(count))
    expect(len(data) > 700_000, "only", len(data), "bytes")
    with Server("--workers", "1") as found:
        workers = found.workers()
        with found.connect(patience=300) as connection:
            sender = in_background(connection.send, data)
            equal(connection.response().status, 201)
            for number in range(count):
                equal(number_of(connection.response(checked=False)), number, "the answer in this place")
            sender.join(server.PATIENCE)
        equal(found.workers(), workers, "the workers")


@test
def who_sends_megabytes_ahead_and_goes_away_harms_nobody():
    with Server("--workers", "1") as found:
        workers = found.workers()
        for end in ["close", "reset"] * 3:
            for data in [numbered(1) * 60_000, request("POST", "/todos", {"title": "t"}) * 15_000]:
                connection = found.connect(patience=0.5)
                try:
                    connection.socket.sendall(data)
                except OSError:
                    pass  # it is not read, so it is not taken
                getattr(connection, end)()
        equal(found.ask("GET", "/health").status, 200)
        equal(found.workers(), workers, "the workers")
        equal(found.stop().status, 0)  # which waits for handlers that still run, and for no others


@test
def answers_that_are_much_longer_than_their_requests_do_not_pile_up():
    with Server("--workers", "1") as found, found.connect(patience=300) as connection:
        size = len(connection.ask("GET", "/openapi.json").body)
        count = 400 * MEGABYTE // size
        worker, most = found.workers()[0], 0
        before = resident(worker)
        in_background(connection.send, request("GET", "/openapi.json") * count)
        for _ in range(20):
            most = max(most, resident(worker))
            time.sleep(0.05)
        expect(most - before < 60 * MEGABYTE, (most - before) // MEGABYTE, "MB of answers that nobody reads")
        for number in range(20):
            equal(len(connection.response(target="/openapi.json", checked=not number).body), size)


# ---- What has no end -----------------------------------------------------------------------------


@tests_of({
    "white space after the method": (b"GET", b" "),
    "white space before the version": (b"GET /health", b" "),
    "white space before a value": (b"GET /health HTTP/1.1\r\n" + HOST + b"A:", b" "),
    "tabs before a value": (b"GET /health HTTP/1.1\r\n" + HOST + b"A:", b"\t"),
    "white space behind a value": (b"GET /health HTTP/1.1\r\n" + HOST + b"A: b", b" "),
    "zeros in front of the size of the first chunk": (CHUNKED, b"0"),
    "zeros in front of the size of the second chunk": (CHUNKED + b"1\r\n{\r\n", b"0"),
    "white space in a trailer": (CHUNKED + b"0\r\nA:", b" "),
    "white space in a trailer behind a body": (CHUNKED + b"2\r\n{}\r\n0\r\nA:", b" "),
    "an extension": (CHUNKED + b"1;", b"a"),
    "the value of an extension": (CHUNKED + b"1;a=", b"b"),
    "a quoted extension": (CHUNKED + b'1;a="', b" "),
})
def what_has_no_end_is_refused_and_takes_no_memory(start, more):
    found = the_server()
    worker, = found.workers()
    before = resident(worker)
    with found.connect(patience=120) as connection:
        connection.send(start)
        sender = in_background(connection.send, more * (20 * MEGABYTE))
        answer = connection.response()
        expect(answer.status in (400, 431) and answer.closes, answer)
        grown = resident(worker) - before
        sender.join(server.PATIENCE)
    expect(grown < 8 * MEGABYTE, grown // MEGABYTE, "MB were kept")
    equal(found.workers(), [worker], "the workers")


@test
def empty_lines_without_end_take_no_memory():
    found = the_server()
    worker, = found.workers()
    before = resident(worker)
    with found.connect(patience=120) as connection:
        connection.send(b"\r\n" * (10 * MEGABYTE))
        equal(connection.ask("GET", "/health").status, 200)
    expect(resident(worker) - before < 8 * MEGABYTE, "they were kept")


@tests_of({"all at once": None, "in pieces of a prime": 1009})
def a_head_may_be_as_long_as_the_limit_and_no_longer(size):
    limit, line = 16384, b"GET /health HTTP/1.1\r\n" + HOST
    for spare, status in [(0, 200), (1, 431)]:
        for filler in [b"X: %s\r\n\r\n", b"X:%s\r\n\r\n"]:
            rest = limit + spare - len(line) - len(filler % b"")
            data = line + filler % ((b"y" if b" " in filler else b" ") * rest)
            with the_server().connect() as connection:
                for at in range(0, len(data), size or len(data)):
                    connection.send(data[at:at + (size or len(data))])
                equal(connection.response().status, status, "status with %d bytes" % len(data))


@test
def a_body_may_come_in_many_small_chunks():
    body = b'{"title":"small"' + b" " * 60_000 + b"}"
    data = CHUNKED + server.chunked(body, 1) + b"0\r\n\r\n"
    with the_server().connect() as connection:
        equal(connection.send(data).response().status, 201)


# ---- Time ----------------------------------------------------------------------------------------


def one_after_the_other(found, whole, cut, status):
    """Requests that are cut where the next begins. Each takes a second from its first byte to its last, of the three that
    it has: all of them together take longer. Returns a connection with a request that has no end, and since when.

    Where we were held up ourselves nothing is shown, and it begins anew."""
    for _ in range(10):
        with contextlib.ExitStack() as stack:
            begun = time.monotonic()
            connection, in_time = stack.enter_context(found.connect()), True
            connection.send(whole[:cut])
            for _ in range(4):
                time.sleep(1)
                since, begun = begun, time.monotonic()
                connection.send(whole[cut:] + whole[:cut])
                in_time = time.monotonic() - since < 2
                if not in_time:
                    break
                equal(connection.response().status, status)
            if in_time:
                stack.pop_all()
                return connection, begun
    raise Skipped("the machine is too busy to send anything in time")


@test
def a_request_that_begins_where_another_ends_has_all_its_time():
    with Server("--workers", "1", "--head-timeout-ms", "3000") as found:
        def attempt():
            connection, begun = one_after_the_other(found, request("GET", "/health"), 10, 200)
            with connection:
                equal(connection.response().status, 408)  # the last one has no end
                took = time.monotonic() - begun
                expect(took >= 2.8, "it took", took)
        server.in_time(attempt, 6.8, 4 + 10)


@test
def a_body_that_begins_where_another_ends_has_all_its_time():
    whole = request("POST", "/todos", {"title": ""})  # refused without a handler
    with Server("--workers", "1", "--body-timeout-ms", "3000") as found:
        connection, _ = one_after_the_other(found, whole, len(whole) - 5, 422)
        connection.close()


# ---- Failures of a request whose head is known ---------------------------------------------------

KNOWN = (b"Origin: http://a.example\r\nAccept: application/problem+json\r\n")


def failing(first, more=b""):
    return first + b" HTTP/1.1\r\n" + HOST + KNOWN + more + b"\r\n"


known = {
    "a body that is too large": (413, failing(b"POST /todos?a=b", b"Content-Length: 99999999\r\n")),
    "a body that grows too large": (413, failing(b"POST /todos", b"Transfer-Encoding: chunked\r\n") + b"fffffff\r\n"),
    "an expectation that cannot be met": (417, failing(b"PUT /todos", b"Expect: miracles\r\nContent-Length: 2\r\n")),
    "a coding that nobody knows": (501, failing(b"POST /todos", b"Transfer-Encoding: gzip\r\n")),
    "two hosts": (400, failing(b"GET /todos", HOST)),
    "a head that is too large": (431, failing(b"GET /todos", b"X: " + b"y" * 20000 + b"\r\n")),
    "a body without end": (408, failing(b"POST /todos", b"Content-Type: application/json\r\nContent-Length: 2\r\n")),
    "a head without end": (408, failing(b"GET /todos", b"X: y\r\n")[:-2]),
}


@tests_of(known)
def a_failure_of_a_known_request_is_spelled_as_it_asks_for(status, data):
    found = server.server("known", "--workers", "1", "--cors", "http://a.example", "--body-timeout-ms", "500",
                          "--head-timeout-ms", "500", "--access-log", os.path.join(server.FOLDER, "known.log"))
    found.access = os.path.join(server.FOLDER, "known.log")
    with found.connect() as connection:
        answer = connection.send(data).response()
    equal((answer.status, answer["Content-Type"]), (status, "application/problem+json"))
    equal(answer["Access-Control-Allow-Origin"], "http://a.example")
    line = found.wait_for_access(answer["X-Request-Id"])
    equal((line["method"], line["path"], line["status"]), (data.split()[0].decode(), "/todos", status))


@test
def a_failure_of_head_has_no_body():
    for data in [b"HEAD /users HTTP/1.1\r\n\r\n", b"HEAD /users HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                 b"HEAD /use\x92rs HTTP/1.1\r\nHost: a\r\n\r\n"]:
        with the_server().connect() as connection:
            answer = connection.send(data).response("HEAD")
            equal(answer.status, 400)
            connection.expect_closed()


# ---- Fields --------------------------------------------------------------------------------------


@test
def fields_that_are_lists_may_stand_in_several_lines():
    head = b"GET /nothing HTTP/1.1\r\nAccept: text/html;q=0.1\r\n" + HOST + b"User-Agent: a\r\n%s\r\n"
    for more in [b"Accept: application/problem+json\r\n", b"Accept:\r\naccept:  application/problem+json \r\n",
                 b"Accept: text/plain;q=0.1\r\nX: y\r\nACCEPT:application/problem+json\r\nOrigin: http://o\r\n"]:
        with the_server().connect() as connection:
            answer = connection.send(head % more).response()
            equal((answer.status, answer["Content-Type"]), (404, "application/problem+json"))


@test
def the_old_protocol_closes_if_that_is_said_anywhere():
    for value in [b"keep-alive, close", b"close, keep-alive", b"keep-alive\r\nConnection: close"]:
        with the_server().connect() as connection:
            connection.send(b"GET /health HTTP/1.0\r\nConnection: " + value + b"\r\n\r\n")
            equal(connection.response(checked=False).status, 200)
            connection.expect_closed()


# ---- Workers and where they listen ---------------------------------------------------------------


@test
def a_worker_that_is_told_to_end_is_replaced_at_once():
    if not server.CONTAINED:
        raise Skipped("the sanitizer would end the process")
    with Server("--workers", "1", "--chaos", "--timeout-ms", "10000", "--stop-timeout-ms", "60000") as found:
        worker, = found.workers()
        with found.connect() as busy:
            begun = time.monotonic()
            busy.send(request("POST", "/chaos", {"how": "hang"}))
            expect(wait_for(lambda: found.running_handlers() == 1), "nothing hangs")
            os.kill(worker, signal.SIGTERM)
            expect(wait_for(lambda: set(found.workers()) - {worker}), "there is no other")
            equal(found.ask("GET", "/health").status, 200)
            expect(busy.is_silent(0) or time.monotonic() - begun > 10, "a new connection had to wait for the one that hangs")
            equal(busy.response().status, 504)
        expect(wait_for(lambda: worker not in found.workers() and len(found.workers()) == 1), found.workers())
        equal(found.stop().status, 0)


@test
def a_handler_that_outstays_its_time_is_in_the_private_log_under_the_id_of_its_answer():
    with Server("--workers", "1", "--chaos", "--timeout-ms", "300") as found:
        answer = found.ask("POST", "/chaos", {"how": "hang"})
        equal((answer.status, parsed(answer.body)["error"]), (504, "timeout"))
        entry = found.wait_for_log(answer.id)
        expect("chaos.fail" in entry.split("\n")[0] and "TIMEOUT" in entry, entry)


def crashes_of(found):
    text = found.ask("GET", "/metrics").body.decode()
    return int(re.search(r"^mishap_http_handler_crashes_total (\d+)$", text, re.M)[1])


@test
def a_quick_handler_that_crashes_is_500_and_counted_and_its_loop_serves_on():
    """It runs on the thread of the loop, among the requests of others."""
    if not server.CONTAINED:
        raise Skipped("the sanitizer would end the process")
    with Server("--workers", "1", program=os.path.abspath(os.environ["FAULTY_PROGRAM"])) as found:
        before = found.workers()
        equal((len(before), crashes_of(found)), (1, 0), "workers, and crashes")
        with found.connect() as connection:
            connection.send(request("POST", "/crash", {}) + request("GET", "/health"))
            answer = connection.response("POST", "/crash")
            equal((answer.status, parsed(answer.body)),
                  (500, {"error": "internal_server_error", "message": "Internal server error"}))
            equal(connection.response().status, 200, "what was sent behind it")
        entry = found.wait_for_log(answer.id)
        expect("SIGSEGV" in entry, entry)
        equal(found.workers(), before, "the loops")
        equal(crashes_of(found), 1, "crashes")
        equal(found.stop().status, 0)


@test
def a_name_with_several_addresses_is_served_at_each():
    addresses = {entry[4][0] for entry in socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM)}
    if len(addresses) < 2:
        raise Skipped("localhost is %s alone" % addresses)
    with Server("--workers", "2", listen="localhost:0") as found:
        port = found.address[1]
        for address in sorted(addresses) * 4:
            with socket.create_connection((address, port), timeout=server.PATIENCE) as peer:
                peer.sendall(request("GET", "/health", fields={"Connection": "close"}))
                expect(peer.recv(100).startswith(b"HTTP/1.1 200 "), address)


@test
def an_access_log_that_cannot_be_opened_is_told_once():
    answer = server.run_program(server.PROGRAM, "serve", "--data", server.FOLDER, "--listen", "127.0.0.1:0",
                                "--access-log", "/nonexistent/log", "--output", "json")
    expect(answer.status != 0, "it has started")
    error = parsed(answer.out)["error"]
    equal(error["code"], "OUTPUT_FAILED")
    expect("/nonexistent/log" in error["message"], error)
    expect("No such file or directory" in error["cause"], error)
    equal(answer.err, b"", "standard error")


# ---- After all -----------------------------------------------------------------------------------


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
