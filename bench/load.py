"""What the programs are asked, and how: a server by wrk over HTTP, a server by bench/mcp/drive over MCP, a command."""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import time

import figures
import processes
from figures import Void

PATIENCE = 60  # seconds for a server to listen, or to end


def pinned(cores):
    return ["taskset", "-c", cores] if cores else []


# ---- HTTP ----------------------------------------------------------------------------------------------------------


class Request:
    """One request that wrk repeats, and the status and the text that its response must have."""

    def __init__(self, method, path, status, told, body=None, fields=None):
        self.method, self.path, self.status, self.told, self.body = method, path, status, told, body
        self.fields = {**({"Content-Type": "application/json"} if body else {}), **(fields or {})}

    def script(self):
        """For wrk. There is no request function, so no Lua runs for a request."""
        lines = [f'wrk.method = "{self.method}"', f'wrk.path = "{self.path}"']
        lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in self.fields.items()]
        if self.body:
            lines.append(f"wrk.body = '{self.body}'")
        return "\n".join(lines) + DONE

    def refusals(self, requests):
        """How many responses have an error status, if all are as they should be."""
        return requests if self.status >= 400 else 0


DONE = """
function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format('{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"failed":%d}\\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
        errors.connect + errors.read + errors.write + errors.timeout))
end
"""


def wrk(script, address, connections, seconds, cores=None, threads=1, environment=None):
    """What wrk saw: the line of JSON that the script's done() writes."""
    if not shutil.which("wrk"):
        raise Void("wrk is not installed")
    done = subprocess.run(
        [*pinned(cores), "wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", script,
         f"http://{address}"], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise Void(f"wrk failed: {done.stderr.strip() or done.stdout.strip()}")
    seen = json.loads(done.stdout.strip().splitlines()[-1])
    if seen["duration_us"] < seconds * 0.9e6:
        raise Void(f"wrk ran for {seen['duration_us'] / 1e6:.2f} s, and {seconds} s were asked for")
    return seen


def own_log(folder):
    """An environment in which a program has a log of its own: it would index all that other benchmarks have written to the one of the user."""
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state")}


class Server:
    """`PROGRAM serve` with one loop or more, on a copy of a store or on a new one, until stop()."""

    def __init__(self, program, folder, cores=None, store=None, flags=(), environment=None, loops=1):
        self.program, self.folder = program, folder
        shutil.rmtree(folder, ignore_errors=True)
        if store:
            shutil.copytree(store, folder)
        else:
            folder.mkdir(parents=True)
        log = folder / "stderr"
        with open(log, "wb") as file:
            self.process = subprocess.Popen(
                [*pinned(cores), program, "serve", "--listen", "127.0.0.1:0", "--workers", str(loops), "--data", folder, *flags],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, env={**own_log(folder), **(environment or {})})
        try:
            self.address = self.wait_for_address(log)
        except BaseException:
            self.stop()
            raise

    def wait_for_address(self, log):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(r"listening on http://(\S+)", log.read_text())
            if found:
                return found[1]
            time.sleep(0.01)
        raise Void(f"{self.program} does not listen: {log.read_text().strip() or 'it says nothing'}")

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    def ask(self, request, connection=None):
        """One request by hand: wrk does not look at a response."""
        own = connection or http.client.HTTPConnection(self.address, timeout=PATIENCE)
        own.request(request.method, request.path, request.body, request.fields)
        response = own.getresponse()
        text = response.read().decode()
        if not connection:
            own.close()
        if response.status != request.status or request.told not in text:
            raise Void(f"{self.program} answers {request.method} {request.path} with {response.status}: {text[:300]}")

    def load(self, request, connections, seconds, cores=None):
        """wrk asks for some seconds: CPU of the whole tree for each request, rate and 99th percentile."""
        script = self.folder / "request.lua"
        script.write_text(request.script())
        self.ask(request)
        before = processes.cpu_ns(self.process.pid)
        seen = wrk(script, self.address, connections, seconds, cores)
        cpu = processes.cpu_ns(self.process.pid) - before
        self.ask(request)  # a failure can have the status of a success, as in MCP
        what = f"{self.program}, {request.method} {request.path}"
        figures.answered(what, seen["requests"], 1, seen["failed"], seen["refused"], request.refusals(seen["requests"]))
        return {"cpu": figures.figure(f"CPU of {what}", cpu) / 1e3 / seen["requests"],
                "wall": seen["duration_us"] / seen["requests"], "p99": seen["p99_us"], "requests": seen["requests"]}

    def stop(self):
        tree = processes.family(self.process.pid)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            for pid in tree:
                if processes.alive(pid):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- MCP over standard input and output ----------------------------------------------------------------------------


class Peer:
    """A server on its standard input and output, and the driver that calls one of its tools, as its options say."""

    def __init__(self, drive, options, command, folder, drive_cores=None, server_cores=None, store=None):
        self.command, self.folder = " ".join(map(str, command)), folder
        shutil.rmtree(folder, ignore_errors=True)
        if store:
            shutil.copytree(store, folder)
        else:
            folder.mkdir(parents=True)
        with open(folder / "stderr", "wb") as log:
            self.process = subprocess.Popen(
                [*pinned(drive_cores), drive, *options, *pinned(server_cores), *map(str, command)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=own_log(folder))
        if self.process.stdout.readline() != "ready\n":  # the start is not measured
            why = self.errors()
            self.stop()
            raise Void(f"{self.command} cannot be measured: {why}")

    def load(self, window, calls, kind):
        """CPU of the server's tree and time, for each call."""
        before = self.cpu_ns()
        try:
            self.process.stdin.write(f"{window} {calls} {kind}\n")
            self.process.stdin.flush()
            seen = json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            raise Void(f"{self.command} does not answer as it should: {self.errors()}") from None
        cpu = self.cpu_ns() - before
        figures.answered(self.command, seen["calls"], calls)
        return {"cpu": figures.figure(f"CPU of {self.command}", cpu) / 1e3 / calls,
                "wall": figures.figure(f"time of {self.command}", seen["seconds"]) * 1e6 / calls}

    def errors(self):
        return (self.folder / "stderr").read_text(errors="replace").strip()[:500] or "it says nothing"

    def cpu_ns(self):
        try:
            return processes.cpu_ns(*processes.children(self.process.pid))  # without the driver
        except Void:
            raise Void(f"{self.command} has ended: {self.errors()}") from None

    def private_kb(self):
        """Memory of the server's tree that it shares with no other process."""
        return sum(processes.memory_kb(pid, "Private_") for pid in processes.family(self.process.pid)[1:])

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()  # the server ends with it
            self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- Commands ------------------------------------------------------------------------------------------------------


def run(command, environment, status):
    """From start to exit: time, CPU with that of children, and the most memory."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in (0, 1, 2)]
    start = time.monotonic_ns()
    try:
        pid = os.posix_spawnp(command[0], command, environment, file_actions=quiet)
    except OSError as error:
        raise Void(f"{command[0]} cannot be started: {error.strerror}") from None
    _, ended, usage = os.wait4(pid, 0)
    wall = time.monotonic_ns() - start
    if os.waitstatus_to_exitcode(ended) != status:
        raise Void(f"{' '.join(command)} ends with {os.waitstatus_to_exitcode(ended)}, not {status}")
    return {"cpu": (usage.ru_utime + usage.ru_stime) * 1e6, "wall": wall / 1e3, "memory_kb": usage.ru_maxrss}
