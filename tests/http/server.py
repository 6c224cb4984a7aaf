"""What the black-box tests of `mishap serve` have in common: servers, raw sockets, a strict reader of responses.

Every response that is read, in any test, is held against what holds for all of them (examine), and every failure in
the HTTP API's own format is kept. fits_the_schema() holds all that was kept against the JSON Schema, and
all_ended_in_order() looks at how the servers ended and what sanitizers had to say: the last tests of a file.
MISHAP_PROGRAM names the program, MISHAP_NODE_MODULES the folder with ajv in it.
"""
import atexit
import calendar
import collections
import contextlib
import glob
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TREE, "tests", "cli"))
import blackbox  # noqa: E402
import journal  # noqa: E402
import leaks  # noqa: E402
from blackbox import SANITIZED, Skipped, equal, expect, in_time, parsed, run_program  # noqa: E402,F401
from leaks import MARKER, secrets  # noqa: E402,F401

PROGRAM = os.path.abspath(os.environ["MISHAP_PROGRAM"])
NODE_MODULES = os.environ.get("MISHAP_NODE_MODULES", os.path.join(TREE, "build/deps/npm/node_modules"))
PATIENCE = 300  # seconds after which something that should happen did not, however busy the machine

# The sanitizers of memory end a process that crashes before it can be contained. That of threads does not.
CONTAINED = not SANITIZED or os.environ.get("MISHAP_SANITIZER") == "thread"

