/*
 * Operations: declare an operation once, and call it on every boundary.
 *
 *     static const mishap_param user_params[] = {
 *         { "name",  MISHAP_STRING,  .required = true, .length = { 1, 200 }, .help = "Full name" },
 *         { "age",   MISHAP_INTEGER, .range = { 0, 150 } },
 *         { "email", MISHAP_STRING,  .required = true, .pattern = ".*@.*\\..*" },
 *         { 0 }
 *     };
 *
 * The library derives the checks, a JSON Schema, the flags of a command, its manual and the
 * manifest from one declaration. If a declaration is not valid, the program exits at its start with
 * a sentence that names the operation and the reason. Patterns and defaults take longer to check: a
 * command checks its own; a server, the help and the manual check all. The functions for handlers
 * are in mishap/call.h.
 *
 * A declaration is data. The program owns it and everything that it points to. It must not change
 * while the program runs, and any thread may read it. A member that is NULL, 0 or false is not set.
 * All members are optional except the name, the summary and the function to run.
 */
#ifndef MISHAP_OPERATION_H
#define MISHAP_OPERATION_H

#include <math.h>

#include "mishap/call.h"
#include "mishap/icon.h"
#include "mishap/relation.h"
#include "mishap/sandbox.h"
#include "mishap/scope.h"

/*
 * Macros for lists in declarations. They add the end of the list:
 *
 *     static const mishap_operation *const operations = MISHAP_OPERATIONS(
 *         { "users.create", "Create a user", .run = create_user,
 *           .params = MISHAP_PARAMS(
 *               { "name", MISHAP_STRING, .required = true },
 *               { "tags", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_STRING) }) });
 *
 * A list that is defined outside of a function lives as long as the program.
 */
#define MISHAP_PARAMS(...)     MISHAP_LIST_OF(const mishap_param, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_OPERATIONS(...) MISHAP_LIST_OF(const mishap_operation, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_EXAMPLES(...)   MISHAP_LIST_OF(const mishap_example, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_ASKS(...)       MISHAP_LIST_OF(const mishap_question, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_CHOICES(...)    MISHAP_LIST_OF(const char *const, __VA_ARGS__, NULL)
#define MISHAP_SERVICES(...)   MISHAP_LIST_OF(const mishap_service *const, __VA_ARGS__, NULL)
#define MISHAP_SCOPES(...)     MISHAP_LIST_OF(const mishap_scope, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_ICONS(...)      MISHAP_LIST_OF(const mishap_icon, __VA_ARGS__, MISHAP_LIST_END)
/* clang-format off */
#if defined __cplusplus && __cplusplus < 202002L /* no names of members before C++20, … */
#define MISHAP_ITEM(...) MISHAP_LIST_OF(const mishap_param, { "item", __VA_ARGS__ })
#else /* … and either all or none of them since then */
#define MISHAP_ITEM(...) MISHAP_LIST_OF(const mishap_param, { .name = "item", .type = __VA_ARGS__ })
#endif
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
    MISHAP_ENUM,           /* one of `choices` */
    MISHAP_DECIMAL,        /* an exact decimal, as a string: "12.50" (mishap/types.h) */
    MISHAP_DECIMAL_NUMBER, /* an exact decimal of at most 15 digits, as a number: 12.5 */
    MISHAP_MONEY,          /* a string: "12.50 EUR"; `choices`: the currencies that are allowed */
    MISHAP_TIMESTAMP,      /* a string, RFC 3339: "2026-02-28T18:30:00+01:00" */
    MISHAP_DATE,           /* a string: "2026-02-28" */
    MISHAP_DURATION,       /* a string, RFC 3339, appendix A: "P1DT12H" */
    MISHAP_UUID,           /* a string: "01234567-89ab-7def-8123-456789abcdef" */
    MISHAP_BYTES,          /* a string of base64; `length` counts bytes */
    MISHAP_FILE,           /* the bytes of a file: a part of a form over HTTP, the path of a file on
                              a command line, base64 text in JSON and for an agent; `length` counts
                              bytes */
    MISHAP_ARRAY,          /* of `items`; this type and those after it have values in them */
    MISHAP_OBJECT,         /* with `members` */
    MISHAP_MAP,            /* an object with any names, whose values are `items` */
} mishap_type_of_param;

