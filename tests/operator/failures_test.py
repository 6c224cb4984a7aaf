"""An id that a caller got leads to all that is known of the failure: on each boundary, by each boundary.

    MISHAP_PROGRAM=… python3 tests/operator/failures_test.py [PART-OF-A-NAME]

Speaks TAP. operator_test.py has the operations in detail, with a journal of its own.
"""
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse
import uuid
from concurrent.futures import ThreadPoolExecutor

from operating import MISHAP, command, id_at
import server  # noqa: E402, behind the one that knows where it is
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import PATIENCE, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402


def with_key(found, name="operator"):
    if name != "operator":
        return {"Authorization": "Bearer " + found.keys[name]}
    with open(os.path.join(found.data, "operator.key"), encoding="ascii") as file:
        return {"Authorization": "Bearer " + file.read().strip()}


def ask(found, path, status=200, key="operator", method="GET", body=None):
    answer = found.ask(method, path, body, fields=with_key(found, key) if key else {}, checked=status != 200)
    equal(answer.status, status, "the status of %s: %r" % (path, answer.body[:600]))
    return parsed(answer.body) if answer["Content-Type"].startswith("application/json") else answer


# ---- Real failures -------------------------------------------------------------------------------

def shared():
    if not shared.server:
        data = os.path.join(server.FOLDER, "real")
        os.mkdir(data)
        usual = run_program(MISHAP, "keys", "add", "--name", "usual", "--data", data, "--output", "json")
        shared.server = server.Server("--workers", "2", "--chaos", "--cors", "https://app.example", data=data)
        shared.server.keys = {"usual": parsed(usual.out)["data"]["key"]}
    return shared.server


shared.server = None


def fail_over_http(found):
    return found.ask("GET", "/todos/999999999").id


def fail_of_validation(found):
    answer = found.ask("POST", "/users", {"name": "", "age": 999})
    equal(answer.status, 422, "the status")
    return answer.id


def crash_over_http(found):
    answer = found.ask("POST", "/chaos", {"how": "crash"})
    equal(answer.status, 500, "the status")
    return answer.id


def fail_over_mcp(found):
    session = exchange.Session(found)
    return session.post(exchange.call("get_todo", {"id": "999999999"})).json["result"]["_meta"]["dev.mishap/incident"]


def fail_over_stdio(found):
    with talk.Server("--data", found.data, program=MISHAP, revision="2025-11-25", env={"MISHAP_LOG": found.log}) as agent:
        return agent.call("get_todo", id="999999999")["_meta"]["dev.mishap/incident"]


def fail_as_command(found):
    done = run_program(MISHAP, "todos", "get", "--id", "999999999", "--output", "json",
                       env={"MISHAP_LOG": found.log, "MISHAP_DATA": found.data})
    expect(done.status != 0, done)
    return parsed(done.out)["meta"]["request_id"]


WAYS = {"HTTP": (fail_over_http, "http", "NOT_FOUND"), "HTTP, arguments": (fail_of_validation, "http", "VALIDATION_ERROR"),
        "HTTP, a crash": (crash_over_http, "http", "INTERNAL_ERROR"), "MCP over HTTP": (fail_over_mcp, "mcp", "NOT_FOUND"),
        "MCP on standard input": (fail_over_stdio, "mcp", "NOT_FOUND"), "a command": (fail_as_command, "cli", "NOT_FOUND")}


def wait_for_incident(found, id):
    """The record comes within moments."""
    shown = server.wait_for(lambda: (lambda answer: answer.status == 200 and parsed(answer.body))(
        found.ask("GET", "/incidents/" + id, fields=with_key(found), checked=False)))
    expect(shown, "no incident", id, server.Server.read(found.log)[-2000:])
    return shown


