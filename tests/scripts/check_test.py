"""What scripts/check counts and shows, with a meson and a ninja that only pretend.

    MISHAP_TESTS=… python3 tests/scripts/check_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TESTS = os.environ["MISHAP_TESTS"]
sys.path.insert(0, os.path.join(TESTS, "cli"))
from blackbox import PATIENCE, equal, expect, main, open_terminal, read_terminal, run_program, test, tests_of  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()

# Both read what they are to do from a file beside them. A test of the pretended meson is a process that lives until a file is
# there, so that it can be seen running.
PRETENDED = {"meson": """#!%(python)s
import json, os, signal, subprocess, sys, time
here = os.path.dirname(os.path.abspath(__file__))
story = json.load(open(os.path.join(here, "story")))
word, rest = sys.argv[1], sys.argv[2:]
command = lambda name: [sys.executable, "-c", "import os, sys, time\\nwhile os.path.exists(sys.argv[1]): time.sleep(0.02)", os.path.join(here, name)]
if word == "setup":
    os.makedirs(os.path.join(rest[-1], "meson-logs"), exist_ok=True)
    open(os.path.join(rest[-1], "build.ninja"), "w").close()
    open(os.path.join(here, "configured"), "a").write(" ".join(rest) + "\\n")
elif word == "configure":
    open(os.path.join(here, "configured"), "a").write("again " + " ".join(rest) + "\\n")
elif word == "introspect":
    answers = {"--buildoptions": [{"name": "tests", "value": story.get("has_tests", True)}], "--targets": [],
        "--tests": [{"name": name, "priority": 10, "depends": [], "cmd": command(name)} for name in story["tests"] if os.path.exists(os.path.join(here, "listed"))]}
    print(json.dumps(answers[rest[-1]]))
elif word == "test" and "--list" in rest:
    open(os.path.join(here, "listed"), "w").close()
    left_out = story.get("left_out", {}).get(os.path.basename(rest[rest.index("-C") + 1]), [])
    print("\\n".join("mishap:outside / " + name for name in story["tests"] if name not in left_out))
elif word == "test":
    base = rest[rest.index("--logbase") + 1]
    log = os.path.join(rest[rest.index("-C") + 1], "meson-logs", base + ".json")
    tests = dict(story["tests"])
    if base == "alone":
        open(os.path.join(here, "alone"), "a").write(" ".join(rest) + "\\n")
        again = story.get("again", {}).get(rest[-1], [])
        tests[rest[-1]] = again[(len(open(os.path.join(here, "alone")).read().splitlines()) - 1) %% len(again)] if again else tests[rest[-1]]
    open(os.path.join(here, "options"), "w").write(os.environ.get("UBSAN_OPTIONS", ""))
    def terminated(*_):
        print(json.dumps({"name": "mishap:outside / " + name, "duration": 1, "stderr": "", "stdout": "", "result": "INTERRUPT", "returncode": -15}),
            file=open(log, "a"))
        sys.exit(1)
    signal.signal(signal.SIGTERM, terminated)
    for name, line in list(tests.items())[:story.get("most")]:
        if set(rest) & set(story["tests"]) and name not in rest:
            continue
        open(os.path.join(here, name), "w").close()
        running = subprocess.Popen(command(name))
        until = time.monotonic() + story["seconds"]
        while time.monotonic() < until or story.get("held") and not os.path.exists(os.path.join(here, "enough of " + name)):
            time.sleep(0.02)
        os.remove(os.path.join(here, name))
        running.wait()
        with open(log, "a") as file:
            print(json.dumps(dict({"name": "mishap:outside / " + name, "duration": 1, "stderr": ""}, **line)), file=file)
    sys.exit(story.get("status", 0))
