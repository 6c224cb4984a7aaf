"""/mcp of `mishap serve` itself, with the todo service.

    MISHAP_PROGRAM=… python3 tests/mcp/served_test.py [PART-OF-A-NAME]

The same behind docs/nginx.conf is in tests/http/nginx_test.py.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
import todos  # noqa: E402
from blackbox import equal, main, parsed, run_program, test  # noqa: E402
from exchange import Exchange, initialize  # noqa: E402


def shared():
    return server.server("served", "--workers", "2")


@test
def tools_are_listed_and_called_and_resources_read():
    todos.lists_calls_and_reads(shared(), {})


@test
def changes_are_heard_of():
    for _ in range(3):  # through either worker
        todos.hears_of_changes(shared(), {})


@test
def with_a_key_it_is_the_same_and_without_one_401():
    data = os.path.join(server.FOLDER, "keyed")
    os.mkdir(data)
    answer = run_program(server.PROGRAM, "keys", "add", "--name", "agent", "--data", data, "--output", "json")
    key = parsed(answer.out)["data"]["key"]
    server.secrets.add(key)
    with server.Server("--workers", "2", "--require-key", data=data) as keyed:
        with Exchange(keyed, "POST", initialize()) as refused:
            equal(refused.status, 401, "without a key")
        todos.lists_calls_and_reads(keyed, {"Authorization": "Bearer " + key})
        todos.hears_of_changes(keyed, {"Authorization": "Bearer " + key})


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
