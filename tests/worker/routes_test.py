"""Failures over HTTP in the format of the service whose routes are asked; failures of commands in any format.

    MISHAP_PROGRAM=… SETTLED_PROGRAM=… python3 tests/worker/routes_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from server import Server, request  # noqa: E402

PROGRAM = os.path.abspath(os.environ["MISHAP_PROGRAM"])
SETTLED = os.path.abspath(os.environ["SETTLED_PROGRAM"])


def ask(found, *arguments, **more):
    return found.ask(*arguments, checked=False, **more)


def is_artifact(response, status, code):
    """The dictionary, valid by the rules of its dialect."""
    equal(response.status, status, "the status")
    equal(response["Content-Type"], "application/json", "the type")
    body = response.json
    expect(set(body) <= {"success", "error", "code", "category", "retriable", "details"}, "members:", body)
    equal((body["success"], body["code"]), (False, code), "success and code")
    ran = run_program(PROGRAM, "check", "--dialect", "artifact", "--strict", "-", "--output", "json", stdin=response.body)
    expect(ran.status == 0, "it is not valid:", ran.out, response.body)


@test
def every_failure_below_the_routes_of_a_service_is_in_its_format_and_no_other_is():
    with Server("--workers", "1", "--body-limit", "300", program=SETTLED) as found:
        is_artifact(ask(found, "GET", "/entries/nothing"), 404, "not_found")
        is_artifact(ask(found, "DELETE", "/entries"), 405, "invalid_argument")
        is_artifact(ask(found, "POST", "/entries", {"key": 0}), 422, "invalid_argument")
        is_artifact(ask(found, "POST", "/entries", {"key": "x"}), 422, "invalid_type")
        is_artifact(ask(found, "POST", "/entries", {}), 422, "missing_argument")
        is_artifact(ask(found, "POST", "/entries", b"{", media_type="application/json"), 400, "invalid_argument")
        is_artifact(ask(found, "POST", "/entries", b"x" * 400), 413, "invalid_argument")
        is_artifact(ask(found, "POST", "/entries", b"x", media_type="text/csv"), 400, "invalid_argument")
        is_artifact(ask(found, "POST", "/entries", {"key": 1, "how": "fail"}), 404, "not_found")
        is_artifact(ask(found, "POST", "/entries", {"key": 1, "how": "crash"}), 500, "internal_error")
        is_artifact(ask(found, "POST", "/entries", {"key": 1, "how": "fail_to_settle"}), 503, "unavailable")
        for target, status in (("/nothing", 404), ("/entriesx", 404), ("/plain/x", 404), ("/entries/other", 404), ("/entries/other/x/y", 404)):
            failed = found.ask("GET", target)  # which is held against the usual format
            equal((failed.status, set(failed.json)), (status, {"error", "message"}), "the usual format at " + target)


@test
def a_client_can_still_ask_for_another_format():
    with Server("--workers", "1", program=SETTLED) as found:
        for accept, member in (("application/problem+json", "type"), ("application/json", "success"), ("*/*", "success"),
                               ("application/vnd.mishap+json", "mishap")):
            failed = ask(found, "GET", "/entries/nothing", fields={"Accept": accept})
            equal(failed.status, 404, "the status for " + accept)
            expect(member in failed.json or accept.endswith("mishap+json"), "another format for", accept, failed)
            equal(failed["Content-Type"].split(";")[0], "application/json" if accept == "*/*" else accept, "the type")


@test
def keys_and_rates_are_refused_in_the_same_format():
    with Server("--workers", "1", "--rate", "1", program=SETTLED) as found:
        refused = [ask(found, "GET", "/entries") for _ in range(40)]
        limited = [one for one in refused if one.status == 429]
        expect(limited and limited[0]["Retry-After"], "nothing was limited:", refused[-1])
        is_artifact(limited[0], 429, limited[0].json["code"])
        expect(limited[0].json["retriable"] is True, "not retriable:", limited[0])
    folder = os.path.join(server.FOLDER, "keyed")
    ran = run_program(SETTLED, "keys", "add", "--name", "alice", "--data", folder, "--output", "json")
    equal(ran.status, 0, "exit of `keys add`")
    with Server("--workers", "1", "--require-key", program=SETTLED, data=folder) as found:
        is_artifact(ask(found, "GET", "/entries"), 401, "not_authorized")
        is_artifact(ask(found, "GET", "/entries/nothing"), 401, "not_authorized")
        is_artifact(ask(found, "GET", "/entries", fields={"X-Api-Key": "mk_" + "x" * 43}), 401, "not_authorized")
        equal(set(found.ask("GET", "/plain/who").json), {"error", "message"}, "elsewhere")


@test
def openapi_describes_the_failures_of_such_routes_in_that_format():
    with Server("--workers", "1", program=SETTLED) as found:
        document = found.ask("GET", "/openapi.json").json
    components = document["components"]

    def content(path, method, status):
        name = document["paths"][path][method]["responses"][status]["$ref"].rsplit("/", 1)[1]
        return components["responses"][name]["content"]

    own = content("/entries", "post", "404")["application/json"]
    equal(own["schema"], {"$ref": "#/components/schemas/ArtifactError"}, "the schema")
    equal(own["examples"]["NOT_FOUND"]["value"]["success"], False, "an example")
    equal(content("/entries", "post", "default")["application/json"]["schema"]["$ref"].rsplit("/", 1)[1], "ArtifactError", "otherwise")
    equal(content("/plain/who", "get", "default")["application/json"]["schema"]["$ref"].rsplit("/", 1)[1], "Error", "elsewhere")
    expect("message" in list(content("/plain/who", "get", "500")["application/json"]["examples"].values())[0]["value"], "elsewhere")
    expect("ArtifactError" in components["schemas"], "the schema is missing")


@test
def a_command_prints_its_failure_in_the_format_that_is_asked_for():
    variables = {"SETTLED_DATA": os.path.join(server.FOLDER, "printed"), "SETTLED_LOG": ""}
    usual = run_program(SETTLED, "entries", "add", "--key", "1", "--how", "fail", env=variables)
    expect(parsed(usual.out)["ok"] is False, "no envelope:", usual)
    for dialect in ("artifact", "http-api", "problem", "json-rpc", "google-rpc", "json-api", "graphql", "canonical", "tool-result",
                    "condition-report", "cli-envelope"):
        ran = run_program(SETTLED, "entries", "add", "--key", "1", "--how", "fail", "--dialect", dialect, env=variables)
        equal((ran.status, ran.err), (usual.status, b""), "how it ended with " + dialect)
        expect(ran.out.endswith(b"\n"), "the last line:", ran.out)
        verified = run_program(PROGRAM, "check", "--dialect", dialect, "-", "--output", "json", stdin=ran.out)
        equal(verified.status, 0, "%s: %r %r" % (dialect, ran.out, verified.out))
    shown = run_program(SETTLED, "entries", "add", "--key", "1", "--how", "fail", "--dialect", "artifact", env=variables)
    equal(parsed(shown.out), {"success": False, "error": "There is no such entry.", "code": "not_found", "category": "resource",
                              "retriable": False, **({"details": parsed(shown.out)["details"]} if "details" in parsed(shown.out) else {})},
          "the dictionary")
    worked = run_program(SETTLED, "entries", "add", "--key", "2", "--dialect", "artifact", env=variables)
    expect(parsed(worked.out)["ok"] is True, "a success in another format:", worked)
    wrong = run_program(SETTLED, "entries", "add", "--key", "2", "--dialect", "nonsense", env=variables)
    equal((wrong.status, parsed(wrong.out)["error"]["code"]), (2, "ARG_ERROR"), "an unknown dialect")
    bad = run_program(SETTLED, "entries", "add", "--key", "x", "--dialect", "artifact", env=variables)
    equal((bad.status, parsed(bad.out)["success"], parsed(bad.out)["code"]), (2, False, "invalid_type"), "a wrong argument")


main()
