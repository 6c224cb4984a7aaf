/* Forms as arguments: see form.h. */
#include "http/wire/form.h"

#include "base/media.h"
#include "operation/file.h"
#include "operation/media.h"
#include "operation/upload.h"

enum { MOST_FIELDS = 1024 };

/* -- which forms ------------------------------------------------------------------------------- */

static bool is_file(const mishap_param *param)
{
    return param->type == MISHAP_FILE ||
           (param->type == MISHAP_ARRAY && param->items && param->items->type == MISHAP_FILE);
}

bool mishap_http_takes_forms(const mishap_operation *operation)
{
    bool takes = operation->forms;
    for (const mishap_param *param = operation->params; !takes && param && param->name; param++)
        takes = is_file(param);
    return takes;
}

mishap_http_form mishap_http_form_of(const mishap_operation *operation, mishap_text content_type)
{
    mishap_http_media media;
    if (!content_type.length || !mishap_http_takes_forms(operation) ||
        !mishap_http_media_read(content_type, &media))
        return MISHAP_HTTP_NO_FORM;
    mishap_text plain = { media.kind.data, media.kind.length + 1 + media.name.length };
    if (mishap_http_same_letters(plain, (mishap_text)MISHAP_TEXT("multipart/form-data")))
        return MISHAP_HTTP_MULTIPART;
    return mishap_http_same_letters(plain,
                                    (mishap_text)MISHAP_TEXT("application/x-www-form-urlencoded"))
               ? MISHAP_HTTP_URLENCODED
               : MISHAP_HTTP_NO_FORM;
}

/* -- fields ------------------------------------------------------------------------------------ */

typedef mishap_http_form_reader form_reader;

static mishap *refuse_field(const mishap_param *param, const char *why)
{
    return mishap_tell(
        mishap_raise(BAD_REQUEST, "The field `%s` of the form %s.", param->name, why), "parameter",
        param->name);
}

/* HTML forms cannot leave a field out: an empty one counts as not given. */
static bool is_absent(mishap_type_of_param type, mishap_text text)
{
    return !text.length && type != MISHAP_STRING;
}

/* Add one value, as text or as the text of a file. */
static mishap *give_field(form_reader *form, const mishap_param *param, mishap_text text)
{
    mishap_buffer *to = &form->values[param - form->operation->params];
    bool array = param->type == MISHAP_ARRAY && !(text.length && text.data[0] == '[');
    mishap_type_of_param type = !array         ? param->type
                                : param->items ? param->items->type
                                               : MISHAP_STRING;
    if (is_absent(type, text))
        return NULL;
    if (mishap_utf8_valid_length(text) < text.length)
        return refuse_field(param, "is not valid UTF-8");
    if (to->length && !array)
        return refuse_field(param, "was given twice");
    if (array && to->length && to->data[to->length - 1] != ']')
        return refuse_field(param, "was given as an array and as an item");
    if (array && to->length)
        to->length--; /* open it again */
    else if (array)
        mishap_json_open(to, '[');
    bool sound = mishap_put_spelled(to, type, text);
    if (array)
        mishap_json_close(to, ']');
    if (to->failed)
        return mishap_out_of_memory();
    return sound ? NULL
                 : refuse_field(param, "is JSON that has a duplicate key, a NUL character in a "
                                       "key, half of a surrogate pair, or too many nested levels");
}

/* -- application/x-www-form-urlencoded --------------------------------------------------------- */

static mishap *unescape(mishap_buffer *to, mishap_text raw)
{
    mishap_buffer_reset(to);
    if (raw.length && !mishap_url_unescape(to, raw, true) && !to->failed)
        return mishap_raise(BAD_REQUEST,
                            "The form has a %% that is not followed by two hexadecimal digits.");
    return to->failed ? mishap_out_of_memory() : NULL;
}

