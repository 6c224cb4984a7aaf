"""Many connections, slow ones, killed workers, crashes under load, handlers that hang: others must not notice.

    MISHAP_PROGRAM=… python3 tests/http/storm_test.py [PART-OF-A-NAME]

Speaks TAP; takes about a minute. Clients keep to RFC 9112: a connection that is announced to close is not used again,
and what is closed while nothing is under way is opened anew. A request whose connection ends before the first byte of
its answer is lost.

The machine may be busy with others, or stand still for a moment: what a server may do after some time is no failure where
that time has passed. How quick it is with many connections is judged where STORM_JUDGE is set: scripts/storm does that.
"""
import collections
import contextlib
import json
import os
import random
import resource
import signal
import statistics
import threading
import time

import server
from blackbox import SANITIZED, Broken, Skipped, equal, expect, main, test
from server import Closed, Connection, Server, request, wait_for

COMPLETE = {"name": "", "age": 200, "email": "invalid"}
PROBE = request("POST", "/users", COMPLETE)
INTERNAL = {"error": "internal_server_error", "message": "Internal server error"}

# ---- Clients -------------------------------------------------------------------------------------


# From when to when; how long nothing was sent before it on its connection; the number of the request there; why.
Lost = collections.namedtuple("Lost", "begun ended idle turn why")
PAUSE = 0.01  # seconds between the requests of a client: enough of them come, and other tests need a processor, too
Wrong = collections.namedtuple("Wrong", "begun ended status answer")


