/* The audit of an MCP server: which messages are sent, in a fixed order. */
#include <stdio.h>

#include "audit/mcp/inside.h"

#define UNKNOWN_METHOD "mishap/no-such-method"
#define UNKNOWN_TOOL   "mishap_no_such_tool"

enum {
    REQUEST_MS = 10000,
    SILENCE_MS = 3000, /* after which malformed JSON is not answered any more */
    MOST_PAGES = 64,
    START_TIMES = 3, /* a command must start first: the first answer may take longer */
};

static const mishap_text none = { NULL, 0 };

static void judge(mcp_audit *m, int check, bool holds, const char *detail)
{
    mishap_audit_mcp_judge(m, check, holds ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, NULL, "%s",
                           detail);
}

/* -- the beginning ----------------------------------------------------------------------------- */

/* A server that refuses initialize may know only revisions without it. */
static bool discover(mcp_audit *m)
{
    m->stateless = true;
    snprintf(m->version, sizeof m->version, "2026-07-28");
    mcp_end end = mishap_audit_mcp_request(m, "server/discover", "server/discover", none,
                                           m->request_ms);
    yyjson_val *result = yyjson_obj_get(m->root, "result");
    if (end == MCP_ANSWERED && yyjson_is_obj(result)) {
        m->has_tools = yyjson_obj_get(yyjson_obj_get(result, "capabilities"), "tools") != NULL;
        return true;
    }
    m->stateless = false;
    m->version[0] = '\0';
    return false;
}

/* initialize has no answer. Over HTTP something else may have come: often the path is wrong. */
static void judge_no_server(mcp_audit *m, mcp_end end)
{
    mishap_text type = m->client && m->status ? mishap_client_field(&m->response, "Content-Type")
                                              : none;
    if (end == MCP_GONE || !m->client || !m->status)
        judge(m, MCP_INITIALIZE, false,
              end == MCP_GONE ? "The server has ended, or what it sends is no answer."
                              : "There was no answer.");
    else
        mishap_audit_mcp_judge(m, MCP_INITIALIZE, MISHAP_AUDIT_FAILED, NULL,
                               "The response has the status %d and %s%s, but no answer of "
                               "JSON-RPC. Is the path of the URL right? It is often /mcp.",
                               m->status, type.length ? "the type " : "no type",
                               mishap_audit_quote(m->audit, type, 100));
}

/* False: there is nothing more to do. */
static bool initialize(mcp_audit *m)
{
    static const char params[] = "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                                 "\"clientInfo\":{\"name\":\"mishap-audit\",\"version\":\"1\"}}";
    mcp_end end = mishap_audit_mcp_request(
        m, "initialize", "initialize", (mishap_text){ params, sizeof params - 1 }, m->request_ms);
    if (end == MCP_UNSENT) {
        if (mishap_audit_is_dry(m->audit))
            mishap_audit_mcp_notify(m, "notifications/initialized", NULL);
        return mishap_audit_is_dry(m->audit);
    }
    if (end != MCP_ANSWERED) {
        judge_no_server(m, end);
        return false;
    }
    yyjson_val *result = yyjson_obj_get(m->root, "result");
    mishap_text version = mishap_json_text(yyjson_obj_get(result, "protocolVersion"));
    if (!result && !m->gone && discover(m)) {
        judge(m, MCP_INITIALIZE, true, "");
        return true;
    }
    yyjson_val *capabilities = yyjson_obj_get(result, "capabilities");
    yyjson_val *name = yyjson_obj_get(yyjson_obj_get(result, "serverInfo"), "name");
    judge(m, MCP_INITIALIZE,
          version.length && version.length < sizeof m->version && yyjson_is_obj(capabilities) &&
              yyjson_is_str(name),
          "The answer has no protocolVersion, no capabilities or no serverInfo.");
    if (!result)
        return false;
    snprintf(m->version, sizeof m->version, "%.*s",
             (int)(version.length < sizeof m->version ? version.length : 0),
             version.data ? version.data : "");
    m->has_tools = yyjson_is_obj(yyjson_obj_get(capabilities, "tools"));
    mishap_audit_mcp_notify(m, "notifications/initialized", NULL);
    return !m->gone;
}

/* -- the list of tools ------------------------------------------------------------------------- */

