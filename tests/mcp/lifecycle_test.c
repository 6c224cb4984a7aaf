/*
 * Conversations: how they start, which method each revision has, pages, and that nothing private
 * leaves.
 */

#include <unistd.h>
#include "mcp_talk.h"

/* -- methods ----------------------------------------------------------------------------------- */

enum { YES = 0 };

/* What each method is answered by each revision: before initialize, the four older ones, the
 * stateless one. */
static const struct {
    const char *method, *params;
    int codes[MISHAP_MCP_REVISIONS];
} rows[] = {
    { "initialize",
      "\"protocolVersion\":\"2025-06-18\"," CLIENT,
      { YES, -32600, -32600, -32600, -32600, -32601 } },
    { "ping", "", { YES, YES, YES, YES, YES, -32601 } },
    { "server/discover", "", { -32602, -32601, -32601, -32601, -32601, YES } },
    { "tools/list", "", { -32600, YES, YES, YES, YES, YES } },
    { "tools/call",
      "\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}",
      { -32600, YES, YES, YES, YES, YES } },
    { "resources/list", "", { -32600, YES, YES, YES, YES, YES } },
    { "resources/templates/list", "", { -32600, YES, YES, YES, YES, YES } },
    { "resources/read", "\"uri\":\"catalog://codes\"", { -32600, YES, YES, YES, YES, YES } },
    { "resources/subscribe",
      "\"uri\":\"catalog://codes\"",
      { -32600, YES, YES, YES, YES, -32601 } },
    { "resources/unsubscribe",
      "\"uri\":\"catalog://codes\"",
      { -32600, YES, YES, YES, YES, -32601 } },
    { "subscriptions/listen",
      "\"notifications\":{}",
      { -32602, -32601, -32601, -32601, -32601, YES } },
    { "prompts/list", "", { -32600, YES, YES, YES, YES, YES } },
    { "prompts/get", "\"name\":\"p\"", { -32600, YES, YES, YES, YES, YES } },
    { "completion/complete",
      "\"ref\":{\"type\":\"ref/"
      "prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}",
      { -32600, YES, YES, YES, YES, YES } },
    { "logging/setLevel", "\"level\":\"info\"", { -32600, YES, YES, YES, YES, -32601 } },
    { "tasks/list", "", { -32600, -32601, -32601, -32601, -32601, -32601 } },
    { "roots/list", "", { -32600, -32601, -32601, -32601, -32601, -32601 } },
    { "notifications/cancelled", "", { -32600, -32601, -32601, -32601, -32601, -32601 } },
};

static int status_of(int code, bool modern)
{
    switch (code) {
    case -32600:
        return 400;
    case -32601:
        return modern ? 404 : 200;
    case -32602:
        return 400; /* here all of them are about _meta */
    default:
        return 200;
    }
}

/* Members that each result of the stateless revision has, and no other. */
static void check_result(const char *method, const char *answer, mishap_mcp_revision revision)
{
    bool modern = mishap_mcp_is_modern(revision);
    bool kept = has(method, "/list") || has(method, "/read") || has(method, "/discover");
    if (strcmp(method, "subscriptions/listen") == 0) {
        assert_true(has(answer, "notifications/subscriptions/acknowledged"));
        return;
    }
    assert_true(starts(answer, "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{"));
    assert_int_equal(modern, has(answer, "\"resultType\":\"complete\""));
    assert_int_equal(modern, has(answer, "\"io.modelcontextprotocol/serverInfo\":{\"name\":"
                                         "\"sample\",\"title\":\"Sample\",\"version\":\"1.0\"}"));
    assert_int_equal(modern && kept, has(answer, "\"ttlMs\":60000,\"cacheScope\":\"private\""));
}

