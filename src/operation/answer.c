/*
 * The answer of a handler: complete JSON, JSON that is written piece by piece, a document, or
 * bytes. JSON that is written piece by piece is always valid, except for brackets that are still
 * open: the stack of open brackets says where a key is required. A handler that makes a mistake is
 * aborted, and brackets that it leaves open are closed.
 */
#include "base/memory.h"
#include "mishap/code.h"
#include "operation/call.h"

/* -- a whole answer ---------------------------------------------------------------------------- */

static void begin_answer(mishap_call *call, mishap_answer_kind kind)
{
    mishap_buffer_reset(&call->answer);
    call->answer_kind = kind;
    call->content = false;
    call->writing.depth = 0;
    call->writing.begun = false;
}

mishap *mishap_answer(mishap_call *call, const char *json)
{
    begin_answer(call, json ? MISHAP_ANSWER_JSON : MISHAP_ANSWER_NOTHING);
    mishap_buffer_put_text(&call->answer, mishap_text_of(json));
    return NULL;
}

/* -- an answer in pieces ----------------------------------------------------------------------- */

static const char nameless[] = "the handler wrote a member of an object without a name";

/* The innermost open object or array; there is one. */
static struct mishap_open *innermost(mishap_call *call)
{
    size_t level = call->writing.depth - 1;
    return level < MISHAP_OUTER_LEVELS ? &call->writing.outer[level]
                                       : &call->writing.deeper[level - MISHAP_OUTER_LEVELS];
}

/* The declaration of a value at this place under this key; NULL: none. */
static const mishap_param *declared_for(mishap_call *call, mishap_text key)
{
    if (!call->writing.depth)
        return NULL;
    const struct mishap_open *open = innermost(call);
    const mishap_param *param = open->declared;
    if (open->array || open->map || !param)
        return param;
    return mishap_param_find(param, key);
}

static void open_container(mishap_call *call, bool array, mishap_text key)
{
    const mishap_param *param = declared_for(call, key), *declared = NULL;
    if (call->writing.depth == MISHAP_JSON_MAX_DEPTH)
        mishap_call_misuse(call, "the handler nested its answer too deep", "");
    if (!call->writing.depth)
        declared = array ? NULL : call->operation->answers;
    else if (param)
        declared = array || param->type == MISHAP_MAP ? param->items : param->members;
    bool map = !array && param && param->type == MISHAP_MAP;
    mishap_json_open(&call->answer, array ? '[' : '{');
    if (call->writing.depth++ == MISHAP_OUTER_LEVELS && !call->writing.deeper)
        call->writing.deeper = mishap_call_take(call,
                                                MISHAP_JSON_MAX_DEPTH * sizeof(struct mishap_open));
    *innermost(call) = (struct mishap_open){ array, map, declared };
    call->writing.begun = true;
}

static void close_container(mishap_call *call)
{
    mishap_json_close(&call->answer, innermost(call)->array ? ']' : '}');
    call->writing.depth--;
}

/* A handler may pass any bytes; the answer is UTF-8. Without memory the answer fails, but the
 * handler goes on: it may hold something that it has to release. */
static bool clean(mishap_call *call, mishap_text *text)
{
    mishap_text cleaned = mishap_utf8_clean(&call->arena, *text);
    if (!cleaned.data)
        call->answer.failed = true;
    *text = cleaned;
    return cleaned.data != NULL;
}

/*
 * Called before each value: in an object it needs a key, in an array it must have none. The first
 * value decides what the answer is; `root`: it may be the answer itself. False: there is no memory,
 * and nothing is to be written.
 */
static bool begin_value(mishap_call *call, mishap_text key, bool root)
{
    if (call->answer_kind != MISHAP_ANSWER_WRITTEN)
        begin_answer(call, MISHAP_ANSWER_WRITTEN);
    if (!call->writing.depth) {
        if (call->writing.begun)
            mishap_call_misuse(call, "the handler wrote more after the end of its answer",
                               key.data);
        if (root && !key.data)
            return true;
        open_container(call, !key.data, key);
    }
    bool in_array = innermost(call)->array;
    if (in_array && key.data)
        mishap_call_misuse(call, "the handler wrote an item of an array with a name", key.data);
    if (!in_array && !key.data)
        mishap_call_misuse(call, nameless, "");
    if (key.data && !clean(call, &key))
        return false;
    if (key.data)
        mishap_json_key(&call->answer, key);
    return true;
}

/* In C a comparison is a number: where a boolean is declared, 0 and 1 count as false and true. */
static bool is_truth(const mishap_value *value)
{
    return value->kind == MISHAP_KIND_INT && (value->integer == 0 || value->integer == 1);
}

static void write_value(mishap_call *call, mishap_text key, mishap_value value)
{
    if (value.kind == MISHAP_KIND_TEXT && !clean(call, &value.text))
        return;
    if (!begin_value(call, key, false))
        return;
    if (is_truth(&value)) {
        const mishap_param *param = declared_for(call, key);
        if (param && param->type == MISHAP_BOOLEAN)
            value = mishap_value_of_bool(value.integer != 0);
    }
    mishap_json_value(&call->answer, &value);
}

/* JSON text is parsed before it is written, since it could be more than one value. False: it is not
 * valid JSON, and nothing was written. */
