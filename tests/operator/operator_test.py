"""The operations of the operator as commands, with a journal that is written here.

    MISHAP_PROGRAM=… python3 tests/operator/operator_test.py [PART-OF-A-NAME]

Speaks TAP. failures_test.py fails for real, over each boundary.
"""
import base64
import csv
import io
import json
import os
import re
import shutil
import time
import uuid

from operating import MISHAP, Place, command, environment, id_at, on_terminal, stores
import server  # noqa: E402, behind the one that knows where it is
from blackbox import PATIENCE, Skipped, equal, expect, main, open_terminal, parsed, run_program, test, tests_of  # noqa: E402

ALL = ["list", "show", "groups", "group", "resolve", "mute", "stats", "tail", "export"]


# ---- A journal that is made here -----------------------------------------------------------------

def moment(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + ".%03dZ" % (ms % 1000)


FORMULAS = ["=HYPERLINK(\"http://evil.example\",\"x\")", "+1", "-1", "@SUM(1)", "\t=1", "\r=1"]


def made():
    """60 incidents that are written in full, and 5 that are not."""
    if made.place:
        return made.place
    place = made.place = Place("made")
    now = int(time.time() * 1000)
    place.ids, place.compact = [], [id_at(now - 1000 + i) for i in range(5)]
    with open(place.log, "w", encoding="utf-8") as log:
        for i in range(60):
            ms, odd = now - 600000 + i * 9000, i % 2
            record = {
                "v": 1, "kind": "whole", "id": id_at(ms), "time": moment(ms), "program": "mishap", "version": "0.1.0",
                "service": "todo", "operation": "todos.get" if odd else "users.create", "boundary": ["http", "mcp", "cli"][i % 3],
                "caller": "alice" if odd else "127.0.0.1", "code": "NOT_FOUND" if odd else "INTERNAL_ERROR",
                "category": "resource" if odd else "system", "status": 404 if odd else 500,
                "message": "Todo %d \"lost\",\nnot found" % i if odd else FORMULAS[i // 2 % 6], "suggestion": "Look elsewhere.",
                "group": "%016x" % (5 + odd), "response": "{\"error\":\"x\"}", "response_type": "application/json",
                "told": {"id": i}, "noted": {"disk": "sdb%d" % i}, "causes": [
                    {"code": "UNAVAILABLE", "message": "the disk is gone", "noted": {"errno": 5},
                     "place": {"file": "src/base/scope.c", "line": 20, "function": "mishap_scope_find"}}],
                "place": {"file": "services/todo/todos.c", "line": 12, "function": "no_user"},
                "stack": ["no_user (services/todo/todos.c:12)"], "arguments": {"id": i}, "headers": {"user-agent": "curl"},
                "lines": ["looking for it"], "duration_us": 1234, "process": {"pid": 1, "role": "worker"},
                "trace": {"id": "%032x" % (i // 3 + 1), "span": "%016x" % 7}}
            place.ids.append(record["id"])
            log.write(json.dumps(record) + "\n")
        log.write(json.dumps({
            "v": 1, "kind": "compact", "time": moment(now), "group": "%016x" % 6, "program": "mishap", "service": "todo",
            "operation": "todos.get", "boundary": "http", "code": "NOT_FOUND", "category": "resource", "status": 404,
            "caller": "alice", "like": place.ids[-1], "count": 5,
            "ids": base64.b64encode(b"".join(uuid.UUID(i).bytes for i in place.compact)).decode(), "us": [1, 2, 3, 4, 5]}) + "\n")
    place.mistakes = Place("mistakes")
    shutil.copy(place.log, place.mistakes.log)
    return place


made.place = None


@test
def what_root_makes_in_the_folder_of_a_user_belongs_to_the_user():
    """`sudo mishap incidents` makes an index that the server of the user can write to, and a log."""
    if os.geteuid() != 0:
        raise Skipped("only root can try this")
    place = Place("of-a-user")
    shutil.copy(made().log, place.log)
    for path in [place.data, place.log]:
        os.chown(path, 12345, 12345)
    command(place, "incidents", "list")
    place.log = os.path.join(place.data, "new", "log")
    command(place, "incidents", "show", "no id", status=2)
    found = {}
    for folder, folders, names in os.walk(place.data):
        for name in folders + names:
            found[name] = os.lstat(os.path.join(folder, name)).st_uid
    index = {"server"} if stores else {"groups.sqlite", "lock"}
    expect({"incidents", "new", "log"} | index <= set(found), found)
    equal(set(found.values()), {12345}, "owners of %s" % found)


@test
def the_list_has_all_page_by_page():
    place, seen, cursor = made(), [], []
    while True:
        page = command(place, "incidents", "list", "--limit", "7", *cursor)
        seen += [row["id"] for row in page["incidents"]]
        if not page["next"]:
            break
        cursor = ["--cursor", page["next"]]
    equal(seen, sorted(place.ids + place.compact, reverse=True), "the ids, newest first")


FILTERS = {"code": (["--code", "NOT_FOUND"], 35), "category": (["--category", "system"], 30), "operation": (["--operation", "todos.get"], 35),
           "caller": (["--caller", "127.0.0.1"], 30), "group": (["--group", "%016x" % 5], 30), "trace": (["--trace", "%032x" % 2], 3),
           "boundary": (["--boundary", "mcp"], 20), "boundary and code": (["--boundary", "http", "--code", "NOT_FOUND"], 15),
           "service": (["--service", "todo"], 65), "status": (["--status", "404"], 35), "status of none": (["--status", "405"], 0),
           "status and caller": (["--status", "404", "--caller", "alice"], 35),
           "text": (["--text", "lost 11"], 1), "age": (["--from", "8m"], None), "two": (["--code", "NOT_FOUND", "--caller", "127.0.0.1"], 0)}


@tests_of(FILTERS)
def filters(words, count):
    place = made()
    found = command(place, "incidents", "list", "--limit", "1000", *words)["incidents"]
    if count is None:
        expect(5 <= len(found) < 65, len(found))
    else:
        equal(len(found), count, "the number of incidents")


WRONG = {"code": ("code", "NOT_FUND", "NOT_FOUND"), "category": ("category", "sistem", "system"),
         "operation": ("operation", "todos.gte", "todos.get"), "no code like it": ("code", "XYZZYXYZZY", None),
         "time": ("from", "tomorrow", "2026-11-17"), "group": ("group", "xyz", "hexadecimal"),
         "boundary": ("boundary", "htpp", "http"), "service": ("service", "todoo", "todo"),
         "trace": ("trace", "xyz", "hexadecimal"), "cursor": ("cursor", "xyz", None)}


@tests_of(WRONG)
def a_value_that_is_unknown_is_refused_with_the_nearest_name(name, value, nearest):
    place = made()
    answer = command(place, "incidents", "list", "--" + name, value, status=2)
    expect(name in json.dumps(answer["error"]), "the name is missing:", answer["error"])
    expect(nearest is None or nearest in json.dumps(answer["error"]), "the nearest is missing:", answer["error"])


def check_shown(place, shown, id):
    equal(shown["incident"]["id"], id, "the id")
    equal((shown["public"]["status"], shown["public"]["response"]), (404, "{\"error\":\"x\"}"), "what the caller saw")
    equal(shown["private"]["noted"], {"disk": "sdb5"}, "what was noted")
    equal(shown["private"]["causes"][0]["message"], "the disk is gone", "the cause")
    expect("disk" not in json.dumps(shown["public"]), "private parts on the public side:", shown["public"])
    equal({row["id"] for row in shown["trace"]}, {place.ids[3], place.ids[4]}, "the same trace")
    expect(shown["near"] and all(row["caller"] == "alice" and row["id"] != id for row in shown["near"]), shown["near"])
    equal((shown["group"]["group"], shown["group"]["count"], len(shown["group"]["trend"])), ("%016x" % 6, 35, 24), "the group")


@tests_of({"the id": "%s", "capitals": "upper", "a sentence": "It fails for me (id: %s)!", "a mail": "mail", "no hyphens": "bare"})
def show_finds_the_id_in(how):
    place = made()
    id = place.ids[5]
    text = {"upper": id.upper(), "bare": id.replace("-", ""),
            "mail": "From: a\nMessage-Id: <%s@x>\n\n> order %s\n> id=3D%s=\n%s\n" % (
                uuid.uuid4(), uuid.uuid4(), id[:20], id[20:])}.get(how) or how % id
    check_shown(place, command(place, "incidents", "show", text), id)
    check_shown(place, command(place, "incidents", "show", "-", stdin=text.encode()), id)


@test
def show_has_source_lines_of_the_tree():
    place = made()
    source = command(place, "incidents", "show", place.ids[5])["private"]["source"]
    if not source:
        return  # the program was built elsewhere
    with open(os.path.join(server.TREE, "services/todo/todos.c"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    equal(source[0]["file"], "services/todo/todos.c", "the file")
    for line in source[0]["lines"]:
        equal(line["text"], lines[line["line"] - 1], "line %d" % line["line"])
    equal([line["line"] for line in source[0]["lines"]], list(range(9, 16)), "the lines")


@test
def only_files_of_source_code_are_read():
    place = Place("sources")
    text, pipe, code = (os.path.join(place.data, name) for name in ("secret.txt", "pipe.c", "real.c"))
    for path in (text, code):
        with open(path, "w", encoding="ascii") as file:
            file.write("one\ntwo\nthree\n")
    os.mkfifo(pipe)
    found = {}
    with open(place.log, "w", encoding="utf-8") as log:
        for path in (text, pipe, code):
            ms = int(time.time() * 1000) - 1000
            found[path] = id_at(ms)
            log.write(json.dumps({"v": 1, "kind": "whole", "id": found[path], "time": moment(ms), "program": "mishap", "boundary": "cli", "code": "NOT_FOUND",
                                  "category": "resource", "message": "x", "group": "%016x" % 9, "place": {"file": path, "line": 2, "function": "f"}}) + "\n")
    sources = {path: command(place, "incidents", "show", id)["private"]["source"] for path, id in found.items()}
    equal((sources[text], sources[pipe]), ([], []), "a text, and a pipe")
    equal([line["text"] for line in sources[code][0]["lines"]], ["one", "two", "three"], "the lines")


@test
def one_that_was_not_written_in_full_shows_a_like_one():
    place = made()
    shown = command(place, "incidents", "show", place.compact[2])
    equal((shown["incident"]["id"], shown["whole"], shown["like"]["id"]), (place.compact[2], False, place.ids[-1]), "the ids")
    equal(shown["private"]["noted"], {"disk": "sdb59"}, "what the like one has noted")
    equal(shown["public"], {"status": 404, "code": "NOT_FOUND", "category": "resource"}, "what is known of this very failure")


@test
def an_id_that_is_not_there_says_why():
    place = made()
    recent = command(place, "incidents", "show", id_at(int(time.time() * 1000)), status=5)["error"]
    old = command(place, "incidents", "show", id_at(1000000000000), status=5)["error"]
    equal((recent["code"], old["code"]), ("NOT_FOUND", "NOT_FOUND"), "the codes")
    expect("older" in json.dumps(old) and recent["message"] != old["message"], recent, old)
    mail = command(place, "incidents", "show", "order %s, id %s" % (uuid.uuid4(), id_at(1000000000000)), status=5)["error"]
    equal(mail["message"], old["message"], "of several ids the one that could be ours")
    equal(command(place, "incidents", "show", "no id at all", status=2)["error"]["code"], "VALIDATION_ERROR", "the code")


@test
def groups_are_resolved_and_muted():
    place = made()
    groups = command(place, "incidents", "groups")["groups"]
    equal({(g["group"], g["count"], g["state"]) for g in groups}, {("%016x" % 5, 30, "new"), ("%016x" % 6, 35, "new")}, "groups")
    equal(command(place, "incidents", "resolve", "%016x" % 5)["state"], "resolved", "the state")
    equal(command(place, "incidents", "mute", "%016x" % 6)["state"], "muted", "the state")
    equal([g["group"] for g in command(place, "incidents", "groups", "--state", "muted")["groups"]], ["%016x" % 6], "muted ones")
    equal(len(command(place, "incidents", "groups", "--state", "muted", "--state", "resolved")["groups"]), 2, "both")
    equal(command(place, "incidents", "mute", "%016x" % 6, "--undo")["state"], "new", "what it was before")
    equal(command(place, "incidents", "group", "%016x" % 5)["state"], "resolved", "one group")
    equal(sum(day["count"] for day in command(place, "incidents", "group", "%016x" % 5)["days"]), 30, "its days, two of them after midnight")
    command(place, "incidents", "group", "%016x" % 77, status=5)
    command(place, "incidents", "resolve", "%016x" % 77, status=5)
    command(place, "incidents", "resolve", "nonsense", status=2)


@test
def undo_gives_the_state_from_before():
    place, group = made(), "%016x" % 6

    def state(*words):
        return command(place, "incidents", *words)["state"]
    equal([state(what, group) for what in ("mute", "mute", "resolve")], ["muted", "muted", "resolved"], "decisions")
    equal(state("mute", group, "--undo"), "resolved", "not the last decision")
    equal(state("resolve", group, "--undo"), "muted", "before it was resolved")
    equal(state("mute", group, "--undo"), "new", "before it was muted")
    equal(state("mute", group, "--undo"), "new", "nothing was decided")
    equal(command(place, "incidents", "group", group)["history"], [], "what was decided")


@test
def stats_count_all():
    place = made()
    stats = command(place, "incidents", "stats", "--from", "1h", "--step", "minute")
    equal((stats["total"], stats["step_s"]), (65, 60), "the total")
    equal({row["category"]: sum(row["counts"]) for row in stats["series"] if sum(row["counts"])}, {"resource": 35, "system": 30},
          "by category")
    equal({row["code"]: row["count"] for row in stats["codes"]}, {"NOT_FOUND": 35, "INTERNAL_ERROR": 30}, "by code")


def raw(place, *words):
    done = run_program(MISHAP, *words, env=environment(place))
    equal(done.status, 0, "exit: %r" % (done,))
    return done.out.decode()


@test
def export_writes_json_lines():
    place = made()
    rows = [json.loads(line) for line in raw(place, "incidents", "export").splitlines()]
    equal([row["id"] for row in rows], sorted(place.ids + place.compact, reverse=True), "the ids")
    equal(sum("noted" in row for row in rows), 60, "whole records")


@test
def export_writes_csv_that_no_spreadsheet_runs():
    place = made()
    text = raw(place, "incidents", "export", "--format", "csv", "--from", "1d")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    equal(len(rows), 65, "the rows")
    by_id = {row["id"]: row for row in rows}
    for i, formula in enumerate(FORMULAS):
        equal(by_id[place.ids[2 * i]]["message"], "'" + formula, "a formula")
    equal(by_id[place.ids[5]]["message"], "Todo 5 \"lost\",\nnot found", "quotes and line feeds")
    expect(text.endswith("\r\n") and not re.search(r"(^|,)\"?[=+@-]", text, re.M), "a cell begins a formula")


@test
def on_a_terminal_it_is_a_page():
    place = made()
    for words, wanted in [(("list",), [place.compact[0], "NOT_FOUND"]), (("groups",), ["%016x" % 5, "INTERNAL_ERROR"]),
                          (("show", place.ids[5]), ["What the caller saw", "What happened", "the disk is gone", "sdb5",
                                                    "Other failures of the same trace", "Its group"]),
                          (("stats",), ["failures", "NOT_FOUND"])]:
        text = on_terminal(place, "incidents", *words, width=120)
        for part in wanted:
            expect(part in text, part, "is missing in", text)
        expect("{\"" not in text.replace("{\"error\":\"x\"}", "").replace("{\"id\":5}", "").replace("{\"pid\":1", ""), "JSON:", text)


@test
def the_operations_are_in_every_program_with_a_log():
    done = run_program(os.environ["SAMPLE_PROGRAM"], "manifest", "--output", "json")
    names = list(parsed(done.out)["data"]["commands"])
    expect(all("incidents." + name in names for name in ALL), names)


main()
