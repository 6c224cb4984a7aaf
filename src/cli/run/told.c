/* A failure for a person at a terminal: what went wrong, what to do, and the id to ask about. */
#include "cli/run/run.h"
#include "dialect/envelope.h"
#include "incident/incident.h"
#include "operation/hide.h"

/* Write text of a failure, in which secrets are hidden already: without leaks, and without
 * characters that the terminal would act on. */
static void put_text(mishap_buffer *b, const mishap_cli *cli, mishap_text text)
{
    const mishap_sent sent = mishap_cli_sent(cli);
    mishap_put_printable(b, mishap_hide_text(text, &sent));
}

static void put_style(mishap_buffer *b, const mishap_cli *cli, const char *style)
{
    if (cli->color)
        mishap_buffer_put_text(b, mishap_text_of(style));
}

void mishap_cli_put_label(mishap_buffer *b, const mishap_cli *cli, const char *label)
{
    put_style(b, cli, "\033[2m");
    mishap_buffer_put_text(b, mishap_text_of(label));
    put_style(b, cli, "\033[0m");
}

static void put_line(mishap_buffer *b, const mishap_cli *cli, const char *label, mishap_text text)
{
    if (!text.length)
        return;
    mishap_cli_put_label(b, cli, label);
    put_text(b, cli, text);
    MISHAP_PUT(b, "\n");
}

/* The words of a handler need not name the field that they are about. */
static bool says_name(mishap_text sentence, mishap_text field)
{
    return !sentence.length || memmem(sentence.data, sentence.length, field.data, field.length);
}

/* True for a value that a person reads at a glance. Objects and long lists are for programs. */
static bool is_readable(const mishap_value *value, mishap_text words)
{
    enum { LONGEST_LIST = 160 };
    return value->kind != MISHAP_KIND_JSON ||
           (words.length <= LONGEST_LIST && words.length && words.data[0] == '[' &&
            !memchr(words.data, '{', words.length) &&
            !memchr(words.data + 1, '[', words.length - 1));
}

/* What was told beside the message, unless the message says it already. If the input is wrong and
 * there are findings, they say all. */
static void put_context(mishap_buffer *b, const mishap_cli *cli, const mishap_public *told)
{
    mishap_text message = mishap_public_message(told);
    if (told->category == MISHAP_VALIDATION && told->fields)
        return;
    for (const mishap_member *member = told->context; member; member = member->next) {
        mishap_buffer words = { 0 }, label = { 0 };
        mishap_json_plain(&words, &member->value);
        mishap_text said = mishap_buffer_text(&words);
        MISHAP_PUT(&label, "  ");
        mishap_put_printable(&label, member->key);
        mishap_buffer_put(&label, ": ", sizeof ": "); /* with its NUL */
        if (!words.failed && !label.failed && said.length && is_readable(&member->value, said) &&
            !memmem(message.data, message.length, said.data, said.length))
            put_line(b, cli, label.data, said);
        b->failed = b->failed || words.failed || label.failed;
        mishap_buffer_release(&label);
        mishap_buffer_release(&words);
    }
}

/* What is wrong with each argument, unless the message says it already. */
static void put_fields(mishap_buffer *b, const mishap_cli *cli, const mishap_public *told)
{
    mishap_text message = mishap_public_message(told);
    for (const mishap_field *field = told->fields; field; field = field->next) {
        mishap_buffer sentence = { 0 }, named = { 0 };
        mishap_envelope_put_field_sentence(&sentence, field);
        mishap_text said = mishap_buffer_text(&sentence);
        if (!says_name(said, field->field)) {
            mishap_buffer_put_text(&named, field->field);
            MISHAP_PUT(&named, ": ");
            mishap_buffer_put_text(&named, said);
        }
        if (said.length && !memmem(message.data, message.length, said.data, said.length))
            put_line(b, cli, "       - ", named.length ? mishap_buffer_text(&named) : said);
        b->failed = b->failed || named.failed;
        mishap_buffer_release(&named);
        mishap_buffer_release(&sentence);
    }
}

/* True if only the log says what has happened: a mistake of the program, or one that has caused
 * this. */
