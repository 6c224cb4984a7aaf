/*
 * Combine path, query and body into the JSON object of arguments. Most requests have a body and
 * nothing else, or only path and query. A body alone is passed on without parsing: the checks of
 * the call parse it anyway, and report the line and column of an error. The body is parsed here
 * only if the request also has parameters in path or query, to check that no parameter has two
 * different values; then path and query are inserted before the members of the body. A malformed
 * body is also passed on alone, so that the same code reports it on every boundary.
 */
#include <ctype.h>
#include <strings.h>

#include "base/media.h"
#include "http/wire/form.h"
#include "http/wire/wire.h"
#include "operation/asking.h"
#include "operation/file.h"
#include "operation/media.h"
#include "operation/secret.h"
#include "operation/upload.h"

enum {
    MOST_PAIRS = 256,      /* in a query */
    DECODED_AT_HAND = 512, /* bytes of path and query that are decoded without allocating */
    SHOWN_TYPE = 60,       /* characters of a content type that are shown */
};

/* A value that path or query gives to a parameter. */
struct given {
    const mishap_param *param;
    mishap_text name;
    mishap_text text; /* without escapes */
    bool in_path;
    bool further;    /* of an array: not its first value */
    size_t from, to; /* its JSON, in the object */
};

struct reading {
    const mishap_operation *operation;
    mishap_buffer decoded; /* never grows once it is in use, since text points into it */
    mishap_buffer *object;
    mishap_text json; /* the body, if it is JSON */
    size_t count;
    struct given given[MOST_PAIRS + MISHAP_HTTP_PATH_PARAMS];
};

/* -- what is refused --------------------------------------------------------------------------- */

static const char *place_of(bool in_path)
{
    return in_path ? "path" : "query";
}

/* A text of path or query is wrong. Names that are not declared are not repeated in the failure. */
static mishap *refuse_text(const mishap_param *param, bool in_path, const char *why)
{
    if (!param)
        return mishap_raise(BAD_REQUEST, "The %s %s.", place_of(in_path), why);
    return mishap_tell(mishap_raise(BAD_REQUEST, "The parameter `%s` in the %s %s.", param->name,
                                    place_of(in_path), why),
                       "parameter", param->name);
}

static mishap *refuse_secret(const mishap_param *param, bool in_path)
{
    mishap *m = mishap_raise(BAD_REQUEST,
                             "The parameter `%s` is secret and must not be sent in the %s, because "
                             "logs contain it. Send the parameter in the body.",
                             param->name, place_of(in_path));
    return mishap_tell(m, "parameter", param->name);
}

static mishap *refuse_conflict(const mishap_param *param)
{
    mishap *m = mishap_raise(
        BAD_REQUEST, "The parameter `%s` has different values in the path and in the query.",
        param->name);
    return mishap_tell(m, "parameter", param->name);
}

static mishap *refuse_conflict_with(const mishap_json_reader *body, yyjson_val *value,
                                    const struct given *given)
{
    size_t line, column;
    mishap_json_locate(body->text, body->root, value, &line, &column);
    mishap *m = mishap_raise(BAD_REQUEST,
                             "At line %zu, column %zu: The parameter `%s` has different values in "
                             "the %s and in the body.",
                             line, column, given->param->name, place_of(given->in_path));
    m = mishap_tell(mishap_tell(m, "line", line), "column", column);
    return mishap_tell(m, "parameter", given->param->name);
}

/* -- the type of the body ---------------------------------------------------------------------- */

/* application/json, or application/…+json. */
static bool is_json(mishap_text type)
{
    static const mishap_text kind = MISHAP_TEXT("application"), json = MISHAP_TEXT("json"),
                             suffix = MISHAP_TEXT("+json");
    mishap_http_media media;
    if (!mishap_http_media_read(type, &media) || !mishap_http_same_letters(media.kind, kind))
        return false;
    if (mishap_http_same_letters(media.name, json))
        return true;
    mishap_text end = { media.name.data + media.name.length - suffix.length, suffix.length };
    return media.name.length > suffix.length && mishap_http_same_letters(end, suffix);
}

/* How much of it is a media type that can be shown; other text of a client is not repeated. */
static size_t shown_length(mishap_text type)
{
    size_t length = 0;
    while (length < type.length && (isalnum((unsigned char)type.data[length]) ||
                                    memchr("!#$&^_.+-/*", type.data[length], 11)))
        length++;
    bool ends = length == type.length || type.data[length] == ';';
    return ends && length <= SHOWN_TYPE ? length : 0;
}