/* One parameter. Members that are not set are not checked. A list of parameters ends with { 0 }. */
typedef struct mishap_param {
    const char *name; /* lower_snake, or camelCase to match an existing API: dueDate is --due-date
                         on a command line, and --dueDate works, too. `help` is not allowed, because
                         --help shows the help */
    mishap_type_of_param type;
    bool required; /* a missing value, null and the empty string are refused */
    bool secret; /* for any type, also for members and items: errors and logs never show the value;
                    on a command line it comes only from the environment, a file or standard input
                  */
    bool positional; /* on a command line the value may also be given without its flag, in the order
                        of declaration */
    bool file; /* a string that names a file: on a command line, the values - and @FILE are passed
                  on unchanged */
    bool rest; /* an array of strings: on a command line it takes all words behind `--`, unchanged,
                  such as the command line of another program. An operation has at most one */
    struct {
        size_t min, max; /* characters of a string, bytes of a file or of MISHAP_BYTES, items of an
                            array, members of a map; max 0: no limit */
    } length;
    struct {
        double min, max; /* of a number, a decimal or an amount of money, inclusive; { 0, 0 }: no
                            limits; -INFINITY or INFINITY: no limit on that side. For a decimal
                            0.1 is exactly 0.1 */
    } range;
    const char *pattern; /* a Perl-compatible regular expression, searched for in the string */
    const char *const *choices;         /* of an enum; the list ends with NULL */
    const struct mishap_param *items;   /* of an array or a map: one parameter whose name is not
                                           used; NULL: any items */
    const struct mishap_param *members; /* of an object: a list; NULL: any members */
    const char *initial;                /* the default value, as JSON: "5000", "\"text\"" */
    const char *environment; /* on a command line: the variable to read if no flag is given */
    char letter;             /* on a command line: a short flag, -p; -h is always --help */
    const char *help;        /* a short description */
    const char *placeholder; /* stands for its value in a usage line; NULL: its choices, its name or
                                the name of its type */
    const char *looks;  /* the meaning of the pattern, for people: "HOST:PORT, such as [::1]:80";
                           with an article the message is "must be a day of 2026" */
    const char *format; /* of a string, as JSON Schema names it: date, time, date-time, duration,
                           email, hostname, ipv4, ipv6, uri or uuid; 2026-02-31 is not a date */
    int scale; /* of a decimal: how many digits it has after the point at most; handlers get every
                  value with this scale, 12.5 as { 1250, 2 }. 0: up to 18, as it was sent */
    bool nullable; /* null is a value of its own, such as "remove it": the schema allows it, and no
                      default takes its place. Without it, null counts as not given */
    bool unique;   /* of an array: no item occurs twice */
    const mishap_relation *rules; /* of an object: MISHAP_RULES(…) about its members; NULL: none */
    bool streamed; /* of a file: the handler starts when the head of the file is known, and reads
                      its bytes with mishap_file_read() while they arrive. The file may be larger
                      than memory: `length.max` is needed. It is the last part of a form */
    const char *schema; /* further words of JSON Schema for readers of its schema, as a JSON object:
                           "{\"examples\":[\"Berlin\"]}". They describe the value; only the members
                           above are checked, and no word may repeat one of those */
    const char *header; /* "Region": agents repeat the value in the header Mcp-Param-Region, which
                           proxies can read; the server checks that both are the same. Of a string,
                           an enum, an integer or a boolean */
} mishap_param;

/* -- services ---------------------------------------------------------------------------------- */

