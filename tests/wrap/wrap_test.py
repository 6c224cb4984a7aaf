"""`mishap wrap`: a command behind it does what it does without it, and its failure is told.

    MISHAP_PROGRAM=… python3 tests/wrap/wrap_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import fcntl
import json
import os
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import PATIENCE, SANITIZED, Answer, Skipped, equal, expect, main, open_terminal, run_program, test, tests_of  # noqa: E402

PROGRAM = os.path.abspath(os.environ["MISHAP_PROGRAM"])
FOLDER = tempfile.TemporaryDirectory(prefix="mishap-wrapped-")
os.environ["MISHAP_LOG"] = os.path.join(FOLDER.name, "log")
if SANITIZED:
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
MARKER = "hunter2-marker-private"
BUILTIN = os.path.join(os.path.dirname(os.path.dirname(HERE)), "src/wrap/builtin")  # the rules that are compiled in


def path_of(name):
    return os.path.join(FOLDER.name, name)


def wrapped(*command, flags=(), **more):
    return run_program(PROGRAM, "wrap", *flags, "--", *command, **more)


def envelope(answer):
    """The last line of stderr, and what stands before it."""
    before, _, line = answer.err.rstrip(b"\n").rpartition(b"\n")
    return json.loads(line), before + b"\n" if before else b""


def failure(*command, **more):
    answer = wrapped(*command, **more)
    told, before = envelope(answer)
    equal((told["ok"], told["meta"]["command"]), (False, "wrap"), "the envelope")
    return answer, told["error"], before


# ---- As if it were started directly ----------------------------------------------------------------

SHELL = ["echo out", "echo err >&2", "echo a; echo b >&2; echo c; echo d >&2", "printf 'no line feed'", "printf 'err without' >&2", ":", "cat", "wc -c", "pwd", "umask",
         "echo $0", "env | grep -c .", "ulimit -n", "printf '\\000\\001\\377binary'", "printf '\\033[31mred\\033[0m\\n'", "printf 'a\\rb\\n' >&2", "sleep 0.01; echo late",
         "yes | head -n 100000", "seq 20000", "seq 20000 >&2", "head -c 300000 /dev/zero", "tty; true", "exec 3>&1; echo three >&3", "(echo child; exit 0)",
         "echo one; (sleep 0.05; echo two); echo three", "trap 'echo cleanup' EXIT; echo body", "set -e; true", "i=0; while [ $i -lt 300 ]; do echo $i; echo $i >&2; i=$((i+1)); done"]
ENDS = {"0": "exit 0", "1": "exit 1", "2": "exit 2", "17": "exit 17", "127": "exit 127", "255": "exit 255", "TERM": "kill -TERM $$", "KILL": "kill -KILL $$",
        "SEGV": "kill -SEGV $$", "ABRT": "kill -ABRT $$", "INT": "kill -INT $$", "USR1": "kill -USR1 $$", "PIPE": "kill -PIPE $$"}
COMMANDS = {"%s; %s" % (words[:30], name): words + "\n" + end for words in SHELL for name, end in ENDS.items()}


def on_pipes(command):
    return run_program(*command, stdin=b"some input\n", preexec_fn=forget_ignored)


def on_one_pipe(command):
    done = subprocess.run(command, input=b"x\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    return Answer(done.returncode, done.stdout, b"")


def on_files(command):
    with open(path_of("out"), "w+b") as out, open(path_of("err"), "w+b") as err:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=PATIENCE, check=False)
        out.seek(0)
        err.seek(0)
        return Answer(done.returncode, out.read(), err.read())


def on_terminal(command):
    ours, theirs = open_terminal()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 111, 0, 0))
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as process:
        os.close(theirs)
        text, deadline = b"", time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 1)[0]:
                try:
                    piece = os.read(ours, 65536)
                except OSError:
                    break
                if not piece:
                    break
                text += piece
        os.close(ours)
        return Answer(process.wait(PATIENCE), text, b"")


def without_envelope(answer, status):
    """What the command itself has printed: its failure adds one line."""
    for name, text in (("err", answer.err), ("out", answer.out)):
        last = text.rstrip(b"\r\n").rpartition(b'{"ok":false,')
        if last[1]:
            expect(status != 0, "a failure of a command that did not fail:", answer)
            return answer._replace(**{name: last[0]})
    return answer


@tests_of({"pipes": (on_pipes, 200), "one pipe": (on_one_pipe, 50), "files": (on_files, 200), "a terminal": (on_terminal, 200)})
def bytes_and_end_are_those_of_the_command_on(run, count):
    """So many of the commands, taken evenly. On a terminal some would wait for the end of input."""
    commands = [(name, script) for name, script in COMMANDS.items() if run is not on_terminal or not ("cat" in script or "wc -c" in script)]
    count = count if not SANITIZED else count // 6
    for name, script in (commands[i * len(commands) // count] for i in range(count)):
        command = ["sh", "-c", script, "zero"]
        plain, through = run(command), run([PROGRAM, "wrap", "--", *command])
        equal(through.status, plain.status, "the end of " + name)
        equal(without_envelope(through, plain.status), plain, name)


@test
def environment_and_descriptors_are_inherited():
    script = "env | sort; ls /proc/self/fd | wc -l; cat <&7; grep SigBlk /proc/self/status"
    seen = []
    for prefix in [], [PROGRAM, "wrap", "--"]:
        with open(path_of("seven"), "w+b") as file:
            file.write(b"seven\n")
            file.flush()
            file.seek(0)
            os.dup2(file.fileno(), 7, inheritable=True)
            os.lseek(7, 0, os.SEEK_SET)
            done = subprocess.run([*prefix, "bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[7],
                                  timeout=PATIENCE, check=False, env={"PATH": os.environ["PATH"], "X": "ä b", "MISHAP_LOG": "", "ASAN_OPTIONS": "detect_leaks=0"})
            os.close(7)
        seen.append((done.returncode, done.stdout, done.stderr))
    equal(seen[1], seen[0], "what the command sees")


@tests_of({"ignored": signal.SIG_IGN, "not ignored": signal.SIG_DFL})
def signals_are_ignored_as_before(how):
    script = "grep SigIgn /proc/self/status"
    seen = []
    for prefix in [], [PROGRAM, "wrap", "--"]:
        def prepare():
            for number in signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGXFSZ, signal.SIGUSR1, signal.SIGCHLD:
                signal.signal(number, how)
        done = subprocess.run([*prefix, "sh", "-c", script], stdout=subprocess.PIPE, timeout=PATIENCE, check=False, preexec_fn=prepare, restore_signals=False)
        seen.append(int(done.stdout.split()[1], 16) & (1 << 31) - 1)  # 32 and 33 belong to the C library
    equal(seen[1], seen[0], "the ignored signals")


@tests_of({"an exit code": (["sh", "-c", "echo out; echo err >&2; exit 7"], 7), "a signal": (["sh", "-c", "kill -9 $$"], -9),
           "no program": (["/no/such/program"], 127), "no permission": (["/etc/passwd"], 126)})
def a_command_whose_parent_ignores_sigchld_ends_as_it_does(command, status):
    done = subprocess.run([PROGRAM, "wrap", "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    equal(done.returncode, status)
    equal((done.stdout, b"err\n" in done.stderr), (b"out\n", True) if status == 7 else (b"", False))
    expect(b'"ok":false' in done.stderr, done.stderr)


@tests_of({"stdin": 0, "stdout": 1, "stderr": 2})
def a_closed_descriptor_stays_closed(number):
    script = "for f in 0 1 2; do [ -e /proc/self/fd/$f ] && echo $f; done > %s" % path_of("open")
    seen = []
    for prefix in [], [PROGRAM, "wrap", "--"]:
        subprocess.run([*prefix, "sh", "-c", script], timeout=PATIENCE, check=False, preexec_fn=lambda: os.close(number), close_fds=False,
                       stdin=None if number == 0 else subprocess.DEVNULL, stdout=None if number == 1 else subprocess.DEVNULL,
                       stderr=None if number == 2 else subprocess.DEVNULL)
        with open(path_of("open"), encoding="ascii") as file:
            seen.append(file.read())
    equal(seen[1], seen[0], "what is open")


@test
def a_reader_that_has_enough_ends_the_command():
    done = subprocess.run(["bash", "-c", '"$0" wrap -- yes | head -n 3; echo ${PIPESTATUS[0]}', PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PATIENCE, check=False)
    equal((done.stdout, done.stderr), (b"y\ny\ny\n141\n", b""), "as without it")


@test
def a_process_that_is_left_behind_delays_nothing_and_loses_nothing():
    flag = path_of("go-on")
    script = "(while [ ! -e %s ]; do sleep 0.05; done; echo late; echo late >&2) & echo early" % flag
    with subprocess.Popen([PROGRAM, "wrap", "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        equal(process.wait(PATIENCE), 0, "the end, which the process that is left does not delay")
        with open(flag, "w", encoding="ascii"):
            pass
        equal((process.stdout.read(), process.stderr.read()), (b"early\nlate\n", b"late\n"), "what came, also later")


# It leaves a process behind that holds the outputs, and prints when it ends.
LEAVER = """import os, sys, time
left = os.fork()
if left == 0:
    time.sleep(600)
