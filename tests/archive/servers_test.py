"""Several servers with one store of incidents: what one of them wrote is found by the other; and a database that is gone, slow or guarded.

    MISHAP_PROGRAM=… python3 tests/archive/servers_test.py [PART-OF-A-NAME]

Speaks TAP. Skipped where PostgreSQL is not installed.
"""
import contextlib
import glob
import json
import os
import signal
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for folder in ("store", "operator"):
    sys.path.insert(0, os.path.join(TESTS, folder))
import postgres  # noqa: E402
from operating import command, id_at, stores  # noqa: E402
import server  # noqa: E402
from blackbox import Skipped, equal, expect, main, parsed, test  # noqa: E402
from server import name_of, processes, wait_until  # noqa: E402

PASSWORD = "marker p@ss/word:1?"


def cluster():
    if not postgres.folder_of_programs():
        raise Skipped("PostgreSQL is not installed")
    cluster.one = cluster.one or postgres.Cluster()
    return cluster.one


cluster.one = None


def operator_of(found):
    with open(os.path.join(found.data, "operator.key"), encoding="ascii") as file:
        return {"Authorization": "Bearer " + file.read().strip()}


def show(found, name):
    """What a server says about an id, or None."""
    answer = found.ask("GET", "/incidents/" + name, fields=operator_of(found), checked=False)
    expect(answer.status in (200, 404), answer)
    return parsed(answer.body) if answer.status == 200 else None


def reader(found):
    return parsed(found.ask("GET", "/health").body).get("readers", {}).get("index", {"state": "off"})


def write(found, count):
    """Lines in the journal of a server, as a command writes them."""
    ids = [id_at(int(time.time() * 1000)) for _ in range(count)]
    with open(found.log, "a", encoding="utf-8") as log:
        for name in ids:
            log.write(json.dumps({"v": 1, "kind": "whole", "id": name, "operation": "todos.show", "boundary": "http", "caller": "alice",
                                  "code": "NOT_FOUND", "category": "resource", "status": 404, "message": "There is no todo.",
                                  "group": "00000000000000aa"}) + "\n")
    return ids


def stored(address, ids):
    """How many rows the database has of these ids. The first reader makes the tables."""
    if not cluster().sql(address, "SELECT to_regclass('incidents.incidents')").strip():
        return 0
    rows = cluster().sql(address, "SELECT id FROM incidents.incidents").split()
    return sum(name in ids for name in rows)


@test
def a_failure_of_either_server_is_shown_by_both():
    address = cluster().address("pair")
    with server.Server("--incident-store", address) as first, server.Server(MISHAP_INCIDENT_STORE=address) as second:
        ids = [found.ask("GET", "/todos/999999999").id for found in (first, second)]
        ids.append(first.ask("POST", "/users", {"name": "", "age": 999}).id)
        for found in (first, second):
            for name in ids:
                shown = wait_until(lambda f=found, n=name: show(f, n), "the id is not found")
                equal(shown["incident"]["id"], name, "the id")
                equal(shown["server"], os.uname().nodename, "the server")
        stores[:] = [lambda data: address]
        for found in (first, second):
            for name in ids:
                equal(command(found, "incidents", "show", name)["incident"]["id"], name, "the id by a command")
        stats = command(second, "incidents", "stats")
        expect(stats["total"] >= 3, stats)
        expect(not glob.glob(os.path.join(first.data, "incidents", "*.sqlite")), "there are files of SQLite")
        # A group that is resolved on one of them has regressed when the other one fails.
        group = show(first, ids[0])["group"]["group"]
        answer = first.ask("POST", "/incidents/groups/%s/resolve" % group, {}, fields=operator_of(first), checked=False)
        equal(answer.status, 200, "resolve")
        again = second.ask("GET", "/todos/999999999").id
        wait_until(lambda: show(first, again), "the next failure is not found")
        equal(show(first, again)["group"]["state"], "regressed", "the state")
        stores.clear()


