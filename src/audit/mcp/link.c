/* One message to the server and its answer. Messages that come in between are taken, too. */
#include <stdio.h>

#include "audit/mcp/inside.h"

/* -- what the server says ---------------------------------------------------------------------- */

static void report_line(mcp_audit *m, int check, const char *key, const char *detail)
{
    mishap_audit_report(m->audit, &mishap_audit_mcp_checks[check], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){ .place = m->place,
                                              .key = key,
                                              .detail = mishap_text_of(detail),
                                              .sent = m->sent,
                                              .got = mishap_buffer_text(&m->line) });
}

/* A request of the server: only ping has a result. */
static void answer_server(mcp_audit *m, yyjson_val *id, mishap_text method)
{
    char storage[512];
    mishap_buffer b;
    if (m->client || !m->started)
        return;
    mishap_buffer_init(&b, storage, sizeof storage);
    MISHAP_PUT(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_json_copy(&b, id);
    if (mishap_text_equal(method, (mishap_text)MISHAP_TEXT("ping")))
        MISHAP_PUT(&b, ",\"result\":{}}\n");
    else
        MISHAP_PUT(
            &b, ",\"error\":{\"code\":-32601,\"message\":\"This client has no such method.\"}}\n");
    if (!b.failed)
        mishap_audit_process_write(&m->process, mishap_buffer_text(&b));
    mishap_buffer_release(&b);
}

/* Is it the answer to the message under way? */
static bool is_answer(mcp_audit *m, yyjson_val *root)
{
    yyjson_val *id = yyjson_obj_get(root, "id");
    bool has_error = yyjson_obj_get(root, "error") != NULL;
    if (!has_error && !yyjson_obj_get(root, "result")) {
        report_line(m, MCP_JSON, "neither", "The message has neither method, result nor error.");
        return false;
    }
    if (yyjson_is_int(id) && m->id && yyjson_get_sint(id) == m->id)
        return true;
    if (m->id == 0 && has_error && (!id || yyjson_is_null(id) || yyjson_is_int(id)))
        return true;
    if (yyjson_is_int(id) && yyjson_get_sint(id) > 0 && yyjson_get_sint(id) <= m->last_id)
        return false; /* it is late */
    if ((!id || yyjson_is_null(id)) && has_error)
        return m->id != 0 && m->client; /* over HTTP the response belongs to its request */
    m->misled = true;
    report_line(m, MCP_IDS, NULL, "The id of the answer is none that was sent.");
    return false;
}

bool mishap_audit_mcp_take(mcp_audit *m)
{
    yyjson_val *at = NULL;
    m->root = NULL;
    if (m->line.failed) {
        m->starved = m->gone = true;
        return false;
    }
    if (!mishap_json_read(&m->reader, mishap_buffer_text(&m->line)) ||
        !yyjson_is_obj(m->reader.root)) {
        if (m->reader.flaw == MISHAP_JSON_NO_MEMORY) {
            m->starved = m->gone = true;
            return false;
        }
        report_line(m, m->client ? MCP_JSON : MCP_STDOUT, NULL,
                    m->client ? "The body is no JSON object."
                              : "A line of standard output is no JSON object.");
        return false;
    }
    yyjson_val *root = m->reader.root, *method = yyjson_obj_get(root, "method");
    mishap_json_flaw flaw = mishap_json_first_flaw(&m->reader, &at);
    if (flaw == MISHAP_JSON_TOO_DEEP)
        report_line(m, MCP_JSON, "deep", "The message is nested deeper than 128 levels.");
    if (!mishap_text_equal(mishap_json_text(yyjson_obj_get(root, "jsonrpc")),
                           (mishap_text)MISHAP_TEXT("2.0")))
        report_line(m, MCP_JSON, "jsonrpc", "The member jsonrpc is not \"2.0\".");
    if (method) {
        if (yyjson_obj_get(root, "id"))
            answer_server(m, yyjson_obj_get(root, "id"), mishap_json_text(method));
        return false;
    }
    if (!is_answer(m, root))
        return false;
    m->root = root;
    return true;
}

/* -- what is sent ------------------------------------------------------------------------------ */

mcp_end mishap_audit_mcp_exchange(mcp_audit *m, const char *place, const char *method,
                                  mishap_text message, int wait_ms)
{
    m->root = NULL;
    m->misled = false;
    m->place = place;
    m->method = method;
    m->sent = mishap_arena_copy(mishap_audit_arena(m->audit), message);
    if (m->gone || !mishap_audit_next(m->audit, place, message) || !m->sent.data)
        return MCP_UNSENT;
    return m->client ? mishap_audit_mcp_over_http(m, message, wait_ms)
                     : mishap_audit_mcp_over_stdio(m, message, wait_ms);
}

/* From 2026-07-28 on each request says which revision it has. */
static void put_params(const mcp_audit *m, mishap_buffer *b, mishap_text params)
{
    static const char meta[] =
        "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"mishap-audit\",\"version\":\"1\"},"
        "\"io.modelcontextprotocol/clientCapabilities\":{}}";
    if (!m->stateless) {
        mishap_buffer_put_text(b, params);
        return;
    }
    mishap_buffer_put(b, meta, sizeof meta - 1);
    if (params.length <= 2)
        mishap_buffer_put_char(b, '}');
    else {
        mishap_buffer_put_char(b, ',');
        mishap_buffer_put(b, params.data + 1, params.length - 1);
    }
}

mcp_end mishap_audit_mcp_request(mcp_audit *m, const char *place, const char *method,
                                 mishap_text params, int wait_ms)
{
    mishap_buffer b = { 0 };
    m->id = ++m->last_id;
    MISHAP_PUT(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
    mishap_buffer_put_int(&b, m->id);
    MISHAP_JSON_KEY(&b, "method");
    mishap_json_string(&b, mishap_text_of(method));
    if (m->stateless || params.length) {
        MISHAP_JSON_KEY(&b, "params");
        put_params(m, &b, params);
    }
    mishap_json_close(&b, '}');
    mcp_end end = b.failed ? MCP_UNSENT
                           : mishap_audit_mcp_exchange(m, place, method, mishap_buffer_text(&b),
                                                       wait_ms);
    mishap_buffer_release(&b);
    return end;
}

void mishap_audit_mcp_notify(mcp_audit *m, const char *method, const char *params)
{
    char text[256];
    int length = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"%s%s}", method,
                          params ? ",\"params\":" : "", params ? params : "");
    if (length <= 0 || (size_t)length >= sizeof text)
        return;
    m->id = -1;
    mishap_audit_mcp_exchange(m, method, method, (mishap_text){ text, (size_t)length }, 0);
}
