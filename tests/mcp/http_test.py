"""Streamable HTTP, byte by byte: statuses, header fields, sessions, streams, cancelling, workers that die.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/http_test.py [PART-OF-A-NAME]

The server is tests/mcp/conformance.c. Revisions with sessions are called the older ones, 2026-07-28 the stateless one.
Every message that comes back is held against what holds for all of them: see exchange.py.
"""
import base64
import contextlib
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
import leaks  # noqa: E402, behind the one that knows where it is
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from exchange import (META, OLDER, STATELESS, Exchange, Session, call, initialize, message, raw, repeated, stateless,
                      whole)  # noqa: E402
from server import NODE_MODULES, Closed, Server  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
server.PROGRAM = PROGRAM


def shared():
    return server.server("mcp", "--workers", "2", "--body-limit", "1000", "--mcp-body-limit", "100000")


def ask(body, fields=None, method="POST", found=None):
    with Exchange(found or shared(), method, body, fields) as exchange:
        return exchange


def ask_stateless(said, **fields):
    return ask(said, repeated(said, **fields))


# The code of the catalog that a refusal of a status tells in its `data`.
REFUSED_AS = {400: {"BAD_REQUEST", "VALIDATION_ERROR"}, 403: {"FORBIDDEN"}, 404: {"NOT_FOUND"}, 406: {"NOT_ACCEPTABLE"},
              413: {"CONTENT_TOO_LARGE"}, 415: {"UNSUPPORTED_MEDIA_TYPE"}, 429: {"RATE_LIMITED"}}


def check_refusal(found, code):
    """`data` of a refusal is the canonical error, whose message is that of the error itself."""
    error = found.json["error"]
    data = error["data"]
    equal((set(error), error["code"]), ({"code", "message", "data"}, code), "the error")
    expect(data["code"] in REFUSED_AS[found.status], found.status, "is told as", data)
    equal(data["message"], error["message"], "the message")
    judged = run_program(os.environ["MISHAP_PROGRAM"], "check", "--dialect", "canonical", "--strict",
                         stdin=json.dumps(data).encode())
    equal(judged.status, 0, judged.out)


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
    "accepting JSON, loudly": ({"Accept": "APPLICATION/JSON"}, 200),
    "accepting all but what we have": ({"Accept": "*/*, application/json;q=0, text/event-stream; q=0.0"}, 406),
    "accepting what only begins like it": ({"Accept": "application/jsonx, text/event-streams"}, 406),
    "refusing JSON behind a comma in quotation marks": ({"Accept": 'application/json;x=",";q=0'}, 406),
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
        check_refusal(found, -32600)


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
    check_refusal(found, -32600)
    equal(found.json["error"]["message"], "The body may have at most 100000 bytes.")
    equal(found.json["error"]["data"]["context"]["limit_bytes"], 100000)


@test
def other_methods_are_refused():
    for method in ["PUT", "PATCH"]:
        with shared().connect() as connection:
            connection.send(raw(method, {}))
            found = whole(connection, method)
            equal(found.status, 405, method)
            expect({"GET", "POST", "DELETE"} <= set(re.split(", *", found["Allow"])), found["Allow"])


@test
def a_head_alone_is_not_a_stream():
    session = Session(shared())
    with shared().connect() as one:
        one.send(raw("HEAD", None, {**session.fields, "Accept": "text/event-stream"}))
        equal(whole(one, "HEAD").status, 405, "the status")
        expect(one.is_open(), "it waits for something")


@test
def who_begins_many_sessions_keeps_nobody_out():
    with Server("--workers", "1") as found, found.connect() as one:
        used = Session(found)
        begun = []
        for _ in range(6):
            one.send(raw("POST", initialize()) * 100)
            begun += [whole(one) for _ in range(100)]
        statuses = [each.status for each in begun]
        ids = [each["Mcp-Session-Id"] for each in begun if each.status == 200]
        equal((statuses.count(200), statuses.count(429)), (511, 89), "those that are taken, and refused")
        equal(used.post(message("ping")).status, 200, "the one that is used")
        equal(ask(initialize(), {"X-Forwarded-For": "192.0.2.1"}, found=found).status, 200, "another caller")
        for id in [ids[0], ids[-1]]:  # none has ended for another
            equal(ask(message("ping"), {"Mcp-Session-Id": id}, found=found).status, 200, "the first and the last of them")


