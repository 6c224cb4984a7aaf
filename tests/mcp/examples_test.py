"""The official clients, LangChain's adapters and @ai-sdk/mcp with all that the examples can answer.

    MISHAP_PROGRAM=… DIRECTORY_PROGRAM=… LOANS_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/mcp/examples_test.py

Every tool of the directory, the loans, the todo service, the artifacts and the symbolic service is called once with success and once with each code that it
declares, by each client (examples.mjs). All tools of the Lisp service declare the same codes, so evaluate-lisp is called with
each. Nothing may throw, but LangChain's tools do so when they fail: then the text of the failure is in what they throw.
"""
import functools
import json
import os
import re
import subprocess
import tempfile

from node import NODE_MODULES, node_22
from talk import MISHAP, Server, Skipped, equal, expect, main, tests_of

HERE = os.path.dirname(os.path.abspath(__file__))
DIRECTORY, LOANS = (os.path.abspath(os.environ[name + "_PROGRAM"]) for name in ("DIRECTORY", "LOANS"))
CLIENTS = ["SDK 1.x", "SDK 2.x, stateless", "SDK 2.x, older revision", "@langchain/mcp-adapters", "@ai-sdk/mcp"]
INVALID = "VALIDATION_ERROR"

# ---- The calls: tool, arguments, and the code of the failure or None -----------------------------

ADA = {"name": "Ada \"A\" Lovelace", "age": 36, "email": "ada@example.com"}
LOAN = {"member_id": 1, "due": "2030-02-28", "books": [{"book_id": 1, "condition": "worn"}, {"book_id": 2}], "note": "Ring."}


def invoke(artifact, method, *args, by="alice", **more):
    return "invoke_artifact", {"artifact": artifact, "method": method, "args": list(args), **({"caller": by} if by else {}), **more}


def loan_of(*books):
    return dict(LOAN, books=[{"book_id": book} for book in books])


PYTHON = "def f(a: int):\n    x = 1\n    if a > x:\n        return {'a': [a]}\n    return None\ndef g(a: int = 3, *, b: str = ''):\n    return 1 // a\n"
ANALYSES = [("symbolic_check", {"function_name": "f"}), ("find_path_to_exception", {"function_name": "f", "exception_type": "KeyError"}),
            ("compare_functions", {"function_a": "f", "function_b": "f"}), ("analyze_branches", {"function_name": "f"})]
