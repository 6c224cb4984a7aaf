"""Streamable HTTP, byte by byte: statuses, header fields, sessions, streams, cancelling, workers that die.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/http_test.py [PART-OF-A-NAME]

The server is tests/mcp/conformance.c. Revisions with sessions are called the older ones, 2026-07-28 the stateless one.
Every message that comes back is held against what holds for all of them: see Exchange.
"""
import base64
import json
import os
import re
import signal
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from server import NODE_MODULES, Closed, Response, Server  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
server.catalog()  # of the other program, which has it
server.PROGRAM = PROGRAM

OLDER = ["2025-03-26", "2025-06-18", "2025-11-25"]
STATELESS = "2026-07-28"
META = "io.modelcontextprotocol/"

# ---- Messages ------------------------------------------------------------------------------------


def message(method, params=None, id=1):
    found = {"jsonrpc": "2.0", "method": method}
    if id is not None:
        found["id"] = id
    if params is not None:
        found["params"] = params
    return found


def initialize(revision="2025-11-25", id=0):
    return message("initialize", {"protocolVersion": revision, "capabilities": {},
                                  "clientInfo": {"name": "test", "version": "1"}}, id)


def call(tool, arguments=None, id=1, token=None):
    params = {"name": tool, "arguments": arguments or {}}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return message("tools/call", params, id)


def stateless(method, params=None, id=1, version=STATELESS, **meta):
    """A message of the stateless revision."""
    envelope = {META + "protocolVersion": version, META + "clientCapabilities": {},
                META + "clientInfo": {"name": "test", "version": "1"}, **meta}
    return message(method, {**(params or {}), "_meta": envelope}, id)


def repeated(said, **more):
    """The header fields that repeat what a message of the stateless revision says."""
    params = said.get("params", {})
    name = params.get("uri" if said["method"] == "resources/read" else "name")
    fields = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": said["method"]}
    if isinstance(name, str):
        fields["Mcp-Name"] = name
    fields.update({key.replace("_", "-"): value for key, value in more.items()})
    return fields


# ---- Exchanges -----------------------------------------------------------------------------------

def raw(method, body=None, fields=None, target="/mcp"):
    """The bytes of a request. A field that is None is left out."""
    chosen = {"Host": "localhost", "Accept": "application/json, text/event-stream"}
    if body is not None:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        chosen.update({"Content-Type": "application/json", "Content-Length": str(len(body))})
    chosen.update(fields or {})
    lines = ["%s %s HTTP/1.1" % (method, target)] + ["%s: %s" % field for field in chosen.items() if field[1] is not None]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


class Event:
    def __init__(self, text):
        self.id = self.retry = self.data = self.type = None
        for line in text.split("\n"):
            key, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            expect(key in ("", "id", "data", "event", "retry"), "a line of no event:", line)
            expect(key != "data" or self.data is None, "two lines of data:", text)
            setattr(self, {"event": "type", "": "comment"}.get(key, key), value)

    @property
    def json(self):
        return parsed(self.data.encode())


