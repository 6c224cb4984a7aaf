"""A power failure at any moment loses at most the incidents of the last second.

    MISHAP_PROGRAM=… POWER_LIBRARY=… python3 tests/incident/power_test.py [PART-OF-A-NAME]

A server runs with a library that notes each write to its log and each fdatasync (power.c). A power failure is replayed from the notes: of
the log only what was on the disk at that moment is kept. Each id that a caller had got more than a second before must be in that. Speaks TAP.

On a busy machine a process can wait for its turn for longer than that: so one of some rounds must keep the limit, and each round a wider one.
"""
import base64
import json
import os
import random
import sys
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
import server  # noqa: E402
from blackbox import PATIENCE, Skipped, equal, expect, main, run_program, test  # noqa: E402

LIMIT, WIDE, ROUNDS = 1.0, 60.0, 20


def notes_of(path):
    """The writes (size, time) and the syncs (begin, end), in seconds; of one file, which is not rotated here. Before its folder is on the disk,
    no sync counts."""
    writes, syncs, named = [], [], None
    with open(path, encoding="ascii") as file:
        for word, _inode, first, second in (line.split() for line in file if line.count(" ") == 3):
            if word == "write":
                writes.append((int(first), int(second) / 1e9))
            elif word == "sync":
                syncs.append((int(first) / 1e9, int(second) / 1e9))
            else:
                named = named or int(second) / 1e9
    return writes, [(begin, max(end, named)) for begin, end in syncs] if named else []


def on_disk(writes, syncs, moment):
    """How many bytes of the log a power failure at this moment leaves: what was written when the last fdatasync that had ended by then began."""
    begun = max((begin for begin, end in syncs if end <= moment), default=0)
    return max((size for size, when in writes if when <= begun), default=0)


def ids_in(log):
    """The ids of the incidents in a log, of which the last line may be torn."""
    ids = set()
    for line in log.split(b"\n")[:-1]:
        record = json.loads(line)
        if record["kind"] == "whole":
            ids.add(record["id"])
        elif record["kind"] == "compact":
            raw = base64.b64decode(record["ids"])
            ids |= {str(uuid.UUID(bytes=raw[i:i + 16])) for i in range(0, len(raw), 16)}
    return ids


class Round:
    """A server that fails for some seconds, whole and compact, and the notes of that."""

    def __init__(self, seconds=3):
        folder = os.path.join(server.FOLDER, "power-%d" % server.Server.count)
        os.mkdir(folder)
        self.notes = os.path.join(folder, "notes")
        self.answered = []  # (time, id)
        with server.Server("--workers", "1", LD_PRELOAD=os.environ["POWER_LIBRARY"], POWER_NOTES=self.notes,
                           POWER_FILE=os.path.join(server.FOLDER, "server-%d" % (server.Server.count + 1), "log")) as found:
            self.begin = time.monotonic()
            while time.monotonic() < self.begin + seconds:
                for path in ("/todos/999999999", "/nowhere/%d" % len(self.answered)):
                    id = found.ask("GET", path).id
                    self.answered.append((time.monotonic(), id))
                time.sleep(0.01)
            self.end = time.monotonic()
            deadline = self.end + PATIENCE
            while time.monotonic() < deadline and self.lost(time.monotonic(), 0, found.log):
                time.sleep(0.1)
            with open(found.log, "rb") as file:
                self.log = file.read()
        self.writes, self.syncs = notes_of(self.notes)

    def lost(self, moment, older, path=None):
        """The ids that were answered that much before this moment, and that a power failure would lose."""
        if path:
            self.writes, self.syncs = notes_of(self.notes) if os.path.exists(self.notes) else ([], [])
            with open(path, "rb") as file:
                self.log = file.read()
        kept = ids_in(self.log[:on_disk(self.writes, self.syncs, moment)])
        return [id for when, id in self.answered if when <= moment - older and id not in kept]


