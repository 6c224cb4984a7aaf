"""Completion as a person at a terminal gets it: words are typed into real shells, with a tab, and run.

The `mishap` of these shells asks the real program what completes; any other call writes its arguments into a file.
"""
import fcntl
import os
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from blackbox import PATIENCE, Skipped, equal, expect, main, open_terminal, test

MISHAP = os.environ["MISHAP_PROGRAM"]
# A shell starts the program for each tab, and the search for leaks of the address sanitizer can take two seconds at the end of each.
SANITIZER = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"

# What is typed before the tab, and the arguments of the command that runs. A file is called `fa ir.txt`, a folder `folder`.
CASES = {
    "ren": ["render"],
    "render --dial": ["render", "--dialect"],
    "render --dialect prob": ["render", "--dialect", "problem"],
    "render --dialect=prob": ["render", "--dialect=problem"],
    "check --dialect problem --str": ["check", "--dialect", "problem", "--strict"],
    "lisp eval": ["lisp", "evaluate"],
    "help lisp eval": ["help", "lisp", "evaluate"],
    "completion zs": ["completion", "zsh"],
    "check --dialect problem fa": ["check", "--dialect", "problem", "fa ir.txt"],
    "lisp evaluate --code @fa": ["lisp", "evaluate", "--code", "@fa ir.txt"],
    "lisp evaluate --code=fa": ["lisp", "evaluate", "--code=fa ir.txt"],
    "lisp evaluate --code=@fa": ["lisp", "evaluate", "--code=@fa ir.txt"],
    "lisp evaluate --code a:b=c --outp": ["lisp", "evaluate", "--code", "a:b=c", "--output"],
    "nosuchcommand --dialect prob": ["nosuchcommand", "--dialect", "problem"],
}

# Names of files, which are also words that a program offers, by their first two letters; and where a name can be typed.
ENDS = ("$(touch ran)", "`touch ran`", ";touch ran", "|touch ran", "&touch ran", "' \"$(touch ran)", "\\$(touch ran)", "x:$(touch ran)",
        "x=$(touch ran)", ">ran", "{a,b}*?[c]", "!x", "#y")
HOSTILE = {"y" + letter: "y" + letter + end for letter, end in zip("abcdefghijklm", ENDS)}
PLACES = ("check --dialect problem ", "lisp evaluate --code ", "lisp evaluate --code @", "lisp evaluate --code=", "lisp evaluate --code=@")

# Each prompt has a number, so that nothing is typed before the shell reads it.
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "PROMPT_COMMAND='((++n))' PS1='READY$n> '; bind 'set bell-style none'; source <($MISHAP_PROGRAM completion bash)\r"),
    "zsh": (["zsh", "-f", "-i"], "precmd() { ((++n)) }; setopt promptsubst; unsetopt beep; autoload -U compinit; compinit -u -D; "
            "source <($MISHAP_PROGRAM completion zsh); PS1='READY$n> '\r"),
    "fish": (["fish", "-N"], "function count_prompts --on-event fish_prompt; set -g n (math 0$n + 1); end; "
             "function fish_prompt; echo -n READY$n'> '; end; $MISHAP_PROGRAM completion fish | source\r"),
}


