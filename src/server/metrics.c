/*
 * The metrics of a server, in the text format of Prometheus.
 *
 * All loops count in one piece of shared memory. It has a shard for each thread that counts, so
 * that counting takes neither a lock nor a locked instruction; reading adds the shards up. When a
 * process has exited, its shards keep their counts and are used by the next process; only its open
 * connections and requests are subtracted.
 *
 * A shard is a run of cells: a counter for each code, then a histogram for each route, then a
 * counter for each method and status of each route. The kernel allocates the memory only when it is
 * used, and routes that were never used are skipped.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/life.h"
#include "server/server.h"

/* -- labels ------------------------------------------------------------------------------------ */

/* The statuses that have a series of their own. All others share the first. */
static const uint16_t statuses[] = {
    0,   200, 201, 202, 203, 204, 205, 206, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403,
    404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424,
    425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 506, 507, 508, 511,
};

static const struct bucket {
    int64_t most_ns;
    const char *label;
} buckets[] = {
    { 100000, "0.0001" },  { 250000, "0.00025" }, { 500000, "0.0005" },  { 1000000, "0.001" },
    { 2500000, "0.0025" }, { 5000000, "0.005" },  { 10000000, "0.01" },  { 25000000, "0.025" },
    { 50000000, "0.05" },  { 100000000, "0.1" },  { 250000000, "0.25" }, { 500000000, "0.5" },
    { 1000000000, "1" },   { 2500000000, "2.5" }, { 5000000000, "5" },   { 10000000000, "10" },
    { INT64_MAX, "+Inf" },
};

static const struct family {
    const char *name, *type, *help;
} families[MISHAP_HTTP_GAUGES] = {
    [MISHAP_HTTP_CONNECTIONS] = { "mishap_http_connections", "gauge",
                                  "Number of open connections." },
    [MISHAP_HTTP_ACCEPTED] = { "mishap_http_connections_accepted_total", "counter",
                               "Total number of accepted connections." },
    [MISHAP_HTTP_IN_FLIGHT] = { "mishap_http_requests_in_flight", "gauge",
                                "Number of requests whose handlers are running." },
    [MISHAP_HTTP_CRASHES] = { "mishap_http_handler_crashes_total", "counter",
                              "Total number of handlers that crashed or ended their process." },
    [MISHAP_HTTP_LOOPS_BEGUN] = { "mishap_http_workers_started_total", "counter",
                                  "Total number of server processes that were started." },
    [MISHAP_HTTP_BYTES_RECEIVED] = { "mishap_http_received_bytes_total", "counter",
                                     "Total number of bytes received." },
    [MISHAP_HTTP_BYTES_SENT] = { "mishap_http_sent_bytes_total", "counter",
                                 "Total number of bytes sent." },
};

enum {
    STATUSES = sizeof statuses / sizeof *statuses,
    HIGHEST_STATUS = 599,
    BUCKETS = sizeof buckets / sizeof *buckets,
    SUM = BUCKETS, /* the cell after the buckets holds the sum, in nanoseconds */
    HISTOGRAM_CELLS,
    REQUEST_CELLS = MISHAP_HTTP_METHODS * STATUSES,
    SHARDS = 64, /* the first is shared by all threads that find no free one */
    PAGE = 4096, /* the smallest page size; a kernel with larger pages allocates more at a time */
};

/* -- memory ------------------------------------------------------------------------------------ */

typedef _Atomic uint64_t cell;

struct shard {
    cell gauges[MISHAP_HTTP_GAUGES];
    cell cells[];
};

struct mishap_http_metrics {
    size_t size;       /* of the whole mapping, in bytes */
    size_t shard_size; /* a multiple of the page size */
    size_t rows;       /* one for all unknown paths, then one for each route */
    size_t codes;      /* of all tables that existed; behind them one for all other codes of each
                          category */
    size_t histograms, requests; /* where they begin among the cells of a shard */
    uint8_t place_of[HIGHEST_STATUS + 1];
    _Atomic mishap_life owners[SHARDS]; /* 0: free */
    _Atomic bool used[SHARDS];          /* it was used at some time */
};

/* The shard of this thread, once it has counted. */
static _Thread_local struct shard *mine;

/* A child process gets a shard of its own. */
static void forget_shard(void)
{
    mine = NULL;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_shard);
}

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static struct shard *shard_at(const mishap_http_metrics *metrics, size_t index)
{
    uintptr_t start = (uintptr_t)metrics + whole_pages(sizeof *metrics);
    return (struct shard *)(start + index * metrics->shard_size);
}

static size_t count_codes(void)
{
    size_t count = 0;
    for (const mishap_catalog *table = mishap_catalog_first(); table; table = table->next)
        count += table->count;
    return count;
}

