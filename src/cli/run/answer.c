/*
 * Print the one answer of a command. Only this file sets `ok` and the exit code, and only this file
 * writes to standard output. If standard output is a terminal, the answer is readable text, and a
 * failure is a few lines on stderr; otherwise it is the envelope.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/screen/readable.h"
#include "cli/screen/terminal.h"
#include "dialect/dialect.h"
#include "dialect/envelope.h"
#include "incident/incident.h"
#include "operation/hide.h"
#include "operation/secret.h"
#include "operation/styled.h"

/* How long a server waits for a reader of its last answer that does not read. */
enum { LAST_WORDS_MS = 1000 };

/* -- the private side -------------------------------------------------------------------------- */

/* Take leaks, and these secrets, out of what is told with a failure. */
static void clean_json(mishap_buffer *json, const mishap_cli *cli, const mishap_secrets *secrets)
{
    const mishap_sent sent = mishap_cli_sent(cli);
    mishap_cli_keep_removed(mishap_hide_json(json, secrets, &sent));
}

/* True if the answer has the output of other programs on purpose: their traces stay. */
static bool is_quoting(const mishap_cli *cli)
{
    return cli->operation && cli->operation->quotes;
}

/* True if a failure is that of another program, which the caller has started. */
static bool is_relaying(const mishap_cli *cli)
{
    return cli->ended && cli->ended->relayed.set;
}

/* The data without what must not leave; in `room` if it was changed. A successful answer belongs to
 * the program and is not changed. */
static mishap_text clean_data(mishap_buffer *room, const mishap_cli *cli,
                              const mishap_cli_answer *answer)
{
    if (!answer->failure || !answer->data.length)
        return answer->data;
    mishap_buffer_put_text(room, answer->data);
    if (!room->failed)
        mishap_hide_data(room, cli->operation ? cli->operation->params : NULL, cli->secrets);
    if (!room->failed && is_quoting(cli))
        mishap_hide_json_secrets(room, cli->secrets);
    else if (!room->failed)
        clean_json(room, cli, cli->secrets);
    return mishap_buffer_text(room);
}

/* The same for the warnings, as a list. */
static void put_clean_warnings(mishap_buffer *list, const mishap_cli *cli,
                               const mishap_cli_answer *answer)
{
    mishap_json_open(list, '[');
    mishap_buffer_put_text(list, answer->warnings);
    mishap_json_close(list, ']');
    if (answer->failure && !list->failed)
        clean_json(list, cli, cli->secrets);
}

/* -- no escape sequence leaves ----------------------------------------------------------------- */

/* Control characters are legal in JSON strings, but a terminal that shows the envelope would act on
 * them. */
