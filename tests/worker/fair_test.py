"""One caller at many connections of slow work, and the quick calls of another: these are answered, and before calls that were there first.

    MISHAP_PROGRAM=… python3 tests/worker/fair_test.py [PART-OF-A-NAME]

How long something takes is for `make bench-fair`; here it is who comes before whom. Speaks TAP.
"""
import os
import select
import sys
import time

os.environ["MISHAP_LISP_WAITING"] = "0"  # processes of sessions are counted
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "artifacts"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import many  # noqa: E402
import world  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from server import PROGRAM, Server, all_ended_in_order, request, wait_for  # noqa: E402
from slow_and_quick import BURN, EASY, HARD, QUICK  # noqa: E402

MANY = 64
HANDLERS = 4


class Callers:
    """A server with Alice and Bob, who have a key each."""

    def __init__(self, name, *flags):
        self.data = world.folder_of(name)
        self.keys = {caller: self.add_key(caller) for caller in ("alice", "bob")}
        self.server = Server("--workers", "1", "--handlers", str(HANDLERS), *flags, data=self.data)

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *words):
        return self.server.__exit__(*words)

    def add_key(self, name):
        ran = run_program(PROGRAM, "keys", "add", "--name", name, "--data", self.data, "--output", "json")
        equal(ran.status, 0, "exit of `keys add`")
        return parsed(ran.out)["data"]["key"]

    def send(self, caller, path, body):
        """A connection of this caller, on which it has asked."""
        return self.server.connect().send(request("POST", path, body, fields={"Authorization": "Bearer " + self.keys[caller]}))

    def ask(self, caller, path, body):
        with self.send(caller, path, body) as one:
            return one.response("POST", path, checked=False)

    def done(self, caller, path, body):
        """It is answered with 200."""
        answer = self.ask(caller, path, body)
        equal(answer.status, 200, "the answer of %s to %s, which is %s" % (path, caller, answer.body.decode()))
        return answer.json


def answered(connections):
    """How many have an answer."""
    poll = select.poll()
    for one in connections:
        poll.register(one.socket, select.POLLIN)
    return len(poll.poll(0))


def ran(connections, path):
    """How many of them have an answer that comes from running: not 429, nor 503."""
    count = 0
    for one in connections:
        if answered([one]) and one.response("POST", path, checked=False).status not in (429, 503):
            count += 1
    return count


def beside(found, slow, quick, expected, calls=3):
    """Alice asks at many connections; then all of Bob's calls are answered, before a few of hers have run. None of hers takes less than
    20 seconds, so more have run if he had to wait for longer on a busy machine."""
    begun = time.monotonic()
    alice = [found.send("alice", *slow) for _ in range(MANY)]
    expect(wait_for(lambda: found.server.running_handlers() or found.server.handlers()), "nothing of Alice runs")
    for _ in range(calls):
        answer = found.done("bob", *quick)
        equal({name: answer[name] for name in expected}, expected, "the answer")
    count, most = ran(alice, slow[0]), HANDLERS * (2 + int((time.monotonic() - begun) / 20))
    expect(count <= most, "%d calls of Alice had run when Bob had his answers" % count)
    for one in alice:
        one.reset()


def needs(service, member):
    """The program of a service was built and can be run."""
    if not needs.health:
        with Server("--workers", "1") as found:
            needs.health = found.ask("GET", "/health", checked=False).json["services"]
    if needs.health[service].get(member) in (None, "missing"):
        raise Skipped("there is no %s of the service %s" % (member, service))


needs.health = None


@tests_of(world.ENGINES)
def code_that_runs_long(engine):
    needs("artifacts", "python")
    address = world.address_of(engine)
    with Callers("code-" + engine, "--artifacts-run-seconds", "20", *(["--artifacts-store", address] if address else [])) as found:
        for name, code in (("burn", BURN), ("quick", QUICK)):
            found.done("alice", "/artifacts/genesis_store/create", {"args": [name, "tool", "x", code]})
        beside(found, ("/artifacts/burn/run", {"args": []}), ("/artifacts/quick/run", {"args": []}), {"result": 1})


@test
def proofs_that_take_long():
    needs("symbolic", "engine")
    with Callers("proofs") as found:
        beside(found, ("/symbolic/check", {"code": HARD, "function_name": "f", "timeout_seconds": 300}),
               ("/symbolic/check", {"code": EASY, "function_name": "f", "timeout_seconds": 300}), {"status": "verified"})


