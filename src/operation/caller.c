#include "operation/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
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

/* -- API keys ---------------------------------------------------------------------------------- */

static const char lock_of_keys[] = "keys.lock";

static bool put_path(char path[4096], const char *folder, const char *name)
{
    return (size_t)snprintf(path, 4096, "%s/%s", folder, name) < 4096;
}

bool mishap_caller_keys_were_used(const char *folder)
{
    char path[4096];
    return !put_path(path, folder, lock_of_keys) ||
           faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0 ||
           (errno != ENOENT && errno != ENOTDIR);
}

/* Created as `keys add` does: the owner of the folder must be able to lock it. */
void mishap_caller_keys_remember(const char *folder)
{
    char path[4096];
    struct stat status;
    int file = put_path(path, folder, lock_of_keys)
                   ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                   : -1;
    if (file < 0)
        return;
    if (geteuid() == 0 && stat(folder, &status) == 0 && status.st_uid != 0 &&
        fchown(file, status.st_uid, status.st_gid) != 0)
        errno = 0; /* then it stays root's */
    close(file);
}

/* A line that is neither empty nor a comment is a key, or a key that was entered wrongly; unless it
 * is the one word of the operator, and nothing else. */
static mishap_caller_keys read_keys(int file)
{
    static const char word[] = MISHAP_CALLER_DISABLED;
    mishap_caller_keys found = MISHAP_CALLER_KEYS_GONE;
    char text[512];
    size_t matched = 0; /* characters of the word that matched, if the line has nothing else */
    bool blank = false, comment = false;
    ssize_t count;
    while ((count = read(file, text, sizeof text)) != 0) {
        for (ssize_t i = 0; i < count; i++) {
            char c = text[i];
            if (c == '\n') {
                if (matched && matched < sizeof word - 1)
                    return MISHAP_CALLER_KEYS_USED;
                found = matched ? MISHAP_CALLER_KEYS_UNUSED : found;
                matched = 0;
                blank = comment = false;
            } else if (comment || (c == '#' && !matched)) {
                comment = true;
            } else if (!matched && memchr(" \t\r", c, 3)) {
                blank = true;
            } else if (!blank && matched < sizeof word - 1 && c == word[matched]) {
                matched++;
            } else {
                return MISHAP_CALLER_KEYS_USED;
            }
        }
        if (count < 0)
            return MISHAP_CALLER_KEYS_USED;
    }
    if (matched) /* the last line has no line feed */
        return matched == sizeof word - 1 ? MISHAP_CALLER_KEYS_UNUSED : MISHAP_CALLER_KEYS_USED;
    return found;
}

mishap_caller_keys mishap_caller_keys_of(const char *folder)
{
    char path[4096];
    if (!folder)
        return MISHAP_CALLER_KEYS_UNUSED;
    if (!put_path(path, folder, "keys"))
        return MISHAP_CALLER_KEYS_USED;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return mishap_caller_keys_were_used(folder) ? MISHAP_CALLER_KEYS_GONE
                                                    : MISHAP_CALLER_KEYS_UNUSED;
    if (file < 0)
        return MISHAP_CALLER_KEYS_USED;
    mishap_caller_keys found = read_keys(file);
    close(file);
    return found;
}

/* -- names ------------------------------------------------------------------------------------- */

mishap *mishap_caller_check_flag(const char *name, const char *folder)
{
    if (!name)
        return NULL;
    if (!mishap_caller_is_name(mishap_text_of(name)))
        return mishap_raise(ARG_ERROR, "The value of --caller is not a name, such as %s.",
                            MISHAP_CALLER_LOOKS);
    switch (mishap_caller_keys_of(folder)) {
    case MISHAP_CALLER_KEYS_UNUSED:
        break;
    case MISHAP_CALLER_KEYS_GONE:
        return mishap_suggest(mishap_raise(ARG_ERROR,
                                           "--caller cannot be used: API keys were used with this "
                                           "data folder, and there is none any more."),
                              MISHAP_CALLER_KEYS_ADVICE);
    case MISHAP_CALLER_KEYS_USED:
        return mishap_suggest(mishap_raise(ARG_ERROR,
                                           "--caller cannot be used, because API keys exist: "
                                           "a caller is who its key says."),
                              "Call the server with an API key.");
    }
    return NULL;
}

void mishap_call_set_caller(mishap_call *call, const char *key, mishap_text named, bool free,
                            unsigned scopes)
{
    call->caller = key;
    call->scopes = scopes;
    if (!mishap_caller_may_name(call->operation))
        return;
    call->caller_is_free = free && !key;
    if (call->caller_is_free && named.data)
        call->caller = mishap_arena_copy(&call->arena, named).data;
}
