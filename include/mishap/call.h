/*
 * Calls: the functions that a handler uses with its call. With them it reads its parameters, writes
 * its answer, reports progress and finds out where the call comes from.
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
 * These rules apply to all functions of this header, unless one says otherwise:
 *
 * - Threads: only the thread of the handler may call them. Any thread that the handler has started
 *   may call mishap_progress(), mishap_task_mark(), mishap_changed(), mishap_cancelled(),
 *   mishap_call_time_left(), mishap_state(), mishap_caller(), mishap_caller_is_free(),
 *   mishap_may(), mishap_boundary() and mishap_operation_name(), until the handler returns.
 * - Owner: the call owns what they return, and it lives as long as the call. The handler frees
 *   nothing. Text that a handler passes in is copied.
 * - NULL: the call itself must not be NULL. Each function says which of its other arguments may be.
 *   A key or a path that is NULL is a programming error, and so is asking for a parameter that is
 *   not declared: the call ends with INTERNAL_ERROR.
 *
 * A call that ends in this way does not return to the handler. The functions that the handler
 * passed to mishap_call_defer() release its locks and memory.
 */
#ifndef MISHAP_CALL_H
#define MISHAP_CALL_H

#include "mishap/mishap.h"
#include "mishap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One call of an operation: its checked parameters, its answer, its memory. It lives until the
 * handler has returned and its deferred functions have run. */
typedef struct mishap_call mishap_call;
struct mishap_app; /* mishap/operation.h */

/* -- parameters -------------------------------------------------------------------------------- */

/*
 * The value of a parameter, after the checks and with declared defaults filled in. An optional
 * parameter that was not given is NULL, 0 or false; mishap_given() tells the difference. A JSON
 * null counts as not given.
 *
 * A path leads into objects and arrays:
 *
 *     mishap_string(call, "address.zip")
 *     mishap_integer(call, "items[2].count")
 *
 * An item after the end of its array counts as not given. Asking for a parameter that was not
 * declared, or with another type, is a programming error: it ends the call with INTERNAL_ERROR. An
 * object that declares no members can contain anything; in it, a value of another type than the
 * requested type counts as not given.
 *
 * The getters also accept a part of a call (mishap_at, mishap_first) and the JSON of an answer
 * (mishap/invoke.h). In a part that is NULL nothing is given.
 */
bool mishap_given(const mishap_call *call, const char *path);
int64_t mishap_integer(const mishap_call *call, const char *path);
double mishap_number(const mishap_call *call, const char *path);
bool mishap_boolean(const mishap_call *call, const char *path);

/* A string, an enum or any other type that is a string in JSON, NUL-terminated, and its length in
 * bytes. */
const char *mishap_string(const mishap_call *call, const char *path);
size_t mishap_string_length(const mishap_call *call, const char *path);

/*
 * Values of the types of mishap/types.h. A decimal has the declared scale. Bytes are decoded, and a
 * NUL follows them. All members of a value that was not given are 0; of bytes `data` is NULL.
 */
mishap_decimal mishap_decimal_of(const mishap_call *call, const char *path);
mishap_money mishap_money_of(const mishap_call *call, const char *path);
mishap_timestamp mishap_timestamp_of(const mishap_call *call, const char *path);
mishap_date mishap_date_of(const mishap_call *call, const char *path);
mishap_duration mishap_duration_of(const mishap_call *call, const char *path);
mishap_uuid mishap_uuid_of(const mishap_call *call, const char *path);
mishap_text mishap_bytes_of(const mishap_call *call, const char *path);

/* The number of the choice of an enum, counted from 1; 0: not given. It is the value of a C enum
 * whose first constant is 1. */
int mishap_choice_of(const mishap_call *call, const char *path);

/* Any parameter as compact JSON; the path "" returns all parameters. */
const char *mishap_json(const mishap_call *call, const char *path);

