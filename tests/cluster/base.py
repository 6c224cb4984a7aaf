"""Servers that share a PostgreSQL which is started for a test: databases, keys, and questions to servers. Without PostgreSQL the test is skipped."""
import atexit
import contextlib
import os
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("http", "mcp", "store"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
import postgres  # noqa: E402
import server  # noqa: E402
from blackbox import equal, expect, parsed, run_program  # noqa: E402
from server import PROGRAM, wait_for  # noqa: E402

if not postgres.folder_of_programs():
    print("1..0 # SKIP there is no PostgreSQL")
    sys.exit(0)

CLUSTER = postgres.Cluster(max_connections=100)
atexit.register(CLUSTER.remove)
server.secrets.add(CLUSTER.folder)


class Database:
    count = 0

    def __init__(self):
        Database.count += 1
        self.name = "shared%d" % Database.count
        self.address = CLUSTER.address(self.name)

    def sql(self, *statements):
        return CLUSTER.sql(self.name, *statements)

    def keys(self, command, *flags, status=0):
        done = run_program(PROGRAM, "keys", command, *flags, "--cluster", self.address, "--output", "json")
        equal(done.status, status, "exit of `keys %s`, which said %r" % (command, done.out + done.err))
        return parsed(done.out)

    def add(self, name, *flags):
        key = self.keys("add", "--name", name, *flags)["data"]["key"]
        server.secrets.add(key)
        return {"X-Api-Key": key}

    def serve(self, *flags, **more):
        if "--require-key" not in flags and "--open" not in flags:
            flags = ("--require-key", *flags)
        flags = [flag for flag in flags if flag != "--open"]
        return server.Server("--workers", "1", "--cluster", self.address, "--todo-store", self.address, *flags, **more)


def status(found, fields, target="/todos"):
    return found.ask("GET", target, fields=fields, checked=False).status


def expect_status(servers, fields, wanted):
    expect(wait_for(lambda: all(status(one, fields) == wanted for one in servers)), "no", wanted)


def expect_blocked(servers, fields):
    """A server cuts the connections of a caller that is blocked, so a call that was running then has no answer."""
    def refused(one):
        try:
            return status(one, fields) == 403
        except server.Closed:
            return False
    expect(wait_for(lambda: all(refused(one) for one in servers)), "a blocked caller is not refused")


def create(found, fields, title="one"):
    made = found.ask("POST", "/todos", {"title": title}, fields=fields, checked=False)
    equal(made.status, 201, "a new todo: %r" % made)
    return made.json


def know_each_other(base, count):
    """Each server has found the others: a notice of one that is new is read a second later."""
    expect(wait_for(lambda: base.sql("SELECT count(*) FROM mishap.servers WHERE seen > begun + interval '2 seconds'") == str(count), pause=0.2), "servers")


def child(found, name):
    """A process of a server."""
    processes = [pid for pid, parent in server.processes() if parent == found.process.pid and server.name_of(pid) == name]
    equal(len(processes), 1, "processes " + name)
    return processes[0]


def kill_at_once(found):
    """All processes of a server, which then has not ended in order."""
    for pid in [found.process.pid, *(pid for pid, parent in server.processes() if parent == found.process.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    found.process.wait()
    server.Server.running.remove(found)
