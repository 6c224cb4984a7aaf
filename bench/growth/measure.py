"""How cost grows: CPU of all processes of a server for a request, over the number of something; scripts/bench-growth calls this.

    connections  open connections that ask all the time (a refused request)
    loops        loops of the server, at most as many as there are cores: requests a second, and CPU
    rows         rows of a table in SQLite: one of them, and a page of twenty
    tools        operations of a program: a request over HTTP, a call of a tool over standard input and output
    parameters   parameters of an operation, all of them given
    answers      bytes of an answer

Each part prints a table, and draws docs/growth-PART.svg. No target is judged: a curve is looked at. "Steepness" is the exponent between a
row and the one before it: 0 where the cost does not grow, 1 where it grows as the number does.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import figures  # noqa: E402
import load  # noqa: E402
import plot  # noqa: E402
from figures import Void, say  # noqa: E402

REFUSED = load.Request("POST", "/users", 422, "field_required", '{"name":"","age":200,"email":"invalid"}')
USER = load.Request("POST", "/users", 201, '"id":"1"', '{"name":"Ada","email":"ada@example.com"}')
TODO = load.Request("POST", "/todos", 201, '"id":"1"', '{"title":"Buy milk","user_id":"1"}')
CONNECTIONS, IN_FLIGHT, CALLS = 64, 64, 20_000
# What is asked for at once, so that a large answer is not asked for by 64 at a time.
BYTES_AT_ONCE = 64 << 20
ROWS_AT_ONCE = 1_000_000  # in a transaction
CPU = "µs of CPU for each request"


def best(server, request, connections, options, size=0):
    """The cheapest of some rounds: other programs only add to the cost. Thousands of connections, and answers of 100 MB, take seconds."""
    seconds = options.seconds + connections // 2000 + size // 20_000_000
    server.load(request, connections, seconds)
    rounds = [server.load(request, connections, seconds) for _ in range(options.rounds)]
    return min(rounds, key=lambda seen: seen["cpu"])


# ---- Parts: {curve: [(number, cost)]} ------------------------------------------------------------------------------------


def by_connections(options, folder):
    server = load.Server(options.program, folder / "server", flags=["--max-connections", str(2 * options.connections[-1])])
    try:
        return {"a refused request": [(count, best(server, REFUSED, count, options)["cpu"]) for count in options.connections]}
    finally:
        server.stop()


def by_loops(options, folder):
    curves = {"CPU, µs": [], "time, µs": []}
    for loops in range(1, os.cpu_count() + 1):
        server = load.Server(options.program, folder / "server", loops=loops)
        try:
            seen = best(server, REFUSED, CONNECTIONS, options)
        finally:
            server.stop()
        curves["CPU, µs"].append((loops, seen["cpu"]))
        curves["time, µs"].append((loops, seen["wall"]))
    return curves


def add_rows(file, have, wanted):
    """Copies of the first todo, as the service would add them: many at a time, and the log is empty behind each, so that no row is read from it."""
    store = sqlite3.connect(file)
    for first in range(have + 1, wanted + 1, ROWS_AT_ONCE):
        with store:
            store.execute("WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO todos (title, user_id) "
                          "SELECT 'Todo ' || i, 1 FROM n", (first, min(wanted, first + ROWS_AT_ONCE - 1)))
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    found = store.execute("SELECT count(*) FROM todos").fetchone()[0]
    store.close()
    if found != wanted:
        raise Void(f"there are {found} rows, and {wanted} were asked for")


def by_rows(options, folder):
    curves, have = {"one row": [], "a page of 20": []}, 1
    server = load.Server(options.program, folder / "server")
    try:
        server.ask(USER)
        server.ask(TODO)
        file = folder / "server" / "todo.sqlite"
        for count in options.rows:
            if count > have:
                add_rows(file, have, count)
            have = count
            one = load.Request("GET", f"/todos/{count}", 200, f'"id":"{count}"')
            page = load.Request("GET", "/todos?limit=20", 200, '"id":"1"')
            curves["one row"].append((count, best(server, one, CONNECTIONS, options)["cpu"]))
            curves["a page of 20"].append((count, best(server, page, CONNECTIONS, options)["cpu"]))
            say(f"{count:,} rows")
    finally:
        server.stop()
    return curves


def called(options, folder, tool):
    """CPU of a call of a tool over standard input and output."""
    peer = load.Peer(options.drive, ["--call", tool, '{"number":7}', '"number":7'], [options.growth, "mcp", "--data", folder / "peer"], folder / "peer")
    try:
        peer.load(IN_FLIGHT, CALLS, "good")
        return min(peer.load(IN_FLIGHT, CALLS, "good")["cpu"] for _ in range(options.rounds))
    finally:
        peer.stop()


def by_tools(options, folder):
    curves = {"a request over HTTP": [], "a call of a tool": []}
    for count in options.tools:
        os.environ["GROWTH_OPERATIONS"] = str(count)
        last = f"echo{count - 1}"
        server = load.Server(options.growth, folder / "server")
        try:
            request = load.Request("GET", f"/{last}?number=7", 200, '"number":7')
            curves["a request over HTTP"].append((count, best(server, request, CONNECTIONS, options)["cpu"]))
        finally:
            server.stop()
        curves["a call of a tool"].append((count, called(options, folder, last)))
    del os.environ["GROWTH_OPERATIONS"]
    return curves


def by_parameters(options, folder):
    curve = []
    for count in options.parameters:
        body = json.dumps({f"p{i}": i for i in range(count)})
        server = load.Server(options.growth, folder / "server", environment={"GROWTH_PARAMETERS": str(count)})
        try:
            request = load.Request("POST", "/sum", 200, f'"number":{sum(range(count))}', body)
            curve.append((count, best(server, request, CONNECTIONS, options)["cpu"]))
        finally:
            server.stop()
    return {"a request": curve}


def by_answers(options, folder):
    curve = []
    for size in options.answers:
        server = load.Server(options.growth, folder / "server", environment={"GROWTH_BYTES": str(size)})
        try:
            request = load.Request("GET", "/bytes", 200, "x")
            curve.append((size, best(server, request, max(1, min(CONNECTIONS, BYTES_AT_ONCE // size)), options, size)["cpu"]))
        finally:
            server.stop()
    return {"a request": curve}


PARTS = {
    "connections": (by_connections, "connections that ask all the time", CPU),
    "loops": (by_loops, "loops of the server", "µs for each request"),
    "rows": (by_rows, "rows of the table", CPU),
    "tools": (by_tools, "operations of the program", CPU),
    "parameters": (by_parameters, "parameters of the operation", CPU),
    "answers": (by_answers, "bytes of the answer", CPU),
}


# ---- Telling -------------------------------------------------------------------------------------------------------------


def steepness(curve, at):
    (x, y), (before_x, before_y) = curve[at], curve[at - 1]
    return f"{math.log(y / before_y) / math.log(x / before_x):.2f}" if at else ""


def table(across, curves):
    heads = [cell for name in curves for cell in (name, "steepness")]
    print(f"| {across} | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
    for at, (number, _) in enumerate(next(iter(curves.values()))):
        cells = [cell for name, curve in curves.items() for cell in (figures.shown(name, curve[at][1]), steepness(curve, at))]
        print(f"| {number:,} | {' | '.join(cells)} |", flush=True)


def numbers(text):
    return sorted(int(number) for number in text.split(","))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--growth", required=True)
    parser.add_argument("--drive", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--connections", type=numbers, default=[1, 10, 100, 1_000, 10_000])
    parser.add_argument("--rows", type=numbers, default=[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--tools", type=numbers, default=[1, 10, 100, 1_000])
    parser.add_argument("--parameters", type=numbers, default=[1, 5, 20, 100, 500])
    parser.add_argument("--answers", type=numbers, default=[1, 100, 10_000, 1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mishap-growth-"))
    try:
        for part in options.only.split(","):
            measured, across, upwards = PARTS[part]
            curves = measured(options, folder)
            print(f"\n{part}\n")
            table(across, curves)
            (options.out / f"growth-{part}.svg").write_text(plot.draw(f"{upwards}, over {across}", across, upwards, curves))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


figures.run(main)
