/*
 * Published error formats: which of them a body claims to have, and whether it keeps their rules.
 *
 * The rules of a dialect ask for more than its specification does, because Mishap's own responses
 * keep them: a code in capitals, one of five categories, a status that is the one of the code. A
 * server of others is judged by the specification alone.
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

/* -- what a specification leaves to the server ------------------------------------------------- */

/* Rules that no specification has, wherever they are broken. Texts are judged by the leak guard and
 * by the check for a sentence. */
static const char *const own_rules[] = { "secret",         "stack-trace",      "empty-text",
                                         "retry-conflict", "unknown-category", "field-error-name",
                                         "field-bounds",   "not-a-sentence" };

/* The same for one format, at one place; # is the index of an item. */
static const struct {
    const char *dialect, *rule, *place;
} own_places[] = {
    { "json-api", "code-spelling", "/errors/#/code" },
    { "json-api", "status-mismatch", "/errors/#/status" },
    /* Additional entries of an error "are not violations", says the specification of GraphQL. */
    { "graphql", "unknown-member", "/errors/#/#" },
};

/* Objects whose members the server chooses. */
static const struct {
    const char *dialect, *place;
} open_objects[] = {
    { "problem", "" },
    { "json-api", "/meta" },
    { "json-api", "/errors/#/meta" },
    { "json-rpc", "/error/data" },
    { "graphql", "/extensions" },
    { "graphql", "/errors/#/extensions" },
};

/* But for these members of a problem. */
static const char *const problem_members[] = { "/type", "/title", "/status", "/detail",
                                               "/instance" };

/* Is it the place of the pattern (`rest` is 0 then), or one below it? # is any step. */
static bool is_within(mishap_text place, const char *pattern, size_t *rest)
{
    size_t at = 0;
    for (; *pattern; pattern++) {
        if (*pattern == '#') {
            size_t start = at;
            while (at < place.length && place.data[at] != '/')
                at++;
            if (at == start)
                return false;
        } else if (at == place.length || place.data[at++] != *pattern) {
            return false;
        }
    }
    *rest = place.length - at;
    return !*rest || place.data[at] == '/';
}

static bool is_problem_member(const char *dialect, mishap_text place)
{
    size_t rest;
    for (size_t i = 0; i < sizeof problem_members / sizeof *problem_members; i++)
        if (strcmp(dialect, "problem") == 0 && is_within(place, problem_members[i], &rest))
            return true;
    return false;
}

/* True if the server may do what the rule forbids. */
static bool is_free(const char *dialect, const mishap_finding *finding)
{
    size_t rest;
    for (size_t i = 0; i < sizeof own_rules / sizeof *own_rules; i++)
        if (strcmp(finding->rule, own_rules[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof own_places / sizeof *own_places; i++)
        if (strcmp(dialect, own_places[i].dialect) == 0 &&
            strcmp(finding->rule, own_places[i].rule) == 0 &&
            is_within(finding->place, own_places[i].place, &rest) && !rest)
            return true;
    if (is_problem_member(dialect, finding->place))
        return false;
    for (size_t i = 0; i < sizeof open_objects / sizeof *open_objects; i++)
        if (strcmp(dialect, open_objects[i].dialect) == 0 &&
            is_within(finding->place, open_objects[i].place, &rest) &&
            (rest || strcmp(finding->rule, "missing-member") == 0 ||
             strcmp(finding->rule, "status-mismatch") == 0))
            return true;
    return false;
}

/* -- the rules of the format ------------------------------------------------------------------- */

static void report_rule(void *state, const mishap_finding *finding)
{
    claim *c = state;
    http_probe probe = c->probe;
    if (finding->severity < MISHAP_ERROR || is_free(c->dialect, finding))
        return;
    c->broken++;
    probe.name = finding->rule;
    mishap_audit_http_report(
        c->run, HTTP_DIALECT, MISHAP_AUDIT_FAILED, &probe, "%s, at %s: %s", c->dialect,
        finding->place.length ? mishap_audit_quote(c->run->audit, finding->place, 100) : "/",
        mishap_audit_quote(c->run->audit, finding->sentence, 300));
}

/* -- which format it is ------------------------------------------------------------------------ */

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

/* A response of GraphQL as application/json: there is nothing beside errors, data and extensions,
 * and an error has a message with a place. */
static bool is_graphql(yyjson_val *json)
{
    yyjson_val *error = yyjson_arr_get_first(yyjson_obj_get(json, "errors"));
    size_t known = 0;
    static const char *const members[] = { "errors", "data", "extensions" };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        known += yyjson_obj_get(json, members[i]) != NULL;
    return yyjson_is_obj(json) && known == yyjson_obj_size(json) &&
           yyjson_is_str(yyjson_obj_get(error, "message")) &&
           (yyjson_is_arr(yyjson_obj_get(error, "locations")) ||
            yyjson_is_arr(yyjson_obj_get(error, "path")));
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
    return is_graphql(json) ? "graphql" : NULL;
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