@test
def initialize_agrees_on_a_revision():
    for asked, got in [*zip(OLDER, OLDER), ("2024-10-07", OLDER[-1]), ("1.0", OLDER[-1]), (STATELESS, OLDER[-1])]:
        found = ask(initialize(asked))
        equal((found.status, found.json["result"]["protocolVersion"]), (200, got), asked)
    for params in [{}, {"protocolVersion": 5}, {"protocolVersion": "2025-11-25"}]:
        found = ask(message("initialize", params))
        equal((found.status, found.error, found["Mcp-Session-Id"]), (200, -32602, None), "initialize with %r" % params)


@tests_of({revision: (revision,) for revision in OLDER[:2]})
def a_batch_is_answered_in_a_revision_that_has_them(revision):
    session = Session(shared(), revision)
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


@test
def the_first_revision_gets_nothing_that_came_later():
    session = Session(shared(), "2024-11-05")
    tools = session.post(message("tools/list")).json["result"]["tools"]
    equal({key for tool in tools for key in tool}, {"name", "description", "inputSchema"}, "members of tools")
    result = session.post(call("test_audio_content")).json["result"]
    (block,) = result["content"]
    equal((set(result), set(block), block["type"]), ({"content"}, {"type", "resource"}, "resource"), "audio")
    equal((set(block["resource"]), block["resource"]["mimeType"]), ({"uri", "mimeType", "blob"}, "audio/wav"), "its resource")
    later = Session(shared(), "2025-03-26").post(call("test_audio_content")).json["result"]["content"]
    equal(later, [{"type": "audio", "mimeType": "audio/wav", "data": block["resource"]["blob"]}], "in the next revision")


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
    if code:
        check_refusal(found, code)
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
def any_loop_serves_a_session():
    session = Session(shared())
    processes = {session.process()["process"] for _ in range(40)}
    equal(len(processes), 2, "loops that answered")
    equal(processes, set(shared().workers()), "loops")


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
def a_session_outlives_a_loop_that_is_killed():
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
    with session.exchange("POST", call("steps", {"steps": 1000}, id="p", token="t")) as found:
        events = [found.event() for _ in range(6)]
        check_progress(events[1:], "t", 1000)
        equal(session.post(message("ping", id="p")).status, 400, "it runs")
        session.post(message("notifications/cancelled", {"requestId": "p"}, None))
        expect(all("method" in event.json for event in found.events()), "it was over")


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
        leaks.check(head.decode("latin-1") + one.received.decode())


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


def wait_until_over(session, id):
    """Until the call with this id has been answered, or cancelled: then somebody else may have it."""
    deadline = time.monotonic() + server.PATIENCE
    while session.post(message("ping", id=id)).status != 200:
        expect(time.monotonic() < deadline, "it does not end")
        time.sleep(0.05)


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
    wait_until_over(session, "kept")
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


@test
def a_stream_is_sent_to_one_connection_alone():
    with contextlib.ExitStack() as stack:
        runs = []
        for number in range(4):  # whichever worker resumes it; all of them while the calls run
            session = Session(shared())
            first = stack.enter_context(session.exchange("POST", call("steps", {"steps": 150}, id=number, token="t")))
            begun = [first.event() for _ in range(2)]
            second = stack.enter_context(resume(session, begun[-1].id))
            second.event()
            runs.append((first, second, stack.enter_context(resume(session, begun[-1].id))))
        for number, (first, second, third) in enumerate(runs):
            equal(third.events()[-1].json["id"], number, "the answer")
            for other in [first, second]:
                expect(all("method" in event.json for event in other.events() if event.data), "the answer came twice")


