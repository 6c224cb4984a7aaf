"""Reads from standbys (`serve --stale-ms`): a primary of PostgreSQL with a standby, servers with the address of both, and the lists of the todo service.
What a standby has run is in its log. Replay that is paused makes a standby as old as a test wants it to be.

    MISHAP_PROGRAM=… python3 tests/cluster/standby_test.py [PART-OF-A-NAME]

Speaks TAP. Without PostgreSQL all is skipped.
"""
import contextlib
import os
import re
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("http", "mcp", "store"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
import pair as pairs  # noqa: E402
import server  # noqa: E402
from blackbox import equal, expect, main, test, tests_of  # noqa: E402
from exchange import Session, call, message  # noqa: E402
from server import wait_for  # noqa: E402

if not pairs.is_possible():
    print("1..0 # SKIP there is no PostgreSQL")
    sys.exit(0)

OTHER = "127.0.0.3"  # a caller is who its address says
FIELD = "Mishap-Position"
SHORT, LONG = 400, 4000  # milliseconds


class Shop:
    """Servers with the todo service, on a pair of databases."""

    def __init__(self, pair):
        self.pair, self.address = pair, pair.address("shop")
        server.secrets.update((pair.old.folder, pair.standby.folder))

    def serve(self, stale_ms, *flags, address=None):
        return server.Server("--workers", "1", "--handlers", "1", "--stale-ms", str(stale_ms), "--todo-store", address or self.address, *flags)

    def pause(self):
        self.pair.standby.sql("postgres", "SELECT pg_wal_replay_pause()")
        self.pair.wait_for("replay is not paused", self.pair.standby, "SELECT pg_get_wal_replay_pause_state()", "paused")

    def resume(self):
        self.pair.standby.sql("postgres", "SELECT pg_wal_replay_resume()")


@contextlib.contextmanager
def shop():
    with pairs.Pair(log_statement="all") as pair:
        yield Shop(pair)


def create(found, title, fields=(), status=201):
    answer = found.ask("POST", "/todos", {"title": title}, fields=fields, checked=False)
    equal(answer.status, status, "a new todo: %r" % answer)
    return answer


def titles(found, fields=(), source=None):
    """What is listed for a caller; with a server that answers each time."""
    with found.connect(source=source) as connection:
        answer = connection.ask("GET", "/todos?limit=100", fields=fields)
    equal(answer.status, 200, "a list: %r" % answer)
    return [todo["title"] for todo in answer.json["items"]]


def logged(cluster, what="FROM todos WHERE id >"):
    """How often a standby has run a list."""
    with open(os.path.join(cluster.folder, "log"), encoding="utf-8", errors="replace") as file:
        return sum(what in line for line in file)


def counted(found):
    """How many answers of a standby the server has used."""
    text = found.ask("GET", "/metrics").body.decode()
    return int(re.search(r'^mishap_store_queries_total\{store="standby"\} (\d+)$', text, re.M)[1])


def wait_until_used(found, what="the standby is not used"):
    """… from now on. A server that has just begun asks the primary alone."""
    before = counted(found)
    expect(wait_for(lambda: titles(found, source=OTHER) is not None and counted(found) > before), what)


# ---- A standby that follows -----------------------------------------------------------------------


@test
def lists_are_read_at_the_standby_and_nothing_else():
    with shop() as it, it.serve(SHORT) as found:
        create(found, "one")
        create(found, "two")
        wait_until_used(found)
        before, used = logged(it.pair.standby), counted(found)
        expect(wait_for(lambda: titles(found) == ["one", "two"] and counted(found) >= used + 50), "few reads at the standby:", counted(found) - used)
        expect(logged(it.pair.standby) - before >= 50, "what the standby has run:", logged(it.pair.standby) - before)
        equal(len(found.ask("GET", "/users").json["items"]), 0, "users")
        for _ in range(20):
            equal(found.ask("GET", "/todos/1").json["title"], "one")
        equal(logged(it.pair.standby, "FROM todos WHERE id ="), 0, "reads of one todo at the standby")
        expect("--stale-ms has no effect" not in found.read(found.stderr).decode(), "it says that it has no effect")


@test
def without_the_flag_no_standby_is_asked():
    with shop() as it, server.Server("--workers", "1", "--todo-store", it.address) as found:
        create(found, "one")
        for _ in range(30):
            answer = found.ask("GET", "/todos", fields=[(FIELD, "todo=1")])
            equal((answer.status, answer[FIELD]), (200, None), "a list, and its position")
        equal(create(found, "two")[FIELD], None, "the position of a change")
        equal(logged(it.pair.standby), 0, "lists at the standby")
        expect('store="standby"' not in found.ask("GET", "/metrics").body.decode(), "it is counted")


# ---- A standby that is behind ---------------------------------------------------------------------


@test
def a_read_has_all_that_was_acknowledged_before_the_time_that_is_allowed():
    with shop() as it, it.serve(SHORT) as found:
        create(found, "first")
        wait_until_used(found)
        it.pause()
        known = ["first"]
        for number in range(10):
            create(found, "todo %d" % number)
            known.append("todo %d" % number)
            time.sleep(SHORT / 1000 + 0.01)
            equal(titles(found, source=OTHER), known, "the list of another caller, %d ms later" % SHORT)
        it.resume()
        wait_until_used(found, "the standby is not used again")


@test
def a_standby_that_is_behind_is_used_until_then_and_the_writer_sees_its_change_at_once():
    with shop() as it, it.serve(LONG) as found:
        create(found, "first")
        wait_until_used(found)
        old = 0
        for number in range(60):
            it.resume()
            known = titles(found)
            wait_until_used(found)
            it.pause()
            create(found, "todo %d" % number)
            known.append("todo %d" % number)
            old += titles(found, source=OTHER) != known
            equal(titles(found), known, "the list of the caller that wrote")
            if old >= 3:
                break
        expect(old >= 3, "another caller never got an older list, so this shows nothing")
        it.resume()


# ---- A caller sees its changes --------------------------------------------------------------------


@test
def a_position_shows_the_change_at_another_server():
    with shop() as it, it.serve(LONG) as a, it.serve(LONG) as b:
        create(a, "first")
        wait_until_used(b)
        old = 0
        for number in range(60):
            it.resume()
            known = titles(a)
            wait_until_used(b)
            it.pause()
            position = create(a, "todo %d" % number)[FIELD]
            expect(re.fullmatch(r"todo=[0-9A-F]{1,16}", position), "a position:", position)
            known.append("todo %d" % number)
            old += titles(b) != known
            equal(titles(b, [(FIELD, position)]), known, "the list at the other server, with the position")
            if old >= 3:
                break
        expect(old >= 3, "without the position the list was never older, so this shows nothing")
        it.resume()
        # A read has a position, too: what came after it may be asked for anywhere.
        expect(wait_for(lambda: (b.ask("GET", "/todos")[FIELD] or "").startswith("todo=")), "a read at the standby has no position")


@test
def a_change_that_failed_counts_as_one_that_may_have_been_made():
    with shop() as it, it.serve(LONG, "--chaos") as found:
        create(found, "first")
        wait_until_used(found)
        answer = found.ask("PATCH", "/todos/999", {"title": "x"})
        equal(answer.status, 404, "a change of nothing")
        expect(re.fullmatch(r"todo=[0-9A-F]{1,16}", answer[FIELD]), "its position:", answer[FIELD])
        it.pair.standby.stop(signal.SIGKILL)  # commits wait for it, and then nobody knows
        answer = found.ask("POST", "/todos", {"title": "unknown"}, checked=False)
        equal((answer.status, answer[FIELD]), (504, "todo=FFFFFFFFFFFFFFFF"), "a change of unknown outcome: %r" % answer)
        it.pair.standby.start()
        it.pair.be_synchronous()
        after = found.ask("GET", "/todos", fields=[(FIELD, answer[FIELD])])
        equal(after.status, 200)
        expect(after[FIELD] and after[FIELD] != answer[FIELD], "the position of a read at the primary:", after[FIELD])


@tests_of({revision: revision for revision in ("2025-11-25",)})
def an_agent_sees_its_change_and_a_resource_is_never_old(revision):
    with shop() as it, it.serve(LONG) as found:
        create(found, "first")
        wait_until_used(found)
        session = Session(found, revision)
        for number in range(5):
            it.resume()
            wait_until_used(found)
            it.pause()
            session.post(call("create_todo", {"title": "todo %d" % number}))
            answer = session.post(call("list_todos", {"limit": 100})).json["result"]
            expect("todo %d" % number in str(answer), "the list of an agent:", answer)
            with found.connect(source=OTHER) as connection:
                connection.ask("POST", "/todos", {"title": "other %d" % number})
            answer = session.post(message("resources/read", {"uri": "todo://todos"})).json["result"]
            expect("other %d" % number in str(answer), "the resource:", answer)
        it.resume()


HOSTILE = ["", " ", "todo", "todo=", "=1", "todo=0", "todo=G", "todo=-1", "todo=1f", "todo=FFFFFFFFFFFFFFFF", "todo=FFFFFFFFFFFFFFFFF", "todo=1,", ",todo=1",
           "todo=1,,todo=2", "todo=1 2", "Todo=1", "todo=1, ghost=2", "ghost=FFFFFFFFFFFFFFFF", "todo=FFFFFFFFFFFFFFFE", "todo='; DROP TABLE todos",
           "%s%n%x", "todo=\xff", "\xe2\x82\xac=1", "todo=1\tx", ", ".join("todo=%X" % number for number in range(1, 400)), "a" * 4000, "todo=" + "1" * 4090,
           ", ".join("s%d=1" % number for number in range(700)), "todo==1", "0/16B3748", "{\"todo\":1}"]


@test
def no_text_of_the_header_does_harm():
    with shop() as it, it.serve(SHORT) as found:
        create(found, "one")
        wait_until_used(found)
        for text in HOSTILE:
            for method, body, status in (("GET", None, 200), ("POST", {"title": "two"}, 201), ("GET", None, 200)):
                with found.connect() as connection:
                    connection.send(server.request(method, "/todos", body, [(FIELD, text)]))
                    answer = connection.response(method, "/todos")
                equal(answer.status, status, "%s with %r: %r" % (method, text[:40], answer))
                expect(re.fullmatch(r"todo=[0-9A-F]{1,16}", answer[FIELD] or "todo=1"), "what comes back of %r:" % text[:40], answer[FIELD])
        equal(found.ask("GET", "/todos", fields=[(FIELD, "todo=1"), (FIELD.lower(), "todo=2")], checked=False).status, 400, "two of them")
        equal(found.ask("GET", "/todos", fields=[(FIELD, "a" * 20000)], checked=False).status, 431, "a large one")
        # A caller that asks for a position which no standby has keeps nobody else from the standby.
        used = counted(found)
        for _ in range(100):
            titles(found, [(FIELD, "todo=FFFFFFFFFFFFFFFE")])
            titles(found, source=OTHER)
        expect(counted(found) - used >= 50, "reads at the standby beside such a caller:", counted(found) - used)


@test
def positions_of_other_services_are_passed_on():
    with shop() as it, it.serve(SHORT, "--artifacts-store", it.pair.address("artifacts")) as found:
        answer = found.ask("POST", "/todos", {"title": "one"}, fields=[(FIELD, "artifacts=AB, todo=1, ghost=2, artifacts=CD")])
        expect(re.fullmatch(r"todo=[0-9A-F]{2,16}, artifacts=AB", answer[FIELD]), "positions:", answer[FIELD])
        made = found.ask("POST", "/artifacts/genesis_ledger/invoke", {"method": "balance", "args": ["nobody"]}, checked=False)
        equal(made[FIELD], None, "the position of a service whose reads are never old")


# ---- Standbys that go -----------------------------------------------------------------------------


@tests_of({how: how for how in ("is killed", "hangs")})
def a_standby_that_fails_costs_no_call_its_answer(how):
    with shop() as it, it.serve(SHORT) as found:
        it.pair.primary.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        create(found, "one")
        wait_until_used(found)
        if how == "hangs":
            it.pair.standby.hang()
        else:
            it.pair.standby.stop(signal.SIGKILL)
        for number in range(50):
            create(found, "todo %d" % number)
            equal(len(titles(found)), number + 2, "the list of the caller that wrote")
            expect(len(titles(found, source=OTHER)) <= number + 2, "the list of another")
        used = counted(found)
        time.sleep(SHORT / 1000 + 0.01)
        equal(len(titles(found, source=OTHER)), 51, "the list of another, later")
        equal(counted(found), used, "a standby that is gone has answered")
        if how == "hangs":
            it.pair.standby.wake()
        else:
            it.pair.standby.start()
        wait_until_used(found, "the standby is not used again")


@test
def a_standby_that_was_promoted_is_used_as_the_primary_and_its_own_standby_for_reads():
    with shop() as it, it.serve(SHORT) as found:
        create(found, "one")
        wait_until_used(found)
        it.pair.primary.stop(signal.SIGKILL)
        it.pair.promote()

        def made():
            with contextlib.suppress(OSError, server.Closed):
                return found.ask("POST", "/todos", {"title": "two"}, checked=False).status == 201
            return False
        expect(wait_for(made), "the new primary is not used")
        used = counted(found)
        for _ in range(20):
            equal(titles(found, source=OTHER)[:2], ["one", "two"])
        equal(counted(found), used, "reads at a standby while there is none")
        it.pair.rejoin()
        create(found, "three")
        wait_until_used(found, "the standby of the new primary is not used")
        equal(titles(found)[0], "one")


@test
def a_standby_that_follows_an_old_primary_is_not_used():
    """It streams, and its log goes on: only its timeline says that it is none of the new primary."""
    with shop() as it:
        pair = it.pair
        pair.primary.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        with pairs.Standby(pair.primary, log_statement="all") as behind:
            server.secrets.add(behind.folder)
            with it.serve(SHORT, address=pair.address("shop", pair.old, pair.standby, behind)) as found:
                create(found, "one")
                wait_until_used(found)
                for cluster in (behind, pair.standby):
                    pair.wait_for("no replay", cluster, "SELECT pg_last_wal_replay_lsn() >= '%s'" % pair.primary.sql(
                        "postgres", "SELECT pg_current_wal_insert_lsn()"), "t")
                pair.primary.stop(signal.SIGKILL)
                pair.promote()

                def made():
                    with contextlib.suppress(OSError, server.Closed):
                        return found.ask("POST", "/todos", {"title": "two"}, checked=False).status == 201
                    return False
                expect(wait_for(made), "the new primary is not used")
                # The old one comes back, and changes more than the new one: its standby has higher positions.
                pair.old.start()
                pair.old.sql("postgres", "CREATE TABLE much AS SELECT generate_series(1, 100000)")
                pair.wait_for("the standby does not follow", behind, "SELECT pg_last_wal_replay_lsn() >= '%s'" % pair.old.sql(
                    "postgres", "SELECT pg_current_wal_insert_lsn()"), "t")
                asked = logged(behind)
                used = counted(found)

                def was_asked():
                    equal(titles(found, source=OTHER)[:2], ["one", "two"], "a list beside a standby of the old primary")
                    return logged(behind) > asked
                expect(wait_for(was_asked), "the standby of the old primary was not even asked, so this shows nothing")
                for _ in range(50):
                    equal(titles(found, source=OTHER)[:2], ["one", "two"])
                equal(counted(found), used, "answers of the standby of the old primary")


# ---- Stores without standbys ----------------------------------------------------------------------


def says_so(found):
    return "--stale-ms has no effect on the service todo: its store is not PostgreSQL with several hosts." in found.read(found.stderr).decode()


@test
def without_standbys_the_flag_has_no_effect_and_the_server_says_so():
    with server.Server("--workers", "1", "--stale-ms", "500") as found:
        expect(says_so(found), "it does not say so:", found.read(found.stderr))
        equal((create(found, "one")[FIELD], titles(found)), (None, ["one"]))
    with shop() as it, it.serve(500, address=it.pair.address("shop", it.pair.old)) as found:
        expect(says_so(found), "it does not say so:", found.read(found.stderr))
        equal((create(found, "one")[FIELD], titles(found)), (None, ["one"]))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
