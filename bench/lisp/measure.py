"""Measures the Lisp service against its goals, and against a bare read, eval and print beside it; scripts/bench-lisp builds it.

Each figure is the median of many, ours and the bare one in turn: machines are noisy from minute to minute, and far less so within
seconds. Both are driven from here, so both have the cost of this side in them.
"""
import argparse
import atexit
import http.client
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests" / "lisp")]
import figures  # noqa: E402
import processes  # noqa: E402
from figures import Void  # noqa: E402

BARE = """(let ((*standard-output* (sb-sys:make-fd-stream 1 :output t :buffering :full)))
  (loop (prin1 (handler-case (eval (read)) (error (c) (substitute #\\Space #\\Newline (princ-to-string c))))) (terpri) (finish-output)))"""
SUM, WRONG = "(+ 1 2)", '(+ 1 "hello")'
# A part of each answer; any other answer would be another measurement.
THROUGH_MCP = {SUM: b'"values":["3"]', WRONG: b"TYPE-ERROR"}
BY_BARE = {SUM: b"3\n", WRONG: b"is not of type"}
SESSIONS = 100
FIRST, GROWTH_KB = 40_000, 512  # until then the process that writes the log fills its buffer, once


def since(start):
    return time.perf_counter() - start


# ---- Programs that are asked line by line ------------------------------------------------------------------------------

