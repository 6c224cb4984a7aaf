"""The conformance suite of the Model Context Protocol against a server of ours, over Streamable HTTP.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/mcp/conformance_test.py

Two releases of the suite: the latest stable one, and the newest with the requirements of two revisions. All scenarios
pass, also those that the suite does not score. The table of docs/mcp.md is held against what was seen. Skipped without
the packages or without Node 22.

The suite also runs against a server that can do nothing but `initialize`: a scenario whose checks succeed there as well says
nothing about ours. docs/mcp.md lists these; MISHAP_WRITE_DOCS=1 writes that table, else it is compared.
"""
import functools
import glob
import http.server
import json
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, test  # noqa: E402
from node import node_22  # noqa: E402
from server import NODE_MODULES  # noqa: E402

PROGRAM = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])

# ---- Running the suite ---------------------------------------------------------------------------

RUNS = {
    "0.1": ("conformance-0.1", ["--suite", "all"]),
    "2025-11-25": ("@modelcontextprotocol/conformance", ["--requirements", "2025-11-25"]),
    "2026-07-28": ("@modelcontextprotocol/conformance", ["--requirements", "2026-07-28"]),
}


class Empty(http.server.BaseHTTPRequestHandler):
    """A server that greets its clients and refuses everything else."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, message=None):
        body = json.dumps(message).encode() if message else b""
        self.send_response(status)
        if message:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        try:
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        except ValueError:
            asked = None
        if not isinstance(asked, dict) or "id" not in asked:
            self.reply(202 if isinstance(asked, dict) else 400)
        elif asked.get("method") == "initialize":
            revision = (asked.get("params") or {}).get("protocolVersion", "2025-11-25")
            capabilities = {name: {} for name in ("tools", "resources", "prompts", "completions", "logging")}
            self.reply(200, {"jsonrpc": "2.0", "id": asked["id"], "result": {
                "protocolVersion": revision, "capabilities": capabilities, "serverInfo": {"name": "empty", "version": "1"}}})
        else:
            self.reply(200, {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        self.reply(200)


def command_of(run, port, folder):
    package, flags = RUNS[run]
    entry = os.path.join(NODE_MODULES, package, "dist/index.js")
    if not os.path.exists(entry):
        raise Skipped("there is no %s in %s" % (package, NODE_MODULES))
    return [node_22(), entry, "server", "--url", "http://localhost:%d/mcp" % port, "-o", folder, *flags]


QUIET = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}


def empty_folder(run):
    return os.path.join(server.FOLDER, "empty-" + run)


@functools.cache
def empty_runs():
    """All runs of the suite against the empty server. They wait more than they work, so they go on beside the others."""
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    found.handle_error = lambda *_: None  # clients that leave without a word
    threading.Thread(target=found.serve_forever, daemon=True).start()
    return {run: subprocess.Popen(command_of(run, found.server_address[1], empty_folder(run)), stdout=subprocess.DEVNULL, **QUIET)
            for run in RUNS}


def checks_in(folder):
    """The checks of each scenario, as the suite has written them down."""
    outcome = {}
    for path in glob.glob(os.path.join(folder, "**/checks.json"), recursive=True):
        name = re.fullmatch(r"server-(.*?)-\d{4}-\d\d-\d\dT.*", os.path.basename(os.path.dirname(path)))[1]
        with open(path, "rb") as file:
            outcome[name] = parsed(file.read())
    return outcome


def run_suite(run):
    """The checks of each scenario, {scenario: [check, …]}, the run, and the checks of the empty server."""
    folder, empty = os.path.join(server.FOLDER, "suite-" + run), empty_runs()[run]
    with server.Server("--workers", "2", "--task-after-ms", "200") as found:
        done = subprocess.run(command_of(run, found.address[1], folder), stdout=subprocess.PIPE, timeout=600, check=False, **QUIET)
    empty.wait(600)
    summary = re.search(rb"^=== SUMMARY ===$(.*?)^Total: \d+ passed, (\d+) failed$", done.stdout, re.M | re.S)
    expect(summary, "the suite did not come to its end:", done.stdout[-1500:])
    outcome = {name.decode(): None for name in re.findall(rb"Running client scenario '([^']+)'", done.stdout)}
    expect(outcome, "the suite ran nothing:", done.stdout)
    outcome.update(checks_in(folder))
    equal(len(re.findall(r"^\S+ \S+: \d+ passed".encode(), summary[1], re.M)), len(outcome), "the scenarios of its summary")
    return outcome, done, checks_in(empty_folder(run))


# ---- The table of the documentation --------------------------------------------------------------

DOCUMENT = os.path.join(server.TREE, "docs/mcp.md")


def section():
    """What the documentation says about conformance."""
    with open(DOCUMENT, encoding="utf-8") as file:
        return file.read().split("\n## Conformance\n")[1].split("\n## ")[0]


def row_of(run):
    """The cells of the row about a run, which is known by its last word."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section().splitlines() if line[:1] == "|"]
    found = [row for row in rows if row[0].strip("`").endswith(RUNS[run][1][-1])]
    equal(len(found), 1, "rows about %s in %s" % (run, DOCUMENT))
    return found[0]


