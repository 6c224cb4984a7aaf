"""Faults at random under load: two servers of a cluster, a primary with a synchronous standby, and in each round one of them is killed, hangs or is cut
off. No acknowledged transfer may be lost or done twice, what callers have seen must be linearizable, and each change must be told to a subscriber at the
other server.

    MISHAP_PROGRAM=… python3 tests/artifacts/faults_test.py

ARTIFACTS_FAULTS is how many there are (5), ARTIFACTS_SEED which; `make faults-artifacts` runs 100. It prints the seed first, and at last the faults and how many
transfers and notices there were. Speaks TAP. It is skipped where there is no PostgreSQL.
"""
import contextlib
import os
import random
import signal
import threading
import time

from failover import ACCOUNTS, SEED, Load, read, start
from blackbox import Skipped, equal, expect, main, test
from exchange import Session, message
from server import PATIENCE, Closed, all_ended_in_order, name_of, wait_for
from world import family

import pair as pairs

FAULTS = int(os.environ.get("ARTIFACTS_FAULTS", "5"))
SOON = 0.5  # seconds that something hangs, or more
FIELDS = {"X-Caller": "reader"}


class Subscriber:
    """It hears when todos change at the other server."""

    def __init__(self, found):
        session = Session(found, fields=FIELDS)
        equal(session.post(message("resources/subscribe", {"uri": "todo://todos"})).json["result"], {}, "subscribe")
        self.stream, self.heard, self.problem = session.exchange("GET", Accept="text/event-stream"), [], None
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        try:
            while True:
                event = self.stream.event()  # without data: a position only
                if event.data and event.json["method"] == "notifications/resources/updated":
                    self.heard.append(time.monotonic())
        except Exception as problem:  # the test tells it, unless it has ended the server
            self.problem = repr(problem)

    def expect_since(self, begun):
        expect(wait_for(lambda: self.problem or (self.heard and self.heard[-1] > begun)), "a change is not told")
        equal(self.problem, None, "the stream")


def create_todo(found):
    """When the one that was acknowledged was sent: the notice of it comes after that."""
    begun = []

    def created():
        begun.append(time.monotonic())
        with contextlib.suppress(OSError, Closed):
            return found.ask("POST", "/todos", {"title": "one"}, fields=FIELDS, checked=False).status == 201
        return False
    expect(wait_for(created), "no todo is created any more")
    return begun[-1]


class Faults:
    def __init__(self, pair, servers):
        self.pair, self.servers, self.chance = pair, servers, random.Random(SEED)

    def kill_primary(self):
        self.pair.primary.stop(signal.SIGKILL)
        self.pair.promote()
        self.pair.rejoin()

    def hang_primary(self):
        self.pair.primary.hang()
        self.pair.promote()
        self.pair.rejoin()

    def bring_primary_back(self):
        """It takes changes for a while, as if nothing had happened."""
        old = self.pair.primary
        old.hang()
        self.pair.promote()
        old.wake()
        time.sleep(self.chance.random() * SOON)
        self.pair.rejoin()

    def hang_primary_shortly(self):
        self.pair.primary.hang()
        time.sleep(self.chance.random() * SOON)
        self.pair.primary.wake()

    def hang_standby(self):
        self.pair.standby.hang()
        time.sleep(self.chance.random() * SOON)
        self.pair.standby.wake()

    def kill_standby(self):
        self.pair.standby.stop(signal.SIGKILL)
        time.sleep(self.chance.random() * SOON)
        self.pair.standby.start()

    def cut_connections(self):
        self.pair.primary.sql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                              " AND pid <> pg_backend_pid()")

    def kill_a_process(self):
        """Of the server that has the load; not of the one that has the subscriber, whose stream would end."""
        pids = sorted(family(self.servers[0]) - {self.servers[0].process.pid})
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.chance.choice(pids), signal.SIGKILL)

    def kill_what_carries_notices(self):
        for pid in family(self.chance.choice(self.servers)):
            if name_of(pid) == "mishap-cluster":
                os.kill(pid, signal.SIGKILL)

    def choose(self):
        return self.chance.choice([self.kill_primary, self.hang_primary, self.bring_primary_back, self.hang_primary_shortly, self.hang_standby,
                                   self.kill_standby, self.cut_connections, self.kill_a_process, self.kill_what_carries_notices])


@test
def faults_at_random_lose_nothing_that_was_acknowledged_and_no_notice():
    if not pairs.is_possible():
        raise Skipped("there is no PostgreSQL")
    with pairs.Pair() as pair:
        address = pair.address("shop")
        flags = ("--cluster", address, "--todo-store", address)
        first, second = start(address, *flags), start(address, *flags)
        expect(wait_for(lambda: pair.primary.sql("shop", "SELECT count(*) FROM mishap.servers WHERE seen > begun + interval '2 seconds'") == "2"),
               "the servers do not know each other")
        subscriber, load = Subscriber(second), Load(first)
        faults, done, told = Faults(pair, [first, second]), [], 0
        print("# seed %d: %d faults" % (SEED, FAULTS), flush=True)
        try:
            for _ in range(FAULTS):
                load.wait(5)
                fault = faults.choose()
                done.append(fault.__name__)
                fault()
                load.wait(5)
                subscriber.expect_since(create_todo(first))
                told += 1
        finally:
            load.end()
            print("# seed %d: %d faults, %d changes were told: %s" % (SEED, len(done), told, ", ".join(done)))
        load.check("%d faults" % len(done))
        equal(set(read(second, "genesis_ledger", "all_balances")["balances"]), set(read(first, "genesis_ledger", "all_balances")["balances"]), "accounts")
        expect(set(ACCOUNTS) <= set(read(second, "genesis_ledger", "all_balances")["balances"]), "accounts are missing")
        for found in (first, second):
            found.kill()
        subscriber.thread.join(PATIENCE)


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
