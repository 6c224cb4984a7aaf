"""The processes that drive the storm. Each sends calls of one kind, checks every answer and hands back what it found.

They are told by flags in shared memory when faults are to be sent and when it is over, and count there what was answered.
"""
import ctypes
import json
import multiprocessing
import random
import threading
import time

import wire
from wire import Lost, Wire

fork = multiprocessing.get_context("fork")
KEPT = 20  # problems of a kind that are kept in words; all are counted


class Shared(ctypes.Structure):
    _fields_ = [("ending", ctypes.c_bool), ("raging", ctypes.c_bool), ("slice", ctypes.c_int),
                ("allowed", ctypes.c_long)]  # faults that may have been sent by now


class Flags:
    """What all processes see."""

    def __init__(self, drivers):
        self.shared = fork.RawValue(Shared)
        self.good, self.faults = fork.RawArray("l", drivers), fork.RawArray("l", drivers)
        self.wrong, self.lost, self.judged = (fork.RawArray("l", drivers) for _ in range(3))


class Driver:
    """A process of its own; run() is what it does, and what run() returns comes back from result()."""

    def __init__(self, flags, number, seed):
        self.flags, self.number, self.random = flags, number, random.Random("%s %d" % (seed, number))
        self.problems, self.closed = [], 0
        self.reading, self.writing = fork.Pipe(duplex=False)
        self.process = fork.Process(target=self.begin, daemon=True)

    def start(self):
        self.process.start()
        self.writing.close()

    def begin(self):
        try:
            found = self.run()
        except BaseException as problem:
            found = None
            self.problems.append("the driver failed: %s: %s" % (type(problem).__name__, problem))
            self.flags.wrong[self.number] += 1
        self.writing.send((found, self.problems, self.closed))
        self.writing.close()

    def result(self):
        found = self.reading.recv() if self.reading.poll(120) else (None, ["the driver does not end"], 0)
        self.process.join(10)
        return found

    def note(self, counter, words):
        counter[self.number] += 1
        if len(self.problems) < KEPT:
            self.problems.append(words)

    @property
    def over(self):
        return self.flags.shared.ending


class Pace:
    """So many a second, in the long run."""

    def __init__(self, rate):
        self.rate, self.due = rate, time.monotonic()

    def wait(self, count):
        if self.rate:
            now = time.monotonic()
            self.due = max(self.due, now - 1)  # what was missed is not made up for all at once
            if self.due > now:
                time.sleep(self.due - now)
            self.due += count / self.rate


class Good(Driver):
    """Good calls over HTTP and MCP over HTTP, several on each connection at once."""

    CONNECTIONS, AHEAD = 4, 4

    def __init__(self, flags, number, seed, address, rate):
        super().__init__(flags, number, seed)
        self.address, self.rate = address, rate

    def choose(self):
        kind, number = self.random.choice(wire.WEIGHTED), self.random.randint(wire.FIRST, wire.LAST)
        return kind, number, self.random.random() < 0.3

    def take(self, one, batch):
        for at, (kind, number, over_mcp) in enumerate(batch):
            try:
                status, _, body = one.receive()
            except Lost as problem:
                for _ in batch[at:]:
                    self.note(self.flags.lost, "good.%s %d: %s" % (kind, number, problem))
                return
            wrong = wire.wrong_mcp(kind, number, body) if over_mcp else wire.wrong_http(kind, number, status, body)
            if wrong:
                self.note(self.flags.wrong, wrong)
            self.flags.good[self.number] += 1

    def run(self):
        wires, pace = [Wire(self.address) for _ in range(self.CONNECTIONS)], Pace(self.rate)
        while not self.over:
            pace.wait(self.CONNECTIONS * self.AHEAD)
            sent = []
            for one in wires:
                batch = [self.choose() for _ in range(self.AHEAD)]
                data = b"".join(wire.filled((wire.MCP if over_mcp else wire.HTTP)[kind], number) for kind, number, over_mcp in batch)
                try:
                    one.send(data)
                    sent.append((one, batch))
                except (Lost, OSError) as problem:
                    for kind, number, _ in batch:
                        self.note(self.flags.lost, "good.%s %d: %s" % (kind, number, problem))
            for one, batch in sent:
                self.take(one, batch)
        self.closed = sum(one.closed for one in wires)
        for one in wires:
            one.close()


class Probe(Driver):
    """One good call after the other, and how long each takes: a list of seconds for each slice of time."""

    KINDS = ["sum", "beside", "sum", "rows"]

    def __init__(self, flags, number, seed, address):
        super().__init__(flags, number, seed)
        self.address = address

    def run(self):
        one, times, turn = Wire(self.address), {}, 0
        while not self.over:
            kind, number = self.KINDS[turn % len(self.KINDS)], self.random.randint(wire.FIRST, wire.LAST)
            turn += 1
            slice_of_time, begun = self.flags.shared.slice, time.monotonic()
            try:
                status, _, body = one.ask(wire.filled(wire.HTTP[kind], number))
            except (Lost, OSError) as problem:
                self.note(self.flags.lost, "good.%s %d: %s" % (kind, number, problem))
                continue
            times.setdefault(slice_of_time, []).append(time.monotonic() - begun)
            wrong = wire.wrong_http(kind, number, status, body)
            if wrong:
                self.note(self.flags.wrong, wrong)
            self.flags.good[self.number] += 1
            time.sleep(0.002)
        self.closed = one.closed
        one.close()
        return times


