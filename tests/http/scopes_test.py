"""Scopes of API keys: what each key may do, over HTTP and MCP, and the key of the operator.

    MISHAP_PROGRAM=… SCOPED_PROGRAM=… python3 tests/http/scopes_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/scoped.c is the program that is asked: reading /things is for all callers, changing needs
scopes of the program, /vault is for the operator.
"""
import json
import os
import re
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server  # noqa: E402
import exchange  # noqa: E402
import talk  # noqa: E402
from blackbox import PATIENCE, equal, expect, main, open_terminal, parsed, run_program, test, tests_of  # noqa: E402

SCOPED = os.path.abspath(os.environ["SCOPED_PROGRAM"])
MISHAP = os.path.abspath(os.environ["MISHAP_PROGRAM"])
OTHERS = "https://app.example"
folders = 0


def new_folder():
    global folders
    folders += 1
    path = os.path.join(server.FOLDER, "scopes-%d" % folders)
    os.mkdir(path)
    return path


def keys(data, command, *flags, status=0):
    done = run_program(SCOPED, "keys", command, *flags, "--data", data, "--output", "json")
    equal(done.status, status, "exit of `keys %s` with %r" % (command, done))
    return parsed(done.out)


def add_key(data, name, *scopes):
    flags = [word for scope in scopes for word in ("--scope", scope)]
    key = keys(data, "add", "--name", name, *flags)["data"]["key"]
    server.secrets.add(key)
    return key


def with_key(key):
    return {"Authorization": "Bearer " + key}


KEYS = {"usual": [], "caller": ["call"], "metrics": ["metrics"], "operator-alone": ["operator"], "both": ["call,operator"],
        "two": ["call", "operator"], "all": ["call,metrics,operator"],
        "reader": ["call,things:read"], "writer": ["call", "things:write"], "remover": ["call,things:remove"], "implied": ["things:all"],
        "alone": ["things:write"]}
USUAL = "call,metrics,things:read,things:write,things:remove,things:all"


def shared():
    """A server on a loopback address, with a key of each kind, and the keys by their names."""
    if not shared.server:
        data = new_folder()
        shared.keys = {name: add_key(data, name, *scopes) for name, scopes in KEYS.items()}
        shared.server = server.Server("--workers", "1", "--cors", OTHERS, data=data, program=SCOPED)
        with open(os.path.join(data, "operator.key"), encoding="ascii") as file:
            shared.keys["operator"] = file.read().strip()
        server.secrets.add(shared.keys["operator"])
    return shared.server


shared.server = None


def status(path, key=None, method="GET", **fields):
    found = shared().ask(method, path, fields=dict(with_key(shared.keys[key]) if key else {}, **fields))
    return found.status


# ---- What each key may do ------------------------------------------------------------------------

#                   /things/known  /metrics  /vault/known  /vault/unknown  /mcp
MAY = {
    None:             (200, 200, 401, 401),
    "usual":          (200, 200, 403, 403),
    "caller":         (200, 403, 403, 403),
    "metrics":        (403, 200, 403, 403),
    "operator-alone": (403, 403, 200, 404),
    "both":           (200, 403, 200, 404),
    "two":            (200, 403, 200, 404),
    "all":            (200, 200, 200, 404),
    "operator":       (200, 200, 200, 404),
}


@tests_of({"%s key" % (name or "no"): (name, found) for name, found in MAY.items()})
def what_it_may_do_on_loopback(name, found):
    shared()
    equal(tuple(status(path, name) for path in ("/things/known", "/metrics", "/vault/known", "/vault/unknown")), found,
          "the statuses")


#              PATCH /things/known  DELETE /things/known  GET /shelf/known  GET /shelf  /things/known
OF_PROGRAM = {
    None:      (200, 200, 200, 200, 200),
    "usual":   (200, 200, 200, 200, 200),
    "caller":  (403, 403, 403, 200, 200),
    "reader":  (403, 403, 200, 200, 200),
    "writer":  (200, 403, 200, 200, 200),
    "remover": (403, 403, 403, 200, 200),
    "implied": (200, 200, 200, 200, 200),
    "alone":   (403, 403, 403, 403, 403),
    "operator-alone": (403, 403, 403, 403, 403),
    "operator": (200, 200, 200, 200, 200),
}


@tests_of({"%s key" % (name or "no"): (name, found) for name, found in OF_PROGRAM.items()})
def what_it_may_do_of_the_program(name, found):
    equal(tuple(status(path, name, method) for method, path in (("PATCH", "/things/known"), ("DELETE", "/things/known"), ("GET", "/shelf/known"),
                                                                 ("GET", "/shelf"), ("GET", "/things/known"))), found, "the statuses")


