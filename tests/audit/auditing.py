"""What the tests of `mishap audit http` have in common: servers that play a part, and audits of them."""
import collections
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
from blackbox import PATIENCE, SANITIZED, Skipped, equal, expect, main, peak_of, test, tests_of  # noqa: E402,F401

PROGRAM = os.environ["MISHAP_PROGRAM"]
MOST_KB = 64 * 1024

Audit = collections.namedtuple("Audit", "status results err seconds peak_kb")


def has_libcurl():
    done = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True, check=False)
    return "libcurl.so.4" in done.stdout or "libcurl-gnutls.so.4" in done.stdout


def run_audit(*arguments, env=None):
    """Run the program to its end: the report as JSON, if there is one."""
    if not has_libcurl():
        raise Skipped("libcurl is not installed")
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        with subprocess.Popen([PROGRAM, "audit", "http", *arguments, "--format", "json"], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                              env=dict(os.environ, HOME=home, XDG_STATE_HOME=home, MISHAP_LOG="", **(env or {}))) as process:
            peak_kb = 0
            while process.poll() is None:
                peak_kb = max(peak_kb, peak_of(process.pid))
                time.sleep(0.005)
                if time.monotonic() - begun > PATIENCE:
                    process.kill()
        out.seek(0)
        err.seek(0)
        text = out.read().decode()
        try:
            results = json.JSONDecoder().raw_decode(text)[0]
        except json.JSONDecodeError:
            results = None
        return Audit(process.returncode, results, err.read().decode() + text, time.monotonic() - begun, peak_kb)


def audited(url, *flags, limit=60):
    """An audit that must come to its end with a report."""
    done = run_audit(url, "--rate", "10000", "--time-limit", str(limit), *flags)
    if done.status == 12 and "CONNECTION_TIMEOUT" in done.err and limit < 10:  # the machine is too busy for so short a limit
        done = run_audit(url, "--rate", "10000", "--time-limit", "10", *flags)
    expect(done.results and done.status in (0, 79, 4), done.status, done.err[:2000])
    if not SANITIZED:
        expect(done.peak_kb < MOST_KB, "memory", done.peak_kb)
    return done


def outcome(results, check):
    return next(row["outcome"] for row in results["checks"] if row["id"] == check)


def findings(results, check=None):
    """(outcome, check, place, key), in the order of the report."""
    return [(one["outcome"], row["id"], one["place"], one.get("key", "")) for row in results["checks"] for one in row.get("findings", [])
            if check in (None, row["id"])]


class Peer:
    """A server on the loopback address. `part(connection, head, body)` says what it likes; then the connection ends."""

    def __init__(self, part):
        self.part = part
        self.requests = []
        self.seconds = []  # how long each response went on
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.url = "http://127.0.0.1:%d" % self.port
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)  # ends accept(), which must not meet another socket with the same number
        self.thread.join()
        self.socket.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.settimeout(PATIENCE)
        try:
            with connection:
                text = b""
                while b"\r\n\r\n" not in text:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    text += piece
                head, body = text.split(b"\r\n\r\n", 1)
                length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
                while len(body) < length:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    body += piece
                self.requests.append((head.decode("latin-1"), body))
                begun = time.monotonic()
                try:
                    self.part(connection, head.decode("latin-1"), body)
                finally:
                    self.seconds.append(time.monotonic() - begun)
        except OSError:
            pass


def says(status, fields, body):
    """A whole response. The connection is closed behind it."""
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    lines = ["HTTP/1.1 %d Status" % status, *("%s: %s" % field for field in fields.items()), "Content-Length: %d" % len(body), "Connection: close"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
