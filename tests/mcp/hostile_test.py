"""Messages that no sane client would send, each with the exact answer.

Every message goes to a server that lives on: after it, a sound request must get its answer, and nothing else may have
been written.
"""
import json
import resource
import signal
import subprocess
import threading
import time

from talk import (LEGACY, META, MODERN, PATIENCE, SANITIZED, WORKSHOP, Server, Skipped, equal, expect, hello, line, main,
                  modern, notification, request, test, tests_of)

V = "io.modelcontextprotocol/"
ABSENT = object()


def raw(**members):
    return json.dumps(dict({"jsonrpc": "2.0"}, **members)).encode()


def ask(method, **params):
    return raw(id=1, method=method, params=params)


def ping(number):
    """A ping whose id is given as JSON."""
    return b'{"jsonrpc":"2.0","id":' + number + b',"method":"ping"}'


# ---- What is expected ----------------------------------------------------------------------------------------------


def error(code, name, message, number=1, **data):
    """An error response. `data` has the canonical form; of that, what stands here is compared."""
    return {"id": number, "code": code, "name": name, "message": message, "data": data}


def not_json(why):
    return error(-32700, "MALFORMED_INPUT", f"The message is not JSON: {why}.", ABSENT)


def bad(message, number=1):
    return error(-32600, "BAD_REQUEST", message, number)


def bad_id(message="The id must be a string or an integer."):
    return bad(message, ABSENT)


def no_method(name, revision="2025-11-25"):
    return error(-32601, "METHOD_NOT_FOUND", f"The method {name} does not exist in revision {revision}.")


def not_part(name, revision="2025-11-25"):
    return error(-32601, "METHOD_NOT_FOUND", f"The method {name} is not part of revision {revision}.")


def invalid(*fields, message):
    """A validation error that names these fields, each with what is wrong."""
    return error(-32602, "VALIDATION_ERROR", message, fields=list(fields))


def say(*sentences):
    """The message: it tells what is wrong with each field, for clients that show nothing else."""
    return " ".join(("One or more fields are not valid.",) + sentences)


OBJECTS = {"ref", "argument", "capabilities", "clientInfo", "notifications"}


def missing(*fields):
    return invalid(*((field, "field_required") for field in fields),
                   message=say(*("%s is required (%s)." % (field, "object" if field in OBJECTS else "string")
                                 for field in fields)))


def wrong_type(field, expected, actual):
    return invalid((field, "invalid_type"), message=say("%s must be %s, not %s." % (field, expected, actual)))


PONG = {"jsonrpc": "2.0", "id": 1, "result": {}}
CURSOR = error(-32602, "INVALID_ARGUMENT", "The cursor is not valid.")
NO_TOOL = error(-32602, "NOT_FOUND", "The tool does not exist.")


def meant(tool):
    return error(-32602, "NOT_FOUND", "The tool does not exist; did you mean `%s`?" % tool)


NO_BATCH = bad("This protocol revision does not support batches.", ABSENT)
NOT_YET = bad("This session is not initialized yet.")


def pong(number):
    return {"jsonrpc": "2.0", "id": number, "result": {}}


def no_resource(uri, code=-32002):
    return error(code, "NOT_FOUND", "The resource does not exist.", uri=uri)


def failed_call(*fields):
    """A tool result that names the bad arguments."""
    return {"isError": True, "fields": list(fields)}


def check_error(answer, expected):
    if expected["id"] is ABSENT:
        expect("id" not in answer, "there is an id:", answer)
    else:
        equal(answer.get("id"), expected["id"], "id")
    equal(set(answer) - {"id"}, {"jsonrpc", "error"}, "members")
    problem = answer["error"]
    equal(set(problem), {"code", "message", "data"}, "members of the error")
    equal((problem["code"], problem["data"]["code"], problem["message"], problem["data"]["message"]),
          (expected["code"], expected["name"], expected["message"], expected["message"]), "error")
    for member, value in expected["data"].items():
        found = problem["data"].get(member)
        if member == "fields":
            found, value = [(field["field"], field["error"]) for field in found], list(map(tuple, value))
        equal(found, value, member)


