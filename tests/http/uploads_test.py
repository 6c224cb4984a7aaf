"""Files that are streamed to their handlers: examples/upload.c on every boundary, and hostile senders and handlers.

    MISHAP_PROGRAM=… UPLOAD_PROGRAM=… UPLOADS_PROGRAM=… python3 tests/http/uploads_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/uploads.c is a program whose handlers treat files as badly as they can.
"""
import base64
import os
import random
import socket
import sys
import threading
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test

UPLOAD = os.path.abspath(os.environ["UPLOAD_PROGRAM"])
UPLOADS = os.path.abspath(os.environ["UPLOADS_PROGRAM"])
MOST = 4 << 20  # bytes of a file, in tests/http/uploads.c
TYPE = "multipart/form-data; boundary=xYz"
BYTES = random.Random(7).randbytes(300000) + b"\r\n--xY\r\n--xYy\r\n-"


def uploads():
    return server.server("uploads", "--workers", "1", program=UPLOADS)


def part(name, value, file=None, media_type="application/octet-stream"):
    head = b"--xYz\r\nContent-Disposition: form-data; name=\"%s\"" % name.encode()
    if file is not None:
        head += b"; filename=\"%s\"\r\nContent-Type: %s" % (file.encode(), media_type.encode())
    return head + b"\r\n\r\n" + (value if isinstance(value, bytes) else str(value).encode()) + b"\r\n"


def form(content, behind=b"", name="f.bin", **fields):
    return b"".join(part(key, value) for key, value in fields.items()) + part("file", content, name) + behind + b"--xYz--\r\n"


def take(content=BYTES, path="/take/a", behind=b"", **fields):
    return uploads().ask("POST", path, form(content, behind, **fields), media_type=TYPE)


def head(length, path="/take/a", more=""):
    """The head of an upload; without a length it is chunked."""
    size = "Transfer-Encoding: chunked" if length is None else "Content-Length: %d" % length
    return ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%s\r\n%s\r\n" % (path, TYPE, size, more)).encode()


def sum_of(content):
    total = 0
    for byte in content:
        total = (total * 31 + byte) & 0xFFFFFFFF
    return total


SUM = sum_of(BYTES)


def expect_taken(found, content=BYTES, total=None):
    equal((found.status, found.json.get("bytes")), (200, len(content)), found)
    equal(found.json["sum"], SUM if content is BYTES else sum_of(content) if total is None else total, "sum")


def seen_file(name):
    return os.path.join(server.FOLDER, name)


def seen(name):
    """What the handler has seen of its file: `whole`, or the code of the failure; and how many bytes."""
    def look():
        try:
            with open(seen_file(name)) as file:
                words = file.read().split()
        except FileNotFoundError:
            return None
        return (words[0], int(words[1])) if len(words) == 2 else None
    return server.wait_until(look, "the handler has seen nothing")


