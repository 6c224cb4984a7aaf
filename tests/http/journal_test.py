"""The journal: every failure is found under its id, each line fits the schema, and no secret is in it.

    MISHAP_PROGRAM=… MISHAP_NODE_MODULES=… python3 tests/http/journal_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

import server
import journal
from blackbox import Skipped, equal, expect, main, run_agent, run_program, test, tests_of
from server import NODE_MODULES, PATIENCE, PROGRAM, Server

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "incident.schema.json")
PRIVATE = "planted-secret-"
TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def raw(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def records(found):
    text = raw(found.log)
    return journal.records(text[:text.rfind(b"\n") + 1])


def wait_for_id(found, identifier):
    """The record of this id, as soon as it is there."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for record in records(found):
            if identifier in journal.ids(record):
                return record
        time.sleep(0.02)
    raise AssertionError("%s is not in the journal" % identifier)


def fail_in_many_ways(found):
    """{id: status} of failures, before and in an operation."""
    key = [("Authorization", "Bearer " + PRIVATE + "key")]
    answers = [
        found.ask("GET", "/nowhere"), found.ask("DELETE", "/health"), found.ask("GET", "/todos/77"),
        found.ask("POST", "/users", {"name": "", "password": PRIVATE + "a", "deep": {"api_key": PRIVATE + "b"}}),
        found.ask("POST", "/users", b'{"name":"x","token":"' + PRIVATE.encode() + b'c'),
        found.ask("POST", "/users", {"name": "x"}, fields=key),
        found.ask("POST", "/users", {"name": "x", "pasword": PRIVATE + "d", **{"m%d" % number: PRIVATE for number in range(2600)}}),
        found.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, fields={"Mcp-Session-Id": PRIVATE + "e"}, checked=False),
        found.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/none"}, checked=False),
    ]
    return {answer.id: answer.status for answer in answers}


@test
def health_says_that_incidents_are_lost():
    """Without a key, and without a path, an address or a message."""
    with Server(MISHAP_LOG="/dev/full") as found:
        expect("incidents" not in found.ask("GET", "/health").json, "before the first failure")
        found.ask("GET", "/nowhere")
        expect(server.wait_for(lambda: found.ask("GET", "/health").json.get("incidents") == {"lost": 1, "error": 28}), found.ask("GET", "/health").json)
        expect(b"\nmishap_incidents_lost_total 1\n" in found.ask("GET", "/metrics").body, "/metrics does not count it")
        said = found.ask("GET", "/health").body.decode()
        expect("/" not in said.replace("\\/", "/") and "127.0.0.1" not in said and found.data not in said, said)


def shared_memory(pid):
    """{number: bytes} of the memory that a process shares with others; nothing if it has ended."""
    found = {}
    try:
        with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
            for line in maps:
                area, rights, _, _, inode, *_ = line.split()
                if rights[3] == "s" and int(inode):
                    first, last = (int(word, 16) for word in area.split("-"))
                    found[int(inode)] = found.get(int(inode), 0) + last - first
    except OSError:
        pass
    return found


def family(found, name, above=None):
    above = above if above is not None else {found.process.pid}
    return {pid for pid, parent in server.processes() if parent in above and server.name_of(pid) == name}


@test
def workers_do_not_map_the_memory_of_metrics_and_incidents():
    """Neither those of the first keeper, nor those of one that takes its place: that is forked when all memory of the server is there. They have one page
    in common with the server, in which they count what they ask of stores (base/tally.h)."""
    with Server("--workers", "1") as found:
        def workers():
            found.ask("GET", "/todos/77")
            return family(found, "mishap-handler", family(found, "mishap-keeper"))

        for round in "the first", "the second":
            expect(server.wait_for(workers), "no worker of", round, "keeper")
            loop, = family(found, "mishap-loop")
            common = set(shared_memory(found.process.pid)) & set(shared_memory(loop))
            expect(len(common) >= 3 and sum(shared_memory(loop).values()) > 16 << 20, "supervisor and loop share", shared_memory(loop))
            keeper, = family(found, "mishap-keeper")
            for pid in workers() | {keeper}:
                mapped = {inode: size for inode, size in shared_memory(pid).items() if inode in common}
                expect(len(mapped) <= 1 and sum(mapped.values()) <= 4096, server.name_of(pid), "of", round, "keeper maps memory of the server:", mapped)
            os.kill(keeper, signal.SIGKILL)
            expect(server.wait_for(lambda: len(family(found, "mishap-keeper") - {keeper}) == 1 and len(family(found, "mishap-keeper")) == 1), "no other keeper")