class Exchange:
    """One request on a connection of its own, or a given one, and what comes back: a whole answer or a stream."""

    def __init__(self, found, method, body=None, fields=None, connection=None):
        self.connection = connection or found.connect()
        self.connection.send(raw(method, body, fields))
        head = self.connection.take_head()
        self.status, self.fields = server.parse_head(head)
        self.head = Response(head, self.fields, self.status, b"", "/mcp")
        self.text, self.over = "", False
        self.streams = "text/event-stream" in (self["Content-Type"] or "")
        if self.streams:
            equal((self.status, self["Transfer-Encoding"], self["X-Accel-Buffering"]), (200, "chunked", "no"), "a stream's head")
            expect("no-cache" in self["Cache-Control"], "a stream that may be kept:", head)
        else:
            length = self["Content-Length"]
            self.body = self.connection.take(int(length)) if self.status != 204 else b""
            self.examine()

    def __getitem__(self, name):
        return self.head[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def examine(self):
        server.check_for_leaks(Response(self.head.head, self.fields, self.status, self.body, "/mcp"))
        if self.status in (202, 204):
            equal((self.body, self["Content-Type"]), (b"", None), "the body of %d" % self.status)
        elif self["Content-Type"] == "application/json" and b'"jsonrpc"' in self.body:
            expect(b"\n" not in self.body, "more than one line:", self.body)
            examine_message(parsed(self.body))
        if self.status == 405:
            expect(self["Allow"], "405 without Allow")

    @property
    def json(self):
        return parsed(self.body)

    @property
    def error(self):
        return self.json["error"]["code"]

    # -- streams

    def more(self):
        """One more chunk; False at the end."""
        connection = self.connection
        while b"\r\n" not in connection.received:
            if not connection.more():
                raise Closed("the stream broke off after %r" % self.text)
        size, connection.received = connection.received.split(b"\r\n", 1)
        piece = connection.take(int(size, 16) + 2)
        self.over = int(size, 16) == 0
        self.text += piece[:-2].decode("utf-8")
        return not self.over

    def event(self):
        """The next event with an id or data; None at the end of the stream."""
        while True:
            while "\n\n" not in self.text and not self.over:
                self.more()
            if "\n\n" not in self.text:
                expect(not self.text, "half an event at the end:", self.text)
                return None
            text, self.text = self.text.split("\n\n", 1)
            found = Event(text)
            if found.data:
                examine_message(found.json)
            if found.data is not None:
                return found

    def events(self):
        return list(iter(self.event, None))

    def answer(self):
        """The response, whichever way it comes."""
        return [event for event in self.events() if event.data][-1].json if self.streams else self.json


def examine_message(found):
    """What holds for every message of ours, or batch of them."""
    for item in found if isinstance(found, list) else [found]:
        expect(item.get("jsonrpc") == "2.0" and item.get("id", 0) is not None, "no message:", item)
        expect(("method" in item) + ("result" in item) + ("error" in item) == 1, "neither one nor the other:", item)
        if "error" in item:
            expect(item["error"]["message"] and isinstance(item["error"]["code"], int), "no error:", item)
            code = item["error"]["code"]
            expect(code not in range(-32019, -32002) and code not in (-32000, -32001), "a code that is not ours:", item)


class Session:
    """A session of an older revision."""

    def __init__(self, found, revision="2025-11-25", fields=None):
        self.server, self.revision, self.more = found, revision, fields or {}
        with Exchange(found, "POST", initialize(revision), self.more) as begun:
            equal((begun.status, begun.json["result"]["protocolVersion"]), (200, revision), "initialize")
            self.id = begun["Mcp-Session-Id"]
        expect(re.fullmatch("[!-~]{22,}", self.id), "the id of a session:", self.id)
        equal(self.post(message("notifications/initialized", id=None)).status, 202, "initialized")

    @property
    def fields(self):
        return {"Mcp-Session-Id": self.id, "MCP-Protocol-Version": self.revision, **self.more}

    def exchange(self, method, body=None, **fields):
        return Exchange(self.server, method, body, {**self.fields, **fields})

    def post(self, body, **fields):
        """A POST whose answer, or the head of whose stream, is waited for."""
        with self.exchange("POST", body, **fields) as found:
            if found.streams:
                found.received = found.events()
            return found

    def process(self):
        """Which worker answers, and as whom it knows us."""
        return json.loads(self.post(call("who")).json["result"]["content"][0]["text"])


def shared():
    return server.server("mcp", "--workers", "2", "--body-limit", "100000")


def ask(body, fields=None, method="POST", found=None):
    with Exchange(found or shared(), method, body, fields) as exchange:
        return exchange


def ask_stateless(said, **fields):
    return ask(said, repeated(said, **fields))


# ---- Statuses: the older revisions ---------------------------------------------------------------

BAD_UTF8 = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xff"}}'

older_rows = {
    "a result": (message("ping"), 200, None),
    "a tool": (call("echo", {"text": "a"}), 200, None),
    "a failed tool": (call("test_error_handling"), 200, None),
    "an unknown tool": (call("nothing"), 200, -32602),
    "an unknown method": (message("no/such"), 200, -32601),
    "a method of the stateless revision": (message("server/discover"), 200, -32601),
    "an unknown resource": (message("resources/read", {"uri": "test://none"}), 200, -32002),
    "an unknown prompt": (message("prompts/get", {"name": "none"}), 200, -32602),
    "a cursor that is none": (message("tools/list", {"cursor": "x"}), 200, -32602),
    "a level that is none": (message("logging/setLevel", {"level": "loud"}), 200, -32602),
    "a notification": (message("notifications/roots/list_changed", id=None), 202, None),
    "an unknown notification": (message("notifications/none", id=None), 202, None),
    "cancelling nothing": (message("notifications/cancelled", {"requestId": 99}, None), 202, None),
    "a response": ({"jsonrpc": "2.0", "id": 7, "result": {}}, 202, None),
    "an error": ({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}}, 202, None),
    "no JSON": (b"{", 400, -32700),
    "nothing": (b"", 400, -32700),
    "no UTF-8": (BAD_UTF8, 400, -32700),
    "two values": (b"{}{}", 400, -32700),
    "a number": (b"5", 400, -32600),
    "an empty object": (b"{}", 400, -32600),
    "another jsonrpc": ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
    "an id that is null": ({"jsonrpc": "2.0", "id": None, "method": "ping"}, 400, -32600),
    "an id that is an object": ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, 400, -32600),
    "an id with a fraction": ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, 400, -32600),
    "a method that is a number": ({"jsonrpc": "2.0", "id": 1, "method": 5}, 400, -32600),
    "a batch": ([message("ping")], 400, -32600),
    "an empty batch": ([], 400, -32600),
    "a second initialize": (initialize(), 400, -32600),
}


@tests_of(older_rows)
def an_older_revision_answers(body, status, code):
    session = Session(shared())
    found = session.post(body)
    equal((found.status, found.error if found.status != 202 and "error" in found.json else None), (status, code), found.body)
    if isinstance(body, dict) and isinstance(body.get("id"), int) and status == 200:
        equal(found.json["id"], body["id"], "the id")


older_fields = {
    "without a session": ({"Mcp-Session-Id": None}, 400),
    "a session that is none": ({"Mcp-Session-Id": "x"}, 404),
    "a session of the right length": ({"Mcp-Session-Id": "A" * 43}, 404),
    "an empty session": ({"Mcp-Session-Id": ""}, (400, 404)),
    "another older version": ({"MCP-Protocol-Version": "2025-06-18"}, 200),
    "without a version": ({"MCP-Protocol-Version": None}, 200),
    "a version that is none": ({"MCP-Protocol-Version": "1999-01-01"}, 400),
    "a version that is no date": ({"MCP-Protocol-Version": "banana"}, 400),
    "a name that is not enforced": ({"Mcp-Method": "x", "Mcp-Name": "y"}, 200),
    "no media type": ({"Content-Type": None}, 415),
    "another media type": ({"Content-Type": "text/plain"}, 415),
    "a longer media type": ({"Content-Type": "application/jsonx"}, 415),
    "a charset": ({"Content-Type": "application/json; charset=utf-8"}, 200),
    "accepting nothing we have": ({"Accept": "image/png"}, 406),
    "accepting anything": ({"Accept": "*/*"}, 200),
    "not saying what is accepted": ({"Accept": None}, 200),
    "accepting in the other order": ({"Accept": "text/event-stream;q=0.5, application/json"}, 200),
    "a foreign origin": ({"Origin": "http://evil.example.com"}, 403),
    "an origin that is null": ({"Origin": "null"}, 403),
    "an origin that looks like ours": ({"Origin": "http://localhost.evil.example.com"}, 403),
    "an origin with our name as its user": ({"Origin": "http://localhost@evil.example.com"}, 403),
    "our own origin": ({"Origin": "http://localhost:1234"}, 200),
    "our own origin as an address": ({"Origin": "http://127.0.0.1"}, 200),
    "a foreign host": ({"Host": "evil.example.com"}, 403),
    "a foreign host with a port": ({"Host": "evil.example.com:80"}, 403),
    "our own host with a port": ({"Host": "localhost:80"}, 200),
    "our own host as an address": ({"Host": "[::1]:80"}, 200),
}


