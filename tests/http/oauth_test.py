"""Access tokens of an issuer: serve --oauth-issuer.

    MISHAP_PROGRAM=… SCOPED_PROGRAM=… python3 tests/http/oauth_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/scoped.c is the program that is asked, tests/oauth/issuer.py makes the tokens, tests/oauth/oauth_test.py has the
hostile ones: here each kind is refused in the same words.
"""
import contextlib
import json
import os
import re
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, "mcp"), os.path.join(TESTS, "oauth")]
import server  # noqa: E402
import exchange  # noqa: E402
import issuer as issuers  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402

SCOPED = os.path.abspath(os.environ["SCOPED_PROGRAM"])
API, LOGIN = "https://api.example.com", "https://login.example.com"
DOCUMENT = "/.well-known/oauth-protected-resource"
MARKER = "p3nguin-marker"  # in what only the log may have
NO_USABLE_KEY = '{"keys":[{"kty":"oct","kid":"a","k":"AA"}]}'
folders = 0


def new_folder():
    global folders
    folders += 1
    path = os.path.join(server.FOLDER, "oauth-%d" % folders)
    os.mkdir(path)
    return path


def new_issuer(alg="EdDSA"):
    return issuers.Issuer(new_folder(), LOGIN, API, alg)


def flags_of(issuer, *more):
    return ["--oauth-issuer", issuer.url, "--oauth-jwks", issuer.file, "--public-url", API, *more]


def serve(issuer, *more, workers="1", **settings):
    return server.Server("--workers", workers, *flags_of(issuer, *more), program=SCOPED, **settings)


def shared():
    if not shared.server:
        shared.issuer = new_issuer()
        shared.server = serve(shared.issuer, "--oauth-audience", "named", workers="2")
    return shared.server, shared.issuer


shared.server = None


def bearer(token):
    return {"Authorization": "Bearer " + token}


def status_of(found, token):
    return found.ask("GET", "/who", fields=bearer(token)).status


def challenge_of(answer):
    scheme, _, rest = (answer["WWW-Authenticate"] or "").partition(" ")
    equal(scheme, "Bearer", "the scheme")
    return dict(re.findall(r'(\w+)="([^"]*)"(?:, |$)', rest))


# ---- Documents -----------------------------------------------------------------------------------

@tests_of({"the server": ("", API), "mcp": ("/mcp", API + "/mcp")})
def the_document_says_who_the_issuer_is(path, resource):
    found, _ = shared()
    answer = found.ask("GET", DOCUMENT + path)
    equal((answer.status, answer["Content-Type"], answer["Access-Control-Allow-Origin"]), (200, "application/json", "*"), "the head")
    equal(answer.json, {"resource": resource, "authorization_servers": [LOGIN], "scopes_supported": ["call", "things:read", "things:write", "things:remove", "things:all"], "bearer_methods_supported": ["header"],
                        "resource_name": "scoped"}, "the document")


@test
def the_documents_are_for_all():
    found, issuer = shared()
    for path in (DOCUMENT, DOCUMENT + "/mcp"):
        for fields in (bearer("nonsense"), bearer(issuer.token(exp=5)), bearer("mk_" + "x" * 43), {"X-Api-Key": "x"}, {"Origin": "https://evil.example"}):
            equal(found.ask("GET", path, fields=fields).status, 200, "with %r" % fields)
        equal(found.ask("HEAD", path).status, 200, "HEAD")
        equal(found.ask("POST", path, body="{}", fields=bearer(issuer.token())).status, 405, "POST")
        preflight = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "mcp-protocol-version"}
        answer = found.ask("OPTIONS", path, fields=preflight)
        equal((answer.status, answer["Access-Control-Allow-Origin"]), (204, "*"), "a preflight")
        expect("mcp-protocol-version" in answer["Access-Control-Allow-Headers"].lower(), answer["Access-Control-Allow-Headers"])
    equal(found.ask("GET", DOCUMENT + "/other").status, 404, "another document")


@test
def without_an_issuer_all_is_as_before():
    with server.Server("--workers", "1", program=SCOPED) as found:
        for path in (DOCUMENT, DOCUMENT + "/mcp"):
            answer = found.ask("GET", path)
            equal((answer.status, answer["Access-Control-Allow-Origin"]), (404, None), path)
        answer = found.ask("GET", "/who", fields=bearer("a.b.c"))
        equal((answer.status, answer["WWW-Authenticate"], answer.json["message"]), (401, "Bearer", "The API key is not valid."), "a token")
        equal(found.ask("GET", "/who").json, {"caller": "nobody"}, "no key")
        equal(found.ask("GET", "/vault/known")["WWW-Authenticate"], "Bearer", "the operator's")
        for process in (found.process.pid, *found.workers()):
            with open("/proc/%d/maps" % process, encoding="utf-8", errors="replace") as file:
                expect("libcrypto" not in file.read(), "libcrypto is loaded")


# ---- Challenges ----------------------------------------------------------------------------------

