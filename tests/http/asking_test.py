"""Handlers that ask (mishap_ask) from outside: over HTTP, as commands with a terminal and without, and for agents.

    MISHAP_PROGRAM=… ASKING_PROGRAM=… python3 tests/http/asking_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/asking.c is the program.
"""
import json
import os
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import PATIENCE, equal, expect, main, open_terminal, parsed, run_program, test, tests_of

ASKING = os.path.abspath(os.environ["ASKING_PROGRAM"])
SECRET = "hunter2-of-the-caller"
SURE = {"confirm": {"sure": True}}


def the_server():
    return server.server("asking", "--workers", "2", program=ASKING)


def send(method, path, body, fields=()):
    found = the_server().ask(method, path, json.dumps(body).encode(), fields)
    return found.status, parsed(found.body)


def ask(method, path, body):
    """The questions and the state of a request that is asked back."""
    status, found = send(method, path, body)
    equal((status, found["error"]), (428, "input_required"), found)
    return found["details"]["questions"], found["details"]["state"]


def answered(body, state, answers=None):
    return {**body, "_state": state, "_answers": SURE if answers is None else answers}


# ---- HTTP ----------------------------------------------------------------------------------------

BOB = {"name": "Bob"}


@test
def a_request_that_is_asked_back_is_sent_again_with_state_and_answers():
    for method, path, body in (("DELETE", "/todos", BOB), ("POST", "/rename/Bob", {}), ("POST", "/quick", BOB)):
        questions, state = ask(method, path, body)
        equal(questions["confirm"]["message"], "Delete 3 todos of Bob?")
        equal(questions["confirm"]["schema"]["required"], ["sure"])
        equal(send(method, path, answered(body, state)), (200, {"deleted": 3, "why": "none"}))


@test
def a_wrong_answer_is_asked_for_again_and_a_missing_one_too():
    for answers, more in (({"confirm": {"sure": "maybe"}}, " (sure: invalid type, expected boolean)"), ({}, ""), (None, ""),
                          ({"confirm": 7}, " (The answer must be an object.)")):
        _, state = ask("POST", "/rename/Bob", {})
        body = {"_state": state} if answers is None else {"_state": state, "_answers": answers}
        questions, state = ask("POST", "/rename/Bob", body)
        equal(questions["confirm"]["message"], "Delete 3 todos of Bob?" + more)
        equal(send("POST", "/rename/Bob", answered({}, state))[0], 200)


@test
def answers_of_another_form_are_refused_and_the_state_stays_valid():
    for method, path, body in (("DELETE", "/todos", BOB), ("POST", "/rename/Bob", {})):
        _, state = ask(method, path, body)
        for answers, field in ((7, "_answers"), ([], "_answers"), (True, "_answers"), ({"confrim": {"sure": True}}, "confrim"), ('{"confrim":null}', "confrim")):
            status, found = send(method, path, {**body, "_state": state, "_answers": answers})
            equal((status, [one["field"] for one in found["details"]]), (422, [field]), answers)
        for answers in ("yes", '{"confirm":{"sure":false},"confirm":{"sure":true}}'):
            equal(send(method, path, {**body, "_state": state, "_answers": answers})[0], 400, answers)
        equal(send(method, path, {**body, "_state": state, "_answers": json.dumps(SURE)}), (200, {"deleted": 3, "why": "none"}))


@test
def a_get_that_asks_is_answered_in_the_query():
    path = "/look?name=Bob"
    found = the_server().ask("GET", path)
    equal(found.status, 428)
    state = urllib.parse.quote(found.json["details"]["state"], safe="")
    found = the_server().ask("GET", path + "&_state=" + state + "&_answers=" + urllib.parse.quote(json.dumps(SURE), safe=""))
    equal((found.status, found.json), (200, {"deleted": 3, "why": "none"}))


@test
def answers_without_a_state_do_not_count():
    ask("POST", "/rename/Bob", {"_answers": SURE})


@test
def what_was_declined_is_cancelled():
    _, state = ask("DELETE", "/todos", BOB)
    status, found = send("DELETE", "/todos", answered(BOB, state, {"confirm": None}))
    equal((status, found["error"]), (499, "cancelled"), found)


@test
def after_eight_rounds_the_call_is_cancelled():
    state, rounds = ask("POST", "/quick", BOB)[1], 1
    while rounds < 20:
        status, found = send("POST", "/quick", answered(BOB, state, {}))
        if status != 428:
            break
        state, rounds = found["details"]["state"], rounds + 1
    equal((rounds, status, found["error"]), (8, 499, "cancelled"), found)


