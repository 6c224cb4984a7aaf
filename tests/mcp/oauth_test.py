"""The official TypeScript clients, 1.x and 2.x, with a server that accepts tokens of an issuer: oauth.mjs has what they do.

    MISHAP_PROGRAM=… SCOPED_PROGRAM=… CONFORMANCE_PROGRAM=… python3 tests/mcp/oauth_test.py [PART-OF-A-NAME]

The issuer is here: it registers each client, logs in anybody as alice, and gives tokens that tests/oauth/issuer.py signs.
logins_test.py has an issuer that is a program of others.
"""
import http.server
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "http"), os.path.join(TESTS, "oauth")]
import server  # noqa: E402
import exchange  # noqa: E402
import issuer as issuers  # noqa: E402
from node import NODE_MODULES, node_22  # noqa: E402
from blackbox import PATIENCE, Skipped, equal, expect, main, test, tests_of  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SCOPED = os.path.abspath(os.environ["SCOPED_PROGRAM"])
CONFORMANCE = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
STEPS = ["the issuer is found", "log in", "call"]
PACKAGES = {"one": "@modelcontextprotocol/sdk", "two": "@modelcontextprotocol/client"}


class Login(http.server.BaseHTTPRequestHandler):
    """One request to the issuer, `self.server.issuer`. What clients send to it is in `self.server.seen`."""

    def reply(self, status, value, **fields):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, field in {"Content-Type": "application/json", "Content-Length": str(len(body)), **fields}.items():
            self.send_header(name, field)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        at, url = urllib.parse.urlsplit(self.path), self.server.issuer.url
        asked = dict(urllib.parse.parse_qsl(at.query))
        if at.path.startswith("/.well-known/oauth-authorization-server"):
            self.reply(200, {"issuer": url, "authorization_endpoint": url + "/authorize", "token_endpoint": url + "/token",
                             "registration_endpoint": url + "/register", "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                             "grant_types_supported": ["authorization_code", "refresh_token"], "token_endpoint_auth_methods_supported": ["none"]})
        elif at.path == "/authorize":
            back = {"code": "code", "iss": url, **({"state": asked["state"]} if "state" in asked else {})}
            self.reply(302, {}, Location=asked["redirect_uri"] + "?" + urllib.parse.urlencode(back))
        else:
            self.reply(404, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/register":
            self.reply(201, {"client_id": "app", "token_endpoint_auth_method": "none", **json.loads(body)})
            return
        asked = dict(urllib.parse.parse_qsl(body))
        self.server.seen.append(asked)
        # The first token ends within seconds, since clocks may differ by a minute.
        exp = int(time.time()) + (600 if asked["grant_type"] == "refresh_token" else -50)
        self.reply(200, {"access_token": self.server.issuer.token(aud=asked.get("resource"), exp=exp), "token_type": "Bearer", "refresh_token": "again"})

    def log_message(self, *_):
        """Nothing: what is wrong is in the steps."""


@tests_of({"1.x": "one", "2.x": "two"})
def the_official_client_logs_in(which):
    if not os.path.isdir(os.path.join(NODE_MODULES, PACKAGES[which])):
        raise Skipped("the client is not there")
    folder = os.path.join(server.FOLDER, "oauth-" + which)
    os.mkdir(folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Login) as login:
        url = "http://127.0.0.1:%d" % login.server_address[1]
        port = server.free_port()
        own = "http://127.0.0.1:%d" % port
        login.issuer, login.seen = issuers.Issuer(folder, url, own, "ES256"), []
        threading.Thread(target=login.serve_forever, daemon=True).start()
        with server.Server("--workers", "1", "--oauth-issuer", url, "--oauth-jwks", login.issuer.file, "--public-url", own,
                           listen="127.0.0.1:%d" % port, program=SCOPED) as found:
            done = subprocess.run([node_22(), os.path.join(HERE, "oauth.mjs"), NODE_MODULES, which, found.url + "/mcp", "next"],
                                  capture_output=True, text=True, timeout=PATIENCE, check=False)
        login.shutdown()
    equal(([text[4:] for text in done.stdout.splitlines() if text.startswith("ok: ")], done.stderr[-1500:]), ([*STEPS, "go on with the next token"], ""), "steps")
    expect(done.returncode == 0, "exit status", done.returncode)
    equal([asked["grant_type"] for asked in login.seen][:2], ["authorization_code", "refresh_token"], "what the issuer was asked")
    equal({asked.get("resource") for asked in login.seen}, {own + "/mcp"}, "the resource of each token")


@test
def a_stream_is_resumed_only_with_the_scopes_of_its_call():
    folder, api = os.path.join(server.FOLDER, "scopes"), "https://api.example.com"
    os.mkdir(folder)
    issuer = issuers.Issuer(folder, "https://login.example.com", api)

    def fields(scope):
        return {"Authorization": "Bearer " + issuer.token(scope=scope)}
    with server.Server("--workers", "1", "--oauth-issuer", issuer.url, "--oauth-jwks", issuer.file, "--oauth-operator", "oauth", "--public-url", api,
                       program=CONFORMANCE) as found:
        session = exchange.Session(found, fields=fields("call operator"))

        def steps(number):
            with session.exchange("POST", exchange.call("steps", {"steps": 3}, id=number, token="t")) as stream:
                return stream.events()[0].id

        def resumed(last):
            with session.exchange("GET", Accept="text/event-stream", **{"Last-Event-ID": last}) as stream:
                return stream.status
        last = steps(1)
        equal(resumed(last), 200, "with the same scopes")
        session.more = fields("call")
        equal(resumed(last), 400, "without the scope operator")
        equal(resumed("%d-%s" % (int(last.split("-")[0]) + 1, last.split("-")[1])), 400, "with another id")
        less = steps(2)
        equal(resumed(less), 200, "a call of fewer scopes")
        session.more = fields("call operator")
        equal([resumed(last), resumed(less)], [200, 200], "with all scopes again")


@test
def a_token_with_fewer_scopes_is_not_told_of_what_it_may_not_read():
    folder, uri = os.path.join(server.FOLDER, "narrowed"), "scoped://shelf/known"
    os.mkdir(folder)
    issuer = issuers.Issuer(folder, "https://login.example.com", "https://api.example.com")

    def fields_of(scope):
        return {"Authorization": "Bearer " + issuer.token(scope=scope)}

    def change(found):
        equal(found.ask("PATCH", "/things/known", {}, fields_of("call things:write")).status, 200, "the change")

    with server.Server("--workers", "1", "--oauth-issuer", issuer.url, "--oauth-jwks", issuer.file, "--public-url", "https://api.example.com",
                       program=SCOPED) as found:
        wide, narrow = fields_of("call things:read"), fields_of("call")
        session = exchange.Session(found, fields=wide)
        equal(session.post(exchange.message("resources/subscribe", {"uri": uri})).status, 200, "subscribing")
        with session.exchange("GET", Accept="text/event-stream") as stream:
            change(found)
            equal(stream.event().json["params"], {"uri": uri}, "the event")
        with session.exchange("GET", **narrow, Accept="text/event-stream") as stream:
            equal(stream.status, 200, "the session with another token")
            change(found)
            expect(stream.is_silent(1), "it is told:", stream.text)
        with session.exchange("GET", Accept="text/event-stream") as stream:
            change(found)
            equal(stream.event().json["params"], {"uri": uri}, "the event of the first token")
        for fields, told in ((wide, {"resourceSubscriptions": [uri]}), (narrow, {})):
            said = exchange.stateless("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
            with exchange.Exchange(found, "POST", said, {**exchange.repeated(said), **fields}) as stream:
                equal(stream.event().json["params"]["notifications"], told, "what will be told")


main()
