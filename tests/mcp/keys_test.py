"""API keys that are removed while the server runs, and sessions that outlast it.

    MISHAP_PROGRAM=… CONFORMANCE_PROGRAM=… BYTES_PROGRAM=… python3 tests/mcp/keys_test.py [PART-OF-A-NAME]

The server is tests/mcp/conformance.c; for streams of HTTP without MCP it is tests/http/bytes.c.
"""
import base64
import os
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "http"))
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of  # noqa: E402
from exchange import OLDER, Exchange, Session, call, message, repeated, stateless  # noqa: E402
from node import node  # noqa: E402
from server import NODE_MODULES, Server, wait_for  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(os.environ["CONFORMANCE_PROGRAM"])
BYTES = os.path.abspath(os.environ["BYTES_PROGRAM"])
server.PROGRAM = PROGRAM


def keys(data, command, *flags):
    done = run_program(PROGRAM, "keys", command, *flags, "--data", data, "--output", "json")
    equal(done.status, 0, "exit of `keys %s`" % command)
    return parsed(done.out)


def add_key(data, name):
    """The header fields of a caller with a new key."""
    key = keys(data, "add", "--name", name)["data"]["key"]
    server.secrets.add(key)
    return {"Authorization": "Bearer " + key}


def remove_key(data, name):
    keys(data, "remove", "--name", name)
    return time.monotonic()


def new_folder():
    new_folder.count += 1
    data = os.path.join(server.FOLDER, "keyed-%d" % new_folder.count)
    os.mkdir(data)
    return data


new_folder.count = 0


def status(session, body=None, method="POST", **fields):
    with session.exchange(method, body if method != "POST" else body or message("ping"), **fields) as found:
        return found.status


def standing(session):
    return session.exchange("GET", Accept="text/event-stream")


def expect_end(connection, since, what):
    """A stream that has no end of its own ends or breaks off. Two seconds are promised; the machine may be busy."""
    while connection.more():
        expect(time.monotonic() - since < server.PATIENCE, what, "goes on")


def expect_change(session, stream):
    """A stream of a session is told of a change."""
    equal(session.post(call("test_trigger_tool_change")).status, 200, "a change")
    equal(stream.event().json["method"], "notifications/tools/list_changed", "the event")


# ---- A key that is removed -----------------------------------------------------------------------

