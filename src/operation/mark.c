/* Marks of tasks: what a run of a handler leaves for the next one. */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "operation/call.h"

bool mishap_mark_is_sound(mishap_text mark)
{
    return mark.length <= MISHAP_MARK_LIMIT && mishap_utf8_valid_length(mark) == mark.length &&
           (!mark.length || !memchr(mark.data, '\0', mark.length));
}

/* What a run of a settled service has changed is undone if the run does not end, so a mark would
 * tell what is not true. */
bool mishap_task_mark(mishap_call *part, const char *format, ...)
{
    const mishap_call *call = mishap_call_whole(part);
    char text[MISHAP_MARK_LIMIT + 1];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mishap_text mark = { text, length < 0 ? SIZE_MAX : (size_t)length };
    if (!mishap_mark_is_sound(mark))
        return false;
    if (!call->settlement && call->watcher && call->watcher->mark)
        call->watcher->mark(call->watcher, mark);
    return true;
}

const char *mishap_task_last_mark(const mishap_call *part)
{
    const mishap_call *call = mishap_call_whole(part);
    return call->mark.length ? call->mark.data : NULL;
}
