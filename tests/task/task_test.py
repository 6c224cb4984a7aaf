"""Calls that become tasks, over HTTP: who gets one, its state and its answer, ids of others, bounds, secrets.

    MISHAP_PROGRAM=… TASK_PROGRAM=… python3 tests/task/task_test.py [PART-OF-A-NAME]

Speaks TAP. tests/task/worker.c is the program. Its handlers wait for a file (a gate) to disappear, so nothing here waits for a clock.
"""
import glob
import os
import signal
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "oauth"), HERE]
import server  # noqa: E402
import issuer as issuers  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from server import Server, wait_for, wait_until  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TASK_PROGRAM"])
NOW = {"Prefer": "respond-async, wait=0"}
server.secrets.add("MISHAP-PRIVATE-7f3a9c")
server.secrets.add("token-2718281828")


class Tasks(Server):
    def __init__(self, *flags, **more):
        super().__init__("--workers", "2", *flags, program=PROGRAM, **more)
        self.gates = 0

    def gate(self):
        self.gates += 1
        path = os.path.join(self.folder, "gate-%d" % self.gates)
        open(path, "w").close()
        return path

    def begin(self, method, target, body=None, fields=()):
        """A call that becomes a task at once: its response and its path."""
        found = self.ask(method, target, body, {**NOW, **dict(fields)})
        equal(found.status, 202, "a task")
        equal(found["Preference-Applied"], "respond-async", "the preference")
        equal(found["Retry-After"], "1", "when to ask again")
        expect(found["Location"] == "/tasks/" + found.json["id"], "no location:", found)
        return found, found["Location"]

    def ended(self, path, fields=()):
        """503 has advice to ask again: the process of the tasks may have been killed, and the next one starts."""
        def look():
            found = self.ask("GET", path, fields=fields)
            running = found.status == 503 or found.status == 200 and found.json["state"] in ("queued", "running")
            return None if running else found
        return wait_until(look, lambda: "it does not end: %r" % self.ask("GET", path, fields=fields))


def peak_of(pid):
    """The most memory that a process has had, in bytes."""
    with open("/proc/%d/status" % pid) as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM:"))


def lines(path):
    try:
        with open(path) as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


@test
def a_fast_call_is_answered_as_any_other_and_nothing_is_stored():
    with Tasks() as found:
        plain, preferring = found.ask("GET", "/read?number=7"), found.ask("GET", "/read?number=7", fields={"Prefer": "respond-async"})
        equal(preferring.status, 200, "the status")
        equal(preferring.body, plain.body, "the body")
        equal(preferring["Warning"], plain["Warning"], "the warning")
        lost, also = found.ask("GET", "/lack?number=7"), found.ask("GET", "/lack?number=7", fields={"Prefer": "respond-async"})
        equal((also.status, also.body), (lost.status, lost.body), "a failure")
        expect(found.wait_for_log(also.id), "no record of it")
        with sqlite3.connect(os.path.join(found.data, "tasks.sqlite")) as store:
            equal(store.execute("SELECT count(*) FROM tasks").fetchone()[0], 0, "rows")


@tests_of({"by wait=0": ("respond-async, wait=0",), "by wait=0 in quotes": ('wait="0" , Respond-Async;x=1',)})
def a_call_becomes_a_task_if_its_caller_takes_one(prefer):
    with Tasks() as found:
        gate = found.gate()
        first, path = found.begin("POST", "/change", {"number": 3, "gate": gate}, {"Prefer": prefer})
        expect(wait_for(lambda: found.ask("GET", path).json.get("progress")), "no progress")
        status = found.ask("GET", path)
        equal((status.status, status.json["state"], status.json["operation"]), (200, "running", "change"), "its state")
        equal(status.json["progress"], {"done": 1.0, "total": 2.0, "message": "Half of it"}, "how far it is")
        early = found.ask("GET", path + "/answer")
        equal((early.status, early.json["error"]), (409, "conflict"), "the answer before there is one")
        os.unlink(gate)
        status = found.ended(path)
        equal((status.json["state"], status.json["answer"]), ("succeeded", path + "/answer"), "its end")
        expect(status.json["expires"] > status.json["updated"] >= status.json["created"], "its times:", status.json)
        for _ in range(2):
            answer = found.ask("GET", path + "/answer")
            equal((answer.status, answer.json), (201, {"number": 3}), "the answer")
            expect("It took a while." in answer["Warning"], "no warning:", answer)
        equal(found.ask("DELETE", path).status, 204, "it is removed")
        equal(found.ask("GET", path).status, 404, "there is none")
        expect(first.id != answer.id, "ids of requests")


def has_process_of_tasks(found):
    return any(parent == found.process.pid and server.name_of(pid) == "mishap-tasks" for pid, parent in server.processes())


@test
def the_process_of_tasks_starts_with_the_first_call_that_may_be_one():
    with Tasks() as found:
        equal(found.ask("GET", "/read?number=7").status, 200, "a caller that waits")
        equal((has_process_of_tasks(found), glob.glob(os.path.join(found.data, "tasks*"))), (False, []), "a server without tasks")
        _, path = found.begin("GET", "/read?number=7")
        equal(found.ended(path).json["state"], "succeeded", "the first one")
        expect(has_process_of_tasks(found), "its process")
        data = found.data
    with Tasks(data=data) as found:
        wait_until(lambda: has_process_of_tasks(found), "a folder that has had tasks")
        equal(found.ask("GET", path + "/answer").json, {"number": 7}, "its answer after a restart")