static void escape_controls(mishap_buffer *json)
{
    static const char hex[] = "0123456789abcdef";
    mishap_buffer clean = { 0 };
    const char *end = json->data + json->length, *start = json->data;
    for (const char *at = start; at < end; at++) {
        if (!mishap_is_c1(at, end))
            continue;
        mishap_buffer_put(&clean, start, (size_t)(at - start));
        unsigned char c = (unsigned char)*++at;
        char escape[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
        mishap_buffer_put(&clean, escape, sizeof escape);
        start = at + 1;
    }
    if (start == json->data)
        return;
    mishap_buffer_put(&clean, start, (size_t)(end - start));
    clean.failed = clean.failed || json->failed;
    mishap_buffer_release(json);
    *json = clean;
}

/* -- for programs ------------------------------------------------------------------------------ */

static void put_meta(mishap_buffer *b, const mishap_cli *cli, const mishap_cli_answer *answer)
{
    const char *trace_id = getenv("TOOL_TRACE_ID");
    mishap_buffer command = { 0 };
    MISHAP_JSON_KEY(b, "request_id");
    mishap_json_string(b, mishap_text_of(cli->request_id));
    MISHAP_JSON_KEY(b, "command");
    if (cli->operation)
        mishap_cli_put_command(&command, cli->operation->name);
    mishap_json_string(b, mishap_buffer_text(&command));
    mishap_buffer_release(&command);
    MISHAP_PUT(b, ",\"timestamp\":\"");
    mishap_clock_put_timestamp(b, cli->started_ms);
    MISHAP_PUT(b, "\"");
    MISHAP_JSON_KEY(b, "schema_version");
    mishap_json_string(b, (mishap_text)MISHAP_TEXT("1.0"));
    MISHAP_JSON_KEY(b, "tool_version");
    mishap_json_string(b, mishap_text_of(cli->app->version ? cli->app->version : "0"));
    MISHAP_JSON_KEY(b, "timeout_ms");
    if (cli->timeout_ms)
        mishap_json_int(b, cli->timeout_ms);
    else
        mishap_json_null(b);
    if (answer->total) {
        MISHAP_PUT(b, ",\"truncated\":true");
        MISHAP_JSON_KEY(b, "listed");
        mishap_json_int(b, (int64_t)answer->listed);
        MISHAP_JSON_KEY(b, "total");
        mishap_json_int(b, (int64_t)answer->total);
    }
    if (trace_id && *trace_id) {
        mishap_arena arena;
        mishap_arena_init(&arena, NULL, 0);
        mishap_text clean = mishap_utf8_clean(&arena, mishap_text_of(trace_id));
        if (clean.data) {
            MISHAP_JSON_KEY(b, "trace_id");
            mishap_json_string(b, clean);
        }
        mishap_arena_release(&arena);
    }
}

/* `data` and `warnings`, a list, were cleaned before. */
static void put_parts(mishap_buffer *b, const mishap_cli *cli, const mishap_cli_answer *answer,
                      mishap_text data, mishap_text warnings)
{
    mishap_buffer meta = { 0 };
    put_meta(&meta, cli, answer);
    const mishap_public *told = mishap_told(answer->failure);
    mishap_envelope_put(
        b, &(mishap_envelope){
               .data = data,
               .error = told,
               .phase = !told                                 ? NULL
                        : told->category == MISHAP_VALIDATION ? "validation"
                                                              : "execution",
               .signal = answer->signal,
               .warnings = { warnings.data + 1, warnings.length - 2 },
               .duration_ms = (mishap_clock_monotonic_ns() - cli->started_ns) / 1000000,
               .meta = mishap_buffer_text(&meta),
           });
    b->failed = b->failed || meta.failed;
    mishap_buffer_release(&meta);
}

static void put_envelope(mishap_buffer *b, const mishap_cli *cli, const mishap_cli_answer *answer)
{
    mishap_buffer room = { 0 }, warnings = { 0 };
    mishap_text data = clean_data(&room, cli, answer);
    put_clean_warnings(&warnings, cli, answer);
    b->failed = b->failed || room.failed || warnings.failed;
    if (!b->failed)
        put_parts(b, cli, answer, data, mishap_buffer_text(&warnings));
    mishap_buffer_release(&room);
    mishap_buffer_release(&warnings);
    if (is_relaying(cli) && !b->failed) /* its caller has started the other program */
        mishap_hide_json_secrets(b, cli->secrets);
    else if (answer->failure && !b->failed && !(is_quoting(cli) && answer->data.length))
        clean_json(b, cli, NULL); /* secrets are hidden already; a time could look like one */
    escape_controls(b);
    mishap_buffer_put_char(b, '\n');
}

/* -- for people -------------------------------------------------------------------------------- */

/* A person gets the failure text by text, and its members judged together. What is replaced in them
 * has to be in the record, which is written before: so all of the failure is judged once. */
static void keep_leaks(const mishap_cli *cli, const mishap *failure)
{
    mishap_buffer room = { 0 };
    mishap_render(&mishap_canonical, failure, &room);
    if (!room.failed)
        clean_json(&room, cli, cli->secrets);
    mishap_buffer_release(&room);
}

/* JSON that was asked for as such, with one line for each member. */
static void put_pretty(mishap_buffer *b, yyjson_val *value)
{
    mishap_buffer pretty = { 0 };
    mishap_json_put_pretty(&pretty, value);
    mishap_put_printable(b, mishap_buffer_text(&pretty));
    MISHAP_PUT(b, "\n");
    b->failed = b->failed || pretty.failed;
    mishap_buffer_release(&pretty);
}

/* Data in the form for people: readable.h. */
static void put_data(mishap_buffer *b, mishap_buffer *remarks, const mishap_cli *cli,
                     const mishap_cli_answer *answer)
{
    mishap_buffer room = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_text data = clean_data(&room, cli, answer);
    const mishap_cli_asked asked = { cli->app->name, cli->operation, cli->words, cli->word_count };
    const mishap_cli_look look = { mishap_cli_terminal_width(cli->out),
                                   mishap_cli_wants_color(cli->out) };
    bool read = !room.failed && mishap_json_read(&reader, data);
    if (!read)
        b->failed = true; /* an answer is valid JSON: reading fails only without memory */
    else if (answer->as_json)
        put_pretty(b, reader.root);
    else
        mishap_cli_put_readable(b, remarks, reader.root, &asked, look);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&room);
}

