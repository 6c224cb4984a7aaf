/* Counters of the HTTP boundary, and the text that Prometheus reads. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "routes_of.h"
#include "own_codes.h"
#include "testing.h"

static mishap *run(mishap_call *call)
{
    return mishap_answer(call, NULL);
}

static const mishap_operation operations[] = {
    { "users.create", "Create a user", NULL, run, .route = "POST /users",
      .danger = MISHAP_MUTATING },
    { "users.list", "List users", NULL, run, .route = "GET /users" },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };
static const mishap_http_endpoint endpoints[] = {
    { .route = "GET /health", .name = "health" },
    { .route = "GET /odd", .name = "a \"b\"\\c\nd" },
    { 0 },
};
enum { CREATE, LIST, HEALTH, ODD };

static mishap_http_routes *routes;
static mishap_http_metrics *metrics;
static const mishap_http_measures *measures; /* NULL: none */

static const char *const call_names[] = { "users.create", "users.list" };
static const char *const services[] = { "todo", "none" };
static const mishap_http_counted counted = { call_names, 2, services, 2 };

static int begin(void **state)
{
    (void)state;
    assert_null(routes_of(&app, false, endpoints, &routes));
    assert_null(mishap_http_metrics_make(routes, &counted, &metrics));
    return 0;
}

static int end(void **state)
{
    (void)state;
    mishap_http_metrics_free(metrics);
    mishap_http_routes_free(routes);
    return 0;
}

static void count(int64_t route, mishap_http_method method, int status, const mishap_code *code,
                  int64_t duration_ns)
{
    mishap_http_metrics_count(metrics, route, method, status, code, duration_ns);
}

/* -- a strict reader of the format ------------------------------------------------------------- */

enum { MOST_SERIES = 6000 };

struct series {
    char name[64];    /* of the sample */
    char labels[300]; /* between the braces, as it stands */
    double value;
};

static struct series series[MOST_SERIES];
static size_t series_count;

static size_t skip_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strspn(text, letters);
    assert_true(length > 0 && !(text[0] >= '0' && text[0] <= '9'));
    return length;
}

/* name="value",name="value" up to the brace; what is not an escape of the format is refused. */
static const char *skip_labels(const char *at)
{
    for (;;) {
        at += skip_name(at);
        assert_memory_equal(at, "=\"", 2);
        for (at += 2; *at != '"'; at++) {
            assert_true(*at && *at != '\n');
            if (*at == '\\') {
                at++;
                assert_true(*at == '\\' || *at == '"' || *at == 'n');
            }
        }
        at++;
        if (*at == '}')
            return at;
        assert_int_equal(*at++, ',');
    }
}

static void read_sample(const char *line, const char *family, const char *type)
{
    assert_true(series_count < MOST_SERIES);
    struct series *s = &series[series_count];
    size_t length = skip_name(line);
    snprintf(s->name, sizeof s->name, "%.*s", (int)length, line);
    s->labels[0] = '\0';
    size_t stem = strlen(family);
    assert_memory_equal(s->name, family, stem);
    const char *suffix = s->name + stem;
    if (strcmp(type, "histogram") == 0)
        assert_true(!strcmp(suffix, "_bucket") || !strcmp(suffix, "_sum") ||
                    !strcmp(suffix, "_count"));
    else
        assert_string_equal(suffix, "");
    if (strcmp(type, "counter") == 0)
        assert_string_equal(s->name + length - strlen("_total"), "_total");
    const char *at = line + length;
    if (*at == '{') {
        const char *stop = skip_labels(at + 1);
        assert_true((size_t)(stop - at) < sizeof s->labels);
        snprintf(s->labels, sizeof s->labels, "%.*s", (int)(stop - at - 1), at + 1);
        at = stop + 1;
    }
    assert_int_equal(*at++, ' ');
    char *stop;
    s->value = strtod(at, &stop);
    assert_true(stop > at && *stop == '\n');
    for (size_t i = 0; i < series_count; i++)
        assert_false(!strcmp(series[i].name, s->name) && !strcmp(series[i].labels, s->labels));
    series_count++;
}

/* Each family: HELP, TYPE, its samples, and never again. */
static void read_metrics(const char *text)
{
    char family[64] = "", type[16] = "", seen[4096] = " ";
    series_count = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_non_null(strchr(line, '\n'));
        if (*line != '#') {
            assert_true(type[0]);
            read_sample(line, family, type);
            continue;
        }
        char name[64], wanted[66];
        int end_of_name = 0;
        assert_int_equal(sscanf(line, "# HELP %63s %n", name, &end_of_name), 1);
        assert_true(end_of_name && line[end_of_name] != '\n');
        snprintf(wanted, sizeof wanted, " %s ", name);
        assert_null(strstr(seen, wanted));
        strncat(seen, wanted + 1, sizeof seen - strlen(seen) - 1);
        snprintf(family, sizeof family, "%s", name);
        line = strchr(line, '\n') + 1;
        assert_int_equal(sscanf(line, "# TYPE %63s %15s\n", name, type), 2);
        assert_string_equal(name, family);
        assert_true(!strcmp(type, "counter") || !strcmp(type, "gauge") ||
                    !strcmp(type, "histogram"));
    }
}