CALLS = {
    "directory": [
        ("users_create", ADA, None), ("users_create", ADA, "ALREADY_EXISTS"), ("users_create", {"age": 200, "emial": "x"}, INVALID),
        ("users_get", {"email": "ada@example.com"}, None), ("users_get", {"email": "eve@example.com"}, "NOT_FOUND"),
        ("users_get", {}, INVALID), ("users_list", {}, None), ("users_list", {"limit": 3}, INVALID),
    ],
    "directory, which cannot be opened": [("users_create", ADA, "UNAVAILABLE")],
    "loans": [
        *[("add_book", {"title": "Emma %d" % i, "author": "Jane Austen"}, None) for i in range(6)],
        ("add_book", {"title": ""}, INVALID), ("list_books", {}, None), ("list_books", {"limit": "1"}, INVALID),
        ("add_member", dict(name="Ada", email="ada@example.com", address={"street": "1 Mill Lane", "city": "Bath"}), None),
        ("add_member", dict(name="Eve", email="ada@example.com"), "ALREADY_EXISTS"),
        ("add_member", dict(name="Eve", email="eve", address={"street": "x", "town": "Bath"}), INVALID),
        ("list_members", {}, None), ("list_members", {"after": 1.5}, INVALID),
        ("add_member", dict(name="Eve", email="eve@example.com"), None), ("remove_member", {"member_id": 2}, None),
        ("remove_member", {"member_id": 2}, "UNKNOWN_ID"), ("remove_member", {}, INVALID),
        ("lend_books", LOAN, None), ("lend_books", loan_of(3, 1), "BOOK_LENT"), ("lend_books", loan_of(77), "UNKNOWN_ID"),
        ("lend_books", dict(LOAN, due="2030-02-31", books=[{"book_id": "1", "conditon": "new"}]), INVALID),
        *[("lend_books", loan_of(i), None) for i in range(3, 7)], ("lend_books", loan_of(1), "LOAN_LIMIT"),
        ("list_loans", {"limit": 2}, None), ("list_loans", {"limit": 101}, INVALID),
        ("remind_members", {"day": "2030-03-01"}, None), ("remind_members", {"day": "soon"}, INVALID),
        ("return_books", {"id": 1}, None), ("return_books", {"id": 1}, "UNKNOWN_ID"), ("return_books", {"id": []}, INVALID),
    ],
    "todo": [
        ("list_codes", {}, None), ("list_codes", {"category": "sport"}, INVALID),
        ("explain_code", {"code": "NOT_FOUND"}, None), ("explain_code", {"code": "NOPE"}, "NOT_FOUND"), ("explain_code", {}, INVALID),
        ("create_user", ADA, None), ("create_user", ADA, "ALREADY_EXISTS"), ("create_user", {"name": "", "age": 200}, INVALID),
        ("create_user", {"name": "Eve", "email": "eve@example.com"}, None),
        ("get_user", {"id": "1"}, None), ("get_user", {"id": "9"}, "NOT_FOUND"), ("get_user", {"id": 1}, INVALID),
        ("list_users", {"limit": 1}, None), ("list_users", {"limit": 0}, INVALID),
        ("update_user", {"id": "1", "age": 37}, None), ("update_user", {"id": "9", "age": 37}, "NOT_FOUND"),
        ("update_user", {"id": "1", "email": "eve@example.com"}, "ALREADY_EXISTS"), ("update_user", {"id": "1", "age": -1}, INVALID),
        ("create_todo", {"title": "Read", "user_id": "1"}, None), ("create_todo", {"title": "Read", "user_id": "9"}, "NOT_FOUND"),
        ("create_todo", {"title": "Read"}, None), ("create_todo", {"titel": "Read"}, INVALID),
        ("get_todo", {"id": "2"}, None), ("get_todo", {"id": "9"}, "NOT_FOUND"), ("get_todo", {}, INVALID),
        ("list_todos", {"done": False}, None), ("list_todos", {"done": "no"}, INVALID),
        ("update_todo", {"id": "1", "done": True}, None), ("update_todo", {"id": "9", "done": True}, "NOT_FOUND"),
        ("update_todo", {"id": "1", "done": 1}, INVALID),
        ("delete_todo", {"id": "1"}, None), ("delete_todo", {"id": "1"}, "NOT_FOUND"), ("delete_todo", {"id": None}, INVALID),
        ("delete_todos", {"user_id": "9"}, None), ("delete_todos", {"done": False}, "INPUT_REQUIRED"), ("delete_todos", {"done": "no"}, INVALID),
        ("delete_user", {"id": "1"}, None), ("delete_user", {"id": "1"}, "NOT_FOUND"), ("delete_user", {}, INVALID),
        ("get_premium_report", {}, "PAYMENT_REQUIRED"), ("get_premium_report", {"page": 1}, INVALID),
        *[("cause_chaos", {"how": how}, "INTERNAL_ERROR") for how in ("crash", "undeclared", "nonsense", "error")],
        ("cause_chaos", {"how": "gently"}, INVALID),
        {"remove": "todo.sqlite"},
        *[(tool, arguments, "UNAVAILABLE") for tool, arguments in {
            "create_user": {"name": "Eva", "email": "eva@example.com"}, "get_user": {"id": "1"}, "list_users": {},
            "update_user": {"id": "1", "age": 37}, "delete_user": {"id": "1"}, "create_todo": {"title": "Read"},
            "get_todo": {"id": "1"}, "list_todos": {}, "update_todo": {"id": "1", "done": True}, "delete_todo": {"id": "1"},
            "delete_todos": {"done": True}}.items()],
    ],
    "lisp": [
        ("evaluate-lisp", {"code": "(values 1 2)"}, None), ("evaluate-lisp", {"code": "(warn \"careful\")"}, None),
        *[("evaluate-lisp", {"code": code}, failure) for code, failure in {
            "(car 5)": "TYPE_ERROR", "(no-such 1)": "UNDEFINED_FUNCTION", "no-such": "UNBOUND_VARIABLE",
            "(/ 1 0)": "DIVISION_BY_ZERO", "(car 1 2)": "PROGRAM_ERROR", "(intern \"A\" :no-such)": "PACKAGE_ERROR",
            ")": "READER_ERROR", "(": "END_OF_FILE", "(error \"a [Backtrace]\")": "SIMPLE_ERROR",
            '(sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) 3)': "RUNTIME_ERROR"}.items()],
        ("evaluate-lisp", {"code": "1", "session": "0" * 48}, "NOT_FOUND"), ("evaluate-lisp", {"code": 1}, INVALID),
        ("validate-syntax", {"code": "(1 2)"}, None), ("validate-syntax", {}, INVALID),
        ("compile-form", {"code": "(defun f (x) (1+ x))"}, None), ("compile-form", {"cod": "1"}, INVALID),
        ("macroexpand-form", {"code": "(when a b)"}, None), ("macroexpand-form", {"code": ""}, INVALID),
        ("describe-symbol", {"symbol": "car"}, None), ("describe-symbol", {}, INVALID),
        ("apropos-search", {"text": "vector-push"}, None), ("apropos-search", {"text": 1}, INVALID),
        ("describe-last-error", {}, None), ("describe-last-error", {"x": 1}, INVALID),
        ("get-backtrace", {"max_frames": 5}, None), ("get-backtrace", {"max_frames": -1}, INVALID),
        ("list-definitions", {}, None), ("list-definitions", {"session": "x"}, INVALID),
        ("configure-limits", {"frames": 5}, None), ("configure-limits", {"frames": "5"}, INVALID),
        ("time-execution", {"code": "(+ 1 2)"}, None), ("time-execution", {"code": None}, INVALID),
        ("load-file", {"file": "alexandria/alexandria-1/package.lisp"}, None), ("load-file", {}, INVALID),
        ("reset-session", {}, None), ("reset-session", {"session": 1}, INVALID),
    ],
    "symbolic": [
        *[(tool, dict(given, code=PYTHON), None) for tool, given in ANALYSES],
        ("symbolic_check", {"code": PYTHON, "function_name": "g"}, None), ("analyze_branches", {"code": PYTHON, "function_name": "f"}, None),
        ("compare_functions", {"code": PYTHON, "function_a": "f", "function_b": "g"}, None), ("health_check", {}, None),
        *[(tool, dict(given, code=code), failure) for tool, given in ANALYSES for code, failure in {
            "def h(): pass": "INVALID_ARGUMENT", "def f(": "SYNTAX_ERROR", "from math import no\n" + PYTHON: "IMPORT_ERROR",
            "import os\n" + PYTHON: INVALID, "import json\n" + PYTHON.replace("x = 1", "x = len(json.dumps(a))"): "RUNTIME_ERROR"}.items()],
        *[(tool, {"code": PYTHON, "timeout_seconds": 0}, INVALID) for tool, _ in ANALYSES], ("health_check", {"x": 1}, INVALID),
    ],
    "artifacts": [
        (*invoke("genesis_store", "create", "a1", "tool", "words", "def run(x):\n  return 1 / x"), None),
        (*invoke("genesis_store", "create", "a2", "tool", "words", "def run(x)"), None),
        (*invoke("genesis_store", "create", "a1", "tool", ""), "ALREADY_EXISTS"),
        (*invoke("genesis_ledger", "transfer", "alice", "bob", 5, idempotency_key="k"), None),
        (*invoke("genesis_ledger", "transfer", "alice", "bob", 6, idempotency_key="k"), "CONFLICT"),
        (*invoke("genesis_ledger", "transfer"), "MISSING_ARGUMENT"), (*invoke("genesis_ledger", "transfer", "alice", "bob", "5"), "INVALID_TYPE"),
        (*invoke("genesis_ledger", "transfer", "alice", "bob", -5), "INVALID_ARGUMENT"),
        (*invoke("genesis_ledger", "transfer", "alice", "bob", 500), "INSUFFICIENT_FUNDS"),
        (*invoke("genesis_ledger", "transfer", "alice", "bob", 5, by="bob"), "NOT_AUTHORIZED"),
        (*invoke("genesis_ledger", "transfer_ownership", "a1", "bob", by="bob"), "NOT_OWNER"),
        (*invoke("genesis_ledger", "balance", "nobody", by=None), "NOT_FOUND"),
        (*invoke("genesis_escrow", "deposit", "a1", 5), None), (*invoke("genesis_escrow", "deposit", "a1", 5), "ALREADY_LISTED"),
        (*invoke("a1", "run", 4), None), (*invoke("a1", "run", 0), "RUNTIME_ERROR"), (*invoke("a2", "run", 0), "SYNTAX_ERROR"),
        (*invoke("genesis_ledger", "balance", "bob", colour="red"), INVALID),
        ("list_artifact_events", {"limit": 5}, None), ("list_artifact_events", {"limit": 500}, INVALID),
        {"remove": "artifacts.sqlite"}, (*invoke("genesis_ledger", "balance", "bob"), "UNAVAILABLE"), ("list_artifact_events", {}, "UNAVAILABLE"),
    ],
}
TYPES = {"RUNTIME_ERROR": "PROCESS-ENDED", "SIMPLE_ERROR": "ERROR", "PACKAGE_ERROR": "PACKAGE-DOES-NOT-EXIST"}
NEVER_WORK = {"get_premium_report", "cause_chaos"}
PROGRAMS = {
    "directory": (DIRECTORY, ["mcp"], {"DIRECTORY_FILE": "DATA/users.txt", "DIRECTORY_LOG": "DATA/log"}),
    "directory, which cannot be opened": (DIRECTORY, ["mcp"], {"DIRECTORY_FILE": "DATA/no/users.txt", "DIRECTORY_LOG": "DATA/log"}),
    "loans": (LOANS, ["mcp"], {"LOANS_DATA": "DATA", "LOANS_LOG": "DATA/log"}),
    "todo": (MISHAP, ["mcp", "--chaos"], {"MISHAP_DATA": "DATA", "MISHAP_LOG": "DATA/log"}),
    "artifacts": (MISHAP, ["mcp", "--service", "artifacts"], {"MISHAP_DATA": "DATA", "MISHAP_LOG": "DATA/log"}),
    "symbolic": (MISHAP, ["mcp", "--service", "symbolic"], {"MISHAP_DATA": "DATA", "MISHAP_LOG": "DATA/log"}),
    "lisp": (MISHAP, ["mcp", "--service", "lisp"], {"MISHAP_DATA": "DATA", "MISHAP_LOG": "DATA/log"}),
}


