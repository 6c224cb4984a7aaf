"""The trace of a caller reaches the handler, which gets it as a `traceparent` for requests of its own (mishap_call_trace).

    MISHAP_PROGRAM=… TRACED_PROGRAM=… python3 tests/http/trace_test.py [PART-OF-A-NAME]

Speaks TAP. The server is tests/http/traced.c.
"""
import itertools
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server  # noqa: E402
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, run_program, test, tests_of  # noqa: E402

TRACED = os.path.abspath(os.environ["TRACED_PROGRAM"])
TRACE, OTHER, SPAN = "0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736", "b7ad6b7169203331"
GOOD = {"one that is sampled": "00-%s-%s-01" % (TRACE, SPAN), "one that is not": "00-%s-%s-00" % (TRACE, SPAN),
        "a later version": "01-%s-%s-01-more" % (TRACE, SPAN)}
MALFORMED = {"capitals": "00-%s-%s-01" % (TRACE.upper(), SPAN), "no trace": "00-%s-%s-01" % ("0" * 32, SPAN), "no span": "00-%s-%s-01" % (TRACE, "0" * 16),
             "half of one": "00-%s" % TRACE, "no version": "ff-%s-%s-01" % (TRACE, SPAN), "other bytes": "00-%s-%s-0\xe9" % (TRACE, SPAN),
             "a text": "x" * 300, "nothing": ""}


def the_server():
    if not the_server.found:
        the_server.found = server.Server("--workers", "1", program=TRACED)
    return the_server.found


the_server.found = None


def parts(text):
    """Trace, span and flags of a traceparent that we made."""
    found = re.fullmatch("00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})", text)
    expect(found and set(found[1]) != {"0"} and set(found[2]) != {"0"}, "no traceparent:", text)
    return found.groups()


def expect_trace(text, trace, given=None):
    """The caller's trace, with a span of this call; or without one, a new trace."""
    found, span, flags = parts(text)
    if trace:
        equal((found, flags), (trace, given[53:55]), "trace and flags")
        expect(span != SPAN, "the span is that of the caller:", text)
    else:
        expect(found not in (TRACE, OTHER) and span in found, "no new trace:", text)


def told(path, given=None):
    """What the handler tells, over HTTP."""
    found = the_server().ask("GET", path, fields=[("traceparent", given)] if given is not None else ())
    equal(found.status, 200, found)
    equal(found.json["again"], found.json["trace"], "asked again")
    return found


@tests_of({"%s, %s" % (where, name): (path, text) for name, text in GOOD.items() for where, path in (("a worker", "/trace"), ("the loop", "/trace/quick"))})
def a_header_reaches_the_handler_in(path, text):
    found = told(path, text)
    expect_trace(found.json["trace"], TRACE, text)
    loops, workers = the_server().workers(), the_server().handlers()
    expect(found.json["pid"] in (workers if path == "/trace" else loops), "it ran in", found.json["pid"], "loops:", loops, "workers:", workers)


@tests_of({"%s, %s" % (where, name): (path, text) for name, text in MALFORMED.items() for where, path in (("a worker", "/trace"), ("the loop", "/trace/quick"))})
def a_malformed_header_makes_a_new_trace_in(path, text):
    traces = {told(path, text).json["trace"] for _ in range(2)}
    equal(len(traces), 2, "traces of two calls")
    for trace in traces:
        expect_trace(trace, None)


@tests_of({"a worker": "/trace", "the loop": "/trace/quick"})
def two_headers_make_a_new_trace_in(path):
    """Which of them is meant is not known."""
    for pair in itertools.product((TRACE, OTHER, "malformed"), repeat=2):
        fields = [(name, "00-%s-%s-01" % (trace, SPAN)) for name, trace in zip(("traceparent", "Traceparent"), pair)]
        expect_trace(the_server().ask("GET", path, fields=fields).json["trace"], None)


@test
def without_a_header_the_trace_is_the_id_of_the_request():
    found = told("/trace")
    equal(parts(found.json["trace"])[0], found.id.replace("-", ""), "the trace")


@tests_of({"of the caller": "00-%s-%s-01" % (TRACE, SPAN), "that is new": None})
def the_record_of_a_failure_has_the_trace(text):
    """The same trace and span as the handler was told, so that its requests to others are found from the incident."""
    found = the_server().ask("GET", "/trace/lost", fields=[("traceparent", text)] if text else ())
    equal(found.status, 404)
    trace, span, _ = parts(found.json["details"]["trace"])
    shown = server.wait_for(lambda: (lambda ran: ran.status == 0 and json.loads(ran.out)["data"])(run_program(
        TRACED, "incidents", "show", found.id, "--output", "json", env={"TRACED_LOG": the_server().log, "TRACED_DATA": the_server().data})))
    expect(shown, "no incident", found.id)
    equal((shown["incident"]["trace"]["id"], shown["incident"]["trace"]["span"]), (trace, span), "trace and span")


def calls_over(way, tool, meta=None, header=None):
    """What a tool answers, with this in `_meta` and in the header over HTTP."""
    call = exchange.call(tool)
    if meta is not None:
        call["params"]["_meta"] = {"traceparent": meta}
    if way == "http":
        return exchange.Session(the_server()).post(call, traceparent=header).json["result"]["structuredContent"]
    with talk.Server(program=TRACED, revision="2025-11-25") as agent:
        return agent.result("tools/call", call["params"])["structuredContent"]


@tests_of({"over HTTP": "http", "on standard input": "stdio"})
def meta_of_mcp_reaches_the_handler(way):
    for text in GOOD.values():
        expect_trace(calls_over(way, "trace_tell", text)["trace"], TRACE, text)
        expect_trace(calls_over(way, "trace_quick", text)["trace"], TRACE, text)


@tests_of({"over HTTP": "http", "on standard input": "stdio"})
def malformed_meta_makes_a_new_trace(way):
    for text in [*MALFORMED.values(), 7, {"a": 1}, "00-%s-%s\x00-01" % (TRACE, SPAN), "\x00", "x" * 100000]:
        expect_trace(calls_over(way, "trace_tell", text)["trace"], None)


@test
def meta_goes_before_the_header():
    meta, header = "00-%s-%s-01" % (OTHER, SPAN), "00-%s-%s-01" % (TRACE, SPAN)
    expect_trace(calls_over("http", "trace_tell", meta, header)["trace"], OTHER, meta)
    expect_trace(calls_over("http", "trace_tell", None, header)["trace"], TRACE, header)
    expect_trace(calls_over("http", "trace_tell", "malformed", None)["trace"], None)


@test
def a_command_has_the_trace_of_its_environment():
    given = "00-%s-%s-01" % (TRACE, SPAN)
    env = {"TRACED_LOG": os.path.join(server.FOLDER, "command.log")}
    for text, trace in ((given, TRACE), ("malformed", None), ("", None), ("00-%s-%s-0\udce9" % (TRACE, SPAN), None)):
        ran = run_program(TRACED, "trace", "tell", "--output", "json", env={**env, "TRACEPARENT": text})
        equal(ran.status, 0, ran)
        expect_trace(json.loads(ran.out)["data"]["trace"], trace, text)


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
