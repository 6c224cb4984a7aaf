"""How a server ends, what does not end it, and by which names it goes.

    MISHAP_PROGRAM=… ENDING_PROGRAM=… python3 tests/http/ending_test.py [PART-OF-A-NAME]

Speaks TAP. A loop is held up by a handler that waits for a file, so what happens meanwhile is the same on any machine.
"""
import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import time

import server
from server import FOLDER, PATIENCE, PROGRAM, Server, equal, expect, processes, request, run_program, wait_for
from blackbox import main, test, tests_of

ENDING = os.path.abspath(os.environ["ENDING_PROGRAM"])
WAITING = 50  # connections that no loop has accepted
MANY = 300  # … more than are handed over at once
numbers = itertools.count(1)

# ---- The end ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def held(found):
    """The loop of a server does nothing until the block is left."""
    path = os.path.join(FOLDER, "go-on-%d" % next(numbers))
    connection = found.connect()
    connection.send(request("GET", "/hold?file=" + path))
    expect(wait_for(lambda: os.path.exists(path + ".begun")), "the loop is not held up")
    try:
        yield connection
    finally:
        with open(path, "wb"):
            pass


def refusal_of(address):
    """How long it took until who connects was refused."""
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE:
        with socket.socket() as one:
            one.settimeout(PATIENCE)
            try:
                one.connect(address)
            except ConnectionRefusedError:
                return time.monotonic() - begun
            except ConnectionResetError:  # it came in the moment in which the socket was closed
                continue
    raise server.blackbox.Broken("who connects is not refused")


def ask_and_wait(found, count, path="/numbers/%d"):
    """So many connections, each with a request that no loop has read."""
    made = [found.connect() for _ in range(count)]
    for number, connection in enumerate(made):
        connection.send(request("GET", path % number))
    return made


def signals_of(pid):
    """The signals that a process blocks, and those that wait for it: {name: set as bits}; nothing if it is gone."""
    return {name: int(value, 16) for name, value in (line.split(b":\t") for line in Server.whole_lines("/proc/%d/status" % pid)
                                                     if line.startswith((b"Sig", b"Shd"))) if name != b"SigQ"}


def wait_until_loops_are_told(found):
    """Who connects is refused, so the supervisor has begun to end. It takes its next signal when it has told all loops;
    SIGUSR1 means nothing to it then."""
    refusal_of(found.address)
    found.process.send_signal(signal.SIGUSR1)
    waits = 1 << signal.SIGUSR1 - 1
    expect(wait_for(lambda: not signals_of(found.process.pid)[b"ShdPnd"] & waits), "the supervisor does not go on")


def all_answered(made, held=True):
    """Each connection is closed, too, and told so, unless the loop may not have known when it answered."""
    told = 0
    for number, connection in enumerate(made):
        answer = connection.response()
        equal((answer.status, answer.json["number"]), (200, number))
        told += answer.closes
        connection.expect_closed()
        connection.close()
    expect(told == len(made) or not held, "not all connections are said to close:", told, "of", len(made))


@tests_of({"the supervisor": False, "every process": True})
def what_waits_to_be_accepted_is_answered_after_sigterm_of(all_of_them):
    with Server("--workers", "1", "--handlers", "1", "--caller-share", "100", program=ENDING) as found:
        equal(found.ask("GET", "/numbers/1").status, 200)  # there is a worker
        with held(found) as first:
            os.kill(found.process.pid, signal.SIGSTOP)  # it would take the loop for one that hangs, after five seconds of its own
            waiting = ask_and_wait(found, WAITING)
            told = [found.process.pid]
            if all_of_them:
                told = [*found.handlers(), *(pid for pid, parent in processes() if parent == found.process.pid), *told]
            for pid in told:
                with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                    os.kill(pid, signal.SIGTERM)
            os.kill(found.process.pid, signal.SIGCONT)
            wait_until_loops_are_told(found)
            expect(first.is_silent(0), "the loop was not busy any more")
        equal(first.response().status, 200)
        all_answered(waiting)
        equal(found.wait().status, 0)


