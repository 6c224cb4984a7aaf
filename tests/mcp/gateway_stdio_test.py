"""`mishap mcp-gateway` from outside: every revision, failures with markers in them, servers that die, hang or misbehave, and five clients.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from node import NODE_MODULES, node_22
from talk import (LEGACY, META, MISHAP, MODERN, PATIENCE, WORKSHOP, Server, Skipped, equal, expect, hello, main, notification,
                  request, test, tests_of)
from blackbox import SANITIZED, peak_of, run_program
import journal

HERE = os.path.dirname(os.path.abspath(__file__))
OTHER = os.path.join(HERE, "gateway_server.py")


MOST_KB = 64 << 10  # of a gateway, whatever a server sends


class Gateway(Server):
    """The gateway in front of a server. `words` are its command; by default that of gateway_server.py."""

    def __init__(self, *flags, words=None, revision="2025-06-18"):
        self.folder = tempfile.TemporaryDirectory(prefix="mishap-gateway-")
        self.log = os.path.join(self.folder.name, "log")
        words = words or [sys.executable, OTHER, self.folder.name]
        super().__init__(*flags, "--", *words, program=MISHAP, command="mcp-gateway", revision=revision, env={"MISHAP_LOG": self.log})

    def pids(self):
        with open(os.path.join(self.folder.name, "pids"), encoding="utf-8") as file:
            return [int(line) for line in file]

    def starts(self):
        """When its servers were started, on the monotonic clock of the machine."""
        with open(os.path.join(self.folder.name, "starts"), encoding="utf-8") as file:
            return [float(line) for line in file]

    def processor_seconds(self):
        """What the gateway itself has used, without its servers."""
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def lines_of_server(self):
        with open(os.path.join(self.folder.name, "lines"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def will_answer(self, message):
        with open(os.path.join(self.folder.name, "answer"), "w", encoding="utf-8") as file:
            json.dump(message, file)

    def records(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, "rb") as file:
            return [record for record in journal.records(file.read()) if record["kind"] == "whole"]

    def text(self, tool, **arguments):
        result = self.call(tool, **arguments)
        equal(result.get("isError"), None, "isError of %r" % result)
        return result["content"][0]["text"]

    def failure(self, tool, **arguments):
        result = self.call(tool, **arguments)
        equal(result.get("isError"), True, "isError of %r" % result)
        return json.loads(result["content"][0]["text"])

    def __exit__(self, kind, value, trace):
        super().__exit__(kind, value, trace)
        pids = self.pids() if os.path.exists(os.path.join(self.folder.name, "pids")) else []
        self.folder.cleanup()
        expect_gone(pids)


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def expect_gone(pids):
    deadline = time.monotonic() + PATIENCE
    while any(map(is_running, pids)):
        expect(time.monotonic() < deadline, "processes are left:", [pid for pid in pids if is_running(pid)])
        time.sleep(0.01)


# ---- What passes ---------------------------------------------------------------------------------


def stateless(server, method, params=None):
    return server.ask(method, dict({"_meta": META}, **(params or {})))


@tests_of({revision: revision for revision in [*LEGACY, MODERN]})
def a_server_of_ours_says_the_same_behind_the_Gateway(revision):
    asked = [("tools/list", {}), ("resources/list", {}), ("prompts/list", {}), ("no/such", {}),
             ("tools/call", {"name": "echo", "arguments": {"text": "Ada"}})]
    answers = []
    for server in (Server(revision=revision), Gateway(words=[WORKSHOP, "mcp"], revision=revision)):
        with server:
            ask = stateless if revision == MODERN else lambda server, method, params: server.ask(method, params)
            answers.append([ask(server, *question) for question in asked])
    for direct, behind in zip(*answers):
        if "error" in direct:
            equal(behind["error"]["code"], direct["error"]["code"])
        elif not direct["result"].get("isError"):
            equal(behind, direct)


@test
def a_question_of_the_server_reaches_the_client_and_its_answer_the_server():
    with Gateway() as server:
        server.send(request(1, "tools/call", {"name": "ask", "arguments": {}}))
        question = server.receive()
        equal(question["method"], "elicitation/create")
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}})
        equal(json.loads(server.receive()["result"]["content"][0]["text"]), {"action": "accept"})


@test
def a_client_that_sends_all_at_once_gets_all_answers_before_the_end():
    with tempfile.TemporaryDirectory(prefix="mishap-gateway-") as folder:
        messages = [hello("2025-06-18"), notification("notifications/initialized"),
                    *[request(number, "tools/call", {"name": "echo", "arguments": {"text": "x"}}) for number in range(1, 20)]]
        done = subprocess.run([MISHAP, "mcp-gateway", "--", sys.executable, OTHER, folder], input=b"".join(json.dumps(row).encode() + b"\n" for row in messages),
                              stdout=subprocess.PIPE, timeout=PATIENCE, check=True, env={**os.environ, "MISHAP_LOG": os.path.join(folder, "log")})
        equal(sorted(json.loads(line)["id"] for line in done.stdout.splitlines()), list(range(20)))


@test
def arguments_are_checked_before_the_call():
    with Gateway() as server:
        found = server.failure("echo", txt="x", times="3")
        equal({(row["field"], row["error"]) for row in found["fields"]},
              {("text", "field_required"), ("txt", "unknown_field"), ("times", "invalid_type")})
        equal(server.text("echo", text="again"), "again")
        equal([line["params"]["arguments"] for line in server.lines_of_server() if line["method"] == "tools/call"], [{"text": "again"}])


@test
def only_the_tools_that_are_allowed_are_offered():
    with Gateway("--allow", "echo", "--allow", "pay") as server:
        equal([tool["name"] for tool in server.result("tools/list")["tools"]], ["echo", "pay"])
        equal(server.text("echo", text="x"), "x")
        found = server.failure("eco", text="x")
        equal((found["code"], found["suggestion"]), ("NOT_FOUND", "Did you mean `echo`?"))
        equal(server.failure("die")["code"], "NOT_FOUND")


# ---- Failures ------------------------------------------------------------------------------------

MARKER = "mrkr7Qx9"
LEAKS = {
    "a stack of Python": 'Traceback (most recent call last):\n  File "/srv/app/%s.py", line 3, in <module>\n    run()\nValueError: %s' % (MARKER, MARKER),
    "a stack of Node": "Error: %s\n    at run (/srv/app/%s.js:3:7)\n    at main (/srv/app/x.js:9:1)" % (MARKER, MARKER),
    "a stack of Java": "java.lang.IllegalStateException: %s\n\tat com.example.%s.run(Pay.java:31)\n\tat com.example.Main.main(Main.java:9)" % (MARKER, MARKER),
    "an address with a password": "%s could not connect to postgres://orders:hunter22@db.internal:5432/orders" % MARKER,
    "a key": "%s: 401 for key sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefghij" % MARKER,
    "SQL": "ERROR: duplicate key. SQL: INSERT INTO accounts (name, iban) VALUES ('%s', 'DE12') RETURNING id" % MARKER,
    "an environment": "The environment of %s is\n\nHOME=/root\nPATH=/usr/bin\nAWS_SECRET_ACCESS_KEY=AbCdEfGhIjKlMnOpQrStUvWxYz01\nDB_PASSWORD=hunter22" % MARKER,
}
SHAPES = {
    "a result": lambda text: {"result": {"isError": True, "content": [{"type": "text", "text": text}]}},
    "two blocks": lambda text: {"result": {"isError": True, "content": [{"type": "text", "text": "It failed."}, {"type": "text", "text": text}]}},
    "a structure": lambda text: {"result": {"isError": True, "content": [{"type": "text", "text": "It failed."}], "structuredContent": {"detail": text}}},
    "JSON in a text": lambda text: {"result": {"isError": True, "content": [{"type": "text", "text": json.dumps({"error": text, "stack": text})}]}},
    "members beside it": lambda text: {"result": {"isError": True, "content": [], "_meta": {"debug": text}, "stack": text}},
    "an error": lambda text: {"error": {"code": -32603, "message": text}},
    "an error with data": lambda text: {"error": {"code": -32000, "message": "It failed.", "data": {"stack": text}}},
    "wrong parameters": lambda text: {"error": {"code": -32602, "message": text, "data": [text]}},
    "a method that is missing": lambda text: {"error": {"code": -32601, "message": text, "data": text}},
    "an error of the client": lambda text: {"error": {"code": -32042, "message": text, "data": {"detail": text}}},
    "an error without a number": lambda text: {"error": {"code": "x", "message": text}},
    "an error that is no object": lambda text: {"error": text},
}


@tests_of(SHAPES)
def markers_reach_the_operator_and_no_caller(shape):
    with Gateway() as server:
        for leak, text in LEAKS.items():
            answer = shape(text)
            server.will_answer(answer)
            for method, params in (("tools/call", {"name": "fail", "arguments": {}}), ("resources/read", {"uri": "a:b"})):
                if "error" not in answer and method == "resources/read":
                    continue  # a resource with such a member is one that could be read
                before = len(server.records())
                reply = server.ask(method, params)
                expect(MARKER not in json.dumps(reply), leak, "is in", reply)
                record = server.records()[before]
                # The journal redacts secrets itself, and with them what it cannot tell from them.
                kept = json.dumps([record.get("noted"), record.get("causes")])
                expect(MARKER in kept or leak == "an environment" and "[redacted]" in kept, leak, "is not in the incident:", record)
                expect(record["id"] in json.dumps(reply), "the id is not in", reply)


TASKS = {
    "its status": lambda text: {"status": "failed", "statusMessage": text},
    "its error": lambda text: {"status": "failed", "error": {"code": -32603, "message": text, "data": text}},
    "its result": lambda text: {"status": "completed", "result": {"isError": True, "content": [{"type": "text", "text": text}]}},
}


@tests_of(TASKS)
def markers_of_a_task_that_failed_reach_the_operator_and_no_caller(shape):
    with Gateway() as server:
        for leak, text in LEAKS.items():
            for place in (lambda task: task, lambda task: {"task": task}, lambda task: {"tasks": [task]}):
                server.will_answer({"result": place(dict(shape(text), taskId="t1"))})
                before = len(server.records())
                reply = server.ask("tools/call", {"name": "fail", "arguments": {}})
                expect(MARKER not in json.dumps(reply) and '"t1"' in json.dumps(reply), leak, "is in", reply)
                kept = json.dumps(server.records()[before])
                expect(MARKER in kept or leak == "an environment" and "[redacted]" in kept, leak, "is not in the incident:", kept)


@test
def what_a_tool_says_for_its_caller_stays():
    with Gateway() as server:
        for said, told in {"There is no city Rom.\nDid you mean Rome?": "There is no city Rom.\nDid you mean Rome?",
                           "NotFoundError: There is no city.": "There is no city.",
                           "MCP error -32602: There is no city.": "There is no city.",
                           "": "The operation failed."}.items():
            server.will_answer({"result": {"isError": True, "content": [{"type": "text", "text": said}]}})
            equal(server.failure("fail")["message"], told)
        server.will_answer({"error": {"code": -32602, "message": "There is no city."}})
        equal(server.failure("fail")["code"], "VALIDATION_ERROR")
        equal(len({record["id"] for record in server.records()}), 5)


# ---- Servers that die ----------------------------------------------------------------------------


@tests_of({"read-only": ("die_echo", 2), "idempotent": ("die_idempotent", 2), "neither": ("die", 1)})
def a_call_is_repeated_only_if_that_does_no_harm(tool, times):
    with Gateway() as server:
        if times == 2:
            equal(server.text(tool), "alive")
        else:
            equal(server.failure(tool)["code"], "PARTIAL_FAILURE")
        equal(server.text("echo", text="after it"), "after it")
        lines = server.lines_of_server()
        equal(len([line for line in lines if line.get("params", {}).get("name") == tool]), times)
        equal(len([line for line in lines if line["method"] == "initialize"]), 2)
        equal(len([line for line in lines if line["method"] == "notifications/initialized"]), 2)
        equal(len(server.pids()), 2)


@test
def kills_during_many_calls_leave_none_without_its_answer():
    count, window, rng = 10000, 64, random.Random(7)
    with Gateway() as server:
        equal(server.text("echo", text="x"), "x")
        room, answers = threading.Semaphore(window), {}

        def send():
            for number in range(count):
                room.acquire()
                server.send(request(1000 + number, "tools/call", {"name": ("echo", "pay")[number % 2], "arguments": {"text": "x"}}))
        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        kills, left = 0, 50  # a server is killed when it has answered some more calls
        while len(answers) < count:
            answer = server.receive()
            expect(answer["id"] not in answers, "a second answer:", answer)
            failed = answers[answer["id"]] = answer["result"].get("isError", False)
            left -= not failed
            if left == 0:
                try:
                    os.kill(server.pids()[-1], signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass
                left = rng.randrange(50, 400)
            room.release()
        sender.join()
        equal(set(answers), set(range(1000, 1000 + count)))
        while server.call("echo", text="x").get("isError"):  # the last one may have been killed just now
            time.sleep(0.1)
        expect(kills > 10 and any(answers.values()), "no call has failed,", kills, "kills")
        expect(len(server.pids()) > 10, "no server was started again")


PAUSES = [0, 0.1, 0.2, 0.4, 0.8, 1.6]  # seconds at least from the end of a server to the start of the next one, if each ends without an answer


@test
def a_server_that_keeps_dying_is_started_after_growing_pauses():
    with Gateway() as server:
        equal(server.text("echo", text="x"), "x")
        broken = os.path.join(server.folder.name, "broken")
        open(broken, "w", encoding="utf-8").close()
        before = server.processor_seconds()
        equal(server.failure("die")["code"], "PARTIAL_FAILURE")
        # A call waits while the next start is near. It is answered when the pause is longer than a second; a call that comes then is answered at once.
        # None of them was sent, so each may be repeated, whatever its tool does.
        for tool in ("echo", "pay", "echo", "pay"):
            told = server.failure(tool, text="x")
            equal((told["code"], told["retryable"]), ("UNAVAILABLE", True), tool)
            expect(0 < told["retry_after_ms"] <= 30000, told)
        starts = server.starts()
        expect(len(starts) >= len(PAUSES), "it was started", len(starts), "times")
        gaps = [after - one for one, after in zip(starts, starts[1:])]
        for gap, pause in zip(gaps, PAUSES):
            expect(gap >= pause, "pauses:", gaps)
        expect(server.processor_seconds() - before < 1, "seconds of the processor:", server.processor_seconds() - before)
        os.unlink(broken)
        while (told := server.call("echo", text="again")).get("isError"):  # a server may have found the file just before
            time.sleep(json.loads(told["content"][0]["text"])["retry_after_ms"] / 1000)
        equal(told["content"][0]["text"], "again")
        equal([line["params"]["arguments"] for line in server.lines_of_server() if line.get("params", {}).get("name") in ("echo", "pay")],
              [{"text": "x"}, {"text": "again"}])


@test
def a_server_that_does_not_start_is_told_to_the_client():
    with Gateway(words=[sys.executable, "-c", "raise SystemExit(3)"], revision=None) as server:
        server.send(hello("2025-06-18", 7))
        answer = server.receive()
        equal((answer["id"], answer["error"]["data"]["code"]), (7, "UNAVAILABLE"))


@tests_of({"none": (["/no/such/program"], 127), "not executable": (["/etc/passwd"], 126)})
def a_program_that_cannot_be_started_is_named(words, status):
    done = subprocess.Popen([MISHAP, "mcp-gateway", "--", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = done.communicate(timeout=PATIENCE)
    equal((done.returncode, out), (status, b""))
    expect(words[0].encode() in err, err)


@test
def a_server_that_does_not_greet_is_started_again():
    with Gateway("--start-timeout", "0.3", words=[sys.executable, "-c", "import time; time.sleep(1000)"], revision=None) as server:
        for number in (1, 2):
            server.send(hello("2025-06-18", number))
            equal(server.receive()["error"]["data"]["code"], "UNAVAILABLE")


@test
def the_help_says_what_the_gateway_does_with_a_call():
    words = " ".join(run_program(MISHAP, "mcp-gateway", "--help").err.decode().split())
    for sentence in ("The gateway checks the arguments of each call against the inputSchema of the tool before the server gets the call",
                     "the gateway answers each open call at once with a failure, starts the server again"):
        expect(sentence in words, sentence, "is not in", words)


# ---- Time ----------------------------------------------------------------------------------------


@tests_of({"seconds": (["--timeout", "0.3"],), "milliseconds": (["--timeout-ms", "300"],)})
def a_call_that_takes_too_long_is_cancelled(flags):
    with Gateway(*flags) as server:
        number = server.count + 1
        equal(server.failure("hang")["code"], "TIMEOUT")
        deadline = time.monotonic() + PATIENCE
        while not any(line["method"] == "notifications/cancelled" and line["params"]["requestId"] == number for line in server.lines_of_server()):
            expect(time.monotonic() < deadline, "the server was not told")
            time.sleep(0.01)


@test
def a_call_that_is_cancelled_has_no_answer():
    with Gateway() as server:
        equal(server.text("echo", text="x"), "x")
        server.send(request(1, "tools/call", {"name": "hang", "arguments": {}}), notification("notifications/cancelled", {"requestId": 1}))
        equal(server.text("echo", text="x"), "x")
        equal(server.lines_of_server()[-2]["method"], "notifications/cancelled")
        os.kill(server.process.pid, signal.SIGTERM)
        equal(server.process.wait(PATIENCE), 0)
        server.process.stdin.close()


# ---- Servers that misbehave ----------------------------------------------------------------------


GIGABYTE = {"a gigabyte without a line end": ("x" * 100000, 10000)} if os.environ.get("GIGABYTE") else {}


@tests_of({
    "no JSON": ("hello\n", 1), "a stack": ("Traceback (most recent call last):\n  File\n", 1), "NUL": ("\0\0\n", 1), "no UTF-8": ("\xff\xfe\n", 1),
    "an unknown id": ('{"jsonrpc":"2.0","id":99999,"result":{}}\n', 3), "an id twice": ('{"jsonrpc":"2.0","id":1,"id":2,"result":{}}\n', 1),
    "empty lines": ("\n\r\n  \n", 1), "an answer to nothing": ('{"jsonrpc":"2.0","id":null,"result":{}}\n', 1),
    "an error without an id": ('{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}\n', 1), "a batch of nonsense": ("[1,[],{}]\n", 1),
    "deep nesting": ("[" * 100000 + "\n", 1), "3 MB": ("x" * 1000 + "\n", 3000), "100 MB without a line end": ("x" * 100000, 1000), **GIGABYTE,
})
def a_line_that_is_no_message_costs_itself_only_and_little_memory(raw, times):
    with Gateway() as server:
        if len(raw) * times >= 100_000_000:
            # The answer stands behind it in the same line, and is lost with it.
            server.send(request(1, "tools/call", {"name": "write", "arguments": {"raw": raw, "times": times}}))
        else:
            equal(server.text("write", raw=raw, times=times), "written")
        equal(server.text("echo", text="x"), "x")
        server.records()  # what the journal says of it can be read
        expect(peak_of(server.process.pid) < MOST_KB or SANITIZED, "KB of memory:", peak_of(server.process.pid))
        if len(raw) * times >= 100_000_000:
            server.send(notification("notifications/cancelled", {"requestId": 1}))
            os.kill(server.process.pid, signal.SIGTERM)
            equal(server.process.wait(PATIENCE), 0)
            server.process.stdin.close()


@tests_of({
    "a result and an error": {"result": {"content": []}, "error": {"code": 1, "message": "hunter2"}}, "neither": {"said": "hunter2"},
    "an error that is a text": {"error": "hunter2"},
})
def an_answer_that_cannot_be_read_fails_its_call_at_once(answer):
    with Gateway() as server:
        server.will_answer(answer)
        told = server.failure("fail")
        expect("hunter2" not in json.dumps(told), told)
        equal(server.text("echo", text="x"), "x")


@test
def a_line_of_the_client_that_is_too_long_is_refused():
    with Gateway() as server:
        server.send(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (17 << 20) + b'"}\n')
        equal(server.receive()["error"]["data"]["code"], "CONTENT_TOO_LARGE")
        equal(server.text("echo", text="x"), "x")


@test
def nothing_is_left_of_a_server_with_daemons():
    with Gateway() as server:
        equal(server.text("daemon"), "left behind")
        deadline = time.monotonic() + PATIENCE
        while len(server.pids()) < 2:
            expect(time.monotonic() < deadline, "there is no daemon")
            time.sleep(0.01)
        equal(server.failure("die")["code"], "PARTIAL_FAILURE")
        expect_gone(server.pids()[:2])
        equal(server.text("daemon"), "left behind")


@test
def a_server_that_ignores_the_end_is_killed():
    with Gateway() as server:
        equal(server.text("stubborn"), "stubborn")


@test
def a_gateway_that_is_killed_leaves_no_server():
    with Gateway() as server:
        equal(server.text("stubborn"), "stubborn")
        server.process.kill()
        server.process.wait(PATIENCE)
        expect_gone(server.pids())
        server.process.stdin.close()


@test
def a_client_that_sends_much_and_reads_late_gets_everything():
    with Gateway() as server:
        text = "x" * 100000
        count = 400
        sender = threading.Thread(target=lambda: [server.send(request(i, "tools/call", {"name": "echo", "arguments": {"text": text}}))
                                                  for i in range(count)], daemon=True)
        sender.start()
        sender.join()
        equal(sorted(server.receive()["id"] for i in range(count)), list(range(count)))


@test
def a_server_that_does_not_read_any_more_is_replaced():
    with Gateway("--timeout", "2") as server:
        server.call("stubborn")  # it reads nothing from now on
        numbers = list(range(100, 112))
        for number in numbers:
            server.send(request(number, "tools/call", {"name": "pay", "arguments": {"text": "x" * 1000000}}))
        answers = {}
        while set(answers) != set(numbers):
            answer = server.receive()
            expect(answer["id"] not in answers, answer, "comes twice")
            answers[answer["id"]] = answer
        expect(any(answer["result"].get("isError") for answer in answers.values()), "all are answered by a server that does not read")
        deadline = time.monotonic() + PATIENCE
        while server.call("echo", text="again").get("isError"):  # the next one may need more than two seconds to start
            expect(time.monotonic() < deadline, "no other server answers")
        equal(len(server.pids()), 2, "servers")


# ---- Five clients --------------------------------------------------------------------------------

CLIENTS = ["SDK 1.x", "SDK 2.x, stateless", "SDK 2.x, older revision", "@langchain/mcp-adapters", "@ai-sdk/mcp"]
rows = {}


def ask_clients():
    node = node_22()
    servers = {"echo": os.path.join(HERE, "../../bench/mcp/sdk_server.mjs"), "throwing": os.path.join(HERE, "../audit/throwing_server.mjs")}
    calls = {"echo": [["echo", {"text": "hello"}], ["echo", {"txt": 7}], ["ecko", {}]],
             "throwing": [["list_orders", {"customer": "Ada", "limit": 3}], ["list_orders", {"customer": 3}]]}
    with tempfile.TemporaryDirectory(prefix="mishap-gateway-") as data:
        plan = {"data": data, "calls": calls,
                "programs": {name: {"command": MISHAP, "args": ["mcp-gateway", "--", node, script, NODE_MODULES], "env": {"MISHAP_LOG": "DATA/log"}}
                             for name, script in servers.items()}}
        done = subprocess.run([node, os.path.join(HERE, "examples.mjs"), NODE_MODULES], input=json.dumps(plan).encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            rows[row["client"], row["program"]] = row
        rows.setdefault("stderr", done.stderr.decode(errors="replace")[-1000:])


def said(answer):
    return json.dumps(answer)


@tests_of({client: client for client in CLIENTS})
def a_typescript_server_behind_the_gateway_is_understood_by(client):
    if not rows:
        ask_clients()
    for program in ("echo", "throwing"):
        row = rows.get((client, program))
        expect(row, "no answer of the client; stderr:", rows["stderr"])
        if row.get("missing"):
            raise Skipped("it is not installed")
        expect("thrown" not in row, row)
    echo, throwing = rows[client, "echo"]["answers"], rows[client, "throwing"]["answers"]
    expect("hello" in said(echo[0]), echo[0])
    expect("text is required" in said(echo[1]) or "did not match expected schema" in said(echo[1]), echo[1])  # LangChain checks it itself
    expect("Did you mean `echo`?" in said(echo[2]) or "Cannot read properties" in said(echo[2]), echo[2])  # LangChain has no such tool
    for answer in throwing:
        expect("hunter2" not in said(answer) and "10.1.2.3" not in said(answer), answer)
    expect("incident" in said(throwing[0]), throwing[0])
    expect("limit is required" in said(throwing[1]) or "did not match expected schema" in said(throwing[1]), throwing[1])


main()
