"""The failing programs of the corpus, and the seed's own parser for the reports of them."""
import ctypes
import functools
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from worker import SBCL

HERE = pathlib.Path(__file__).resolve().parent


def entries(path):
    """Name, members and code of each program in a file (failing/README.md)."""
    for part in re.split(r"^;;;; ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        name, _, rest = part.partition("\n")
        members, lines = {}, rest.split("\n")
        while lines and lines[0].startswith(";;; "):
            key, _, value = lines.pop(0)[4:].partition(": ")
            members[key] = value
        yield name, members, "\n".join(lines).strip()


FILES = {path.stem: path for path in sorted((HERE / "failing").glob("*.lisp"))}


def can_ask_for_traps():
    """Whether this processor takes the wish that exceptions of floats are trapped, which most of arm64 do not."""
    libm, invalid = ctypes.CDLL("libm.so.6"), 1  # FE_INVALID, on x86-64 and on arm64
    if libm.feenableexcept(invalid) == -1:
        return False
    libm.fedisableexcept(invalid)
    return True


def floats_trap():
    """Whether an exception of floats is trapped. An emulated x86-64 takes the wish and does not fulfil it: a child process tries."""
    child = "import ctypes; ctypes.CDLL('libm.so.6').feenableexcept(1); float('inf') * float('0')"
    return subprocess.run([sys.executable, "-c", child], check=False).returncode == -signal.SIGFPE


TRAPS_ASKED = can_ask_for_traps()
FLOATS_TRAP = TRAPS_ASKED and floats_trap()


@functools.cache
def version_of_sbcl():
    said = subprocess.run([SBCL, "--version"], capture_output=True, text=True, check=True).stdout
    return [int(number) for number in re.findall(r"\d+", said)[:3]]


def fails_here(members):
    """Whether a program fails on this processor, with this version of SBCL."""
    checked = [int(number) for number in members["checked"].split(".")] if "checked" in members else None
    return FLOATS_TRAP or "untrapped" not in members or (checked is not None and version_of_sbcl() >= checked)


def lisp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_by_seed(texts):
    """Reports by the names of their programs, through the seed's parser and checks in SBCL."""
    with tempfile.NamedTemporaryFile("w", suffix=".lisp", encoding="utf-8") as responses:
        for name, text in texts.items():
            responses.write("(%s t %s)\n" % (lisp_string(name), lisp_string(text)))
        responses.flush()
        return subprocess.run([SBCL, "--script", str(HERE / "seed_parser.lisp"), responses.name], capture_output=True,
                              text=True, check=False)
