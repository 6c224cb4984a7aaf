"""Calls that are settled in batches: what leaves when, what fails, what runs again.

    MISHAP_PROGRAM=… SETTLED_PROGRAM=… python3 tests/worker/settled_test.py [PART-OF-A-NAME]

A call of entries.add adds two rows with its key, or none. MISHAP_STORM is the number of kills of the storm. Speaks TAP.
"""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from server import PATIENCE, SANITIZED, Closed, Server, wait_for  # noqa: E402

SETTLED = os.path.abspath(os.environ["SETTLED_PROGRAM"])
KILLS = int(os.environ.get("MISHAP_STORM", "12"))


def serve(*flags, **more):
    return Server(*flags, program=SETTLED, **more)


def add(one, key, how=None):
    return one.ask("POST", "/entries", {"key": key, **({"how": how} if how else {})}, checked=False)


def rows(data):
    """How many rows each key has."""
    with sqlite3.connect("file:%s?mode=ro" % os.path.join(data, "entries.db"), uri=True, timeout=PATIENCE) as database:
        return dict(database.execute("SELECT key, count(*) FROM entries GROUP BY key"))


def together(found, calls, before_answers=None):
    """Send calls at once, each on a connection of its own, and wait for all: (key, how) to a response."""
    connections = [(key, how, found.connect()) for key, how in calls]
    for key, how, one in connections:
        body = {"key": key, **({"how": how} if how else {})}
        one.send(server.request("POST", "/entries", body))
    if before_answers:
        before_answers()
    answers = {key: one.response("POST", "/entries", checked=False) for key, _, one in connections}
    for _, _, one in connections:
        one.close()
    return answers


def batched(found, calls):
    """The same while a slow call runs, so that they are one batch behind it. It waits until the server has all of them."""
    batched.key += 1
    gate = os.path.join(found.data, "gate")
    open(gate, "wb").close()

    def until_handed_over(count):
        expect(wait_for(lambda: found.running_handlers() >= count), "handed over:", found.running_handlers(), "of", count)

    def open_gate():
        until_handed_over(1 + len(calls))
        os.unlink(gate)

    with found.connect() as slow:
        slow.send(server.request("POST", "/entries", {"key": batched.key, "how": "slow"}))
        until_handed_over(1)
        answers = together(found, calls, open_gate)
        equal(slow.response("POST", "/entries").status, 200, "the slow call")
    return answers


batched.key = 900000


def status_of(answers):
    return {key: found.status for key, found in answers.items()}


# ---- One batch -----------------------------------------------------------------------------------


@test
def calls_that_wait_are_settled_together_and_one_that_fails_leaves_nothing():
    with serve("--workers", "1", "--settled-settle-ms", "20") as found:
        answers = batched(found, [(key, "fail" if key % 4 == 0 else "wrong" if key % 4 == 1 else None) for key in range(1, 41)])
        equal(status_of(answers), {key: {0: 404, 1: 500}.get(key % 4, 200) for key in range(1, 41)}, "the statuses")
        largest = found.ask("GET", "/entries").json["largest"]
        expect(4 <= largest <= 64, "no batch of several calls:", largest)
        equal(rows(found.data), {batched.key: 2, **{key: 2 for key in range(1, 41) if key % 4 > 1}}, "the rows")
        ids = [one.json["id"] for one in answers.values() if one.status == 200]
        equal(len(set(ids)), len(ids), "different ids")
        expect(not any(one.json["repeated"] for one in answers.values() if one.status == 200), "one was repeated")


@test
def a_switch_settles_each_call_alone():
    with serve("--workers", "1", "--settled-settle-ms", "5", "--handler-batch", "1") as found:
        equal(set(status_of(batched(found, [(key, None) for key in range(1, 21)])).values()), {200}, "the statuses")
        equal(found.ask("GET", "/entries").json["largest"], 1, "the largest batch")


@test
def a_batch_that_cannot_be_settled_fails_as_a_whole_with_that_failure_and_the_next_works():
    with serve("--workers", "1", "--settled-settle-ms", "20") as found:
        answers = batched(found, [(key, "fail_to_settle" if key == 7 else "fail" if key == 8 else None) for key in range(1, 11)])
        together_with = [key for key, one in answers.items() if one.status == 503]
        expect(7 in together_with, "the call itself:", status_of(answers))
        for key in together_with:
            body = answers[key].json
            equal(body["error"], "The disk is full.", "the message")
            expect(answers[key]["Retry-After"] == "1" and "/secret" not in str(body), "the failure:", answers[key])
        equal(rows(found.data), {batched.key: 2, **{key: 2 for key, one in answers.items() if one.status == 200}}, "the rows")
        equal(add(found, 50).status, 200, "the next")