@test
def a_file_is_streamed_on_every_boundary():
    content, path = BYTES, os.path.join(server.FOLDER, "a file.bin")
    with open(path, "wb") as file:
        file.write(content)
    expected = {"bytes": len(content), "lines": content.count(b"\n"), "adler32": zlib.adler32(content)}

    def same(found, what):
        equal({name: found[name] for name in expected}, expected, what)
    with server.Server("--workers", "1", program=UPLOAD) as upload:
        found = upload.ask("POST", "/files", form(content, label="x", name="a file.bin"), media_type=TYPE)
        equal((found.status, found.json["name"], found.json["label"]), (200, "a file.bin", "x"), found)
        same(found.json, "a form")
        found = upload.ask("POST", "/files?label=y", content, media_type="application/octet-stream")
        equal((found.json["name"], found.json["label"], found.json["type"]), (None, "y", "application/octet-stream"), found)
        same(found.json, "a body of bytes")
        text = base64.b64encode(content).decode()
        same(upload.ask("POST", "/files", {"file": text}).json, "JSON")
        answer = exchange.Session(upload).post(exchange.call("files_measure", {"file": text})).json["result"]
        same(answer["structuredContent"], "MCP over HTTP")
        content_types = upload.ask("GET", "/openapi.json", checked=False).json["paths"]["/files"]["post"]["requestBody"]["content"]
        equal(set(content_types), {"application/json", "multipart/form-data", "application/x-www-form-urlencoded",
                                   "application/octet-stream"}, "OpenAPI")
        equal(upload.stop().status, 0, "its end")
    for words, more in ((["files", "measure", path], {}), (["files", "measure", "--file", "-"], {"stdin": content})):
        same(parsed(run_program(UPLOAD, *words, "--output", "json", env={"UPLOAD_LOG": ""}, **more).out)["data"], words)
    missing = run_program(UPLOAD, "files", "measure", path + ".gone", "--output", "json", env={"UPLOAD_LOG": ""})
    equal(parsed(missing.out)["error"]["code"], "ARG_ERROR", "a missing file")
    with talk.Server(program=UPLOAD, revision="2025-11-25") as agent:
        same(agent.call("files_measure", file=text)["structuredContent"], "MCP")


@test
def handlers_in_the_server_process_get_the_file_whole():
    with server.Server("--workers", "1", "--handlers", "0", program=UPLOADS) as inside:
        expect_taken(inside.ask("POST", "/take/a", form(BYTES), media_type=TYPE))
        expect_taken(inside.ask("POST", "/take/a", BYTES, media_type="application/octet-stream"))
        equal(inside.stop().status, 0, "its end")


@test
def what_is_larger_than_the_limit_of_bodies_is_streamed():
    content = BYTES * 13  # 3.9 MB, and --body-limit is 1 MB
    total = sum_of(content)
    expect_taken(take(content), content, total)
    expect_taken(take(content, wait=5), content, total)  # the handler is slower than the sender
    expect_taken(take(content, path="/alone/a"), content, total)
    found = uploads().ask("POST", "/take/x", content, media_type="application/octet-stream")
    expect_taken(found, content, total)
    equal(found.json["id"], "x", "the path")


@test
def the_connection_goes_on_after_an_upload():
    with uploads().connect() as connection:
        for size in (0, 1, 100, 70000, 300000):
            expect_taken(connection.ask("POST", "/take/a", form(BYTES[:size]), media_type=TYPE), BYTES[:size])
        connection.send(server.request("POST", "/take/a", form(b"one"), (), TYPE) + server.request("GET", "/health"))
        expect_taken(connection.response("POST"), b"one")
        equal(connection.response().status, 200, "a request that was sent ahead")


@test
def a_long_file_arrives_in_any_pieces():
    """Beyond 256 KB the bytes are received into memory that the handler reads from: also in chunks, and with half boundaries."""
    choose = random.Random(11)
    content = b"".join(choose.choice([choose.randbytes(choose.randrange(1, 40000)), b"\r\n--xY", b"\r\n" * 9, b"\r"]) for _ in range(120))
    total = sum_of(content)
    whole = form(content, how="x")
    with uploads().connect() as connection:
        for size in (1000, 65536, 100003, None):  # chunks; without: one length
            body = server.chunked(whole, size) + b"0\r\n\r\n" if size else whole
            connection.send(head(None if size else len(whole)))
            at = 0
            while at < len(body):
                step = choose.choice([1, 2, 70, 4096, 65536, 300000])
                connection.send(body[at:at + step])
                at += step
            expect_taken(connection.response("POST"), content, total)


