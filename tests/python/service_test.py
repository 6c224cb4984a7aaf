"""Python behind a server and as a command: processes that wait, forged answers, what is left behind, what is missing.

    SNAKE_PROGRAM=… MISHAP_PROGRAM=… PYTHON_HOST=… python3 tests/python/service_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in ["http", "cli"]:
    sys.path.insert(0, str(HERE.parent / folder))
import journal  # noqa: E402
from blackbox import equal, expect, main, run_program, test, tests_of  # noqa: E402
from server import FOLDER, Server, name_of, processes  # noqa: E402

SNAKE = os.path.abspath(os.environ["SNAKE_PROGRAM"])
PATIENCE = 180


def request(method, path, body=None):
    connection = http.client.HTTPConnection(*server.address, timeout=180)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json", "Accept": "application/vnd.mishap+json, application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def ask(operation, **arguments):
    return request("POST", "/python/" + operation, json.dumps(arguments))


def run(code, timeout=60, **more):
    """Code that ends by itself has all the time that there may be."""
    return ask("run", code=code, timeout=timeout, **more)


def named(name):
    """The processes of the server that call themselves so."""
    all_processes, ours = list(processes()), {server.process.pid}
    for _ in range(3):
        ours |= {pid for pid, parent in all_processes if parent in ours}
    return {pid for pid in ours if name_of(pid) == name}


# A process is known by a name that it gives itself.
MARK = "import ctypes\nctypes.CDLL(None).prctl(15, b'%s')\n"
marks = ("marked-%d" % number for number in itertools.count())


@contextlib.contextmanager
def marked():
    """The first lines of code whose process must have been there, and must be gone afterwards."""
    mark = next(marks)
    seen = []
    watch = threading.Thread(target=lambda: wait_until(lambda: seen.extend(named(mark)) or seen, "a process has the name"))
    watch.start()
    # … until it is seen, on a busy machine, too: while that stands still, one of the steps goes by.
    yield MARK % mark + "import time\nfor _ in range(20): time.sleep(0.1)\n"
    watch.join()
    expect(seen, "no process had the name", mark)
    wait_until(lambda: not named(mark), "the process is gone")


@test
def a_deadline_needs_nothing_that_others_can_take():
    """The system counts timers and queued signals for the whole user: where none are left, calls still end in time."""
    none = "import resource, os, sys\nresource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))\nos.execv(sys.argv[1], sys.argv[1:])"
    for code, seconds, status, words in [("def run(): return 5", "60", 0, '"result":5'),
                                         ("def run():\n    while True: pass", "0.5", 10, "not finished in time")]:
        done = run_program(sys.executable, "-c", none, SNAKE, "python", "run", code, "--timeout", seconds)
        equal(done.status, status, done.out.decode() + done.err.decode())
        expect(words in done.out.decode(), done.out)


@test
def memory_that_no_limit_counts_is_refused():
    for code in ["import mmap\n    mmap.mmap(-1, 1 << 20)", "import os\n    os.memfd_create('x')"]:
        status, answer = run("def run():\n    " + code)
        equal((status, answer["type"]), (500, "OSError"), answer)


@test
def native_memory_has_the_limit_of_the_call():
    code = "import ctypes\ndef run(mb):\n    c = ctypes.CDLL(None)\n    c.malloc.restype = ctypes.c_void_p\n    return bool(c.malloc(ctypes.c_size_t(mb << 20)))"
    for mb, found in [(64, True), (400, False)]:
        equal(run(code, args="[%d]" % mb, memory_mb=64)[1]["result"], found, "%d MB" % mb)
    equal(run(code, args="[400]", memory_mb=512)[1]["result"], True, "with a higher limit")


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        expect(time.monotonic() < end, "not so after", PATIENCE, "seconds:", what)
        time.sleep(0.02)


server = Server(program=SNAKE)


# ---- One process for each call -------------------------------------------------------------------

@test
def a_process_waits_and_serves_one_call():
    equal(run("def run(): return 1"), (200, {"result": 1, "stdout": ""}), "the answer")
    for _ in range(3):
        wait_until(lambda: named("mishap-python"), "a process waits")
        with marked() as mark:
            equal(run(mark + "import math\nmath.n = getattr(math, 'n', 0) + 1\ndef run(): return math.n")[1]["result"], 1, "nothing is left")


@tests_of({
    "a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\ndef run(): return 1",
    "a thread that answers others": "import os, threading, time\ndef lie():\n    time.sleep(0.1)\n    while True:\n"
    "        for i in range(1, 50): os.write(3, b'={\"id\":%d,\"answer\":{\"result\":\"forged\",\"stdout\":\"\"}}' % i)\n"
    "threading.Thread(target=lie).start()\ndef run(): return 1",
    "an exit function": "import atexit, time\natexit.register(time.sleep, 600)\ndef run(): return 1",
    "a finalizer": "import time\nclass C:\n    def __del__(self): time.sleep(600)\nc = C()\ndef run(): return 1",
})
def what_is_left_behind_ends_with_the_call(code):
    with marked() as mark:
        equal(run(mark + code), (200, {"result": 1, "stdout": ""}), "the answer")
    for n in range(3):
        equal(run("def run(n): return n", args="[%d]" % n)[1], {"result": n, "stdout": ""}, "the next call")


# The id of its call is in memory: the code may well find it. Here it tries them all.
FORGED = """
import os, time
def run():
    %s
    while True: time.sleep(600)
