/*
 * The inside of a call. A boundary makes one from an operation and a JSON object, runs it, and
 * reads its outcome.
 *
 *     mishap_call_begin()   checks every parameter
 *     mishap_call_run()     runs the handler, contained
 *     mishap_call_answer()  what it answered
 *     mishap_call_end()
 */
#ifndef MISHAP_OPERATION_CALL_H
#define MISHAP_OPERATION_CALL_H

#include <setjmp.h>
#include <stdatomic.h>

#include "mishap/trace.h"
#include "operation/operation.h"
#include "operation/secret.h"

/* True if a caller still waits for the answer. */
typedef enum mishap_cancelled_how {
    MISHAP_CALLER_THERE,
    MISHAP_CALLER_LEFT, /* perhaps not: it sends no more, but can still be answered */
    MISHAP_CALLER_GONE, /* the caller does not wait any more */
} mishap_cancelled_how;

typedef enum mishap_answer_kind {
    MISHAP_ANSWER_NOTHING,
    MISHAP_ANSWER_JSON,
    MISHAP_ANSWER_WRITTEN, /* JSON that is being written, piece by piece */
    MISHAP_ANSWER_DOCUMENT,
    MISHAP_ANSWER_BYTES,  /* of the media type `answer_type` */
    MISHAP_ANSWER_STREAM, /* the watcher has its pieces already */
} mishap_answer_kind;

/*
 * The receiver of the reports of a running call; any function may be NULL. In a worker it is called
 * on the thread that reports, in a server on that of its loop. `stream` and `piece` return false if
 * the client does not read any more. The media type of a stream may be followed by a line feed and
 * by the header lines of the program (fields.h).
 */
typedef struct mishap_watcher {
    void (*progress)(const struct mishap_watcher *watcher, double done, double total,
                     mishap_text words); /* no data: none */
    void (*log)(const struct mishap_watcher *watcher, mishap_level level, mishap_text words);
    bool (*stream)(const struct mishap_watcher *watcher, mishap_text media_type);
    bool (*piece)(const struct mishap_watcher *watcher, mishap_text piece);
    void (*mark)(const struct mishap_watcher *watcher, mishap_text mark); /* of a task; sound */
} mishap_watcher;

/* Writes a line for the operator. */
typedef void mishap_operator_line(const char *program, const char *operation, const char *id,
                                  mishap_text words, bool to_stderr);

/* A function to be called when the call ends. */
typedef struct mishap_deferred {
    void (*function)(void *argument);
    void *argument;
    struct mishap_deferred *before; /* deferred before this one, and called after it */
} mishap_deferred;

/*
 * What the getters read: the parameters of a call, or one value of them. It is the first member of
 * a call; any other part is in the arena, and handlers use it as a call, too.
 */
typedef struct mishap_call_part {
    mishap_call *call;             /* the call that it belongs to */
    const mishap_param *param;     /* the declaration of the value; NULL: any value */
    const mishap_param *container; /* the declaration of the array or object of an iteration */
    yyjson_val *value;             /* NULL in the call itself, which has `values` */
    yyjson_val *key;               /* of a member, during an iteration */
    size_t left;                   /* how many follow it in an iteration */
} mishap_call_part;

#define MISHAP_LOG_UNKNOWN UINT64_MAX

enum { MISHAP_OUTER_LEVELS = 6 }; /* most answers have no more */