@test
def a_request_without_a_token_is_told_where_to_get_one():
    found, _ = shared()
    for path, end in (("/who", ""), ("/mcp", "/mcp")):
        answer = found.ask("GET", path)
        equal((answer.status, answer.json["error"], answer.json["message"]), (401, "auth_required", "An API key or an access token is required."), path)
        equal(challenge_of(answer), {"resource_metadata": API + DOCUMENT + end, "scope": "call"}, path)
    schemes = found.ask("GET", "/openapi.json").json["components"]["securitySchemes"]
    equal((sorted(schemes), schemes["bearer"]["description"]), (["api_key", "bearer"], "An API key or an access token as a bearer token."), "the document")
    equal(challenge_of(found.ask("GET", "/vault/known"))["scope"], "operator", "the scope")
    equal(challenge_of(found.ask("GET", "/metrics"))["scope"], "metrics", "the scope")
    equal(challenge_of(found.ask("DELETE", "/things/known"))["scope"], "call things:write things:remove", "all scopes of the operation")


@test
def a_token_without_the_scope_is_told_which_it_needs():
    found, issuer = shared()
    for path, scope, claims in (("/who", "call", {"scope": "metrics"}), ("/vault/known", "operator", {}), ("/metrics", "metrics", {}),
                                ("/mcp", "call", {"scope": None}), ("/who", "call", {"scope": "calls call:all CALL"})):
        answer = found.ask("GET", path, fields=bearer(issuer.token(**claims)))
        equal((answer.status, answer.json["error"], answer.json["message"]),
              (403, "forbidden", "The access token does not have the scope `%s`." % scope), path)
        equal(challenge_of(answer), {"resource_metadata": API + DOCUMENT + ("/mcp" if path == "/mcp" else ""), "scope": scope,
                                     "error": "insufficient_scope"}, path)


@test
def all_scopes_of_an_operation_are_in_one_challenge():
    found, issuer = shared()
    for method, path, scope, needed in (("PATCH", "/things/known", "call", "call things:write"), ("DELETE", "/things/known", "call things:write",
                                        "call things:write things:remove"), ("PATCH", "/things/known", "things:write", "call things:write"),
                                        ("GET", "/shelf/known", "call things:remove openid", "call things:read")):
        answer = found.ask(method, path, fields=bearer(issuer.token(scope=scope)))
        equal((answer.status, challenge_of(answer)), (403, {"resource_metadata": API + DOCUMENT, "scope": needed, "error": "insufficient_scope"}), path)
    for method, path, scope in (("PATCH", "/things/known", "call things:write"), ("DELETE", "/things/known", "things:all"),
                                ("GET", "/shelf/known", ["things:write", "call", "things:unknown"]), ("GET", "/shelf", "call")):
        equal(found.ask(method, path, fields=bearer(issuer.token(scope=scope))).status, 200, "%s %s with %r" % (method, path, scope))


@test
def a_tool_that_needs_a_scope_is_refused_with_a_challenge():
    found, issuer = shared()
    session = exchange.Session(found, fields=bearer(issuer.token()))
    for message, needed in ((exchange.call("things_remove", {"id": "known"}), "call things:write things:remove"),
                            (exchange.message("prompts/get", {"name": "plan"}), "call things:read")):
        with session.exchange("POST", message) as refused:
            equal((refused.status, challenge_of(refused)), (403, {"resource_metadata": API + DOCUMENT + "/mcp", "scope": needed,
                                                                  "error": "insufficient_scope"}), "the head")
            equal(refused.json["error"]["data"]["code"], "FORBIDDEN", "the body")
    session.more = bearer(issuer.token(scope="call things:write things:remove"))  # the next token of the same caller
    with session.exchange("POST", exchange.call("things_remove", {"id": "known"})) as done:
        equal((done.status, done["WWW-Authenticate"]), (200, None), "with the scopes")


@test
def pages_may_read_the_challenge():
    with serve(new_issuer(), "--cors", "https://app.example") as found:
        answer = found.ask("GET", "/who", fields={"Origin": "https://app.example"})
        equal(answer.status, 401, "the status")
        expect("WWW-Authenticate" in answer["Access-Control-Expose-Headers"].split(", "), answer["Access-Control-Expose-Headers"])


# ---- Tokens --------------------------------------------------------------------------------------

@tests_of({"plain": ({}, "oauth:alice"), "a client": ({"client_id": "alice"}, "oauth::alice"), "azp": ({"client_id": None, "azp": "alice"}, "oauth::alice"),
           "Okta": ({"client_id": None, "cid": "alice"}, "oauth::alice"),
           "Entra": ({"client_id": None, "appid": "alice"}, "oauth::alice"), "no client": ({"client_id": None}, "oauth:alice"), "Auth0": ({"sub": "auth0|12"}, "oauth:auth0|12"), "colon": ({"sub": ":app"}, "oauth:%3Aapp"),
           "space": ({"sub": "a b"}, "oauth:a%20b"), "not ASCII": ({"sub": "é"}, "oauth:%C3%A9"), "tilde": ({"sub": "~a"}, "oauth:%7Ea"),
           "57 letters": ({"sub": "x" * 57}, "oauth:" + "x" * 57),
           "58 letters": ({"sub": "x" * 58}, r"oauth:~[0-9a-f]{42}")})