@test
def a_session_has_so_many_streams_that_are_resumed():
    with Server("--workers", "2", "--handlers", "32") as found:
        session, ids = Session(found), []
        for number in range(18):
            with session.exchange("POST", call("steps", {"steps": 1000}, id=number, token="t")) as begun:
                ids.append(begun.event().id)
        streams = [resume(session, id) for id in ids[:16]]
        for id in ids[16:]:  # none of the others ends for it
            with resume(session, id) as refused:
                equal((refused.status, refused["Retry-After"]), (429, "1"), "one more")
                check_refusal(refused, -32600)
        for stream in streams:
            expect(stream.event().data, "it has ended")
        with resume(session, ids[0]) as again:  # in place of the one before
            equal(again.status, 200, "the same one again")
            expect(again.event().data, "it has ended")
        deadline, status = time.monotonic() + server.PATIENCE, 429
        while status == 429:  # until it is known that the one before was closed
            with resume(session, ids[16]) as instead:
                status = instead.status
            expect(time.monotonic() < deadline, "there is no room")
        equal(status, 200, "in place of one that was closed")
        for stream in streams:
            stream.connection.close()
        session.exchange("DELETE")


@test
def a_stream_whose_call_was_cancelled_ends_for_who_has_resumed_it():
    with Server("--workers", "2", "--handlers", "4") as found:
        session = Session(found)
        for number in range(18):  # more than may be resumed at once
            with session.exchange("POST", call("steps", {"steps": 1000}, id=number, token="t")) as broken:
                first = broken.event()
            with resume(session, first.id) as resumed:
                equal(resumed.status, 200, "resumed")
                session.post(message("notifications/cancelled", {"requestId": number}, None))
                for event in resumed.events():
                    expect(event.data and "method" in event.json, "an answer:", event.data)


@test
def streams_that_are_over_take_the_place_of_none():
    with Server("--workers", "2", "--handlers", "4") as found:
        session = Session(found)
        with session.exchange("POST", call("steps", {"steps": 60}, id="long", token="t")) as begun:
            first = begun.event()
        with resume(session, first.id) as going_on:
            for number in range(20):  # more than may be resumed at once
                with session.exchange("POST", call("steps", {"steps": 1}, id=number, token="t")) as short:
                    id = short.event().id
                with resume(session, id) as again:
                    equal(again.events()[-1].json["id"], number, "the answer")
            equal(going_on.events()[-1].json["id"], "long", "the answer of the long one")


@test
def an_answer_that_is_too_large_to_be_kept_is_an_error_for_who_resumes():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 2, "size": 3000000}, id="large", token="t")) as found:
        first = found.event()
        equal(found.events()[-1].json["result"]["structuredContent"]["steps"], 2, "who waited has it")
    with resume(session, first.id) as again:
        last = again.events()[-1].json
    equal((last["id"], last["error"]["code"], last["error"]["data"]["code"]), ("large", -32603, "CONTENT_TOO_LARGE"), "the end")
    judged = run_program(os.environ["MISHAP_PROGRAM"], "check", "--dialect", "json-rpc", stdin=json.dumps(last).encode())
    equal(judged.status, 0, judged.out)


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
        check_refusal(found, -32600)


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
    with Server("--workers", "1", "--stop-timeout-ms", "60000") as found:  # those who listen do not take all of it
        said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=3)
        with Exchange(found, "POST", said, repeated(said)) as listening:
            listening.event()
            session = Session(found)
            with standing(session) as stream:
                begun = time.monotonic()
                equal(found.stop(wait=50).status, 0, "exit")
                expect(time.monotonic() - begun < 30, "it took", time.monotonic() - begun)
                equal(stream.event(), None, "the stream of the session")
            last = listening.event().json
            equal((last["id"], last["result"]["resultType"]), (3, "complete"), "the last event")
            equal(listening.event(), None, "and then")


@test
def listening_to_nothing_known_is_refused():
    said = stateless("subscriptions/listen", {"notifications": []})
    found = ask_stateless(said)
    equal((found.status, found.error), (200, -32602), "a list")


# ---- Resources that change -----------------------------------------------------------------------

WATCHED, OTHER = "test://watched-resource", "test://static-text"


