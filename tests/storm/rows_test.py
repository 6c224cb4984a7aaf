"""What handlers do to the process that they run in, one thing after the other: no other caller may notice.

    MISHAP_PROGRAM=… FAULTS_PROGRAM=… python3 tests/storm/rows_test.py [PART-OF-A-NAME]

Speaks TAP. Each of these was possible as long as handlers ran on threads of the server itself.
"""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import server  # noqa: E402
from blackbox import Broken, equal, expect, main, test, tests_of  # noqa: E402
from server import PATIENCE, Closed, request  # noqa: E402
import tree  # noqa: E402
import wire  # noqa: E402

PROGRAM = os.path.abspath(os.environ["FAULTS_PROGRAM"])
INTERNAL = {"error": "internal_server_error", "message": "Internal server error"}
ROUNDS = 3


class Server(server.Server):
    def __init__(self, *flags):
        self.mark = tree.new_mark()
        super().__init__("--workers", "2", *flags, program=PROGRAM, **{tree.MARK: self.mark})

    def good(self, kind="sum", number=1234567):
        """A good call on a connection of its own, whose answer is right."""
        with self.connect() as connection:
            answer = connection.ask("POST", "/good/" + kind, {"number": number}, checked=kind != "large")
        equal((answer.status, answer.json), (200, wire.GOOD[kind][0](number)), "the answer to good." + kind)

    def fault(self, name, status=500):
        """A faulty call: its response, and what the log says of it."""
        answer = self.ask("POST", "/fault/" + name)
        equal(answer.status, status, "the status of fault." + name)
        return answer, self.wait_for_log(answer.id)

    def every_route(self):
        for kind in ("sum", "rows", "nap", "large", "locked", "beside"):
            self.good(kind)
        equal(self.ask("GET", "/good/quick?number=3").json, wire.sum_of(3))
        equal(self.ask("POST", "/good/guarded", {}).status, 200)
        equal(self.ask("POST", "/good/count").status, 200)
        equal(self.ask("GET", "/health").status, 200)

    def metric(self, pattern):
        """The sum of the metrics whose name has this pattern."""
        text = self.ask("GET", "/metrics").body.decode()
        found = re.findall(r"^%s(?:\{[^}]*\})? (\d+)$" % pattern, text, re.M)
        expect(found, "there is no metric", pattern)
        return sum(map(int, found))


def at_once(count, call):
    """The same on so many threads: what each returned."""
    results, problems = [], []

    def run(number):
        try:
            results.append(call(number))
        except Exception as problem:
            problems.append("%s: %s" % (type(problem).__name__, problem))

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(server.PATIENCE)
    equal(problems[:3], [], "problems of %d" % len(problems))
    equal(len(results), count, "results")
    return results


# ---- Memory --------------------------------------------------------------------------------------


@tests_of({"heap": "heap", "double free": "double_free", "memory": "memory", "overflow": "overflow"})
def a_handler_that_damages_memory_harms_no_other_call(name):
    with Server() as found:
        found.every_route()
        for _ in range(ROUNDS):
            answer, entry = found.fault(name)
            equal(answer.json, INTERNAL)
            expect(re.search(r"SIGABRT|SIGSEGV", entry), "no signal in", entry)
            at_once(20, lambda number: found.good(["sum", "rows", "beside"][number % 3]))
        found.every_route()
        equal(found.stop().status, 0, "exit")


# ---- Locks ---------------------------------------------------------------------------------------


@tests_of({"a write transaction": ("transaction", "rows"), "a flock": ("flock", "locked")})
def a_handler_that_dies_with_a_lock_gives_it_up(name, kind):
    """Idle connections keep what they have at a process; it must not be the one with the lock."""
    with Server() as found, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(found.connect()) for _ in range(8)]
        equal({connection.ask("GET", "/health").status for connection in idle}, {200})
        for _ in range(ROUNDS):
            _, entry = found.fault(name)
            expect(re.search(r"^ *#\d+ fault_%s\b" % name, entry, re.M), "no stack in", entry)
            found.good(kind)
        expect(all(connection.is_open() for connection in idle), "an idle connection was closed")


@test
def a_wrong_getter_under_a_mutex_leaves_the_mutex_to_the_next_call():
    with Server() as found:
        for _ in range(3):
            equal(found.ask("POST", "/good/guarded", {"wrong": True}).status, 500)
            equal(at_once(4, lambda _: found.ask("POST", "/good/guarded", {}).status), [200] * 4)


