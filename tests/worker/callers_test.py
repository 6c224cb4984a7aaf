"""Who calls: by an API key, or, only where there are no keys, by the caller's own word.

    MISHAP_PROGRAM=… SETTLED_PROGRAM=… python3 tests/worker/callers_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mcp"))
import server  # noqa: E402
import talk  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from server import MARKER, PATIENCE, Server  # noqa: E402

SETTLED = os.path.abspath(os.environ["SETTLED_PROGRAM"])


def who(found, target="/entries/who", **fields):
    return found.ask("GET", target, fields={name.replace("_", "-"): value for name, value in fields.items()}, checked=False)


def folder_of(name):
    folder = os.path.join(server.FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    return folder


def add_key(folder, name):
    ran = run_program(SETTLED, "keys", "add", "--name", name, "--data", folder, "--output", "json")
    equal(ran.status, 0, "exit of `keys add`")
    return parsed(ran.out)["data"]["key"]


BAD_NAMES = ["Alice", "a b", "-a", ".a", "a" * 64, "a/b", "a:b", "\xe4", "a,b", MARKER.lower() + "!", ""]


@test
def without_any_key_a_caller_on_this_machine_names_itself():
    with Server("--workers", "1", program=SETTLED) as found:
        equal(who(found).json, {"caller": None, "free": True}, "without a name")
        equal(who(found, X_Caller="alice").json, {"caller": "alice", "free": True}, "with a name")
        equal(who(found, X_Caller="a" * 63).json["caller"], "a" * 63, "the longest name")
        equal(found.ask("POST", "/entries", {"key": 1}, fields={"X-Caller": "bob"}).json["caller"], "bob", "in a body's request")
        equal(who(found, "/plain/who", X_Caller="alice").json, {"caller": None, "free": False}, "an operation that does not ask")


@test
def a_name_is_checked_and_never_repeated():
    with Server("--workers", "1", program=SETTLED) as found:
        for name in BAD_NAMES:
            refused = who(found, X_Caller=name)
            equal(refused.status, 400, "the status of %r" % name)
            expect(not name.strip() or len(name) < 4 or name not in refused.body.decode(), "it is repeated:", refused)
        with found.connect() as one:
            one.send(b"GET /entries/who HTTP/1.1\r\nHost: localhost\r\nX-Caller: alice\r\nX-Caller: bob\r\n\r\n")
            equal(one.response("GET", "/entries/who", checked=False).status, 400, "two names")


@test
def behind_a_proxy_nobody_names_itself():
    with Server("--workers", "1", program=SETTLED) as found:
        for address in ("192.0.2.7", "127.0.0.1, 192.0.2.7", "::ffff:192.0.2.7", "unknown", "192.0.2.7, unix:", "127.0.0.1", ""):
            refused = who(found, X_Caller="alice", X_Forwarded_For=address)
            equal((refused.status, refused.json["success"]), (401, False), "from " + address)
        equal(who(found, X_Forwarded_For="192.0.2.7").json, {"caller": None, "free": False}, "without a name")


SIGNS = ["Forwarded", "Via", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "CF-Ray", "X-Client-IP", "Client-IP", "Fastly-Client-IP",
         "X-Cluster-Client-IP", "X-Envoy-External-Address", "X-Envoy-Peer-Metadata", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded",
         "x-forwarded-prefix", "X-Original-Forwarded-For", "X-Original-URI", "X-Amzn-Trace-Id", "X-Amz-Cf-Id", "CloudFront-Viewer-Address",
         "X-Azure-ClientIP", "X-ARR-LOG-ID", "X-Appengine-User-IP", "X-Varnish", "WL-Proxy-Client-IP", "Proxy-Client-IP", "Proxy-Connection",
         "X-ProxyUser-Ip", "X-Remote-Addr", "Remote-User", "X-Auth-Request-User", "CDN-Loop", "Surrogate-Capability", "Akamai-Origin-Hop",
         "Incap-Client-IP", "X-Sucuri-ClientIP", "Fly-Client-IP", "X-Vercel-Forwarded-For", "X-Kong-Request-Id", "X-Nginx-Proxy", "X-Scheme",
         "Front-End-Https", "X-Request-Start", "VIA", "fORWARDED"]
NO_SIGNS = ["X-Request-Id", "Viable", "X-Foo", "Accept-Language", "Cache-Control", "Cookie", "X", "X-", "Forward", "X-Requested-With", "Sec-Fetch-Site",
            "Traceparent", "1", "_", "Clients", "Vi", "X-Schemes", "X-Hos"]


@test
def every_sign_of_a_proxy_ends_the_right_to_name_oneself():
    with Server("--workers", "1", program=SETTLED) as found:
        for name in SIGNS:
            for value in ("192.0.2.7", ""):
                refused = found.ask("GET", "/entries/who", fields={"X-Caller": "alice", name: value}, checked=False)
                equal((refused.status, refused.json["success"]), (401, False), "with %s: %s" % (name, value))
            equal(found.ask("GET", "/entries/who", fields={name: "1"}, checked=False).json["free"], False, "free with " + name)
        for name in NO_SIGNS:
            equal(found.ask("GET", "/entries/who", fields={"X-Caller": "alice", name: "1"}, checked=False).json,
                  {"caller": "alice", "free": True}, "with " + name)
        with found.connect() as one:  # one after the other on a connection: a sign is of its own request
            for sign, status in ((b"", 200), (b"Via: 1.1 p\r\n", 401), (b"", 200)):
                one.send(b"GET /entries/who HTTP/1.1\r\nHost: localhost\r\n" + sign + b"X-Caller: alice\r\n\r\n")
                equal(one.response("GET", "/entries/who", checked=False).status, status, "the status with %r" % sign)
        with found.connect() as one:  # as nginx passes requests on if nothing else is said
            one.send(b"GET /entries/who HTTP/1.0\r\nHost: localhost\r\nX-Caller: alice\r\nConnection: close\r\n\r\n")
            equal(one.response("GET", "/entries/who", checked=False).status, 401, "the status of HTTP/1.0")


@test
def a_page_of_another_origin_may_not_send_a_name():
    with Server("--workers", "1", "--cors", "http://page.example", program=SETTLED) as found:
        asked = found.ask("OPTIONS", "/entries/who", fields={"Origin": "http://page.example", "Access-Control-Request-Method": "GET",
                                                             "Access-Control-Request-Headers": "x-caller"})
        expect("x-caller" not in (asked["Access-Control-Allow-Headers"] or "").lower(), "a page may send it:", asked)


@test
def where_there_is_a_key_callers_are_who_their_keys_say():
    folder = folder_of("keyed")
    alice, bob = add_key(folder, "alice"), add_key(folder, "bob")
    for flags in ((), ("--require-key",)):
        with Server("--workers", "1", *flags, program=SETTLED, data=folder) as found:
            equal(who(found, X_Api_Key=alice).json, {"caller": "alice", "free": False}, "by a key")
            equal(who(found, X_Api_Key=alice, X_Caller="alice").json["caller"], "alice", "by a key and its name")
            for refused, status in ((who(found, X_Api_Key=alice, X_Caller="bob"), 403), (who(found, X_Caller="alice"), 401),
                                    (who(found, Authorization="Bearer " + bob, X_Caller="alice"), 403)):
                equal(refused.status, status, "another's name")
                expect(alice not in str(refused) and bob not in str(refused), "a key is told:", refused)
            if not flags:
                equal(who(found).json, {"caller": None, "free": False}, "nobody in particular")


@test
def from_the_moment_that_there_is_a_key_nobody_names_itself():
    folder = folder_of("later")
    with Server("--workers", "1", program=SETTLED, data=folder) as found:
        equal(who(found, X_Caller="alice").status, 200, "before")
        add_key(folder, "bob")
        deadline = time.monotonic() + PATIENCE
        while who(found, X_Caller="alice").status == 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        equal(who(found, X_Caller="alice").status, 401, "afterwards")


def soon(found, status):
    """A loop looks at the file once a second."""
    deadline = time.monotonic() + PATIENCE
    while who(found, X_Caller="alice").status != status and time.monotonic() < deadline:
        time.sleep(0.05)
    equal(who(found, X_Caller="alice").status, status, "the status of a caller that names itself")


@test
def keys_that_are_gone_do_not_open_the_server():
    def remove_last(folder):
        ran = run_program(SETTLED, "keys", "remove", "--name", "bob", "--data", folder, "--output", "json")
        expect(ran.status == 0 and "keys disable" in str(parsed(ran.out)["warnings"]), "nothing is said of it:", ran)

    def empty(folder):
        with open(os.path.join(folder, "keys"), "w"):
            pass

    def unlink(folder):
        os.unlink(os.path.join(folder, "keys"))

    for number, lose in enumerate((remove_last, empty, unlink)):
        folder = folder_of("gone-%d" % number)
        with Server("--workers", "1", program=SETTLED, data=folder) as found:
            equal(who(found, X_Caller="alice").status, 200, "before there is a key")
            key = add_key(folder, "bob")
            soon(found, 401)
            lose(folder)
            deadline = time.monotonic() + PATIENCE
            while who(found, X_Api_Key=key).status != 401 and time.monotonic() < deadline:
                time.sleep(0.05)  # until it is known
            refused = who(found, X_Caller="alice")
            equal((refused.status, refused.json["code"]), (401, "not_authorized"), "a caller that names itself")
            expect("keys" not in json.dumps(refused.json).lower().replace("api keys", ""), "the inside is told:", refused)
            equal(who(found).json, {"caller": None, "free": False}, "nobody in particular")
        with Server("--workers", "1", program=SETTLED, data=folder) as found:
            equal(who(found, X_Caller="alice").status, 401, "after a restart")
            expect(b"keys disable" in found.read(found.stderr), "the operator is not told:", found.read(found.stderr))
            ran = command(folder, "entries", "who", "--caller", "alice")
            equal((ran.status, "keys disable" in parsed(ran.out)["error"]["suggestion"]), (2, True), "a command")
            equal(parsed(command(folder, "entries", "who").out)["data"], {"caller": None, "free": False}, "a command without a name")
            equal(run_program(SETTLED, "keys", "disable", "--data", folder, "--output", "json").status, 0, "exit of `keys disable`")
            soon(found, 200)
        with Server("--workers", "1", program=SETTLED, data=folder) as found:
            equal(who(found, X_Caller="alice").status, 200, "after a restart, as the operator said")
            add_key(folder, "carol")
            soon(found, 401)
            equal(run_program(SETTLED, "keys", "disable", "--data", folder, "--output", "json").status, 6, "exit while there is a key")


@test
def over_mcp_the_same_holds():
    def call(found, **fields):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "entries_who", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}}}
        fields = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "entries_who",
                  "Accept": "application/json, text/event-stream", **{name.replace("_", "-"): value for name, value in fields.items()}}
        return found.ask("POST", "/mcp", body, fields=fields, checked=False)

    with Server("--workers", "1", program=SETTLED) as found:
        equal(call(found, X_Caller="alice").json["result"]["structuredContent"], {"caller": "alice", "free": True}, "the caller")
        equal(call(found).json["result"]["structuredContent"], {"caller": None, "free": True}, "nobody")
        equal(call(found, X_Caller="A").status, 400, "no name")
    folder = folder_of("keyed-mcp")
    key = add_key(folder, "bob")
    with Server("--workers", "1", program=SETTLED, data=folder) as found:
        equal(call(found, X_Api_Key=key).json["result"]["structuredContent"], {"caller": "bob", "free": False}, "by a key")
        equal((call(found, X_Caller="alice").status, call(found, X_Api_Key=key, X_Caller="alice").status), (401, 403), "another's name")


def command(folder, *words):
    return run_program(SETTLED, *words, "--output", "json", env={"SETTLED_DATA": folder, "SETTLED_LOG": ""})


@test
def a_command_names_its_caller_while_there_is_no_key():
    folder = folder_of("command")
    equal(parsed(command(folder, "entries", "who", "--caller", "alice").out)["data"], {"caller": "alice", "free": True}, "the caller")
    equal(parsed(command(folder, "entries", "who").out)["data"], {"caller": None, "free": True}, "nobody")
    for name in BAD_NAMES:
        ran = command(folder, "entries", "who", "--caller=" + name)
        equal(ran.status, 2, "exit with %r" % name)
    ran = command(folder, "plain", "who", "--caller", "alice")
    equal((ran.status, parsed(ran.out)["error"]["code"]), (2, "ARG_ERROR"), "a command that does not ask")
    with open(os.path.join(folder, "keys"), "w") as file:
        file.write("# nothing but a comment " + "x" * 600 + " disabled\n\n")
    equal(command(folder, "entries", "who", "--caller", "alice").status, 2, "with a file without keys")
    with open(os.path.join(folder, "keys"), "a") as file:
        file.write("disabled\n")
    equal(command(folder, "entries", "who", "--caller", "alice").status, 0, "with a file that says so")
    add_key(folder, "bob")
    ran = command(folder, "entries", "who", "--caller", "alice")
    equal((ran.status, "API keys exist" in parsed(ran.out)["error"]["message"]), (2, True), "with a key")
    equal(parsed(command(folder, "entries", "who").out)["data"], {"caller": None, "free": False}, "with a key, and no name")


@test
def mcp_over_standard_input_names_its_caller_while_there_is_no_key():
    def told(folder, *flags):
        with talk.Server("--data", folder, *flags, program=SETTLED, revision="2025-11-25", env={"SETTLED_LOG": ""}) as agent:
            return [agent.call(tool)["structuredContent"] for tool in ("entries_who", "plain_who")]

    def refused(folder, *flags):
        done = subprocess.run([SETTLED, "mcp", "--data", folder, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PATIENCE, check=False, env=dict(os.environ, SETTLED_LOG=""))
        return done.returncode, done.stdout

    folder = folder_of("stdio")
    nothing = {"caller": None, "free": False}
    for flags, caller in ((("--caller", "alice"), "alice"), ((), None)):
        equal(told(folder, *flags), [{"caller": caller, "free": True}, nothing], "the caller, for an operation that asks and one that does not")
    equal(refused(folder, "--caller", "A b")[0], 2, "no name")
    add_key(folder, "bob")
    status, said = refused(folder, "--caller", "alice")
    expect(status == 2 and b"API keys exist" in said, "with a key:", status, said)
    equal(told(folder), [nothing, nothing], "with a key, and no name")


main()
