"""Callers that are blocked, and names that the operator gives to subjects: keys block, serve --oauth-map.

    MISHAP_PROGRAM=… SCOPED_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/blocks_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/scoped.c is the program that is asked, tests/oauth/issuer.py makes the tokens.
"""
import json
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "http"), os.path.join(TESTS, "oauth")]
import server  # noqa: E402
import exchange  # noqa: E402
import issuer as issuers  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402

SCOPED = os.path.abspath(os.environ["SCOPED_PROGRAM"])
CONFORMANCE = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
API, LOGIN = "https://api.example.com", "https://login.example.com"
MARKER = "p3nguin-marker"  # in what no caller may read
folders = 0


def new_folder():
    global folders
    folders += 1
    path = os.path.join(server.FOLDER, "blocks-%d" % folders)
    os.mkdir(path)
    return path


def keys(data, command, *words, status=0):
    done = run_program(SCOPED, "keys", command, *words, "--data", data, "--output", "json")
    equal(done.status, status, "exit of `keys %s` with %r" % (command, done))
    return parsed(done.out)


def add_key(data, name, *words):
    key = keys(data, "add", "--name", name, *words)["data"]["key"]
    server.secrets.add(key)
    return {"Authorization": "Bearer " + key}


def with_issuer(*more, program=SCOPED, data=None):
    issuer = issuers.Issuer(new_folder(), LOGIN, API)
    return issuer, server.Server("--workers", "2", "--oauth-issuer", LOGIN, "--oauth-jwks", issuer.file, "--public-url", API, *more, program=program,
                                 data=data or new_folder())


def bearer(issuer, **claims):
    return {"Authorization": "Bearer " + issuer.token(**claims)}


def status_of_ping(session):
    with session.exchange("POST", exchange.message("ping", id=8)) as found:
        return found.status


def is_cut(stream):
    try:
        stream.events()
    except exchange.Closed:
        return True
    return False


def status_now(found, fields):
    """None: the loop noticed the block while the request was on its way, and ended it."""
    try:
        return found.ask("GET", "/who", fields=fields).status
    except server.Closed:
        return None


def becomes(found, status, fields):
    """Each loop notices a change within a second or two. Both loops must have: so it is asked several times."""
    return server.wait_for(lambda: all(status_now(found, fields) == status for _ in range(8)))


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)
    return path


# ---- keys block ----------------------------------------------------------------------------------

@test
def a_blocked_key_is_refused_until_it_is_unblocked():
    data = new_folder()
    deploy, other = add_key(data, "deploy"), add_key(data, "other")
    with server.Server("--workers", "2", data=data, program=SCOPED) as found:
        equal(found.ask("GET", "/who", fields=deploy).json, {"caller": "deploy"}, "before")
        equal(keys(data, "block", "deploy")["data"], {"name": "deploy", "blocked": True}, "the answer of the command")
        expect(becomes(found, 403, deploy), "it is still accepted")
        answer = found.ask("GET", "/who", fields=deploy)
        equal((answer.json["error"], answer.json["message"]), ("forbidden", "This caller is blocked."), "the refusal")
        for method, path in (("GET", "/things/known"), ("GET", "/metrics"), ("POST", "/mcp"), ("GET", "/mcp")):
            equal(found.ask(method, path, fields=deploy, body="{}" if method == "POST" else None).status, 403, path)
        equal(found.ask("GET", "/who", fields=other).json, {"caller": "other"}, "another key")
        listed = keys(data, "list")["data"]
        equal(([entry["name"] for entry in listed["blocked"]], len(listed["keys"])), (["deploy"], 3), "the list")
        equal(keys(data, "block", "deploy", status=run_program(SCOPED, "keys", "block", "deploy", "--data", data).status)["error"]["code"],
              "ALREADY_EXISTS", "twice")
        keys(data, "unblock", "deploy")
        expect(becomes(found, 200, deploy), "it is still refused")
    expect("blocked" not in keys(data, "list")["data"], "it is listed")


@test
def blocking_somebody_does_not_make_keys_used():
    data = new_folder()
    keys(data, "block", "oauth:mallory")
    expect(not os.path.exists(os.path.join(data, "keys.lock")), "callers could not name themselves any more")
    equal(os.stat(os.path.join(data, "blocked")).st_mode & 0o777, 0o600, "the mode")


@test
def a_block_ends_streams_sessions_and_calls():
    data = new_folder()
    issuer, found = with_issuer(program=CONFORMANCE, data=data)
    with found:
        mallory, alice = bearer(issuer, sub="mallory"), bearer(issuer)
        session, other = exchange.Session(found, fields=mallory), exchange.Session(found, fields=alice)
        marks = [os.path.join(data, name) for name in ("in-session", "stateless")]
        steps = [exchange.call("steps", {"steps": 1000, "mark": marks[0]}, id=7, token="t"),
                 exchange.stateless("tools/call", {"name": "steps", "arguments": {"steps": 1000, "mark": marks[1]}}, progressToken="t")]
        with session.exchange("GET", Accept="text/event-stream") as stream, other.exchange("GET", Accept="text/event-stream") as kept, \
                session.exchange("POST", steps[0]) as first, exchange.Exchange(found, "POST", steps[1], {**mallory, **exchange.repeated(steps[1])}) as second:
            equal((stream.status, kept.status), (200, 200), "the streams")
            expect(server.wait_for(lambda: all(os.path.exists(mark + ".begun") for mark in marks)), "the calls have not begun")
            done = run_program(CONFORMANCE, "keys", "block", "oauth:mallory", "--data", data)
            expect(done.status == 0, done)
            expect(server.wait_for(lambda: all(os.path.exists(mark) for mark in marks)), "a call goes on")
            for cut in (stream, first, second):
                expect(is_cut(cut), "it was not cut")
            equal(other.post(exchange.message("ping", id=9)).status, 200, "the session of another caller")
        expect(server.wait_for(lambda: status_of_ping(session) == 403), "the session is still there")
        done = run_program(CONFORMANCE, "keys", "unblock", "oauth:mallory", "--data", data)
        expect(server.wait_for(lambda: all(status_of_ping(session) == 200 for _ in range(8))), "it is still refused")
        equal(exchange.Session(found, fields=mallory).post(exchange.message("ping")).status, 200, "a new session")


