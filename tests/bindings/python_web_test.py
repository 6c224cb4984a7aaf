#!/usr/bin/env python3
"""The adapters for FastAPI, WSGI and ASGI: stock applications before and after their three lines.

    MISHAP_EXTENSION=… MISHAP_PROGRAM=… python3 tests/bindings/python_web_test.py [PART-OF-A-NAME]
"""
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import threading

from package import HERE, PATIENCE, PYTHON, Skipped, environment, equal, expect, main, python, test, tests_of

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "audit"))
from auditing import audited  # noqa: E402

APPS = os.path.join(HERE, "python_apps")
SECRETS = ("hunter22", "db7.internal", "/srv/", "Traceback", "RuntimeError", "File \"")


class Program:
    """A server, and what it says on its standard error."""

    def __init__(self, command, pattern, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=environment(**more), cwd=APPS)
        self.lines, text = [], b""
        while not re.search(pattern, text, re.M):
            line = self.process.stdout.readline()
            expect(line, "it ended:", text[-3000:])
            text += line
        self.port = int(re.search(pattern, text, re.M)[1])
        self.url = "http://127.0.0.1:%d" % self.port
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()

    def ask(self, path, method="GET", body=None, headers=None):
        """Status, header fields in lower case, and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def end(self):
        """End it: all that it said."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        return b"".join(self.lines).decode()


