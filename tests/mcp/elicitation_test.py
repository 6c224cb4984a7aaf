"""Handlers that ask (mishap_ask), for clients of the revisions with sessions: requests of the server, and their answers.

    MISHAP_PROGRAM=… ASKING_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/elicitation_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/asking.c is the program; tests/http/asking_test.py has the stateless revision and the other boundaries.
"""
import contextlib
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
import talk  # noqa: E402
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from exchange import Session, call, message  # noqa: E402

ASKING = os.path.abspath(os.environ["ASKING_PROGRAM"])
FORMS = {"elicitation": {}}
WITH_FORMS = ["2025-06-18", "2025-11-25"]
BOB = {"name": "Bob"}
YES = {"action": "accept", "content": {"sure": True}}
AT_ONCE = 32  # open questions of a session


def shared():
    return server.server("asking", "--workers", "2", program=ASKING)


# ---- Two transports ------------------------------------------------------------------------------

class Lines:
    """A client over standard input and output."""

    def __init__(self, revision, capabilities):
        self.server, self.count = talk.Server(program=ASKING, revision=revision, capabilities=capabilities), 0

    def begin(self, tool, arguments):
        self.count += 1
        self.server.send(talk.request(self.count, "tools/call", {"name": tool, "arguments": arguments}))

    def next(self):
        return self.server.receive()

    def send(self, said):
        self.server.send(said)

    def cancel(self):
        self.send(message("notifications/cancelled", {"requestId": self.count}, None))

    def close(self):
        equal(self.server.close(), [], "what is left")


class Web:
    """… and over HTTP, where each call has a stream."""

    def __init__(self, revision, capabilities):
        self.session, self.count, self.stream = Session(shared(), revision, capabilities=capabilities), 0, None

    def begin(self, tool, arguments):
        self.close()
        self.count += 1
        self.stream = self.session.exchange("POST", call(tool, arguments, id=self.count))

    def next(self):
        if not self.stream.streams:
            return self.stream.json
        while True:
            event = self.stream.event()
            expect(event, "the stream is over")
            if event.data:
                return event.json

    def send(self, said):
        found = self.session.post(said)
        equal((found.status, found.body), (202, b""), "a response is taken")

    def cancel(self):
        self.send(message("notifications/cancelled", {"requestId": self.count}, None))

    def close(self):
        if self.stream:
            self.stream.connection.close()


def clients(*revisions, capabilities=None):
    for kind in Lines, Web:
        for revision in revisions or WITH_FORMS:
            with contextlib.closing(kind(revision, FORMS if capabilities is None else capabilities)) as client:
                yield client


def asked(client, method="elicitation/create"):
    """The next message, which is a question."""
    found = client.next()
    equal(found.get("method"), method, found)
    expect(re.fullmatch(r"mishap-\d+", found["id"]), found)
    return found


def answer(client, question, result=None, **error):
    client.send({"jsonrpc": "2.0", "id": question["id"], **(error or {"result": YES if result is None else result})})


def result_of(client):
    found = client.next()
    equal(found.get("id"), client.count, found)
    return found["result"]


def failure_of(client):
    found = result_of(client)
    expect(found["isError"], found)
    return json.loads(found["content"][0]["text"])


# ---- Accepted, wrong, declined -------------------------------------------------------------------

@test
def a_client_with_forms_is_asked_by_a_request_and_the_call_goes_on():
    for client in clients():
        for tool in "purge", "rename", "quick", "person":
            client.begin(tool, BOB)
            question = asked(client)
            equal(set(question["params"]), {"message", "requestedSchema"}, question)
            equal((question["params"]["message"], question["params"]["requestedSchema"]["required"]), ("Delete 3 todos of Bob?", ["sure"]))
            answer(client, question, {"action": "accept", "content": {"sure": True, "why": "tidy"}})
            equal(result_of(client)["structuredContent"], {"deleted": 3, "why": "tidy"})