mishap *mishap_http_metrics_make(const mishap_http_routes *routes, mishap_http_metrics **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const size_t row = (HISTOGRAM_CELLS + REQUEST_CELLS) * sizeof(cell);
    mishap_http_metrics plan = { .rows = mishap_http_route_count(routes) + 1,
                                 .codes = count_codes() };
    plan.histograms = plan.codes + MISHAP_CATEGORIES;
    plan.requests = plan.histograms + plan.rows * HISTOGRAM_CELLS;
    size_t bytes = sizeof(struct shard) + plan.histograms * sizeof(cell);
    *out = NULL;
    if (plan.rows > (SIZE_MAX / SHARDS / 2 - bytes) / row)
        return mishap_out_of_memory();
    plan.shard_size = whole_pages(bytes + plan.rows * row);
    plan.size = whole_pages(sizeof plan) + SHARDS * plan.shard_size;
    for (size_t i = 1; i < STATUSES; i++)
        plan.place_of[statuses[i]] = (uint8_t)i;
    void *memory = mmap(NULL, plan.size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return mishap_out_of_memory();
    pthread_once(&once, watch_forks);
    *out = memory;
    memcpy(*out, &plan, sizeof plan);
    return NULL;
}

void mishap_http_metrics_free(mishap_http_metrics *metrics)
{
    if (!metrics)
        return;
    forget_shard();
    munmap(metrics, metrics->size);
}

/* -- counting ---------------------------------------------------------------------------------- */

static bool change_owner(mishap_http_metrics *metrics, size_t shard, mishap_life from)
{
    return atomic_compare_exchange_strong(&metrics->owners[shard], &from, mishap_life_self());
}

/* A free shard; otherwise one whose owner is dead, though the supervisor has not released it yet;
 * otherwise the first. */
static struct shard *claim_shard(mishap_http_metrics *metrics)
{
    size_t i = 1;
    while (i < SHARDS && !change_owner(metrics, i, 0))
        i++;
    for (size_t taken = 1; i == SHARDS && taken < SHARDS; taken++) {
        mishap_life owner = atomic_load(&metrics->owners[taken]);
        if (mishap_life_is_over(owner) && change_owner(metrics, taken, owner))
            i = taken;
    }
    i = i < SHARDS ? i : 0;
    atomic_store(&metrics->used[i], true);
    return mine = shard_at(metrics, i);
}

/* One comparison checks both: that there is a shard, and that it belongs to these metrics. */
static inline struct shard *shard_of(mishap_http_metrics *metrics)
{
    bool known = (uintptr_t)mine - (uintptr_t)metrics < metrics->size;
    return __builtin_expect(known, 1) ? mine : claim_shard(metrics);
}

/* Only its owner writes to a shard, except for the first. Relaxed order is enough, since a cell
 * says nothing about other memory. A shard gets another owner by `owners`: the compare-and-swap of
 * the next owner comes after the store of the supervisor, and that after the end of the last owner,
 * so no count is lost. */
static inline void add_to_cell(cell *to, uint64_t more, bool shared)
{
    if (__builtin_expect(shared, 0))
        atomic_fetch_add_explicit(to, more, memory_order_relaxed);
    else
        atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + more,
                              memory_order_relaxed);
}

static inline size_t bucket_of(int64_t duration_ns)
{
    size_t i = 0;
    while (duration_ns > buckets[i].most_ns)
        i++;
    return i;
}

static inline bool is_row_of(const mishap_catalog *table, const mishap_code *code)
{
    return (uintptr_t)code - (uintptr_t)table->codes < table->count * sizeof *code;
}

/* A code of the program's own, or one that no table has. It is looked up by name: two tables may
 * share a name, and a series must not appear twice. A table that was added late has no cells. */
static size_t place_of_other(const mishap_http_metrics *metrics, const mishap_code *code)
{
    const mishap_code *row = mishap_catalog_find(MISHAP_SPELLING_NAME, code->name);
    size_t first = 0;
    for (const mishap_catalog *table = mishap_catalog_first();
         row && table && first + table->count <= metrics->codes; table = table->next) {
        if (is_row_of(table, row))
            return first + (size_t)(row - table->codes);
        first += table->count;
    }
    unsigned category = (unsigned)code->category;
    return metrics->codes + (category < MISHAP_CATEGORIES ? category : MISHAP_SYSTEM);
}

static inline size_t place_of_code(const mishap_http_metrics *metrics, const mishap_code *code)
{
    return is_row_of(&mishap_code_table, code) ? (size_t)(code - mishap_code_table.codes)
                                               : place_of_other(metrics, code);
}

