"""Benchmarks whose calls fail, or that measure nothing: each exits with 1 and one sentence, and judges nothing.

    MISHAP_PROGRAM=… DRIVE_PROGRAM=… python3 tests/bench/void_test.py [PART-OF-A-NAME]

Speaks TAP. fakes/ stands in for wrk, for valgrind and for the programs that are measured, so nothing but Python is needed. What the
extension for Python takes is measured with clocks that stand still; MISHAP_EXTENSION names it.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
FAKES = HERE / "fakes"
sys.path[:0] = [str(HERE.parent / "cli"), str(TREE / "bench")]
import load  # noqa: E402
from blackbox import Skipped, equal, expect, main, run_program, test, tests_of  # noqa: E402
from figures import Void  # noqa: E402

MISHAP, DRIVE = os.path.abspath(os.environ["MISHAP_PROGRAM"]), os.path.abspath(os.environ["DRIVE_PROGRAM"])
os.environ["PATH"] = "%s:%s" % (FAKES, os.environ["PATH"])
REFUSED = load.Request("POST", "/users", 422, "field_required", '{"name":"","age":200,"email":"invalid"}')
MCP = ["mcp/measure.py", "--echo", FAKES / "agent", "--pipe", FAKES / "agent", "--drive", DRIVE, "--mishap", MISHAP, "--rounds", "1"]
HTTP = ["http/measure.py", "--program", MISHAP, "--rounds", "1", "--seconds", "1", "--warm", "1"]
GUARD = ["guard/refusals.py", "--guarded", MISHAP, "--unguarded", MISHAP, "--rounds", "1", "--programs", FAKES]
HANDLERS = ["handlers/measure.py", "--program", MISHAP, "--drive", DRIVE, "--rounds", "1"]


def benchmark(script, *arguments, **environment):
    """Run a benchmark in a folder of its own, as if no other program took anything."""
    environment = {"BENCH_OTHERS": "0", **environment}
    with tempfile.TemporaryDirectory(prefix="bench-test-") as folder:
        return run_program(sys.executable, "-B", str(TREE / "bench" / script), *map(str, arguments), env=environment, cwd=folder)


def exits_with_1(words, done):
    """One sentence with these words says why; nothing is judged after it."""
    text = done.err.decode()
    equal(done.status, 1, text)
    expect(text.count("mishap: void: ") == 1 and words in text and "Traceback" not in text, text)


def needs_two_cores():
    if len(os.sched_getaffinity(0)) < 2 or not shutil.which("taskset"):
        raise Skipped("the benchmark wants two cores and taskset")


# A row: the words of its sentence, the benchmark, and what the programs are told to do wrong.
@tests_of({
    "bench-mcp, a tool that fails from its first call on": ("should succeed", MCP + ["--only", "ours"], {"FAKE_WRONG": "1"}),
    "bench-mcp, a tool that fails in a slice": ("should succeed", MCP + ["--only", "ours"], {"FAKE_WRONG": "5000"}),
    "bench-mcp, a program that ends": ("has ended", MCP + ["--echo", "/bin/false", "--only", "ours"], {}),
    "bench-mcp over HTTP, requests that fail": ("/users", MCP + ["--echo", MISHAP, "--only", "http"], {"FAKE_SEEN": '{"failed":1}'}),
    "bench-mcp over HTTP, no requests": ("/users", MCP + ["--echo", MISHAP, "--only", "http"], {"FAKE_REQUESTS": "0"}),
    "bench-mcp over HTTP, wrk that ended early": ("wrk ran for", MCP + ["--echo", MISHAP, "--only", "http"], {"FAKE_SEEN": '{"duration_us":100}'}),
    "bench-http, requests that are not refused": ("100 had an error status", HTTP + ["--only", "ours"], {"FAKE_SEEN": '{"refused":100}'}),
    "bench-http, no requests": ("0 calls were answered", HTTP + ["--only", "ours"], {"FAKE_REQUESTS": "0"}),
    "bench-http, a program that ends": ("cannot be measured", HTTP + ["--program", "/bin/false", "--only", "ours"], {}),
    "bench-handlers, requests that are refused": ("GET /todos/1", HANDLERS + ["--base", MISHAP, "--only", "http"],
                                                  {"FAKE_SEEN": '{"refused":1}'}),
    "bench-handlers, an earlier program that fails": ("/bin/false", HANDLERS + ["--base", "/bin/false", "--only", "command"], {}),
    "bench-lisp, a program that answers something else": ("agent", ["lisp/measure.py", "--program", FAKES / "agent", "--core", "none",
                                                                   "--sbcl", FAKES / "agent", "--only", "trips"], {"FAKE_WRONG": "1"}),
    "bench-artifacts, a loop that does nothing": ("bare loop is 0", ["artifacts/measure.py", "--program", MISHAP, "--parts", FAKES, "--kept",
                                                                    "kept", "--only", "sqlite"], {}),
    "bench-serve, a program that ends": ("does not listen", ["serve/measure.py", "--program", "/bin/false", "--only", "read"], {}),
    "bench-serve, requests that are not refused": ("100 had an error status", ["serve/measure.py", "--program", MISHAP, "--rounds", "1", "--seconds", "1",
                                                                             "--only", "read"], {"FAKE_SEEN": '{"refused":100}'}),
    "bench-fair, a program that ends": ("does not listen", ["fair/measure.py", "--program", "/bin/false", "--only", "lisp"], {}),
    "bench-symbolic, an engine with another verdict": ("nonsense", [TREE / "tests/symbolic/bench.py", "--rounds", "1"],
                                                       {"SYMBOLIC_PROGRAM": str(FAKES / "engine"), "MISHAP_PROGRAM": ""}),
    "bench-metrics, no instructions": ("is 0", ["metrics/measure.py", MISHAP], {"FAKE_INSTRUCTIONS": "0"}),
    "bench-guard, requests that are not refused": ("100 had an error status", GUARD, {"FAKE_SEEN": '{"refused":100}'}),
    "bench-guard, no instructions": ("is 0", GUARD, {"FAKE_INSTRUCTIONS": "0"}),
    "bench-guard, no requests": ("0 calls were answered", GUARD, {"FAKE_REQUESTS": "0"}),
    "make bench, a program that fails": ("ends with 1", ["commands.py", "/bin/false", "/bin/false", __file__], {}),
    "bench-journal, commands of a program that ends": ("ends with 1", ["incident/commands.py", "/bin/false"], {}),
    "bench/settle, a program that ends": ("does not listen", ["settle/measure.py", "/bin/false", "1"], {}),
    "bench/turns, a program that ends": ("does not listen", ["turns/measure.py", "/bin/false", "1"], {}),
})
def a_benchmark_exits_with_1(words, command, environment):
    if "http/" in str(command[0]) or command is GUARD:
        needs_two_cores()
    done = benchmark(*command, **environment)
    exits_with_1(words, done)
    expect(b"met" not in done.out and b"MISSED" not in done.out, done.out)


# ---- The shared core and the bindings ------------------------------------------------------------


def core(**environment):
    """bench/core with a compiler and a library that are none."""
    with tempfile.TemporaryDirectory(prefix="bench-test-") as build:
        pathlib.Path(build, "libmishap.so.0.1.0").write_bytes(b"library")
        return benchmark("core/measure.py", build, PATH="%s:%s" % (FAKES / "core", os.environ["PATH"]), **environment)


@tests_of({
    "a start that takes nothing": ("is 0.0", {"FAKE_STARTS": "500.0 0.0"}),
    "a start that is not a number": ("is nan", {"FAKE_STARTS": "nan 500.0"}),
    "one program that was not started": ("there are 1 measurements", {"FAKE_STARTS": "500.0"}),
    "a program without the shared core": ("not linked", {"FAKE_STARTS": "500.0 500.0", "FAKE_NEEDED": "libc.so.6"}),
})
def bench_core_exits_with_1(words, environment):
    done = core(**environment)
    exits_with_1(words, done)
    equal(done.out, b"", "what is printed")


@test
def bench_core_judges_what_was_measured():
    done = core(FAKE_STARTS="500.0 600.0")
    equal((done.status, done.out.split()[-5:]), (0, "1.20× at most 1.15× MISSED".encode().split()), done.err)


@test
def a_benchmark_beside_other_programs_judges_nothing():
    done = core(FAKE_STARTS="500.0 600.0", BENCH_OTHERS="0.11")
    expect(b"unsure\n" in done.out and b"MISSED" not in done.out and b"0.11 of a core" in done.out, done.out + done.err)
    equal(done.status, 0, done.err)


def told(what, ours, theirs, bar):
    return json.dumps({"what": what, "ours": ours, "theirs": theirs, "bar": bar})


MEASURED = [told("raise", [1.0, 1.2, 1.1], [10, 10, 10], 0.2), told("translate", [2], [3], 0.6), told("request", [300], [310], 1.05),
            json.dumps({"what": "import", "ours": [5000, 5200], "empties": [2600, 2500], "bar": 3})]


def node_package(lines, **environment):
    return benchmark("bindings/node.py", "package", "modules", PATH="%s:%s" % (FAKES / "bindings", os.environ["PATH"]), FAKE_TOLD="\n".join(lines), **environment)


@tests_of({
    "a measure of nothing": ("is 0:", [told("raise", [0, 0], [10, 10], 0.2)], {}),
    "one round of nothing": ("is 0:", [told("raise", [1, 0], [10, 10], 0.2)], {}),
    "a program by hand that takes nothing": ("is 0:", [told("raise", [1], [0], 0.2)], {}),
    "what is not a number, as JSON has it": ("is None", [told("raise", [None], [10], 0.2)], {}),
    "fewer rounds than of the other": ("there are 1 measurements", [told("raise", [1, 1], [10], 0.2)], {}),
    "an import that takes less than none": ("import, over an empty module", [*MEASURED[:3], MEASURED[3].replace("import", "import, over an empty module").replace("5000, 5200", "10, 10")], {}),
    "a measure that is missing": ("3 of 4", MEASURED[:3], {}),
    "a program that fails": ("ends with 9", MEASURED, {"FAKE_STATUS": "9"}),
})
def bench_bindings_of_node_exits_with_1(words, lines, environment):
    exits_with_1(words, node_package(lines, **environment))


@test
def bench_bindings_of_node_judges_what_was_measured():
    done = node_package(MEASURED)
    equal((done.status, done.out.count(b" met\n"), done.out.count(b"MISSED")), (0, 3, 1), done.out.decode() + done.err.decode())


def python_package(**environment):
    if "MISHAP_EXTENSION" not in os.environ:
        raise Skipped("the extension for Python was not built")
    return benchmark("bindings/python.py", os.path.abspath(os.environ["MISHAP_EXTENSION"]), PYTHONPATH=str(FAKES / "clock"), ROUNDS="1", **environment)


@tests_of({
    "calls that take nothing": ("raise and render, against raise and json.dumps is 0.0", {"FAKE_CPU": "5"}),
    "calls whose time is not a number": ("raise and render, against raise and json.dumps is nan", {"FAKE_CPU": "nan"}),
    "an import that takes nothing": ("import is 0.0", {"FAKE_IMPORT": "5"}),
})
def bench_bindings_of_python_exits_with_1(words, environment):
    exits_with_1(words, python_package(**environment))


@test
def bench_bindings_of_python_judges_what_was_measured():
    done = python_package()
    equal(done.status, 0, done.err)
    expect(len(re.findall(rb"at most [\d.]+ ?(?:\xc3\x97|ms) +(?:met|MISSED)\n", done.out)) >= 3, done.out)


# ---- Programs that do as they should -------------------------------------------------------------


@test
def a_server_is_measured_with_its_requests():
    """The same with calls that are as they should be, so that the refusals above are for their reason alone."""
    with tempfile.TemporaryDirectory(prefix="bench-test-") as folder:
        server = load.Server(MISHAP, pathlib.Path(folder) / "data")
        try:
            seen = server.load(REFUSED, 1, 1)
        finally:
            server.stop()
    equal(seen["wall"], 5000.0, "µs of 200 requests in a second")
    expect(1 < seen["cpu"] < 1e6, seen)


@tests_of({
    "no text": ("there is no text to be read", os.environ["GUARD_BENCH"], "0"),
    "a size that is no number": ("there is no text to be read", os.environ["GUARD_BENCH"], "much"),
    "no detector": ("it finds nothing in a stack trace", os.environ["UNGUARDED_BENCH"], "1"),
})
def the_benchmark_of_the_leak_detector_exits_with_1(words, program, megabytes):
    done = run_program(program, megabytes)
    text = done.err.decode()
    equal(done.status, 1, text)
    expect(text.startswith("mishap: void: ") and words in text, text)
    expect(b"met" not in done.out and b"MISSED" not in done.out, done.out)


class Agent:
    """A fake server of MCP with its driver."""

    def __init__(self, wrong=None):
        os.environ["FAKE_WRONG"] = str(wrong or 10**9)
        self.folder = tempfile.TemporaryDirectory(prefix="bench-test-")

    def __enter__(self):
        self.peer = load.Peer(DRIVE, [], [FAKES / "agent"], pathlib.Path(self.folder.name) / "agent")
        return self.peer

    def __exit__(self, *_):
        os.environ.pop("FAKE_WRONG")
        self.peer.stop()
        self.folder.cleanup()


@test
def a_driver_counts_its_calls_and_the_server_its_cpu():
    with Agent() as peer:
        for window, calls in ((1, 100), (64, 1000), (64, 10)):
            seen = peer.load(window, calls, "good")
            expect(seen["cpu"] > 0 and seen["wall"] > 0, seen)


@tests_of({"as it writes": "<&-", "as it reads": ">&-"})
def a_driver_sees_that_its_server_has_ended(closed):
    """A server that closes one of its pipes and says so before the driver is told to call it."""
    server = ["/bin/sh", "-c", "exec %s; echo closed >&2; exec sleep 600" % closed]
    with subprocess.Popen([DRIVE, "--bare", *server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as driver:
        equal(driver.stderr.readline(), b"closed\n")
        _, errors = driver.communicate(b"1 1 good\n")
    equal((driver.returncode, errors), (1, b"drive: the server has ended\n"))


@tests_of({"the first": 1, "one in the middle": 500, "the last": 1000})
def one_wrong_answer_of_a_thousand_is_seen(wrong):
    with Agent(wrong) as peer:
        try:
            expect(False, peer.load(64, 1000, "good"))
        except Void as why:
            expect("should succeed" in str(why), str(why))


@test
def calls_that_should_fail_and_do_not_are_seen():
    with Agent() as peer:
        try:
            expect(False, peer.load(1, 10, "bad"))
        except Void as why:
            expect("should fail" in str(why), str(why))


@test
def a_comparison_of_a_program_with_itself_exits_with_0():
    done = benchmark(*HANDLERS, "--base", MISHAP, "--only", "command")
    equal(done.status, 0, done.err)
    expect(b"mishap todos list" in done.out and b"unsure" in done.out, done.out)


main()