def touches(found, uri=WATCHED):
    """All ways in which a handler comes to say that a resource has changed: by a tool and over HTTP, quick and not."""
    for tool in ["touch", "touch_quick"]:
        said = stateless("tools/call", {"name": tool, "arguments": {"uri": uri}})
        yield tool, lambda said=said: equal(ask(said, repeated(said), found=found).json["result"].get("isError"), None, "a touch")
    for path in ["/touch", "/touch/quick"]:
        def over_http(path=path):
            with found.connect() as one:
                equal(one.ask("POST", path, {"uri": uri}).status, 200, path)
        yield path, over_http


def subscribe(session, uri=WATCHED):
    equal(session.post(message("resources/subscribe", {"uri": uri})).json["result"], {}, "subscribe")


def updated(uri=WATCHED):
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def touch(found, uri=WATCHED, **more):
    with found.connect() as one:
        equal(one.ask("POST", "/touch", {"uri": uri, **more}).status, 200, "a touch")


@tests_of({revision: (revision,) for revision in OLDER})
def a_session_hears_of_what_it_has_subscribed_to(revision):
    found = shared()
    session = Session(found, revision)
    subscribe(session)
    with standing(session) as stream:
        for _ in range(3):  # through either worker
            for way, touched in touches(found):
                touched()
                equal(stream.event().json, updated(), way)
        touch(found, OTHER)
        expect(stream.connection.is_silent(0.6), "not subscribed to")
        subscribe(session, OTHER)
        touch(found, OTHER)
        equal(stream.event().json, updated(OTHER), "the other one")
        equal(session.post(message("resources/unsubscribe", {"uri": WATCHED})).json["result"], {}, "unsubscribe")
        touch(found)
        expect(stream.connection.is_silent(0.6), "not subscribed to any more")


@test
def a_session_hears_what_changed_while_it_had_no_stream():
    found = shared()
    session, other = Session(found), Session(found)
    subscribe(session)
    subscribe(other, OTHER)
    touch(found)
    touch(found)
    time.sleep(0.5)
    with standing(session) as stream, standing(other) as silent:
        equal(stream.event().json, updated(), "what was missed")
        expect(stream.connection.is_silent(0.6), "twice")
        expect(silent.connection.is_silent(0.1), "somebody else's")
    with standing(session) as stream:
        expect(stream.connection.is_silent(0.6), "it was told already")


@test
def who_listens_hears_of_resources():
    found = shared()
    with listen({"resourceSubscriptions": [WATCHED, "test://no/such"]}) as one, listen({"resourceSubscriptions": [OTHER]}, 2) as two:
        equal(one.event().json["params"]["notifications"], {"resourceSubscriptions": [WATCHED]}, "what is acknowledged")
        two.event()
        for _ in range(3):
            for way, touched in touches(found):
                touched()
                params = one.event().json["params"]
                equal((params["uri"], params["_meta"][META + "subscriptionId"]), (WATCHED, "l"), way)
        expect(two.connection.is_silent(0.6), "not asked for")
        touch(found, OTHER)
        equal(two.event().json["params"]["uri"], OTHER, "the other one")


@test
def who_begins_to_listen_hears_nothing_of_what_was_before():
    found = shared()
    for number in range(20):  # in either worker
        touch(found)
        ask_stateless(stateless("tools/call", {"name": "test_trigger_tool_change"}))
        with listen({"toolsListChanged": True, "resourceSubscriptions": [WATCHED, OTHER]}) as one:
            one.event()
            touch(found, OTHER)
            told = one.event().json
            equal((told["method"], told["params"].get("uri")), ("notifications/resources/updated", OTHER), number)


@test
def an_address_with_escapes_is_told_as_it_was_asked_for():
    found, escaped = shared(), "test://template/%31%2f2/data"
    session = Session(found)
    subscribe(session, escaped)
    with standing(session) as stream, listen({"resourceSubscriptions": [escaped]}) as listening:
        equal(listening.event().json["params"]["notifications"], {"resourceSubscriptions": [escaped]}, "what is acknowledged")
        touch(found, "test://template/1%2F2/data")
        equal(stream.event().json, updated(escaped), "the session")
        equal(listening.event().json["params"]["uri"], escaped, "who listens")


