/* mishap doctor: what this machine offers for the services, and what to do about the rest. */
#include "tool.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/system.h"
#include "lisp/lisp.h"
#include "mishap/sandbox.h"
#include "python/python.h"
#include "symbolic/symbolic.h"

/* -- what services use ------------------------------------------------------------------------- */

/* A service that uses a program or a library of the system adds a line. A name with ".so" in it is
 * a library; what sessions of Lisp are started from (".core"), what runs Python and what analyses
 * it are made where Mishap is built with the packages; any other is a program in the path. */
static const struct thing {
    const char *name, *use, *package;
} things[] = {
    { "sbcl", "evaluating Lisp", "sbcl" },
    { "mishap-lisp.core", "evaluating Lisp", "sbcl" },
    { "python3", "running Python", "python3" },
    { "mishap-python", "running Python", "python3-dev" },
    { "libpq.so.5", "a store in PostgreSQL", "libpq5" },
    { "libz3.so.4", "symbolic checks", "libz3-4" },
    { "libcvc5.so.1", "symbolic checks, second solver", "libcvc5-1" },
    { "mishap-symbolic", "symbolic checks", "libz3-dev libcvc5-dev g++" },
    { "libdw.so.1", "lines of source code in stacks", "libdw1" },
};

enum { LONGEST_PATH = 4096, FEWEST_FILES = 1024 };

