/* Functions of a call for its handler: memory, deadline, caller, and warnings. */
#include "operation/call.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/hex.h"
#include "base/memory.h"
#include "base/traceparent.h"
#include "mishap/code.h"
#include "operation/secret.h"

_Noreturn void mishap_call_misuse(const mishap_call *call, const char *why, const char *name)
{
    mishap_call *ours = mishap_call_whole(call);
    ours->misuse = why;
    ours->misused = mishap_arena_copy(&ours->arena, mishap_text_of(name ? name : "")).data;
    mishap_trace *trace = mishap_arena_take(&ours->arena, sizeof *trace);
    if (trace)
        mishap_trace_take(trace);
    ours->misused_at = trace;
    if (!ours->way_out) { /* outside of a handler no other code can report it */
        fprintf(stderr, "mishap: `%s`: %s, outside of a handler; the program ends.\n",
                name ? name : "", why);
        abort();
    }
    siglongjmp(*ours->way_out, 1);
}

/* -- memory and time --------------------------------------------------------------------------- */

void *mishap_call_take(mishap_call *call, size_t size)
{
    void *memory = mishap_arena_take(&call->arena, size ? size : 1);
    if (!memory)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, "");
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
        mishap_call_misuse(call, MISHAP_NO_MEMORY, "");
    return text;
}

void mishap_call_defer(mishap_call *call, void (*function)(void *argument), void *argument)
{
    if (!function)
        return;
    mishap_deferred *deferred = mishap_arena_take(&call->arena, sizeof *deferred);
    if (!deferred) {
        function(argument);
        mishap_call_misuse(call, MISHAP_NO_MEMORY, "");
    }
    *deferred = (mishap_deferred){ function, argument, call->deferred };
    call->deferred = deferred;
}

mishap_timestamp mishap_now(const mishap_call *call)
{
    (void)call;
    int64_t now_ms = mishap_clock_now_ms(), seconds = now_ms / 1000 - (now_ms % 1000 < 0);
    return (mishap_timestamp){ .time = { .tv_sec = (time_t)seconds,
                                         .tv_nsec = (long)(now_ms - seconds * 1000) * 1000000 } };
}

int64_t mishap_call_time_left(const mishap_call *part)
{
    const mishap_call *call = mishap_call_whole(part);
    if (!call->deadline_ns)
        return -1;
    int64_t left = (call->deadline_ns - mishap_clock_monotonic_ns()) / 1000000;
    return left > 0 ? left : 0;
}

void mishap_progress(mishap_call *call, double done, double total, const char *words)
{
    if (call->watcher && call->watcher->progress)
        call->watcher->progress(call->watcher, isfinite(done) ? done : 0,
                                isfinite(total) ? total : 0, mishap_text_of(words));
}

bool mishap_cancelled(const mishap_call *part)
{
    mishap_call *call = mishap_call_whole(part);
    atomic_store_explicit(&call->asked, true, memory_order_relaxed);
    return atomic_load_explicit(&call->cancelled, memory_order_relaxed) ||
           (call->cancelled_by && atomic_load_explicit(call->cancelled_by, memory_order_relaxed)) ||
           (call->within && mishap_cancelled(call->within));
}

bool mishap_call_is_unheard(const mishap_call *call)
{
    return mishap_cancelled(call) &&
           (!call->cancelled_by ||
            atomic_load_explicit(call->cancelled_by, memory_order_relaxed) == MISHAP_CALLER_GONE);
}

void mishap_tell_client(mishap_call *call, mishap_level level, const char *format, ...)
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

void mishap_log(mishap_call *call, mishap_level level, const char *format, ...)
    __attribute__((alias("mishap_tell_client")));

const mishap_app *mishap_app_of(const mishap_call *call)
{
    return mishap_call_whole(call)->app;
}

void *mishap_state(const mishap_call *part)
{
    const mishap_call *call = mishap_call_whole(part);
    return call->operation->service ? call->service_state : call->app->state;
}

const char *mishap_caller(const mishap_call *call)
{
    return mishap_call_whole(call)->caller;
}

bool mishap_caller_is_free(const mishap_call *call)
{
    return mishap_call_whole(call)->caller_is_free;
}

/* -- where it comes from ----------------------------------------------------------------------- */

/* A copy with a terminating NUL. */
static const char *keep_string(const mishap_call *part, mishap_text text)
{
    mishap_call *call = mishap_call_whole(part);
    mishap_text kept = mishap_arena_copy(&call->arena, text);
    if (!kept.data)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, "");
    return kept.data;
}

mishap_boundary_kind mishap_boundary(const mishap_call *call)
{
    return mishap_call_whole(call)->boundary;
}

/* The id is made when it is first needed, since few calls need it. */
static mishap_text need_id(mishap_call *call)
{
    char id[MISHAP_ID_LENGTH + 1];
    if (!call->request_id.data) {
        mishap_id_make(id);
        call->request_id = mishap_text_of(keep_string(call, (mishap_text){ id, MISHAP_ID_LENGTH }));
    }
    return call->request_id;
}

const char *mishap_request_id(const mishap_call *call)
{
    return keep_string(call, need_id(mishap_call_whole(call)));
}

const char *mishap_call_id(mishap_call *part)
{
    mishap_call *call = mishap_call_whole(part);
    char id[MISHAP_ID_LENGTH + 1];
    if (!call->id.data) {
        mishap_id_make(id);
        call->id = mishap_text_of(keep_string(call, (mishap_text){ id, MISHAP_ID_LENGTH }));
    }
    return call->id.data; /* it is NUL-terminated, from every source */
}

