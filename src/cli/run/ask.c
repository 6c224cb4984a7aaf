/*
 * A handler that asks (mishap_ask): the person at the terminal is asked for each value in turn, on
 * standard error, and the command goes on with the answers. The end of input declines. Where
 * standard input or standard error is no terminal, the command fails and says what --answers takes.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/trim.h"
#include "cli/run/run.h"
#include "operation/asking.h"

enum { LONGEST_LINE = 4096 };

/* False: the input has ended. A line that is too long is cut. */
static bool read_line(mishap_buffer *line)
{
    char c;
    mishap_buffer_reset(line);
    for (;;) {
        ssize_t got = read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return line->length > 0;
        if (c == '\n')
            return true;
        if (line->length < LONGEST_LINE)
            mishap_buffer_put_char(line, c);
    }
}

static void show(const mishap_cli *cli, const mishap_buffer *text)
{
    bool gone;
    if (!text->failed)
        mishap_cli_write(cli, STDERR_FILENO, mishap_buffer_text(text), &gone);
}

/* -- one value --------------------------------------------------------------------------------- */

static void put_choices(mishap_buffer *b, const mishap_param *param)
{
    const mishap_param *one = param->type == MISHAP_ARRAY ? param->items : param;
    if (one->type == MISHAP_BOOLEAN)
        MISHAP_PUT(b, " (yes or no)");
    if (one->type != MISHAP_ENUM)
        return;
    MISHAP_PUT(b, " (");
    for (size_t i = 0; one->choices[i]; i++) {
        if (i)
            MISHAP_PUT(b, ", ");
        mishap_put_printable(b, mishap_text_of(one->choices[i]));
    }
    mishap_cli_put(b, param == one ? ")" : "; several with commas between)");
}

/* "  Delete all of them (yes or no) [false]: " */
static void show_prompt(const mishap_cli *cli, const mishap_param *param)
{
    mishap_buffer prompt = { 0 };
    MISHAP_PUT(&prompt, "  ");
    mishap_put_printable(&prompt, mishap_text_of(param->help ? param->help : param->name));
    put_choices(&prompt, param);
    if (param->initial) {
        MISHAP_PUT(&prompt, " [");
        mishap_put_printable(&prompt, mishap_text_of(param->initial));
        MISHAP_PUT(&prompt, "]");
    }
    MISHAP_PUT(&prompt, ": ");
    show(cli, &prompt);
    mishap_buffer_release(&prompt);
}

static void put_boolean(mishap_buffer *json, mishap_text word)
{
    static const mishap_text yes[] = { MISHAP_TEXT("y"), MISHAP_TEXT("yes"), MISHAP_TEXT("Y") },
                             no[] = { MISHAP_TEXT("n"), MISHAP_TEXT("no"), MISHAP_TEXT("N") };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (mishap_text_equal(word, yes[i]))
            word = (mishap_text)MISHAP_TEXT("true");
        if (mishap_text_equal(word, no[i]))
            word = (mishap_text)MISHAP_TEXT("false");
    }
    mishap_put_spelled(json, MISHAP_BOOLEAN, word);
}

static void put_list(mishap_buffer *json, mishap_text words)
{
    mishap_json_open(json, '[');
    while (words.length) {
        const char *comma = memchr(words.data, ',', words.length);
        size_t length = comma ? (size_t)(comma - words.data) : words.length;
        mishap_text word = mishap_trim((mishap_text){ words.data, length }, " \t\r");
        if (word.length)
            mishap_put_spelled(json, MISHAP_ENUM, word);
        length += comma != NULL;
        words = (mishap_text){ words.data + length, words.length - length };
    }
    mishap_json_close(json, ']');
}

/* Nothing was typed: the default, or no value. */
static void put_value(mishap_buffer *json, const mishap_param *param, mishap_text word)
{
    if (!word.length)
        return;
    mishap_json_key(json, mishap_text_of(param->name));
    if (param->type == MISHAP_BOOLEAN)
        put_boolean(json, word);
    else if (param->type == MISHAP_ARRAY)
        put_list(json, word);
    else
        mishap_put_spelled(json, param->type, word);
}

/* -- one question ------------------------------------------------------------------------------ */

