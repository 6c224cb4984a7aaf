"""Talking to an MCP server over its standard input and output, line by line, for the black-box tests."""
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import leaks  # noqa: E402
from blackbox import (SANITIZED, Broken, Skipped, equal, expect, main, parsed, run_program, test,  # noqa: E402,F401
                      tests_of)

WORKSHOP = os.environ.get("WORKSHOP_PROGRAM")
MISHAP = os.environ["MISHAP_PROGRAM"]
LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
PATIENCE = 300  # seconds after which something that should happen did not

# The sanitizers of memory must leave crashes to those who contain them. That of threads lives through one in a process.
if SANITIZED:
    LEAVE = ":".join("handle_%s=0" % name for name in ("segv", "abort", "sigbus", "sigfpe", "sigill"))
    os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), LEAVE]))
MANY_CRASHES = os.environ.get("MISHAP_SANITIZER") != "thread"

META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


# The names of codes are public, even if a function has the same.
NAMES = {name for row in parsed(run_program(MISHAP, "catalog", "--output", "json").out)["data"]
         for name in row["spellings"].values() if isinstance(name, str)}
leaks.secrets.add(os.path.dirname(MISHAP))


def line(message):
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def request(number, method, params=None):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else dict(message, params=params)


def notification(method, params=None):
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else dict(message, params=params)


def modern(number, method, **params):
    return request(number, method, dict({"_meta": META}, **params))


def hello(revision, number=0, capabilities=None):
    return request(number, "initialize", {"protocolVersion": revision, "capabilities": capabilities or {},
                                          "clientInfo": {"name": "test", "version": "1"}})


def quickest(limit, attempt):
    """How many seconds an attempt takes at best: a machine that stalls makes it longer, but not each time."""
    took = []
    while not took or min(took) >= limit and len(took) < 5:
        took.append(attempt())
    expect(min(took) < limit or SANITIZED, "it took", took)


class Server:
    """A server process. Every line it writes must be one JSON object, whatever becomes of it."""

    def __init__(self, *arguments, program=WORKSHOP, command="mcp", revision=None, env=None, capabilities=None):
        self.data = tempfile.TemporaryDirectory(prefix="mishap-mcp-")
        name = os.path.basename(program).upper()
        self.process = subprocess.Popen(
            [program, command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, name + "_LOG": os.path.join(self.data.name, "log"), name + "_DATA": self.data.name, **(env or {})})
        self.lines, self.errors, self.count = queue.Queue(), [], 100
        self.threads = [threading.Thread(target=self.collect, daemon=True),
                        threading.Thread(target=self.collect_errors, daemon=True)]
        for thread in self.threads:
            thread.start()
        if revision in LEGACY:
            self.send(hello(revision, capabilities=capabilities))
            self.greeting = self.receive()
            self.send(notification("notifications/initialized"))

    def collect(self):
        for text in self.process.stdout:
            self.lines.put(text)
        self.lines.put(None)

    def collect_errors(self):
        for text in self.process.stderr:
            self.errors.append(text)

    def stderr(self):
        return b"".join(self.errors)

    def wait_for_stderr(self, words):
        deadline = time.monotonic() + PATIENCE
        while words not in self.stderr():
            expect(time.monotonic() < deadline, "not on stderr:", words)
            time.sleep(0.01)

    def send(self, *messages):
        self.process.stdin.write(b"".join(map(line, messages)))
        self.process.stdin.flush()

    def take(self, patience=None):
        """What the next line says, a message or a batch, with nothing internal in it; None at the end."""
        try:
            text = self.lines.get(timeout=patience or PATIENCE)
        except queue.Empty:
            raise Broken("no message came; stderr: " + self.stderr().decode(errors="replace")[-500:]) from None
        if text is None:
            return None
        expect(text.endswith(b"\n"), "a line without end", text)
        message = parsed(text)
        leaks.check_message(message, NAMES)
        expect(self.data.name not in text.decode(), "the folder of the data in", text)
        return message

    def receive(self, patience=None):
        """The next message."""
        message = self.take(patience)
        expect(message is not None, "the server has ended; stderr:", self.stderr()[-500:])
        equal(message.get("jsonrpc"), "2.0", "jsonrpc")
        return message

    def receive_all(self, number):
        """Messages up to the response to a request: those before it, and it."""
        before = []
        while True:
            message = self.receive()
            if message.get("id") == number and "method" not in message:
                return before, message
            before.append(message)

    def ask(self, method, params=None):
        """A request by a session, and its response; nothing else may come in between."""
        self.count += 1
        self.send(request(self.count, method, params))
        answer = self.receive()
        equal(answer.get("id"), self.count, "id")
        return answer

    def result(self, method, params=None):
        answer = self.ask(method, params)
        expect("result" in answer, "no result:", answer)
        return answer["result"]

    def call(self, tool, **arguments):
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def close(self):
        """The end of input is the end of the server: exit 0. What it still had to say."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        for thread in self.threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        rest = []
        while (message := self.take()) is not None:
            rest.append(message)
        self.data.cleanup()
        equal(status, 0, "exit status")
        return rest

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            if self.process.poll() is None or not self.process.stdin.closed:
                equal(self.close(), [], "what is left")
        else:
            self.process.kill()
            self.process.wait()
            self.data.cleanup()
