"""The HTTP API over real sockets: the error format, the todo service, and what users expect beside it.

    MISHAP_PROGRAM=… DIRECTORY_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/http/api_test.py [PART-OF-A-NAME]

Speaks TAP. What holds for every response is in server.py; the last test holds every failure of the run against the
JSON Schema.
"""
import http.client
import json
import os
import re
import signal
import socket
import threading
import time
import urllib.parse

import server
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of
from server import DIALECTS, MARKER, PROGRAM, UUID, Server, chunked, request, wait_for


def the_server():
    return server.server("api", "--workers", "2", "--handlers", "4", "--chaos", "--body-limit", "100000",
                         "--head-timeout-ms", "120000", "--body-timeout-ms", "120000",
                         "--access-log", ACCESS_LOG, "--cors", "https://app.example,https://other.example")


ACCESS_LOG = os.path.join(server.FOLDER, "access.log")


def ask(*arguments, status=None, **more):
    found = the_server().ask(*arguments, **more)
    if status is not None:
        equal(found.status, status, "the status of %r, which" % found)
    return found


def refusal(found, status, name, message=None):
    """A failure in the API's own format: the body."""
    equal((found.status, found.json["error"], found["Content-Type"].split(";")[0]), (status, name, "application/json"))
    if message is not None:
        equal(found.json["message"], message)
    return found.json


count = 0


def fresh(word):
    """A text that nobody used before."""
    global count
    count += 1
    return "%s-%d-%d" % (word, os.getpid(), count)


def new_user(**more):
    return dict({"name": "Ada", "age": 36, "email": fresh("ada") + "@example.com"}, **more)


# ---- The error format, example by example --------------------------------------------------------

COMPLETE = {"name": "", "age": 200, "email": "invalid"}
NAME = {"field": "name", "error": "field_required"}
AGE = {"field": "age", "error": "value_out_of_range", "min": 0, "max": 150, "actual": 200}
EMAIL = {"field": "email", "error": "pattern_mismatch", "expected": ".*@.*\\..*"}


def findings(found):
    body = refusal(found, 422, "validation_error", "Validation failed")
    equal(set(body), {"error", "message", "details"})
    return body["details"]


@test
def the_complete_example_is_answered_to_the_letter():
    data = (b"POST /users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 58\r\n\r\n"
            b'{\n  "name": "",\n  "age": 200,\n  "email": "invalid"\n}      ')
    with the_server().connect() as connection:
        found = connection.send(data).response()
        expect(found.head.startswith(b"HTTP/1.1 422 Unprocessable "), found)
        equal(found["Content-Type"].split(";")[0], "application/json")
        equal(found.json, {"error": "validation_error", "message": "Validation failed", "details": [NAME, AGE, EMAIL]})
        expect(connection.is_open(), "the connection goes on")


@tests_of({
    "a field that is missing": ("/users", {"name": "Ada"}, [{"field": "email", "error": "field_required"}]),
    "a field that is empty": ("/users", {"name": "", "email": "a@b.c"}, [NAME]),
    "a field that is null": ("/users", {"name": None, "email": "a@b.c"}, [NAME]),
    "no field at all": ("/users", {}, [NAME, {"field": "email", "error": "field_required"}]),
    "a wrong type": ("/users", {"name": "Ada", "email": "a@b.c", "age": "old"},
                     [{"field": "age", "error": "invalid_type", "expected": "integer", "actual": "string"}]),
    "a real number for an integer": ("/users", {"name": "Ada", "email": "a@b.c", "age": 1.5},
                                     [{"field": "age", "error": "invalid_type", "expected": "integer", "actual": "number"}]),
    "a boolean for a string": ("/users", {"name": True, "email": "a@b.c"},
                               [{"field": "name", "error": "invalid_type", "expected": "string", "actual": "boolean"}]),
    "a number that is too large": ("/users", {"name": "Ada", "email": "a@b.c", "age": 200}, [AGE]),
    "a number that is too small": ("/users", {"name": "Ada", "email": "a@b.c", "age": -1}, [dict(AGE, actual=-1)]),
    "a pattern that does not match": ("/users", {"name": "Ada", "email": "invalid"}, [EMAIL]),
    "a text that is too long": ("/todos", {"title": "x" * 250},
                                [{"field": "title", "error": "invalid_length", "min": 1, "max": 200, "actual": 250}]),
    "characters are counted, not bytes": ("/todos", {"title": "ä" * 201},
                                          [{"field": "title", "error": "invalid_length", "min": 1, "max": 200, "actual": 201}]),
    "an empty text": ("/todos", {"title": ""}, [{"field": "title", "error": "field_required"}]),
    "the seed's own test": ("/users", {"age": 200}, [NAME, AGE, {"field": "email", "error": "field_required"}]),
})
def rules_report(target, body, details):
    equal(findings(ask("POST", target, body)), details)


@tests_of({
    "age 0": {"age": 0}, "age 150": {"age": 150}, "no age": {"age": None}, "letters beyond ASCII": {"name": "Žofie 🦊"}})
def values_at_the_bounds_are_taken(more):
    body = {key: value for key, value in new_user(**more).items() if value is not None}
    found = ask("POST", "/users", body, status=201)
    equal({key: found.json.get(key) for key in body}, body)


@test
def a_title_of_200_characters_is_taken():
    ask("POST", "/todos", {"title": "ä" * 200}, status=201)


@tests_of({
    "nothing but a brace": (b"{", 1, 2), "a comma too many": (b'{"title":"x",}', 1, 13),
    "in the third line": (b'{\n  "title": "x",\n  "done": yes\n}', 3, 11),
    "text behind it": (b'{"title":"x"} x', 1, 15), "single quotes": (b"{'title':'x'}", 1, 2),
    "a number with zeros": (b'{"a":01}', 1, None), "an open string": (b'{"title":"x', 1, None),
})
def malformed_json_is_refused_with_line_and_column(body, line, column):
    message = refusal(ask("POST", "/todos", body), 400, "bad_request")["message"]
    place = re.search(r"line (\d+)\D+column (\d+)", message)
    expect(place, "no line and column:", message)
    equal(int(place[1]), line, message)
    if column is not None:
        equal(int(place[2]), column, message)


@tests_of({
    "an array": (b"\n [1]", 2, 2, "must be a JSON object, but it is an array"),
    "a number": (b"7", 1, 1, "must be a JSON object, but it is a number"),
    "the same key twice": (b'{"title":"a",\n "title":"b"}', 2, 2, "The object has the key `title` twice"),
    "the same key twice inside": (b'{"title":"a","x":[{"y":1,"y":2}]}', 1, 26, "The object has the key `y` twice"),
    "a key that is not shown": (b'{"a\\u001b":1,"a\\u001b":2}', 1, 14, "An object has a duplicate key"),
    "NUL in a key": (b'{"ti\\u0000tle":"a"}', 1, 2, "A key contains a NUL character"),
    "half of a pair": (b'{"title":\n"a\\ud800"}', 2, 3, "half of a surrogate pair"),
    "a thousand levels": (b'{"title":' + b"[" * 1000 + b"]" * 1000 + b"}", 1, 137, "nested more than 128 levels deep"),
})
def unsound_json_is_refused_with_line_and_column(body, line, column, words):
    target = ask("POST", "/todos", {"title": "t"}, status=201)["Location"]
    for method, target in [("POST", "/todos"), ("PATCH", target), ("POST", "/todos?title=t")]:
        message = refusal(ask(method, target, body), 400, "bad_request")["message"]
        expect(message.startswith("At line %d, column %d: " % (line, column)) and words in message, method, target, message)


@tests_of({
    "an array": b"[]", "a string": b'"x"', "a number": b"1", "null": b"null", "nothing": b"", "white space": b"   ",
    "the same key twice": b'{"title":"a","title":"b"}', "NUL in a key": b'{"ti\\u0000tle":"a"}',
    "bytes that are no UTF-8": b'{"title":"\xff\xfe"}', "an overlong sequence": b'{"title":"\xc0\x80"}',
    "a thousand levels": b'{"title":' + b"[" * 1000 + b"]" * 1000 + b"}",
})
def a_body_that_is_no_good_object_is_refused(body):
    found = ask("POST", "/todos", body)
    if body == b"":
        expect(found.status in (400, 422), found)
    else:
        refusal(found, 400, "bad_request")