@test
def a_request_behind_a_long_file_is_answered():
    whole = form(BYTES * 4, how="x")
    total = sum_of(BYTES * 4)
    plain = server.request("POST", "/take/a", BYTES * 4, (), "application/octet-stream")
    with uploads().connect() as connection:
        for sent in (head(len(whole)) + whole, head(None) + server.chunked(whole, 50000) + b"0\r\n\r\n", plain):
            connection.send(sent + server.request("GET", "/health") + server.request("POST", "/take/a", form(b"one"), (), TYPE))
            expect_taken(connection.response("POST"), BYTES * 4, total)
            equal(connection.response().status, 200, "the first request behind it")
            expect_taken(connection.response("POST"), b"one")


@test
def a_form_without_its_file_is_a_call():
    found = uploads().ask("POST", "/take/a", part("how", "x") + b"--xYz--\r\n", media_type=TYPE)
    equal((found.status, found.json["bytes"]), (200, 0), found)
    found = uploads().ask("POST", "/take/a", form(b"", name=""), media_type=TYPE)  # a browser: none was chosen
    equal((found.status, found.json["bytes"]), (200, 0), found)


@test
def boundaries_may_be_split_anywhere():
    content = b"ab\r\n--xY\r\r\n--xYz"[:-1] + b"Q\r"
    whole = form(content, how="x")
    with uploads().connect() as connection:
        for at in range(1, len(whole)):
            connection.send(head(len(whole)) + whole[:at])
            connection.send(whole[at:])
            expect_taken(connection.response("POST"), content)
        for size in (1, 2, 3, 7):
            connection.send(head(None) + server.chunked(whole, size) + b"0\r\n\r\n")
            expect_taken(connection.response("POST"), content)
        connection.send_bytewise(head(len(whole)) + whole)
        expect_taken(connection.response("POST"), content)


@test
def a_sender_may_wait_for_100_continue():
    whole = form(BYTES)
    with uploads().connect() as connection:
        connection.send(head(len(whole), more="Expect: 100-continue\r\n"))
        equal(connection.interim(), 100, "interim")
        expect_taken(connection.send(whole).response("POST"))
        connection.send(head(100 << 20, more="Expect: 100-continue\r\n"))
        equal(connection.response("POST").status, 413, "a body that is too large, before it is sent")


@test
def wrong_fields_are_refused_before_the_file_is_read():
    found = take(wait="soon")
    equal(found.status, 422, found)
    expect(found.closes, "the rest of the body is not read:", found)
    found = take(b"x", how="x" * 70000)
    equal((found.status, found.json["details"]["limit_bytes"]), (413, 65536), found)


@test
def a_part_behind_the_file_is_refused():
    for number, behind in enumerate((part("how", "x"), part("unknown", "x"), part("file", "again", "g"))):
        found = take(BYTES, behind=behind, seen=seen_file("behind%d" % number))
        equal(found.status, 400, found)
        equal(found.json["message"], "The field `file` of the form must be the last part.", found)
        equal(seen("behind%d" % number)[0], "BAD_REQUEST", "the handler")


@test
def a_form_without_its_end_is_refused():
    for number, broken in enumerate((form(BYTES)[:-10], form(BYTES)[:-4] + b"!!", form(BYTES)[:-4] + b"\r\nX-Y\r\n\r\n--xYz--")):
        found = uploads().ask("POST", "/take/a", part("seen", seen_file("unended%d" % number)) + broken, media_type=TYPE)
        equal(found.status, 400, found)
        expect(found.json["message"].startswith("The form is malformed: "), found)
        equal(seen("unended%d" % number)[0], "BAD_REQUEST", "the handler")
    found = uploads().ask("POST", "/take/a", b"no form", media_type=TYPE)
    equal((found.status, found.json["message"]), (400, "The form is malformed: it has no boundary."), found)
    found = uploads().ask("POST", "/take/a", b"no form", media_type="multipart/form-data")
    equal(found.status, 400, found)


