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
 * command. The handler runs on the calling thread, so the library cannot stop it at its timeout;
 * the handler can ask for the remaining time (mishap_call_time_left). A handler may invoke another
 * operation.
 *
 * Any thread may call these functions, except mishap_app_open() and mishap_app_close(). The caller
 * keeps all arguments, which are needed only during the call. The caller owns the results and frees
 * them. A program that is NULL gives NOT_CONFIGURED, an operation that is NULL gives NOT_FOUND.
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

/* Options of an invocation. All members are optional. */
typedef struct mishap_invocation {
    const char *caller; /* the result of mishap_caller() in the handler */
    int timeout_ms;   /* used if it is shorter than the timeout of the operation; 0: as declared */
    mishap_text body; /* for an operation that declares `.takes` */
    const char *body_type;
    struct mishap_foreign_process *process; /* that is to run it (mishap/worker.h); NULL: if it
                                               needs one, it is started for this call */
    const char *const *headers; /* header fields that the operation declares in `.headers`, as a
                                   name and its value by turns: { "User-Agent", "curl", NULL } */
    const mishap_call *within;  /* the call of the handler that invokes this one: if that is
                                   cancelled, this one is as well, and it has no more time. NULL:
                                   none */
    const char *scopes; /* of the caller: names with spaces between them, such as "call todos:read".
                           What the operation needs is checked. NULL: those of `within`, else all */
    const char *answers;         /* to the questions of its handler (mishap_ask), as JSON:
                                    {"confirm":{"sure":true}}; null declines. NULL: none. A question
                                    without an answer is INPUT_REQUIRED, which tells `questions` */
    const unsigned char *cancel; /* an atomic_uchar that a handler of a signal or another thread
                                    sets: mishap_cancelled() in the handler, and a process that
                                    runs the call is interrupted; NULL: none */
} mishap_invocation;

/* The answer of an operation. */
typedef struct mishap_answered {
    mishap_text text;        /* JSON, a document or bytes, NUL-terminated; no data: no answer */
    const char *media_type;  /* of the text; NULL: no text */
    const mishap_call *json; /* the answer for the getters of mishap/call.h, if it is JSON:
                                mishap_string(json, "a[2].b"). NULL: it is not JSON */
    int status;              /* the HTTP status */
    const char *location;    /* path of the new resource; may be NULL */
    mishap_text warnings;    /* an array of strings, as JSON */
    mishap_text words;       /* the same for readers: mishap_answer_text(); no data: none */
} mishap_answered;

/*
 * Run an operation of a program with a JSON object of arguments (NULL: none). On success NULL is
 * returned, and *out is the answer, to be freed with mishap_answered_free(). On failure the mishap
 * is returned, and *out is NULL. `how` may be NULL. `out` may be NULL if the answer is not needed.
 *
 * NOT_FOUND: the operation does not exist. NOT_CONFIGURED: its declaration is not valid. FORBIDDEN:
 * the caller does not have the scopes of the operation. A service
 * is opened at its first call, in the folder that was given to mishap_app_open().
 */
__attribute__((warn_unused_result)) mishap *
mishap_invoke(const mishap_app *app, const char *operation, const char *arguments,
              const mishap_invocation *how, mishap_answered **out);

/*
 * Run an operation with pairs of name and value as arguments (NULL: none). A pair whose value is
 * none is omitted.
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
__attribute__((warn_unused_result)) mishap *
mishap_invoke_with(const mishap_app *app, const char *operation, const mishap_invocation *how,
                   mishap_answered **out, const mishap_pair *pairs);

/* NULL is allowed. */
void mishap_answered_free(mishap_answered *answered);

/*
 * Check the declarations of a program and set the data folder of its services. `setup` is not
 * copied and must stay valid; NULL: the data folder of the user. `setup->config` contains settings
 * of the services, which are copied and checked now: NOT_CONFIGURED names all settings that are not
 * valid. Other settings are read from environment variables (mishap_service.settings). If this
 * function was not called, mishap_invoke() calls it with NULL. Call it before other threads invoke
 * an operation, and while no service is open.
 */
__attribute__((warn_unused_result)) mishap *mishap_app_open(const mishap_app *app,
                                                            const mishap_setup *setup);

/* Close all services. No other thread may be in a call. */
void mishap_app_close(void);

#ifdef __cplusplus
}
#endif

#endif