static void show_question(const mishap_cli *cli, const mishap_asked *asked)
{
    mishap_buffer text = { 0 }, hidden = { 0 };
    mishap_secrets_put_hidden(&hidden, cli->secrets, asked->message);
    mishap_put_printable(&text,
                         hidden.failed ? mishap_guard_redacted : mishap_buffer_text(&hidden));
    MISHAP_PUT(&text, "\n");
    show(cli, &text);
    mishap_buffer_release(&hidden);
    mishap_buffer_release(&text);
}

/* The answer as a member of `json`; null if the input has ended. */
static void ask_question(const mishap_cli *cli, mishap_arena *arena, const mishap_asked *asked,
                         mishap_buffer *json)
{
    mishap_buffer line = { 0 }, answer = { 0 };
    bool answered = true;
    show_question(cli, asked);
    mishap_json_open(&answer, '{');
    for (const mishap_param *p = asked->question->params; answered && p->name; p++) {
        show_prompt(cli, p);
        answered = read_line(&line);
        /* What was typed may be no UTF-8. */
        if (answered)
            put_value(&answer, p,
                      mishap_trim(mishap_utf8_clean(arena, mishap_buffer_text(&line)), " \t\r"));
    }
    mishap_json_close(&answer, '}');
    mishap_json_key(json, mishap_text_of(asked->question->name));
    if (answered)
        mishap_buffer_put_text(json, mishap_buffer_text(&answer));
    else
        mishap_json_null(json);
    json->failed = json->failed || answer.failed || line.failed;
    mishap_buffer_release(&line);
    mishap_buffer_release(&answer);
}

static mishap *ask_person(const mishap_cli *cli, mishap_call *call)
{
    mishap_buffer json = { 0 };
    mishap_cli_live_erase();
    mishap_cli_watch_pause(true);
    mishap_json_open(&json, '{');
    for (const mishap_asked *asked = call->questions; asked; asked = asked->next)
        ask_question(cli, &call->arena, asked, &json);
    mishap_json_close(&json, '}');
    mishap_cli_watch_pause(false);
    mishap *failure = json.failed ? mishap_out_of_memory()
                                  : mishap_asking_answer_text(call, mishap_buffer_text(&json),
                                                              MISHAP_ANSWERS_PLAIN);
    mishap_buffer_release(&json);
    mishap_asking_again(call);
    return failure;
}

/* -- the call ---------------------------------------------------------------------------------- */

/* A request to the client of an agent is nothing that a person can answer. */
static bool can_ask(const mishap_call *call)
{
    for (const mishap_asked *asked = call->questions; asked; asked = asked->next)
        if (asked->question->method)
            return false;
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

static mishap *advise(mishap_call *call, mishap *failure)
{
    bool person = false;
    if (!call->operation->asks) /* the questions are those of another call */
        return mishap_suggest(failure,
                              "Run the command in a terminal, or answer with `tasks reply`.");
    for (const mishap_asked *asked = call->questions; asked; asked = asked->next)
        person = person || asked->question->person;
    if (person || !call->questions)
        return mishap_suggest(failure, "Run the command in a terminal: a person has to answer.");
    const char *name = call->questions->question->name;
    return mishap_suggest(failure,
                          mishap_call_print(call,
                                            "Run the command in a terminal, or give the answers "
                                            "with --answers '{\"%s\":{…}}'; {\"%s\":null} "
                                            "declines.",
                                            name, name));
}

/* The reader of JSON gives advice about a request, so this replaces it. NULL stays NULL. */
static mishap *advise_about_answers(mishap_call *call, mishap *failure)
{
    const mishap_question *asks = call->operation->asks;
    if (!failure || !asks || !asks->name)
        return failure;
    return mishap_suggest(
        failure, mishap_call_print(call, "Write --answers as '{\"%s\":{…}}'.", asks->name));
}

mishap *mishap_cli_run_call(mishap_cli *cli, mishap_call *call)
{
    mishap *failure = NULL;
    if (cli->answers)
        failure = advise_about_answers(call,
                                       mishap_asking_answer_text(call, mishap_text_of(cli->answers),
                                                                 MISHAP_ANSWERS_OF_SCRIPT));
    while (!failure) {
        failure = cli->server ? mishap_cli_ask_server(cli, call) : mishap_call_run(call);
        if (!mishap_asking_is(call, failure))
            return failure;
        if (!can_ask(call))
            return advise(call, failure);
        mishap_free(failure);
        failure = ask_person(cli, call);
    }
    return failure;
}