@test
def a_chunk_that_is_none_is_refused():
    with uploads().connect() as connection:
        connection.send(head(None) + server.chunked(part("seen", seen_file("chunk")) + form(BYTES)[:1000], 500))
        server.wait_until(lambda: os.path.exists(seen_file("chunk")), "no handler runs")
        connection.send(b"zz\r\n")
        equal(connection.response("POST").status, 400, "status")
        connection.expect_closed()
    equal(seen("chunk")[0], "BAD_REQUEST", "the handler")


@test
def a_file_above_its_limit_is_refused():
    content = bytes(MOST)
    equal(take(content).json["bytes"], MOST, "as large as it may be")
    found = take(content + b"x", seen=seen_file("large"))
    equal((found.status, found.json["details"]), (413, {"parameter": "file", "limit_bytes": MOST}), found)
    equal(seen("large")[0], "CONTENT_TOO_LARGE", "the handler")
    found = take(content * 2)
    equal((found.status, found.closes), (413, True), "known from the head")
    with uploads().connect() as connection:
        whole = form(content + bytes(300000))
        connection.send(head(None) + server.chunked(whole, 50000) + b"0\r\n\r\n")
        equal(connection.response("POST").status, 413, "in chunks")
    found = uploads().ask("POST", "/take/x", content + b"x", media_type="application/octet-stream")
    equal(found.status, 413, found)
    path = os.path.join(server.FOLDER, "large.bin")
    with open(path, "wb") as file:
        file.truncate(MOST + 1)
    for words, more in ((["take", "--id", "x", "--file", path], {}), (["take", "--id", "x", "--file", "-"], {"stdin": content + b"x"})):
        found = parsed(run_program(UPLOADS, *words, "--output", "json", env={"UPLOADS_LOG": ""}, **more).out)
        equal(found["error"]["code"], "CONTENT_TOO_LARGE", words)


@test
def a_sender_that_leaves_reaches_the_handler():
    for name, leave in (("finish", lambda c: c.finish()), ("close", lambda c: c.close()), ("reset", lambda c: c.reset())):
        with uploads().connect() as connection:
            connection.send(head(10 << 17) + part("seen", seen_file(name)) + form(BYTES)[:100000])
            server.wait_until(lambda: os.path.exists(seen_file(name)), "no handler runs")  # one that has not begun is not begun any more
            leave(connection)
            if name == "finish":
                found = connection.response("POST")
                equal((found.status, found.json["message"]), (400, "The connection was closed in the middle of the request."),
                      found)
            equal(seen(name)[0], "CANCELLED", "the handler")


@test
def a_slow_sender_is_cut_and_one_with_progress_is_not():
    whole = part("seen", seen_file("slow")) + form(BYTES)
    with server.Server("--workers", "1", "--body-timeout-ms", "5000", program=UPLOADS) as hasty:  # in that time the handler begins
        expect_taken(hasty.ask("POST", "/take/a", form(BYTES), media_type=TYPE))  # there is a worker
        with hasty.connect() as connection:
            connection.send(head(len(whole)) + whole[:1000])
            equal(connection.response("POST").status, 408, "nothing more comes")
            connection.expect_closed()
        equal(hasty.stop().status, 0, "its end")
    equal(seen("slow")[0], "REQUEST_TIMEOUT", "the handler")
    content = bytes(MOST)
    whole = form(content)

    def send_slowly():
        """Its handler may run for two seconds, and the upload takes three."""
        with uploads().connect() as connection:
            connection.send(head(len(whole), path="/soon/a"))
            for at in range(0, len(whole), 512 * 1024):
                connection.send(whole[at:at + 512 * 1024])
                threading.Event().wait(0.4)
            return connection.response("POST")
    found = send_slowly()
    for _ in range(9):
        if found.status != 504:  # else a busy machine has let the handler itself wait for so long
            break
        found = send_slowly()
    expect_taken(found, content, 0)


@test
def handlers_may_leave_early():
    content = bytes(MOST)
    for fields in ({"most": 10}, {"most": 0}):
        found = take(content, **fields)
        equal((found.status, found.json["bytes"], found.closes), (200, fields["most"], True), found)
    found = take(content, most=10, how="fail")
    equal((found.status, found.closes), (404, True), found)
    equal(take(b"abc", most=0).status, 200, "a small body")