/* The kind of a value, for parameters that can have any type; MISHAP_KIND_JSON: an array, an
 * object or a number beyond 64 bits; MISHAP_KIND_NONE: not given. A parameter that is declared
 * as an integer is MISHAP_KIND_INT, even if it was sent as 3.0. */
mishap_kind mishap_kind_of(const mishap_call *call, const char *path);

/*
 * The number of items of an array or members of an object, and iteration over them:
 *
 *     for (const mishap_call *line = mishap_first(call, "lines"); line; line = mishap_next(line))
 *         total += mishap_integer(line, "count") * mishap_number(line, "price");
 *
 * Each item is a part of the call. Every getter accepts a part like a call: its path is relative to
 * the part, and "" is the part itself, such as a string in an array of strings. mishap_key() is the
 * name of a member; NULL for an item. mishap_first() and mishap_at() return NULL if there is no
 * value. mishap_next() advances the part that mishap_first() returned. Iteration takes constant
 * time for each item, whereas a path with an index may have to count up to it.
 */
size_t mishap_count(const mishap_call *call, const char *path);
const mishap_call *mishap_first(const mishap_call *call, const char *path);
const mishap_call *mishap_next(const mishap_call *item);
const char *mishap_key(const mishap_call *member);

/* One object or item as a part, to be passed to a function that reads it: mishap_at(call,
 * "address"). */
const mishap_call *mishap_at(const mishap_call *call, const char *path);

/*
 * A parameter that is a file (MISHAP_FILE): its bytes, which may contain NUL; no data if it was not
 * given. The name is the one that the caller gave to the file, without folders and control
 * characters; it must not be used as a path without further checks. The media type is the one that
 * the caller has named. Both are NULL if the caller named none. mishap_file() aborts the call if
 * the parameter is `streamed`: its bytes are never in memory as a whole.
 */
mishap_text mishap_file(const mishap_call *call, const char *path);
const char *mishap_file_name(const mishap_call *call, const char *path);
const char *mishap_file_type(const mishap_call *call, const char *path);

/* Read the next bytes of a file, at most `size`. *got is 0 at its end, and if no file was given.
 * Only one file can be read in this way at a time: after another one it begins anew. A file that is
 * `streamed` never begins anew. A failure is to be returned by the handler: the rest of the file
 * cannot be read. Of a streamed file it is CONTENT_TOO_LARGE, BAD_REQUEST (the request turned out
 * to be malformed), REQUEST_TIMEOUT (its sender is too slow) or CANCELLED (its sender has left);
 * the operation need not declare these. Time in which the handler waits for bytes is not counted
 * against its timeout. */
__attribute__((warn_unused_result)) mishap *mishap_file_read(mishap_call *call, const char *path,
                                                             void *to, size_t size, size_t *got);

/* The body of a request that is not JSON, for an operation that declares `.takes`. `data` is
 * NULL if the request has no body, or if the body was JSON and was read as parameters. The media
 * type is the one that the caller sent; NULL: none. */
mishap_text mishap_body(const mishap_call *call);
const char *mishap_body_type(const mishap_call *call);

/* -- memory ------------------------------------------------------------------------------------ */

/* Memory that lives as long as the call. The result is never NULL: if there is no memory, the
 * call ends with INTERNAL_ERROR. */
void *mishap_call_take(mishap_call *call, size_t size);
__attribute__((format(printf, 2, 3))) const char *mishap_call_print(mishap_call *call,
                                                                    const char *format, ...);

/*
 * Call function(argument) when the call ends: when the handler returns, and when the library aborts
 * the handler because of an undeclared parameter, a lack of memory or pthread_exit(). Locks and
 * memory of the handler are then released in all of these cases:
 *
 *     pthread_mutex_lock(&shelf->lock);
 *     mishap_call_defer(call, unlock, &shelf->lock);
 *
 * The function that was deferred last is called first, on the thread of the handler and before the
 * answer is checked. The function may use the call and defer other functions. If the library aborts
 * it, the call ends with INTERNAL_ERROR and the other functions are still called. A function that
 * is NULL is not called.
 *
 * After a crash no deferred function is called, because memory may be corrupt. None is called
 * either if the process ends first: by exit(), or by the timeout of a command.
 *
 * If there is no memory to store the function, it is called at once and the call ends with
 * INTERNAL_ERROR.
 */
