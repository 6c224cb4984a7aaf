/*
 * A small call of each service that depends on another program: that a program is installed does
 * not say that it works here. Each is called as any command calls it, in the same sandbox.
 */
#include <string.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "doctor.h"
#include "lisp/lisp.h"
#include "mishap/inside.h"
#include "mishap/invoke.h"
#include "operation/trial.h"
#include "python/python.h"
#include "symbolic/symbolic.h"

struct doctor_service {
    const mishap_service *service;
    const mishap_app *app; /* whose operation the trial calls; NULL: that of the command */
    const char *what;      /* is tried */
    const service_part *parts;
};

static const struct doctor_service services[DOCTOR_TRIALS] = {
    { &lisp_service, NULL, "(+ 1 2) gives 3", lisp_parts },
    { &python_service, &python_app, "1 + 2 gives 3", python_parts },
    { &symbolic_service, NULL, "n + 1 is proved to be n + 1", symbolic_parts },
};

/* -- trying ------------------------------------------------------------------------------------ */

static doctor_outcome outcome_of(const mishap_app *app, const mishap *failure)
{
    if (!failure)
        return DOCTOR_WORKS;
    if (mishap_is(failure,
                  UNAVAILABLE)) /* no process could be started: the machine lacks something */
        return DOCTOR_NOT_RUN;
    if (!mishap_is(failure, NOT_CONFIGURED))
        return DOCTOR_FAILS;
    mishap *refused = mishap_sandbox_check(mishap_sandbox_mode_of(app->name, NULL));
    mishap_free(refused);
    return refused ? DOCTOR_NOT_RUN : DOCTOR_MISSING;
}

static void try_one(const mishap_call *call, int limit_ms, doctor_trial *trial)
{
    const mishap_service *service = trial->service->service;
    const mishap_app *app = mishap_app_of(call);
    mishap_answered *answered = NULL;
    int64_t begun = mishap_clock_monotonic_ns();
    trial->failure = mishap_invoke(trial->service->app ? trial->service->app : app,
                                   service->trial->operation->name, service->trial->arguments,
                                   &(mishap_invocation){ .timeout_ms = limit_ms, .within = call },
                                   &answered);
    if (!trial->failure)
        trial->failure = mishap_trial_judge(service, answered->text);
    trial->took_ms = (mishap_clock_monotonic_ns() - begun) / 1000000;
    trial->outcome = outcome_of(app, trial->failure);
    mishap_answered_free(answered);
}

void doctor_try(const mishap_call *call, int limit_ms, doctor_trial trials[DOCTOR_TRIALS])
{
    for (size_t i = 0; i < DOCTOR_TRIALS; i++) {
        trials[i] = (doctor_trial){ .service = &services[i] };
        try_one(call, limit_ms, &trials[i]);
    }
}

void doctor_release(doctor_trial trials[DOCTOR_TRIALS])
{
    for (size_t i = 0; i < DOCTOR_TRIALS; i++)
        mishap_free(trials[i].failure);
}

/* -- what came of it --------------------------------------------------------------------------- */

/* What was noted for the operator, of the failure or of one of its causes. */
static mishap_text find_note(const mishap *m, const char *key)
{
    for (; m; m = mishap_cause(m))
        for (const mishap_member *note = m->noted; note; note = note->next)
            if (mishap_text_equal(note->key, mishap_text_of(key)) &&
                note->value.kind == MISHAP_KIND_TEXT)
                return note->value.text;
    return (mishap_text){ NULL, 0 };
}

static void put_note(mishap_buffer *b, const mishap *m, const char *before, const char *key)
{
    mishap_text note = find_note(m, key);
    if (note.length) {
        doctor_say(b, "%s", before);
        mishap_put_printable_line(b, note);
    }
}

/* Where it failed, in a sentence or two: the operator may read what no caller may. */
static void put_where(mishap_buffer *b, const mishap *m)
{
    mishap_text words = m->masked_message.length ? m->masked_message
                                                 : mishap_public_message(mishap_told(m));
    mishap_put_printable_line(b, words);
    put_note(b, m, " This happened ", "place");
    put_note(b, m, ": ", "meaning");
    if (find_note(m, "place").length)
        doctor_say(b, ".");
    put_note(b, m, " Expected was ", "expected");
    put_note(b, m, ", and this came: ", "came");
    if (find_note(m, "expected").length)
        doctor_say(b, ".");
}

static void put_advice(mishap_buffer *b, const doctor_trial *trial)
{
    const mishap_public *told = mishap_told(trial->failure);
    size_t begun = b->length;
    if (trial->outcome == DOCTOR_MISSING) {
        doctor_say(b, "apt-get install ");
        size_t before = b->length;
        doctor_put_packages(b, trial->service->parts, true);
        if (b->length > before)
            return;
        b->length = begun; /* it looks for them elsewhere, and says so itself */
    }
    if (trial->outcome != DOCTOR_FAILS && told->suggestion.length) { /* else it is for a caller */
        mishap_put_printable_line(b, told->suggestion);
        return;
    }
    if (mishap_is(trial->failure, TIMEOUT))
        doctor_say(b, "If the machine is busy, try again with --trial-seconds 60. Otherwise: ");
    doctor_say(b, "apt-get install --reinstall ");
    doctor_put_packages(b, trial->service->parts, false);
    doctor_say(b, ", then build and install Mishap again on this machine.");
}

