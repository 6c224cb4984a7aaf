"""The inspector of the Model Context Protocol, from its command line, over standard input and output and over HTTP.

    MISHAP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/mcp/inspector_test.py

What docs/mcp.md tells a reader to type is run as it stands. Skipped without the package or without Node 22.
"""
import json
import os
import re
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from node import node_22  # noqa: E402
from server import FOLDER, NODE_MODULES, TREE, Server  # noqa: E402

INSPECTOR = os.path.join(NODE_MODULES, "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
WAYS = {"%s, %s" % way: way for way in [("stdio", "legacy"), ("stdio", "modern"), ("HTTP", "legacy"), ("HTTP", "modern")]}
# Each over both transports and in both eras: a run of the inspector takes half a second of the processor. INSPECTOR_ALL=1 asks all in each way.
ALL = os.environ.get("INSPECTOR_ALL") == "1"
SOME = {name: way for name, way in WAYS.items() if ALL or way in (("stdio", "legacy"), ("HTTP", "modern"))}
OTHERS = {name: way for name, way in WAYS.items() if ALL or name not in SOME}
TOOL_FAILED = 5  # the inspector's own exit code for isError
DATA = os.path.join(FOLDER, "inspected")
os.makedirs(DATA)


def inspector():
    """The Node that runs it."""
    if not os.path.exists(INSPECTOR):
        raise Skipped("the inspector is not there")
    return node_22()


def inspect(way, *arguments, exits=0):
    """One run of the inspector: the result that it was given."""
    transport, era = way
    target = [server.PROGRAM, "mcp", "--data", DATA] if transport == "stdio" else [server.server("mcp").url + "/mcp"]
    ran = run_program(inspector(), INSPECTOR, "--cli", *target, "--protocol-era", era, "--format", "json", "--quiet", *arguments)
    equal(ran.status, exits, "exit of %s, which said %r, %r" % (arguments, ran.out, ran.err))
    answer = parsed(ran.out)
    return answer.get("result", answer)


@tests_of(WAYS)
def tools_are_listed_with_schemas_that_any_model_takes(*way):
    tools = inspect(way, "--method", "tools/list", "--strict")["tools"]  # --strict: 6 for a schema that is not portable
    names = {tool["name"] for tool in tools}
    expect({"create_user", "list_todos", "explain_code"} <= names, "the tools are", names)
    expect(all(tool["inputSchema"]["type"] == "object" for tool in tools), tools)


@tests_of(OTHERS)
def a_call_works(*way):
    result = inspect(way, "--method", "tools/call", "--tool-name", "explain_code", "--tool-arg", "code=NOT_FOUND")
    equal(result["structuredContent"]["code"], "NOT_FOUND", "the code")


@tests_of(SOME)
def a_failure_names_every_bad_argument(*way):
    result = inspect(way, "--method", "tools/call", "--tool-name", "create_user", "--tool-arg", "age=200", exits=TOOL_FAILED)
    expect(result["isError"], result)
    equal([(field["field"], field["error"]) for field in result["structuredContent"]["fields"]],
          [("name", "field_required"), ("age", "value_out_of_range"), ("email", "field_required")], "the fields")


@tests_of(SOME)
def resources_can_be_read(*way):
    resources = {resource["uri"] for resource in inspect(way, "--method", "resources/list")["resources"]}
    expect("catalog://codes" in resources, "the resources are", resources)
    contents = inspect(way, "--method", "resources/read", "--uri", "catalog://codes/NOT_FOUND")["contents"]
    expect("NOT_FOUND" in contents[0]["text"], contents)


@tests_of(OTHERS)
def prompts_can_be_read(*way):
    prompts = {prompt["name"] for prompt in inspect(way, "--method", "prompts/list")["prompts"]}
    expect("explain_failure" in prompts, "the prompts are", prompts)
    got = inspect(way, "--method", "prompts/get", "--prompt-name", "explain_failure", "--prompt-args", "error={}")
    equal(got["messages"][0]["role"], "user", "the role")


# ---- What docs/mcp.md says -----------------------------------------------------------------------

with open(os.path.join(TREE, "docs", "mcp.md"), encoding="utf-8") as page:
    PAGE = page.read()
BIN = os.path.join(FOLDER, "bin")  # where `mishap` is found
os.mkdir(BIN)
os.symlink(server.PROGRAM, os.path.join(BIN, "mishap"))


def inspect_as_told(*arguments):
    """Run the inspector as a reader of the page would."""
    return run_program(inspector(), INSPECTOR, "--cli", *arguments,
                       env={"PATH": BIN + ":" + os.environ["PATH"], "MISHAP_DATA": DATA, "MCP_INSPECTOR_SECRET_STORE": "memory"})


def inspect_with(entry):
    """… with the entry of a server from a block of configuration: does it get the list of tools?"""
    path = os.path.join(FOLDER, "mcp.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"mishap": entry}}, file)
    return inspect_as_told("--config", path, "--server", "mishap", "--method", "tools/list")


def new_key(data):
    added = run_program(server.PROGRAM, "keys", "add", "--name", "agent", "--data", data)
    equal(added.status, 0, "exit of `keys add`, which said %r" % added.out)
    return parsed(added.out)["data"]["key"]


@test
def the_lines_of_the_page_work():
    lines = re.findall(r"^npx @modelcontextprotocol/inspector --cli (.*)$", PAGE, re.M)
    expect(len(lines) == 2, "the lines about the inspector:", lines)
    for line in lines:
        ran = inspect_as_told(*shlex.split(line.replace("http://localhost:8080", server.server("mcp").url)))
        equal(ran.status, 0, "exit of %s, which said %r" % (line, ran.err))


@test
def the_blocks_of_the_page_work():
    blocks = [parsed(block.encode()) for block in re.findall(r'^```json\n(\{ "(?:mcpS|s)ervers".*?)^```$', PAGE, re.M | re.S)]
    equal([list(block) for block in blocks], [["mcpServers"], ["servers"]] * 2, "the blocks")
    plain, typed, plain_http, typed_http = [next(iter(block.values()))["mishap"] for block in blocks]
    equal([dict(plain, type="stdio"), dict(plain_http, type="http")], [typed, typed_http], "the same with and without type")
    for entry in plain, typed:
        ran = inspect_with(entry)
        expect(ran.status == 0 and b"create_user" in ran.out, entry, ran)
    data = os.path.join(FOLDER, "keyed")
    key = new_key(data)
    with Server("--workers", "1", "--require-key", data=data) as found:
        text = json.dumps(typed_http, ensure_ascii=False).replace("http://localhost:8080", found.url)
        ran = inspect_with(parsed(text.replace("mk_…", key).encode()))
        expect(ran.status == 0 and b"create_user" in ran.out, text, ran)
        expect(inspect_with(parsed(text.replace("mk_…", "mk_wrong").encode())).status != 0, "any key will do")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
