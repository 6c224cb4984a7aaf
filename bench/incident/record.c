/*
 * What the record of a failure costs: a refused request in a server (a compact record), and a
 * failing command (a whole record in the log). A command records one failure, so its figure has the
 * opening of the log in it: each is a process of its own.
 *
 *     record_bench
 *
 * Each line has the processor time of one record, its limit, and the ratio of the two. The exit
 * code is 1 if one is above its limit.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "mishap/dialect.h"

enum { ROUNDS = 20, COMPACT = 20000, COMMANDS = 301 };
static const double compact_limit_ns = 300, command_limit_ns = 20000;

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static mishap *refusal(void)
{
    mishap *m = mishap_raise(VALIDATION_ERROR, "The arguments are not valid.");
    return mishap_field_required(mishap_field_required(m, "name"), "email");
}

static void record_some(const mishap *failure, int count, int64_t started_ns)
{
    char id[MISHAP_ID_LENGTH + 1];
    mishap_id_make(id);
    for (int i = 0; i < count; i++)
        mishap_incident_record(
            &(mishap_incident_entry){ .program = "bench",
                                      .id = id,
                                      .failure = failure,
                                      .operation = "users.create",
                                      .service = "todo",
                                      .caller = "192.0.2.1",
                                      .response = MISHAP_TEXT("{\"error\":\"validation_error\"}"),
                                      .response_type = "application/json",
                                      .started_ns = started_ns,
                                      .status = 422,
                                      .boundary = MISHAP_INCIDENT_HTTP });
}

/* The best of several rounds: others use this machine, too. The pause lets the log be written. */
static double measure(const mishap *failure, int count, unsigned pause_us)
{
    double best = 1e18;
    for (int i = 0; i < ROUNDS; i++) {
        double begun = cpu_ns();
        record_some(failure, count, mishap_clock_monotonic_ns());
        double took = (cpu_ns() - begun) / count;
        best = took < best ? took : best;
        usleep(pause_us);
    }
    return best;
}

/* What a command does without a record, too: it makes the failure and its answer, with ids and the
 * time. The memory that this needs is there when the record is made. */
static mishap *answer_failure(void)
{
    mishap_buffer answer = { 0 };
    char id[MISHAP_ID_LENGTH + 1];
    mishap *failure = refusal();
    mishap_id_make(id);
    mishap_clock_put_timestamp(&answer, mishap_clock_now_ms());
    mishap_render(mishap_dialect_find("cli-envelope"), failure, &answer);
    mishap_buffer_release(&answer);
    return failure;
}

/* What a record cannot be cheaper than: the file is opened, and as many bytes are appended. */
static void append_alone(void)
{
    static const char line[800];
    int file = open(getenv("BENCH_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (write(file, line, sizeof line) != (ssize_t)sizeof line)
        _exit(1);
}

/* A process that records one failure, or only appends its bytes, and tells how long that took;
 * 0: it could not. */
static double run_command(bool record)
{
    int ends[2];
    double took = 0;
    if (pipe(ends) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        const mishap *failure = answer_failure();
        double begun = cpu_ns();
        if (record)
            record_some(failure, 1, mishap_clock_monotonic_ns());
        else
            append_alone();
        took = cpu_ns() - begun;
        _exit(write(ends[1], &took, sizeof took) == (ssize_t)sizeof took ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &took, sizeof took) != (ssize_t)sizeof took)
        took = 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return took;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The medians of all, measured in turn. */
static void measure_commands(double *records, double *alone)
{
    static double took[COMMANDS], appended[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) {
        took[i] = run_command(true);
        appended[i] = run_command(false);
    }
    qsort(took, COMMANDS, sizeof *took, compare);
    qsort(appended, COMMANDS, sizeof *appended, compare);
    *records = took[COMMANDS / 2];
    *alone = appended[COMMANDS / 2];
}

static bool tell(const char *what, double took_ns, double limit_ns)
{
    printf("%-46s %8.0f ns, limit %6.0f ns, ratio %.2f\n", what, took_ns, limit_ns,
           took_ns / limit_ns);
    return took_ns <= limit_ns;
}

int main(void)
{
    char folder[] = "/tmp/mishap-bench-journal-XXXXXX", log[64];
    if (!mkdtemp(folder))
        return 2;
    snprintf(log, sizeof log, "%s/log", folder);
    setenv("BENCH_LOG", log, 1);
    mishap *failure = refusal();
    double records, alone;
    measure_commands(&records, &alone);
    bool good = tell("failing command: open the log, write a record", records, command_limit_ns);
    printf("%-46s %8.0f ns\n", "… of which open() and write() alone", alone);
    unlink(log);
    mishap *begun = mishap_logs_begin(&(mishap_logs_plan){ .program = "bench" });
    if (begun)
        return 2;
    record_some(failure, 100, 0); /* beyond these, records are compact */
    good = tell("refused request: a compact record in the ring", measure(failure, COMPACT, 600000),
                compact_limit_ns) &&
           good;
    mishap_logs_end();
    mishap_free(failure);
    unlink(log);
    rmdir(folder);
    return good ? 0 : 1;
}
