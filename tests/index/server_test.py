"""The process mishap-index of a real server: it follows the journal, is started again, and waits for nothing.

    MISHAP_PROGRAM=… python3 tests/index/server_test.py [PART-OF-A-NAME]

Speaks TAP. Lines of the journal are written by the test, as a command writes them, and by the server itself. What the index holds is read with
Python's sqlite3.
"""
import contextlib
import glob
import json
import os
import random
import re
import signal
import sqlite3
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
import server  # noqa: E402
from blackbox import equal, expect, main, test, tests_of  # noqa: E402
from server import name_of, processes, wait_until  # noqa: E402

tell = random.Random(7)


def new_id(ms):
    bits = tell.getrandbits(74)
    return str(uuid.UUID(int=ms << 80 | 7 << 76 | bits >> 62 << 64 | 2 << 62 | bits & (1 << 62) - 1))


def whole(ms=None, **members):
    """A line of the journal, and its id."""
    found = new_id(ms or int(time.time() * 1000))
    line = {"v": 1, "kind": "whole", "id": found, "operation": "todos.show", "boundary": "http", "caller": "alice", "code": "NOT_FOUND",
            "category": "resource", "status": 404, "message": "There is no todo.", "group": "00000000000000aa", **members}
    return json.dumps(line) + "\n", found


def append(found, text):
    with open(found.log, "a", encoding="utf-8") as file:
        file.write(text)


def write(found, count, **members):
    lines = [whole(**members) for _ in range(count)]
    append(found, "".join(line for line, _ in lines))
    return {name for _, name in lines}


def index_process(found):
    return [pid for pid, parent in processes() if parent == found.process.pid and name_of(pid) == "mishap-index"]


def rows(data):
    """The ids in all files of days, as a list: one that is there twice is there twice."""
    ids = []
    for path in glob.glob(os.path.join(data, "incidents", "2*.sqlite")):
        with contextlib.suppress(sqlite3.DatabaseError), contextlib.closing(sqlite3.connect(path, timeout=120)) as database:
            ids += [str(uuid.UUID(bytes=row[0])) for row in database.execute("SELECT id FROM whole")]
            for row in database.execute("SELECT ids FROM compact"):
                ids += [str(uuid.UUID(bytes=row[0][i:i + 16])) for i in range(0, len(row[0]), 16)]
    return ids


def state_of(found):
    """The state of the index, as /health says."""
    answer = found.ask("GET", "/health")
    equal(answer.status, 200, "the status of /health")
    return answer.json.get("readers", {}).get("index", {}).get("state")


def has_all(data, ids):
    return ids <= set(rows(data))


@test
def what_comes_into_the_journal_is_indexed():
    with server.Server() as found:
        first = write(found, 50)
        wait_until(lambda: has_all(found.data, first), "the first lines are not there")
        second = write(found, 50)
        wait_until(lambda: has_all(found.data, second), "the second lines are not there")
        equal(sorted(rows(found.data)).count(min(first)), 1, "copies of a row")
        for path in glob.glob(os.path.join(found.data, "incidents", "*")):
            equal(os.stat(path).st_mode & 0o077, 0, "mode of " + path)
        found.stop()
    # What is written while no server runs is found by the next one.
    third = write(found, 5)
    with server.Server(data=found.data, MISHAP_LOG=found.log) as again:
        wait_until(lambda: has_all(again.data, third), "the third lines are not there")


@test
def an_idle_server_does_not_wake_it():
    with server.Server() as found:
        ids = write(found, 1)
        wait_until(lambda: has_all(found.data, ids), "it is not there")
        pid = index_process(found)[0]

        def switches():
            with open("/proc/%d/status" % pid) as file:
                return sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
        wait_until(lambda: (lambda before: time.sleep(3) or switches() == before)(switches()), "it wakes up again and again", 60)


@test
def killed_at_any_moment_it_loses_and_doubles_nothing():
    with server.Server() as found:
        ids, ended = set(), set()
        for _ in range(12):
            victims = wait_until(lambda: set(index_process(found)) - ended, "it is not started again")
            ids |= write(found, 300)
            time.sleep(tell.random() / 3)
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    ended.add(pid)
        wait_until(lambda: has_all(found.data, ids), "some are lost")
        have = rows(found.data)
        equal(len(have), len(set(have)), "rows without doubles")
        expect(len(ended) > 3, "few were killed:", ended)
        last = wait_until(lambda: set(index_process(found)) - ended, "it is not started again")
        os.kill(last.pop(), signal.SIGSTOP)  # then it is killed, and another takes its place
        more = write(found, 3)
        wait_until(lambda: has_all(found.data, more), "a stopped one is not replaced")
        equal(found.ask("GET", "/health").status, 200)