static void each_revision_has_its_methods(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int r = MISHAP_MCP_NONE; r < MISHAP_MCP_REVISIONS; r++) {
            struct talk talk;
            char text[1024], code[32];
            mishap_mcp_revision revision = (mishap_mcp_revision)r;
            bool modern = mishap_mcp_is_modern(revision);
            /* The stateless one is served after any agreement. */
            open_talk(&talk, modern ? (mishap_mcp_revision)(i % MISHAP_MCP_2026_07_28) : revision);
            snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"%s\",\"params\":{%s%s%s}}",
                     rows[i].method, rows[i].params, modern && *rows[i].params ? "," : "",
                     modern ? META : "");
            const char *answer = say(&talk, text);
            snprintf(code, sizeof code, "\"error\":{\"code\":%d,", rows[i].codes[r]);
            if (rows[i].codes[r] == YES ? has(answer, ",\"error\":{\"code\"") : !has(answer, code))
                fail_msg("%s in %s: %s", rows[i].method, mishap_mcp_revision_name(revision),
                         answer);
            if (rows[i].codes[r] == YES)
                check_result(rows[i].method, answer, revision);
            else
                assert_true(has(answer, "\"id\":\"i\",\"error\""));
            bool listens = strcmp(rows[i].method, "subscriptions/listen") == 0 && modern;
            if (!listens)
                assert_int_equal(talk.channel.status, status_of(rows[i].codes[r], modern));
            assert_int_equal(talk.finished, listens ? 0 : 1);
            close_talk(&talk);
        }
    }
}

/* A transport knows from a header that the request is of the stateless kind. */
static void a_header_can_ask_for_what_is_missing(void **state)
{
    (void)state;
    struct talk talk;
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    open_talk(&talk, MISHAP_MCP_NONE);
    assert_true(mishap_mcp_read(&talk.reader, T(REQUEST("5", "tools/list", "")), &message, &flaw));
    message.revision = MISHAP_MCP_2026_07_28;
    mishap_mcp_take(&talk.peer, &talk.channel, &message);
    const char *answer = heard(&talk);
    assert_true(has(answer, "\"id\":5,\"error\":{\"code\":-32602,\"message\":\"`_meta." VERSION
                            "` is missing.\""));
    assert_int_equal(talk.channel.status, 400);

    /* And on its own: words of the stateless kind, without the version. */
    answer = say(&talk, REQUEST("6", "tools/list", "\"_meta\":{\"" CAPABILITIES "\":{}}"));
    assert_true(has(answer, "\"id\":6,\"error\":{\"code\":-32602,"));
    assert_int_equal(talk.channel.status, 400);
    close_talk(&talk);
}

/* -- initialize -------------------------------------------------------------------------------- */

static void the_revision_is_negotiated(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *answered;
        mishap_mcp_revision agreed;
    } asked[] = {
        { INITIALIZE("2024-11-05"), "2024-11-05", MISHAP_MCP_2024_11_05 },
        { INITIALIZE("2025-03-26"), "2025-03-26", MISHAP_MCP_2025_03_26 },
        { INITIALIZE("2025-06-18"), "2025-06-18", MISHAP_MCP_2025_06_18 },
        { INITIALIZE("2025-11-25"), "2025-11-25", MISHAP_MCP_2025_11_25 },
        { INITIALIZE("2024-10-07"), "2025-11-25", MISHAP_MCP_2025_11_25 },
        { INITIALIZE("2026-07-28"), "2025-11-25", MISHAP_MCP_2025_11_25 },
        { INITIALIZE("1.0.0"), "2025-11-25", MISHAP_MCP_2025_11_25 },
        { INITIALIZE("none"), "2025-11-25", MISHAP_MCP_2025_11_25 },
        { INITIALIZE(""), "2025-11-25", MISHAP_MCP_2025_11_25 },
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct talk talk;
        char expected[1024];
        open_talk(&talk, MISHAP_MCP_NONE);
        const char *answer = say(&talk, asked[i].text);
        snprintf(expected, sizeof expected,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"%s\","
                 "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":"
                 "true,\"listChanged\":true},\"prompts\":{\"listChanged\":true},%s"
                 "\"logging\":{}},\"serverInfo\":{\"name\":\"sample\",%s"
                 "\"version\":\"1.0\"},\"instructions\":\"sample: A sample. Each tool is one "
                 "operation of the program. A failed call returns a result with isError: true.",
                 asked[i].answered,
                 asked[i].agreed >= MISHAP_MCP_2025_03_26 ? "\"completions\":{}," : "",
                 asked[i].agreed >= MISHAP_MCP_2025_06_18 ? "\"title\":\"Sample\"," : "");
        assert_true(starts(answer, expected));
        assert_int_equal(talk.peer.revision, asked[i].agreed);
        assert_false(talk.peer.initialized);
        assert_string_equal(say(&talk, NOTE("notifications/initialized", "")), "");
        assert_true(talk.peer.initialized);

        answer = say(&talk, INITIALIZE("2025-06-18")); /* once is enough */
        assert_true(
            has(answer,
                "\"error\":{\"code\":-32600,\"message\":\"This session is already initialized.\""));
        assert_int_equal(talk.channel.status, 400);
        assert_int_equal(talk.peer.revision, asked[i].agreed);
        close_talk(&talk);
    }
}

