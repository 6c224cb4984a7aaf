#!/usr/bin/env python3
"""An MCP server that plays a part: mcp_server.py PART [http [json|events]], for audit_mcp. Over HTTP it prints its port first.

Each part is one mistake, or one attack. "good" makes none.
"""
import http.server
import json
import os
import signal
import sys
import time

PART = sys.argv[1]
TOOLS = [
    {"name": "add", "inputSchema": {"type": "object", "properties": {"left": {"type": "integer"}, "right": {"type": "integer"}},
                                    "required": ["left", "right"], "additionalProperties": False}},
    {"name": "show", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"which": {"type": "string"}}, "required": ["which"], "additionalProperties": False}},
    {"name": "wipe", "annotations": {"destructiveHint": True},
     "inputSchema": {"type": "object", "properties": {"all": {"type": "boolean"}}, "required": ["all"]}},
    {"name": "reset", "inputSchema": {"type": "object"}},
]
TYPES = {"integer": int, "string": str, "boolean": bool}
TRACE = 'Traceback (most recent call last):\n  File "/srv/app/tools.py", line 3, in call\n    raise KeyError(1)\nKeyError: 1'


class Gone(Exception):
    """The server ends."""


def error(code, message):
    if PART == "objects":
        return {"error": {"code": code, "message": ""}}
    if PART == "others" and code in (-32700, -32601):
        code = -32600
    return {"error": {"code": code, "message": message}}


def failed(text):
    return {"result": {"content": [{"type": "text", "text": text}], "isError": True}}


def wrong(tool, arguments):
    schema = tool["inputSchema"]
    names = schema.get("properties", {})
    bad = [name for name in schema.get("required", []) if name not in arguments]
    bad += [name for name in arguments if name not in names]
    bad += [name for name, value in arguments.items() if name in names and type(value) is not TYPES[names[name]["type"]]]
    return bad


def call(params):
    if not isinstance(params.get("name"), str):
        return error(-32603 if PART == "codes" else -32602, "The name is missing.")
    tool = next((tool for tool in TOOLS if tool["name"] == params["name"]), None)
    if tool is None and PART == "others":
        return {"result": {"content": []}}
    if tool is None:
        return failed("There is no such tool.") if PART == "codes" else error(-32602, "There is no such tool.")
    if "CALLED" in os.environ:
        with open(os.environ["CALLED"], "a", encoding="utf-8") as file:
            file.write(json.dumps([tool["name"], params.get("arguments")]) + "\n")
    bad = wrong(tool, params.get("arguments", {}))
    if PART == "accepts":
        bad = []
    if PART == "dies" and bad:
        raise Gone
    if PART == "hangs" and bad:
        return None
    if PART == "leaks" and bad:
        return failed("%s: %s" % (", ".join(bad), TRACE))
    if PART == "throws" and not bad:
        return failed("connect ECONNREFUSED postgres://admin:s3cretPassw0rd@10.1.2.3:5432/orders")
    if PART == "first":
        bad = bad[:1]
    if PART == "older" and bad:
        return error(-32602, "Bad arguments: " + ", ".join(bad))
    if PART == "codes" and bad:
        return error(-32603, "Bad arguments: " + ", ".join(bad))
    if PART == "empty" and bad:
        return {"result": {"content": [], "isError": True, "names": bad}}
    return failed("Bad arguments: " + ", ".join(bad)) if bad else {"result": {"content": [{"type": "text", "text": "done"}]}}


def tools(params):
    if PART == "heavy":
        return {"result": {"tools": [dict(TOOLS[0], name="tool%d" % i) for i in range(60)]}}
    if PART == "many":
        return {"result": {"tools": [dict(TOOLS[0], name="tool%d" % i) for i in range(100000)]}}
    if PART == "pages":
        return {"result": {"tools": [], "nextCursor": str(int(params.get("cursor", "0")) + 1)}}
    if PART == "circle":
        return {"result": {"tools": TOOLS, "nextCursor": "again"}}
    if PART == "schemas":
        return {"result": {"tools": [{"name": "a"}, {"inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": {"type": "string"}}, 5, None,
                                     {"name": "c", "inputSchema": {"type": "object", "required": [5, None], "properties": []}}]}}
    if PART == "deep":
        schema = '{"items":' * 5000 + "1" + "}" * 5000
        return '{"tools":[{"name":"add","inputSchema":{"type":"object","properties":{"left":%s},"required":["left"]}}]}' % schema
    if PART == "split":
        at = int(params.get("cursor", "0"))
        return {"result": {"tools": TOOLS[at:at + 1], **({"nextCursor": str(at + 1)} if at + 1 < len(TOOLS) else {})}}
    return {"result": {"tools": TOOLS}}


