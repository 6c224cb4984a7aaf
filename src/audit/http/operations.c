/*
 * The operations of an OpenAPI document. What is sent breaks one rule that the document states; the
 * rest of the request is valid. An operation with rules that are not read gets only the probes that
 * need none of them.
 */
#include <stdio.h>

#include "audit/http/run.h"

enum { MOST_NAMES = 64, LONGEST_TARGET = 4096 };

/* What is wrong with the parameters of a request. */
typedef struct wrong {
    mishap_openapi_flaw flaw; /* of one parameter: the first that can have it … */
    bool without_query;       /* … or the required ones of the query are missing */
    mishap_text broken;       /* out: its name */
} wrong;

/* -- targets ----------------------------------------------------------------------------------- */

static const mishap_openapi_parameter *find_parameter(const mishap_openapi_operation *operation,
                                                      mishap_text name, const char *in)
{
    for (size_t i = 0; i < operation->parameter_count; i++)
        if (mishap_text_equal(operation->parameters[i].name, name) &&
            mishap_text_equal(operation->parameters[i].in, mishap_text_of(in)))
            return &operation->parameters[i];
    return NULL;
}

static bool put_value(http_run *run, const mishap_openapi_parameter *parameter, wrong *w,
                      mishap_buffer *out)
{
    size_t begun = out->length;
    if (!parameter)
        return false;
    if (w->flaw != MISHAP_OPENAPI_VALID && !w->broken.data) {
        if (mishap_openapi_sample_text(run->schema, parameter->schema, w->flaw, out)) {
            w->broken = parameter->name;
            return true;
        }
        out->length = begun;
    }
    return mishap_openapi_sample_text(run->schema, parameter->schema, MISHAP_OPENAPI_VALID, out);
}

static bool put_path(http_run *run, const mishap_openapi_operation *operation, wrong *w,
                     mishap_buffer *out)
{
    mishap_text path = operation->path;
    mishap_buffer_put_text(out, mishap_text_of(run->prefix));
    for (size_t i = 0; i < path.length; i++) {
        if (path.data[i] != '{') {
            mishap_buffer_put_char(out, path.data[i]);
            continue;
        }
        const char *name = path.data + i + 1;
        size_t length = (size_t)((const char *)memchr(name, '}', path.length - i - 1) - name);
        if (!put_value(run, find_parameter(operation, (mishap_text){ name, length }, "path"), w,
                       out))
            return false;
        i += length + 1;
    }
    return true;
}

/* The required parameters of the query, and one with a flaw. */
static bool put_query(http_run *run, const mishap_openapi_operation *operation, wrong *w,
                      mishap_buffer *out)
{
    char before = '?';
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const mishap_openapi_parameter *parameter = &operation->parameters[i];
        bool query = mishap_text_equal(parameter->in, mishap_text_of("query"));
        bool flawed = w->flaw != MISHAP_OPENAPI_VALID && !w->broken.data;
        size_t begun = out->length;
        if (!query || (!parameter->required && !flawed) ||
            (parameter->required && w->without_query))
            continue;
        mishap_buffer_put_char(out, before);
        for (size_t j = 0; j < parameter->name.length; j++)
            if (parameter->name.data[j] <= ' ' || strchr("&=#%+", parameter->name.data[j]) ||
                parameter->name.data[j] > '~')
                return false;
        mishap_buffer_put_text(out, parameter->name);
        mishap_buffer_put_char(out, '=');
        bool put = put_value(run, parameter, w, out);
        if (!put && parameter->required)
            return false;
        if (!put || (!parameter->required && !mishap_text_equal(w->broken, parameter->name)))
            out->length = begun; /* an optional one without a flaw is left out */
        else
            before = '&';
    }
    return true;
}

/* The target of a request, or NULL if none can be made: a parameter has rules that are not read, or
 * a header field or a cookie is required. */
static const char *make_target(http_run *run, const mishap_openapi_operation *operation, wrong *w,
                               mishap_buffer *out)
{
    mishap_buffer_reset(out);
    for (size_t i = 0; i < operation->parameter_count; i++)
        if (operation->parameters[i].required &&
            !mishap_text_equal(operation->parameters[i].in, mishap_text_of("path")) &&
            !mishap_text_equal(operation->parameters[i].in, mishap_text_of("query")))
            return NULL;
    if (!operation->whole || !put_path(run, operation, w, out) ||
        !put_query(run, operation, w, out))
        return NULL;
    mishap_buffer_put_char(out, '\0');
    if (out->failed || out->length > LONGEST_TARGET)
        return NULL;
    return w->flaw != MISHAP_OPENAPI_VALID && !w->broken.data ? NULL : out->data;
}

