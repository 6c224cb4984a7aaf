/* A server that is a command: one message a line, on its standard input and output. */
#include "audit/mcp/inside.h"

enum {
    MOST_LINE = 1 << 20,
    MOST_LINES = 10000,    /* until the answer comes */
    MOST_BYTES = 64 << 20, /* of an audit */
    WHOLE_MS = 3600000,
    GRACE_MS = 3000,
    MISLED_MS = 500,
    QUIT_MS = 2000, /* for a server to end when its input does */
};

/* Take the next complete line of the output into m->line. */
static bool next_line(mcp_audit *m)
{
    mishap_buffer *out = &m->process.out;
    size_t left = out->length - m->taken;
    if (!left) {
        out->length = m->taken = 0;
        return false;
    }
    const char *at = out->data + m->taken, *end = memchr(at, '\n', left);
    if (!end) {
        if (m->taken) { /* keep the rest of a line alone */
            memmove(out->data, at, left);
            out->length = left;
            m->taken = 0;
        }
        return false;
    }
    size_t length = (size_t)(end - at);
    m->taken += length + 1;
    mishap_buffer_reset(&m->line);
    mishap_buffer_put(&m->line, at, length && at[length - 1] == '\r' ? length - 1 : length);
    return true;
}

static void report_flood(mcp_audit *m, const char *detail)
{
    m->gone = true;
    mishap_audit_report(m->audit, &mishap_audit_mcp_checks[MCP_BOUNDED], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){
                            .place = m->place, .detail = mishap_text_of(detail), .sent = m->sent });
}

mcp_end mishap_audit_mcp_over_stdio(mcp_audit *m, mishap_text message, int wait_ms)
{
    int64_t end = mishap_clock_monotonic_ns() + (int64_t)wait_ms * 1000000, left;
    int lines = 0;
    bool over = false;
    mishap_audit_process_write(&m->process, message);
    mishap_audit_process_write(&m->process, (mishap_text){ "\n", 1 });
    for (;;) {
        while (next_line(m)) {
            if (m->line.length && mishap_audit_mcp_take(m))
                return MCP_ANSWERED;
            if (++lines > MOST_LINES) {
                report_flood(m, "More than 10,000 lines came before the answer.");
                return MCP_GONE;
            }
        }
        m->starved = m->starved || m->process.out.failed || m->process.pending.failed ||
                     m->line.failed;
        if (m->starved) {
            m->gone = true;
            return MCP_UNSENT;
        }
        if (m->process.out.length >= MOST_LINE) {
            report_flood(m, "A line is longer than 1 MB.");
            return MCP_GONE;
        }
        if (m->process.flooded) {
            report_flood(m, "The server has written more than 64 MB.");
            return MCP_GONE;
        }
        if (over)
            return MCP_SILENT;
        left = (end - mishap_clock_monotonic_ns()) / 1000000;
        if (m->misled && left > MISLED_MS) { /* that was most likely the answer */
            end -= (left - MISLED_MS) * 1000000;
            left = MISLED_MS;
        }
        over = left <= 0;
        if (over && wait_ms < m->request_ms) /* it is silent only if it is not about to answer */
            mishap_audit_process_settle(&m->process, m->request_ms - wait_ms);
        if (!mishap_audit_process_wait(&m->process, left > 0 ? (int)left : 0) &&
            m->taken >= m->process.out.length) {
            m->gone = true;
            return MCP_GONE;
        }
    }
}

mishap *mishap_audit_mcp_open_stdio(mcp_audit *m)
{
    mishap *failed = mishap_audit_process_start(&(mishap_audit_command){ .argv = m->target->argv,
                                                                         .input = true,
                                                                         .same_folder = true,
                                                                         .time_ms = WHOLE_MS,
                                                                         .grace_ms = GRACE_MS,
                                                                         .keep = MOST_LINE,
                                                                         .most = MOST_BYTES },
                                                &m->process);
    m->started = !failed;
    return failed;
}

/* The end of the input asks a server to end, then SIGTERM. */
void mishap_audit_mcp_end_stdio(mcp_audit *m)
{
    int64_t end = mishap_clock_monotonic_ns() + (int64_t)QUIT_MS * 1000000;
    if (!m->started)
        return;
    bool flooded = m->process.flooded || m->gone;
    mishap_audit_process_end_input(&m->process);
    while (!flooded && !m->process.ended && mishap_clock_monotonic_ns() < end &&
           mishap_audit_process_wait(&m->process, 50))
        m->process.out.length = m->taken = 0;
    mishap_audit_process_terminate(&m->process);
    mishap_audit_process_finish(&m->process);
    mishap_audit_judge(m->audit, &mishap_audit_mcp_checks[MCP_ENDS], !m->process.killed,
                       &(mishap_audit_seen){ .place = "end of input",
                                             .detail = mishap_text_of(
                                                 "It did not end within 3 s after SIGTERM, and was "
                                                 "killed.") });
    mishap_audit_process_close(&m->process);
    m->started = false;
}
