/*
 * Workflow commands of GitHub Actions: an error for each new finding, a notice for each advice. One
 * command is one line. In its message `%`, CR and LF are escaped, in a property also `:` and `,`.
 */
#include "audit/report/report.h"

enum { MOST_TEXT = 400 }; /* bytes of what was sent or came: an annotation is a small box */

static void put_escaped(mishap_buffer *b, mishap_text text, bool property)
{
    while (text.length) {
        uint32_t c;
        size_t length = mishap_text_character(text, &c);
        if (c == '%')
            MISHAP_PUT(b, "%25");
        else if (c == '\r')
            MISHAP_PUT(b, "%0D");
        else if (c == '\n')
            MISHAP_PUT(b, "%0A");
        else if (property && c == ':')
            MISHAP_PUT(b, "%3A");
        else if (property && c == ',')
            MISHAP_PUT(b, "%2C");
        else if (!mishap_audit_is_shown(c))
            MISHAP_PUT(b, "?"); /* no escape sequence reaches the log */
        else
            mishap_buffer_put(b, text.data, length);
        text.data += length;
        text.length -= length;
    }
}

static void put_part(mishap_buffer *b, const char *label, mishap_text text)
{
    if (!text.length)
        return;
    bool cut = text.length > MOST_TEXT;
    mishap_audit_print(b, "%%0A%s", label);
    if (cut)
        text.length = mishap_utf8_cut(text, MOST_TEXT);
    put_escaped(b, text, false);
    mishap_audit_print(b, "%s", cut ? "\xe2\x80\xa6" : "");
}

static void put_annotation(mishap_buffer *b, const mishap_audit_results *results,
                           const mishap_audit_finding *finding)
{
    const mishap_audit_check *check = finding->check;
    const char *file = results->settings->file;
    mishap_audit_print(b, "::%s ", finding->outcome == MISHAP_AUDIT_FAILED ? "error" : "notice");
    if (file) {
        MISHAP_PUT(b, "file=");
        put_escaped(b, mishap_text_of(file), true);
        mishap_audit_print(b, ",line=%zu,", finding->line ? finding->line : 1);
    }
    MISHAP_PUT(b, "title=");
    put_escaped(b, mishap_text_of(check->id), true);
    MISHAP_PUT(b, "::");
    put_escaped(b, finding->place, false);
    MISHAP_PUT(b, ": ");
    put_escaped(b, finding->detail.length ? finding->detail : mishap_text_of(check->sentence),
                false);
    put_part(b, "sent: ", finding->sent);
    put_part(b, "got: ", finding->got);
    put_part(b, "why: ", mishap_text_of(check->evidence));
    put_part(b, "fix: ", mishap_text_of(check->fix));
    MISHAP_PUT(b, "\n");
}

static void put_remark(mishap_buffer *b, mishap_text remark)
{
    MISHAP_PUT(b, "::notice title=mishap audit::");
    put_escaped(b, remark, false);
    MISHAP_PUT(b, "\n");
}

void mishap_audit_put_github(mishap_buffer *b, const mishap_audit_results *results)
{
    mishap_buffer verdict = { 0 };
    for (size_t i = 0; i < results->check_count; i++)
        for (size_t f = 0; f < results->checks[i].count; f++) {
            const mishap_audit_finding *finding = &results->checks[i].findings[f];
            if (finding->outcome >= MISHAP_AUDIT_ADVICE && !finding->known)
                put_annotation(b, results, finding);
        }
    mishap_audit_put_verdict(&verdict, results);
    put_remark(b, mishap_buffer_text(&verdict));
    mishap_audit_each_remark(results, put_remark, b);
    b->failed = b->failed || verdict.failed;
    mishap_buffer_release(&verdict);
}
