/*
 * The test client itself (mishap/test.h): cases with stores of their own, bodies, headers, keys,
 * streams, incidents, time and faults. It is a program like the tests of a service.
 */
#include <mishap/main.h>
#include <mishap/store.h>
#include <mishap/test.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- a service --------------------------------------------------------------------------------- */

static const char *const sqlite_tables[] = {
    "CREATE TABLE items (name TEXT PRIMARY KEY); CREATE TABLE history (name TEXT)", NULL
};
static const char *const postgresql_tables[] = {
    "CREATE TABLE items (name text PRIMARY KEY); CREATE TABLE history (name text)", NULL
};

enum { ADD, REMEMBER, COUNT, SCHEMAS, KEEP_SCHEMAS, DROP_OTHERS, STATEMENTS };
static const mishap_statement statements[STATEMENTS] = {
    [ADD] = { .text = "INSERT INTO items VALUES (?1)", .writes = true },
    [REMEMBER] = { .text = "INSERT INTO history VALUES (?1)", .writes = true },
    [COUNT] = { .text = "SELECT (SELECT count(*) FROM items), (SELECT count(*) FROM history)" },
    [SCHEMAS] = { .text = "SELECT 1",
                  .postgresql = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'shelf%'" },
    /* From now on PostgreSQL refuses to drop a schema. */
    [KEEP_SCHEMAS] = { .text = "SELECT 1",
                       .postgresql =
                           "DO $$ BEGIN CREATE FUNCTION public.refuse() RETURNS event_trigger"
                           " LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''kept''; END';"
                           " CREATE EVENT TRIGGER keep ON ddl_command_start WHEN TAG IN"
                           " ('DROP SCHEMA') EXECUTE FUNCTION public.refuse(); END $$",
                       .writes = true },
    /* No longer; and schemas of other tests are dropped. */
    [DROP_OTHERS] = { .text = "SELECT 1",
                      .postgresql =
                          "DO $$ DECLARE name text; BEGIN DROP EVENT TRIGGER keep;"
                          " DROP FUNCTION public.refuse(); FOR name IN SELECT nspname FROM"
                          " pg_namespace WHERE nspname LIKE 'shelf%' AND nspname <>"
                          " current_schema() LOOP EXECUTE 'DROP SCHEMA ' || name || ' CASCADE';"
                          " END LOOP; END $$",
                      .writes = true },
};
static const mishap_store_schema schema = { "shelf", sqlite_tables, postgresql_tables, statements,
                                            STATEMENTS };

static mishap *open_shelf(const mishap_setup *setup, void **state)
{
    mishap_store *store;
    mishap *failure = mishap_store_open_service(setup, &schema, &store);
    *state = store;
    return failure;
}

static void close_shelf(void *state)
{
    mishap_store_close(state);
}

static const char *identity_of(void *state)
{
    return mishap_store_identity(state);
}

static const mishap_service shelf = { .name = "shelf",
                                      .summary = "A shelf",
                                      .open = open_shelf,
                                      .close = close_shelf,
                                      .identity = identity_of,
                                      .settings = MISHAP_PARAMS(MISHAP_STORE_SETTING) };

static mishap *insert(mishap_store *store, size_t statement, const char *name)
{
    mishap_query query;
    mishap_query_begin(&query, store, statement);
    mishap_query_bind_text(&query, 1, mishap_text_of(name));
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

static mishap *add_both(mishap_store *store, void *name)
{
    MISHAP_TRY(insert(store, ADD, name));
    return insert(store, REMEMBER, name);
}

/* Four uses of the store: begin, two queries, commit. */
static mishap *add_item(mishap_call *call)
{
    const char *name = mishap_call_print(call, "%s", mishap_string(call, "name"));
    mishap_transaction both = { .work = add_both, .state = (void *)(uintptr_t)name };
    MISHAP_TRY(mishap_store_transact(mishap_store_of(call), &both));
    mishap_answer_member(call, "name", name);
    return mishap_answer_member(call, "by", mishap_caller(call));
}

static mishap *read_numbers(mishap_call *call, size_t statement, bool second)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), statement);
    if (mishap_query_step(&query)) {
        mishap_answer_member(call, "count", mishap_query_integer(&query, 0));
        if (second)
            mishap_answer_member(call, "history", mishap_query_integer(&query, 1));
    }
    return mishap_query_end(&query);
}

static mishap *count_items(mishap_call *call)
{
    return read_numbers(call, COUNT, true);
}

static mishap *count_schemas(mishap_call *call)
{
    return read_numbers(call, SCHEMAS, false);
}

