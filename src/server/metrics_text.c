/* The metrics as text for Prometheus: the table, from top to bottom. Runs in a loop. */
#include "base/memory.h"
#include "mishap/version.h"
#include "server/metrics_memory.h"

typedef mishap_metric_cell cell;

enum { HISTOGRAM = MISHAP_METRIC_HISTOGRAM, STATUSES = MISHAP_METRIC_STATUSES };

/* What one text is made of. */
struct writing {
    mishap_buffer *b;
    mishap_http_metrics *metrics;
    const mishap_http_routes *routes;
    const mishap_http_measures *measures; /* NULL: none */
    const mishap_metric_row *row;         /* the metric that is written now */
};

/* -- reading ----------------------------------------------------------------------------------- */

/* The sum of one member of all shards. */
#define SUM_MEMBER(sum, of, member)                                                                \
    for (size_t shard = 0; shard < MISHAP_METRIC_SHARDS; shard++)                                  \
        if (atomic_load(&(of)->used[shard]))                                                       \
    (sum) += atomic_load_explicit(&mishap_metric_shard_at(of, shard)->member, memory_order_relaxed)

static uint64_t sum_buckets(const uint64_t sums[HISTOGRAM])
{
    uint64_t total = 0;
    for (size_t i = 0; i < MISHAP_METRIC_BUCKETS; i++)
        total += sums[i];
    return total;
}

/* -- how many series --------------------------------------------------------------------------- */

/* Together with everything that has a constant number of series: fewer than MISHAP_METRIC_SERIES
 * (tests/server/metrics_test.c). Histograms have 19 series each. */
static const uint32_t most_admitted[MISHAP_ADMITS] = {
    [MISHAP_ADMIT_REQUESTS] = 600, [MISHAP_ADMIT_ROUTES] = 64,       [MISHAP_ADMIT_CODES] = 250,
    [MISHAP_ADMIT_CALLS] = 94,     [MISHAP_ADMIT_CALL_ERRORS] = 600,
};

enum { UNKNOWN, ADMITTED, FOLDED };

/* True if this series is written by itself; otherwise it is added up with others. Two loops may
 * decide at once: then both take what the first has decided. */
static bool is_admitted(mishap_http_metrics *metrics, mishap_metric_family family, size_t index)
{
    _Atomic uint8_t *state = (_Atomic uint8_t *)((uintptr_t)metrics + metrics->admitted[family]) +
                             index;
    uint8_t found = atomic_load(state);
    if (found != UNKNOWN)
        return found == ADMITTED;
    bool room = atomic_load(&metrics->taken[family]) < most_admitted[family] &&
                atomic_fetch_add(&metrics->taken[family], 1) < most_admitted[family];
    if (!atomic_compare_exchange_strong(state, &found, room ? ADMITTED : FOLDED)) {
        if (room)
            atomic_fetch_sub(&metrics->taken[family], 1);
        return found == ADMITTED;
    }
    return room;
}

/* -- pieces ------------------------------------------------------------------------------------ */

static void put_string(mishap_buffer *b, const char *string)
{
    mishap_buffer_put_text(b, mishap_text_of(string));
}

static void put_family(const struct writing *w)
{
    MISHAP_PUT(w->b, "# HELP ");
    put_string(w->b, w->row->name);
    MISHAP_PUT(w->b, " ");
    put_string(w->b, w->row->help);
    MISHAP_PUT(w->b, "\n# TYPE ");
    put_string(w->b, w->row->name);
    MISHAP_PUT(w->b, " ");
    put_string(w->b, w->row->type);
    MISHAP_PUT(w->b, "\n");
}

/* The value of a label, with the three characters escaped for which the format has escapes. */
static void put_escaped(mishap_buffer *b, mishap_text value)
{
    for (size_t i = 0; i < value.length; i++) {
        char c = value.data[i];
        if (c == '\\' || c == '"' || c == '\n')
            MISHAP_PUT(b, "\\");
        mishap_buffer_put_char(b, c == '\n' ? 'n' : c);
    }
}