@test
def a_state_is_for_one_request_alone():
    _, state = ask("DELETE", "/todos", BOB)
    for method, path, body in (("DELETE", "/todos", {"name": "Eve"}), ("POST", "/rename/Bob", {}), ("POST", "/quick", BOB)):
        status, found = send(method, path, answered(body, state))
        equal((status, found["error"]), (400, "bad_request"), found)
    for wrong in (state[:-4] + "AAA=", "", "x" * 1000000, 7, [], {"a": 1}):
        equal(send("DELETE", "/todos", answered(BOB, wrong))[0], 400, wrong)
    equal(send("DELETE", "/todos", answered(BOB, state))[0], 200)
    status, found = send("DELETE", "/todos", answered(BOB, state))
    equal((status, found["message"]), (400, "The state of the question was used already."))


@test
def what_a_run_did_that_ends_with_a_question_is_undone():
    for count in range(3):
        questions, state = ask("POST", "/counter", {})
        equal(questions["confirm"]["message"], "Add to %d?" % count)
        ask("POST", "/counter", {})
        equal(send("POST", "/counter", answered({}, state)), (200, {"count": count + 1}))


@test
def a_question_shows_no_secret():
    status, found = send("POST", "/leaks", {"name": "Bob", "password": SECRET})
    equal(status, 428)
    expect(SECRET not in json.dumps(found), found)
    with talk.Server(program=ASKING) as agent:
        found = call(agent, "leaks", {"name": "Bob", "password": SECRET}, FORMS)
        expect(SECRET not in json.dumps(found) and found["result"]["resultType"] == "input_required", found)


# ---- Commands ------------------------------------------------------------------------------------

def command(*words, status=0):
    answer = run_program(ASKING, *words, "--output", "json", env={"ASKING_LOG": "", "ASKING_DATA": the_server().data})
    equal(answer.status, status, answer.out)
    return parsed(answer.out)


@test
def a_command_without_a_terminal_says_what_to_answer():
    error = command("purge", "--name", "Bob", status=2)["error"]
    equal(error["code"], "INPUT_REQUIRED")
    expect("--answers '{\"confirm\":{…}}'" in error["suggestion"] and "confirm" in error["context"]["questions"], error)
    equal(command("purge", "--name", "Bob", "--answers", json.dumps(SURE))["data"]["deleted"], 3)
    error = command("purge", "--name", "Bob", "--answers", '{"other":{}}', status=2)["error"]
    equal((error["code"], error["message"]), ("VALIDATION_ERROR", "The answers name a question that purge does not ask."))
    error = command("purge", "--name", "Bob", "--answers", "yes", status=2)["error"]
    equal((error["code"], error["suggestion"]), ("BAD_REQUEST", "Write --answers as '{\"confirm\":{…}}'."))
    error = command("person", "--name", "Bob", "--answers", json.dumps(SURE), status=2)["error"]
    expect("a person has to answer" in error["suggestion"], error)


def on_terminal(*lines):
    """What the terminal shows, and the exit code, when a person types these lines, each after the prompt for it."""
    ours, other = open_terminal()
    process = subprocess.Popen([ASKING, "person", "--name", "Bob"], stdin=other, stdout=other, stderr=other, start_new_session=True,
                               env={**os.environ, "ASKING_DATA": the_server().data, "ASKING_LOG": ""})
    os.close(other)
    shown, seen = b"", 0
    for prompt, line in lines:
        while prompt not in shown[seen:]:
            piece = os.read(ours, 4096)
            expect(piece, "the terminal was closed:", shown)
            shown += piece
        seen = shown.index(prompt, seen) + len(prompt)
        os.write(ours, line)
    try:
        while True:
            piece = os.read(ours, 4096)
            if not piece:
                break
            shown += piece
    except OSError:
        pass
    os.close(ours)
    return process.wait(), shown.decode()


@test
def a_person_at_a_terminal_is_prompted_and_asked_again():
    status, shown = on_terminal((b"Delete them (yes or no): ", b"maybe\n"), (b"Reason [\"none\"]: ", b"\n"),
                                (b"Delete them (yes or no): ", b"yes\n"), (b"Reason [\"none\"]: ", b"tidy\n"))
    equal(status, 0, shown)
    for words in ("Delete 3 todos of Bob?", "sure: invalid type, expected boolean", "deleted", "3", "tidy"):
        expect(words in shown, words, "is not in", shown)


@test
def the_end_of_input_declines():
    status, shown = on_terminal((b"Delete them (yes or no): ", b"\x04"))
    expect(status and "CANCELLED" in shown, status, shown)


