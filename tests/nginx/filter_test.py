"""The filter for nginx (src/nginx): errors leave in a dialect, success passes untouched.

    MISHAP_NGINX_MODULE=…/ngx_http_mishap_module.so python3 tests/nginx/filter_test.py [PART-OF-A-NAME]
"""
import functools
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
import zlib

from filtered import BEFORE, ENVIRONMENT, MODULE, NGINX, PRELOAD, Nginx, TREE, chunked, received, response
from blackbox import PATIENCE, Skipped, equal, expect, main, peak_of, test, tests_of

MARK = "/srv/app/secret-4711.py"  # a path: no caller may see it
DETAIL = b'{"detail":[{"loc":["body","age"],"msg":"Input should be less than or equal to 150","type":"less_than_equal","ctx":{"le":150},"input":200}]}'
FIELDS = [{"field": "age", "error": "value_out_of_range", "max": 150, "actual": 200}]

SERVER = """
    mishap on; mishap_incidents {incidents};
    location / { proxy_pass http://behind; proxy_http_version 1.1; }
    location /unbuffered/ { proxy_pass http://behind; proxy_buffering off; }
    location /problem/ { mishap_dialect problem; proxy_pass http://behind; }
    location /plain/ { mishap off; proxy_pass http://behind; }
    location /some/ { mishap_statuses 404 500-502; proxy_pass http://behind; }
    location /unrecorded/ { mishap_incidents off; proxy_pass http://behind; }
    location /dead/ { proxy_pass http://unix:{folder}/nothing; }
    location /forbidden/ { deny all; }
    location /said/ { return 409 "a conflict"; }
    location /paged/ { error_page 502 /page.html; proxy_pass http://unix:{folder}/nothing; }
    location /page.html { root {folder}; }
    location /intercepted/ { proxy_intercept_errors on; error_page 500 =503 /page.html; proxy_pass http://behind; }
    location /gzip/ { gzip on; gzip_min_length 1; gzip_types *; proxy_pass http://behind; }
    location /always/ { add_header X-Ours yes always; add_trailer X-Trailer yes always; proxy_pass http://behind; }
    location /checked/ { auth_request /said/no; proxy_pass http://behind; }
    location /said/no { internal; return 401 "/srv/app/secret-4711.py"; }
    location /files/ { root {folder}; }
    client_max_body_size 1k;
    listen unix:{folder}/h2 http2;
"""


def needed():
    if not MODULE:
        raise Skipped("the module was not built: there is no nginx-dev")
    if not NGINX:
        raise Skipped("there is no nginx")


@functools.lru_cache(None)
def nginx():
    needed()
    started = Nginx(SERVER)
    with open(os.path.join(started.folder, "page.html"), "w", encoding="utf-8") as file:
        file.write("<html><head><title>Sorry</title></head><body>%s</body></html>" % MARK)
    os.mkdir(os.path.join(started.folder, "files"))
    with open(os.path.join(started.folder, "files", "file.bin"), "wb") as file:
        file.write(random.Random(1).randbytes(300000))
    return started


def through(path, route, *fields, **more):
    nginx().upstream.routes[path] = route
    return nginx().ask(path, *fields, **more)


def told(answer, status, code):
    """A failure in http-api, without the marker."""
    equal(answer.status, status)
    expect(MARK.encode() not in answer.raw, "the marker is in", answer.raw)
    equal(answer.fields["Content-Type"], "application/json")
    equal(int(answer.fields["Content-Length"]), len(answer.body))
    found = json.loads(answer.body)
    equal(found["error"], code)
    return found


def recorded(answer):
    """The incident of an answer."""
    return nginx().incident(answer.fields["X-Request-Id"])


# ---- Errors --------------------------------------------------------------------------------------

@test
def field_errors_become_our_fields_and_the_record_has_the_original():
    answer = through("/age", response(422, DETAIL, "Content-Type: application/json"), method="POST", body=b"{}")
    equal(told(answer, 422, "validation_error")["details"], FIELDS)
    row = recorded(answer)
    equal((row["program"], row["boundary"], row["code"], row["status"]), ("nginx", "http", "VALIDATION_ERROR", 422))
    equal((row["operation"], row["request"]), ("/", "POST /age"))
    equal(row["noted"]["upstream_body"], json.loads(DETAIL))
    equal(row["noted"]["upstream_shape"], "fastapi")