def the_name_of_a_caller_has_issuer_and_subject(claims, name):
    found, issuer = shared()
    caller = found.ask("GET", "/who", fields=bearer(issuer.token(**claims))).json["caller"]
    expect(caller == name or ("[" in name and re.fullmatch(name, caller)), caller)


@tests_of({name: (aud,) for name, aud in {"the server": API, "with a slash": API + "/", "mcp": API + "/mcp", "mcp with a slash": API + "/mcp/",
                                          "one of several": ["x", API], "what the operator names": "named"}.items()})
def each_audience_holds_on_all_paths(aud):
    found, issuer = shared()
    fields = bearer(issuer.token(aud=aud))
    equal(found.ask("GET", "/who", fields=fields).status, 200, "over HTTP")
    session = exchange.Session(found, fields=fields)
    expect("who" in json.dumps(session.post(exchange.message("tools/list")).json), "over MCP")
    equal(session.post(exchange.call("who", {})).json["result"]["structuredContent"], {"caller": "oauth:alice"}, "the caller")


def hostile_tokens(issuer):
    """Tokens that are not valid, by the check that says so in the log."""
    stranger = issuers.Key(new_folder(), "EdDSA")
    good = issuer.token()
    head, body, mark = good.split(".")
    return {"expired": issuer.token(exp=5), "issuer": issuer.token(iss="https://" + MARKER), "audience": issuer.token(aud=MARKER),
            "subject": issuer.token(sub=None), "not yet": issuer.token(nbf=99999999999), "id token": issuer.token(typ="ID"), "cnf": issuer.token(cnf={"jkt": MARKER}),
            "typ": issuer.token(header={"typ": MARKER}), "crit": issuer.token(header={"crit": [MARKER]}), "alg": issuer.token(header={"alg": "none"}),
            "no kid": issuer.token(header={"kid": ""}), "key": issuer.token(header={"kid": MARKER}), "signature": stranger.token(issuer.claims()),
            "form": "%s.%s" % (head, body), "header": "%s.%s.%s" % (issuers.b64(b"[]"), body, mark), "claims": "%s.%s.%s" % (head, issuers.b64(b"{"), mark),
            "length": "x" * 9000}


@test
def each_refusal_has_the_same_words_and_the_log_has_the_check():
    issuer = new_issuer()
    seen = set()
    with serve(issuer) as found:
        for number, (check, token) in enumerate(hostile_tokens(issuer).items(), 2):
            with found.connect(source="127.0.0.%d" % number) as connection:  # of many failures of one address not all are written in full
                answer = connection.ask("GET", "/who", fields=bearer(token))
            equal(answer.status, 401, check)
            equal(challenge_of(answer), {"resource_metadata": API + DOCUMENT, "scope": "call", "error": "invalid_token"}, check)
            identifier = answer["X-Request-Id"]
            seen.add(answer.body.replace(identifier.encode(), b"ID"))
            entry = found.wait_for_log(identifier)
            expect(re.search(r"check\W+%s\b" % re.escape(check), entry), check, "is not in", entry)
            for name, value in {"issuer": ("iss", "https://" + MARKER), "audience": ("aud", MARKER), "signature": ("iss", LOGIN)}.items():
                if check == name:
                    expect(re.search(r"%s\W+%s" % (value[0], re.escape(value[1])), entry), value, "is not in", entry)
            expect(MARKER not in answer.head.decode() + answer.body.decode(), "a caller reads it:", answer)
        equal(len(seen), 1, "different answers: %r" % seen)


@test
def the_token_itself_is_nowhere():
    issuer = new_issuer()
    good, bad = issuer.token(), issuer.token(exp=5)
    with serve(issuer, "--access-log", "-") as found:
        for token in (good, bad):
            found.ask("GET", "/who", fields=bearer(token))
        found.wait_for_log(found.ask("GET", "/who", fields=bearer(bad))["X-Request-Id"])
        text = server.Server.read(found.log) + server.Server.read(found.stderr) + server.Server.read(found.stdout)
        for token in (good, bad):
            for part in token.split("."):
                expect(part.encode() not in text, "a part of a token is in the output")


@test
def keys_count_beside_tokens_but_not_together_with_one():
    issuer, data = new_issuer(), new_folder()
    key = parsed(run_program(SCOPED, "keys", "add", "--name", "alice", "--data", data, "--output", "json").out)["data"]["key"]
    server.secrets.add(key)
    with serve(issuer, data=data) as found:
        for fields in ({"X-Api-Key": key}, bearer(key)):
            equal(found.ask("GET", "/who", fields=fields).json, {"caller": "alice"}, "a key")
        both = found.ask("GET", "/who", fields=dict(bearer(issuer.token()), **{"X-Api-Key": key}))
        equal((both.status, both.json["message"]), (401, "The request has an access token and an API key."), "both")


