"""Code that writes messages of its own to the socket of its process (forged.py), run by another caller than its author.

    MISHAP_PROGRAM=… INTERPRETER_PROGRAM=… python3 tests/worker/forged_test.py [PART-OF-A-NAME]

Whatever it writes, the caller gets what the code might have returned or raised: no code, category, word or advice of the server. The
code runs once, and the worker that ran it stays. Speaks TAP.
"""
import contextlib
import itertools
import json
import os
import shutil
import signal
import sys
import threading

os.environ["MISHAP_LISP_WAITING"] = "0"  # processes of sessions are counted
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("artifacts", "http", "mcp", "cli"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from exchange import Session, call  # noqa: E402
from forged import ADVICE, FRAMES, HIDDEN, WORDS  # noqa: E402
from server import PROGRAM, name_of, processes  # noqa: E402
from world import World, command, folder_of  # noqa: E402

INTERPRETER = os.path.abspath(os.environ["INTERPRETER_PROGRAM"])  # stands in for one that is broken
PYTHON = os.path.exists(os.path.join(os.path.dirname(PROGRAM), "services", "python", "mishap-python"))
LISP = os.path.exists(os.path.join(os.path.dirname(PROGRAM), "services", "lisp", "mishap-lisp.core"))
STORE = "genesis_store"
numbers = itertools.count(1)
shared = {}


def needs(found):
    if not found:
        raise Skipped("a program that runs the code is not installed")


def world():
    """One server for all of it."""
    if "world" not in shared:
        shared["world"] = World("SQLite", "--artifacts-run-seconds", "20")
    return shared["world"]


def no_words_of_the_server(text):
    expect(ADVICE not in text, "advice of the code:", text)
    expect(HIDDEN not in text, "what is for nobody:", text)


# ---- Python: the code of an artifact -------------------------------------------------------------

# It gives its process a name, and goes on when this process has seen it. So it is known how often it runs, and in which process.
CODE = """
import ctypes, os, signal
def run():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    ctypes.CDLL(None).prctl(15, %r)
    signal.sigwait([signal.SIGUSR1])
    pad = b"x" * 60000
    for packet in %r:
        packet = packet.encode().replace(b"@PAD@", pad)
        for word, number in ((b"@ID@", 1), (b"@OLD@", 0), (b"@NEXT@", 2)):
            packet = packet.replace(word, b"%%d" %% number)
        os.write(3, packet)
    %s
"""
HONEST = "return 'honest'"


def code_of(packets, then=HONEST):
    mark = "forged-%d" % next(numbers)
    return mark, CODE % (mark.encode(), packets, then)


def worker_of(pid):
    """The process of the server that started this one."""
    parents = dict(processes())
    while pid in parents and name_of(pid) != "mishap-handler":
        pid = parents[pid]
    return pid


class Watch:
    """Has each process with this name go on, and knows which they were and which workers had started them."""

    def __init__(self, mark):
        self.mark, self.seen, self.over = mark, {}, threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.wait(0.02):  # a look at all processes takes a third of that
            for pid in server.named_below(os.getpid(), self.mark):
                if pid not in self.seen:
                    self.seen[pid] = worker_of(pid)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGUSR1)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def run_artifact(packets, then=HONEST):
    """(status, answer) for bob of an artifact of alice's, which ran once. The worker that ran it is there for the next call."""
    w = world()
    mark, code = code_of(packets, then)
    w.done(STORE, "create", mark, "tool", "", code, by="alice")
    with Watch(mark) as watch:
        found = w.invoke(mark, "run", by="bob")
    equal(len(watch.seen), 1, "how often the code ran, which gave %s" % (found,))
    mark, code = code_of([])
    w.done(STORE, "create", mark, "tool", "", code, by="alice")
    with Watch(mark) as later:
        equal(w.done(mark, "run", by="bob")["result"], "honest", "the next call")
    equal(list(later.seen.values()), list(watch.seen.values()), "the worker")
    return found


