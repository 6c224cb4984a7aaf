/*
 * The audit of an HTTP server: the probes that need no schema, then those of each operation of the
 * OpenAPI document. Methods that write are sent only if the user allows it: a bad request may
 * succeed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "audit/http/run.h"

enum { MOST_FILE = 4 << 20, LONGEST_PATH = 1024, MUCH = 3 << 20 };

/* -- the address ------------------------------------------------------------------------------- */

/* Take the URL apart: its host and port, and its path without a slash at the end. */
static mishap *read_url(http_run *run)
{
    const char *url = run->target->url, *host = url ? strstr(url, "://") : NULL;
    size_t length = host ? strcspn(host + 3, "/?#") : 0;
    mishap_arena *arena = mishap_audit_arena(run->audit);
    if (!host || !length || memchr(host + 3, '@', length))
        return mishap_suggest(mishap_raise(INVALID_ARGUMENT, "The address is not valid."),
                              "Give an address such as http://127.0.0.1:8080, without a password.");
    const char *path = host + 3 + length;
    size_t path_length = strcspn(path, "?#");
    while (path_length && path[path_length - 1] == '/')
        path_length--;
    if (path_length > LONGEST_PATH)
        return mishap_raise(INVALID_ARGUMENT, "The path of the address is too long.");
    mishap_text authority = mishap_arena_copy(arena, (mishap_text){ host + 3, length });
    char *base = mishap_arena_take(arena, path_length + 1);
    if (!authority.data || !base)
        return mishap_out_of_memory();
    memcpy(base, path, path_length);
    base[path_length] = '\0';
    run->authority = (char *)(uintptr_t)authority.data;
    run->base = base;
    return NULL;
}

/* -- the schema -------------------------------------------------------------------------------- */

static mishap *refuse_file(const char *path, int error)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    mishap *m = mishap_raise(INPUT_UNREADABLE, "Cannot read the file %s.", path);
    return mishap_tell_cause(mishap_tell(m, "file", path), cause);
}

static mishap *read_file(const char *path, mishap_buffer *text)
{
    char piece[16384];
    int error = 0, file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return refuse_file(path, errno);
    for (;;) {
        ssize_t count = read(file, piece, sizeof piece);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            error = count < 0 ? errno : 0;
            break;
        }
        mishap_buffer_put(text, piece, (size_t)count);
        if (text->failed || text->length > MOST_FILE)
            break;
    }
    close(file);
    if (text->length > MOST_FILE)
        return mishap_raise(CONTENT_TOO_LARGE, "The file %s has more than 4 MB.", path);
    return error ? refuse_file(path, error) : text->failed ? mishap_out_of_memory() : NULL;
}

/* The document that the user names. */
static mishap *schema_from_file(http_run *run, mishap_openapi *document, mishap_buffer *text)
{
    const char *path = run->target->openapi;
    mishap *failure = read_file(path, text);
    if (failure)
        return failure;
    const char *why = mishap_openapi_read(document, mishap_buffer_text(text));
    if (why)
        return mishap_tell(
            mishap_raise(MALFORMED_INPUT, "The file %s cannot be used: %s.", path, why), "file",
            path);
    run->schema = document;
    return NULL;
}

