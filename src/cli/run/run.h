/*
 * src/cli: a program's operations as commands.
 *
 *     words/   the words of a command line: which command they name, and its arguments
 *     screen/  text for a terminal: widths, tables, values, the line of progress
 *     manual/  what a program says about itself: help, manifest, completion, a page for man
 *     run/     one run of the program, from argv to an exit code
 *
 * Arrows between them point up in this list, from a folder to those above it (tests/house).
 *
 *     main.c     from argv to an exit code           answer.c  the envelope, or text for a person
 *     calls.c    the call of a command, and one that goes on after the command
 *     capture.c  what a handler writes by itself     bytes.c   bodies and answers that are bytes
 *     watch.c    timeout and signals                 live.c    when progress is drawn, and the log
 *     leave.c    a handler that calls exit()         remote.c  a running server answers
 *     told.c     a failure for a person              recorded.c  … and for the operator
 *     relayed.c  a command that stands for another program
 *     ask.c      a handler that asks the person at the terminal
 *
 * Every way out goes through answer.c: one JSON object and one line feed, with `ok` and the exit
 * code from one place.
 */
#ifndef MISHAP_CLI_RUN_RUN_H
#define MISHAP_CLI_RUN_RUN_H

#include "cli/words/command_line.h"
#include "operation/hide.h"

/* -- capture.c --------------------------------------------------------------------------------- */

/* From now on capture what is written to descriptor 1; cli->out is the real one. */
mishap *mishap_cli_capture(mishap_cli *cli);

/* Copy what was captured, up to some limit and without secrets, into an empty buffer; true if there
 * was anything. */
bool mishap_cli_captured(mishap_buffer *buffer, const mishap_secrets *secrets);

/* The same as a JSON string, for the warnings of an answer that another thread than main()
 * gives. */
bool mishap_cli_put_captured(mishap_buffer *warning, const mishap_cli *cli);

/* -- calls.c ----------------------------------------------------------------------------------- */

/* Check the arguments and the caller. The call is to be ended in any case. */
mishap *mishap_cli_begin_call(mishap_cli *cli, mishap_text arguments, mishap_call **call);

/* What a call knows of the command that makes it. */
void mishap_cli_tell_call(mishap_cli *cli, mishap_call *call);

/* Have the call go on in another process, and print its id. Returns the exit code. */
int mishap_cli_run_detached(mishap_cli *cli, mishap_text arguments);

/* -- answer.c ---------------------------------------------------------------------------------- */

typedef struct mishap_cli_answer {
    mishap *failure;        /* NULL: success */
    mishap_text data;       /* JSON, may be empty */
    bool as_json;           /* … which is shown as JSON to people, too */
    mishap_text text;       /* the same for a person; may be empty */
    bool styled;            /* … with styles: operation/styled.h */
    mishap_text document;   /* printed unchanged instead, if it has data */
    const char *media_type; /* of an answer that is bytes; NULL: it is not */
    mishap_text bytes;      /* … those that were not written yet */
    mishap_text warnings;   /* JSON strings with commas between */
    size_t listed, total;   /* of a list that was cut; else both 0 */
    const char *signal;     /* the name of the signal that ended it, or NULL */
    int exit_code;          /* 0: that of the failure */
} mishap_cli_answer;

/* Record the failure that an answer tells (recorded.c): in the log file, and with --verbose on
 * stderr. `response` as it is printed; may be empty. True: it is in the log. */
bool mishap_cli_record(const mishap_cli *cli, const mishap_cli_answer *answer, mishap_text response,
                       const char *type);

/* A stack trace that was taken out of the answer belongs to that record. NULL is fine. */
void mishap_cli_keep_removed(mishap *found);

/* What the caller sent: the words of the command line, and the arguments that were made of them. */
mishap_sent mishap_cli_sent(const mishap_cli *cli);

int mishap_cli_exit_code(const mishap_cli_answer *answer);

/* Print the one answer and return the exit code. Nothing else of this boundary writes to standard
 * output. */
int mishap_cli_tell(mishap_cli *cli, const mishap_cli_answer *answer);

/* The same for a command that may stand for another program (relayed.c): then it ends as that
 * program has, and a failure is one line on stderr. */
int mishap_cli_tell_relayed(mishap_cli *cli, mishap_cli_answer *answer);

