"""Streamable HTTP: calls that are cancelled, whose client leaves, that take too long.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/cancelling_test.py [PART-OF-A-NAME]

The server is tests/mcp/conformance.c: see streamable.py.
Every message that comes back is held against what holds for all of them: see exchange.py.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import equal, expect, main, test, tests_of  # noqa: E402
from exchange import Exchange, Session, call, message, raw, repeated, stateless, whole  # noqa: E402
from server import Server  # noqa: E402
from streamable import ask, ask_stateless, check_refusal, shared, standing, wait_until_over  # noqa: E402

# ---- Cancelling ----------------------------------------------------------------------------------

def wait_for(path):
    deadline = time.monotonic() + server.PATIENCE
    while not os.path.exists(path):
        expect(time.monotonic() < deadline, "the handler was not told")
        time.sleep(0.02)


@test
def cancelling_reaches_the_worker_that_runs_the_call():
    for number in range(6):  # through either worker
        mark = os.path.join(server.FOLDER, "cancelled-%d" % number)
        session = Session(shared())
        with session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, id=number, token="t")) as running:
            running.event()
            equal(session.post(message("notifications/cancelled", {"requestId": number, "reason": "enough"}, None)).status, 202)
            for event in running.events():
                expect(not event.data or "method" in event.json, "an answer:", event.data)
        wait_for(mark)


@test
def a_call_without_a_stream_is_cancelled_too():
    mark = os.path.join(server.FOLDER, "cancelled-whole")
    session = Session(shared())
    with shared().connect() as one:
        one.send(raw("POST", call("steps", {"steps": 1000, "mark": mark}, id="w"), session.fields))
        wait_for(mark + ".begun")
        session.post(message("notifications/cancelled", {"requestId": "w"}, None))
        found = whole(one)
        expect(found.status in (200, 202) and b"result" not in found.body, found)
    wait_for(mark)


@test
def cancelling_in_a_batch_does_it_as_well():
    for number in range(4):
        mark = os.path.join(server.FOLDER, "cancelled-in-batch-%d" % number)
        session = Session(shared(), "2025-03-26")
        with session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, id="b", token="t")) as running:
            running.event()
            batch = [message("ping"), message("notifications/cancelled", {"requestId": "b"}, None)]
            equal(session.post(batch).status, 200, "the status")
            running.events()
        wait_for(mark)


@test
def an_id_of_another_type_cancels_nothing():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 12}, id=1, token="t")) as running:
        for wrong in ["1", 2, None, [1]]:
            equal(session.post(message("notifications/cancelled", {"requestId": wrong}, None)).status, 202)
        equal(running.answer()["result"]["structuredContent"], {"steps": 12}, "the answer")


@test
def a_session_that_goes_away_does_not_cancel():
    session = Session(shared())
    for token in ["t", None]:
        mark = os.path.join(server.FOLDER, "gone-session-%s" % token)
        with shared().connect() as one:
            one.send(raw("POST", call("steps", {"steps": 20, "mark": mark}, id=str(token), token=token), session.fields))
            wait_for(mark + ".begun")
        wait_until_over(session, str(token))
        expect(not os.path.exists(mark), "it was cancelled")


@test
def closing_cancels_in_the_stateless_revision():
    for number, meta in enumerate([{}, {"progressToken": 1}]):
        for reset in [False, True]:
            mark = os.path.join(server.FOLDER, "closed-%d-%d" % (number, reset))
            said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000, "mark": mark}}, **meta)
            one = shared().connect()
            one.send(raw("POST", said, repeated(said)))
            wait_for(mark + ".begun")
            one.reset() if reset else one.close()
            wait_for(mark)


@tests_of({"as a whole": ({},), "as a stream": ({"progressToken": 1},)})
def a_client_that_has_closed_its_sending_side_is_answered(meta):
    """Outside of a session the handler is told; what it makes of that is written. In one it is not told."""
    mark = os.path.join(server.FOLDER, "half-closed-%d" % len(meta))
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000, "mark": mark}}, **meta)
    with Exchange(shared(), "POST", said, repeated(said), finish=True) as found:
        expect(found.answer()["result"]["isError"], found)
    expect(os.path.exists(mark), "the handler was not told")
    session = Session(shared())
    steps = call("steps", {"steps": 3, "mark": mark + "-session"}, token="t" if meta else None)
    with Exchange(shared(), "POST", steps, session.fields, finish=True) as found:
        equal(found.answer()["result"]["structuredContent"], {"steps": 3})
    expect(not os.path.exists(mark + "-session"), "the handler was told")


@test
def deleting_a_session_cancels_its_calls():
    mark = os.path.join(server.FOLDER, "deleted")
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, token="t")) as running:
        running.event()
        session.exchange("DELETE")
        running.events()
    wait_for(mark)


@test
def a_notification_does_not_cancel_over_http_in_the_stateless_revision():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 10}}, id=77, progressToken=1)
    with Exchange(shared(), "POST", said, repeated(said)) as running:
        other = stateless("notifications/cancelled", {"requestId": 77}, id=None)
        equal(ask_stateless(other).status, 202, "the status")
        equal(running.answer()["result"]["structuredContent"], {"steps": 10}, "the answer")


@test
def an_id_is_answered_once_at_a_time():
    for _ in range(4):  # through either worker
        session = Session(shared())
        with session.exchange("POST", call("steps", {"steps": 1000}, id=5, token="t")) as running:
            running.event()
            for same in [call("echo", {"text": "a"}, id=5), call("steps", {"steps": 1}, id=5), message("ping", id=5)]:
                found = session.post(same)
                equal((found.status, found.error, found.json["id"]), (400, -32600, 5), "the same id")
            equal(session.post(message("ping", id="5")).status, 200, "another id")
            session.post(message("notifications/cancelled", {"requestId": 5}, None))
            running.events()
        equal(session.post(message("ping", id=5)).status, 200, "when it is over")


@test
def an_id_is_answered_once_at_a_time_in_a_batch():
    for _ in range(4):  # through either worker
        session = Session(shared(), "2025-03-26")
        twice = session.post([call("steps", {"steps": 1}, id=5), call("steps", {"steps": 1}, id=5)]).json
        equal(sorted(answer["error"]["code"] if "error" in answer else 0 for answer in twice), [-32600, 0], "twice in one")
        with session.exchange("POST", call("steps", {"steps": 1000}, id=5, token="t")) as running:
            running.event()
            same = [call("steps", {"steps": 1}, id=5), call("echo", {"text": "a"}, id=5), message("ping", id=5), message("ping", id=6)]
            answers = session.post(same).json
            equal([(answer["id"], answer.get("error", {}).get("code")) for answer in answers],
                  [(5, -32600), (5, -32600), (5, -32600), (6, None)], "the same id")
            session.post(message("notifications/cancelled", {"requestId": 5}, None))
            running.events()


@test
def a_session_runs_so_many_calls():
    with Server("--workers", "1", "--handlers", "4") as found:
        session, other = Session(found), Session(found)
        connections, refused = [], []
        for number in range(70):
            one = found.connect()
            one.send(raw("POST", call("steps", {"steps": 1000}, id=number), session.fields))
            connections.append(one)
        deadline = time.monotonic() + server.PATIENCE
        while len(refused) < 6:  # of which 64 are taken
            expect(time.monotonic() < deadline, "refused were only", len(refused))
            refused = [one for one in connections if not one.is_silent(0.001)]
        equal(len(refused), 6, "refused")
        for one in refused:
            result = whole(one).json["result"]
            expect(result["isError"] and "busy" in result["content"][0]["text"], result)
        with found.connect() as one:  # another may; it waits for a worker
            one.send(raw("POST", call("steps", {"steps": 1}, id=1), other.fields))
            expect(one.is_silent(0.5), "it was refused")
        session.exchange("DELETE")
        for one in connections:
            one.close()


@test
def a_call_that_takes_too_long_is_given_up():
    with Server("--workers", "1", "--timeout-ms", "700") as found:
        for meta in [{}, {"progressToken": 1}]:
            said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000}}, **meta)

            def attempt():
                with Exchange(found, "POST", said, repeated(said)) as late:
                    result = late.answer()["result"]
                expect(result["isError"] and result["structuredContent"]["code"] == "TIMEOUT", result)
                expect("TIMEOUT" in found.wait_for_log(result["_meta"]["dev.mishap/incident"]), "the log")
            server.in_time(attempt, 0.6, 30)
        metrics = found.ask("GET", "/metrics").body.decode()
        equal(re.findall(r"^\S*crashes_total\S* (\S+)$", metrics, re.M), ["0"], "no crash")


def hang(found, session, mark):
    """A call that never comes back, nor notices that its client has left: cancelled, or left alone."""
    said = call("hang", {"mark": mark}, id="h")
    fields = session.fields if session else None
    if not session:
        said = stateless("tools/call", {"name": "hang", "arguments": {"mark": mark}})
        fields = repeated(said)
    with found.connect() as one:
        one.send(raw("POST", said, fields))
        wait_for(mark + ".begun")
        if session:
            session.post(message("notifications/cancelled", {"requestId": "h"}, None))
            whole(one)


@tests_of({"that is cancelled": (True,), "whose client leaves": (False,)})
def a_call_that_hangs_keeps_no_worker(cancelled):
    with Server("--workers", "1", "--handlers", "2", "--timeout-ms", "3000") as found:
        before, session = set(found.workers()), Session(found) if cancelled else None
        for number in range(2):  # all workers
            hang(found, session, os.path.join(server.FOLDER, "hangs-%d-%d" % (cancelled, number)))
        said = stateless("tools/call", {"name": "test_error_handling"})
        for _ in range(3):  # the first waits until their time is over; after ten seconds it would be told that all are busy
            result = ask(said, repeated(said), found=found).json["result"]
            while result.get("structuredContent", {}).get("code") == "TIMEOUT":  # it was begun, and the machine is busy
                result = ask(said, repeated(said), found=found).json["result"]
            expect("intentionally" in result["content"][0]["text"], result)
        equal(set(found.workers()), before, "the loop goes on")


@test
def calls_that_nobody_waits_for_take_no_room():
    server.in_time(leave_and_call, 0, 10)  # without that they would be there for ten seconds


def leave_and_call():
    with Server("--workers", "1", "--handlers", "1") as found:
        session = Session(found)
        mark = os.path.join(server.FOLDER, "first")
        with found.connect() as one:
            one.send(raw("POST", call("steps", {"steps": 1000, "mark": mark}, id="first"), session.fields))
            wait_for(mark + ".begun")
            for _ in range(70):  # that wait behind it; 64 may
                said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1}})
                with found.connect() as other:
                    other.send(raw("POST", said, repeated(said)))
                    time.sleep(0.01)
            deadline = time.monotonic() + server.PATIENCE
            while True:  # until it was noticed that they left
                with found.connect() as other:
                    other.send(raw("POST", said, repeated(said)))
                    if other.is_silent(0.5):
                        session.post(message("notifications/cancelled", {"requestId": "first"}, None))
                        equal(whole(other).json["result"]["structuredContent"], {"steps": 1}, "the answer")
                        break
                    expect(time.monotonic() < deadline, "it was refused:", whole(other))


@test
def a_stream_that_is_quiet_shows_that_it_is_there():
    session = Session(shared())
    said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=3)
    slow = call("steps", {"steps": 20, "pause_ms": 1000}, id="slow", token="t")
    with standing(session) as stream, Exchange(shared(), "POST", said, repeated(said)) as listening, \
            session.exchange("POST", slow) as running:
        listening.event()
        for found in [stream, listening]:
            while ": still here" not in found.text:
                found.more()
        running.events()
        expect(": still here" not in running.text, "it was not quiet")


suggestion_rows = {
    "without a session": ("POST", {"Mcp-Session-Id": None}, "initialize"),
    "a session that is none": ("POST", {"Mcp-Session-Id": "x"}, "initialize"),
    "a stream that is not accepted": ("GET", {"Accept": "application/json"}, "text/event-stream"),
    "an event that is none": ("GET", {"Accept": "text/event-stream", "Last-Event-ID": "x"}, "Last-Event-ID"),
    "a version that is none": ("POST", {"MCP-Protocol-Version": "1999-01-01"}, "initialize"),
    "a foreign host": ("POST", {"Host": "evil.example.com"}, "--public-url"),
    "a foreign origin": ("POST", {"Origin": "http://evil.example.com"}, "--cors"),
}


@tests_of(suggestion_rows)
def who_is_refused_is_told_what_to_do(method, fields, words):
    session = Session(shared())
    with session.exchange(method, message("ping") if method == "POST" else None, **fields) as found:
        expect(words in found.json["error"]["data"]["suggestion"], found.json)


@test
def fields_that_differ_from_the_message_are_explained():
    said = stateless("tools/call", {"name": "echo", "arguments": {"text": "a"}})
    for field in ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"]:
        error = ask(said, {**repeated(said), field: "other"}).json["error"]
        equal(error["code"], -32020, field)
        expect(field in error["message"] and "Send" in error["data"]["suggestion"], error)


@test
def who_accepts_no_stream_gets_none():
    session = Session(shared())
    found = session.post(call("steps", {"steps": 5}, token="t"), Accept="application/json")
    equal((found.status, found.streams, found.json["result"]["structuredContent"]), (200, False, {"steps": 5}), "JSON alone")
    said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    refused = ask(said, {**repeated(said), "Accept": "application/json"})
    equal(refused.status, 406, "listening")
    check_refusal(refused, -32600)


@test
def a_failed_call_is_found_by_the_id_of_its_request():
    access = os.path.join(server.FOLDER, "mcp-access")
    with Server("--workers", "1", "--access-log", access) as found:
        found.access, session = access, Session(found)
        ways = [(call("test_error_handling"), session.fields, "RUNTIME_ERROR"),
                (call("crash", token="t"), session.fields, "INTERNAL_ERROR"),
                (call("echo", {}), session.fields, "VALIDATION_ERROR"),
                (message("resources/read", {"uri": "test://none"}), session.fields, "NOT_FOUND")]
        for said, fields, code in ways:
            with Exchange(found, "POST", said, fields) as failed:
                answer = failed.answer()
                if "result" in answer:
                    equal(answer["result"]["_meta"]["dev.mishap/incident"], failed["X-Request-Id"], code)
            line = found.wait_for_access(failed["X-Request-Id"])
            equal((line["status"], line["code"]), (200, code), "the access log")
        with found.connect() as one:
            metrics = one.ask("GET", "/metrics").body.decode()
        for _, _, code in ways:
            expect(re.search(r'errors_total\{[^}]*%s[^}]*\} [1-9]' % code, metrics), code, "is not counted")
        steps = call("steps", {"steps": 3}, token="t")
        with Exchange(found, "POST", steps, session.fields) as worked:
            worked.events()
        expect("code" not in found.wait_for_access(worked["X-Request-Id"]), "a failure of what worked")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
