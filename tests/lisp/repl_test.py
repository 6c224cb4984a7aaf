"""The REPL as a person meets it at a terminal, and as a script does through a pipe.

    LISPER_PROGRAM=… python3 tests/lisp/repl_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import fcntl
import os
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
from blackbox import PATIENCE, Skipped, equal, expect, main, open_terminal, parsed, run_program, test, tests_of  # noqa: E402

LISPER = os.path.abspath(os.environ["LISPER_PROGRAM"])
WAIT = float(os.environ.get("REPL_WAIT", PATIENCE / 2))
UP, CTRL_C, CTRL_D = "\x1b[A", "\x03", "\x04"
DEADLY = '(sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) 3)'
FOLDER = tempfile.TemporaryDirectory(prefix="repl-test-")
LOST = "; The session has ended and starts fresh: its definitions are gone.\n"


class Quiet(Exception):
    """What is waited for does not come."""


class Repl:
    """A REPL on a terminal that is its controlling one, so that Ctrl-C works."""

    def __init__(self, folder=None, **env):
        self.folder = folder or tempfile.mkdtemp(dir=FOLDER.name)
        self.read, self.bytes, self.mark = 0, b"", 0
        self.end, other = open_terminal()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
        usual = {"NO_COLOR": "1", "TERM": "xterm", "LISPER_DATA": self.folder, "HOME": self.folder, "LC_ALL": "C"}
        self.process = subprocess.Popen(["setsid", "--ctty", LISPER, "lisp", "repl"], stdin=other, stdout=other, stderr=other,
                                        env=dict(os.environ, **dict(usual, **env)))
        os.close(other)
        self.wait("CL-USER> $")

    def wait(self, pattern, patience=WAIT):
        """What it has written since the last time, up to something that PATTERN describes."""
        while True:
            text = self.bytes.decode("utf-8", "replace").replace("\r\n", "\n")[self.read:]
            if re.search(pattern, text):
                self.read += len(text)
                return text
            if not select.select([self.end], [], [], patience)[0]:
                raise Quiet("nothing more came; waiting for %r after: %r" % (pattern, text))
            try:
                piece = os.read(self.end, 65536)
            except OSError:  # the other end is closed
                piece = b""
            expect(piece, "it ended before", pattern, "came:", text)
            self.bytes += piece

    def type(self, keys, until=r"(^|\n)[^\n]*> $"):
        os.write(self.end, keys.encode())
        return self.wait(until)

    def say(self, line, until=r"\n[^\n]*> $"):
        """Type a line, and return what is printed behind it: the echo and the next prompt are left out."""
        text = self.type(line + "\n", until)
        return text[text.index("\n") + 1:text.rindex("\n") + 1]

    def interrupt(self, line):
        """Evaluate what does not end, and stop it. Ctrl-C may come before the form is evaluated: then it drops the form."""
        for _ in range(100):
            self.type(line + "\n", r"\n")
            text = self.stop()
            if "[ERROR] INTERRUPTED" in text:
                break
        return text

    def stop(self):
        """Press Ctrl-C. The terminal drops what is written in the same moment, perhaps a prompt: then a line feed asks for another,
        and a form says when all of that is read. What was shown until then."""
        self.mark += 1
        os.write(self.end, CTRL_C.encode())
        before = self.read
        while True:
            try:
                self.wait(r"\n[^\n]*> $", 5)
                break
            except Quiet:
                os.write(self.end, b"\n")
        self.type(":mark-%d\n" % self.mark, r"=> :MARK-%d\n[^\n]*> $" % self.mark)
        return self.bytes.decode("utf-8", "replace").replace("\r\n", "\n")[before:]

    def session(self):
        """The process of SBCL."""
        return next(int(line.split()[0]) for line in subprocess.run(
            ["ps", "-e", "-o", "pid=,ppid=,comm="], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
            if line.split()[1] == str(self.process.pid) and "sbcl" in line)

    def finish(self, keys=CTRL_D):
        os.write(self.end, keys.encode())
        while True:
            try:
                if not os.read(self.end, 65536):
                    break
            except OSError:
                break
        os.close(self.end)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)


def has_ended(pid):
    """Whether a process has given up all that it had: its parent need not know of it yet."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            state = file.read().rpartition(")")[2].split()[0]
        return state in "ZX" and len(os.listdir("/proc/%d/task" % pid)) <= 1
    except OSError:
        return True


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def piped(text, **env):
    return run_program(LISPER, "lisp", "repl", stdin=text.encode(), env=dict({"LISPER_DATA": "/nonexistent"}, **env))


