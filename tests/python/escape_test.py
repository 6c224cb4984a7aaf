"""Hostile Python (escapes.py): every attempt fails with an exception, or with the death of its process alone.

    SNAKE_PROGRAM=… LAYERS_PROGRAM=… MISHAP_PROGRAM=… PYTHON_HOST=… python3 tests/python/escape_test.py [PART-OF-A-NAME]

All are tried on a server, with all layers that this machine offers; each layer alone on its rows, by a program that starts
mishap-python with that layer; and those marked so without any layer, where they must succeed. Speaks TAP.
"""
import contextlib
import http.client
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
for folder in ["http", "cli", "worker"]:
    sys.path.insert(0, str(HERE.parent / folder))
from attacked import (ABSTRACT, FOLDER, HOST, KEY, LAYERS_PROGRAM, PORT, expect_unchanged, family_of, keeper_of,  # noqa: E402
                      libc, make_victim, offers, priority, stack_of, stopping, stranger, visits)
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from escapes import ATTEMPTS, code_of, table, together  # noqa: E402
from host import HOST as PROGRAM  # noqa: E402
from host import Died, Host  # noqa: E402
from rows import LAYERS, NUMBERS  # noqa: E402
from server import Server  # noqa: E402

SNAKE = os.path.abspath(os.environ["SNAKE_PROGRAM"])
SIGCONT, SIGKILL = 18, 9
LIMIT = 30  # seconds for an attempt, on a busy machine, too
FOREVER = 0.3  # … that goes on for ever


def words(parent, signal):
    """What the attempts are to know, as assignments."""
    known = {"FOLDER": FOLDER, "PID": stranger.pid, "PARENT": parent, "SIGNAL": signal, "PORT": PORT, "ABSTRACT": ABSTRACT, "KEY": KEY,
             "HOST_NAME": HOST, "ADDRESS": stack_of(stranger.pid), "NUMBERS": NUMBERS.get(platform.machine(), {})}
    return "".join("%s = %r\n" % pair for pair in known.items())


def limit_of(attempt):
    return FOREVER if attempt.what.startswith("compute for ever") or "sleep(60)" in attempt.code else LIMIT


def expect_real(attempt, failure):
    """An attempt that fails for another reason than that it was stopped shows nothing."""
    for mistake in ("NameError", "SyntaxError", "AttributeError", "TypeError", "ArgumentError", "UnboundLocalError"):
        expect(mistake not in json.dumps(failure) or "left_behind" in attempt.code, "a mistake in the attempt to", attempt.what, failure)


# ---- With all layers, on a server ----------------------------------------------------------------

class Caller:
    def __init__(self, found):
        self.connection = http.client.HTTPConnection(*found.address, timeout=180)

    def run(self, code, **more):
        fields = {"Content-Type": "application/json", "Accept": "application/vnd.mishap+json, application/json"}
        self.connection.request("POST", "/python/run", json.dumps({"code": code, **more}), fields)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())


LEAVE = """
import builtins, math, threading, time
builtins.left_behind = math.left_behind = "of another call"
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
def run(): return 1
"""