@tests_of(WAYS)
def the_id_that_a_caller_got_leads_to_the_failure(fail, boundary, code):
    found = shared()
    id = fail(found)
    role = {"VALIDATION_ERROR": "loop", "cli": "command"}.get(code if boundary == "http" else boundary, "worker")
    equal(wait_for_incident(found, id)["private"]["process"]["role"], role, "the process")
    by_http = wait_for_incident(found, id)
    by_command = command(found, "incidents", "show", "please look at %s, thanks" % id)
    session = exchange.Session(found, fields=with_key(found))
    result = session.post(exchange.call("incidents_show", {"id": "see " + id})).json["result"]
    with talk.Server("--operator", "--data", found.data, program=MISHAP, revision="2025-11-25", env={"MISHAP_LOG": found.log}) as agent:
        by_agent = agent.call("incidents_show", id=id)["structuredContent"]
    for shown in (by_http, by_command, result["structuredContent"], by_agent):
        incident = shown["incident"]
        equal((incident["id"], incident["boundary"], incident["code"]), (id, boundary, code), "the incident")
        equal(shown["public"]["status"], incident["status"], "the status")
        expect(isinstance(parsed(shown["public"]["response"].encode()), dict), "the response is no object:", shown["public"])
        expect(shown["group"]["count"] >= 1, shown["group"])
    expect(id in [row["id"] for row in ask(found, "/incidents?code=%s&limit=1000" % code)["incidents"]], "it is not listed")


@test
def a_crash_shows_its_private_side_to_the_operator_alone():
    found = shared()
    shown = wait_for_incident(found, crash_over_http(found))
    expect(shown["whole"] and (shown["private"].get("stack") or shown["private"].get("noted") or shown["private"].get("causes")),
           "there is no private side:", shown)


PATHS = [("GET", "/incidents"), ("GET", "/incidents/stats"), ("GET", "/incidents/groups"), ("GET", "/incidents/export"),
         ("GET", "/incidents/tail"), ("GET", "/incidents/0192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e01"),
         ("POST", "/incidents/groups/0000000000000001/resolve"), ("POST", "/incidents/groups/0000000000000001/mute")]


@test
def no_key_is_401_and_another_key_403_whether_it_exists_or_not():
    found = shared()
    id = fail_over_http(found)
    wait_for_incident(found, id)
    for method, path in PATHS + [("GET", "/incidents/" + id)]:
        for key, status in ((None, 401), ("usual", 403)):
            answer = found.ask(method, path, {} if method == "POST" else None, fields=with_key(found, key) if key else {})
            equal(answer.status, status, "%s %s" % (method, path))
            same = found.ask("GET", "/incidents/x", fields=with_key(found, key) if key else {})
            equal(answer.body, same.body, "the body of " + path)
    session = exchange.Session(found)
    names = [tool["name"] for tool in session.post(exchange.message("tools/list")).json["result"]["tools"]]
    expect(not [name for name in names if name.startswith("incidents")], names)


@test
def cors_does_not_cover_incidents():
    found = shared()
    answer = found.ask("GET", "/incidents", fields=dict(with_key(found), Origin="https://app.example"), checked=False)
    expect(not [name for name, _ in answer.fields if name.lower().startswith("access-control")], answer)


@test
def over_http_filters_are_checked_like_on_the_command_line():
    found = shared()
    wrong = ask(found, "/incidents?code=NOT_FUND", status=422)
    equal(wrong["details"][0]["field"], "code", "the field")
    expect("NOT_FOUND" in json.dumps(wrong), wrong)
    wrong = ask(found, "/incidents?colour=red&code=NOT_FOUND", status=422)
    equal((wrong["details"][0]["field"], wrong["details"][0]["error"]), ("colour", "unknown_field"), "the finding")
    wrong = ask(found, "/incidents?cod=NOT_FOUND", status=422)
    expect("code" in json.dumps(wrong["details"]), wrong)
    ask(found, "/incidents/" + id_at(int(time.time() * 1000)), status=404)
    ask(found, "/incidents/nothing", status=422)