static mishap *keep_schemas(mishap_call *call)
{
    return read_numbers(call, KEEP_SCHEMAS, false);
}

static mishap *drop_others(mishap_call *call)
{
    return read_numbers(call, DROP_OTHERS, false);
}

static mishap *weigh_body(mishap_call *call)
{
    mishap_answer_member(call, "bytes", (int64_t)mishap_body(call).length);
    mishap_answer_member(call, "type", mishap_body_type(call));
    mishap_answer_member(call, "language", mishap_header(call, "Accept-Language"));
    mishap_set_header(call, "Cache-Control", "no-store");
    return mishap_answer_member(call, "by", mishap_caller(call));
}

static mishap *tell_time(mishap_call *call)
{
    mishap_answer_member(call, "left", mishap_call_time_left(call));
    return mishap_answer_member(call, "now", mishap_timestamp_print(call, mishap_now(call)));
}

static mishap *count_down(mishap_call *call)
{
    mishap_stream(call, "text/event-stream");
    mishap_stream_event(call, "count", "2");
    mishap_stream_event(call, "count", "1");
    mishap_stream_event(call, NULL, "lift-off");
    return NULL;
}

static mishap *send_rows(mishap_call *call)
{
    mishap_stream(call, "text/csv");
    mishap_stream_write(call, mishap_text_of("a,b\n"));
    mishap_stream_write(call, mishap_text_of("1,2\n"));
    return NULL;
}

static mishap *fail_inside(mishap_call *call)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "The disk of %s is on fire.", "shelf-7");
    return mishap_note(m, "rack", mishap_string(call, "rack"));
}

static mishap *take_memory(mishap_call *call)
{
    char *bytes[4];
    for (size_t i = 0; i < 4; i++)
        bytes[i] = mishap_call_take(call, 5000);
    bool apart = bytes[0] != bytes[3];
    return mishap_answer_member(call, "taken", apart);
}

#define NAME MISHAP_PARAMS({ "name", MISHAP_STRING, .required = true })
static const mishap_operation operations[] = {
    { "add", "Add an item", NAME, add_item, .route = "POST /items", .status = 201,
      .service = &shelf, .raises = MISHAP_RAISES(ALREADY_EXISTS) },
    { "count", "Count items", NULL, count_items, .route = "GET /items", .service = &shelf },
    { "schemas", "Count schemas", NULL, count_schemas, .service = &shelf },
    { "keep-schemas", "Let no schema be dropped", NULL, keep_schemas, .service = &shelf },
    { "drop-others", "Drop other schemas", NULL, drop_others, .service = &shelf },
    { "weigh", "Weigh a body", NULL, weigh_body, .route = "POST /weights", .takes = "image/png",
      .headers = (const char *const[]){ "Accept-Language", NULL } },
    { "time", "Tell the time", NULL, tell_time, .route = "GET /time" },
    { "count-down", "Count down", NULL, count_down, .route = "GET /events" },
    { "rows", "Send rows", NULL, send_rows, .route = "GET /rows" },
    { "fail", "Fail", MISHAP_PARAMS({ "rack", MISHAP_STRING, .help = "Where" }), fail_inside,
      .route = "POST /failures" },
    { "take", "Take memory", NULL, take_memory, .route = "POST /memory" },
    { 0 },
};
static const mishap_app app = { .name = "shelves", .version = "1", .operations = operations };

/* -- C calls ----------------------------------------------------------------------------------- */

static void earlier_schemas_were_dropped(mishap_test *t)
{
    mishap_test_call(t, "schemas", NULL);
    mishap_expect_value(t, "count", 1); /* that of this case */
}

static void each_case_has_a_store_of_its_own(mishap_test *t)
{
    mishap_test_call(t, "count", NULL);
    mishap_expect_answer(t, "{\"count\":0,\"history\":0}");
    mishap_test_as(t, "ada");
    mishap_test_call(t, "add", "{\"name\":\"lamp\"}");
    mishap_expect_answer(t, "{\"name\":\"lamp\",\"by\":\"ada\"}");
    mishap_expect_status(t, 201);
    mishap_test_call(t, "add", "{\"name\":\"lamp\"}");
    mishap_expect_code(t, ALREADY_EXISTS);
    mishap_expect_status(t, 409);
    earlier_schemas_were_dropped(t);
}

