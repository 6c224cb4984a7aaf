/*
 * A client and a server that say anything to each other through the gateway. The first byte of a
 * line says what it is: `c` a line of the client, `s` one of the server, `e` the end of a server
 * and the start of the next, `t` time that passes. An input that begins with `a` offers some tools
 * only, and of one that begins with `u` the server is behind a URL. What comes out on both sides
 * are lines with one JSON object each, no request is answered twice, and in the end none is left
 * without an answer.
 */
#include "fuzz.h"
#include "mcp/gateway/inside.h"

enum { MOST_IDS = 4096 };

static struct {
    mishap_text ids[MOST_IDS];
    size_t count;
} asked;

static mishap_arena arena;

/* Requests of the client that the gateway has taken, as it knows them. */
static bool take_out(mishap_text id)
{
    for (size_t i = 0; i < asked.count; i++)
        if (mishap_text_equal(asked.ids[i], id)) {
            asked.ids[i] = asked.ids[--asked.count];
            return true;
        }
    return false;
}

static void expect_line(mishap_text line, bool to_client)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    mishap_json_reader reader = MISHAP_JSON_READER;
    EXPECT(mishap_json_read(&reader, line), "a line that is no JSON");
    EXPECT(yyjson_is_obj(reader.root), "a line that is no object");
    expect_utf8(line);
    yyjson_val *root = reader.root;
    bool answer = !yyjson_obj_get(root, "method");
    if (to_client && answer && mishap_mcp_id_read(yyjson_obj_get(root, "id"), room, &id))
        EXPECT(take_out(id), "an answer to nothing");
    mishap_json_reader_release(&reader);
}

static void expect_lines(mishap_buffer *out, bool to_client)
{
    mishap_text rest = mishap_buffer_text(out);
    while (rest.length) {
        const char *end = memchr(rest.data, '\n', rest.length);
        EXPECT(end != NULL, "a line without an end");
        size_t length = (size_t)(end - rest.data);
        expect_line((mishap_text){ rest.data, length }, to_client);
        rest = (mishap_text){ end + 1, rest.length - length - 1 };
    }
    mishap_buffer_reset(out);
}

/* One line may have several requests, and each may be refused. */
static void remember(yyjson_val *value)
{
    char room[MISHAP_MCP_ID_LIMIT];
    mishap_text id;
    if (yyjson_is_obj(value) && asked.count < MOST_IDS &&
        mishap_mcp_id_read(yyjson_obj_get(value, "id"), room, &id))
        asked.ids[asked.count++] = mishap_arena_copy(&arena, id);
}

static void remember_line(mishap_text line)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t index, count;
    yyjson_val *item;
    if (mishap_json_read(&reader, line)) {
        remember(reader.root);
        MISHAP_JSON_ITEMS (yyjson_is_arr(reader.root) ? reader.root : NULL, index, count, item)
            remember(item);
    }
    mishap_json_reader_release(&reader);
}

static void take(gateway *g, char what, mishap_text line)
{
    if (what == 'c') {
        remember_line(line);
        mishap_mcp_gateway_from_client(g, line);
    } else if (what == 's' && g->phase != GATEWAY_DOWN) {
        mishap_mcp_gateway_from_server(g, line);
    } else if (what == 'e') {
        mishap_mcp_gateway_ended(g, "ended", g->now_ns + (int64_t)line.length * 100000000);
        expect_lines(&g->to_client, true);
        mishap_mcp_gateway_started(g);
    } else if (what == 't') {
        g->now_ns += (int64_t)line.length * 100000000;
        mishap_mcp_gateway_tick(g);
    }
    expect_lines(&g->to_client, true);
    expect_lines(&g->to_server, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mishap_text allow[] = { MISHAP_TEXT("echo"), MISHAP_TEXT("pay") };
    static gateway g;
    mishap_mcp_gateway_settings settings = { .start_ms = 1000, .call_ms = 5000 };
    mishap_text rest = { size ? (const char *)data : "", size };
    mishap_arena_init(&arena, NULL, 0);
    asked.count = 0;
    if (size && data[0] == 'a') {
        settings.allow = allow;
        settings.allow_count = 2;
    }
    if (size && data[0] == 'u')
        settings.url = "http://127.0.0.1:1/mcp";
    mishap_mcp_gateway_open(&g, &settings);
    mishap_mcp_gateway_started(&g);
    while (rest.length) {
        const char *end = memchr(rest.data, '\n', rest.length);
        size_t length = end ? (size_t)(end - rest.data) : rest.length;
        if (length)
            take(&g, rest.data[0], (mishap_text){ rest.data + 1, length - 1 });
        length += end != NULL;
        rest = (mishap_text){ rest.data + length, rest.length - length };
    }
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns + INT64_C(60000000000));
    EXPECT(g.calls.count == 0 && g.held == 0 && g.questions.count == 0 && !g.call_bytes,
           "something is left");
    expect_lines(&g.to_client, true);
    mishap_mcp_gateway_close(&g);
    mishap_arena_release(&arena);
    return 0;
}
