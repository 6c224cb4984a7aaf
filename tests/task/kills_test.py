"""SIGKILL of each process of a server, and of PostgreSQL, while many tasks wait and run.

    MISHAP_PROGRAM=… TASK_PROGRAM=… python3 tests/task/kills_test.py [PART-OF-A-NAME]

Speaks TAP. Each task whose id a client got ends once; none is lost; none that may not run twice does. Some of them ask. TASKS
says how many there are, 60 if it is not set; `make storm-tasks` has 2,000. tests/task/worker.c is the program: its handlers note when they begin and
end in a file.
"""
import collections
import contextlib
import os
import random
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "store"), HERE]
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, test, tests_of  # noqa: E402
from server import Closed, Server, free_port, name_of, processes, wait_until  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TASK_PROGRAM"])
COUNT = int(os.environ.get("TASKS", "60"))
STEPS = 5  # of a task of /steps
CLIENTS = 4
KINDS = [("POST", "/change"), ("PUT", "/set"), ("GET", "/read"), ("POST", "/ask"), ("PUT", "/steps")]
SEED = int(os.environ.get("SEED", "0")) or random.randrange(1 << 30)


def judge_steps(number, words, state):
    """No run begins behind a step that was not done, and in the end all were."""
    done = set()
    for word, _, step in (word.partition("-") for word in words):
        if word == "from":
            expect(step == "0" or int(step) - 1 in done, "a mark of a step that was not done: %d" % number, words)
        if word == "step":
            done.add(int(step))
    if state == "succeeded":
        equal(done, set(range(STEPS)), "the steps of %d" % number)


class Storm:
    """A server, its clients, and what they were told."""

    def __init__(self, *flags):
        self.flags, self.data = flags, os.path.join(server.FOLDER, "storm-%d" % random.randrange(1 << 40))
        os.mkdir(self.data)
        self.notes = os.path.join(self.data, "notes")
        self.listen = "127.0.0.1:%d" % free_port()
        self.paths, self.lock, self.number, self.trouble = {}, threading.Lock(), 0, []
        self.server = None
        self.start()

    def start(self):
        self.server = Server("--workers", "2", "--tasks", "4", "--task-limit", "100000", *self.flags, data=self.data, listen=self.listen,
                             program=PROGRAM)

    def next_number(self):
        with self.lock:
            self.number += 1
            return self.number

    def begin_one(self, generator):
        """Try until a task was begun; each try has a number of its own, since a lost one may have begun something."""
        while True:
            number = self.next_number()
            method, path = KINDS[number % len(KINDS)]
            values = {"number": number, "ms": generator.randrange(30), "file": self.notes}
            target = path if method != "GET" else path + "?" + "&".join("%s=%s" % one for one in values.items())
            try:
                found = self.server.ask(method, target, values if method != "GET" else None, {"Prefer": "respond-async, wait=0"})
            except (Closed, OSError):
                time.sleep(0.02)
                continue
            if found.status == 202:
                with self.lock:
                    self.paths[number] = found["Location"]
                return
            expect(found.status in (200, 201, 428, 429, 500, 503), "an answer that cannot be:", found)
            time.sleep(0.02)

    def run_client(self, seed, count):
        generator = random.Random(seed)
        try:
            for _ in range(count):
                self.begin_one(generator)
        except BaseException as error:  # pylint: disable=broad-except
            self.trouble.append(error)

    def one_of(self, name):
        """A process of this server with this name: its pid, or None."""
        mine, all_of = {self.server.process.pid}, list(processes())
        for _ in range(3):
            mine |= {pid for pid, parent in all_of if parent in mine}
        found = [pid for pid in mine if name_of(pid) == name]
        return random.choice(found) if found else None

    def kill(self, name):
        pid = self.one_of(name)
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill_server(self):
        self.server.process.kill()
        self.server.process.wait()
        self.server.note_end()
        self.start()

    def answer(self, path):
        with contextlib.suppress(Closed, OSError):
            found = self.server.ask("POST", path + "/answers", {"answers": {"sure": {"sure": True}}})
            expect(found.status in (200, 409, 503), "an answer that cannot be:", found)

    def settle(self):
        """Each task ends: its state."""
        states = {}
        for number, path in sorted(self.paths.items()):
            def look(path=path):
                try:
                    found = self.server.ask("GET", path)
                except (Closed, OSError):
                    return None
                if found.status == 503:
                    return None
                equal(found.status, 200, "a task that was promised: %s" % path)
                if found.json["state"] == "asking":
                    self.answer(path)
                    return None
                return found.json["state"] if found.json["state"] not in ("queued", "running") else None
            states[number] = wait_until(look, "a task does not end: " + path)
        return states

    def judge(self, states):
        of = collections.defaultdict(list)
        with open(self.notes) as file:
            notes = collections.Counter(tuple(line.split()[:2]) for line in file)
            file.seek(0)
            for word, number in (line.split()[:2] for line in file):
                of[number].append(word)
        kind_of = {number: KINDS[number % len(KINDS)][1] for number in range(1, self.number + 1)}
        for number, kind in kind_of.items():
            begun, ended = notes["begin", str(number)], notes["end", str(number)]
            if kind in ("/change", "/ask"):
                expect(begun <= 1, "an unsafe task ran %d times: %d, seed %d" % (begun, number, SEED))
            expect(begun <= 6, "a task ran %d times: %d" % (begun, number))
            if states.get(number) == "succeeded":
                expect(ended >= 1, "it says that it has ended: %d" % number)
            if kind == "/steps":
                judge_steps(number, of.get(str(number), []), states.get(number))
            expect(states.get(number) in (None, "succeeded", "failed"), "a state that cannot be: %d" % number, states.get(number))
        # What may run again has failed only if its process was killed three times, perhaps before the handler began.
        failed = {kind: sum(state == "failed" and kind_of[number] == kind for number, state in states.items()) for _, kind in KINDS}
        expect(failed["/set"] + failed["/read"] + failed["/steps"] < len(states) / 5, "what may run again has failed:", failed, "of", len(states))
        expect(failed["/change"] + failed["/ask"] < len(states) / 3, "most have failed:", failed, "of", len(states))