static const char *word_of(doctor_outcome outcome)
{
    static const char *const words[] = { [DOCTOR_WORKS] = "works",
                                         [DOCTOR_FAILS] = "fails",
                                         [DOCTOR_MISSING] = "not installed",
                                         [DOCTOR_NOT_RUN] = "not run" };
    return words[outcome];
}

/* -- for a program ----------------------------------------------------------------------------- */

static void put_text(mishap_buffer *json, const char *key, const mishap_buffer *text)
{
    mishap_json_key(json, mishap_text_of(key));
    mishap_json_string(json, mishap_buffer_text(text));
}

static void put_failure(mishap_buffer *json, const doctor_trial *trial)
{
    mishap_buffer where = { 0 }, advice = { 0 }, said = { 0 };
    put_where(&where, trial->failure);
    put_advice(&advice, trial);
    mishap_put_printable(&said, find_note(trial->failure, "output"));
    put_text(json, "where", &where);
    if (said.length)
        put_text(json, "said", &said);
    put_text(json, "advice", &advice);
    json->failed = json->failed || where.failed || advice.failed || said.failed;
    mishap_buffer_release(&where);
    mishap_buffer_release(&advice);
    mishap_buffer_release(&said);
}

static void put_trial(mishap_buffer *json, const doctor_trial *trial)
{
    mishap_json_open(json, '{');
    doctor_put_member(json, "service", trial->service->service->name);
    doctor_put_member(json, "what", trial->service->what);
    doctor_put_member(json, "state", word_of(trial->outcome));
    MISHAP_JSON_KEY(json, "ok");
    if (trial->outcome <= DOCTOR_FAILS)
        mishap_json_bool(json, trial->outcome == DOCTOR_WORKS);
    else
        mishap_json_null(json);
    MISHAP_JSON_KEY(json, "took_ms");
    mishap_json_int(json, trial->took_ms);
    if (trial->failure)
        put_failure(json, trial);
    mishap_json_close(json, '}');
}

void doctor_put_trials(mishap_buffer *json, const doctor_trial trials[DOCTOR_TRIALS])
{
    mishap_json_open(json, '[');
    for (size_t i = 0; i < DOCTOR_TRIALS; i++)
        put_trial(json, &trials[i]);
    mishap_json_close(json, ']');
}

/* -- for a person ------------------------------------------------------------------------------ */

/* What the process said, each line below the other. */
static void say_output(mishap_buffer *text, mishap_text output)
{
    const char *before = "           said:   ";
    while (output.length) {
        const char *end = memchr(output.data, '\n', output.length);
        size_t length = end ? (size_t)(end - output.data) : output.length;
        doctor_say(text, "%s", before);
        mishap_put_printable_line(text, (mishap_text){ output.data, length });
        doctor_say(text, "\n");
        before = "                   ";
        length += end != NULL;
        output = (mishap_text){ output.data + length, output.length - length };
    }
}

static void say_trial(mishap_buffer *text, const doctor_trial *trial)
{
    static const char *const marks[] = { [DOCTOR_WORKS] = "ok     ",
                                         [DOCTOR_FAILS] = "FAILS  ",
                                         [DOCTOR_MISSING] = "MISSING",
                                         [DOCTOR_NOT_RUN] = "not run" };
    const char *name = trial->service->service->name;
    if (trial->outcome == DOCTOR_MISSING) {
        doctor_say(text, "  %s  %-10s  not installed: ", marks[trial->outcome], name);
        put_advice(text, trial);
        doctor_say(text, "\n");
        return;
    }
    doctor_say(text, "  %s  %-10s  %s (%lld ms)\n", marks[trial->outcome], name,
               trial->service->what, (long long)trial->took_ms);
    if (trial->outcome == DOCTOR_WORKS)
        return;
    doctor_say(text, "           where:  ");
    put_where(text, trial->failure);
    doctor_say(text, "\n");
    say_output(text, find_note(trial->failure, "output"));
    doctor_say(text, "           try:    ");
    put_advice(text, trial);
    doctor_say(text, "\n");
}

void doctor_say_trials(mishap_buffer *text, const doctor_trial trials[DOCTOR_TRIALS])
{
    doctor_say(text, "\nTrials of services\n");
    for (size_t i = 0; i < DOCTOR_TRIALS; i++)
        say_trial(text, &trials[i]);
}

mishap *doctor_judge(const doctor_trial trials[DOCTOR_TRIALS])
{
    mishap_buffer names = { 0 };
    for (size_t i = 0; i < DOCTOR_TRIALS; i++)
        if (trials[i].outcome == DOCTOR_FAILS)
            doctor_say(&names, "%s%s", names.length ? ", " : "", trials[i].service->service->name);
    mishap_buffer_put_char(&names, '\0');
    mishap *failure = names.failed       ? mishap_out_of_memory()
                      : names.length > 1 ? mishap_raise(NOT_CONFIGURED,
                                                        "A service that is installed does not "
                                                        "work on this machine: %s.",
                                                        names.data)
                                         : NULL;
    mishap_buffer_release(&names);
    return failure ? mishap_suggest(failure, "The rows of the trials say where it failed, and what "
                                             "to try.")
                   : NULL;
}