@functools.cache
def tools_of(program):
    """What the server itself lists: {name: codes that it declares}."""
    command, arguments, _ = PROGRAMS[program]
    with Server(*arguments[1:], "--schemas", "full", program=command, revision="2025-11-25") as found:
        tools = found.result("tools/list")["tools"]
    return {tool["name"]: re.findall(r"[A-Z_]{3,}", (re.findall(r"May fail with ([A-Z_, ]+)\.", tool["description"]) or [""])[-1])
            for tool in tools}


# ---- What the clients made of them ---------------------------------------------------------------

@functools.cache
def everything():
    """{(client, program): what was said}"""
    node = node_22()
    with tempfile.TemporaryDirectory(prefix="mishap-examples-") as folder:
        plan = {"data": folder, "calls": {name: [call if isinstance(call, dict) else call[:2] for call in calls]
                                          for name, calls in CALLS.items()},
                "programs": {name: {"command": command, "args": arguments, "env": env}
                             for name, (command, arguments, env) in PROGRAMS.items()}}
        done = subprocess.run([node, os.path.join(HERE, "examples.mjs"), NODE_MODULES], input=json.dumps(plan).encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=400, check=False)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    expect(told, "nothing was said:", done.stderr[-2000:])
    return {(one["client"], one["program"]): one for one in told}


