"""PostgreSQL fails over under load: a primary with a synchronous standby, and a server with the address of both. The primary is killed,
hangs, or comes back after it was replaced; the standby is away, and COMMITs that wait for it are cancelled. No acknowledged transfer may
be lost or done twice, and what the callers have seen must be linearizable (linear.py).

    MISHAP_PROGRAM=… python3 tests/artifacts/failover_test.py [PART-OF-A-NAME]

ARTIFACTS_FAILOVERS is how often the primary is lost (1 of each kind). Speaks TAP. It is skipped where there is no PostgreSQL.
"""
import os
import signal
import threading
import time

from failover import ACCOUNTS, HANDLERS, LEDGER, RICH, SEED, Load, read, start
from blackbox import Skipped, equal, expect, main, run_program, test, tests_of
from server import FOLDER, PATIENCE, PROGRAM, all_ended_in_order, wait_for
from world import genesis

import pair as pairs

FAILOVERS = int(os.environ.get("ARTIFACTS_FAILOVERS", "1"))


def new_pair():
    if not pairs.is_possible():
        raise Skipped("there is no PostgreSQL")
    return pairs.Pair()


def notes_of(found):
    return found.read(found.log).decode("utf-8", "replace")


# ---- The primary is lost --------------------------------------------------------------------------


@tests_of({"%s %d" % (how, number): (how,) for how in ("is killed", "hangs") for number in range(1, FAILOVERS + 1)})
def the_primary_is_lost_and_no_acknowledged_transfer(how):
    with new_pair() as pair:
        found = start(pair.address())
        load = Load(found)
        try:
            load.wait()
            if how == "hangs":
                pair.primary.hang()
            else:
                pair.primary.stop(signal.SIGKILL)
            begun = load.pace.now()
            pair.promote()
            promoted = load.pace.now()
            load.wait()
        finally:
            load.end()
        # A server that hangs was left within ten seconds, whenever its standby was promoted; one that is killed, within a second after that.
        load.expect_within(*((10, begun) if how == "hangs" else (1, promoted)), "the primary " + how)
        for _, _, answer in load.statuses.get(("transfer", 504), ()):
            equal(answer.get("details", {}).get("outcome"), "unknown", "the outcome of a 504")
        load.check("the primary " + how)
        found.kill()


@test
def the_database_is_restarted_node_by_node_and_what_fails_may_be_repeated():
    with new_pair() as pair:
        found = start(pair.address())
        load = Load(found)
        try:
            load.wait()
            pair.primary.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
            pair.standby.stop(signal.SIGINT)
            load.wait()
            equal({status for _, status in load.statuses}, {200}, "statuses without the standby")
            pair.standby.start()
            pair.be_synchronous()
            load.wait()
            pair.primary.stop(signal.SIGINT)
            pair.primary.start()
            load.wait()
        finally:
            load.end()
        # Each transfer has an idempotency key, so one whose outcome is not known may be repeated, too.
        expect({status for _, status in load.statuses} <= {200, 503, 504}, "statuses:", load.statuses.keys())
        for _, _, answer in load.statuses.get(("transfer", 504), ()):
            equal(answer.get("details", {}).get("outcome"), "unknown", "the outcome of a 504")
        load.check("restarted")
        found.kill()


@test
def a_primary_that_was_replaced_is_refused():
    with new_pair() as pair:
        address = pair.address("shop")
        found = start(address)
        found.done(LEDGER, "transfer", "p0", "p1", 5, by="p0")
        pair.primary.stop(signal.SIGKILL)
        pair.promote()
        expect(wait_for(lambda: found.invoke(LEDGER, "transfer", "p0", "p1", 10, by="p0")[0] == 200), "the new primary is not used")
        pair.old.start()
        pair.old.sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
        # The old one comes first in the address, takes changes, and has another truth.
        end_connections(pair.primary)
        for _ in range(20):
            equal(read(found, LEDGER, "balance", "p1")["balance"], RICH + 15, "the balance")
        expect("was replaced" not in found.read(found.stderr).decode(), "it is told to a caller")
        # A server that knows only the old one, and remembers the new one.
        data = found.data
        found.stop()
        path = genesis(FOLDER, **dict.fromkeys(ACCOUNTS, RICH))
        refused = run_program(PROGRAM, "serve", "--data", data, "--listen", "127.0.0.1:0", "--artifacts-store", pair.address("shop", pair.old),
                              "--artifacts-genesis", path)
        expect(refused.status == 12 and b"has timeline 1, and timeline 2 of it has been used" in refused.out + refused.err, "it starts:", refused)


def end_connections(cluster, which="true"):
    """Every process of the servers has to connect again."""
    cluster.sql("postgres", "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' "
                "AND %s" % which)


# ---- The standby is away --------------------------------------------------------------------------


