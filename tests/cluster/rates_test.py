"""`--rate` over the servers of a cluster: together they never let more requests of a caller through than one server would, whether they are all there,
one of them dies, or the database is away.

    MISHAP_PROGRAM=… python3 tests/cluster/rates_test.py [PART-OF-A-NAME]

Speaks TAP. Without PostgreSQL all is skipped.
"""
import atexit
import contextlib
import os
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("http", "store"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from server import PROGRAM, wait_for  # noqa: E402

if not postgres.folder_of_programs():
    print("1..0 # SKIP there is no PostgreSQL")
    sys.exit(0)

CLUSTER = postgres.Cluster()
atexit.register(CLUSTER.remove)
server.secrets.add(CLUSTER.folder)
RATE, SERVERS, WHOLE = 60, 3, 1000000


class Caller:
    """One caller that asks all servers as often as each of them answers."""

    def __init__(self, servers, fields):
        self.fields, self.stop, self.problems = fields, False, []
        self.seen = {found: [] for found in servers}  # of each that was let through: when it was sent, and answered
        self.refused = 0
        self.threads = [threading.Thread(target=self.ask, args=(found,)) for found in servers]
        for thread in self.threads:
            thread.start()

    def ask(self, found):
        try:
            while not self.stop:
                begun = time.monotonic()
                try:
                    answer = found.ask("GET", "/metrics", fields=self.fields, checked=False)
                except (OSError, server.Closed):
                    return  # it was killed
                if answer.status == 200:
                    self.seen[found].append((begun, time.monotonic()))
                elif answer.status == 429:
                    self.refused += 1
                    time.sleep(0.01)
                else:
                    raise RuntimeError(answer.status)
        except Exception as problem:  # the test tells it
            self.problems.append(repr(problem))

    def count(self, *servers):
        return sum(len(self.seen[found]) for found in servers or self.seen)

    def wait(self, more, *servers):
        many = self.count(*servers) + more
        expect(wait_for(lambda: self.count(*servers) >= many or self.problems), "no request is let through any more")

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join()
        equal(self.problems, [], "what callers were told")

    def check(self, what):
        """Between any two moments: what was sent and answered between them."""
        all_seen = sorted(pair for rows in self.seen.values() for pair in rows)
        begins = [begun for begun, _ in all_seen]
        for first in range(0, len(begins), 1 + len(begins) // 100):
            ends = sorted(end for _, end in all_seen[first:])
            for count, end in enumerate(ends, 1):
                allowed = RATE * (1 + end - begins[first])
                expect(count <= allowed, "%s: %d requests in %.3f s" % (what, count, end - begins[first]))
        time_used = all_seen[-1][1] - all_seen[0][0]
        print("# %s: %d of at most %d, %d refused, %.1f s" % (what, len(all_seen), RATE * (1 + time_used), self.refused, time_used))
        expect(self.refused, "no request was refused")


class Servers:
    def __init__(self, count, *flags):
        self.name = "rates%d" % int(time.monotonic_ns())
        self.address = CLUSTER.address(self.name)
        key = parsed(run_program(PROGRAM, "keys", "add", "--name", "one", "--cluster", self.address, "--output", "json").out)["data"]["key"]
        server.secrets.add(key)
        self.fields = {"X-Api-Key": key}
        self.all = [server.Server("--workers", "1", "--require-key", "--rate", str(RATE), "--cluster", self.address, *flags) for _ in range(count)]

    def parts(self):
        return sorted(int(part) for part in CLUSTER.sql(self.name, "SELECT part FROM mishap.servers").split())

    def wait_for_parts(self, *parts):
        expect(wait_for(lambda: self.parts() == sorted(parts)), "parts of the rate:", self.parts())

    def end(self):
        for found in self.all:
            found.stop()


@contextlib.contextmanager
def servers(count, *flags):
    made = Servers(count, *flags)
    try:
        yield made
    finally:
        made.end()


@test
def three_servers_never_let_more_through_than_one():
    with servers(SERVERS) as found:
        found.wait_for_parts(*[WHOLE // SERVERS] * SERVERS)
        caller = Caller(found.all, found.fields)
        try:
            caller.wait(3 * RATE)
        finally:
            caller.end()
        caller.check("all of three")
        for one in found.all:
            expect(caller.seen[one], "a server has nothing")


@test
def one_of_three_servers_leases_more_than_its_part():
    with servers(SERVERS) as found:
        found.wait_for_parts(*[WHOLE // SERVERS] * SERVERS)
        caller = Caller(found.all[:1], found.fields)
        try:
            caller.wait(4 * RATE)
        finally:
            caller.end()
        caller.check("one of three")
        expect(int(CLUSTER.sql(found.name, "SELECT count(*) FROM mishap.leases")) == 1, "nothing was leased")


@test
def without_the_database_each_server_has_its_part():
    with servers(2) as found:
        found.wait_for_parts(WHOLE // 2, WHOLE // 2)
        caller = Caller(found.all, found.fields)
        try:
            caller.wait(RATE)
            CLUSTER.stop()
            begun = time.monotonic()
            for one in found.all:
                caller.wait(RATE, one)
            away = time.monotonic() - begun
            without = [1 for rows in caller.seen.values() for sent, end in rows if sent > begun + 1]
            # Half of the rate, and what a second of it allows.
            expect(len(without) <= RATE / 2 * (1 + away), "let through without the database: %d in %.1f s" % (len(without), away))
            CLUSTER.start()
            caller.wait(2 * RATE)
        finally:
            caller.end()
            if not CLUSTER.process:
                CLUSTER.start()
        caller.check("the database was away")


@test
def the_part_of_a_server_that_died_is_divided_again():
    with servers(SERVERS, "--keys-stale-ms", "1000") as found:
        found.wait_for_parts(*[WHOLE // SERVERS] * SERVERS)
        dead = found.all.pop()
        caller = Caller([*found.all, dead], found.fields)
        try:
            caller.wait(RATE)
            for pid in [dead.process.pid, *(pid for pid, parent in server.processes() if parent == dead.process.pid)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            dead.process.wait()
            server.Server.running.remove(dead)
            equal([part for part in found.parts() if part > WHOLE // SERVERS], [], "divided at once: it may be alive")
            found.wait_for_parts(WHOLE // SERVERS, WHOLE // 2, WHOLE // 2)
            caller.wait(2 * RATE)
            # One that stops in order gives its part back at once.
            found.all[1].stop()
            server_left = found.all.pop(1)
            expect(server_left.process.poll() is not None, "it runs")
            expect(wait_for(lambda: WHOLE in found.parts()), "its part is not divided:", found.parts())
            caller.wait(RATE, found.all[0])
        finally:
            caller.end()
        caller.check("a server died")


@test
def a_part_that_became_smaller_and_was_not_stored_is_stored_later():
    """The others wait for it: what the table says is what they leave to a server."""
    with servers(2) as found:
        found.wait_for_parts(WHOLE // 2, WHOLE // 2)
        CLUSTER.sql(found.name, "UPDATE mishap.servers SET part = %d WHERE id = (SELECT min(id) FROM mishap.servers)" % WHOLE)
        found.wait_for_parts(WHOLE // 2, WHOLE // 2)


@test
def after_a_crash_of_the_database_no_part_grows_at_once():
    """Its tables are empty then, and a server that has not told its part may be alive."""
    with servers(1, "--keys-stale-ms", "1000") as found:
        found.wait_for_parts(WHOLE)
        CLUSTER.sql(found.name, "TRUNCATE mishap.servers, mishap.divided, mishap.leases")
        found.wait_for_parts(WHOLE)  # what it has, it tells again
        more = server.Server("--workers", "1", "--require-key", "--rate", str(RATE), "--cluster", found.address, "--keys-stale-ms", "1000")
        found.all.append(more)
        found.wait_for_parts(0, WHOLE // 2)
        found.wait_for_parts(WHOLE // 2, WHOLE // 2)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
