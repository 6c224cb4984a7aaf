"""`mishap wrap` in a terminal of tmux: an editor, a pager, and a shell with job control.

    MISHAP_PROGRAM=… python3 tests/wrap/screen_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import atexit
import itertools
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import PATIENCE, Skipped, equal, expect, main, test  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="mishap-screen-", ignore_cleanup_errors=True)  # tmux may still run
WRAP = "%s wrap -- " % shlex.quote(os.path.abspath(os.environ["MISHAP_PROGRAM"]))
marks = itertools.count(100)


def path_of(name):
    return os.path.join(FOLDER.name, name)


def needs(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise Skipped("there is no %s" % missing[0])


class Screen:
    """A shell in a terminal of 80 columns and 24 lines, and what a person sees there."""

    def __init__(self):
        needs("tmux")
        self.socket = path_of("socket-%d" % next(marks))
        atexit.register(subprocess.run, ["tmux", "-S", self.socket, "kill-server"], stderr=subprocess.DEVNULL)
        self.tmux("new-session", "-d", "-x", "80", "-y", "24", "env", "-i", "PATH=" + os.environ["PATH"], "HOME=" + FOLDER.name, "TERM=screen", "LANG=C.UTF-8",
                  "ASAN_OPTIONS=detect_leaks=0", "MISHAP_LOG=" + path_of("log"), "PS1=ready> ", "bash", "--norc", "-i")
        self.until("ready>")

    def tmux(self, *words):
        command = ["tmux", "-S", self.socket, "-f", os.devnull, *words]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=PATIENCE).stdout.decode("utf-8", "replace")

    def seen(self):
        return self.tmux("capture-pane", "-p")

    def until(self, words):
        deadline = time.monotonic() + PATIENCE
        while words not in self.seen():
            expect(time.monotonic() < deadline, "never seen:", words, "but", self.seen())
            time.sleep(0.05)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def key(self, *names):
        self.tmux("send-keys", *names)

    def run(self, command):
        self.type(command)
        self.key("Enter")

    def prompt(self):
        """The shell waits for a command, after the last line of the one before. Keys that come earlier may be lost to that one."""
        deadline = time.monotonic() + PATIENCE
        while ([""] + [line.rstrip() for line in self.seen().splitlines() if line.strip()])[-1] not in ("ready>", "ready> ."):
            expect(time.monotonic() < deadline, "the shell is not back:", self.seen())
            time.sleep(0.05)

    def status(self):
        """The exit code of the last command, when the shell is back."""
        self.prompt()
        self.key("C-u")  # a key of the test may be there already
        mark = next(marks)
        self.run("s=$?; clear; echo %d-$s-$((%d + 1))" % (mark, mark))
        self.until("-%d" % (mark + 1))
        line = next(line for line in self.seen().splitlines() if line.startswith("%d-" % mark) and line.endswith("-%d" % (mark + 1)))
        return int(line.split("-")[1])


@test
def an_editor_works_as_without():
    needs("vim")
    found, file = Screen(), pathlib.Path(path_of("text"))
    file.write_text("first line\n")
    found.run("%svim -u NONE -i NONE %s" % (WRAP, file))
    found.until("~")  # the lines behind the end of the file
    found.until("first line")
    found.type("ohello from vim")
    found.key("Escape")
    found.until("hello from vim")
    found.run(":wq")
    equal(found.status(), 0, "the end of the editor")
    equal(file.read_text(), "first line\nhello from vim\n", "the file")


@test
def a_pager_works_as_without():
    needs("less")
    found, file = Screen(), pathlib.Path(path_of("long"))
    file.write_text("".join("line %d\n" % number for number in range(1, 2001)))
    found.run("%sless %s" % (WRAP, file))
    found.until("line 22")
    expect("line 24\n" not in found.seen(), "more than the screen:", found.seen())
    found.type(" ")
    found.until("line 40")
    found.run("/line 1777")
    found.until("line 1790")
    found.tmux("resize-window", "-x", "60", "-y", "12")
    found.key("g")
    found.until("line 1\n")
    found.key("C-z")
    found.until("Stopped")
    found.prompt()
    found.run("echo cooked-$((60 + 1))")  # the shell has its terminal
    found.until("cooked-61")
    found.run("bg")  # a pager in the background stops again
    found.run("fg")
    found.until("line 2\n")
    found.type("q")
    equal(found.status(), 0, "the end of the pager")


@test
def a_pager_of_another_program_reads_its_text_from_a_pipe():
    needs("less")
    found = Screen()
    found.run("seq 3000 3999 | %ssh -c 'less; exit 4'" % WRAP)
    found.until("3022")
    found.type("G")
    found.until("3999")
    found.type("q")
    equal(found.status(), 4, "the exit code")


@test
def keys_behind_the_end_of_a_pager_are_for_the_shell():
    needs("less")
    found, file = Screen(), pathlib.Path(path_of("short"))
    file.write_text("".join("row %d\n" % number for number in range(1, 201)))
    found.run("%sless %s" % (WRAP, file))
    found.until("row 20")
    found.run("q   echo ahead-$((70 + 1))")  # one of them may be lost
    found.until("ahead-71")
    equal(found.status(), 0, "the end of the shell's command")


# As a program with curses does it: the mode of its standard output, the keys of its standard input.
CURSES = """
import os, termios, time, tty
before = termios.tcgetattr(1)
tty.setcbreak(1)
os.write(1, b"begun-%d\\r\\n" % (80 + 1))
keys = b""
while not keys.endswith(b"."):
    time.sleep(0.1)  # it is busy, and keys are pressed meanwhile
    keys += os.read(0, 1)
