/* One page for a browser. It has no script, loads nothing, and follows light and dark settings. */
#include "audit/report/report.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; img-src data:\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n";

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--paper:#f6f7f9;--card:#fff;"
    "--line:#dde1e7;--failed:#b3261e;--advice:#8a5a00;--passed:#1a6b3c;--undecided:#5b6675;"
    "--code:#eef1f5}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b4;--paper:#12161c;"
    "--card:#1a2029;--line:#2c3541;--failed:#ff8a80;--advice:#ffca6b;--passed:#7bd88f;"
    "--undecided:#9aa5b4;--code:#10141a}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:60rem;margin:0 auto;padding:2rem 1rem 4rem}\n"
    "h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}\n"
    "h2{font-size:1.1rem;margin:2rem 0 .5rem}\n"
    ".score{display:flex;gap:1.25rem;align-items:center;margin:1.25rem 0;padding:1rem 1.25rem;"
    "background:var(--card);border:1px solid var(--line);border-radius:.6rem}\n"
    ".score b{font-size:2.6rem;line-height:1;font-variant-numeric:tabular-nums}\n"
    ".score p{margin:0}\n"
    "details{background:var(--card);border:1px solid var(--line);border-radius:.6rem;"
    "margin:.6rem 0;padding:.7rem 1rem}\n"
    "summary{cursor:pointer;overflow-wrap:anywhere}\n"
    "summary code{font-weight:600}\n"
    ".tag{display:inline-block;min-width:5.6rem;font-weight:700}\n"
    ".failed{color:var(--failed)}.advice,.known{color:var(--advice)}.passed{color:var(--passed)}"
    ".undecided{color:var(--undecided)}\n"
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;"
    "margin:.6rem 0 0}\n"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n"
    ".place{border-top:1px solid var(--line);margin-top:.8rem;padding-top:.6rem}\n"
    ".place h3{font:600 .95rem ui-monospace,monospace;margin:0;overflow-wrap:anywhere}\n"
    ".place p{margin:.3rem 0}\n"
    "pre{background:var(--code);border:1px solid var(--line);border-radius:.4rem;"
    "padding:.5rem .7rem;margin:.3rem 0;white-space:pre-wrap;overflow-wrap:anywhere;"
    "font:13px/1.45 ui-monospace,monospace;max-height:20rem;overflow:auto}\n"
    "code{font-family:ui-monospace,monospace}\n"
    "ul{padding-left:1.2rem}li{margin:.2rem 0;overflow-wrap:anywhere}\n"
    ".soft{color:var(--soft)}\n"
    "</style>\n";

static void put_plain(mishap_buffer *b, const char *text)
{
    mishap_buffer_put_text(b, mishap_text_of(text));
}

static void put_text(mishap_buffer *b, const char *text)
{
    mishap_audit_put_xml(b, mishap_text_of(text));
}

static void put_block(mishap_buffer *b, const char *label, mishap_text text)
{
    if (!text.length)
        return;
    mishap_audit_print(b, "<p class=\"soft\">%s</p><pre tabindex=\"0\">", label);
    mishap_audit_put_xml(b, text);
    MISHAP_PUT(b, "</pre>\n");
}

static void put_finding(mishap_buffer *b, const mishap_audit_finding *finding)
{
    MISHAP_PUT(b, "<div class=\"place\"><h3>");
    mishap_audit_put_xml(b, finding->place);
    MISHAP_PUT(b, "</h3>\n");
    if (finding->known)
        MISHAP_PUT(b, "<p class=\"soft\">Known: the baseline has it.</p>\n");
    if (finding->detail.length) {
        MISHAP_PUT(b, "<p>");
        mishap_audit_put_xml(b, finding->detail);
        MISHAP_PUT(b, "</p>\n");
    }
    put_block(b, "Sent", finding->sent);
    put_block(b, "Received", finding->got);
    MISHAP_PUT(b, "</div>\n");
}