def check(answer, expected):
    if isinstance(expected, list):  # a batch
        expect(isinstance(answer, list) and len(answer) == len(expected), "a batch of", len(expected), "not", answer)
        for one, wanted in zip(answer, expected):
            check(one, wanted)
    elif "isError" in expected:
        result = answer["result"]
        equal((result["isError"], [(f["field"], f["error"]) for f in result["structuredContent"]["fields"]]),
              (True, expected["fields"]), "result")
        equal(json.loads(result["content"][0]["text"]), result["structuredContent"], "text")
    elif "code" in expected:
        check_error(answer, expected)
    else:
        equal(answer, expected, "answer")


# ---- One server for all messages of a kind -------------------------------------------------------------------------

servers = {}


def server_of(state):
    if state not in servers:
        servers[state] = Server(revision=state if state in LEGACY else None)
    return servers[state]


def exchange(state, text):
    """Send a text, and then a request that is sound. What came before the answer to that."""
    server = server_of(state)
    server.send(text + b"\n", modern("probe", "server/discover"))
    answers = []
    while True:
        answer = server.take(60)
        expect(answer is not None, "the server has ended; stderr:", server.stderr()[-500:])
        if isinstance(answer, dict) and answer.get("id") == "probe":
            equal(answer["result"]["supportedVersions"], [MODERN], "the answer to a sound request")
            return answers
        answers.append(answer)


def hold(state, text, expected):
    answers = exchange(state, text)
    expect(len(answers) == (expected is not None), "answers:", answers)
    if expected is not None:
        check(answers[0], expected)


# ---- Text that is no message ---------------------------------------------------------------------------------------

JSON = {
    "an open brace": (b"{", not_json("unexpected end of data")),
    "half a message": (b'{"jsonrpc":"2.0","id":1,"meth', not_json("unexpected end of data")),
    "a word": (b"hello", not_json("unexpected character, expected a valid root value")),
    "single quotes": (b"{'jsonrpc':'2.0','id':1,'method':'ping'}",
                      not_json("unexpected character, expected a string for object key")),
    "a comma at the end": (b'{"jsonrpc":"2.0","id":1,"method":"ping",}', not_json("trailing comma is not allowed")),
    "a comment": (b'// {"jsonrpc":"2.0","id":1,"method":"ping"}',
                  not_json("unexpected character, expected a valid root value")),
    "NaN": (ping(b"NaN"), not_json("unexpected character, expected a valid JSON value")),
    "a leading zero": (ping(b"01"), not_json("number with leading zero is not allowed")),
    "two messages in a line": (ping(b"1") + ping(b"2"), not_json("unexpected content after document")),
    "something behind the message": (ping(b"1") + b" ;", not_json("unexpected content after document")),
    "a tab in a string": (b'{"jsonrpc":"2.0","id":1,"method":"pi\tng"}',
                          not_json("unexpected control character in string")),
    "a header of another protocol": (b"Content-Length: 40",
                                     not_json("unexpected character, expected a valid root value")),
    "a request of HTTP": (b"GET / HTTP/1.1", not_json("unexpected character, expected a valid root value")),
    "a byte order mark": (b"\xef\xbb\xbf" + ping(b"1"), not_json("byte order mark (BOM) is not supported")),
    "UTF-16": ("\ufeff{}".encode("utf-16-le"), not_json("UTF-16 encoding is not supported")),
    "a byte that is no UTF-8": (ping(b'"\xff"'), not_json("invalid UTF-8 encoding in string")),
    "an overlong NUL": (ping(b'"\xc0\x80"'), not_json("invalid UTF-8 encoding in string")),
    "a surrogate in UTF-8": (ping(b'"\xed\xa0\x80"'), not_json("invalid UTF-8 encoding in string")),
    "a NUL alone": (b"\0", not_json("unexpected character, expected a valid root value")),
    "a NUL between": (b'{"jsonrpc":"2.0",\0"id":1,"method":"ping"}',
                      not_json("unexpected character, expected a string for object key")),
    "a NUL at the end": (ping(b"1") + b"\0", not_json("unexpected content after document")),
    "a million open brackets": (b"[" * 1000000, not_json("unexpected end of data")),
    "many open objects": (b'{"a":' * 100000, not_json("unexpected end of data")),
    "null": (b"null", bad("A message must be a JSON object.", ABSENT)),
    "a number": (b"5", bad("A message must be a JSON object.", ABSENT)),
    "a string": (b'"ping"', bad("A message must be a JSON object.", ABSENT)),
    "true": (b"true", bad("A message must be a JSON object.", ABSENT)),
    "an empty line": (b"", None),
    "blanks": (b" \t  ", None),
    "an empty line of Windows": (b"\r", None),
    "a line of Windows": (ping(b"1") + b"\r", PONG),
    "blanks around a message": (b"  \t " + ping(b"1") + b"  ", PONG),
}


