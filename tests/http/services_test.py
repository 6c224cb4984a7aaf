"""`serve --service NAME[,NAME]`: the operations of other services are absent from everything that a server has.

    MISHAP_PROGRAM=… python3 tests/http/services_test.py [PART-OF-A-NAME]
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp"))
import server  # noqa: E402
from blackbox import equal, expect, main, run_program, test  # noqa: E402
from exchange import Session, message  # noqa: E402
from server import PATIENCE, PROGRAM, Server  # noqa: E402

ROUTES = {"todo": ("GET", "/todos", None), "lisp": ("POST", "/lisp/validate", {"code": "(+ 1 2)"}), "artifacts": ("GET", "/artifacts/events", None),
          "symbolic": ("GET", "/symbolic/health", None)}
TOOLS = {"todo": "create_user", "lisp": "validate-syntax", "artifacts": "invoke_artifact", "symbolic": "symbolic_check"}
OWN = {"/health", "/ready", "/metrics", "/openapi.json", "/errors", "/errors/{code}", "/mcp"}


def is_of(path, names):
    first = path.split("/")[1]
    return ("todo" if first in ("users", "todos", "tasks") else first) in names


def look_at(found, names):
    """Every place in which an operation can show."""
    for name, (method, path, body) in ROUTES.items():
        answer = found.ask(method, path, body)
        if name in names:
            expect(answer.status != 404, name, "is not served:", answer)
        else:
            equal((answer.status, answer.json["error"]), (404, "not_found"), "the route of " + name)
    paths = set(found.ask("GET", "/openapi.json").json["paths"])
    for name, (_, path, _) in ROUTES.items():
        equal(path in paths, name in names, "%s in the API description" % path)
    expect(len(names) == len(ROUTES) or all(is_of(path, names) or path in OWN or path.startswith(("/incidents", "/console", "/docs")) or path == "/" for path in paths),
           "paths of others:", paths)
    tools = {tool["name"] for tool in Session(found).post(message("tools/list")).json["result"]["tools"]}
    for name, tool in TOOLS.items():
        equal(tool in tools, name in names, "the tool " + tool)
    health = found.ask("GET", "/health").json
    expect(set(health.get("services", {})) | set(health.get("ready", {})) <= set(names), "/health tells of others:", health)
    ready = found.ask("GET", "/ready").json
    expect(set(ready.get("details", ready)["services"]) <= set(names), "/ready tells of others:", ready)


@test
def one_service_alone():
    with Server("--workers", "1", "--service", "todo") as found:
        look_at(found, ["todo"])
        equal(found.ask("POST", "/todos", {"title": "a"}).status, 201)
        expect(not os.path.exists(os.path.join(found.data, "artifacts.sqlite")), "the store of another service was opened")


@test
def two_services_of_four():
    with Server("--workers", "2", "--service", "artifacts,todo") as found:
        look_at(found, ["todo", "artifacts"])


@test
def without_the_flag_all_services():
    with Server("--workers", "1") as found:
        look_at(found, list(ROUTES))
        equal(found.ask("GET", "/premium/report").status, 402, "an operation of no service")


@test
def operations_of_no_service_are_absent_and_those_for_drills_are_there_if_wanted():
    with Server("--workers", "1", "--service", "lisp", "--chaos") as found:
        equal(found.ask("GET", "/premium/report").status, 404)
        equal(found.ask("POST", "/chaos", {"how": "raise"}).status in (422, 500), True)
    with Server("--workers", "1", "--service", "lisp") as found:
        equal(found.ask("POST", "/chaos", {"how": "raise"}).status, 404)


@test
def a_service_whose_store_is_broken_does_not_matter_if_it_is_not_served():
    data = os.path.join(server.FOLDER, "broken")
    os.mkdir(data)
    with open(os.path.join(data, "todo.sqlite"), "wb") as file:
        file.write(b"no store at all" * 100)
    with Server("--workers", "1", "--service", "lisp", data=data) as found:
        equal(found.ask("GET", "/health").json["status"], "ok")


@test
def an_unknown_name_ends_the_start_with_the_nearest():
    for name, nearest in [("tood", "todo"), ("todo,artefacts", "artifacts")]:
        answer = run_program(PROGRAM, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(server.FOLDER, "none"), "--service", name)
        equal(answer.status, 2, "exit")
        error = json.loads(answer.out)["error"]
        equal(error["code"], "ARG_ERROR")
        expect("Did you mean `%s`?" % nearest in error["suggestion"], error)


@test
def mcp_takes_the_same_list():
    def tools_of(*flags):
        lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                                             "clientInfo": {"name": "a", "version": "1"}}},
                 {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
        done = subprocess.run([PROGRAM, "mcp", "--data", os.path.join(server.FOLDER, "mcp"), *flags], check=False, timeout=PATIENCE,
                              input="".join(json.dumps(line) + "\n" for line in lines).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
        return {tool["name"] for tool in answers[2]["result"]["tools"]}, answers[1]["result"]["instructions"]
    for names in [["todo"], ["lisp", "artifacts"]]:
        tools, words = tools_of("--service", ",".join(names))
        equal({name for name, tool in TOOLS.items() if tool in tools}, set(names))
        expect("of the %s %s." % ("service" if len(names) == 1 else "services", ", ".join(names)) in words, words)
    equal({name for name, tool in TOOLS.items() if tool in tools_of()[0]}, set(TOOLS))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
