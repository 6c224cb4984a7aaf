#!/usr/bin/env python3
"""The adapters for argparse, click and MCP.

    MISHAP_EXTENSION=… MISHAP_PROGRAM=… python3 tests/bindings/python_commands_test.py [PART-OF-A-NAME]

Debian has no package of MCP's SDK for Python. Its place is taken by stand-ins that call tools, wrap exceptions and make results as the SDK
(versions 1 and 2) does. If the SDK is installed all the same, it is tested, too.
"""
import asyncio
import json
import os
import subprocess
import types

from package import HERE, PATIENCE, PYTHON, Skipped, environment, equal, expect, inside, main, test, tests_of

inside()
import mishap  # noqa: E402
import mishap.argparse  # noqa: E402
import mishap.mcp  # noqa: E402
from mishap import Mishap  # noqa: E402

APPS = os.path.join(HERE, "python_apps")


def run(name, *words, **more):
    if name == "tool_click" and subprocess.run([PYTHON, "-c", "import click"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("click is not installed")
    return subprocess.run([PYTHON, os.path.join(APPS, name + ".py"), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=PATIENCE, check=False, env=environment(**more))


TOOLS = {"argparse": ("tool_argparse",), "click": ("tool_click",)}


@tests_of(TOOLS)
def a_command_that_succeeds_is_the_same(name):
    for words in (["show", "7"], ["show", "3"], ["--help"], ["show", "--help"], ["show", "7", "--color", "red"]):
        before, after = run(name, *words), run(name, *words, SHOP_MISHAP="1")
        equal((after.returncode, after.stdout, after.stderr), (before.returncode, before.stdout, before.stderr), " ".join(words))


@tests_of(TOOLS)
def failures_of_a_command_are_envelopes_with_exit_codes(name):
    for words, exits, code in ((["show", "1"], 1, "INTERNAL_ERROR"), (["show", "2"], 5, "NOT_FOUND"), (["show"], 2, None), (["show", "x"], 2, "ARG_ERROR"),
                               (["nope"], 2, "ARG_ERROR"), (["show", "7", "--colour", "red"], 2, None), (["show", "7", "--color", "green"], 2, "ARG_ERROR")):
        done = run(name, *words, SHOP_MISHAP="1")
        envelope = json.loads(done.stdout)
        equal((done.returncode, envelope["ok"], done.stdout.count("\n")), (exits, False, 1), done)
        equal([finding for finding in mishap.verify(done.stdout, "cli-envelope") if finding.severity != "warning"], [])
        if code:
            equal(envelope["error"]["code"], code)
        expect("hunter22" not in done.stdout and "Traceback" not in done.stdout)
        if exits == 1:
            record = json.loads(done.stderr)
            expect("hunter22" in record["causes"][0]["message"] and name in record["causes"][0]["traceback"], record)
            equal(record["id"], envelope["meta"].get("request_id") or envelope["error"].get("incident") or record["id"])
    if name == "tool_click":
        done = run(name, "show", "4", SHOP_MISHAP="1")
        equal((done.returncode, json.loads(done.stdout)["error"]["message"]), (1, "The shop is closed."))


@tests_of(TOOLS)
def a_command_passes_the_audit(name):
    done = subprocess.run([os.environ["MISHAP_PROGRAM"], "audit", "cli", "--format", "json", "--time-limit", "60", "--", "env", "SHOP_MISHAP=1", "PYTHONPATH=" + environment()["PYTHONPATH"],
                           PYTHON, os.path.join(APPS, name + ".py")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=PATIENCE, check=False,
                          env=environment(LD_PRELOAD=""))
    results = json.JSONDecoder().raw_decode(done.stdout.decode())[0]
    failed = [row["id"] for row in results["checks"] if row["outcome"] == "failed"]
    print("#", name, "score", results["score"], *failed)
    equal((results["leak"], results["score"], failed), (False, 100, []))


@test
def an_unknown_option_is_named_whatever_else_is_wrong():
    import argparse
    parser = argparse.ArgumentParser(prog="tool")
    parser.add_argument("-v", action="count")
    parser.add_argument("--color")
    parser.add_argument("-n", type=int)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("show").add_argument("number", type=int)
    mishap.argparse.install(parser)
    for words, code, option in (
            (["--nope"], "UNKNOWN_OPTION", "--nope"), (["--nope=3"], "UNKNOWN_OPTION", "--nope"), (["show", "7", "--nope"], "UNKNOWN_OPTION", "--nope"), (["show", "--nope"], "UNKNOWN_OPTION", "--nope"),
            (["-x"], "UNKNOWN_OPTION", "-x"), (["-vv", "--col", "red"], "ARG_ERROR", None), (["-v", "-n", "-5"], "ARG_ERROR", None), (["--", "--nope"], "ARG_ERROR", None),
            (["show", "x"], "ARG_ERROR", None), (["show", "-7.5"], "ARG_ERROR", None), ([], "ARG_ERROR", None)):
        try:
            parser.parse_args(words)
            raise AssertionError(words)
        except Mishap as failure:
            equal((failure.code, failure.context.get("option"), failure.exit_code), (code, option, 2), words)
            expect(option is None or option in failure.message, failure.message)
            expect(failure.context["usage"].startswith("usage: tool"), failure.context)
    equal(parser.parse_args(["-vv", "-n", "-5", "--col", "red", "show", "7"]).number, 7)


# -- MCP -----------------------------------------------------------------------------------------------------

class ToolError(Exception):
    pass


class ResourceError(Exception):
    pass


class McpError(Exception):
    pass


class ValidationError(Exception):
    """As pydantic's."""

    def __init__(self, title, errors):
        super().__init__("2 validation errors for " + title)
        self.title, self.found = title, errors

    def errors(self):
        return self.found


class ToolManager:
    """As the SDK's: what a tool raises is wrapped, errors of the protocol are not."""

    def __init__(self, tools):
        self.tools = tools

    def get_tool(self, name):
        return self.tools.get(name) and types.SimpleNamespace(name=name, fn=self.tools[name])

    async def call_tool(self, name, arguments, context=None, convert_result=False):
        if name not in self.tools:
            raise ToolError(f"Unknown tool: {name}")
        try:
            return self.tools[name](**arguments)
        except McpError:
            raise
        except Exception as exception:
            raise ToolError(f"Error executing tool {name}: {exception}") from exception


class Server:
    """As the SDK's low-level server: the text of an exception is the text of the result."""

    def call_tool(self, *, validate_input=True):
        def decorator(function):
            async def handler(name, arguments):
                if validate_input and "bad" in arguments:
                    return self._make_error_result("Input validation error: 'bad' was unexpected")
                try:
                    return {"isError": False, "content": await function(name, arguments)}
                except McpError:
                    raise
                except Exception as exception:
                    return self._make_error_result(str(exception))
            self.handler = handler
            return function
        return decorator

    def _make_error_result(self, text):
        return {"isError": True, "content": [{"type": "text", "text": text}]}

    def declare(self, name):
        """A decorator. What its function raises becomes an error of the protocol with its text."""
        def decorator(function):
            async def handler(*arguments):
                try:
                    return await function(*arguments)
                except Exception as exception:
                    return {"code": 0, "message": str(exception)}
            setattr(self, "handle_" + name, handler)
            return function
        return decorator

    def read_resource(self):
        return self.declare("resource")

    def get_prompt(self):
        return self.declare("prompt")


class FastMCP:
    """As the SDK's, version 1: it hands its own methods to a low-level server, and wraps what a resource or a prompt raises."""

    def __init__(self, tools, contents=None):
        self._tool_manager, self.server, self.contents = ToolManager(tools), Server(), contents or {}
        self._mcp_server = self.server
        self.server.call_tool(validate_input=False)(self.call_tool)
        self.server.read_resource()(self.read_resource)
        self.server.get_prompt()(self.get_prompt)

    async def read_resource(self, uri):
        if uri not in self.contents:
            raise ResourceError(f"Unknown resource: {uri}")
        try:
            try:
                return self.contents[uri]()
            except Exception as exception:
                raise ValueError(f"Error reading resource {uri}: {exception}")
        except Exception as exception:
            raise ResourceError(str(exception))

    async def get_prompt(self, name, arguments=None):
        try:
            if name not in self.contents:
                raise ValueError(f"Unknown prompt: {name}")
            try:
                if "missing" in (arguments or {}):
                    raise ValueError("Missing required arguments: {'a'}")
                return self.contents[name]()
            except Exception as exception:
                raise ValueError(f"Error rendering prompt {name}: {exception}")
        except Exception as exception:
            raise ValueError(str(exception))

    async def call_tool(self, name, arguments):
        return await self._tool_manager.call_tool(name, arguments, context=None, convert_result=True)


def order(kind="crash", **_):
    if kind == "crash":
        raise RuntimeError("could not connect to postgres://shop:hunter22@db7:5432/orders")
    if kind == "mishap":
        raise Mishap("NOT_FOUND", "There is no order 2.", context={"order": 2})
    if kind == "arguments":
        raise ValidationError("orderArguments", [{"type": "missing", "loc": ("a",), "msg": "Field required"},
                                                   {"type": "int_parsing", "loc": ("b", 1), "msg": "Input should be a valid integer"}])
    if kind == "model":
        raise ValidationError("OrderRow", [{"type": "missing", "loc": ("hunter22",), "msg": "Field required"}])
    if kind == "own":  # a model of the program, not that of the arguments
        raise ValidationError("DeployArguments", [{"type": "missing", "loc": ("hunter22",), "msg": "Field required"}])
    if kind == "spoken":
        raise ToolError("The shop is closed.")
    if kind == "protocol":
        raise McpError("-32042")
    return "fine"


def result(server, name, arguments):
    made = asyncio.run(server.handler(name, arguments))
    if made["isError"]:
        equal([finding for finding in mishap.verify(made["content"][0]["text"], "tool-result") if finding.severity != "warning"], [])
        expect("hunter22" not in made["content"][0]["text"])
        return json.loads(made["content"][0]["text"])
    return made["content"]


def low_level(tools):
    server = mishap.mcp.install(Server())

    @server.call_tool()
    async def call(name, arguments):
        if name not in tools:
            raise ToolError(f"Unknown tool: {name}")
        return tools[name](**arguments)
    return server


@tests_of({"FastMCP": (lambda tools: mishap.mcp.install(FastMCP(tools)).server,), "the low-level server": (low_level,)})
def failures_of_tools_are_documents(make):
    records = []
    mishap.set_sink(records.append)
    server = make({"order": order})
    equal(result(server, "order", {"kind": "none"}), "fine")
    crash = result(server, "order", {"kind": "crash"})
    equal((crash["status"], crash["error_type"], crash["message"]), ("error", "RuntimeError", mishap.describe("INTERNAL_ERROR").message))
    equal(records[0]["id"], crash["incident"])
    expect("hunter22" in json.dumps(records[0]["causes"]))
    equal(result(server, "order", {"kind": "mishap"})["order"], 2)
    fields = result(server, "order", {"kind": "arguments"})["fields"]
    equal([field["field"] for field in fields], ["a", "b[1]"])
    equal(result(server, "order", {"kind": "model"})["message"], mishap.describe("INTERNAL_ERROR").message)
    equal(result(server, "order", {"kind": "own"})["message"], mishap.describe("INTERNAL_ERROR").message)
    equal(result(server, "order", {"kind": "spoken"})["message"], "The shop is closed.")
    expect("Unknown tool" in result(server, "nope", {})["message"])
    try:
        asyncio.run(server.handler("order", {"kind": "protocol"}))
        raise AssertionError("an error of the protocol goes on")
    except McpError:
        pass
    mishap.set_sink(None)


@test
def a_tool_may_have_another_name_than_its_function():
    fields = result(mishap.mcp.install(FastMCP({"place-order": order})).server, "place-order", {"kind": "arguments"})["fields"]
    equal([field["field"] for field in fields], ["a", "b[1]"])


def contents():
    def crash():
        raise RuntimeError("could not connect to postgres://shop:hunter22@db7:5432/orders")

    def refuse():
        raise Mishap("CONFLICT", "The shop is closed.", context={"until": 9})
    return {"crash": crash, "refuse": refuse, "fine": lambda: "fine"}


def low_level_contents():
    server, made = mishap.mcp.install(Server()), contents()

    @server.read_resource()
    async def read(uri):
        if uri not in made:
            raise ResourceError(f"Unknown resource: {uri}")
        return made[uri]()

    @server.get_prompt()
    async def prompt(name, arguments):
        if name not in made:
            raise ValueError(f"Unknown prompt: {name}")
        if "missing" in arguments:
            raise ValueError("Missing required arguments: {'a'}")
        return made[name]()
    return server


@tests_of({"FastMCP": (lambda: mishap.mcp.install(FastMCP({}, contents())).server,), "the low-level server": (low_level_contents,)})
def failures_of_resources_and_prompts_are_documents(make):
    records = []
    mishap.set_sink(records.append)
    server = make()

    def asked(name, *more):
        handler = server.handle_prompt if more else server.handle_resource
        answer = asyncio.run(handler(name, *more))
        if answer == "fine":
            return answer
        expect("hunter22" not in answer["message"], answer)
        return json.loads(answer["message"])
    for more in ((), ({"x": "1"},)):
        equal(asked("fine", *more), "fine")
        crash = asked("crash", *more)
        equal((crash["message"], crash["incident"]), (mishap.describe("INTERNAL_ERROR").message, records[-1]["id"]))
        expect("hunter22" in json.dumps(records[-1]["causes"]), records[-1])
        refused = asked("refuse", *more)
        equal((refused["message"], refused["until"]), ("The shop is closed.", 9))
        expect("Unknown" in asked("nope", *more)["message"])
    expect("Missing required arguments" in asked("fine", {"missing": "1"})["message"])
    equal(len(records), 2)
    mishap.set_sink(None)


@test
def arguments_that_a_schema_refuses_are_a_document():
    equal(result(low_level({"order": order}), "order", {"bad": 1})["error_type"], "ValidationError")


@test
def another_object_is_refused():
    try:
        mishap.mcp.install(object())
    except TypeError as refusal:
        expect("FastMCP" in str(refusal))
    else:
        raise AssertionError("it was accepted")


@test
def the_sdk_itself_if_it_is_installed():
    try:
        from mcp.server.fastmcp import FastMCP as Real
    except ImportError as missing:
        raise Skipped("the SDK is not installed") from missing
    server = Real("shop")
    server.tool()(order)
    mishap.mcp.install(server)
    try:
        asyncio.run(server.call_tool("order", {"kind": "mishap"}))
    except Exception as failure:
        equal(json.loads(str(failure))["order"], 2)


main()
