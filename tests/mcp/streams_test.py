"""Streamable HTTP: progress, streams that are resumed and that stay open, resources that change.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/streams_test.py [PART-OF-A-NAME]

The server is tests/mcp/conformance.c: see streamable.py.
Every message that comes back is held against what holds for all of them: see exchange.py.
"""
import contextlib
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
import leaks  # noqa: E402, behind the one that knows where it is
from blackbox import equal, expect, main, run_program, test, tests_of  # noqa: E402
from exchange import META, OLDER, Exchange, Session, call, message, raw, repeated, stateless  # noqa: E402
from server import Closed, Server  # noqa: E402
from streamable import ask, ask_stateless, check_progress, check_refusal, shared, standing, wait_until_over  # noqa: E402

# ---- Progress and streams ------------------------------------------------------------------------

@test
def progress_comes_as_events_before_the_answer():
    session = Session(shared())
    for token in ["t", 0, 7]:
        with session.exchange("POST", call("steps", {"steps": 8}, id="x", token=token)) as found:
            expect(found.streams, "no stream:", found.head)
            events = found.events()
        equal(events[-1].json["id"], "x", "the last event")
        check_progress(events[1:-1], token, 8)
        equal(len({event.id for event in events}), len(events), "different ids")


@test
def progress_arrives_while_the_call_runs():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 1000}, id="p", token="t")) as found:
        events = [found.event() for _ in range(6)]
        check_progress(events[1:], "t", 1000)
        equal(session.post(message("ping", id="p")).status, 400, "it runs")
        session.post(message("notifications/cancelled", {"requestId": "p"}, None))
        expect(all("method" in event.json for event in found.events()), "it was over")


@test
def who_does_not_ask_gets_no_progress():
    found = Session(shared()).post(call("steps", {"steps": 3}))
    expect(not found.streams and found.json["result"]["structuredContent"] == {"steps": 3}, found.head)
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 3}})
    expect(not ask_stateless(said).streams, "a stream")


@test
def a_first_event_without_data_is_for_those_who_know_it():
    for revision in OLDER:
        with Session(shared(), revision).exchange("POST", call("steps", {"steps": 4}, token=1)) as found:
            events = found.events()
            equal(events[0].data == "", revision == "2025-11-25", "an empty first event in " + revision)
            expect(all(event.data for event in events[1:]), "an empty event later")


@test
def the_stateless_revision_streams_without_ids():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 8}}, id=9, progressToken="p")
    with Exchange(shared(), "POST", said, repeated(said)) as found:
        expect(found.streams, "no stream")
        events = found.events()
        equal({event.id for event in events} | {event.retry for event in events}, {None}, "ids")
        check_progress(events[:-1], "p", 8)
        result = events[-1].json["result"]
        equal((events[-1].json["id"], result["resultType"]), (9, "complete"), "the answer")
        equal(found["Mcp-Session-Id"], None, "a session")


@test
def a_connection_is_used_again_after_a_stream():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 4}}, progressToken="p")
    with shared().connect() as one:
        for _ in range(3):
            found = Exchange(shared(), "POST", said, repeated(said), one)
            equal(found.events()[-1].json["result"]["structuredContent"], {"steps": 4}, "the answer")
            expect(one.is_open(), "it was closed")


@test
def an_old_client_of_http_gets_a_stream_that_ends_with_the_connection():
    said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 4}}, progressToken="p")
    with shared().connect() as one:
        one.send(raw("POST", said, repeated(said)).replace(b"HTTP/1.1", b"HTTP/1.0", 1))
        head = one.take_head()
        expect(b"chunked" not in head and b"text/event-stream" in head, head)
        while one.more():
            pass
        expect(one.received.endswith(b"\n\n") and b'"steps":4' in one.received, one.received)
        leaks.check(head.decode("latin-1") + one.received.decode())


