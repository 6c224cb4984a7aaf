"""The waits that bench/flame tells of: read from what `perf script` prints, by reason and by place.

    python3 tests/bench/flame_test.py [PART-OF-A-NAME]

Speaks TAP.
"""
import contextlib
import io
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parent.parent / "bench"
sys.path[:0] = [str(HERE.parent / "cli"), str(BENCH), str(BENCH / "flame")]
import figures  # noqa: E402
import profile_requests  # noqa: E402
import waits  # noqa: E402
from blackbox import equal, expect, main, test  # noqa: E402

LOOP, WORKER, OTHER = 10, 20, 99
IN_EPOLL = """\tffffffff821f8298 __schedule ([kernel.kallsyms])
\tffffffff8220003b do_epoll_wait ([kernel.kallsyms])
\t           ee137 epoll_wait (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t           1a7e7 mishap_loop_run (/tmp/mishap)
"""
IN_FLUSH = """\tffffffff821f8298 __schedule ([kernel.kallsyms])
\tffffffff8220003b do_fsync ([kernel.kallsyms])
\t           ee137 __GI___libc_fdatasync (/usr/lib/x86_64-linux-gnu/libc.so.6)
"""


def switch(at, name, left, state, came, stack=""):
    return f"{name} {left} {at:.9f}:     sched:sched_switch: prev_comm={name} prev_pid={left} prev_prio=120 prev_state={state} ==> " \
           f"next_comm=some thing next_pid={came} next_prio=120\n{stack}\n"


def wakeup(at, woken):
    return f"            wrk {OTHER} {at:.9f}: sched:sched_wakeup: comm=some thing pid={woken} prio=120 target_cpu=000 ffffffff813a82d5 ttwu_do_activate ([kernel.kallsyms])\n"


# The loop waits for a message, and 3 ms of that for a processor; the worker flushes for 20 ms; the loop is interrupted for 5 ms.
RECORDED = (switch(1.000, "mishap-loop", LOOP, "S", OTHER, IN_EPOLL) + wakeup(1.010, LOOP) + switch(1.013, "wrk", OTHER, "S", LOOP) +
            switch(1.020, "mishap-loop", LOOP, "R+", WORKER, IN_EPOLL) + switch(1.025, "mishap handler", WORKER, "D", LOOP, IN_FLUSH) +
            switch(1.030, "mishap-loop", LOOP, "S", 0, IN_EPOLL) + wakeup(1.045, WORKER) + switch(1.045, "swapper/0", 0, "R", WORKER))


class Program:
    path = "/tmp/mishap"

    @staticmethod
    def part(_):
        return "server"


def found():
    return list(waits.events(RECORDED.splitlines(keepends=True)))


def rounded(counted):
    return {key: (times, round(seconds * 1000, 6)) for key, (times, seconds) in counted.items()}


@test
def a_wait_has_its_reason_its_place_and_its_time():
    equal(len(found()), 8, "events")
    counted = waits.by_place(waits.waits(found(), {LOOP, WORKER}), Program)
    equal(rounded(counted), {("mishap-loop", "epoll_wait", waits.EVENT): (1, 10.0), ("mishap-loop", "epoll_wait", waits.PROCESSOR): (2, 8.0),
                             ("mishap handler", "fdatasync", waits.DISK): (1, 20.0)}, "waits")


@test
def other_programs_are_not_counted():
    equal(list(waits.waits(found(), set())), [], "waits of no thread")


@test
def the_time_without_a_process_on_a_processor_is_divided_by_what_they_could_do():
    spent = waits.none_runs(found(), {LOOP, WORKER}, 0.990, 1.050)
    equal({reason: round(seconds * 1000, 6) for reason, seconds in spent.items()},
          {waits.EVENT: 20.0, waits.PROCESSOR: 3.0, waits.RUNNING: 22.0, waits.DISK: 15.0}, "60 ms")


@test
def a_process_that_could_run_counts_before_one_that_waits_for_the_disk():
    both = [waits.Switch(1.0, "mishap-loop", LOOP, "D", OTHER, []), waits.Switch(1.0, "mishap handler", WORKER, "R", OTHER, [])]
    equal(waits.none_runs(both, {LOOP, WORKER}, 1.0, 1.5), {waits.EVENT: 0.0, waits.PROCESSOR: 0.5, waits.DISK: 0.0})


@test
def the_tables_are_those_of_one_request():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        profile_requests.table_of_waits("a read, one at a time", {LOOP, WORKER}, (found(), 10, 0.990, 1.050), Program)
    lines = out.getvalue().splitlines()
    equal(lines[1], "a read, one at a time: 6000.0 µs from one answer to the next. In 3800.0 µs of them no process is on a processor: "
          "2000.0 µs wait for an event, 1500.0 µs wait for the disk, 300.0 µs wait for a processor.")
    equal(lines[5:], ["| mishap handler | fdatasync | the disk | 0.10 | 2000.00 |", "| mishap-loop | epoll_wait | an event | 0.10 | 1000.00 |",
                      "| mishap-loop | epoll_wait | a processor | 0.20 | 800.00 |"])


@test
def lost_events_are_no_measurement():
    lines = RECORDED + "mishap-loop 10 1.050000000: PERF_RECORD_LOST lost 17\n"
    try:
        list(waits.events(lines.splitlines(keepends=True)))
        expect(False, "lost events were not noticed")
    except figures.Void as why:
        expect("lost" in str(why), why)


@test
def the_kernel_gets_a_filter_unless_it_is_too_long():
    equal(waits.filters([1, 2]), ("prev_pid == 1 || next_pid == 1 || prev_pid == 2 || next_pid == 2", "pid == 1 || pid == 2"))
    equal(waits.filters(range(100000, 100200)), (None, None))


main()