@test
def who_listens_hears_of_it_even_if_very_much_has_changed():
    found = shared()
    session = Session(found)
    subscribe(session)
    with listen({"resourceSubscriptions": [WATCHED, OTHER]}) as listening, standing(session) as stream:
        listening.event()
        touch(found, times=10000)
        expect(WATCHED in (listening.event().json["params"]["uri"], listening.event().json["params"]["uri"]), "not told")
        equal(stream.event().json, updated(), "the session")
        expect(stream.connection.is_silent(0.6), "told twice")


@test
def a_change_is_told_even_if_its_worker_dies_at_once():
    with Server("--workers", "2") as found:
        session, before = Session(found), found.workers()
        subscribe(session)
        with standing(session) as stream:
            for _ in range(3):
                with found.connect() as one:
                    equal(one.ask("POST", "/touch/die", {"uri": WATCHED}).status, 500, "the call")
                equal(stream.event().json, updated(), "the event")
        equal(found.workers(), before, "no loop has died of it")


@test
def a_change_is_told_even_if_its_loop_dies_at_once():
    with Server("--workers", "2") as found:
        session = Session(found)
        subscribe(session)
        for number in range(3):
            stream = standing(session)
            with found.connect() as one:
                one.send(server.request("POST", "/touch/end", {"uri": WATCHED}))
                one.expect_closed()
            deadline, event = time.monotonic() + server.PATIENCE, None
            while not event:
                expect(time.monotonic() < deadline, "it was not told")
                try:  # the stream may have been the dead loop's, and the next ones not be there yet
                    event = stream.event()
                except (Closed, ConnectionError):
                    stream.connection.close()
                    time.sleep(0.1)
                    try:
                        stream = standing(session)
                    except (Closed, ConnectionError):
                        pass
            equal(event.json, updated(), "the event")
            stream.connection.close()


@test
def a_session_subscribes_to_so_many():
    found = shared()
    session = Session(found)
    for number in range(256):
        subscribe(session, "test://template/%d/data" % number)
    refused = session.post(message("resources/subscribe", {"uri": WATCHED})).json["error"]
    equal((refused["code"], refused["data"]["code"]), (-32600, "RATE_LIMITED"), "one more")
    session.post(message("resources/unsubscribe", {"uri": "test://template/7/data"}))
    subscribe(session)
    subscribe(Session(found))  # others may
    unknown = session.post(message("resources/subscribe", {"uri": "test://no/such"})).json["error"]
    equal((unknown["code"], unknown["data"]["uri"]), (-32002, "test://no/such"), "what is not there")


@test
def a_session_that_is_over_subscribes_to_nothing():
    found = shared()
    session = Session(found)
    subscribe(session)
    with standing(session) as stream:
        equal(session.exchange("DELETE").status, 204, "DELETE")
        touch(found)
        equal(stream.event(), None, "the stream of a session that is over")


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
        wait_for(mark + ".begun")
        session.post(message("notifications/cancelled", {"requestId": "w"}, None))
        found = whole(one)
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
    session = Session(shared())
    for token in ["t", None]:
        mark = os.path.join(server.FOLDER, "gone-session-%s" % token)
        with shared().connect() as one:
            one.send(raw("POST", call("steps", {"steps": 20, "mark": mark}, id=str(token), token=token), session.fields))
            wait_for(mark + ".begun")
        wait_until_over(session, str(token))
        expect(not os.path.exists(mark), "it was cancelled")


@test
def closing_cancels_in_the_stateless_revision():
    for number, meta in enumerate([{}, {"progressToken": 1}]):
        for reset in [False, True]:
            mark = os.path.join(server.FOLDER, "closed-%d-%d" % (number, reset))
            said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000, "mark": mark}}, **meta)
            one = shared().connect()
            one.send(raw("POST", said, repeated(said)))
            wait_for(mark + ".begun")
            one.reset() if reset else one.close()
            wait_for(mark)


