/* Counting: see metrics_memory.h. */
#include "base/shared.h"
#include "server/metrics.h"

#include <pthread.h>
#include <unistd.h>

#include "mishap/code.h"
#include "server/metrics_memory.h"

typedef struct mishap_metric_shard shard;
typedef mishap_metric_cell cell;

const uint16_t mishap_metric_statuses[MISHAP_METRIC_STATUSES] = {
    0,   200, 201, 202, 203, 204, 205, 206, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403,
    404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424,
    425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 506, 507, 508, 511,
};

const struct mishap_metric_bucket mishap_metric_buckets[MISHAP_METRIC_BUCKETS] = {
    { 100000, "0.0001" },  { 250000, "0.00025" }, { 500000, "0.0005" },  { 1000000, "0.001" },
    { 2500000, "0.0025" }, { 5000000, "0.005" },  { 10000000, "0.01" },  { 25000000, "0.025" },
    { 50000000, "0.05" },  { 100000000, "0.1" },  { 250000000, "0.25" }, { 500000000, "0.5" },
    { 1000000000, "1" },   { 2500000000, "2.5" }, { 5000000000, "5" },   { 10000000000, "10" },
    { INT64_MAX, "+Inf" },
};

_Static_assert(MISHAP_METRIC_STATUSES <= 64, "a set of variants is one cell");

/* -- memory ------------------------------------------------------------------------------------ */

enum {
    PAGE = 4096
}; /* the smallest page size; a kernel with larger pages allocates more at once */

/* The shard of this thread, once it has counted. */
static _Thread_local shard *mine;

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

static size_t count_codes(void)
{
    size_t count = 0;
    for (const mishap_catalog *table = mishap_catalog_first(); table; table = table->next)
        count += table->count;
    return count;
}

/* Where the states of admission are; returns the size of the header with them. */
static size_t place_states(mishap_http_metrics *plan)
{
    const size_t counts[MISHAP_ADMITS] = {
        [MISHAP_ADMIT_REQUESTS] = plan->rows * MISHAP_METRIC_REQUEST_CELLS,
        [MISHAP_ADMIT_ROUTES] = plan->rows,
        [MISHAP_ADMIT_CODES] = plan->places,
        [MISHAP_ADMIT_CALLS] = plan->lines,
        [MISHAP_ADMIT_CALL_ERRORS] = plan->lines * plan->places,
    };
    size_t at = sizeof *plan;
    for (size_t i = 0; i < MISHAP_ADMITS; i++) {
        plan->admitted[i] = at;
        at += counts[i];
    }
    return whole_pages(at);
}

mishap *mishap_http_metrics_make(const mishap_http_routes *routes,
                                 const mishap_http_counted *counted, mishap_http_metrics **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    enum { MOST = 1 << 20 }; /* lines or codes: their product fits many times into a size_t */
    mishap_http_metrics plan = { .rows = mishap_http_route_count(routes) + 1,
                                 .counted = counted ? *counted : (mishap_http_counted){ 0 },
                                 .codes = count_codes() };
    *out = NULL;
    if (plan.rows > MOST || plan.counted.call_count > MOST || plan.codes > MOST)
        return mishap_out_of_memory();
    if (plan.counted.service_count > MISHAP_METRIC_SERVICES)
        plan.counted.service_count = MISHAP_METRIC_SERVICES;
    plan.lines = plan.rows + plan.counted.call_count;
    plan.places = plan.codes + MISHAP_CATEGORIES;
    plan.errors = mishap_metric_histogram_at(&plan, plan.lines, 0);
    plan.requests = plan.errors + plan.lines * plan.places;
    plan.sets = plan.requests + plan.rows * MISHAP_METRIC_REQUEST_CELLS;
    size_t cells = plan.sets + plan.lines;
    plan.shard_size = whole_pages(sizeof(shard) + cells * sizeof(cell));
    plan.shards = place_states(&plan);
    plan.size = plan.shards + MISHAP_METRIC_SHARDS * plan.shard_size;
    for (size_t i = 1; i < MISHAP_METRIC_STATUSES; i++)
        plan.place_of[mishap_metric_statuses[i]] = (uint8_t)i;
    void *memory = mishap_shared_map(plan.size);
    if (!memory)
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
    mishap_shared_unmap(metrics, metrics->size);
}

/* -- shards ------------------------------------------------------------------------------------ */

static bool change_owner(mishap_http_metrics *metrics, size_t index, mishap_life from)
{
    return atomic_compare_exchange_strong(&metrics->owners[index], &from, mishap_life_self());
}

/* A free shard; otherwise one whose owner is dead, though the supervisor has not released it yet;
 * otherwise the first. */
static shard *claim_shard(mishap_http_metrics *metrics)
{
    size_t i = 1;
    while (i < MISHAP_METRIC_SHARDS && !change_owner(metrics, i, 0))
        i++;
    for (size_t taken = 1; i == MISHAP_METRIC_SHARDS && taken < MISHAP_METRIC_SHARDS; taken++) {
        mishap_life owner = atomic_load(&metrics->owners[taken]);
        if (mishap_life_is_over(owner) && change_owner(metrics, taken, owner))
            i = taken;
    }
    i = i < MISHAP_METRIC_SHARDS ? i : 0;
    atomic_store(&metrics->used[i], true);
    return mine = mishap_metric_shard_at(metrics, i);
}

/* One comparison checks both: that there is a shard, and that it belongs to these metrics. */
static inline shard *shard_of(mishap_http_metrics *metrics)
{
    bool known = (uintptr_t)mine - (uintptr_t)metrics < metrics->size;
    return __builtin_expect(known, 1) ? mine : claim_shard(metrics);
}

