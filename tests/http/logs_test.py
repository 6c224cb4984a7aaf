"""Logs without a reader, that hang, or that a caller tries to fill: the server answers, and nothing is lost in silence.

    MISHAP_PROGRAM=… LOGGED_PROGRAM=… python3 tests/http/logs_test.py [PART-OF-A-NAME]

Speaks TAP. The server is tests/http/logged.c.
"""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time

import server
import journal
from blackbox import equal, expect, main, test, tests_of
from server import PATIENCE, free_port, wait_until

LOGGED = os.path.abspath(os.environ["LOGGED_PROGRAM"])
SLOWEST = 60  # seconds that answers may take: a machine may be busy, but a log that hangs does so for ever
TO_END = 60  # … and a server that has nothing in flight, to end
WHOLE = 100  # entries of one kind that are written in full at once; then some more come due
DUE = 60     # … at most while a test runs, or one each second if it takes longer


def full_pipe():
    """Both ends of a pipe that takes not one byte more. The writing end waits, as that of a shell does."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4095 + b"\n")
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"\n")
    os.set_blocking(writing, True)
    return reading, writing


def read_all(file):
    """What is in a pipe now, and what is written while it is read."""
    text = b""
    with contextlib.suppress(BlockingIOError):
        while True:
            text += os.read(file, 1 << 16)
            time.sleep(0.002)
    return text


def children(pid, name):
    return sorted(one for one, parent in server.processes() if parent == pid and server.name_of(one) == name)


class Logged:
    """The server, with any log and any standard error. Whether it is ready is seen by trying."""

    def __init__(self, *flags, log=None, stderr=subprocess.DEVNULL, verb="serve", **more):
        server.Server.count += 1
        self.folder = os.path.join(server.FOLDER, "logged-%d" % server.Server.count)
        os.mkdir(self.folder)
        self.log = log or os.path.join(self.folder, "log")
        self.address = ("127.0.0.1", free_port())
        listen = ["--listen", "%s:%d" % self.address, "--workers", "2"] if verb == "serve" else []
        self.process = subprocess.Popen([LOGGED, verb, "--data", self.folder, *listen, *flags], stderr=stderr,
                                        env=dict(os.environ, LOGGED_LOG=self.log),
                                        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **more})
        if verb == "serve":
            wait_until(self.answers, "the server does not answer")

    def answers(self):
        expect(self.process.poll() is None, "the server has ended with", self.process.poll())
        try:
            socket.create_connection(self.address, 1).close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    def stop(self):
        """How long it takes to end in order."""
        begun = time.monotonic()
        self.process.terminate()
        equal(self.process.wait(PATIENCE), 0, "exit")
        return time.monotonic() - begun

    def ask_many(self, path, count, caller=None, together=100):
        """Requests on one connection, some sent together: the ids of the answers, and the slowest such group's time."""
        fields = "X-Forwarded-For: %s\r\n" % caller if caller else ""
        one = ("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (path, fields)).encode()
        ids, slowest = [], 0
        with socket.create_connection(self.address, PATIENCE) as connection:
            while len(ids) < count:
                more, text, begun = min(together, count - len(ids)), b"", time.monotonic()
                connection.sendall(one * more)
                while len(re.findall(rb"HTTP/1\.1 \d\d\d ", text)) < more or not complete(text):
                    data = connection.recv(1 << 18)
                    expect(data, "the connection was closed")
                    text += data
                slowest = max(slowest, time.monotonic() - begun)
                ids += re.findall(rb"^X-Request-Id: (\S+)\r$", text, re.M | re.I)
        return [one.decode() for one in ids], slowest

    def read(self):
        return server.Server.read(self.log).decode("utf-8", "replace")


def complete(text):
    """Does the last response have its body?"""
    head, _, body = text.rpartition(b"\r\n\r\n")
    length = re.findall(rb"^Content-Length: (\d+)\r?$", head[head.rfind(b"HTTP/1.1 "):] + b"\r", re.M | re.I)
    return bool(length) and len(body) >= int(length[-1])


def entries(text):
    return re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ )", text, flags=re.M)[1:]


