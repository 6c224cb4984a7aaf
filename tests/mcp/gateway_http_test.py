"""`mishap mcp-gateway` over HTTP: --listen for clients, --to for servers, and one in front of the other."""
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from node import NODE_MODULES, node_22
from talk import LEGACY, META, MISHAP, MODERN, PATIENCE, Skipped, equal, expect, hello, main, notification, request, test, tests_of
from blackbox import SANITIZED, peak_of
from gateway_behind import BEARER, MARKER, Behind, Serving, event
import journal

HERE = os.path.dirname(os.path.abspath(__file__))
OTHER = os.path.join(HERE, "gateway_server.py")
CONFORMANCE = os.environ.get("CONFORMANCE_PROGRAM")
BOTH = "application/json, text/event-stream"


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(holds, *why):
    deadline = time.monotonic() + PATIENCE
    while not holds():
        expect(time.monotonic() < deadline, *why)
        time.sleep(0.01)


def descendants(pid):
    """The processes below a process, without those that have ended."""
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), encoding="utf-8") as file:
                for child in map(int, file.read().split()):
                    found += ([child] if is_running(child) else []) + descendants(child)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def words_of(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().split(b"\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


MOST_KB = 64 << 10  # of each process of a gateway, whatever a server sends


def expect_little_memory(process):
    """Of a gateway, and of the process in it that speaks HTTP."""
    peaks = {pid: peak_of(pid) for pid in [process.pid, *descendants(process.pid)] if b"mcp-gateway" in words_of(pid)}
    expect(len(peaks) > 1 and max(peaks.values()) < MOST_KB or SANITIZED, "KB of memory:", peaks)


class Listening:
    """The gateway behind HTTP, in front of gateway_server.py or other words."""

    def __init__(self, *flags, words=None, port=0):
        self.folder = tempfile.TemporaryDirectory(prefix="mishap-gateway-")
        words = words or [sys.executable, OTHER, self.folder.name]
        command = [MISHAP, "mcp-gateway", "--listen", "127.0.0.1:%d" % port, *flags, *(["--", *words] if words != ["none"] else [])]
        self.log = os.path.join(self.folder.name, "log")
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "MISHAP_LOG": self.log})
        said = self.process.stderr.readline().decode()
        expect(said.startswith("listening on http://127.0.0.1:"), said)
        self.port = int(said.rsplit(":", 1)[1])
        self.url = "http://127.0.0.1:%d/mcp" % self.port
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def pids(self):
        with open(os.path.join(self.folder.name, "pids"), encoding="utf-8") as file:
            return [int(line) for line in file]

    def gateways(self):
        """The processes of its sessions."""
        return [pid for pid in descendants(self.process.pid) if b"mcp-gateway" in words_of(pid) and b"--listen" not in words_of(pid)]

    def lines(self):
        """What its servers have got."""
        try:
            with open(os.path.join(self.folder.name, "lines"), encoding="utf-8") as file:
                return [json.loads(line) for line in file.read().split("\n")[:-1]]
        except FileNotFoundError:
            return []

    def records(self):
        with open(self.log, "rb") as file:
            return [record for record in journal.records(file.read()) if record["kind"] == "whole"]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.process.terminate()
        equal(self.process.wait(PATIENCE), 0, "exit status")
        pids = self.pids() if os.path.exists(os.path.join(self.folder.name, "pids")) else []
        self.folder.cleanup()
        wait_for(lambda: not any(map(is_running, pids)), "processes are left")