/* NAN if there is no such series. */
static double value_of(const char *name, const char *labels)
{
    for (size_t i = 0; i < series_count; i++)
        if (!strcmp(series[i].name, name) && !strcmp(series[i].labels, labels))
            return series[i].value;
    return NAN;
}

#define ASSERT_SERIES(name, labels, expected)                                                      \
    assert_true(fabs(value_of(name, labels) - (expected)) < 1e-12)
#define ASSERT_NO_SERIES(name, labels) assert_true(isnan(value_of(name, labels)))

static char *text_of_metrics(void)
{
    mishap_buffer buffer = { 0 };
    mishap_http_metrics_put(&buffer, metrics, routes, measures);
    mishap_buffer_add(&buffer, "", 1);
    assert_false(buffer.failed);
    char *text = strdup(buffer.data);
    mishap_buffer_release(&buffer);
    return text;
}

static void read_all(void)
{
    char *text = text_of_metrics();
    read_metrics(text);
    free(text);
}

/* All series of this name together. */
static double total_of(const char *name)
{
    double total = 0;
    for (size_t i = 0; i < series_count; i++)
        total += strcmp(series[i].name, name) == 0 ? series[i].value : 0;
    return total;
}

/* -- counting ---------------------------------------------------------------------------------- */

static void before_the_first_request_there_are_gauges_only(void **state)
{
    (void)state;
    read_all();
    assert_int_equal(series_count, 1 + MISHAP_HTTP_GAUGES);
    assert_true(total_of("mishap_build_info") == 1);
    ASSERT_SERIES("mishap_http_connections", "", 0);
}

static void a_request_is_counted_by_route_method_and_status(void **state)
{
    (void)state;
    count(CREATE, MISHAP_HTTP_POST, 201, NULL, 1000);
    count(CREATE, MISHAP_HTTP_POST, 201, NULL, 1000);
    count(LIST, MISHAP_HTTP_HEAD, 200, NULL, 1000);
    count(MISHAP_HTTP_NO_ROUTE, MISHAP_HTTP_GET, 404, MISHAP_CODE_NOT_FOUND, 1000);
    read_all();
    ASSERT_SERIES("mishap_http_requests_total",
                  "route=\"users.create\",method=\"POST\",status=\"201\"", 2);
    ASSERT_SERIES("mishap_http_requests_total",
                  "route=\"users.list\",method=\"HEAD\",status=\"200\"", 1);
    ASSERT_SERIES("mishap_http_requests_total", "route=\"*\",method=\"GET\",status=\"404\"", 1);
    assert_int_equal((int)total_of("mishap_http_requests_total"), 4);
    ASSERT_NO_SERIES("mishap_http_request_duration_seconds_count", "route=\"health\"");
}

static void durations_fall_into_buckets_with_their_bounds(void **state)
{
    (void)state;
    count(LIST, MISHAP_HTTP_GET, 200, NULL, 100000);      /* exactly 0.1 ms */
    count(LIST, MISHAP_HTTP_GET, 200, NULL, 100001);      /* a little more */
    count(LIST, MISHAP_HTTP_GET, 200, NULL, 10000000000); /* exactly 10 s */
    count(LIST, MISHAP_HTTP_GET, 200, NULL, 11000000000);
    count(LIST, MISHAP_HTTP_GET, 200, NULL, -5); /* clocks do odd things */
    read_all();
#define BUCKET(le, expected)                                                                       \
    ASSERT_SERIES("mishap_http_request_duration_seconds_bucket",                                   \
                  "route=\"users.list\",le=\"" le "\"", expected)
    BUCKET("0.0001", 2);
    BUCKET("0.00025", 3);
    BUCKET("5", 3);
    BUCKET("10", 4);
    BUCKET("+Inf", 5);
    ASSERT_SERIES("mishap_http_request_duration_seconds_count", "route=\"users.list\"", 5);
    ASSERT_SERIES("mishap_http_request_duration_seconds_sum", "route=\"users.list\"", 21.000200001);
}

