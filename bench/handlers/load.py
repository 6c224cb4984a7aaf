"""What the programs are asked, and how: a server by wrk over HTTP, a server by bench/mcp/drive over MCP, a command."""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import time

import processes


class Void(Exception):
    """A measurement that means nothing, and why."""


def pinned(cores):
    return ["taskset", "-c", cores] if cores else []


# ---- HTTP ----------------------------------------------------------------------------------------------------------


class Request:
    """One request that wrk repeats, and the status and the text that its response must have."""

    def __init__(self, method, path, status, told, body=None):
        self.method, self.path, self.status, self.told, self.body = method, path, status, told, body
        self.fields = {"Content-Type": "application/json"} if body else {}

    def script(self):
        """For wrk. There is no request function, so no Lua runs for a request."""
        lines = [f'wrk.method = "{self.method}"', f'wrk.path = "{self.path}"']
        lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in self.fields.items()]
        if self.body:
            lines.append(f"wrk.body = '{self.body}'")
        return "\n".join(lines) + DONE


DONE = """
function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format('{"requests":%d,"duration_us":%d,"p99_us":%d,"refused":%d,"failed":%d}\\n',
        summary.requests, summary.duration, latency:percentile(99), errors.status,
        errors.connect + errors.read + errors.write + errors.timeout))
end
"""


class Server:
    """`mishap serve` with one loop on a copy of the store, until stop()."""

    def __init__(self, program, store, folder, cores):
        self.program, self.folder = program, folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store, folder)
        log = folder / "stderr"
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                [*pinned(cores), program, "serve", "--listen", "127.0.0.1:0", "--workers", "1", "--data", folder],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        try:
            self.address = self.wait_for_address(log)
        except BaseException:
            self.stop()
            raise

    def wait_for_address(self, log):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(r"listening on http://(\S+)", log.read_text())
            if found:
                return found[1]
            time.sleep(0.01)
        raise Void(f"{self.program} does not listen: {log.read_text().strip() or 'it says nothing'}")

    def ask(self, request, connection=None):
        """One request by hand: wrk does not look at a response."""
        own = connection or http.client.HTTPConnection(self.address, timeout=10)
        own.request(request.method, request.path, request.body, request.fields)
        response = own.getresponse()
        text = response.read().decode()
        if not connection:
            own.close()
        if response.status != request.status or request.told not in text:
            raise Void(f"{self.program} answers {request.method} {request.path} with {response.status}: {text[:300]}")

    def load(self, request, connections, seconds, cores):
        """wrk asks for some seconds: CPU of the whole tree for each request, rate and 99th percentile."""
        script = self.folder / "request.lua"
        script.write_text(request.script())
        self.ask(request)
        before = processes.cpu_ns(processes.family(self.process.pid))
        done = subprocess.run(
            [*pinned(cores), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://{self.address}"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        after = processes.cpu_ns(processes.family(self.process.pid))
        if done.returncode != 0:
            raise Void(f"wrk failed: {done.stderr.strip()}")
        seen = json.loads(done.stdout.strip().splitlines()[-1])
        refusals = seen["requests"] if request.status >= 400 else 0
        if not seen["requests"] or seen["failed"] or seen["refused"] != refusals:
            raise Void(f"{self.program}, {request.method} {request.path}: of {seen['requests']} responses "
                       f"{seen['refused']} had an error status, not {refusals}, and wrk counts {seen['failed']} failures")
        return {"cpu": (after - before) / 1e3 / seen["requests"],
                "wall": seen["duration_us"] / seen["requests"], "p99": seen["p99_us"]}

    def stop(self):
        tree = processes.family(self.process.pid)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            for pid in tree:
                if processes.alive(pid):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- MCP over standard input and output ----------------------------------------------------------------------------


class Peer:
    """`mishap mcp` on a copy of the store, and the driver that calls one of its tools."""

    def __init__(self, drive, program, call, store, folder, drive_cores, server_cores):
        self.program, self.folder = program, folder
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store, folder)
        with open(folder / "stderr", "wb") as log:
            self.process = subprocess.Popen(
                [*pinned(drive_cores), drive, "--call", *call, *pinned(server_cores), program, "mcp", "--data", folder],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def load(self, window, calls, kind):
        """CPU of the server's tree and time, for each call."""
        before = processes.cpu_ns(self.tree())
        try:
            self.process.stdin.write(f"{window} {calls} {kind}\n")
            self.process.stdin.flush()
            seen = json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            raise Void(f"{self.program} mcp does not answer: {(self.folder / 'stderr').read_text()[:500]}") from None
        cpu = processes.cpu_ns(self.tree()) - before
        return {"cpu": cpu / 1e3 / calls, "wall": seen["seconds"] * 1e6 / calls}

    def tree(self):
        return processes.family(self.process.pid)[1:]  # without the driver

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()  # the server ends with it
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- Commands ------------------------------------------------------------------------------------------------------


def run(command, environment, status):
    """From start to exit: time and CPU, with that of children."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in (0, 1, 2)]
    start = time.monotonic_ns()
    pid = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, ended, usage = os.wait4(pid, 0)
    wall = time.monotonic_ns() - start
    if os.waitstatus_to_exitcode(ended) != status:
        raise Void(f"{' '.join(command)} ends with {os.waitstatus_to_exitcode(ended)}, not {status}")
    return {"cpu": (usage.ru_utime + usage.ru_stime) * 1e6, "wall": wall / 1e3}