def send(port, body, session=None, method="POST", **fields):
    """A request; the response is still to be read."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    fields = {"Accept": BOTH, **({"Mcp-Session-Id": session} if session else {}), **{key.replace("_", "-"): value for key, value in fields.items()}}
    if body is not None:
        fields["Content-Type"] = "application/json"
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        link.request(method, "/mcp", body, fields)
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused before the body was read; the response is there
    return link.getresponse()


def events(response):
    for line in response:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def answers(response):
    """What a response says, as messages."""
    kind = response.getheader("Content-Type")
    if kind == "text/event-stream":
        return list(events(response))
    text = response.read()
    return [json.loads(text)] if text else []


def begin(server, revision="2025-06-18"):
    response = send(server.port, hello(revision))
    equal(response.status, 200)
    session = response.getheader("Mcp-Session-Id")
    expect(session, "no session")
    equal(answers(response)[0]["result"]["protocolVersion"], revision)
    equal(send(server.port, notification("notifications/initialized"), session).status, 202)
    return session


def call(tool, number=1, **arguments):
    return request(number, "tools/call", {"name": tool, "arguments": arguments})


def modern(tool, number=1, meta=None, **arguments):
    return request(number, "tools/call", {"name": tool, "arguments": arguments, "_meta": {**META, **(meta or {})}})


def text(message):
    return message["result"]["content"][0]["text"]


# ---- Clients over HTTP ---------------------------------------------------------------------------


@tests_of({revision: revision for revision in LEGACY})
def a_session_has_calls_and_checks(revision):
    with Listening() as server:
        session = begin(server, revision)
        equal(text(answers(send(server.port, call("echo", 7, text="Ada"), session))[0]), "Ada")
        wrong = answers(send(server.port, call("echo", "x", txt="Ada"), session))[0]
        equal((wrong["id"], wrong["result"]["isError"]), ("x", True))
        expect("did you mean text" in text(wrong), wrong)


@test
def a_request_of_the_stateless_revision_needs_no_session():
    with Listening() as server:
        for number in (1, "1", 2):
            answer = answers(send(server.port, modern("echo", number, text="Ada")))[0]
            equal((answer["id"], text(answer)), (number, "Ada"))
        equal(len(server.pids()), 1, "servers")


@test
def clients_of_the_stateless_revision_do_not_get_the_answers_of_each_other():
    with Listening() as server:
        found = {}

        def ask(name):
            found[name] = [text(answers(send(server.port, modern("echo", 1, text="%s %d" % (name, i))))[0]) for i in range(50)]
        threads = [threading.Thread(target=ask, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(found, {name: ["%s %d" % (name, i) for i in range(50)] for name in "abcd"})


@test
def a_client_of_the_stateless_revision_that_leaves_has_cancelled():
    with Listening() as server:
        link = socket.create_connection(("127.0.0.1", server.port))
        body = json.dumps(modern("hang")).encode()
        link.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                     % (BOTH.encode(), len(body), body))
        lines = os.path.join(server.folder.name, "lines")
        said = lambda word: os.path.exists(lines) and word in open(lines, encoding="utf-8").read()
        wait_for(lambda: said('"hang"'), "the call does not come")
        link.close()
        wait_for(lambda: said("notifications/cancelled"), "it is not cancelled")


@test
def each_session_has_a_server_of_its_own_that_ends_with_it():
    with Listening() as server:
        one, two = begin(server), begin(server)
        for session in (one, two):
            equal(text(answers(send(server.port, call("echo", 1, text=session), session))[0]), session)
        pids = server.pids()
        equal(len(pids), 2)
        equal(send(server.port, None, one, "DELETE").status, 204)
        wait_for(lambda: sum(map(is_running, pids)) == 1, "the server of the session is left")
        equal(send(server.port, call("echo", text="x"), one).status, 404)
        equal(text(answers(send(server.port, call("echo", 1, text="x"), two))[0]), "x")


@test
def a_server_that_dies_leaves_the_session_as_it_is():
    with Listening() as server:
        session = begin(server)
        died = answers(send(server.port, call("die"), session))[0]
        expect("PARTIAL_FAILURE" in json.dumps(died) or "not known what was done" in text(died), died)
        equal(text(answers(send(server.port, call("echo", 1, text="x"), session))[0]), "x")
        equal(len(server.pids()), 2)


@test
def a_question_of_the_server_reaches_the_client_on_the_stream_of_its_call():
    with Listening() as server:
        session = begin(server)
        response = send(server.port, call("ask", 5), session)
        stream = events(response)
        question = next(stream)
        equal(question["method"], "elicitation/create")
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
        equal(send(server.port, answer, session).status, 202)
        equal(json.loads(text(next(stream))), {"action": "accept"})
        equal(list(stream), [])


@tests_of({"session": True, "stateless": False})
def progress_comes_before_the_answer(in_session):
    with Listening() as server:
        session = begin(server) if in_session else None
        params = {"name": "progress", "arguments": {"times": 3, "pause": 0}, "_meta": {"progressToken": "t", **({} if in_session else META)}}
        found = answers(send(server.port, request(9, "tools/call", params), session))
        equal([message.get("method") or message["id"] for message in found], ["notifications/progress"] * 3 + [9])


@test
def what_belongs_to_no_request_comes_on_the_stream_of_the_session():
    with Listening() as server:
        session = begin(server)
        changed = json.dumps(notification("notifications/tools/list_changed")) + "\n"
        response = send(server.port, None, session, "GET", Accept="text/event-stream")
        equal(response.status, 200)
        equal(send(server.port, None, session, "GET", Accept="text/event-stream").status, 409)
        stream = events(response)
        equal(text(answers(send(server.port, call("write", 1, raw=changed), session, Accept="application/json"))[0]), "written")
        equal(next(stream)["method"], "notifications/tools/list_changed")
        equal(send(server.port, None, session, "DELETE").status, 204)
        equal(list(stream), [])


@test
def a_batch_gets_all_its_answers():
    with Listening() as server:
        session = begin(server, "2025-03-26")
        found = answers(send(server.port, [request(1, "ping"), call("echo", 2, text="x"), notification("notifications/none")], session))
        equal(sorted(message["id"] for message in (found[0] if isinstance(found[0], list) else found)), [1, 2])


@tests_of({
    "no JSON": (b"{", {}, 400), "no message": (b"{}", {}, 400), "no session": (json.dumps(call("echo")).encode(), {}, 400),
    "an unknown session": (json.dumps(call("echo")).encode(), {"Mcp_Session_Id": "x"}, 404),
    "a page of another origin": (json.dumps(hello("2025-06-18")).encode(), {"Origin": "http://evil.example"}, 403),
    "an Accept of neither": (json.dumps(hello("2025-06-18")).encode(), {"Accept": "text/html"}, 406),
    "a message of 17 MB": (b'"' + b"x" * (17 << 20) + b'"', {}, 413),
})
def a_request_is_refused(body, fields, status):
    with Listening() as server:
        response = send(server.port, body, **fields)
        found = answers(response)
        equal(response.status, status)
        equal(set(found[0]["error"]) >= {"code", "message"}, True)
        begin(server)


@test
def too_many_sessions_are_refused_and_those_there_go_on():
    with Listening(words=[sys.executable, "-c", "import time; time.sleep(1000)"]) as server:
        links = []
        for _ in range(128):
            link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            link.request("POST", "/mcp", json.dumps(hello("2025-06-18")), {"Content-Type": "application/json", "Accept": BOTH})
            links.append(link)
        statuses = []

        def is_full():
            sent = send(server.port, b"{}")  # it is answered behind those that came before
            sent.read()
            link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=1)
            link.request("POST", "/mcp", json.dumps(hello("2025-06-18")), {"Content-Type": "application/json", "Accept": BOTH})
            try:
                statuses.append(link.getresponse().status)
            except TimeoutError:
                return False
            return True
        wait_for(is_full, "there is no limit")
        equal(statuses[-1], 503)
        for link in links:
            link.close()

        def has_room():  # clients that leave before they know their session end it
            link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=1)
            link.request("POST", "/mcp", json.dumps(hello("2025-06-18")), {"Content-Type": "application/json", "Accept": BOTH})
            try:
                return link.getresponse().status != 503
            except TimeoutError:
                return True
        wait_for(has_room, "the sessions of those who left stay")


@test
def processes_of_sessions_that_have_ended_count_until_they_end():
    with Listening(words=[sys.executable, "-c", "import time; time.sleep(1000)"]) as server:
        def fill():
            links = []
            while len(links) < 200:
                link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
                link.request("POST", "/mcp", json.dumps(hello("2025-06-18")), {"Content-Type": "application/json", "Accept": BOTH})
                links.append(link)
                equal(send(server.port, b"{}").read() != b"", True)  # it is answered behind the one before
                if select.select([link.sock], [], [], 0)[0]:
                    equal(link.getresponse().status, 503)
                    break
            return links
        stopped = set()
        try:
            links = fill()
            for pid in server.gateways():
                os.kill(pid, signal.SIGSTOP)  # the sessions end, their processes do not
                stopped.add(pid)
            equal(len(stopped), 128)
            for link in links:
                link.close()
            deadline = time.monotonic() + PATIENCE
            more = []
            while len(server.gateways()) < 152:
                expect(time.monotonic() < deadline, "there is no room", len(server.gateways()))
                more += fill()
            equal(len(fill()), 1)
            equal(len(server.gateways()), 152)
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        for link in more:
            link.close()


@test
def a_session_that_is_deleted_ends_the_calls_of_its_server():
    with Listening("--timeout", "3000") as server:
        session = begin(server)
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        link.request("POST", "/mcp", json.dumps(call("hang")), {"Content-Type": "application/json", "Accept": BOTH, "Mcp-Session-Id": session})
        wait_for(lambda: any(line.get("method") == "tools/call" for line in server.lines()), "the call does not come")
        equal(send(server.port, None, session, "DELETE").status, 204)
        equal(link.getresponse().status, 404)
        wait_for(lambda: not server.gateways(), "the gateway waits for the call")


@test
def a_greeting_that_is_refused_leaves_no_process():
    with Listening() as server:
        equal(send(server.port, hello("2025-06-18"), Accept="text/html").status, 406)
        wait_for(lambda: not server.gateways(), "a gateway is left")


@test
def a_batch_may_cancel_its_own_request():
    with Listening() as server:
        session = begin(server, "2025-03-26")
        cancel = notification("notifications/cancelled", {"requestId": 5})
        for _ in range(3):
            equal(send(server.port, [call("hang", 5), cancel], session).status, 202)
            found = answers(send(server.port, [call("hang", 5), call("echo", 6, text="x"), cancel], session))[0]
            equal([message["id"] for message in found], [6])
        equal(text(answers(send(server.port, call("echo", 7, text="Ada"), session))[0]), "Ada")
        equal(len(server.pids()), 1, "servers")


@test
def answers_of_a_batch_have_a_limit_together():
    with Listening() as server:
        session = begin(server, "2025-03-26")
        with open(os.path.join(server.folder.name, "answer"), "w", encoding="utf-8") as file:
            json.dump({"result": {"content": [{"type": "text", "text": "x" * (15 << 20)}]}}, file)
        found = answers(send(server.port, [call("fail", number) for number in range(6)], session))[0]
        equal(sorted(message["id"] for message in found), list(range(6)))
        equal(sum("result" in message for message in found), 4)
        equal({message["error"]["code"] for message in found if "error" in message}, {-32603})


@test
def a_greeting_in_the_stateless_revision_disturbs_no_other_client():
    with Listening() as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        params = {"name": "progress", "arguments": {"times": 20, "pause": 0.05}, "_meta": {**META, "progressToken": "a"}}
        link.request("POST", "/mcp", json.dumps(request(1, "tools/call", params)), {"Content-Type": "application/json", "Accept": BOTH})
        greeting = hello("2025-06-18")
        greeting["params"]["_meta"] = META
        equal(send(server.port, greeting).status, 400)
        body = json.dumps(greeting).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as early:
            early.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                          % (BOTH.encode(), len(body), body))
        found = answers(link.getresponse())
        equal((len(found), text(found[-1])), (21, "done"))
        equal(len(server.pids()), 1, "servers")


@test
def progress_of_a_stateless_client_reaches_no_other_one_with_the_same_token():
    with Listening() as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        link.request("POST", "/mcp", json.dumps(modern("hang", 1, {"progressToken": "t"})), {"Content-Type": "application/json", "Accept": BOTH})
        wait_for(lambda: any(line.get("method") == "tools/call" for line in server.lines()), "the call does not come")
        params = {"name": "progress", "arguments": {"times": 3, "pause": 0}, "_meta": {**META, "progressToken": "t"}}
        found = answers(send(server.port, request(9, "tools/call", params)))
        equal([message.get("method") or message["id"] for message in found], ["notifications/progress"] * 3 + [9])
        equal({message["params"]["progressToken"] for message in found[:3]}, {"t"})
        tokens = [line["params"]["_meta"]["progressToken"] for line in server.lines() if line.get("method") == "tools/call"]
        equal((len(set(tokens)), "t" in tokens), (2, False))
        expect(not select.select([link.sock], [], [], 0)[0], "the other client is told")
        link.close()


@tests_of({"no sessions": (None, BOTH), "no stream": ("2025-06-18", "application/json")})
def a_question_that_cannot_be_delivered_is_answered_with_an_error(revision, accept):
    with Listening() as server:
        session = begin(server, revision) if revision else None
        found = answers(send(server.port, call("ask") if session else modern("ask"), session, Accept=accept))[0]
        expect(json.loads(text(found))["code"] in (-32601, -32603), found)


@test
def a_question_waits_for_the_stream_of_its_session():
    with Listening() as server:
        session = begin(server)
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        link.request("POST", "/mcp", json.dumps(call("ask")), {"Content-Type": "application/json", "Accept": "application/json", "Mcp-Session-Id": session})
        stream = send(server.port, None, session, "GET", Accept="text/event-stream")
        question = next(events(stream))
        equal(question["method"], "elicitation/create")
        equal(send(server.port, {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}, session).status, 202)
        equal(json.loads(text(answers(link.getresponse())[0])), {"action": "accept"})
        stream.close()


@test
def a_question_to_a_client_that_has_left_is_answered_with_an_error():
    with Listening() as server:
        session = begin(server)
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        link.request("POST", "/mcp", json.dumps(call("ask")), {"Content-Type": "application/json", "Accept": BOTH, "Mcp-Session-Id": session})
        response = link.getresponse()
        equal(next(events(response))["method"], "elicitation/create")
        response.close()
        link.close()
        wait_for(lambda: any("error" in line for line in server.lines()), "the server still waits")


@test
def a_carriage_return_in_a_message_does_not_end_its_event():
    with Listening() as server:
        session = begin(server)
        changed = json.dumps(notification("notifications/tools/list_changed")).replace(" ", "\r") + "\n"
        stream = send(server.port, None, session, "GET", Accept="text/event-stream")
        equal(text(answers(send(server.port, call("write", 1, raw=changed), session, Accept="application/json"))[0]), "written")
        line = next(line for line in stream if line.startswith(b"data: "))
        equal((b"\r" in line, json.loads(line[6:])["method"]), (False, "notifications/tools/list_changed"))


CLIENTS = {"SDK 1.x": "one", "SDK 2.x": "two", "SDK 2.x, older revision": "two-older"}


@tests_of(CLIENTS)
def the_typescript_clients_work_over_http(which):
    node = node_22()
    if not os.path.exists(os.path.join(NODE_MODULES, "@modelcontextprotocol")):
        raise Skipped("the SDKs are not installed")
    with Listening(words=[sys.executable, OTHER, tempfile.gettempdir()]) as server:
        script = """