@test
def log_messages_are_for_those_who_want_them():
    session = Session(shared())

    def logged():
        events = session.post(call("test_tool_with_logging"))
        return [event.json["params"]["data"] for event in events.received
                if event.data and event.json.get("method") == "notifications/message"] if events.streams else []

    equal(session.post(message("logging/setLevel", {"level": "error"})).json["result"], {}, "setLevel")
    equal(logged(), [], "below the level")
    equal(session.post(message("logging/setLevel", {"level": "debug"})).json["result"], {}, "setLevel")
    for _ in range(6):  # whichever worker
        equal(len(logged()), 3, "at the level")
    for level, count in [("info", 3), ("warning", 0), (None, 0)]:
        meta = {META + "logLevel": level} if level else {}
        said = stateless("tools/call", {"name": "test_tool_with_logging"}, **meta)
        with Exchange(shared(), "POST", said, repeated(said)) as found:
            events = found.events()[:-1] if found.streams else []
            equal(len(events), count, "messages from %s on" % level)


# ---- Resuming ------------------------------------------------------------------------------------

def resume(session, id):
    return session.exchange("GET", Accept="text/event-stream", **{"Last-Event-ID": id})


@test
def a_stream_is_resumed_where_it_broke_off():
    most = 0
    for number in range(4):  # so that now and then another worker does it
        session = Session(shared())
        with session.exchange("POST", call("steps", {"steps": 20}, id=number, token="t")) as broken:
            first = [broken.event() for _ in range(3)]
            if number % 2:
                broken.connection.reset()
        with resume(session, first[-1].id) as found:
            equal((found.status, found.streams), (200, True), "resumed")
            rest = found.events()
        equal(rest[-1].json["id"], number, "the last event")
        equal(rest[-1].json["result"]["structuredContent"], {"steps": 20}, "the answer")
        values = check_progress([event for event in first + rest[:-1] if event.data], "t", 20)
        most = max(most, len(values))
        with resume(session, first[0].id) as again:  # and afterwards, from the start
            equal([event.data for event in again.events()], [event.data for event in first[1:] + rest], "all of it")
    expect(most >= 4, "little progress:", most)  # a loop that is held up tells of several steps at once


@test
def a_stream_is_resumed_only_by_its_session():
    session, other = Session(shared()), Session(shared())
    with session.exchange("POST", call("steps", {"steps": 6}, token="t")) as found:
        events = found.events()
    with resume(other, events[0].id) as found:
        equal(found.status, 400, "the status")


@test
def what_is_no_id_of_an_event_is_refused():
    session = Session(shared())
    for id in ["x", "1", "1-", "-1", "0-1", "1-x", "999999999-1", "1-1-1", " ", "9" * 40 + "-1", "+1-1", "1-+1", "1 -1"]:
        with resume(session, id) as found:
            equal(found.status, 400, "Last-Event-ID: " + id)


@test
def the_answer_to_a_call_whose_stream_broke_off_is_kept():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 12}, id="kept", token="t")) as broken:
        first = broken.event()
    wait_until_over(session, "kept")
    with resume(session, first.id) as found:
        equal(found.events()[-1].json["id"], "kept", "the last event")


@test
def a_stream_whose_call_died_with_its_worker_ends_with_an_error():
    with Server("--workers", "2") as found:
        session = Session(found)
        with session.exchange("POST", call("steps", {"steps": 500}, id="lost", token="t")) as broken:
            first = [broken.event() for _ in range(3)]
            for pid in found.workers():
                os.kill(pid, signal.SIGKILL)
        deadline, events = time.monotonic() + server.PATIENCE, None
        while not events and time.monotonic() < deadline:
            try:
                with resume(session, first[-1].id) as resumed:
                    events = resumed.events()
            except (Closed, ConnectionError):  # the next workers are not there yet
                time.sleep(0.05)
        answer = events[-1].json
        equal((answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]), ("lost", -32603, "INTERNAL_ERROR"))
        judged = run_program(os.environ["MISHAP_PROGRAM"], "check", "--dialect", "json-rpc", stdin=json.dumps(answer).encode())
        equal(judged.status, 0, judged.out)


