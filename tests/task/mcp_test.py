"""Tasks over MCP: the extension io.modelcontextprotocol/tasks, in revision 2026-07-28.

    MISHAP_PROGRAM=… TASK_PROGRAM=… python3 tests/task/mcp_test.py [PART-OF-A-NAME]

Speaks TAP. tests/task/worker.c is the program.
"""
import contextlib
import json
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), HERE]
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from server import Server, wait_until  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TASK_PROGRAM"])
META = "io.modelcontextprotocol/"
TASKS = {"extensions": {META + "tasks": {}}}
server.secrets.add("MISHAP-PRIVATE-7f3a9c")


class Tasks(Server):
    def __init__(self, *flags, **more):
        super().__init__("--workers", "2", "--task-after-ms", "0", *flags, program=PROGRAM, **more)

    def say(self, method, params, capabilities=None, fields=()):
        """One request of the stateless revision: the status, and the message that comes back."""
        meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": TASKS if capabilities is None else capabilities,
                META + "clientInfo": {"name": "test", "version": "1"}}
        name = params.get("taskId", params.get("name"))
        head = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
                **({"Mcp-Name": name} if isinstance(name, str) else {}), **dict(fields)}
        found = self.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}, head, checked=False)
        return found.status, parsed(found.body)

    def result(self, method, params, capabilities=None, fields=()):
        status, message = self.say(method, params, capabilities, fields)
        equal(status, 200, "the status")
        expect("result" in message, "an error:", message)
        return message["result"]

    def error(self, method, params, capabilities=None, fields=()):
        status, message = self.say(method, params, capabilities, fields)
        expect("error" in message, "no error:", message)
        return status, message["error"]

    def gate(self):
        path = os.path.join(self.folder, "gate")
        open(path, "w").close()
        return path

    def ended(self, task, fields=()):
        def look():
            found = self.result("tasks/get", {"taskId": task}, fields=fields)
            return found if found["status"] not in ("working", "input_required") else None
        return wait_until(look, "it does not end")


@test
def a_call_becomes_a_task_and_its_result_is_that_of_the_tool():
    with Tasks() as found:
        gate = found.gate()
        expect(META + "tasks" in found.result("server/discover", {})["capabilities"]["extensions"], "it is not offered")
        task = found.result("tools/call", {"name": "change", "arguments": {"number": 4, "gate": gate}})
        equal((task["resultType"], task["status"], task["ttlMs"]), ("task", "working", None), "the task")
        expect(isinstance(task["pollIntervalMs"], int) and task["lastUpdatedAt"] >= task["createdAt"], "its members:", task)
        expect("content" not in task, "a result, too:", task)
        told = found.result("tasks/get", {"taskId": task["taskId"]})
        equal((told["resultType"], told["status"]), ("complete", "working"), "its state")
        os.unlink(gate)
        told = found.ended(task["taskId"])
        plain = found.result("tools/call", {"name": "change", "arguments": {"number": 4}}, {})
        equal((told["status"], told["resultType"]), ("completed", "complete"), "its end")
        expect(isinstance(told["ttlMs"], int) and told["ttlMs"] > 0, "how long it is kept:", told)
        for member in ["content", "structuredContent"]:
            equal(told["result"].get(member), plain.get(member), member)
        equal(found.result("tasks/update", {"taskId": task["taskId"], "inputResponses": {}})["resultType"], "complete", "an update")


class Listening:
    """A subscriptions/listen, and the messages that it gets."""

    def __init__(self, found, ids, capabilities=None, fields=()):
        meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": TASKS if capabilities is None else capabilities,
                META + "clientInfo": {"name": "test", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": {"notifications": {"taskIds": ids}, "_meta": meta}}
        head = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
                **dict(fields)}
        self.connection = found.connect().send(server.request("POST", "/mcp", message, head))
        self.status, _ = server.parse_head(self.connection.take_head())
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def next(self):
        """The next message; signs of life are left out."""
        connection = self.connection
        while True:
            while b"\n\n" not in self.text:
                while b"\r\n" not in connection.received:
                    expect(connection.more(), "the stream is cut")
                size, connection.received = connection.received.split(b"\r\n", 1)
                self.text += connection.take(int(size, 16) + 2)[:-2]
            event, self.text = self.text.split(b"\n\n", 1)
            for line in event.split(b"\n"):
                if line.startswith(b"data: "):
                    return parsed(line[6:])

    def task(self, condition):
        """The next notification about a task with this."""
        while True:
            message = self.next()
            equal((message["method"], message["params"]["_meta"]), ("notifications/tasks", {META + "subscriptionId": "l"}), "a message")
            if condition(message["params"]):
                return message["params"]