class Client:
    """Sends one request after the other on a connection that it keeps, and counts."""

    def __init__(self, address):
        self.address, self.connection, self.turn, self.used = address, None, 0, None
        self.answered, self.lost, self.refused, self.wrong, self.times = 0, [], [], [], []

    def connect(self):
        if self.connection and self.connection.is_silent(0):
            return
        self.drop()
        try:
            self.connection, self.turn, self.used = Connection(self.address), 0, time.monotonic()
        except OSError as error:
            self.refused.append((time.monotonic(), str(error)))
            raise

    def drop(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def ask(self, data, status):
        """One request: its response, or None if it was lost."""
        self.connect()
        self.turn += 1
        begun = sent = time.monotonic()
        try:
            self.connection.send(data)
            sent = time.monotonic()
            found = self.connection.response()
        except (Closed, OSError) as error:
            if self.connection.received:
                self.wrong.append(Wrong(begun, time.monotonic(), None, "half: %r" % self.connection.received[:300]))
            self.lost.append(Lost(begun, time.monotonic(), sent - self.used, self.turn, str(error)))
            self.drop()
            return None
        self.used = begun
        self.times.append(time.monotonic() - begun)
        self.answered += 1
        if found.status != status:
            self.wrong.append(Wrong(begun, time.monotonic(), found.status, repr(found)[:300]))
        if found.closes:
            self.drop()
        return found


class Load:
    """Clients on threads that ask until they are told to stop. What goes wrong in one of them is told at the end."""

    KINDS = [(PROBE, 422), (request("GET", "/health"), 200), (request("POST", "/todos", {"title": "storm"}), 201),
             (request("GET", "/todos/999999999"), 404)]

    def __init__(self, found, count):
        self.clients = [Client(found.address) for _ in range(count)]
        self.ending, self.problems = threading.Event(), []
        self.threads = [threading.Thread(target=self.run, args=(number, client), daemon=True)
                        for number, client in enumerate(self.clients)]

    def run(self, number, client):
        turn = number
        try:
            while not self.ending.is_set():
                client.ask(*self.KINDS[turn % len(self.KINDS)])
                turn += 1
                self.ending.wait(PAUSE)
        except Exception as problem:
            self.problems.append("%s: %s" % (type(problem).__name__, problem))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for thread in self.threads:
            thread.join(2 * server.PATIENCE)
        for client in self.clients:
            client.drop()

    def of_all(self, name):
        return [item for client in self.clients for item in getattr(client, name)]

    @property
    def answered(self):
        return sum(client.answered for client in self.clients)

    def lost(self, seconds):
        """Requests that were lost though their connections were in use. One on which nothing came for so many seconds may
        be closed by a server that wants to be rid of it, and then the next request may meet that."""
        return [lost for lost in self.of_all("lost") if lost.idle < seconds]

    def expect_all_well(self):
        equal(self.problems, [], "problems")
        equal(self.of_all("wrong")[:3], [], "wrong answers")
        equal(self.of_all("refused")[:3], [], "refused connections")


HURRIED, UNHURRIED = 0.25, 5  # seconds that a worker which must go, or may go, leaves to an idle connection


class Stalls:
    """When the machine stood still: seen by a thread that does nothing but look at the clock."""

    def __init__(self):
        self.seen, self.ending = [], threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        last = time.monotonic()
        while not self.ending.wait(0.02):
            now = time.monotonic()
            if now - last > 0.5:
                self.seen.append((last, now))
            last = now

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()

    def met(self, begun, ended):
        return any(begun <= end and start <= ended for start, end in self.seen)


JUDGES = bool(os.environ.get("STORM_JUDGE"))
PROBES = 2000 if JUDGES else 300  # about a third of a second, so that a median says something


def median_of_probes(address):
    """The median time of a request, in seconds, as seen by a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            client = Client(address)
            for _ in range(PROBES):
                client.ask(PROBE, 422)
            result = {"median": statistics.median(client.times), "lost": client.lost, "wrong": client.wrong}
            os.write(writing, json.dumps(result).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    expect(text, "the probes failed")
    found = json.loads(text)
    equal((found["lost"], found["wrong"]), ([], []), "lost or wrong probes")
    return found["median"]


def medians(alone, found, begin=lambda: None, end=lambda: None):
    """The medians of a server without any other connection, and of one that has some and is asked between begin() and
    end(). Each answer is right. Who judges asks by turns until the best of the second is about as good as that of the first."""
    quiet = disturbed = float("inf")
    for _ in range(40 if JUDGES else 1):
        quiet = min(quiet, median_of_probes(alone.address))
        begin()
        disturbed = min(disturbed, median_of_probes(found.address))
        end()
        if disturbed <= 3 * quiet + 0.0005 or not JUDGES:
            return 1e6 * quiet, 1e6 * disturbed
    raise Broken("the median is %f s, and without other connections %f s" % (disturbed, quiet))


def memory(pids):
    """The bytes that processes have to themselves or as their share."""
    total = 0
    for pid in pids:
        with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
            total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return total


# ---- Many connections ----------------------------------------------------------------------------

WANTED, SLOW = (500, 100) if SANITIZED else (10_000, 1_000)


SPARE_FILES = 500  # of a process, for all but these connections


def possible_connections(wanted):
    """As many as the limits of the system let one process and the server have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    number = min(wanted, hard - SPARE_FILES if hard != resource.RLIM_INFINITY else wanted)
    if number < wanted // 20:
        raise Skipped("the limit of open files is %d" % hard)
    return number


def admit_fewer(number, wanted):
    """What was shown with less than it should be is not shown."""
    if number < wanted:
        raise Skipped("only %d connections: the limit of open files is %d" % (number, number + SPARE_FILES))


@test
def many_idle_and_slow_connections_leave_the_others_alone():
    number = possible_connections(WANTED)
    slow_number = SLOW * number // WANTED
    flags = ["--workers", "2", "--max-connections", "20000", "--idle-timeout-ms", "300000", "--head-timeout-ms", "300000"]
    with Server(*flags) as alone, Server(*flags) as found, contextlib.ExitStack() as stack:
        for one in (alone, found):  # what is allocated once is allocated now
            with Load(one, 4) as load:
                expect(wait_for(lambda: load.answered >= 1000), "only", load.answered, "requests were answered")
            load.expect_all_well()
            median_of_probes(one.address)
        workers = found.workers()
        before = memory(workers)

        idle = [stack.enter_context(found.connect()) for _ in range(number)]
        for connection in idle:  # each has had an answer, and keeps its connection
            connection.send(request("GET", "/health"))
        for connection in idle:
            equal(connection.response(checked=False).status, 200)
        equal(found.workers(), workers, "the workers")
        each = (memory(workers) - before) / number

        print("# medians %.0f µs alone, %.0f µs with idle connections" % medians(alone, found))
        ending, going = threading.Event(), threading.Event()
        slow = threading.Thread(target=dribble, args=(idle[:slow_number], ending, going), daemon=True)
        slow.start()
        print("# medians %.0f µs alone, %.0f µs with slow connections" % medians(alone, found, going.set, going.clear))
        going.set()
        ending.set()
        slow.join(server.PATIENCE)
        print("# %d connections: %.0f bytes each" % (number, each))
        if not SANITIZED:
            expect(each <= 4096, each, "bytes for each connection")
        for connection in random.Random(1).sample(idle[slow_number:], min(200, number - slow_number)):
            expect(connection.is_open(), "an idle connection is dead")
        for connection in idle[:5]:  # the slow ones come to their end
            equal(connection.send(b"\r\n\r\n").response().status, 200)
    admit_fewer(number, WANTED)


def dribble(connections, ending, going=None):
    """Each sends the fields of a request, byte by byte as long as it is going on, and never comes to an end."""
    for connection in connections:
        connection.send(b"GET /health HTTP/1.1\r\nHost: a\r\nX: ")
    while not ending.is_set():
        for connection in connections:
            if going:
                going.wait()
            if ending.is_set():
                break
            connection.send(b"y")
        time.sleep(0.05)


@test
def slow_connections_are_let_go_and_the_others_stay():
    number = possible_connections(SLOW)
    flags = ["--workers", "2", "--max-connections", "20000", "--idle-timeout-ms", "300000", "--head-timeout-ms", "1500"]
    with Server(*flags) as found, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(found.connect()) for _ in range(50)]
        equal({connection.ask("GET", "/health").status for connection in idle}, {200})
        slow = [stack.enter_context(found.connect()) for _ in range(number)]
        ending = threading.Event()
        thread = threading.Thread(target=dribble, args=(slow, ending), daemon=True)
        thread.start()
        deadline = time.monotonic() + 3 * server.PATIENCE
        for connection in slow:
            connection.socket.settimeout(max(0.1, deadline - time.monotonic()))
            equal(connection.response(checked=False).status, 408)
        ending.set()
        thread.join(server.PATIENCE)
        expect(all(connection.is_open() for connection in idle), "an idle connection is dead")
    admit_fewer(number, SLOW)


