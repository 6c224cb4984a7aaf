"""The artifacts from outside: every method, every code of seed 002, callers, keys, the defects of the original.

    MISHAP_PROGRAM=… python3 tests/artifacts/service_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import json
import os
import re
import threading
import time

import world
from blackbox import equal, expect, main, parsed, run_agent, run_program, test, tests_of
from server import PATIENCE, PROGRAM, all_ended_in_order, wait_for
from world import ENGINES, World, check_failure, command, folder_of, genesis

LEDGER, MINT, ESCROW, STORE, LOG = ("genesis_" + name for name in ("ledger", "mint", "escrow", "store", "event_log"))
MOST = 2**63 - 1


def without_times(value):
    """An answer without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if not key.endswith("_at") and key != "at"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


# ---- Seed 002's named tests: tests/integration/test_genesis_errors.py ------------------------------


@test
def test_ledger_error_format():
    with World() as w:
        equal(w.fails("missing_argument", LEDGER, "transfer", by="alice", status=422),
              {"success": False, "error": "transfer requires [from_id, to_id, amount]", "code": "missing_argument",
               "category": "validation", "retriable": False, "details": {"required": ["from_id", "to_id", "amount"]}}, "as the seed has it")
        equal(w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 101, by="alice", status=402),
              {"success": False, "error": "Balance is 100, needed 101", "code": "insufficient_funds", "category": "permission",
               "retriable": False, "details": {"balance": 100, "needed": 101}}, "from the ledger")


@test
def what_a_client_accepts_changes_nothing():
    with World() as w:
        for accept in ("*/*", "application/json"):
            equal(w.fails("missing_argument", LEDGER, "balance", fields={"Accept": accept})["details"], {"required": ["agent_id"]}, "the details")
            expect("details" not in w.fails("not_authorized", MINT, "resolve", fields={"Accept": accept}), "details without any")


@test
def test_escrow_error_format():
    with World() as w:
        equal(w.fails("missing_argument", ESCROW, "deposit", by="alice"),
              {"success": False, "error": "deposit requires [artifact_id, price, buyer?]", "code": "missing_argument",
               "category": "validation", "retriable": False, "details": {"required": ["artifact_id", "price"]}}, "what is missing")
        equal(w.fails("not_found", ESCROW, "check", "nothing", by="alice", status=404),
              {"success": False, "error": "The artifact nothing is not for sale.", "code": "not_found", "category": "resource",
               "retriable": False, "details": {"artifact_id": "nothing"}}, "what is not there")


@test
def the_seeds_verification_works_on_the_command_line():
    data = folder_of("seed")
    words = ("invoke", "--artifact", LEDGER, "--method", "transfer", "--args", "[]", "--caller", "alice")
    envelope = command(data, *words)
    equal((envelope.status, parsed(envelope.out)["error"]["code"]), (2, "MISSING_ARGUMENT"), "the envelope")
    shown = command(data, *words, "--dialect", "artifact")
    result = parsed(shown.out)
    expect(shown.status == 2 and "code" in result and "category" in result, shown)
    check_failure(result, shown.out.decode())
    checked = run_program(PROGRAM, "check", "--dialect", "artifact", "--strict", "-", "--output", "json", stdin=shown.out)
    equal(checked.status, 0, "the exit of the check: %r" % checked.out)
    worked = command(data, "invoke", "--artifact", LEDGER, "--method", "transfer", "--args", '["alice","bob",5]', "--caller", "alice")
    equal(parsed(worked.out)["data"]["from_balance"], 95, "a transfer")
    listed = command(data, "events")
    equal([event["method"] for event in parsed(listed.out)["data"]["events"]], ["transfer"], "the events")


# ---- Every method ----------------------------------------------------------------------------------