def answer(message):
    method, params = message.get("method"), message.get("params") or {}
    if PART == "stateless" and method == "initialize":
        return error(-32601, "There is no such method.")
    if PART == "stateless" and "_meta" not in params:
        return error(-32602, "The request has no _meta.")
    if method == "server/discover" and PART == "stateless":
        return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete"}}
    if method == "initialize":
        if PART == "refuses":
            return error(-32000, "Not today.")
        return {"result": {"protocolVersion": "2025-06-18" if PART == "older" else "2025-11-25", "capabilities": {"tools": {}},
                           **({} if PART == "nameless" else {"serverInfo": {"name": "part", "version": "1"}})}}
    if method == "ping" and PART != "stateless":
        return {"result": {}}
    if method == "tools/list":
        return tools(params)
    if method == "tools/call":
        return call(params)
    return error(-32601, "There is no such method.")


HEAVY = "x" * 900000


def reply(text):
    """The text of the answer; None: there is none."""
    try:
        message = json.loads(text)
    except ValueError:
        return None if PART == "mute" else json.dumps({"jsonrpc": "2.0", "id": None, **error(-32700, "This is not JSON.")})
    if "id" not in message or "method" not in message or PART == "silent":
        return None
    said = answer(message)
    if said is None:
        return None
    identity = {"ids": 4711, "strings": str(message["id"])}.get(PART, message["id"])
    if isinstance(said, str):
        return '{"jsonrpc":"2.0","id":%d,"result":%s}' % (identity, said)
    if PART == "heavy" and str((message.get("params") or {}).get("name")).startswith("tool"):
        said = {"result": {"content": [{"type": "text", "text": "left right " + HEAVY}], "isError": True}}
    return json.dumps({"jsonrpc": "1.0" if PART == "version" else "2.0", "id": identity, **said})


def endless(write):
    while True:
        write(b"x" * 65536)


def over_stdio():
    out = sys.stdout.buffer

    def write(data):
        out.write(data)
        out.flush()

    if PART == "closes":
        return
    if PART == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if PART == "endless":
        endless(write)
    if PART == "murmurs":
        endless(sys.stderr.buffer.write)
    if PART == "garbage":
        write(bytes(range(256)) * 10 + b"\n\xff\xfe\n[[[[\n{\"a\":\n")
    if PART == "notices":
        while True:
            write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n' * 100)
    for line in sys.stdin:
        if PART == "stray":
            write(b"INFO: a request has come\n")
        if PART == "asks":
            write(b'{"jsonrpc":"2.0","id":"q1","method":"ping"}\n')
        said = reply(line)
        if said is not None:
            write(said.encode() + b"\n")
    while PART in ("stays", "deaf"):
        time.sleep(600)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, kind, body, length=True):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.send_header("Mcp-Session-Id", "s1")
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        self.send(200, "application/json", b"")

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        initial = '"initialize"' in text
        if not initial and self.headers.get("Mcp-Session-Id") != "s1" or not initial and not self.headers.get("MCP-Protocol-Version"):
            if PART != "stateless":
                return self.send(400, "application/json", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"No session."}}')
        if PART == "stateless" and self.headers.get("Mcp-Method") is None and not initial and "jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"," not in text:
            return self.send(400, "application/json", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"No Mcp-Method."}}')
        if PART == "locked":
            return self.send(401, "text/plain", b"Who are you?")
        said = reply(text)
        if PART == "plain" and not text.endswith("}"):
            return self.send(400, "text/plain", b"This is not JSON.")
        if PART == "plain400" and said and "error" in json.loads(said):
            return self.send(400, "text/plain", b"No.")
        if PART == "pages500" and said and "error" in json.loads(said):
            return self.send(500, "text/html", b"<h1>Internal Server Error</h1>")
        if said is None:
            return self.send(202, "application/json", b"")
        if PART == "endless":
            self.send(200, "application/json", b"", length=False)
            return endless(self.wfile.write)
        if PART == "slow":
            self.send(200, "application/json", b"", length=False)
            while True:
                self.wfile.write(b" ")
                time.sleep(0.1)
        if sys.argv[3] == "json":
            return self.send(200, "application/json; charset=utf-8", said.encode())
        notice = b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'
        self.send(200, "text/event-stream", notice + b"id: 1\r\nevent: message\r\ndata: " + said.encode() + b"\r\n\r\n", length=False)
        while PART == "stream":
            self.wfile.write(notice * 100)


def main():
    if len(sys.argv) == 2:
        return over_stdio()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    return server.serve_forever()


try:
    main()
except (Gone, BrokenPipeError):
    os._exit(1)
