/* Leaks in what a target said, as findings of a check. */
#include <stdio.h>

#include "audit/inside.h"

/* What a kind is, for a sentence. */
static const char *const shown_kinds[MISHAP_LEAK_KINDS] = {
    [MISHAP_LEAK_TRACE] = "a stack trace",
    [MISHAP_LEAK_SQL] = "SQL",
    [MISHAP_LEAK_CONNECTION] = "a connection string",
    [MISHAP_LEAK_CREDENTIAL] = "a credential",
    [MISHAP_LEAK_ENVIRONMENT] = "environment variables",
    [MISHAP_LEAK_PATH] = "a path of the server",
    [MISHAP_LEAK_HOST] = "an internal host",
    [MISHAP_LEAK_SOURCE] = "source code",
    [MISHAP_LEAK_LIMIT] = "too much to be judged",
};

struct scanning {
    mishap_audit *audit;
    const mishap_audit_check *check;
    const char *place;
    size_t found;
};

static void add_leak(void *state, const mishap_leak *leak)
{
    struct scanning *scanning = state;
    bool high = leak->confidence == MISHAP_LEAK_HIGH;
    char detail[200];
    snprintf(detail, sizeof detail, "The response shows %s (rule %s) at line %zu, column %zu.",
             shown_kinds[leak->kind], leak->rule, leak->line, leak->column);
    scanning->found++;
    if (high && !scanning->check->advice)
        scanning->audit->leak = true;
    mishap_audit_report(scanning->audit, scanning->check,
                        high ? MISHAP_AUDIT_FAILED : MISHAP_AUDIT_ADVICE,
                        &(mishap_audit_seen){ .place = scanning->place,
                                              .key = leak->rule,
                                              .detail = mishap_text_of(detail),
                                              .got = leak->excerpt });
}

void mishap_audit_scan(mishap_audit *audit, const mishap_audit_check *check, const char *place,
                       mishap_text said, const mishap_leak_known *sent)
{
    struct scanning scanning = { audit, check, place, 0 };
    if (said.length)
        mishap_leak_scan(said, sent, add_leak, &scanning);
    if (!scanning.found)
        mishap_audit_pass(audit, check, place);
}
