/*
 * Bodies and answers that are bytes.
 *
 * Bytes go to standard output as they are, so that they can be piped, or into the file of --to. A
 * terminal gets text without escape sequences; other bytes are refused. With `--output json` they
 * are a part of the envelope, as text or as base64.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "operation/media.h"

static bool is_to_output(const mishap_cli *cli)
{
    return cli->to && strcmp(cli->to, "-") == 0;
}

/* -- before ------------------------------------------------------------------------------------ */

/* A terminal would act on control characters. */
static mishap *check_terminal(const mishap_cli *cli, const char *type)
{
    if (cli->to || cli->envelope || !isatty(cli->out) || mishap_media_is_text(type))
        return NULL;
    return mishap_suggest(
        mishap_raise(ARG_ERROR, "The answer is %s, which cannot be shown on a terminal.", type),
        "Write the answer to a file with `--to FILE`, or pipe it to another program.");
}

static const char *type_of_body(mishap_cli *cli)
{
    static char first[128];
    if (cli->body_type)
        return cli->body_type;
    mishap_text taken = mishap_media_first_taken(cli->operation);
    snprintf(first, sizeof first, "%.*s", (int)taken.length, taken.data);
    return first;
}

static mishap *read_body(mishap_cli *cli)
{
    if (!cli->body_file)
        return NULL;
    cli->body_type = type_of_body(cli);
    if (!mishap_media_taken(cli->operation, mishap_text_of(cli->body_type)))
        return mishap_media_refuse(cli->operation);
    if (mishap_cli_read_whole(cli->body_file, &cli->body))
        return NULL;
    return mishap_raise(ARG_ERROR, "The file that --body names cannot be read: %s.",
                        strerror(errno));
}

/* The file is opened before the handler runs, and emptied when there is something to write. */
static mishap *open_file(mishap_cli *cli)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    if (!cli->to || is_to_output(cli))
        return NULL;
    cli->to_file = open(cli->to, flags | O_CREAT | O_EXCL, 0666);
    cli->to_made = cli->to_file >= 0;
    if (cli->to_file < 0 && errno == EEXIST)
        cli->to_file = open(cli->to, flags);
    if (cli->to_file >= 0)
        return NULL;
    return mishap_raise(ARG_ERROR, "The file that --to names cannot be written: %s.",
                        strerror(errno));
}

mishap *mishap_cli_bytes_begin(mishap_cli *cli)
{
    const char *type = cli->operation->answers_type;
    mishap *failure = type ? check_terminal(cli, type) : NULL;
    if (!failure)
        failure = read_body(cli);
    return failure ? failure : open_file(cli);
}

/* -- writing ----------------------------------------------------------------------------------- */

static bool empty_file(const mishap_cli *cli)
{
    struct stat file;
    return fstat(cli->to_file, &file) != 0 || !S_ISREG(file.st_mode) ||
           ftruncate(cli->to_file, 0) == 0;
}

/* False: it could not be written, and stderr says why. */
static bool put_piece(mishap_cli *cli, mishap_text piece, bool *gone)
{
    mishap_buffer shown = { 0 };
    bool file = cli->to_file >= 0, written;
    *gone = false;
    if (file && !cli->written && !empty_file(cli))
        return false;
    if (!file && !cli->to && isatty(cli->out)) {
        mishap_put_printable(&shown, piece);
        written = !shown.failed &&
                  mishap_cli_write(cli, cli->out, mishap_buffer_text(&shown), gone);
    } else {
        written = mishap_cli_write(cli, file ? cli->to_file : cli->out, piece, gone);
    }
    cli->written += piece.length;
    mishap_buffer_release(&shown);
    return written;
}

/* -- streams ----------------------------------------------------------------------------------- */

/* One call in a process. */
static struct stream {
    mishap_cli *cli;
    mishap *refused; /* it cannot be shown on a terminal */
    bool broken;     /* writing failed */
} stream;

static bool on_stream(const mishap_watcher *watcher, mishap_text type)
{
    char name[128];
    (void)watcher;
    snprintf(name, sizeof name, "%.*s", (int)type.length, type.data);
    name[strcspn(name, "\n")] = '\0';
    if (!stream.refused)
        stream.refused = check_terminal(stream.cli, mishap_media_clean(name));
    return !stream.refused;
}

static bool on_piece(const mishap_watcher *watcher, mishap_text piece)
{
    bool gone = false;
    (void)watcher;
    if (stream.refused || stream.broken)
        return false;
    if (!stream.cli->streamed && !stream.cli->to && isatty(stream.cli->out))
        mishap_cli_live_erase(); /* the answer replaces the line of progress */
    stream.cli->streamed = true;
    stream.broken = !put_piece(stream.cli, piece, &gone);
    return !stream.broken && !gone;
}

void mishap_cli_bytes_use(mishap_cli *cli, mishap_call *call)
{
    stream = (struct stream){ .cli = cli };
    if (cli->body_file) {
        call->body = mishap_buffer_text(&cli->body);
        call->body.data = call->body.data ? call->body.data : "";
        call->body_type = cli->body_type;
    }
    if (!cli->envelope && !cli->operation->resident) {
        cli->watcher.stream = on_stream;
        cli->watcher.piece = on_piece;
        call->watcher = &cli->watcher;
    }
}

/* -- all of it --------------------------------------------------------------------------------- */

static void put_member(mishap_buffer *data, const char *key, const char *value)
{
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    mishap_text clean = mishap_utf8_clean(&arena, mishap_text_of(value));
    mishap_json_key(data, mishap_text_of(key));
    mishap_json_string(data, clean);
    data->failed = data->failed || !clean.data;
    mishap_arena_release(&arena);
}

/* {"media_type":…,"text":…} or {…,"base64":…} */
static void put_inside(mishap_buffer *data, const char *type, mishap_text bytes)
{
    mishap_json_open(data, '{');
    put_member(data, "media_type", type);
    if (mishap_media_is_text(type) && mishap_utf8_valid_length(bytes) == bytes.length) {
        MISHAP_JSON_KEY(data, "text");
        mishap_json_string(data, bytes);
    } else {
        MISHAP_PUT(data, ",\"base64\":\"");
        mishap_base64_put(data, bytes);
        MISHAP_PUT(data, "\"");
    }
    mishap_json_close(data, '}');
}

static void put_file(mishap_buffer *data, const mishap_cli *cli, const char *type)
{
    mishap_json_open(data, '{');
    put_member(data, "file", cli->to);
    MISHAP_JSON_KEY(data, "bytes");
    mishap_json_int(data, (int64_t)cli->written);
    put_member(data, "media_type", type);
    mishap_json_close(data, '}');
}

mishap *mishap_cli_bytes_write(mishap_cli *cli, const mishap_cli_answer *answer,
                               mishap_buffer *data)
{
    bool gone;
    mishap *failure = stream.refused ? stream.refused : check_terminal(cli, answer->media_type);
    stream.refused = NULL;
    if (failure)
        return failure;
    if (cli->envelope && !cli->to) {
        put_inside(data, answer->media_type, answer->bytes);
        return NULL;
    }
    bool written = !stream.broken;
    if (written && !cli->streamed)
        written = put_piece(cli, answer->bytes, &gone);
    if (written && cli->to_file >= 0)
        put_file(data, cli, answer->media_type);
    return written ? NULL : mishap_raise(GENERAL_ERROR, "The answer could not be written.");
}

void mishap_cli_bytes_end(mishap_cli *cli, bool failed)
{
    if (cli->to_file < 0)
        return;
    close(cli->to_file);
    cli->to_file = -1;
    if (failed && cli->to_made)
        unlink(cli->to);
}
