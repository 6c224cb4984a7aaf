"""Clients from npm that log in at an issuer from npm, oidc-provider: the official ones for TypeScript, mcp-remote, the Inspector.

    MISHAP_PROGRAM=… SCOPED_PROGRAM=… python3 tests/mcp/logins_test.py [PART-OF-A-NAME]

oidc.mjs is the issuer. Each client finds it by the 401, logs in, calls a tool, gets a scope that it lacks, and goes on with the
next token when the first one has ended. What each of them does is in a table of docs/oauth.md.
"""
import contextlib
import http.client
import http.cookies
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from mcpdo import Mcpdo, inspector, surroundings  # noqa: E402
from blackbox import PATIENCE, Skipped, equal, expect, main, open_terminal, test, tests_of  # noqa: E402
from node import NODE_MODULES, node_22  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SCOPED = os.path.abspath(os.environ["SCOPED_PROGRAM"])
SHORT = 12  # seconds for which the first token is accepted
WHO = {"caller": "oauth:alice"}
SCOPE, NEXT = "another scope", "the next token"
seen = {}  # what each client did: {(client, SCOPE or NEXT): a cell of the table in docs/oauth.md}


class Lines:
    """What a process writes, line by line, and all of it so far."""

    def __init__(self, file):
        self.queue, self.seen = queue.Queue(), b""
        threading.Thread(target=self.read, args=(file,), daemon=True).start()

    def read(self, file):
        try:
            for line in file:
                self.seen += line
                self.queue.put(line)
        except OSError:
            pass  # a terminal whose other end is closed
        self.queue.put(b"")

    def next(self):
        try:
            line = self.queue.get(timeout=PATIENCE)
        except queue.Empty:
            line = b""
        expect(line, "nothing more was said after", self.seen[-1500:].decode())
        return line.decode()

    def find(self, pattern):
        """The next line that has this."""
        while not (found := re.search(pattern, self.next())):
            pass
        return found


class Issuer:
    """oidc-provider, and what it has told."""

    def __init__(self, **settings):
        if not os.path.isdir(os.path.join(NODE_MODULES, "oidc-provider")):
            raise Skipped("oidc-provider is not there")
        port = server.free_port()
        self.url = "http://127.0.0.1:%d" % port
        self.process = subprocess.Popen([node_22(), os.path.join(HERE, "oidc.mjs"), NODE_MODULES, str(port), json.dumps(settings)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines, self.events = Lines(self.process.stdout), []
        equal(self.lines.next(), "ready\n", "the issuer")

    def told(self, what):
        """What it has told so far of registrations, or of tokens."""
        with contextlib.suppress(queue.Empty):
            while line := self.lines.queue.get_nowait():
                if line.startswith(b"{"):  # else it is a remark of the program
                    self.events.append(json.loads(line))
        return [event[what] for event in self.events if what in event]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


@contextlib.contextmanager
def both(**settings):
    """An issuer, and a server that accepts its tokens."""
    with Issuer(**{"refresh": True, **settings}) as issuer:
        port = server.free_port()
        with server.Server("--workers", "1", "--oauth-issuer", issuer.url, "--public-url", "http://127.0.0.1:%d" % port,
                           listen="127.0.0.1:%d" % port, program=SCOPED) as found:
            expect(server.wait_for(lambda: any(name.startswith("jwks") for name in os.listdir(found.data))), "no keys:", server.Server.read(found.stderr))
            yield issuer, found


# ---- A browser and its user ----------------------------------------------------------------------

def listens(connection):
    """A client may say where to log in before it listens for the end of it."""
    with contextlib.suppress(ConnectionRefusedError):
        connection.connect()
        return True


def browse(address, user="alice"):
    """Follow redirects and send each form, until the client is called back. What was asked for, and the page that the client shows."""
    begun, cookies, form = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query), {}, None
    for _ in range(20):
        url = urllib.parse.urlsplit(address)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE)
        server.wait_for(lambda: listens(connection), PATIENCE)
        fields = {"Cookie": "; ".join("%s=%s" % pair for pair in cookies.items()), "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST" if form else "GET", url.path + "?" + url.query, form, fields)
        answer = connection.getresponse()
        page = answer.read().decode()
        connection.close()
        for name, morsel in (pair for field in answer.headers.get_all("Set-Cookie") or [] for pair in http.cookies.SimpleCookie(field).items()):
            cookies[name] = morsel.value
        if answer.status in (302, 303):
            address, form = urllib.parse.urljoin(address, answer.headers["Location"]), None
            continue
        action = re.search(r'action="([^"]+)"', page)
        if not action:
            expect(answer.status == 200, "the client was called back with", page, "after it had asked for", begun)
            return begun, page
        prompt = re.search(r'name="prompt" value="(\w+)"', page)[1]
        address, form = urllib.parse.urljoin(address, action[1]), urllib.parse.urlencode({"prompt": prompt, "login": user, "password": "any"})
    raise server.blackbox.Broken("there is no end: %s" % address)