@test
def a_request_behind_a_file_that_no_handler_took_is_answered():
    """The end of the body is known, but the handler has answered before it was told: whatever was passed on, the next request begins anew."""
    health = b"GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    answered = 0
    for size in (10, 60_000, 150_000, 220_000, 230_000, 240_000, 250_000, 255_000, 256_000, 262_144, 262_145, 300_000, 600_000, 1_000_000):
        head = "POST /take/a?most=0&wait=100 HTTP/1.1\r\nHost: h\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n" % size
        with socket.create_connection(uploads().address, server.PATIENCE) as peer:
            peer.sendall(head.encode() + bytes(size))
            first = peer.recv(65536)
            expect(first.startswith(b"HTTP/1.1 200 "), size, first)
            if b"Connection: close" in first:
                continue
            peer.sendall(health)
            second = b""
            while part_of_it := peer.recv(65536):
                second += part_of_it
            expect(second.startswith(b"HTTP/1.1 200 "), "after", size, "bytes:", second)
            answered += 1
    expect(answered, "no connection was kept")


@test
def a_handler_that_dies_or_hangs_costs_only_its_call():
    found = take(bytes(MOST), most=10, how="die")
    equal((found.status, found.closes), (500, True), found)
    found = take(bytes(MOST), path="/soon/a", most=10, how="hang")
    equal((found.status, found.closes), (504, True), found)
    found = take(bytes(MOST), path="/soon/a", most=0, wait=9000)
    equal(found.status, 504, "a handler that never reads")
    found = take(how="whole")
    equal(found.status, 500, "mishap_file() of a streamed file")
    expect_taken(take())


@test
def a_handler_cannot_hide_that_its_file_is_not_whole():
    found = uploads().ask("POST", "/take/a", part("how", "ignore") + form(BYTES)[:-10], media_type=TYPE)
    equal(found.status, 400, found)


@test
def nothing_private_of_an_upload_is_told():
    secret = "PRIVATE-MARKER"
    for found in (take(BYTES, behind=part("how", "x")), take(bytes(MOST) + b"x"), take(bytes(MOST), most=1, how="die"),
                  uploads().ask("POST", "/take/a", form(BYTES)[:-10], media_type=TYPE)):
        expect(found.status >= 400 and secret.encode() not in found.head + found.body, found)
    server.wait_until(lambda: secret.encode() in uploads().read(uploads().log), "the log does not have it")


@test
def sixty_four_at_once():
    content = BYTES * 4
    total, failed = sum_of(content), []

    def one(number):
        try:
            if number % 8 == 7:
                with uploads().connect() as connection:
                    connection.send(head(len(content) + 1000) + form(content)[:200000])
                    connection.reset()
                return
            found = take(content, path="/take/%d" % number)
            while found.status == 503:  # on a busy machine a call may wait for too long
                found = take(content, path="/take/%d" % number)
            expect_taken(found, content, total)
            equal(found.json["id"], str(number), "whose answer")
        except BaseException as error:  # noqa: B902
            failed.append((number, error))
    threads = [threading.Thread(target=one, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(failed, [], "calls that failed")


@test
def files_do_not_stay_open():
    def count():
        return [len(os.listdir("/proc/%d/fd" % pid)) for pid in uploads().workers()]
    expect_taken(take())
    before = count()
    for _ in range(20):
        take(b"abc", most=0)
        take(BYTES, behind=part("how", "x"))
    server.wait_until(lambda: all(now <= then + 2 for now, then in zip(count(), before)), lambda: (before, count()))


@test
def all_failures_fit_the_schema():
    server.fits_the_schema()


@test
def all_servers_ended_in_order():
    server.all_ended_in_order()


main()
