/* What a handler sees of a call: its parameters, its memory, its answer. */
#include "operation/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "mishap/code.h"

/* The handler made a mistake, or there is no memory: the call ends here, and only the call. */
static _Noreturn void end_call(const mishap_call *call, const char *why, const char *name)
{
    mishap_call *ours = (mishap_call *)(uintptr_t)call;
    ours->misuse = why;
    ours->misused = name;
    if (!call->way_out)
        abort(); /* outside of a handler there is nobody to tell */
    siglongjmp(*call->way_out, 1);
}

/* -- parameters -------------------------------------------------------------------------------- */

static size_t find_param(const mishap_call *call, const char *name)
{
    for (size_t i = 0; i < call->param_count; i++)
        if (strcmp(call->operation->params[i].name, name) == 0)
            return i;
    end_call(call, "the handler asked for a parameter that is not declared", name);
}

static yyjson_val *value_of(const mishap_call *call, const char *name, unsigned types)
{
    size_t i = find_param(call, name);
    if (!(types >> call->operation->params[i].type & 1))
        end_call(call,
                 "the handler asked for a parameter under a type that it is not declared with",
                 name);
    return call->values[i];
}

enum {
    STRINGS = 1 << MISHAP_STRING | 1 << MISHAP_ENUM,
    INTEGERS = 1 << MISHAP_INTEGER,
    NUMBERS = 1 << MISHAP_INTEGER | 1 << MISHAP_NUMBER,
    BOOLEANS = 1 << MISHAP_BOOLEAN,
};

bool mishap_given(const mishap_call *call, const char *name)
{
    return call->values[find_param(call, name)] != NULL;
}

const char *mishap_string(const mishap_call *call, const char *name)
{
    return yyjson_get_str(value_of(call, name, STRINGS));
}

size_t mishap_string_length(const mishap_call *call, const char *name)
{
    return yyjson_get_len(value_of(call, name, STRINGS));
}

int64_t mishap_integer(const mishap_call *call, const char *name)
{
    return yyjson_get_sint(value_of(call, name, INTEGERS));
}

double mishap_number(const mishap_call *call, const char *name)
{
    yyjson_val *value = value_of(call, name, NUMBERS);
    /* An integer beyond 64 bits is kept as its digits, in which no locale can see a point. */
    return yyjson_is_raw(value) ? strtod(yyjson_get_raw(value), NULL) : yyjson_get_num(value);
}

bool mishap_boolean(const mishap_call *call, const char *name)
{
    return yyjson_get_bool(value_of(call, name, BOOLEANS));
}

const char *mishap_json(const mishap_call *call, const char *name)
{
    yyjson_val *value = call->values[find_param(call, name)];
    mishap_buffer json = { 0 };
    if (!value)
        return NULL;
    mishap_json_copy(&json, value);
    mishap_text kept = { NULL, 0 };
    if (!json.failed)
        kept = mishap_arena_copy((mishap_arena *)(uintptr_t)&call->arena,
                                 mishap_buffer_text(&json));
    mishap_buffer_release(&json);
    if (!kept.data)
        end_call(call, "there was not enough memory", name);
    return kept.data;
}

/* -- memory and time --------------------------------------------------------------------------- */

void *mishap_call_take(mishap_call *call, size_t size)
{
    void *memory = mishap_arena_take(&call->arena, size ? size : 1);
    if (!memory)
        end_call(call, "there was not enough memory", "");
    return memory;
}