static void failures_are_counted_by_code_and_category(void **state)
{
    (void)state;
    static const mishap_code own = { .name = MISHAP_TEXT("OUT_OF_TEA"),
                                     .category = MISHAP_RESOURCE };
    const mishap_code *first = mishap_code_table.codes[0];
    const mishap_code *last = mishap_code_table.codes[mishap_code_table.count - 1];
    count(LIST, MISHAP_HTTP_GET, first->http_status, first, 1);
    count(LIST, MISHAP_HTTP_GET, last->http_status, last, 1);
    count(LIST, MISHAP_HTTP_GET, 500, MISHAP_CODE_INTERNAL_ERROR, 1);
    count(LIST, MISHAP_HTTP_GET, 418, &own, 1);
    count(LIST, MISHAP_HTTP_GET, 418, &own, 1);
    read_all();
    char labels[128];
    snprintf(labels, sizeof labels, "code=\"%s\",category=\"%s\"", first->name.data,
             mishap_category_name(first->category));
    ASSERT_SERIES("mishap_errors_total", labels, 1);
    snprintf(labels, sizeof labels, "code=\"%s\",category=\"%s\"", last->name.data,
             mishap_category_name(last->category));
    ASSERT_SERIES("mishap_errors_total", labels, 1);
    ASSERT_SERIES("mishap_errors_total", "code=\"INTERNAL_ERROR\",category=\"system\"", 1);
    ASSERT_SERIES("mishap_errors_total", "code=\"other\",category=\"resource\"", 2);
}

/* A table that shares a name with the built-in one: its rows are found there. */
static const mishap_code shared_codes[] = {
    { .name = MISHAP_TEXT("NOT_FOUND"), .category = MISHAP_EXECUTION },
    { .name = MISHAP_TEXT("TEAPOT_HOT"), .category = MISHAP_EXECUTION },
};
static const uint16_t by_length[] = { 0, 1 };
static const mishap_code *const shared_rows[] = { &shared_codes[0], &shared_codes[1] };
static const mishap_catalog_index by_name = { by_length, 2 };
static mishap_catalog shared_table = {
    .name = "shared", .codes = shared_rows, .count = 2, .index = &by_name, .spellings = 1
};

static void own_codes_have_series_of_their_own(void **state)
{
    (void)state;
    const mishap_code *last = own_code_table.codes[own_code_table.count - 1];
    mishap_code restored = { .name = own_code_table.codes[0]->name, .category = MISHAP_SYSTEM };
    count(LIST, MISHAP_HTTP_GET, 503, MISHAP_CODE_OVEN_OFFLINE, 1); /* not known yet */
    mishap_catalog_add(&own_code_table);
    count(LIST, MISHAP_HTTP_GET, 503, MISHAP_CODE_OVEN_OFFLINE, 1); /* known too late */
    read_all();
    ASSERT_SERIES("mishap_errors_total", "code=\"other\",category=\"system\"", 2);
    end(NULL);
    mishap_catalog_add(&shared_table);
    begin(NULL);
    count(LIST, MISHAP_HTTP_GET, 503, MISHAP_CODE_OVEN_OFFLINE, 1);
    count(LIST, MISHAP_HTTP_GET, 500, last, 1);
    count(LIST, MISHAP_HTTP_GET, 422, &restored, 1); /* by its name, wherever the row is */
    count(LIST, MISHAP_HTTP_GET, 404, MISHAP_CODE_NOT_FOUND, 1);
    count(LIST, MISHAP_HTTP_GET, 404, &shared_codes[0], 1);
    count(LIST, MISHAP_HTTP_GET, 500, &shared_codes[1], 1);
    read_all();
    ASSERT_SERIES("mishap_errors_total", "code=\"OVEN_OFFLINE\",category=\"system\"", 1);
    ASSERT_SERIES("mishap_errors_total", "code=\"KITCHEN_FIRE\",category=\"system\"", 1);
    ASSERT_SERIES("mishap_errors_total", "code=\"CART_EMPTY\",category=\"validation\"", 1);
    ASSERT_SERIES("mishap_errors_total", "code=\"NOT_FOUND\",category=\"resource\"", 2);
    ASSERT_SERIES("mishap_errors_total", "code=\"TEAPOT_HOT\",category=\"execution\"", 1);
    assert_int_equal((int)total_of("mishap_errors_total"), 6);
}

static void names_of_routes_are_escaped(void **state)
{
    (void)state;
    count(ODD, MISHAP_HTTP_GET, 200, NULL, 1);
    read_all();
    ASSERT_SERIES("mishap_http_requests_total",
                  "route=\"a \\\"b\\\"\\\\c\\nd\",method=\"GET\",status=\"200\"", 1);
}

struct visited {
    size_t count;
    mishap_http_durations found[10];
};

static void keep_visited(void *state, const mishap_http_durations *found)
{
    struct visited *all = state;
    assert_true(all->count < 10);
    all->found[all->count++] = *found;
}

