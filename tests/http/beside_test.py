"""What a server over HTTP has beside its operations: documents, metrics, CORS, API keys, the access log, connections and its end.

    MISHAP_PROGRAM=… DIRECTORY_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/http/beside_test.py [PART-OF-A-NAME]

Speaks TAP. What holds for every response is in server.py; the last tests hold every failure of the run against the
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

import server
from api import ACCESS_LOG, AGE, COMPLETE, EMAIL, NAME, add_key, after_all, ask, findings, fresh, methods, refusal, the_server
from blackbox import equal, expect, main, parsed, run_program, test, tests_of
from server import MARKER, PROGRAM, UUID, Server, chunked, request, wait_for


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
    equal(difference(before, after, "mishap_errors_total", "VALIDATION_ERROR"), 7, "errors by code")
    equal(difference(before, after, "mishap_errors_total", "NOT_FOUND"), 3, "errors by code")
    equal(difference(before, after, "mishap_call_errors_total", "users.create", "VALIDATION_ERROR", "'http'"), 7, "errors by operation")
    equal(difference(before, after, "mishap_call_errors_total", "todos.get", "NOT_FOUND", "'http'"), 3, "errors by operation")
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
        id = found.ask("GET", "/health").id
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
    with Server("--workers", "1", "--chaos", "--timeout-ms", "10000", "--stop-timeout-ms", "60000") as stopped:
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


after_all()
main()
