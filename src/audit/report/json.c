/* The results as one JSON object. */
#include "audit/report/report.h"

static void put_number(mishap_buffer *b, const char *key, size_t number)
{
    mishap_json_key(b, mishap_text_of(key));
    mishap_json_int(b, (int64_t)number);
}

static void put_string(mishap_buffer *b, const char *key, const char *text)
{
    mishap_json_key(b, mishap_text_of(key));
    if (text)
        mishap_json_string(b, mishap_text_of(text));
    else
        mishap_json_null(b);
}

static void put_finding(mishap_buffer *b, const mishap_audit_finding *finding)
{
    mishap_json_open(b, '{');
    put_string(b, "outcome", mishap_audit_outcome_names[finding->outcome]);
    MISHAP_JSON_KEY(b, "place");
    mishap_json_string(b, finding->place);
    MISHAP_JSON_TEXT_MEMBER(b, "key", finding->key);
    MISHAP_JSON_TEXT_MEMBER(b, "detail", finding->detail);
    MISHAP_JSON_TEXT_MEMBER(b, "sent", finding->sent);
    MISHAP_JSON_TEXT_MEMBER(b, "got", finding->got);
    if (finding->line)
        put_number(b, "line", finding->line);
    put_string(b, "fingerprint", finding->fingerprint);
    if (finding->outcome == MISHAP_AUDIT_FAILED) {
        MISHAP_JSON_KEY(b, "known");
        mishap_json_bool(b, finding->known);
    }
    mishap_json_close(b, '}');
}

static void put_check(mishap_buffer *b, const mishap_audit_result *result)
{
    mishap_json_open(b, '{');
    put_string(b, "id", result->check->id);
    put_string(b, "outcome", mishap_audit_outcome_names[result->outcome]);
    put_string(b, "sentence", result->check->sentence);
    put_string(b, "evidence", result->check->evidence);
    put_string(b, "fix", result->check->fix);
    put_number(b, "passed", result->passed);
    if (result->outcome == MISHAP_AUDIT_UNDECIDED) {
        MISHAP_JSON_KEY(b, "reason");
        mishap_json_string(b, mishap_audit_reason(result));
    }
    if (result->outcome == MISHAP_AUDIT_FAILED) {
        MISHAP_JSON_KEY(b, "known");
        mishap_json_bool(b, mishap_audit_is_known(result));
    }
    MISHAP_JSON_KEY(b, "findings");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < result->count; i++)
        put_finding(b, &result->findings[i]);
    mishap_json_close(b, ']');
    mishap_json_close(b, '}');
}

static void put_planned(mishap_buffer *b, const mishap_audit_results *results)
{
    MISHAP_JSON_KEY(b, "planned");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < results->planned_count; i++) {
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "place");
        mishap_json_string(b, results->planned[i].place);
        MISHAP_JSON_KEY(b, "request");
        mishap_json_string(b, results->planned[i].text);
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, ']');
}

static void put_totals(mishap_buffer *b, const mishap_audit_results *results)
{
    MISHAP_JSON_KEY(b, "score");
    if (results->score < 0)
        mishap_json_null(b);
    else
        mishap_json_int(b, results->score);
    MISHAP_JSON_KEY(b, "leak");
    mishap_json_bool(b, results->leak);
    for (int outcome = MISHAP_AUDIT_FAILED; outcome >= 0; outcome--)
        put_number(b, mishap_audit_outcome_names[outcome], results->outcomes[outcome]);
    put_number(b, "findings", results->findings);
    put_number(b, "new_findings", results->new_findings);
    put_number(b, "findings_not_listed", results->cut);
    put_number(b, "requests", results->requests);
    MISHAP_JSON_KEY(b, "complete");
    mishap_json_bool(b, !results->used_up && !results->cancelled);
}

void mishap_audit_put_json(mishap_buffer *b, const mishap_audit_results *results)
{
    mishap_json_open(b, '{');
    put_string(b, "area", mishap_audit_area_names[results->settings->area]);
    put_string(b, "target", results->settings->target);
    put_totals(b, results);
    MISHAP_JSON_KEY(b, "checks");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < results->check_count; i++)
        put_check(b, &results->checks[i]);
    mishap_json_close(b, ']');
    MISHAP_JSON_KEY(b, "created");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < results->created_count; i++) {
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "place");
        mishap_json_string(b, results->created[i].place);
        MISHAP_JSON_KEY(b, "status");
        mishap_json_int(b, results->created[i].status);
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, ']');
    MISHAP_JSON_KEY(b, "remarks");
    mishap_json_open(b, '[');
    for (size_t i = 0; i < results->remark_count; i++)
        mishap_json_string(b, results->remarks[i]);
    mishap_json_close(b, ']');
    if (results->settings->dry_run)
        put_planned(b, results);
    mishap_json_close(b, '}');
}
