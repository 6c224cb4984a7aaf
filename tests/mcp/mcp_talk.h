/*
 * A conversation in memory, from its first message on, with a program that has one of each kind of
 * operation.
 */
#ifndef MISHAP_MCP_TALK_H
#define MISHAP_MCP_TALK_H

#include "mcp/dispatch/dispatch.h"
#include "mcp_runner.h"

#define MARKER "PrivateMarker7f3a"

static inline mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

/* What was said before each call of it ran, in bytes. */
static size_t said_before[8], slow_runs;

static const mishap_buffer *saying;

static inline mishap *slow(mishap_call *call)
{
    said_before[slow_runs++ % 8] = saying->length;
    return mishap_answer_member(call, "done", true);
}

static const mishap_param echo_params[] = {
    { "text", MISHAP_STRING, .required = true, .help = "What to say" },
    { 0 },
};

static inline mishap *fail_in_private(mishap_call *call)
{
    mishap_answer(call, "{\"text\":\"" MARKER "\"}"); /* it was answered already */
    mishap *cause = mishap_raise(RUNTIME_ERROR, "no connection to " MARKER);
    return mishap_note(mishap_because(mishap_raise(INTERNAL_ERROR, "broken " MARKER), cause), "at",
                       MARKER);
}

static inline mishap *fail_with_a_trace(mishap_call *call)
{
    (void)call;
    return mishap_raise(UNAVAILABLE, "Traceback (most recent call last):\n"
                                     "  File \"" MARKER ".py\", line 7, in read\n"
                                     "    raise ValueError('x')\nValueError: x\n");
}

static const mishap_operation operations[] = {
    { .name = "echo",
      .summary = "Say it again",
      .params = echo_params,
      .run = echo,
      .quick = true },
    { .name = "slow", .summary = "Take a while", .run = slow },
    { .name = "slower", .summary = "Take longer", .run = slow, .stateless = true },
    { .name = "private",
      .summary = "Fail in private",
      .run = fail_in_private,
      .quick = true,
      .resource = "test://private" },
    { .name = "trace",
      .summary = "Fail with a stack trace",
      .run = fail_with_a_trace,
      .quick = true,
      .raises = MISHAP_RAISES(UNAVAILABLE),
      .resource = "test://trace" },
    { .name = "p", .summary = "A prompt", .run = slow, .quick = true, .prompt = "p" },
    { 0 },
};

static const mishap_app app = {
    .name = "sample", .version = "1.0", .summary = "A sample", .operations = operations
};

/* Messages stand one a line in `out`. */
struct talk {
    mishap_mcp_channel channel; /* the first */
    mishap_buffer out;
    int finished;
    mishap_mcp_server server;
    mishap_mcp_peer peer;
    mishap_json_reader reader;
    mishap_keeper_plan plan;
};

static inline mishap_buffer *begin(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    (void)kind;
    return &((struct talk *)(void *)channel)->out;
}

static inline void end(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    (void)kind;
    mishap_buffer_put_char(&((struct talk *)(void *)channel)->out, '\n');
}

static inline void finish(mishap_mcp_channel *channel)
{
    ((struct talk *)(void *)channel)->finished++;
}

static inline void open_talk(struct talk *talk, mishap_mcp_revision revision)
{
    memset(talk, 0, sizeof *talk);
    talk->channel = (mishap_mcp_channel){ .begin = begin, .end = end, .finish = finish };
    talk->server = (mishap_mcp_server){ .app = &app };
    talk->server.runner = open_inside(&talk->plan, &app, 8);
    assert_null(mishap_mcp_server_make(&talk->server, false));
    mishap_mcp_peer_init(&talk->peer, &talk->server);
    talk->peer.revision = revision;
    saying = &talk->out;
    slow_runs = 0;
}

static inline void close_talk(struct talk *talk)
{
    mishap_mcp_peer_release(&talk->peer);
    assert_int_equal(talk->peer.flight_count, 0);
    assert_int_equal(mishap_runner_count(talk->server.runner, true), 0);
    mishap_runner_close(talk->server.runner);
    mishap_mcp_server_release(&talk->server);
    mishap_json_reader_release(&talk->reader);
    mishap_buffer_release(&talk->out);
}

/* Everything that came back since the last time, with a NUL after it. */
static inline const char *heard(struct talk *talk)
{
    static char said[65536];
    assert_false(talk->out.failed);
    assert_true(talk->out.length < sizeof said);
    if (talk->out.length)
        memcpy(said, talk->out.data, talk->out.length);
    said[talk->out.length] = '\0';
    mishap_buffer_reset(&talk->out);
    return said;
}

static inline const char *say(struct talk *talk, const char *text)
{
    mishap_mcp_take_text(&talk->peer, &talk->channel, &talk->reader, mishap_text_of(text));
    return heard(talk);
}

/* All calls that wait, one after the other: those of `slow` before those of `slower`. */
static inline void run_flights(struct talk *talk)
{
    mishap_runner_flush(talk->server.runner);
    assert_int_equal(talk->peer.flight_count, 0);
}

static inline bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static inline bool starts(const char *text, const char *part)
{
    return strncmp(text, part, strlen(part)) == 0;
}

#define VERSION      "io.modelcontextprotocol/protocolVersion"
#define CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META         "\"_meta\":{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":{}}"

#define REQUEST(id, method, params)                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"

#define NOTE(method, params)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":{" params "}}"

#define CLIENT "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}"

#define INITIALIZE(version)                                                                        \
    REQUEST("1", "initialize", "\"protocolVersion\":\"" version "\"," CLIENT)

#define SLOW(id) REQUEST(id, "tools/call", "\"name\":\"slow\"")

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"

#endif