@tests_of(ENGINES)
def every_method_works(engine):
    with World(engine, "--artifacts-auction-bidders", "2") as w:
        equal(w.done(LEDGER, "balance", "alice"), {"success": True, "agent_id": "alice", "balance": 100}, "a balance")
        equal(w.balances(), {"alice": 100, "bob": 100, MINT: 0}, "all of them")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 30, by="alice"),
              {"success": True, "from_id": "alice", "to_id": "bob", "amount": 30, "from_balance": 70, "to_balance": 130}, "a transfer")
        spawned = w.done(LEDGER, "spawn_principal", by="bob")
        equal(spawned["balance"], 0, "of a new principal")
        equal(w.done(LEDGER, "transfer", "bob", spawned["principal_id"], 1, by="bob")["to_balance"], 1, "it can be paid")

        equal(w.done(STORE, "create", "a1", "tool", "Hello brave new world", "def run(*args):\n  return sum(args)", by="alice"),
              {"success": True, "id": "a1", "type": "tool", "owner": "alice"}, "a new artifact")
        w.done(STORE, "create", "a2", "poem", "hello Zoë -- it's foo.bar", by="bob")
        shown = w.done(STORE, "get", "a1")
        equal(without_times(shown), {"success": True, "id": "a1", "type": "tool", "owner": "alice", "content": "Hello brave new world",
                                     "code": "def run(*args):\n  return sum(args)"}, "the artifact")
        equal(w.done(STORE, "update", "a2", "hello Zoë, foo.bar again", by="bob"), {"success": True, "id": "a2"}, "a change")
        equal(w.done(STORE, "get", "a2")["content"], "hello Zoë, foo.bar again", "after it")

        def ids(method, *args):
            return [row["id"] for row in w.done(STORE, method, *args)["artifacts"]]
        equal((ids("search", "it"), ids("search", "again")), ([], ["a2"]), "words that are gone, and new ones")
        equal(ids("list"), ["a2", "a1"], "the newest first")
        equal((ids("list", {"type": "tool"}), ids("list", {"owner": "bob"}), ids("list", {"owner": "bob", "type": "tool"})),
              (["a1"], ["a2"], []), "filters")
        equal((ids("list_by_type", "poem"), ids("list_by_owner", "alice")), (["a2"], ["a1"]), "by type and by owner")
        page = w.done(STORE, "list", {"limit": 1})
        equal(ids("list", {"limit": 1, "before": page["next"]}), ["a1"], "the next page")
        equal([w.done(STORE, "count", *args)["count"] for args in ((), ({"owner": "bob"},), ({"type": "none"},))], [2, 1, 0], "counts")
        equal((sorted(ids("search", "HELLO")), ids("search", "hello world"), ids("search", "zoë"), ids("search", "foo bar"),
               ids("search", "tool", "type"), ids("search", "tool", "content"), ids("search", "sum", "code"), ids("search", "brave-new", "content", 1)),
              (["a1", "a2"], ["a1"], ["a2"], ["a2"], ["a1"], [], ["a1"], ["a1"]), "searches")
        equal(w.done(STORE, "get", ESCROW)["methods"]["deposit"], ["artifact_id", "price", "buyer?"], "what the escrow can")

        equal(w.done("a1", "run", 1, 2, 3), {"success": True, "result": 6, "stdout": ""}, "its code")
        w.done(STORE, "update", "a1", "Hello brave new world", by="alice")
        equal(w.done("a1", "run", 1, 2)["result"], 3, "a change without code leaves the code")
        w.done(STORE, "update", "a1", "Hello brave new world", "def run(*args):\n  return 1", by="alice")
        equal(w.done("a1", "run", 1, 2)["result"], 1, "a change of the code")
        w.done(STORE, "update", "a1", "Hello brave new world", "def run(*args):\n  return sum(args)", by="alice")

        offer = w.done(ESCROW, "deposit", "a1", 50, "bob", by="alice")
        version = offer["version"]
        equal(offer, {"success": True, "artifact_id": "a1", "seller": "alice", "price": 50, "buyer": "bob", "version": version}, "for sale")
        equal(without_times(w.done(ESCROW, "list_active")["listings"]),
              [{"artifact_id": "a1", "seller": "alice", "price": 50, "buyer": "bob", "version": version}], "what is for sale")
        equal(w.done(ESCROW, "check", "a1")["price"], 50, "its price")
        equal(w.done(STORE, "get", "a1")["owner"], ESCROW, "its owner meanwhile")
        equal(w.done(ESCROW, "purchase", "a1", by="bob"),
              {"success": True, "artifact_id": "a1", "seller": "alice", "buyer": "bob", "price": 50, "balance": 79}, "sold")
        equal((w.done(STORE, "get", "a1")["owner"], w.balances()["alice"]), ("bob", 120), "the new owner, and the money")
        w.done(ESCROW, "deposit", "a1", 5, by="bob")
        equal(w.done(ESCROW, "cancel", "a1", by="bob"), {"success": True, "artifact_id": "a1", "seller": "bob"}, "taken back")
        equal(w.done(LEDGER, "transfer_ownership", "a1", "alice", by="bob"),
              {"success": True, "artifact_id": "a1", "from_id": "bob", "to_id": "alice"}, "given away")

        equal(without_times(w.done(MINT, "status")), {"success": True, "open": False, "bidders": 0, "minted": 0, "last": None}, "no auction")
        equal(w.done(MINT, "check", "a1")["status"], "none", "no bid")
        equal(w.done(MINT, "bid", "a1", 20, by="alice"),
              {"success": True, "artifact_id": "a1", "amount": 20, "balance": 120, "held": 20, "resolved": False}, "a bid")
        equal((w.done(MINT, "check", "a1")["status"], w.balances()[MINT], w.balances()["alice"]), ("pending", 0, 120), "what others see of it")
        equal(w.done(MINT, "bid", "a2", 7, by="bob")["resolved"], True, "the last bid")
        # "Hello brave new world" and "def run args return sum args" have nine different words: too few for a scrip.
        result = {"artifact_id": "a1", "winner": "alice", "price": 7, "score": 9, "minted": 0}
        equal(w.done(MINT, "check", "a1"), {"success": True, **result, "status": "minted"}, "how it ended")
        equal(without_times(w.done(MINT, "status"))["last"], result, "the last auction")
        equal(w.balances(), {"alice": 113, "bob": 79, MINT: 7, spawned["principal_id"]: 1}, "in the end")
        equal(w.done(STORE, "delete", "a2", by="bob"), {"success": True, "id": "a2"}, "deleted")
        equal((ids("list"), ids("search", "again")), (["a1"], []), "gone")


