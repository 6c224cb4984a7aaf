#!/usr/bin/env python3
"""src/oauth on key sets and tokens that node's crypto and openssl make: which are sound, and which check finds the others.

    OAUTH_JUDGE_PROGRAM=… python3 tests/oauth/oauth_test.py [PART-OF-A-NAME]

tests/oauth/made.mjs has them as data. tests/oauth/judge.c judges them, each again with each allocation failing.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import issuer  # noqa: E402
from blackbox import PATIENCE, equal, expect, main, test  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
JUDGE = os.environ["OAUTH_JUDGE_PROGRAM"]


def judge(commands):
    """The lines that the judge writes for (command, bytes)."""
    said = b"".join(b"%s\t%d\n%s" % (command.encode(), len(data), data) for command, data in commands)
    done = subprocess.run([JUDGE], input=said, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    equal((done.returncode, done.stderr), (0, b""), "the judge")
    lines = done.stdout.decode().splitlines()
    equal(len(lines), len(commands), "how many were judged")
    return lines


def made():
    if not made.found:
        done = subprocess.run(["node", os.path.join(HERE, "made.mjs")], stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
        made.found = json.loads(done.stdout)
    return made.found


made.found = None


def judged():
    """Key sets and tokens with what was said of each."""
    if not judged.found:
        data = made()
        commands = [("set " + found["name"], found["text"].encode()) for found in data["sets"]]
        commands += [("token %s\t%d" % (found["set"], data["now"]), base64.b64decode(found["token"])) for found in data["tokens"]]
        lines = judge(commands)
        judged.found = list(zip(data["sets"], lines)), list(zip(data["tokens"], lines[len(data["sets"]):]))
    return judged.found


judged.found = None


@test
def each_key_set_is_judged_right():
    sets, _ = judged()
    expect(len(sets) >= 100, "there are only", len(sets))
    wrong = []
    for found, line in sets:
        counts = line if line == "refused" else {name: int(count) for name, count in (part.split("=") for part in line.split(";") if part)}
        if counts != found["faults"]:
            wrong.append("%s: %s, not %s" % (found["name"], counts, found["faults"]))
    equal(wrong, [], "key sets")


@test
def each_token_is_judged_right():
    _, tokens = judged()
    expect(len(tokens) >= 250 and sum(found["flaw"] == "sound" for found, _ in tokens) >= 40, "there are only", len(tokens))
    equal([(found["name"], line, found["flaw"]) for found, line in tokens if line.split(" ")[0] != found["flaw"].split(" ")[0]], [], "tokens")
    equal([(found["name"], line, found["flaw"]) for found, line in tokens if found["flaw"] != "sound" and line != found["flaw"]], [], "tokens")


@test
def each_check_is_the_one_that_finds_some_token():
    _, tokens = judged()
    equal({line.split(" ")[0] if line.startswith("sound") else line for _, line in tokens},
          {"sound", "length", "form", "header", "typ", "crit", "alg", "no kid", "claims", "issuer", "id token", "cnf", "audience", "expired", "not yet",
           "subject", "key", "signature"}, "the flaws")


@test
def the_claims_of_a_sound_token_are_those_that_it_says():
    _, tokens = judged()
    seen = 0
    for found, line in tokens:
        if line.startswith("sound"):
            body = json.loads(base64.urlsafe_b64decode(base64.b64decode(found["token"]).split(b".")[1] + b"=="))
            issuer, expires, subject, client, *scopes = [word if i < 2 else bytes.fromhex(word.replace("-", "")).decode()
                                                         for i, word in enumerate(line.split(" ")[1:])]
            scope = body.get("scope", body.get("scp", ""))
            equal((issuer, int(expires), subject, client), ("1", int(body["exp"]), body["sub"], next((body[name] for name in ("client_id", "azp", "cid", "appid") if name in body), "")), found["name"])
            equal(scopes, scope if isinstance(scope, list) else scope.split(), found["name"])
            seen += 1
    expect(seen >= 40, seen)


# ---- Tokens of openssl ---------------------------------------------------------------------------

@test
def tokens_that_openssl_signs_are_sound():
    with tempfile.TemporaryDirectory() as folder:
        keys = [issuer.Key(folder, alg) for alg in issuer.WAYS]
        claims = {"iss": "https://login.example.com", "aud": "https://api.example.com/mcp", "sub": "bob", "exp": 2000}
        tokens = [key.token(claims).encode() for key in keys]
        published = ("set openssl", json.dumps({"keys": [key.public for key in keys]}).encode())
    lines = judge([published] + [("token openssl\t1000", token) for token in tokens])
    equal(lines[0], "used=5;", "the set")
    equal([line.split(" ")[0] for line in lines[1:]], ["sound"] * len(keys), "the tokens")
    equal(judge([published] + [("token openssl\t2060", token) for token in tokens])[1:], ["expired"] * len(keys), "the tokens later")


main()
