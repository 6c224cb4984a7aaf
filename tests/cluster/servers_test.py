"""`serve --cluster`: two or three servers on one PostgreSQL, which share API keys, the secret of MCP sessions and notices of changes.

    MISHAP_PROGRAM=… python3 tests/cluster/servers_test.py [PART-OF-A-NAME]

Speaks TAP. Without PostgreSQL all is skipped. Each test has a database of its own.
"""
import contextlib
import json
import os
import signal
import sys
import threading
import time

from base import CLUSTER, Database, child, create, expect_blocked, expect_status, kill_at_once, know_each_other, status
import server
from blackbox import equal, expect, main, parsed, run_program, test
from exchange import Exchange, Session, call, message, repeated, stateless
from pace import Pace
from server import FOLDER, PROGRAM, wait_for


@contextlib.contextmanager
def away():
    """PostgreSQL is away."""
    CLUSTER.stop()
    try:
        yield
    finally:
        CLUSTER.start()


# ---- Keys -----------------------------------------------------------------------------------------


@test
def a_key_is_known_to_all_servers_and_then_to_none():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b, base.serve() as c:
        expect_status([a, b, c], one, 200)
        two = base.add("two", "--scope", "call")
        expect_status([a, b, c], two, 200)
        equal([key["name"] for key in base.keys("list")["data"]["keys"]], ["one", "two"])
        equal(status(a, two, "/metrics"), 403, "its scope")
        base.keys("remove", "--name", "two")
        expect_status([a, b, c], two, 401)
        expect_status([a, b, c], one, 200)
        base.keys("remove", "--name", "two", status=parsed(run_program(PROGRAM, "explain", "NOT_FOUND", "--output", "json").out)["data"]["exit_code"])


@test
def a_removed_key_is_refused_by_all_servers_within_two_seconds():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b, base.serve() as c:
        expect_status([a, b, c], one, 200)
        pace = Pace()
        base.keys("remove", "--name", "one")
        begun = pace.now()
        expect_status([a, b, c], one, 401)
        pace.expect_within(2, begun, pace.now(), "a removed key is accepted")
        pace.stop = True


@test
def a_removed_key_ends_its_streams_at_every_server():
    base = Database()
    one, other = base.add("one"), base.add("other")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        streams = [Session(found, fields=one).exchange("GET", Accept="text/event-stream") for found in (a, b)]
        with Session(b, fields=other).exchange("GET", Accept="text/event-stream") as lives:
            equal(lives.event().data, "", "the first event")
            equal([stream.streams for stream in (*streams, lives)], [True] * 3)
            base.keys("remove", "--name", "one")
            for stream in streams:
                while stream.connection.more():
                    pass
                stream.connection.close()
            expect(lives.is_silent(0.1), "the stream of another key has ended")


@test
def a_blocked_caller_is_refused_by_all_servers_and_then_by_none():
    base = Database()
    one, other = base.add("one"), base.add("other")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        streams = [Session(found, fields=one).exchange("GET", Accept="text/event-stream") for found in (a, b)]
        equal(base.keys("block", "one")["data"], {"name": "one", "blocked": True})
        expect_blocked([a, b], one)
        for stream in streams:
            while stream.connection.more():
                pass
            stream.connection.close()
        expect_status([a, b], other, 200)
        base.keys("block", "one", status=parsed(run_program(PROGRAM, "explain", "ALREADY_EXISTS", "--output", "json").out)["data"]["exit_code"])
        base.keys("block", "oauth:mallory")
        found = base.keys("list")["data"]["blocked"]
        equal([caller["name"] for caller in found], ["oauth:mallory", "one"], "the list")
        expect(all(caller["since"].endswith("Z") for caller in found), found)
        with base.serve() as c:
            equal(status(c, one), 403, "a server that starts")
            # What is blocked at one server alone stays so.
            done = run_program(PROGRAM, "keys", "block", "other", "--data", c.data, "--output", "json")
            equal(done.status, 0, done.out)
            expect_blocked([c], other)
            equal(status(a, other), 200)
        equal(base.keys("unblock", "one")["data"], {"name": "one", "blocked": False})
        expect_status([a, b], one, 200)
        base.keys("unblock", "one", status=parsed(run_program(PROGRAM, "explain", "NOT_FOUND", "--output", "json").out)["data"]["exit_code"])