@test
def a_stream_that_is_over_is_over_for_who_has_all_of_it():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 4}, token="t")) as found:
        last = found.events()[-1]
    with resume(session, last.id) as again:
        equal((again.status, again.events()), (200, []), "nothing more")


@test
def a_stream_is_sent_to_one_connection_alone():
    with contextlib.ExitStack() as stack:
        runs = []
        for number in range(4):  # whichever worker resumes it; all of them while the calls run
            session = Session(shared())
            first = stack.enter_context(session.exchange("POST", call("steps", {"steps": 150}, id=number, token="t")))
            begun = [first.event() for _ in range(2)]
            second = stack.enter_context(resume(session, begun[-1].id))
            second.event()
            runs.append((first, second, stack.enter_context(resume(session, begun[-1].id))))
        for number, (first, second, third) in enumerate(runs):
            equal(third.events()[-1].json["id"], number, "the answer")
            for other in [first, second]:
                expect(all("method" in event.json for event in other.events() if event.data), "the answer came twice")


@test
def a_session_has_so_many_streams_that_are_resumed():
    with Server("--workers", "2", "--handlers", "32") as found:
        session, ids = Session(found), []
        for number in range(18):
            with session.exchange("POST", call("steps", {"steps": 1000}, id=number, token="t")) as begun:
                ids.append(begun.event().id)
        streams = [resume(session, id) for id in ids[:16]]
        for id in ids[16:]:  # none of the others ends for it
            with resume(session, id) as refused:
                equal((refused.status, refused["Retry-After"]), (429, "1"), "one more")
                check_refusal(refused, -32600)
        for stream in streams:
            expect(stream.event().data, "it has ended")
        with resume(session, ids[0]) as again:  # in place of the one before
            equal(again.status, 200, "the same one again")
            expect(again.event().data, "it has ended")
        deadline, status = time.monotonic() + server.PATIENCE, 429
        while status == 429:  # until it is known that the one before was closed
            with resume(session, ids[16]) as instead:
                status = instead.status
            expect(time.monotonic() < deadline, "there is no room")
        equal(status, 200, "in place of one that was closed")
        for stream in streams:
            stream.connection.close()
        session.exchange("DELETE")


@test
def a_stream_whose_call_was_cancelled_ends_for_who_has_resumed_it():
    with Server("--workers", "2", "--handlers", "4") as found:
        session = Session(found)
        for number in range(18):  # more than may be resumed at once
            with session.exchange("POST", call("steps", {"steps": 1000}, id=number, token="t")) as broken:
                first = broken.event()
            with resume(session, first.id) as resumed:
                equal(resumed.status, 200, "resumed")
                session.post(message("notifications/cancelled", {"requestId": number}, None))
                for event in resumed.events():
                    expect(event.data and "method" in event.json, "an answer:", event.data)


@test
def streams_that_are_over_take_the_place_of_none():
    with Server("--workers", "2", "--handlers", "4") as found:
        session = Session(found)
        with session.exchange("POST", call("steps", {"steps": 60}, id="long", token="t")) as begun:
            first = begun.event()
        with resume(session, first.id) as going_on:
            for number in range(20):  # more than may be resumed at once
                with session.exchange("POST", call("steps", {"steps": 1}, id=number, token="t")) as short:
                    id = short.event().id
                with resume(session, id) as again:
                    equal(again.events()[-1].json["id"], number, "the answer")
            equal(going_on.events()[-1].json["id"], "long", "the answer of the long one")


