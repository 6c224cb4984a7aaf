/* JUnit XML: the area is a test suite, each check a test case. Advice is output, not a failure. */
#include <stdio.h>

#include "audit/report/report.h"

static void put_text(mishap_buffer *b, const char *text)
{
    mishap_audit_put_xml(b, mishap_text_of(text));
}

static void put_part(mishap_buffer *b, const char *label, mishap_text text)
{
    if (!text.length)
        return;
    mishap_audit_print(b, "  %s", label);
    mishap_audit_put_xml(b, text);
    MISHAP_PUT(b, "\n");
}

static void put_findings(mishap_buffer *b, const mishap_audit_result *result,
                         mishap_audit_outcome outcome)
{
    for (size_t i = 0; i < result->count; i++) {
        const mishap_audit_finding *finding = &result->findings[i];
        if (finding->outcome != outcome)
            continue;
        mishap_audit_put_xml(b, finding->place);
        mishap_audit_print(b, "%s\n", finding->known ? " (known)" : "");
        put_part(b, "", finding->detail);
        put_part(b, "sent: ", finding->sent);
        put_part(b, "got: ", finding->got);
    }
    MISHAP_PUT(b, "why: ");
    put_text(b, result->check->evidence);
    MISHAP_PUT(b, "\nfix: ");
    put_text(b, result->check->fix);
}

static bool is_new(const mishap_audit_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->findings[i].outcome == MISHAP_AUDIT_FAILED && !result->findings[i].known)
            return true;
    return false;
}

static void put_case(mishap_buffer *b, const mishap_audit_results *results,
                     const mishap_audit_result *result)
{
    mishap_audit_print(b, "<testcase classname=\"mishap.audit.%s\" name=\"",
                       mishap_audit_area_names[results->settings->area]);
    put_text(b, result->check->id);
    MISHAP_PUT(b, ": ");
    put_text(b, result->check->sentence);
    MISHAP_PUT(b, "\">");
    if (is_new(result)) {
        MISHAP_PUT(b, "<failure type=\"");
        put_text(b, result->check->id);
        MISHAP_PUT(b, "\" message=\"");
        put_text(b, result->check->sentence);
        MISHAP_PUT(b, "\">");
        put_findings(b, result, MISHAP_AUDIT_FAILED);
        MISHAP_PUT(b, "</failure>");
    } else if (result->outcome == MISHAP_AUDIT_UNDECIDED) {
        MISHAP_PUT(b, "<skipped message=\"undecided: ");
        mishap_audit_put_xml(b, mishap_audit_reason(result));
        MISHAP_PUT(b, "\"/>");
    } else if (result->outcome != MISHAP_AUDIT_PASSED) {
        MISHAP_PUT(b, "<system-out>");
        if (mishap_audit_is_known(result))
            MISHAP_PUT(b, "known: the baseline has all findings of this check\n");
        put_findings(b, result, result->outcome);
        MISHAP_PUT(b, "</system-out>");
    }
    MISHAP_PUT(b, "</testcase>\n");
}

static void put_remark(mishap_buffer *b, mishap_text remark)
{
    mishap_audit_put_xml(b, remark);
    MISHAP_PUT(b, "\n");
}

void mishap_audit_put_junit(mishap_buffer *b, const mishap_audit_results *results)
{
    size_t failures = 0;
    char counts[120];
    for (size_t i = 0; i < results->check_count; i++)
        failures += is_new(&results->checks[i]);
    snprintf(counts, sizeof counts, "tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"",
             results->check_count, failures, results->outcomes[MISHAP_AUDIT_UNDECIDED]);
    mishap_audit_print(b,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mishap "
                       "audit\" %s>\n<testsuite name=\"mishap audit %s ",
                       counts, mishap_audit_area_names[results->settings->area]);
    put_text(b, results->settings->target);
    mishap_audit_print(b, "\" %s>\n", counts);
    for (size_t i = 0; i < results->check_count; i++)
        put_case(b, results, &results->checks[i]);
    MISHAP_PUT(b, "<system-out>");
    mishap_audit_put_verdict(b, results);
    MISHAP_PUT(b, "\n");
    mishap_audit_each_remark(results, put_remark, b);
    MISHAP_PUT(b, "</system-out>\n</testsuite>\n</testsuites>\n");
}