/* Other exporters read numbers: requests by status, calls of MCP by outcome. */
static void durations_are_read_by_status_and_outcome(void **state)
{
    struct visited all = { 0 };
    (void)state;
    mishap_http_metrics_visit(metrics, routes, keep_visited, &all);
    assert_int_equal(all.count, 0);
    count(LIST, MISHAP_HTTP_GET, 200, NULL, 200000);
    count(LIST, MISHAP_HTTP_GET, 200, NULL, 300000);
    count(LIST, MISHAP_HTTP_GET, 404, MISHAP_CODE_NOT_FOUND, 100);
    count(-1, MISHAP_HTTP_GET, 999, NULL, INT64_C(20000000000));
    mishap_http_metrics_count_call(metrics, 1, NULL, 5);
    mishap_http_metrics_count_call(metrics, 1, MISHAP_CODE_NOT_FOUND, 7);
    mishap_http_metrics_visit(metrics, routes, keep_visited, &all);
    assert_int_equal(all.count, 5);
    const mishap_http_durations *f = all.found;
    assert_true(!f[0].call && !f[0].route && f[0].status == 0);
    assert_int_equal(f[0].counts[MISHAP_HTTP_BUCKETS - 1], 1);
    assert_string_equal(f[1].route, mishap_http_route_text(routes, LIST));
    assert_true(f[1].status == 200 && !f[1].failed && f[1].counts[1] == 1 && f[1].counts[2] == 1);
    assert_int_equal(f[1].sum_ns, 500000);
    assert_true(f[2].status == 404 && f[2].failed && f[2].counts[0] == 1);
    assert_string_equal(f[3].call, "users.list");
    assert_true(!f[3].failed && f[3].counts[0] == 1 && f[3].sum_ns == 5);
    assert_true(f[4].call == f[3].call && f[4].failed && f[4].sum_ns == 7);
    assert_int_equal(mishap_http_bucket_ns(0), 100000);
    assert_int_equal(mishap_http_bucket_ns(MISHAP_HTTP_BUCKETS - 1), INT64_MAX);
}

static void gauges_go_up_and_down(void **state)
{
    (void)state;
    mishap_http_metrics_add(metrics, MISHAP_HTTP_CONNECTIONS, 3);
    mishap_http_metrics_add(metrics, MISHAP_HTTP_CONNECTIONS, -1);
    mishap_http_metrics_add(metrics, MISHAP_HTTP_BYTES_SENT, INT64_C(5000000000));
    read_all();
    ASSERT_SERIES("mishap_http_connections", "", 2);
    ASSERT_SERIES("mishap_http_sent_bytes_total", "", 5e9);
}

/* For all requests, the number of series is bounded. */
static void no_request_can_make_series_without_end(void **state)
{
    (void)state;
    for (int i = 0; i < 10000; i++) {
        count(i * 7919 - 5000, (mishap_http_method)(i % 31), i * 13 - 20000, NULL, i);
        count(INT64_MAX - i, (mishap_http_method)-i, INT32_MIN + i, NULL, INT64_MAX);
        count(INT64_MIN + i, MISHAP_HTTP_OTHER, 1000 + i, NULL, INT64_MIN);
    }
    read_all();
    assert_int_equal((int)total_of("mishap_http_requests_total"), 30000);
    assert_true(value_of("mishap_http_requests_total",
                         "route=\"*\",method=\"OTHER\",status=\"other\"") > 10000);
    /* Five rows, eight methods and 53 statuses would be all. */
    assert_true(series_count < 700);
}

static pid_t start(void (*work)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        work();
        _exit(0);
    }
    return child;
}

static void await(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGKILL);
}

/* -- calls ------------------------------------------------------------------------------------- */