@tests_of(older_fields)
def a_post_of_an_older_revision_with(fields, status):
    found = Session(shared()).post(message("ping", id="p"), **fields)
    expect(found.status in (status if isinstance(status, tuple) else (status,)), found.status, found.body)
    if found.status >= 400:
        equal(found.error, -32600, "the code")


@test
def an_id_comes_back_as_it_is():
    session = Session(shared())
    for id in [0, 1, -5, "1", "", "a\"\\\n", "\u00e4\U0001f600", 9007199254740993, "x" * 500]:
        found = session.post(message("ping", id=id)).json
        expect(found["id"] == id and type(found["id"]) is type(id), "the id", id, found)


@test
def a_body_that_is_too_large_is_refused():
    found = Session(shared()).exchange("POST", message("ping", {"x": "y" * 200000}))
    equal(found.status, 413, "the status")


@test
def other_methods_are_refused():
    for method in ["PUT", "PATCH"]:
        with shared().connect() as connection:
            connection.send(raw(method, {}))
            found = connection.response(method, checked=False)
            equal(found.status, 405, method)
            expect({"GET", "POST", "DELETE"} <= set(re.split(", *", found["Allow"])), found["Allow"])


@test
def a_head_alone_is_not_a_stream():
    session = Session(shared())
    with shared().connect() as one:
        one.send(raw("HEAD", None, {**session.fields, "Accept": "text/event-stream"}))
        equal(one.response("HEAD", checked=False).status, 405, "the status")
        expect(one.is_open(), "it waits for something")


@test
def too_many_sessions_are_refused_for_a_while():
    with Server("--workers", "1") as found, found.connect() as one:
        for _ in range(2048):
            one.send(raw("POST", initialize()))
        for _ in range(2048):
            last = one.response("POST", "/mcp", checked=False)
            equal(last.status, 200, "one of so many")
        refused = one.ask("POST", "/mcp", initialize())
        equal((refused.status, refused["Mcp-Session-Id"]), (503, None), "one more")
        expect(int(refused["Retry-After"]) > 0, "no word of when")
        ended = {"Mcp-Session-Id": last["Mcp-Session-Id"]}
        equal(ask(None, ended, "DELETE", found).status, 204, "one less")
        equal(one.ask("POST", "/mcp", initialize()).status, 200, "then another")


@test
def initialize_agrees_on_a_revision():
    for asked, got in [*zip(OLDER, OLDER), ("2024-11-05", OLDER[-1]), ("1.0", OLDER[-1]), (STATELESS, OLDER[-1])]:
        found = ask(initialize(asked))
        equal((found.status, found.json["result"]["protocolVersion"]), (200, got), asked)
    for params in [{}, {"protocolVersion": 5}, {"protocolVersion": "2025-11-25"}]:
        found = ask(message("initialize", params))
        equal((found.status, found.error, found["Mcp-Session-Id"]), (200, -32602, None), "initialize with %r" % params)


@test
def a_batch_is_answered_in_the_revision_that_has_them():
    session = Session(shared(), "2025-03-26")
    found = session.post([message("ping", id=1), message("notifications/none", id=None), message("no/such", id="2"),
                          call("test_simple_text", id=3), call("test_embedded_resource", id=4)])
    equal(found.status, 200, "the status")
    answers = {item["id"]: item for item in found.answer()}
    equal(sorted(map(str, answers)), ["1", "2", "3", "4"], "the answers")
    equal((answers[1]["result"], answers["2"]["error"]["code"]), ({}, -32601), "the answers")
    expect("result" in answers[3] and "result" in answers[4], answers)
    equal(session.post([message("notifications/none", id=None), {"jsonrpc": "2.0", "id": 3, "result": {}}]).status, 202)
    equal(session.post([]).error, -32600, "an empty one")
    inner = session.post([5, {}, initialize()])
    equal({item["error"]["code"] for item in inner.json}, {-32600}, "what is no message")
    equal(len(inner.json), 3, "how many")


# ---- Statuses: the stateless revision ------------------------------------------------------------

