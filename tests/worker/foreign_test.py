"""Foreign programs as workers and their sessions, over HTTP, MCP and the command line.

    ABROAD_PROGRAM=… FOREIGN_PROGRAM=… MISHAP_PROGRAM=… python3 tests/worker/foreign_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ["http", "mcp", "cli"]:
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import server  # noqa: E402
from blackbox import equal, expect, main, parsed, run_program, test  # noqa: E402
from exchange import Exchange, Session, call, repeated, stateless  # noqa: E402
from server import Server, wait_for  # noqa: E402

ABROAD = os.path.abspath(os.environ["ABROAD_PROGRAM"])
SECRET = "secret-of-the-operator"


def start(*flags, **variables):
    return Server(*flags, program=ABROAD, **variables)


def post(found, path, body=None, fields=(), status=200):
    """The response to a POST, which has nothing in it that is the operator's."""
    for _ in range(3):  # where the machine stands still for ten seconds, the server is busy
        response = found.ask("POST", path, body or {}, fields=fields)
        if response.status != 503 or status == 503:
            break
    equal(response.status, status, "%s %s %s: %s" % (path, body, fields, response.body))
    expect(SECRET.encode() not in response.body, "what is the operator's:", response.body)
    return response


def in_session(response):
    return [("Mishap-Session", response["Mishap-Session"])]


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# ---- HTTP ----------------------------------------------------------------------------------------

@test
def a_call_over_http_is_answered_as_json_or_as_text():
    with start() as found:
        equal(post(found, "/pool/echo", {"text": "ä\n"}).json["echo"], {"text": "ä\n", "depth": 3}, "the echo")
        response = post(found, "/pool/echo", {"text": "a"}, [("Accept", "text/plain")])
        equal((response.body, response["Content-Type"]), (b"as text", "text/plain; charset=utf-8"), "the text")
        expect("Accept" in (response["Vary"] or ""), "what it depends on:", response["Vary"])
        response = post(found, "/pool/echo", {"text": "a"}, [("Accept", "text/plain, application/json")])
        equal(response.json["echo"], {"text": "a", "depth": 3}, "JSON, which it accepts as well")
        begun = post(found, "/kept/echo", {"text": "a"})
        response = post(found, "/kept/echo", {"text": "a", "session": begun["Mishap-Session"]})
        equal(response.json["echo"], {"text": "a", "depth": 3}, "the program does not learn its session")
        equal(post(found, "/pool/do", {"way": "flood"}).json["n"], 1, "what it writes has a limit")
        equal(found.ask("GET", "/pool/local").json, {"n": 42}, "what needs no other program")
        equal(post(found, "/pool/count", {"by": "x"}, status=422).json["error"], "validation_error", "a bad argument")


@test
def a_failure_over_http_is_the_catalogs_or_the_report_itself():
    with start() as found:
        response = post(found, "/kept/fail", status=422)
        equal(response.json["error"], "type_error", "the code")
        with found.connect() as connection:  # the only failure that is no JSON
            connection.send(server.request("POST", "/kept/fail", {}, [("Accept", "text/plain")]))
            status, fields = server.parse_head(connection.take_head())
            fields = {name.lower(): value for name, value in fields}
            body = connection.take(int(fields["content-length"]))
        equal((status, fields["content-type"]), (422, "text/plain; charset=utf-8"), "the head")
        equal(body.decode(), '[stdout]\nbefore\n\n[ERROR] TYPE-ERROR\nThe value "hello" is not of type NUMBER.\n\n'
              '[Backtrace]\n0: (+ 1 "hello")\n', "the report")
        expect(fields["mishap-session"], "a failure tells its session, too")
        equal(post(found, "/none/count", status=503).json["error"], "not_configured", "what is not there")
        equal(post(found, "/pool/do", {"way": "exit"}, status=500).json["error"], "internal_server_error", "a death")
        expect("my last words" in found.wait_for_log("pool.do"), "what it wrote is in the log")


@test
def a_session_lives_in_two_loops_and_outlives_one():
    with start("--workers", "2") as found:
        first = post(found, "/kept/count", {"by": 10})
        equal(first.json["session"], first["Mishap-Session"], "the handle")
        for i in range(1, 31):  # each on a connection of its own, so both loops have some
            response = post(found, "/kept/count", fields=in_session(first))
            equal((response.json["n"], response.json["pid"]), (10 + i, first.json["pid"]), "the state")
        loops = found.workers()
        for loop in loops:
            os.kill(loop, signal.SIGKILL)
        expect(wait_for(lambda: len(set(found.workers()) - set(loops)) == 2), "it did not come true")
        response = post(found, "/kept/count", {"session": first["Mishap-Session"]})
        equal((response.json["n"], response["Warning"]), (41, None), "after the loops were killed")
        time.sleep(2.5)  # a process that no loop uses any more is killed after two seconds
        response = post(found, "/kept/count", {"session": first["Mishap-Session"]})
        equal((response.json["n"], response["Warning"]), (42, None), "and later")


