"""`mishap gateway`, in front of servers whose responses are bytes of a table (tests/nginx/filtered.py).

Each gateway has a folder of its own for temporary files, so that a test can see what it leaves behind. It ends with the test, also when the test
fails.
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TREE, "tests", name) for name in ("nginx", "cli")]
from blackbox import PATIENCE, Broken, Skipped, expect  # noqa: E402
from filtered import MODULE, NGINX, Upstream, received  # noqa: E402

PROGRAM = os.environ["MISHAP_PROGRAM"]


def needed():
    if not MODULE:
        raise Skipped("the module was not built: there is no nginx-dev")
    if not NGINX:
        raise Skipped("there is no nginx")


def wait_until(condition, what):
    """What the condition returns, as soon as that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        expect(time.monotonic() < deadline, "it does not happen:", what)
        time.sleep(0.01)
    return found


def children(pid):
    """The children of a process that run; none if it is gone."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, encoding="latin-1") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(name))
    return found


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Gateway:
    """A gateway that listens at a free port of 127.0.0.1, in front of `count` servers at unix sockets, or of what `to` says."""

    def __init__(self, *flags, count=1, to=None, env=None, log="incidents.log", patience=PATIENCE):
        needed()
        self.home = tempfile.TemporaryDirectory(prefix="mishap-gateway-test-")
        os.chmod(self.home.name, 0o755)  # the workers of nginx may be another user
        self.temporary = os.path.join(self.home.name, "tmp")
        self.log = os.path.join(self.home.name, log) if log != "off" else log
        os.mkdir(self.temporary)
        os.chmod(self.temporary, 0o755)
        self.upstreams = []
        for i in range(count if to is None else 0):
            folder = os.path.join(self.home.name, "server%d" % i)
            os.mkdir(folder)
            os.chmod(folder, 0o755)
            self.upstreams.append(Upstream(folder))
        to = to or ",".join("http://unix:" + each.path for each in self.upstreams)
        self.said = []
        environment = {**os.environ, "TMPDIR": self.temporary, "MISHAP_LOG": os.path.join(self.home.name, "own.log"), **(env or {})}
        self.process = subprocess.Popen([PROGRAM, "gateway", "--to", to, "--listen", "127.0.0.1:0", "--module", MODULE, "--incident-log", self.log,
                                         "--output", "json", *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment, text=True)
        self.guard = threading.Timer(patience, self.process.kill)
        self.guard.daemon = True
        self.guard.start()
        for line in self.process.stderr:
            self.said.append(line)
            if match := re.match(r"listening on http://127\.0\.0\.1:(\d+)$", line):
                self.port = int(match.group(1))
                break
        else:
            raise Broken("the gateway does not start: " + "".join(self.said))
        self.reader = threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True)
        self.reader.start()

    @property
    def routes(self):
        return self.upstreams[0].routes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGTERM)
        self.finish()
        for each in self.upstreams:
            each.listener.close()
        self.home.cleanup()

    def finish(self):
        """Wait for its end: the exit status and the envelope."""
        out = self.process.stdout.read() if not self.process.stdout.closed else ""
        self.process.wait(PATIENCE)
        self.guard.cancel()
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        return self.process.returncode, json.loads(out) if out else None

    def nginx(self):
        """The first process of nginx, and the ones that serve."""
        first = wait_until(lambda: children(self.process.pid), "nginx runs")[0]
        return first, children(first)

    def left(self):
        """What it has left in the folder for temporary files."""
        return os.listdir(self.temporary)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def ask(self, path, *fields, method="GET", body=b"", host="example.com"):
        with self.connect() as connection:
            lines = ["%s %s HTTP/1.1" % (method, path), "Host: " + host, "Connection: close", *fields]
            if body:
                lines.append("Content-Length: %d" % len(body))
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
            return received(connection, method)

    def through(self, path, route, *fields, **more):
        self.routes[path.split("?")[0]] = route
        return self.ask(path, *fields, **more)

    def incidents(self):
        with open(self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