def check_failure_of_code(answer):
    """It has the category of code, a type, and no word that is not the code's. Its message begins with its type."""
    equal((answer["success"], answer["code"], answer["category"], answer["retriable"]), (False, "runtime_error", "execution", False), answer)
    details = answer["details"]
    expect(set(details) <= {"type", "line", "stdout", "incident"}, "what the code cannot say:", answer)
    expect(not details.get("incident", "").startswith("0000"), "an incident of the code's:", answer)
    expect(details["type"] not in ("NOT-CONFIGURED", "RUNTIME-ERROR", ""), "a type of the server's:", answer)
    expect(answer["error"].startswith(details["type"] + ": "), "words without a type:", answer)
    no_words_of_the_server(json.dumps(answer))


def check_death(answer):
    equal((answer["code"], answer["category"], answer["retriable"]), ("runtime_error", "execution", False), answer)
    expect(answer["error"] in ("The code ended its process.", "The code ended its call without a result."), answer)
    expect(set(answer.get("details", {})) <= {"stdout", "incident"}, answer)


def check_python(status, answer, comes):
    if comes == "honest":
        equal((status, answer.get("result")), (200, "honest"), "the answer %s" % (answer,))
    elif comes == "answer":
        equal((status, answer), (200, {"success": True, "result": "forged", "stdout": ""}), "the answer")
    elif comes == "failure":
        check_failure_of_code(answer)
    else:
        check_death(answer)


@test
def there_are_sixty_of_them():
    expect(len(FRAMES) >= 60, "only", len(FRAMES))


@tests_of({name: (frame,) for name, frame in FRAMES.items()})
def code_of_an_artifact_speaks_for_itself_alone(frame):
    needs(PYTHON)
    check_python(*run_artifact(frame.packets), frame.comes)


@tests_of({
    "with an exit code of the host, 70": ([], "os._exit(70)"), "71": ([], "os._exit(71)"), "74": ([], "os._exit(74)"), "127": ([], "os._exit(127)"),
    "after a part of a message": (["<{\"id\":@ID@,\"failure\":{\"code\":\"UNAVAILABLE\""], "os._exit(74)"),
    "after words for the operator": ([], "os.write(2, b'SBCL cannot be started: not found'); os._exit(70)"),
    "by a signal": ([], "os.kill(os.getpid(), 9)"),
    "after more packets than there can be": (["=[]"] * 1200, "import time; time.sleep(600)"),
    "by closing its socket": ([], "os.close(3); os._exit(71)"),
})
def the_death_of_its_process_is_told_as_its_own(packets, then):
    needs(PYTHON)
    check_death(run_artifact(packets, then)[1])


@test
def code_that_does_not_end_is_not_to_be_run_again():
    needs(PYTHON)
    w = shared.get("slow") or shared.setdefault("slow", World("SQLite", "--artifacts-run-seconds", "0.5"))
    w.done(STORE, "create", "loops", "tool", "", "def run():\n    while True: pass", by="alice")
    found = w.fails("timeout", "loops", "run", by="bob", category="execution", status=504)
    equal((found["retriable"], found["error"]), (False, "The code was not finished in time."), "the failure")


@test
def a_python_that_fails_by_itself_replaces_no_worker():
    """That is a failure of the server's, and has nothing to do with the store that the worker has open."""
    needs(PYTHON)
    folder = os.path.join(server.FOLDER, "stage")
    host = os.path.join(folder, "services", "python", "mishap-python")
    os.makedirs(os.path.dirname(host))
    shutil.copy(PROGRAM, os.path.join(folder, "mishap"))
    shutil.copy(INTERPRETER, host)
    with open(host, "ab") as file:
        file.write(b"\n                     leaves")
    with World("SQLite", program=os.path.join(folder, "mishap")) as w:
        w.done(STORE, "create", "one", "tool", "", "def run(): return 1", by="alice")
        w.fails("internal_error", "one", "run", by="bob", category="system", status=500)
        before = w.handlers()
        for _ in range(3):
            w.fails("internal_error", "one", "run", by="bob", category="system", status=500)
            w.done("genesis_ledger", "balance", "bob", by="bob")
        equal(sorted(set(before) - set(w.handlers())), [], "workers that are gone")


SOME = ["not configured", "unavailable", "an internal error", "a suggestion", "that it cannot work", "a time that is not over", "an answer with warnings"]


