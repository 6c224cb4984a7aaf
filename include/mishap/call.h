/*
 * Calls: what a handler does with its call. It asks for its parameters, answers, fails, says how
 * far it has come and who calls.
 *
 *     static mishap *lend(mishap_call *call)
 *     {
 *         struct book *book = find_book(mishap_state(call), mishap_string(call, "title"));
 *         if (!book)
 *             return mishap_raise(NOT_FOUND, "There is no such book.");
 *         lend_to(book, mishap_caller(call));
 *         return mishap_answer_member(call, "lent", book->title);
 *     }
 *
 * What holds for all of these functions, unless one says otherwise:
 *
 * - Threads: only the thread of the handler may call them. Any thread that the handler has started
 *   may call mishap_progress(), mishap_changed(), mishap_cancelled(), mishap_call_time_left(),
 *   mishap_state(), mishap_caller(), mishap_boundary() and mishap_operation_name(), until the
 *   handler returns.
 * - Owner: what they return belongs to the call and lives as long as it. Nothing is to be freed.
 *   Text that a handler hands over is copied.
 * - NULL: the call itself must not be NULL. Each function says which of its other arguments may
 *   be. A key or a path that is NULL is a mistake of the program, as is asking for what is not
 *   declared: the call ends as an INTERNAL_ERROR.
 *
 * A call that ends so does not return to the handler. What the handler holds is given back by what
 * it has handed to mishap_call_defer().
 */
#ifndef MISHAP_CALL_H
#define MISHAP_CALL_H

#include "mishap/mishap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of an operation: its checked parameters, its answer, its memory. It lives until the
 * handler has returned and what it has deferred has run. */
typedef struct mishap_call mishap_call;
struct mishap_app; /* mishap/operation.h */

/* -- parameters -------------------------------------------------------------------------------- */

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
 * The getters also take a part of a call (mishap_at, mishap_first) and the JSON of an answer
 * (mishap/invoke.h). Nothing is given by a part that is NULL.
 */
bool mishap_given(const mishap_call *call, const char *path);
int64_t mishap_integer(const mishap_call *call, const char *path);
double mishap_number(const mishap_call *call, const char *path);
bool mishap_boolean(const mishap_call *call, const char *path);

/* A string or an enum, with a NUL behind it; and its length in bytes. */
const char *mishap_string(const mishap_call *call, const char *path);
size_t mishap_string_length(const mishap_call *call, const char *path);

/* Any parameter, as compact JSON; with "" all of them. */
const char *mishap_json(const mishap_call *call, const char *path);

/* The kind of a value where anything may stand; MISHAP_KIND_JSON: an array, an object or a number
 * beyond 64 bits; MISHAP_KIND_NONE: not given. What is declared as an integer is MISHAP_KIND_INT,
 * also if it was sent as 3.0. */
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

/* The body of a request that is no JSON, for an operation that declares `.takes`; `data` is NULL if
 * there is none, or if it was JSON and became parameters. And its media type, as the caller said
 * it; NULL: it did not. */
mishap_text mishap_body(const mishap_call *call);
const char *mishap_body_type(const mishap_call *call);

/* -- memory ------------------------------------------------------------------------------------ */

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
 * as an INTERNAL_ERROR and the others are still called. A function that is NULL is not called.
 *
 * After a crash none is called: what the crash has left behind is not to be worked with. Nor is one
 * if the process ends first: by exit(), or because the time of a command is up.
 *
 * Without memory to keep the function it is called at once, and the call ends as an INTERNAL_ERROR.
 */
void mishap_call_defer(mishap_call *call, void (*function)(void *argument), void *argument);

/* -- answers ----------------------------------------------------------------------------------- */

/*
 * What the operation answers: an object or an array as JSON; NULL: nothing. All that answer return
 * NULL, so that a handler can end with
 *
 *     return mishap_answer(call, json);
 *
 * The last answer counts.
 */
mishap *mishap_answer(mishap_call *call, const char *json);

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
 * fails, what it has written is dropped. A handler that leaves out a key, gives one to an item,
 * ends what is not open or goes on after the end has made a mistake, and so has one whose piece is
 * no JSON: the call ends as an INTERNAL_ERROR.
 *
 * A value is any that MISHAP_VALUE takes; a string that is NULL is null, mishap_value_none() leaves
 * the member out. Where `.answers` declares a boolean, the numbers 0 and 1 are one, for a
 * comparison is a number in C. Bytes that are no UTF-8, and NUL, are replaced by U+FFFD.
 */
