"""What the black-box tests of programs have in common: running them, tables of tests, TAP.

A test file adds its tests with @test and @tests_of, and ends with main(). A first argument on the command line
runs only the tests with that part in their name.
"""
import collections
import json
import os
import re
import subprocess
import sys
import threading
import time

SANITIZED = os.environ.get("MISHAP_SANITIZED") == "1"
PATIENCE = 300  # seconds that a program may take on a machine that is busy with others

# ---- Running a program ---------------------------------------------------------------------------

Answer = collections.namedtuple("Answer", "status out err")


def run_program(program, *arguments, stdin=b"", env=None, **more):
    """Run a program to its end."""
    done = subprocess.run([program, *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **(env or {})), timeout=PATIENCE, check=False, **more)
    return Answer(done.returncode, done.stdout, done.stderr)


def run_agent(command, lines, answered, **more):
    """Send lines to a server on standard input, which ends when so many lines were answered, and not before: at the end of its
    input a server does not wait for calls that run."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more) as process:
        guard = threading.Timer(PATIENCE, process.kill)
        guard.start()
        said, told = [], []
        readers = [threading.Thread(target=lambda: told.extend(process.stderr))]
        readers.append(threading.Thread(target=lambda: (process.stdin.write(b"".join(lines)), process.stdin.flush())))
        for reader in readers:
            reader.start()
        while answered and (line := process.stdout.readline()):
            said.append(line)
            answered -= "method" not in json.loads(line)  # else it is a notification
        readers[1].join()
        process.stdin.close()
        said.extend(process.stdout)
        readers[0].join()
        process.wait()
        guard.cancel()
    return Answer(process.returncode, b"".join(said), b"".join(told))


def environment_of(locale):
    """The variables that choose a locale. Those with a language have been compiled for the tests (locales.py)."""
    env = {"LC_ALL": locale, "LANG": locale}
    if re.fullmatch(r"\w\w_\w\w\.UTF-8", locale):
        env["LOCPATH"] = os.environ["MISHAP_LOCALES"]
        if not os.path.isdir(os.path.join(env["LOCPATH"], locale)):
            raise Skipped("the locale cannot be made here")
    return env


def peak_of(pid):
    """The most memory that a process has had, in KB; 0 if it is gone."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


# ---- Saying what must hold -----------------------------------------------------------------------

class Broken(Exception):
    """Something is not as a test expects it."""


class Skipped(Exception):
    """The test cannot be run here."""


def open_terminal():
    """The two ends of a terminal. A system without pseudo-terminals, such as a bare chroot, has none."""
    try:
        return os.openpty()
    except OSError as error:
        raise Skipped("no terminal can be made here") from error


def read_terminal(ours):
    """The pieces that are written to a terminal, until its other end is closed. Closes this end."""
    with os.fdopen(ours, "rb", 0) as end:
        try:
            while piece := end.read(65536):
                yield piece
        except OSError:  # what Linux says of the other end that is closed
            pass


def expect(condition, *what):
    if not condition:
        raise Broken(" ".join(item if isinstance(item, str) else repr(item)[:2000] for item in what))


def equal(actual, expected, what=""):
    expect(actual == expected, what, "is", actual, "and should be", expected)


def without_duplicates(pairs):
    expect(len(dict(pairs)) == len(pairs), "a key stands twice in", pairs)
    return dict(pairs)


def parsed(text):
    return json.loads(text.decode("utf-8"), object_pairs_hook=without_duplicates)


# ---- Tests ---------------------------------------------------------------------------------------

tests = []  # (name, function)
current = ""  # the name of the test that runs


def test(function):
    """A test of its own, named after what it shows."""
    tests.append((function.__name__.replace("_", " "), function))
    return function


def in_time(attempt, least, usual):
    """An attempt lasts so many seconds at least, and ends before one would end that was told nothing. If that time
    passes the machine may have stood still: then there is another attempt. Returns what the last one returned."""
    took = []
    while not took or took[-1] >= usual and (len(took) < 5 or sum(took) < PATIENCE):
        begun = time.monotonic()
        found = attempt()
        took.append(time.monotonic() - begun)
        expect(took[-1] >= least, "it took only", took[-1], "seconds")
    expect(took[-1] < usual, "it took", took, "seconds")
    return found


def tests_of(table):
    """One test a row: the function is called with what stands in the row, whose key is part of the name."""
    def add(function):
        for name, row in table.items():
            title = "%s: %s" % (function.__name__.replace("_", " "), name)
            tests.append((title, lambda row=row: function(*(row if isinstance(row, tuple) else (row,)))))
        return function
    return add


def main():
    global current
    wanted = [(name, run) for name, run in tests if not sys.argv[1:] or sys.argv[1] in name]
    failures = 0
    print("1..%d" % len(wanted))
    for number, (current, run) in enumerate(wanted, 1):
        try:
            run()
            print("ok %d - %s" % (number, current))
        except Skipped as reason:
            print("ok %d - %s # SKIP %s" % (number, current, reason))
        except Exception as problem:  # whatever it is, the other tests go on
            failures += 1
            print("not ok %d - %s" % (number, current))
            print("# " + "\n# ".join(("%s: %s" % (type(problem).__name__, problem)).splitlines()))
        sys.stdout.flush()
    sys.exit(failures > 0)
