"""What one caller may have of a server, and what a server may have of its machine: streams, calls, connections, open files.

    MISHAP_PROGRAM=… BYTES_PROGRAM=… python3 tests/http/shares_test.py [PART-OF-A-NAME]

Speaks TAP. tests/http/bytes.c is the program that has streams.
"""
import os
import re
import resource
import signal
import stat
import time

import server
from blackbox import equal, expect, main, test, tests_of
from server import Server, request, wait_for

BYTES = os.path.abspath(os.environ["BYTES_PROGRAM"])


# ---- Streams and calls ---------------------------------------------------------------------------

def tail(found, address, start=4096):
    """A live tail of a caller behind a proxy, and the status of its head."""
    one = found.connect().send(request("GET", "/board?from=%d" % start, fields={"X-Forwarded-For": address}))
    while b"\r\n\r\n" not in one.received:
        expect(one.more(), "no answer")
    return one, int(one.received.split()[1])


def refused(one, words):
    found = one.response()
    equal((found.status, found.json["error"], found["Retry-After"]), (429, "rate_limited", "1"), "the refusal")
    expect(words in found.json["message"], "it does not say why:", found.json)


@tests_of({"in workers": ("2",), "in the loop": ("0",)})
def a_caller_has_so_many_live_tails_and_another_its_own(handlers):
    with Server("--workers", "1", "--caller-share", "1", "--handlers", handlers, program=BYTES) as found:
        tails = [tail(found, "192.0.2.1") for _ in range(100)]
        equal({status for _, status in tails}, {200}, "the tails")
        one, _ = tail(found, "192.0.2.1")
        refused(one, "One caller can have at most 100 open streams.")
        another, status = tail(found, "192.0.2.2")
        equal(status, 200, "another caller")
        another.close()
        tails.pop()[0].close()
        expect(wait_for(lambda: tail(found, "192.0.2.1")[1] == 200), "in its place")
        equal(found.ask("GET", "/slow").status, 200, "what is no stream")
        [loop] = found.workers()
        os.kill(loop, signal.SIGKILL)
        expect(wait_for(lambda: found.workers() not in ([], [loop])), "there is no other")
        more = [tail(found, "192.0.2.1") for _ in range(100)]  # what the other one had is not counted
        equal({status for _, status in more}, {200}, "the tails of the next loop")
        for each, _ in tails + more:
            each.close()


@tests_of({"in workers": ("2",), "in the loop": ("0",)})
def a_stream_that_begins_with_events_is_refused_before_them(handlers):
    with Server("--workers", "1", "--caller-share", "1", "--handlers", handlers, program=BYTES) as found:
        for line in ["first", "second"]:
            equal(found.ask("POST", "/board", {"line": line}).status, 200, "a line")
        tails = [tail(found, "192.0.2.1", 0) for _ in range(100)]
        equal({status for _, status in tails}, {200}, "the tails")
        for _ in range(20):  # as often as it is tried
            one, _ = tail(found, "192.0.2.1", 0)
            refused(one, "One caller can have at most 100 open streams.")
            expect(one.is_open(), "the connection ended")
            one.close()
        equal(tail(found, "192.0.2.2", 0)[1], 200, "another caller")
        expect(wait_for(lambda: found.running_handlers() == 0), "handlers run")
        for each, _ in tails:
            each.close()


@test
def a_caller_that_calls_very_much_leaves_room_for_others():
    with Server("--workers", "1", "--handlers", "1", program=BYTES) as found:
        calls = [found.connect().send(request("GET", "/slow?ms=10000", fields={"X-Forwarded-For": "192.0.2.1"})) for _ in range(50)]
        late = wait_for(lambda: [each for each in calls if not each.is_silent(0.001)])
        for each in late:
            refused(each, "48 calls of this caller")
        others = [found.connect().send(request("GET", "/slow?ms=1", fields={"X-Forwarded-For": address}))
                  for address in ["192.0.2.2", "192.0.2.3"]]  # one may be counted in the place of the first, by chance
        expect(any([each.is_silent(0.3) for each in others]), "other callers were refused:", [each.received for each in others])
        for each in [*others, *calls]:
            each.reset()


