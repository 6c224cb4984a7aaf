"""kill -9 at random moments while callers transfer: of the whole server, of a loop, of a process that runs calls, and of PostgreSQL
itself. Afterwards every
acknowledged invoke is there exactly once, each other one is there once or not at all, never by half, and the sum is right.

    MISHAP_PROGRAM=… python3 tests/artifacts/kills_test.py [PART-OF-A-NAME]

ARTIFACTS_KILLS is how often (4 for each engine); `make storm-artifacts` does it 200 times. Speaks TAP.
"""
import os
import random
import signal
import threading
import time

import world
from blackbox import equal, expect, main, test, tests_of
from server import FOLDER, PATIENCE, Closed, all_ended_in_order, name_of, processes, wait_for
from world import World, family, genesis

KILLS = int(os.environ.get("ARTIFACTS_KILLS", "4"))
SEED = int(os.environ.get("ARTIFACTS_SEED", str(int(time.time()))))
CALLERS = ["c%d" % i for i in range(8)]
EACH = 10**9
LEDGER, LOG, MINT = "genesis_ledger", "genesis_event_log", "genesis_mint"


class Load:
    """Callers that transfer, each amount once by each: so an event tells which invoke it is of. Half of what had no answer is sent
    again, with its key."""

    def __init__(self):
        self.server, self.stop = None, False
        self.sent, self.answered, self.problems = {}, set(), []  # (caller, amount): to
        self.threads = [threading.Thread(target=self.run, args=(name,)) for name in CALLERS]
        for thread in self.threads:
            thread.start()

    def run(self, caller):
        try:
            self.transfer(caller)
        except Exception as problem:  # the test tells it
            self.problems.append(repr(problem))

    def transfer(self, caller):
        chance = random.Random("%s %d" % (caller, SEED))
        wire, amount, key = None, 0, None
        done = True
        while not self.stop:
            found = self.server
            if not found:
                time.sleep(0.01)
                continue
            if done:
                amount, done = amount + 1, False
                key = "%s-%d" % (caller, amount) if chance.random() < 0.5 else None
                self.sent[caller, amount] = chance.choice([name for name in CALLERS if name != caller])
            try:
                wire = wire or found.connect(patience=PATIENCE)
                status, answer = found.invoke(LEDGER, "transfer", caller, self.sent[caller, amount], amount, by=caller, connection=wire,
                                              **({"idempotency_key": key} if key else {}))
            except (OSError, Closed):
                wire, done = None, not key  # nobody knows what became of it
                time.sleep(0.005)
                continue
            done = status == 200 or not key
            if status == 200:
                self.answered.add((caller, amount))
            else:
                expect(answer["category"] == "system" or answer["code"] == "timeout", "a failure:", answer)

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join()


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


def check(found, load):
    """Everything that is in the store, held against what was sent and answered."""
    events, after = [], 0
    while after is not None:
        page = found.done(LOG, "read", after)
        events += [(event["caller"], event["result"]["to_id"], event["result"]["amount"]) for event in page["events"]]
        after = page.get("next")
    expect(not load.problems, "callers were told:", load.problems[:3])
    done = {(caller, amount): to for caller, to, amount in events}
    equal(len(done), len(events), "some were done twice")
    equal(load.answered - set(done), set(), "acknowledged and not there")
    equal({key: load.sent.get(key) for key in done}, done, "transfers that nobody sent")
    expected = dict.fromkeys(CALLERS, EACH)
    for (caller, amount), to in done.items():
        expected[caller] -= amount
        expected[to] += amount
    equal(found.balances(), {**expected, MINT: 0}, "balances that are not what the events say")


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
    expect(wait_for(lambda: found.invoke(LEDGER, "balance", CALLERS[0])[0] == 200), "the server does not go on")


@tests_of({"SQLite": ("SQLite", False), "PostgreSQL": ("PostgreSQL", False), "PostgreSQL, which is killed itself": ("PostgreSQL", True)})
def what_was_acknowledged_is_there_once_after_every_kill(engine, itself):
    chance = random.Random(SEED)
    data = os.path.join(FOLDER, "kills-%s-%d" % (engine, itself))
    path = genesis(FOLDER, **dict.fromkeys(CALLERS, EACH))
    address = world.address_of(engine)

    def start():
        return World(engine, "--artifacts-genesis", path, address=address, data=data)

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
    print("# %s: %d kills, %d sent, %d acknowledged, seed %d" % (engine, KILLS, len(load.sent), len(load.answered), SEED))
    found.kill()


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
