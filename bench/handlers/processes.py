"""Process trees: which processes a server consists of, the CPU time that all of them used, the memory of one."""
import os
import pathlib
import time

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
KEEPER, HANDLER = "mishap-keeper", "mishap-handler"  # as /proc/PID/comm has them


def stat(pid):
    """The fields of /proc/PID/stat after the name: state, parent, … None if the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def family(pid):
    """A process and all its descendants."""
    children = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        fields = stat(folder.name)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


def cpu_ns(pids):
    """CPU time of these processes so far, with that of threads and children that ended.

    A process has a clock that counts all its threads, also those that ended, in nanoseconds. A child that ended and was
    waited for is in its parent's stat, in clock ticks. So a worker that is replaced between two readings is not lost.
    """
    total = 0
    for pid in pids:
        fields = stat(pid)
        if not fields:
            continue
        try:
            total += time.clock_gettime_ns(~pid << 3 | 2)  # what clock_getcpuclockid(3) makes of a process id
        except OSError:
            continue
        total += (int(fields[13]) + int(fields[14])) * TICK_NS
    return total


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


def private_dirty_kb(pid):
    """Memory that the process shares with no other one: what it costs to have it."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1])
    return 0