# ---- At a terminal -------------------------------------------------------------------------------

@test
def forms_are_evaluated_and_what_they_define_stays():
    with Repl() as repl:
        equal(repl.say("(+ 1 2)"), "=> 3\n", "a sum")
        equal(repl.say("(defun twice (x) (* 2 x)) (twice 21)"), "=> TWICE\n=> 42\n", "two forms in a line")
        equal(repl.say("(values 1 :two)"), "=> 1\n=> :TWO\n", "two values")
        equal(repl.say("(values)"), "; No values\n", "no values")
        equal(repl.say('(princ "grüße →")'), 'grüße →\n=> "grüße →"\n', "output")
        equal(repl.say("(defun f () (g))"), "; SIMPLE-STYLE-WARNING: undefined function: G\n=> F\n", "a warning")
        equal(repl.say("; nothing"), "", "a comment")
        equal(repl.finish(), 0, "the status")


@test
def a_form_may_have_several_lines():
    with Repl() as repl:
        repl.type('(list "a\n', r"\n\.\.\. $")
        repl.type("b\" ; ) not here\n", r"\n\.\.\. $")
        repl.type("#| nor ) here\n", r"\n\.\.\. $")
        equal(repl.say("|# 2)"), '=> ("a\nb" 2)\n', "the value")


@test
def the_prompt_shows_the_package():
    with Repl() as repl:
        repl.type("(defpackage :shop (:use :cl)) (in-package :shop)\n", "\nSHOP> $")
        repl.type("(in-package :cl-user)\n", "\nCL-USER> $")


@test
def restarts_are_offered_and_one_is_chosen():
    with Repl() as repl:
        shown = repl.say("(+ no-such-thing 1)")
        equal(shown, "[ERROR] UNBOUND-VARIABLE\nThe variable NO-SUCH-THING is unbound.\n\n[Backtrace]\n0: (+ NO-SUCH-THING 1)\n\n"
              "[Restarts]\n0: [CONTINUE] Retry using NO-SUCH-THING.\n1: [USE-VALUE] Use specified value.\n"
              "2: [STORE-VALUE] Set specified value and use it.\n3: [ABORT] End this evaluation.\n"
              "Choose one by its number; an empty line or q aborts.\n", "the restarts")
        equal(repl.say("7"), "There is no such restart.\n", "a number too high")
        equal(repl.say("(* 2 3)"), "=> 6\n", "a form meanwhile")
        expect("[ERROR] DIVISION-BY-ZERO" in repl.say("(/ 1 0)"), "a form that fails meanwhile")
        expect("[ERROR] DIVISION-BY-ZERO" in repl.say("1 (/ 1 0)"), "a value that fails")
        repl.type("1\n", "\nValue: $")
        equal(repl.say("(* 4\n10)", r"=> [^\n]*\n[^\n]*> $")[-6:], "=> 41\n", "with a value that is asked for")
        expect("[Restarts]" in repl.say("(1+ no-such-thing)"), "it is still unbound")
        equal(repl.say("2 10"), "=> 11\n", "with a value in the line")
        equal(repl.say("no-such-thing"), "=> 10\n", "it was stored")
        expect("0: [CONTINUE] Go on.\n" in repl.say('(progn (cerror "Go on." "Stop.") :went-on)'), "a continuable error")
        equal(repl.say("0"), "=> :WENT-ON\n", "it goes on")


@tests_of({"q": "q", "an empty line": "", "its number": "1"})
def an_evaluation_that_failed_is_aborted(answer):
    with Repl() as repl:
        shown = repl.say('(progn (unwind-protect (error "Stop.") (defvar *cleaned* 1)) 2) :never')
        expect("0: [ABORT]" in shown, shown)
        equal(repl.say("0" if answer == "1" else answer), "; Aborted\n", "aborted")
        equal(repl.type("*cleaned*\n"), "*cleaned*\n=> 1\nCL-USER> ", "it was unwound")


@test
def ctrl_c_stops_an_evaluation_and_the_session_lives():
    with Repl() as repl:
        repl.say("(defvar *kept* 5)")
        repl.say("(defun spin () (loop))")
        shown = repl.interrupt("(spin)")
        expect("[ERROR] INTERRUPTED\nThe evaluation was interrupted.\n" in shown, shown)
        equal(repl.say("*kept*"), "=> 5\n", "it lives")


