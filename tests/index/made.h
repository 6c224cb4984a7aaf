/* A journal and an index in a folder of their own, for the tests of src/index. With
 * INDEX_IN_POSTGRESQL the same tests are those of src/archive: the index lies in the database that
 * STORE_POSTGRESQL names (tests/store/postgres.py), which is emptied before each test. */
#ifndef INDEX_MADE_H
#define INDEX_MADE_H

#include "testing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "index/engine.h"

#define NOON   INT64_C(1795003200000) /* 2026-11-18T12:00:00Z */
#define DAY_MS INT64_C(86400000)

static char folder[64], journal[128];

#ifdef INDEX_IN_POSTGRESQL
#include "mishap/store.h"
#include "store/libpq.h"

static inline const char *store_address(void)
{
    return getenv("STORE_POSTGRESQL");
}

/* A connection of the test's own. PQfinish() ends it. */
static inline pq_connection *connected(const char *const *keywords, const char *const *values)
{
    pq_connection *connection = mishap_libpq.PQconnectStartParams(keywords, values, 1);
    assert_non_null(connection);
    int wants = PQ_POLLING_WRITING;
    while (wants == PQ_POLLING_READING || wants == PQ_POLLING_WRITING) {
        short events = wants == PQ_POLLING_READING ? POLLIN : POLLOUT;
        struct pollfd ready = { .fd = mishap_libpq.PQsocket(connection), .events = events };
        poll(&ready, 1, -1);
        wants = mishap_libpq.PQconnectPoll(connection);
    }
    if (wants != PQ_POLLING_OK)
        fail_msg("%s", mishap_libpq.PQerrorMessage(connection));
    return connection;
}

/* Run statements of the test's own. */
static inline void in_database(const char *sql)
{
    const char *keywords[] = { "dbname", "options", NULL };
    const char *values[] = { store_address(), "-c search_path=incidents", NULL };
    assert_null(mishap_libpq_load());
    pq_connection *connection = connected(keywords, values);
    assert_true(mishap_libpq.PQsendQuery(connection, sql));
    for (pq_result *result; (result = mishap_libpq.PQgetResult(connection)) != NULL;) {
        int status = mishap_libpq.PQresultStatus(result);
        if (status != PQ_COMMAND_OK && status != PQ_TUPLES_OK)
            fail_msg("%s: %s", sql, mishap_libpq.PQerrorMessage(connection));
        mishap_libpq.PQclear(result);
    }
    mishap_libpq.PQfinish(connection);
}

/* PostgreSQL is not installed: no test of this program can be run. */
static inline bool lacks_store(void)
{
    if (!store_address())
        puts("1..0 # SKIP PostgreSQL is not installed");
    return !store_address();
}

static inline void empty_store(void)
{
    mishap_index_use(&mishap_incidents_in_postgresql);
    in_database("SET client_min_messages = error; DROP SCHEMA IF EXISTS incidents CASCADE");
}
#else
static inline const char *store_address(void)
{
    return NULL;
}

static inline bool lacks_store(void)
{
    return false;
}

static inline void empty_store(void)
{
}
#endif

