"""Callers that transfer and look while PostgreSQL fails, what they have seen, and what must hold of it."""
import contextlib
import itertools
import json
import os
import random
import threading
import time

import world  # noqa: F401  which knows where the others are
import linear
from blackbox import equal, expect
from linear import Operation
from pace import Pace
from server import FOLDER, PATIENCE, Closed, wait_for
from world import World, genesis

SEED = int(os.environ.get("ARTIFACTS_SEED", str(int(time.time()))))
ACCOUNTS = ["p%d" % number for number in range(8)]
HANDLERS = 4
RICH = 10**9
LEDGER = "genesis_ledger"


def start(address, *flags, **more):
    path = genesis(FOLDER, **dict.fromkeys(ACCOUNTS, RICH))
    return World("PostgreSQL", "--artifacts-genesis", path, "--caller-share", "100", "--handlers", str(HANDLERS), *flags, address=address, **more)


class Load:
    """Callers that transfer and look, each at its own pace. What each has seen is recorded."""

    def __init__(self, found):
        self.found, self.stop, self.history, self.problems = found, False, [], []
        self.statuses = {}
        self.pace, self.worked = Pace(), []  # … when transfers have worked
        self.start = {"balances": found.balances(), "owners": {}}
        self.amounts = itertools.count(1)
        self.threads = [threading.Thread(target=self.run, args=(name,)) for name in ACCOUNTS[:6]]
        for thread in self.threads:
            thread.start()

    def run(self, caller):
        chance, wire = random.Random("%s %d" % (caller, SEED)), None
        try:
            while not self.stop:
                wire = wire or self.found.connect(patience=PATIENCE)
                other = chance.choice([name for name in ACCOUNTS if name != caller])
                if chance.random() < 0.6:
                    words, key = ("transfer", [caller, other, next(self.amounts)]), "%s-%d" % (caller, next(self.amounts))
                else:
                    words, key = ("balance", [other]), None
                if not self.invoke(wire, caller, *words, key):
                    wire = None
                time.sleep(0.005)
        except Exception as problem:  # the test tells it
            self.problems.append(repr(problem))

    def invoke(self, wire, caller, method, args, key):
        begun = time.monotonic_ns()
        try:
            status, answer = self.found.invoke(LEDGER, method, *args, by=caller, connection=wire, **({"idempotency_key": key} if key else {}))
        except (OSError, Closed):
            status, answer = None, None
        ended = time.monotonic_ns()
        self.statuses.setdefault((method, status), []).append((begun, ended, answer))
        if (method, status) == ("transfer", 200):
            self.worked.append(self.pace.now())
        if status == 503:
            expect(answer["code"] == "unavailable", "503 is", answer)
        elif method == "transfer" or status == 200:
            self.history.append(Operation(begun, ended, caller, method, args, answer if status == 200 else None, key))
        return status is not None

    def count(self, method="transfer", status=200):
        return len(self.statuses.get((method, status), ()))

    def wait(self, more=20, method="transfer", status=200):
        many = self.count(method, status) + more
        expect(wait_for(lambda: self.count(method, status) >= many or self.problems), "seed %d: no %s with %s any more:" % (SEED, method, status),
               {key: len(rows) for key, rows in self.statuses.items()})

    def end(self):
        self.stop = self.pace.stop = True
        for thread in self.threads:
            thread.join()
        expect(not self.problems, "seed %d: callers were told:" % SEED, self.problems[:3])

    def expect_within(self, seconds, since, what):
        """The longest time without a transfer that worked, from then on. The event itself has come, or the test would have ended before."""
        ends = [since, *sorted((end for end in self.worked if end[1] > since[1]), key=lambda end: end[1])]
        before, after = max(zip(ends, ends[1:]), key=lambda pair: pair[1][1] - pair[0][1])
        self.pace.expect_within(seconds, before, after, "seed %d: %s: no transfer works" % (SEED, what))

    def gap(self):
        """The longest time without a transfer that worked, in seconds."""
        ends = sorted(end for _, end, _ in self.statuses[("transfer", 200)])
        return max((after - before for before, after in zip(ends, ends[1:])), default=0) / 1e9

    def check(self, what):
        """What is in the store, held against what was seen; and the whole history."""
        events, after = [], 0
        while after is not None:
            page = read(self.found, "genesis_event_log", "read", after)
            events += [(event["caller"], event["result"]["amount"]) for event in page["events"] if event["method"] == "transfer"]
            after = page.get("next")
        equal(len(events), len(set(events)), "seed %d: transfers that were done, some twice" % SEED)
        acknowledged = {(op.caller, op.args[2]) for op in self.history if op.method == "transfer" and op.answer}
        equal(acknowledged - set(events), set(), "seed %d: acknowledged and lost" % SEED)
        now = time.monotonic_ns()
        self.history.append(Operation(now, now + 1, ACCOUNTS[0], "all_balances", [], read(self.found, LEDGER, "all_balances")))
        verdict = linear.check(self.start, self.history)
        lost = sum(op.answer is None for op in self.history)
        print("# %s: %d acknowledged, %d of unknown outcome, gap %.1f s, %d steps, seed %d; %s" % (
            what, len(acknowledged), lost, self.gap(), verdict.steps, SEED,
            {"%s %s" % key: len(rows) for key, rows in sorted(self.statuses.items(), key=repr)}))
        if verdict.holds is False:
            print("".join("# %s\n" % json.dumps(op.row()) for op in self.history[-400:]), end="")
        expect(verdict.holds is not False, "seed %d: not linearizable:" % SEED, repr(verdict))


def read(found, *words):
    """The answer to a call that only reads, as soon as there is one."""
    answers = []

    def answered():
        with contextlib.suppress(OSError, Closed):
            answers.append(found.invoke(*words))
        return answers and answers[-1][0] == 200
    expect(wait_for(answered), "nothing is answered:", answers[-1:])
    return answers[-1][1]