@test
def the_mint_makes_a_tenth_of_the_score_and_an_auction_ends_by_time():
    with World("SQLite", "--artifacts-auction-seconds", "1") as w:
        w.done(STORE, "create", "long", "poem", " ".join("w%d" % i for i in range(250)), by="alice")
        begun = time.monotonic()
        w.done(MINT, "bid", "long", 40, by="alice")
        balances = w.balances()
        if time.monotonic() < begun + 1:  # on a busy machine it may be over by now
            equal(balances, {"alice": 100, "bob": 100, MINT: 0}, "while it runs")
        expect(wait_for(lambda: not w.done(MINT, "status", idempotency_key="k1", by="alice")["open"]), "the auction does not end")
        equal(without_times(w.done(MINT, "status")), {"success": True, "open": False, "bidders": 0, "minted": 10, "last": {
            "artifact_id": "long", "winner": "alice", "price": 1, "score": 100, "minted": 10}}, "its end")
        equal(w.balances(), {"alice": 109, "bob": 100, MINT: 1}, "afterwards")
        w.done(STORE, "create", "next", "poem", "short", by="bob")
        w.done(MINT, "bid", "next", 40, by="bob")
        expect(wait_for(lambda: not w.done(MINT, "status", idempotency_key="k1", by="alice")["open"]), "the next one does not end")
        w.done(LEDGER, "transfer", "alice", "bob", 1, idempotency_key="k1", by="alice")
        ended = [e for e in w.done(LOG, "read")["events"] if e["method"] == "resolve"]
        equal([(e["caller"], e["artifact"]) for e in ended], [("system", MINT)] * 2, "its event")


@tests_of(ENGINES)
def the_earlier_of_two_equal_bids_wins_and_a_replaced_one_is_later(engine):
    with World(engine, "--artifacts-auction-bidders", "2") as w:
        for name, owner in (("a1", "alice"), ("a2", "alice"), ("b1", "bob"), ("b2", "bob"), ("b3", "bob")):
            w.done(STORE, "create", name, "tool", "x", by=owner)

        def auction(*bids):
            for name, amount, by in bids:
                w.done(MINT, "bid", name, amount, by=by)
            last = w.done(MINT, "status")["last"]
            return last["artifact_id"], last["winner"], last["price"]
        equal(auction(("b1", 10, "bob"), ("a1", 10, "alice")), ("b1", "bob", 10), "the earlier one")
        w.fails("already_exists", MINT, "bid", "b1", 1, by="bob", status=409)
        equal(auction(("b2", 80, "bob"), ("b3", 30, "bob"), ("a1", 20, "alice")), ("b3", "bob", 20), "the second of one bidder counts, and no other")
        equal(w.balances(), {"alice": 100, "bob": 70, MINT: 30}, "all others have their bids back")


@test
def events_are_read_page_by_page_in_four_ways():
    with World() as w:
        for amount in range(1, 6):
            w.done(LEDGER, "transfer", "alice", "bob", amount, by="alice")
        w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 1000, by="alice")
        first = w.ask("GET", "/artifacts/events?limit=3").json
        equal([event["result"]["amount"] for event in first["events"]], [1, 2, 3], "the first page")
        rest = w.ask("GET", "/artifacts/events?after=%d" % first["next"]).json
        equal([event["result"]["amount"] for event in rest["events"]], [4, 5], "the second page, without what failed")
        expect("next" not in rest, "a page after the last:", rest)
        equal(w.done(LOG, "read", first["next"], 1)["events"], rest["events"][:1], "the method")
        listed = parsed(command(w.data, "events", "--after", "3").out)["data"]
        equal(listed["events"], rest["events"], "the command")
        bad = w.ask("GET", "/artifacts/events?limit=0", checked=False)
        equal((bad.status, bad.json["code"]), (422, "invalid_argument"), "a limit that is none")
        check_failure(bad.json, bad.body.decode())


# ---- Every code of the seed, by a real situation -----------------------------------------------------


