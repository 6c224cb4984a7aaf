"""docs/nginx.conf for real: TLS, HTTP/2, limits, and failures of nginx itself in the API's own format.

    MISHAP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/http/nginx_test.py [PART-OF-A-NAME]

Speaks TAP. The file is run as it stands, with other ports and paths. It is skipped where there is no nginx or no
openssl.
"""
import json
import os
import re
import struct
import sys

import server
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of
from nginx import NGINX, OPENSSL, Nginx, free_port
from server import Connection, TREE, request

sys.path.insert(0, os.path.join(TREE, "tests", "mcp"))
import todos  # noqa: E402

COMPLETE = {"name": "", "age": 200, "email": "invalid"}

started = {}
ACCESS_LOG = os.path.join(server.FOLDER, "access.log")


def behind():
    """The server behind nginx."""
    return server.server("behind", "--workers", "2", "--chaos", "--listen", "127.0.0.1:%d" % port, "--access-log", ACCESS_LOG)


port = free_port()


def nginx():
    if not NGINX or not OPENSSL:
        raise Skipped("there is no nginx or no openssl")
    if not started:
        behind()
        started["nginx"] = Nginx("nginx.conf", {"server 127.0.0.1:8080;": "server 127.0.0.1:%d;" % port})
    return started["nginx"]


# ---- What passes ---------------------------------------------------------------------------------


@tests_of({
    "200": ("GET", "/health", None), "201": ("POST", "/todos", {"title": "through nginx"}), "404": ("GET", "/todos/999999999", None),
    "422": ("POST", "/users", COMPLETE), "400": ("POST", "/users", b"{"), "402": ("GET", "/premium/report", None),
    "405": ("DELETE", "/users", None), "500": ("POST", "/chaos", {"how": "error", "marker": server.MARKER})})
def answers_pass_untouched(method, target, body):
    direct, found = behind().ask(method, target, body), nginx().ask(method, target, body)
    equal((found.status, found["Content-Type"]), (direct.status, direct["Content-Type"]))
    if found.status >= 400:
        equal(found.body, direct.body)
        equal(found["Allow"], direct["Allow"])
    behind().access = ACCESS_LOG
    equal(behind().wait_for_access(found.id) is not None, True, "the id is the server's, which")


@test
def problem_details_pass_too():
    found = nginx().ask("GET", "/todos/999999999", fields={"Accept": "application/problem+json"})
    equal((found.status, found["Content-Type"]), (404, "application/problem+json"))


@test
def a_crash_behind_it_is_500_and_the_next_request_is_answered():
    if not server.CONTAINED:
        raise Skipped("the sanitizer would end the process")
    for _ in range(10):
        found = nginx().ask("POST", "/chaos", {"how": "crash", "marker": server.MARKER})
        equal((found.status, found.json), (500, {"error": "internal_server_error", "message": "Internal server error"}))
        equal(nginx().ask("GET", "/health").status, 200)
    expect(server.wait_for(lambda: len(behind().workers()) == 2), "workers are still on their way out:", behind().workers())


@test
def the_server_knows_the_address_of_the_caller():
    behind().access = ACCESS_LOG
    for source, claimed in {"127.0.0.2": {}, "127.0.0.3": {"X-Forwarded-For": "192.0.2.1"}}.items():
        with nginx().connect(source=source) as connection:
            found = connection.ask("GET", "/health", fields=claimed)
        equal(behind().wait_for_access(found.id)["remote"], source)


@test
def each_caller_behind_it_has_a_rate_of_its_own():
    """As nginx passes requests on: from this machine, with the address of the caller at the end."""
    with server.Server("--workers", "1", "--rate", "5") as slow:
        def ask(*claimed):
            """All at once: what a caller may send in a second is sent in less."""
            with slow.connect() as connection:
                connection.send(b"".join(request("GET", "/todos", fields={"X-Forwarded-For": each}) for each in claimed))
                return {connection.response().status for _ in claimed}
        equal(ask(*["192.0.2.1"] * 40), {200, 429})
        equal(ask("192.0.2.2"), {200})
        equal(ask(*["198.51.100.%d, 192.0.2.2" % number for number in range(40)]), {200, 429}, "what comes before it says nothing:")


@test
def connections_to_the_server_are_kept():
    def accepted():
        text = behind().ask("GET", "/metrics").body.decode()
        return sum(float(value) for value in re.findall(r"^\w*connections?\w*_total(?:\{[^}]*\})? (\S+)$", text, re.M))
    with nginx().connect() as connection:
        equal(connection.ask("GET", "/health").status, 200)
        before = accepted()
        expect(before > 0, "the metrics do not count connections")
        for _ in range(100):
            equal(connection.ask("GET", "/health").status, 200)
        expect(accepted() - before <= 10, accepted() - before, "connections for 100 requests")


@test
def agents_work_through_it_and_hear_of_changes_at_once():
    todos.lists_calls_and_reads(nginx(), {})
    for _ in range(2):
        todos.hears_of_changes(nginx(), {})