@test
def every_failure_is_found_under_its_id():
    with Server() as found:
        for identifier, status in fail_in_many_ways(found).items():
            expect(status >= 400, status)
            record = wait_for_id(found, identifier)
            expect(record["status"] == status or record["boundary"] == "mcp", status, record)
            equal(record["boundary"] in ("http", "mcp"), True, record)
            expect(record["response"], record)
        expect(PRIVATE.encode() not in raw(found.log), "a secret is in the journal")
        names = [record["arguments"] for record in records(found) if "pasword" in record.get("arguments", {})]
        expect(names and names[0]["pasword"] == "[not declared]" and names[0]["name"] == "x" and len(names[0]) <= 22, names)


@test
def array_items_make_no_groups():
    """Findings count once, in any order."""
    with Server() as found:
        groups = set()
        for name, email in (("", "x"), ("", "y"), ("", 5)):
            answer = found.ask("POST", "/users", {"name": name, "email": email, "a": 1})
            groups.add(wait_for_id(found, answer.id)["group"])
            other = found.ask("POST", "/users", {"b": 1, "c": 2, "email": email, "name": name})
            groups.add(wait_for_id(found, other.id)["group"])
        expect(len(groups) <= 2, groups)


@test
def a_trace_is_that_of_the_header_or_a_new_one():
    with Server() as found:
        given = {"00-%s-%s-01" % (TRACE, SPAN): True, "00-%s-%s-01" % (TRACE.upper(), SPAN): False, "00-%s" % TRACE: False,
                 "00-%s-%s-01" % ("0" * 32, SPAN): False, "ff-%s-%s-01" % (TRACE, SPAN): False, "x" * 300: False}
        for text, good in given.items():
            answer = found.ask("GET", "/nowhere", fields=[("traceparent", text)])
            trace = wait_for_id(found, answer.id)["trace"]
            if good:
                equal((trace["id"], trace["parent"]), (TRACE, SPAN))
            else:
                equal((trace["id"], "parent" in trace), (answer.id.replace("-", ""), False), text)
            expect(re.fullmatch("[0-9a-f]{16}", trace["span"]), trace)


@test
def compact_records_have_the_group_of_the_whole_one_and_lead_to_it():
    with Server() as found:
        ids = [found.ask("POST", "/users", {"name": ""}).id for _ in range(40)]
        kept = {identifier: wait_for_id(found, identifier) for identifier in ids}
        kinds = [kept[identifier]["kind"] for identifier in ids]
        equal(kinds.count("whole") in range(10, 30) and kinds.count("compact") >= 10, True, kinds)
        equal(len({record["group"] for record in kept.values()}), 1, "groups")
        like = next(record["like"] for record in kept.values() if record["kind"] == "compact")
        equal(wait_for_id(found, like)["kind"], "whole")


def wait_for_children(found, name):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pids = [pid for pid, parent in server.processes() if parent == found.process.pid and server.name_of(pid) == name]
        if pids:
            return pids
        time.sleep(0.05)
    raise AssertionError("there is no " + name)


def show(found, identifier):
    """What the operator sees of an id, by a command: it needs no server."""
    ran = run_program(PROGRAM, "incidents", "show", identifier, "--output", "json", env={"MISHAP_LOG": found.log, "MISHAP_DATA": found.data})
    return json.loads(ran.out)["data"]["incident"]["id"] if ran.status == 0 else None


def expect_shown(found, identifiers):
    for identifier in identifiers:
        expect(server.wait_for(lambda: show(found, identifier) == identifier), identifier, "is not found by `incidents show`")