static mishap *refuse_type(mishap_text type)
{
    size_t length = shown_length(type);
    mishap *m;
    if (length)
        m = mishap_raise(BAD_REQUEST, "The body must be application/json, but it is sent as %.*s.",
                         (int)length, type.data);
    else
        m = mishap_raise(BAD_REQUEST, "The body must be application/json, but the request has %s.",
                         type.length ? "another Content-Type" : "no Content-Type");
    return mishap_suggest(m, "Send the body as JSON, with `Content-Type: application/json`.");
}

/* The usual type of a body: no other question about it needs to be asked. */
static bool is_plain_json(mishap_text type)
{
    static const mishap_text json = MISHAP_TEXT("application/json");
    return type.length == json.length && memcmp(type.data, json.data, json.length) == 0;
}

static mishap *check_type(mishap_text type)
{
    return is_json(type) ? NULL : refuse_type(type);
}

/* RFC 9110, 8.4.1: a compressed body cannot be read here; `identity` means not compressed. */
static mishap *check_coding(mishap_text coding)
{
    static const mishap_text identity = MISHAP_TEXT("identity");
    if (coding.length == 0 || (coding.length == identity.length &&
                               strncasecmp(coding.data, identity.data, coding.length) == 0))
        return NULL;
    return mishap_suggest(
        mishap_raise(BAD_REQUEST, "The Content-Encoding of the body is not supported."),
        "Send the body without Content-Encoding.");
}

bool mishap_http_has_bytes(const mishap_operation *operation, const mishap_http_request *request)
{
    return mishap_media_taken(operation, request->fields[MISHAP_HTTP_CONTENT_TYPE]);
}

bool mishap_http_is_file(const mishap_operation *operation, mishap_text content_type)
{
    mishap_http_media media;
    return content_type.length && mishap_streamed_param(operation) &&
           mishap_http_media_read(content_type, &media) &&
           mishap_http_same_letters(media.kind, (mishap_text)MISHAP_TEXT("application")) &&
           mishap_http_same_letters(media.name, (mishap_text)MISHAP_TEXT("octet-stream"));
}

mishap *mishap_http_check_form(const mishap_operation *operation,
                               const mishap_http_request *request)
{
    mishap_text type = request->fields[MISHAP_HTTP_CONTENT_TYPE];
    mishap *m = check_coding(request->fields[MISHAP_HTTP_CONTENT_ENCODING]);
    if (m || is_plain_json(type) || mishap_http_has_bytes(operation, request) ||
        mishap_http_form_of(operation, type) != MISHAP_HTTP_NO_FORM ||
        mishap_http_is_file(operation, type))
        return m;
    return operation->takes && !is_json(type) ? mishap_media_refuse(operation) : check_type(type);
}

/* -- path and query ---------------------------------------------------------------------------- */

/* Decode the escapes of a text. It must be UTF-8. The checks of the call find a NUL. */
static mishap *decode(struct reading *r, const mishap_param *param, bool in_path, mishap_text raw,
                      mishap_text *text)
{
    *text = raw;
    if (raw.length == 0)
        return NULL;
    if (memchr(raw.data, '%', raw.length) || (!in_path && memchr(raw.data, '+', raw.length))) {
        size_t from = r->decoded.length;
        if (!mishap_url_unescape(&r->decoded, raw, !in_path))
            return refuse_text(param, in_path,
                               "has a % that is not followed by two hexadecimal digits");
        *text = (mishap_text){ r->decoded.data + from, r->decoded.length - from };
    }
    if (mishap_utf8_valid_length(*text) != text->length)
        return refuse_text(param, in_path, "is not valid UTF-8");
    return NULL;
}

static mishap *give_argument(struct reading *r, const mishap_param *param, mishap_text name,
                             mishap_text text, bool in_path)
{
    if (mishap_param_has_secret(param))
        return refuse_secret(param, in_path);
    size_t first = 0;
    while (first < r->count && r->given[first].param != param)
        first++;
    bool again = first < r->count;
    if (again && param->type != MISHAP_ARRAY) {
        if (!r->given[first].in_path)
            return refuse_text(param, in_path, "was given twice");
        return mishap_text_equal(r->given[first].text, text) ? NULL : refuse_conflict(param);
    }
    r->given[r->count++] = (struct given){
        .param = param, .name = name, .text = text, .in_path = in_path, .further = again
    };
    return NULL;
}