@test
def a_wrong_answer_is_asked_for_again_with_what_is_wrong():
    wrong = (({"action": "accept", "content": {"sure": "maybe"}}, "invalid type"), ({"action": "accept"}, "required"),
             ({"action": "accept", "content": []}, "must be an object"), ({"action": "perhaps"}, "must have an action"),
             (7, "must have an action"), ([], "must have an action"), ({}, "must have an action"))
    for client in clients():
        client.begin("purge", BOB)
        question = asked(client)
        for given, words in wrong:
            answer(client, question, given)
            again = asked(client)
            expect(words in again["params"]["message"] and again["id"] != question["id"], given, again)
            question = again
        answer(client, question)
        equal(result_of(client)["structuredContent"]["deleted"], 3)


@test
def after_eight_rounds_the_call_is_cancelled():
    for client in clients("2025-11-25"):
        client.begin("quick", BOB)
        for _ in range(8):
            answer(client, asked(client), {})
        expect("8 rounds" in failure_of(client)["message"])


@test
def what_is_declined_or_closed_is_cancelled():
    for client in clients():
        for action, words in ("decline", "was declined"), ("cancel", "was closed"):
            client.begin("rename", BOB)
            answer(client, asked(client), {"action": action})
            found = failure_of(client)
            expect(words in found["message"] and found["code"] == "CANCELLED", found)


@test
def questions_of_one_run_are_asked_one_after_the_other():
    for client in clients("2025-11-25"):
        client.begin("both", {})
        first = asked(client)
        equal(first["params"]["message"], "First?")
        answer(client, first)
        second = asked(client)
        equal(second["params"]["message"], "Second?")
        answer(client, second, {"action": "accept", "content": {"name": "Ada"}})
        equal(result_of(client)["structuredContent"], {"sure": True, "name": "Ada"})
        client.begin("both", {})
        answer(client, asked(client), {"action": "decline"})
        expect("confirm" in failure_of(client)["message"])


@test
def a_question_shows_no_secret():
    for client in clients("2025-06-18"):
        client.begin("leaks", {"name": "Bob", "password": "hunter2-of-the-caller"})
        expect("hunter2" not in json.dumps(found := asked(client)), found)
        answer(client, found, {"action": "decline"})
        failure_of(client)


@test
def what_a_run_did_that_ends_with_a_question_is_undone():
    with contextlib.closing(Lines("2025-11-25", FORMS)) as client:
        for count in range(3):
            client.begin("counter_add", {})
            question = asked(client)
            equal(question["params"]["message"], "Add to %d?" % count)
            answer(client, question)
            equal(result_of(client)["structuredContent"], {"count": count + 1})


# ---- Who can be asked ----------------------------------------------------------------------------

@test
def a_client_that_cannot_be_asked_is_told_what_to_send():
    cases = [("2024-11-05", FORMS), ("2025-03-26", FORMS), ("2025-06-18", {}), ("2025-11-25", {"elicitation": {"url": {}}}),
             ("2025-11-25", {"sampling": {}}), ("2025-11-25", {"elicitation": True})]
    for revision, capabilities in cases:
        for client in clients(revision, capabilities=capabilities):
            client.begin("purge", BOB)
            found = failure_of(client)
            expect("_answers" in found["suggestion"], found)
            client.begin("purge", {**BOB, "_state": found["state"], "_answers": {"confirm": {"sure": True}}})
            expect("deleted" in result_of(client)["content"][0]["text"])
            client.begin("person", BOB)
            expect("only a person" in failure_of(client)["suggestion"])


@test
def a_form_with_choices_of_several_is_for_the_revision_that_has_it():
    for client in clients("2025-11-25"):
        client.begin("choose", {})
        question = asked(client)
        equal(question["params"]["requestedSchema"]["properties"]["colours"]["items"]["enum"], ["red", "green", "blue"])
        answer(client, question, {"action": "accept", "content": {"colours": ["red", "blue"]}})
        equal(result_of(client)["structuredContent"], {"colours": ["red", "blue"]})
    for client in clients("2025-06-18"):
        client.begin("choose", {})
        expect("_answers" in failure_of(client)["suggestion"])


@test
def a_client_that_refuses_the_request_is_told_what_to_send():
    for client in clients():
        client.begin("purge", BOB)
        answer(client, asked(client), error={"code": -32601, "message": "Method not found"})
        expect("_answers" in failure_of(client)["suggestion"])