/* -- judging ----------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* What may stand between the words of a name. */
static bool is_between(char c)
{
    return c == ' ' || c == '_' || c == '-';
}

static char small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* How many bytes at the beginning of a text spell the name? Its case and what is between its words
 * do not count: "Item name" is itemName. 0: it does not begin so. */
static size_t spelled_length(const char *text, size_t length, mishap_text name)
{
    size_t i = 0, j = 0;
    while (j < name.length) {
        if (j && is_between(name.data[j]))
            j++;
        else if (i < length && small_letter(text[i]) == small_letter(name.data[j]))
            i++, j++;
        else if (i && i < length && is_between(text[i]))
            i++;
        else
            return 0;
    }
    return i;
}

/* Does the body have this name, as words of their own? */
static bool is_named(mishap_text body, mishap_text name)
{
    for (size_t i = 0; i < body.length; i++) {
        size_t length = i && is_word(body.data[i - 1])
                            ? 0
                            : spelled_length(body.data + i, body.length - i, name);
        if (length && (i + length == body.length || !is_word(body.data[i + length])))
            return true;
    }
    return false;
}

static void judge_names(http_run *run, const http_probe *probe, const mishap_text *names,
                        size_t count)
{
    char missing[300];
    size_t used = 0, absent = 0;
    mishap_text body = mishap_buffer_text(&run->response.body);
    missing[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (is_named(body, names[i]))
            continue;
        absent++;
        int length = snprintf(missing + used, sizeof missing - used, "%s%.*s", used ? ", " : "",
                              names[i].length < 100 ? (int)names[i].length : 100, names[i].data);
        used += length > 0 && (size_t)length < sizeof missing - used ? (size_t)length : 0;
    }
    if (!absent)
        mishap_audit_http_report(run, HTTP_NAMED, MISHAP_AUDIT_PASSED, probe, "all");
    else
        mishap_audit_http_report(run, HTTP_NAMED, MISHAP_AUDIT_FAILED, probe,
                                 "Of %zu missing fields, the error does not name %zu: %s.", count,
                                 absent, missing);
}

static void judge_5xx(http_run *run, const http_probe *probe, int status)
{
    if (status && status != 501 && status != 503)
        mishap_audit_http_report(run, HTTP_SERVER_ERROR,
                                 http_is_fault(status) ? MISHAP_AUDIT_FAILED : MISHAP_AUDIT_PASSED,
                                 probe, "The status for %s is %d.", probe->name, status);
}

/* A refusal for another reason (a missing key, a resource that does not exist) decides nothing. */
static void judge_missing(http_run *run, const http_probe *probe, int status,
                          const mishap_text *names, size_t count)
{
    judge_5xx(run, probe, status);
    if (status >= 200 && status < 300)
        mishap_audit_http_report(run, HTTP_REFUSED, MISHAP_AUDIT_FAILED, probe,
                                 "A request without the required %.*s was accepted with %d.",
                                 names[0].length < 100 ? (int)names[0].length : 100, names[0].data,
                                 status);
    if (status != 400 && status != 422)
        return;
    mishap_audit_http_report(run, HTTP_REFUSED, MISHAP_AUDIT_PASSED, probe, "refused");
    judge_names(run, probe, names, count);
}

static void judge_flaw(http_run *run, const http_probe *probe, int check, int status)
{
    judge_5xx(run, probe, status);
    if (status >= 200 && status < 300)
        mishap_audit_http_report(run, check, MISHAP_AUDIT_ADVICE, probe, "%s was accepted with %d.",
                                 probe->name, status);
    else if (status == 400 || status == 422)
        mishap_audit_http_report(run, check, MISHAP_AUDIT_PASSED, probe, "refused");
}

/* -- probes ------------------------------------------------------------------------------------ */

typedef struct probing {
    http_run *run;
    const mishap_openapi_operation *operation;
    char method[16], path[300];
    mishap_buffer target, body;
    mishap_text
        valid; /* a body that the schema allows; no data: none can be made, or none is due */
} probing;

static const struct {
    mishap_openapi_flaw flaw;
    int check;
    const char *of_parameter, *of_body;
} flaws[] = {
    { MISHAP_OPENAPI_WRONG_TYPE, HTTP_COERCED, "A parameter of a wrong type",
      "A member of a wrong type" },
    { MISHAP_OPENAPI_OUT_OF_LIMITS, HTTP_LIMITS, "A parameter beyond a limit",
      "A member beyond a limit" },
};

