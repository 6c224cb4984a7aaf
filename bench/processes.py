"""Process trees: which processes a server consists of, the CPU time that all of them used, the memory of one."""
import os
import pathlib
import time

from void import Void

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
KEEPER, HANDLER = "mishap-keeper", "mishap-handler"  # as /proc/PID/comm has them
TRIES = 100


def stat(pid):
    """The fields of /proc/PID/stat after the name: state, parent, … None if the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def everything():
    """{pid: its fields} of all processes."""
    found = {int(folder.name): stat(folder.name) for folder in pathlib.Path("/proc").glob("[0-9]*")}
    return {pid: fields for pid, fields in found.items() if fields}


def below(roots, processes):
    """The roots and all their descendants."""
    children = {}
    for pid, fields in processes.items():
        children.setdefault(int(fields[1]), []).append(pid)
    found = list(roots)
    for parent in found:
        found += children.get(parent, [])
    return list(dict.fromkeys(found))


def family(*roots):
    """Processes and all their descendants."""
    return below(roots, everything())


def children(pid):
    return [child for child, fields in everything().items() if int(fields[1]) == pid]


# ---- CPU time ------------------------------------------------------------------------------------------------------


def reaped(roots):
    """{pid: CPU time of its children that ended and were waited for}, of all processes below the roots."""
    processes = everything()
    gone = [root for root in roots if root not in processes or processes[root][0] in "ZX"]
    if gone or not roots:
        raise Void(f"a process that is measured has ended ({', '.join(map(str, gone)) or 'there is none'})")
    return {pid: (int(processes[pid][13]) + int(processes[pid][14])) * TICK_NS for pid in below(roots, processes)}


def own_ns(pids):
    """CPU time of these processes: of all their threads, also those that ended. None if one of the processes is gone."""
    try:
        return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids)  # what clock_getcpuclockid(3) makes of a process id
    except OSError:
        return None


def cpu_ns(*roots):
    """CPU time that all processes below the roots have used so far, with that of processes that ended.

    A process that ended and was waited for is in its parent's stat, in clock ticks: so a worker that is replaced between two readings is
    not lost. One that ends during a reading would be counted twice or not at all: then the reading is repeated.
    """
    before = reaped(roots)
    for _ in range(TRIES):
        own, after = own_ns(before), reaped(roots)
        if own is not None and before == after:
            return own + sum(after.values())
        before = after
    raise Void("processes start and end so fast that their CPU time cannot be read")


def machine_seconds():
    """CPU time of all programs, and what the host took away."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Others:
    """How much of a core all other programs take, from its beginning on. BENCH_OTHERS says it instead: for tests of benchmarks."""

    def __init__(self):
        self.given = os.environ.get("BENCH_OTHERS")
        self.began = None if self.given else (time.monotonic(), self.used())

    @staticmethod
    def used():
        """CPU seconds of all programs but this one, its children and theirs."""
        return machine_seconds() - cpu_ns(os.getpid()) / 1e9

    def share(self):
        if self.given:
            return float(self.given)
        return max(0, self.used() - self.began[1]) / max(0.001, time.monotonic() - self.began[0])


# ---- One process ---------------------------------------------------------------------------------------------------


def name(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def alive(pid):
    fields = stat(pid)
    return bool(fields) and fields[0] not in "ZX"


def handlers(root):
    """The worker processes of a server that run handlers: children of its keeper. None if it has no keeper."""
    processes = family(root)
    keepers = {pid for pid in processes if name(pid) == KEEPER}
    if not keepers:
        return None
    parents = {pid: stat(pid) for pid in processes}
    return [pid for pid, fields in parents.items()
            if fields and int(fields[1]) in keepers and name(pid) == HANDLER and alive(pid)]


def memory_kb(pid, kind):
    """Of smaps_rollup: "Private_Dirty:" is memory that the process shares with no other one, "Private_" with what it has not changed."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError as error:
        raise Void(f"the memory of {name(pid) or 'a process'} cannot be read: {error.strerror}") from None
    return sum(int(line.split()[1]) for line in lines if line.startswith(kind))
