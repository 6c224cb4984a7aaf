"""Nothing internal leaves: a program that tries to tell a secret, stack traces and what is noted, in every way there is.

    MISHAP_PROGRAM=… LEAKY_PROGRAM=… python3 tests/mcp/leak_test.py [PART-OF-A-NAME]

The server is tests/mcp/leaky.c, over standard input and output and over HTTP. That nothing private is in a message is
seen wherever one is read, in talk.py and exchange.py; here it is made to try, and what stands in place of it is looked
at, so that it is known to have tried.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
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
leaks.own = True
HIDDEN, REMOVED, INTERNAL = "[redacted]", "A stack trace was removed here.", "An internal error occurred."

# What a way of leaking looks like in the end: what must stand in the answer. A success is the program's own.
SECRET, TRACE = "the secret itself", 'File "marker-private.py", line 3, in helper'
ENDS = {"answer": [SECRET, TRACE], "document": [SECRET], "trace": [TRACE], "content": [SECRET, TRACE],
        "raise": [HIDDEN, REMOVED], "undeclared": [INTERNAL], "crash": [INTERNAL]}
WORKS = ["answer", "document", "trace", "content"]
LOGGED = {"raise": "marker-private-noted", "undeclared": "marker-private-cause", "crash": "SIGSEGV"}


def arguments(how, password=PASSWORD):
    return {"how": how, "password": password}


# ---- What is heard -------------------------------------------------------------------------------

def check_end(how, answer, password=HIDDEN, context=True):
    """The answer: if it is a failure, with what was meant to be in it replaced. Some dialects show no context."""
    text = "\n".join(leaks.texts_of(answer))
    for words in ENDS[how]:
        words = {HIDDEN: password, SECRET: PASSWORD if password == HIDDEN else password}.get(words, words)
        expect(words in text or words == REMOVED and not context, words, "is not in the answer:", answer)
    if how in WORKS:
        expect(HIDDEN not in text and REMOVED not in text, "a success was changed:", answer)


def check_reports(messages, password=HIDDEN, words=True):
    """Three reports of progress and three log messages, of which the first is a secret and the second a trace. Progress
    has no words in the first revision. Of reports of progress that come too close together only the last is told, so on a busy
    machine the second may be missing."""
    said = {"notifications/progress": [], "notifications/message": []}
    for item in messages:
        if item.get("method") in said:
            said[item["method"]].append(item["params"].get("message") or item["params"].get("data"))
    wanted = [password, REMOVED, "all of it"]
    equal(said["notifications/message"], wanted, "what was logged")
    progress = wanted if words else [None] * 3
    expect(said["notifications/progress"] in (progress, [progress[0], progress[2]]), "what was reported:", said)


def check_log(text, how):
    """Nothing internal is lost, but a secret is no more in the log than anywhere."""
    expect(LOGGED.get(how, "") in text, LOGGED.get(how), "is not in the log:", text)
    expect("removed from the answer" not in text, "a success is in the log:", text)
    expect(PASSWORD not in text, "the secret is in the log:", text)


# ---- Over standard input and output --------------------------------------------------------------

def log_of(found, how):
    """What is in the log, as soon as it has what it must have."""
    deadline, text = time.monotonic() + talk.PATIENCE, ""
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError), open(os.path.join(found.data.name, "log"), encoding="utf-8") as log:
            text = log.read()
        if LOGGED.get(how, "") in text:  # what works is not logged
            break
        time.sleep(0.01)
    return text


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
            check_reports(before, words=revision > "2024-11-05")
            check_end(how, answer)
            check_log(log_of(found, how), how)


@tests_of({name: name for name in ["quick_leak", "report_leak", "artifact_leak"]})
def other_tools_leak_nothing(tool):
    with leaky("2025-11-25") as found:
        for how in ENDS:
            _, answer = ask(found, "2025-11-25", "tools/call", name=tool, arguments=arguments(how))
            check_end(how, answer, context=tool != "report_leak")
            check_log(log_of(found, how), how)


@tests_of(TWO)
def a_prompt_leaks_nothing(revision):
    with leaky(revision) as found:
        for how in ENDS:
            before, answer = ask(found, revision, "prompts/get", name="leak", arguments=arguments(how))
            check_reports(before)
            check_end(how, answer)
            check_log(log_of(found, how), how)


@tests_of(TWO)
def a_resource_leaks_nothing(revision):
    with leaky(revision) as found:
        for how in ENDS:  # a secret is no part of an address
            before, answer = ask(found, revision, "resources/read", uri="leaky://tries/" + how)
            check_reports(before, "nobody")
            check_end(how, answer, "nobody")
            check_log(log_of(found, how), how)


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


def wait_for_entries(found, id, words, count=1):
    """All entries of the log under an id, as soon as these words are among them so often."""
    deadline = time.monotonic() + server.PATIENCE
    while True:
        entries = re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ )", found.read(found.log).decode("utf-8", "replace"), flags=re.M)
        text = "".join(entry for entry in entries if id in entry.split("\n")[0])
        if text.endswith("\n") and text.count(words) >= count:
            return text
        expect(time.monotonic() < deadline, words, "is not in the log, or not so often:", text)
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
    text = wait_for_entries(shared(), found["X-Request-Id"], LOGGED.get(how, ""))
    check_log(text, how)
    unsaid = "Text of a report was not sent, since it is a leak."
    equal(wait_for_entries(shared(), found["X-Request-Id"], unsaid, 2).count(unsaid), 2, "what was not said")


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
        check_end(how, found.json, "nobody" if said["method"] == "resources/read" else HIDDEN,
                  said["params"].get("name") != "report_leak")


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
                expect(told.is_silent(0.5), "more was told:", told.connection.received)


@test
def the_http_api_leaks_nothing():
    with shared().connect() as one:
        for how in ENDS:
            found = one.ask("POST", "/leak", arguments(how))
            equal(found.status, {"raise": 404, "undeclared": 500, "crash": 500}.get(how, 200), how)
            if found.status < 500:
                text = "\n".join(leaks.texts_of(found.json)) if found["Content-Type"].endswith("json") else found.body.decode()
                check_end(how, text, context=False)


# ---- Secrets of all types, at any depth ----------------------------------------------------------

KEYS = ["vault-key-\u00e9 one", 'vault-key-"two"', "vault-key-%33"]
NUMBERS = [27182818281, 27182818282.5, 27182818283, 27182818284, 27182818285]
VAULT = {"holder": {"name": "Ada", "pin": NUMBERS[0], "rate": NUMBERS[1], "keys": KEYS[:2]},
         "holders": [{}, {"name": "Bob", "pin": NUMBERS[2], "keys": [KEYS[2]]}],
         "code": NUMBERS[3], "content": {"vault-key-four": ["vault-key-five", NUMBERS[4], True]}}
leaks.secrets.update(["vault-key", "2718281828"])
FAILS = {"raise": "NOT_FOUND", "undeclared": "INTERNAL_ERROR", "crash": "INTERNAL_ERROR", "exit": "INTERNAL_ERROR",
         "nonsense": "INTERNAL_ERROR", "hang": "TIMEOUT"}
WRONG = {"a member": {"holder": {"pin": 271828182819999}}, "a number": {"holder": {"rate": 271828182819999.5}},
         "an item": {"holder": {"keys": ["vault-key" * 10]}}, "a type": {"holder": {"pin": "vault-key"}},
         "a member of an item": {"holders": [{"pin": "vault-key"}]}, "an integer": {"code": "vault-key"},
         "a whole": {"content": "vault-key"}, "an array": {"holder": {"keys": "vault-key"}}}


def check_nothing_said(*texts):
    for text in texts:
        for secret in ["vault-key", "2718281828", "2.718281828"]:
            expect(secret not in text, secret, "in", text)


@test
def no_secret_of_any_type_leaves_over_a_pipe():
    with talk.Server("--verbose", program=LEAKY, revision="2025-11-25") as found:
        found.result("logging/setLevel", {"level": "debug"})
        calls = [(code, dict(VAULT, end=end)) for end, code in FAILS.items()]
        for code, given in calls + [("VALIDATION_ERROR", wrong) for wrong in WRONG.values()]:
            before, answer = ask(found, "2025-11-25", "tools/call", name="vault_use", arguments=given)
            text = "\n".join(leaks.texts_of([before, answer]))
            equal((answer["result"]["isError"], answer["result"]["structuredContent"]["code"]), (True, code), given)
            check_nothing_said(text)
            expect("Ada" in text or code != "NOT_FOUND", "too much is hidden:", text)
        # What a handler prints itself goes to standard error, and is not checked.
        said = "".join(line for line in found.stderr().decode().splitlines(True) if not line.startswith("It is {"))
        log = log_of(found, "crash")
        check_nothing_said(log, said)
        expect("Ada" in log and "SIGSEGV" in log, "the log has nothing:", log)


@test
def no_secret_of_any_type_leaves_over_http():
    with shared().connect() as one:
        for end, code in FAILS.items():
            found = one.ask("POST", "/vault", dict(VAULT, end=end))
            equal(found.status, {"NOT_FOUND": 404, "TIMEOUT": 504}.get(code, 500), end)
            check_nothing_said(found.head.decode("latin-1"), found.body.decode(), "\n".join(leaks.texts_of(found.json)))
        for what, wrong in WRONG.items():
            found = one.ask("POST", "/vault", wrong)
            equal(found.status, 422 if found.json["error"] == "validation_error" else 400, what)
            check_nothing_said(found.body.decode())
        for query in ["holder=%7B%22pin%22%3A27182818281%7D", "code=27182818284", "content=%7B%22vault-key%22:1%7D"]:
            found = one.ask("POST", "/vault?" + query, {})
            equal(found.status, 400, query)
            expect("is secret" in found.json["message"], found)
    check_nothing_said(shared().read(shared().log).decode())


@test
def no_secret_of_any_type_leaves_a_command():
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, LEAKY_LOG=os.path.join(folder, "log"), LEAKY_CONTENT=json.dumps(VAULT["content"]))
        words = []
        for name in ["holder", "holders", "code"]:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                print(json.dumps(VAULT[name]), file=file)
            words += ["--" + name, "@" + file.name]

        def run(*more):
            found = subprocess.run([LEAKY, "vault", "use", *more], env=env, capture_output=True, timeout=300, check=False)
            check_nothing_said(found.stdout.decode(), found.stderr.decode())
            return found.stdout.decode() + found.stderr.decode()

        for end, code in FAILS.items():
            for output in ["json", "text"]:
                expect(code in run("--end", end, "--output", output, "--verbose", *words), end, "is not told")
        expect("Ada" in run(*words), "too much is hidden")
        for what, wrong in WRONG.items():
            (name, value), = wrong.items()
            with open(os.path.join(folder, "wrong"), "w", encoding="utf-8") as file:
                print(json.dumps(value) if isinstance(value, (dict, list)) else value, file=file)
            expect("ARG_ERROR" in run("--output", "json", "--" + name, "@" + file.name), what, "is not refused")
            said = subprocess.run([LEAKY, "vault", "use", "--output", "json", "--%s=%s" % (name, json.dumps(value))], env=env,
                                  capture_output=True, timeout=300, check=False).stdout.decode()
            check_nothing_said(said)
            expect('"SECRET_IN_ARGUMENTS"' in said.upper(), what, "is taken from the command line:", said)
        with open(env["LEAKY_LOG"], encoding="utf-8") as log:
            check_nothing_said(log.read())


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
