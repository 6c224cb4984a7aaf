/* Header lines, cookies and versions of answers: see fields.h. */
#include "operation/fields.h"

#include <strings.h>

#include "base/media.h"
#include "operation/call.h"

/* -- names and values -------------------------------------------------------------------------- */

/* Set by the server itself, or part of the connection. A hyphen at the end stands for all names
 * that begin like this. */
static const char *const refused[] = {
    "Accept-Ranges",
    "Access-Control-",
    "Age",
    "Allow",
    "Alt-Svc",
    "Authorization",
    "Connection",
    "Content-Length",
    "Content-Range",
    "Content-Type",
    "Date",
    "ETag",
    "Host",
    "Keep-Alive",
    "Location",
    "Mcp-",
    "Mishap-",
    "Proxy-",
    "Set-Cookie",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "Warning",
    "WWW-Authenticate",
    "X-Accel-",
    "X-Content-Type-Options",
    "X-Request-Id",
};

static bool may_set(mishap_text name)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        size_t length = strlen(refused[i]);
        bool family = refused[i][length - 1] == '-';
        if ((family ? name.length >= length : name.length == length) &&
            strncasecmp(name.data, refused[i], length) == 0)
            return false;
    }
    return true;
}

/* RFC 9110, 5.6.2. */
static bool is_token(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c <= ' ' || c > '~' || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return text.length > 0;
}

/* RFC 9110, 5.5, without the bytes above ASCII, whose meaning is not defined. */
static bool is_field_value(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((text.data[i] < ' ' && text.data[i] != '\t') || text.data[i] > '~')
            return false;
    return text.length && text.data[0] > ' ' && text.data[text.length - 1] > ' ';
}

static const mishap_text set_cookie = MISHAP_TEXT("Set-Cookie");

/* Split the first line off: `Name: value` and CR LF. False: it is none. */
static bool next_line(mishap_text *rest, mishap_text *name, mishap_text *value)
{
    const char *end = memmem(rest->data, rest->length, "\r\n", 2);
    const char *colon = end ? memmem(rest->data, (size_t)(end - rest->data), ": ", 2) : NULL;
    if (!colon)
        return false;
    *name = (mishap_text){ rest->data, (size_t)(colon - rest->data) };
    *value = (mishap_text){ colon + 2, (size_t)(end - colon) - 2 };
    size_t length = (size_t)(end - rest->data) + 2;
    *rest = (mishap_text){ rest->data + length, rest->length - length };
    return true;
}

bool mishap_answer_fields_are_sound(mishap_text lines)
{
    mishap_text name, value;
    if (lines.length > MISHAP_ANSWER_FIELDS_LIMIT)
        return false;
    while (lines.length) {
        if (!next_line(&lines, &name, &value) || !is_token(name) || !is_field_value(value) ||
            (!may_set(name) && !mishap_text_equal(name, set_cookie)))
            return false;
    }
    return true;
}

mishap_text mishap_answer_fields_find(mishap_text lines, const char *wanted)
{
    mishap_text name, value;
    while (lines.length && next_line(&lines, &name, &value))
        if (mishap_http_same_letters(name, mishap_text_of(wanted)))
            return value;
    return (mishap_text){ NULL, 0 };
}

/* -- setting ----------------------------------------------------------------------------------- */

/* Remove the line of this name; of cookies, the one whose value begins with `start`. */
static void remove_line(mishap_buffer *lines, mishap_text wanted, mishap_text start)
{
    mishap_text rest = mishap_buffer_text(lines), name, value;
    while (rest.length) {
        mishap_text before = rest;
        if (!next_line(&rest, &name, &value))
            return;
        if (!mishap_http_same_letters(name, wanted) || value.length < start.length ||
            memcmp(value.data, start.data, start.length) != 0)
            continue;
        size_t at = lines->length - before.length;
        memmove(lines->data + at, rest.data, rest.length);
        lines->length -= before.length - rest.length;
        return;
    }
}

