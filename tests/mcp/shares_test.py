"""What one caller may have of a server, over MCP: sessions, subscriptions, streams, calls, messages in a batch.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/shares_test.py [PART-OF-A-NAME]

The server is tests/mcp/conformance.c. One caller takes all that it can get, and another one still gets its own.
"""
import contextlib
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from exchange import Exchange, Session, call, initialize, message, raw, repeated, stateless, whole  # noqa: E402
from server import Server, wait_for  # noqa: E402

PROGRAM = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
server.PROGRAM = PROGRAM


def add_key(data, name):
    answer = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json")
    equal(answer.status, 0, "exit of `keys add`")
    key = parsed(answer.out)["data"]["key"]
    server.secrets.add(key)
    return {"Authorization": "Bearer " + key}


@contextlib.contextmanager
def keyed(*flags):
    """A server, and the fields of two callers."""
    data = os.path.join(server.FOLDER, "keyed-%d" % (Server.count + 1))
    os.mkdir(data)
    one, other, third = (add_key(data, name) for name in ["one", "other", "third"])
    with Server("--require-key", *flags, data=data) as found:
        found.third = third
        yield found, one, other


def refused(found, words, status=429, code="RATE_LIMITED"):
    """A refusal that says what the limit is, what to do, and when to try again."""
    error = found.json["error"]
    equal((found.status, error["code"], error["data"]["code"]), (status, -32600, code), "the refusal")
    expect(words in error["message"] and error["data"]["suggestion"], "it does not say why:", error)
    expect(1 <= int(found["Retry-After"]) <= 60, "Retry-After:", found["Retry-After"])


def begin(found, fields):
    with Exchange(found, "POST", initialize(), fields) as begun:
        return begun


# ---- Sessions ------------------------------------------------------------------------------------

def take_all_sessions(found, fields):
    """As many as one caller may have, at one percent."""
    ids = []
    for _ in range(20):
        begun = begin(found, fields)
        equal(begun.status, 200, "session %d" % len(ids))
        ids.append(begun["Mcp-Session-Id"])
    refused(begin(found, fields), "One caller can have at most 20 sessions.")
    return ids


@test
def a_caller_has_so_many_sessions_and_another_its_own():
    with keyed("--workers", "2", "--caller-share", "1") as (found, one, other):
        ids = take_all_sessions(found, one)
        equal(begin(found, other).status, 200, "another caller")
        for id in ids:  # none has ended for another
            with Exchange(found, "POST", message("ping"), {"Mcp-Session-Id": id, **one}) as alive:
                equal(alive.status, 200, "a session")
        with Exchange(found, "DELETE", None, {"Mcp-Session-Id": ids[0], **one}) as ended:
            equal(ended.status, 204, "the end of one")
        equal(begin(found, one).status, 200, "in its place")
        refused(begin(found, one), "One caller can have at most 20 sessions.")


@test
def who_has_no_key_is_counted_by_its_address():
    with Server("--workers", "2", "--caller-share", "1") as found:
        take_all_sessions(found, {"X-Forwarded-For": "192.0.2.1"})
        equal(begin(found, {"X-Forwarded-For": "192.0.2.2"}).status, 200, "another address")
        take_all_sessions(found, {"X-Forwarded-For": "2001:db8::1"})
        refused(begin(found, {"X-Forwarded-For": "2001:db8::2"}), "20 sessions")  # of the same network
        equal(begin(found, {"X-Forwarded-For": "2001:db8:0:1::1"}).status, 200, "another network")


@test
def an_initialize_that_fails_takes_no_place():
    with Server("--workers", "1", "--caller-share", "1") as found:
        for _ in range(30):
            with Exchange(found, "POST", message("initialize", {"protocolVersion": 5})) as wrong:
                expect(wrong["Mcp-Session-Id"] is None and "error" in wrong.json, "it was taken:", wrong.json)
        take_all_sessions(found, {})