@test
def each_way_of_a_handler_to_end_costs_its_own_call_and_no_other():
    statuses = {"crash": 500, "exit": 500, "misuse": 500, "hang": 504, "die": 200, "die_always": 500}
    with serve("--workers", "1", "--settled-settle-ms", "5") as found:
        for number, (how, status) in enumerate(statuses.items()):
            first = 100 * (number + 1)
            answers = batched(found, [(first + i, how if i == 5 else None) for i in range(12)])
            equal(status_of(answers), {first + i: status if i == 5 else 200 for i in range(12)}, "the statuses with " + how)
            found_rows = rows(found.data)
            equal({key: found_rows.get(key, 0) for key in answers},
                  {key: 2 if one.status == 200 else 0 for key, one in answers.items()}, "the rows with " + how)
            if how == "hang":
                expect(answers[first + 5].json["retriable"], "what was rolled back cannot be retried:", answers[first + 5])


@test
def a_process_that_dies_while_it_settles_or_before_it_answers_pays_nobody_twice():
    with serve("--workers", "1", "--settled-settle-ms", "5") as found:
        for number, how in enumerate(["die_before_settle", "die_after_settle", "crash_in_settle"]):
            first = 100 * (number + 1)
            answers = batched(found, [(first + i, how if i == 11 else None) for i in range(12)])
            equal(set(status_of(answers).values()), {200}, "the statuses with " + how)
            expect(answers[first + 11].json["repeated"], "the call was not repeated with", how)
            equal({key: count for key, count in rows(found.data).items() if count != 2}, {}, "keys without two rows")


@test
def a_call_with_which_nothing_can_be_settled_fails_alone():
    with serve("--workers", "1", "--settled-settle-ms", "5") as found:
        answers = batched(found, [(i, "crash_in_every_settle" if i == 5 else None) for i in range(1, 13)])
        equal(status_of(answers), {i: 500 if i == 5 else 200 for i in range(1, 13)}, "the statuses")
        equal({key: rows(found.data).get(key, 0) for key in answers}, {i: 0 if i == 5 else 2 for i in range(1, 13)}, "the rows")


@test
def several_loops_share_the_one_process_and_one_batch():
    with serve("--workers", "3", "--settled-settle-ms", "20") as found:
        answers = batched(found, [(key, "die_after_settle" if key == 9 else None) for key in range(1, 31)])
        equal(set(status_of(answers).values()), {200}, "the statuses")
        equal(len(found.handlers()) >= 1, True, "a process")
        equal({key: count for key, count in rows(found.data).items() if count != 2}, {}, "keys without two rows")


@test
def a_call_that_nobody_waits_for_any_more_does_no_harm():
    with serve("--workers", "1", "--settled-settle-ms", "50") as found:
        for key in range(1, 9):
            with found.connect() as gone:
                gone.send(server.request("POST", "/entries", {"key": key}))
                if key % 2:
                    gone.reset()
        equal(add(found, 100).status, 200, "another")
        expect(set(rows(found.data).values()) <= {2}, "half-done:", rows(found.data))


@test
def a_stream_leaves_when_it_is_settled_and_is_repeated_whole():
    with serve("--workers", "1") as found:
        for how, body in (("", b"one two"), ("?how=die", b"one two"), ("?how=die_before_settle", b"one two")):
            with found.connect() as one:
                one.send(server.request("GET", "/entries/stream" + how))
                while b"\r\n0\r\n\r\n" not in one.received:
                    expect(one.more(), "the stream was cut:", one.received)
                equal(b"".join(one.received.split(b"\r\n\r\n", 1)[1].split(b"\r\n")[1::2]), body, "the stream with " + how)


@test
def a_call_that_says_more_than_can_be_held_fails_and_leaves_nothing():
    with serve("--workers", "1") as found:
        equal(found.ask("GET", "/entries/stream?how=long&key=7", checked=False).status, 500, "the status")
        equal(add(found, 8).status, 200, "the next")
        equal(rows(found.data), {8: 2}, "the rows")


# ---- Other boundaries ----------------------------------------------------------------------------


@test
def without_processes_each_call_is_settled_by_itself():
    if SANITIZED:
        return
    with serve("--workers", "1", "--handlers", "0") as found:
        for key, how, status in ((1, None, 200), (2, "fail", 404), (3, "fail_to_settle", 503), (4, "wrong", 500), (5, "misuse", 500),
                                 (6, "crash", 500), (7, None, 200)):
            equal(add(found, key, how).status, status, "the status of %d" % key)
        equal(rows(found.data), {1: 2, 7: 2}, "the rows")


@test
def a_command_is_settled_before_it_answers():
    folder = os.path.join(server.FOLDER, "command")
    os.makedirs(folder)
    for key, how, status in ((1, None, 0), (2, "fail", 5), (3, "fail_to_settle", None), (4, None, 0)):
        ran = run_program(SETTLED, "entries", "add", "--key", str(key), *(["--how", how] if how else []), "--output", "json",
                          env={"SETTLED_DATA": folder, "SETTLED_LOG": ""})
        expect(ran.status == status or (status is None and ran.status), "the status of %d:" % key, ran)
        equal(parsed(ran.out)["ok"], ran.status == 0, "ok")
    equal(rows(folder), {1: 2, 4: 2}, "the rows")