@tests_of(ENGINES)
def every_code_of_the_seed_is_there(engine):
    with World(engine, "--artifacts-run-seconds", "5") as w:  # less may be too little on a busy machine
        for name, code in {"loop": "def run():\n  while True: pass", "bad": "def run(:", "raises": "def run(x):\n  return 1 / x",
                           "none": None, "no-run": "x = 1", "object": "def run():\n  return object()", "exits": "import os\ndef run():\n  os._exit(3)"}.items():
            w.done(STORE, "create", name, "tool", "text", *([code] if code else []), by="alice")
        v, p, r, x = "validation", "permission", "resource", "execution"
        for code, category, words in [
                ("missing_argument", v, (LEDGER, "transfer", "alice", "bob")), ("missing_argument", v, (LEDGER, "transfer", "alice", None, 5)),
                ("invalid_type", v, (LEDGER, "balance", 5)), ("invalid_type", v, (STORE, "list", [])), ("invalid_type", v, (STORE, "list", {"type": 5})),
                ("invalid_argument", v, (LEDGER, "transfer", "alice", "bob", 0)), ("invalid_argument", v, (LEDGER, "transfer", "alice", "bob", -1)),
                ("invalid_argument", v, (LEDGER, "transfer", "alice", "alice", 1)), ("invalid_argument", v, (LEDGER, "balance", "Alice!")),
                ("invalid_argument", v, (LEDGER, "balance", "alice", 1)), ("invalid_argument", v, (LEDGER, "balance", "a\0b")),
                ("invalid_argument", v, (LEDGER, "transfer", "alice", "bob", 2**64)), ("invalid_argument", v, (LEDGER, "transfer", "alice", "bob", 10**30)),
                ("invalid_argument", v, (STORE, "create", "x1", "tool", "a" * 65537)), ("invalid_argument", v, (STORE, "list", {"color": "red"})),
                ("invalid_argument", v, (STORE, "list", {"limit": 101})), ("invalid_argument", v, (STORE, "search", "--", "content")),
                ("invalid_argument", v, (STORE, "search", "x", "owner")), ("invalid_argument", v, (STORE, "search", "x", None, 0)),
                ("invalid_argument", v, (ESCROW, "deposit", "none", 0)), ("invalid_argument", v, (ESCROW, "deposit", "none", 5, "alice")),
                ("invalid_argument", v, (MINT, "bid", "none", 0)), ("invalid_argument", v, (LOG, "read", -1)), ("invalid_argument", v, (LOG, "read", 0, 101)),
                ("invalid_argument", v, ("none", "run")),
                ("insufficient_funds", p, (LEDGER, "transfer", "alice", "bob", MOST)), ("insufficient_funds", r, (MINT, "bid", "none", 101)),
                ("not_authorized", p, (LEDGER, "transfer", "bob", "alice", 1)), ("not_authorized", p, (MINT, "resolve")),
                ("not_authorized", p, (STORE, "create", "genesis_x", "tool", "")), ("not_authorized", p, (STORE, "create", "system", "tool", "")),
                ("not_found", r, (LEDGER, "balance", "nobody")), ("not_found", r, (LEDGER, "transfer", "alice", "nobody", 1)),
                ("not_found", r, (LEDGER, "transfer", "alice", MINT, 1)), ("not_found", r, (LEDGER, "transfer_ownership", "none", ESCROW)),
                ("not_found", r, (LEDGER, "transfer_ownership", "nothing", "bob")), ("not_found", r, (LEDGER, "nothing")),
                ("not_found", r, ("nothing", "run")), ("not_found", r, ("none", "walk")), ("not_found", r, (STORE, "get", "nothing")),
                ("not_found", r, (STORE, "update", "nothing", "x")), ("not_found", r, (ESCROW, "purchase", "none")), ("not_found", r, (ESCROW, "cancel", "none")),
                ("not_found", r, (ESCROW, "deposit", "nothing", 5)), ("not_found", r, (ESCROW, "deposit", "none", 5, "nobody")),
                ("not_found", r, (MINT, "bid", "nothing", 5)), ("not_found", r, (MINT, "check", "nothing")),
                ("already_exists", r, (STORE, "create", "none", "tool", "")),
                ("syntax_error", x, ("bad", "run")), ("runtime_error", x, ("raises", "run", 0)), ("runtime_error", x, ("no-run", "run")),
                ("runtime_error", x, ("object", "run")), ("runtime_error", x, ("exits", "run")), ("runtime_error", x, ("raises", "run", 1, 2))]:
            for _ in range(5):  # on a very busy machine five seconds may be too little, too
                answer = w.invoke(*words, by="alice")[1]
                if category != x or answer.get("code") != "timeout":
                    break
            equal((answer.get("code"), answer.get("category")), (code, category), "the code of %s, which said %s" % (words, answer))
        for words in ((LEDGER, "transfer_ownership", "none", "bob"), (STORE, "update", "none", "x"), (STORE, "delete", "none"),
                      (ESCROW, "deposit", "none", 5), (MINT, "bid", "none", 5)):
            w.fails("not_owner", *words, by="bob", category=p, status=403)
        w.done(ESCROW, "deposit", "none", 101, by="alice")
        w.fails("already_listed", ESCROW, "deposit", "none", 5, by="alice", category=r, status=409)
        w.fails("insufficient_funds", ESCROW, "purchase", "none", by="bob", category=r)
        w.fails("not_owner", ESCROW, "cancel", "none", by="bob", category=p)
        w.fails("invalid_argument", ESCROW, "purchase", "none", by="alice")
        w.done(ESCROW, "deposit", "bad", 1, "bob", by="alice")
        timed_out = w.fails("timeout", "loop", "run", by="alice", category=x, status=504)
        equal(timed_out["retriable"], False, "whether code that loops is to be run again")
        detail = w.fails("runtime_error", "raises", "run", 0)["details"]
        equal((detail["type"], detail["line"]), ("ZeroDivisionError", 2), "what Python says")