def storm(found, kill, kills):
    clients = [threading.Thread(target=found.run_client, args=(SEED + i, COUNT // CLIENTS)) for i in range(CLIENTS)]
    for one in clients:
        one.start()
    goal = 0
    for _ in range(kills):
        goal += COUNT // (kills + 1)
        while len(found.paths) < goal and any(one.is_alive() for one in clients):
            time.sleep(0.005)
        kill()
    for one in clients:
        one.join()
    expect(not found.trouble, found.trouble)
    kill()
    states = found.settle()
    equal(len(states), COUNT // CLIENTS * CLIENTS, "tasks")
    found.judge(states)


KILLS = 6 if COUNT < 1000 else 40


@tests_of({"of a worker": ("mishap-handler",), "of a loop": ("mishap-loop",), "of the keeper": ("mishap-keeper",),
           "of the process of tasks": ("mishap-tasks",)})
def kill_9(name):
    found = Storm()
    storm(found, lambda: found.kill(name), KILLS)
    found.server.kill()


@test
def kill_9_of_the_server():
    found = Storm()
    storm(found, found.kill_server, 3 if COUNT < 1000 else 10)
    found.server.kill()


@test
def kill_9_of_any_of_them():
    found = Storm()
    names = ["mishap-handler", "mishap-loop", "mishap-keeper", "mishap-tasks"]
    storm(found, lambda: found.kill(random.choice(names)), KILLS)
    found.server.kill()


@test
def kill_9_of_postgresql():
    if not postgres.folder_of_programs():
        raise Skipped("PostgreSQL is not installed")
    with postgres.Cluster() as cluster:
        found = Storm("--task-store", cluster.address())

        def kill():
            cluster.stop(signal.SIGKILL)
            cluster.start()
        storm(found, kill, 3 if COUNT < 1000 else 10)
        found.server.kill()


@test
def after_an_outage_without_tasks_there_are_tasks_again():
    if not postgres.folder_of_programs():
        raise Skipped("PostgreSQL is not installed")

    def state(path):
        found = server_of.server.ask("GET", path)
        return found.status if found.status != 200 else found.json["state"]

    def begun():
        found = server_of.server.ask("POST", "/change", {"ms": 20, "file": server_of.notes}, {"Prefer": "respond-async, wait=0"})
        return found["Location"] if found.status == 202 else None
    with postgres.Cluster() as cluster:
        server_of = Storm("--task-store", cluster.address())
        path = wait_until(begun, "no task")
        wait_until(lambda: state(path) == "succeeded", "it does not end")
        cluster.stop(signal.SIGKILL)
        wait_until(lambda: state(path) == 503, "the store answers")
        cluster.start()
        wait_until(lambda: state(path) == "succeeded", "the store does not answer again")
        again = wait_until(begun, "no task after the outage")
        wait_until(lambda: state(again) == "succeeded", "it does not end")
        server_of.server.kill()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
