/* The table of all metrics, and the page of docs/ that is made from it. */
#include "server/metrics.h"

const char *const mishap_role_names[MISHAP_ROLES + 1] = {
    "supervisor", "loop", "keeper", "worker", "log", "index", "otlp", "other", NULL,
};
static const char *const stores[] = { "file", "server", "standby", NULL };
static const char *const kinds[] = { "whole", "compact", NULL };
static const char *const readers[] = { "index", "otlp", NULL };
static const char *const groups[] = { "new", "regressed", NULL };

#define BY_ROLE    .labels = { "role" }, .source = MISHAP_FROM_ROLES, .values = mishap_role_names
#define BY_SERVICE .labels = { "service" }

const mishap_metric_row mishap_metric_table[MISHAP_METRICS] = {
    [MISHAP_METRIC_BUILD] = { "mishap_build_info", "gauge", "Version of the running program.",
                              .labels = { "version" } },
    [MISHAP_METRIC_REQUESTS] = { "mishap_http_requests_total", "counter",
                                 "Total number of answered requests.",
                                 .labels = { "route", "method", "status" } },
    [MISHAP_METRIC_REQUEST_DURATION] = { "mishap_http_request_duration_seconds", "histogram",
                                         "Duration of requests, from the first byte of the request "
                                         "to the end of the response.",
                                         .labels = { "route" } },
    [MISHAP_METRIC_ERRORS] = { "mishap_errors_total", "counter",
                               "Total number of failed requests, by error code.",
                               .labels = { "code", "category" } },
    [MISHAP_METRIC_CALLS] = { "mishap_calls_total", "counter",
                              "Total number of calls of operations, refused ones included; with "
                              "boundary mcp those of tools, resources and prompts.",
                              .labels = { "operation", "boundary" } },
    [MISHAP_METRIC_CALL_DURATION] = { "mishap_call_duration_seconds", "histogram",
                                      "Duration of calls of operations.",
                                      .labels = { "operation", "boundary" } },
    [MISHAP_METRIC_CALL_ERRORS] = { "mishap_call_errors_total", "counter",
                                    "Total number of failed calls of operations; an MCP result "
                                    "with isError counts.",
                                    .labels = { "operation", "boundary", "code", "category" } },
    [MISHAP_METRIC_CONNECTIONS] = { "mishap_http_connections", "gauge",
                                    "Number of open connections.", .source = MISHAP_FROM_GAUGE },
    [MISHAP_METRIC_ACCEPTED] = { "mishap_http_connections_accepted_total", "counter",
                                 "Total number of accepted connections.",
                                 .source = MISHAP_FROM_GAUGE },
    [MISHAP_METRIC_IN_FLIGHT] = { "mishap_http_requests_in_flight", "gauge",
                                  "Number of requests whose handlers are running.",
                                  .source = MISHAP_FROM_GAUGE },
    [MISHAP_METRIC_CRASHES] = { "mishap_http_handler_crashes_total", "counter",
                                "Total number of handlers that crashed or ended their process.",
                                .source = MISHAP_FROM_GAUGE },
    [MISHAP_METRIC_LOOPS_BEGUN] = { "mishap_http_workers_started_total", "counter",
                                    "Total number of server processes that were started.",
                                    .source = MISHAP_FROM_GAUGE },
    [MISHAP_METRIC_RECEIVED_BYTES] = { "mishap_http_received_bytes_total", "counter",
                                       "Total number of bytes received.",
                                       .source = MISHAP_FROM_GAUGE },
    [MISHAP_METRIC_SENT_BYTES] = { "mishap_http_sent_bytes_total", "counter",
                                   "Total number of bytes sent.", .source = MISHAP_FROM_GAUGE },
    [MISHAP_METRIC_PROCESSES] = { "mishap_processes", "gauge", "Number of processes of the server.",
                                  BY_ROLE },
    [MISHAP_METRIC_PROCESS_CPU] = { "mishap_process_cpu_seconds_total", "counter",
                                    "CPU time of the processes of the server, ended ones included.",
                                    BY_ROLE, .nanoseconds = true },
    [MISHAP_METRIC_PROCESS_MEMORY] = { "mishap_process_resident_memory_bytes", "gauge",
                                       "Resident memory of the processes of the server; memory "
                                       "that "
                                       "several share counts for each.",
                                       BY_ROLE },
    [MISHAP_METRIC_PROCESS_FILES] = { "mishap_process_open_files", "gauge",
                                      "Number of files that the processes of the server have open.",
                                      BY_ROLE },
    [MISHAP_METRIC_WORKERS] = { "mishap_workers", "gauge",
                                "Number of worker processes that the loops use; one that several "
                                "loops use counts for each.",
                                BY_SERVICE, .source = MISHAP_FROM_LOOPS },
    [MISHAP_METRIC_WORKERS_BUSY] = { "mishap_workers_busy", "gauge",
                                     "Number of worker processes that have a call.", BY_SERVICE,
                                     .source = MISHAP_FROM_LOOPS },
    [MISHAP_METRIC_CALLS_WAITING] = { "mishap_calls_waiting", "gauge",
                                      "Number of calls that wait for a worker process.", BY_SERVICE,
                                      .source = MISHAP_FROM_LOOPS },
    [MISHAP_METRIC_SERVICE_READY] = { "mishap_service_ready", "gauge",
                                      "1 if the service works, 0 if it does not, as /ready says; "
                                      "absent if that is not known.",
                                      BY_SERVICE, .source = MISHAP_FROM_MEASURES },
    [MISHAP_METRIC_MCP_SESSIONS] = { "mishap_mcp_sessions", "gauge",
                                     "Number of MCP sessions, idle ones included.",
                                     .source = MISHAP_FROM_MEASURES },
    [MISHAP_METRIC_STORE_QUERIES] = { "mishap_store_queries_total", "counter",
                                      "Total number of queries to stores of services; those that a "
                                      "standby has run are also in `server`.",
                                      .labels = { "store" }, .source = MISHAP_FROM_MEASURES,
                                      .values = stores },
    [MISHAP_METRIC_STORE_FAILURES] = { "mishap_store_failures_total", "counter",
                                       "Total number of queries and transactions that failed for "
                                       "reasons of the store: lost, busy, full, damaged.",
                                       .labels = { "store" }, .source = MISHAP_FROM_MEASURES,
                                       .values = stores },
    [MISHAP_METRIC_INCIDENTS_WRITTEN] = { "mishap_incidents_written_total", "counter",
                                          "Total number of incidents in the journal: those with "
                                          "everything about them, and compact ones.",
                                          .labels = { "kind" }, .source = MISHAP_FROM_MEASURES,
                                          .values = kinds },
    [MISHAP_METRIC_INCIDENTS_LOST] = { "mishap_incidents_lost_total", "counter",
                                       "Total number of incidents for which there was no room.",
                                       .source = MISHAP_FROM_MEASURES },
    [MISHAP_METRIC_INCIDENT_WRITE_ERROR] = { "mishap_incident_write_error", "gauge",
                                             "errno of the last write to the journal; 0 if it "
                                             "succeeded.",
                                             .source = MISHAP_FROM_MEASURES },
    [MISHAP_METRIC_READER_STATE] = { "mishap_incident_reader_state", "gauge",
                                     "State of a reader of the journal: 0 off, 1 follows, 2 tries "
                                     "again, 3 refuses what a newer version has stored, 4 "
                                     "rebuilds.",
                                     .labels = { "reader" }, .source = MISHAP_FROM_MEASURES,
                                     .values = readers },
    [MISHAP_METRIC_READER_LAG] = { "mishap_incident_reader_lag_bytes", "gauge",
                                   "Bytes of the journal that a reader has not read yet.",
                                   .labels = { "reader" }, .source = MISHAP_FROM_MEASURES,
                                   .values = readers },
    [MISHAP_METRIC_READER_RECORDS] = { "mishap_incident_reader_records_total", "counter",
                                       "Total number of records that a reader has stored or sent.",
                                       .labels = { "reader" }, .source = MISHAP_FROM_MEASURES,
                                       .values = readers },
    [MISHAP_METRIC_READER_LOST] = { "mishap_incident_reader_lost_total", "counter",
                                    "Total number of torn or malformed lines, and of files that "
                                    "were rotated before a reader had read them.",
                                    .labels = { "reader" }, .source = MISHAP_FROM_MEASURES,
                                    .values = readers },
    [MISHAP_METRIC_INDEX_REBUILT] = { "mishap_incident_index_rebuilt_total", "counter",
                                      "Total number of files of the index that were damaged, and "
                                      "made again from the journal.",
                                      .source = MISHAP_FROM_MEASURES },
    [MISHAP_METRIC_OTLP_RETRIES] = { "mishap_incident_otlp_retries_total", "counter",
                                     "Total number of requests that the collector could not take, "
                                     "and that were sent again later.",
                                     .source = MISHAP_FROM_MEASURES },
    [MISHAP_METRIC_GROUPS] = { "mishap_incident_groups_total", "counter",
                               "Total number of groups of incidents that were new, or came back "
                               "after they were resolved.",
                               .labels = { "state" }, .source = MISHAP_FROM_MEASURES,
                               .values = groups },
};

