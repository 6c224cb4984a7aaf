"""A call of a tool over HTTP, with the server behind `mishap mcp-gateway --listen` and behind supergateway: CPU time of all processes, in turn.

supergateway comes from npm with the packages of the tests (`scripts/setup test`). Without it only the gateway is measured.
"""
import http.client
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import figures
import processes
from figures import Void

CALLS, AT_MOST = 1000, 1 / 20
MODULES = pathlib.Path(__file__).resolve().parents[2] / "build/deps/npm/node_modules"
PATIENCE = 60

# supergateway has no option for the address that it listens on: it listens at loopback, at a free port, and says which.
ON_LOOPBACK = """data:text/javascript,
import { Server } from 'node:net'; import { writeFileSync } from 'node:fs';
const listen = Server.prototype.listen;
Server.prototype.listen = function () {
  return listen.call(this, { port: 0, host: '127.0.0.1' }, () => writeFileSync(process.env.PORT_FILE, String(this.address().port)));
};""".replace("\n", "%20")


class Session:
    """A program that listens, and a session with it."""

    def __init__(self, command, folder, said):
        folder.mkdir()
        self.fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self.log, port = folder / "stderr", folder / "port"
        with open(self.log, "wb") as file:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                            env={**os.environ, "PORT_FILE": str(port), "MISHAP_LOG": str(folder / "log")})
        deadline = time.monotonic() + PATIENCE
        while not (number := said(self.log, port)):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise Void(f"{command[0]} does not listen: {self.log.read_text()}")
            time.sleep(0.02)
        self.link = http.client.HTTPConnection("127.0.0.1", int(number), timeout=PATIENCE)
        self.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}, 0)
        self.send("notifications/initialized", None, None)

    def send(self, method, params, number):
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {}), **({} if number is None else {"id": number})}
        self.link.request("POST", "/mcp", json.dumps(message), self.fields)
        response = self.link.getresponse()
        text = response.read().decode()
        self.fields.setdefault("Mcp-Session-Id", response.getheader("Mcp-Session-Id") or "")
        return text

    def cpu(self, first):
        """CPU of a call, in µs. A server may have closed the connection while the other one was measured, so there is a new one."""
        self.link.close()
        self.send("ping", None, first - 1)
        before = processes.cpu_ns(self.process.pid)
        for number in range(first, first + CALLS):
            text = self.send("tools/call", {"name": "echo", "arguments": {"text": "hello"}}, number)
            if '"hello"' not in text.replace("\\", ""):
                raise Void(f"another answer: {text[:300]}")
        return (processes.cpu_ns(self.process.pid) - before) / CALLS / 1000

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()


def listening(log, _):
    said = log.read_text()
    return said.rsplit(":", 1)[1].strip() if "listening on" in said and said.endswith("\n") else None


def port_file(_, port):
    return port.read_text() if port.exists() else None


def measure(options, folder):
    ways = {"the gateway": ([options.mishap, "mcp-gateway", "--listen", "127.0.0.1:0", "--", options.echo, "mcp"], listening)}
    node = MODULES / ".bin/node"
    script = MODULES / "supergateway/dist/index.js"
    node = node if node.exists() else shutil.which("node")
    if node and script.exists():
        ways["supergateway"] = ([str(node), "--import", ON_LOOPBACK, str(script), "--stdio", f'"{options.echo}" mcp', "--logLevel", "none",
                                 "--outputTransport", "streamableHttp", "--stateful"], port_file)
    sessions, seen, turn = {}, {way: [] for way in ways}, 1
    try:
        for way, (command, said) in ways.items():
            sessions[way] = Session(list(map(str, command)), folder / way.replace(" ", "-"), said)
            sessions[way].cpu(1)
        for turn in range(1, options.rounds + 1):
            for way, session in sessions.items():
                seen[way].append(session.cpu(turn * 100000))
    finally:
        for session in sessions.values():
            session.stop()
    print(f"\ntools/call of an echo over HTTP, one by one, CPU a call of all processes, median of {options.rounds} rounds")
    for way, values in seen.items():
        figures.row(f"    {way}", figures.median(way, values), "µs")
    if "supergateway" in seen:
        ours, theirs = seen["the gateway"], seen["supergateway"]
        figures.row("    the gateway against supergateway", statistics.median(a / b for a, b in zip(ours, theirs)), "×", at_most=AT_MOST)
    else:
        print("    supergateway is not installed: scripts/setup test")
