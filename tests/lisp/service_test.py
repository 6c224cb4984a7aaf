"""The Lisp service at each boundary: commands, HTTP and MCP, with SBCL in its sandbox.

    LISPER_PROGRAM=… MISHAP_PROGRAM=… WITHOUT_PROGRAM=… python3 tests/lisp/service_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile

os.environ.update(MISHAP_LISP_WAITING="0", LISPER_LISP_WAITING="0")  # processes of sessions are counted
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["http", "mcp", "cli"]:
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import journal  # noqa: E402
import server  # noqa: E402
import talk  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test  # noqa: E402
from corpus import FILES, entries, fails_here, read_by_seed  # noqa: E402
from exchange import Exchange, Session, call, repeated, stateless  # noqa: E402
from server import Server, wait_for  # noqa: E402

PAGE = pathlib.Path(HERE, "..", "..", "docs", "lisp.md")
LISPER = os.path.abspath(os.environ["LISPER_PROGRAM"])
MISHAP = os.path.abspath(os.environ["MISHAP_PROGRAM"])
WITHOUT = os.path.abspath(os.environ["WITHOUT_PROGRAM"])
SPOKEN = '[ERROR] TYPE-ERROR\nThe value "hello" is not of type NUMBER.\n\n[Backtrace]\n0: (+ 1 "hello")\n'
TOOLS = ["apropos-search", "compile-form", "configure-limits", "describe-last-error", "describe-symbol", "evaluate-lisp",
         "get-backtrace", "list-definitions", "load-file", "macroexpand-form", "reset-session", "time-execution",
         "validate-syntax"]
SOURCES = pathlib.Path("/usr/share/common-lisp/source")
DEADLY = '(sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) 3)'


def command(*arguments, status):
    done = run_program(LISPER, "lisp", *arguments)
    equal(done.status, status, done.out.decode() + done.err.decode())
    return parsed(done.out)


def evaluate(found, code, fields=(), status=200):
    response = found.ask("POST", "/lisp/evaluate", {"code": code}, fields=fields)
    equal(response.status, status, response.body)
    return response


def in_session(response):
    return [("Mishap-Session", response["Mishap-Session"])]


def lisps_below(pid):
    """The processes of SBCL that a server has."""
    children = {}
    for child, parent in server.processes():
        children.setdefault(parent, []).append(child)
    found, below = [], [pid]
    while below:
        for child in children.get(below.pop(), []):
            below.append(child)
            if server.name_of(child) == "sbcl":
                found.append(child)
    return found


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


@test
def a_process_that_breaks_its_connection_is_reported_as_such():
    # The first answers before it is seen that the connection is gone.
    for code in '(sb-unix:unix-close 3)', '(sb-unix:unix-close 3) (sleep 60)', '(dotimes (i 1100) (sb-unix:unix-write 3 "hello" 0 5)) (sleep 60)':
        error = command("evaluate", code, status=1)["error"]
        expect(error["message"].startswith("The code broke the connection of its session,"), error)
        with Server("--workers", "1", program=LISPER) as found:
            answer = evaluate(found, code, status=500).json
            expect(answer["message"].startswith("The code broke the connection of its session,"), answer)


@test
def the_time_of_a_command_ends_with_the_report_of_the_program():
    # The time of the command counts from its start, that of the evaluation from its own: what is left is said.
    said = command("evaluate", "(loop)", "--timeout", "0.3", status=10)["error"]["message"]
    equal(said, "The evaluation took longer than 0.300 seconds.", "the time of the evaluation")
    for limit in 3, 15, 60:  # on a busy machine all of it may be over before the evaluation begins
        said = command("evaluate", "(loop)", "--timeout-ms", str(1000 * limit), status=10)["error"]["message"]
        left = re.fullmatch(r"The evaluation took longer than (\d+\.\d+) seconds\.", said)
        if left:
            break
    expect(left and 0 < float(left[1]) < limit, said)


@test
def without_the_core_or_sbcl_the_package_is_named():
    with tempfile.TemporaryDirectory() as folder:
        alone = shutil.copy(MISHAP, os.path.join(folder, "mishap"))
        for program, variables in (alone, {}), (MISHAP, {"MISHAP_LISP_SBCL": "/nonexistent/sbcl"}):
            done = run_program(program, "lisp", "evaluate", "1", env=variables)
            error = parsed(done.out)["error"]
            equal((done.status, error["code"]), (78, "NOT_CONFIGURED"), "the end")
            expect("package sbcl" in error["message"], error)
            equal(run_program(program, "catalog", env=variables).status, 0, "another command")
        programs = parsed(run_program(alone, "doctor", "--output", "json").out)["data"]["programs"]
        equal([row["found"] for row in programs if row["name"] == "mishap-lisp.core"], [False], "what the doctor finds")
    programs = parsed(run_program(MISHAP, "doctor", "--output", "json").out)["data"]["programs"]
    equal([row["found"] for row in programs if row["name"] in ("sbcl", "mishap-lisp.core")], [True, True], "what the doctor finds")


@test
def below_the_minimum_of_the_sandbox_lisp_is_not_configured_unless_it_may_be_weak():
    with tempfile.TemporaryDirectory() as folder:
        less = os.path.join(folder, "mishap")  # as on a machine that has neither
        pathlib.Path(less).write_text('#!/bin/sh\nexec "%s" namespaces,landlock "%s" "$@"\n' % (WITHOUT, MISHAP), encoding="utf-8")
        os.chmod(less, 0o755)
        done = run_program(less, "lisp", "evaluate", "1")
        error = parsed(done.out)["error"]
        equal((done.status, error["code"]), (78, "NOT_CONFIGURED"), "a command")
        expect("landlock: " in error["cause"] and "mounts: " in error["cause"], error)
        done = run_program(less, "lisp", "evaluate", "(+ 1 2)", env={"MISHAP_SANDBOX": "weak"})
        equal((done.status, parsed(done.out)["data"]["values"]), (0, ["3"]), "a command that may")
        with Server("--workers", "1", program=less) as found:
            refused = evaluate(found, "1", status=503).json
            equal((refused["error"], found.ask("GET", "/health").json["services"]["lisp"]["sandbox"]["missing"]),
                  ("not_configured", ["landlock", "mounts"]), "a server")
        with Server("--workers", "1", "--sandbox", "weak", program=less) as found:
            equal(evaluate(found, "(+ 1 2)").json["values"], ["3"], "a server that may")
            for _ in range(2):
                said = found.ask("GET", "/health").json["services"]["lisp"]["sandbox"]
                equal((said["mode"], said["missing"]), ("weak", ["landlock", "mounts"]), "its health")


@test
def a_folder_can_be_set_that_files_are_loaded_from():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "twice.lisp")
        pathlib.Path(path).write_text("(defun twice (x) (* 2 x)) (print (twice 21))", encoding="utf-8")
        done = run_program(MISHAP, "lisp", "load", path, env={"MISHAP_LISP_FOLDER": folder})
        equal((done.status, parsed(done.out)["data"]["stdout"].strip()), (0, "42"), done.out)
        equal(run_program(MISHAP, "lisp", "load", path).status, 1, "a folder that is not allowed")


@test
def the_heap_and_the_number_of_sessions_can_be_set():
    with Server("--workers", "1", "--lisp-heap-mb", "96", "--lisp-sessions", "1", "--caller-share", "100") as found:
        first = evaluate(found, "(floor (sb-ext:dynamic-space-size) 1048576)")
        equal(first.json["values"], ["96", "0"], "the heap")
        evaluate(found, "1", in_session(first))
        equal(evaluate(found, "1", status=503).json["error"], "unavailable", "one too many")


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
def a_session_belongs_to_the_key_that_began_it():
    with Server("--workers", "2") as found:
        keys = []
        for name in ("ada", "bob"):
            made = run_program(MISHAP, "keys", "add", "--name", name, "--data", found.data, "--output", "json")
            keys.append([("X-Api-Key", parsed(made.out)["data"]["key"])])
        expect(wait_for(lambda: found.ask("POST", "/lisp/validate", {"code": "1"}, fields=keys[1]).status == 200), "it did not come true")
        expect(wait_for(lambda: found.ask("POST", "/lisp/validate", {"code": "1"}, fields=keys[0]).status == 200), "it did not come true")
        first = evaluate(found, "(defvar *mine* 1)", keys[0])
        equal(evaluate(found, "*mine*", keys[0] + in_session(first)).json["values"], ["1"], "its owner")
        refused = evaluate(found, "*mine*", keys[1] + in_session(first), status=404)
        equal(refused.json["error"], "not_found", "another caller")


@test
def a_loop_that_is_killed_leaves_the_sessions():
    with Server("--workers", "2") as found:
        first = evaluate(found, "(defvar *n* 0)")
        for _ in range(3):
            evaluate(found, "(incf *n*)", in_session(first))
            loops = [pid for pid, parent in server.processes()
                     if parent == found.process.pid and server.name_of(pid).startswith("mishap-loop")]
            expect(loops, "no loops:", [server.name_of(pid) for pid, _ in server.processes()])
            os.kill(loops[0], 9)
            expect(wait_for(lambda: evaluate_or_none(found, "*n*", in_session(first))), "it did not come true")
        equal(evaluate(found, "*n*", in_session(first)).json["values"], ["3"], "the value")


def evaluate_or_none(found, code, fields):
    try:
        return found.ask("POST", "/lisp/evaluate", {"code": code}, fields=fields).status == 200
    except (OSError, server.Closed):
        return None


@test
def a_hundred_sessions_have_a_state_each():
    with Server("--workers", "2", "--caller-share", "100") as found:
        def begin(number):
            """A session that no call has named ends after a minute, and the others may take longer."""
            first = evaluate(found, "(defvar *me* %d)" % number)
            equal(evaluate(found, "*me*", in_session(first)).json["values"], [str(number)], "the value of a session")
            return first
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            begun = list(pool.map(begin, range(100)))
            equal(len({one["Mishap-Session"] for one in begun}), 100, "the sessions")
            seen = list(pool.map(lambda one: evaluate(found, "(values *me* (incf *me* 1000))", in_session(one)).json["values"], begun))
        equal(seen, [[str(n), str(n + 1000)] for n in range(100)], "what each has")
        equal(len(lisps_below(found.process.pid)), 100, "processes of SBCL")


@test
def a_process_that_was_killed_between_calls_is_warned_of():
    with Server("--workers", "1") as found:
        first = evaluate(found, "(defvar *here* 1)")
        evaluate(found, "*here*", in_session(first))
        for pid in lisps_below(found.process.pid):
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(pid, 9)
        expect(wait_for(lambda: not lisps_below(found.process.pid)), "it did not come true")
        again = evaluate(found, "(boundp '*here*)", in_session(first))
        equal(again.json["values"], ["NIL"], "a fresh one")
        expect("had ended" in (again["Warning"] or ""), "no warning:", again["Warning"])


@test
def a_command_uses_a_session_of_a_server():
    with Server("--workers", "1") as found:
        first = evaluate(found, "(defvar *n* 41)")
        done = run_program(MISHAP, "lisp", "evaluate", "(incf *n*)", "--session", first["Mishap-Session"],
                           "--server", found.url)
        equal((done.status, parsed(done.out)["data"]["values"]), (0, ["42"]), done.out)


@test
def a_person_sees_what_failing_code_printed_and_its_frames():
    done = run_program(MISHAP, "lisp", "evaluate", '(progn (princ "one") (car 5))', "--output", "text", env={"NO_COLOR": "1"})
    equal((done.status, done.out, done.err.decode()),
          (1, b"", "one\nerror TYPE_ERROR  The value 5 is not of type LIST.\n      0: (CAR 5)\n"
                   "    try: Check the types of the arguments in the first frame of the backtrace.\n"), "the command")


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


# ---- The page ------------------------------------------------------------------------------------

def commands_of_the_page():
    """(command, what it prints) of the shell blocks in docs/lisp.md. A command that ends with a backslash goes on in the next line."""
    found = []
    for line in "".join(re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)).splitlines():
        if line.startswith("#"):
            found[-1][1] += line[2:] + "\n"
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        else:
            found.append([line, ""])
    return found


@test
def the_commands_of_the_page_print_what_it_says():
    if not pathlib.Path("/usr/share/common-lisp/source/rt").is_dir() or not shutil.which("curl"):
        raise Skipped("cl-rt or curl is not installed")
    with Server("--workers", "1") as found:
        lines = [line for line in commands_of_the_page() if line[0] != "mishap serve &"]
        script = ['mishap() { "%s" "$@" --output text 2>&1; }' % MISHAP]  # as at a terminal
        for line, _ in lines:
            script += [line.replace("localhost:8080", found.url.removeprefix("http://")), "echo; echo @@"]
        done = run_program("bash", "-c", "\n".join(script), env={"NO_COLOR": "1"})
    printed = done.out.decode().split("\n@@\n")
    expect(len(lines) > 8 and len(printed) == len(lines) + 1, "the commands", lines, done.out, done.err)
    for (line, expected), text in zip(lines, printed):
        pattern = re.escape(expected.rstrip()).replace("…", ".*")
        expect(re.fullmatch(pattern, text.rstrip(), re.S), line, "prints", text, "and not", expected)


# ---- The journal ---------------------------------------------------------------------------------

def record_of(log, identifier):
    """The record of a failure in the journal of a server or a command."""
    def look():
        text = pathlib.Path(log).read_bytes() if os.path.exists(log) else b""
        return [record for record in journal.records(text) if record.get("id") == identifier]
    found = wait_for(look)
    expect(found, identifier, "is not in the journal")
    return found[0]


@test
def the_journal_has_the_frames_and_the_output_of_the_callers_code():
    code = '(defun down (n) (if (zerop n) (+ 1 "hello") (1+ (down (1- n))))) (princ "out") (down 2)'
    with Server("--workers", "1", program=LISPER) as found:
        over_http = found.ask("POST", "/lisp/evaluate", {"code": code}, checked=False)
        expect(over_http.status >= 400, over_http)
        over_mcp = tool(Session(found), "evaluate-lisp", code=code)
        told = {record_of(found.log, over_http.id)["boundary"]: record_of(found.log, over_http.id),
                "mcp": record_of(found.log, over_mcp["_meta"]["dev.mishap/incident"])}
    log = os.path.join(server.FOLDER, "evaluate.log")
    done = run_program(LISPER, "lisp", "evaluate", "--code", code, "--output", "json", env={"LISPER_LOG": log})
    told["cli"] = record_of(log, parsed(done.out)["meta"]["request_id"])
    equal(sorted(told), ["cli", "http", "mcp"], "the boundaries")
    for boundary, record in told.items():
        equal((record["kind"], record["boundary"], record["code"], record["stdout"], record["message"]),
              ("whole", boundary, "TYPE_ERROR", "out", 'The value "hello" is not of type NUMBER.'), "the record of " + boundary)
        equal(record["backtrace"], ["(DOWN 0)", "(DOWN 1)", "(DOWN 2)"], "the frames")


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
        equal({key: failed["structuredContent"][key] for key in ("type", "message", "stdout", "backtrace", "restarts", "code")},
              {"type": "TYPE-ERROR", "message": 'The value "hello" is not of type NUMBER.', "stdout": "",
               "backtrace": ['(+ 1 "hello")'], "restarts": [{"name": "ABORT", "description": "End this evaluation."}],
               "code": "TYPE_ERROR"}, "the members")
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
def what_exhausts_the_stack_in_a_handler_of_its_exhaustion_is_told_as_such():
    code = "(labels ((deeper (x) (+ 1 (deeper (1+ x))))) (handler-bind ((storage-condition (lambda (c) c (deeper 0)))) (deeper 0)))"
    equal(command("evaluate", code, status=1)["error"]["message"].split(". ")[0], "The control stack is exhausted", "the message")
    with Server("--workers", "1", program=LISPER) as found:
        died = tool(Session(found), "evaluate-lisp", code=code)
        expect(died["content"][0]["text"].startswith("[ERROR] CONTROL-STACK-EXHAUSTED\n"), died)


@test
def code_does_not_learn_where_its_core_lies():
    code = '(list sb-ext:*core-pathname* (let ((place (sb-sys:find-foreign-symbol-address "core_string"))) ' \
           '(and place (sb-alien:sap-alien (sb-sys:int-sap place) (* sb-alien:c-string)) ' \
           '(sb-alien:deref (sb-alien:sap-alien (sb-sys:int-sap place) (* sb-alien:c-string))))))'
    told = command("evaluate", code, status=0)["data"]["values"][0]
    expect("mishap-lisp.core" in told and "/" not in told, told)


# Native memory, which no collection of the heap sees: it is written to, in pieces of 4 MB.
TAKE = '(let ((taken 0)) (loop repeat %d for block = (sb-alien:make-alien (sb-alien:unsigned 8) 4194304) ' \
       'do (loop for i from 0 below 4194304 by 4096 do (setf (sb-alien:deref block i) 1)) (incf taken 4)) taken)'


@test
def native_memory_beyond_the_limit_of_a_session_is_told_as_such():
    error = command("evaluate", TAKE % 80, "--lisp-heap-mb", "64", status=1)["error"]
    expect("Cannot allocate memory: malloc() of 4194304 bytes failed." in error["message"], error)
    with Server("--workers", "1", "--lisp-heap-mb", "64", program=LISPER) as found:
        session = Session(found)
        equal(tool(session, "evaluate-lisp", code=TAKE % 20)["structuredContent"]["values"], ["80"], "what is within the limit")
        tool(session, "evaluate-lisp", code="(defvar *mine* 1)")
        failed = tool(session, "evaluate-lisp", code=TAKE % 80)
        expect(failed["content"][0]["text"].startswith("[ERROR] SIMPLE-STORAGE-CONDITION\n"), failed)
        equal(tool(session, "evaluate-lisp", code="*mine*")["structuredContent"]["values"], ["1"], "the session goes on")


def resident_mb(pid):
    """What the system counts for a process; 0: it has ended."""
    try:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    except (OSError, ValueError):
        return 0


@test
def native_memory_leaves_room_for_the_heap_however_much_is_left():
    """SBCL 2.2 ends the process if a protected page, of its heap or of symbols, cannot be made writable. The first block decides what is left of the limit."""
    for first in range(1, 4 << 20, 600 << 10):
        code = "(progn (sb-alien:make-alien (sb-alien:unsigned 8) %d) %s)" % (first, TAKE % 80)
        error = command("evaluate", code, "--lisp-heap-mb", "64", status=1)["error"]
        expect("Cannot allocate memory: malloc() of 4194304 bytes failed." in error["message"], first, error)


@test
def a_session_has_no_huge_pages():
    """SBCL touches a few pages in each of its spaces: with pages of 2 MB an idle session would have 8 MB and not 4."""
    with Server("--workers", "1", program=LISPER) as found:
        evaluate(found, "1")
        sessions = lisps_below(found.process.pid)
        expect(sessions, "no session")
        for pid in sessions:
            with open("/proc/%d/status" % pid, encoding="ascii") as file:
                expect("THP_enabled:\t1\n" not in file.read(), "the session has huge pages")


@test
def memory_that_grows_at_full_speed_stays_below_the_limit_of_a_session():
    """The server looks at it now and then: what grows between two looks must be bounded, too."""
    heap = "(let ((kept nil)) (loop repeat 400 do (push (make-array 2097152 :element-type '(unsigned-byte 8) :initial-element 1) kept)) (length kept))"
    stacks = "(loop repeat 400 do (sb-thread:make-thread (lambda () (labels ((deep (n) (if (zerop n) (sleep 100) (1+ (deep (1- n)))))) (deep 20000))))) (sleep 100)"
    with Server("--workers", "1", "--lisp-heap-mb", "64", program=LISPER) as found, \
            concurrent.futures.ThreadPoolExecutor(1) as threads:
        for code in (TAKE % 200, TAKE.replace("4194304", "67108864") % 20, heap, stacks):
            for _ in range(10):  # on a busy machine all may be over before it is looked at
                session = evaluate(found, "1")
                call_of = threads.submit(found.ask, "POST", "/lisp/evaluate", {"code": code}, fields=in_session(session))
                most = 0
                while not call_of.done():
                    most = max([most] + [resident_mb(pid) for pid in lisps_below(found.process.pid)])
                expect(call_of.result().status in (422, 500), call_of.result().body)
                if most > 10:
                    break
            expect(10 < most < 256 * 1.1, "the session had", most, "MB with", code)


@test
def what_the_sessions_of_a_caller_hold_together_is_limited():
    # With a heap of 64 MB one session may have 256 MB.
    with Server("--workers", "2", "--lisp-caller-mb", "64", "--lisp-heap-mb", "64") as found:
        small = evaluate(found, "(defvar *here* 1)")
        large = evaluate(found, TAKE % 36)
        more = evaluate(found, "(defvar *here* 3)")
        evaluate(found, TAKE % 32, in_session(more))  # 128 MB beside 144 MB
        ended = []
        wait_for(lambda: ended.append(evaluate(found, "(boundp '*here*)", in_session(large))) or ended[-1]["Warning"])
        expect("held too much memory" in (ended[-1]["Warning"] or ""), "the largest goes on:", ended[-1])
        equal(evaluate(found, "*here*", in_session(more)).json["values"], ["3"], "another one")
        equal(evaluate(found, "*here*", in_session(small)).json["values"], ["1"], "a small one")


@test
def calls_that_run_hold_no_more_than_twice_the_limit_of_a_caller():
    """A call can take minutes: the server does not wait for its end then."""
    with Server("--workers", "2", "--lisp-caller-mb", "64", "--lisp-heap-mb", "64", "--caller-share", "100") as found:
        def take(_):
            try:
                return found.ask("POST", "/lisp/evaluate", {"code": TAKE % 36 + " (sleep 600)", "timeout": 600})
            except (OSError, server.Closed):
                return None

        with concurrent.futures.ThreadPoolExecutor(5) as threads:
            calls = [threads.submit(take, i) for i in range(5)]  # 144 MB each, of 512
            done, _ = concurrent.futures.wait(calls, timeout=250, return_when=concurrent.futures.FIRST_COMPLETED)
            try:
                expect(done, "all of them go on")
                first = done.pop().result()
                equal(first.status, 500, first.body)
                expect("memory of the session is exhausted" in first.json["message"], first.json)
            finally:
                found.kill()


@test
def code_that_leaves_by_an_exit_code_of_ours_has_ended_its_process():
    with Server("--workers", "2") as found:
        expect(wait_for(lambda: found.ask("GET", "/ready").json["services"]["lisp"]["ready"]), "it is not ready")
        other = evaluate(found, "(defvar *mine* 0)")
        for number in range(1, 6):
            refused = evaluate(found, DEADLY.replace(" 3)", " 70)"), status=500)
            equal((refused.json["error"], refused.json["details"]["session_lost"]), ("runtime_error", True), "the failure")
            expect(refused.json["message"].startswith("The code ended the process of its session."), refused.json)
            equal(evaluate(found, "(incf *mine*)", in_session(other)).json["values"], [str(number)], "the session of another caller")
            again = evaluate(found, "(+ 1 2)", in_session(refused))
            equal(again.json["values"], ["3"], "its own session")
            equal(again["Warning"], None, "a warning of what was told")
        entry = found.wait_for_log(refused.id)
        expect("status 70" in entry and "while it had the call" in entry, entry)
        expect("may have chosen this status" in entry, entry)
        equal(found.ask("GET", "/ready").json["services"]["lisp"]["ready"], True, "the service")
        equal(found.ask("GET", "/health").json["status"], "ok", "the server")
        blamed = evaluate(found, DEADLY, status=500).json
        expect(blamed["message"].startswith("The code ended the process of its session."), "any other exit code is its own doing:", blamed)
    error = command("evaluate", DEADLY.replace(" 3)", " 70)"), status=1)["error"]
    equal(error["code"], "RUNTIME_ERROR", "as a command")


@test
def what_code_writes_to_the_socket_of_its_session_is_not_heard():
    said = "'(61 91 93)"  # =[], which is no message
    code = "(sb-unix:unix-write 3 (sb-sys:vector-sap (coerce %s '(simple-array (unsigned-byte 8) (*)))) 0 3)" % said
    with Server("--workers", "1", program=LISPER) as found:
        equal(tool(Session(found), "evaluate-lisp", code=code)["structuredContent"]["values"][0], "3", "the bytes that it wrote")
    equal(command("evaluate", code, status=0)["data"]["values"][0], "3", "as a command")


@test
def warnings_are_no_error_and_leave_the_values():
    with Server("--workers", "1", program=LISPER) as found:
        session = Session(found)
        warned = tool(session, "evaluate-lisp", code='(warn "careful") (values 1 2)')
        expect(not warned.get("isError"), warned)
        equal(warned["content"][0]["text"], "[warnings]\nSIMPLE-WARNING: careful\n\n=> 1\n=> 2", "the text")
        equal((warned["structuredContent"]["values"], warned["structuredContent"]["warnings"]),
              (["1", "2"], ["SIMPLE-WARNING: careful"]), "the members")
        equal(tool(session, "evaluate-lisp", code="(values)")["content"][0]["text"], "; No values", "no values")


@test
def the_end_of_an_mcp_session_ends_its_session_of_lisp():
    with Server("--workers", "2") as found:
        session = Session(found)
        tool(session, "evaluate-lisp", code="(defvar *here* 1)")
        equal(len(lisps_below(found.process.pid)), 1, "processes of SBCL")
        session.exchange("DELETE")
        expect(wait_for(lambda: not lisps_below(found.process.pid)), "it did not come true")


@test
def without_a_session_of_the_protocol_a_handle_is_passed():
    with Server("--workers", "2") as found:
        def asked(**arguments):
            said = stateless("tools/call", {"name": "evaluate-lisp", "arguments": arguments})
            return Exchange(found, "POST", said, repeated(said)).answer()["result"]
        handle = asked(code="(defvar *n* 1)")["structuredContent"]["session"]
        equal(asked(code="(incf *n*)", session=handle)["structuredContent"]["values"], ["2"], "the value")
        failed = asked(code="(error \"x\")", session=handle)
        equal((failed["isError"], failed["structuredContent"]["session"]), (True, handle), "the session of a failure")
        expect(asked(code="*n*")["isError"], "a session sees another")


@test
def a_heap_that_fills_up_is_reported_and_the_session_answers():
    with Server("--workers", "1", "--lisp-heap-mb", "96", program=MISHAP) as found:
        session = Session(found)
        tool(session, "evaluate-lisp", code="(defvar *all* nil)")
        for _ in range(200):
            result = tool(session, "evaluate-lisp", code="(progn (push (make-array 1000000 :element-type '(unsigned-byte 8)) *all*) 1)")
            if result.get("isError"):
                break
        text = result["content"][0]["text"]
        expect(text.startswith("[ERROR] HEAP-EXHAUSTED"), text)
        equal(tool(session, "evaluate-lisp", code="(+ 1 2)")["structuredContent"]["values"], ["3"], "the next call")
        refused = tool(session, "evaluate-lisp", code="(sb-ext:exit :abort t)")
        expect(refused["isError"] and "\n0: (" in refused["content"][0]["text"], refused)
        equal(tool(session, "evaluate-lisp", code="(+ 1 2)")["structuredContent"]["values"], ["3"], "the next call")


@test
def failing_programs_through_the_real_server_are_reports_that_the_seed_reads():
    programs = [entry for path in FILES.values() for entry in entries(path) if "limit" not in entry[1]]
    expect(len(programs) >= 150, "only", len(programs))
    hidden = [os.path.dirname(MISHAP), "mishap-lisp.core", "/proc/", HERE]
    reports = {}
    with talk.Server(program=MISHAP, revision="2025-11-25") as found:
        for name, _, code in [entry for entry in programs[:150] if fails_here(entry[1])]:
            result = found.call("evaluate-lisp", code=code, timeout=1)
            equal(result.get("isError"), True, name)
            text = reports[name] = result["content"][0]["text"]
            structure = result["structuredContent"]
            shown = structure["type"].replace("[Backtrace]", "[\\Backtrace]")
            expect("[ERROR] %s\n" % shown in text and structure["backtrace"], name, result)
            for word in hidden:
                expect(word not in str(result) or word in code, name, "shows", word, result)
    done = read_by_seed(reports)
    equal(done.stdout.strip(), "%d responses, 0 malformed" % len(reports), "the verdict")


@test
def a_library_of_others_is_loaded_from_an_allowed_folder_and_passes_its_tests():
    """In the sandbox of a session, as an agent would do it."""
    if not (SOURCES / "alexandria").is_dir() or not (SOURCES / "rt").is_dir():
        raise Skipped("cl-alexandria and cl-rt are not installed")
    with Server("--workers", "1", "--lisp-folder", str(SOURCES), "--lisp-folder", HERE, "--lisp-heap-mb", "512") as found:
        session = Session(found)

        def evaluated(name, **arguments):
            result = tool(session, name, timeout=600, **arguments)
            expect(not result.get("isError"), name, arguments, result)
            return result["structuredContent"]
        evaluated("configure-limits")
        for path in os.path.join(HERE, "loader.lisp"), str(SOURCES / "rt" / "rt.lisp"):
            equal(evaluated("load-file", file=path)["values"], ["T"], path)
        refused = tool(session, "load-file", file="/etc/passwd")
        equal((refused["isError"], refused["structuredContent"]["backtrace"]), (True, ['(LOAD "/etc/passwd")']), "a file in another folder")
        # The tests of Alexandria name the copy of RT that comes with SBCL.
        evaluated("evaluate-lisp", code='(rename-package :rt (package-name :rt) (cons "SB-RT" (package-nicknames :rt)))')
        old = (SOURCES / "alexandria" / "alexandria-tests.asd").exists()  # of Debian 12
        for file, name in ("alexandria", "alexandria"), ("alexandria-tests", "alexandria-tests") if old else ("alexandria", "alexandria/tests"):
            evaluated("evaluate-lisp", code='(loader::load-system "%s/" "%s" "%s")' % (SOURCES / "alexandria", file, name))
        equal(evaluated("evaluate-lisp", code="(alexandria:flatten '(1 (2 (3))))")["values"], ["(1 2 3)"], "a function of it")
        ran = evaluated("evaluate-lisp", code="(let ((*random-state* (sb-ext:seed-random-state 1))) (rt:do-tests))")
        counted = evaluated("evaluate-lisp", code="(list (length (cdr rt::*entries*)) (rt:pending-tests))")["values"][0]
        expect(counted.endswith(" NIL)") and int(counted[1:].split()[0]) > 150, counted, ran["stdout"][-1500:])


@test
def code_that_cannot_be_interrupted_is_killed_soon_after_its_time():
    with Server("--workers", "1", program=LISPER) as found:
        session = Session(found)
        tool(session, "evaluate-lisp", code="1")
        for seconds in 0.1, 2, 20:  # on a busy machine its time may be over before interrupts are off
            text = tool(session, "evaluate-lisp", code="(sb-sys:without-interrupts (loop))", timeout=seconds)["content"][0]["text"]
            if "took too long" in text:
                break
        expect(text.startswith("[ERROR] TIMEOUT\nThe evaluation took too long") and "starts fresh" in text, text)
        equal(tool(session, "evaluate-lisp", code="(+ 1 2)")["structuredContent"]["values"], ["3"], "the next call")


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