@tests_of({
    "text": "text/plain", "a form": "application/x-www-form-urlencoded", "XML": "application/xml", "none": None,
    "parts": "multipart/form-data; boundary=x", "nonsense": "json", "a longer name": "application/jsonx"})
def a_wrong_content_type_is_refused(media_type):
    refusal(ask("POST", "/todos", {"title": "t"}, media_type=media_type), 400, "bad_request")


@tests_of({"gzip": "gzip", "several": "gzip, br"})
def a_packed_body_is_refused_in_clear_words(coding):
    found = ask("POST", "/todos", b"\x1f\x8b\x08\x00\x00", fields={"Content-Encoding": coding})
    expect("Content-Encoding" in refusal(found, 400, "bad_request")["message"], found)


@test
def a_coding_that_packs_nothing_is_taken():
    ask("POST", "/todos", {"title": "t"}, fields={"Content-Encoding": "identity"}, status=201)


@tests_of({"in the body": ("/users", {"name": "a\0b", "email": "a@b.c"}), "in the query": ("/users?name=a%00b&email=a@b.c", None)})
def a_nul_is_a_finding_wherever_it_stands(target, body):
    equal(findings(ask("POST", target, body)), [{"field": "name", "error": "pattern_mismatch", "expected": "^[^\\x00]*$"}])


@tests_of({
    "a charset": "application/json; charset=utf-8", "capitals": "Application/JSON;Charset=UTF-8",
    "a quoted charset": 'application/json; charset="utf-8"'})
def content_types_of_json_are_taken(media_type):
    ask("POST", "/todos", {"title": "t"}, media_type=media_type, status=201)


@tests_of({"a todo": ("/todos/999999999", "Todo not found"), "a todo by a word": ("/todos/none", "Todo not found"),
           "a todo by 30 digits": ("/todos/" + "9" * 30, "Todo not found"),
           "a todo by a negative number": ("/todos/-1", "Todo not found"), "a user": ("/users/999999999", "User not found")})
def what_is_not_there_is_404(target, message):
    equal(refusal(ask("GET", target), 404, "not_found", message), {"error": "not_found", "message": message})


@tests_of({"nothing": "/nothing", "the root": "/", "a part of a path": "/todo", "more than a path": "/todos/1/2",
           "a slash behind": "/users/", "letters in capitals": "/USERS", "an empty id": "/todos/"})
def a_path_that_nobody_has_is_404(target):
    equal(set(refusal(ask("GET", target), 404, "not_found")), {"error", "message"})


@test
def a_custom_status_names_itself():
    equal(refusal(ask("GET", "/premium/report"), 402, "payment_required"),
          {"error": "payment_required", "message": "Payment required for premium feature"})


# ---- What nobody foresaw -------------------------------------------------------------------------

CRASHES = ["crash", "abort", "divide", "overflow"]
INTERNAL = {"error": "internal_server_error", "message": "Internal server error"}


def fail(how, found=None):
    if not server.CONTAINED and how in CRASHES + ["memory"]:
        raise Skipped("the sanitizer would end the process")
    marker = fresh(MARKER)
    return marker, (found or the_server()).ask("POST", "/chaos", {"how": how, "marker": marker})


@tests_of({how: how for how in CRASHES + ["memory", "undeclared", "nonsense", "error"]})
def an_unexpected_failure_is_500_and_says_nothing(how):
    marker, found = fail(how)
    equal(refusal(found, 500, "internal_server_error"), INTERNAL)
    entry = the_server().wait_for_log(found.id)
    if how in ["error", "undeclared"]:
        expect(marker in entry, "the private side without", marker, entry)
    if how in CRASHES:
        frames = re.findall(r"^ +#\d+ (.*)$", entry, re.M)
        expect(any(PROGRAM in frame or "todo_" in frame for frame in frames), "no frame of ours in the native stack:", entry)


@tests_of({how: how for how in CRASHES})
def after_a_crash_the_next_requests_are_answered(how):
    with the_server().connect() as other:
        equal(other.ask("GET", "/health").status, 200)
        fail(how)
        equal(other.ask("GET", "/health").status, 200)  # at once: its worker may be about to exit
        equal(ask("GET", "/health").status, 200)


@test
def a_crash_costs_the_process_of_its_handler_and_no_loop():
    with Server("--workers", "2", "--chaos") as found:
        before = set(found.workers())
        equal(len(before), 2, "workers")
        others = set(found.handlers())  # of services that are alone, such as the artifacts
        with found.connect() as connection:
            equal(connection.ask("POST", "/chaos", {"how": "crash"}, checked=False).status, 500)
            handlers = set(found.handlers()) - others
            equal(connection.ask("POST", "/chaos", {"how": "abort"}, checked=False).status, 500)
            expect(wait_for(lambda: not set(handlers) & set(found.handlers())), "a handler's process outlived its crash")
            equal(connection.ask("GET", "/todos/1", checked=False).status, 404, "on the same connection")
        equal(set(found.workers()), before, "the loops")


# What a handler must not say, wherever it says it (faulty.c). The secret has what JSON and addresses escape.
SECRET = "tr\u00e8s secret"
TRACES = ["Traceback", "pay.py", "KeyError"]
ESCAPED = ["tr%C3%A8s", "tr?s secret", "tr??s secret", "sec%72et", "secret"]


def faulty():
    return server.server("faulty", "--workers", "1", program=os.environ["FAULTY_PROGRAM"])


def leak(where, **more):
    return faulty().ask("POST", "/leaks", dict({"where": where}, **more), checked=False)


@tests_of({"a stack trace": ({},), "a secret": ({"password": SECRET},)})
def a_failure_tells_neither_a_stack_trace_nor_a_secret(more):
    found = leak("message", **more)
    equal(found.status, 409)
    text = found.head.decode("latin-1") + found.body.decode()
    for private in TRACES + ESCAPED + [SECRET]:
        expect(private not in text, private, "in", text)
    server.examine(found, "POST")
    if not more:
        entry = faulty().wait_for_log(found.id)
        expect("Traceback" in entry and "pay.py" in entry, "what was removed is not in the log:", entry)
    expect(SECRET.encode() not in Server.read(faulty().log), "the secret stands in the log")


TRACE = 'Traceback (most recent call last):\n  File "/srv/app/pay.py", line 3, in charge\nKeyError'


@tests_of({"a stack trace": (TRACE, {}), "a secret": (SECRET, {"password": SECRET})})
def a_successful_answer_is_the_programs_own(text, more):
    found = {where: leak(where, **more) for where in ["answer", "key", "document", "bracket", "warning", "address"]}
    equal({where: one.status for where, one in found.items() if where != "address"},
          dict.fromkeys(["answer", "key", "document", "bracket", "warning"], 200))
    equal(found["answer"].json, {"done": True, "found": text})
    equal(found["key"].json, {"done": True, text: 1})
    equal(found["document"].body.decode(), "It says " + text)
    equal(found["bracket"].body.decode(), "[info] " + text)
    expect(found["warning"]["Warning"].startswith('299 - "Mind this: '), found["warning"])
    equal((found["address"].status, urllib.parse.unquote(found["address"]["Location"])), (201, "/leaks/" + text))
    equal(leak("escaped", **more)["Location"], "/leaks/tr%C3%A8s%20sec%72et")
    log = Server.read(faulty().log).decode()
    for one in found.values():
        expect(one.id not in log, "a success stands in the log:", log)


@test
def an_address_without_a_secret_stays():
    equal(faulty().ask("POST", "/leaks", {"where": "escaped", "password": "another"})["Location"], "/leaks/tr%C3%A8s%20sec%72et")


@test
def a_bad_request_of_a_handler_is_answered_to_the_letter():
    found = faulty().ask("POST", "/refusals", {})
    equal((found.status, found.body), (400, b'{"error":"bad_request","message":"Bad request"}'))


@test
def chaos_is_off_unless_it_is_asked_for():
    with Server("--workers", "1") as calm:
        refusal(calm.ask("POST", "/chaos", {"how": "crash"}), 404, "not_found")
        expect("/chaos" not in calm.ask("GET", "/openapi.json").json["paths"], "chaos in the description")


@test
def a_way_to_fail_that_does_not_exist_is_422():
    details = findings(ask("POST", "/chaos", {"how": "slowly"}))
    equal([(item["field"], item["error"]) for item in details], [("how", "pattern_mismatch")])


# ---- Methods -------------------------------------------------------------------------------------


