"""What a model is shown of our tools, and what it is told when it makes a mistake.

    MISHAP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/mcp/models_test.py [PART-OF-A-NAME]

The list of tools must be short: a tokenizer from npm counts it. Each mistake must be told so that the next call can be right
without the documentation: the text has the words to change, which stand beside the mistake here.
"""
import functools
import json
import os
import subprocess

from node import NODE_MODULES, node
from talk import MISHAP, Server, Skipped, equal, expect, hello, main, test, tests_of

MOST_TOKENS = 7000
REVISION = "2025-11-25"
DIVIDE = "def f(x: int) -> float:\n    return 1 / x"
UNKNOWN_SESSION = "0" * 48

# A tool, wrong arguments, and words that the answer must have.
MISTAKES = {
    "a taken e-mail": ("create_user", {"name": "Bob", "email": "ada@example.com"}, ["Give another `email`"]),
    "a required argument is missing": ("create_user", {"name": "Ada"}, ["email is required (string)"]),
    "a misspelled argument": ("create_user", {"name": "Ada", "mail": "b@example.com"}, ["mail is not a known name; did you mean email?"]),
    "a text that does not match": ("create_user", {"name": "Ada", "email": "ada"}, ["email must match .*@.*\\\\..*"]),
    "a number in quotes": ("create_user", {"name": "Ada", "age": "36", "email": "b@example.com"},
                           ["age must be an integer, not a string: write it without quotes"]),
    "a number below its range": ("create_user", {"name": "Ada", "age": -1, "email": "b@example.com"},
                                 ["age must be at least 0 and at most 150, not -1"]),
    "an empty required text": ("create_user", {"name": "", "email": "b@example.com"}, ["name is required (string)"]),
    "a text that is too long": ("create_user", {"name": "A" * 201, "email": "b@example.com"}, ["name must have at least 1 and at most 200 characters, not 201"]),
    "several at once": ("create_user", {"age": 151}, ["name is required", "email is required", "at most 150"]),
    "an integer id": ("get_user", {"id": 1}, ["id must be a string, not a number: put it in quotes"]),
    "an id that does not exist": ("get_user", {"id": "99"}, ["List the users to see which ids exist."]),
    "an id by another name": ("get_user", {"user_id": "1"}, ["user_id is not a known name; the known name is id"]),
    "an array instead of an id": ("get_user", {"id": ["1"]}, ["id must be a string, not an array"]),
    "null for what is required": ("get_user", {"id": None}, ["id is required (string)"]),
    "a tool by a similar name": ("get_users", {}, ["did you mean `get_user`?"]),
    "an underscore for a hyphen": ("evaluate_lisp", {"code": "(+ 1 2)"}, ["did you mean `evaluate-lisp`?"]),
    "a limit that is too high": ("list_users", {"limit": 1000}, ["limit must be at least 1 and at most 100, not 1000"]),
    "a malformed cursor": ("list_users", {"after": "abc"}, ["after must be an id such as 17, not abc"]),
    "an argument of other services": ("list_users", {"page": 2}, ["the known names are limit and after"]),
    "a user that does not exist": ("create_todo", {"title": "Buy milk", "user_id": "77"},
                                   ["User not found", "List the users to see which ids exist, or leave `user_id` out."]),
    "an argument that is not there": ("create_todo", {"title": "Buy milk", "due": "tomorrow"}, ["the known names are title, done and user_id"]),
    "a word for a boolean": ("create_todo", {"title": "Buy milk", "done": "yes"}, ["done must be true or false, not a string"]),
    "a boolean in quotes": ("list_todos", {"done": "false"}, ["done must be true or false, not a string: write it without quotes"]),
    "a todo that does not exist": ("delete_todo", {"id": "77"}, ["List the todos to see which ids exist."]),
    "a session that is no id": ("evaluate-lisp", {"code": "(+ 1 2)", "session": "abc"},
                                ["session must be an id from an earlier answer, not abc"]),
    "an unknown session": ("evaluate-lisp", {"code": "(+ 1 2)", "session": UNKNOWN_SESSION}, ["Leave `session` out to begin a new one."]),
    "an undefined function": ("evaluate-lisp", {"code": "(foo 1)"}, ["The function FOO is undefined."]),
    "a wrong type in Lisp": ("evaluate-lisp", {"code": '(+ 1 "2")'}, ['The value "2" is not of type NUMBER.']),
    "a missing parenthesis": ("evaluate-lisp", {"code": "(+ 1 2"}, ["a parenthesis or a string is not closed"]),
    "code by another name": ("evaluate-lisp", {"expression": "(+ 1 2)"}, ["code is required", "the known names are code, package, timeout and session"]),
    "a timeout in quotes": ("evaluate-lisp", {"code": "(+ 1 2)", "timeout": "5"}, ["timeout must be a number, not a string: write it without quotes"]),
    "a timeout in milliseconds": ("evaluate-lisp", {"code": "(+ 1 2)", "timeout": 5000}, ["at most 600, not 5000"]),
    "an unknown package": ("evaluate-lisp", {"code": "(+ 1 2)", "package": "nopackage"}, ['There is no package named "nopackage".']),
    "a choice that is none": ("macroexpand-form", {"code": "(when a b)", "depth": "2"}, ["depth must be one of 1, full or all, not 2"]),
    "a file that may not be loaded": ("load-file", {"file": "/etc/passwd"}, ["in the folders that files may be loaded from"]),
    "an artifact by half its name": ("invoke_artifact", {"artifact": "ledger", "method": "balance", "args": ["alice"]}, ["genesis_ledger"]),
    "a misspelled method": ("invoke_artifact", {"artifact": "genesis_ledger", "method": "blance", "args": ["alice"]}, ['"balance"']),
    "too few arguments of a method": ("invoke_artifact", {"artifact": "genesis_ledger", "method": "transfer", "args": ["alice"]},
                                      ["transfer requires [from_id, to_id, amount]"]),
    "arguments by name": ("invoke_artifact", {"artifact": "genesis_ledger", "method": "transfer", "args": {"from": "alice"}},
                          ["args must be an array, not an object"]),
    "a function that is not there": ("symbolic_check", {"code": DIVIDE, "function_name": "g"}, ["The code has these functions: f."]),
    "a module that is blocked": ("symbolic_check", {"code": "import os\n" + DIVIDE, "function_name": "f"}, ["Blocked module: os", "remove line 1"]),
    "a syntax error": ("symbolic_check", {"code": "def f(x: int)\n    return 1", "function_name": "f"}, ["expected ':' (line 1)"]),
    "one function of two": ("compare_functions", {"code": DIVIDE, "function_a": "f"}, ["function_b is required"]),
    "a code without its underscore": ("explain_code", {"code": "NOTFOUND"}, ["Did you mean NOT_FOUND?"]),
}