@test
def a_listener_is_told_of_its_tasks():
    with Tasks() as found:
        gate = found.gate()
        task = found.result("tools/call", {"name": "change", "arguments": {"number": 4, "gate": gate}})["taskId"]
        with Listening(found, [task, "x" * 43, task[:-1] + "."]) as listening:
            equal(listening.status, 200, "the status")
            first = listening.next()
            equal((first["method"], first["params"]["notifications"]), ("notifications/subscriptions/acknowledged", {"taskIds": [task]}), "what is followed")
            told = listening.task(lambda one: one.get("statusMessage"))
            equal((told["taskId"], told["status"], told["statusMessage"], "result" in told), (task, "working", "Half of it", False), "how far it is")
            os.unlink(gate)
            told = listening.task(lambda one: one["status"] != "working")
            whole = found.result("tasks/get", {"taskId": task})
            for member in ["status", "result", "createdAt", "lastUpdatedAt", "ttlMs"]:
                equal(told[member], whole[member], member)
        with Listening(found, [task]) as late:
            late.next()
            equal(late.next()["params"]["status"], "completed", "a task that has ended")
        for _ in range(3):
            running = found.result("tools/call", {"name": "change", "arguments": {"gate": found.gate()}})["taskId"]
            with Listening(found, [running]) as left:
                left.next()
                left.task(lambda one: one["status"] == "working")
                left.connection.reset()
            found.result("tasks/cancel", {"taskId": running})
        with Listening(found, [task], {}) as refused:
            equal(refused.status, 400, "a client that has not declared the extension")


@test
def a_task_that_is_named_twice_is_followed_once():
    with Tasks() as found:
        ended = found.result("tools/call", {"name": "change", "arguments": {"ms": 20}})["taskId"]
        found.ended(ended)
        gate = found.gate()
        runs = found.result("tools/call", {"name": "change", "arguments": {"gate": gate}})["taskId"]
        with Listening(found, [ended] * 20 + [runs] + [ended] * 20) as listening:
            equal(listening.next()["params"]["notifications"]["taskIds"], [ended, runs], "what is followed")
            os.unlink(gate)
            told = []
            while not any(one["taskId"] == runs and one["status"] == "completed" for one in told):
                told.append(listening.task(lambda one: True))
            equal(len([one for one in told if one["taskId"] == ended]), 1, "the end of one that has ended")


def kill_process_of_tasks(found):
    family = {found.process.pid}
    for pid, parent in server.processes():
        if parent in family and server.name_of(pid) == "mishap-tasks":
            os.kill(pid, signal.SIGKILL)
            return
    raise RuntimeError("there is no process of tasks")


@test
def a_listener_is_told_by_the_process_that_takes_over():
    with Tasks() as found:
        gate = found.gate()
        task = found.result("tools/call", {"name": "set", "arguments": {"number": 4, "gate": gate}})["taskId"]
        with Listening(found, [task]) as listening:
            listening.next()
            listening.task(lambda one: one.get("statusMessage"))
            kill_process_of_tasks(found)
            os.unlink(gate)
            told = listening.task(lambda one: one["status"] != "working")
            equal((told["status"], told["result"]["structuredContent"]), ("completed", {"number": 4}), "its end")


