/* What every answer is held against. */
#include <stdarg.h>
#include <stdio.h>

#include "audit/mcp/inside.h"

int64_t mishap_audit_mcp_code(const mcp_audit *m)
{
    yyjson_val *code = yyjson_obj_get(yyjson_obj_get(m->root, "error"), "code");
    return yyjson_is_int(code) ? yyjson_get_sint(code) : 0;
}

bool mishap_audit_mcp_is_error_result(const mcp_audit *m)
{
    return yyjson_is_true(yyjson_obj_get(yyjson_obj_get(m->root, "result"), "isError"));
}

void mishap_audit_mcp_judge(mcp_audit *m, int check, mishap_audit_outcome outcome, const char *key,
                            const char *format, ...)
{
    char detail[600];
    va_list list;
    va_start(list, format);
    vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    mishap_audit_report(m->audit, &mishap_audit_mcp_checks[check], outcome,
                        &(mishap_audit_seen){ .place = m->place,
                                              .key = key,
                                              .detail = mishap_text_of(detail),
                                              .sent = m->sent,
                                              .got = m->root ? mishap_buffer_text(&m->line)
                                                             : (mishap_text){ NULL, 0 } });
}

static void judge_error(mcp_audit *m, yyjson_val *error)
{
    bool holds = yyjson_is_int(yyjson_obj_get(error, "code")) &&
                 !mishap_blank(mishap_json_text(yyjson_obj_get(error, "message")));
    mishap_audit_mcp_judge(m, MCP_ERROR_OBJECT, holds ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED,
                           NULL, "The error has no integer code, or no message.");
}

static void judge_error_text(mcp_audit *m, yyjson_val *result)
{
    size_t index, count;
    yyjson_val *item, *content = yyjson_obj_get(result, "content");
    bool has = false;
    MISHAP_JSON_ITEMS (yyjson_is_arr(content) ? content : NULL, index, count, item)
        has = has || !mishap_blank(mishap_json_text(yyjson_obj_get(item, "text")));
    mishap_audit_mcp_judge(m, MCP_ERROR_TEXT, has ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, NULL,
                           "The result with isError has no text.");
}

void mishap_audit_mcp_judge_answer(mcp_audit *m)
{
    const mishap_text values[] = { m->sent, mishap_text_of(m->process.root) };
    const mishap_leak_known sent = { .values = values, .count = m->process.root[0] ? 2 : 1 };
    yyjson_val *error = yyjson_obj_get(m->root, "error");
    if (error)
        judge_error(m, error);
    else if (mishap_audit_mcp_is_error_result(m))
        judge_error_text(m, yyjson_obj_get(m->root, "result"));
    else
        return;
    mishap_audit_scan(m->audit, &mishap_audit_mcp_checks[MCP_LEAK], m->place,
                      mishap_buffer_text(&m->line), &sent);
}

/* No answer has come: a finding if the next ping is answered. */
static void judge_silence(mcp_audit *m)
{
    const char *place = m->place;
    mishap_text sent = m->sent;
    mcp_end end = m->gone ? MCP_GONE
                          : mishap_audit_mcp_request(m, "ping",
                                                     m->stateless ? "server/discover" : "ping",
                                                     (mishap_text){ NULL, 0 }, m->request_ms);
    m->place = place;
    m->sent = sent;
    m->root = NULL;
    if (end == MCP_ANSWERED) {
        m->silences++;
        mishap_audit_mcp_judge(m, MCP_ANSWERS, MISHAP_AUDIT_FAILED, NULL,
                               "There was no answer, but the next ping was answered.");
        return;
    }
    if (end == MCP_UNSENT)
        return;
    m->gone = true;
    mishap_audit_mcp_judge(m, MCP_ALIVE, MISHAP_AUDIT_FAILED, NULL,
                           end == MCP_GONE
                               ? "The server has ended, or its output cannot be read any more."
                               : "There was no answer, and none to the next ping.");
}

void mishap_audit_mcp_judge_no_answer(mcp_audit *m, mcp_end end)
{
    if (end == MCP_SILENT || end == MCP_GONE)
        judge_silence(m);
    else if (end == MCP_REFUSED && m->id > 0) /* what is no request may be refused by HTTP alone */
        mishap_audit_mcp_judge(m, MCP_ANSWERS, MISHAP_AUDIT_FAILED, NULL,
                               "The status is %d, and the body is no answer of JSON-RPC.",
                               m->status);
}