void mishap_http_metrics_count(mishap_http_metrics *metrics, int64_t route,
                               mishap_http_method method, int status, const mishap_code *code,
                               int64_t duration_ns)
{
    struct shard *shard = shard_of(metrics);
    bool shared = shard == shard_at(metrics, 0);
    size_t row = route >= 0 && (uint64_t)route < metrics->rows - 1 ? (size_t)route + 1 : 0;
    size_t place = (unsigned)status <= HIGHEST_STATUS ? metrics->place_of[status] : 0;
    size_t verb = (unsigned)method < MISHAP_HTTP_METHODS ? method : MISHAP_HTTP_OTHER;
    cell *histogram = shard->cells + metrics->histograms + row * HISTOGRAM_CELLS;
    cell *requests = shard->cells + metrics->requests + row * REQUEST_CELLS;
    add_to_cell(histogram + bucket_of(duration_ns), 1, shared);
    add_to_cell(histogram + SUM, duration_ns > 0 ? (uint64_t)duration_ns : 0, shared);
    add_to_cell(requests + verb * STATUSES + place, 1, shared);
    if (code)
        add_to_cell(shard->cells + place_of_code(metrics, code), 1, shared);
}

void mishap_http_metrics_add(mishap_http_metrics *metrics, mishap_http_gauge gauge, int64_t change)
{
    struct shard *shard = shard_of(metrics);
    add_to_cell(&shard->gauges[gauge], (uint64_t)change, shard == shard_at(metrics, 0));
}

void mishap_http_metrics_gone(mishap_http_metrics *metrics, int process)
{
    for (size_t i = 1; process && i < SHARDS; i++) {
        if (mishap_life_process(atomic_load(&metrics->owners[i])) != process)
            continue;
        atomic_store(&shard_at(metrics, i)->gauges[MISHAP_HTTP_CONNECTIONS], 0);
        atomic_store(&shard_at(metrics, i)->gauges[MISHAP_HTTP_IN_FLIGHT], 0);
        atomic_store(&metrics->owners[i], 0);
    }
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Add up some cells of all shards that were ever used. */
static void sum_cells(const mishap_http_metrics *metrics, size_t first, size_t count,
                      uint64_t *sums)
{
    memset(sums, 0, count * sizeof *sums);
    for (size_t shard = 0; shard < SHARDS; shard++) {
        if (!atomic_load(&metrics->used[shard]))
            continue;
        const cell *cells = shard_at(metrics, shard)->cells + first;
        for (size_t i = 0; i < count; i++)
            sums[i] += atomic_load_explicit(&cells[i], memory_order_relaxed);
    }
}

static int64_t sum_gauge(const mishap_http_metrics *metrics, size_t gauge)
{
    uint64_t sum = 0;
    for (size_t shard = 0; shard < SHARDS; shard++)
        if (atomic_load(&metrics->used[shard]))
            sum += atomic_load_explicit(&shard_at(metrics, shard)->gauges[gauge],
                                        memory_order_relaxed);
    return (int64_t)sum;
}

/* The number of requests of a row: the sum of its buckets. */
static uint64_t sum_histogram(const mishap_http_metrics *metrics, size_t row,
                              uint64_t sums[HISTOGRAM_CELLS])
{
    uint64_t total = 0;
    sum_cells(metrics, metrics->histograms + row * HISTOGRAM_CELLS, HISTOGRAM_CELLS, sums);
    for (size_t i = 0; i < BUCKETS; i++)
        total += sums[i];
    return total;
}

/* -- writing ----------------------------------------------------------------------------------- */

static void put_string(mishap_buffer *b, const char *string)
{
    mishap_buffer_put_text(b, mishap_text_of(string));
}

static void put_family(mishap_buffer *b, const char *name, const char *type, const char *help)
{
    MISHAP_PUT(b, "# HELP ");
    put_string(b, name);
    MISHAP_PUT(b, " ");
    put_string(b, help);
    MISHAP_PUT(b, "\n# TYPE ");
    put_string(b, name);
    MISHAP_PUT(b, " ");
    put_string(b, type);
    MISHAP_PUT(b, "\n");
}

/* The value of a label, with the three characters escaped for which the format has escapes. */
static void put_label(mishap_buffer *b, mishap_text value)
{
    for (size_t i = 0; i < value.length; i++) {
        char c = value.data[i];
        if (c == '\\' || c == '"' || c == '\n')
            MISHAP_PUT(b, "\\");
        mishap_buffer_put_char(b, c == '\n' ? 'n' : c);
    }
}

static void put_count(mishap_buffer *b, uint64_t count)
{
    MISHAP_PUT(b, "} ");
    mishap_buffer_put_uint(b, count);
    MISHAP_PUT(b, "\n");
}

/* No operation is called *, so that is the name for all unknown paths. */
static void put_route(mishap_buffer *b, const mishap_http_routes *routes, size_t row)
{
    MISHAP_PUT(b, "{route=\"");
    put_label(b, mishap_text_of(row ? mishap_http_route_name(routes, row - 1) : "*"));
    MISHAP_PUT(b, "\"");
}

static void put_requests(mishap_buffer *b, const mishap_http_metrics *metrics,
                         const mishap_http_routes *routes, size_t row)
{
    uint64_t sums[REQUEST_CELLS];
    sum_cells(metrics, metrics->requests + row * REQUEST_CELLS, REQUEST_CELLS, sums);
    for (size_t i = 0; i < REQUEST_CELLS; i++) {
        if (!sums[i])
            continue;
        MISHAP_PUT(b, "mishap_http_requests_total");
        put_route(b, routes, row);
        MISHAP_PUT(b, ",method=\"");
        put_label(b, mishap_http_method_names[i / STATUSES]);
        MISHAP_PUT(b, "\",status=\"");
        if (i % STATUSES)
            mishap_buffer_put_uint(b, statuses[i % STATUSES]);
        else
            MISHAP_PUT(b, "other");
        MISHAP_PUT(b, "\"");
        put_count(b, sums[i]);
    }
}

static void put_seconds(mishap_buffer *b, uint64_t ns)
{
    const uint64_t second = 1000000000;
    mishap_buffer_put_uint(b, ns / second);
    MISHAP_PUT(b, ".");
    for (uint64_t digit = second / 10; digit; digit /= 10)
        mishap_buffer_put_char(b, (char)('0' + ns / digit % 10));
}

/* The count is computed from the same reading as the buckets, so that they agree while other
 * threads count. */
static void put_histogram(mishap_buffer *b, const mishap_http_routes *routes, size_t row,
                          const uint64_t sums[HISTOGRAM_CELLS])
{
    uint64_t so_far = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        MISHAP_PUT(b, "mishap_http_request_duration_seconds_bucket");
        put_route(b, routes, row);
        MISHAP_PUT(b, ",le=\"");
        put_string(b, buckets[i].label);
        MISHAP_PUT(b, "\"");
        put_count(b, so_far += sums[i]);
    }
    MISHAP_PUT(b, "mishap_http_request_duration_seconds_sum");
    put_route(b, routes, row);
    MISHAP_PUT(b, "} ");
    put_seconds(b, sums[SUM]);
    MISHAP_PUT(b, "\nmishap_http_request_duration_seconds_count");
    put_route(b, routes, row);
    put_count(b, so_far);
}

