/* Answers in pieces, and bodies that are no JSON. */
#include <stdarg.h>
#include <stdio.h>

#include "operation/call.h"
#include "operation/media.h"

bool mishap_stream(mishap_call *call, const char *media_type)
{
    const mishap_watcher *watcher = call->watcher;
    const char *type = mishap_media_clean(media_type); /* a line break would begin a header line */
    if (call->answer_kind == MISHAP_ANSWER_STREAM)
        return !mishap_call_is_unheard(call);
    mishap_buffer_reset(&call->answer);
    call->answer_kind = MISHAP_ANSWER_STREAM;
    call->content = false;
    call->answer_type = mishap_call_print(call, "%s", type);
    if (call->fields.length) {
        mishap_text lines = mishap_buffer_text(&call->fields);
        type = mishap_call_print(call, "%s\n%.*s", type, (int)lines.length, lines.data);
    }
    return !mishap_call_is_unheard(call) &&
           (!watcher || !watcher->stream || watcher->stream(watcher, mishap_text_of(type)));
}

/* If the client did not ask for pieces, they are gathered: the answer is all of them. */
bool mishap_stream_write(mishap_call *call, mishap_text piece)
{
    const mishap_watcher *watcher = call->watcher;
    if (call->answer_kind != MISHAP_ANSWER_STREAM && !mishap_stream(call, NULL))
        return false;
    if (mishap_call_is_unheard(call))
        return false;
    if (watcher && watcher->piece)
        return !piece.length || watcher->piece(watcher, piece);
    mishap_buffer_put_text(&call->answer, piece);
    return !call->answer.failed;
}

/* Each line of the data is a field of its own (HTML, 9.2.6). */
bool mishap_stream_event(mishap_call *call, const char *event, const char *data)
{
    mishap_buffer out = { 0 };
    const char *at = data ? data : "";
    if (event) {
        MISHAP_PUT(&out, "event: ");
        mishap_buffer_put(&out, event, strcspn(event, "\r\n"));
        MISHAP_PUT(&out, "\n");
    }
    for (;;) {
        size_t length = strcspn(at, "\r\n");
        MISHAP_PUT(&out, "data: ");
        mishap_buffer_put(&out, at, length);
        MISHAP_PUT(&out, "\n");
        at += length;
        if (!*at)
            break;
        at += at[0] == '\r' && at[1] == '\n' ? 2 : 1;
    }
    MISHAP_PUT(&out, "\n");
    bool sent = !out.failed && mishap_stream_write(call, mishap_buffer_text(&out));
    mishap_buffer_release(&out);
    return sent;
}

mishap *mishap_stream_wait(mishap_call *call, const char *address, const char *cursor, ...)
{
    va_list arguments, again;
    va_start(arguments, cursor);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, cursor, arguments);
    char *kept = mishap_call_take(call, length < 0 ? 1 : (size_t)length + 1);
    kept[0] = '\0';
    if (length >= 0)
        vsnprintf(kept, (size_t)length + 1, cursor, again);
    va_end(again);
    va_end(arguments);
    if (call->answer_kind != MISHAP_ANSWER_STREAM)
        mishap_stream(call, NULL);
    call->cursor = kept;
    call->resumed_by = address ? mishap_call_print(call, "%s", address) : NULL;
    return NULL;
}

const char *mishap_cursor(const mishap_call *call)
{
    return mishap_call_whole(call)->cursor;
}

mishap_text mishap_body(const mishap_call *call)
{
    return mishap_call_whole(call)->body;
}

const char *mishap_body_type(const mishap_call *call)
{
    return mishap_call_whole(call)->body_type;
}