def text_of(answer):
    """What the model sees, of a result or of an error of the protocol."""
    result = answer.get("result")
    if result is None:
        return json.dumps(answer["error"], ensure_ascii=False)
    expect(result.get("isError"), "it worked:", result)
    return "\n".join(part["text"] for part in result["content"])


@functools.cache
def answers():
    with Server(program=MISHAP, revision=REVISION) as found:
        found.call("create_user", name="Ada", email="ada@example.com")
        return {name: found.ask("tools/call", {"name": tool, "arguments": arguments})
                for name, (tool, arguments, _) in MISTAKES.items()}


@tests_of({name: (name,) for name in MISTAKES})
def the_answer_says_what_to_change(name):
    text = text_of(answers()[name])
    if "NOT_CONFIGURED" in text or "NOT-CONFIGURED" in text:
        raise Skipped("the service is not here")
    for words in MISTAKES[name][2]:
        expect(words in text, "%s: `%s` is not said in: %s" % (name, words, text))


@test
def there_are_forty_mistakes():
    expect(len(MISTAKES) >= 40, len(MISTAKES))


# ---- The list ------------------------------------------------------------------------------------

@functools.cache
def tools_of(schemas):
    with Server(*(["--schemas", schemas] if schemas else []), program=MISHAP, revision=REVISION) as found:
        return found.result("tools/list")["tools"]


