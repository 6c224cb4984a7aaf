"""A disk that is full while callers transfer: a clear failure, nothing lost, and the service goes on when there is room again.

    MISHAP_PROGRAM=… python3 tests/artifacts/full_test.py [PART-OF-A-NAME]

The disk is a small tmpfs in a mount namespace of this test, which ends with it. Where no such thing can be made, which needs root, the
tests are skipped. ARTIFACTS_FILLS is how often it is filled (2). Speaks TAP.
"""
import contextlib
import os
import subprocess
import sys
import time

if os.geteuid() == 0 and not os.environ.get("ARTIFACTS_NAMESPACE") and subprocess.run(
        ["unshare", "-m", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
    os.execvpe("unshare", ["unshare", "-m", sys.executable, *sys.argv], dict(os.environ, ARTIFACTS_NAMESPACE="1"))

import world  # noqa: E402
import postgres  # noqa: E402
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from load import CALLERS, EACH, LEDGER, Load, check  # noqa: E402
from server import FOLDER, PATIENCE, all_ended_in_order, wait_for  # noqa: E402
from world import World, genesis  # noqa: E402

FILLS = int(os.environ.get("ARTIFACTS_FILLS", "2"))
STORE = "genesis_store"


class Disk:
    """A small disk."""

    def __init__(self, name, megabytes):
        self.path = os.path.join(FOLDER, name)
        self.ballast = os.path.join(self.path, "ballast")
        os.mkdir(self.path)
        if not os.environ.get("ARTIFACTS_NAMESPACE"):
            raise Skipped("a disk of our own needs root and a mount namespace")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm,mode=755" % megabytes, "tmpfs", self.path], check=False,
                              stderr=subprocess.PIPE)
        if done.returncode:
            raise Skipped("no disk can be mounted here: %s" % done.stderr.decode().strip())

    def fill(self):
        """To the last byte."""
        with open(self.ballast, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)

    def empty(self):
        os.unlink(self.ballast)


def on(disk, engine):
    """The flags and the data folder of a server whose store is on the disk."""
    if engine == "SQLite":
        return {"data": os.path.join(disk.path, "data")}
    world.address_of(engine)
    folder = os.path.join(disk.path, "tables")
    os.mkdir(folder)
    if world.cluster.user:
        os.chown(folder, world.cluster.user.pw_uid, world.cluster.user.pw_gid)
        os.chmod(FOLDER, 0o755)
    world.cluster.sql("postgres", "CREATE TABLESPACE small LOCATION '%s'" % folder)
    world.cluster.sql("postgres", "CREATE DATABASE full_disk TABLESPACE small")
    return {"address": world.cluster.address("full_disk")}


def create_until_full(found, names):
    """Artifacts until there is no room for one: the failure, and how many were made."""
    made, deadline = 0, time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        # Random digits: PostgreSQL compresses what repeats itself.
        status, answer = found.invoke(STORE, "create", next(names), "tool", os.urandom(30000).hex(), by=CALLERS[0])
        if status != 200:
            return answer, made
        made += 1
    raise AssertionError("the disk is never full")


@tests_of(world.ENGINES)
def a_full_disk_is_a_clear_failure_and_loses_nothing(engine):
    disk = Disk("disk-" + engine, 24)
    where = on(disk, engine)
    names = ("big-%d" % number for number in range(10**6))
    with World(engine, "--genesis", genesis(FOLDER, **dict.fromkeys(CALLERS, EACH)), **where) as found:
        load, made = Load(), 0
        load.server = found
        try:
            for _ in range(FILLS):
                before = len(load.answered)
                expect(wait_for(lambda before=before: len(load.answered) > before + 10), "nothing is answered")
                disk.fill()
                told, more = create_until_full(found, names)
                made += more
                equal((told["code"], told["category"], told["retriable"]), ("insufficient_storage", "system", False), "the failure: %s" % told)
                load.server = None  # else a call that only reads is committed with others, and fails with them
                expect(wait_for(lambda: found.invoke(LEDGER, "balance", CALLERS[0])[0] == 200), "what only reads does not work")
                load.server = found
                disk.empty()
                equal(wait_for(lambda: found.invoke(STORE, "create", next(names), "tool", "small", by=CALLERS[0])[0] == 200), True,
                      "whether it goes on")
                made += 1
        finally:
            load.end()
        check(found, load)
        equal(found.done(STORE, "count")["count"], made, "the artifacts")
        print("# %s: full %d times, %d sent, %d acknowledged, %d refused" % (engine, FILLS, len(load.sent), len(load.answered), len(load.refused)))


@test
def postgresql_without_room_for_its_log_loses_nothing():
    """It then ends what it does and recovers, or has to be started again. The server goes on in both cases."""
    if not postgres.folder_of_programs():
        raise Skipped("there is no PostgreSQL")
    disk = Disk("disk-of-the-log", 8)
    log = os.path.join(disk.path, "log")
    os.mkdir(log)
    if postgres.user():
        os.chown(log, postgres.user().pw_uid, postgres.user().pw_gid)
        os.chmod(FOLDER, 0o755)
    names = ("big-%d" % number for number in range(10**6))
    path = genesis(FOLDER, **dict.fromkeys(CALLERS, EACH))
    with postgres.Cluster(log, min_wal_size="2MB", max_wal_size="64MB") as cluster, World("PostgreSQL", "--genesis", path, address=cluster.address()) as found:
        load = Load()
        load.server = found
        try:
            expect(wait_for(lambda: len(load.answered) > 10), "nothing is answered")
            disk.fill()
            told, made = create_until_full(found, names)
            expect(told["category"] == "system" or told["code"] == "timeout", "the failure:", told)
            with open(os.path.join(cluster.folder, "log"), encoding="utf-8", errors="replace") as file:
                expect("No space left on device" in file.read(), "the disk was not full")
            disk.empty()
            if not wait_for(lambda: cluster.process.poll() is not None or found.invoke(LEDGER, "balance", CALLERS[0])[0] == 200) or cluster.process.poll() is not None:
                cluster.stop()
                cluster.start()
            before = len(load.answered)
            expect(wait_for(lambda: len(load.answered) > before + 10), "the server does not go on")
        finally:
            load.end()
        check(found, load)
        expect(made <= found.done(STORE, "count")["count"] <= made + 1, "artifacts are missing")
        print("# PostgreSQL: %d sent, %d acknowledged, %d refused; it was told: %s" % (len(load.sent), len(load.answered), len(load.refused), told["code"]))


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