class Sums:
    """How many entries a log has in full and in short, and how many it says were lost."""

    def __init__(self, text):
        self.whole = self.short = self.lost = 0
        for entry in entries(text):
            lost = re.search(r"^  (\d+) entries were lost", entry, re.M)
            self.lost += int(lost[1]) if lost else 0
            if not lost:
                self.short += ": one of many" in entry
                self.whole += ": one of many" not in entry

    @property
    def all(self):
        return self.whole + self.short + self.lost

    def __str__(self):
        return "%d whole, %d short, %d lost" % (self.whole, self.short, self.lost)


# ---- No reader -----------------------------------------------------------------------------------


@tests_of({"": [], ", and each request and failure is told there": ["--access-log", "-", "--verbose"]})
def a_full_pipe_at_stderr_holds_nothing_up(flags):
    reading, writing = full_pipe()
    try:
        with Logged(*flags, stderr=writing) as found:
            os.close(writing)
            for _ in range(3):
                _, slowest = found.ask_many("/fault", 1000)
                expect(slowest < SLOWEST, "it took", slowest, "s")
            for _ in range(4):  # what handlers print is more than any pipe holds
                _, slowest = found.ask_many("/print", 20, together=4)
                expect(slowest < SLOWEST, "a handler that prints took", slowest, "s")
            victim = children(found.process.pid, "mishap-loop")[0]  # the supervisor has something to say
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: len(children(found.process.pid, "mishap-loop")) == 2 and
                       victim not in children(found.process.pid, "mishap-loop"), "there is no other loop")
            found.ask_many("/fine", 100)
            took = found.stop()
            expect(took < TO_END, "it took", took, "s to end")
    finally:
        os.close(reading)


@test
def a_full_pipe_at_stdout_does_not_hold_up_the_end():
    reading, writing = full_pipe()
    try:
        with Logged(stdout=writing) as found:
            os.close(writing)
            found.ask_many("/fine", 1)
            took = found.stop()
            expect(took < TO_END, "it took", took, "s to end")
    finally:
        os.close(reading)


@test
def what_stderr_could_not_take_is_counted_there():
    reading, writing = full_pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe, Logged(stderr=writing) as found:
        os.close(writing)
        os.set_blocking(reading, False)
        found.ask_many("/print", 60, together=4)
        text = b""

        def look():
            nonlocal text
            text += pipe.read(1 << 16) or b""
            return re.search(rb"^logged: (\d+) lines of standard error were lost: its reader was too slow$", text, re.M)
        told = wait_until(look, "nothing is said of what was lost")
        expect(int(told[1]) > 100, "only", told[1], "were lost")
        found.stop()


@test
def a_terminal_or_pipe_is_not_changed_for_others_who_use_it():
    reading, writing = os.pipe()
    try:
        with Logged(stderr=writing) as found:
            expect(os.get_blocking(writing), "it does not wait any more")
            found.stop()
    finally:
        os.close(reading)
        os.close(writing)


# ---- A log that hangs ----------------------------------------------------------------------------


@test
def a_log_that_hangs_holds_nothing_up_and_says_later_what_was_lost():
    path = os.path.join(server.FOLDER, "fifo")
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    error = os.path.join(server.FOLDER, "fifo.err")
    try:
        with open(error, "wb") as err, Logged(log=path, stderr=err) as found:
            count = 0
            for caller in range(250):  # more than 16 MB, which is the room for what is handed over
                _, slowest = found.ask_many("/fault", 200, "192.0.2.%d" % caller)
                count += 200
                expect(slowest < SLOWEST, "it took", slowest, "s")
            wait_until(lambda: b"logged: the incident log is not written fast enough" in server.Server.read(error),
                       "stderr does not say so")
            text = b""

            def look():
                nonlocal text
                text += read_all(reading)
                return b'"kind":"lost"' in text and text.endswith(b"\n")
            wait_until(look, "nothing is said of what was lost")
            # Others may still be in the queue when it is first said.
            wait_until(lambda: look() and Sums(journal.shown(text).decode()).all >= count, "entries are missing")
            sums = Sums(journal.shown(text).decode())
            equal(sums.all, count, "entries, %s, are" % sums)
            expect(sums.lost > 1000 and sums.whole > 10, sums)
            found.stop()
    finally:
        os.close(reading)


