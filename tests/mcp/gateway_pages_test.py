"""`mishap mcp-gateway --to URL`: responses without an answer, such as error pages. The client gets a code and advice, the operator the page."""
import json

from talk import equal, expect, hello, main, test, tests_of
from gateway_behind import BEARER, Behind, Serving
import journal

INSIDE = "Qw7inside"  # in what the server says: the operator gets it, and the caller does not
PAGE = ("<html><body>%s at /srv/app/x.py</body></html>" % INSIDE).encode()


def records(client):
    with open(client.log, "rb") as file:
        return [record for record in journal.records(file.read()) if record["kind"] == "whole"]


def log_of(client):
    with open(client.log, encoding="utf-8") as file:
        return file.read()


def page(status, **fields):
    return lambda h, n, r: h.say(status, PAGE, "text/html", **fields)


def plain(status, body, kind="application/json", **fields):
    return lambda h, n, r: h.say(status, body, kind, **fields)


def refusal(status, words="Slow down, %s." % INSIDE, number=-32000, id=None, **fields):
    return lambda h, n, r: h.say(status, {"jsonrpc": "2.0", "id": n if id else None, "error": {"code": number, "message": words}}, **fields)


def cut(status):
    return lambda h, n, r: (h.say(status, PAGE, "text/html", length=len(PAGE) + 100), setattr(h, "close_connection", True))


ADDRESS = "see http://10.1.2.3/%s" % INSIDE  # the guard finds it
PAGES = {
    # what it says: the code, whether a retry can help, after how many milliseconds (None: it is not said)
    "503": (page(503), "SERVICE_UNAVAILABLE", True, None),
    "503 with a time": (page(503, Retry_After="7"), "SERVICE_UNAVAILABLE", True, 7000),
    "429 with a time": (page(429, Retry_After="30"), "TOO_MANY_REQUESTS", True, 30000),
    "429 with JSON": (plain(429, {"error": ADDRESS}, Retry_After="2"), "TOO_MANY_REQUESTS", True, 2000),
    "429 with an error of JSON-RPC": (refusal(429, ADDRESS, id=True, Retry_After="3"), "TOO_MANY_REQUESTS", True, 3000),
    "… without an id": (refusal(429, ADDRESS, Retry_After="3"), "TOO_MANY_REQUESTS", True, 3000),
    "401 with JSON": (plain(401, {"detail": ADDRESS}), "UNAUTHORIZED", False, None),
    "403": (page(403), "FORBIDDEN", False, None),
    "500": (page(500), "INTERNAL_ERROR", False, None),
    "502: it is not known what was done": (page(502), "BAD_GATEWAY", False, None),
    "504, too": (page(504), "GATEWAY_TIMEOUT", False, None),
    "a text": (plain(503, ADDRESS.encode(), "text/plain"), "SERVICE_UNAVAILABLE", True, None),
    "bytes that are no UTF-8": (plain(503, b"\xff\xfe" + PAGE + b"\0", "text/html"), "SERVICE_UNAVAILABLE", True, None),
    "3 MB": (plain(503, PAGE * (3_000_000 // len(PAGE)), "text/html"), "SERVICE_UNAVAILABLE", True, None),
    "a page in a 200": (page(200), "GENERAL_ERROR", False, None),
    "JSON in a 200": (plain(200, {"detail": ADDRESS}), "GENERAL_ERROR", False, None),
    "a page in a 302": (page(302), "GENERAL_ERROR", False, None),
    "a page that is cut off": (cut(503), "PARTIAL_FAILURE", False, None),
    "a page of a session that is forgotten": (page(404), "PARTIAL_FAILURE", False, None),
}


@tests_of(PAGES)
def the_client_gets_a_code_and_the_operator_the_page(act, code, retryable, after):
    with Serving(act) as serving, Behind(serving.url, **BEARER) as client:
        answer = client.call("fail")
        equal(answer["isError"], True)
        told = json.loads(answer["content"][0]["text"])
        expect(INSIDE not in json.dumps(answer), answer)
        equal((told["code"], told.get("retryable", False), told.get("retry_after_ms")), (code, retryable, after))
        id = answer["_meta"]["dev.mishap/incident"]
        record = next(record for record in records(client) if record["id"] == id)
        expect(INSIDE in json.dumps(record.get("noted")), record)
        equal(client.call("good")["content"][0]["text"], "good")


@test
def a_message_that_a_caller_may_see_is_told():
    with Serving(plain(404, {"detail": "There is no city 7."}), session=None) as serving, Behind(serving.url, **BEARER) as client:
        told = json.loads(client.call("fail")["content"][0]["text"])
        equal((told["code"], told["message"]), ("NOT_FOUND", "There is no city 7."))


@test
def an_error_of_json_rpc_that_says_more_than_its_status_stays():
    with Serving(refusal(422, "No such city.", -32602, id=True)) as serving, Behind(serving.url, **BEARER) as client:
        told = json.loads(client.call("fail")["content"][0]["text"])
        equal((told["code"], told["message"]), ("VALIDATION_ERROR", "No such city."))


@test
def a_greeting_that_is_refused_with_a_page_is_an_error_with_a_code():
    with Serving(acts={"initialize": page(503, Retry_After="5")}) as serving, Behind(serving.url, revision=None, **BEARER) as client:
        client.send(hello("2025-06-18", 7))
        data = client.receive()["error"]["data"]
        equal((data["code"], data["retryable"], data["retry_after_ms"]), ("SERVICE_UNAVAILABLE", True, 5000))
        record = next(record for record in records(client) if record["id"] == data["incident"])
        expect(INSIDE in json.dumps(record.get("noted")), record)


@tests_of({"a notification": "notifications/initialized", "a list that the gateway asks for": "tools/list"})
def a_page_that_answers_no_call_is_in_the_log(method):
    with Serving(acts={method: page(503)}) as serving, Behind(serving.url, **BEARER) as client:
        equal(client.call("good")["content"][0]["text"], "good")
        expect("The server has answered with the HTTP status 503: <html><body>" + INSIDE in log_of(client), log_of(client))


main()
