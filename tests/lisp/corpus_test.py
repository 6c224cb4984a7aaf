"""Every failing program of the corpus gives a condition report, and the session lives on.

    MISHAP_PROGRAM=… LISP_CORE=… SBCL=… python3 tests/lisp/corpus_test.py [PART-OF-A-NAME]

Each report is rendered by the dialect (`mishap render`), checked by it (`mishap check`) and read by the seed's own parser in
SBCL. Speaks TAP.
"""
import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from blackbox import Broken, equal, expect, main, run_program, test, tests_of  # noqa: E402
from corpus import FILES, entries, fails_here, read_by_seed  # noqa: E402
from worker import Died, Worker  # noqa: E402

MISHAP = os.environ.get("MISHAP_PROGRAM", "mishap")


texts = {}  # the reports by the name of the program


def rendered(failure):
    """The failure as the dialect writes it. Its own check must find nothing wrong with it."""
    done = run_program(MISHAP, "render", "--dialect", "condition-report", stdin=json.dumps(failure).encode())
    expect(done.status == 0, "not rendered:", done.out, done.err)
    checked = run_program(MISHAP, "check", "--dialect", "condition-report", stdin=done.out)
    expect(checked.status == 0, "the dialect finds fault:", checked.out)
    return done.out.decode("utf-8")


def check_report(name, message, members):
    expect("failure" in message, "did not fail:", message.get("text"))
    failure = message["failure"]
    for key, value in (("type", failure["type"]), ("message", failure["message"]), ("frame", failure["backtrace"][0]),
                       ("stdout", failure.get("stdout", ""))):
        if key in members:
            match = re.fullmatch if key == "type" else re.search
            expect(match(members[key], value, re.S), key, "is", value, "and should match", members[key])
    expect("\n" not in failure["message"], "the message has several lines:", failure["message"])
    expect(1 <= len(failure["backtrace"]) <= 21, "frames:", failure["backtrace"])
    for frame in failure["backtrace"]:
        expect("SIMPLE-EVAL-IN-LEXENV" not in frame, "a frame of the evaluator:", frame)
        expect("MISHAP-PRELUDE::" not in frame or "prelude" in name, "a frame of the prelude:", frame)
    texts[name] = rendered(failure)


def check_program(worker, name, members, code):
    """On a busy machine the time of what never ends may be over before it has come far: then it has more."""
    times = (1, 10, 100) if "limit" in members else (1,)
    for number in times:
        message = worker.evaluate(code, **({"timeout": number * int(members["limit"]) / 1000} if "limit" in members else {}))
        try:
            if fails_here(members):
                check_report(name, message, members)
            else:
                expect(re.search(members["untrapped"], message.get("text", "")), "the answer is", message, "and should match", members["untrapped"])
            break
        except Broken:
            if number == times[-1]:
                raise
    after = worker.evaluate("(+ 1 2)")
    expect(after.get("text", "").endswith("=> 3"), "the next request is answered with", after)
    expect("dies" not in members, "the worker was to die")


@tests_of({name: (path,) for name, path in FILES.items()})
def every_program_fails_with_a_report_and_the_session_lives(path):
    problems, worker = [], Worker()
    for name, members, code in entries(path):
        try:
            check_program(worker, name, members, code)
        except Exception as problem:  # the other programs go on
            if not (isinstance(problem, Died) and ("dies" in members or "may-die" in members)):
                problems.append("%s: %s: %s" % (name, type(problem).__name__, problem))
            if isinstance(problem, (Died, TimeoutError)):
                worker.__exit__()
                worker = Worker()
    worker.close()
    expect(not problems, "\n".join(problems))


@test
def the_parser_of_the_seed_reads_every_report():
    programs = [members for path in FILES.values() for _, members, _ in entries(path)]
    count = len(texts)
    expect(count >= 150, "only", count, "programs")
    expect(count >= sum("dies" not in members and "may-die" not in members and fails_here(members) for members in programs), "only", count, "reports")
    done = read_by_seed(texts)
    equal(done.stdout.strip(), "%d responses, 0 malformed" % count, "the verdict")
    equal(done.returncode, 0, "the status")


if __name__ == "__main__":
    main()
