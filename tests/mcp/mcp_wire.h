/* A conversation in memory, for the tests of the MCP boundary: ask, and look into the answer. */
#ifndef MISHAP_MCP_WIRE_H
#define MISHAP_MCP_WIRE_H

#include "testing.h"

#include "mcp/dispatch/dispatch.h"

struct wire {
    mishap_mcp_channel channel; /* the first */
    mishap_mcp_server server;
    mishap_mcp_peer peer;
    mishap_mcp_revision revision; /* that is spoken */
    mishap_json_reader reader;
    mishap_buffer out; /* messages, a line each */
    int finished;      /* requests */
    yyjson_doc *answer;
};

static mishap_buffer *begin_line(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    (void)kind;
    return &((struct wire *)(void *)channel)->out;
}

static void end_line(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    (void)kind;
    mishap_buffer_put_char(&((struct wire *)(void *)channel)->out, '\n');
}

static void count_finish(mishap_mcp_channel *channel)
{
    ((struct wire *)(void *)channel)->finished++;
}

/* The first line of what came, as JSON. */
static inline void read_answer(struct wire *w)
{
    char *feed = w->out.length ? memchr(w->out.data, '\n', w->out.length) : NULL;
    yyjson_doc_free(w->answer);
    w->answer = feed ? yyjson_read(w->out.data, (size_t)(feed - w->out.data), 0) : NULL;
}

/* Send a text; what came back is in w->out and, its first line, in w->answer. */
static inline void send_text(struct wire *w, const char *text)
{
    mishap_buffer_reset(&w->out);
    mishap_mcp_take_text(&w->peer, &w->channel, &w->reader, mishap_text_of(text));
    read_answer(w);
}

/* Ask a method; the members of its params are JSON without braces. */
static inline void ask(struct wire *w, const char *method, const char *members)
{
    static const char meta[] =
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}";
    bool modern = mishap_mcp_is_modern(w->revision);
    size_t size = strlen(method) + strlen(members) + sizeof meta + 100;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{%s%s%s}}",
             method, modern ? meta : "", modern && *members ? "," : "", members);
    send_text(w, text);
    free(text);
}

static inline void open_wire(struct wire *w, const mishap_app *app, mishap_mcp_revision revision)
{
    char hello[300];
    *w = (struct wire){ .channel = { .begin = begin_line, .end = end_line, .finish = count_finish },
                        .server = { .app = app, .message_limit = 1 << 20, .flight_limit = 8 },
                        .revision = revision };
    assert_null(mishap_mcp_server_make(&w->server, false));
    mishap_mcp_peer_init(&w->peer, &w->server);
    w->peer.aside = &w->channel;
    if (mishap_mcp_is_modern(revision))
        return;
    snprintf(hello, sizeof hello,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\","
             "\"version\":\"1\"}}}",
             mishap_mcp_revision_name(revision));
    send_text(w, hello);
    send_text(w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    w->finished = 0;
}

static inline void close_wire(struct wire *w)
{
    mishap_mcp_peer_release(&w->peer);
    mishap_mcp_server_release(&w->server);
    mishap_json_reader_release(&w->reader);
    mishap_buffer_release(&w->out);
    yyjson_doc_free(w->answer);
}

/* -- looking into the answer ------------------------------------------------------------------- */

static inline yyjson_val *at(struct wire *w, const char *pointer)
{
    return yyjson_ptr_get(yyjson_doc_get_root(w->answer), pointer);
}

static inline const char *text_at(struct wire *w, const char *pointer)
{
    const char *text = yyjson_get_str(at(w, pointer));
    return text ? text : "(no text)";
}

static inline long number_at(struct wire *w, const char *pointer)
{
    assert_true(yyjson_is_int(at(w, pointer)));
    return (long)yyjson_get_sint(at(w, pointer));
}

static inline size_t count_at(struct wire *w, const char *pointer)
{
    assert_true(yyjson_is_arr(at(w, pointer)));
    return yyjson_arr_size(at(w, pointer));
}

static inline void assert_error(struct wire *w, long code)
{
    assert_non_null(at(w, "/error"));
    assert_int_equal(number_at(w, "/error/code"), code);
    assert_null(at(w, "/result"));
}

#endif
