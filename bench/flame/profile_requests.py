"""Where the time of a request goes, by part: a table for each kind of request, and a flame graph as SVG.

    bench/flame/profile_requests.py PROGRAM TREE BUILD DRIVE OUT [KIND…]

KIND: 422, read, transfer, mcp; all of them if none is named. PROGRAM is asked under load, `perf` takes samples of all of its processes, and each sample
counts for the part in which it was taken. The microseconds are those of the load without perf. OUT is the folder of the pictures. The stores are in memory,
or in the folder that STORE names in the environment: then a transfer waits for its disk.

Then it is asked for one request at a time, and `perf` records the switches of the scheduler: two more tables say how long no process of PROGRAM is on a processor
between two answers, and where each of them waits.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "artifacts")]
import drawing  # noqa: E402
import figures  # noqa: E402
import load  # noqa: E402
import parts  # noqa: E402
import processes  # noqa: E402
import transfers  # noqa: E402
import waits  # noqa: E402
from figures import Void, say  # noqa: E402

SECONDS, SETTLED = 6, 1  # of a load; until all workers have been started
WAITED = 1  # seconds of switches: each request has about eight, with their stacks
RATE = 1999  # samples a second: not a divisor of a timer of ours
SMALLEST = 0.01  # parts below this share are told together
BAD_USER = '{"name":"","age":200,"email":"invalid"}'


# ---- Kinds of requests -----------------------------------------------------------------------------


class OverHttp:
    """A request over HTTP that wrk repeats over 64 connections."""

    def __init__(self, title, request):
        self.title, self.request = title, request

    def start(self, setting, folder):
        shutil.copytree(setting.store, folder / "store")
        self.server = load.Server(setting.program, folder / "server", store=folder / "store")
        self.root = self.server.process.pid

    def run(self, seconds):
        return self.server.load(self.request, 64, seconds)["cpu"]

    def run_alone(self, seconds):
        """One request at a time: how many."""
        return self.server.load(self.request, 1, seconds)["requests"]

    def stop(self):
        self.server.stop()


class Transfer:
    """A durable transfer on SQLite, over 64 connections."""

    title = "a durable transfer on SQLite, 64 connections"

    def start(self, setting, folder):
        self.server = transfers.Server(setting.program, folder / "server")
        self.root = self.server.process.pid

    def run(self, seconds):
        return self.server.load(seconds, seed=1)["cpu"]

    def run_alone(self, seconds):
        return self.server.load(seconds, seed=2, connections=1)["requests"]

    def stop(self):
        self.server.stop()


class Tool:
    """A call of a tool over standard input and output, 64 in flight."""

    title = "tools/call of get_todo over standard input and output, 64 in flight"
    CALLS = 10_000  # between two looks at the clock

    def start(self, setting, folder):
        command = [setting.program, "mcp", "--data", str(folder / "peer")]
        self.peer = load.Peer(str(setting.drive), ["--call", "get_todo", '{"id":"1"}', "Buy milk"], command, folder / "peer", store=setting.store)
        self.root = processes.children(self.peer.process.pid)[0]

    def run(self, seconds):
        spent = self.rounds("cpu", 64, seconds)
        return sum(spent) / len(spent)

    def run_alone(self, seconds):
        return len(self.rounds("wall", 1, seconds)) * self.CALLS

    def rounds(self, figure, window, seconds):
        spent, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            spent.append(self.peer.load(window, self.CALLS, "good")[figure])
        return spent

    def stop(self):
        self.peer.stop()


KINDS = {
    "422": OverHttp("POST /users with three wrong fields (422), 64 connections", load.Request("POST", "/users", 422, "field_required", BAD_USER)),
    "read": OverHttp("a todo read through a worker, 64 connections", load.Request("GET", "/todos/1", 200, '"id":"1"')),
    "transfer": Transfer(),
    "mcp": Tool(),
}


# ---- Samples ---------------------------------------------------------------------------------------


def recorded(kind, file):
    """Samples of all processes below its root while it is asked."""
    failure = []

    def ask():
        try:
            kind.run(SECONDS + 2 * SETTLED)
        except Void as why:
            failure.append(why)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(SETTLED)
    pids = ",".join(map(str, processes.family(kind.root)))
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(RATE), "-g", "-o", file, "-p", pids, "--", "sleep", str(SECONDS)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    thread.join()
    if failure:
        raise failure[0]
    if done.returncode:
        raise Void("perf takes no samples: " + done.stderr.strip()[:300])
    return subprocess.run(["perf", "script", "-i", file, "-F", "comm,ip,sym,dso"], capture_output=True, text=True, errors="replace", check=True).stdout


def threads_of(root):
    return [int(thread) for pid in processes.family(root) for thread in os.listdir(f"/proc/{pid}/task")]


def judged(text, program):
    """Samples by part, and by stack."""
    by_part, stacks = collections.Counter(), collections.Counter()
    for name, frames in parts.samples(text):
        by_part[parts.part_of_stack(frames, program)] += 1
        stack = [(name, "ours")] + [(frame.name, parts.kind_of(frame, program)) for frame in reversed(frames)]
        stacks[tuple(stack)] += 1
    if sum(by_part.values()) < 100:
        raise Void("perf has taken %d samples: too few" % sum(by_part.values()))
    return by_part, stacks


def table(title, cpu, by_part):
    total = sum(by_part.values())
    print(f"\n{title}: {cpu:.1f} µs of CPU of all processes, {total:,} samples\n\n| part | share | µs |\n|---|---|---|")
    rest = 0
    for part, count in by_part.most_common():
        if count < SMALLEST * total:
            rest += count
        else:
            print(f"| {part} | {100 * count / total:.0f} % | {cpu * count / total:.2f} |")
    if rest:
        print(f"| all others | {100 * rest / total:.0f} % | {cpu * rest / total:.2f} |")


def waits_of(kind, threads, file):
    """None if perf may take samples but records no switches: then there is no table of waits."""
    try:
        return waits.record(threads, file, lambda: kind.run_alone(WAITED))
    except Void as why:
        say(f"without waits: {why}")
        return None


def table_of_waits(title, threads, recording, program):
    """For a request: how long none of the threads is on a processor, and the waits of each process."""
    found, requests, begin, end = recording
    figures.figure("requests one at a time", requests)
    each = 1e6 / requests  # from seconds of the recording to microseconds of a request
    spent = waits.none_runs(found, threads, begin, end)
    away = {reason: spent[reason] * each for reason in (waits.EVENT, waits.DISK, waits.PROCESSOR)}
    print(f"\n{title}: {(end - begin) * each:.1f} µs from one answer to the next. In {sum(away.values()):.1f} µs of them no process is on a "
          f"processor: {', '.join(f'{away[reason]:.1f} µs wait for {reason}' for reason in away)}.\n")
    print("| process | waits in | for | times | µs |\n|---|---|---|---|---|")
    counted = waits.by_place(waits.waits(found, threads), program)
    for (name, place, reason), (times, seconds) in sorted(counted.items(), key=lambda item: -item[1][1]):
        if seconds >= SMALLEST * (end - begin) and times >= SMALLEST * requests:
            print(f"| {name} | {place} | {reason} | {times / requests:.2f} | {seconds * each:.2f} |")


def one_at_a_time(title):
    return re.sub(r"64 (connections|in flight)", "one at a time", title)


def profile(name, setting, program):
    kind = KINDS[name]
    with tempfile.TemporaryDirectory(prefix="mishap-flame-", dir=os.environ.get("STORE") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)) as folder:
        kind.start(setting, pathlib.Path(folder))
        try:
            kind.run(SETTLED)
            cpu = kind.run(SECONDS)
            text = recorded(kind, folder + "/samples")
            threads = threads_of(kind.root)
            recording = waits_of(kind, threads, folder + "/switches")
        finally:
            kind.stop()
    by_part, stacks = judged(text, program)
    table(kind.title, cpu, by_part)
    if recording:
        table_of_waits(one_at_a_time(kind.title), set(threads), recording, program)
    (setting.out / f"flame-{name}.svg").write_text(drawing.draw(stacks, kind.title), encoding="utf-8")


class Setting:
    def __init__(self, program, drive, out, store):
        self.program, self.drive, self.out, self.store = program, drive, out, store


def make_store(program, folder):
    folder.mkdir()
    for words in (["users", "create", "--name", "Ada", "--email", "ada@example.com"], ["todos", "create", "--title", "Buy milk", "--user-id", "1"]):
        done = subprocess.run([program, *words], env={**os.environ, "MISHAP_DATA": str(folder)}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Void(f"{program} {' '.join(words)} fails: {done.stdout}{done.stderr}")


def main():
    program, tree, build, drive, out, *names = sys.argv[1:]
    if not shutil.which("perf"):
        raise Void("perf is not installed; as root: apt-get install linux-perf")
    wrong = [name for name in names if name not in KINDS]
    if wrong:
        raise Void(f"there is no kind {wrong[0]}: {', '.join(KINDS)}")
    known = parts.Program(program, tree, build)
    with tempfile.TemporaryDirectory(prefix="mishap-flame-") as folder:
        setting = Setting(os.path.abspath(program), os.path.abspath(drive), pathlib.Path(out), pathlib.Path(folder) / "store")
        make_store(setting.program, setting.store)
        for name in names or KINDS:
            say(f"{name}: {KINDS[name].title}")
            profile(name, setting, known)


if __name__ == "__main__":
    figures.run(main)
