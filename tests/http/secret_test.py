"""`serve --secret FILE`: servers that have nothing in common but this file, and a new secret while they run.

    MISHAP_PROGRAM=… ASKING_PROGRAM=… python3 tests/http/secret_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/asking.c is the program.
"""
import json
import os
import secrets
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from exchange import Session, call, message  # noqa: E402
from server import Server  # noqa: E402

ASKING = os.path.abspath(os.environ["ASKING_PROGRAM"])
SURE = {"confirm": {"sure": True}}
BOB = {"name": "Bob"}


def a_secret():
    made = secrets.token_hex(32)
    server.secrets.add(made)
    return made


def a_file(*lines, mode=0o600, end="\n"):
    a_file.count += 1
    path = os.path.join(server.FOLDER, "secret-%d" % a_file.count)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + end)
    os.chmod(path, mode)
    return path


a_file.count = 0


def serve(path, **more):
    """A server with a data folder of its own."""
    return Server("--workers", "1", *(["--secret", path] if path else []), program=ASKING, **more)


def key_of(data, name, key=None):
    """The header of a key with this name; the same key in a second folder, if its line is given."""
    made = parsed(run_program(ASKING, "keys", "add", "--name", name, "--data", data, "--output", "json").out)["data"]["key"]
    server.secrets.add(made)
    return {"X-Api-Key": made}


def send(found, method, path, body, fields=()):
    answer = found.ask(method, path, json.dumps(body).encode(), fields)
    return answer.status, parsed(answer.body)


def ask(found, method="POST", path="/rename/Bob", body=None, fields=()):
    status, answer = send(found, method, path, body or {}, fields)
    equal(status, 428, answer)
    return answer["details"]["state"]


def status(session):
    with session.exchange("POST", message("ping")) as found:
        return found.status


@test
def a_session_and_a_question_go_on_at_another_server():
    path = a_file(a_secret())
    with serve(path) as a, serve(path) as b, serve(None) as stranger:
        session, state = Session(a), ask(a)
        for found, expected in ((b, 200), (a, 200), (stranger, 404)):
            session.server = found
            equal(status(session), expected, "the session")
        session.server = b
        equal(session.post(call("rename", {"name": "Bob"})).status, 200, "a call of the session")
        equal(send(stranger, "POST", "/rename/Bob", {"_state": state, "_answers": SURE})[0], 400)
        equal(send(b, "POST", "/rename/Bob", {"_state": state, "_answers": SURE}), (200, {"deleted": 3, "why": "none"}))
        again = ask(b)
        equal(send(a, "POST", "/rename/Bob", {"_state": again, "_answers": SURE})[0], 200)


@test
def what_is_destructive_is_answered_once_and_where_it_was_asked():
    path = a_file(a_secret())
    with serve(path) as a, serve(path) as b:
        state = ask(a, "DELETE", "/todos", BOB)
        code, found = send(b, "DELETE", "/todos", {**BOB, "_state": state, "_answers": SURE})
        equal((code, found["message"]), (400, "The state of the question was made by another server, or before a restart."))
        for expected in 200, 400:
            equal(send(a, "DELETE", "/todos", {**BOB, "_state": state, "_answers": SURE})[0], expected)


@test
def a_secret_is_replaced_while_servers_run():
    old, new = a_secret(), a_secret()
    steps = [(old,), (old, new), (new, old), (new,)]
    session = state = None
    for before, after in zip(steps, steps[1:]):
        with serve(a_file(*before)) as a, serve(a_file(*after)) as b:
            for one, other in ((a, b), (b, a)):
                state, fresh = ask(one), Session(one)
                fresh.server = other
                equal(status(fresh), 200, "a session of a server with %d secrets" % len(before))
                equal(send(other, "POST", "/rename/Bob", {"_state": state, "_answers": SURE})[0], 200)
            if session:
                session.server = b  # it was made under what comes second now
                equal(status(session), 200 if after != (new,) else 404, "an older session")
            session = session or Session(a)
    with serve(a_file(old)) as found:
        session.server = found
        equal(status(session), 200, "the first secret")