void mishap_call_defer(mishap_call *call, void (*function)(void *argument), void *argument);

/* Values of the types of mishap/types.h as text, for answers and messages. Bytes become base64. */
const char *mishap_decimal_print(mishap_call *call, mishap_decimal value);
const char *mishap_money_print(mishap_call *call, mishap_money value);
const char *mishap_timestamp_print(mishap_call *call, mishap_timestamp value);
const char *mishap_date_print(mishap_call *call, mishap_date value);
const char *mishap_duration_print(mishap_call *call, mishap_duration value);
const char *mishap_uuid_print(mishap_call *call, mishap_uuid value);
const char *mishap_bytes_print(mishap_call *call, mishap_text bytes);

/* -- answers ----------------------------------------------------------------------------------- */

/*
 * Set the answer of the operation: an object or an array as JSON; NULL: no answer. All functions
 * that set an answer return NULL, so that a handler can end with
 *
 *     return mishap_answer(call, json);
 *
 * If the answer is set several times, the last one is used.
 */
mishap *mishap_answer(mishap_call *call, const char *json);

/*
 * Write the answer piece by piece. The result is always valid JSON, for all values.
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
 * The first piece decides the type of the answer: a member starts an object, an item starts an
 * array; mishap_answer_object(call, NULL) and mishap_answer_array(call, NULL) start one explicitly.
 * Members have a key; the key of an item is NULL. Objects and arrays that are still open at the end
 * are closed. If the handler fails, the written pieces are dropped. These programming errors end
 * the call with INTERNAL_ERROR: a member without a key, an item with a key, an end without an open
 * object or array, a piece after the end, and a piece that is not JSON.
 *
 * A value is any that MISHAP_VALUE takes; a string that is NULL becomes null, and
 * mishap_value_none() omits the member. Where `.answers` declares a boolean, the numbers 0 and 1
 * become false and true, because a comparison is a number in C. Bytes that are not UTF-8, and NUL,
 * are replaced by U+FFFD.
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

/* End the object or array that was opened last. */
mishap *mishap_answer_end(mishap_call *call);

/*
 * Set the answer together with an HTTP status. These functions work on every boundary, but only
 * HTTP shows the status. If `json` is NULL, the answer is the one that was written piece by piece,
 * if any. `location` is the path of the new resource, and may be NULL.
 */
mishap *mishap_ok(mishap_call *call, const char *json);
mishap *mishap_created(mishap_call *call, const char *json, const char *location);
mishap *mishap_no_content(mishap_call *call);

/* Raise a failure by its HTTP name or status; the handler returns the result. A status stands
 * for a code (402: PAYMENT_REQUIRED), which the operation must declare like any other. */
#define mishap_bad_request(...) mishap_raise(BAD_REQUEST, __VA_ARGS__)
#define mishap_not_found(...)   mishap_raise(NOT_FOUND, __VA_ARGS__)
#define mishap_error_response(status, ...)                                                         \
    mishap_raise_at(mishap_code_of_status(status), MISHAP_HERE, __VA_ARGS__)

/* The code that stands for an HTTP status: the one that is named like it, else the first of its
 * class (418: BAD_REQUEST); a number that is not an error status is INTERNAL_ERROR. Any thread
 * may call it. */
const mishap_code *mishap_code_of_status(int http_status);

/*
 * Set a header of the HTTP response, or replace one that was set before. Other boundaries ignore
 * it, and so does a call that fails: a failure has the headers of the server alone. With a stream
 * it must be set before mishap_stream().
 *
 *     mishap_set_header(call, "Cache-Control", "max-age=60");
 *
 * The name must be a token, and the value visible ASCII with single spaces or tabs: a value that
 * could begin another header is a programming error and ends the call with INTERNAL_ERROR. So do
 * names that the server sets itself: those of the connection and of the body (Connection,
 * Content-Length, Content-Type, Transfer-Encoding, …), of the request id, of authentication, of
 * CORS (Access-Control-…), Location (mishap_created), ETag (mishap_answer_version) and Set-Cookie
 * (mishap_set_cookie). All of them together may have 8 KB.
 */