@tests_of(JSON)
def what_is_no_message(text, expected):
    hold("2025-11-25", text, expected)


# ---- Messages of a wrong shape -------------------------------------------------------------------------------------

SHAPES = {
    "no members": (b"{}", bad('`jsonrpc` must be "2.0".', ABSENT)),
    "another version": (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', bad('`jsonrpc` must be "2.0".')),
    "no version": (b'{"id":1,"method":"ping"}', bad('`jsonrpc` must be "2.0".')),
    "a number as version": (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', bad('`jsonrpc` must be "2.0".')),
    "a notification of another version": (b'{"jsonrpc":"3.0","method":"notifications/x"}',
                                          bad('`jsonrpc` must be "2.0".', ABSENT)),
    "id null": (ping(b"null"), bad_id()),
    "id a fraction": (ping(b"1.5"), bad_id()),
    "id a whole fraction": (ping(b"1.0"), bad_id()),
    "id with an exponent": (ping(b"1e2"), bad_id()),
    "id a boolean": (ping(b"true"), bad_id()),
    "id an array": (ping(b"[1]"), bad_id()),
    "id an object": (ping(b"{}"), bad_id()),
    "id too long": (ping(b'"' + b"x" * 2000 + b'"'), bad_id("The id is too long, or not an integer.")),
    "id half of a surrogate pair": (ping(b'"\\ud800"'),
                                    bad("The message contains half of a surrogate pair.", ABSENT)),
    "id 0": (ping(b"0"), pong(0)),
    "id negative": (ping(b"-1"), pong(-1)),
    "id an empty string": (ping(b'""'), pong("")),
    "id that looks like a number": (ping(b'"1"'), pong("1")),
    "id of 64 bits": (ping(b"18446744073709551615"), pong(2**64 - 1)),
    "id of more than 64 bits": (ping(b"123456789012345678901234567890"), pong(123456789012345678901234567890)),
    "id with odd characters": (ping(b'"\\u0000\\u2028\\ud83d\\ude00\\n"'), pong("\0\u2028\U0001f600\n")),
    "no method": (raw(id=1), bad("The member `method` is missing.")),
    "method a number": (raw(id=1, method=5), bad("`method` must be a string.")),
    "method null": (raw(id=1, method=None), bad("`method` must be a string.")),
    "method a number, and no id": (raw(method=5), bad("`method` must be a string.", ABSENT)),
    "params null": (raw(id=1, method="ping", params=None), bad("`params` must be an object.")),
    "params a number": (raw(id=1, method="ping", params=5), bad("`params` must be an object.")),
    "params an array": (raw(id=1, method="ping", params=[]),
                        invalid(("params", "invalid_type"), message="`params` must be of type object.")),
    "_meta a number": (ask("ping", _meta=5),
                       invalid(("_meta", "invalid_type"), message="`_meta` must be of type object.")),
    "params that nobody asked for": (ask("ping", more=1), PONG),
    "a member that nobody knows": (raw(id=1, method="ping", more=1), PONG),
    "two ids": (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
                bad("The message contains a duplicate key.", ABSENT)),
    "two methods": (b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
                    bad("The message contains a duplicate key.")),
    "two params of one name": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}',
                               bad("The message contains a duplicate key.")),
    "a NUL in a key": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a\\u0000":1}}',
                       bad("The message contains a key with a NUL character.")),
    "deep params": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}",
                    bad("The message has too many nested levels.")),
    "deep arrays": (b"[" * 100000 + b"]" * 100000, bad("The message has too many nested levels.", ABSENT)),
    "a response to nothing": (raw(id=1, result={}), None),
    "an error to nothing": (raw(id=1, error={"code": 1, "message": "no"}), None),
    "an error without id": (raw(error={"code": -32700, "message": "no"}), None),
    "a result without id": (raw(result={}), bad("The id of a response must be the id of a request.", ABSENT)),
    "result and error": (raw(id=1, result={}, error={}),
                         bad("A response has a `result` or an `error`, not both.", ABSENT)),
    "a request with a result": (raw(id=1, method="ping", result={}),
                                bad("A request has no `result` and no `error`.")),
    "an empty batch": (b"[]", NO_BATCH),
    "a batch of numbers": (b"[1]", NO_BATCH),
    "a batch": (b"[" + ping(b"1") + b"]", NO_BATCH),
}


