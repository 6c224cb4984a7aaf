/*
 * A gateway without a process, for tests: lines of a client and of a server go in, lines for both
 * come out.
 */
#ifndef MISHAP_TESTS_MCP_GATEWAYS_H
#define MISHAP_TESTS_MCP_GATEWAYS_H

#include "testing.h"
#include "mcp/gateway/inside.h"

#define HELLO                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"
#define WELCOME(id)                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"protocolVersion\":\"2025-06-18\","           \
    "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}"
#define READY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define TOOLS(id)                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"tools\":["                                   \
    "{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":"  \
    "\"string\"},\"times\":{\"type\":\"integer\"}},\"required\":[\"text\"],"                       \
    "\"additionalProperties\":false},\"annotations\":{\"readOnlyHint\":true}},"                    \
    "{\"name\":\"pay\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":"          \
    "\"object\"}}]}}"
#define CALL(id, tool, arguments)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool    \
    "\",\"arguments\":" arguments "}}"
#define DONE(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[]}}"

static gateway g;
static mishap_mcp_gateway_settings settings;

static inline void begin(void)
{
    settings = (mishap_mcp_gateway_settings){ .start_ms = 1000, .call_ms = 5000 };
    mishap_mcp_gateway_open(&g, &settings);
    g.now_ns = 1000000000;
    mishap_mcp_gateway_started(&g);
}

static inline void client(const char *line)
{
    mishap_mcp_gateway_from_client(&g, mishap_text_of(line));
}

static inline void server(const char *line)
{
    mishap_mcp_gateway_from_server(&g, mishap_text_of(line));
}

static inline void forget(void)
{
    mishap_buffer_reset(&g.to_client);
    mishap_buffer_reset(&g.to_server);
}

/* The lines of a buffer are these, and are taken out. */
static inline void expect_lines(mishap_buffer *out, const char *lines)
{
    mishap_buffer_put_char(out, '\0');
    assert_string_equal(out->data, lines);
    mishap_buffer_reset(out);
}

static inline bool says(const mishap_buffer *out, const char *words)
{
    return memmem(out->data, out->length, words, strlen(words)) != NULL;
}

/* Greeted, and the tools are known. */
static inline void begin_ready(void)
{
    begin();
    client(HELLO);
    server(WELCOME("0"));
    client(READY);
    client("{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"tools/list\"}");
    server(TOOLS("\"l\""));
    forget();
}

/* Greeted, with its tools listed. */
static inline void begin_greeted(void)
{
    begin();
    client(HELLO);
    server(WELCOME("0"));
    client(READY);
    forget();
}

#endif
