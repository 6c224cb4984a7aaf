/*
 * The file of --oauth-map: the names that the operator gives to subjects of issuers.
 *
 *     # a comment
 *     login:248289761001 alice
 *
 * One line a subject: its name, ALIAS:SUBJECT, and that of the principal, which looks like the name
 * of an API key. Without a line no token has such a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sort.h"
#include "http/keys/file.h"
#include "http/tokens/tokens.h"

enum { LARGEST = 1 << 20 };

static mishap *broken_line(size_t number, const char *what)
{
    mishap *m = mishap_raise(NOT_CONFIGURED, "Line %zu of the --oauth-map file %s.", number, what);
    return mishap_suggest(
        mishap_tell(m, "line", number),
        "Write each line as ALIAS:SUBJECT NAME, such as `login:248289761001 alice`: the log shows "
        "the alias and the subject of a caller in this form, and the name is your choice.");
}

static mishap *read_text(const char *path, mishap_buffer *text)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = file < 0 ? -1 : 1;
    while (got > 0 && text->length <= LARGEST && mishap_buffer_reserve(text, 1 << 14)) {
        got = read(file, text->data + text->length, text->capacity - text->length);
        if (got > 0)
            text->length += (size_t)got;
    }
    int error = errno;
    if (file >= 0)
        close(file);
    if (text->failed)
        return mishap_out_of_memory();
    if (got < 0)
        return mishap_key_blame(
            mishap_raise(INPUT_UNREADABLE, "The --oauth-map file cannot be read."), error, path);
    return got > 0 ? mishap_raise(NOT_CONFIGURED, "The --oauth-map file is larger than %d MB.",
                                  LARGEST >> 20)
                   : NULL;
}

/* The part before the colon is an alias, and the rest what mishap_token_identify() writes. */
static bool is_subject(mishap_text text)
{
    const char *colon = text.length ? memchr(text.data, ':', text.length) : NULL;
    if (!colon || text.length >= MISHAP_HTTP_MAP_NAME || colon + 1 == text.data + text.length ||
        !mishap_token_is_alias((mishap_text){ text.data, (size_t)(colon - text.data) }))
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] <= ' ' || text.data[i] == 127 || (unsigned char)text.data[i] >= 128)
            return false;
    return true;
}

static void copy_name(char to[MISHAP_HTTP_MAP_NAME], mishap_text name)
{
    memcpy(to, name.data, name.length);
    to[name.length] = '\0';
}

/* The name of the operator is that of its key alone. */
static mishap *read_line(mishap_text line, size_t number, struct mishap_http_mapped *found)
{
    const char *space = memchr(line.data, ' ', line.length);
    size_t length = space ? (size_t)(space - line.data) : line.length;
    mishap_text subject = { line.data, length };
    mishap_text principal = { space ? space + 1 : "", space ? line.length - length - 1 : 0 };
    if (!is_subject(subject))
        return broken_line(number, "does not begin with ALIAS:SUBJECT");
    if (!mishap_caller_is_name(principal))
        return broken_line(number, "has no valid name after ALIAS:SUBJECT and one space");
    if (mishap_text_equal(principal, (mishap_text)MISHAP_TEXT(MISHAP_KEY_OPERATOR)))
        return broken_line(
            number,
            "gives a subject the name `operator`, which only the key of the operator may have");
    copy_name(found->subject, subject);
    copy_name(found->principal, principal);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct mishap_http_mapped *)a)->subject,
                  ((const struct mishap_http_mapped *)b)->subject);
}

static mishap *read_lines(mishap_text text, mishap_http_map *map)
{
    const char *at = text.data, *end = at + text.length;
    mishap *failure = NULL;
    for (size_t number = 1; at < end && !failure; number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        mishap_text line = { at, (size_t)((feed ? feed : end) - at) };
        if (line.length && line.data[0] != '#')
            failure = read_line(line, number, &map->lines[map->count++]);
        at = feed ? feed + 1 : end;
    }
    return failure;
}

mishap *mishap_http_map_read(mishap_arena *arena, const char *path, mishap_http_map *map)
{
    mishap_buffer text = { 0 };
    size_t most = 1;
    mishap *failure = read_text(path, &text);
    for (size_t i = 0; i < text.length; i++)
        most += text.data[i] == '\n';
    map->count = 0;
    if (!failure && !(map->lines = mishap_arena_take(arena, most * sizeof *map->lines)))
        failure = mishap_out_of_memory();
    if (!failure)
        failure = read_lines(mishap_buffer_text(&text), map);
    if (!failure)
        mishap_sort(map->lines, map->count, sizeof *map->lines, compare);
    for (size_t i = 1; i < map->count && !failure; i++)
        if (compare(&map->lines[i - 1], &map->lines[i]) == 0)
            failure = mishap_suggest(
                mishap_tell(mishap_raise(NOT_CONFIGURED,
                                         "The --oauth-map file has two lines for one subject."),
                            "subject", (const char *)map->lines[i].subject),
                "Remove one of the two lines.");
    mishap_buffer_release(&text);
    return failure ? mishap_note(failure, "file", path) : NULL;
}

const char *mishap_http_map_find(const mishap_http_map *map, const char *subject)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(map->lines[middle].subject, subject);
        if (order == 0)
            return map->lines[middle].principal;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
