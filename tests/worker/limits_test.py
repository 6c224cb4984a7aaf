"""The limits of `mishap serve --handler-…`, as the system has them of the processes that run handlers.

    MISHAP_PROGRAM=… python3 tests/worker/limits_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import os
import re
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "http"))
import server  # noqa: E402
from blackbox import SANITIZED, equal, expect, main, test  # noqa: E402
from server import Server  # noqa: E402

ROWS = {"Max data size": resource.RLIMIT_DATA, "Max cpu time": resource.RLIMIT_CPU, "Max open files": resource.RLIMIT_NOFILE,
        "Max processes": resource.RLIMIT_NPROC, "Max file size": resource.RLIMIT_FSIZE}


def limits_of_handlers(found):
    """Of the one that has just answered: its soft limits by name, -1 where there is none."""
    equal(found.ask("GET", "/todos").status, 200, "the status")
    pids = found.handlers()
    expect(pids, "no process runs handlers")
    with open("/proc/%d/limits" % pids[0], encoding="ascii") as file:
        table = file.read()
    soft = {name: re.search(r"^%s +(\S+)" % name, table, re.M)[1] for name in ROWS}
    return {name: -1 if value == "unlimited" else int(value) for name, value in soft.items()}


@test
def serve_passes_its_limits_on_to_the_processes_that_run_handlers():
    with Server("--workers", "1", "--handler-memory-mb", "640", "--handler-files", "77", "--handler-file-mb", "3",
                "--handler-cpu-seconds", "99", "--handler-processes", "5000") as found:
        limits = limits_of_handlers(found)
    if not SANITIZED:  # the memory of a sanitizer is not limited
        equal(limits["Max data size"], 640 << 20, "bytes of memory")
    equal(limits["Max open files"], 77, "files")
    equal(limits["Max file size"], 3 << 20, "bytes of a file")
    equal(limits["Max cpu time"], 99, "seconds")
    equal(limits["Max processes"], 5000, "processes")


@test
def serve_limits_nothing_by_default():
    with Server("--workers", "1") as found:
        limits = limits_of_handlers(found)
    for name, number in ROWS.items():
        expect(limits[name] in resource.getrlimit(number), name, limits[name], resource.getrlimit(number))


@test
def every_server_ended_in_order():
    server.all_ended_in_order()


main()
