"""What is said of wrong arguments, on every boundary: formats, choices, words of one's own.

    MISHAP_PROGRAM=… WORDS_PROGRAM=… python3 tests/http/words_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/words.c is the program that is asked.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of

WORDS = os.path.abspath(os.environ["WORDS_PROGRAM"])


def the_server():
    return server.server("words", "--workers", "1", program=WORDS)


def post(path, body, **more):
    return the_server().ask("POST", path, json.dumps(body).encode(), **more)


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
        tool, = [tool for tool in found.result("tools/list")["tools"] if tool["name"] == "book"]
        equal(tool["inputSchema"]["properties"]["day"]["format"], "date", "the schema")


@test
def commands_check_formats():
    equal(command("book", "--name", "Ada", "--day", "2026-02-28", "--seats", "3")["data"], BOOKED, "answer")
    # Where there is only text, an integer is digits.
    wrong = command("book", "--name", "Ada", "--day", "2026-02-31", "--seats", "3.0", status=2)
    equal(sorted(item["param"] for item in wrong["error"]["errors"]), ["day", "seats"], "errors")
    # In JSON it may have a point.
    right = ["--born=1990-02-28", "--class=economy", "--home=VIE"]
    equal(command("enrol", *right, '--bags=[{"weight":7.0},{"weight":1e1}]')["data"]["bags"], [{"weight": 7}, {"weight": 10}], "answer")
    item, = command("enrol", *right, '--bags=[{"weight":7.5}]', status=2)["error"]["errors"]
    equal((item["param"], item["code"]), ("bags[0].weight", "INVALID_TYPE"), "error")


# ---- Sentences -----------------------------------------------------------------------------------

WRONG = {"day": "2026-02-31", "class": "first", "stops": ["VIE", "vienna", "X", "Y"], "pin": "12a4"}
SENTENCES = {
    "name": "name is required (string).",
    "day": "day must be a date such as 2026-02-28, not 2026-02-31.",
    "class": "class must be one of economy or premium, not first.",
    "stops": "stops must have at most 3 items, not 4.",
    "stops[1]": "stops[1] must be an airport, such as VIE, not vienna.",
    "stops[2]": "stops[2] must be an airport, such as VIE, not X.",
    "stops[3]": "stops[3] must be an airport, such as VIE, not Y.",
    "pin": "pin must look like four digits.",
}


@test
def tools_say_what_is_wrong_in_sentences():
    with agent() as found:
        fields = found.call("book", **WRONG)["structuredContent"]["fields"]
        equal({field["field"]: field["message"] for field in fields}, SENTENCES, "sentences")


@test
def problems_have_sentences_and_the_http_api_keeps_its_members():
    fields = parsed(post("/flights", WRONG, fields=[("Accept", "application/problem+json")]).body)["errors"]
    equal({field["field"]: field["message"] for field in fields}, SENTENCES, "sentences")
    details = parsed(post("/flights", WRONG).body)["details"]
    equal([set(field) - {"min", "max", "actual"} for field in details],
          [{"field", "error"}] + [{"field", "error", "expected"}] * 2 + [{"field", "error"}]
          + [{"field", "error", "expected"}] * 4, "members")


@test
def commands_say_what_is_wrong_in_sentences():
    wrong = command("book", "--day", "2026-02-31", "--class", "first", *("--stops=" + stop for stop in WRONG["stops"]), status=2)
    found = {item["param"]: (item["code"], item["message"]) for item in wrong["error"]["errors"]}
    codes = {"name": "FIELD_REQUIRED", "class": "INVALID_CHOICE", "stops": "INVALID_LENGTH"}
    equal(found, {name: (codes.get(name, "INVALID_FORMAT"), words) for name, words in SENTENCES.items() if name != "pin"},
          "sentences")


@test
def help_and_prompts_tell_formats_and_words():
    text = " ".join(run_program(WORDS, "book", "--help").err.decode().split())
    for words in ["When to leave (a date such as 2026-02-28)", "an airport, such as VIE", "Looks like four digits"]:
        expect(words in text, words, "is not in", text)
    with agent() as found:
        prompt, = [prompt for prompt in found.result("prompts/list")["prompts"] if prompt["name"] == "plan_journey"]
        equal([argument["description"] for argument in prompt["arguments"]],
              ["How to sit; one of economy or premium", "It is a date such as 2026-02-28"], "arguments")


@test
def clients_that_drop_data_are_told_what_was_meant():
    with agent() as found:
        for method, params, words in [
                ("tools/call", {"name": "bok"}, "The tool does not exist; did you mean `book`?"),
                ("tools/call", {"name": "quite_another"}, "The tool does not exist."),
                ("prompts/get", {"name": "plan_jorney"}, "The prompt does not exist; did you mean `plan_journey`?"),
                ("prompts/get", {"name": "plan_journey", "arguments": {"dai": "2026-02-31"}},
                 "One or more fields are not valid. day is required (a date such as 2026-02-28). dai is not a known name; did you mean day?")]:
            error = found.ask(method, params)["error"]
            equal((error["message"], error["data"]["message"]), (words, words), "message")


# ---- What is missing, and what is not known ------------------------------------------------------

MISSING = {
    "born": ("a date such as 2026-02-28", "born is required (a date such as 2026-02-28)."),
    "class": (["economy", "premium"], "class is required (one of economy or premium)."),
    "home": ("an airport, such as VIE", "home is required (an airport, such as VIE)."),
}
PASSENGER = {"born": "1990-02-28", "class": "economy", "home": "VIE", "address": {"street": "Ring 1", "zip": "1010"},
             "bags": [{"weight": 7, "colour": "red"}, {"weight": 9}]}
STRAY = {**PASSENGER, "address": {**PASSENGER["address"], "zipp": "1", "is_admin": True},
         "bags": [PASSENGER["bags"][0], {"weight": 9, "color": "blue"}]}
UNKNOWN = {
    "address.zipp": "address.zipp is not a known name; the known names are street and zip.",
    "address.is_admin": "address.is_admin is not a known name; the known names are street and zip.",
    "bags[1].color": "bags[1].color is not a known name; did you mean colour?",
}


@test
def what_is_missing_is_described():
    with agent() as found:
        fields = found.call("enrol")["structuredContent"]["fields"]
        equal({field["field"]: (field["expected"], field["message"]) for field in fields}, MISSING, "tool")
    fields = parsed(post("/passengers", {}, fields=[("Accept", "application/problem+json")]).body)["errors"]
    equal({field["field"]: (field["expected"], field["message"]) for field in fields}, MISSING, "problem")
    equal(parsed(post("/passengers", {}).body)["details"], [{"field": name, "error": "field_required"} for name in MISSING],
          "the HTTP API has exactly these members")
    errors = command("enrol", status=2)["error"]["errors"]
    equal({error["param"]: error["message"] for error in errors}, {name: words for name, (_, words) in MISSING.items()}, "command")


@test
def http_leaves_out_what_is_not_declared_in_an_object():
    found = post("/passengers", {**STRAY, "is_admin": True})
    equal((found.status, parsed(found.body)), (200, PASSENGER), "what the handler gets")


@test
def tools_refuse_what_is_not_declared_in_an_object():
    with agent() as found:
        equal(found.call("enrol", **PASSENGER)["structuredContent"], PASSENGER, "the right call")
        wrong = found.call("enrol", **STRAY)
        equal((wrong["isError"], {field["field"]: field["message"] for field in wrong["structuredContent"]["fields"]}),
              (True, UNKNOWN), "fields")
        field, = found.call("enrol", **PASSENGER, priority=1)["structuredContent"]["fields"]
        equal(field["message"], "priority is not a known name; the known names are born, class, home, address and bags.", "an argument")
        schema = [tool for tool in found.result("tools/list")["tools"] if tool["name"] == "enrol"][0]["inputSchema"]
        equal((schema["additionalProperties"], schema["properties"]["address"]["additionalProperties"],
               schema["properties"]["bags"]["items"]["additionalProperties"]), (False, False, False), "the schema")


@test
def commands_refuse_what_is_not_declared_in_an_object():
    flags = {name: value if isinstance(value, str) else json.dumps(value) for name, value in STRAY.items()}
    wrong = command("enrol", *("--%s=%s" % flag for flag in flags.items()), status=2)
    equal({error["param"]: error["message"] for error in wrong["error"]["errors"]}, UNKNOWN, "errors")
    # A name that is misspelled is told beside what is missing for that reason.
    wrong = command("enrol", "--born=1990-02-28", "--class=first", "--home=VIE", '--bags=[{"weigth":7}]', status=2)["error"]
    equal((wrong["code"], [error["message"] for error in wrong["errors"]]),
          ("ARG_ERROR", ["class must be one of economy or premium, not first.", "bags[0].weight is required (integer).",
                         "bags[0].weigth is not a known name; did you mean weight?"]), "errors")


# ---- Names in camelCase --------------------------------------------------------------------------

@test
def a_name_may_be_camel_case_everywhere():
    both = {"seats": 1, "returnDay": "2026-03-01", "day": "2026-02-28"}
    given = {"name": "Ada", "day": "2026-02-28", "returnDay": "2026-03-01"}
    equal(parsed(post("/flights", given).body), both, "HTTP")
    equal([field["field"] for field in parsed(post("/flights", dict(given, returnDay="x")).body)["details"]], ["returnDay"], "HTTP")
    with agent() as found:
        equal(found.call("book", **given)["structuredContent"], both, "MCP")
    for flag in ["--return-day", "--returnDay", "--return_day"]:
        equal(command("book", "--name", "Ada", "--day", "2026-02-28", flag, "2026-03-01")["data"], both, flag)
    for flag, meant in [("--returnday", "--return-day"), ("--return-days", "--return-day")]:
        item, = command("book", "--name", "Ada", flag, "2026-03-01", status=2)["error"]["errors"]
        equal((item["param"], item["code"], item["expected"]), (flag, "UNKNOWN_OPTION", meant), "another flag")
    expect("--return-day TEXT" in run_program(WORDS, "book", "--help").err.decode(), "help")


# ---- What is told --------------------------------------------------------------------------------

@test
def what_was_told_is_an_object_in_details_but_at_422():
    found = the_server().ask("PUT", "/seats/7C")
    equal((found.status, parsed(found.body)),
          (409, {"error": "conflict", "message": "The seat 7C is taken.", "details": {"seat": "7C", "free": ["1A", "1B"]}}), "told")
    # The same by hand: `render` and the server agree.
    canonical = parsed(the_server().ask("PUT", "/seats/7C", fields=[("Accept", "application/vnd.mishap+json")]).body)
    by_hand = run_program(server.PROGRAM, "render", "--dialect", "http-api", stdin=json.dumps(canonical).encode())
    equal(parsed(by_hand.out), parsed(found.body), "rendered")
    # Of a 422 they are field errors or nothing, whatever was told besides.
    canonical.update(code="VALIDATION_ERROR", category="validation")
    by_hand = run_program(server.PROGRAM, "render", "--dialect", "http-api", stdin=json.dumps(canonical).encode())
    equal(parsed(by_hand.out), {"error": "validation_error", "message": "The seat 7C is taken."}, "without field errors")
    broken = the_server().ask("POST", "/flights", b'{"name":')
    equal((broken.status, parsed(broken.body)["details"]["line"]), (400, 1), "where it breaks")


# ---- What a handler sees -------------------------------------------------------------------------

PIN = "pin-of-words-0815"


def told(log, seen):
    """The operator's log has the line under the id of the request, without the secret."""
    entry = " %s words %s\n  Seen by %s, pin [redacted].\n" % (seen["id"], seen["operation"], seen["operation"])
    expect(server.wait_for(lambda: entry in server.Server.read(log).decode()), entry, "is not in", server.Server.read(log))


