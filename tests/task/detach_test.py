"""`--detach`: commands whose work goes on after they have ended, with a server and without one.

    MISHAP_PROGRAM=… TASK_PROGRAM=… python3 tests/task/detach_test.py [PART-OF-A-NAME]

Speaks TAP. tests/task/worker.c is the program. Its handlers wait for a file (a gate) to disappear, so nothing here waits for a clock.
"""
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "store"), HERE]
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, open_terminal, parsed, run_program, test  # noqa: E402
from server import Server, name_of, processes, wait_until  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TASK_PROGRAM"])
server.secrets.add("token-2718281828")


class Folder:
    """A data folder, and commands in it."""

    count = 0

    def __init__(self):
        Folder.count += 1
        self.folder = os.path.join(server.FOLDER, "detach-%d" % Folder.count)
        self.data, self.notes = os.path.join(self.folder, "data"), os.path.join(self.folder, "notes")
        self.log = os.path.join(self.folder, "log")
        os.makedirs(self.folder)
        self.gates = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in ["mishap-detached", "mishap-tasks"]:
            self.kill(name)

    def gate(self):
        self.gates += 1
        path = os.path.join(self.folder, "gate-%d" % self.gates)
        open(path, "w").close()
        return path

    def command(self, *words):
        """Its exit status, and what it has printed. Its output is a pipe: a process that kept it would keep us."""
        os.environ.update(WORKER_DATA=self.data, WORKER_LOG=self.log)
        answer = run_program(PROGRAM, *words, "--output", "json")
        return answer.status, parsed(answer.out)

    def detach(self, *words):
        status, answer = self.command(*words, "--file", self.notes, "--detach")
        equal((status, answer["data"]["operation"], answer["data"]["state"]), (0, words[0], "queued"), answer)
        return answer["data"]["id"]

    def state(self, task):
        return self.command("tasks", "show", task)[1]["data"]["state"]

    def lines(self, word):
        with contextlib.suppress(FileNotFoundError), open(self.notes) as file:
            return [line.split() for line in file.read().split("\n")[:-1] if line.startswith(word + " ")]
        return []

    def begun(self, count=1):
        wait_until(lambda: len(self.lines("begin")) >= count, "it does not begin")

    def processes(self, name):
        """Those that a detached command has left: their command lines name our notes."""
        found = []
        for pid, _ in processes():
            with contextlib.suppress(OSError), open("/proc/%d/cmdline" % pid, "rb") as file:
                if self.notes.encode() in file.read() and name_of(pid) == name:
                    found.append(pid)
        return found

    def kill(self, name):
        for pid in self.processes(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def server(self):
        return Server("--workers", "1", program=PROGRAM, data=self.data, WORKER_DATA=self.data)


@test
def the_work_goes_on_and_its_outcome_is_that_of_the_command():
    with Folder() as found:
        gate = found.gate()
        task = found.detach("change", "--number", "5", "--gate", gate)
        failing = found.detach("lack", "--number", "6", "--gate", gate)
        found.begun()
        equal(found.state(task), "running", "its state")
        equal([row["id"] for row in found.command("tasks", "list")[1]["data"]["tasks"]], [failing, task], "the list")
        status, answer = found.command("tasks", "wait", task, "--timeout-ms", "20")
        equal((status, answer["error"]["code"], answer["error"]["retryable"], found.state(task)), (10, "TIMEOUT", True, "running"), "a wait with a timeout")
        os.unlink(gate)
        for _ in range(2):
            status, answer = found.command("tasks", "wait", task)
            equal((status, answer["data"], answer["warnings"]), (0, {"number": 5}, ["It took a while."]), "its outcome")
            status, answer = found.command("tasks", "wait", failing)
            direct, told = found.command("lack", "--number", "6")
            equal((status, answer["error"]), (direct, told["error"]), "a failure")
        equal(len(found.lines("begin")), 1, "runs")
        wait_until(lambda: not found.processes("mishap-detached"), "a process is left")
        equal(found.processes("mishap-tasks"), [], "another one is left")


@test
def a_task_of_another_build_keeps_no_process():
    with Folder() as found:
        gate = found.gate()
        task = found.detach("change", "--number", "5", "--gate", gate)
        found.begun()
        with contextlib.closing(sqlite3.connect(os.path.join(found.data, "tasks.sqlite"))) as store, store:
            store.execute("CREATE TEMP TABLE other AS SELECT * FROM tasks")
            store.execute("UPDATE other SET key = ?, operation = 'gone', state = 0", ("A" * 22,))
            store.execute("INSERT INTO tasks SELECT * FROM other")
        os.unlink(gate)
        equal(found.command("tasks", "wait", task)[0], 0, "its outcome")
        wait_until(lambda: not found.processes("mishap-detached"), "a process is left")


@test
def arguments_are_checked_first_and_only_tasks_can_be_detached():
    with Folder() as found:
        secret = os.path.join(found.folder, "secret")
        with open(secret, "w") as file:
            file.write("token-2718281828")
        equal(found.command("secret", "--token", "@" + secret, "--number", "1")[0], 0, "a secret")
        for words in [("change", "--number", "x"), ("plain",), ("tasks", "list"), ("secret", "--token", "@" + secret)]:
            status, answer = found.command(*words, "--detach")
            equal((status, answer["error"]["code"]), (2, "ARG_ERROR"), words)
        expect(not os.path.exists(os.path.join(found.data, "tasks.sqlite")), "something is stored")


@test
def a_task_is_cancelled_by_a_command():
    with Folder() as found:
        task = found.detach("change", "--number", "1", "--gate", found.gate())
        found.begun()
        equal(found.command("tasks", "cancel", task)[0], 0, "it is cancelled")
        status, answer = found.command("tasks", "wait", task)
        equal((status != 0, answer["error"]["code"], found.state(task)), (True, "CANCELLED", "cancelled"), "its end")


@test
def a_server_with_the_folder_runs_it():
    with Folder() as found, found.server() as running:
        gate = found.gate()
        first = running.ask("POST", "/change", {"number": 1, "gate": gate, "file": found.notes}, {"Prefer": "respond-async, wait=0"})
        equal(first.status, 202, "a task of the server")  # so it has the folder
        task = found.detach("change", "--number", "2", "--gate", gate)
        found.kill("mishap-detached")
        found.begun(2)
        os.unlink(gate)
        equal(found.command("tasks", "wait", task)[1]["data"], {"number": 2}, "its outcome")
        equal(running.ask("GET", "/tasks/" + task).status, 404, "it is no caller's of the server")


@test
def a_server_of_another_program_does_not_keep_it_waiting():
    with Folder() as found:
        mark = os.path.join(found.data, "tasks-mishap")
        os.makedirs(found.data)
        open(mark, "w").close()  # so the server begins at once to run tasks
        with Server("--workers", "1", program=server.PROGRAM, data=found.data):
            wait_until(lambda: os.path.getsize(mark), "the server runs no tasks")
            task = found.detach("change", "--number", "2")
            equal(found.command("tasks", "wait", task)[1]["data"], {"number": 2}, "its outcome")
            wait_until(lambda: not found.processes("mishap-detached"), "a process is left")


@test
def it_goes_on_when_the_server_that_runs_it_dies():
    with Folder() as found:
        running = found.server()
        gate = found.gate()
        running.ask("POST", "/change", {"number": 1, "ms": 10}, {"Prefer": "respond-async, wait=0"})
        task = found.detach("set", "--number", "2", "--gate", gate)
        found.begun()
        running.process.kill()
        running.process.wait()
        running.note_end()
        os.unlink(gate)
        equal(found.command("tasks", "wait", task)[1]["data"], {"number": 2}, "its outcome")
        expect(len(found.lines("begin")) == 2, "runs:", found.lines("begin"))
        equal(len({line[2] for line in found.lines("begin")}), 1, "ids of its call")
        equal([line[3] for line in found.lines("begin")], ["first", "again"], "what the handler is told")


@test
def what_may_not_run_again_does_not_after_its_process_was_killed():
    with Folder() as found:
        gate = found.gate()
        unsafe = found.detach("change", "--number", "1", "--gate", gate)
        again = found.detach("set", "--number", "2", "--gate", gate)
        found.begun(2)
        first = found.processes("mishap-tasks")
        found.kill("mishap-tasks")
        wait_until(lambda: set(found.processes("mishap-tasks")) - set(first) or not found.processes("mishap-detached"), "no other takes its place")
        os.unlink(gate)
        equal(found.command("tasks", "wait", again)[1]["data"], {"number": 2}, "what may run again")
        status, answer = found.command("tasks", "wait", unsafe)
        equal((status != 0, answer["error"]["code"]), (True, "INTERNAL_ERROR"), "what may not")
        equal(sorted(line[1] for line in found.lines("begin")).count("1"), 1, "runs")


@test
def what_had_not_begun_waits_for_the_next_process():
    with Folder() as found:
        gate = found.gate()
        tasks = [found.detach("change", "--number", "1", "--gate", gate)]
        found.begun()
        first = found.processes("mishap-detached")
        tasks += [found.detach("change", "--number", str(number), "--gate", gate) for number in range(2, 7)]
        found.begun(4)
        for pid in set(found.processes("mishap-detached")) - set(first):  # they would take the place of the first
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: len(found.processes("mishap-tasks")) == 1, "others are left")
        for name in ["mishap-detached", "mishap-tasks"]:
            found.kill(name)
        wait_until(lambda: not found.processes("mishap-tasks"), "a process is left")
        os.unlink(gate)
        last = found.detach("change", "--number", "7")
        equal(found.command("tasks", "wait", last)[1]["data"], {"number": 7}, "the next one")
        states = [found.command("tasks", "wait", task)[0] == 0 for task in tasks]
        equal((states.count(True), len(found.lines("begin"))), (2, 7), "what had not begun has ended, and nothing ran twice")


