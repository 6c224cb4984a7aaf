"""examples/loans.c from outside: as commands, over HTTP and for agents, on the same data.

    MISHAP_PROGRAM=… LOANS_PROGRAM=… python3 tests/http/loans_test.py [PART-OF-A-NAME]

Speaks TAP. Its own tests, examples/loans_test.c, are about what its operations do.
"""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test

LOANS = os.path.abspath(os.environ["LOANS_PROGRAM"])
ADA = {"name": "Ada \"A\" L.", "email": "ada@example.com", "address": {"street": "1 Mill Lane", "city": "Bath"}}

# The codes of its own are names of failures, too.
NAMES = server.http_names() | {"unknown_id", "book_lent", "loan_limit"}
server.http_names = lambda: NAMES


def the_server():
    return server.server("loans", "--workers", "2", program=LOANS)


def post(path, body):
    found = the_server().ask("POST", path, json.dumps(body).encode())
    return found.status, parsed(found.body)


def get(path):
    return parsed(the_server().ask("GET", path).body)


def command(*words, data=None, status=0):
    answer = run_program(LOANS, *words, "--output", "json", env={"LOANS_DATA": data or the_server().data, "LOANS_LOG": ""})
    equal(answer.status, status, "exit code")
    return parsed(answer.out)


def new_book():
    return post("/books", {"title": "Emma", "author": "Jane Austen"})[1]["id"]


def new_member():
    return post("/members", dict(ADA, email="member%d@example.com" % len(get("/members?limit=100")["items"])))[1]["id"]


def loan(member, *books, due="2030-02-28"):
    return {"member_id": member, "due": due, "books": [{"book_id": book} for book in books]}


@test
def one_book_goes_from_hand_to_hand_over_every_boundary():
    member, book = new_member(), new_book()
    equal(command("books", "list", "--after", str(book - 1))["data"]["items"],
          [{"id": book, "title": "Emma", "author": "Jane Austen", "loan_id": None}], "by a command")
    status, lent = post("/loans", loan(member, book))
    equal(status, 201, "over HTTP")
    session = exchange.Session(the_server())
    refused = session.post(exchange.call("lend_books", loan(member, book))).json["result"]
    equal((refused["isError"], refused["structuredContent"]["code"], refused["structuredContent"]["book_id"]),
          (True, "BOOK_LENT", book), "by an agent")
    equal(command("return", "--id", str(lent["id"]))["data"], None, "back")
    taken = session.post(exchange.call("lend_books", loan(member, book))).json["result"]
    equal((list(taken["structuredContent"]), "isError" in taken and taken["isError"]), (["id"], False), "by an agent then")


SURE = {"end_loans": {"sure": True}}


def lent():
    """A member with one loan."""
    member = new_member()
    equal(post("/loans", loan(member, new_book()))[0], 201)
    return member


def members():
    return [row["id"] for row in get("/members?limit=100")["items"]]


@test
def a_member_with_loans_is_removed_only_when_that_was_confirmed():
    member, found = lent(), the_server()

    def remove(body=None):
        got = found.ask("DELETE", "/members/%d" % member, body and json.dumps(body).encode())
        return got.status, parsed(got.body) if got.body else None

    status, asked = remove()
    equal((status, asked["message"]), (428, "Also end its loans (1)?"), "over HTTP")
    equal(remove({"_state": asked["details"]["state"], "_answers": SURE}), (204, None), "answered")

    member = lent()
    equal(command("members", "remove", "--member-id", str(member), status=2)["error"]["code"], "INPUT_REQUIRED")
    equal(command("members", "remove", "--member-id", str(member), "--answers", json.dumps(SURE))["ok"], True, "by a command")

    member, session = lent(), exchange.Session(found, capabilities={"elicitation": {}})
    for action, left in ({"action": "decline"}, True), ({"action": "accept", "content": {"sure": True}}, False):
        with session.exchange("POST", exchange.call("remove_member", {"member_id": member})) as stream:
            while not (event := stream.event()).data:
                pass
            equal(session.post({"jsonrpc": "2.0", "id": event.json["id"], "result": action}).status, 202)
            result = stream.event().json["result"]
        equal((result.get("isError", False), member in members()), (left, left), "by an agent")


