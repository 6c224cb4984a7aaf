/* An error response by itself: its header fields, the form of its body, leaks. */
#include <strings.h>

#include "audit/http/run.h"
#include "base/media.h"

/* -- header fields ----------------------------------------------------------------------------- */

static void judge_field(http_run *run, int check, const http_probe *probe, const char *name)
{
    bool there = mishap_client_field(&run->response, name).data != NULL;
    mishap_audit_http_report(run, check, there ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED, probe,
                             "The response %d has no field %s.", run->response.status, name);
}

static void judge_fields(http_run *run, const http_probe *probe)
{
    int status = run->response.status;
    if (status == 401)
        judge_field(run, HTTP_401, probe, "WWW-Authenticate");
    if (status == 405)
        judge_field(run, HTTP_405, probe, "Allow");
    if (status != 429 && status != 503)
        return;
    judge_field(run, HTTP_RETRY, probe, "Retry-After");
    mishap_text value = mishap_client_field(&run->response, "Retry-After");
    if (value.data && mishap_client_retry_after(&run->response, mishap_clock_now_ms()) < 0)
        mishap_audit_http_report(run, HTTP_RETRY, MISHAP_AUDIT_FAILED, probe,
                                 "Retry-After has neither seconds nor a date.");
}

/* -- the form of the body ---------------------------------------------------------------------- */

static bool has_words(mishap_text text, const char *words)
{
    size_t length = strlen(words);
    for (size_t i = 0; i + length <= text.length && i < 1024; i++)
        if (strncasecmp(text.data + i, words, length) == 0)
            return true;
    return false;
}

static bool is_html(mishap_text body)
{
    return has_words(body, "<!doctype html") || has_words(body, "<html") ||
           (has_words(body, "<body") && has_words(body, "<h1"));
}

static bool names_json(const mishap_http_media *media)
{
    static const mishap_text json = MISHAP_TEXT("json"), plus = MISHAP_TEXT("+json");
    mishap_text name = media->name;
    if (mishap_http_same_letters(name, json))
        return true;
    return name.length > plus.length &&
           mishap_http_same_letters(
               (mishap_text){ name.data + name.length - plus.length, plus.length }, plus);
}

static bool names_html(const mishap_http_media *media)
{
    static const mishap_text html = MISHAP_TEXT("html"), xhtml = MISHAP_TEXT("xhtml+xml");
    return mishap_http_same_letters(media->name, html) ||
           mishap_http_same_letters(media->name, xhtml);
}

/* Text for people: said to be text (or JSON, by mistake), and no XML. */
static bool is_text(const http_run *run, mishap_text body)
{
    static const mishap_text text = MISHAP_TEXT("text"), xml = MISHAP_TEXT("xml");
    mishap_text field = mishap_client_field(&run->response, "Content-Type");
    mishap_http_media media;
    if (body.length > 5 && memcmp(body.data, "<?xml", 5) == 0)
        return false;
    if (!field.length || !mishap_http_media_read(field, &media))
        return true;
    return names_json(&media) || (mishap_http_same_letters(media.kind, text) &&
                                  !mishap_http_same_letters(media.name, xml));
}

/* What the body is by its bytes, not by its Content-Type. A number or a string is no JSON error. */
static http_form form_of(http_run *run, mishap_text body, yyjson_val **json)
{
    *json = NULL;
    if (!body.length)
        return HTTP_FORM_NONE;
    if (mishap_json_read(&run->reader, body) && yyjson_is_ctn(run->reader.root)) {
        *json = run->reader.root;
        return HTTP_FORM_JSON;
    }
    return is_html(body) ? HTTP_FORM_HTML : is_text(run, body) ? HTTP_FORM_TEXT : HTTP_FORM_OTHER;
}

