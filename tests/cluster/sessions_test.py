"""MCP sessions of a cluster: a server is killed, and another one goes on with its sessions.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/cluster/sessions_test.py [PART-OF-A-NAME]

Speaks TAP. Without PostgreSQL all is skipped. What changes are todos; calls that tell their progress are those of tests/mcp/conformance.c.
"""
import os
import signal

from base import CLUSTER, Database, child, create, expect_status, kill_at_once, know_each_other
import server
from blackbox import equal, expect, main, test
from exchange import Session, call, message
from server import wait_for

CONFORMANCE = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
TODOS, USERS = "todo://todos", "todo://users"


def steps(base):
    """A server of the other program."""
    return server.Server("--workers", "1", "--require-key", "--cluster", base.address, program=CONFORMANCE)


def subscribe(session, *uris):
    for uri in uris:
        equal(session.post(message("resources/subscribe", {"uri": uri})).json["result"], {}, "subscribe")


def listen(session, found=None, last=None):
    session.server = found or session.server
    return session.exchange("GET", Accept="text/event-stream", **({"Last-Event-ID": last} if last else {}))


def position(stream):
    """That of the first event, which has no data."""
    event = stream.event()
    equal((event.data, event.id[0]), ("", "m"), "the first event")
    return event.id


def update(stream, uri):
    """The id of the next event, which is about this resource; None: it has none."""
    event = stream.event()
    equal((event.json["method"], event.json["params"]["uri"]), ("notifications/resources/updated", uri))
    return event.id


def all_told(base, found):
    """The changes of a server are rows, and it will seem alive for an hour: nobody notices that it is killed."""
    me = base.sql("SELECT id FROM mishap.servers WHERE name LIKE '%% %d'" % found.process.pid)
    process = child(found, "mishap-cluster")
    os.kill(process, signal.SIGSTOP)
    base.sql("UPDATE mishap.servers SET seen = now() + interval '1 hour' WHERE id = %s" % me)


def stored(base):
    return int(base.sql("SELECT count(*) FROM mishap.sessions"))


# ---- Changes --------------------------------------------------------------------------------------


@test
def subscriptions_go_on_at_another_server_and_no_change_is_lost_or_told_twice():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        session = Session(a, fields=one)
        subscribe(session, TODOS, USERS)
        with listen(session) as stream:
            begun = position(stream)
            create(a, one, "first")
            first = update(stream, TODOS)
            create(b, one, "second")
            second = update(stream, TODOS)
            expect(len({begun, first, second}) == 3, "ids:", begun, first, second)
        expect(wait_for(lambda: base.sql("SELECT count(*) FROM mishap.notices") == "2"), "notices")
        all_told(base, a)
        kill_at_once(a)
        # The client has heard of all: nothing is told again, and what changes then is.
        with listen(session, b, second) as stream:
            expect(stream.is_silent(0.5), "something is told again")
            create(b, one, "third")
            third = update(stream, TODOS)
            expect(stream.is_silent(0.5), "something is told twice")
        # The connection broke before the last event, or before both, or before all three.
        for last in (second, first, begun):
            with listen(session, b, last) as stream:
                expect(update(stream, TODOS), "an id")
                expect(stream.is_silent(0.3), "something is told twice")
        # Somebody changes something while no stream is open.
        create(b, one, "fourth")
        with listen(session, b, third) as stream:
            update(stream, TODOS)
            expect(stream.is_silent(0.3), "something is told twice")
            equal(session.post(message("resources/unsubscribe", {"uri": TODOS})).json["result"], {}, "unsubscribe")
            create(b, one, "fifth")
            expect(stream.is_silent(0.5), "a change that nobody watches")