static mishap *take_path(struct reading *r, const mishap_http_match *match)
{
    for (size_t i = 0; i < match->param_count; i++) {
        mishap_text name = mishap_text_of(match->params[i].name), text;
        const mishap_param *param = mishap_param_find(r->operation->params, name);
        mishap *m = decode(r, param, true, match->params[i].raw, &text);
        if (!m && param)
            m = give_argument(r, param, name, text, true);
        if (m)
            return m;
    }
    return NULL;
}

/* An operation of the operator refuses a parameter that is not declared: a misspelled filter would
 * find everything, or nothing. Other operations ignore it. */
static mishap *refuse_unknown(const struct reading *r, mishap_text name)
{
    mishap_guess guess = { .word = name };
    for (const mishap_param *p = r->operation->params; p && p->name; p++)
        mishap_guess_weigh(&guess, mishap_text_of(p->name));
    name.length = mishap_utf8_cut(name, 64);
    return mishap_field_add(mishap_raise(VALIDATION_ERROR, NULL),
                            &(mishap_field){ .field = name,
                                             .error = MISHAP_TEXT("unknown_field"),
                                             .expected = guess.name.data
                                                             ? mishap_value_of_text(guess.name)
                                                             : mishap_value_none() });
}

/* `name=value`, or `name` alone. */
static mishap *take_pair(struct reading *r, mishap_text pair)
{
    const char *equals = memchr(pair.data, '=', pair.length);
    mishap_text raw_name = { pair.data, equals ? (size_t)(equals - pair.data) : pair.length };
    mishap_text raw_value = { "", 0 }, name, value;
    if (equals)
        raw_value = (mishap_text){ equals + 1, pair.length - raw_name.length - 1 };
    mishap *m = decode(r, NULL, false, raw_name, &name);
    if (!m && memchr(name.data, '\0', name.length))
        m = refuse_text(NULL, false, "has a name that contains a NUL character");
    if (m)
        return m;
    const mishap_param *param = mishap_param_find(r->operation->params, name);
    if (!param && r->operation->asks) /* a GET has no body for answers */
        param = mishap_param_find(mishap_asking_params, name);
    if (!param && r->operation->operator_only)
        return refuse_unknown(r, name);
    m = decode(r, param, false, raw_value, &value);
    return m || !param ? m : give_argument(r, param, mishap_text_of(param->name), value, false);
}

static mishap *take_query(struct reading *r, mishap_text query)
{
    const char *at = query.data, *end = at + query.length;
    for (size_t pairs = 0; at < end;) {
        const char *ampersand = memchr(at, '&', (size_t)(end - at));
        const char *stop = ampersand ? ampersand : end;
        if (stop > at) {
            if (++pairs > MOST_PAIRS)
                return mishap_raise(BAD_REQUEST, "The query has more than %d parameters.",
                                    MOST_PAIRS);
            mishap *m = take_pair(r, (mishap_text){ at, (size_t)(stop - at) });
            if (m)
                return m;
        }
        at = stop + 1;
    }
    return NULL;
}

/* Allocate the memory for all texts with escapes at once. */
static bool make_room(struct reading *r, const mishap_http_match *match, mishap_text query)
{
    size_t size = query.length;
    for (size_t i = 0; i < match->param_count; i++)
        size += match->params[i].raw.length;
    return mishap_buffer_reserve(&r->decoded, size);
}

/* -- text as JSON ------------------------------------------------------------------------------ */

/* False if one of its values is ambiguous JSON. */
static bool put_array(struct reading *r, size_t first)
{
    const mishap_param *param = r->given[first].param;
    mishap_type_of_param type = param->items ? param->items->type : MISHAP_STRING;
    bool sound = true;
    mishap_json_open(r->object, '[');
    for (size_t i = first; i < r->count; i++)
        if (r->given[i].param == param)
            sound = mishap_put_spelled(r->object, type, r->given[i].text) && sound;
    mishap_json_close(r->object, ']');
    return sound;
}

