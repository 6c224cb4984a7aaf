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
 * which operation and why.
 */
#ifndef MISHAP_OPERATION_H
#define MISHAP_OPERATION_H

#include <math.h>

#include "mishap/mishap.h"
#include "mishap/sandbox.h"

/*
 * Lists that end themselves, for declarations:
 *
 *     static const mishap_operation *const operations = MISHAP_OPERATIONS(
 *         { "users.create", "Create a user", .run = create_user,
 *           .params = MISHAP_PARAMS({ "name", MISHAP_STRING, .required = true },
 *                                   { "tags", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_STRING) })
 * });
 *
 * They live as long as the program where they stand outside of a function.
 */
#define MISHAP_PARAMS(...)     MISHAP_LIST_OF(const mishap_param, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_OPERATIONS(...) MISHAP_LIST_OF(const mishap_operation, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_EXAMPLES(...)   MISHAP_LIST_OF(const mishap_example, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_CHOICES(...)    MISHAP_LIST_OF(const char *const, __VA_ARGS__, NULL)
#define MISHAP_ITEM(...)       MISHAP_LIST_OF(const mishap_param, { "item", __VA_ARGS__ })
#ifndef __cplusplus
#define MISHAP_LIST_OF(type, ...) ((type[]){ __VA_ARGS__ })
#define MISHAP_LIST_END                                                                            \
    {                                                                                              \
        0                                                                                          \
    }
#else
#define MISHAP_LIST_OF(type, ...)                                                                  \
    ([]() -> type * {                                                                              \
        static type list[] = { __VA_ARGS__ };                                                      \
        return list;                                                                               \
    }())
#define MISHAP_LIST_END                                                                            \
    {                                                                                              \
    }
#endif

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
                         --due-date on a command line, and --dueDate works, too */
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
    const char *initial; /* the value where none is given, as JSON: "5000", "\"text\"" */
    const char
        *environment; /* on a command line: the variable to take it from where no flag gives it */
    char letter;      /* on a command line: a short flag, -p */
    const char *help; /* what it is, in a few words */
    const char *placeholder; /* how it is called in a usage line; else by its type */
    const char *looks;  /* what its pattern means, for people: "HOST:PORT, such as [::1]:80"; with
                           an article it is what the value must be: "a day of 2026" */
    const char *format; /* of a string, as JSON Schema names it: date, time, date-time, duration,
                           email, hostname, ipv4, ipv6, uri or uuid; 2026-02-31 is no date */
} mishap_param;

/* -- calls ------------------------------------------------------------------------------------- */

/* One call of an operation: its checked parameters, its answer, its memory. It lives as long as the
 * call. */
typedef struct mishap_call mishap_call;

/*
 * The value of a parameter, after the checks: declared defaults are filled in. What is optional and
 * was not given is NULL, 0, or false; mishap_given() tells. Null is not given.
 *
 * A path leads into objects and arrays:
 *
 *     mishap_string(call, "address.zip")
 *     mishap_integer(call, "items[2].count")
 *
 * An item behind the end of its array is not given. Asking for a parameter that was not declared,
 * or under another type, ends the call as an INTERNAL_ERROR: it is a mistake of the program. Below
 * an object that declares no members anything may stand; there a value of another type than the
 * one that is asked for is not given.
 *
 * What they return is the call's. Only the thread of the handler may ask.
 */
bool mishap_given(const mishap_call *call, const char *path);
const char *mishap_string(const mishap_call *call,
                          const char *path); /* strings and enums; with a NUL after it */
size_t mishap_string_length(const mishap_call *call, const char *path);
int64_t mishap_integer(const mishap_call *call, const char *path);
double mishap_number(const mishap_call *call, const char *path);
bool mishap_boolean(const mishap_call *call, const char *path);
const char *mishap_json(const mishap_call *call,
                        const char *path); /* any parameter, as compact JSON; "": all of them */

/* The kind of a value where anything may stand; MISHAP_KIND_JSON: an array, an object or a number
 * beyond 64 bits; MISHAP_KIND_NONE: not given. */
mishap_kind mishap_kind_of(const mishap_call *call, const char *path);

/*
 * How many items an array has, or how many members an object; and a walk over them:
 *
 *     for (const mishap_call *line = mishap_first(call, "lines"); line; line = mishap_next(line))
 *         total += mishap_integer(line, "count") * mishap_number(line, "price");
 *
 * Each is a part of the call, and every getter takes it like a call: with a path from there on, and
 * with "" for the part itself, such as a string in an array of strings. mishap_key() is the name of
 * a member; NULL for an item. mishap_first() and mishap_at() return NULL if there is nothing; what
 * mishap_first() returned moves on with mishap_next(). A walk takes one step for each item, whereas
 * a path with an index may have to count up to it.
 */