@test
def its_failures_are_told_on_every_boundary():
    member = new_member()
    equal(post("/loans", loan(member, 999)),
          (404, {"error": "unknown_id", "message": "No entry has this id.", "details": {"book_id": 999}}), "HTTP")
    error = command("lend", "--member-id", str(member), "--books", '[{"book_id":999}]', "--due", "2030-02-28", status=5)["error"]
    equal((error["code"], error["context"], error["docs_url"]),
          ("UNKNOWN_ID", {"book_id": 999}, "https://loans.example.com/errors/UNKNOWN_ID"), "command")
    equal(get("/loans?after=%d" % (1 << 40)), {"items": []}, "an empty page")
    equal([field["field"] for field in post("/loans", dict(loan(member, "x"), due="2030-02-31"))[1]["details"]],
          ["due", "books[0].book_id"], "fields")
    expect(b'code="UNKNOWN_ID"' in the_server().ask("GET", "/metrics").body, "it is not counted by its name")


@test
def of_many_who_want_a_book_one_gets_it():
    member, book = new_member(), new_book()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: post("/loans", loan(member, book))[0], range(8)))
    equal(sorted(found), [201] + [409] * 7, "statuses")


@test
def many_letters_are_sent_by_a_task_that_asks_before():
    with server.Server("--workers", "2", program=LOANS) as found:
        def make(path, body):
            return found.ask("POST", path, body).json["id"]
        for number in range(1, 13):
            if number % 4 == 1:
                member = make("/members", dict(ADA, email="ada%d@example.com" % number))
            make("/loans", loan(member, make("/books", {"title": "Emma", "author": "Jane Austen"})))
        direct = found.ask("POST", "/reminders", {"day": "2030-03-01"})
        equal((direct.status, direct.json["details"]["questions"]["send"]["message"]), (428, "Send 12 letters?"), "a call asks at once")
        task = found.ask("POST", "/reminders", {"day": "2030-03-01"}, {"Prefer": "respond-async, wait=0"})
        if task.status == 202:  # else it was as fast as the call
            path = task["Location"]
            told = server.wait_until(lambda: (lambda one: one if one["state"] == "asking" else None)(found.ask("GET", path).json), "it does not ask")
            equal(told["questions"]["send"]["message"], "Send 12 letters?", "what it asks")
            equal(found.ask("POST", path + "/answers", {"answers": {"send": {"sure": True}}}).status, 200, "the answer")
            server.wait_until(lambda: found.ask("GET", path).json["state"] == "succeeded", "it does not end")
            equal(found.ask("GET", path + "/answer").json, {"reminded": 12}, "its answer")


@test
def an_agent_hears_how_far_the_reminders_are():
    with talk.Server(program=LOANS, revision="2025-11-25") as found:
        for number in range(1, 9):
            found.call("add_book", title="Emma", author="Jane Austen")
            if number % 4 == 1:
                found.call("add_member", name="Ada", email="ada%d@example.com" % number)
            found.call("lend_books", **loan((number + 3) // 4, number))
        found.send(talk.request(7, "tools/call", {"name": "remind_members", "arguments": {"day": "2030-03-01"},
                                                  "_meta": {"progressToken": "p"}}))
        before, answer = found.receive_all(7)
        equal(answer["result"]["structuredContent"], {"reminded": 8}, "answer")
        said = [(message["method"], message["params"]["progressToken"], message["params"]["total"]) for message in before]
        expect(said and set(said) == {("notifications/progress", "p", 8)}, "progress:", before)


@test
def a_store_that_cannot_be_opened_is_named_to_the_person_at_the_terminal():
    data = os.path.join(server.FOLDER, "closed")
    os.makedirs(os.path.join(data, "loans.sqlite"))
    error = command("list", data=data, status=78)["error"]
    equal((error["code"], error["cause"]), ("NOT_CONFIGURED", "The store %s/loans.sqlite cannot be opened." % data), "error")


@test
def the_store_of_a_server_that_is_gone_is_told_without_its_path():
    with server.Server("--workers", "1", program=LOANS) as found:
        equal(found.ask("GET", "/loans").status, 200, "before")
        os.rename(os.path.join(found.data, "loans.sqlite"), os.path.join(found.data, "away"))
        answer = server.wait_until(lambda: next(iter([got for got in [found.ask("GET", "/loans")] if got.status != 200]), None), "it goes on")
        equal(answer.status, 503, "status")
        expect(found.data not in answer.body.decode() and "sqlite" not in answer.body.decode(), "the path is in", answer.body)


@test
def all_ended_in_order():
    server.all_ended_in_order()


main()