#define mishap_answer_member(call, key, value)                                                     \
    mishap_answer_member_value((call), mishap_text_of(key),                                        \
                               mishap_value_as_spelled(MISHAP_VALUE(value), #value))
#define mishap_answer_item(call, value)                                                            \
    mishap_answer_item_value((call), mishap_value_as_spelled(MISHAP_VALUE(value), #value))
mishap *mishap_answer_object(mishap_call *call, const char *key);
mishap *mishap_answer_array(mishap_call *call, const char *key);
mishap *mishap_answer_member_value(mishap_call *call, mishap_text key, mishap_value value);
mishap *mishap_answer_item_value(mishap_call *call, mishap_value value);

/* A piece of JSON; NULL: null. */
mishap *mishap_answer_json(mishap_call *call, const char *key, const char *json);

/* The end of the object or array that was opened last. */
mishap *mishap_answer_end(mishap_call *call);

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
 * class (418: BAD_REQUEST); what is no status of an error is INTERNAL_ERROR. Any thread. */
const mishap_code *mishap_code_of_status(int http_status);

/* A document that is the answer itself: a command prints it as it is, without its envelope. */
mishap *mishap_answer_document(mishap_call *call, mishap_text document);

/*
 * Bytes that are the answer: an image, a page, a report. Over HTTP they are the body, with this
 * media type; an agent gets them as an embedded resource; a command writes them to standard output
 * or, with --to, to a file. `media_type` is like "image/png" or "text/plain; charset=utf-8"; NULL:
 * application/octet-stream.
 */
mishap *mishap_answer_bytes(mishap_call *call, mishap_text bytes, const char *media_type);

/* An array of content blocks of the Model Context Protocol, as JSON: text, images, audio,
 * resources. An agent gets them as they are, or as the nearest that its revision of the protocol
 * has: of a prompt each is a message, of a resource the data of images and audio are its bytes. On
 * any other boundary the answer is that array. NULL: nothing. */
mishap *mishap_answer_content(mishap_call *call, const char *json);

/* The answer, an object, once more as a text for readers: an agent gets this text with the object
 * as structured content, and so does a caller over HTTP that accepts text/plain and no JSON. */
mishap *mishap_answer_text(mishap_call *call, mishap_text text);

/* The answer lists only so many of a larger number. */
void mishap_answer_cut(mishap_call *call, size_t listed, size_t total);

/* A remark beside the answer. */
__attribute__((format(printf, 2, 3))) void mishap_warn(mishap_call *call, const char *format, ...);

/* -- streams ----------------------------------------------------------------------------------- */

/*
 * An answer in pieces, each sent when it is written: `mishap_stream` once, then any number of
 * pieces. False: nobody reads it any more, and the handler should return. What the handler returns
 * ends the stream; a failure after the first piece can only cut it off, and is recorded. Over HTTP
 * it is a chunked body, on a command line standard output, and for an agent one embedded resource
 * in the end. mishap_stream_event() writes one server-sent event, of a stream whose media type is
 * "text/event-stream"; `event` may be NULL, and data that is NULL is "". A media type that is NULL
 * is application/octet-stream.
 */
bool mishap_stream(mishap_call *call, const char *media_type);
bool mishap_stream_write(mishap_call *call, mishap_text piece);
bool mishap_stream_event(mishap_call *call, const char *event, const char *data);

/*
 * A stream that stays open and waits for something:
 *
 *     return mishap_stream_wait(call, "todo://todos", "%d", last);
 *
 * The handler ends here, and with it all that it holds. When the address changes (mishap_changed),
 * it is called again with the same parameters, and mishap_cursor() is the cursor; in the first call
 * of a stream it is NULL. Where nothing can wait, or the address is NULL, the stream ends.
 */
__attribute__((format(printf, 3, 4))) mishap *
mishap_stream_wait(mishap_call *call, const char *address, const char *cursor, ...);
const char *mishap_cursor(const mishap_call *call);

/* -- while it runs ----------------------------------------------------------------------------- */

/* The milliseconds that are left; -1 if there is no limit. */
int64_t mishap_call_time_left(const mishap_call *call);

/*
 * How far a long call has come: `done` of `total` (0: not known), and a few words (may be NULL). It
 * must grow from call to call. A client that asked for progress is told, and a command shows it if
 * standard error is a terminal; else it costs nothing.
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
 * client can watch.
 */
__attribute__((format(printf, 2, 3))) void mishap_changed(mishap_call *call, const char *format,
                                                          ...);

/* A remark for the client, while the call runs: an agent that asked for such messages shows it, a
 * command prints it on standard error if that is a terminal or with --verbose. No secrets and
 * nothing internal: it leaves. */
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
 * sees it. Secret parameters are redacted in it. At most 2000 bytes. */
__attribute__((format(printf, 2, 3))) void mishap_tell_operator(mishap_call *call,
                                                                const char *format, ...);

/* -- where it runs, and who calls -------------------------------------------------------------- */

/* The program whose operation is called, such as for a handler that invokes another one
 * (mishap/invoke.h). It is the program's. */
const struct mishap_app *mishap_app_of(const mishap_call *call);

/* What the operation's service opened; for an operation without a service mishap_app.state. It is
 * the service's, or the program's, and outlives the call. */
void *mishap_state(const mishap_call *call);

/*
 * What the service of this call has opened is of no more use: its file was removed, for example. To
 * be said before the call fails. It is closed when the call is over, and opened again; if that is
 * not possible, callers are told that the service is not available until it is. Without a service
 * it says nothing.
 */
void mishap_service_lost(mishap_call *call);

/*
 * The settings of the operation's service, for the getters of a call:
 *
 *     mishap_string(mishap_settings(call), "folder")
 *
 * A service that is opened gets them as `mishap_setup.settings`. Asking for them where the
 * operation has no service, or one that declares no settings, ends the call as an INTERNAL_ERROR.
 */
const mishap_call *mishap_settings(mishap_call *call);

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

#ifdef __cplusplus
}
#endif

#endif