static bool find_program(const char *name, char *path, size_t size)
{
    const char *all = getenv("PATH"), *end;
    for (const char *folder = all ? all : "/usr/bin:/bin"; folder; folder = end ? end + 1 : NULL) {
        end = strchr(folder, ':');
        int length = end ? (int)(end - folder) : (int)strlen(folder);
        int written = snprintf(path, size, "%.*s/%s", length, folder, name);
        if (length && (size_t)written < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* The path of a library in the cache of the dynamic loader, in which all paths are texts. */
static bool find_in_cache(const char *cache, size_t length, const char *name, char *path,
                          size_t size)
{
    char wanted[100];
    size_t count = (size_t)snprintf(wanted, sizeof wanted, "/%s", name) + 1;
    const char *found = memmem(cache, length, wanted, count), *start = found;
    while (start && start > cache && start[-1])
        start--;
    return found && (size_t)snprintf(path, size, "%s", start) < size && access(path, R_OK) == 0;
}

/* To load a library only to see that it is there would run what it does at its start. */
static bool find_library(const char *name, char *path, size_t size)
{
    struct stat status;
    bool found = false;
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        size_t length = (size_t)status.st_size;
        void *cache = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
        found = cache != MAP_FAILED && find_in_cache(cache, length, name, path, size);
        if (cache != MAP_FAILED)
            munmap(cache, length);
    }
    close(file);
    return found;
}

static void put_member(mishap_buffer *json, const char *key, const char *text)
{
    mishap_json_key(json, mishap_text_of(key));
    if (text)
        mishap_json_string(json, mishap_text_of(text));
    else
        mishap_json_null(json);
}

static bool find(const char *name, char *path, size_t size)
{
    bool core = strstr(name, ".core"), python = strcmp(name, "mishap-python") == 0;
    bool engine = strcmp(name, "mishap-symbolic") == 0;
    const char *ours = core ? lisp_core() : python ? python_program() : NULL;
    if (engine)
        ours = symbolic_program();
    if (core || python || engine)
        return ours && (size_t)snprintf(path, size, "%s", ours) < size;
    return strstr(name, ".so") ? find_library(name, path, size) : find_program(name, path, size);
}

static void put_thing(mishap_buffer *json, const struct thing *thing)
{
    char path[LONGEST_PATH];
    bool found = find(thing->name, path, sizeof path);
    mishap_json_open(json, '{');
    put_member(json, "name", thing->name);
    MISHAP_JSON_KEY(json, "found");
    mishap_json_bool(json, found);
    put_member(json, "path", found ? path : NULL);
    put_member(json, "use", thing->use);
    put_member(json, "package", thing->package);
    mishap_json_close(json, '}');
}

/* -- the sandbox ------------------------------------------------------------------------------- */

static void put_layer(mishap_buffer *json, const mishap_sandbox_offer *offer)
{
    char words[200], reason[150];
    mishap_system_error(offer->error, reason, sizeof reason);
    snprintf(words, sizeof words, "%s: %s", offer->offered ? "" : offer->step, reason);
    mishap_json_open(json, '{');
    put_member(json, "layer", offer->name);
    MISHAP_JSON_KEY(json, "offered");
    mishap_json_bool(json, offer->offered);
    put_member(json, "what", offer->what);
    if (!offer->offered) {
        put_member(json, "why_not", words);
        put_member(json, "advice", offer->advice);
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
    put_member(json, "kernel", known ? machine.release : NULL);
    put_member(json, "machine", known ? machine.machine : NULL);
    put_number(json, "files", files.rlim_cur);
    put_number(json, "most_files", files.rlim_max);
    put_number(json, "processors", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    MISHAP_JSON_KEY(json, "root");
    mishap_json_bool(json, geteuid() == 0);
    mishap_json_close(json, '}');
    return files.rlim_max >= FEWEST_FILES;
}

/* -- for a person ------------------------------------------------------------------------------ */

static void say(mishap_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(mishap_buffer *b, const char *format, ...)
{
    char line[LONGEST_PATH + 200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    mishap_buffer_put_text(b, mishap_text_of(line));
}

static const char *mark(bool found)
{
    return found ? "ok     " : "MISSING";
}

/* A table would have no room for what to do. */
static size_t say_layers(mishap_buffer *b, const mishap_sandbox_report *report)
{
    size_t missing = 0;
    say(b, "Layers of the sandbox\n");
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++) {
        const mishap_sandbox_offer *offer = &report->offers[i];
        char reason[150];
        say(b, "  %s  %-10s  %s\n", mark(offer->offered), offer->name, offer->what);
        if (offer->offered)
            continue;
        missing++;
        mishap_system_error(offer->error, reason, sizeof reason);
        say(b, "           why:  %s: %s\n           try:  %s\n", offer->step, reason,
            offer->advice);
    }
    return missing;
}

static size_t say_things(mishap_buffer *b)
{
    char path[LONGEST_PATH];
    size_t missing = 0;
    say(b, "\nPrograms and libraries\n");
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        bool found = find(things[i].name, path, sizeof path);
        say(b, "  %s  %-16s  %s\n", mark(found), things[i].name, things[i].use);
        if (found)
            say(b, "           %s\n", path);
        else if (strstr(things[i].name, ".core"))
            say(b,
                "           try:  Install the package %s, then build and install Mishap again.\n",
                things[i].package);
        else
            say(b, "           try:  Install the package %s.\n", things[i].package);
        missing += !found;
    }
    return missing;
}

static void say_system(mishap_buffer *b)
{
    struct utsname machine = { 0 };
    struct rlimit files = { 0, 0 };
    uname(&machine);
    getrlimit(RLIMIT_NOFILE, &files);
    say(b, "\nSystem\n  Linux %s, %s, %ld processors%s\n", machine.release, machine.machine,
        sysconf(_SC_NPROCESSORS_ONLN), geteuid() == 0 ? ", user root" : "");
    if (files.rlim_max == RLIM_INFINITY)
        say(b, "  A process may open any number of files.\n");
    else
        say(b, "  A process may open %ju files.\n", (uintmax_t)files.rlim_max);
}

static mishap *answer_text(mishap_call *call, const mishap_sandbox_report *report)
{
    mishap_buffer text = { 0 };
    size_t layers = say_layers(&text, report), programs = say_things(&text);
    say_system(&text);
    say(&text, "\n");
    if (report->missing)
        say(&text, "Foreign programs, such as Lisp sessions, are refused: the sandbox is below its "
                   "minimum.\n");
    else if (layers)
        say(&text,
            "The sandbox is above its minimum, with %zu of %d layers. Foreign programs run "
            "in it.\n",
            MISHAP_SANDBOX_LAYERS - layers, (int)MISHAP_SANDBOX_LAYERS);
    if (programs)
        say(&text, "What needs a missing program or library answers NOT_CONFIGURED. Everything "
                   "else works.\n");
    if (!layers && !programs)
        say(&text, "Nothing is missing.\n");
    mishap *failure = text.failed ? mishap_out_of_memory()
                                  : mishap_answer_text(call, mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return failure;
}

/* -- the command ------------------------------------------------------------------------------- */

static mishap *run(mishap_call *call)
{
    mishap_buffer json = { 0 };
    const mishap_sandbox_report *report = mishap_sandbox_probe();
    mishap *failure = mishap_sandbox_check(MISHAP_SANDBOX_STRICT);
    mishap_json_open(&json, '{');
    put_sandbox(&json, report);
    MISHAP_JSON_KEY(&json, "programs");
    mishap_json_open(&json, '[');
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        put_thing(&json, &things[i]);
    mishap_json_close(&json, ']');
    bool enough = put_system(&json);
    mishap_json_close(&json, '}');
    if (!failure && !enough)
        failure = mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "A process may not open %d files.", (int)FEWEST_FILES),
            "Raise the hard limit of open files (ulimit -Hn).");
    mishap *no_memory = tool_answer(call, &json);
    if (!no_memory)
        no_memory = answer_text(call, report);
    return no_memory ? mishap_because(no_memory, failure) : failure;
}

static const mishap_example examples[] = {
    { "doctor", "Check this machine" },
    { 0 },
};

const mishap_operation tool_doctor = {
    .name = "doctor",
    .summary = "Check what this machine offers, and say what to do about the rest",
    .description = "The command tries each layer of the sandbox, in which foreign programs such "
                   "as Lisp sessions run. It looks for the programs and libraries that services "
                   "use, and names the Debian package of each that is missing.\n\n"
                   "It fails with NOT_CONFIGURED, exit code 78, if the sandbox is below its "
                   "minimum, or if a process may open too few files. docs/sandbox.md explains the "
                   "layers.",
    .run = run,
    .local = true,
    .raises = MISHAP_RAISES(NOT_CONFIGURED),
    .timeout_ms = 30000,
    .examples = examples,
    .group = "Server",
};