@test
def what_is_always_a_task_needs_no_preference():
    with Tasks("--task-after-ms", "0") as found:
        for fields in [{}, {"Prefer": "return=minimal"}, {"Prefer": "respond-async"}]:
            gate = found.gate()
            first = found.ask("POST", "/long", {"number": 3, "gate": gate}, fields)
            equal((first.status, first["Preference-Applied"]), (202, fields.get("Prefer") if "respond-async" in fields.values() else None), fields)
            os.unlink(gate)
            equal(found.ended(first["Location"]).json["state"], "succeeded", "its end")
        equal(found.ask("POST", "/long", {"number": 3}, {"Prefer": "wait=100"}).json, {"number": 3}, "a caller that waits")
    with Tasks("--tasks", "0") as found:
        equal(found.ask("POST", "/long", {"number": 3}).json, {"number": 3}, "a server without tasks")


@test
def others_wait_as_before_and_wrong_preferences_are_ignored():
    with Tasks("--task-after-ms", "0") as found:
        for prefer in [None, "wait=0", "respond-asynchronously", "respond-async=1", "return=minimal", ";", ",,=", "=,=;"]:
            answer = found.ask("GET", "/read?ms=30", fields={"Prefer": prefer} if prefer else {})
            equal(answer.status, 200, prefer)
        equal(found.ask("GET", "/plain?ms=30", fields=NOW).status, 200, "an operation that is no task")
        equal(found.ask("GET", "/read?number=x", fields=NOW).status, 422, "arguments are checked first")
        gate = found.gate()
        one = found.ask("GET", "/read?gate=" + gate, fields={"Prefer": "respond-async"})
        equal(one.status, 202, "by --task-after-ms")
        os.unlink(gate)
        found.ended(one["Location"])
    with Tasks("--tasks", "0") as found:
        equal(found.ask("GET", "/read?ms=30", fields=NOW).status, 200, "a server without tasks")
        equal(found.ask("GET", "/tasks/x").status, 404, "… has none")
    with Tasks("--handlers", "0") as found:
        equal(found.ask("GET", "/read?ms=30", fields=NOW).status, 200, "handlers in the loop")


class Followed:
    """GET /tasks/ID as a stream of events."""

    def __init__(self, found, path, fields=()):
        self.connection = found.connect().send(server.request("GET", path, None, {"Accept": "text/event-stream", **dict(fields)}))
        self.status, fields = server.parse_head(self.connection.take_head())
        self.fields = {name.lower(): value for name, value in fields}
        self.events, self.text = [], b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def chunk(self):
        """False: the stream has ended."""
        connection = self.connection
        while b"\r\n" not in connection.received:
            expect(connection.more(), "the stream is cut")
        size, connection.received = connection.received.split(b"\r\n", 1)
        self.text += connection.take(int(size, 16) + 2)[:-2]
        while b"\n\n" in self.text:
            event, self.text = self.text.split(b"\n\n", 1)
            if event != b":":
                expect(event.startswith(b"event: task\ndata: "), "no event:", event)
                self.events.append(parsed(event.split(b"data: ", 1)[1]))
        return size != b"0"

    def until(self, condition):
        while not any(condition(one) for one in self.events):
            expect(self.chunk(), "it has ended:", self.events)
        return self.events[-1]

    def rest(self):
        while self.chunk():
            pass
        return self.events


@test
def a_task_is_followed_until_its_end():
    with Tasks("--tasks", "1") as found:
        gate, other = found.gate(), found.gate()
        _, first = found.begin("POST", "/change", {"number": 1, "gate": gate})
        _, second = found.begin("POST", "/change", {"number": 2, "gate": other})
        with Followed(found, first) as one, Followed(found, second) as two:
            equal((one.status, one.fields["content-type"], one.fields["cache-control"]), (200, "text/event-stream", "no-store"), "the head")
            equal(one.until(lambda event: "progress" in event)["progress"], {"done": 1.0, "total": 2.0, "message": "Half of it"}, "how far it is")
            equal(two.until(lambda event: True)["state"], "queued", "the second")
            os.unlink(gate)
            events = one.rest()
            equal((events[-1]["state"], events[-1]["answer"]), ("succeeded", first + "/answer"), "its end")
            equal(events[-1], found.ask("GET", first).json, "what a request gets")
            expect(one.connection.is_open(), "the connection has ended")
            two.until(lambda event: event["state"] == "running")
            equal(found.ask("DELETE", second).status, 202, "it is cancelled")
            equal(two.rest()[-1]["state"], "cancelled", "the end of the second")
        with Followed(found, first) as late:
            equal([event["state"] for event in late.rest()], ["succeeded"], "a task that has ended")
        missing = found.ask("GET", "/tasks/x", fields={"Accept": "text/event-stream"})
        equal((missing.status, missing.json["error"]), (404, "not_found"), "no task")
        both = found.ask("GET", first, fields={"Accept": "application/json, text/event-stream"})
        equal(both["Content-Type"], "application/json", "a reader of both")


