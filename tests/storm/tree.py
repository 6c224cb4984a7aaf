"""The processes of a server under test, as /proc shows them.

A server is started with a mark in its environment, which everything that it starts inherits: what has the mark and is not
below the supervisor was left over. What stands directly below the supervisor is the processes that write logs, the keeper
and the loops; the keeper is the one that has children, and these are the workers.
"""
import atexit
import contextlib
import os
import signal
import sys
import time
import uuid

MARK = "STORM_MARK"


def new_mark():
    """A mark of its own. What has it when the test ends, or is ended, is killed."""
    mark = uuid.uuid4().hex
    atexit.register(kill_marked, mark, os.getpid())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return mark


def kill_marked(mark, owner):
    if os.getpid() == owner:  # not in what it has forked
        for pid in marked(mark):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def status_of(pid):
    """State, parent and number of threads of a process; None if it is gone."""
    with contextlib.suppress(OSError), open("/proc/%d/stat" % pid, encoding="latin-1") as file:
        fields = file.read().rpartition(")")[2].split()
        return fields[0], int(fields[1]), int(fields[17])
    return None


def all_processes():
    """{pid: (state, parent, threads)} of all but the dead."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            status = status_of(int(name))
            if status and status[0] not in "ZX":
                found[int(name)] = status
    return found


def marked(mark):
    """The living processes that have a mark."""
    wanted, found = ("%s=%s" % (MARK, mark)).encode(), []
    for pid in all_processes():
        with contextlib.suppress(OSError), open("/proc/%d/environ" % pid, "rb") as file:
            if wanted in file.read().split(b"\0"):
                found.append(pid)
    return found


def gone(pid):
    status = status_of(pid)
    return status is None or status[0] in "ZX"


def name_of(pid):
    with contextlib.suppress(OSError), open("/proc/%d/comm" % pid, encoding="latin-1") as file:
        return file.read().strip()
    return None


def descriptors(pid):
    with contextlib.suppress(OSError):
        return len(os.listdir("/proc/%d/fd" % pid))
    return 0


def private_dirty(pid):
    """The bytes that a process alone has written to."""
    with contextlib.suppress(OSError), open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Private_Dirty:"))
    return 0


class Tree:
    """What stands below a supervisor at one moment."""

    def __init__(self, supervisor):
        found = all_processes()
        self.supervisor = supervisor
        self.children = sorted(pid for pid, status in found.items() if status[1] == supervisor)
        below = {pid: sorted(child for child, status in found.items() if status[1] == pid) for pid in found}
        self.keepers = [pid for pid in self.children if below[pid]]
        self.logs = [pid for pid in self.children if not below[pid] and name_of(pid) == "mishap-log"]
        self.readers = [pid for pid in self.children if not below[pid] and name_of(pid) in ("mishap-index", "mishap-otlp")]  # of the journal
        self.loops = [pid for pid in self.children if not below[pid] and pid not in self.logs + self.readers]
        self.workers = sorted(child for pid in self.keepers for child in below[pid])
        self.deeper, level = [], self.workers  # what workers have started
        while level:
            level = [child for pid in level for child in below.get(pid, [])]
            self.deeper += level
        self.threads = {pid: found[pid][2] for pid in self.all if pid in found}
        self.lasting = [supervisor, *(pid for pid in self.children if pid not in self.readers)]  # readers open files when there is something
        self.descriptors = {pid: descriptors(pid) for pid in self.lasting}
        self.memory = {pid: private_dirty(pid) for pid in self.lasting}

    @property
    def all(self):
        return [self.supervisor, *self.children, *self.workers, *self.deeper]

    def role(self, pid):
        return next((name for name, pids in [("supervisor", [self.supervisor]), ("keeper", self.keepers), ("loop", self.loops), ("log", self.logs),
                                             ("reader", self.readers),
                                             ("worker", self.workers)] if pid in pids), "other")

    def __str__(self):
        return ", ".join("%s %d: %d descriptors, %d KB" % (self.role(pid), pid, self.descriptors[pid],
                                                           self.memory[pid] // 1024)
                         for pid in self.lasting) + "; %d workers" % len(self.workers)


def wait_for(condition, seconds):
    """What a condition says as soon as it holds, or at last."""
    deadline = time.monotonic() + seconds
    met = condition()
    while not met and time.monotonic() < deadline:
        time.sleep(0.05)
        met = condition()
    return met