def methods(text):
    return {word.strip() for word in text.split(",")}


@tests_of({
    "/users": ("/users", {"GET", "HEAD", "OPTIONS", "POST"}), "/health": ("/health", {"GET", "HEAD", "OPTIONS"}),
    "/ready": ("/ready", {"GET", "HEAD", "OPTIONS"}),
    "/todos/1": ("/todos/1", {"GET", "HEAD", "OPTIONS", "DELETE"})})
def a_method_that_a_path_lacks_is_405_with_allow(target, wanted):
    found = ask("TRACE" if target == "/todos/1" else "DELETE", target)
    refusal(found, 405, "method_not_allowed")
    expect(wanted <= methods(found["Allow"]), "Allow:", found["Allow"])
    expect("TRACE" not in methods(found["Allow"]), "Allow:", found["Allow"])


@test
def every_method_that_is_allowed_is_not_405():
    for method in methods(ask("OPTIONS", "/todos/999999999")["Allow"]):
        found = ask(method, "/todos/999999999", {} if method in ("PUT", "PATCH", "POST") else None)
        expect(found.status not in (405, 501), method, found)


@tests_of({"a path": "/users", "the server": "*", "a document": "/openapi.json"})
def options_says_what_is_allowed(target):
    found = ask("OPTIONS", target)
    expect(found.status in (200, 204), found)
    expect({"GET", "OPTIONS"} <= methods(found["Allow"] or "GET, OPTIONS" * (target == "*")), found)


@test
def options_of_a_path_that_nobody_has_is_404():
    refusal(ask("OPTIONS", "/nothing"), 404, "not_found")


@tests_of({"/health": "/health", "/ready": "/ready", "/todos": "/todos", "/openapi.json": "/openapi.json", "/metrics": "/metrics",
           "404": "/todos/999999999", "402": "/premium/report", "no path": "/nothing"})
def head_is_get_without_a_body(target):
    with the_server().connect() as connection:
        get = connection.ask("GET", target)
        head = connection.ask("HEAD", target)
        equal((head.status, head["Content-Type"]), (get.status, get["Content-Type"]))
        if target not in ("/metrics", "/health", "/ready"):
            equal(head["Content-Length"], get["Content-Length"])
        expect(connection.is_open(), "a body came after HEAD")


# ---- Limits --------------------------------------------------------------------------------------


@tests_of({"by its length": 100_001, "by far": 10_000_000})
def a_body_beyond_the_limit_is_413(size):
    with the_server().connect() as connection:
        connection.send(request("POST", "/todos", b"{" + b" " * (size - 2) + b"}"))
        found = connection.response()
        refusal(found, 413, "content_too_large")
        expect(found.closes, "the connection goes on though the body was not read")
        connection.expect_closed()


@test
def a_body_at_the_limit_is_taken():
    body = b'{"title":"x"' + b" " * (100_000 - 13) + b"}"
    equal(len(body), 100_000)
    ask("POST", "/todos", body, status=201)


@test
def a_long_target_is_414_and_large_fields_are_431():
    refusal(ask("GET", "/todos?a=" + "b" * 70_000), 414, "uri_too_long")
    refusal(ask("GET", "/todos", fields={"X": "y" * 100_000}), 431, "request_header_fields_too_large")


def ask_at_once(found, *requests):
    """Responses to requests that are sent in one piece: what a caller may send in a second is sent in less."""
    with found.connect() as connection:
        connection.send(b"".join(requests))
        return [connection.response() for _ in requests]


@test
def too_many_requests_are_429_with_retry_after():
    problem = request("GET", "/todos", fields={"Accept": "application/problem+json"})
    with Server("--workers", "2", "--rate", "5") as slow:
        equal(slow.ask("GET", "/todos").status, 200)
        for _ in range(4):  # by other connections, and so by other workers
            seen = ask_at_once(slow, *[request("GET", "/todos")] * 40, *[problem] * 10)
            seen, problems = seen[:40], [found for found in seen[40:] if found.status == 429]  # each 200 ms one is answered
            expect({429} <= {found.status for found in seen} <= {200, 429}, [found.status for found in seen])
            for found in seen:
                if found.status == 429:
                    expect(refusal(found, 429, found.json["error"])["error"] in ("rate_limited", "too_many_requests"), found)
            equal({found["Content-Type"] for found in problems}, {"application/problem+json"})
        time.sleep(int(problems[-1]["Retry-After"]) + 0.2)
        equal(slow.ask("GET", "/todos").status, 200, "after the advised time the status")


@test
def who_tries_keys_is_slowed_down():
    data = os.path.join(server.FOLDER, "tried")
    os.mkdir(data)
    key = add_key(data, "known")
    with Server("--workers", "2", "--rate", "5", "--require-key", data=data) as slow:
        for target in ["/todos", "/health"]:  # where none is needed a wrong one is refused as well
            for fields in [{"X-Api-Key": "mk_" + "x" * 43}, {"Authorization": "Bearer wrong"}]:
                seen = ask_at_once(slow, *[request("GET", target, fields=fields)] * 40)
                equal({found.status for found in seen}, {401, 429}, target)
                refusal([found for found in seen if found.status == 429][-1], 429, "rate_limited")
                equal(slow.ask("GET", "/todos", fields={"X-Api-Key": key}).status, 200, "who has a key goes by its name")
                time.sleep(1.2)
        equal({found.status for found in ask_at_once(slow, *[request("GET", "/todos")] * 40)}, {401, 429}, "without a key")
        equal({slow.ask("GET", target).status for _ in range(20) for target in ("/health", "/ready")}, {200}, "where none is needed")


@test
def a_connection_too_many_is_503():
    with Server("--workers", "1", "--max-connections", "20") as small:
        held = [small.connect() for _ in range(20)]
        for connection in held:
            equal(connection.ask("GET", "/health").status, 200)
        with small.connect() as late:
            found = late.send(request("GET", "/health")).response()
            expect(refusal(found, 503, found.json["error"])["error"] in ("unavailable", "service_unavailable"), found)
            expect(found.closes, "the connection goes on")
            late.expect_closed()
        expect(all(connection.is_open() for connection in held), "the others suffer")
        held.pop().close()

        def status_when_there_is_room():
            status = small.ask("GET", "/health", checked=False).status
            return status != 503 and status
        equal(server.wait_for(status_when_there_is_room), 200, "when one has gone the status")


@test
def a_request_that_never_ends_is_408():
    with Server("--workers", "1", "--head-timeout-ms", "300", "--body-timeout-ms", "300") as hasty:
        for data in [b"GET /hea", request("POST", "/todos", {"title": "t"})[:-3]]:
            with hasty.connect() as connection:
                found = connection.send(data).response()
                refusal(found, 408, "request_timeout")
                connection.expect_closed()


@test
def a_handler_that_hangs_is_504():
    """The time is long enough for what does not hang, and shorter than it is unless told."""
    with Server("--workers", "1", "--chaos", "--timeout-ms", "3000") as hasty:
        server.in_time(lambda: refusal(hasty.ask("POST", "/chaos", {"how": "hang"}), 504, "timeout"), 2.9, 30)
        equal(hasty.ask("GET", "/todos").status, 200)


# ---- Users and todos -----------------------------------------------------------------------------


@tests_of({
    "users": ("/users", {"name": "Ada", "age": 36}, {"name": "Grace"}, "User not found"),
    "todos": ("/todos", {"title": "Buy milk"}, {"done": True}, "Todo not found")})
def records_are_created_read_changed_and_deleted(path, body, change, missing):
    if path == "/users":
        body = dict(body, email=fresh("a") + "@example.com")
    with the_server().connect() as connection:
        found = connection.ask("POST", path, body)
        equal(found.status, 201)
        record = found.json
        expect(isinstance(record["id"], str), "an id is a string:", record)
        equal({key: record[key] for key in body}, body)
        equal(found["Location"], "%s/%s" % (path, record["id"]))
        target = found["Location"]
        equal(connection.ask("GET", target).json, record)
        changed = connection.ask("PATCH", target, change)
        equal((changed.status, {key: changed.json[key] for key in record}), (200, dict(record, **change)))
        equal(connection.ask("GET", target).json, changed.json)
        deleted = connection.ask("DELETE", target)
        equal((deleted.status, deleted.body), (204, b""))
        for method in ["GET", "DELETE"]:
            refusal(connection.ask(method, target), 404, "not_found", missing)
        refusal(connection.ask("PATCH", target, change), 404, "not_found", missing)