static mishap *take_pair(form_reader *form, mishap_text pair)
{
    const char *equals = memchr(pair.data, '=', pair.length);
    mishap_text name = { pair.data, equals ? (size_t)(equals - pair.data) : pair.length };
    mishap_text value = { "", 0 };
    if (equals)
        value = (mishap_text){ equals + 1, pair.length - name.length - 1 };
    mishap *m = unescape(&form->name, name);
    if (m)
        return m;
    const mishap_param *param = mishap_param_find(form->operation->params,
                                                  mishap_buffer_text(&form->name));
    m = param ? unescape(&form->text, value) : NULL;
    return m || !param ? m : give_field(form, param, mishap_buffer_text(&form->text));
}

static mishap *read_pairs(form_reader *form, mishap_text body)
{
    size_t fields = 0;
    while (body.length) {
        const char *end = memchr(body.data, '&', body.length);
        mishap_text pair = { body.data, end ? (size_t)(end - body.data) : body.length };
        size_t size = pair.length + (end ? 1 : 0);
        body = (mishap_text){ body.data + size, body.length - size };
        if (++fields > MOST_FIELDS)
            return mishap_raise(BAD_REQUEST, "The form has more than %d fields.", MOST_FIELDS);
        mishap *m = pair.length ? take_pair(form, pair) : NULL;
        if (m)
            return m;
    }
    return NULL;
}

/* -- multipart/form-data ----------------------------------------------------------------------- */

static mishap *refuse_late(const mishap_param *param)
{
    return mishap_suggest(refuse_field(param, "must be the last part"),
                          "Send all other fields of the form before the file.");
}

static mishap *put_file(form_reader *form, mishap_text bytes)
{
    mishap_buffer file = { 0 };
    mishap_file_put(&file, mishap_buffer_text(&form->name), mishap_buffer_text(&form->type), bytes);
    mishap *m = file.failed ? mishap_out_of_memory()
                            : give_field(form, form->at, mishap_buffer_text(&file));
    mishap_buffer_release(&file);
    return m;
}

static mishap *begin_part(void *state, const mishap_multipart_part *part)
{
    form_reader *form = state;
    if (form->streamed)
        return refuse_late(mishap_streamed_param(form->operation));
    form->at = mishap_param_find(form->operation->params, part->name);
    form->at_file = form->at && is_file(form->at);
    mishap_buffer_reset(&form->text);
    mishap_buffer_reset(&form->name);
    mishap_buffer_reset(&form->type);
    if (form->at_file) {
        mishap_buffer_put_text(&form->name, part->file);
        mishap_buffer_put_text(&form->type, part->type);
    }
    /* A browser sends a file without a name where none was chosen. */
    if (form->at_file && part->file.data && !part->file.length)
        form->at = NULL;
    if (form->name.failed || form->type.failed)
        return mishap_out_of_memory();
    form->at_stream = form->stream && form->at && form->at->streamed;
    if (!form->at_stream)
        return NULL;
    mishap *m = put_file(form, (mishap_text){ "", 0 });
    return m ? m : form->stream->begin(form->stream->state);
}

static mishap *take_streamed(form_reader *form, mishap_text bytes)
{
    size_t most = form->at->length.max;
    if (most && bytes.length > most - form->length)
        return mishap_upload_too_large(form->at, most);
    form->length += bytes.length;
    return form->stream->data(form->stream->state, bytes);
}

static mishap *refuse_fields(void)
{
    mishap *m = mishap_raise(CONTENT_TOO_LARGE,
                             "The fields before the file can have at most %d bytes together.",
                             MISHAP_HTTP_FORM_FIELDS);
    return mishap_tell(m, "limit_bytes", (int64_t)MISHAP_HTTP_FORM_FIELDS);
}

/* The limit of each part is that of its parameter. What is too long is refused before it is in
 * memory. */