@test
def a_row_that_is_no_name_blocks_nobody():
    base = Database()
    one = base.add("one")
    with base.serve() as found:
        expect_status([found], one, 200)
        base.sql("INSERT INTO mishap.blocks (name) VALUES ('two words'), (E'a\\nb'), ('')")
        base.keys("block", "one")
        expect_blocked([found], one)
        expect(wait_for(lambda: b"rows of the tables `keys` and `blocks` of the cluster" in found.read(found.stderr)), "no line about it")


@test
def without_the_database_the_last_keys_count_and_then_none():
    base = Database()
    one = base.add("one")
    with base.serve("--keys-stale-ms", "4000") as found:
        expect_status([found], one, 200)
        with away():
            begun = time.monotonic()
            # The store of the todos is away, too, so a call may be 503: what needs a key alone is asked.
            equal(status(found, one, "/metrics"), 200, "a known key")
            equal(status(found, {"X-Api-Key": "mk_" + "x" * 43}, "/metrics"), 401, "an unknown one")
            expect(wait_for(lambda: status(found, one, "/metrics") == 503), "the key is accepted for ever")
            expect(time.monotonic() - begun > 2, "the key was refused at once")
            equal(status(found, {"X-Api-Key": "mk_" + "x" * 43}, "/metrics"), 503, "an unknown one")
            equal(status(found, {}, "/health"), 200)
        expect(wait_for(lambda: status(found, one, "/metrics") == 200), "the key is refused for ever")
        equal(found.read(found.stderr).count(b"the database of the cluster cannot be used: "), 1, "lines about it")
        expect(wait_for(lambda: b"the database of the cluster can be used again" in found.read(found.stderr)), "no line about the end")


@test
def a_key_that_was_removed_while_a_server_could_not_read_is_refused_when_it_can():
    base = Database()
    one = base.add("one")
    with base.serve() as found:
        expect_status([found], one, 200)
        os.kill(child(found, "mishap-cluster"), signal.SIGKILL)
        base.keys("remove", "--name", "one")
        expect_status([found], one, 401)


@test
def a_start_needs_the_database():
    with away():
        done = run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(FOLDER, "nothing"), "--cluster",
                           "postgresql://role@/nothing?host=" + CLUSTER.folder, "--output", "json")
    expect(done.status != 0, "it has started")
    equal(parsed(done.out)["error"]["code"] in ("UNAVAILABLE", "NOT_CONFIGURED"), True, done.out)
    done = run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(FOLDER, "nothing"), "--cluster", "sqlite:x", "--output", "json")
    equal(parsed(done.out)["error"]["code"], "NOT_CONFIGURED", done.out)


@test
def a_file_of_keys_is_ignored_with_a_word_and_can_be_imported():
    base, data = Database(), os.path.join(FOLDER, "with-file")
    os.mkdir(data)
    made = parsed(run_program(PROGRAM, "keys", "add", "--name", "old", "--scope", "call", "--data", data, "--output", "json").out)["data"]["key"]
    server.secrets.add(made)
    old, new = {"X-Api-Key": made}, base.add("new")
    with base.serve(data=data) as found:
        expect_status([found], new, 200)
        equal(status(found, old), 401, "a key of the file")
        expect(b"keys is ignored: the API keys are those of the cluster." in found.read(found.stderr), "no word about it")
        for _ in range(2):
            equal(base.keys("import", "--file", os.path.join(data, "keys"))["data"], {"imported": 1})
        expect_status([found], old, 200)
        equal(status(found, old, "/metrics"), 403, "its scopes")
    with open(os.path.join(data, "keys"), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(data, "other"), "w", encoding="utf-8") as file:
        file.write(text.replace("old ", "fresh ") + text.replace("old ", "new ").replace(text.split("old ")[1][:8], "01234567"))
    before = base.keys("list")["data"]
    done = run_program(PROGRAM, "keys", "import", "--file", os.path.join(data, "other"), "--cluster", base.address, "--output", "json")
    equal(parsed(done.out)["error"]["code"], "ALREADY_EXISTS", done.out)
    equal(base.keys("list")["data"], before, "all or none")


@test
def callers_may_name_themselves_only_where_keys_were_never_used_or_are_disabled():
    base = Database()
    with base.serve("--open") as a, base.serve("--open") as b:
        named = {"X-Caller": "alice"}
        equal(status(a, named), 200)
        base.add("one")
        expect_status([a, b], named, 401)
        base.keys("remove", "--name", "one")
        expect(wait_for(lambda: b"one " not in server.Server.read(os.path.join(a.data, "cluster", "keys"))), "the key")
        equal(status(a, named), 401, "a name after the last key was removed")
        base.keys("disable")
        expect_status([a, b], named, 200)


