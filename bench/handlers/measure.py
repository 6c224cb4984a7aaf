"""Compares what calls cost in two builds of `mishap`; scripts/bench-handlers builds both and calls this.

Both programs are asked the same, in turn, round after round, with servers and stores that are new in each round. What counts
is the ratio within a round: machines are noisy from minute to minute, and far less so within seconds. CPU is that of all
processes of a server. The load comes from another core, unless --spread lets everything run everywhere.
"""
import argparse
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figures  # noqa: E402
import load  # noqa: E402
import workers  # noqa: E402
from figures import Void, say  # noqa: E402
from load import Request  # noqa: E402
from processes import machine_seconds  # noqa: E402

SAME = 1.05  # "no change", as far as it can be told from noise
TODOS = 20   # in the store: one page of a list
COMMANDS = 50  # of each kind in a round

QUIET = 0.1  # of a core may go to other programs; beyond that a small difference means nothing

BAD_USER = '{"name":"","age":200,"email":"invalid"}'


class Case:
    """Something that is asked of both programs, its figures by round, and what is judged: {figure: at most}."""

    def __init__(self, name, judged, told=()):
        self.name, self.judged, self.told = name, judged, told
        self.rounds = []  # (base, tree)

    def figures(self):
        return [*self.judged, *self.told]


class Over(Case):
    """HTTP: one request over some connections."""

    def __init__(self, name, request, connections, judged, told=()):
        super().__init__(f"{name}, {connections} connection{'s' if connections > 1 else ''}", judged, told)
        self.request, self.connections = request, connections


class Tool(Case):
    """MCP: calls of one tool, so many in flight; of kind `bad` they lack their arguments."""

    def __init__(self, window, calls, judged, told=(), kind="good", name=None):
        super().__init__(name or (f"{window} in flight" if window > 1 else "one at a time"), judged, told)
        self.window, self.calls, self.kind = window, calls, kind


class Command(Case):
    def __init__(self, name, words, status):
        super().__init__(name, {"cpu": SAME, "wall": SAME})
        self.words, self.status = words, status


READ = Request("GET", "/todos/1", 200, '"id":"1"')
# The write is last: it makes the store grow.
HTTP = [
    Over("GET /todos/1", READ, 64, {"cpu": 1.25}, ["p99"]),
    Over("GET /todos/1", READ, 1, {}, ["cpu", "wall"]),
    Over("GET /health", Request("GET", "/health", 200, "ok"), 64, {"cpu": SAME}),
    Over("GET /premium/report (quick)", Request("GET", "/premium/report", 402, "payment_required"), 64, {"cpu": SAME}),
    Over("POST /users, 422", Request("POST", "/users", 422, "field_required", BAD_USER), 64, {"cpu": SAME}),
    Over("POST /todos, a write", Request("POST", "/todos", 201, "Buy milk", '{"title":"Buy milk","user_id":"1"}'), 16,
         {}, ["cpu", "wall", "p99"]),
]
# (tool, arguments, part of the answer): cases
MCP = {
    ("list_todos", "{}", "Todo 20"): [
        Tool(1, 5000, {"cpu": 1.1, "wall": 1.1}),
        Tool(32, 10000, {}, ["cpu", "wall"]),
    ],
    ("get_todo", '{"id":"1"}', "Todo 1"): [
        Tool(1, 10000, {}, ["cpu", "wall"]),
        Tool(32, 200000, {"cpu": SAME}, kind="bad", name="without its id, 32 in flight"),
    ],
    ("get_premium_report", "{}", ""): [  # it always fails
        Tool(1, 20000, {"cpu": SAME}, kind="bad", name="(quick) one at a time"),
    ],
}
COMMAND = [
    Command("mishap todos list --no-such-flag", ["todos", "list", "--no-such-flag"], 2),
    Command("mishap todos list", ["todos", "list"], 0),
]
PARTS = ["http", "mcp", "command", "worker"]


# ---- One round -----------------------------------------------------------------------------------------------------


def in_turn(turn, sides):
    """There and back again, so that none always follows the other."""
    return sides if turn % 2 == 0 else sides[::-1]


def stop_all(running):
    for one in running:
        if one:
            one.stop()


def round_http(options, turn):
    servers = [None, None]
    try:
        for side, program in enumerate(options.programs):
            servers[side] = load.Server(program, options.folder / f"http-{side}", options.server_cores, options.store)
        for server in servers:  # threads or workers are started, statements are prepared
            server.load(READ, 64, 1, options.load_cores)
        for case in HTTP:
            seen = [None, None]
            for side in in_turn(turn, [0, 1]):
                seen[side] = servers[side].load(case.request, case.connections, options.seconds, options.load_cores)
            case.rounds.append(seen)
    finally:
        stop_all(servers)


def round_mcp(options, turn):
    for call, cases in MCP.items():
        peers = [None, None]
        try:
            for side, program in enumerate(options.programs):
                folder = options.folder / f"mcp-{side}"
                peers[side] = load.Peer(options.drive, ["--call", *call], [program, "mcp", "--data", folder], folder,
                                        options.load_cores, options.server_cores, options.store)
            for peer in peers:
                peer.load(32, 500, cases[0].kind)
            for case in cases:
                seen = [None, None]
                for side in in_turn(turn, [0, 1]):
                    seen[side] = peers[side].load(case.window, case.calls, case.kind)
                case.rounds.append(seen)
        finally:
            stop_all(peers)


