/* What the REPL prints. */
#include "lisp/repl.h"

static void put_style(const lisp_screen *s, const char *style)
{
    if (s->color)
        fputs(style, stdout);
}

/* A terminal would act on control characters, so each is replaced by a question mark. */
static void put_safely(FILE *to, mishap_text text)
{
    uint32_t c;
    for (size_t length; (length = mishap_text_character(text, &c)) > 0;
         text = (mishap_text){ text.data + length, text.length - length }) {
        bool control = c < ' ' ? c != '\n' && c != '\t' : c >= 0x7F && c < 0xA0;
        bool turns = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
        if (control || turns)
            fputc('?', to);
        else
            fwrite(text.data, 1, length, to);
    }
}

static void put_shown(const lisp_screen *s, FILE *to, mishap_text text)
{
    if (s->person)
        put_safely(to, text);
    else
        fwrite(text.data, 1, text.length, to);
}

void lisp_show_text(const lisp_screen *s, FILE *to, mishap_text text)
{
    if (!text.length)
        return;
    put_shown(s, to, text);
    if (text.data[text.length - 1] != '\n')
        fputc('\n', to);
    fflush(to);
}

static mishap_text text_at(const mishap_call *json, const char *path)
{
    return (mishap_text){ mishap_string(json, path), mishap_string_length(json, path) };
}

static void show_warnings(const lisp_screen *s, const mishap_call *json, const char *path)
{
    for (const mishap_call *w = mishap_first(json, path); w; w = mishap_next(w)) {
        fputs("; ", stdout);
        lisp_show_text(s, stdout, text_at(w, ""));
    }
}

void lisp_show_answer(const lisp_screen *s, const mishap_answered *answered)
{
    const mishap_call *json = answered->json;
    lisp_show_text(s, stdout, text_at(json, "stdout"));
    lisp_show_text(s, stderr, text_at(json, "stderr"));
    show_warnings(s, json, "warnings");
    if (!mishap_count(json, "values"))
        fputs("; No values\n", stdout);
    for (const mishap_call *v = mishap_first(json, "values"); v; v = mishap_next(v)) {
        fputs("=> ", stdout);
        lisp_show_text(s, stdout, text_at(v, ""));
    }
    fflush(stdout);
}

static void show_warnings_told(const lisp_screen *s, lisp_session *session, mishap_value warnings)
{
    mishap_answered *answered = NULL;
    mishap_free(mishap_invoke_with(&session->app, "lisp.list", NULL, &answered,
                                   MISHAP_PAIRS({ "items", warnings })));
    if (answered)
        show_warnings(s, answered->json, "items");
    mishap_answered_free(answered);
}

void lisp_show_failure(const lisp_screen *s, lisp_session *session, const mishap *failure)
{
    const mishap_public *public = mishap_told(failure);
    const mishap_member *written = mishap_public_member(public, "stderr"),
                        *warnings = mishap_public_member(public, "warnings");
    size_t number = 0;
    lisp_show_text(s, stdout, public->output);
    if (written && written->value.kind == MISHAP_KIND_TEXT)
        lisp_show_text(s, stderr, written->value.text);
    if (warnings)
        show_warnings_told(s, session, warnings->value);
    put_style(s, "\033[1;31m");
    fputs("[ERROR] ", stdout);
    put_shown(s, stdout, public->type.length ? public->type : public->code->condition);
    put_style(s, "\033[0m");
    fputc('\n', stdout);
    lisp_show_text(s, stdout, mishap_public_message(public));
    for (const mishap_frame *f = public->frames; f; f = f->next) {
        if (f == public->frames)
            fputs("\n[Backtrace]\n", stdout);
        if (!mishap_text_equal(f->text, mishap_text_of("...")))
            fprintf(stdout, "%zu: ", number++);
        lisp_show_text(s, stdout, f->text);
    }
    fflush(stdout);
}

void lisp_show_restarts(const lisp_screen *s, const mishap_answered *prompt)
{
    size_t number = 0;
    fputs("\n[Restarts]\n", stdout);
    for (const mishap_call *r = mishap_first(prompt->json, "restarts"); r; r = mishap_next(r)) {
        put_style(s, "\033[1m");
        fprintf(stdout, "%zu: [", number++);
        put_shown(s, stdout, text_at(r, "name"));
        fputs("] ", stdout);
        put_style(s, "\033[0m");
        lisp_show_text(s, stdout, text_at(r, "description"));
    }
    fputs("Choose one by its number; an empty line or q aborts.\n", stdout);
    fflush(stdout);
}

void lisp_show_frames(const lisp_screen *s, const mishap_answered *backtrace)
{
    size_t number = 0;
    if (!mishap_boolean(backtrace->json, "found"))
        fputs("No evaluation has failed in this session.\n", stdout);
    for (const mishap_call *f = mishap_first(backtrace->json, "backtrace"); f; f = mishap_next(f)) {
        if (!mishap_text_equal(text_at(f, ""), mishap_text_of("...")))
            fprintf(stdout, "%zu: ", number++);
        lisp_show_text(s, stdout, text_at(f, ""));
    }
    fflush(stdout);
}
