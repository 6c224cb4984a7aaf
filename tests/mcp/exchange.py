"""Streamable HTTP as the black-box tests speak it: messages, exchanges byte by byte, sessions.

Every message that comes back, whole or as an event, is held against what holds for all of them (examine_message).
"""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
import leaks  # noqa: E402, behind the one that knows where it is
from blackbox import equal, expect, parsed  # noqa: E402
from server import Closed, Response  # noqa: E402

server.catalog()  # of the program that has it, before a test names another
NAMES = {name for row in server.catalog() for name in row["spellings"].values() if isinstance(name, str)}

OLDER = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
STATELESS = "2026-07-28"
META = "io.modelcontextprotocol/"

# ---- Messages ------------------------------------------------------------------------------------


def message(method, params=None, id=1):
    found = {"jsonrpc": "2.0", "method": method}
    if id is not None:
        found["id"] = id
    if params is not None:
        found["params"] = params
    return found


def initialize(revision="2025-11-25", id=0, capabilities=None):
    return message("initialize", {"protocolVersion": revision, "capabilities": capabilities or {},
                                  "clientInfo": {"name": "test", "version": "1"}}, id)


def call(tool, arguments=None, id=1, token=None):
    params = {"name": tool, "arguments": arguments or {}}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return message("tools/call", params, id)


def stateless(method, params=None, id=1, version=STATELESS, **meta):
    """A message of the stateless revision."""
    envelope = {META + "protocolVersion": version, META + "clientCapabilities": {},
                META + "clientInfo": {"name": "test", "version": "1"}, **meta}
    return message(method, {**(params or {}), "_meta": envelope}, id)


def repeated(said, **more):
    """The header fields that repeat what a message of the stateless revision says."""
    params = said.get("params", {})
    name = params.get("uri" if said["method"] == "resources/read" else "name")
    fields = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": said["method"]}
    if isinstance(name, str):
        fields["Mcp-Name"] = name
    fields.update({key.replace("_", "-"): value for key, value in more.items()})
    return fields


# ---- Exchanges -----------------------------------------------------------------------------------

def raw(method, body=None, fields=None, target="/mcp"):
    """The bytes of a request. A field that is None is left out."""
    chosen = {"Host": "localhost", "Accept": "application/json, text/event-stream"}
    if body is not None:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        chosen.update({"Content-Type": "application/json", "Content-Length": str(len(body))})
    chosen.update(fields or {})
    lines = ["%s %s HTTP/1.1" % (method, target)] + ["%s: %s" % field for field in chosen.items() if field[1] is not None]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


class Event:
    def __init__(self, text):
        self.id = self.retry = self.data = self.type = None
        for line in text.split("\n"):
            key, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            expect(key in ("", "id", "data", "event", "retry"), "a line of no event:", line)
            expect(key != "data" or self.data is None, "two lines of data:", text)
            setattr(self, {"event": "type", "": "comment"}.get(key, key), value)

    @property
    def json(self):
        return parsed(self.data.encode())