static void calls_are_counted_by_operation_and_boundary(void **state)
{
    (void)state;
    count(LIST, MISHAP_HTTP_GET, 200, NULL, 1000000);
    count(LIST, MISHAP_HTTP_GET, 404, MISHAP_CODE_NOT_FOUND, 1000000);
    count(HEALTH, MISHAP_HTTP_GET, 200, NULL, 1);
    count(MISHAP_HTTP_NO_ROUTE, MISHAP_HTTP_GET, 404, MISHAP_CODE_NOT_FOUND, 1);
    mishap_http_metrics_count_call(metrics, 1, NULL, 3000000000);
    mishap_http_metrics_count_call(metrics, 1, MISHAP_CODE_TIMEOUT, 1);
    mishap_http_metrics_count_call(metrics, 0, MISHAP_CODE_INTERNAL_ERROR, 1);
    mishap_http_metrics_count_call(metrics, 2, MISHAP_CODE_INTERNAL_ERROR, 1); /* no operation */
    mishap_http_metrics_count_call(metrics, SIZE_MAX, NULL, 1);
    read_all();
    ASSERT_SERIES("mishap_calls_total", "operation=\"users.list\",boundary=\"http\"", 2);
    ASSERT_SERIES("mishap_calls_total", "operation=\"users.list\",boundary=\"mcp\"", 2);
    ASSERT_SERIES("mishap_calls_total", "operation=\"users.create\",boundary=\"mcp\"", 1);
    assert_int_equal((int)total_of("mishap_calls_total"), 5);
    ASSERT_SERIES("mishap_call_duration_seconds_sum", "operation=\"users.list\",boundary=\"http\"",
                  0.002);
    ASSERT_SERIES("mishap_call_duration_seconds_bucket",
                  "operation=\"users.list\",boundary=\"mcp\",le=\"2.5\"", 1);
    ASSERT_SERIES("mishap_call_duration_seconds_count", "operation=\"users.list\",boundary=\"mcp\"",
                  2);
#define CALL_ERROR(operation, boundary, code, category, expected)                                  \
    ASSERT_SERIES("mishap_call_errors_total",                                                      \
                  "operation=\"" operation "\",boundary=\"" boundary "\",code=\"" code             \
                  "\",category=\"" category "\"",                                                  \
                  expected)
    CALL_ERROR("users.list", "http", "NOT_FOUND", "resource", 1);
    CALL_ERROR("users.list", "mcp", "TIMEOUT", "execution", 1);
    CALL_ERROR("users.create", "mcp", "INTERNAL_ERROR", "system", 1);
    assert_int_equal((int)total_of("mishap_call_errors_total"), 3);
    /* Of requests, as before: those of unknown paths are among them. */
    ASSERT_SERIES("mishap_errors_total", "code=\"NOT_FOUND\",category=\"resource\"", 2);
    assert_int_equal((int)total_of("mishap_errors_total"), 2);
}

static void tell_and_die(void)
{
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_WORKERS, 0, 8);
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_WORKERS_BUSY, 0, 3);
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_CALLS_WAITING, 1, 5);
    kill(getpid(), SIGKILL);
}

static void what_loops_have_is_added_up_and_ends_with_them(void **state)
{
    (void)state;
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_WORKERS, 0, 100);
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_WORKERS, 0, 2); /* instead */
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_WORKERS, 2, 9); /* no service */
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_CONNECTIONS, 0, 9);
    mishap_http_metrics_tell(metrics, MISHAP_METRIC_SERVICE_READY, 0, 9);
    pid_t child = start(tell_and_die);
    await(child);
    read_all();
    ASSERT_SERIES("mishap_workers", "service=\"todo\"", 10);
    ASSERT_SERIES("mishap_workers_busy", "service=\"todo\"", 3);
    ASSERT_SERIES("mishap_calls_waiting", "service=\"none\"", 5);
    mishap_http_metrics_gone(metrics, child);
    read_all();
    ASSERT_SERIES("mishap_workers", "service=\"todo\"", 2);
    ASSERT_SERIES("mishap_calls_waiting", "service=\"none\"", 0);
    ASSERT_SERIES("mishap_http_connections", "", 0);
}

static void extensions_add_what_the_table_has(void **state)
{
    static mishap_http_measures told;
    (void)state;
    told = (mishap_http_measures){ 0 };
    mishap_http_measure(&told, MISHAP_METRIC_MCP_SESSIONS, 0, 7);
    mishap_http_measure(&told, MISHAP_METRIC_MCP_SESSIONS, 1, 8); /* it has no label */
    mishap_http_measure(&told, MISHAP_METRIC_GROUPS, 1, 3);
    mishap_http_measure(&told, MISHAP_METRIC_GROUPS, 2, 4); /* no such value */
    mishap_http_measure(&told, MISHAP_METRIC_SERVICE_READY, 0, 1);
    mishap_http_measure(&told, MISHAP_METRIC_REQUESTS, 0, 4); /* it is counted */
    measures = &told;
    read_all();
    measures = NULL;
    ASSERT_SERIES("mishap_mcp_sessions", "", 7);
    ASSERT_SERIES("mishap_incident_groups_total", "state=\"regressed\"", 3);
    ASSERT_SERIES("mishap_service_ready", "service=\"todo\"", 1);
    assert_int_equal((int)series_count, 1 + MISHAP_HTTP_GAUGES + 3);
}

/* -- many operations --------------------------------------------------------------------------- */

enum { OPERATIONS = 1500 };

