/*
 * Metrics: numbers about a server, in the text format of Prometheus.
 *
 * One table (metrics_table.c) has every metric: its name, type, labels and meaning. It decides what
 * is written, in which order, and what docs/metrics.md says.
 *
 * All loops count in memory that they share. The values of labels come from declarations alone:
 * routes, operations and services that exist (and one for all other paths), statuses that exist,
 * codes of the catalog, roles of processes. So no client can add a series without end. A program
 * with very many operations has MISHAP_METRIC_SERIES series at most: those that come later are
 * added up under "other".
 */
#ifndef MISHAP_SERVER_METRICS_H
#define MISHAP_SERVER_METRICS_H

#include "base/base.h"
#include "mishap/mishap.h"

typedef struct mishap_http_routes mishap_http_routes;
typedef struct mishap_http_metrics mishap_http_metrics;

enum { MISHAP_METRIC_SERIES = 5000 }; /* at most */

/* -- the table --------------------------------------------------------------------------------- */

typedef enum mishap_metric {
    MISHAP_METRIC_BUILD,
    MISHAP_METRIC_REQUESTS,
    MISHAP_METRIC_REQUEST_DURATION,
    MISHAP_METRIC_ERRORS,
    MISHAP_METRIC_CALLS,
    MISHAP_METRIC_CALL_DURATION,
    MISHAP_METRIC_CALL_ERRORS,
    MISHAP_METRIC_CONNECTIONS, /* from here to SENT_BYTES as in mishap_http_gauge */
    MISHAP_METRIC_ACCEPTED,
    MISHAP_METRIC_IN_FLIGHT,
    MISHAP_METRIC_CRASHES,
    MISHAP_METRIC_LOOPS_BEGUN,
    MISHAP_METRIC_RECEIVED_BYTES,
    MISHAP_METRIC_SENT_BYTES,
    MISHAP_METRIC_PROCESSES, /* from here by role */
    MISHAP_METRIC_PROCESS_CPU,
    MISHAP_METRIC_PROCESS_MEMORY,
    MISHAP_METRIC_PROCESS_FILES,
    MISHAP_METRIC_WORKERS, /* from here by service */
    MISHAP_METRIC_WORKERS_BUSY,
    MISHAP_METRIC_CALLS_WAITING,
    MISHAP_METRIC_SERVICE_READY,
    MISHAP_METRIC_MCP_SESSIONS,
    MISHAP_METRIC_STORE_QUERIES,
    MISHAP_METRIC_STORE_FAILURES,
    MISHAP_METRIC_INCIDENTS_WRITTEN,
    MISHAP_METRIC_INCIDENTS_LOST,
    MISHAP_METRIC_INCIDENT_WRITE_ERROR,
    MISHAP_METRIC_READER_STATE,
    MISHAP_METRIC_READER_LAG,
    MISHAP_METRIC_READER_RECORDS,
    MISHAP_METRIC_READER_LOST,
    MISHAP_METRIC_INDEX_REBUILT,
    MISHAP_METRIC_OTLP_RETRIES,
    MISHAP_METRIC_GROUPS,
    MISHAP_METRICS,
} mishap_metric;

/* Where the values of a metric come from. */
typedef enum mishap_metric_source {
    MISHAP_FROM_COUNTERS, /* it has code of its own in metrics_text.c */
    MISHAP_FROM_GAUGE,    /* a mishap_http_gauge */
    MISHAP_FROM_ROLES,    /* sampled by the supervisor */
    MISHAP_FROM_LOOPS,    /* told by each loop (mishap_http_tell_of_loop) */
    MISHAP_FROM_MEASURES, /* asked of extensions (mishap_http_measure) */
} mishap_metric_source;

enum { MISHAP_METRIC_LABELS = 4 }; /* of one metric, at most */

typedef struct mishap_metric_row {
    const char *name, *type, *help;
    const char *labels[MISHAP_METRIC_LABELS]; /* ends with NULL, if there are fewer */
    mishap_metric_source source;
    const char *const *values; /* of its one label, if they are constant; ends with NULL */
    bool nanoseconds;          /* the value is kept in nanoseconds and written in seconds */
} mishap_metric_row;

extern const mishap_metric_row mishap_metric_table[MISHAP_METRICS];

/* The roles of the processes of a server. A process that calls itself mishap-NAME has the role
 * NAME. */
typedef enum mishap_role {
    MISHAP_ROLE_SUPERVISOR,
    MISHAP_ROLE_LOOP,
    MISHAP_ROLE_KEEPER,
    MISHAP_ROLE_WORKER, /* processes that run handlers, and foreign programs */
    MISHAP_ROLE_LOG,
    MISHAP_ROLE_INDEX,
    MISHAP_ROLE_OTLP,
    MISHAP_ROLE_OTHER,
    MISHAP_ROLES,
} mishap_role;
extern const char *const mishap_role_names[MISHAP_ROLES + 1]; /* ends with NULL */

