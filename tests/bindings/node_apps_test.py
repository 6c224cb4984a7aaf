#!/usr/bin/env python3
"""Stock applications of Express 5, Fastify 5, Hono and the MCP SDK, before and after the lines that add the package `mishap`: what an audit
finds, what failures look like, and that nothing else changes.

    MISHAP_PROGRAM=… MISHAP_NODE_PACKAGE=… MISHAP_NODE_MODULES=… python3 tests/bindings/node_apps_test.py [PART-OF-A-NAME]
"""
import functools
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("audit", "mcp", "cli")]
from auditing import PATIENCE, PROGRAM, Skipped, audited, equal, expect, main, test, tests_of  # noqa: E402
from node import NODE_MODULES, node, node_22  # noqa: E402

APPS = os.path.join(HERE, "node_apps")
PACKAGE = os.environ["MISHAP_NODE_PACKAGE"]
NEEDS = {"express": ["express", "zod"], "express_before": ["express", "router-2.2", "zod"], "fastify": ["fastify"], "hono": ["hono", "@hono/node-server", "zod"], "mcp": ["@modelcontextprotocol/sdk", "zod"]}
SECRET = "hunter2hunter2"


def command(name, package):
    for needed in NEEDS[name]:
        if not os.path.isdir(os.path.join(NODE_MODULES, needed)):
            raise Skipped("the package %s is not there" % needed)
    return [node_22() if name != "mcp" else node(), os.path.join(APPS, name + ".mjs"), NODE_MODULES, *([PACKAGE] if package else [])]