void mishap_set_header(mishap_call *call, const char *name, const char *value);

/*
 * Set a cookie, with the restrictions that are right for a session: only the same site sends it,
 * scripts cannot read it, and browsers send it over HTTPS alone (or to localhost).
 *
 *     mishap_set_cookie(call, &(mishap_cookie){ "__Host-session", id, .seconds = 3600 });
 *
 * The value must be ASCII without spaces, quotes, commas, semicolons and backslashes; anything else
 * is a programming error and ends the call with INTERNAL_ERROR. Other boundaries ignore cookies.
 */
typedef enum mishap_same_site {
    MISHAP_SAME_SITE_LAX, /* links of other sites send it, too */
    MISHAP_SAME_SITE_STRICT,
    MISHAP_SAME_SITE_NONE, /* every page sends it; not together with `insecure` */
} mishap_same_site;
typedef struct mishap_cookie {
    const char *name, *value; /* a value that is NULL deletes the cookie */
    int64_t seconds;          /* how long it lives; 0: until the browser is closed */
    const char *path;         /* NULL: / */
    const char *domain;       /* NULL: only the host of the request */
    mishap_same_site same_site;
    bool readable; /* scripts of pages may read it */
    bool insecure; /* browsers send it over plain HTTP, too */
} mishap_cookie;
void mishap_set_cookie(mishap_call *call, const mishap_cookie *cookie);

/* A cookie of the request, for an operation that declares the header `Cookie` in `.headers`. NULL:
 * there is none of this name. */
const char *mishap_cookie_value(const mishap_call *call, const char *name);

/*
 * Conditional requests. A version is a short text that changes with the resource: a number, a hash.
 *
 *     if (mishap_answer_version(call, version))
 *         return NULL;                       the caller has this version: over HTTP, 304
 *     return mishap_answer(call, json);
 *
 * mishap_answer_version() makes it the ETag of the answer. The result is true if the operation has
 * a GET route and the caller has this version (If-None-Match); then no other answer is needed.
 *
 *     mishap *m = mishap_match_version(call, current);
 *     if (m)
 *         return m;                          the caller has seen another version: 412
 *     … change it …
 *     mishap_answer_version(call, changed);
 *
 * mishap_match_version() is NULL if the caller did not name a version, or the current one. Else it
 * is PRECONDITION_FAILED, which the operation must declare: If-Match names other versions, or
 * If-None-Match names this one (`*`: any). `current` is NULL if there is no such resource yet.
 *
 * A version has at most 80 characters of visible ASCII without quotes; anything else is a
 * programming error. Only HTTP has conditions: elsewhere the results are false and NULL.
 */
bool mishap_answer_version(mishap_call *call, const char *version);
__attribute__((warn_unused_result)) mishap *mishap_match_version(mishap_call *call,
                                                                 const char *current);

/* Answer with a document: a command prints it unchanged, without the envelope. */
mishap *mishap_answer_document(mishap_call *call, mishap_text document);

/*
 * Answer with bytes: an image, a page, a report. Over HTTP the bytes are the body, with this media
 * type. An agent gets them as an embedded resource. A command writes them to standard output or,
 * with --to, to a file. `media_type` is like "image/png" or "text/plain; charset=utf-8"; NULL:
 * application/octet-stream.
 */
mishap *mishap_answer_bytes(mishap_call *call, mishap_text bytes, const char *media_type);

/* Answer with a JSON array of content blocks of the Model Context Protocol: text, images, audio,
 * resources. An agent gets the blocks unchanged, or as the nearest type of block that its
 * protocol revision has. For a prompt each block is a message; for a resource the data of images
 * and audio are its bytes. On any other boundary the answer is the array itself. NULL: no
 * answer. */
