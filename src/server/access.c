/*
 * The access log: one JSON object a line, one line a request.
 *
 * Lines are gathered in memory and written together, so that most requests cost no system call. In
 * a server they are handed over to the process that writes the log (incident/logs.h); while that
 * has no room they stay here, and those for which there is no room here either are counted.
 *
 * Without such a process the file is opened for appending and gets whole lines in one write, so
 * that several processes can share it. A log that cannot be written loses lines.
 */
#include "server/access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "incident/file.h"
#include "incident/logs.h"

enum {
    GATHERED = 64 << 10, /* bytes of lines, at which they are written */
    MOST = 1 << 20,      /* bytes of lines that may wait while the log process takes none */
    LONGEST_PATH = 1024, /* bytes, before they are escaped */
    LONGEST_AGENT = 256,
    LONGEST_NAME = 64,  /* of the name of a caller, or an address */
    LARGEST_ESCAPE = 6, /* a byte can become \u001b */
    LARGEST_LINE = 10 << 10,
};
_Static_assert((LONGEST_PATH + LONGEST_AGENT + 3 * LONGEST_NAME) * LARGEST_ESCAPE + 1024 <
                   LARGEST_LINE,
               "a line fits where it is made");

struct mishap_http_access {
    int descriptor;
    bool kept;           /* another process writes the log … */
    mishap_log_kind log; /* … and this is its kind */
    bool regular;        /* a regular file takes a write of any size as one */
    bool socket;         /* such as the journal of the system */
    bool torn;           /* the last line was written only in part */
    int64_t second;      /* the second that `stamp` shows */
    char stamp[32];
    mishap_buffer lines; /* lines that wait, in `room` */
    size_t write_at;     /* the length at which they are written */
    char *file;          /* NULL: standard error */
    char room[MOST];
};

/* -- opening ----------------------------------------------------------------------------------- */

/*
 * Standard error is shared with the process that started the server, so it must not be made
 * non-blocking itself. A pipe or a terminal is opened a second time for that. A regular file is
 * not, since all that write to it must share one position. For a socket, each write can be made
 * non-blocking.
 */
static int open_error(void)
{
    struct stat status;
    int descriptor = -1;
    if (fstat(STDERR_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)))
        descriptor = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return descriptor >= 0 ? descriptor : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
}

/* Open the file and replace the one that was open. False: that failed, and nothing has changed. */
static bool open_file(mishap_http_access *access)
{
    struct stat status;
    int descriptor = access->file ? mishap_log_open(access->file, 0640) : open_error();
    if (descriptor < 0)
        return false;
    if (access->descriptor >= 0)
        close(access->descriptor);
    bool known = fstat(descriptor, &status) == 0;
    access->descriptor = descriptor;
    access->regular = known && S_ISREG(status.st_mode);
    access->socket = known && S_ISSOCK(status.st_mode);
    access->torn = false;
    return true;
}

mishap *mishap_http_access_open(const char *file, mishap_http_access **out)
{
    *out = NULL;
    if (!file)
        return NULL;
    bool named = strcmp(file, "-") != 0;
    size_t size = named ? strlen(file) + 1 : 0;
    mishap_http_access *access = mishap_allocate(sizeof *access + size);
    if (!access)
        return mishap_out_of_memory();
    access->descriptor = -1;
    access->torn = false;
    access->second = -1;
    access->file = named ? (char *)(access + 1) : NULL;
    if (named)
        memcpy(access->file, file, size);
    mishap_buffer_init(&access->lines, access->room, sizeof access->room);
    access->write_at = GATHERED - LARGEST_LINE;
    access->log = named ? MISHAP_LOG_ACCESS : MISHAP_LOG_ERRORS;
    access->kept = mishap_log_is_kept(access->log);
    if (!access->kept && !open_file(access)) {
        char cause[128];
        mishap_system_error(errno, cause, sizeof cause);
        mishap_release(access);
        mishap *m = mishap_raise(OUTPUT_FAILED, "Cannot open the access log %s.", file);
        m = mishap_tell(mishap_tell_cause(m, cause), "file", file);
        return mishap_suggest(
            m, "Give --access-log a file in an existing folder that the server can write to.");
    }
    *out = access;
    return NULL;
}

void mishap_http_access_reopen(mishap_http_access *access)
{
    if (!access)
        return;
    mishap_http_access_flush(access);
    if (access->file && !access->kept)
        open_file(access); /* if it fails, the old file stays in use */
}

