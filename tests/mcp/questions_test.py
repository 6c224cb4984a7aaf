"""Clients from npm that are asked by a handler (mishap_ask), and what each of them declares: the table of docs/mcp.md.

    MISHAP_PROGRAM=… ASKING_PROGRAM=… python3 tests/mcp/questions_test.py [PART-OF-A-NAME]

tests/http/asking.c is the program, asking.mjs has the clients. elicitation_test.py has the same questions without them. MISHAP_WRITE_DOCS=1 writes
the table, else it is compared. What is not installed is skipped.
"""
import functools
import http.client
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from mcpdo import Mcpdo, inspector  # noqa: E402
from node import node_22  # noqa: E402

ASKING = os.path.abspath(os.environ["ASKING_PROGRAM"])
HERE = os.path.dirname(os.path.abspath(__file__))
TEE = os.path.join(HERE, "tee.py")
KEPT = os.path.join(server.FOLDER, "kept")
DOCUMENT = os.path.join(server.TREE, "docs/mcp.md")
FIRST = "Delete 3 todos of Bob?"
AGAIN = FIRST + " (sure: invalid type, expected boolean)"


def shared():
    return server.server("asking", "--workers", "2", program=ASKING)


def environment():
    os.makedirs(KEPT, exist_ok=True)
    return {**os.environ, "ASKING_DATA": os.path.join(server.FOLDER, "piped"), "ASKING_LOG": "", "MCP_USE_ANONYMIZED_TELEMETRY": "false"}


# ---- What clients send over HTTP -----------------------------------------------------------------