#                     GET /todos  POST /users  POST /todos  PATCH /todos/1  DELETE /todos/1  DELETE /users/1  DELETE /todos
OF_TODO = {
    "call":              (200, 403, 403, 403, 403, 403, 403),
    "call,todos:write":  (200, 201, 201, 200, 403, 403, 403),
    "call,todos:delete": (200, 201, 201, 200, 204, 204, 200),
    "todos:delete":      (403, 403, 403, 403, 403, 403, 403),
}


@tests_of({"scopes %s" % scopes: (scopes, found) for scopes, found in OF_TODO.items()})
def the_todo_service_writes_and_deletes_for_the_scopes_that_it_declares(scopes, wanted):
    data = new_folder()
    run = run_program(MISHAP, "keys", "add", "--name", "ada", "--scope", scopes, "--data", data, "--output", "json")
    key = parsed(run.out)["data"]["key"]
    server.secrets.add(key)
    with server.Server("--workers", "1", data=data, program=MISHAP) as found:
        for path, body in (("/users", {"name": "Ada", "email": "ada@example.com"}), ("/todos", {"title": "Buy milk"})):
            equal(found.ask("POST", path, body).status, 201, "without a key")

        def ask(method, path, body=None):
            return found.ask(method, path, body, with_key(key)).status

        statuses = [ask("GET", "/todos"), ask("POST", "/users", {"name": "Bob", "email": "bob@example.com"}), ask("POST", "/todos", {"title": "Sleep"}),
                    ask("PATCH", "/todos/1", {"done": True}), ask("DELETE", "/todos/1"), ask("DELETE", "/users/1"), ask("DELETE", "/todos?done=true")]
        equal(tuple(statuses), wanted, "the statuses")
        if "call" in scopes:
            session = exchange.Session(found, fields=with_key(key))
            for tool, arguments, scope in (("update_todo", {"id": "2", "done": False}, "todos:write"), ("delete_todos", {"done": True}, "todos:delete")):
                answer = session.post(exchange.call(tool, arguments))
                equal("result" in answer.json and not answer.json["result"].get("isError"), scope in scopes or "todos:delete" in scopes, answer)


@test
def a_refusal_names_the_scopes_that_are_missing():
    found = shared()
    for name, method, path, words in (("reader", "PATCH", "/things/known", "scope `things:write`"), ("reader", "DELETE", "/things/unknown",
                                      "scopes `things:write things:remove`"), ("writer", "DELETE", "/things/known", "scope `things:remove`"),
                                      ("alone", "GET", "/shelf/known", "scope `call`")):
        answer = found.ask(method, path, fields=with_key(shared.keys[name]))
        equal((answer.status, answer.json["error"], answer.json["message"]), (403, "forbidden", "The API key does not have the %s." % words), path)


@test
def a_handler_asks_what_its_caller_may_do():
    found = shared()
    for name, may in ((None, (True, True, True, False)), ("caller", (True, False, False, False)), ("reader", (True, True, False, False)),
                      ("implied", (True, True, True, False)), ("operator", (True, True, True, True))):
        fields = with_key(shared.keys[name]) if name else {}
        expected = dict(zip(("call", "read", "write", "operator"), may))
        equal(found.ask("GET", "/may", fields=fields).json, expected, "over HTTP as %s" % name)
        equal(exchange.Session(found, fields=fields).post(exchange.call("may", {})).json["result"]["structuredContent"], expected, "over MCP as %s" % name)
    equal(found.ask("GET", "/may-not").status, 500, "a scope that is not declared")
    equal(parsed(run_program(SCOPED, "may", "--output", "json", env={"SCOPED_DATA": new_folder()}).out)["data"],
          {"call": True, "read": True, "write": True, "operator": True}, "a command")


@test
def open_endpoints_need_no_scope():
    for name in [None, "metrics", "operator-alone"]:
        for path in ("/health", "/ready", "/openapi.json", "/errors"):
            shared()
            equal(status(path, name), 200, path)


@test
def a_path_that_does_not_exist_needs_no_scope():
    for name in ["metrics", "operator"]:
        shared()
        equal(status("/nothing", name), 404, "the status")