/* Keep the tools of one page. False: there is no memory. */
static bool keep_tools(mcp_audit *m, yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item) {
        if (m->tool_count == MCP_MOST_TOOLS)
            return true;
        mcp_tool *tool = &m->tools[m->tool_count++];
        if (!mishap_audit_mcp_read_tool(mishap_audit_arena(m->audit), item, tool))
            return false;
        mishap_audit_report(m->audit, &mishap_audit_mcp_checks[MCP_TOOL_SCHEMA],
                            tool->fault ? MISHAP_AUDIT_FAILED : MISHAP_AUDIT_PASSED,
                            &(mishap_audit_seen){ .place = tool->name.data,
                                                  .detail = mishap_text_of(tool->fault) });
    }
    return true;
}

/* One page; its cursor is the params of the next. False: it was the last, or there is a fault. */
static bool list_page(mcp_audit *m, mishap_buffer *params)
{
    mcp_end end = mishap_audit_mcp_request(m, "tools/list", "tools/list",
                                           mishap_buffer_text(params), m->request_ms);
    if (end != MCP_ANSWERED) {
        mishap_audit_mcp_judge_no_answer(m, end);
        return false;
    }
    yyjson_val *result = yyjson_obj_get(m->root, "result");
    yyjson_val *list = yyjson_obj_get(result, "tools");
    mishap_text cursor = mishap_json_text(yyjson_obj_get(result, "nextCursor"));
    judge(m, MCP_TOOL_LIST, yyjson_is_arr(list), "The answer has no array `tools`.");
    m->starved = m->starved || (yyjson_is_arr(list) && !keep_tools(m, list));
    if (!yyjson_is_arr(list) || m->starved || !cursor.data)
        return false;
    mishap_text before = mishap_arena_copy(mishap_audit_arena(m->audit),
                                           mishap_buffer_text(params));
    mishap_buffer_reset(params);
    MISHAP_PUT(params, "{\"cursor\":");
    mishap_json_string(params, cursor);
    MISHAP_PUT(params, "}");
    if (mishap_text_equal(before, mishap_buffer_text(params))) {
        judge(m, MCP_TOOL_LIST, false,
              "A page has its own cursor as nextCursor: the list never ends.");
        return false;
    }
    return !params->failed;
}

static void list_tools(mcp_audit *m)
{
    mishap_buffer params = { 0 };
    int pages = 1;
    m->tools = mishap_arena_take(mishap_audit_arena(m->audit), MCP_MOST_TOOLS * sizeof *m->tools);
    if (!m->tools)
        return;
    while (list_page(m, &params) && m->tool_count < MCP_MOST_TOOLS && pages < MOST_PAGES)
        pages++;
    if (pages == MOST_PAGES)
        judge(m, MCP_TOOL_LIST, false, "The list of tools has no end after 64 pages.");
    if (m->tool_count == MCP_MOST_TOOLS)
        mishap_audit_remark(m->audit, "Only the first %d tools were looked at.", MCP_MOST_TOOLS);
    mishap_buffer_release(&params);
}

/* -- wrong requests ---------------------------------------------------------------------------- */

/* A request that must be answered with this code. */
static void expect_code(mcp_audit *m, mcp_end end, int check, int64_t code)
{
    char detail[120];
    if (end != MCP_ANSWERED) {
        mishap_audit_mcp_judge_no_answer(m, end);
        return;
    }
    mishap_audit_mcp_judge_answer(m);
    if (yyjson_obj_get(m->root, "error"))
        snprintf(detail, sizeof detail, "The code is %lld, not %lld.",
                 (long long)mishap_audit_mcp_code(m), (long long)code);
    else
        snprintf(detail, sizeof detail, "The answer is a result, not the error %lld.",
                 (long long)code);
    judge(m, check, mishap_audit_mcp_code(m) == code, detail);
}

static void send_unknown_tool(mcp_audit *m)
{
    static const char params[] = "{\"name\":\"" UNKNOWN_TOOL "\",\"arguments\":{}}";
    m->name = UNKNOWN_TOOL;
    mcp_end end = mishap_audit_mcp_request(
        m, "unknown tool", "tools/call", (mishap_text){ params, sizeof params - 1 }, m->request_ms);
    m->name = NULL;
    if (end == MCP_ANSWERED) {
        bool is_error = yyjson_obj_get(m->root, "error") != NULL;
        mishap_audit_mcp_judge_answer(m);
        judge(m, MCP_UNKNOWN_TOOL, is_error || mishap_audit_mcp_is_error_result(m),
              "The call of a tool that does not exist succeeded.");
        judge(m, MCP_UNKNOWN_TOOL_ERROR, is_error && mishap_audit_mcp_code(m) == -32602,
              is_error ? "The code is not -32602." : "The answer is a result with isError.");
    } else
        mishap_audit_mcp_judge_no_answer(m, end);
}

