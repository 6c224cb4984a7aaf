"""The CPU time of process trees that benchmarks count (bench/processes.py).

    MISHAP_PROGRAM=… python3 tests/bench/processes_test.py [PART-OF-A-NAME]

Speaks TAP. All times are CPU times: they do not depend on what else the machine does.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cli"), str(HERE.parent.parent / "bench")]
import load  # noqa: E402
import processes  # noqa: E402
from blackbox import equal, expect, main, test  # noqa: E402
from figures import Void  # noqa: E402

SECONDS = 0.3
# Each of the two processes that wait for others is read in whole clock ticks, of user and of system time, twice.
TICKS = 2 * 2 * 2 * processes.TICK_NS / 1e9
# Four forks, and ends of processes.
ADDED = 0.3

MISHAP = os.environ["MISHAP_PROGRAM"]
READ = load.Request("GET", "/premium/report", 402, "payment_required")


class Tree:
    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, HERE / "tree.py", str(SECONDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        equal(self.process.stdout.readline(), "ready\n")
        return self

    def work(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(180)
        self.process.stdout.close()


@test
def children_threads_and_processes_that_ended_are_counted():
    with Tree() as tree:
        before = processes.cpu_ns(tree.process.pid)
        used = tree.work()
        counted = (processes.cpu_ns(tree.process.pid) - before) / 1e9
    expect(used - TICKS <= counted <= used + TICKS + ADDED, counted, "seconds are counted, and", used, "were used")


@test
def two_readings_of_a_tree_that_waits_are_the_same():
    with Tree() as tree:
        tree.work()
        first, second = (processes.cpu_ns(tree.process.pid) for _ in range(2))
        expect(0 <= second - first < processes.TICK_NS, first, second)


@test
def a_process_that_ended_counts_the_same_before_and_after_it_is_waited_for():
    before = processes.cpu_ns(os.getpid())
    pid = os.fork()
    if pid == 0:
        while time.process_time() < SECONDS:
            pass
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    ended = processes.cpu_ns(os.getpid())
    os.waitpid(pid, 0)
    waited = processes.cpu_ns(os.getpid())
    expect(ended - before >= SECONDS * 1e9, "of", SECONDS, "seconds", ended - before, "ns are counted")
    expect(abs(waited - ended) <= (TICKS + ADDED / 2) * 1e9, ended, "ns before, and", waited, "ns after")


@test
def a_tree_whose_root_ended_is_no_measurement():
    with Tree() as tree:
        pass
    try:
        expect(False, processes.cpu_ns(tree.process.pid))
    except Void as why:
        expect("has ended" in str(why), str(why))


@test
def a_server_is_counted_with_the_loop_that_answers():
    """The first child of a server is not its loop, and has nothing to do here."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-test-")) / "data"
    server = load.Server(MISHAP, folder)
    try:
        server.ask(READ)
        for _ in range(5):  # on a slow machine the keeper is still busy with the first workers
            tree = processes.family(server.process.pid)
            before = processes.cpu_ns(server.process.pid)  # first and last: others may work between two readings
            each = {pid: used for pid in tree if (used := processes.own_ns([pid])) is not None}  # some end at the start
            for _ in range(200):
                server.ask(READ)
            grown = {pid: (processes.own_ns([pid]) or 0) - used for pid, used in each.items()}
            counted = processes.cpu_ns(server.process.pid) - before
            expect(len(each) >= 3, "a server has at least a supervisor, a keeper and a loop:", tree)
            busiest = max(grown, key=grown.get)
            if processes.name(busiest) != processes.KEEPER:
                break
        expect(counted > 0 and counted >= 0.9 * grown[busiest], counted, "ns are counted, and one process alone used", grown[busiest])
        expect(processes.name(busiest) != processes.KEEPER, "the keeper is busiest")
    finally:
        server.stop()
        folder.parent.rmdir()


main()