@test
def several_issuers_do_not_speak_for_each_other():
    one, two = new_issuer(), new_issuer()
    two.url = "https://two.example.com"
    flags = ["--oauth-issuer", "one=" + one.url, "--oauth-jwks", one.file, "--oauth-issuer", "two=" + two.url, "--oauth-jwks", two.file,
             "--public-url", API]
    with server.Server("--workers", "1", *flags, program=SCOPED) as found:
        equal([found.ask("GET", "/who", fields=bearer(issuer.token())).json["caller"] for issuer in (one, two)], ["one:alice", "two:alice"], "callers")
        for issuer, other in ((one, two), (two, one)):
            equal(found.ask("GET", "/who", fields=bearer(issuer.token(iss=other.url))).status, 401, "another's")
        equal(found.ask("GET", DOCUMENT).json["authorization_servers"], [one.url, two.url], "the document")


@test
def only_an_issuer_that_the_operator_names_makes_operators():
    one, two = new_issuer(), new_issuer()
    two.url = "https://two.example.com"
    flags = ["--oauth-issuer", "one=" + one.url, "--oauth-jwks", one.file, "--oauth-issuer", "two=" + two.url, "--oauth-jwks", two.file,
             "--public-url", API, "--oauth-operator", "two"]
    with server.Server("--workers", "1", *flags, program=SCOPED) as found:
        for issuer, status in ((one, 403), (two, 200)):
            fields = bearer(issuer.token(scope="call metrics operator"))
            for _ in range(2):  # checked, then known
                equal([found.ask("GET", path, fields=fields).status for path in ("/who", "/metrics", "/vault/known")], [200, 200, status], issuer.url)
            equal(found.ask("GET", "/vault/known", fields=bearer(issuer.token())).status, 403, "without the scope")
    found, issuer = shared()
    equal(found.ask("GET", "/vault/known", fields=bearer(issuer.token(scope="call operator"))).status, 403, "an issuer that has no alias")


# ---- Time ----------------------------------------------------------------------------------------

@test
def a_token_that_is_known_is_refused_when_it_ends():
    found, issuer = shared()
    fields = bearer(issuer.token(exp=int(time.time()) - 55))
    equal(found.ask("GET", "/who", fields=fields).status, 200, "at first")
    expect(server.wait_for(lambda: found.ask("GET", "/who", fields=fields).status == 401), "it has no end")


@test
def streams_end_with_the_token():
    found, issuer = shared()
    lasting = exchange.Session(found, fields=bearer(issuer.token(sub="lasting")))
    ending = exchange.Session(found, fields=bearer(issuer.token(sub="ending", exp=int(time.time()) - 52)))
    with lasting.exchange("GET") as kept, ending.exchange("GET") as cut:
        equal((kept.status, cut.status), (200, 200), "the streams")
        try:
            cut.events()
        except TimeoutError:
            raise
        except (server.Closed, OSError):
            pass  # it is cut, not ended
        equal(ending.post(exchange.message("ping")).status, 401, "the session with the token")
        ending.more = bearer(issuer.token(sub="ending"))
        equal(ending.post(exchange.message("ping")).status, 200, "the session with the next token of the same user")
        lasting.more = bearer(issuer.token(sub="another"))
        equal(lasting.post(exchange.message("ping")).status, 404, "the session with the token of another user")
        lasting.more = bearer(issuer.token(sub="lasting", client_id="another"))
        equal(lasting.post(exchange.message("ping")).status, 404, "… of another client")


@test
def a_key_set_is_read_again_when_it_changes():
    issuer = new_issuer()
    old, new = issuer.key, issuers.Key(new_folder(), "ES256", "next")
    first, second = issuer.token(), issuer.token(key=new)
    with serve(issuer) as found:
        def statuses():
            return [found.ask("GET", "/who", fields=bearer(token)).status for token in (first, second)]
        equal(statuses(), [200, 401], "with the old set")
        issuer.publish([old, new])
        expect(server.wait_for(lambda: statuses() == [200, 200]), "with both keys:", statuses())
        for broken in ("", "<html>", NO_USABLE_KEY):
            issuer.write(broken)
            expect(server.wait_for(lambda: b"last good one" in server.Server.read(found.log)), "nothing in the log")
            equal(statuses(), [200, 200], "with a broken set")
        os.remove(issuer.file)
        equal(statuses(), [200, 200], "without a file")
        issuer.publish([new])
        expect(server.wait_for(lambda: statuses() == [401, 200]), "with the new key:", statuses())
        issuer.publish([])
        expect(server.wait_for(lambda: statuses() == [401, 401]), "without any key:", statuses())


