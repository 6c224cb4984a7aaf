"""The economy of the artifacts: bids that no other caller sees, artifacts that stay while they are bid with, purchases that name what was
seen, and what is kept and for how much.

    MISHAP_PROGRAM=… python3 tests/artifacts/economy_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import json
import os
import re
import sqlite3
import threading

import world
from world import ENGINES, World, address_of, command, folder_of, genesis, postgres  # before the others: it says where they are
import talk
from blackbox import Skipped, equal, expect, main, parsed, test, tests_of
from server import FOLDER, PATIENCE, PROGRAM, all_ended_in_order, wait_for

LEDGER, MINT, ESCROW, STORE, LOG = ("genesis_" + name for name in ("ledger", "mint", "escrow", "store", "event_log"))


def plain(value):
    """Without times."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key != "at" and not key.endswith("_at")}
    return [plain(item) for item in value] if isinstance(value, list) else value


# ---- Bids ------------------------------------------------------------------------------------------


def transcript(engine, first, second):
    """All that bob and a caller without a name are told while alice bids these amounts, and what alice has held in the end."""
    seen = []
    with World(engine, "--artifacts-genesis", genesis(FOLDER, alice=500, bob=500), "--artifacts-auction-seconds", "86400") as w:
        def look():
            for by in ("bob", None):
                for words in ((LEDGER, "balance", "alice"), (LEDGER, "balance", MINT), (LEDGER, "all_balances"), (MINT, "status"), (MINT, "check", "a1"),
                              (MINT, "check", "a2"), (ESCROW, "list_active"), (STORE, "get", "a1"), (STORE, "list"), (STORE, "search", "words"),
                              (LOG, "read")):
                    seen.append(plain(w.invoke(*words, by=by)[1]))
            seen.append(plain(w.ask("GET", "/artifacts/events?limit=100").json))
            seen.append(parsed(command(w.data, "invoke", LEDGER, "all_balances").out)["data"] if engine == "SQLite" else None)
            seen.append(w.invoke(LEDGER, "transfer", "alice", "bob", 1000, by="bob")[1])
            seen.append(w.invoke(LEDGER, "transfer", "bob", "alice", 1, by="bob")[1])
        for name, owner in (("a1", "alice"), ("a2", "alice"), ("b1", "bob")):
            w.done(STORE, "create", name, "tool", "some words", by=owner)
        w.done(ESCROW, "deposit", "b1", 30, by="bob")
        look()
        w.done(MINT, "bid", "a1", first, by="alice", idempotency_key="k1")
        look()
        w.done(LEDGER, "transfer", "alice", "bob", 5, by="alice")
        w.done(ESCROW, "purchase", "b1", by="alice")
        look()
        w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 100000, by="alice")
        w.done(MINT, "bid", "a2", second, by="alice")
        look()
        seen.append(w.invoke(LEDGER, "spawn_principal", by="bob", idempotency_key="k1")[0])
        mine = w.done(LEDGER, "balance", "alice", by="alice")
        return seen, mine["held"]


@tests_of(ENGINES)
def what_others_are_told_does_not_depend_on_a_bid(engine):
    (low, mine), (high, more) = transcript(engine, 7, 11), transcript(engine, 61, 307)
    for number, (one, other) in enumerate(zip(low, high)):
        equal(one, other, "what was told, number %d" % number)
    equal((len(low), mine, more), (len(high), 11, 307), "what the bidder itself is told")


@tests_of(ENGINES)
def what_is_held_cannot_be_spent(engine):
    with World(engine, "--artifacts-auction-seconds", "86400") as w:
        w.done(STORE, "create", "a1", "tool", "x", by="alice")
        w.done(STORE, "create", "b1", "tool", "x", by="bob")
        w.done(ESCROW, "deposit", "b1", 50, by="bob")
        w.done(MINT, "bid", "a1", 60, by="alice")
        equal(w.done(LEDGER, "balance", "alice", by="alice"), {"success": True, "agent_id": "alice", "balance": 100, "held": 60}, "alice to herself")
        equal(w.done(LEDGER, "balance", "alice", by="bob"), {"success": True, "agent_id": "alice", "balance": 100}, "alice to others")
        equal(w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 41, by="alice", category="permission", status=402),
              {"success": False, "error": "Balance is 100, of which 60 are held for a bid, needed 41", "code": "insufficient_funds",
               "category": "permission", "retriable": False, "details": {"balance": 100, "held": 60, "needed": 41}}, "a transfer")
        equal(w.fails("insufficient_funds", ESCROW, "purchase", "b1", by="alice", category="resource", status=402),
              {"success": False, "error": "Balance is 100, of which 60 are held for a bid, the price is 50", "code": "insufficient_funds",
               "category": "resource", "retriable": False, "details": {"balance": 100, "held": 60, "needed": 50}}, "a purchase")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 40, by="alice")["from_balance"], 60, "the rest")
        w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 1, by="alice")
        equal(w.done(LEDGER, "transfer", "bob", "alice", 1, by="bob")["to_balance"], 61, "alice is paid meanwhile")
        equal(w.done(MINT, "bid", "a1", 61, by="alice")["held"], 61, "all of it, with what was held before")
        equal(w.balances(), {"alice": 61, "bob": 139, MINT: 0}, "all together")


