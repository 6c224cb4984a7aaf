/*
 * The index of incidents (src/index), without a server: lines of a journal that this program has
 * written are put into the index.
 *
 *     index_bench [compact=3000000] [whole=300000] [queries=1000000] [store=50000]
 *
 *     compact   CPU of each compact record, bytes in the file, memory, and whether all are there
 *     whole     records of 1.5 KB, with their indexes and words: how many a second
 *     queries   the first run of each query on so many whole records
 *     store     whole records a second in files, and in PostgreSQL (src/archive), if the variable
 *               STORE_POSTGRESQL has the address of an empty database (tests/store/postgres.py)
 *
 * Each figure is printed with its bar (docs/incidents.md) and the ratio to it. The folder is made
 * in $TMPDIR, or /var/tmp, and removed.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "bench/place.h"
#include "index/index.h"
#include "mishap/store.h"

enum { GROUPS = 64, CALLERS = 16, TICK = 12500, LINE = 1500, CODES = 8 };

static uint64_t count_lost;
static const char *address; /* of a store; NULL: files */

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static mishap_index *open_bench(void)
{
    mishap_index *index;
    end_on("open", mishap_index_open(
                       &(mishap_index_plan){ .data = folder, .journal = journal, .store = address },
                       &index));
    return index;
}

static void tell(const char *what, double value, const char *unit, double bar)
{
    printf("%-34s %10.2f %-10s bar %8.2f  ratio %5.2f  %s\n", what, figure(what, value), unit, bar,
           value / bar, outcome(value, 2, bar));
    fflush(stdout);
}

/* -- lines ------------------------------------------------------------------------------------- */

static void id_bytes(const char *id, unsigned char bytes[16])
{
    for (size_t n = 0; n < 16; id++)
        if (*id != '-') {
            unsigned value = 0;
            sscanf(id, "%2x", &value);
            bytes[n++] = (unsigned char)value;
            id++;
        }
}

static void put_kind(mishap_buffer *b, size_t group, size_t caller)
{
    char text[400];
    int length = snprintf(
        text, sizeof text,
        ",\"program\":\"bench\",\"service\":\"todo\",\"operation\":\"todos.op%zu\","
        "\"boundary\":\"http\",\"code\":\"CODE_%zu\",\"category\":\"%s\",\"status\":422,"
        "\"caller\":\"10.0.%zu.%zu\",\"group\":\"%016zx\"",
        group / 8, group % CODES, group % 2 ? "validation" : "resource", caller / 250, caller % 250,
        group + 1);
    mishap_buffer_put(b, text, (size_t)length);
}

/* A quarter of a second of 50,000 failures a second: a line for each group and caller. */
static void put_tick(mishap_buffer *b, int64_t ms, size_t count, char *some_id)
{
    enum { PAIRS = GROUPS * CALLERS };
    static mishap_buffer ids;
    char id[MISHAP_ID_LENGTH + 1];
    for (size_t pair = 0; pair < PAIRS; pair++) {
        size_t mine = count / PAIRS + (pair < count % PAIRS);
        if (!mine)
            continue;
        mishap_buffer_reset(&ids);
        for (size_t i = 0; i < mine; i++) {
            unsigned char bytes[16];
            mishap_id_make_at(id, ms + (int64_t)(i * 250 / mine));
            id_bytes(id, bytes);
            mishap_buffer_put(&ids, (char *)bytes, 16);
        }
        memcpy(some_id, id, sizeof id);
        MISHAP_PUT(b, "{\"v\":1,\"kind\":\"compact\",\"count\":");
        mishap_buffer_put_uint(b, mine);
        MISHAP_PUT(b, ",\"ids\":\"");
        mishap_base64_put(b, mishap_buffer_text(&ids));
        MISHAP_PUT(b, "\",\"us\":[");
        for (size_t i = 0; i < mine; i++) {
            if (i)
                MISHAP_PUT(b, ",");
            mishap_buffer_put_uint(b, 200 + (pair * 37 + i * 11) % 3000);
        }
        MISHAP_PUT(b, "]");
        put_kind(b, pair / CALLERS, pair % CALLERS);
        MISHAP_PUT(b, "}\n");
    }
}

static void put_whole(mishap_buffer *b, int64_t ms, size_t number, char id[MISHAP_ID_LENGTH + 1])
{
    static const char pad[] = "\"stack\":[\"show (services/todo/todo.c:12)\",\"run (src/operation/"
                              "dispatch.c:80)\",\"main (tool/main.c:9)\"],\"response\":\"";
    static const char *const words[] = { "timeout", "missing", "refused", "locked", "late" };
    char text[600];
    size_t begin = b->length;
    mishap_id_make_at(id, ms);
    int length = snprintf(text, sizeof text,
                          "{\"v\":1,\"kind\":\"whole\",\"id\":\"%s\",\"message\":\"The request %zu "
                          "was %s by shard%zu%s.\",\"duration_us\":%zu",
                          id, number, words[number % 5], number % 1000,
                          number % 100000 == 17 ? " rarely" : "", number % 5000);
    mishap_buffer_put(b, text, (size_t)length);
    put_kind(b, number % GROUPS, number % 3000);
    MISHAP_PUT(b, ",");
    mishap_buffer_put(b, pad, sizeof pad - 1);
    while (b->length - begin < LINE - 3)
        MISHAP_PUT(b, "x");
    MISHAP_PUT(b, "\"}\n");
}