static void add_line(mishap_call *call, mishap_text name, mishap_text value, const char *shown)
{
    mishap_buffer *lines = &call->fields;
    mishap_buffer_put_text(lines, name);
    MISHAP_PUT(lines, ": ");
    mishap_buffer_put_text(lines, value);
    MISHAP_PUT(lines, "\r\n");
    if (lines->failed)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, shown);
    if (lines->length > MISHAP_ANSWER_FIELDS_LIMIT)
        mishap_call_misuse(call, "the handler set more than 8 KB of headers", shown);
}

void mishap_set_header(mishap_call *part, const char *name, const char *value)
{
    mishap_call *call = mishap_call_whole(part);
    mishap_text key = mishap_text_of(name ? name : ""), text = mishap_text_of(value ? value : "");
    if (!is_token(key))
        mishap_call_misuse(call, "the handler set a header whose name is not valid", "");
    if (!may_set(key))
        mishap_call_misuse(call, "the handler set a header that the server sets itself", name);
    if (!is_field_value(text))
        mishap_call_misuse(call, "the handler set a header to a value that is not valid", name);
    remove_line(&call->fields, key, (mishap_text){ "", 0 });
    add_line(call, key, text, name);
}

/* -- cookies ----------------------------------------------------------------------------------- */

/* RFC 6265, 4.1.1. */
static bool is_cookie_value(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~' || strchr("\",;\\", text.data[i]))
            return false;
    return true;
}

static bool is_attribute(const char *text)
{
    return !text || (is_field_value(mishap_text_of(text)) && !strchr(text, ';'));
}

static const char *flaw_of(const mishap_cookie *cookie)
{
    bool host = cookie->name && strncasecmp(cookie->name, "__Host-", 7) == 0;
    bool secure = cookie->name && strncasecmp(cookie->name, "__Secure-", 9) == 0;
    if (!cookie->name || !is_token(mishap_text_of(cookie->name)))
        return "the handler set a cookie whose name is not valid";
    if (cookie->value && !is_cookie_value(mishap_text_of(cookie->value)))
        return "the handler set a cookie to a value that is not valid";
    if (!is_attribute(cookie->path) || (cookie->path && cookie->path[0] != '/') ||
        !is_attribute(cookie->domain) || cookie->seconds < 0)
        return "the handler set a cookie with a path, a domain or a time that is not valid";
    if (((host || secure || cookie->same_site == MISHAP_SAME_SITE_NONE) && cookie->insecure) ||
        (host && (cookie->domain || (cookie->path && strcmp(cookie->path, "/") != 0))))
        return "the handler set a cookie that browsers refuse: its name or `same_site` forbids "
               "what it declares";
    return NULL;
}

void mishap_set_cookie(mishap_call *part, const mishap_cookie *cookie)
{
    static const char *const same_site[] = { "Lax", "Strict", "None" };
    mishap_call *call = mishap_call_whole(part);
    const char *flaw = flaw_of(cookie), *start, *line;
    if (flaw || cookie->same_site > MISHAP_SAME_SITE_NONE)
        mishap_call_misuse(call, flaw ? flaw : "the handler set a cookie of an unknown site",
                           cookie->name ? cookie->name : "");
    start = mishap_call_print(call, "%s=", cookie->name);
    line = mishap_call_print(call, "%s%s; Path=%s", start, cookie->value ? cookie->value : "",
                             cookie->path ? cookie->path : "/");
    if (cookie->domain)
        line = mishap_call_print(call, "%s; Domain=%s", line, cookie->domain);
    if (!cookie->value || cookie->seconds)
        line = mishap_call_print(call, "%s; Max-Age=%lld", line,
                                 cookie->value ? (long long)cookie->seconds : 0);
    line = mishap_call_print(call, "%s; SameSite=%s%s%s", line, same_site[cookie->same_site],
                             cookie->insecure ? "" : "; Secure",
                             cookie->readable ? "" : "; HttpOnly");
    remove_line(&call->fields, set_cookie, mishap_text_of(start));
    add_line(call, set_cookie, mishap_text_of(line), cookie->name);
}

const char *mishap_cookie_value(const mishap_call *call, const char *name)
{
    const char *at = mishap_header(call, "Cookie");
    size_t length = name ? strlen(name) : 0;
    while (at && *at && length) {
        at += strspn(at, " \t;");
        size_t size = strcspn(at, ";");
        if (size > length && at[length] == '=' && memcmp(at, name, length) == 0) {
            const char *value = at + length + 1;
            size -= length + 1;
            while (size && (value[size - 1] == ' ' || value[size - 1] == '\t'))
                size--;
            return mishap_call_print(mishap_call_whole(call), "%.*s", (int)size, value);
        }
        at += size;
    }
    return NULL;
}