ASKED = ("ask", "--number", "4")
SURE = '{"sure":{"sure":true}}'


def until(found, task, state):
    wait_until(lambda: found.state(task) == state, lambda: "it is not %s but %s" % (state, found.state(task)))


def no_process_is_left(found):
    """Also none of a command that has answered: its command line does not name our notes."""
    def gone():
        for pid, _ in processes():
            with contextlib.suppress(OSError), open("/proc/%d/environ" % pid, "rb") as file:
                if ("WORKER_DATA=" + found.data).encode() in file.read() and name_of(pid) in ("mishap-detached", "mishap-tasks"):
                    return False
        return True
    wait_until(gone, "a process is left")


@test
def a_task_of_a_command_asks_and_holds_no_process():
    with Folder() as found:
        task = found.detach(*ASKED)
        until(found, task, "asking")
        no_process_is_left(found)
        equal(found.command("tasks", "show", task)[1]["data"]["questions"]["sure"]["message"], "Do number 4?", "what it asks")
        status, answer = found.command("tasks", "wait", task)
        equal((status != 0, answer["error"]["code"]), (True, "INPUT_REQUIRED"), "a wait without a terminal")
        expect("tasks reply" in answer["error"]["suggestion"] and "sure" in answer["error"]["context"]["questions"], "what to do:", answer)
        equal(found.command("tasks", "answer", task)[1]["error"]["code"], "CONFLICT", "no answer yet")
        for wrong in ['{"sure":{"sure":7}}', '{"other":{}}']:
            equal(found.command("tasks", "reply", task, "--answers", wrong)[1]["error"]["code"], "VALIDATION_ERROR", wrong)
        expect("(sure: " in found.command("tasks", "show", task)[1]["data"]["questions"]["sure"]["message"], "what was wrong")
        status, answer = found.command("tasks", "reply", task, "--answers", SURE)
        equal((status, answer["data"]["state"]), (0, "queued"), answer)
        equal(found.command("tasks", "wait", task)[1]["data"], {"number": 4, "sure": True, "place": ""}, "its outcome")
        equal(found.command("tasks", "reply", task, "--answers", SURE)[1]["error"]["code"], "CONFLICT", "a late answer")
        equal((len(found.lines("asked")), len(found.lines("end"))), (2, 1), "runs")
        no_process_is_left(found)