class Recorder(http.server.BaseHTTPRequestHandler):
    """A server in front of ours: /NAME/mcp is its /mcp, and the first message is kept in the file NAME."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        name, body = urllib.parse.unquote(self.path.split("/")[1]), self.rfile.read(int(self.headers["Content-Length"]))
        path = os.path.join(KEPT, name)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(body.replace(b"\n", b" ") + b"\n")
        connection = http.client.HTTPConnection(*shared().address)
        connection.request("POST", "/mcp", body, {key: value for key, value in self.headers.items() if key.lower() not in ("host", "connection")})
        answer = connection.getresponse()
        text = answer.read()
        self.send_response(answer.status)
        for key in ("Content-Type", "Mcp-Session-Id"):
            if answer.headers[key]:
                self.send_header(key, answer.headers[key])
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        connection.close()

    def do_GET(self):
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def log_message(self, *_):
        """Nothing."""


@functools.cache
def recorder():
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    found.daemon_threads, found.handle_error = True, lambda *_: None  # clients that leave without a word
    threading.Thread(target=found.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % found.server_address[1]


# ---- The clients of asking.mjs -------------------------------------------------------------------

@functools.cache
def clients_of_npm():
    """What the clients of asking.mjs have said."""
    if not os.path.isdir(os.path.join(server.NODE_MODULES, "@modelcontextprotocol/client")):
        raise Skipped("the clients are not there")
    done = subprocess.run([node_22(), os.path.join(HERE, "asking.mjs"), server.NODE_MODULES, ASKING, shared().url + "/mcp", recorder(), sys.executable, TEE, KEPT],
                          env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1500, check=False)
    equal(done.returncode, 0, done.stderr[-1000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_told_what_to_send(row):
    equal((row.get("error"), row["asked"], row["failed"], row["told"]["code"]), (None, [], True, "INPUT_REQUIRED"), "none")
    expect("_answers" in row["told"]["suggestion"], row)


BOTH = ["SDK 1.x", "SDK 2.x", "SDK 2.x, older", "mcp-use", "@ai-sdk/mcp"]
ASKED = {"%s, %s" % (name, over): (name, over) for name in BOTH for over in ("stdio", "http")}
ASKED.update({name: (name, "http") for name in ("mcp-remote", "mcp-remote --protocol auto")})


@tests_of(ASKED)
def a_client_is_asked_and_answers(which, over):
    rows = {row["way"]: row for row in clients_of_npm() if row.get("which") == which and row["over"] == over}
    for way, asks in ("accept", [FIRST]), ("wrong", [FIRST, AGAIN]):
        equal((rows[way].get("error"), rows[way]["asked"], rows[way].get("told")), (None, asks, {"deleted": 3, "why": "none"}), way)
    for way in "decline", "cancel":
        equal((rows[way].get("error"), rows[way]["asked"], rows[way]["failed"], rows[way]["told"]["code"]), (None, [FIRST], True, "CANCELLED"), way)
    is_told_what_to_send(rows["none"])


UNASKED = {"SDK 1.9": ("stdio",), "SDK 1.10": ("stdio", "http"), "@langchain/mcp-adapters": ("stdio", "http")}


@tests_of({"%s, %s" % (which, over): (which, over) for which, overs in UNASKED.items() for over in overs})
def a_client_without_a_handler_for_questions_is_told_what_to_send(which, over):
    row, = (row for row in clients_of_npm() if row.get("which") == which and row["over"] == over)
    equal((row.get("error"), row.get("failed")), (None, True), row)
    expect(FIRST in row["told"] and "_answers" in row["told"], row)


@test
def supergateway_does_not_tell_that_its_client_can_be_asked():
    for row in clients_of_npm():
        if row.get("which") == "supergateway":
            is_told_what_to_send(row)


# ---- The Inspector -------------------------------------------------------------------------------

TOOL_FAILED = 5  # the exit code of its programs for isError
ERAS = {"with a session": "legacy", "stateless": "modern"}


def inspect(file, era, tool, *arguments):
    """A call of the Inspector's command line, whose messages are kept in a file."""
    done = subprocess.run([node_22(), inspector("launcher/build/index.js"), "--cli", sys.executable, TEE, os.path.join(KEPT, file), ASKING, "mcp", "--protocol-era", era,
                           "--format", "json", "--quiet", "--method", "tools/call", "--tool-name", tool, *arguments],
                          env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    found = json.loads(done.stdout.splitlines()[0])
    return found.get("result", found)


@tests_of(ERAS)
def the_inspector_without_forms_is_told_what_to_send(era):
    found = inspect("Inspector-command line-" + era, era, "rename", "--tool-arg", "name=Bob")
    expect(found["isError"] and "_answers" in found["content"][0]["text"], found)


def connect(client, file, era, *more):
    """mcpdo is connected; its messages are kept in a file."""
    path = os.path.join(client.env["HOME"], "servers.json")
    with open(path, "w", encoding="utf-8") as entries:
        json.dump({"mcpServers": {"one": {"command": sys.executable, "args": [TEE, os.path.join(KEPT, file), ASKING, "mcp"], "env": asking_of(client.env)}}}, entries)
    client.run("connect", "one", "--config", path, "--era", era, "--connect-timeout", "0", *more)


def asking_of(env):
    return {name: value for name, value in env.items() if name.startswith("ASKING_")}


def question_of(found):
    asked = found["elicitationPending"]
    expect(FIRST in json.dumps(asked), asked)
    return asked["elicitationId"]


def told(found):
    return found.get("result", found)["structuredContent"]


@tests_of(ERAS)
def mcpdo_of_the_inspector_is_asked_and_answers(era):
    with Mcpdo("mcpdo-" + era, **asking_of(environment())) as client:
        def rename(**more):
            return client.run("@one", "tools/call", "rename", "name:=Bob", **more)

        def respond(found, *words, **more):
            return client.run("elicitation/respond", question_of(found), *words, **more)

        connect(client, "mcpdo-asked", era)
        equal(told(respond(rename(), "sure:=true")), {"deleted": 3, "why": "none"}, "accept")
        equal(told(respond(respond(rename(), "sure:=maybe"), "sure:=true")), {"deleted": 3, "why": "none"}, "wrong")
        for way in "--decline", "--cancel":
            equal(told(respond(rename(), way, exits=TOOL_FAILED))["code"], "CANCELLED", way)
        client.run("disconnect", "@one")
        connect(client, "mcpdo-asked", era, "--elicit", "off")
        equal(told(rename(exits=TOOL_FAILED))["code"], "INPUT_REQUIRED", "none")


# ---- What clients declare ------------------------------------------------------------------------

LISTED = ["SDK 1.x", "SDK 2.x", "SDK 2.x, older", "@langchain/mcp-adapters", "mcp-use", "@ai-sdk/mcp", "mcp-remote", "mcp-remote --protocol auto", "supergateway"]
HEAD = "| client, without settings of its own | revision | capabilities | extensions | answers questions |\n|---|---|---|---|---|\n"


def declared(file):
    """The revision, the capabilities and the extensions in the first message that a client has sent."""
    with open(os.path.join(KEPT, file), "rb") as kept:
        said = json.loads(kept.readline())["params"]
    meta = said.get("_meta", {})
    capabilities = meta.get("io.modelcontextprotocol/clientCapabilities", said.get("capabilities"))
    names = sorted(set(capabilities) - {"extensions"}), sorted(capabilities.get("extensions", {}))
    return (meta.get("io.modelcontextprotocol/protocolVersion", said.get("protocolVersion")), *(", ".join("`%s`" % name for name in list) or "none" for list in names))


def answers(name):
    """Whether a client with a handler of its author for questions was asked; no: it has no such handler, or hides it."""
    rows = [row for row in clients_of_npm() if row.get("which") == name and row["way"] == "accept"]
    return "yes" if rows and all(row["asked"] for row in rows) else "no"


@test
def the_documentation_says_what_each_client_declares():
    clients_of_npm()
    seen = {name if name.startswith("SDK") else "`%s`" % name: (*declared(name.replace("/", "-")), answers(name)) for name in LISTED}
    for era in ERAS.values():
        inspect("Inspector-command line-" + era, era, "rename", "--tool-arg", "name=Bob")
        with Mcpdo("mcpdo-declares-" + era, **asking_of(environment())) as client:
            connect(client, "mcpdo-declares-" + era, era)
        option = "" if era == "legacy" else ", era `modern`"
        seen["Inspector, command line" + option] = (*declared("Inspector-command line-" + era), "no")
        seen["Inspector, mcpdo" + option] = (*declared("mcpdo-declares-" + era), "yes")
    table = "".join("| %s | %s |\n" % (name, " | ".join(cells)) for name, cells in seen.items())
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    expect(text.count(HEAD) == 1, "the head of the table")
    found = text.split(HEAD)[1].split("\n\n")[0] + "\n"
    if os.environ.get("MISHAP_WRITE_DOCS"):
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(text.replace(HEAD + found, HEAD + table))
    else:
        equal(found, table, "the table in %s, which MISHAP_WRITE_DOCS=1 would write," % DOCUMENT)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


server.PROGRAM = ASKING
main()
