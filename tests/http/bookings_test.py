"""examples/bookings.c from outside: as commands, over HTTP and for agents, on the same data.

    MISHAP_PROGRAM=… BOOKINGS_PROGRAM=… python3 tests/http/bookings_test.py [PART-OF-A-NAME]

Speaks TAP. Its own tests, examples/bookings_test.c, make the same calls in C, on both engines.
"""
import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test

BOOKINGS = os.path.abspath(os.environ["BOOKINGS_PROGRAM"])
STAY = {"guest": "Ada", "room": 7, "starts": "2030-02-01T15:00:00Z", "ends": "2030-02-03T10:00:00Z", "price": "120 EUR",
        "email": "ada@example.com"}
WRONG = {"guest": "Ada", "room": 7, "starts": "2030-02-03T10:00:00Z", "ends": "2030-02-03T09:00:00Z", "price": "12.505 EUR",
         "kind": "company", "extras": [{"name": "tea", "price": "1.234"}], "tags": ["a", "a"]}
# The fields and errors that every boundary reports for it, in this order.
FOUND = [("price", "pattern_mismatch"), ("extras[0].price", "pattern_mismatch"), ("tags[1]", "pattern_mismatch"),
         ("ends", "value_out_of_range"), ("email", "field_required"), ("vat_id", "field_required")]


# A stay with a value of each type; the rooms make the difference.
ALL = dict(STAY, kind="company", vat_id="ATU12345678", born="1990-12-31", reminder="PT36H", extras=[{"name": "tea", "price": "2.5"}], tax=1.1,
           tags=["sea", "quiet"], wishes={"pillow": "so \"soft\"", "über": "ö"}, signature=base64.b64encode(bytes(range(256))).decode(), notes="late")
SHOWN = {"guest": "Ada", "born": "1990-12-31", "wishes": ALL["wishes"], "signature": ALL["signature"], "starts": STAY["starts"],
         "ends": STAY["ends"], "price": "120.00 EUR", "reminder": "PT36H", "extras": "2.50", "tax": 1.1, "notes": "late"}
TOO_LONG = dict(STAY, ends="2030-03-03T15:00:01Z")
# Values that are almost of their types, and what every boundary says about them.
ALMOST = dict(STAY, born="1990-02-30", tax=1.005, wishes={"pillow": 3}, signature="no base64!")
ALMOST_SAYS = ("born must be a date such as 2026-02-28", "tax must be a decimal with at most 16 digits before and 2 after its point",
               "wishes.pillow must be a string", "signature must be a text of base64")


def the_server():
    return server.server("bookings", "--workers", "2", program=BOOKINGS)


def ask(method, path, body=None, **more):
    found = the_server().ask(method, path, json.dumps(body).encode() if body is not None else b"", **more)
    return found.status, parsed(found.body)


def ask_tool(name, **arguments):
    """The result of a tool."""
    return exchange.Session(the_server()).post(exchange.call(name, arguments)).json["result"]


def options(values):
    """As words of a command line."""
    return [word for name, value in values.items() for word in ("--" + name.replace("_", "-"), value if isinstance(value, str) else json.dumps(value))]


def command(*words, status=0):
    answer = run_program(BOOKINGS, *words, "--output", "json", env={"BOOKINGS_DATA": the_server().data, "BOOKINGS_LOG": ""})
    equal(answer.status, status, "exit code")
    return parsed(answer.out)


@test
def a_booking_goes_over_every_boundary():
    status, made = ask("POST", "/bookings", dict(STAY, extras=[{"name": "tea", "price": "2.5"}]))
    equal((status, made["total"]), (201, "122.50"), "over HTTP")
    shown = command("show", made["id"])["data"]
    equal((shown["starts"], shown["price"], shown["reminder"]), ("2030-02-01T15:00:00Z", "120.00 EUR", "P1D"), "by a command")
    session = exchange.Session(the_server())
    changed = session.post(exchange.call("change", {"id": made["id"], "notes": "late"})).json["result"]["structuredContent"]
    equal(changed["notes"], "late", "by an agent")
    equal(ask("PATCH", "/bookings/" + made["id"], {"notes": None})[1]["notes"], None, "null removes")
    equal(ask("PATCH", "/bookings/" + made["id"], {"ends": "2030-02-05T10:00:00+01:00"})[1]["ends"], "2030-02-05T09:00:00Z", "absent stays")


