/* lisp repl: the read-eval-print loop: see repl.h. */
#include "lisp/repl.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include <mishap/memory.h>

struct repl {
    lisp_session session;
    lisp_screen screen;
    lisp_lines *lines;
    mishap_buffer typed; /* read, and not evaluated yet */
    mishap_buffer entry; /* what was typed since the prompt, for the history */
    char package[100];
    int64_t level; /* suspended evaluations: 0 or 1 */
    size_t abort;  /* the restart that aborts it */
    size_t restarts;
    bool asks[LISP_MOST_RESTARTS]; /* the restart takes values */
    bool over;
    mishap *last;  /* how the last form failed; NULL: it did not */
    mishap *fatal; /* why there is no session any more */
};

static void say_words(const char *words)
{
    fputs(words, stdout);
    fflush(stdout);
}

static void forget_typed(struct repl *r)
{
    mishap_buffer_reset(&r->typed);
    mishap_buffer_reset(&r->entry);
}

/* -- calls ------------------------------------------------------------------------------------- */

static mishap *call(struct repl *r, const char *operation, const mishap_pair *pairs,
                    mishap_answered **out)
{
    mishap *fatal = NULL;
    mishap *failure = lisp_session_call(&r->session, operation, pairs, out, &fatal);
    mishap_free(r->fatal);
    r->fatal = fatal;
    r->over |= fatal != NULL;
    return failure;
}

static void tell_lost(struct repl *r)
{
    if (r->session.lost && !r->fatal)
        say_words("; The session has ended and starts fresh: its definitions are gone.\n");
    r->session.lost = false;
}

/* Update what the prompt shows; with `suspended` the restarts are shown now. */
static void look_around(struct repl *r, bool suspended)
{
    mishap_answered *answered = NULL;
    if (!r->screen.person || r->over)
        return;
    mishap_free(call(r, "lisp.prompt", NULL, &answered));
    if (r->session.lost && !r->fatal) { /* another client, or the server, has ended it */
        tell_lost(r);
        mishap_free(call(r, "lisp.prompt", NULL, &answered));
    }
    r->level = 0;
    if (!answered)
        return;
    snprintf(r->package, sizeof r->package, "%s", mishap_string(answered->json, "package"));
    r->level = mishap_integer(answered->json, "level");
    r->abort = (size_t)mishap_integer(answered->json, "abort");
    r->restarts = 0;
    for (const mishap_call *one = mishap_first(answered->json, "restarts");
         one && r->restarts < LISP_MOST_RESTARTS; one = mishap_next(one))
        r->asks[r->restarts++] = mishap_boolean(one, "asks");
    if (suspended && r->level > 0)
        lisp_show_restarts(&r->screen, answered);
    mishap_answered_free(answered);
}

/* -- what is typed ----------------------------------------------------------------------------- */

typedef enum found { NOTHING, PARTIAL, WHOLE, DROPPED } found;

/* Find a form in what was typed, and its end. Text that cannot be read counts as one: its
 * evaluation says why. */
static found look_for_form(struct repl *r, size_t *end)
{
    mishap_answered *answered = NULL;
    mishap_text typed = mishap_buffer_text(&r->typed);
    mishap *failure = call(r, "lisp.form", MISHAP_PAIRS({ "code", MISHAP_VALUE(typed) }),
                           &answered);
    if (r->session.lost && !r->fatal) {
        tell_lost(r);
        mishap_free(failure);
        failure = call(r, "lisp.form", MISHAP_PAIRS({ "code", MISHAP_VALUE(typed) }), &answered);
    }
    *end = typed.length;
    found what = failure && mishap_has_code(failure, MISHAP_CODE_CANCELLED) ? DROPPED : WHOLE;
    const char *state = answered ? mishap_string(answered->json, "state") : "";
    if (strcmp(state, "none") == 0)
        what = NOTHING;
    else if (strcmp(state, "partial") == 0)
        what = PARTIAL;
    else if (strcmp(state, "form") == 0)
        *end = lisp_bytes_of(typed, (size_t)mishap_integer(answered->json, "end"));
    mishap_answered_free(answered);
    mishap_free(failure);
    return what;
}

static lisp_line_end read_line(struct repl *r, const char *prompt)
{
    size_t before = r->typed.length;
    lisp_line_end end = lisp_lines_read(r->lines, prompt, &r->typed);
    if (end == LISP_LINE_READ && !r->typed.failed)
        mishap_buffer_add(&r->entry, r->typed.data + before, r->typed.length - before);
    r->over |= end == LISP_LINE_OVER || r->typed.failed || lisp_signals_ended() ||
               (end == LISP_LINE_DROPPED && !r->screen.person);
    return end;
}