static void judge_type(http_run *run, const http_probe *probe, http_form form)
{
    mishap_text field = mishap_client_field(&run->response, "Content-Type");
    mishap_http_media media;
    mishap_audit_outcome failed = MISHAP_AUDIT_FAILED, passed = MISHAP_AUDIT_PASSED;
    int length = field.length < 100 ? (int)field.length : 100;
    if (!field.length || !mishap_http_media_read(field, &media)) {
        mishap_audit_http_report(run, HTTP_TYPE, failed, probe,
                                 "The response %d has no valid Content-Type.",
                                 run->response.status);
        return;
    }
    bool html = names_html(&media);
    if (names_json(&media)) {
        mishap_audit_http_report(run, HTTP_JSON, form == HTTP_FORM_JSON ? passed : failed, probe,
                                 "The body of the response %d is not a JSON object or array.",
                                 run->response.status);
        if (form == HTTP_FORM_JSON)
            mishap_audit_http_report(run, HTTP_TYPE, passed, probe, "JSON");
        return;
    }
    bool true_to_it = form == HTTP_FORM_HTML ? html : form == HTTP_FORM_JSON ? false : !html;
    mishap_audit_http_report(run, HTTP_TYPE, true_to_it ? passed : failed, probe,
                             "The body of the response %d is %s, its Content-Type is %.*s.",
                             run->response.status,
                             form == HTTP_FORM_JSON   ? "JSON"
                             : form == HTTP_FORM_HTML ? "HTML"
                             : form == HTTP_FORM_TEXT ? "text"
                                                      : "neither",
                             length, field.data);
}

static void judge_html(http_run *run, const http_probe *probe, http_form form)
{
    mishap_text field = mishap_client_field(&run->response, "Content-Type");
    mishap_http_media media;
    bool html = form == HTTP_FORM_HTML ||
                (form != HTTP_FORM_JSON && field.length && mishap_http_media_read(field, &media) &&
                 names_html(&media));
    mishap_audit_http_report(run, HTTP_HTML, html ? MISHAP_AUDIT_FAILED : MISHAP_AUDIT_PASSED,
                             probe, "The response %d is HTML, although only JSON is accepted.",
                             run->response.status);
}

/* -- leaks ------------------------------------------------------------------------------------- */

/* What was sent is no leak where it is echoed: as it was sent, and decoded. */
static void scan_body(http_run *run, const http_probe *probe)
{
    mishap_text known[32];
    size_t count = 0;
    char storage[1024];
    mishap_buffer plain;
    mishap_buffer_init(&plain, storage, sizeof storage);
    if (!mishap_url_unescape(&plain, mishap_text_of(probe->target), false))
        mishap_buffer_reset(&plain);
    known[count++] = mishap_text_of(run->target->url);
    known[count++] = mishap_text_of(run->authority);
    known[count++] = mishap_text_of(probe->target);
    if (plain.length)
        known[count++] = mishap_buffer_text(&plain);
    if (probe->body.length)
        known[count++] = probe->body;
    for (size_t i = 0; i < run->target->header_count && count < 32; i++)
        known[count++] = mishap_text_of(run->target->headers[i].value);
    mishap_audit_scan(run->audit, &mishap_audit_http_checks[HTTP_LEAK], run->place,
                      mishap_buffer_text(&run->response.body),
                      &(mishap_leak_known){ .values = known, .count = count });
    mishap_buffer_release(&plain);
}

void mishap_audit_http_judge_error(http_run *run, const http_probe *probe)
{
    yyjson_val *json;
    mishap_text body = mishap_buffer_text(&run->response.body);
    http_form form = form_of(run, body, &json);
    judge_fields(run, probe);
    mishap_audit_http_report(run, HTTP_BODY,
                             form != HTTP_FORM_NONE ? MISHAP_AUDIT_PASSED : MISHAP_AUDIT_FAILED,
                             probe, "The response %d has no body.", run->response.status);
    if (form == HTTP_FORM_NONE)
        return;
    judge_type(run, probe, form);
    judge_html(run, probe, form);
    scan_body(run, probe);
    mishap_audit_http_judge_body(run, probe, form, json);
    mishap_audit_http_judge_claims(run, probe, mishap_client_field(&run->response, "Content-Type"),
                                   json);
}