@test
def a_refusal_does_not_say_whether_there_is_something():
    found = shared()
    for fields in [{}, with_key(shared.keys["usual"]), with_key("mk_" + "x" * 43)]:
        answers = [found.ask("GET", "/vault/" + id, fields=fields) for id in ("known", "unknown", "%20", "x" * 4000)]
        equal(len({(answer.status, answer.body, answer["Content-Length"]) for answer in answers}), 1, "different answers")
    forbidden = found.ask("GET", "/vault/known", fields=with_key(shared.keys["usual"]))
    equal((forbidden.json["error"], forbidden.json["message"]),
          ("forbidden", "The API key does not have the scope `operator`."), "the body")
    equal(found.ask("GET", "/vault/known").json["error"], "auth_required", "the name")


@test
def with_require_key_every_scope_needs_a_key():
    data = new_folder()
    usual, metrics = add_key(data, "usual"), add_key(data, "grafana", "metrics")
    with server.Server("--workers", "1", "--require-key", data=data, program=SCOPED) as found:
        for path in ("/things/known", "/metrics", "/vault/known", "/nothing"):
            equal(found.ask("GET", path).status, 401, path)
        for key, statuses in [(usual, (200, 200, 403)), (metrics, (403, 200, 403))]:
            equal(tuple(found.ask("GET", path, fields=with_key(key)).status
                        for path in ("/things/known", "/metrics", "/vault/known")), statuses, "the statuses")


@test
def rates_count_refusals_and_answers_alike():
    data = new_folder()
    usual = add_key(data, "usual")
    with server.Server("--workers", "1", "--rate", "5", data=data, program=SCOPED) as found:
        for fields, refused in [(with_key(usual), 403), ({}, 401)]:
            seen = set()
            with found.connect() as connection:
                deadline = time.monotonic() + PATIENCE
                while 429 not in seen and time.monotonic() < deadline:
                    seen.add(connection.ask("GET", "/vault/known", fields=fields).status)
            equal(seen, {refused, 429}, "the statuses")


# ---- Pages of other origins ----------------------------------------------------------------------

def cors_of(found):
    return sorted(name for name, _ in found.fields if name.lower().startswith("access-control-"))


@test
def cors_never_covers_what_is_for_the_operator():
    found = shared()
    expect(cors_of(found.ask("GET", "/things/known", fields={"Origin": OTHERS})), "no CORS where it should be")
    preflight = {"Origin": OTHERS, "Access-Control-Request-Method": "GET"}
    expect(cors_of(found.ask("OPTIONS", "/things/known", fields=preflight)), "no CORS where it should be")
    for key in (None, "usual", "operator"):
        fields = dict(with_key(shared.keys[key]) if key else {}, Origin=OTHERS)
        for path in ("/vault/known", "/vault/unknown", "/%76ault/known"):
            for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS"):
                answer = found.ask(method, path, fields=fields)
                equal(cors_of(answer), [], "CORS of %s %s: %r" % (method, path, answer))
                equal(answer["Cache-Control"], "no-store", "Cache-Control of %s %s" % (method, path))
    for method in ("GET", "POST"):
        answer = found.ask("OPTIONS", "/vault/known", fields=dict(preflight, **{"Access-Control-Request-Method": method}))
        equal((answer.status, cors_of(answer)), (204, []), "a preflight")


# ---- MCP -----------------------------------------------------------------------------------------

def tools_of(session):
    return [tool["name"] for tool in session.post(exchange.message("tools/list")).json["result"]["tools"]]


def tool(session, name, id="known"):
    return session.post(exchange.call(name, {"id": id})).json


@test
def tools_for_the_operator_are_neither_listed_nor_callable_without_the_scope():
    found = shared()
    for name in (None, "usual", "caller"):
        session = exchange.Session(found, fields=with_key(shared.keys[name]) if name else {})
        expect("vault_show" not in json.dumps(tools_of(session)), "it is listed for", name)
        refused = tool(session, "vault_show")
        nothing = tool(session, "vault_shop")
        expect("error" in refused and "error" in nothing, "it was called:", refused)
        equal((refused["error"]["code"], refused["error"]["message"]), (nothing["error"]["code"], nothing["error"]["message"]),
              "it differs from a tool that does not exist")
        expect("vault" not in refused["error"]["message"] and "vault_show" not in nothing["error"]["message"], refused)
        equal(tool(session, "things_show")["result"]["structuredContent"], {"id": "known"}, "another tool")


