"""Real servers as they come. (Our own is in own_test.py.)

expected/NAME.txt has what an audit finds, a line for each finding: outcome, check, place, key. Before the findings of a check that fails, a
comment says why it is a fault. MISHAP_UPDATE=1 prints what was found instead.
"""
import fcntl
import os
import re
import struct
import subprocess
import tempfile
import termios

from auditing import HERE, PATIENCE, PROGRAM, audited, equal, expect, findings, main, outcome, test, tests_of
from blackbox import open_terminal, read_terminal
from targeted import SCHEMA, fastapi, javascript


def rows_of(results):
    """Which rules find a leak, and what else they find there, is the guard's own matter."""
    rows = ["%s %s | %s | %s" % (result, check, place, "" if check == "http-leak" else key) for result, check, place, key in findings(results)
            if result == "failed" or (result == "advice" and check != "http-leak")]
    return list(dict.fromkeys(row.removesuffix(" | ") for row in rows))


def expected(name):
    rows, explained = [], set()
    with open(os.path.join(HERE, "expected", name + ".txt"), encoding="utf-8") as file:
        reason = None
        for line in file.read().splitlines():
            if line.startswith("#") or not line:
                reason = line[1:].strip() or None
            else:
                rows.append(line)
                check = line.split()[1]
                expect(not line.startswith("failed") or reason or check in explained, "nothing says why:", line)
                explained.add(check)
                reason = None
    return rows


def audit_twice(url, *flags):
    """Two audits give the same findings. Each creates things, so the second finds more of them."""
    first, second = (audited(url, "--allow-writes", *flags) for _ in range(2))
    equal(rows_of(second.results), rows_of(first.results), "the second audit")
    return first.results


def compare(name, results):
    rows = rows_of(results)
    if os.environ.get("MISHAP_UPDATE"):
        print("# %s\n%s" % (name, "\n".join(rows)))
        return
    equal("\n".join(sorted(rows)), "\n".join(sorted(expected(name))), name)


@tests_of({"express": ("express", "express"), "fastify": ("fastify", "fastify"), "hono": ("hono", "hono", "@hono/node-server")})
def what_is_found_in(name, *packages):
    with javascript(name, *packages) as target:
        results = audit_twice(target.url, "--openapi", SCHEMA)
    expect(results["complete"], "it is complete")
    compare(name, results)
    equal(results["leak"], name == "express")


@test
def what_is_found_in_fastapi():
    with fastapi() as target:
        results = audit_twice(target.url)
    compare("fastapi", results)
    failed = {row["id"] for row in results["checks"] if row["outcome"] == "failed"}
    equal(failed, {"http-one-shape", "http-code", "http-head"})
    equal((results["leak"], outcome(results, "http-required-named"), outcome(results, "http-wrong-method")), (False, "passed", "passed"))


# ---- The example of the page ---------------------------------------------------------------------

def report_on_terminal(words):
    """What a terminal of 90 columns without colours shows, and what is written beside it."""
    ours, theirs = open_terminal()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 90, 0, 0))
    with subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
                          env=dict(os.environ, TERM="xterm", NO_COLOR="1", ASAN_OPTIONS="detect_leaks=0")) as audit:
        os.close(theirs)
        shown = b"".join(read_terminal(ours)) + audit.stderr.read()
        status = audit.wait(PATIENCE)
    return shown.replace(b"\r\n", b"\n").decode(), status


@test
def the_example_of_the_page_prints_what_stands_there():
    with open(os.path.join(HERE, "..", "..", "docs", "audit.md"), encoding="utf-8") as file:
        source, commands, report = re.findall(r"<!-- run by tests/audit/http_test.py -->\n```\w+\n(.*?)```", file.read(), re.S)
    start, audit = (line.split() for line in commands.splitlines())
    equal(start, ["python3", "-m", "uvicorn", "app:app"])
    equal(audit[:3], ["mishap", "audit", "http"])
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "app.py"), "w", encoding="utf-8") as file:
            file.write(source)
        with fastapi(folder, start[3]) as target:
            shown, status = report_on_terminal([*(word.replace("http://127.0.0.1:8000", target.url) for word in audit[1:]), "--rate", "1000"])
    equal(status, 79, shown)
    shown, at = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", shown), 0
    pieces = re.split(r"^ *…\n", report, flags=re.M)
    expect(shown.startswith(pieces[0]), "it begins with", shown)
    for piece in pieces:
        found = shown.find(piece, at)
        expect(found >= 0 and (found == 0 or shown[found - 1] == "\n"), piece, "is not in what is shown from here on:", shown[at:])
        at = found + len(piece)
    equal(shown[at:], "", "what follows")


@test
def without_leave_only_reads_are_sent():
    with javascript("express", "express") as target:
        done = audited(target.url, "--openapi", SCHEMA)
        planned = audited(target.url, "--openapi", SCHEMA, "--dry-run", "--allow-writes")
    equal(done.results["created"], [])
    expect(any("--allow-writes" in remark for remark in done.results["remarks"]), done.results["remarks"])
    equal(outcome(done.results, "http-malformed-json"), "undecided")
    methods = {row["request"].split()[0] for row in planned.results["planned"]}
    equal(methods, {"GET", "HEAD", "OPTIONS", "POST"} - ({"HEAD"} - methods))
    equal(planned.results["requests"], 0)


@test
def what_was_created_is_listed():
    with javascript("express", "express") as target:
        done = audited(target.url, "--openapi", SCHEMA, "--allow-writes")
    expect(done.results["created"] and all(row == {"place": "POST /users", "status": 201} for row in done.results["created"]),
           done.results["created"])


main()