/* The document that the server has, below the path of the URL or at its root. */
static void schema_from_server(http_run *run, mishap_openapi *document, mishap_buffer *text)
{
    char target[LONGEST_PATH + 20];
    const char *why = NULL;
    for (int i = 0; i < 2 && !run->schema && !run->ended; i++) {
        if (i && !run->base[0])
            break;
        snprintf(target, sizeof target, "%s/openapi.json", i ? "" : run->base);
        const http_probe probe = {
            .name = "the OpenAPI document", .method = "GET", .target = target, .path = target
        };
        if (mishap_audit_http_send(run, &probe) != 200)
            continue;
        mishap_buffer_reset(text);
        mishap_buffer_put_text(text, mishap_buffer_text(&run->response.body));
        mishap_openapi_release(document);
        why = mishap_openapi_read(document, mishap_buffer_text(text));
        if (!why && !text->failed)
            run->schema = document;
    }
    if (run->schema || run->ended)
        return;
    if (mishap_audit_is_dry(run->audit))
        mishap_audit_remark(run->audit,
                            "More requests follow from the answers: if the server has "
                            "/openapi.json, those for its operations. Name a file "
                            "with --openapi to see them."
                            "%s",
                            run->target->allow_writes
                                ? " The requests with a body are then sent to the operations, not "
                                  "to the URL."
                                : "");
    else
        mishap_audit_remark(run->audit,
                            "There is no OpenAPI document%s%s: only the URL itself is probed. "
                            "Name a JSON file with --openapi to check all operations.",
                            why ? " that can be used at /openapi.json, since "
                                : " at /openapi.json",
                            why ? why : "");
}

/* The paths of the document are below the path of the URL, if it has one, else below that of the
 * first server of the document. Another host is never used. */
static bool choose_prefix(http_run *run)
{
    mishap_text prefix = run->base[0] ? mishap_text_of(run->base) : run->schema->prefix;
    prefix = mishap_arena_copy(mishap_audit_arena(run->audit), prefix);
    run->prefix = prefix.data;
    return prefix.data != NULL;
}

/* -- probes that need no schema ---------------------------------------------------------------- */

/* Report a 5xx status, or that there is none. */
static void judge_fault(http_run *run, int check, const http_probe *probe, int status)
{
    if (!status || status == 501 || status == 503)
        return;
    mishap_audit_http_report(run, check,
                             http_is_fault(status) ? MISHAP_AUDIT_FAILED : MISHAP_AUDIT_PASSED,
                             probe, "The status for %s is %d.", probe->name, status);
}

/* 400 and 422 are right; what has to do with permissions, media types or sizes says nothing. */
static void judge_refusal(http_run *run, const http_probe *probe, int status)
{
    if (status == 400 || status == 422)
        mishap_audit_http_report(run, HTTP_400, MISHAP_AUDIT_PASSED, probe, "right");
    else if (status == 402 || status == 409 || status == 410 || status == 412)
        mishap_audit_http_report(run, HTTP_400, MISHAP_AUDIT_ADVICE, probe,
                                 "The status for %s is %d.", probe->name, status);
}

/* A request whose only flaw is this one: success is advice. `refused` is a status that proves that
 * it was refused for the flaw, beside 400 and 422 where the rest of the request is `sound`. */
static void judge_accepted(http_run *run, int check, const http_probe *probe, bool sound,
                           int refused, int status)
{
    if (status >= 200 && status < 300)
        mishap_audit_http_report(run, check, MISHAP_AUDIT_ADVICE, probe,
                                 "The request was accepted with %d.", status);
    else if (status == refused || (sound && (status == 400 || status == 422)))
        mishap_audit_http_report(run, check, MISHAP_AUDIT_PASSED, probe, "refused");
}

/* Several megabytes of white space behind a body, once in an audit: the JSON stays the same. */
static void probe_oversize(http_run *run, http_probe *probe, mishap_text valid)
{
    mishap_buffer large = { 0 };
    mishap_buffer_put_text(&large, valid.data ? valid : mishap_text_of("{}"));
    if (mishap_buffer_reserve(&large, MUCH)) {
        memset(large.data + large.length, ' ', MUCH);
        large.length += MUCH;
    }
    probe->name = "a body of 3 MB";
    probe->body = mishap_buffer_text(&large);
    probe->large = true;
    if (!large.failed)
        judge_accepted(run, HTTP_OVERSIZE, probe, false, 413, mishap_audit_http_send(run, probe));
    mishap_buffer_release(&large);
}