stateless_rows = {
    "discover": (stateless("server/discover"), 200, None),
    "a tool": (stateless("tools/call", {"name": "echo", "arguments": {"text": "a"}}), 200, None),
    "a failed tool": (stateless("tools/call", {"name": "test_error_handling"}), 200, None),
    "an unknown tool": (stateless("tools/call", {"name": "none"}), 200, -32602),
    "an unknown resource": (stateless("resources/read", {"uri": "test://none"}), 200, -32602),
    "a resource": (stateless("resources/read", {"uri": "test://static-text"}), 200, None),
    "an unknown method": (stateless("no/such"), 404, -32601),
    "ping": (stateless("ping"), 404, -32601),
    "initialize": (stateless("initialize"), 404, -32601),
    "logging/setLevel": (stateless("logging/setLevel", {"level": "info"}), 404, -32601),
    "resources/subscribe": (stateless("resources/subscribe", {"uri": "test://watched-resource"}), 404, -32601),
    "a notification": (stateless("notifications/none", id=None), 202, None),
    "no capabilities": (message("tools/list", {"_meta": {META + "protocolVersion": STATELESS}}), 400, -32602),
    "capabilities that are none": (message("tools/list", {"_meta": {META + "protocolVersion": STATELESS,
                                                                   META + "clientCapabilities": []}}), 400, -32602),
    "a version that is a number": (stateless("tools/list", version=5), 400, -32602),
    "no _meta": (message("tools/list"), 400, -32602),
    "an empty _meta": (message("tools/list", {"_meta": {}}), 400, -32602),
    "no client info": (message("tools/list", {"_meta": {META + "protocolVersion": STATELESS,
                                                        META + "clientCapabilities": {}}}), 200, None),
    "a batch": ([stateless("tools/list")], 400, -32600),
    "a level that is none": (stateless("tools/list", **{META + "logLevel": "loud"}), (200, 400), -32602),
}


@tests_of(stateless_rows)
def the_stateless_revision_answers(body, status, code):
    found = ask(body, repeated(body) if isinstance(body, dict) else repeated(body[0]))
    answer = found.json if found.body else {}
    expect(found.status in (status if isinstance(status, tuple) else (status,)), found.status, found.body)
    equal(answer["error"]["code"] if "error" in answer else None, code, "the code")
    equal(found["Mcp-Session-Id"], None, "a session")
    if isinstance(body, dict) and "id" in body:
        equal(answer["id"], body["id"], "the id")
    if "result" in answer:
        equal(answer["result"]["resultType"], "complete", "resultType")
        expect(answer["result"]["_meta"][META + "serverInfo"]["name"], "the server's name in", answer)


def wrapped(text):
    return "=?base64?%s?=" % base64.b64encode(text.encode()).decode()


stateless_fields = {
    "nothing wrong": ({}, 200, None),
    "another version": ({"MCP-Protocol-Version": "2025-11-25"}, 400, -32020),
    "no version": ({"MCP-Protocol-Version": None}, 400, -32020),
    "another method": ({"Mcp-Method": "tools/list"}, 400, -32020),
    "a method of another case": ({"Mcp-Method": "TOOLS/CALL"}, 400, -32020),
    "no method": ({"Mcp-Method": None}, 400, -32020),
    "another name": ({"Mcp-Name": "steps"}, 400, -32020),
    "a name of another case": ({"Mcp-Name": "ECHO"}, 400, -32020),
    "no name": ({"Mcp-Name": None}, 400, -32020),
    "white space around the name": ({"Mcp-Name": "  echo\t "}, 200, None),
    "the name in base64": ({"Mcp-Name": wrapped("echo")}, 200, None),
    "another name in base64": ({"Mcp-Name": wrapped("steps")}, 400, -32020),
    "bad padding": ({"Mcp-Name": "=?base64?ZWNobw=?="}, 400, -32020),
    "no padding": ({"Mcp-Name": "=?base64?ZWNobw?="}, 400, -32020),
    "a bad alphabet": ({"Mcp-Name": "=?base64?ZWNo*w==?="}, 400, -32020),
    "bits that mean nothing": ({"Mcp-Name": "=?base64?ZWNobx==?="}, 400, -32020),
    "half wrapped": ({"Mcp-Name": "=?base64?ZWNobw=="}, 400, -32020),
    "a marker of another case": ({"Mcp-Name": "=?BASE64?ZWNobw==?="}, 400, -32020),
    "a session, which means nothing": ({"Mcp-Session-Id": "x", "Last-Event-ID": "1-1"}, 200, None),
    "names of fields in another case": ({"MCP-PROTOCOL-VERSION": STATELESS, "MCP-Protocol-Version": None,
                                         "mcp-method": "tools/call", "Mcp-Method": None}, 200, None),
    "a foreign origin": ({"Origin": "http://evil.example.com"}, 403, -32600),
}


@tests_of(stateless_fields)
def a_post_of_the_stateless_revision_with(fields, status, code):
    said = stateless("tools/call", {"name": "echo", "arguments": {"text": "a"}}, id="s")
    found = ask(said, {**repeated(said), **fields})
    equal((found.status, found.json.get("error", {}).get("code")), (status, code), found.body)
    if code == -32020:
        equal(found.json["id"], "s", "the id")


@test
def a_version_that_is_not_supported_is_refused_with_those_that_are():
    for version in ["v999.0.0", "2027-01-01", "2025-11-25"]:
        said = stateless("server/discover", version=version)
        found = ask(said, repeated(said, MCP_Protocol_Version=version))
        equal((found.status, found.error), (400, -32022), version)
        data = found.json["error"]["data"]
        equal((data["supported"], data["requested"]), ([STATELESS], version), "data")
    said = stateless("server/discover", version="v999.0.0")
    equal(ask_stateless(said).error, -32020, "if the field says another")


@test
def a_posted_response_is_refused_by_the_stateless_revision():
    found = ask({"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP-Protocol-Version": STATELESS})
    equal((found.status, found.error), (400, -32600), "a response")


@test
def the_stateless_revision_has_no_stream_and_no_session_of_its_own():
    for method in ["GET", "DELETE"]:
        found = ask(None, {"MCP-Protocol-Version": STATELESS, "Accept": "text/event-stream"}, method)
        equal((found.status, found["Allow"]), (405, "POST"), method)