@test
def a_session_that_is_lost_says_so():
    with start() as found:
        first = post(found, "/kept/count", {"by": 10})
        keepers = [pid for pid, parent in server.processes()
                   if parent == found.process.pid and server.name_of(pid) == "mishap-keeper"]
        os.kill(keepers[0], signal.SIGKILL)
        expect(wait_for(lambda: not is_alive(first.json["pid"])), "it did not come true")
        response = post(found, "/kept/count", fields=in_session(first))
        equal(response.json["n"], 1, "a fresh one")
        expect("lost" in response["Warning"], "no warning:", response["Warning"])
        equal(post(found, "/kept/do", {"way": "kill"}, in_session(first), 500).json["error"], "runtime_error",
              "as the service tells of a death")
        response = post(found, "/kept/count", fields=in_session(first))
        equal((response.json["n"], response["Warning"]), (1, None), "its caller knows")


@test
def what_a_killed_keeper_leaves_is_removed():
    def keeper():
        return [pid for pid, parent in server.processes()
                if parent == found.process.pid and server.name_of(pid) == "mishap-keeper"]
    with start() as found:
        for _ in range(3):
            post(found, "/boxed/count")
        killed = keeper()
        os.kill(killed[0], signal.SIGKILL)
        wait_for(lambda: keeper() and keeper() != killed)
        post(found, "/boxed/count")
    left = glob.glob("/sys/fs/cgroup/**/mishap-%d-*" % killed[0], recursive=True)
    equal(left, [], "control groups")


@test
def an_idle_session_ends():
    with start(FOREIGN_IDLE_MS="200") as found:
        first = post(found, "/kept/count", {"by": 10})
        expect(wait_for(lambda: not is_alive(first.json["pid"])), "it did not come true")
        response = post(found, "/kept/count", fields=in_session(first))
        equal(response.json["n"], 1, "a fresh one")
        expect("idle" in response["Warning"], "no warning:", response["Warning"])


@test
def a_session_belongs_to_its_key():
    with start("--workers", "1") as found:  # of several, one may read the keys later than another
        keys = []
        for name in ["ada", "bob"]:
            made = run_program(ABROAD, "keys", "add", "--name", name, "--data", found.data, "--output", "json")
            keys.append([("X-Api-Key", parsed(made.out)["data"]["key"])])
        expect(wait_for(lambda: found.ask("POST", "/kept/count", {}, fields=keys[1]).status == 200), "it did not come true")
        first = post(found, "/kept/count", {"by": 10}, keys[0])
        equal(post(found, "/kept/count", {}, keys[0] + in_session(first)).json["n"], 11, "its owner")
        equal(post(found, "/kept/count", {}, keys[1] + in_session(first), 404).json["error"], "not_found", "another key")
        equal(post(found, "/kept/count", {"session": "0" * 48}, keys[0], 404).json["error"], "not_found", "no session")
        equal(post(found, "/kept/count", {"session": "x"}, keys[0], 422).json["error"], "validation_error", "no handle")


@test
def who_has_a_share_of_the_sessions_takes_none_of_another():
    with start("--workers", "1", "--caller-share", "50", FOREIGN_MOST="4") as found:
        keys = []
        for name in ["ada", "bob"]:
            made = run_program(ABROAD, "keys", "add", "--name", name, "--data", found.data, "--output", "json")
            keys.append([("X-Api-Key", parsed(made.out)["data"]["key"])])
        wait_for(lambda: found.ask("GET", "/pool/local", fields=keys[1]).status == 200)
        ada = post(found, "/kept/count", {"by": 10}, keys[0])
        for _ in range(2):
            begun = post(found, "/kept/count", {}, keys[1])
            post(found, "/kept/count", {}, keys[1] + in_session(begun))
        for _ in range(3):
            equal(post(found, "/kept/count", {}, keys[1], 429).json["error"], "rate_limited", "more than a share")
        again = post(found, "/kept/count", {}, keys[0] + in_session(ada))
        equal((again.json["n"], again["Warning"]), (11, None), "the session of the other")


