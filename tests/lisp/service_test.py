"""The Lisp service at each boundary: commands, HTTP and MCP, with SBCL in its sandbox.

    LISPER_PROGRAM=… MISHAP_PROGRAM=… python3 tests/lisp/service_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["http", "mcp", "cli"]:
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from exchange import Session, call  # noqa: E402
from server import Server  # noqa: E402

LISPER = os.path.abspath(os.environ["LISPER_PROGRAM"])
SPOKEN = '[ERROR] TYPE-ERROR\nThe value "hello" is not of type NUMBER.\n\n[Backtrace]\n0: (+ 1 "hello")\n'
TOOLS = ["apropos-search", "compile-form", "configure-limits", "describe-last-error", "describe-symbol", "evaluate-lisp",
         "get-backtrace", "list-definitions", "load-file", "macroexpand-form", "reset-session", "time-execution",
         "validate-syntax"]
DEADLY = '(sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) 3)'


def command(*arguments, status):
    done = run_program(LISPER, "lisp", *arguments)
    equal(done.status, status, done.out.decode() + done.err.decode())
    return parsed(done.out)


def evaluate(found, code, fields=(), status=200):
    response = found.ask("POST", "/lisp/evaluate", {"code": code}, fields=fields)
    equal(response.status, status, response.body)
    return response


def tool(session, name, **arguments):
    return session.post(call(name, arguments)).answer()["result"]


# ---- Commands ------------------------------------------------------------------------------------

@test
def a_command_evaluates_in_a_fresh_session():
    answer = command("evaluate", '(princ "out") (values 1 :two)', status=0)
    equal(answer["data"], {"values": ["1", ":TWO"], "stdout": "out", "stderr": "", "warnings": []}, "the data")


@test
def a_command_that_fails_tells_the_condition():
    error = command("evaluate", "--code", '(+ 1 "hello")', status=1)["error"]
    equal((error["code"], error["message"]), ("TYPE_ERROR", 'The value "hello" is not of type NUMBER.'), "the error")
    equal(error["context"]["restarts"], [{"name": "ABORT", "description": "End this evaluation."}], "the restarts")


@test
def a_process_that_ends_is_reported_by_its_parent():
    error = command("evaluate", DEADLY, status=1)["error"]
    equal((error["code"], error["context"]), ("RUNTIME_ERROR", {"session_lost": True}), "the error")


# ---- HTTP ----------------------------------------------------------------------------------------

@test
def a_session_lasts_over_http_and_its_state_is_its_own():
    with Server(program=LISPER) as found:
        first = evaluate(found, "(defvar *mine* 1)")
        mine = [("Mishap-Session", first["Mishap-Session"])]
        equal(evaluate(found, "(incf *mine*)", mine).json["values"], ["2"], "the value")
        equal(evaluate(found, "*mine*", status=422).json["error"], "unbound_variable", "another session")
        evaluate(found, "(error \"x\")", mine, status=422)
        equal(evaluate(found, "*mine*", mine).json["values"], ["2"], "after a failure")


@test
def plain_text_is_the_report_itself():
    with Server(program=LISPER) as found:
        with found.connect() as connection:  # the only failure that is no JSON
            connection.send(server.request("POST", "/lisp/evaluate", {"code": '(+ 1 "hello")'}, [("Accept", "text/plain")]))
            status, fields = server.parse_head(connection.take_head())
            equal(status, 422, "the status")
            length = int({name.lower(): value for name, value in fields}["content-length"])
            equal(connection.take(length).decode(), SPOKEN, "the report")
        response = found.ask("POST", "/lisp/evaluate", {"code": "(princ 1) 2"}, fields=[("Accept", "text/plain")])
        equal(response.body, b"[stdout]\n1\n\n=> 2", "a success")


# ---- MCP -----------------------------------------------------------------------------------------

@test
def agents_have_the_tools_and_their_session_keeps_its_state():
    with Server(program=LISPER) as found:
        session = Session(found)
        listed = session.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).answer()["result"]["tools"]
        equal(sorted(row["name"] for row in listed), TOOLS, "the tools")
        tool(session, "evaluate-lisp", code="(defun twice (x) (* 2 x))")
        result = tool(session, "evaluate-lisp", code="(princ 1) (twice 21)")
        equal(result["content"][0]["text"], "[stdout]\n1\n\n=> 42", "the text")
        equal(result["structuredContent"]["values"], ["42"], "the values")
        equal(tool(session, "list-definitions")["content"][0]["text"], "COMMON-LISP-USER::TWICE (function)", "the definitions")
        failed = tool(session, "evaluate-lisp", code='(+ 1 "hello")')
        equal((failed["isError"], failed["content"][0]["text"]), (True, SPOKEN), "the report")
        equal(tool(session, "get-backtrace")["content"][0]["text"], '0: (+ 1 "hello")', "the backtrace")


@test
def a_session_begins_afresh_after_its_end():
    with Server(program=LISPER) as found:
        session = Session(found)
        tool(session, "evaluate-lisp", code="(defvar *here* 1)")
        died = tool(session, "evaluate-lisp", code=DEADLY)
        expect(died["isError"] and died["content"][0]["text"].startswith("[ERROR] PROCESS-ENDED\n"), died)
        expect("0: (#<no backtrace available>)" in died["content"][0]["text"], died)
        equal(tool(session, "evaluate-lisp", code="(boundp '*here*)")["structuredContent"]["values"], ["NIL"], "a fresh one")
        tool(session, "evaluate-lisp", code="(defvar *here* 1)")
        tool(session, "reset-session")
        equal(tool(session, "evaluate-lisp", code="(boundp '*here*)")["structuredContent"]["values"], ["NIL"], "after a reset")


@test
def a_time_limit_is_a_report_and_the_session_lives():
    with Server(program=LISPER) as found:
        session = Session(found)
        tool(session, "evaluate-lisp", code="(defvar *here* 1)")
        late = tool(session, "evaluate-lisp", code="(loop)", timeout=0.2)
        expect(late["content"][0]["text"].startswith("[ERROR] TIMEOUT\nThe evaluation took longer than 0.200 seconds."), late)
        equal(tool(session, "evaluate-lisp", code="*here*")["structuredContent"]["values"], ["1"], "the value")


if __name__ == "__main__":
    main()