/* The label at an index of its metric. */
static void put_label(const struct writing *w, size_t index, mishap_text value)
{
    put_string(w->b, index ? "," : "{");
    put_string(w->b, w->row->labels[index]);
    MISHAP_PUT(w->b, "=\"");
    put_escaped(w->b, value);
    MISHAP_PUT(w->b, "\"");
}

static void put_count(mishap_buffer *b, uint64_t count)
{
    MISHAP_PUT(b, "} ");
    mishap_buffer_put_uint(b, count);
    MISHAP_PUT(b, "\n");
}

static void put_seconds(mishap_buffer *b, uint64_t ns)
{
    const uint64_t second = 1000000000;
    mishap_buffer_put_uint(b, ns / second);
    MISHAP_PUT(b, ".");
    for (uint64_t digit = second / 10; digit; digit /= 10)
        mishap_buffer_put_char(b, (char)('0' + ns / digit % 10));
}

static const mishap_text other = MISHAP_TEXT("other");

/* No operation is called *, so that is the name for all unknown paths. */
static mishap_text route_of(const struct writing *w, size_t row)
{
    return mishap_text_of(row ? mishap_http_route_name(w->routes, row - 1) : "*");
}

/* Of a line: whether it is an operation, its name and its boundary. */
static bool find_call(const struct writing *w, size_t line, mishap_text *name,
                      mishap_text *boundary)
{
    const mishap_http_metrics *metrics = w->metrics;
    *boundary = mishap_text_of(line < metrics->rows ? "http" : "mcp");
    if (line >= metrics->rows)
        *name = mishap_text_of(metrics->counted.calls[line - metrics->rows]);
    else if (line && mishap_http_route_is_call(w->routes, line - 1))
        *name = route_of(w, line);
    else
        return false;
    return true;
}

/* Of a place among the codes. Tables are only ever added at the end, so the cells of the first ones
 * keep their places. */
static mishap_text code_of(const mishap_http_metrics *metrics, size_t place, const char **category)
{
    size_t first = 0;
    for (const mishap_catalog *table = mishap_catalog_first(); table && place < metrics->codes;
         table = table->next) {
        if (place - first < table->count) {
            *category = mishap_category_name(table->codes[place - first]->category);
            return table->codes[place - first]->name;
        }
        first += table->count;
    }
    *category = mishap_category_name((mishap_category)(place - metrics->codes));
    return other;
}

/* -- requests ---------------------------------------------------------------------------------- */

static void put_request(const struct writing *w, mishap_text route, mishap_text method, int status,
                        uint64_t count)
{
    put_string(w->b, w->row->name);
    put_label(w, 0, route);
    put_label(w, 1, method);
    MISHAP_PUT(w->b, ",status=\"");
    if (status)
        mishap_buffer_put_int(w->b, status);
    else
        mishap_buffer_put_text(w->b, other);
    MISHAP_PUT(w->b, "\"");
    put_count(w->b, count);
}

static uint64_t put_requests_of(const struct writing *w, size_t row)
{
    uint64_t sums[MISHAP_METRIC_REQUEST_CELLS], rest = 0;
    size_t first = row * MISHAP_METRIC_REQUEST_CELLS;
    mishap_metric_sum_cells(w->metrics, w->metrics->requests + first, MISHAP_METRIC_REQUEST_CELLS,
                            sums);
    for (size_t i = 0; i < MISHAP_METRIC_REQUEST_CELLS; i++) {
        if (!sums[i])
            continue;
        if (is_admitted(w->metrics, MISHAP_ADMIT_REQUESTS, first + i))
            put_request(w, route_of(w, row), mishap_http_method_names[i / STATUSES],
                        mishap_metric_statuses[i % STATUSES], sums[i]);
        else
            rest += sums[i];
    }
    return rest;
}

static void put_requests(const struct writing *w)
{
    uint64_t sums[HISTOGRAM], rest = 0;
    for (size_t row = 0; row < w->metrics->rows; row++)
        if (mishap_metric_sum_line(w->metrics, row, sums))
            rest += put_requests_of(w, row);
    if (rest)
        put_request(w, other, mishap_http_method_names[MISHAP_HTTP_OTHER], 0, rest);
}