@test
def the_client_itself_is_asked_in_every_revision_with_sessions():
    for client in clients("2024-11-05", "2025-03-26", *WITH_FORMS, capabilities={"roots": {}}):
        client.begin("roots", {})
        answer(client, asked(client, "roots/list"), {"roots": [{"uri": "file:///a"}]})
        expect("file:///a" in result_of(client)["content"][0]["text"])


@test
def a_client_of_json_alone_is_told_what_to_send():
    session = Session(shared(), capabilities=FORMS)
    found = session.post(call("purge", BOB), Accept="application/json").json["result"]
    expect(found["isError"] and "_answers" in found["content"][0]["text"], found)


# ---- Who may answer ------------------------------------------------------------------------------

@test
def only_the_open_question_of_the_own_session_is_answered():
    client, other = Web("2025-11-25", FORMS), Web("2025-11-25", FORMS)
    client.begin("rename", BOB)
    question = asked(client)
    number = int(question["id"].split("-")[1])
    for id in (number, "mishap-0", "mishap-%d" % (number + 1), "mishap-0%d" % number, "mishap-%d " % number, "mishap--1", "mishap-", "x",
               "mishap-99999999999999999999999", "elicitation", 0):
        client.send({"jsonrpc": "2.0", "id": id, "result": YES})
    other.send({"jsonrpc": "2.0", "id": question["id"], "result": YES})
    expect(client.stream.is_silent(1), "it was answered:", client.stream.text)
    answer(client, question)
    equal(result_of(client)["structuredContent"]["deleted"], 3)
    answer(client, question)  # too late: it changes nothing
    client.begin("rename", BOB)
    expect(asked(client)["id"] != question["id"])
    client.close()


@test
def the_first_answer_counts_whichever_loop_gets_it():
    with server.Server("--workers", "4", program=ASKING) as found:
        session = Session(found, capabilities=FORMS)
        for number in range(24):
            with session.exchange("POST", call("rename", BOB, id=number + 1)) as stream:
                while not (event := stream.event()).data:
                    pass
                for given in (YES, {"action": "decline"}):
                    equal(session.post({"jsonrpc": "2.0", "id": event.json["id"], "result": given}).status, 202)
                equal(stream.event().json["result"]["structuredContent"]["deleted"], 3)


@test
def a_stream_that_was_lost_is_resumed_with_its_question():
    session = Session(shared(), capabilities=FORMS)
    with session.exchange("POST", call("purge", BOB)) as stream:
        first = stream.event()
        question = stream.event().json
    with session.exchange("GET", **{"Accept": "text/event-stream", "Last-Event-ID": first.id}) as stream:
        equal(stream.event().json, question, "it is sent again")
        equal(session.post({"jsonrpc": "2.0", "id": question["id"], "result": YES}).status, 202)
        equal(stream.event().json["result"]["structuredContent"]["deleted"], 3)


@test
def a_session_that_outlives_its_server_can_still_be_asked():
    with server.Server("--workers", "1", program=ASKING) as found:
        data, session = found.data, Session(found, capabilities=FORMS)
        found.stop()
    with server.Server("--workers", "1", program=ASKING, data=data) as again:
        session.server = again
        with session.exchange("POST", call("purge", BOB)) as stream:
            while not (event := stream.event()).data:
                pass
            equal(event.json["method"], "elicitation/create")


# ---- Ends ----------------------------------------------------------------------------------------

@test
def a_call_that_is_cancelled_withdraws_its_question():
    for client in clients("2025-11-25"):
        client.begin("purge", BOB)
        question = asked(client)
        client.cancel()
        found = client.next()
        equal((found["method"], found["params"]["requestId"]), ("notifications/cancelled", question["id"]))
        answer(client, question)
        client.begin("plain", BOB)
        equal(result_of(client)["structuredContent"], BOB)


@test
def a_question_ends_with_its_session():
    session = Session(shared(), capabilities=FORMS)
    with session.exchange("POST", call("purge", BOB)) as stream:
        while not stream.event().data:
            pass
        equal(session.exchange("DELETE").status, 204)
        equal([event.json["method"] for event in stream.events()], ["notifications/cancelled"])


