"""The official TypeScript clients, 1.x and 2.x, over standard input and output: clients.mjs has what they do."""
import os
import subprocess
import tempfile

from node import NODE_MODULES, node
from talk import MISHAP, WORKSHOP, Skipped, equal, expect, main, tests_of

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = ["connect", "list", "read, get, complete", "call", "progress", "cancel", "the client loses patience",
         "failures are results", "what is asked wrongly is an error", "close", "the todo service", "bytes"]
PACKAGES = {"one": "@modelcontextprotocol/sdk", "two": "@modelcontextprotocol/client",
            "two-older": "@modelcontextprotocol/client"}


@tests_of({"1.x": "one", "2.x, stateless": "two", "2.x as it comes": "two-older"})
def the_official_client_is_content(which):
    if not node() or not os.path.isdir(os.path.join(NODE_MODULES, PACKAGES[which])):
        raise Skipped("the client is not there")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([node(), os.path.join(HERE, "clients.mjs"), NODE_MODULES, which, WORKSHOP, MISHAP,
                               os.environ["BYTES_PROGRAM"]],
                              env=dict(os.environ, MISHAP_DATA=folder, MISHAP_LOG="", WORKSHOP_LOG=""),
                              capture_output=True, text=True, timeout=400, check=False)
    passed = [text[4:] for text in done.stdout.splitlines() if text.startswith("ok: ")]
    equal((passed, done.stderr[-1500:]), (STEPS, ""), "steps")
    expect(done.returncode == 0, "exit status", done.returncode)


main()
