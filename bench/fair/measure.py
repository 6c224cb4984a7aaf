"""How much one caller costs another: Bob's quick calls alone, and beside 64 connections of Alice that do slow work. scripts/bench-fair runs it.

Bob alone and beside Alice are measured in turn, round by round, with the same server. A figure is the ratio of both: the median and the
99th percentile of all of Bob's calls beside Alice, by those of his calls alone. A call of Bob that fails makes the measurement void.
"""
import argparse
import http.client
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests" / "store"), str(HERE.parent.parent / "tests" / "worker")]
import figures  # noqa: E402
import load  # noqa: E402
import postgres  # noqa: E402
import processes  # noqa: E402
from figures import Void  # noqa: E402
from slow_and_quick import BURN, EASY, HARD, QUICK  # noqa: E402

CONNECTIONS = 64
MEDIAN, P99 = 2, 5  # at most so many times what Bob has alone
HITS, ROWS = 19_999, 20_000
PATIENCE = 120
PAUSE = 0.01  # between calls of Bob, so that a round is longer than a moment
QUIET = 0.1  # of a core may go to other programs; beyond that the ratios mean little


class Case:
    """What Alice and Bob ask: (path, body, a part of the answer). Alice may fail: her calls are too many, and take too long."""

    def __init__(self, slow, quick, engines=("SQLite",), prepare=None, flags=()):
        self.slow, self.quick, self.engines, self.prepare, self.flags = slow, quick, engines, prepare, flags


def fill(address, folder, cluster):
    """Artifacts with one word that nearly all of them have, so that a search ranks as many as are ever ranked."""
    if address:
        cluster.sql("fair", "INSERT INTO artifacts.artifacts (id, type, owner, content, created, changed) SELECT 'x' || i, 'tool', 'alice', "
                    "CASE WHEN i < %d THEN 'most' ELSE 'few' END || ' some' || i %% 100, 0, 0 FROM generate_series(0, %d) i" % (HITS, ROWS - 1))
        cluster.sql("fair", "VACUUM ANALYZE")
        return
    with sqlite3.connect(folder / "artifacts.sqlite", timeout=PATIENCE) as database:
        database.executemany("INSERT INTO artifacts (id, type, owner, content, created, changed) VALUES (?, 'tool', 'alice', ?, 0, 0)",
                             (("x%d" % i, "%s some%d" % ("most" if i < HITS else "few", i % 100)) for i in range(ROWS)))
        database.execute("INSERT INTO words (rowid, id, type, content, code) SELECT seq, id, type, content, code FROM artifacts")


def create(ask, *_):
    for name, code in (("burn", BURN), ("quick", QUICK)):
        ask("alice", "/artifacts/genesis_store/create", {"args": [name, "tool", "x", code]}, '"success":true')


def of_store(ask, address, folder, cluster):
    fill(address, folder, cluster)


BOTH = ("SQLite", "PostgreSQL")
CASES = {
    "artifacts": Case(("/artifacts/burn/run", {"args": []}), ("/artifacts/quick/run", {"args": []}, '"result":1'), BOTH, create,
                      ("--artifacts-run-seconds", "1")),
    "symbolic": Case(("/symbolic/check", {"code": HARD, "function_name": "f", "timeout_seconds": 2}),
                     ("/symbolic/check", {"code": EASY, "function_name": "f", "timeout_seconds": 30}, '"verified"')),
    "lisp": Case(("/lisp/evaluate", {"code": "(loop)", "timeout": 1}), ("/lisp/evaluate", {"code": "(+ 1 2)"}, '"values":["3"]')),
    "search": Case(("/artifacts/genesis_store/search", {"args": ["most"]}),
                   ("/artifacts/genesis_ledger/transfer", {"args": ["bob", "alice", 1]}, '"success":true'), BOTH, of_store),
}


# ---- Callers -------------------------------------------------------------------------------------------------------------

class Client:
    """A connection of a caller, which stays in its Lisp session if it has one."""

    def __init__(self, address, key):
        self.connection = http.client.HTTPConnection(address, timeout=PATIENCE)
        self.fields = {"Content-Type": "application/json", "Authorization": "Bearer " + key}
        self.session = None

    def ask(self, path, body):
        if self.session and path.startswith("/lisp/"):
            body = {**body, "session": self.session}
        begun = time.perf_counter()
        self.connection.request("POST", path, json.dumps(body), self.fields)
        response = self.connection.getresponse()
        text = response.read().decode()
        took = (time.perf_counter() - begun) * 1e3
        if path.startswith("/lisp/") and response.status == 200:
            self.session = json.loads(text).get("session")
        return took, response.status, text