@test
def all_that_wait_to_be_accepted_are_told_that_it_ends():
    """They are answered as soon as they are read, and handed over in several messages: the loop hears all of these first."""
    with Server("--workers", "1", "--handlers", "0", program=ENDING) as found:
        with held(found) as first:
            os.kill(found.process.pid, signal.SIGSTOP)
            waiting = ask_and_wait(found, MANY, "/numbers/%d/quick")
            found.process.send_signal(signal.SIGTERM)
            os.kill(found.process.pid, signal.SIGCONT)
            wait_until_loops_are_told(found)
            expect(first.is_silent(0), "the loop was not busy any more")
        equal(first.response().status, 200)
        all_answered(waiting)
        equal(found.wait().status, 0)


@test
def nobody_else_has_the_sockets_that_are_closed():
    """Several loops, one of them busy: all of them are closed, at each address."""
    with Server("--workers", "3", "--handlers", "0", listen="localhost:0", program=ENDING) as found:  # so none is taken for one that hangs
        with held(found) as first:
            found.process.send_signal(signal.SIGTERM)
            for address in {row[4][0] for row in socket.getaddrinfo("localhost", None, socket.AF_INET)}:
                for _ in range(8):
                    refusal_of((address, found.address[1]))
            expect(first.is_silent(0), "the loop was not busy any more")
        equal(found.wait().status, 0)


@test
def connections_of_a_loop_that_is_gone_are_answered_by_another():
    with Server("--workers", "1", program=ENDING) as found:
        with held(found):
            os.kill(found.process.pid, signal.SIGSTOP)  # see above
            waiting = ask_and_wait(found, WAITING)
            for pid in found.workers():
                os.kill(pid, signal.SIGKILL)
            expect(wait_for(lambda: not found.workers()), "the loop lives")
            found.process.send_signal(signal.SIGTERM)
            os.kill(found.process.pid, signal.SIGCONT)
            all_answered(waiting, held=False)
        equal(found.wait().status, 0)


@test
def requests_that_were_sent_ahead_are_answered_to_the_last():
    with Server("--workers", "1", program=ENDING) as found:
        kept = [found.connect() for _ in range(5)]
        for connection in kept:
            expect(not connection.ask("GET", "/numbers/7").closes, "it is closed already")
        with held(found):
            os.kill(found.process.pid, signal.SIGSTOP)  # see above
            for connection in kept:
                connection.send(b"".join(request("GET", "/numbers/%d" % number) for number in range(3)))
            found.process.send_signal(signal.SIGTERM)
            os.kill(found.process.pid, signal.SIGCONT)
            wait_until_loops_are_told(found)
        for connection in kept:
            answers = [connection.response() for _ in range(3)]
            equal([answer.json["number"] for answer in answers], [0, 1, 2])
            equal([answer.closes for answer in answers], [False, False, True])
            connection.expect_closed()
        equal(found.wait().status, 0)


@tests_of({"closed": ">&-", "full": ">/dev/full"})
def a_server_whose_output_is(how):
    """It has ended in order, whether or not a client can read that."""
    folder = os.path.join(FOLDER, "output-%d" % next(numbers))
    os.mkdir(folder)
    errors = os.path.join(folder, "err")
    with open(errors, "wb") as err, subprocess.Popen(
            ["sh", "-c", 'exec "$0" serve --listen 127.0.0.1:0 --workers 1 --data "$1" %s' % how, PROGRAM, folder],
            stdin=subprocess.DEVNULL, stderr=err) as process:
        try:
            expect(wait_for(lambda: b"listening on" in Server.read(errors)), "it is not ready")
        finally:
            process.terminate()
        equal(process.wait(PATIENCE), 0, "the exit status; " + repr(Server.read(errors)))


