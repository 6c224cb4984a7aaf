"""Where the processes of a server wait off the processor, from the switches of the kernel's scheduler.

A process that leaves the processor waits for one of three things: for an event (a message, a lock, a timer), for the disk (a page of a file, a flush), or
for a processor: it could run, but another process does. `sched:sched_switch` tells when it leaves, with its stack, and when it comes back;
`sched:sched_wakeup` tells from when on it only waits for a processor.
"""
import collections
import re
import signal
import subprocess
import time

import parts
from figures import Void

EVENTS = ("sched:sched_switch/call-graph=fp/", "sched:sched_wakeup", "sched:sched_wakeup_new")
FIELDS = "trace:comm,tid,time,event,trace,ip,sym,dso"
EVENT, DISK, PROCESSOR, RUNNING = "an event", "the disk", "a processor", "nothing"
LONGEST_FILTER = 4000  # characters, of the kernel
SETTLED = 1  # seconds until perf records
FEWEST = 100  # events

SWITCH = re.compile(r"\s*(?P<name>.*?)\s+\d+\s+(?P<time>\d+\.\d+): +sched:sched_switch: .*?prev_pid=(?P<left>\d+) .*?prev_state=(?P<state>\S+) ==> .*?next_pid=(?P<came>\d+)")
WAKEUP = re.compile(r"\s*.*?\s+\d+\s+(?P<time>\d+\.\d+): +sched:sched_wakeup(?:_new)?: comm=.*? pid=(?P<woken>\d+) ")

Switch = collections.namedtuple("Switch", "time name left state came frames")
Wakeup = collections.namedtuple("Wakeup", "time woken")
Wait = collections.namedtuple("Wait", "begin end name reason frames")  # of one thread


# ---- Reading ---------------------------------------------------------------------------------------------------------------------------------------------


def blocks(lines):
    """The lines of each event, without those that are empty: one, and its stack, which is indented by a tab."""
    block = []
    for line in map(str.rstrip, lines):
        if block and line and not line.startswith("\t"):
            yield block
            block = []
        if line:
            block.append(line)
    if block:
        yield block


def events(lines):
    """Switches and wakeups, in the order of their times, from what `perf script` has printed. A stack that occurs again is kept once."""
    stacks = {}
    for block in blocks(lines):
        if "PERF_RECORD_LOST" in block[0]:
            raise Void("perf has lost events of the scheduler: the machine is too busy")
        switch = SWITCH.match(block[0])
        if switch:
            text = "\n".join(block[1:])
            frames = stacks[text] if text in stacks else stacks.setdefault(text, parts.frames_of(block[1:]))
            yield Switch(float(switch["time"]), switch["name"], int(switch["left"]), switch["state"], int(switch["came"]), frames)
            continue
        wakeup = WAKEUP.match(block[0])
        if wakeup:
            yield Wakeup(float(wakeup["time"]), int(wakeup["woken"]))


# ---- Counting --------------------------------------------------------------------------------------------------------------------------------------------


def waits(found, threads):
    """Each wait of one of the threads that began and ended within the events. After its wakeup it waits for a processor."""
    away, woken = {}, {}
    for event in found:
        if isinstance(event, Wakeup):
            if event.woken in away:
                woken.setdefault(event.woken, event.time)
            continue
        left = away.pop(event.came, None)
        if left:
            ready = left.time if left.state.startswith("R") else woken.get(event.came, event.time)
            if ready > left.time:
                yield Wait(left.time, ready, left.name, DISK if left.state.startswith("D") else EVENT, left.frames)
            if event.time > ready:
                yield Wait(ready, event.time, left.name, PROCESSOR, left.frames)
        woken.pop(event.came, None)
        if event.left in threads:
            away[event.left] = event


def none_runs(found, threads, begin, end):
    """The seconds from begin to end: those in which one of the threads is on a processor, and the others by the best that one of them could do, which is to
    run if it had a processor, or to wait for the disk, or to wait for an event. A thread counts as asleep until its first event."""
    state, seconds, before = {}, collections.Counter(), begin
    for event in found:
        seconds[best_of(state.values())] += event.time - before
        before = event.time
        if isinstance(event, Wakeup):
            if event.woken in threads and state.get(event.woken) != RUNNING:
                state[event.woken] = PROCESSOR
            continue
        if event.left in threads:
            state[event.left] = PROCESSOR if event.state.startswith("R") else DISK if event.state.startswith("D") else EVENT
        if event.came in threads:
            state[event.came] = RUNNING
    seconds[best_of(state.values())] += end - before
    return seconds


def best_of(states):
    return next((state for state in (RUNNING, PROCESSOR, DISK) if state in states), EVENT)


def by_place(found, program):
    """{(process, where, reason): (times, seconds)}"""
    counted = collections.defaultdict(lambda: (0, 0.0))
    for wait in found:
        place = parts.part_of_stack(wait.frames, program) if wait.frames else "no stack"
        key = wait.name, place.removeprefix("kernel: "), wait.reason
        times, seconds = counted[key]
        counted[key] = times + 1, seconds + wait.end - wait.begin
    return counted


# ---- Recording -------------------------------------------------------------------------------------------------------------------------------------------


def filters(threads):
    """For the switches and for the wakeups: the kernel records those of the threads alone. None if there are too many."""
    switches = " || ".join(f"prev_pid == {thread} || next_pid == {thread}" for thread in threads)
    wakeups = " || ".join(f"pid == {thread}" for thread in threads)
    return (switches, wakeups) if len(switches) < LONGEST_FILTER else (None, None)


def record(threads, file, work):
    """The events of the scheduler while work() runs, as recorded() finds them; what it returns, and when it began and ended."""
    switches, wakeups = filters(threads)
    words = ["perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", "8M", "-o", file]
    for event, chosen in zip(EVENTS, (switches, wakeups, wakeups)):
        words += ["-e", event, *(["--filter", chosen] if chosen else [])]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as perf:
        try:
            time.sleep(SETTLED)
            begin = time.monotonic()
            done = work()
            end = time.monotonic()
        finally:
            perf.send_signal(signal.SIGINT)
            told = perf.communicate()[1]
    found = [event for event in recorded(file) if begin <= event.time <= end]
    if len(found) < FEWEST:
        raise Void(f"perf has recorded {len(found)} events of the scheduler: {told.strip()[:300] or 'too few'}")
    return found, done, begin, end


def recorded(file):
    """The events that record() has written."""
    with subprocess.Popen(["perf", "script", "-i", file, "--ns", "--show-lost-events", "-F", FIELDS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace") as script:
        found = list(events(script.stdout))
    if script.returncode:
        raise Void(f"perf cannot read its events of the scheduler: it ends with {script.returncode}")
    return found
