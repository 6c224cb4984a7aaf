"""What is said of wrong arguments, on every boundary: formats, choices, words of one's own.

    MISHAP_PROGRAM=… WORDS_PROGRAM=… python3 tests/http/words_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/words.c is the program that is asked.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test

WORDS = os.path.abspath(os.environ["WORDS_PROGRAM"])


def post(path, body, **more):
    found = server.server("words", "--workers", "1", program=WORDS)
    return found.ask("POST", path, json.dumps(body).encode(), **more)


def agent():
    return talk.Server(program=WORDS, revision="2025-11-25")


def command(*words, status=0):
    answer = run_program(WORDS, *words, "--output", "json")
    equal(answer.status, status, "exit code")
    return parsed(answer.out)


# ---- Formats and choices -------------------------------------------------------------------------

BOOKED = {"seats": 3, "day": "2026-02-28"}
IMPOSSIBLE = [
    {"field": "day", "error": "pattern_mismatch", "expected": "a date such as 2026-02-28"},
    {"field": "class", "error": "pattern_mismatch", "expected": ["economy", "premium"]},
    {"field": "stops[1]", "error": "pattern_mismatch", "expected": "an airport, such as VIE"},
]


@test
def http_checks_formats_and_takes_a_whole_number_with_a_point():
    found = post("/flights", {"name": "Ada", "day": "2026-02-28", "seats": 3.0})
    equal((found.status, parsed(found.body)), (200, BOOKED), "answer")
    found = post("/flights", {"name": "Ada", "day": "2026-02-31", "class": "first", "stops": ["VIE", "vienna"]})
    equal((found.status, parsed(found.body)["details"]), (422, IMPOSSIBLE), "answer")


@test
def tools_check_formats_and_take_a_whole_number_with_a_point():
    with agent() as found:
        equal(found.call("book", name="Ada", day="2026-02-28", seats=3.0)["structuredContent"], BOOKED, "answer")
        wrong = found.call("book", name="Ada", day="2026-02-31", **{"class": "first"}, stops=["VIE", "vienna"])
        equal([{key: field[key] for key in ("field", "error", "expected")} for field in wrong["structuredContent"]["fields"]],
              IMPOSSIBLE, "fields")
        tool, = found.result("tools/list")["tools"]
        equal(tool["inputSchema"]["properties"]["day"]["format"], "date", "the schema")


@test
def commands_check_formats():
    equal(command("book", "--name", "Ada", "--day", "2026-02-28", "--seats", "3")["data"], BOOKED, "answer")
    # Where there is only text, an integer is digits.
    wrong = command("book", "--name", "Ada", "--day", "2026-02-31", "--seats", "3.0", status=2)
    equal(sorted(item["param"] for item in wrong["error"]["errors"]), ["day", "seats"], "errors")


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