# ---- Sessions ------------------------------------------------------------------------------------

@test
def a_session_that_is_deleted_is_gone():
    session = Session(shared())
    equal(session.post(message("ping")).status, 200, "before")
    expect(session.exchange("DELETE").status in (200, 204), "DELETE")
    equal(session.post(message("ping")).status, 404, "afterwards")
    equal(session.exchange("DELETE").status, 404, "again")
    equal(session.exchange("GET", Accept="text/event-stream").status, 404, "its stream")
    equal(ask(None, {}, "DELETE").status, 400, "without a session")


@test
def every_session_has_an_id_of_its_own():
    ids = {Session(shared()).id for _ in range(20)}
    equal(len(ids), 20, "different ids")


@test
def any_worker_serves_a_session():
    session = Session(shared())
    processes = {session.process()["process"] for _ in range(40)}
    equal(len(processes), 2, "workers that answered")


def add_key(data, name):
    answer = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json")
    equal(answer.status, 0, "exit of `keys add`")
    key = parsed(answer.out)["data"]["key"]
    server.secrets.add(key)
    return {"Authorization": "Bearer " + key}


@test
def a_session_belongs_to_its_caller():
    data = os.path.join(server.FOLDER, "keyed")
    os.mkdir(data)
    one, other = add_key(data, "one"), add_key(data, "other")
    with Server("--workers", "2", "--require-key", data=data) as keyed:
        equal(ask(initialize(), found=keyed).status, 401, "without a key")
        said = stateless("server/discover")
        equal(ask(said, repeated(said), found=keyed).status, 401, "without a key")
        equal(ask(said, {**repeated(said), **one}, found=keyed).status, 200, "with one")
        session = Session(keyed, fields=one)
        equal(session.process()["caller"], "one", "the caller")
        for method, body in [("POST", message("ping")), ("GET", None), ("DELETE", None)]:
            with session.exchange(method, body, **other) as found:
                equal(found.status, 404, method + " with another key")
            with session.exchange(method, body, Authorization=None) as found:
                equal(found.status, 401, method + " without a key")
        equal(session.post(message("ping")).status, 200, "it lives")
        # A name of its own behind a proxy is nobody's trick once there are keys.
        equal(session.post(message("ping"), Host="tools.example.com").status, 200, "another host")
        equal(session.post(message("ping"), Origin="http://evil.example.com").status, 403, "a foreign origin")


@test
def another_caller_cannot_cancel():
    data = os.path.join(server.FOLDER, "keyed-cancel")
    os.mkdir(data)
    one, other = add_key(data, "one"), add_key(data, "other")
    with Server("--workers", "1", "--require-key", data=data) as keyed:
        session, stranger = Session(keyed, fields=one), Session(keyed, fields=other)
        with session.exchange("POST", call("steps", {"steps": 10}, id=5, token=0)) as running:
            equal(stranger.post(message("notifications/cancelled", {"requestId": 5}, None)).status, 202)
            equal(running.answer()["result"]["structuredContent"], {"steps": 10}, "the answer")


@test
def a_session_outlives_a_worker_that_is_killed():
    with Server("--workers", "2") as found:
        session = Session(found)
        for _ in range(2):
            for pid in found.workers():
                os.kill(pid, signal.SIGKILL)
                deadline = time.monotonic() + server.PATIENCE
                while (pid in found.workers() or len(found.workers()) < 2) and time.monotonic() < deadline:
                    time.sleep(0.02)
        answered = 0
        for _ in range(20):
            try:
                equal(session.post(message("ping")).status, 200, "afterwards")
                answered += 1
            except Closed:  # it was on its way to the one that died
                time.sleep(0.05)
        expect(answered >= 15, "answered only", answered)


# ---- Progress and streams ------------------------------------------------------------------------

def check_progress(events, token, steps):
    said = [event.json["params"] for event in events if event.data and event.json.get("method") == "notifications/progress"]
    expect(said, "no progress")
    for item in said:
        expect(item["progressToken"] == token and type(item["progressToken"]) is type(token), "the token of", item)
        equal(item["total"], steps, "the total")
    values = [item["progress"] for item in said]
    expect(values == sorted(set(values)), "it does not grow:", values)
    return values


@test
def progress_comes_as_events_before_the_answer():
    session = Session(shared())
    for token in ["t", 0, 7]:
        with session.exchange("POST", call("steps", {"steps": 8}, id="x", token=token)) as found:
            expect(found.streams, "no stream:", found.head)
            events = found.events()
        equal(events[-1].json["id"], "x", "the last event")
        check_progress(events[1:-1], token, 8)
        equal(len({event.id for event in events}), len(events), "different ids")


@test
def progress_arrives_while_the_call_runs():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 40}, token="t")) as found:
        times = []
        while True:
            event = found.event()
            if event is None:
                break
            times.append(time.monotonic())
    expect(len(times) >= 5 and times[-1] - times[1] > 0.8, "all at once:", times)


@test
def who_does_not_ask_gets_no_progress():
    found = Session(shared()).post(call("steps", {"steps": 3}))
    expect(not found.streams and found.json["result"]["structuredContent"] == {"steps": 3}, found.head)
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 3}})
    expect(not ask_stateless(said).streams, "a stream")


@test
def a_first_event_without_data_is_for_those_who_know_it():
    for revision in OLDER:
        with Session(shared(), revision).exchange("POST", call("steps", {"steps": 4}, token=1)) as found:
            events = found.events()
            equal(events[0].data == "", revision == "2025-11-25", "an empty first event in " + revision)
            expect(all(event.data for event in events[1:]), "an empty event later")