@test
def a_client_without_a_position_hears_that_anything_may_have_changed():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        session = Session(a, "2025-06-18", fields=one)
        subscribe(session, TODOS)
        with listen(session) as stream:
            create(a, one)
            expect(update(stream, TODOS), "an id")
        expect(wait_for(lambda: stored(base) == 1), "no row")
        kill_at_once(a)
        with listen(session, b) as stream:
            update(stream, TODOS)
        # What is old, or of a server that nobody knows, or more than a server remembers.
        for last in ("m00000000-1", "m00000000-1.ffffffff-0", "m" + ".".join("%08x-1" % n for n in range(65))):
            with listen(session, b, last) as stream:
                update(stream, TODOS)
        for last in ("m", "m1-1", "m00000000-1.", "m00000000-1x", "M00000000-1", "m00000000--1", "m0000000g-1", "m" + "00000000-1." * 66):
            with listen(session, b, last) as refused:
                equal(refused.status, 400, last)


@test
def a_session_moves_from_a_server_that_lives():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        session = Session(a, fields=one)
        subscribe(session, TODOS)
        with listen(session) as stream:
            last = position(stream)
        expect(wait_for(lambda: stored(base) == 1), "no row")
        for found in (b, a, b):
            with listen(session, found, last) as stream:
                create(a, one)
                last = update(stream, TODOS)
                create(b, one)
                last = update(stream, TODOS)


@test
def without_the_database_a_server_goes_on_alone():
    base = Database()
    one = base.add("one")
    flags = ("--workers", "1", "--require-key", "--cluster", base.address)
    with server.Server(*flags) as a:
        expect_status([a], one, 200)
        know_each_other(base, 1)
        session = Session(a, fields=one)
        subscribe(session, TODOS)
        with listen(session) as stream:
            last = position(stream)
        CLUSTER.stop()
        try:
            with listen(session, a, last) as stream:
                update(stream, TODOS)  # anything may have changed
                create(a, one)
                update(stream, TODOS)
                equal(session.post(message("resources/unsubscribe", {"uri": TODOS})).json["result"], {}, "unsubscribe")
        finally:
            CLUSTER.start()


@test
def another_key_gets_nothing_of_a_session():
    base = Database()
    one, other = base.add("one"), base.add("other")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        session = Session(a, fields=one)
        subscribe(session, TODOS)
        expect(wait_for(lambda: stored(base) == 1), "no row")
        equal(base.sql("SELECT count(*) FROM mishap.sessions WHERE position('%s' IN encode(key, 'escape') || encode(state, 'escape')) > 0" % session.id), "0")
        session.more = other
        for found in (a, b):
            with listen(session, found) as refused:
                equal(refused.status, 404)


@test
def rows_of_a_caller_are_bounded():
    base = Database()
    one = base.add("one")
    with base.serve() as a:
        expect_status([a], one, 200)
        subscribe(Session(a, fields=one), TODOS)
        expect(wait_for(lambda: stored(base) == 1), "no row")
        base.sql("INSERT INTO mishap.sessions SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), holder, '', now() - interval '1 hour'"
                 " FROM mishap.sessions, generate_series(1, 600) n")
        subscribe(Session(a, fields=one), TODOS)
        expect(wait_for(lambda: stored(base) == 512), "rows:", stored(base))


@test
def rows_that_are_no_sessions_harm_nothing():
    base = Database()
    one = base.add("one")
    rows = ["''", "'\\377'", "'6'", "'6x'", "'6\\000\\000'", "'9todo://todos\\000'", "decode(repeat('36', 200000), 'hex')", "decode(repeat('3600', 100000), 'hex')"]
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        for row in rows:
            session = Session(a, fields=one)
            subscribe(session, TODOS)
            with listen(session) as stream:
                last = position(stream)
            expect(wait_for(lambda: base.sql("UPDATE mishap.sessions SET state = %s RETURNING 1" % row)), "no row")
            base.sql("TRUNCATE mishap.events")
            with listen(session, b, last) as stream:
                subscribe(session, TODOS)
                create(b, one)
                update(stream, TODOS)
            base.sql("DELETE FROM mishap.sessions")
        equal([found.stop().status for found in (a, b)], [0, 0])


# ---- Levels and streams ---------------------------------------------------------------------------


