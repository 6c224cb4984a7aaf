"""Hostile code in a session (escapes.py): every attempt fails with a condition, or with the death of its process alone.

    LISPER_PROGRAM=… LAYERS_PROGRAM=… MISHAP_PROGRAM=… LISP_CORE=… SBCL=… python3 tests/lisp/escape_test.py [PART-OF-A-NAME]

All are tried in sessions of a server, with all layers that this machine offers; each layer alone on its rows, by a program that
starts the core with that layer; and those marked so without any layer, where they must succeed. Speaks TAP.
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
from attacked import (ABSTRACT, FOLDER, HOST, KEY, LAYERS_PROGRAM, PORT, expect_unchanged, family_of, keeper_of, libc,  # noqa: E402
                      make_victim, offers, priority, stack_of, stopping, stranger, visits)
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from escapes import ATTEMPTS, LAYERS, NUMBERS, WORDS, lisp_string, table  # noqa: E402
from server import Server  # noqa: E402
from worker import CORE, Died, Worker  # noqa: E402

LISPER = os.path.abspath(os.environ["LISPER_PROGRAM"])
SIGCONT, SIGKILL = 18, 9
LIMIT = 3  # seconds for an attempt that goes on for ever


def words(parent, signal):
    numbers = NUMBERS.get(platform.machine(), {})
    return ('(progn (defparameter *folder* %s) (defparameter *pid* %d) (defparameter *parent* %d) (defparameter *signal* %d)'
            '(defparameter *port* %d) (defparameter *abstract* %s) (defparameter *key* %d) (defparameter *host* %s)'
            "(defparameter *address* %d) (defun number-of (name) (cdr (assoc name '(%s) :test #'string=))))"
            % (lisp_string(FOLDER), stranger.pid, parent, signal, PORT, lisp_string(ABSTRACT), KEY, lisp_string(HOST), stack_of(stranger.pid),
               " ".join('("%s" . %d)' % pair for pair in numbers.items()))) + WORDS


def expect_real(attempt, message):
    """An attempt that fails for another reason than that it was stopped shows nothing."""
    for mistake in ("ndefined alien", "UNDEFINED-FUNCTION", "is unbound", "READER-ERROR", "invalid number of arguments"):
        expect(mistake not in message, "a mistake in the attempt to", attempt.what, message)


# ---- With all layers, in sessions of a server ----------------------------------------------------

class Caller:
    def __init__(self, found):
        self.connection, self.session = http.client.HTTPConnection(*found.address, timeout=180), None

    def evaluate(self, code, **more):
        """(status, body): each failure is an answer of its own."""
        fields = {"Content-Type": "application/json", "Accept": "application/vnd.mishap+json, application/json"}
        if self.session:
            fields["Mishap-Session"] = self.session
        self.connection.request("POST", "/lisp/evaluate", json.dumps({"code": code, **more}), fields)
        response = self.connection.getresponse()
        self.session = response.getheader("Mishap-Session") or self.session
        return response.status, json.loads(response.read())


@test
def every_attempt_fails_in_a_session_and_everything_else_goes_on():
    died, problems = [], []
    offered = offers()
    rows = [attempt for attempt in ATTEMPTS if attempt.layers == "*" or stopping(attempt, *offered)]
    for attempt in ATTEMPTS:
        if attempt not in rows:
            print("# nothing on this machine stops: " + attempt.what)
    with Server(program=LISPER) as found:
        hostile, other = Caller(found), Caller(found)
        keeper, family = keeper_of(found), family_of(found)
        equal(len(keeper), 1, "keepers")
        equal(other.evaluate("(defvar *count* 0)")[0], 200, "another session")
        prelude = words(keeper[0], SIGKILL)
        equal(hostile.evaluate(prelude)[0], 200, "the words")
        for number, attempt in enumerate(rows, 1):
            status, answer = hostile.evaluate(attempt.code, timeout=LIMIT if attempt.code != "(loop)" else 0.2)
            text = json.dumps(answer)
            if not 400 <= status < 600:
                problems.append("%s: %s" % (attempt.what, text[:300]))
            expect_real(attempt, text)
            equal(other.evaluate("(incf *count*)")[1]["values"], [str(number)], "the other session after: " + attempt.what)
            expect_unchanged(attempt.what)
            if "session_lost" in text:
                died.append(attempt.what)
                equal(hostile.evaluate(prelude)[0], 200, "a fresh session after: " + attempt.what)
        equal((keeper_of(found), family_of(found)), (keeper, family), "the processes of the server")
    expect(len(ATTEMPTS) >= 60, "only", len(ATTEMPTS), "attempts")
    print("# %d attempts; %d ended their process: %s" % (len(rows), len(died), "; ".join(died)))
    expect(not problems, "escaped:\n" + "\n".join(problems))


# ---- Each layer alone ----------------------------------------------------------------------------

class Hostile:
    """A worker with some layers, and another one after its death."""

    def __init__(self, layers):
        self.layers, self.worker = layers, None

    def start(self):
        self.stop()
        self.worker = Worker(heap="256MB", by=(LAYERS_PROGRAM, self.layers, os.path.abspath(CORE)))
        answer = self.worker.evaluate(words(os.getpid(), SIGCONT))
        expect("answer" in answer, "the words:", answer)

    def stop(self):
        """By the end of its socket: what runs it removes its folder and its control group then."""
        if self.worker:
            self.worker.ours.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.worker.process.wait(60)
            self.worker.__exit__()
        self.worker = None

    def attempt(self, attempt):
        """The text of a failure, "" of a death, None if it escaped."""
        if not self.worker:
            self.start()
        try:
            answer = self.worker.evaluate(attempt.code, timeout=LIMIT)
        except Died:
            self.stop()
            return ""
        if "failure" not in answer:
            return None
        expect_real(attempt, json.dumps(answer))
        return answer["failure"]["message"]


@tests_of({name: (letter, name) for letter, name in LAYERS.items()})
def a_layer_alone_stops_its_rows(letter, name):
    names, landlock = offers()
    if name not in names:
        raise Skipped("this machine does not offer it")
    rows = [attempt for attempt in ATTEMPTS if stopping(attempt, [name], landlock)]
    hostile, problems = Hostile(name), []
    try:
        for attempt in rows:
            if hostile.attempt(attempt) is None:
                problems.append(attempt.what)
                hostile.stop()
                make_victim()
    finally:
        hostile.stop()
    expect(not problems, "escaped:", "; ".join(problems))
    if letter in "SLM":
        expect(len(rows) >= 30, "only", len(rows), "rows")
    if letter != "H":
        expect_unchanged("with " + name)


@test
def attempts_are_real_where_nothing_stops_them():
    """In a process of their own: many change it for good."""
    stopped, rows = [], [attempt for attempt in ATTEMPTS if attempt.plain]
    hostile = Hostile("none")
    try:
        for attempt in rows:
            why = hostile.attempt(attempt)
            if why is not None:
                stopped.append("%s: %s" % (attempt.what, why))
            make_victim()
            if attempt.layers in ("R", "MR"):  # it has taken what others need
                hostile.stop()
    finally:
        hostile.stop()
        make_victim()
        visits()
        libc.setpriority(0, stranger.pid, priority)
    for line in stopped:
        print("# does not work on this machine anyway: " + line)
    expect(len(rows) >= 50 and len(stopped) <= len(rows) // 10, "stopped:", "; ".join(stopped))


@test
def the_document_has_the_table():
    text = (HERE.parent.parent / "docs" / "lisp.md").read_text(encoding="utf-8")
    expect("\n".join(["| attempt | stopped by each of |", "|---|---|", *table()]) in text, "docs/lisp.md has another table: run escapes.py")


if __name__ == "__main__":
    main()
