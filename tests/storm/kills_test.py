"""SIGKILL and SIGSTOP of the processes of a server: others are served. With the supervisor all end.
A keeper that is stopped continues, so that its workers live.

    MISHAP_PROGRAM=… FAULTS_PROGRAM=… python3 tests/storm/kills_test.py [PART-OF-A-NAME]

Speaks TAP. A call that a killed process had in hand may fail; one that is sent afterwards may not. Where STORM_JUDGE is set,
as scripts/storm does, others are also served within a second, in the best of several rounds.
"""
import contextlib
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import server  # noqa: E402
from blackbox import Broken, equal, expect, main, test, tests_of  # noqa: E402
import tree  # noqa: E402
import wire  # noqa: E402
from wire import Lost, Wire  # noqa: E402

PROGRAM = os.path.abspath(os.environ["FAULTS_PROGRAM"])
LOOPS = 2
SOON = 1.0  # seconds in which others are served
ROUNDS = 5
FRESH = 16  # connections of a round: enough to meet each loop
JUDGES = bool(os.environ.get("STORM_JUDGE"))
KINDS = ["sum", "rows", "beside", "quick"]


class Server(server.Server):
    def __init__(self, *flags):
        self.mark = tree.new_mark()
        super().__init__("--workers", str(LOOPS), *flags, program=PROGRAM, **{tree.MARK: self.mark})

    def tree(self):
        return tree.Tree(self.process.pid)

    def complete(self):
        """The tree as soon as it has all that lasts, and a worker: None before."""
        found = self.tree()
        return found if len(found.keepers) == 1 and len(found.loops) == LOOPS and found.workers else None

    def wait_until_complete(self):
        """A call may be answered by a worker that ends with its keeper only then: the next one makes another."""
        found = tree.wait_for(lambda: self.call() and self.complete(), server.PATIENCE)
        expect(found, "there are not one keeper, %d loops and a worker: %s" % (LOOPS, self.tree()))
        return found

    def call(self, turn=0):
        """A good call on a connection of its own: how long it took."""
        kind, number, begun = KINDS[turn % len(KINDS)], random.randint(wire.FIRST, wire.LAST), time.monotonic()
        one = Wire(self.address)
        try:
            status, _, body = one.ask(wire.filled(wire.HTTP[kind], number))
        finally:
            one.close()
        wrong = wire.wrong_http(kind, number, status, body)
        if wrong:
            raise Broken(wrong)
        return time.monotonic() - begun


CONTINUES = b"the process that keeps the handlers was stopped, and continues"
ENDED = b"the process that keeps the handlers has ended"


def continues(role, number):
    """A stopped keeper is not killed: its workers, and the calls that they have, would die with it."""
    return "keeper" in role and number == signal.SIGSTOP


def took_effect(pid, number):
    """A process that got a signal may run on for a moment on another processor."""
    status = tree.status_of(pid)
    return status is None or status[0] in "ZX" or number == signal.SIGSTOP and status[0] in "Tt"