@test
def a_whole_mail_can_be_the_path():
    found = shared()
    id = fail_over_http(found)
    wait_for_incident(found, id)
    text = urllib.parse.quote("Hello,\nit failed with %s / %s.\n" % (uuid.uuid4(), id), safe="")
    equal(ask(found, "/incidents/" + text)["incident"]["id"], id, "the id")


@test
def over_http_csv_is_a_stream():
    found = shared()
    fail_over_http(found)
    with found.connect() as connection:
        connection.send(server.request("GET", "/incidents/export?format=csv", fields=with_key(found)))
        head = connection.take_head().decode()
        expect("200" in head.split("\r\n")[0] and "text/csv" in head and "chunked" in head.lower(), head)
        while b"0\r\n\r\n" not in connection.received:
            expect(connection.more(), "it ended:", connection.received[-300:])
        expect(b"id,time,service" in connection.received, connection.received[:300])


@test
def a_tail_over_http_shows_what_happens_and_uses_no_worker():
    found = shared()
    with found.connect() as connection:
        connection.send(server.request("GET", "/incidents/tail?code=NOT_FOUND", fields=with_key(found)))
        head = connection.take_head().decode()
        expect("200" in head.split("\r\n")[0] and "text/event-stream" in head, head)
        for fail in (fail_over_http, fail_over_mcp, fail_as_command, fail_over_http):
            other, id = fail_of_validation(found), fail(found)
            while id.encode() not in connection.received:
                expect(connection.more(), "it ended:", connection.received[-500:])
            expect(other.encode() not in connection.received, "another code was sent")
        events = re.findall(rb"event: incident\ndata: (\{.*\})\n", connection.received)
        expect(events and all(json.loads(event)["code"] == "NOT_FOUND" for event in events), connection.received[:1000])


