"""How black-box tests of the command-line boundary run programs, and what holds for every answer.

told() holds every answer against that and keeps it; the last tests look at all that was kept: exit codes against the
manifest, envelopes against the JSON Schema and `mishap check`, and secrets in anything that a program wrote.
MISHAP_NODE_MODULES names the folder with ajv in it.
"""
import atexit
import contextlib
import errno
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

import blackbox
import journal
from blackbox import Answer, PATIENCE, Skipped, equal, expect, parsed, run_program, test, open_terminal

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {name: os.path.abspath(os.environ[name.upper() + "_PROGRAM"]) for name in ["mishap", "sample", "directory"]}

# Everything that the programs may write lies in one folder, so that it can be searched.
FOLDER = tempfile.mkdtemp(prefix="boundary-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
LOG = os.path.join(FOLDER, "sample.log")
os.environ.update(HOME=FOLDER, XDG_STATE_HOME=os.path.join(FOLDER, "state"), LC_ALL="C", SAMPLE_LOG=LOG,
                  DIRECTORY_FILE=os.path.join(FOLDER, "users.txt"))
for variable in ["SAMPLE_TOKEN", "TOOL_TRACE_ID", "MISHAP_LOG", "DIRECTORY_LOG", "NO_COLOR"]:
    os.environ.pop(variable, None)
os.chdir(FOLDER)

SECRET = "marker-secret-4711"
TRACE = re.compile(rb"Traceback|\\tat |marker-\w+-trace|native stack|\+0x[0-9a-f]|\.c:\d|\.py\b|"
                   rb"SIG(SEGV|BUS|FPE|ILL|TRAP|SYS|ABRT)")

# ---- Running programs, and what holds for every answer -------------------------------------------

envelopes = []  # (name of the test, bytes)
exits = {}      # (program, command, exit code): name of a test that saw it
output = []     # (name of the test, bytes): all that a program wrote to stdout or stderr


def run(program, *arguments, **more):
    answer = run_program(PROGRAMS[program], *arguments, **more)
    output.extend((blackbox.current, text) for text in (answer.out, answer.err))
    return answer


def told(program, answer, status=None, code=None, err=b"", own=False):
    """The one object on stdout, held against all that is always so. `own`: a success, in which the program may tell anything."""
    expect(answer.out.endswith(b"\n") and answer.out.count(b"\n") == 1, "stdout is not one line:", answer.out, answer)
    expect(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", answer.out), "control characters in", answer.out)
    shown = re.sub(rb"@f\.py\b|the file f\.py\b", b"", answer.out)  # the examples of the symbolic service
    expect(own and answer.status == 0 or not TRACE.search(shown), "the text of a stack trace in", answer.out)
    found = parsed(answer.out)
    if not own:
        envelopes.append((blackbox.current, answer.out))
    equal(list(found), ["ok", "data", "error", "warnings", "meta"], "the keys")
    equal(found["ok"], answer.status == 0, "ok")
    equal(found["error"] is None, found["ok"], "no error")
    exits.setdefault((program, found["meta"]["command"], answer.status), blackbox.current)
    error = found["error"]
    if error:
        expect(re.fullmatch("[A-Z][A-Z0-9_]+", error["code"]), "code:", error["code"])
        expect(re.fullmatch(r"[A-Z`].*[.)]", error["message"], re.S), "no sentence:", error["message"])
        expect(isinstance(error["retryable"], bool), "retryable:", error)
        expect(error.get("suggestion") or not error["retryable"], "no suggestion:", error)
        expect(error.get("suggestion") or error["phase"] != "validation", "no suggestion:", error)
    if err is not None:
        equal(answer.err, err, "stderr")
    if status is not None:
        equal((answer.status, error and error["code"]), (status, code), "exit and code")
    return found


def ask(program, *arguments, status=0, code=None, **more):
    return told(program, run(program, *arguments, **more), status, code)


def internal(found, log=LOG):
    """An INTERNAL_ERROR says nothing but its incident; what the log says of that is returned."""
    equal((found["error"]["message"], found["data"]), ("An internal error occurred.", None), "message and data")
    equal(list(found["error"]["context"]), ["incident"], "the context")
    with open(log, encoding="utf-8") as file:
        entries = re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ \S+ \w)", journal.shown(file.read()), flags=re.M)
    entries = [entry for entry in entries if found["error"]["context"]["incident"] in entry.split("\n")[0]]
    equal(len(entries), 1, "entries in the log")
    return entries[0]


@contextlib.contextmanager
def started(program, *arguments, **more):
    """A program that runs; with its watcher, when it has one."""
    with subprocess.Popen([PROGRAMS[program], *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **more) as process:
        try:
            wait_for(lambda: threads(process) > 1)
            time.sleep(0.1)
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        expect(time.monotonic() < deadline, "it does not happen")
        time.sleep(0.005)


def threads(process):
    return len(os.listdir("/proc/%d/task" % process.pid))


def wait_until_it_asks(process):
    """A handler that asks again and again whether it is cancelled, and sleeps in between: that can be seen from here."""
    def sleeps():
        with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)$", file.read(), re.M)[1])
    before = sleeps()
    wait_for(lambda: sleeps() > before + 50)


def wait_until_it_writes(process):
    """Its answer is on its way, and is more than a pipe takes: so nothing but a reader or a signal can end it."""
    expect(select.select([process.stdout], [], [], PATIENCE)[0], "it writes nothing")


def ended(process):
    out, err = process.communicate(timeout=PATIENCE)
    output.extend((blackbox.current, text) for text in (out, err))
    return Answer(process.returncode, out, err)


def on_terminal(program, *arguments, env=None):
    """Run with stdout and stderr on one terminal: exit code and what it shows."""
    terminal, other = open_terminal()
    with subprocess.Popen([PROGRAMS[program], *arguments], stdin=subprocess.DEVNULL, stdout=other, stderr=other,
                          env=dict(os.environ, **(env or {}))) as process:
        os.close(other)
        shown = b""
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
        except OSError as error:
            equal(error.errno, errno.EIO)
        os.close(terminal)
        output.append((blackbox.current, shown))
        return process.wait(PATIENCE), shown


@contextlib.contextmanager
def fifo():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        path = os.path.join(folder, "fifo")
        os.mkfifo(path)
        yield path


def fresh_file(name, content):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(content)
    return path


def files_below(folder):
    return sorted(os.path.join(where, name) for where, folders, files in os.walk(folder) for name in folders + files)


# ---- What the programs say of themselves ---------------------------------------------------------

MANIFESTS = {name: parsed(run_program(path, "manifest").out)["data"] for name, path in PROGRAMS.items()}
COMMANDS = {"%s %s" % (program, name.replace(".", " ")): (program, name.split("."), command)
            for program, manifest in MANIFESTS.items() for name, command in manifest["commands"].items()}
WITHOUT_HELP = {title: row for title, row in COMMANDS.items() if row[1] != ["help"]}
CATALOG = {row["code"]: row for row in parsed(run_program(PROGRAMS["mishap"], "catalog").out)["data"]}


# ---- All that was seen ---------------------------------------------------------------------------

def some_were_seen(what):
    if not what:
        expect(sys.argv[1:], "nothing was seen")
        raise Skipped("nothing was seen")


def after_all(*codes):
    """The last tests of a run, which look at all that was kept. It is to have seen these exit codes."""
    @test
    def every_exit_code_that_was_seen_is_declared():
        some_were_seen(exits)
        seen = set()
        for (program, command, status), name in exits.items():
            seen.add(status)
            if command:  # without a command there is no map
                declared = MANIFESTS[program]["commands"][command.replace(" ", ".")]["exit_codes"]
                expect(str(status) in declared, program, command, "exits with", status, "in:", name)
        if not sys.argv[1:]:
            expect(set(codes) <= seen, "not all were seen:", seen)

    @test
    def every_envelope_that_was_seen_conforms_strictly():
        some_were_seen(envelopes)
        answer = run_program(PROGRAMS["mishap"], "check", "--dialect", "cli-envelope", "--strict", "--lines",
                             stdin=b"".join(text for _, text in envelopes))
        found = parsed(answer.out)
        for finding in found["data"]["findings"]:
            expect(False, *envelopes[finding["line"] - 1], finding)
        equal((found["data"]["documents"], answer.status), (len(envelopes), 0), "documents and exit")

    @test
    def every_envelope_that_was_seen_fits_the_schema():
        some_were_seen(envelopes)
        modules = os.environ.get("MISHAP_NODE_MODULES", "")
        if not shutil.which("node") or not os.path.isdir(os.path.join(modules, "ajv")):
            raise Skipped("ajv is not there: see scripts/setup")
        done = subprocess.run(["node", os.path.join(HERE, "ajv.mjs"), modules],
                              input=b"".join(text for _, text in envelopes), capture_output=True, timeout=PATIENCE, check=False)
        for number in re.findall(rb"^line (\d+)", done.stdout, re.M):
            expect(False, done.stdout[:1000], *envelopes[int(number) - 1])
        equal((done.returncode, done.stdout, done.stderr), (0, b"%d envelopes, 0 do not fit\n" % len(envelopes), b""))

    @test
    def no_secret_is_in_anything_that_was_written():
        some_were_seen(output)
        for name, text in output:
            expect(SECRET.encode() not in text, "in the output of:", name)
        for path in files_below(FOLDER):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    expect(SECRET.encode() not in file.read(), "in", path)