@test
def a_set_that_could_not_be_read_is_tried_again_though_its_file_looks_the_same():
    issuer = new_issuer()
    token, other = issuer.token(), issuers.Key(new_folder(), "ES256", "next")
    issuer.publish([other])
    good = server.Server.read(issuer.file)
    issuer.publish([issuer.key])
    with serve(issuer) as found:
        equal(status_of(found, token), 200, "at first")
        issuer.write("x" * len(good))
        state = os.stat(issuer.file)
        expect(server.wait_for(lambda: b"last good one" in server.Server.read(found.log)), "nothing in the log")
        time.sleep(2.2)  # it is tried twice more
        equal(server.Server.read(found.log).count(b"last good one"), 1, "how often the log says so")
        with open(issuer.file, "r+b") as file:
            file.write(good)
        os.utime(issuer.file, ns=(state.st_atime_ns, state.st_mtime_ns))
        expect(server.wait_for(lambda: status_of(found, token) == 401), "the removed key is valid")


@test
def streams_of_tokens_end_when_a_key_is_removed():
    issuer = new_issuer()
    old, new = issuer.key, issuers.Key(new_folder(), "ES256", "next")
    fresh = issuer.token(sub="fresh", key=new)
    with serve(issuer) as found:
        session = exchange.Session(found, fields=bearer(issuer.token()))
        with session.exchange("GET") as stream:
            equal(stream.status, 200, "the stream")
            issuer.publish([old, new])
            expect(server.wait_for(lambda: status_of(found, fresh) == 200), "the new key is not known")
            expect(stream.is_silent(0), "another key has cut the stream")
            issuer.publish([new])
            try:
                stream.events()
            except TimeoutError:
                raise
            except (server.Closed, OSError):
                pass  # it is cut, not ended
        equal(session.post(exchange.message("ping")).status, 401, "the session with the old token")
        session.more = bearer(issuer.token(key=new))
        equal(session.post(exchange.message("ping")).status, 200, "the session with a token of the new key")


def forge(issuer, count):
    head, _, mark = issuer.token().split(".")
    return ["%s.%s.%s" % (head, issuers.b64(json.dumps(issuer.claims(sub="root-%d" % i)).encode()), mark) for i in range(count)]


@test
def tokens_with_invented_keys_do_not_use_up_an_address():
    issuer = new_issuer()
    with serve(issuer) as found:
        invented = [status_of(found, issuer.token(header={"kid": "invented-%d" % i})) for i in range(40)]
        equal((set(invented), status_of(found, issuer.token(sub="fresh"))), ({401}, 200), "the statuses")


@test
def known_tokens_stay_known_when_a_key_is_added():
    issuer = new_issuer()
    good, new = issuer.token(), issuers.Key(new_folder(), "ES256", "next")
    fresh, forged = issuer.token(sub="fresh", key=new), forge(issuer, 4000)
    with serve(issuer) as found:
        equal(status_of(found, good), 200, "the good one")
        issuer.publish([issuer.key, new])
        expect(server.wait_for(lambda: status_of(found, fresh) == 200), "the new key is not known")
        expect(any(status_of(found, token) == 429 for token in forged), "the address may send any number")
        equal(status_of(found, good), 200, "the good one, from an address that has used up its checks")


@test
def an_address_with_many_forged_tokens_is_not_checked_any_more():
    issuer = new_issuer("ES384")
    good = issuer.token()
    fresh = [issuer.token(sub="fresh-%d" % i) for i in range(2)]
    head, body, mark = good.split(".")
    forged = ["%s.%s.%s" % (head, issuers.b64(json.dumps(issuer.claims(sub="root-%d" % i)).encode()), mark) for i in range(400)]
    with serve(issuer) as found:
        equal(found.ask("GET", "/who", fields=bearer(good)).status, 200, "the good one")
        with found.connect(source="127.0.0.2") as connection:
            started = time.monotonic()
            answers = [connection.ask("GET", "/who", fields=bearer(token)) for token in forged]
            seconds = time.monotonic() - started
        checked = sum(answer.status == 401 for answer in answers)
        equal({answer.status for answer in answers}, {401, 429}, "the statuses")
        equal({answer.status for answer in answers[:20]}, {401}, "the first ones")
        expect(checked <= 20 + 4 * (seconds + 1), checked, "were checked in", seconds)
        refused = next(answer for answer in answers if answer.status == 429)
        expect(refused["Retry-After"] and refused.json["error"] == "rate_limited", refused)
        with found.connect(source="127.0.0.2") as connection:
            equal(connection.ask("GET", "/who", fields=bearer(good)).status, 200, "a known one from there")
        equal(found.ask("GET", "/who", fields=bearer(fresh[0])).status, 200, "a new one from another address")


# ---- Key sets that the server fetches ------------------------------------------------------------

def fetching(site, data=None, workers="2"):
    return server.Server("--workers", workers, "--oauth-issuer", site.url, "--public-url", API, program=SCOPED, data=data)