static http_probe probe_of(const probing *p, const char *name, const char *target)
{
    return (http_probe){ .name = name,
                         .method = p->method,
                         .target = target,
                         .path = p->path,
                         .operation = p->operation,
                         .shaped = p->operation };
}

/* A DELETE with a valid path is not sent: a server that ignores the query would delete something.
 */
static bool is_harmless(const probing *p, const wrong *w)
{
    return strcmp(p->method, "DELETE") != 0 || find_parameter(p->operation, w->broken, "path");
}

/* A parameter of the path or the query with a flaw. */
static void probe_parameters(probing *p)
{
    for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
        wrong w = { .flaw = flaws[i].flaw };
        const char *target = make_target(p->run, p->operation, &w, &p->target);
        if (!target || !is_harmless(p, &w))
            continue;
        http_probe probe = probe_of(p, flaws[i].of_parameter, target);
        if (p->operation->body_known) {
            if (!p->valid.data)
                continue;
            probe.media_type = "application/json";
            probe.body = p->valid;
        }
        judge_flaw(p->run, &probe, flaws[i].check, mishap_audit_http_send(p->run, &probe));
    }
}

static void probe_query(probing *p)
{
    mishap_text names[MOST_NAMES];
    size_t count = 0;
    wrong w = { .without_query = true };
    for (size_t i = 0; i < p->operation->parameter_count && count < MOST_NAMES; i++)
        if (p->operation->parameters[i].required &&
            mishap_text_equal(p->operation->parameters[i].in, mishap_text_of("query")))
            names[count++] = p->operation->parameters[i].name;
    const char *target = count ? make_target(p->run, p->operation, &w, &p->target) : NULL;
    if (!target)
        return;
    http_probe probe = probe_of(p, "missing parameters", target);
    judge_missing(p->run, &probe, mishap_audit_http_send(p->run, &probe), names, count);
}

/* A target for requests that are refused in any case: each parameter of the path is a word, since
 * its rules are not read; the first one is `first`. NULL: there is no memory. */
static const char *make_any_target(probing *p, const char *first)
{
    mishap_text path = p->operation->path;
    mishap_buffer_reset(&p->target);
    mishap_buffer_put_text(&p->target, mishap_text_of(p->run->prefix));
    for (size_t i = 0; i < path.length; i++) {
        if (path.data[i] != '{') {
            mishap_buffer_put_char(&p->target, path.data[i]);
            continue;
        }
        mishap_buffer_put_text(&p->target, mishap_text_of(first));
        first = "mishap";
        while (i < path.length && path.data[i] != '}')
            i++;
    }
    mishap_buffer_put_char(&p->target, '\0');
    return p->target.failed ? NULL : p->target.data;
}

/* A bad percent-encoding in place of the first parameter of a path. No resource has such a name, so
 * that a DELETE destroys nothing either. */
static void probe_percent(probing *p)
{
    mishap_text path = p->operation->path;
    const char *target = memchr(path.data, '{', path.length) ? make_any_target(p, "%zz") : NULL;
    if (target)
        mishap_audit_http_probe_percent(p->run, p->method, target, p->path);
}

static void probe_get(probing *p)
{
    wrong none = { .flaw = MISHAP_OPENAPI_VALID };
    const char *target = make_target(p->run, p->operation, &none, &p->target);
    if (target) {
        http_probe probe = probe_of(p, "a valid request", target);
        mishap_audit_http_probe_head(p->run, &probe, mishap_audit_http_send(p->run, &probe));
    }
    probe_query(p);
    probe_parameters(p);
    probe_percent(p);
}

/* The body without its required members, and with one that has a flaw. */
static void probe_members(probing *p)
{
    mishap_text names[MOST_NAMES];
    wrong none = { .flaw = MISHAP_OPENAPI_VALID };
    yyjson_val *schema = p->operation->body;
    size_t count = mishap_openapi_required(p->run->schema, schema, names, MOST_NAMES);
    const char *target = make_target(p->run, p->operation, &none, &p->target);
    if (!target)
        return;
    http_probe probe = probe_of(p, "missing members", target);
    probe.media_type = "application/json";
    probe.body = (mishap_text)MISHAP_TEXT("{}");
    if (count)
        judge_missing(p->run, &probe, mishap_audit_http_send(p->run, &probe), names, count);
    for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
        mishap_text broken = { NULL, 0 };
        mishap_buffer body = { 0 };
        if (mishap_openapi_sample(p->run->schema, schema, flaws[i].flaw, &body, &broken) &&
            !body.failed) {
            probe.name = flaws[i].of_body;
            probe.body = mishap_buffer_text(&body);
            judge_flaw(p->run, &probe, flaws[i].check, mishap_audit_http_send(p->run, &probe));
        }
        mishap_buffer_release(&body);
    }
}