@test
def a_server_ends_in_time_while_its_logs_hang():
    path, access = os.path.join(server.FOLDER, "fifo2"), os.path.join(server.FOLDER, "fifo3")
    reading = []
    for one in (path, access):
        os.mkfifo(one)
        reading.append(os.open(one, os.O_RDONLY | os.O_NONBLOCK))
    try:
        with Logged("--access-log", access, log=path) as found:
            for caller in range(4):
                _, slowest = found.ask_many("/fault", 1500, "192.0.2.%d" % caller)
                expect(slowest < SLOWEST, "it took", slowest, "s")
            took = found.stop()
            expect(took < TO_END, "it took", took, "s to end")
    finally:
        for one in reading:
            os.close(one)


@test
def an_access_log_that_hangs_costs_lines_of_its_own_only():
    path = os.path.join(server.FOLDER, "access-fifo")
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with Logged("--access-log", path) as found:
            count = 0
            for _ in range(10):
                found.ask_many("/fine", 2000)
                count += 2000
            ids, _ = found.ask_many("/fault", 1)
            wait_until(lambda: ids[0] in found.read(), "the incident is not in the log")
            text = b""

            def look():
                nonlocal text
                text += read_all(reading)
                lost = [int(number) for number in re.findall(rb'^{"time":"[^"]*","lost":(\d+)}$', text, re.M)]
                return text.count(b"\n") - len(lost) + sum(lost) == count + 1
            wait_until(look, "not every request has a line, or is counted as lost")
            found.stop()
    finally:
        os.close(reading)


# ---- Processes that write ------------------------------------------------------------------------


@tests_of({"is killed": signal.SIGKILL, "is stopped": signal.SIGSTOP})
def logging_goes_on_when_a_process_that_writes(number):
    access = os.path.join(server.FOLDER, "access-%d" % number)
    error = os.path.join(server.FOLDER, "error-%d" % number)
    with open(error, "wb") as err, Logged("--access-log", access, stderr=err) as found:
        def three():
            seen = children(found.process.pid, "mishap-log")
            return len(seen) == 3 and seen
        for _ in range(2):
            writers = wait_until(three, "there are not three")
            for victim in writers:
                with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                    os.kill(victim, number)
            ids, slowest = found.ask_many("/fault", 5)
            expect(slowest < SLOWEST, "it took", slowest, "s")
            for one in ids:
                wait_until(lambda: one in found.read(), "the incident is not in the log")
                wait_until(lambda: one.encode() in server.Server.read(access), "the request is not in the access log")
            wait_until(lambda: not set(children(found.process.pid, "mishap-log")) & set(writers), "they are still there")
        wait_until(lambda: server.Server.read(error).count(b"the process that writes a log has ended") >= 6, "stderr is silent")
        found.stop()


@test
def what_a_loop_has_handed_over_outlives_it():
    with Logged() as found:
        for _ in range(5):
            ids, _ = found.ask_many("/fault", 20)
            for loop in children(found.process.pid, "mishap-loop"):
                os.kill(loop, signal.SIGKILL)
            for one in ids:
                wait_until(lambda: one in found.read(), "an incident is not in the log")
            wait_until(found.answers, "the server does not answer")
        found.stop()


# ---- Limits --------------------------------------------------------------------------------------


# An entry has the path of the program in each line of its stack, and a sanitizer adds lines: some kilobytes.
@tests_of({"the caller's own doing": ("/missing?name=x", 1500), "the fault of the server": ("/fault", 2500)})
def many_failures_of_one_caller_are(path, kilobytes):
    with Logged() as found:
        count, begun = 20000, time.monotonic()
        ids, _ = found.ask_many(path, count, "192.0.2.1", 500)
        due = max(DUE, int(time.monotonic() - begun) + 2)
        others, _ = found.ask_many(path, 1, "192.0.2.2")
        entry = wait_until(lambda: [one for one in entries(found.read()) if others[0] in one.split("\n")[0]],
                           "the other caller's is not in the log")
        expect("raised at " in entry[0], "it is not whole:", entry[0])
        found.stop()
        text = found.read()
        sums = Sums(text)
        equal(sums.all, count + 1, "entries, %s, are" % sums)
        expect(sums.lost == 0 and sums.short >= count - WHOLE - due and sums.whole <= WHOLE + due, sums)
        size = os.path.getsize(found.log)
        expect(size < (kilobytes + 10 * (due - DUE)) * 1024, "the log has", size, "bytes:", sums)
        by_id = {one.split(" ", 2)[1]: one for one in entries(text)}
        equal(sorted(set(ids) - set(by_id)), [], "ids that are not found")
        like = re.search(r"one of many; written in full: (\S+)$", by_id[ids[-1]], re.M)  # it leads to what happened
        expect(like and "raised at" in by_id[like[1]], "it leads nowhere")


