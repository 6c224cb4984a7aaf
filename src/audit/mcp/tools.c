/*
 * The calls of one tool. A tool that is not declared as read-only is called only with arguments
 * that its schema refuses, and only if some are required: a server that does not look at the schema
 * would run it otherwise. A tool that is declared as destructive is not called without
 * --allow-destructive.
 */
#include <ctype.h>
#include <stdio.h>

#include "audit/mcp/inside.h"

#define UNKNOWN_ARGUMENT "mishap_no_such_argument"

/* -- writing ----------------------------------------------------------------------------------- */

static void begin_call(mishap_buffer *b, const mcp_tool *tool)
{
    MISHAP_PUT(b, "{\"name\":");
    mishap_json_string(b, tool->name);
    MISHAP_PUT(b, ",\"arguments\":{");
}

/* Call it with what was written; the buffer is released. */
static mcp_end call(mcp_audit *m, const mcp_tool *tool, mishap_buffer *b)
{
    MISHAP_PUT(b, "}}");
    m->name = tool->name.data;
    mcp_end end = b->failed ? MCP_UNSENT
                            : mishap_audit_mcp_request(m, tool->name.data, "tools/call",
                                                       mishap_buffer_text(b), m->request_ms);
    mishap_buffer_release(b);
    m->name = NULL;
    if (end == MCP_ANSWERED)
        mishap_audit_mcp_judge_answer(m);
    return end;
}

static void put_fitting(mishap_buffer *b, const mcp_tool *tool)
{
    for (size_t i = 0; i < tool->count; i++) {
        const mcp_argument *argument = &tool->arguments[i];
        if (!argument->required)
            continue;
        mishap_json_key(b, argument->name);
        if (argument->fits.data)
            mishap_buffer_put_text(b, argument->fits);
        else
            MISHAP_PUT(b, "\"mishap\"");
    }
}

/* -- judging ----------------------------------------------------------------------------------- */

/* Does the answer have this word? Other letters and digits may not touch it. A name that JSON may
 * write with escapes is not looked for. */
static bool has_name(const mcp_audit *m, mishap_text name)
{
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.data[i]) && !strchr("_-.$ ", name.data[i]))
            return true;
    const char *at = m->line.data, *end = at + m->line.length, *hit;
    while (name.length && (size_t)(end - at) >= name.length &&
           (hit = memmem(at, (size_t)(end - at), name.data, name.length))) {
        bool begins = hit == m->line.data || !isalnum((unsigned char)hit[-1]);
        bool ends = hit + name.length == end || !isalnum((unsigned char)hit[name.length]);
        if (begins && ends)
            return true;
        at = hit + 1;
    }
    return false;
}

typedef bool is_bad_argument(const mcp_tool *tool, const mcp_argument *argument);

static bool is_missing(const mcp_tool *tool, const mcp_argument *argument)
{
    (void)tool;
    return argument->required;
}

/* All required ones whose type is known get a wrong value; if there is none, the first other one.
 */
static bool is_mistyped(const mcp_tool *tool, const mcp_argument *argument)
{
    if (!mishap_audit_mcp_wrong_value(argument->type))
        return false;
    for (const mcp_argument *a = tool->arguments;
         tool->required && a < tool->arguments + tool->count; a++)
        if (a->required && mishap_audit_mcp_wrong_value(a->type))
            return argument->required;
    for (const mcp_argument *a = tool->arguments; a < argument; a++)
        if (mishap_audit_mcp_wrong_value(a->type))
            return false;
    return true;
}

static void judge_names(mcp_audit *m, const mcp_tool *tool, is_bad_argument *is_bad,
                        const char *key)
{
    char absent[256] = "";
    for (size_t i = 0; i < tool->count; i++) {
        const mcp_argument *argument = &tool->arguments[i];
        if (!is_bad(tool, argument) || has_name(m, argument->name))
            continue;
        size_t length = strlen(absent);
        snprintf(absent + length, sizeof absent - length, "%s%.60s", length ? ", " : "",
                 argument->name.data);
    }
    mishap_audit_mcp_judge(m, MCP_NAMED, absent[0] ? MISHAP_AUDIT_FAILED : MISHAP_AUDIT_PASSED, key,
                           "The answer does not name %s.", absent);
}

/* Bad arguments were sent. True: they were refused. */
static bool judge_refusal(mcp_audit *m, const mcp_tool *tool, int check, const char *key)
{
    bool is_error = mishap_audit_mcp_is_error_result(m);
    bool refused = is_error || yyjson_obj_get(m->root, "error");
    int64_t code = mishap_audit_mcp_code(m);
    mishap_audit_mcp_judge(m, check, refused ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, NULL,
                           "The call succeeded, although its arguments do not fit the schema.");
    if (!refused) {
        if (!tool->read_only)
            mishap_audit_created(m->audit, tool->name.data, m->status);
        return false;
    }
    mishap_audit_mcp_judge(m, MCP_BAD_ARGUMENTS,
                           is_error || code == -32602 ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED,
                           key, "The error has the code %lld.", (long long)code);
    if (strcmp(m->version, "2025-11-25") >= 0)
        mishap_audit_mcp_judge(
            m, MCP_IS_ERROR, is_error ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, key,
            "The answer is the error %lld, which models do not see.", (long long)code);
    return true;
}