@test
def the_stateless_revision_streams_without_ids():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 8}}, id=9, progressToken="p")
    with Exchange(shared(), "POST", said, repeated(said)) as found:
        expect(found.streams, "no stream")
        events = found.events()
        equal({event.id for event in events} | {event.retry for event in events}, {None}, "ids")
        check_progress(events[:-1], "p", 8)
        result = events[-1].json["result"]
        equal((events[-1].json["id"], result["resultType"]), (9, "complete"), "the answer")
        equal(found["Mcp-Session-Id"], None, "a session")


@test
def a_connection_is_used_again_after_a_stream():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 4}}, progressToken="p")
    with shared().connect() as one:
        for _ in range(3):
            found = Exchange(shared(), "POST", said, repeated(said), one)
            equal(found.events()[-1].json["result"]["structuredContent"], {"steps": 4}, "the answer")
            expect(one.is_open(), "it was closed")


@test
def an_old_client_of_http_gets_a_stream_that_ends_with_the_connection():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 4}}, progressToken="p")
    with shared().connect() as one:
        one.send(raw("POST", said, repeated(said)).replace(b"HTTP/1.1", b"HTTP/1.0", 1))
        head = one.take_head()
        expect(b"chunked" not in head and b"text/event-stream" in head, head)
        while one.more():
            pass
        expect(one.received.endswith(b"\n\n") and b'"steps":4' in one.received, one.received)


@test
def log_messages_are_for_those_who_want_them():
    session = Session(shared())

    def logged():
        events = session.post(call("test_tool_with_logging"))
        return [event.json["params"]["data"] for event in events.received
                if event.data and event.json.get("method") == "notifications/message"] if events.streams else []

    equal(session.post(message("logging/setLevel", {"level": "error"})).json["result"], {}, "setLevel")
    equal(logged(), [], "below the level")
    equal(session.post(message("logging/setLevel", {"level": "debug"})).json["result"], {}, "setLevel")
    for _ in range(6):  # whichever worker
        equal(len(logged()), 3, "at the level")
    for level, count in [("info", 3), ("warning", 0), (None, 0)]:
        meta = {META + "logLevel": level} if level else {}
        said = stateless("tools/call", {"name": "test_tool_with_logging"}, **meta)
        with Exchange(shared(), "POST", said, repeated(said)) as found:
            events = found.events()[:-1] if found.streams else []
            equal(len(events), count, "messages from %s on" % level)


# ---- Resuming ------------------------------------------------------------------------------------

def resume(session, id):
    return session.exchange("GET", Accept="text/event-stream", **{"Last-Event-ID": id})


@test
def a_stream_is_resumed_where_it_broke_off():
    for number in range(4):  # so that now and then another worker does it
        session = Session(shared())
        with session.exchange("POST", call("steps", {"steps": 20}, id=number, token="t")) as broken:
            first = [broken.event() for _ in range(3)]
            if number % 2:
                broken.connection.reset()
        with resume(session, first[-1].id) as found:
            equal((found.status, found.streams), (200, True), "resumed")
            rest = found.events()
        equal(rest[-1].json["id"], number, "the last event")
        equal(rest[-1].json["result"]["structuredContent"], {"steps": 20}, "the answer")
        values = check_progress([event for event in first + rest[:-1] if event.data], "t", 20)
        expect(len(values) >= 4, "little progress:", values)
        with resume(session, first[0].id) as again:  # and afterwards, from the start
            equal([event.data for event in again.events()], [event.data for event in first[1:] + rest], "all of it")


@test
def a_stream_is_resumed_only_by_its_session():
    session, other = Session(shared()), Session(shared())
    with session.exchange("POST", call("steps", {"steps": 6}, token="t")) as found:
        events = found.events()
    with resume(other, events[0].id) as found:
        equal(found.status, 400, "the status")


@test
def what_is_no_id_of_an_event_is_refused():
    session = Session(shared())
    for id in ["x", "1", "1-", "-1", "0-1", "1-x", "999999999-1", "1-1-1", " ", "9" * 40 + "-1", "+1-1", "1-+1", "1 -1"]:
        with resume(session, id) as found:
            equal(found.status, 400, "Last-Event-ID: " + id)


@test
def the_answer_to_a_call_whose_stream_broke_off_is_kept():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 12}, id="kept", token="t")) as broken:
        first = broken.event()
    time.sleep(1.2)  # it is over by now
    with resume(session, first.id) as found:
        equal(found.events()[-1].json["id"], "kept", "the last event")


@test
def a_stream_whose_call_died_with_its_worker_ends_with_an_error():
    with Server("--workers", "2") as found:
        session = Session(found)
        with session.exchange("POST", call("steps", {"steps": 200}, id="lost", token="t")) as broken:
            first = [broken.event() for _ in range(3)]
            for pid in found.workers():
                os.kill(pid, signal.SIGKILL)
        deadline, events = time.monotonic() + server.PATIENCE, None
        while not events and time.monotonic() < deadline:
            try:
                with resume(session, first[-1].id) as resumed:
                    events = resumed.events()
            except (Closed, ConnectionError):  # the next workers are not there yet
                time.sleep(0.05)
        answer = events[-1].json
        equal((answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]), ("lost", -32603, "INTERNAL_ERROR"))
        judged = run_program(os.environ["MISHAP_PROGRAM"], "check", "--dialect", "json-rpc", stdin=json.dumps(answer).encode())
        equal(judged.status, 0, judged.out)


@test
def a_stream_that_is_over_is_over_for_who_has_all_of_it():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 4}, token="t")) as found:
        last = found.events()[-1]
    with resume(session, last.id) as again:
        equal((again.status, again.events()), (200, []), "nothing more")


# ---- The stream of a session ---------------------------------------------------------------------