mishap *mishap_answer_content(mishap_call *call, const char *json);

/* The answer, an object, once more as a text for readers: an agent gets this text with the object
 * as structured content, and so does a caller over HTTP that accepts text/plain and no JSON. */
mishap *mishap_answer_text(mishap_call *call, mishap_text text);

/* Report that the answer lists only `listed` of `total` entries. */
void mishap_answer_cut(mishap_call *call, size_t listed, size_t total);

/* Add a warning to the answer. */
__attribute__((format(printf, 2, 3))) void mishap_warn(mishap_call *call, const char *format, ...);

/* -- questions --------------------------------------------------------------------------------- */

/*
 * Ask the caller before the handler goes on. The operation declares the question in `.asks`:
 *
 *     const mishap_call *confirm = mishap_reply(call, "confirm");
 *     if (!confirm)
 *         return mishap_ask(call, "confirm", confirm_params, "Delete %zu todos?", count);
 *     if (!mishap_boolean(confirm, "sure"))
 *         return mishap_answer_member(call, "deleted", 0);
 *
 * The handler returns the result, and so its run ends. With the answer it is called again, from its
 * beginning and with the same parameters: what it does before it asks is done again. If its service
 * has a settlement, what the run did is undone. It holds no process while the caller thinks.
 *
 * Several questions are asked together if mishap_ask() is called several times; the handler returns
 * any of the results, which are all the same. `params` are those of the declaration, or NULL. A
 * question that is not declared ends the call with INTERNAL_ERROR.
 *
 * An answer is checked against its declaration before the handler gets it. If it is wrong, the
 * handler has no answer and asks again; the library adds what was wrong. After 8 rounds the call
 * fails with CANCELLED. It also does if the handler asks what the caller has declined to answer;
 * a handler that can go on without the answer looks before (mishap_reply_state).
 */
struct mishap_param;
__attribute__((warn_unused_result, format(printf, 4, 5))) mishap *
mishap_ask(mishap_call *call, const char *name, const struct mishap_param *params,
           const char *format, ...);

/* The same for a request to the client of an agent, whose method the question declares. `params`
 * is the object of its parameters as JSON; NULL: none. The answer is not checked. Only clients of
 * MCP that have declared such requests can answer. */
__attribute__((warn_unused_result)) mishap *mishap_ask_client(mishap_call *call, const char *name,
                                                              const char *params);

/* The answer to a question, for the getters: mishap_boolean(mishap_reply(call, "confirm"), "sure").
 * NULL: there is none, and nothing in it is given. */
const mishap_call *mishap_reply(const mishap_call *call, const char *name);

typedef enum mishap_reply_kind {
    MISHAP_REPLY_NONE,      /* it was not asked yet, or the answer was wrong */
    MISHAP_REPLY_ACCEPTED,  /* mishap_reply() has the answer */
    MISHAP_REPLY_DECLINED,  /* the caller does not want to answer */
    MISHAP_REPLY_DISMISSED, /* the person has closed the question without a choice */
} mishap_reply_kind;
mishap_reply_kind mishap_reply_state(const mishap_call *call, const char *name);

/* -- streams ----------------------------------------------------------------------------------- */

/*
 * Answer with a stream: call `mishap_stream` once, then write any number of pieces. Each piece is
 * sent immediately. The result is false if the reader has closed the stream; the handler should
 * then return. The stream ends when the handler returns. A failure after the first piece can only
 * cut off the stream, and is logged. Over HTTP the stream is a chunked body; on a command line it
 * goes to standard output; an agent gets one embedded resource at the end. mishap_stream_event()
 * writes one server-sent event to a stream whose media type is "text/event-stream"; `event` may be
 * NULL, and data that is NULL is "". A media type that is NULL is application/octet-stream.
 */
bool mishap_stream(mishap_call *call, const char *media_type);
bool mishap_stream_write(mishap_call *call, mishap_text piece);
bool mishap_stream_event(mishap_call *call, const char *event, const char *data);

