/*
 * Operations: declare once what can be called, and every boundary gets it right.
 *
 *     static const mishap_param user_params[] = {
 *         { "name",  MISHAP_STRING,  .required = true, .length = { 1, 200 }, .help = "Full name" },
 *         { "age",   MISHAP_INTEGER, .range = { 0, 150 } },
 *         { "email", MISHAP_STRING,  .required = true, .pattern = ".*@.*\\..*" },
 *         { 0 }
 *     };
 *
 * From one declaration come the checks, a JSON Schema, the flags of a command, its manual and the
 * manifest. A declaration that is broken stops the program at its start, with a sentence that says
 * which operation and why. Patterns and defaults take longer to check: a command checks its own,
 * and a server, the help and the manual check all. What a handler does with its call is in
 * mishap/call.h.
 *
 * A declaration is data. It and everything that it points to stay the program's, must not change
 * while the program runs, and are read by any thread. A member that is NULL, 0 or false is not
 * said, and need not be, except for a name, a summary and the function to run.
 */
#ifndef MISHAP_OPERATION_H
#define MISHAP_OPERATION_H

#include <math.h>

#include "mishap/call.h"
#include "mishap/sandbox.h"

/*
 * Lists that end themselves, for declarations:
 *
 *     static const mishap_operation *const operations = MISHAP_OPERATIONS(
 *         { "users.create", "Create a user", .run = create_user,
 *           .params = MISHAP_PARAMS(
 *               { "name", MISHAP_STRING, .required = true },
 *               { "tags", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_STRING) }) });
 *
 * They live as long as the program where they stand outside of a function.
 */
#define MISHAP_PARAMS(...)     MISHAP_LIST_OF(const mishap_param, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_OPERATIONS(...) MISHAP_LIST_OF(const mishap_operation, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_EXAMPLES(...)   MISHAP_LIST_OF(const mishap_example, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_CHOICES(...)    MISHAP_LIST_OF(const char *const, __VA_ARGS__, NULL)
#define MISHAP_SERVICES(...)   MISHAP_LIST_OF(const mishap_service *const, __VA_ARGS__, NULL)
#define MISHAP_ITEM(...)       MISHAP_LIST_OF(const mishap_param, { "item", __VA_ARGS__ })
/* clang-format off */
#ifndef __cplusplus
#define MISHAP_LIST_OF(type, ...) ((type[]){ __VA_ARGS__ })
#define MISHAP_LIST_END           { 0 }
#else
#define MISHAP_LIST_OF(type, ...)                                                                  \
    ([]() -> type * {                                                                              \
        static type list[] = { __VA_ARGS__ };                                                      \
        return list;                                                                               \
    }())
#define MISHAP_LIST_END {}
#endif
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif

/* -- parameters -------------------------------------------------------------------------------- */

typedef enum mishap_type_of_param {
    MISHAP_STRING = 1,
    MISHAP_INTEGER,
    MISHAP_NUMBER, /* an integer or a real number */
    MISHAP_BOOLEAN,
    MISHAP_ENUM,   /* one of `choices` */
    MISHAP_ARRAY,  /* of `items` */
    MISHAP_OBJECT, /* with `members` */
} mishap_type_of_param;

/* One parameter. What is left out is not checked. A list of parameters ends with { 0 }. */
typedef struct mishap_param {
    const char *name; /* lower_snake; or camelCase, where an API that is mirrored has it: dueDate is
                         --due-date on a command line, and --dueDate works, too. `help` is not
                         possible: --help shows the help */
    mishap_type_of_param type;
    bool required;   /* missing, null and the empty string are all "not there" */
    bool secret;     /* of any type, also a member or items: no failure and no log shows it; on a
                        command line only from the environment or a file */
    bool positional; /* on a command line it may also stand without its flag, in the order of
                        declaration */
    bool file; /* a string that names a file: on a command line - and @FILE are taken as they stand
                */
    struct {
        size_t min, max; /* characters of a string, items of an array; max 0: no limit */
    } length;
    struct {
        double min, max; /* of a number, both included; { 0, 0 }: no limits; -INFINITY, INFINITY: no
                            limit on that side */
    } range;
    const char *pattern; /* a Perl-compatible regular expression, searched for in the string */
    const char *const *choices;         /* of an enum; the list ends with NULL */
    const struct mishap_param *items;   /* of an array: one parameter whose name is not used */
    const struct mishap_param *members; /* of an object: a list; NULL: any members */
    const char *initial;     /* the value where none is given, as JSON: "5000", "\"text\"" */
    const char *environment; /* on a command line: the variable to use where no flag gives it */
    char letter;             /* on a command line: a short flag, -p; -h is always --help */
    const char *help;        /* what it is, in a few words */
    const char *placeholder; /* how it is called in a usage line; else by its type */
    const char *looks;  /* what its pattern means, for people: "HOST:PORT, such as [::1]:80"; with
                           an article it is what the value must be: "a day of 2026" */
    const char *format; /* of a string, as JSON Schema names it: date, time, date-time, duration,
                           email, hostname, ipv4, ipv6, uri or uuid; 2026-02-31 is no date */
} mishap_param;

