"""What the tests of Streamable HTTP share: the server, one request to it, what holds for refusals, progress and streams.

The server is tests/mcp/conformance.c. Revisions with sessions are called the older ones, 2026-07-28 the stateless one.
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import equal, expect, run_program  # noqa: E402
from exchange import Exchange, message, repeated  # noqa: E402

PROGRAM = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
server.PROGRAM = PROGRAM


def shared():
    return server.server("mcp", "--workers", "2", "--body-limit", "1000", "--mcp-body-limit", "100000")


def ask(body, fields=None, method="POST", found=None):
    with Exchange(found or shared(), method, body, fields) as exchange:
        return exchange


def ask_stateless(said, **fields):
    return ask(said, repeated(said, **fields))


# The code of the catalog that a refusal of a status tells in its `data`.
REFUSED_AS = {400: {"BAD_REQUEST", "VALIDATION_ERROR"}, 403: {"FORBIDDEN"}, 404: {"NOT_FOUND"}, 406: {"NOT_ACCEPTABLE"},
              413: {"CONTENT_TOO_LARGE"}, 415: {"UNSUPPORTED_MEDIA_TYPE"}, 429: {"RATE_LIMITED"}}


def check_refusal(found, code):
    """`data` of a refusal is the canonical error, whose message is that of the error itself."""
    error = found.json["error"]
    data = error["data"]
    equal((set(error), error["code"]), ({"code", "message", "data"}, code), "the error")
    expect(data["code"] in REFUSED_AS[found.status], found.status, "is told as", data)
    equal(data["message"], error["message"], "the message")
    judged = run_program(os.environ["MISHAP_PROGRAM"], "check", "--dialect", "canonical", "--strict",
                         stdin=json.dumps(data).encode())
    equal(judged.status, 0, judged.out)


def check_progress(events, token, steps):
    said = [event.json["params"] for event in events if event.data and event.json.get("method") == "notifications/progress"]
    expect(said, "no progress")
    for item in said:
        expect(item["progressToken"] == token and type(item["progressToken"]) is type(token), "the token of", item)
        equal(item["total"], steps, "the total")
    values = [item["progress"] for item in said]
    expect(values == sorted(set(values)), "it does not grow:", values)
    return values


def wait_until_over(session, id):
    """Until the call with this id has been answered, or cancelled: then another call may have it."""
    deadline = time.monotonic() + server.PATIENCE
    while session.post(message("ping", id=id)).status != 200:
        expect(time.monotonic() < deadline, "it does not end")
        time.sleep(0.05)


def standing(session):
    return session.exchange("GET", Accept="text/event-stream")