@tests_of({"as a whole": ({},), "as a stream": ({"progressToken": 1},)})
def a_client_that_has_closed_its_sending_side_is_answered(meta):
    """Outside of a session the handler is told; what it makes of that is written. In one it is not told."""
    mark = os.path.join(server.FOLDER, "half-closed-%d" % len(meta))
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000, "mark": mark}}, **meta)
    with Exchange(shared(), "POST", said, repeated(said), finish=True) as found:
        expect(found.answer()["result"]["isError"], found)
    expect(os.path.exists(mark), "the handler was not told")
    session = Session(shared())
    steps = call("steps", {"steps": 3, "mark": mark + "-session"}, token="t" if meta else None)
    with Exchange(shared(), "POST", steps, session.fields, finish=True) as found:
        equal(found.answer()["result"]["structuredContent"], {"steps": 3})
    expect(not os.path.exists(mark + "-session"), "the handler was told")


@test
def deleting_a_session_cancels_its_calls():
    mark = os.path.join(server.FOLDER, "deleted")
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, token="t")) as running:
        running.event()
        begun = time.monotonic()
        session.exchange("DELETE")
        running.events()
        expect(time.monotonic() - begun < 20, "it took", time.monotonic() - begun)  # it would be 50
    wait_for(mark)


@test
def a_notification_does_not_cancel_over_http_in_the_stateless_revision():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 10}}, id=77, progressToken=1)
    with Exchange(shared(), "POST", said, repeated(said)) as running:
        other = stateless("notifications/cancelled", {"requestId": 77}, id=None)
        equal(ask_stateless(other).status, 202, "the status")
        equal(running.answer()["result"]["structuredContent"], {"steps": 10}, "the answer")


@test
def an_id_is_answered_once_at_a_time():
    for _ in range(4):  # through either worker
        session = Session(shared())
        with session.exchange("POST", call("steps", {"steps": 1000}, id=5, token="t")) as running:
            running.event()
            for same in [call("echo", {"text": "a"}, id=5), call("steps", {"steps": 1}, id=5), message("ping", id=5)]:
                found = session.post(same)
                equal((found.status, found.error, found.json["id"]), (400, -32600, 5), "the same id")
            equal(session.post(message("ping", id="5")).status, 200, "another id")
            session.post(message("notifications/cancelled", {"requestId": 5}, None))
            running.events()
        equal(session.post(message("ping", id=5)).status, 200, "when it is over")


@test
def an_id_is_answered_once_at_a_time_in_a_batch():
    for _ in range(4):  # through either worker
        session = Session(shared(), "2025-03-26")
        twice = session.post([call("steps", {"steps": 1}, id=5), call("steps", {"steps": 1}, id=5)]).json
        equal(sorted(answer["error"]["code"] if "error" in answer else 0 for answer in twice), [-32600, 0], "twice in one")
        with session.exchange("POST", call("steps", {"steps": 1000}, id=5, token="t")) as running:
            running.event()
            same = [call("steps", {"steps": 1}, id=5), call("echo", {"text": "a"}, id=5), message("ping", id=5), message("ping", id=6)]
            answers = session.post(same).json
            equal([(answer["id"], answer.get("error", {}).get("code")) for answer in answers],
                  [(5, -32600), (5, -32600), (5, -32600), (6, None)], "the same id")
            session.post(message("notifications/cancelled", {"requestId": 5}, None))
            running.events()


@test
def a_session_runs_so_many_calls():
    with Server("--workers", "1", "--handlers", "4") as found:
        session, other = Session(found), Session(found)
        connections, refused = [], []
        for number in range(70):
            one = found.connect()
            one.send(raw("POST", call("steps", {"steps": 1000}, id=number), session.fields))
            connections.append(one)
        deadline = time.monotonic() + server.PATIENCE
        while len(refused) < 6:  # of which 64 are taken
            expect(time.monotonic() < deadline, "refused were only", len(refused))
            refused = [one for one in connections if not one.is_silent(0.001)]
        equal(len(refused), 6, "refused")
        for one in refused:
            result = whole(one).json["result"]
            expect(result["isError"] and "busy" in result["content"][0]["text"], result)
        with found.connect() as one:  # another may; it waits for a worker
            one.send(raw("POST", call("steps", {"steps": 1}, id=1), other.fields))
            expect(one.is_silent(0.5), "it was refused")
        session.exchange("DELETE")
        for one in connections:
            one.close()