@test
def a_database_that_is_gone_loses_nothing():
    address = cluster().address("gone")
    with server.Server("--incident-store", address) as found:
        before = found.ask("GET", "/todos/999999999").id
        wait_until(lambda: show(found, before), "the first id is not found")
        cluster().stop(signal.SIGINT)
        ids = [found.ask("GET", "/todos/999999999").id for _ in range(5)] + write(found, 100)
        wait_until(lambda: reader(found)["state"] == "retries" and reader(found)["lag_bytes"] > 0, "/health does not tell")
        equal(found.ask("GET", "/ready").status, 200, "/ready")
        answer = found.ask("GET", "/incidents", fields=operator_of(found), checked=False)
        equal(answer.status, 503, "the list: %r" % answer.body)
        cluster().start()
        wait_until(lambda: stored("gone", ids) == len(ids), "the ids are not in the database")
        wait_until(lambda: reader(found)["state"] == "follows", "/health does not tell that it is back")
        equal(int(cluster().sql("gone", "SELECT sum(count) FROM incidents.minutes")),
              int(cluster().sql("gone", "SELECT count(*) FROM incidents.incidents")), "counts")


@test
def a_database_that_does_not_answer_delays_no_request():
    address = cluster().address("slow")
    with server.Server("--incident-store", address) as found:
        first = found.ask("GET", "/todos/999999999").id
        wait_until(lambda: show(found, first), "the first id is not found")
        stopped = [pid for pid, parent in processes() if cluster().process.pid in (pid, parent)]
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.kill(pid, signal.SIGSTOP)
        try:
            name = found.ask("GET", "/todos/999999999").id
            wait_until(lambda: reader(found)["state"] == "retries", "/health does not tell")
            equal(found.ask("GET", "/ready").status, 200, "/ready")
        finally:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        wait_until(lambda: stored("slow", [name]) == 1, "the id is not in the database")
        wait_until(lambda: reader(found)["state"] == "follows", "/health does not tell that it is back")


@test
def a_reader_that_is_killed_stores_each_line_once():
    address = cluster().address("killed")
    with server.Server("--incident-store", address) as found:
        ids = []
        for _ in range(6):
            ids += write(found, 3000)
            for pid, parent in processes():
                if parent == found.process.pid and name_of(pid) == "mishap-index":
                    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)  # kills at different moments of a batch
        wait_until(lambda: stored("killed", set(ids)) == len(ids), "the ids are not in the database")
        equal(int(cluster().sql("killed", "SELECT sum(count) FROM incidents.minutes")),
              int(cluster().sql("killed", "SELECT count(*) FROM incidents.incidents")), "counts")


@test
def no_password_is_shown():
    address = cluster().guarded(PASSWORD, "guarded")
    secret = address.split("guarded:")[1].split("@")[0]
    with server.Server("--incident-store", address) as found:
        name = found.ask("GET", "/todos/999999999").id
        wait_until(lambda: show(found, name), "the id is not found")
        wrong = address.replace(secret, "marker%20wrong")
        with server.Server("--incident-store", wrong) as refused:
            refused.ask("GET", "/todos/999999999")
            wait_until(lambda: reader(refused)["state"] == "refuses", "/health does not tell")
            answer = refused.ask("GET", "/incidents", fields=operator_of(refused), checked=False)
            expect(answer.status >= 500, answer)
            seen = answer.body
            for one in (found, refused):
                ours = [one.process.pid] + [pid for pid, parent in processes() if parent == one.process.pid]
                for pid in ours:
                    with contextlib.suppress(OSError), open("/proc/%d/cmdline" % pid, "rb") as file:  # it may have ended by itself
                        seen += file.read() + name_of(pid).encode()
                seen += one.ask("GET", "/health").body + one.ask("GET", "/metrics").body
                for path in (one.log, one.stderr, one.stdout):
                    with open(path, "rb") as file:
                        seen += file.read()
            for part in (b"marker", secret.encode(), b"wrong@"):
                expect(part not in seen, part, "is shown:", seen[max(0, seen.find(part) - 200):seen.find(part) + 100])


@test
def an_address_that_is_none_is_refused_at_the_start():
    for wrong in ("sqlite:/tmp/marker", "mysql://u:marker@h/d"):
        done = server.run_program(server.PROGRAM, "serve", "--listen", "127.0.0.1:0", "--incident-store", wrong)
        equal(done.status, 78, "exit: %r" % (done,))
        expect(b"PostgreSQL" in done.out + done.err and b"marker" not in done.out + done.err, done)


@test
def a_program_without_the_engine_refuses_it():
    done = server.run_program(os.environ["SAMPLE_PROGRAM"], "incidents", "list", "--incident-store", "postgresql://u:marker@h/d", "--output", "json")
    equal(done.status, 78, "exit: %r" % (done,))
    expect(b"incident_store" in done.out and b"marker" not in done.out + done.err, done)


@test
def the_database_ends_in_order():
    server_left = cluster.one
    if server_left:
        server_left.remove()


main()