@tests_of(SHAPES)
def messages_of_a_wrong_shape(text, expected):
    hold("2025-11-25", text, expected)


# ---- What can be asked in a session --------------------------------------------------------------------------------

SESSION = {
    "an unknown method": (raw(id=1, method="nope"), no_method("nope")),
    "a method in capitals": (raw(id=1, method="PING"), no_method("PING")),
    "a method of another revision": (raw(id=1, method="server/discover"), not_part("server/discover")),
    "listening": (ask("subscriptions/listen", notifications={}), not_part("subscriptions/listen")),
    "tasks": (raw(id=1, method="tasks/list"), no_method("tasks/list")),
    "a notification as a request": (raw(id=1, method="notifications/initialized"),
                                    no_method("notifications/initialized")),
    "a second initialize": (json.dumps(hello("2025-11-25", 1)).encode(), bad("This session is already initialized.")),
    "an unknown notification": (raw(method="notifications/unknown"), None),
    "a notification that is a method": (raw(method="ping"), None),
    "a notification that calls": (raw(method="tools/call", params={"name": "crash"}), None),
    "a notification with an array": (b'{"jsonrpc":"2.0","method":"notifications/x","params":[]}', None),
    "initialized twice": (raw(method="notifications/initialized"), None),
    "cancelled without id": (raw(method="notifications/cancelled"), None),
    "cancelled, what never was": (raw(method="notifications/cancelled", params={"requestId": 99}), None),
    "cancelled, an object": (raw(method="notifications/cancelled", params={"requestId": {}}), None),
    "cancelled, null": (raw(method="notifications/cancelled", params={"requestId": None}), None),
    "progress of nothing": (raw(method="notifications/progress", params={"progressToken": []}), None),
    "a call of nothing": (raw(id=1, method="tools/call"), missing("name")),
    "a call without a name": (ask("tools/call"), missing("name")),
    "a tool that is a number": (ask("tools/call", name=5), wrong_type("name", "a string", "a number: put it in quotes")),
    "an unknown tool": (ask("tools/call", name="nope"), NO_TOOL),
    "a tool in capitals": (ask("tools/call", name="ECHO"), meant("echo")),
    "the server as a tool": (ask("tools/call", name="mcp"), NO_TOOL),
    "an operation by its name": (ask("tools/call", name="apart.echo"), meant("apart_echo")),
    "arguments as an array": (ask("tools/call", name="echo", arguments=[]), wrong_type("arguments", "an object", "an array")),
    "arguments as a string": (ask("tools/call", name="echo", arguments="text"), wrong_type("arguments", "an object", "a string")),
    "no arguments": (ask("tools/call", name="echo"), failed_call(("text", "field_required"))),
    "an argument of a wrong type": (ask("tools/call", name="echo", arguments={"text": 5}),
                                    failed_call(("text", "invalid_type"))),
    "two bad arguments": (ask("tools/call", name="count", arguments={"to": 0, "pause_ms": "x"}),
                          failed_call(("to", "value_out_of_range"), ("pause_ms", "invalid_type"))),
    "a token that is an array": (ask("tools/call", name="echo", arguments={"text": "a"}, _meta={"progressToken": []}),
                                 invalid(("_meta.progressToken", "invalid_type"),
                                         message="`_meta.progressToken` must be of type string or integer.")),
    "a token that is a fraction": (ask("tools/call", name="echo", arguments={"text": "a"},
                                       _meta={"progressToken": 1.5}),
                                   invalid(("_meta.progressToken", "invalid_type"),
                                           message="`_meta.progressToken` must be of type string or integer.")),
    "a cursor that is a number": (ask("tools/list", cursor=5), CURSOR),
    "a cursor of somebody else": (ask("tools/list", cursor="zz"), CURSOR),
    "an empty cursor": (ask("resources/list", cursor=""), CURSOR),
    "a cursor beyond all": (ask("prompts/list", cursor="99999999999999999999"), CURSOR),
    "a file": (ask("resources/read", uri="file:///etc/passwd"), no_resource("file:///etc/passwd")),
    "a way out of the catalog": (ask("resources/read", uri="catalog://codes/../../etc/passwd"),
                                 no_resource("catalog://codes/../../etc/passwd")),
    "a resource without URI": (ask("resources/read"), missing("uri")),
    "an unknown prompt": (ask("prompts/get", name="nope"), error(-32602, "NOT_FOUND", "The prompt does not exist.")),
    "a prompt without its argument": (ask("prompts/get", name="explain_failure"), missing("error")),
    "completion of nothing": (ask("completion/complete"), missing("ref", "argument")),
    "an unknown level": (ask("logging/setLevel", level="loud"), invalid(
        ("level", "pattern_mismatch"),
        message=say("level must be one of debug, info, notice, warning, error, critical, alert or emergency, not loud."))),
    "no level": (ask("logging/setLevel"), invalid(("level", "field_required"), message=say(
        "level is required (one of debug, info, notice, warning, error, critical, alert or emergency)."))),
}


