"""Nothing internal leaves: a program that tries to tell a secret, stack traces and what is noted, in every way there is.

    MISHAP_PROGRAM=… LEAKY_PROGRAM=… python3 tests/mcp/leak_test.py [PART-OF-A-NAME]

The server is tests/mcp/leaky.c, over standard input and output and over HTTP. That nothing private is in a message is
seen wherever one is read, in talk.py and exchange.py; here it is made to try, and what stands in place of it is looked
at, so that it is known to have tried.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
import leaks  # noqa: E402, behind the one that knows where it is
import talk  # noqa: E402
from blackbox import equal, expect, main, test, tests_of  # noqa: E402
from exchange import META, Exchange, Session, call, message, repeated, stateless  # noqa: E402
from server import Closed  # noqa: E402

LEAKY = os.path.abspath(os.environ["LEAKY_PROGRAM"])
server.PROGRAM = LEAKY

PASSWORD, PIN = "open-sesame-4711", 471147114711
leaks.secrets.update([PASSWORD, str(PIN)])
HIDDEN, REMOVED, INTERNAL = "[redacted]", "A stack trace was removed here.", "An internal error occurred."

# What a way of leaking looks like in the end: what must stand in the answer.
ENDS = {"answer": [HIDDEN, REMOVED], "document": [HIDDEN], "trace": [REMOVED], "content": [HIDDEN, REMOVED],
        "raise": [HIDDEN], "undeclared": [INTERNAL], "crash": [INTERNAL]}
LOGGED = {"answer": "marker-private.py", "trace": "marker-private.py", "content": "marker-private.py",
          "raise": "marker-private-noted", "undeclared": "marker-private-cause", "crash": "SIGSEGV", "document": ""}


def arguments(how, password=PASSWORD):
    return {"how": how, "password": password}


# ---- What is heard -------------------------------------------------------------------------------

def check_end(how, answer, password=HIDDEN):
    """The answer, with what was meant to be in it replaced."""
    text = "\n".join(leaks.texts_of(answer))
    for words in ENDS[how]:
        words = password if words == HIDDEN else words
        expect(words in text, words, "is not in the answer:", answer)


def check_reports(messages, password=HIDDEN):
    """Three reports of progress and three log messages, of which the first is a secret and the second a trace."""
    said = {"notifications/progress": [], "notifications/message": []}
    for item in messages:
        if item.get("method") in said:
            said[item["method"]].append(item["params"].get("message") or item["params"].get("data"))
    wanted = [password, REMOVED, "all of it"]
    equal(said, {"notifications/progress": wanted, "notifications/message": wanted}, "what was reported")


def check_log(text, how):
    """Nothing internal is lost, but a secret is no more in the log than anywhere."""
    expect(LOGGED[how] in text, LOGGED[how], "is not in the log:", text)
    expect(PASSWORD not in text, "the secret is in the log:", text)


# ---- Over standard input and output --------------------------------------------------------------

def log_of(found):
    try:
        with open(os.path.join(found.data.name, "log"), encoding="utf-8") as log:
            return log.read()
    except FileNotFoundError:
        return ""


REVISIONS = {revision: revision for revision in [*talk.LEGACY, talk.MODERN]}
TWO = {"in a session": "2025-11-25", "without one": talk.MODERN}


def leaky(revision):
    found = talk.Server(program=LEAKY, revision=revision)
    if revision in talk.LEGACY:
        equal(found.result("logging/setLevel", {"level": "debug"}), {}, "setLevel")
    return found


def ask(found, revision, method, **params):
    """What came before the answer, and the answer."""
    meta = {"progressToken": "t"}
    if revision == talk.MODERN:
        meta = dict(talk.META, **{META + "logLevel": "debug"}, **meta)
    found.count += 1
    found.send(talk.request(found.count, method, dict(params, _meta=meta)))
    return found.receive_all(found.count)


@tests_of(REVISIONS)
def a_tool_leaks_nothing_over_a_pipe(revision):
    with leaky(revision) as found:
        for how in ENDS:
            before, answer = ask(found, revision, "tools/call", name="leak", arguments=arguments(how))
            check_reports(before)
            check_end(how, answer)
            check_log(log_of(found), how)


@tests_of({name: name for name in ["quick_leak", "report_leak", "artifact_leak"]})
def other_tools_leak_nothing(tool):
    with leaky("2025-11-25") as found:
        for how in ENDS:
            _, answer = ask(found, "2025-11-25", "tools/call", name=tool, arguments=arguments(how))
            check_end(how, answer)
            check_log(log_of(found), how)


@tests_of(TWO)
def a_prompt_leaks_nothing(revision):
    with leaky(revision) as found:
        for how in ENDS:
            before, answer = ask(found, revision, "prompts/get", name="leak", arguments=arguments(how))
            check_reports(before)
            check_end(how, answer)
            check_log(log_of(found), how)


@tests_of(TWO)
def a_resource_leaks_nothing(revision):
    with leaky(revision) as found:
        for how in ENDS:  # a secret is no part of an address
            before, answer = ask(found, revision, "resources/read", uri="leaky://tries/" + how)
            check_reports(before, "nobody")
            check_end(how, answer, "nobody")
            check_log(log_of(found), how)


@test
def a_secret_that_is_wrong_is_not_quoted():
    with leaky("2025-11-25") as found:
        for wrong, how in [({"password": [PASSWORD]}, "invalid_type"), ({"pin": PIN}, "value_out_of_range")]:
            result = found.call("leak", how="answer", **wrong)
            equal((result["isError"], result["structuredContent"]["fields"][0]["error"]), (True, how), "refused")


@test
def a_change_is_told_to_who_knows_its_address_alone():
    with leaky("2025-11-25") as found:
        equal(found.result("resources/subscribe", {"uri": "leaky://open"}), {}, "subscribe")
        found.send(talk.request(1, "tools/call", {"name": "leak", "arguments": arguments("document")}),
                   talk.modern("l", "subscriptions/listen", notifications={"resourceSubscriptions": ["leaky://open"]}))
        came = []
        while sum("uri" in item.get("params", {}) for item in came) < 2 or not any(item.get("id") == 1 for item in came):
            came.append(found.receive())
        told = [item["params"]["uri"] for item in came if item.get("method") == "notifications/resources/updated"]
        equal(told, ["leaky://open"] * 2, "what was told")
        found.send(talk.notification("notifications/cancelled", {"requestId": "l"}))


# ---- Over HTTP -----------------------------------------------------------------------------------

def shared():
    return server.server("leaky", "--workers", "2")


def messages_of(events):
    return [event.json for event in events if event.data]


def wait_for_entries(found, id, words):
    """All entries of the log under an id, as soon as these words are among them."""
    deadline = time.monotonic() + server.PATIENCE
    while True:
        entries = re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ )", found.read(found.log).decode("utf-8", "replace"), flags=re.M)
        text = "".join(entry for entry in entries if id in entry.split("\n")[0])
        if text.endswith("\n") and words in text:
            return text
        expect(time.monotonic() < deadline, words, "is not in the log:", text)
        time.sleep(0.02)


def begin(session, how, token="t"):
    equal(session.post(message("logging/setLevel", {"level": "debug"})).json["result"], {}, "setLevel")
    return session.exchange("POST", call("leak", arguments(how), id=how, token=token))


@tests_of({how: how for how in ENDS})
def a_stream_leaks_nothing(how):
    session = Session(shared())
    with begin(session, how) as found:
        came = messages_of(found.events())
    check_reports(came)
    check_end(how, came[-1])
    text = wait_for_entries(shared(), found["X-Request-Id"], LOGGED[how])
    check_log(text, how)
    equal(text.count("A stack trace was removed from a report."), 2, "what was not said")


@tests_of({how: how for how in ENDS})
def a_stream_of_the_stateless_revision_leaks_nothing(how):
    meta = {"progressToken": "t", META + "logLevel": "info"}
    said = stateless("tools/call", {"name": "leak", "arguments": arguments(how)}, **meta)
    with Exchange(shared(), "POST", said, repeated(said)) as found:
        came = messages_of(found.events())
    check_reports(came)
    check_end(how, came[-1])


@tests_of({how: how for how in ENDS})
def a_whole_answer_leaks_nothing(how):
    for said in [call("leak", arguments(how)), call("quick_leak", arguments(how)), call("report_leak", arguments(how)),
                 message("prompts/get", {"name": "leak", "arguments": arguments(how)}),
                 message("resources/read", {"uri": "leaky://tries/" + how})]:
        found = Session(shared()).post(said, Accept="application/json")
        equal(found.status, 200, "the status")
        check_end(how, found.json, "nobody" if said["method"] == "resources/read" else HIDDEN)


def resume(session, first):
    """All messages behind an event. A worker that has crashed ends its streams, so they may have to be resumed again."""
    came, last, deadline = [], first.id, time.monotonic() + server.PATIENCE
    while not (came and "id" in came[-1]):
        expect(time.monotonic() < deadline, "the answer did not come:", came)
        try:
            with session.exchange("GET", Accept="text/event-stream", **{"Last-Event-ID": last}) as found:
                for event in iter(found.event, None):
                    came, last = came + messages_of([event]), event.id
        except (Closed, ConnectionError):  # it was on its way to that worker
            time.sleep(0.05)
    return came


@test
def a_stream_that_is_resumed_leaks_nothing():
    for how in ENDS:
        session = Session(shared())
        with begin(session, how) as broken:
            first = broken.event()
        for _ in range(2):  # while it runs, and what was kept of it
            came = resume(session, first)
            check_reports(messages_of([first]) + came)
            check_end(how, came[-1])


@test
def streams_of_changes_leak_nothing():
    said = stateless("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["leaky://open"]}})
    with server.Server("--workers", "2") as found:
        session = Session(found)
        equal(session.post(message("resources/subscribe", {"uri": "leaky://open"})).json["result"], {}, "subscribe")
        with session.exchange("GET", Accept="text/event-stream") as stream, \
                Exchange(found, "POST", said, repeated(said)) as listening:
            listening.event()
            for how in ENDS:
                if how == "crash":  # it ends the streams of its worker, too
                    continue
                session.post(call("leak", arguments(how)))
                for told in [stream, listening]:
                    equal(told.event().json["params"]["uri"], "leaky://open", how)
            for told in [stream, listening]:
                expect(told.connection.is_silent(0.5), "more was told:", told.connection.received)


@test
def the_http_api_leaks_nothing():
    with shared().connect() as one:
        for how in ENDS:
            found = one.ask("POST", "/leak", arguments(how))
            equal(found.status, {"raise": 404, "undeclared": 500, "crash": 500}.get(how, 200), how)
            for words in ENDS[how] if found.status < 500 else []:
                expect(words in found.body.decode(), words, "is not in", found)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