def backends(cluster):
    return int(cluster.sql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"))


@test
def without_its_standby_no_change_is_acknowledged_and_no_backend_is_left():
    with new_pair() as pair:
        found = start(pair.address())
        load = Load(found)
        seen = []
        try:
            load.wait()
            pair.standby.stop(signal.SIGKILL)
            pair.wait_for("the standby is still there", pair.primary, "SELECT count(*) FROM pg_stat_replication", "0")
            before = time.monotonic_ns()
            load.wait(12, status=504)
            seen = [backends(pair.primary) for _ in range(10) if not time.sleep(0.1)]
            expect(wait_for(lambda: backends(pair.primary) <= HANDLERS or load.problems, pause=0.2), "always more backends than handlers:", seen)
            after = time.monotonic_ns()
            for begun, _, answer in load.statuses[("transfer", 200)]:
                expect(not before < begun < after, "acknowledged without the standby:", answer)
            pair.standby.start()
            load.wait()
        finally:
            load.end()
        for _, _, answer in load.statuses[("transfer", 504)]:
            equal(answer.get("details", {}).get("outcome"), "unknown", "the outcome of a 504")
        waits = [(end - begun) / 1e9 for begun, end, _ in load.statuses[("transfer", 504)]]
        print("# %d to %d backends of %d handlers; 504 after %.1f to %.1f s" % (min(seen), max(seen), HANDLERS, min(waits), max(waits)))
        # One of each process, and what the last one has left until it connects again.
        expect(max(seen) <= 2 * HANDLERS, "backends that were left:", seen)
        expect(min(waits) <= 20, "the first answer comes after", min(waits))
        load.check("the standby is away")
        found.kill()


def waiting(cluster):
    """The backends that wait for the standby."""
    return set(cluster.sql("postgres", "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'").split())


@test
def backends_of_processes_that_were_killed_are_ended():
    with new_pair() as pair:
        found = start(pair.address())
        pair.standby.stop(signal.SIGKILL)
        pair.wait_for("the standby is still there", pair.primary, "SELECT count(*) FROM pg_stat_replication", "0")
        callers = [threading.Thread(target=found.invoke, args=(LEDGER, "transfer", ACCOUNTS[i], ACCOUNTS[i + 4], 1), kwargs={"by": ACCOUNTS[i]})
                   for i in range(2)]
        for caller in callers:
            caller.start()
        expect(wait_for(lambda: len(waiting(pair.primary)) == len(callers)), "nothing waits for the standby:", waiting(pair.primary))
        left = waiting(pair.primary)
        for pid in found.handlers():
            os.kill(pid, signal.SIGKILL)
        for caller in callers:
            caller.join()
        expect(left & waiting(pair.primary), "they end by themselves")
        def ended():
            end_connections(pair.primary, "wait_event <> 'SyncRep'")
            read(found, LEDGER, "balance", "p1")
            return not left & waiting(pair.primary)
        expect(wait_for(ended, pause=1), "backends that were left:", left)
        found.kill()


@tests_of({how: how for how in ("pg_cancel_backend", "pg_terminate_backend")})
def a_commit_whose_wait_is_ended_is_not_acknowledged_and_then_lost(how):
    """PostgreSQL then commits alone. The standby takes over without it."""
    with new_pair() as pair:
        found = start(pair.address())
        load = Load(found)
        try:
            load.wait()
            pair.standby.stop(signal.SIGKILL)
            pair.wait_for("the standby is still there", pair.primary, "SELECT count(*) FROM pg_stat_replication", "0")
            ended = 0
            until = time.monotonic() + PATIENCE
            while ended < 10 and time.monotonic() < until:
                ended += int(pair.primary.sql("postgres", "SELECT count(%s(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'" % how))
                time.sleep(0.05)
            expect(ended >= 10, "nothing waits for the standby:", ended)
            pair.primary.stop(signal.SIGKILL)
            pair.standby.start()
            pair.promote()
            load.wait()
        finally:
            load.end()
        equal(lost_by(load, read_events(found)), set(), "seed %d: acknowledged and lost" % SEED)
        found.kill()


def read_events(found):
    events, after = set(), 0
    while after is not None:
        page = read(found, "genesis_event_log", "read", after)
        events |= {(event["caller"], event["result"]["amount"]) for event in page["events"] if event["method"] == "transfer"}
        after = page.get("next")
    return events


def lost_by(load, events):
    return {(op.caller, op.args[2]) for op in load.history if op.method == "transfer" and op.answer} - events


# ---- No primary -----------------------------------------------------------------------------------


@test
def a_standby_is_read_and_takes_no_changes():
    with new_pair() as pair:
        first = start(pair.address("shop"))
        first.done(LEDGER, "transfer", "p0", "p1", 5, by="p0")
        expect(wait_for(lambda: pair.standby.sql("shop", "SELECT balance FROM artifacts.accounts WHERE id = 'p1'") == str(RICH + 5)), "no replay")
        found = start(pair.address("shop", pair.standby, wants="any"))
        equal(found.done(LEDGER, "balance", "p1")["balance"], RICH + 5, "the balance at the standby")
        for _ in range(3):
            found.fails("unavailable", LEDGER, "transfer", "p0", "p1", 1, by="p0", status=503)
            equal(found.done(LEDGER, "balance", "p1")["balance"], RICH + 5, "the balance at the standby")
        expect(wait_for(lambda: "No PostgreSQL of the address takes changes." in notes_of(found)), "it is not told to the operator")
        # The same server, when the standby is promoted.
        first.stop()
        pair.primary.stop(signal.SIGKILL)
        pair.promote()
        expect(wait_for(lambda: found.invoke(LEDGER, "transfer", "p0", "p1", 1, by="p0")[0] == 200), "the new primary is not used")
        found.kill()


@test
def while_there_is_no_primary_changes_are_unavailable():
    with new_pair() as pair:
        address = pair.address("shop")
        found = start(address)
        pair.primary.stop(signal.SIGKILL)
        expect(wait_for(lambda: found.invoke(LEDGER, "transfer", "p0", "p1", 1, by="p0")[0] == 503), "a primary is found")
        found.fails("unavailable", LEDGER, "transfer", "p0", "p1", 1, by="p0", status=503)
        refused = run_program(PROGRAM, "artifacts", "events", env={"MISHAP_ARTIFACTS_STORE": address, "MISHAP_DATA": FOLDER + "/empty", "MISHAP_LOG": ""})
        expect(refused.status == 12 and b"No PostgreSQL of the address takes changes." in refused.out + refused.err, "what a command says:", refused)
        pair.promote()
        expect(wait_for(lambda: found.invoke(LEDGER, "transfer", "p0", "p1", 1, by="p0")[0] == 200), "the new primary is not used")
        found.kill()


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
