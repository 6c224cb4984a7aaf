"""Our own program under audit: full marks as a command, as an MCP server over both transports, and as an HTTP server.

Nothing may fail, nothing may need advice, and the commands of docs/audit.md work as they stand there.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TREE, "tests", "http"))
from server import PROGRAM, Server, equal, expect, parsed, run_program  # noqa: E402
from blackbox import Skipped, main, test, tests_of  # noqa: E402

ENV = {"ASAN_OPTIONS": "detect_leaks=0"}
BUDGET = ["--rate", "10000", "--max-requests", "5000", "--time-limit", "60"]


def audit(*words, options=()):
    done = run_program(PROGRAM, "audit", *words[:1], *BUDGET, *options, *words[1:], env=ENV)
    found = parsed(done.out)
    if found["error"] and found["error"]["code"] == "PRECONDITION" and "libcurl" in done.out.decode():
        raise Skipped("libcurl is not installed")
    return found


def full_marks(found, *decided):
    expect(found["data"], found["error"])
    wrong = [(check["id"], check["findings"][:2]) for check in found["data"]["checks"] if check["outcome"] in ("failed", "advice")]
    equal(wrong, [], "what is wrong with our program")
    equal((found["data"]["score"], found["ok"], found["data"]["complete"]), (100, True, True))
    outcomes = {check["id"]: check["outcome"] for check in found["data"]["checks"]}
    for name in decided:
        equal(outcomes[name], "passed", name)


@test
def as_a_command():
    full_marks(audit("cli", "--", PROGRAM), "cli-leak", "cli-envelope", "cli-manifest", "cli-flag-named", "cli-sigterm")


@test
def as_an_mcp_server_over_standard_input_and_output():
    full_marks(audit("mcp", "--", PROGRAM, "mcp"), "mcp-leak", "mcp-arguments-named", "mcp-stdout", "mcp-ends")


@test
def as_an_mcp_server_over_http():
    with Server("--workers", "1") as server:
        full_marks(audit("mcp", server.url + "/mcp"), "mcp-leak", "mcp-arguments-named", "mcp-http-status", "mcp-http-type")


@tests_of({"reads": (), "writes": ("--allow-writes",)})
def as_an_http_server(*options):
    with Server("--workers", "1") as server:
        found = audit("http", server.url, options=options)
        full_marks(found, "http-leak")
        equal(audit("http", server.url, options=options)["data"]["checks"], found["data"]["checks"], "the second audit")


@test
def every_operation_of_our_server_is_asked():
    with Server("--workers", "1") as server:
        document = server.ask("GET", "/openapi.json").body
        file = os.path.join(server.data, "openapi.json")
        with open(file, "wb") as written:
            written.write(document)
        found = audit("http", server.url, options=["--openapi", file, "--allow-writes", "--dry-run"])
    asked = {row["place"].split("?")[0] for row in found["data"]["planned"]}
    declared = {"%s %s" % (method.upper(), path) for path, row in parsed(document)["paths"].items() for method in row
                if method in ("get", "post", "put", "patch", "delete")}
    expect("POST /lisp/evaluate" in declared, declared)
    equal(declared - asked, set(), "what is not asked")


@test
def the_commands_of_the_page_work():
    with open(os.path.join(TREE, "docs", "audit.md"), encoding="utf-8") as file:
        block = re.search(r"<!-- run by tests/audit/own_test.py -->\n```sh\n(.*?)```", file.read(), re.S).group(1)
    lines = [line.split("#")[0].split() for line in block.splitlines()]
    equal(len(lines), 6)
    with Server("--workers", "1") as server:
        for words in lines:
            if words[-1] == "server.mjs":
                words[-2:] = [PROGRAM, "mcp"]
            if words[-1] == "mytool":
                words[-1] = PROGRAM
            words = [word.replace("http://127.0.0.1:8080", server.url) for word in words]
            equal(words[:2], ["mishap", "audit"])
            found = audit(*words[2:])
            expect(found["ok"], words, found["error"])


main()
