"""The server and two machines of PostgreSQL in namespaces of their own, joined by a network that delays and loses packets, and that is cut: in both
directions, or in one. No acknowledged transfer may be lost or done twice, and what the callers have seen must be linearizable. A server of a cluster that is cut
off accepts no key for longer than `--keys-stale-ms`.

    MISHAP_PROGRAM=… python3 tests/artifacts/network_test.py [PART-OF-A-NAME]

Speaks TAP. It needs root, and is skipped without (tests/support/network.py).
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import network  # noqa: E402

INSIDE = network.enter()  # before anything is made that has to be removed

import itertools  # noqa: E402
import select  # noqa: E402
import socket  # noqa: E402
import subprocess  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

from failover import ACCOUNTS, Load, start  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from server import PATIENCE, PROGRAM, all_ended_in_order, secrets, wait_for  # noqa: E402

import pair as pairs  # noqa: E402
import postgres  # noqa: E402


def new_network():
    if not INSIDE:
        raise Skipped("a network needs root, /dev/net/tun, ip, unshare and nsenter")
    return network.Network()


# ---- The network itself ---------------------------------------------------------------------------

ECHO = """
import socket
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind(('0.0.0.0', 7777))
print('ready', flush=True)
while True:
    data, who = echo.recvfrom(100)
    print(data.decode(), flush=True)
    echo.sendto(data, who)