@tests_of(SESSION)
def requests_in_a_session(text, expected):
    hold("2025-11-25", text, expected)


# ---- Before a session, in batches, and without one -----------------------------------------------------------------

FRESH = {
    "a request before initialize": (raw(id=1, method="tools/list"), NOT_YET),
    "a call before initialize": (ask("tools/call", name="echo", arguments={"text": "a"}), NOT_YET),
    "an unknown method before initialize": (raw(id=1, method="nope"), NOT_YET),
    "subscribing before initialize": (ask("resources/subscribe", uri="catalog://codes"), NOT_YET),
    "a level before initialize": (ask("logging/setLevel", level="info"), NOT_YET),
    "ping before initialize": (ping(b"1"), PONG),
    "a batch before initialize": (b"[" + ping(b"1") + b"]", NO_BATCH),
    "initialized before initialize": (raw(method="notifications/initialized"), None),
    "initialize as a notification": (raw(method="initialize", params={}), None),
    "initialize without params": (raw(id=1, method="initialize"),
                                  missing("protocolVersion", "capabilities", "clientInfo")),
    "initialize with a number as revision": (ask("initialize", protocolVersion=5, capabilities={},
                                                 clientInfo={"name": "c", "version": "1"}),
                                             wrong_type("protocolVersion", "a string", "a number: put it in quotes")),
    "initialize with an array of capabilities": (ask("initialize", protocolVersion="2025-11-25", capabilities=[],
                                                     clientInfo={"name": "c", "version": "1"}),
                                                 wrong_type("capabilities", "an object", "an array")),
    "initialize without a version of the client": (ask("initialize", protocolVersion="2025-11-25", capabilities={},
                                                       clientInfo={"name": "c"}), missing("clientInfo.version")),
}


