"""What a worker process costs: the time from a request to its first answer, and memory of its own.

Only a program that runs handlers in worker processes has such figures.
"""
import http.client
import os
import signal
import statistics
import time

import load
import processes

START_MS, MEMORY_KB = 2.0, 1536  # at most
STARTS, CALLS = 40, 1000

READ = load.Request("GET", "/todos/1", 200, '"id":"1"')
LIST = load.Request("GET", "/todos", 200, '"items"')
WRITE = load.Request("POST", "/todos", 201, '"title"', '{"title":"Buy milk"}')


def measure(program, store, folder, cores):
    """Lines for the report."""
    server = load.Server(program, store, folder, cores)
    try:
        server.ask(READ)
        if processes.handlers(server.process.pid) is None:
            return [f"Worker processes: not measured, {program} has no process named {processes.KEEPER}."]
        return [memory(server), start(server)]
    except PermissionError as error:
        return [f"Worker processes: not measured, {error}."]
    finally:
        server.stop()


def verdict(met):
    return "met" if met else "MISSED"


# ---- Memory --------------------------------------------------------------------------------------------------------


def memory(server):
    """One call after the other, so that few workers do them all. Of ten calls one lists and one writes."""
    connection = http.client.HTTPConnection(server.address, timeout=10)
    for turn in range(CALLS):
        server.ask(LIST if turn % 10 == 3 else WRITE if turn % 10 == 7 else READ, connection)
    workers = processes.handlers(server.process.pid)
    connection.close()
    if not workers:
        return f"Private_Dirty of a worker: not measured, the keeper has no child named {processes.HANDLER}."
    most = max(processes.private_dirty_kb(pid) for pid in workers)
    return (f"Private_Dirty of a worker after {CALLS:,} calls: {most / 1024:.2f} MB, the largest of {len(workers)}; "
            f"target at most {MEMORY_KB / 1024:.1f} MB: {verdict(most <= MEMORY_KB)}")


# ---- Start ---------------------------------------------------------------------------------------------------------


def start(server):
    """Kills all workers, and asks when they are gone."""
    connection = http.client.HTTPConnection(server.address, timeout=10)
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
        return "Start of a worker: not measured, another one is there before a request asks for it."
    middle = statistics.median(first)
    return (f"Start of a worker, from the request to its first answer: {middle:.2f} ms ({min(first):.2f}–{max(first):.2f}), "
            f"{statistics.median(usual):.2f} ms when it runs; target at most {START_MS:.0f} ms: "
            f"{verdict(middle <= START_MS)}" + (f" ({ready} of {STARTS} were started before the request)" if ready else ""))


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
            raise load.Void("a worker that was killed is still there")
        time.sleep(0.0005)