TRACE = ("Traceback (most recent call last):\n  File \"%s\", line 7, in load\nKeyError: 'x'\n" % MARK).encode()
KINDS = {
    "json": (500, json.dumps({"message": "failed at " + MARK}).encode(), "application/json"),
    "text": (500, TRACE, "text/plain"),
    "html": (502, b"<html><body><pre>" + TRACE + b"</pre></body></html>", "text/html"),
    "no_type": (503, TRACE, None),
    "a_message": (400, json.dumps({"error": "cannot open " + MARK}).encode(), "application/json"),
    "a_field": (422, json.dumps({"detail": [{"loc": ["body", "a"], "msg": MARK, "type": "x"}]}).encode(), "application/json"),
    "binary": (500, MARK.encode() + bytes(range(256)), "application/octet-stream"),
    "empty": (500, b"", "text/plain"),
    "deep": (400, b'{"a":' * 5000 + b"1" + b"}" * 5000, "application/json"),
    "strange_status": (599, MARK.encode(), "text/plain"),
    "teapot": (418, TRACE, "text/plain"),
}


@tests_of(KINDS)
def the_private_text_stays_with_the_operator(status, body, kind):
    answer = through("/kind", response(status, body, *(["Content-Type: " + kind] if kind else []), "X-Debug-Exception: " + MARK,
                                     "X-Where: " + MARK, reason="At " + MARK))
    found = json.loads(answer.body)
    told(answer, status, found["error"])
    line = recorded(answer)
    expect(MARK in line["noted"]["upstream_fields"], "the fields are not in", line)
    if MARK.encode() in body:
        expect(MARK in json.dumps(line), "the marker is not in", line)


@test
def a_status_that_the_catalog_does_not_know_stays_also_in_a_problem():
    answer = through("/problem/teapot", response(418, b"I am a teapot", "Content-Type: text/plain"))
    equal((answer.status, json.loads(answer.body)["status"]), (418, 418))


@test
def accept_chooses_the_dialect_and_the_directive_is_the_usual_one():
    route = response(404, b"Not Found", "Content-Type: text/plain")
    for path, accept, kind in [("/a", None, "application/json"), ("/a", "application/problem+json", "application/problem+json"),
                               ("/problem/a", None, "application/problem+json"), ("/problem/a", "text/html", "application/problem+json"),
                               ("/problem/a", "application/vnd.api+json", "application/vnd.api+json")]:
        answer = through(path, route, *(["Accept: " + accept] if accept else []))
        equal((answer.status, answer.fields["Content-Type"]), (404, kind))
        expect("Accept" in answer.fields.get_all("Vary"), "Vary is", answer.fields.get_all("Vary"))


@test
def fields_that_clients_act_on_stay_and_those_of_the_old_body_go():
    stay = {"Retry-After": "7", "WWW-Authenticate": 'Bearer realm="x"', "Allow": "GET, PUT", "Access-Control-Allow-Origin": "https://example.com",
            "Access-Control-Expose-Headers": "X-A", "Cache-Control": "no-store", "RateLimit-Remaining": "0", "X-Own": "kept"}
    go = {"ETag": '"1"', "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT", "Accept-Ranges": "bytes", "Content-Language": "en", "Content-MD5": "x",
          "Content-Disposition": "attachment", "X-Powered-By": "Express", "Content-Range": "bytes 0-1/2"}
    answer = through("/fields", response(429, b"{}", *("%s: %s" % pair for pair in {**stay, **go}.items()), "Set-Cookie: a=1", "Set-Cookie: b=2"))
    found = told(answer, 429, "too_many_requests")
    expect("retry" in json.dumps(found) or answer.fields["Retry-After"] == "7", found)
    for name, value in stay.items():
        equal(answer.fields[name], value, name)
    equal(answer.fields.get_all("Set-Cookie"), ["a=1", "b=2"])
    for name in go:
        equal(answer.fields[name], None, name)


@test
def pages_of_nginx_itself_are_told():
    told(nginx().ask("/dead/x"), 502, "bad_gateway")
    told(nginx().ask("/forbidden/x"), 403, "forbidden")
    told(nginx().ask("/files/none"), 404, "not_found")
    told(nginx().ask("/said/x"), 409, "conflict")
    told(nginx().ask("/age", method="POST", body=b"x" * 5000), 413, "content_too_large")
    told(nginx().ask("/paged/x"), 502, "bad_gateway")
    told(nginx().ask("/checked/x"), 401, "unauthorized")
    told(through("/intercepted/x", response(500, TRACE)), 503, "service_unavailable")
    answer = nginx().raw(b"GET /%\x00 HTTP/1.1\r\nHost: x\r\n\r\n")
    expect(answer.startswith(b"HTTP/1.1 400 ") and b'"error":"bad_request"' in answer, answer)