@test
def progress_that_is_no_number_is_none():
    with Tasks() as found:
        gate = found.gate()
        _, path = found.begin("GET", "/large?gate=" + gate)
        progress = wait_until(lambda: found.ask("GET", path).json.get("progress"), "no progress")
        equal(progress, {"done": 0.0, "message": "Not a number"}, "how far it is")
        os.unlink(gate)
        found.ended(path)


@test
def a_stream_of_a_task_ends_with_its_server_and_its_reader():
    with Tasks() as found:
        gate = found.gate()
        _, path = found.begin("POST", "/change", {"gate": gate})
        for _ in range(3):
            with Followed(found, path) as gone:
                gone.until(lambda event: event["state"] == "running")
                gone.connection.reset()
        with Followed(found, path) as left:
            left.until(lambda event: event["state"] == "running")
            found.process.send_signal(signal.SIGTERM)
            equal(left.rest()[-1]["state"], "running", "an end in order")
            os.unlink(gate)
            equal(found.wait().status, 0, "its exit")


@test
def a_stream_goes_on_with_the_process_that_takes_the_place_of_a_killed_one():
    with Tasks() as found:
        gate, notes = found.gate(), os.path.join(found.folder, "notes")
        _, path = found.begin("PUT", "/set", {"gate": gate, "file": notes})
        expect(wait_for(lambda: lines(notes)), "it does not begin")
        with Followed(found, path) as cut:
            cut.until(lambda event: event["state"] == "running")
            for pid, parent in server.processes():
                if parent == found.process.pid and server.name_of(pid) == "mishap-tasks":
                    os.kill(pid, signal.SIGKILL)
            cut.rest()
        os.unlink(gate)
        equal(found.ended(path).json["state"], "succeeded", "its end")
        with Followed(found, path) as again:
            equal(again.rest()[-1]["state"], "succeeded", "the next stream")


@test
def a_failure_is_replayed_and_recorded_once_under_the_first_id():
    with Tasks() as found:
        direct = found.ask("GET", "/lack?number=5")
        first, path = found.begin("GET", "/lack?number=5&ms=20")
        equal(found.ended(path).json["state"], "failed", "its end")
        for _ in range(2):
            answer = found.ask("GET", path + "/answer")
            equal((answer.status, answer.body), (direct.status, direct.body), "the answer")
        expect(found.wait_for_log(first.id), "no record")
        crashed, path = found.begin("POST", "/crash", {})
        equal(found.ended(path).json["state"], "failed", "its end")
        answer = found.ask("GET", path + "/answer")
        equal(answer.status, 500, "a crash")
        entry = found.wait_for_log(crashed.id)
        expect("SIGSEGV" in entry, "the record:", entry)
        with open(found.log) as file:
            equal(sum('"id":"%s"' % crashed.id in line for line in file), 1, "records")


@test
def bytes_and_headers_are_replayed():
    with Tasks() as found:
        direct = found.ask("GET", "/image")
        _, path = found.begin("GET", "/image?ms=20")
        found.ended(path)
        answer = found.ask("GET", path + "/answer")
        for name in ["Content-Type", "X-Made-By", "X-Content-Type-Options"]:
            equal(answer[name], direct[name], name)
        equal((answer.status, answer.body), (200, direct.body), "the bytes")


@test
def a_task_is_cancelled():
    with Tasks("--tasks", "1") as found:
        gate, notes = found.gate(), os.path.join(found.folder, "notes")
        _, running = found.begin("POST", "/change", {"number": 1, "gate": gate, "file": notes})
        _, waiting = found.begin("POST", "/change", {"number": 2, "gate": gate, "file": notes})
        expect(wait_for(lambda: lines(notes)), "it does not begin")
        equal(found.ask("GET", waiting).json["state"], "queued", "the second")
        equal(found.ask("DELETE", waiting).status, 202, "it is cancelled")
        equal(found.ended(waiting).json["state"], "cancelled", "the second")
        cancelling = found.ask("DELETE", running)
        equal(cancelling.status, 202, "it is told")
        equal(found.ended(running).json["state"], "cancelled", "the first")
        with sqlite3.connect(os.path.join(found.data, "tasks.sqlite")) as store:
            marks = dict(store.execute("SELECT key, cancel FROM tasks"))
        equal(marks[running.split("/")[2][:22]], 1, "the mark in the row of what ran: a successor must not run it")
        equal([line.split()[:2] for line in lines(notes)], [["begin", "1"], ["cancelled", "1"]], "what ran")
        equal(found.ask("GET", running + "/answer").json["error"], found.ask("GET", waiting + "/answer").json["error"], "both")


