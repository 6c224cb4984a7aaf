"""PgBouncer in transaction mode between the servers and PostgreSQL: what a service sets is set for its own transactions, so that all
services and other programs can share the connections.

    MISHAP_PROGRAM=… python3 tests/artifacts/pooler_test.py [PART-OF-A-NAME]

Speaks TAP. It is skipped where there is no PgBouncer or no PostgreSQL. tests/artifacts/failover_test.py has the faults of PostgreSQL.
"""
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

import world
from blackbox import Skipped, equal, expect, main, test
from server import FOLDER, PATIENCE, all_ended_in_order, wait_for
from world import World, genesis

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
CALLERS = ["c%d" % number for number in range(8)]
EACH = 1000
CONNECTIONS = 3  # of the pool: fewer than the servers have processes


class Pooler:
    """PgBouncer at a Unix socket, before a cluster."""

    def __init__(self, cluster, **settings):
        self.cluster, self.folder = cluster, tempfile.mkdtemp(prefix="pool-")
        self.user = cluster.user
        settings = {"pool_mode": "transaction", "default_pool_size": CONNECTIONS, "unix_socket_dir": self.folder, "listen_addr": "", "listen_port": 6432,
                    "auth_type": "any", "max_client_conn": 200, "logfile": os.path.join(self.folder, "log"), "pidfile": os.path.join(self.folder, "pid"),
                    "query_wait_timeout": PATIENCE, **settings}
        with open(os.path.join(self.folder, "ini"), "w", encoding="ascii") as file:
            file.write("[databases]\n* = host=%s user=role\n[pgbouncer]\n" % cluster.folder)
            file.writelines("%s = %s\n" % item for item in settings.items())
        os.chmod(self.folder, 0o755)
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.process = subprocess.Popen(cluster.as_user(PROGRAM, os.path.join(self.folder, "ini")), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        expect(wait_for(lambda: os.path.exists(os.path.join(self.folder, ".s.PGSQL.6432"))), "the pooler does not start")

    def address(self, database):
        self.cluster.address(database)
        return "postgresql://role@/%s?host=%s&port=6432" % (database, urllib.parse.quote(self.folder, safe=""))

    def sql(self, database, statement):
        """Through the pool, as another program."""
        return self.cluster.run("psql", "-h", self.folder, "-p", "6432", "-U", "role", "-d", database, "-X", "-A", "-t", "-q", "-c", statement).strip()

    def remove(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


def begin(**settings):
    """A pooler before the cluster of all tests."""
    if not PROGRAM:
        raise Skipped("there is no PgBouncer")
    world.address_of("PostgreSQL")
    return Pooler(world.cluster, **settings)


@test
def services_share_connections_and_leave_nothing_set():
    pooler = begin()
    address = pooler.address("shared")
    path = genesis(FOLDER, **dict.fromkeys(CALLERS, EACH))
    servers = [World("PostgreSQL", "--artifacts-genesis", path, "--caller-share", "100", "--todo-store", address, address=address) for _ in range(2)]
    problems = []

    def pay(number):
        who, other = CALLERS[number], CALLERS[(number + 1) % len(CALLERS)]
        with servers[number % 2].connect() as wire:
            for turn in range(20):
                until = time.monotonic() + PATIENCE
                while True:
                    status, answer = servers[number % 2].invoke("genesis_ledger", "transfer", who, other, 1, by=who, connection=wire,
                                                                idempotency_key="%d" % turn)
                    if status != 503 or time.monotonic() > until:
                        break
                if status != 200:
                    problems.append(answer)
                found = servers[number % 2].ask("POST", "/users", {"name": "N %d %d" % (number, turn), "email": "n%d.%d@example.com" % (number, turn)},
                                                checked=False)
                if found.status not in (201, 503):
                    problems.append(found)

    threads = [threading.Thread(target=pay, args=(number,)) for number in range(len(CALLERS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(problems[:3], [], "failures")
    equal({name: servers[0].balances()[name] for name in CALLERS}, dict.fromkeys(CALLERS, EACH), "the balances")
    expect(int(world.cluster.sql("shared", "SELECT count(*) FROM pg_stat_activity WHERE datname = 'shared' AND pid <> pg_backend_pid()")) <= CONNECTIONS,
           "more connections than the pool has")
    for _ in range(2 * CONNECTIONS):  # every connection of the pool
        equal(pooler.sql("shared", "SELECT current_setting('search_path'), current_setting('enable_seqscan'), current_setting('lock_timeout'),"
                                   " (SELECT count(*) FROM pg_prepared_statements)"), '"$user", public|on|0|0', "what is left set")
    for found in servers:
        expect(b"42P0" not in found.read(found.log), "a statement meets the tables of another service:", found.read(found.log))
        found.stop()
    pooler.remove()


@test
def a_pool_that_keeps_sessions_works_too():
    pooler = begin(pool_mode="session", default_pool_size=40)
    with World("PostgreSQL", address=pooler.address("sessions")) as found:
        found.done("genesis_ledger", "transfer", "alice", "bob", 1, by="alice")
        equal(found.balances()["bob"], 101, "the balance")
    pooler.remove()


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