#define MISSING(field, type)                                                                       \
    "{\"field\":\"" field "\",\"error\":\"field_required\",\"expected\":\"" type                   \
    "\",\"message\":\"" field " is required (" type ").\"}"

static void initialize_wants_its_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *params, *fields;
    } wrong[] = {
        { "", "[" MISSING("protocolVersion", "string") "," MISSING(
                  "capabilities", "object") "," MISSING("clientInfo", "object") "]" },
        { "\"protocolVersion\":1," CLIENT,
          "[{\"field\":\"protocolVersion\",\"error\":\"invalid_type\",\"expected\":\"string\","
          "\"actual\":\"integer\","
          "\"message\":\"protocolVersion must be a string, not a number: put it in quotes.\"}]" },
        { "\"protocolVersion\":null," CLIENT,
          "[{\"field\":\"protocolVersion\",\"error\":\"invalid_type\",\"expected\":\"string\","
          "\"actual\":\"null\","
          "\"message\":\"protocolVersion must be a string, not null.\"}]" },
        { "\"protocolVersion\":\"2025-11-25\",\"capabilities\":[],\"clientInfo\":{}",
          "[{\"field\":\"capabilities\",\"error\":\"invalid_type\",\"expected\":\"object\","
          "\"actual\":\"array\","
          "\"message\":\"capabilities must be an object, not an array.\"}," MISSING(
              "clientInfo.name", "string") "," MISSING("clientInfo.version", "string") "]" },
        { "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":\"me\"",
          "[{\"field\":\"clientInfo\",\"error\":\"invalid_type\",\"expected\":\"object\","
          "\"actual\":\"string\","
          "\"message\":\"clientInfo must be an object, not a string.\"}]" },
    };
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_NONE);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{%s}}",
                 wrong[i].params);
        const char *answer = say(&talk, text);
        assert_true(has(answer, "\"error\":{\"code\":-32602,"));
        if (!has(answer, wrong[i].fields))
            fail_msg("%s has not %s", answer, wrong[i].fields);
        assert_int_equal(talk.channel.status, 200);
        assert_int_equal(talk.peer.revision, MISHAP_MCP_NONE);
    }
    assert_true(has(say(&talk, INITIALIZE("2025-11-25")), "\"result\"")); /* it may try again */
    close_talk(&talk);
}

static void initialized_means_nothing_before_initialize(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_NONE);
    say(&talk, NOTE("notifications/initialized", ""));
    assert_false(talk.peer.initialized);
    close_talk(&talk);
}

static void discover_tells_what_is_served(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_NONE);
    const char *answer = say(&talk, REQUEST("\"d\"", "server/discover", META));
    assert_true(has(answer,
                    "{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"result\":{\"supportedVersions\":"
                    "[\"2026-07-28\"],\"capabilities\":{\"tools\":{\"listChanged\":true},"));
    assert_true(has(answer, ",\"instructions\":\"sample: A sample."));
    assert_int_equal(talk.peer.revision, MISHAP_MCP_NONE); /* nothing is kept of it */
    close_talk(&talk);
}

/* -- requests that are still being answered ---------------------------------------------------- */

#define ECHO(id) REQUEST(id, "tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}")

/* -- pages ------------------------------------------------------------------------------------- */

static bool read_cursor(const char *params, size_t count, size_t *first)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_mcp_message message = { 0 };
    assert_true(mishap_json_read(&reader, mishap_text_of(params)));
    message.params = reader.root;
    bool ours = mishap_mcp_cursor_read(&message, count, first);
    mishap_json_reader_release(&reader);
    return ours;
}