@test
def sessions_of_lisp_that_take_long():
    needs("lisp", "core")
    with Callers("lisp") as found:
        beside(found, ("/lisp/evaluate", {"code": "(loop)", "timeout": 600}), ("/lisp/evaluate", {"code": "(+ 1 2)"}), {"values": ["3"]})


def stats(found, name):
    """(state, priority) of each process of the server that is called so."""
    read = []
    for pid in world.family(found.server):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
                begin, _, rest = file.read().rpartition(") ")
        except OSError:
            continue
        if begin.partition("(")[2] == name:
            read.append((rest.split()[0], int(rest.split()[16])))
    return read


def priorities(found, name):
    return [priority for _, priority in stats(found, name)]


@test
def a_session_that_computes_yields_until_its_call_is_over():
    needs("lisp", "core")
    if os.geteuid() != 0:
        raise Skipped("to restore a priority takes CAP_SYS_NICE")
    with Callers("yields") as found:
        session = found.done("alice", "/lisp/evaluate", {"code": "1"})["session"]
        usual = priorities(found, "mishap-keeper")[0]
        equal(priorities(found, "sbcl"), [usual], "the priority of a session")
        calls = [found.send("alice", "/lisp/evaluate", {"code": "(loop)", "timeout": 600, "session": session}) for _ in range(3)]

        def lowered():
            found.done("bob", "/lisp/evaluate", {"code": "(+ 1 2)"})
            return max(priorities(found, "sbcl")) > usual
        expect(wait_for(lowered), "it does not yield")
        equal(sorted(set(priorities(found, "mishap-loop") + priorities(found, "mishap-keeper"))), [usual], "of others")
        for one in calls:
            one.reset()
        expect(wait_for(lambda: max(priorities(found, "sbcl")) == usual), "it yields for ever")


@test
def of_many_sessions_only_some_compute_at_once_while_others_are_there():
    needs("lisp", "core")
    with Callers("sessions") as found:
        sessions = [found.done("alice", "/lisp/evaluate", {"code": "1"})["session"] for _ in range(3 * HANDLERS)]
        found.done("alice", "/lisp/evaluate", {"code": "(sleep 2)", "session": sessions[0]})  # what she evaluates takes long
        found.done("bob", "/lisp/evaluate", {"code": "1"})
        alice = [found.send("alice", "/lisp/evaluate", {"code": "(loop)", "timeout": 600, "session": one}) for one in sessions]
        compute = lambda: sum(state == "R" for state, _ in stats(found, "sbcl"))  # noqa: E731
        expect(wait_for(lambda: found.done("bob", "/lisp/evaluate", {"code": "1"}) and compute() == HANDLERS // 2), "not as many compute as may")
        for _ in range(8):
            found.done("bob", "/lisp/evaluate", {"code": "1"})
            # Sessions of bob end meanwhile, and may wait for a processor to do so.
            expect(wait_for(lambda: compute() <= HANDLERS // 2 + 1), "%d sessions compute" % compute())
        for one in alice:
            one.reset()


@tests_of(world.ENGINES)
def searches_with_many_hits(engine):
    address = world.address_of(engine)
    with Callers("search-" + engine, *(["--artifacts-store", address] if address else [])) as found:
        many.fill(found, address)
        search = ("/artifacts/genesis_store/search", {"args": ["most"]})
        equal(found.done("alice", *search)["hits"], many.MANY - 1, "hits")
        counts = []
        while not counts or counts[-1] >= MANY // 2 and len(counts) < 10:  # once more if this process was held up meanwhile
            alice = [found.send("alice", *search) for _ in range(MANY)]
            expect(wait_for(lambda: answered(alice)), "no search has ended")
            found.done("bob", "/artifacts/genesis_ledger/transfer", {"args": ["bob", "alice", 1]})
            counts.append(answered(alice))
            for one in alice:
                status = one.response("POST", search[0], checked=False).status
                expect(status in (200, 503), "a search is answered with", status)  # 503: a busy machine takes longer than a call may wait
                one.close()
        expect(counts[-1] < MANY // 2, "%s of %d searches had ended before the transfer" % (counts, MANY))


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