/* Everything that can be counted in a program with very many operations. */
static void count_everything(mishap_http_metrics *to, int times)
{
    for (int64_t i = -1; i < OPERATIONS; i++)
        for (size_t code = 0; code < mishap_code_table.count; code += 7)
            for (int method = 0; method < MISHAP_HTTP_METHODS; method += 3)
                for (int k = 0; k < times; k++) {
                    const mishap_code *failed = mishap_code_table.codes[code];
                    mishap_http_metrics_count(to, i, method, failed->http_status, failed, 1000);
                    mishap_http_metrics_count_call(to, (size_t)i, failed, 1000);
                }
}

static void measure_everything(mishap_http_measures *told)
{
    for (mishap_metric metric = 0; metric < MISHAP_METRICS; metric++)
        for (size_t i = 0; i < MISHAP_MEASURE_VALUES; i++)
            mishap_http_measure(told, metric, i, 1);
}

static struct series earlier[MOST_SERIES];

/* The limit holds, no counter goes back, and all is there: by itself or under other. */
static void a_program_with_many_operations_has_a_limit_of_series(void **state)
{
    static mishap_operation list[OPERATIONS + 1];
    static char names[OPERATIONS][16], paths[OPERATIONS][32],
        service_names[MISHAP_METRIC_SERVICES][16];
    static const char *all[OPERATIONS], *all_services[MISHAP_METRIC_SERVICES];
    static mishap_http_measures told;
    (void)state;
    for (size_t i = 0; i < OPERATIONS; i++) {
        snprintf(names[i], sizeof names[i], "op.n%zu", i);
        snprintf(paths[i], sizeof paths[i], "GET /n%zu", i);
        list[i] = (mishap_operation){ .name = names[i], .run = run, .route = paths[i] };
        all[i] = names[i];
    }
    for (size_t i = 0; i < MISHAP_METRIC_SERVICES; i++) {
        snprintf(service_names[i], sizeof service_names[i], "s%zu", i);
        all_services[i] = service_names[i];
    }
    const mishap_app large = { .name = "large", .operations = list };
    const mishap_http_counted everything = { all, OPERATIONS, all_services,
                                             MISHAP_METRIC_SERVICES };
    end(NULL);
    assert_null(routes_of(&large, false, NULL, &routes));
    assert_null(mishap_http_metrics_make(routes, &everything, &metrics));
    measure_everything(&told);
    measures = &told;
    for (size_t i = 0; i < MISHAP_METRIC_SERVICES; i++)
        mishap_http_metrics_tell(metrics, MISHAP_METRIC_WORKERS, i, 1);
    mishap_http_metrics_look(metrics);
    mishap_http_metrics_count(metrics, 700, MISHAP_HTTP_GET, 200, NULL, 1); /* it comes first */
    read_all();
    size_t before = series_count;
    memcpy(earlier, series, sizeof earlier);
    mishap_http_metrics_look(metrics);
    for (int round = 1; round <= 2; round++) {
        count_everything(metrics, round);
        read_all();
        assert_true(series_count <= MISHAP_METRIC_SERIES);
        for (size_t i = 0; i < before; i++)
            assert_true(value_of(earlier[i].name, earlier[i].labels) >= earlier[i].value);
        before = series_count;
        memcpy(earlier, series, sizeof earlier);
    }
    ASSERT_SERIES("mishap_http_requests_total", "route=\"op.n700\",method=\"GET\",status=\"200\"",
                  1);
    double requests = total_of("mishap_http_requests_total");
    assert_true(requests > 100000);
    assert_true(total_of("mishap_http_request_duration_seconds_count") == requests);
    assert_true(total_of("mishap_errors_total") == requests - 1);
    assert_true(total_of("mishap_calls_total") == total_of("mishap_call_duration_seconds_count"));
    assert_true(total_of("mishap_call_errors_total") == total_of("mishap_calls_total") - 1);
    assert_true(value_of("mishap_calls_total", "operation=\"other\",boundary=\"mcp\"") > 0);
    assert_true(value_of("mishap_calls_total", "operation=\"other\",boundary=\"http\"") > 0);
    measures = NULL;
    print_message("# %zu series\n", series_count);
}

/* -- roles ------------------------------------------------------------------------------------- */

