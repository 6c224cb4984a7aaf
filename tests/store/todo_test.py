"""The todo service on PostgreSQL, from outside: what works on SQLite works there, servers share a database, and a database
that goes away comes back.

    MISHAP_PROGRAM=… python3 tests/store/todo_test.py [PART-OF-A-NAME]

Speaks TAP. Without PostgreSQL all is skipped.
"""
import contextlib
import atexit
import json
import os
import re
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import equal, expect, main, run_program, test, tests_of  # noqa: E402
from server import PATIENCE, PROGRAM, wait_for  # noqa: E402

if not postgres.folder_of_programs():
    print("1..0 # SKIP there is no PostgreSQL")
    sys.exit(0)

PASSWORD = "marker-private p@ss/w:?"
CLUSTER = postgres.Cluster()
atexit.register(CLUSTER.remove)
server.secrets.update([CLUSTER.folder, PASSWORD, "marker-private"])
GONE = {"error": "unavailable", "message": "The store is not available."}
UNAVAILABLE = {"error": "unavailable", "message": "The service todo is not available."}
UNKNOWN = {"error": "timeout", "message": "The store did not confirm the change. It may or may not have been made.",
           "details": {"outcome": "unknown"}}


class Server(server.Server):
    def __init__(self, address, *flags, **more):
        super().__init__("--workers", "2", "--todo-store", address, *flags, **more)

    def create(self, title, status=201, **more):
        found = self.ask("POST", "/todos", {"title": title, **more})
        equal(found.status, status, "the status of a new todo: %r" % found)
        return found.json

    def titles(self):
        return [todo["title"] for todo in self.ask("GET", "/todos?limit=100").json["items"]]

    def status(self):
        return self.ask("GET", "/health").json["status"]

    def lines(self):
        return [line.decode() for line in self.whole_lines(self.stderr)
                if not line.startswith((b"listening", b"mishap: failures are logged in ", b'{"ok"'))]


# ---- Moving ----------------------------------------------------------------------------------------


@test
def a_store_is_moved_from_sqlite_to_postgresql():
    file, address = os.path.join(server.FOLDER, "moved.sqlite"), CLUSTER.address()
    script = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "move-store")
    nasty = "a\n\\.\n\t\\N;DROP TABLE todos;\r'é"  # \\. ends the data of COPY, if it is a line
    with Server("sqlite:" + file) as found:
        found.ask("POST", "/users", {"name": nasty, "email": "ada@example.com"})
        for title in (nasty, "second", "third"):
            found.create(title, user_id="1", done=title == "second")
        found.ask("DELETE", "/todos/3")
        before = [found.ask("GET", path).json for path in ("/users", "/todos")]
    ran = run_program(sys.executable, script, "todo", file, address)
    expect(ran.status != 0 and b"nothing was changed" in ran.err, "before the tables are there", ran)
    with Server(address) as found:
        found.create("is replaced")
    ran = run_program(sys.executable, script, "todo", file, address)
    equal((ran.status, ran.out), (0, b"Moved todo: users, todos.\n"), "what it says: %r" % ran.err)
    with Server(address) as found:
        equal([found.ask("GET", path).json for path in ("/users", "/todos")], before, "users and todos")
        equal(found.create("next")["id"], "3", "the next id")


# ---- Damage ----------------------------------------------------------------------------------------


@tests_of({"of rows": "todo.todos", "of its identity": "todo.store"})
def a_damaged_table_is_told_in_one_way_and_nobody_is_told_to_retry(table):
    def page(content=None):
        """Read the first page of the table, or put another in its place, while PostgreSQL does not run."""
        CLUSTER.stop(signal.SIGINT)
        with open(path, "r+b") as file:
            before = file.read(8192)
            file.seek(0)
            file.write(before if content is None else content)
        CLUSTER.start()
        return before

    address = CLUSTER.address("damaged_" + table.replace(".", "_"))
    with Server(address) as found:
        found.create("kept")
        path = os.path.join(CLUSTER.data, CLUSTER.sql("damaged_" + table.replace(".", "_"), "SELECT pg_relation_filepath('%s')" % table))
        before = page()
        page(b"\xff" * 8192)
        for pid in found.handlers():  # who opens it anew reads its identity
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(pid, signal.SIGKILL)
        expect(wait_for(lambda: found.ask("GET", "/todos").json["error"] == "not_configured"), "it is not told:", found.ask("GET", "/todos"))
        for method, target, body in (("GET", "/todos", None), ("GET", "/todos/1", None), ("PATCH", "/todos/1", {"done": True})) * 3:
            refused = found.ask(method, target, body)
            equal((refused.status, refused.json["error"], refused["Retry-After"]), (503, "not_configured", None), "%s %s" % (method, target))
        ran = run_program(PROGRAM, "todos", "list", "--output", "json", env={"MISHAP_TODO_STORE": address})
        error = json.loads(ran.out)["error"]
        equal((ran.status, error["code"], error["retryable"]), (78, "NOT_CONFIGURED", False), "a command: %r" % ran.out)
        page(before)
        expect(wait_for(lambda: found.ask("GET", "/todos").status == 200), "it is still refused")
        equal(found.titles(), ["kept"], "the todos")