@test
def a_booking_is_made_over_every_boundary():
    """With values of all types."""
    path = os.path.join(server.FOLDER, "signature")
    with open(path, "wb") as file:
        file.write(bytes(range(256)))
    status, over_http = ask("POST", "/bookings", dict(ALL, room=20))
    equal(status, 201, over_http)
    made = {20: over_http, 21: command("create", *options(dict(ALL, room=21)))["data"],
            22: command("create", *options(dict(ALL, room=22, signature="@" + path)))["data"],
            23: ask_tool("create", **dict(ALL, room=23))["structuredContent"]}
    for room, one in made.items():
        equal(one["total"], "123.60", "total of %d" % room)
        expected = dict(SHOWN, id=one["id"], room=room)
        equal(ask("GET", "/bookings/" + one["id"]), (200, expected), "HTTP")
        equal(command("show", one["id"])["data"], expected, "a command")
        equal(ask_tool("show", id=one["id"])["structuredContent"], expected, "an agent")
    status, refused = ask("POST", "/bookings", dict(ALL, room=21))
    equal((status, refused["details"]), (409, {"conflicts_with": made[21]["id"]}), "one that is taken, over HTTP")
    refused = command("create", *options(dict(ALL, room=23)), status=6)["error"]
    equal((refused["code"], refused["context"]), ("CONFLICT", {"conflicts_with": made[23]["id"]}), "by a command")
    for_people = run_program(BOOKINGS, "create", *options(dict(ALL, room=22)), "--output", "text",
                             env={"BOOKINGS_DATA": the_server().data, "BOOKINGS_LOG": ""}).err.decode()
    expect("  conflicts_with: %s\n" % made[22]["id"] in for_people, for_people)
    refused = json.dumps(ask_tool("create", **dict(ALL, room=20)))
    expect("The room is taken" in refused and made[20]["id"] in refused, "an agent is not told")


def refused_everywhere(path, tool, words, values, sentences, method="POST"):
    """A call with these values is refused over HTTP, by a command and by a tool, with these sentences. The short form of HTTP has them
    only for errors of the program's own; the problem document has all. Returns the findings in the short form."""
    values_sent = {name: value for name, value in values.items() if name != "id"}
    status, body = ask(method, path, values_sent)
    equal(status, 422, body)
    status, problem = ask(method, path, values_sent, fields={"Accept": "application/problem+json"})
    equal(status, 422, problem)
    messages = json.dumps([one.get("message") for one in problem["errors"]])
    error = json.dumps(command(*words, status=2)["error"])
    told = ask_tool(tool, **values)
    equal(told["isError"], True, told)
    for sentence in sentences:
        for boundary, text in {"HTTP": messages, "command": error, "agent": json.dumps(told["content"])}.items():
            expect(sentence in text, boundary, "does not tell:", sentence, text)
    return body["details"]


@test
def a_rule_of_the_program_is_told_on_every_boundary():
    found = refused_everywhere("/bookings", "create", ["create", *options(TOO_LONG)], TOO_LONG, ["ends must be at most 30 nights after starts."])
    equal(found, [{"field": "ends", "error": "too_long", "message": "ends must be at most 30 nights after starts."}], "over HTTP")