size_t mishap_count(const mishap_call *call, const char *path);
const mishap_call *mishap_first(const mishap_call *call, const char *path);
const mishap_call *mishap_next(const mishap_call *item);
const char *mishap_key(const mishap_call *member);

/* One object or item as a part, for a function that reads it: mishap_at(call, "address"). */
const mishap_call *mishap_at(const mishap_call *call, const char *path);

/* Memory that lives as long as the call; never NULL: without memory the call ends as an
 * INTERNAL_ERROR. */
void *mishap_call_take(mishap_call *call, size_t size);
__attribute__((format(printf, 2, 3))) const char *mishap_call_print(mishap_call *call,
                                                                    const char *format, ...);

/*
 * Call function(argument) when the call ends: when the handler returns, and when the library ends
 * it for a parameter that is not declared, for lack of memory or for pthread_exit(). So what the
 * handler holds is given back in every case:
 *
 *     pthread_mutex_lock(&shelf->lock);
 *     mishap_call_defer(call, unlock, &shelf->lock);
 *
 * The function that was deferred last is called first, on the thread of the handler and before the
 * answer is looked at. It may use the call, and defer others. If it is ended itself, the call ends
 * as an INTERNAL_ERROR and the others are still called.
 *
 * After a crash none is called: what the crash has left behind is not to be worked with. Nor is one
 * if the process ends first: by exit(), or because the time of a command is up.
 *
 * Without memory to keep the function it is called at once, and the call ends as an INTERNAL_ERROR.
 * Only the thread of the handler may defer.
 */
void mishap_call_defer(mishap_call *call, void (*function)(void *argument), void *argument);

/* What the operation answers. All return NULL, so that a handler can end with `return
 * mishap_answer(call, …);`. The last answer counts. */
mishap *mishap_answer(mishap_call *call,
                      const char *json); /* an object or an array as JSON; NULL: nothing */

/*
 * The same piece by piece: whatever the values are, it is valid JSON.
 *
 *     mishap_answer_member(call, "name", name);      {"name":"A\"da",
 *     mishap_answer_array(call, "lines");             "lines":[
 *     for (size_t i = 0; i < count; i++) {
 *         mishap_answer_object(call, NULL);           {
 *         mishap_answer_member(call, "count", i);      "count":0
 *         mishap_answer_end(call);                    }
 *     }
 *     mishap_answer_end(call);                        ]
 *     return mishap_answer_member(call, "ok", true);  "ok":true}
 *
 * What comes first decides what the answer is: a member makes it an object, an item an array;
 * mishap_answer_object(call, NULL) and mishap_answer_array(call, NULL) say it themselves. Members
 * have a key, items have none (NULL). What is still open at the end is closed, and if the handler
 * fails, what it has written is dropped. A handler that
 * leaves out a key, gives one to an item, ends what is not open or goes on after the end has made a
 * mistake, and so has one whose piece is no JSON: the call ends as an INTERNAL_ERROR.
 *
 * A value is any that MISHAP_VALUE takes; mishap_value_none() leaves the member out. Where
 * `.answers` declares a boolean, the numbers 0 and 1 are one, for a comparison is a number in C.
 * Bytes that are no UTF-8, and NUL, are replaced by U+FFFD. Only the thread of the handler may
 * answer.
 */
