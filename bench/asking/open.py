"""1,000 calls that wait for an answer of their clients, and a quick call beside them: how much longer does it take?

    python3 bench/asking/open.py MISHAP [--open 1000] [--calls 2000] [--rounds 5]

In each round the same calls are made twice, one after the other on one connection: with no open question, and while `delete_todos`
waits for so many clients. The server has two workers; if an open question held one, no call could end.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import figures  # noqa: E402
import load  # noqa: E402
import processes  # noqa: E402

OF_A_SESSION = 32
TARGET = 1.1
FIELDS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def message(method, params, id=1):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def ask(connection, body, fields, path="/mcp"):
    connection.request("POST", path, body, {**FIELDS, **fields})
    response = connection.getresponse()
    return response, response.read()


def session_of(connection):
    hello = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "bench", "version": "1"}}
    response, _ = ask(connection, message("initialize", hello), {})
    return {"Mcp-Session-Id": response.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}


def open_questions(port, count, closing):
    """Calls that have been asked: their sessions."""
    sessions = []
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for number in range(count):
            if number % OF_A_SESSION == 0:
                sessions.append(session_of(connection))
            call = closing.enter_context(contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)))
            call.request("POST", "/mcp", message("tools/call", {"name": "delete_todos", "arguments": {}}, number), {**FIELDS, **sessions[-1]})
            stream = call.getresponse()
            closing.callback(stream.close)
            text = b""
            while b"elicitation/create" not in text:
                line = stream.readline()
                if not line:
                    raise figures.Void("a call was not asked: %r" % text)
                text += line
    return sessions


def end_sessions(port, sessions):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for session in sessions:
            connection.request("DELETE", "/mcp", headers=session)
            connection.getresponse().read()


def calls(port, count, tool, arguments, told):
    """Microseconds of each call."""
    took = []
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        session, body = session_of(connection), message("tools/call", {"name": tool, "arguments": arguments})
        for _ in range(count):
            begun = time.perf_counter_ns()
            _, answer = ask(connection, body, session)
            took.append((time.perf_counter_ns() - begun) / 1000)
            if told not in answer:
                raise figures.Void("a wrong answer: %r" % answer[:300])
    return took


def main():
    reader = argparse.ArgumentParser()
    reader.add_argument("mishap")
    reader.add_argument("--open", type=int, default=1000)
    reader.add_argument("--calls", type=int, default=2000)
    reader.add_argument("--rounds", type=int, default=5)
    options = reader.parse_args()
    cases = {"quick (explain_code)": ("explain_code", {"code": "TIMEOUT"}, b"TIMEOUT"), "in a worker (get_todo)": ("get_todo", {"id": "1"}, b"Buy")}
    seen, idle = {name: ([], []) for name in cases}, ([], [])
    with tempfile.TemporaryDirectory() as folder:
        server = load.Server(options.mishap, pathlib.Path(folder) / "server",
                             flags=("--handlers", "2", "--caller-share", "100", "--max-connections", "4000"))
        process, port = server.process, server.port
        try:
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
                ask(connection, '{"title":"Buy milk"}', {}, "/todos")
            for turn in range(options.rounds + 1):
                for which, count in enumerate((0, options.open)):
                    with contextlib.ExitStack() as closing:
                        sessions = open_questions(port, count, closing)
                        for name, case in cases.items():
                            took = calls(port, options.calls, *case)
                            if turn:  # of the quickest tenth, the slowest: other programs on the machine make the others slower
                                seen[name][which].append(sorted(took)[len(took) // 10])
                        begun, used = time.monotonic_ns(), processes.cpu_ns(process.pid)
                        time.sleep(2)
                        if turn:
                            idle[which].append((processes.cpu_ns(process.pid) - used) / (time.monotonic_ns() - begun) * 100)
                        end_sessions(port, sessions)
        finally:
            server.stop()
    print("\nA call beside %d open questions, one process of the server, two workers, %d rounds of %d calls:" % (options.open, options.rounds, options.calls))
    for name, (without, beside) in seen.items():
        figures.row(name + ", alone", figures.median(name, without, options.rounds), "µs")
        figures.row(name + ", beside them", figures.median(name, beside, options.rounds), "µs")
        figures.row(name + ", beside them against alone", statistics.median(figures.ratios(name, beside, without)), "×", at_most=TARGET)
    figures.row("CPU of the idle server, alone", statistics.median(idle[0]) or 0.01, "% of a core")
    figures.row("CPU of the idle server, with so many open questions", statistics.median(idle[1]) or 0.01, "% of a core")


sys.exit(figures.run(main))