@test
def what_the_server_refuses_below_the_routes_is_the_dictionary_too():
    """… with the codes of the seed, and the status of each."""
    balance = "/artifacts/genesis_ledger/balance"
    with World("SQLite", "--body-limit", "2000") as w:
        for method, target, body, status, code in [
                ("GET", "/artifacts/genesis_ledger", None, 404, "not_found"), ("GET", balance, None, 405, "invalid_argument"),
                ("POST", balance, {"args": "x"}, 422, "invalid_type"), ("POST", balance, {"arg": []}, 422, "missing_argument"),
                ("POST", balance, {"idempotency_key": ""}, 422, "invalid_argument"), ("POST", balance, {"args": [], "caller": 5}, 422, "invalid_type"),
                ("POST", "/artifacts/A/balance", {}, 422, "invalid_argument"), ("POST", balance, b"{", 400, "invalid_argument"),
                ("POST", balance, b"[]", 400, "invalid_argument"), ("POST", balance, {"args": ["x" * 3000]}, 413, "invalid_argument"),
                ("GET", "/artifacts/events?limit=x", None, 422, "invalid_type"), ("GET", "/artifacts/events?limit=0", None, 422, "invalid_argument"),
                ("GET", "/artifacts/" + "x" * 20000, None, 414, "invalid_argument")]:
            found = w.ask(method, target, body, checked=False)
            check_failure(found.json, found.body.decode())
            equal((found.status, found.json["code"]), (status, code), "%s %s" % (method, target[:60]))
        found = w.ask("POST", balance, b"x", media_type="text/csv", checked=False)
        equal((found.status, found.json["code"]), (400, "invalid_argument"), "another type")
        fields = w.ask("POST", balance, {"args": "x", "caller": 5}, checked=False).json["details"]["fields"]
        equal([(field["field"], field["error"]) for field in fields], [("args", "invalid_type"), ("caller", "invalid_type")], "all findings")
    with World("SQLite", "--rate", "1") as w:
        limited = [w.ask("GET", "/artifacts/events", checked=False) for _ in range(40)][-1]
        check_failure(limited.json, limited.body.decode())
        equal((limited.status, limited.json["code"], limited.json["retriable"]), (429, "rate_limited", True), "too many")
    ran = command(folder_of("words"), "invoke", "--artifact", LEDGER, "--dialect", "artifact")
    equal((ran.status, parsed(ran.out)["code"]), (2, "missing_argument"), "a command without its method")


# ---- The defects of the original ---------------------------------------------------------------------


@tests_of(ENGINES)
def an_amount_is_an_integer_and_nothing_that_looks_like_one(engine):
    with World(engine) as w:
        w.done(STORE, "create", "a1", "tool", "x", by="alice")
        for amount in (9007199254740992.0, 2**63, 1e300):
            w.fails("invalid_argument", LEDGER, "transfer", "alice", "bob", amount, by="alice")
            w.fails("invalid_argument", ESCROW, "deposit", "a1", amount, by="alice")
        for amount in (True, False, "5", 2.9, [5], {"amount": 5}):
            w.fails("invalid_type", LEDGER, "transfer", "alice", "bob", amount, by="alice")
            w.fails("invalid_type", MINT, "bid", "a1", amount, by="alice")
            w.fails("invalid_type", ESCROW, "deposit", "a1", amount, by="alice")
        equal(w.balances(), {"alice": 100, "bob": 100, MINT: 0}, "nothing was moved")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 3.0, by="alice")["amount"], 3, "an integer with a fraction of zero")


@tests_of(ENGINES)
def limits_of_arguments_are_exact(engine):
    with World(engine) as w:
        w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 2.0**53 - 1, by="alice")
        w.fails("invalid_argument", LEDGER, "transfer", "alice", "bob", 2.0**53, by="alice")  # it may have been the next integer
        w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 2**53 + 1, by="alice")
        w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", MOST, by="alice")
        w.fails("invalid_argument", LEDGER, "transfer", "alice", "bob", MOST + 1, by="alice")
        longest = {"content": "é" * 32768, "code": "#" * 65536}
        w.done(STORE, "create", "a" * 63, "t" * 63, *longest.values(), by="alice")
        equal({key: value for key, value in w.done(STORE, "get", "a" * 63).items() if key in longest}, longest, "the longest texts")
        w.fails("invalid_argument", STORE, "create", "a" * 64, "tool", "x", by="alice")
        w.fails("invalid_argument", STORE, "create", "b", "t" * 64, "x", by="alice")
        w.fails("invalid_argument", STORE, "create", "b", "tool", longest["content"] + "x", by="alice")
        w.fails("invalid_argument", STORE, "create", "b", "tool", "x", longest["code"] + "#", by="alice")
        w.fails("invalid_argument", STORE, "create", "b", "tool", "a\0b", by="alice")
        w.fails("invalid_argument", STORE, "create", "b", "tool", "x", "a\0b", by="alice")
        w.fails("invalid_argument", STORE, "search", "a\0b")
        w.fails("not_found", STORE, "get", "b")
        equal(w.done(STORE, "search", "x" * 1000)["hits"], 0, "the longest search")
        w.fails("invalid_argument", STORE, "search", "x" * 1001)
        equal(w.done(STORE, "search", " ".join("w%d" % i for i in range(16)))["hits"], 0, "the most words")
        w.fails("invalid_argument", STORE, "search", " ".join("w%d" % i for i in range(17)))