# ---- Signals ---------------------------------------------------------------------------------------

UNUSED = [signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO,
          signal.SIGPWR, getattr(signal, "SIGSTKFLT", 16), *range(signal.SIGRTMIN, signal.SIGRTMAX + 1)]


def below(pid):
    """A process and all that stand below it, with the time at which each was started."""
    found, level = {}, [pid]
    while level:
        for one in level:
            with contextlib.suppress(ProcessLookupError, IndexError):  # it has ended meanwhile
                found[one] = Server.read("/proc/%d/stat" % one).rpartition(b")")[2].split()[19]
        level = [child for child, parent in list(processes()) if parent in level]
    return found


def settled(pid):
    """The same, as soon as no process begins or ends for a while: one that was tried may be about to end."""
    found, same = below(pid), 0
    for _ in range(1000):
        time.sleep(0.3)
        before, found = found, below(pid)
        same = same + 1 if found == before else 0
        if same == 5:
            return found
    raise server.blackbox.Broken("processes come and go: %s" % found)


def is_delivered(pid):
    """Nothing waits to be delivered, but for the supervisor what it blocks and reads by itself."""
    found = signals_of(pid)
    return not found or all(found[name] & ~found[b"SigBlk"] == 0 for name in [b"SigPnd", b"ShdPnd"])


def send_all(before, numbers_of):
    for pid in before:
        for number in numbers_of(pid):
            os.kill(pid, number)
    for pid in before:
        expect(wait_for(lambda: is_delivered(pid)), "signals wait at", pid)


@test
def signals_that_mean_nothing_end_no_process_of_a_server():
    with Server("--workers", "2", program=ENDING) as found:
        worker = found.ask("GET", "/start").json["worker"]
        before = settled(found.process.pid)
        expect(worker in before and len(before) >= 5, "supervisor, keeper, two loops, a worker:", before)
        # SIGUSR1 has a meaning for the supervisor: it replaces the loops.
        send_all(before, lambda pid: [one for one in UNUSED if pid != found.process.pid or one != signal.SIGUSR1])
        for number in range(10):
            equal(found.ask("GET", "/numbers/%d" % number).json["number"], number)
        after = below(found.process.pid)
        equal({pid: after.get(pid) for pid in before}, before, "the processes")
        equal(found.ask("GET", "/start").json["worker"], worker, "the worker")
        end = found.stop()
        equal(end.status, 0)
        expect(b"being replaced" not in end.err, end.err)


@test
def programs_that_a_handler_starts_have_default_signals():
    with Server("--workers", "1", program=ENDING) as found:
        lines = [line.split() for line in found.ask("GET", "/start").json["signals"].splitlines()]
        own = 1 << 31 | 1 << 32  # 32 and 33 are glibc's own, which popen() has ignored
        equal([(name, int(signals, 16) & ~own) for name, signals in lines], [("SigBlk:", 0), ("SigIgn:", 0)])


@test
def signals_that_mean_nothing_end_no_process_of_a_server_over_stdio():
    data = os.path.join(FOLDER, "mcp-%d" % next(numbers))
    with subprocess.Popen([ENDING, "mcp", "--data", data], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        def ask(number, method, params):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())["result"]

        def call(number):
            return json.loads(ask(number, "tools/call", {"name": "start", "arguments": {}})["content"][0]["text"])

        ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
        worker = call(2)["worker"]
        before = settled(process.pid)
        expect(worker in before and len(before) >= 3, "server, keeper, worker:", before)
        send_all(before, lambda pid: UNUSED)
        equal(call(3)["worker"], worker, "the worker")
        after = below(process.pid)
        equal({pid: after.get(pid) for pid in before}, before, "the processes")
        process.stdin.close()
        equal(process.wait(PATIENCE), 0)