@test
def a_program_cannot_name_another_session():
    with start() as found:
        first = post(found, "/kept/count")
        answer = post(found, "/kept/do", {"way": "forge"}, in_session(first))
        equal((answer.json, answer["Mishap-Session"]), ({"n": 1}, first["Mishap-Session"]), "an answer")
        failure = post(found, "/kept/do", {"way": "forge_failure"}, in_session(first), 500)
        equal(failure.json["details"], {"session": first["Mishap-Session"]}, "a failure")


@test
def what_a_program_sends_holds_nobody_up_and_fills_no_log():
    with start("--workers", "1", FOREIGN_GRACE_MS="300") as found:
        first = post(found, "/kept/count")
        pid = first.json["pid"]
        response = found.ask("POST", "/kept/do", {"way": "members"}, fields=in_session(first))
        equal((response.status, response.json.get("error")), (500, "runtime_error"), "an object of 5,000 members")
        expect(wait_for(lambda: not is_alive(pid)), "it did not come true")
        post(found, "/kept/do", {"way": "gossip"}, in_session(first))
        expect(wait_for(lambda: b"It says more than is kept of one call." in found.read(found.log)), "it did not come true")
        equal(found.read(found.log).count(b"x" * 1000), 65, "words of a thousand bytes")
        pid = post(found, "/kept/count", fields=in_session(first)).json["pid"]
        post(found, "/kept/do", {"way": "stray"}, in_session(first))
        expect(wait_for(lambda: not is_alive(pid)), "it did not come true")
        response = post(found, "/kept/count", fields=in_session(first))
        expect("had ended" in response["Warning"], "no warning:", response["Warning"])
        pid = response.json["pid"]
        with found.connect() as one, found.connect() as other:
            one.send(server.request("POST", "/kept/late", {"way": "deaf"}, in_session(first)))
            expect(wait_for(lambda: found.running_handlers() == 1), "it did not come true")
            other.send(server.request("POST", "/kept/count", {}, in_session(first)))
            # It answers behind 20 messages, which a busy machine may not have read within the time of the call. Then the
            # process is killed, and the other call may be the first of a fresh one, or have waited for too long.
            ended, unheard = one.response("POST").status, other.response("POST").status
            expect((ended, unheard) in [(200, 500), (504, 500), (504, 200), (200, 503), (504, 503)], "the two calls were answered with", ended, unheard)
        expect(wait_for(lambda: not is_alive(pid)), "it did not come true")


@test
def there_are_so_many_sessions():
    with start("--caller-share", "100", FOREIGN_MOST="3") as found:
        begun = [post(found, "/kept/count") for _ in range(3)]
        for response in begun:
            post(found, "/kept/count", fields=in_session(response))
        equal(post(found, "/kept/count", status=503).json["error"], "unavailable", "one more")
        equal(post(found, "/kept/count", fields=in_session(begun[2])).json["n"], 3, "one that is there")


@test
def a_caller_that_leaves_interrupts_its_call():
    with start() as found:
        first = post(found, "/kept/count", {"by": 10})
        with found.connect() as connection:
            connection.send(server.request("POST", "/kept/do", {"way": "sleep"}, fields=in_session(first)))
            expect(wait_for(lambda: found.running_handlers() == 1), "it did not come true")
            connection.reset()  # one that only stops to send would still wait for its answer
        response = post(found, "/kept/count", fields=in_session(first))
        equal((response.json["n"], response.json["pid"]), (11, first.json["pid"]), "the session lives")
        response = post(found, "/kept/late", {"way": "nap"}, in_session(first), 504)
        equal(response.json["error"], "timeout", "one that stops in time")
        equal(post(found, "/kept/count", fields=in_session(first)).json["n"], 12, "and still lives")
    with start(FOREIGN_GRACE_MS="300") as found:
        first = post(found, "/kept/count", {"by": 10})
        response = post(found, "/kept/late", {"way": "hang"}, in_session(first), 504)
        equal(response.json["error"], "timeout", "one that does not")
        equal(post(found, "/kept/count", fields=in_session(first)).json["n"], 1, "begins afresh")


# ---- MCP -----------------------------------------------------------------------------------------

class Pipes:
    """`abroad mcp`, one message at a time."""

    def __init__(self):
        self.process = subprocess.Popen([ABROAD, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=dict(os.environ, ABROAD_DATA=server.FOLDER, ABROAD_LOG=os.devnull))
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        equal(self.process.wait(server.PATIENCE), 0, "its end")

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, message):
        self.send(message)
        return parsed(self.process.stdout.readline())["result"]

    def initialize(self):
        self.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool, **arguments):
        self.number += 1
        return self.ask(call(tool, arguments, id=self.number))