struct mishap_call {
    mishap_call_part whole;
    const mishap_app *app;
    const mishap_operation *operation;
    mishap_arena arena;
    mishap_json_reader reader; /* of the arguments */
    yyjson_val *
        *values; /* one for each parameter, in the order of declaration: given, default, or NULL */
    size_t next_param; /* behind the one that a handler asked for last: any of its threads may */
    unsigned char *presence; /* of each, for MISHAP_TYPED: mishap_presence; NULL: not needed */
    size_t param_count;
    mishap_buffer answer;
    mishap_answer_kind answer_kind;
    struct {
        bool begun;
        size_t depth; /* how many objects and arrays are open */
        struct mishap_open {
            bool array, map;              /* all its values are declared by one parameter */
            const mishap_param *declared; /* its declared members, or items; NULL: not declared */
            /* Further levels; in the arena, NULL before they are used. */
        } outer[MISHAP_OUTER_LEVELS], *deeper;
    } writing;
    mishap_buffer text;     /* the same as text for readers: mishap_answer_text() */
    bool styled;            /* … which has styles: operation/styled.h */
    bool content;           /* it is JSON: an array of content blocks, for agents */
    mishap_buffer warnings; /* JSON strings, with commas between */
    size_t listed, total;   /* of a list that was cut; else both 0 */
    int limit_ms;           /* time of the handler, from its beginning; 0: unlimited */
    int64_t deadline_ns;    /* on the monotonic clock; 0: none */
    void *service_state;    /* of the operation's service; set before the handler runs */
    bool verbose;           /* the private side of failures is wanted on stderr, too */
    size_t columns; /* of the terminal that a command answers on; 0: unknown, or it is none */
    const char *read_data, *read_log; /* of a command of the operator: whose incidents; or NULL */
    int timeout_ms;                   /* the timeout that was asked for; 0: as declared */
    atomic_bool cancelled; /* the caller does not wait for the answer any more; set by any thread */
    const atomic_uchar *cancelled_by; /* set by another process: mishap_cancelled_how; or NULL */
    const mishap_call *within;        /* the call whose handler made this one; NULL: none */
    atomic_bool asked;                /* the handler asks whether it was cancelled */
    atomic_bool follows; /* it has no end of its own: for a command, Ctrl-C is how it ends */
    const struct mishap_watcher *watcher; /* the receiver of its reports; NULL: none */
    const char *caller;                   /* the name of the caller; NULL: it has none */
    bool caller_is_free;                  /* … and whether the caller may name itself */
    unsigned scopes;                      /* what the caller may do (base/scope.h) */
    uint64_t holder;                      /* the number of the caller; 0: it is not counted */
    uint64_t owner;           /* the number of its API key, whose sessions it may use; 0: no key */
    mishap_text session;      /* the handle of the session that it names beside its arguments */
    mishap_text conversation; /* the conversation that it belongs to; its session is used if the
                                 call names none */
    /* The process of a foreign program that is to run it; NULL: any. */
    struct mishap_foreign_process *process;
    const char *session_is; /* the handle of the session that it ran in; in the arena; NULL: none,
                               or the caller need not know */
    int64_t
        session_ends_s; /* … it ends in so many seconds, since the server stops; 0: it does not */
    /* The caller that a failure is counted for, or an address; may be NULL. */
    const char *counted_for;
    mishap_boundary_kind boundary; /* the boundary that received it */
    mishap_text request_id,
        remote;          /* no data: request_id is made when it is needed; remote is not known */
    mishap_text headers; /* the header fields that the operation declares, in that order:
                            "+VALUE\n", or "-\n" if it is absent */
    mishap_operator_line *to_operator; /* NULL: such lines are dropped */
    mishap_buffer said;                /* these lines: JSON strings with commas between */
    mishap_text traceparent;           /* the trace that it belongs to, as it came; no data: none */
    int status;                        /* the HTTP status that the handler chose; 0: as declared */
    const char *location;              /* the address of what was created; in the arena */
    const char *answer_type;           /* the media type of bytes; in the arena */
    mishap_buffer fields;              /* header lines of the program's own, for HTTP */
    const char *version;               /* of the answer, for its ETag; in the arena; NULL: none */
    mishap_text if_match, if_none_match; /* as they came; no data: absent */
    struct {
        yyjson_val *value; /* the file that the handler reads; NULL: none */
        mishap_text rest;  /* … what it has not read yet */
    } reading;
    struct mishap_upload *upload; /* the streamed file (upload.h); NULL: it is in the arguments */
    mishap_text body;             /* of a request that is not JSON; no data: none */
    const char *body_type;
    const char *cursor;     /* where a stream is resumed; NULL: it begins */
    const char *resumed_by; /* the address whose change resumes the stream; NULL: it has ended */
    struct {
        bool set;   /* the command ends as another program has, which it stands for */
        bool aside; /* … and standard output is that of the program: a failure goes to stderr */
        int exit_code; /* of the program */
        int signal;    /* that ended it; 0: none */
    } relayed;
    struct mishap_asked *questions; /* that the handler asks (asking.h); in the arena; or NULL */
    mishap_text replies;            /* the answers so far, as JSON (asking.h); no data: none */
    yyjson_val *replies_read;       /* … parsed, once the handler has asked for one */
    unsigned rounds;                /* how often its handler has asked before */
    struct {
        int64_t expires_ms; /* 0: there is none */
        uint64_t number;
        bool late; /* another call had the state */
    } claim;       /* of its state (claims.h): the runner makes it, and the call waits for it */
    bool crashed;  /* the handler crashed, inside containment */
    bool ended;    /* the handler did not return: its locks are still held */
    bool lost;     /* what its service opened is of no more use: mishap_service_lost() */
    /* Positions in the log of the database of its service (mishap_setup.stale_ms): what it must see
     * at least, and what it has seen and changed; 0: nothing. MISHAP_LOG_UNKNOWN: no standby is
     * known to have it. */
    uint64_t log_after, log_position;
    mishap_text id;   /* mishap_call_id(); no data: it is made when it is needed */
    bool repeated;    /* it may have run before, in a process that died */
    mishap_text mark; /* of its task, as an earlier run has left it; NUL follows; no text: none */
    const mishap_settlement *settlement; /* how its service settles it; NULL: it does not, or the
                                            handler has not begun */
    bool batched;                        /* … later, with others */
    atomic_bool overlong;  /* … and its reports are too long to be held until then */
    mishap_buffer changes; /* changes that are announced when it is settled, each NUL-terminated */
    const char
        *misuse; /* why the handler was aborted: it asked for an undeclared name, or no memory */
    const char *misused;            /* … the name it asked for */
    const mishap_trace *misused_at; /* … the stack, in the arena; NULL: not known */
    /* Values that a failure must not contain; NULL: not collected yet. */
    const mishap_secrets *secrets;
    mishap_deferred *deferred; /* the newest first; in the arena */
    sigjmp_buf *way_out;       /* set while the handler, or a function that it deferred, runs */
    char storage[];            /* for arguments of a few hundred bytes */
};