@test
def what_a_server_tells_its_operator_has_its_name():
    with Server("--workers", "1", program=ENDING) as found:
        expect(("ending: failures are logged in %s\n" % found.log).encode() in found.read(found.stderr), found.read(found.stderr))
        for pid in found.workers():
            os.kill(pid, signal.SIGKILL)
        line = b"ending: a server process was terminated by SIGKILL and is being replaced"
        expect(wait_for(lambda: line in found.whole_lines(found.stderr)), found.read(found.stderr))


# ---- Names and links -------------------------------------------------------------------------------

BROWSER = {"Accept-Encoding": "gzip, deflate, br"}


def the_server():
    return server.server("plain", "--workers", "1")


def as_named(host, target, **fields):
    """GET with another Host."""
    lines = ["GET %s HTTP/1.1" % target, "Host: " + host, *("%s: %s" % (name.replace("_", "-"), fields[name]) for name in fields)]
    with the_server().connect() as connection:
        return connection.send("\r\n".join([*lines, "", ""]).encode()).response(target=target)


@tests_of({"operations": "/todos", "metrics": "/metrics", "codes": "/errors", "a code": "/errors/NOT_FOUND",
           "the document": "/openapi.json"})
def a_page_that_made_its_name_ours_reads_no(target):
    refused = as_named("evil.example:80", target, Accept_Encoding="gzip")
    equal(refused.status, 403)
    equal(refused.json["error"], "forbidden")
    ranged = as_named("evil.example:80", target, Accept_Encoding="identity", Range="bytes=0-")
    equal(ranged.status, 403, "a page that asks for a range")
    for host in ["localhost:1", "127.0.0.1:%d" % the_server().address[1], "192.0.2.7", "todo"]:
        equal(as_named(host, target, Accept_Encoding="gzip").status, 200, host)
    equal(as_named("api.example", target).status, 200, "who is no browser")


@test
def health_is_told_to_whoever_asks():
    equal(as_named("evil.example", "/health", Accept_Encoding="gzip").json["status"], "ok")


def link_of(host, dialect, **fields):
    found = as_named(host, "/todos/999999999", Accept=dict(map(reversed, server.DIALECTS.items()))[dialect], **fields)
    equal(found.status, 404)
    verdict = run_program(PROGRAM, "check", "--dialect", dialect, stdin=found.body)
    expect(verdict.status == 0, "it does not conform:", verdict.out, found.body)
    expect(b"0.0.0.0" not in found.body and b"elsewhere" not in found.body, "a link to nowhere:", found)
    body = found.json
    return {"problem": lambda: (body["type"], body.get("docs_url")), "canonical": lambda: body.get("docs_url"),
            "json-api": lambda: body["errors"][0]["links"]["about"]}[dialect]()


@tests_of({"a name of ours": "localhost:8080", "an address": "192.0.2.7:80", "no port": "127.0.0.1", "IPv6": "[::1]:8080"})
def links_lead_to(host):
    page = "http://%s/errors/NOT_FOUND" % host
    equal(link_of(host, "problem"), (page, None))
    equal(link_of(host, "canonical"), page)
    equal(link_of(host, "json-api"), page)


@tests_of({"a foreign name": ("api.elsewhere.example", {}), "every address": ("0.0.0.0:8080", {}),
           "every address of IPv6": ("[::]:8080", {}), "a proxy": ("127.0.0.1:1", {"X_Forwarded_For": "192.0.2.1"})})
def links_are_relative_for(host, fields):
    equal(link_of(host, "problem", **fields), ("about:blank", "/errors/NOT_FOUND"))
    equal(link_of(host, "json-api", **fields), "/errors/NOT_FOUND")
    equal(link_of(host, "canonical", **fields), None)  # a link must be absolute there


@test
def the_document_names_no_address_that_nobody_has_given():
    found = the_server().ask("GET", "/openapi.json")
    equal(found.json["servers"], [{"url": "/"}])
    expect(b"http://127.0.0.1" not in found.body and b"http://localhost" not in found.body, "an address")


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