/* The page docs/metrics.md. */
void mishap_metrics_put_page(mishap_buffer *page);

/* -- what there is to count -------------------------------------------------------------------- */

/* The values of labels beside those of routes. Each list may be empty. The texts live as long as
 * the server. */
typedef struct mishap_http_counted {
    const char *const *calls; /* the names of operations */
    size_t call_count;
    const char *const *services;
    size_t service_count;
} mishap_http_counted;

enum { MISHAP_METRIC_SERVICES = 36 }; /* services at most; others are not counted */

/* For the supervisor, before it forks loops. */
mishap *mishap_http_metrics_make(const mishap_http_routes *routes,
                                 const mishap_http_counted *counted, mishap_http_metrics **out);
void mishap_http_metrics_free(mishap_http_metrics *metrics);

/* -- counting ---------------------------------------------------------------------------------- */

enum { MISHAP_HTTP_NO_ROUTE = -1 };

/* Count a request that was answered; `method` is a mishap_http_method. Called in any loop, without
 * a lock. */
void mishap_http_metrics_count(mishap_http_metrics *metrics, int64_t route, int method, int status,
                               const mishap_code *code, int64_t duration_ns);

/* Count a call of MCP: its place in the list of calls. */
void mishap_http_metrics_count_call(mishap_http_metrics *metrics, size_t call,
                                    const mishap_code *code, int64_t duration_ns);

/* Counters and gauges without labels. */
typedef enum mishap_http_gauge {
    MISHAP_HTTP_CONNECTIONS, /* open now */
    MISHAP_HTTP_ACCEPTED,    /* connections so far */
    MISHAP_HTTP_IN_FLIGHT,   /* requests whose handlers run now */
    MISHAP_HTTP_CRASHES,     /* handlers that crashed, or ended their process */
    MISHAP_HTTP_LOOPS_BEGUN, /* loops so far */
    MISHAP_HTTP_BYTES_RECEIVED,
    MISHAP_HTTP_BYTES_SENT,
    MISHAP_HTTP_GAUGES,
} mishap_http_gauge;
void mishap_http_metrics_add(mishap_http_metrics *metrics, mishap_http_gauge gauge, int64_t change);

/* What this thread has of something, for a service: replaces what it said before. */
void mishap_http_metrics_tell(mishap_http_metrics *metrics, mishap_metric metric, size_t service,
                              int64_t value);

/* A loop has ended, for any reason: subtract what it had open. For the supervisor, after it has
 * waited for that process. */
void mishap_http_metrics_gone(mishap_http_metrics *metrics, int process);

/* -- processes (metrics_processes.c) ----------------------------------------------------------- */

/* For the supervisor, which calls it often: sample the processes if the metrics were read lately
 * and the last sample is old. */
void mishap_http_metrics_look(mishap_http_metrics *metrics);

/* For the supervisor: a child has ended, and has used so much CPU time together with its own
 * children. */
void mishap_http_metrics_used(mishap_http_metrics *metrics, int pid, bool is_loop, int64_t cpu_ns);

/* -- numbers (metrics_read.c) ------------------------------------------------------------------ */

/* The durations of requests of one route that had one status; or those of calls of MCP of one
 * operation that succeeded, or that failed. */
enum { MISHAP_HTTP_BUCKETS = 17 };
typedef struct mishap_http_durations {
    const char *call;  /* the operation, of calls of MCP; NULL: these are requests */
    const char *route; /* "GET /users/:id"; NULL: paths that no route has */
    int status;        /* of requests; 0: one that is not counted by itself */
    bool failed;
    uint64_t counts[MISHAP_HTTP_BUCKETS];
    uint64_t sum_ns;
} mishap_http_durations;

/* The upper bound of a bucket, inclusive; INT64_MAX for the last one. */
int64_t mishap_http_bucket_ns(size_t bucket);

/* Read all durations so far. May be called in any process that shares the memory. */
void mishap_http_metrics_visit(const mishap_http_metrics *metrics, const mishap_http_routes *routes,
                               void (*each)(void *state, const mishap_http_durations *found),
                               void *state);

/* -- text -------------------------------------------------------------------------------------- */

/* What extensions know, for one text. Starts as { 0 }. */
enum { MISHAP_MEASURE_VALUES = 36 };
typedef struct mishap_http_measures {
    struct {
        bool known[MISHAP_MEASURE_VALUES];
        int64_t values[MISHAP_MEASURE_VALUES];
    } of[MISHAP_METRICS];
} mishap_http_measures;

/* The value of a metric for the label value at this index; 0 if the metric has no label. */
void mishap_http_measure(mishap_http_measures *measures, mishap_metric metric, size_t label,
                         int64_t value);

/* Prometheus text, exposition format 0.0.4. `measures` may be NULL. */
void mishap_http_metrics_put(mishap_buffer *buffer, mishap_http_metrics *metrics,
                             const mishap_http_routes *routes,
                             const mishap_http_measures *measures);

#endif