@tests_of(ENGINES)
def nobody_takes_what_the_escrow_holds(engine):
    with World(engine) as w:
        w.done(STORE, "create", "a1", "tool", "x", by="alice")
        w.done(ESCROW, "deposit", "a1", 50, by="alice")
        w.fails("already_listed", ESCROW, "deposit", "a1", 1, by="bob")
        w.fails("not_owner", ESCROW, "cancel", "a1", by="bob")
        for words in ((LEDGER, "transfer_ownership", "a1", "bob"), (STORE, "update", "a1", "y"), (STORE, "delete", "a1"), (MINT, "bid", "a1", 1)):
            for caller in ("alice", "bob"):
                w.fails("not_owner", *words, by=caller)
        equal((w.done(ESCROW, "check", "a1")["seller"], w.done(STORE, "get", "a1")["owner"]), ("alice", ESCROW), "whose it is")
        w.done(ESCROW, "cancel", "a1", by="alice")
        equal(w.done(STORE, "get", "a1")["owner"], "alice", "back again")


@tests_of(ENGINES)
def a_replacement_bid_that_fails_leaves_the_old_one(engine):
    with World(engine) as w:
        w.done(STORE, "create", "a1", "tool", "x", by="alice")
        w.done(MINT, "bid", "a1", 60, by="alice")
        equal(w.fails("insufficient_funds", MINT, "bid", "a1", 101, by="alice")["details"], {"balance": 100, "needed": 101},
              "what there is: the old bid would be paid back")
        equal((w.done(LEDGER, "balance", "alice", by="alice")["held"], w.done(MINT, "check", "a1")["status"]), (60, "pending"), "the old bid")
        equal(w.done(MINT, "bid", "a1", 90, by="alice")["held"], 90, "one that works")
        equal((w.done(LEDGER, "balance", "alice", by="alice")["held"], w.done(MINT, "status")["bidders"]), (90, 1), "in place of the old one")


@tests_of(ENGINES)
def nobody_is_made_by_being_paid(engine):
    with World(engine) as w:
        w.fails("not_found", LEDGER, "transfer", "alice", "carol", 5, by="alice")
        w.fails("not_found", LEDGER, "balance", "carol")
        equal(w.balances(), {"alice": 100, "bob": 100, MINT: 0}, "nothing was moved")


@tests_of(ENGINES)
def a_call_that_fails_costs_nothing(engine):
    with World(engine) as w:
        w.done(STORE, "create", "raises", "tool", "x", "def run(): raise ValueError('no')", by="alice")
        before, events = w.balances(), len(w.done(LOG, "read")["events"])
        for words in (("raises", "run"), (LEDGER, "transfer", "alice", "nobody", 5), (ESCROW, "purchase", "raises"), (MINT, "bid", "raises", 1000),
                      (STORE, "create", "raises", "tool", "x")):
            expect(w.invoke(*words, by="alice")[0] >= 400, "it works:", words)
        equal((w.balances(), len(w.done(LOG, "read")["events"])), (before, events), "balances and events")


# ---- Callers -----------------------------------------------------------------------------------------


@test
def callers_name_themselves_only_where_no_key_exists():
    with World() as w:
        w.fails("not_authorized", LEDGER, "transfer", "alice", "bob", 1, status=403)
        w.fails("not_authorized", LEDGER, "transfer", "carol", "bob", 1, by="carol")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 1, caller="alice")["from_balance"], 99, "the argument")
        w.fails("not_authorized", LEDGER, "transfer", "alice", "bob", 1, by="bob", caller="alice")
        for name in ("system", MINT, "genesis_x"):
            w.fails("not_authorized", MINT, "resolve", by=name)
            w.fails("not_authorized", MINT, "resolve", caller=name)
    data = folder_of("keyed")
    keys = {}
    for name in ("alice", "system"):
        ran = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json")
        equal(ran.status, 0, "exit of `keys add`")
        keys[name] = {"X-Api-Key": parsed(ran.out)["data"]["key"]}
    with World(data=data) as w:
        equal(w.done(LEDGER, "transfer", "alice", "bob", 1, fields=keys["alice"])["from_balance"], 99, "by a key")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 1, fields=keys["alice"], caller="alice")["from_balance"], 98, "by a key and its name")
        w.fails("not_authorized", LEDGER, "transfer", "bob", "alice", 1, fields=keys["alice"], caller="bob", status=403)
        w.fails("not_authorized", LEDGER, "transfer", "bob", "alice", 1, caller="bob", status=403)
        w.fails("not_authorized", MINT, "resolve", fields=keys["system"], status=403)
        w.fails("not_authorized", LEDGER, "transfer", "bob", "alice", 1, by="bob", status=401)
        w.fails("not_authorized", LEDGER, "transfer", "alice", "bob", 1, fields={"X-Api-Key": "mk_" + "x" * 43}, status=401)
        equal(w.done(LEDGER, "balance", "alice")["balance"], 98, "what anybody may ask")
    ran = command(data, "invoke", "--artifact", LEDGER, "--method", "transfer", "--args", '["bob","alice",1]', "--caller", "bob", "--dialect", "artifact")
    equal(parsed(ran.out)["code"], "not_authorized", "the command line")


