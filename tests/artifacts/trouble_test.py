"""The artifacts when something is wrong: a store that fails, is busy, full or gone, Python that is missing; code that is slow; and many
calls at once.

    MISHAP_PROGRAM=… python3 tests/artifacts/trouble_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import os
import sqlite3
import subprocess
import threading

import world
import postgres
from blackbox import equal, expect, main, parsed, run_program, test, tests_of
from server import FOLDER, PATIENCE, PROGRAM, all_ended_in_order, wait_for
from world import ENGINES, World, check_failure, folder_of

LEDGER, MINT, ESCROW, STORE = ("genesis_" + name for name in ("ledger", "mint", "escrow", "store"))


@test
def a_store_without_a_table_is_damaged_and_tells_nothing():
    with World() as w:
        w.done(STORE, "create", "a1", "tool", "x", by="alice")
        with sqlite3.connect(os.path.join(w.data, "artifacts.sqlite"), timeout=PATIENCE) as database:
            database.execute("DROP TABLE listings")
        refused = w.fails("not_configured", ESCROW, "deposit", "a1", 5, by="alice", category="system", status=503)
        equal((refused["error"], refused["retriable"]), ("The store is damaged.", False), "the words")
        equal(w.done(STORE, "get", "a1")["owner"], "alice", "nothing was changed")
        equal(w.done(LEDGER, "transfer", "alice", "bob", 1, by="alice")["from_balance"], 99, "others go on")
        expect("no such table" in w.wait_for_log("artifacts.invoke"), "the log does not say why")
        statuses = {ESCROW: set(), LEDGER: set()}

        def ask(artifact, *words):
            for _ in range(10):
                statuses[artifact].add(w.invoke(artifact, *words, by="alice")[0])
        threads = [threading.Thread(target=ask, args=(ESCROW, "list_active") if i % 4 == 0 else (LEDGER, "transfer", "alice", "bob", 1))
                   for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(statuses, {ESCROW: {503}, LEDGER: {200}}, "what became of calls that were in one batch with those that fail")
        equal(w.balances(), {"alice": 9, "bob": 191, MINT: 0}, "each was done once")


@test
def a_transfer_that_the_standby_has_not_confirmed_is_not_acknowledged():
    """Its wait is cancelled: PostgreSQL commits alone, and a standby that takes over would not have it."""
    world.address_of("PostgreSQL")  # or it is skipped
    with postgres.Cluster() as cluster, World(address=cluster.address()) as w:
        world.server.secrets.add(cluster.folder)
        answers = []

        def pay(key):
            answers.append(w.invoke(LEDGER, "transfer", "alice", "bob", 1, by="alice", fields={"Idempotency-Key": key}))

        def pay_and_cancel(keys):
            """Pay under one key after the other until an answer is no success, while every wait for the standby is cancelled."""
            def run():
                for key in keys:
                    pay(key)
                    if answers[-1][0] != 200:
                        return
            thread = threading.Thread(target=run)
            thread.start()
            cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            expect(wait_for(lambda: cluster.sql("postgres", cancel) != "0"), "nobody waits:", answers)
            thread.join(PATIENCE)
            return answers[-1]

        pay("first")
        cluster.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'away'")
        cluster.sql("postgres", "SELECT pg_reload_conf()")
        status, told = pay_and_cancel("key-%d" % number for number in range(1000))
        equal((status, told["code"], told["retriable"], told["details"]["outcome"]), (504, "timeout", False, "unknown"), "the answer")
        made, key = len(answers), "key-%d" % (len(answers) - 2)
        status, told = pay_and_cancel([key])  # it is found, and not confirmed either
        equal((status, told["details"]["outcome"]), (504, "unknown"), "the answer to the same again")
        cluster.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names")
        cluster.sql("postgres", "SELECT pg_reload_conf()")
        pay(key)
        equal((answers[-1][0], answers[-1][1]["to_balance"]), (200, 100 + made), "the answer when there is nobody to wait for")
        equal(w.balances()["bob"], 100 + made, "each was made once")
        expect("synchronous replication" in w.wait_for_log("artifacts.invoke"), "the log does not say why")


@test
def where_python_is_missing_that_is_not_configured():
    data = folder_of("bare")
    bare = os.path.join(FOLDER, "bare-program")
    os.makedirs(bare, exist_ok=True)
    program = os.path.join(bare, "mishap")
    if not os.path.exists(program):
        subprocess.run(["cp", PROGRAM, program], check=True)
    words = ["--caller", "alice", "--dialect", "artifact"]
    made = run_program(program, "artifacts", "invoke", "--artifact", STORE, "--method", "create", "--args",
                       '["a1","tool","x","def run(): return 1"]', *words, env={"MISHAP_DATA": data, "MISHAP_LOG": ""})
    equal(made.status, 0, "the exit: %r" % (made,))
    ran = run_program(program, "artifacts", "invoke", "--artifact", "a1", "--method", "run", *words, env={"MISHAP_DATA": data, "MISHAP_LOG": ""})
    told = parsed(ran.out)
    check_failure(told, ran.out.decode())
    equal((told["code"], told["category"]), ("not_configured", "system"), "the failure")


@test
def a_busy_store_is_retriable_and_says_when():
    with World() as w:
        w.done(LEDGER, "balance", "alice")
        holder = sqlite3.connect(os.path.join(w.data, "artifacts.sqlite"), timeout=PATIENCE, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        busy = w.fails("unavailable", LEDGER, "transfer", "alice", "bob", 1, by="alice", category="system", status=503)
        equal(busy["retriable"], True, "retriable")
        expect(busy["details"]["retry_after_ms"] > 0, "when:", busy)
        holder.execute("ROLLBACK")
        holder.close()
        equal(w.done(LEDGER, "transfer", "alice", "bob", 1, by="alice")["from_balance"], 99, "once, afterwards")


@tests_of(ENGINES)
def code_runs_outside_of_transactions_and_holds_up_nobody(engine):
    with World(engine, "--artifacts-run-seconds", "20", "--handlers", "2") as w:
        w.done(STORE, "create", "slow", "tool", "x", "import time\ndef run(s):\n  time.sleep(s)\n  return 'done'", by="alice")

        def waited_for(seconds):
            """Whether any of the code had ended when the others were done."""
            answers = []
            runners = [threading.Thread(target=lambda: answers.append(w.invoke("slow", "run", seconds))) for _ in range(2)]
            for runner in runners:
                runner.start()
            expect(wait_for(lambda: answers or w.running_handlers() >= 2), "not all processes that there may be run code")
            for _ in range(4):
                w.done(LEDGER, "transfer", "alice", "bob", 1, by="alice")
                w.done(LEDGER, "transfer", "bob", "alice", 1, by="bob")
            ended = list(answers)
            for runner in runners:
                runner.join()
            equal(answers, [(200, {"success": True, "result": "done", "stdout": ""})] * 2, "the answers")
            return ended
        expect(not (waited_for(1.5) and waited_for(6) and waited_for(15)), "others waited for it")  # a busy machine needs longer


@test
def what_code_answers_is_kept_only_under_a_key():
    with World() as w:
        w.done(STORE, "create", "long", "tool", "x", "def run():\n  return 'y' * 1000000", by="alice")
        w.done("long", "run")
        first = w.done("long", "run", idempotency_key="k1", by="alice")
        w.done(STORE, "update", "long", "x", "def run():\n  return 'z'", by="alice")
        equal(w.done("long", "run", idempotency_key="k1", by="alice"), first, "the same again")
        database = sqlite3.connect(os.path.join(w.data, "artifacts.sqlite"), timeout=PATIENCE)
        equal(database.execute("SELECT max(length(answer)) < 1000 FROM calls").fetchone(), (1,), "so long are all that are kept")
        equal(database.execute("SELECT count(*) FROM kept").fetchone(), (1,), "but for one")
        database.close()


@test
def sixty_four_transfers_at_once_lose_nothing():
    with World() as w:
        def pay(who, other):
            with w.connect() as connection:
                for _ in range(8):
                    w.invoke(LEDGER, "transfer", who, other, 1, by=who, connection=connection)
        threads = [threading.Thread(target=pay, args=("alice", "bob") if i % 2 else ("bob", "alice")) for i in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(w.balances(), {"alice": 100, "bob": 100, MINT: 0}, "the balances")


@test
def nothing_private_is_told():
    """Markers in the names of files, in the address of a store, in what is noted: each response is searched for them (world.py)."""
    data = folder_of(world.leaks.MARKER)
    with World(data=data) as w:
        w.done(STORE, "create", "a1", "tool", "x", "import sys\ndef run():\n  raise OSError(open('/etc/passwd'))", by="alice")
        w.fails("runtime_error", "a1", "run")
        path = os.path.join(data, "artifacts.sqlite")
        with sqlite3.connect(path, timeout=PATIENCE) as database:
            database.execute("ALTER TABLE listings RENAME TO marker_private")
        w.fails("not_configured", ESCROW, "list_active", category="system", status=503)
        os.rename(path, path + ".away")
        w.fails("unavailable", LEDGER, "transfer", "alice", "bob", 1, by="alice", status=503)
        os.rename(path + ".away", path)
        expect(wait_for(lambda: w.invoke(LEDGER, "balance", "alice")[0] == 200), "the store is not found again")
    world.address_of("PostgreSQL")
    password = world.leaks.MARKER + " p@ss/w:?"
    with World("PostgreSQL", address=world.cluster.guarded(password, "guarded_artifacts")) as w:
        w.done(LEDGER, "transfer", "alice", "bob", 1, by="alice")
        world.cluster.sql("guarded_artifacts", "ALTER TABLE artifacts.listings RENAME TO marker_private")
        w.fails("not_configured", ESCROW, "list_active", category="system", status=503)
        world.cluster.stop()
        w.fails("unavailable", LEDGER, "transfer", "alice", "bob", 1, by="alice", status=503)
        world.cluster.start()
        expect(wait_for(lambda: w.invoke(LEDGER, "balance", "alice")[0] == 200), "the store is not found again")
        equal(w.balances()["alice"], 99, "once")
        for text in (w.read(w.log), w.read(w.stderr), w.read(w.stdout)):
            expect(world.leaks.MARKER.encode() not in text, "the password is told:", text)


@test
def a_full_disk_loses_nothing_and_the_service_resumes():
    with World() as w:
        w.done(LEDGER, "transfer", "alice", "bob", 1, by="alice")
        path = os.path.join(w.data, "artifacts.sqlite")
        with sqlite3.connect(path, timeout=PATIENCE) as database:
            pages = database.execute("PRAGMA page_count").fetchone()[0]
        expect(pages > 0, "no pages")
    # A file that may not grow any more: the signal of that limit is an error for SQLite.
    with World("SQLite", "--handler-file-mb", "1", data=w.data) as full:
        statuses = []
        for number in range(60):
            status, answer = full.invoke(STORE, "create", "big-%d" % number, "tool", "x%d " % number * 9000, by="alice")
            statuses.append(status)
            if status != 200:
                equal((status, answer["code"], answer["category"]), (507, "insufficient_storage", "system"), "the failure")
        expect(statuses[0] == 200 and set(statuses) - {200}, "the disk was never full:", statuses)
        made = statuses.count(200)
    with World(data=w.data) as again:
        equal(again.done(STORE, "count")["count"], made, "what was acknowledged")
        equal(again.done(LEDGER, "transfer", "alice", "bob", 1, by="alice")["from_balance"], 98, "it goes on")


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
