"""examples/chat.c and examples/notebook.c from outside: as commands, over HTTP and for agents, on the same data.

    MISHAP_PROGRAM=… CHAT_PROGRAM=… NOTEBOOK_PROGRAM=… python3 tests/http/examples_test.py [PART-OF-A-NAME]

Speaks TAP. Their own tests, examples/chat_test.c and notebook_test.c, are about what their operations do.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test

CHAT, NOTEBOOK = (os.path.abspath(os.environ[name]) for name in ("CHAT_PROGRAM", "NOTEBOOK_PROGRAM"))


def chat():
    return server.server("chat", "--workers", "1", program=CHAT)


def notebook():
    return server.server("notebook", "--workers", "1", program=NOTEBOOK)


def has_sandbox():
    probe = run_program(NOTEBOOK, "python", "run", "answer = 1", "--output", "json", env={"NOTEBOOK_LOG": ""})
    return probe.status != 78


class Reader:
    """The events of a stream, as they come."""

    def __init__(self, found, target):
        self.connection = found.connect().send(server.request("GET", target))
        self.status, _ = server.parse_head(self.connection.take_head())
        self.text = b""

    def next(self):
        while b"\n\n" not in self.text:
            while b"\r\n" not in self.connection.received:
                expect(self.connection.more(), "the stream has ended:", self.text)
            size, self.connection.received = self.connection.received.split(b"\r\n", 1)
            self.text += self.connection.take(int(size, 16) + 2)[:-2]
        event, self.text = self.text.split(b"\n\n", 1)
        name, data = event.split(b"\n")
        equal(name, b"event: message", "an event")
        return parsed(data[len(b"data: "):])


@test
def a_message_reaches_readers_from_every_boundary():
    found = chat()
    reader = Reader(found, "/messages/stream")
    equal(found.ask("POST", "/messages", {"from": "Ada", "text": "over\nHTTP"}).status, 201, "HTTP")
    answer = run_program(CHAT, "say", "--from", "Bob", "--text", "by a command", "--output", "json",
                         env={"CHAT_DATA": found.data, "CHAT_LOG": ""})
    equal(answer.status, 0, answer.out)
    session = exchange.Session(found)
    session.post(exchange.call("say", {"from": "Eve", "text": "by an agent"}))
    seen = [reader.next() for _ in range(3)]
    equal([(one["id"], one["from"], one["text"]) for one in seen],
          [(1, "Ada", "over\nHTTP"), (2, "Bob", "by a command"), (3, "Eve", "by an agent")], "the messages")
    shown = run_program(CHAT, "follow", "--after", "2", env={"CHAT_DATA": found.data, "CHAT_LOG": ""})
    equal(parsed(shown.out.split(b"data: ")[1].strip())["from"], "Eve", "a command shows what is there")
    text = json.dumps(session.post(exchange.call("follow", {"after": 1})).json["result"])
    expect("by an agent" in text and "over" not in text, "an agent gets the rest:", text)


@test
def mistakes_of_a_message_are_told_on_every_boundary():
    found = chat()
    refused = found.ask("POST", "/messages", {"from": "Ada"})
    equal((refused.status, refused.json["details"][0]["field"]), (422, "text"), "HTTP")
    refused = run_program(CHAT, "say", "--from", "Ada", "--output", "json", env={"CHAT_DATA": found.data, "CHAT_LOG": ""})
    equal(refused.status, 2, "a command")
    refused = exchange.Session(found).post(exchange.call("say", {"from": "Ada", "text": 7})).json["result"]
    equal(refused["isError"], True, "an agent")


@test
def a_session_keeps_its_variables():
    if not has_sandbox():
        raise Skipped("the sandbox is not available here")
    answer = run_program(NOTEBOOK, "python", "run", "answer = 6 * 7", "--output", "json", env={"NOTEBOOK_LOG": ""})
    equal(parsed(answer.out)["data"]["answer"], "42", "a command")
    found = notebook()
    first = found.ask("POST", "/python", {"code": "x = 41"})
    equal(first.status, 200, first.body)
    second = found.ask("POST", "/python", {"code": "answer = x + 1"}, fields={"Mishap-Session": first["Mishap-Session"]})
    equal(second.json["answer"], "42", "HTTP")
    equal(found.ask("POST", "/python", {"code": "answer = x"}).json["error"], "runtime_error", "another session")
    session = exchange.Session(found)
    session.post(exchange.call("python_run", {"code": "y = 1"}))
    again = session.post(exchange.call("python_run", {"code": "answer = y"})).json["result"]
    equal(again["structuredContent"]["answer"], "1", "an agent, whose session with the server keeps it")


@test
def commands_have_a_session_of_a_server():
    """Without a server each begins one of its own, which ends with it."""
    if not has_sandbox():
        raise Skipped("the sandbox is not available here")

    def run(code, *words, status=0):
        answer = run_program(NOTEBOOK, "python", "run", code, *words, "--output", "json", env={"NOTEBOOK_LOG": ""})
        equal(answer.status, status, (words, answer.out))
        return parsed(answer.out)["data" if status == 0 else "error"]
    there = ("--server", notebook().url)
    first = run("x = 41", *there)
    equal(run("answer = x + 1", *there, "--session", first["session"]), {"answer": "42", "session": first["session"]}, "of a server")
    expect("NameError" in run("answer = x", *there, status=1)["message"], "another session")
    run("x = 41")
    expect("NameError" in run("answer = x", status=1)["message"], "without a server")
    refused = run("answer = x", "--session", first["session"], status=5)
    equal((refused["code"], "--server" in refused["suggestion"]), ("NOT_FOUND", True), refused)


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