class Agent:
    """`settled mcp`, by hand."""

    def __init__(self, *flags):
        self.folder = os.path.join(server.FOLDER, "agent-%d" % random.getrandbits(32))
        os.makedirs(self.folder)
        self.process = subprocess.Popen([SETTLED, "mcp", "--data", self.folder, *flags], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=dict(os.environ, SETTLED_LOG=""))
        self.say("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}, 0)
        self.hear(0)
        self.say("notifications/initialized")

    def say(self, method, params=None, id=None):
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {}), **({"id": id} if id is not None else {})}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, id):
        """All messages up to the answer, which is the last."""
        messages = []
        while not messages or messages[-1].get("id") != id:
            line = self.process.stdout.readline()
            expect(line, "it ended after", messages)
            messages.append(parsed(line))
        return messages

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.stdout.close()


@test
def over_standard_input_changes_leave_with_a_settlement_that_worked_and_in_order():
    with Agent() as agent:
        agent.say("resources/subscribe", {"uri": "settled://entries"}, 1)
        agent.hear(1)
        for id, how, changed in ((2, "fail_to_settle", False), (3, "fail", False), (4, "", True)):
            agent.say("tools/call", {"name": "entries_add", "arguments": {"key": id, "how": how or "work"},
                                     "_meta": {"progressToken": id}}, id)
            messages = agent.hear(id)
            methods = [message.get("method") for message in messages[:-1]]
            equal(messages[-1]["result"].get("isError", False), not changed, "isError with " + how)
            equal("notifications/progress" in methods, changed, "progress with " + how)
            agent.say("ping", {}, 100 + id)
            methods += [message.get("method") for message in agent.hear(100 + id)]
            if changed:
                deadline = time.monotonic() + PATIENCE
                while "notifications/resources/updated" not in methods and time.monotonic() < deadline:
                    methods += [message.get("method") for message in ping(agent)]
            equal("notifications/resources/updated" in methods, changed, "the change with " + how)
        equal(rows(agent.folder), {4: 2}, "the rows")


def ping(agent):
    id = random.getrandbits(31) + 1000
    agent.say("ping", {}, id)
    return agent.hear(id)


@test
def over_standard_input_calls_of_a_dead_process_run_again():
    with Agent() as agent:
        for id in range(1, 21):
            agent.say("tools/call", {"name": "entries_add", "arguments": {"key": id, "how": "die_after_settle" if id == 9 else "work"}}, id)
        answers = {}
        while len(answers) < 20:
            message = parsed(agent.process.stdout.readline())
            answers[message["id"]] = message["result"]
        equal([id for id, result in answers.items() if result.get("isError")], [], "calls that failed")
        equal(rows(agent.folder), {id: 2 for id in range(1, 21)}, "the rows")


# ---- The storm -----------------------------------------------------------------------------------


class Client(threading.Thread):
    """One call after the other; keys that were acknowledged, refused, or neither."""

    HOWS = [None] * 30 + ["fail", "die", "die_before_settle", "die_after_settle", "crash", "crash_in_settle", "misuse", "fail_to_settle"]

    def __init__(self, address, number, over):
        super().__init__(daemon=True)
        self.address, self.number, self.over = address, number, over
        self.random, self.count = random.Random(number), 0
        self.answers, self.problems = {}, []

    def run(self):
        one = None
        while not self.over.is_set():
            self.count += 1
            key = self.number * 1000000 + self.count
            try:
                one = one or server.Connection(self.address)
                self.answers[key] = None
                self.answers[key] = add(one, key, self.random.choice(self.HOWS)).status
            except (Closed, OSError):
                one = None
            except BaseException as problem:  # told by the main thread
                self.problems.append(repr(problem))
                return
        if one:
            one.close()


@test
def a_storm_of_kills_loses_no_acknowledged_call_and_leaves_none_half_done():
    over = threading.Event()
    with serve("--workers", "2", "--settled-settle-ms", "2") as found:
        clients = [Client(found.address, number + 1, over) for number in range(12)]
        for one in clients:
            one.start()
        killed = 0
        deadline = time.monotonic() + PATIENCE
        while killed < KILLS and time.monotonic() < deadline:
            time.sleep(random.uniform(0.01, 0.12))
            for pid in found.handlers():
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
        wait_for(lambda: sum(list(one.answers.values()).count(200) for one in clients) > 100)
        over.set()
        for one in clients:
            one.join(PATIENCE)
        equal(add(found, 5).status, 200, "a call after the storm")
        counts = rows(found.data)
        problems = [problem for one in clients for problem in one.problems]
        equal(problems, [], "what clients found")
        answers = {key: status for one in clients for key, status in one.answers.items()}
        acknowledged = [key for key, status in answers.items() if status == 200]
        print("# %d calls, %d acknowledged, %d kills" % (len(answers), len(acknowledged), killed))
        expect(len(acknowledged) > 100 and killed >= KILLS, "no storm:", len(acknowledged), killed)
        equal([key for key in acknowledged if counts.get(key) != 2], [], "acknowledged, and not there once")
        equal([key for key, count in counts.items() if count != 2], [], "half-done, or done twice")
        equal([key for key, status in answers.items() if status in (404, 422) and key in counts], [], "refused, and there")
        expect(set(answers.values()) <= {None, 200, 404, 500, 503}, "statuses:", set(answers.values()))


main()