/* The parts between styles are printable; the styles are for a terminal that wants colour. */
static void put_styled(mishap_buffer *b, const mishap_cli *cli, mishap_text text)
{
    bool color = mishap_cli_wants_color(cli->out);
    size_t from = 0, length;
    for (size_t at = 0; at < text.length; at += length ? length : 1) {
        length = mishap_style_length((mishap_text){ text.data + at, text.length - at });
        if (!length)
            continue;
        mishap_put_printable(b, (mishap_text){ text.data + from, at - from });
        mishap_buffer_put(b, text.data + at, color ? length : 0);
        from = at + length;
    }
    mishap_cli_put_whole_line(b, (mishap_text){ text.data + from, text.length - from });
}

static void put_shown(mishap_buffer *b, const mishap_cli *cli, const mishap_cli_answer *answer,
                      mishap_text text)
{
    if (answer->styled)
        put_styled(b, cli, text);
    else
        mishap_cli_put_whole_line(b, text);
}

/* The text that the handler wrote for readers, cleaned. */
static void put_words(mishap_buffer *b, const mishap_cli *cli, const mishap_cli_answer *answer)
{
    if (!answer->failure) {
        put_shown(b, cli, answer, answer->text);
        return;
    }
    mishap_buffer list = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_json_open(&list, '[');
    mishap_json_string(&list, answer->text);
    mishap_json_close(&list, ']');
    if (!list.failed && is_quoting(cli))
        mishap_hide_json_secrets(&list, cli->secrets);
    else if (!list.failed)
        clean_json(&list, cli, cli->secrets);
    if (!list.failed && mishap_json_read(&reader, mishap_buffer_text(&list)))
        put_shown(b, cli, answer, mishap_json_text(yyjson_arr_get_first(reader.root)));
    b->failed = b->failed || list.failed;
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&list);
}

/* The warnings, a line each. */
static void put_warnings(mishap_buffer *b, const mishap_cli *cli, const mishap_cli_answer *answer)
{
    size_t index, count;
    yyjson_val *warning;
    mishap_buffer list = { 0 };
    put_clean_warnings(&list, cli, answer);
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!list.failed && mishap_json_read(&reader, mishap_buffer_text(&list))) {
        MISHAP_JSON_ITEMS (reader.root, index, count, warning) {
            mishap_cli_put_label(b, cli, "warning: ");
            mishap_put_printable(b, mishap_json_text(warning));
            MISHAP_PUT(b, "\n");
        }
    }
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&list);
}

/* -- out --------------------------------------------------------------------------------------- */

bool mishap_cli_write(const mishap_cli *cli, int file, mishap_text text, bool *gone)
{
    *gone = false;
    while (text.length) {
        ssize_t count = write(file, text.data, text.length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EPIPE) {
            *gone = true;
            return true;
        }
        if (count < 0) {
            fprintf(stderr, "%s: The output could not be written: %s\n", cli->app->name,
                    strerror(errno));
            return false;
        }
        text.data += count;
        text.length -= (size_t)count;
    }
    return true;
}