/*
 * Read the arguments, a JSON object, and check them. On success *out is the call, which must be
 * ended; else it is NULL and the mishap lists everything that is wrong.
 */
mishap *mishap_call_begin(const mishap_app *app, const mishap_operation *operation,
                          mishap_text arguments, mishap_call **out);

/* The same, but undeclared arguments, at any depth, are refused and not ignored. */
mishap *mishap_call_begin_closed(const mishap_app *app, const mishap_operation *operation,
                                 mishap_text arguments, mishap_call **out);

/*
 * The same with an object that was parsed already, from a text without the flaws of
 * base/json_read.h. It must live as long as the call.
 */
mishap *mishap_call_begin_with(const mishap_app *app, const mishap_operation *operation,
                               yyjson_val *arguments, mishap_call **out);

/*
 * The same in another process, with arguments that were checked already: they are only parsed, and
 * there is no deadline.
 */
mishap *mishap_call_remake(const mishap_app *app, const mishap_operation *operation,
                           mishap_text arguments, mishap_call **out);

/* Limit its time to so many milliseconds, if that is less than its operation declares; 0: no
 * change. */
void mishap_call_limit(mishap_call *call, int most_ms);

/*
 * Run the handler, and then the functions that it deferred, inside containment. A crash,
 * pthread_exit(), an invalid answer, or an undeclared code become INTERNAL_ERROR, with the real
 * reason on the private side. If its service has a settlement, the call is settled, unless it is
 * `batched`.
 */
mishap *mishap_call_run(mishap_call *call);

/* For a call that was run elsewhere: what mishap_call_run() does with the result of the handler. */
mishap *mishap_call_conclude(mishap_call *call, mishap *outcome);

/* The INTERNAL_ERROR for a handler that ends the process: the function that it called, such as
 * "exit(3)", and its stack. May be called on any thread while the call runs. */
mishap *mishap_call_report_exit(const mishap_call *call, const char *what,
                                const mishap_trace *trace);