@tests_of(FRESH)
def before_initialize(text, expected):
    hold("fresh", text, expected)


BATCHES = {
    "an empty one": (b"[]", bad("The batch is empty.", ABSENT)),
    "of a number": (b"[1]", [bad("A message must be a JSON object.", ABSENT)]),
    "of one": (b"[" + ping(b"1") + b"]", [PONG]),
    "of all kinds": (b"[" + b",".join([ping(b"1"), raw(id=1, method="nope"), raw(method="notifications/x"), b"5"]) + b"]",
                     [PONG, no_method("nope", "2025-03-26"), bad("A message must be a JSON object.", ABSENT)]),
    "of notifications": (b"[" + raw(method="notifications/x") + b"]", None),
    "of responses": (b"[" + raw(id=1, result={}) + b"]", None),
    "with initialize": (b"[" + line(hello("2025-03-26", 1)).strip() + b"]", [bad("initialize must not be sent in a batch.")]),
    "in a batch": (b"[[" + ping(b"1") + b"]]", [bad("A batch must not contain another batch.", ABSENT)]),
}


@tests_of(BATCHES)
def batches_where_there_are_such(text, expected):
    hold("2025-03-26", text, expected)


@tests_of({"of pings": (b"[" + ping(b"1") + b"]", [PONG]), **{name: BATCHES[name] for name in ("an empty one", "in a batch")}})
def batches_in_the_first_revision(text, expected):
    hold("2024-11-05", text, expected)


def stateless(method, meta=None, **params):
    return ask(method, _meta=META if meta is None else meta, **params)


def with_meta(**changes):
    return dict(META, **{V + name: value for name, value in changes.items()})


def unsupported(revision):
    return error(-32022, "BAD_REQUEST", f'The protocol revision "{revision}" is not supported.',
                 supported=[MODERN], requested=revision)


STATELESS = {
    "initialize": (stateless("initialize"), not_part("initialize", MODERN)),
    "ping": (stateless("ping"), not_part("ping", MODERN)),
    "a level": (stateless("logging/setLevel", level="info"), not_part("logging/setLevel", MODERN)),
    "subscribing": (stateless("resources/subscribe", uri="catalog://codes"), not_part("resources/subscribe", MODERN)),
    "unsubscribing": (stateless("resources/unsubscribe", uri="catalog://codes"),
                      not_part("resources/unsubscribe", MODERN)),
    "an unknown method": (stateless("nope"), no_method("nope", MODERN)),
    "no capabilities": (stateless("tools/list", {V + "protocolVersion": MODERN}),
                        invalid((f"_meta.{V}clientCapabilities", "field_required"),
                                message=f"`_meta.{V}clientCapabilities` is missing.")),
    "an array of capabilities": (stateless("tools/list", with_meta(clientCapabilities=[])),
                                 invalid((f"_meta.{V}clientCapabilities", "invalid_type"),
                                         message=f"`_meta.{V}clientCapabilities` must be of type object.")),
    "a revision that is a number": (stateless("tools/list", with_meta(protocolVersion=5)),
                                    invalid((f"_meta.{V}protocolVersion", "invalid_type"),
                                            message=f"`_meta.{V}protocolVersion` must be of type string.")),
    "a revision to come": (stateless("tools/list", with_meta(protocolVersion="2099-01-01")), unsupported("2099-01-01")),
    "a revision with sessions": (stateless("tools/list", with_meta(protocolVersion="2025-11-25")),
                                 unsupported("2025-11-25")),
    "an unknown level of logs": (stateless("tools/call", with_meta(logLevel="loud"), name="echo"),
                                 invalid((f"_meta.{V}logLevel", "pattern_mismatch"),
                                         message=f"`_meta.{V}logLevel` must be the name of a log level.")),
    "listening to nothing": (stateless("subscriptions/listen"), missing("notifications")),
    "listening with a number": (stateless("subscriptions/listen", notifications={"toolsListChanged": 1}),
                                wrong_type("notifications.toolsListChanged", "true or false", "an integer")),
    "no such resource": (stateless("resources/read", uri="no://where"), no_resource("no://where", -32602)),
    "no such tool": (stateless("tools/call", name="nope"), NO_TOOL),
    "a batch": (b"[" + stateless("tools/list") + b"]", NO_BATCH),
    "cancelled, what never was": (raw(method="notifications/cancelled", params={"_meta": META, "requestId": 1}), None),
}