# Everything that the programs write lies in one folder.
FOLDER = tempfile.mkdtemp(prefix="http-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ.update(HOME=FOLDER, XDG_STATE_HOME=os.path.join(FOLDER, "state"), LC_ALL="C")
for variable in ["MISHAP_LOG", "TOOL_TRACE_ID", "NO_COLOR"]:
    os.environ.pop(variable, None)

# What a sanitizer finds in any process, workers included, is written into this folder.
REPORTS = os.path.join(FOLDER, "sanitizer")
for variable in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"] if SANITIZED else []:
    os.environ[variable] = ":".join(filter(None, [os.environ.get(variable), "log_path=" + REPORTS]))

# ---- What must not be in a response --------------------------------------------------------------

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

secrets.update([os.path.dirname(PROGRAM), FOLDER])


def wait_until(condition, what, seconds=PATIENCE):
    """What the condition gives, once it is true. `what` is said if it never is: a text, or a function that gives it."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < deadline, what() if callable(what) else what)
        time.sleep(0.02)


def check_for_leaks(response):
    body = response.body.decode("utf-8", "replace")
    failure = body if response.status >= 400 and not response.document else ""
    if leaks.own and response.status < 400 and (leaks.is_own(body) or not body.startswith('{"jsonrpc"')):
        return
    leaks.check(response.head.decode("latin-1") + body, failure, http_names() if failure else ())


# ---- Responses -----------------------------------------------------------------------------------

class Closed(Exception):
    """The connection ended where a response, or the rest of one, should be."""


class Response:
    """One response: its bytes, and what they mean."""

    def __init__(self, head, fields, status, body, target):
        self.head, self.fields, self.status, self.body = head, fields, status, body
        self.document = target.startswith(("/errors", "/openapi"))  # prose about codes, not a failure

    def __getitem__(self, name):
        """The value of a field that is there once, or None."""
        values = self.all(name)
        expect(len(values) <= 1, name, "is there more than once:", self.fields)
        return values[0] if values else None

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def __repr__(self):
        return repr(self.head + self.body)

    @property
    def json(self):
        return parsed(self.body)

    @property
    def id(self):
        return self["X-Request-Id"]

    @property
    def closes(self):
        return "close" in [word.strip().lower() for word in (self["Connection"] or "").split(",")]


STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2}) [\t \x21-\x7e]*")
FIELD_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\x21-\x7e](?:[\t \x21-\x7e]*[\x21-\x7e])?)?)[ \t]*")
DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
                  r"\d{4} \d\d:\d\d:\d\d GMT")
SINGLE = ["Content-Length", "Content-Type", "Date", "X-Request-Id", "Connection", "Retry-After", "Location", "Allow"]

failures = []  # (name of the test, body): every failure in the API's own format
kept = threading.Lock()


def parse_head(head):
    """Status and fields of a head, without its last empty line."""
    lines = head.split(b"\r\n")
    first = STATUS_LINE.fullmatch(lines[0])
    expect(first, "no status line:", lines[0])
    fields = []
    for line in lines[1:]:
        field = FIELD_LINE.fullmatch(line)
        expect(field, "no field line:", line, "in", head)
        fields.append((field[1].decode(), field[2].decode()))
    return int(first[1]), fields


def examine(response, method, waited=0):
    """What holds for every response but an interim one. It may have been on its way for as long as it was waited for."""
    for name in SINGLE:
        expect(len(response.all(name)) <= 1, name, "is there twice:", response)
    expect(response["X-Request-Id"] and UUID.fullmatch(response["X-Request-Id"]), "X-Request-Id:", response)
    date = response["Date"]
    expect(date and DATE.fullmatch(date), "Date:", response)
    age = time.time() - calendar.timegm(time.strptime(date, "%a, %d %b %Y %H:%M:%S GMT"))
    expect(-3 < age < 10 + waited, "Date is off by", age, "seconds")
    if response.status in (204, 304):
        expect(not response.all("Content-Length"), "a length in", response)  # RFC 9110, 8.6
    else:
        expect(re.fullmatch("[0-9]+", response["Content-Length"] or ""), "Content-Length:", response)
    expect(response["Content-Type"] or not response.body, "a body without a type:", response)
    check_for_leaks(response)
    if response.status >= 400:
        examine_failure(response, method)


def examine_failure(response, method):
    if response.status == 405:
        expect(response["Allow"], "405 without Allow:", response)      # RFC 9110, 15.5.6
    if response.status == 401:
        expect(response["WWW-Authenticate"], "401 without WWW-Authenticate:", response)  # 15.5.2
    if response.status == 429:
        expect(re.fullmatch("[1-9][0-9]*", response["Retry-After"] or ""), "429 without Retry-After:", response)
    media_type = response["Content-Type"]
    if method == "HEAD":
        return
    expect(response.body, "a failure without a body:", response)
    if media_type and re.fullmatch("application/json(; *charset=utf-8)?", media_type):
        body = response.json
        expect(isinstance(body, dict) and set(body) <= {"error", "message", "details"}, "not the format:", body)
        expect(isinstance(body.get("message"), str) and body["message"], "no message:", body)
        expect(body.get("error") in http_names(), "an unknown name:", body)
        expect(isinstance(body.get("details", []), list if response.status == 422 else dict) or "details" not in body,
               "details of another form:", body)
        with kept:
            failures.append((blackbox.current, response.body))
    else:
        expect(media_type in DIALECTS or response.document, "a failure of another type:", response)


# The dialects that have a media type of their own.
DIALECTS = {"application/problem+json": "problem", "application/vnd.api+json": "json-api",
            "application/graphql-response+json": "graphql", "application/vnd.mishap+json": "canonical"}


def catalog():
    if not catalog.rows:
        answer = run_program(PROGRAM, "catalog", "--output", "json")
        equal(answer.status, 0, "exit of `catalog`")
        catalog.rows = parsed(answer.out)["data"]
    return catalog.rows


catalog.rows = None


def http_names():
    return {row["spellings"]["http-api"] for row in catalog()}


# ---- Connections ---------------------------------------------------------------------------------

class Connection:
    """A socket, and the bytes that came and were not yet looked at."""

    def __init__(self, address, patience=PATIENCE, receive_buffer=None, source=None):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if source:
            self.socket.bind((source, 0))
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(patience)
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received, self.ended = b"", False
        self.asked, self.answered = time.time(), False  # when that was sent which is not answered yet

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Close with RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def send(self, data):
        """Send; that the other side has hung up meanwhile is seen when reading."""
        if self.answered:
            self.asked, self.answered = time.time(), False
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):  # the last is what Python before 3.13 makes of either
            pass
        return self

    def send_bytewise(self, data, pause=0.0):
        for index in range(len(data)):
            self.send(data[index:index + 1])
            time.sleep(pause)
        return self

    def finish(self):
        """No more will be sent."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)
        return self

    def more(self):
        """Some more bytes; False at the end."""
        try:
            piece = self.socket.recv(65536)
        except ConnectionResetError:
            piece = b""
        except socket.timeout as error:
            raise blackbox.Broken("nothing came; so far: %r" % self.received[:500]) from error
        self.ended = self.ended or not piece
        self.received += piece
        return bool(piece)

    def take(self, count):
        while len(self.received) < count:
            if not self.more():
                raise Closed("the connection ended after %r" % self.received[:500])
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def take_head(self):
        while b"\r\n\r\n" not in self.received:
            if not self.more():
                raise Closed("the connection ended after %r" % self.received[:500])
        head, self.received = self.received.split(b"\r\n\r\n", 1)
        return head

    def response(self, method="GET", target="/", checked=True):
        """The next final response. Interim ones are only allowed where they are waited for."""
        head = self.take_head()
        status, fields = parse_head(head)
        expect(status >= 200, "an interim response that was not asked for:", head)
        lengths = [value for name, value in fields if name.lower() == "content-length"]
        expect(not [name for name, _ in fields if name.lower() == "transfer-encoding"], "a coded response:", head)
        bodiless = method == "HEAD" or status in (204, 304)
        expect(bodiless or lengths, "a response without a length:", head)
        body = b"" if bodiless else self.take(int(lengths[0]))
        found = Response(head, fields, status, body, target)
        self.answered = True
        if checked:
            examine(found, method, time.time() - self.asked)
        return found

    def interim(self):
        """An interim response: its status."""
        status, _ = parse_head(self.take_head())
        expect(100 <= status < 200, "no interim response:", status)
        return status

    def ask(self, method, target, body=None, fields=(), media_type="application/json", checked=True):
        """One request and its response."""
        self.send(request(method, target, body, fields, media_type))
        return self.response(method, target, checked)

    def is_open(self):
        """Does the other side still answer?"""
        try:
            return self.ask("GET", "/health").status == 200
        except Closed:
            return False

    def expect_closed(self):
        """The connection ends, and nothing more comes before."""
        while self.more():
            pass
        expect(not self.received, "more came before the end:", self.received)

    def is_silent(self, seconds=0.2):
        """Nothing comes for some time, not even the end."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return not self.received and not poll.poll(seconds * 1000)


def request(method, target, body=None, fields=(), media_type="application/json"):
    """The bytes of a request, well-formed as long as what it is made of is."""
    lines = ["%s %s HTTP/1.1" % (method, target), "Host: localhost"]
    if body is not None:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines += ["Content-Length: %d" % len(body)] + (["Content-Type: " + media_type] if media_type else [])
    lines += ["%s: %s" % field for field in dict(fields).items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


def chunked(body, size, extension=""):
    """A body as chunks of a size, without the last chunk."""
    pieces = [body[start:start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension.encode(), piece) for piece in pieces)


# ---- Servers -------------------------------------------------------------------------------------

Ended = collections.namedtuple("Ended", "status out err")


class Server:
    """A server that runs until stop(). All of them are killed at the end, whatever happens."""

    running = []
    ended = []  # (name of the test, how it ended)
    count = 0

    def __init__(self, *flags, data=None, listen="127.0.0.1:0", program=None, **variables):
        Server.count += 1
        self.test = blackbox.current
        self.folder = os.path.join(FOLDER, "server-%d" % Server.count)
        os.mkdir(self.folder)
        self.data = data or os.path.join(self.folder, "data")
        os.makedirs(self.data, exist_ok=True)
        self.log, self.access = os.path.join(self.folder, "log"), os.path.join(self.folder, "access")
        self.stdout, self.stderr = os.path.join(self.folder, "out"), os.path.join(self.folder, "err")
        command = [program or PROGRAM, "serve", "--data", self.data, *([] if "--listen" in flags else ["--listen", listen]), *flags]
        variable = os.path.basename(command[0]).upper() + "_LOG"
        with open(self.stdout, "wb") as out, open(self.stderr, "wb") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=dict(os.environ, **{variable: self.log, **variables}))
        Server.running.append(self)
        self.address = self.wait_until_ready()

    def wait_until_ready(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            ready = re.search(rb"^listening on http://([^\s:]+):(\d+)$", self.read(self.stderr), re.M)
            if ready:
                return ready[1].decode(), int(ready[2])
            expect(self.process.poll() is None, "the server ended:", self.read(self.stdout), self.read(self.stderr))
            time.sleep(0.01)
        raise blackbox.Broken("the server is not ready: %r" % self.read(self.stderr))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @staticmethod
    def read(path):
        """What is in a file; a journal as text for people."""
        try:
            with open(path, "rb") as file:
                return journal.shown(file.read())
        except FileNotFoundError:
            return b""

    @classmethod
    def whole_lines(cls, path):
        """The lines of a file that another process may be writing to."""
        return cls.read(path).split(b"\n")[:-1]

    @property
    def url(self):
        return "http://%s:%d" % self.address

    def connect(self, **more):
        return Connection(self.address, **more)

    def ask(self, *arguments, **more):
        """One request on a connection of its own."""
        with self.connect() as connection:
            return connection.ask(*arguments, **more)

    def workers(self):
        """The processes that serve now: the loops of the supervisor, without the keeper of those that run handlers."""
        return sorted(pid for pid, parent in processes() if parent == self.process.pid and name_of(pid) == "mishap-loop")

    def handlers(self):
        """The processes that run handlers, idle ones among them."""
        keepers = {pid for pid, parent in processes() if parent == self.process.pid and name_of(pid) == "mishap-keeper"}
        return sorted(pid for pid, parent in processes() if parent in keepers)

    def running_handlers(self):
        """How many run at this moment. It takes a loop that is free."""
        text = self.ask("GET", "/metrics").body.decode()
        return int(re.search(r"^mishap_http_requests_in_flight (\d+)$", text, re.M)[1])

    def wait_for_log(self, text):
        """The entry of the log with this text in its first line, as soon as all of it is there."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            content = self.read(self.log).decode("utf-8", "replace")
            for entry in re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ )", content, flags=re.M):
                if text in entry.split("\n")[0] and entry.endswith("\n"):
                    return entry
            time.sleep(0.02)
        raise blackbox.Broken("nothing about %s in the log: %s" % (text, content[-2000:]))

    def wait_for_access(self, identifier):
        """The line of the access log about a request."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for line in self.whole_lines(self.access):
                if identifier.encode() in line:
                    return parsed(line)
            time.sleep(0.05)
        raise blackbox.Broken("no line about %s in the access log" % identifier)

    def stop(self, number=signal.SIGTERM, wait=PATIENCE):
        """Tell it to stop, and how it ended."""
        self.process.send_signal(number)
        return self.wait(wait)

    def wait(self, seconds=PATIENCE):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise blackbox.Broken("the server did not end") from error
        return self.note_end()

    def note_end(self):
        Server.running.remove(self)
        end = Ended(self.process.returncode, self.read(self.stdout), self.read(self.stderr))
        Server.ended.append((self.test, end))
        return end

    def kill(self):
        if self not in Server.running:
            return
        workers = self.workers()
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            for pid in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.note_end()


@atexit.register
def kill_all():
    for server in list(Server.running):
        server.kill()


def wait_for(condition, seconds=PATIENCE, pause=0.02):
    """Whether something comes true, be it for a moment only; what it was when it did."""
    deadline = time.monotonic() + seconds
    met = condition()
    while not met and time.monotonic() < deadline:
        time.sleep(pause)
        met = condition()
    return met


def free_port():
    """One that the system gives to no process by itself, so that it is still free when it is needed, and again later."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first = int(file.read().split()[0])
    for port in random.sample(range(max(1024, first // 2), first), 100):
        with contextlib.suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            if port not in given:
                given.add(port)
                return port
    raise blackbox.Broken("no port is free")


given = set()


def name_of(pid):
    """What a process calls itself; nothing if it has ended meanwhile."""
    try:
        with open("/proc/%d/comm" % pid) as file:
            return file.read().strip()
    except OSError:
        return ""


def processes():
    """(pid, pid of its parent) of all that live."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open("/proc/%s/stat" % name, encoding="latin-1") as file:
                fields = file.read().rpartition(")")[2].split()
                if fields[0] != "Z":
                    yield int(name), int(fields[1])


def named_below(pid, name):
    """The processes of this name that a process has started, directly or not: another run of the same test has some, too."""
    parents = dict(processes())

    def is_below(one):
        while one and one != pid:
            one = parents.get(one, 0)
        return one == pid
    return [one for one in parents if is_below(one) and name_of(one) == name]


shared = {}


def server(name, *flags, **more):
    """A server that several tests share; started when first asked for, again if it has died."""
    found = shared.get(name)
    if not found or found.process.poll() is not None:
        if found:
            found.kill()
        found = shared[name] = Server(*flags, **more)
    return found


# ---- The last tests of each file -----------------------------------------------------------------

def fits_the_schema():
    """Every failure of the run fits the JSON Schema, whose list of names is widened to the catalog's. It knows the details of a
    422 alone: those of other statuses are objects, as the table beside it has them, and are left out here."""
    expect(failures, "there was no failure at all")
    if not os.path.isdir(os.path.join(NODE_MODULES, "ajv")):
        raise Skipped("there is no ajv in %s" % NODE_MODULES)
    if not shutil.which("node"):
        raise Skipped("there is no node")
    names = os.path.join(FOLDER, "names.json")
    with open(names, "w", encoding="utf-8") as file:
        json.dump(sorted(http_names()), file)
    bodies = [parsed(body) for _, body in failures]
    for body in bodies:
        if isinstance(body.get("details"), dict):
            del body["details"]
    lines = b"".join(json.dumps(body).encode() + b"\n" for body in bodies)
    with open(os.path.join(FOLDER, "failures.jsonl"), "wb") as file:
        file.write(lines)
    answer = run_program("node", os.path.join(HERE, "ajv.mjs"), NODE_MODULES, names, stdin=lines)
    wrong = [failures[int(number) - 1] for number in re.findall(rb"^line (\d+)", answer.out, re.M)]
    expect(answer.status == 0, answer.out.decode(), answer.err.decode(), wrong[:5])
    expect(b"%d failures, 0 do not fit" % len(failures) in answer.out, answer.out)


def all_ended_in_order():
    """No worker ended in a way that no test has asked for, and no sanitizer has found anything."""
    for found in list(Server.running):
        found.kill()
    for path in sorted(glob.glob(REPORTS + "*")):
        raise blackbox.Broken("a sanitizer: " + Server.read(path).decode("utf-8", "replace")[:20000])
    for name, end in Server.ended:
        expect(0 <= end.status < 126 or end.status == -signal.SIGKILL, "a server of", name, "ended with", end.status, end.err)
        expect(not re.search(rb"^[^\s:]+: a server process was terminated by SIG(?!KILL)", end.err, re.M), "in", name, end.err)