static void put_error(mishap_buffer *b, const mishap_http_metrics *metrics, size_t place,
                      mishap_text name, mishap_category category)
{
    uint64_t sum;
    sum_cells(metrics, place, 1, &sum);
    if (!sum)
        return;
    MISHAP_PUT(b, "mishap_errors_total{code=\"");
    put_label(b, name);
    MISHAP_PUT(b, "\",category=\"");
    put_string(b, mishap_category_name(category));
    MISHAP_PUT(b, "\"");
    put_count(b, sum);
}

/* Tables are only ever added at the end, so the cells of the first ones keep their places. */
static void put_errors(mishap_buffer *b, const mishap_http_metrics *metrics)
{
    size_t place = 0;
    put_family(b, "mishap_errors_total", "counter",
               "Total number of failed requests, by error code.");
    for (const mishap_catalog *table = mishap_catalog_first(); place < metrics->codes;
         table = table->next)
        for (size_t i = 0; i < table->count; i++, place++)
            put_error(b, metrics, place, table->codes[i].name, table->codes[i].category);
    for (size_t i = 0; i < MISHAP_CATEGORIES; i++)
        put_error(b, metrics, place + i, mishap_text_of("other"), (mishap_category)i);
}

void mishap_http_metrics_put(mishap_buffer *b, const mishap_http_metrics *metrics,
                             const mishap_http_routes *routes)
{
    uint64_t sums[HISTOGRAM_CELLS];
    put_family(b, "mishap_build_info", "gauge", "Version of the running program.");
    MISHAP_PUT(b, "mishap_build_info{version=\"" MISHAP_VERSION "\"} 1\n");
    put_family(b, "mishap_http_requests_total", "counter", "Total number of answered requests.");
    for (size_t row = 0; row < metrics->rows; row++)
        if (sum_histogram(metrics, row, sums))
            put_requests(b, metrics, routes, row);
    put_family(
        b, "mishap_http_request_duration_seconds", "histogram",
        "Duration of requests, from the first byte of the request to the end of the response.");
    for (size_t row = 0; row < metrics->rows; row++)
        if (sum_histogram(metrics, row, sums))
            put_histogram(b, routes, row, sums);
    put_errors(b, metrics);
    for (size_t i = 0; i < MISHAP_HTTP_GAUGES; i++) {
        put_family(b, families[i].name, families[i].type, families[i].help);
        put_string(b, families[i].name);
        MISHAP_PUT(b, " ");
        mishap_buffer_put_int(b, sum_gauge(metrics, i));
        MISHAP_PUT(b, "\n");
    }
}
