"""A large upload that is streamed through a handler, beside a bare loop that reads the same bytes.

    python3 bench/upload/measure.py DISCARD BARE [--megabytes 1024] [--rounds 3]

DISCARD is bench/upload/discard.c: a server with one loop, whose handler reads the file in a process of its own; the file is a part of a form,
in which the loop searches for the boundary, or it is the body. BARE is
bench/http/bare.c: libuv and llhttp, which read the same request to its last byte in one process and do nothing with it. Each round measures
both, one after the other, with the same sender. The memory is the growth of the peak (VmHWM) of all processes of the server, from before the
first upload to after the last.
"""
import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import figures  # noqa: E402

MEGABYTE = 1 << 20
LEAST_RATIO, MOST_MEMORY = 0.60, 20
HEAD = b'--xYz\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: application/octet-stream\r\n\r\n'
TAIL = b"\r\n--xYz--\r\n"


def start_server(discard, folder):
    log = open(os.path.join(folder, "err"), "w+b")
    server = subprocess.Popen([discard, "serve", "--listen", "127.0.0.1:0", "--workers", "1", "--handlers", "2", "--data", folder],
                              stdout=subprocess.DEVNULL, stderr=log, env=dict(os.environ, DISCARD_LOG=os.path.join(folder, "log")))
    for _ in range(600):
        log.seek(0)
        ready = re.search(rb"listening on http://[^\s:]+:(\d+)", log.read())
        if ready:
            return server, int(ready[1])
        time.sleep(0.1)
    raise figures.Void("the server does not listen")


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


def tree_of(pid):
    found, last = [pid], 0
    while last < len(found):
        for task in os.listdir("/proc/%d/task" % found[last]):
            with open("/proc/%d/task/%s/children" % (found[last], task)) as file:
                found += [int(word) for word in file.read().split()]
        last += 1
    return found


def peak_of(pid):
    """KB: the sum of the peaks of all processes of a server."""
    total = {}
    for process in tree_of(pid):
        with open("/proc/%d/status" % process) as file:
            total[process] = int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])
    return total


def measure(discard, bare, megabytes, rounds):
    answer = b'"bytes":%d' % (megabytes * MEGABYTE)
    speeds = {"bare": [], "form": [], "body": []}
    with tempfile.TemporaryDirectory() as folder:
        server, port = start_server(discard, folder)
        floor, floor_port = start_bare(bare)
        try:
            send(port, 1, b'"bytes":%d' % MEGABYTE, True)  # the worker has started
            before = peak_of(server.pid)
            for _ in range(rounds):
                speeds["bare"].append(send(floor_port, megabytes, b"HTTP/1.1 ", True))
                speeds["form"].append(send(port, megabytes, answer, True))
                speeds["body"].append(send(port, megabytes, answer, False))
            after = peak_of(server.pid)
        finally:
            floor.kill()
            server.terminate()
            floor.wait()
            server.wait()
    grown = sum(kilobytes - before.get(pid, 0) for pid, kilobytes in after.items()) / 1024
    return speeds, grown, len(after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("discard")
    parser.add_argument("bare")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    speeds, grown, processes = measure(asked.discard, asked.bare, asked.megabytes, asked.rounds)
    for name, values in speeds.items():
        print(f"{name:10} {figures.median(name, values, asked.rounds):8.0f} MB/s   rounds: "
              + ", ".join("%.0f" % value for value in values))
    for name, what in (("form", "the file of a form"), ("body", "a body that is the file")):
        ratios = figures.ratios(name, speeds[name], speeds["bare"])
        ratio = ratios[len(ratios) // 2]
        print(f"{what}, streamed through a handler / bare loop: {ratio:.2f} (goal: at least {LEAST_RATIO:.2f}): "
              + ("reached" if ratio >= LEAST_RATIO else "missed"))
    print(f"memory of all {processes} processes for {asked.megabytes} MB: {grown:+.1f} MB (goal: less than {MOST_MEMORY}): "
          + ("reached" if grown < MOST_MEMORY else "missed"))


if __name__ == "__main__":
    try:
        main()
    except figures.Void as void:
        figures.say(void)
        sys.exit(figures.EXIT_VOID)