class App:
    """An application that prints its port. Its standard error, where records go, is a file."""

    def __init__(self, name, package):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command(name, package), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=dict(os.environ, NODE_ENV="production"))
        line = self.process.stdout.readline()
        expect(line, "it ended:", self.said()[-1000:])
        self.port = int(line)
        self.url = "http://127.0.0.1:%d" % self.port

    def said(self):
        # A position of its own: the application writes at that of the file.
        return os.pread(self.errors.fileno(), 1 << 26, 0).decode()

    def records(self):
        return [json.loads(line) for line in self.said().splitlines() if line.startswith('{"id"')]

    def ask(self, method, path, body=None, headers=None):
        """Status, header fields (without the date) and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict({"Content-Type": "application/json"} if body is not None else {}, **headers or {}))
            response = connection.getresponse()
            return response.status, {name.lower(): value for name, value in response.getheaders() if name.lower() != "date"}, response.read()
        finally:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


@functools.cache
def app(name, package):
    """One of each, for all tests."""
    started = App(name, package)
    STARTED.append(started)
    return started


STARTED = []


def until(done, otherwise):
    limit = time.monotonic() + PATIENCE
    while not done():
        expect(time.monotonic() < limit, otherwise)
        time.sleep(0.01)


HTTP = {name: name for name in ("express", "fastify", "hono")}
ROUTED = {**HTTP, "express with router 2.2": "express_before"}


def problem(name, *request, status):
    got, headers, body = app(name, True).ask(*request)
    equal((got, headers.get("content-type")), (status, "application/problem+json"), body[:300])
    equal(headers.get("content-length"), str(len(body)))
    document = json.loads(body)
    equal({"type", "title", "status", "detail", "code", "category", "retryable"} - set(document), set(), body[:300])
    equal(document["status"], status)
    return document, headers


@tests_of(HTTP)
def the_audit_has_full_marks_after_the_lines_and_not_before(name):
    before, after = (audited(app(name, package).url, "--openapi", os.path.join(APPS, "users.json"), "--allow-writes").results for package in (False, True))
    failed = [(row["id"], row.get("findings")) for row in after["checks"] if row["outcome"] == "failed"]
    equal((failed, after["leak"], after["score"]), ([], False, 100))
    expect(before["score"] < 100, before["score"])
    print("# %s: score %d before, %d after" % (name, before["score"], after["score"]))


@tests_of(HTTP)
def success_is_equal_byte_for_byte(name):
    requests = [("GET", "/users/1"), ("HEAD", "/users/1"), ("GET", "/inner/ok"), ("PUT", "/inner/ok"), ("GET", "/users/1?x=1")]
    if name == "express":
        requests += [("OPTIONS", "/users"), ("OPTIONS", "/inner/ok")]
    for request in requests:
        equal(app(name, True).ask(*request), app(name, False).ask(*request), request)
    user = json.dumps({"name": "Bob", "email": "b@example.com", "age": 3})
    for package in (True, False):
        status, _, body = app(name, package).ask("POST", "/users", user)
        equal((status, json.loads(body)["name"]), (201, "Bob"))


@tests_of(ROUTED)
def every_field_that_is_wrong_is_named(name):
    document, _ = problem(name, "POST", "/users", '{"age":"x"}', status=422)
    equal(document["code"], "VALIDATION_ERROR")
    equal({(field["field"], field["error"]) for field in document["errors"]}, {("name", "field_required"), ("email", "field_required"), ("age", "invalid_type")})
    document, _ = problem(name, "POST", "/users", json.dumps({"name": "x" * 30, "email": "e", "age": -1}), status=422)
    equal({(field["field"], field["error"], field.get("min"), field.get("max")) for field in document["errors"]},
          {("name", "invalid_length", None, 20), ("age", "value_out_of_range", 0, None)})
    document, _ = problem(name, "GET", "/users/zero", status=422)
    equal((document["errors"][0]["field"], document["errors"][0]["error"]), ("id", "invalid_type"))
    document, _ = problem(name, "GET", "/users/0", status=422)
    equal((document["errors"][0]["field"], document["errors"][0]["error"]), ("id", "value_out_of_range"))


@tests_of(ROUTED)
def malformed_json_unknown_paths_and_methods_have_the_same_shape(name):
    document, _ = problem(name, "POST", "/users", '{"name":', status=400)
    equal((document["code"], "instance" in document), ("MALFORMED_INPUT", False))
    document, _ = problem(name, "GET", "/users/99", status=404)
    equal((document["code"], document["detail"]), ("NOT_FOUND", "There is no such user."))
    document, _ = problem(name, "GET", "/nothing?x=1", status=404)
    equal((document["code"], document["context"]), ("NOT_FOUND", {"path": "/nothing"}))
    document, headers = problem(name, "DELETE", "/users/1", status=405)
    equal((document["code"], headers["allow"]), ("METHOD_NOT_ALLOWED", "GET, HEAD"))
    document, headers = problem(name, "POST", "/inner/ok", "{}", status=405)
    equal(headers["allow"], "GET, HEAD, PUT")
    equal(app(name, True).ask("HEAD", "/nothing")[::2], (404, b""))


@tests_of(HTTP)
def what_was_thrown_is_for_the_operator_alone(name):
    for path, private in (("/orders", SECRET), ("/inner/odd", "PRIVATE text")):
        document, _ = problem(name, "GET", path, status=500)
        expect(private not in json.dumps(document) and "PRIVATE" not in json.dumps(document), document)
        equal(document["code"], "INTERNAL_ERROR")
        record = next(record for record in app(name, True).records() if "urn:uuid:" + record["id"] == document["instance"])
        expect(private in record["message"] or private in json.dumps(record["causes"]), record)
        equal((record["code"], record["status"], record["replaced"]), ("INTERNAL_ERROR", 500, False))
    record = app(name, True).records()[0]
    expect(name + ".mjs" in record["stack"] and record["time"].endswith("Z"), record)


@tests_of({name: (name, *paths) for name, *paths in (("express", "/inner/thrown"), ("fastify", "/inner/thrown"), ("hono", "/inner/thrown", "/inner/later"))})
def a_value_that_is_no_error_is_answered_and_recorded(name, *paths):
    for path in paths:
        document, _ = problem(name, "GET", path, status=500)
        expect("PRIVATE" not in json.dumps(document), document)
        record = next(record for record in app(name, True).records() if "urn:uuid:" + record["id"] == document["instance"])
        expect("PRIVATE value" in json.dumps(record), record)
        equal(app(name, True).ask("HEAD", path)[::2], (500, b""))


STREAMS = {"express": ["/inner/stream"], "fastify": ["/inner/stream", "/inner/web"], "hono": ["/inner/stream", "/inner/raw", "/inner/helper", "/inner/sse"]}


def cut(name, path):
    """What came of a response before it was cut; and what was recorded."""
    before = len(app(name, True).records())
    try:
        got = app(name, True).ask("GET", path)
        expect(False, "it is complete", got)
    except http.client.IncompleteRead as failure:
        came = failure.partial
    except (http.client.HTTPException, OSError):
        came = b""
    until(lambda: len(app(name, True).records()) > before, "there is no record")
    return came, app(name, True).records()[before:]


@tests_of({name + path: (name, path) for name, paths in STREAMS.items() for path in paths})
def a_response_that_fails_on_its_way_is_cut_and_recorded(name, path):
    for fail, said in (("1", "PRIVATE stream"), ("early", "remature")):
        came, records = cut(name, path + "?fail=" + fail)
        expect(b"piece" in came and b"PRIVATE" not in came and b"rror" not in came, came)
        equal((len(records), records[0]["code"]), (1, "INTERNAL_ERROR"), records)
        expect(said in json.dumps(records), records)


@test
def a_stream_of_hono_that_fails_with_nothing_or_at_once_is_cut_and_recorded():
    for path, begun, said in (("/inner/nothing", b"piece", "unknown error"), ("/inner/first", b"", "PRIVATE stream")):
        came, records = cut("hono", path)
        expect(begun in came and b"PRIVATE" not in came and b"rror" not in came, path, came)
        equal([record["message"] for record in records], [said], path)
    equal(app("hono", True).ask("GET", "/inner/said"), app("hono", False).ask("GET", "/inner/said"))


@test
def a_handler_that_fails_behind_the_beginning_is_cut_and_recorded():
    came, records = cut("express", "/inner/late")
    expect(b"PRIVATE" not in came, came)
    equal([record["message"] for record in records], ["PRIVATE"])


@tests_of({name + path: (name, path) for name, paths in STREAMS.items() for path in paths})
def a_stream_that_succeeds_is_equal_byte_for_byte(name, path):
    equal(app(name, True).ask("GET", path), app(name, False).ask("GET", path))


@tests_of({name + path: (name, path) for name, paths in STREAMS.items() for path in paths})
def a_caller_that_goes_away_is_no_incident(name, path):
    before = len(app(name, True).records())
    with socket.create_connection(("127.0.0.1", app(name, True).port), timeout=PATIENCE) as connection:
        connection.sendall(("GET %s?fail=never HTTP/1.1\r\nHost: x\r\n\r\n" % path).encode())
        came = b""
        while b"piece 2" not in came:
            piece = connection.recv(4096)
            expect(piece, came)
            came += piece
    # The next failure comes behind it in the records.
    problem(name, "GET", "/orders", status=500)
    equal([record["message"][:7] for record in app(name, True).records()[before:]], ["connect"])


@test
def a_hook_of_fastify_that_fails_while_a_failure_is_sent_tells_nothing():
    document, _ = problem("fastify", "GET", "/inner/unsent", status=500)
    expect("PRIVATE" not in json.dumps(document), document)
    expect(any("urn:uuid:" + record["id"] == document["instance"] and record["message"] == "PRIVATE hook" for record in app("fastify", True).records()), document)


@test
def a_long_path_of_fastify_is_answered_at_once():
    problem("fastify", "POST", "/inner/from/" + "-" * 8000 + "/x", "{}", status=404)
    _, headers = problem("fastify", "POST", "/inner/from/1-2-3", "{}", status=405)
    equal(headers["allow"], "GET, HEAD")


# ---- MCP ------------------------------------------------------------------------------------------

def talk(package, *messages):
    """The answers to these requests, by their order."""
    first = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
             "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    lines = [first, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [{"jsonrpc": "2.0", "id": i + 1, "method": method, "params": params} for i, (method, params) in enumerate(messages)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command("mcp", package), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        answers = {}
        try:
            process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
            process.stdin.flush()
            while len(answers) <= len(messages):
                line = process.stdout.readline()
                expect(line, "the server ended")
                answers[json.loads(line)["id"]] = line
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        errors.seek(0)
        records = [json.loads(line) for line in errors.read().decode().splitlines() if line.startswith('{"id"')]
    return [answers[i + 1] for i in range(len(messages))], records


def call(tool, **arguments):
    return "tools/call", {"name": tool, "arguments": arguments}


def failure(line):
    result = json.loads(line)["result"]
    expect(result["isError"] is True, result)
    return json.loads(result["content"][0]["text"]), result


def audit_mcp(package):
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([PROGRAM, "audit", "mcp", "--format", "json", "--time-limit", "60", "--", *command("mcp", package)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, HOME=home, XDG_STATE_HOME=home, MISHAP_LOG=""), timeout=PATIENCE * 2, check=False)
    return json.JSONDecoder().raw_decode(done.stdout.decode())[0]


@test
def the_audit_of_the_mcp_server_has_full_marks_after_the_lines_and_not_before():
    before, after = audit_mcp(False), audit_mcp(True)
    failed = [(row["id"], row.get("findings")) for row in after["checks"] if row["outcome"] == "failed"]
    equal((failed, after["leak"], after["score"]), ([], False, 100))
    equal((before["leak"], before["score"]), (True, 0))
    print("# mcp: score %d before, %d after" % (before["score"], after["score"]))


@test
def success_of_tools_is_equal_byte_for_byte():
    messages = [("tools/list", {}), call("count_orders", customer="a"), call("own_failure", text="It is closed on Sundays."), ("resources/list", {})]
    equal(talk(True, *messages)[0], talk(False, *messages)[0])


@test
def failures_of_tools_tell_the_model_what_to_do_and_nothing_else():
    answers, records = talk(True, call("list_orders", customer="a", limit=1), call("list_orders", customer="", limit="x"), call("nothing"),
                            call("no_fit", customer="a"), call("own_failure", text="leak"),
                            ("resources/read", {"uri": "orders://all"}), ("resources/read", {"uri": "orders://none"}))
    for answer in answers:
        expect(SECRET not in answer.decode() and "PRIVATE" not in answer.decode(), answer)
    thrown, result = failure(answers[0])
    equal((thrown["status"], thrown["message"]), ("error", "An internal error occurred."))
    incident = result["_meta"]["dev.mishap/incident"]
    expect(any(record["id"] == incident and SECRET in record["message"] and "mcp.mjs" in record["stack"] for record in records), records)
    invalid, _ = failure(answers[1])
    equal({(field["field"], field["error"]) for field in invalid["errors" if "errors" in invalid else "fields"]}, {("customer", "invalid_length"), ("limit", "invalid_type")})
    expect("nothing" in failure(answers[2])[0]["message"], answers[2])
    equal(failure(answers[3])[0]["message"], "An internal error occurred.")
    result = json.loads(answers[4])["result"]
    expect(any(record["id"] == result["_meta"]["dev.mishap/incident"] and record["replaced"] for record in records), result)
    error = json.loads(answers[5])["error"]
    equal((error["code"], error["message"]), (-32603, "An internal error occurred."))
    expect(error["data"]["incident"], error)
    equal(json.loads(answers[6])["error"]["code"], -32602)


@test
def failures_of_tools_with_documents_and_errors_with_other_numbers_are_guarded():
    answers, records = talk(True, call("own_document"), *(("prompts/get", {"name": name}) for name in ("dump", "remote", "refused")),
                            *(call(name) for name in ("constructor", "__proto__")))
    for answer in answers:
        expect(SECRET not in answer.decode() and "PRIVATE" not in answer.decode(), answer)
    result = json.loads(answers[0])["result"]
    equal((result["isError"], result["structuredContent"]["reason"][0], result["content"][1]["resource"]["uri"]), (True, "It is closed.", "orders://1"))
    ids = [result["_meta"]["dev.mishap/incident"]]
    for answer, code in zip(answers[1:4], (-32603, -32603, -32002)):
        error = json.loads(answer)["error"]
        equal(error["code"], code)
        ids.append(error["data"]["incident"])
    expect("It is refused." in json.loads(answers[3])["error"]["message"], answers[3])
    equal([next(record["replaced"] for record in records if record["id"] == one) for one in ids], [True, False, False, True])
    for answer, name in zip(answers[4:], ("constructor", "__proto__")):
        equal(failure(answer)[0]["message"], "There is no tool %s." % name)


try:
    main()
finally:
    for one in STARTED:
        one.__exit__()