/* Print all of it, or say on stderr why not. A reader that has gone away is no failure. */
static int print(const mishap_cli *cli, int file, mishap_text text)
{
    bool gone;
    return mishap_cli_write(cli, file, text, &gone)
               ? 0
               : MISHAP_CODE_GENERAL_ERROR->exit_code; /* the code that every command declares */
}

static int tell_program(mishap_cli *cli, const mishap_cli_answer *answer)
{
    mishap_buffer out = { 0 };
    put_envelope(&out, cli, answer);
    mishap_text text = mishap_buffer_text(&out);
    if (out.failed) {
        static const mishap_text last = MISHAP_TEXT(
            "{\"ok\":false,\"data\":null,\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":\"An "
            "internal error "
            "occurred.\",\"retryable\":false},\"warnings\":[],\"meta\":{\"duration_ms\":0}}\n");
        if (answer->failure)
            mishap_cli_record(cli, answer, last, "application/json");
        print(cli, cli->out, last);
        mishap_buffer_release(&out);
        return MISHAP_CODE_INTERNAL_ERROR->exit_code;
    }
    if (answer->failure)
        mishap_cli_record(cli, answer, text, "application/json");
    int printed = print(cli, cli->out, text);
    mishap_buffer_release(&out);
    return printed;
}

/* Print only the failure, in the requested format. For a terminal, control characters become
 * question marks: text formats contain text of a caller unchanged. */
static int tell_in_dialect(const mishap_cli *cli, const mishap_cli_answer *answer)
{
    mishap *failure = answer->failure;
    const mishap_sent sent = mishap_cli_sent(cli);
    mishap_buffer room = { 0 }, out = { 0 }, shown = { 0 };
    bool report = cli->dialect->read_text || cli->dialect->carries_subject;
    if (report)
        mishap_hide_report_leaks(failure, &sent);
    mishap_buffer_put_text(&out, mishap_render_answer(cli->dialect, failure, &room));
    if (!report && !out.failed)
        clean_json(&out, cli, cli->secrets);
    if (!cli->dialect->read_text)
        escape_controls(&out);
    if (out.length && out.data[out.length - 1] != '\n')
        mishap_buffer_put_char(&out, '\n');
    bool terminal = isatty(cli->out);
    if (terminal)
        mishap_put_printable(&shown, mishap_buffer_text(&out));
    mishap_text text = out.failed || shown.failed ? cli->dialect->last_words
                                                  : mishap_buffer_text(terminal ? &shown : &out);
    mishap_cli_record(cli, answer, text, mishap_dialect_media_type(cli->dialect));
    int printed = print(cli, cli->out, text);
    mishap_buffer_release(&shown);
    mishap_buffer_release(&room);
    mishap_buffer_release(&out);
    return printed;
}

/* Print the data, and remarks about it on stderr. */
static int print_data(const mishap_cli *cli, const mishap_cli_answer *answer)
{
    static const mishap_text last = MISHAP_TEXT(
        "error INTERNAL_ERROR  There is not enough memory to show the answer.\n");
    char cut[80];
    mishap_buffer out = { 0 }, remarks = { 0 };
    if (answer->total) {
        snprintf(cut, sizeof cut, "Listed %zu of %zu.\n", answer->listed, answer->total);
        mishap_buffer_put_text(&remarks, mishap_text_of(cut));
    }
    if (answer->text.length)
        put_words(&out, cli, answer);
    else
        put_data(&out, &remarks, cli, answer);
    bool made = !out.failed && !remarks.failed;
    int printed = made ? print(cli, cli->out, mishap_buffer_text(&out))
                       : MISHAP_CODE_INTERNAL_ERROR->exit_code;
    if (!made || !answer->failure)
        print(cli, STDERR_FILENO, made ? mishap_buffer_text(&remarks) : last);
    mishap_buffer_release(&out);
    mishap_buffer_release(&remarks);
    return printed;
}

