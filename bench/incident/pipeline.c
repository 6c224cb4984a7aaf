/*
 * Failures on their way from the processes that serve to the index: the ring, the process that
 * writes the log, and the process of the index, as a server has them.
 *
 *     pipeline_bench [rate=50000] [seconds=5]
 *
 * Two processes fail at that rate together, of 64 groups and 16 callers. Then the index lists what
 * it has, and each id that was given out must be there. Each figure is printed with its bar
 * (docs/incidents.md). The folder is made in $TMPDIR, or /var/tmp, and removed.
 */
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "bench/place.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "incident/readers.h"
#include "index/index.h"
#include "index/inside.h"

enum { PRODUCERS = 2, KINDS = 8, CALLERS = 16, PIECE_MS = 10, MOST_WAIT_MS = 600000 };

typedef char told_id[MISHAP_ID_LENGTH + 1];

static told_id *ids; /* shared: those of each producer side by side */

/* -- failures ---------------------------------------------------------------------------------- */

/* Each kind has other wrong fields, so that it has a group of its own. */
static mishap *make_refusal(size_t kind)
{
    static const char *const names[] = { "name", "email", "age" };
    mishap *m = mishap_raise(VALIDATION_ERROR, "The arguments are not valid.");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (kind >> i & 1 || (!kind && i == 0))
            m = mishap_field_required(m, names[i]);
    return kind ? m : mishap_field_required(m, "city");
}

static void record_one(const mishap *failure, const char *operation, const char *caller,
                       const char *id)
{
    mishap_incident_record(
        &(mishap_incident_entry){ .program = "bench",
                                  .id = id,
                                  .failure = failure,
                                  .operation = operation,
                                  .service = "todo",
                                  .caller = caller,
                                  .response = MISHAP_TEXT("{\"error\":\"validation_error\"}"),
                                  .response_type = "application/json",
                                  .started_ns = mishap_clock_monotonic_ns() - 200000,
                                  .status = 422,
                                  .boundary = MISHAP_INCIDENT_HTTP });
}

/* Fail at a constant rate; what is late is made up for. The CPU time is that of the records alone,
 * without that of the ids. */
static double produce(told_id *mine, size_t count, double per_second)
{
    mishap *refusals[KINDS];
    char operations[KINDS][16], callers[CALLERS][16];
    double begun = now_ns(), cpu = 0;
    for (size_t i = 0; i < KINDS; i++) {
        refusals[i] = make_refusal(i);
        snprintf(operations[i], sizeof operations[i], "todos.op%zu", i);
    }
    for (size_t i = 0; i < CALLERS; i++)
        snprintf(callers[i], sizeof callers[i], "192.0.2.%zu", i);
    for (size_t done = 0; done < count;) {
        size_t due = (size_t)((now_ns() - begun) * per_second / 1e9);
        struct timespec before, after;
        due = due < count ? due : count;
        for (size_t i = done; i < due; i++)
            mishap_id_make(mine[i]);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
        for (; done < due; done++)
            record_one(refusals[done % KINDS], operations[done / KINDS % KINDS],
                       callers[done / (KINDS * KINDS) % CALLERS], mine[done]);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
        cpu += (double)(after.tv_sec - before.tv_sec) * 1e9 +
               (double)(after.tv_nsec - before.tv_nsec);
        poll(NULL, 0, PIECE_MS);
    }
    for (size_t i = 0; i < KINDS; i++)
        mishap_free(refusals[i]);
    return cpu / (double)count;
}

/* -- processes --------------------------------------------------------------------------------- */

/* What the children of this name that live now have used. */
struct use {
    double cpu_us, peak_mb;
};