#define mishap_answer_member(call, key, value)                                                     \
    mishap_answer_member_value((call), mishap_text_of(key),                                        \
                               mishap_value_as_spelled(MISHAP_VALUE(value), #value))
#define mishap_answer_item(call, value)                                                            \
    mishap_answer_item_value((call), mishap_value_as_spelled(MISHAP_VALUE(value), #value))
mishap *mishap_answer_object(mishap_call *call, const char *key);
mishap *mishap_answer_array(mishap_call *call, const char *key);
mishap *mishap_answer_json(mishap_call *call, const char *key,
                           const char *json); /* a piece of JSON; NULL: null */
mishap *mishap_answer_end(mishap_call *call); /* of the object or array that was opened last */
mishap *mishap_answer_member_value(mishap_call *call, mishap_text key, mishap_value value);
mishap *mishap_answer_item_value(mishap_call *call, mishap_value value);

/*
 * The same by the words of HTTP. On any other boundary they answer just as well: only HTTP tells
 * 201 from 200. Where `json` is NULL the answer is what was written piece by piece, if anything
 * was. `location` is the path of what was created, and may be NULL.
 */
mishap *mishap_ok(mishap_call *call, const char *json);
mishap *mishap_created(mishap_call *call, const char *json, const char *location);
mishap *mishap_no_content(mishap_call *call);

/* Failures by the words of HTTP: to be returned. A status names its code (402: PAYMENT_REQUIRED),
 * which the operation declares like any other. */
#define mishap_bad_request(...) mishap_raise(BAD_REQUEST, __VA_ARGS__)
#define mishap_not_found(...)   mishap_raise(NOT_FOUND, __VA_ARGS__)
#define mishap_error_response(status, ...)                                                         \
    mishap_raise_at(mishap_code_of_status(status), MISHAP_HERE, __VA_ARGS__)

/* The code that stands for an HTTP status: the one that is named like it, else the first of its
 * class (418: BAD_REQUEST); what is no status of an error is INTERNAL_ERROR. */
const mishap_code *mishap_code_of_status(int http_status);

/* A document that is the answer itself: a command prints it as it is, without its envelope. */
mishap *mishap_answer_document(mishap_call *call, mishap_text document);

/*
 * Bytes that are the answer: an image, a page, a report. Over HTTP they are the body, with this
 * media type; an agent gets them as an embedded resource; a command writes them to standard output
 * or, with --to, to a file. `media_type` is like "image/png" or "text/plain; charset=utf-8".
 */
mishap *mishap_answer_bytes(mishap_call *call, mishap_text bytes, const char *media_type);

/*
 * An answer in pieces, each sent when it is written: `mishap_stream` once, then any number of
 * pieces. False: nobody reads it any more, and the handler should return. What the handler returns
 * ends the stream; a failure after the first piece can only cut it off, and is recorded. Over HTTP
 * it is a chunked body, on a command line standard output, and for an agent one embedded resource
 * in the end. mishap_stream_event() writes one server-sent event, of a stream whose media type is
 * "text/event-stream"; `event` may be NULL.
 */
bool mishap_stream(mishap_call *call, const char *media_type);
bool mishap_stream_write(mishap_call *call, mishap_text piece);
bool mishap_stream_event(mishap_call *call, const char *event, const char *data);

/*
 * A stream that stays open and waits for something: `return mishap_stream_wait(call, address,
 * cursor)`. The handler ends here, and with it all that it holds. When the address changes
 * (mishap_changed), it is called again with the same parameters, and mishap_cursor() is `cursor`;
 * in the first call of a stream it is NULL. Where nothing can wait, the stream ends.
 */
__attribute__((format(printf, 3, 4))) mishap *
mishap_stream_wait(mishap_call *call, const char *address, const char *cursor, ...);
const char *mishap_cursor(const mishap_call *call);

/* The body of a request that is no JSON, for an operation that declares `.takes`; `data` is NULL if
 * there is none, or if it was JSON and became parameters. And its media type, as the caller said
 * it; NULL: it did not. */
mishap_text mishap_body(const mishap_call *call);
const char *mishap_body_type(const mishap_call *call);

/* An array of content blocks of the Model Context Protocol, as JSON: text, images, audio,
 * resources. An agent gets them as they are, or as the nearest that its revision of the protocol
 * has: of a prompt each is a message, of a resource the data of images and audio are its bytes. On
 * any other boundary the answer is that array. */
mishap *mishap_answer_content(mishap_call *call, const char *json);

/* The answer, an object, once more as a text for readers: an agent gets this text with the object as
 * structured content, and so does a caller over HTTP that accepts text/plain and no JSON. */
mishap *mishap_answer_text(mishap_call *call, mishap_text text);

/* The answer lists only so many of a larger number. */
void mishap_answer_cut(mishap_call *call, size_t listed, size_t total);

/* A remark beside the answer. */
__attribute__((format(printf, 2, 3))) void mishap_warn(mishap_call *call, const char *format, ...);

/* The milliseconds that are left; -1 if there is no limit. */
int64_t mishap_call_time_left(const mishap_call *call);

/*
 * How far a long call has come: `done` of `total` (0: not known), and a few words (may be NULL). It
 * must grow from call to call. A client that asked for progress is told; else it costs nothing. Any
 * thread.
 */
void mishap_progress(mishap_call *call, double done, double total, const char *words);

/* True if nobody waits for the answer any more, or perhaps nobody does: an agent has cancelled the
 * call, a caller over HTTP has closed its connection. One that has closed its sending side alone
 * looks the same, and gets what is answered. A long handler asks now and then, and returns. A
 * command that is ended by a signal or its timeout waits a moment for a handler that asks; in a
 * server a handler whose time is up is killed without being told. */
bool mishap_cancelled(const mishap_call *call);

/*
 * Something that agents can read is not what it was, and this is its address: `todo://todos/7`,
 * escaped like one. To be said when the change is made, not before. Every client that watches the
 * address is told soon, on any boundary and in any loop of this server. Costs nothing where no
 * client can watch. Any thread.
 */
__attribute__((format(printf, 2, 3))) void mishap_changed(mishap_call *call, const char *format,
                                                          ...);

/* A remark for the client, while the call runs: an agent that asked for such messages shows it. No
 * secrets and nothing internal: it leaves. */
typedef enum mishap_level {
    MISHAP_DEBUG,
    MISHAP_INFO,
    MISHAP_NOTICE,
    MISHAP_LEVEL_WARNING,
    MISHAP_LEVEL_ERROR,
    MISHAP_CRITICAL,
    MISHAP_ALERT,
    MISHAP_EMERGENCY,
} mishap_level;
__attribute__((format(printf, 3, 4))) void mishap_tell_client(mishap_call *call, mishap_level level,
                                                              const char *format, ...);

/* A line for the operator, in the log of the program under the id of the request. The caller never
 * sees it. Secret parameters are redacted in it. At most 2000 bytes; only the thread of the
 * handler may tell. */
__attribute__((format(printf, 2, 3))) void mishap_tell_operator(mishap_call *call,
                                                                const char *format, ...);

/* What the operation's service opened; for an operation without a service mishap_app.state. */
void *mishap_state(const mishap_call *call);

/*
 * What the service of this call has opened is of no more use: its file was removed, for example. To
 * be said before the call fails. It is closed when the call is over, and opened again; if that is
 * not possible, callers are told that the service is not available until it is. Without a service
 * it says nothing.
 */
void mishap_service_lost(mishap_call *call);

/* Who calls: the name that an API key stands for; NULL if nobody had to say. */
const char *mishap_caller(const mishap_call *call);

/*
 * Where the call comes from. The id of the request is what the caller can name: X-Request-Id over
 * HTTP, meta.request_id of a command, and under it stand the incident and what
 * mishap_tell_operator() says. Never NULL. The remote address is that of the client over HTTP, also
 * behind a proxy; NULL elsewhere.
 */
typedef enum mishap_boundary_kind {
    MISHAP_BY_C, /* mishap_invoke() */
    MISHAP_BY_COMMAND,
    MISHAP_BY_HTTP,
    MISHAP_BY_MCP, /* an agent, over HTTP or standard input and output */
} mishap_boundary_kind;
mishap_boundary_kind mishap_boundary(const mishap_call *call);
const char *mishap_request_id(const mishap_call *call);
const char *mishap_operation_name(const mishap_call *call);
const char *mishap_remote(const mishap_call *call);

/* A header field of the request, which the operation declares in `.headers`, whatever the case of
 * its letters; NULL: there is none, or no HTTP. If it stands there twice it is the first. Asking
 * for one that is not declared ends the call as an INTERNAL_ERROR. */
const char *mishap_header(const mishap_call *call, const char *name);

/* -- services ---------------------------------------------------------------------------------- */

/* How a program was started, for the services that it opens. */
typedef struct mishap_setup {
    const char *data;     /* the folder for what must last: it is there, for this user only */
    const char *store;    /* where the store is, as an address; NULL: in the data folder */
    const char *identity; /* what has this identity is to be opened, and nothing is to be made: the
                             server runs already. "": the service names none. NULL: this is the
                             first time, and what is not there may be made */
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
    const char *
        command; /* without the program's name: "users create --name Ada --email ada@example.com" */
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
    const mishap_code *const
        *raises; /* MISHAP_RAISES(NOT_FOUND, …): beyond what every operation may raise */
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

/* The codes that an operation declares: up to twelve bare names. */
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
    int timeout_ms;      /* for operations that declare none; 0: 30 seconds */
    const char *license; /* "MIT", for the description of its API; may be NULL */
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
 * JSON object. Frees `v`. */
mishap *mishap_require_end(mishap_requirements *v);

#ifdef __cplusplus
}
#endif

#endif