def texts(result):
    return [block["text"] for block in result["content"]]


@test
def an_mcp_conversation_is_a_session():
    with Pipes() as pipes:
        pipes.initialize()
        equal(pipes.call("kept_count", by=5)["structuredContent"]["n"], 5, "the first")
        result = pipes.call("kept_count")
        equal(result["structuredContent"]["n"], 6, "the second")
        expect("session" not in result["structuredContent"], "a handle that nobody needs:", result)
        result = pipes.call("kept_echo", text="x")
        equal(texts(result), ["as text"], "the text")
        equal(result["structuredContent"]["echo"], {"text": "x", "depth": 3}, "the structure")
        result = pipes.call("kept_fail")
        expect(result["isError"] and texts(result)[0].startswith("[stdout]\nbefore\n\n[ERROR] TYPE-ERROR\n"), "the report:", result)
        expect(SECRET not in json.dumps(result), "what is the operator's:", result)
        result = pipes.call("kept_do", way="exit")
        expect(result["isError"] and "The evaluator has ended." in texts(result)[0], "a death:", result)
        equal(pipes.call("kept_count")["structuredContent"]["n"], 1, "a fresh one")


@test
def a_cancelled_call_of_mcp_leaves_its_session():
    with Pipes() as pipes:
        pipes.initialize()
        pid = pipes.call("kept_count", by=5)["structuredContent"]["pid"]
        pipes.send(call("kept_do", {"way": "sleep"}, id="long"))
        pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
        equal(pipes.call("kept_count")["structuredContent"], {"n": 6, "pid": pid}, "the session")


@test
def without_a_conversation_a_handle_is_passed():
    with Pipes() as pipes:
        def ask(tool, **arguments):
            return pipes.ask(stateless("tools/call", {"name": tool, "arguments": arguments}))
        first = ask("kept_count", by=7)
        handle = first["structuredContent"]["session"]
        expect("Session: " + handle in texts(first), "the handle is to be read:", first)
        equal(ask("kept_count", session=handle)["structuredContent"]["n"], 8, "the same session")
        equal(ask("kept_count")["structuredContent"]["n"], 1, "another one")
        failed = ask("kept_fail", session=handle)
        equal(texts(failed)[1:], ["Session: " + handle], "with a failure, too")
        expect(ask("kept_count", session="0" * 48)["isError"], "no session")


@test
def sessions_of_mcp_over_http_are_sessions():
    with start("--workers", "2") as found:
        one, other = Session(found), Session(found)
        for i in range(1, 6):
            for who, step in [(one, 1), (other, 100)]:
                result = who.post(call("kept_count", {"by": step})).json["result"]["structuredContent"]
                equal(result["n"], step * i, "the state of each")
        body = stateless("tools/call", {"name": "kept_count", "arguments": {"by": 3}})
        with Exchange(found, "POST", body, repeated(body)) as exchange:
            result = exchange.answer()["result"]["structuredContent"]
        equal(result["n"], 3, "a new session")
        expect(result["session"], "its handle:", result)


# ---- commands ------------------------------------------------------------------------------------

@test
def a_command_starts_the_program_for_one_call():
    def run(*arguments, **variables):
        ended = run_program(ABROAD, *arguments, "--output", "json", env=variables)
        expect(SECRET.encode() not in ended.out, "what is the operator's:", ended.out)
        return ended.status, parsed(ended.out)
    code, answer = run("kept", "count", "--by", "4")
    equal((code, answer["data"]["n"]), (0, 4), "the answer")
    expect(not is_alive(answer["data"]["pid"]), "its process is left over")
    code, answer = run("kept", "fail")
    equal((code, answer["error"]["code"]), (1, "TYPE_ERROR"), "a failure")
    equal(run("pool", "do", "--way", "exit")[1]["error"]["code"], "INTERNAL_ERROR", "a death")
    equal(run("kept", "do", "--way", "exit")[1]["error"]["message"], "The evaluator has ended.", "as the service tells it")
    equal(run("kept", "do", "--way", "garbage")[1]["error"]["code"], "RUNTIME_ERROR", "a lie")
    equal(run("pool", "do", "--way", "long")[0], 0, "several packets")
    equal(run("none", "count")[1]["error"]["code"], "NOT_CONFIGURED", "what is not there")
    equal(run("bad", "count")[1]["error"]["message"], "There is no library.", "what cannot start")
    equal(run("dead", "count")[1]["error"]["code"], "INTERNAL_ERROR", "what dies at its start")
    equal(run("kept", "count", "--session", "0" * 48)[1]["error"]["code"], "NOT_FOUND", "no session")
    equal(run("kept", "do", "--way", "hang", "--timeout-ms", "300", FOREIGN_GRACE_MS="300")[1]["error"]["code"], "TIMEOUT", "no end")
    ended = run_program(ABROAD, "pool", "echo", "--output", "text")
    equal(ended.out, b"as text\n", "for a person")