@test
def a_command_may_bring_its_answers_and_a_task_that_asks_is_cancelled():
    with Folder() as found:
        task = found.detach(*ASKED, "--answers", SURE)
        equal(found.command("tasks", "wait", task)[1]["data"]["sure"], True, "its outcome")
        other = found.detach(*ASKED)
        until(found, other, "asking")
        equal(found.command("tasks", "cancel", other)[0], 0, "it is cancelled")
        equal(found.state(other), "cancelled", "its end")
        equal(found.command("tasks", "wait", other)[1]["error"]["code"], "CANCELLED", "its outcome")
        declined = found.detach(*ASKED)
        until(found, declined, "asking")
        equal(found.command("tasks", "reply", declined, "--answers", '{"sure":null}')[0], 0, "declined")
        equal(found.command("tasks", "wait", declined)[1]["error"]["code"], "CANCELLED", "its outcome")
        no_process_is_left(found)


@test
def a_server_of_the_folder_goes_on_with_the_answer():
    with Folder() as found, found.server() as running:
        task = found.detach(*ASKED)
        until(found, task, "asking")
        equal(found.command("tasks", "reply", task, "--answers", SURE)[0], 0, "the answer")
        equal(found.command("tasks", "wait", task)[1]["data"]["sure"], True, "its outcome")
        # The process that the command has left ends when there is nothing to do; then the server has the folder.
        theirs = wait_until(lambda: running.ask("POST", "/ask", {}, {"Prefer": "respond-async, wait=0"}).json.get("id"), "the server has no tasks")
        until(found, theirs, "asking")
        equal(found.command("tasks", "reply", theirs, "--answers", SURE)[1]["error"]["code"], "FORBIDDEN", "the task of a caller")