@test
def a_locked_or_newer_index_delays_no_request():
    with server.Server() as found:
        ids = write(found, 1)
        wait_until(lambda: has_all(found.data, ids), "it is not there")
        path = glob.glob(os.path.join(found.data, "incidents", "2*.sqlite"))[0]
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            ids = write(found, 20)
            time.sleep(0.5)
            equal(found.ask("GET", "/todos/nope").status in (404, 422), True, "a request meanwhile")
            expect(not has_all(found.data, ids), "it is not locked")
            wait_until(lambda: state_of(found) == "retries", lambda: "/health says %r" % state_of(found))
            database.execute("ROLLBACK")
        wait_until(lambda: has_all(found.data, ids), "it has not caught up")
        wait_until(lambda: state_of(found) == "follows", lambda: "/health says %r later" % state_of(found))
        found.stop()
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version=99")
    before = server.Server.read(path)
    with server.Server(data=found.data, MISHAP_LOG=found.log) as again:
        write(found, 3)
        wait_until(lambda: b"newer version" in server.Server.read(again.stderr), "stderr does not say that it is newer")
        wait_until(lambda: state_of(again) == "refuses", "/health does not say so")
        equal(again.ask("GET", "/todos/nope").status in (404, 422), True, "a request meanwhile")
        again.stop()
    equal(server.Server.read(path), before, "the newer file")


def rebuilt(found):
    """How many files were made again, as /health and /metrics say."""
    told = found.ask("GET", "/health").json["readers"]["index"]["rebuilt"]
    counted = re.search(rb"^mishap_incident_index_rebuilt_total (\d+)$", found.ask("GET", "/metrics").body, re.M)
    return told, int(counted[1])


@tests_of({"when the server writes to it": "write", "when an operator asks": "ask"})
def a_damaged_file_is_made_again_and_counted(way):
    with server.Server() as found:
        ids = write(found, 200)
        wait_until(lambda: has_all(found.data, ids), "it is not there")
        equal(rebuilt(found), (0, 0), "counts before")
        found.stop()
    path, = glob.glob(os.path.join(found.data, "incidents", "2*.sqlite"))
    with open(path, "wb") as file:
        file.write(b"no database at all" * 4000)
    with server.Server(data=found.data, MISHAP_LOG=found.log) as again:
        if way == "ask":
            with open(os.path.join(found.data, "operator.key"), encoding="ascii") as file:
                key = {"Authorization": "Bearer " + file.read().strip()}
            wait_until(lambda: state_of(again) == "follows", "it does not follow")
            again.ask("GET", "/incidents", fields=key, checked=False)
        ids |= write(found, 3)
        wait_until(lambda: os.path.exists(path + ".damaged") and has_all(found.data, ids), "it is not made again")
        wait_until(lambda: rebuilt(again) == (1, 1), lambda: "counted: %r" % (rebuilt(again),))
        have = rows(found.data)
        equal(len(have), len(set(have)), "rows without doubles")


@test
def every_failure_of_the_server_is_found():
    with server.Server() as found:
        ids = set()
        with found.connect() as connection:
            for number in range(600):
                path = ["/todos/99", "/todos/%d" % (number + 1000), "/nothing/here", "/todos?limit=x"][number % 4]
                ids.add(connection.ask("GET", path).id)
                if number % 200 == 100:
                    for pid in index_process(found):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
        equal(len(ids), 600, "ids")
        wait_until(lambda: has_all(found.data, ids), "some failures are not in the index")
        have = rows(found.data)
        equal(len(have), len(set(have)), "rows without doubles")


@test
def a_folder_that_cannot_be_made_is_waited_for():
    data = os.path.join(server.FOLDER, "blocked")
    os.mkdir(data)
    with open(os.path.join(data, "incidents"), "w"):
        pass
    with server.Server(data=data) as found:
        ids = write(found, 3)
        wait_until(lambda: b"The log file has all incidents" in server.Server.read(found.stderr), "stderr does not say so")
        says = index_process(found)
        wait_until(lambda: state_of(found) == "retries", lambda: "/health says %r" % state_of(found))
        os.remove(os.path.join(data, "incidents"))
        wait_until(lambda: has_all(data, ids), "it is not made later")
        wait_until(lambda: state_of(found) == "follows", lambda: "/health says %r later" % state_of(found))
        if index_process(found) == says:  # else the machine stood still, and another process has said it, too
            equal(server.Server.read(found.stderr).count(b"The log file has all incidents"), 1, "lines about it")


@test
def old_days_are_deleted():
    now = int(time.time() * 1000)
    with server.Server("--incident-days", "3") as found:
        ids = {}
        for day in range(6):
            line, ids[day] = whole(now - day * 86400000)
            append(found, line)
        wait_until(lambda: has_all(found.data, {ids[0], ids[1], ids[2]}), "the last days are not there")
        expect(not set(rows(found.data)) & {ids[3], ids[4], ids[5]}, "older days are there")
        equal(len(glob.glob(os.path.join(found.data, "incidents", "2*.sqlite"))), 3, "files")


if __name__ == "__main__":
    main()
