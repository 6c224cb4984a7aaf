/*
 * Messages that readers follow as they are written: a stream of server-sent events, on a store.
 *
 *     chat serve &
 *     curl -N localhost:8080/messages/stream
 *     chat say --from Ada --text "Good morning"
 *
 * On a command line the stream ends when all messages were shown; over HTTP it stays open.
 * chat_test.c has its tests.
 */
#include <mishap/json.h>
#include <mishap/main.h>
#include <mishap/store.h>

#include <stdlib.h>

/* -- the store --------------------------------------------------------------------------------- */

static const char *const sqlite_tables[] = {
    "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, sender TEXT, text TEXT,"
    " said TEXT)",
    NULL,
};
static const char *const postgresql_tables[] = {
    "CREATE TABLE messages (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sender text,"
    " text text, said timestamptz)",
    NULL,
};

enum { SAY, READ, STATEMENTS };
static const mishap_statement statements[STATEMENTS] = {
    [SAY] = { .text = "INSERT INTO messages (sender, text, said) VALUES (?1, ?2, ?3) RETURNING id",
              .writes = true },
    [READ] = { .text = "SELECT id, sender, text, said FROM messages WHERE id > ?1 ORDER BY id" },
};
static const mishap_store_schema schema = { "chat", sqlite_tables, postgresql_tables, statements,
                                            STATEMENTS };

static mishap *open_store(const mishap_setup *setup, void **state)
{
    mishap_store *store;
    mishap *failure = mishap_store_open_service(setup, &schema, &store);
    *state = store;
    return failure;
}

static void close_store(void *store)
{
    mishap_store_close(store);
}

static const char *identify_store(void *store)
{
    return mishap_store_identity(store);
}

static const mishap_service service = { .name = "chat",
                                        .summary = "Messages",
                                        .open = open_store,
                                        .close = close_store,
                                        .identity = identify_store,
                                        .settings = MISHAP_PARAMS(MISHAP_STORE_SETTING) };

/* -- handlers ---------------------------------------------------------------------------------- */

static const char address[] = "chat://messages";

/* Readers are told after the message is in the store, not before. */
static mishap *say(mishap_call *call)
{
    int64_t id = 0;
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), SAY);
    mishap_query_bind_text(&query, 1, mishap_text_of(mishap_string(call, "from")));
    mishap_query_bind_text(&query, 2, mishap_text_of(mishap_string(call, "text")));
    mishap_query_bind_timestamp(&query, 3, mishap_now(call));
    while (mishap_query_step(&query))
        id = mishap_query_integer(&query, 0);
    MISHAP_TRY(mishap_query_end(&query));
    mishap_changed(call, "%s", address);
    return mishap_answer_member(call, "id", id);
}

/* False: the reader has gone, or there is no memory. */
static bool send_message(mishap_call *call, mishap_query *query)
{
    mishap_buffer json = { 0 };
    mishap_json_put_object(&json, NULL);
    mishap_json_put(&json, "id", mishap_query_integer(query, 0));
    mishap_json_put(&json, "from", mishap_query_text(query, 1));
    mishap_json_put(&json, "text", mishap_query_text(query, 2));
    mishap_json_put(&json, "said", mishap_timestamp_print(call, mishap_query_timestamp(query, 3)));
    mishap_json_put_end(&json, '}');
    mishap_buffer_add(&json, "", 1); /* the NUL that ends a string */
    bool sent = !json.failed && mishap_stream_event(call, "message", json.data);
    mishap_buffer_release(&json);
    return sent;
}

/* The handler sends all new messages, and returns. It is called again, with the cursor, when there
 * is more: a reader that waits costs neither a process nor a connection to the store. */
static mishap *follow(mishap_call *call)
{
    const char *cursor = mishap_cursor(call);
    int64_t last = cursor ? strtoll(cursor, NULL, 10) : mishap_integer(call, "after");
    bool reads = true;
    mishap_query query;
    mishap_stream(call, "text/event-stream");
    mishap_query_begin(&query, mishap_store_of(call), READ);
    mishap_query_bind_integer(&query, 1, last);
    while (mishap_query_step(&query) && reads) {
        last = mishap_query_integer(&query, 0);
        reads = send_message(call, &query);
    }
    MISHAP_TRY(mishap_query_end(&query));
    return reads ? mishap_stream_wait(call, address, "%lld", (long long)last) : NULL;
}

/* -- the program ------------------------------------------------------------------------------- */

static const mishap_operation operations[] = {
    { "say", "Write a message",
      MISHAP_PARAMS({ "from", MISHAP_STRING, .required = true, .length = { 1, 80 } },
                    { "text", MISHAP_STRING, .required = true, .length = { 1, 1000 } }),
      say, .route = "POST /messages", .status = 201, .service = &service },
    { "follow", "Read messages as they are written",
      MISHAP_PARAMS({ "after", MISHAP_INTEGER, .initial = "0", .help = "Id of the last one read" }),
      follow, .route = "GET /messages/stream", .service = &service },
    { 0 },
};

static const mishap_app chat = { .name = "chat", .version = "1.0", .operations = operations };

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &chat);
}