@test
def a_tail_as_a_command_runs_until_ctrl_c():
    found = shared()
    for words, whole in ((["--format", "jsonl"], True), ([], False)):
        process = subprocess.Popen([MISHAP, "incidents", "tail", "--code", "NOT_FOUND", *words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(os.environ, MISHAP_LOG=found.log, MISHAP_DATA=found.data))
        os.set_blocking(process.stdout.fileno(), False)
        text, ids, deadline = b"", [], time.monotonic() + PATIENCE
        while not any(id.encode() in text for id in ids):  # it begins at some moment: failures go on until one is shown
            expect(time.monotonic() < deadline and process.poll() is None, "nothing came", text, process.poll())
            ids.append(fail_over_http(found))
            time.sleep(0.2)
            text += process.stdout.read() or b""
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        text += process.stdout.read() or b""  # the rest of a line
        equal((process.returncode, process.stderr.read()), (0, b""), "exit, and standard error")
        process.stdout.close()
        process.stderr.close()
        expect(not any(b"CANCELLED" in line for line in server.Server.whole_lines(found.log)), "the end of a tail is recorded")
        line = next(line for line in text.decode().splitlines() if any(id in line for id in ids))
        expect(json.loads(line)["code"] == "NOT_FOUND" if whole else not line.startswith("{"), line)


def tool(found, name, key="operator", **arguments):
    """What a tool of the operator answers over MCP; of one that streams, its text."""
    session = exchange.Session(found, fields=with_key(found, key))
    result = session.post(exchange.call(name, arguments)).json["result"]
    expect(not result.get("isError"), name, "failed:", result)
    block = result["content"][0]
    return result.get("structuredContent") or block.get("text") or block["resource"]["text"]


@test
def an_agent_with_the_key_of_the_operator_has_all_operations_as_tools():
    found = shared()
    id = fail_over_mcp(found)
    group = wait_for_incident(found, id)["group"]["group"]
    session = exchange.Session(found, fields=with_key(found))
    tools = [tool["name"] for tool in session.post(exchange.message("tools/list")).json["result"]["tools"]]
    equal({name for name in tools if name.startswith("incidents")},
          {"incidents_" + name for name in "list show groups group resolve mute stats tail export".split()}, "the tools")
    listed = tool(found, "incidents_list", code="NOT_FOUND", boundary="mcp", limit=1000)["incidents"]
    expect(id in [row["id"] for row in listed], "it is not listed:", listed)
    for name, state in (("resolve", "resolved"), ("mute", "muted")):
        tool(found, "incidents_" + name, group=group)
        equal(tool(found, "incidents_group", group=group)["state"], state, "the state")
        expect(group in [row["group"] for row in tool(found, "incidents_groups", state=[state], limit=1000)["groups"]], "not among those that are", state)
        tool(found, "incidents_" + name, group=group, undo=True)
        expect(tool(found, "incidents_group", group=group)["state"] != state, "it is not taken back:", state)
    stats = tool(found, "incidents_stats", **{"from": "1h", "step": "minute"})
    expect({row["code"]: row["count"] for row in stats["codes"]}["NOT_FOUND"] >= 1, stats)
    lines = tool(found, "incidents_export", code="NOT_FOUND", boundary="mcp").splitlines()
    expect(id in [json.loads(line)["id"] for line in lines], "it is not exported:", lines)
    expect(id in tool(found, "incidents_export", format="csv"), "it is not in the CSV")


@tests_of({"by default": (5, {}), "that it says": (1, {"seconds": 1})})
def an_agent_gets_the_failures_of_the_seconds(least, arguments):
    found = shared()
    text, ids, deadline = "", [], time.monotonic() + PATIENCE
    with ThreadPoolExecutor() as beside:
        while not any(id in text for id in ids):  # on a busy machine the journal may have them later
            expect(time.monotonic() < deadline, "nothing came:", text, ids)
            begun = time.monotonic()
            answer = beside.submit(tool, found, "incidents_tail", code="NOT_FOUND", **arguments)
            while not answer.done():
                ids.append(fail_over_http(found))
                time.sleep(0.2)
            text = answer.result()
            expect(time.monotonic() - begun >= least, "it ended before its time")
    expect(all(json.loads(line)["code"] == "NOT_FOUND" for line in text.splitlines()), text)


@test
def a_call_of_an_agent_has_the_trace_of_the_header_unless_meta_has_one():
    of_header, of_meta, span = "1" * 32, "2" * 32, "b7ad6b7169203331"
    call = exchange.call("get_todo", {"id": "999999999"})
    traced = json.loads(json.dumps(call))
    traced["params"]["_meta"] = {"traceparent": "00-%s-%s-01" % (of_meta, span)}
    with server.Server("--workers", "1") as found:
        session = exchange.Session(found)
        for message, field, trace in [(call, "00-%s-%s-01" % (of_header, span), of_header),
                                      (traced, "00-%s-%s-01" % (of_header, span), of_meta), (call, "0" * 500, None)]:
            id = session.post(message, traceparent=field).json["result"]["_meta"]["dev.mishap/incident"]
            equal(wait_for_incident(found, id)["incident"]["trace"]["id"], trace or id.replace("-", ""), "the trace")


@test
def a_mistaken_id_does_not_fill_the_journal():
    found = shared()
    for _ in range(40):
        ask(found, "/incidents/" + id_at(int(time.time() * 1000)), status=404)
    id = fail_over_http(found)
    wait_for_incident(found, id)
    whole = [line for line in server.Server.whole_lines(found.log) if b'"kind":"whole"' in line and b'"incidents.show"' in line]
    equal(len(whole), 0, "whole records of the operator's own mistakes")


@test
def a_server_with_some_services_still_has_its_operator():
    with server.Server("--workers", "1", "--service", "todo") as found:
        equal(found.ask("GET", "/incidents").status, 401, "the status without a key")
        id = fail_over_http(found)
        equal(wait_for_incident(found, id)["incident"]["id"], id, "the id")


@test
def the_server_ends_in_order():
    equal(shared().stop().status, 0, "exit")


main()