import { createRequire } from 'node:module'; import { pathToFileURL } from 'node:url';
const [modules, which, url] = process.argv.slice(1); const require = createRequire(modules + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const one = which === 'one';
const { Client } = await load(one ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
const { StreamableHTTPClientTransport } = await load(one ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client');
const info = { name: 'test', version: '1' };
const client = one ? new Client(info) : new Client(info, { versionNegotiation: { mode: which === 'two' ? 'auto' : 'legacy' } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const call = (name, args) => one ? client.callTool({ name, arguments: args }) : client.callTool({ name, arguments: args });
const said = [(await client.listTools()).tools.length, await call('echo', { text: 'Ada' }), await call('echo', { txt: 'Ada' }), await call('die', {}),
  await call('echo', { text: 'after' })];
console.log(JSON.stringify(said)); await client.close(); process.exit(0);
"""
        done = subprocess.run([node, "--input-type=module", "-e", script, NODE_MODULES, which, server.url], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        expect(done.returncode == 0, done.stderr.decode()[-1500:])
        tools, good, wrong, died, after = json.loads(done.stdout)
        equal((tools, good["content"][0]["text"], after["content"][0]["text"]), (12, "Ada", "after"))
        equal((wrong["isError"], died["isError"]), (True, True))
        expect("did you mean text" in json.dumps(wrong), wrong)


# ---- Servers behind HTTP -------------------------------------------------------------------------


@tests_of({revision: revision for revision in [*LEGACY, MODERN]})
def a_server_behind_http_serves_a_client_on_standard_input(revision):
    with Listening() as server, Behind(server.url, revision=revision) as client:
        meta = {"_meta": META} if revision == MODERN else {}
        ask = lambda arguments: client.result("tools/call", {"name": "echo", "arguments": arguments, **meta})
        equal(ask({"text": "Zwölf\n\U0001F94A"})["content"][0]["text"], "Zwölf\n\U0001F94A")
        equal(ask({"txt": "x"})["isError"], True)
        for number in range(200, 264):
            client.send(request(number, "tools/call", {"name": "echo", "arguments": {"text": str(number)}, **meta}))
        found = {answer["id"]: answer["result"]["content"][0]["text"] for answer in (client.receive() for _ in range(64))}
        equal(found, {number: str(number) for number in range(200, 264)})


@test
def a_question_of_a_server_behind_http_is_answered():
    with Listening() as server, Behind(server.url) as client:
        client.send(request(1, "tools/call", {"name": "ask", "arguments": {}}))
        question = client.receive()
        equal(question["method"], "elicitation/create")
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}})
        equal(json.loads(client.receive()["result"]["content"][0]["text"]), {"action": "accept"})


@test
def a_server_behind_http_that_was_started_again_is_greeted_again():
    with Listening() as server:
        with Behind(server.url) as client:
            equal(client.call("echo", text="x")["content"][0]["text"], "x")
            server.process.terminate()
            server.process.wait(PATIENCE)
            with Listening(port=server.port):
                deadline = time.monotonic() + PATIENCE
                while client.call("echo", text="x").get("isError"):
                    expect(time.monotonic() < deadline, "it does not come back")
                equal(client.call("echo", text="again")["content"][0]["text"], "again")


def endless(handler, number, right, pieces=400):  # 40 MB without a line end
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    try:
        for _ in range(pieces):
            handler.wfile.write(b"x" * 100000)
        handler.wfile.write(b"\n\n" + event(right))
    except OSError:
        pass
    handler.close_connection = True


def endless_error(handler, number, right):
    handler.send_response(500)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(MARKER.encode() * 10000)
    except OSError:
        pass
    handler.close_connection = True


def slowly(handler, number, right):
    """A page of an error, byte by byte."""
    page = ("<html>%s at /srv/app/x.py</html>" % MARKER).encode()
    handler.send_response(500)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", str(len(page)))
    handler.end_headers()
    for byte in page:
        handler.wfile.write(bytes([byte]))
        time.sleep(0.002)


ACTS = {
    # what it does: what is answered, as a piece of the result
    "an error of HTTP": (lambda h, n, r: h.say(503, ("<html>%s at /srv/app/x.py</html>" % MARKER).encode(), "text/html"), "SERVICE_UNAVAILABLE"),
    "an error of JSON-RPC with 400": (lambda h, n, r: h.say(400, {"jsonrpc": "2.0", "id": n, "error": {"code": -32602, "message": "No such city."}}), "No such city."),
    "one without an id": (lambda h, n, r: h.say(400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "No such city."}}), "No such city."),
    "no answer in a 200": (lambda h, n, r: h.say(200, {"jsonrpc": "2.0", "id": 9999, "result": {}}), "HTTP status 200"),
    "202 for a request": (lambda h, n, r: h.say(202, b""), "HTTP status 202"),
    "a page in a 200": (lambda h, n, r: h.say(200, ("<html>%s</html>" % MARKER).encode(), "text/html"), "HTTP status 200"),
    "a redirect": (lambda h, n, r: h.say(302, b""), "HTTP status 302"),
    "no session any more": (lambda h, n, r: h.say(404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}), "not known what"),
    "a wrong length": (lambda h, n, r: (h.say(200, r, length=100000), setattr(h, "close_connection", True)), "not known what"),
    "no response": (lambda h, n, r: setattr(h, "close_connection", True), "not known what"),
    "no HTTP": (lambda h, n, r: (h.wfile.write(b"hello\r\n\r\n"), setattr(h, "close_connection", True)), "not known what"),
    "events": (lambda h, n, r: h.say(200, b": x\n\nid: 1\nevent: message\n" + event(r), "text/event-stream"), "right"),
    "events with CR": (lambda h, n, r: h.say(200, event(r, "\r"), "text/event-stream"), "right"),
    "events with CR LF": (lambda h, n, r: h.say(200, event(r, "\r\n"), "text/event-stream; charset=utf-8"), "right"),
    "events behind a mark of the byte order": (lambda h, n, r: h.say(200, b"\xef\xbb\xbf" + event(r), "text/event-stream"), "right"),
    "an event in two lines": (lambda h, n, r: h.say(200, json.dumps(r).replace(', "result"', ',\n"result"').join(["data: ", "\n\n"]).replace(
        "\n\"", "\ndata: \"").encode(), "text/event-stream"), "right"),
    "events of another kind": (lambda h, n, r: h.say(200, b"event: other\n" + event({"x": 1}) + event(r), "text/event-stream"), "right"),
    "events without an answer": (lambda h, n, r: h.say(200, event({"jsonrpc": "2.0", "method": "notifications/none"}), "text/event-stream"), "HTTP status 200"),
    "an answer twice": (lambda h, n, r: h.say(200, event(r) + event(r), "text/event-stream"), "right"),
    "40 MB without a line end": (endless, "right"),
    "an event of 17 MB": (lambda h, n, r: h.say(200, b"data: " + b"x" * (17 << 20) + b"\n\n", "text/event-stream"), "too large"),
    "an error of 3 MB": (lambda h, n, r: h.say(500, (MARKER * (3_000_000 // len(MARKER))).encode(), "text/html"), "INTERNAL_ERROR"),
    "an error that has no end": (endless_error, "INTERNAL_ERROR"),
    "an error that comes slowly": (slowly, "INTERNAL_ERROR"),
    "an error that leaks": (lambda h, n, r: h.say(200, {"jsonrpc": "2.0", "id": n, "error": {"code": -32603, "message":
                            "connect to postgres://app:%s@10.1.2.3/db failed" % MARKER}}), "isError"),
}

if os.environ.get("GIGABYTE"):
    ACTS["a gigabyte without a line end"] = (lambda h, n, r: endless(h, n, r, 10000), "right")


@tests_of(ACTS)
def a_hostile_server_behind_http_costs_its_answer_only_and_little_memory(act, told):
    with Serving(act) as serving, Behind(serving.url, **BEARER) as client:
        number = client.count = client.count + 1  # the next call has another id: a second answer may still be on its way
        client.send(request(number, "tools/call", {"name": "fail", "arguments": {}}))
        before, answer = client.receive_all(number)
        said = json.dumps(before + [answer])
        expect(told in said, said)
        expect(MARKER not in said and "10.1.2.3" not in said, said)
        equal(client.call("good")["content"][0]["text"], "good")
        expect_little_memory(client.process)


def with_error(words, **more):
    return lambda h, n, r: h.say(200, {"jsonrpc": "2.0", "id": n, "error": {"code": -32602, "message": words, **more}})


@tests_of({
    "an error of JSON-RPC": with_error("The token %s is not known." % MARKER),
    "… that the client needs": lambda h, n, r: h.say(200, {"jsonrpc": "2.0", "id": n, "error": {"code": -32042, "message": "Open it.", "data": {
        "elicitations": [{"mode": "url", "elicitationId": "1", "url": "https://example.com/" + MARKER, "message": "x"}]}}}),
    "a result": lambda h, n, r: h.say(200, {"jsonrpc": "2.0", "id": n, "result": {"isError": True, "content": [
        {"type": "text", "text": "%s is not known." % MARKER}, {"type": "text", "text": MARKER.lower()}]}}),
    "a task": lambda h, n, r: h.say(200, {"jsonrpc": "2.0", "id": n, "result": {"task": {
        "taskId": "1", "status": "failed", "statusMessage": "No %s." % MARKER, "createdAt": "2025-01-01T00:00:00Z", "ttl": 1}}}),
    "a line that is no message": lambda h, n, r: h.say(200, event({"token": MARKER}) + event(r), "text/event-stream"),
})
def a_header_field_that_a_server_repeats_is_hidden(act):
    with Serving(act) as serving, Behind(serving.url, **BEARER) as client:
        number = client.count + 1
        client.send(request(number, "tools/call", {"name": "fail", "arguments": {}}))
        said = json.dumps(client.receive_all(number))
        expect(MARKER.lower() not in said.lower(), said)
        if os.path.exists(client.log):
            with open(client.log, encoding="utf-8") as file:
                log = file.read()
            expect(MARKER.lower() not in log.lower(), log)


@test
def a_stream_that_is_refused_at_length_is_not_asked_for_again():
    with Serving(get=(404, b"x" * (200 << 10), "text/plain")) as serving, Behind(serving.url, **BEARER) as client:
        wait_for(lambda: serving.server.gets, "there is no GET")
        for _ in range(50):
            equal(client.call("good")["content"][0]["text"], "good")
        equal(len(serving.server.gets), 1)


@test
def a_greeting_whose_responses_stay_open_is_answered():
    with Serving(stays_open=True) as serving, Behind(serving.url, **BEARER) as client:
        equal(client.call("good")["content"][0]["text"], "good")
        wait_for(lambda: serving.server.gets, "there is no GET")


@test
def responses_that_stay_open_do_not_use_up_the_places_of_calls():
    with Serving(lambda h, n, r: h.leave_open(event(r))) as serving, Behind(serving.url, **BEARER) as client:
        for _ in range(600):
            equal(client.call("fail")["content"][0]["text"], "right")


@tests_of({"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT, "the end of its input": None})
def the_session_of_a_server_behind_http_is_ended(number):
    with Serving() as serving, Behind(serving.url, **BEARER) as client:
        equal(client.call("good")["content"][0]["text"], "good")
        if number:
            client.process.send_signal(number)
        else:
            client.process.stdin.close()
        client.process.wait(PATIENCE)
        equal(serving.server.deleted, ["s"])


@test
def the_address_of_a_server_is_in_no_argument_of_a_session():
    with Listening() as server, Listening("--to", server.url + "?key=" + MARKER, words=["none"]) as front:
        session = begin(front)
        equal(text(answers(send(front.port, call("echo", text="Ada"), session))[0]), "Ada")
        expect(front.gateways(), "there is no gateway")
        words = [word for pid in descendants(front.process.pid) for word in words_of(pid) if b"--listen" not in words_of(pid)]
        expect(words and MARKER.encode() not in b" ".join(words), words)


@tests_of({"no scheme": "127.0.0.1:1/mcp", "another scheme": "ftp://127.0.0.1/mcp", "a password": "http://a:b@127.0.0.1/mcp", "no address": "nonsense://x y"})
def an_address_that_cannot_be_used_is_refused(url):
    for flags in ([], ["--listen", "127.0.0.1:0"]):
        done = subprocess.run([MISHAP, "mcp-gateway", *flags, "--to", url], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        equal(done.returncode, 2, done.stderr)
        expect(re.search(rb"address|scheme|URL", done.stdout + done.stderr), done)


@test
def a_server_that_cannot_be_reached_is_told_to_the_client():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        with Behind("http://127.0.0.1:%d/mcp" % taken.getsockname()[1], revision=None) as client:
            client.send(hello("2025-06-18", 7))
            answer = client.receive()
            equal((answer["id"], answer["error"]["data"]["code"]), (7, "UNAVAILABLE"))


@test
def a_url_and_a_command_at_once_are_refused():
    for words in ([], ["--to", "http://127.0.0.1:1/mcp", "--", "true"]):
        equal(subprocess.run([MISHAP, "mcp-gateway", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False).returncode, 2)


main()
