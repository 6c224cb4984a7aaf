"""What a client is told beside names and parameters: pages (MCP Apps), icons, words of schemas, and headers that repeat arguments.

    MISHAP_PROGRAM=… STATIONS_PROGRAM=… python3 tests/mcp/apps_test.py [PART-OF-A-NAME]

Speaks TAP. examples/stations.c is the program.
"""
import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, test, tests_of  # noqa: E402
from exchange import META, Exchange, Session, message, repeated, stateless  # noqa: E402

STATIONS = os.path.abspath(os.environ["STATIONS_PROGRAM"])
UI = META + "ui"
PAGE = "text/html;profile=mcp-app"
SHOWS = {"extensions": {UI: {"mimeTypes": [PAGE]}}}


def the_server():
    return server.server("stations", "--workers", "2", program=STATIONS)


def say(method, params=None, capabilities=None, **fields):
    said = stateless(method, params, **{META + "clientCapabilities": capabilities or {}})
    with Exchange(the_server(), "POST", said, {**repeated(said), **{key.replace("_", "-"): value for key, value in fields.items()}}) as found:
        return found.status, found.json


def result(method, params=None, capabilities=None):
    status, found = say(method, params, capabilities)
    equal(status, 200, found)
    return found["result"]


def the_tool(found):
    return next(tool for tool in found["tools"] if tool["name"] == "list_stations")


def pages(found):
    return [resource for resource in found["resources"] if resource["uri"].startswith("ui://")]


# ---- Pages ---------------------------------------------------------------------------------------


@test
def a_page_is_told_to_clients_that_show_pages():
    equal(result("server/discover")["capabilities"]["extensions"], {UI: {}}, "the extension")
    for capabilities in (SHOWS, {"extensions": {UI: {}}}):
        equal(the_tool(result("tools/list", capabilities=capabilities))["_meta"], {"ui": {"resourceUri": "ui://stations"}}, "the tool")
        found = pages(result("resources/list", capabilities=capabilities))
        equal([(page["uri"], page["mimeType"]) for page in found], [("ui://stations", PAGE)], "the pages")
    for capabilities in ({}, {"extensions": {}}, {"extensions": {UI: True}}, {"extensions": {UI: {"mimeTypes": ["text/plain"]}}}):
        expect("_meta" not in the_tool(result("tools/list", capabilities=capabilities)), "it is told to", capabilities)
        equal(pages(result("resources/list", capabilities=capabilities)), [], capabilities)