/* This process is the supervisor, and has a child of each kind. */
static void the_processes_of_a_server_are_told_by_their_roles(void **state)
{
    int ends[2];
    char word;
    (void)state;
    mishap_http_metrics_look(metrics);
    read_all();
    ASSERT_NO_SERIES("mishap_processes", "role=\"supervisor\""); /* nothing was asked before */
    assert_int_equal(pipe(ends), 0);
    pid_t keeper = fork();
    if (keeper == 0) {
        prctl(PR_SET_NAME, "mishap-keeper");
        pid_t worker = fork();
        if (worker == 0)
            prctl(PR_SET_PDEATHSIG, SIGKILL), prctl(PR_SET_NAME, "o) R 1 (dd");
        assert_int_equal(write(ends[1], "", 1), 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &word, 1), 1);
    assert_int_equal(read(ends[0], &word, 1), 1);
    mishap_http_metrics_look(metrics);
    read_all();
    ASSERT_SERIES("mishap_processes", "role=\"supervisor\"", 1);
    ASSERT_SERIES("mishap_processes", "role=\"keeper\"", 1);
    ASSERT_SERIES("mishap_processes", "role=\"worker\"", 1);
    ASSERT_NO_SERIES("mishap_processes", "role=\"loop\"");
    assert_true(value_of("mishap_process_resident_memory_bytes", "role=\"worker\"") > 10000);
    assert_true(value_of("mishap_process_open_files", "role=\"keeper\"") >= 2);
    assert_true(value_of("mishap_process_cpu_seconds_total", "role=\"supervisor\"") >= 0);
    mishap_http_metrics_used(metrics, keeper, false, 5000000000);
    mishap_http_metrics_used(metrics, 999999999, true, 7000000000);
    kill(keeper, SIGKILL);
    await(keeper);
    close(ends[0]);
    close(ends[1]);
}

/* -- processes --------------------------------------------------------------------------------- */

static void count_much(void)
{
    for (int i = 0; i < 20000; i++) {
        count(CREATE, MISHAP_HTTP_POST, 201, NULL, 2000000);
        count(LIST, MISHAP_HTTP_GET, 500, MISHAP_CODE_INTERNAL_ERROR, 1000);
        mishap_http_metrics_add(metrics, MISHAP_HTTP_BYTES_SENT, 3);
    }
}

static void what_several_processes_count_adds_up(void **state)
{
    (void)state;
    pid_t children[6];
    count_much(); /* the parent counts, too, and its children do not take over its shard */
    for (size_t i = 0; i < 6; i++)
        children[i] = start(count_much);
    for (size_t i = 0; i < 6; i++)
        await(children[i]);
    read_all();
    ASSERT_SERIES("mishap_http_requests_total",
                  "route=\"users.create\",method=\"POST\",status=\"201\"", 140000);
    ASSERT_SERIES("mishap_errors_total", "code=\"INTERNAL_ERROR\",category=\"system\"", 140000);
    ASSERT_SERIES("mishap_http_request_duration_seconds_sum", "route=\"users.create\"", 280);
    ASSERT_SERIES("mishap_http_sent_bytes_total", "", 420000);
}

static void count_once(void)
{
    count(HEALTH, MISHAP_HTTP_GET, 200, NULL, 1);
}

static void *count_on_thread(void *barrier)
{
    pthread_barrier_wait(barrier);
    for (int i = 0; i < 60; i++)
        count_much();
    return NULL;
}

static void count_on_threads(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_on_thread, &barrier), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    read_all();
    ASSERT_SERIES("mishap_http_requests_total",
                  "route=\"users.create\",method=\"POST\",status=\"201\"", 3600000);
    ASSERT_SERIES("mishap_errors_total", "code=\"INTERNAL_ERROR\",category=\"system\"", 3600000);
    ASSERT_SERIES("mishap_http_sent_bytes_total", "", 10800000);
}

static void what_several_threads_count_adds_up(void **state)
{
    (void)state;
    count_on_threads();
}

enum { LONGEST_S = 600 }; /* no child stays longer, if the test fails and does not end them */

static void count_and_stay(void)
{
    alarm(LONGEST_S);
    count_once();
    pause();
}

static void more_processes_than_shards_lose_nothing(void **state)
{
    (void)state;
    enum { MANY = 70 };
    pid_t children[MANY];
    for (size_t i = 0; i < MANY; i++)
        children[i] = start(count_and_stay);
    do {
        usleep(1000);
        read_all();
    } while (total_of("mishap_http_requests_total") < MANY);
    ASSERT_SERIES("mishap_http_requests_total", "route=\"health\",method=\"GET\",status=\"200\"",
                  MANY);
    count_on_threads(); /* all in the one shard that is left */
    for (size_t i = 0; i < MANY; i++) {
        kill(children[i], SIGKILL);
        await(children[i]);
    }
}

static void open_and_die(void)
{
    mishap_http_metrics_add(metrics, MISHAP_HTTP_CONNECTIONS, 5);
    mishap_http_metrics_add(metrics, MISHAP_HTTP_IN_FLIGHT, 2);
    mishap_http_metrics_add(metrics, MISHAP_HTTP_ACCEPTED, 7);
    kill(getpid(), SIGKILL);
}

/* The supervisor does not report their end: what they counted stays, and what they had open. */
static void shards_of_the_dead_are_used_again(void **state)
{
    (void)state;
    enum { MANY = 200 };
    for (int i = 0; i < MANY; i++)
        await(start(open_and_die));
    read_all();
    ASSERT_SERIES("mishap_http_connections_accepted_total", "", 7 * MANY);
    ASSERT_SERIES("mishap_http_connections", "", 5 * MANY);
}

