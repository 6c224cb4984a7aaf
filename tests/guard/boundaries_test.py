"""The guard at each boundary: a handler fails with a text that shows the inside of the program, and no caller gets it.

    MISHAP_PROGRAM=… SPILLER_PROGRAM=… python3 tests/guard/boundaries_test.py [PART-OF-A-NAME]

The program is tests/guard/spiller.c. Each text has the word marker-private in it. The operator has to get it, or at least to be told what was
removed: credentials, connection strings and environments are not written to the log by the guard.
"""
import json
import os
import re
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, folder) for folder in ("http", "mcp", "cli")]
import server  # noqa: E402
import leaks  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402

SPILLER = os.path.abspath(os.environ["SPILLER_PROGRAM"])
MARK = "marker-private"
# What a caller reads, and the rule of src/guard that has found it.
REMOVED = {
    "trace": "A stack trace was removed here.",
    "javascript": "A stack trace was removed here.",
    "sql": "A message of a database was removed here.",
    "connection": "A connection string was removed here.",
    "credential": "A credential was removed here.",
    "environment": "Environment variables were removed here.",
}
STRICT = {  # only with --guard strict
    "path": "A path was removed here.",
    "host": "An internal address was removed here.",
    "source": "Source code was removed here.",
}
leaks.secrets.discard(MARK)  # what is not replaced may be read here
ECHO = "postgresql://me:mine@10.1.2.3/x at f (/srv/a.js:1:2)"


def text_of(said):
    return said.decode() if isinstance(said, bytes) else said


def the_server(guard):
    return server.server(guard, "--workers", "1", "--guard", guard, program=SPILLER)


def over_http(kind, guard, said=""):
    found = the_server(guard).ask("POST", "/spill", json.dumps({"kind": kind, "said": said}).encode(), checked=False)
    equal(found.status, 409, "status")
    return found.body.decode(), lambda: records(lambda: the_server(guard).read(the_server(guard).log).decode(), found["X-Request-Id"])


AGENTS = {}


def the_agent(guard):
    if guard not in AGENTS:
        AGENTS[guard] = talk.Server("--guard", guard, program=SPILLER, revision="2025-11-25")
    return AGENTS[guard]


def over_mcp(kind, guard, said=""):
    agent = the_agent(guard)
    result = agent.call("spill", kind=kind, said=said)
    expect(result["isError"], "a failure:", result)
    return json.dumps(result), lambda: records(lambda: read_log(agent.data.name), f'"kind":"{kind}"')


def by_command(kind, guard, said="", *flags):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        env = dict(os.environ, SPILLER_LOG=log, SPILLER_GUARD=guard, ASAN_OPTIONS="detect_leaks=0")
        answer = run_program(SPILLER, "spill", kind, *(["--said", said] if said else []), *flags, env=env)
        expect(answer.status not in (0, 1), "exit code", answer.status)
        with open(log, encoding="utf-8") as file:
            text = file.read()
        return text_of(answer.out) + text_of(answer.err), lambda: text


def for_a_person(kind, guard, said=""):
    return by_command(kind, guard, said, "--output", "text")


def in_a_dialect(kind, guard, said=""):
    return by_command(kind, guard, said, "--dialect", "problem")


def from_c(kind, guard, said=""):
    answer = run_program(SPILLER, "call", kind, said, env=dict(os.environ, SPILLER_GUARD=guard, SPILLER_LOG="", ASAN_OPTIONS="detect_leaks=0"))
    public_side, _, account = text_of(answer.out).partition("\n")
    parsed(public_side.encode())
    return public_side, lambda: account


BOUNDARIES = {"http": over_http, "mcp": over_mcp, "cli": by_command, "a person": for_a_person, "a dialect": in_a_dialect, "c": from_c}


def read_log(folder):
    with open(os.path.join(folder, "log"), encoding="utf-8") as file:
        return file.read()


