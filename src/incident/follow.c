/*
 * Reading the journal: see follow.h.
 *
 * The file that is read stays open, so its end is found even after it was rotated. A process that
 * had it open may still append to it for a second (file.h): it is kept as `before` for some seconds
 * and read on beside its successor.
 */
#include "incident/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "incident/file.h"
#include "incident/record.h"

enum {
    WINDOW = 2 * MISHAP_FOLLOW_LINE, /* bytes that are read at once */
    MARKED = 64,                     /* first bytes of a file that make its mark */
    MOST_TRIES = 8,                  /* places at which a line may begin behind a torn one */
};
#define BEFORE_NS INT64_C(3000000000) /* how long a rotated file is read on */

static const char line_start[] = MISHAP_RECORD_START;

/* A file and what was read of it. The window holds its bytes from `start` on. */
struct source {
    int file; /* -1: none */
    uint64_t device, inode, mark;
    uint64_t start;   /* the offset of the window's first byte */
    size_t from, end; /* of the window: the first byte that is not used yet, and behind the last */
    bool skipping;    /* inside of a line that is too long */
};

struct mishap_follow {
    char path[MISHAP_LOG_PATH];
    struct source now;
    struct source before; /* without a window: it shares the one of `now`, which is read anew */
    int64_t before_until_ns;
    mishap_follow_place given; /* while no file is open */
    uint64_t lost;
    char window[WINDOW];
};

/* -- files ------------------------------------------------------------------------------------- */

static uint64_t mark_of_file(int file)
{
    static const uint64_t key[2] = { 0x6d69736861702d6c, 0x6f67 };
    char first[MARKED];
    if (pread(file, first, sizeof first, 0) != (ssize_t)sizeof first)
        return 0;
    uint64_t mark = mishap_hash(key, (mishap_text){ first, sizeof first });
    return mark ? mark : 1;
}

/* PATH for 0, PATH.1, PATH.2. */
static bool name_file(const mishap_follow *f, int number, char name[MISHAP_LOG_PATH])
{
    int length = number ? snprintf(name, MISHAP_LOG_PATH, "%s.%d", f->path, number)
                        : snprintf(name, MISHAP_LOG_PATH, "%s", f->path);
    return length > 0 && length < MISHAP_LOG_PATH;
}

/* In a folder that others may write to, such as /tmp, another user may have put a file beside the
 * log, or a link. Files of the user of this process, of root, and of the owner of the folder are
 * read. */
static bool is_trusted(const mishap_follow *f, uid_t owner)
{
    char folder[MISHAP_LOG_PATH];
    struct stat status;
    if (owner == geteuid() || owner == 0)
        return true;
    const char *slash = strrchr(f->path, '/');
    int length = slash ? (int)(slash - f->path) + 1 : 1;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? f->path : ".");
    return stat(folder, &status) == 0 && status.st_uid == owner;
}

/* A log may be a pipe or a terminal: these cannot be read again. */
static bool open_source(const mishap_follow *f, int number, struct source *source)
{
    char name[MISHAP_LOG_PATH];
    struct stat status;
    if (!name_file(f, number, name) || lstat(name, &status) != 0 ||
        (S_ISLNK(status.st_mode) && !is_trusted(f, status.st_uid)))
        return false;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !is_trusted(f, status.st_uid)) {
        close(file);
        return false;
    }
    *source = (struct source){
        .file = file, .device = status.st_dev, .inode = status.st_ino, .mark = mark_of_file(file)
    };
    return true;
}

static void close_source(struct source *source)
{
    if (source->file >= 0)
        close(source->file);
    *source = (struct source){ .file = -1 };
}

