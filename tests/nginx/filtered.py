"""nginx with the filter of src/nginx, in front of a server whose responses are bytes of a table.

All of it talks over unix sockets in a temporary folder, so that tests beside it cannot be in the way. nginx is one process, which is ended with the
test, also when the test fails.
"""
import atexit
import collections
import contextlib
import getpass
import http.client
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "tests", "cli"))
from blackbox import PATIENCE, Broken, expect  # noqa: E402

MODULE = os.environ.get("MISHAP_NGINX_MODULE", "")
BEFORE = os.environ.get("MISHAP_NGINX_BEFORE", "").split()  # "valgrind --error-exitcode=9": what nginx is run by
PRELOAD = os.environ.get("MISHAP_PRELOAD", "")  # the library of a sanitizer that the module needs
ENVIRONMENT = {**os.environ, **({"LD_PRELOAD": PRELOAD, "ASAN_OPTIONS": "detect_leaks=0"} if PRELOAD else {})}  # nginx frees little at its end
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")

Response = collections.namedtuple("Response", "status reason fields body raw")


def response(status, body=b"", *fields, reason="Reason", length=True):
    """A response as bytes. Content-Length is that of the body, or what is given, or is left out."""
    lines = ["HTTP/1.1 %d %s" % (status, reason), *fields]
    if length is not False:
        lines.append("Content-Length: %d" % (len(body) if length is True else length))
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def chunked(status, pieces, *fields, end=True):
    head = response(status, b"", *fields, "Transfer-Encoding: chunked", length=False)
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + (b"0\r\n\r\n" if end else b"")


class Upstream:
    """A server whose routes are bytes, or functions that get the connection and the request. A connection is closed after its response."""

    def __init__(self, folder):
        self.path, self.routes, self.seen = os.path.join(folder, "upstream"), {}, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(128)
        os.chmod(self.path, 0o777)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
            self.seen.append(head)
            path = head.split(b" ", 2)[1].decode().split("?")[0]
            route = self.routes.get(path, response(404, b"no such route"))
            if callable(route):
                route(connection, head)
            else:
                connection.sendall(route)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


class Nginx:
    """nginx with these lines in its server. `{…}` of the names below are replaced."""

    def __init__(self, server, http="", module=True, env=None):
        self.home = tempfile.TemporaryDirectory(prefix="mishap-nginx-")
        self.folder = self.home.name
        os.chmod(self.folder, 0o755)
        self.upstream = Upstream(self.folder)
        self.socket, self.incidents_path, self.log = (os.path.join(self.folder, name) for name in ("listen", "incidents", "log"))
        paths = "".join("%s %s/%s;" % (name, self.folder, name) for name in (
            "client_body_temp_path", "proxy_temp_path", "fastcgi_temp_path", "uwsgi_temp_path", "scgi_temp_path"))
        text = "%sdaemon off; master_process off; user %s; pid %s/pid; error_log %s info; events { worker_connections 512; } http { access_log off; %s %s\n" % (
            "load_module %s;\n" % MODULE if module else "", getpass.getuser(), self.folder, self.log, paths, http)
        text += "upstream behind { server unix:%s; } server { listen unix:%s; %s } }\n" % (self.upstream.path, self.socket, server)
        self.configuration = os.path.join(self.folder, "nginx.conf")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(text.replace("{incidents}", self.incidents_path).replace("{folder}", self.folder))
        self.process = subprocess.Popen([*BEFORE, NGINX, "-p", self.folder, "-c", self.configuration, "-e", self.log],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**ENVIRONMENT, **(env or {})})
        atexit.register(self.stop)
        self.wait_ready()

    def wait_ready(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(self.socket)
                return
            if self.process.poll() is not None:
                raise Broken("nginx ended: " + self.said())
            time.sleep(0.02)
        raise Broken("nginx is not ready")

    def said(self):
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.upstream.listener.close()
        return self.process.returncode

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(self.socket)
        return connection

    def ask(self, path, *fields, method="GET", body=b""):
        """One request on a connection of its own."""
        with self.connect() as connection:
            lines = ["%s %s HTTP/1.1" % (method, path), "Host: example.com", "Connection: close", *fields]
            if body:
                lines.append("Content-Length: %d" % len(body))
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
            return received(connection, method)

    def raw(self, data):
        """What comes back for these bytes until the connection ends."""
        with self.connect() as connection:
            connection.sendall(data)
            return read_all(connection)

    def incidents(self):
        with open(self.incidents_path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def incident(self, identity):
        found = [row for row in self.incidents() if row["id"] == identity]
        expect(len(found) == 1, "incidents with the id", identity, ":", found)
        return found[0]


def read_all(connection):
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


class Bytes:
    """Bytes as http.client wants to read them."""

    def __init__(self, data):
        self.data = data

    def makefile(self, _mode):
        return io.BytesIO(self.data)


def received(connection, method="GET"):
    raw = read_all(connection)
    expect(raw.startswith(b"HTTP/1.1 "), "no response:", raw[:200])
    parsed = http.client.HTTPResponse(Bytes(raw), method=method)
    parsed.begin()
    return Response(parsed.status, parsed.reason, parsed.headers, parsed.read(), raw)
