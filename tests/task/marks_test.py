"""Marks of tasks: a run goes on where the one before has left its mark, after SIGKILL of processes and after answers.

    MISHAP_PROGRAM=… TASK_PROGRAM=… python3 tests/task/marks_test.py [PART-OF-A-NAME]

Speaks TAP. tests/task/worker.c is the program. Its handlers wait for a file (a gate) to disappear, so nothing here waits for a clock.
"""
import contextlib
import os
import signal
import sqlite3
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "store"), HERE]
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from server import Server, named_below, wait_until  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TASK_PROGRAM"])
NOW = {"Prefer": "respond-async, wait=0"}
server.secrets.add("token-2718281828")


class Marks(Server):
    def __init__(self, *flags, **more):
        super().__init__("--workers", "2", *flags, program=PROGRAM, **more)
        self.notes = os.path.join(self.data, "notes")
        self.gate = os.path.join(self.data, "gate")

    def begin(self, method, target, body=None):
        found = self.ask(method, target, body, NOW)
        equal(found.status, 202, "a task")
        return found["Location"]

    def begin_steps(self, stop, **more):
        open(self.gate, "w").close()
        path = self.begin("PUT", "/steps", {"number": 7, "file": self.notes, "gate": self.gate, "stop": stop, **more})
        self.reaches("step-%d" % (stop - 1))
        return path

    def lines(self):
        with contextlib.suppress(FileNotFoundError), open(self.notes) as file:
            return [line.split()[0] for line in file.read().split("\n")[:-1]]
        return []

    def reaches(self, word, count=1):
        wait_until(lambda: self.lines().count(word) >= count, lambda: "it does not come so far: %r" % self.lines())

    def runs_again(self):
        wait_until(lambda: sum(word.startswith("from-") for word in self.lines()) == 2, lambda: "it does not run again: %r" % self.lines())

    def state(self, path):
        """None: the process of tasks was killed, and the next one starts."""
        found = self.ask("GET", path)
        return None if found.status == 503 else found.json["state"]

    def ended(self, path):
        state = wait_until(lambda: self.state(path) not in (None, "queued", "running") and self.state(path), lambda: "it does not end: " + path)
        return state, self.ask("GET", path + "/answer").json

    def named(self, name):
        return wait_until(lambda: named_below(self.process.pid, name), "there is no " + name)

    def kill_all(self, name):
        for pid in self.named(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def wait_for_ends(pids):
    wait_until(lambda: not any(server.name_of(pid) == "mishap-handler" for pid in pids), "workers are left")


def stored_in(data, path):
    """The mark and the call in a row."""
    with contextlib.closing(sqlite3.connect(os.path.join(data, "tasks.sqlite"))) as store:
        return store.execute("SELECT mark, call FROM tasks WHERE key = ?", (path[len("/tasks/"):][:22],)).fetchone()


def mark_in(data, path):
    row = stored_in(data, path)
    return row and row[0] and row[0].decode()


def judge(found, path, stop=3, last=None):
    """It goes on behind the steps that were done, and each is done once."""
    equal(found.ended(path), ("succeeded", {"last": last or str(stop), "again": True}), "its end")
    equal([word for word in found.lines() if word.startswith("from-")], ["from-0", "from-%d" % stop], "where it began")
    equal([word for word in found.lines() if word.startswith("step-")], ["step-%d" % i for i in range(5)], "its steps")


@test
def a_run_after_the_end_of_its_worker_goes_on_at_the_mark():
    with Marks() as found:
        path = found.begin_steps(3)
        wait_until(lambda: mark_in(found.data, path) == "3", "the mark is not stored")
        found.kill_all("mishap-handler")
        found.runs_again()
        os.unlink(found.gate)
        judge(found, path)
        equal(mark_in(found.data, path), None, "the mark of a task that has ended")


@test
def a_mark_outlives_the_process_of_tasks():
    with Marks() as found:
        path = found.begin_steps(3)
        wait_until(lambda: mark_in(found.data, path) == "3", "the mark is not stored")
        workers = found.named("mishap-handler")
        found.kill_all("mishap-tasks")
        wait_for_ends(workers)
        found.runs_again()
        os.unlink(found.gate)
        judge(found, path)


def across_restart(stored, *flags):
    """SIGKILL of a whole server: the next one goes on at the mark."""
    with Marks(*flags) as first:
        path = first.begin_steps(3)
        wait_until(lambda: stored(first.data, path) == "3", "the mark is not stored")
        workers = first.named("mishap-handler")
        first.process.kill()
        first.process.wait()
        first.note_end()
        wait_for_ends(workers)
    with Marks(*flags, data=first.data) as found:
        found.runs_again()
        os.unlink(found.gate)
        judge(found, path)


@test
def a_mark_outlives_the_server():
    across_restart(mark_in)


@test
def marks_may_be_in_postgresql():
    if not postgres.folder_of_programs():
        raise Skipped("PostgreSQL is not installed")
    with postgres.Cluster() as cluster:
        def stored(_, path):
            return cluster.sql("marks", "SELECT convert_from(mark, 'UTF8') FROM tasks.tasks WHERE key = '%s'" % path[len("/tasks/"):][:22])
        across_restart(stored, "--task-store", cluster.address("marks"))


@test
def a_mark_that_is_set_before_the_call_is_a_task_counts():
    with Marks("--task-after-ms", "0") as found:
        path = found.begin("GET", "/measure?number=4096")
        equal(found.ended(path), ("succeeded", {"kept": True, "length": 4096, "last": ""}), "the longest mark")
        path = found.begin("GET", "/measure?number=4&removed=true")
        equal(found.ended(path), ("succeeded", {"kept": True, "length": -1, "last": None}), "a mark that was removed")


@tests_of({"of one byte more": (4097,), "of a megabyte": (1 << 20,)})
def a_mark_is_refused_and_the_one_before_stays(size):
    with Marks() as found:
        path = found.begin("GET", "/measure?number=%d" % size)
        before = '{"of":"an earlier one"}'
        equal(found.ended(path), ("succeeded", {"kept": False, "length": len(before), "last": ""}), "what is left")


@test
def marks_in_a_loop_are_stored_ten_times_a_second_at_most():
    with Marks() as found, contextlib.closing(sqlite3.connect(os.path.join(found.data, "tasks.sqlite"), timeout=server.PATIENCE)) as store:
        open(found.gate, "w").close()
        path = found.begin("PUT", "/steps", {"gate": found.gate, "stop": 0, "count": 50000})
        wait_until(lambda: found.state(path) == "running", "it does not run")
        with store:
            store.execute("CREATE TABLE counted (mark)")
            store.execute("CREATE TRIGGER count_marks AFTER UPDATE OF mark ON tasks BEGIN INSERT INTO counted VALUES (new.mark); END")
        began = time.monotonic()
        os.unlink(found.gate)
        equal(found.ended(path)[0], "succeeded", "its end")
        seconds = time.monotonic() - began
        marks = [int(mark) for mark, in store.execute("SELECT mark FROM counted ORDER BY rowid") if mark]
        expect(len(marks) <= 10 * seconds + 3, "%d marks in %f seconds" % (len(marks), seconds))
        equal(marks, sorted(set(marks)), "the newest ones")


@test
def a_call_that_is_no_task_has_no_mark():
    with Marks() as found:
        equal(found.ask("PUT", "/steps", {}).json, {"last": "", "again": False}, "a caller that waits")
        equal(found.ask("GET", "/measure?number=5&dies=false").json, {"kept": True, "length": -1, "last": None}, "… and sets one")
        equal(found.ask("GET", "/measure?number=4097&dies=false").json["kept"], False, "one that is too long")


@test
def a_run_after_an_answer_goes_on_at_the_mark():
    with Marks() as first:
        path = first.begin("POST", "/charge", {"file": first.notes})
        wait_until(lambda: first.state(path) == "asking", "it does not ask")
        equal(mark_in(first.data, path), "charged", "the mark is stored with the question")
        flags = stored_in(first.data, path)[1][13]  # behind three numbers of four bytes, and other flags
        equal(flags & 128, 0, "the stored call is none that only a build with marks can read")
        first.process.kill()
        first.process.wait()
        first.note_end()
    with Marks(data=first.data) as found:
        answer = wait_until(lambda: (found.ask("POST", path + "/answers", {"answers": {"sure": {"sure": True}}}).status == 200), "no answer")
        expect(answer, "the answer")
        equal(found.ended(path), ("succeeded", {"mark": "charged"}), "its end")
        equal(found.lines(), ["charge"], "what was done")


@test
def a_task_with_secrets_stores_no_mark():
    with Marks() as found:
        open(found.gate, "w").close()
        path = found.begin("POST", "/secret", {"token": "token-2718281828", "file": found.notes, "gate": found.gate})
        wait_until(lambda: found.ask("GET", path).json.get("progress"), "no progress")  # the mark was set before
        other = found.begin_steps(3)
        wait_until(lambda: mark_in(found.data, other) == "3", "the mark is not stored")  # marks are stored together
        equal(mark_in(found.data, path), None, "a secret")
        os.unlink(found.gate)
        equal((found.ended(path)[0], found.ended(other)[0]), ("failed", "succeeded"), "their ends")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