@test
def a_removed_key_ends_its_streams_and_its_sessions_and_no_others():
    data = new_folder()
    one, other = add_key(data, "one"), add_key(data, "other")
    mark = os.path.join(data, "mark")
    with Server("--workers", "2", "--require-key", data=data) as found:
        session, stranger = Session(found, fields=one), Session(found, fields=other)
        said = stateless("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        with standing(session) as get, standing(stranger) as lives, \
                Exchange(found, "POST", said, {**repeated(said), **one}) as listens, \
                session.exchange("POST", call("steps", {"steps": 1000, "mark": mark}, id=5, token=0)) as post:
            equal([get.streams, lives.streams, listens.streams, post.streams], [True] * 4, "they stream")
            listens.event(), post.event()
            since = remove_key(data, "one")
            for what, stream in [("GET", get), ("listen", listens), ("POST", post)]:
                expect_end(stream.connection, since, what)
            expect(wait_for(lambda: os.path.exists(mark)), "the call was not cancelled")
            # The other loop may not know yet, and takes the key until then.
            expect(wait_for(lambda: {status(session) for _ in range(12)} == {401}), "the session")
            equal(status(session, method="DELETE"), 401, "its end")
            expect_change(stranger, lives)


@test
def a_new_key_of_the_same_name_inherits_nothing():
    data = new_folder()
    old = add_key(data, "one")
    with Server("--workers", "1", "--require-key", data=data) as found:
        session = Session(found, fields=old)
        equal(session.post(message("resources/subscribe", {"uri": "test://watched-resource"})).json["result"], {}, "subscribe")
        with session.exchange("POST", call("steps", {"steps": 2}, id=5, token=0)) as stream:
            last = stream.events()[0].id
        with standing(session) as open_stream:
            since = remove_key(data, "one")
            session.more = add_key(data, "one")  # at once: no loop may have seen the file in between
            expect_end(open_stream.connection, since, "the stream")
        expect(wait_for(lambda: status(session) != 401), "the new key is not known")
        equal([status(session), status(session, method="GET", Accept="text/event-stream"),
               status(session, method="GET", Accept="text/event-stream", **{"Last-Event-ID": last}),
               status(session, method="DELETE")], [404] * 4, "the session of the old key")
        fresh = Session(found, fields=session.more)
        equal(fresh.process()["caller"], "one", "the name")
        with standing(fresh) as stream:
            equal(fresh.post(call("touch", {"uri": "test://watched-resource"})).json["result"].get("isError"), None, "a touch")
            expect(stream.is_silent(0.5), "it is told of what the other has subscribed to")


@test
def streams_of_http_end_with_their_key():
    data = new_folder()
    one, other = add_key(data, "one"), add_key(data, "other")
    access = os.path.join(data, "access")
    with Server("--workers", "1", "--require-key", "--access-log", access, data=data, program=BYTES) as found:
        def open_stream(target, fields):
            connection = found.connect()
            connection.send(server.request("GET", target, fields=fields))
            equal(server.parse_head(connection.take_head())[0], 200, target)
            return connection
        tail, lives = open_stream("/board", one), open_stream("/board", other)
        ticks = open_stream("/tick?count=1000000&ms=20", one)
        slow = found.connect().send(server.request("GET", "/slow?ms=8000", fields=one))
        expect(wait_for(lambda: b"mishap_http_requests_in_flight 2" in found.ask("GET", "/metrics", fields=other).body), "no calls")
        since = remove_key(data, "one")
        for what, connection in [("the tail", tail), ("the answer", ticks)]:
            expect_end(connection, since, what)
            expect(not connection.received.endswith(b"0\r\n\r\n"), what, "looks whole")
        equal(slow.response("GET", "/slow").status, 200, "an answer that is no stream")
        equal(found.ask("POST", "/board", {"line": "still here"}, fields=other).status, 200, "a line")
        while b"data: still here\n" not in lives.received:
            expect(lives.more(), "the stream of another key has ended")
        equal(found.ask("GET", "/slow", fields=one).status, 401, "the next call")

        def lines():
            return [line for line in map(parsed, found.whole_lines(access)) if line["path"] in ("/board", "/tick")]
        expect(wait_for(lambda: len(lines()) == 3), "not logged:", lines())
        equal(sorted((line["path"], line["caller"], line.get("code")) for line in lines()),
              [("/board", "one", "UNAUTHORIZED"), ("/board", "other", None), ("/tick", "one", "UNAUTHORIZED")], "the access log")
        for connection in [tail, lives, ticks, slow]:
            connection.close()


# ---- Without a key -------------------------------------------------------------------------------

WELL_KNOWN = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
              "/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp",
              "/.well-known/openid-configuration", "/.well-known/openid-configuration/mcp",
              "/mcp/.well-known/openid-configuration"]


def keyed():
    if not keyed.data:
        keyed.data = new_folder()
        keyed.fields = add_key(keyed.data, "one")
    return server.server("keyed", "--workers", "1", "--require-key", data=keyed.data)


keyed.data = None


@tests_of({path: (path,) for path in WELL_KNOWN})
def who_looks_for_oauth_without_a_key_finds_none(path):
    unknown = keyed().ask("GET", "/no/such", fields=keyed.fields)
    found = keyed().ask("GET", path)
    equal((found.status, found["Content-Type"], found.body), (404, unknown["Content-Type"], unknown.body), "the answer")
    equal(keyed().ask("HEAD", path).status, 404, "HEAD")
    equal(keyed().ask("GET", path, fields={"X-Api-Key": "mk_wrong"}).status, 404, "with a key that is none")


