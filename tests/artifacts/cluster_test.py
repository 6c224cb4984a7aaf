"""docs/nginx-cluster.conf for real: three servers on one PostgreSQL behind nginx. Calls go to all of them; a server that stops or dies
takes no call with it that another could answer; nothing is done twice.

    MISHAP_PROGRAM=… python3 tests/artifacts/cluster_test.py [PART-OF-A-NAME]

Speaks TAP. The file is run as it stands, with other addresses and paths. It is skipped where there is no nginx, no openssl or
no PostgreSQL.
"""
import contextlib
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import world
from blackbox import Skipped, equal, expect, main, parsed, run_program, test, tests_of
from nginx import NGINX, OPENSSL, Nginx, free_port
from server import FOLDER, PATIENCE, PROGRAM, TREE, Connection, Server, all_ended_in_order, wait_for
from world import check_failure, family, genesis

sys.path.insert(0, os.path.join(TREE, "tests", "mcp"))
from exchange import Session, call, message  # noqa: E402

CALLERS = ["c%d" % number for number in range(12)]
EACH = 10**9
LEDGER = "/artifacts/genesis_ledger/"
DOCUMENTED = ["10.0.0.%d:8080" % number for number in (11, 12, 13)]

# ---- Three servers and nginx ----------------------------------------------------------------------


