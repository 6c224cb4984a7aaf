"""kill -9 at random moments while callers transfer: of the whole server, of a loop, of a process that runs calls, and of PostgreSQL
itself, all of its processes. Afterwards every acknowledged invoke is there exactly once, each other one is there once or not at all,
never by half, and the sum is right (load.py).

    MISHAP_PROGRAM=… python3 tests/artifacts/kills_test.py [PART-OF-A-NAME]

ARTIFACTS_KILLS is how often (4 for each engine); `make storm-artifacts` does it 200 times. Speaks TAP.
"""
import os
import random
import signal
import time

import world
from blackbox import expect, main, test, tests_of
from load import CALLERS, EACH, LEDGER, SEED, Load, check, read
from server import FOLDER, PATIENCE, all_ended_in_order, name_of, processes
from world import World, family, genesis

KILLS = int(os.environ.get("ARTIFACTS_KILLS", "4"))


def settlers(found):
    """The processes that run handlers."""
    keepers = {pid for pid, parent in processes() if parent == found.process.pid and name_of(pid) == "mishap-keeper"}
    return [pid for pid, parent in processes() if parent in keepers]


def kill_some(found, chance):
    """What to kill: True if the server has to be started again."""
    how = chance.choice(["all", "all", "handler", "loop"])
    pids = {"all": lambda: family(found), "handler": lambda: settlers(found)[:1], "loop": lambda: found.workers()[:1]}[how]()
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return how == "all"


def kill_postgres(found):
    """… and start it again, which works when its last child has ended. The server goes on by itself."""
    world.cluster.stop(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            world.cluster.start()
            break
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    read(found, LEDGER, "balance", CALLERS[0])


@tests_of({"SQLite": ("SQLite", False), "PostgreSQL": ("PostgreSQL", False), "PostgreSQL, which is killed itself": ("PostgreSQL", True)})
def what_was_acknowledged_is_there_once_after_every_kill(engine, itself):
    chance = random.Random(SEED)
    data = os.path.join(FOLDER, "kills-%s-%d" % (engine, itself))
    path = genesis(FOLDER, **dict.fromkeys(CALLERS, EACH))
    address = world.address_of(engine)

    def start():
        return World(engine, "--genesis", path, address=address, data=data)

    found, load = start(), Load()
    load.server = found
    try:
        for _ in range(KILLS):
            before = len(load.answered)
            deadline = time.monotonic() + PATIENCE
            while len(load.answered) < before + 10 and time.monotonic() < deadline:
                time.sleep(0.005)
            expect(len(load.answered) >= before + 10, "seed %d: nothing is answered any more" % SEED)
            time.sleep(chance.random() * 0.05)
            if itself:
                kill_postgres(found)
            elif kill_some(found, chance):
                load.server = None
                found.kill()
                found = load.server = start()
    finally:
        load.end()
    check(found, load)
    print("# %s: %d kills, %d sent, %d acknowledged, %d refused, seed %d"
          % (engine, KILLS, len(load.sent), len(load.answered), len(load.refused), SEED))
    found.kill()


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