@test
def a_call_that_takes_too_long_is_given_up():
    with Server("--workers", "1", "--timeout-ms", "700") as found:
        for meta in [{}, {"progressToken": 1}]:
            said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000}}, **meta)
            begun = time.monotonic()
            with Exchange(found, "POST", said, repeated(said)) as late:
                result = late.answer()["result"]
            expect(0.5 < time.monotonic() - begun < 20, "it took", time.monotonic() - begun)  # it would be 50
            expect(result["isError"] and result["structuredContent"]["code"] == "TIMEOUT", result)
            expect("TIMEOUT" in found.wait_for_log(result["_meta"]["dev.mishap/incident"]), "the log")
        metrics = found.ask("GET", "/metrics").body.decode()
        equal(re.findall(r"^\S*crashes_total\S* (\S+)$", metrics, re.M), ["0"], "no crash")


def hang(found, session, mark):
    """A call that never comes back, nor notices that nobody waits for it any more: cancelled, or left alone."""
    said = call("hang", {"mark": mark}, id="h")
    fields = session.fields if session else None
    if not session:
        said = stateless("tools/call", {"name": "hang", "arguments": {"mark": mark}})
        fields = repeated(said)
    with found.connect() as one:
        one.send(raw("POST", said, fields))
        wait_for(mark + ".begun")
        if session:
            session.post(message("notifications/cancelled", {"requestId": "h"}, None))
            whole(one)


@tests_of({"that is cancelled": (True,), "whose client leaves": (False,)})
def a_call_that_hangs_keeps_no_worker(cancelled):
    with Server("--workers", "1", "--handlers", "2", "--timeout-ms", "1500") as found:
        before, session = set(found.workers()), Session(found) if cancelled else None
        for number in range(2):  # all workers
            hang(found, session, os.path.join(server.FOLDER, "hangs-%d-%d" % (cancelled, number)))
        said, took = stateless("tools/call", {"name": "test_error_handling"}), []
        while not took or min(took) >= 1 and len(took) < 6:  # the first waits until their time is over
            begun = time.monotonic()
            result = ask(said, repeated(said), found=found).json["result"]
            took.append(time.monotonic() - begun)
            expect("intentionally" in result["content"][0]["text"], result)  # else it is busy
        expect(took[0] < 8 and min(took) < 1 or server.SANITIZED, "it took", took)
        equal(set(found.workers()), before, "the loop goes on")


@test
def calls_that_nobody_waits_for_take_no_room():
    with Server("--workers", "1", "--handlers", "1") as found:
        session = Session(found)
        mark = os.path.join(server.FOLDER, "first")
        with found.connect() as one:
            one.send(raw("POST", call("steps", {"steps": 1000, "mark": mark}, id="first"), session.fields))
            wait_for(mark + ".begun")
            for _ in range(80):  # that wait behind it; 64 may
                said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1}})
                with found.connect() as other:
                    other.send(raw("POST", said, repeated(said)))
                    time.sleep(0.02)
            begun = time.monotonic()
            while True:  # until it was noticed that they left; without that they would be there for ten seconds
                with found.connect() as other:
                    other.send(raw("POST", said, repeated(said)))
                    if other.is_silent(0.5):
                        session.post(message("notifications/cancelled", {"requestId": "first"}, None))
                        equal(whole(other).json["result"]["structuredContent"], {"steps": 1}, "the answer")
                        break
                    expect(time.monotonic() - begun < 5, "it was refused:", whole(other))