@test
def ids_of_others_and_hostile_ids_name_no_task():
    data = os.path.join(server.FOLDER, "ids")
    os.mkdir(data)
    keys = []
    for name in ["ada", "bob"]:
        answer = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json")
        keys.append({"Authorization": "Bearer " + parsed(answer.out)["data"]["key"]})
        server.secrets.add(keys[-1]["Authorization"].split()[1])
    ada, bob = keys
    with Tasks("--require-key", data=data) as found:
        gate = found.gate()
        _, path = found.begin("POST", "/change", {"gate": gate}, ada)
        name = path.split("/")[2]
        equal(found.ask("GET", path, fields=ada).status, 200, "her own")
        equal(found.ask("GET", path).status, 401, "without a key")
        hostile = [name[:-1], name + "A", name.swapcase(), name[1:] + name[0], "A" * 43, "-" * 43, "x", "%00" * 14, "..%2f" + name,
                   "'%20OR%201=1--", name[:22], name[:22] + "A" * 21, "%ff" * 43, "A" * 4000]
        for method, tail in [("GET", ""), ("GET", "/answer"), ("DELETE", "")]:
            other = found.ask(method, path + tail, fields=bob)
            equal((other.status, other.json["error"]), (404, "not_found"), "another caller's")
            for wrong in hostile:
                answer = found.ask(method, "/tasks/" + wrong + tail, fields=ada)
                expect(answer.status in (400, 404), wrong, answer)
        equal(found.ask("GET", path, fields=ada).json["state"], "running", "it is still hers")
        os.unlink(gate)
        equal(found.ended(path, ada).json["state"], "succeeded", "its end")


@test
def the_next_token_of_a_caller_has_its_tasks_and_other_tokens_have_not():
    """They belong to issuer, client and subject."""
    folder = os.path.join(server.FOLDER, "issuer")
    os.mkdir(folder)
    issuer = issuers.Issuer(folder, "https://login.example.com", "https://api.example.com")

    def bearer(**claims):
        return {"Authorization": "Bearer " + issuer.token(**claims)}

    first, refreshed = bearer(), bearer(exp=int(time.time()) + 900)
    with Tasks("--oauth-issuer", issuer.url, "--oauth-jwks", issuer.file, "--public-url", issuer.audience) as found:
        gate = found.gate()
        _, path = found.begin("POST", "/change", {"number": 5, "gate": gate}, first)
        for other in (bearer(client_id="another-app"), bearer(client_id=None), bearer(sub="bob")):
            for method, tail in [("GET", ""), ("GET", "/answer"), ("DELETE", "")]:
                equal(found.ask(method, path + tail, fields=other).status, 404, "another client's or subject's")
        equal(found.ask("GET", path, fields=refreshed).json["state"], "running", "its state, with the next token")
        os.unlink(gate)
        equal(found.ended(path, refreshed).json["state"], "succeeded", "its end")
        equal(found.ask("GET", path + "/answer", fields=refreshed).json, {"number": 5}, "its answer")
        _, path = found.begin("POST", "/change", {"gate": found.gate()}, first)
        equal(found.ask("DELETE", path, fields=refreshed).status, 202, "it is cancelled with the next token")
        equal(found.ended(path, refreshed).json["state"], "cancelled", "its end")


