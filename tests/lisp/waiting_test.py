"""A process of SBCL waits for the next session of a server (--lisp-waiting): the session takes it, and another one waits.

    LISPER_PROGRAM=… python3 tests/lisp/waiting_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["http", "cli"]:
    sys.path.insert(0, os.path.join(HERE, "..", folder))
from blackbox import equal, expect, main, test  # noqa: E402
from server import Server, name_of, processes, wait_for  # noqa: E402

LISPER = os.path.abspath(os.environ["LISPER_PROGRAM"])
DEADLY = '(sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) 3)'


def lisps(found):
    """The processes of SBCL that a server has."""
    known, every = {found.process.pid}, list(processes())
    for _ in range(3):
        known |= {pid for pid, parent in every if parent in known}
    return {pid for pid in known if name_of(pid) == "sbcl"}


def one_that_waits(found, besides=frozenset()):
    expect(wait_for(lambda: len(lisps(found) - besides) == 1), "processes that wait:", lisps(found) - besides)
    return (lisps(found) - besides).pop()


def evaluate(found, code, status=200, session=None):
    answer = found.ask("POST", "/lisp/evaluate", {"code": code}, fields=[("Mishap-Session", session)] if session else [])
    equal(answer.status, status, answer.body)
    return answer


@test
def a_session_takes_the_process_that_waits_and_another_one_waits():
    with Server("--workers", "1", program=LISPER) as found:
        first = one_that_waits(found)
        session = evaluate(found, "(defvar *mine* 1)")["Mishap-Session"]
        second = one_that_waits(found, {first})
        other = evaluate(found, "(boundp '*mine*)")
        equal(other.json["values"], ["NIL"], "the state of another session")
        evaluate(found, "(incf *mine*)", session=session)
        evaluate(found, DEADLY, 500, session)
        expect(wait_for(lambda: first not in lisps(found)), "the first process was not that of the session")
        expect(second in lisps(found), "the second process")


@test
def a_process_that_is_killed_while_it_waits_fails_no_call():
    with Server("--workers", "1", program=LISPER) as found:
        first = one_that_waits(found)
        os.kill(first, signal.SIGKILL)
        expect(wait_for(lambda: first not in lisps(found)), "it is still there")
        session = evaluate(found, "(defvar *mine* 1)")["Mishap-Session"]
        equal(evaluate(found, "*mine*", session=session).json["values"], ["1"], "the value")


@test
def a_process_that_is_stopped_while_it_waits_fails_no_call():
    with Server("--workers", "1", program=LISPER) as found:
        os.kill(one_that_waits(found), signal.SIGSTOP)
        equal(evaluate(found, "(+ 1 2)").json["values"], ["3"], "the value")


@test
def all_loops_share_the_process_that_waits():
    with Server("--workers", "2", program=LISPER) as found:
        first = one_that_waits(found)
        for _ in range(4):
            equal(evaluate(found, "(+ 1 2)").json["values"], ["3"], "the value")
        expect(first in lisps(found), "it was replaced")


@test
def no_process_waits_if_none_is_wanted():
    with Server("--workers", "1", "--lisp-waiting", "0", program=LISPER) as found:
        evaluate(found, "1")
        time.sleep(3)  # one would have been started by now
        equal(len(lisps(found)), 1, "processes")


@test
def a_server_leaves_no_process_that_waits_behind():
    with Server("--workers", "1", program=LISPER) as found:
        first = one_that_waits(found)
    expect(wait_for(lambda: name_of(first) != "sbcl"), "it is left")


main()