class Machine:
    """One of the servers, with a data folder and a port of its own, which stay when it is started again."""

    def __init__(self, number, first):
        self.number, self.port, self.found = number, free_port(), None
        self.data, self.access = (os.path.join(FOLDER, "%s-%d" % (name, number)) for name in ("data", "access"))
        os.makedirs(self.data, exist_ok=True)
        if first:  # what docs/cluster.md says to copy
            for name in ("keys", "mcp-sessions"):
                shutil.copy(os.path.join(first.data, name), os.path.join(self.data, name))

    def start(self):
        self.found = Server("--workers", "1", "--require-key", "--config", cluster["configuration"], "--artifacts-genesis", cluster["genesis"],
                            "--access-log", self.access, "--server-number", str(self.number + 1), "--caller-share", "100", data=self.data, listen="127.0.0.1:%d" % self.port)

    def kill(self):
        """As if the machine died: first the processes that could still answer, and before them the one that would replace them."""
        for pid in [self.found.process.pid, *self.found.workers(), *family(self.found)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.found.kill()

    def answered(self, **wanted):
        """How many requests it has answered, by what the access log says."""
        return sum(all(row.get(name) == value for name, value in wanted.items()) for row in map(parsed, Server.whole_lines(self.access)))


cluster = {}


def documented_configuration(address):
    """The file of settings in docs/cluster.md, with another address."""
    with open(os.path.join(TREE, "docs", "cluster.md"), encoding="utf-8") as file:
        text = re.search("```json\n(.*?)```", file.read(), re.S)[1]
    documented = "postgresql://mishap:PASSWORD@10.0.0.20/mishap"
    equal(text.count(documented), 2, "addresses in docs/cluster.md")
    path = os.path.join(FOLDER, "mishap.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(documented, address))
    return path


def start():
    """nginx, in front of three servers that all run."""
    if not NGINX or not OPENSSL:
        raise Skipped("there is no nginx or no openssl")
    if not cluster:
        cluster["address"] = world.address_of("PostgreSQL")
        cluster["configuration"] = documented_configuration(cluster["address"])
        cluster["genesis"] = genesis(FOLDER, **dict.fromkeys(CALLERS, EACH))
        machines = cluster["machines"] = [Machine(0, None)]
        cluster["keys"] = {}
        for name in CALLERS:
            made = run_program(PROGRAM, "keys", "add", "--name", name, "--data", machines[0].data, "--output", "json")
            cluster["keys"][name] = parsed(made.out)["data"]["key"]
        machines[0].start()
        for number in (1, 2):
            machines.append(Machine(number, machines[0]))
            machines[number].start()
        replaced = dict(zip(DOCUMENTED, ("127.0.0.1:%d" % one.port for one in machines)))
        cluster["nginx"] = Nginx("nginx-cluster.conf", {**replaced, "fail_timeout=2s": "fail_timeout=1s"})
    for one in cluster["machines"]:
        if one.found.process.poll() is not None:
            one.start()
    return cluster["nginx"], cluster["machines"]


def fields_of(caller, **more):
    return {"Authorization": "Bearer " + cluster["keys"][caller], **more}


def invoke(wire, method, *args, by, key=None, **more):
    """(status, answer)"""
    fields = fields_of(by, **({"Idempotency-Key": key} if key else {}), **more)
    found = wire.ask("POST", LEDGER + method, {"args": list(args)}, fields=fields, checked=False)
    if found.status != 200:
        expect(found["Content-Type"] == "application/json", "not JSON:", found)
        check_failure(found.json, found.body.decode())
    return found.status, found.json


def until_all_are_asked():
    """… again, after a server was away. nginx tries it after fail_timeout."""
    nginx, machines = start()
    before = [one.answered() for one in machines]

    def met():
        equal(invoke(nginx, "balance", "c0", by="c0")[0], 200)
        return all(one.answered() > count for one, count in zip(machines, before))

    expect(wait_for(met), "a server gets no calls")


# ---- What goes where ------------------------------------------------------------------------------


@test
def calls_go_to_all_servers():
    nginx, machines = start()
    for number in range(30):
        equal(invoke(nginx, "transfer", "c0", "c1", 1, by="c0"), (200, {
            "success": True, "from_id": "c0", "to_id": "c1", "amount": 1, "from_balance": EACH - number - 1, "to_balance": EACH + number + 1}))
    expect(wait_for(lambda: sum(one.answered(path=LEDGER + "transfer") for one in machines) == 30), "the access logs")
    counts = [one.answered(path=LEDGER + "transfer") for one in machines]
    expect(min(counts) >= 3, "calls of each server:", counts)


@test
def a_caller_is_who_its_key_says():
    nginx, _ = start()
    found = nginx.ask("POST", LEDGER + "transfer", {"args": ["c2", "c3", 1]}, fields={"X-Caller": "c2"}, checked=False)
    equal((found.status, found.json["code"]), (401, "not_authorized"))
    equal(invoke(nginx, "transfer", "c2", "c3", 1, by="c4", **{"X-Caller": "c2"})[1]["code"], "not_authorized")
    equal(invoke(nginx, "transfer", "c4", "c3", 1, by="c4", **{"X-Caller": "c2"})[0], 200)


@test
def a_key_is_known_to_all_servers_within_seconds_after_its_file_was_copied():
    nginx, machines = start()
    made = run_program(PROGRAM, "keys", "add", "--name", "late", "--data", machines[0].data, "--output", "json")
    for one in machines[1:]:
        shutil.copy(os.path.join(machines[0].data, "keys"), os.path.join(one.data, "keys.new"))
        os.replace(os.path.join(one.data, "keys.new"), os.path.join(one.data, "keys"))
    fields = {"X-Api-Key": parsed(made.out)["data"]["key"]}
    ask = {"method": "GET", "target": "/todos", "fields": fields, "checked": False}
    expect(wait_for(lambda: all(one.found.ask(**ask).status == 200 for one in machines)), "the key is refused")
    equal({nginx.ask(**ask).status for _ in range(9)}, {200})


@test
def sessions_of_agents_stay_at_one_server():
    nginx, machines = start()
    where = []
    for name in CALLERS:
        before = [one.answered(caller=name, path="/mcp") for one in machines]
        session = Session(nginx, fields=fields_of(name))
        other = Session(nginx, fields={"X-Api-Key": cluster["keys"][name]})
        for one in (session, other):
            equal(one.post(call("invoke_artifact", {"artifact": "genesis_ledger", "method": "balance", "args": [name]})).json["result"].get("isError", False), False)
        wait_for(lambda: sum(one.answered(caller=name, path="/mcp") for one in machines) >= sum(before) + 4)
        here = [one.number for one, count in zip(machines, before) if one.answered(caller=name, path="/mcp") > count]
        equal(len(here), 1, "servers of the sessions of one key: %s, which" % here)
        where += here
    expect(len(set(where)) > 1, "all keys at one server:", where)


@test
def a_session_of_an_agent_goes_to_the_server_that_its_id_names():
    """Whichever server another session of the same key is at."""
    nginx, machines = start()
    for machine in machines:
        session = Session(machine.found, fields=fields_of("c0"))
        session.server = nginx
        name = "calls-of-%d" % machine.number
        for _ in range(3):
            equal(session.post(message("tools/list"), **{"User-Agent": name}).status, 200)
        expect(wait_for(lambda: sum(one.answered(user_agent=name) for one in machines) == 3), "the logs lack calls")
        equal([one.answered(user_agent=name) for one in machines], [3 * (one is machine) for one in machines], "calls of a session of one server")


@test
def a_session_goes_on_elsewhere_while_its_server_is_away():
    nginx, machines = start()
    session = Session(machines[1].found, fields=fields_of("c0"))
    machines[1].found.stop()
    session.server = nginx
    try:
        for _ in range(3):
            equal(session.post(message("tools/list")).status, 200)
    finally:
        machines[1].start()
    until_all_are_asked()

    # nginx counts failures for each upstream. What begins at this server goes back to it once nginx has tried it again.
    def is_back():
        equal(session.post(message("tools/list"), **{"User-Agent": "back"}).status, 200)
        return machines[1].answered(user_agent="back")

    expect(wait_for(is_back), "calls of a session that began at the server go to others")


@test
def a_session_of_lisp_stays_at_one_server():
    nginx, _ = start()
    for name in CALLERS[:4]:
        begun = nginx.ask("POST", "/lisp/evaluate", {"code": "(defvar *x* 41)"}, fields=fields_of(name), checked=False)
        if begun.status != 200:
            raise Skipped("there is no Lisp here: %d" % begun.status)
        fields = fields_of(name, **{"Mishap-Session": begun["Mishap-Session"]})
        for _ in range(4):
            found = nginx.ask("POST", "/lisp/evaluate", {"code": "(1+ *x*)"}, fields=fields, checked=False)
            equal((found.status, found.json.get("values")), (200, ["42"]))


# ---- A server stops, or dies ----------------------------------------------------------------------


@test
def no_call_fails_while_a_server_is_stopped():
    nginx, machines = start()
    sessions = [Session(nginx, fields=fields_of(name)) for name in CALLERS]
    equal(machines[1].found.stop().status, 0)
    for number in range(40):
        equal(invoke(nginx, "transfer", "c5", "c6", 1, by="c5")[0], 200, "call %d" % number)
    # A session whose server is gone is restored at another one.
    for session in sessions:
        expect("tools" in session.post(message("tools/list")).json["result"], "no tools")
    start()
    until_all_are_asked()


class Load:
    """Callers that transfer through nginx, each amount once: so an event tells which call it is of. Every second caller has keys."""

    amounts = itertools.count(1000, 10**6)  # where each load begins

    def __init__(self, nginx, callers):
        self.nginx, self.stop, self.problems, self.first = nginx, False, [], next(Load.amounts)
        self.answers = {}  # (caller, amount): status
        self.threads = [threading.Thread(target=self.run, args=(name, number % 2)) for number, name in enumerate(callers)]
        for thread in self.threads:
            thread.start()

    def run(self, caller, keyed):
        payee = CALLERS[CALLERS.index(caller) + 6]  # another for each, so that no caller has to wait
        try:
            with self.nginx.connect() as wire:
                for amount in itertools.count(self.first):
                    if self.stop:
                        return
                    time.sleep(0.01)
                    while True:
                        status, answer = invoke(wire, "transfer", caller, payee, amount, by=caller, key="%d" % amount if keyed else None)
                        if status != 503:  # nothing was done
                            break
                    self.answers[caller, amount] = status
                    expect(status in (200, 502), "an answer", answer)
        except Exception as problem:  # the test tells it
            self.problems.append(repr(problem))

    def wait(self, more=60):
        """Until so many more calls are answered."""
        many = len(self.answers) + more
        expect(wait_for(lambda: len(self.answers) >= many or self.problems), "nothing is answered")

    def end(self):
        """How many had which status, without and with a key; and no call was done twice, none that was answered is missing."""
        self.stop = True
        for thread in self.threads:
            thread.join()
        expect(not self.problems, "a caller says", self.problems[:3])
        done, after = [], 0
        while after is not None:
            page = self.nginx.ask("GET", "/artifacts/events?after=%d&limit=100" % after, fields=fields_of("c0"), checked=False).json
            expect("events" in page, "no events:", page)
            done += [(event["caller"], event["result"]["amount"]) for event in page["events"] if event["method"] == "transfer"]
            after = page.get("next")
        done = [one for one in done if one in self.answers]
        equal(len(done), len(set(done)), "transfers that were done, some twice")
        answered = {one for one, status in self.answers.items() if status == 200}
        equal(answered - set(done), set(), "answered and not done")
        counts = [{}, {}]
        for (caller, _), status in self.answers.items():
            found = counts[CALLERS.index(caller) % 2]
            found[status] = found.get(status, 0) + 1
        print("# calls by status: %s without a key, %s with one" % tuple(counts))
        return counts


@test
def servers_are_restarted_one_after_the_other_and_no_call_fails():
    nginx, machines = start()
    load = Load(nginx, CALLERS[:6])
    for one in machines:
        load.wait()
        equal(one.found.stop().status, 0)
        load.wait()
        one.start()
        before = one.answered()
        expect(wait_for(lambda: one.answered() > before), "a server that is back gets no calls")
    load.wait()
    equal([set(found) for found in load.end()], [{200}, {200}])


@test
def a_server_is_killed_and_only_calls_without_a_key_fail_and_nothing_is_done_twice():
    nginx, machines = start()
    load = Load(nginx, CALLERS[:6])
    for one in machines[:2]:
        load.wait()
        one.kill()
        load.wait()
        one.start()
        before = one.answered()
        expect(wait_for(lambda: one.answered() > before), "a server that is back gets no calls")
    plain, keyed = load.end()
    equal(set(keyed), {200})
    expect(set(plain) <= {200, 502}, "without a key:", plain)


# ---- What nginx sends again, and what it answers by itself ----------------------------------------


class Deaf:
    """A server that reads a request, counts it and hangs up."""

    def __init__(self):
        self.socket, self.requests = socket.create_server(("127.0.0.1", 0)), []
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            wire, _ = self.socket.accept()
            with wire:
                data = b""
                while b"\r\n\r\n" not in data:
                    piece = wire.recv(65536)
                    if not piece:
                        break
                    data += piece
                self.requests.append(data.split(b"\r\n")[0].decode())


def in_front_of_the_deaf():
    if not NGINX or not OPENSSL:
        raise Skipped("there is no nginx or no openssl")
    if "deaf" not in cluster:
        deaf = [Deaf() for _ in DOCUMENTED]
        cluster["deaf"] = Nginx("nginx-cluster.conf", dict(zip(
            [*DOCUMENTED, "max_fails=1"], [*("127.0.0.1:%d" % one.port for one in deaf), "max_fails=0"]))), deaf
    return cluster["deaf"]


@tests_of({
    "GET": ("GET", "/todos", {}, 3), "POST": ("POST", "/todos", {}, 1), "PATCH": ("PATCH", "/todos/1", {}, 1),
    "POST with a key that means nothing there": ("POST", "/todos", {"Idempotency-Key": "k"}, 1),
    "an invoke": ("POST", LEDGER + "transfer", {}, 1), "an invoke with a key": ("POST", LEDGER + "transfer", {"Idempotency-Key": "k"}, 3),
    "an invoke with an empty key": ("POST", LEDGER + "transfer", {"Idempotency-Key": ""}, 1),
    "a message of an agent": ("POST", "/mcp", {}, 1), "Lisp": ("POST", "/lisp/evaluate", {"Idempotency-Key": "k"}, 1)})
def what_may_have_had_an_effect_is_sent_once(method, target, fields, times):
    nginx, deaf = in_front_of_the_deaf()
    before = sum(len(one.requests) for one in deaf)
    found = nginx.ask(method, target, {} if method != "GET" else None, fields=fields, checked=False)
    equal(sum(len(one.requests) for one in deaf) - before, times, "how often it was sent")
    equal((found.status, found["Content-Type"]), (502, "application/json"))
    expected = {"success": False, "error": "An upstream service sent an invalid response.", "code": "unavailable", "category": "system", "retriable": False}
    equal(found.json, expected if target.startswith("/artifacts/") else {"error": "bad_gateway", "message": expected["error"]})
    expect(found.id, "no id")


@tests_of({"without a key": {}, "with a key": {"Idempotency-Key": "k"}})
def a_large_body_is_refused_in_the_format_of_artifacts(fields):
    nginx, _ = in_front_of_the_deaf()
    found = nginx.ask("POST", LEDGER + "transfer", b"x" * 1_100_000, fields=fields, checked=False)
    check_failure(found.json)
    equal((found.status, found.json["code"], found.json["category"]), (413, "invalid_argument", "validation"))


@test
def without_any_server_it_is_502_and_then_it_works_again():
    nginx, machines = start()
    for one in machines:
        equal(one.found.stop().status, 0)
    equal(invoke(nginx, "balance", "c0", by="c0")[0], 502)
    found = nginx.ask("GET", "/todos", fields=fields_of("c0"))
    equal((found.status, found.json["error"]), (502, "bad_gateway"))
    start()
    expect(wait_for(lambda: invoke(nginx, "balance", "c0", by="c0")[0] == 200), "it does not try again after fail_timeout")


@test
def make_cluster_starts_all_of_it_and_ends_it():
    if not NGINX or not world.postgres.folder_of_programs():
        raise Skipped("there is no nginx or no PostgreSQL")
    port = four_ports()
    process = subprocess.Popen([sys.executable, os.path.join(TREE, "scripts", "cluster")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=dict(os.environ, PORT=str(port), MISHAP_PROGRAM=PROGRAM))
    try:
        said = b""
        while b"Ctrl-C" not in said:
            line = process.stdout.readline()
            expect(line, "it ended:", said)
            said += line
        alice = re.search(rb"alice=(\S+)", said)[1].decode()
        folder = re.search(rb"removes (\S+)\. ", said)[1].decode()
        for place in range(4):
            with Connection(("127.0.0.1", port + place)) as wire:
                found = wire.ask("POST", LEDGER + "transfer", {"args": ["alice", "bob", 1]}, fields={"X-Api-Key": alice}, checked=False)
                equal((found.status, found.json["from_balance"]), (200, 99 - place))
        process.send_signal(signal.SIGINT)
        equal(process.wait(PATIENCE), 0)
        expect(not os.path.exists(folder), folder, "is still there")
        for place in range(4):
            with socket.socket() as wire:
                expect(wire.connect_ex(("127.0.0.1", port + place)), "something listens at", port + place)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE)


def four_ports():
    """The first of four that are free."""
    while True:
        port = free_port()
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for place in range(1, 4):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port + place))
            return port


@test
def both_configurations_tell_failures_alike():
    """And have the same limits: docs/nginx-cluster.conf differs where there are three servers."""
    lines = []
    for name in ("nginx.conf", "nginx-cluster.conf"):
        with open(os.path.join(TREE, "docs", name), encoding="utf-8") as file:
            lines.append([line.strip() for line in file if not line.strip().startswith("#")])
    missing = [line for line in lines[0] if line not in lines[1]]
    equal(missing, ["server 127.0.0.1:8080;", "ssl_session_cache shared:mishap:10m;"], "lines that nginx.conf has alone")


@test
def every_server_ended_in_order():
    all_ended_in_order()


main()