@test
def an_address_that_is_taken_is_409():
    body = new_user()
    ask("POST", "/users", body, status=201)
    refusal(ask("POST", "/users", body), 409, "already_exists")


@test
def a_todo_of_a_user_that_is_not_there_is_refused():
    found = ask("POST", "/todos", {"title": "t", "user_id": "999999999"})
    expect(found.status in (404, 422), found)


@test
def changes_are_held_against_the_same_rules():
    target = ask("POST", "/users", new_user(), status=201)["Location"]
    equal(findings(ask("PATCH", target, {"age": 200, "email": "invalid"})), [AGE, EMAIL])


@test
def a_list_comes_in_pages():
    with Server("--workers", "2") as empty, empty.connect() as connection:
        equal(connection.ask("GET", "/todos").json["items"], [])
        titles = ["todo %d" % number for number in range(25)]
        for title in titles:
            equal(connection.ask("POST", "/todos", {"title": title}).status, 201)
        seen, target, pages = [], "/todos?limit=10", 0
        while target:
            page = connection.ask("GET", target)
            equal(page.status, 200)
            seen += [item["title"] for item in page.json["items"]]
            following, pages = page.json.get("next"), pages + 1
            expect(following is None or isinstance(following, str), "next:", following)
            target = following and "/todos?limit=10&after=" + following
            expect(pages < 10, "it does not end")
        equal((sorted(seen), pages), (sorted(titles), 3))


@tests_of({"0": "0", "-1": "-1", "much": "1000000", "a word": "many", "a fraction": "1.5", "nothing": ""})
def a_limit_that_is_none_is_422(limit):
    found = ask("GET", "/todos?limit=" + limit)
    if limit == "":
        expect(found.status in (200, 422), found)
    else:
        equal([item["field"] for item in findings(found)], ["limit"])


@test
def what_is_stored_outlives_the_server():
    with Server("--workers", "1") as first:
        target = first.ask("POST", "/todos", {"title": "last"})["Location"]
        equal(first.stop().status, 0)
        with Server("--workers", "1", data=first.data) as second:
            equal(second.ask("GET", target).json["title"], "last")


@test
def two_places_that_contradict_each_other_are_refused():
    target = ask("POST", "/users", new_user(), status=201)["Location"]
    refusal(ask("PATCH", target + "?name=Bob", b'{\n "name": "Eve"}'), 400, "bad_request",
            "At line 2, column 10: The parameter `name` has different values in the query and in the body.")


@test
def text_comes_back_as_it_was_sent():
    title = "\u00e4 \U0001f98a \" \\ / \b\f\n\r\t \u2028 </script> \x7f"
    target = ask("POST", "/todos", {"title": title}, status=201)["Location"]
    equal(ask("GET", target).json["title"], title)


# ---- Dialects ------------------------------------------------------------------------------------

SAME_FAILURES = {
    "404": ("GET", "/todos/999999999", None, 404, "NOT_FOUND"), "422": ("POST", "/users", COMPLETE, 422, "VALIDATION_ERROR"),
    "400": ("POST", "/users", b"{", 400, "BAD_REQUEST"), "402": ("GET", "/premium/report", None, 402, "PAYMENT_REQUIRED"),
    "405": ("DELETE", "/users", None, 405, "METHOD_NOT_ALLOWED"),
    "500": ("POST", "/chaos", {"how": "error", "marker": MARKER}, 500, "INTERNAL_ERROR")}


@tests_of({"%s as %s" % (status, name): (media_type, name, *row) for status, row in SAME_FAILURES.items()
           for media_type, name in DIALECTS.items()})
def a_failure_is_spelled_as_it_is_asked_for(media_type, name, method, target, body, status, code):
    found = ask(method, target, body, fields={"Accept": media_type})
    equal((found.status, found["Content-Type"].split(";")[0]), (status, media_type))
    verdict = run_program(PROGRAM, "check", "--dialect", name, stdin=found.body)
    expect(verdict.status == 0, "it does not conform:", verdict.out, found.body)
    read = run_program(PROGRAM, "translate", "--from", name, "--to", "canonical", stdin=found.body)
    canonical = parsed(read.out)
    equal(canonical["code"], code)
    if status == 422:
        equal([item["field"] for item in canonical["fields"]], ["name", "age", "email"])
    if name in ("problem", "canonical"):
        equal(canonical["incident"], found.id, "the incident")
    if name == "problem":
        equal(found.json["status"], status)
        expect(re.search("(?i)/errors/%s$" % code.replace("_", "[-_]"), found.json["type"]), "type:", found.json["type"])


@tests_of({
    "nothing": (None, "application/json"), "anything": ("*/*", "application/json"), "JSON": ("application/json", "application/json"),
    "something that nobody has": ("text/html", "application/json"), "nonsense": (";;,,q=", "application/json"),
    "a browser": ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json"),
    "problem or JSON": ("application/problem+json, application/json;q=0.5", "application/problem+json"),
    "JSON rather than problem": ("application/problem+json;q=0.1, application/json", "application/json"),
    "no problem": ("application/problem+json;q=0", "application/json"),
    "in capitals": ("Application/Problem+JSON", "application/problem+json")})
def accept_is_weighed(accept, media_type):
    found = ask("GET", "/todos/999999999", fields={"Accept": accept} if accept else {})
    equal((found.status, found["Content-Type"].split(";")[0]), (404, media_type))


@tests_of({
    "the second": (["text/html", "application/problem+json"], "application/problem+json"),
    "the first": (["application/problem+json", "text/html"], "application/problem+json"),
    "a wish of the second": (["application/problem+json;q=0.1", "application/json"], "application/json"),
    "three of them": (["text/html", "", "application/vnd.api+json;q=0.2"], "application/vnd.api+json")})
def lines_of_accept_are_one_list(lines, media_type):
    accept = "".join("Accept: %s\r\nX: y\r\n" % line for line in lines)
    with the_server().connect() as connection:
        for method in [b"GET", b"DELETE"]:  # the next request has its own
            data = b"%s /todos/999999999 HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (method, accept.encode())
            found = connection.send(data).response()
            equal((found.status, found["Content-Type"].split(";")[0]), (404, media_type))
            found = connection.send(b"GET /todos/999999999 HTTP/1.1\r\nHost: localhost\r\n\r\n").response()
            equal((found.status, found["Content-Type"].split(";")[0]), (404, "application/json"))


@tests_of({"no path": ("GET", "/nothing", None, 404), "a method": ("DELETE", "/users", None, 405),
           "a handler's": ("GET", "/todos/999999999", None, 404), "a rule": ("POST", "/users", COMPLETE, 422)})
def caches_are_told_what_a_failure_depends_on(method, target, body, status):
    with Server("--workers", "1") as plain:
        found = plain.ask(method, target, body)
        equal((found.status, found["Vary"]), (status, "Accept"))
        equal(plain.ask("GET", "/todos")["Vary"], None, "of an answer that is always the same")
    for fields in [{}, {"Origin": "https://app.example"}, {"Accept": "application/problem+json"}]:
        equal(ask(method, target, body, fields=fields, status=status)["Vary"], "Accept, Origin")
    equal(ask("GET", "/todos")["Vary"], "Origin")


@test
def the_address_of_a_problem_leads_to_a_page():
    with Server("--workers", "1", "--public-url", "https://api.example") as public:
        kind = public.ask("GET", "/todos/999999999", fields={"Accept": "application/problem+json"}).json["type"]
        expect(kind.startswith("https://api.example/errors/"), "type:", kind)
        found = public.ask("GET", kind.removeprefix("https://api.example"))
        equal(found.status, 200)
        expect(b"NOT_FOUND" in found.body and b"404" in found.body, found)


# ---- Documents -----------------------------------------------------------------------------------


@test
def every_code_has_a_page():
    with the_server().connect() as connection:
        for row in server.catalog():
            for name in (row["code"], row["spellings"]["http-api"]):
                found = connection.ask("GET", "/errors/" + name)
                expect(found.status == 200 and row["code"].encode() in found.body, name, found)
        equal(connection.ask("GET", "/errors/NO_SUCH_CODE").status, 404)
        equal(connection.ask("GET", "/errors").status, 200)


@test
def health_says_that_it_is_well():
    found = ask("GET", "/health", status=200)
    equal(found["Content-Type"].split(";")[0], "application/json")
    expect(found.json["status"] in ("ok", "healthy"), found)


