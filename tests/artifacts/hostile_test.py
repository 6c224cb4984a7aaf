"""Requests that are no accident: every answer is the dictionary of seed 002 or a success, nothing is an internal error, and no scrip is
made or lost.

    MISHAP_PROGRAM=… python3 tests/artifacts/hostile_test.py [PART-OF-A-NAME]

ARTIFACTS_MUTATIONS is how many random requests are sent (300). Speaks TAP.
"""
import json
import os
import random
import time

import world
from blackbox import equal, expect, main, parsed, run_agent, test, tests_of
from server import FOLDER, PATIENCE, PROGRAM, Closed, all_ended_in_order
from world import CODES, World, check_failure, command

MUTATIONS = int(os.environ.get("ARTIFACTS_MUTATIONS", "300"))
SEED = int(os.environ.get("ARTIFACTS_SEED", str(int(time.time()))))
LEDGER, STORE, LOG, MINT, ESCROW = ("genesis_" + name for name in ("ledger", "store", "event_log", "mint", "escrow"))
MEGABYTE = "x" * 1000000
DEEP = "[" * 100000


def nested(depth):
    return "[" * depth + "]" * depth


# JSON, as it is sent, in the place of an argument.
VALUES = {
    "deep": nested(1000), "deeper": nested(200000), "never closed": DEEP, "a huge integer": "1" + "0" * 400, "a negative one": "-1" + "0" * 400,
    "too large for a double": "1e400", "and below": "-1e400", "too small for a double": "1e-400", "no number": "NaN", "infinite": "Infinity",
    "minus zero": "-0", "2^63": "9223372036854775808", "-2^63": "-9223372036854775808", "2^64": "18446744073709551616", "2^53+1.0": "9007199254740993.0",
    "members twice": '{"type":"a","type":"b"}', "a member of no name": '{"":1}', "NUL in a key": '{"a\\u0000b":1}', "NUL": '"a\\u0000b"',
    "half a pair": '"\\ud800"', "halves in the wrong order": '"\\udc00\\ud800"', "a megabyte": '"%s"' % MEGABYTE, "escapes": '"\\u0001\\u001f\\u007f\\u2028"',
    "no text": b'"\xff\xfe"', "an overlong slash": b'"\xc0\xaf"', "a surrogate as bytes": b'"\xed\xa0\x80"', "above Unicode": b'"\xf5\x80\x80\x80"',
    "a byte of NUL": b'"a\x00b"', "empty": '""', "SQL": '"\'); DROP TABLE accounts; --"', "a word of FTS": '"NEAR(a b) OR * \\"x"', "null": "null",
    "many": "[" + "1," * 50000 + "1]", "nothing": "",
}
CALLS = [(LEDGER, "balance", "[%s]"), (LEDGER, "transfer", '["alice","bob",%s]'), (STORE, "list", "[%s]"), (STORE, "search", "[%s]"),
         (STORE, "create", '["a1","tool",%s]'), (STORE, "count", '[{"owner":%s}]'), (STORE, "list", '[{"limit":1,"before":%s}]'),
         (LOG, "read", "[%s]"), (LOG, "read", "[0,%s]"), (MINT, "bid", '["a1",%s]'), (ESCROW, "deposit", '["a1",%s]'), ("adder", "run", "[%s]")]


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def filled(text, value):
    before, after = text.split("%s")
    return as_bytes(before) + as_bytes(value) + as_bytes(after)


def check(asked, what):
    """The property."""
    text = asked.body.decode()
    answer = json.loads(text)
    if asked.status == 200:
        expect(answer["success"] is True, "no success:", what, answer)
        return 200
    check_failure(answer)
    expect(answer["code"] in CODES and answer["code"] != "internal_error", "the code of", what, answer)
    return answer["code"]