def records(read, words):
    """The records of the log with these words, as soon as there is one."""
    deadline = time.monotonic() + 60
    while True:
        found = [entry for entry in re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ |\{)", read(), flags=re.M) if words in entry and entry.endswith("\n")]
        if found:
            return "\n".join(found)
        expect(time.monotonic() < deadline, words, "is not in the log")
        time.sleep(0.05)


def check_removed(boundary, kind, guard, sentence):
    said, recorded = BOUNDARIES[boundary](kind, guard)
    expect(MARK not in said, kind, "has left:", said)
    expect(sentence in said, sentence, "is not in", said)
    expect("CONFLICT" in said or "conflict" in said.lower(), "the code stays:", said)
    text = recorded()
    expect("removed" in text, "the operator is not told:", text)
    if kind in ("trace", "javascript", "sql", "path", "host", "source"):
        expect(MARK in text, "the operator does not see what was removed:", text)


@tests_of({f"{boundary}: {kind}": (boundary, kind) for boundary in BOUNDARIES for kind in REMOVED})
def what_is_certain_is_replaced(boundary, kind):
    check_removed(boundary, kind, "normal", REMOVED[kind])


@tests_of({f"{boundary}: {kind}": (boundary, kind) for boundary in BOUNDARIES for kind in STRICT})
def what_is_likely_stays_and_is_recorded(boundary, kind):
    said, recorded = BOUNDARIES[boundary](kind, "normal")
    expect(MARK in said, "it is gone:", said)
    if boundary != "c":  # the C program has the text itself
        text = recorded()
        expect("A failure may show the inside of the program." in text and kind in text, "the record does not name it:", text)


@tests_of({f"{boundary}: {kind}": (boundary, kind) for boundary in BOUNDARIES for kind in STRICT})
def what_is_likely_is_replaced_if_the_guard_is_strict(boundary, kind):
    check_removed(boundary, kind, "strict", STRICT[kind])


@tests_of({f"{boundary}: {guard}": (boundary, guard) for boundary in BOUNDARIES for guard in ("normal", "strict")})
def what_the_caller_sent_is_no_leak(boundary, guard):
    said, _ = BOUNDARIES[boundary]("echo", guard, ECHO)
    expect("removed here" not in said, "the caller's own words were taken for a leak:", said)
    expect("/srv/a.js:1:2" in said.replace("\\/", "/"), "they are not in the failure:", said)


@tests_of({boundary: boundary for boundary in BOUNDARIES})
def a_harmless_failure_stays_as_it_is(boundary):
    said, _ = BOUNDARIES[boundary]("harmless", "strict")
    expect("The card was declined." in said and "removed" not in said, said)


# ---- A report on code that the caller sent -------------------------------------------------------

OWN_PLACE = "    at pay (/srv/%s.js:3:14)" % MARK
OWN_OUTPUT = "TypeError: x\n" + OWN_PLACE
OWN_FRAMES = ['(SB-KERNEL:INTEGER-/-INTEGER "%s" 0)' % MARK, '(PAY "%s")' % OWN_PLACE]
BESIDE = {"host_frame": REMOVED["trace"], "host_output": REMOVED["trace"], "smtp_pass": REMOVED["credential"], "beside": "It is in line 3 of the input."}
REPORT = "[stdout]\n%s\n\n[ERROR] DIVISION-BY-ZERO\nThe code has failed.\n\n[Backtrace]\n0: %s\n1: %s\n" % (OWN_OUTPUT, *OWN_FRAMES)
DIALECTS = ["artifact", "canonical", "cli-envelope", "condition-report", "google-rpc", "graphql", "http-api", "json-api", "json-rpc", "problem",
            "tool-result"]
GUARDS = {guard: guard for guard in ("normal", "strict")}


def part_of(members, names):
    return {name: members.get(name) for name in names}


@tests_of(GUARDS)
def over_mcp_a_report_stays_and_the_same_text_beside_it_is_replaced(guard):
    agent = the_agent(guard)
    result = agent.call("code_run")
    equal(result["isError"], True, "a failure")
    equal(result["content"][0]["text"], REPORT, "the report")
    members = result["structuredContent"]
    equal((members["backtrace"], members["stdout"].rstrip("\n")), (OWN_FRAMES, OWN_OUTPUT), "the same as members")
    equal(part_of(members, BESIDE), BESIDE, "beside the report")
    expect("removed" in records(lambda: read_log(agent.data.name), "code.run"), "the operator is told")


@tests_of(GUARDS)
def over_http_a_report_stays_and_the_same_text_beside_it_is_replaced(guard):
    found = the_server(guard).ask("POST", "/code", b"{}", fields=[("Accept", "text/plain")], checked=False)
    equal((found.status, found.body.decode()), (500, REPORT), "the report")
    found = the_server(guard).ask("POST", "/code", b"{}", checked=False)
    expect(MARK not in found.body.decode(), "a format without a report has it:", found.body)
    found = the_server(guard).ask("POST", "/code", b"{}", fields=[("Accept", "application/problem+json")], checked=False)
    equal(part_of(parsed(found.body)["context"], BESIDE), BESIDE, "the problem")


def run_code(guard, *flags):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, SPILLER_LOG=os.path.join(folder, "log"), SPILLER_GUARD=guard, ASAN_OPTIONS="detect_leaks=0")
        return run_program(SPILLER, "code", "run", *flags, env=env)


