/*
 * A program whose operations answer, report and say what a person at a terminal is to see.
 * terminal_test.py runs it.
 *
 *     shown show '[{"id":1}]'        shown work --steps 20 --pause-ms 50        shown things old
 * list
 */
#include <mishap/main.h>

#include <string.h>
#include <time.h>

static void wait_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* -- answers ----------------------------------------------------------------------------------- */

static const mishap_param show_params[] = {
    { "json", MISHAP_STRING, .required = true, .positional = true, .help = "What to answer" },
    { 0 },
};

static mishap *show(mishap_call *call)
{
    return mishap_answer(call, mishap_string(call, "json"));
}

static mishap *document(mishap_call *call)
{
    return mishap_answer_document(call, mishap_text_of(mishap_string(call, "json")));
}

static const mishap_param list_params[] = {
    { "limit", MISHAP_INTEGER, .range = { 1, 9 }, .initial = "2" },
    { "after", MISHAP_STRING, .help = "The `next` of the page before" },
    { "named", MISHAP_STRING, .help = "Only what is named so" },
    { 0 },
};

static mishap *list(mishap_call *call)
{
    return mishap_answer(call, "{\"items\":[{\"id\":\"1\",\"size\":7},{\"id\":\"2\",\"size\":12}],"
                               "\"next\":\"2\"}");
}

/* -- long work --------------------------------------------------------------------------------- */

static const mishap_param work_params[] = {
    { "steps", MISHAP_INTEGER, .range = { 1, 100000 }, .initial = "10" },
    { "pause_ms", MISHAP_INTEGER, .range = { 0, 10000 }, .initial = "0" },
    { "total", MISHAP_BOOLEAN, .initial = "true" },
    { "words", MISHAP_STRING, .initial = "\"working\"" },
    { "for_ever", MISHAP_BOOLEAN, .initial = "false", .help = "Stay at the last step" },
    { "crash", MISHAP_BOOLEAN, .initial = "false" },
    { 0 },
};

static mishap *work(mishap_call *call)
{
    int64_t steps = mishap_integer(call, "steps");
    double total = mishap_boolean(call, "total") ? (double)steps : 0;
    for (int64_t i = 0; i < steps && !mishap_cancelled(call); i++) {
        mishap_progress(call, (double)i, total, mishap_string(call, "words"));
        wait_ms(mishap_integer(call, "pause_ms"));
    }
    while (mishap_boolean(call, "for_ever") && !mishap_cancelled(call))
        wait_ms(5);
    if (mishap_boolean(call, "crash"))
        *(volatile int *)NULL = 1;
    return mishap_answer_member(call, "steps", steps);
}

/* The line must be gone before the first piece comes. */
static mishap *stream(mishap_call *call)
{
    for (int i = 0; i < 8; i++) {
        mishap_progress(call, i, 16, "preparing");
        wait_ms(60);
    }
    mishap_stream(call, "text/plain");
    for (int i = 8; i < 16; i++) {
        mishap_stream_write(call, (mishap_text)MISHAP_TEXT("piece "));
        mishap_progress(call, i, 16, "streaming");
        wait_ms(20);
    }
    return NULL;
}

/* -- log lines --------------------------------------------------------------------------------- */

static const mishap_param say_params[] = {
    { "words", MISHAP_STRING, .required = true, .positional = true, .help = "What to say" },
    { "token", MISHAP_STRING, .secret = true, .environment = "SHOWN_TOKEN", .help = "A secret" },
    { 0 },
};

static mishap *say(mishap_call *call)
{
    for (int i = 0; i < 8; i++) {
        mishap_progress(call, i, 8, mishap_string(call, "words"));
        wait_ms(60);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    mishap_log(call, MISHAP_DEBUG, "A detail."); /* the old name goes on working */
#pragma GCC diagnostic pop
    mishap_tell_client(call, MISHAP_INFO, "%s", mishap_string(call, "words"));
    mishap_tell_client(call, MISHAP_LEVEL_WARNING, "The token is %s.",
                       mishap_string(call, "token"));
    mishap_tell_client(call, MISHAP_LEVEL_ERROR,
                       "Traceback (most recent call last):\n  File \"/srv/app.py\", line 3, in f\n"
                       "ValueError: x");
    return mishap_answer_member(call, "said", true);
}

/* A failure that tells a list, and a long one. */
static mishap *clash(mishap_call *call)
{
    char many[400];
    memset(many, '7', sizeof many);
    many[0] = '[';
    many[sizeof many - 2] = ']';
    many[sizeof many - 1] = '\0';
    (void)call;
    mishap *m = mishap_raise(CONFLICT, "The room is taken.");
    m = mishap_tell(m, "conflicts_with", mishap_value_of_json("[17,23]"));
    return mishap_tell(m, "others", mishap_value_of_json(many));
}

/* The input is wrong as a whole: there is no finding about a parameter that says what. */
static mishap *mismatch(mishap_call *call)
{
    (void)call;
    return mishap_tell(mishap_raise(INVALID_ARGUMENT, "The two files do not match."), "line", 17);
}

/* A service that asks for a setting which it does not declare. */
static mishap *open_wrongly(const mishap_setup *setup, void **state)
{
    (void)state;
    mishap_integer(setup->settings, "size");
    return NULL;
}
static const mishap_param box_settings[] = { { "seize", MISHAP_INTEGER, .initial = "1" }, { 0 } };
static const mishap_service box = { "box", "A box", open_wrongly, .settings = box_settings };

static const mishap_operation operations[] = {
    { "box", "Look into a box that does not open", NULL, list, .service = &box },
    { "clash", "Fail with a list", NULL, clash, .raises = MISHAP_RAISES(CONFLICT) },
    { "mismatch", "Refuse without a finding", NULL, mismatch,
      .raises = MISHAP_RAISES(INVALID_ARGUMENT) },
    { "show", "Answer with some JSON", show_params, show, .raises = NULL },
    { "document", "Answer with a document", show_params, document, .raises = NULL },
    { "work", "Work for a while", work_params, work, .raises = NULL },
    { "stream", "Work, then answer in pieces", NULL, stream, .answers_type = "text/plain" },
    { "say", "Say something", say_params, say, .raises = NULL },
    { "things.list", "List the things", list_params, list, .raises = NULL },
    { "things.old.list", "List the things that are old", NULL, list, .raises = NULL },
    { "things.old.clear_out", "Remove them", NULL, list, .danger = MISHAP_DESTRUCTIVE },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &(mishap_app){ .name = "shown", .operations = operations });
}