@tests_of({"RFC 8414": ("/.well-known/oauth-authorization-server",), "OpenID Connect": ("/.well-known/openid-configuration",)})
def key_sets_are_fetched_and_the_last_good_one_is_kept(where):
    issuer, data = new_issuer(), new_folder()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer, where)
        token = issuer.token()
        with fetching(site, data) as found:
            expect(server.wait_for(lambda: status_of(found, token) == 200), "the set was not fetched:", site.asked, server.Server.read(found.stderr))
            equal(site.asked.count("/jwks"), 1, "how often it was fetched")
            process, = server.named_below(found.process.pid, "mishap-issuers")
            os.kill(process, 9)
            expect(server.wait_for(lambda: server.named_below(found.process.pid, "mishap-issuers") not in ([], [process])), "no other process")
            equal(status_of(found, token), 200, "the status after that")
    with fetching(site, data) as found:  # the issuer is gone
        equal(status_of(found, issuer.token(sub="bob")), 200, "after a restart")
        expect(server.wait_for(lambda: b"could not be fetched" in server.Server.read(found.stderr)), "nothing on stderr")
        equal(found.stop().status, 0, "exit")


@test
def an_unknown_key_is_fetched_once_in_30_seconds():
    issuer = new_issuer()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer, **{"Cache-Control": "public, max-age=86400"})
        new = issuers.Key(new_folder(), "ES256", "next")
        token, forged = issuer.token(key=new), [issuer.token(header={"kid": "invented-%d" % i}) for i in range(5)]
        with fetching(site, workers="1") as found:
            expect(server.wait_for(lambda: status_of(found, issuer.token()) == 200), "the set was not fetched")
            begun = time.monotonic()
            equal([status_of(found, other) for other in forged], [401] * 5, "invented keys")
            issuer.publish([issuer.key, new])
            site.offer(issuer)
            expect(server.wait_for(lambda: (time.sleep(0.5), status_of(found, token))[1] == 200), "the new key is not known")
            expect(site.asked.count("/jwks") == 2 and time.monotonic() - begun > 20, site.asked, time.monotonic() - begun)


def invent(issuer, count):
    """Tokens with keys that no set has."""
    _, body, mark = issuer.token().split(".")
    heads = ({"alg": issuer.key.alg, "typ": "at+jwt", "kid": "invented-%d" % i} for i in range(count))
    return ["%s.%s.%s" % (issuers.b64(json.dumps(head).encode()), body, mark) for head in heads]


@test
def forged_tokens_of_ten_addresses_reach_neither_the_issuer_nor_another_caller():
    issuer = new_issuer("ES384")
    with issuers.Site() as site, contextlib.ExitStack() as closing:
        issuer.url = site.url
        site.offer(issuer, **{"Cache-Control": "public, max-age=86400"})
        good, fresh = issuer.token(), [issuer.token(sub="fresh-%d" % i) for i in range(5)]
        with fetching(site, workers="1") as found:
            expect(server.wait_for(lambda: status_of(found, good) == 200), "the set was not fetched")
            begun, before = time.monotonic(), site.asked.count("/jwks")
            hostile = [closing.enter_context(found.connect(source="127.0.0.%d" % (2 + i))) for i in range(10)]
            forged, invented, seen = iter(forge(issuer, 2500)), iter(invent(issuer, 500)), {"forged": [], "invented": []}
            for new in fresh:
                kinds = ["forged"] * 50 + ["invented"] * 10
                for connection in hostile:  # all of an address at once
                    tokens = [next(forged if kind == "forged" else invented) for kind in kinds]
                    connection.send(b"".join(server.request("GET", "/who", fields=bearer(token)) for token in tokens))
                equal([status_of(found, token) for token in (good, new)], [200, 200], "another caller, with a token that is known and a new one")
                for connection in hostile:
                    for kind in kinds:
                        seen[kind].append(connection.response("GET", "/who", checked=False).status)
            seconds = time.monotonic() - begun
            equal((set(seen["forged"]), set(seen["invented"]) <= {401, 429}), ({401, 429}, True), "the statuses")
            checked = seen["forged"].count(401)
            expect(checked <= 10 * (20 + 4 * (seconds + 1)), checked, "were checked in", seconds)
            expect(site.asked.count("/jwks") - before <= 1 + seconds / 30, site.asked, "in", seconds)


def set_file(found):
    return next((os.path.join(found.data, name) for name in os.listdir(found.data) if name.startswith("jwks") and name.endswith(".json")), None)


@test
def a_file_stays_if_the_fetched_set_is_the_same_and_only_its_time_changes():
    issuer = new_issuer()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer)
        with fetching(site, workers="1") as found:
            expect(server.wait_for(lambda: set_file(found)), "no file")
            path = set_file(found)
            equal(os.stat(path).st_mode & 0o777, 0o600, "its mode")
            os.utime(path, (time.time() - 3600, time.time() - 3600))
            before = os.stat(path)
            os.kill(server.named_below(found.process.pid, "mishap-issuers")[0], 9)  # the next process fetches at once
            expect(server.wait_for(lambda: os.stat(path).st_mtime > before.st_mtime + 3000), "it was not fetched again")
            equal(os.stat(path).st_ino, before.st_ino, "the file")