def needs(*modules):
    asked = subprocess.run([PYTHON, "-c", "import " + ", ".join(modules)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if asked.returncode:
        raise Skipped("one of these is not installed: " + " ".join(modules))


def uvicorn(name, **more):
    needs("uvicorn")
    # The parser that is always there: the other one, if it is installed, tells no transfer encoding in the answer to a HEAD.
    return Program([PYTHON, "-m", "uvicorn", "--http", "h11", "--app-dir", APPS, "--port", "0", "--no-access-log", name + ":app"],
                   rb"running on http://127\.0\.0\.1:(\d+)", **more)


def fastapi(**more):
    needs("fastapi", "uvicorn")
    return uvicorn("shop", **more)


def wsgi(**more):
    return Program([PYTHON, os.path.join(APPS, "plain_wsgi.py")], rb"^(\d+)\n", **more)


MADE = {}


def pair(make):
    """The application before and after, started once for all tests."""
    if make not in MADE:
        MADE[make] = make(), make(SHOP_MISHAP="1")
    return MADE[make]


def problem(answer, status, code):
    """The document of an answer, which must have the one shape."""
    equal((answer[0], answer[1].get("content-type")), (status, "application/problem+json"), answer[2])
    document = json.loads(answer[2])
    equal((document["status"], document["code"]), (status, code))
    expect({"type", "title", "detail", "category", "retryable"} <= set(document), document)
    for secret in SECRETS:
        expect(secret not in answer[2].decode(), secret, answer)
    return document


JSON = {"Content-Type": "application/json"}


@tests_of({"/users/1": ("/users/1",), "/search": ("/search?limit=3&word=ab",), "/stream": ("/stream",), "/plain": ("/plain",), "/docs": ("/docs",),
           "a redirect": ("/orders/moved",), "own": ("/orders/7",)})
def success_of_fastapi_stays_byte_equal(path):
    before, after = (program.ask(path) for program in pair(fastapi))
    for answer in (before, after):
        answer[1].pop("date")
    equal(after, before)
    expect(before[0] < 400)


@tests_of({
    "an unknown path": ("/nope", 404, "NOT_FOUND"), "HTTPException": ("/users/99", 404, "NOT_FOUND"), "a crash": ("/orders/crash", 500, "INTERNAL_ERROR"),
    "a crash in a middleware": ("/middleware", 500, "INTERNAL_ERROR"), "a text that leaks": ("/orders/leak", 400, "BAD_REQUEST"),
    "a private text": ("/orders/hidden", 503, "SERVICE_UNAVAILABLE"), "a login": ("/orders/login", 401, "UNAUTHORIZED"),
    "a page": ("/orders/page", 410, "GONE"), "own JSON that leaks": ("/orders/ownleak", 409, "CONFLICT"), "a mishap": ("/orders/mishap", 429, "RATE_LIMITED")})
def errors_of_fastapi_have_one_shape(path, status, code):
    document = problem(pair(fastapi)[1].ask(path), status, code)
    equal("instance" in document, status >= 500 or "leak" in path, document)


@test
def all_fields_are_named_by_their_paths():
    after = pair(fastapi)[1]
    body = json.dumps({"name": "", "age": "old", "addresses": [{"city": "Ulm", "zip": "89073"}, {"zip": "1"}]})
    document = problem(after.ask("/users", "POST", body, JSON), 422, "VALIDATION_ERROR")
    found = {field["field"]: field for field in document["errors"]}
    equal({name: field["error"] for name, field in found.items()},
          {"name": "invalid_length", "email": "field_required", "age": "invalid_type", "addresses[1].city": "field_required",
           "addresses[1].zip": "invalid_length"})
    equal((found["age"]["expected"], found["name"]["min"], found["addresses[1].zip"]["min"]), ("integer", 1, 5))
    document = problem(after.ask("/search?limit=1000&word=a"), 422, "VALIDATION_ERROR")
    equal([(field["field"], field["error"]) for field in document["errors"]], [("limit", "value_out_of_range"), ("word", "invalid_length")])
    equal(document["errors"][0]["max"], 100)
    document = problem(after.ask("/users/x"), 422, "VALIDATION_ERROR")
    equal(document["errors"][0]["field"], "number")


@test
def malformed_json_and_a_wrong_method_have_the_shape():
    after = pair(fastapi)[1]
    for body in ('{"name":', "\x00", "[" * 10):
        problem(after.ask("/users", "POST", body, JSON), 400, "MALFORMED_INPUT")
    problem(after.ask("/users", "POST", "", JSON), 422, "VALIDATION_ERROR")
    answer = after.ask("/users", "DELETE")
    problem(answer, 405, "METHOD_NOT_ALLOWED")
    equal(answer[1]["allow"], pair(fastapi)[0].ask("/users", "DELETE")[1]["allow"])


@test
def head_is_answered_as_get_without_a_body():
    before, after = pair(fastapi)
    for path in ("/users/1", "/search?limit=3&word=ab", "/plain", "/users/99", "/search?limit=0", "/nope", "/orders/leak", "/orders/ownleak", "/stream"):
        got, asked = after.ask(path), after.ask(path, "HEAD")
        for fields in (got[1], asked[1]):
            fields.pop("date")
            if "leak" in path:  # each has an id of its own, of the same length
                expect("content-length" in fields)
        equal((asked[0], asked[1], asked[2]), (got[0], got[1], b""), path)
    crash = after.ask("/orders/crash", "HEAD")
    equal((crash[0], crash[1]["content-type"], crash[2]), (500, "application/problem+json", b""))
    equal((after.ask("/users", "HEAD")[0], after.ask("/users", "HEAD")[1]["allow"]), (405, "POST"))
    equal((before.ask("/users/1", "DELETE")[1]["allow"], after.ask("/users/1", "DELETE")[1]["allow"]), ("GET", "GET, HEAD"))
    for program in (before, after):  # routes that answer HEAD by themselves stay as they are
        equal(program.ask("/docs", "HEAD")[0], 200)


@test
def a_stream_that_fails_on_its_way_is_cut_and_recorded():
    def is_complete(server, kind):
        try:
            answer = server.ask("/stream?fail=1&kind=" + kind)
            expect(b"piece 2" in answer[2] and b"hunter22" not in answer[2], answer)
            return True
        except http.client.IncompleteRead as failure:
            expect(b"piece 2" in failure.partial and b"hunter22" not in failure.partial, failure.partial)
        except ConnectionError:
            pass
        return False

    # Starlette 0.46 completes such a response itself, if a function of `app.middleware` is between.
    for kind in ("sync", "async", "mishap", "length"):
        expect(not is_complete(pair(fastapi)[1], kind) or is_complete(pair(fastapi)[0], kind), "it is complete:", kind)


@test
def header_fields_of_errors_stay():
    after = pair(fastapi)[1]
    equal(after.ask("/orders/hidden")[1]["x-try"], "later")
    equal(after.ask("/orders/login")[1]["www-authenticate"], "Bearer")
    equal(after.ask("/orders/mishap")[1]["retry-after"], "3")
    equal(after.ask("/orders/own")[2], b'{"fault":"own","why":"a shape of our own"}')


@test
def what_the_caller_sent_is_no_leak():
    sent = "/users/1?dsn=postgres://a:bcdefgh@h/x"
    equal(pair(fastapi)[1].ask(sent)[0], 200)


@test
def the_openapi_document_names_the_shape():
    document = json.loads(pair(fastapi)[1].ask("/openapi.json")[2])
    for operation in (document["paths"]["/users"]["post"], document["paths"]["/users/{number}"]["get"]):
        for status in ("422", "default"):
            equal(operation["responses"][status]["content"], {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}})
    expect("Problem" in document["components"]["schemas"])


@test
def debug_mode_does_not_leak():
    with contextlib.ExitStack() as stack:
        program = fastapi(SHOP_MISHAP="1", SHOP_DEBUG="1")
        stack.callback(program.end)
        problem(program.ask("/orders/crash"), 500, "INTERNAL_ERROR")
        expect("instance" in json.loads(program.ask("/orders/crash")[2]))
        # A middleware that was added after install() is outside of the adapter's own.
        expect("instance" in problem(program.ask("/middleware"), 500, "INTERNAL_ERROR"))


CALLS = """
import asyncio, json, mishap, mishap.asgi, mishap.wsgi
records = []
mishap.set_sink(records.append)

def asked(app, kind="http", query=b""):
    sent = []
    async def receive():
        return {"type": "http.request" if kind == "http" else kind + ".connect"}
    async def send(message):
        sent.append(message)
    scope = {"type": kind, "method": "GET", "path": "/", "query_string": query, "headers": [], "root_path": ""}
    try:
        asyncio.run(asyncio.wait_for(app(scope, receive, send), 30))
    except Exception as exception:
        sent.append({"type": "raised", "what": type(exception).__name__})
    return sent

def raising(exception):
    async def app(scope, receive, send):
        raise exception
    return app

def shown(*values):
    print(json.dumps([*values, records]))
"""


def shown(code):
    """What the code showed, and the records."""
    *values, records = json.loads(python(CALLS + code))
    return values, records


@test
def header_fields_of_an_answer_are_those_of_its_dialect():
    needs("fastapi")
    values, _ = shown("""
import mishap.fastapi
from fastapi import FastAPI
def fields(dialect, failure):
    app = FastAPI()
    mishap.fastapi.install(app, dialect=dialect)
    @app.get("/")
    async def fail():
        raise failure
    start, body = asked(app)
    return {name.decode(): value.decode() for name, value in start["headers"]}, len(body["body"])
shown(fields("problem", mishap.Mishap("NOT_FOUND")), fields("condition-report", mishap.Mishap("NOT_FOUND")),
      fields("problem", mishap.Mishap("RATE_LIMITED", retry_after=1.2)))
""")
    (usual, size), (report, _), (later, _) = values
    equal(usual, {"content-type": "application/problem+json", "content-length": str(size)})
    equal(report["content-type"], "text/plain; charset=utf-8")
    equal((later["content-type"], later["retry-after"]), ("application/problem+json", "2"))


@test
def nothing_follows_an_answer_that_was_replaced():
    values, records = shown("""
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/html")]})
    for _ in range(3):
        await send({"type": "http.response.body", "body": b"PRIVATE", "more_body": False})
shown([(message["type"], message.get("status")) for message in asked(mishap.asgi.Middleware(app))])
""")
    equal((values[0], records), ([["http.response.start", 404], ["http.response.body", None]], []))


@tests_of({"itself": "failure.exceptions = [failure]", "None": "failure.exceptions = None", "a number": "failure.exceptions = 7"})
def members_that_are_no_group_are_not_followed(change):
    (status, kind), records = shown("failure = RuntimeError('hunter22')\n" + change + """
start = asked(mishap.asgi.Middleware(raising(failure)))[0]
shown(start.get("status"), start["type"])
""")
    equal((status, kind, len(records)), (500, "http.response.start", 1))
    equal(records[0]["causes"][0]["message"], "hunter22")


@test
def an_exception_that_the_adapter_cannot_read_is_answered_and_recorded():
    (statuses, bodies), records = shown("""
class Odd(mishap.Mishap):
    @property
    def status(self):
        return "four hundred"
class Silent(RuntimeError):
    __cause__ = property(lambda self: 1 / 0)
    __traceback__ = property(lambda self: 1 / 0)
    def __str__(self):
        raise ValueError
made = [mishap.answer(Odd("NOT_FOUND", "hunter22")), mishap.answer(Silent("hunter22")),
        mishap.answer(mishap.Mishap("NOT_FOUND"), known=None, status="x")]
shown([one.status for one in made], [one.body.decode() for one in made])
""")
    equal((statuses, len(records)), ([500, 500, 500], 3))
    equal([record["causes"][0]["type"] for record in records], ["Odd", "Silent", "Mishap"])
    expect("TypeError" in records[0]["notes"]["adapter"] or "not supported" in records[0]["notes"]["adapter"], records[0])
    for body, record in zip(bodies, records):
        expect("hunter22" not in body and record["id"] in body and json.loads(body)["code"] == "INTERNAL_ERROR", body)
    said = python("""
import mishap
try:
    mishap.answer(KeyError(), "nope")
except ValueError as refusal:
    print(refusal)
""")
    expect("Unknown dialect 'nope'" in said, said)


@test
def records_have_all_that_was_replaced_and_the_members_of_groups():
    (sent, grouped), records = shown("""
line = 'File "/srv/shop/hunter22.py", line 7, in order'
told = mishap.answer(mishap.Mishap("CONFLICT", "No.", fields=[{"field": "a", "message": line}], reason=line, suggestion=line))
mishap.answer(mishap.Mishap("INTERNAL_ERROR"))
try:
    grouped = ExceptionGroup("two", [KeyError("first"), ExceptionGroup("inner", [OSError(n) for n in range(100)])])
except NameError:
    grouped = None
else:
    mishap.answer(grouped)
shown(told.body.decode(), grouped is not None)
""")
    expect("hunter22" not in sent and records[0]["replaced"], sent)
    for value in (records[0]["fields"][0]["message"], records[0]["reason"], records[0]["suggestion"]):
        expect("hunter22" in value, records[0])
    expect("fields" not in records[1] and "reason" not in records[1], records[1])
    if grouped:
        equal([cause["type"] for cause in records[2]["causes"][:4]], ["ExceptionGroup", "KeyError", "ExceptionGroup", "OSError"])
        equal(len(records[2]["causes"]), 20)


@test
def strict_holds_for_own_json():
    (loose, strict), records = shown("""
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 409, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b'{"why": "the file /opt/shop/orders.py is locked"}'})
def plain(environ, start_response):
    start_response("409 Conflict", [("Content-Type", "application/json")])
    return [b'{"why": "the file /opt/shop/orders.py is locked"}']
def both(strict):
    wsgi = b"".join(mishap.wsgi.Middleware(plain, strict=strict)({"REQUEST_METHOD": "GET"}, lambda *_: None))
    return [asked(mishap.asgi.Middleware(app, strict=strict))[1]["body"].decode(), wsgi.decode()]
shown(both(False), both(True))
""")
    equal(["/opt/shop" in body for body in loose], [True, True])
    equal(["/opt/shop" in body for body in strict], [False, False])
    equal(len(records), 2)


@test
def a_websocket_that_fails_is_closed_and_recorded():
    (before, after, closed, gone), records = shown("""
def failing(exception, *messages):
    async def app(scope, receive, send):
        await receive()
        for message in messages:
            await send({"type": "websocket." + message})
        raise exception
    return asked(mishap.asgi.Middleware(app), "websocket")
class WebSocketDisconnect(Exception):
    pass
shown(failing(RuntimeError("hunter22")), failing(mishap.Mishap("NOT_FOUND"), "accept"), failing(RuntimeError("late"), "accept", "close"),
      failing(WebSocketDisconnect(), "accept"))
""")
    equal(before, [{"type": "websocket.close", "code": 1011, "reason": records[0]["id"]}])
    equal(after[1:], [{"type": "websocket.close", "code": 1011, "reason": records[1]["id"]}])
    equal([message["type"] for message in closed], ["websocket.accept", "websocket.close"])
    equal(gone[1:], [{"type": "raised", "what": "WebSocketDisconnect"}])
    equal([(record["code"], len(record["causes"])) for record in records], [("INTERNAL_ERROR", 1), ("NOT_FOUND", 0), ("INTERNAL_ERROR", 1)])


@test
def failures_of_fastapi_beyond_answers_are_recorded():
    needs("fastapi")
    (sockets, status), records = shown("""
import mishap.fastapi
from fastapi import FastAPI, HTTPException, WebSocket
app = FastAPI()
mishap.fastapi.install(app)
failures = [mishap.Mishap("NOT_FOUND", "No room."), HTTPException(403, "hunter22"), RuntimeError("hunter22")]
@app.websocket("/")
async def room(socket: WebSocket):
    await socket.accept()
    raise failures.pop(0)
@app.get("/")
async def page():
    try:
        {}["price"]
    except KeyError:
        raise HTTPException(500, "no price")
shown([asked(app, "websocket")[1:] for _ in range(3)], asked(app)[0]["status"])
""")
    equal([[(message["type"], message["code"]) for message in messages] for messages in sockets], [[("websocket.close", 1011)]] * 3)
    equal(status, 500)
    equal([(record["code"], [cause["type"] for cause in record["causes"]][:2]) for record in records],
          [("NOT_FOUND", []), ("FORBIDDEN", ["HTTPException"]), ("INTERNAL_ERROR", ["RuntimeError"]), ("INTERNAL_ERROR", ["HTTPException", "KeyError"])])


@test
def a_list_of_wsgi_passes_as_it_is():
    (same, lengths), records = shown("""
from wsgiref.handlers import SimpleHandler
import io
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return body
def answered(application):
    out = io.BytesIO()
    handler = SimpleHandler(io.BytesIO(), out, io.StringIO(), {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "SERVER_PROTOCOL": "HTTP/1.0"})
    handler.http_version = "1.0"
    handler.run(application)
    return [line for line in out.getvalue().decode().splitlines() if not line.startswith("Date:")]
same, lengths = [], []
for body in ([b"hello"], (b"hello",), [b"a", b"b"]):
    before, after = answered(app), answered(mishap.wsgi.Middleware(app))
    same.append(before == after)
    lengths.append("Content-Length: 5" in after and after[-1] == "hello")
shown(same, lengths)
""")
    equal((same, lengths, records), ([True] * 3, [True, True, False], []))


@test
def a_wsgi_application_that_fails_on_its_way_is_cut_and_recorded():
    (came, raised, written), records = shown("""
def pieces(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield b"piece"
    raise RuntimeError("hunter22 late")
def writes(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])(b"piece")
    return late()
def late():
    raise RuntimeError("hunter22 written")
    yield b""
def exhausted(app):
    came, raised = [], None
    try:
        for piece in mishap.wsgi.Middleware(app)({"REQUEST_METHOD": "GET"}, lambda *_: came.append):
            came.append(piece)
    except RuntimeError as failure:
        raised = str(failure)
    return b"".join(came).decode(), raised
shown(*exhausted(pieces), exhausted(writes))
""")
    equal((came, raised, written), ("piece", "hunter22 late", ["piece", "hunter22 written"]))  # the server ends the connection
    equal([(record["code"], record["causes"][0]["message"]) for record in records], [("INTERNAL_ERROR", raised), ("INTERNAL_ERROR", written[1])])


@test
def what_the_caller_sent_is_no_leak_in_asgi_and_wsgi():
    (details,), records = shown("""
line = 'File "/srv/shop/orders.py", line 7, in order'
def wsgi(environ, start_response):
    raise mishap.Mishap("NOT_FOUND", "There is no " + line + ".")
def answered(query):
    made = mishap.answer(mishap.Mishap("NOT_FOUND", "There is no " + line + "."), known=(lambda: [line]) if query else None)
    body = b"".join(mishap.wsgi.Middleware(wsgi)({"REQUEST_METHOD": "GET", "QUERY_STRING": query}, lambda *_: None))
    return [line in json.loads(body)["detail"] for body in (made.body, body)]
from urllib.parse import quote
shown([answered(""), answered("file=" + quote(line))])
""")
    equal((details, [record["replaced"] for record in records]), ([[False, False], [True, True]], [True, True]))


@test
def own_json_with_what_the_caller_sent_stays():
    (told, sent), records = shown("""
from urllib.parse import quote
line = 'File "/srv/shop/orders.py", line 7, in order'
body = json.dumps({"why": "There is no " + line + "."}).encode()
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})
def plain(environ, start_response):
    start_response("404 Not Found", [("Content-Type", "application/json")])
    return [body]
def both(query):
    wsgi = b"".join(mishap.wsgi.Middleware(plain)({"REQUEST_METHOD": "GET", "QUERY_STRING": query}, lambda *_: None))
    return [one == body for one in (asked(mishap.asgi.Middleware(app), query=query.encode())[1]["body"], wsgi)]
shown(both("file=x"), both("file=" + quote(line)))
""")
    equal((told, sent, [record["replaced"] for record in records]), ([False, False], [True, True], [True, True]))


@test
def pieces_that_are_no_bytes_are_answered_and_recorded():
    (wsgi_status, wsgi_body, asgi_status), records = shown("""
def plain(environ, start_response):
    start_response("404 Not Found", [("Content-Type", "text/plain")])
    return ["hunter22"]
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": "hunter22"})
started = []
body = b"".join(mishap.wsgi.Middleware(plain)({"REQUEST_METHOD": "GET"}, lambda status, *_: started.append(status)))
shown(started, body.decode(), asked(mishap.asgi.Middleware(app))[0].get("status"))
""")
    equal((wsgi_status, asgi_status, len(records)), (["500 Internal Server Error"], 500, 2))
    expect("hunter22" not in wsgi_body and records[0]["id"] in wsgi_body, wsgi_body)


def score_of(url, *flags):
    results = audited(url, "--allow-writes", *flags).results
    return results["score"], results["leak"], {row["id"] for row in results["checks"] if row["outcome"] == "failed"}


@test
def the_audit_finds_fastapi_better_afterwards():
    before, after = (score_of(program.url) for program in pair(fastapi))
    print("# FastAPI: score", before[0], "before,", after[0], "after; failed before:", *sorted(before[2]), "; after:", *sorted(after[2]))
    expect(after[0] > before[0] and not after[1], before, after)
    equal((after[0], after[2]), (100, set()))


@tests_of({"wsgi": (wsgi,), "asgi": (lambda **more: uvicorn("plain_asgi", **more),)})
def plain_applications_get_the_shape(make):
    programs = [make(), make(SHOP_MISHAP="1")]
    try:
        for path in ("/", "/late", "/written") if make is wsgi else ("/",):
            before, after = (program.ask(path) for program in programs)
            for answer in (before, after):
                answer[1].pop("date")
            equal(after, before)
        after = programs[1]
        expect("instance" in problem(after.ask("/crash"), 500, "INTERNAL_ERROR"))
        problem(after.ask("/nope"), 404, "NOT_FOUND")
        expect("etag" not in after.ask("/nope")[1])
        equal(after.ask("/nope", "HEAD")[2], b"")
        if make is wsgi:
            problem(after.ask("/after"), 500, "INTERNAL_ERROR")
            equal(problem(after.ask("/mishap"), 404, "NOT_FOUND")["context"], {"pot": 7})
            answer = after.ask("/teapot")
            problem(answer, 409, "CONFLICT")
            equal(answer[1]["x-own"], "1")
        else:
            equal(problem(after.ask("/mishap"), 409, "CONFLICT")["detail"], "It is taken.")
            equal(problem(after.ask("/validation"), 422, "VALIDATION_ERROR")["errors"][0]["field"], "a[1]")
        scores = [score_of(program.url) for program in programs]
        print("# score", scores[0][0], "before,", scores[1][0], "after; failed after:", *sorted(scores[1][2]))
        expect(scores[1][0] > scores[0][0] and not scores[1][1], scores)
    finally:
        said = [program.end() for program in programs]
    record = json.loads(next(line for line in said[1].splitlines() if line.startswith("{")))
    expect(record["code"] == "INTERNAL_ERROR" and "hunter22" in record["causes"][0]["message"] and "plain_" in record["causes"][0]["traceback"], record)


@test
def tracebacks_of_fastapi_go_to_the_sink():
    before, after = MADE.pop(fastapi, (None, None)) if fastapi in MADE else pair(fastapi)
    try:
        document = json.loads(after.ask("/orders/crash")[2])
        for kind in ("sync", "async", "mishap", "length"):
            with contextlib.suppress(http.client.IncompleteRead, ConnectionError):
                after.ask("/stream?fail=1&kind=" + kind)
    finally:
        MADE.pop(fastapi, None)
        before.end()
        said = after.end()
    records = [json.loads(line) for line in said.splitlines() if line.startswith('{"id"')]
    record = next(row for row in records if "urn:uuid:" + row["id"] == document["instance"])
    expect("shop.py" in record["causes"][0]["traceback"] and record["causes"][0]["type"] == "RuntimeError", record)
    for kind in ("sync", "async", "mishap", "length"):
        expect(any(cause["message"].endswith("hunter22 " + kind) for row in records for cause in row["causes"]), "there is no record of the stream", kind)


try:
    main()
finally:  # main() ends the program, and a server that goes on would keep it
    for programs in MADE.values():
        for program in programs:
            program.end()