# ---- Agents --------------------------------------------------------------------------------------

FORMS = {"elicitation": {}}


def call(agent, tool, arguments, capabilities, **more):
    """A call of the stateless revision, by a client with these capabilities."""
    meta = {**talk.META, "io.modelcontextprotocol/clientCapabilities": capabilities}
    return agent.ask("tools/call", {"name": tool, "arguments": arguments, "_meta": meta, **more})


@test
def a_client_with_forms_gets_an_input_required_result():
    with talk.Server(program=ASKING) as agent:
        for capabilities in (FORMS, {"elicitation": {"form": {}, "url": {}}}):
            asked = call(agent, "purge", BOB, capabilities)["result"]
            equal(asked["resultType"], "input_required", asked)
            question = asked["inputRequests"]["confirm"]
            equal((question["method"], question["params"]["message"]), ("elicitation/create", "Delete 3 todos of Bob?"))
            state = asked["requestState"]
            for responses, text in (({"confirm": {"action": "accept", "content": {"sure": "maybe"}}}, "invalid type"), ({}, "")):
                asked = call(agent, "purge", BOB, capabilities, requestState=state, inputResponses=responses)["result"]
                expect(text in asked["inputRequests"]["confirm"]["params"]["message"], asked)
                state = asked["requestState"]
            done = call(agent, "purge", BOB, capabilities, requestState=state,
                                    inputResponses={"confirm": {"action": "accept", "content": {"sure": True}}, "more": {}})["result"]
            equal(done["structuredContent"], {"deleted": 3, "why": "none"})
            error = call(agent, "purge", BOB, capabilities, requestState=state, inputResponses={})["error"]
            equal(error["code"], -32602, error)
            for action in "decline", "cancel":
                state = call(agent, "rename", BOB, capabilities)["result"]["requestState"]
                done = call(agent, "rename", BOB, capabilities, requestState=state,
                                        inputResponses={"confirm": {"action": action}})["result"]
                expect(done["isError"] and "confirm" in done["content"][0]["text"], done)


@test
def a_client_without_forms_is_told_what_to_send():
    with talk.Server(program=ASKING) as agent:
        for capabilities in ({}, {"elicitation": {"url": {}}}, {"sampling": {}}):
            done = call(agent, "purge", BOB, capabilities)["result"]
            expect(done["isError"] and "_answers" in done["content"][0]["text"], done)
            told = json.loads(done["content"][0]["text"])
            state = find(told, "state")
            expect(state and find(told, "questions")["confirm"], told)
            done = call(agent, "purge", {**BOB, "_state": state, "_answers": SURE}, capabilities)["result"]
            equal(done["structuredContent"], {"deleted": 3, "why": "none"})


def find(value, name):
    """The member of this name, at any depth."""
    if isinstance(value, dict):
        for key, member in value.items():
            found = member if key == name else find(member, name)
            if found:
                return found
    return None


@test
def what_only_a_person_or_the_client_can_answer_needs_its_capability():
    with talk.Server(program=ASKING) as agent:
        for tool, arguments, needed in (("person", BOB, "elicitation"), ("roots", {}, "roots")):
            error = call(agent, tool, arguments, {})["error"]
            equal((error["code"], error["data"]["requiredCapabilities"]), (-32021, {needed: {}}), error)
        asked = call(agent, "roots", {}, {"roots": {}})["result"]
        equal(asked["inputRequests"], {"roots": {"method": "roots/list", "params": {}}})
        done = call(agent, "roots", {}, {"roots": {}}, requestState=asked["requestState"],
                                inputResponses={"roots": {"roots": [{"uri": "file:///a"}]}})["result"]
        equal(done["structuredContent"], {"roots": [{"uri": "file:///a"}]})


@test
def a_missing_capability_has_the_status_400_over_http():
    message = exchange.stateless("tools/call", {"name": "person", "arguments": BOB})
    found = exchange.Exchange(the_server(), "POST", message, exchange.repeated(message))
    equal((found.status, found.json["error"]["code"]), (400, -32021), found.text)


# ---- One caller and the others ---------------------------------------------------------------------

def delete_over_http(connection, more, fields):
    return connection.ask("DELETE", "/todos", {**BOB, **more}, fields, checked=False).body


def delete_over_mcp(connection, more, fields):
    message = exchange.stateless("tools/call", {"name": "purge", "arguments": {**BOB, **more}})
    answer = connection.ask("POST", "/mcp", message, {**exchange.repeated(message), **fields, "Accept": "application/json, text/event-stream"}, checked=False)
    return parsed(answer.body)["result"]["content"][0]["text"].encode()