# ---- Killed workers ------------------------------------------------------------------------------


@test
def a_killed_worker_is_replaced_and_only_what_it_had_in_hand_is_lost():
    with Server("--workers", "2") as found:
        workers = found.workers()
        equal(len(workers), 2)
        kills = []
        with Load(found, 8) as load:
            for _ in range(3):
                time.sleep(0.7)
                victim, answered, killed = found.workers()[0], load.answered, time.monotonic()
                os.kill(victim, signal.SIGKILL)
                # A process whose first thread is dead may still hold its sockets; one that was waited for does not.
                expect(wait_for(lambda: not os.path.exists("/proc/%d" % victim)), "it lives")
                kills.append((killed, time.monotonic()))
                expect(wait_for(lambda: len(set(found.workers()) - {victim}) == 2), "it was not replaced")
                expect(wait_for(lambda: load.answered > answered + 50), "nothing is answered any more")
            time.sleep(0.5)
        load.expect_all_well()
        lost = load.of_all("lost")
        print("# %d answered, %d lost by 3 kills" % (load.answered, len(lost)))
        expect(len(lost) <= 8 * len(kills), len(lost), "requests were lost")
        for each in lost:
            expect(any(each.begun <= gone and each.ended >= killed for killed, gone in kills), "it was not in hand:", each)
        equal(len(found.workers()), 2, "workers")
        equal(found.stop().status, 0)


@test
def a_supervisor_that_dies_takes_its_workers_along():
    found = Server("--workers", "2")
    workers = found.workers()
    found.process.kill()
    found.wait()
    expect(wait_for(lambda: not set(workers) & {pid for pid, _ in server.processes()}), "workers are left")


@test
def workers_that_are_replaced_in_order_lose_nothing():
    with Server("--workers", "2") as found:
        before = set(found.workers())
        with Load(found, 8) as load:
            for _ in range(3):
                time.sleep(0.3)
                found.process.send_signal(signal.SIGUSR1)
            expect(wait_for(lambda: len(found.workers()) == 2 and not before & set(found.workers())), "not replaced")
            time.sleep(0.5)
            expect(wait_for(lambda: load.answered > 200), "only", load.answered, "requests were answered")
        load.expect_all_well()
        equal(load.lost(UNHURRIED)[:3], [], "lost requests")
        equal(found.stop().status, 0)


@test
def a_server_that_stops_under_load_finishes_what_it_has():
    with Server("--workers", "2") as found:
        with Load(found, 8) as load:
            expect(wait_for(lambda: load.answered > 1000), "only", load.answered, "requests were answered")
            ended = found.stop()
        equal(ended.status, 0)
        equal(load.of_all("wrong")[:3], [], "wrong answers")
        # Who comes after the end may still be queued by the system, and is turned away.
        equal([lost for lost in load.lost(HURRIED) if lost.turn > 1][:3], [], "lost requests")


# ---- Crashes under load --------------------------------------------------------------------------