@tests_of({name: (FRAMES[name],) for name in SOME})
def an_agent_is_told_the_same(frame):
    needs(PYTHON)
    w = world()
    mark, code = code_of(frame.packets)
    w.done(STORE, "create", mark, "tool", "", code, by="alice")
    with Watch(mark) as watch:
        result = Session(w).post(call("invoke_artifact", {"artifact": mark, "method": "run", "caller": "bob"})).answer()["result"]
    equal(len(watch.seen), 1, "how often the code ran")
    text = result["content"][0]["text"]
    check_python(500 if result.get("isError") else 200, json.loads(text), frame.comes)
    no_words_of_the_server(json.dumps(result))


@tests_of({name: (FRAMES[name],) for name in SOME})
def a_command_tells_the_same(frame):
    needs(PYTHON)
    data = folder_of("commands")
    mark, code = code_of(frame.packets)
    made = command(data, "invoke", STORE, "create", "--args", json.dumps([mark, "tool", "", code]), "--caller", "alice")
    equal(made.status, 0, made.out)
    with Watch(mark) as watch:
        ran = command(data, "invoke", mark, "run", "--caller", "bob")
    equal(len(watch.seen), 1, "how often the code ran")
    answer = parsed(ran.out)
    no_words_of_the_server(ran.out.decode() + ran.err.decode())
    if frame.comes == "failure":
        error = answer["error"]
        equal((ran.status, error["code"], answer["warnings"]), (1, "RUNTIME_ERROR", []), "the failure %s" % answer)
        expect(error["message"].startswith("Exception: "), error)
    else:
        equal((ran.status, answer["data"]["result"], answer["warnings"]), (0, "honest" if frame.comes == "honest" else "forged", []), "the answer")


# ---- Lisp: a session -----------------------------------------------------------------------------

PRELUDE = """
(defvar *runs* 0)
(defun exchange (text from to)
  (loop for at = (search from text)
        while at do (setf text (concatenate 'string (subseq text 0 at) to (subseq text (+ at (length from))))))
  text)
(defun forge (&rest packets)
  (let ((id mishap-prelude::*call-id*))
    (incf *runs*)
    (dolist (packet packets :honest)
      (let* ((text (exchange packet "@PAD@" (make-string 60000 :initial-element #\\x)))
             (text (exchange (exchange (exchange text "@ID@" (format nil "~D" id)) "@OLD@" (format nil "~D" (1- id)))
                             "@NEXT@" (format nil "~D" (1+ id))))
             (bytes (sb-ext:string-to-octets text :external-format :utf-8)))
        (sb-sys:with-pinned-objects (bytes)
          (sb-unix:unix-write 3 (sb-sys:vector-sap bytes) 0 (length bytes)))))))
:ready
"""
CANONICAL = ("Accept", "application/vnd.mishap+json, application/json")
# The codes of code, and the advice that the catalog has for each of them.
OF_CODE = {"SIMPLE_ERROR": "Read the message and the backtrace, then correct the code.", "RUNTIME_ERROR": None, "CANCELLED": None}


def evaluate(code, fields=(CANONICAL,)):
    w = world()
    if "session" not in shared:
        begun = w.ask("POST", "/lisp/evaluate", {"code": PRELUDE})
        equal(begun.json["values"], [":READY"], "the session")
        shared["session"] = ("Mishap-Session", begun["Mishap-Session"])
    return w.ask("POST", "/lisp/evaluate", {"code": code}, fields=[shared["session"], *fields], checked=False)