static void put_check(mishap_buffer *b, const mishap_audit_result *result)
{
    bool known = mishap_audit_is_known(result);
    const char *outcome = known ? "known" : mishap_audit_outcome_names[result->outcome];
    mishap_audit_print(b, "<details%s><summary><span class=\"tag %s\">%s</span> <code>",
                       result->outcome == MISHAP_AUDIT_FAILED && !known ? " open" : "", outcome,
                       outcome);
    put_text(b, result->check->id);
    MISHAP_PUT(b, "</code> ");
    put_text(b, result->check->sentence);
    MISHAP_PUT(b, "</summary>\n<dl><dt>Why</dt><dd>");
    put_text(b, result->check->evidence);
    MISHAP_PUT(b, "</dd><dt>Fix</dt><dd>");
    put_text(b, result->check->fix);
    if (result->outcome == MISHAP_AUDIT_UNDECIDED) {
        MISHAP_PUT(b, "</dd><dt>Undecided</dt><dd>");
        mishap_audit_put_xml(b, mishap_audit_reason(result));
    }
    mishap_audit_print(b, "</dd><dt>Passed at</dt><dd>%zu %s</dd></dl>\n", result->passed,
                       result->passed == 1 ? "place" : "places");
    for (size_t i = 0; i < result->count; i++)
        put_finding(b, &result->findings[i]);
    MISHAP_PUT(b, "</details>\n");
}

static bool is_in_section(const mishap_audit_result *result, mishap_audit_outcome outcome,
                          bool known)
{
    return result->outcome == outcome && mishap_audit_is_known(result) == known;
}

static void put_checks(mishap_buffer *b, const mishap_audit_results *results,
                       mishap_audit_outcome outcome, bool known, const char *heading)
{
    size_t count = 0;
    for (size_t i = 0; i < results->check_count; i++)
        count += is_in_section(&results->checks[i], outcome, known);
    if (!count)
        return;
    mishap_audit_print(b, "<h2>%s (%zu)</h2>\n", heading, count);
    for (size_t i = 0; i < results->check_count; i++)
        if (is_in_section(&results->checks[i], outcome, known))
            put_check(b, &results->checks[i]);
}

static void put_remark(mishap_buffer *b, mishap_text remark)
{
    MISHAP_PUT(b, "<li>");
    mishap_audit_put_xml(b, remark);
    MISHAP_PUT(b, "</li>\n");
}

static void put_planned(mishap_buffer *b, const mishap_audit_results *results)
{
    for (size_t i = 0; i < results->planned_count; i++) {
        MISHAP_PUT(b, "<div class=\"place\"><h3>");
        mishap_audit_put_xml(b, results->planned[i].place);
        MISHAP_PUT(b, "</h3>\n<pre tabindex=\"0\">");
        mishap_audit_put_xml(b, results->planned[i].text);
        MISHAP_PUT(b, "</pre></div>\n");
    }
}

static void put_score(mishap_buffer *b, const mishap_audit_results *results)
{
    const char *kind = results->score < 0      ? "undecided"
                       : results->score == 100 ? "passed"
                       : results->score < 80   ? "failed"
                                               : "advice";
    mishap_audit_print(b, "<div class=\"score\"><b class=\"%s\">", kind);
    if (results->score < 0)
        MISHAP_PUT(b, "\xe2\x80\x93");
    else
        mishap_buffer_put_int(b, results->score);
    MISHAP_PUT(b, "</b><p>");
    mishap_audit_put_verdict(b, results);
    MISHAP_PUT(b, "</p></div>\n");
}

void mishap_audit_put_html(mishap_buffer *b, const mishap_audit_results *results)
{
    const char *area = mishap_audit_area_names[results->settings->area];
    put_plain(b, head);
    mishap_audit_print(b, "<title>mishap audit %s</title>\n", area);
    put_plain(b, style);
    mishap_audit_print(b, "</head><body><main>\n<h1>mishap audit %s <code>", area);
    put_text(b, results->settings->target);
    MISHAP_PUT(b, "</code></h1>\n");
    put_score(b, results);
    MISHAP_PUT(b, "<ul class=\"soft\">\n");
    mishap_audit_each_remark(results, put_remark, b);
    MISHAP_PUT(b, "</ul>\n");
    if (results->settings->dry_run) {
        put_planned(b, results);
    } else {
        put_checks(b, results, MISHAP_AUDIT_FAILED, false, "Failed");
        put_checks(b, results, MISHAP_AUDIT_FAILED, true, "Known");
        put_checks(b, results, MISHAP_AUDIT_ADVICE, false, "Advice");
        put_checks(b, results, MISHAP_AUDIT_UNDECIDED, false, "Undecided");
        put_checks(b, results, MISHAP_AUDIT_PASSED, false, "Passed");
    }
    MISHAP_PUT(b, "</main></body></html>\n");
}