static uint64_t size_of_source(const struct source *source)
{
    struct stat status;
    return source->file >= 0 && fstat(source->file, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static void seek_source(struct source *source, uint64_t offset)
{
    source->start = offset;
    source->from = source->end = 0;
}

static uint64_t offset_of_source(const struct source *source)
{
    return source->start + source->from;
}

/* The number of the file at which this source is now: 0, 1, 2; -1: it is at none of these. */
static int number_of_source(const mishap_follow *f, const struct source *source)
{
    char name[MISHAP_LOG_PATH];
    struct stat status;
    for (int i = 0; i <= MISHAP_LOG_OLDER; i++)
        if (name_file(f, i, name) && stat(name, &status) == 0 && status.st_dev == source->device &&
            status.st_ino == source->inode)
            return i;
    return -1;
}

static bool is_given(const mishap_follow_place *place, const struct source *source)
{
    return place->device == source->device && place->inode == source->inode &&
           (!place->mark || place->mark == source->mark) && place->offset <= size_of_source(source);
}

/* The file of the given place, else the oldest one: all of them are newer then, or the place is not
 * of this log. */
static bool open_given(mishap_follow *f)
{
    for (int i = 0; i <= MISHAP_LOG_OLDER && f->given.inode; i++) {
        if (!open_source(f, i, &f->now))
            continue;
        if (is_given(&f->given, &f->now)) {
            seek_source(&f->now, f->given.offset);
            return true;
        }
        close_source(&f->now);
    }
    for (int i = MISHAP_LOG_OLDER; i >= 0; i--)
        if (open_source(f, i, &f->now)) {
            f->lost += f->given.inode != 0;
            return true;
        }
    return false;
}

/* At the end of a file: the next newer one takes its place, if there is one. */
static bool open_newer(mishap_follow *f)
{
    struct source next;
    int number = number_of_source(f, &f->now);
    if (number == 0)
        return false;
    if (number < 0)
        number = MISHAP_LOG_OLDER + 1; /* it was rotated away or removed: the others are newer */
    while (--number >= 0)
        if (open_source(f, number, &next)) {
            close_source(&f->before);
            f->before = f->now;
            f->before_until_ns = mishap_clock_monotonic_ns() + BEFORE_NS;
            f->now = next;
            return true;
        }
    return false;
}

/* -- lines ------------------------------------------------------------------------------------- */

/* Read more behind the bytes that are there. False: there is nothing more now. */
static bool fill_window(mishap_follow *f, struct source *source)
{
    if (source->from) {
        memmove(f->window, f->window + source->from, source->end - source->from);
        source->start += source->from;
        source->end -= source->from;
        source->from = 0;
    }
    if (size_of_source(source) < source->start + source->end) { /* it was cut to begin anew */
        f->lost++;
        seek_source(source, 0);
        source->skipping = false;
    }
    ssize_t count;
    do
        count = pread(source->file, f->window + source->end, WINDOW - source->end,
                      (off_t)(source->start + source->end));
    while (count < 0 && errno == EINTR);
    source->end += count > 0 ? (size_t)count : 0;
    return count > 0;
}

static bool is_json(mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    bool good = mishap_json_read(&reader, text) && yyjson_is_obj(reader.root);
    mishap_json_reader_release(&reader);
    return good;
}

static bool looks_whole(mishap_text line)
{
    return line.length > 2 && line.data[0] == '{' && line.data[line.length - 1] == '}';
}

/* A line that stands behind the remains of others, which have none of these bytes but at their own
 * beginning (record.h). False: there is none. */
static bool find_behind_torn(mishap_text *line)
{
    size_t length = sizeof line_start - 1;
    int tries = 0;
    for (size_t at = line->length - length; at > 0 && tries < MOST_TRIES; at--) {
        mishap_text rest = { line->data + at, line->length - at };
        if (line->data[at] != '{' || memcmp(line->data + at, line_start, length) != 0)
            continue;
        tries++;
        if (is_json(rest)) {
            *line = rest;
            return true;
        }
    }
    return false;
}

/* True if the line, or its last part, is one to be read. */
static bool accept_line(mishap_follow *f, mishap_text *line)
{
    bool whole = looks_whole(*line);
    size_t length = sizeof line_start - 1;
    bool joined = line->length > length &&
                  memmem(line->data + 1, line->length - 1, line_start, length) != NULL;
    if (whole && (!joined || is_json(*line)))
        return true;
    if (line->length) /* an empty line ends a torn one, which was counted */
        f->lost++;
    return joined && find_behind_torn(line);
}

/* The next line of the window. False: it has no complete one. */
static bool cut_line(mishap_follow *f, struct source *source, mishap_text *line)
{
    const char *first = f->window + source->from;
    size_t length = source->end - source->from;
    const char *feed = length ? memchr(first, '\n', length) : NULL;
    if (!feed && length > MISHAP_FOLLOW_LINE) { /* its end is not here: drop what is */
        f->lost += !source->skipping;
        source->skipping = true;
        source->from = source->end;
    }
    if (!feed)
        return false;
    *line = (mishap_text){ first, (size_t)(feed - first) };
    source->from += line->length + 1;
    return true;
}

static bool next_line_of(mishap_follow *f, struct source *source, mishap_text *line)
{
    for (;;) {
        while (cut_line(f, source, line)) {
            bool rest = source->skipping;
            source->skipping = false;
            if (rest)
                continue;
            if (line->length > MISHAP_FOLLOW_LINE)
                f->lost++;
            else if (accept_line(f, line))
                return true;
        }
        if (!fill_window(f, source))
            return false;
    }
}

/* What other processes appended to the rotated file after its end was read. Both sources share one
 * window, so that of `now` is empty here. */
static bool next_line_before(mishap_follow *f, mishap_text *line)
{
    if (f->before.file < 0)
        return false;
    seek_source(&f->now, offset_of_source(&f->now));
    bool found = next_line_of(f, &f->before, line);
    seek_source(&f->before, offset_of_source(&f->before));
    if (!found && mishap_clock_monotonic_ns() > f->before_until_ns)
        close_source(&f->before);
    return found;
}

bool mishap_follow_next(mishap_follow *f, mishap_text *line)
{
    if (f->now.file < 0 && !open_given(f))
        return false;
    for (;;) {
        if (next_line_of(f, &f->now, line))
            return true;
        if (next_line_before(f, line))
            return true;
        seek_source(&f->now, offset_of_source(&f->now));
        if (!open_newer(f))
            return false;
        seek_source(&f->before, offset_of_source(&f->before));
    }
}

/* -- the reader -------------------------------------------------------------------------------- */

mishap *mishap_follow_open(const char *path, mishap_follow_place from, mishap_follow **out)
{
    *out = NULL;
    mishap_follow *f = mishap_allocate(sizeof *f);
    if (!f)
        return mishap_out_of_memory();
    f->now = f->before = (struct source){ .file = -1 };
    f->given = from;
    f->lost = 0;
    f->before_until_ns = 0;
    if ((size_t)snprintf(f->path, sizeof f->path, "%s", path) >= sizeof f->path) {
        mishap_follow_close(f);
        return mishap_raise(INVALID_ARGUMENT, "The path of the log is too long.");
    }
    *out = f;
    return NULL;
}

/* The mark of a file that was almost empty when it was opened is made when there is enough. */
mishap_follow_place mishap_follow_at(const mishap_follow *f)
{
    if (f->now.file < 0)
        return f->given;
    return (mishap_follow_place){ .device = f->now.device,
                                  .inode = f->now.inode,
                                  .mark = f->now.mark ? f->now.mark : mark_of_file(f->now.file),
                                  .offset = offset_of_source(&f->now) };
}

uint64_t mishap_follow_behind(const mishap_follow *f)
{
    char name[MISHAP_LOG_PATH];
    struct stat status;
    uint64_t size = size_of_source(&f->now), offset = offset_of_source(&f->now);
    uint64_t behind = size > offset ? size - offset : 0;
    int number = f->now.file >= 0 ? number_of_source(f, &f->now) : -1;
    if (number < 0)
        number = MISHAP_LOG_OLDER + 1;
    while (--number >= 0)
        if (name_file(f, number, name) && stat(name, &status) == 0 && S_ISREG(status.st_mode))
            behind += (uint64_t)status.st_size;
    return behind;
}

uint64_t mishap_follow_lost(const mishap_follow *f)
{
    return f->lost;
}

void mishap_follow_close(mishap_follow *f)
{
    if (!f)
        return;
    close_source(&f->now);
    close_source(&f->before);
    mishap_release(f);
}
