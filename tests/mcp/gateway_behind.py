"""MCP servers behind a URL, for the tests of `mishap mcp-gateway --to`: one whose answers are right but for what a test asks for."""
import http.server
import json
import os
import tempfile
import threading
import time

from talk import MISHAP, Server, expect

MARKER = "Zx9marker"  # in the header field of each request
BEARER = {"MISHAP_MCP_HEADER": "Authorization: Bearer " + MARKER}


class Behind(Server):
    """The gateway on standard input and output, in front of a URL."""

    def __init__(self, url, *flags, revision="2025-06-18", **more):
        self.folder = tempfile.TemporaryDirectory(prefix="mishap-gateway-")
        self.log = os.path.join(self.folder.name, "log")
        super().__init__(*flags, "--to", url, program=MISHAP, command="mcp-gateway", revision=revision, env={"MISHAP_LOG": self.log, **more})

    def __exit__(self, kind, value, trace):
        super().__exit__(kind, value, trace)
        self.folder.cleanup()


class Hostile(http.server.BaseHTTPRequestHandler):
    """An MCP server whose tool `fail` does what its argument says. The first call is answered so, all others are right."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:  # the gateway has closed its connection
            pass

    def say(self, status, body, kind="application/json", length=None, session=None, **fields):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if session:
            self.send_header("Mcp-Session-Id", session)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.gets.append(time.monotonic())
        self.say(*self.server.get)

    def do_DELETE(self):
        self.server.deleted.append(self.headers["Mcp-Session-Id"])
        self.say(200, b"", "text/plain")

    def leave_open(self, body, session=None):
        """A stream that does not end before its client closes it."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.connection.recv(1)
        self.close_connection = True

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, number = message.get("method"), message.get("id")
        expect(self.headers["Authorization"] == "Bearer " + MARKER, "the header field is missing")
        right = lambda result: {"jsonrpc": "2.0", "id": number, "result": result}
        if method in self.server.acts:
            self.server.acts[method](self, number, right({}))
        elif method == "initialize":
            greeting = right({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}})
            if self.server.stays_open:
                self.leave_open(event(greeting), "s")
            else:
                self.say(200, greeting, session=self.server.session)
        elif number is None and self.server.stays_open:
            self.leave_open(b"")
        elif number is None:
            self.say(202, b"", "text/plain")
        elif method == "tools/list":
            self.say(200, right({"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("fail", "good")]}))
        elif message["params"]["name"] == "good":
            self.say(200, json.dumps(right({"content": [{"type": "text", "text": "good"}]}), indent=2).encode())
        else:
            self.server.act(self, number, right({"content": [{"type": "text", "text": "right"}]}))


def event(message, line="\n"):
    return ("data: " + json.dumps(message) + line + line).encode()


class Serving:
    """A hostile server, for the time of a test. `acts` has what it does with further methods."""

    def __init__(self, act=None, get=(405, b"", "text/plain"), stays_open=False, session="s", acts=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
        self.server.daemon_threads = True
        self.server.act, self.server.get, self.server.stays_open, self.server.gets, self.server.deleted = act, get, stays_open, [], []
        self.server.session, self.server.acts = session, acts or {}
        self.url = "http://127.0.0.1:%d/mcp" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.server.shutdown()
        self.server.server_close()


BEARER = {"MISHAP_MCP_HEADER": "Authorization: Bearer " + MARKER}
