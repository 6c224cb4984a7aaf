"""Random programs of invokes by eight callers against the model (model.py): every answer is the model's, and at every step
the sum of all scrip is what it was and what the mint made, no balance is negative, each artifact has one owner, and what
others see of a bid does not depend on its amount: balances, offers, the mint and the events are those of the model, which
knows the amount of a bid only for its bidder.

    MISHAP_PROGRAM=… python3 tests/artifacts/model_test.py [PART-OF-A-NAME]

ARTIFACTS_PROGRAMS is how many programs are run on each engine (1), ARTIFACTS_STEPS how long they are (1,000), ARTIFACTS_SEED
where to begin (20). `make model-artifacts` runs more of them, with a new seed each time; the name of a test has its seed.
Speaks TAP.
"""
import json
import os
import random

import world  # noqa: F401
from blackbox import equal, expect, main, test, tests_of
from model import ANY, ESCROW, LEDGER, METHODS, MINT, STORE, Fail, Model
from server import FOLDER, all_ended_in_order
from world import ENGINES, World, genesis

PROGRAMS = int(os.environ.get("ARTIFACTS_PROGRAMS", "1"))
STEPS = int(os.environ.get("ARTIFACTS_STEPS", "1000"))
SEED = int(os.environ.get("ARTIFACTS_SEED", "20"))
CALLERS = ["p%d" % i for i in range(8)]
ARTIFACTS = ["a%d" % i for i in range(12)]
VOCABULARY = ["w%d" % i for i in range(40)]
GARBAGE = [True, False, "5", 2.9, 3.0, None, [], {}, "", "Bad Name", "nobody", "a\0b", -1, 0, 2**63, 10**25, 1e300, MINT, "system", "w1"]
WEIGHTS = {(LEDGER, "transfer"): 8, (STORE, "create"): 6, (ESCROW, "deposit"): 5, (ESCROW, "purchase"): 6, (MINT, "bid"): 8, (ESCROW, "cancel"): 2,
           (STORE, "delete"): 1, (LEDGER, "balance"): 6}


def text(chance):
    return " ".join(chance.choices(VOCABULARY, k=chance.randrange(40)))


def argument(chance, name):
    """One that may well make sense."""
    if chance.random() < 0.04:
        return chance.choice(GARBAGE)
    return {"amount": lambda: chance.choice([1, 5, 20, 300, 5000]), "price": lambda: chance.choice([1, 10, 100, 3000]),
            "from_id": lambda: chance.choice(CALLERS), "to_id": lambda: chance.choice(CALLERS), "agent_id": lambda: chance.choice(CALLERS),
            "buyer": lambda: chance.choice([None, None, *CALLERS]), "owner": lambda: chance.choice([*CALLERS, ESCROW]),
            "type": lambda: chance.choice(["tool", "poem"]), "content": lambda: text(chance), "code": lambda: chance.choice([None, text(chance)]),
            "query": lambda: " ".join(chance.choices(VOCABULARY, k=chance.randrange(1, 3))), "field": lambda: chance.choice([None, "content", "id", "code"]),
            "limit": lambda: chance.choice([None, 1, 100]),
            "filter": lambda: chance.choice([None, {"type": "tool"}, {"owner": chance.choice(CALLERS)}, {"color": "red"}, {"type": 5}]),
            "version": lambda: chance.choice([None, None, 1]), "artifact_id": lambda: chance.choice(ARTIFACTS), "id": lambda: chance.choice(ARTIFACTS)}[name]()


def step(chance, model):
    """A random invoke: artifact, method, args, caller, key."""
    methods = list(METHODS)
    artifact, method = chance.choices(methods, [WEIGHTS.get(one, 2) for one in methods])[0]
    caller = chance.choice(CALLERS)
    args = [argument(chance, name) for name, _, _ in METHODS[artifact, method][0]]
    if method == "transfer" and chance.random() < 0.9:
        args[0] = caller
    if artifact in (ESCROW, MINT) or method in ("update", "delete", "transfer_ownership"):  # mostly by whom it belongs to
        row = model.artifacts.get(args[0]) if args and isinstance(args[0], str) else None
        if row and chance.random() < 0.7:
            caller = model.listings[args[0]]["seller"] if args[0] in model.listings and method == "cancel" else \
                row["owner"] if row["owner"] in CALLERS and method != "purchase" else caller
    if method == "purchase" and isinstance(args[0], str) and args[0] in model.listings and chance.random() < 0.8:  # mostly what was seen
        listing = model.listings[args[0]]
        args[1:] = chance.choice([[listing["price"], None], [listing["price"], listing["version"]], [None, listing["version"]], [listing["price"] + 1, None],
                                  [listing["price"], listing["version"] - 1]])
    if method == "balance" and chance.random() < 0.3:
        args[0] = caller
    if (artifact in (ESCROW, LEDGER, STORE)) and method in ("deposit", "transfer_ownership", "delete") and model.bids and chance.random() < 0.2:
        caller = chance.choice(list(model.bids))  # gifts and sales under auction
        args[0] = model.bids[caller][0]
    if chance.random() < 0.03:
        args = args[:-1] if args and chance.random() < 0.7 else args + [1]
    key = "k%d" % chance.randrange(4) if METHODS[artifact, method][1] and chance.random() < 0.1 else None
    if chance.random() < 0.01:
        method = "nothing"
    return artifact, method, args, chance.choice([caller] * 40 + ["stranger"]), key


