/* mishap doctor: what this machine offers for the services, and what to do about the rest. */
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/system.h"
#include "doctor.h"
#include "mishap/sandbox.h"

enum { FEWEST_FILES = 1024 };

void doctor_put_member(mishap_buffer *json, const char *key, const char *text)
{
    mishap_json_key(json, mishap_text_of(key));
    if (text)
        mishap_json_string(json, mishap_text_of(text));
    else
        mishap_json_null(json);
}

/* -- the sandbox ------------------------------------------------------------------------------- */

static void put_layer(mishap_buffer *json, const mishap_sandbox_offer *offer)
{
    char words[200], reason[150];
    mishap_system_error(offer->error, reason, sizeof reason);
    snprintf(words, sizeof words, "%s: %s", offer->offered ? "" : offer->step, reason);
    mishap_json_open(json, '{');
    doctor_put_member(json, "layer", offer->name);
    MISHAP_JSON_KEY(json, "offered");
    mishap_json_bool(json, offer->offered);
    doctor_put_member(json, "what", offer->what);
    if (!offer->offered) {
        doctor_put_member(json, "why_not", words);
        doctor_put_member(json, "advice", offer->advice);
    }
    mishap_json_close(json, '}');
}

static void put_sandbox(mishap_buffer *json, const mishap_sandbox_report *report)
{
    MISHAP_JSON_KEY(json, "sandbox");
    mishap_json_open(json, '[');
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        put_layer(json, &report->offers[i]);
    mishap_json_close(json, ']');
}

/* -- the system -------------------------------------------------------------------------------- */

static void put_number(mishap_buffer *json, const char *key, uint64_t number)
{
    mishap_json_key(json, mishap_text_of(key));
    if (number > INT64_MAX)
        mishap_json_null(json);
    else
        mishap_json_int(json, (int64_t)number);
}

/* A server raises the soft limit of open files to the hard one by itself. */
static bool put_system(mishap_buffer *json)
{
    struct utsname machine;
    struct rlimit files = { 0, 0 };
    bool known = uname(&machine) == 0;
    getrlimit(RLIMIT_NOFILE, &files);
    MISHAP_JSON_KEY(json, "system");
    mishap_json_open(json, '{');
    doctor_put_member(json, "kernel", known ? machine.release : NULL);
    doctor_put_member(json, "machine", known ? machine.machine : NULL);
    put_number(json, "files", files.rlim_cur);
    put_number(json, "most_files", files.rlim_max);
    put_number(json, "processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    MISHAP_JSON_KEY(json, "root");
    mishap_json_bool(json, geteuid() == 0);
    mishap_json_close(json, '}');
    return files.rlim_max >= FEWEST_FILES;
}

/* -- for a person ------------------------------------------------------------------------------ */

void doctor_say(mishap_buffer *b, const char *format, ...)
{
    char line[4300]; /* more than a path has */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    mishap_buffer_put_text(b, mishap_text_of(line));
}

/* A table would have no room for what to do. */
static size_t say_layers(mishap_buffer *b, const mishap_sandbox_report *report)
{
    size_t missing = 0;
    doctor_say(b, "Layers of the sandbox\n");
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++) {
        const mishap_sandbox_offer *offer = &report->offers[i];
        char reason[150];
        doctor_say(b, "  %s  %-10s  %s\n", offer->offered ? "ok     " : "MISSING", offer->name,
                   offer->what);
        if (offer->offered)
            continue;
        missing++;
        mishap_system_error(offer->error, reason, sizeof reason);
        doctor_say(b, "           why:  %s: %s\n           try:  %s\n", offer->step, reason,
                   offer->advice);
    }
    return missing;
}

static void say_system(mishap_buffer *b)
{
    struct utsname machine = { 0 };
    struct rlimit files = { 0, 0 };
    uname(&machine);
    getrlimit(RLIMIT_NOFILE, &files);
    doctor_say(b, "\nSystem\n  Linux %s, %s, %ld processors%s\n", machine.release, machine.machine,
               sysconf(_SC_NPROCESSORS_ONLN), geteuid() == 0 ? ", user root" : "");
    if (files.rlim_max == RLIM_INFINITY)
        doctor_say(b, "  A process may open any number of files.\n");
    else
        doctor_say(b, "  A process may open %ju files.\n", (uintmax_t)files.rlim_max);
}

