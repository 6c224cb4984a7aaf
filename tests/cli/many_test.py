"""The program with 200 operations has all of them: on the command line, over HTTP and over MCP.

    MISHAP_PROGRAM=… MANY_PROGRAM=… python3 tests/cli/many_test.py
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(os.path.dirname(HERE), "http"), os.path.join(os.path.dirname(HERE), "mcp")]
import server  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, main, parsed, run_program, test  # noqa: E402

MANY = os.path.abspath(os.environ["MANY_PROGRAM"])
NUMBERS = range(100, 300)


@test
def the_command_line_has_them_all():
    commands = parsed(run_program(MANY, "manifest", "--output", "json").out)["data"]["commands"]
    equal({"many.thing_with_number_%d" % number for number in NUMBERS} - set(commands), set(), "not in the manifest")
    for number in NUMBERS[::66]:
        ran = run_program(MANY, "many", "thing_with_number_%d" % number, "--output", "json")
        equal((ran.status, parsed(ran.out)["data"]), (0, {"number": number}), "the command")


@test
def a_misspelled_name_of_the_last_ones_is_told():
    ran = run_program(MANY, "many", "tihng_with_number_299", "--output", "json")
    equal(parsed(ran.out)["error"]["suggestion"], "Did you mean `mishap many thing_with_number_299`?", "the suggestion")


@test
def a_misspelled_flag_of_the_last_ones_is_told():
    ran = run_program(MANY, "many", "flags", "--flga-with-number-99", "x", "--output", "json")
    equal([error["expected"] for error in parsed(ran.out)["error"]["errors"]], ["--flag-with-number-99"], "what is meant")


@test
def http_has_them_all():
    with server.Server("--workers", "1", program=MANY) as found, found.connect() as one:
        paths = one.ask("GET", "/openapi.json").json["paths"]
        equal({"/things/%d" % number for number in NUMBERS} - set(paths), set(), "not in the document")
        for number in NUMBERS:
            equal(one.ask("GET", "/things/%d" % number).json, {"number": number}, "the answer")


@test
def mcp_has_them_all():
    with talk.Server(program=MANY, revision="2025-11-25") as found:
        names, cursor = set(), {}
        while cursor is not None:
            page = found.result("tools/list", cursor)
            names |= {tool["name"] for tool in page["tools"]}
            cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        equal({"many_thing_with_number_%d" % number for number in NUMBERS} - names, set(), "not in the list")
        for number in NUMBERS:
            equal(found.call("many_thing_with_number_%d" % number)["structuredContent"], {"number": number}, "the answer")


main()