@test
def an_answer_that_is_too_large_to_be_kept_is_an_error_for_who_resumes():
    session = Session(shared())
    with session.exchange("POST", call("steps", {"steps": 2, "size": 3000000}, id="large", token="t")) as found:
        first = found.event()
        equal(found.events()[-1].json["result"]["structuredContent"]["steps"], 2, "who waited has it")
    with resume(session, first.id) as again:
        last = again.events()[-1].json
    equal((last["id"], last["error"]["code"], last["error"]["data"]["code"]), ("large", -32603, "CONTENT_TOO_LARGE"), "the end")
    judged = run_program(os.environ["MISHAP_PROGRAM"], "check", "--dialect", "json-rpc", stdin=json.dumps(last).encode())
    equal(judged.status, 0, judged.out)


# ---- The stream of a session ---------------------------------------------------------------------

@test
def a_session_has_a_stream_that_stays_open():
    session = Session(shared())
    with standing(session) as found:
        equal((found.status, found.streams), (200, True), "GET")
        expect(found.is_silent(0.5), "something came:", found.connection.received)
        for _ in range(3):
            equal(session.post(call("test_trigger_tool_change")).status, 200, "a change")
            equal(found.event().json, {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, "the event")
        session.post(call("test_trigger_prompt_change"))
        equal(found.event().json["method"], "notifications/prompts/list_changed", "the event")
        session.exchange("DELETE")
        equal(found.event(), None, "the stream of a session that is over")


@test
def a_second_stream_takes_the_place_of_the_first():
    session = Session(shared())
    with standing(session) as first:
        with standing(session) as second:
            equal(first.event(), None, "the first")
            session.post(call("test_trigger_tool_change"))
            equal(second.event().json["method"], "notifications/tools/list_changed", "the second")


stream_rows = {
    "nothing accepted": ({"Accept": None}, 406),
    "JSON accepted": ({"Accept": "application/json"}, 406),
    "no session": ({"Mcp-Session-Id": None}, 400),
    "a session that is none": ({"Mcp-Session-Id": "none"}, 404),
    "a version that is none": ({"MCP-Protocol-Version": "1999-01-01"}, 400),
    "a foreign origin": ({"Origin": "http://evil.example.com"}, 403),
    "a foreign host": ({"Host": "evil.example.com"}, 403),
}


@tests_of(stream_rows)
def a_stream_is_refused_with(fields, status):
    session = Session(shared())
    with session.exchange("GET", **{"Accept": "text/event-stream", **fields}) as found:
        equal(found.status, status, "the status")
        check_refusal(found, -32600)


# ---- Listening -----------------------------------------------------------------------------------

def listen(wanted, id="l"):
    said = stateless("subscriptions/listen", {"notifications": wanted}, id=id)
    return Exchange(shared(), "POST", said, repeated(said))


@test
def who_listens_hears_what_was_asked_for():
    change = stateless("tools/call", {"name": "test_trigger_tool_change"})
    other = stateless("tools/call", {"name": "test_trigger_prompt_change"})
    with listen({"toolsListChanged": True}) as tools, listen({"promptsListChanged": True}, 7) as prompts:
        for found, id, key in [(tools, "l", "toolsListChanged"), (prompts, 7, "promptsListChanged")]:
            first = found.event().json
            equal(first["method"], "notifications/subscriptions/acknowledged", "the first event")
            equal(first["params"]["notifications"], {key: True}, "what is acknowledged")
            equal(first["params"]["_meta"][META + "subscriptionId"], id, "the subscription")
        for _ in range(4):
            ask_stateless(change)
            found = tools.event().json
            equal((found["method"], found["params"]["_meta"][META + "subscriptionId"]),
                  ("notifications/tools/list_changed", "l"), "the event")
        expect(prompts.is_silent(0.5), "not asked for")
        ask_stateless(other)
        equal(prompts.event().json["params"]["_meta"][META + "subscriptionId"], 7, "the subscription")


@test
def who_listens_is_told_when_the_server_stops():
    with Server("--workers", "1", "--stop-timeout-ms", "600000") as found:  # those who listen do not take all of it
        said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=3)
        with Exchange(found, "POST", said, repeated(said)) as listening:
            listening.event()
            session = Session(found)
            with standing(session) as stream:
                begun = time.monotonic()
                equal(found.stop().status, 0, "exit")
                expect(time.monotonic() - begun < 600, "it took", time.monotonic() - begun)
                equal(stream.event(), None, "the stream of the session")
            last = listening.event().json
            equal((last["id"], last["result"]["resultType"]), (3, "complete"), "the last event")
            equal(listening.event(), None, "and then")