def size_of(path):
    """0: the file was moved away a moment ago."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


@test
def the_files_of_the_log_never_exceed_their_bound():
    with Logged("--log-max-mb", "1") as found:
        for caller in range(32):
            ids, _ = found.ask_many("/fault", WHOLE, "192.0.2.%d" % caller)
            sizes = {name: size_of(os.path.join(found.folder, name))
                     for name in os.listdir(found.folder) if name.startswith("log")}
            expect(all(size <= 1 << 20 for size in sizes.values()), "sizes:", sizes)
            wait_until(lambda: ids[-1] in found.read() + server.Server.read(found.log + ".1").decode(), "not in the log")
        equal(sorted(name for name in os.listdir(found.folder) if name.startswith("log")), ["log", "log.1", "log.2"])
        for name in ("log.1", "log.2"):
            expect(os.path.getsize(os.path.join(found.folder, name)) > 700 << 10, "a file was moved away too early")
        found.stop()


@test
def a_log_that_was_moved_away_is_made_anew():
    with Logged() as found:
        ids, _ = found.ask_many("/fault", 1)
        wait_until(lambda: ids[0] in found.read(), "the incident is not in the log")
        os.rename(found.log, found.log + ".old")

        def look():
            more, _ = found.ask_many("/missing", 1, "192.0.2.%d" % (len(ids) % 250))
            ids.extend(more)
            return any(one in found.read() for one in ids)
        wait_until(look, "there is no other log")
        found.stop()


# ---- Over standard input and output ---------------------------------------------------------------


class Talk(Logged):
    """`mcp` with any standard error."""

    def __init__(self, *flags, **more):
        super().__init__(*flags, verb="mcp", stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)

    def call(self, number, tool):
        begun = time.monotonic()
        meta = {"io.modelcontextprotocol/" + key: value for key, value in
                {"protocolVersion": "2026-07-28", "clientInfo": {"name": "t", "version": "1"}, "clientCapabilities": {}}.items()}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}, "_meta": meta}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        equal(answer.get("id"), number, "the id of %s" % answer)
        expect("result" in answer, "no result:", answer)
        expect(time.monotonic() - begun < SLOWEST, "it took", time.monotonic() - begun, "s")
        return answer["result"]

    def end(self):
        begun = time.monotonic()
        self.process.stdin.close()
        equal((self.process.wait(PATIENCE), self.process.stdout.read()), (0, b""), "exit and the rest")
        expect(time.monotonic() - begun < TO_END, "it took", time.monotonic() - begun, "s to end")


@tests_of({"": [], ", and each failure is told there": ["--verbose"]})
def over_stdio_a_host_that_does_not_read_stderr_is_answered(flags):
    reading, writing = full_pipe()
    try:
        with Talk(*flags, stderr=writing) as found:
            os.close(writing)
            for number in range(500):
                equal(found.call(number, "fault")["isError"], True)
            for number in range(500, 530):
                equal(found.call(number, "print")["structuredContent"], {"printed": True})
            sums = wait_until(lambda: Sums(found.read()).whole > 50 and Sums(found.read()), "the log is silent")
            expect(sums.lost == 0, sums)
            found.end()
    finally:
        os.close(reading)


@test
def over_stdio_a_log_that_hangs_holds_nothing_up():
    path = os.path.join(server.FOLDER, "fifo-stdio")
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with Talk(log=path) as found:
            for number in range(1500):
                equal(found.call(number, "fault")["isError"], True)
            found.end()
    finally:
        os.close(reading)


@test
def over_stdio_logging_goes_on_when_the_process_that_writes_is_killed():
    with Talk() as found:
        for number in range(3):
            for victim in wait_until(lambda: children(found.process.pid, "mishap-log"), "there is none"):
                with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                    os.kill(victim, signal.SIGKILL)
            incident = found.call(number, "fault")["_meta"]["dev.mishap/incident"]

            def look():
                found.call(100, "fine")  # it looks after its processes when there is something to do
                return incident in found.read()
            wait_until(look, "the incident is not in the log")
        found.end()


if __name__ == "__main__":
    main()