os.write(1, b"%d %d\\n" % (left, time.monotonic_ns()))
os._exit(0)
"""


@test
def a_process_that_is_left_behind_delays_the_end_by_a_tenth_of_a_second():
    """The best of many attempts: a busy machine adds to each of them."""
    best, least, deadline = 10.0, 10.0, time.monotonic() + PATIENCE
    while best > 0.15 and time.monotonic() < deadline:
        with subprocess.Popen([PROGRAM, "wrap", "--", sys.executable, "-c", LEAVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            left, ended = map(int, process.stdout.readline().split())
            equal(process.wait(PATIENCE), 0, "the end")
            took = time.monotonic() - ended / 1e9
            os.kill(left, signal.SIGKILL)
        best, least = min(best, took), min(least, took)
    expect(0.1 <= least and best <= 0.15, "seconds from the end of the command:", best, least)


SLOW_WORDS = "for i in 1 2 3; do echo words-that-are-lost >&2; sleep 0.1; done; touch %s"


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


@tests_of({"a full disk": ("/dev/full", None), "a file that may not grow": (None, limit_files)})
def a_command_goes_on_if_its_stderr_cannot_be_written(path, prepare):
    done = path_of("went-on")
    ends = []
    for prefix in [], [PROGRAM, "wrap", "--"]:
        with open(path or path_of("small"), "wb") as err:
            ended = subprocess.run([*prefix, "sh", "-c", SLOW_WORDS % done], stdout=subprocess.PIPE, stderr=err, timeout=PATIENCE, check=False, preexec_fn=prepare)
        ends.append((ended.returncode, ended.stdout, os.path.exists(done)))
        if os.path.exists(done):
            os.remove(done)
    equal(ends[1], ends[0], "the end")
    equal(ends[0], (0, b"", True), "the end of the plain command")


@tests_of({"ends well": (0, 74), "fails": (7, 7)})
def standard_output_that_was_lost_is_a_failure(status, expected):
    """Both outputs are the same file, so the command does not learn that its own words are lost."""
    done = path_of("went-on")
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([PROGRAM, "wrap", "--", "sh", "-c", "echo out; sleep 0.2; touch %s; exit %d" % (done, status)], stdout=full, stderr=full,
                               timeout=PATIENCE, check=False)
    equal((ended.returncode, os.path.exists(done)), (expected, True), "the end")
    os.remove(done)


# ---- Signals and time ------------------------------------------------------------------------------

def forget_ignored():
    """This test may have been started with signals that are ignored, which a shell cannot catch."""
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1:
        signal.signal(number, signal.SIG_DFL)


def start(*command, flags=()):
    return subprocess.Popen([PROGRAM, "wrap", *flags, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=forget_ignored)


@tests_of({"TERM": signal.SIGTERM, "HUP": signal.SIGHUP, "INT": signal.SIGINT, "QUIT": signal.SIGQUIT, "USR1": signal.SIGUSR1})
def a_signal_is_forwarded(number):
    with start("bash", "-c", "trap 'echo got; exit 9' %d; echo ready; while :; do sleep 0.05; done" % number) as process:
        equal(process.stdout.readline(), b"ready\n", "the start")
        process.send_signal(number)
        equal((process.stdout.read(), process.wait(PATIENCE)), (b"got\n", 9), "the command decides")
    with start("sh", "-c", "echo ready; exec sleep 300") as process:
        process.stdout.readline()
        process.send_signal(number)
        told = json.loads(process.stderr.read().splitlines()[-1])
        equal(process.wait(PATIENCE), -number, "died of the same signal")
        equal(told["error"]["context"]["signal"], signal.Signals(number).name[3:], "the signal")


@test
def a_command_that_stops_stops_the_wrapper_and_goes_on_with_it():
    with start("sh", "-c", "echo $$; kill -STOP $$; echo again") as process:
        pid = int(process.stdout.readline())
        deadline = time.monotonic() + PATIENCE
        while os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is None:
            expect(time.monotonic() < deadline, "the wrapper does not stop")
            time.sleep(0.02)
        expect(os.path.exists("/proc/%d" % pid), "the command has gone")
        process.send_signal(signal.SIGCONT)
        equal((process.stdout.read(), process.wait(PATIENCE)), (b"again\n", 0), "afterwards")


def runs(pid):
    try:
        with open("/proc/%d/status" % pid, "rb") as file:
            return b"State:\tZ" not in file.read()
    except OSError:  # it has ended, if only while its file was read
        return False


@test
def the_time_ends_the_whole_process_group():
    for seconds in ("0.5", "5", "60"):  # a busy machine may take longer to start the command
        with start("sh", "-c", "sleep 300 & echo $!; wait", flags=["--timeout", seconds]) as process:
            line = process.stdout.readline()
            told = json.loads(process.stderr.read().splitlines()[-1])
            equal(process.wait(PATIENCE), 10, "the exit code of a timeout")
        if line:
            break
    child = int(line)
    equal((told["error"]["code"], told["error"]["message"]), ("TIMEOUT", "The command `sh` was not finished in time."), "what is told")
    deadline = time.monotonic() + PATIENCE
    while runs(child):
        expect(time.monotonic() < deadline, "a process is left")
        time.sleep(0.02)


@tests_of({"seconds": (["--timeout", "0.3"],), "milliseconds": (["--timeout-ms", "300"],), "the shorter one": (["--timeout", "300", "--timeout-ms", "300"],),
           "also the shorter one": (["--timeout", "0.3", "--timeout-ms", "300000"],)})
def a_command_that_ignores_the_end_of_its_time_is_killed(flags):
    answer = wrapped("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done", flags=flags)
    equal((answer.status, envelope(answer)[0]["error"]["code"]), (10, "TIMEOUT"), "the end")


@test
def a_year_is_not_over_at_once():
    answer = wrapped("true", flags=["--timeout", "31536000"])
    equal((answer.status, answer.out, answer.err), (0, b"", b""), "the end")


@test
def the_help_lists_what_ends_a_command_that_could_not_be_started():
    words = run_program(PROGRAM, "wrap", "--help").err.decode()
    for row in (r"^  126  NOT_EXECUTABLE +\S", r"^  127  PROGRAM_NOT_FOUND +\S"):
        expect(re.search(row, words, re.MULTILINE), row, "is not in", words)
        expect(not re.search(row, run_program(PROGRAM, "scan", "--help").err.decode(), re.MULTILINE), row, "is in the help of scan")


# ---- A terminal ------------------------------------------------------------------------------------

@test
def colours_sizes_and_order_of_a_terminal_stay():
    script = "test -t 1 && test -t 2 && echo both; stty size <&2; for i in 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done; exit 3"
    plain = on_terminal(["sh", "-c", script])
    through = on_terminal([PROGRAM, "wrap", "--", "sh", "-c", script])
    expect(b"both" in plain.out and b"33 111" in plain.out, plain)
    equal(without_envelope(through, 3), plain, "on a terminal")


@test
def an_interactive_shell_with_job_control_works():
    ours, theirs = open_terminal()
    with subprocess.Popen([PROGRAM, "wrap", "--", "bash", "--norc", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), env=dict(os.environ, PS1="$ ", TERM="dumb")) as process:
        os.close(theirs)
        seen = b""

        def until(words):
            nonlocal seen
            deadline = time.monotonic() + PATIENCE
            while words not in seen:
                expect(time.monotonic() < deadline, "never came:", words, "but", seen)
                if select.select([ours], [], [], 1)[0]:
                    seen += os.read(ours, 65536)
        until(b"$ ")
        os.write(ours, b"sh -c 'echo runs-$((20+1)); exec sleep 300'\n")
        until(b"runs-21")
        os.write(ours, b"\x1a")  # Ctrl-Z stops the job, not the shell
        until(b"Stopped")
        # The shell does not exit while a job is stopped, and this one needs a moment to end.
        os.write(ours, b"jobs; kill %1; while [ -n \"$(jobs -s)\" ]; do sleep 0.05; done; echo alive-$((20+3))\n")
        until(b"alive-23")
        expect(b"no job control" not in seen, seen)
        os.write(ours, b"exit 5\n")
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    os.read(ours, 65536)
                except OSError:
                    break
        equal(process.wait(PATIENCE), 5, "the end of the shell")
        os.close(ours)


COUNT_INTERRUPTS = """import signal
signals = {signal.SIGINT, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
print("ready-%d" % (20 + 1), flush=True)
count = 0
while signal.sigwait(signals) == signal.SIGINT:
    count += 1
    print("int-%d" % count, flush=True)
print("all-%d" % count)
"""


@test
def an_interrupt_of_the_terminal_arrives_once():
    ours, theirs = open_terminal()
    with subprocess.Popen([PROGRAM, "wrap", "--", sys.executable, "-c", COUNT_INTERRUPTS], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                          preexec_fn=lambda: (forget_ignored(), fcntl.ioctl(0, termios.TIOCSCTTY, 0))) as process:
        os.close(theirs)
        seen, deadline = b"", time.monotonic() + PATIENCE
        for words in b"ready-21", b"int-1", b"int-2", b"all-2":
            while words not in seen:
                expect(time.monotonic() < deadline and b"all-" not in seen, "never came:", words, "but", seen)
                if select.select([ours], [], [], 1)[0]:
                    seen += os.read(ours, 65536)
            if words in (b"ready-21", b"int-1"):
                os.write(ours, b"\x03")
            elif words == b"int-2":
                process.send_signal(signal.SIGUSR1)  # it is forwarded behind all that came before
        equal(process.wait(PATIENCE), 0, "the end")
        os.close(ours)


def on_a_terminal_that_ends(command):
    """The exit status, after the command has said that it is ready and the other end of its terminal was closed."""
    ours, theirs = open_terminal()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                          preexec_fn=lambda: (forget_ignored(), fcntl.ioctl(0, termios.TIOCSCTTY, 0))) as process:
        os.close(theirs)
        seen, deadline = b"", time.monotonic() + PATIENCE
        while b"ready\r\n" not in seen:  # all of it: else the rest of this line could not be written
            expect(time.monotonic() < deadline, "never ready:", seen)
            if select.select([ours], [], [], 1)[0]:
                seen += os.read(ours, 65536)
        os.close(ours)
        try:
            return process.wait(PATIENCE)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@tests_of({"as the leader of its session": [], "below a shell": ["sh", "-c", '"$@"; exit 0', "sh"]})
def the_end_of_a_terminal_ends_the_command(above):
    for prefix in [], [PROGRAM, "wrap", "--"]:
        with open(path_of("holder"), "w", encoding="ascii"):
            pass
        equal(on_a_terminal_that_ends([*above, *prefix, "sh", "-c", "echo $$ > %s; echo ready; exec sleep 600" % path_of("holder")]), -signal.SIGHUP, "the end")
        with open(path_of("holder"), encoding="ascii") as file:
            pid = int(file.read())
        deadline = time.monotonic() + PATIENCE
        while runs(pid):
            expect(time.monotonic() < deadline, "the command lives without its terminal")
            time.sleep(0.02)


# It notes each SIGHUP, and what it is told when it writes after the first.
HANGS_UP = """import os, signal, sys, time
def note(words):
    with open(sys.argv[1], "a") as file:
        file.write(words)
signal.signal(signal.SIGHUP, lambda *_: note("hup "))
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
error = None
while not error:
    try:
        os.write(2, b"into nothing")
        time.sleep(0.02)
    except OSError as caught:
        error = caught
time.sleep(0.5)
note(error.strerror)
"""


@test
def the_end_of_a_terminal_is_told_once_and_its_writers_get_an_error():
    seen = []
    for prefix in [], [PROGRAM, "wrap", "--"]:
        notes = path_of("notes")
        status = on_a_terminal_that_ends([*prefix, sys.executable, "-c", HANGS_UP, notes])
        with open(notes, encoding="ascii") as file:
            seen.append((status, file.read()))
        os.remove(notes)
    equal(seen[1], seen[0], "the end and what was told")
    equal(seen[0], (0, "hup Input/output error"), "without mishap")


# ---- What is told ----------------------------------------------------------------------------------

@test
def a_failure_is_one_line_with_the_words_of_the_command():
    answer, error, before = failure("sh", "-c", "echo 'sh: cat: notes.txt: No such file or directory' >&2; exit 1")
    equal((answer.status, before), (1, b"sh: cat: notes.txt: No such file or directory\n"), "the end and the output")
    equal((error["code"], error["message"], error["context"]), ("NOT_FOUND", "sh: cat: notes.txt: No such file or directory", {"program": "sh", "exit_code": 1}), "what is told")
    _, error, before = failure("sh", "-c", "exit 3")
    equal((error["code"], error["message"], before), ("GENERAL_ERROR", "The command `sh` ended with exit code 3.", b""), "a command that says nothing")


@test
def an_exit_that_is_an_answer_is_no_failure():
    with open(path_of("empty.json"), "w", encoding="ascii") as file:
        file.write("{}")
    for command, status in ((["grep", "nothing", "/dev/null"], 1), (["test", "-e", "/nonexistent"], 1), (["diff", "/dev/null", PROGRAM], 1),
                            (["cmp", "/dev/null", PROGRAM], 1), (["jq", "-e", ".a"], 1), (["jq", "-er", ".a"], 1), (["jq", "-re", ".a"], 1),
                            (["jq", "-rec", ".a"], 1), (["jq", "-ren", "empty"], 4), (["jq", "--exit-status", ".a"], 1)):
        if command[0] == "jq":
            if not shutil.which("jq"):
                continue
            command = [*command, path_of("empty.json")]
        answer = wrapped(*command)
        equal((answer.status, b'{"ok"' in answer.err), (status, False), " ".join(command))
    answer, error, _ = failure("grep", "x", "/nonexistent")
    equal((answer.status, error["code"]), (2, "NOT_FOUND"), "a failure of the same program")


@test
def flags_of_an_answer_may_stand_in_one_word():
    flags = rules("[ask.sh]\n3  ANSWER  -e+nr | --exit\n")
    program = path_of("ask.sh")
    with open(program, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexit 3\n")
    os.chmod(program, 0o755)
    for words, answers in (("-e", True), ("-re", True), ("-enr", True), ("x -re y", True), ("--exit", True), ("", False), ("-r", False), ("-xe", False), ("re", False),
                           ("--re", False), ("-e+nr", False), ("- e", False), ("-E", False)):
        answer = wrapped(program, *words.split(), flags=flags)
        equal((answer.status, b'{"ok"' in answer.err), (3, not answers), words)


@test
def source_lines_of_a_trace_decide_nothing():
    _, error, _ = failure(sys.executable, "-c", "def f(timeout):\n    raise KeyError('no')\n\nf(timeout=5)  # connection refused")
    equal((error["code"], error["message"]), ("NOT_FOUND", "KeyError: 'no'"), "what decided")


@test
def secrets_are_redacted_and_paths_stay():
    _, error, before = failure("sh", "-c", "echo 'fatal: cannot open postgres://u:%s@db.local/x in /srv/private/a.c' >&2; exit 1" % MARKER)
    expect(MARKER.encode() in before, "the output of the command is its own:", before)
    expect(MARKER not in json.dumps(error), "a secret in the envelope:", error)
    expect("/srv/private/a.c" in error["message"] and "db.local" in error["message"], "what the caller may see:", error)
    with open(os.environ["MISHAP_LOG"], encoding="utf-8") as file:
        expect(MARKER not in file.read(), "a secret in the log")


@test
def the_operator_keeps_what_was_printed():
    answer = wrapped("sh", "-c", "echo first-words-of-the-command >&2; echo last >&2; exit 1")
    id = envelope(answer)[0]["meta"]["request_id"]
    with open(os.environ["MISHAP_LOG"], encoding="utf-8") as file:
        log = file.read()
    expect(id in log and "first-words-of-the-command" in log, "the incident", log[-3000:])


@test
def what_cannot_be_started_is_told():
    answer, error, _ = failure("gerp", "x")
    equal((answer.status, error["code"], error["suggestion"]), (127, "NOT_FOUND", "Did you mean `grep`?"), "a wrong name")
    with open(path_of("plain.txt"), "w", encoding="ascii") as file:
        file.write("words")
    answer, error, _ = failure(path_of("plain.txt"))
    equal((answer.status, error["code"]), (126, "NOT_AUTHORIZED"), "no program")
    script = path_of("script")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/nonexistent/interpreter\n")
    os.chmod(script, 0o755)
    answer, error, _ = failure(script)
    expect(answer.status == 127 and "/nonexistent/interpreter" in error["message"], error)
    answer, error, _ = failure("/nonexistent/program")
    equal((answer.status, error["code"]), (127, "NOT_FOUND"), "a path")
    answer = run_program(PROGRAM, "wrap")
    equal(answer.status, 2, "no command")


def explained(rule):
    """The file, the section and the line that --explain names for a rule that is compiled in."""
    name, line, programs = re.fullmatch(r"builtin/([a-z]+\.rules):([0-9]+) \((.*)\)", rule).groups()
    with open(os.path.join(BUILTIN, name), encoding="utf-8") as file:
        lines = file.read().split("\n")[:int(line)]
    equal([one for one in lines if one.startswith("[")][-1], "[%s]" % programs, "the section of " + rule)
    return name, lines[-1].split(None, 2)


@tests_of({"a text of any program": ("sh", "x: connection refused", "any.rules"), "one of a program that was started": ("sh", "curl: (7) Failed to connect to 127.0.0.1 port 9", "curl.rules"),
           "one of the program": ("git", "fatal: not a git repository", "git.rules"), "a section below others": ("ssh-keygen", "invalid format", "ssh.rules"),
           "the first file": ("openssl", "Unknown cipher", "answers.rules")})
def explain_names_the_rule(program, words, theme):
    script = path_of(program) if program != "sh" else "sh"
    if program != "sh":
        with open(script, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nshift\neval "$1"\n')
        os.chmod(script, 0o755)
    _, error, _ = failure(script, "-c", "echo '%s' >&2; exit 1" % words, flags=["--explain"])
    name, (_, code, pattern) = explained(error["context"]["rule"])
    equal((name, code), (theme, error["code"]), "the file, and the code of the line")
    expect(any(one.strip(" ^").lower() in words.lower() for one in pattern.split(" | ")), "a pattern in", words, "of", pattern)


@tests_of({"line feeds": "\n", "carriage returns, too": "\r\n"})
def explain_names_the_line_of_a_rule_of_the_user(end):
    text = ["# mine", "", "[a.sh]", "1  CONFLICT  first", "   suggest  Wait.", "", "# more", "1  GONE  second", "[b.sh b*.sh]", "", "*  LOCKED  third"]
    program = path_of("a.sh"), path_of("b.sh")
    for name in program:
        with open(name, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\necho "$1" >&2\nexit 1\n')
        os.chmod(name, 0o755)
    for name, words, code, line, section in ((program[0], "first", "CONFLICT", 4, "a.sh"), (program[0], "second", "GONE", 8, "a.sh"), (program[1], "third", "LOCKED", 11, "b.sh b*.sh")):
        _, error, _ = failure(name, words, flags=rules(end.join(text)))
        equal((error["code"], error["context"]["rule"]), (code, "%s:%d (%s)" % (path_of("my.rules"), line, section)), words)


# ---- --json ----------------------------------------------------------------------------------------

@tests_of({"JSON": ('{"a":[1,2]}', {"a": [1, 2]}), "a number": ("17", 17), "text": ("plain words", "plain words"), "nothing": ("", None),
           "almost JSON": ('{"a":1', '{"a":1')})
def json_has_the_output_as_data(printed, data):
    answer = run_program(PROGRAM, "wrap", "--json", "--", "printf", "%s", printed)
    told = json.loads(answer.out)
    equal((answer.status, told["ok"], told["data"], answer.err), (0, True, data, b""), "the envelope")


@test
def json_of_a_failure_has_both():
    answer = run_program(PROGRAM, "wrap", "--json", "--", "sh", "-c", "echo part; echo 'no space left on device' >&2; exit 4")
    told = json.loads(answer.out)
    equal((answer.status, told["ok"], told["data"], told["error"]["code"], answer.err),
          (4, False, "part\n", "INSUFFICIENT_STORAGE", b"no space left on device\n"), "the envelope")


@tests_of({"ends well": (0, 1), "fails": (7, 7)})
def an_envelope_that_cannot_be_written_is_a_failure(status, expected):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "wrap", "--json", "--", "sh", "-c", "echo x; exit %d" % status], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    equal(done.returncode, expected, "the end")
    expect(b"The output could not be written: No space left on device" in done.stderr, done.stderr)


@test
def a_large_output_is_in_a_file():
    answer = run_program(PROGRAM, "wrap", "--json", "--limit", "1000", "--", "seq", "10000", env={"TMPDIR": FOLDER.name})
    data = json.loads(answer.out)["data"]
    with open(data["file"], "rb") as file:
        text = file.read()
    equal((data["bytes"], text), (len(text), "".join("%d\n" % i for i in range(1, 10001)).encode()), "all of it")
    equal(os.stat(data["file"]).st_mode & 0o777, 0o600, "for this user only")


# ---- Rules -----------------------------------------------------------------------------------------

def rules(text):
    with open(path_of("my.rules"), "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return ["--rules", path_of("my.rules"), "--explain"]


@test
def exit_codes_of_a_program_that_was_started_are_not_known():
    _, error, _ = failure("sh", "-c", "echo 'curl: (7) Failed to connect to 127.0.0.1 port 9' >&2; exit 28")
    equal(error["code"], "CONNECTION_REFUSED", "28 is the exit code of the shell, not of curl")


@test
def rules_of_the_user_come_first():
    flags = rules("# mine\n[deploy*]\n3  CONFLICT  is deployed * already | ^never\n   suggest  Choose another version.\n   retry yes\n4  ANSWER  --check\nelse LOCKED\n"
                  "[*]\n*  GONE  connection refused\n")
    program = path_of("deploy.sh")
    with open(program, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\necho "$1" >&2\nexit $2\n')
    os.chmod(program, 0o755)
    _, error, _ = failure(program, "v3 is deployed here already", "3", flags=flags)
    equal((error["code"], error["suggestion"], error["retryable"], error["context"]["rule"]),
          ("CONFLICT", "Choose another version.", True, path_of("my.rules") + ":3 (deploy*)"), "my rule")
    _, error, _ = failure(program, "something else", "9", flags=flags)
    equal(error["code"], "LOCKED", "else")
    _, error, _ = failure("sh", "-c", "echo connection refused >&2; exit 1", flags=flags)
    equal(error["code"], "GONE", "a general text of mine before the same one that is compiled in")
    equal(b'{"ok"' in wrapped(program, "", "4", "--check", flags=flags).err, False, "an answer")


@test
def a_pattern_begins_a_word():
    flags = rules("[*]\n* LOCKED lock held\n* GONE *ware\n")
    _, error, _ = failure("sh", "-c", "echo 'block held' >&2; exit 1", flags=flags)
    equal(error["code"], "GENERAL_ERROR", "a part of another word")
    _, error, _ = failure("sh", "-c", "echo 'the index.Lock held' >&2; exit 1", flags=flags)
    equal(error["code"], "LOCKED", "a word")
    _, error, _ = failure("sh", "-c", "echo 'software' >&2; exit 1", flags=flags)
    equal(error["code"], "GONE", "a star stands for the beginning of the word")


@test
def a_summary_counts_if_no_other_line_of_the_program_does():
    flags = rules("[fetch.sh]\nelse UNAVAILABLE  some downloads failed\n* GONE  the file is gone\n7 LOCKED\n[*]\n* CONFLICT  general\n")
    program = path_of("fetch.sh")
    with open(program, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\necho "$1" >&2\necho "error: some downloads failed" >&2\nexit $2\n')
    os.chmod(program, 0o755)
    for words, status, code in (("error: the file is gone", "1", "GONE"), ("error: something", "1", "UNAVAILABLE"),
                                ("error: something", "7", "UNAVAILABLE"), ("error: general", "1", "UNAVAILABLE")):
        _, error, _ = failure(program, words, status, flags=flags)
        equal(error["code"], code, words)


@test
def all_mistakes_of_a_rule_file_are_told_before_anything_runs():
    flags = rules("1 NOT_FOUND early\n[x\n[ ]\n[x]\n1 NOT_FUOND y\n999 CONFLICT y\n1\n* CONFLICT\n   suggest\n   retry maybe\nabc CONFLICT y\n")
    answer = wrapped("touch", path_of("ran"), flags=flags)
    told = json.loads(answer.out)["error"]
    equal((answer.status, told["code"], os.path.exists(path_of("ran"))), (2, "VALIDATION_ERROR", False), "refused")
    text = json.dumps(told)
    for line in (1, 2, 3, 5, 6, 7, 8, 9, 10, 11):
        expect("my.rules:%d" % line in text, "line", line, "in", text)
    expect("Did you mean NOT_FOUND?" in text, text)
    answer = wrapped("true", flags=["--rules", "/nonexistent"])
    equal(answer.status, 66, "a file that cannot be read")


main()