@tests_of(ENGINES)
def an_artifact_stays_while_it_is_bid_with(engine):
    with World(engine, "--artifacts-auction-bidders", "2", "--artifacts-auction-seconds", "86400") as w:
        for name, owner in (("a1", "alice"), ("a2", "alice"), ("b1", "bob")):
            w.done(STORE, "create", name, "tool", "x", by=owner)
        w.done(MINT, "bid", "a1", 60, by="alice")
        for words in ((LEDGER, "transfer_ownership", "a1", "bob"), (ESCROW, "deposit", "a1", 5), (STORE, "delete", "a1")):
            told = w.fails("conflict", *words, by="alice", category="resource", status=409)
            equal((told["error"], told["retriable"], told["details"]["artifact_id"]), ("The artifact a1 is in an auction.", False, "a1"), "of %s" % (words,))
            equal(told["details"]["closes_at"], w.done(MINT, "status")["closes_at"], "when it ends")
            w.fails("not_owner", *words, by="bob")
        w.done(STORE, "update", "a1", "one two three", by="alice")
        w.done(LEDGER, "transfer_ownership", "b1", "alice", by="bob")  # another one, of a principal that does not bid
        w.done(LEDGER, "transfer_ownership", "b1", "bob", by="alice")  # … and of a principal that bids with another
        w.done(MINT, "bid", "a2", 9, by="alice")
        w.done(ESCROW, "deposit", "a1", 5, by="alice")  # not bid with any more
        w.fails("conflict", STORE, "delete", "a2", by="alice")
        equal(w.done(MINT, "bid", "b1", 4, by="bob"), {"success": True, "artifact_id": "b1", "amount": 4, "balance": 100, "resolved": True}, "the end")
        equal(w.done(MINT, "status")["last"]["winner"], "alice", "who has bid more, and had to pay")
        equal(w.balances(), {"alice": 96, "bob": 100, MINT: 4}, "the price")
        w.done(STORE, "delete", "a2", by="alice")


@tests_of(ENGINES)
def an_auction_whose_time_is_over_holds_nothing(engine):
    with World(engine, "--artifacts-auction-seconds", "1") as w:
        for number, words in enumerate(((LEDGER, "transfer_ownership", "a0", "bob"), (ESCROW, "deposit", "a1", 5), (STORE, "delete", "a2"))):
            w.done(STORE, "create", "a%d" % number, "tool", "x", by="alice")
            w.done(MINT, "bid", "a%d" % number, 10, by="alice")
            expect(wait_for(lambda words=words: w.invoke(*words, by="alice")[0] == 200), "it is held for ever:", words)  # no call asks the mint
        equal(w.balances(), {"alice": 97, "bob": 100, MINT: 3}, "each time the price of one bid")


# ---- Purchases -------------------------------------------------------------------------------------