class Exchange:
    """One request on a connection of its own, or a given one, and what comes back: a whole answer or a stream."""

    def __init__(self, found, method, body=None, fields=None, connection=None, finish=False):
        self.connection = connection or found.connect()
        self.connection.send(raw(method, body, fields))
        if finish:
            self.connection.finish()
        head = self.connection.take_head()
        self.status, self.fields = server.parse_head(head)
        self.head = Response(head, self.fields, self.status, b"", "/mcp")
        self.text, self.over = "", False
        self.streams = "text/event-stream" in (self["Content-Type"] or "")
        if self.streams:
            equal((self.status, self["Transfer-Encoding"]), (200, "chunked"), "a stream's head")
            if isinstance(found, server.Server):  # a proxy takes it as said to itself
                equal(self["X-Accel-Buffering"], "no", "X-Accel-Buffering")
            expect("no-cache" in self["Cache-Control"], "a stream that may be kept:", head)
            server.check_for_leaks(self.head)
        else:
            length = self["Content-Length"]
            self.body = self.connection.take(int(length)) if self.status != 204 else b""
            examine_whole(Response(head, self.fields, self.status, self.body, "/mcp"))

    def __getitem__(self, name):
        return self.head[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    @property
    def json(self):
        return parsed(self.body)

    @property
    def error(self):
        return self.json["error"]["code"]

    # -- streams

    def more(self):
        """One more chunk; False at the end."""
        connection = self.connection
        while b"\r\n" not in connection.received:
            if not connection.more():
                raise Closed("the stream broke off after %r" % self.text)
        size, connection.received = connection.received.split(b"\r\n", 1)
        piece = connection.take(int(size, 16) + 2)
        self.over = int(size, 16) == 0
        self.text += piece[:-2].decode("utf-8")
        return not self.over

    def event(self):
        """The next event with an id or data; None at the end of the stream."""
        while True:
            while "\n\n" not in self.text and not self.over:
                self.more()
            if "\n\n" not in self.text:
                expect(not self.text, "half an event at the end:", self.text)
                return None
            text, self.text = self.text.split("\n\n", 1)
            if not leaks.is_own(text):
                leaks.check(text)
            found = Event(text)
            if found.data:
                examine_message(found.json)
            if found.data is not None:
                return found

    def is_silent(self, seconds):
        """No event comes for some time, nor the end. A stream that was quiet for long shows that it is there, which is no event."""
        until = time.monotonic() + seconds
        while not self.text and not self.connection.is_silent(max(0, until - time.monotonic())):
            if not self.more():
                return False
            self.text = self.text.replace(": still here\n\n", "")
        return not self.text

    def events(self):
        return list(iter(self.event, None))

    def answer(self):
        """The response, whichever way it comes."""
        return [event for event in self.events() if event.data][-1].json if self.streams else self.json


def examine_whole(found):
    """What holds for every answer that is no stream."""
    server.check_for_leaks(found)
    if found.status in (202, 204):
        equal((found.body, found["Content-Type"]), (b"", None), "the body of %d" % found.status)
    elif found["Content-Type"] == "application/json" and b'"jsonrpc"' in found.body:
        expect(b"\n" not in found.body, "more than one line:", found.body)
        examine_message(found.json)
    if found.status == 405:
        expect(found["Allow"], "405 without Allow")


def whole(connection, method="POST"):
    """The next answer on a connection that carries several."""
    found = connection.response(method, "/mcp", checked=False)
    examine_whole(found)
    return found


def examine_message(found):
    """What holds for every message of ours, or batch of them."""
    leaks.check_message(found, NAMES)
    for item in found if isinstance(found, list) else [found]:
        expect(item.get("jsonrpc") == "2.0" and item.get("id", 0) is not None, "no message:", item)
        expect(("method" in item) + ("result" in item) + ("error" in item) == 1, "neither one nor the other:", item)
        if "error" in item:
            expect(item["error"]["message"] and isinstance(item["error"]["code"], int), "no error:", item)
            code = item["error"]["code"]
            expect(code not in range(-32019, -32002) and code not in (-32000, -32001), "a code that is not ours:", item)


class Session:
    """A session of an older revision."""

    def __init__(self, found, revision="2025-11-25", fields=None, capabilities=None):
        self.server, self.revision, self.more = found, revision, fields or {}
        with Exchange(found, "POST", initialize(revision, capabilities=capabilities), self.more) as begun:
            equal((begun.status, begun.json["result"]["protocolVersion"]), (200, revision), "initialize")
            self.id = begun["Mcp-Session-Id"]
        expect(re.fullmatch("[!-~]{22,}", self.id), "the id of a session:", self.id)
        equal(self.post(message("notifications/initialized", id=None)).status, 202, "initialized")

    @property
    def fields(self):
        return {"Mcp-Session-Id": self.id, "MCP-Protocol-Version": self.revision, **self.more}

    def exchange(self, method, body=None, **fields):
        return Exchange(self.server, method, body, {**self.fields, **fields})

    def post(self, body, **fields):
        """A POST whose answer, or the head of whose stream, is waited for."""
        with self.exchange("POST", body, **fields) as found:
            if found.streams:
                found.received = found.events()
            return found

    def process(self):
        """Which worker answers, and as whom it knows us."""
        return json.loads(self.post(call("who")).json["result"]["content"][0]["text"])