static inline bool is_shared(const mishap_http_metrics *metrics, const shard *own)
{
    return own == mishap_metric_shard_at(metrics, 0);
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

/* -- counting ---------------------------------------------------------------------------------- */

static inline size_t bucket_of(int64_t duration_ns)
{
    size_t i = 0;
    while (duration_ns > mishap_metric_buckets[i].most_ns)
        i++;
    return i;
}

/* A code of the program's own, or one that no table has. It is looked up by name: two tables may
 * share a name, and a series must not appear twice. A table that was added late has no cells. */
static size_t place_of_other(const mishap_http_metrics *metrics, const mishap_code *code)
{
    const mishap_code *row = mishap_catalog_find(MISHAP_SPELLING_NAME, code->name);
    size_t first = 0, place;
    for (const mishap_catalog *table = mishap_catalog_first();
         row && table && first + table->count <= metrics->codes; table = table->next) {
        if (mishap_catalog_place(table, row, &place))
            return first + place;
        first += table->count;
    }
    unsigned category = (unsigned)code->category;
    return metrics->codes + (category < MISHAP_CATEGORIES ? category : MISHAP_SYSTEM);
}

static inline size_t place_of_code(const mishap_http_metrics *metrics, const mishap_code *code)
{
    return mishap_catalog_has_row(&mishap_code_table, code) ? code->row
                                                            : place_of_other(metrics, code);
}

static inline void add_to_set(cell *set, size_t variant, bool shared)
{
    uint64_t bit = UINT64_C(1) << variant, has = atomic_load_explicit(set, memory_order_relaxed);
    if (__builtin_expect((has & bit) != 0, 1))
        return;
    if (shared)
        atomic_fetch_or_explicit(set, bit, memory_order_relaxed);
    else
        atomic_store_explicit(set, has | bit, memory_order_relaxed);
}

/* The duration and the code of a line, in one of its variants. */
static inline void count_line(const mishap_http_metrics *metrics, shard *own, bool shared,
                              size_t line, size_t variant, const mishap_code *code,
                              int64_t duration_ns)
{
    cell *histogram = own->cells + mishap_metric_histogram_at(metrics, line, variant);
    add_to_set(own->cells + metrics->sets + line, variant, shared);
    add_to_cell(histogram + bucket_of(duration_ns), 1, shared);
    add_to_cell(histogram + MISHAP_METRIC_SUM, duration_ns > 0 ? (uint64_t)duration_ns : 0, shared);
    if (code)
        add_to_cell(own->cells + metrics->errors + line * metrics->places +
                        place_of_code(metrics, code),
                    1, shared);
}

void mishap_http_metrics_count(mishap_http_metrics *metrics, int64_t route, int method, int status,
                               const mishap_code *code, int64_t duration_ns)
{
    shard *own = shard_of(metrics);
    bool shared = is_shared(metrics, own);
    size_t row = route >= 0 && (uint64_t)route < metrics->rows - 1 ? (size_t)route + 1 : 0;
    size_t place = (unsigned)status <= MISHAP_METRIC_HIGHEST_STATUS ? metrics->place_of[status] : 0;
    size_t verb = (unsigned)method < MISHAP_HTTP_METHODS ? (size_t)method : MISHAP_HTTP_OTHER;
    cell *requests = own->cells + metrics->requests + row * MISHAP_METRIC_REQUEST_CELLS;
    add_to_cell(requests + verb * MISHAP_METRIC_STATUSES + place, 1, shared);
    count_line(metrics, own, shared, row, place, code, duration_ns);
}

void mishap_http_metrics_count_call(mishap_http_metrics *metrics, size_t call,
                                    const mishap_code *code, int64_t duration_ns)
{
    if (call >= metrics->counted.call_count)
        return;
    shard *own = shard_of(metrics);
    count_line(metrics, own, is_shared(metrics, own), metrics->rows + call, code != NULL, code,
               duration_ns);
}

void mishap_http_metrics_add(mishap_http_metrics *metrics, mishap_http_gauge gauge, int64_t change)
{
    shard *own = shard_of(metrics);
    add_to_cell(&own->gauges[gauge], (uint64_t)change, is_shared(metrics, own));
}

/* The first shard has no owner, so nothing could be subtracted for it. */
void mishap_http_metrics_tell(mishap_http_metrics *metrics, mishap_metric metric, size_t service,
                              int64_t value)
{
    shard *own = shard_of(metrics);
    size_t which = (size_t)metric - MISHAP_METRIC_WORKERS;
    if (is_shared(metrics, own) || which >= MISHAP_METRIC_OF_LOOPS ||
        service >= metrics->counted.service_count)
        return;
    atomic_store_explicit(&own->loops[which][service], (uint64_t)value, memory_order_relaxed);
    atomic_store_explicit(&metrics->told, true, memory_order_relaxed);
}

void mishap_http_metrics_gone(mishap_http_metrics *metrics, int process)
{
    for (size_t i = 1; process && i < MISHAP_METRIC_SHARDS; i++) {
        shard *left = mishap_metric_shard_at(metrics, i);
        if (mishap_life_process(atomic_load(&metrics->owners[i])) != process)
            continue;
        atomic_store(&left->gauges[MISHAP_HTTP_CONNECTIONS], 0);
        atomic_store(&left->gauges[MISHAP_HTTP_IN_FLIGHT], 0);
        for (size_t at = 0; at < MISHAP_METRIC_OF_LOOPS * MISHAP_METRIC_SERVICES; at++)
            atomic_store(&left->loops[at / MISHAP_METRIC_SERVICES][at % MISHAP_METRIC_SERVICES], 0);
        atomic_store(&metrics->owners[i], 0);
    }
}