/* How a program was started, for the services that it opens. */
typedef struct mishap_setup {
    const char *data; /* the folder for persistent data. It exists, and only this user can access
                         it. Copy the path if it is needed after open() */
    const char *identity; /* open the store with this identity and do not create a new one, because
                             the server is already running. "": the service has no identity. NULL:
                             the service is opened for the first time, and may create its store */
    const mishap_call *settings; /* of the service that is opened, after the checks, for the getters
                                    of a call: mishap_string(setup->settings, "folder"). The values
                                    live until the service is closed; only the thread that opens the
                                    service may read them. NULL: the service declares no settings */
    const char *config; /* only for mishap_app_open(): settings of services as a JSON object, as in
                           the file of --config: {"lisp":{"folder":"/srv/lisp"}} */
    mishap_sandbox_mode sandbox; /* of the foreign programs that a service runs: strict, unless the
                                    operator has said `--sandbox weak` */
    bool log; /* only for mishap_app_open(): record each failure of mishap_invoke() in the log of
                 the program, NAME.log in the state folder of the user, or where NAME_LOG says */
    int stale_ms; /* how far behind the primary a standby of PostgreSQL may be to run the reads of
                     operations that are `.stale`, in milliseconds; 0: all queries go to the
                     primary */
} mishap_setup;

/*
 * What a service says of itself in /health, beside whether it can be opened: the layers of its
 * sandbox, the version of an interpreter. A value is any that MISHAP_VALUE takes; `json` is any
 * JSON. Every client of the server can read it, so nothing private belongs there.
 */
