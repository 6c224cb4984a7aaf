"""The protocol over standard input and output, from outside: every method in every revision, calls that run long, crash
or print, and how many system calls a burst takes.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from talk import (LEGACY, MANY_CRASHES, META, MISHAP, MODERN, PATIENCE, SANITIZED, WORKSHOP, Server, Skipped, equal,
                  expect, hello, leaks, main, modern, notification, quickest, request, test, tests_of)
import journal

V = "io.modelcontextprotocol/"
INCIDENT = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$")


class Stateless(Server):
    """The same questions in the stateless revision."""

    def ask(self, method, params=None):
        return super().ask(method, dict({"_meta": META}, **(params or {})))


def server_of(revision, **more):
    return Stateless(**more) if revision == MODERN else Server(revision=revision, **more)


REVISIONS = {revision: revision for revision in [*LEGACY, MODERN]}


def check_result(revision, result, cached=False):
    """What only the stateless revision has, and must have."""
    stateless = revision == MODERN
    equal(result.get("resultType"), "complete" if stateless else None, "resultType")
    equal("ttlMs" in result and "cacheScope" in result, stateless and cached, "caching")
    if stateless:
        equal(result["_meta"][V + "serverInfo"]["name"], "workshop", "serverInfo")


# ---- Every method in every revision --------------------------------------------------------------------------------


@tests_of({revision: revision for revision in LEGACY})
def initialize_agrees_on(revision):
    with Server(revision=revision) as server:
        result = server.greeting["result"]
        equal(result["protocolVersion"], revision)
        equal(set(result["capabilities"]), {"tools", "resources", "prompts", "logging"} |
              ({"completions"} if revision > "2024-11-05" else set()))
        equal(result["serverInfo"]["name"], "workshop")
        equal("title" in result["serverInfo"], revision > "2025-03-26", "title")
        equal(server.result("ping"), {})


@tests_of({"the stateless one": MODERN, "one from before the first": "2024-10-07", "nonsense": "x"})
def initialize_with_another_revision_gets_the_latest(revision):
    with Server() as server:
        server.send(hello(revision))
        equal(server.receive()["result"]["protocolVersion"], "2025-11-25")


@test
def discover_tells_what_there_is():
    with server_of(MODERN) as server:
        result = server.result("server/discover")
        equal(result["supportedVersions"], [MODERN])
        equal(set(result["capabilities"]), {"tools", "resources", "prompts", "completions", "logging"})
        check_result(MODERN, result, cached=True)


@tests_of(REVISIONS)
def tools_are_listed(revision):
    with server_of(revision) as server:
        result = server.result("tools/list")
        check_result(revision, result, cached=True)
        tools = {tool["name"]: tool for tool in result["tools"]}
        equal(set(tools), {"echo", "apart_echo", "pretty", "count", "sleep", "chatter", "print", "crash", "apart_crash",
                           "fail", "apart_fail", "report_fail", "artifact_fail", "touch",
                           "apart_touch"})
        echo = tools["echo"]
        equal((echo["inputSchema"]["type"], echo["inputSchema"]["required"]), ("object", ["text"]))
        equal(set(echo) - {"name", "description", "inputSchema"},
              {"2024-11-05": set(), "2025-03-26": {"annotations"}}.get(revision, {"annotations", "title", "outputSchema"}))
        if revision > "2025-03-26":
            equal(echo["outputSchema"]["type"], "object")


@tests_of(REVISIONS)
def tools_are_called(revision):
    with server_of(revision) as server:
        for tool in ("echo", "apart_echo"):
            result = server.call(tool, text="Grüße \u2028 \U0001f600")
            check_result(revision, result)
            equal(json.loads(result["content"][0]["text"]), {"text": "Grüße \u2028 \U0001f600"})
            equal(result.get("structuredContent"),
                  None if revision <= "2025-03-26" else {"text": "Grüße \u2028 \U0001f600"})
            expect(not result.get("isError"), "no error")
        result = server.call("echo")
        equal(result["isError"], True)
        expect("text" in result["content"][0]["text"], "the bad field is named")


@tests_of(REVISIONS)
def resources_are_listed_and_read(revision):
    with server_of(revision) as server:
        result = server.result("resources/list")
        check_result(revision, result, cached=True)
        equal([resource["uri"] for resource in result["resources"]],
              ["catalog://codes", "workshop://pretty", "workshop://crash"])
        result = server.result("resources/templates/list")
        check_result(revision, result, cached=True)
        equal([resource["uriTemplate"] for resource in result["resourceTemplates"]],
              ["catalog://codes/{code}", "workshop://echo/{text}", "workshop://count/{to}/{pause_ms}",
               "workshop://sleep/{ms}", "workshop://fail/{how}"])
        result = server.result("resources/read", {"uri": "catalog://codes/not_found"})
        check_result(revision, result, cached=True)
        equal(json.loads(result["contents"][0]["text"])["code"], "NOT_FOUND")
        codes = json.loads(server.result("resources/read", {"uri": "catalog://codes"})["contents"][0]["text"])["codes"]
        expect(len(codes) > 50, "codes:", len(codes))
        answer = server.ask("resources/read", {"uri": "catalog://codes/NOPE"})
        equal(answer["error"]["code"], -32602 if revision == MODERN else -32002)
        equal(answer["error"]["data"]["uri"], "catalog://codes/NOPE")


@tests_of(REVISIONS)
def prompts_are_listed_got_and_completed(revision):
    with server_of(revision) as server:
        result = server.result("prompts/list")
        check_result(revision, result, cached=True)
        equal([prompt["name"] for prompt in result["prompts"]], ["explain_failure", "ask"])
        result = server.result("prompts/get", {"name": "explain_failure", "arguments": {"error": "It failed."}})
        check_result(revision, result)
        equal(result["messages"][-1]["content"], {"type": "text", "text": "It failed."})
        result = server.result("completion/complete", {
            "ref": {"type": "ref/resource", "uri": "catalog://codes/{code}"},
            "argument": {"name": "code", "value": "already_e"}})
        check_result(revision, result)
        equal(result["completion"]["values"], ["ALREADY_EXISTS"])


@tests_of(REVISIONS)
def operations_are_read(revision):
    missing = -32602 if revision == MODERN else -32002
    with server_of(revision) as server:
        result = server.result("resources/read", {"uri": "workshop://echo/Gr%C3%BC%C3%9Fe"})
        check_result(revision, result, cached=True)
        equal(result.get("ttlMs"), 0 if revision == MODERN else None, "ttlMs")
        equal(result["contents"], [{"uri": "workshop://echo/Gr%C3%BC%C3%9Fe", "mimeType": "application/json",
                                    "text": '{"text":"Grüße"}'}])
        equal(json.loads(server.result("resources/read", {"uri": "workshop://pretty"})["contents"][0]["text"]),
              {"text": "two\nlines", "list": [1, 2]})
        error = server.ask("resources/read", {"uri": "workshop://fail/not_found"})["error"]
        equal((error["code"], error["message"]), (missing, "There is no user 7."))
        equal((error["data"]["code"], error["data"]["uri"], error["data"]["context"]),
              ("NOT_FOUND", "workshop://fail/not_found", {"user": 7}))
        error = server.ask("resources/read", {"uri": "workshop://fail/badly"})["error"]
        equal((error["code"], error["data"]["fields"][0]["field"]), (-32602, "how"))
        error = server.ask("resources/read", {"uri": "workshop://count/many/0"})["error"]
        equal((error["code"], error["data"]["fields"][0]["field"]), (-32602, "to"))
        error = server.ask("resources/read", {"uri": "workshop://fail/busy"})["error"]
        equal((error["code"], error["data"]["retry_after_ms"]), (-32603, 1500))


@tests_of(REVISIONS)
def operations_are_prompts(revision):
    with server_of(revision) as server:
        result = server.result("prompts/get", {"name": "ask", "arguments": {"times": "3", "loudly": "true"}})
        check_result(revision, result)
        equal(result["messages"],
              [{"role": "user", "content": {"type": "text", "text": "please please please!"}}])
        error = server.ask("prompts/get", {"name": "ask", "arguments": {"times": "9"}})["error"]
        equal((error["code"], error["data"]["fields"][0]["field"]), (-32602, "times"))
        result = server.result("completion/complete", {
            "ref": {"type": "ref/resource", "uri": "workshop://fail/{how}"},
            "argument": {"name": "how", "value": "not"}})
        equal(result["completion"]["values"], ["not_found"])


def with_reports(server, least, method, params):
    """What came before an answer, and the answer. Of reports that are read together the last is told alone: a server that is held up
    tells of fewer steps, and then it is asked again."""
    for _ in range(10):
        server.send(request(1, method, params))
        before, answer = server.receive_all(1)
        if len(before) >= least:
            break
    expect(len(before) >= least, "reports:", before)
    return before, answer


@test
def reading_says_how_far_it_is_and_can_be_cancelled():
    with Server(revision="2025-11-25") as server:
        _, answer = with_reports(server, 3, "resources/read", {"uri": "workshop://count/5/60", "_meta": {"progressToken": 0}})
        equal(json.loads(answer["result"]["contents"][0]["text"]), {"counted": 5})
        server.send(request(2, "resources/read", {"uri": "workshop://count/1000/10"}))
        server.wait_for_stderr(b"counting to 1000\n")
        server.send(notification("notifications/cancelled", {"requestId": 2}))
        server.wait_for_stderr(b"cancelled at")
        equal(server.result("ping"), {})


def check_error(server, error, code):
    equal((error["code"], error["data"]["code"]), (-32603, code))
    expect(INCIDENT.match(error["data"]["incident"]), "incident", error)
    expect(is_logged(server, error["data"]["incident"]), "the incident is not in the log")


@test
def what_goes_wrong_while_reading_is_contained():
    with Server(revision="2025-11-25") as server:
        check_error(server, server.ask("resources/read", {"uri": "workshop://sleep/60000"})["error"], "TIMEOUT")
        error = server.ask("resources/read", {"uri": "workshop://fail/private"})["error"]
        check_error(server, error, "INTERNAL_ERROR")
        expect("rivate reason" not in json.dumps(error), "the private reason was told:", error)
        expect(is_logged(server, "The private reason."), "it is not in the log")
        check_error(server, server.ask("resources/read", {"uri": "workshop://crash"})["error"], "INTERNAL_ERROR")
        equal(server.call("echo", text="alive")["structuredContent"], {"text": "alive"})


@test
def users_and_todos_are_read_and_planned():
    with Server(program=MISHAP, revision="2025-11-25") as server:
        user = server.call("create_user", name="Ada", email="ada@example.com")["structuredContent"]["id"]
        todo = server.call("create_todo", title="Buy\nmilk", user_id=user)["structuredContent"]
        server.call("create_todo", title="Sleep", done=True)

        def read(uri):
            return json.loads(server.result("resources/read", {"uri": uri})["contents"][0]["text"])

        equal(read("todo://todos/" + todo["id"]), todo)
        equal([item["title"] for item in read("todo://todos")["items"]], ["Buy\nmilk", "Sleep"])
        equal(read("todo://users/" + user)["name"], "Ada")
        equal(len(read("todo://users")["items"]), 1)
        error = server.ask("resources/read", {"uri": "todo://todos/999"})["error"]
        equal((error["code"], error["message"], error["data"]["uri"]), (-32002, "Todo not found", "todo://todos/999"))
        text = server.result("prompts/get", {"name": "plan_day", "arguments": {"user_id": user, "minutes": "90"}})
        text = text["messages"][0]["content"]["text"]
        expect("- %s: Buy milk\n" % todo["id"] in text and "Sleep" not in text and "90 minutes" in text, text)
        text = server.result("prompts/get", {"name": "plan_day", "arguments": {"user_id": "999"}})
        expect("- nothing\n" in text["messages"][0]["content"]["text"], text)
        names = {tool["name"] for tool in server.result("tools/list")["tools"]}
        expect(not any("plan" in name for name in names), "tools:", names)


@tests_of({revision: revision for revision in LEGACY})
def resources_are_subscribed_to(revision):
    with Server(revision=revision) as server:
        equal(server.result("resources/subscribe", {"uri": "catalog://codes"}), {})
        equal(server.result("resources/unsubscribe", {"uri": "catalog://codes"}), {})
        equal(server.ask("resources/subscribe", {"uri": "no://where"})["error"]["code"], -32002)


@test
def listening_is_acknowledged_and_ends_with_a_result():
    server = Server()
    server.send(modern("l", "subscriptions/listen", notifications={"toolsListChanged": True}))
    message = server.receive()
    equal((message["method"], message["params"]["_meta"][V + "subscriptionId"], message["params"]["notifications"]),
          ("notifications/subscriptions/acknowledged", "l", {"toolsListChanged": True}))
    server.send(modern(1, "tools/list"))
    equal(server.receive()["id"], 1)
    rest = server.close()
    equal([(message["id"], message["result"]["resultType"]) for message in rest], [("l", "complete")])


@test
def listening_can_be_cancelled():
    with Server() as server:
        server.send(modern(7, "subscriptions/listen", notifications={}))
        equal(server.receive()["method"], "notifications/subscriptions/acknowledged")
        server.send(notification("notifications/cancelled", {"requestId": 7}))


@test
def both_eras_live_in_one_process():
    with Server(revision="2025-06-18") as server:
        server.send(modern(1, "tools/call", name="echo", arguments={"text": "a"}),
                    request(2, "tools/call", {"name": "echo", "arguments": {"text": "a"}}))
        equal("resultType" in server.receive()["result"], True)
        equal("resultType" in server.receive()["result"], False)


# ---- Progress, logs, cancelling ------------------------------------------------------------------------------------


@tests_of({"a string": "abc", "zero": 0, "an empty string": "", "a large number": 2**60})
def progress_comes_before_the_response(token):
    with Server(revision="2025-11-25") as server:
        before, answer = with_reports(server, 3, "tools/call", {"name": "count", "arguments": {"to": 5, "pause_ms": 60},
                                                                "_meta": {"progressToken": token}})
        equal(answer["result"]["structuredContent"], {"counted": 5})
        for message in before:
            equal(message["method"], "notifications/progress")
            equal((message["params"]["progressToken"], message["params"]["total"]), (token, 5))
        steps = [message["params"]["progress"] for message in before]
        equal(steps, sorted(set(steps)), "steps")
        equal(steps[-1], 5, "the last step")


@tests_of({"the first revision": ("2024-11-05", False), "the next": ("2025-03-26", True)})
def progress_has_words_where_the_revision_has_them(revision, words):
    with Server(revision=revision) as server:
        server.send(request(1, "tools/call", {"name": "count", "arguments": {"to": 2, "pause_ms": 60},
                                              "_meta": {"progressToken": 7}}))
        before, answer = server.receive_all(1)
        expect(before, "no reports")
        equal({key for message in before for key in message["params"]},
              {"progressToken", "progress", "total"} | ({"message"} if words else set()), "members of reports")
        equal(set(answer["result"]), {"content"}, "members of the result")


@tests_of(REVISIONS)
def progress_that_nobody_asked_for_is_not_told(revision):
    with server_of(revision) as server:
        server.call("count", to=3)


@test
def progress_of_a_busy_handler_does_not_flood():
    with Server(revision="2025-11-25") as server:
        server.send(request(1, "tools/call", {"name": "count", "arguments": {"to": 100000},
                                              "_meta": {"progressToken": 1}}))
        before, answer = server.receive_all(1)
        equal(answer["result"].get("structuredContent"), {"counted": 100000})
        expect(len(before) < 20000, "reports:", len(before))


@test
def progress_that_came_too_soon_is_told_while_the_handler_works():
    with Server(revision="2025-11-25") as server:
        before, _ = with_reports(server, 3, "tools/call", {"name": "count", "arguments": {"to": 3, "pause_ms": 1500, "at_once": 1},
                                                           "_meta": {"progressToken": 1}})
        equal([message["params"]["progress"] for message in before], [1, 2, 3], "each of them")


@test
def logs_come_from_the_level_on_that_was_set():
    with Server(revision="2025-11-25") as server:
        for level, count in (("debug", 8), ("warning", 5), ("emergency", 1)):
            equal(server.result("logging/setLevel", {"level": level}), {})
            server.send(request(1, "tools/call", {"name": "chatter"}))
            before, _ = server.receive_all(1)
            equal(len(before), count, level)
            for message in before:
                equal(message["method"], "notifications/message")
            equal(before[-1]["params"]["level"], "emergency")


@test
def without_a_session_logs_come_only_to_who_asks():
    with Server() as server:
        server.send(modern(1, "tools/call", name="chatter"))
        equal(server.receive_all(1)[0], [])
        message = modern(2, "tools/call", name="chatter")
        message["params"]["_meta"] = dict(META, **{V + "logLevel": "error"})
        server.send(message)
        equal(len(server.receive_all(2)[0]), 4)


@tests_of({"in a session": "2025-11-25", "without one": MODERN})
def a_cancelled_call_is_not_answered_and_its_handler_is_told(revision):
    with server_of(revision) as server:
        message = request("long", "tools/call", {"name": "count", "arguments": {"to": 1000, "pause_ms": 10}})
        if revision == MODERN:
            message["params"]["_meta"] = META
        server.send(message)
        server.wait_for_stderr(b"counting to")
        server.send(notification("notifications/cancelled", {"requestId": "long", "reason": "enough"}))
        server.wait_for_stderr(b"cancelled at")
        server.result("tools/list")


@test
def an_id_can_be_used_again_after_it_was_cancelled():
    with Server(revision="2025-11-25") as server:
        server.send(request(1, "tools/call", {"name": "count", "arguments": {"to": 1000, "pause_ms": 10}}),
                    notification("notifications/cancelled", {"requestId": 1}),
                    request(1, "ping"))
        equal(server.receive(), {"jsonrpc": "2.0", "id": 1, "result": {}})


@test
def calls_that_wait_behind_others_can_be_cancelled():
    with Server(revision="2025-11-25") as server:
        server.send(*(request(number, "tools/call", {"name": "sleep", "arguments": {"ms": 300}}) for number in range(40)),
                    *(notification("notifications/cancelled", {"requestId": number}) for number in range(1, 40)))
        equal(server.receive()["id"], 0)
        server.result("ping")
    expect(server.stderr().count(b"asleep\n") < 40, "those that waited have run all the same:", server.stderr())


# ---- What goes wrong -----------------------------------------------------------------------------------------------


def check_internal(result):
    equal(result["isError"], True)
    told = result["structuredContent"]
    equal(told["message"], "An internal error occurred.")
    incident = result["_meta"]["dev.mishap/incident"]
    expect(INCIDENT.match(incident), "incident", incident)
    equal(told["incident"], incident)
    return incident


def is_logged(server, words):
    """Do these words stand in the log, or will they within moments?"""
    deadline = time.monotonic() + PATIENCE
    while words not in log_of(server):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def log_of(server):
    with open(os.path.join(server.data.name, "log"), encoding="utf-8") as log:
        return journal.shown(log.read())


@tests_of({"in a worker": "apart_crash", "where messages are read": "crash"})
def a_crash_is_contained(tool):
    with Server(revision="2025-11-25") as server:
        for _ in range(3 if MANY_CRASHES else 1):
            incident = check_internal(server.call(tool))
            expect(is_logged(server, incident), "the incident is not in the log")
        equal(server.call("echo", text="alive")["structuredContent"], {"text": "alive"})
        equal(server.call("apart_echo", text="alive")["structuredContent"], {"text": "alive"})


DRILLS = ["memory", "undeclared", "nonsense", "error", "crash"]
DRILLS += ["abort", "divide"] if MANY_CRASHES else []
DRILLS += [] if SANITIZED else ["overflow"]


@test
def the_drills_of_the_todo_service_are_contained():
    with Server("--chaos", program=MISHAP, revision="2025-11-25") as server:
        for how in DRILLS:
            result = server.call("cause_chaos", how=how, marker="very private")
            check_internal(result)
            expect("very private" not in json.dumps(result), how, "tells the private side:", result)
            equal(server.result("ping"), {})
        expect(is_logged(server, "very private"), "the private side is in the log")


@test
def drills_are_there_only_if_they_are_wanted():
    with Server(program=MISHAP, revision="2025-11-25") as server:
        names = {tool["name"] for tool in server.result("tools/list")["tools"]}
        expect("cause_chaos" not in names and "create_user" in names, "tools:", names)


@test
def a_call_that_takes_too_long_is_answered():
    with Server(revision="2025-11-25") as server:
        def attempt():
            start = time.monotonic()
            server.send(request(1, "tools/call", {"name": "sleep", "arguments": {"ms": 60000}}),
                        request(2, "ping"))
            equal(server.receive()["id"], 2)
            answer, took = server.receive(), time.monotonic() - start
            equal((answer["id"], answer["result"]["isError"]), (1, True))
            equal(answer["result"]["structuredContent"]["error_type"], "TimeoutError")
            expect(is_logged(server, answer["result"]["structuredContent"]["incident"]), "it is not in the log")
            expect(took > 0.8, "after", took)
            return took
        quickest(60, attempt)  # as long as it would take
        time.sleep(0.5)
        expect(b"awake" not in server.stderr(), "the handler goes on")
        equal(server.call("apart_echo", text="after")["structuredContent"], {"text": "after"})


@test
def handlers_that_hang_leave_workers_for_the_others():
    with Server(revision="2025-11-25") as server:
        server.send(*(request(n, "tools/call", {"name": "sleep", "arguments": {"ms": 1500}}) for n in range(12)))
        for _ in range(12):
            server.receive()
        equal(server.call("apart_echo", text="here")["structuredContent"], {"text": "here"})
        time.sleep(0.7)


@test
def what_a_handler_prints_is_not_in_the_protocol():
    with Server(revision="2025-11-25") as server:
        result = server.call("print")
        equal(result["structuredContent"], {"written": 16, "status": 0, "got": 0})
        for words in (b"a forgery", b"written by hand", b"by a child"):
            server.wait_for_stderr(words)
        equal(server.result("ping"), {})


@test
def an_answer_of_many_lines_is_one_line():
    with Server(revision="2025-11-25") as server:
        equal(server.call("pretty")["structuredContent"], {"text": "two\nlines", "list": [1, 2]})


@tests_of({tool: tool for tool in ("fail", "apart_fail", "report_fail", "artifact_fail")})
def failures_are_results_in_the_dialect_of_the_service(tool):
    with Server(revision="2025-11-25") as server:
        for how, words in (("not_found", "There is no user 7."), ("conflict", "The name is taken."),
                           ("busy", "The store is busy."), ("private", "An internal error occurred.")):
            result = server.call(tool, how=how)
            text = result["content"][0]["text"]
            equal(result["isError"], True)
            expect(words in text, words, "is not in", text)
            for private in ("rivate reason", "noted", "privately"):
                expect(private not in json.dumps(result), "the private side is told:", result)
            expect(how != "private" or is_logged(server, 'noted noted = "privately"'), "what was noted is not in the log")
            if tool == "report_fail":
                told = result["structuredContent"]
                expect(text.startswith("[ERROR] %s\n%s\n" % (told["type"], told["message"])), "a report:", result)
            else:
                equal(json.loads(text), result["structuredContent"])
                key = "success" if tool == "artifact_fail" else "status"
                equal(result["structuredContent"][key], False if tool == "artifact_fail" else "error")


# ---- Bursts --------------------------------------------------------------------------------------------------------


def burst(server, tool, count, at_once):
    """Calls one behind the other, so many without waiting; the ids in the order of their answers."""
    room = threading.Semaphore(at_once)

    def feed():
        for at in range(0, count, 100):
            for _ in range(100):
                room.acquire()
            server.send(*(request(n, "tools/call", {"name": tool, "arguments": {"text": str(n)}})
                          for n in range(at, min(at + 100, count))))
    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    order = []
    for _ in range(count):
        answer = server.receive()
        equal(answer["result"]["structuredContent"], {"text": str(answer["id"])})
        order.append(answer["id"])
        room.release()
    feeder.join()
    return order


@test
def ten_thousand_quick_calls_are_answered_in_their_order():
    with Server(revision="2025-11-25") as server:
        equal(burst(server, "echo", 10000, 10000), list(range(10000)))


@test
def ten_thousand_calls_in_workers_are_all_answered():
    with Server(revision="2025-11-25") as server:
        equal(sorted(burst(server, "apart_echo", 10000, 200)), list(range(10000)))


@test
def quick_calls_overtake_long_ones():
    with Server(revision="2025-11-25") as server:
        server.send(request(1, "tools/call", {"name": "count", "arguments": {"to": 1, "pause_ms": 7000}}),
                    request(2, "tools/call", {"name": "echo", "arguments": {"text": "a"}}),
                    request(3, "tools/call", {"name": "count", "arguments": {"to": 2, "pause_ms": 20}}))
        equal([server.receive()["id"] for _ in range(3)], [2, 3, 1])


@tests_of({"of calls": ("echo", {"text": "a"}), "of changes": ("touch", {"uri": "workshop://pretty"})})
def a_burst_takes_one_read_and_one_write(tool, arguments):
    if SANITIZED or not shutil.which("strace"):
        raise Skipped("there is no strace here")
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        process = subprocess.Popen(
            ["strace", "-s", "200", "-o", trace, "-e", "trace=read,write,poll", WORKSHOP, "mcp"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdin.write(json.dumps(hello("2025-11-25")).encode() + b"\n")
        process.stdin.flush()
        if not process.stdout.readline():
            raise Skipped("strace does not work here")
        calls = b"".join(json.dumps(request(n, "tools/call", {"name": tool, "arguments": arguments})).encode() + b"\n"
                         for n in range(64))
        os.write(process.stdin.fileno(), calls)
        for number in range(64):
            answer = json.loads(process.stdout.readline())
            leaks.check_message(answer)
            equal(answer["id"], number)
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdout.close()
        with open(trace, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    start = next(i for i, text in enumerate(lines) if text.startswith("read(") and "tools/call" in text)
    equal([re.match(r"\w+", text).group() for text in lines[start:start + 3]], ["read", "write", "read"], "system calls")
    end = next(i for i, text in enumerate(lines) if i > start and text.endswith("= 0") and text.startswith("read("))
    equal(end - start, 2, "calls until the end of input")


# ---- Beginning and end ---------------------------------------------------------------------------------------------


def ids_at_the_end(end, *messages):
    """What is still answered when a call of 100 ms runs at the end.

    Calls may finish for half a second after a signal, and for longer at the end of the input. If more than that passed because the machine
    was held up it is tried again.
    """
    for _ in range(10):
        server = Server(revision="2025-11-25")
        server.send(*messages, request(1, "tools/call", {"name": "sleep", "arguments": {"ms": 100}}))
        server.wait_for_stderr(b"asleep")
        for _ in messages:
            equal(server.receive()["method"], "notifications/subscriptions/acknowledged")
        start = time.monotonic()
        end(server)
        ids = [message["id"] for message in server.close()]
        if 1 in ids or time.monotonic() - start < 0.5:
            break
    return ids


@test
def calls_that_run_at_the_end_of_input_may_finish():
    equal(ids_at_the_end(lambda server: None), [1])


@test
def calls_that_do_not_finish_are_cancelled_at_the_end():
    told = []

    def attempt():
        server = Server(revision="2025-11-25")
        server.send(request(1, "tools/call", {"name": "count", "arguments": {"to": 1000, "pause_ms": 10}}))
        server.wait_for_stderr(b"counting")
        start = time.monotonic()
        equal(server.close(), [])
        took = time.monotonic() - start
        told.append(b"cancelled at" in server.stderr())
        expect(told[-1] or took > 1, "the handler was not told, though it could have been")
        return took
    quickest(10, attempt)  # as long as it would take
    while not any(told):  # it has half a second for that, too, and the machine was held up
        expect(len(told) < 10, "the handler was not told")
        attempt()


@test
def a_handler_that_hangs_does_not_keep_it_from_ending():
    def attempt():
        server = Server(revision="2025-11-25")
        server.send(request(1, "tools/call", {"name": "count", "arguments": {"to": 1, "pause_ms": 10000}}))
        server.wait_for_stderr(b"counting")
        start = time.monotonic()
        equal(server.close(), [])
        return time.monotonic() - start
    quickest(10, attempt)  # as long as it would take


@tests_of({"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT})
def signals_end_it_in_order(number):
    def end(server):
        server.process.send_signal(number)
        equal(server.process.wait(PATIENCE), 0, "exit status")
    equal(ids_at_the_end(end, modern("l", "subscriptions/listen", notifications={})), [1, "l"])


@test
def a_signal_while_it_waits_for_input_ends_it():
    server = Server(revision="2025-11-25")
    equal(server.result("ping"), {})
    server.process.send_signal(signal.SIGTERM)
    equal(server.process.wait(PATIENCE), 0, "exit status")
    equal(server.close(), [])


# ---- Resources that change -----------------------------------------------------------------------------------------


def updated(uri):
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def touch(server, tool, uri, **more):
    """A touch, and what is told of it."""
    server.count += 1
    server.send(request(server.count, "tools/call", {"name": tool, "arguments": dict(uri=uri, **more)}))
    before, answer = server.receive_all(server.count)
    equal(json.loads(answer["result"]["content"][0]["text"]), {"touched": True})
    server.send(request("after", "ping"))
    after, _ = server.receive_all("after")
    return before + after


@tests_of({revision: (revision,) for revision in LEGACY})
def a_session_hears_of_what_it_has_subscribed_to(revision):
    with Server(revision=revision) as server:
        for tool in ("touch", "apart_touch"):
            equal(touch(server, tool, "workshop://pretty"), [], "before")
            equal(server.result("resources/subscribe", {"uri": "workshop://pretty"}), {})
            equal(server.result("resources/subscribe", {"uri": "workshop://echo/7"}), {})
            equal(touch(server, tool, "workshop://pretty"), [updated("workshop://pretty")], tool)
            equal(touch(server, tool, "workshop://echo/8"), [], "another")
            told = touch(server, tool, "workshop://pretty", times=10000)  # more than the server remembers
            equal({message["params"]["uri"] for message in told}, {"workshop://echo/7", "workshop://pretty"}, "any")
            for uri in ("workshop://pretty", "workshop://echo/7"):
                equal(server.result("resources/unsubscribe", {"uri": uri}), {})
            equal(touch(server, tool, "workshop://pretty"), [], "after")


@test
def who_listens_hears_of_resources():
    with Server() as server:
        server.send(modern("l", "subscriptions/listen", notifications={"resourceSubscriptions": ["workshop://pretty"]}))
        equal(server.receive()["params"]["notifications"], {"resourceSubscriptions": ["workshop://pretty"]})
        for number, tool in enumerate(("touch", "apart_touch")):
            server.send(modern(number, "tools/call", name=tool, arguments={"uri": "workshop://pretty"}))
            found = sorted([server.receive(), server.receive()], key=lambda message: "method" in message)
            equal(found[0]["id"], number, "the answer")
            equal(found[1]["params"], {"_meta": {"io.modelcontextprotocol/subscriptionId": "l"}, "uri": "workshop://pretty"})
        server.send(notification("notifications/cancelled", {"requestId": "l"}))


@test
def the_todo_service_tells_of_its_changes():
    with Server(program=MISHAP, revision="2025-11-25") as server:
        server.call("create_todo", title="a")
        for uri in ("todo://todos/1", "todo://users"):
            equal(server.result("resources/subscribe", {"uri": uri}), {})
        server.send(request(1, "tools/call", {"name": "update_todo", "arguments": {"id": "1", "done": True}}))
        found = sorted([server.receive(), server.receive()], key=lambda message: "method" in message)
        equal((found[0]["id"], found[1]), (1, updated("todo://todos/1")))
        server.send(request(2, "tools/call", {"name": "create_user", "arguments": {"name": "A", "email": "a@example.com"}}))
        found = sorted([server.receive(), server.receive()], key=lambda message: "method" in message)
        equal((found[0]["id"], found[1]), (2, updated("todo://users")))


# ---- Too much to do ------------------------------------------------------------------------------------------------


@test
def while_too_many_calls_run_others_can_be_cancelled():
    with Server(revision="2025-11-25") as server:
        server.send(*(request(n, "tools/call", {"name": "count", "arguments": {"to": 100000, "pause_ms": 10}})
                      for n in range(256)))
        server.send(request("one more", "tools/call", {"name": "count", "arguments": {"to": 1}}),
                    request("quick", "tools/call", {"name": "echo", "arguments": {"text": "a"}}), request("p", "ping"))
        answers = {answer["id"]: answer for answer in (server.receive() for _ in range(3))}
        equal(answers["p"]["result"], {}, "ping")
        equal(answers["one more"]["result"]["isError"], True, "one more")
        expect("Too many calls" in answers["one more"]["result"]["content"][0]["text"], answers["one more"])
        equal(answers["quick"]["result"]["structuredContent"], {"text": "a"}, "a quick one")
        server.send(*(notification("notifications/cancelled", {"requestId": n}) for n in range(256)))
        equal(server.call("count", to=1)["structuredContent"], {"counted": 1}, "then")


@test
def the_last_request_is_answered_though_its_line_has_no_end():
    server = Server(revision="2025-11-25")
    server.send(*(request(n, "tools/call", {"name": "count", "arguments": {"to": 1, "pause_ms": 200}}) for n in range(256)))
    server.send(json.dumps(request("last", "tools/call", {"name": "echo", "arguments": {"text": "a"}})).encode())
    answers = {answer["id"]: answer for answer in server.close()}
    expect("last" in answers, "it was not answered")
    equal(answers["last"]["result"]["structuredContent"], {"text": "a"}, "the last")


@test
def only_the_tools_of_one_service_if_that_is_wanted():
    with Server("--service", "trading", revision="2025-11-25") as server:
        equal([tool["name"] for tool in server.result("tools/list")["tools"]], ["artifact_fail"])
        equal(server.ask("tools/call", {"name": "echo", "arguments": {"text": "a"}})["error"]["code"], -32602)


@test
def a_failure_at_the_start_is_told_on_stderr():
    done = subprocess.run([WORKSHOP, "mcp", "--service", "nobody"], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=PATIENCE, check=False)
    equal(done.stdout, b"", "standard output")
    answer = json.loads(done.stderr.decode().strip().splitlines()[-1])
    equal((answer["ok"], answer["error"]["code"]), (False, "ARG_ERROR"))
    equal(done.returncode, 2, "exit status")


@test
def the_todo_service_works_from_end_to_end():
    with Server(program=MISHAP, revision="2025-11-25") as server:
        user = server.call("create_user", name="Ada", email="ada@example.com", age=36)["structuredContent"]
        equal(server.call("get_user", id=user["id"])["structuredContent"]["name"], "Ada")
        again = server.call("create_user", name="Ada", email="ada@example.com", age=36)
        equal(again["isError"], True)
        bad = server.call("create_user", name="", age=200, email="invalid")
        equal([field["field"] for field in bad["structuredContent"]["fields"]], ["name", "age", "email"])
        missing = server.call("get_user", id=987654)
        equal(missing["isError"], True)


main()