def slow_work(address, key, path, body):
    """Alice: a process with a thread for each connection, until standard input ends. Her program would run on a machine of her own, so it gives way."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    over = threading.Event()

    def one():
        client = Client(address, key)
        while not over.is_set():
            try:
                if client.ask(path, body)[1] in (429, 503):
                    over.wait(0.2)
            except (OSError, http.client.HTTPException):
                client = Client(address, key)
                over.wait(0.2)
    for _ in range(CONNECTIONS):
        threading.Thread(target=one, daemon=True).start()
    print("begun", flush=True)
    sys.stdin.read()
    over.set()
    os._exit(0)


class Alice:
    def __init__(self, address, key, slow):
        self.process = subprocess.Popen([sys.executable, "-B", __file__, "--alice", json.dumps([address, key, *slow])], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.process.stdout.readline()
        time.sleep(4)  # all of her calls wait or run by now, and what is started for them has started

    def stop(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


# ---- What is measured ----------------------------------------------------------------------------------------------------

def add_key(program, folder, name):
    done = subprocess.run([program, "keys", "add", "--name", name, "--data", folder, "--output", "json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Void("no key can be made: %s" % (done.stdout + done.stderr))
    return json.loads(done.stdout)["data"]["key"]


def quick_calls(client, case, count, what):
    path, body, expected = case.quick
    found = []
    for _ in range(count):
        took, status, text = client.ask(path, body)
        if status != 200 or expected not in text:
            raise Void("a call of Bob %s is answered with %d: %s" % (what, status, text[:300]))
        found.append(took)
        time.sleep(PAUSE)
    return found


def is_quiet():
    """Before there are calls: do other programs leave the machine to us?"""
    before = processes.machine_seconds()
    time.sleep(2)
    return processes.machine_seconds() - before < 2 * QUIET


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


class Server(load.Server):
    """With keys of both, who have money."""

    def __init__(self, options, folder, flags):
        genesis = folder.parent / "genesis.json"
        genesis.write_text(json.dumps({"principals": {"alice": 1_000_000, "bob": 1_000_000}}))
        super().__init__(options.program, folder, loops=options.loops, flags=["--artifacts-genesis", genesis, *flags])
        self.keys = {name: add_key(options.program, folder, name) for name in ("alice", "bob")}
        time.sleep(1.5)  # the server reads them

    def client(self, name):
        return Client(self.address, self.keys[name])

    def ask_once(self, name, path, body, expected):
        _, status, text = self.client(name).ask(path, body)
        if status != 200 or expected not in text:
            raise Void("%s is answered with %d: %s" % (path, status, text[:300]))


def measure(options, name, engine, folder, cluster):
    case = CASES[name]
    address = cluster.address("fair") if cluster else None
    server = Server(options, folder / "data", [*case.flags, *(["--artifacts-store", address] if address else [])])
    alone, beside = [], []
    sure = is_quiet()
    try:
        if case.prepare:
            case.prepare(server.ask_once, address, folder / "data", cluster)
        bob = server.client("bob")
        quick_calls(bob, case, 5, "at the beginning")
        for _ in range(options.rounds):
            alone += quick_calls(bob, case, options.calls, "alone")
            alice = Alice(server.address, server.keys["alice"], case.slow)
            try:
                beside += quick_calls(bob, case, options.calls, "beside Alice")
            finally:
                alice.stop()
            time.sleep(3)  # what she has left behind ends
    finally:
        server.stop()
    what = "%s, %s" % (name, engine) if len(case.engines) > 1 else name
    print("%s: Bob alone %s ms, 99%% %s ms; beside Alice %s ms, 99%% %s ms" %
          (what, *[figures.shown(what, percentile(values, part)) for values in (alone, beside) for part in (0.5, 0.99)]))
    for words, part, most in (("median", 0.5, MEDIAN), ("99th percentile", 0.99, P99)):
        figures.row("  %s, beside Alice / alone" % words, percentile(beside, part) / percentile(alone, part), "×", at_most=most, sure=sure)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=100, help="of Bob, in each part of a round")
    parser.add_argument("--loops", type=int, default=min(os.cpu_count(), 4))
    parser.add_argument("--only", default=",".join(CASES))
    parser.add_argument("--alice", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alice:
        slow_work(*json.loads(options.alice))
    chosen = options.only.split(",")
    if not set(chosen) <= set(CASES):
        parser.error("--only takes %s" % ", ".join(CASES))
    if options.rounds < 1 or options.calls < 1:
        parser.error("there is no round of less than one call")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print("One caller at %d connections of slow work, and the quick calls of another; %d loops, %d cores" %
          (CONNECTIONS, options.loops, os.cpu_count()))
    for name in chosen:
        for engine in CASES[name].engines:
            with tempfile.TemporaryDirectory(prefix="bench-fair-") as folder:
                if engine == "SQLite":
                    measure(options, name, engine, pathlib.Path(folder), None)
                elif not postgres.folder_of_programs():
                    print("mishap: PostgreSQL is not installed, and not measured", file=sys.stderr)
                else:
                    with postgres.Cluster(fsync="on", shared_buffers="128MB") as cluster:
                        measure(options, name, engine, pathlib.Path(folder), cluster)


if __name__ == "__main__":
    figures.run(main)