@test
def listening_to_nothing_known_is_refused():
    said = stateless("subscriptions/listen", {"notifications": []})
    found = ask_stateless(said)
    equal((found.status, found.error), (200, -32602), "a list")


# ---- Resources that change -----------------------------------------------------------------------

WATCHED, OTHER = "test://watched-resource", "test://static-text"


def touches(found, uri=WATCHED):
    """All ways in which a handler comes to say that a resource has changed: by a tool and over HTTP, quick and not."""
    for tool in ["touch", "touch_quick"]:
        said = stateless("tools/call", {"name": tool, "arguments": {"uri": uri}})
        yield tool, lambda said=said: equal(ask(said, repeated(said), found=found).json["result"].get("isError"), None, "a touch")
    for path in ["/touch", "/touch/quick"]:
        def over_http(path=path):
            with found.connect() as one:
                equal(one.ask("POST", path, {"uri": uri}).status, 200, path)
        yield path, over_http


def subscribe(session, uri=WATCHED):
    equal(session.post(message("resources/subscribe", {"uri": uri})).json["result"], {}, "subscribe")


def updated(uri=WATCHED):
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def touch(found, uri=WATCHED, **more):
    with found.connect() as one:
        equal(one.ask("POST", "/touch", {"uri": uri, **more}).status, 200, "a touch")


@tests_of({revision: (revision,) for revision in OLDER})
def a_session_hears_of_what_it_has_subscribed_to(revision):
    found = shared()
    session = Session(found, revision)
    subscribe(session)
    with standing(session) as stream:
        for _ in range(3):  # through either worker
            for way, touched in touches(found):
                touched()
                equal(stream.event().json, updated(), way)
        touch(found, OTHER)
        expect(stream.is_silent(0.6), "not subscribed to")
        subscribe(session, OTHER)
        touch(found, OTHER)
        equal(stream.event().json, updated(OTHER), "the other one")
        equal(session.post(message("resources/unsubscribe", {"uri": WATCHED})).json["result"], {}, "unsubscribe")
        touch(found)
        expect(stream.is_silent(0.6), "not subscribed to any more")


@test
def a_session_hears_what_changed_while_it_had_no_stream():
    found = shared()
    session, other = Session(found), Session(found)
    subscribe(session)
    subscribe(other, OTHER)
    touch(found)
    touch(found)
    time.sleep(0.5)
    with standing(session) as stream, standing(other) as silent:
        equal(stream.event().json, updated(), "what was missed")
        expect(stream.is_silent(0.6), "twice")
        expect(silent.is_silent(0.1), "somebody else's")
    with standing(session) as stream:
        expect(stream.is_silent(0.6), "it was told already")


@test
def who_listens_hears_of_resources():
    found = shared()
    with listen({"resourceSubscriptions": [WATCHED, "test://no/such"]}) as one, listen({"resourceSubscriptions": [OTHER]}, 2) as two:
        equal(one.event().json["params"]["notifications"], {"resourceSubscriptions": [WATCHED]}, "what is acknowledged")
        two.event()
        for _ in range(3):
            for way, touched in touches(found):
                touched()
                params = one.event().json["params"]
                equal((params["uri"], params["_meta"][META + "subscriptionId"]), (WATCHED, "l"), way)
        expect(two.is_silent(0.6), "not asked for")
        touch(found, OTHER)
        equal(two.event().json["params"]["uri"], OTHER, "the other one")


