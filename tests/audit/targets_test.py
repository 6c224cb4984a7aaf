#!/usr/bin/env python3
"""`mishap audit mcp` and `mishap audit cli` against programs as they are: those of others, and our own.

    AUDIT_FINDINGS=… MISHAP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/audit/targets_test.py [PART-OF-A-NAME]

What is expected stands in expected/NAME.txt: a line for each finding, `OUTCOME CHECK | PLACE | KEY`, and before each a comment that says why it
is one. `score N` demands a score, and `version PATTERN` skips a target of another version. Without an expected finding there is none.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "mcp"), os.path.join(HERE, "..", "cli")]
from blackbox import PATIENCE, Skipped, equal, expect, main, test, tests_of  # noqa: E402
from node import NODE_MODULES, node  # noqa: E402
from server import PROGRAM, Server, free_port  # noqa: E402

FINDINGS = os.environ["AUDIT_FINDINGS"]
QUIET = ["env", "ASAN_OPTIONS=detect_leaks=0"]  # programs that are started many times


def audit(*words):
    """What was found: rows of outcome, check, place and key; and the score."""
    done = subprocess.run([FINDINGS, *words], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    equal(done.returncode, 0, done.stdout)
    score = next(int(row[1]) for row in rows if row[0] == "score")
    return {tuple(row[:4]): row[4:] for row in rows if row[0] in ("failed", "advice")}, score


def expected(name):
    """The findings of the file, its score (None: any) and its pattern of versions."""
    found, score, version, why = set(), None, "", False
    with open(os.path.join(HERE, "expected", name + ".txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            words = line.split(None, 1)
            if line.startswith("#"):
                why = True
            elif words and words[0] == "score":
                score = int(words[1])
            elif words and words[0] == "version":
                version = words[1]
            elif words:
                expect(why, "this line has no comment that says why:", line)
                outcome, check, place, key = re.match(r"(\w+) (\S+) \| (.*?) \|\s*(.*)$", line).groups()
                found.add((outcome, check, place, key))
                why = False
    return found, score, version


def hold(name, *words):
    found, score, _ = expected(name)
    rows, actual = audit(*words)
    expect(set(rows) == found, name, "has other findings: more", {row: rows[row] for row in set(rows) - found}, "less", found - set(rows))
    if score is not None:
        equal(actual, score, "the score")
    return rows


@tests_of({name: name for name in ("git", "curl", "jq", "npm", "apt-get", "tar")})
def commands_have_the_expected_findings(name):
    program = shutil.which(name)
    if not program:
        raise Skipped("%s is not installed" % name)
    version = expected(name)[2]
    if version and not re.search(version, subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout):
        raise Skipped("the findings of this version are not known")
    hold(name, "cli", "--", name)


def need(*packages):
    for package in packages:
        if not os.path.isdir(os.path.join(NODE_MODULES, package)):
            raise Skipped("there is no %s in %s" % (package, NODE_MODULES))
    if not node():
        raise Skipped("there is no Node")


@test
def two_audits_of_a_server_whose_tool_throws_have_the_expected_findings():
    need("@modelcontextprotocol/sdk", "zod")
    words = "throwing-server", "mcp", "--", node(), os.path.join(HERE, "throwing_server.mjs"), NODE_MODULES
    equal(hold(*words), hold(*words), "the second audit")


@test
def server_everything_has_the_expected_findings():
    package = "@modelcontextprotocol/server-everything"
    need(package)
    hold("server-everything", "mcp", "--", node(), os.path.join(NODE_MODULES, package, "dist", "index.js"), "stdio")


@test
def server_everything_has_the_expected_findings_over_http():
    package = "@modelcontextprotocol/server-everything"
    need(package)
    port = free_port()
    with subprocess.Popen([node(), os.path.join(NODE_MODULES, package, "dist", "index.js"), "streamableHttp"], env=dict(os.environ, PORT=str(port)),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + PATIENCE
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    expect(time.monotonic() < deadline and server.poll() is None, "the server does not start")
                    time.sleep(0.05)
            hold("server-everything-http", "mcp", "http://127.0.0.1:%d/mcp" % port)
        finally:
            server.kill()


# ---- Our own program -----------------------------------------------------------------------------

def full_marks(*words):
    rows, score = audit(*words)
    equal((rows, score), ({}, 100))


@tests_of({name: os.environ[name] for name in ("MISHAP_PROGRAM", "DIRECTORY_PROGRAM", "LOANS_PROGRAM", "SAMPLE_PROGRAM")})
def our_commands_have_full_marks(program):
    full_marks("cli", "--", *QUIET, program)


@tests_of({"users create": ("users", "create"), "lisp evaluate": ("lisp", "evaluate"), "audit cli": ("audit", "cli"), "check": ("check",)})
def commands_of_our_program_have_full_marks(*words):
    full_marks("cli", "--", *QUIET, PROGRAM, *words)


@test
def our_mcp_server_has_full_marks_over_standard_input_and_output():
    for more in ([], ["--allow-destructive"]):
        full_marks("mcp", *more, "--", *QUIET, PROGRAM, "mcp")


@test
def our_mcp_server_has_full_marks_over_http():
    with Server() as server:
        full_marks("mcp", "http://%s:%d/mcp" % server.address)


main()
