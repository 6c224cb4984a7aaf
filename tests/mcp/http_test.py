"""Streamable HTTP, byte by byte: statuses, header fields, sessions, workers that die, the official clients.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/http_test.py [PART-OF-A-NAME]

The server is tests/mcp/conformance.c: see streamable.py.
Every message that comes back is held against what holds for all of them: see exchange.py.
"""
import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import journal  # noqa: E402
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from exchange import (META, OLDER, STATELESS, Exchange, Session, call, initialize, message, raw, repeated, stateless,
                      whole)  # noqa: E402
from node import node  # noqa: E402
from server import NODE_MODULES, Closed, Server  # noqa: E402
from streamable import PROGRAM, ask, ask_stateless, check_refusal, shared  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))

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
    equal(found.json["error"]["message"], "The request body can have at most 100000 bytes.")
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
def failures_of_a_batch_have_ids_of_their_own():
    found = Session(shared(), OLDER[1]).post([call("test_error_handling", id=1), call("test_error_handling", id=2), call("echo", id=3),
                                              call("nothing", id=4), message("no/such", id=5)])
    answers = found.answer()
    equal(len(answers), 5, "the answers")
    told = [item["result"]["_meta"]["dev.mishap/incident"] for item in answers if "result" in item]
    equal(len(set(told)), 3, "ids of %s" % answers)

    def recorded():
        records = []
        with contextlib.suppress(FileNotFoundError), open(shared().log, encoding="utf-8") as log:
            records = journal.records(log.read())
        return [id for record in records for id in journal.ids(record) if record["kind"] != "line"]

    expect(server.wait_for(lambda: set(told) <= set(recorded())), "the records are missing")
    ids = recorded()
    equal(len(ids), len(set(ids)), "ids of all failures")


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
    processes = set()

    def both():
        processes.add(session.process()["process"])
        return len(processes) >= 2
    expect(server.wait_for(both), "loops that answered:", processes)
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
        # A name of its own behind a proxy is no attack once there are keys.
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

@tests_of({"1.x": ("sdk", "one"), "2.x": ("client", "two"), "2.x, older revision": ("client", "two-older")})
def the_official_client_is_content(package, which):
    if not os.path.isdir(os.path.join(NODE_MODULES, "@modelcontextprotocol", package)):
        raise Skipped("there is no @modelcontextprotocol/%s in %s" % (package, NODE_MODULES))
    if not node():
        raise Skipped("there is no node")
    done = subprocess.run([node(), os.path.join(HERE, "clients_http.mjs"), NODE_MODULES, which, shared().url + "/mcp"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    expect(done.returncode == 0 and done.stdout.endswith(b"\nall is well\n"), done.stdout.decode("utf-8", "replace"))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
