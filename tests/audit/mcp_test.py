#!/usr/bin/env python3
"""`mishap audit mcp`: what it finds in servers that make one mistake each, and in hostile ones, over both transports.

    mcp_test.py SOURCE-ROOT audit_findings

audit_findings (findings.c) runs the audit and prints its findings. mcp_server.py plays the servers.
"""
import concurrent.futures
import contextlib
from http import server as web
import os
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
FINDINGS = sys.argv[2]
SANITIZED = os.environ.get("MISHAP_SANITIZED") == "1"
SERVER = os.path.join(HERE, "mcp_server.py")
SHORT = ["--ms", "2000"]  # for servers that do not answer
LONGER = [SHORT, ["--ms", "12000"], ["--ms", "60000"]]  # … but to some requests, for which a busy machine may take more

cases = []


def case(function):
    cases.append(function)
    return function


def audit(*words):
    """The findings as rows, and the rest by its name. No audit takes longer than its limit, however hostile the server is."""
    done = subprocess.run([FINDINGS, "mcp", *words], capture_output=True, text=True, timeout=300, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert rows and done.returncode in (0, 1) and not done.stderr, (words, done)
    found = {"rows": [row for row in rows if row[0] in ("failed", "advice", "undecided")], "passed": {row[1] for row in rows if row[0] == "passed"},
             "planned": [row[1] for row in rows if row[0] == "planned"], "created": [row[1] for row in rows if row[0] == "created"],
             **{row[0]: row[1:] for row in rows if row[0] in ("score", "peak", "requests", "failure")}}
    if "failure" not in found and not SANITIZED:
        assert 1024 < int(found["peak"][0]) < 64 * 1024, found["peak"]
    return found


def of(found, outcome="failed"):
    return sorted({row[1] for row in found["rows"] if row[0] == outcome})


def places(found, check):
    return sorted({row[2] for row in found["rows"] if row[1] == check})


def stdio(part, *words):
    return audit(*words, "--", sys.executable, SERVER, part)


def http(part, form, *words):
    with subprocess.Popen([sys.executable, SERVER, part, "http", form], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            return audit(*words, "http://127.0.0.1:%s/mcp" % server.stdout.readline().strip())
        finally:
            server.kill()


def raw(part):
    """A server that is none: it takes a connection and closes it, sends garbage, or says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = listener.accept()[0]
                    held.append(connection)
                    if part == "garbage":
                        connection.sendall(bytes(range(256)) * 100)
                    if part != "quiet":
                        connection.recv(65536)
                        connection.close()
        held = []
        threading.Thread(target=serve, daemon=True).start()
        return audit(*SHORT, "http://127.0.0.1:%d/mcp" % listener.getsockname()[1])


def at_once(function, rows):
    """Most of the time of an audit is waiting, so four of them run side by side."""
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        return list(threads.map(function, rows))


def expect(found, failed=(), advice=()):
    assert (of(found), of(found, "advice")) == (sorted(failed), sorted(advice)), found


def mostly_silent(part, failed):
    """An audit of a server that answers some requests and no others: in a time that is enough for those which it answers."""
    for words in LONGER:
        found = stdio(part, *words)
        if of(found) == failed and not of(found, "advice"):
            break
    return found


@case
def a_good_server_has_full_marks_over_both_transports():
    for found in at_once(lambda ask: ask(), (lambda: stdio("good"), lambda: http("good", "json"), lambda: http("good", "events"), lambda: stdio("asks"),
                                             lambda: stdio("split"), lambda: stdio("stateless"), lambda: http("stateless", "json"))):
        expect(found)
        assert found["score"] == ["100"], found
        assert places(found, "mcp-missing-refused") == ["reset", "wipe"], found
        assert {"mcp-leak", "mcp-arguments-named", "mcp-is-error", "mcp-parse-error"} <= found["passed"], found


@case
def tools_are_called_only_where_it_is_safe():
    with tempfile.TemporaryDirectory() as folder:
        calls = os.path.join(folder, "calls")

        def called(*words):
            open(calls, "w", encoding="utf-8").close()
            audit(*words, "--", "env", "CALLED=" + calls, sys.executable, SERVER, "good")
            with open(calls, encoding="utf-8") as file:
                return file.read().splitlines()
        assert called() == ['["add", {}]', '["add", {"left": "mishap", "right": "mishap"}]', '["show", {}]', '["show", {"which": {"mishap": [1]}}]',
                            '["show", {"which": "mishap", "mishap_no_such_argument": 1}]', '["show", {"which": "mishap"}]'], called()
        assert [line for line in called("--allow-destructive") if "wipe" in line] == ['["wipe", {}]', '["wipe", {"all": "mishap"}]']


@case
def each_mistake_is_found():
    rows = (
            ("stray", ["mcp-stdout"], []),
            ("garbage", ["mcp-stdout"], []),
            ("mute", ["mcp-answers"], []),
            ("nameless", ["mcp-initialize"], []),
            ("refuses", ["mcp-initialize"], []),
            ("version", ["mcp-json"], []),
            ("first", ["mcp-arguments-named"], []),
            ("empty", ["mcp-error-text"], []),
            ("older", [], []),
            ("codes", ["mcp-bad-arguments", "mcp-missing-name"], ["mcp-is-error", "mcp-unknown-tool-error"]),
            ("accepts", ["mcp-missing-refused"], ["mcp-type-refused", "mcp-unknown-refused"]),
            ("objects", ["mcp-error-object"], []),
            ("others", ["mcp-parse-error", "mcp-unknown-method", "mcp-unknown-tool"], ["mcp-unknown-tool-error"]),
            ("deaf", ["mcp-ends"], []),
            ("circle", ["mcp-tool-list"], []),
            ("pages", ["mcp-tool-list"], []),
            ("schemas", ["mcp-tool-schema"], []),
            ("leaks", ["mcp-leak"], []),
            ("throws", ["mcp-leak"], []),
            ("dies", ["mcp-alive"], []))
    all_found = at_once(lambda row: mostly_silent(*row[:2]) if row[0] == "mute" else stdio(row[0]), rows)
    for (part, failed, advice), found in zip(rows, all_found):
        unexpected = [row for row in found["rows"] if row[0] == "advice" and row[1] == "mcp-leak"]
        found["rows"] = [row for row in found["rows"] if row not in unexpected]
        try:
            expect(found, failed, advice)
        except AssertionError as wrong:
            raise AssertionError(part) from wrong
        if "mcp-leak" in failed:
            assert found["score"] == ["0"], found


@case
def what_was_accepted_is_listed():
    assert stdio("accepts")["created"] == ["add", "add"]


@case
def mistakes_over_http_are_found():
    expect(http("pages500", "json"), ["mcp-answers", "mcp-http-status", "mcp-http-type"])
    expect(http("leaks", "events", ), ["mcp-leak"], of(http("leaks", "events"), "advice"))


@case
def http_alone_may_refuse_what_is_no_request():
    expect(http("plain", "json"))
    expect(http("plain400", "json"), ["mcp-answers", "mcp-http-type"])
    assert http("locked", "json")["failure"][0] == "NOT_AUTHORIZED"


@case
def a_silent_server_is_a_finding_only_if_it_answers_pings():
    hangs, silent = at_once(lambda row: mostly_silent(*row), (("hangs", ["mcp-answers"]), ("silent", ["mcp-initialize"])))
    expect(hangs, ["mcp-answers"])
    expect(silent, ["mcp-initialize"])


@case
def hostile_servers_end_within_their_limits():
    over_stdio = (("endless", ["mcp-bounded", "mcp-initialize"]), ("closes", ["mcp-initialize"]), ("ids", ["mcp-ids", "mcp-initialize"]),
                  ("strings", ["mcp-ids", "mcp-initialize"]), ("many", ["mcp-alive", "mcp-bounded"]), ("deep", ["mcp-json"]),
                  ("notices", ["mcp-bounded", "mcp-initialize"]), ("murmurs", ["mcp-bounded", "mcp-initialize"]), ("heavy", ["mcp-alive", "mcp-bounded"]))
    over_http = (("endless", "json", ["mcp-bounded", "mcp-initialize"]), ("stream", "events", ["mcp-bounded"]), ("slow", "json", ["mcp-initialize"]),
                 ("many", "json", ["mcp-alive", "mcp-bounded"]), ("ids", "json", ["mcp-ids", "mcp-initialize"]), ("pages", "json", ["mcp-tool-list"]),
                 ("circle", "events", ["mcp-tool-list"]), ("heavy", "json", []), ("deep", "json", ["mcp-json"]), ("schemas", "json", ["mcp-tool-schema"]))
    rows = [("stdio " + part, failed, lambda part=part, failed=failed: mostly_silent(part, failed) if part in ("ids", "strings") else stdio(part))
            for part, failed in over_stdio]
    rows += [("http " + part, failed, lambda part=part, form=form: http(part, form, *(SHORT if part == "slow" else ()))) for part, form, failed in over_http]
    rows += [("raw " + part, ["mcp-initialize"], lambda part=part: raw(part)) for part in ("closes", "garbage", "quiet")]
    for (name, failed, _), found in zip(rows, at_once(lambda row: row[2](), rows)):
        try:
            expect(found, failed)
        except AssertionError as wrong:
            raise AssertionError(name) from wrong


@case
def a_server_that_stays_is_ended():
    expect(stdio("stays"))


@case
def without_a_server_there_is_no_audit():
    assert audit("--", "mishap-no-such-command")["failure"][0] == "NOT_FOUND"
    assert audit("http://127.0.0.1:1/mcp")["failure"][0] == "CONNECTION_REFUSED"
    assert audit("ftp://127.0.0.1/")["failure"][0] == "INVALID_ARGUMENT"


@case
def a_server_that_is_no_mcp_server_is_named_by_its_status_and_type():
    class Plain(web.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(501)
            self.send_header("Content-Type", "text/html;charset=utf-8")
            self.send_header("Content-Length", "7")
            self.end_headers()
            self.wfile.write(b"<p>no\n\n")

        def log_message(self, *_):
            """Nothing is printed."""

    with web.HTTPServer(("127.0.0.1", 0), Plain) as peer:
        threading.Thread(target=peer.serve_forever, daemon=True).start()
        found = audit("http://127.0.0.1:%d/" % peer.server_port)
        peer.shutdown()
    row = next(row for row in found["rows"] if row[1] == "mcp-initialize")
    assert "501" in str(row) and "text/html" in str(row) and "/mcp" in str(row), row


@case
def a_dry_run_sends_nothing():
    for found in (audit("--dry-run", "--", "mishap-no-such-command"), audit("--dry-run", "http://127.0.0.1:1/mcp")):
        assert len(found["planned"]) >= 5 and '"initialize"' in found["planned"][0] and not found["passed"], found


@case
def two_audits_give_the_same_findings():
    assert stdio("codes")["rows"] == stdio("codes")["rows"]


def main():
    print("1..%d" % len(cases))
    failed = 0
    for number, function in enumerate(cases, 1):
        try:
            function()
            print("ok %d %s" % (number, function.__name__), flush=True)
        except Exception as wrong:  # pylint: disable=broad-except
            failed += 1
            while wrong:
                print("# " + repr(wrong).replace("\n", "\n# ")[:3000])
                wrong = wrong.__cause__
            print("not ok %d %s" % (number, function.__name__), flush=True)
    return failed


sys.exit(1 if main() else 0)