# ---- What works ------------------------------------------------------------------------------------


@test
def users_and_todos_are_created_read_changed_and_deleted():
    with Server(CLUSTER.address()) as found:
        ada = found.ask("POST", "/users", {"name": "Zoë 'x' ?1 $1", "age": 36, "email": "ada@example.com"})
        equal((ada.status, ada["Location"]), (201, "/users/1"), "a new user")
        expect(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", ada.json["created_at"]), ada)
        equal({key: ada.json[key] for key in ("id", "name", "age", "email")},
              {"id": "1", "name": "Zoë 'x' ?1 $1", "age": 36, "email": "ada@example.com"}, "the user")
        equal(found.ask("GET", "/users/1").json, ada.json, "the same")
        equal(found.create("milk", user_id="1")["user_id"], "1", "whose it is")
        equal(found.create("bread", done=True)["done"], True, "done")
        equal(found.ask("POST", "/todos", {"title": "x", "user_id": "99"}).json,
              {"error": "not_found", "message": "User not found"}, "of nobody")
        equal(found.ask("PATCH", "/todos/1", {"done": True}).json["done"], True, "changed")
        equal(found.ask("PATCH", "/todos/1", {"user_id": "99"}).status, 404, "to nobody")
        equal(found.ask("PATCH", "/todos/77", {"done": True}).status, 404, "not there")
        equal(found.ask("DELETE", "/users/1").status, 204, "deleted")
        equal(found.ask("GET", "/users/1").status, 404, "gone")
        equal(found.ask("GET", "/todos/1").json["user_id"], None, "a todo outlives its user")
        equal(found.ask("DELETE", "/todos/1").status, 204, "deleted")
        equal(found.ask("DELETE", "/todos/1").status, 404, "twice")
        equal(found.lines(), [], "on stderr")


@test
def an_email_belongs_to_one_user():
    with Server(CLUSTER.address()) as found:
        for number in (1, 2):
            equal(found.ask("POST", "/users", {"name": "A", "email": "%d@example.com" % number}).status, 201)
        taken = {"error": "already_exists", "message": "A user with this e-mail already exists.", "details": {"email": "1@example.com"}}
        for answer in (found.ask("POST", "/users", {"name": "B", "email": "1@example.com"}),
                       found.ask("PATCH", "/users/2", {"email": "1@example.com"})):
            equal(answer.status, 409, "the status")
            equal({key: answer.json.get(key) for key in ("error", "message")}, {key: taken[key] for key in ("error", "message")}, "the body")


@test
def lists_have_pages_and_filters():
    with Server(CLUSTER.address()) as found:
        equal(found.ask("POST", "/users", {"name": "A", "email": "a@example.com"}).status, 201)
        for number in range(25):
            found.create("t%d" % number, done=number % 2 == 0, **({"user_id": "1"} if number % 5 == 0 else {}))
        seen, after = [], ""
        while after is not None:
            page = found.ask("GET", "/todos?limit=7" + (after and "&after=" + after)).json
            seen += [todo["title"] for todo in page["items"]]
            after = page["next"]
        equal(seen, ["t%d" % number for number in range(25)], "all pages")
        for query, expected in {"done=true": range(0, 25, 2), "user_id=1": range(0, 25, 5), "done=false&user_id=1": (5, 15)}.items():
            equal([todo["title"] for todo in found.ask("GET", "/todos?limit=100&" + query).json["items"]],
                  ["t%d" % number for number in expected], query)
            page = found.ask("GET", "/todos?limit=1&" + query).json
            equal(len(page["items"]), 1, "a page of one")


# ---- Several at once -------------------------------------------------------------------------------


@test
def two_servers_and_commands_share_a_database():
    address = CLUSTER.address()
    with Server(address) as first, Server(address) as second:
        first.create("a")
        second.create("b")
        command = run_program(PROGRAM, "todos", "create", "--title", "c", "--todo-store", address, env={"MISHAP_DATA": first.data})
        equal(command.status, 0, "exit of the command")
        equal((first.titles(), second.titles()), (["a", "b", "c"],) * 2, "the todos")
        given = []

        def write(one):
            with one.connect() as connection:
                for _ in range(25):
                    answer = connection.ask("POST", "/todos", {"title": "t"})
                    given.append((answer.status, answer.json.get("id")))

        threads = [threading.Thread(target=write, args=(one,)) for one in (first, second) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        equal({status for status, _ in given}, {201}, "the statuses")
        equal(len({number for _, number in given}), 100, "different ids")


@test
def one_email_is_given_once_however_many_ask_for_it():
    address = CLUSTER.address()
    with Server(address) as first, Server(address) as second:
        answers = []

        def write(one):
            with one.connect() as connection:
                for number in range(10):
                    answers.append(connection.ask("POST", "/users", {"name": "A", "email": "%d@example.com" % number}).status)

        threads = [threading.Thread(target=write, args=(one,)) for one in (first, second) * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        equal((answers.count(201), answers.count(409), len(answers)), (10, 50, 60), "answers")


# ---- A database that goes away ---------------------------------------------------------------------


def expect_known(answer):
    """What a caller may be told while the database is away."""
    told = {key: value for key, value in answer.json.items() if key in ("error", "message")}
    if answer.status == 503:
        expect(told in (GONE, UNAVAILABLE), answer)
        expect(re.fullmatch("[12]", answer["Retry-After"] or ""), "Retry-After:", answer)
    else:
        equal((answer.status, told), (504, {key: UNKNOWN[key] for key in ("error", "message")}), "the answer")
    expect(not re.search("postgres|sql|terminat|server closed", answer.body.decode(), re.I), "private words:", answer)


@tests_of({"killed": signal.SIGKILL, "stopped in order": signal.SIGINT})
def a_database_that_goes_away_and_comes_back(how):
    address = CLUSTER.address()
    with Server(address) as found:
        found.create("kept")
        kept, statuses, over = ["kept"], [], threading.Event()

        def write():
            with found.connect() as connection:
                while not over.is_set():
                    title = "t%d" % len(statuses)
                    answer = connection.ask("POST", "/todos", {"title": title})
                    statuses.append(answer.status)
                    if answer.status == 201:
                        kept.append(title)
                    else:
                        expect_known(answer)

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        expect(wait_for(lambda: len(kept) > 20), "nothing is written")
        CLUSTER.stop(how)
        expect(wait_for(lambda: found.status() == "degraded"), "it is not noticed")
        for target in ("/todos", "/users/1"):
            expect_known(found.ask("GET", target))
        CLUSTER.start()
        expect(wait_for(lambda: found.status() == "ok"), "it does not go on:", found.lines())
        count = len(kept)
        expect(wait_for(lambda: len(kept) > count + 20), "nothing is written any more")
        over.set()
        thread.join(PATIENCE)
        titles = CLUSTER.sql(re.search("/(store[0-9]+)", address)[1], "SELECT title FROM todo.todos").split("\n")
        equal([title for title in kept if title not in titles], [], "what was confirmed and is not there")
        expect(503 in statuses and statuses.count(504) <= 1, "the statuses:", statuses)
        equal(found.lines()[-1], "mishap: the service todo is available again", "on stderr")


@test
def a_connection_that_was_ended_while_idle_is_not_noticed_by_callers():
    address = CLUSTER.address()
    with Server(address) as found:
        found.create("a")
        for _ in range(3):
            CLUSTER.sql("postgres", "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname ~ '^store' AND "
                        "pid <> pg_backend_pid()")
            found.create("b")
            equal(found.ask("GET", "/todos").status, 200)
        equal(found.lines(), [], "on stderr")


@test
def another_store_is_not_used_instead():
    address = CLUSTER.address("replaced")
    with Server(address) as found:
        found.create("kept")
        CLUSTER.sql("postgres", "ALTER DATABASE replaced ALLOW_CONNECTIONS false",
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'replaced'",
                    "ALTER DATABASE replaced RENAME TO original")
        CLUSTER.address("replaced")
        another = run_program(PROGRAM, "todos", "create", "--title", "another", "--todo-store", address, env={"MISHAP_DATA": found.data})
        equal(another.status, 0, "exit of the command")
        expect_known(found.ask("POST", "/todos", {"title": "lost"}))
        expect(wait_for(lambda: found.status() == "degraded"), "it is not noticed")
        said = "not the store that the server opened when it started"
        expect(wait_for(lambda: any(said in line for line in found.lines())), found.lines())
        equal(CLUSTER.sql("replaced", "SELECT title FROM todo.todos"), "another", "what the other has")
        CLUSTER.sql("postgres", "DROP DATABASE replaced WITH (FORCE)", "ALTER DATABASE original RENAME TO replaced",
                    "ALTER DATABASE replaced ALLOW_CONNECTIONS true")
        expect(wait_for(lambda: found.status() == "ok"), "it does not go on:", found.lines())
        equal(found.titles(), ["kept"], "the todos")


@test
def a_newer_store_is_left_alone():
    address = CLUSTER.address("newer")
    with Server(address) as found:
        found.create("kept")
    CLUSTER.sql("newer", "UPDATE todo.store SET version = 99")
    answer = run_program(PROGRAM, "todos", "list", "--todo-store", address, env={"MISHAP_DATA": server.FOLDER})
    equal(answer.status, 78, "exit")
    expect(b"has version 99" in answer.out, answer)
    equal(CLUSTER.sql("newer", "SELECT version, (SELECT count(*) FROM todo.todos) FROM todo.store"), "99|1", "unchanged")


# ---- Secrets and settings --------------------------------------------------------------------------


@test
def a_password_is_nowhere():
    address = CLUSTER.guarded(PASSWORD, "guarded")
    escaped = re.search("guarded:(.*)@", address)[1]
    config = os.path.join(server.FOLDER, "config.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"todo": {"store": address}}, file)
    with server.Server("--workers", "1", "--verbose", "--config", config) as found:
        equal(found.ask("POST", "/todos", {"title": "a"}).status, 201)
        CLUSTER.sql("postgres", "ALTER ROLE guarded PASSWORD 'another'",
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'guarded'")
        expect(wait_for(lambda: found.ask("GET", "/todos").status == 503), "it goes on with the old password")
        expect(wait_for(lambda: b"password authentication failed" in found.read(found.log)), "the reason is not logged")
        shown = [json.dumps(found.ask("GET", "/health").json), found.read(found.stderr).decode(), found.read(found.log).decode()]
        for words in (["todos", "list", "--todo-store", address], ["serve", "--listen", "127.0.0.1:0", "--store", address, "--verbose"],
                      ["todos", "list", "--todo-store", address + "&x", "--verbose"]):
            answer = run_program(PROGRAM, *words, env={"MISHAP_DATA": server.FOLDER})
            equal(answer.status, 78, "exit")
            shown += [answer.out.decode(), answer.err.decode()]
    for text in shown:
        for secret in (PASSWORD, escaped, "p@ss", "p%40ss"):
            expect(secret not in text, "the password is in", text)


@test
def one_address_is_for_all_services():
    with server.Server("--workers", "1", "--store", CLUSTER.address("together")) as found:
        equal(found.ask("POST", "/todos", {"title": "a"}).status, 201)
    equal(CLUSTER.sql("together", "SELECT title FROM todo.todos"), "a", "in the schema of the service")


@test
def a_server_does_not_start_without_its_database():
    begun = time.monotonic()
    for address, status in {"postgresql://nobody@/nix?host=/nowhere": 12, CLUSTER.address().replace("/store", "/nix"): 78}.items():
        answer = run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--todo-store", address, env={"MISHAP_DATA": server.FOLDER})
        equal(answer.status, status, "exit of %r" % (answer,))
    expect(time.monotonic() - begun < PATIENCE, "it took", time.monotonic() - begun)


@test
def a_schema_that_a_test_leaves_is_found():
    """What tests/store/postgres.py does after its program."""
    CLUSTER.address("tests")
    equal([postgres.verdict(CLUSTER, "tests", status) for status in (0, 3, -9)], [0, 3, 1], "nothing is left")
    CLUSTER.sql("tests", "CREATE SCHEMA shelf_test_0123456789ab")
    equal(postgres.verdict(CLUSTER, "tests", 0), 1, "one is left")
    CLUSTER.sql("tests", "DROP SCHEMA shelf_test_0123456789ab", "CREATE SCHEMA shelfXtestX1")
    equal(postgres.verdict(CLUSTER, "tests", 0), 0, "another one")


@test
def every_failure_of_the_run_fits_the_schema():
    server.fits_the_schema()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