static void a_cursor_is_read_back(void **state)
{
    (void)state;
    static const size_t counts[] = { 2, 51, 100, 100000 };
    char storage[256];
    size_t first;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t next = 1; next < counts[c]; next += 1 + counts[c] / 50) {
            mishap_buffer b;
            mishap_buffer_init(&b, storage, sizeof storage);
            mishap_json_open(&b, '{');
            mishap_mcp_put_cursor(&b, next, counts[c]);
            mishap_json_close(&b, '}');
            mishap_buffer_put_char(&b, '\0');
            memcpy(strstr(storage, "\"nextCursor"), "    \"cursor", 11); /* as the client has it */
            assert_true(read_cursor(storage, counts[c], &first));
            assert_int_equal(first, next);
            assert_false(read_cursor(storage, counts[c] + 1, &first)); /* of another list */
            for (char *digit = strrchr(storage, ':') + 2; *digit != '"'; digit++) {
                *digit ^= 1;
                assert_false(read_cursor(storage, counts[c], &first));
                *digit ^= 1;
            }
        }
    }
    mishap_buffer b;
    mishap_buffer_init(&b, storage, sizeof storage);
    mishap_mcp_put_cursor(&b, 50, 50); /* that was the last page */
    assert_int_equal(b.length, 0);
}

static void what_is_no_cursor_is_refused(void **state)
{
    (void)state;
    size_t first = 7;
    assert_true(read_cursor("{}", 100, &first));
    assert_int_equal(first, 0);
    assert_true(read_cursor("{\"cursor\":null}", 100, &first)); /* as good as none */
    assert_int_equal(first, 0);
    static const char *const others[] = { "\"\"",
                                          "7",
                                          "{}",
                                          "\"abc\"",
                                          "\"0000000000000000\"",
                                          "\"ffffffffffffffff\"",
                                          "\"zzzzzzzzzzzzzzzz\"",
                                          "\"00000032000000000\"" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char params[64];
        snprintf(params, sizeof params, "{\"cursor\":%s}", others[i]);
        assert_false(read_cursor(params, 100, &first));
    }
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_11_25);
    static const char *const lists[] = { "tools/list", "resources/list", "prompts/list",
                                         "resources/templates/list" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{\"cursor\":\"x\"}}",
                 lists[i]);
        assert_true(has(say(&talk, text), "\"error\":{\"code\":-32602,"));
        assert_int_equal(talk.channel.status, 200);
    }
    close_talk(&talk);
}

/* -- what stays inside ------------------------------------------------------------------------- */

static void nothing_private_leaves(void **state)
{
    (void)state;
    static const char *const uris[] = { "test://private", "test://trace" };
    char path[] = "/tmp/mishap-mcp-XXXXXX", incident[64];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    setenv("SAMPLE_LOG", path, 1);
    for (int modern = 0; modern < 2; modern++) {
        for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
            struct talk talk;
            char text[1024];
            open_talk(&talk, MISHAP_MCP_2025_11_25);
            snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{"
                     "\"uri\":\"%s\"%s}}",
                     uris[i], modern ? "," META : "");
            const char *answer = say(&talk, text);
            assert_true(has(answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,"));
            assert_false(has(answer, MARKER));
            assert_false(has(answer, "Traceback"));
            assert_false(has(answer, ".c"));
            assert_int_equal(talk.channel.status, 200);
            const char *at = strstr(answer, "\"incident\":\"");
            assert_non_null(at);
            snprintf(incident, sizeof incident, "%.36s", at + 12);
            close_talk(&talk);

            size_t length; /* the operator has it all, under the same id */
            char *log = read_file(path, &length);
            assert_true(has(log, incident));
            assert_true(has(log, MARKER));
            free(log);
            assert_int_equal(truncate(path, 0), 0);
        }
    }
    setenv("SAMPLE_LOG", "", 1);
    unlink(path);
}

/* An id is given for what there is more to say of than the caller is told. */
static void an_incident_is_for_what_is_kept(void **state)
{
    (void)state;
    mishap *const failures[] = {
        mishap_raise(NOT_FOUND, "a"),
        mishap_note(mishap_raise(NOT_FOUND, "b"), "at", MARKER),
        mishap_because(mishap_raise(NOT_AUTHORIZED, "c"), mishap_raise(TIMEOUT, MARKER)),
        mishap_raise(TIMEOUT, "d"),
        mishap_note(mishap_raise(BAD_REQUEST, "e"), "at", MARKER),
        mishap_incident(mishap_raise(INTERNAL_ERROR, "f"), "7"),
    };
    static const char *const ids[] = { NULL, "\"0", "\"0", "\"0", NULL, "\"7\"" };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct talk talk;
        char part[32];
        open_talk(&talk, MISHAP_MCP_2025_11_25);
        mishap_mcp_refuse(&talk.peer, &talk.channel, T("1"), -32603, 200, failures[i],
                          "\"more\":[1]", NULL);
        const char *answer = heard(&talk);
        snprintf(part, sizeof part, "\"incident\":%s", ids[i] ? ids[i] : "");
        assert_int_equal(has(answer, part), ids[i] != NULL);
        assert_false(has(answer, MARKER));
        assert_true(has(answer, ",\"more\":[1]}}}\n"));
        mishap_free(failures[i]);
        close_talk(&talk);
    }
}

