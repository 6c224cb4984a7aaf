/* Conditions, ranges and compression of answers: see fit.h. */
#include "http/calls/fit.h"

#include <stdio.h>

#include "base/media.h"
#include "http/wire/pack.h"
#include "operation/fields.h"
#include "operation/media.h"
#include "operation/secret.h"

/* -- conditions -------------------------------------------------------------------------------- */

static bool is_reading(const mishap_http_request *request)
{
    return request->method == MISHAP_HTTP_GET || request->method == MISHAP_HTTP_HEAD;
}

enum { LONGEST_TAG = MISHAP_VERSION_LIMIT + 16 };

/* RFC 9110, 8.8.3.3: each form of an answer has a tag of its own. In quotes. */
static mishap_text write_tag(char tag[LONGEST_TAG], const char *version, const char *coding)
{
    int length = snprintf(tag, LONGEST_TAG, "\"%s%s%s\"", version, coding ? ";" : "",
                          coding ? coding : "");
    return (mishap_text){ tag, (size_t)length };
}

static void put_tag(mishap_http_reply *reply, const char *version, const char *coding)
{
    char tag[LONGEST_TAG];
    mishap_http_reply_field(reply, "ETag", write_tag(tag, version, coding));
}

/* Of the forms that the client has, the one that it would get now; else any. A cache finds the
 * answer that it keeps by this tag. */
static const char *known_coding(const mishap_http_request *request, const char *version)
{
    char tag[LONGEST_TAG];
    mishap_text known = request->fields[MISHAP_HTTP_IF_NONE_MATCH];
    const mishap_pack_coding codings[] = { mishap_pack_choose(
                                               request->fields[MISHAP_HTTP_ACCEPT_ENCODING]),
                                           MISHAP_PACK_NOT, MISHAP_PACK_GZIP, MISHAP_PACK_ZSTD };
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        const char *coding = codings[i] == MISHAP_PACK_NOT ? NULL : mishap_pack_name(codings[i]);
        mishap_text quoted = write_tag(tag, version, coding);
        if (mishap_version_tag_is_listed(known,
                                         (mishap_text){ quoted.data + 1, quoted.length - 2 }))
            return coding;
    }
    return NULL;
}

static void drop_content(mishap_http_reply *reply)
{
    mishap_buffer_reset(&reply->body);
    reply->content = (mishap_text){ NULL, 0 };
    reply->media_type = NULL;
}

/* -- ranges ------------------------------------------------------------------------------------ */

static bool read_number(mishap_text *rest, uint64_t *number)
{
    size_t digits = 0;
    *number = 0;
    for (; digits < rest->length && rest->data[digits] >= '0' && rest->data[digits] <= '9';
         digits++) {
        uint64_t digit = (uint64_t)(rest->data[digits] - '0');
        *number = *number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *number * 10 + digit;
    }
    *rest = (mishap_text){ rest->data + digits, rest->length - digits };
    return digits > 0;
}

mishap_http_range mishap_http_range_read(mishap_text field, size_t length, size_t *from,
                                         size_t *count)
{
    static const mishap_text unit = MISHAP_TEXT("bytes=");
    uint64_t first, last = UINT64_MAX;
    if (field.length <= unit.length || memcmp(field.data, unit.data, unit.length) != 0)
        return MISHAP_HTTP_RANGE_ALL;
    mishap_text rest = { field.data + unit.length, field.length - unit.length };
    bool begins = read_number(&rest, &first);
    if (!rest.length || rest.data[0] != '-')
        return MISHAP_HTTP_RANGE_ALL;
    rest = (mishap_text){ rest.data + 1, rest.length - 1 };
    bool ends = read_number(&rest, &last);
    if (rest.length || (!begins && !ends) || (begins && ends && last < first))
        return MISHAP_HTTP_RANGE_ALL;
    if (!begins) { /* the last bytes */
        first = last < length ? length - last : 0;
        last = last ? UINT64_MAX : 0;
        if (!last)
            return MISHAP_HTTP_RANGE_BEYOND;
    } else if (!ends) {
        last = UINT64_MAX;
    }
    if (first >= length)
        return MISHAP_HTTP_RANGE_BEYOND;
    *from = (size_t)first;
    *count = last - first < length - first ? (size_t)(last - first) + 1 : length - (size_t)first;
    return MISHAP_HTTP_RANGE_PART;
}

/* RFC 9110, 13.1.5: the part is wanted only if it belongs to the version that the client has. */
static bool wants_part(const mishap_http_request *request, const mishap_call *call)
{
    mishap_text tag = request->fields[MISHAP_HTTP_IF_RANGE];
    if (request->method != MISHAP_HTTP_GET || !request->fields[MISHAP_HTTP_RANGE].data)
        return false;
    if (!tag.data)
        return true;
    size_t length = call->version ? strlen(call->version) : 0;
    return length && tag.length == length + 2 && tag.data[0] == '"' &&
           tag.data[length + 1] == '"' && memcmp(tag.data + 1, call->version, length) == 0;
}