@test
def a_head_has_no_body_and_no_length():
    answer = through("/head", response(404, b"", "Content-Type: text/html", "ETag: x", length=77), method="HEAD")
    equal((answer.status, answer.fields["Content-Type"], answer.fields["Content-Length"], answer.fields["ETag"]), (404, "application/json", None, None))
    equal(recorded(answer)["status"], 404)
    expect(answer.raw.endswith(b"\r\n\r\n"), answer.raw)


@test
def a_location_can_be_left_out_or_keep_some_statuses():
    for path in ("/plain/a", "/some/a"):
        answer = through(path, response(422, DETAIL, "ETag: x"))
        equal((answer.body, answer.reason, answer.fields["ETag"]), (DETAIL, "Reason", "x"))
    told(through("/some/b", response(404, b"x")), 404, "not_found")
    told(through("/some/c", response(501, b"x")), 501, "not_implemented")


@test
def without_a_log_no_incident_is_named():
    lines = len(nginx().incidents())
    answer = through("/unrecorded/a", response(500, TRACE, "X-Request-Id: 7"))
    expect("incident" not in json.dumps(told(answer, 500, "internal_server_error")), answer)
    equal(answer.fields.get_all("X-Request-Id"), ["7"])
    equal(len(nginx().incidents()), lines)


@test
def filters_behind_it_see_the_answer():
    answer = through("/gzip/a", response(404, DETAIL), "Accept-Encoding: gzip")  # nginx compresses no other errors than 403 and 404
    equal(answer.fields["Content-Encoding"], "gzip")
    equal(json.loads(gzip.decompress(answer.body))["error"], "not_found")
    answer = through("/always/a", response(500, TRACE))
    equal((answer.fields["X-Ours"], json.loads(answer.body)["error"]), ("yes", "internal_server_error"))
    expect(answer.raw.endswith(b"\r\nX-Trailer: yes\r\n\r\n"), answer.raw)


@test
def an_incident_of_the_program_behind_keeps_its_id():
    identity = "0199a3c4-5d6e-7f80-91a2-b3c4d5e6f708"
    body = json.dumps({"error": "service_unavailable", "message": "Service unavailable", "incident": identity}).encode()
    answer = through("/ours", response(503, body, "Content-Type: application/json", "X-Request-Id: " + identity))
    found = told(answer, 503, "service_unavailable")
    if "incident" in found:
        equal(recorded(answer)["id"], found["incident"])


# ---- Bodies that are not as they should be ---------------------------------------------------------

def endless(connection, _head):
    connection.sendall(response(500, b"", length=False))
    while True:
        connection.sendall(TRACE * 100)


def slow(connection, _head):
    connection.sendall(response(500, TRACE, length=1000))
    connection.recv(1)  # until nginx closes it


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@tests_of({"gzip": ("gzip", gzip.compress(DETAIL)), "deflate": ("deflate", zlib.compress(DETAIL)), "deflate without a head": ("deflate", raw_deflate(DETAIL))})
def a_compressed_error_is_read(name, body):
    answer = through("/compressed", response(422, body, "Content-Encoding: " + name))
    equal((told(answer, 422, "validation_error")["details"], answer.fields["Content-Encoding"]), (FIELDS, None))