@tests_of({path: (path,) for path in ["/no/such", "/well-known/oauth-protected-resource", "/.well-known", "/mcp"]})
def any_other_path_still_needs_one(path):
    equal(keyed().ask("GET", path).status, 401, "the status")


# ---- Who may read the file -----------------------------------------------------------------------

@test
def a_file_of_keys_that_others_may_read_is_warned_of():
    data = new_folder()
    add_key(data, "one")
    file = os.path.join(data, "keys")
    equal(stat.S_IMODE(os.stat(file).st_mode), 0o600, "the mode")
    equal(keys(data, "list")["warnings"], [], "warnings")
    with Server("--workers", "1", data=data) as found:
        expect(b"chmod" not in found.read(found.stderr), "a warning of what is right")
    os.chmod(file, 0o644)
    for command, flags in [("list", ()), ("add", ("--name", "two")), ("remove", ("--name", "two"))]:
        warnings = keys(data, command, *flags)["warnings"]
        expect(len(warnings) == 1 and "chmod 600 " + file in warnings[0], command, warnings)
    with Server("--workers", "2", data=data) as found:
        warning = b"conformance: Other users can read or change the file of API keys. Run `chmod 600 %s`.\n" % file.encode()
        equal(found.read(found.stderr).count(warning), 1, "warnings of the server")


# ---- Sessions after a restart --------------------------------------------------------------------

def restarted(found):
    """Another server with the same data at the same address."""
    equal(found.stop().status, 0, "the exit")
    return Server("--workers", "2", data=found.data, listen="%s:%d" % found.address)


@test
def a_session_outlasts_the_server():
    found = Server("--workers", "2")
    sessions = [Session(found, revision) for revision in OLDER]
    watched = {"uri": "test://watched-resource"}
    equal(sessions[-1].post(message("resources/subscribe", watched)).json["result"], {}, "subscribe")
    with restarted(found) as found:
        for session in sessions:
            session.server = found
            answer = session.post(call("echo", {"text": "again"})).json["result"]["content"][0]["text"]
            equal(parsed(answer.encode()), {"text": "again"}, session.revision)
            equal(session.post([message("ping")]).status, 200 if session.revision in ("2024-11-05", "2025-03-26") else 400, "a batch, by its revision")
            with standing(session) as stream:
                if session == sessions[-1]:
                    equal(session.post(call("touch", watched)).json["result"].get("isError"), None, "a touch")
                    expect(stream.is_silent(0.5), "a subscription that is gone")
                expect_change(session, stream)
            equal(status(session, method="DELETE"), 204, "its end")


@test
def a_stream_of_before_is_not_resumed():
    session = Session(Server("--workers", "1"))
    with session.exchange("POST", call("steps", {"steps": 2}, id=5, token=0)) as stream:
        last = stream.events()[0].id
    session.server = restarted(session.server)
    with session.server:
        with session.exchange("POST", call("steps", {"steps": 2}, id=5, token=0)) as stream:
            stream.events()  # there is a first stream again, and it has another number
        equal(status(session, method="GET", Accept="text/event-stream", **{"Last-Event-ID": last}), 400, "resuming")


@test
def a_session_that_was_ended_stays_so():
    found = Server("--workers", "2")
    ended, lives = Session(found), Session(found)
    equal(status(ended, method="DELETE"), 204, "DELETE")
    for _ in range(4):  # through either loop
        equal((status(ended), status(lives)), (404, 200), "at once")
    for _ in range(2):
        ended.server = lives.server = restarted(lives.server)
        equal((status(ended), status(lives)), (404, 200), "after a restart")
    lives.server.kill()


def altered(id, at):
    return id[:at] + ("A" if id[at] != "A" else "B") + id[at + 1:]


