/* Counters of the HTTP boundary, and the text that Prometheus reads. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
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

static int begin(void **state)
{
    (void)state;
    assert_null(routes_of(&app, false, endpoints, &routes));
    assert_null(mishap_http_metrics_make(routes, &metrics));
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

enum { MOST_SERIES = 2000 };

struct series {
    char name[64];    /* of the sample */
    char labels[256]; /* between the braces, as it stands */
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
    mishap_http_metrics_put(&buffer, metrics, routes);
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
    const mishap_code *first = mishap_code_table.codes;
    const mishap_code *last = first + mishap_code_table.count - 1;
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
static mishap_catalog shared_table = {
    "shared", shared_codes, 2, { [MISHAP_SPELLING_NAME] = { by_length, 2 } }, NULL
};

static void own_codes_have_series_of_their_own(void **state)
{
    (void)state;
    const mishap_code *last = &own_codes[own_code_table.count - 1];
    mishap_code restored = { .name = own_codes[0].name, .category = MISHAP_SYSTEM };
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
    assert_true(series_count < 600);
}

/* -- processes --------------------------------------------------------------------------------- */

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
        mishap_http_metrics_put(&buffer, metrics, routes);
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
    assert_null(mishap_http_metrics_make(routes, &others));
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
        METRICS_TEST(gauges_go_up_and_down),
        METRICS_TEST(no_request_can_make_series_without_end),
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
