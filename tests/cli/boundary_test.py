"""Black-box tests of the command-line boundary: every command, in every way to fail that can be produced.

    MISHAP_PROGRAM=… SAMPLE_PROGRAM=… DIRECTORY_PROGRAM=… python3 tests/cli/boundary_test.py [PART-OF-A-NAME]

Speaks TAP. told() holds every answer against what holds for all of them and keeps it; the last tests look at all
that was kept: exit codes against the manifest, envelopes against the JSON Schema and `mishap check`, and secrets
in anything that a program wrote. MISHAP_NODE_MODULES names the folder with ajv in it.
"""
import atexit
import contextlib
import errno
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

import blackbox
import leaks
from blackbox import (Answer, PATIENCE, SANITIZED, Skipped, equal, expect, main, make_locale, parsed, run_program, test,
                      tests_of, open_terminal)

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
        entries = re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ \S+ \w)", file.read(), flags=re.M)
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


# ---- The command line, for every command of every program ----------------------------------------

MANIFESTS = {name: parsed(run_program(path, "manifest").out)["data"] for name, path in PROGRAMS.items()}
COMMANDS = {"%s %s" % (program, name.replace(".", " ")): (program, name.split("."), command)
            for program, manifest in MANIFESTS.items() for name, command in manifest["commands"].items()}
WITHOUT_HELP = {title: row for title, row in COMMANDS.items() if row[1] != ["help"]}
NEEDING = {title: row for title, row in WITHOUT_HELP.items() if any(f["required"] for f in row[2]["flags"].values())}


def named(found):
    return [item["param"] for item in found["error"]["errors"]]


@tests_of(WITHOUT_HELP)
def a_bad_flag_is_named(program, words, command):
    found = ask(program, *words, "--bogus-one=1", status=2, code="ARG_ERROR")
    expect("--bogus-one" in named(found), found)
    equal(found["error"]["phase"], "validation")
    equal(found["meta"]["command"], " ".join(words), "the command")


@tests_of(WITHOUT_HELP)
def two_bad_flags_are_both_named(program, words, command):
    found = ask(program, *words, "--bogus-one=1", "--bogus-two", status=2, code="ARG_ERROR")
    expect({"--bogus-one", "--bogus-two"} <= set(named(found)), found)
    for flag in ("--bogus-one", "--bogus-two"):
        expect(flag in found["error"]["message"], found["error"]["message"])


@tests_of(WITHOUT_HELP)
def a_bad_value_of_a_common_flag_is_named(program, words, command):
    own = command["flags"]["timeout-ms"].get("default") is not None
    found = ask(program, *words, "--output", "morse", "--timeout-ms=never", status=2, code="ARG_ERROR")
    expect({"--output", "timeout_ms" if own else "--timeout-ms"} <= set(named(found)), found)


@tests_of(NEEDING)
def every_missing_parameter_is_named(program, words, command):
    found = ask(program, *words, status=2, code="ARG_ERROR")
    needed = [name.replace("-", "_") for name, flag in command["flags"].items() if flag["required"]]
    equal(named(found), needed, "the parameters")
    equal({item["code"] for item in found["error"]["errors"]}, {"FIELD_REQUIRED"})


@tests_of({title: row for title, row in WITHOUT_HELP.items() if row[1][0] not in ("manifest", "manual", "completion")})
def an_unexpected_argument_is_named(program, words, command):
    found = ask(program, *words, "--", "one", "two", "three", "four", status=2, code="ARG_ERROR")
    expect("four" in named(found), found)


@tests_of(COMMANDS)
def help_and_version_do_no_work(program, words, command):
    answer = run(program, *words, "--help")
    equal((answer.status, answer.out), (0, b""), "exit and stdout")
    expect(words[-1].encode() in answer.err, answer.err)
    answer = run(program, *words, "--version")
    equal((answer.status, answer.err), (0, b""), "exit and stderr")
    expect(re.fullmatch(rb"\w+ [\d.]+\n", answer.out), answer.out)


@tests_of({"with a flag": ["keys", "--help"], "with a letter": ["keys", "-h"], "with a word": ["help", "keys"]})
def the_first_word_of_several_commands_has_help_of_its_own(words):
    answer = run("mishap", *words)
    equal((answer.status, answer.out), (0, b""), "exit and stdout")
    equal(re.findall(rb"^  (\w+ \w+)", answer.err, re.M), [b"keys add", b"keys list", b"keys remove", b"keys disable"], "the commands")
    expect(answer.err.startswith(b"Usage: mishap keys COMMAND"), answer.err)
    expect(b"mishap keys COMMAND --help" in answer.err, answer.err)


@tests_of({"letters swapped": ("mishap", ["rendre"], "mishap render"),
           "a letter too few": ("mishap", ["chek"], "mishap check"),
           "a letter too many": ("mishap", ["connnect"], "mishap connect"),
           "built in": ("mishap", ["manifst"], "mishap manifest"),
           "of two words": ("directory", ["users", "craete"], "directory users create"),
           "the first of two": ("sample", ["secret"], "sample secret use"),
           "in capitals": ("sample", ["CRASH"], "sample crash"),
           "behind help": ("mishap", ["help", "rendre"], "mishap render"),
           "letters left out": ("mishap", ["srv"], "mishap serve"),
           "behind a flag": ("mishap", ["--output=json", "srv"], "mishap serve")})
def an_unknown_command_is_answered_with_the_nearest(program, words, nearest):
    found = ask(program, *words, status=2, code="UNKNOWN_COMMAND")
    equal(found["error"]["suggestion"], "Did you mean `%s`?" % nearest, "the suggestion")


@tests_of({"far from all": ["xylophone"], "none": [], "only a flag": ["--output", "json"]})
def without_a_near_command_help_is_suggested(words):
    found = ask("mishap", *words, status=2, code="UNKNOWN_COMMAND")
    equal(found["error"]["suggestion"], "Run `mishap --help` to see the commands.")


BEFORE = {"apart": ["--output", "text"], "in one": ["--output=text"], "after another": ["-v", "--output", "text"],
          "with a time": ["--timeout-ms", "60000", "--output", "text"]}


@tests_of(BEFORE)
def flags_of_all_commands_may_stand_before_the_command(flags):
    answer = run("sample", *flags, "types", "-s", "ab")
    equal(answer.status, 0, "exit")
    expect(re.search(rb"^string +ab$", answer.out, re.M), answer.out)
    answer = run("directory", *flags, "users", "list")
    equal((answer.status, answer.out, answer.err), (0, b"", b"The list is empty.\n"), "exit and users")
    answer = run("mishap", *flags, "srv")
    equal((answer.status, answer.out), (2, b""), "exit and stdout")
    expect(b"error UNKNOWN_COMMAND" in answer.err and b"mishap serve" in answer.err, answer.err)


@test
def help_before_a_command_is_help_for_it():
    answer = run("sample", "--help", "types")
    expect(answer.status == 0 and b"--colour" in answer.err, answer)


@test
def an_unknown_command_is_told_as_it_was_asked_to_be():
    answer = run("mishap", "srv", "--output", "text")
    equal((answer.status, answer.out), (2, b""), "exit and stdout")
    expect(answer.err.startswith(b"error UNKNOWN_COMMAND"), answer.err)


@test
def another_flag_before_the_command_is_named():
    error = ask("mishap", "--data", "x", "serve", status=2, code="UNKNOWN_COMMAND")["error"]
    expect(error["message"].startswith("The option --data was given before the command."), error)
    equal(error["suggestion"], "Write the option after the command: `mishap COMMAND --data`")


