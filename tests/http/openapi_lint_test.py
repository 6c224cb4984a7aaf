"""The description of the API, as a server hands it out, against the schema of OpenAPI 3.1 and Redocly's rules.

    MISHAP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/http/openapi_lint_test.py [PART-OF-A-NAME]

Speaks TAP. It is skipped where the packages that openapi_lint.mjs needs are not in MISHAP_NODE_MODULES.
"""
import os
import shutil

import server
from blackbox import Skipped, equal, expect, main, run_program, test, tests_of
from server import HERE, NODE_MODULES, Server

LINT = os.path.join(HERE, "openapi_lint.mjs")
PACKAGES = ["@redocly/cli", "@seriousme/openapi-schema-validator"]


def flaws_of(document):
    """What is wrong with a document, a line each."""
    for package in PACKAGES:
        if not os.path.isdir(os.path.join(NODE_MODULES, package)):
            raise Skipped("there is no %s in %s" % (package, NODE_MODULES))
    if not shutil.which("node"):
        raise Skipped("there is no node")
    path = os.path.join(server.FOLDER, "openapi.json")
    with open(path, "wb") as file:
        file.write(document)
    ran = run_program("node", LINT, NODE_MODULES, path)
    equal(ran.status, 1 if ran.out else 0, "exit with %r, %r" % (ran.out, ran.err))
    return ran.out.decode().splitlines()


@tests_of({"as it comes": (), "with everything": ("--chaos", "--require-key", "--rate", "1000")})
def the_description_is_beyond_reproach(*flags):
    data = os.path.join(server.FOLDER, "data")
    os.makedirs(data, exist_ok=True)
    if "--require-key" in flags:
        made = run_program(server.PROGRAM, "keys", "add", "--name", "reader", "--data", data)
        equal(made.status, 0, "exit of `keys add`")
    with Server("--workers", "1", *flags, data=data) as found:
        answer = found.ask("GET", "/openapi.json")
        equal((answer.status, answer.json["openapi"][:3]), (200, "3.1"))
        equal("/chaos" in answer.json["paths"], "--chaos" in flags, "chaos among the paths")
        equal(flaws_of(answer.body), [], "flaws")


@tests_of({"bookings": ("BOOKINGS_PROGRAM", "/bookings"), "album": ("ALBUM_PROGRAM", "/photos")})
def the_description_of_an_example_is_beyond_reproach(program, path):
    """Types, rules across fields, forms and bytes."""
    with Server("--workers", "1", program=os.path.abspath(os.environ[program])) as found:
        answer = found.ask("GET", "/openapi.json")
        equal((answer.status, answer.json["openapi"][:3]), (200, "3.1"))
        expect("post" in answer.json["paths"][path], "no", path)
        equal(flaws_of(answer.body), [], "flaws")


@test
def a_flaw_would_be_seen():
    with Server("--workers", "1") as found:
        document = found.ask("GET", "/openapi.json").body
    found = flaws_of(document.replace(b'"operationId"', b'"operationID"', 1))
    expect(found, "nothing was found in a document with a flaw")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