@tests_of({"HTTP": delete_over_http, "MCP": delete_over_mcp})
def answers_of_one_address_leave_those_of_others(delete):
    with server.Server("--workers", "1", program=ASKING) as found, found.connect() as connection:
        def confirm(address):
            fields = {"X-Forwarded-For": address}
            state = find(parsed(delete(connection, {}, fields)), "state")
            return parsed(delete(connection, {"_state": state, "_answers": SURE}, fields))
        taken, deadline = 0, time.monotonic() + PATIENCE
        while (answer := confirm("192.0.2.1")).get("deleted") == 3:
            taken += 1
            expect(time.monotonic() < deadline, "no end after", taken)
        expect("This caller has answered too many questions in a short time." in json.dumps(answer) and taken >= 500, taken, answer)
        for address in "192.0.2.2", "2001:db8::1":
            equal(confirm(address).get("deleted"), 3, address)


# ---- The todo service ----------------------------------------------------------------------------

MISHAP = os.path.abspath(os.environ["MISHAP_PROGRAM"])


@test
def the_todo_service_asks_on_every_boundary():
    found = server.server("todo", "--workers", "2", program=MISHAP)

    def add(count):
        for number in range(count):
            equal(found.ask("POST", "/todos", json.dumps({"title": "T%d" % number}).encode()).status, 201)

    def todos():
        return len(parsed(found.ask("GET", "/todos").body)["items"])

    def clear(body=None):
        got = found.ask("DELETE", "/todos", body and json.dumps(body).encode())
        return got.status, parsed(got.body)

    equal(clear(), (200, {"deleted": 0}))
    add(3)
    status, asked = clear()
    equal((status, asked["message"]), (428, "Delete 3 todos?"))
    equal(todos(), 3)
    equal(clear(answered({}, asked["details"]["state"])), (200, {"deleted": 3}))
    equal(todos(), 0)

    add(2)
    environment = {"MISHAP_DATA": found.data, "MISHAP_LOG": ""}
    failed = run_program(MISHAP, "todos", "clear", "--output", "json", env=environment)
    equal((failed.status, parsed(failed.out)["error"]["message"]), (2, "Delete 2 todos?"))
    done = run_program(MISHAP, "todos", "clear", "--answers", json.dumps(SURE), "--output", "json", env=environment)
    equal((done.status, parsed(done.out)["data"]), (0, {"deleted": 2}))

    for revision in "2025-06-18", "2025-11-25":
        add(2)
        session = exchange.Session(found, revision, capabilities=FORMS)
        with session.exchange("POST", exchange.call("delete_todos", {"done": False})) as stream:
            while not (event := stream.event()).data:
                pass
            equal(event.json["params"]["message"], "Delete 2 todos?")
            session.post({"jsonrpc": "2.0", "id": event.json["id"], "result": {"action": "accept", "content": {"sure": True}}})
            equal(stream.event().json["result"]["structuredContent"], {"deleted": 2})
    equal(todos(), 0)


@test
def the_todo_service_clears_as_a_task():
    with server.Server("--workers", "1", program=MISHAP) as found:
        for number in range(3):
            equal(found.ask("POST", "/todos", json.dumps({"title": "T%d" % number}).encode()).status, 201)
        taken = found.ask("DELETE", "/todos", fields={"Prefer": "respond-async, wait=0"})
        equal(taken.status, 202)
        path = taken["Location"]

        def state(*wanted):
            def look():
                told = found.ask("GET", path).json
                return told if told["state"] in wanted else None
            return server.wait_until(look, "its state is none of %r" % (wanted,))
        equal(state("asking")["questions"]["confirm"]["message"], "Delete 3 todos?")
        equal(found.ask("POST", path + "/answers", json.dumps({"answers": SURE}).encode()).status, 200)
        state("succeeded")
        equal((found.ask("GET", path + "/answer").json, parsed(found.ask("GET", "/todos").body)["items"]), ({"deleted": 3}, []))


@test
def the_schemas_tell_of_answers_where_an_operation_asks():
    found = server.server("todo", "--workers", "2", program=MISHAP)
    paths = parsed(found.ask("GET", "/openapi.json").body)["paths"]
    said = json.dumps(paths["/todos"]["delete"])
    expect('"_state"' in said and '"_answers"' in said and '"428"' in said, said)
    expect('"_state"' not in json.dumps(paths["/todos"]["get"]) + json.dumps(paths["/todos/{id}"]), paths)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


server.PROGRAM = ASKING
main()
