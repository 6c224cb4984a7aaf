"""Mistakes that models make with a tool: what our server answers, and what the official TypeScript server does.

    MISHAP_PROGRAM=… LOANS_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/mcp/mistakes_test.py
    MISHAP_WRITE_DOCS=1 …                     # writes the table into docs/why.md, else it is compared

The tool is lend_books of examples/loans.c; mistakes_server.mjs declares the same for the other server. Each mistake is mended
by mend(), which sees the wrong call and our answer to it, and nothing else: no schema, no right call. What it makes of them
must work, so the answer alone says what to do.
"""
import copy
import difflib
import json
import os
import re
import subprocess

from node import NODE_MODULES, node
from talk import Server, Skipped, equal, expect, hello, line, main, notification, request, test, tests_of

HERE = os.path.dirname(os.path.abspath(__file__))
LOANS = os.path.abspath(os.environ["LOANS_PROGRAM"])
DOCUMENT = os.path.join(HERE, "..", "..", "docs", "why.md")

RIGHT = {"member_id": 1, "due": "2030-02-28", "books": [{"book_id": 1}]}
MISTAKES = {
    "a misspelled argument": ("lend_books", dict(RIGHT, nots="Ring twice.")),
    "a number as a string": ("lend_books", dict(RIGHT, member_id="1")),
    "one is missing": ("lend_books", {"member_id": 1, "books": [{"book_id": 1}]}),
    "one too many": ("lend_books", dict(RIGHT, priority="high")),
    "a date that does not exist": ("lend_books", dict(RIGHT, due="2030-02-31")),
    "an id that does not exist": ("lend_books", dict(RIGHT, books=[{"book_id": 77}])),
    "a wrong choice": ("lend_books", dict(RIGHT, books=[{"book_id": 1, "condition": "god"}])),
    "null for what is required": ("lend_books", dict(RIGHT, due=None)),
    "null for what is optional": ("lend_books", dict(RIGHT, note=None)),
    "a wrong type inside": ("lend_books", dict(RIGHT, books=[{"book_id": "1"}])),
    "a misspelled name inside": ("lend_books", dict(RIGHT, books=[{"bookId": 1}])),
    "a text that is too long": ("lend_books", dict(RIGHT, note="Please ring twice. " * 5)),
    "a list as a string": ("lend_books", dict(RIGHT, books='[{"book_id": 1}]')),
    "a tool's name slightly wrong": ("lend_book", RIGHT),
}
WORK_AT_ONCE = {"null for what is optional"}  # there is nothing to mend


# ---- Mending by the answer alone -----------------------------------------------------------------

def steps(path):
    return [int(number) if number else name for name, number in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]


def holder(arguments, path):
    """What has the last step of a path, and that step."""
    *way, last = steps(path)
    for step in way:
        arguments = arguments[step]
    return arguments, last


def example(expected):
    return re.search(r"such as (\S+)", expected)[1].strip(".,")


def mend_field(arguments, field):
    at, last = holder(arguments, field["field"])
    expected, error = field.get("expected"), field["error"]
    if error == "unknown_field":
        value = at.pop(last)
        if expected:
            at[expected] = value
    elif error == "field_required" and not at.get(last):
        at[last] = example(expected)
    elif error == "invalid_type" and field["actual"] == "string":
        at[last] = json.loads(at[last])
        expect(isinstance(at[last], {"integer": int, "array": list}[expected]), "no", expected, ":", at[last])
    elif error == "invalid_length":
        at[last] = at[last][:field["max"]]
    elif isinstance(expected, list):
        at[last] = difflib.get_close_matches(at[last], expected, 1, 0)[0]
    elif error == "pattern_mismatch":
        at[last] = example(expected)


def replace(value, name, old, new):
    """The same value with another in place of an old one that goes by a name."""
    if isinstance(value, list):
        return [replace(item, name, old, new) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: new if (key, item) == (name, old) else replace(item, name, old, new) for key, item in value.items()}


def mend(tool, arguments, answer, call):
    """The right call. `call` asks a tool that the answer names."""
    if "error" in answer:
        return re.search(r"did you mean `(\w+)`\?", answer["error"]["message"])[1], arguments
    told, arguments = answer["result"]["structuredContent"], copy.deepcopy(arguments)
    for field in sorted(told.get("fields", []), key=lambda field: field["error"] != "unknown_field"):
        mend_field(arguments, field)
    for name in [name for name in told if name.endswith("_id")]:
        lister, = re.findall(r"\blist_%ss\b" % name[:-3], told["suggestion"])
        arguments = replace(arguments, name, told[name], call(lister)["items"][0]["id"])
    return tool, arguments


