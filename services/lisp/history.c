/* The history of the REPL: see history.h. */
#include "lisp/history.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEPT = 128 << 10,    /* bytes of the file that are kept … */
    LONGEST = 256 << 10, /* … when it has become longer than this */
};

static void put_line(mishap_buffer *out, mishap_text entry)
{
    for (size_t i = 0; i < entry.length; i++) {
        char c = entry.data[i];
        if (c == '\n' || c == '\\')
            mishap_buffer_add(out, "\\", 1);
        mishap_buffer_add(out, c == '\n' ? "n" : &c, 1);
    }
    mishap_buffer_add(out, "\n", 1);
}

static void take_line(mishap_text line, mishap_buffer *entry,
                      void (*take)(void *state, mishap_text entry), void *state)
{
    mishap_buffer_reset(entry);
    for (size_t i = 0; i < line.length; i++) {
        bool escaped = line.data[i] == '\\' && i + 1 < line.length;
        i += escaped;
        mishap_buffer_add(entry, escaped && line.data[i] == 'n' ? "\n" : line.data + i, 1);
    }
    mishap_buffer_add(entry, "", 1);
    if (!entry->failed && entry->length > 1)
        take(state, (mishap_text){ entry->data, entry->length - 1 });
}

static bool write_all(int file, mishap_text text)
{
    return text.length == 0 || write(file, text.data, text.length) == (ssize_t)text.length;
}

/* Replace the old file in one step, so that it is never incomplete. */
static void replace(const char *path, mishap_text text)
{
    char beside[4096 + 8];
    if ((size_t)snprintf(beside, sizeof beside, "%s.XXXXXX", path) >= sizeof beside)
        return;
    int file = mkostemp(beside, O_CLOEXEC); /* with mode 0600 */
    if (file < 0)
        return;
    bool written = write_all(file, text);
    if (close(file) != 0 || !written || rename(beside, path) != 0)
        unlink(beside);
}

static void read_all(const char *path, mishap_buffer *out)
{
    char piece[4096];
    ssize_t count;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    while (file >= 0 && out->length < 16 * (size_t)LONGEST &&
           (count = read(file, piece, sizeof piece)) > 0)
        mishap_buffer_add(out, piece, (size_t)count);
    if (file >= 0)
        close(file);
}

void lisp_history_load(const char *path, void (*take)(void *state, mishap_text entry), void *state)
{
    mishap_buffer all = { 0 }, entry = { 0 };
    read_all(path, &all);
    mishap_text rest = all.failed ? (mishap_text){ 0 } : mishap_buffer_text(&all);
    if (rest.length > LONGEST) {
        size_t from = rest.length - KEPT;
        const char *feed = memchr(rest.data + from, '\n', KEPT);
        from = feed ? (size_t)(feed + 1 - rest.data) : rest.length;
        rest = (mishap_text){ rest.data + from, rest.length - from };
        replace(path, rest);
    }
    while (rest.length) {
        const char *feed = memchr(rest.data, '\n', rest.length);
        size_t length = feed ? (size_t)(feed - rest.data) : rest.length;
        take_line((mishap_text){ rest.data, length }, &entry, take, state);
        rest = (mishap_text){ rest.data + length + (feed != NULL),
                              rest.length - length - (feed != NULL) };
    }
    mishap_buffer_release(&entry);
    mishap_buffer_release(&all);
}

void lisp_history_add(const char *path, mishap_text entry)
{
    mishap_buffer line = { 0 };
    put_line(&line, entry);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                    S_IRUSR | S_IWUSR);
    if (file >= 0) {
        if (!line.failed && fchmod(file, S_IRUSR | S_IWUSR) == 0)
            (void)!write_all(file, mishap_buffer_text(&line));
        close(file);
    }
    mishap_buffer_release(&line);
}
