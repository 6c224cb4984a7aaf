"""What a worker process costs: the time from a request to its first answer, and memory of its own.

Only a program that runs handlers in worker processes has such figures.
"""
import http.client
import os
import signal
import statistics
import time

import figures
import load
import processes
from figures import Void

START_MS, MEMORY_MB = 2.0, 1.5  # at most
STARTS, CALLS = 40, 1000

READ = load.Request("GET", "/todos/1", 200, '"id":"1"')
LIST = load.Request("GET", "/todos", 200, '"items"')
WRITE = load.Request("POST", "/todos", 201, '"title"', '{"title":"Buy milk"}')


def measure(program, store, folder, cores):
    server = load.Server(program, folder, cores, store)
    try:
        server.ask(READ)
        if processes.handlers(server.process.pid) is None:
            raise Void(f"{program} has no process named {processes.KEEPER}")
        memory(server)
        start(server)
    finally:
        server.stop()


# ---- Memory --------------------------------------------------------------------------------------------------------


def memory(server):
    """One call after the other, so that few workers do them all. Of ten calls one lists and one writes."""
    connection = http.client.HTTPConnection(server.address, timeout=load.PATIENCE)
    for turn in range(CALLS):
        server.ask(LIST if turn % 10 == 3 else WRITE if turn % 10 == 7 else READ, connection)
    workers = processes.handlers(server.process.pid)
    connection.close()
    if not workers:
        raise Void(f"the keeper has no child named {processes.HANDLER}")
    most = max(processes.memory_kb(pid, "Private_Dirty:") for pid in workers)
    figures.row(f"Private_Dirty after {CALLS:,} calls, the largest worker of {len(workers)}", most / 1024, "MB", at_most=MEMORY_MB)


# ---- Start ---------------------------------------------------------------------------------------------------------


def start(server):
    """Kills all workers, and asks when they are gone."""
    connection = http.client.HTTPConnection(server.address, timeout=load.PATIENCE)
    first, usual, ready = [], [], 0
    for _ in range(STARTS):
        usual.append(statistics.median(timed(server, connection) for _ in range(20)))
        kill(processes.handlers(server.process.pid))
        time.sleep(0.02)  # the loop has noticed, too
        # A worker that was started without a request would be measured as one that takes no time.
        was_ready = bool(processes.handlers(server.process.pid))
        took = timed(server, connection)
        if was_ready:
            ready += 1
        else:
            first.append(took)
    connection.close()
    if not first:
        print("Start of a worker: not measured, another one is there before a request asks for it.")
        return
    figures.row("start of a worker, from the request to its first answer", figures.median("start of a worker", first), "ms",
                at_most=START_MS)
    print(f"  {min(first):.2f} to {max(first):.2f} ms; {figures.median('a call', usual):.2f} ms when it runs"
          + (f"; {ready} of {STARTS} were started before the request" if ready else ""))


def timed(server, connection):
    began = time.monotonic_ns()
    server.ask(READ, connection)
    return (time.monotonic_ns() - began) / 1e6


def kill(workers):
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while any(processes.alive(pid) for pid in workers):
        if time.monotonic() > deadline:
            raise Void("a worker that was killed is still there")
        time.sleep(0.0005)