CRASHES = 100 if SANITIZED else int(os.environ.get("HTTP_CRASHES", "1000"))


@test
def many_crashes_lose_no_other_request():
    if not server.CONTAINED:
        raise Skipped("the sanitizer would end the process")
    crashers, most = 4, [0]
    with Server("--workers", "2", "--chaos") as found:
        outcomes, problems = [], []

        def crash(number):
            client = Client(found.address)
            try:
                for turn in range(CRASHES // crashers):
                    how = ["crash", "crash", "crash", "abort", "divide"][turn % 5]
                    data, answer = request("POST", "/chaos", {"how": how, "marker": server.MARKER + "-storm"}), None
                    while not answer:
                        answer = client.ask(data, 500)
                        expect(answer or client.lost[-1].idle >= HURRIED, client.lost)
                    outcomes.append((answer.status, answer.json == INTERNAL))
            except Exception as problem:
                problems.append("%s: %s" % (type(problem).__name__, problem))

        begun = time.monotonic()
        with Load(found, 6) as load:
            threads = [threading.Thread(target=crash, args=(number,), daemon=True) for number in range(crashers)]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) and time.monotonic() - begun < 600:
                most[0] = max(most[0], len(found.workers()))
                time.sleep(0.02)
            time.sleep(0.3)
        print("# %d crashes and %d other requests in %.1f s; at most %d processes" %
              (len(outcomes), load.answered, time.monotonic() - begun, most[0]))
        equal(problems, [], "problems of those who crash it")
        equal((len(outcomes), set(outcomes)), (CRASHES, {(500, True)}), "answers to those who crash it")
        load.expect_all_well()
        equal(load.lost(HURRIED)[:3], [], "lost requests")
        expect(load.answered >= CRASHES // 2, "only", load.answered, "other requests were answered")
        expect(most[0] <= 64, most[0], "processes at once")
        expect(wait_for(lambda: len(found.workers()) == 2), "in the end there are", found.workers())
        equal(found.ask("GET", "/health").status, 200)
        equal(found.stop().status, 0)


# ---- Handlers that hang --------------------------------------------------------------------------


USUAL = 3 * 30  # seconds that they would take if it was told nothing


@test
def handlers_that_hang_are_answered_in_time_and_leave_the_others_alone():
    """More of them than there are threads."""
    limit = 4.0  # seconds; 12 that hang, on 4 threads, take three times that
    with Server("--workers", "2", "--handlers", "4", "--chaos", "--timeout-ms", "%d" % (limit * 1000)) as found:
        with Stalls() as stalls, Load(found, 4) as load:
            expect(wait_for(lambda: load.answered > 100), "only", load.answered, "requests were answered")
            stuck = [found.connect() for _ in range(12)]
            begun = time.monotonic()
            for connection in stuck:
                connection.send(request("POST", "/chaos", {"how": "hang"}))
            statuses = []
            for connection in stuck:
                answer = connection.response()
                statuses.append((answer.status, answer.json["error"]))
                connection.close()
            took = time.monotonic() - begun
            time.sleep(0.5)
        slowest = max(load.of_all("times"))
        print("# 12 hanging handlers: answered after %.1f s at the latest; %d other requests, slowest %.0f ms; stalls: %s" %
              (took, load.answered, 1000 * slowest, ["%.1f s" % (end - start) for start, end in stalls.seen]))
        equal((load.problems, load.of_all("refused")), ([], []), "problems and refused connections")
        # A handler that meets a stall of the machine outstays its time, too, or waits for a thread for too long. If a process alone
        # was held up, a call of each connection did.
        late = [wrong for wrong in load.of_all("wrong") if not stalls.met(wrong.begun, wrong.ended)]
        equal([wrong for wrong in late if wrong.status not in (503, 504) or wrong.ended - wrong.begun < limit][:3], [], "wrong answers")
        expect(len(late) <= 4, len(late), "others outstayed their time:", late[:3])
        expect(set(statuses) <= {(504, "timeout"), (503, "unavailable"), (503, "service_unavailable")}, statuses)
        expect((504, "timeout") in statuses, statuses)
        expect(limit - 0.1 < took < USUAL, "it took", took, "seconds")
        equal(load.lost(UNHURRIED)[:3], [], "lost requests")
        expect(slowest < USUAL, "another waited", slowest)
        expect(wait_for(lambda: found.ask("GET", "/todos").status == 200), "it does not go on")


# ---- After all -----------------------------------------------------------------------------------


@test
def every_failure_of_the_run_fits_the_schema():
    server.fits_the_schema()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
