"""Answers and bodies that are not JSON, on every boundary: bytes, streams, tails of paths, live tails.

    MISHAP_PROGRAM=… BYTES_PROGRAM=… python3 tests/http/bytes_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/bytes.c is the program that is asked.
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import Broken, equal, expect, main, open_terminal, parsed, run_program, test, tests_of
from server import Closed, Server, request, wait_for

BYTES = os.path.abspath(os.environ["BYTES_PROGRAM"])
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==")
MARKER = b"c0ffee"


def the_server():
    return server.server("bytes", "--workers", "1", program=BYTES)


# ---- Streams -------------------------------------------------------------------------------------

class Stream:
    """A response in chunks: its head, and what comes of its body."""

    def __init__(self, found, target, fields=()):
        self.connection = found.connect().send(request("GET", target, fields=fields))
        head = self.connection.take_head()
        self.status, self.fields = server.parse_head(head)
        self.fields = {name.lower(): value for name, value in self.fields}
        self.text, self.whole = b"", False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def chunk(self):
        """The next chunk; b"" is the last one. Closed: the body was cut off."""
        connection = self.connection
        while b"\r\n" not in connection.received:
            if not connection.more():
                raise Closed("cut")
        size, connection.received = connection.received.split(b"\r\n", 1)
        data = connection.take(int(size, 16) + 2)
        expect(data.endswith(b"\r\n"), "no chunk:", size, data)
        self.text += data[:-2]
        self.whole = int(size, 16) == 0
        return data[:-2]

    def until(self, text):
        """Read until a text has come."""
        while text not in self.text:
            expect(self.chunk(), "it ended without", text, self.text)
        return self

    def rest(self):
        with contextlib.suppress(Closed):
            while self.chunk():
                pass
        return self.text


def stream_of(target, **more):
    return Stream(the_server(), target, **more)


# ---- Bytes over HTTP -----------------------------------------------------------------------------

@test
def an_image_is_a_body_with_its_media_type():
    answer = the_server().ask("GET", "/image")
    equal(answer.status, 200, "status")
    equal(answer["Content-Type"], "image/png", "type")
    equal(answer["X-Content-Type-Options"], "nosniff", "the field against guessing")
    equal(answer.body, PIXEL, "body")


@test
def head_says_the_length_and_sends_nothing():
    with the_server().connect() as connection:
        answer = connection.ask("HEAD", "/image")
        equal(answer["Content-Length"], str(len(PIXEL)), "length")
        equal(answer["Content-Type"], "image/png", "type")
        expect(connection.is_open(), "the connection is over")


@test
def text_keeps_its_charset_and_its_parameters_work():
    answer = the_server().ask("GET", "/page?name=Ada")
    equal(answer["Content-Type"], "text/html; charset=utf-8", "type")
    equal(answer.body, "<h1>Grüß Gott, Ada</h1>\n".encode(), "body")


@tests_of({"with a line break": ("break", b"odd"), "missing": ("none", b"odd"), "with stars": ("star", b"odd")})
def a_media_type_that_is_none_becomes_that_of_bytes(kind, body):
    answer = the_server().ask("GET", "/odd?type=" + kind)
    equal(answer["Content-Type"], "application/octet-stream", "type")
    equal(answer["Set-Cookie"], None, "a forged field")
    equal(answer.body, body, "body")


@test
def no_bytes_are_an_answer_too():
    answer = the_server().ask("GET", "/odd?type=empty")
    equal((answer.status, answer.body, answer["Content-Type"]), (200, b"", "text/plain"), "answer")


@test
def a_failure_is_told_instead_of_bytes_and_without_its_private_side():
    answer = the_server().ask("GET", "/fails")
    equal(answer.status, 500, "status")
    equal(answer["Content-Type"], "application/json", "type")
    expect(MARKER not in answer.body and b"half" not in answer.body, "it leaks:", answer)
    expect("MARKER-c0ffee in a note" in the_server().wait_for_log(answer.id), "not in the log")


# ---- Tails of paths ------------------------------------------------------------------------------

@tests_of({"one segment": ("a.txt", "a.txt"), "several": ("a/b/c.txt", "a/b/c.txt"), "escapes": ("a%20b/%C3%A4", "a b/ä"),
           "an escaped percent sign": ("a%252Fb", "a%2Fb"), "dots inside": ("..a/b../...", "..a/b../...")})
def a_tail_is_handed_over_without_its_escapes(tail, expected):
    answer = the_server().ask("GET", "/files/" + tail)
    equal((answer.status, answer.body.decode()), (200, expected), "answer")


@tests_of({name: (name,) for name in ["", "/", "..", "../etc/passwd", "a/../b", "%2e%2e/a", "a/%2E", "a//b", "a/", "a%2Fb",
                                      "a%2f..%2fb", "a%00", "./a"]})
def a_tail_that_could_lead_elsewhere_leads_nowhere(tail):
    equal(the_server().ask("GET", "/files/" + tail).status, 404, "status")


@test
def a_route_that_is_spelled_out_comes_before_a_tail():
    equal(the_server().ask("GET", "/files/list").json, [], "answer")


@test
def a_tail_that_is_no_utf8_is_refused():
    equal(the_server().ask("GET", "/files/a%FF").status, 400, "status")


@test
def the_description_names_types_and_tails():
    paths = the_server().ask("GET", "/openapi.json").json["paths"]
    equal(paths["/image"]["get"]["responses"]["200"]["content"], {"image/png": {}}, "an answer")
    equal(paths["/page"]["get"]["responses"]["200"]["content"], {"text/html": {"schema": {"type": "string"}}}, "text")
    tail = paths["/files/{path}"]["get"]["parameters"][0]
    expect(tail["x-tail"] is True and "rest of the path" in tail["description"], "the tail:", tail)
    body = paths["/tables/{table}"]["post"]
    equal(sorted(body["requestBody"]["content"]), ["application/octet-stream", "text/csv"], "what is taken")
    expect("415" in body["responses"], "no 415:", body["responses"])


# ---- Bodies --------------------------------------------------------------------------------------

@tests_of({"csv": ("text/csv", b"a,b\n1,2\n"), "with a charset": ("text/csv; charset=utf-8", b"\n"),
           "bytes": ("application/octet-stream", bytes(range(256)) * 400), "nothing": ("text/csv", b"")})
def a_body_of_a_type_that_is_taken_reaches_the_handler(media_type, body):
    answer = the_server().ask("POST", "/tables/users", body, media_type=media_type)
    equal(answer.json, {"table": "users", "given": True, "bytes": len(body), "lines": body.count(b"\n"),
                        "sum": sum(body), "type": media_type}, "answer")


@test
def json_stays_json():
    answer = the_server().ask("POST", "/tables/users", {"table": "users"})
    equal((answer.status, answer.json["given"]), (200, False), "answer")


@test
def another_type_is_refused_with_those_that_are_taken():
    answer = the_server().ask("POST", "/tables/users", b"<p>", media_type="text/html")
    equal(answer.status, 415, "status")
    expect("text/csv" in json.dumps(answer.json), "the types are not named:", answer)


# ---- Streams over HTTP ---------------------------------------------------------------------------

@test
def a_stream_is_sent_piece_by_piece():
    """The others come after it, so late as they are made. Who reads late gets them together: then there is another attempt."""
    late = []
    while not late or late[-1] <= 0.5 and len(late) < 10:
        with stream_of("/tick?count=3&ms=1500") as found:
            equal(found.status, 200, "status")
            equal(found.fields["content-type"], "text/plain", "type")
            first = found.chunk()
            expect(first in (b"1\n", b"1\n2\n", b"1\n2\n3\n"), "the first piece:", first)
            came = time.monotonic()
            equal(found.rest(), b"1\n2\n3\n", "all of it")
            late.append(time.monotonic() - came if first == b"1\n" else 0)
            expect(found.whole, "it was cut")
            expect(found.connection.is_open(), "the connection is over")
    expect(late[-1] > 0.5, "the first piece came with the last, or moments before it:", late)


@test
def events_are_fields_of_lines():
    with stream_of("/events") as found:
        equal(found.fields["content-type"], "text/event-stream", "type")
        equal(found.rest().decode(), "data: one\n\nevent: two\ndata: first line\ndata: second line\n\n"
              "event: three\ndata: a\ndata: b\ndata: c\n\n", "events")


@test
def a_stream_of_a_quick_handler_is_one_body():
    answer = the_server().ask("GET", "/quick")
    equal((answer.body, answer["Content-Type"]), (b"a,b\n1,2\n", "text/csv"), "answer")


@test
def a_handler_that_fails_before_its_first_piece_is_answered_in_full():
    answer = the_server().ask("GET", "/tick?end=early")
    equal((answer.status, answer.json["error"]), (404, "not_found"), "answer")


def failures_counted():
    """How many replies had the code INTERNAL_ERROR, as /metrics tells it."""
    text = the_server().ask("GET", "/metrics").body.decode()
    return sum(float(line.split()[-1]) for line in text.splitlines()
               if line.startswith("mishap_errors_total{") and 'code="INTERNAL_ERROR"' in line)


@tests_of({"fails": ("fail", "MARKER-c0ffee in the middle of a stream"), "dies": ("crash", "SIGSEGV")})
def the_reader_of_a_stream_whose_handler(end, told):
    """sees that it is cut off: there is no last chunk, the incident is in the log, and its code is counted."""
    if end == "crash" and not server.CONTAINED:
        return
    before = failures_counted()
    with stream_of("/tick?count=2&end=" + end) as found:
        equal(found.rest(), b"1\n2\n", "what came")
        expect(not found.whole, "it looks whole")
        expect(told in the_server().wait_for_log(found.fields["x-request-id"]), "not in the log")
    expect(server.wait_for(lambda: failures_counted() == before + 1), failures_counted(), "failures counted,", before, "before")
    equal(the_server().ask("GET", "/image").status, 200, "afterwards")


@test
def a_reader_that_leaves_ends_the_handler():
    with stream_of("/tick?count=1000&ms=20") as found:
        found.chunk()
    expect(wait_for(lambda: the_server().running_handlers() == 0), "it still runs")


@test
def a_slow_reader_gets_all_of_a_large_stream():
    """Its handler waits meanwhile, and is not ended for that: it has 4 seconds."""
    size = 24
    with Server("--workers", "1", program=BYTES) as found:
        with found.connect(patience=server.PATIENCE) as connection:
            connection.send(server.request("GET", "/flood?megabytes=%d" % size))
            expect(wait_for(lambda: found.running_handlers() == 1), "it does not run")
            time.sleep(5)
            equal(found.running_handlers(), 1, "handlers that wait for the reader")
            memory = rss_of(found.workers()[0])
            expect(memory < 40e6 or server.SANITIZED, "the loop keeps", memory, "bytes")
            received = b""
            while not received.endswith(b"\r\n0\r\n\r\n"):
                more = connection.socket.recv(1 << 20)
                expect(more, "it was cut after", len(received), "bytes")
                received += more
            equal(received.count(b"x" * 65536), size * 16, "pieces")
            equal(found.ask("GET", "/image").status, 200, "others")


@test
def a_reader_that_takes_nothing_of_a_stream_holds_a_worker_until_it_leaves():
    with Server("--workers", "1", "--handlers", "2", program=BYTES) as found:
        with found.connect(patience=server.PATIENCE) as connection:
            connection.send(server.request("GET", "/flood?megabytes=500"))
            expect(wait_for(lambda: found.running_handlers() == 1), "it does not run")
            time.sleep(0.5)
        expect(wait_for(lambda: found.running_handlers() == 0), "it still runs")
        equal(found.ask("GET", "/slow").json, {"done": True}, "afterwards")


@test
def readers_that_take_nothing_do_not_take_all_workers():
    with Server("--workers", "1", "--handlers", "4", program=BYTES) as found:
        with contextlib.ExitStack() as readers:
            for _ in range(8):
                connection = readers.enter_context(found.connect(patience=server.PATIENCE))
                connection.send(server.request("GET", "/flood?megabytes=500"))
            expect(wait_for(lambda: found.running_handlers() == 2), "handlers wait for readers")
            for _ in range(5):
                equal(found.ask("GET", "/slow").json, {"done": True}, "another call")
                expect(found.running_handlers() >= 2, "it has waited until readers were let go")


# ---- Live tails ----------------------------------------------------------------------------------

def rss_of(pid):
    with open("/proc/%d/statm" % pid) as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def post(found, line):
    answer = found.ask("POST", "/board", {"line": line})
    equal(answer.status, 200, "status")
    return answer.json["count"]


def events(text):
    return re.findall(r"event: line\ndata: (.*)\n\n", text.decode())


@test
def a_live_tail_is_resumed_by_changes():
    found = the_server()
    last = post(found, "before")
    with Stream(found, "/board?from=%d" % (last - 1)) as tail:
        equal(tail.fields["content-type"], "text/event-stream", "type")
        tail.until(b"data: before\n\n")
        took = []
        for number in range(5):
            began = time.monotonic()
            post(found, "line %d" % number)
            tail.until(b"data: line %d\n\n" % number)
            took.append(time.monotonic() - began)
        expect(min(took) < 10, "changes do not resume it, if at all it is the clock:", took)
        post(found, "end")
        equal(events(tail.rest()), ["before", "line 0", "line 1", "line 2", "line 3", "line 4", "end"], "lines")
        expect(tail.whole and tail.connection.is_open(), "no proper end")


@test
def a_tail_hears_of_changes_through_another_loop():
    with Server("--workers", "2", program=BYTES) as found:
        tails = [Stream(found, "/board") for _ in range(8)]  # some in each loop
        for number in range(20):
            post(found, "line %d" % number)
        for tail in tails:
            equal(events(tail.until(b"line 19\n\n").text), ["line %d" % number for number in range(20)], "lines")
            tail.connection.close()


@tests_of({"sixteen": (16,), "a thousand": (1000,)})
def open_tails_hold_no_worker(count):
    with Server("--workers", "1", "--handlers", "2", program=BYTES) as found:
        tails = [Stream(found, "/board") for _ in range(count)]
        expect(wait_for(lambda: found.running_handlers() == 0), "handlers run")
        equal(found.ask("GET", "/slow").json, {"done": True}, "a call of another group")  # while all of them are open
        post(found, "for all")
        for tail in tails:
            tail.until(b"data: for all\n\n")
        expect(wait_for(lambda: found.running_handlers() == 0), "handlers run")
        post(found, "end")
        for tail in tails:
            equal(events(tail.rest()), ["for all", "end"], "lines")
            expect(tail.whole, "it was cut")
            tail.connection.close()


@test
def a_reader_that_leaves_is_forgotten():
    with Server("--workers", "1", program=BYTES) as found:
        for _ in range(3):
            tails = [Stream(found, "/board?from=4096") for _ in range(50)]
            for number, tail in enumerate(tails):
                (tail.connection.reset if number % 2 else tail.connection.close)()
        open_now = r"^mishap_http_connections (\d+)$"
        expect(wait_for(lambda: int(re.search(open_now, found.ask("GET", "/metrics").body.decode(), re.M)[1]) <= 2),
               "connections are still open")
        post(found, "for nobody")
        equal(found.running_handlers(), 0, "handlers")


@test
def a_reader_that_has_closed_its_side_is_not_waited_with():
    """It may be gone: the server cannot tell before there is something to write, and perhaps that is never."""
    with Server("--workers", "1", program=BYTES) as found:
        with found.connect() as reader:
            reader.send(request("GET", "/board?from=4096")).finish()
            while reader.more():
                pass
            expect(reader.received.startswith(b"HTTP/1.1 200 "), "no answer:", reader.received)


@test
def a_tail_that_fails_is_cut_and_recorded():
    with Server("--workers", "1", program=BYTES) as found, Stream(found, "/board") as tail:
        post(found, "fail")
        equal(events(tail.rest()), ["fail"], "lines")
        expect(not tail.whole, "it looks whole")
        expect("MARKER-c0ffee while a tail was resumed" in found.wait_for_log(tail.fields["x-request-id"]), "not in the log")


@test
def tails_end_in_order_with_the_server():
    with Server("--workers", "1", program=BYTES) as found:
        tails = [Stream(found, "/board") for _ in range(5)]
        equal(found.stop().status, 0, "exit")
        for tail in tails:
            tail.rest()
            expect(tail.whole, "it was cut")


@test
def a_silent_tail_of_events_shows_that_it_lives():
    with Stream(the_server(), "/board?from=4096") as tail:
        began = time.monotonic()
        equal(tail.chunk(), b":\n\n", "a comment")
        expect(time.monotonic() - began > 10, "after", time.monotonic() - began, "seconds")


@test
def head_of_a_tail_does_not_wait():
    with the_server().connect() as connection:
        connection.send(request("HEAD", "/board"))
        status, _ = server.parse_head(connection.take_head())
        equal(status, 200, "status")
        expect(connection.is_open(), "the connection waits")


# ---- The command line ----------------------------------------------------------------------------

def command(*words, **more):
    return run_program(BYTES, *words, **more)


def envelope(answer):
    found = parsed(answer.out)
    equal(found["ok"], answer.status == 0, "ok")
    return found


@test
def bytes_go_to_standard_output_as_they_are():
    answer = command("image")
    equal((answer.status, answer.out, answer.err), (0, PIXEL, b""), "answer")


@test
def bytes_go_into_a_file():
    path = os.path.join(server.FOLDER, "pixel.png")
    with open(path, "wb") as file:
        file.write(b"x" * 1000)  # what was there before is gone, all of it
    found = envelope(command("image", "--to", path))
    equal(found["data"], {"file": path, "bytes": len(PIXEL), "media_type": "image/png"}, "data")
    equal(Server.read(path), PIXEL, "file")


@test
def a_file_that_cannot_be_written_is_told_before_anything_happens():
    found = envelope(command("image", "--to", os.path.join(server.FOLDER, "nowhere", "a")))
    equal(found["error"]["code"], "ARG_ERROR", "code")
    expect("--to" in found["error"]["message"], found)


@test
def a_failure_leaves_no_new_file_and_keeps_an_old_one():
    new, old = os.path.join(server.FOLDER, "new"), os.path.join(server.FOLDER, "old")
    with open(old, "wb") as file:
        file.write(b"old")
    for path in [new, old]:
        answer = command("fails", "--to", path)
        equal(envelope(answer)["error"]["code"], "INTERNAL_ERROR", "code")
        expect(MARKER not in answer.out + answer.err, "it leaks:", answer)
    expect(not os.path.exists(new), "there is a file")
    equal(Server.read(old), b"old", "the old one")


@test
def an_envelope_has_text_as_text_and_bytes_as_base64():
    equal(envelope(command("page", "Ada", "--output", "json"))["data"],
          {"media_type": "text/html; charset=utf-8", "text": "<h1>Grüß Gott, Ada</h1>\n"}, "text")
    equal(envelope(command("image", "--output", "json"))["data"],
          {"media_type": "image/png", "base64": base64.b64encode(PIXEL).decode()}, "bytes")
    equal(envelope(command("odd", "latin", "--output", "json"))["data"],
          {"media_type": "text/plain", "base64": base64.b64encode("Grüß".encode("latin-1")).decode()}, "no UTF-8")
    equal(envelope(command("tick", "--output", "json"))["data"], {"media_type": "text/plain", "text": "1\n2\n3\n"}, "a stream")


def on_terminal(*words):
    """Exit status and what a terminal gets."""
    ours, theirs = open_terminal()
    with subprocess.Popen([BYTES, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        return process.wait(server.PATIENCE), shown


@test
def a_terminal_is_shown_text_and_no_bytes():
    status, shown = on_terminal("page")
    equal((status, shown), (0, "<h1>Grüß Gott, you</h1>\r\n".encode()), "text")
    status, shown = on_terminal("image")
    equal(status, 2, "exit")
    expect(b"--to FILE" in shown and b"PNG" not in shown, "bytes:", shown)
    status, shown = on_terminal("image", "--to", "-")
    expect(b"PNG" in shown, "bytes that are wanted:", shown)


@test
def a_stream_is_written_as_it_comes():
    late = []
    while not late or late[-1] <= 0.5 and len(late) < 10:  # who reads late gets all of it together
        with subprocess.Popen([BYTES, "tick", "3", "--ms", "1500"], stdout=subprocess.PIPE) as process:
            equal(process.stdout.readline(), b"1\n", "the first line")
            came = time.monotonic()
            equal(process.stdout.read(), b"2\n3\n", "the rest")
            late.append(time.monotonic() - came)
            equal(process.wait(server.PATIENCE), 0, "exit")
    expect(late[-1] > 0.5, "all of it came together:", late)


@test
def a_stream_goes_into_a_file():
    path = os.path.join(server.FOLDER, "ticks")
    equal(envelope(command("tick", "--to", path))["data"]["bytes"], 6, "bytes")
    equal(Server.read(path), b"1\n2\n3\n", "file")


@test
def a_stream_that_fails_is_told_on_standard_error():
    answer = command("tick", "--end", "fail")
    equal(answer.out, b"1\n2\n3\n", "what came before")
    expect(answer.status and b"INTERNAL_ERROR" in answer.err and MARKER not in answer.err, "failure:", answer)


@test
def a_body_comes_from_a_file_or_standard_input():
    path = os.path.join(server.FOLDER, "table.csv")
    with open(path, "wb") as file:
        file.write(b"a,b\n")
    found = envelope(command("load", "--table", "t", "--body", path))["data"]
    equal((found["bytes"], found["lines"], found["type"]), (4, 1, "text/csv"), "a file")
    found = envelope(command("load", "--table", "t", "--body", "-", "--body-type", "application/octet-stream",
                             stdin=b"\x00\xff"))["data"]
    equal((found["bytes"], found["sum"], found["type"]), (2, 255, "application/octet-stream"), "standard input")
    equal(envelope(command("load", "--table", "t"))["data"]["given"], False, "none")


@test
def a_body_of_another_type_is_refused():
    found = envelope(command("load", "--table", "t", "--body", "-", "--body-type", "image/png"))
    equal(found["error"]["code"], "UNSUPPORTED_MEDIA_TYPE", "code")
    expect("text/csv" in found["error"]["message"], found)


@test
def the_flags_are_described_where_they_are_taken():
    flags = {name: entry["flags"] for name, entry in envelope(command("manifest"))["data"]["commands"].items()}
    expect("to" in flags["image"] and "body" not in flags["image"], "image:", flags["image"])
    expect({"body", "body-type"} <= set(flags["load"]) and "to" not in flags["load"], "load:", flags["load"])
    expect("to" not in flags["slow"], "slow:", flags["slow"])
    expect(b"--to FILE" in command("image", "--help").err, "help")
    expect(b"\\-\\-body" in command("manual").out or b"--body" in command("manual").out, "manual")
    expect(b"--body-type\t" in command("__complete", "load", "--").out, "completion of load")
    expect(b"--body-type" not in command("__complete", "image", "--").out, "completion of image")
    expect(b"--to\t" in command("__complete", "image", "--").out, "completion of image")
    equal(envelope(command("slow", "--to", "x"))["error"]["code"], "ARG_ERROR", "a flag that it has not")


# ---- Agents --------------------------------------------------------------------------------------

BLOB = base64.b64encode(PIXEL).decode()
UUID = server.UUID.pattern


def agent():
    return talk.Server(program=BYTES, revision="2025-11-25")


def block_of(result):
    expect("structuredContent" not in result and not result.get("isError"), "result:", result)
    equal(len(result["content"]), 1, "blocks")
    return result["content"][0]


def check_tools(call):
    """What tools answer, whichever way they are called."""
    equal(block_of(call("image")), {"type": "image", "data": BLOB, "mimeType": "image/png"}, "an image")
    page = block_of(call("page", name="Ada"))
    expect(re.fullmatch("mishap://page/" + UUID, page["resource"].pop("uri")), "the address:", page)
    equal(page, {"type": "resource", "resource": {"mimeType": "text/html; charset=utf-8",
                                                  "text": "<h1>Grüß Gott, Ada</h1>\n"}}, "a page")
    equal(block_of(call("odd", type="latin"))["resource"]["blob"], base64.b64encode(b"Gr\xfc\xdf").decode(), "no UTF-8")
    equal(block_of(call("odd", type="break"))["resource"]["mimeType"], "application/octet-stream", "a forged type")
    equal(block_of(call("tick"))["resource"]["text"], "1\n2\n3\n", "a stream")
    equal(block_of(call("quick"))["resource"]["text"], "a,b\n1,2\n", "a quick stream")
    failed = call("fails")
    expect(failed["isError"] and "c0ffee" not in json.dumps(failed), "a failure:", failed)


@test
def tools_answer_images_and_embedded_resources():
    with agent() as found:
        check_tools(found.call)
        tools = {tool["name"]: tool for tool in found.result("tools/list")["tools"]}
        expect("outputSchema" not in tools["image"], "a schema of bytes:", tools["image"])
        equal(sorted(tools["load"]["inputSchema"]["properties"]), ["body", "body_base64", "body_type", "table"], "arguments")


@test
def tools_answer_the_same_over_http():
    session = exchange.Session(the_server())

    def call(tool, **arguments):
        with session.exchange("POST", exchange.call(tool, arguments)) as found:
            return found.answer()["result"]
    check_tools(call)


@test
def resources_and_prompts_are_bytes_too():
    with agent() as found:
        listed = found.result("resources/list")["resources"]
        equal([entry["mimeType"] for entry in listed if entry["uri"] == "bytes://image"], ["image/png"], "the list")
        equal(found.result("resources/read", {"uri": "bytes://image"})["contents"],
              [{"uri": "bytes://image", "mimeType": "image/png", "blob": BLOB}], "an image")
        equal(found.result("resources/read", {"uri": "bytes://page/Ada"})["contents"],
              [{"uri": "bytes://page/Ada", "mimeType": "text/html; charset=utf-8", "text": "<h1>Grüß Gott, Ada</h1>\n"}], "a page")
        message, = found.result("prompts/get", {"name": "page", "arguments": {"name": "Ada"}})["messages"]
        equal((message["role"], message["content"]["type"]), ("user", "resource"), "a message")
        expect("Ada" in message["content"]["resource"]["text"], "a message:", message)


@test
def a_body_is_an_argument():
    with agent() as found:
        text = found.call("load", table="t", body="ä\n")["structuredContent"]
        equal((text["bytes"], text["lines"], text["type"]), (3, 1, "text/csv"), "text")
        code = found.call("load", table="t", body_base64="AP8=", body_type="application/octet-stream")["structuredContent"]
        equal((code["bytes"], code["sum"], code["type"]), (2, 255, "application/octet-stream"), "base64")
        equal(found.call("load", table="t")["structuredContent"]["given"], False, "none")
        for wrong, field in [({"body_base64": "AP8"}, "body_base64"), ({"body": "a", "body_base64": "AP8="}, "body_base64"),
                             ({"body": "a", "body_type": "image/png"}, "body_type"), ({"body": 7}, "body"),
                             ({"bodi": "a"}, "bodi")]:
            failed = found.call("load", table="t", **wrong)
            equal((failed["isError"], failed["structuredContent"]["fields"][0]["field"]), (True, field), "refused")


@test
def fits_the_schema():
    server.fits_the_schema()


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
