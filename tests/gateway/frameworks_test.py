"""`mishap gateway` in front of servers of others: what an audit says of their errors before and after, and recorded errors of those that do not run here.

    MISHAP_PROGRAM=… MISHAP_NGINX_MODULE=… MISHAP_NODE_MODULES=… python3 tests/gateway/frameworks_test.py [PART-OF-A-NAME]

What is left after it are faults of another kind than the form of an error: a wrong status, or a field that the server does not name.
"""
import json
import os
import sys

from gatewayed import PROGRAM, TREE, Gateway, needed
from blackbox import Skipped, equal, expect, main, run_program, test, tests_of
from filtered import response

sys.path.insert(0, os.path.join(TREE, "tests", "audit"))
from auditing import audited, outcome  # noqa: E402
from targeted import SCHEMA, fastapi, javascript  # noqa: E402

# The score before and after, and the checks that fail after it: the server does not say which member is missing, answers a wrong method with 404, breaks
# at a body that is no JSON, or refuses HEAD.
SCORES = {
    "express": (lambda: javascript("express", "express"), 0, 90, {"http-required-named", "http-wrong-method"}),
    "fastify": (lambda: javascript("fastify", "fastify"), 83, 91, {"http-required-named", "http-wrong-method"}),
    "hono": (lambda: javascript("hono", "hono", "@hono/node-server"), 73, 84, {"http-malformed-json", "http-empty-body", "http-wrong-method"}),
    "fastapi": (fastapi, 87, 95, {"http-head"}),
}


def audit(url, *flags):
    """A whole audit. A server that refuses 3 MB closes the connection while they are sent: if that is too early, the answer is lost, and the audit is made
    again."""
    for _ in range(30):
        found = audited(url, *flags).results
        expect(found["complete"], "the audit is not complete")
        if outcome(found, "http-oversize-accepted") != "undecided":
            return found
    raise Skipped("the answer to a large body is lost each time")


@tests_of({name: (name, *row) for name, row in SCORES.items()})
def an_audit_has_a_better_score_and_no_leak(name, start, before, after, failing):
    needed()
    flags = ["--allow-writes"] + ([] if name == "fastapi" else ["--openapi", SCHEMA])
    with start() as target, Gateway(to=target.url) as gateway:
        plain, told = audit(target.url, *flags), audit("http://127.0.0.1:%d" % gateway.port, *flags)
        equal((plain["score"], told["score"]), (before, after))
        equal({row["id"] for row in told["checks"] if row["outcome"] == "failed"}, failing)
        equal((plain["leak"], told["leak"]), (name == "express", False))
        expect(gateway.incidents(), "nothing was recorded")


def recorded():
    """The responses of tests/upstream: status, type and body by name."""
    folder = os.path.join(TREE, "tests", "upstream", "responses")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            head, _, body = file.read().partition(b"\n\n")
        status, _, kind = head.decode().strip().partition(" ")
        yield name, int(status), kind, body


@test
def recorded_errors_of_other_frameworks_leave_in_one_form_without_leaks():
    bodies, told = [], []
    with Gateway() as gateway:
        for name, status, kind, body in recorded():
            answer = gateway.through("/" + name, response(status, body, *(["Content-Type: " + kind] if kind else []), "Connection: close"))
            if status < 400:
                equal(answer.body, body, name)
                continue
            equal((answer.status, answer.fields["Content-Type"]), (status, "application/json"), name)
            expect(set(json.loads(answer.body)) <= {"error", "message", "details", "context", "incident", "suggestion", "retry_after_ms"}, name, answer.body)
            told.append(answer.body)
            bodies.append(body)
        expect(len(told) > 100, "there are only", len(told))
        equal(len(gateway.incidents()), len(told))
    equal(run_program(PROGRAM, "scan", "--least", "high", stdin=b"\n".join(bodies)).status, 79, "nothing leaks before")
    found = run_program(PROGRAM, "scan", stdin=b"\n".join(told))
    equal(found.status, 0, found.out)


main()