@test
def a_link_in_the_place_of_the_next_file_is_not_followed():
    issuer = new_issuer()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer)
        with fetching(site, workers="1") as found:
            expect(server.wait_for(lambda: set_file(found)), "no file")
            path, victim = set_file(found), os.path.join(new_folder(), "victim")
            for link in (os.symlink, os.link):
                with open(victim, "w", encoding="ascii") as file:
                    file.write(MARKER)
                os.remove(path)
                link(victim, path + ".new")
                os.kill(server.named_below(found.process.pid, "mishap-issuers")[0], 9)
                expect(server.wait_for(lambda: os.path.exists(path)), "no file:", server.Server.read(found.stderr))
                with open(victim, encoding="ascii") as file:
                    equal(file.read(), MARKER, "another file")


@test
def a_fetched_set_is_used_for_a_day_at_most():
    issuer = new_issuer()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer)
        token = issuer.token()
        with fetching(site, workers="1") as found:
            expect(server.wait_for(lambda: status_of(found, token) == 200), "the set was not fetched")
            path = set_file(found)
            os.utime(path, (time.time() - 23 * 3600, time.time() - 23 * 3600))
            time.sleep(1.2)
            equal(status_of(found, token), 200, "after 23 hours")
            os.utime(path, (time.time() - 25 * 3600, time.time() - 25 * 3600))
            expect(server.wait_for(lambda: status_of(found, token) == 503), "after 25 hours")
            expect(server.wait_for(lambda: b"more than a day ago" in server.Server.read(found.log)), "nothing in the log")
            os.utime(path)
            expect(server.wait_for(lambda: status_of(found, token) == 200), "when it is fresh again")


@test
def an_issuer_that_is_gone_for_an_hour_is_missed_by_no_known_caller():
    issuer, data = new_issuer(), new_folder()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer)
        token, next_token = issuer.token(), issuer.token(iat=int(time.time()) - 5)
        with fetching(site, data) as found:
            expect(server.wait_for(lambda: status_of(found, token) == 200), "the set was not fetched")
            session = exchange.Session(found, fields=bearer(token))
            site.close()
            path = set_file(found)
            hour_ago = time.time() - 3600
            os.utime(path, (hour_ago, hour_ago))
            os.kill(server.named_below(found.process.pid, "mishap-issuers")[0], 9)  # the next process finds the old set, and no issuer
            expect(server.wait_for(lambda: b"could not be fetched" in server.Server.read(found.stderr)), "nothing on stderr")
            equal([status_of(found, one) for one in (token, next_token)], [200, 200], "while the issuer is gone")
            equal(session.post(exchange.message("ping")).status, 200, "the session")
            equal(found.stop().status, 0, "exit")
    expect(abs(os.stat(path).st_mtime - hour_ago) < 1, "the time of the set has changed")
    with fetching(site, data) as found:
        session.server = found
        for one in (token, next_token, issuer.token(sub="bob")):
            equal(status_of(found, one), 200, "after a restart, from the first request on")
        equal(session.post(exchange.call("who", {})).json["result"]["structuredContent"], {"caller": "oauth:alice"}, "the session after a restart")


def pages_of(site, **metadata):
    return (200, {}, json.dumps({"issuer": site.url, "jwks_uri": site.url + "/jwks", **metadata}).encode())


WELL_KNOWN = "/.well-known/oauth-authorization-server"
WRONG = {
    "no metadata": lambda site: site.pages.pop(WELL_KNOWN),
    "another issuer": lambda site: site.pages.update({WELL_KNOWN: pages_of(site, issuer="https://evil.example")}),
    "not https": lambda site: site.pages.update({WELL_KNOWN: pages_of(site, jwks_uri="http://keys.example/jwks")}),
    "a file": lambda site: site.pages.update({WELL_KNOWN: pages_of(site, jwks_uri="file:///etc/passwd")}),
    "no address": lambda site: site.pages.update({WELL_KNOWN: pages_of(site, jwks_uri=7)}),
    "HTML": lambda site: site.pages.update({WELL_KNOWN: (200, {}, b"<html>" + MARKER.encode())}),
    "a redirect": lambda site: site.pages.update({"/other": site.pages["/jwks"], "/jwks": (302, {"Location": "/other"}, b"")}),
    "an error": lambda site: site.pages.update({"/jwks": (500, {}, site.pages["/jwks"][2])}),
    "a large set": lambda site: site.pages.update({"/jwks": (200, {}, site.pages["/jwks"][2].rstrip(b"}") + b"," + b" " * (256 * 1024) + b'"a":1}')}),
    "no usable key": lambda site: site.pages.update({"/jwks": (200, {}, NO_USABLE_KEY.encode())}),
    "silent": lambda site: site.pages.update({WELL_KNOWN: issuers.SILENT}),
    "less than it says": lambda site: site.pages.update({"/jwks": (200, {"Content-Length": "9999"}, b'{"keys":')}),
}