static void append(mishap_buffer *b)
{
    int file = open(journal, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (b->failed || file < 0 || write(file, b->data, b->length) != (ssize_t)b->length)
        end_void("journal", "it cannot be written");
    close(file);
    mishap_buffer_reset(b);
}

/* What was read is of no more use: the place in the journal begins anew. */
static void begin_journal(size_t limit)
{
    struct stat status;
    char older[320];
    snprintf(older, sizeof older, "%s.1", journal);
    if (stat(journal, &status) == 0 && (size_t)status.st_size > limit)
        rename(journal, older);
}

/* -- figures ----------------------------------------------------------------------------------- */

static uint64_t total_of(mishap_index *index)
{
    mishap_buffer json = { 0 };
    mishap_index_span span = { .from_ms = 1,
                               .to_ms = mishap_clock_now_ms() + 2 * 86400000,
                               .step_s = 86400 };
    span.from_ms = span.to_ms - INT64_C(86400000) * 20;
    end_on("stats", mishap_index_stats(index, &span, &json));
    mishap_buffer_put_char(&json, '\0');
    const char *at = strstr(json.data, "\"total\":");
    uint64_t total = at ? strtoull(at + 8, NULL, 10) : 0;
    mishap_buffer_release(&json);
    return total;
}

static void measure_compact(size_t wanted)
{
    mishap_buffer lines = { 0 };
    char(*sample)[MISHAP_ID_LENGTH + 1] = calloc(wanted / TICK + 2, sizeof *sample);
    int64_t ms = mishap_clock_now_ms() / 86400000 * 86400000 + 3600000;
    double cpu = 0, begin = now_ns(), spent = 0;
    size_t ticks = 0;
    make_place();
    mishap_index *index = open_bench();
    for (size_t done = 0; done < wanted; ms += 250) {
        size_t count = wanted - done < TICK ? wanted - done : TICK;
        put_tick(&lines, ms, count, sample[ticks++]);
        begin_journal(32 << 20);
        append(&lines);
        double before = cpu_ns(), at = now_ns();
        end_on("catch up", mishap_index_catch_up(index, 1000));
        cpu += cpu_ns() - before;
        spent += now_ns() - at;
        done += count;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    (void)begin;
    uint64_t found = total_of(index);
    for (size_t i = 0; i < ticks; i++)
        count_lost += !mishap_index_has(index, mishap_text_of(sample[i]));
    mishap_index_close(index);
    printf("%zu compact records, %d groups, %d callers, %.0f a second\n", wanted, GROUPS, CALLERS,
           (double)wanted / spent * 1e9);
    tell("CPU of a compact record", cpu / (double)wanted / 1e3, "us", 4);
    tell("its bytes in the file", (double)bytes_of_index() / (double)wanted, "B", 64);
    tell("memory of the process", (double)usage.ru_maxrss / 1024, "MB", 64);
    count_lost += found > wanted ? found - wanted : wanted - found;
    printf("%-34s %10" PRIu64 "            bar     none  %s\n\n", "lost or doubled", count_lost,
           count_lost ? "MISSED" : "met");
    free(sample);
    mishap_buffer_release(&lines);
    remove_place();
}

/* So many whole records, spread over some hours of a day; the id of one in the middle. */
static double fill_whole(mishap_index *index, size_t wanted, char middle[MISHAP_ID_LENGTH + 1],
                         double *cpu)
{
    mishap_buffer lines = { 0 };
    char id[MISHAP_ID_LENGTH + 1];
    int64_t ms = mishap_clock_now_ms() / 86400000 * 86400000 + 3600000;
    double spent = 0;
    *cpu = 0;
    for (size_t i = 0; i < wanted;) {
        for (size_t j = 0; j < 1250 && i < wanted; i++, j++) {
            put_whole(&lines, ms + (int64_t)((double)i * 7e7 / (double)wanted), i, id);
            if (i == wanted / 2)
                memcpy(middle, id, sizeof id);
        }
        begin_journal(32 << 20);
        append(&lines);
        double at = now_ns(), before = cpu_ns();
        end_on("catch up", mishap_index_catch_up(index, 1000));
        spent += now_ns() - at;
        *cpu += cpu_ns() - before;
    }
    mishap_buffer_release(&lines);
    return spent;
}

static void measure_whole(size_t wanted)
{
    char middle[MISHAP_ID_LENGTH + 1] = "";
    double cpu;
    make_place();
    mishap_index *index = open_bench();
    double spent = fill_whole(index, wanted, middle, &cpu);
    if (total_of(index) != wanted)
        end_void("whole", "not all are there");
    mishap_index_close(index);
    printf("%zu whole records of %d bytes, %.1f us CPU each\n", wanted, LINE,
           cpu / (double)wanted / 1e3);
    tell("time of 5,000 whole records", spent / (double)wanted * 5000 / 1e9, "s", 1);
    printf("\n");
    remove_place();
}

static void time_list(const char *what, mishap_index_filter filter)
{
    mishap_buffer json = { 0 };
    mishap_index *index = open_bench();
    double at = now_ns();
    end_on(what, mishap_index_list(index, &filter, &json));
    double spent = now_ns() - at;
    if (json.length < 200)
        end_void(what, "nothing was found");
    tell(what, spent / 1e6, "ms", 50);
    mishap_buffer_release(&json);
    mishap_index_close(index);
}

#define NAMED(literal) ((mishap_text)MISHAP_TEXT(literal))

static void measure_queries(size_t wanted)
{
    char middle[MISHAP_ID_LENGTH + 1] = "";
    double cpu;
    mishap_buffer json = { 0 };
    mishap_index_found found;
    make_place();
    mishap_index *index = open_bench();
    fill_whole(index, wanted, middle, &cpu);
    mishap_index_close(index);
    printf("queries on %zu whole records, %.0f MB, first run of each\n", wanted,
           (double)bytes_of_index() / 1e6);
    time_list("newest", (mishap_index_filter){ 0 });
    index = open_bench();
    double at = now_ns();
    end_on("id", mishap_index_find(index, mishap_text_of(middle), &found, &json));
    tell("by id", (now_ns() - at) / 1e6, "ms", 50);
    mishap_index_close(index);
    time_list("group", (mishap_index_filter){ .group = NAMED("0000000000000007") });
    time_list("caller", (mishap_index_filter){ .caller = NAMED("10.0.3.7") });
    time_list("code", (mishap_index_filter){ .code = NAMED("CODE_3") });
    time_list("category", (mishap_index_filter){ .category = NAMED("validation") });
    time_list("word, in a fifth of all", (mishap_index_filter){ .text = NAMED("timeout") });
    time_list("word, in a thousandth", (mishap_index_filter){ .text = NAMED("shard77") });
    time_list("word, in ten records", (mishap_index_filter){ .text = NAMED("rarely") });
    time_list("caller and code",
              (mishap_index_filter){ .caller = NAMED("10.0.3.7"), .code = NAMED("CODE_5") });
    mishap_buffer_release(&json);
    remove_place();
}

/* The same records into files and into PostgreSQL, one after the other. The rates have no bar. */
static void measure_store(size_t wanted)
{
    const char *const stores[] = { NULL, getenv("STORE_POSTGRESQL") };
    double rates[2] = { 0 };
    mishap_index_use(&mishap_incidents_in_postgresql);
    for (size_t i = 0; i < 2 && (i == 0 || stores[i]); i++) {
        char middle[MISHAP_ID_LENGTH + 1] = "";
        const char *what = i ? "whole records/s in PostgreSQL" : "whole records/s in files";
        double cpu;
        make_place();
        address = stores[i];
        mishap_index *index = open_bench();
        rates[i] = (double)wanted / fill_whole(index, wanted, middle, &cpu) * 1e9;
        if (total_of(index) != wanted)
            end_void("store", "not all are there");
        mishap_index_close(index);
        if (i) {
            time_list("newest, PostgreSQL", (mishap_index_filter){ 0 });
            time_list("caller, PostgreSQL", (mishap_index_filter){ .caller = NAMED("10.0.3.7") });
            time_list("code, PostgreSQL", (mishap_index_filter){ .code = NAMED("CODE_3") });
            time_list("word, PostgreSQL", (mishap_index_filter){ .text = NAMED("timeout") });
        }
        printf("%-34s %10.0f %10.1f us CPU of the reader each\n", what, figure(what, rates[i]),
               cpu / (double)wanted / 1e3);
        remove_place();
    }
    if (rates[1] > 0)
        printf("PostgreSQL to files %33.2f\n", rates[1] / rates[0]);
    address = NULL;
}

int main(int argc, char **argv)
{
    size_t compact = 3000000, whole = 300000, queries = 1000000, store = 50000;
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        size_t number = value ? strtoull(value + 1, NULL, 10) : 0;
        if (strncmp(argv[i], "compact=", 8) == 0)
            compact = number;
        else if (strncmp(argv[i], "whole=", 6) == 0)
            whole = number;
        else if (strncmp(argv[i], "queries=", 8) == 0)
            queries = number;
        else if (strncmp(argv[i], "store=", 6) == 0)
            store = number;
        else
            end_void(argv[i], "compact=N, whole=N, queries=N or store=N; 0 leaves one out");
    }
    if (compact)
        measure_compact(compact);
    if (whole)
        measure_whole(whole);
    if (queries)
        measure_queries(queries);
    if (store)
        measure_store(store);
    return 0;
}