/* -- the page ---------------------------------------------------------------------------------- */

static void put_string(mishap_buffer *b, const char *string)
{
    mishap_buffer_put_text(b, mishap_text_of(string));
}

static void put_labels(mishap_buffer *b, const mishap_metric_row *row)
{
    for (size_t i = 0; i < MISHAP_METRIC_LABELS && row->labels[i]; i++) {
        put_string(b, i ? ", `" : "`");
        put_string(b, row->labels[i]);
        put_string(b, "`");
    }
    for (size_t i = 0; row->values && row->values[i]; i++) {
        put_string(b, i ? ", " : ": ");
        put_string(b, row->values[i]);
    }
}

void mishap_metrics_put_page(mishap_buffer *page)
{
    put_string(
        page,
        "# Metrics\n"
        "\n"
        "A server tells its metrics at `GET /metrics`, in the text format of Prometheus. This page "
        "is "
        "made from the table in\n"
        "`src/server/metrics_table.c`; the test `metrics_page` fails if they differ.\n"
        "\n"
        "<!-- not run: numbers of one server -->\n"
        "```console\n"
        "$ curl -s localhost:8080/metrics | grep mishap_call_errors_total\n"
        "mishap_call_errors_total{operation=\"todos.get\",boundary=\"mcp\",code=\"NOT_FOUND\","
        "category=\"resource\"} 3\n"
        "```\n"
        "\n"
        "[grafana.json](grafana.json) is a dashboard of these metrics, [alerts.yml](alerts.yml) "
        "has "
        "alert rules, and [prometheus.yml](prometheus.yml)\n"
        "scrapes a server. Where callers need API keys, the scraper needs one, too.\n"
        "\n"
        "| name | type | labels | meaning |\n"
        "|---|---|---|---|\n");
    for (size_t i = 0; i < MISHAP_METRICS; i++) {
        const mishap_metric_row *row = &mishap_metric_table[i];
        put_string(page, "| `");
        put_string(page, row->name);
        put_string(page, "` | ");
        put_string(page, row->type);
        put_string(page, " | ");
        put_labels(page, row);
        put_string(page, " | ");
        put_string(page, row->help);
        put_string(page, " |\n");
    }
    put_string(page, "\n"
                     "- Values of labels come from declarations: operations, routes and services "
                     "of the program, "
                     "codes of the catalog. `route` is `*` for all paths that\n"
                     "  do not exist. `service` is `none` for operations without a service. "
                     "`boundary` is `http` "
                     "or `mcp`. No request can add a series\n"
                     "  without end: a server has at most 5,000 series. In a program with so many "
                     "operations that "
                     "this is not enough, those that are\n"
                     "  called last are added up under `other`.\n"
                     "- A series appears when it has been counted once. `mishap_incident_…` and "
                     "`mishap_process…` appear as soon as there is something to tell.\n"
                     "- Metrics by `role` are sampled every five seconds while the metrics are "
                     "being read, so the "
                     "first reading may have older ones.\n"
                     "- All processes of a server count together: any of them answers with the "
                     "metrics of all.\n");
}