@test
def a_command_uses_a_session_of_a_server():
    with start() as found:
        def run(*arguments, env=None):
            ended = run_program(ABROAD, "kept", *arguments, "--output", "json", env=env)
            return parsed(ended.out)
        first = run("count", "--by", "5", "--server", found.url)["data"]
        second = run("count", "--server", found.url + "/", "--session", first["session"])["data"]
        equal((second["n"], second["pid"], second["session"]), (6, first["pid"], first["session"]), "the session")
        failed = run("fail", "--server", found.url, "--session", first["session"])["error"]
        equal((failed["code"], failed["message"]), ("TYPE_ERROR", 'The value "hello" is not of type NUMBER.'), "a failure")
        equal(run("count", "--server", found.url, "--session", "0" * 48)["error"]["code"], "NOT_FOUND", "no session")
        os.kill(first["pid"], signal.SIGKILL)
        expect(wait_for(lambda: not is_alive(first["pid"])), "it did not come true")
        again = run("count", "--server", found.url, "--session", first["session"])
        expect(again["data"]["n"] == 1 and "had ended" in again["warnings"][0], "a fresh one:", again)
        made = parsed(run_program(ABROAD, "keys", "add", "--name", "ada", "--data", found.data, "--output", "json").out)
        expect(wait_for(lambda: run("count", "--server", found.url, env={"ABROAD_KEY": made["data"]["key"]})["ok"]), "it did not come true")
        failed = run("count", "--server", found.url, env={"ABROAD_KEY": "wrong"})["error"]
        equal(failed["code"], "UNAUTHORIZED", "a key that is none")
        address = found.url
    equal(run("count", "--server", address)["error"]["code"], "UNAVAILABLE", "no server")
    for url in ["https://localhost", "ftp://x", "http://", "http://a:b", "http://[::1", "http://a b"]:
        equal(run("count", "--server", url)["error"]["code"], "ARG_ERROR", url)
    equal(parsed(run_program(ABROAD, "pool", "count", "--server", address, "--output", "json").out)["error"]["code"],
          "ARG_ERROR", "a service without sessions")


@test
def a_command_takes_from_a_server_what_is_an_answer():
    good, head = b'{"n":3,"pid":1}', b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    for response, wanted in [(head + b"Content-Length: %d\r\n\r\n" % len(good) + good, 3),  # and the connection stays open
                             (head + b"Content-Length: 100\r\n\r\n" + good, "UNAVAILABLE"),
                             (head + b"Content-Length: x\r\n\r\n" + good, "UNAVAILABLE"),
                             (head + b"\r\n" + good, 3),
                             (head + b"\r\n\x1b[2J", "UNAVAILABLE"),
                             (head + b'\r\n{"n":"three"}', "UNAVAILABLE"),
                             (head + b"x" * 100000, "UNAVAILABLE")]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            process = subprocess.Popen([ABROAD, "kept", "count", "--server", "http://127.0.0.1:%d" % listener.getsockname()[1],
                                        "--output", "json"], stdout=subprocess.PIPE)
            with listener.accept()[0] as connection:
                connection.recv(65536)
                with contextlib.suppress(OSError):  # it may have heard enough
                    connection.sendall(response)
                    if wanted != 3 or b"Length" not in response:
                        connection.shutdown(socket.SHUT_WR)
                answer = parsed(process.communicate(timeout=server.PATIENCE)[0])
        equal(answer["data"]["n"] if answer["ok"] else answer["error"]["code"], wanted, response[:200])


@test
def a_command_that_is_interrupted_leaves_nothing_behind():
    process = subprocess.Popen([ABROAD, "pool", "do", "--way", "hang", "--timeout-ms", "60000"], stdout=subprocess.PIPE)
    begun = wait_for(lambda: [pid for pid, parent in server.processes() if parent == process.pid and server.name_of(pid) == "foreign"])
    expect(begun, "its program did not begin")
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=server.PATIENCE)
    equal(process.returncode, 130, "the exit code: %s" % out)
    expect(wait_for(lambda: not any(is_alive(pid) for pid in begun)), "it did not come true")


@test
def all_servers_ended_in_order():
    server.all_ended_in_order()


if __name__ == "__main__":
    main()
