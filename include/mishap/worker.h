/*
 * Foreign programs as workers: a service whose calls another program runs, in a process of its own.
 * docs/program.md has a complete example.
 *
 *     static const mishap_foreign interpreter = {
 *         .program = "/usr/bin/python3",
 *         .arguments = MISHAP_CHOICES("-I", "/usr/share/sample/interpreter.py"),
 *         .sandbox = &profile,
 *         .sessions = true,
 *     };
 *     static const mishap_service python = { "python", .worker = &interpreter };
 *
 *     { "python.evaluate", "Evaluate an expression", .run = mishap_foreign_run, .service = &python,
 *       .params = MISHAP_PARAMS({ "code", MISHAP_STRING, .required = true }, MISHAP_SESSION_PARAM),
 *       .answers = MISHAP_PARAMS({ "value", MISHAP_STRING }, MISHAP_SESSION_ANSWER),
 *       .raises = MISHAP_RAISES(RUNTIME_ERROR, NOT_FOUND, NOT_CONFIGURED), … }
 *
 * The program reads calls from a socket and answers them: docs/worker-protocol.md. A server checks
 * the arguments, sends the call straight to the process, checks the answer against the declaration,
 * and reports and logs failures like those of any handler. It starts the processes before they are
 * needed, interrupts and then kills those whose time is over, and replaces those that die. A
 * command and mishap_invoke() start a process for one call.
 *
 * An operation of such a service that needs no such process has its own function in `.run`.
 */
#ifndef MISHAP_WORKER_H
#define MISHAP_WORKER_H

#include "mishap/exits.h"
#include "mishap/operation.h"
#include "mishap/sandbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a process ended that had a call. */
typedef struct mishap_foreign_end {
    const char *operation; /* the name of the operation that was called */
    int status;            /* as waitpid() has it; -1: it is not known */
    bool timed_out;        /* the time of the call was over, and it did not stop */
    bool cancelled;        /* no caller waited for the call any more, and it did not stop */
    bool code_began;       /* code of a caller ran in it: the status may be that code's choice */
    const char *broke;     /* how it broke the protocol, and was killed for it; NULL: it did not */
    const char *exceeded;  /* "memory", "threads" or "files", of which it had more than its profile
                              gives it, and was killed for it; NULL: nothing */
    int limit_ms;          /* the time that the call had; 0: any */
    mishap_text output;    /* the end of what it wrote to descriptors 1 and 2: not for callers */
} mishap_foreign_end;

/*
 * Code of callers that runs in the process of a program. It can write to the socket of the program,
 * so it can say what the program could. From the moment at which the program announces that code
 * begins (`begins`, docs/worker-protocol.md), the server takes from the process only what the code
 * could have had by returning a value or by raising an error:
 *
 *   - an answer that matches the declaration;
 *   - the shape of a failure: type, message, stdout, backtrace and the named members of `context`.
 *     The server chooses the code among those below, and the category, the retry advice and the
 *     suggestion belong to that code.
 *
 * Everything else that the process sends is ignored, and ends neither the call nor the process.
 */
typedef struct mishap_foreign_code {
    const mishap_code *const *raises; /* MISHAP_RAISES(…): the codes that its failures may have; any
                                         other becomes the first of them. TIMEOUT and CANCELLED need
                                         not be listed: the server checks whether they are true */
    const char *const *context; /* the members of `context` that it may fill; the list ends with
                                   NULL; NULL: none */
    const char *type; /* the type of a failure that names none, or one that is spelled like
                         a code of the catalog. So each failure of code has a type */
    bool conditions;  /* its types are those of conditions: a type that is spelled like one
                         of its own codes stays */
    const char
        *timed_out; /* the message when its time was over, with %s for how long that was, and … */
    const char *cancelled; /* … when its call was cancelled; NULL: the message of the process */
    const char *ends;      /* the operation after whose answer the process ends, such as
                              "lisp.reset"; NULL: none. `last` counts there alone */
} mishap_foreign_code;