@test
def one_caller_follows_so_many_tasks():
    with Tasks("--caller-share", "100") as found, contextlib.ExitStack() as streams:
        gate = found.gate()
        many = [found.result("tools/call", {"name": "change", "arguments": {"gate": gate}})["taskId"] for _ in range(64)]
        task = many[0]
        for _ in range(64):
            listening = streams.enter_context(Listening(found, many))
            listening.next()
            for _ in range(64):
                listening.task(lambda one: True)
        refused = found.ask("GET", "/tasks/" + task, fields={"Accept": "text/event-stream"}, checked=False)
        equal((refused.status, found.ask("GET", "/tasks/" + task).status), (503, 200), "one more follower, and one who asks")
        with Listening(found, [task]) as more:
            more.next()
            message = more.next()
            equal((message["id"], message["error"]["data"]["code"]), ("l", "RATE_LIMITED"), "one more listener")
        os.unlink(gate)
        equal(listening.task(lambda one: one["status"] != "working")["status"], "completed", "its end")


@test
def a_tool_that_fails_has_completed():
    with Tasks() as found:
        task = found.result("tools/call", {"name": "lack", "arguments": {"number": 4, "ms": 30}})
        told = found.ended(task["taskId"])
        plain = found.result("tools/call", {"name": "lack", "arguments": {"number": 4}}, {})
        equal((told["status"], told["result"]["isError"]), ("completed", True), "its end")
        one, other = (dict(json.loads(each["content"][0]["text"]), incident=None) for each in (told["result"], plain))
        equal(one, other, "what the model reads")
        found.wait_for_log(json.loads(told["result"]["content"][0]["text"])["incident"])


@test
def a_tool_that_breaks_off_has_failed():
    with Tasks() as found:
        told = found.ended(found.result("tools/call", {"name": "crash", "arguments": {"number": 4}})["taskId"])
        error = told["error"]
        equal((told["status"], "result" in told, error["code"]), ("failed", False, -32603), "a handler that crashed")
        expect("SIGSEGV" not in json.dumps(told), "the private side:", told)
        found.wait_for_log(error["data"]["incident"])
        plain = found.result("tools/call", {"name": "crash", "arguments": {"number": 4}}, {})
        equal(plain["isError"], True, "a call that waits")
        task = found.result("tools/call", {"name": "change", "arguments": {"gate": found.gate()}})["taskId"]
        wait_until(lambda: found.result("tasks/get", {"taskId": task}).get("statusMessage"), "it does not begin")
        kill_process_of_tasks(found)
        told = wait_until(lambda: look(found, task), "it does not end")
        equal((told["status"], told["error"]["code"]), ("failed", -32603), "a process that was killed")


def look(found, task):
    """A task that has ended, though the process of tasks may just be starting."""
    with contextlib.suppress(server.Closed, OSError):
        told = found.say("tasks/get", {"taskId": task})[1].get("result", {})
        return told if told.get("status") not in (None, "working") else None
    return None


@test
def what_is_always_a_task_refuses_clients_that_take_none():
    with Tasks() as found:
        status, error = found.error("tools/call", {"name": "long", "arguments": {"number": 4}}, {})
        equal((status, error["code"], error["data"]["requiredCapabilities"]), (400, -32021, TASKS), "what is missing")
        equal(found.ended(found.result("tools/call", {"name": "long", "arguments": {"number": 4}})["taskId"])["status"], "completed", "a client with tasks")
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        head = {"Accept": "application/json, text/event-stream"}
        session = found.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, head, checked=False)
        head.update({"Mcp-Session-Id": session["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"})
        older = found.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "long", "arguments": {}}}, head, checked=False)
        equal(parsed(older.body)["error"]["code"], -32600, "an older revision")
    with Tasks("--tasks", "0") as found:
        equal(found.result("tools/call", {"name": "long", "arguments": {"number": 4}}, {})["structuredContent"], {"number": 4}, "a server without tasks")


@test
def only_clients_that_declare_it_get_a_task():
    with Tasks() as found:
        for capabilities in [{}, {"extensions": {}}, {"extensions": {META + "tasks": None}}, {"tasks": {}}]:
            equal(found.result("tools/call", {"name": "change", "arguments": {"ms": 30}}, capabilities)["resultType"], "complete", "no task")
            status, error = found.error("tasks/get", {"taskId": "x"}, capabilities)
            equal((status, error["code"], error["data"]["requiredCapabilities"]), (400, -32021, TASKS), "what is missing")
        equal(found.result("tools/call", {"name": "plain", "arguments": {"ms": 30}})["resultType"], "complete", "an operation that is no task")
    with Tasks("--tasks", "0") as found:
        expect("extensions" not in found.result("server/discover", {})["capabilities"], "it is offered")
        equal(found.result("tools/call", {"name": "change", "arguments": {"ms": 30}})["resultType"], "complete", "a server without tasks")
        equal(found.error("tasks/get", {"taskId": "x"})[1]["code"], -32601, "the method")


