"""tools/call over HTTP against the request of the HTTP benchmark: CPU a request on the server's core, in turn.

    over_http.py ECHO MISHAP [ROUNDS]
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

TARGET = 1.3
SECONDS = 2

USERS = """wrk.method = "POST"
wrk.path = "/users"
wrk.body = '{"name":"","age":200,"email":"invalid"}'
wrk.headers["Content-Type"] = "application/json"
"""
CALL = """wrk.method = "POST"
wrk.path = "/mcp"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},' ..
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = "echo"
"""


class Server:
    def __init__(self, program, folder, script):
        self.script = os.path.join(folder, "request.lua")
        os.makedirs(folder)
        with open(self.script, "w", encoding="ascii") as file:
            file.write(script)
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
        assert "Socket errors" not in said, said
        return (self.cpu_ns() - before) / count / 1000


def main():
    echo, mishap, *rest = sys.argv[1:]
    rounds = int(rest[0]) if rest else 5
    with tempfile.TemporaryDirectory() as folder:
        users = Server(mishap, os.path.join(folder, "users"), USERS)
        call = Server(echo, os.path.join(folder, "call"), CALL)
        try:
            for server in (users, call):
                server.load(1)
            for _ in range(rounds):
                for server in (users, call):
                    server.costs.append(server.load(SECONDS))
        finally:
            for server in (users, call):
                server.process.terminate()
                server.process.wait()
    ratio = statistics.median(c / u for u, c in zip(users.costs, call.costs))
    print("tools/call over HTTP, 64 connections, one worker")
    print(f"    {statistics.median(call.costs):.2f} µs of CPU a call against {statistics.median(users.costs):.2f} for the request "
          f"of make bench-http: ratio {ratio:.2f} (target {TARGET} or less)")


main()