static mishap *put_given(struct reading *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct given *given = &r->given[i];
        if (given->further)
            continue;
        mishap_json_key(r->object, given->name);
        given->from = r->object->length;
        bool sound = given->param->type == MISHAP_ARRAY
                         ? put_array(r, i)
                         : mishap_put_spelled(r->object, given->param->type, given->text);
        given->to = r->object->length;
        if (!sound && !r->object->failed)
            return refuse_text(given->param, given->in_path,
                               "is JSON that has a duplicate key, a NUL character in a key, half "
                               "of a surrogate pair, or too many nested levels");
    }
    return NULL;
}

/* -- with a body ------------------------------------------------------------------------------- */

static const struct given *find_given(const struct reading *r, mishap_text key)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->given[i].further && mishap_text_equal(r->given[i].name, key))
            return &r->given[i];
    return NULL;
}

static bool is_given_twice(const struct reading *r, yyjson_val *body)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (body, index, count, key, value) {
        if (find_given(r, mishap_json_text(key)))
            return true;
    }
    return false;
}

static void put_text_form(mishap_buffer *buffer, yyjson_val *scalar)
{
    if (yyjson_is_str(scalar))
        mishap_buffer_put_text(buffer, mishap_json_text(scalar));
    else
        mishap_json_copy(buffer, scalar);
}

/* The same value, or the same as text: 7 and "7". Null counts as absent. */
static bool is_same(struct reading *r, const struct given *given, yyjson_val *value)
{
    char storage[2][128];
    mishap_buffer ours, theirs;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_text json = { r->object->data + given->from, given->to - given->from };
    bool same = yyjson_is_null(value);
    mishap_buffer_init(&ours, storage[0], sizeof storage[0]);
    mishap_buffer_init(&theirs, storage[1], sizeof storage[1]);
    if (same)
        goto done;
    if (!mishap_json_read(&reader, json)) {
        r->object->failed = r->object->failed || reader.flaw == MISHAP_JSON_NO_MEMORY;
        goto done;
    }
    same = yyjson_equals(reader.root, value);
    if (!same && !yyjson_is_ctn(reader.root) && !yyjson_is_ctn(value)) {
        put_text_form(&ours, reader.root);
        put_text_form(&theirs, value);
        r->object->failed = r->object->failed || ours.failed || theirs.failed;
        same = mishap_text_equal(mishap_buffer_text(&ours), mishap_buffer_text(&theirs));
    }
done:
    mishap_buffer_release(&ours);
    mishap_buffer_release(&theirs);
    mishap_json_reader_release(&reader);
    return same;
}

/* Write the members of the body that are not in path or query. For those that are, the values must
 * be the same. */
static mishap *put_others(struct reading *r, const mishap_json_reader *body)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (body->root, index, count, key, value) {
        const struct given *given = find_given(r, mishap_json_text(key));
        if (!given) {
            mishap_json_key(r->object, mishap_json_text(key));
            mishap_json_copy(r->object, value);
        } else if (!is_same(r, given, value) && !r->object->failed) {
            return refuse_conflict_with(body, value, given);
        }
    }
    mishap_json_close(r->object, '}');
    return NULL;
}

/* Copy all members of the body as they are, without its first bracket. */
static void put_rest(struct reading *r, const mishap_json_reader *body)
{
    const char *bracket = memchr(body->text.data, '{', body->text.length);
    const char *end = body->text.data + body->text.length;
    if (yyjson_obj_size(body->root))
        mishap_json_comma(r->object);
    mishap_buffer_put(r->object, bracket + 1, (size_t)(end - bracket - 1));
}

/* What is wrong with a text as JSON. */
static mishap_json_flaw read_soundly(mishap_json_reader *reader, mishap_text text)
{
    yyjson_val *at;
    if (!mishap_json_read(reader, text) || reader->flaw != MISHAP_JSON_SOUND)
        return reader->flaw;
    return mishap_json_first_flaw(reader, &at);
}

static mishap *merge(struct reading *r, mishap_text text, mishap_text *arguments)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader body = MISHAP_JSON_READER_IN(storage);
    mishap *failure = NULL;
    mishap_json_flaw flaw = read_soundly(&body, text);
    if (flaw == MISHAP_JSON_NO_MEMORY) {
        failure = mishap_out_of_memory();
    } else if (flaw != MISHAP_JSON_SOUND || !yyjson_is_obj(body.root)) {
        *arguments = text; /* the call refuses it, with line and column of the flaw */
    } else {
        mishap_json_open(r->object, '{');
        failure = put_given(r);
        if (!is_given_twice(r, body.root))
            put_rest(r, &body);
        else if (!failure && !r->object->failed)
            failure = put_others(r, &body);
        *arguments = mishap_buffer_text(r->object);
    }
    mishap_json_reader_release(&body);
    return failure;
}