def ours():
    found = Server(program=LOANS, revision="2025-11-25")
    found.call("add_book", title="Emma", author="Jane Austen")
    found.call("add_member", name="Ada", email="ada@example.com")
    return found


def lend(found, tool, arguments):
    return found.ask("tools/call", {"name": tool, "arguments": arguments})


@tests_of({name: name for name in MISTAKES})
def a_mistake_is_mended_by_the_answer_alone(name):
    tool, arguments = MISTAKES[name]
    with ours() as found:
        answer = lend(found, tool, arguments)
        if name not in WORK_AT_ONCE:
            expect("error" in answer or answer["result"].get("isError"), "it was taken:", answer)
            tool, arguments = mend(tool, arguments, answer, lambda tool: found.call(tool)["structuredContent"])
            answer = lend(found, tool, arguments)
        expect(not answer["result"].get("isError"), arguments, "is refused:", answer)
        equal(answer["result"]["structuredContent"], {"id": 1}, "the loan")


# ---- The table of the documentation --------------------------------------------------------------

def their_answers():
    if not node() or not os.path.isdir(os.path.join(NODE_MODULES, "@modelcontextprotocol", "sdk")):
        raise Skipped("the TypeScript server is not there")
    calls = [request(number, "tools/call", {"name": tool, "arguments": arguments})
             for number, (tool, arguments) in enumerate(MISTAKES.values(), 1)]
    with subprocess.Popen([node(), os.path.join(HERE, "mistakes_server.mjs"), NODE_MODULES], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"".join(map(line, [hello("2025-11-25"), notification("notifications/initialized"), *calls])))
        process.stdin.flush()
        answers = {}
        while len(answers) < len(calls) + 1:
            text = process.stdout.readline()
            expect(text, "the server ended:", answers, process.stderr.read() if not text else "")
            answers[json.loads(text)["id"]] = json.loads(text)
        process.stdin.close()
        process.terminate()
    return [answers[number] for number in range(1, len(calls) + 1)]


def cell(text):
    """Text in a cell, as code: a long one is cut."""
    text = " ".join(text.split()).replace("|", "\\|")
    text = text if len(text) <= 200 else text[:197] + "…"
    fence = "``" if "`" in text else "`"
    return fence + text + fence


def said(answer):
    """What a model reads, apart from what is the same for every failure."""
    if "error" in answer:
        return cell(answer["error"]["message"])
    if not answer["result"].get("isError"):
        return "it works"
    told = answer["result"].get("structuredContent")
    if not told:
        return cell(answer["result"]["content"][0]["text"])
    if "fields" in told:
        return "<br>".join(cell(field.get("message") or json.dumps(field)) for field in told["fields"])
    return cell(json.dumps({key: told[key] for key in told if key not in ("status", "error_type", "retryable")}))


def their_words(name, answer):
    """The same, without how all of them begin; and whether a mistake went unnoticed."""
    words = said(answer).replace("MCP error -32602: Input validation error: Invalid arguments for tool lend_books: ", "")
    return "it works, and the argument is dropped" if words == "it works" and name not in WORK_AT_ONCE else words


def changed(tool, arguments):
    """What of a call is not as it should be."""
    if tool != "lend_books":
        return tool
    wrong = {key: value for key, value in arguments.items() if value != RIGHT.get(key) or key not in RIGHT}
    return json.dumps(wrong or {key: value for key, value in RIGHT.items() if key in arguments})


def table():
    with ours() as found:
        rows = [(name, call, lend(found, *call)) for name, call in MISTAKES.items()]
    lines = ["| mistake | in the call | this server | the TypeScript server |", "|---|---|---|---|"]
    for (name, call, answer), theirs in zip(rows, their_answers()):
        lines.append("| %s | %s | %s | %s |" % (name, cell(changed(*call)), said(answer), their_words(name, theirs)))
    return "\n".join(lines) + "\n"


@test
def the_documentation_has_this_table():
    made = table()
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    parts = re.fullmatch(r"(.*<!-- made by tests/mcp/mistakes_test.py -->\n)(.*?)(<!-- end -->\n.*)", text, re.S)
    expect(parts, "there is no place for the table in", DOCUMENT)
    if os.environ.get("MISHAP_WRITE_DOCS"):
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(parts[1] + made + parts[3])
    else:
        equal(parts[2], made, "the table, which MISHAP_WRITE_DOCS=1 would write,")


main()