class Hostile(World):
    """A server that is told to accept what is large, so that more of it is looked at than its size."""

    def __init__(self):
        super().__init__("SQLite", "--body-limit", "4000000", "--artifacts-run-seconds", "1")
        self.done(STORE, "create", "adder", "tool", "x", "def run(*args):\n  return len(args)", by="alice")
        self.connection = None

    def post(self, target, body, fields=(), what=""):
        """On one connection, as long as that is not closed for what was sent."""
        for _ in range(2):
            self.connection = self.connection or self.connect(patience=PATIENCE)
            try:
                asked = self.connection.ask("POST", target, body, fields={"X-Caller": "alice", **dict(fields)}, checked=False)
                break
            except (Closed, OSError):
                self.connection = None
        else:
            raise AssertionError("no answer to %s" % what)
        if "close" in (asked["Connection"] or ""):
            self.connection = None
        return check(asked, what)

    def still_works(self):
        balances = self.balances()
        equal(sum(balances.values()), 200, "all scrip: %s" % balances)
        expect(min(balances.values()) >= 0, "a balance below zero:", balances)


@test
def arguments_that_nobody_sends_are_refused_in_the_dictionary():
    with Hostile() as w:
        seen = set()
        for name, value in VALUES.items():
            for artifact, method, args in CALLS:
                if artifact == "adder" and len(value) > 100000:
                    continue  # code gets what it is sent, which is tested elsewhere
                body = b'{"args":' + filled(args, value) + b"}"
                seen.add(w.post("/artifacts/%s/%s" % (artifact, method), body, what=(name, artifact, method)))
        expect({200, "invalid_argument", "invalid_type", "missing_argument"} <= seen, "only", seen)
        w.still_works()


@test
def bodies_keys_names_and_cursors_that_nobody_sends():
    with Hostile() as w:
        transfer = "/artifacts/genesis_ledger/transfer"
        for body in (b"", b"null", b"[]", b"1", b'"x"', b"{", b"{}}", b'{"args":[],"args":[]}', b'{"args":{}}', b'{"args":null}', b'{"args":[],"x":1}',
                     b"\x00", b"\xff", b"\xef\xbb\xbf{}", b'{"args":[]}\x00', as_bytes(DEEP), b'{"caller":"alice","caller":"bob"}', b" " * 1000000):
            w.post(transfer, body, what=body[:40])
        for key in ("", "a" * 200, "a" * 201, "a\tb", "\xff", "'", "\u00e9" * 100):
            w.post(transfer, b'{"args":["alice","bob",1]}', {"Idempotency-Key": key}, what=key)
        for value in list(VALUES.values()):
            for member in ("idempotency_key", "caller", "artifact", "method"):
                w.post(transfer, filled('{"args":["alice","bob",1],"%s":%%s}' % member, value), what=(member, value[:40]))
        for target in ("/artifacts/%00/x", "/artifacts/%ff/x", "/artifacts/a%2fb/x", "/artifacts/../x/y", "/artifacts/A/x", "/artifacts/genesis_ledger/%00",
                       "/artifacts/genesis_ledger/" + "x" * 5000, "/artifacts/" + "x" * 64 + "/run", "/artifacts//", "/artifacts/genesis_ledger/%e2%80%ae",
                       "/artifacts/genesis_ledger/transfer?args=1", "/artifacts/genesis_ledger/transfer%20"):
            w.post(target, b'{"args":[]}', what=target)
        for caller in ("", "Alice", "a" * 300, "\xff", "system", "genesis_mint", "a b", "alice,bob"):
            w.post(transfer, b'{"args":["alice","bob",1]}', {"X-Caller": caller}, what=caller)
        for cursor in ("-1", "1e400", "x", "9223372036854775808", "", "1&after=2", "%00", "9e15", "0x10", "1.5", "+1", "%ff"):
            check(w.ask("GET", "/artifacts/events?after=" + cursor, checked=False), cursor)
            check(w.ask("GET", "/artifacts/events?limit=" + cursor, checked=False), cursor)
        w.still_works()


