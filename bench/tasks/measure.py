"""What it costs that a call becomes a task: one alone beside a bare commit, and 64 at once. `make bench-tasks` runs it.

    python3 bench/tasks/measure.py PROGRAM

PROGRAM is examples/loans. A task alone is measured in turn with a commit of SQLite (WAL, synchronous FULL, 600 bytes) in the same folder. 64 at once:
64 connections send a request each, and the figure is the time until the last has its 202, by 64.
"""
import os
import pathlib
import re
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import figures  # noqa: E402
from figures import Void  # noqa: E402

ROUNDS, BURSTS, CONNECTIONS, PATIENCE = 200, 30, 64, 60
BODY = b'{"day":"2000-01-01"}'
REQUEST = (b"POST /reminders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nPrefer: respond-async, wait=0\r\n"
           b"Content-Length: %d\r\n\r\n" % len(BODY)) + BODY


def start(program, folder):
    process = subprocess.Popen([program, "serve", "--data", folder, "--listen", "127.0.0.1:0", "--workers", "1", "--task-limit", "1000000"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = re.search(rb"listening on http://[^\s:]+:(\d+)", process.stderr.readline())
        if found:
            return process, int(found[1])
    raise Void("the server did not start")


def connect(port):
    one = socket.create_connection(("127.0.0.1", port), PATIENCE)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def take(one):
    """Read one response, which is a 202."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += one.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    length = int(re.search(rb"\r\nContent-Length: (\d+)", head)[1])
    while len(body) < length:
        body += one.recv(65536)
    if not head.startswith(b"HTTP/1.1 202"):
        raise Void("a response that is no task: %r" % head[:100])


def measure(program):
    with tempfile.TemporaryDirectory(prefix="bench-tasks-") as folder:
        process, port = start(program, folder)
        try:
            database = sqlite3.connect(os.path.join(folder, "bare.sqlite"), isolation_level=None)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, bytes BLOB)")
            one, tasks, commits = connect(port), [], []
            for number in range(ROUNDS + 10):
                begun = time.perf_counter()
                one.sendall(REQUEST)
                take(one)
                task = time.perf_counter() - begun
                time.sleep(0.01)  # the task itself ends meanwhile, with a commit of its own
                begun = time.perf_counter()
                database.execute("INSERT INTO rows (bytes) VALUES (?)", (b"x" * 600,))
                commit = time.perf_counter() - begun
                if number >= 10:
                    tasks.append(task * 1000)
                    commits.append(commit * 1000)
            many, bursts = [connect(port) for _ in range(CONNECTIONS)], []
            for number in range(BURSTS + 3):
                begun = time.perf_counter()
                for each in many:
                    each.sendall(REQUEST)
                for each in many:
                    take(each)
                if number >= 3:
                    bursts.append((time.perf_counter() - begun) * 1e6 / CONNECTIONS)
                time.sleep(0.3)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
    commit, task = figures.median("a commit", commits, ROUNDS), figures.median("a task", tasks, ROUNDS)
    figures.row("a bare commit of 600 bytes", commit, "ms")
    figures.row("a task alone", task, "ms", at_most=round(commit + 0.3, 3))
    figures.row("64 tasks at once, each", statistics.median(bursts), "µs", at_most=150)


if __name__ == "__main__":
    figures.run(lambda: measure(sys.argv[1]))