@test
def the_description_has_every_operation():
    found = ask("GET", "/openapi.json", status=200)
    expect(found.json["openapi"].startswith("3.1"), found.json["openapi"])
    for path, wanted in {"/users": {"get", "post"}, "/todos": {"get", "post"}, "/todos/{id}": {"get", "delete"},
                         "/users/{id}": {"get", "delete"}, "/premium/report": {"get"}}.items():
        expect(wanted <= set(found.json["paths"][path]), path, found.json["paths"][path].keys())
    expect({"201", "400", "422", "500"} <= set(found.json["paths"]["/users"]["post"]["responses"]), "responses")


SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? '
                    r"(NaN|[+-]?Inf|[+-]?[0-9.]+(?:e[+-]?[0-9]+)?)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')


def parse_metrics(text):
    """Prometheus text, exposition format 0.0.4, strictly: {name: type}, {(name, labels): value}."""
    expect(text.endswith("\n"), "no line feed at the end")
    types, helps, samples, family = {}, set(), {}, None
    for line in text.splitlines():
        words = line.split(" ", 3)
        if line.startswith("# HELP "):
            expect(words[2] not in helps and words[3], "HELP twice or empty:", line)
            helps.add(words[2])
        elif line.startswith("# TYPE "):
            expect(words[2] not in types, "TYPE twice:", line)
            expect(words[3] in ("counter", "gauge", "histogram", "summary", "untyped"), line)
            types[words[2]], family = words[3], words[2]
        elif line and not line.startswith("#"):
            found = SAMPLE.fullmatch(line)
            expect(found, "no sample:", line)
            labels = tuple(LABEL.findall(found[2] or ""))
            expect(len(dict(labels)) == len(labels), "a label twice:", line)
            base = re.sub("_(bucket|sum|count)$", "", found[1]) if types.get(family) == "histogram" else found[1]
            equal(base, family, "the family of " + line)
            expect(family in helps, "no HELP for", family)
            key = (found[1], tuple(sorted(labels)))
            expect(key not in samples, "a sample twice:", line)
            samples[key] = float(found[3])
    check_histograms(types, samples)
    for (name, _), value in samples.items():
        expect(types.get(name) != "counter" or (name.endswith("_total") and value >= 0), "counter:", name, value)
    return types, samples


def check_histograms(types, samples):
    for name in [name for name, kind in types.items() if kind == "histogram"]:
        series = {}
        for (sample, labels), value in samples.items():
            if sample == name + "_bucket":
                rest = tuple(label for label in labels if label[0] != "le")
                series.setdefault(rest, []).append((float(dict(labels)["le"].replace("+Inf", "inf")), value))
        for rest, buckets in series.items():
            buckets.sort()
            equal(buckets[-1][0], float("inf"), "the last bucket")
            equal([value for _, value in buckets], sorted(value for _, value in buckets), "buckets add up, which")
            equal(samples[(name + "_count", rest)], buckets[-1][1], "the count")
            expect((name + "_sum", rest) in samples, "no sum for", rest)


def metrics():
    found = ask("GET", "/metrics", status=200)
    expect(found["Content-Type"].startswith("text/plain; version=0.0.4"), found["Content-Type"])
    return parse_metrics(found.body.decode())


def difference(before, after, *words):
    """By how much all counters grew whose name or labels have all these words."""
    return sum(value - before.get(key, 0) for key, value in after.items() if all(word in str(key) for word in words))


@test
def metrics_count_what_happened():
    _, before = metrics()
    for _ in range(7):
        ask("POST", "/users", COMPLETE, status=422)
    for _ in range(3):
        ask("GET", "/todos/999999999", status=404)
    types, after = metrics()
    expect("histogram" in types.values(), types)
    equal(difference(before, after, "requests_total", "'422'"), 7, "requests with 422")
    equal(difference(before, after, "requests_total", "'404'"), 3, "requests with 404")
    equal(difference(before, after, "errors_total", "VALIDATION_ERROR"), 7, "errors by code")
    equal(difference(before, after, "errors_total", "NOT_FOUND"), 3, "errors by code")
    expect(difference(before, after, "_count") >= 10, "the histogram of latencies")


@test
def labels_of_metrics_are_bounded():
    metrics()
    _, before = metrics()
    with the_server().connect() as connection:
        for number in range(300):
            connection.ask("GET", "/unknown-%d" % number)
            connection.ask("GET", "/todos/%d" % (10 ** 9 + number))
    for number in range(30):
        with the_server().connect() as connection:
            connection.send(b"M%d /todos HTTP/1.1\r\nHost: a\r\n\r\n" % number).response(checked=False)
    _, after = metrics()
    text = str(after)
    expect("unknown-" not in text and "1000000" not in text, "paths in labels")
    expect(len(after) < 2 * len(before) + 100, "from", len(before), "to", len(after), "series")


# ---- CORS ----------------------------------------------------------------------------------------


@tests_of({"the first": "https://app.example", "the second": "https://other.example"})
def a_page_of_an_allowed_origin_may_read(origin):
    for method, target in [("GET", "/health"), ("GET", "/todos/999999999"), ("DELETE", "/users")]:
        found = ask(method, target, fields={"Origin": origin})
        equal(found["Access-Control-Allow-Origin"], origin)
        expect("origin" in (found["Vary"] or "").lower(), "Vary:", found)
        expect("x-request-id" in (found["Access-Control-Expose-Headers"] or "").lower(), "exposed:", found)


@tests_of({"another": "https://evil.example", "one that begins the same": "https://app.example.evil.example",
           "another scheme": "http://app.example", "null": "null", "a part": "app.example", "none": None})
def a_page_of_another_origin_may_not(origin):
    found = ask("GET", "/health", fields={"Origin": origin} if origin else {}, status=200)
    equal(found["Access-Control-Allow-Origin"], None)


@test
def a_preflight_is_answered():
    found = ask("OPTIONS", "/users", fields={"Origin": "https://app.example", "Access-Control-Request-Method": "POST",
                                             "Access-Control-Request-Headers": "content-type, x-api-key"})
    equal((found.status, found.body), (204, b""))
    equal(found["Access-Control-Allow-Origin"], "https://app.example")
    expect("POST" in methods(found["Access-Control-Allow-Methods"]), found)
    allowed = {word.lower() for word in methods(found["Access-Control-Allow-Headers"])}
    expect({"content-type", "x-api-key"} <= allowed, found)
    foreign = ask("OPTIONS", "/users", fields={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})
    equal(foreign["Access-Control-Allow-Origin"], None)


BROWSER = {"Accept-Encoding": "gzip, deflate"}


def called_by(host, method, target, fields=()):
    """A request without a body, by another name than that of request()."""
    with the_server().connect() as connection:
        data = request(method, target, fields=fields).replace(b"Host: localhost", b"Host: " + host.encode())
        return connection.send(data).response()


@tests_of({"a foreign page": "http://evil.example", "a frame in a box": "null", "a page that looks like ours": "http://localhost.evil.example",
           "another scheme": "http://app.example", "an address": "http://192.0.2.1"})
def a_foreign_page_cannot_write(origin):
    email = fresh("lured") + "@example.com"
    for method, target in [("POST", "/users?name=x&email=" + email), ("DELETE", "/todos/999999999"), ("PATCH", "/todos/999999999")]:
        refusal(ask(method, target, fields={"Origin": origin}), 403, "forbidden")
    expect(email not in ask("GET", "/users?limit=100", fields={"Origin": origin}, status=200).body.decode(), "it was written")


@tests_of({"no page": None, "one of the list": "https://app.example", "one of this machine": "http://localhost:3000",
           "one of the server": "http://127.0.0.1:8080"})
def other_pages_can(origin):
    ask("POST", "/users?name=x&email=%s@example.com" % fresh("known"), fields={"Origin": origin} if origin else {}, status=201)


@tests_of({"a name": "evil.example", "with a port": "evil.example:8080", "one that begins like ours": "127.0.0.1.evil.example"})
def a_page_cannot_make_its_own_name_ours(host):
    for method in ["GET", "POST"]:
        refusal(called_by(host, method, "/todos", BROWSER), 403, "forbidden")
        refusal(called_by(host, method, "/todos", {"Origin": "http://" + host}), 403, "forbidden")
    equal(called_by(host, "GET", "/todos").status, 200, "who is no browser was not lured")
    for target in "/health", "/ready":
        equal(called_by(host, "GET", target, BROWSER).status, 200, "what is open to all")


