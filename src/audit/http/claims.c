/* Published error formats: which of them a body claims to have, and whether it keeps their rules.
 */
#include <stdio.h>

#include "audit/http/run.h"
#include "base/media.h"
#include "mishap/dialect.h"

typedef struct claim {
    http_run *run;
    http_probe probe;
    const char *dialect;
    size_t broken;
} claim;

static void report_rule(void *state, const mishap_finding *finding)
{
    claim *c = state;
    http_probe probe = c->probe;
    if (finding->severity < MISHAP_ERROR)
        return;
    c->broken++;
    probe.name = finding->rule;
    mishap_audit_http_report(
        c->run, HTTP_DIALECT, MISHAP_AUDIT_FAILED, &probe, "%s, at %s: %s", c->dialect,
        finding->place.length ? mishap_audit_quote(c->run->audit, finding->place, 100) : "/",
        mishap_audit_quote(c->run->audit, finding->sentence, 300));
}

/* A media type that no other format has. */
static const char *dialect_of_type(mishap_text field)
{
    mishap_http_media media;
    if (!field.length || !mishap_http_media_read(field, &media))
        return NULL;
    for (const mishap_dialect *const *d = mishap_dialects(); *d; d++) {
        mishap_http_media own;
        mishap_text type = mishap_text_of(mishap_dialect_media_type(*d));
        if (memchr(type.data, '+', type.length) && mishap_http_media_read(type, &own) &&
            mishap_http_same_letters(own.kind, media.kind) &&
            mishap_http_same_letters(own.name, media.name))
            return mishap_dialect_name(*d);
    }
    return NULL;
}

/* Members that no other format has together. */
static const char *dialect_of_members(yyjson_val *json)
{
    yyjson_val *error = yyjson_is_obj(json) ? yyjson_obj_get(json, "error") : NULL;
    if (yyjson_is_obj(error) && yyjson_is_str(yyjson_obj_get(json, "jsonrpc")))
        return "json-rpc";
    if (yyjson_is_obj(error) && yyjson_is_int(yyjson_obj_get(error, "code")) &&
        yyjson_is_str(yyjson_obj_get(error, "message")) &&
        yyjson_is_str(yyjson_obj_get(error, "status")) &&
        yyjson_is_arr(yyjson_obj_get(error, "details")))
        return "google-rpc";
    return NULL;
}

void mishap_audit_http_judge_claims(http_run *run, const http_probe *probe, mishap_text media_type,
                                    yyjson_val *json)
{
    const char *name = json ? dialect_of_type(media_type) : NULL;
    if (!name && json)
        name = dialect_of_members(json);
    const mishap_dialect *dialect = name ? mishap_dialect_find(name) : NULL;
    if (!dialect)
        return;
    claim c = { .run = run, .probe = *probe, .dialect = name };
    mishap *failure = mishap_verify(dialect, mishap_buffer_text(&run->response.body), false,
                                    report_rule, &c);
    if (!failure && !c.broken)
        mishap_audit_http_report(run, HTTP_DIALECT, MISHAP_AUDIT_PASSED, probe, "valid");
    mishap_free(failure);
}