static mishap *take_data(void *state, mishap_text bytes)
{
    form_reader *form = state;
    if (!form->at)
        return NULL;
    if (form->at_stream)
        return take_streamed(form, bytes);
    const mishap_param *one = form->at->type == MISHAP_ARRAY ? form->at->items : form->at;
    size_t most = form->at_file ? one->length.max : 0;
    if (most && bytes.length > most - form->text.length)
        return mishap_upload_too_large(form->at, most);
    if (form->stream && bytes.length > MISHAP_HTTP_FORM_FIELDS - form->held)
        return refuse_fields();
    form->held += bytes.length;
    mishap_buffer_put_text(&form->text, bytes);
    return form->text.failed ? mishap_out_of_memory() : NULL;
}

static mishap *end_part(void *state)
{
    form_reader *form = state;
    if (!form->at)
        return NULL;
    form->streamed = form->at_stream;
    if (form->at_stream)
        return NULL;
    return form->at_file ? put_file(form, mishap_buffer_text(&form->text))
                         : give_field(form, form->at, mishap_buffer_text(&form->text));
}

/* -- all of it --------------------------------------------------------------------------------- */

static mishap *open_form(form_reader *form, const mishap_operation *operation)
{
    *form = (form_reader){ .operation = operation };
    while (operation->params && operation->params[form->count].name)
        form->count++;
    mishap_arena_init(&form->arena, NULL, 0);
    size_t size = (form->count + 1) * sizeof *form->values;
    form->values = mishap_arena_take(&form->arena, size);
    if (!form->values)
        return mishap_out_of_memory();
    memset(form->values, 0, size);
    return NULL;
}

mishap *mishap_http_form_open(form_reader *form, const mishap_operation *operation,
                              mishap_text content_type, const mishap_http_form_stream *stream)
{
    mishap *m = open_form(form, operation);
    form->stream = stream;
    form->receiver = (mishap_multipart_receiver){ begin_part, take_data, end_part, form };
    if (m || mishap_multipart_begin(&form->parts, content_type, &form->receiver))
        return m;
    return mishap_suggest(
        mishap_raise(BAD_REQUEST, "The Content-Type of the form has no valid boundary."),
        "Let the HTTP client set the Content-Type: it has to name the boundary that the client "
        "uses.");
}

bool mishap_http_form_feed(form_reader *form, mishap_text bytes)
{
    return mishap_multipart_feed(&form->parts, bytes);
}

mishap *mishap_http_form_end(form_reader *form)
{
    return mishap_multipart_end(&form->parts);
}

void mishap_http_form_release(form_reader *form)
{
    if (form->receiver.state)
        mishap_free(mishap_multipart_end(&form->parts));
    for (size_t i = 0; form->values && i < form->count; i++)
        mishap_buffer_release(&form->values[i]);
    mishap_buffer_release(&form->name);
    mishap_buffer_release(&form->type);
    mishap_buffer_release(&form->text);
    mishap_arena_release(&form->arena);
}

void mishap_http_form_put(const form_reader *form, mishap_buffer *json)
{
    mishap_json_open(json, '{');
    for (size_t i = 0; i < form->count; i++)
        if (form->values[i].length) {
            mishap_json_key(json, mishap_text_of(form->operation->params[i].name));
            mishap_buffer_put_text(json, mishap_buffer_text(&form->values[i]));
        }
    mishap_json_close(json, '}');
}

static mishap *read_parts(form_reader *form, mishap_text body)
{
    mishap_http_form_feed(form, body);
    return mishap_http_form_end(form);
}

mishap *mishap_http_form_read(const mishap_operation *operation, mishap_http_form kind,
                              mishap_text content_type, mishap_text body, mishap_buffer *json)
{
    form_reader form;
    bool parts = kind == MISHAP_HTTP_MULTIPART;
    mishap *m = parts ? mishap_http_form_open(&form, operation, content_type, NULL)
                      : open_form(&form, operation);
    if (!m)
        m = parts ? read_parts(&form, body) : read_pairs(&form, body);
    if (!m)
        mishap_http_form_put(&form, json);
    if (!m && json->failed)
        m = mishap_out_of_memory();
    mishap_http_form_release(&form);
    return m;
}