# ---- Connections and open files ------------------------------------------------------------------

def limited(files):
    """A program like the one that is tested, but with so many open files at most."""
    folder = os.path.join(server.FOLDER, "limited-%d" % files)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "mishap")
    with open(path, "w", encoding="ascii") as script:
        script.write("#!/bin/sh\nulimit -n %d && exec '%s' \"$@\"\n" % (files, server.PROGRAM))
    os.chmod(path, stat.S_IRWXU)
    return path


def full(found, count):
    """Connections up to the limit, each of which was answered."""
    held = [found.connect() for _ in range(count)]
    for one in held:
        equal(one.ask("GET", "/errors/NOT_FOUND").status, 200, "a connection")
    return held


def turned_away(one):
    answer = one.send(request("GET", "/errors/NOT_FOUND")).response()
    equal((answer.status, answer.json["error"], answer["Retry-After"], answer.closes), (503, "unavailable", "1", True), "the answer")
    one.expect_closed()
    one.close()


@test
def connections_are_as_many_as_there_are_files_for():
    with Server("--workers", "1", "--handlers", "2", program=limited(96)) as found:
        said = found.read(found.stderr).decode()
        lines = re.findall(r"^mishap: --max-connections is (\d+) instead of 20000 for each server process: the limit of open files "
                           r"\(ulimit -n\) is 96, and (\d+) of them are reserved for other uses$", said, re.M)
        equal(len(lines), 1, said)
        most, kept = map(int, lines[0])
        equal(most + kept, 96, "the figures")
        held = full(found, most)
        late = [found.connect() for _ in range(10)]  # at the same time
        for one in late:
            turned_away(one)
        for number, one in enumerate(held):  # the others go on, and so do workers and logs
            equal(one.ask("POST", "/todos", {"title": "todo %d" % number}).status, 201, "the others")
        held.pop().close()

        def has_room():
            with found.connect() as one:
                return one.ask("GET", "/errors/NOT_FOUND", checked=False).status == 200
        expect(wait_for(has_room), "there is no room again")


@test
def what_fits_is_not_talked_about():
    with Server("--workers", "1", "--max-connections", "10", program=limited(200)) as found:
        expect("open files" not in found.read(found.stderr).decode(), "it talks of the limit")
        held = full(found, 10)
        turned_away(found.connect())
        equal(len(held), 10)


@test
def a_limit_that_leaves_no_connection_is_told_at_the_start():
    answer = server.run_program(limited(40), "serve", "--data", os.path.join(server.FOLDER, "few"), "--listen", "127.0.0.1:0")
    expect(answer.status != 0 and b"listening" not in answer.err, "it serves:", answer)
    expect(b"The limit of 40 open files (ulimit -n) is too low" in answer.out + answer.err, "it does not say why:", answer)


def seconds_of(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@test
def without_a_file_for_it_a_connection_is_closed_and_nothing_else_happens():
    with Server("--workers", "1") as found:
        held = full(found, 3)
        [loop] = found.workers()
        listings = []
        for _ in range(20):  # some files are open for a moment only
            listings.append({int(name) for name in os.listdir("/proc/%d/fd" % loop)})
            time.sleep(0.05)
        used = set.intersection(*listings)
        hole = min(number for number in range(len(used) + 1) if number not in used)
        before = resource.prlimit(loop, resource.RLIMIT_NOFILE)
        resource.prlimit(loop, resource.RLIMIT_NOFILE, (hole, before[1]))
        began = seconds_of(loop)
        for _ in range(5):
            with found.connect() as one:
                one.send(request("GET", "/errors/NOT_FOUND")).expect_closed()
        time.sleep(0.5)
        expect(seconds_of(loop) - began < 0.3, "it took", seconds_of(loop) - began, "seconds of the processor")
        expect(all(one.is_open() for one in held), "the others suffer")
        resource.prlimit(loop, resource.RLIMIT_NOFILE, before)
        equal(found.ask("GET", "/errors/NOT_FOUND").status, 200, "afterwards")
        equal(found.workers(), [loop], "the loop")


@test
def every_failure_fits_the_schema():
    server.fits_the_schema()


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
