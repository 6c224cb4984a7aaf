"""Searches among one million artifacts over HTTP, one at a time: the milliseconds that each takes, for words with few hits and many."""
import http.client
import json
import time

import stores
import processes
from figures import Void
from transfers import Server

LIMIT = 100
QUERIES = {word: (word,) for word in stores.WORDS} | {
    "nineteen, of content": ("nineteen", "content"),
    "nineteen every": ("nineteen every",),
    "half twenty": ("half twenty",),
    "half fifty of code": ("half fifty", "code"),
    "old": ("old",),
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
        raise Void("a search failed: %s" % answer)
    return took, answer


def measure(program, folder, rounds, *flags, data=None, others=()):
    """{query: its milliseconds in each round, those of the CPU, and what was answered}; in turns, after one that is not counted. CPU is
    that of the server and of the processes below `others`."""
    found = {name: {"ms": [], "cpu": []} for name in QUERIES}
    with Server(program, folder, *flags, data=data) as server:
        connection = http.client.HTTPConnection(server.address, timeout=120)
        ask(connection, ("nowhere",))
        roots = (server.process.pid, *others)
        for turn in range(rounds + 1):
            for name, args in QUERIES.items():
                before = processes.cpu_ns(*roots)
                took, answer = ask(connection, args)
                if turn:
                    found[name]["ms"].append(took)
                    found[name]["cpu"].append((processes.cpu_ns(*roots) - before) / 1e6)
                found[name].update(ranked=answer["ranked"], hits=answer.get("hits"))
        connection.close()
    return found