@tests_of({"a name with spaces": "a b c d\n", "no name": " 2026-02-09T10:20:30.123Z\n", "NUL": "a 2026\0\n", "not ASCII": "ä 2026\n", "long": "a" * 64 + " x\n",
           "a long time": "a " + "2" * 25 + "\n"})
def a_broken_file_refuses_all_callers_with_a_name(text):
    data = new_folder()
    deploy = add_key(data, "deploy")
    with server.Server("--workers", "2", data=data, program=SCOPED) as found:
        expect(becomes(found, 200, deploy), "before")
        write(os.path.join(data, "blocked"), "# fine\nfine 2026-02-09T10:20:30.123Z\n" + text)
        expect(becomes(found, 503, deploy), "it is accepted")
        write(os.path.join(data, "blocked"), "")
        expect(becomes(found, 200, deploy), "it is still refused")
    write(os.path.join(data, "blocked"), text)
    done = run_program(SCOPED, "serve", "--listen", "127.0.0.1:0", "--data", data, "--output", "json")
    equal(parsed(done.out)["error"]["code"] if done.out else done.status, "NOT_CONFIGURED", "the start")


@tests_of({"empty": "", "space": "a b", "comment": "#a", "control": "a\tb", "long": "a" * 64, "not ASCII": "ä"})
def what_is_no_name_of_a_caller_is_not_blocked(name):
    data = new_folder()
    done = run_program(SCOPED, "keys", "block", "--name", name, "--data", data, "--output", "json")
    expect(done.status != 0 and not os.path.exists(os.path.join(data, "blocked")), done)


# ---- --oauth-map ---------------------------------------------------------------------------------

@test
def a_subject_becomes_a_principal_only_by_the_map():
    data = new_folder()
    key = add_key(data, "alice")
    issuer, found = with_issuer("--oauth-map", write(os.path.join(new_folder(), "map"), "# names\noauth:1234 alice\n\noauth::app robot\n"), data=data)
    with found:
        for claims, caller in (({"sub": "1234"}, "alice"), ({"sub": "alice"}, "oauth:alice"), ({"sub": "app"}, "robot"), ({"sub": "12345"}, "oauth:12345")):
            equal(found.ask("GET", "/who", fields=bearer(issuer, **claims)).json, {"caller": caller}, "who is %r" % claims)
        session = exchange.Session(found, fields=bearer(issuer, sub="1234"))
        session.more = key
        with session.exchange("POST", exchange.message("ping")) as refused:
            equal(refused.status, 404, "the session of the token with the key of the same name")
        keys(data, "block", "oauth:1234")  # the subject alone
        expect(becomes(found, 403, bearer(issuer, sub="1234")), "the subject is still accepted")
        equal(found.ask("GET", "/who", fields=key).status, 200, "the key")
        keys(data, "unblock", "oauth:1234")
        keys(data, "block", "alice")
        expect(becomes(found, 403, bearer(issuer, sub="1234")) and becomes(found, 403, key), "the principal is still accepted")


@tests_of({"no name": "oauth:1\n", "two spaces": "oauth:1  alice\n", "three words": "oauth:1 alice x\n", "no alias": "1234 alice\n", "empty subject": "oauth: a\n",
           "upper case": "oauth:1 Alice\n", "a token's name": "oauth:1 oauth:2\n", "the operator": "oauth:1 operator\n", "not ASCII": "oauth:ä a\n",
           "twice": "oauth:1 a\noauth:1 b\n", "long": "oauth:" + "1" * 60 + " a\n", "NUL": "oauth:1\0 a\n", "no file": None})
def a_wrong_map_stops_the_start(text):
    issuer = issuers.Issuer(new_folder(), LOGIN, API)
    path = os.path.join(new_folder(), "map")
    if text is not None:
        write(path, "# " + MARKER + "\n" + text)
    done = run_program(SCOPED, "serve", "--listen", "127.0.0.1:0", "--data", new_folder(), "--oauth-issuer", LOGIN, "--oauth-jwks", issuer.file, "--public-url", API,
                       "--oauth-map", path, "--output", "json")
    error = parsed(done.out)["error"]
    equal(error["code"], "NOT_CONFIGURED" if text is not None else "INPUT_UNREADABLE", "the code")
    expect(MARKER not in json.dumps(error), error)
    if text is not None:
        line = "has two lines for one subject" if text.count("\n") > 1 else "Line 2 of the --oauth-map file "
        expect(line in error["message"] and ("login:248289761001 alice" in error["suggestion"] or "Remove one" in error["suggestion"]), "what to do:", error)


@test
def a_map_needs_an_issuer():
    done = run_program(SCOPED, "serve", "--listen", "127.0.0.1:0", "--data", new_folder(), "--oauth-map", "/nowhere", "--output", "json")
    equal(parsed(done.out)["error"]["code"], "NOT_CONFIGURED", "the code")


if __name__ == "__main__":
    main()