/* Bytes that no UTF-8 text has, in a string of the body. */
static void probe_encoding(http_run *run, http_probe *probe, mishap_text valid)
{
    static const mishap_text made = MISHAP_TEXT("mishap");
    mishap_buffer body = { 0 };
    size_t at = 0;
    while (at + made.length < valid.length && memcmp(valid.data + at, made.data, made.length) != 0)
        at++;
    bool sound = at + made.length < valid.length;
    if (sound)
        mishap_buffer_put_text(&body, valid);
    else
        MISHAP_PUT(&body, "{\"name\":\"mishap\"}");
    probe->name = "invalid UTF-8";
    if (!body.failed) {
        memcpy(body.data + (sound ? at : 9), "\xff\xfe", 2);
        probe->body = mishap_buffer_text(&body);
        int status = mishap_audit_http_send(run, probe);
        judge_fault(run, HTTP_MALFORMED, probe, status);
        judge_accepted(run, HTTP_UTF8, probe, sound, 400, status);
    }
    mishap_buffer_release(&body);
}

void mishap_audit_http_probe_body(http_run *run, http_probe probe, mishap_text valid)
{
    static const mishap_text malformed = MISHAP_TEXT("{\"mishap\": "), empty = MISHAP_TEXT("");
    probe.media_type = "application/json";
    probe.syntax = true;
    probe.name = "malformed JSON";
    probe.body = malformed;
    int status = mishap_audit_http_send(run, &probe);
    judge_fault(run, HTTP_MALFORMED, &probe, status);
    judge_refusal(run, &probe, status);
    probe.name = "an empty body";
    probe.body = empty;
    judge_fault(run, HTTP_EMPTY, &probe, mishap_audit_http_send(run, &probe));
    probe_encoding(run, &probe, valid);
    if (!run->oversize_sent)
        probe_oversize(run, &probe, valid);
    run->oversize_sent = true;
}

void mishap_audit_http_probe_percent(http_run *run, const char *method, const char *target,
                                     const char *path)
{
    const http_probe probe = {
        .name = "a bad percent-encoding", .method = method, .target = target, .path = path
    };
    judge_fault(run, HTTP_PERCENT, &probe, mishap_audit_http_send(run, &probe));
}

/* The same request as HEAD: the status and the Content-Type of GET, which were just seen. */
void mishap_audit_http_probe_head(http_run *run, const http_probe *get, int status)
{
    char type[200];
    mishap_text field = mishap_client_field(&run->response, "Content-Type");
    http_probe head = *get;
    snprintf(type, sizeof type, "%.*s", (int)(field.length < 199 ? field.length : 199),
             field.length ? field.data : "");
    head.name = "HEAD";
    head.method = "HEAD";
    head.operation = NULL;
    if (!mishap_audit_is_dry(run->audit) && (status < 200 || (status >= 300 && status != 404)))
        return;
    int as_head = mishap_audit_http_send(run, &head);
    mishap_text other = mishap_client_field(&run->response, "Content-Type");
    if (!as_head || as_head == 429 || as_head == 503)
        return;
    if (as_head != status)
        mishap_audit_http_report(run, HTTP_HEAD, MISHAP_AUDIT_FAILED, &head,
                                 "GET is answered with %d, HEAD with %d.", status, as_head);
    else if (type[0] && other.data && !mishap_text_equal(other, mishap_text_of(type)))
        mishap_audit_http_report(run, HTTP_HEAD, MISHAP_AUDIT_FAILED, &head,
                                 "The Content-Type of GET is %s, that of HEAD %s.",
                                 mishap_audit_quote(run->audit, mishap_text_of(type), 199),
                                 mishap_audit_quote(run->audit, other, 199));
    else
        mishap_audit_http_report(run, HTTP_HEAD, MISHAP_AUDIT_PASSED, &head, "the same");
}

/* A method that the URL itself hardly has. Without a schema it is not known whether the path
 * exists, so 404 is advice. */