static size_t count_of(const char *text, const char *words)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        count++;
    return count;
}

/* A mistake of the caller alone has one record, which holds nothing private; the caller is not
 * told of an incident. */
static void a_mistake_of_the_caller_has_one_record_and_is_no_incident(void **state)
{
    (void)state;
    static const char *const mistakes[] = {
        "{",
        "[]",
        "{}",
        REQUEST("1", "no/such", ""),
        REQUEST("1", "resources/read", ""),
        REQUEST("1", "resources/read", "\"uri\":\"test://nowhere\""),
        REQUEST("1", "tools/call", "\"name\":\"nobody\""),
        REQUEST("1", "tools/call", ""),
    };
    char path[] = "/tmp/mishap-mcp-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    setenv("SAMPLE_LOG", path, 1);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct talk talk;
        open_talk(&talk, MISHAP_MCP_2025_11_25);
        const char *answer = say(&talk, mistakes[i]);
        assert_true(has(answer, "\"error\""));
        assert_false(has(answer, "\"incident\""));
        close_talk(&talk);
    }
    size_t length;
    char *log = read_file(path, &length);
    assert_int_equal(count_of(log, "\"kind\":\"whole\""), sizeof mistakes / sizeof *mistakes);
    assert_int_equal(count_of(log, "\n"), sizeof mistakes / sizeof *mistakes);
    assert_int_equal(count_of(log, "\"category\":\"system\""), 0);
    assert_int_equal(count_of(log, "\"noted\":") + count_of(log, "\"causes\":"), 0);
    free(log);
    setenv("SAMPLE_LOG", "", 1);
    unlink(path);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* A channel with as much room as a transport keeps, and a conversation on it: there is an answer to
 * each request, and each line is whole. */
static void talk_without_memory(const void *input)
{
    static char room[2048];
    const char *const *said = input;
    size_t saved = fail_at;
    struct talk talk;
    fail_at = 0;
    open_talk(&talk, MISHAP_MCP_2025_03_26);
    fail_at = saved;
    mishap_buffer_init(&talk.out, room, sizeof room);
    mishap_mcp_take_text(&talk.peer, &talk.channel, &talk.reader, mishap_text_of(*said));
    fail_at = 0; /* not while looking at it */
    run_flights(&talk);
    bool listens = has(*said, "listen") && talk.peer.subscriptions;
    assert_int_equal(talk.finished, listens ? 0 : 1);
    assert_false(talk.out.failed);
    for (size_t at = 0; at < talk.out.length;) {
        const char *line = talk.out.data + at;
        const char *stop = memchr(line, '\n', talk.out.length - at);
        assert_non_null(stop);
        yyjson_doc *document = yyjson_read(line, (size_t)(stop - line), 0);
        assert_non_null(document);
        yyjson_val *root = yyjson_doc_get_root(document);
        assert_true(yyjson_is_arr(root) ||
                    yyjson_equals_str(yyjson_obj_get(root, "jsonrpc"), "2.0"));
        yyjson_doc_free(document);
        at += (size_t)(stop - line) + 1;
    }
    if (!listens)
        assert_true(talk.out.length > 0);
    close_talk(&talk);
    fail_at = saved;
}