/* -- durations --------------------------------------------------------------------------------- */

/* One label or two: the route, or the operation and its boundary. */
static void put_line_labels(const struct writing *w, mishap_text name, mishap_text boundary)
{
    put_label(w, 0, name);
    if (boundary.data)
        put_label(w, 1, boundary);
}

/* The count is computed from the same reading as the buckets, so that they agree while other
 * threads count. */
static void put_histogram(const struct writing *w, mishap_text name, mishap_text boundary,
                          const uint64_t sums[HISTOGRAM])
{
    uint64_t so_far = 0;
    for (size_t i = 0; i < MISHAP_METRIC_BUCKETS; i++) {
        put_string(w->b, w->row->name);
        MISHAP_PUT(w->b, "_bucket");
        put_line_labels(w, name, boundary);
        MISHAP_PUT(w->b, ",le=\"");
        put_string(w->b, mishap_metric_buckets[i].label);
        MISHAP_PUT(w->b, "\"");
        put_count(w->b, so_far += sums[i]);
    }
    put_string(w->b, w->row->name);
    MISHAP_PUT(w->b, "_sum");
    put_line_labels(w, name, boundary);
    MISHAP_PUT(w->b, "} ");
    put_seconds(w->b, sums[MISHAP_METRIC_SUM]);
    MISHAP_PUT(w->b, "\n");
    put_string(w->b, w->row->name);
    MISHAP_PUT(w->b, "_count");
    put_line_labels(w, name, boundary);
    put_count(w->b, so_far);
}

static void add_histogram(uint64_t to[HISTOGRAM], const uint64_t more[HISTOGRAM])
{
    for (size_t i = 0; i < HISTOGRAM; i++)
        to[i] += more[i];
}

static void put_durations(const struct writing *w)
{
    uint64_t sums[HISTOGRAM], rest[HISTOGRAM] = { 0 };
    const mishap_text none = { NULL, 0 };
    for (size_t row = 0; row < w->metrics->rows; row++)
        if (!mishap_metric_sum_line(w->metrics, row, sums))
            continue;
        else if (is_admitted(w->metrics, MISHAP_ADMIT_ROUTES, row))
            put_histogram(w, route_of(w, row), none, sums);
        else
            add_histogram(rest, sums);
    if (sum_buckets(rest))
        put_histogram(w, other, none, rest);
}

/* -- calls ------------------------------------------------------------------------------------- */

static void put_call(const struct writing *w, mishap_text name, mishap_text boundary,
                     const uint64_t sums[HISTOGRAM])
{
    if (w->row == &mishap_metric_table[MISHAP_METRIC_CALL_DURATION]) {
        put_histogram(w, name, boundary, sums);
        return;
    }
    put_string(w->b, w->row->name);
    put_line_labels(w, name, boundary);
    put_count(w->b, sum_buckets(sums));
}

/* Calls over HTTP are the requests to the routes of operations: nothing is counted twice. */
static void put_calls(const struct writing *w)
{
    uint64_t sums[HISTOGRAM], rest[2][HISTOGRAM] = { { 0 } };
    mishap_text name, boundary;
    for (size_t line = 0; line < w->metrics->lines; line++)
        if (!find_call(w, line, &name, &boundary) ||
            !mishap_metric_sum_line(w->metrics, line, sums))
            continue;
        else if (is_admitted(w->metrics, MISHAP_ADMIT_CALLS, line))
            put_call(w, name, boundary, sums);
        else
            add_histogram(rest[line >= w->metrics->rows], sums);
    for (size_t i = 0; i < 2; i++)
        if (sum_buckets(rest[i]))
            put_call(w, other, mishap_text_of(i ? "mcp" : "http"), rest[i]);
}

/* -- errors ------------------------------------------------------------------------------------ */