static void a_process_that_is_gone_has_nothing_open(void **state)
{
    (void)state;
    mishap_http_metrics_add(metrics, MISHAP_HTTP_CONNECTIONS, 1);
    for (int i = 0; i < 200; i++) {
        pid_t child = start(open_and_die);
        await(child);
        mishap_http_metrics_gone(metrics, child);
    }
    mishap_http_metrics_gone(metrics, 0); /* no process */
    read_all();
    ASSERT_SERIES("mishap_http_connections", "", 1);
    ASSERT_SERIES("mishap_http_requests_in_flight", "", 0);
    ASSERT_SERIES("mishap_http_connections_accepted_total", "", 1400);
}

static void count_for_long(void)
{
    alarm(LONGEST_S);
    for (int i = 0;; i++)
        count(LIST, MISHAP_HTTP_GET, 200, NULL, i % 20000 * INT64_C(1000000));
}

static void histograms_are_whole_while_others_count(void **state)
{
    (void)state;
    pid_t child = start(count_for_long);
    double before = 0;
    for (int i = 0; i < 300; i++) {
        read_all();
        double all = value_of("mishap_http_request_duration_seconds_count", "route=\"users.list\"");
        if (isnan(all))
            continue; /* not begun yet */
        double last = 0;
        size_t buckets = 0;
        for (size_t at = 0; at < series_count; at++) {
            if (strcmp(series[at].name, "mishap_http_request_duration_seconds_bucket") != 0)
                continue;
            assert_true(series[at].value >= last);
            last = series[at].value;
            buckets++;
        }
        assert_int_equal(buckets, 17);
        assert_true(last == all && all >= before);
        before = all;
    }
    kill(child, SIGKILL);
    await(child);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void without_memory_the_buffer_says_so(void **state)
{
    (void)state;
    count_much();
    char *whole = text_of_metrics();
    mishap_use_allocator(&failing_allocator);
    fail_once = true;
    for (fail_at = 1, calls = 1; calls >= fail_at; fail_at++) {
        mishap_buffer buffer = { 0 };
        calls = 0;
        mishap_http_metrics_put(&buffer, metrics, routes, measures);
        if (calls >= fail_at)
            assert_true(buffer.failed);
        else
            assert_memory_equal(buffer.data, whole, strlen(whole));
        mishap_buffer_release(&buffer);
    }
    mishap_use_allocator(NULL);
    free(whole);
}

static void metrics_can_be_made_again(void **state)
{
    (void)state;
    mishap_http_metrics *others;
    count_once();
    assert_null(mishap_http_metrics_make(routes, NULL, &others));
    mishap_http_metrics_count(others, HEALTH, MISHAP_HTTP_GET, 200, NULL, 1);
    mishap_http_metrics_free(others);
    mishap_http_metrics_free(NULL);
    count_once();
    read_all();
    ASSERT_SERIES("mishap_http_requests_total", "route=\"health\",method=\"GET\",status=\"200\"",
                  2);
}

#define METRICS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        METRICS_TEST(before_the_first_request_there_are_gauges_only),
        METRICS_TEST(a_request_is_counted_by_route_method_and_status),
        METRICS_TEST(durations_fall_into_buckets_with_their_bounds),
        METRICS_TEST(failures_are_counted_by_code_and_category),
        METRICS_TEST(own_codes_have_series_of_their_own),
        METRICS_TEST(names_of_routes_are_escaped),
        METRICS_TEST(durations_are_read_by_status_and_outcome),
        METRICS_TEST(gauges_go_up_and_down),
        METRICS_TEST(no_request_can_make_series_without_end),
        METRICS_TEST(calls_are_counted_by_operation_and_boundary),
        METRICS_TEST(what_loops_have_is_added_up_and_ends_with_them),
        METRICS_TEST(extensions_add_what_the_table_has),
        METRICS_TEST(a_program_with_many_operations_has_a_limit_of_series),
        METRICS_TEST(the_processes_of_a_server_are_told_by_their_roles),
        METRICS_TEST(what_several_processes_count_adds_up),
        METRICS_TEST(what_several_threads_count_adds_up),
        METRICS_TEST(more_processes_than_shards_lose_nothing),
        METRICS_TEST(shards_of_the_dead_are_used_again),
        METRICS_TEST(a_process_that_is_gone_has_nothing_open),
        METRICS_TEST(histograms_are_whole_while_others_count),
        METRICS_TEST(without_memory_the_buffer_says_so),
        METRICS_TEST(metrics_can_be_made_again),
    };
    return RUN(tests);
}
