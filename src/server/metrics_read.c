/* Reading what was counted: as numbers, for the text of Prometheus and for other exporters. */
#include "server/metrics_memory.h"

typedef mishap_metric_cell cell;

enum { HISTOGRAM = MISHAP_METRIC_HISTOGRAM, VARIANTS = 64 };

_Static_assert((int)MISHAP_METRIC_BUCKETS == (int)MISHAP_HTTP_BUCKETS, "as other readers know it");

void mishap_metric_sum_cells(const mishap_http_metrics *metrics, size_t first, size_t count,
                             uint64_t *sums)
{
    memset(sums, 0, count * sizeof *sums);
    for (size_t shard = 0; shard < MISHAP_METRIC_SHARDS; shard++) {
        if (!atomic_load(&metrics->used[shard]))
            continue;
        const cell *cells = mishap_metric_shard_at(metrics, shard)->cells + first;
        for (size_t i = 0; i < count; i++)
            sums[i] += atomic_load_explicit(&cells[i], memory_order_relaxed);
    }
}

/* The variants of a line that were used, in any shard. */
static uint64_t set_of_line(const mishap_http_metrics *metrics, size_t line)
{
    uint64_t set = 0;
    for (size_t shard = 0; shard < MISHAP_METRIC_SHARDS; shard++)
        if (atomic_load(&metrics->used[shard]))
            set |= atomic_load_explicit(
                &mishap_metric_shard_at(metrics, shard)->cells[metrics->sets + line],
                memory_order_relaxed);
    return set;
}

static uint64_t sum_variant(const mishap_http_metrics *metrics, size_t line, size_t variant,
                            uint64_t sums[HISTOGRAM])
{
    uint64_t total = 0;
    mishap_metric_sum_cells(metrics, mishap_metric_histogram_at(metrics, line, variant), HISTOGRAM,
                            sums);
    for (size_t i = 0; i < MISHAP_METRIC_BUCKETS; i++)
        total += sums[i];
    return total;
}

uint64_t mishap_metric_sum_line(const mishap_http_metrics *metrics, size_t line,
                                uint64_t sums[HISTOGRAM])
{
    uint64_t total = 0, set = set_of_line(metrics, line), some[HISTOGRAM];
    memset(sums, 0, HISTOGRAM * sizeof *sums);
    for (size_t variant = 0; variant < VARIANTS && set >> variant; variant++) {
        if (!(set >> variant & 1))
            continue;
        total += sum_variant(metrics, line, variant, some);
        for (size_t i = 0; i < HISTOGRAM; i++)
            sums[i] += some[i];
    }
    return total;
}

int64_t mishap_http_bucket_ns(size_t bucket)
{
    return mishap_metric_buckets[bucket].most_ns;
}

/* One variant of a line, as others see it. */
static mishap_http_durations describe(const mishap_http_metrics *metrics,
                                      const mishap_http_routes *routes, size_t line, size_t variant)
{
    mishap_http_durations found = { 0 };
    if (line >= metrics->rows) {
        found.call = metrics->counted.calls[line - metrics->rows];
        found.failed = variant;
    } else {
        found.route = line ? mishap_http_route_text(routes, line - 1) : NULL;
        found.status = mishap_metric_statuses[variant];
        found.failed = found.status >= 400;
    }
    return found;
}

void mishap_http_metrics_visit(const mishap_http_metrics *metrics, const mishap_http_routes *routes,
                               void (*each)(void *state, const mishap_http_durations *found),
                               void *state)
{
    uint64_t sums[HISTOGRAM];
    for (size_t line = 0; line < metrics->lines; line++) {
        uint64_t set = set_of_line(metrics, line);
        for (size_t variant = 0; variant < VARIANTS && set >> variant; variant++) {
            if (!(set >> variant & 1) || !sum_variant(metrics, line, variant, sums))
                continue;
            mishap_http_durations found = describe(metrics, routes, line, variant);
            memcpy(found.counts, sums, sizeof found.counts);
            found.sum_ns = sums[MISHAP_METRIC_SUM];
            each(state, &found);
        }
    }
}
