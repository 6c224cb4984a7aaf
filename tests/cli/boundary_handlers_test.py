"""Black-box tests of the command-line boundary: time, signals, outputs, and handlers that misbehave in every way
that can be produced.

    MISHAP_PROGRAM=… SAMPLE_PROGRAM=… DIRECTORY_PROGRAM=… python3 tests/cli/boundary_handlers_test.py [PART-OF-A-NAME]

Speaks TAP. boundary.py holds every answer against what holds for all of them, and has the last tests.
"""
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import tempfile
import time

import blackbox
import leaks
from blackbox import Answer, Broken, PATIENCE, SANITIZED, Skipped, equal, expect, in_time, main, run_program, test, tests_of
from boundary import (CATALOG, FOLDER, LOG, PROGRAMS, after_all, ask, ended, fifo, internal, on_terminal, output, run, started,
                      told, wait_until_it_asks, wait_until_it_writes)

# ---- The clock and signals -----------------------------------------------------------------------

TOLD_NOTHING = 20  # seconds; a command that was told nothing takes longer


@tests_of({"reading a FIFO": ("sample", ["block", "--how", "fifo", "--path", "FIFO"], True),
           "in a loop": ("sample", ["block", "--how", "loop"], True),
           "with all signals blocked": ("sample", ["block", "--how", "sleep"], True),
           "opening a FIFO": ("mishap", ["render", "--dialect", "http-api", "FIFO"], True),
           "checking a FIFO": ("mishap", ["check", "--dialect", "http-api", "--lines", "FIFO"], True),
           "a value from a FIFO": ("sample", ["echo", "@FIFO"], True),
           "what changes something": ("sample", ["touch", "--path", "FIFO.new", "--wait"], False)})
def a_timeout_fires_while_the_command_blocks(program, words, retryable):
    with fifo() as path:
        found = in_time(lambda: ask(program, *[word.replace("FIFO", path) for word in words], "--timeout-ms", "300", status=10,
                                    code="TIMEOUT"), 0.2, TOLD_NOTHING)
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


# The times of a command that is to come so far before its time is up. On a machine that is too busy for the first, it gets the next.
TIMES_MS = (1500, 6000, 25000)


@test
def a_handler_that_asks_notices_that_its_time_is_up():
    path = os.path.join(FOLDER, "lingered")
    for ms in TIMES_MS:  # one that has not asked yet is not waited for
        equal(ask("sample", "linger", "--path", path, "--timeout-ms", str(ms), status=10, code="TIMEOUT")["data"], None)
        if os.path.exists(path):
            break
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


def after_its_time(end):
    """What `end` returns for a command whose time is up while it writes. If it was up before, the command says so and ends."""
    for ms in TIMES_MS:
        with started("sample", "much", "--bytes", "1000000", "--timeout-ms", str(ms)) as process:
            wait_until_it_writes(process)
            time.sleep(ms / 1000 + 0.5)
            if process.poll() is None:
                return end(process)
            told("sample", ended(process), 10, "TIMEOUT")
    raise Broken("its time is always up before it writes")


@test
def a_signal_ends_it_too_when_the_time_is_up_already():
    def end(process):
        process.send_signal(signal.SIGTERM)
        return process.wait(PATIENCE)
    equal(after_its_time(end), 143, "the exit code")


@test
def a_slow_reader_gets_all_of_it():
    found = after_its_time(lambda process: told("sample", ended(process), 0))
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
    services = "The services are: todo, lisp, artifacts, symbolic"
    for name, message, suggestion in [("nix", "No service is named `nix`.", services), ("todo,lips", "No service is named `lips`.", "Did you mean `lisp`? " + services),
                                      ("todo,", "A name of a service is empty.", services)]:
        answer = run("mishap", "mcp", "--service", name)
        error = told("mishap", Answer(answer.status, answer.err, b""), 2, "ARG_ERROR")["error"]
        equal((error["message"], error["suggestion"]), (message, suggestion))
        answer = run("mishap", "serve", "--listen", "127.0.0.1:0", "--service", name)
        error = told("mishap", answer, 2, "ARG_ERROR")["error"]
        equal((error["message"], error["suggestion"]), (message, suggestion))


after_all(0, 1, 2, 4, 5, 6, 8, 10, 11, 12, 130, 143)

if __name__ == "__main__":
    main()
