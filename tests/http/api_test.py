"""The HTTP API over real sockets: the error format, the todo service, limits, methods and dialects.

    MISHAP_PROGRAM=… DIRECTORY_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/http/api_test.py [PART-OF-A-NAME]

Speaks TAP. What holds for every response is in server.py; the last tests hold every failure of the run against the
JSON Schema.
"""
import os
import re
import time
import urllib.parse

import server
from api import AGE, COMPLETE, EMAIL, NAME, add_key, after_all, ask, findings, fresh, methods, new_user, refusal, the_server
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of
from server import DIALECTS, MARKER, PROGRAM, Server, request, wait_for


# ---- The error format, example by example --------------------------------------------------------


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


# ---- Unexpected failures -------------------------------------------------------------------------

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
        with found.connect() as connection:
            for how in "crash", "abort":
                equal(connection.ask("POST", "/chaos", {"how": "error"}, checked=False).status, 500)
                handlers = set(found.handlers())  # the one of this service, and those of others, which go on
                equal(connection.ask("POST", "/chaos", {"how": how}, checked=False).status, 500)
                expect(wait_for(lambda: handlers - set(found.handlers())), "a handler's process outlived its crash")
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
        statuses = []

        def asked():
            statuses.append(hasty.ask("GET", "/todos").status)
            return statuses[-1] == 200
        expect(wait_for(asked) and set(statuses) <= {200, 503, 504}, statuses)  # on a busy machine this takes longer, too


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
    found = ask("GET", "/todos")
    equal(found["Vary"], "Accept-Encoding, Origin" if len(found.body) >= 1024 else "Origin", "of an answer that may be compressed")


@test
def the_address_of_a_problem_leads_to_a_page():
    with Server("--workers", "1", "--public-url", "https://api.example") as public:
        kind = public.ask("GET", "/todos/999999999", fields={"Accept": "application/problem+json"}).json["type"]
        expect(kind.startswith("https://api.example/errors/"), "type:", kind)
        found = public.ask("GET", kind.removeprefix("https://api.example"))
        equal(found.status, 200)
        expect(b"NOT_FOUND" in found.body and b"404" in found.body, found)


after_all()
main()