def log_in(address, scope):
    """… and what the client has asked for: tokens for /mcp with a scope."""
    asked, _ = browse(address)
    expect(set(scope.split()) <= set(asked["scope"][0].split()), "the scope:", asked)
    expect("/mcp" in asked["resource"][0] and asked["code_challenge_method"] == ["S256"], "what was asked for:", asked)


# ---- The official clients ------------------------------------------------------------------------

OFFICIAL = {"one": "@modelcontextprotocol/sdk", "two": "@modelcontextprotocol/client"}


@tests_of({"1.x, another scope": ("one", "scope", {"refresh": False}), "1.x that can refresh, another scope": ("one", "refused", {}),
           "1.x, the next token": ("one", "next", {"short": SHORT}), "2.x, another scope": ("two", "scope", {}),
           "2.x, the next token": ("two", "next", {"short": SHORT})})
def the_official_client(which, then, settings):
    if not os.path.isdir(os.path.join(NODE_MODULES, OFFICIAL[which])):
        raise Skipped("the client is not there")
    with both(**settings) as (issuer, found):
        done = subprocess.run([node_22(), os.path.join(HERE, "oauth.mjs"), NODE_MODULES, which, found.url + "/mcp", then],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        last = {"scope": "get another scope", "refused": "be refused", "next": "go on with the next token"}[then]
        equal(([text[4:] for text in done.stdout.splitlines() if text.startswith("ok: ")], done.stderr[-1500:]),
              (["the issuer is found", "log in", "call", last], ""), "steps")
        equal((len(issuer.told("registered")), issuer.told("granted").count("authorization_code")), (1, 1 + (then == "scope")), "registrations and logins")
        equal("refresh_token" in issuer.told("granted"), then in ("refused", "next"), "refreshed")
    if which == "one" and then != "next":
        seen["SDK 1.x", SCOPE] = "only if it cannot refresh its token"
    else:
        seen["SDK %s.x" % {"one": 1, "two": 2}[which], {"scope": SCOPE, "next": NEXT}[then]] = "yes"


# ---- mcp-remote ----------------------------------------------------------------------------------

class Remote:
    """mcp-remote, with a client of standard input and output in front of it."""

    def __init__(self, url, name, *more, port=None):
        entry = os.path.join(NODE_MODULES, "mcp-remote/dist/proxy.js")
        if not os.path.exists(entry):
            raise Skipped("mcp-remote is not there")
        self.folder = os.path.join(server.FOLDER, name)
        os.makedirs(self.folder, exist_ok=True)
        env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP")}
        env.update(MCP_REMOTE_CONFIG_DIR=self.folder, HOME=self.folder, BROWSER="true")  # the test itself is the browser
        self.process = subprocess.Popen([node_22(), entry, url, str(port or server.free_port()), "--host", "127.0.0.1", "--transport", "http-only",
                                         "--auth-timeout", str(PATIENCE), *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.lines, self.errors, self.count = Lines(self.process.stdout), Lines(self.process.stderr), 0

    def log_in(self, scope):
        log_in(self.errors.find(r"^(http\S+/auth\?\S+)")[1], scope)

    def begin(self, method, params):
        self.count += 1
        self.say({"id": self.count, "method": method, "params": params})

    def say(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def result(self):
        while (found := json.loads(self.lines.next())).get("id") != self.count:
            pass
        expect("result" in found, found, self.errors.seen[-1500:])
        return found["result"]

    def greet(self):
        self.begin("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})

    def call(self, tool, **arguments):
        self.begin("tools/call", {"name": tool, "arguments": arguments})

    def called(self, tool, **arguments):
        self.call(tool, **arguments)
        return self.result()["structuredContent"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@test
def mcp_remote_logs_in_and_asks_for_another_scope():
    with both() as (issuer, found), Remote(found.url + "/mcp", "remote") as client:
        client.greet()
        client.log_in("call")
        client.result()
        client.say({"method": "notifications/initialized"})
        equal(client.called("who"), WHO)
        client.call("things_change", id="known")
        client.log_in("call things:write")
        equal(client.result()["structuredContent"], {"id": "known"})
        equal(client.called("who"), WHO)
        equal((len(issuer.told("registered")), issuer.told("granted").count("authorization_code")), (1, 2), "registrations and logins")
    seen["`mcp-remote`", SCOPE] = "yes"


@test
def mcp_remote_goes_on_with_the_next_token():
    """It does not register here: the issuer knows it."""
    port = server.free_port()
    known = {"client_id": "known", "redirect_uris": ["http://127.0.0.1:%d/oauth/callback" % port], "grant_types": ["authorization_code", "refresh_token"],
             "token_endpoint_auth_method": "none", "scope": "call things:write offline_access"}
    with both(short=SHORT, clients=[known]) as (issuer, found), \
            Remote(found.url + "/mcp", "remote-next", "--static-oauth-client-info", '{"client_id":"known"}', port=port) as client:
        client.greet()
        client.log_in("call")
        client.result()
        client.say({"method": "notifications/initialized"})
        end = time.monotonic() + PATIENCE
        while "refresh_token" not in issuer.told("granted"):
            equal(client.called("who"), WHO)
            expect(time.monotonic() < end, "the token is not refreshed:", issuer.events)
            time.sleep(0.2)
        equal(client.called("who"), WHO)
        equal((issuer.told("registered"), issuer.told("granted").count("authorization_code")), ([], 1), "registrations and logins")
    seen["`mcp-remote`", NEXT] = "yes"


# ---- The Inspector -------------------------------------------------------------------------------

def settings_of(env, url):
    """A file with the server. Without a scope in it the Inspector asks for all scopes of the program at once."""
    path = os.path.join(env["HOME"], "servers.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"one": {"type": "streamable-http", "url": url, "oauth": {"scopes": "call"}}}}, file)
    return path


class Inspector:
    """Runs of the Inspector's command line, at a terminal: it logs in only for a person. It keeps its tokens for the next run."""

    def __init__(self, url, name):
        self.program, self.env = inspector("launcher/build/index.js"), surroundings(name)
        self.file = settings_of(self.env, url)

    def run(self, *arguments, logs_in=None, steps_up=False):
        """The result of a run, during which a person confirms a step-up and logs in."""
        ours, other = open_terminal()
        process = subprocess.Popen([node_22(), self.program, "--cli", "--config", self.file, "--server", "one", "--format", "json", "--connect-timeout", "0", *arguments], env=self.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=other)
        os.close(other)
        errors = Lines(os.fdopen(ours, "rb", 0))
        with process:
            out = Lines(process.stdout)
            if steps_up:
                process.stdin.write(b"y\n")
                process.stdin.flush()
            if logs_in:
                log_in(errors.find(r"navigate to: (\S+)")[1], logs_in)
            process.stdin.close()
            process.wait(PATIENCE)
        equal(process.returncode, 0, errors.seen[-1500:])
        found = json.loads(out.next())
        return found.get("result", found)

    def call(self, tool, *arguments, **more):
        return self.run("--method", "tools/call", "--tool-name", tool, *arguments, **more)["structuredContent"]


@test
def the_inspector_logs_in_and_asks_for_another_scope():
    with both() as (issuer, found):
        client = Inspector(found.url + "/mcp", "inspector")
        equal(client.call("who", logs_in="call"), WHO)
        equal(client.call("who"), WHO)
        equal(client.call("things_change", "--tool-arg", "id=known", steps_up=True, logs_in="call things:write"), {"id": "known"})
        equal((len(issuer.told("registered")), issuer.told("granted").count("authorization_code")), (1, 2), "registrations and logins")
    seen["Inspector, command line", SCOPE] = "yes, after a question at the terminal"


@test
def the_inspector_goes_on_with_the_next_token():
    """Each run is a session of its own, so a later run refreshes the token of the first."""
    with both(short=SHORT) as (issuer, found):
        client = Inspector(found.url + "/mcp", "inspector-next")
        equal(client.call("who", logs_in="call"), WHO)
        end = time.monotonic() + PATIENCE
        while "refresh_token" not in issuer.told("granted"):
            equal(client.call("who"), WHO)
            expect(time.monotonic() < end, "the token is not refreshed:", issuer.events)
        equal(issuer.told("granted").count("authorization_code"), 1, "logins")
    seen["Inspector, command line", NEXT] = "yes, in its next run"


def call(client, tool, *arguments):
    found = client.run("@one", "tools/call", tool, *arguments)
    return found.get("result", found)["structuredContent"]


@test
def a_session_of_the_inspector_goes_on_with_the_next_token():
    with both(short=SHORT) as (issuer, found), Mcpdo("mcpdo") as client:
        log_in(client.run("connect", "one", "--config", settings_of(client.env, found.url + "/mcp"))["authUrl"], "call")
        client.run("connections/show", "@one")
        end = time.monotonic() + PATIENCE
        while "refresh_token" not in issuer.told("granted"):
            equal(call(client, "who"), WHO)
            expect(time.monotonic() < end, "the token is not refreshed:", issuer.events)
        equal(call(client, "who"), WHO)
        equal(issuer.told("granted").count("authorization_code"), 1, "logins")
        failed = client.started("@one", "tools/call", "things_change", "id:=known")
        expect(failed.returncode and b"Interactive auth recovery required" in failed.stderr, failed)
    seen["Inspector, mcpdo", SCOPE], seen["Inspector, mcpdo", NEXT] = "no: the call fails", "yes"


# ---- The documentation ---------------------------------------------------------------------------

@test
def the_documentation_says_what_each_client_does():
    if len(seen) < 10:
        raise Skipped("not all clients were tested")
    with open(os.path.join(server.TREE, "docs/oauth.md"), encoding="utf-8") as file:
        table = file.read().split("| client | %s | %s |\n|---|---|---|\n" % (SCOPE, NEXT))[1].split("\n\n")[0]
    rows = [re.fullmatch(r"\| (.*?) \| (.*?) \| (.*?) \|", line).groups() for line in table.splitlines()]
    equal({(name, what): cell for name, *cells in rows for what, cell in zip((SCOPE, NEXT), cells)}, seen, "what clients do")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
