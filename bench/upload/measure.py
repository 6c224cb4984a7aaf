"""A large upload that is streamed through a handler, beside a bare loop that reads the same bytes.

    python3 bench/upload/measure.py DISCARD BARE [--megabytes 1024] [--rounds 7]

DISCARD is bench/upload/discard.c: a server with one loop, whose handler reads the file in a process of its own; the file is a part of a form,
in which the loop searches for the boundary, or it is the body. BARE is bench/http/bare.c: libuv and llhttp, which read the same request to its
last byte in one process and do nothing with it. Each round measures all of them, one after the other, with the same sender. Speed is judged only
if other programs do little: with the sender, the server needs three processes at once, and the bare loop two. CPU time is judged always. The
memory is the growth of the peak (VmHWM) of all processes of the server, from before the first upload to after the last.
"""
import argparse
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import figures  # noqa: E402
import load  # noqa: E402
import processes  # noqa: E402

MEGABYTE = 1 << 20
LEAST_RATIO, MOST_MEMORY = 0.60, 20
QUIET = 0.1  # of a core may go to other programs
HEAD = b'--xYz\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: application/octet-stream\r\n\r\n'
TAIL = b"\r\n--xYz--\r\n"


def start_bare(bare):
    process = subprocess.Popen([bare], stderr=subprocess.PIPE)
    port = re.search(rb"(\d+)\s*$", process.stderr.readline())
    if not port:
        raise figures.Void("the bare loop does not say where it listens")
    return process, int(port[1])


def send(port, megabytes, expected, form):
    """Megabytes per second, from the first byte to the answer, of the file of a form or of a body that is the file."""
    piece = os.urandom(MEGABYTE)  # no boundary is in it
    head, tail = (HEAD, TAIL) if form else (b"", b"")
    media_type = b"multipart/form-data; boundary=xYz" if form else b"application/octet-stream"
    length = len(head) + megabytes * MEGABYTE + len(tail)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        began = time.monotonic()
        connection.sendall(b"POST /discard HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                           % (media_type, length) + head)
        for _ in range(megabytes):
            connection.sendall(piece)
        connection.sendall(tail)
        answer = connection.recv(65536)
        took = time.monotonic() - began
    if expected not in answer:
        raise figures.Void("the answer was %r" % answer[:300])
    return megabytes / took


def peak_of(pid):
    """KB: the sum of the peaks of all processes of a server."""
    total = {}
    for process in processes.family(pid):
        with open("/proc/%d/status" % process) as file:
            total[process] = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])
    return total


def is_quiet():
    """True if no other program does much, as far as two seconds show."""
    before = processes.machine_seconds()
    time.sleep(2)
    return processes.machine_seconds() - before < 2 * QUIET


class Figures:
    """Of one way to send the bytes: megabytes per second, and CPU seconds for each GB, round by round."""

    def __init__(self):
        self.speeds, self.seconds = [], []

    def add(self, pid, *how):
        before = processes.cpu_ns(pid)
        self.speeds.append(send(*how))
        self.seconds.append((processes.cpu_ns(pid) - before) / 1e9 * 1024 / how[1])


def measure(discard, bare, megabytes, rounds):
    answer = b'"bytes":%d' % (megabytes * MEGABYTE)
    found = {"bare": Figures(), "form": Figures(), "body": Figures()}
    with tempfile.TemporaryDirectory() as folder:
        server = load.Server(discard, pathlib.Path(folder) / "server", flags=("--handlers", "2"))
        pid, port = server.process.pid, server.port
        floor, floor_port = start_bare(bare)
        try:
            send(port, 1, b'"bytes":%d' % MEGABYTE, True)  # the worker has started
            before = peak_of(pid)
            for _ in range(rounds):
                found["bare"].add(floor.pid, floor_port, megabytes, b"HTTP/1.1 ", True)
                found["form"].add(pid, port, megabytes, answer, True)
                found["body"].add(pid, port, megabytes, answer, False)
            after = peak_of(pid)
        finally:
            floor.kill()
            floor.wait()
            server.stop()
    grown = sum(kilobytes - before.get(pid, 0) for pid, kilobytes in after.items()) / 1024
    return found, grown, len(after)


def middle(ratios):
    return ratios[len(ratios) // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("discard")
    parser.add_argument("bare")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    sure = is_quiet()
    found, grown, count = measure(asked.discard, asked.bare, asked.megabytes, asked.rounds)
    bare = found["bare"]
    for name, of in found.items():
        print(f"{name:6} {figures.median(name, of.speeds, asked.rounds):8.0f} MB/s {figures.median(name, of.seconds, asked.rounds):8.2f} s of CPU time for 1 GB"
              "   rounds: " + ", ".join("%.0f" % value for value in of.speeds) + " MB/s; " + ", ".join("%.2f" % value for value in of.seconds) + " s")
    for name, what in (("form", "the file of a form"), ("body", "a body that is the file")):
        figures.row(what + ": speed / bare loop", middle(figures.ratios(name, found[name].speeds, bare.speeds)), "×", at_least=LEAST_RATIO, sure=sure)
        figures.row(what + ": CPU time of the bare loop / ours", middle(figures.ratios(name, bare.seconds, found[name].seconds)), "×",
                    at_least=LEAST_RATIO)
    print(f"memory of all {count} processes for {asked.megabytes} MB: {grown:+.1f} MB (goal: less than {MOST_MEMORY}): "
          + ("met" if grown < MOST_MEMORY else "MISSED"))


if __name__ == "__main__":
    figures.run(main)
