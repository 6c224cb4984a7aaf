#!/usr/bin/env python3
"""The npm package as a whole: what is packed, that it installs without a compiler, its types, and the examples of docs/node.md.

    MISHAP_NODE_PACKAGE=… MISHAP_NODE_MODULES=… python3 tests/bindings/node_package_test.py [PART-OF-A-NAME]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("mcp", "cli")]
from blackbox import PATIENCE, Skipped, equal, expect, main, test  # noqa: E402
from node import NODE_MODULES, node, node_22  # noqa: E402

PACKAGE = os.environ["MISHAP_NODE_PACKAGE"]


def run(*command, cwd, **more):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE, check=False, **more)
    equal(done.returncode, 0, done.stdout[-3000:])
    return done.stdout


def packed(folder, env, ninja="exit 0"):
    """What `make npm` does, with the package of this build in a build folder of its own, where nothing is left to be built."""
    build, programs = os.path.join(folder, "build"), os.path.join(folder, "bin")
    if not os.path.isdir(build):
        os.mkdir(programs)
        shutil.copytree(PACKAGE, os.path.join(build, "bindings", "node", "package"))
        # In place of the addon for arm64, which another compiler makes; on arm64 it is this one.
        addon = os.path.join(PACKAGE, "prebuilds", os.listdir(os.path.join(PACKAGE, "prebuilds"))[0], "mishap.node")
        shutil.copy(addon, os.path.join(build, "bindings", "node", "mishap-arm64.node"))
    with open(os.path.join(programs, "ninja"), "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n%s\n" % ninja)
    os.chmod(file.name, 0o755)
    return subprocess.run([os.path.join(ROOT, "scripts", "npm")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE, check=False,
                          env=dict(env, BUILD=build, PATH=programs + os.pathsep + os.environ["PATH"]))


USES = ["""
const mishap = require("mishap"), assert = require("node:assert");
assert.throws(() => { throw new mishap.Mishap("NOT_FOUND", "There is no user 7.", { context: { user: 7 } }); }, (error) => {
    console.log(error.render());
    return error instanceof Error && error.status === 404;
});
""", """
import mishap, { Mishap, parse, codes } from "mishap";
import assert from "node:assert";
assert.equal(mishap.Mishap, Mishap);
await assert.rejects(async () => { throw new Mishap(codes.NOT_FOUND, "There is no user 7.", { context: { user: 7 } }); }, (error) => {
    console.log(parse(error.render()).render());
    return error instanceof Error && error.status === 404;
});
"""]


@test
def it_is_packed_and_installed_without_a_compiler_and_offline():
    if not shutil.which("npm") or not node():
        raise Skipped("there is no npm")
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, HOME=folder, npm_config_cache=os.path.join(folder, "cache"), npm_config_update_notifier="false")
        done = packed(folder, env)
        equal(done.returncode, 0, done.stdout)
        archive = done.stdout.split(", for:")[0]
        own = sorted(os.listdir(os.path.join(PACKAGE, "prebuilds")))
        equal(set(done.stdout.split(", for:")[1].split()), {"linux-arm64", *own})
        files = set(run("tar", "-tzf", archive, cwd=folder).split())
        for name in ("package.json", "index.cjs", "index.mjs", "index.d.ts", "index.d.mts", "codes.d.ts", "lib/mishap.cjs",
                     "prebuilds/linux-arm64/mishap.node", *("prebuilds/%s/mishap.node" % name for name in own)):
            expect("package/" + name in files, name, files)
        expect(not any(name.endswith((".c", ".h", ".gyp", ".p")) for name in files), files)
        app = os.path.join(folder, "app")
        os.mkdir(app)
        run("npm", "install", "--offline", "--no-audit", "--no-fund", archive, cwd=app, env=dict(env, CC="false", CXX="false"))
        for name, text in zip(("common.cjs", "module.mjs"), USES):
            with open(os.path.join(app, name), "w", encoding="utf-8") as file:
                file.write(text)
            document = json.loads(run(node(), name, cwd=app))
            equal((document["code"], document["status"], document["context"]), ("NOT_FOUND", 404, {"user": 7}))


@test
def a_package_that_cannot_be_built_is_not_packed():
    with tempfile.TemporaryDirectory() as folder:
        done = packed(folder, dict(os.environ, HOME=folder), "exit 1")
        equal((done.returncode, "libnode-dev" in done.stdout, [name for name in os.listdir(os.path.join(folder, "build")) if name.endswith(".tgz")]), (1, True, []), done.stdout)


@test
def the_version_is_that_of_the_project():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
        version = re.search(r"version: '([^']+)'", file.read())[1]
    with open(os.path.join(ROOT, "bindings", "node", "package.json"), encoding="utf-8") as file:
        equal(json.load(file)["version"], version)
    with open(os.path.join(ROOT, "bindings", "node", "lib", "native.cjs"), encoding="utf-8") as file:
        equal(re.search(r'^const version = "([^"]+)";', file.read(), re.M)[1], version, "the version in native.cjs")


TYPED = """
import mishap, { Mishap, ParseError, parse, translate, verify, guard, describe, newIncident, codes, dialects, setSink, toMishap, type Code, type Field } from "mishap";
const code: Code = codes.NOT_FOUND;
const field: Field = { field: "items[2].name", error: "invalid_length", min: 1, max: 20n };
const m: Error = new Mishap(code, "No.", { context: { user: 7 }, fields: [field], retryAfter: 1.5, notes: { a: 1 }, cause: new Error("x"), category: "resource" });
if (m instanceof Mishap) { const text: string = m.render("json-api"), status: number = m.status; void text; void status; }
try { parse("{}", "problem"); } catch (error) { if (error instanceof ParseError) error.findings.map(({ rule, severity }) => `${rule} ${severity}`); }
translate(new Uint8Array(), "problem", "http-api"); verify("{}", "problem", { strict: true }); guard("x", { known: ["y"], strict: false });
describe("NOT_FOUND").status.toFixed(); newIncident().length; dialects.length; setSink((record) => record.causes.length); toMishap(1).render();
mishap.express({ strict: true }); mishap.fastify({ a: 1 }).a; mishap.fastify.options({ logger: true }).logger; mishap.hono({ b: 2 }).b; mishap.hono.stream(async (out: { write(text: string): unknown }) => out.write("x")); mishap.mcp({ c: 3 }, { dialect: "artifact" }).c;
// @ts-expect-error: there is no such code
new Mishap("NOT_FUND");
// @ts-expect-error: there is no such dialect
new Mishap("NOT_FOUND").render("soap");
// @ts-expect-error: seconds are a number
new Mishap("NOT_FOUND", "No.", { retryAfter: "x" });
"""


@test
def the_types_hold_for_modules_and_for_commonjs():
    compiler = os.path.join(NODE_MODULES, "typescript/lib/tsc.js")
    if not os.path.exists(compiler) or not node():
        raise Skipped("there is no TypeScript")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "node_modules"))
        os.symlink(PACKAGE, os.path.join(folder, "node_modules", "mishap"))
        for name, text in (("module.mts", TYPED), ("common.cts", TYPED.replace("import mishap,", "import * as mishap from \"mishap\";\nimport"))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        run(node(), compiler, "--noEmit", "--strict", "--target", "es2022", "--module", "node16", "module.mts", "common.cts", cwd=folder)


# ---- docs/node.md ---------------------------------------------------------------------------------

def blocks():
    """The blocks of JavaScript of the page: what stands above each, its lines, and the text block behind it."""
    with open(os.path.join(ROOT, "docs", "node.md"), encoding="utf-8") as file:
        page = file.read()
    return re.findall(r"```js\n(.*?)```(?:\n+```text\n(.*?)```)?", page, re.S)


@test
def the_examples_of_the_page_print_what_it_shows():
    found = blocks()
    expect(len(found) >= 5, len(found))
    with tempfile.TemporaryDirectory() as folder:
        modules = os.path.join(folder, "node_modules")
        os.mkdir(modules)
        for name in os.listdir(NODE_MODULES) if os.path.isdir(NODE_MODULES) else []:
            os.symlink(os.path.join(NODE_MODULES, name), os.path.join(modules, name))
        os.symlink(PACKAGE, os.path.join(modules, "mishap"))
        for number, (text, shown) in enumerate(found):
            missing = [name for name in re.findall(r'from "([^".]+)"', text)
                       if not name.startswith("node:") and not os.path.isdir(os.path.join(modules, "/".join(name.split("/")[:2 if name[0] == "@" else 1])))]
            if missing:
                continue
            file = os.path.join(folder, "example%d.mjs" % number)
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            printed = run(node_22(), file, cwd=folder)
            if shown:
                pattern = re.escape(shown.strip()).replace("…", ".*")
                expect(re.fullmatch(pattern, printed.strip(), re.S), "example", number, "prints", printed, "and not", shown)


main()