static int enter_folder(void **state)
{
    (void)state;
    empty_store();
    snprintf(folder, sizeof folder, "/tmp/mishap-index-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(journal, sizeof journal, "%s/sample.log", folder);
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    return remove_tree(folder);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

static inline void append(const char *text)
{
    int file = open(journal, O_WRONLY | O_APPEND | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

/* What a line says; members that are NULL or 0 have a default. */
typedef struct made {
    const char *id;
    const char *operation, *code, *category, *caller, *message, *group, *trace, *boundary;
    int status;
} made;

static inline const char *or_else(const char *value, const char *other)
{
    return value ? value : other;
}

/* The members that both kinds of lines have. */
static inline void put_members(mishap_buffer *b, made m)
{
    char text[1024];
    int length = snprintf(text, sizeof text,
                          ",\"program\":\"sample\",\"service\":\"todo\",\"operation\":\"%s\","
                          "\"boundary\":\"%s\",\"caller\":\"%s\",\"code\":\"%s\",\"category\":"
                          "\"%s\",\"status\":%d,\"group\":\"%s\"",
                          or_else(m.operation, "todos.show"), or_else(m.boundary, "http"),
                          or_else(m.caller, "alice"), or_else(m.code, "NOT_FOUND"),
                          or_else(m.category, "resource"), m.status ? m.status : 404,
                          or_else(m.group, "00000000000000aa"));
    mishap_buffer_put(b, text, (size_t)length);
}

static inline void append_buffer(mishap_buffer *b)
{
    mishap_buffer_put(b, "}\n\0", 3);
    append(b->data);
    mishap_buffer_release(b);
}

static inline void append_whole(made m)
{
    mishap_buffer b = { 0 };
    MISHAP_PUT(&b, "{\"v\":1,\"kind\":\"whole\",\"id\":\"");
    mishap_buffer_put(&b, m.id, strlen(m.id));
    MISHAP_PUT(&b, "\",\"message\":\"");
    const char *message = or_else(m.message, "There is no todo 9.");
    mishap_buffer_put(&b, message, strlen(message));
    MISHAP_PUT(&b, "\",\"duration_us\":1234,\"place\":{\"file\":\"todo.c\",\"line\":12}");
    put_members(&b, m);
    if (m.trace) {
        MISHAP_PUT(&b, ",\"trace\":{\"id\":\"");
        mishap_buffer_put(&b, m.trace, strlen(m.trace));
        MISHAP_PUT(&b, "\",\"span\":\"0000000000000001\"}");
    }
    append_buffer(&b);
}

static inline void id_bytes(const char *id, unsigned char bytes[16])
{
    size_t n = 0;
    for (; *id; id++)
        if (*id != '-') {
            unsigned value;
            assert_int_equal(sscanf(id, "%2x", &value), 1);
            bytes[n++] = (unsigned char)value;
            id++;
        }
}

static inline void append_compact(made m, char (*ids)[MISHAP_ID_LENGTH + 1], size_t count,
                                  const char *like)
{
    mishap_buffer b = { 0 }, raw = { 0 };
    MISHAP_PUT(&b, "{\"v\":1,\"kind\":\"compact\",\"count\":");
    mishap_buffer_put_uint(&b, count);
    MISHAP_PUT(&b, ",\"ids\":\"");
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[16];
        id_bytes(ids[i], bytes);
        mishap_buffer_put(&raw, (char *)bytes, 16);
    }
    mishap_base64_put(&b, mishap_buffer_text(&raw));
    MISHAP_PUT(&b, "\",\"us\":[");
    for (size_t i = 0; i < count; i++) {
        if (i)
            MISHAP_PUT(&b, ",");
        mishap_buffer_put_uint(&b, 100 + i);
    }
    MISHAP_PUT(&b, "]");
    if (like) {
        MISHAP_PUT(&b, ",\"like\":\"");
        mishap_buffer_put(&b, like, strlen(like));
        MISHAP_PUT(&b, "\"");
    }
    put_members(&b, m);
    append_buffer(&b);
    mishap_buffer_release(&raw);
}

static inline mishap_index *open_index(mishap_index_plan plan)
{
    mishap_index *index;
    plan.data = folder;
    plan.journal = plan.journal ? plan.journal : journal;
    plan.now_ms = plan.now_ms ? plan.now_ms : NOON;
    plan.store = store_address();
    assert_null(mishap_index_open(&plan, &index));
    return index;
}

static inline mishap_index *caught_up(void)
{
    mishap_index *index = open_index((mishap_index_plan){ .days = 30 });
    assert_null(mishap_index_catch_up(index, 1000));
    return index;
}

static inline index_report report_of(mishap_index *index)
{
    index_report report;
    ((const index_base *)(void *)index)->engine->report(index, &report);
    return report;
}

/* A JSON document, read; it stays until the next one. */
static mishap_json_reader reader;

static inline yyjson_val *read_json(mishap_buffer *b)
{
    if (!mishap_json_read(&reader, mishap_buffer_text(b)))
        fail_msg("%.*s", (int)b->length, b->data);
    return reader.root;
}

static inline yyjson_val *list(mishap_index *index, mishap_index_filter filter, mishap_buffer *b)
{
    mishap_buffer_reset(b);
    mishap *failure = mishap_index_list(index, &filter, b);
    if (failure) {
        mishap_account(failure, b);
        fail_msg("%.*s", (int)b->length, b->data);
    }
    return read_json(b);
}

static inline size_t count_rows(mishap_index *index, mishap_index_filter filter)
{
    mishap_buffer b = { 0 };
    size_t count = yyjson_arr_size(yyjson_obj_get(list(index, filter, &b), "incidents"));
    mishap_buffer_release(&b);
    return count;
}

static inline void expect_code(mishap *m, const mishap_code *code)
{
    assert_non_null(m);
    assert_true(mishap_has_code(m, code));
    mishap_free(m);
}

#endif