@tests_of({name: (change,) for name, change in WRONG.items()})
def what_is_no_key_set_is_not_used(change):
    issuer = new_issuer()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer)
        change(site)
        with fetching(site, workers="1") as found:
            expect(server.wait_for(lambda: b"could not be fetched" in server.Server.read(found.stderr)), "nothing on stderr")
            answer = found.ask("GET", "/who", fields=bearer(issuer.token()))
            equal((answer.status, answer["Retry-After"]), (503, "1"), "the status")
            expect(MARKER.encode() not in answer.body + server.Server.read(found.stderr), "what the issuer sent is shown")
            equal([name for name in os.listdir(found.data) if name.startswith("jwks")], [], "a file was written")


@test
def a_silent_issuer_keeps_no_request_waiting_and_is_left_after_five_seconds():
    issuer, data = new_issuer(), new_folder()
    with issuers.Site() as site:
        issuer.url = site.url
        site.offer(issuer)
        token, unknown = issuer.token(), invent(issuer, 1)[0]
        with fetching(site, data) as found:
            expect(server.wait_for(lambda: status_of(found, token) == 200), "the set was not fetched")
            equal(found.stop().status, 0, "exit")
        site.pages["/jwks"] = issuers.SILENT
        before = site.asked.count("/jwks")
        with fetching(site, data, workers="1") as found:
            for number in range(20):  # on a busy machine five seconds may pass before the answers come
                expect(server.wait_for(lambda number=number: site.asked.count("/jwks") > before + number), "the issuer is not asked")
                begun = time.monotonic()
                answers = [status_of(found, one) for one in (token, issuer.token(sub="bob"), unknown)] + [found.ask("GET", "/health").status]
                if site.waiting:
                    break
                os.kill(server.named_below(found.process.pid, "mishap-issuers")[0], 9)  # the next one asks at once
            equal((answers, site.waiting), ([200, 200, 401, 200], 1), "while the process waits for the issuer")
            expect(server.wait_for(lambda: b"could not be fetched" in server.Server.read(found.stderr)), "it waits for ever")
            expect(number or time.monotonic() - begun > 4, "it was left after", time.monotonic() - begun)
            equal((status_of(found, token), site.waiting), (200, 0), "after that")


# ---- Starting ------------------------------------------------------------------------------------

def refused(*flags):
    done = run_program(SCOPED, "serve", "--listen", "127.0.0.1:0", "--data", new_folder(), "--output", "json", *flags)
    expect(done.status != 0, "it was started")
    return parsed(done.out)["error"]


@test
def what_is_missing_or_wrong_is_said_at_the_start():
    issuer = new_issuer()
    url, file = ["--oauth-issuer", LOGIN], ["--oauth-jwks", issuer.file]
    public = ["--public-url", API]
    bad = os.path.join(new_folder(), "bad.json")
    with open(bad, "w", encoding="ascii") as out:
        out.write('{"keys":[{"kty":"oct","kid":"a","k":"%s"}]}' % MARKER)
    for flags, code, words in [
            ([*url, *file], "NOT_CONFIGURED", "public URL"), (["--oauth-issuer", "a=" + LOGIN, "--oauth-issuer", "b=https://b.example", *file, *public], "NOT_CONFIGURED", "Either each issuer"),
            ([*file, *public], "NOT_CONFIGURED", "need an issuer"), (["--oauth-operator", "oauth", *public], "NOT_CONFIGURED", "need an issuer"),
            ([*url, *file, *public, "--oauth-operator", "other"], "NOT_CONFIGURED", "names no issuer"),
            ([*url, *file, "--oauth-issuer", "https://b.example", *file, *public], "NOT_CONFIGURED", "need names"),
            (["--oauth-issuer", "a=" + LOGIN, *file, "--oauth-issuer", "a=https://b.example", *file, *public], "NOT_CONFIGURED", "same name"),
            (["--oauth-issuer", "a=" + LOGIN, *file, "--oauth-issuer", "b=" + LOGIN, *file, *public], "NOT_CONFIGURED", "same URL"),
            (["--oauth-issuer", "http://login.example.com", *file, *public], "NOT_CONFIGURED", "https://"),
            (["--oauth-issuer", "http://localhost.evil.example", *file, *public], "NOT_CONFIGURED", "https://"),
            ([*url, "--oauth-jwks", "/does/not/exist", *public], "INPUT_UNREADABLE", "key set"),
            ([*url, "--oauth-jwks", "/tmp", *public], "INPUT_UNREADABLE", "key set"), ([*url, "--oauth-jwks", bad, *public], "NOT_CONFIGURED", "no key that can be used")]:
        error = refused(*flags)
        equal(error["code"], code, " ".join(flags))
        expect(words in error["message"] and MARKER not in json.dumps(error), error)
    expect(refused("--oauth-issuer", "login.example.com", *file, *public)["code"] in ("VALIDATION_ERROR", "ARG_ERROR"), "a URL without a scheme")
    for bad in ('https://a"b.example', "https://a.example/b\\c", 'https://a.example"', "https://a.example\\"):
        expect(refused(*url, *file, "--public-url", bad)["code"] in ("VALIDATION_ERROR", "ARG_ERROR"), bad)


@test
def the_shared_server_ends_in_order():
    found, _ = shared()
    equal(found.stop().status, 0, "exit")


main()