/* The failure of a call of this operation if its batch could not be settled: a copy of that
 * failure, or INTERNAL_ERROR if the operation does not declare its code. */
mishap *mishap_call_not_settled(const mishap_app *app, const mishap_operation *operation,
                                const mishap *failure);

/* A mark has so many bytes at most, is UTF-8 and has no NUL. It is checked by each process that
 * gets one. */
enum { MISHAP_MARK_LIMIT = 4096 };
bool mishap_mark_is_sound(mishap_text mark);

/* Its answer: JSON, a document, or nothing. */
mishap_text mishap_call_answer(const mishap_call *call, mishap_answer_kind *kind);

/* Make a document that it answered valid UTF-8, if the protocol requires that. */
void mishap_call_clean_document(mishap_call *call);

/* The HTTP status of a successful call: as the handler chose, else as declared, else 200, or 204
 * without an answer. */
int mishap_call_status(const mishap_call *call);

/* The warnings: JSON strings with commas between, for an array. */
mishap_text mishap_call_warnings(const mishap_call *call);

void mishap_call_end(mishap_call *call);

/* In the process of its handler: the caller cannot read any answer. A caller that has only closed
 * its sending side still may. */
bool mishap_call_is_unheard(const mishap_call *call);

/* Pass it the header fields that its operation declares. `find` finds one; no data: it is
 * absent. */
typedef mishap_text mishap_header_finder(const void *state, mishap_text name);
mishap *mishap_call_keep_headers(mishap_call *call, mishap_header_finder *find, const void *state);

/* For the record of its failure: the arguments as a JSON object, without the values of secret
 * parameters; and the lines for the operator as an array, or nothing. */
void mishap_call_put_arguments(const mishap_call *call, mishap_buffer *json);
void mishap_call_put_words(const mishap_call *call, mishap_buffer *json);

/* The arguments of a call that was refused before it began: if they are no JSON object, only their
 * length. */
void mishap_operation_put_arguments(const mishap_operation *operation, mishap_text arguments,
                                    mishap_buffer *json);

/* Is the failure the outcome of an operation that judges (`.judges`)? Then it is no incident.
 * `operation` may be NULL. */
static inline bool mishap_operation_judged(const mishap_operation *operation, const mishap *failure)
{
    return operation && operation->judges &&
           mishap_told(failure)->code == MISHAP_CODE_NONCONFORMING;
}

/* Keep a line for the operator, if there is room. */
void mishap_call_keep_words(mishap_call *call, mishap_text words);

/* Close what the handler has left open of an answer that it wrote piece by piece. */
void mishap_answer_finish(mishap_call *call);

/* The handler made a mistake, or there is no memory: abort this call, and only this call. `name` is
 * what the handler asked for. */
_Noreturn void mishap_call_misuse(const mishap_call *call, const char *why, const char *name);

#define MISHAP_NO_MEMORY "there was not enough memory"

/* A call for reading arguments alone, which were parsed and perhaps refused: it is never run. */
mishap *mishap_call_view(const mishap_app *app, const mishap_operation *operation,
                         yyjson_val *arguments, mishap_call **out);

/* Hold an object against the rules of an operation, each parameter for itself and across
 * parameters. As mishap_params_check(). */
mishap *mishap_operation_check(const mishap_app *app, const mishap_operation *operation,
                               yyjson_val *object);

/* The handler of an operation: its address, for stacks. */
static inline uintptr_t mishap_operation_entry(const mishap_operation *operation)
{
    return operation->handler ? (uintptr_t)operation->handler : (uintptr_t)operation->run;
}

/* A value of the call as a part of it, in the arena. */
const mishap_call *mishap_call_part_of(mishap_call *call, const mishap_param *param,
                                       yyjson_val *value);

/* The bytes of a text of base64, in the arena. Without memory the call ends. */
mishap_text mishap_call_decode(const mishap_call *call, mishap_text base64);

/* The call that a part belongs to; of a call, itself. */
static inline mishap_call *mishap_call_whole(const mishap_call *call)
{
    return ((const mishap_call_part *)call)->call;
}

#endif