@tests_of(STATELESS)
def requests_without_a_session(text, expected):
    hold("stateless", text, expected)


# ---- More than one message -----------------------------------------------------------------------------------------


@test
def an_id_that_is_in_use_is_refused_and_the_first_goes_on():
    with Server(revision="2025-11-25") as server:
        server.send(request(5, "tools/call", {"name": "count", "arguments": {"to": 3, "pause_ms": 100}}),
                    request(5, "ping"),
                    request("5", "ping"))
        check(server.receive(), bad("Another request with this id is still in progress.", 5))
        equal(server.receive(), pong("5"))
        answer = server.receive()
        equal((answer["id"], answer["result"]["structuredContent"]), (5, {"counted": 3}))


@test
def cancelled_twice_is_cancelled_once():
    with Server(revision="2025-11-25") as server:
        server.send(request(5, "tools/call", {"name": "count", "arguments": {"to": 1000, "pause_ms": 10}}))
        server.wait_for_stderr(b"counting")
        for _ in range(2):
            server.send(notification("notifications/cancelled", {"requestId": 5, "reason": "enough"}))
        equal(server.result("ping"), {})
        server.wait_for_stderr(b"cancelled at")
        expect(server.stderr().count(b"cancelled at") == 1, "the handler was told once:", server.stderr())


@test
def initialize_cannot_be_cancelled():
    with Server() as server:
        server.send(hello("2025-11-25", 1), notification("notifications/cancelled", {"requestId": 1}))
        equal(server.receive()["id"], 1)


def read_memory(server):
    status = open(f"/proc/{server.process.pid}/status").read()
    return int(next(text for text in status.splitlines() if text.startswith("VmHWM")).split()[1])


LONG = error(-32600, "CONTENT_TOO_LARGE", "A message is larger than the limit of 16777216 bytes.", ABSENT)


@test
def a_line_of_100_megabytes_is_skipped_in_bounded_memory():
    with Server(revision="2025-11-25") as server:
        before = read_memory(server)
        piece = b"x" * (1 << 20)
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"')
        for _ in range(100):
            server.send(piece)
        server.send(b'"}}\n')
        check(server.receive(), LONG)
        equal(server.result("ping"), {})
        expect(read_memory(server) - before < 80 * 1024, "KB of memory:", before, read_memory(server))


@test
def a_long_line_is_refused_before_it_ends():
    with Server(revision="2025-11-25") as server:
        server.send(b" " * (17 << 20))
        check(server.receive(), LONG)
        server.send(b"\n")
        equal(server.result("ping"), {})