@test
def a_person_who_waits_at_a_terminal_is_prompted():
    with Folder() as found:
        task = found.detach(*ASKED, "--both")
        until(found, task, "asking")
        ours, other = open_terminal()
        process = subprocess.Popen([PROGRAM, "tasks", "wait", task, "--output", "json"], stdin=other, stdout=subprocess.PIPE, stderr=other,
                                   start_new_session=True, env={**os.environ, "WORKER_DATA": found.data, "WORKER_LOG": found.log})
        os.close(other)
        shown = b""
        for prompt, line in [(b"Do it (yes or no): ", b"maybe\n"), (b"place: ", b"here\n"), (b"Do it (yes or no): ", b"yes\n")]:
            while prompt not in shown:
                piece = os.read(ours, 4096)
                expect(piece, "the terminal was closed:", shown)
                shown += piece
            shown = shown[shown.index(prompt) + len(prompt):]
            os.write(ours, line)
        equal(parsed(process.communicate()[0])["data"], {"number": 4, "sure": True, "place": "here"}, "its outcome")
        os.close(ours)
        no_process_is_left(found)


@test
def tasks_may_be_in_postgresql():
    if not postgres.folder_of_programs():
        raise Skipped("PostgreSQL is not installed")
    with postgres.Cluster() as cluster, Folder() as found:
        store = ["--task-store", cluster.address()]
        status, answer = found.command("change", "--number", "3", "--file", found.notes, "--detach", *store)
        equal(status, 0, answer)
        task = answer["data"]["id"]
        equal(found.command("tasks", "wait", task, *store)[1]["data"], {"number": 3}, "its outcome")
        asks = found.command(*ASKED, "--detach", *store)[1]["data"]["id"]
        wait_until(lambda: found.command("tasks", "show", asks, *store)[1]["data"]["state"] == "asking", "it does not ask")
        equal(found.command("tasks", "reply", asks, "--answers", SURE, *store)[0], 0, "the answer")
        equal(found.command("tasks", "wait", asks, *store)[1]["data"]["sure"], True, "its outcome")
        expect(not os.path.exists(os.path.join(found.data, "tasks.sqlite")), "another store")
        wait_until(lambda: not found.processes("mishap-detached"), "a process is left")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
