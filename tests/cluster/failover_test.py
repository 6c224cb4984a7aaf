"""Servers of a cluster whose PostgreSQL fails over: the old primary comes back as a primary, and no server uses it, whatever it has seen itself.

    MISHAP_PROGRAM=… python3 tests/cluster/failover_test.py [PART-OF-A-NAME]

Speaks TAP. Without PostgreSQL all is skipped.
"""
import contextlib
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("http", "store"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
import pair as pairs  # noqa: E402
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from server import FOLDER, PROGRAM, wait_for  # noqa: E402

if not pairs.is_possible():
    print("1..0 # SKIP there is no PostgreSQL")
    sys.exit(0)

REFUSED = b"has timeline 1, and timeline 2 of it has been used"


class Shop:
    """A pair of databases; what the servers share lies in it, or elsewhere."""

    def __init__(self, pair, cluster=None):
        self.pair, self.both = pair, pair.address("shop")
        self.cluster = cluster or self.both
        made = run_program(PROGRAM, "keys", "add", "--name", "one", "--cluster", self.cluster, "--output", "json")
        key = parsed(made.out)["data"]["key"]
        server.secrets.update((key, pair.old.folder, pair.standby.folder))
        self.fields = {"X-Api-Key": key}

    def words(self, todos):
        return ["--workers", "1", "--require-key", "--cluster", self.cluster, "--todo-store", todos or self.both]

    def serve(self, todos=None):
        return server.Server(*self.words(todos))

    def only_old(self):
        return self.pair.address("shop", self.pair.old, wants="any")

    def create(self, found, title):
        """The status; None: it was not answered in time."""
        with contextlib.suppress(OSError, server.Closed):
            return found.ask("POST", "/todos", {"title": title}, fields=self.fields, checked=False).status
        return None

    def titles(self, found):
        """A list; the status if there is none."""
        answer = found.ask("GET", "/todos", fields=self.fields, checked=False)
        return sorted(todo["title"] for todo in answer.json["items"]) if answer.status == 200 else answer.status

    def fail_over(self):
        self.pair.primary.stop(signal.SIGKILL)
        self.pair.promote()

    def bring_back(self):
        """The old primary takes changes again, and waits for nobody."""
        self.pair.old.start()
        self.pair.old.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")

    def start_refused(self, name, todos):
        words = self.words(todos)
        return run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(FOLDER, name), *words)


@test
def a_server_that_is_new_does_not_use_an_old_primary():
    with pairs.Pair() as pair:
        shop = Shop(pair)
        with shop.serve() as first:
            equal(shop.create(first, "before"), 201)
            shop.fail_over()
            expect(wait_for(lambda: shop.create(first, "after") == 201), "the new primary is not used")
            titles = shop.titles(first)
            shop.bring_back()
            with shop.serve() as new:
                equal(shop.titles(new), titles, "what a server says that is new")
            refused = shop.start_refused("new", shop.only_old())
            expect(refused.status == 12 and REFUSED in refused.out + refused.err, "it starts:", refused)


@test
def servers_tell_each_other_which_primary_was_replaced():
    """In a database that has not failed over. One server knows only the old primary."""
    with postgres.Cluster() as elsewhere, pairs.Pair() as pair:
        shop = Shop(pair, elsewhere.address("shared"))
        server.secrets.add(elsewhere.folder)
        with shop.serve() as knows, shop.serve(shop.only_old()) as narrow:
            equal(shop.create(knows, "before"), 201)
            equal(shop.titles(narrow), ["before"])
            shop.fail_over()
            expect(wait_for(lambda: shop.create(knows, "after") == 201), "the new primary is not used")
            system = pair.primary.sql("postgres", "SELECT system_identifier FROM pg_control_system()")
            expect(wait_for(lambda: elsewhere.sql("shared", "SELECT timeline FROM mishap.timelines WHERE system = '%s'" % system) == "2"), "it is not told")
            with open(os.path.join(narrow.data, "timelines"), encoding="ascii") as file:
                expect(wait_for(lambda: not file.seek(0) and "%020d 0000000002\n" % int(system) in file.read()), "it is not heard")
            shop.bring_back()
            for _ in range(5):
                equal(shop.titles(narrow), 503, "a server that knows only the old one")
            refused = shop.start_refused("told", shop.only_old())
            expect(refused.status == 12 and REFUSED in refused.out + refused.err, "it starts:", refused)


@test
def rows_that_are_no_timelines_harm_nothing():
    with postgres.Cluster() as elsewhere, pairs.Pair() as pair:
        shop = Shop(pair, elsewhere.address("shared"))
        server.secrets.add(elsewhere.folder)
        system = pair.primary.sql("postgres", "SELECT system_identifier FROM pg_control_system()")
        elsewhere.sql("shared", "INSERT INTO mishap.timelines VALUES ('', 9), ('x', 9), ('1 2', 9), ('0', 9), ('99999999999999999999', 9), ('-1', 9),"
                      " ('%s', 4294967296), ('0%s', -1), ('18446744073709551615', 4294967295)" % (system, system))
        with shop.serve() as found:
            equal(shop.create(found, "one"), 201)
            with open(os.path.join(found.data, "timelines"), encoding="ascii") as file:
                other = elsewhere.sql("postgres", "SELECT system_identifier FROM pg_control_system()")
                equal(sorted(file.read().split("\n")), sorted(["", *("%020d 0000000001" % int(one) for one in (system, other)),
                                                               "18446744073709551615 4294967295"]))


@test
def a_server_without_calls_leaves_a_primary_that_hung_and_was_replaced():
    """Its connections to the old primary are whole, and the old primary answers: only the new one knows."""
    with pairs.Pair() as pair:
        shop = Shop(pair)
        with shop.serve() as found:
            equal(shop.create(found, "before"), 201)
            pair.old.hang()
            pair.promote()
            pair.old.wake()
            pair.primary.sql("shop", "UPDATE todo.todos SET title = 'after'")
            expect(wait_for(lambda: shop.titles(found) == ["after"]), "it stays at the old primary:", shop.titles(found))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