static void add_use(struct use *use, int pid, const char *name)
{
    char path[64], line[1024], comm[32];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    unsigned long user = 0, system = 0;
    bool read = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    char *rest = read ? strrchr(line, ')') : NULL;
    if (!rest || sscanf(line, "%*d (%31[^)]", comm) != 1 || strcmp(comm, name) != 0 ||
        sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return;
    use->cpu_us += (double)(user + system) * 1e6 / (double)sysconf(_SC_CLK_TCK);
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "re");
    unsigned long kilobytes;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lu", &kilobytes) == 1 && (double)kilobytes / 1024 > use->peak_mb)
            use->peak_mb = (double)kilobytes / 1024;
    if (file)
        fclose(file);
}

static struct use use_of(const char *name)
{
    struct use use = { 0, 0 };
    FILE *children = fopen("/proc/thread-self/children", "re");
    int pid;
    while (children && fscanf(children, "%d", &pid) == 1)
        add_use(&use, pid, name);
    if (children)
        fclose(children);
    return use;
}

/* -- the run ----------------------------------------------------------------------------------- */

/* Start the producers, and wait for them. The CPU time of a record, the worst of them. */
static double run_producers(size_t each, double per_second)
{
    double worst = 0, took;
    int ends[2];
    if (pipe(ends) != 0)
        end_void("producers", "there is no pipe");
    for (size_t i = 0; i < PRODUCERS; i++) {
        pid_t child = fork();
        if (child < 0)
            end_void("producers", "they cannot be started");
        if (child == 0) {
            mishap_logs_leave();
            took = produce(ids + i * each, each, per_second / PRODUCERS);
            _exit(write(ends[1], &took, sizeof took) == (ssize_t)sizeof took ? 0 : 1);
        }
    }
    close(ends[1]);
    for (size_t i = 0; i < PRODUCERS; i++) {
        if (read(ends[0], &took, sizeof took) != (ssize_t)sizeof took)
            end_void("producers", "one has ended before its time");
        worst = took > worst ? took : worst;
    }
    close(ends[0]);
    return worst;
}

/* The index has read all of the log, in so many milliseconds. */
static double wait_for_index(const mishap_incident_counts *counts, uint64_t total)
{
    double begun = now_ns();
    for (int waited = 0; waited < MOST_WAIT_MS; waited += PIECE_MS) {
        uint64_t written = atomic_load(&counts->written_whole) +
                           atomic_load(&counts->written_compact) + atomic_load(&counts->lost);
        if (written >= total &&
            atomic_load(&counts->index.records) + atomic_load(&counts->lost) >= total)
            return (now_ns() - begun) / 1e6;
        mishap_logs_look();
        mishap_index_process_look();
        poll(NULL, 0, PIECE_MS);
    }
    end_void("index", "it has not read all of the log in ten minutes");
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, MISHAP_ID_LENGTH);
}

/* The ids of a page of the list. `cursor` becomes that of the next page, empty at the end. */
static size_t take_page(const char *json, told_id *to, size_t room, char cursor[64])
{
    static const char start[] = "{\"id\":\"", next[] = "\"next\":\"";
    size_t count = 0;
    for (const char *at = json; count < room && (at = strstr(at, start)); count++) {
        at += sizeof start - 1;
        memcpy(to[count], at, MISHAP_ID_LENGTH);
    }
    const char *more = strstr(json, next);
    cursor[0] = '\0';
    if (more)
        sscanf(more + sizeof next - 1, "%63[^\"]", cursor);
    return count;
}

/* All ids that the index lists, sorted. */
static size_t list_ids(told_id *found, size_t room)
{
    mishap_index *index;
    mishap_buffer json = { 0 };
    char cursor[64] = "";
    size_t count = 0;
    end_on("open",
           mishap_index_open(&(mishap_index_plan){ .data = folder, .journal = journal, .days = -1 },
                             &index));
    do {
        mishap_buffer_reset(&json);
        end_on("list", mishap_index_list(index,
                                         &(mishap_index_filter){ .cursor = mishap_text_of(cursor),
                                                                 .limit = MISHAP_INDEX_MOST_ROWS },
                                         &json));
        mishap_buffer_put_char(&json, '\0');
        count += take_page(json.data, found + count, room - count, cursor);
    } while (cursor[0] && count < room);
    mishap_index_close(index);
    mishap_buffer_release(&json);
    qsort(found, count, sizeof *found, compare_ids);
    return count;
}