static bool is_internal(const mishap *failure)
{
    while (failure && !mishap_told(failure)->code->masked)
        failure = mishap_cause(failure);
    return failure;
}

/* True if a person may want to ask the operator about it: not for a mistake in the words of the
 * command, which the message explains, nor for Ctrl-C, nor if there are data that explain it, or
 * frames of the caller's own code. */
static bool is_worth_asking(const mishap_cli_answer *answer)
{
    const mishap_public *told = mishap_told(answer->failure);
    return told->category != MISHAP_VALIDATION && told->code != MISHAP_CODE_CANCELLED &&
           !answer->data.length && !told->frames && !told->type.length;
}

/* The id of a failure whose message says enough: one faint line, to be copied if it is needed. */
static void put_faint_id(mishap_buffer *b, const mishap_cli *cli)
{
    put_style(b, cli, "\033[2m");
    MISHAP_PUT(b, "     id: ");
    mishap_buffer_put_text(b, mishap_text_of(cli->request_id));
    put_style(b, cli, "\033[0m");
    MISHAP_PUT(b, "\n");
}

/* The id of the incident, and the log that contains it. */
static void put_incident(mishap_buffer *b, const mishap_cli *cli, const mishap_cli_answer *answer,
                         bool in_log)
{
    char path[4096];
    const mishap *failure = answer->failure;
    mishap_text incident = mishap_told(failure)->incident;
    bool internal = incident.length || is_internal(failure);
    if (!incident.length && internal && in_log)
        incident = mishap_text_of(cli->request_id);
    put_line(b, cli, "   incident: ", incident);
    if (internal && in_log && mishap_incident_log_path(cli->app->name, path, sizeof path)) {
        mishap_cli_put_label(b, cli, "    details: "); /* the path is meant to be seen */
        mishap_put_printable(b, mishap_text_of(path));
        MISHAP_PUT(b, "\n");
    }
    if (!internal && in_log && is_worth_asking(answer))
        put_faint_id(b, cli);
}

void mishap_cli_put_whole_line(mishap_buffer *b, mishap_text words)
{
    mishap_put_printable(b, words);
    if (words.length && words.data[words.length - 1] != '\n')
        MISHAP_PUT(b, "\n");
}

/* The frames of the caller's own code, the innermost first. The last one may be "...", for those
 * that are left out. */
static void put_frames(mishap_buffer *b, const mishap_cli *cli, const mishap_frame *frames)
{
    static const mishap_text more = MISHAP_TEXT("...");
    char label[40];
    size_t number = 0;
    for (const mishap_frame *f = frames; f; f = f->next) {
        if (mishap_text_equal(f->text, more))
            snprintf(label, sizeof label, "         ");
        else
            snprintf(label, sizeof label, "%7zu: ", number++);
        mishap_cli_put_label(b, cli, label);
        mishap_put_printable(b, f->text);
        MISHAP_PUT(b, "\n");
    }
}

/* Code and message, what is wrong with each argument, the cause, the suggestion, the incident. */
void mishap_cli_put_failure(mishap_buffer *b, const mishap_cli *cli,
                            const mishap_cli_answer *answer, bool in_log)
{
    const mishap_public *told = mishap_told(answer->failure);
    mishap_cli_put_whole_line(b, told->output); /* the output of that code, before it failed */
    put_style(b, cli, "\033[1;31m");
    MISHAP_PUT(b, "error");
    put_style(b, cli, "\033[0m");
    MISHAP_PUT(b, " ");
    put_style(b, cli, "\033[1m");
    mishap_buffer_put_text(b, told->code->name);
    put_style(b, cli, "\033[0m");
    MISHAP_PUT(b, "  ");
    put_text(b, cli, mishap_public_message(told));
    MISHAP_PUT(b, "\n");
    put_fields(b, cli, told);
    put_frames(b, cli, told->frames);
    put_context(b, cli, told);
    put_line(b, cli, "  cause: ", told->cause);
    put_line(b, cli, "    try: ", mishap_public_suggestion(told));
    put_line(b, cli, "   more: ", mishap_public_docs_url(told));
    put_incident(b, cli, answer, in_log);
}