typedef struct mishap_health mishap_health;
#define mishap_health_member(health, key, value)                                                   \
    mishap_health_member_value((health), (key),                                                    \
                               mishap_value_as_spelled(MISHAP_VALUE(value), #value))
void mishap_health_member_value(mishap_health *health, const char *key, mishap_value value);
void mishap_health_json(mishap_health *health, const char *key, const char *json);

/* The member `sandbox`: its mode, its layers and, below the minimum, those that are missing. */
void mishap_health_sandbox(mishap_health *health);

enum { MISHAP_IDENTITY_LIMIT = 80 }; /* bytes of an identity, including its NUL */

/*
 * How a service settles the changes of several calls at once, such as with one commit of a
 * database. A server runs the calls of such a service one after the other in one process. Calls
 * that wait are one batch: each is run, then settle() settles all of them, and only then their
 * answers leave, and so do changes (mishap_changed), progress, log messages to the client and
 * pieces of streams. A command, mishap_invoke() and a server with `--handlers 0` call settle()
 * after each call. `--handler-batch N` sets the most calls of a batch, 64 by default.
 *
 *     begin()    SAVEPOINT call, after a BEGIN if no transaction is open
 *     handler
 *     end()      RELEASE call, or ROLLBACK TO call and RELEASE call
 *     … the same for each call of the batch
 *     settle()   COMMIT
 *
 * begin() and end() run as a part of the call, on its thread, and may use it (mishap_state). If
 * begin() fails, the call fails in the same way, and neither its handler nor end() is called. If
 * the call before crashed in this process, its end() was not called: begin() undoes it first.
 *
 * end() is called with `keep` if the call worked. Else it must undo all that the call did. This
 * also includes calls whose answer does not match the declaration. If end() fails to keep a call,
 * the call fails in the same way, and end() is called again to undo it. If end() fails to undo a
 * call, the process ends without settling anything.
 *
 * settle() returns NULL if all that was kept since the last settle() is durable. Otherwise nothing
 * of it may be left, and each call of the batch fails with the code and the text of this failure,
 * also a call that failed before: it saw changes that are undone. The operations must declare the
 * code, apart from UNAVAILABLE, NOT_CONFIGURED, TIMEOUT and INTERNAL_ERROR. settle() may take 10
 * seconds.
 *
 * If the process dies, calls without an answer are run again in another process, each in a batch of
 * its own, with the same mishap_call_id(). The call that ran when its handler crashed, exited or
 * was out of time is not run again, but fails; nothing of it is settled, so such a timeout is
 * retryable. The process may have died after settle() and before the answer. Therefore such a
 * service stores the id of each call with its changes, and looks it up if mishap_call_is_repeated()
 * is true: a call that is found was settled, and is answered without running it again.
 *
 * apart() says which calls take long and are no part of a batch, such as those that run code of
 * callers. Such a call is run like one of a service without a settlement: by one of several
 * processes, without begin(), end() and settle(). apart() is called after the checks and before the
 * handler, perhaps more than once and in any process; it only reads parameters.
 *
 * begin(), end() and apart() can be NULL. settle() can be NULL only if apart() is the one function
 * that is given. Then nothing is settled: the calls that are apart run in processes of their own,
 * and no other call waits for them. close() must not settle anything.
 */
typedef struct mishap_settlement {
    mishap *(*begin)(mishap_call *call);
    mishap *(*end)(mishap_call *call, bool keep);
    mishap *(*settle)(void *state);
    bool (*apart)(const mishap_call *call);
} mishap_settlement;

struct mishap_operation;

/*
 * A small call that shows whether a service works, for one that depends on another program:
 *
 *     static const mishap_trial trial = { &operations[0], "{\"code\":\"1 + 2\"}", "value", "3" };
 *
 * A server runs it when /ready or /health is first requested, in the background and like any other
 * call, and again after failures. What came of it is told at /ready and /health, as one of a few
 * constant sentences; the reasons go to the log. The operation belongs to the service; it need not
 * be in the list of the program. It must not change anything that a caller could notice.
 */
typedef struct mishap_trial {
    const struct mishap_operation *operation;
    const char *arguments; /* a JSON object */
    const char *member;    /* of the answer, and */
    const char *expected;  /* what it must be, as compact JSON */
} mishap_trial;

/*
 * A service: operations that share a state which must be opened first, such as a store. A process
 * opens the service once, before the first call of one of its operations, and closes it at the end.
 * A server runs calls in several processes, one call at a time in each, unless the service is
 * `alone`.
 *
 * open() sets *state, which mishap_state() then returns, or it returns a mishap, which the library
 * then owns. `setup` is valid only during the call. Only one thread at a time opens or closes a
 * service. A function that is NULL is not called.
 */
typedef struct mishap_service {
    /* -- every boundary ------------------------------------------------------------------------ */

    const char *name;                                         /* "todo" */
    const char *summary;                                      /* a few words; may be NULL */
    mishap *(*open)(const mishap_setup *setup, void **state); /* see above */
    void (*close)(void *state);                               /* closes what open() has set */

    /* The identity of the opened state, such as a random number that is stored in a database. A
     * running server reopens only a store with the same identity, so that its data is never in two
     * places. NULL: no identity. */
    const char *(*identity)(void *state);

    /* MISHAP_RAISES(UNAVAILABLE): codes that each of its operations may raise, in addition to those
     * that the operation declares. */
    const mishap_code *const *raises;

    /* Settings for the operator, declared like parameters: a setting `folder` of the service `lisp`
     * is the flag --lisp-folder (or --folder, if no other flag of the command and no other service
     * has that name), the variable NAME_LISP_FOLDER of the program NAME, and the member
     * {"lisp":{"folder":…}} of the file that --config names; the first of these that is given is
     * used, else `.initial`. Names are lower_snake; `.letter`, `.positional` and `.environment` are
     * only for parameters. NULL: no settings. */
    const mishap_param *settings;

    /* Reads the settings that shape the declaration of its foreign program. It may change that
     * declaration and everything it points to, which are not const then. It is called before the
     * program is started and, in a server, before other processes are. It can be called again, with
     * the same settings. Its failures are treated like those of open(). It may also set or clear
     * `.settlement` of its service, which is not const then. NULL: nothing to read. */
    mishap *(*prepare)(const mishap_setup *setup);

    /* Is called for each failure of one of its operations before a caller gets it, also for those
     * that no handler knows of: wrong arguments, a timeout, a process that died. It may add to the
     * failure (mishap_tell, mishap_type, mishap_suggest); it must not free it. It can be called
     * twice for a failure, on any thread and in the process that serves: it must be quick. NULL:
     * nothing to add. */
    void (*amend)(const struct mishap_operation *operation, mishap *failure);

    /* Its operations act for the caller, also if there are no API keys. The caller can then name
     * itself: with the header X-Caller over HTTP, with --caller on the command line and of `mcp`. A
     * name is like that of a key. A server accepts it only on a loopback address, from this
     * machine, and while no key exists; a command accepts it while no key exists. Otherwise a
     * caller is who its key says, and another name is refused. */
    bool names_callers;

    /* `.scope` of its operations that declare none and are not `.operator_only`. NULL: none. */
    const char *scope;

    /* The foreign program that runs its calls (mishap/worker.h); NULL: none. */
    const struct mishap_foreign *worker;

    /* -- HTTP ---------------------------------------------------------------------------------- */

    /* The format of its errors over HTTP: http-api, tool-result, artifact, problem, json-api or
     * google-rpc; NULL: http-api. It is the format of every failure of a request whose path is
     * below the fixed part of one of its routes: of `POST /books/:id` below /books. This includes
     * unknown paths, wrong methods, missing keys and bodies that are too large. A client can ask
     * for another format with Accept. The HTTP status is the one of the code. */
    const char *http_dialect;

    /* -- MCP ----------------------------------------------------------------------------------- */

    /* The format of its errors for an agent: tool-result, condition-report or artifact; NULL:
     * tool-result. */
    const char *dialect;

    /* -- a server ------------------------------------------------------------------------------ */

    /* The state is kept in memory: a server runs the operations of this service in one process, one
     * at a time, and the state is lost if a call terminates this process. false: a server opens the
     * service in several processes. */
    bool alone;

    /* Its handlers leave threads behind on purpose, which go on after the call. If one of them
     * crashes, the call that runs in the process by then fails. false: a process in which a handler
     * has left a thread takes no further call, and the log says which handler it was. Threads that
     * open() starts are never counted. */
    bool threads;

    /* A server opens the service in a process of each loop half a second after it has started, and
     * again if that process ends: open() prepares what would make the first call slow, and keeps no
     * data. false: the first call waits until the process has started and the service is open. */
    bool warm;

    /* How it settles the changes of calls: a server then runs its operations in one process, in
     * batches, except for calls that are apart. None of its operations may be `.quick`. NULL: each
     * handler does that for itself. */
    const mishap_settlement *settlement;

    /* Writes its part of /health. It is called once, when the server starts, before it listens, and
     * the result holds until the server ends: so /health never waits. NULL: nothing to write. */
    void (*health)(const mishap_setup *setup, mishap_health *health);

    /* How to find out whether it works; NULL: that it can be opened is enough. */
    const mishap_trial *trial;
} mishap_service;

/* -- operations -------------------------------------------------------------------------------- */

typedef enum mishap_danger {
    MISHAP_BY_ROUTE,    /* derived from the route: DELETE is destructive; POST, PUT and PATCH are
                           mutating; GET or no route is safe */
    MISHAP_SAFE,        /* does not change data */
    MISHAP_MUTATING,    /* changes data */
    MISHAP_DESTRUCTIVE, /* can destroy data */
} mishap_danger;

typedef struct mishap_example {
    const char *command; /* without the program's name: "users create --name Ada --age 36" */
    const char *what;
} mishap_example;

/* A question that a handler may ask before it goes on: mishap_ask(). */
typedef struct mishap_question {
    const char *name;           /* lower_snake: "confirm"; unique in its operation */
    const mishap_param *params; /* what an answer contains: strings, numbers, booleans, enums, dates
                                   and timestamps, and arrays of enums; none of them is secret */
    bool person;                /* only a person may answer: at a terminal, over HTTP, or in a
                                   client of MCP that shows forms, and never a model */
    const char *method; /* of mishap_ask_client(): the request for the client of an agent, such as
                           "roots/list"; it has no `params`. NULL: a question for mishap_ask() */
} mishap_question;

typedef struct mishap_operation {
    /* -- every boundary ------------------------------------------------------------------------ */

    const char *name;                  /* "users.create": on a command line `users create` */
    const char *summary;               /* a few words, without a full stop */
    const mishap_param *params;        /* the list ends with { 0 }; NULL: none */
    mishap *(*run)(mishap_call *call); /* the handler */
    const mishap_param *answers;       /* the members of its answer; NULL: not declared */
    const mishap_relation *rules;      /* MISHAP_RULES(…) about its parameters; NULL: none */

    /* MISHAP_TYPED(…) of mishap/typed.h sets `.params`, `.run` and these two: the struct that is
     * filled with the parameters, and the handler that gets it. NULL: the handler asks getters. */
    const struct mishap_struct *(*fills)(void);
    void (*handler)(void);

    /* MISHAP_RAISES(NOT_FOUND, …): in addition to the codes of its service and its program, and to
     * those that any operation may raise. */
    const mishap_code *const *raises;
    const mishap_question *asks;   /* MISHAP_ASKS(…): what its handler may ask; NULL: nothing */
    mishap_danger danger;          /* what it may do to data */
    int timeout_ms;                /* 0: the program's default */
    const mishap_service *service; /* the service that it belongs to; may be NULL */

    /* Its answers are for the operator alone: over HTTP and MCP a caller needs an API key with the
     * scope `operator`, on a loopback address, too. Commands, and `mcp --operator`, need none. It
     * can be neither an MCP resource nor a prompt. */
    bool operator_only;

    /* "todos:write": the scopes that a caller needs beside `call`, with spaces between them
     * (mishap/scope.h). The program must list them. "": none, even if its service has one. NULL:
     * that of its service. */
    const char *scope;

    /* Some paragraphs for the help, the manual, agents and the description of the HTTP API; may be
     * NULL. */
    const char *description;

    /* The media types of a body that it takes as bytes (mishap_body()), separated by commas:
     * "text/csv, application/pdf"; a star stands for any type or subtype; NULL: only JSON. */
    const char *takes;

    /* The media type that it answers with, by mishap_answer_bytes() or mishap_stream():
     * "image/png"; NULL: JSON. */
    const char *answers_type;

    /* -- the command line ---------------------------------------------------------------------- */

    const char *group;              /* a heading for lists of commands; may be NULL */
    const mishap_example *examples; /* the list ends with { 0 }; NULL: none */

    /* Only for the command line: it reads local files or is about the program itself. */
    bool local;

    /* It runs until it is told to stop, handles signals and timeouts itself, and owns standard
     * output: no containment, no timeout. */
    bool resident;

    /* Its answer quotes the output of other programs on purpose, such as the findings of an audit:
     * stack traces stay in the answer if the command fails. Only for `.local` operations. Secrets
     * are hidden as everywhere. */
    bool quotes;

    /* It judges an input or another program: a failure with NONCONFORMING is its outcome, and no
     * incident: it leaves no record. Only for `.local` operations. */
    bool judges;

    /* It runs another program and stands for it: a failure has any code, the answer of a command is
     * any JSON value, and its exit code is that of the other program. Only for `.local` operations
     * that are resident. */
    bool relays;

    /* -- HTTP ---------------------------------------------------------------------------------- */

    /* "POST /users". `:id` is a segment that is the value of the parameter `id`; `{path...}` or
     * `:path...`, at the end, is one or more segments with the slashes between them; NULL: no
     * route. */
    const char *route;
    int status; /* HTTP status of success: 200, 201, 202 or 204; 0: 200 */

    /* The request headers that its handler reads with mishap_header(); the list ends with NULL.
     * Other headers are not kept. */
    const char *const *headers;

    /* A body may also be a form: application/x-www-form-urlencoded or multipart/form-data, whose
     * fields are the parameters. An operation with a parameter that is a file always takes forms.
     */
    bool forms;

    /* -- MCP ----------------------------------------------------------------------------------- */

    /* The name of the MCP tool: "create_user"; NULL: `users_create`, or no tool if the operation is
     * a prompt; "": no tool, but a resource alone. */
    const char *tool;

    /* Arguments that a model is shown as an example: "{\"name\":\"Ada\"}"; NULL: none. */
    const char *tool_example;

    /* Further words of JSON Schema for the schema of all arguments, as a JSON object:
     * "{\"$comment\":\"…\"}". They describe the arguments; only the parameters and `.rules` are
     * checked, and no word may repeat one that the library writes. NULL: none. */
    const char *schema;

    /* The URI of the MCP resource: "todo://todos/{id}", where {id} is a parameter; NULL: no
     * resource. One that begins with ui:// is a page of HTML, for `.view`. */
    const char *resource;

    /* "ui://todos": the `.resource` of the operation whose page shows the answers of this tool
     * (MCP Apps); NULL: none. */
    const char *view;
    const mishap_icon *icons; /* MISHAP_ICONS(…): what agents show beside its name; NULL: none */

    /* The name of the MCP prompt, whose arguments are the parameters; NULL: no prompt. */
    const char *prompt;

    /* -- a server ------------------------------------------------------------------------------ */

    /* The handler takes microseconds and never blocks: a server runs it directly in the server
     * process. */
    bool quick;

    /* For an operation without a service: it keeps no state between calls, so a server may run
     * several calls at once, in several processes. */
    bool stateless;
    bool chaos; /* it fails on purpose, for drills: a server has it only with --chaos */

    /* A call that takes long may become a task, if its caller takes one: it goes on after its
     * request was answered, and its outcome can be asked for later. The program needs
     * `.task_store`. If the process of a task dies, the task has failed, unless it changes no data
     * or is `.idempotent`: then it runs again, with the same mishap_call_id(). A task with secret
     * parameters or `.headers` never runs again, because these are not stored. */
    bool task;
    bool task_only;  /* with `.task`: it takes so long that no caller can wait. Over HTTP each call
                        may become a task; an agent that takes no tasks is refused */
    bool idempotent; /* a second run of a call changes nothing that the first has not changed */

    /* Its answer may be a little old: with `serve --stale-ms N`, a standby of PostgreSQL may run
     * its queries, as long as it has every change that was acknowledged N ms before, and every
     * change that the same caller has made. For searches and lists of a service whose store is that
     * of mishap_store_of(). It must change nothing, and not be `.quick`. Never declare it for an
     * answer on which a decision is based, such as a balance. */
    bool stale;
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

/* A program: its name and its operations. */
typedef struct mishap_app {
    const char *name;    /* "directory": the command */
    const char *version; /* "1.0" */
    const char *summary;
    const mishap_operation *operations; /* the list ends with { 0 } */
    void *state;
    int timeout_ms;                   /* for operations that declare none; 0: 30 seconds */
    const char *license;              /* "MIT", for the description of its API; may be NULL */
    const mishap_code *const *raises; /* codes that each of its operations may raise, in addition to
                                         those of the operation and its service */
    const mishap_service *const *services; /* MISHAP_SERVICES(&lisp_service, …): services whose
                                              settings exist even if no operation names the service;
                                              services that operations name need not be listed */
    const struct mishap_index_engine *incident_store; /* &mishap_incidents_in_postgresql
                                              (mishap/store.h) allows --incident-store; NULL:
                                              incidents are kept in SQLite files only */
    const mishap_scope *scopes; /* MISHAP_SCOPES(…): what callers may do, beside `call`, `metrics`
                                   and `operator`; NULL: nothing else */
    const struct mishap_cluster_engine *cluster; /* &mishap_cluster_in_postgresql (mishap/store.h)
                                              allows `serve --cluster`, which shares API keys,
                                              sessions and notices with other servers; NULL: a
                                              server is alone */
    const struct mishap_task_engine *task_store; /* &mishap_tasks_in_store (mishap/store.h), for
                                              operations that are `.task` */
    const mishap_icon *icons; /* MISHAP_ICONS(…): what agents show beside its name; NULL: none */
    bool checked; /* the build runs `PROGRAM manual`, which checks all declarations, and fails if
                     one is wrong; then a command that runs and ends checks none, which is faster */
} mishap_app;

#ifdef __cplusplus
}
#endif

#include "mishap/require.h"

#endif