@test
def rows_that_are_no_keys_change_nothing():
    base = Database()
    one = base.add("one")
    with base.serve() as found:
        expect_status([found], one, 200)
        base.sql("INSERT INTO mishap.keys SELECT E'a\\nb' || n, decode(lpad(to_hex(n), 64, '0'), 'hex'), now(), 'call' FROM generate_series(1, 3) n",
                 "INSERT INTO mishap.keys VALUES ('short', 'abc', now(), 'call'), ('late', decode(repeat('ab', 32), 'hex'), 'infinity', 'call'),"
                 " ('scopes', decode(repeat('cd', 32), 'hex'), now(), E'call\\nx')")
        two = base.add("two")
        expect_status([found], two, 200)
        equal(status(found, one), 200)
        expect(wait_for(lambda: b"6 rows of the tables `keys` and `blocks` of the cluster are no keys and no names" in found.read(found.stderr)), "no word about them")
        warned = base.keys("list")
        equal([key["name"] for key in warned["data"]["keys"]], ["one", "two"])
        expect(any("6 rows" in str(warning) for warning in warned["warnings"]), "no warning:", warned)


@test
def the_password_of_the_address_is_shown_nowhere():
    base = Database()
    address = CLUSTER.guarded("marker-private p@ss", base.name)
    server.secrets.add("marker-private")
    key = {"X-Api-Key": parsed(run_program(PROGRAM, "keys", "add", "--name", "one", "--cluster", address, "--output", "json").out)["data"]["key"]}
    with server.Server("--workers", "1", "--require-key", "--cluster", address) as found:
        expect_status([found], key, 200)
        for pid in [found.process.pid, *(pid for pid, parent in server.processes() if parent == found.process.pid)]:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                expect(b"marker" not in file.read(), "the arguments of", server.name_of(pid))
        CLUSTER.sql("postgres", "ALTER ROLE guarded PASSWORD 'another'")
        done = run_program(PROGRAM, "keys", "list", "--cluster", address, "--output", "json")
        expect(done.status != 0 and b"marker" not in done.out + done.err, "what a command says:", done.out, done.err)
        expect(b"marker" not in found.read(found.stderr) + found.read(found.log), "what the server says")


# ---- Sessions -------------------------------------------------------------------------------------


@test
def a_session_of_one_server_goes_on_at_another():
    base = Database()
    one, other = base.add("one"), base.add("other")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        session = Session(a, fields=one)
        for found in (b, a, b):
            session.server = found
            equal(session.post(message("tools/list")).status, 200, "a call")
        session.more = other
        equal(session.post(message("tools/list")).status, 404, "the session of another key")


# ---- States of questions --------------------------------------------------------------------------


SURE = {"confirm": {"sure": True}}
USED = (400, "The state of the question was used already, or its call was refused while the database of the cluster was away.")


def question(found, fields):
    """The state of one; without a todo nothing is asked."""
    equal(found.ask("POST", "/todos", json.dumps({"title": "old"}).encode(), fields).status, 201)
    answer = found.ask("DELETE", "/todos", b"{}", fields)
    equal(answer.status, 428, answer)
    return answer.json["details"]["state"]


def answered(found, state, fields):
    answer = found.ask("DELETE", "/todos", json.dumps({"_state": state, "_answers": SURE}).encode(), fields, checked=False)
    return answer.status, answer.json.get("message")


@test
def a_destructive_call_is_answered_at_any_server_and_once():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        for asks, takes in ((a, b), (b, a), (a, a)):
            state = question(asks, one)
            equal(answered(takes, state, one), (200, None), "the first answer")
            for found in a, b:
                equal(answered(found, state, one), USED, "another one")
        equal(base.sql("SELECT count(*) FROM mishap.used"), "3")
        state = question(a, one)
        equal(a.stop().status, 0, "the exit")
        with base.serve(data=a.data) as again:
            expect_status([again], one, 200)
            equal(answered(again, state, one), (200, None), "after a restart")
            equal(answered(b, state, one), USED, "then")


@test
def of_answers_at_the_same_time_one_is_taken():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        for _ in range(10):
            state, found, together = question(a, one), [], threading.Barrier(4)

            def answer(where, state=state, found=found, together=together):
                together.wait()
                found.append(answered(where, state, one))
            callers = [threading.Thread(target=answer, args=(where,)) for where in (a, b, a, b)]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
            equal(sorted(found, key=repr), [(200, None), USED, USED, USED], "the answers")