static void bodies_and_headers_are_sent(mishap_test *t)
{
    static const char *const headers[] = { "Accept-Language", "de", NULL };
    mishap_test_headers(t, headers);
    mishap_test_invoke(t, "weigh", NULL,
                       &(mishap_invocation){ .body = { "\0\1\2", 3 }, .body_type = "image/png" });
    mishap_expect_answer(t, "{\"bytes\":3,\"type\":\"image/png\",\"language\":\"de\",\"by\":null}");
    mishap_test_headers(t, NULL);
    mishap_test_invoke(t, "weigh", NULL, &(mishap_invocation){ .caller = "bob" });
    mishap_expect_answer(t, "{\"bytes\":0,\"type\":null,\"language\":null,\"by\":\"bob\"}");
}

/* Of a C call or of a request. */
static void read_count_down(mishap_test *t)
{
    static const char *const events[] = { "event: count\ndata: 2", "event: count\ndata: 1",
                                          "data: lift-off" };
    for (size_t i = 0; i < 3; i++) {
        size_t length;
        const char *event = mishap_test_read(t, &length);
        mishap_expect(t, event && strcmp(event, events[i]) == 0 && length == strlen(events[i]),
                      "event %zu is %s", i, event ? event : "missing");
    }
    mishap_expect(t, !mishap_test_read(t, NULL), "the stream has ended");
}

static void incidents_have_their_private_side(mishap_test *t)
{
    mishap_test_call(t, "fail", "{\"rack\":\"north\"}");
    mishap_expect_code(t, INTERNAL_ERROR);
    mishap_expect_incident(t, "operation", "fail");
    mishap_expect_incident(t, "boundary", "c");
    mishap_expect_incident(t, "code", "INTERNAL_ERROR");
    mishap_expect_incident(t, "arguments.rack", "north");
    const mishap_call *incident = mishap_test_incident(t);
    mishap_expect(t, incident && strstr(mishap_json(incident, ""), "The disk of shelf-7"),
                  "the private message is in the record");
    mishap_test_call(t, "count", NULL);
    mishap_expect(t, !mishap_test_incident(t), "a call that works has no record");
}

static void time_stands_still(mishap_test *t)
{
    mishap_test_set_time(t, "2030-02-28T12:00:00.25+01:00");
    for (int i = 0; i < 2; i++) {
        mishap_test_call(t, "time", NULL);
        mishap_expect_value(t, "now", "2030-02-28T11:00:00.25Z");
        const mishap_answered *answered = mishap_test_answered(t);
        int64_t left = answered ? mishap_integer(answered->json, "left") : 0;
        mishap_expect(t, left > 0 && left <= 30000, "the limit of the call is in real time");
    }
    mishap_test_call(t, "fail", NULL);
    mishap_expect_incident(t, "time", "2030-02-28T11:00:00.250Z");
    mishap_test_set_time(t, "1969-12-31T23:59:59.5Z");
    mishap_test_call(t, "time", NULL);
    mishap_expect_value(t, "now", "1969-12-31T23:59:59.5Z");
    mishap_test_set_time(t, NULL);
    mishap_test_call(t, "time", NULL);
    const mishap_answered *answered = mishap_test_answered(t);
    mishap_expect(t, answered && strcmp(mishap_string(answered->json, "now"), "2026") > 0,
                  "it is the time of the machine again");
}

/* -- faults ------------------------------------------------------------------------------------ */

static const char lamp[] = "{\"name\":\"lamp\"}";

static void expect_nothing_was_added(mishap_test *t)
{
    mishap_test_call(t, "count", NULL);
    mishap_expect_answer(t, "{\"count\":0,\"history\":0}");
}

static void the_store_is_gone(mishap_test *t)
{
    size_t at = 1;
    for (;; at++) {
        mishap_test_fault(t, MISHAP_FAULT_STORE_GONE, at);
        mishap_test_call(t, "add", lamp);
        if (!mishap_test_fault_happened(t))
            break;
        mishap_expect_code(t, UNAVAILABLE);
        expect_nothing_was_added(t);
    }
    mishap_expect(t, at == 5, "the handler uses the store four times, and not %zu", at - 1);
    mishap_expect_code(t, INTERNAL_ERROR); /* a fault that did not happen is none of the program */
    mishap_test_call(t, "count", NULL);
    mishap_expect_value(t, "count", 1); /* … whose handler has worked */
}

