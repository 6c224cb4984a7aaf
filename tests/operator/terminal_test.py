"""The operator's commands as people see them: on terminals of several widths, in pipes, and with files that flags name.

    MISHAP_PROGRAM=… python3 tests/operator/terminal_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import json
import os
import re
import signal
import subprocess
import time

from operating import MISHAP, Place, command, on_terminal
import server  # noqa: E402, behind the one that knows where it is
from blackbox import PATIENCE, equal, expect, main, open_terminal, parsed, run_program, test, tests_of  # noqa: E402


def failed():
    """A place with some failures of commands."""
    if not failed.place:
        failed.place = place = Place("failed")
        shown = on_terminal(place, "users", "get", "999", status=5)
        place.id = re.search(r"^     id: ([0-9a-f-]{36})$", shown, re.M)[1]
        place.mistake = command(place, "incidents", "list", "--from", "10y", status=2)["meta"]["request_id"]
        crash = on_terminal(place, "chaos", "fail", "crash", status=1)
        place.crash = re.search(r"^   incident: ([0-9a-f-]{36})$", crash, re.M)[1]
    return failed.place


failed.place = None


@test
def a_failure_shows_an_id_that_can_be_pasted():
    place = failed()
    equal(command(place, "incidents", "show", place.id)["incident"]["code"], "NOT_FOUND", "what the id leads to")


@tests_of({"of the words": (["users", "get"], 2), "of a filter": (["incidents", "list", "--from", "10y"], 2), "no command": (["user"], 2)})
def a_mistake_needs_no_id(words, status):
    place = Place("mistake-%d" % len(words))
    shown = on_terminal(place, *words, status=status)
    expect(not re.search(r"(id|incident): [0-9a-f-]{36}", shown), "an id is shown:", shown)


@test
def a_finding_names_its_field():
    shown = on_terminal(Place("finding"), "incidents", "list", "--from", "10y", status=2)
    expect("- from: It is neither a time, such as 2026-11-17, nor an age, such as 6h." in shown, shown)


@test
def export_is_shown_on_a_terminal_and_a_file_is_a_redirection():
    place = failed()
    expect(place.id in on_terminal(place, "incidents", "export", width=1000), "the terminal")
    shown = on_terminal(Place("to"), "incidents", "export", "--to", "failures.jsonl", status=2)
    expect("redirect the output" in shown and "> FILE" in shown, shown)


@tests_of({"60 columns": 60, "80 columns": 80, "100 columns": 100, "132 columns": 132})
def lists_fit_the_terminal(width):
    place = failed()
    for words in (["list"], ["groups"]):
        lines = on_terminal(place, "incidents", *words, width=width).splitlines()
        expect(lines and all(len(line) < width + 1 for line in lines), "too wide:", lines)
        expect(width < 80 or any("NOT_FOUND" in line and "users.get" in line for line in lines), lines)
    expect(any(place.id in line for line in on_terminal(place, "incidents", "list", width=width).splitlines()), "the id is cut")


@test
def into_a_pipe_nothing_is_cut():
    place = failed()
    done = run_program(MISHAP, "incidents", "list", "--own", "--output", "text", env=dict(place.environment, COLUMNS="40"))
    expect("…" not in done.out.decode() and "One or more fields are not valid." in done.out.decode(), done.out)


@test
def own_mistakes_are_shown_if_they_are_asked_for():
    place = failed()

    def ids(*words):
        return [row["id"] for row in command(place, "incidents", "list", *words)["incidents"]]
    expect(place.mistake not in ids() and place.id in ids(), "the list")
    for words in (["--own"], ["--operation", "incidents.list"], ["--service", "incidents"]):
        expect(place.mistake in ids(*words), words)
    group = command(place, "incidents", "show", place.mistake)["incident"]["group"]
    expect(place.mistake in ids("--group", group), "by its group")
    groups = [g["operation"] for g in command(place, "incidents", "groups")["groups"]]
    expect("incidents.list" not in groups and "users.get" in groups, groups)
    expect("incidents.list" in [g["operation"] for g in command(place, "incidents", "groups", "--own")["groups"]], "the groups")


@test
def ctrl_c_ends_a_tail():
    place = Place("tail")
    ours, other = open_terminal()
    process = subprocess.Popen([MISHAP, "incidents", "tail"], stdin=subprocess.DEVNULL, stdout=other, stderr=other,
                               env=dict(os.environ, **place.environment))
    os.close(other)
    text, deadline = b"", time.monotonic() + PATIENCE
    while b"NOT_FOUND" not in text:  # it begins at some moment
        expect(time.monotonic() < deadline and process.poll() is None, "nothing came:", text)
        on_terminal(place, "users", "get", "999", status=5)
        os.set_blocking(ours, False)
        try:
            text += os.read(ours, 65536)
        except OSError:
            time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    equal(process.wait(PATIENCE), 0, "exit")
    expect(b"CANCELLED" not in text and b"error" not in text, text)
    os.close(ours)
    with open(place.log, encoding="utf-8") as log:
        expect("CANCELLED" not in log.read(), "the end of a tail is recorded")


@test
def what_was_sent_stands_apart_from_what_could_be_told():
    place = failed()
    envelope = parsed(run_program(MISHAP, "users", "get", "998", env=place.environment).out)
    shown = on_terminal(place, "incidents", "show", envelope["meta"]["request_id"], width=200)
    seen = shown[shown.index("What the caller saw"):shown.index("The public side")]
    expect('"ok":false' in seen and "suggestion  " not in seen, seen)


@test
def a_place_in_the_library_is_not_taken_for_the_program():
    place = failed()
    mistake = command(place, "incidents", "show", command(place, "users", "create", status=2)["meta"]["request_id"])
    equal(mistake["private"]["source"], [], "source lines of the library")
    expect("checks of the arguments" in mistake["private"]["raised_by"], mistake["private"])
    crash = command(place, "incidents", "show", place.crash)["private"]
    expect("mishap" in crash["handler_frame"] and "mishap_" not in crash["handler_frame"], crash)


# ---- Files that flags name -----------------------------------------------------------------------

@test
def data_and_log_say_whose_incidents_are_read():
    place, other = failed(), Place("other")
    found = command(other, "incidents", "show", place.id, "--data", place.data, "--log", place.log)
    equal(found["incident"]["id"], place.id, "by both flags")
    command(other, "incidents", "show", place.id, status=5)
    expect(place.id not in command(other, "incidents", "list", "--log", other.log)["incidents"], "another log")
    for words in (["--data", "/nowhere"], ["--log", "/nowhere"]):
        wrong = command(other, "incidents", "list", *words, status=2)
        expect(words[0] in json.dumps(wrong["error"]), wrong)


@test
def a_command_with_another_log_stays_out_of_the_index_of_a_server():
    with server.Server("--workers", "1") as found:
        id = found.ask("GET", "/users/999").id
        deadline = time.monotonic() + PATIENCE
        while not os.path.exists(os.path.join(found.data, "incidents", "journal")):
            expect(time.monotonic() < deadline, "the index has no owner")
            time.sleep(0.05)
        own = Place("stranger")
        stranger = parsed(run_program(MISHAP, "users", "get", "5", env=dict(own.environment, MISHAP_DATA=found.data)).out)["meta"]["request_id"]

        def ids(**more):
            environment = dict(own.environment, MISHAP_DATA=found.data, **more)
            rows = parsed(run_program(MISHAP, "incidents", "list", env=environment).out)["data"]["incidents"]
            return [row["id"] for row in rows]
        equal(ids(), [stranger], "with the log of the stranger")
        while id not in ids(MISHAP_LOG=found.log):
            expect(time.monotonic() < deadline, "the incident of the server is missing")
            time.sleep(0.05)
        expect(stranger not in ids(MISHAP_LOG=found.log), "the stranger is in the index of the server")
        rows = command(own, "incidents", "list", "--data", found.data)["incidents"]
        expect(id in [row["id"] for row in rows], "by the folder alone:", rows)


main()
