"""Servers that misbehave: each audit ends within its limits, below 64 MB, and says what it found."""
import concurrent.futures
import functools
import gzip
import json
import os
import struct
import subprocess
import tempfile
import time
import zlib

from auditing import (PATIENCE, PROGRAM, Peer, Skipped, audited, equal, expect, findings, has_libcurl, main, outcome, run_audit, says, test,
                      tests_of)

HEAD = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n"


def again(begin, piece, pause=0.0):
    """Say the beginning, then a piece again and again, until the other side goes."""
    def part(connection, _head, _body):
        connection.sendall(begin)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            connection.sendall(piece)
            if pause:
                time.sleep(pause)
    return part


def once(text):
    return lambda connection, _head, _body: connection.sendall(text)


def gzip_bomb():
    body = gzip.compress(b"a" * (40 << 20))
    return HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def gzip_of_nothing():
    """A body that is decoded to a few bytes, and has 3 MB on its way: empty blocks, then the last one."""
    squeezed = zlib.compressobj(wbits=-15)
    blocks = b"\x00\x00\x00\xff\xff" * ((3 << 20) // 5) + squeezed.compress(b"{}") + squeezed.flush()
    body = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + blocks + struct.pack("<II", zlib.crc32(b"{}"), 2)
    return HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body


PARTS = {
    "an endless body": again(HEAD + b"\r\n", b"a" * 65536),
    "an endless body in chunks": again(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + b"a" * 32768 + b"\r\n"),
    "endless header fields": again(b"HTTP/1.1 404 Not Found\r\n", b"X-Field: value\r\n" * 100),
    "one endless header field": again(b"HTTP/1.1 404 Not Found\r\nX-Field: ", b"a" * 65536),
    "endless 100s": again(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "slow bytes": again(HEAD + b"Content-Length: 99999\r\n\r\n", b"a", 0.05),
    "slow header fields": again(b"HTTP/1.1 404 Not Found\r\nX", b"a", 0.05),
    "silence": again(b"", b"", 0.2),
    "a gzip bomb": once(gzip_bomb()),
    "gzip of nothing": once(gzip_of_nothing()),
    "gzip that is none": once(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\ngarbage"),
    "garbage": once(bytes(range(256)) * 100),
    "a connection that is closed at once": once(b""),
    "a body that ends early": once(HEAD + b"Content-Length: 100\r\n\r\n{}"),
    "a length that is none": once(HEAD + b"Content-Length: -5\r\n\r\n{}"),
}


@functools.cache
def all_audits():
    """They wait for time limits more than they work: all at once."""
    def one(part):
        with Peer(part) as peer:
            return audited(peer.url, "--allow-writes", limit=1)
    pool = concurrent.futures.ThreadPoolExecutor(len(PARTS))
    return {name: pool.submit(one, part) for name, part in PARTS.items()}


@tests_of({name: name for name in PARTS})
def a_target_that_misbehaves_is_a_finding(name):
    done = all_audits()[name].result()
    equal(done.status, 79, done.err[:1000])
    equal(outcome(done.results, "http-answered"), "failed")
    expect(done.results["requests"] <= 4, done.results["requests"])
    expect(any("no further request" in remark for remark in done.results["remarks"]), done.results["remarks"])
    expect(done.seconds < PATIENCE / 2, "seconds", done.seconds)


@tests_of({name: name for name in ("slow bytes", "slow header fields")})
def the_time_limit_holds_for_the_whole_response(name):
    """--time-limit 1: of all requests at least one is ended sooner than without that, which is after ten seconds."""
    with Peer(PARTS[name]) as peer:
        for _ in range(8):
            audited(peer.url, limit=1)
            end = time.monotonic() + PATIENCE
            while not peer.seconds and time.monotonic() < end:
                time.sleep(0.01)
            if in_time := any(0.5 < seconds < 9 for seconds in peer.seconds):
                break
        expect(in_time, "seconds", peer.seconds)


@test
def a_stream_that_succeeds_is_not_accused():
    stream = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    with Peer(again(stream, b"data: x\n\n", 0.05)) as peer:
        for limit in (1, 5, 30):  # seconds, in which the beginning of the stream must have come
            done = audited(peer.url, limit=limit)
            if outcome(done.results, "http-answered") == "undecided":
                break
        equal(audited(peer.url, "--fail-under", "0", limit=1).status, 0)
    equal(outcome(done.results, "http-answered"), "undecided")
    expect(findings(done.results, "http-answered"), "it is told")
    equal((done.status, done.results["score"]), (4, None))
    expect("PRECONDITION" in done.err and "No check could be decided." in done.err, done.err[:500])


@test
def a_redirect_to_another_host_is_not_followed():
    with Peer(once(says(200, {}, "other"))) as other, Peer(once(says(302, {"Location": other.url + "/x"}, ""))) as peer:
        done = audited(peer.url)
        equal(other.requests, [])
    equal(outcome(done.results, "http-redirect"), "advice")


@test
def a_proxy_of_the_environment_is_not_used():
    answer = says(404, {"Content-Type": "application/json"}, {"code": "none", "message": "There is none."})
    with Peer(once(answer)) as proxy, Peer(once(answer)) as peer:
        done = run_audit(peer.url, "--rate", "10000", env={"http_proxy": proxy.url, "HTTP_PROXY": proxy.url, "ALL_PROXY": proxy.url})
        equal(proxy.requests, [])
        expect(peer.requests and done.results, done)


# ---- Schemas -------------------------------------------------------------------------------------

def schema_of(paths, **more):
    return json.dumps({"openapi": "3.0.0", "paths": paths, **more})


def body_of(schema):
    return {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}, "responses": {}}}}