# ---- Bodies on their way -------------------------------------------------------------------------


@test
def slow_bodies_outlive_crashes_and_others_are_answered_meanwhile():
    with Server() as found, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(found.connect()) for _ in range(6)]
        data = request("POST", "/good/sum", {"number": 1234567})
        for at, connection in enumerate(slow):
            connection.send(data[:-5 - at])
        for turn in range(20):
            found.fault(["segv", "abort", "kill", "exit"][turn % 4])
            found.good(["sum", "beside"][turn % 2])
            for at, connection in enumerate(slow):
                expect(connection.is_silent(0), "a slow connection was answered or closed")
        for at, connection in enumerate(slow):
            answer = connection.send(data[-5 - at:]).response()
            equal((answer.status, answer.json), (200, wire.sum_of(1234567)), "the answer to a slow body")


# ---- Clients that go away ------------------------------------------------------------------------


@tests_of({"four": 4, "forty": 40})
def hanging_calls_whose_clients_reset_leave_every_route_working(count):
    with Server() as found:
        for _ in range(max(2, 32 // count)):
            hanging = [found.connect() for _ in range(count)]
            for at, connection in enumerate(hanging):
                connection.send(request("POST", "/fault/" + ["loop", "deadlock", "blocked_loop"][at % 3]))
            time.sleep(0.1)
            for connection in hanging:
                connection.reset()
        # 80 of them, eight at once: who calls meanwhile may hear that all are busy.
        expect(tree.wait_for(lambda: found.ask("POST", "/good/sum", {"number": 1}).status == 200, PATIENCE), "they go on")
        found.every_route()
        for _ in range(ROUNDS):
            at_once(20, lambda _: found.good())
        equal(found.stop().status, 0, "exit")
        expect(tree.wait_for(lambda: not tree.marked(found.mark), PATIENCE), "left over:", tree.marked(found.mark))


# ---- Ends of the process -------------------------------------------------------------------------


@tests_of({"exit": ("exit", "fault_exit"), "_exit": ("leave", None), "pthread_exit": ("thread_exit", None)})
def a_handler_that_exits_is_answered_recorded_and_counted(name, frame):
    with Server() as found:
        before = found.metric(r"mishap_\w*handler_crashes\w*")
        answer, entry = found.fault(name)
        equal(answer.json, INTERNAL)
        expect("fault.%s" % name in entry.split("\n")[0], "the operation is not in", entry)
        expect(re.search("[Ee]xit|[Ee]nded", entry.partition("\n")[2]), "the way it died is not in", entry)
        if frame:
            expect(re.search(r"^ *#\d+ %s\b" % frame, entry, re.M), "no stack in", entry)
        equal(found.metric(r"mishap_\w*handler_crashes\w*"), before + 1, "crashes")
        found.good()


@tests_of({"in many processes": ("/fault/thread_exit", {}, "/good/beside", {"number": 5}),
           "in one, of two loops": ("/good/guarded", {"wrong": True}, "/good/count", None),
           "in one, whose socket is closed": ("/good/shut", None, "/good/doze", None)})
def calls_behind_a_handler_that_spoils_its_process_are_all_answered(evil, evil_body, good, good_body):
    """A worker whose handler was ended by a jump, or closed its socket, runs no other call; what it was given beside is
    nobody's fault."""
    with Server("--handlers", "2") as found:
        until, statuses = time.monotonic() + 2, {evil: set(), good: set()}

        def run(number):
            path, body = [(evil, evil_body), (good, good_body)][number % 2]
            while True:
                statuses[path].add(found.ask("POST", path, body).status)
                if time.monotonic() >= until:
                    break

        at_once(12, run)
        expect(statuses[evil] <= {204, 500} and 500 in statuses[evil], "statuses of", evil, statuses[evil])
        equal(statuses[good] & {500, 503, 504}, set(), "statuses of " + good)


@tests_of({name: name for name in ("exit", "leave", "thread_exit", "heap", "kill", "loop", "close_all")})
def over_stdio_it_is_a_result_with_is_error(name):
    log = os.path.join(server.FOLDER, "stdio-%s.log" % name)
    mark = tree.new_mark()
    found = subprocess.Popen([PROGRAM, "mcp", "--data", server.FOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=dict(os.environ, FAULTS_LOG=log, **{tree.MARK: mark}))
    with contextlib.closing(found.stdin):
        found.stdin.write(wire.mcp_message("fault_" + name, {}, 1) + b"\n")
        found.stdin.flush()
        answer = found.stdout.readline()
        expect(answer, "the server has ended with", found.poll())
        told = json.loads(answer)["result"]
        equal((told.get("isError"), told["structuredContent"]["code"]),
              (True, "TIMEOUT" if name == "loop" else "INTERNAL_ERROR"), "the result")
        found.stdin.write(wire.filled(wire.LINE["beside"], 1234567))
        found.stdin.flush()
        equal(wire.wrong_mcp("beside", 1234567, found.stdout.readline()), None, "the next call")
        incident = told["structuredContent"]["incident"]
        entry = tree.wait_for(lambda: re.search(r"^\S+ %s .*\bfault\.%s$" % (incident, name),
                                                server.Server.read(log).decode("utf-8", "replace"), re.M), PATIENCE)
        expect(entry, "nothing about", incident, "in the log")
    equal(found.wait(server.PATIENCE), 0, "exit")
    expect(tree.wait_for(lambda: not tree.marked(mark), PATIENCE), "left over:", tree.marked(mark))


@test
def garbage_and_closed_descriptors_reach_nobody():
    with Server() as found:
        for _ in range(ROUNDS):
            equal(found.ask("POST", "/fault/garbage_kept").json, {"left": True})
            for name in ("garbage", "close_all", "close_crash"):
                found.fault(name)
            found.every_route()
        for entry in re.split(r"^(?=\d{4}-)", server.Server.read(found.log).decode("utf-8", "replace"), flags=re.M)[1:]:
            expect("garbage {" not in entry, "garbage in the log:", entry)


@test
def a_server_without_standard_files_gives_none_of_its_own_to_handlers():
    """What is opened first gets the numbers of those that are closed: a socket of the server would be written to."""
    mark = tree.new_mark()
    command = 'exec "$0" serve --listen 127.0.0.1:0 --data "$1" --workers 1 <&- >&- 2>&-'
    found = subprocess.Popen(["/bin/sh", "-c", command, PROGRAM, server.FOLDER], env=dict(os.environ, **{tree.MARK: mark}))

    def has_loop():
        return [pid for pid in tree.marked(mark) if server.Server.read("/proc/%d/comm" % pid) == b"mishap-loop\n"]

    expect(tree.wait_for(has_loop, PATIENCE), "it does not start")
    for pid in tree.marked(mark):
        for file in range(3):
            with contextlib.suppress(FileNotFoundError):
                equal(os.readlink("/proc/%d/fd/%d" % (pid, file)), "/dev/null", "descriptor %d" % file)
    found.terminate()
    found.wait(PATIENCE)


# ---- Hanging -------------------------------------------------------------------------------------


@test
def a_handler_that_hangs_is_stopped_and_shown_where_it_was():
    with Server() as found:
        begun = time.monotonic()
        answer = found.ask("POST", "/good/hang")
        took = time.monotonic() - begun
        equal((answer.status, answer.json["error"]), (504, "timeout"))
        expect(took >= 0.4, "it was given up after", took)
        with open(os.path.join(found.data, "hang.pid"), encoding="ascii") as file:
            pid = int(file.read())
        expect(tree.wait_for(lambda: tree.gone(pid), PATIENCE), "its process runs on")
        expect(pid != found.process.pid and found.process.poll() is None, "that was the server")
        entry = found.wait_for_log(answer.id)
        expect(re.search(r"^ *#\d+ good_hang\b", entry, re.M), "it is not in the stack of", entry)
        found.good()


def status_of_stop(found):
    with contextlib.suppress(Closed, Broken):
        return found.ask("POST", "/fault/stop").status
    return None


@test
def a_handler_that_stops_itself_holds_up_nobody():
    with Server() as found:
        held, statuses = threading.Thread(target=lambda: statuses.append(status_of_stop(found)), daemon=True), []
        held.start()
        for _ in range(ROUNDS):
            at_once(8, lambda _: found.good("beside"))
        held.join(server.PATIENCE)
        expect(statuses in ([500], [504]), "its caller has as an answer", statuses)
        stopped = [pid for pid in tree.marked(found.mark) if (tree.status_of(pid) or " ")[0] == "T"]
        equal(stopped, [], "stopped processes")


# ---- Loops ---------------------------------------------------------------------------------------


@test
def a_loop_that_does_not_turn_for_five_seconds_is_replaced():
    """A quick handler runs on the loop, where only the supervisor can end it."""
    with Server() as found:
        before = tree.wait_for(lambda: found.workers() if len(found.workers()) == 2 else None, PATIENCE)
        expect(before, "there are not two loops:", found.workers())
        with found.connect() as trapped:
            trapped.send(request("POST", "/good/trap", {}))
            begun = time.monotonic()
            expect(tree.wait_for(lambda: len(set(before) & set(found.workers())) <= 1, 4 * PATIENCE), "it was not ended")
            took = time.monotonic() - begun
            expect(took > 3, "it was ended after", took, "seconds: too soon for who is only slow")
        expect(tree.wait_for(lambda: len(found.workers()) == 2, PATIENCE), "there is no other loop")
        for _ in range(8):
            found.good("beside")
        expect(b"did not respond for 5 seconds" in found.stop().err, "nothing is said of it")


@test
def without_workers_handlers_run_in_the_loop_and_a_crash_is_contained():
    with Server("--handlers", "0") as found:
        found.every_route()
        before = found.workers()
        equal(found.handlers(), [], "processes of handlers")
        answer, entry = found.fault("segv")
        expect("SIGSEGV" in entry and "fault_segv" in entry, entry)
        found.good("beside")
        equal(found.workers(), before, "the loops")


@test
def what_a_child_of_a_handler_does_is_no_word_of_its_worker():
    with Server("--handlers", "1") as found:
        for _ in range(ROUNDS):
            for name in ("twin", "child_writes", "cancelled"):
                equal(found.ask("POST", "/fault/" + name).json, {"left": True}, name)
                for number in range(4):
                    found.good("beside", number)
            _, entry = found.fault("child_crashes")
            expect("SIGKILL" in entry and "SIGSEGV" not in entry, "the child is blamed in", entry)
        expect(tree.wait_for(lambda: not tree.Tree(found.process.pid).deeper, PATIENCE), "a twin lives on")


# ---- Children ------------------------------------------------------------------------------------


@test
def a_child_of_a_handler_finds_its_signals_as_a_shell_gives_them():
    given = int(re.search(r"^SigIgn:\s*(\w+)", server.Server.read("/proc/self/status").decode(), re.M)[1], 16)
    given &= ~sum(1 << (number - 1) for number in (signal.SIGPIPE, signal.SIGXFSZ))  # which Python ignores for itself alone
    given |= 3 << 31  # 32 and 33 are the C library's own, which posix_spawn() has its children ignore
    with Server() as found:
        signals = found.ask("POST", "/good/child").json
        equal(int(signals["SigBlk"], 16), 0, "blocked signals")
        equal(int(signals["SigIgn"], 16) & ~given, 0, "ignored signals")
        equal(int(signals["SigCgt"], 16), 0, "caught signals")


@test
def what_a_dead_handler_has_started_is_gone_with_it():
    with Server() as found:
        found.good("beside")
        for _ in range(ROUNDS):
            found.fault("fork_bomb")
            expect(tree.wait_for(lambda: not tree.Tree(found.process.pid).deeper and len(tree.marked(found.mark)) < 40, PATIENCE),
                   "there are", len(tree.marked(found.mark)), "processes")
            found.good("beside")
        astray = set(tree.marked(found.mark)) - set(tree.Tree(found.process.pid).all)
        equal(astray, set(), "processes outside of the tree")


# ---- Naive handlers ------------------------------------------------------------------------------


@test
def a_naive_handler_with_a_static_counter_counts_exactly():
    calls, threads = 1000, 20
    with Server() as found:
        def count(_):
            seen = []
            with found.connect(patience=server.PATIENCE) as connection:
                for _ in range(calls // threads):
                    answer = connection.ask("POST", "/good/count", checked=False)
                    equal(answer.status, 200)
                    seen.append(answer.json["count"])
            return seen
        seen = sorted(number for numbers in at_once(threads, count) for number in numbers)
        equal(seen == list(range(1, calls + 1)), True, "the last is %d; 1 to %d, each once," % (seen[-1], calls))


# ---- After all -----------------------------------------------------------------------------------


@test
def every_failure_of_the_run_fits_the_schema():
    server.fits_the_schema()


main()