@test
def all_tools_of_callers_are_listed_and_a_call_without_the_scope_is_refused():
    found = shared()
    session = exchange.Session(found, fields=with_key(shared.keys["caller"]))
    everybody = tools_of(exchange.Session(found))
    equal(tools_of(session), everybody, "the tools")
    expect({"things_change", "things_remove"} <= set(everybody), everybody)
    for message, scope in ((exchange.call("things_change", {"id": "known"}), "things:write"), (exchange.call("things_change", {"id": 7}), "things:write"),
                           (exchange.message("resources/read", {"uri": "scoped://shelf/known"}), "things:read"),
                           (exchange.message("resources/subscribe", {"uri": "scoped://shelf/known"}), "things:read"),
                           (exchange.message("prompts/get", {"name": "plan"}), "things:read")):
        with session.exchange("POST", message) as refused:
            equal(refused.status, 403, "the status of %r" % message)
            error = refused.json["error"]
            equal((error["code"], error["data"]["code"], error["message"]),
                  (-32600, "FORBIDDEN", "The caller does not have the scope `%s`." % scope), "the error")
    with exchange.Session(found, fields=with_key(shared.keys["writer"])).exchange("POST", exchange.call("things_change", {"id": "known"})) as done:
        equal((done.status, done.json["result"]["structuredContent"]), (200, {"id": "known"}), "with the scope")


@test
def tools_for_the_operator_are_there_with_the_scope():
    found = shared()
    for name in ("both", "operator"):
        session = exchange.Session(found, fields=with_key(shared.keys[name]))
        expect({"things_show", "vault_show", "vault_change"} <= set(tools_of(session)), "they are not listed for", name)
        equal(tool(session, "vault_show")["result"]["structuredContent"], {"id": "known"}, "the answer")


@test
def at_mcp_the_scope_call_is_needed():
    found = shared()
    for name in ("metrics", "operator-alone"):
        with exchange.Exchange(found, "POST", exchange.initialize(), with_key(shared.keys[name])) as refused:
            equal(refused.status, 403, "the status")


@test
def a_page_of_another_origin_has_no_tools_of_the_operator():
    found = shared()
    session = exchange.Session(found, fields=dict(with_key(shared.keys["operator"]), Origin=OTHERS))
    expect("vault_show" not in tools_of(session), "they are listed")
    expect("error" in tool(session, "vault_show"), "it was called")


@test
def a_session_does_not_pass_on_the_scope():
    """The scope is that of the key of each request, not of the session."""
    found = shared()
    session = exchange.Session(found, fields=with_key(shared.keys["operator"]))
    session.more = with_key(shared.keys["usual"])
    with session.exchange("POST", exchange.call("vault_show", {"id": "known"})) as refused:
        equal(refused.status, 404, "the status of another caller's session")


@test
def standard_input_has_them_only_if_the_person_who_starts_it_says_so():
    with talk.Server(program=SCOPED, revision="2025-11-25") as plain:
        names = {entry["name"] for entry in plain.ask("tools/list")["result"]["tools"]}
        expect("things_show" in names and "vault_show" not in names, names)
        expect("error" in plain.ask("tools/call", {"name": "vault_show", "arguments": {"id": "known"}}), "it was called")
    with talk.Server("--operator", program=SCOPED, revision="2025-11-25") as operator:
        names = {entry["name"] for entry in operator.ask("tools/list")["result"]["tools"]}
        expect({"things_show", "vault_show"} <= names, names)
        equal(operator.call("vault_show", id="known")["structuredContent"], {"id": "known"}, "the answer")


@test
def commands_need_no_key():
    done = run_program(SCOPED, "vault", "show", "--id", "known", "--output", "json", env={"SCOPED_DATA": new_folder()})
    equal((done.status, parsed(done.out)["data"]), (0, {"id": "known"}), "the answer")


# ---- keys add, keys list, keys remove ------------------------------------------------------------

@test
def scopes_are_listed_and_old_keys_have_all_but_operator():
    data = new_folder()
    with open(os.path.join(data, "keys"), "w", encoding="ascii") as file:
        file.write("old %064x 2026-02-09T10:20:30.123Z\nnew %064x 2026-02-09T10:20:30.123Z operator\n"
                   "later %064x 2026-02-09T10:20:30.123Z call,things:unknown\n" % (1, 2, 3))
    os.chmod(os.path.join(data, "keys"), 0o600)
    add_key(data, "plain")
    add_key(data, "mixed", "operator,call", "operator")
    listed = {key["name"]: key["scopes"] for key in keys(data, "list")["data"]["keys"]}
    add_key(data, "own", "things:all", "call,things:read")
    listed = {key["name"]: key["scopes"] for key in keys(data, "list")["data"]["keys"]}
    equal(listed, {"old": USUAL, "new": "operator", "later": "call", "plain": USUAL, "mixed": "call,operator", "own": "call,things:read,things:all"},
          "scopes")


