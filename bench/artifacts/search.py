"""Searches among one million artifacts over HTTP, one at a time: the milliseconds that each takes, for words with few hits and many."""
import http.client
import json
import statistics
import time

import stores
from transfers import Server

LIMIT = 100
QUERIES = {word: (word,) for word in stores.WORDS} | {
    "nineteen, of content": ("nineteen", "content"),
    "nineteen every": ("nineteen every",),
    "half twenty": ("half twenty",),
    "half fifty of code": ("half fifty", "code"),
    "nowhere": ("nowhere",),
}


def ask(connection, args):
    body = json.dumps({"args": [args[0], args[1] if len(args) > 1 else None, LIMIT]})
    begun = time.perf_counter()
    connection.request("POST", "/artifacts/genesis_store/search", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    took = (time.perf_counter() - begun) * 1000
    if response.status != 200:
        raise SystemExit("a search failed: %s" % answer)
    return took, answer


def measure(program, folder, rounds, *flags, data=None):
    """{query: (median, worst, ranked, hits)}; in turns, after one that is not counted."""
    times, answers = {name: [] for name in QUERIES}, {}
    with Server(program, folder, *flags, data=data) as server:
        connection = http.client.HTTPConnection(server.address, timeout=120)
        for turn in range(rounds + 1):
            for name, args in QUERIES.items():
                took, answers[name] = ask(connection, args)
                if turn:
                    times[name].append(took)
        connection.close()
    return {name: (statistics.median(times[name]), max(times[name]), min(times[name]), answers[name]["ranked"], answers[name].get("hits"))
            for name in QUERIES}