@test
def a_task_is_cancelled_and_stays_so():
    with Tasks() as found:
        task = found.result("tools/call", {"name": "change", "arguments": {"gate": found.gate()}})["taskId"]
        for _ in range(2):
            equal(found.result("tasks/cancel", {"taskId": task})["resultType"], "complete", "the answer")
            equal(found.ended(task)["status"], "cancelled", "its end")
        expect("result" not in found.ended(task), "a result")


@test
def an_owner_without_the_scope_cancels_and_reads_nothing():
    data = os.path.join(server.FOLDER, "scopes")
    os.mkdir(data)
    key = parsed(run_program(PROGRAM, "keys", "add", "--name", "ada", "--scope", "call,work:do", "--data", data, "--output", "json").out)["data"]["key"]
    server.secrets.add(key)
    fields = {"Authorization": "Bearer " + key}
    with Tasks("--require-key", data=data) as found:
        done = found.result("tools/call", {"name": "scoped", "arguments": {"number": 4, "ms": 30}}, fields=fields)["taskId"]
        equal(found.ended(done, fields)["result"]["structuredContent"], {"number": 4}, "the result")
        runs = found.result("tools/call", {"name": "scoped", "arguments": {"gate": found.gate()}}, fields=fields)["taskId"]
        wait_until(lambda: found.result("tasks/get", {"taskId": runs}, fields=fields).get("statusMessage") == "Half of it", "no progress")
        with open(os.path.join(data, "keys")) as file:
            text = file.read()
        with open(os.open(os.path.join(data, "keys.new"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(text.replace("call,work:do", "call"))
        os.rename(os.path.join(data, "keys.new"), os.path.join(data, "keys"))
        for _ in range(20):  # in each of the loops
            wait_until(lambda: found.say("tools/call", {"name": "scoped", "arguments": {}}, fields=fields)[0] == 403, "the key has its scope")
        wait_until(lambda: "statusMessage" not in found.result("tasks/get", {"taskId": runs}, fields=fields), "progress needs the scope")
        equal(found.result("tasks/get", {"taskId": runs}, fields=fields)["status"], "working", "its state needs no scope")
        error = wait_until(lambda: found.say("tasks/get", {"taskId": done}, fields=fields)[1].get("error"), "the result needs the scope")
        equal((error["code"], "structuredContent" in json.dumps(error)), (-32600, False), "the result does")
        with Listening(found, [done, runs], fields=fields) as listening:
            equal(listening.next()["params"]["notifications"]["taskIds"], [done, runs], "both are hers")
            equal(found.result("tasks/cancel", {"taskId": runs}, fields=fields)["resultType"], "complete", "it is cancelled")
            told = listening.task(lambda one: one["taskId"] == done or one["status"] != "working")
            equal((told["taskId"], told["status"]), (runs, "cancelled"), "what needs no scope")
        equal(found.ended(runs, fields)["status"], "cancelled", "its end")


CAN = {**TASKS, "elicitation": {}}


def asking(found, task, capabilities=None, fields=()):
    def look():
        told = found.result("tasks/get", {"taskId": task}, CAN if capabilities is None else capabilities, fields)
        return told if told["status"] == "input_required" else None
    return wait_until(look, "it does not ask")


def accept(**content):
    return {"action": "accept", "content": content}


@test
def a_task_asks_and_is_answered_by_an_update():
    with Tasks() as found:
        task = found.result("tools/call", {"name": "ask", "arguments": {"number": 3, "both": True}}, CAN)["taskId"]
        told = asking(found, task)
        request = told["inputRequests"]["sure"]
        equal(sorted(told["inputRequests"]), ["place", "sure"], "its requests")
        equal((request["method"], request["params"]["message"], request["params"]["requestedSchema"]["required"]),
              ("elicitation/create", "Do number 3?", ["sure"]), "a request")
        done = found.result("tasks/update", {"taskId": task, "inputResponses": {"sure": accept(sure=True), "none": {"x": 1}}}, CAN)
        equal([key for key in done if key != "_meta"], ["resultType"], "an acknowledgement alone")
        equal(sorted(asking(found, task)["inputRequests"]), ["place"], "what is left")
        for wrong, key in [(accept(place=7), "place-2"), ("x", "place-3")]:
            last = sorted(asking(found, task)["inputRequests"])[0]
            found.result("tasks/update", {"taskId": task, "inputResponses": {last: wrong}}, CAN)
            again = asking(found, task)["inputRequests"]
            equal(sorted(again), [key], "it asks again, under another key")
            expect(again[key]["params"]["message"].startswith("Where? ("), "what is wrong:", again)
        found.result("tasks/update", {"taskId": task, "inputResponses": {"place": accept(place="old")}}, CAN)
        equal(sorted(asking(found, task)["inputRequests"]), ["place-3"], "an answer to what was asked before")
        found.result("tasks/update", {"taskId": task, "inputResponses": {"place-3": accept(place="new")}}, CAN)
        told = found.ended(task)
        equal((told["status"], told["result"]["structuredContent"]["place"]), ("completed", "new"), "its end")
        equal(found.result("tasks/update", {"taskId": task, "inputResponses": {"sure": accept(sure=True)}}, CAN)["resultType"], "complete", "a late answer")
        equal(found.error("tasks/update", {"taskId": task, "inputResponses": 7}, CAN)[1]["code"], -32602, "no answers")


@test
def a_task_that_is_declined_is_cancelled_and_listeners_hear_of_it():
    with Tasks() as found:
        task = found.result("tools/call", {"name": "ask", "arguments": {}}, CAN)["taskId"]
        with Listening(found, [task], CAN) as listening:
            listening.next()
            equal(list(listening.task(lambda one: one["status"] == "input_required")["inputRequests"]), ["sure"], "what it asks")
            found.result("tasks/update", {"taskId": task, "inputResponses": {"sure": {"action": "decline"}}}, CAN)
            listening.task(lambda one: one["status"] == "cancelled")


@test
def a_client_that_cannot_answer_is_asked_nothing():
    with Tasks() as found:
        told = found.result("tools/call", {"name": "ask", "arguments": {"number": 5}})
        expect("taskId" not in told and told["isError"] and "_answers" in json.dumps(told), "what to send:", told)
        task = found.result("tools/call", {"name": "ask", "arguments": {}}, CAN)["taskId"]
        asking(found, task)
        other = found.result("tasks/get", {"taskId": task})
        equal((other["status"], "inputRequests" in other), ("working", False), "another client of the caller")
        early = found.result("tools/call", {"name": "ask", "arguments": {}}, {"elicitation": {}})
        equal(early["resultType"], "input_required", "a client without tasks")


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
        task = found.result("tools/call", {"name": "change", "arguments": {"gate": gate}}, fields=ada)["taskId"]
        for method in ["tasks/get", "tasks/cancel", "tasks/update"]:
            equal(found.error(method, {"taskId": task}, fields=bob)[1]["code"], -32602, "another caller's")
            for wrong in [task[:-1], task + "A", task.swapcase(), "x", "A" * 43, "' OR 1=1--", "A" * 4000]:
                equal(found.error(method, {"taskId": wrong}, fields=ada)[1]["code"], -32602, wrong)
            for wrong in [None, 7, [], {}]:
                equal(found.error(method, {"taskId": wrong}, fields=ada)[1]["code"], -32602, wrong)
            equal(found.error(method, {"taskId": task}, fields={**ada, "Mcp-Name": "x"})[1]["code"], -32020, "another header")
        equal(found.result("tasks/get", {"taskId": task}, fields=ada)["status"], "working", "it is still hers")
        os.unlink(gate)
        equal(found.ended(task, ada)["status"], "completed", "its end")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
