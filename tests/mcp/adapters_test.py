"""Clients, adapters and gateways from npm, as people have them: the table in docs/mcp.md.

    MISHAP_PROGRAM=… WORKSHOP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/mcp/adapters_test.py

adapters.mjs runs them all at once, in one process; here is what must have come of it. What is not installed is skipped.
"""
import functools
import json
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from node import node_22  # noqa: E402
from server import FOLDER, NODE_MODULES, TREE, Server  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WORKSHOP = os.environ["WORKSHOP_PROGRAM"]
PATIENCE = 600  # seconds, for all of them

PIPED = ["SDK 1.9", "SDK 1.10", "@langchain/mcp-adapters", "mcp-use", "@ai-sdk/mcp"]
OVER_HTTP = ["SDK 1.10, HTTP", "SDK 1.x, HTTP", "SDK 2.x, HTTP, stateless", "SDK 2.x, HTTP, older revision",
             "@langchain/mcp-adapters, HTTP", "mcp-use, HTTP", "@ai-sdk/mcp, HTTP", "SDK 1.9, mcp-remote, HTTP",
             "SDK 1.9, mcp-remote with a key, HTTP", "SDK 1.9, supergateway, HTTP"]
IN_FRONT = ["SDK 1.9, SSE, supergateway, stdio", "SDK 1.x, HTTP, supergateway, stdio"]


def serve(name, *flags, listen="127.0.0.1:0"):
    return Server("--workers", "2", *flags, data=os.path.join(FOLDER, name), listen=listen)


@functools.cache
def everything():
    """What the clients have said: {(name, todo or workshop or again): what came of it}."""
    runtime = node_22()
    key = parsed(run_program(server.PROGRAM, "keys", "add", "--name", "agent", "--data", os.path.join(FOLDER, "keyed")).out)
    server.secrets.add(key["data"]["key"])
    servers = [serve("open"), serve("keyed", "--require-key")]
    command = [runtime, os.path.join(HERE, "adapters.mjs"), NODE_MODULES, server.PROGRAM, WORKSHOP,
               servers[0].url + "/mcp", servers[1].url + "/mcp", key["data"]["key"]]
    told = {}
    with open(os.path.join(FOLDER, "clients.err"), "w+b") as errors, subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            env=dict(os.environ, MISHAP_DATA=os.path.join(FOLDER, "piped"), MISHAP_LOG="", WORKSHOP_LOG="",
                     MCP_USE_ANONYMIZED_TELEMETRY="false")) as clients:
        timer = threading.Timer(PATIENCE, clients.kill)
        timer.start()
        for line in clients.stdout:
            said = parsed(line)
            if said == "restart":
                for i, flags in enumerate([[], ["--require-key"]]):
                    listen = "%s:%d" % servers[i].address
                    servers[i].stop()
                    servers[i] = serve(os.path.basename(servers[i].data), *flags, listen=listen)
                clients.stdin.write(b"\n")
                clients.stdin.flush()
            elif said != "end":
                told[said["name"], "again" if "again" in said else said.get("which")] = said
        clients.wait()
        timer.cancel()
        errors.seek(0)
        told["end"] = clients.returncode, errors.read()[-2000:].decode()
    for found in servers:
        found.stop()
    return told


def outcome(name, which):
    told = everything()
    if (name, None) in told:
        row = told[name, None]
        expect("missing" in row, "it failed:", row.get("error"))
        raise Skipped("the package is not there")
    expect((name, which) in told, "nothing was said; the clients ended with", told["end"])
    return told[name, which]


def check(name, which, word, fails):
    """`word` is in the answer; the text of a failure is ours to the end, whatever the client says before it."""
    row = outcome(name, which)
    text, failed = row["works"]
    expect(word in text and not failed, "the answer:", row["works"])
    text, failed = row["fails"]
    expect(failed and text.endswith(fails), "the failure:", row["fails"])
    told = json.loads(text[text.index("{"):])
    equal((told["status"], told["code"], told["retryable"]), ("error", "NOT_FOUND", False), "what the model is told")
    return set(row["tools"])


NO_USER = '"code":"NOT_FOUND","retryable":false}'


@tests_of({name: name for name in [*(name + ", stdio" for name in PIPED), *OVER_HTTP, *IN_FRONT]})
def it_lists_and_calls_the_todo_service(name):
    tools = check(name, "todo", "The requested resource was not found.", NO_USER)
    expect({"create_user", "list_todos", "explain_code"} <= tools, "the tools:", tools)


@tests_of({name: name + ", stdio" for name in PIPED})
def it_lists_and_calls_the_workshop(name):
    tools = check(name, "workshop", '{"text":"Grüße"}', NO_USER)
    expect({"echo", "fail", "count"} <= tools, "the tools:", tools)


@tests_of({name: name for name in OVER_HTTP})
def it_goes_on_after_the_server_was_started_again(name):
    outcome(name, "todo")
    again = outcome(name, "again")["again"]
    expect("error" not in again, "it failed:", again)
    text, failed = again
    expect("The requested resource was not found." in text and not failed, "the answer:", again)


@test
def the_page_has_the_versions_that_are_tested():
    with open(os.path.join(TREE, "docs", "mcp.md"), encoding="utf-8") as page, \
            open(os.path.join(TREE, "scripts", "setup"), encoding="utf-8") as setup:
        rows, script = re.findall(r"^\| `([^`]+)` ([0-9., ]+) \|", page.read(), re.M), setup.read()
    told = {(name, version) for name, versions in rows for version in versions.split(", ")}
    pinned = set(re.findall(r"(?:npm:)?((?:@modelcontextprotocol/(?:sdk|client)|@langchain/mcp-adapters|mcp-use|supergateway|mcp-remote|"
                            r"@ai-sdk/mcp))@([0-9.]+)", script))
    equal(told, pinned, "clients and versions")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