@test
def code_that_cannot_be_interrupted_is_ended_with_its_process():
    with Repl() as repl:
        repl.say("(defun deaf () (sb-sys:without-interrupts (loop)))")
        for _ in range(100):  # it may still be compiled when it is stopped
            repl.type("(progn (sleep 0) (deaf))\n", r"\n")
            shown = repl.stop()
            if "starts fresh" in shown:
                break
        expect("[ERROR] INTERRUPTED\nThe evaluation was cancelled and did not stop when it was interrupted." in shown, shown)
        equal(repl.say("(fboundp 'deaf)"), "=> NIL\n", "a fresh session")


@test
def ctrl_c_at_the_prompt_drops_the_line():
    with Repl() as repl:
        repl.type("(no-such-function", r"function$")
        repl.stop()
        repl.type("(list 1\n", r"\.\.\. $")
        repl.stop()
        equal(repl.say(":here"), "=> :HERE\n", "the next line")


@test
def a_session_that_ends_begins_afresh():
    with Repl() as repl:
        repl.say("(defvar *kept* 5)")
        equal(repl.say(DEADLY), "[ERROR] PROCESS-ENDED\nThe code ended the process of its session. The session starts fresh with the next call: "
              "its definitions are gone.\n", "what is said")
        equal(repl.say("(boundp '*kept*)"), "=> NIL\n", "a fresh one")
        killed = repl.session()
        os.kill(killed, signal.SIGKILL)  # while nothing runs
        expect(wait_for(lambda: has_ended(killed)), "it has not ended")
        equal(repl.say("(+ 1 2)"), LOST + "=> 3\n", "after it was killed")
        repl.say("(defvar *kept* 5)")
        equal(repl.say(":reset"), "; The session is fresh.\n", "reset")
        equal(repl.say("(boundp '*kept*)"), "=> NIL\n", "after the reset")


@test
def commands_are_for_the_repl_and_other_keywords_are_forms():
    with Repl() as repl:
        expect(":backtrace " in repl.say(":help"), "the help")
        equal(repl.say(":backtrace"), "No evaluation has failed in this session.\n", "nothing failed")
        repl.say("(car 5)")
        equal(repl.say(":backtrace"), "0: (CAR 5)\n", "the frames, with the evaluation suspended")
        repl.say("q")
        equal(repl.say(":key"), "=> :KEY\n", "a keyword")
        equal(repl.finish(":quit\n"), 0, "the status")


@tests_of({"quit": "(quit)", "exit": "(exit)"})
def the_usual_ways_out_of_a_lisp_leave_the_repl(form):
    with Repl() as repl:
        equal(repl.say("(progn %s)" % form), "[ERROR] EXIT-REFUSED\nThe code asked the process to end, which is refused. The session goes "
              "on.\n\n[Backtrace]\n0: (PROGN %s)\n" % form.upper(), "inside of another form")
        equal(repl.finish(form + "\n"), 0, "the status")


@test
def a_form_that_cannot_be_read_offers_a_choice_only_if_there_is_one():
    with Repl() as repl:
        text = repl.type(")\n")
        expect("unmatched close parenthesis" in text and "[Restarts]" not in text and text.endswith("\nCL-USER> "), "a parenthesis:", text)
        text = repl.type("(no-such-package:x)\n")
        expect("[Restarts]" in text and text.endswith("\nCL-USER[restart]> "), "a package:", text)
        text = repl.say("(read-line)")
        expect("end of file" in text and "parenthesis" not in text, "no input, while the reader waits:", text)


@test
def what_was_typed_is_remembered_for_this_user_alone():
    with Repl() as first:
        first.say("(+ 40 2)")
        first.type('(list "\\\\"\n', r"\.\.\. $")
        first.say("2)")
        first.finish()
    path = os.path.join(first.folder, "lisp-history")
    equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "the mode")
    with open(path, encoding="utf-8") as file:
        equal(file.read(), '(+ 40 2)\n(list "\\\\\\\\"\\n2)\n', "the file")
    with Repl(first.folder) as second:
        expect("=> 42\n" in second.type(UP + UP + "\n", r"=> 42\n[^\n]*> $"), "the form before the last")
        second.finish()


@test
def keys_edit_the_line():
    with Repl() as repl:
        repl.type("(+ 1 2\x01\x0b(* 6 7)\x02\x7f8\n", r"=> 48\n[^\n]*> $")  # Ctrl-A, Ctrl-K; Ctrl-B, backspace


