/*
 * The memory in which a server counts, for the files of the metrics alone.
 *
 * It has a shard for each thread that counts, so that counting takes neither a lock nor a locked
 * instruction; reading adds the shards up. When a process has exited, its shards keep their counts
 * and are used by the next process; only what it had open is subtracted.
 *
 * A shard is a run of cells. A *line* is what is counted with a duration: first each row of routes
 * (row 0: all unknown paths), then each operation, for its calls of MCP. A line has *variants*,
 * each with a histogram: those of a row are the statuses, those of a call success and failure. The
 * cells are: the histograms; a counter for each code of each line; a counter for each method and
 * status of each row; for each line the set of its variants that were used. The kernel allocates
 * the memory only when it is used, and lines and variants that were never used are skipped.
 */
#ifndef MISHAP_SERVER_METRICS_MEMORY_H
#define MISHAP_SERVER_METRICS_MEMORY_H

#include <stdatomic.h>

#include "base/life.h"
#include "server/server.h"

enum {
    MISHAP_METRIC_STATUSES = 53,
    MISHAP_METRIC_HIGHEST_STATUS = 599,
    MISHAP_METRIC_BUCKETS = 17,
    MISHAP_METRIC_SUM = MISHAP_METRIC_BUCKETS, /* the cell after the buckets: nanoseconds */
    MISHAP_METRIC_HISTOGRAM,                   /* cells of a histogram */
    MISHAP_METRIC_REQUEST_CELLS = MISHAP_HTTP_METHODS * MISHAP_METRIC_STATUSES,
    MISHAP_METRIC_SHARDS = 64, /* the first is shared by all threads that find no free one */
    MISHAP_METRIC_OF_LOOPS = MISHAP_METRIC_SERVICE_READY - MISHAP_METRIC_WORKERS,
};

/* The statuses that have a series of their own. All others share the first. */
extern const uint16_t mishap_metric_statuses[MISHAP_METRIC_STATUSES];

extern const struct mishap_metric_bucket {
    int64_t most_ns;
    const char *label;
} mishap_metric_buckets[MISHAP_METRIC_BUCKETS];

/* Families whose series are admitted one by one, so that there are never too many. A series that
 * was admitted stays, and one that was not never is: so no counter goes back. */
typedef enum mishap_metric_family {
    MISHAP_ADMIT_REQUESTS,    /* rows × methods × statuses */
    MISHAP_ADMIT_ROUTES,      /* histograms of rows */
    MISHAP_ADMIT_CODES,       /* codes */
    MISHAP_ADMIT_CALLS,       /* histograms of lines */
    MISHAP_ADMIT_CALL_ERRORS, /* lines × codes */
    MISHAP_ADMITS,
} mishap_metric_family;

typedef _Atomic uint64_t mishap_metric_cell;

struct mishap_metric_shard {
    mishap_metric_cell gauges[MISHAP_HTTP_GAUGES];
    mishap_metric_cell loops[MISHAP_METRIC_OF_LOOPS][MISHAP_METRIC_SERVICES];
    mishap_metric_cell cells[];
};

struct mishap_http_metrics {
    size_t size;       /* of the whole mapping, in bytes */
    size_t shards;     /* where the shards begin, in bytes */
    size_t shard_size; /* a multiple of the page size */
    size_t rows;       /* one for all unknown paths, then one for each route */
    size_t lines;      /* the rows, then the calls */
    size_t codes;      /* of all tables that existed */
    size_t places;     /* … and behind them one for all other codes of each category */
    size_t errors, requests, sets;  /* where they begin among the cells; histograms come first */
    size_t admitted[MISHAP_ADMITS]; /* where their states begin, in bytes */
    mishap_http_counted counted;
    uint8_t place_of[MISHAP_METRIC_HIGHEST_STATUS + 1];
    _Atomic mishap_life owners[MISHAP_METRIC_SHARDS]; /* 0: free */
    _Atomic bool used[MISHAP_METRIC_SHARDS];          /* it was used at some time */
    _Atomic uint32_t taken[MISHAP_ADMITS];            /* series that were admitted */
    _Atomic bool told;                                /* loops have told what they have */

    /* Processes, as the supervisor has sampled them. */
    _Atomic int64_t asked_ns, sampled_ns; /* the metrics were read; the last sample; 0: never */
    struct mishap_metric_of_role {
        _Atomic int64_t processes, cpu_ns, memory, files;
        _Atomic int64_t ended_cpu_ns; /* of processes that have ended */
    } roles[MISHAP_ROLES];
};

static inline struct mishap_metric_shard *mishap_metric_shard_at(const mishap_http_metrics *metrics,
                                                                 size_t index)
{
    uintptr_t start = (uintptr_t)metrics + metrics->shards;
    return (struct mishap_metric_shard *)(start + index * metrics->shard_size);
}

/* Where the histogram of a variant of a line begins among the cells. */
enum { MISHAP_METRIC_OUTCOMES = 2 }; /* variants of a call: success, failure */
static inline size_t mishap_metric_histogram_at(const mishap_http_metrics *metrics, size_t line,
                                                size_t variant)
{
    size_t slot = line < metrics->rows ? line * MISHAP_METRIC_STATUSES
                                       : metrics->rows * MISHAP_METRIC_STATUSES +
                                             (line - metrics->rows) * MISHAP_METRIC_OUTCOMES;
    return (slot + variant) * MISHAP_METRIC_HISTOGRAM;
}

/* Add up some cells of all shards that were ever used. */
void mishap_metric_sum_cells(const mishap_http_metrics *metrics, size_t first, size_t count,
                             uint64_t *sums);

/* The histogram of a line, all its variants together. Returns how often it was counted: the sum of
 * its buckets. */
uint64_t mishap_metric_sum_line(const mishap_http_metrics *metrics, size_t line,
                                uint64_t sums[MISHAP_METRIC_HISTOGRAM]);

#endif