static bool write_json(mishap_call *call, mishap_text key, mishap_text json)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    yyjson_val *at;
    bool sound = mishap_json_read(&reader, json) &&
                 mishap_json_first_flaw(&reader, &at) == MISHAP_JSON_SOUND;
    if (sound && begin_value(call, key, yyjson_is_ctn(reader.root))) {
        mishap_json_copy(&call->answer, reader.root);
        call->writing.begun = true;
    }
    call->answer.failed |= reader.flaw == MISHAP_JSON_NO_MEMORY;
    mishap_json_reader_release(&reader);
    return sound || call->answer.failed;
}

/* As mishap_value_of_json() promises, text that is no JSON is written as a string. */
static mishap *write_any(mishap_call *call, mishap_text key, mishap_value value)
{
    if (value.kind == MISHAP_KIND_JSON && write_json(call, key, value.text))
        return NULL;
    if (value.kind == MISHAP_KIND_JSON)
        value.kind = MISHAP_KIND_TEXT;
    write_value(call, key, value);
    return NULL;
}

mishap *mishap_answer_object(mishap_call *call, const char *key)
{
    if (begin_value(call, mishap_text_of(key), true))
        open_container(call, false, mishap_text_of(key));
    return NULL;
}

mishap *mishap_answer_array(mishap_call *call, const char *key)
{
    if (begin_value(call, mishap_text_of(key), true))
        open_container(call, true, mishap_text_of(key));
    return NULL;
}

mishap *mishap_answer_end(mishap_call *call)
{
    if (call->answer_kind != MISHAP_ANSWER_WRITTEN || !call->writing.depth)
        mishap_call_misuse(call, "the handler ended an object or array that is not open", "");
    close_container(call);
    return NULL;
}

mishap *mishap_answer_member_value(mishap_call *call, mishap_text key, mishap_value value)
{
    if (!key.data)
        mishap_call_misuse(call, nameless, "");
    if (value.kind != MISHAP_KIND_NONE)
        return write_any(call, key, value);
    if (call->answer_kind != MISHAP_ANSWER_WRITTEN) { /* an object without members, so far */
        begin_answer(call, MISHAP_ANSWER_WRITTEN);
        open_container(call, false, key);
    }
    return NULL;
}

mishap *mishap_answer_item_value(mishap_call *call, mishap_value value)
{
    return value.kind == MISHAP_KIND_NONE ? NULL : write_any(call, (mishap_text){ NULL, 0 }, value);
}

mishap *mishap_answer_json(mishap_call *call, const char *key, const char *json)
{
    if (!write_json(call, mishap_text_of(key), mishap_text_of(json ? json : "null")))
        mishap_call_misuse(call, "the handler wrote a piece of JSON that is not valid", key);
    return NULL;
}

void mishap_answer_finish(mishap_call *call)
{
    while (call->writing.depth)
        close_container(call);
    call->answer_kind = MISHAP_ANSWER_JSON;
}

/* -- by the words of HTTP ---------------------------------------------------------------------- */

/* If the handler gives no other answer, what it has written piece by piece is the answer. */
static mishap *answer_or_keep(mishap_call *call, const char *json)
{
    return !json && call->answer_kind == MISHAP_ANSWER_WRITTEN ? NULL : mishap_answer(call, json);
}

mishap *mishap_ok(mishap_call *call, const char *json)
{
    call->status = 200;
    return answer_or_keep(call, json);
}

mishap *mishap_created(mishap_call *call, const char *json, const char *location)
{
    call->status = 201;
    call->location = location ? mishap_call_print(call, "%s", location) : NULL;
    return answer_or_keep(call, json);
}

mishap *mishap_no_content(mishap_call *call)
{
    call->status = 204;
    return mishap_answer(call, NULL);
}

int mishap_call_status(const mishap_call *call)
{
    int status = call->status              ? call->status
                 : call->operation->status ? call->operation->status
                                           : 200;
    return call->answer_kind == MISHAP_ANSWER_NOTHING && status == 200 ? 204 : status;
}

const mishap_code *mishap_code_of_status(int http_status)
{
    const mishap_code *code = mishap_code_by_status(http_status);
    return code ? code : MISHAP_CODE_INTERNAL_ERROR;
}

/* -- other kinds of answers -------------------------------------------------------------------- */

mishap *mishap_answer_document(mishap_call *call, mishap_text document)
{
    begin_answer(call, MISHAP_ANSWER_DOCUMENT);
    mishap_buffer_put_text(&call->answer, document);
    return NULL;
}

mishap *mishap_answer_bytes(mishap_call *call, mishap_text bytes, const char *media_type)
{
    begin_answer(call, MISHAP_ANSWER_BYTES);
    mishap_buffer_put_text(&call->answer, bytes);
    call->answer_type = mishap_call_print(call, "%s",
                                          media_type ? media_type : "application/octet-stream");
    return NULL;
}

mishap *mishap_answer_content(mishap_call *call, const char *json)
{
    mishap_answer(call, json);
    call->content = json != NULL;
    return NULL;
}

mishap *mishap_answer_text(mishap_call *call, mishap_text text)
{
    mishap_text clean = mishap_utf8_clean(&call->arena, text);
    if (!clean.data)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, NULL);
    call->styled = false;
    mishap_buffer_reset(&call->text);
    mishap_buffer_put_text(&call->text, clean);
    if (call->text.failed)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, NULL);
    return NULL;
}

void mishap_answer_cut(mishap_call *call, size_t listed, size_t total)
{
    call->listed = listed;
    call->total = total;
}
