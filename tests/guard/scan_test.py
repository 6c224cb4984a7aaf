#!/usr/bin/env python3
"""The command `mishap scan`: exits, findings and places, any bytes, constant memory."""
import fcntl
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import termios

PROGRAM = os.environ.get("MISHAP_PROGRAM", "build/mishap")
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
tests = []


def test(function):
    tests.append(function)
    return function


def scan(data=b"", *words):
    run = subprocess.run([PROGRAM, "scan", *words], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=120)
    return run.returncode, json.loads(run.stdout)


@test
def a_harmless_text_exits_with_0():
    status, answer = scan(b'{"error":"The field age must be at least 3."}')
    assert status == 0 and answer["ok"] and answer["data"]["findings"] == [], answer
    assert answer["data"]["bytes"] == 45, answer


@test
def a_leak_exits_with_79_and_is_listed_with_its_place():
    status, answer = scan(b'ok\n{"stack":"Error\\n    at f (/srv/app/x.js:10:5)"}\n')
    assert status == 79 and answer["error"]["code"] == "NONCONFORMING", answer
    assert answer["data"]["findings"] == [{"kind": "trace", "rule": "v8-frame", "confidence": "high", "place": "2:22", "byte": 24,
                                           "excerpt": "at f (/srv/app/x.js:10:5)"}], answer
    assert "trace" in answer["error"]["message"], answer
    _, answer = scan(b'{"stack":"  File \\"/srv/a.py\\", line 3"}')
    assert answer["data"]["findings"][0]["view"] == "json", answer


@test
def credentials_are_not_in_the_answer():
    secret = "h0rse" + "Battery9"
    status, answer = scan(f"postgres://app:{secret}@db.internal/x\npassword={secret}\nAuthorization: Bearer {secret}AAAAbbbb1234\n".encode())
    assert status == 79 and answer["data"]["high"] >= 3, answer
    assert secret not in json.dumps(answer), answer


@test
def a_file_that_cannot_be_read_exits_with_66():
    status, answer = scan(b"", "/nonexistent/file")
    assert status == 66 and answer["error"]["code"] == "INPUT_UNREADABLE", answer
    status, answer = scan(b"", "/")
    assert status == 66, answer


def on_terminal(data, columns, *words):
    """What a terminal of so many columns shows if the input is typed there."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    done = subprocess.Popen([PROGRAM, "scan", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=dict(ENVIRONMENT, NO_COLOR="1", TERM="xterm"))
    os.close(theirs)
    os.write(ours, data)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # what Linux says of the other end that is closed
        pass
    os.close(ours)
    return done.wait(120), shown.decode().replace("\r\n", "\n")


@test
def a_terminal_gets_one_line_of_each_finding():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("a\n    at f (/srv/app/%s/x.js:10:5)\npassword=hunter2Secret9\n" % ("deep/" * 20))
        file.flush()
        status, shown = on_terminal(b"", 80, file.name)
        assert status == 79, shown
        lines = [line for line in shown.split("\n") if line.startswith("high")]  # the failure is told on standard error
        assert lines[0].startswith("high    trace        2:5       at f (/srv/app/deep/") and lines[0].endswith("…") and len(lines[0]) == 80, lines
        assert lines[1].startswith("high    credential   3:1       password=[redacted]"), lines
        assert len(lines) == 2 and "error NONCONFORMING" in shown, shown
        run = subprocess.run([PROGRAM, "scan", "--output", "text", file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=120)
        assert b"x.js:10:5)\n" in run.stdout and run.stdout.count(b"\n") == 2, run.stdout


@test
def what_is_typed_is_waited_for_with_a_word():
    status, shown = on_terminal(b"harmless\n\x04", 80)
    assert status == 0 and "Reading standard input; end with Ctrl-D.\n" in shown, (status, shown)
    run = subprocess.run([PROGRAM, "scan"], input=b"x", stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=120)
    assert run.stderr == b"", run.stderr


@test
def the_advice_fits_what_was_found():
    _, answer = scan(b"    at f (/srv/app/x.js:10:5)\n")
    assert answer["error"]["suggestion"] == "Keep these out of what callers get.", answer
    _, answer = scan(b"password=hunter2Secret9\n")
    assert "change each credential" in answer["error"]["suggestion"], answer
    _, answer = scan(b"", "some text")
    assert answer["error"]["suggestion"].endswith("to scan a text, pipe it."), answer


@test
def standard_input_is_a_dash_or_no_file():
    trace = b"Traceback (most recent call last):\n"
    with tempfile.NamedTemporaryFile() as file:
        file.write(trace)
        file.flush()
        answers = [scan(trace), scan(trace, "-"), scan(b"", file.name)]
    assert all(status == 79 and answer["data"] == answers[0][1]["data"] for status, answer in answers), answers


@test
def bytes_that_are_no_text_are_scanned():
    status, answer = scan(b"\xff\xfe\x00\x80" * 20000 + b"\n  File \"/srv/\xff.py\", line 12\n" + b"\xc3" * 100)
    assert status == 79 and answer["data"]["findings"][0]["rule"] == "python-frame", answer
    assert answer["data"]["findings"][0]["place"] == "2:3", answer


@test
def less_confidence_can_be_left_out():
    assert scan(b"cannot open /srv/app/data.db", "--least", "high")[0] == 0
    assert scan(b"cannot open /srv/app/data.db", "--least", "medium")[0] == 79


@test
def many_findings_are_counted_and_the_first_are_listed():
    status, answer = scan(b"  File \"/srv/a.py\", line 12, in f\n" * 20000)
    assert status == 79 and answer["data"]["high"] == 20000 and len(answer["data"]["findings"]) == 10000, answer["data"]["high"]
    places = [f["place"] for f in answer["data"]["findings"] if f["confidence"] == "high"]
    assert places == [f"{line}:3" for line in range(1, len(places) + 1)], places[-1]


@test
def memory_does_not_grow_with_the_input():
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(300 << 20)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        if before > 100 << 10:  # a sanitizer needs more by itself
            return
        status, _ = scan(b"", file.name)
        assert status == 0
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < before + (24 << 10)


def main():
    print(f"1..{len(tests)}")
    failed = 0
    for number, function in enumerate(tests, 1):
        try:
            function()
            print(f"ok {number} - {function.__name__}")
        except Exception as problem:  # noqa: BLE001
            failed += 1
            print(f"not ok {number} - {function.__name__}")
            print("\n".join("# " + line[:500] for line in f"{type(problem).__name__}: {problem}".split("\n")))
    sys.exit(failed > 0)


main()