@tests_of({"an address": "127.0.0.1:1", "another address": "192.0.2.1", "of IPv6": "[::1]:8080", "a word": "todo", "in capitals": "LOCALHOST"})
def a_name_that_nobody_can_point_at_us_will_do(host):
    equal(called_by(host, "GET", "/todos", BROWSER).status, 200)


@test
def a_public_url_is_a_name_of_ours():
    with Server("--workers", "1", "--public-url", "https://api.example:8443/v1") as public:
        for host, status in [("api.example", 200), ("API.example:8443", 200), ("xapi.example", 403)]:
            with public.connect() as connection:
                data = b"GET /todos HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: br, gzip\r\n\r\n" % host.encode()
                equal(connection.send(data).response().status, status, host)
        equal(public.ask("POST", "/todos", {"title": "t"}, fields={"Origin": "https://api.example:8443"}).status, 201)


@test
def with_keys_names_and_origins_do_not_matter():
    data = os.path.join(server.FOLDER, "keyed-pages")
    os.mkdir(data)
    fields = {"X-Api-Key": add_key(data, "page"), "Origin": "http://evil.example"}
    with Server("--workers", "1", "--require-key", data=data) as keyed:
        equal(keyed.ask("POST", "/todos", {"title": "t"}, fields=fields).status, 201)
    with Server("--workers", "1", data=data) as free:
        equal(free.ask("POST", "/todos", {"title": "t"}, fields=fields).status, 201, "who has a key was not lured here")
        equal(free.ask("POST", "/todos", {"title": "t"}, fields={"Origin": "http://evil.example"}).status, 403)


@tests_of({"a slash": "http://a.example/", "a path": "https://a.example/x", "capitals": "https://A.example", "no scheme": "a.example",
           "the port of the scheme": "https://a.example:443", "the second": "https://b.example,http://a.example/",
           "a star among others": "https://a.example,*", "a star inside": "https://*.example", "nothing": "https://a.example,,null"})
def what_is_no_origin_is_refused_at_the_start(origins):
    answer = run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--cors", origins, "--data", os.path.join(server.FOLDER, "nowhere"))
    expect(answer.status not in (0, 1), "exit:", answer)
    envelope = parsed(answer.out)
    expect(not envelope["ok"] and "origin" in envelope["error"]["message"] and "--cors" in json.dumps(envelope), envelope)
    expect(b"listening" not in answer.err, answer.err)


@test
def without_cors_nothing_is_said_of_it():
    with Server("--workers", "1") as plain:
        found = plain.ask("GET", "/health", fields={"Origin": "https://app.example"})
        expect(not [name for name, _ in found.fields if name.lower().startswith("access-control")], found)


# ---- API keys ------------------------------------------------------------------------------------


def add_key(data, name):
    answer = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json")
    equal(answer.status, 0, "exit of `keys add`")
    key = parsed(answer.out)["data"]["key"]
    expect(len(key) >= 20, "a short key:", key)
    server.secrets.add(key)
    return key


@test
def with_keys_nobody_else_is_answered():
    data = os.path.join(server.FOLDER, "keyed")
    os.mkdir(data)
    key = add_key(data, "ci-robot")
    with Server("--workers", "2", "--require-key", "--access-log", os.path.join(data, "access"), data=data) as keyed:
        for fields in [{"Authorization": "Bearer " + key}, {"X-Api-Key": key}, {"authorization": "bearer " + key}]:
            equal(keyed.ask("GET", "/todos", fields=fields).status, 200, fields.keys())
        for fields in [{}, {"X-Api-Key": ""}, {"X-Api-Key": key[:-1]}, {"X-Api-Key": key + "x"}, {"X-Api-Key": key.swapcase()},
                       {"Authorization": "Basic " + key}, {"Authorization": "Bearer"}, {"Authorization": "Bearer wrong"},
                       {"X-Api-Key": "x" * 5000}]:
            found = keyed.ask("GET", "/todos", fields=fields)
            expect(found.status == 401 and found.json["error"] in ("auth_required", "unauthorized"), fields.keys(), found)
            expect(found["WWW-Authenticate"].startswith("Bearer"), found)
        equal(keyed.ask("POST", "/users", COMPLETE).status, 401, "without a key nothing is checked; the status")
        equal(keyed.ask("GET", "/health").status, 200)
        text = keyed.ask("GET", "/metrics", fields={"X-Api-Key": key}).body.decode()
        expect(key not in text, "the key in the metrics")
        wrong = keyed.ask("GET", "/todos", fields={"X-Api-Key": key + "x"})
        later = keyed.ask("GET", "/todos", fields={"X-Api-Key": key})
        keyed.access = os.path.join(data, "access")
        expect("ci-robot" in json.dumps(keyed.wait_for_access(later.id)), "the caller's name is not in the access log")
        keyed.wait_for_access(wrong.id)
        ended = keyed.stop()
        equal(ended.status, 0)
        for path in [os.path.join(folder, name) for root in (keyed.folder, data)
                     for folder, _, names in os.walk(root) for name in names]:
            expect(key.encode() not in Server.read(path), "the key stands in", path)


@test
def a_key_that_is_added_or_removed_while_it_runs_counts():
    data = os.path.join(server.FOLDER, "keyed-later")
    os.mkdir(data)
    first = add_key(data, "first")
    with Server("--workers", "2", "--require-key", data=data) as keyed:
        second = add_key(data, "second")
        equal(run_program(PROGRAM, "keys", "remove", "--name", "first", "--data", data).status, 0)

        def statuses():
            return [keyed.ask("GET", "/todos", fields={"X-Api-Key": key}).status for key in [second, first] * 4]
        expect(server.wait_for(lambda: statuses() == [200, 401] * 4), "the statuses are still", statuses())


def wait_for_status(keyed, key, status):
    """The first answer with this status to a caller with this key."""
    deadline = time.monotonic() + server.PATIENCE
    while time.monotonic() < deadline:
        found = keyed.ask("GET", "/todos", fields={"X-Api-Key": key})
        if found.status == status:
            return found
        time.sleep(0.1)
    equal(found.status, status)


@test
def while_the_keys_cannot_be_read_none_is_taken():
    data = os.path.join(server.FOLDER, "keyed-broken")
    os.mkdir(data)
    key = add_key(data, "first")
    path = os.path.join(data, "keys")
    sound = Server.read(path)
    with Server("--workers", "1", "--require-key", data=data) as keyed:
        def wait_for(status):
            return wait_for_status(keyed, key, status)
        wait_for(200)
        with open(path, "ab") as file:
            file.write(b"# %s\n%s\n" % (MARKER.encode(), MARKER.encode()))
        found = wait_for(503)
        expect(found["Retry-After"], "no Retry-After:", found)
        refusal(found, 503, "unavailable", "The server cannot check API keys at the moment.")
        entry = keyed.wait_for_log(" serve")
        expect("Line 4 of the file `keys` is not a key" in entry and path in entry, entry)
        expect("suggestion: Correct the file. The server checks it once a second." in entry, entry)
        expect(MARKER not in entry, "what the line holds is in the log:", entry)
        equal(keyed.ask("GET", "/todos").status, 401)
        with open(path, "wb") as file:
            file.write(sound)
        wait_for(200)
        equal(Server.read(keyed.log).count(b"The file of API keys cannot be read"), 1, "how often it is said, which")


@test
def while_the_keys_cannot_be_read_workers_are_replaced_all_the_same():
    data = os.path.join(server.FOLDER, "keyed-replaced")
    os.mkdir(data)
    key = add_key(data, "first")
    path = os.path.join(data, "keys")
    sound = Server.read(path)
    with Server("--workers", "1", "--require-key", data=data) as keyed:
        with open(path, "wb") as file:
            file.write(b"nonsense\n")
        wait_for_status(keyed, key, 503)
        before = set(keyed.workers())
        keyed.process.send_signal(signal.SIGUSR1)
        expect(server.wait_for(lambda: not set(keyed.workers()) & before), "the worker was not replaced")
        equal(keyed.ask("GET", "/todos", fields={"X-Api-Key": key}).status, 503)
        equal(keyed.ask("GET", "/todos").status, 401)
        with open(path, "wb") as file:
            file.write(sound)
        wait_for_status(keyed, key, 200)