/* Move the form that ends there out of what was typed. */
static void take_form(struct repl *r, size_t end, mishap_buffer *out)
{
    mishap_buffer_reset(out);
    mishap_buffer_add(out, r->typed.data, end);
    memmove(r->typed.data, r->typed.data + end, r->typed.length - end);
    r->typed.length -= end;
    lisp_lines_remember(r->lines, mishap_buffer_text(&r->entry));
    mishap_buffer_reset(&r->entry);
}

/* Read on until there is a form. False: there is none, since the line was dropped or the input has
 * ended. An incomplete form of a person is dropped then; that of a pipe is evaluated, so that the
 * error says what is missing. */
static bool finish_form(struct repl *r, mishap_buffer *out)
{
    size_t end;
    for (;;) {
        found what = look_for_form(r, &end);
        if (what == WHOLE && !r->fatal) {
            take_form(r, end, out);
            return true;
        }
        if (what != PARTIAL || r->fatal) {
            if (what == DROPPED) {
                lisp_signals_interrupted();
                say_words("\n"); /* after the ^C that the terminal shows */
            }
            forget_typed(r);
            return false;
        }
        lisp_line_end line = read_line(r, "... ");
        if (line == LISP_LINE_OVER && !r->screen.person) {
            take_form(r, r->typed.length, out);
            return true;
        }
        if (line != LISP_LINE_READ) {
            forget_typed(r);
            return false;
        }
    }
}

static mishap_text trimmed(mishap_text text)
{
    while (text.length && isspace((unsigned char)text.data[0]))
        text = (mishap_text){ text.data + 1, text.length - 1 };
    while (text.length && isspace((unsigned char)text.data[text.length - 1]))
        text.length--;
    return text;
}

/* -- what is done with it ---------------------------------------------------------------------- */

static bool is_aborted(const mishap *failure)
{
    return mishap_has_code(failure, MISHAP_CODE_CANCELLED) &&
           mishap_text_equal(mishap_told(failure)->type, mishap_text_of("ABORT"));
}

static bool is_suspended(const mishap *failure)
{
    return mishap_public_member(mishap_told(failure), "suspended") != NULL;
}

/* Evaluate, and show the outcome. */
static void evaluate(struct repl *r, const char *operation, const mishap_pair *pairs)
{
    mishap_answered *answered = NULL;
    mishap *failure = call(r, operation, pairs, &answered);
    bool stopped = lisp_signals_interrupted();
    bool suspended = failure && is_suspended(failure);
    if (answered)
        lisp_show_answer(&r->screen, answered);
    else if (failure && r->screen.person && is_aborted(failure))
        say_words("; Aborted\n");
    else if (failure)
        lisp_show_failure(&r->screen, &r->session, failure);
    if (failure)
        r->session.lost = false; /* the report has said so already */
    tell_lost(r);
    mishap_answered_free(answered);
    mishap_free(r->last);
    r->last = failure;
    r->over |= ferror(stdout) || lisp_signals_ended() || (stopped && !r->screen.person);
    if (failure && r->screen.person)
        forget_typed(r); /* forms after it may depend on it */
    look_around(r, suspended);
}

static void evaluate_form(struct repl *r, mishap_text form)
{
    bool suspend = r->screen.person && r->level == 0;
    evaluate(r, "lisp.evaluate",
             MISHAP_PAIRS({ "code", MISHAP_VALUE(form) }, { "suspend", MISHAP_VALUE(suspend) }));
}

static void choose_restart(struct repl *r, size_t index, mishap_text values)
{
    mishap_buffer form = { 0 };
    if (index >= r->restarts) {
        say_words("There is no such restart.\n");
        return;
    }
    if (r->asks[index] && !values.length) {
        if (read_line(r, "Value: ") != LISP_LINE_READ || !finish_form(r, &form)) {
            forget_typed(r);
            mishap_buffer_release(&form);
            return;
        }
        values = mishap_buffer_text(&form);
        mishap_buffer_reset(&r->typed);
    }
    evaluate(
        r, "lisp.restart",
        MISHAP_PAIRS({ "index", MISHAP_VALUE(index) },
                     { "values", values.length ? MISHAP_VALUE(values) : mishap_value_none() }));
    mishap_buffer_release(&form);
}

/* True if this line is a choice among the restarts. */
static bool take_choice(struct repl *r, mishap_text line)
{
    char copy[200];
    if (r->level == 0)
        return false;
    if (!line.length || mishap_text_equal(line, mishap_text_of("q"))) {
        forget_typed(r);
        r->asks[r->abort < LISP_MOST_RESTARTS ? r->abort : 0] = false;
        r->restarts = r->abort >= r->restarts ? r->abort + 1 : r->restarts;
        choose_restart(r, r->abort, (mishap_text){ 0 });
        return true;
    }
    size_t digits = 0;
    while (digits < line.length && isdigit((unsigned char)line.data[digits]))
        digits++;
    bool alone = digits == line.length || isspace((unsigned char)line.data[digits]);
    if (!digits || digits > 3 || !alone || line.length >= sizeof copy)
        return false;
    memcpy(copy, line.data, line.length);
    copy[line.length] = '\0';
    lisp_lines_remember(r->lines, mishap_buffer_text(&r->entry));
    forget_typed(r);
    choose_restart(r, strtoul(copy, NULL, 10), trimmed(mishap_text_of(copy + digits)));
    return true;
}