@test
def a_caller_with_fewer_scopes_than_before_gets_no_answer():
    data = os.path.join(server.FOLDER, "scopes")
    os.mkdir(data)
    key = parsed(run_program(PROGRAM, "keys", "add", "--name", "ada", "--scope", "call,work:do", "--data", data, "--output", "json").out)["data"]["key"]
    server.secrets.add(key)
    fields = {"Authorization": "Bearer " + key}
    with Tasks("--require-key", data=data) as found:
        _, path = found.begin("POST", "/scoped", {"number": 4, "ms": 20}, fields)
        equal(found.ended(path, fields).json["state"], "succeeded", "its end")
        equal(found.ask("GET", path + "/answer", fields=fields).json, {"number": 4}, "the answer")
        _, running = found.begin("POST", "/scoped", {"gate": found.gate()}, fields)
        expect(wait_for(lambda: found.ask("GET", running, fields=fields).json.get("progress")), "no progress")
        with open(os.path.join(data, "keys")) as file:
            text = file.read()
        with open(os.open(os.path.join(data, "keys.new"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(text.replace("call,work:do", "call"))
        os.rename(os.path.join(data, "keys.new"), os.path.join(data, "keys"))
        for _ in range(20):  # in each of the loops
            wait_until(lambda: found.ask("POST", "/scoped", {}, fields).status == 403, "the key has its scope")
        wait_until(lambda: "progress" not in found.ask("GET", running, fields=fields).json, "how far it is needs the scope")
        wait_until(lambda: found.ask("GET", path + "/answer", fields=fields).status == 403, "the answer needs the scope")
        expect("number" not in found.ask("GET", path + "/answer", fields=fields).json, "the answer")
        equal(found.ask("GET", path, fields=fields).json["state"], "succeeded", "its state needs no scope")
        status = found.ask("GET", running, fields=fields)
        equal((status.status, status.json["state"]), (200, "running"), "one that runs")
        equal(found.ask("DELETE", running, fields=fields).status, 202, "it is cancelled")
        equal(found.ended(running, fields).json["state"], "cancelled", "its end")
        wait_until(lambda: found.ask("GET", running + "/answer", fields=fields).status == 403, "the answer of what was cancelled")
        equal(found.ask("DELETE", path, fields=fields).status, 204, "it is forgotten")
        equal(found.ask("GET", path, fields=fields).status, 404, "… from now on")


@test
def the_tasks_of_a_blocked_caller_are_cancelled():
    data = os.path.join(server.FOLDER, "blocked")
    os.mkdir(data)
    keys = []
    for name in ["ada", "bob"]:
        answer = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json")
        keys.append({"Authorization": "Bearer " + parsed(answer.out)["data"]["key"]})
        server.secrets.add(keys[-1]["Authorization"].split()[1])
    ada, bob = keys
    with Tasks("--require-key", "--tasks", "2", data=data) as found:
        gate, notes = found.gate(), os.path.join(found.folder, "notes")
        body = {"gate": gate, "file": notes}
        _, running = found.begin("POST", "/change", {**body, "number": 1}, ada)
        _, other = found.begin("POST", "/change", {**body, "number": 2}, bob)
        expect(wait_for(lambda: len(lines(notes)) == 2), "they do not begin")
        _, waiting = found.begin("POST", "/change", {**body, "number": 3}, ada)
        equal(run_program(PROGRAM, "keys", "block", "ada", "--data", data).status, 0, "she is blocked")
        wait_until(lambda: [line.split()[:2] for line in lines(notes) if line.startswith("cancelled")] == [["cancelled", "1"]], "the handler is not told")
        wait_until(lambda: found.ask("GET", running, fields=ada).status == 403, "her request is answered")
        equal(run_program(PROGRAM, "keys", "unblock", "ada", "--data", data).status, 0, "she is not blocked any more")
        for path in (running, waiting):
            wait_until(lambda path=path: found.ask("GET", path, fields=ada).json.get("state") == "cancelled", "its end")  # each loop unblocks her
        equal(found.ask("GET", other, fields=bob).json["state"], "running", "another caller's")
        os.unlink(gate)
        equal(found.ended(other, bob).json["state"], "succeeded", "its end")
        equal(sorted(line.split()[:2] for line in lines(notes) if line.startswith("begin")), [["begin", "1"], ["begin", "2"]], "what ran")


@test
def a_revived_task_has_no_scope_of_another_list():
    data = os.path.join(server.FOLDER, "lists")
    os.mkdir(data)
    with Tasks("--tasks", "1", data=data) as found:
        gate, notes = found.gate(), os.path.join(server.FOLDER, "lists-notes")
        found.begin("PUT", "/set", {"gate": gate})
        paths = [found.begin("POST", "/scoped", {"number": number, "file": notes})[1] for number in (1, 2)]
        found.process.kill()
        found.process.wait()
        found.note_end()
    os.unlink(gate)
    key = paths[0].split("/")[2][:22]
    with sqlite3.connect(os.path.join(data, "tasks.sqlite")) as store:
        store.execute("UPDATE tasks SET scopes = scopes + 1 WHERE key = ?", (key,))
    with Tasks(data=data) as found:
        equal(found.ended(paths[0]).json["state"], "failed", "one of another list")
        equal(found.ask("GET", paths[0] + "/answer").status, 403, "its answer")
        equal(found.ended(paths[1]).json["state"], "succeeded", "one of this list")
    equal({line.split()[1] for line in lines(notes)}, {"2"}, "what ran")


@test
def tasks_that_run_one_at_a_time_wait_for_each_other():
    clock = os.path.join(server.FOLDER, "clock")
    open(clock, "w").close()
    with Tasks(WORKER_CLOCK=clock) as found:
        gate = found.gate()
        first, second = [found.begin("POST", "/alone", {"number": number, "gate": gate})[1] for number in (1, 2)]
        wait_until(lambda: [found.ask("GET", path).json["state"] for path in (first, second)] == ["running", "running"], "they do not begin")
        with open(clock, "w") as file:
            file.write("x" * 11)  # a call that is no task waits for ten seconds at most
        for _ in range(20):  # each request is a turn of the process of tasks, which looks at its clock
            equal([found.ask("GET", path).json["state"] for path in (first, second)], ["running", "running"], "both")
        os.unlink(gate)
        for path in (first, second):
            equal(found.ended(path).json["state"], "succeeded", "its end")


@test
def a_call_that_its_caller_has_left_keeps_its_place():
    with Tasks("--tasks", "1", "--task-after-ms", "600000") as found:
        notes, left = os.path.join(found.folder, "notes"), os.path.join(found.folder, "left")
        gate = found.gate()
        with found.connect() as gone:
            gone.send(server.request("GET", "/stubborn?file=%s&gate=%s" % (left, gate), None, {"Prefer": "respond-async"}))
            expect(wait_for(lambda: lines(left)), "it does not begin")
            gone.reset()
        expect(wait_for(lambda: len(lines(left)) == 2), "it is not told")
        _, path = found.begin("POST", "/change", {"file": notes})
        equal((found.ask("GET", path).json["state"], lines(notes)), ("queued", []), "the place")
        os.unlink(gate)
        equal(found.ended(path).json["state"], "succeeded", "its end")


@test
def a_caller_has_so_many_tasks():
    with Tasks("--task-limit", "3") as found:
        gate = found.gate()
        paths = [found.begin("POST", "/change", {"gate": gate})[1] for _ in range(3)]
        refused = found.ask("POST", "/change", {"gate": gate}, NOW)
        equal((refused.status, refused.json["error"]), (429, "rate_limited"), "one more")
        os.unlink(gate)
        for path in paths:
            found.ended(path)
        equal(found.ask("POST", "/change", {}, NOW).status, 429, "those that have ended count")
        equal(found.ask("DELETE", paths[0]).status, 204, "one is removed")
        found.begin("POST", "/change", {"ms": 20})


@test
def calls_and_answers_have_so_many_bytes_before_they_are_stored():
    def large(kb, **more):
        return {**more, "padding": "x" * (kb * 1000)}
    with Tasks("--task-max-mb", "1", "--task-after-ms", "600000") as found:
        gate = found.gate()
        notes = os.path.join(found.folder, "begun")
        with found.connect() as waits:
            waits.send(server.request("POST", "/change", large(700, gate=gate, file=notes), {"Prefer": "respond-async"}))
            wait_until(lambda: os.path.exists(notes), "the first does not run")
            refused = wait_until(lambda: [one for one in [found.ask("POST", "/change", large(700), NOW)] if one.status == 429], "it is not refused")[0]
            equal(refused.json["error"], "rate_limited", "two calls, of which none is stored")
            os.unlink(gate)
            equal(waits.response("POST", "/change").status, 201, "the first, which is no task")
        _, path = found.begin("POST", "/change", large(700, ms=20))
        found.ended(path)
        equal(found.ask("POST", "/change", large(700), NOW).status, 429, "beside a stored one")
        equal(found.ask("DELETE", path).status, 204, "it is removed")
        found.begin("POST", "/change", large(700, ms=20))


@test
def a_call_with_secrets_counts_until_it_has_ended():
    with Tasks("--task-max-mb", "1", "--tasks", "1") as found:
        gate = found.gate()
        body = {"token": "token-2718281828", "number": 1, "gate": gate, "padding": "x" * 700000}
        _, first = found.begin("POST", "/secret", body)
        equal(found.ask("GET", first).status, 200, "its row")
        refused = found.ask("POST", "/secret", body, NOW)
        equal((refused.status, refused.json["error"]), (429, "rate_limited"), "one more, while the first is in memory")
        os.unlink(gate)
        equal(found.ended(first).json["state"], "succeeded", "its end")
        _, second = found.begin("POST", "/secret", body)
        equal(found.ended(second).json["state"], "succeeded", "one more, when the first has ended")


def two_callers(name):
    """A data folder with two keys: its path, and the fields of a request with each."""
    data = os.path.join(server.FOLDER, name)
    os.mkdir(data)
    keys = [parsed(run_program(PROGRAM, "keys", "add", "--name", one, "--data", data, "--output", "json").out)["data"]["key"] for one in ("ada", "bob")]
    server.secrets.update(keys)
    return data, *({"Authorization": "Bearer " + key} for key in keys)


@tests_of({"of four": (4, 3), "of two": (2, 1), "of nine": (9, 7)})
def one_caller_leaves_places_for_others(places, share):
    data, ada, bob = two_callers("places-%d" % places)
    with Tasks("--require-key", "--tasks", str(places), data=data) as found:
        gate, notes = found.gate(), os.path.join(found.folder, "notes")
        hers = [found.begin("POST", "/change", {"gate": gate, "file": notes, "number": number}, ada)[1] for number in range(places + 2)]
        expect(wait_for(lambda: len(lines(notes)) == share), "hers do not begin:", lines(notes))
        answer = found.ask("POST", "/change", {"number": 77}, {"Prefer": "respond-async, wait=3600", **bob})
        equal((answer.status, answer.json), (201, {"number": 77}), "the call of another caller does not wait for hers")
        states = [found.ask("GET", path, fields=ada).json["state"] for path in hers]
        equal(states.count("running"), share, "her share")
        other = found.gate()
        his = [found.begin("POST", "/change", {"gate": other}, bob)[1] for _ in range(places - share + 1)]
        wait_until(lambda: [found.ask("GET", path, fields=bob).json["state"] for path in his] == ["running"] * (places - share) + ["queued"], "the rest is his")
        os.unlink(gate)
        for path in hers:
            equal(found.ended(path, ada).json["state"], "succeeded", "the end of hers")
        os.unlink(other)
        for path in his:
            equal(found.ended(path, bob).json["state"], "succeeded", "the end of his")


@test
def one_caller_has_all_places_if_the_operator_says_so():
    with Tasks("--tasks", "4", "--caller-share", "100") as found:
        gate = found.gate()
        paths = [found.begin("POST", "/change", {"gate": gate})[1] for _ in range(5)]
        wait_until(lambda: [found.ask("GET", path).json["state"] for path in paths] == ["running"] * 4 + ["queued"], "all places")
        os.unlink(gate)
        for path in paths:
            equal(found.ended(path).json["state"], "succeeded", "its end")


@test
def an_answer_that_is_too_large_fails_and_does_no_harm_to_others():
    if server.SANITIZED:
        raise server.Skipped("it takes too much memory")
    with Tasks() as found:
        gate = found.gate()
        with found.connect() as waits:
            waits.send(server.request("POST", "/change", {"number": 5, "gate": gate}, {"Prefer": "respond-async, wait=3600"}))
            first, path = found.begin("GET", "/large?number=135000")
            equal(found.ended(path).json["state"], "failed", "its end")
            answer = found.ask("GET", path + "/answer")
            equal((answer.status, answer.json["error"]), (500, "internal_server_error"), "its answer")
            expect("too large for a task" in found.wait_for_log(first.id), "no record of why")
            os.unlink(gate)
            equal(waits.response("POST", "/change").status, 201, "another call")


@test
def answers_that_are_not_read_wait_for_their_readers():
    """Each reader gets the whole answer, and the process of tasks has few of them at once."""
    count, size = 40, 8000000
    with Tasks() as found:
        _, path = found.begin("GET", "/large?number=8000")
        equal(found.ended(path).json["state"], "succeeded", "its end")
        first = found.ask("GET", path + "/answer")
        equal(len(first.json["text"]), size, "one answer")
        tasks = next(pid for pid, parent in server.processes() if parent == found.process.pid and server.name_of(pid) == "mishap-tasks")
        before = peak_of(tasks)
        readers = [found.connect().send(server.request("GET", path + "/answer")) for _ in range(count)]
        streams = [found.connect().send(server.request("GET", path, None, {"Accept": "text/event-stream"})) for _ in range(count)]

        def read(one):
            status, _ = server.parse_head(one.take_head())
            return status == 200 and one.take(len(first.body)) == first.body
        with ThreadPoolExecutor(count) as together:  # who reads nothing for long is left by the server
            expect(all(together.map(read, readers)), "an answer")
        for one in streams:
            equal(server.parse_head(one.take_head())[0], 200, "a stream")
        expect(server.SANITIZED or peak_of(tasks) - before < 8 * size, "the memory of the process of tasks:", before, peak_of(tasks))
        for one in readers + streams:
            one.close()


@test
def callers_without_a_name_are_limited_by_address():
    def begun(source):
        with found.connect(source=source) as connection:
            return connection.ask("POST", "/change", {"gate": gate}, NOW)
    with Tasks("--task-limit", "2") as found:
        gate = found.gate()
        paths = []
        for source in ["127.0.0.2", "127.0.0.3"]:
            for _ in range(2):
                one = begun(source)
                equal(one.status, 202, "a task of " + source)
                paths.append(one["Location"])
            equal(begun(source).status, 429, "one more of " + source)
        os.unlink(gate)
        for path in paths:
            equal(found.ended(path).json["state"], "succeeded", "the id is proof enough from another address")
        with found.connect(source="127.0.0.4") as connection:
            equal(connection.ask("DELETE", paths[0]).status, 204, "it is removed")
        equal(begun("127.0.0.3").status, 429, "which makes room for another address")
        equal(begun("127.0.0.2").status, 202, "it makes none for its own")


@test
def secrets_are_neither_stored_nor_told():
    with Tasks() as found:
        gate = found.gate()
        _, path = found.begin("POST", "/secret", {"token": "token-2718281828", "gate": gate})
        files = ["tasks.sqlite", "tasks.sqlite-wal"]

        def stored():
            return b"".join(open(os.path.join(found.data, name), "rb").read() for name in files if os.path.exists(os.path.join(found.data, name)))
        expect(path.split("/")[2][:22].encode() in stored(), "the row")
        expect(wait_for(lambda: found.ask("GET", path).json.get("progress")), "no progress")
        equal(found.ask("GET", path).json["progress"]["message"], "[redacted]", "how far it is")
        os.unlink(gate)
        equal(found.ended(path).json["state"], "failed", "its end")
        answer = found.ask("GET", path + "/answer")
        equal(answer.status, 409, "its answer")
        expect("[redacted]" in answer.json["message"], "the message:", answer.json)
        _, path = found.begin("POST", "/secret", {"token": "token-2718281828", "number": 1, "ms": 20})
        equal(found.ended(path).json["state"], "succeeded", "one with a warning")
        expect("The token was [redacted]." in found.ask("GET", path + "/answer")["Warning"], "no warning")
        expect(b"token-2718281828" not in stored(), "the secret is stored")


@test
def commands_see_all_tasks_and_end_as_the_operation_has():
    def command(*words):
        answer = run_program(PROGRAM, *words, "--data", found.data, "--output", "json")
        return answer.status, parsed(answer.out)

    with Tasks() as found:
        gate = found.gate()
        _, path = found.begin("POST", "/change", {"number": 9, "gate": gate})
        failed, lost = found.begin("GET", "/lack?number=9")
        found.ended(lost)
        one, other = path.split("/")[2], lost.split("/")[2]
        status, listed = command("tasks", "list")
        equal((status, [(row["id"], row["operation"], row["state"]) for row in listed["data"]["tasks"]]),
              (0, [(other, "lack", "failed"), (one, "change", "running")]), "the list")
        equal(listed["data"]["tasks"][0]["incident"], failed.id, "the id in the log")
        equal(command("tasks", "answer", one)[1]["error"]["code"], "CONFLICT", "it has not ended")
        os.unlink(gate)
        status, waited = command("tasks", "wait", one)
        equal((status, waited["data"], waited["warnings"]), (0, {"number": 9}, ["It took a while."]), "its answer")
        direct = run_program(PROGRAM, "lack", "--number", "9", "--output", "json")
        status, answered = command("tasks", "wait", other)
        equal((status, answered["error"]), (direct.status, parsed(direct.out)["error"]), "a failure")
        equal(command("tasks", "show", one)[1]["data"]["state"], "succeeded", "its state")
        for wrong in [one[:-1] + ("A" if one[-1] != "A" else "B"), "x", one + one, one[:22] + "A" * 21]:
            equal(command("tasks", "show", wrong)[1]["error"]["code"], "NOT_FOUND", wrong)
        gate = found.gate()
        _, path = found.begin("POST", "/change", {"gate": gate})
        equal(command("tasks", "cancel", path.split("/")[2])[0], 0, "it is cancelled")
        equal(found.ended(path).json["state"], "cancelled", "its end")
        equal(command("tasks", "cancel", path.split("/")[2])[1]["error"]["code"], "CONFLICT", "it has ended")
    answer = run_program(PROGRAM, "tasks", "list", "--data", server.FOLDER, "--output", "json")
    equal(parsed(answer.out)["error"]["code"], "NOT_CONFIGURED", "another folder")
    absent = os.path.join(server.FOLDER, "absent")
    os.mkdir(absent)
    for store in ["sqlite:%s/absent.sqlite", "sqlite:%s/", "%s/absent.sqlite"]:
        answer = run_program(PROGRAM, "tasks", "list", "--task-store", store % absent, "--output", "json")
        equal((answer.status, parsed(answer.out)["error"]["code"]), (78, "NOT_CONFIGURED"), "a store that does not exist")
    equal(os.listdir(absent), [], "what was made")


@test
def the_password_of_the_store_is_not_in_the_list_of_processes():
    with Tasks("--task-store", "postgresql://ada:hunter2-31415@127.0.0.1:1/none") as found:
        pids = {found.process.pid} | {pid for pid, parent in server.processes() if parent == found.process.pid}
        expect(len(pids) > 1, "no other process:", pids)
        for pid in pids:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                expect(b"hunter2" not in file.read(), "process", pid)
        equal(found.ask("POST", "/change", {"ms": 20}, NOW).status, 201, "a call without its store")


@test
def the_document_has_tasks():
    with Tasks() as found:
        paths = found.ask("GET", "/openapi.json").json["paths"]
        expect("202" in paths["/change"]["post"]["responses"], "no 202")
        expect("202" not in paths["/plain"]["get"]["responses"], "a 202 of what is no task")
        expect(any(one["name"] == "Prefer" for one in paths["/read"]["get"]["parameters"]), "no Prefer")
        for path, method in [("/tasks/{id}", "get"), ("/tasks/{id}", "delete"), ("/tasks/{id}/answer", "get")]:
            expect(method in paths[path], "not described:", path)
    plain = server.server("plain", "--workers", "1", "--service", "artifacts")
    expect("/tasks/{id}" not in plain.ask("GET", "/openapi.json").json["paths"], "a program without tasks")
    equal(plain.ask("GET", "/tasks/x").status, 404, "… has no such path")


@test
def a_server_that_stops_keeps_what_has_not_begun():
    data = os.path.join(server.FOLDER, "stopped")
    os.mkdir(data)
    with Tasks("--tasks", "1", data=data) as found:
        gate, notes = found.gate(), os.path.join(server.FOLDER, "stopped-notes")
        _, first = found.begin("POST", "/change", {"number": 1, "gate": gate, "file": notes})
        _, second = found.begin("POST", "/change", {"number": 2, "file": notes})
        expect(wait_for(lambda: lines(notes)), "it does not begin")
        found.process.send_signal(signal.SIGTERM)
        os.unlink(gate)
        equal(found.wait().status, 0, "its exit")
    with Tasks(data=data) as found:
        equal(found.ended(first).json["state"], "succeeded", "the first")
        equal(found.ended(second).json["state"], "succeeded", "the second")
        equal(found.ask("GET", first + "/answer").json, {"number": 1}, "the answer")
    equal(sorted(line.split()[:2] for line in lines(notes)), [["begin", "1"], ["begin", "2"], ["end", "1"], ["end", "2"]], "what ran")


@test
def a_second_server_of_the_folder_waits_for_calls_as_before():
    with Tasks() as first, Tasks(data=first.data) as second:
        first.ended(first.begin("POST", "/change", {})[1])
        equal(second.ask("POST", "/change", {"ms": 20}, NOW).status, 201, "a call")
        gate = first.gate()
        _, path = first.begin("POST", "/change", {"gate": gate})
        os.unlink(gate)
        equal(first.ended(path).json["state"], "succeeded", "its end")


@test
def a_task_can_be_asked_for_at_another_server_of_its_store():
    path = "sqlite:" + os.path.join(server.FOLDER, "shared.sqlite")
    with Tasks("--task-store", path) as first, Tasks("--task-store", path) as second:
        gate = first.gate()
        _, task = first.begin("POST", "/change", {"number": 3, "gate": gate})
        equal(second.ask("GET", task).json["state"], "running", "its state at the other server")
        os.unlink(gate)
        equal(second.ended(task).json["state"], "succeeded", "its end")
        answer = second.ask("GET", task + "/answer")
        equal((answer.status, answer.json), (201, {"number": 3}), "the answer")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
