"""Thousands of handlers that die in every way, among good calls over HTTP and MCP: no other caller may notice.

    MISHAP_PROGRAM=… FAULTS_PROGRAM=… python3 tests/storm/storm.py [--good N] [--faults M] [--seconds S] [--seed X]
                                                               [--only KIND,KIND] [--judge] [PART-OF-A-NAME]

Speaks TAP. As it stands it sends as fast as the answers come, and takes some seconds. With --seconds S the calls are spread
over that time, and slices in which faults are sent take turns with quiet ones: both are then measured on the same machine
in the same mood. --judge holds the times of the slices against each other, which is for a machine with little else to do:
scripts/storm does. --only leaves out all other kinds of faults.
"""
import contextlib
import argparse
import functools
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import server  # noqa: E402
from blackbox import Broken, equal, expect, main, test  # noqa: E402
import drivers  # noqa: E402
import tree  # noqa: E402
import wire  # noqa: E402

PROGRAM = os.path.abspath(os.environ["FAULTS_PROGRAM"])
HTTP_DRIVERS = 2
STDIO_SHARE, STDIO_FAULTS = 0.1, 0.25
WARM = 3000  # good calls before anything is measured
QUIET, STORMY = 2.5, 5.0  # seconds of a slice
SETTLE = 60  # seconds for what is put away when there are no calls
WORST_RATIO, NOISE = 3, 0.0005  # p99 in the storm against that of a quiet server; seconds that do not count
MOST_PROBLEMS, LONGEST_STALL = 300, 120  # wrong answers, and seconds without an answer, with which it is given up
MEMORY_SLACK = 2 * 1024 * 1024  # bytes that a process may keep for itself
DESCRIPTORS_FOR_A_WORKER = 4  # of the keeper or a loop

parser = argparse.ArgumentParser()
for flag, value in [("good", 6000), ("faults", 180), ("seconds", 0), ("seed", 1)]:
    parser.add_argument("--" + flag, type=int, default=value)
parser.add_argument("--only", default="")
parser.add_argument("--judge", action="store_true")
parser.add_argument("part", nargs="?")
asked = parser.parse_args()
sys.argv[1:] = [asked.part] if asked.part else []


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


class Hope:
    """Is there more to be learned? Not if nearly all is wrong, nor if nothing is answered any more."""

    def __init__(self, flags):
        self.flags, self.good, self.since = flags, 0, time.monotonic()

    def is_lost(self):
        if sum(self.flags.good) > self.good:
            self.good, self.since = sum(self.flags.good), time.monotonic()
        return max(sum(self.flags.wrong) + sum(self.flags.lost), sum(self.flags.judged)) > MOST_PROBLEMS or \
            time.monotonic() > self.since + LONGEST_STALL


