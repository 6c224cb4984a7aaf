#!/usr/bin/env python3
"""valgrind finds nothing in the addon of the npm package, and no memory that it lost. In `make test-all` alone.

    MISHAP_NODE_PACKAGE=… python3 tests/bindings/node_valgrind_test.py
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("mcp", "cli")]
from blackbox import PATIENCE, Skipped, equal, expect, main, test  # noqa: E402
from node import node  # noqa: E402

CALLS = """
const mishap = require(process.env.MISHAP_NODE_PACKAGE), { Mishap } = mishap;
mishap.setSink(() => {});
const tried = (call) => { try { return call(); } catch (error) { return error; } };
for (let i = 0; i < 20; i++) {
    const long = "ä".repeat(i * 500), context = { a: [1, { b: long }], c: long, d: 2n ** 63n, e: "\\ud800" };
    const m = new Mishap("VALIDATION_ERROR", `No ${i} %n`, { context, fields: [{ field: "f", error: "e", min: 1, actual: long }], reason: long, retryAfter: i });
    const document = m.render();
    for (const dialect of mishap.dialects) tried(() => mishap.parse(mishap.translate(document, "problem", dialect), dialect));
    mishap.verify(document, "json-api");
    mishap.guard(`at read (/home/ada/app.js:3:9) ${long}`, { known: [long, context] });
    mishap.parse(document.replace("VALIDATION_ERROR", "OF_ANOTHER")).render("http-api");
    tried(() => new Mishap("NOT_FUND"));
    tried(() => mishap.parse(document.slice(0, -1 - i)));
    tried(() => mishap.parse(new Uint8Array([0x7b, 0xff, i])));
    const [, fail] = mishap.express(), response = { removeHeader() {}, setHeader() {}, end() {} };
    for (const error of [m, new Error(long), new Mishap("NOT_FOUND", "at read (/home/ada/app.js:3:9)\\n    at run (/home/ada/run.js:4:5)")])
        fail(error, { originalUrl: "/", query: {}, headers: {}, body: context }, response, () => {});
}
console.log("done");
"""


@test
def valgrind_finds_nothing_in_the_addon():
    if not shutil.which("valgrind"):
        raise Skipped("valgrind is not installed")
    if not node():
        raise Skipped("there is no Node")
    done = subprocess.run(["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--smc-check=all-non-file", node(), "--jitless", "-e", CALLS], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=10 * PATIENCE, check=False)
    equal(done.stdout.strip(), "done", done.stderr[-3000:])
    blocks = re.split(r"^==\d+== \n", done.stderr, flags=re.M)
    expect(any("ERROR SUMMARY" in block for block in blocks), done.stderr[-3000:])
    equal([block for block in blocks if "mishap.node" in block], [])


main()
