/* A server behind a URL: Streamable HTTP. The answer to a POST is a JSON object, or a stream of
 * events that has it. */
#include <stdio.h>
#include <strings.h>

#include "audit/mcp/inside.h"

enum { MOST_HEADERS = 32 };

static bool type_is(mishap_text type, const char *name)
{
    size_t length = strlen(name);
    return type.length >= length && strncasecmp(type.data, name, length) == 0 &&
           (type.length == length || type.data[length] == ';' || type.data[length] == ' ');
}

static size_t add_headers(const mcp_audit *m, mishap_client_header *headers)
{
    size_t count = 0;
    headers[count++] = (mishap_client_header){ "Content-Type", "application/json" };
    headers[count++] = (mishap_client_header){ "Accept", "application/json, text/event-stream" };
    if (m->version[0])
        headers[count++] = (mishap_client_header){ "MCP-Protocol-Version", m->version };
    if (m->session[0])
        headers[count++] = (mishap_client_header){ "Mcp-Session-Id", m->session };
    if (m->stateless && m->method)
        headers[count++] = (mishap_client_header){ "Mcp-Method", m->method };
    if (m->stateless && m->name)
        headers[count++] = (mishap_client_header){ "Mcp-Name", m->name };
    for (size_t i = 0; i < m->target->header_count && count < MOST_HEADERS; i++)
        headers[count++] = m->target->headers[i];
    return count;
}

static mishap *send_http(mcp_audit *m, const char *method, mishap_text body, int wait_ms)
{
    mishap_client_header headers[MOST_HEADERS];
    mishap_client_request request = { .url = m->target->url,
                                      .method = method,
                                      .headers = headers,
                                      .header_count = add_headers(m, headers),
                                      .body = body,
                                      .connect_ms = wait_ms,
                                      .total_ms = wait_ms,
                                      .most_body = 1 << 20 };
    m->response.status = 0;
    mishap_buffer_reset(&m->response.head);
    mishap_buffer_reset(&m->response.body);
    return mishap_client_send(m->client, &request, &m->response);
}

static void report_http(mcp_audit *m, int check, bool holds, const char *detail)
{
    mishap_audit_judge(m->audit, &mishap_audit_mcp_checks[check], holds,
                       &(mishap_audit_seen){ .place = m->place,
                                             .detail = mishap_text_of(detail),
                                             .sent = m->sent,
                                             .got = mishap_buffer_text(&m->response.body) });
}

/* Find the answer among the events. */
static bool take_events(mcp_audit *m)
{
    mishap_text stream = mishap_buffer_text(&m->response.body);
    while (mishap_audit_mcp_next_event(&stream, &m->line))
        if (m->line.length && mishap_audit_mcp_take(m))
            return true;
    return false;
}

/* `cut`: the body did not come to its end, so only events can be complete. */
static bool take_body(mcp_audit *m, bool cut)
{
    mishap_text type = mishap_client_field(&m->response, "Content-Type");
    bool events = type_is(type, "text/event-stream"), json = type_is(type, "application/json");
    if (!m->response.body.length)
        return false;
    if (m->id > 0) /* a notification, or what is no request, may be refused with any body */
        report_http(m, MCP_HTTP_TYPE, events || json,
                    "The Content-Type is neither application/json nor text/event-stream.");
    if (events)
        return take_events(m);
    if (!json || cut)
        return false;
    mishap_buffer_reset(&m->line);
    mishap_buffer_put_text(&m->line, mishap_buffer_text(&m->response.body));
    return mishap_audit_mcp_take(m);
}

/* A failure before any answer: nothing was heard, or a limit was reached. */
static mcp_end judge_failure(mcp_audit *m, mishap *failure)
{
    bool slow = mishap_is(failure, GATEWAY_TIMEOUT) || mishap_is(failure, CONNECTION_TIMEOUT);
    m->starved = m->starved || mishap_has_code(failure, mishap_told(mishap_out_of_memory())->code);
    bool large = m->response.status && mishap_is(failure, BAD_GATEWAY);
    if (large) {
        m->gone = true;
        report_http(m, MCP_BOUNDED, false,
                    "The response exceeds 1 MB, or is no HTTP response to its end.");
    }
    m->gone = m->gone || !slow;
    mishap_free(m->cause);
    m->cause = failure;
    return slow ? MCP_SILENT : MCP_GONE;
}

mcp_end mishap_audit_mcp_over_http(mcp_audit *m, mishap_text message, int wait_ms)
{
    mishap *failure = send_http(m, "POST", message, wait_ms ? wait_ms : m->request_ms);
    m->status = m->response.status;
    if (m->status >= 500)
        report_http(m, MCP_HTTP_STATUS, false, "The status is 500 or higher.");
    else if (m->status)
        report_http(m, MCP_HTTP_STATUS, true, "");
    if (take_body(m, failure != NULL)) {
        if (failure) { /* the stream goes on after the answer: each further one would cost as much
                        */
            m->gone = true;
            report_http(m, MCP_BOUNDED, false, "The response does not end after the answer.");
        }
        mishap_text id = mishap_client_field(&m->response, "Mcp-Session-Id");
        if (id.length && id.length < sizeof m->session && !m->session[0])
            snprintf(m->session, sizeof m->session, "%.*s", (int)id.length, id.data);
        mishap_free(failure);
        return MCP_ANSWERED;
    }
    if (failure)
        return judge_failure(m, failure);
    return m->status >= 400 && m->status < 500 ? MCP_REFUSED : MCP_SILENT;
}

mishap *mishap_audit_mcp_open_http(mcp_audit *m)
{
    return mishap_client_open(&(mishap_client_settings){ .agent = "mishap-audit" }, &m->client);
}

void mishap_audit_mcp_end_http(mcp_audit *m)
{
    if (!m->client)
        return;
    if (m->session[0] && !m->gone)
        mishap_free(send_http(m, "DELETE", (mishap_text){ NULL, 0 }, m->request_ms));
    mishap_client_response_release(&m->response);
    mishap_client_close(m->client);
    mishap_free(m->cause);
}