def fail_until_it_answers(found, path):
    """A failure of a server of which a process was just killed: connections may be lost with that."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            return found.ask("GET", path, checked=False).id
        except (OSError, server.Closed):
            time.sleep(0.05)
    raise AssertionError("the server does not answer")


def victims_of(found, name):
    if name != "a worker":
        return wait_for_children(found, name)
    expect(server.wait_for(lambda: found.ask("GET", "/todos/77").status == 404 and found.handlers()), "there is no worker")
    return found.handlers()


@tests_of({"the process that writes": "mishap-log", "a loop": "mishap-loop", "the keeper": "mishap-keeper", "a worker": "a worker",
           "the process of the index": "mishap-index"})
def a_killed_process_loses_no_incident(name):
    """Every id that a caller got leads to its incident: of failures in a worker, too."""
    with Server() as found:
        ids = []
        for _ in range(4):
            for number in range(15):
                ids += [found.ask("GET", "/nowhere/%d" % number).id, found.ask("GET", "/todos/99%d" % number).id]
            victims = victims_of(found, name)
            for victim in victims:
                with contextlib.suppress(ProcessLookupError):  # one of the round before, which is gone by now
                    os.kill(victim, signal.SIGKILL)
            ids += [fail_until_it_answers(found, path) for path in ("/todos/99", "/nowhere")]
        for identifier in ids:
            wait_for_id(found, identifier)
        expect_shown(found, ids[::8] + ids[-2:])


@test
def a_killed_supervisor_loses_no_incident():
    """The whole server ends with it, and what it had handed over is written nevertheless. The ids are found with no server, and by the next one."""
    found = Server("--workers", "2")
    ids = []
    for number in range(60):
        ids += [found.ask("GET", "/nowhere/%d" % number).id, found.ask("GET", "/todos/99%d" % number).id]
    found.process.kill()
    found.wait()
    for identifier in ids:
        wait_for_id(found, identifier)
    expect_shown(found, ids[::10] + ids[-2:])
    with Server(data=found.data, MISHAP_LOG=found.log) as again:
        ids.append(again.ask("GET", "/nowhere").id)
        expect_shown(found, ids[-3:])


@test
def a_killed_supervisor_over_standard_input_loses_no_incident():
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "get_todo", "arguments": {"id": "999999"}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}}}
    folder = os.path.join(server.FOLDER, "killed-stdio")
    os.mkdir(folder)
    log, ids = os.path.join(folder, "log"), []
    with subprocess.Popen([PROGRAM, "mcp", "--data", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, MISHAP_LOG=log)) as agent:
        for number in range(60):
            agent.stdin.write(json.dumps({**call, "id": number}).encode() + b"\n")
            agent.stdin.flush()
            ids.append(json.loads(agent.stdout.readline())["result"]["_meta"]["dev.mishap/incident"])
        agent.kill()
    found = type("Found", (), {"log": log, "data": folder})
    for identifier in ids:
        wait_for_id(found, identifier)
    expect_shown(found, ids[::10] + ids[-1:])


@test
def a_command_appends_one_line():
    log = os.path.join(server.FOLDER, "command.log")
    ran = run_program(PROGRAM, "users", "show", "--bogus", "1", "--output", "json", env={"MISHAP_LOG": log, "TRACEPARENT": "00-%s-%s-01" % (TRACE, SPAN)})
    found = journal.records(raw(log))
    equal(len(found), 1, "lines")
    record, answer = found[0], json.loads(ran.out)
    equal((record["boundary"], record["status"], record["id"], record["response"]),
          ("cli", ran.status, answer["meta"]["request_id"], ran.out.decode()))
    equal(record["trace"]["id"], TRACE)


@test
def a_disk_that_is_full_costs_no_answer():
    with Server(MISHAP_LOG="/dev/full") as found:
        for number in range(50):
            equal(found.ask("GET", "/nowhere").status, 404)
        deadline = time.monotonic() + PATIENCE
        while b"cannot be written: No space left" not in raw(found.stderr) and time.monotonic() < deadline:
            time.sleep(0.05)
        expect(b"cannot be written: No space left" in raw(found.stderr), raw(found.stderr)[-500:])


def fits_the_schema(text):
    """Whole lines of JSON, each of which is valid against docs/incident.schema.json."""
    if not os.path.isdir(os.path.join(NODE_MODULES, "ajv")) or not shutil.which("node"):
        raise Skipped("there is no ajv")
    script = ('import { readFileSync } from "node:fs"; import { createRequire } from "node:module";'
              'const require = createRequire(process.argv[1] + "/x.js");'
              'const { default: Ajv } = require("ajv/dist/2020");'
              'const validate = new Ajv({ strict: true, strictRequired: false, allErrors: true }).compile(JSON.parse(readFileSync(process.argv[2], "utf8")));'
              'let bad = 0; for (const line of readFileSync(0, "utf8").split("\\n")) if (line && !validate(JSON.parse(line)))'
              '{ bad++; console.log(line.slice(0, 300), JSON.stringify(validate.errors.slice(0, 3))); } process.exitCode = bad ? 1 : 0;')
    done = subprocess.run(["node", "--input-type=module", "-e", script, NODE_MODULES, SCHEMA], input=text, capture_output=True, timeout=300, check=False)
    expect(done.returncode == 0, done.stdout.decode()[:3000], done.stderr.decode()[:2000])


@test
def each_line_fits_the_schema():
    with Server() as found:
        ids = list(fail_in_many_ways(found)) + [found.ask("GET", "/nowhere").id for _ in range(60)]
        for identifier in ids:
            wait_for_id(found, identifier)
        text = raw(found.log)
        fits_the_schema(text[:text.rfind(b"\n") + 1])


# ---- Standard error ------------------------------------------------------------------------------


def told_on_stderr(found, before):
    """The whole lines that standard error has got since then, without what the server says of itself."""
    lines = raw(found.stderr)[before:].split(b"\n")[:-1]
    return [line for line in lines if not line.startswith((b"mishap: ", b"listening on "))]


def wait_for_stderr(found, before, identifiers):
    def all_there():
        said = b"\n".join(told_on_stderr(found, before))
        return all(identifier.encode() in said for identifier in identifiers)
    expect(server.wait_for(all_there), "not all are on standard error:", identifiers, raw(found.stderr)[before:][-3000:])


@test
def standard_error_is_text_for_people_by_default():
    """A line with time, id, program and operation; what belongs to it is indented below."""
    with Server("--verbose") as found:
        before = len(raw(found.stderr))
        identifier = found.ask("GET", "/todos/77").id
        wait_for_stderr(found, before, [identifier])
        lines = told_on_stderr(found, before)
        expect(re.fullmatch(rb"\d{4}-\d\d-\d\dT\S+Z " + identifier.encode() + rb" mishap todos\.get", lines[0]), lines[0])
        expect(server.wait_for(lambda: b"  NOT_FOUND: " in b"".join(told_on_stderr(found, before))), "the code is not told")
        expect(all(line.startswith(b"  ") for line in told_on_stderr(found, before)[1:]), "not indented:", lines)
    equal(b"{" in b"".join(line[:1] for line in raw(found.stderr).split(b"\n")), False, "JSON on standard error")


@test
def with_log_format_json_standard_error_has_the_lines_of_the_journal():
    with Server("--verbose", "--log-format", "json") as found:
        before = len(raw(found.stderr))
        identifiers = list(fail_in_many_ways(found))
        wait_for_stderr(found, before, identifiers)
        for identifier in identifiers:
            wait_for_id(found, identifier)
        said = told_on_stderr(found, before)
        told = {json.loads(line)["id"]: line for line in said}
        written = {record["id"]: record for record in records(found)}
        for identifier in identifiers:
            equal(json.loads(told[identifier]), written[identifier], "the record of " + identifier)
        expect(PRIVATE.encode() not in b"".join(said), "a secret is on standard error")
        fits_the_schema(b"".join(line + b"\n" for line in said))


@tests_of({"a server": "server", "a program over standard input": "stdio"})
def with_log_format_json_what_the_log_cannot_take_is_json_too(way):
    """With the reason, as a line of its own kind."""
    flags = ["--log-format", "json", "--chaos"]
    if way == "server":
        with Server(*flags, MISHAP_LOG="/dev/full") as found:
            before = len(raw(found.stderr))
            answer = found.ask("POST", "/chaos", {"how": "crash"})
            equal(answer.status, 500)
            wait_for_stderr(found, before, [answer.id, "cannot be written"])
            said = told_on_stderr(found, before)
    else:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "cause_chaos", "arguments": {"how": "crash"}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}}}
        ran = run_agent([PROGRAM, "mcp", *flags, "--data", server.FOLDER], [json.dumps(call).encode() + b"\n"], 1, env=dict(os.environ, MISHAP_LOG="/dev/full"))
        said = [line for line in ran.err.split(b"\n")[:-1] if not line.startswith(b"mishap: ")]
    kinds = [json.loads(line)["kind"] for line in said]
    expect("whole" in kinds and "line" in kinds, said)
    fits_the_schema(b"".join(line + b"\n" for line in said))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