termios.tcsetattr(1, termios.TCSANOW, before)
os.write(1, b"keys-" + keys + b"-%d\\r\\n" % (82 + 1))
"""


@test
def a_program_with_curses_loses_one_key_at_most():
    found, file = Screen(), pathlib.Path(path_of("curses.py"))
    file.write_text(CURSES)
    found.run("%s%s %s" % (WRAP, shlex.quote(sys.executable), file))
    found.until("begun-81")
    for key in "abcdefghij..":
        found.type(key)
        time.sleep(0.03)
    found.until("-83")
    keys = next(line for line in found.seen().splitlines() if line.startswith("keys-")).split("-")[1]
    expect(len(keys) >= 10 and keys in ["abcdefghij."[:at] + "abcdefghij."[at + 1:] for at in range(10)] + ["abcdefghij."], "keys are lost:", keys)
    equal(found.status(), 0, "the end of the program")


@test
def a_job_of_a_shell_stops_and_goes_on():
    found = Screen()
    found.run(WRAP + "sh -c 'echo begun-$((40 + 2)); read answer; echo got-$answer; exit 3'")
    found.until("begun-42")
    found.key("C-z")
    found.until("Stopped")
    found.prompt()
    found.run("fg")
    found.run("words")
    found.until("got-words")
    found.until('"code":')  # the envelope of the failure …
    found.until('"timeout_ms"')  # … and its end
    equal(found.status(), 3, "the exit code")
    found.run(WRAP + "sh -c 'echo begun-$((50 + 2)); exec sleep 600'")
    found.until("begun-52")
    found.key("C-c")
    equal(found.status(), 130, "after Ctrl-C")


@test
def a_shell_with_job_control_works_as_without():
    found = Screen()
    found.run("PS1='inner> ' %sbash --norc -i" % WRAP)
    found.until("inner>")
    found.run("sh -c 'trap \"echo again-$((94 + 1))\" CONT; echo first-$((90 + 1)); while :; do sleep 0.1; done'")
    found.until("first-91")
    found.key("C-z")  # it stops the job, and neither of the shells
    found.until("Stopped")
    found.run("sh -c 'echo second-$((91 + 1)); read answer; echo got-$answer' &")
    found.until("second-92")
    found.run("jobs; echo jobs-$((92 + 1))")
    found.until("jobs-93")
    expect("[1]" in found.seen() and "[2]" in found.seen(), "no jobs:", found.seen())
    found.run("fg %2")  # a job of the background gets the terminal
    found.run("words")
    found.until("got-words")
    found.run("fg %1")
    found.until("again-95")
    found.key("C-c")
    found.run("echo code-$?-$((93 + 1))")
    found.until("code-130-94")
    expect("no job control" not in found.seen() and "Inappropriate" not in found.seen(), found.seen())
    found.run("exit 7")
    equal(found.status(), 7, "the end of the shell")


if __name__ == "__main__":
    main()
