"""Hostile code in a session (escapes.py): every attempt fails with a condition, or with the death of its process alone.

    LISPER_PROGRAM=… LAYERS_PROGRAM=… MISHAP_PROGRAM=… LISP_CORE=… SBCL=… python3 tests/lisp/escape_test.py [PART-OF-A-NAME]

All are tried in sessions of a server, with all layers that this machine offers; each layer alone on its rows, by a program that
starts the core with that layer; and those marked so without any layer, where they must succeed. Speaks TAP.
"""
import atexit
import contextlib
import ctypes
import http.client
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
for folder in ["http", "cli"]:
    sys.path.insert(0, str(HERE.parent / folder))
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from escapes import ATTEMPTS, LAYERS, NUMBERS, WORDS, lisp_string, table  # noqa: E402
from server import Server, name_of, processes  # noqa: E402
from worker import CORE, Died, Worker  # noqa: E402

LISPER = os.path.abspath(os.environ["LISPER_PROGRAM"])
LAYERS_PROGRAM = os.path.abspath(os.environ["LAYERS_PROGRAM"])
AS_IT_WAS = "all is as it was"
SIGCONT, SIGKILL = 18, 9
LIMIT = 3  # seconds for an attempt that goes on for ever

# ---- What there is to attack ---------------------------------------------------------------------

FOLDER = tempfile.mkdtemp(prefix="mishap-attacked-", dir="/var/tmp")  # a session has a /tmp of its own
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
KEY = os.getpid() | 0x40000000
libc = ctypes.CDLL(None)


def in_folder(name):
    return os.path.join(FOLDER, name)


def make_victim():
    for name in ("made", "moved"):
        with contextlib.suppress(OSError):
            (os.rmdir if os.path.isdir(in_folder(name)) else os.remove)(in_folder(name))
    with contextlib.suppress(OSError):
        os.remove(in_folder("victim"))
    with open(in_folder("victim"), "w", encoding="ascii") as file:
        file.write(AS_IT_WAS)
    with open(in_folder("source.lisp"), "w", encoding="ascii") as file:
        file.write("(print 1)")


def copy_library():
    """A shared object that is outside, and does no harm."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found = re.search(r"(/\S+/libm[.-]\S*so\S*)", maps.read())
    if not found:
        found = re.search(r"(/\S+libm\.so\.6)", subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout)
    shutil.copy(found[1], in_folder("library.so"))


def listening(family, address, kind=socket.SOCK_STREAM):
    found = socket.socket(family, kind)
    found.bind(address)
    if kind == socket.SOCK_STREAM:
        found.listen(200)
    found.setblocking(False)
    return found


make_victim()
copy_library()
ABSTRACT = "mishap-escape-%d" % os.getpid()
streams = listening(socket.AF_INET, ("127.0.0.1", 0))
PORT = streams.getsockname()[1]
datagrams = listening(socket.AF_INET, ("127.0.0.1", PORT), socket.SOCK_DGRAM)
by_path = listening(socket.AF_UNIX, in_folder("socket"))
abstract = listening(socket.AF_UNIX, "\0" + ABSTRACT)
shared = libc.shmget(KEY, 4096, 0o1600), libc.msgget(KEY, 0o1600), libc.semget(KEY, 1, 0o1600)
atexit.register(lambda: (libc.shmctl(shared[0], 0, None), libc.msgctl(shared[1], 0, None), libc.semctl(shared[2], 0, 0)))
stranger = subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL, env={"SECRET": "of another process"})
atexit.register(lambda: (stranger.kill(), stranger.wait()))


def visits():
    """Who came where nobody is to come."""
    found = []
    for name, where in (("port", streams), ("path", by_path), ("abstract", abstract)):
        with contextlib.suppress(BlockingIOError):
            while True:
                where.accept()[0].close()
                found.append(name)
    with contextlib.suppress(BlockingIOError):
        while True:
            datagrams.recv(100)
            found.append("datagram")
    return found


def expect_unchanged(what):
    status = os.stat(in_folder("victim"))
    with open(in_folder("victim"), encoding="ascii") as file:
        equal(file.read(), AS_IT_WAS, "the victim after an attempt to " + what)
    equal((status.st_mode & 0o777, status.st_nlink), before, "mode and links of the victim after " + what)
    equal(sorted(os.listdir(FOLDER)), ["library.so", "socket", "source.lisp", "victim"], "the folder after an attempt to " + what)
    equal(visits(), [], "visits after an attempt to " + what)
    expect(stranger.poll() is None, "another process has ended after an attempt to", what)
    equal(os.getpriority(os.PRIO_PROCESS, stranger.pid), priority, "its priority after an attempt to " + what)
    equal(socket.gethostname(), HOST, "the name of the host after an attempt to " + what)


HOST = socket.gethostname()
priority = os.getpriority(os.PRIO_PROCESS, stranger.pid)
before = (os.stat(in_folder("victim")).st_mode & 0o777, 1)


def stack_of(pid):
    """The address of memory that a process never reads."""
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        return int(re.search(r"^([0-9a-f]+)-.*\[stack\]", maps.read(), re.M)[1], 16)


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


# ---- Layers --------------------------------------------------------------------------------------

def landlock_suffices(attempt, version):
    needed = attempt.layers[attempt.layers.find("L") + 1:][:1]
    return not needed.isdigit() or version >= int(needed)


def stopping(attempt, names, version):
    """The layers among `names` that stop an attempt."""
    return [name for letter, name in LAYERS.items() if letter in attempt.layers and name in names and
            (letter != "L" or landlock_suffices(attempt, version))]


def offers():
    """The layers that this machine offers, and the version of Landlock."""
    done = subprocess.run([LAYERS_PROGRAM, "offers"], capture_output=True, text=True, check=True).stdout.split("\n")
    version = [int(line.split()[1]) for line in done if line.startswith("landlock ")][0]
    return [line for line in done if line and " " not in line], version


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


def keeper_of(found):
    return [pid for pid, parent in processes() if parent == found.process.pid and name_of(pid) == "mishap-keeper"]


def family_of(found):
    """All processes of a server but those that run sessions."""
    return sorted(pid for pid, parent in processes() if pid == found.process.pid or parent == found.process.pid)


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
                self.worker.process.wait(10)
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