static void the_worker_is_killed(mishap_test *t)
{
    for (size_t at = 1; at <= 4; at++) {
        mishap_test_fault(t, MISHAP_FAULT_WORKER_KILLED, at);
        mishap_test_call(t, "add", lamp);
        mishap_expect_code(t, INTERNAL_ERROR);
        mishap_expect(t, mishap_test_fault_happened(t), "the fault %zu happened", at);
        expect_nothing_was_added(t);
    }
    mishap_test_fault(t, MISHAP_FAULT_WORKER_KILLED, 5);
    mishap_test_call(t, "add", lamp);
    mishap_expect(t, !mishap_test_fault_happened(t), "there is no fifth use");
    mishap_expect_code(t, INTERNAL_ERROR);
    mishap_test_call(t, "count", NULL);
    mishap_expect_value(t, "count", 1);

    /* What was committed stays, though no answer came. */
    mishap_test_fault(t, MISHAP_FAULT_WORKER_KILLED, 0);
    mishap_test_call(t, "add", "{\"name\":\"vase\"}");
    mishap_expect_code(t, INTERNAL_ERROR);
    mishap_expect_incident(t, "operation", "add");
    mishap_test_call(t, "count", NULL);
    mishap_expect_answer(t, "{\"count\":2,\"history\":2}");
}

static void there_is_no_memory(mishap_test *t)
{
    size_t failed = 0;
    for (size_t at = 1; at < 100; at++) {
        mishap_test_fault(t, MISHAP_FAULT_NO_MEMORY_ONCE, at);
        mishap_test_call(t, "take", NULL);
        if (!mishap_test_fault_happened(t))
            break;
        failed += mishap_test_failure(t) != NULL;
    }
    mishap_expect(t, failed >= 4, "a handler fails if one of its allocations does");
    mishap_test_fault(t, MISHAP_FAULT_NO_MEMORY, 1);
    mishap_test_call(t, "take", NULL);
    mishap_expect_code(t, INTERNAL_ERROR);
    mishap_test_call(t, "take", NULL);
    mishap_expect_value(t, "taken", true);
}

/* -- requests ---------------------------------------------------------------------------------- */

static void add_over_http(mishap_test *t, const char *body)
{
    mishap_test_send(t, &(mishap_test_request){ .path = "/items", .body = mishap_text_of(body) });
}

static void requests_reach_the_same_store(mishap_test *t)
{
    static const char *const headers[] = { "Accept-Language", "en", NULL };
    mishap_test_call(t, "add", lamp);
    mishap_expect_ok(t);
    mishap_test_send(t, &(mishap_test_request){ .path = "/items" });
    mishap_expect_answer(t, "{\"count\":1,\"history\":1}");
    add_over_http(t, "{\"name\":\"vase\"}");
    mishap_expect_status(t, 201);
    mishap_expect_value(t, "name", "vase");
    mishap_test_call(t, "count", NULL);
    mishap_expect_value(t, "count", 2);
    add_over_http(t, "{\"name\":7}");
    mishap_expect_status(t, 422);
    mishap_expect_field(t, "name", "invalid_type");
    add_over_http(t, lamp);
    mishap_expect_code(t, ALREADY_EXISTS);
    mishap_test_send(t, &(mishap_test_request){ .path = "/weights",
                                                .body = { "\0\1", 2 },
                                                .body_type = "image/png",
                                                .headers = headers });
    mishap_expect_value(t, "bytes", 2);
    mishap_expect_value(t, "language", "en");
    const char *cached = mishap_test_header(t, "cache-control");
    mishap_expect(t, cached && strcmp(cached, "no-store") == 0, "its headers are read");
    mishap_test_send(t, &(mishap_test_request){ .method = "HEAD", .path = "/items" });
    mishap_expect_status(t, 200);
}

static void requests_have_streams_incidents_and_time(mishap_test *t)
{
    mishap_test_send(t, &(mishap_test_request){ .path = "/events", .stream = true });
    mishap_expect_status(t, 200);
    read_count_down(t);
    mishap_test_send(t, &(mishap_test_request){ .path = "/rows" });
    const mishap_answered *rows = mishap_test_answered(t);
    mishap_expect(t, rows && strcmp(rows->text.data, "a,b\n1,2\n") == 0, "all rows have come");
    mishap_test_send(t, &(mishap_test_request){ .path = "/failures",
                                                .body = mishap_text_of("{\"rack\":\"south\"}") });
    mishap_expect_status(t, 500);
    mishap_expect_code(t, INTERNAL_ERROR);
    mishap_expect_incident(t, "arguments.rack", "south");
    mishap_expect_incident(t, "boundary", "http");
    mishap_test_set_time(t, "2030-02-28T12:00:00Z");
    mishap_test_send(t, &(mishap_test_request){ .path = "/time" });
    mishap_expect_value(t, "now", "2030-02-28T12:00:00Z");
    mishap_test_set_time(t, NULL);
}

