/*
 * An operation as a plain C call: the fourth boundary, beside commands, HTTP and MCP.
 *
 *     mishap_answered *answered;
 *     mishap *failure = mishap_invoke(&app, "users.get", "{\"email\":\"ada@example.com\"}", NULL,
 *                                     &answered);
 *     if (failure)
 *         return failure;
 *     printf("%s\n", mishap_string(answered->json, "name"));
 *     mishap_answered_free(answered);
 *
 * The arguments go through the same checks, and a handler that crashes is contained, as it is in a
 * command. It runs on the thread that calls, so nothing can end it when its time is up; it is told
 * how much is left (mishap_call_time_left). A handler may invoke another operation.
 *
 * Any thread may call these functions, but for mishap_app_open() and mishap_app_close(). What is
 * handed in stays the caller's and is needed during the call alone; what comes back is the caller's
 * and is to be freed. A program that is NULL is NOT_CONFIGURED, an operation that is NULL
 * NOT_FOUND.
 */
#ifndef MISHAP_INVOKE_H
#define MISHAP_INVOKE_H

#include "mishap/operation.h"

#ifdef __cplusplus
#include <initializer_list>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How to call it; what is left out is not said. */
typedef struct mishap_invocation {
    const char *caller; /* who calls: mishap_caller() in the handler */
    int timeout_ms;     /* if that is less than what the operation has; 0: as declared */
    mishap_text body;   /* for an operation that declares `.takes` */
    const char *body_type;
    struct mishap_foreign_process *process; /* that is to run it (mishap/worker.h); NULL: if it needs
                                               one, it is started for this call */
    const unsigned char *cancel; /* an atomic_uchar that a handler of a signal or another thread
                                    sets: mishap_cancelled() in the handler, and a process that
                                    runs the call is interrupted; NULL: none */
} mishap_invocation;

/* What an operation answered. */
typedef struct mishap_answered {
    mishap_text text;        /* JSON, a document or bytes, with a NUL behind; no data: nothing */
    const char *media_type;  /* of the text; NULL: there is none */
    const mishap_call *json; /* the same for the getters, if it is JSON: mishap_string(json,
                                "a[2].b") and all others of mishap/call.h. NULL: it is none */
    int status;              /* that HTTP would say */
    const char *location;    /* of what was created; may be NULL */
    mishap_text warnings;    /* an array of strings, as JSON */
    mishap_text words;       /* the same for readers: mishap_answer_text(); no data: none */
} mishap_answered;

/*
 * Run an operation of a program with a JSON object of arguments (NULL: none). NULL if it worked:
 * then *out is what it answered, for mishap_answered_free(). Else it is the mishap, and *out is
 * NULL. `how` may be NULL, and `out` as well, if the answer is not wanted.
 *
 * NOT_FOUND: there is no such operation. NOT_CONFIGURED: its declaration is broken. A service is
 * opened by its first call, in the folder that mishap_app_open() named.
 */
mishap *mishap_invoke(const mishap_app *app, const char *operation, const char *arguments,
                      const mishap_invocation *how, mishap_answered **out);

/*
 * The same with pairs (NULL: none). A pair whose value is none is left out.
 *
 *     failure = mishap_invoke_with(&app, "users.get", NULL, &answered,
 *                                  MISHAP_PAIRS({ "email", MISHAP_VALUE(email) }));
 */
typedef struct mishap_pair {
    const char *name;
    mishap_value value;
} mishap_pair;
#ifndef __cplusplus
#define MISHAP_PAIRS(...) ((const mishap_pair[]){ __VA_ARGS__, { NULL, mishap_value_none() } })
#else
#define MISHAP_PAIRS(...)                                                                          \
    (std::initializer_list<mishap_pair>{ __VA_ARGS__, { NULL, mishap_value_none() } }.begin())
#endif
mishap *mishap_invoke_with(const mishap_app *app, const char *operation,
                           const mishap_invocation *how, mishap_answered **out,
                           const mishap_pair *pairs);

/* NULL is allowed. */
void mishap_answered_free(mishap_answered *answered);

/*
 * Check the declarations of a program and say where its services keep their data, which is
 * remembered, not copied; NULL: in the folder of the user. `setup->config` has settings of its
 * services, which are copied and checked now: NOT_CONFIGURED names all that are wrong. What is not
 * in it comes from variables (mishap_service.settings). Without this call mishap_invoke() does so
 * with NULL. To be called before other threads invoke anything, while no service is open.
 */
mishap *mishap_app_open(const mishap_app *app, const mishap_setup *setup);

/* Close what services have opened. No other thread may be calling. */
void mishap_app_close(void);

#ifdef __cplusplus
}
#endif

#endif
