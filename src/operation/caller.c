#include "operation/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool mishap_caller_is_name(mishap_text name)
{
    if (!name.length || name.length > MISHAP_CALLER_LONGEST || !is_letter_or_digit(name.data[0]))
        return false;
    for (size_t i = 1; i < name.length; i++) {
        char c = name.data[i];
        if (!is_letter_or_digit(c) && c != '.' && c != '_' && c != '-')
            return false;
    }
    return true;
}

bool mishap_caller_any_may_name(const mishap_app *app)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (mishap_caller_may_name(o))
            return true;
    return false;
}

/* A line that is neither empty nor a comment is a key, or a mistake that somebody made with one. */
bool mishap_caller_has_keys(const char *folder)
{
    char path[4096], text[512];
    bool any = false, comment = false;
    ssize_t count;
    if (!folder || (size_t)snprintf(path, sizeof path, "%s/keys", folder) >= sizeof path)
        return folder != NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno != ENOENT && errno != ENOTDIR;
    while (!any && (count = read(file, text, sizeof text)) != 0) {
        any = count < 0;
        for (ssize_t i = 0; i < count && !any; i++) {
            comment = text[i] != '\n' && (comment || text[i] == '#');
            any = !comment && !memchr(" \t\r\n", text[i], 4);
        }
    }
    close(file);
    return any;
}

mishap *mishap_caller_check_flag(const char *name, const char *folder)
{
    if (!name)
        return NULL;
    if (!mishap_caller_is_name(mishap_text_of(name)))
        return mishap_raise(ARG_ERROR, "The value of --caller is not a name, such as %s.",
                            MISHAP_CALLER_LOOKS);
    return mishap_caller_has_keys(folder)
               ? mishap_suggest(mishap_raise(ARG_ERROR,
                                             "--caller cannot be used, because API keys exist: "
                                             "a caller is who its key says."),
                                "Call the server with an API key.")
               : NULL;
}

void mishap_call_set_caller(mishap_call *call, const char *key, mishap_text named, bool free)
{
    call->caller = key;
    if (!mishap_caller_may_name(call->operation))
        return;
    call->caller_is_free = free && !key;
    if (call->caller_is_free && named.data)
        call->caller = mishap_arena_copy(&call->arena, named).data;
}