/* -- calls ------------------------------------------------------------------------------------- */

/* The answer to bad arguments. */
static void judge_call(mcp_audit *m, const mcp_tool *tool, mcp_end end, int check, const char *key,
                       is_bad_argument *is_bad)
{
    if (end == MCP_ANSWERED) {
        if (judge_refusal(m, tool, check, key) && is_bad)
            judge_names(m, tool, is_bad, key);
    } else
        mishap_audit_mcp_judge_no_answer(m, end);
}

static void call_without_required(mcp_audit *m, const mcp_tool *tool)
{
    mishap_buffer b = { 0 };
    begin_call(&b, tool);
    judge_call(m, tool, call(m, tool, &b), MCP_MISSING_REFUSED, "missing", is_missing);
}

static void call_with_wrong_types(mcp_audit *m, const mcp_tool *tool)
{
    mishap_buffer b = { 0 };
    size_t wrong = 0;
    begin_call(&b, tool);
    for (size_t i = 0; i < tool->count; i++) {
        const mcp_argument *argument = &tool->arguments[i];
        bool bad = is_mistyped(tool, argument);
        if (!bad && !argument->required)
            continue;
        wrong += bad;
        mishap_json_key(&b, argument->name);
        if (bad)
            mishap_buffer_put_text(&b,
                                   mishap_text_of(mishap_audit_mcp_wrong_value(argument->type)));
        else if (argument->fits.data)
            mishap_buffer_put_text(&b, argument->fits);
        else
            MISHAP_PUT(&b, "\"mishap\"");
    }
    if (wrong)
        judge_call(m, tool, call(m, tool, &b), MCP_TYPE_REFUSED, "type", is_mistyped);
    mishap_buffer_release(&b);
}

/* All other arguments fit, so a server that drops the unknown one runs the tool: it is sent only to
 * a tool that changes nothing. */
static void call_with_unknown(mcp_audit *m, const mcp_tool *tool)
{
    mishap_buffer b = { 0 };
    begin_call(&b, tool);
    put_fitting(&b, tool);
    mishap_json_key(&b, mishap_text_of(UNKNOWN_ARGUMENT));
    MISHAP_PUT(&b, "1");
    mcp_end end = call(m, tool, &b);
    judge_call(m, tool, end, MCP_UNKNOWN_REFUSED, "unknown", NULL);
    if (end == MCP_ANSWERED &&
        (yyjson_obj_get(m->root, "error") || mishap_audit_mcp_is_error_result(m)))
        mishap_audit_mcp_judge(m, MCP_NAMED,
                               has_name(m, mishap_text_of(UNKNOWN_ARGUMENT)) ? MISHAP_AUDIT_PASSED
                                                                             : MISHAP_AUDIT_FAILED,
                               "unknown", "The answer does not name " UNKNOWN_ARGUMENT ".");
}

/* Arguments that fit, for a tool that changes nothing: what its failures say is looked at. */
static void call_as_meant(mcp_audit *m, const mcp_tool *tool)
{
    char params[64];
    mishap_buffer b = { 0 };
    begin_call(&b, tool);
    put_fitting(&b, tool);
    if (call(m, tool, &b) != MCP_SILENT)
        return;
    snprintf(params, sizeof params, "{\"requestId\":%lld}", (long long)m->id);
    mishap_audit_mcp_notify(m, "notifications/cancelled", params);
}

static void leave_out(mcp_audit *m, const mcp_tool *tool, const char *why)
{
    mishap_audit_report(
        m->audit, &mishap_audit_mcp_checks[MCP_MISSING_REFUSED], MISHAP_AUDIT_UNDECIDED,
        &(mishap_audit_seen){ .place = tool->name.data, .detail = mishap_text_of(why) });
}

void mishap_audit_mcp_probe_tool(mcp_audit *m, const mcp_tool *tool)
{
    if (tool->fault)
        return;
    if (tool->destructive && !m->target->allow_destructive) {
        leave_out(m, tool, "The tool is declared as destructive, and was not called.");
        return;
    }
    if (tool->left_out) {
        leave_out(m, tool, tool->left_out);
        return;
    }
    if (!tool->required && !tool->read_only) {
        leave_out(m, tool,
                  "The tool requires no argument and is not declared as read-only, so a "
                  "call could change something. It was not called.");
        return;
    }
    if (tool->required)
        call_without_required(m, tool);
    if (!m->gone)
        call_with_wrong_types(m, tool);
    if (!m->gone && tool->read_only && tool->fillable && tool->closed)
        call_with_unknown(m, tool);
    if (!m->gone && tool->read_only && tool->fillable)
        call_as_meant(m, tool);
}