@test
def health_says_whether_code_can_be_run():
    with World() as w:
        said = w.ask("GET", "/health").json["services"]["artifacts"]
        expect(re.fullmatch(r"3\.\d+|missing", said["python"]) and said["sandbox"]["mode"] in ("strict", "weak"), said)


@test
def a_caller_that_is_not_known_is_told_how_to_be():
    def remedy(found):
        return found["details"]["suggestion"]

    with World() as w:
        expect("`X-Caller: NAME`" in remedy(w.fails("not_authorized", LEDGER, "transfer", "alice", "bob", 1)), "over HTTP")
        found = remedy(w.fails("not_authorized", LEDGER, "transfer", "carol", "bob", 1, by="carol"))
        expect("all_balances" in found and "spawn_principal" in found, found)
        expect("genesis_ledger, " in remedy(w.fails("not_found", "genesis_leger", "run")), "an artifact that is misspelt")
        expect("genesis_store.get" in remedy(w.fails("not_found", LEDGER, "tranfer")), "a method that is misspelt")
        w.done(STORE, "create", "bad", "tool", "", "def run(): return 1\ndef", by="alice")
        equal(remedy(w.fails("syntax_error", "bad", "run")), "Look at line 2 of the code.")
    data = folder_of("unknown")
    words = ("invoke", LEDGER, "transfer", "--args", '["bob","alice",1]')
    equal(parsed(command(data, *words).out)["error"]["suggestion"], "Name the caller with `--caller NAME`.", "a command")
    equal(run_program(PROGRAM, "keys", "add", "--name", "alice", "--data", data).status, 0, "exit of `keys add`")
    equal(parsed(command(data, *words).out)["error"]["suggestion"], "Call the server with an API key: it names the caller.", "with keys")
    with World(data=data) as w:
        expect("`Authorization: Bearer KEY`" in remedy(w.fails("not_authorized", LEDGER, "transfer", "alice", "bob", 1)), "HTTP with keys")


@tests_of(ENGINES)
def a_new_store_has_what_the_file_says(engine):
    folder = folder_of("genesis")
    path = genesis(folder, carol=7, dave=0)
    with World(engine, "--genesis", path) as w:
        equal(w.balances(), {"carol": 7, "dave": 0, MINT: 0}, "the balances")
        data = w.data
    if engine == "SQLite":
        with World(engine, data=data) as w:
            equal(w.balances(), {"carol": 7, "dave": 0, MINT: 0}, "it counts only for a new store")


@test
def a_flag_of_a_setting_needs_the_name_of_its_service_only_where_it_is_not_clear():
    folder = folder_of("flags")
    path = genesis(folder, erin=3)
    words = ("invoke", "--artifact", LEDGER, "--method", "all_balances")
    for number, flags in enumerate((("--genesis", path), ("--genesis=" + path,), ("--artifacts-genesis", path))):
        ran = command(os.path.join(folder, str(number)), *words, *flags)
        equal(parsed(ran.out)["data"]["balances"], {"erin": 3, MINT: 0}, "with %s" % (flags,))
    ran = command(folder, *words, "--genesis", path, "--artifacts-genesis", path)
    equal((ran.status, parsed(ran.out)["error"]["code"]), (2, "ARG_ERROR"), "both")
    there = os.path.join(folder, "elsewhere.sqlite")
    ran = command(folder, *words, "--store", "sqlite:" + there)
    expect(ran.status == 0 and os.path.exists(there), "--store of a command with one service:", ran)
    ran = command(folder, *words, "--folder", "x")
    equal((ran.status, parsed(ran.out)["error"]["code"]), (2, "ARG_ERROR"), "a setting of another service")
    ran = run_program(PROGRAM, "serve", "--data", folder, "--genesis", os.path.join(folder, "nothing"), "--listen", "127.0.0.1:0", "--output", "json")
    expect(ran.status == 78 and b"genesis file" in ran.out + ran.err, "a file that is not there:", ran)


@tests_of({"no file": None, "no JSON": "{", "no principals": "{}", "a text": '{"principals":{"a":"5"}}', "negative": '{"principals":{"a":-1}}',
           "too much": '{"principals":{"a":9007199254740991,"b":1}}', "a reserved name": '{"principals":{"genesis_mint":1}}',
           "no name": '{"principals":{"A b":1}}', "true": '{"principals":{"a":true}}', "another member": '{"principals":{},"x":1}'})