@tests_of(ENGINES)
def a_purchase_names_the_price_and_the_version_that_were_seen(engine):
    with World(engine) as w:
        w.done(STORE, "create", "a1", "tool", "good", by="alice")
        first = w.done(ESCROW, "deposit", "a1", 5, by="alice")["version"]
        equal(w.done(ESCROW, "check", "a1")["version"], first, "the version of an offer")
        w.done(ESCROW, "cancel", "a1", by="alice")
        w.done(ESCROW, "deposit", "a1", 95, by="alice")
        w.done(ESCROW, "cancel", "a1", by="alice")
        w.done(STORE, "update", "a1", "bad", by="alice")
        now = w.done(ESCROW, "deposit", "a1", 95, by="alice")["version"]
        expect(now > first, "versions", first, now)
        told = w.fails("conflict", ESCROW, "purchase", "a1", 5, by="bob", category="resource", status=409)
        equal({**told, "details": {**told["details"], "suggestion": "…"}},
              {"success": False, "error": "The price of a1 is 95, not 5.", "code": "conflict", "category": "resource", "retriable": False,
               "details": {"artifact_id": "a1", "price": 95, "version": now, "suggestion": "…"}}, "another price")
        expect("genesis_escrow.check" in told["details"]["suggestion"], told)
        told = w.fails("conflict", ESCROW, "purchase", "a1", 95, first, by="bob", status=409)
        equal((told["error"], told["details"]["price"], told["details"]["version"]),
              ("The offer of a1 has version %d, not %d." % (now, first), 95, now), "the same price of another version")
        w.fails("conflict", ESCROW, "purchase", "a1", None, first, by="bob")
        w.fails("conflict", ESCROW, "purchase", "a1", 94, now, by="bob")
        for wrong in ("5", True, 2.5):
            w.fails("invalid_type", ESCROW, "purchase", "a1", wrong, by="bob")
            w.fails("invalid_type", ESCROW, "purchase", "a1", 95, wrong, by="bob")
        equal(w.balances(), {"alice": 100, "bob": 100, MINT: 0}, "nothing was paid")
        equal(w.done(ESCROW, "purchase", "a1", 95, now, by="bob"),
              {"success": True, "artifact_id": "a1", "seller": "alice", "buyer": "bob", "price": 95, "balance": 5}, "as it was seen")
        for args in ((), (3,), (3.0, None)):  # as before, and by the price alone
            w.done(ESCROW, "deposit", "a1", 3, by=w.done(STORE, "get", "a1")["owner"])
            w.done(ESCROW, "purchase", "a1", *args, by="alice" if w.done(ESCROW, "check", "a1")["seller"] == "bob" else "bob")


@test
def a_command_can_name_the_price_too():
    data = folder_of("priced")

    def ran(method, args, caller):
        return command(data, "invoke", ESCROW if method != "create" else STORE, method, "--args", json.dumps(args), "--caller", caller, "--dialect", "artifact")
    for method, args in (("create", ["a1", "tool", "x"]), ("deposit", ["a1", 95])):
        equal(ran(method, args, "alice").status, 0, "exit of %s" % method)
    refused = ran("purchase", ["a1", 5], "bob")
    equal((refused.status, parsed(refused.out)["code"], parsed(refused.out)["details"]["price"]), (6, "conflict", 95), "refused")
    equal(parsed(ran("purchase", ["a1", 95], "bob").out)["data"]["balance"], 5, "paid")


@test
def an_agent_is_told_the_price_of_now():
    calls = [(STORE, "create", ["a1", "tool", "x"], "alice"), (ESCROW, "deposit", ["a1", 95], "alice"), (ESCROW, "purchase", ["a1", 5], "bob"),
             (ESCROW, "purchase", ["a1", 95, 1], "bob"), (MINT, "bid", ["a1", 2], "bob"), (LEDGER, "balance", ["bob"], "bob"),
             (LEDGER, "balance", ["bob"], "alice")]
    data, answers = folder_of("told"), {}
    for number, (artifact, method, args, caller) in enumerate(calls, 1):
        with talk.Server("--service", "artifacts", "--data", data, program=PROGRAM, revision="2025-11-25", env={"MISHAP_LOG": ""}) as agent:
            answers[number] = agent.call("invoke_artifact", artifact=artifact, method=method, args=args, caller=caller)
    refused = json.loads(answers[3]["content"][0]["text"])
    equal((answers[3]["isError"], refused["code"], refused["details"]["price"], refused["details"]["version"]), (True, "conflict", 95, 1), "refused")
    equal(answers[4]["structuredContent"]["balance"], 5, "as it was seen")
    equal([answers[number]["structuredContent"].get("held") for number in (5, 6, 7)], [2, 2, None], "what is held, for bob and for alice")


@tests_of(ENGINES)
def no_balance_overflows(engine):
    with World(engine, address=(address := address_of(engine))) as w:
        w.done(LEDGER, "all_balances")
        change = "UPDATE %saccounts SET balance = 9223372036854775807 - 50 WHERE id = 'bob'"
        if engine == "SQLite":
            with sqlite3.connect(os.path.join(w.data, "artifacts.sqlite"), timeout=PATIENCE) as database:
                database.execute(change % "")
        else:
            world.cluster.sql(re.search("@/([a-z0-9]+)", address)[1], change % "artifacts.")
        w.fails("invalid_argument", LEDGER, "transfer", "alice", "bob", 51, by="alice", category="validation", status=422)
        equal((w.done(LEDGER, "balance", "alice")["balance"], w.done(LEDGER, "balance", "bob")["balance"]), (100, 2**63 - 51), "nothing has changed")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 50, by="alice")["to_balance"], 2**63 - 1, "the most")


