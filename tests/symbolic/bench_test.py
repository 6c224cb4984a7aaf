#!/usr/bin/env python3
"""The benchmark beside CrossHair, which is not there: a program stands in for it that says what CrossHair would."""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "bench")]
import bench  # noqa: E402
from figures import Void  # noqa: E402

STAND_IN = """#!%s
import sys
words, (path, line) = sys.argv[1:-1], sys.argv[-1].rsplit(":", 1)
assert words[0] == "check" and "--analysis_kind=PEP316" in words and "--report_all" in words, words
code = open(path).read()
assert code.splitlines()[int(line) - 1].startswith("def f("), line
if "die" in code:
    sys.exit(9)
if "wrong" in code or "n - 1" in code:
    print(path + ":" + line + ": error: false when calling f(0) (which returns -1)")
    sys.exit(1)
print(path + ":" + line + ": info: " + ("Not confirmed." if "hard" in code else "Confirmed over all paths."))
"""


def case(body, note=""):
    return "# %s\n\ndef g(n: int):\n    return n\n\ndef f(n: int) -> int:\n    \"\"\"post: _ > n\"\"\"\n    return %s\n" % (note, body)


class Answers:
    """An engine that knows one verdict."""

    def __init__(self, status):
        self.status = status

    def call(self, tool, **given):
        assert (tool, given["function_name"]) == ("check", "f"), (tool, given)
        return {"status": self.status}


CASES = [(case("n + 1"), "f", "verified"), (case("n - 1"), "f", "counterexample"), (case("n + 2", "hard"), "f", "verified"),
         (case("n + 3", "wrong"), "f", "verified")]


def both_are_counted_in_the_same_way(program):
    ours, theirs = bench.against(program, Answers("verified"), CASES)
    assert ours[:2] == (3, 1) and theirs[:2] == (2, 1) and ours[2] > 0 and theirs[2] > 0, (ours, theirs)
    ours, theirs = bench.against(program, Answers("error"), CASES)
    assert ours[:2] == (0, 0), ours


def a_program_that_fails_is_no_measurement(program):
    try:
        bench.against(program, Answers("verified"), [(case("n", "die"), "f", "verified")])
    except Void as void:
        assert "ended with 9" in str(void), void
    else:
        raise AssertionError("it was measured")


def make_hands_the_program_on(program):
    """Without a build and a measurement: what would be run."""
    root = os.path.join(HERE, "..", "..")
    if not shutil.which("make"):
        return
    said = subprocess.run(["make", "-n", "-o", "build", "bench-symbolic", "CROSSHAIR=" + program, "EVERY=9"], cwd=root, capture_output=True, text=True, check=True)
    assert "CROSSHAIR='%s'" % program in said.stdout and "--every 9" in said.stdout, said.stdout


def main():
    good = True
    tests = [both_are_counted_in_the_same_way, a_program_that_fails_is_no_measurement, make_hands_the_program_on]
    print("1..%d" % len(tests))
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "crosshair")
        with open(program, "w", encoding="utf-8") as file:
            file.write(STAND_IN % sys.executable)
        os.chmod(program, stat.S_IRWXU)
        for number, test in enumerate(tests, 1):
            try:
                test(program)
                print("ok %d %s" % (number, test.__name__), flush=True)
            except (AssertionError, subprocess.CalledProcessError) as error:
                good = False
                print("not ok %d %s\n# %r" % (number, test.__name__, error), flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