@tests_of({"misspelled": ("opertor", "operator"), "upper case": ("METRICS", "metrics"), "in a list": ("call,metric", "metrics"),
           "swapped": ("clal", "call"), "of the program": ("things:wriet", "things:write"), "far": ("everything", None), "none between commas": ("call,,metrics", None)})
def an_unknown_scope_is_refused_with_the_nearest_name(given, nearest):
    data = new_folder()
    done = run_program(SCOPED, "keys", "add", "--name", "x", "--scope", given, "--data", data, "--output", "json")
    error = parsed(done.out)["error"]
    equal(done.status, 2, "exit")
    equal("Did you mean `%s`?" % nearest in json.dumps(error), nearest is not None, "the nearest name in %r" % error)
    expect(not os.path.exists(os.path.join(data, "keys")), "something was written")


@tests_of({"twice": "call,call", "quotes": '"call"', "long": "x" * 64, "empty": "", "comma": "call,", "space": "call metrics"})
def a_line_with_other_scopes_is_no_key(scopes):
    data = new_folder()
    with open(os.path.join(data, "keys"), "w", encoding="ascii") as file:
        file.write("a %064x 2026-02-09T10:20:30.123Z %s\n" % (1, scopes))
    os.chmod(os.path.join(data, "keys"), 0o600)
    equal(keys(data, "list", status=run_program(SCOPED, "keys", "list", "--data", data).status)["error"]["code"],
          "NOT_CONFIGURED", "the code")


@test
def a_key_that_loses_a_scope_loses_its_calls():
    data = new_folder()
    key = add_key(data, "shrinking", "call,operator")
    path = os.path.join(data, "keys")
    with server.Server("--workers", "1", data=data, program=SCOPED) as found:
        equal(found.ask("GET", "/vault/known", fields=with_key(key)).status, 200, "the status before")
        session = exchange.Session(found, fields=with_key(key))
        with open(path, encoding="ascii") as file:
            text = file.read()
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(text.replace(" call,operator", " call"))
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)
        expect(server.wait_for(lambda: found.ask("GET", "/vault/known", fields=with_key(key)).status == 403), "it stays as it was")
        expect("vault_show" not in tools_of(session) and "error" in tool(session, "vault_show"), "its session has the scope")


# ---- The key of the operator ---------------------------------------------------------------------

def operator_key(data):
    with open(os.path.join(data, "operator.key"), encoding="ascii") as file:
        key = file.read()
    expect(re.fullmatch(r"mk_[A-Za-z0-9_-]{43}\n", key), "not a key:", len(key))
    server.secrets.add(key.strip())
    return key.strip()


@test
def serve_makes_a_key_at_its_first_start_and_keeps_it():
    data = new_folder()
    with server.Server("--workers", "1", data=data, program=SCOPED) as found:
        key = operator_key(data)
        mode = os.stat(os.path.join(data, "operator.key")).st_mode
        equal(stat.S_IMODE(mode), 0o600, "the mode")
        equal(found.ask("GET", "/vault/known", fields=with_key(key)).status, 200, "the status")
        text = server.Server.read(found.stderr) + server.Server.read(found.log)
        expect(key.encode() not in text and b"console:" not in text, "the key is in the output, which is no terminal")
        equal([name for name in os.listdir(data) if name.startswith(".")], [], "files that were left")
    with server.Server("--workers", "1", data=data, program=SCOPED) as found:
        equal(operator_key(data), key, "the key at the second start")
        listed = {entry["name"]: entry["scopes"] for entry in keys(data, "list")["data"]["keys"]}
        equal(listed, {"operator": USUAL.replace("metrics", "metrics,operator")}, "the list")
        equal(keys(data, "add", "--name", "operator", status=run_program(
            SCOPED, "keys", "add", "--name", "operator", "--data", data).status)["error"]["code"], "ALREADY_EXISTS", "the code")
        keys(data, "remove", "--name", "operator")
        expect(server.wait_for(lambda: found.ask("GET", "/vault/known", fields=with_key(key)).status == 401), "it stays as it was")
    with server.Server("--workers", "1", data=data, program=SCOPED) as found:
        expect(operator_key(data) != key, "the removed key is back")


