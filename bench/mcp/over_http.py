"""tools/call over HTTP against the request of the HTTP benchmark: CPU a request on the server's core, in turn.

    over_http.py ECHO MISHAP [ROUNDS]

What is answered is looked at: something else would be another measurement.
"""
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

TARGET = 1.3
SECONDS = 2

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "echo", "arguments": {"text": "hello"},
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}
FIELDS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
          "Mcp-Name": "echo"}


class Request:
    """What is asked for all the time, and how it is answered."""

    def __init__(self, path, body, status, told, fields=None):
        self.path, self.body, self.status, self.told = path, json.dumps(body, separators=(",", ":")), status, told
        self.fields = {"Content-Type": "application/json", **(fields or {})}

    def script(self):
        """For wrk."""
        lines = ['wrk.method = "POST"', f'wrk.path = "{self.path}"', f"wrk.body = '{self.body}'"]
        return "\n".join(lines + [f'wrk.headers["{name}"] = "{value}"' for name, value in self.fields.items()]) + "\n"

    def probe(self, address):
        """One by hand: wrk only tells success from failure."""
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
        connection.request("POST", self.path, self.body, self.fields)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        if response.status != self.status or not all(words in text for words in self.told) or '"isError"' in text:
            sys.exit(f"{self.path} answers {response.status}: {text}")


USERS = Request("/users", {"name": "", "age": 200, "email": "invalid"}, 422, ["validation_error", "value_out_of_range"])
ECHO = Request("/mcp", CALL, 200, ['"structuredContent":{"text":"hello"}'], FIELDS)


class Server:
    def __init__(self, program, folder, request):
        self.request, self.script = request, os.path.join(folder, "request.lua")
        os.makedirs(folder)
        with open(self.script, "w", encoding="ascii") as file:
            file.write(request.script())
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", program, "serve", "--listen", "127.0.0.1:0", "--workers", "1", "--data", folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.address = re.search(r"listening on (\S+)", self.process.stderr.readline()).group(1)
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout
        self.worker = int(children.split()[0])
        self.costs = []

    def cpu_ns(self):
        with open(f"/proc/{self.worker}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])

    def load(self, seconds):
        before = self.cpu_ns()
        said = subprocess.run(["taskset", "-c", "1", "wrk", "-t1", "-c64", f"-d{seconds}s", "-s", self.script, self.address],
                              capture_output=True, text=True).stdout
        count = int(re.search(r"(\d+) requests in", said).group(1))
        failed = int((re.search(r"Non-2xx or 3xx responses: (\d+)", said) or [0, 0])[1])
        if "Socket errors" in said or not count or failed != (count if self.request.status >= 400 else 0):
            sys.exit(f"{self.request.path}: {failed} of {count} requests failed.\n{said}")
        return (self.cpu_ns() - before) / count / 1000


def main():
    echo, mishap, *rest = sys.argv[1:]
    rounds = int(rest[0]) if rest else 5
    with tempfile.TemporaryDirectory() as folder:
        users = Server(mishap, os.path.join(folder, "users"), USERS)
        call = Server(echo, os.path.join(folder, "call"), ECHO)
        try:
            for server in (users, call):
                server.request.probe(server.address)
                server.load(1)
            for _ in range(rounds):
                for server in (users, call):
                    server.costs.append(server.load(SECONDS))
        finally:
            for server in (users, call):
                server.process.terminate()
                server.process.wait()
    ratio = statistics.median(c / u for u, c in zip(users.costs, call.costs))
    print("\ntools/call over HTTP, 64 connections, one worker, against the request of make bench-http:")
    print(f"{statistics.median(call.costs):.2f} µs of CPU a call, {statistics.median(users.costs):.2f} a request")
    text = f"at most {TARGET}× the CPU of a request"
    print(f"{text:<58} {ratio:>7.2f}×   {'met' if ratio <= TARGET else 'MISSED'}")


main()
