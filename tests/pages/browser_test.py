"""The pages in Chromium: browser.mjs does what a person would do. Servers and failures are made here.

Skipped without Chromium, Node 22, playwright-core or axe-core. MISHAP_SCREENSHOTS=DIR writes pictures.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["http", "mcp"]:
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
from server import NODE_MODULES, PROGRAM, UUID, Server, equal, expect, run_program  # noqa: E402
from blackbox import Skipped, main, parsed, tests_of  # noqa: E402
from node import node_22  # noqa: E402

MARKED = os.environ["MARKED_PROGRAM"]
SECRET = "only-for-the-operator-7c1f"
PLANTED = "<img src=x onerror=window.planted=1>"  # in what a caller sends
PATIENCE = 1200
with open(os.path.join(HERE, "browser.mjs"), encoding="utf-8") as script:
    STEPS = re.findall(r"^  async '([^']+)'", script.read(), re.M)

has_console = has_plot = True
found = {}  # step → what browser.mjs says
skipped = ""


def wait_for(path):
    deadline = time.monotonic() + PATIENCE
    while not (os.path.exists(path) and os.path.getsize(path)):
        expect(time.monotonic() < deadline, "there is no", path)
        time.sleep(0.05)
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def fail_everywhere(server):
    """The same failure at each boundary: what the caller got, which must have the id and not the secret. What the caller sends has markup; `sent` of each
    is what of it the console must show."""
    env = {"MARKED_DATA": server.data, "MARKED_LOG": server.log}
    http = server.ask("GET", "/planted?word=" + quote(PLANTED + "http"), fields={"User-Agent": PLANTED + "agent"}, checked=False)
    equal(http.status, 409)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "planted_fail", "arguments": {"word": PLANTED + "mcp"}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}}}
    mcp = server.ask("POST", "/mcp", call, fields={"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
                                                   "Mcp-Name": "planted_fail"}, checked=False)
    cli = run_program(MARKED, "planted", "fail", "--word", PLANTED + "cli", "--output", "json", env=env)
    texts = {"http": http.head.decode() + http.body.decode(), "mcp": mcp.body.decode(), "cli": cli.out.decode() + cli.err.decode()}
    ids = {}
    for boundary, text in texts.items():
        expect(SECRET not in text, boundary, "tells the secret:", text)
        named = UUID.findall(text)
        expect(named, "no id from", boundary, text)
        ids[boundary] = {"id": named[-1], "pasted": "Dear operator, I got " + named[-1] + " today. Regards", "sent": [PLANTED + boundary]}
    ids["http"]["sent"].append(PLANTED + "agent")
    return ids


def lesser_key(server):
    """A key that may call, and may not see incidents."""
    made = run_program(PROGRAM, "keys", "add", "--name", "lesser", "--data", server.data, "--output", "json")
    return parsed(made.out)["data"]["key"]


def has_operator(server):
    """Does the server have the operations of the operator?"""
    return server.ask("GET", "/incidents", checked=False).status in (401, 403)


def run_all():
    global skipped, has_console, has_plot
    chromium = shutil.which("chromium")
    try:
        node = node_22()
    except Skipped as reason:
        skipped = str(reason)
        return
    missing = [name for name in ["playwright-core", "axe-core"] if not os.path.isdir(os.path.join(NODE_MODULES, name))]
    if not chromium or missing:
        skipped = "there is no " + " and no ".join(missing or ["chromium"])
        return
    with Server("--workers", "1") as server, Server("--workers", "1", program=MARKED) as marked:
        given = {"modules": NODE_MODULES, "chromium": chromium, "shots": os.environ.get("MISHAP_SCREENSHOTS"), "operator": has_operator(server), "only": None if len(sys.argv) < 2 else sys.argv[1],
                 "main": {"url": server.url, "key": wait_for(os.path.join(server.data, "operator.key")), "lesser": lesser_key(server)},
                 "plot": server.ask("GET", "/_pages/uplot.js").body != b"export default null;\n",
                 "marked": {"url": marked.url, "key": wait_for(os.path.join(marked.data, "operator.key")), "secret": SECRET, "ids": fail_everywhere(marked)}}
        has_console, has_plot = given["operator"], given["plot"]
        for path in ["/users/none", "/todos/none", "/users?limit=x"]:
            server.ask("GET", path)
        done = subprocess.run([node, os.path.join(HERE, "browser.mjs"), json.dumps(given)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    for line in done.stdout.splitlines():
        told = json.loads(line)
        if "milliseconds" in told:
            print("# first views, in ms: %s" % told["milliseconds"])
        else:
            print("# %s: %s" % (told.get("seconds", "failed"), told["step"]))
            found[told["step"]] = told
    if done.returncode:
        print("# " + done.stderr[-2000:].replace("\n", "\n# "))


run_all()


@tests_of({step: step for step in STEPS})
def in_a_browser(step):
    if skipped:
        raise Skipped(skipped)
    if step not in found and not has_console:
        raise Skipped("the server has no operations of the operator")
    if step not in found and not has_plot and "plot" in step:
        raise Skipped("the program is built without uPlot")
    expect(step in found, "the step was not reached")
    expect("wrong" not in found[step], found[step].get("wrong"))


main()