class Verdicts:
    """What became of each faulty call: (name, over what, status, incident or None, what is wrong or None, seconds)."""

    def __init__(self, driver):
        self.driver, self.lock, self.all = driver, threading.Lock(), []

    def add(self, fault, over, status, incident, wrong, seconds):
        with self.lock:
            self.all.append((fault.name, over, status, incident, wrong, seconds))
            self.driver.flags.faults[self.driver.number] += 1
            if wrong:
                self.driver.flags.judged[self.driver.number] += 1


class Faulty(Driver):
    """Faulty calls over HTTP and MCP over HTTP by turns, on threads with a connection each. `share` of what is allowed is its."""

    THREADS = 6

    def __init__(self, flags, number, seed, address, faults, share):
        super().__init__(flags, number, seed)
        self.address, self.faults, self.share = address, faults, share

    def next(self):
        """The number of the next faulty call, once it may be sent; None at the end."""
        with self.lock:
            while not self.over and self.taken < len(self.faults) and self.taken >= self.flags.shared.allowed * self.share:
                time.sleep(0.005)
            if self.over or self.taken >= len(self.faults):
                return None
            self.taken += 1
            return self.taken - 1

    def call(self):
        one = Wire(self.address)
        while (at := self.next()) is not None:
            fault, begun = self.faults[at], time.monotonic()
            over = "MCP" if at // 2 % 2 else "HTTP"
            try:
                if over == "HTTP":
                    found = wire.judge_http(fault, *one.ask(fault.http))
                else:
                    found = wire.judge_mcp(fault, at, one.ask(fault.mcp(at))[2])
            except (Lost, OSError) as problem:
                found = (0, None, str(problem))
            self.verdicts.add(fault, over, *found, time.monotonic() - begun)
        self.closed += one.closed
        one.close()

    def run(self):
        self.lock, self.taken, self.verdicts = threading.Lock(), 0, Verdicts(self)
        threads = [threading.Thread(target=self.call, daemon=True) for _ in range(self.THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.verdicts.all


class Stdio(Driver):
    """Good and faulty calls over standard input and output; answers come in any order."""

    AHEAD, FAULTS_AHEAD = 8, 3

    def __init__(self, flags, number, seed, process, faults, rate, share):
        super().__init__(flags, number, seed)
        self.server, self.faults, self.rate, self.share = process, faults, rate, share

    def read(self):
        for line in self.server.stdout:
            try:
                number = json.loads(line)["id"]
            except (ValueError, KeyError, TypeError):
                self.note(self.flags.wrong, "a line that is no answer: %r" % line[:300])
                continue
            with self.changed:
                asked = self.waiting.pop(number, None)
                self.changed.notify()
            if not asked:
                self.note(self.flags.wrong, "an answer to nothing: %r" % line[:300])
            elif isinstance(asked[0], wire.Fault):
                self.verdicts.add(asked[0], "stdio", *wire.judge_mcp(asked[0], number, line), time.monotonic() - asked[1])
            else:
                wrong = wire.wrong_mcp(asked[0], number, line)
                if wrong:
                    self.note(self.flags.wrong, wrong)
                self.flags.good[self.number] += 1
        with self.changed:
            self.ended = True
            self.changed.notify()

    def send(self, number, what, data):
        with self.changed:
            self.waiting[number] = (what, time.monotonic())
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def room(self, faults):
        return sum(isinstance(what, wire.Fault) == faults for what, _ in self.waiting.values()) < \
            (self.FAULTS_AHEAD if faults else self.AHEAD)

    def run(self):
        self.changed, self.waiting, self.ended, self.verdicts = threading.Condition(), {}, False, Verdicts(self)
        threading.Thread(target=self.read, daemon=True).start()
        pace, taken, number, late = Pace(self.rate), 0, wire.FIRST, None
        while not self.ended and (not self.over or self.waiting):
            if self.over:
                late = late or time.monotonic() + wire.LONGEST
                if time.monotonic() > late:
                    break
                time.sleep(0.01)
                continue
            if taken < len(self.faults) and taken < self.flags.shared.allowed * self.share and self.room(True):
                self.send(taken, self.faults[taken], self.faults[taken].line(taken))
                taken += 1
            with self.changed:
                ready = self.changed.wait_for(lambda: self.room(False) or self.ended, 0.01)
            if ready and not self.ended:
                kind, number = self.random.choice(wire.WEIGHTED), number + 1
                self.send(number, kind, wire.filled(wire.LINE[kind], number))
                pace.wait(1)
        for asked, (what, _) in list(self.waiting.items()):
            if isinstance(what, wire.Fault):
                self.verdicts.add(what, "stdio", 0, None, "no answer came", 0)
            else:
                self.note(self.flags.lost, "good.%s %d over stdio: no answer came" % (what, asked))
        if self.ended:
            self.note(self.flags.wrong, "the server over standard input and output has ended")
        return self.verdicts.all
