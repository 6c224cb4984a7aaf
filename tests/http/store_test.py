"""A store that cannot be opened, is locked, removed or replaced while a server runs.

    MISHAP_PROGRAM=… python3 tests/http/store_test.py [PART-OF-A-NAME]

Every call is answered 503 in the API's own format, /health says what is missing, and stderr has one line. When the store is
back, the server goes on by itself.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server  # noqa: E402
from blackbox import equal, expect, main, run_program, test, tests_of  # noqa: E402
from exchange import Session, call  # noqa: E402
from server import PATIENCE, PROGRAM, in_time, wait_for  # noqa: E402

UNAVAILABLE = {"error": "unavailable", "message": "The service todo is not available."}
DAMAGED = {"error": "not_configured", "message": "The store is damaged."}
HOPELESS = {"error": "not_configured", "message": "The service todo is not available."}
GONE = {"error": "unavailable", "message": "The store is not available."}
PRIVATE = re.compile("sqlite|disk image|database|malformed|version|locked|todo\\.s|/", re.I)


AGAIN = "mishap: the service todo is available again"


class Server(server.Server):
    def __init__(self, *flags, data=None):
        super().__init__("--workers", "2", *flags, data=data)
        self.store = os.path.join(self.data, "todo.sqlite")

    def create(self, title="a", status=201):
        found = self.ask("POST", "/todos", {"title": title})
        equal(found.status, status, "the status of a new todo")
        return found.json

    def titles(self):
        found = self.ask("GET", "/todos?limit=100")
        equal(found.status, 200, "the status of a list")
        return [todo["title"] for todo in found.json["items"]]

    def end_workers(self):
        """The next call is run by a process that opens the store anew."""
        victims = self.handlers()  # services that are to be ready soon get another one at once
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        expect(wait_for(lambda: not set(victims) & set(self.handlers())), "the handlers live on")

    def health(self):
        found = self.ask("GET", "/health")
        equal(found.status, 200, "the status of /health")
        said = found.json
        equal(said.pop("ready").get("todo"), False if "todo" in said.get("unavailable", ()) else None, "whether the service is ready")
        for reader in said.pop("readers", {}).values():  # of incidents; absent before the first has begun
            expect(reader["state"] in ("follows", "retries", "rebuilds"), "a reader:", found)
        return said

    def lines(self):
        """What was said on stderr since the start. /health has the artifacts tried, whose store lies in the same folder, as the
        index of incidents does."""
        return [line.decode() for line in self.whole_lines(self.stderr)
                if not line.startswith((b"listening", b"mishap: failures are logged in ", b"mishap: the service artifacts is ",
                                        b"mishap: The index of incidents ", b'{"ok"'))]

    def said(self):
        """The same, when there is something: another process writes it."""
        wait_for(self.lines)
        return self.lines()

    def sql(self, *statements):
        with contextlib.closing(sqlite3.connect(self.store, isolation_level=None)) as database:
            return [database.execute(statement).fetchall() for statement in statements][-1]

    def expect_closed(self, reason, first=(), hopeless=False):
        """All calls are refused, by every loop, and nothing private is told. The first may hear of it in other words.
        hopeless: nobody is told to try again."""
        begun = time.monotonic()
        for number in range(20):
            method, target, body = [("GET", "/todos", None), ("POST", "/todos", {"title": "lost"}), ("GET", "/users/1", None),
                                    ("DELETE", "/todos/1", None)][number % 4]
            fields = {"Accept": "application/vnd.mishap+json"} if number % 5 == 4 else {}
            found = self.ask(method, target, body, fields)
            equal(found.status, 503, "the status of %s %s" % (method, target))
            expect(found["Retry-After"] is None if hopeless else re.fullmatch("[12]", found["Retry-After"] or ""), "Retry-After:", found)
            if fields:
                equal((found.json["code"], found.json["retryable"]), ("NOT_CONFIGURED", False) if hopeless else ("UNAVAILABLE", True), "the code")
            else:
                expect(found.json == (HOPELESS if hopeless else UNAVAILABLE) or found.json in first, "the body:", found)
            told = json.dumps({key: value for key, value in found.json.items() if key != "docs_url"})
            expect(not PRIVATE.search(told), "private words in", told)
        expect(time.monotonic() - begun < PATIENCE / 2, "they were answered after", time.monotonic() - begun)
        # With --handlers 0 the other loop may have the store open still, take it for mended, and learn the truth with its first call.
        seen = []
        expect(wait_for(lambda: self.ask("GET", "/todos").status == 503 and (seen.append(self.health()) or seen[-1]["status"] == "degraded")), "it is not noticed")
        health = seen[-1]
        health.pop("services")  # what others say of themselves
        equal(health, {"status": "degraded", "name": "mishap", "version": health["version"], "unavailable": ["todo"]}, "health")
        wait_for(lambda: len(self.said()) != 2)  # another process writes it
        said = self.said()
        expect(re.search(reason, said[0]) and said[2:] in ([], said[:1]) and len(said) != 2, "on stderr:", said)
        self.too_early = said.count(AGAIN)

    def expect_lost(self):
        """Not one change is made any more. A reader may be a moment late, until one call has told all loops."""
        self.create("lost", status=503)
        expect(wait_for(lambda: self.health()["status"] == "degraded"), "it is not noticed")

    def expect_open(self, titles=None):
        """It goes on by itself, and says so once."""
        expect(wait_for(lambda: self.health()["status"] == "ok"), "it is still degraded:", self.lines())
        equal("unavailable" in self.health(), False, "a service that is missing")
        if titles is not None:
            equal(self.titles(), titles, "the todos")
        early = getattr(self, "too_early", 0)  # said while it was closed: see above
        expect(wait_for(lambda: self.lines()[-1:] == [AGAIN]) and self.lines().count(AGAIN) == 1 + early and len(self.lines()) <= 3 + 2 * early,
               "on stderr:", self.lines())  # before it, the store may have been away for a moment
        for _ in range(20):  # by either loop, and whichever worker
            equal(self.ask("GET", "/todos").status, 200, "the status")


# ---- A worker that starts --------------------------------------------------------------------------


@contextlib.contextmanager
def damaged(found):
    with open(found.store, "r+b") as file:
        before = file.read(4096)
        file.seek(0)
        file.write(b"x" * 4096)
    yield
    with open(found.store, "r+b") as file:
        file.write(before)


@contextlib.contextmanager
def emptied(found):
    """The log must go, too, for it has the pages."""
    found.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(found.store, "rb") as file:
        before = file.read()
    os.truncate(found.store, 0)
    yield
    equal(os.path.getsize(found.store), 0, "the size of a file that nobody may make a store of")
    with open(found.store, "r+b") as file:
        file.write(before)


@contextlib.contextmanager
def newer(found):
    found.sql("PRAGMA user_version = 99")
    yield
    found.sql("PRAGMA user_version = 1")


@contextlib.contextmanager
def locked(found):
    with contextlib.closing(sqlite3.connect(found.store, isolation_level=None)) as database:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        database.execute("INSERT INTO tallies VALUES ('x', 1)")
        yield
        database.execute("ROLLBACK")


@tests_of({"damaged": (damaged, "is not an SQLite database|is damaged", True),
           "empty": (emptied, "not the store that the server opened when it started"),
           "newer": (newer, "has version 99"), "locked from outside": (locked, "busy")})
def a_store_that_cannot_be_opened_any_more(broken, reason, hopeless=False):
    with Server() as found:
        found.create("kept")
        found.end_workers()
        with broken(found):
            found.expect_closed(reason, hopeless=hopeless)
        found.expect_open(["kept"])
        equal(found.create("more")["id"], "2", "the next id")


@contextlib.contextmanager
def ruined(path, name):
    """A store whose head is sound, but not the page where a table begins. The log must not have it either."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = database.execute("PRAGMA page_size").fetchone()[0]
        page = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
    with open(path, "r+b") as file:
        file.seek((page - 1) * size)
        before = file.read(size)
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    yield
    with open(path, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(before)


@contextlib.contextmanager
def shortened(path, _):
    """A file that ends too early."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(path, "rb") as file:
        before = file.read()
    os.truncate(path, 4096)
    yield
    with open(path, "r+b") as file:
        file.write(before)


@contextlib.contextmanager
def dropped(path, name):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("ALTER TABLE %s RENAME TO away" % name)
        yield
        database.execute("ALTER TABLE away RENAME TO %s" % name)


@tests_of({"a page of a table": (ruined, "todos"), "the end of the file": (shortened, None), "a table that is missing": (dropped, "todos"),
           "a page of its identity": (ruined, "store")})
def a_table_that_is_damaged_is_told_in_one_way_and_nobody_is_told_to_retry(broken, name):
    with Server() as found:
        found.create("kept")
        found.sql("SELECT 1")
        found.end_workers()
        with broken(found.store, name):
            for method, target, body in (("GET", "/todos", None), ("POST", "/todos", {"title": "lost"}), ("GET", "/todos/1", None)) * 4:
                refused = found.ask(method, target, body)
                equal(refused.status, 503, "the status of %s %s" % (method, target))
                expect(refused.json in (DAMAGED, HOPELESS) and refused["Retry-After"] is None, "the body:", refused)
                told = found.ask(method, target, body, {"Accept": "application/vnd.mishap+json"}).json
                equal((told["code"], told["retryable"]), ("NOT_CONFIGURED", False), "the code")
            for words in (("todos", "list"), ("todos", "create", "--title", "lost")):
                ran = run_program(PROGRAM, *words, "--output", "json", env={**os.environ, "MISHAP_DATA": found.data})
                error = json.loads(ran.out)["error"]
                equal((ran.status, error["code"], error["retryable"]), (78, "NOT_CONFIGURED", False), "a command: %r" % ran.out)
        expect(wait_for(lambda: found.ask("GET", "/todos").status == 200), "it is still refused")
        equal(found.titles(), ["kept"], "the todos")


@test
def a_service_that_reads_damaged_tables_when_it_is_opened_says_the_same():
    with Server() as found:
        for number in range(3):
            equal(found.ask("POST", "/artifacts/genesis_ledger/transfer", {"args": ["alice", "bob", 1]}, {"X-Caller": "alice"}).status, 200)
    path = os.path.join(found.data, "artifacts.sqlite")
    with contextlib.closing(sqlite3.connect(path)) as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE rootpage > 1 AND type = 'table'")]
    expect(len(names) > 5, "only these tables:", names)
    refused = set()
    for name in names:
        with ruined(path, name):
            for words in (("invoke", "genesis_ledger", "transfer", "--caller", "alice", "--args", '["alice","bob",1]'), ("events",)):
                ran = run_program(PROGRAM, "artifacts", *words, "--output", "json", env={**os.environ, "MISHAP_DATA": found.data})
                said = json.loads(ran.out)
                if not said["ok"]:
                    refused.add(name)
                    equal((ran.status, said["error"]["code"], said["error"]["retryable"]), (78, "NOT_CONFIGURED", False), "%s: %r" % (name, ran.out))
    expect(len(refused) >= 3, "nobody has noticed the damage but of", refused)


@test
def over_mcp_it_is_a_result_of_the_same_code():
    with Server() as found:
        found.create("kept")
        found.end_workers()
        with newer(found):
            session = Session(found)
            for _ in range(4):
                result = session.post(call("list_todos")).json["result"]
                equal((result["isError"], result["structuredContent"]["code"], result["structuredContent"]["message"]),
                      (True, "UNAVAILABLE", UNAVAILABLE["message"]), "the result")
                expect("todo.sqlite" not in json.dumps(result) and found.data not in json.dumps(result), result)
            equal(len(found.said()), 1, "lines on stderr")
        found.expect_open(["kept"])


@test
def one_loop_after_the_other_tries_and_more_and_more_slowly():
    with Server() as found:
        found.create("kept")
        found.end_workers()
        with newer(found):
            equal(found.ask("GET", "/todos").status, 503)
            seen, begun = set(), time.monotonic()
            while time.monotonic() < begun + 2.5:
                seen.update(found.handlers())
                with found.connect() as connection:
                    for _ in range(20):
                        equal(connection.ask("GET", "/todos").status, 503)
            equal(found.health()["unavailable"], ["todo"], "what is missing")
            took = time.monotonic() - begun  # each pause is twice as long: more time, a few more of them
            expect(len(seen) <= 6 + took, "processes that tried to open it:", len(seen), "in", took, "s")
            equal(len(found.lines()), 1, "lines on stderr, however often it was tried")
            for pid in found.workers():  # who tries may die; others go on
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            expect(wait_for(lambda: len(found.workers()) == 2), "there are no loops")
        expect(wait_for(lambda: found.health()["status"] == "ok"), "it is still degraded")
        equal(found.titles(), ["kept"], "the todos")


@test
def who_reads_and_starts_waits_for_no_lock():
    with Server() as first:
        first.create("kept")
        first.stop()
        for statement in ("SELECT 1", "DROP TABLE store"):  # also a store without an identity, of a program before this one
            first.sql(statement)
            with contextlib.closing(sqlite3.connect(first.store, isolation_level=None)) as database:
                database.execute("BEGIN IMMEDIATE")

                def start_and_read():
                    with Server(data=first.data) as found:
                        equal(found.titles(), ["kept"], "the todos")
                in_time(start_and_read, 0, 5)  # who waits for a lock gives up after five seconds
                with Server(data=first.data) as found:
                    equal(found.titles(), ["kept"], "the todos")
                    database.execute("ROLLBACK")
                    found.create("more")
                    found.sql("DELETE FROM todos WHERE title = 'more'")
                    equal(found.stop().status, 0, "exit")
    with Server(data=first.data) as found:  # the first that may write gives it one
        expect(re.fullmatch("[0-9a-f]{32}", found.sql("SELECT identity FROM store")[0][0]), "no identity")


# ---- Removed and replaced --------------------------------------------------------------------------


def away(found):
    os.rename(found.data, found.data + ".away")


def back(found):
    """The server looks for its store meanwhile, and that makes files: what took the folder's place is moved, not emptied."""
    if os.path.exists(found.data):
        os.rename(found.data, tempfile.mkdtemp(dir=os.path.dirname(found.data)))
    os.rename(found.data + ".away", found.data)


def another(found):
    answer = run_program(PROGRAM, "todos", "create", "--title", "another", env={**os.environ, "MISHAP_DATA": found.data})
    equal(answer.status, 0, "exit of the command")


@tests_of({"in workers": (), "in the loops": ("--handlers", "0")})
def a_folder_that_is_removed_and_put_back(*flags):
    with Server(*flags) as found:
        equal(found.create("kept")["id"], "1")
        away(found)
        found.expect_lost()
        found.expect_closed("cannot be opened", [GONE])
        expect(not os.path.exists(found.data), "the folder was made anew")
        back(found)
        found.expect_open(["kept"])
        equal(found.create("more")["id"], "2", "the next id")


@test
def a_store_that_another_takes_the_place_of():
    with Server() as found:
        equal(found.create("kept")["id"], "1")
        away(found)
        another(found)
        found.expect_lost()
        found.expect_closed("not the store that the server opened when it started", [GONE])
        equal(found.sql("SELECT title FROM todos"), [("another",)], "what the other store has")
        with Server(data=found.data) as second:  # one that starts takes what is there
            equal(second.titles(), ["another"], "the todos of a new server")
            second.create("second")
            found.create("lost", status=503)
            equal(second.titles(), ["another", "second"], "its log is left alone")
        back(found)
        found.expect_open(["kept"])


@test
def a_copy_that_is_put_back_is_the_same_store():
    with Server() as found:
        for number in range(8):
            found.create("kept %d" % number)
        found.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(found.store, found.data + ".copy")
        for ending in ("", "-wal", "-shm"):
            os.unlink(found.store + ending)
        found.expect_lost()
        found.expect_closed("cannot be opened", [GONE])
        shutil.copy(found.data + ".copy", found.store)
        found.expect_open(["kept %d" % number for number in range(8)])
        equal(found.create("more")["id"], "9", "the next id")


@test
def no_id_is_given_twice_and_nothing_that_was_answered_is_lost():
    with Server() as found:
        given, statuses, over = [], set(), threading.Event()

        def write():
            with found.connect() as connection:
                while not over.is_set():
                    answer = connection.ask("POST", "/todos", {"title": "t"})
                    statuses.add(answer.status)
                    if answer.status == 201:
                        given.append(int(answer.json["id"]))

        threads = [threading.Thread(target=write, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            count = len(given)
            expect(wait_for(lambda: len(given) > count + 50), "nothing is written")
            away(found)
            expect(wait_for(lambda: found.health()["status"] == "degraded"), "it is not noticed")
            another(found)
            back(found)
            expect(wait_for(lambda: found.health()["status"] == "ok"), "it does not go on")
        count = len(given)
        expect(wait_for(lambda: len(given) > count + 50), "nothing is written")
        over.set()
        for thread in threads:
            thread.join(PATIENCE)
        equal(statuses, {201, 503}, "the statuses")
        equal(len(set(given)), len(given), "different ids")
        kept = {row[0] for row in found.sql("SELECT id FROM todos")}
        equal(set(given) - kept, set(), "ids that were given and are not there")


@test
def two_servers_and_commands_share_a_store():
    with Server() as first, Server(data=first.data) as second:
        ids = [first.create("a")["id"], second.create("b")["id"]]
        another(first)
        ids.append(first.create("d")["id"])
        equal(ids, ["1", "2", "4"], "ids")
        equal(first.titles(), ["a", "b", "another", "d"], "the todos")
        equal(second.titles(), first.titles(), "of the other server")
        equal((first.lines(), second.lines()), ([], []), "on stderr")


@test
def every_failure_of_the_run_fits_the_schema():
    server.fits_the_schema()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