static void requests_have_faults(mishap_test *t)
{
    mishap_test_fault(t, MISHAP_FAULT_WORKER_KILLED, 3);
    add_over_http(t, "{\"name\":\"box\"}");
    mishap_expect_status(t, 500);
    mishap_expect(t, mishap_test_fault_happened(t), "the worker was killed");
    add_over_http(t, "{\"name\":\"box\"}");
    mishap_expect_status(t, 201);
    mishap_test_fault(t, MISHAP_FAULT_STORE_GONE, 2);
    add_over_http(t, "{\"name\":\"cup\"}");
    mishap_expect_status(t, 503);
    mishap_expect_code(t, UNAVAILABLE);
    mishap_test_fault(t, MISHAP_FAULT_NO_MEMORY, 1);
    mishap_test_send(t, &(mishap_test_request){ .method = "POST", .path = "/memory" });
    mishap_expect_status(t, 500);
    mishap_test_send(t, &(mishap_test_request){ .method = "POST", .path = "/memory" });
    mishap_expect_value(t, "taken", true);
}

static void keys_are_asked_for(mishap_test *t)
{
    const char *key = mishap_test_key(t, "ada", NULL);
    const char *reader = mishap_test_key(t, "grafana", "metrics");
    add_over_http(t, lamp);
    mishap_expect_status(t, 401);
    mishap_test_send(
        t, &(mishap_test_request){ .path = "/items", .body = mishap_text_of(lamp), .key = reader });
    mishap_expect_status(t, 403);
    mishap_test_send(
        t, &(mishap_test_request){ .path = "/items", .body = mishap_text_of(lamp), .key = key });
    mishap_expect_value(t, "by", "ada");
}

/* -- schemas that stay ------------------------------------------------------------------------- */

static const char undroppable[] = "undroppable";

/* A test whose schema cannot be dropped, in a process of its own. */
static int leave_schema(void)
{
    mishap_test *t = mishap_test_begin(&app);
    if (mishap_test_case(t, undroppable, MISHAP_TEST_POSTGRESQL)) {
        mishap_test_call(t, "keep-schemas", NULL);
        mishap_expect_ok(t);
    }
    return mishap_test_end(t);
}

static void a_schema_that_stays_fails_its_test(mishap_test *t, const char *program)
{
    char command[4200], line[256];
    bool told = false, planned = false;
    snprintf(command, sizeof command, "'%s' %s", program, undroppable);
    FILE *output = popen(command, "r");
    while (output && fgets(line, sizeof line, output)) {
        told = told || strstr(line, "not ok 2 - undroppable: the schema could not be dropped: "
                                    "shelf_test_") == line;
        planned = planned || strcmp(line, "1..2\n") == 0;
    }
    int status = output ? pclose(output) : 0;
    mishap_expect(t, told && planned, "a schema that cannot be dropped is told");
    mishap_expect(t, status > 0, "the test has failed");
    mishap_test_call(t, "drop-others", NULL);
    mishap_expect_ok(t);
}

/* -- all --------------------------------------------------------------------------------------- */

static void test_store(mishap_test *t, const char *name, mishap_test_store store,
                       const char *program)
{
    if (mishap_test_case(t, name, store))
        each_case_has_a_store_of_its_own(t);
    else
        return;
    if (mishap_test_case(t, name, store))
        the_store_is_gone(t);
    if (mishap_test_case(t, name, store))
        the_worker_is_killed(t);
    if (mishap_test_case(t, name, store)) {
        requests_reach_the_same_store(t);
        requests_have_faults(t);
    }
    if (mishap_test_case(t, name, store) && store == MISHAP_TEST_POSTGRESQL)
        a_schema_that_stays_fails_its_test(t, program);
    if (mishap_test_case(t, name, store)) /* processes were killed, and servers were started */
        earlier_schemas_were_dropped(t);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], undroppable) == 0)
        return leave_schema();

    setenv("SHELVES_STORE", "sqlite:/nowhere/", 1); /* no test uses it */
    mishap_test *t = mishap_test_begin(&app);
    bodies_and_headers_are_sent(t);
    mishap_test_call(t, "count-down", NULL);
    read_count_down(t);
    incidents_have_their_private_side(t);
    time_stands_still(t);
    there_is_no_memory(t);
    requests_have_streams_incidents_and_time(t);
    test_store(t, "on SQLite", MISHAP_TEST_SQLITE, argv[0]);
    test_store(t, "on PostgreSQL", MISHAP_TEST_POSTGRESQL, argv[0]);
    if (mishap_test_case(t, "with keys", MISHAP_TEST_SQLITE))
        keys_are_asked_for(t);
    return mishap_test_end(t);
}
