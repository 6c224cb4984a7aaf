/* The file of blocked callers, and who is in it. */
#include "http/keys/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sort.h"
#include "http/keys/file.h"

enum { LARGEST = 4 << 20 };

/* -- the file ---------------------------------------------------------------------------------- */

bool mishap_blocked_is_name(mishap_text name)
{
    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)name.data[i];
        if (c <= ' ' || c >= 127)
            return false;
    }
    return name.length > 0 && name.length <= MISHAP_BLOCKED_LONGEST && name.data[0] != '#';
}

static mishap *unreadable(const char *path, int error)
{
    return mishap_key_blame(
        mishap_raise(INPUT_UNREADABLE, "Cannot read the file of blocked callers."), error, path);
}

static mishap *too_large(const char *path)
{
    return mishap_note(mishap_raise(NOT_CONFIGURED,
                                    "The file of blocked callers is larger than %d MB.",
                                    LARGEST >> 20),
                       "file", path);
}

static mishap *broken_line(const char *path, size_t number, const char *what)
{
    mishap *m = mishap_raise(NOT_CONFIGURED, "Line %zu of the file `" MISHAP_BLOCKS_FILE "` %s.",
                             number, what);
    m = mishap_suggest(m, "Correct or remove the line. The command `keys block` writes new ones.");
    return mishap_note(mishap_tell(m, "line", number), "file", path);
}

static mishap *read_text(const char *path, mishap_buffer *text)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = 1;
    if (file < 0)
        return errno == ENOENT ? NULL : unreadable(path, errno);
    while (got > 0 && text->length <= LARGEST && mishap_buffer_reserve(text, 1 << 14)) {
        got = read(file, text->data + text->length, text->capacity - text->length);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            text->length += (size_t)got;
    }
    int error = errno;
    close(file);
    return text->failed ? mishap_out_of_memory()
           : got < 0    ? unreadable(path, error)
           : got > 0    ? too_large(path)
                        : NULL;
}

/* NAME TIME; the time is for people, and can be any word. */
static bool read_line(mishap_text line, struct mishap_blocked *found)
{
    const char *space = memchr(line.data, ' ', line.length);
    size_t length = space ? (size_t)(space - line.data) : line.length;
    found->name = (mishap_text){ line.data, length };
    found->since = space ? (mishap_text){ space + 1, line.length - length - 1 }
                         : (mishap_text){ "", 0 };
    return mishap_blocked_is_name(found->name) && found->since.length <= MISHAP_KEY_CREATED &&
           (!found->since.length || mishap_blocked_is_name(found->since));
}

bool mishap_block_put_line(mishap_buffer *text, mishap_text name, mishap_text since)
{
    if (!mishap_blocked_is_name(name) || since.length > MISHAP_KEY_CREATED ||
        (since.length && !mishap_blocked_is_name(since)))
        return false;
    mishap_buffer_put_text(text, name);
    MISHAP_PUT(text, " ");
    mishap_buffer_put_text(text, since);
    MISHAP_PUT(text, "\n");
    return true;
}

static int compare(const void *a, const void *b)
{
    return mishap_key_order(((const struct mishap_blocked *)a)->name,
                            ((const struct mishap_blocked *)b)->name);
}

static mishap *read_lines(const char *path, mishap_block_file *file)
{
    const char *at = file->text.data, *end = at + file->text.length;
    for (size_t number = 1; at < end; number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
        mishap_text line = { at, (size_t)((feed ? feed : end) - at) };
        struct mishap_blocked *found = &file->lines[file->count];
        if (line.length && line.data[0] != '#') {
            if (!read_line(line, found))
                return broken_line(path, number, "is not the name of a caller and a time");
            found->whole = (mishap_text){ at, (size_t)(next - at) };
            file->count++;
        }
        at = next;
    }
    return NULL;
}

mishap *mishap_block_file_read(const char *path, mishap_block_file *file)
{
    size_t most = 1;
    *file = (mishap_block_file){ 0 };
    mishap *failure = read_text(path, &file->text);
    if (failure || !file->text.length)
        return failure;
    for (size_t i = 0; i < file->text.length; i++)
        most += file->text.data[i] == '\n';
    file->lines = mishap_allocate(most * sizeof *file->lines);
    if (!file->lines)
        return mishap_out_of_memory();
    failure = read_lines(path, file);
    if (!failure)
        mishap_sort(file->lines, file->count, sizeof *file->lines, compare);
    return failure;
}