/* -- all of it --------------------------------------------------------------------------------- */

static mishap *put_together(struct reading *r, const mishap_http_match *match,
                            const mishap_http_request *request, mishap_text *arguments)
{
    mishap *m = make_room(r, match, request->query) ? NULL : mishap_out_of_memory();
    if (!m)
        m = take_path(r, match);
    if (!m && request->query.length)
        m = take_query(r, request->query);
    if (m || r->count == 0) /* other parameters of the query are ignored */
        return m;
    if (r->json.length) {
        m = merge(r, r->json, arguments);
    } else {
        mishap_json_open(r->object, '{');
        m = put_given(r);
        mishap_json_close(r->object, '}');
        *arguments = mishap_buffer_text(r->object);
    }
    if (r->object->failed && !m)
        m = mishap_out_of_memory();
    return m;
}

mishap *mishap_http_combine(const mishap_operation *operation, const mishap_http_match *match,
                            const mishap_http_request *request, mishap_text json,
                            mishap_buffer *object, mishap_text *arguments)
{
    static const mishap_text nothing = MISHAP_TEXT("{}");
    *arguments = json.length ? json : nothing;
    if (match->param_count == 0 && request->query.length == 0)
        return NULL;

    char decoded[DECODED_AT_HAND];
    struct reading r;
    r.operation = operation;
    r.object = object;
    r.json = json;
    r.count = 0;
    mishap_buffer_init(&r.decoded, decoded, sizeof decoded);
    mishap_buffer_reset(object);
    mishap *m = put_together(&r, match, request, arguments);
    mishap_buffer_release(&r.decoded);
    return m;
}

/* The whole body as the value of the streamed file. */
static mishap *put_file(const mishap_operation *operation, const mishap_http_request *request,
                        mishap_buffer *fields)
{
    mishap_buffer file = { 0 };
    mishap_file_put(&file, (mishap_text){ NULL, 0 }, request->fields[MISHAP_HTTP_CONTENT_TYPE],
                    request->body);
    mishap_json_open(fields, '{');
    mishap_json_key(fields, mishap_text_of(mishap_streamed_param(operation)->name));
    mishap_json_string(fields, mishap_buffer_text(&file));
    mishap_json_close(fields, '}');
    bool failed = file.failed || fields->failed;
    mishap_buffer_release(&file);
    return failed ? mishap_out_of_memory() : NULL;
}

/* The fields of a form, or the file that is the body, become an object, which stands for the
 * body. */
static mishap *combine_form(const mishap_operation *operation, const mishap_http_match *match,
                            const mishap_http_request *request, mishap_http_form form,
                            mishap_buffer *object, mishap_text *arguments)
{
    mishap_buffer fields = { 0 };
    mishap_text type = request->fields[MISHAP_HTTP_CONTENT_TYPE];
    mishap *m = form == MISHAP_HTTP_NO_FORM
                    ? put_file(operation, request, &fields)
                    : mishap_http_form_read(operation, form, type, request->body, &fields);
    if (!m)
        m = mishap_http_combine(operation, match, request, mishap_buffer_text(&fields), object,
                                arguments);
    if (!m && arguments->data == fields.data) {
        mishap_buffer_release(object);
        *object = fields; /* it has no memory of another owner */
    } else {
        mishap_buffer_release(&fields);
    }
    return m;
}

mishap *mishap_http_arguments(const mishap_operation *operation, const mishap_http_match *match,
                              const mishap_http_request *request, mishap_buffer *object,
                              mishap_text *arguments)
{
    bool unchecked = request->body.length && !mishap_http_has_form(request);
    mishap *m = unchecked ? mishap_http_check_form(operation, request) : NULL;
    mishap_text json = request->body, type = request->fields[MISHAP_HTTP_CONTENT_TYPE];
    if (m)
        return m;
    if (mishap_http_has_bytes(operation, request)) {
        json.length = 0;
    } else if (json.length && !is_plain_json(type)) {
        mishap_http_form form = mishap_http_form_of(operation, type);
        if (form != MISHAP_HTTP_NO_FORM || mishap_http_is_file(operation, type))
            return combine_form(operation, match, request, form, object, arguments);
    }
    return mishap_http_combine(operation, match, request, json, object, arguments);
}