void mishap_http_access_close(mishap_http_access *access)
{
    if (!access)
        return;
    mishap_http_access_flush(access);
    if (access->descriptor >= 0)
        close(access->descriptor);
    mishap_release(access);
}

/* -- writing ----------------------------------------------------------------------------------- */

static ssize_t write_once(const mishap_http_access *access, mishap_text text)
{
    ssize_t count;
    do
        count = access->socket
                    ? send(access->descriptor, text.data, text.length, MSG_DONTWAIT | MSG_NOSIGNAL)
                    : write(access->descriptor, text.data, text.length);
    while (count < 0 && errno == EINTR);
    return count;
}

/* False if not all of it was written. A line that was written in part is ended before the next
 * one. */
static bool write_lines(mishap_http_access *access, mishap_text text)
{
    if (access->torn && write_once(access, (mishap_text)MISHAP_TEXT("\n")) != 1)
        return false;
    ssize_t count = write_once(access, text);
    access->torn = count > 0 && text.data[count - 1] != '\n';
    return count == (ssize_t)text.length;
}

/* As many whole lines as can be written at once, or one line that is longer. */
static size_t whole_lines(mishap_text text, size_t most)
{
    const char *feed = text.data && text.length > most ? memrchr(text.data, '\n', most) : NULL;
    if (text.length > most && !feed)
        feed = memchr(text.data, '\n', text.length);
    return feed ? (size_t)(feed + 1 - text.data) : text.length;
}

static size_t count_lines(mishap_text text)
{
    size_t count = 0;
    for (const char *end = text.data + text.length, *at = text.data; at < end; count++)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    return count;
}

/* Lines for which the log process has no room wait here. If too many wait, they are lost. */
static void hand_over(mishap_http_access *access)
{
    mishap_text text = mishap_buffer_text(&access->lines);
    if (access->log == MISHAP_LOG_ERRORS) {
        mishap_log_error(text);
        text.length = 0;
    }
    while (text.length) {
        size_t length = whole_lines(text, GATHERED);
        if (!mishap_log_add(access->log, (mishap_text){ text.data, length }))
            break;
        text.data += length;
        text.length -= length;
    }
    if (text.length > MOST - GATHERED) {
        mishap_log_lose(access->log, count_lines(text));
        text.length = 0;
    }
    if (text.length)
        memmove(access->room, text.data, text.length);
    access->lines.length = text.length;
    access->write_at = text.length + GATHERED - LARGEST_LINE;
}

void mishap_http_access_flush(mishap_http_access *access)
{
    if (!access || !access->lines.length)
        return;
    if (access->kept) {
        hand_over(access);
        return;
    }
    mishap_text text = mishap_buffer_text(&access->lines);
    while (text.length) {
        size_t length = access->regular ? text.length : whole_lines(text, PIPE_BUF);
        if (!write_lines(access, (mishap_text){ text.data, length }))
            break; /* the rest is lost */
        text.data += length;
        text.length -= length;
    }
    mishap_buffer_reset(&access->lines);
}

/* -- a line ------------------------------------------------------------------------------------ */

/* The time. The part up to the seconds is formatted once a second. */
static void put_time(mishap_http_access *access, int64_t now_ms)
{
    enum { MILLISECONDS = sizeof "2026-02-09T10:20:30." - 1, LENGTH = MILLISECONDS + 4 };
    int64_t second = now_ms / 1000;
    int rest = (int)(now_ms % 1000);
    if (second != access->second || second < 0) {
        mishap_buffer stamp;
        mishap_buffer_init(&stamp, access->stamp, sizeof access->stamp);
        mishap_clock_put_timestamp(&stamp, now_ms);
        mishap_buffer_release(&stamp);
        access->second = second;
    } else {
        access->stamp[MILLISECONDS] = (char)('0' + rest / 100);
        access->stamp[MILLISECONDS + 1] = (char)('0' + rest / 10 % 10);
        access->stamp[MILLISECONDS + 2] = (char)('0' + rest % 10);
    }
    mishap_buffer_put(&access->lines, access->stamp, LENGTH);
}

/* True for ASCII without NUL, as most text is. JSON escapes its control characters. */
static bool is_plain(mishap_text text)
{
    unsigned odd = 0;
    for (size_t i = 0; i < text.length; i++)
        odd |= (unsigned)((signed char)text.data[i] <= 0);
    return !odd;
}

/* At most so many bytes, without cutting a character in two. The bytes may not be UTF-8, so the
 * search for the start of a character goes back by the length of one character at most. */