"""
WRITE = "os.write(3, b'={\"id\":%d,\"answer\":{\"result\":\"forged\",\"stdout\":\"\"}}' % i)"


@tests_of({"an answer, and it goes on": "for i in (1,): " + WRITE, "answers to its own call and others": "for i in range(1, 4): " + WRITE,
           "an answer twice": "for i in (1, 1, 1): " + WRITE})
def a_forged_answer_is_of_its_own_call_alone(body):
    with marked() as mark, concurrent.futures.ThreadPoolExecutor(4) as pool:
        forged = pool.submit(lambda: run(mark + FORGED % body))
        others = [pool.submit(lambda n=n: run("def run(n): return n", args="[%d]" % n)) for n in range(6)]
        for n, other in enumerate(others):
            equal(other.result(), (200, {"result": n, "stdout": ""}), "a call of others at the same time")
        status, answer = forged.result()
        equal((status, answer), (200, {"result": "forged", "stdout": ""}), "its own call")
    equal(run("def run(): return 'mine'")[1]["result"], "mine", "the next call")


@tests_of({"another id": b'={"id":999999,"answer":{"result":1,"stdout":""}}', "no JSON": b"={", "no packet": b"garbage",
           "a result that does not fit": b'={"id":1,"answer":{"stdout":5}}', "ready": b'={"ready":1}',
           "a failure with a code of ours": b'={"id":1,"failure":{"code":"NOT_FOUND","message":"x"}}',
           "a failure that is none": b'={"id":1,"failure":{"code":"NONSENSE","message":"x"}}',
           "a secret for the operator": b'={"id":1,"log":"operator","words":"x"}'})
def what_is_no_answer_fails_its_call_alone(packet):
    status, answer = run("import os, time\ndef run():\n    os.write(3, %r)\n    time.sleep(600)" % packet, timeout=1)
    expect(status in (500, 504) and answer["code"] in ("RUNTIME_ERROR", "TIMEOUT"), status, answer)
    equal(run("def run(): return 2")[1]["result"], 2, "the next call")


# ---- Limits that the parent keeps ----------------------------------------------------------------

@tests_of({
    "all signals blocked": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ndef run():\n    while True: pass",
    "the timer stopped": "import ctypes\nlibc = ctypes.CDLL(None)\nfor i in range(10): libc.timer_delete(ctypes.c_void_p(i))\n"
    "def run():\n    while True: pass",
})
def what_switches_its_deadline_off_is_killed(code):
    status, answer = run(code, timeout=0.2)
    equal((status, answer["code"], answer["context"]), (504, "TIMEOUT", {"kind": "timeout"}), "the failure")


@tests_of({"it ends itself": ("import os\nos._exit(3)", "The code ended its process."),
           "it closes its connection": ("import os\nos.close(3)\ndef run(): return 1", "The code ended its process."),
           "it replaces its connection": ("import os\nos.dup2(2, 3)\ndef run(): return 1", "The code ended its process."),
           "it crashes": ("import ctypes\nctypes.string_at(0)", "The code crashed its process.")})
def the_death_of_a_process_is_a_failure_of_its_call(code, words):
    status, answer = run(code)
    equal((status, answer["code"], answer["message"], answer["context"]), (500, "RUNTIME_ERROR", words, {"kind": "died"}), "the failure")


@tests_of({"70": 70, "71": 71, "74": 74})
def code_that_leaves_by_an_exit_code_of_ours_has_ended_its_process(number):
    code = "import os\nos._exit(%d)" % number
    other = threading.Thread(target=lambda: others.append(run("import time\ndef run():\n    time.sleep(1)\n    return 7", timeout=60)))
    others = []
    other.start()
    for _ in range(3):
        for status, answer in run(code), handled(code):
            equal((status, answer["code"], answer["message"], answer["context"]), (500, "RUNTIME_ERROR", "The code ended its process.", {"kind": "died"}),
                  "the failure")
        equal(run("def run(): return 3")[1]["result"], 3, "the next call")
    other.join()
    equal((others[0][0], others[0][1]["result"]), (200, 7), "the call of another caller")


@test
def many_calls_at_once_get_their_own_answers():
    def one(n):
        return [run("def run(n): return n * 2", args="[%d]" % (n * 10 + i))[1].get("result") for i in range(4)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        equal(list(pool.map(one, range(8))), [[(n * 10 + i) * 2 for i in range(4)] for n in range(8)], "the answers")


@test
def a_replay_works_on_a_server_as_well():
    status, answer = ask("call", code="def f(a, *, b): return {a: b}", function="f", args=["(1, None)"], kwargs={"b": "nan"}, timeout=60)
    equal((status, answer["outcome"], answer["result"]), (200, "returned", "{(1, None): nan}"), "the answer")


@test
def health_has_the_version_and_the_layers():
    said = request("GET", "/health")[1]["services"]["python"]
    expect(said["python"].startswith("3.") and "seccomp" in json.dumps(said), said)


# ---- From a handler ------------------------------------------------------------------------------

def handled(code, timeout=50, **more):
    return request("POST", "/handler/run", json.dumps({"code": code, "timeout": timeout, **more}))


@test
def a_handler_runs_code_in_a_process_that_waited_for_it():
    for n in range(4):
        equal(handled("import math\nmath.n = getattr(math, 'n', 0) + 1\ndef run(n): return [n, math.n]", args="[%d]" % n), (200, {"got": [n, 1]}), "the answer")
    end = time.monotonic() + PATIENCE
    while True: # the next one is started after the answer, and has its name when it has begun
        parents = dict(processes())
        workers = {parents.get(pid) for pid in named("mishap-python")}
        if workers & named("mishap-handler") or time.monotonic() > end:
            break
        time.sleep(0.05)
    expect(workers & named("mishap-handler"), "no handler has a process that waits:", workers)


@tests_of({"an exception": ("def run():\n    1 / 0", 500, "RUNTIME_ERROR", "runtime"), "syntax": ("def run(:", 422, "SYNTAX_ERROR", "syntax"),
           "time": ("def run():\n    while True: pass", 504, "TIMEOUT", "timeout"), "its death": ("import os\nos._exit(1)", 500, "RUNTIME_ERROR", "died")})
def a_handler_gets_the_failure(code, status, name, kind):
    found, answer = handled(code, timeout=0.3 if kind == "timeout" else 50)
    equal((found, answer["code"], answer["context"]["kind"]), (status, name, kind), "the failure")


@test
def a_handler_that_is_killed_takes_its_process_along():
    handled("def run(): return 1")
    for pid in named("mishap-handler"):
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: all(name_of(dict(processes()).get(pid, 0)) in ("mishap-keeper", "mishap-handler") for pid in named("mishap-python")), "none is left alone")
    equal(handled("def run(): return 2"), (200, {"got": 2}), "the next call")


# ---- The journal ---------------------------------------------------------------------------------

def record_of(log, identifier):
    """The record of a failure in the journal of the server or of a command."""
    found = []

    def look():
        text = pathlib.Path(log).read_bytes() if os.path.exists(log) else b""
        found[:] = [record for record in journal.records(text) if record.get("id") == identifier]
        return found
    wait_until(look, identifier + " is in the journal")
    return found[0]


@test
def the_journal_has_the_frames_and_the_output_of_the_callers_code():
    code = "def f(n):\n    return f(n - 1) if n else 1 // n\ndef run():\n    print('out')\n    return f(2)"
    status, answer = run(code)
    equal((status, answer["type"]), (500, "ZeroDivisionError"), answer)
    log = os.path.join(FOLDER, "command.log")
    done = run_program(SNAKE, "python", "run", code, "--timeout", "60", "--output", "json", env={"SNAKE_LOG": log})
    frame = "f, line 2: return f(n - 1) if n else 1 // n"
    for record in record_of(server.log, answer["incident"]), record_of(log, json.loads(done.out)["meta"]["request_id"]):
        equal((record["kind"], record["type"], record["stdout"], record["backtrace"]),
              ("whole", "ZeroDivisionError", "out\n", [frame] * 3 + ["run, line 5: return f(2)"]), "the record")


# ---- As a command --------------------------------------------------------------------------------

@test
def a_command_runs_code_and_tells_its_failure():
    done = run_program(SNAKE, "python", "run", "def run(a): return a + 1", "--args", "[1]", "--timeout", "60")
    equal((done.status, json.loads(done.out)["data"]), (0, {"result": 2, "stdout": ""}), "the answer")
    done = run_program(SNAKE, "python", "run", "def run(:")
    equal((done.status, json.loads(done.out)["error"]["code"]), (2, "SYNTAX_ERROR"), "the failure")


@test
def without_its_program_the_operations_name_the_package():
    alone = os.path.join(tempfile.mkdtemp(dir=FOLDER), "snake")
    shutil.copy(SNAKE, alone)
    done = run_program(alone, "python", "run", "def run(): return 1")
    error = json.loads(done.out)["error"]
    equal((done.status, error["code"], "python3-dev" in error["message"]), (78, "NOT_CONFIGURED", True), "the failure")


@test
def the_server_ends_in_order():
    server.__exit__(None, None, None)


if __name__ == "__main__":
    main()