@test
def a_power_failure_loses_at_most_a_second():
    if os.environ.get("MISHAP_SANITIZED") == "1":
        raise Skipped("a sanitizer must be the first library")
    tell = random.Random(11)
    worst = []
    for _ in range(ROUNDS):
        seen = Round()
        equal(seen.lost(time.monotonic(), 0), [], "what is never on the disk")
        if len(seen.answered) <= 20 or len(seen.syncs) <= 2:
            worst.append("too few: %d answers, %d syncs" % (len(seen.answered), len(seen.syncs)))
            continue
        moments = sorted(tell.uniform(seen.begin, seen.end + LIMIT) for _ in range(60))
        for moment in moments:
            equal(seen.lost(moment, WIDE), [], "lost after a minute")
        worst.append(max(len(seen.lost(moment, LIMIT)) for moment in moments))
        if worst[-1] == 0:
            # What was written in the last moments must be missing at some: else the notes say nothing.
            expect(any(seen.lost(moment, 0) for moment in moments), "no moment loses anything: is the library loaded?")
            return
    raise AssertionError("ids older than a second were lost, in each round: %r" % worst)


@test
def the_replay_finds_a_writer_that_does_not_sync():
    writes, syncs = [(100, 1.0), (250, 2.0), (300, 3.0)], [(1.5, 1.6), (2.5, 9.0)]
    equal([on_disk(writes, syncs, moment) for moment in (0.5, 1.55, 1.7, 5.0, 9.5)], [0, 0, 100, 100, 250], "bytes on the disk")
    equal([on_disk(writes, [], 9.0)], [0], "without a sync")


@test
def a_command_appends_one_line_and_waits_for_no_disk():
    if os.environ.get("MISHAP_SANITIZED") == "1":
        raise Skipped("a sanitizer must be the first library")
    folder = os.path.join(server.FOLDER, "command")
    os.mkdir(folder)
    log, notes = os.path.join(folder, "log"), os.path.join(folder, "notes")
    done = run_program(server.PROGRAM, "todos", "get", "999999999", "--output", "json",
                       env={"MISHAP_LOG": log, "MISHAP_DATA": folder, "LD_PRELOAD": os.environ["POWER_LIBRARY"], "POWER_NOTES": notes,
                            "POWER_FILE": log})
    expect(done.status != 0, done)
    with open(log, "rb") as file:
        equal(len(file.read().splitlines()), 1, "lines")
    writes, syncs = notes_of(notes)
    equal((len(writes), syncs), (1, []), "writes and syncs")


def seconds_to_disk(found, notes):
    """How long after it was written the line of a failing command is on the disk: the server with the same log has written nothing meanwhile."""
    own = notes + "-of-command"
    done = run_program(server.PROGRAM, "todos", "get", "999999999", "--output", "json",
                       env={"MISHAP_LOG": found.log, "MISHAP_DATA": os.path.dirname(found.log), "LD_PRELOAD": os.environ["POWER_LIBRARY"],
                            "POWER_NOTES": own, "POWER_FILE": found.log})
    expect(done.status != 0, done)
    _size, written = notes_of(own)[0][-1]
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        writes, syncs = notes_of(notes) if os.path.exists(notes) else ([], [])
        equal(writes, [], "writes of the server")
        after = [end for begin, end in syncs if begin >= written]
        if after:
            return min(after) - written
        time.sleep(0.05)
    raise AssertionError("the line of a command is never brought to the disk")


@test
def a_server_brings_the_lines_of_commands_to_the_disk():
    if os.environ.get("MISHAP_SANITIZED") == "1":
        raise Skipped("a sanitizer must be the first library")
    notes = os.path.join(server.FOLDER, "notes-of-server")
    with server.Server("--workers", "1", LD_PRELOAD=os.environ["POWER_LIBRARY"], POWER_NOTES=notes,
                       POWER_FILE=os.path.join(server.FOLDER, "server-%d" % (server.Server.count + 1), "log")) as found:
        took = []
        while len(took) < ROUNDS and (not took or min(took) > LIMIT):
            took.append(seconds_to_disk(found, notes))
    expect(min(took) <= LIMIT, "seconds to the disk, in each round: %r" % took)


main()