@test
def a_key_of_the_operator_that_others_can_read_is_refused():
    data = new_folder()
    path = os.path.join(data, "operator.key")
    with server.Server("--workers", "1", data=data, program=SCOPED):
        key = operator_key(data)
    def refused(words):
        done = run_program(SCOPED, "serve", "--listen", "127.0.0.1:0", "--data", data, "--output", "json")
        equal(done.status, 78, "the exit code")
        error = parsed(done.out)["error"]
        equal(error["code"], "NOT_CONFIGURED", "the code")
        expect(words in error["message"] and "Remove the file" in error["suggestion"] and key not in done.out.decode(), error)
        return error

    for mode in [0o640, 0o604]:
        os.chmod(path, mode)
        expect("`chmod 600`" in refused("operator.key has mode %o" % mode)["suggestion"], "it does not say what to do")
    os.chmod(path, 0o600)
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        refused("belongs to another user")
        os.chown(path, 0, 0)
    with server.Server("--workers", "1", data=data, program=SCOPED) as found:
        equal(found.ask("GET", "/vault/known", fields=with_key(key)).status, 200, "the status")


@test
def the_key_of_the_operator_does_not_count_as_a_key_of_callers():
    """With it alone, --require-key still refuses to start, and no file says that keys are used."""
    data = new_folder()
    with server.Server("--workers", "1", data=data, program=SCOPED):
        pass
    expect(not {"keys", "keys.lock"} & set(os.listdir(data)), os.listdir(data))
    done = run_program(SCOPED, "serve", "--require-key", "--listen", "127.0.0.1:0", "--data", data)
    expect(done.status != 0 and b"No API key exists" in done.out + done.err, done)


@tests_of({"empty": "", "prose": "hello", "two lines": "mk_" + "a" * 43 + "\nmk_" + "b" * 43 + "\n", "long": "mk_" + "a" * 5000})
def a_file_that_has_no_key_keeps_the_server_from_starting(text):
    data = new_folder()
    path = os.path.join(data, "operator.key")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    done = run_program(SCOPED, "serve", "--listen", "127.0.0.1:0", "--data", data, "--output", "json")
    error = parsed(done.out)["error"]
    equal(error["code"], "NOT_CONFIGURED", "the code")
    expect("operator.key" in error["message"] and (len(text) < 9 or text[:40] not in done.out.decode()), error)


@test
def a_file_that_is_damaged_later_only_costs_the_operator():
    data = new_folder()
    usual = add_key(data, "usual")
    with server.Server("--workers", "1", data=data, program=SCOPED) as found:
        key = operator_key(data)
        with open(os.path.join(data, "operator.key"), "w", encoding="ascii") as file:
            file.write("damaged")
        expect(server.wait_for(lambda: found.ask("GET", "/vault/known", fields=with_key(key)).status == 401), "it stays as it was")
        equal(found.ask("GET", "/things/known", fields=with_key(usual)).status, 200, "another key")
        with open(os.path.join(data, "operator.key"), "w", encoding="ascii") as file:
            file.write(key + "\n")
        expect(server.wait_for(lambda: found.ask("GET", "/vault/known", fields=with_key(key)).status == 200), "it stays as it was")


@test
def on_a_terminal_the_address_of_the_console_is_shown():
    data = new_folder()
    ours, other = open_terminal()
    process = subprocess.Popen([SCOPED, "serve", "--workers", "1", "--listen", "127.0.0.1:0", "--data", data],
                               stdin=subprocess.DEVNULL, stdout=other, stderr=other,
                               env=dict(os.environ, SCOPED_LOG=os.path.join(data, "log")))
    os.close(other)
    text = b""
    try:
        while not re.search(rb"console: \S+\r?\n", text):
            piece = os.read(ours, 4096)
            expect(piece, "it ended:", text)
            text += piece
    finally:
        process.terminate()
        try:
            while os.read(ours, 4096):
                pass
        except OSError:
            pass
        process.wait(PATIENCE)
        os.close(ours)
    address = re.search(rb"listening on (http://127\.0\.0\.1:\d+)\r?\n", text)[1].decode()
    shown = re.search(rb"console: (\S+)\r?\n", text)[1].decode()
    equal(shown, "%s/console#key=%s" % (address, operator_key(data)), "the address")


@test
def the_shared_server_ends_in_order():
    ended = shared().stop()
    equal(ended.status, 0, "exit")
    for key in shared.keys.values():
        expect(key.encode() not in ended.out + ended.err, "a key in the output")


main()
