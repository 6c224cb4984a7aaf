"""A service whose interpreter is broken says so: to the doctor, at /ready and /health, and to its callers.

    MISHAP_PROGRAM=… INTERPRETER_PROGRAM=… python3 tests/worker/trials_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import json
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["http", "mcp", "cli"]:
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from exchange import Session, call  # noqa: E402
from server import FOLDER, PROGRAM, Server, wait_for  # noqa: E402

INTERPRETER = os.path.abspath(os.environ["INTERPRETER_PROGRAM"])
MARKER = "marker-private-of-the-interpreter"
SENTENCES = {"not tried": "This service has not been tried yet.", "works": "The last trial of this service worked.",
             "fails": "The last trial of this service failed: its calls may fail, too.",
             "not installed": "A program that this service needs is not installed.",
             "unavailable": "This service cannot be opened now. It is tried again."}
LISP = os.path.exists(os.path.join(os.path.dirname(PROGRAM), "services", "lisp", "mishap-lisp.core"))
PYTHON = os.path.exists(os.path.join(os.path.dirname(PROGRAM), "services", "python", "mishap-python"))
ENGINE = os.path.exists(os.path.join(os.path.dirname(PROGRAM), "services", "symbolic", "mishap-symbolic"))


def put_stand_in(path, way):
    """Make a program that is broken in this way, or replace one that runs."""
    shutil.copy(INTERPRETER, path + ".new")
    with open(path + ".new", "ab") as file:
        file.write(b"\n                     " + way.encode())
    os.replace(path + ".new", path)
    return path


def own_name(way):
    """What a process of such a program calls itself, which no other run of this test on the same machine does."""
    return "%s-%d" % (way[:7], os.getpid() % 10000000)


def stand_in(way, name=None):
    """A program that stands in for SBCL."""
    os.makedirs(os.path.join(FOLDER, "stand-ins"), exist_ok=True)
    return put_stand_in(os.path.join(FOLDER, "stand-ins", own_name(name or way)), way)


def processes_of(way):
    return [pid for pid, _ in server.processes() if server.name_of(pid) == own_name(way)]


def slow(way):
    """A server whose trial takes long to fail: it is begun early, and looked at late."""
    begun = way in server.shared
    found = server.server(way, "--workers", "2", "--lisp-sbcl", stand_in(way))
    if not begun:
        found.ask("GET", "/ready")
    return found


def stage(way, *rooms):
    """A copy of the program in whose services these programs are broken."""
    folder = os.path.join(FOLDER, "stage-%s-%s" % (way, "-".join(rooms)))
    for room, program in (("symbolic", "mishap-symbolic"), ("python", "mishap-python")):
        os.makedirs(os.path.join(folder, "services", room))
        path = os.path.join(folder, "services", room, program)
        source = os.path.join(os.path.dirname(PROGRAM), "services", room, program)
        if room in rooms:
            put_stand_in(path, way)
        elif os.path.exists(source):
            shutil.copy(source, path)
    shutil.copy(PROGRAM, os.path.join(folder, "mishap"))
    return os.path.join(folder, "mishap")


def needs(*found):
    if not all(found):
        raise Skipped("a program that the service needs is not installed")


def doctor(program=PROGRAM, output="json", seconds=30, **variables):
    ran = run_program(program, "doctor", "--output", output, "--trial-seconds", str(seconds), env=variables or None)
    if output == "text":
        return ran
    answer = parsed(ran.out)
    return ran.status, {row["service"]: row for row in answer["data"]["trials"]}, answer


def ready(found, service):
    answer = found.ask("GET", "/ready")
    expect(answer.status in (200, 503), answer)
    return (answer.json if answer.status == 200 else answer.json["details"])["services"][service]


def wait_until(found, service, state):
    """Wait until /ready says this of a service, and look at the whole of what it says."""
    expect(wait_for(lambda: ready(found, service)["state"] == state), service, "is never", state, "but", ready(found, service),
           found.read(found.stderr), found.read(found.log)[-3000:])
    said = ready(found, service)
    value = {"works": True, "fails": False, "unavailable": False}.get(state)
    equal(said, {"ready": value, "state": state, "message": SENTENCES[state]}, "what is said of " + service)
    equal(found.ask("GET", "/health").json["ready"][service], value, "in /health")


def without_marker(*texts):
    for text in texts:
        expect(MARKER.encode() not in (text if isinstance(text, bytes) else text.encode()), "what is the operator's:", text)


@contextlib.contextmanager
def serving(way, *flags, workers="2"):
    with Server("--workers", workers, "--lisp-sbcl", stand_in(way), *flags) as found:
        yield found
        for path in "/ready", "/health":
            without_marker(found.ask("GET", path).body)
        without_marker(found.read(found.stdout))


# ---- The doctor ----------------------------------------------------------------------------------

@test
def the_doctor_tries_each_service():
    slow("mute")
    status, trials, answer = doctor(seconds=60)
    equal(list(trials), ["lisp", "python", "symbolic"], "the trials")
    for name, installed in (("lisp", LISP), ("python", PYTHON), ("symbolic", ENGINE)):
        row = trials[name]
        equal((row["state"], row["ok"]), ("works", True) if installed else ("not installed", None), "%s: %s" % (name, row))
        expect(isinstance(row["took_ms"], int) and row["what"], row)
    equal((status, answer["ok"]), (0, True), "the end")


FAILS = {  # where it fails, what it says of it
    "unready": "The process of lisp.evaluate ended with status 70. This happened before it was ready: it read a message that makes no sense",
    "leaves": "The process of lisp.evaluate ended with status 74. This happened while it had the call: it could not read from its socket",
    "mute": "The call was not finished in time. This happened before it was ready.",
    "lies": 'The service lisp answered its trial wrongly. Expected was ["3"], and this came: ["4"].',
}


@tests_of({way: (way, words) for way, words in FAILS.items()})
def the_doctor_says_where_a_trial_failed(way, words):
    needs(LISP)
    status, trials, answer = doctor(seconds=10 if way == "mute" else 30, MISHAP_LISP_SBCL=stand_in(way))
    row = trials["lisp"]
    equal((row["state"], row["ok"]), ("fails", False), "the row %s" % row)
    expect(row["where"].startswith(words), row["where"])
    equal(row.get("said", ""), "" if way == "lies" else "marker-private-of-the-interpreter /srv/private.lisp:7\n", "what it said")
    expect("apt-get install --reinstall sbcl" in row["advice"], row)
    equal((status, answer["ok"], answer["error"]["code"]), (78, False, "NOT_CONFIGURED"), "the end")
    expect("does not work on this machine: lisp." in answer["error"]["message"], answer["error"])


@test
def the_doctor_gives_up_a_trial_that_hangs():
    needs(LISP)
    status, trials, _ = doctor(seconds=10, MISHAP_LISP_SBCL=stand_in("hangs"))
    expect(trials["lisp"]["state"] == "fails" and status == 78, trials["lisp"])
    expect("--trial-seconds 60" in trials["lisp"]["advice"] and "did not stop" in trials["lisp"]["where"], trials["lisp"])


@test
def a_person_reads_what_the_process_said():
    needs(LISP)
    ran = doctor(output="text", MISHAP_LISP_SBCL=stand_in("leaves"))
    text = ran.out.decode()
    for part in ("\nTrials of services\n  FAILS    lisp        (+ 1 2) gives 3 (", "\n           where:  The process of lisp.evaluate ended with status 74.",
                 "\n           said:   marker-private-of-the-interpreter /srv/private.lisp:7\n", "\n           try:    apt-get install --reinstall sbcl,"):
        expect(part in text, "no", part, "in", text)
    expect(ran.status == 78 and "Nothing is missing" not in text, ran.status, text)


@test
def the_doctor_names_the_package_of_what_is_not_installed():
    status, trials, _ = doctor(MISHAP_LISP_SBCL="/nonexistent/sbcl")
    equal((trials["lisp"]["state"], trials["lisp"]["ok"], status), ("not installed", None, 0), "lisp: %s" % trials["lisp"])
    expect("sbcl" in trials["lisp"]["advice"], trials["lisp"])
    program = stage("works")
    os.remove(os.path.join(os.path.dirname(program), "services", "python", "mishap-python")) if PYTHON else None
    status, trials, _ = doctor(program)
    equal((trials["python"]["state"], status), ("not installed", 0), "python: %s" % trials["python"])
    expect("apt-get install " in trials["python"]["advice"] and "python3-dev" in trials["python"]["advice"], trials["python"])
    text = doctor(program, output="text").out.decode()
    expect("  MISSING  python      not installed: apt-get install " in text, text)


@tests_of({"python": ("python", PYTHON), "symbolic": ("symbolic", ENGINE)})
def the_doctor_tries_python_and_the_engine(room, installed):
    needs(installed, PYTHON)
    for way in "leaves", "unready", "lies":
        status, trials, _ = doctor(staged(way, room))
        row = trials[room]
        equal((row["state"], row["ok"], status), ("fails", False, 78), "%s: %s" % (way, row))
        expect(way == "lies" or MARKER in row.get("said", ""), way, row)


# ---- /ready and /health --------------------------------------------------------------------------

@test
def what_works_is_ready_after_somebody_has_asked():
    with Server("--workers", "2") as found:
        first = found.ask("GET", "/ready").json
        equal((first["status"], sorted(first["services"])), ("ready", ["artifacts", "lisp", "symbolic"]), "the first answer")
        for name, installed in (("lisp", LISP), ("artifacts", PYTHON), ("symbolic", ENGINE and PYTHON)):
            wait_until(found, name, "works" if installed else "not installed")
        equal(found.ask("GET", "/health").json["status"], "ok", "the status")
        equal(found.ask("GET", "/ready").status, 200, "the status")
        described = found.ask("GET", "/openapi.json").json["paths"]["/ready"]["get"]
        expect("services" in json.dumps(described), described)


@test
def a_server_that_nobody_asks_tries_nothing():
    needs(LISP)
    expect(wait_for(lambda: not processes_of("hangs")), "of the test before:", processes_of("hangs"))
    found = server.server("hangs", "--workers", "2", "--lisp-waiting", "0", "--lisp-sbcl", stand_in("hangs"))
    equal(found.ask("GET", "/todos").status, 200, "another service")
    equal(processes_of("hangs"), [], "processes")
    begun = time.monotonic()
    equal(ready(found, "lisp")["ready"], None, "before a trial is over")
    expect(wait_for(lambda: processes_of("hangs")), "no trial")
    for _ in range(20):  # each on a connection of its own, so both loops have some
        status = found.ask("GET", "/ready").status
        expect(status == 200 or time.monotonic() - begun > 10, "the status before the time of a trial is over is", status)
        expect(len(processes_of("hangs")) <= 1, "trials at once:", processes_of("hangs"))


@tests_of({"dies with its call": ("leaves", "fails"), "answers wrongly": ("lies", "fails"), "dies before it is ready": ("unready", "unavailable")})
def an_interpreter_that_is_broken_is_told(way, state):
    needs(LISP)
    with serving(way) as found:
        wait_until(found, "lisp", state)
        equal((found.ask("GET", "/health").status, found.ask("GET", "/health").json["status"]), (200, "degraded"), "the status")
        answer = found.ask("GET", "/ready")
        equal((answer.status, answer.json["error"], answer.json["message"]), (503, "unavailable", "The server is not ready: the service lisp does not work."))
        equal(answer.json["details"]["missing"], [{"what": "service", "service": "lisp"}], "what is missing")
        equal(found.ask("GET", "/todos").status, 200, "all else")
        if way != "lies":
            expect(wait_for(lambda: MARKER.encode() in found.read(found.log)), "the log has not what it said:", found.read(found.log))
        if state == "fails":
            line = b"mishap: the service lisp does not work: incident "
            expect(wait_for(lambda: found.read(found.stderr).count(line) == 1), "no line:", found.read(found.stderr))
            incident = found.read(found.stderr).split(line)[1].split(b" ")[0].decode()
            expect("lisp.evaluate" in found.wait_for_log(incident), "the incident")


@test
def an_interpreter_that_is_mended_is_ready_again():
    needs(LISP)
    path = stand_in("leaves", "mended")
    with Server("--workers", "2", "--lisp-sbcl", path) as found:
        wait_until(found, "lisp", "fails")
        put_stand_in(path, "works")
        wait_until(found, "lisp", "works")
        expect(wait_for(lambda: b"mishap: the service lisp works again\n" in found.read(found.stderr)), found.read(found.stderr))
        equal(found.ask("GET", "/health").json["status"], "ok", "the status")


@test
def what_is_not_installed_does_not_make_the_server_unready():
    with Server("--workers", "1", "--lisp-sbcl", "/nonexistent/sbcl") as found:
        wait_until(found, "lisp", "not installed")
        equal((found.ask("GET", "/health").json["status"], found.ask("GET", "/ready").json["status"]), ("ok", "ready"), "the status")


@test
def where_handlers_run_in_the_loop_nothing_is_tried():
    with Server("--workers", "1", "--handlers", "0", "--lisp-sbcl", stand_in("hangs", "inside")) as found:
        for _ in range(3):
            equal(ready(found, "lisp"), {"ready": None, "state": "not tried", "message": SENTENCES["not tried"]}, "lisp")
        equal(processes_of("inside"), [], "processes")


@test
def a_trial_leaves_no_session_behind():
    needs(LISP)
    with serving("works", "--lisp-sessions", "1") as found:
        wait_until(found, "lisp", "works")
        expect(wait_for(lambda: not processes_of("works")), "it stays:", processes_of("works"))


@test
def no_session_of_a_caller_is_ended_for_a_trial():
    """One loop has both: it could end the session, since the caller has not come back to it."""
    needs(LISP)
    with serving("works", "--lisp-sessions", "1", workers="1") as found:
        first = found.ask("POST", "/lisp/evaluate", {"code": "(+ 1 2)"})  # a caller that may come back
        equal(first.status, 200, "the status")
        for _ in range(20):
            equal(ready(found, "lisp")["ready"], None, "there is no place for a trial")
            time.sleep(0.1)
        again = found.ask("POST", "/lisp/evaluate", {"code": "(+ 1 2)", "session": first["Mishap-Session"]})
        equal((again.status, again["Warning"]), (200, None), "its session: %s" % again)


@test
def a_server_that_is_told_to_stop_does_not_wait_for_a_trial():
    needs(LISP)
    with Server("--workers", "2", "--lisp-sbcl", stand_in("hangs", "stopped")) as found:
        found.ask("GET", "/ready")
        expect(wait_for(lambda: processes_of("stopped")), "no trial")
        equal(found.stop().status, 0, "how it ended")
        expect(b"lisp.evaluate" not in found.read(found.log), "the trial was over before:", found.read(found.log))


# ---- Callers -------------------------------------------------------------------------------------

def constant():
    return parsed(run_program(PROGRAM, "explain", "INTERNAL_ERROR", "--output", "json").out)["data"]["message"]


@test
def a_caller_is_not_blamed_for_an_interpreter_that_leaves():
    needs(LISP)
    with serving("leaves") as found:
        refused = found.ask("POST", "/lisp/evaluate", {"code": "(+ 1 2)"})
        equal((refused.status, refused.json["error"], refused.json["message"]), (500, "internal_server_error", "Internal server error"), "over HTTP")
        without_marker(refused.head, refused.body)
        entry = found.wait_for_log(refused.id)
        for part in MARKER, "status 74", "while it had the call", "it could not read from its socket":
            expect(part in entry, "no", part, "in", entry)
        result = Session(found).post(call("evaluate-lisp", {"code": "(+ 1 2)"})).answer()["result"]
        expect(result["isError"] and constant() in json.dumps(result), result)
        expect("ended the process" not in json.dumps(result), result)
        without_marker(json.dumps(result))
    ran = run_program(PROGRAM, "lisp", "evaluate", "(+ 1 2)", "--output", "json", env={"MISHAP_LISP_SBCL": stand_in("leaves")})
    equal(parsed(ran.out)["error"]["code"], "INTERNAL_ERROR", "as a command")
    without_marker(ran.out)


@test
def a_caller_is_not_blamed_for_an_interpreter_that_does_not_start():
    needs(LISP)
    with serving("unready") as found:
        refused = found.ask("POST", "/lisp/evaluate", {"code": "(+ 1 2)"})
        equal((refused.status, refused.json["error"], refused.json["message"]), (503, "unavailable", "The service lisp is not available."), "over HTTP")
        without_marker(refused.head, refused.body)
        expect(wait_for(lambda: MARKER.encode() in found.read(found.log)), "the operator was not told")
        expect(wait_for(lambda: b'noted place = "before it was ready"' in found.read(found.log)), "where it failed:", found.read(found.log))
    ran = run_program(PROGRAM, "lisp", "evaluate", "(+ 1 2)", "--output", "json", env={"MISHAP_LISP_SBCL": stand_in("unready")})
    equal(parsed(ran.out)["error"]["code"], "INTERNAL_ERROR", "as a command")
    without_marker(ran.out)


@tests_of({"python": ("python", PYTHON), "symbolic": ("symbolic", ENGINE)})
def a_caller_of_python_or_the_engine_is_not_blamed(room, installed):
    needs(installed, PYTHON)
    code = "def f(a: int, b: int) -> int:\n    return a // b\n"
    for way in "leaves", "unready":
        with Server("--workers", "1", program=staged(way, room)) as found:
            refused = found.ask("POST", "/symbolic/check", {"code": code, "function_name": "f"}, checked=False)
            equal(refused.status, 500, "%s: %s" % (way, refused.body))
            equal((refused.json["error_type"], refused.json["message"]), ("RuntimeError", constant()), "%s: %s" % (way, refused.body))
            without_marker(refused.head, refused.body)
            expect(wait_for(lambda: MARKER.encode() in found.read(found.log)), "the operator was not told")
            name = "artifacts" if room == "python" else "symbolic"
            wait_until(found, name, "fails")


def staged(way, room):
    path = os.path.join(FOLDER, "stage-%s-%s" % (way, room), "mishap")
    return path if os.path.exists(path) else stage(way, room)


@tests_of({"does not answer": ("hangs", "fails"), "is never ready": ("mute", "unavailable")})
def an_interpreter_that_takes_for_ever_is_told(way, state):
    needs(LISP)
    found = slow(way)
    wait_until(found, "lisp", state)
    without_marker(found.ask("GET", "/ready").body, found.ask("GET", "/health").body)
    equal(found.ask("GET", "/todos").status, 200, "all else")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