/* -- services ---------------------------------------------------------------------------------- */

/* How a program was started, for the services that it opens. */
typedef struct mishap_setup {
    const char *data; /* the folder for what must last: it is there, for this user only. The path
                         is to be copied if it is needed after open() */
    const char *identity; /* what has this identity is to be opened, and nothing is to be made: the
                             server runs already. "": the service names none. NULL: this is the
                             first time, and what is not there may be made */
    const mishap_call *settings; /* of the service that is opened, after the checks, for the getters
                             of a call: mishap_string(setup->settings, "folder"). What they return
                             lives until the service is closed; only the thread that opens may ask.
                             NULL: the service declares none */
    const char *config; /* for mishap_app_open() alone: settings of services as a JSON object, as
                           in the file of --config: {"lisp":{"folder":"/srv/lisp"}} */
    mishap_sandbox_mode sandbox; /* of the foreign programs that a service runs: strict, unless the
                                    operator has said `--sandbox weak` */
} mishap_setup;

/*
 * What a service says of itself in /health, beside whether it can be opened: the layers of its
 * sandbox, the version of an interpreter. A value is any that MISHAP_VALUE takes; `json` is any
 * JSON. Everybody can read it who reaches the server, so nothing private belongs there.
 */
typedef struct mishap_health mishap_health;
#define mishap_health_member(health, key, value)                                                   \
    mishap_health_member_value((health), (key),                                                    \
                               mishap_value_as_spelled(MISHAP_VALUE(value), #value))
void mishap_health_member_value(mishap_health *health, const char *key, mishap_value value);
void mishap_health_json(mishap_health *health, const char *key, const char *json);

/* The member `sandbox`: its mode, its layers and, below the minimum, those that are missing. */
void mishap_health_sandbox(mishap_health *health);

enum { MISHAP_IDENTITY_LIMIT = 80 }; /* bytes of an identity, with its end */

/*
 * Operations that share something which must be opened first, such as a store. It is opened once in
 * a process, before the first call of one of its operations, and closed at the end. A server runs
 * calls in several processes, one call at a time in each, unless the service is `alone`.
 *
 * open() puts into *state what mishap_state() returns, or returns a mishap, which becomes the
 * library's; `setup` is there during the call alone. Only one thread at a time opens or closes a
 * service. A function that is NULL is not called.
 */
typedef struct mishap_service {
    const char *name; /* "todo" */
    const char *summary;
    mishap *(*open)(const mishap_setup *setup, void **state);
    void (*close)(void *state);
    const char *(*identity)(void *state); /* names what was opened, such as a random number that a
                             store keeps. A server that runs opens the same again or nothing, so
                             that its data is never in two places. NULL: it has none */
    const char *dialect; /* in which its failures are told to an agent: tool-result,
                            condition-report or artifact; NULL: tool-result */
    const struct mishap_foreign *worker; /* the foreign program that runs its calls
                                            (mishap/worker.h); NULL: none */
    bool alone; /* it keeps its state in memory: a server runs its operations in one process, one at
                   a time, and the state is lost when a call ends that process. Else it opens the
                   service in several */
    const mishap_code *const *raises; /* MISHAP_RAISES(UNAVAILABLE): what each of its operations may
                                         raise, beyond what that operation declares */
    const mishap_param *settings; /* what an operator can set, declared like parameters: a setting
                   `folder` of the service `lisp` is the flag --lisp-folder, the variable
                   NAME_LISP_FOLDER of the program NAME, and the member {"lisp":{"folder":…}} of the
                   file that --config names; the first of these counts, else `.initial`. Names are
                   lower_snake; `.letter`, `.positional` and `.environment` are for parameters
                   alone. NULL: none */
    mishap *(*prepare)(const mishap_setup *setup); /* reads the settings that shape the declaration
                   of its foreign program, and may change that and all it points to, which are not
                   const then. It is called before that program is started and, in a server, before
                   other processes are. It can be called again, with the same settings. What it
                   returns is as of open(). NULL: nothing to read */
    void (*health)(const mishap_setup *setup, mishap_health *health); /* says its part of /health.
                   It is called once, when the server starts, before it listens, and what it says
                   holds until the server ends: so /health never waits. NULL: nothing to say */
} mishap_service;

/* -- operations -------------------------------------------------------------------------------- */

typedef enum mishap_danger {
    MISHAP_BY_ROUTE,    /* not said: DELETE can destroy something, POST, PUT and PATCH change
                           something; GET and what has no route change nothing */
    MISHAP_SAFE,        /* changes nothing */
    MISHAP_MUTATING,    /* changes something */
    MISHAP_DESTRUCTIVE, /* can destroy something */
} mishap_danger;

typedef struct mishap_example {
    const char *command; /* without the program's name: "users create --name Ada --age 36" */
    const char *what;
} mishap_example;

typedef struct mishap_operation {
    const char *name;    /* "users.create": on a command line `users create` */
    const char *summary; /* a few words, without a full stop */
    const mishap_param *params;
    mishap *(*run)(mishap_call *call);

    const char *route; /* "POST /users", for HTTP. `:id` is a segment that is the value of
                          the parameter `id`; `{path...}` or `:path...`, at the end, is one or more
                          segments with the slashes between them */
    const mishap_code *const *raises; /* MISHAP_RAISES(NOT_FOUND, …): beyond what its service and
                                         its program declare, and what any operation may raise */
    mishap_danger danger;
    int timeout_ms;                 /* 0: the program's default */
    const char *description;        /* some paragraphs for the manual; may be NULL */
    const mishap_example *examples; /* the list ends with { 0 } */
    const char *group;              /* a heading for lists of commands; may be NULL */

    const char *tool; /* its name for agents: "create_user"; NULL: `users_create`, or, if it is a
                         prompt, no tool */
    const char *resource; /* its address for agents that read it: "todo://todos/{id}", where {id} is
                             a parameter; NULL: none */
    const char *prompt;   /* its name as a prompt, whose arguments are its parameters; NULL: none */
    bool local; /* for the command line alone: it reads files or is about the program itself */
    const mishap_service *service; /* whose state it works on; may be NULL */
    const mishap_param *answers;   /* the members of the object it answers with; NULL: not said */
    int status;                    /* of HTTP, when it works: 200, 201, 202 or 204; 0: 200 */
    bool quick;     /* it takes microseconds and waits for nothing: a server runs it at once, in the
                       process that serves */
    bool stateless; /* without a service: it keeps nothing from call to call, so a server may run
                       several calls at once, in several processes */
    bool chaos;     /* it fails on purpose, for drills: a server has it only if it is told so */
    const char *answers_type;   /* the media type that it answers with, by mishap_answer_bytes() or
                                   mishap_stream(): "image/png"; NULL: JSON */
    const char *takes;          /* the media types of a body that it takes as bytes (mishap_body()),
                                   with commas between: "text/csv, application/pdf"; a star stands
                                   for any kind or name; NULL: JSON alone */
    const char *const *headers; /* the header fields that its handler reads, mishap_header(); the
                                   list ends with NULL. Only these are kept of a request */
    bool resident; /* it stays until it is told to end, minds signals and time itself, and owns
                      standard output: not contained, no timeout */
} mishap_operation;

/* The codes that an operation, a service or a program declares: up to twelve bare names. The table
 * of each must have been added (mishap_catalog_add). */
#define MISHAP_RAISES(...) MISHAP_LIST_OF(const mishap_code *const, MISHAP_EACH(__VA_ARGS__) NULL)
#define MISHAP_EACH(...)                                                                           \
    MISHAP_EACH_OF(__VA_ARGS__, MISHAP_EACH_12, MISHAP_EACH_11, MISHAP_EACH_10, MISHAP_EACH_9,     \
                   MISHAP_EACH_8, MISHAP_EACH_7, MISHAP_EACH_6, MISHAP_EACH_5, MISHAP_EACH_4,      \
                   MISHAP_EACH_3, MISHAP_EACH_2, MISHAP_EACH_1, )                                  \
    (__VA_ARGS__)
#define MISHAP_EACH_OF(a, b, c, d, e, f, g, h, i, j, k, l, each, ...) each
/* clang-format off */
#define MISHAP_EACH_1(code) MISHAP_CODE_##code,
#define MISHAP_EACH_2(code, ...) MISHAP_CODE_##code, MISHAP_EACH_1(__VA_ARGS__)
#define MISHAP_EACH_3(code, ...) MISHAP_CODE_##code, MISHAP_EACH_2(__VA_ARGS__)
#define MISHAP_EACH_4(code, ...) MISHAP_CODE_##code, MISHAP_EACH_3(__VA_ARGS__)
#define MISHAP_EACH_5(code, ...) MISHAP_CODE_##code, MISHAP_EACH_4(__VA_ARGS__)
#define MISHAP_EACH_6(code, ...) MISHAP_CODE_##code, MISHAP_EACH_5(__VA_ARGS__)
#define MISHAP_EACH_7(code, ...) MISHAP_CODE_##code, MISHAP_EACH_6(__VA_ARGS__)
#define MISHAP_EACH_8(code, ...) MISHAP_CODE_##code, MISHAP_EACH_7(__VA_ARGS__)
#define MISHAP_EACH_9(code, ...) MISHAP_CODE_##code, MISHAP_EACH_8(__VA_ARGS__)
#define MISHAP_EACH_10(code, ...) MISHAP_CODE_##code, MISHAP_EACH_9(__VA_ARGS__)
#define MISHAP_EACH_11(code, ...) MISHAP_CODE_##code, MISHAP_EACH_10(__VA_ARGS__)
#define MISHAP_EACH_12(code, ...) MISHAP_CODE_##code, MISHAP_EACH_11(__VA_ARGS__)
/* clang-format on */

/* A program: what it is called and what it can do. */
typedef struct mishap_app {
    const char *name;    /* "directory": the command */
    const char *version; /* "1.0" */
    const char *summary;
    const mishap_operation *operations; /* the list ends with { 0 } */
    void *state;
    int timeout_ms;                   /* for operations that declare none; 0: 30 seconds */
    const char *license;              /* "MIT", for the description of its API; may be NULL */
    const mishap_code *const *raises; /* what each of its operations may raise, beyond what the
                                         operation and its service declare */
    const mishap_service *const
        *services; /* MISHAP_SERVICES(&lisp_service, …): their settings are known also where no
                      operation names the service; those that operations name need not be listed */
} mishap_app;

/* -- checking by itself ------------------------------------------------------------------------ */

/*
 * The rule checks over a JSON object, as a list of calls that collects every failure:
 *
 *     mishap_requirements *v = mishap_require_begin(json, length);
 *     mishap_require_fields(v, "name", "email", NULL);
 *     mishap_require_type(v, "age", MISHAP_INTEGER);
 *     mishap_require_range(v, "age", 0, 150);
 *     mishap_require_pattern(v, "email", ".*@.*\\..*");
 *     return mishap_require_end(v);
 *
 * Any thread may check, each with a list of its own. The JSON is read at once and not needed any
 * longer. Without memory mishap_require_begin() returns NULL, which all of them take: then
 * mishap_require_end() says so. A field or a pattern that is NULL is no rule.
 */
typedef struct mishap_requirements mishap_requirements;
mishap_requirements *mishap_require_begin(const char *json, size_t length);
void mishap_require_fields(mishap_requirements *v, const char *field, ...)
    __attribute__((sentinel));
void mishap_require_type(mishap_requirements *v, const char *field, mishap_type_of_param type);
void mishap_require_length(mishap_requirements *v, const char *field, size_t min, size_t max);
void mishap_require_range(mishap_requirements *v, const char *field, double min, double max);
void mishap_require_pattern(mishap_requirements *v, const char *field, const char *pattern);

/* NULL if all hold; else one VALIDATION_ERROR with every finding, or BAD_REQUEST if the text is no
 * JSON object. The mishap is the caller's. Frees `v`. */
mishap *mishap_require_end(mishap_requirements *v);

#ifdef __cplusplus
}
#endif

#endif