@tests_of(ENGINES)
def only_the_buyer_that_is_named_can_buy(engine):
    with World(engine, "--artifacts-genesis", genesis(FOLDER, alice=100, bob=100, carol=100)) as w:
        w.done(STORE, "create", "a1", "tool", "x", by="alice")
        w.done(ESCROW, "deposit", "a1", 5, "bob", by="alice")
        told = w.fails("not_authorized", ESCROW, "purchase", "a1", by="carol", category="permission", status=403)
        equal((told["error"], told["details"]), ("The artifact a1 is for sale to bob only", {"buyer": "bob"}), "carol is told")
        w.fails("not_authorized", ESCROW, "purchase", "a1", 5, by="carol")
        w.fails("invalid_argument", ESCROW, "purchase", "a1", by="alice")
        equal((w.balances(), w.done(STORE, "get", "a1")["owner"]), ({"alice": 100, "bob": 100, "carol": 100, MINT: 0}, ESCROW), "nothing has changed")
        equal(w.done(ESCROW, "purchase", "a1", by="bob")["balance"], 95, "bob")


# ---- Answers that are kept ---------------------------------------------------------------------------


@tests_of(ENGINES)
def a_number_is_the_same_with_a_fraction_of_zero(engine):
    with World(engine) as w:
        first = w.done(LEDGER, "transfer", "alice", "bob", 3, by="alice", idempotency_key="k1")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 3.0, by="alice", idempotency_key="k1"), first, "3 and 3.0")
        first = w.done(LEDGER, "transfer", "alice", "bob", 20.0, by="alice", idempotency_key="k2")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 20, by="alice", idempotency_key="k2"), first, "20.0 and 20")
        w.fails("conflict", LEDGER, "transfer", "alice", "bob", 2, by="alice", idempotency_key="k2")
        equal(w.balances(), {"alice": 77, "bob": 123, MINT: 0}, "each once")
        w.done(STORE, "create", "a1", "tool", 'x "3.0" \\', "def run(*args): return 1", by="alice", idempotency_key="k3")
        w.fails("conflict", STORE, "create", "a1", "tool", 'x "3" \\', "def run(*args): return 1", by="alice", idempotency_key="k3")
        w.done("a1", "run", 3.0, [1.05, {"a": 7.0}], "1.0", idempotency_key="k4")
        equal(w.done("a1", "run", 3, [1.05, {"a": 7}], "1.0", idempotency_key="k4")["result"], 1, "arguments of code")
        for args in ((3, [1.5, {"a": 7}], "1.0"), (3, [1.05, {"a": 7}], "1"), (30, [1.05, {"a": 7}], "1.0")):
            w.fails("conflict", "a1", "run", *args, idempotency_key="k4")


@tests_of(ENGINES)
def a_long_request_is_known_again_without_being_kept(engine):
    with World(engine) as w:
        text = "word " * 12000
        first = w.done(STORE, "create", "a1", "tool", text, by="alice", idempotency_key="k1")
        equal(w.done(STORE, "create", "a1", "tool", text, by="alice", idempotency_key="k1"), first, "the same again")
        w.fails("conflict", STORE, "create", "a1", "tool", text[:-2] + "s ", by="alice", idempotency_key="k1")
        w.fails("conflict", STORE, "update", "a1", text, by="alice", idempotency_key="k1")
        if engine == "SQLite":
            with sqlite3.connect(os.path.join(w.data, "artifacts.sqlite"), timeout=PATIENCE) as database:
                ((request, size),) = database.execute("SELECT length(request), size FROM kept").fetchall()
            expect(request < 200 and size < 1000, "bytes that are kept:", request, size)