@test
def without_the_database_no_answer_is_taken():
    base = Database()
    one = base.add("one")
    with base.serve() as found:
        expect_status([found], one, 200)
        state = question(found, one)
        with away():
            code, said = answered(found, state, one)
            equal((code, said), (503, "The database of the cluster does not say whether the state of the question was used. Nothing was done."))
        expect_status([found], one, 200)
        expect(wait_for(lambda: answered(found, state, one)[0] == 200), "it is never taken")
        equal(answered(found, state, one), USED, "the same state")


@test
def a_server_outside_of_the_cluster_has_states_of_its_own():
    base = Database()
    path = os.path.join(FOLDER, "secret-of-states")
    with open(path, "w", encoding="utf-8") as file:
        file.write("0123456789abcdef" * 4)
    os.chmod(path, 0o600)
    alone = server.Server("--workers", "1", "--todo-store", base.address, "--secret", path)
    with alone, base.serve("--open", "--secret", path) as member:
        for asks, takes in (alone, member), (member, alone):
            state = question(asks, {})
            equal(answered(takes, state, {}), (400, "The state of the question was made by another server, or before a restart."))
            equal(answered(asks, state, {}), (200, None))


@test
def calls_that_are_refused_hold_no_places_of_claims():
    """A session may have 64 calls at once. A batch of more is refused in part."""
    base = Database()
    one, two = base.add("one"), base.add("two")
    with base.serve() as found:
        expect_status([found], one, 200)
        expect_status([found], two, 200)
        equal(found.ask("POST", "/todos", json.dumps({"title": "old"}).encode(), one).status, 201)
        states = [found.ask("DELETE", "/todos", b"{}", one).json["details"]["state"] for _ in range(300)]
        session = Session(found, "2025-03-26", fields=one)
        for part in states[:150], states[150:]:
            session.post([call("list_todos", id=1000 + number) for number in range(64)] +
                         [call("delete_todos", {"_state": state, "_answers": SURE}, id=number) for number, state in enumerate(part)])
        equal(answered(found, question(found, two), two), (200, None), "another caller")


@test
def an_agent_answers_at_another_server():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        state = question(a, one)
        session = Session(b, fields=one)
        for expected in False, True:
            told = session.post(call("delete_todos", {"_state": state, "_answers": SURE})).answer()
            expect("result" in told, told)
            told = told["result"]
            equal(told.get("isError", False), expected, told)
        given = {"name": "delete_todos", "arguments": {}, "inputResponses": {"confirm": {"action": "accept", "content": SURE["confirm"]}}}
        state = question(b, one)
        for found, outcome in ((a, "result"), (b, "error")):
            said = stateless("tools/call", {**given, "requestState": state})
            with Exchange(found, "POST", said, {**repeated(said), **one}) as exchange:
                told = exchange.answer()
            expect(outcome in told, told)
        equal((told["error"]["code"], told["error"]["message"]), (-32602, USED[1]))


@test
def old_states_are_removed():
    base = Database()
    one = base.add("one")
    base.sql("INSERT INTO mishap.used VALUES (1, 1, now() - interval '2 hours'), (2, 9000000000000000, now() - interval '2 hours'), (3, 1, now())")
    with base.serve() as found:
        expect_status([found], one, 200)
        expect(wait_for(lambda: base.sql("SELECT number FROM mishap.used ORDER BY number") == "2\n3"), "they stay")


# ---- Notices --------------------------------------------------------------------------------------


def subscribed(found, fields, uri="todo://todos"):
    session = Session(found, fields=fields)
    equal(session.post(message("resources/subscribe", {"uri": uri})).json["result"], {}, "subscribe")
    return session.exchange("GET", Accept="text/event-stream")


def expect_update(stream, uri="todo://todos"):
    while True:
        event = stream.event()
        found = event.json if event.data else {"method": None}  # the first one has a position alone
        if found["method"] == "notifications/resources/updated":
            equal(found["params"]["uri"], uri)
            return


@test
def a_change_at_one_server_is_told_at_the_others():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b, base.serve() as c:
        expect_status([a, b, c], one, 200)
        know_each_other(base, 3)
        with subscribed(b, one) as at_b, subscribed(c, one) as at_c, subscribed(c, one, "todo://users") as quiet:
            equal(quiet.event().data, "", "the first event")
            for title in ("first", "second", "third"):
                create(a, one, title)
                expect_update(at_b)
                expect_update(at_c)
            expect(quiet.is_silent(0.3), "a change of something else is told")