def slowest_of_fresh(found):
    """The slowest of calls on connections of their own, all at once: in seconds."""
    times, problems = [], []

    def call(turn):
        try:
            times.append(found.call(turn))
        except (Lost, OSError, Broken) as problem:
            problems.append(str(problem))

    threads = [threading.Thread(target=call, args=(turn,)) for turn in range(FRESH)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(problems[:3], [], "calls that were not answered rightly; the server's side of it:\n%s\nThe list" % told_by(found))
    return max(times)


def told_by(found):
    """The end of what the server wrote for its operators: incidents, and what its processes said."""
    return "\n".join(found.read(path).decode("utf-8", "replace")[-6000:] for path in (found.log, found.stderr))


def expect_end_or_run(found, victim, role, number):
    """The victim ends, or it is a keeper that continues."""
    if not continues(role, number):
        expect(tree.wait_for(lambda: tree.gone(victim), server.PATIENCE), "the victim is still there")
        return
    expect(tree.wait_for(lambda: not took_effect(victim, number), server.PATIENCE), "the keeper is not continued")
    equal(found.wait_until_complete().keepers, [victim], "the keeper")


# ---- One role after the other ---------------------------------------------------------------------


@tests_of({"%s of %s" % (signal.Signals(number).name, role): (role, number)
           for role in ("a worker", "a loop", "the keeper") for number in (signal.SIGKILL, signal.SIGSTOP)})
def others_are_served_after(role, number):
    took = []
    with Server() as found:
        while len(took) < 3 or JUDGES and min(took) >= SOON and len(took) < ROUNDS:
            all_of = found.wait_until_complete()
            victim = random.choice({"a worker": all_of.workers, "a loop": all_of.loops, "the keeper": all_of.keepers}[role])
            try:
                os.kill(victim, number)
            except ProcessLookupError:  # it had nothing to do for long enough, and has ended: another one
                continue
            if not continues(role, number):
                expect(tree.wait_for(lambda: took_effect(victim, number), server.PATIENCE), "the signal has no effect")
            took.append(slowest_of_fresh(found))
            expect_end_or_run(found, victim, role, number)
        print("# slowest of %d fresh connections, by round: %s" % (FRESH, ", ".join("%.0f ms" % (1000 * one) for one in took)))
        expect(min(took) < SOON or not JUDGES, "it took", took)
        found.wait_until_complete()
        if continues(role, number):
            expect(tree.wait_for(lambda: CONTINUES in found.read(found.stderr), server.PATIENCE), "stderr does not tell of it")
            expect(ENDED not in found.read(found.stderr), "the keeper has ended:", told_by(found))
        equal(found.stop().status, 0, "exit")
        expect(tree.wait_for(lambda: not tree.marked(found.mark), server.PATIENCE), "left over:", tree.marked(found.mark))


@test
def a_supervisor_has_no_descriptor_left_of_loops_that_are_gone():
    with Server() as found:
        before = found.wait_until_complete().descriptors[found.process.pid]
        for _ in range(ROUNDS):
            victim = found.wait_until_complete().loops[0]
            os.kill(victim, signal.SIGKILL)
            expect(tree.wait_for(lambda: tree.gone(victim), server.PATIENCE), "the victim is still there")
        found.wait_until_complete()
        tree.wait_for(lambda: found.tree().descriptors[found.process.pid] == before, server.PATIENCE)
        equal(found.tree().descriptors[found.process.pid], before, "descriptors of the supervisor")


@test
def a_stopped_supervisor_does_not_stop_the_others():
    """What it does not do meanwhile is restarting; calls do not need it."""
    with Server() as found:
        found.wait_until_complete()
        os.kill(found.process.pid, signal.SIGSTOP)
        try:
            time.sleep(3)  # longer than any heartbeat
            equal(slowest_of_fresh(found) < server.PATIENCE, True)
        finally:
            os.kill(found.process.pid, signal.SIGCONT)
        time.sleep(1)
        slowest_of_fresh(found)
        equal(found.stop().status, 0, "exit")


def keeper_of(found):
    """It may have no worker yet."""
    for pid in found.tree().children:
        with contextlib.suppress(OSError), open("/proc/%d/comm" % pid, encoding="ascii") as file:
            if file.read().strip() == "mishap-keeper":
                return pid
    return None


@test
def however_often_the_keeper_is_killed_in_a_row_there_is_another():
    with Server() as found:
        for _ in range(30):
            victim = tree.wait_for(lambda: keeper_of(found), server.PATIENCE)
            expect(victim, "there is no keeper any more")
            os.kill(victim, signal.SIGKILL)
            expect(tree.wait_for(lambda: tree.gone(victim), server.PATIENCE), "it is still there")
        expect(tree.wait_for(lambda: keeper_of(found), server.PATIENCE), "there is no keeper any more")
        slowest_of_fresh(found)


@test
def what_handlers_had_started_ends_with_a_keeper_that_is_killed():
    with Server() as found:
        for _ in range(ROUNDS):
            one = Wire(found.address)
            one.send(wire.http_request("POST", "/good/brood"))
            expect(tree.wait_for(lambda: len(found.tree().deeper) >= 6, server.PATIENCE), "there is no brood")
            brood = found.tree().deeper
            os.kill(keeper_of(found), signal.SIGKILL)
            expect(tree.wait_for(lambda: all(map(tree.gone, brood)), server.PATIENCE),
                   "left over:", [pid for pid in brood if not tree.gone(pid)])
            one.close()


# ---- Any of them, under load ----------------------------------------------------------------------

THREADS, KILLS, PAUSE = 4, 16, 0.5


@test
def only_what_the_killed_had_in_hand_is_lost():
    failures, answered, ending = [], [0], threading.Event()
    with Server() as found:
        found.wait_until_complete()

        def load(number):
            turn = number
            while not ending.is_set():
                begun, turn = time.monotonic(), turn + 1
                try:
                    found.call(turn)
                    answered[0] += 1
                except (Lost, OSError, Broken) as problem:
                    failures.append((begun, time.monotonic(), str(problem)))

        threads = [threading.Thread(target=load, args=(number,), daemon=True) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        kills, choice = [], random.Random(1)
        for turn in range(KILLS):
            time.sleep(PAUSE)
            all_of = found.wait_until_complete()
            victim = choice.choice([all_of.workers, all_of.loops, all_of.keepers][turn % 3])
            number = (signal.SIGKILL, signal.SIGSTOP)[turn // 3 % 2]
            killed = time.monotonic()
            try:
                os.kill(victim, number)
            except ProcessLookupError:  # it had nothing to do for long enough, and has ended
                continue
            expect_end_or_run(found, victim, all_of.role(victim), number)
            if not continues(all_of.role(victim), number):  # else no call may fail
                kills.append((killed, time.monotonic(), all_of.role(victim)))
        expect(tree.wait_for(lambda: answered[0] > 20 * KILLS, server.PATIENCE), "only", answered[0], "calls were answered")
        ending.set()
        for thread in threads:
            thread.join(server.PATIENCE)
        print("# %d calls answered, %d not, by %d signals" % (answered[0], len(failures), len(kills)))
        outside = [(problem, begun) for begun, ended, problem in failures
                   if not any(begun <= gone and ended >= killed for killed, gone, _ in kills)]
        equal(outside[:3], [], "calls that failed though nobody was killed")
        # The keeper takes all workers along, and with them what all threads had in hand.
        expect(len(failures) <= THREADS * len(kills), len(failures), "calls failed:", failures[:3])
        found.wait_until_complete()
        equal(found.stop().status, 0, "exit")
        expect(tree.wait_for(lambda: not tree.marked(found.mark), server.PATIENCE), "left over:", tree.marked(found.mark))


# ---- The supervisor ------------------------------------------------------------------------------


def start_calls(found, calls):
    """Calls that run until they are ended."""
    wires = [Wire(found.address) for _ in calls]
    for one, call in zip(wires, calls):
        one.send(wire.http_request("POST", "/good/" + call))
    return wires


@tests_of({"an idle server": (), "handlers with all signals blocked": ("spin", "spin"),
           "handlers whose children have sessions of their own": ("brood",)})
def a_killed_supervisor_takes_all_along(*calls):
    with Server() as found:
        found.call()
        wires = start_calls(found, calls)
        expect(tree.wait_for(lambda: found.running_handlers() == len(calls), server.PATIENCE), "they do not run")
        before = tree.marked(found.mark)
        expect(len(before) >= 3, "only", len(before), "processes")
        found.process.kill()
        found.wait()
        expect(tree.wait_for(lambda: not tree.marked(found.mark), server.PATIENCE), "left over:", tree.marked(found.mark), "of", before)
        for one in wires:
            one.close()


@tests_of({"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "the end of its input": None})
def a_server_over_stdio_takes_all_along_after(number):
    mark = tree.new_mark()
    found = subprocess.Popen([PROGRAM, "mcp", "--data", server.FOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=dict(os.environ, FAULTS_LOG="", **{tree.MARK: mark}))
    found.stdin.write(wire.mcp_message("good_spin", {}, 1) + b"\n" + wire.mcp_message("good_brood", {}, 2) + b"\n" +
                      wire.filled(wire.LINE["sum"], 1234567))
    found.stdin.flush()
    equal(wire.wrong_mcp("sum", 1234567, found.stdout.readline()), None)
    time.sleep(0.5)
    if number is None:
        found.stdin.close()
    else:
        found.send_signal(number)
    found.wait(server.PATIENCE)
    expect(tree.wait_for(lambda: not tree.marked(mark), server.PATIENCE), "left over:", tree.marked(mark))


class Stdio:
    """A server over standard input and output."""

    def __init__(self):
        self.mark = tree.new_mark()
        self.process = subprocess.Popen([PROGRAM, "mcp", "--data", server.FOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=dict(os.environ, FAULTS_LOG="", **{tree.MARK: self.mark}))

    def call(self):
        """A good call: what is wrong with its answer."""
        self.process.stdin.write(wire.filled(wire.LINE["sum"], 1234567))
        self.process.stdin.flush()
        expect(select.select([self.process.stdout], [], [], server.PATIENCE)[0], "no answer")
        return wire.wrong_mcp("sum", 1234567, self.process.stdout.readline())

    def keepers(self):
        """Those that have workers."""
        return tree.Tree(self.process.pid).keepers

    def end(self):
        self.process.stdin.close()
        equal(self.process.wait(server.PATIENCE), 0, "exit")
        expect(tree.wait_for(lambda: not tree.marked(self.mark), server.PATIENCE), "left over:", tree.marked(self.mark))


@test
def a_server_over_stdio_has_another_keeper_after_SIGKILL():
    found, killed = Stdio(), []

    def keepers():
        """A call may be answered by a worker that ends with its keeper only then, or be lost with it."""
        dying = killed and not tree.gone(killed[-1])
        wrong = found.call()
        expect(not wrong or dying, wrong)
        return [pid for pid in found.keepers() if pid not in killed]

    for _ in range(3):
        living = tree.wait_for(keepers, server.PATIENCE)
        expect(living, "there is no keeper")
        keeper, = living
        killed.append(keeper)
        os.kill(keeper, signal.SIGKILL)
        expect(tree.wait_for(lambda: took_effect(keeper, signal.SIGKILL), server.PATIENCE), "the keeper lives")
    found.end()


@test
def a_server_over_stdio_has_the_same_keeper_after_SIGSTOP():
    found = Stdio()

    def runs():
        """Without calls the server waits for input alone. No call may fail."""
        equal(found.call(), None)
        return not took_effect(keeper, signal.SIGSTOP)

    equal(found.call(), None)
    keeper, = found.keepers()
    for _ in range(3):
        os.kill(keeper, signal.SIGSTOP)
        expect(tree.wait_for(runs, server.PATIENCE), "the keeper is not continued")
        equal(found.keepers(), [keeper], "the keeper")
    found.end()


main()