@test
def a_message_just_below_the_limit_is_taken():
    with Server(revision="2025-11-25") as server:
        text = b"y" * ((16 << 20) - 200)
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"' + text
                    + b'"}}}\n')
        answer = server.receive()
        equal(len(answer["result"]["structuredContent"]["text"]), len(text), "length")
        for _ in range(3):
            equal(server.result("ping"), {})


@test
def a_message_in_pieces_is_one_message():
    with Server(revision="2025-11-25") as server:
        for byte in ping(b"1"):
            server.send(bytes([byte]))
        server.send(b"\n")
        equal(server.receive(), PONG)


@test
def half_a_message_before_the_end_is_answered():
    server = Server(revision="2025-11-25")
    server.send(ping(b"1") + b"\n" + b'{"jsonrpc":"2.0","id":2,"meth')
    equal(server.receive(), PONG)
    rest = server.close()
    equal(len(rest), 1, "answers")
    check(rest[0], not_json("unexpected end of data"))


@test
def a_last_line_without_its_end_is_a_message():
    server = Server(revision="2025-11-25")
    server.send(ping(b"1"))
    equal(server.close(), [PONG])


@test
def the_end_of_a_line_that_is_too_long_may_never_come():
    server = Server(revision="2025-11-25")
    server.send(b"z" * (17 << 20))
    rest = server.close()
    equal(len(rest), 1, "answers")
    check(rest[0], LONG)


@test
def nothing_at_all_is_no_failure():
    equal(Server().close(), [])


@test
def ten_thousand_errors_are_answered_in_order():
    with Server(revision="2025-11-25") as server:
        feeder = threading.Thread(target=lambda: [server.send(*(request(n, "nope") for n in range(at, at + 1000)))
                                                  for at in range(0, 10000, 1000)])
        feeder.start()
        for number in range(10000):
            answer = server.receive()
            equal((answer["id"], answer["error"]["code"]), (number, -32601))
        feeder.join()


@test
def a_method_with_a_long_name_is_not_repeated_in_full():
    with Server(revision="2025-11-25") as server:
        server.send(request(1, "m" * 1000000))
        answer = server.receive()
        equal(answer["error"]["code"], -32601)
        expect(len(json.dumps(answer)) < 100000, "the answer has", len(json.dumps(answer)), "bytes")


@test
def a_reader_that_left_is_no_failure():
    process = subprocess.Popen([WORKSHOP, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.close()
    try:
        for _ in range(1000):
            process.stdin.write(ping(b"1") + b"\n")
            process.stdin.flush()
            time.sleep(0.01)
    except BrokenPipeError:
        pass
    equal(process.wait(PATIENCE), 0, "exit status")
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass


@test
def without_memory_for_a_large_message_the_server_lives_on():
    if SANITIZED:
        raise Skipped("sanitizers need memory of their own")
    with Server(revision="2025-11-25") as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (64 << 20, 64 << 20))
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"'
                    + b"y" * (15 << 20) + b'"}}}\n')
        answer = server.receive()
        expect("error" in answer or answer["result"].get("isError"), "an answer without memory:", str(answer)[:300])
        equal(server.result("ping"), {})


@test
def a_second_signal_ends_it_at_once():
    server = Server(revision="2025-11-25")
    server.send(request(1, "tools/call", {"name": "sleep", "arguments": {"ms": 60000}}))
    server.wait_for_stderr(b"asleep")
    server.process.send_signal(signal.SIGSTOP)  # so that both are there before it can end in order
    for number in (signal.SIGTERM, signal.SIGINT):
        server.process.send_signal(number)
    server.process.send_signal(signal.SIGCONT)
    expect(server.process.wait(PATIENCE) in (128 + signal.SIGTERM, 128 + signal.SIGINT), "exit status",
           server.process.returncode)


@test
def every_server_of_these_tests_still_lives_and_says_nothing_more():
    for state, server in servers.items():
        equal(server.close(), [], state)


main()