/* The errors of all routes by code: the sums of their lines. */
static void put_errors(const struct writing *w)
{
    mishap_http_metrics *metrics = w->metrics;
    uint64_t sums[HISTOGRAM], sum, rest = 0;
    uint64_t *totals = mishap_allocate(metrics->places * sizeof *totals);
    if (!totals) {
        mishap_buffer_reserve(w->b, SIZE_MAX); /* makes the buffer fail */
        return;
    }
    memset(totals, 0, metrics->places * sizeof *totals);
    for (size_t row = 0; row < metrics->rows; row++)
        for (size_t i = 0; mishap_metric_sum_line(metrics, row, sums) && i < metrics->places; i++) {
            mishap_metric_sum_cells(metrics, metrics->errors + row * metrics->places + i, 1, &sum);
            totals[i] += sum;
        }
    for (size_t i = 0; i < metrics->places; i++) {
        const char *category;
        mishap_text code = code_of(metrics, i, &category);
        if (totals[i] && i < metrics->codes && !is_admitted(metrics, MISHAP_ADMIT_CODES, i)) {
            rest += totals[i];
            continue;
        }
        if (!totals[i])
            continue;
        put_string(w->b, w->row->name);
        put_label(w, 0, code);
        put_label(w, 1, mishap_text_of(category));
        put_count(w->b, totals[i]);
    }
    if (rest) {
        put_string(w->b, w->row->name);
        put_label(w, 0, other);
        put_label(w, 1, other);
        put_count(w->b, rest);
    }
    mishap_release(totals);
}

static void put_call_error(const struct writing *w, mishap_text name, mishap_text boundary,
                           mishap_text code, mishap_text category, uint64_t count)
{
    put_string(w->b, w->row->name);
    put_label(w, 0, name);
    put_label(w, 1, boundary);
    put_label(w, 2, code);
    put_label(w, 3, category);
    put_count(w->b, count);
}

static uint64_t put_errors_of(const struct writing *w, size_t line, mishap_text name,
                              mishap_text boundary)
{
    mishap_http_metrics *metrics = w->metrics;
    size_t first = line * metrics->places;
    uint64_t sum, rest = 0;
    for (size_t i = 0; i < metrics->places; i++) {
        const char *category;
        mishap_metric_sum_cells(metrics, metrics->errors + first + i, 1, &sum);
        if (!sum)
            continue;
        mishap_text code = code_of(metrics, i, &category);
        if (is_admitted(metrics, MISHAP_ADMIT_CALL_ERRORS, first + i))
            put_call_error(w, name, boundary, code, mishap_text_of(category), sum);
        else
            rest += sum;
    }
    return rest;
}

static void put_call_errors(const struct writing *w)
{
    uint64_t sums[HISTOGRAM], rest[2] = { 0, 0 };
    mishap_text name, boundary;
    for (size_t line = 0; line < w->metrics->lines; line++)
        if (find_call(w, line, &name, &boundary) && mishap_metric_sum_line(w->metrics, line, sums))
            rest[line >= w->metrics->rows] += put_errors_of(w, line, name, boundary);
    for (size_t i = 0; i < 2; i++)
        if (rest[i])
            put_call_error(w, other, mishap_text_of(i ? "mcp" : "http"), other, other, rest[i]);
}

/* -- everything else --------------------------------------------------------------------------- */

/* `label`: its value; no data: the metric has none. */
static void put_sample(const struct writing *w, mishap_text label, int64_t value)
{
    put_string(w->b, w->row->name);
    if (label.data)
        put_label(w, 0, label);
    mishap_buffer_put_text(w->b, mishap_text_of(label.data ? "} " : " "));
    if (w->row->nanoseconds)
        put_seconds(w->b, value > 0 ? (uint64_t)value : 0);
    else
        mishap_buffer_put_int(w->b, value);
    MISHAP_PUT(w->b, "\n");
}

static void put_roles(const struct writing *w, mishap_metric metric)
{
    for (size_t i = 0; i < MISHAP_ROLES; i++) {
        const struct mishap_metric_of_role *of = &w->metrics->roles[i];
        const int64_t values[] = { atomic_load(&of->processes), atomic_load(&of->cpu_ns),
                                   atomic_load(&of->memory), atomic_load(&of->files) };
        if (values[0] || values[1])
            put_sample(w, mishap_text_of(mishap_role_names[i]),
                       values[metric - MISHAP_METRIC_PROCESSES]);
    }
}

