"""Clients of tasks from npm: the package ext-tasks and the Inspector, against a program with tasks.

    MISHAP_PROGRAM=… TASK_PROGRAM=… python3 tests/task/clients_test.py [PART-OF-A-NAME]

Speaks TAP. tests/task/worker.c is the program, clients.mjs calls it with ext-tasks. mcp_test.py has the same without a client. ext-tasks comes with the
Inspector. What is not installed is skipped.
"""
import functools
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "mcp"), HERE]
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, test  # noqa: E402
from mcpdo import Mcpdo  # noqa: E402
from node import NODE_MODULES, node_22  # noqa: E402

PROGRAM = os.path.abspath(os.environ["TASK_PROGRAM"])
server.secrets.add("MISHAP-PRIVATE-7f3a9c")


def shared():
    return server.server("tasks", "--workers", "2", "--task-after-ms", "0", program=PROGRAM)


# ---- ext-tasks -----------------------------------------------------------------------------------

@functools.cache
def rows():
    """What clients.mjs has seen, by the name of the call."""
    if not os.path.isdir(os.path.join(NODE_MODULES, "@modelcontextprotocol/ext-tasks")):
        raise Skipped("ext-tasks is not there")
    done = subprocess.run([node_22(), os.path.join(HERE, "clients.mjs"), NODE_MODULES, shared().url + "/mcp", os.path.join(shared().folder, "gate")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
    equal(done.returncode, 0, done.stderr[-1000:])
    return {row["way"]: row for row in map(json.loads, done.stdout.splitlines())}


def seen(way):
    row = rows()[way]
    expect("error" not in row, row)
    return row["kind"], row["status"], row["failed"], row.get("told"), row.get("code")


@test
def what_is_no_task_is_answered_at_once():
    equal(seen("immediate"), ("immediate", "completed", False, {"number": 4}, None))


@test
def a_task_is_followed_to_its_result():
    equal(seen("task"), ("task", "completed", False, {"number": 4}, None))


@test
def a_tool_that_fails_has_completed_and_one_that_crashes_has_failed():
    kind, status, failed, told, _ = seen("fails")
    equal((kind, status, failed, told["code"]), ("task", "completed", True, "NOT_FOUND"))
    equal(seen("crashes"), ("task", "failed", False, None, -32603))


@test
def a_task_asks_the_client():
    equal(seen("answers"), ("task", "completed", False, {"number": 4, "sure": True, "place": "here"}, None))
    equal(sorted(rows()["answers"]["asked"]), [["task-update", "Do number 4?"], ["task-update", "Where?"]])


@test
def a_wrong_answer_is_asked_for_again():
    equal(seen("answers wrongly"), ("task", "completed", False, {"number": 4, "sure": True, "place": ""}, None))
    equal([message for _, message in rows()["answers wrongly"]["asked"]], ["Do number 4?", "Do number 4? (sure: invalid type, expected boolean)"])


@test
def what_is_declined_or_cancelled_is_cancelled():
    equal(seen("declines")[:2], ("task", "cancelled"))
    equal(seen("cancels")[:2], ("task", "cancelled"))


# ---- The Inspector -------------------------------------------------------------------------------

def config(client):
    path = os.path.join(client.env["HOME"], "servers.json")
    with open(path, "w", encoding="utf-8") as entries:
        json.dump({"mcpServers": {"one": {"type": "streamable-http", "url": shared().url + "/mcp"}}}, entries)
    return path


@test
def mcpdo_of_the_inspector_follows_a_task_and_answers_what_it_asks():
    with Mcpdo("mcpdo-tasks") as client:
        client.run("connect", "one", "--config", config(client), "--era", "modern", "--connect-timeout", "0")
        equal(client.run("@one", "tools/call", "change", "number:=4")["structuredContent"], {"number": 4}, "a task")
        asked = client.run("@one", "tools/call", "ask", "number:=4")["elicitationPending"]
        equal((asked["message"], asked["origin"]), ("Do number 4?", "task-input-required"), "what it asks")
        done = client.run("elicitation/respond", asked["elicitationId"], "sure:=true")
        equal(done["structuredContent"], {"number": 4, "sure": True, "place": ""}, "its end")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
