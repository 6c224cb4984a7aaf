"""5,000 forged tokens a second from ten addresses, and another caller beside them: how much longer does it wait, and what does the issuer see?

    python3 bench/oauth/forged.py PROGRAM [--rate 5000] [--calls 1000] [--rounds 5]

In each round the same calls of a caller whose token is known are made twice, one after the other on one connection: alone, and while the
others send tokens of which every second one has a signature that is not right, and every other one a key that the issuer does not have. Each of
the ten has an address of its own, 127.0.0.2 to 127.0.0.11, and they send in turn, evenly spaced: what comes in bursts waits for the burst, whatever the
server does. PROGRAM is `mishap`, whose `GET /todos` is called.
"""
import argparse
import contextlib
import http.client
import itertools
import json
import multiprocessing
import os
import pathlib
import select
import socket
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TREE / "bench"), str(TREE / "tests/cli"), str(TREE / "tests/oauth")]
import figures  # noqa: E402
import issuer as issuers  # noqa: E402
import load  # noqa: E402

ADDRESSES, FORGERIES, TARGET = 10, 20000, 2
PATH = "/todos"


def request_of(token):
    return ("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % (PATH, token)).encode()


def forgeries(token):
    """Requests with tokens that no cache knows."""
    head, _, mark = token.split(".")
    claims = json.loads(issuers.base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    for number in range(FORGERIES):
        body = issuers.b64(json.dumps({**claims, "sub": "root-%d-%d" % (os.getpid(), number)}).encode())
        one = head if number % 2 else issuers.b64(json.dumps({"alg": "ES256", "typ": "at+jwt", "kid": "invented-%d" % number}).encode())
        yield request_of("%s.%s.%s" % (one, body, mark))


def attack(port, token, rate, stop, told):
    """Send at this rate until it is stopped: requests and responses by status, and seconds."""
    sockets = []
    for number in range(ADDRESSES):
        one = socket.socket()
        one.bind(("127.0.0.%d" % (2 + number), 0))
        one.connect(("127.0.0.1", port))
        sockets.append(one)
    source, begun = itertools.cycle(list(forgeries(token))), time.monotonic()
    sent, answered, rest = 0, {b"401": 0, b"429": 0}, {one: b"" for one in sockets}
    while not stop.is_set():
        while sent < (time.monotonic() - begun) * rate:
            sockets[sent % ADDRESSES].sendall(next(source))
            sent += 1
        for one in select.select(sockets, [], [], 0)[0]:
            text = rest[one] + one.recv(1 << 20)
            for status in answered:
                answered[status] += text.count(b"HTTP/1.1 " + status)
            rest[one] = text[-12:].partition(b"HTTP/1.1 ")[0][-11:] if b"HTTP/1.1 " in text[-12:] else text[-11:]
        time.sleep(max(0, begun + sent / rate - time.monotonic()))
    told.put((sent, {name.decode(): count for name, count in answered.items()}, time.monotonic() - begun))


def calls(port, token, count):
    """The 99th percentile of so many calls, in microseconds."""
    took, fields = [], {"Authorization": "Bearer " + token}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for _ in range(count):
            begun = time.perf_counter_ns()
            connection.request("GET", PATH, headers=fields)
            answer = connection.getresponse()
            answer.read()
            took.append((time.perf_counter_ns() - begun) / 1000)
            if answer.status != 200:
                raise figures.Void("the caller got %d" % answer.status)
    return sorted(took)[count * 99 // 100]


def measure(options, site, issuer, port):
    token, alone, beside, loads, fetched = issuer.token(), [], [], [], 0
    calls(port, token, 100)
    for turn in range(options.rounds):
        alone.append(calls(port, token, options.calls))
        stop, told, seen = multiprocessing.Event(), multiprocessing.Queue(), site.asked.count("/jwks")
        attacker = multiprocessing.Process(target=attack, args=(port, token, options.rate, stop, told))
        attacker.start()
        time.sleep(2)  # it makes its tokens first
        beside.append(calls(port, token, options.calls))
        stop.set()
        loads.append(told.get())
        attacker.join()
        fetched += site.asked.count("/jwks") - seen
    seconds = sum(one[2] for one in loads)
    sent, checked = sum(one[0] for one in loads), sum(one[1]["401"] for one in loads)
    rate = sent / seconds
    print("\n%d rounds of %d calls beside forged tokens of %d addresses; load of the machine %.1f:" % (options.rounds, options.calls, ADDRESSES, os.getloadavg()[0]))
    figures.row("forged tokens a second", rate, "")
    figures.row("… of which were not refused unchecked (401)", checked / sent * 100, "%")
    figures.row("p99 of the caller, alone", figures.median("alone", alone), "µs")
    figures.row("p99 of the caller, beside them", figures.median("beside", beside), "µs")
    figures.row("p99 of the caller, beside them against alone", figures.statistics.median(figures.ratios("p99", beside, alone)), "×", at_most=TARGET,
                sure=rate >= 0.9 * options.rate)
    print("the issuer was asked for its keys %d times in %.0f seconds (at most 1 in 30): %s" % (fetched, seconds, "met" if fetched <= 1 + seconds / 30 else "MISSED"))


def main():
    reader = argparse.ArgumentParser()
    reader.add_argument("program")
    reader.add_argument("--rate", type=int, default=5000)
    reader.add_argument("--calls", type=int, default=1000)
    reader.add_argument("--rounds", type=int, default=5)
    options = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder, issuers.Site() as site:
        issuer = issuers.Issuer(folder, site.url, "https://api.example.com", "ES256")
        site.offer(issuer, **{"Cache-Control": "public, max-age=86400"})
        server = load.Server(options.program, pathlib.Path(folder) / "server",
                             flags=("--oauth-issuer", site.url, "--public-url", "https://api.example.com"))
        try:
            for _ in range(600):
                if any(server.folder.glob("jwks-*")):
                    break
                time.sleep(0.05)
            time.sleep(2)  # each process of the server reads the set within a second
            measure(options, site, issuer, server.port)
        finally:
            server.stop()


if __name__ == "__main__":
    figures.run(main)