static void probe_write(probing *p)
{
    wrong none = { .flaw = MISHAP_OPENAPI_VALID };
    const char *target = NULL;
    if (p->operation->body &&
        mishap_openapi_sample(p->run->schema, p->operation->body, MISHAP_OPENAPI_VALID, &p->body,
                              NULL) &&
        !p->body.failed)
        p->valid = mishap_buffer_text(&p->body);
    if (p->operation->body) {
        target = make_target(p->run, p->operation, &none, &p->target);
        if (!target) {
            target = make_any_target(p, "mishap");
            p->valid = (mishap_text){ NULL, 0 };
        }
        if (target)
            mishap_audit_http_probe_body(p->run, probe_of(p, "", target), p->valid);
        probe_members(p);
    } else {
        probe_percent(p);
    }
    probe_parameters(p);
}

/* -- wrong methods ----------------------------------------------------------------------------- */

static bool has_method(const http_run *run, mishap_text path, const char *method)
{
    for (size_t i = 0; i < run->schema->count; i++)
        if (mishap_text_equal(run->schema->operations[i].method, mishap_text_of(method)) &&
            mishap_openapi_fits(run->schema->operations[i].path, path))
            return true;
    return false;
}

/* A path without parameters that the document has, and a method that it has not. With parameters,
 * 404 may mean that the resource does not exist. */
static void probe_wrong_method(probing *p)
{
    static const char *const methods[] = { "GET", "PATCH", "PUT", "DELETE", "POST" };
    mishap_text path = p->operation->path;
    wrong none = { .flaw = MISHAP_OPENAPI_VALID };
    http_run *run = p->run;
    if (memchr(path.data, '{', path.length))
        return;
    mishap_buffer_reset(&p->target);
    if (!put_path(run, p->operation, &none, &p->target))
        return;
    mishap_buffer_put_char(&p->target, '\0');
    for (size_t i = 0; i < (run->target->allow_writes ? 5 : 1); i++) {
        if (has_method(run, path, methods[i]) || p->target.failed)
            continue;
        http_probe probe = { .name = "a wrong method",
                             .method = methods[i],
                             .target = p->target.data,
                             .path = p->path,
                             .shaped = p->operation };
        if (i) {
            probe.media_type = "application/json";
            probe.body = (mishap_text)MISHAP_TEXT("{}");
        }
        int status = mishap_audit_http_send(run, &probe);
        if (status == 405 || status == 501)
            mishap_audit_http_report(run, HTTP_METHOD, MISHAP_AUDIT_PASSED, &probe, "405");
        else if (status == 404 || http_is_fault(status))
            mishap_audit_http_report(run, HTTP_METHOD, MISHAP_AUDIT_FAILED, &probe,
                                     "%s on a path that has other methods is answered with %d.",
                                     methods[i], status);
        return;
    }
}

static bool is_first_of_path(const http_run *run, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (mishap_text_equal(run->schema->operations[i].path, run->schema->operations[index].path))
            return false;
    return true;
}

void mishap_audit_http_probe_operations(http_run *run)
{
    for (size_t i = 0; i < run->schema->count && !run->ended; i++) {
        const mishap_openapi_operation *operation = &run->schema->operations[i];
        probing p = { .run = run, .operation = operation };
        snprintf(p.method, sizeof p.method, "%.*s", (int)operation->method.length,
                 operation->method.data);
        snprintf(p.path, sizeof p.path, "%s%s", run->prefix,
                 mishap_audit_quote(run->audit, operation->path, 200));
        if (strcmp(p.method, "GET") == 0)
            probe_get(&p);
        else if (run->target->allow_writes)
            probe_write(&p);
        if (is_first_of_path(run, i))
            probe_wrong_method(&p);
        mishap_buffer_release(&p.target);
        mishap_buffer_release(&p.body);
    }
    if (run->schema->left_out)
        mishap_audit_remark(run->audit,
                            "The document has more than %d operations: %zu were left "
                            "out.",
                            MISHAP_OPENAPI_MOST_OPERATIONS, run->schema->left_out);
}