@test
def an_id_that_was_never_given_out_is_none():
    session = Session(Server("--workers", "1"))
    id = session.id
    with restarted(session.server) as found:
        session.server = found
        for forged in [altered(id, at) for at in [0, 21, 22, len(id) - 1]] + [id[:-1], id + "A", id.swapcase(), id[22:] + id[:22]]:
            session.id = forged
            equal(status(session), 404, forged)
        session.id = id
        equal(status(session), 200, "the one that was")
    with Server("--workers", "1") as another:
        session.server = another
        equal(status(session), 404, "a server with another secret")


@test
def a_session_of_before_belongs_to_its_key():
    data = new_folder()
    one, other = add_key(data, "one"), add_key(data, "other")
    found = Server("--workers", "1", data=data)
    session, free, gone = Session(found, fields=one), Session(found), Session(found, fields=other)
    equal(found.stop().status, 0, "the exit")
    remove_key(data, "other")
    again = add_key(data, "other")
    with Server("--workers", "1", data=data) as found:
        session.server = free.server = gone.server = found
        equal(status(session, Authorization=again["Authorization"]), 404, "another caller")
        equal(status(session, Authorization=None), 404, "nobody")
        equal(status(free, **one), 404, "one that is nobody's")
        equal((status(session), status(free)), (200, 200), "their own")
        equal(status(gone), 401, "a key that was removed")
        equal(status(gone, **again), 404, "another key of its name")


def secret_of(data):
    """What is in the file, with all spellings of it among what no answer may have."""
    with open(os.path.join(data, "mcp-sessions"), "rb") as file:
        secret = file.read(32)
    server.secrets.update([secret.hex(), base64.b64encode(secret).decode()[:42], base64.urlsafe_b64encode(secret).decode()[:42]])
    return secret


@test
def the_secret_is_for_one_user_alone_and_stays():
    with Server("--workers", "1") as found:
        file = os.path.join(found.data, "mcp-sessions")
        secret = secret_of(found.data)
        equal((stat.S_IMODE(os.stat(file).st_mode), len(secret)), (0o600, 32), "mode and length")
        equal(status(Session(found), method="DELETE"), 204, "a session that ends")
        equal([name for name in os.listdir(found.data) if name.startswith(".mcp")], [], "what was left over")
    with Server("--workers", "1", data=found.data) as again:
        equal(secret_of(again.data), secret, "the secret")
        for path in [again.stderr, again.stdout, again.log, found.stderr, found.log]:
            expect(secret not in again.read(path) and secret.hex().encode() not in again.read(path), "told in", path)


@tests_of({"nothing": (b"",), "half of it": (b"x" * 31,)})
def a_file_without_a_secret_is_made_anew(content):
    data = new_folder()
    with open(os.path.join(data, "mcp-sessions"), "wb") as file:
        file.write(content)
    with Server("--workers", "1", data=data) as found:
        expect(len(secret_of(data)) == 32 and content not in (secret_of(data), b"x"), "no secret")
        equal(status(Session(found)), 200, "a session")


@test
def without_the_file_sessions_end_with_the_server():
    data = new_folder()
    os.mkdir(os.path.join(data, "mcp-sessions"))
    found = Server("--workers", "1", data=data)
    equal(found.read(found.stderr).count(b"conformance: MCP sessions will not survive a restart of the server."), 1, "the remark")
    session = Session(found)
    session.server = restarted(found)
    with session.server:
        equal(status(session), 404, "the session")


@test
def the_official_client_goes_on_after_a_restart():
    if not os.path.isdir(os.path.join(NODE_MODULES, "@modelcontextprotocol", "sdk")):
        raise Skipped("there is no @modelcontextprotocol/sdk in %s" % NODE_MODULES)
    found = Server("--workers", "2")
    client = subprocess.Popen([node(), os.path.join(HERE, "clients_restart.mjs"), NODE_MODULES,
                               found.url + "/mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        equal(client.stdout.readline(), b"ready\n", "the client")
        with restarted(found):
            out, _ = client.communicate(b"go on\n", timeout=server.PATIENCE)
    finally:
        client.kill()
        client.wait()
    equal((client.returncode, out), (0, b"all is well\n"), "the client after the restart")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