/*
 * Keep a stream open until a resource changes:
 *
 *     return mishap_stream_wait(call, "todo://todos", "%d", last);
 *
 * The handler returns, and its memory is freed. When the resource at this address changes
 * (mishap_changed), the handler is called again with the same parameters, and mishap_cursor()
 * returns the cursor; in the first call of a stream the cursor is NULL. If the boundary cannot
 * wait, or if the address is NULL, the stream ends.
 */
__attribute__((format(printf, 3, 4))) mishap *
mishap_stream_wait(mishap_call *call, const char *address, const char *cursor, ...);
const char *mishap_cursor(const mishap_call *call);

/* -- while it runs ----------------------------------------------------------------------------- */

/* The time, in UTC and with milliseconds. A handler that takes the time from here can be tested
 * with any time (mishap_test_set_time() in mishap/test.h). */
mishap_timestamp mishap_now(const mishap_call *call);

/* The milliseconds until the deadline of the call; -1 if there is no deadline. */
int64_t mishap_call_time_left(const mishap_call *call);

/*
 * Report the progress of a long call: `done` of `total` (0: not known), and a few words (may be
 * NULL). `done` must grow with each report. The progress is sent to a client that asked for it; a
 * command shows it if standard error is a terminal. In all other cases the function does nothing.
 */
void mishap_progress(mishap_call *call, double done, double total, const char *words);

/*
 * The mark of a task (docs/tasks.md): a short text with which a handler says how far it has come,
 * such as a number or JSON. If the task runs again, since its process has died or its caller has
 * answered a question, mishap_task_last_mark() returns the mark, and the handler goes on there:
 *
 *     const char *last = mishap_task_last_mark(call);
 *     for (size_t i = last ? strtoul(last, NULL, 10) : 0; i < count; i++) {
 *         send_letter(i);
 *         mishap_task_mark(call, "%zu", i + 1);
 *     }
 *
 * The newest mark counts, and an empty one removes it. Marks are stored ten times a second at most,
 * so the newest ones may be lost if a process dies; then the last one that was stored counts. So a
 * handler sets a mark after the work that it stands for, and work may be done twice.
 *
 * A mark is stored as it is: it must not contain secrets. No caller sees it. It is forgotten when
 * the task ends. A call that is no task has none: then mishap_task_mark() keeps nothing, and the
 * result of mishap_task_last_mark() is NULL. The same holds for tasks with secret parameters or
 * `.headers`, which never run again, and for services with `.settlement`.
 *
 * mishap_task_mark() returns false, and the mark before stays, if the new one has more than 4096
 * bytes or is not UTF-8. mishap_task_last_mark() returns the mark of an earlier run, also after the
 * handler has set another one; NULL: none.
 */
__attribute__((format(printf, 2, 3))) bool mishap_task_mark(mishap_call *call, const char *format,
                                                            ...);
const char *mishap_task_last_mark(const mishap_call *call);

/* True if the answer is probably no longer needed: an agent has cancelled the call, or an HTTP
 * client has closed its connection. A client that has closed only its sending side looks the
 * same, and still gets the answer. A long handler calls this function regularly, and returns if
 * it is true. A command that is terminated by a signal or its timeout waits a moment for a
 * handler that calls this function. A server kills a handler at its timeout without further
 * notice. */
bool mishap_cancelled(const mishap_call *call);

/*
 * Report that a resource has changed. The address is its URI, escaped like a URI: `todo://todos/7`.
 * Call the function after the change is complete, not before. Every client that subscribed to the
 * address is notified soon, on any boundary and in any process of this server. If no client can
 * subscribe, the function does nothing.
 */
__attribute__((format(printf, 2, 3))) void mishap_changed(mishap_call *call, const char *format,
                                                          ...);

