/* The results of an audit in their order, and the score. */
#include "audit/inside.h"

/* -- order ------------------------------------------------------------------------------------- */

static int compare_texts(mishap_text a, mishap_text b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* By outcome, the failed ones first; then by place and key. */
static int compare_findings(const void *a, const void *b)
{
    const mishap_audit_finding *one = a, *other = b;
    if (one->outcome != other->outcome)
        return one->outcome < other->outcome ? 1 : -1;
    int order = compare_texts(one->place, other->place);
    return order ? order : compare_texts(one->key, other->key);
}

static bool order_check(mishap_audit *audit, size_t i)
{
    const struct mishap_audit_joined *joined = &audit->joined[i];
    mishap_audit_result *result = &audit->results.checks[i];
    *result = (mishap_audit_result){ .check = &audit->settings.checks[i],
                                     .outcome = joined->outcome,
                                     .passed = joined->passed,
                                     .count = joined->count };
    result->findings = mishap_arena_take(&audit->arena,
                                         (joined->count + 1) * sizeof *result->findings);
    if (!result->findings)
        return false;
    size_t at = 0;
    for (const struct mishap_audit_noted *n = joined->first; n; n = n->next)
        result->findings[at++] = n->finding;
    mishap_sort(result->findings, result->count, sizeof *result->findings, compare_findings);
    return true;
}

/* -- lists ------------------------------------------------------------------------------------- */

static bool list_rows(mishap_audit *audit)
{
    mishap_audit_results *r = &audit->results;
    mishap_audit_request *planned = mishap_arena_take(&audit->arena,
                                                      (audit->planned.count + 1) * sizeof *planned);
    mishap_audit_creation *created = mishap_arena_take(&audit->arena, (audit->created.count + 1) *
                                                                          sizeof *created);
    mishap_text *remarks = mishap_arena_take(&audit->arena,
                                             (audit->remarks.count + 1) * sizeof *remarks);
    if (!planned || !created || !remarks)
        return false;
    size_t at = 0;
    for (const struct mishap_audit_row *row = audit->planned.first; row; row = row->next)
        planned[at++] = (mishap_audit_request){ row->place, row->text };
    at = 0;
    for (const struct mishap_audit_row *row = audit->created.first; row; row = row->next)
        created[at++] = (mishap_audit_creation){ row->place, row->status };
    at = 0;
    for (const struct mishap_audit_row *row = audit->remarks.first; row; row = row->next)
        remarks[at++] = row->text;
    r->planned = planned;
    r->planned_count = audit->planned.count;
    r->created = created;
    r->created_count = audit->created.count;
    r->remarks = remarks;
    r->remark_count = audit->remarks.count;
    return true;
}

/* -- the score --------------------------------------------------------------------------------- */

static void count_outcomes(mishap_audit *audit)
{
    mishap_audit_results *r = &audit->results;
    for (size_t i = 0; i < audit->check_count; i++) {
        r->outcomes[r->checks[i].outcome]++;
        for (size_t f = 0; f < r->checks[i].count; f++)
            r->findings += r->checks[i].findings[f].outcome == MISHAP_AUDIT_FAILED;
    }
    r->new_findings = r->findings;
    size_t passed = r->outcomes[MISHAP_AUDIT_PASSED],
           decided = passed + r->outcomes[MISHAP_AUDIT_FAILED];
    r->leak = audit->leak;
    r->score = audit->leak ? 0 : decided ? (int)(passed * 100 / decided) : -1;
}

bool mishap_audit_is_known(const mishap_audit_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->findings[i].outcome == MISHAP_AUDIT_FAILED && !result->findings[i].known)
            return false;
    return result->outcome == MISHAP_AUDIT_FAILED;
}

mishap_text mishap_audit_reason(const mishap_audit_result *result)
{
    if (result->count && result->findings[0].detail.length)
        return result->findings[0].detail;
    return mishap_text_of(result->check->needs ? result->check->needs : "");
}

mishap *mishap_audit_end(mishap_audit *audit, const mishap_audit_results **results)
{
    mishap_audit_results *r = &audit->results;
    *r = (mishap_audit_results){ .settings = &audit->settings,
                                 .check_count = audit->check_count,
                                 .cut = audit->cut,
                                 .requests = audit->requests,
                                 .used_up = audit->used_up,
                                 .cancelled = audit->cancelled };
    r->checks = mishap_arena_take(&audit->arena, (audit->check_count + 1) * sizeof *r->checks);
    bool made = !audit->no_memory && r->checks;
    for (size_t i = 0; made && i < audit->check_count; i++)
        made = order_check(audit, i);
    if (!made || !list_rows(audit))
        return mishap_out_of_memory();
    count_outcomes(audit);
    *results = r;
    return NULL;
}