@tests_of(GUARDS)
def in_a_command_a_report_stays_and_the_same_text_beside_it_is_replaced(guard):
    equal(text_of(run_code(guard, "--dialect", "condition-report").out), REPORT, "the report")
    error = parsed(run_code(guard, "--dialect", "canonical").out)
    equal((error["backtrace"], error["stdout"].rstrip("\n")), (OWN_FRAMES, OWN_OUTPUT), "the canonical form")
    equal(part_of(error["context"], BESIDE), BESIDE, "beside it")
    equal(part_of(parsed(run_code(guard).out)["error"]["context"], BESIDE), BESIDE, "the envelope")
    said = text_of(run_code(guard, "--output", "text").err)
    for own in [OWN_PLACE, *OWN_FRAMES]:
        expect(own in said, own, "is not in what a person reads:", said)
    equal((said.count(REMOVED["trace"]), said.count(REMOVED["credential"])), (2, 1), "beside it: " + said)


@tests_of(GUARDS)
def from_c_a_report_stays_and_the_same_text_beside_it_is_replaced(guard):
    said, _ = from_c("code", guard)
    error = parsed(said.encode())
    equal((error["backtrace"], error["stdout"].rstrip("\n")), (OWN_FRAMES, OWN_OUTPUT), "the report")
    equal(part_of(error["context"], BESIDE), BESIDE, "beside it")


@test
def a_text_of_the_program_stays_in_no_report():
    result = the_agent("normal").call("code_break")
    http = [the_server("normal").ask("POST", "/code/break", b"{}", fields=[("Accept", accepted)], checked=False)
            for accepted in ("text/plain", "application/json")]
    said = {"over MCP": json.dumps(result), "over HTTP, the report": http[0].body.decode(), "over HTTP": http[1].body.decode()}
    for name, text in said.items():
        expect(MARK not in text and REMOVED["trace"] in text, name, text)
    expect(said["over HTTP, the report"].startswith("[ERROR] "), "it is a report:", said)


@tests_of({dialect: dialect for dialect in DIALECTS})
def a_text_of_the_program_leaves_a_command_in_no_format(dialect):
    said, _ = by_command("trace", "normal", "", "--dialect", dialect)
    expect(MARK not in said and REMOVED["trace"] in said, said)


@test
def only_the_leaking_strings_are_replaced():
    said, _ = over_http("trace", "normal")
    context = parsed(said.encode())
    text = json.dumps(context)
    equal(text.count(REMOVED["trace"]), 2, "the message and the detail")
    expect('"beside"' in text, "what is beside stays:", text)


@test
def a_value_that_is_none_is_refused():
    answer = run_program(SPILLER, "spill", "harmless", "--output", "json", env=dict(os.environ, SPILLER_GUARD="lax", SPILLER_LOG=""))
    error = parsed(answer.out)["error"]
    expect("SPILLER_GUARD" in json.dumps(error), "it is not named:", error)
    expect("strict" in json.dumps(error), "nor what is allowed:", error)


@test
def all_ended_in_order():
    for agent in AGENTS.values():
        agent.close()
    server.all_ended_in_order()


main()