@test
def who_begins_to_listen_hears_nothing_of_what_was_before():
    found = shared()
    for number in range(20):  # in either worker
        touch(found)
        ask_stateless(stateless("tools/call", {"name": "test_trigger_tool_change"}))
        with listen({"toolsListChanged": True, "resourceSubscriptions": [WATCHED, OTHER]}) as one:
            one.event()
            touch(found, OTHER)
            told = one.event().json
            equal((told["method"], told["params"].get("uri")), ("notifications/resources/updated", OTHER), number)


@test
def an_address_with_escapes_is_told_as_it_was_asked_for():
    found, escaped = shared(), "test://template/%31%2f2/data"
    session = Session(found)
    subscribe(session, escaped)
    with standing(session) as stream, listen({"resourceSubscriptions": [escaped]}) as listening:
        equal(listening.event().json["params"]["notifications"], {"resourceSubscriptions": [escaped]}, "what is acknowledged")
        touch(found, "test://template/1%2F2/data")
        equal(stream.event().json, updated(escaped), "the session")
        equal(listening.event().json["params"]["uri"], escaped, "who listens")


@test
def who_listens_hears_of_it_even_if_very_much_has_changed():
    found = shared()
    session = Session(found)
    subscribe(session)
    with listen({"resourceSubscriptions": [WATCHED, OTHER]}) as listening, standing(session) as stream:
        listening.event()
        touch(found, times=10000)
        expect(WATCHED in (listening.event().json["params"]["uri"], listening.event().json["params"]["uri"]), "not told")
        equal(stream.event().json, updated(), "the session")
        expect(stream.is_silent(0.6), "told twice")


@test
def a_change_is_told_even_if_its_worker_dies_at_once():
    with Server("--workers", "2") as found:
        session, before = Session(found), found.workers()
        subscribe(session)
        with standing(session) as stream:
            for _ in range(3):
                with found.connect() as one:
                    equal(one.ask("POST", "/touch/die", {"uri": WATCHED}).status, 500, "the call")
                equal(stream.event().json, updated(), "the event")
        equal(found.workers(), before, "no loop has died of it")


@test
def a_change_is_told_even_if_its_loop_dies_at_once():
    with Server("--workers", "2") as found:
        session = Session(found)
        subscribe(session)
        for number in range(3):
            stream = standing(session)
            with found.connect() as one:
                one.send(server.request("POST", "/touch/end", {"uri": WATCHED}))
                one.expect_closed()
            deadline, event = time.monotonic() + server.PATIENCE, None
            while not event:
                expect(time.monotonic() < deadline, "it was not told")
                try:  # the stream may have been the dead loop's, and the next ones not be there yet
                    event = stream.event()
                except (Closed, ConnectionError):
                    stream.connection.close()
                    time.sleep(0.1)
                    try:
                        stream = standing(session)
                    except (Closed, ConnectionError):
                        pass
            equal(event.json, updated(), "the event")
            stream.connection.close()


@test
def a_session_subscribes_to_so_many():
    found = shared()
    session = Session(found)
    for number in range(256):
        subscribe(session, "test://template/%d/data" % number)
    refused = session.post(message("resources/subscribe", {"uri": WATCHED})).json["error"]
    equal((refused["code"], refused["data"]["code"]), (-32600, "RATE_LIMITED"), "one more")
    session.post(message("resources/unsubscribe", {"uri": "test://template/7/data"}))
    subscribe(session)
    subscribe(Session(found))  # others may
    unknown = session.post(message("resources/subscribe", {"uri": "test://no/such"})).json["error"]
    equal((unknown["code"], unknown["data"]["uri"]), (-32002, "test://no/such"), "what is not there")


@test
def a_session_that_is_over_subscribes_to_nothing():
    found = shared()
    session = Session(found)
    subscribe(session)
    with standing(session) as stream:
        equal(session.exchange("DELETE").status, 204, "DELETE")
        touch(found)
        equal(stream.event(), None, "the stream of a session that is over")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