def a_genesis_file_that_is_wrong_makes_no_store(text):
    data = folder_of("wrong-%d" % abs(hash(text)))
    path = os.path.join(data, "genesis.json")
    if text is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    ran = command(data, "invoke", "--artifact", LEDGER, "--method", "all_balances", "--artifacts-genesis", path)
    expect(ran.status != 0 and b"genesis file" in ran.out, "it is taken:", ran)
    expect(parsed(ran.out)["error"]["suggestion"].startswith("Give the path" if text is None else 'Write it as {"principals": {'), ran)
    ran = command(data, "invoke", "--artifact", LEDGER, "--method", "all_balances")
    equal(parsed(ran.out)["data"]["balances"], {"alice": 100, "bob": 100, MINT: 0}, "nothing of it is left")


# ---- Keys of requests --------------------------------------------------------------------------------


@tests_of(ENGINES)
def the_same_key_and_request_have_the_first_answer(engine):
    with World(engine) as w:
        words = (LEDGER, "transfer", "alice", "bob", 10)
        first = w.done(*words, by="alice", fields={"Idempotency-Key": "k1"})
        equal(w.done(*words, by="alice", fields={"Idempotency-Key": "k1"}), first, "by the header")
        equal(w.done(*words, by="alice", idempotency_key="k1"), first, "by the argument")
        equal(w.fails("conflict", LEDGER, "transfer", "alice", "bob", 11, by="alice", idempotency_key="k1", status=409)["details"],
              {"idempotency_key": "k1"}, "another request")
        w.fails("conflict", LEDGER, "spawn_principal", by="alice", idempotency_key="k1")
        w.fails("invalid_argument", *words, by="alice", idempotency_key="k1", fields={"Idempotency-Key": "k2"})
        for key in ("\xff\xfe", "k\t1", "\xc3\xa9"):
            w.fails("invalid_argument", *words, by="alice", fields={"Idempotency-Key": key}, status=422)
        w.fails("invalid_argument", *words, by="alice", fields={"Idempotency-Key": "k" * 201}, status=422)
        w.fails("invalid_argument", *words, by="alice", idempotency_key="k" * 201, status=422)
        equal(w.balances(), {"alice": 90, "bob": 110, MINT: 0}, "once")
        equal(w.done(LEDGER, "transfer", "bob", "alice", 10, by="bob", idempotency_key="k1")["to_balance"], 100, "of another caller")
        w.fails("insufficient_funds", LEDGER, "transfer", "alice", "bob", 101, by="alice", idempotency_key="k3")
        w.done(LEDGER, "transfer", "bob", "alice", 50, by="bob")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 101, by="alice", idempotency_key="k3")["from_balance"], 49, "a failure is not kept")
        spawned = w.done(LEDGER, "spawn_principal", by="alice", fields={"Idempotency-Key": "k4" * 100})
        equal(w.done(LEDGER, "spawn_principal", by="alice", idempotency_key="k4" * 100), spawned, "the longest key")
        spawned = w.done(LEDGER, "spawn_principal", by="alice", idempotency_key="k4")
        equal(w.done(LEDGER, "spawn_principal", by="alice", idempotency_key="k4"), spawned, "one principal")


@tests_of(ENGINES)
def many_at_once_with_one_key_change_something_once(engine):
    with World(engine) as w:  # all that alice has: a second transfer would fail, and its failure must not be told either
        answers = []

        def ask():
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                status, answer = w.invoke(LEDGER, "transfer", "alice", "bob", 100, by="alice", idempotency_key="one")
                if status != 503:
                    break
            answers.append((status, json.dumps(answer)))
        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal((len(answers), len(set(answers)), answers[0][0]), (16, 1, 200), "the answers: %s" % set(answers))
        equal(w.balances(), {"alice": 0, "bob": 200, MINT: 0}, "once")


# ---- Agents ------------------------------------------------------------------------------------------


@test
def agents_get_the_same_dictionary():
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                                            "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
    calls = [(LEDGER, "transfer", ["alice", "bob", 5], "alice"), (LEDGER, "transfer", [], "alice"), (LEDGER, "transfer", ["bob", "alice", 5], "alice"),
             (MINT, "resolve", [], "system"), (LEDGER, "transfer", ["alice", "bob", 5.5], "alice")]
    for number, (artifact, method, args, caller) in enumerate(calls, 2):
        lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "invoke_artifact", "arguments": {
            "artifact": artifact, "method": method, "args": args, "caller": caller}}})
    done = run_agent([PROGRAM, "mcp", "--service", "artifacts", "--data", folder_of("agents")], [json.dumps(line).encode() + b"\n" for line in lines],
                     len(lines) - 1, env=dict(os.environ, MISHAP_LOG=""))
    answers = {message.get("id"): message for message in map(parsed, done.out.splitlines())}
    equal(sorted(tool["name"] for tool in answers[1]["result"]["tools"]), ["invoke_artifact", "list_artifact_events"], "tools")
    equal(answers[2]["result"]["structuredContent"]["from_balance"], 95, "a transfer")
    for number, code in ((3, "missing_argument"), (4, "not_authorized"), (5, "not_authorized"), (6, "invalid_type")):
        result = answers[number]["result"]
        told = json.loads(result["content"][0]["text"])
        equal((result["isError"], told["code"]), (True, code), "the failure")
        check_failure(told, result["content"][0]["text"])
    world.leaks.check(done.out.decode().split("\n", 2)[2])


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