@test
def the_list_is_short():
    """As it is sent, everything counts. What the lists of 33 tools took before: 17,037."""
    script = "import { encode } from 'gpt-tokenizer/encoding/o200k_base';" \
             "let all = ''; for await (const piece of process.stdin) all += piece; console.log(encode(all).length);"
    command = node()
    if not command:
        raise Skipped("there is no Node")
    if not os.path.isdir(NODE_MODULES):
        raise Skipped("there is no gpt-tokenizer")
    counts = {}
    for schemas in (None, "full"):
        text = json.dumps(tools_of(schemas), ensure_ascii=False, separators=(",", ":"))
        done = subprocess.run([command, "--input-type=module", "-e", script], input=text.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=NODE_MODULES + "/..", check=False)
        if done.returncode and b"ERR_MODULE_NOT_FOUND" in done.stderr:
            raise Skipped("there is no gpt-tokenizer")
        counts[schemas] = int(done.stdout)
    names = {tool["name"] for tool in tools_of(None)}
    expect(len(names) >= 33 or "evaluate-lisp" not in names, "some tools are missing:", sorted(names))
    print("# %d tools: %d tokens, %d with full schemas" % (len(tools_of(None)), counts[None], counts["full"]))
    expect(counts[None] <= MOST_TOKENS, "the list takes %d tokens, and may take %d" % (counts[None], MOST_TOKENS))
    expect(counts["full"] > counts[None], counts)


@test
def a_brief_list_leaves_out_what_says_nothing():
    brief, full = ({tool["name"]: tool for tool in tools_of(schemas)} for schemas in ("brief", "full"))
    equal(tools_of(None), tools_of("brief"), "without a flag")
    equal(list(brief), list(full))
    for name, tool in full.items():
        if "outputSchema" in tool:
            success, failure = tool["outputSchema"]["anyOf"]
            equal(brief[name]["outputSchema"], {"type": "object", "properties": {key: {} for key in success["properties"]}}, name)
            expect(failure["required"], name)
        for hint, otherwise in (("readOnlyHint", False), ("destructiveHint", True), ("idempotentHint", False)):
            said = tool["annotations"].get(hint, otherwise)
            equal(brief[name]["annotations"].get(hint), None if said == otherwise else said, "%s of %s" % (hint, name))
        equal(list(brief[name]["inputSchema"]["properties"]), list(tool["inputSchema"]["properties"]), name)
        equal(brief[name]["inputSchema"].get("required"), tool["inputSchema"].get("required"), name)


@test
def codes_that_all_tools_of_a_service_share_are_told_once():
    with Server(program=MISHAP) as found:
        words = found.result("initialize", hello(REVISION)["params"])["instructions"]
    lisp = [tool for tool in tools_of("full") if tool.get("_meta") == {"dev.mishap/service": "lisp"}]
    expect(len(lisp) > 10, [tool["name"] for tool in lisp])
    for tool in lisp:
        expect("UNDEFINED_FUNCTION" in tool["description"], tool)
    for tool in tools_of("brief"):
        expect("UNDEFINED_FUNCTION" not in tool["description"], tool)
    expect("The tools of the service lisp may also fail with TYPE_ERROR, UNDEFINED_FUNCTION" in words, words)
    expect("incidents" not in words, "what the caller may not call is told:", words)


@test
def a_tool_says_what_it_is_for():
    told = {tool["name"]: tool["description"] for tool in tools_of("brief")}
    for words in ("Common Lisp", "SBCL", "sandbox", "one session until it ends; reset-session empties it", "cannot use the network", 'Example: {"code":"(+ 1 2)"}.'):
        expect(words in told["evaluate-lisp"], words, told["evaluate-lisp"])
    for name, words in told.items():
        expect("Example: {" in words or name in NO_ARGUMENTS, "no example:", name, words)


NO_ARGUMENTS = {"get_premium_report", "health_check", "describe-last-error", "list-definitions", "reset-session"}  # none is needed

if __name__ == "__main__":
    main()