class Lines:
    """A program that answers each line with one."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        self.to, self.by = self.process.stdin.fileno(), self.process.stdout.fileno()

    def ask(self, text, expected):
        """The answer must have a part that is expected."""
        os.write(self.to, text)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = os.read(self.by, 65536)
            if not piece:
                raise Void(f"{self.process.args[0]} ended")
            answer += piece
        if expected not in answer:
            raise Void(f"{self.process.args[0]} answers {text.decode().strip()} with {answer.decode(errors='replace').strip()[:500]}")

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(10)


class Agent(Lines):
    def __init__(self, program):
        super().__init__([program, "mcp"])
        self.ask(self.message("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                             "clientInfo": {"name": "bench", "version": "1"}}), b'"serverInfo"')
        os.write(self.to, b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    @staticmethod
    def message(method, params):
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"

    def evaluate(self, code):
        self.ask(CALLS[code], THROUGH_MCP[code])


CALLS = {code: Agent.message("tools/call", {"name": "evaluate-lisp", "arguments": {"code": code}}) for code in (SUM, WRONG)}


class Bare(Lines):
    def __init__(self, options):
        super().__init__([options.sbcl, "--noinform", "--no-sysinit", "--no-userinit", "--eval", BARE])

    def evaluate(self, code):
        self.ask(code.encode() + b"\n", BY_BARE[code])


class Server:
    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--data", self.folder.name, "--caller-share", "100"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.terminate)  # also after a measurement that is void
        found = None
        for text in self.process.stderr:
            found = re.search(r"listening on http://([^:]+):(\d+)", text)
            if found:
                break
        if not found:
            raise Void(f"{program} does not listen")
        self.connection = http.client.HTTPConnection(found[1], int(found[2]))

    def evaluate(self, code, expected):
        self.connection.request("POST", "/lisp/evaluate", json.dumps({"code": code}), {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        text = response.read()
        if response.status != 200 or json.loads(text).get("values") != [expected]:
            raise Void(f"the server answers {code} with {response.status}: {text.decode()[:500]}")

    def sessions(self):
        return [pid for pid in processes.family(self.process.pid) if processes.name(pid) == "sbcl"]

    def stop(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait(30)
        self.process.stderr.close()


# ---- What is measured --------------------------------------------------------------------------------------------------

def first_answers(options):
    """Of a new session: by an agent, over HTTP, and of the core alone, without a sandbox."""
    from worker import Worker
    taken = {"mcp": [], "http": [], "core": []}
    server = Server(options.program)
    for _ in range(options.rounds * 3):
        agent = Agent(options.program)
        time.sleep(0.02)  # it has started by now
        start = time.perf_counter()
        agent.evaluate(SUM)
        taken["mcp"].append(since(start) * 1e3)
        agent.stop()
        start = time.perf_counter()
        server.evaluate(SUM, "3")
        taken["http"].append(since(start) * 1e3)
        start = time.perf_counter()
        with Worker() as worker:
            answer = worker.evaluate(SUM)
            taken["core"].append(since(start) * 1e3)
        if answer.get("answer", {}).get("values") != ["3"]:
            raise Void(f"the core answers {SUM} with {answer}")
    server.stop()
    for key, name in (("mcp", "MCP, standard input and output"), ("http", "HTTP")):
        figures.row(f"first answer of a session, {name}", figures.median(name, taken[key]), "ms", at_most=20)
    print(f"  the core alone, by a shell and without a sandbox: {figures.median('the core', taken['core']):.1f} ms; "
          f"best of ours: {min(taken['mcp']):.1f} and {min(taken['http']):.1f} ms")


def round_trips(options):
    agent, peer = Agent(options.program), Bare(options)
    counts = {SUM: 2000, WRONG: 500}
    for form in counts:
        for _ in range(100):
            agent.evaluate(form)
            peer.evaluate(form)
    ours, theirs = {form: [] for form in counts}, {form: [] for form in counts}
    for _ in range(options.rounds):
        for form, count in counts.items():
            for times, program in ((ours, agent), (theirs, peer)):
                start = time.perf_counter()
                for _ in range(count):
                    program.evaluate(form)
                times[form].append(since(start) / count * 1e6)
    agent.stop()
    peer.process.kill()
    peer.stop()
    figures.row(f"{SUM} over MCP, one at a time", figures.median(SUM, ours[SUM]), "µs", at_most=80)
    figures.row(f"… against a bare read, eval and print ({figures.median(SUM, theirs[SUM]):.1f} µs)",
                statistics.median(figures.ratios(SUM, ours[SUM], theirs[SUM])), "×", at_most=2.5)
    figures.row(f"{WRONG} with its backtrace", figures.median(WRONG, ours[WRONG]) / 1e3, "ms", at_most=1)


def crowd(options):
    server = Server(options.program)
    for _ in range(SESSIONS):
        server.evaluate("(defvar *here* (list 1 2 3))", "*HERE*")
    time.sleep(3)  # a second without a call, and the collection
    sizes = [processes.memory_kb(pid, "Private_") / 1024 for pid in server.sessions()]
    server.stop()
    figures.figures("sessions at once", sizes, SESSIONS)
    figures.row(f"{SESSIONS} sessions at once, memory of its own of the largest", max(sizes), "MB", at_most=5)
    print(f"  on average {statistics.mean(sizes):.1f} MB")


def growth(options):
    """It must not grow with the number of evaluations, good or bad."""
    calls = 1_000_000 if os.environ.get("LONG") == "1" else 50_000
    agent = Agent(options.program)

    def run(count):
        for number in range(count):
            agent.evaluate(WRONG if number % 10 == 0 else SUM)
        time.sleep(3)
        return sum(processes.memory_kb(pid, "Private_") for pid in processes.family(agent.process.pid))
    before = figures.figure("memory", run(FIRST))
    after = run(calls)
    agent.stop()
    print(f"memory of all processes after {FIRST:,} evaluations: {before:,} KB")
    figures.row(f"… and after {calls:,} more", after, "KB", at_most=before + GROWTH_KB)


PARTS = {"first": first_answers, "trips": round_trips, "crowd": crowd, "growth": growth}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--core", required=True)
    parser.add_argument("--sbcl", default="/usr/bin/sbcl")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS))
    options = parser.parse_args()
    os.environ.update(LISP_CORE=os.path.abspath(options.core), SBCL=options.sbcl)
    if not set(options.only) <= set(PARTS):
        parser.error(f"--only takes {', '.join(PARTS)}")
    if options.rounds < 1:
        parser.error("there is no measurement without a round")
    for name in options.only:
        PARTS[name](options)


figures.run(main)