static mishap_text cut_text(mishap_text text, size_t limit)
{
    size_t length = limit;
    if (text.length <= limit)
        return text;
    while (length > limit - 3 && ((unsigned char)text.data[length] & 0xC0) == 0x80)
        length--;
    return (mishap_text){ text.data, length };
}

/*
 * Text of a caller as a JSON string: cut, valid UTF-8, and nothing that a terminal would act on.
 * Control characters of ASCII are escaped by JSON; the later ones, U+0080 to U+009F, become ??.
 */
static void put_safe(mishap_buffer *b, mishap_text text, size_t limit)
{
    _Alignas(max_align_t) char room[3 * LONGEST_PATH + 64]; /* a bad byte becomes three */
    mishap_arena arena;
    text = cut_text(text, limit);
    if (is_plain(text)) {
        mishap_json_string(b, text);
        return;
    }
    mishap_arena_init(&arena, room, sizeof room);
    mishap_text clean = mishap_utf8_clean(&arena, text);
    char *at = room + (clean.data - room);
    for (size_t i = 0; i + 1 < clean.length; i++)
        if ((unsigned char)at[i] == 0xC2 && (unsigned char)at[i + 1] < 0xA0)
            at[i] = at[i + 1] = '?';
    mishap_json_string(b, clean);
    mishap_arena_release(&arena);
}

/* Milliseconds with three decimals. */
static void put_duration(mishap_buffer *b, int64_t nanoseconds)
{
    int64_t microseconds = nanoseconds > 0 ? nanoseconds / 1000 : 0;
    int rest = (int)(microseconds % 1000);
    char decimals[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                         (char)('0' + rest % 10) };
    mishap_buffer_put_int(b, microseconds / 1000);
    mishap_buffer_put(b, decimals, sizeof decimals);
}

void mishap_http_access_add(mishap_http_access *access, const mishap_http_request *request,
                            const mishap_http_reply *reply, size_t sent, int64_t now_ns)
{
    if (!access)
        return;
    mishap_buffer *b = &access->lines;
    if (b->length > access->write_at)
        mishap_http_access_flush(access);
    MISHAP_PUT(b, "{\"time\":\"");
    put_time(access, mishap_clock_now_ms());
    MISHAP_PUT(b, "\",\"id\":\"");
    mishap_buffer_put(b, request->id, strnlen(request->id, MISHAP_ID_LENGTH));
    MISHAP_PUT(b, "\",\"remote\":");
    put_safe(b, request->remote, LONGEST_NAME);
    MISHAP_PUT(b, ",\"method\":\"");
    mishap_buffer_put_text(b, mishap_http_method_names[request->method]);
    MISHAP_PUT(b, "\",\"path\":");
    put_safe(b, request->path, LONGEST_PATH); /* without the query, which may hold secrets */
    MISHAP_PUT(b, ",\"status\":");
    mishap_buffer_put_int(b, reply->status);
    MISHAP_PUT(b, ",\"bytes\":");
    mishap_buffer_put_uint(b, sent);
    MISHAP_PUT(b, ",\"duration_ms\":");
    put_duration(b, now_ns - request->started_ns);
    if (request->caller) {
        MISHAP_PUT(b, ",\"caller\":");
        put_safe(b, mishap_text_of(request->caller), LONGEST_NAME);
    }
    if (reply->code) {
        MISHAP_PUT(b, ",\"code\":\"");
        mishap_buffer_put_text(b, cut_text(reply->code->name, LONGEST_NAME));
        MISHAP_PUT(b, "\"");
    }
    if (request->fields[MISHAP_HTTP_USER_AGENT].length) {
        MISHAP_PUT(b, ",\"user_agent\":");
        put_safe(b, request->fields[MISHAP_HTTP_USER_AGENT], LONGEST_AGENT);
    }
    MISHAP_PUT(b, "}\n");
}

/* If the access log cannot be opened, the person who starts the server must learn that, so it is
 * tried here. */
mishap *mishap_http_logs_begin(mishap_http_settings *settings)
{
    mishap_http_access *access = NULL;
    const char *file = settings->access_log;
    mishap *failure = mishap_http_access_open(file, &access);
    mishap_http_access_close(access);
    if (!failure)
        failure = mishap_logs_begin(
            &(mishap_logs_plan){ .program = settings->program,
                                 .processes = (size_t)settings->loops,
                                 .incident_bytes = settings->log_bytes,
                                 .json_errors = settings->log_json,
                                 .access = file && strcmp(file, "-") != 0 ? file : NULL });
    if (!mishap_log_is_open(MISHAP_LOG_INCIDENTS))
        settings->log = NULL; /* then it is not mentioned */
    return failure;
}