/* Send a log message to the client while the call runs. An agent gets it if it asked for log
 * messages; a command prints it to standard error if that is a terminal or with --verbose. The
 * message leaves the server: it must not contain secrets or internal details. */
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
/* Its old name, which the release after 0.1 will not have any more. */
__attribute__((deprecated("use mishap_tell_client()"), format(printf, 3, 4))) void
mishap_log(mishap_call *call, mishap_level level, const char *format, ...);

/* Write a line to the log of the program, with the id of the request. The caller never sees it.
 * Secret parameters are redacted. At most 2000 bytes are written. */
__attribute__((format(printf, 2, 3))) void mishap_tell_operator(mishap_call *call,
                                                                const char *format, ...);

/* -- where it runs, and who calls -------------------------------------------------------------- */

/* The program whose operation is called, such as for a handler that invokes another operation
 * (mishap/invoke.h). The program owns it. */
const struct mishap_app *mishap_app_of(const mishap_call *call);

/* The state that the service of the operation opened; for an operation without a service,
 * mishap_app.state. The service or the program owns it, and it outlives the call. */
void *mishap_state(const mishap_call *call);

/*
 * Report that the state of the service cannot be used any more, for example because its file was
 * removed. Call the function before the call fails. The service is closed after the call and opened
 * again. As long as it cannot be opened, calls fail because the service is not available. For an
 * operation without a service the function does nothing.
 */
void mishap_service_lost(mishap_call *call);

/*
 * The settings of the operation's service, for the getters of a call:
 *
 *     mishap_string(mishap_settings(call), "folder")
 *
 * A service that is opened gets them as `mishap_setup.settings`. Asking for them where the
 * operation has no service, or one that declares no settings, ends the call with INTERNAL_ERROR.
 */
const mishap_call *mishap_settings(mishap_call *call);

/*
 * The name of the caller: of its API key, or the one that it gave itself where it may (see
 * mishap_service.names_callers) or that mishap_invoke() was given. NULL if it has none.
 *
 * mishap_caller_is_free() is true if the caller may name itself: no key exists and the caller is on
 * this machine, or the call comes from mishap_invoke(). Only then a parameter may say for whom the
 * call acts. It is false for operations of services without `.names_callers`.
 */
const char *mishap_caller(const mishap_call *call);
bool mishap_caller_is_free(const mishap_call *call);

/*
 * True if the caller has a scope (mishap/scope.h), such as "todos:write". The scopes that the
 * operation declares were checked before the handler began. A scope that the program does not
 * declare ends the call with INTERNAL_ERROR.
 */
bool mishap_may(const mishap_call *call, const char *scope);

/*
 * Where the call comes from. The caller knows the id of the request, too: it is X-Request-Id over
 * HTTP and meta.request_id of a command. The log contains the same id with the incident and with
 * the lines of mishap_tell_operator(). The id is never NULL. The remote address is that of the
 * client over HTTP, also behind a proxy; NULL elsewhere.
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

/* The trace that the call belongs to, as the value of a header `traceparent` (W3C Trace Context)
 * for requests that the handler makes: the caller's trace, or a new one, with the span of this
 * call. The caller's is that of the header over HTTP, of `_meta` over MCP, and of the variable
 * TRACEPARENT in a command. NULL: there is no memory. */
const char *mishap_call_trace(const mishap_call *call);

/*
 * The id of the call, a UUID. It is made by the library, never by a client, and is never NULL. It
 * is the same if the call is run again because its process died, which only happens to calls of a
 * service with `.settlement` (mishap/operation.h) and to tasks. mishap_call_is_repeated() is true
 * in this case: the call may have been settled before.
 */
const char *mishap_call_id(mishap_call *call);
bool mishap_call_is_repeated(const mishap_call *call);

/* A header of the HTTP request, which the operation must declare in `.headers`. The case of its
 * name does not matter. NULL: the request has no such header, or is not an HTTP request (a C call
 * may give some, mishap_invocation). If the header was sent twice, the first one is returned.
 * Asking for a header that is not declared ends the call with INTERNAL_ERROR. */
const char *mishap_header(const mishap_call *call, const char *name);

#ifdef __cplusplus
}
#endif

#endif