typedef struct mishap_foreign {
    const char *program;            /* the absolute path of the program */
    const char *const *arguments;   /* without the program itself; the list ends with NULL */
    const char *const *environment; /* "NAME=value"; the list ends with NULL; NULL: empty. With a
                                       sandbox it is that of the profile */
    const mishap_sandbox_profile *sandbox; /* NULL: none */

    int ready_ms;            /* how long it may take to start; 0: 30 seconds */
    int grace_ms;            /* … to end a call that is interrupted; 0: 500 */
    const char *limit_param; /* the parameter in which a call says how many seconds it may take; it
                                is killed a second later than that, if it has not ended then. NULL:
                                there is none, and what operations declare counts */
    int usual_limit_ms;      /* … where a call does not say; 0: as declared */
    bool untimed;        /* it does not keep that time itself: it is interrupted when the time is
                            over, not a second later */
    size_t answer_limit; /* bytes of a message from it; 0: 4 MiB */
    bool once;           /* a process serves one call; another one waits for the next */

    const mishap_foreign_code *code; /* of callers, which runs in the process; NULL: none does */

    bool sessions;         /* there is a process for each session, whose state it keeps */
    bool waits;            /* of sessions: in a server, one process waits for the next session */
    int idle_ms;           /* how long a session may be idle before it is ended; 0: 30 minutes */
    int unnamed_ms;        /* … one that no call has named; 0: one minute */
    int most_sessions;     /* of a server; 0: 128 */
    uint64_t caller_bytes; /* of memory that the sessions of one caller hold together, beside files
                              that they have mapped: above this the largest is ended after its
                              call. 0: any */

    /* Can the program be started at all? Asked before a process is, in the process that serves or
     * calls: it must be quick. The failure, such as NOT_CONFIGURED with the name of what is
     * missing, is told to all callers. NULL: it can. */
    mishap *(*usable)(void);

    /* What is told of a call whose process ended before it answered; NULL: let the library tell,
     * which is TIMEOUT or INTERNAL_ERROR. It runs in the process that serves: it must be quick.
     * It is not asked about a process that failed by itself (mishap/exits.h) before code of a
     * caller began: that is INTERNAL_ERROR. What was found out is noted on the failure for the
     * operator in any case. */
    mishap *(*ended)(const mishap_foreign_end *end);
} mishap_foreign;

/* The handler of an operation whose calls are run by the foreign program of its service. */
mishap *mishap_foreign_run(mishap_call *call);

/*
 * A process of a foreign program for several calls of one caller, such as a person at a terminal:
 *
 *     failure = mishap_foreign_start(&app, &interpreter, &process);
 *     failure = mishap_invoke(&app, "python.evaluate", arguments,
 *                             &(mishap_invocation){ .process = process }, &answered);
 *     mishap_foreign_stop(process);
 *
 * It is used by one thread, and one call runs at a time. mishap_foreign_interrupt() has the call
 * that runs end, and may be called in a handler of a signal. After a call during which the process
 * ended it is over: mishap_foreign_is_over(). A call for a process that has ended before is
 * UNAVAILABLE, and was not begun: mishap_foreign_was_given_a_call() is false for a process that was
 * to have its first call then. A failure that code of a caller told cannot pass for that.
 *
 * mishap_foreign_launch() starts one and does not wait until it is ready: the first call does. So a
 * program can have the process for its next call start while it goes on.
 */
typedef struct mishap_foreign_process mishap_foreign_process;
mishap *mishap_foreign_start(const mishap_app *app, const mishap_foreign *foreign,
                             mishap_foreign_process **out);
mishap *mishap_foreign_launch(const mishap_app *app, const mishap_foreign *foreign,
                              mishap_foreign_process **out);
void mishap_foreign_interrupt(mishap_foreign_process *process);
bool mishap_foreign_is_over(const mishap_foreign_process *process);
bool mishap_foreign_was_given_a_call(const mishap_foreign_process *process);
void mishap_foreign_stop(mishap_foreign_process *process); /* NULL is allowed */

/*
 * Sessions. Each is a process with its state, and has a handle that cannot be guessed. A call names
 * its session by the parameter `session`, or by the header field Mishap-Session; an agent of a
 * revision of MCP that has sessions need not name one. A call that names none begins one. The
 * handle is the member `session` of the answer, if `.answers` declares it, the header field
 * Mishap-Session of the reply, and told as `session` with a failure. A session belongs to the
 * caller that began it: for any other it is NOT_FOUND, which the operation must declare.
 *
 * A session whose process died, or that was idle for too long, begins afresh with the next call
 * that names it, which is then warned.
 */
#define MISHAP_SESSION_PARAM                                                                       \
    {                                                                                              \
        "session", MISHAP_STRING, .pattern = "^[0-9a-f]{48}$",                                     \
                                  .help = "The session to go on in; without it, the one of an "    \
                                          "MCP conversation, or a new one",                        \
                                  .placeholder = "ID",                                             \
                                  .looks = "an id from an earlier answer"                          \
    }
#define MISHAP_SESSION_ANSWER                                                                      \
    {                                                                                              \
        "session", MISHAP_STRING, .help = "The session, for calls that go on in it"                \
    }

#ifdef __cplusplus
}
#endif

#endif