@test
def at_least_one_of_several_is_asked_for_on_every_boundary():
    made = ask("POST", "/bookings", dict(STAY, room=30))[1]["id"]
    found = refused_everywhere("/bookings/" + made, "change", ["change", made], {"id": made}, ["notes or ends must be given."], "PATCH")
    equal(found, [{"field": "notes", "error": "field_required"}], "over HTTP")
    changed = ask("PATCH", "/bookings/" + made, {"notes": "late", "ends": "2030-02-02T10:00:00Z"})
    equal((changed[0], changed[1]["notes"], changed[1]["ends"]), (200, "late", "2030-02-02T10:00:00Z"), "both")


@test
def what_is_almost_of_its_type_is_told_on_every_boundary():
    found = refused_everywhere("/bookings", "create", ["create", *options(ALMOST)], ALMOST, ALMOST_SAYS)
    equal([one["field"] for one in found], ["born", "tax", "wishes.pillow", "signature"], "over HTTP")


@test
def all_that_is_wrong_is_told_at_once_on_every_boundary():
    status, body = ask("POST", "/bookings", WRONG)
    equal((status, [(one["field"], one["error"]) for one in body["details"]]), (422, FOUND), "HTTP")
    session = exchange.Session(the_server())
    told = session.post(exchange.call("create", WRONG)).json["result"]
    equal(told["isError"], True, "an agent")
    text = json.dumps(told)
    for words in ("ends must be after starts", "email or phone must be given", "vat_id is required if kind is company",
                  "extras[0].price must be a decimal with at most 16 digits before and 2 after its point",
                  "tags[1] is the same as item 0"):
        expect(words in text, "an agent is not told:", words, text)
    error = command("create", *options(WRONG), status=2)["error"]
    equal([one["param"] for one in error["errors"]], [name for name, _ in FOUND], "a command")
    for sentence in ("ends must be after starts", "vat_id is required if kind is company"):
        expect(sentence in json.dumps(error), "a command does not tell:", sentence, error)


@test
def the_documents_state_types_and_rules():
    document = ask("GET", "/openapi.json")[1]
    made = document["paths"]["/bookings"]["post"]
    schema = made["requestBody"]["content"]["application/json"]["schema"]
    equal(schema["properties"]["starts"]["format"], "date-time", "timestamp")
    equal(schema["properties"]["tags"]["uniqueItems"], True, "unique items")
    equal(schema["properties"]["extras"]["items"]["properties"]["price"]["pattern"], r"^-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,2})?$", "decimal")
    equal((schema["properties"]["born"]["format"], schema["properties"]["tax"]["type"], schema["properties"]["tax"]["maximum"]),
          ("date", "number", 1000), "date and number")
    equal((schema["properties"]["wishes"]["additionalProperties"]["maxLength"], schema["properties"]["signature"]["contentEncoding"]),
          (60, "base64"), "map and bytes")
    changed = document["paths"]["/bookings/{id}"]["patch"]["requestBody"]["content"]["application/json"]["schema"]
    equal(changed["allOf"], [{"anyOf": [{"required": ["notes"]}, {"required": ["ends"]}]}], "at least one of")
    expect("ends must be after starts" in made["description"], "no rules:", made["description"])
    session = exchange.Session(the_server())
    tools = {tool["name"]: tool for tool in session.post({"jsonrpc": "2.0", "id": 5, "method": "tools/list"}).json["result"]["tools"]}
    expect("exactly one of email and phone must be given" in tools["create"]["description"], "no rules:", tools["create"]["description"])
    expect("allOf" not in tools["create"]["inputSchema"], "models are not given keywords at the top of a schema")
    shown = run_program(BOOKINGS, "create", "--help")
    manual = (shown.out + shown.err).decode()
    for words in ("--starts TIME", "--price MONEY", "in EUR, USD or JPY", "--reminder DURATION", "--born DATE", "--tax ", "--wishes ", "--signature ", "Rules: ends must be after starts"):
        expect(words in manual, "no", words, "in", manual)
    offered = run_program(BOOKINGS, "__complete", "create", "--kind", "").out.decode()
    expect("company" in offered, "the choices of an enum are not offered:", offered)


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