static void probe_method(http_run *run, const char *target)
{
    const http_probe probe = { .name = "a wrong method",
                               .method = "PATCH",
                               .target = target,
                               .path = target,
                               .media_type = "application/json",
                               .body = MISHAP_TEXT("{}") };
    int status = mishap_audit_http_send(run, &probe);
    if (status == 405)
        mishap_audit_http_report(run, HTTP_ABSENT, MISHAP_AUDIT_PASSED, &probe, "405");
    else if (status == 404)
        mishap_audit_http_report(run, HTTP_ABSENT, MISHAP_AUDIT_ADVICE, &probe,
                                 "GET is answered with success, PATCH with 404.");
}

static void probe_url(http_run *run)
{
    char target[LONGEST_PATH + 40];
    snprintf(target, sizeof target, "%s", run->base[0] ? run->base : "/");
    http_probe probe = { .name = "the URL", .method = "GET", .target = target, .path = target };
    int status = mishap_audit_http_send(run, &probe);
    mishap_audit_http_probe_head(run, &probe, status);
    probe.method = "OPTIONS";
    mishap_audit_http_send(run, &probe);
    bool successful = (status >= 200 && status < 300) || mishap_audit_is_dry(run->audit);
    if (run->target->allow_writes && !run->target->openapi && successful)
        probe_method(run, target);
    snprintf(target, sizeof target, "%s/mishap-audit-no-such-path", run->base);
    probe = (http_probe){
        .name = "an unknown path", .method = "GET", .target = target, .path = target
    };
    status = mishap_audit_http_send(run, &probe);
    judge_fault(run, HTTP_UNKNOWN, &probe, status);
    mishap_audit_http_probe_head(run, &probe, status);
    snprintf(target, sizeof target, "%s/%%zz", run->base);
    mishap_audit_http_probe_percent(run, "GET", target, target);
}

/* -- the whole --------------------------------------------------------------------------------- */

static mishap *run_probes(http_run *run)
{
    mishap_openapi document = { 0 };
    mishap_buffer text = { 0 };
    char target[LONGEST_PATH + 2];
    mishap *failure = run->target->openapi ? schema_from_file(run, &document, &text) : NULL;
    if (!failure) {
        probe_url(run);
        if (!run->target->openapi)
            schema_from_server(run, &document, &text);
        if (run->schema && choose_prefix(run))
            mishap_audit_http_probe_operations(run);
        snprintf(target, sizeof target, "%s", run->base[0] ? run->base : "/");
        if (!run->schema && run->target->allow_writes)
            mishap_audit_http_probe_body(
                run, (http_probe){ .method = "POST", .target = target, .path = target },
                (mishap_text){ NULL, 0 });
        mishap_audit_http_judge_groups(run);
        if (!run->target->allow_writes)
            mishap_audit_remark(run->audit,
                                "Only GET, HEAD and OPTIONS %s sent. With --allow-writes, bodies "
                                "are checked, too.",
                                mishap_audit_is_dry(run->audit) ? "would be" : "were");
    }
    run->schema = NULL;
    mishap_openapi_release(&document);
    mishap_buffer_release(&text);
    return failure;
}

mishap *mishap_audit_http(mishap_audit *audit, const mishap_audit_http_target *target)
{
    http_run *run = mishap_allocate(sizeof *run);
    if (!run)
        return mishap_out_of_memory();
    memset(run, 0, sizeof *run);
    run->audit = audit;
    run->target = target;
    mishap *failure = read_url(run);
    if (!failure)
        failure = mishap_client_open(&(mishap_client_settings){ .agent = "mishap-audit" },
                                     &run->client);
    if (!failure)
        failure = mishap_client_check(&(mishap_client_request){ .url = target->url });
    if (!failure)
        failure = run_probes(run);
    if (!failure)
        failure = run->failure;
    mishap_client_response_release(&run->response);
    mishap_json_reader_release(&run->reader);
    mishap_client_close(run->client);
    mishap_release(run);
    return failure;
}