/* -- versions ---------------------------------------------------------------------------------- */

bool mishap_version_is_sound(mishap_text version)
{
    for (size_t i = 0; i < version.length; i++)
        if (version.data[i] <= ' ' || version.data[i] > '~' || version.data[i] == '"')
            return false;
    return version.length && version.length <= MISHAP_VERSION_LIMIT;
}

/* RFC 9110, 8.8.3. *rest begins behind the tag afterwards. False: there is no further tag, or what
 * follows is none. */
static bool next_tag(mishap_text *rest, mishap_text *tag, bool *weak)
{
    const char *at = rest->data, *end = at + rest->length;
    while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
        at++;
    *weak = end - at > 2 && at[0] == 'W' && at[1] == '/';
    at += *weak ? 2 : 0;
    const char *quote = end - at > 1 && *at == '"' ? memchr(at + 1, '"', (size_t)(end - at) - 1)
                                                   : NULL;
    if (!quote)
        return false;
    *tag = (mishap_text){ at + 1, (size_t)(quote - at) - 1 };
    *rest = (mishap_text){ quote + 1, (size_t)(end - quote) - 1 };
    return true;
}

static bool is_tag_of(mishap_text tag, mishap_text version)
{
    static const mishap_text codings[] = { MISHAP_TEXT(""), MISHAP_TEXT(";gzip"),
                                           MISHAP_TEXT(";zstd") };
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        if (tag.length == version.length + codings[i].length &&
            memcmp(tag.data, version.data, version.length) == 0 &&
            memcmp(tag.data + version.length, codings[i].data, codings[i].length) == 0)
            return true;
    return false;
}

bool mishap_version_is_listed(mishap_text tags, mishap_text version, bool weak)
{
    mishap_text tag;
    bool is_weak;
    if (!tags.length)
        return false;
    if (mishap_text_equal(tags, (mishap_text)MISHAP_TEXT("*")))
        return true;
    while (next_tag(&tags, &tag, &is_weak))
        if ((weak || !is_weak) && is_tag_of(tag, version))
            return true;
    return false;
}

bool mishap_version_tag_is_listed(mishap_text tags, mishap_text wanted)
{
    mishap_text tag;
    bool is_weak;
    while (tags.length && next_tag(&tags, &tag, &is_weak))
        if (mishap_text_equal(tag, wanted))
            return true;
    return false;
}

static bool is_read(const mishap_call *call)
{
    const char *route = call->operation->route;
    return route && strncmp(route, "GET ", 4) == 0;
}

static void check_version(const mishap_call *call, const char *version)
{
    if (!mishap_version_is_sound(mishap_text_of(version)))
        mishap_call_misuse(call, "the handler named a version that is not valid", "");
}

bool mishap_answer_version(mishap_call *part, const char *version)
{
    mishap_call *call = mishap_call_whole(part);
    check_version(call, version ? version : "");
    call->version = mishap_call_print(call, "%s", version);
    return is_read(call) &&
           mishap_version_is_listed(call->if_none_match, mishap_text_of(version), true);
}

mishap *mishap_match_version(mishap_call *part, const char *current)
{
    const mishap_call *call = mishap_call_whole(part);
    mishap_text version = mishap_text_of(current ? current : "");
    const char *why = NULL;
    if (current)
        check_version(call, current);
    if (call->if_match.data) {
        if (!current)
            why = "The resource does not exist, but If-Match names a version of it.";
        else if (!mishap_version_is_listed(call->if_match, version, false))
            why = "The resource has changed: If-Match names other versions of it.";
    } else if (current && call->if_none_match.data && !is_read(call) &&
               mishap_version_is_listed(call->if_none_match, version, true)) {
        why = "The resource exists already, in a version that If-None-Match excludes.";
    }
    if (!why)
        return NULL;
    mishap *m = mishap_raise(PRECONDITION_FAILED, "%s", why);
    return current ? mishap_tell(m, "version", current) : m;
}