@test
def a_stream_that_is_quiet_shows_that_it_is_there():
    session = Session(shared())
    said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=3)
    slow = call("steps", {"steps": 20, "pause_ms": 1000}, id="slow", token="t")
    with standing(session) as stream, Exchange(shared(), "POST", said, repeated(said)) as listening, \
            session.exchange("POST", slow) as running:
        listening.event()
        deadline = time.monotonic() + 45
        for found in [stream, listening]:
            while ": still here" not in found.text:
                found.connection.socket.settimeout(max(1, deadline - time.monotonic()))
                found.more()
        running.events()
        expect(": still here" not in running.text, "it was not quiet")


suggestion_rows = {
    "without a session": ("POST", {"Mcp-Session-Id": None}, "initialize"),
    "a session that is none": ("POST", {"Mcp-Session-Id": "x"}, "initialize"),
    "a stream that is not accepted": ("GET", {"Accept": "application/json"}, "text/event-stream"),
    "an event that is none": ("GET", {"Accept": "text/event-stream", "Last-Event-ID": "x"}, "Last-Event-ID"),
    "a version that is none": ("POST", {"MCP-Protocol-Version": "1999-01-01"}, "initialize"),
    "a foreign host": ("POST", {"Host": "evil.example.com"}, "--public-url"),
    "a foreign origin": ("POST", {"Origin": "http://evil.example.com"}, "--cors"),
}


@tests_of(suggestion_rows)
def who_is_refused_is_told_what_to_do(method, fields, words):
    session = Session(shared())
    with session.exchange(method, message("ping") if method == "POST" else None, **fields) as found:
        expect(words in found.json["error"]["data"]["suggestion"], found.json)


@test
def fields_that_differ_from_the_message_are_explained():
    said = stateless("tools/call", {"name": "echo", "arguments": {"text": "a"}})
    for field in ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"]:
        error = ask(said, {**repeated(said), field: "other"}).json["error"]
        equal(error["code"], -32020, field)
        expect(field in error["message"] and "Send" in error["data"]["suggestion"], error)


@test
def who_accepts_no_stream_gets_none():
    session = Session(shared())
    found = session.post(call("steps", {"steps": 5}, token="t"), Accept="application/json")
    equal((found.status, found.streams, found.json["result"]["structuredContent"]), (200, False, {"steps": 5}), "JSON alone")
    said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    refused = ask(said, {**repeated(said), "Accept": "application/json"})
    equal(refused.status, 406, "listening")
    check_refusal(refused, -32600)


@test
def a_failed_call_is_found_by_the_id_of_its_request():
    access = os.path.join(server.FOLDER, "mcp-access")
    with Server("--workers", "1", "--access-log", access) as found:
        found.access, session = access, Session(found)
        ways = [(call("test_error_handling"), session.fields, "RUNTIME_ERROR"),
                (call("crash", token="t"), session.fields, "INTERNAL_ERROR"),
                (call("echo", {}), session.fields, "VALIDATION_ERROR"),
                (message("resources/read", {"uri": "test://none"}), session.fields, "NOT_FOUND")]
        for said, fields, code in ways:
            with Exchange(found, "POST", said, fields) as failed:
                answer = failed.answer()
                if "result" in answer:
                    equal(answer["result"]["_meta"]["dev.mishap/incident"], failed["X-Request-Id"], code)
            line = found.wait_for_access(failed["X-Request-Id"])
            equal((line["status"], line["code"]), (200, code), "the access log")
        with found.connect() as one:
            metrics = one.ask("GET", "/metrics").body.decode()
        for _, _, code in ways:
            expect(re.search(r'errors_total\{[^}]*%s[^}]*\} [1-9]' % code, metrics), code, "is not counted")
        steps = call("steps", {"steps": 3}, token="t")
        with Exchange(found, "POST", steps, session.fields) as worked:
            worked.events()
        expect("code" not in found.wait_for_access(worked["X-Request-Id"]), "a failure of what worked")


# ---- Crashes -------------------------------------------------------------------------------------

@test
def a_crash_is_the_result_of_one_call_alone():
    with Server("--workers", "2") as found:
        session, before = Session(found), set(found.workers())
        with session.exchange("POST", call("steps", {"steps": 10}, id="r", token="t")) as running:
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
        equal(set(found.workers()), before, "the loops go on")


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
            equal(whole(one).json["id"], id, "the id")


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