@test
def a_session_that_comes_back_has_room_like_a_new_one():
    with Server("--workers", "2", "--caller-share", "1") as found:
        ids = take_all_sessions(found, {})
    with Server("--workers", "2", "--caller-share", "1", data=found.data) as found:
        def status(method, id, body=None, **fields):
            with Exchange(found, method, body, {"Mcp-Session-Id": id, **fields}) as answer:
                if answer.status == 429:
                    refused(answer, "One caller can have at most 20 sessions.")
                return answer.status
        equal([status("POST", id, message("ping")) for id in ids[:5]], [200] * 5, "they are back")
        fresh = [begin(found, {})["Mcp-Session-Id"] for _ in range(15)]
        refused(begin(found, {}), "One caller can have at most 20 sessions.")
        equal(status("POST", ids[5], message("ping")), 429, "one more of before")
        equal(status("GET", ids[5], Accept="text/event-stream"), 429, "its stream")
        equal(status("POST", ids[5], message("ping"), **{"X-Forwarded-For": "192.0.2.1"}), 200, "it counts for who uses it")
        equal([status("DELETE", ids[6]), status("DELETE", ids[6])], [204, 404], "the end of one that has no place")
        equal(status("POST", ids[7], message("ping")), 429, "that has made no room")
        equal(status("DELETE", fresh[0]), 204, "the end of one that has")
        equal([status("POST", id, message("ping")) for id in [ids[7], *ids[:5], *fresh[1:]]], [200] * 20, "in its place")


# ---- Subscriptions -------------------------------------------------------------------------------

def subscribe(session, number):
    return session.post(message("resources/subscribe", {"uri": "test://template/%d/data" % number})).json


@test
def a_caller_has_so_many_subscriptions_and_another_its_own():
    with keyed("--workers", "2", "--caller-share", "1") as (found, one, other):
        first, second = Session(found, fields=one), Session(found, fields=one)
        for number in range(81):
            equal(subscribe(first if number % 2 else second, number)["result"], {}, "subscription %d" % number)
        for session in [first, second, Session(found, fields=one)]:
            error = subscribe(session, 99)["error"]
            equal((error["code"], error["data"]["code"]), (-32600, "RATE_LIMITED"), "one more")
            equal(error["message"], "One caller can have at most 81 subscriptions in all of its sessions.", "the message")
        equal(subscribe(first, 1)["result"], {}, "one that it has already")
        equal(subscribe(Session(found, fields=other), 1)["result"], {}, "another caller")
        first.exchange("DELETE")
        equal(subscribe(second, 99)["result"], {}, "in their place")


# ---- Streams -------------------------------------------------------------------------------------

def listen(found, fields):
    said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    return Exchange(found, "POST", said, repeated(said, **fields))


def take_all_streams(found, fields):
    streams = [listen(found, fields) for _ in range(100)]
    equal({stream.status for stream in streams}, {200}, "the streams")
    expect(all(stream.streams for stream in streams), "no streams")
    return streams


@test
def a_caller_has_so_many_streams_and_another_its_own():
    with keyed("--workers", "1", "--caller-share", "1") as (found, one, other):
        session = Session(found, fields=one)
        streams = take_all_streams(found, one)
        refused(listen(found, one), "One caller can have at most 100 open streams.")
        refused(session.exchange("GET"), "One caller can have at most 100 open streams.")
        equal(session.post(message("ping")).status, 200, "what is no stream")
        with listen(found, other) as stream:
            expect(stream.streams, "another caller is refused:", stream.status)
            expect(stream.event(), "the stream of another caller has ended")
        streams.pop().connection.close()

        def stands():
            stream = session.exchange("GET")
            return stream.streams and stream
        stream = wait_for(stands)
        expect(stream, "in its place")
        refused(listen(found, one), "at most 100 open streams")
        for each in [stream, *streams]:
            each.connection.close()