void mishap_block_file_release(mishap_block_file *file)
{
    mishap_buffer_release(&file->text);
    mishap_release(file->lines);
    *file = (mishap_block_file){ 0 };
}

const struct mishap_blocked *mishap_block_file_find(const mishap_block_file *file, mishap_text name)
{
    const struct mishap_blocked wanted = { .name = name };
    return file->count ? bsearch(&wanted, file->lines, file->count, sizeof wanted, compare) : NULL;
}

/* -- in a loop --------------------------------------------------------------------------------- */

struct mishap_http_blocks {
    mishap_block_file file;
    mishap_key_stamp stamp; /* of the file that was read last … */
    bool sound;             /* … and could be used */
    bool tried;             /* … or could not, which was reported */
    char path[];
};

mishap *mishap_http_blocks_make(const char *data, mishap_http_blocks **out)
{
    size_t size = strlen(data) + sizeof "/" MISHAP_BLOCKS_FILE;
    mishap_http_blocks *blocks = *out = mishap_allocate(sizeof *blocks + size);
    if (!blocks)
        return mishap_out_of_memory();
    *blocks = (mishap_http_blocks){ 0 };
    snprintf(blocks->path, size, "%s/" MISHAP_BLOCKS_FILE, data);
    return NULL;
}

void mishap_http_blocks_free(mishap_http_blocks *blocks)
{
    if (!blocks)
        return;
    mishap_block_file_release(&blocks->file);
    mishap_release(blocks);
}

static bool is_same(const mishap_key_stamp *a, const mishap_key_stamp *b)
{
    return a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

static void tell_new(const mishap_block_file *old, const mishap_block_file *now,
                     void (*blocked)(void *context, const char *name), void *context)
{
    char name[MISHAP_BLOCKED_LONGEST + 1];
    for (size_t i = 0; i < now->count; i++) {
        if (mishap_block_file_find(old, now->lines[i].name))
            continue;
        memcpy(name, now->lines[i].name.data, now->lines[i].name.length);
        name[now->lines[i].name.length] = '\0';
        blocked(context, name);
    }
}

static mishap *is_unusable(mishap *failure)
{
    return mishap_because(
        mishap_suggest(mishap_raise(UNAVAILABLE,
                                    "The file of blocked callers cannot be used. All callers with "
                                    "a name are refused until it can be."),
                       "Correct the file. The server checks it once a second."),
        failure);
}

/* The stamp is taken before the file is read, so that a change meanwhile is noticed the next time.
 * A file that could not be used is tried again, even if it looks unchanged. */
mishap *mishap_http_blocks_refresh(mishap_http_blocks *blocks,
                                   void (*blocked)(void *context, const char *name), void *context)
{
    mishap_key_stamp now = mishap_key_file_stamp(blocks->path);
    bool same = is_same(&now, &blocks->stamp);
    mishap_block_file file;
    if (same && blocks->sound)
        return NULL;
    bool known = same && blocks->tried;
    mishap *failure = mishap_block_file_read(blocks->path, &file);
    blocks->stamp = now;
    blocks->sound = !failure;
    blocks->tried = failure != NULL;
    if (failure) {
        mishap_block_file_release(&file);
        if (!known)
            return is_unusable(failure);
        mishap_free(failure);
        return NULL;
    }
    tell_new(&blocks->file, &file, blocked, context);
    mishap_block_file_release(&blocks->file);
    blocks->file = file;
    return NULL;
}

mishap *mishap_http_blocks_check(const mishap_http_blocks *blocks, const char *name)
{
    if (!name)
        return NULL;
    if (!blocks->sound)
        return mishap_retry_after(
            mishap_raise(UNAVAILABLE, "The server cannot check callers at the moment."), 1000);
    return mishap_block_file_find(&blocks->file, mishap_text_of(name))
               ? mishap_suggest(mishap_raise(FORBIDDEN, "This caller is blocked."),
                                "Ask the operator of this server.")
               : NULL;
}
