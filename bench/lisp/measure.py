"""Measures the Lisp service against its goals, and against a bare read, eval and print beside it; scripts/bench-lisp builds it.

Each figure is the median of many, ours and the bare one in turn: machines are noisy from minute to minute, and far less so within
seconds. Both are driven from here, so both have the cost of this side in them.
"""
import argparse
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "lisp"))

BARE = """(let ((*standard-output* (sb-sys:make-fd-stream 1 :output t :buffering :full)))
  (loop (prin1 (handler-case (eval (read)) (error (c) (substitute #\\Space #\\Newline (princ-to-string c))))) (terpri) (finish-output)))"""
SUM, WRONG = "(+ 1 2)", '(+ 1 "hello")'
SESSIONS = 100
misses = 0


def say(text):
    print(f"mishap: {text}", file=sys.stderr, flush=True)


def line(text, value, met):
    global misses
    misses += not met
    print(f"{text:<66} {value:>12}   {'met' if met else 'MISSED'}")


def since(start):
    return time.perf_counter() - start


# ---- Programs that are asked line by line ------------------------------------------------------------------------------

class Lines:
    """A program that answers each line with one."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        self.to, self.by = self.process.stdin.fileno(), self.process.stdout.fileno()

    def ask(self, text):
        os.write(self.to, text)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = os.read(self.by, 65536)
            if not piece:
                raise SystemExit("mishap: %s ended" % self.process.args[0])
            answer += piece
        return answer

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(10)


class Agent(Lines):
    def __init__(self, program):
        super().__init__([program, "mcp"])
        self.ask(self.message("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                             "clientInfo": {"name": "bench", "version": "1"}}))
        os.write(self.to, b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    @staticmethod
    def message(method, params):
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"

    @classmethod
    def call(cls, code):
        return cls.message("tools/call", {"name": "evaluate-lisp", "arguments": {"code": code}})


def bare(options):
    return Lines([options.sbcl, "--noinform", "--no-sysinit", "--no-userinit", "--eval", BARE])


class Server:
    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0", "--data", self.folder.name, "--caller-share", "100"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for text in self.process.stderr:
            found = re.search(r"listening on http://([^:]+):(\d+)", text)
            if found:
                break
        self.connection = http.client.HTTPConnection(found[1], int(found[2]))

    def evaluate(self, code, session=None):
        fields = {"Content-Type": "application/json", **({"Mishap-Session": session} if session else {})}
        self.connection.request("POST", "/lisp/evaluate", json.dumps({"code": code}), fields)
        response = self.connection.getresponse()
        response.read()
        if response.status != 200:
            raise SystemExit("mishap: the server answers %d" % response.status)
        return response.getheader("Mishap-Session")

    def processes(self):
        """(pid, name) of the server and of all below it."""
        todo, found = [self.process.pid], []
        while todo:
            pid = todo.pop()
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    found.append((pid, file.read().strip()))
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                    todo += map(int, file.read().split())
            except OSError:
                pass
        return found

    def sessions(self):
        return [pid for pid, name in self.processes() if name == "sbcl"]

    def stop(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait(30)
        self.process.stderr.close()


def private_kb(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(text.split()[1]) for text in file if text.startswith("Private_"))


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
        agent.ask(agent.call(SUM))
        taken["mcp"].append(since(start) * 1e3)
        agent.stop()
        start = time.perf_counter()
        server.evaluate(SUM)
        taken["http"].append(since(start) * 1e3)
        start = time.perf_counter()
        with Worker() as worker:
            worker.evaluate(SUM)
            taken["core"].append(since(start) * 1e3)
    server.stop()
    core = statistics.median(taken["core"])
    for key, name in (("mcp", "MCP, standard input and output"), ("http", "HTTP")):
        value = statistics.median(taken[key])
        line(f"first answer of a session in at most 20 ms, {name}", f"{value:.1f} ms", value <= 20)
    print(f"  the core alone, by a shell and without a sandbox: {core:.1f} ms; "
          f"best of ours: {min(taken['mcp']):.1f} and {min(taken['http']):.1f} ms")


def round_trips(options):
    agent, peer = Agent(options.program), bare(options)
    forms = {SUM: (2000, agent.call(SUM)), WRONG: (500, agent.call(WRONG))}
    for form, (_, call) in forms.items():
        for _ in range(100):
            agent.ask(call)
            peer.ask(form.encode() + b"\n")
    ours, theirs = {form: [] for form in forms}, {form: [] for form in forms}
    for _ in range(options.rounds):
        for form, (count, call) in forms.items():
            for times, program, text in ((ours, agent, call), (theirs, peer, form.encode() + b"\n")):
                start = time.perf_counter()
                for _ in range(count):
                    program.ask(text)
                times[form].append(since(start) / count * 1e6)
    agent.stop()
    peer.process.kill()
    peer.stop()
    mine, bare_one = statistics.median(ours[SUM]), statistics.median(theirs[SUM])
    line(f"{SUM} over MCP, one at a time, in at most 80 µs", f"{mine:.1f} µs", mine <= 80)
    ratio = statistics.median(a / b for a, b in zip(ours[SUM], theirs[SUM]))
    line(f"… at most 3× a bare read, eval and print ({bare_one:.1f} µs)", f"{ratio:.2f}×", ratio <= 3)
    wrong = statistics.median(ours[WRONG])
    line(f"{WRONG} with its backtrace in at most 1 ms", f"{wrong / 1e3:.3f} ms", wrong <= 1000)


def crowd(options):
    server = Server(options.program)
    for _ in range(SESSIONS):
        server.evaluate("(defvar *here* (list 1 2 3))")
    time.sleep(3)  # a second without a call, and the collection
    sizes = [private_kb(pid) / 1024 for pid in server.sessions()]
    server.stop()
    line(f"{len(sizes)} sessions at once, each in at most 5 MB of its own", f"{max(sizes):.1f} MB", len(sizes) == SESSIONS and max(sizes) <= 5)
    print(f"  on average {statistics.mean(sizes):.1f} MB")


def growth(options):
    """It must not grow with the number of evaluations, good or bad."""
    calls = 1_000_000 if os.environ.get("LONG") == "1" else 50_000
    agent = Agent(options.program)
    good, bad = agent.call(SUM), agent.call(WRONG)

    def run(count):
        for number in range(count):
            agent.ask(bad if number % 10 == 0 else good)
        time.sleep(3)
        pids = [agent.process.pid]
        for pid in pids:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                pids += map(int, file.read().split())
        return sum(map(private_kb, pids))
    before = run(40_000)  # until then the process that writes the log fills its buffer, once
    after = run(calls)
    agent.stop()
    line(f"memory after {calls:,} more evaluations: {before} KB, then {after} KB", f"{after - before:+} KB", after - before <= 512)


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
    for name in options.only:
        PARTS[name](options)
    if misses:
        say(f"{misses} missed; on a busy machine, try again")


main()