static mishap *refuse_range(mishap_http_reply *reply, size_t length)
{
    char range[64];
    int size = snprintf(range, sizeof range, "bytes */%zu", length);
    drop_content(reply);
    mishap_buffer_reset(&reply->fields);
    mishap_http_reply_field(reply, "Content-Range", (mishap_text){ range, (size_t)size });
    mishap *m = mishap_raise(RANGE_NOT_SATISFIABLE, "The answer has only %zu bytes.", length);
    return mishap_tell(m, "length", (uint64_t)length);
}

/* True if a part is sent. */
static bool cut_part(mishap_http_reply *reply, const mishap_http_request *request, mishap **failure)
{
    char range[96];
    size_t length = reply->content.length, from = 0, count = 0;
    switch (mishap_http_range_read(request->fields[MISHAP_HTTP_RANGE], length, &from, &count)) {
    case MISHAP_HTTP_RANGE_ALL:
        return false;
    case MISHAP_HTTP_RANGE_BEYOND:
        *failure = refuse_range(reply, length);
        return true;
    case MISHAP_HTTP_RANGE_PART:
        break;
    }
    int size = snprintf(range, sizeof range, "bytes %zu-%zu/%zu", from, from + count - 1, length);
    reply->content = (mishap_text){ reply->content.data + from, count };
    reply->status = 206;
    mishap_http_reply_field(reply, "Content-Range", (mishap_text){ range, (size_t)size });
    return true;
}

/* -- compression ------------------------------------------------------------------------------- */

/* The length of a compressed text tells something about it, so an answer that may have a secret
 * beside text of the caller is left alone. */
static bool may_pack_any(const mishap_http_request *request, const mishap_call *call)
{
    return !request->for_operator && !call->operation->operator_only &&
           !mishap_params_have_secret(call->operation->params);
}

/* Directives of caches are in any case. */
static bool forbids_changes(mishap_text caching)
{
    static const mishap_text word = MISHAP_TEXT("no-transform");
    for (size_t i = 0; i + word.length <= caching.length; i++)
        if (mishap_http_same_letters((mishap_text){ caching.data + i, word.length }, word))
            return true;
    return false;
}

/* True if the answer may be compressed. */
static bool may_pack(const mishap_http_reply *reply, const mishap_http_request *request,
                     const mishap_call *call)
{
    mishap_text lines = mishap_buffer_text(&call->fields);
    if (reply->content.length < MISHAP_PACK_LEAST || reply->content.length > MISHAP_PACK_MOST ||
        !reply->media_type || !mishap_media_is_text(reply->media_type) ||
        mishap_media_is(reply->media_type, "text/event-stream"))
        return false;
    if (!may_pack_any(request, call))
        return false;
    if (!lines.length)
        return true;
    return !mishap_answer_fields_find(lines, "Set-Cookie").data &&
           !mishap_answer_fields_find(lines, "Content-Encoding").data &&
           !forbids_changes(mishap_answer_fields_find(lines, "Cache-Control"));
}

static const char *pack_content(mishap_http_reply *reply, mishap_pack_coding coding)
{
    mishap_buffer packed = { 0 };
    if (!mishap_pack(coding, reply->content, &packed)) {
        mishap_buffer_release(&packed);
        return NULL;
    }
    mishap_buffer_release(&reply->body);
    reply->body = packed;
    reply->content = mishap_buffer_text(&packed);
    const char *name = mishap_pack_name(coding);
    mishap_http_reply_field(reply, "Content-Encoding", mishap_text_of(name));
    return name;
}

/* -- all of it --------------------------------------------------------------------------------- */

mishap *mishap_api_fit(mishap_http_reply *reply, const mishap_http_request *request,
                       const mishap_call *call, mishap_answer_kind kind)
{
    mishap *failure = NULL;
    const char *coding = NULL;
    mishap_text known = request->fields[MISHAP_HTTP_IF_NONE_MATCH];
    bool usual = reply->status == 200 && is_reading(request);
    bool packs = reply->status < 300 && may_pack(reply, request, call);
    if (call->version && is_reading(request) && reply->status <= 204 &&
        mishap_version_is_listed(known, mishap_text_of(call->version), true)) {
        /* Also where the handler has left out the answer: then its form is not known. */
        packs = packs || (!reply->content.length && may_pack_any(request, call));
        coding = known_coding(request, call->version);
        reply->status = 304;
        drop_content(reply);
    } else if (usual && kind == MISHAP_ANSWER_BYTES) {
        if (wants_part(request, call) && cut_part(reply, request, &failure) && failure)
            return failure;
        mishap_http_reply_field(reply, "Accept-Ranges", (mishap_text)MISHAP_TEXT("bytes"));
    }
    reply->vary_encoding = packs; /* of 206 and 304, too: a cache may put them together */
    if (packs && reply->status < 300 && reply->status != 206 &&
        !request->fields[MISHAP_HTTP_RANGE].data) {
        mishap_pack_coding wanted = mishap_pack_choose(
            request->fields[MISHAP_HTTP_ACCEPT_ENCODING]);
        coding = wanted != MISHAP_PACK_NOT ? pack_content(reply, wanted) : NULL;
    }
    if (call->version)
        put_tag(reply, call->version, coding);
    return NULL;
}