static int tell_person(mishap_cli *cli, const mishap_cli_answer *answer, bool in_log)
{
    mishap_buffer out = { 0 };
    int printed = 0;
    bool below = cli->operation && cli->operation->judges && answer->data.length;
    if (below) /* the verdict stands below a report, where its reader looks */
        printed = print_data(cli, answer);
    if (answer->failure) {
        mishap_cli_put_failure(&out, cli, answer, in_log);
        print(cli, STDERR_FILENO, mishap_buffer_text(&out));
        mishap_buffer_reset(&out);
    }
    if (answer->warnings.length) {
        put_warnings(&out, cli, answer);
        print(cli, STDERR_FILENO, mishap_buffer_text(&out));
        mishap_buffer_reset(&out);
    }
    if (answer->data.length && !below)
        printed = print_data(cli, answer);
    mishap_buffer_release(&out);
    return printed;
}

/* Every failure says whether it may be retried, and has the id under which its private side is
 * recorded. */
static void complete(const mishap_cli *cli, mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    if (!told->retry_stated)
        mishap_retryable(failure, told->retryable);
    /* A masked failure can be looked up by its id; any other needs none. */
    if (told->code->masked && !told->incident.length)
        mishap_incident(failure, cli->request_id);
}

/* If standard output has a part of a stream, no envelope may follow it: everything else goes to
 * stderr. */
static int tell_beside_bytes(mishap_cli *cli, const mishap_cli_answer *answer, bool in_log)
{
    mishap_cli_answer rest = *answer;
    rest.data = (mishap_text){ NULL, 0 };
    return tell_person(cli, &rest, in_log);
}

/* Bytes are written first: the answer says whether that worked. */
static int tell_bytes(mishap_cli *cli, const mishap_cli_answer *answer)
{
    mishap_buffer data = { 0 };
    mishap_cli_answer told = *answer;
    told.media_type = NULL;
    mishap *failure = mishap_cli_bytes_write(cli, answer, &data);
    if (!failure && data.failed)
        failure = mishap_out_of_memory();
    told.failure = failure;
    told.data = mishap_buffer_text(&data);
    int status = failure || told.data.length ? mishap_cli_tell(cli, &told)
                                             : tell_beside_bytes(cli, &told, false);
    mishap_free(failure);
    mishap_buffer_release(&data);
    return status;
}

/* True if a few lines can be written now or soon. A file that cannot be polled is no pipe. */
static bool takes_some(int file)
{
    struct pollfd out = { .fd = file, .events = POLLOUT };
    return poll(&out, 1, LAST_WORDS_MS) != 0;
}

int mishap_cli_tell(mishap_cli *cli, const mishap_cli_answer *answer)
{
    int printed, exit_code = 0;
    bool in_log = false;
    const mishap_sent sent = mishap_cli_sent(cli);
    mishap_cli_live_end();
    /* The exit code of a server does not depend on whether its last message is read. */
    bool resident = cli->operation && cli->operation->resident && !is_relaying(cli);
    if (resident && !answer->failure && (cli->out < 0 || !takes_some(cli->out)))
        return 0;
    if (!answer->failure && answer->media_type)
        return tell_bytes(cli, answer);
    mishap_cli_bytes_end(cli, answer->failure != NULL);
    if (answer->failure) {
        mishap_service_amend(cli->operation, answer->failure);
        if (cli->operation)
            mishap_hide_failure(answer->failure, cli->operation->params, cli->secrets);
        complete(cli, answer->failure);
        exit_code = mishap_cli_exit_code(answer);
        bool for_person = (cli->streamed && !cli->to) || (!cli->dialect && !cli->json);
        if (for_person) { /* it is told where the log is */
            keep_leaks(cli, answer->failure);
            in_log = mishap_cli_record(cli, answer, (mishap_text){ NULL, 0 }, NULL);
            mishap_hide_report_leaks(answer->failure, &sent);
        }
    }
    if (!answer->failure && answer->document.data)
        printed = print(cli, cli->out, answer->document);
    else
        printed = cli->streamed && !cli->to         ? tell_beside_bytes(cli, answer, in_log)
                  : answer->failure && cli->dialect ? tell_in_dialect(cli, answer)
                  : cli->json                       ? tell_program(cli, answer)
                                                    : tell_person(cli, answer, in_log);
    return exit_code ? exit_code : resident ? 0 : printed;
}
