"""Calls to tests/storm/faults.c as bytes, fast: requests from templates, responses read without ceremony, on connections
that are kept and may carry several requests at once. And what each answer must be."""
import json
import re
import socket

LONGEST = 120  # seconds after which an answer will not come
ERROR_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
REVISION = "2026-07-28"
META = "io.modelcontextprotocol/"


class Lost(Exception):
    """The connection ended, or nothing came, where an answer should be."""


class Wire:
    """A connection that is opened when it is needed."""

    LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
    CLOSES = re.compile(rb"\r\nconnection: *close", re.I)
    ID = re.compile(rb"\r\nx-request-id: *([0-9a-f-]+)", re.I)

    def __init__(self, address):
        self.address, self.socket, self.received = address, None, b""
        self.closed = 0  # connections that the server has ended

    def send(self, data):
        if not self.socket:
            self.socket = socket.create_connection(self.address, LONGEST)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.received = b""
        try:
            self.socket.sendall(data)
        except OSError as error:
            self.close()
            raise Lost("not sent: %s" % error) from error

    def receive(self):
        """The next response: status, head, body."""
        if not self.socket:
            raise Lost("the connection was closed before")
        while True:
            end = self.received.find(b"\r\n\r\n")
            if end >= 0:
                head = self.received[:end + 2]
                length = self.LENGTH.search(head)
                size = end + 4 + (int(length[1]) if length else 0)
                if len(self.received) >= size:
                    break
            try:
                piece = self.socket.recv(262144)
            except OSError as error:
                self.close()
                raise Lost("nothing came: %s" % error) from error
            if not piece:
                self.close()
                self.closed += 1
                raise Lost("the connection ended after %r" % self.received[:200])
            self.received += piece
        body, self.received = self.received[end + 4:size], self.received[size:]
        if self.CLOSES.search(head):
            self.closed += 1
            self.close()
        return int(head[9:12]), head, body

    def ask(self, data):
        self.send(data)
        return self.receive()

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


# ---- Requests ------------------------------------------------------------------------------------

def http_request(method, target, body=b"", fields=()):
    lines = ["%s %s HTTP/1.1" % (method, target), "Host: localhost", *("%s: %s" % field for field in dict(fields).items())]
    if body:
        lines += ["Content-Type: application/json", "Content-Length: %d" % len(body)]
    elif method == "POST":
        lines += ["Content-Length: 0"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def mcp_message(tool, arguments, number):
    meta = {META + "protocolVersion": REVISION, META + "clientCapabilities": {}, META + "clientInfo": {"name": "storm", "version": "1"}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                       "params": {"name": tool, "arguments": arguments, "_meta": meta}}).encode()


def mcp_request(tool, arguments, number):
    fields = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION, "Mcp-Method": "tools/call",
              "Mcp-Name": tool}
    return http_request("POST", "/mcp", mcp_message(tool, arguments, number), fields)


# ---- Good calls ----------------------------------------------------------------------------------

FIRST, LAST = 1000000, 9999999  # numbers of one length, so that a request is a template
MODEL = 5555555
ALPHABET = "abcdefghijklmnopqrstuvwxyz" * 4000


def sum_of(number):
    return {"number": number, "twice": 2 * number, "rest": (number % 9973) ** 2}


def large_of(number):
    start = number % 26
    return {"number": number, "text": ALPHABET[start:start + 100000]}


def row_of(number):
    return {"number": number, "kept": "row %d" % number}


# Kind: what it answers, and how many of a hundred calls it is.
GOOD = {"sum": (sum_of, 50), "quick": (sum_of, 15), "beside": (sum_of, 10), "rows": (row_of, 12), "nap": (sum_of, 5),
        "locked": (sum_of, 5), "large": (large_of, 3)}
WEIGHTED = [kind for kind, (_, weight) in GOOD.items() for _ in range(weight)]


def template(data):
    return data.split(b"%d" % MODEL)


def http_of(kind, number):
    if kind == "quick":
        return http_request("GET", "/good/quick?number=%d" % number)
    return http_request("POST", "/good/" + kind, b'{"number":%d}' % number)


HTTP = {kind: template(http_of(kind, MODEL)) for kind in GOOD}
MCP = {kind: template(mcp_request("good_" + kind, {"number": MODEL}, MODEL)) for kind in GOOD}
LINE = {kind: template(mcp_message("good_" + kind, {"number": MODEL}, MODEL) + b"\n") for kind in GOOD}


def filled(parts, number):
    return (b"%d" % number).join(parts)


def wrong_http(kind, number, status, body):
    """What is wrong with the answer to a good call; None if nothing is."""
    try:
        if status == 200 and json.loads(body) == GOOD[kind][0](number):
            return None
    except ValueError:
        pass
    return "good.%s %d: %d %r" % (kind, number, status, body[:200])


def wrong_mcp(kind, number, body):
    try:
        found = json.loads(body)
        result = found["result"]
        if found["id"] == number and not result.get("isError") and result["structuredContent"] == GOOD[kind][0](number):
            return None
    except (ValueError, KeyError, TypeError):
        pass
    return "good.%s %d over MCP: %r" % (kind, number, body[:300])


# ---- Faulty calls --------------------------------------------------------------------------------

class Fault:
    """A row of the program's table of faults."""

    def __init__(self, row):
        self.name, self.frame, self.way, self.timeout_ms = row["name"], row["frame"], row["way"], row["timeout_ms"]
        self.statuses = [int(status) for status in row["statuses"].split()]
        self.http = http_request("POST", "/fault/" + self.name)

    def mcp(self, number):
        return mcp_request("fault_" + self.name, {}, number)

    def line(self, number):
        return mcp_message("fault_" + self.name, {}, number) + b"\n"


ERRORS = {500: ("internal_server_error", "INTERNAL_ERROR"), 504: ("timeout", "TIMEOUT")}
LEFT = {"left": True}


def judge_http(fault, status, head, body):
    """(status, incident id or None, what is wrong or None) of the answer to a faulty call."""
    try:
        found = json.loads(body)
        if status not in fault.statuses:
            return status, None, "the status is %d, %r" % (status, body[:200])
        if status == 200:
            return status, None, None if found == LEFT else "the answer is %r" % body[:200]
        if set(found) != {"error", "message"} or found["error"] != ERRORS[status][0] or not found["message"]:
            return status, None, "the failure is %r" % body[:200]
        identifier = Wire.ID.search(head)
        identifier = identifier[1].decode() if identifier else ""
        return status, identifier, None if ERROR_ID.fullmatch(identifier) else "the request id is %r" % identifier
    except (ValueError, TypeError):
        return status, None, "no JSON: %r" % body[:200]


def judge_mcp(fault, number, body):
    try:
        found = json.loads(body)
        result = found["result"]
        told = result["structuredContent"]
        if found["id"] != number:
            return 0, None, "the id is %r instead of %d" % (found["id"], number)
        if not result.get("isError"):
            right = 200 in fault.statuses and told == LEFT
            return 200, None, None if right else "no failure: %r" % body[:300]
        status = next((status for status, names in ERRORS.items() if names[1] == told["code"]), 0)
        identifier = told["incident"]
        if status not in fault.statuses:
            return status, None, "the failure is %r" % body[:400]
        return status, identifier, None if ERROR_ID.fullmatch(identifier) else "the incident is %r" % identifier
    except (ValueError, KeyError, TypeError):
        return 0, None, "no result: %r" % body[:300]


def read_table(address):
    wire = Wire(address)
    status, _, body = wire.ask(http_request("GET", "/faults"))
    wire.close()
    assert status == 200, (status, body)
    return [Fault(row) for row in json.loads(body) if row]