static void put_loops(const struct writing *w, mishap_metric metric)
{
    const mishap_http_metrics *metrics = w->metrics;
    for (size_t i = 0; i < metrics->counted.service_count; i++) {
        uint64_t sum = 0;
        SUM_MEMBER(sum, metrics, loops[metric - MISHAP_METRIC_WORKERS][i]);
        put_sample(w, mishap_text_of(metrics->counted.services[i]), (int64_t)sum);
    }
}

static void put_measured(const struct writing *w, mishap_metric metric)
{
    const mishap_metric_row *row = w->row;
    bool begun = false;
    for (size_t i = 0; w->measures && i < MISHAP_MEASURE_VALUES; i++) {
        if (!w->measures->of[metric].known[i])
            continue;
        if (!begun)
            put_family(w);
        begun = true;
        mishap_text label = { NULL, 0 };
        if (row->labels[0])
            label = mishap_text_of(row->values ? row->values[i] : w->metrics->counted.services[i]);
        put_sample(w, label, w->measures->of[metric].values[i]);
    }
}

/* A measure with a label that its metric does not have is ignored. */
void mishap_http_measure(mishap_http_measures *measures, mishap_metric metric, size_t label,
                         int64_t value)
{
    const mishap_metric_row *row = &mishap_metric_table[metric];
    size_t count = row->labels[0] && !row->values ? MISHAP_MEASURE_VALUES : 1;
    for (count = row->values ? 0 : count; row->values && row->values[count];)
        count++;
    if (label >= count || row->source != MISHAP_FROM_MEASURES)
        return;
    measures->of[metric].known[label] = true;
    measures->of[metric].values[label] = value;
}

static void put_counted(const struct writing *w, mishap_metric metric)
{
    put_family(w);
    switch (metric) {
    case MISHAP_METRIC_BUILD:
        put_string(w->b, w->row->name);
        put_label(w, 0, mishap_text_of(MISHAP_VERSION));
        put_count(w->b, 1);
        break;
    case MISHAP_METRIC_REQUESTS:
        put_requests(w);
        break;
    case MISHAP_METRIC_REQUEST_DURATION:
        put_durations(w);
        break;
    case MISHAP_METRIC_ERRORS:
        put_errors(w);
        break;
    case MISHAP_METRIC_CALL_ERRORS:
        put_call_errors(w);
        break;
    default:
        put_calls(w);
    }
}

static void put_gauge(const struct writing *w, mishap_metric metric)
{
    uint64_t sum = 0;
    SUM_MEMBER(sum, w->metrics, gauges[metric - MISHAP_METRIC_CONNECTIONS]);
    put_family(w);
    put_sample(w, (mishap_text){ NULL, 0 }, (int64_t)sum);
}

void mishap_http_metrics_put(mishap_buffer *b, mishap_http_metrics *metrics,
                             const mishap_http_routes *routes, const mishap_http_measures *measures)
{
    atomic_store(&metrics->asked_ns, mishap_clock_monotonic_ns());
    for (mishap_metric metric = 0; metric < MISHAP_METRICS; metric++) {
        struct writing w = { b, metrics, routes, measures, &mishap_metric_table[metric] };
        switch (w.row->source) {
        case MISHAP_FROM_COUNTERS:
            put_counted(&w, metric);
            break;
        case MISHAP_FROM_GAUGE:
            put_gauge(&w, metric);
            break;
        case MISHAP_FROM_ROLES:
            if (atomic_load(&metrics->sampled_ns)) {
                put_family(&w);
                put_roles(&w, metric);
            }
            break;
        case MISHAP_FROM_LOOPS:
            if (atomic_load(&metrics->told)) {
                put_family(&w);
                put_loops(&w, metric);
            }
            break;
        case MISHAP_FROM_MEASURES:
            put_measured(&w, metric);
        }
    }
}
