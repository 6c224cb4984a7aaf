/*
 * Any bytes as a baseline of an audit. A baseline that is refused changes nothing and names a
 * place; one that is taken only ever marks findings as known, and what is written of the results is
 * a baseline again, which has all of them.
 */
#include "fuzz.h"

#include "audit/audit.h"

static const mishap_audit_check checks[] = {
    { "http-one", "One holds.", "RFC 1", "Mend one.", false, "no response was seen" },
    { 0 },
};

static const char *const places[] = { "GET /a", "GET /b", "POST /a" };
enum { PLACES = sizeof places / sizeof *places };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mishap_audit_results *results = NULL;
    mishap_buffer written = { 0 };
    size_t stale = 0;
    mishap_audit *audit = mishap_audit_open(&(mishap_audit_settings){ .checks = checks });
    if (!audit)
        return 0;
    for (size_t i = 0; i < PLACES; i++)
        mishap_audit_report(audit, &checks[0], MISHAP_AUDIT_FAILED,
                            &(mishap_audit_seen){ .place = places[i] });
    mishap *failure = mishap_audit_end(audit, &results);
    EXPECT(!failure, "the audit did not end");
    failure = mishap_audit_forgive(audit, input_text(data, size), &stale);
    if (failure)
        EXPECT(results->new_findings == PLACES &&
                   strstr(mishap_told(failure)->message.data, "at line "),
               "%s", mishap_told(failure)->message.data);
    mishap_free(failure);
    size_t known = 0;
    for (size_t i = 0; i < PLACES; i++)
        known += results->checks[0].findings[i].known;
    EXPECT(known + results->new_findings == PLACES, "%zu known", known);
    mishap_audit_put_baseline(&written, results);
    failure = mishap_audit_forgive(audit, mishap_buffer_text(&written), &stale);
    EXPECT(!failure && stale == 0 && results->new_findings == 0, "what was written is no baseline");
    mishap_buffer_release(&written);
    mishap_audit_free(audit);
    return 0;
}