@test
def the_counts_are_right_when_a_loop_is_killed():
    with keyed("--workers", "1", "--caller-share", "1") as (found, one, other):
        ids = take_all_sessions(found, one)
        streams = take_all_streams(found, one)
        refused(listen(found, one), "at most 100 open streams")
        [loop] = found.workers()
        os.kill(loop, signal.SIGKILL)
        expect(wait_for(lambda: found.workers() not in ([], [loop])), "there is no other")
        for stream in streams:
            stream.connection.close()

        def begins():  # a connection may have been on its way to the one that died
            with contextlib.suppress(server.Closed, ConnectionError):
                return begin(found, other).status == 200
        expect(wait_for(begins), "another caller")
        streams = take_all_streams(found, one)  # those of the one that died are gone
        refused(listen(found, one), "at most 100 open streams")
        refused(begin(found, one), "20 sessions")  # these are not
        with Exchange(found, "DELETE", None, {"Mcp-Session-Id": ids[0], **one}) as ended:
            equal(ended.status, 204, "the end of one")
        equal(begin(found, one).status, 200, "in its place")
        for stream in streams:
            stream.connection.close()


# ---- Calls ---------------------------------------------------------------------------------------

def came_at_once(found, request):
    """What is answered to a call that should wait for a worker: nothing.

    Callers are counted in a table of 4,096 places, so one of them may share the place of the caller that has too much.
    """
    with found.connect() as another:
        another.send(request)
        return b"" if another.is_silent(0.3) else another.received or another.socket.recv(4096)


@test
def a_caller_that_calls_very_much_leaves_room_for_others():
    with keyed("--workers", "1", "--handlers", "1") as (found, one, other):
        said = stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000}})
        connections = [found.connect().send(raw("POST", said, repeated(said, **one))) for _ in range(50)]
        late = wait_for(lambda: [each for each in connections if not each.is_silent(0.001)])
        for each in late:
            result = whole(each).json["result"]
            equal((result["isError"], result["structuredContent"]["code"]), (True, "RATE_LIMITED"), "one more")
            expect("48 calls of this caller" in result["content"][0]["text"], result)
        came = [came_at_once(found, raw("POST", said, repeated(said, **fields))) for fields in [other, found.third]]
        expect(b"" in came, "other callers were refused:", came, found.read(found.stderr))
        for each in connections:
            each.close()


# ---- Batches and --rate --------------------------------------------------------------------------

def batch(count):
    return [message("ping", id=number) for number in range(count)]


@test
def each_message_of_a_batch_counts():
    with Server("--workers", "1", "--rate", "50") as found:
        session = Session(found, "2025-03-26")

        def answered():
            seen = session.post(batch(50))
            return seen.status == 200 and seen
        equal(len(wait_for(answered).json), 50, "a second's worth")
        time.sleep(1)
        with found.connect() as one:  # so much at once that time cannot pass for all of it
            one.send(raw("POST", batch(30), session.fields) * 20)
            seen = [whole(one) for _ in range(20)]
        late = [each for each in seen if each.status != 200]
        expect(late, "all were answered")
        for each in late:
            refused(each, "the limit is 50 per second")
        time.sleep(int(late[-1]["Retry-After"]))
        equal(wait_for(answered).status, 200, "later")


@test
def a_batch_that_is_more_than_a_second_s_worth_is_told_so():
    with Server("--workers", "1", "--rate", "50") as found:
        session = Session(found, "2025-03-26")
        too_large = session.post(batch(51))
        refused(too_large, "The batch has 51 messages: the limit is 50 per second.")
        refused(Session(found, "2024-11-05").post(batch(51)), "The batch has 51 messages: the limit is 50 per second.")
        equal(too_large.json["error"]["data"]["suggestion"], "Send at most 50 messages at once.", "what to do")
        equal(len(session.post(batch(20)).json), 20, "a smaller one")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