@test
def keys_that_cannot_be_read_are_told_at_the_start():
    data = os.path.join(server.FOLDER, "keyed-unreadable")
    os.makedirs(os.path.join(data, "keys"))
    answer = run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", data, "--workers", "1")
    envelope = parsed(answer.out)
    equal((answer.status, envelope["error"]["code"]), (66, "INPUT_UNREADABLE"))
    expect("EISDIR" in json.dumps(envelope), "no reason:", envelope)


@tests_of({"a file": ("file", "ENOTDIR"), "below a file": ("file/data", "ENOTDIR"), "where nothing can be made": ("/proc/data", "ENOENT")})
def a_data_folder_that_cannot_be_used_is_told_with_the_reason(name, reason):
    path = os.path.join(server.FOLDER, name)
    with open(os.path.join(server.FOLDER, "file"), "wb"):
        pass
    for form in ["json", "text"]:
        answer = run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", path, "--workers", "1", "--output", form)
        equal(answer.status, 78)
        text = (answer.out + answer.err).decode()
        expect(path in text and reason in text, "neither folder nor reason in", text)


@test
def beyond_loopback_it_does_not_start_without_a_key():
    data = os.path.join(server.FOLDER, "public")
    os.mkdir(data)
    for place in ["0.0.0.0:0", "[::]:0"]:
        answer = run_program(PROGRAM, "serve", "--listen", place, "--data", data, "--workers", "1")
        expect(answer.status not in (0, 1), "exit", answer)
        envelope = parsed(answer.out)
        expect(not envelope["ok"] and "key" in envelope["error"]["message"].lower(), envelope)
        expect("keys add" in json.dumps(envelope), "no way out is told:", envelope)
        expect(b"listening" not in answer.err, answer.err)
    key = add_key(data, "anybody")
    with Server("--workers", "1", data=data, listen="0.0.0.0:0") as public:
        equal(public.address[0], "127.0.0.1", "what people are told to call")
        expect(b"all other addresses of this machine" in public.read(public.stderr), public.read(public.stderr))
        equal(public.ask("GET", "/todos").status, 401)
        equal(public.ask("GET", "/todos", fields={"X-Api-Key": key}).status, 200)


# ---- The access log ------------------------------------------------------------------------------


@tests_of({"success": ("GET", "/health", 200), "failure": ("GET", "/todos/999999999?a=b", 404),
           "no path": ("DELETE", "/nothing", 404)})
def the_access_log_has_a_line(method, target, status):
    found = ask(method, target, fields={"User-Agent": 'agent "quoted" \\ '})
    the_server().access = ACCESS_LOG
    line = the_server().wait_for_access(found.id)
    values = list(line.values())
    for wanted in [method, status, found.id, "127.0.0.1"]:
        expect(wanted in values, wanted, "is not in", line)
    expect(target in values or target.partition("?")[0] in values, "the target is not in", line)


@test
def the_access_log_is_opened_again_after_it_was_moved():
    place = os.path.join(server.FOLDER, "rotated")
    with Server("--workers", "2", "--access-log", place) as rotated:
        rotated.access = place
        rotated.wait_for_access(rotated.ask("GET", "/health").id)
        os.rename(place, place + ".1")
        rotated.process.send_signal(signal.SIGHUP)

        def all_are_there():
            """One worker may know already that the file was moved, and another not yet."""
            ids = [rotated.ask("GET", "/health").id.encode() for _ in range(8)]
            time.sleep(0.5)
            return all(any(id in line for line in Server.whole_lines(place)) for id in ids)
        expect(server.wait_for(all_are_there), "what is asked now is not in the new file")


@test
def an_access_log_on_standard_error_goes_on_for_longer_than_a_command_may_take():
    with Server("--workers", "1", "--access-log", "-", "--timeout-ms", "2000") as found:
        time.sleep(2.5)
        id = found.ask("GET", "/users").id
        found.access = found.stderr
        equal(found.wait_for_access(id)["status"], 200, "the line")
        equal(found.stop().status, 0, "exit")


@test
def every_line_of_the_access_log_is_json():
    lines = Server.whole_lines(ACCESS_LOG)
    expect(len(lines) > 50, "only", len(lines), "lines")
    for line in lines:
        expect(isinstance(parsed(line), dict), line)


# ---- Ids -----------------------------------------------------------------------------------------


@test
def every_response_has_an_id_of_its_own():
    with the_server().connect() as connection:
        ids = {connection.ask("GET", target).id for target in ["/health", "/todos/999999999", "/nothing", "/premium/report"] * 10}
    equal(len(ids), 40)


@test
def an_id_that_the_caller_sends_is_not_believed():
    theirs = "12345678-1234-4234-8234-123456789abc"
    found = ask("GET", "/todos/999999999", fields={"X-Request-Id": theirs})
    expect(UUID.fullmatch(found.id), found)
    equal(ask("GET", "/health", fields={"X-Request-Id": "x' OR 1=1"}).status, 200)


# ---- Connections ---------------------------------------------------------------------------------


@test
def a_connection_serves_many_requests():
    with the_server().connect() as connection:
        for number in range(200):
            equal(connection.ask("GET", "/health").status, 200, "number %d:" % number)


@test
def a_hundred_requests_in_one_write_are_answered_in_order():
    """Some are quick, some run on threads, some are refused before that, one has a body in chunks."""
    kinds = [
        (lambda n: request("GET", "/health"), lambda n, found: found.status == 200),
        (lambda n: request("POST", "/todos", {"title": "piped %d" % n}),
         lambda n, found: found.status == 201 and found.json["title"] == "piped %d" % n),
        (lambda n: request("GET", "/errors/NOT_FOUND"), lambda n, found: found.status == 200),
        (lambda n: request("POST", "/users", {"age": 200 + n}),
         lambda n, found: found.status == 422 and found.json["details"][1]["actual"] == 200 + n),
        (lambda n: b"POST /todos HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
         chunked(b'{"title":"chunk %d"}' % n, 3) + b"0\r\n\r\n",
         lambda n, found: found.status == 201 and found.json["title"] == "chunk %d" % n),
        (lambda n: request("GET", "/todos?limit=1"), lambda n, found: found.status == 200 and "items" in found.json),
        (lambda n: request("DELETE", "/users"), lambda n, found: found.status == 405),
    ]
    with the_server().connect() as connection:
        connection.send(b"".join(kinds[n % len(kinds)][0](n) for n in range(100)))
        for n in range(100):
            found = connection.response(target="/errors" if n % len(kinds) == 2 else "/")
            expect(kinds[n % len(kinds)][1](n, found), "number", n, "is", found)
        expect(connection.is_open(), "the connection goes on")


@test
def a_thousand_requests_in_one_write_are_answered():
    with the_server().connect() as connection:
        sender = threading.Thread(target=connection.send, args=(request("POST", "/users", COMPLETE) * 1000,))
        sender.start()
        equal([connection.response().status for _ in range(1000)], [422] * 1000)
        sender.join()


@test
def a_request_that_closes_ends_the_connection():
    with the_server().connect() as connection:
        found = connection.ask("GET", "/health", fields={"Connection": "close"})
        expect(found.closes, found)
        connection.expect_closed()


@test
def http_1_0_is_answered_and_closed():
    with the_server().connect() as connection:
        equal(connection.send(b"GET /health HTTP/1.0\r\n\r\n").response().status, 200)
        connection.expect_closed()