def check_failure(client, call, answer):
    code = call[2]
    expect(isinstance(answer, list), client, "throws at", call, answer)
    text, failed = answer
    expect(failed, client, call, "worked:", text)
    if client.startswith("@langchain") and "did not match expected schema" in text:
        equal(code, INVALID, "%s refused %s itself" % (client, call))  # its own check, by our schema
        return
    if "[ERROR] " in text:  # a report: its type is the class of the condition
        found = re.search(r"\[ERROR\] (?:SIMPLE-)?(\S+)\n.+\n\n\[Backtrace\]\n0: \(", text)
        expect(found and found[1] in (code.replace("_", "-"), TYPES.get(code)), client, call, text)
        return
    told = json.loads(text[text.index("{"):])
    if "success" in told:
        word = "invalid_argument" if code == INVALID else code.lower()  # the format has no other word for it
        equal((told["success"], told["code"]), (False, word), "%s: %s" % (client, call))
        return
    equal((told["status"], told["code"]), ("error", code), "%s: %s" % (client, call))


@tests_of({"%s, %s" % row: row for row in [(client, program) for client in CLIENTS for program in PROGRAMS]})
def a_client_takes_every_tool_answer_and_failure(client, program):
    told = everything().get((client, program))
    expect(told, "nothing was said")
    if "missing" in told:
        raise Skipped("the package is not there")
    expect("thrown" not in told, "it throws:", told)
    equal(sorted(told["tools"]), sorted(tools_of(program)), "tools")
    equal(len(told["answers"]), len(CALLS[program]), "answers")
    for call, answer in zip(CALLS[program], told["answers"]):
        if isinstance(call, dict):
            continue
        if call[2]:
            check_failure(client, call, answer)
        else:
            expect(isinstance(answer, list) and not answer[1], client, call, "fails:", answer)


@tests_of({name: name for name in PROGRAMS if "," not in name})
def every_tool_is_called_with_all_that_can_become_of_it(program):
    calls = [call for name in PROGRAMS if name.split(",")[0] == program for call in CALLS[name] if not isinstance(call, dict)]
    others = {*tools_of("lisp"), *tools_of("artifacts"), *tools_of("symbolic")} if program == "todo" else set()  # in the same program
    for tool, codes in tools_of(program).items():
        if tool in others:
            continue
        wanted = {*codes, INVALID, *([] if tool in NEVER_WORK else [None])}
        if program == "lisp":  # where SBCL is missing: tests/lisp/service_test.py
            wanted = wanted - {"NOT_CONFIGURED"} if tool == "evaluate-lisp" else {INVALID, None}
        if tool == "health_check":  # where the engine dies: tests/symbolic/service_test.py
            wanted -= {"RUNTIME_ERROR"}
        wanted -= {"INSUFFICIENT_STORAGE"}  # tests/store/store_test.c
        equal(wanted - {code for name, _, code in calls if name == tool}, set(), "of %s not tried" % tool)


main()
