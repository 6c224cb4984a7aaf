/*
 * lisp repl: a person at a terminal, or a pipe, in a session of Lisp.
 *
 *     repl.c        the loop: reads forms and evaluates them
 *     repl_calls.c  the calls to the session, which is started anew when it ends
 *     show.c        values, output, failures and restarts as a person reads them
 *     line.c        lines: editing, history
 *     characters.c  UTF-8 characters, for text that is typed and shown
 *     signals.c     Ctrl-C: stops an evaluation or drops a line
 */
#ifndef LISP_REPL_H
#define LISP_REPL_H

#include <stdio.h>

#include <mishap/invoke.h>
#include <mishap/worker.h>

#include "lisp/lisp.h"
#include "lisp/line.h"

enum { LISP_MOST_RESTARTS = 20 };

/* -- the session ------------------------------------------------------------------------------- */

typedef struct lisp_session {
    mishap_app app; /* the program, with the operations that the REPL calls */
    mishap_foreign_process *process;
    bool lost; /* the process ended during a call, and a new one was started */
} lisp_session;

/* Begin a session for the handler of `call`; end it. */
mishap *lisp_session_begin(lisp_session *session, const mishap_call *call);
void lisp_session_end(lisp_session *session);

/* End its process and start a new one. */
mishap *lisp_session_renew(lisp_session *session);

/* Call an operation: mishap_invoke_with(). If the process ended, `lost` is set and a new one was
 * started; if that failed, *fatal says why. A signal (lisp_signals_mind) ends a call of code. */
mishap *lisp_session_call(lisp_session *session, const char *operation, const mishap_pair *pairs,
                          mishap_answered **out, mishap **fatal);

/* The path of the history, in the data folder, which the caller releases with mishap_release().
 * NULL: there is no such folder. */
char *lisp_session_history(lisp_session *session);

/* -- showing ----------------------------------------------------------------------------------- */

typedef struct lisp_screen {
    bool person; /* a person at a terminal: control characters in the output of code are replaced */
    bool color;
} lisp_screen;

void lisp_show_text(const lisp_screen *screen, FILE *to, mishap_text text); /* ends its line */
void lisp_show_answer(const lisp_screen *screen, const mishap_answered *answered);
void lisp_show_failure(const lisp_screen *screen, lisp_session *session, const mishap *failure);
void lisp_show_restarts(const lisp_screen *screen, const mishap_answered *prompt);
void lisp_show_frames(const lisp_screen *screen, const mishap_answered *backtrace);

#endif