@test
def a_session_remembers_whether_its_client_shows_pages():
    for revision in "2025-06-18", "2025-11-25":
        for capabilities, shown in ((SHOWS, True), ({}, False)):
            with talk.Server(program=STATIONS) as agent:
                agent.send(talk.request(1, "initialize", {"protocolVersion": revision, "capabilities": capabilities,
                                                          "clientInfo": {"name": "test", "version": "1"}}))
                agent.receive()
                agent.send(talk.notification("notifications/initialized"))
                equal("_meta" in the_tool(agent.result("tools/list")), shown, (revision, capabilities))
                equal(len(pages(agent.result("resources/list"))), int(shown), (revision, capabilities))
    said = message("initialize", {"protocolVersion": "2025-11-25", "capabilities": SHOWS, "clientInfo": {"name": "test", "version": "1"}})
    with server.Server("--workers", "1", program=STATIONS) as first:
        with Exchange(first, "POST", said) as begun:
            fields = {"Mcp-Session-Id": begun["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        with Exchange(first, "POST", message("tools/list"), fields) as found:
            expect("_meta" in the_tool(found.json["result"]), "not over HTTP:", found.json)
        first.stop()
    with server.Server("--workers", "1", program=STATIONS, data=first.data) as second, \
            Exchange(second, "POST", message("tools/list"), fields) as found:
        expect("_meta" in the_tool(found.json["result"]), "not after a restart:", found.json)


@test
def the_page_is_html_without_data_and_without_markup_of_data():
    found = result("resources/read", {"uri": "ui://stations"}, SHOWS)["contents"]
    equal([(part["uri"], part["mimeType"]) for part in found], [("ui://stations", PAGE)], "the contents")
    text = found[0]["text"]
    expect(text.startswith("<!DOCTYPE html>"), text[:40])
    for word in ("innerHTML", "document.write", "eval(", "src=", "http:", "https:", "Alta", "harbour"):
        expect(word not in text, word, "is in the page")
    expect("_meta" not in found[0], "a page that may load something:", found)
    answer = result("tools/call", {"name": "list_stations", "arguments": {}}, SHOWS)["structuredContent"]
    equal([station["name"] for station in answer["stations"]], ["Alta", "Oulu", "Graz", "O'Brien <harbour>"], "what the page is handed")


# ---- Icons and words -----------------------------------------------------------------------------

ICONS = [{"src": "https://stations.example.com/sun.png", "mimeType": "image/png", "sizes": ["48x48", "96x96"]},
         {"src": "https://stations.example.com/moon.svg", "mimeType": "image/svg+xml", "theme": "dark"}]


@test
def icons_are_told_in_revisions_that_have_them():
    equal(the_tool(result("tools/list"))["icons"], ICONS, "of the tool")
    equal(result("server/discover")["_meta"][META + "serverInfo"]["icons"], ICONS, "of the program")
    expect("icons" not in result("tools/list")["_meta"][META + "serverInfo"], "with each result")
    for revision in talk.LEGACY:
        with talk.Server(program=STATIONS, revision=revision) as agent:
            shown = ICONS if revision >= "2025-11-25" else None
            equal(agent.greeting["result"]["serverInfo"].get("icons"), shown, revision)
            equal(the_tool(agent.result("tools/list")).get("icons"), shown, revision)


@test
def words_of_a_schema_are_told():
    schema = the_tool(result("tools/list"))["inputSchema"]
    equal(schema["$comment"], "Without a region, all stations are listed.", "of the operation")
    equal((schema["properties"]["region"]["examples"], schema["properties"]["region"]["enum"]), (["north"], ["north", "south"]), "of the parameter")
    document = the_server().ask("GET", "/openapi.json").json
    parameter = document["paths"]["/stations"]["get"]["parameters"][0]
    equal(parameter["schema"]["examples"], ["north"], "in the description of the API")
    expect("x-mcp-header" not in json.dumps(document), "a header of MCP in the description of the API")


# ---- Headers that repeat arguments ---------------------------------------------------------------


def call(arguments, **fields):
    return say("tools/call", {"name": "list_stations", "arguments": arguments}, **fields)


def in_base64(text):
    return "=?base64?%s?=" % base64.b64encode(text.encode()).decode()


@tests_of({
    "the value": ({"region": "north"}, "north"),
    "in base64": ({"region": "north"}, in_base64("north")),
    "nothing": ({}, None),
    "null": ({"region": None}, None),
})
def a_header_that_repeats_the_argument_is_accepted(arguments, header):
    equal(the_tool(result("tools/list"))["inputSchema"]["properties"]["region"]["x-mcp-header"], "Region", "the schema")
    for name in "Mcp_Param_Region", "mcp_param_REGION":
        status, found = call(arguments, **{name: header})
        equal((status, found["result"].get("isError", False)), (200, False), found)


@tests_of({
    "another value": ({"region": "north"}, "south"),
    "no header": ({"region": "north"}, None),
    "an empty one": ({"region": "north"}, ""),
    "no argument": ({}, "north"),
    "null": ({"region": None}, "north"),
    "other letters": ({"region": "north"}, "North"),
    "base64 of another value": ({"region": "north"}, in_base64("south")),
    "base64 without padding": ({"region": "north"}, in_base64("north").replace("=?=", "?=")),
    "no base64": ({"region": "north"}, "=?base64?n!rth?="),
    "half of the mark": ({"region": "north"}, in_base64("north")[:-2]),
    "bytes that are not ASCII": ({"region": "n\u00f6rth"}, "n\u00f6rth"),
    "a number": ({"region": 5}, "6"),
})
def a_header_that_does_not_is_refused(arguments, header):
    status, found = call(arguments, Mcp_Param_Region=header)
    equal((status, found["error"]["code"]), (400, -32020), found)
    expect("Mcp-Param-Region" in found["error"]["message"], found)


@test
def what_the_argument_says_is_judged_after_the_header():
    status, found = call({"region": 5}, Mcp_Param_Region="5")
    equal((status, found["result"]["isError"]), (200, True), found)
    status, found = call({"region": ["north"]})
    equal((status, found["result"]["isError"]), (200, True), found)


@test
def older_revisions_have_no_such_header():
    session = Session(the_server())
    found = session.post(message("tools/call", {"name": "list_stations", "arguments": {"region": "north"}}), **{"Mcp-Param-Region": "south"})
    equal(found.json["result"].get("isError", False), False, found.json)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


server.PROGRAM = STATIONS
main()