@tests_of({"in a worker": "/see", "in the server": "/glance"})
def over_http_a_handler_sees_its_request(path):
    found = post(path, {"pin": PIN}, fields=[("User-Agent", "tests/1"), ("x-tenant", "first"), ("X-Tenant", "second")])
    seen = parsed(found.body)
    equal(seen, {"boundary": "http", "id": found["X-Request-Id"], "operation": path[1:], "remote": "127.0.0.1", "agent": "tests/1",
                 "tenant": "first", "caller": None}, "seen")
    told(the_server().log, seen)
    seen = parsed(post(path, {}, fields=[("X-Tenant", "")]).body)
    equal((seen["agent"], seen["tenant"]), (None, ""), "no header, and an empty one")


@tests_of({"in a worker": "see", "in the server": "glance"})
def over_mcp_a_handler_sees_its_request(tool):
    session = exchange.Session(the_server())
    with session.exchange("POST", exchange.call(tool, {"pin": PIN}), **{"X-Tenant": "seven"}) as found:
        seen = json.loads(found.answer()["result"]["content"][0]["text"])
    equal((seen["boundary"], seen["remote"], seen["tenant"]), ("mcp", "127.0.0.1", "seven"), "over HTTP")
    told(the_server().log, seen)
    with agent() as found:
        seen = json.loads(found.call(tool, pin=PIN)["content"][0]["text"])
        equal((seen["boundary"], seen["remote"], seen["agent"], len(seen["id"])), ("mcp", None, None, 36), "over standard input")
        told(os.path.join(found.data.name, "log"), seen)


@test
def a_command_sees_its_request():
    log = os.path.join(server.FOLDER, "command.log")
    answer = parsed(run_program(WORDS, "see", "--output", "json", env=dict(os.environ, WORDS_PIN=PIN, WORDS_LOG=log)).out)
    equal(answer["data"], {"boundary": "command", "id": answer["meta"]["request_id"], "operation": "see", "remote": None,
                           "agent": None, "tenant": None, "caller": None}, "seen")
    told(log, answer["data"])


@test
def a_header_that_is_not_declared_is_a_mistake_of_the_program():
    found = post("/peek", {}, fields=[("Cookie", "a=b")])
    equal((found.status, b"a=b" in found.body), (500, False), "answer")


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