static void send_malformed(mcp_audit *m)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",";
    m->id = 0;
    int wait_ms = m->request_ms < SILENCE_MS ? m->request_ms : SILENCE_MS;
    mcp_end end = mishap_audit_mcp_exchange(m, "malformed JSON", NULL,
                                            (mishap_text){ text, sizeof text - 1 }, wait_ms);
    expect_code(m, end, MCP_PARSE_ERROR, -32700);
}

static void send_wrong_requests(mcp_audit *m)
{
    static const char no_name[] = "{\"arguments\":{}}";
    expect_code(m,
                mishap_audit_mcp_request(m, "unknown method", UNKNOWN_METHOD, none, m->request_ms),
                MCP_UNKNOWN_METHOD, -32601);
    if (m->has_tools) {
        send_unknown_tool(m);
        expect_code(m,
                    mishap_audit_mcp_request(m, "missing name", "tools/call",
                                             (mishap_text){ no_name, sizeof no_name - 1 },
                                             m->request_ms),
                    MCP_MISSING_NAME, -32602);
    }
    send_malformed(m);
}

/* -- the audit --------------------------------------------------------------------------------- */

/* Checks that fail where something happens have passed if nothing has. */
static void pass_rest(mcp_audit *m)
{
    const struct {
        int check;
        bool applies;
    } rest[] = { { MCP_ALIVE, !m->gone }, { MCP_ANSWERS, !m->gone }, { MCP_STDOUT, !m->client },
                 { MCP_JSON, true },      { MCP_IDS, true },         { MCP_BOUNDED, !m->gone } };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (rest[i].applies)
            mishap_audit_pass(m->audit, &mishap_audit_mcp_checks[rest[i].check], "all messages");
}

static bool may_go_on(const mcp_audit *m)
{
    return !m->gone && m->silences < MCP_MOST_SILENCES && !mishap_audit_stopped(m->audit);
}

static void audit_server(mcp_audit *m)
{
    if (!initialize(m))
        return;
    m->has_tools = m->has_tools || mishap_audit_is_dry(m->audit);
    if (m->has_tools)
        list_tools(m);
    send_wrong_requests(m);
    for (size_t i = 0; i < m->tool_count && may_go_on(m); i++)
        mishap_audit_mcp_probe_tool(m, &m->tools[i]);
    if (m->silences >= MCP_MOST_SILENCES)
        mishap_audit_remark(
            m->audit, "%d requests had no answer. Tools that follow were not called.", m->silences);
    mcp_end end = mishap_audit_mcp_request(m, "ping", m->stateless ? "server/discover" : "ping",
                                           none, m->request_ms);
    if (mishap_audit_is_dry(m->audit)) {
        mishap_audit_remark(m->audit, "More requests follow from the answer to tools/list: calls "
                                      "of each tool, before the ping.");
        return;
    }
    if (end == MCP_SILENT || end == MCP_GONE || end == MCP_REFUSED) {
        m->gone = true;
        judge(m, MCP_ALIVE, false, "The last ping was not answered.");
    }
    pass_rest(m);
}

mishap *mishap_audit_mcp(mishap_audit *audit, const mishap_audit_mcp_target *target)
{
    mcp_audit m = { .audit = audit,
                    .target = target,
                    .request_ms = target->request_ms ? target->request_ms : REQUEST_MS };
    mishap *failure = NULL;
    if (!target->url && (!target->argv || !target->argv[0]))
        return mishap_raise(INVALID_ARGUMENT, "The server to audit is missing.");
    if (!mishap_audit_is_dry(audit))
        failure = target->url ? mishap_audit_mcp_open_http(&m) : mishap_audit_mcp_open_stdio(&m);
    if (!failure)
        audit_server(&m);
    bool heard = m.status || mishap_is(m.cause, BAD_GATEWAY) || mishap_is(m.cause, GATEWAY_TIMEOUT);
    if (target->url && !m.version[0] && m.cause && !heard) { /* there is no server */
        failure = m.cause;
        m.cause = NULL;
    }
    if (!failure && target->url && !m.version[0] && (m.status == 401 || m.status == 403))
        failure = mishap_suggest(
            mishap_raise(NOT_AUTHORIZED, "The server answers with %d.", m.status),
            "Give a key with --header.");
    if (!failure && m.starved)
        failure = mishap_out_of_memory();
    mishap_audit_mcp_end_stdio(&m);
    mishap_audit_mcp_end_http(&m);
    mishap_buffer_release(&m.line);
    mishap_json_reader_release(&m.reader);
    return failure;
}