@tests_of({"explain": ("mishap", ["explain"], "code"), "connect": ("mishap", ["connect", "--port", "1"], "host"),
           "echo": ("sample", ["echo"], "text"), "secret use": ("sample", ["secret", "use"], "token"),
           "users create": ("directory", ["users", "create", "--email", "a@b.c"], "name")})
def a_file_for_a_value_that_cannot_be_read_is_named(program, words, param):
    closed = fresh_file("closed", b"x")
    os.chmod(closed, 0)
    for path in ["missing", FOLDER] + ([closed] if os.getuid() else []):
        found = ask(program, *words, "--" + param, "@" + path, status=2, code="ARG_ERROR")
        equal([(item["param"], item["code"]) for item in found["error"]["errors"]], [(param, "UNREADABLE_FILE")])


@test
def a_file_that_cannot_be_read_is_told_once_however_often_it_is_tried():
    for _ in range(60):  # a watcher that outlives the answer would give another one now and then
        ask("sample", "echo", "@missing", status=2, code="ARG_ERROR")


TYPES = {  # the words for `sample types`, the parameters that are named with the code of each
    "too short": (["-s", "a"], [("string", "INVALID_LENGTH")]),
    "too long in characters, not bytes": (["-s", "äöüäöü"], [("string", "INVALID_LENGTH")]),
    "no integer": (["-s", "ab", "--integer", "1.5"], [("integer", "INVALID_TYPE")]),
    "integer out of range": (["-s", "ab", "--integer=-11"], [("integer", "VALUE_OUT_OF_RANGE")]),
    "no number": (["-s", "ab", "--number", "NaN"], [("number", "INVALID_TYPE")]),
    "no boolean": (["-s", "ab", "--boolean=yes"], [("boolean", "INVALID_TYPE")]),
    "no choice": (["-s", "ab", "--colour", "blue"], [("colour", "INVALID_CHOICE")]),
    "item out of range": (["-s", "ab", "--list-of", "[1,10]"], [("list_of[1]", "VALUE_OUT_OF_RANGE")]),
    "too many items": (["-s", "ab", "--list-of", "[1,1,1,1]"], [("list_of", "INVALID_LENGTH")]),
    "half an array, then an item": (["-s", "ab", "--list-of", "[1", "--list-of", "2"], [("list_of", "INVALID_TYPE")]),
    "no object": (["-s", "ab", "--point", "[]"], [("point", "INVALID_TYPE")]),
    "names inside that are not known, beside the rest": (
        ["-s", "a", "--point", '{"y":2,"z":1}'],
        [("string", "INVALID_LENGTH"), ("point.x", "FIELD_REQUIRED"), ("point.y", "VALUE_OUT_OF_RANGE"),
         ("point.z", "UNKNOWN_FIELD")]),
    "a name inside that is not known, alone": (["-s", "ab", "--point", '{"x":1,"z":1}'], [("point.z", "UNKNOWN_FIELD")]),
    "members": (["-s", "ab", "--point", '{"y":2}'], [("point.x", "FIELD_REQUIRED"), ("point.y", "VALUE_OUT_OF_RANGE")]),
    "given twice": (["-s", "ab", "-s", "cd"], [("string", "GIVEN_TWICE")]),
    "everything at once": (["--colour", "blue", "--integer", "x", "--what"],
                           [("string", "FIELD_REQUIRED"), ("integer", "INVALID_TYPE"), ("colour", "INVALID_CHOICE"),
                            ("--what", "UNKNOWN_OPTION")]),
}


@tests_of(TYPES)
def every_bad_value_is_named_in_one_answer(words, expected):
    found = ask("sample", "types", *words, status=2, code="ARG_ERROR")
    equal(sorted((item["param"], item["code"]) for item in found["error"]["errors"]), sorted(expected), "the errors")


@tests_of({"an array": ("list_of", "[1,a]"), "an object": ("point", "{x:1}")})
def json_that_is_none_is_called_that(param, value):
    item, = ask("sample", "types", "-s", "ab", "--" + param, value, status=2, code="ARG_ERROR")["error"]["errors"]
    equal((item["code"], item["message"]), ("INVALID_TYPE", "%s must be: valid JSON." % param))


@tests_of({"of a parameter": (["types", "-s", "ab", "--colour", "blue"], "blue"),
           "of a builtin": (["completion", "tcsh"], "tcsh"), "of a common flag": (["types", "-s", "ab", "--output", "x"], "x"),
           "of a long one": (["types", "-s", "ab", "--colour", "x" * 1000], "x" * 100)})
def a_wrong_choice_is_shown_beside_the_choices(words, value):
    item, = ask("sample", *words, status=2, code="ARG_ERROR")["error"]["errors"]
    equal((item["code"], item["value"]), ("INVALID_CHOICE", value), "code and value")
    expect(item["message"].endswith(", not %s." % value), item)


@test
def a_pattern_is_told_in_words_where_there_are_some():
    item, = ask("sample", "form", "--place", "8080", status=2, code="ARG_ERROR")["error"]["errors"]
    equal((item["code"], item["message"], item["expected"]),
          ("INVALID_FORMAT", "place must look like HOST:PORT, such as localhost:80, not 8080.", "HOST:PORT, such as localhost:80"))
    help_text = " ".join(run("sample", "form", "--help").err.decode().split())
    expect("Where it is (looks like HOST:PORT, such as localhost:80)" in help_text, help_text)
    about = MANIFESTS["sample"]["commands"]["form"]["flags"]["place"]["description"]
    expect("looks like HOST:PORT" in about and "matches ^[a-z]+:[0-9]+$" in about, about)
    for flag, sentence in {"listen": "listen must look like HOST:PORT, such as ",
                           "public-url": "public_url must look like https://"}.items():
        item, = ask("mishap", "serve", "--" + flag, "8080 ", status=2, code="ARG_ERROR")["error"]["errors"]
        expect(item["message"].startswith(sentence), item)
    error = ask("mishap", "serve", "--cors", "8080 ", status=2, code="ARG_ERROR")["error"]
    expect("scheme://host" in error["message"] and "--cors https://" in error["suggestion"], error)


@tests_of({"one": (["form", "--place", "a:70000"], ["place must be at least 0 and at most 65535, not 70000."], 1),
           "of the arguments": (["types"], ["string is required (string)."], 1),
           "several": (["types", "-s", "a", "--integer", "x"], ["string must have", "integer must be"], 1)})
def every_field_is_named_once_in_text(words, sentences, times):
    err = run("sample", *words, "--output", "text").err.decode()
    for sentence in sentences:
        equal(err.count(sentence), times, sentence + " in " + err)


@test
def a_port_that_there_is_not_is_named_in_text():
    answer = run("mishap", "serve", "--listen", "127.0.0.1:70000", "--output", "text")
    equal((answer.status, answer.out), (2, b""), "exit and stdout")
    expect(b"- listen must be at least 0 and at most 65535, not 70000." in answer.err, answer.err)


@test
def values_of_every_type_arrive():
    long = fresh_file("long", "[1, 2]".encode())
    found = ask("sample", "types", "--string", "äöüäö", "--integer=-3", "--number", "0.5", "-b", "--colour=red",
                "--list-of", "@" + long, "--point", '{"x": 1, "y": -1}')
    equal(found["data"], {"string": "äöüäö", "integer": -3, "number": 0.5, "boolean": True, "colour": "red",
                          "list_of": [1, 2], "point": {"x": 1, "y": -1}})
    found = ask("sample", "types", "--list-of", "1", "-s", "-", "--list-of=2", stdin=b"in")
    equal((found["data"]["string"], found["data"]["list_of"], found["data"]["integer"]), ("in", [1, 2], 3))


