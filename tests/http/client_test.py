"""The documented TypeScript client against the real server, with types that are made from the catalog.

    MISHAP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/http/client_test.py

Speaks TAP. It is skipped where there is no TypeScript compiler in MISHAP_NODE_MODULES.
"""
import os
import re
import shutil

import server
from blackbox import Skipped, equal, expect, main, run_program, test
from server import HERE, NODE_MODULES, TREE, Server

COMPILER = os.path.join(NODE_MODULES, "typescript/lib/tsc.js")
PLACE = os.path.join(server.FOLDER, "client")


def compile_client(change=lambda text: text):
    """Put the client and the generated types into a folder of their own, and compile them strictly."""
    if not os.path.exists(COMPILER) or not shutil.which("node"):
        raise Skipped("there is no TypeScript compiler in %s" % NODE_MODULES)
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(os.path.join(HERE, "client"), PLACE)
    with open(os.path.join(PLACE, "client.ts"), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(PLACE, "client.ts"), "w", encoding="utf-8") as file:
        file.write(change(text))
    with open(os.path.join(PLACE, "package.json"), "w", encoding="utf-8") as file:
        file.write('{"type": "module"}\n')
    made = run_program("python3", os.path.join(TREE, "catalog/generate"), os.path.join(TREE, "catalog/codes.txt"),
                       "--typescript", os.path.join(PLACE, "mishap-codes.ts"))
    equal(made.status, 0, "exit of the generator")
    return run_program("node", COMPILER, "--project", PLACE)


@test
def the_documented_client_compiles_strictly_and_works():
    compiled = compile_client()
    expect(compiled.status == 0, "tsc:", compiled.out.decode())
    with Server("--workers", "1") as found:
        ran = run_program("node", os.path.join(PLACE, "client.js"), found.url)
        equal((ran.status, ran.err), (0, b""), "exit and stderr")
        equal(ran.out.decode().splitlines(), [
            "name: field_required",
            "age: value_out_of_range",
            "email: pattern_mismatch",
            "age: invalid_type",
            "/todos/999999999: not_found 404 as listed: Todo not found",
            "/premium/report: payment_required 402 as listed: Payment required for premium feature",
            "true age 200 is not in 0-150",
        ])
        equal([item["name"] for item in found.ask("GET", "/users").json["items"]], ["Ada"], "the users")


@test
def the_types_refuse_a_name_that_is_not_in_the_catalog():
    compiled = compile_client(lambda text: text.replace('HttpName = "validation_error"', 'HttpName = "validation_eror"'))
    expect(compiled.status != 0 and b"validation_eror" in compiled.out, compiled)


@test
def the_function_is_the_documented_one():
    with open(os.path.join(HERE, "client/client.ts"), encoding="utf-8") as file:
        text = file.read()
    expect(re.search(r"async function createUser\(data: UserData\) \{\n  const response = await fetch\('/users', \{", text), text)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