def failed_in(checks):
    """The checks of a scenario that failed, or what says that it broke off."""
    return ["it broke off"] if checks is None else [check for check in checks if check["status"] == "FAILURE"]


def cells_of(run, outcome):
    """The same as it was seen."""
    package, flags = RUNS[run]
    with open(os.path.join(NODE_MODULES, package, "package.json"), "rb") as file:
        version = parsed(file.read())["version"]
    passed = sum(not failed_in(checks) for checks in outcome.values())
    flags = "all" if flags[0] == "--suite" else "`%s`" % " ".join(flags)
    return ["%s, %s" % (version, flags), str(len(outcome)), str(passed)]


def succeeded(checks):
    """The checks that say something: what is looked at by the way, the form of messages, does not."""
    return {check["id"] for check in checks or [] if check["status"] == "SUCCESS"} - {"wire-schema-valid"}


def cells_about_nothing(run, outcome, empty):
    """What passes without a check of its own, and what passes with the empty server by the same checks; not `initialize`,
    which that server can do."""
    passed = {name: succeeded(checks) for name, checks in sorted(outcome.items())
              if checks is not None and not any(check["status"] == "FAILURE" for check in checks)}
    unchecked = [name for name, ids in passed.items() if not ids]
    same = [name for name, ids in passed.items() if ids and ids <= succeeded(empty.get(name)) and name != "server-initialize"]
    version = cells_of(run, outcome)[0].split(",")[0]
    first = version if RUNS[run][1][0] == "--suite" else "%s of %s" % (RUNS[run][1][-1], version)
    return [first] + [", ".join("`%s`" % name for name in names) or "none" for names in (unchecked, same)]


def hold_row_about_nothing(cells):
    """The row of the second table, which is known by its first cell; or write it."""
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    row, found = "| %s |" % " | ".join(cells), re.findall(r"^\| %s \|.*" % re.escape(cells[0]), text, re.M)
    equal(len(found), 1, "rows about %s in %s" % (cells[0], DOCUMENT))
    if os.environ.get("MISHAP_WRITE_DOCS"):
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(text.replace(found[0], row))
    else:
        equal(found[0], row, "the row in %s, which MISHAP_WRITE_DOCS=1 would write," % DOCUMENT)


# ---- The tests -----------------------------------------------------------------------------------

def judge(scenario, checks):
    """What has failed in a scenario, as lines."""
    return ["%s: %s" % (scenario, one if isinstance(one, str) else "%s: %s" % (one["id"], one.get("errorMessage") or one.get("details")))
            for one in failed_in(checks)]


def remarks(scenario, checks):
    return ["%s: %s: %s" % (scenario, check["id"], check.get("errorMessage"))
            for check in checks or [] if check["status"] == "WARNING"]


def hold_suite(run):
    outcome, done, empty = run_suite(run)
    wrong = [line for scenario, checks in sorted(outcome.items()) for line in judge(scenario, checks)]
    for scenario, checks in sorted(outcome.items()):
        for line in remarks(scenario, checks):
            print("# warning: " + line)
    print("# %d scenarios" % len(outcome))
    expect(not wrong, "\n" + "\n".join(wrong))
    equal(done.returncode, 0, "its exit status after %s" % done.stdout[-1500:])
    equal(row_of(run), cells_of(run, outcome), "the row in %s" % DOCUMENT)
    hold_row_about_nothing(cells_about_nothing(run, outcome, empty))


@test
def the_stable_suite_passes():
    hold_suite("0.1")


@test
def the_newest_suite_passes_for_the_revision_with_sessions():
    hold_suite("2025-11-25")


@test
def the_newest_suite_passes_for_the_stateless_revision():
    hold_suite("2026-07-28")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


server.PROGRAM = PROGRAM
main()