class Storm:
    """All of it, from the start of the servers to their end; the tests look at what was found."""

    def __init__(self):
        self.mark = tree.new_mark()
        self.http = server.Server("--workers", "2", program=PROGRAM, **{tree.MARK: self.mark})
        self.stdio = self.start_stdio()
        table = wire.read_table(self.http.address)
        wanted = asked.only.split(",") if asked.only else [fault.name for fault in table]
        self.faults = {fault.name: fault for fault in table if fault.name in wanted}
        self.warm_up()
        self.before = {name: tree.Tree(pid) for name, pid in self.supervisors.items()}
        self.rage()
        self.after = {name: self.settled(name, pid) for name, pid in self.supervisors.items()}
        self.astray = [pid for pid in tree.marked(self.mark) if not any(pid in found.all for found in self.after.values())]
        self.end()
        self.incidents = self.read_log()

    @property
    def supervisors(self):
        return {"HTTP": self.http.process.pid, "stdio": self.stdio.pid}

    def start_stdio(self):
        with open(self.http.stderr + ".stdio", "wb") as err:
            return subprocess.Popen([PROGRAM, "mcp", "--data", self.http.data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err,
                                    env=dict(os.environ, FAULTS_LOG=self.http.log, **{tree.MARK: self.mark}))

    def deal(self, count):
        """Each kind of fault equally often, in any order."""
        faults = list(self.faults.values())
        dealt = [faults[at % len(faults)] for at in range(count)]
        random.Random(asked.seed).shuffle(dealt)
        return dealt

    def run(self, good, faults, seconds):
        """Drive until so many calls were answered: (results of the drivers, flags)."""
        flags = drivers.Flags(HTTP_DRIVERS + 3)
        rate = good / seconds if seconds else 0
        for_stdio = int(len(faults) * STDIO_FAULTS)
        first = faults[for_stdio:]
        share = len(first) / max(1, len(faults))
        team = [drivers.Good(flags, number, asked.seed, self.http.address, rate * (1 - STDIO_SHARE) / HTTP_DRIVERS)
                for number in range(HTTP_DRIVERS)]
        team += [drivers.Probe(flags, HTTP_DRIVERS, asked.seed, self.http.address),
                 drivers.Faulty(flags, HTTP_DRIVERS + 1, asked.seed, self.http.address, first, share),
                 drivers.Stdio(flags, HTTP_DRIVERS + 2, asked.seed, self.stdio, faults[:for_stdio], rate * STDIO_SHARE, 1 - share)]
        for driver in team:
            driver.start()
        self.watch(flags, good, len(faults), seconds)
        flags.shared.ending = True
        return [driver.result() for driver in team], flags

    @staticmethod
    def watch(flags, good, faults, seconds):
        """Let slices of time take turns, and say how it goes, until all is answered."""
        begun, told, stormy, last = time.monotonic(), time.monotonic(), 0.0, (0, 0)
        calm = seconds * STORMY / (QUIET + STORMY)  # seconds in which faults are sent
        limit = begun + 4 * max(seconds, 60) + faults / 5 + good / 200
        flags.shared.allowed, hope = 0 if seconds else faults, Hope(flags)
        while time.monotonic() < limit and (sum(flags.good) < good or sum(flags.faults) < faults) and not hope.is_lost():
            for raging, length in ((False, QUIET), (True, STORMY)) if seconds and faults else ((True, STORMY),):
                flags.shared.raging, flags.shared.slice = raging, flags.shared.slice + 1
                start = now = time.monotonic()
                while now - start < length and (sum(flags.good) < good or sum(flags.faults) < faults):
                    time.sleep(0.02)
                    stormy, now = stormy + (time.monotonic() - now if raging else 0), time.monotonic()
                    if raging and seconds:
                        flags.shared.allowed = min(faults, int(faults * stormy / calm) + 1)
                if not raging:
                    continue
                pause, told = time.monotonic() - told, time.monotonic()
                counts = sum(flags.good), sum(flags.faults)
                print("# %4d s: %d good calls (%d/s), %d faults (%.1f/s); %d wrong, %d lost, %d faults not as expected" % (
                    told - begun, counts[0], (counts[0] - last[0]) / pause, counts[1], (counts[1] - last[1]) / pause,
                    sum(flags.wrong), sum(flags.lost), sum(flags.judged)), flush=True)
                last = counts

    def warm_up(self):
        """What is allocated once is allocated now."""
        self.warm = self.run(WARM, list(self.faults.values()) * (2 if asked.faults else 0), 0)
        results, flags = self.warm
        if sum(flags.good) < WARM or sum(flags.faults) < 2 * len(self.faults) * bool(asked.faults):
            wrong = ["%s over %s: %s" % (row[0], row[1], row[4]) for result in results[-2:] for row in result[0] or [] if row[4]]
            raise Broken("\n".join(["the server does not live through the warm-up:", *results[0][1][:3], *sorted(set(wrong))]))
        time.sleep(3)

    def rage(self):
        self.dealt = self.deal(asked.faults)
        self.results, self.flags = self.run(asked.good, self.dealt, asked.seconds)
        (*self.good, self.probe, faulty, stdio) = self.results
        self.verdicts = (faulty[0] or []) + (stdio[0] or [])

    def settled(self, name, pid):
        """The processes when there are no calls: as soon as nothing is left over, or after some time."""
        def look():
            found = tree.Tree(pid)
            return None if left_over(self.before[name], found) else found
        return tree.wait_for(look, SETTLE) or tree.Tree(pid)

    def end(self):
        self.stdio.stdin.close()
        try:
            self.stdio_status = self.stdio.wait(server.PATIENCE)
        except subprocess.TimeoutExpired:
            self.stdio.kill()
            self.stdio_status = "it did not end"
        self.http_status = self.http.stop().status
        self.orphans = [] if tree.wait_for(lambda: not tree.marked(self.mark), server.PATIENCE) else tree.marked(self.mark)
        for pid in self.orphans:
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(pid, signal.SIGKILL)

    def read_log(self):
        """{incident id: its entry in the log}"""
        text = server.Server.read(self.http.log).decode("utf-8", "replace")
        entries = re.split(r"^(?=\d{4}-\d\d-\d\dT\S+ \S+ faults )", text, flags=re.M)
        return {entry.split(" ", 2)[1]: entry for entry in entries if entry.count(" ") > 2}


def left_over(before, after):
    """What one moment has more than an earlier one."""
    found = []
    more_workers = max(0, len(after.workers) - len(before.workers))
    found += ["process %d below a worker" % pid for pid in after.deeper]
    # The process that writes the journal has a thread that syncs it.
    found += ["%s %d has %d threads" % (after.role(pid), pid, count) for pid, count in after.threads.items() if count > 1 + (after.role(pid) == "log")]
    # A worker belongs to one loop now and may belong to the other later, so loops are counted together.
    for role in sorted({after.role(pid) for pid in after.lasting}):
        pids = [pid for pid in after.lasting if after.role(pid) == role and pid in before.descriptors]
        now, had = (sum(moment.descriptors[pid] for pid in pids) for moment in (after, before))
        if now > had + DESCRIPTORS_FOR_A_WORKER * more_workers:
            found.append("%s %s: %d descriptors, before %d" % (role, pids, now, had))
    for pid in after.lasting:
        if pid in before.descriptors:
            if after.memory[pid] > before.memory[pid] + MEMORY_SLACK:
                found.append("%s %d has %d KB, had %d" % (after.role(pid), pid, after.memory[pid] // 1024, before.memory[pid] // 1024))
    return found


@functools.lru_cache(None)
def begun():
    try:
        return Storm()
    except Exception as problem:
        return problem


def storm():
    """What it found; or, for the first test that asks, why there is nothing."""
    found, first = begun(), begun.cache_info().hits == 0
    if isinstance(found, Exception):
        raise found if first else Broken("there was no storm")
    return found


def expect_none(problems, what):
    """No problem at all; a few of them are shown, of each kind of fault at least one."""
    shown, names = [], set()
    for name, words in problems:
        if name not in names or len(shown) < 5:
            shown.append("%s: %s" % (name, words))
            names.add(name)
    expect(not problems, "%d %s:\n" % (len(problems), what) + "\n".join(shown[:40]))


# ---- What the storm has shown --------------------------------------------------------------------


@test
def every_good_call_is_answered_rightly():
    found = storm()
    problems = [("driver %d" % number, words) for number, result in enumerate(found.results) for words in result[1]]
    expect_none(problems, "good calls, or more, were not")
    equal((sum(found.flags.wrong), sum(found.flags.lost)), (0, 0), "wrong and lost answers")
    expect(sum(found.flags.good) >= asked.good, "only", sum(found.flags.good), "of", asked.good, "were answered")


@test
def the_calls_of_the_warm_up_are_answered_rightly():
    results, flags = storm().warm
    problems = [words for result in results for words in result[1]]
    equal((problems, sum(flags.wrong), sum(flags.lost)), ([], 0, 0), "wrong and lost answers")
    wrong = [(row[0], "over %s: %s" % (row[1], row[4])) for result in results[-2:] for row in result[0] or [] if row[4]]
    expect_none(wrong, "faults are not answered as expected")


@test
def no_connection_of_a_good_call_is_closed():
    equal(sum(result[2] for result in storm().results[:-2]), 0, "closed connections")


@test
def every_faulty_call_has_its_structured_failure():
    found = storm()
    expect_none([(row[0], "over %s after %.1f s: %s" % (row[1], row[5], row[4])) for row in found.verdicts if row[4]],
                "faulty calls are not answered as expected")
    equal(len(found.verdicts), asked.faults, "faulty calls")


@test
def every_failure_has_an_incident_that_names_the_operation():
    found, problems = storm(), []
    for name, over, _, incident, _, _ in found.verdicts:
        if incident:
            entry = found.incidents.get(incident)
            if not entry:
                problems.append((name, "nothing about %s, over %s, in the log" % (incident, over)))
            elif not re.search(r"\bfault[._ ]%s\b" % name, entry.split("\n")[0]):
                problems.append((name, entry.split("\n")[0]))
    expect_none(problems, "failures without an incident")
    expect(any(row[3] for row in found.verdicts), "there was no incident")


@test
def every_incident_says_in_which_way_the_handler_died():
    found, problems = storm(), []
    for name, _, _, incident, _, _ in found.verdicts:
        entry = found.incidents.get(incident)
        if entry and not re.search(found.faults[name].way, entry.partition("\n")[2]):
            problems.append((name, "%s is not in %s" % (found.faults[name].way, entry)))
    expect_none(problems, "incidents that do not say it")


@test
def every_incident_shows_the_stack_of_the_handler():
    found, problems = storm(), []
    for name, _, _, incident, _, _ in found.verdicts:
        entry, frame = found.incidents.get(incident), found.faults[name].frame
        if entry and frame and not re.search(r"^ *#\d+ %s\b" % frame, entry, re.M):
            problems.append((name, "%s is not in the stack of %s" % (frame, entry)))
    expect_none(problems, "incidents that do not show it")


@test
def no_incident_is_about_a_good_call():
    found = storm()
    problems = [("good", entry) for entry in found.incidents.values() if re.search(r" faults good[. ]", entry.split("\n")[0])]
    expect_none(problems, "incidents of good calls")


def good_calls_take_at_most_three_times_as_long():
    """The best slices of both kinds, for other work of the machine only adds."""
    found = storm()
    slices = {number: times for number, times in (found.probe[0] or {}).items() if len(times) >= 50}
    of_quiet = [times for number, times in slices.items() if number % 2 == 1]
    of_storm = [times for number, times in slices.items() if number % 2 == 0]
    expect(of_quiet and of_storm, "too few probes:", {number: len(times) for number, times in slices.items()})
    quiet, stormy = ([percentile(times, 0.99) for times in all_of] for all_of in (of_quiet, of_storm))
    for name, all_of, last in (("quiet", of_quiet, quiet), ("storm", of_storm, stormy)):
        together = [one for times in all_of for one in times]
        print("# %s: p50 %.2f ms, p99 %.2f ms (best slice %.2f), longest %.0f ms, %d probes" % (
            name, 1e3 * percentile(together, 0.5), 1e3 * percentile(together, 0.99), 1e3 * min(last), 1e3 * max(together), len(together)))
    expect(min(stormy) <= WORST_RATIO * min(quiet) + NOISE, "p99 of a quiet server:", min(quiet), "in the storm:", min(stormy))


if asked.judge:
    test(good_calls_take_at_most_three_times_as_long)


@test
def keeper_and_loops_live_through_it():
    found = storm()
    for name in found.supervisors:
        print("# %s before: %s" % (name, found.before[name]))
        print("# %s after:  %s" % (name, found.after[name]))
        equal(found.after[name].children, found.before[name].children, "what stands below the supervisor, " + name)


@test
def no_process_thread_descriptor_or_memory_is_left_over():
    found = storm()
    equal(found.astray, [], "processes outside of the tree")
    for name in found.supervisors:
        equal(left_over(found.before[name], found.after[name]), [], "left over, " + name)


@test
def the_servers_end_in_order_and_leave_no_process():
    found = storm()
    equal((found.http_status, found.stdio_status), (0, 0), "exit")
    equal(found.orphans, [], "processes that are left")


main()