bool mishap_call_is_repeated(const mishap_call *call)
{
    return mishap_call_whole(call)->repeated;
}

const char *mishap_operation_name(const mishap_call *call)
{
    return mishap_call_whole(call)->operation->name;
}

/* Of a call that came without a trace, its own id is the trace, as in the record of a failure. */
const char *mishap_call_trace(const mishap_call *part)
{
    mishap_call *call = mishap_call_whole(part);
    mishap_traceparent given;
    char digits[MISHAP_ID_LENGTH], text[MISHAP_TRACEPARENT_LENGTH + 1], trace[33];
    mishap_text id = need_id(call);
    size_t count = 0;
    for (size_t i = 0; i < id.length && count < 32; i++)
        if (id.data[i] != '-')
            digits[count++] = id.data[i];
    if (count != 32)
        return NULL;
    bool known = mishap_traceparent_read(call->traceparent, &given);
    memcpy(trace, digits, 32);
    if (known)
        mishap_hex_write(trace, given.trace, sizeof given.trace);
    int length = snprintf(text, sizeof text, "00-%.32s-%.16s-%02x", trace, digits + 16,
                          known ? given.flags : 0);
    return keep_string(call, (mishap_text){ text, (size_t)length });
}

const char *mishap_remote(const mishap_call *call)
{
    mishap_text remote = mishap_call_whole(call)->remote;
    return remote.length ? keep_string(call, remote) : NULL;
}

mishap *mishap_call_keep_headers(mishap_call *call, mishap_header_finder *find, const void *state)
{
    char room[1024];
    mishap_buffer headers;
    mishap_buffer_init(&headers, room, sizeof room);
    for (const char *const *name = call->operation->headers; name && *name; name++) {
        mishap_text value = find(state, mishap_text_of(*name));
        mishap_buffer_put_char(&headers, value.data ? '+' : '-');
        mishap_buffer_put_text(&headers, value);
        mishap_buffer_put_char(&headers, '\n');
    }
    if (!headers.failed)
        call->headers = mishap_arena_copy(&call->arena, mishap_buffer_text(&headers));
    mishap_buffer_release(&headers);
    return call->headers.data ? NULL : mishap_out_of_memory();
}

const char *mishap_header(const mishap_call *part, const char *name)
{
    const mishap_call *call = mishap_call_whole(part);
    const char *const *declared = call->operation->headers;
    mishap_text rest = call->headers;
    for (; name && declared && *declared; declared++) {
        const char *end = rest.length ? memchr(rest.data, '\n', rest.length) : NULL;
        mishap_text line = { rest.data, end ? (size_t)(end - rest.data) : rest.length };
        if (strcasecmp(*declared, name) == 0)
            return line.length && line.data[0] == '+'
                       ? keep_string(part, (mishap_text){ line.data + 1, line.length - 1 })
                       : NULL;
        if (end)
            rest = (mishap_text){ end + 1, rest.length - line.length - 1 };
    }
    mishap_call_misuse(
        call, "the handler asked for a request header that its operation does not declare", name);
}

/*
 * Format a text without secrets, cut to so many bytes. It is cut last: the beginning of a secret
 * would not be recognized. A text that need not be cut keeps its secrets unless `hidden`.
 */
__attribute__((format(printf, 5, 0))) static void put_within(mishap_buffer *to, mishap_call *call,
                                                             size_t most, bool hidden,
                                                             const char *format, va_list arguments)
{
    char room[2048];
    va_list again;
    va_copy(again, arguments);
    int printed = vsnprintf(room, sizeof room, format, arguments);
    size_t length = printed < 0 ? 0 : (size_t)printed;
    char *whole = length < sizeof room ? room : mishap_allocate(length + 1);
    if (whole && whole != room)
        vsnprintf(whole, length + 1, format, again);
    va_end(again);
    mishap_text text = { whole, length };
    if (!whole)
        to->failed = true;
    else if (hidden || length > most)
        mishap_secrets_put_hidden(to, mishap_call_secrets(call), text);
    else
        mishap_buffer_put_text(to, text);
    if (whole != room)
        mishap_release(whole);
    if (!to->failed && to->length > most)
        to->length = mishap_utf8_cut(mishap_buffer_text(to), most);
}

void mishap_tell_operator(mishap_call *part, const char *format, ...)
{
    enum { MOST = 2000 };
    mishap_call *call = mishap_call_whole(part);
    mishap_buffer words = { 0 };
    va_list arguments;
    if (!call->to_operator)
        return;
    va_start(arguments, format);
    put_within(&words, call, MOST, true, format, arguments);
    va_end(arguments);
    if (!words.failed)
        mishap_call_keep_words(call, mishap_buffer_text(&words));
    if (!words.failed)
        call->to_operator(call->app->name, call->operation->name, mishap_request_id(call),
                          mishap_buffer_text(&words), call->verbose);
    mishap_buffer_release(&words);
}

/* -- remarks ----------------------------------------------------------------------------------- */

void mishap_warn(mishap_call *call, const char *format, ...)
{
    enum { MOST = 511 };
    char room[MOST + 1];
    mishap_buffer warning;
    va_list arguments;
    mishap_buffer_init(&warning, room, sizeof room);
    va_start(arguments, format);
    put_within(&warning, call, MOST, false, format, arguments);
    va_end(arguments);
    mishap_text clean = { NULL, 0 };
    if (!warning.failed)
        clean = mishap_utf8_clean(&call->arena, mishap_buffer_text(&warning));
    if (clean.data)
        mishap_json_string(&call->warnings, clean);
    mishap_buffer_release(&warning);
}