@test
def the_end_of_the_input_ends_an_open_question():
    client = Lines("2025-11-25", FORMS)
    client.begin("purge", BOB)
    question = asked(client)
    withdrawn, found = client.server.close()
    equal(withdrawn["params"]["requestId"], question["id"])
    expect(found["result"]["isError"] and "input has ended" in found["result"]["content"][0]["text"], found)


@test
def a_server_that_ends_ends_its_open_questions():
    with server.Server("--workers", "1", program=ASKING) as found:
        session = Session(found, capabilities=FORMS)
        with session.exchange("POST", call("purge", BOB)) as stream:
            while not stream.event().data:
                pass
            begun = time.monotonic()
            found.process.terminate()
            rest = [event.json for event in stream.events()]
            expect("The server ends" in rest[-1]["result"]["content"][0]["text"], rest)
        found.process.wait(server.PATIENCE)
        expect(time.monotonic() - begun < server.PATIENCE, "it waited for the answer")


@test
def an_answer_that_is_too_long_fails_the_call():
    for client in clients("2025-11-25"):
        client.begin("purge", BOB)
        answer(client, asked(client), {"action": "accept", "content": {"sure": True, "why": "x" * 70000}})
        equal(failure_of(client)["code"], "CONTENT_TOO_LARGE")


# ---- Bounds --------------------------------------------------------------------------------------

@test
def open_questions_hold_no_worker():
    with server.Server("--workers", "1", "--handlers", "1", "--caller-share", "100", program=ASKING) as found, contextlib.ExitStack() as streams:
        waiting = []
        for _ in range(4):
            session = Session(found, capabilities=FORMS)
            for number in range(AT_ONCE):
                stream = streams.enter_context(session.exchange("POST", call("rename", BOB, id=number + 1)))
                waiting.append((session, stream))
        questions = []
        for _, stream in waiting:
            while not (event := stream.event()).data:
                pass
            questions.append(event.json["id"])
        equal(len(set(questions)), 4 * AT_ONCE, "questions")
        equal(session.post(call("plain", BOB, id="p")).json["result"]["structuredContent"], BOB, "the only worker is free")
        refused = session.post(call("rename", BOB, id="q")).json["result"]
        expect("Too many calls wait" in refused["content"][0]["text"], refused)
        for (session, stream), id in zip(waiting, questions):
            equal(session.post({"jsonrpc": "2.0", "id": id, "result": YES}).status, 202)
            equal(stream.event().json["result"]["structuredContent"]["deleted"], 3)


@test
def one_caller_has_its_share_of_the_open_questions():
    with server.Server("--workers", "1", "--caller-share", "1", program=ASKING) as found, contextlib.ExitStack() as streams:
        heads = []
        for _ in range(2):
            session = Session(found, capabilities=FORMS)
            for number in range(AT_ONCE):
                stream = streams.enter_context(session.exchange("POST", call("rename", BOB, id=number + 1)))
                heads.append(stream.streams)
        equal(heads.count(True), 4096 // 100, "open questions")


@test
def one_caller_has_its_share_of_the_bytes_of_calls_that_wait():
    """64 MB for all, so 671,088 bytes for one; its first call may be larger."""
    with server.Server("--workers", "1", "--caller-share", "1", program=ASKING) as found, contextlib.ExitStack() as streams:
        session = Session(found, capabilities=FORMS)

        def is_asked(size, id):
            stream = streams.enter_context(session.exchange("POST", call("rename", {"name": "x" * size}, id=id)))
            if not stream.streams:
                expect("Too many calls wait" in stream.json["result"]["content"][0]["text"], stream.json)
            return stream.streams

        equal([is_asked(size, id) for id, size in enumerate([400000, 400000, 3, 400000, 3], 1)], [True, False, True, False, True], "who is asked")
        for id in 1, 3, 5:
            session.post(message("notifications/cancelled", {"requestId": id}, None))
        end = time.monotonic() + 30
        while not is_asked(2000000, id := id + 1):
            expect(time.monotonic() < end, "calls that were cancelled still count")
            time.sleep(0.05)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


server.PROGRAM = ASKING
main()