static void show_backtrace(struct repl *r)
{
    mishap_answered *answered = NULL;
    mishap_free(
        call(r, "lisp.backtrace", MISHAP_PAIRS({ "max_frames", MISHAP_VALUE(100) }), &answered));
    if (answered)
        lisp_show_frames(&r->screen, answered);
    mishap_answered_free(answered);
    tell_lost(r);
}

static void reset(struct repl *r)
{
    r->fatal = lisp_session_renew(&r->session);
    r->over |= r->fatal != NULL;
    if (!r->fatal)
        say_words("; The session is fresh.\n");
    look_around(r, false);
}

static void help(struct repl *r)
{
    (void)r;
    say_words("Type a Lisp form. It is evaluated when its last parenthesis is closed.\n"
              "Ctrl-C stops an evaluation, or drops the line that you are typing.\n"
              "\n"
              ":backtrace  show the frames of the last failure, up to 100\n"
              ":reset      start a new session, without any definitions\n"
              ":help       show this help\n"
              ":quit       leave the REPL; so do Ctrl-D, (quit) and (exit)\n"
              "\n"
              "After an error, the evaluation waits for you (the prompt shows [restart]):\n"
              "1           continue it with restart 1\n"
              "1 (+ 40 2)  the same, with a value for the restart\n"
              "q           abort it; so does an empty line\n"
              "Any other form is evaluated while the first evaluation waits.\n");
}

static void quit(struct repl *r)
{
    r->over = true;
}

/* A command for the REPL itself; any other keyword is a form. A session refuses to exit, but a
 * person who types only this wants to leave. */
static bool take_command(struct repl *r, mishap_text line)
{
    static const struct {
        const char *name;
        void (*run)(struct repl *r);
    } commands[] = {
        { ":backtrace", show_backtrace },
        { ":reset", reset },
        { ":help", help },
        { ":quit", quit },
        { "(quit)", quit },
        { "(exit)", quit },
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (mishap_text_equal(line, mishap_text_of(commands[i].name))) {
            lisp_lines_remember(r->lines, mishap_buffer_text(&r->entry));
            forget_typed(r);
            commands[i].run(r);
            return true;
        }
    return false;
}

static void step_repl(struct repl *r, mishap_buffer *form)
{
    char prompt[sizeof r->package + 32];
    if (!r->typed.length) {
        const char *level = r->level > 0 ? "[restart]" : "";
        snprintf(prompt, sizeof prompt, "%s%s> ", r->package, level);
        if (read_line(r, prompt) != LISP_LINE_READ) {
            forget_typed(r);
            return;
        }
        mishap_text line = trimmed(mishap_buffer_text(&r->typed));
        if (take_choice(r, line) || take_command(r, line))
            return;
    }
    if (finish_form(r, form))
        evaluate_form(r, mishap_buffer_text(form));
}

/* -- the operation ----------------------------------------------------------------------------- */

/* The same rules as in the other commands. */
static bool wants_color(void)
{
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return !(unwanted && *unwanted) && !(terminal && strcmp(terminal, "dumb") == 0);
}

mishap *lisp_repl(mishap_call *outer)
{
    struct repl r = { .package = "CL-USER" };
    mishap_buffer form = { 0 };
    mishap *failure = lisp_session_begin(&r.session, outer);
    if (failure)
        return failure;
    r.screen.person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    r.screen.color = r.screen.person && wants_color();
    char *history = r.screen.person ? lisp_session_history(&r.session) : NULL;
    r.lines = lisp_lines_open(r.screen.person, history);
    lisp_signals_mind();
    if (r.screen.person)
        say_words("Type a Lisp form. :help lists the commands; Ctrl-D leaves.\n");
    while (r.lines && !r.over)
        step_repl(&r, &form);
    /* The rest of a pipe whose last line had no line feed. */
    while (r.lines && r.typed.length && !r.screen.person && !r.fatal && !lisp_signals_ended() &&
           finish_form(&r, &form))
        evaluate_form(&r, mishap_buffer_text(&form));
    lisp_signals_leave();
    lisp_session_end(&r.session);
    failure = !r.lines ? mishap_out_of_memory() : r.fatal;
    if (!failure && !r.screen.person) {
        failure = r.last;
        r.last = NULL;
    }
    mishap_free(r.last);
    lisp_lines_close(r.lines);
    mishap_release(history);
    mishap_buffer_release(&form);
    mishap_buffer_release(&r.typed);
    mishap_buffer_release(&r.entry);
    return failure ? failure : mishap_answer_document(outer, (mishap_text){ "", 0 });
}