@tests_of(ENGINES)
def all_who_are_no_principals_share_one_place(engine):
    with World(engine) as w:
        w.done(STORE, "create", "a1", "tool", "x", "import random\ndef run(): return random.random()", by="alice")
        names = [None, "alice", "bob", *("stranger%d" % i for i in range(6)), "strange"]
        answers = {name: w.done("a1", "run", by=name, idempotency_key="k1")["result"] for name in names}
        equal(len(set(answers.values())), len(names), "one answer for each")
        for name in names:
            equal(w.done("a1", "run", by=name, idempotency_key="k1")["result"], answers[name], "the same for %s" % name)
        w.done("a1", "run", by="stranger", idempotency_key="6 k1")
        if engine == "SQLite":
            with sqlite3.connect(os.path.join(w.data, "artifacts.sqlite"), timeout=PATIENCE) as database:
                places = dict(database.execute("SELECT caller, count(*) FROM kept GROUP BY caller").fetchall())
                ((said, real),) = database.execute(
                    "SELECT sum(size), sum(length(caller) + length(key) + length(request) + length(answer)) FROM kept").fetchall()
            equal(places, {"": len(names) - 1, "alice": 1, "bob": 1}, "the places")
            expect(said >= real, "sizes that are too small:", said, real)


@test
def fresh_keys_do_not_fill_the_disk():
    with World("SQLite", "--handlers", "2") as w:
        first = w.done(LEDGER, "transfer", "bob", "alice", 1, by="bob", idempotency_key="k1")
        w.done(STORE, "create", "a1", "tool", "x", "def run(): return 'x' * 60000", by="alice")

        def fill(place):
            with w.connect() as wire:
                for number in range(60):
                    w.done("a1", "run", by=[None, "stranger%d" % number][number % 2], connection=wire, idempotency_key="%d %d" % (place, number))
        threads = [threading.Thread(target=fill, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with sqlite3.connect(os.path.join(w.data, "artifacts.sqlite"), timeout=PATIENCE) as database:
            ((count, kept),) = database.execute("SELECT count(*), sum(length(request) + length(answer)) FROM kept").fetchall()
        expect(50 <= count < 200 and kept < 11 << 20, "of 14 MB in 240 answers there are", kept, "in", count)
        equal(w.done(LEDGER, "transfer", "bob", "alice", 1, by="bob", idempotency_key="k1"), first, "who keeps little loses nothing")


# ---- A store of version 1 ----------------------------------------------------------------------------

BACK = ["DROP INDEX %skept_by_caller", "ALTER TABLE %skept DROP COLUMN size", "ALTER TABLE %saccounts DROP COLUMN held"]
BEFORE = ["UPDATE %saccounts SET balance = 40 WHERE id = 'alice'", "UPDATE %saccounts SET balance = 70 WHERE id = 'bob'",
          "UPDATE %saccounts SET balance = 92 WHERE id = 'genesis_mint'",  # 60 and 30 for bids, and 2 of its own
          "INSERT INTO %sbids (bidder, artifact, amount) VALUES ('alice', 'a1', 60)", "INSERT INTO %sbids (bidder, artifact, amount) VALUES ('bob', 'b1', 30)",
          "UPDATE %sauction SET closes = 9000000000000", "UPDATE %sartifacts SET owner = 'alice' WHERE id = 'b1'"]


@tests_of(ENGINES)
def bids_of_version_1_become_held_and_void_ones_are_paid_back(engine):
    data, cluster, address = folder_of("version-1-" + engine.lower()), None, None
    try:
        if engine == "PostgreSQL":
            if not postgres.folder_of_programs():
                raise Skipped("there is no PostgreSQL")
            cluster = postgres.Cluster()
            address = cluster.address("old")
        with World(engine, data=data, address=address) as w:
            w.done(STORE, "create", "a1", "tool", "x", by="alice")
            w.done(STORE, "create", "b1", "tool", "x", by="bob")
            first = w.done(LEDGER, "transfer", "bob", "alice", 1, by="bob", idempotency_key="k1")
            w.done(LEDGER, "transfer", "alice", "bob", 1, by="alice")
        if cluster:
            cluster.sql("old", *[line % "artifacts." for line in BACK + BEFORE], "UPDATE artifacts.store SET version = 1")
        else:
            with sqlite3.connect(os.path.join(data, "artifacts.sqlite"), timeout=PATIENCE) as database:
                for line in BACK + BEFORE:
                    database.execute(line % "")
                database.execute("PRAGMA user_version = 1")
        with World(engine, data=data, address=address) as w:
            equal(w.balances(), {"alice": 100, "bob": 100, MINT: 2}, "all balances")
            equal(w.done(LEDGER, "balance", "alice", by="alice")["held"], 60, "a bid that counts")
            expect("held" not in w.done(LEDGER, "balance", "bob", by="bob"), "a bid that was void")
            equal((w.done(MINT, "status")["bidders"], w.done(MINT, "check", "b1")["status"]), (1, "none"), "the auction")
            w.fails("conflict", LEDGER, "transfer_ownership", "a1", "bob", by="alice")
            equal(w.done(LEDGER, "transfer", "bob", "alice", 1, by="bob", idempotency_key="k1"), first, "an answer of version 1")
    finally:
        if cluster:
            cluster.remove()


# ---- The page of what grows ----------------------------------------------------------------------------

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What a row of docs/growth.md says, and where the program has it.
SAID = [
    ("answers of artifacts under idempotency keys", "a day;", "services/artifacts/kept.c", "KEPT_MS = 24 * 3600 * 1000,"),
    ("answers of artifacts under idempotency keys", "8 MB for each principal", "services/artifacts/kept.c", "KEPT_OF_ONE = 8 << 20,"),
    ("answers of artifacts under idempotency keys", "256 MB for all", "services/artifacts/kept.c", "KEPT_OF_ALL = 256 << 20,"),
    ("answers of artifacts under the ids of calls", "10 minutes", "services/artifacts/kept.c", "CALLS_MS = 600 * 1000,"),
    ("events of artifacts", "1,000,000 (`--artifacts-keep-events`)", "services/artifacts/service.c", '"keep_events", MISHAP_INTEGER, .range = { 1, INT64_C(1) << 40 }, .initial = "1000000"'),
    ("events of artifacts", "30 days (`--artifacts-keep-days`)", "services/artifacts/service.c", '"keep_days", MISHAP_INTEGER, .range = { 1, 36500 }, .initial = "30"'),
    ("principals and artifacts, offers, results of auctions", "at most 64 KB each", "services/artifacts/request.h", "ARTIFACTS_LONGEST_TEXT = 64 << 10,"),
    ("write-ahead log of SQLite", "1,000 pages", "src/store/sqlite.c", "LOG_PAGES = 1000 }"),
    ("ended sessions of MCP", "4,096", "src/mcp/sessions/shared.h", "MISHAP_MCP_ENDED = 4096,"),
    ("history of the REPL", "256 KB", "services/lisp/history.c", "LONGEST = 256 << 10,"),
    ("The limits of the artifacts", "every 4,096 calls", "services/artifacts/purge.c", "CALLS = 4096,"),
    ("The limits of the artifacts", "1 MB of", "services/artifacts/purge.c", "BYTES = 1 << 20 }"),
    ("Of a request", "1,000 bytes", "services/artifacts/kept.c", "LONGEST_REQUEST = 1000,"),
]


@test
def the_page_of_what_grows_says_what_is_so():
    def read(path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()
    paragraphs = re.split(r"\n\||\n\n|\n- ", read("docs/growth.md"))
    for where, words, path, source in SAID:
        (paragraph,) = [text for text in paragraphs if text.strip().startswith(where)]
        expect(words in " ".join(paragraph.split()), "docs/growth.md does not say", words, "of", where)
        expect(" ".join(source.split()) in " ".join(read(path).split()), path, "does not have", source)


# ---- PostgreSQL: callers that have nothing to do with each other ---------------------------------------

PAIRS, EACH = 5, 15  # of each of six callers. So few that no page gets full of old versions of its rows


@tests_of({"without a key": False, "with a key": True})
def transfers_between_different_accounts_do_not_conflict(keyed):
    if not postgres.folder_of_programs():
        raise Skipped("there is no PostgreSQL")
    with postgres.Cluster(log_line_prefix="%e ") as cluster:
        path = genesis(FOLDER, **{"p%d" % number: 100 for number in range(2 * 6 * PAIRS)})
        with World("PostgreSQL", "--artifacts-genesis", path, "--handlers", "6", address=cluster.address("busy")) as w:
            cluster.sql("busy", "VACUUM ANALYZE")  # from now on PostgreSQL knows that the table is small
            statuses = []

            def pay(place):
                with w.connect() as wire:
                    for number in range(EACH):
                        pair = 2 * (place * PAIRS + number % PAIRS)
                        statuses.append(w.invoke(LEDGER, "transfer", "p%d" % pair, "p%d" % (pair + 1), 1, by="p%d" % pair, connection=wire,
                                                 **({"idempotency_key": "k%d" % number} if keyed else {}))[0])
            threads = [threading.Thread(target=pay, args=(place,)) for place in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            equal(statuses, [200] * 6 * EACH, "statuses")
        with open(os.path.join(cluster.folder, "log"), encoding="utf-8") as log:
            conflicts = [line for line in log if line.startswith("40001") and "STATEMENT" in line]
        equal(conflicts, [], "what PostgreSQL could not serialize")


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