def nested(depth):
    return '{"openapi":"3.0.0","paths":' + '{"a":' * depth + "1" + "}" * depth + "}"


DEEP = {"type": "object", "required": ["a%d" % i for i in range(63)], "properties": {"a%d" % i: {"$ref": "#/d"} for i in range(63)}}


@tests_of({
    "too large": (schema_of({"/%d" % i: {"get": {}} for i in range(200000)}), "no OpenAPI document"),
    "many operations": (schema_of({"/%d" % i: {"get": {"responses": {}}} for i in range(20000)}), "more than 100 operations"),
    "a circle": (schema_of(body_of({"$ref": "#/a"}), a={"$ref": "#/b"}, b={"$ref": "#/a"}), None),
    "an object in itself": (schema_of(body_of({"$ref": "#/s"}), s={"type": "object", "required": ["s"], "properties": {"s": {"$ref": "#/s"}}}), None),
    "an object 63 times in itself": (schema_of(body_of({"$ref": "#/d"}), d=DEEP), None),
    "many references": (schema_of({"/%d" % i: {"get": {"parameters": [{"$ref": "#/z"}] * 30}} for i in range(100)},
                                  **{"x%d" % i: 1 for i in range(20000)}, z={"$ref": "#/y"}, y={"$ref": "#/z"}), None),
    "a reference to another host": (schema_of(body_of({"$ref": "http://192.0.2.1/x"})), None),
    "deep": (nested(20000), None),
    "numbers of any size": (schema_of(body_of({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "integer", "minimum": 1e308}, "b": {"type": "string", "minLength": 1e15}, "c": {"type": "string", "maxLength": 1e15}}})), None),
    "YAML": ("openapi: 3.0.0\npaths: {}\n", "YAML is not read"),
    "Swagger": ('{"swagger":"2.0","paths":{}}', "only OpenAPI 3"),
    "no paths": ('{"openapi":"3.1.0"}', "no OpenAPI 3 document"),
    "wrong types": ('{"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":{},"responses":[],"requestBody":7}},"/b":[],"c":{}},"servers":{}}', None),
    "another server": (schema_of({"/a": {"get": {"responses": {}}}}, servers=[{"url": "http://192.0.2.1/v1"}]), None),
})
def a_hostile_schema_is_read_within_limits(schema, words):
    def part(connection, head, _body):
        found = head.startswith("GET /openapi.json ")
        connection.sendall(says(200 if found else 404, {"Content-Type": "application/json"},
                                schema if found else {"code": "none", "message": "There is none."}))
    with Peer(part) as peer:
        done = audited(peer.url, "--allow-writes", "--max-requests", "60")
        equal(outcome(done.results, "http-unknown-path"), "passed")
        expect(all("127.0.0.1" in head for head, _ in peer.requests), "another host was asked")
    said = " ".join(done.results["remarks"])
    expect(words is None or words in said, said)


@test
def a_file_that_is_no_schema_is_refused():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("openapi: 3.0.0\n")
        file.flush()
        done = run_audit("http://127.0.0.1:9", "--openapi", file.name)
    equal(done.status, 2, done.err)
    expect("YAML is not read" in done.err, done.err)
    done = run_audit("http://127.0.0.1:9", "--openapi", "/nonexistent/openapi.json")
    equal(done.status, 66, done.err)


# ---- Targets that cannot be audited --------------------------------------------------------------

@tests_of({
    "a port without a server": ("http://127.0.0.1:9", 12, "cannot be connected to"),
    "another scheme": ("ftp://127.0.0.1/", 2, "address"),
    "a password": ("http://a:b@127.0.0.1:9/", 2, "password"),
    "no address": ("localhost", 2, "address"),
})
def there_is_no_audit(url, status, words):
    done = run_audit(url)
    equal(done.status, status, done.err)
    expect(words in done.err, done.err)


@test
def without_libcurl_the_package_is_named():
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for name in "libcurl.so.4", "libcurl-gnutls.so.4":
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("no library\n")
        done = subprocess.run([PROGRAM, "audit", "http", "http://127.0.0.1:9"], env=dict(os.environ, LD_LIBRARY_PATH=folder, MISHAP_LOG=""),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
    equal(done.returncode, 4, done.stdout)
    expect("Install the package libcurl4 (on Debian 13 libcurl4t64)." in done.stdout, done.stdout)


main()