/* How many of the ids that were given out are not in the index. */
static size_t count_missing(size_t total)
{
    told_id *found = calloc(total + 1, sizeof *found);
    size_t missing = 0, at = 0, count;
    if (!found)
        end_void("ids", "there is no memory");
    count = list_ids(found, total + 1);
    qsort(ids, total, sizeof *ids, compare_ids);
    for (size_t i = 0; i < total; i++) {
        while (at < count && compare_ids(found[at], ids[i]) < 0)
            at++;
        missing += at == count || compare_ids(found[at], ids[i]) != 0;
    }
    free(found);
    return missing;
}

static void tell(const char *what, double value, const char *unit, double bar)
{
    printf("%-46s %10.2f %-4s bar %6.2f  ratio %5.2f  %s\n", what, figure(what, value), unit, bar,
           value / bar, outcome(value, 2, bar));
}

static void measure(double rate, double seconds)
{
    size_t each = (size_t)(rate * seconds / PRODUCERS), total = each * PRODUCERS;
    const mishap_incident_counts *counts;
    ids = mmap(NULL, total * sizeof *ids, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
               0);
    if (!total || ids == MAP_FAILED)
        end_void("ids", "there is no memory");
    make_place();
    setenv("BENCH_LOG", journal, 1);
    end_on("logs", mishap_logs_begin(&(mishap_logs_plan){
                       .program = "bench", .incident_bytes = 64 << 20, .processes = PRODUCERS }));
    mishap_index_process_start(
        &(mishap_index_plan){ .program = "bench", .data = folder, .journal = journal });
    counts = mishap_incident_counts_shared();
    double begun = now_ns(), producer = run_producers(each, rate);
    double lasted = (now_ns() - begun) / 1e9, behind = wait_for_index(counts, total);
    struct use log = use_of("mishap-log"), index = use_of("mishap-index");
    uint64_t lost = atomic_load(&counts->lost), whole = atomic_load(&counts->written_whole);
    mishap_index_process_end();
    mishap_logs_end();
    printf("%zu failures in %.1f s, %.0f a second; %" PRIu64 " of them whole; all in the index "
           "%.0f ms after the last\n",
           total, lasted, (double)total / lasted, whole, behind);
    tell("a failure, in the process that serves: CPU", producer / 1e3, "us", 0.3);
    tell("… in the process that writes the log: CPU", log.cpu_us / (double)total, "us", 4);
    tell("… in the process of the index: CPU", index.cpu_us / (double)total, "us", 4);
    tell("… in the files of the index", (double)bytes_of_index() / (double)total, "B", 64);
    tell("memory of the process that writes the log", log.peak_mb, "MB", 64);
    tell("memory of the process of the index", index.peak_mb, "MB", 64);
    printf("%-46s %10" PRIu64 "      bar   none  %s\n", "lost", lost, lost ? "MISSED" : "met");
    fflush(stdout);
    size_t missing = count_missing(total); /* takes minutes for a million */
    printf("%-46s %10zu      bar   none  %s\n", "ids that are not found", missing,
           missing ? "MISSED" : "met");
    munmap(ids, total * sizeof *ids);
    remove_place();
}

int main(int argc, char **argv)
{
    double rate = 50000, seconds = 5;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "rate=", 5) == 0)
            rate = strtod(argv[i] + 5, NULL);
        else if (strncmp(argv[i], "seconds=", 8) == 0)
            seconds = strtod(argv[i] + 8, NULL);
        else
            end_void(argv[i], "rate=N or seconds=N");
    }
    measure(rate, seconds);
    return 0;
}