def standing(session):
    return session.exchange("GET", Accept="text/event-stream")


@test
def a_session_has_a_stream_that_stays_open():
    session = Session(shared())
    with standing(session) as found:
        equal((found.status, found.streams), (200, True), "GET")
        expect(found.connection.is_silent(0.5), "something came:", found.connection.received)
        for _ in range(3):
            equal(session.post(call("test_trigger_tool_change")).status, 200, "a change")
            equal(found.event().json, {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, "the event")
        session.post(call("test_trigger_prompt_change"))
        equal(found.event().json["method"], "notifications/prompts/list_changed", "the event")
        session.exchange("DELETE")
        equal(found.event(), None, "the stream of a session that is over")


@test
def a_second_stream_takes_the_place_of_the_first():
    session = Session(shared())
    with standing(session) as first:
        with standing(session) as second:
            equal(first.event(), None, "the first")
            session.post(call("test_trigger_tool_change"))
            equal(second.event().json["method"], "notifications/tools/list_changed", "the second")


stream_rows = {
    "nothing accepted": ({"Accept": None}, 406),
    "JSON accepted": ({"Accept": "application/json"}, 406),
    "no session": ({"Mcp-Session-Id": None}, 400),
    "a session that is none": ({"Mcp-Session-Id": "none"}, 404),
    "a version that is none": ({"MCP-Protocol-Version": "1999-01-01"}, 400),
    "a foreign origin": ({"Origin": "http://evil.example.com"}, 403),
    "a foreign host": ({"Host": "evil.example.com"}, 403),
}


@tests_of(stream_rows)
def a_stream_is_refused_with(fields, status):
    session = Session(shared())
    with session.exchange("GET", **{"Accept": "text/event-stream", **fields}) as found:
        equal(found.status, status, "the status")


# ---- Listening -----------------------------------------------------------------------------------

def listen(wanted, id="l"):
    said = stateless("subscriptions/listen", {"notifications": wanted}, id=id)
    return Exchange(shared(), "POST", said, repeated(said))


@test
def who_listens_hears_what_was_asked_for():
    change = stateless("tools/call", {"name": "test_trigger_tool_change"})
    other = stateless("tools/call", {"name": "test_trigger_prompt_change"})
    with listen({"toolsListChanged": True}) as tools, listen({"promptsListChanged": True}, 7) as prompts:
        for found, id, key in [(tools, "l", "toolsListChanged"), (prompts, 7, "promptsListChanged")]:
            first = found.event().json
            equal(first["method"], "notifications/subscriptions/acknowledged", "the first event")
            equal(first["params"]["notifications"], {key: True}, "what is acknowledged")
            equal(first["params"]["_meta"][META + "subscriptionId"], id, "the subscription")
        for _ in range(4):
            ask_stateless(change)
            found = tools.event().json
            equal((found["method"], found["params"]["_meta"][META + "subscriptionId"]),
                  ("notifications/tools/list_changed", "l"), "the event")
        expect(prompts.connection.is_silent(0.5), "not asked for")
        ask_stateless(other)
        equal(prompts.event().json["params"]["_meta"][META + "subscriptionId"], 7, "the subscription")


@test
def who_listens_is_told_when_the_server_stops():
    with Server("--workers", "1") as found:
        said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=3)
        with Exchange(found, "POST", said, repeated(said)) as listening:
            listening.event()
            session = Session(found)
            with standing(session) as stream:
                begun = time.monotonic()
                equal(found.stop().status, 0, "exit")
                expect(time.monotonic() - begun < 5, "it took", time.monotonic() - begun)
                equal(stream.event(), None, "the stream of the session")
            last = listening.event().json
            equal((last["id"], last["result"]["resultType"]), (3, "complete"), "the last event")
            equal(listening.event(), None, "and then")


@test
def listening_to_nothing_known_is_refused():
    said = stateless("subscriptions/listen", {"notifications": []})
    found = ask_stateless(said)
    equal((found.status, found.error), (200, -32602), "a list")


# ---- Cancelling ----------------------------------------------------------------------------------

def wait_for(path):
    deadline = time.monotonic() + server.PATIENCE
    while not os.path.exists(path):
        expect(time.monotonic() < deadline, "the handler was not told")
        time.sleep(0.02)


@test
def cancelling_reaches_the_worker_that_runs_the_call():
    for number in range(6):  # through either worker
        mark = os.path.join(server.FOLDER, "cancelled-%d" % number)
        session = Session(shared())
        with session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, id=number, token="t")) as running:
            running.event()
            equal(session.post(message("notifications/cancelled", {"requestId": number, "reason": "enough"}, None)).status, 202)
            for event in running.events():
                expect(not event.data or "method" in event.json, "an answer:", event.data)
        wait_for(mark)


@test
def a_call_without_a_stream_is_cancelled_too():
    mark = os.path.join(server.FOLDER, "cancelled-whole")
    session = Session(shared())
    with shared().connect() as one:
        one.send(raw("POST", call("steps", {"steps": 1000, "mark": mark}, id="w"), session.fields))
        time.sleep(0.3)
        session.post(message("notifications/cancelled", {"requestId": "w"}, None))
        found = one.response("POST", checked=False)
        expect(found.status in (200, 202) and b"result" not in found.body, found)
    wait_for(mark)


@test
def cancelling_in_a_batch_does_it_as_well():
    for number in range(4):
        mark = os.path.join(server.FOLDER, "cancelled-in-batch-%d" % number)
        session = Session(shared(), "2025-03-26")
        with session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, id="b", token="t")) as running:
            running.event()
            batch = [message("ping"), message("notifications/cancelled", {"requestId": "b"}, None)]
            equal(session.post(batch).status, 200, "the status")
            running.events()
        wait_for(mark)