"""


@test
def packets_are_delayed_lost_and_cut_in_one_direction():
    with new_network() as net:
        far = net.host("far")
        echo = subprocess.Popen(far.command([sys.executable, "-c", ECHO]), stdout=subprocess.PIPE, text=True)
        equal(echo.stdout.readline(), "ready\n")
        wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        wire.connect((far.address, 7777))

        def ask(word):
            """Seconds until it is back."""
            begun = time.monotonic()
            wire.send(word.encode())
            expect(select.select([wire], [], [], PATIENCE)[0], "no echo of", word)
            equal(wire.recv(100).decode(), word)
            return time.monotonic() - begun
        ask("plain")
        equal(echo.stdout.readline(), "plain\n")
        net.delay("here", "far", 60)
        expect(ask("late") >= 0.12, "not delayed")
        equal(echo.stdout.readline(), "late\n")
        net.heal()
        net.cut("far", "here")  # it hears, and is not heard
        wire.send(b"heard")
        equal(echo.stdout.readline(), "heard\n")
        expect(wait_for(lambda: net.lost == 1), "the echo is not lost")
        net.heal()
        ask("again")  # what was lost does not come later
        equal(echo.stdout.readline(), "again\n")
        net.cut("here", "far")
        wire.send(b"unheard")
        expect(wait_for(lambda: net.lost == 2), "the packet is not lost")
        net.heal()
        ask("after")
        equal(echo.stdout.readline(), "after\n")
        wire.close()
        echo.kill()
        echo.wait()


# ---- PostgreSQL behind it -------------------------------------------------------------------------


class Placed:
    """The programs of a cluster run on a host of the network."""

    def as_user(self, *words):
        return self.host.command(super().as_user(*words))


class Inside(Placed, postgres.Cluster):
    def __init__(self, host, **settings):
        self.host = host
        super().__init__(listen_addresses=host.address, **settings)


class InsideStandby(Placed, pairs.Standby):
    def __init__(self, host, of, **settings):
        self.host = host
        super().__init__(of, listen_addresses=host.address, **settings)

    def where_it_follows(self):
        return self.of.host.address


class Far(pairs.Pair):
    """A primary and its synchronous standby on two hosts."""

    def __init__(self, net):
        self.first, self.second = net.host("first"), net.host("second")
        super().__init__()

    def make_primary(self, **settings):
        return Inside(self.first, **settings)

    def make_standby(self, **settings):
        return InsideStandby(self.second, self.primary, **settings)

    @staticmethod
    def host(*clusters):
        return ",".join(one.host.address for one in clusters)


@test
def far_away_and_with_lost_packets_nothing_is_lost():
    with new_network() as net, Far(net) as pair:
        for other in ("first", "second"):
            net.delay("here", other, 2)
            net.lose("here", other, 0.01)
        net.delay("first", "second", 1)
        found = start(pair.address())
        load = Load(found)
        try:
            load.wait(40)
        finally:
            load.end()
        load.check("2 ms away, one packet of 100 is lost")
        found.kill()


WAYS = {"in both directions": (("here", "first"), ("first", "here")), "towards the database": (("here", "first"),),
        "towards the server": (("first", "here"),)}


@tests_of(WAYS)
def a_server_that_is_cut_off_from_its_database_acknowledges_nothing_and_continues(*ways):
    with new_network() as net, Far(net) as pair:
        found = start(pair.address(None, pair.primary))
        load = Load(found)
        try:
            load.wait()
            for way in ways:
                net.cut(*way)
            expect(wait_for(lambda: load.count(status=503) + load.count(status=504) >= 4 or load.problems), "no call is refused:", load.statuses.keys())
            net.heal()
            load.wait()
        finally:
            load.end()
        for _, _, answer in load.statuses.get(("transfer", 504), ()):
            equal(answer.get("details", {}).get("outcome"), "unknown", "the outcome of a 504")
        load.check("cut off")
        found.kill()


# ---- Keys of a cluster beside it ------------------------------------------------------------------

STALE_SECONDS, DEFAULT_SECONDS = 4, 60  # of --keys-stale-ms


def keys_of(cluster, command, name):
    """By the socket of PostgreSQL, which no cut of the network reaches."""
    done = run_program(PROGRAM, "keys", command, "--name", name, "--cluster", cluster.address("shop"), "--output", "json")
    equal(done.status, 0, "exit of `keys %s`, which said %r" % (command, done.out + done.err))
    return parsed(done.out)["data"]


def new_key(cluster, name):
    key = keys_of(cluster, "add", name)["key"]
    secrets.add(key)
    return {"X-Api-Key": key}


class Asker:
    """It asks with a key, again and again, for something that needs no store, and records when it asked and the status."""

    def __init__(self, found, fields, pace):
        self.found, self.fields, self.pace = found, fields, pace
        self.seen, self.stop, self.problem = [], False, None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.stop:
                asked = self.pace.now()
                self.seen.append((asked, self.found.ask("GET", "/metrics", fields=self.fields, checked=False).status))
                time.sleep(0.02)
        except Exception as problem:  # the test tells it
            self.problem = repr(problem)

    def wait(self, status):
        expect(wait_for(lambda: self.problem or self.seen and self.seen[-1][1] == status), "the key is never", status)
        equal(self.problem, None, "the problem of the caller with the key")

    def end(self):
        self.stop = True
        self.thread.join()

    def statuses(self):
        return [status for status, _ in itertools.groupby(status for _, status in self.seen)]


@tests_of(WAYS)
def a_key_that_is_removed_while_a_server_is_cut_off_is_not_accepted_for_longer_than_keys_may_be_old(*ways):
    with new_network() as net, Inside(net.host("first")) as cluster:
        removed, keys = new_key(cluster, "removed"), {name: new_key(cluster, name) for name in ACCOUNTS}
        address = "postgresql://role@%s/shop" % cluster.host.address
        found = start(address, "--cluster", address, "--require-key", "--keys-stale-ms", str(STALE_SECONDS * 1000))
        found.keys = {**keys, None: keys[ACCOUNTS[0]]}
        load = Load(found)
        asker = None
        try:
            load.wait()
            equal(found.ask("GET", "/metrics", fields=removed, checked=False).status, 200, "the key")
            for way in ways:
                net.cut(*way)
            begun = load.pace.now()
            keys_of(cluster, "remove", "removed")
            asker = Asker(found, removed, load.pace)
            asker.wait(503)
            refused = load.count(status=503)
            expect(wait_for(lambda: load.count(status=503) > refused or load.problems), "the other keys are accepted for ever")
            net.heal()
            asker.wait(401)
            load.wait()
        finally:
            if asker:
                asker.end()
            load.end()
        equal(asker.statuses(), [200, 503, 401], "the statuses of the key that was removed, one after the other")
        last = [asked for asked, status in asker.seen if status == 200][-1]
        load.pace.expect_within(STALE_SECONDS + 2, begun, last, "a key is accepted after the cut")
        expect(last[1] - begun[1] < DEFAULT_SECONDS / 2, "a key is accepted as if nothing was said about its age")  # also on a busy machine
        load.check("cut off, with keys")
        found.kill()


# ---- A machine that is gone -----------------------------------------------------------------------


@test
def the_machine_of_the_primary_is_gone_and_comes_back_replaced():
    """It is not told that it was replaced, and would take changes again if it could be reached."""
    with new_network() as net, Far(net) as pair:
        found = start(pair.address())
        load = Load(found)
        try:
            load.wait()
            net.part("here", "first")
            net.part("second", "first")
            begun = load.pace.now()
            pair.promote()
            load.wait()
            net.heal()
            load.wait()
        finally:
            load.end()
        load.expect_within(30, begun, "the machine is gone")
        load.check("the machine is gone")
        found.kill()


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