@test
def plain_http_is_sent_to_tls():
    nginx()
    with Connection(("127.0.0.1", nginx().plain_port)) as connection:
        found = connection.send(b"GET /todos?limit=1 HTTP/1.1\r\nHost: api.example.com\r\n\r\n").response(checked=False)
        equal((found.status, found["Location"]), (308, "https://api.example.com/todos?limit=1"))


# ---- What nginx refuses by itself ----------------------------------------------------------------


def refused(data, status, name):
    with nginx().connect() as connection:
        found = connection.send(data).response()
        equal((found.status, found.json["error"], found["Content-Type"]), (status, name, "application/json"))
        rows = {row["spellings"]["http-api"]: row for row in server.catalog()}
        equal(rows[name]["http_status"], status, "the status of the catalog")
        return found


@tests_of({
    "a body beyond the limit": (b"POST /todos HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n", 413, "content_too_large"),
    "a long target": (request("GET", "/" + "a" * 20_000), 414, "uri_too_long"),
    "a large field": (request("GET", "/", fields={"X": "y" * 20_000}), 431, "request_header_fields_too_large"),
    "many large fields": (request("GET", "/", fields={"X-%d" % n: "y" * 15_000 for n in range(10)}), 431,
                          "request_header_fields_too_large"),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400, "bad_request"),
    "two lengths": (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400, "bad_request"),
    "a length with chunks": (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                             400, "bad_request"),
    "another version": (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "http_version_not_supported"),
    "an unknown coding": (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "not_implemented"),
    "TRACE": (b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed")})
def nginx_refuses_in_the_format_of_the_api(data, status, name):
    refused(data, status, name)


@test
def plain_http_at_the_port_of_tls_is_refused_in_the_format_of_the_api():
    nginx()
    with Connection(("127.0.0.1", nginx().port)) as connection:
        found = connection.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").response()
        equal((found.status, found.json["error"]), (400, "bad_request"))


# ---- HTTP/2 --------------------------------------------------------------------------------------


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A field of HPACK, spelled out: not indexed, no Huffman code."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def ask_http2(connection, fields, body=b""):
    """One request on stream 1 of a new connection: the content of its response."""
    head = b"".join(literal(name, value) for name, value in fields)
    connection.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4 | (not body), 1, head) +
                    (frame(0, 1, 1, body) if body else b""))
    content = b""
    while True:
        length, kind, flags, stream = struct.unpack(">IBBI", b"\0" + connection.take(9))
        payload = connection.take(length)
        expect(kind not in (3, 7), "RST_STREAM or GOAWAY:", payload)
        if stream == 1 and kind == 0:
            content += payload
        if stream == 1 and flags & 1:
            return content
        if kind == 4 and not flags & 1:
            connection.send(frame(4, 1, 0, b""))


@test
def http_2_is_spoken():
    with nginx().connect(["h2"]) as connection:
        equal(connection.socket.selected_alpn_protocol(), "h2")
        body = json.dumps(COMPLETE).encode()
        found = json.loads(ask_http2(connection, [
            (b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"api.example.com"), (b":path", b"/users"),
            (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))], body))
        equal([item["field"] for item in found["details"]], ["name", "age", "email"])


# ---- Without the server --------------------------------------------------------------------------


LONGEST = {"/lisp/": ["lisp", "evaluate"], "/symbolic/": ["symbolic", "check"], "/users": ["users", "get"], "/mcp": ["lisp", "evaluate"]}


def read_timeout(name, path):
    """Seconds that a configuration gives the answer of a path: those of its location, or of the whole."""
    with open(os.path.join(TREE, "docs", name), encoding="utf-8") as file:
        text = file.read()
    own = re.search(r"location (= )?%s \{[^}]*proxy_read_timeout (\d+)s" % path, text)
    return int(own[2] if own else re.search(r"proxy_read_timeout (\d+)s", text)[1])


@tests_of({"%s of %s" % (path, name): (name, path) for name in ("nginx.conf", "nginx-cluster.conf") for path in LONGEST})
def nginx_waits_longer_than_a_handler_may_take(name, path):
    meta = parsed(run_program(server.PROGRAM, *LONGEST[path]).out)["meta"]
    expect(read_timeout(name, path) * 1000 > meta["timeout_ms"], "seconds of nginx", read_timeout(name, path), meta)


@test
def without_the_server_it_is_502_in_the_format_of_the_api_and_then_it_works_again():
    nginx()
    equal(behind().stop().status, 0)
    found = refused(request("GET", "/todos"), 502, "bad_gateway")
    equal(set(found.json), {"error", "message"})
    with nginx().connect(["h2"]) as connection:
        content = ask_http2(connection, [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"api.example.com"),
                                         (b":path", b"/todos")])
        equal(json.loads(content)["error"], "bad_gateway")
    behind()
    expect(server.wait_for(lambda: nginx().ask("GET", "/health").status == 200), "it does not try again after fail_timeout")
    equal(nginx().ask("GET", "/health").status, 200)


@test
def every_failure_of_the_run_fits_the_schema():
    if not NGINX or not OPENSSL:
        raise Skipped("there is no nginx or no openssl")
    server.fits_the_schema()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