@test
def every_attempt_fails_on_a_server_and_everything_else_goes_on():
    died, problems = [], []
    offered = offers()
    tried = [attempt for attempt in ATTEMPTS if attempt.layers == "*" or stopping(attempt, *offered)]
    for attempt in ATTEMPTS:
        if attempt not in tried:
            print("# nothing on this machine stops: " + attempt.what)
    with Server(program=SNAKE) as found:
        hostile, other = Caller(found), Caller(found)
        keeper, family = keeper_of(found), family_of(found)
        equal(len(keeper), 1, "keepers")
        known = words(keeper[0], SIGKILL)
        for number, attempt in enumerate(tried, 1):
            if "another" in attempt.what:
                equal(hostile.run(LEAVE, timeout=60)[0], 200, "a call that leaves something behind")
            status, answer = hostile.run(known + code_of(attempt), timeout=limit_of(attempt))
            if not 400 <= status < 600:
                problems.append("%s: %s" % (attempt.what, json.dumps(answer)[:300]))
            expect_real(attempt, answer)
            if attempt.layers == "*" or number % 10 == 0:
                answered = other.run("def run(n): return n + 1", args=str([number]), timeout=60)[1]
                equal(answered.get("result"), number + 1, "another call after: " + attempt.what)
            expect_unchanged(attempt.what)
            if '"died"' in json.dumps(answer):
                died.append(attempt.what)
        equal((keeper_of(found), family_of(found)), (keeper, family), "the processes of the server")
    expect(len(ATTEMPTS) >= 60, "only", len(ATTEMPTS), "attempts")
    print("# %d attempts; %d ended their process: %s" % (len(tried), len(died), "; ".join(died)))
    expect(not problems, "escaped:\n" + "\n".join(problems))


# ---- Each layer alone ----------------------------------------------------------------------------

def run_with(layers, code, timeout):
    """The answer of a call, or a failure of no kind for a death."""
    host = Host(by=(LAYERS_PROGRAM, layers, os.path.abspath(PROGRAM)))
    try:
        return host.call("run", code=words(os.getpid(), SIGCONT) + code, timeout=timeout)
    except Died:
        return {"failure": {}}
    finally:
        host.ours.close()  # what runs it removes its folder and its control group then
        with contextlib.suppress(subprocess.TimeoutExpired):
            host.process.wait(60)
        host.close()


def attempt_with(layers, attempt):
    """A failure, {} for a death, None if it escaped."""
    return run_with(layers, code_of(attempt), limit_of(attempt)).get("failure")


def attempt_all_with(layers, attempts):
    """Those that escaped, all in one process: they raise, and the next one goes on."""
    answer = run_with(layers, together(attempts), 50)
    expect("answer" in answer, "attempts that should raise ended the process:", answer)
    for number, failure in answer["answer"]["result"]["failures"]:
        expect_real(attempts[number], failure)
    return [attempts[number].what for number in answer["answer"]["result"]["escaped"]]


@tests_of({name: (letter, name) for letter, name in LAYERS.items()})
def a_layer_alone_stops_its_rows(letter, name):
    names, landlock = offers()
    if name not in names:
        raise Skipped("this machine does not offer it")
    tried = [attempt for attempt in ATTEMPTS if stopping(attempt, [name], landlock)]
    alone = [attempt for attempt in tried if attempt.layers in ("R", "RG") or "os._exit" in attempt.code or "execv" in attempt.code]
    problems = [attempt.what for attempt in alone if attempt_with(name, attempt) is None]
    problems += attempt_all_with(name, [attempt for attempt in tried if attempt not in alone])
    expect(not problems, "escaped:", "; ".join(problems))
    if letter in "SLM":
        expect(len(tried) >= 30, "only", len(tried), "rows")
    if letter != "H":
        expect_unchanged("with " + name)


@test
def attempts_are_real_where_nothing_stops_them():
    stopped, tried = [], [attempt for attempt in ATTEMPTS if attempt.plain]
    try:
        for attempt in tried:
            failure = attempt_with("none", attempt)
            if failure is not None:
                stopped.append("%s: %s" % (attempt.what, failure))
            make_victim()
    finally:
        make_victim()
        visits()
        libc.setpriority(0, stranger.pid, priority)
    for line in stopped:
        print("# does not work on this machine anyway: " + line)
    expect(len(tried) >= 50 and len(stopped) <= len(tried) // 10, "stopped:", "; ".join(stopped))


@test
def the_document_has_the_table():
    text = (HERE.parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
    expect("\n".join(["| attempt | stopped by each of |", "|---|---|", *table()]) in text, "docs/python.md has another table: run escapes.py")


if __name__ == "__main__":
    main()