@test
def the_secret_survives_a_restart_and_is_told_nowhere():
    secret = a_secret()
    path = a_file(secret)
    found = serve(path)
    with found:
        session, state = Session(found), ask(found)
        equal(found.stop().status, 0, "the exit")
    with serve(path, data=found.data) as again:
        session.server = again
        equal(status(session), 200, "the session")
        equal(send(again, "POST", "/rename/Bob", {"_state": state, "_answers": SURE})[0], 200)
        for told in (found.stderr, found.stdout, found.log, again.stderr, again.log):
            expect(secret.encode() not in Server.read(told), "it is in", told)


@test
def a_later_key_of_the_same_name_is_another_caller():
    found = Server("--workers", "1", "--require-key", program=ASKING, data=prepared("keyed"))
    with found:
        one = prepared.key
        state = ask(found, fields=one)
        run_program(ASKING, "keys", "remove", "--name", "alice", "--data", found.data)
        two = key_of(found.data, "alice")
        expect(server.wait_for(lambda: found.ask("POST", "/rename/Bob", b"{}", two, checked=False).status == 428), "the key is not known")
        code, answer = send(found, "POST", "/rename/Bob", {"_state": state, "_answers": SURE}, two)
        equal((code, answer["message"]), (400, "The state of the question does not belong to this call."))
        equal(send(found, "POST", "/rename/Bob", {"_state": ask(found, fields=two), "_answers": SURE}, two)[0], 200)


def prepared(name):
    data = os.path.join(server.FOLDER, name)
    os.mkdir(data)
    prepared.key = key_of(data, "alice")
    return data


def refused(path):
    done = run_program(ASKING, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(server.FOLDER, "none"), "--secret", path, "--output", "json")
    expect(done.status not in (0, None), "it has started")
    return parsed(done.out)["error"]


GOOD = "0123456789abcdef" * 4


@tests_of({
    "nothing": ((), "", "is empty"),
    "too short": ((GOOD[:-1],), "\n", "Line 1 is not a secret of 64 hexadecimal digits"),
    "too long": ((GOOD + "0",), "\n", "Line 1 is not a secret of 64 hexadecimal digits"),
    "no digits": (("x" * 64,), "\n", "Line 1 is not a secret of 64 hexadecimal digits"),
    "one digit": (("0" * 64,), "\n", "The secret in line 1 repeats one byte, so it can be guessed"),
    "one byte": ((GOOD, "c5" * 32), "\n", "The secret in line 2 repeats one byte, so it can be guessed"),
    "a second line of words": ((GOOD, "hunter2 hunter2"), "\n", "Line 2 is not a secret of 64 hexadecimal digits"),
    "twice the same": ((GOOD, GOOD), "\n", "Both secrets are the same"),
    "three": ((GOOD, GOOD[::-1], "a" + GOOD[1:]), "", "too long"),
    "a large file": (("x" * 100000,), "", "too long"),
})
def a_file_that_is_no_secret_is_refused(lines, end, words):
    error = refused(a_file(*lines, end=end))
    equal(error["code"], "NOT_CONFIGURED")
    expect(words in error["message"], error["message"])
    expect("openssl rand -hex 32" in error["suggestion"], error["suggestion"])
    expect(not any(line and line in json.dumps(error) for line in lines), "it tells the file:", error)


@test
def a_file_that_others_may_read_is_refused():
    for mode in 0o640, 0o604, 0o620, 0o666:
        error = refused(a_file(GOOD, mode=mode))
        equal((error["code"], "chmod 600" in error["suggestion"]), ("NOT_CONFIGURED", True), error)
    error = refused(os.path.join(server.FOLDER, "missing"))
    equal((error["code"], "openssl rand -hex 32" in error["suggestion"]), ("INPUT_UNREADABLE", True), error)
    equal(refused(server.FOLDER)["code"], "NOT_CONFIGURED")
    with serve(a_file(GOOD, end="")), serve(a_file("", GOOD, "", mode=0o400)):
        pass


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


server.PROGRAM = ASKING
main()