@tests_of({"a terminal without abilities": {"TERM": "dumb"}, "no libedit": {}})
def lines_are_read_without_libedit(env):
    with tempfile.TemporaryDirectory() as folder:
        if not env:
            with open(os.path.join(folder, "libedit.so.2"), "w", encoding="ascii") as file:
                file.write("This is no library.\n")
            env = {"LD_LIBRARY_PATH": folder}
        with Repl(**env) as repl:
            equal(repl.say("(list 1 2)"), "=> (1 2)\n", "a list")
            repl.type("(list 1\n", r"\n\.\.\. $")
            equal(repl.say("2)"), "=> (1 2)\n", "two lines")
            repl.type("(no-such", "such$")
            repl.stop()
            repl.say("(defun spin () (loop))")
            repl.interrupt("(spin)")
            equal(repl.say(":lives"), "=> :LIVES\n", "it lives")
            equal(repl.finish(), 0, "the status")


@test
def code_cannot_write_control_characters_to_the_terminal():
    with Repl() as repl:
        equal(repl.say('(progn (princ (format nil "a~Cb" (code-char 27))) (code-char 7))'), "a?b\n=> #\\Bel\n", "the output")


@test
def colors_are_for_terminals_that_want_them():
    with Repl(NO_COLOR="") as repl:
        expect("\x1b[1;31m[ERROR] TYPE-ERROR\x1b[0m\n" in repl.say("(car 5)"), "in colour")
    with Repl() as repl:
        expect("\x1b" not in repl.say("(car 5)"), "without")


@test
def the_page_shows_a_conversation_as_it_is():
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "lisp.md")
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("```console\n$ mishap lisp repl\n")[1].split("```\n")[0].splitlines()
    with Repl(TERM="dumb") as repl:  # which has no sequences for editing in it
        for line in lines:
            typed = re.match(r"CL-USER(?:\[restart\])?> (.*)|\.\.\. (.*)", line)
            if typed and ":quit" not in line:
                repl.type((typed[1] or typed[2]) + "\n", r"\n[^\n]*(> |\.\.\. )$")
        shown = repl.bytes.decode().replace("\r\n", "\n")
        equal(shown + ":quit", "\n".join(lines), "the conversation")
        equal(repl.finish(":quit\n"), 0, "the status")


# ---- Through a pipe ------------------------------------------------------------------------------

@test
def a_pipe_gets_values_and_no_prompts():
    done = piped('(defvar *x* 20)\n(+ *x*\n   1) (princ "out")\n(car 5)\n:backtrace\n(in-package :cl-user) *x*')
    equal(done.out.decode(), '=> *X*\n=> 21\nout\n=> "out"\n[ERROR] TYPE-ERROR\nThe value 5 is not of type LIST.\n\n[Backtrace]\n'
          '0: (CAR 5)\n0: (CAR 5)\n=> #<PACKAGE "COMMON-LISP-USER">\n=> 20\n', "what is printed")
    equal((done.status, done.err), (0, b""), "the status")


@tests_of({"an error": ('(+ 1 "hello")', "TYPE_ERROR"), "a form that is not closed": ("(list 1", "END_OF_FILE"),
           "a form that cannot be read": ("(no-such-package:x)", "READER_ERROR")})
def a_pipe_whose_last_form_fails_makes_the_command_fail(text, code):
    done = piped("(+ 1 2)\n" + text)
    lines = done.out.decode().splitlines()
    equal((done.status, lines[0], lines[1][:8]), (1, "=> 3", "[ERROR] "), "what is printed")
    equal(parsed(lines[-1].encode())["error"]["code"], code, "the last line")


@test
def a_pipe_without_any_form_works():
    equal(piped("")[:2], (0, b""), "nothing")
    equal(piped(" ; a comment\n#| another |#\n")[:2], (0, b""), "comments")


# ---- Where it cannot be started ------------------------------------------------------------------

@test
def a_process_that_cannot_be_made_costs_no_other_its_life():
    # In a namespace of its own: what is killed by mistake is in there.
    alone = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if not shutil.which("strace") or subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("strace or a namespace is missing")
    script = ('sleep 100 & strace -qq -o /dev/null -e trace=pidfd_open -e inject=pidfd_open:error=EMFILE '
              '"$0" lisp repl; echo "status $?"; kill -0 $! && echo alive')
    done = run_program(alone[0], *alone[1:], "sh", "-c", script, LISPER)
    lines = done.out.decode().splitlines()
    equal(lines[1:], ["status 12", "alive"], done.out + done.err)
    equal(parsed(lines[0].encode())["error"]["code"], "UNAVAILABLE", "the code")


if __name__ == "__main__":
    main()
