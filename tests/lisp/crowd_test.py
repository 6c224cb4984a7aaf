"""Many sessions, and much in one of them: what a server has to hold out.

    LISPER_PROGRAM=… MISHAP_PROGRAM=… python3 tests/lisp/crowd_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import glob
import http.client
import json
import os
import sys

os.environ.update(MISHAP_LISP_WAITING="0", LISPER_LISP_WAITING="0")  # processes of sessions are counted
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["http", "cli"]:
    sys.path.insert(0, os.path.join(HERE, "..", folder))
from blackbox import equal, expect, main, test  # noqa: E402
from server import Server, name_of, processes, wait_for  # noqa: E402

LISPER = os.path.abspath(os.environ["LISPER_PROGRAM"])
CROWD = 100
BOUND_KB = 40 * 1024  # of a session after all that; its heap may have 256 MB


class Caller:
    def __init__(self, found):
        self.connection = http.client.HTTPConnection(*found.address, timeout=180)

    def evaluate(self, code, session=None, status=200):
        """The answer and its session."""
        fields = {"Content-Type": "application/json", **({"Mishap-Session": session} if session else {})}
        self.connection.request("POST", "/lisp/evaluate", json.dumps({"code": code}), fields)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        equal(response.status, status, "%s: %s" % (code[:100], answer))
        return answer, response.getheader("Mishap-Session")


def sessions_of(found):
    """The pid of the keeper, and those of the sessions."""
    keeper = [pid for pid, parent in processes() if parent == found.process.pid and name_of(pid) == "mishap-keeper"]
    return keeper[0], [pid for pid, parent in processes() if parent == keeper[0] and name_of(pid) == "sbcl"]


def private_kb(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))


@test
def a_hundred_sessions_at_once_keep_their_state_and_leave_nothing_behind():
    with Server("--caller-share", "100", program=LISPER) as found:
        caller = Caller(found)
        sessions = []
        for number in range(CROWD):
            sessions.append(caller.evaluate("(defvar *mine* %d)" % number)[1])
            # A session that no call has named ends after a minute, and this may take longer.
            equal(caller.evaluate("*mine*", sessions[-1])[0]["values"], [str(number)], "the value of a session")
        equal(len(set(sessions)), CROWD, "sessions")
        for number, session in enumerate(sessions):
            equal(caller.evaluate("(incf *mine*)", session)[0]["values"], [str(number + 1)], "the state of a session")
        keeper, living = sessions_of(found)
        equal(len(living), CROWD, "processes")
    left = lambda: glob.glob("/sys/fs/cgroup/**/mishap-%d-*" % keeper, recursive=True)
    expect(wait_for(lambda: not left()), "control groups are left:", left())
    expect(wait_for(lambda: not [pid for pid in living if name_of(pid) == "sbcl"]), "processes are left")


@test
def exhausted_stacks_errors_and_evaluations_leave_the_memory_of_a_session_bounded():
    with Server(program=LISPER) as found:
        caller = Caller(found)
        session = caller.evaluate("(defun deeper (x) (+ 1 (deeper (1+ x))))")[1]
        for _ in range(12):
            equal(caller.evaluate("(deeper 0)", session, 422)[0]["error"], "simple_error", "an exhausted stack")
        for number in range(100):
            caller.evaluate('(error "number %d")' % number, session, 422)
        for number in range(10000):
            caller.evaluate("(list %d)" % number, session)
        equal(caller.evaluate("(fboundp 'deeper)", session)[0]["values"][0][:11], "#<FUNCTION ", "what was defined")
        _, living = sessions_of(found)
        equal(len(living), 1, "processes")
        expect(wait_for(lambda: private_kb(living[0]) < BOUND_KB), "it has", private_kb(living[0]), "KB")


if __name__ == "__main__":
    main()