@test
def an_id_of_another_type_cancels_nothing():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 12}, id=1, token="t")) as running:
        for wrong in ["1", 2, None, [1]]:
            equal(session.post(message("notifications/cancelled", {"requestId": wrong}, None)).status, 202)
        equal(running.answer()["result"]["structuredContent"], {"steps": 12}, "the answer")


@test
def a_session_that_goes_away_does_not_cancel():
    mark = os.path.join(server.FOLDER, "gone-session")
    session = Session(shared())
    for token in ["t", None]:
        with shared().connect() as one:
            one.send(raw("POST", call("steps", {"steps": 20, "mark": mark}, token=token), session.fields))
            time.sleep(0.3)
    time.sleep(1.5)
    expect(not os.path.exists(mark), "it was cancelled")


@test
def closing_cancels_in_the_stateless_revision():
    for number, meta in enumerate([{}, {"progressToken": 1}]):
        for reset in [False, True]:
            mark = os.path.join(server.FOLDER, "closed-%d-%d" % (number, reset))
            said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000, "mark": mark}}, **meta)
            one = shared().connect()
            one.send(raw("POST", said, repeated(said)))
            time.sleep(0.4)
            one.reset() if reset else one.close()
            wait_for(mark)


@test
def deleting_a_session_cancels_its_calls():
    mark = os.path.join(server.FOLDER, "deleted")
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, token="t")) as running:
        running.event()
        begun = time.monotonic()
        session.exchange("DELETE")
        running.events()
        expect(time.monotonic() - begun < 5, "it took", time.monotonic() - begun)
    wait_for(mark)


@test
def a_notification_does_not_cancel_over_http_in_the_stateless_revision():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 10}}, id=77, progressToken=1)
    with Exchange(shared(), "POST", said, repeated(said)) as running:
        other = stateless("notifications/cancelled", {"requestId": 77}, id=None)
        equal(ask_stateless(other).status, 202, "the status")
        equal(running.answer()["result"]["structuredContent"], {"steps": 10}, "the answer")


# ---- Crashes -------------------------------------------------------------------------------------

@test
def a_crash_is_the_result_of_one_call_alone():
    log = os.path.join(server.FOLDER, "crash.log")
    with Server("--workers", "2", CONFORMANCE_LOG=log) as found:
        found.log = log
        session, before = Session(found), set(found.workers())
        with session.exchange("POST", call("steps", {"steps": 10}, token="t")) as running:
            running.event()
            for number in range(4):
                result = session.post(call("crash", id=number)).json["result"]
                expect(result["isError"] and result["_meta"]["dev.mishap/incident"], result)
            entry = found.wait_for_log(result["_meta"]["dev.mishap/incident"])
            expect("SIGSEGV" in entry, entry)
            expect(running.answer()["result"]["structuredContent"] == {"steps": 10}, "the other call")
        said = stateless("tools/call", {"name": "crash"})
        crashed = ask(said, repeated(said), found=found)
        equal((crashed.status, crashed.json["result"]["isError"]), (200, True), "the stateless one")
        equal(session.post(message("ping")).status, 200, "the session lives")
        deadline = time.monotonic() + server.PATIENCE
        while before <= set(found.workers()):
            expect(time.monotonic() < deadline, "no worker was replaced, though one crashed")
            time.sleep(0.05)


@test
def hostile_messages_do_no_harm():
    session, bodies = Session(shared()), [
        b"[" * 5000 + b"]" * 5000, b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}', b"\0", b"\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', json.dumps(message("ping", id="x" * 5000)).encode(),
        json.dumps(message("x" * 50000)).encode(), b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
        json.dumps(call("e" * 10000)).encode(), json.dumps(call("echo", {"text": "\n\ndata: x\r\n" * 100})).encode()]
    for body in bodies:
        for fields in [session.fields, repeated({"method": "ping"})]:
            with Exchange(shared(), "POST", body, fields) as found:
                expect(found.status in (200, 400, 404), found.status, body[:100])
    for count in [1, 10, 200]:
        with shared().connect() as one:
            one.send(raw("POST", stateless("tools/list"), repeated({"method": "tools/list"}))[:-count])
    equal(session.post(message("ping")).status, 200, "afterwards")


@test
def many_requests_at_once_on_one_connection_are_answered_in_order():
    session = Session(shared())
    with shared().connect() as one:
        one.send(b"".join(raw("POST", call("steps", {"steps": 1, "pause_ms": 10 if id % 3 else 0}, id=id), session.fields)
                          if id % 2 else raw("POST", message("ping", id=id), session.fields) for id in range(40)))
        for id in range(40):
            equal(one.response("POST", "/mcp", checked=False).json["id"], id, "the id")


# ---- The official clients ------------------------------------------------------------------------

def node():
    for found in [os.path.join(NODE_MODULES, ".bin/node"), "node"]:
        if shutil.which(found):
            return found
    raise Skipped("there is no node")


@tests_of({"1.x": ("sdk", "one"), "2.x": ("client", "two"), "2.x, older revision": ("client", "two-older")})
def the_official_client_is_content(package, which):
    if not os.path.isdir(os.path.join(NODE_MODULES, "@modelcontextprotocol", package)):
        raise Skipped("there is no @modelcontextprotocol/%s in %s" % (package, NODE_MODULES))
    done = subprocess.run([node(), os.path.join(HERE, "clients_http.mjs"), NODE_MODULES, which, shared().url + "/mcp"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    expect(done.returncode == 0 and done.stdout.endswith(b"\nall is well\n"), done.stdout.decode("utf-8", "replace"))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
