"""Callers that transfer while something is killed, full or gone, and what must hold of the store afterwards: every acknowledged invoke
is there exactly once, each other one is there once or not at all, never by half, and the sum is right."""
import os
import random
import threading
import time

from blackbox import equal, expect
from server import PATIENCE, Closed, wait_for

SEED = int(os.environ.get("ARTIFACTS_SEED", str(int(time.time()))))
CALLERS = ["c%d" % i for i in range(8)]
EACH = 10**9
LEDGER, LOG, MINT = "genesis_ledger", "genesis_event_log", "genesis_mint"


class Load:
    """Callers that transfer, each amount once by each: so an event tells which invoke it is of. Half of what had no answer is sent
    again, with its key."""

    def __init__(self):
        self.server, self.stop = None, False
        self.sent, self.answered, self.refused, self.problems = {}, set(), set(), []  # (caller, amount): to
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
                wire, done = None, not key  # its outcome is not known
                time.sleep(0.005)
                continue
            done = status == 200 or not key
            if status == 200:
                self.answered.add((caller, amount))
            else:
                expect(answer["category"] == "system" or answer["code"] == "timeout", "a failure:", answer)
                # Of these the catalog says that nothing has happened. What has a key is sent again.
                if not key and answer["code"] in ("unavailable", "insufficient_storage"):
                    self.refused.add((caller, amount))

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join()


def read(found, *words):
    """The answer to a call that only reads, from a server that may still be about to replace what was killed."""
    answers = []

    def answered():
        try:
            answers.append(found.invoke(*words))
        except (OSError, Closed):
            return False
        return answers[-1][0] == 200
    expect(wait_for(answered), "the server does not go on:", answers[-1:])
    return answers[-1][1]


def check(found, load):
    """Everything that is in the store, held against what was sent and answered."""
    events, after = [], 0
    while after is not None:
        page = read(found, LOG, "read", after)
        events += [(event["caller"], event["result"]["to_id"], event["result"]["amount"]) for event in page["events"] if event["method"] == "transfer"]
        after = page.get("next")
    expect(not load.problems, "callers were told:", load.problems[:3])
    done = {(caller, amount): to for caller, to, amount in events}
    equal(len(done), len(events), "some were done twice")
    equal(load.answered - set(done), set(), "acknowledged and not there")
    equal(load.refused & set(done), set(), "refused and there")
    equal({key: load.sent.get(key) for key in done}, done, "transfers that nobody sent")
    expected = dict.fromkeys(CALLERS, EACH)
    for (caller, amount), to in done.items():
        expected[caller] -= amount
        expected[to] += amount
    equal(read(found, LEDGER, "all_balances")["balances"], {**expected, MINT: 0}, "balances that are not what the events say")