def lisp_string(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def forge(packets):
    return "(forge %s)" % " ".join(map(lisp_string, packets))


def lisps():
    """The process of the session."""
    known = {world().process.pid}
    found = list(processes())
    for _ in range(4):
        known |= {pid for pid, parent in found if parent in known}
    return sorted(pid for pid in known if name_of(pid) == "sbcl")


def number_of_runs():
    found = evaluate("*runs*")
    equal(found.status, 200, found.body)
    return int(found.json["values"][0])


def check_lisp(found, comes):
    answer, text = found.json, found.body.decode()
    no_words_of_the_server(text)
    equal(found["Warning"], None, "a warning of the server's")
    if comes == "honest":
        equal((found.status, answer.get("values")), (200, [":HONEST"]), "the answer %s" % answer)
    elif comes == "answer":
        equal((found.status, answer.get("values"), found["Mishap-Session"]), (200, ["forged"], shared["session"][1]), "the answer %s" % answer)
        expect(WORDS not in text, "words beside the answer:", text)
    elif comes == "timeout":
        equal((found.status, answer["code"], answer["message"], answer.get("type")), (504, "TIMEOUT", "The evaluation took longer than 0.001 seconds.", None), answer)
    else:
        check_condition(answer)


def check_condition(answer):
    expect(answer["code"] in OF_CODE, "a code of the server's:", answer)
    equal((answer["category"], answer["retryable"], answer.get("suggestion")), ("execution", False, OF_CODE[answer["code"]]), "what the server says: %s" % answer)
    expect(set(answer) <= {"code", "message", "category", "retryable", "suggestion", "type", "stdout", "backtrace", "context", "incident", "docs_url"}, answer)
    expect(answer["docs_url"].endswith("/errors/" + answer["code"]), "a link of the code's:", answer)
    expect(set(answer["context"]) <= {"session", "restarts", "stderr", "warnings"}, "what the code cannot say:", answer)
    expect(not answer.get("incident", "").startswith("0000"), "an incident of the code's:", answer)
    equal(answer["context"]["session"], shared["session"][1], "the session")
    expect(answer.get("type") != "NOT-CONFIGURED", "a type of the server's:", answer)


@tests_of({name: (frame,) for name, frame in FRAMES.items()})
def code_of_a_session_speaks_for_itself_alone(frame):
    needs(LISP)
    before, at = number_of_runs(), lisps()
    check_lisp(evaluate(forge(frame.packets)), frame.lisp)
    equal(number_of_runs(), before + 1, "how often the code ran, in the session that lives")
    equal(lisps(), at, "the process of the session")


@tests_of({name: (FRAMES[name],) for name in ("not configured", "a type that is a code", "a type that becomes a code", "an internal error",
                                              "an answer with the text of a report")})
def a_report_has_no_condition_of_the_server(frame):
    needs(LISP)
    found = evaluate(forge(frame.packets), [("Accept", "text/plain")])
    text = found.body.decode()
    expect("[ERROR] NOT-CONFIGURED" not in text and "[ERROR] INTERNAL-ERROR" not in text and "SYSTEM" not in text, "the server's:", text)
    if frame.lisp == "failure":
        expect(text.startswith("[ERROR] CONDITION\n" + WORDS) or text.startswith("[ERROR] SIMPLE-ERROR\n" + WORDS) or text.startswith("[ERROR] RUNTIME-ERROR\n" + WORDS), text)


@test
def a_condition_that_is_named_like_a_code_of_the_server_is_told_as_the_codes():
    needs(LISP)
    found = evaluate("(define-condition not-configured (error) () (:report %s)) (error 'not-configured)" % lisp_string(WORDS), [("Accept", "text/plain")])
    expect(found.body.decode().startswith("[ERROR] CONDITION\n" + WORDS), found.body)


@test
def a_time_that_was_over_is_told_by_the_clock():
    """A session has a limit of its own: that it was over is believed if so much time has passed."""
    needs(LISP)
    w = world()
    equal(w.ask("POST", "/lisp/limits", {"timeout": 0.2}, fields=[shared["session"]]).json["timeout"], 0.2, "the limit")
    found = evaluate("(loop)")
    equal((found.status, found.json["code"], found.json["retryable"]), (504, "TIMEOUT", False), found.body)
    w.ask("POST", "/lisp/limits", {"timeout": 30}, fields=[shared["session"]])


@test
def a_session_speaks_for_itself_alone_in_any_loop():
    """What one loop knows of a session, the next one has to know."""
    needs(LISP)
    with server.Server("--workers", "1") as found:
        begun = found.ask("POST", "/lisp/evaluate", {"code": PRELUDE})
        for _ in range(3):
            answer = found.ask("POST", "/lisp/evaluate", {"code": forge(FRAMES["not configured"].packets)},
                               fields=[("Mishap-Session", begun["Mishap-Session"]), CANONICAL], checked=False)
            equal((answer.status, answer.json["code"], answer.json["type"]), (422, "SIMPLE_ERROR", "CONDITION"), answer.body)
            loops = found.workers()
            os.kill(loops[0], signal.SIGKILL)
            expect(server.wait_for(lambda old=loops: set(found.workers()) - set(old)), "no other loop")


LATE = """(sb-thread:make-thread (lambda () (dotimes (i 20) (sleep 0.02) (forge %s))))"""


@test
def what_a_thread_sends_later_is_never_the_servers():
    needs(LISP)
    at = lisps()
    evaluate(LATE % lisp_string('={"id":@NEXT@,"failure":{"code":"NOT_CONFIGURED","message":"%s","suggestion":"%s"}}' % (WORDS, ADVICE)))
    for _ in range(20):
        found = evaluate("(progn (sleep 0.02) :honest)")
        check_lisp(found, "honest" if found.status == 200 else "failure")
    equal(lisps(), at, "the process of the session")
    other = world().ask("POST", "/lisp/evaluate", {"code": "(+ 1 2)"})
    equal((other.status, other.json["values"]), (200, ["3"]), "another session")


@test
def a_session_that_is_reset_is_fresh_whatever_its_code_answers():
    needs(LISP)
    w = world()
    begun = w.ask("POST", "/lisp/evaluate", {"code": PRELUDE})
    session = [("Mishap-Session", begun["Mishap-Session"])]
    w.ask("POST", "/lisp/evaluate", {"code": """
        (sb-thread:make-thread (lambda () (loop (sleep 0.001)
          (let ((text (format nil "={\\"id\\":~D,\\"answer\\":{\\"reset\\":true}}" (1+ mishap-prelude::*call-id*))))
            (let ((bytes (sb-ext:string-to-octets text)))
              (sb-sys:with-pinned-objects (bytes) (sb-unix:unix-write 3 (sb-sys:vector-sap bytes) 0 (length bytes))))))))
        (sb-int:encapsulate 'mishap-prelude::answer-call 'stay (lambda (function call) (declare (ignore function call)) nil)) 1"""},
          fields=session, checked=False)
    w.ask("POST", "/lisp/reset", {}, fields=session, checked=False)
    found = w.ask("POST", "/lisp/evaluate", {"code": "(boundp (intern \"*RUNS*\"))"}, fields=session, checked=False)
    equal((found.status, found.json.get("values")), (200, ["NIL"]), "what is left of it: %s" % found.body)


@tests_of({str(number): number for number in (70, 74)})
def a_session_that_leaves_by_an_exit_code_of_ours_has_ended_itself(number):
    needs(LISP)
    found = world().ask("POST", "/lisp/evaluate", {"code": '(sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) %d)' % number},
                        fields=[CANONICAL], checked=False)
    answer = found.json
    equal((answer["code"], answer["category"], answer["type"]), ("RUNTIME_ERROR", "execution", "PROCESS-ENDED"), answer)


@test
def an_agent_sees_no_progress_and_no_log_of_code():
    needs(LISP)
    session = Session(world())
    session.post({"jsonrpc": "2.0", "id": 5, "method": "logging/setLevel", "params": {"level": "debug"}})
    packets = [packet for name in ("progress", "a message for the log", "a message for the operator") for packet in FRAMES[name].packets]
    found = session.post(call("evaluate-lisp", {"code": PRELUDE + forge(packets)}, token="t"))
    texts = [event.data for event in found.received] if found.streams else [found.body.decode()]
    expect(":HONEST" in texts[-1], texts)
    for text in texts:
        expect('"method"' not in text, "a notification:", text)


@test
def a_command_that_evaluates_tells_the_same():
    needs(LISP)
    for name in ("not configured", "that it cannot work", "an answer that is the last", "an answer with warnings", "progress"):
        frame = FRAMES[name]
        ran = run_program(PROGRAM, "lisp", "evaluate", PRELUDE + forge(frame.packets))
        answer = parsed(ran.out)
        no_words_of_the_server(ran.out.decode() + ran.err.decode())
        if frame.lisp == "failure":
            equal((answer["error"]["code"], answer["warnings"]), ("SIMPLE_ERROR", []), answer)
        else:
            equal((answer["data"]["values"], answer["warnings"]), ([":HONEST"] if frame.lisp == "honest" else ["forged"], []), answer)


@test
def nothing_of_it_is_in_the_log_as_the_servers():
    for name in ("world", "slow"):
        if name in shared:
            w = shared[name]
            expect(HIDDEN.encode() not in w.read(w.log) + w.read(w.stderr), "words of the code for the operator")
            w.__exit__(None, None, None)


if __name__ == "__main__":
    main()