@test
def http_1_0_may_ask_to_go_on():
    with the_server().connect() as connection:
        found = connection.send(b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").response()
        if (found["Connection"] or "").lower() != "keep-alive":
            connection.expect_closed()
            return
        expect(connection.is_open(), "the connection ended though it said keep-alive")


@test
def the_absolute_form_is_understood():
    ask("GET", the_server().url + "/health?a=b", status=200)


@tests_of({"one byte": 1, "three bytes": 3, "all": 10000})
def chunks_are_put_together(size):
    body = json.dumps({"title": "chunked title", "done": True}).encode()
    data = (b"POST /todos HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
            b"Trailer: X-Sum\r\n\r\n" + chunked(body, size, ';name="va;lue"') + b"0;last\r\nX-Sum: 1\r\n\r\n")
    with the_server().connect() as connection:
        found = connection.send_bytewise(data).response()
        equal((found.status, found.json["title"]), (201, "chunked title"))
        expect(connection.is_open(), "the connection goes on")


@test
def a_request_in_single_bytes_is_answered():
    with the_server().connect() as connection:
        equal(connection.send_bytewise(request("POST", "/users", COMPLETE)).response().status, 422)


# ---- Another program ------------------------------------------------------------------------------


@test
def the_example_of_the_readme_serves():
    file = os.path.join(server.FOLDER, "users.txt")
    with Server("--workers", "2", program=os.path.abspath(os.environ["DIRECTORY_PROGRAM"]), DIRECTORY_FILE=file) as found:
        equal(findings(found.ask("POST", "/users", COMPLETE)), [NAME, AGE, EMAIL])
        ada = {"name": "Ada", "age": 36, "email": "ada@example.com"}
        equal(found.ask("POST", "/users", ada).status, 201)
        taken = refusal(found.ask("POST", "/users", ada), 409, "already_exists")
        equal(taken["message"], "A user with this e-mail already exists.")
        equal(found.ask("GET", "/users/ada@example.com").json, ada)
        refusal(found.ask("GET", "/users/bob@example.com"), 404, "not_found", "User not found")
        equal(found.ask("GET", "/users").json, [ada])
        equal(found.stop().status, 0, "exit")


# ---- Expect: 100-continue (RFC 9110, 10.1.1) ------------------------------------------------------

CONTINUE = {"Expect": "100-continue"}


@test
def a_body_that_is_welcome_is_asked_for():
    data = request("POST", "/todos", {"title": "expected"}, CONTINUE)
    head, body = data.split(b"\r\n\r\n")
    with the_server().connect() as connection:
        equal(connection.send(head + b"\r\n\r\n").interim(), 100)
        expect(connection.is_silent(0.1), "an answer before the body")
        equal(connection.send(body).response().status, 201)
        expect(connection.is_open(), "the connection goes on")


@test
def a_body_that_comes_at_once_needs_no_100():
    with the_server().connect() as connection:
        connection.send(request("POST", "/todos", {"title": "at once"}, CONTINUE))
        head = connection.take_head()
        if head.startswith(b"HTTP/1.1 100 "):
            equal(connection.response().status, 201)
        else:
            expect(head.startswith(b"HTTP/1.1 201 "), head)


@tests_of({
    "it is too large": ("POST", "/todos", {"Content-Length": "200000"}, 413), "there is no such path": ("POST", "/nothing", {}, 404),
    "the path has no such method": ("PATCH", "/health", {}, 405),
    "another expectation": ("POST", "/todos", {"Expect": "200-ok"}, 417)})
def a_body_that_is_not_welcome_is_refused_before_it_is_sent(method, target, fields, status):
    head = request(method, target, None, dict(CONTINUE, **dict({"Content-Length": "20", "Content-Type": "application/json"}, **fields)))
    with the_server().connect() as connection:
        connection.send(head)
        if status in (404, 405) and connection.socket.recv(12, socket.MSG_PEEK).startswith(b"HTTP/1.1 100"):
            equal(connection.interim(), 100)  # allowed, if not clever
            connection.send(b"x" * 20)
        found = connection.response(method)
        equal(found.status, status)
        if found.closes:
            connection.expect_closed()


@test
def http_1_0_gets_no_100():
    body = b'{"title":"old"}'
    with the_server().connect() as connection:
        connection.send(b"POST /todos HTTP/1.0\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
                        b"Content-Length: %d\r\n\r\n" % len(body))
        expect(connection.is_silent(0.2), "100 to HTTP/1.0 (RFC 9110, 10.1.1)")
        equal(connection.send(body).response().status, 201)


# ---- Stopping ------------------------------------------------------------------------------------


def envelope_of(ended):
    expect(ended.out.count(b"\n") == 1 and ended.out.endswith(b"\n"), "stdout:", ended.out)
    return parsed(ended.out)


@tests_of({"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT})
def a_server_stops_in_order(number):
    with Server("--workers", "2") as stopped:
        with stopped.connect() as idle:
            equal(idle.ask("GET", "/health").status, 200)
            workers = stopped.workers()
            ended = stopped.stop(number)
            equal(ended.status, 0, "exit")
            equal(envelope_of(ended)["ok"], True)
            idle.expect_closed()
            equal([pid for pid, _ in server.processes() if pid in workers], [], "workers left behind")


def begin_body(connection):
    """Send a request without its last bytes; returns them as soon as the server is known to have read its head."""
    data = request("POST", "/todos", {"title": "in flight"}, CONTINUE)
    head, body = data.split(b"\r\n\r\n")
    equal(connection.send(head + b"\r\n\r\n").interim(), 100)
    connection.send(body[:-5])
    return body[-5:]


@test
def what_is_in_flight_is_finished_before_the_end():
    """A request whose body is still on its way when the server is told to stop."""
    with Server("--workers", "1", "--stop-timeout-ms", "60000") as stopped, stopped.connect() as connection:
        with stopped.connect() as idle:
            equal(idle.ask("GET", "/health").status, 200)
            rest = begin_body(connection)
            stopped.process.send_signal(signal.SIGTERM)
            idle.expect_closed()  # so it has begun to stop
        try:
            refused = socket.create_connection(stopped.address, timeout=1)
            refused.close()
        except OSError:
            pass
        found = connection.send(rest).response()
        equal((found.status, found.closes), (201, True))
        connection.expect_closed()
        equal(stopped.wait().status, 0)


@test
def a_handler_that_runs_is_finished_before_the_end():
    with Server("--workers", "1", "--chaos", "--timeout-ms", "4000", "--stop-timeout-ms", "60000") as stopped:
        with stopped.connect() as connection:
            connection.send(request("POST", "/chaos", {"how": "hang"}))
            expect(server.wait_for(lambda: stopped.running_handlers() == 1), "it does not run")
            stopped.process.send_signal(signal.SIGTERM)
            found = connection.response()
            expect(found.status in (504, 500) and found.closes, found)
            equal(stopped.wait().status, 0)


@test
def the_end_does_not_wait_longer_than_it_was_told():
    def attempt():
        with Server("--workers", "1", "--stop-timeout-ms", "500", "--body-timeout-ms", "60000") as stopped:
            with stopped.connect() as connection:
                begin_body(connection)
                begun = time.monotonic()
                equal(stopped.stop().status, 0, "exit")
                expect(time.monotonic() - begun > 0.3, "it took only", time.monotonic() - begun)
    server.in_time(attempt, 0, 10)


@test
def a_place_that_is_taken_is_told():
    taken = "127.0.0.1:%d" % the_server().address[1]
    answer = run_program(PROGRAM, "serve", "--listen", taken, "--data", os.path.join(server.FOLDER, "taken"))
    expect(answer.status not in (0, 1), "exit:", answer)
    expect(not parsed(answer.out)["ok"], answer.out)


@tests_of({"no port": "127.0.0.1", "a word": "127.0.0.1:http", "too large": "127.0.0.1:70000", "nobody": "nobody.invalid:0"})
def an_address_that_is_none_is_refused(place):
    answer = run_program(PROGRAM, "serve", "--listen", place, "--data", os.path.join(server.FOLDER, "nowhere"))
    expect(answer.status not in (0, 1), "exit:", answer)
    equal(parsed(answer.out)["ok"], False)


# ---- A client that others wrote ------------------------------------------------------------------


@test
def the_client_of_the_standard_library_understands_it():
    client = http.client.HTTPConnection(*the_server().address, timeout=server.PATIENCE)
    for _ in range(3):
        client.request("POST", "/users", json.dumps(COMPLETE), {"Content-Type": "application/json"})
        found = client.getresponse()
        equal((found.status, json.loads(found.read())["details"][0]), (422, NAME))
    client.request("POST", "/todos", iter([b'{"title":', b'"in pieces"}']), {"Content-Type": "application/json"},
                   encode_chunked=True)
    found = client.getresponse()
    equal((found.status, json.loads(found.read())["title"]), (201, "in pieces"))
    client.close()


# ---- After all -----------------------------------------------------------------------------------


@test
def the_shared_server_stops_in_order():
    found = the_server()
    ended = found.stop()
    equal(ended.status, 0, "exit")
    expect(b"Sanitizer" not in ended.err and b"runtime error" not in ended.err, ended.err.decode()[-3000:])
    expect(MARKER.encode() not in ended.out + ended.err, "private text on the terminal without --verbose")


@test
def every_failure_of_the_run_fits_the_schema():
    server.fits_the_schema()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