class Shell:
    """An interactive shell in a folder of its own."""

    def __init__(self, name):
        if not shutil.which(name):
            raise Skipped("%s is not installed" % name)
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = os.path.realpath(self.temporary.name)
        self.told = os.path.join(self.folder, "told")
        self.program("bin/mishap", '[ "$1" = __complete ] && exec "$MISHAP_PROGRAM" "$@"')
        self.program("here/mishap", "[ \"$1\" = __complete ] && { printf 'words\\n\\nrenamed\\n'; exit; }")
        self.program("other/mishap", "[ \"$1\" = __complete ] && { echo '{\"ok\":false}'; echo; echo renamed; exit 2; }")
        offers = "".join(offer + "\n" for offer in HOSTILE.values())
        self.program("offers/mishap", "[ \"$1\" = __complete ] && { cat <<'END'\nwords\n\n%sEND\nexit; }" % offers)
        open(os.path.join(self.folder, "fa ir.txt"), "w").close()
        ours, theirs = open_terminal()
        words, start = START[name]
        environment = {"PATH": os.path.join(self.folder, "bin") + ":" + os.environ["PATH"], "HOME": self.folder, "TERM": "xterm", "ASAN_OPTIONS": SANITIZER,
                       "LC_ALL": "C.UTF-8", "MISHAP_TOLD": self.told, "MISHAP_PROGRAM": MISHAP, "INPUTRC": "/dev/null"}
        self.process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.folder, env=environment,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.terminal, self.seen = ours, b""
        self.prompts = 0
        self.type(start)
        self.wait_for_prompt()

    def program(self, path, asked):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write('#!/bin/sh\n%s\nprintf "%%s\\n" "$0" "$@" >"$MISHAP_TOLD.new" && mv "$MISHAP_TOLD.new" "$MISHAP_TOLD"\n' % asked)
        os.chmod(path, stat.S_IRWXU)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, happened):
        end = time.monotonic() + PATIENCE
        while not happened():
            expect(time.monotonic() < end, "it takes too long; the terminal shows", self.seen[-1500:])
            if select.select([self.terminal], [], [], 0.02)[0]:
                self.seen += os.read(self.terminal, 65536)

    def wait_for_prompt(self):
        self.prompts += 1
        self.wait(lambda: b"READY%d>" % self.prompts in self.seen)

    def run(self, line):
        """What the program is called with after this line, a tab and a line feed."""
        self.type(line + "\t")
        self.type("\r")
        self.wait(lambda: os.path.exists(self.told))
        with open(self.told) as file:
            program, *arguments = file.read().splitlines()
        os.remove(self.told)
        self.wait_for_prompt()
        return os.path.relpath(os.path.join(self.folder, program), self.folder), arguments

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        self.temporary.cleanup()


def check(name):
    with Shell(name) as shell:
        for typed, expected in CASES.items():
            equal(shell.run("mishap " + typed), ("bin/mishap", expected), "`mishap %s` and a tab" % typed)
        # The program that is typed is asked, however it is named. One that does not know the question offers nothing.
        equal(shell.run("here/mishap ren"), ("here/mishap", ["renamed"]), "a path")
        equal(shell.run("~/here/mishap ren"), ("here/mishap", ["renamed"]), "a path at home")
        equal(shell.run("other/mishap ren"), ("other/mishap", ["ren"]), "another program")
        # What is typed is never run before it is entered.
        for hostile in ("$(touch ran)", "`touch ran`", "'$(touch ran)'", '"$(touch ran)"', "${x:=$(touch ran)}", "(touch ran)", ";touch ran"):
            shell.type("mishap render %s --dialect prob\t" % hostile)
            shell.type("\x15")  # the line is taken back
            equal(shell.run("mishap ren"), ("bin/mishap", ["render"]), "after `%s`" % hostile)
        # Nor is the name of a file that is completed, or a word that the program offers.
        for typed, name in HOSTILE.items():
            open(os.path.join(shell.folder, name), "w").close()
            for place in PLACES:
                *before, last = place.split(" ")
                equal(shell.run("mishap " + place + typed), ("bin/mishap", [*before, last + name]), "the file `%s`" % name)
            equal(shell.run("offers/mishap " + typed), ("offers/mishap", [name]), "the offer `%s`" % name)
        expect(not os.path.exists(os.path.join(shell.folder, "ran")), "words, names of files or offers were run")


@test
def bash_completes_what_is_typed():
    check("bash")


@test
def zsh_completes_what_is_typed():
    check("zsh")


@test
def fish_completes_what_is_typed():
    check("fish")


@test
def an_answer_takes_little_time():
    """The processor time of the quickest of some answers: other work on the machine does not count."""
    took = []
    for _ in range(10):
        before = os.times()
        subprocess.run([MISHAP, "__complete", "render", "--"], stdout=subprocess.PIPE, check=True, env={**os.environ, "ASAN_OPTIONS": SANITIZER})
        after = os.times()
        took.append(after.children_user + after.children_system - before.children_user - before.children_system)
    expect(min(took) <= 0.05, "processor time of the quickest of ten answers:", min(took))


main()