HOSTILE = {
    "unknown_coding": response(422, b"\x1b\x05" + TRACE, "Content-Encoding: br"),
    "damaged_gzip": response(500, gzip.compress(TRACE)[:-9] + b"xxxxxxxxx", "Content-Encoding: gzip"),
    "no_gzip": response(500, TRACE, "Content-Encoding: gzip"),
    "bomb": response(500, gzip.compress(bytes(50_000_000)), "Content-Encoding: gzip"),
    "three_megabytes": response(500, TRACE * (3_000_000 // len(TRACE))),
    "three_megabytes_chunked": chunked(500, [TRACE * 100] * 300),
    "cut_short": response(500, TRACE, length=100000),
    "cut_in_a_chunk": chunked(500, [TRACE], end=False),
    "longer_than_it_says": response(500, TRACE + TRACE, length=len(TRACE)),
    "without_a_length": response(500, TRACE, length=False),
    "endless": endless,
    "slow": slow,
}


@tests_of({name + (" unbuffered" if len(place) > 1 else ""): (name, place) for name in HOSTILE for place in ("/", "/unbuffered/") if name + place != "slow/unbuffered/"})
def a_hostile_error_is_answered_with_little_memory(name, place):
    answer = through(place + name, HOSTILE[name])
    told(answer, answer.status, "internal_server_error" if answer.status == 500 else json.loads(answer.body)["error"])
    expect(len(json.dumps(recorded(answer))) < 200_000, "a record is too long")
    expect(peak_of(nginx().process.pid) < 64 << 10 or BEFORE or PRELOAD, "KB of memory:", peak_of(nginx().process.pid))


@tests_of({"no HTTP": b"Traceback: password=hunter2-4711\r\n", "another version": b"HTTP/2 500 x\r\n\r\nhunter2-4711",
           "an odd status": b"HTTP/1.1 099 Odd\r\nContent-Length: 12\r\n\r\nhunter2-4711",
           "an interim response": b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 500 x\r\n\r\nhunter2-4711"})
def what_is_no_response_is_a_bad_gateway(sent):
    answer = through("/none", sent)
    told(answer, 502, "bad_gateway")
    expect(b"hunter2" not in answer.raw, answer.raw)
    recorded(answer)


@test
def a_limit_or_a_deadline_leaves_the_connection_usable():
    nginx().upstream.routes["/long"] = HOSTILE["three_megabytes"]
    nginx().upstream.routes["/good"] = response(200, b"good")
    with nginx().connect() as connection:
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n" + b"GET /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        first, _, second = received(connection).raw.partition(b"HTTP/1.1 200")
    expect(b"internal_server_error" in first and second.endswith(b"good"), first, second)


@test
def a_broken_chunk_is_visibly_cut_and_recorded():
    nginx().upstream.routes["/broken"] = chunked(500, [TRACE], end=False) + b"zz\r\n"
    lines = len(nginx().incidents())
    answer = nginx().raw(b"GET /broken HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    expect(MARK.encode() not in answer, answer)
    new = nginx().incidents()[lines:]
    expect(len(new) == 1 and new[0]["noted"]["upstream_end"] == "lost", "recorded:", new)


def ask_http2(*words):
    if not shutil.which("curl"):
        raise Skipped("there is no curl")
    done = subprocess.run(["curl", "-sS", "-i", "--http2-prior-knowledge", "--unix-socket", os.path.join(nginx().folder, "h2"), *words],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode in (1, 2):
        raise Skipped("curl has no HTTP/2")
    equal(done.returncode, 0, done.stderr)
    return done.stdout


@test
def http2_is_the_same():
    nginx().upstream.routes.update({"/two": response(422, DETAIL), "/endless": endless, "/cut": HOSTILE["cut_short"]})
    expect('"value_out_of_range"' in ask_http2("http://x/two"), "no fields")
    for path in ("/endless", "/cut"):
        answer = ask_http2("http://x" + path)
        expect(answer.startswith("HTTP/2 500") and answer.endswith("}") and MARK not in answer, answer)
    expect("content-length" not in ask_http2("-I", "http://x/two"), "a length without a body")


# ---- Success -------------------------------------------------------------------------------------

@test
def a_thousand_successes_are_equal_byte_for_byte():
    chance, bodies = random.Random(27), {}
    nginx()
    for i in range(1000):
        size = 10_000_000 if i == 500 else chance.choice([0, 1, 100, 5000, 20000])
        body = chance.randbytes(size)
        if i % 3 == 0 and size:
            at = size // 2
            route = chunked(200, [piece for piece in (body[:at], body[at:]) if piece], "ETag: x", "X-Debug-Exception: " + MARK)
        else:
            route = response(chance.choice([200, 201, 203, 299]), body, "ETag: x", "Content-Encoding: br")
        nginx().upstream.routes["/%d" % i] = route
        bodies[i] = (hashlib.sha256(body).hexdigest(), int(route.split(b" ", 2)[1]))
    for i, (digest, status) in bodies.items():
        answer = nginx().ask("/%d" % i)
        equal((hashlib.sha256(answer.body).hexdigest(), answer.status, answer.fields["ETag"]), (digest, status, "x"), str(i))
        del nginx().upstream.routes["/%d" % i]


@test
def heads_ranges_redirects_and_conditions_pass():
    with open(os.path.join(nginx().folder, "files", "file.bin"), "rb") as file:
        content = file.read()
    whole = nginx().ask("/files/file.bin")
    equal(whole.body, content)
    part = nginx().ask("/files/file.bin", "Range: bytes=100-199")
    equal((part.status, part.body), (206, content[100:200]))
    equal(nginx().ask("/files/file.bin", "If-None-Match: " + whole.fields["ETag"]).status, 304)
    head = nginx().ask("/files/file.bin", method="HEAD")
    equal((head.status, head.fields["Content-Length"]), (200, str(len(content))))
    beyond = nginx().ask("/files/file.bin", "Range: bytes=900000-")
    expect(beyond.status == 416, beyond)
    moved = through("/moved", response(302, b"gone", "Location: /b"))
    equal((moved.status, moved.body, moved.reason), (302, b"gone", "Reason"))


@test
def events_pass_one_by_one():
    passed = []

    def events(connection, _head):
        connection.sendall(response(200, b"", "Content-Type: text/event-stream", length=False))
        for i in range(3):
            connection.sendall(b"data: %d\n\n" % i)
            passed.append(i)
            while len(passed) == i + 1:  # until the client has it
                time.sleep(0.005)
            passed.pop()

    nginx().upstream.routes["/unbuffered/events"] = events
    with nginx().connect() as connection:
        connection.sendall(b"GET /unbuffered/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        seen = b""
        for i in range(3):
            while b"data: %d\n\n" % i not in seen:
                piece = connection.recv(65536)
                expect(piece, "the stream ended after", seen)
                seen += piece
            passed.append("read")


@test
def a_success_that_breaks_off_is_cut_and_not_told():
    nginx().upstream.routes["/half"] = response(200, b"half of it", length=100)
    raw = nginx().raw(b"GET /half HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    expect(b"Content-Length: 100\r\n" in raw and raw.endswith(b"half of it"), raw)


@test
def a_client_may_ask_to_continue():
    nginx().upstream.routes["/continue"] = response(422, DETAIL)
    with nginx().connect() as connection:
        connection.sendall(b"POST /continue HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n")
        first = connection.recv(65536)
        expect(first.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"), first)
        connection.sendall(b"{}")
        equal(told(received(connection), 422, "validation_error")["details"], FIELDS)


# ---- The operator --------------------------------------------------------------------------------

@test
def the_log_is_for_its_owner():
    equal(oct(os.stat(nginx().incidents_path).st_mode & 0o777), "0o600")


@test
def the_log_is_opened_again():
    moved = nginx().incidents_path + ".1"
    os.rename(nginx().incidents_path, moved)
    nginx().process.send_signal(signal.SIGUSR1)
    deadline = time.monotonic() + PATIENCE
    while not os.path.exists(nginx().incidents_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    recorded(through("/again", response(500, TRACE)))
    with open(moved, "rb") as old, open(nginx().incidents_path, "rb") as new:
        rest, both = new.read(), old.read()
    with open(nginx().incidents_path, "wb") as file:
        file.write(both + rest)


MISTAKES = {"mishap_dialect problm;": "no dialect is named \"problm\"; there are: ", "mishap_statuses 200;": "\"200\" is no status of an error",
            "mishap_statuses 500-400;": "is no status of an error", "mishap maybe;": "invalid value \"maybe\"",
            "mishap_dialect problem; mishap_dialect problem;": "is duplicate", "mishap_incidents /nowhere/at/all;": "/nowhere/at/all"}


@tests_of({line: (line, said) for line, said in MISTAKES.items()})
def a_mistake_is_said(line, said):
    needed()
    configuration = nginx().configuration + ".wrong"
    with open(configuration, "w", encoding="utf-8") as file:
        file.write("load_module %s; events {} http { server { %s } }" % (MODULE, line))
    done = subprocess.run([NGINX, "-t", "-p", nginx().folder, "-c", configuration, "-e", "stderr"], capture_output=True, text=True, timeout=PATIENCE,
                          check=False, env=ENVIRONMENT)
    expect(done.returncode == 1 and said in done.stderr, done.returncode, done.stderr)


@test
def every_record_fits_the_schema():
    try:
        import jsonschema
    except ImportError as error:
        raise Skipped("there is no jsonschema") from error
    with open(os.path.join(TREE, "docs", "incident.schema.json"), encoding="utf-8") as file:
        validator = jsonschema.validators.validator_for(schema := json.load(file))(schema)
    rows = nginx().incidents()
    expect(len(rows) > 40, "there are only", len(rows))
    for row in rows:
        equal([error.message for error in validator.iter_errors(row)], [], row["id"])


@test
def the_module_shows_nothing_but_what_nginx_looks_for():
    needed()
    lines = subprocess.run(["nm", "-D", "--defined-only", MODULE], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout.split("\n")
    equal(sorted(line.split()[-1] for line in lines if line), ["ngx_module_names", "ngx_module_order", "ngx_modules"])


@test
def nginx_had_no_complaint_about_the_filter():
    said = nginx().said()
    equal(nginx().stop(), 0)
    wrong = [line for line in said.splitlines() if "[alert]" in line or "[crit]" in line and "connect()" not in line or "[emerg]" in line]
    equal(wrong, [])


main()