# ---- Connecting ----------------------------------------------------------------------------------

@contextlib.contextmanager
def a_port(listen=None):
    """A loopback port that nobody listens on, or with a queue of that length."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listen is not None:
            server.listen(listen)
        yield server.getsockname()[1]


@test
def a_closed_port_is_answered_as_the_requirement_has_it():
    with a_port() as port:
        found = ask("mishap", "connect", "--host", "127.0.0.1", "--port", str(port), status=12,
                    code="CONNECTION_REFUSED")
    error = found["error"]
    equal(error["message"], "Cannot connect to database at 127.0.0.1:%d." % port, "the sentence")
    equal(error["cause"], "Connection refused (ECONNREFUSED)", "the cause")
    equal(error["context"], {"host": "127.0.0.1", "port": port, "timeout_ms": 5000}, "the context")
    expect(str(port) in error["suggestion"], error["suggestion"])
    equal((error["retryable"], found["data"], found["meta"]["command"]), (True, None, "connect"))


@tests_of({"name": "no-such-host.invalid", "name with a dot at its end": "no-such-host.invalid."})
def a_host_that_is_not_known_has_its_own_code(host):
    error = ask("mishap", "connect", "--host", host, "--port", "5432", "--timeout-ms", "25000", status=12,
                code="HOST_NOT_FOUND")["error"]
    expect("EAI_NONAME" in error["cause"], error["cause"])
    equal(error["context"]["host"], host)


@test
def a_port_that_does_not_answer_in_time_has_its_own_code():
    with a_port(listen=0) as port, contextlib.ExitStack() as stack:
        for _ in range(4):  # fill the queue, so that the next one is left without an answer
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        begin = time.monotonic()
        error = ask("mishap", "connect", "--host", "127.0.0.1", "--port", str(port), "--timeout-ms", "300", status=12,
                    code="CONNECTION_TIMEOUT")["error"]
        expect(0.25 < time.monotonic() - begin < 20, "it took", time.monotonic() - begin)
    expect("ETIMEDOUT" in error["cause"], error["cause"])
    equal(error["context"]["timeout_ms"], 300)


@test
def an_open_port_is_no_failure():
    with a_port(listen=5) as port:
        found = ask("mishap", "connect", "--host", "127.0.0.1", "--port", str(port), "--timeout-ms", "25000")
    equal((found["data"]["connected"], found["data"]["port"]), (True, port))


@tests_of({"0": "0", "65536": "65536", "-1": "-1", "text": "http", "fraction": "1.5"})
def a_bad_port_is_refused(port):
    equal(named(ask("mishap", "connect", "--host", "127.0.0.1", "--port", port, status=2, code="ARG_ERROR")), ["port"])


# ---- The clock and signals -----------------------------------------------------------------------

def in_time(begin):
    """Sooner than a command ends that was told nothing."""
    expect(0.2 < time.monotonic() - begin < 20, "it took", time.monotonic() - begin)


@tests_of({"reading a FIFO": ("sample", ["block", "--how", "fifo", "--path", "FIFO"], True),
           "in a loop": ("sample", ["block", "--how", "loop"], True),
           "with all signals blocked": ("sample", ["block", "--how", "sleep"], True),
           "opening a FIFO": ("mishap", ["render", "--dialect", "http-api", "FIFO"], True),
           "checking a FIFO": ("mishap", ["check", "--dialect", "http-api", "--lines", "FIFO"], True),
           "a value from a FIFO": ("sample", ["echo", "@FIFO"], True),
           "what changes something": ("sample", ["touch", "--path", "FIFO.new", "--wait"], False)})
def a_timeout_fires_while_the_command_blocks(program, words, retryable):
    with fifo() as path:
        begin = time.monotonic()
        found = ask(program, *[word.replace("FIFO", path) for word in words], "--timeout-ms", "300", status=10,
                    code="TIMEOUT")
        in_time(begin)
        equal(found["error"]["retryable"], retryable, "retryable")
        equal((found["error"]["context"]["timeout_ms"], found["data"]), (300, None))


SIGNALS = {"SIGTERM": (signal.SIGTERM, 143), "SIGINT": (signal.SIGINT, 130)}
BLOCKED = {"reading a FIFO": ["block", "--how", "fifo", "--path", "FIFO"], "in a loop": ["block", "--how", "loop"],
           "with all signals blocked": ["block", "--how", "sleep"], "a value from a FIFO": ["echo", "@FIFO"]}


@tests_of({"%s, %s" % (one, other): (one, *SIGNALS[one], BLOCKED[other]) for one in SIGNALS for other in BLOCKED})
def a_signal_still_gets_the_one_object(name, number, status, words):
    with fifo() as path, started("sample", *[word.replace("FIFO", path) for word in words]) as process:
        process.send_signal(number)
        found = told("sample", ended(process), status, "CANCELLED")
    equal((found["error"]["signal"], found["data"]), (name, None), "the signal")


def lingered(path):
    """The file that a handler leaves when it has noticed; before that it must not be there."""
    expect(os.path.exists(path), "the handler did not come to its end")
    os.unlink(path)


@tests_of(SIGNALS)
def a_handler_that_asks_notices_a_signal_and_comes_to_its_end(number, status):
    path = os.path.join(FOLDER, "lingered")
    with started("sample", "linger", "--path", path) as process:
        wait_until_it_asks(process)
        expect(not os.path.exists(path), "it noticed too early")
        process.send_signal(number)
        equal(told("sample", ended(process), status, "CANCELLED")["data"], None, "data")
    lingered(path)


@test
def a_handler_that_asks_notices_that_its_time_is_up():
    path = os.path.join(FOLDER, "lingered")
    equal(ask("sample", "linger", "--path", path, "--timeout-ms", "3000", status=10, code="TIMEOUT")["data"], None)
    lingered(path)


@test
def a_handler_that_does_not_ask_is_not_waited_for():
    """One that asks is given two seconds. The quickest of some runs counts, for a busy machine only adds."""
    took = []
    while not took or (min(took) >= 1.8 and len(took) < 10):
        begin = time.monotonic()
        ask("sample", "block", "--how", "sleep", "--timeout-ms", "200", status=10, code="TIMEOUT")
        took.append(time.monotonic() - begin)
    expect(min(took) < 1.8, "it took", took)


@tests_of({"twice": [signal.SIGTERM] * 2, "five times": [signal.SIGTERM] * 5,
           "SIGINT, SIGTERM": [signal.SIGINT, signal.SIGTERM]})
def a_second_signal_changes_nothing(numbers):
    for _ in range(5):
        with started("sample", "block", "--how", "sleep") as process:
            for number in numbers:
                process.send_signal(number)
            answer = ended(process)
        found = told("sample", answer, answer.status, "CANCELLED")
        expect((found["error"]["signal"], answer.status) in [("SIGTERM", 143), ("SIGINT", 130)], found, answer.status)


@test
def a_second_signal_a_moment_later_changes_nothing():
    for delay in (0.0002, 0.0005, 0.001, 0.002):
        with started("sample", "block", "--how", "sleep") as process:
            process.send_signal(signal.SIGTERM)
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            told("sample", ended(process), 143, "CANCELLED")


@test
def a_signal_ends_a_command_whose_reader_does_not_read():
    with started("sample", "much", "--bytes", "1000000", "--timeout-ms", "600000") as process:
        wait_until_it_writes(process)
        process.send_signal(signal.SIGTERM)
        equal(process.wait(PATIENCE), 143, "the exit code")


@test
def a_signal_ends_it_too_when_the_time_is_up_already():
    with started("sample", "much", "--bytes", "1000000", "--timeout-ms", "3000") as process:
        wait_until_it_writes(process)
        time.sleep(3.5)
        process.send_signal(signal.SIGTERM)
        equal(process.wait(PATIENCE), 143, "the exit code")


@test
def a_slow_reader_gets_all_of_it():
    with started("sample", "much", "--bytes", "1000000", "--timeout-ms", "3000") as process:
        wait_until_it_writes(process)
        time.sleep(3.5)
        found = told("sample", ended(process), 0)
    equal(len(found["data"]["text"]), 1000000)
    equal((found["meta"]["truncated"], found["warnings"]), (True, ["There is more."]))


# ---- Where the output goes -----------------------------------------------------------------------

OUTPUTS = {"mishap": ("mishap", ["catalog"]), "sample": ("sample", ["types", "-s", "ab"]),
           "much": ("sample", ["much", "--bytes", "5000000", "--timeout-ms", "60000"]), "directory": ("directory", ["users", "list"]),
           "manifest": ("sample", ["manifest"]), "manual": ("sample", ["manual"]),
           "completion": ("sample", ["completion", "bash"]), "version": ("sample", ["--version"])}
FAILING = {"bad flag": ("sample", ["types", "--bogus"], 2), "crash": ("sample", ["crash", "--how", "abort"], 1)}


def with_stdout(program, words, file):
    done = subprocess.run([PROGRAMS[program], *words], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE,
                          timeout=PATIENCE, check=False)
    output.append((blackbox.current, done.stderr))
    return done.returncode, done.stderr


@tests_of(OUTPUTS)
def a_reader_that_left_is_no_failure(program, words):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as file:
        equal(with_stdout(program, words, file), (0, b""), "exit and stderr")


@tests_of(OUTPUTS)
def a_full_disk_is_told_on_stderr(program, words):
    with open("/dev/full", "wb") as full:
        status, err = with_stdout(program, words, full)
    equal(status, 1, "the exit code")
    expect(re.fullmatch(rb"%s: .*No space left on device\n" % program.encode(), err), err)


@tests_of(OUTPUTS)
def a_closed_standard_output_is_told_on_stderr(program, words):
    answer = run(program, *words, preexec_fn=lambda: os.close(1))
    equal(answer.status, 1, "the exit code")
    expect(re.fullmatch(rb"%s: .*Bad file descriptor\n" % program.encode(), answer.err), answer.err)


@tests_of(FAILING)
def a_failure_keeps_its_exit_code_without_a_reader(program, words, status):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as file:
        equal(with_stdout(program, words, file), (status, b""), "exit and stderr")
    with open("/dev/full", "wb") as full:
        equal(with_stdout(program, words, full)[0], status, "the exit code")


# ---- Handlers that misbehave ---------------------------------------------------------------------

CRASHES = {"SIGSEGV": "segv", "SIGBUS": "bus", "SIGFPE": "fpe", "SIGILL": "ill", "SIGTRAP": "trap",
           "SIGSYS": "sys", "SIGABRT": "abort",
           "SIGSEGV of a stack that ran over": "stack"}


@tests_of({name: (name, how) for name, how in CRASHES.items()})
def a_crash_is_an_internal_error(name, how):
    if SANITIZED and how in ("segv", "fpe", "stack"):
        raise Skipped("the sanitizer reports it first")
    entry = internal(ask("sample", "crash", "--how", how, status=1, code="INTERNAL_ERROR"))
    expect("crashed with %s." % name.split()[0] in entry, entry)
    expect(re.search(r"native stack:\n +#0 ", entry), entry)


@test
def a_crash_is_told_on_stderr_when_asked_for():
    answer = run("sample", "crash", "--how", "abort", "--verbose")
    internal(told("sample", answer, 1, "INTERNAL_ERROR", err=None))
    expect(b"crashed with SIGABRT" in answer.err and b"native stack:" in answer.err, answer.err)


LEAVES = {"exit(0)": ("exit", 0, r"exit\(0\)", "leave_process"), "exit(3)": ("exit", 3, r"exit\(3\)", "leave_process"),
          "exit(3) on another thread": ("thread", 3, r"exit\(3\)", "leave_from_thread"),
          "quick_exit(0)": ("quick_exit", 0, r"quick_exit\(\)", "leave_process")}


@tests_of(LEAVES)
def a_handler_that_ends_the_process_is_an_internal_error(how, status, called, function):
    answer = run("sample", "leave", "--how", how, "--status", str(status))
    found = told("sample", answer, 1, "INTERNAL_ERROR")
    leaks.check(answer.out.decode("utf-8"), answer.out.decode("utf-8"))
    equal(found["warnings"], ["half a line"], "warnings")
    entry = internal(found)
    expect(re.search(r"the handler called %s\.$" % called, entry, re.M), entry)
    expect(re.search(r"native stack:\n( +#.*\n)* +#\d+ %s\+0x" % function, entry), entry)


@test
def a_handler_that_ends_the_process_is_told_on_a_terminal():
    for how in ["exit", "thread", "quick_exit"]:
        status, shown = on_terminal("sample", "leave", "--how", how, "--status", "0", env={"NO_COLOR": "1"})
        equal(status, 1, "the exit code")
        expect(re.fullmatch(rb"error INTERNAL_ERROR  An internal error occurred\.\r\n +incident: [0-9a-f-]{36}\r\n"
                            rb" +details: " + re.escape(LOG.encode()) + rb"\r\nwarning: half a line\r\n", shown), shown)


@test
def a_handler_that_ends_its_thread_is_an_internal_error():
    answer = run("sample", "leave", "--how", "pthread_exit")
    entry = internal(told("sample", answer, 1, "INTERNAL_ERROR"))
    leaks.check(answer.out.decode("utf-8"), answer.out.decode("utf-8"))
    expect("the handler ended its thread." in entry, entry)
    expect(re.search(r"native stack:\n +#0 leave_process\+0x1 ", entry), entry)


@test
def files_are_flushed_after_a_handler_ended_the_process():
    path = os.path.join(FOLDER, "flushed")
    ask("sample", "leave", "--how", "file", "--path", path, status=1, code="INTERNAL_ERROR")
    with open(path, encoding="utf-8") as file:
        equal(file.read(), "written at the end")


@test
def a_child_of_the_handler_may_exit():
    # The sanitizer looks for leaks in the child, too, and wonders where the other threads are.
    env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    found = ask("sample", "leave", "--how", "fork", "--status", "7", env=env)
    equal(found["data"], {"child": 7})


@test
def exit_on_a_thread_does_not_cut_an_answer_that_is_being_written():
    sign = os.path.join(FOLDER, "leave now")
    with started("sample", "leave", "--how", "answer", "--path", sign) as process:
        wait_until_it_writes(process)
        with open(sign, "wb"):
            time.sleep(0.3)  # it looks every millisecond
        found = told("sample", ended(process))
    equal((found["ok"], found["data"]["text"]), (True, "x" * (1 << 20)))


@tests_of({how: how for how in ["text", "number", "string", "cut", "twice", "empty", "two"]})
def an_answer_that_is_nonsense_is_an_internal_error(how):
    entry = internal(ask("sample", "nonsense", "--how", how, status=1, code="INTERNAL_ERROR"))
    expect("is not a JSON object or array" in entry, entry)
    flaw = {"number": "it is one value, neither an object nor an array", "twice": "an object has the same name twice"}
    expect(f'noted flaw = "{flaw.get(how, "")}' in entry, entry)


@test
def a_code_that_is_not_declared_is_an_internal_error():
    answer = run("sample", "undeclared")
    entry = internal(told("sample", answer, 1, "INTERNAL_ERROR"))
    expect("NOT_FOUND" in entry and "marker-undeclared" in entry, entry)
    expect(b"marker-undeclared" not in answer.out, answer.out)


@tests_of({"not declared": "undeclared", "of another type": "type"})
def asking_for_a_parameter_wrongly_is_an_internal_error(how):
    expect("asked for a parameter" in internal(ask("sample", "misuse", "--how", how, status=1, code="INTERNAL_ERROR")))


@tests_of({"of the call": "take", "unchecked": "malloc"})
def no_memory_is_an_internal_error(how):
    if SANITIZED:
        raise Skipped("sanitizers take memory of their own")
    found = ask("sample", "memory", "--how", how, status=1, code="INTERNAL_ERROR",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20)))
    equal(found["error"]["message"], "An internal error occurred.")


CATALOG = {row["code"]: row for row in parsed(run_program(PROGRAMS["mishap"], "catalog").out)["data"]}


@tests_of({code: (code, row) for code, row in CATALOG.items()})
def a_declared_code_is_told(code, row):
    found = ask("sample", "raise", "--code", code, status=row["exit_code"], code=code)
    equal(found["error"]["message"], row["message"], "the sentence")
    equal(found["error"].get("suggestion"), row["suggestion"], "the suggestion")
    expect(row["suggestion"] or row["retry"] == "never", "a recoverable error without a suggestion")


@tests_of({"descriptor": ("descriptor", "stray bytes"), "printf": ("printf", "stray bytes"),
           "escapes": ("escape", "stray "),
           "trace": ("trace", "removed"), "much": ("much", "stray bytes")})
def stray_output_is_a_warning(how, part):
    found = ask("sample", "write", "--how", how)
    equal(found["data"], {"done": True}, "data")
    equal(len(found["warnings"]), 1, "warnings")
    expect(part in found["warnings"][0] and len(found["warnings"][0]) < 5000, found["warnings"])


LEAKS = {"%s, %s" % (place, language): (place, language)
         for place in ["message", "cause", "context", "suggestion"]
         for language in ["python", "java"]}


@tests_of(LEAKS)
def a_stack_trace_never_leaves_with_a_failure(place, language):
    answer = run("sample", "leak", "--how", place, "--language", language)
    found = told("sample", answer, 5, "NOT_FOUND")
    expect("removed" in json.dumps(found), "nothing says that something was removed:", found)


@tests_of(LEAKS)
def a_stack_trace_never_leaves_to_a_terminal_with_a_failure(place, language):
    _, shown = on_terminal("sample", "leak", "--how", place, "--language", language)
    expect(not re.search(rb"Traceback|marker-\w+-trace|\bat com\.", shown), "a trace in", shown)


TRACES = {"python": 'Traceback (most recent call last):\n  File "/srv/app/main.py", line 10, in <module>\n    main()\n'
                    "ValueError: marker-python-trace\n",
          "java": "java.lang.IllegalStateException: marker-java-trace\n\tat com.example.Main.run(Main.java:12)\n"
                  "\tat com.example.Main.main(Main.java:5)\n"}


@tests_of({language: language for language in TRACES})
def a_successful_answer_is_the_programs_own(language):
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        log = os.path.join(folder, "log")
        found = {place: told("sample", run_program(PROGRAMS["sample"], "leak", "--how", place, "--language", language,
                                                   env={"SAMPLE_LOG": log}), 0, own=True)
                 for place in ["value", "deep", "warning"]}
        expect(not os.path.exists(log), "a success is in the log")
    equal(found["value"]["data"], {"output": TRACES[language]})
    equal(found["deep"]["data"], {"kept": True, "lists": ["kept", {
        "a": "java.lang.Error: marker-java-trace\n\tat com.example.Main.run(Main.java:12)\n"}]})
    equal((found["warning"]["data"], found["warning"]["warnings"]), ({"kept": True}, [TRACES[language]]))


# ---- The log file and the disk -------------------------------------------------------------------

@test
def the_log_is_for_its_owner_only():
    ask("sample", "crash", "--how", "abort", status=1, code="INTERNAL_ERROR")
    equal(stat.S_IMODE(os.stat(LOG).st_mode), 0o600, "the mode of the log")


@test
def no_text_can_pass_itself_off_as_an_entry_of_the_log():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        log = os.path.join(folder, "log")
        ask("sample", "echo", "x\n2026-01-01T00:00:00.000Z forged", env={"SAMPLE_LOG": log}, status=5, code="NOT_FOUND")
        with open(log, encoding="utf-8") as file:
            equal(len(re.findall("^[^ ]", file.read(), re.M)), 1, "lines that look like the start of an entry")


@test
def the_log_lies_in_the_state_folder_unless_told_otherwise():
    with tempfile.TemporaryDirectory(dir=FOLDER) as state:
        env = dict(os.environ, XDG_STATE_HOME=state)
        del env["SAMPLE_LOG"]
        done = subprocess.run([PROGRAMS["sample"], "crash", "--how", "abort"], env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False)
        found = told("sample", Answer(done.returncode, done.stdout, done.stderr), 1, "INTERNAL_ERROR")
        internal(found, os.path.join(state, "sample", "sample.log"))


@tests_of({"in a folder that is a file": ({"SAMPLE_LOG": "/dev/null/log"}, "The log /dev/null/log cannot be written: "
                                          "Not a directory (ENOTDIR)."),
           "on a full disk": ({"SAMPLE_LOG": "/dev/full"}, "The log /dev/full cannot be written: No space left on device"),
           "nowhere": ({"HOME": "", "XDG_STATE_HOME": "relative"}, "There is no place for a log.")})
def what_cannot_be_written_to_the_log_goes_to_standard_error(env, why):
    env = dict(os.environ, **env)
    if "HOME" in env and not env["HOME"]:
        del env["SAMPLE_LOG"]
    done = subprocess.run([PROGRAMS["sample"], "crash", "--how", "abort"], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE, check=False)
    found = told("sample", Answer(done.returncode, done.stdout, done.stderr), 1, "INTERNAL_ERROR", err=None)
    entry = done.stderr.decode()
    expect(found["error"]["context"]["incident"] in entry.split("\n")[0], entry)
    expect("crashed with SIGABRT" in entry and "native stack:" in entry, entry)
    expect(entry.split("\n")[-2].startswith("  " + why), entry)
    equal(len(re.findall("native stack:", entry)), 1, "entries")


@test
def a_log_that_is_not_wanted_is_written_nowhere():
    ask("sample", "crash", "--how", "abort", env={"SAMPLE_LOG": ""}, status=1, code="INTERNAL_ERROR")


@test
def what_is_no_incident_is_not_worth_standard_error():
    ask("sample", "echo", "x", env={"SAMPLE_LOG": "/dev/null/log"}, status=5, code="NOT_FOUND")


@test
def mcp_says_at_its_start_that_the_log_cannot_be_written():
    said = b"sample: The log /dev/null/log cannot be written: Not a directory (ENOTDIR). " \
           b"What belongs there goes to standard error.\n"
    equal(run("sample", "mcp", env={"SAMPLE_LOG": "/dev/null/log"}), Answer(0, b"", said))
    equal(run("sample", "mcp"), Answer(0, b"", b""))


@test
def serve_says_at_its_start_that_the_log_cannot_be_written():
    env = dict(os.environ, MISHAP_LOG="/dev/null/log", MISHAP_DATA=os.path.join(FOLDER, "served"))
    words = ["serve", "--listen", "127.0.0.1:0", "--workers", "1", "--chaos"]
    request = b'POST /chaos HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' \
              b'Content-Length: 15\r\nConnection: close\r\n\r\n{"how":"error"}'
    with subprocess.Popen([PROGRAMS["mishap"], *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            equal(process.stderr.readline(), b"mishap: The log /dev/null/log cannot be written: Not a directory (ENOTDIR). "
                                             b"What belongs there goes to standard error.\n")
            address = re.search(rb"http://127\.0\.0\.1:(\d+)", process.stderr.readline())
            with socket.create_connection(("127.0.0.1", int(address[1])), timeout=PATIENCE) as client:
                client.sendall(request)
                reply = b"".join(iter(lambda: client.recv(65536), b""))
        finally:
            process.send_signal(signal.SIGTERM)
            answer = ended(process)
    incident = re.search(rb"X-Request-Id: ([0-9a-f-]{36})", reply)[1]
    expect(incident in answer.err and b"The log /dev/null/log cannot be written" in answer.err, reply, answer.err)


@test
def a_service_that_there_is_not_is_answered_with_those_that_are():
    answer = run("mishap", "mcp", "--service", "nix")
    error = told("mishap", Answer(answer.status, answer.err, b""), 78, "NOT_CONFIGURED")["error"]
    equal((error["message"], error["suggestion"]), ("No service is named `nix`.", "The services are: todo, lisp, artifacts, symbolic"))


# ---- Services that cannot be opened --------------------------------------------------------------

def unopened(data):
    """A service that does not open: what a command and `mcp`, whose standard output is not for this, say of it."""
    error = ask("mishap", "users", "list", env={"MISHAP_DATA": data}, status=78, code="NOT_CONFIGURED")["error"]
    equal((error["message"], error["retryable"]), ("The service todo is not available.", False))
    answer = run("mishap", "mcp", "--data", data)
    equal(told("mishap", Answer(answer.status, answer.err, b""), 78, "NOT_CONFIGURED")["error"], error, "over MCP")
    return error


@test
def a_data_folder_that_cannot_be_made_is_named_with_the_reason():
    error = unopened("/proc/x")
    equal(error["cause"], "The data folder /proc/x cannot be created. No such file or directory (ENOENT)")
    equal(error["suggestion"], "Set MISHAP_DATA to a folder that the program can write to.")


@test
def a_store_that_is_no_database_is_named():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        with open(os.path.join(folder, "todo.sqlite"), "wb") as file:
            file.write(b"x" * 4096)
        error = unopened(folder)
        equal(error["cause"], "The store %s/todo.sqlite is not an SQLite database." % folder)
        equal(error["suggestion"], "Restore the store from a backup, or use another store.")


@test
def a_store_that_cannot_be_made_is_named_with_the_reason():
    equal(unopened("/proc")["cause"], "The store /proc/todo.sqlite cannot be created. No such file or directory")


@tests_of({"serve": (["serve"], "the folder that --data names, else that MISHAP_DATA names, by default in ~/.local/share/mishap."),
           "mcp": (["mcp"], "the folder that --data names, else that MISHAP_DATA names, by default in ~/.local/share/mishap."),
           "of a service": (["users", "list"], "the folder that MISHAP_DATA names, by default in ~/.local/share/mishap.")})
def help_says_where_data_is_kept(words, sentence):
    shown = " ".join(run("mishap", *words, "--help").err.decode().split())
    expect("Data is stored in " + sentence in shown, shown)
    expect(words != ["serve"] or "/mcp" in shown, "no word of /mcp in", shown)
    log = "Failures are logged to the file that MISHAP_LOG names, by default to ~/.local/state/mishap/mishap.log."
    equal(log in shown, words[0] in ("serve", "mcp"), "a word of the log in " + shown)
    for none in (["explain"], ["symbolic", "check"], ["lisp", "evaluate"]):
        expect(b"MISHAP_DATA" not in run("mishap", *none, "--help").err, "what keeps nothing says so:", none)


@test
def an_access_log_that_cannot_be_opened_is_answered_with_what_to_do():
    with tempfile.TemporaryDirectory(dir=FOLDER) as data:
        error = ask("mishap", "serve", "--listen", "127.0.0.1:0", "--data", data, "--access-log", data + "/none/log", status=74,
                    code="OUTPUT_FAILED")["error"]
    equal(error["suggestion"], "Give --access-log a file in an existing folder that the server can write to.")


@test
def the_name_of_a_key_is_explained_without_a_pattern():
    message = ask("mishap", "keys", "add", "--name", "a b", status=2, code="ARG_ERROR")["error"]["message"]
    expect("must look like ci.nightly-2: up to 63 of" in message and "^" not in message, message)


@test
def a_data_folder_is_made_for_its_owner_before_a_service_opens():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        data = os.path.join(folder, "deep", "er")
        ask("mishap", "users", "list", env={"MISHAP_DATA": data})
        equal(stat.S_IMODE(os.stat(data).st_mode), 0o700, "the mode of the folder")


def files_below(folder):
    return sorted(os.path.join(where, name) for where, folders, files in os.walk(folder) for name in folders + files)


@test
def bad_input_help_and_version_leave_nothing_on_the_disk():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        where = {"cwd": folder, "env": {"HOME": folder, "XDG_STATE_HOME": folder + "/state",
                                        "SAMPLE_LOG": folder + "/log", "DIRECTORY_FILE": folder + "/users"}}
        bad = [("sample", "touch", "--path", folder + "/new", "--count", "99"),
               ("sample", "touch", "--path", folder + "/new", "--x"),
               ("directory", "users", "create", "--name", "Ada"), ("directory", "users", "craete"),
               ("sample", "types", "-s", "@missing")]
        bad += [(program, *words, "--bogus") for program, words, _ in WITHOUT_HELP.values()]
        for line in bad:
            told(line[0], run(*line, **where))
        for program, words, _ in COMMANDS.values():
            for word in ("--help", "--version"):
                equal(run(program, *words, word, **where).status, 0)
        for program in PROGRAMS:
            for words in (["manifest"], ["manual"], ["completion", "zsh"], ["--help"], ["--version"], ["help"]):
                equal(run(program, *words, **where).status, 0, words)
        equal(files_below(folder), [], "what was written")


# ---- Secrets -------------------------------------------------------------------------------------

@tests_of({"apart": ["--token", SECRET], "behind an equals sign": ["--token=" + SECRET]})
def a_secret_on_the_command_line_is_refused(words):
    answer = run("sample", "secret", "use", *words, "--verbose")
    found = told("sample", answer, 2, "ARG_ERROR", err=None)
    equal([item["code"] for item in found["error"]["errors"]], ["SECRET_IN_ARGUMENTS"])
    expect(found["error"]["message"].endswith("pass it in a file (@FILE) or on standard input (-)."), found["error"]["message"])


@test
def a_secret_is_taken_from_the_environment_a_file_or_standard_input():
    expected = {"length": len(SECRET)}
    equal(ask("sample", "secret", "use", env={"SAMPLE_TOKEN": SECRET})["data"], expected)
    secret = os.path.join(FOLDER, "secret")
    fresh_file("secret", SECRET.encode() + b"\n")
    try:
        equal(ask("sample", "secret", "use", "--token", "@" + secret)["data"], expected)
        equal(ask("sample", "secret", "use", "--token", "-", stdin=SECRET.encode())["data"], expected)
    finally:
        os.unlink(secret)  # what is found later was written by a program


@tests_of({"in a message": ("message", 8, "AUTH_REQUIRED", SECRET), "in a failure": ("fail", 8, "AUTH_REQUIRED", SECRET), "in a crash": ("crash", 1, "INTERNAL_ERROR", SECRET),
           "in nonsense": ("nonsense", 1, "INTERNAL_ERROR", SECRET), "in what is printed": ("print", 1, "INTERNAL_ERROR", SECRET), "too long": ("length", 2, "ARG_ERROR", SECRET * 5),
           "against its pattern": ("length", 2, "ARG_ERROR", "x" + SECRET)})
def a_secret_is_not_shown(how, status, code, secret):
    for words in ([], ["--verbose"]):
        answer = run("sample", "secret", "use", "--how", how, *words, env={"SAMPLE_TOKEN": secret})
        told("sample", answer, status, code, err=None)
        expect(SECRET[:-4].encode() not in answer.out + answer.err, answer)
    _, shown = on_terminal("sample", "secret", "use", "--how", how, "--verbose", env={"SAMPLE_TOKEN": secret})
    expect(SECRET[:-4].encode() not in shown, shown)


@test
def text_beside_a_failure_is_shown_without_its_secrets():
    _, shown = on_terminal("sample", "secret", "use", "--how", "text", env={"SAMPLE_TOKEN": SECRET})
    expect(b"AUTH_REQUIRED" in shown and b"I tried [redacted]." in shown, shown)


@tests_of({"in an answer": ("answer", b"I used " + SECRET.encode() + b" for it."),
           "in a document": ("document", SECRET.encode() + b"\n")})
def a_secret_that_a_handler_answers_with_is_its_own_affair(how, said):
    answer = run_program(PROGRAMS["sample"], "secret", "use", "--how", how, env={"SAMPLE_TOKEN": SECRET})
    equal((answer.status, answer.err), (0, b""), "how it ended")
    expect(said in answer.out, answer)


# ---- What is echoed, terminals, locales ----------------------------------------------------------

ODD = {"invalid UTF-8": b"a\xff\xfe\x80", "an escape sequence": b"a\x1b[31;1m\x1b]0;title\x07",
       "overlong": b"\xc0\xaf\xe0\x80\x80",
       "a surrogate": b"\xed\xa0\x80", "control characters": b"a\r\x08\x7f\x01\n",
       "C1 in UTF-8": b"a\xc2\x9b31m\xc2\x9d",
       "C1 alone": b"a\x9b31m"}


def odd_lines(odd):
    yield "sample", ["echo", odd]
    yield "sample", ["echo", b"--" + odd]
    yield "sample", [odd]
    yield "sample", ["types", "-s", "ab", b"--colour=" + odd, odd]
    yield "sample", ["echo", b"@" + odd]
    yield "mishap", ["explain", odd]
    yield "mishap", ["connect", "--port", "1", b"--host=" + odd + b".invalid"]
    yield "mishap", ["render", "--dialect", "http-api", odd]
    yield "mishap", ["completion", odd]
    yield "directory", ["users", "create", b"--name=" + odd, b"--email=" + odd]


@tests_of(ODD)
def an_odd_argument_is_never_echoed_raw(odd):
    for program, words in odd_lines(odd):
        answer = run(program, *words)
        found = told(program, answer)
        expect(not found["ok"], "it worked:", words)
        if "--verbose" not in words:
            err = run(program, *words, "--verbose").err
            expect(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", err), "control characters on stderr:", err)
            err.decode("utf-8")


@tests_of(ODD)
def an_odd_argument_is_never_shown_raw_on_a_terminal(odd):
    for program, words in odd_lines(odd):
        for how in ([], ["--output", "json"], ["--verbose"], *([] if "--dialect" in words else [["--dialect", "condition-report"]])):
            status, shown = on_terminal(program, *words, *how, env={"NO_COLOR": "1"})
            expect(status != 0, words)
            text = shown.decode("utf-8")  # it must be UTF-8
            expect(not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text), "control characters in", text)


DIALECTS = ["artifact", "canonical", "cli-envelope", "condition-report", "google-rpc", "graphql", "http-api", "json-api", "json-rpc", "problem",
            "tool-result"]


@tests_of({name: name for name in DIALECTS})
def no_dialect_moves_the_cursor_of_a_terminal(dialect):
    odd = "a\x1b[31;1m\x1b]0;title\x07\x9b2J\x7f\u202e\u2028b"
    words = ["connect", "--port", "1", "--host=" + odd + ".invalid", "--dialect", dialect]
    status, shown = on_terminal("mishap", *words, env={"NO_COLOR": "1"})
    expect(status != 0, words)
    text = shown.decode("utf-8")
    expect(not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\u2028]", text), "control characters in", text)
    expect(".invalid" in text, "nothing of it is shown:", text)
    if dialect == "condition-report":  # where nothing acts on them, all bytes are there
        expect(odd.encode() in run("mishap", *words).out, "it is not exact")


@test
def a_failure_on_a_terminal_is_a_few_readable_lines():
    status, shown = on_terminal("sample", "crash", "--how", "abort", env={"NO_COLOR": "1"})
    equal(status, 1)
    lines = rb"error INTERNAL_ERROR  An internal error occurred\.\r\n +incident: [0-9a-f-]{36}\r\n"
    expect(re.fullmatch(lines + rb" +details: " + re.escape(LOG.encode()) + rb"\r\n", shown), shown)
    _, shown = on_terminal("sample", "crash", "--how", "abort", env={"NO_COLOR": "1", "SAMPLE_LOG": ""})
    expect(re.fullmatch(lines, shown), shown)
    _, shown = on_terminal("sample", "echo", "x", env={"NO_COLOR": "1"})
    expect(shown.startswith(b"error NOT_FOUND  There is no x.\r\n    try: "), shown)
    _, shown = on_terminal("sample", "echo", "x", env={"TERM": "xterm"})
    expect(b"\x1b[1;31merror\x1b[0m" in shown, "no colour in", shown)
    for words in (["echo", "x"], ["--help"]):
        _, shown = on_terminal("sample", *words, env={"TERM": "dumb"})
        expect(b"\x1b" not in shown, "colour in", shown)
    status, shown = on_terminal("sample", "echo", "x", "--output", "json")
    equal((status, parsed(shown)["error"]["code"]), (5, "NOT_FOUND"))


LOCALE_LINES = [("sample", "types", "-s", "ab", "--number", "0.5", "--integer", "x"),
                ("sample", "types", "-s", "ab", "--number", "1.25"),
                ("sample", "types", "-s", "ı", "--number", "-1,5"), ("mishap", "explain", "TIMEOUT"),
                ("mishap", "rendrİ"),
                ("mishap", "connect", "--host", "x.invalid", "--port", "1", "--timeout-ms", "25000"),
                ("sample", "raise", "--code", "INVALID_ARGUMENT"),
                ("mishap", "INIT"), ("sample", "TITLE", "--I"), ("sample", "manifest"), ("mishap", "explain", "i")]
VARIES = rb'"(duration_ms|request_id|timestamp|incident)":("[^"]*"|\d+)'


@tests_of({name: name for name in ["C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "no_SUCH.locale"]})
def the_locale_changes_no_byte(locale):
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        env = {"LC_ALL": locale, "LANG": locale}
        language = re.fullmatch(r"(\w\w_\w\w)\.UTF-8", locale)
        if language:
            if not make_locale(language[1], os.path.join(folder, locale)):
                raise Skipped("the locale cannot be made here")
            env["LOCPATH"] = folder
        for line in LOCALE_LINES:
            answers = [run(*line, env=one) for one in (env, {"LC_ALL": "C"})]
            for answer in answers:
                told(line[0], answer)
            equal(*[(answer.status, re.sub(VARIES, b"", answer.out)) for answer in answers], line)


@test
def the_trace_id_of_the_caller_is_passed_on():
    equal(ask("sample", "types", "-s", "ab", env={"TOOL_TRACE_ID": "abc-123"})["meta"]["trace_id"], "abc-123")
    ask("sample", "types", "-s", "ab", env={"TOOL_TRACE_ID": b"\xff\x1b[31m"})
    expect("trace_id" not in ask("sample", "types", "-s", "ab", env={"TOOL_TRACE_ID": ""})["meta"])


# ---- The manifest --------------------------------------------------------------------------------

COMMON = {"output": "enum", "dialect": "enum", "timeout-ms": "integer", "verbose": "boolean", "help": "boolean", "version": "boolean"}
DECLARED = {  # flag: type, required, default, enum_values, short
    "types": {"string": ("string", True, None, None, "s"), "integer": ("integer", False, 3, None, None),
              "number": ("number", False, None, None, None), "boolean": ("boolean", False, None, None, "b"),
              "colour": ("enum", False, None, ["red", "green"], None), "list-of": ("array", False, None, None, None),
              "point": ("object", False, None, None, None)},
    "secret.use": {"token": ("string", True, None, None, None),
                   "how": ("enum", False, "length", ["length", "fail", "crash", "nonsense", "message", "answer",
                                                      "document", "print", "text"], None)},
    "touch": {"path": ("string", True, None, None, None), "count": ("integer", False, None, None, None),
              "wait": ("boolean", False, None, None, None)},
    "undeclared": {},
}


@tests_of({name: (name, flags) for name, flags in DECLARED.items()})
def the_manifest_has_the_flags_as_declared(name, flags):
    found = MANIFESTS["sample"]["commands"][name]
    equal({flag: (row["type"], row["required"], row.get("default"), row.get("enum_values"), row.get("short"))
           for flag, row in found["flags"].items() if flag not in COMMON}, flags)
    equal({flag: row["type"] for flag, row in found["flags"].items() if flag in COMMON}, COMMON)
    for row in found["flags"].values():
        expect(set(row) <= {"type", "required", "description", "default", "enum_values", "short"}, row)


@test
def the_manifest_lists_every_command_with_its_danger():
    equal(list(MANIFESTS["sample"]["commands"]),
          ["crash", "leave", "memory", "nonsense", "undeclared", "misuse", "raise", "block", "write", "leak", "secret.use",
           "echo", "types", "touch", "much", "linger", "form", "mcp", "help", "manifest", "completion", "manual"])
    equal({name for name, row in MANIFESTS["sample"]["commands"].items() if row["danger_level"] != "safe"},
          {"touch", "linger", "mcp"})
    equal(MANIFESTS["sample"]["commands"]["types"]["examples"],
          [{"description": "The least", "command": "sample types --string abc"}])
    equal(list(MANIFESTS["mishap"]["commands"]),
          ["render", "translate", "check", "catalog", "explain", "connect", "doctor",
           "users.create", "users.get", "users.list", "users.update", "users.delete",
           "todos.create", "todos.get", "todos.list", "todos.update", "todos.delete", "todos.plan", "premium.report",
           "chaos.fail", "lisp.evaluate", "lisp.validate", "lisp.compile", "lisp.macroexpand", "lisp.describe", "lisp.apropos",
           "lisp.last-error", "lisp.backtrace", "lisp.definitions", "lisp.reset", "lisp.limits", "lisp.time", "lisp.load",
           "lisp.repl", "artifacts.invoke", "artifacts.events", "symbolic.check", "symbolic.find", "symbolic.compare", "symbolic.branches", "symbolic.health",
           "symbolic.security", "symbolic.server", "symbolic.capabilities", "symbolic.plan-check", "symbolic.plan-find", "symbolic.plan-compare",
           "symbolic.plan-branches", "serve", "keys.add", "keys.list", "keys.remove", "keys.disable", "mcp", "help", "manifest", "completion", "manual"])


@tests_of(COMMANDS)
def the_exit_codes_of_a_command_are_sound(program, words, command):
    codes = command["exit_codes"]
    expect({"0", "1", "2", "4", "10", "130", "143"} <= set(codes), list(codes))
    for code, row in codes.items():
        expect(1 <= len(row["description"]) <= 120, row)
        expect(row["side_effects"] in ("none", "partial", "complete"), row)
        expect(not row["retryable"] or row["side_effects"] == "none", row)
        expect(row["side_effects"] != "complete" or code == "0", row)
        expect(int(code) < 79 or row["name"], row)


@test
def every_code_of_the_catalog_is_in_the_map_of_what_declares_it():
    declared = set(MANIFESTS["sample"]["commands"]["raise"]["exit_codes"])
    equal({str(row["exit_code"]) for row in CATALOG.values()} - declared, set())


@tests_of({name: name for name in PROGRAMS})
def the_manifest_is_the_same_in_every_run(program):
    found = [ask(program, "manifest", env=env)["data"] for env in ({}, {"LC_ALL": "C.UTF-8", "HOME": "/"}, {})]
    equal(found, [MANIFESTS[program]] * 3)
    expect(re.fullmatch("[0-9a-f]{16}", found[0]["etag"]), found[0]["etag"])


# ---- The example ---------------------------------------------------------------------------------

@test
def the_directory_creates_lists_and_refuses():
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        env = {"DIRECTORY_FILE": os.path.join(folder, "users.txt")}
        ada = {"name": "Ada Lovelace", "age": 36, "email": "ada@example.com"}
        words = ["users", "create", "--name", ada["name"], "--age", "36", "--email", ada["email"]]
        equal(ask("directory", "users", "list", env=env)["data"], [])
        equal(ask("directory", *words, env=env)["data"], ada)
        error = ask("directory", *words, env=env, status=6, code="ALREADY_EXISTS")["error"]
        equal((error["context"], error["retryable"]), ({"email": ada["email"]}, False))
        equal(ask("directory", "users", "list", env=env)["data"], [ada])


@test
def the_directory_names_all_three_findings_at_once():
    error = ask("directory", "users", "create", "--age", "200", "--email", "nowhere", status=2,
                code="ARG_ERROR")["error"]
    equal([(item["param"], item["code"], item["value"]) for item in error["errors"]],
          [("name", "FIELD_REQUIRED", None), ("age", "VALUE_OUT_OF_RANGE", 200), ("email", "PATTERN_MISMATCH", None)])
    expect(not os.path.exists(os.environ["DIRECTORY_FILE"]), "a file was written")


@test
def the_directory_says_so_when_its_file_cannot_be_opened():
    error = ask("directory", "users", "create", "--name", "A", "--email", "a@b.c",
                env={"DIRECTORY_FILE": "/dev/null/users"}, status=12, code="UNAVAILABLE")["error"]
    equal(error["retryable"], True)


# ---- All that was seen ---------------------------------------------------------------------------

def some_were_seen(what):
    if not what:
        expect(sys.argv[1:], "nothing was seen")
        raise Skipped("nothing was seen")


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
        expect({0, 1, 2, 4, 5, 6, 8, 10, 11, 12, 130, 143} <= seen, "not all were seen:", seen)


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


if __name__ == "__main__":
    main()