@test
def a_change_while_the_database_is_away_is_told_when_it_is_back():
    """The todos are in files of their own here, so they can be changed meanwhile."""
    base = Database()
    one = base.add("one")
    flags = ("--workers", "1", "--require-key", "--cluster", base.address)
    with server.Server(*flags) as a, server.Server(*flags) as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        with subscribed(b, one) as at_b:
            with away():
                create(a, one)
            expect_update(at_b)
            # After it came back each of them hears of the crash as well: what follows is told all the same.
            create(a, one, "second")
            expect_update(at_b)


@test
def after_a_server_was_killed_anything_may_have_changed():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        with subscribed(b, one) as at_b:
            kill_at_once(a)
            expect_update(at_b)


@test
def a_notice_that_is_missing_is_noticed():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        create(a, one)
        expect(wait_for(lambda: base.sql("SELECT count(*) FROM mishap.notices") == "1"), "no row")
        with subscribed(b, one, "todo://users") as at_b:
            me = base.sql("SELECT server FROM mishap.notices")
            base.sql("INSERT INTO mishap.notices (server, n, addresses) VALUES (%s, 9, 'a://1\\000')" % me)
            expect_update(at_b, "todo://users")


@test
def rows_that_are_no_notices_harm_nothing():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        with subscribed(b, one) as at_b:
            base.sql("INSERT INTO mishap.servers (id, name, last) VALUES (-1, E'\\n', -9223372036854775808), (9223372036854775807, '', 9223372036854775807)",
                     "INSERT INTO mishap.notices (server, n, addresses) SELECT id, 7, decode(repeat('ff', 100000), 'hex') FROM mishap.servers WHERE id > 0",
                     "INSERT INTO mishap.notices (server, n, addresses) VALUES (-1, 5, ''), (-1, 6, decode(repeat('00', 2000), 'hex'))")
            expect_update(at_b)
            create(a, one)
            expect_update(at_b)
        equal([found.stop().status for found in (a, b)], [0, 0])


@test
def a_server_that_stops_leaves_no_row_and_its_last_change_is_told():
    base = Database()
    one = base.add("one")
    with base.serve() as a, base.serve() as b:
        expect_status([a, b], one, 200)
        know_each_other(base, 2)
        with subscribed(b, one) as at_b:
            create(a, one)
            equal(a.stop().status, 0)
            expect_update(at_b)
        equal(base.sql("SELECT count(*) FROM mishap.servers"), "1")


class Calls:
    """A caller that goes to one server after the other, as a load balancer does: to the next one if a server takes no connection."""

    def __init__(self, ports, fields):
        self.ports, self.fields, self.stop, self.statuses, self.problems = ports, fields, False, [], []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.stop:
                for port in self.ports:
                    self.call(port)
        except Exception as problem:  # the test tells it
            self.problems.append(repr(problem))

    def call(self, first):
        for port in [first, *(port for port in self.ports if port != first)]:
            try:
                connection = server.Connection(("127.0.0.1", port))
            except ConnectionRefusedError:
                continue
            with connection:
                self.statuses.append(connection.ask("POST", "/todos", {"title": "one"}, fields=self.fields, checked=False).status)
            return
        raise AssertionError("no server takes a connection")

    def wait(self, more=20):
        wanted = len(self.statuses) + more
        expect(wait_for(lambda: len(self.statuses) >= wanted or self.problems), "no calls any more")
        equal(self.problems, [], "problems")

    def end(self):
        self.stop = True
        self.thread.join()
        return set(self.statuses)


@test
def servers_are_restarted_one_after_the_other_and_no_call_fails():
    base = Database()
    one = base.add("one")
    ports = [server.free_port(), server.free_port()]
    found = [base.serve(listen="127.0.0.1:%d" % port) for port in ports]
    calls = None
    try:
        expect_status(found, one, 200)
        calls = Calls(ports, one)
        for at, port in enumerate(ports):
            calls.wait()
            equal(found[at].stop().status, 0)
            calls.wait()
            found[at] = base.serve(listen="127.0.0.1:%d" % port, data=found[at].data)
            expect_status([found[at]], one, 200)
        calls.wait()
    finally:
        statuses = calls.end() if calls else None
        for server_at in found:
            server_at.kill()
    equal((statuses, calls.problems), ({201}, []), "statuses")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