const char *mishap_call_print(mishap_call *call, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : mishap_arena_take(&call->arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    if (!text)
        end_call(call, "there was not enough memory", "");
    return text;
}

void mishap_call_defer(mishap_call *call, void (*function)(void *argument), void *argument)
{
    mishap_deferred *deferred = mishap_arena_take(&call->arena, sizeof *deferred);
    if (!deferred) {
        function(argument);
        end_call(call, "there was not enough memory", "");
    }
    *deferred = (mishap_deferred){ function, argument, call->deferred };
    call->deferred = deferred;
}

int64_t mishap_call_time_left(const mishap_call *call)
{
    if (!call->deadline_ns)
        return -1;
    int64_t left = (call->deadline_ns - mishap_clock_monotonic_ns()) / 1000000;
    return left > 0 ? left : 0;
}

void mishap_progress(mishap_call *call, double done, double total, const char *words)
{
    if (call->watcher && call->watcher->progress)
        call->watcher->progress(call->watcher, done, total, mishap_text_of(words));
}

bool mishap_cancelled(const mishap_call *call)
{
    atomic_store_explicit(&((mishap_call *)(uintptr_t)call)->asked, true, memory_order_relaxed);
    return atomic_load_explicit(&call->cancelled, memory_order_relaxed) ||
           (call->cancelled_by && atomic_load_explicit(call->cancelled_by, memory_order_relaxed));
}

bool mishap_call_is_unheard(const mishap_call *call)
{
    return mishap_cancelled(call) &&
           (!call->cancelled_by ||
            atomic_load_explicit(call->cancelled_by, memory_order_relaxed) == MISHAP_CALLER_GONE);
}

void mishap_log(mishap_call *call, mishap_level level, const char *format, ...)
{
    va_list arguments, again;
    if (!call->watcher || !call->watcher->log)
        return;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *words = length < 0 ? NULL : mishap_arena_take(&call->arena, (size_t)length + 1);
    if (words)
        vsnprintf(words, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    mishap_text clean = words ? mishap_utf8_clean(&call->arena, mishap_text_of(words))
                              : (mishap_text){ NULL, 0 };
    if (clean.data)
        call->watcher->log(call->watcher, level, clean);
}

void *mishap_state(const mishap_call *call)
{
    return call->operation->service ? call->service_state : call->app->state;
}

const char *mishap_caller(const mishap_call *call)
{
    return call->caller;
}

/* -- answering --------------------------------------------------------------------------------- */

static void begin_answer(mishap_call *call, mishap_answer_kind kind)
{
    mishap_buffer_reset(&call->answer);
    call->answer_kind = kind;
    call->content = false;
}

mishap *mishap_answer(mishap_call *call, const char *json)
{
    begin_answer(call, json ? MISHAP_ANSWER_JSON : MISHAP_ANSWER_NOTHING);
    mishap_buffer_put_text(&call->answer, mishap_text_of(json));
    return NULL;
}

mishap *mishap_answer_member_value(mishap_call *call, mishap_text key, mishap_value value)
{
    if (call->answer_kind != MISHAP_ANSWER_MEMBERS) {
        begin_answer(call, MISHAP_ANSWER_MEMBERS);
        mishap_json_open(&call->answer, '{');
    }
    if (value.kind == MISHAP_KIND_NONE)
        return NULL;
    /* What a handler hands over may be any bytes; what is answered is UTF-8. */
    mishap_text name = mishap_utf8_clean(&call->arena, key);
    if (value.kind == MISHAP_KIND_TEXT)
        value.text = mishap_utf8_clean(&call->arena, value.text);
    if (!name.data || (value.kind == MISHAP_KIND_TEXT && !value.text.data))
        end_call(call, "there was not enough memory", "");
    mishap_json_key(&call->answer, name);
    mishap_json_value(&call->answer, &value);
    return NULL;
}

mishap *mishap_ok(mishap_call *call, const char *json)
{
    call->status = 200;
    return mishap_answer(call, json);
}

mishap *mishap_created(mishap_call *call, const char *json, const char *location)
{
    call->status = 201;
    call->location = location ? mishap_call_print(call, "%s", location) : NULL;
    return mishap_answer(call, json);
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

void mishap_answer_cut(mishap_call *call, size_t listed, size_t total)
{
    call->listed = listed;
    call->total = total;
}

void mishap_warn(mishap_call *call, const char *format, ...)
{
    char warning[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(warning, sizeof warning, format, arguments);
    va_end(arguments);
    mishap_text clean = mishap_utf8_clean(&call->arena, mishap_text_of(warning));
    if (clean.data)
        mishap_json_string(&call->warnings, clean);
}