def plain(value):
    """Without times, which the model does not know."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if not key.endswith("_at")}
    return [plain(item) for item in value] if isinstance(value, list) else value


def compare(answer, expected, model, what):
    if expected.get("principal_id") is ANY:
        expect(answer["principal_id"] not in model.balance, "a name that is taken:", answer)
        model.balance[answer["principal_id"]] = 0
        expected["principal_id"] = answer["principal_id"]
    if expected.get("version") is ANY:
        expect(answer["version"] > max([row["version"] for row in model.listings.values() if row["version"] is not ANY], default=0), "no new version:", answer)
        expected["version"] = model.listings[answer["artifact_id"]]["version"] = answer["version"]
    if isinstance(expected.get("hits"), set):
        found = [row["id"] for row in answer["artifacts"]]
        equal((answer["hits"], answer["ranked"], len(found)), (len(expected["hits"]), True, min(len(expected["hits"]), expected["limit"])), what)
        expect(set(found) <= expected["hits"] and len(set(found)) == len(found), what, "found", found, "and not", expected["hits"])
        return
    equal(plain(answer), expected, what)


def run(engine, seed, steps):
    chance = random.Random(seed)
    model = Model(3, **{name: 1000 for name in CALLERS})
    whole = model.total()
    path = genesis(FOLDER, **model.balance)
    with World(engine, "--artifacts-genesis", path, "--artifacts-auction-bidders", "3", "--artifacts-auction-seconds", "86400") as w, w.connect() as wire:
        for number in range(steps):
            artifact, method, args, caller, key = step(chance, model)
            what = "seed %d, step %d: %s.%s %s by %s, key %s:" % (seed, number, artifact, method, json.dumps(args), caller, key)
            try:
                expected = model.invoke(artifact, method, args, caller, key)
            except Fail as failure:
                expected = failure
            status, answer = w.invoke(artifact, method, *args, by=caller, connection=wire, **({"idempotency_key": key} if key else {}))
            if isinstance(expected, Fail):
                equal((status >= 400, answer.get("code"), answer.get("category"), answer.get("retriable")),
                      (True, expected.code, expected.category, False), what + " " + str(answer))
            else:
                expect(status == 200, what, "fails:", answer)
                compare(answer, expected, model, what)
            balances = w.done(LEDGER, "all_balances", connection=wire)["balances"]
            equal(balances, model.balances(), what + " balances")
            equal(sum(balances.values()), whole + model.minted_sum, what + " the sum")
            expect(min(balances.values()) >= 0, what, "a negative balance:", balances)
            if method == "bid" and not isinstance(expected, Fail):  # another's eyes: nothing has the amount
                other = next(name for name in CALLERS if name != caller)
                equal(w.done(LEDGER, "balance", caller, by=other, connection=wire), {"success": True, "agent_id": caller, "balance": model.balance[caller]}, what)
                status = plain(w.done(MINT, "status", by=other, connection=wire))
                equal(status, {"success": True, **model.mint_status(other)}, what + " the mint")
            if method in ("create", "update") and not isinstance(expected, Fail) and expected["id"] in model.artifacts:  # an old answer may be of one that is gone
                equal(plain(w.done(STORE, "get", expected["id"], connection=wire)), {"success": True, **model.store_get(None, expected["id"])}, what)
            owners = {row["id"]: row["owner"] for row in w.done(STORE, "list", connection=wire)["artifacts"]}
            equal(owners, {name: row["owner"] for name, row in model.artifacts.items()}, what + " owners")
        events, after = [], 0
        while after is not None:
            page = w.done("genesis_event_log", "read", after, connection=wire)
            events += [[event["caller"], event["artifact"], event["method"], plain(event["result"])] for event in page["events"]]
            after = page.get("next")
        equal(sorted(events, key=json.dumps), sorted(map(list, model.events), key=json.dumps), "seed %d: the events" % seed)


@tests_of({"%s, seed %d" % (engine, SEED + number): (engine, SEED + number) for engine in ENGINES for number in range(PROGRAMS)})
def a_random_program_has_the_answers_of_the_model(engine, seed):
    run(engine, seed, STEPS)


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