""", "ninja": """#!%(python)s
import json, os, sys
story = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "story")))
open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "built"), "w").write(" ".join(sys.argv[1:]))
print("[1/2] one\\n[2/2] two\\n" + story.get("said", "") + story.get("ninja", ""))
sys.exit(bool(story.get("ninja")))
"""}


def place(name, **story):
    """A tree with nothing but scripts/check and the programs that pretend: its path and the environment to run it in."""
    tree = os.path.join(FOLDER.name, name)
    for folder in ("scripts", "programs"):
        os.makedirs(os.path.join(tree, folder))
    shutil.copy(os.path.join(TESTS, "..", "scripts", "check"), os.path.join(tree, "scripts"))
    for program, text in PRETENDED.items():
        path = os.path.join(tree, "programs", program)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text % {"python": sys.executable})
        os.chmod(path, 0o755)
    with open(os.path.join(tree, "programs", "story"), "w", encoding="utf-8") as file:
        json.dump(dict({"seconds": 0}, **story), file)
    return tree, {"PATH": os.path.join(tree, "programs") + ":" + os.environ["PATH"]}


def line(stdout, result="OK", returncode=0):
    return {"stdout": stdout, "result": result, "returncode": returncode}


def check(name, *arguments, **story):
    tree, environment = place(name, **story)
    done = run_program(os.path.join(tree, "scripts", "check"), *arguments, env=environment)
    return done.status, done.out.decode().splitlines()


CASES = {
    "all is well": (0, "3 passed, 0 failed", {"a": line("1..2\nok 1 - x\nok 2 - y\n"), "b": line("no TAP")}),
    "a case fails": (1, "1 passed, 1 failed", {"a": line("1..2\nok 1 - x\nnot ok 2 - y\n# why\n", "FAIL", 1)}),
    "a crash after good cases": (1, "2 passed, 1 failed", {"a": line("1..2\nok 1 - x\nok 2 - y\n", "ERROR", -11)}),
    "a timeout": (1, "0 passed, 1 failed", {"a": line("", "TIMEOUT", -15)}),
    "a case is skipped": (0, "1 passed, 0 failed, 1 skipped", {"a": line("1..2\nok 1 - x\nok 2 - y # SKIP no z\n")}),
    "cmocka skips a case": (0, "1 passed, 0 failed, 1 skipped", {"a": line("1..2\nok 1 - x\nnot ok 2 # SKIP y\n", "FAIL", 0)}),
    "a program is skipped": (0, "1 passed, 0 failed, 1 skipped", {"a": line("1..1\nok 1 - x\n"), "b": line("", "SKIP", 77)}),
    "a program says nothing of its cases": (1, "1 passed, 1 failed", {"a": line("1..1\nok 1 - x\n"), "b": line("all is well\n", "SKIP", 0)}),
    "all is skipped": (1, "0 passed, 1 failed, 1 skipped", {"b": line("", "SKIP", 77)}),
    "no test": (1, "0 passed, 1 failed", {}),
}


@tests_of(CASES)
def the_cases_are_counted_when(status, summary, tests):
    found, lines = check("count-%d" % sum(map(ord, summary + repr(tests))), tests=tests)
    equal((found, lines[-1]), (status, summary), "exit code and last line")


GOOD, BAD, OTHER = line("1..2\nok 1 - x\nok 2 - y\n"), line("1..2\nok 1 - x\nnot ok 2 - y\n# it was 3\n", "FAIL", 1), line("1..1\nok 1 - z\n")
RACE = "==1==ERROR: AddressSanitizer: heap-use-after-free\n"
REPEATED = {
    "it passes alone": (0, "3 passed, 0 failed", 2, {"a": BAD}, [GOOD]),
    "it fails alone": (1, "2 passed, 1 failed", 1, {"a": BAD}, [BAD]),
    "it passes alone only once": (1, "2 passed, 1 failed", 2, {"a": BAD}, [GOOD, BAD]),
    "alone it is skipped": (1, "2 passed, 1 failed", 1, {"a": BAD}, [line("", "SKIP", 77)]),
    "it crashed": (1, "3 passed, 1 failed", 0, {"a": dict(GOOD, result="ERROR", returncode=-11)}, [GOOD]),
    "it was stopped by its timeout": (1, "3 passed, 1 failed", 0, {"a": dict(GOOD, result="TIMEOUT", returncode=-15)}, [GOOD]),
    "a sanitizer has found something": (1, "2 passed, 1 failed", 0, {"a": dict(BAD, stderr=RACE)}, [GOOD]),
    "the sanitizer of undefined behaviour has": (1, "2 passed, 1 failed", 0, {"a": dict(BAD, stderr="a.c:1:2: runtime error: x\n")}, [GOOD]),
    "many others fail": (1, "5 passed, 4 failed", 0, {"a": BAD, "b": BAD, "c": BAD, "d": BAD}, [GOOD]),
}


@tests_of(REPEATED)
def a_test_that_failed_is_run_again_when(status, summary, runs, tests, again):
    tree, environment = place("again-%d" % sum(map(ord, summary + repr((tests, again)))), tests=dict(tests, z=OTHER), again={"a": again}, status=1)
    done = run_program(os.path.join(tree, "scripts", "check"), env=environment)
    lines = done.out.decode().splitlines()
    equal((done.status, lines[-1]), (status, summary), "exit code and last line")
    alone = os.path.join(tree, "programs", "alone")
    calls = open(alone, encoding="utf-8").read().splitlines() if os.path.exists(alone) else []
    equal(len(calls), runs, "runs alone")
    expect(all("--num-processes 1 a" in call for call in calls), calls)
    unsteady = [at for at, one in enumerate(lines) if one.startswith("Unsteady (")]
    equal(len(unsteady), int(not status), "lists of what is unsteady")
    if unsteady:
        equal(lines[unsteady[0] + 1:unsteady[0] + 3], ["ordinary a: y", "# it was 3"])


@test
def an_exit_code_of_meson_without_a_failed_case_is_a_failure():
    equal((check("status", tests={"a": line("ok")}, status=3)[1][-1]), "1 passed, 1 failed", "the last line")


@test
def cmocka_that_skips_a_case_makes_meson_end_with_1_and_that_is_no_failure():
    skips = line("1..2\nok 1 - x\nnot ok 2 # SKIP y\n", "FAIL", 0)
    equal(check("excused", tests={"a": skips}, status=1)[1][-1], "1 passed, 0 failed, 1 skipped", "the last line")
    skips = line("1..2\nok 1 - x\nok 2 # SKIP y\n")
    equal(check("skips", tests={"a": skips}, status=1)[1][-1], "1 passed, 1 failed, 1 skipped", "skips that meson knows excuse nothing")


@test
def a_test_that_meson_did_not_come_to_has_failed():
    tests = {"a": line("1..2\nok 1 - x\nok 2 # SKIP y\n"), "b": line("ok"), "c": line("ok")}
    status, lines = check("killed", tests=tests, status=1, most=1)
    equal((status, lines[-1]), (1, "1 passed, 2 failed, 1 skipped"), "exit code and last line")
    expect("ordinary c: it did not run: meson test ended with 1" in lines, lines)


@test
def what_failed_is_told_with_its_words_and_once_more_at_the_end():
    lines = check("words", tests={"a": dict(line("1..1\nnot ok 1 - a thing holds\n# it was 3\n", "FAIL", 1), stderr="said aloud\n")})[1]
    equal([text for text in lines if "a thing holds" in text], ["ordinary a: a thing holds"] * 2, "the lines")
    expect("# it was 3" in lines and "    said aloud" in lines, lines)
    with open(os.path.join(FOLDER.name, "words", "build", "test", "summary"), encoding="utf-8") as file:
        equal(file.read(), "0 passed, 1 failed\n", "the summary")


@test
def a_build_that_fails_is_one_failure_and_shows_the_end_of_its_log():
    status, lines = check("build", tests={"a": line("ok")}, ninja="error: no such thing")
    equal((status, lines[-1]), (1, "0 passed, 1 failed"), "exit code and last line")
    expect("error: no such thing" in lines, lines)


@test
def warnings_of_the_ordinary_build_are_told_and_are_a_failure_on_a_build_server():
    story = {"tests": {"a": line("1..1\nok 1\n")}, "said": "../src/a.c:3:1: warning: b is not used\n"}
    for name, ci, expected in (("at-home", "", (0, "1 passed, 0 failed")), ("on-server", "true", (1, "1 passed, 1 failed"))):
        tree, environment = place(name, **story)
        done = run_program(os.path.join(tree, "scripts", "check"), env={**environment, "CI": ci})
        lines = done.out.decode().splitlines()
        equal((done.status, lines[-1]), expected, "exit code and last line")
        expect("ordinary: ../src/a.c:3:1: warning: b is not used" in lines, lines)
    tree, environment = place("others-warn", **story)
    done = run_program(os.path.join(tree, "scripts", "check"), "gcc-asan", env={**environment, "CI": "true"})
    equal(done.status, 0, done.out)


@test
def the_other_builds_have_their_options():
    status, lines = check("others", "all", tests={"a": line("1..1\nok 1\n")})
    equal((status, lines[-1]), (0, "4 passed, 0 failed"), "exit code and last line")
    said = {row.split()[-1]: row for row in noted("others", "configured").splitlines()}
    for build, option in {"clang-asan": "-Dwerror=true", "gcc-tsan": "-Db_sanitize=thread",
                          "gcc-asan": "-Db_sanitize=address,undefined"}.items():
        expect(option in said["build/test/" + build], said)
    other = "-funsigned-char" if is_char_signed() else "-fsigned-char"
    expect("-Dc_args=-g1 " + other in said["build/test/gcc-asan"], other, "is not in", said)
    expect("-Dwerror=true" in said["build/test/gcc-asan"], said)
    expect("werror=true" not in said["build"], said)


def noted(name, what):
    """What a program that pretends has written down, in the tree of this name."""
    with open(os.path.join(FOLDER.name, name, "programs", what), encoding="utf-8") as file:
        return file.read()


@test
def what_a_sanitizer_finds_ends_the_program():
    check("sanitizer", "gcc-asan", tests={"a": line("1..1\nok 1\n")})
    expect("halt_on_error=1" in noted("sanitizer", "options"), noted("sanitizer", "options"))


@test
def the_ordinary_build_is_made_whole_and_gets_tests_where_it_has_none():
    check("whole", tests={"a": line("1..1\nok 1\n")}, has_tests=False)
    equal(noted("whole", "built"), "-C build all", "what ninja was asked for")
    expect("again build -Dtests=true\n" in noted("whole", "configured"), noted("whole", "configured"))


def is_char_signed():
    """As the compiler of this machine has it."""
    macros = run_program("cc", "-dM", "-E", "-", stdin=b"").out
    return b"__CHAR_UNSIGNED__" not in macros


@test
def an_unknown_build_is_refused_with_the_names_of_all():
    tree, environment = place("unknown", tests={})
    done = run_program(os.path.join(tree, "scripts", "check"), "icc", env=environment)
    expect(done.status == 2 and b"there is no build 'icc'" in done.err and b"clang-asan" in done.err, done)


@test
def an_unknown_test_is_refused_with_similar_names():
    tree, environment = place("typo", tests={"http_api": line("1..1\nok 1\n"), "cli": line("1..1\nok 1\n")})
    done = run_program(os.path.join(tree, "scripts", "check"), "--tests", "cli", "htp_api", env=environment)
    expect(done.status == 2 and b"there is no test 'htp_api' (similar: http_api)" in done.err, done)
    expect(b"failed" not in done.out, done)


@test
def named_tests_run_and_no_others():
    status, lines = check("named", "--tests", "cli", "http_*", tests={name: line("1..1\nok 1\n") for name in ("http_api", "cli", "base")})
    equal((status, lines[-1]), (0, "2 passed, 0 failed"), "exit code and last line")


@test
def a_build_without_the_named_tests_is_no_failure_unless_no_build_has_them():
    story = {"tests": {"cli": line("1..1\nok 1\n"), "base": line("1..1\nok 1\n")}, "left_out": {"gcc-tsan": ["cli"]}}
    status, lines = check("left", "gcc-asan", "gcc-tsan", "--tests", "cli", **story)
    equal((status, lines[-1]), (0, "1 passed, 0 failed"), "exit code and last line")
    expect("gcc-tsan: has none of these tests" in lines, lines)
    status, lines = check("none", "gcc-tsan", "--tests", "cli", **story)
    equal((status, lines[-1]), (1, "0 passed, 1 failed"), "exit code and last line")


@test
def ctrl_c_ends_meson_and_says_how_far_it_was():
    tree, environment = place("interrupted", seconds=10 * PATIENCE, tests={"first": line("1..1\nok 1\n")})
    running = subprocess.Popen([os.path.join(tree, "scripts", "check")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, env=dict(os.environ, **environment),
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    first = os.path.join(tree, "programs", "first")
    until = time.monotonic() + PATIENCE
    while not os.path.exists(first) and time.monotonic() < until:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)  # not to meson, which would take it for the end of one test
    try:
        out, _ = running.communicate(timeout=PATIENCE)
    finally:
        os.remove(first)
    equal(running.returncode, 130, out)
    equal(out.decode().splitlines()[-1], "ordinary: interrupted after 0 of 1 tests")


def made(*arguments):
    """What make would do: nothing is run, and nothing is inherited from a make that runs this test."""
    return subprocess.run(["make", "-n", "-C", os.path.join(TESTS, ".."), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, timeout=PATIENCE, check=False)


@test
def make_refuses_variables_that_it_would_ignore():
    told = made("test", "ONLY=gcc-asan").stdout.decode()
    expect(-1 < told.find("ONLY is for `make test-all`") < told.find("exit 2") < told.find("scripts/setup"), told)
    for target in "test", "test-all", "clean", "bench":
        refused = made(target, "BUILD=/elsewhere")
        expect(refused.returncode == 2 and b"BUILD=DIR works with make build, run" in refused.stdout, target, refused)
    for target in "build", "run", "demo", "install", "test":
        equal(made(target, "BUILD=/elsewhere" if target != "test" else "BUILD=build").returncode, 0, target)


@test
def make_hands_its_variables_to_the_benchmark_of_a_cluster():
    told = made("bench-cluster", "SECONDS=3", "ONLY=rates").stdout.decode()
    expect("scripts/bench-cluster --seconds 3 --only rates\n" in told and "scripts/setup bench-cluster" in told, told)
    for words, why in (["--only", "rates,nonsense"], "no part nonsense"), (["--rounds", "3"], "no option --rounds"), (["--only"], "--only needs a value"):
        refused = subprocess.run([os.path.join(TESTS, "..", "scripts", "bench-cluster"), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
                                 check=False)
        expect(refused.returncode == 2 and refused.stdout.count(b"\n") == 1 and why.encode() in refused.stdout, words, refused)


@test
def a_terminal_shows_how_many_of_how_many_what_runs_and_how_long_it_still_takes():
    """Each test runs until the terminal has shown it."""
    tree, environment = place("terminal", held=True, tests={name: line("1..1\nok 1\n") for name in ("first", "second")})
    expected = {"first": r"ordinary: 0 of 2 tests.*: first", "second": r"ordinary: 1 of 2 tests, about [\d mins]+ left: second"}
    ours, theirs = open_terminal()
    running = subprocess.Popen([os.path.join(tree, "scripts", "check")], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL,
                               env=dict(os.environ, **environment))
    os.close(theirs)
    shown, drawn, until = b"", [], time.monotonic() + PATIENCE
    for piece in read_terminal(ours):
        shown += piece
        drawn = shown.decode("utf-8", "replace").split("\r\x1b[K")
        for name, pattern in expected.items():
            if any(re.fullmatch(pattern, text) for text in drawn) or time.monotonic() > until:
                open(os.path.join(tree, "programs", "enough of " + name), "w", encoding="ascii").close()
    equal(running.wait(PATIENCE), 0, "exit code")
    for pattern in expected.values():
        expect(any(re.fullmatch(pattern, text) for text in drawn), pattern, "is not in", drawn)
    expect(any(text.startswith("ordinary: 2 passed, 0 failed in ") for text in drawn), drawn)
    expect(all(len(text) < 80 for text in drawn[:-1]), "a line is too long:", drawn)


main()