/* Write all of it; false: that failed, and stderr says why. If the reader has gone away, that is no
 * failure, but *gone is set. */
bool mishap_cli_write(const mishap_cli *cli, int file, mishap_text text, bool *gone);

/* -- told.c ------------------------------------------------------------------------------------ */

/* Code and message, what is wrong with each argument, the cause, the suggestion, the incident; and
 * where the log is, if it is `in_log`. */
void mishap_cli_put_failure(mishap_buffer *b, const mishap_cli *cli,
                            const mishap_cli_answer *answer, bool in_log);

/* A faint label; text that ends with a line feed. */
void mishap_cli_put_label(mishap_buffer *b, const mishap_cli *cli, const char *label);
void mishap_cli_put_whole_line(mishap_buffer *b, mishap_text words);

/* -- remote.c ---------------------------------------------------------------------------------- */

/* Have the server of --server run the call, and wait: its answer becomes the answer of the call. */
mishap *mishap_cli_ask_server(const mishap_cli *cli, mishap_call *call);

/* -- ask.c --------------------------------------------------------------------------------------
 */

/* Run the call, here or by a server. If its handler asks, the person at the terminal answers, and
 * it is run again. */
mishap *mishap_cli_run_call(mishap_cli *cli, mishap_call *call);

/* -- bytes.c ----------------------------------------------------------------------------------- */

/* Before the handler runs: read the body, open the file for the answer, refuse to show bytes on a
 * terminal. */
mishap *mishap_cli_bytes_begin(mishap_cli *cli);

/* Give the call its body, and write pieces of a stream when they come. */
void mishap_cli_bytes_use(mishap_cli *cli, mishap_call *call);

/* Write the bytes of an answer into the file or to standard output. *data is a description of them,
 * as JSON; it stays empty if they are the answer. NULL: success. */
mishap *mishap_cli_bytes_write(mishap_cli *cli, const mishap_cli_answer *answer,
                               mishap_buffer *data);

/* Close the file. A file that did not exist before is removed after a failure. */
void mishap_cli_bytes_end(mishap_cli *cli, bool failed);

/* -- watch.c ----------------------------------------------------------------------------------- */

/* Watch the time and SIGTERM, SIGINT on another thread, which answers and ends the program when one
 * of them comes. The call, NULL before there is one, is then cancelled. */
mishap *mishap_cli_watch(mishap_cli *cli, int timeout_ms, mishap_call *call);

/* The command waits for a person, which is not counted against its timeout; and goes on. */
void mishap_cli_watch_pause(bool paused);

/* Claim the right to answer. Only the first thread gets it; any other thread waits here for the end
 * of the program. */
void mishap_cli_claim_answer(void);

/* Try to claim it; true: this thread answers. */
bool mishap_cli_claim_first(void);

/* -- main.c ------------------------------------------------------------------------------------ */

/* Say on standard error what is wrong with the declarations, and return the exit code for it. */
int mishap_cli_refuse_program(mishap *broken);

/* What a command that checks all declarations checks besides; NULL: nothing. NULL from it: nothing
 * is wrong. */
typedef mishap *mishap_cli_checks(void);
extern mishap_cli_checks *mishap_cli_check_more;

/* -- leave.c ----------------------------------------------------------------------------------- */

/* From now on exit() and quick_exit(), on any thread of this process, answer INTERNAL_ERROR. */
mishap *mishap_cli_guard_exit(mishap_cli *cli, const mishap_call *call);

/* main() has answered, with this exit code: from now on exit() ends the program normally. */
void mishap_cli_unguard_exit(int status);

/* -- what a handler says while it runs (live.c) -------------------------------------------------
 */

/* On standard error: one line that shows how far it is, which is drawn again and again, and lines
 * of its log, which stay. */

/* Receive the reports of a call. To be called before the handler runs. */
void mishap_cli_live_use(mishap_cli *cli, mishap_call *call);

/* Draw the line again if it is time for that. Called some twenty times a second, on the thread of
 * the watcher. */
void mishap_cli_live_tick(void);

/* Erase the line. From now on it is not drawn any more; log lines still come. May be called on any
 * thread. */
void mishap_cli_live_erase(void);

/* … and nothing more is shown at all: the answer follows. */
void mishap_cli_live_end(void);

#endif
