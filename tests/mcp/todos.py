"""What agents do with the todo service over HTTP: whatever it is behind, it must work."""
import json

from blackbox import equal, expect
from exchange import Exchange, Session, call, message, repeated, stateless


def updated(uri):
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def ask_stateless(found, method, fields, **params):
    said = stateless(method, params)
    with Exchange(found, "POST", said, {**repeated(said), **fields}) as exchange:
        return exchange.answer()["result"]


def read(session, uri):
    return json.loads(session.post(message("resources/read", {"uri": uri})).json["result"]["contents"][0]["text"])


def lists_calls_and_reads(found, fields):
    session = Session(found, fields=fields)
    names = {tool["name"] for tool in session.post(message("tools/list")).json["result"]["tools"]}
    expect({"create_todo", "update_todo", "list_todos"} <= names, "tools:", names)
    equal({tool["name"] for tool in ask_stateless(found, "tools/list", fields)["tools"]}, names, "without a session")
    todo = session.post(call("create_todo", {"title": "Read"})).json["result"]["structuredContent"]
    equal(read(session, "todo://todos/" + todo["id"]), todo, "the todo")
    expect(todo in read(session, "todo://todos")["items"], "it is not in the list")
    contents = ask_stateless(found, "resources/read", fields, uri="todo://todos/" + todo["id"])["contents"]
    equal(json.loads(contents[0]["text"]), todo, "without a session")
    failed = session.post(call("create_todo", {"title": ""})).json["result"]
    equal((failed["isError"], failed["structuredContent"]["fields"][0]["field"]), (True, "title"), "a bad one")
    error = session.post(message("resources/read", {"uri": "todo://todos/999999"})).json["error"]
    equal((error["code"], error["data"]["code"], error["data"]["uri"]), (-32002, "NOT_FOUND", "todo://todos/999999"), "none")
    equal(session.exchange("DELETE").status, 204, "the end of the session")


def hears(listening, uri):
    """Each change once, and nothing of what was before it began to listen."""
    equal(listening.event().json["params"]["uri"], uri, "who listens")


def hears_of_changes(found, fields):
    """By a PATCH over HTTP, and by a tool: who has subscribed and who listens are told while their streams stay open."""
    session = Session(found, fields=fields)
    todo = session.post(call("create_todo", {"title": "Listen"})).json["result"]["structuredContent"]["id"]
    uri = "todo://todos/" + todo
    equal(session.post(message("resources/subscribe", {"uri": uri})).json["result"], {}, "subscribe")
    said = stateless("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["todo://todos", "todo://users"]}})
    with session.exchange("GET", Accept="text/event-stream") as stream, \
            Exchange(found, "POST", said, {**repeated(said), **fields}) as listening:
        equal(listening.event().json["method"], "notifications/subscriptions/acknowledged", "the first event")
        with found.connect() as one:
            equal(one.ask("PATCH", "/todos/" + todo, {"done": True}, fields=fields).status, 200, "over HTTP")
        equal(stream.event().json, updated(uri), "the session")
        hears(listening, "todo://todos")
        equal(read(session, uri)["done"], True, "what is read then")
        session.post(call("update_todo", {"id": todo, "done": False}))
        equal(stream.event().json, updated(uri), "by the tool")
        hears(listening, "todo://todos")
        session.post(call("create_user", {"name": "Ada", "email": "ada-%s@example.com" % todo}))
        hears(listening, "todo://users")
        session.post(call("delete_todo", {"id": todo}))
        equal(stream.event().json, updated(uri), "of its end, and nothing in between")