static mishap *answer_text(mishap_call *call, const mishap_sandbox_report *report,
                           const doctor_unit *unit, const doctor_trial trials[DOCTOR_TRIALS],
                           bool works)
{
    mishap_buffer text = { 0 };
    size_t layers = say_layers(&text, report);
    doctor_say_unit(&text, unit, report);
    size_t programs = doctor_say_parts(&text);
    doctor_say_trials(&text, trials);
    say_system(&text);
    doctor_say(&text, "\n");
    if (report->missing)
        doctor_say(&text,
                   "Foreign programs, such as Lisp sessions, are refused: the sandbox is below its "
                   "minimum.\n");
    else if (layers)
        doctor_say(&text,
                   "The sandbox is above its minimum, with %zu of %d layers. Foreign programs run "
                   "in it.\n",
                   MISHAP_SANDBOX_LAYERS - layers, (int)MISHAP_SANDBOX_LAYERS);
    if (programs)
        doctor_say(&text,
                   "What needs a missing program or library answers NOT_CONFIGURED. Everything "
                   "else works.\n");
    if (!layers && !programs && works)
        doctor_say(&text, "Nothing is missing.\n");
    mishap *failure = text.failed ? mishap_out_of_memory()
                                  : mishap_answer_text(call, mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return failure;
}

/* -- the command ------------------------------------------------------------------------------- */

static mishap *run_doctor(mishap_call *call)
{
    mishap_buffer json = { 0 };
    doctor_trial trials[DOCTOR_TRIALS];
    doctor_unit unit;
    const mishap_sandbox_report *report = mishap_sandbox_probe();
    doctor_find_unit(&unit);
    doctor_try(call, (int)mishap_integer(call, "trial_seconds") * 1000, trials);
    mishap *broken = doctor_judge(trials);
    mishap *failure = mishap_sandbox_check(MISHAP_SANDBOX_STRICT);
    mishap_json_open(&json, '{');
    put_sandbox(&json, report);
    MISHAP_JSON_KEY(&json, "unit");
    doctor_put_unit(&json, &unit, report);
    MISHAP_JSON_KEY(&json, "programs");
    doctor_put_parts(&json);
    MISHAP_JSON_KEY(&json, "trials");
    doctor_put_trials(&json, trials);
    bool enough = put_system(&json);
    mishap_json_close(&json, '}');
    if (!failure && !enough)
        failure = mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "A process may not open %d files.", (int)FEWEST_FILES),
            "Raise the hard limit of open files (ulimit -Hn).");
    mishap *no_memory = tool_answer(call, &json);
    if (!no_memory)
        no_memory = answer_text(call, report, &unit, trials, !broken);
    doctor_release(trials);
    failure = failure ? mishap_because(failure, broken) : broken;
    return no_memory ? mishap_because(no_memory, failure) : failure;
}

static const mishap_param params[] = {
    { "trial_seconds", MISHAP_INTEGER, .range = { 1, 60 }, .initial = "10", .placeholder = "N",
      .help = "Seconds that each service has for its trial" },
    { 0 },
};

static const mishap_example examples[] = {
    { "doctor", "Check this machine" },
    { "doctor --trial-seconds 60", "Check a machine that is busy" },
    { 0 },
};

const mishap_operation tool_doctor = {
    .name = "doctor",
    .summary = "Check what this machine offers, and say what to do about the rest",
    .description = "The command tries each layer of the sandbox, in which foreign programs such "
                   "as Lisp sessions run. It looks for the programs and libraries that services "
                   "use, and names the Debian package of each that is missing. Then it calls each "
                   "service that depends on another program: Lisp, Python and the symbolic engine "
                   "have to give a known answer. Settings of services are read from the "
                   "environment, such as MISHAP_LISP_SBCL.\n\n"
                   "In a unit of systemd it names the options of the unit that cost a layer of the "
                   "sandbox.\n\n"
                   "It fails with NOT_CONFIGURED, exit code 78, if the sandbox is below its "
                   "minimum, if a process may open too few files, or if a service that is "
                   "installed does not work. docs/sandbox.md explains the layers.",
    .params = params,
    .run = run_doctor,
    .local = true,
    .raises = MISHAP_RAISES(NOT_CONFIGURED),
    .timeout_ms = 240 * 1000, /* more than three trials can take */
    .examples = examples,
    .group = "Server",
};
