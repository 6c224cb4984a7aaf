"""The rules of `mishap wrap` against recorded failures of real programs (provoke.py).

    MISHAP_PROGRAM=… python3 tests/wrap/corpus_test.py [PART-OF-A-NAME]

Each recording is played by a program of the same name, which prints and ends as recorded; `mishap wrap` runs it. `--show` prints what is
not right. Speaks TAP.
"""
import concurrent.futures
import json
import os
import signal
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import Skipped, equal, expect, main, run_program, tests_of  # noqa: E402

PROGRAM = os.path.abspath(os.environ["MISHAP_PROGRAM"])
SHOW = "--show" in sys.argv and not sys.argv.remove("--show")
FOLDER = tempfile.TemporaryDirectory(prefix="mishap-wrap-")
UNKNOWN = "GENERAL_ERROR"
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup may have started this, and a recording ends by it
# A program that is started by its name could be the one that is played.
PLAYER = '#!/bin/sh\n[ ! -s "$0.err" ] || /bin/cat "$0.err" >&2\n[ ! -s "$0.out" ] || /bin/cat "$0.out"\n%s\n'


def recordings(name):
    path = os.path.join(HERE, "corpus", name + ".jsonl")
    if not os.path.exists(path):
        raise Skipped("there is no recording " + name)
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(case):
    """The program that plays a recording. All are written before one is started: a process that is forked meanwhile would have the file open."""
    folder = os.path.join(FOLDER.name, case["name"])
    os.makedirs(folder)
    path = os.path.join(folder, case["program"])
    for end in ("err", "out"):
        with open("%s.%s" % (path, end), "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(case["std" + end])
    with open(path, "w", encoding="utf-8") as file:
        file.write(PLAYER % ("kill -%d $$" % case["signal"] if case["signal"] else "exit %d" % case["exit"]))
    os.chmod(path, 0o755)


def play(case):
    """What `mishap wrap` says of a recorded failure: (code, may it be retried, rule); nothing if it is none."""
    folder = os.path.join(FOLDER.name, case["name"])
    done = run_program(PROGRAM, "wrap", "--explain", "--", case["program"], *case["argv"][1:],
                       env={"PATH": folder + ":" + os.environ["PATH"], "MISHAP_LOG": os.path.join(FOLDER.name, "log"), "ASAN_OPTIONS": "detect_leaks=0"})
    expect(done.status == (-case["signal"] if case["signal"] else case["exit"]), case["name"], "ended with", done.status)
    expect(done.out.decode(errors="replace") == case["stdout"], case["name"], "the output", done.out)
    said = done.err.decode(errors="replace")
    if said == case["stderr"]:
        return None, None, None
    line = said.splitlines()[-1]
    error = json.loads(line)["error"]
    return error["code"], error["retryable"], error.get("context", {}).get("rule")


def judged(name):
    cases = recordings(name)
    right, wrong, unknown, advice = [], [], [], []
    for case in cases:
        write(case)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for case, (code, retry, rule) in zip(cases, pool.map(play, cases)):
            fine = code is None if case["answer"] else code in (case["code"], *case["also"])
            (right if fine else unknown if code == UNKNOWN else wrong).append(case)
            bad_advice = not case["answer"] and retry is not None and case["retry"] is not None and retry and not case["retry"]
            if bad_advice:
                advice.append(case)
            if SHOW and (not fine or bad_advice):
                print("# %s: %s, not %s%s (%s) %s | %s" % (case["name"], code, case["code"], "" if not bad_advice else ", RETRY", rule, case["exit"],
                                                         (case["stderr"].strip() or case["stdout"].strip())[-150:].replace("\n", " / ")))
    print("# %s: %d recordings, %.1f %% right, %.1f %% wrong, %.1f %% unknown; advice to retry that is wrong: %d" % (
        name, len(cases), 100 * len(right) / len(cases), 100 * len(wrong) / len(cases), 100 * len(unknown) / len(cases), len(advice)))
    return cases, right, wrong, advice


@tests_of({"that the rules were made for, first": ("first", 300, 0.97, 0.03), "that the rules were made for, second": ("second", 150, 0.97, 0.03), "that the rules were made for, fourth": ("fourth", 150, 0.97, 0.03),
           "that no rule was made for, third": ("third", 150, 0.85, 0.03),
           "that no rule was made for, fifth": ("fifth", 150, 0.85, 0.03)})
def failures(name, least, least_right, most_wrong):
    cases, right, wrong, advice = judged(name)
    expect(len(cases) >= least, "recordings:", len(cases))
    expect(len(right) >= least_right * len(cases), "right:", len(right), "of", len(cases))
    expect(len(wrong) <= most_wrong * len(cases), "wrong:", [case["name"] for case in wrong])
    equal([case["name"] for case in advice], [], "wrong advice")


main()