def round_command(options, turn):
    environment = {**os.environ, "MISHAP_DATA": str(options.store)}
    for case in COMMAND:
        runs = [[], []]
        for _ in range(COMMANDS):
            for side in in_turn(turn, [0, 1]):
                runs[side].append(load.run([str(options.programs[side]), *case.words], environment, case.status))
        case.rounds.append([{figure: statistics.median(run[figure] for run in of) for figure in ("cpu", "wall")}
                            for of in runs])


# ---- The report ----------------------------------------------------------------------------------------------------

UNITS = {"cpu": "µs CPU", "wall": "µs", "p99": "p99 µs"}
ROW = "{:<46} {:>7} {:>9} {:>9}   {:<22} {:<15} {}"


def report(title, cases):
    print(f"\n{ROW.format(title, '', 'before', 'now', 'now / before', 'target', '').rstrip()}")
    for case in cases:
        name = case.name
        for figure in case.figures() if case.rounds else []:
            print(line(name, case, figure))
            name = ""


def line(name, case, figure):
    sides = [[pair[side][figure] for pair in case.rounds] for side in (0, 1)]
    before, now = (figures.median(f"{figure} of {case.name}", side) for side in sides)
    ratios = figures.ratios(f"{figure} of {case.name}", sides[1], sides[0])
    text = f"{statistics.median(ratios):.2f}× ({ratios[0]:.2f}–{ratios[-1]:.2f})"
    target = case.judged.get(figure)
    words = "" if not target else "no change" if target == SAME else f"at most {target:.2f}×"
    return ROW.format(name, UNITS[figure], f"{before:,.1f}", f"{now:,.1f}", text, words,
                      verdict(ratios, target) if target else "").rstrip()


def verdict(ratios, target):
    """By the middle half of the rounds: one slow second decides nothing, nor do two rounds."""
    if len(ratios) < 3:
        return "unsure"
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return "met" if high <= target else "MISSED" if low > target else "unsure"


# ---- In this order -------------------------------------------------------------------------------------------------


def make_store(program, folder):
    """Both programs begin with a copy of it."""
    folder.mkdir()
    commands = [["users", "create", "--name", "Ada", "--email", "ada@example.com"]]
    commands += [["todos", "create", "--title", f"Todo {n}", "--user-id", "1"] for n in range(1, TODOS + 1)]
    for words in commands:
        done = subprocess.run([program, *words], env={**os.environ, "MISHAP_DATA": str(folder)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise Void(f"{program} {' '.join(words)} fails: {done.stdout}{done.stderr}")


def own_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(options):
    parts = {"http": round_http, "mcp": round_mcp, "command": round_command}
    for turn in range(options.rounds):
        for part, do in parts.items():
            if part in options.only:
                do(options, turn)
        say(f"round {turn + 1} of {options.rounds}")
    if "http" in options.only:
        report("HTTP, each request", HTTP)
    if "mcp" in options.only:
        report("MCP over standard input and output, each call",
               [named(call[0], case) for call, cases in MCP.items() for case in cases])
    if "command" in options.only:
        report("Commands, from start to exit", COMMAND)
    if "worker" in options.only:
        print()
        workers.measure(options.programs[1], options.store, options.folder / "worker", options.server_cores)


def named(tool, case):
    case.name = f"{tool} {case.name}"
    return case


def arguments():
    parser = argparse.ArgumentParser(description="Compares what calls cost in two builds of mishap.")
    parser.add_argument("--base", type=pathlib.Path, required=True, help="the program before")
    parser.add_argument("--program", type=pathlib.Path, default="build/mishap", help="the program now")
    parser.add_argument("--drive", type=pathlib.Path, default="build/bench/bench/mcp_drive")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=1, help="that each request is repeated in a round")
    parser.add_argument("--only", type=lambda text: text.split(","), default=PARTS,
                        help="with commas between: " + ", ".join(PARTS))
    parser.add_argument("--spread", action="store_true", help="servers run on all cores, and so does what loads them")
    options = parser.parse_args()
    if set(options.only) - set(PARTS):
        parser.error(f"--only takes {', '.join(PARTS)}")
    if options.rounds < 1 or options.seconds < 1:
        parser.error("there is no round of less than one second")
    options.programs = [path.absolute() for path in (options.base, options.program)]
    options.drive = options.drive.absolute()
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    pin = not options.spread and len(cores) > 1 and shutil.which("taskset")
    options.server_cores, options.load_cores = (cores[0], cores[-1]) if pin else (None, None)
    return options


def main():
    options = arguments()
    if "http" in options.only and not shutil.which("wrk"):
        say("without wrk, requests over HTTP are not measured")
        options.only = [part for part in options.only if part != "http"]
        if not options.only:
            raise Void("nothing is left to measure")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # no server is left behind
    # In memory where that is possible: a disk would be measured, too.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    began, used = os.times().elapsed, machine_seconds() - own_seconds()
    with tempfile.TemporaryDirectory(prefix="mishap-bench-", dir=memory) as folder:
        options.folder, options.store = pathlib.Path(folder), pathlib.Path(folder) / "store"
        make_store(options.programs[0], options.store)
        measure(options)
    others = (machine_seconds() - own_seconds() - used) / (os.times().elapsed - began)
    print(f"\nRounds: {options.rounds}; servers on {f'core {options.server_cores}' if options.server_cores else 'all cores'}; "
          f"stores in {memory or 'a temporary folder'}. Other programs took {max(0, others):.0%} of a core meanwhile"
          f"{': too much to judge small differences by these figures' if others > QUIET else ''}.")


figures.run(main)