@test
def the_level_of_messages_goes_on():
    base = Database()
    one = base.add("one")
    with steps(base) as a, steps(base) as b:
        expect_status([b], one, 404)
        session = Session(a, fields=one)
        equal(session.post(message("logging/setLevel", {"level": "error"})).json["result"], {}, "setLevel")
        expect(wait_for(lambda: stored(base) == 1), "no row")
        kill_at_once(a)
        session.server = b

        def is_quiet():
            return not session.post(call("test_tool_with_logging")).streams
        expect(wait_for(is_quiet), "messages below the level")


def begin_steps(session, count, pause_ms):
    """The first events of a call, and its connection closed."""
    with session.exchange("POST", call("steps", {"steps": count, "pause_ms": pause_ms}, id="s", token="t")) as stream:
        return [stream.event() for _ in range(3)]


def check_rest(first, rest, count):
    """No event is lost, and none comes twice. A loop that is held up tells several steps at once."""
    told = [event.json for event in first + rest if event.data]
    check_numbers(first + rest, told[:-1])
    equal(told[-1]["result"]["structuredContent"], {"steps": count}, "the answer")


def check_numbers(events, told):
    stream = events[0].id.split("-")[0]
    equal([event.id for event in events if event.id], ["%s-%d" % (stream, n + 1) for n in range(len([event for event in events if event.id]))], "ids")
    steps = [one["params"]["progress"] for one in told]
    equal(steps, sorted(set(steps)), "steps")


@test
def a_stream_that_has_ended_is_resumed_at_another_server():
    base = Database()
    one = base.add("one")
    with steps(base) as a, steps(base) as b:
        expect_status([b], one, 404)
        session = Session(a, fields=one)
        first = begin_steps(session, 6, 20)
        expect(wait_for(lambda: base.sql("SELECT count(*) FROM mishap.events WHERE flags & 2 = 2") == "1"), "no end")
        kill_at_once(a)
        with listen(session, b, first[-1].id) as stream:
            check_rest(first, stream.events(), 6)


@test
def a_stream_goes_on_while_its_server_lives():
    base = Database()
    one = base.add("one")
    with steps(base) as a, steps(base) as b:
        expect_status([b], one, 404)
        know_each_other(base, 2)
        session = Session(a, fields=one)
        first = begin_steps(session, 20, 100)
        expect(wait_for(lambda: int(base.sql("SELECT count(*) FROM mishap.events")) > 3), "no events")
        with listen(session, b, first[-1].id) as stream:
            check_rest(first, stream.events(), 20)


@test
def a_stream_whose_server_was_killed_ends_with_an_error():
    base = Database()
    one = base.add("one")
    with steps(base) as a, steps(base) as b:
        expect_status([b], one, 404)
        know_each_other(base, 2)
        session = Session(a, fields=one)
        first = begin_steps(session, 1000, 100)
        expect(wait_for(lambda: int(base.sql("SELECT count(*) FROM mishap.events")) > 5), "no events")
        kill_at_once(a)
        with listen(session, b, first[-1].id) as stream:
            rest = stream.events()
        told = [event.json for event in first + rest if event.data]
        check_numbers(first + rest, told[:-1])
        equal((told[-1]["id"], told[-1]["error"]["message"]), ("s", "The process that ran this call has exited."), "the end")


@test
def a_stream_that_no_server_knows_ends_with_an_error():
    base = Database()
    one = base.add("one")
    with steps(base) as a:
        expect_status([a], one, 404)
        session = Session(a, fields=one)
        with listen(session, a, "7-1") as stream:
            [event] = stream.events()
        equal(event.json["error"]["message"], "The remaining events of this stream are no longer stored.")
        first = begin_steps(session, 6, 20)
        expect(wait_for(lambda: base.sql("SELECT count(*) FROM mishap.events WHERE flags & 2 = 2") == "1"), "no end")
        base.sql("INSERT INTO mishap.events SELECT session, 9, place + n, holder, -1, -1, -1, decode(repeat('ff', 1000), 'hex') FROM mishap.events, generate_series(0, 9) n ON CONFLICT DO NOTHING")
        with listen(session, a, first[-1].id) as stream:
            check_rest(first, stream.events(), 6)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