static void each_lack_of_memory_is_survived(void **state)
{
    (void)state;
    static const char *const said[] = {
        REQUEST("1", "tools/list", ""),
        REQUEST("1", "tools/list", META),
        REQUEST("1", "server/discover", META),
        REQUEST("1", "initialize", "\"protocolVersion\":\"2025-06-18\"," CLIENT),
        REQUEST("1", "resources/list", ""),
        REQUEST("1", "resources/read", "\"uri\":\"test://private\""),
        REQUEST("1", "resources/read", "\"uri\":\"test://trace\""),
        REQUEST("1", "resources/read", "\"uri\":\"catalog://codes/TIMEOUT\""),
        REQUEST("1", "prompts/list", META),
        REQUEST("1", "prompts/get", "\"name\":\"p\""),
        REQUEST("1", "subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true}," META),
        ECHO("1"),
        SLOW("1"),
        REQUEST("1", "tools/call", "\"name\":\"echo\""),
        "[" ECHO("1") "," PING("2") "," REQUEST("3", "tools/list", "") "]",
    };
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        torture(talk_without_memory, &said[i]);
    mishap_use_allocator(NULL);
}

/* What was agreed is what the client was told. */
static void initialize_without_memory(const void *input)
{
    char room[400]; /* enough for an error, too little for the result */
    size_t saved = fail_at;
    struct talk talk;
    fail_at = 0;
    open_talk(&talk, MISHAP_MCP_NONE);
    fail_at = saved;
    mishap_buffer_init(&talk.out, room, sizeof room);
    mishap_mcp_take_text(&talk.peer, &talk.channel, &talk.reader, mishap_text_of(input));
    fail_at = 0;
    bool agreed = talk.peer.revision != MISHAP_MCP_NONE;
    assert_int_equal(agreed, has(heard(&talk), ",\"result\":{"));
    close_talk(&talk);
    fail_at = saved;
}

static void nothing_is_agreed_without_memory(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(initialize_without_memory, INITIALIZE("2025-11-25"));
    mishap_use_allocator(NULL);
}

/* Even a channel without any room is left as it was found. */
static void a_channel_without_room_is_told_so(void **state)
{
    (void)state;
    struct talk talk;
    mishap_use_allocator(&failing_allocator);
    fail_at = 0;
    open_talk(&talk, MISHAP_MCP_2025_11_25);
    mishap_buffer_put_char(&talk.out, '\n');
    size_t before = talk.out.length = talk.out.capacity; /* full */
    memset(talk.out.data, '\n', before);
    mishap_mcp_message message;
    mishap_mcp_flaw flaw;
    assert_true(mishap_mcp_read(&talk.reader, T(PING("1")), &message, &flaw));
    calls = 0;
    fail_at = 1;
    fail_once = false;
    mishap_mcp_take(&talk.peer, &talk.channel, &message);
    assert_true(talk.out.failed);
    assert_int_equal(talk.out.length, before);
    assert_int_equal(talk.finished, 1);
    talk.out.failed = false; /* a notification goes without a word */
    mishap_mcp_finish_notification(&talk.channel,
                                   mishap_mcp_begin_notification(&talk.channel, "notifications/x"));
    assert_false(talk.out.failed);
    assert_int_equal(talk.out.length, before);
    fail_at = 0;
    close_talk(&talk);
    mishap_use_allocator(NULL);
}

int main(void)
{
    setenv("SAMPLE_LOG", "", 1);
    const struct CMUnitTest tests[] = {
        TEST(each_revision_has_its_methods),
        TEST(a_header_can_ask_for_what_is_missing),
        TEST(the_revision_is_negotiated),
        TEST(initialize_wants_its_parameters),
        TEST(initialized_means_nothing_before_initialize),
        TEST(discover_tells_what_is_served),
        TEST(a_cursor_is_read_back),
        TEST(what_is_no_cursor_is_refused),
        TEST(nothing_private_leaves),
        TEST(an_incident_is_for_what_is_kept),
        TEST(a_mistake_of_the_caller_has_one_record_and_is_no_incident),
        TEST(each_lack_of_memory_is_survived),
        TEST(nothing_is_agreed_without_memory),
        TEST(a_channel_without_room_is_told_so),
    };
    return RUN(tests);
}
