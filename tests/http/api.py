"""The server that most tests of the HTTP API ask, how they ask it, and what is looked at when all have run."""
import os

import server
from blackbox import equal, expect, parsed, run_program, test
from server import MARKER, PROGRAM


ACCESS_LOG = os.path.join(server.FOLDER, "access.log")


def the_server():
    return server.server("api", "--workers", "2", "--handlers", "4", "--chaos", "--body-limit", "100000",
                         "--head-timeout-ms", "120000", "--body-timeout-ms", "120000",
                         "--access-log", ACCESS_LOG, "--cors", "https://app.example,https://other.example")


def ask(*arguments, status=None, **more):
    found = the_server().ask(*arguments, **more)
    if status is not None:
        equal(found.status, status, "the status of %r, which" % found)
    return found


def refusal(found, status, name, message=None):
    """A failure in the API's own format: the body."""
    equal((found.status, found.json["error"], found["Content-Type"].split(";")[0]), (status, name, "application/json"))
    if message is not None:
        equal(found.json["message"], message)
    return found.json


count = 0


def fresh(word):
    """A text that was not used before."""
    global count
    count += 1
    return "%s-%d-%d" % (word, os.getpid(), count)


def new_user(**more):
    return dict({"name": "Ada", "age": 36, "email": fresh("ada") + "@example.com"}, **more)


COMPLETE = {"name": "", "age": 200, "email": "invalid"}
NAME = {"field": "name", "error": "field_required"}
AGE = {"field": "age", "error": "value_out_of_range", "min": 0, "max": 150, "actual": 200}
EMAIL = {"field": "email", "error": "pattern_mismatch", "expected": ".*@.*\\..*"}


def findings(found):
    body = refusal(found, 422, "validation_error", "Validation failed")
    equal(set(body), {"error", "message", "details"})
    return body["details"]


def methods(text):
    return {word.strip() for word in text.split(",")}


def add_key(data, name):
    answer = run_program(PROGRAM, "keys", "add", "--name", name, "--data", data, "--output", "json")
    equal(answer.status, 0, "exit of `keys add`")
    key = parsed(answer.out)["data"]["key"]
    expect(len(key) >= 20, "a short key:", key)
    server.secrets.add(key)
    return key


def after_all():
    """The last tests of a run."""
    @test
    def the_shared_server_stops_in_order():
        found = the_server()
        ended = found.stop()
        equal(ended.status, 0, "exit")
        expect(b"Sanitizer" not in ended.err and b"runtime error" not in ended.err, ended.err.decode()[-3000:])
        expect(MARKER.encode() not in ended.out + ended.err, "private text on the terminal without --verbose")

    @test
    def every_failure_of_the_run_fits_the_schema():
        server.fits_the_schema()

    @test
    def every_server_ended_in_order():
        server.all_ended_in_order()