@test
def requests_that_were_changed_at_random():
    chance = random.Random(SEED)
    with Hostile() as w:
        seen = {}
        for number in range(MUTATIONS):
            artifact, method, args = chance.choice(CALLS)
            value = chance.choice(['"alice"', "5", '{"type":"tool"}', "null", '"a1"', "3.0"])
            body = bytearray(b'{"args":' + filled(args, value) + b',"idempotency_key":"k%d"}' % (number % 7))
            for _ in range(chance.choice([0, 1, 1, 2, 5])):
                at = chance.randrange(len(body))
                how = chance.randrange(4)
                if how == 0:
                    body[at] = chance.randrange(256)
                elif how == 1:
                    del body[at]
                elif how == 2:
                    body[at:at] = chance.choice([b"[", b"{", b'"', b",", b"\\", b"1e9", b"-", b"\x00", b"\xf0\x9f", b"\\ud83d"])
                else:
                    body[at:at + 8] = body[chance.randrange(len(body)):][:12]
            code = w.post("/artifacts/%s/%s" % (artifact, method), bytes(body), what=(SEED, bytes(body)))
            seen[code] = seen.get(code, 0) + 1
        expect(seen.get(200) and seen.get("invalid_argument"), "too little was seen, seed %d:" % SEED, seen)
        w.still_works()


@tests_of({name: value for name, value in VALUES.items() if name not in ("null",)})
def a_genesis_file_that_nobody_writes_makes_no_store(value):
    data = os.path.join(FOLDER, "genesis-%d" % len(os.listdir(FOLDER)))
    os.mkdir(data)
    path = os.path.join(data, "genesis.json")
    for form in ("%s", '{"principals":%s}', '{"principals":{"a":%s}}'):
        with open(path, "wb") as file:
            file.write(filled(form, value))
        ran = command(data, "invoke", "--artifact", LEDGER, "--method", "all_balances", "--genesis", path, "--dialect", "artifact")
        answer = parsed(ran.out)
        if ran.status == 0:  # minus zero is a balance
            equal((value, answer["data"]["balances"]), ("-0", {"a": 0, MINT: 0}), "what was taken")
            return
        check_failure(answer, ran.out.decode())
        equal(answer["code"], "not_configured", "the code")
    ran = command(data, "invoke", "--artifact", LEDGER, "--method", "all_balances")
    equal(parsed(ran.out)["data"]["balances"], {"alice": 100, "bob": 100, MINT: 0}, "nothing of it is left")


@test
def agents_that_send_such_things_get_the_dictionary():
    opening = [b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
               b'"clientInfo":{"name":"t","version":"1"}}}', b'{"jsonrpc":"2.0","method":"notifications/initialized"}']
    lines, sent = [], []
    for name, value in VALUES.items():
        for form in ('{"artifact":"genesis_ledger","method":"transfer","caller":"alice","args":["alice","bob",%s]}',
                     '{"artifact":"genesis_ledger","method":"transfer","caller":"alice","args":%s}', '{"artifact":%s,"method":"run"}',
                     '{"artifact":"genesis_ledger","method":"spawn_principal","caller":"alice","idempotency_key":%s}'):
            sent.append(name)
            lines.append(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"invoke_artifact","arguments":%s}}'
                         % (len(sent), filled(form, value)))
    data = os.path.join(FOLDER, "agents")
    os.mkdir(data)
    done = run_agent([PROGRAM, "mcp", "--service", "artifacts", "--data", data], [line + b"\n" for line in opening + lines], 1 + len(lines),
                     env=dict(os.environ, MISHAP_LOG=""))
    equal(done.status, 0, "the exit: %s" % done.err[-300:])
    told = 0
    for message in map(parsed, done.out.splitlines()):
        if not message.get("id") or "result" not in message:
            continue  # what is no JSON is an error of the protocol
        result = message["result"]
        if result.get("isError"):
            answer = json.loads(result["content"][0]["text"])
            check_failure(answer)
            expect(answer["code"] in CODES and answer["code"] != "internal_error", "the code of", sent[message["id"] - 1], answer)
            told += 1
    expect(told > 20, "too few were told:", told)


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
