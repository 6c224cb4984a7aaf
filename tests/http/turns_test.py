"""A loop answers some milliseconds of one client before others have a turn: requests that were sent ahead, and batches of MCP.

    MISHAP_PROGRAM=… TURNS_PROGRAM=… python3 tests/http/turns_test.py [PART-OF-A-NAME]

Speaks TAP. The server is tests/http/turns.c: each of its calls takes longer than a turn, and it notes the order of calls. The
first one waits until all others were sent, so the order does not depend on how busy the machine is. `--handlers 0`: no supervisor
takes the loop for one that hangs meanwhile.
"""
import os
import signal
import sys

import server
from blackbox import equal, expect, main, parsed, test
from server import Server, request, wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
from exchange import Exchange, call, examine_whole, initialize, message, raw  # noqa: E402

TURNS = os.path.abspath(os.environ["TURNS_PROGRAM"])


class Gate:
    """A file that the first call makes when it begins, and whose end it waits for."""
    count = 0

    def __init__(self):
        Gate.count += 1
        self.path = os.path.join(server.FOLDER, "gate-%d" % Gate.count)

    def wait(self):
        expect(wait_for(lambda: os.path.exists(self.path)), "no call has begun")

    def open(self):
        os.remove(self.path)


def serve(*flags):
    return Server("--workers", "1", "--handlers", "0", *flags, program=TURNS)


def work(client, gate=None):
    return request("GET", "/work?client=%s%s" % (client, "&gate=" + gate.path if gate else ""))


def known(found):
    """A connection that the loop has accepted."""
    connection = found.connect()
    connection.ask("GET", "/health")
    return connection


def begin_session(found):
    with Exchange(found, "POST", initialize("2025-03-26")) as begun:
        fields = {"Mcp-Session-Id": begun["Mcp-Session-Id"]}
    with Exchange(found, "POST", message("notifications/initialized", id=None), fields) as told:
        equal(told.status, 202, "the notification")
    return fields


def batch(client, gate, count=5, **more):
    said = [call("work", {"client": client, **({"gate": gate.path} if gate and not i else {})}, id=i) for i in range(count)]
    return said + [message(method, params, id) for id, (method, params) in more.items()]


def order(found):
    return found.ask("GET", "/order?clear=true").json["order"]


def answered(connection, count=1):
    for _ in range(count):
        equal(connection.response().status, 200, "an answer")


def whole(connection):
    """The array of answers to a batch."""
    found = connection.response("POST", "/mcp", checked=False)
    examine_whole(found)
    return found.json


@test
def requests_that_were_sent_ahead_wait_for_those_of_another_client():
    with serve() as found:
        gate, one, other = Gate(), known(found), known(found)
        one.send(work("a", gate) + work("a") * 4)
        gate.wait()
        other.send(work("b"))
        gate.open()
        answered(one, 5)
        answered(other)
        equal(order(found), "abaaaa", "the order of calls")


@test
def the_messages_of_a_batch_wait_for_requests_of_another_client():
    with serve() as found:
        gate, one, other, fields = Gate(), known(found), known(found), begin_session(found)
        one.send(raw("POST", batch("a", gate), fields))
        gate.wait()
        other.send(work("b"))
        gate.open()
        answers = whole(one)
        answered(other)
        equal([answer["id"] for answer in answers], list(range(5)), "the answers of the batch")
        texts = [parsed(answer["result"]["content"][0]["text"].encode()) for answer in answers]
        equal([text["count"] for text in texts], [1, 3, 4, 5, 6], "what they say")
        equal(order(found), "abaaaa", "the order of calls")


@test
def a_batch_and_requests_that_were_sent_ahead_take_turns():
    with serve() as found:
        gate, one, other, third, fields = Gate(), known(found), known(found), known(found), begin_session(found)
        one.send(raw("POST", batch("a", gate, 8), fields))
        gate.wait()
        other.send(work("b") * 8)
        third.send(work("c"))
        gate.open()
        whole(one)
        answered(other, 8)
        answered(third)
        seen = order(found)
        equal(sorted(seen), sorted("a" * 8 + "b" * 8 + "c"), "all calls")
        expect("c" in seen[:4], "the third client has waited:", seen)
        expect("aaa" not in seen and "bbb" not in seen, "one of them has waited for the other:", seen)


@test
def what_a_batch_says_of_its_session_holds_also_behind_a_pause():
    with serve() as found:
        gate, one, fields = Gate(), known(found), begin_session(found)
        said = batch("a", gate, 3, level=("logging/setLevel", {"level": "error"}), ping=("ping", None)) + ["no message"]
        one.send(raw("POST", said, fields))
        gate.wait()
        gate.open()
        answers = whole(one)
        equal([answer.get("id") for answer in answers], [0, 1, 2, "level", "ping", None], "the answers")
        equal([answer.get("result") for answer in answers[3:5]], [{}, {}], "of methods")
        equal(answers[5]["error"]["code"], -32600, "of what is no message")


@test
def a_batch_whose_client_has_left_goes_on():
    with serve() as found:
        gate, one, fields = Gate(), known(found), begin_session(found)
        one.send(raw("POST", batch("a", gate), fields))
        gate.wait()
        one.close()
        gate.open()
        expect(wait_for(lambda: found.ask("GET", "/order").json["order"] == "a" * 5), "the rest was not done")
        with Exchange(found, "POST", message("ping"), fields) as alive:
            equal(alive.status, 200, "its session")


@test
def a_server_that_ends_answers_what_was_begun():
    with serve() as found:
        gate, one, other, fields = Gate(), known(found), known(found), begin_session(found)
        one.send(raw("POST", batch("a", gate), fields))
        gate.wait()
        other.send(work("b") * 5)
        found.process.send_signal(signal.SIGTERM)
        gate.open()
        equal(len(whole(one)), 5, "answers of the batch")
        answered(other, 5)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
