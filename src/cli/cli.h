/*
 * src/cli: a program's operations as commands.
 *
 *     main.c       from argv to an exit code            command.c    which commands there are
 *     arguments.c  words into an object: arguments.h    describe.c   one parameter in words
 *     capture.c    what a handler writes by itself      exits.c      what a command can end with
 *     watch.c      timeout and signals                  help.c       usage, flags, examples
 *     leave.c      a handler that calls exit()          page.c       lines and columns for it
 *     answer.c     the envelope, or text for a person   manifest.c   all commands as JSON
 *     complete*.c  completion for bash, zsh and fish    manual.c     a page for man
 *     bytes.c      bodies and answers that are bytes    settings.c   flags for settings of services
 *     terminal.c   what the terminal can do             readable.c   answers for people: readable.h
 *     width.c      columns of text                      progress.c   how far a call is: progress.h
 *     words.c      the words of a command line          live.c       when progress is drawn
 *     table.c      a list of objects as a table         short.c      a value on one line
 *     next.c       the command for the next page        remote.c     a running server answers
 *
 * Every way out goes through answer.c: one JSON object and one line feed, with `ok` and the exit
 * code from one place.
 */
#ifndef MISHAP_CLI_CLI_H
#define MISHAP_CLI_CLI_H

#include <stdio.h>

#include "base/base.h"
#include "guard/guard.h"
#include "mishap/cli.h"
#include "mishap/dialect.h"
#include "operation/call.h"

/* One run of the program. It belongs to the main thread until the watcher claims the answer
 * (watch.c). */
typedef struct mishap_cli {
    const mishap_app *app;
    const mishap_operation *operation; /* NULL until it is known */
    const char *const *words;          /* what follows the program's name on the command line */
    size_t word_count;

    bool json;    /* the envelope, not text for a person */
    bool verbose; /* the private side on stderr too */
    bool color;
    bool envelope;  /* … because a flag says so */
    int out;        /* the real standard output, while descriptor 1 is caught */
    const char *to; /* --to: the file for an answer of bytes; NULL: standard output */
    int to_file;    /* … which is open; -1: it is not */
    bool to_made;   /* … and was not there before */
    const char *body_file, *body_type; /* --body and --body-type; NULL: not given */
    const char *server;                /* --server; NULL: not given */
    const char *caller;                /* --caller; NULL: not given */
    const mishap_dialect *dialect;     /* --dialect, of a failure; NULL: not given */
    mishap_buffer body;                /* what was read */
    bool streamed;                     /* pieces of the answer are out already */
    uint64_t written;                  /* … so many bytes */
    int64_t started_ns, started_ms;
    int timeout_ms;    /* of the operation; 0 until it is known */
    int timeout_given; /* … if a flag said it; else 0 */
    char request_id[MISHAP_ID_LENGTH + 1];
    const mishap_secrets *secrets; /* the values of secret parameters; the call's */
    mishap_setup setup;     /* where services keep their data, if the file of --config says it */
    mishap_watcher watcher; /* hears what the call says while it runs */
} mishap_cli;

/* -- the flags that every command has ---------------------------------------------------------- */

/* --output json|text, --dialect NAME, --timeout-ms N, --verbose, --help, --version: a parameter of
 * the same name takes precedence. */
enum { MISHAP_CLI_LONGEST_MS = 24 * 3600 * 1000 };
extern const mishap_param mishap_cli_flags[];

/* --caller NAME of operations whose callers name themselves, --server URL of those that run in
 * sessions, --body FILE and --body-type TYPE of those that
 * take a body, --to FILE of those that answer bytes. */
extern const mishap_param mishap_cli_bytes_flags[];

/* -- command.c --------------------------------------------------------------------------------- */

/* The operation that the first words name (`users create`), and how many words those are. NULL:
 * none. */
const mishap_operation *mishap_cli_find(const mishap_app *app, const char *const *words,
                                        size_t count, size_t *used);

/* The group of commands that the words name: `network.hosts` for `network hosts`, which begins
 * `network hosts list`. No data: there is none. */
mishap_text mishap_cli_group(const mishap_app *app, const char *const *words, size_t count);
bool mishap_cli_is_in_group(const mishap_operation *operation, mishap_text group);

/* The nearest of some names to a word that is none of them, NULL if none is near. The list ends
 * with NULL. */
const char *mishap_cli_nearest(const char *word, const char *const *names);

/* How a name is written on a command line: `users.create` as `users create`, timeout_ms as
 * timeout-ms, dueDate as due-date. */
void mishap_cli_put_command(mishap_buffer *buffer, const char *operation_name);
void mishap_cli_put_flag(mishap_buffer *buffer, const char *param_name);

/* Is a flag, without its hyphens, the name of this parameter? An underscore may be written as a
 * hyphen, and dueDate as due-date. */
bool mishap_cli_spells(const char *flag, size_t length, const char *param_name);

/* -- exit codes -------------------------------------------------------------------------------- */

/* One row of the exit codes that an operation can end with. */
typedef struct mishap_exit {
    int code;
    char name[48];
    char description[121];
    bool retryable;
    const char *side_effects; /* none, partial, complete */
} mishap_exit;

/* All of an operation: success, what it, its service and its program declare (`app` may be NULL),
 * and the framework's own (1, 2, 4, 10, 130, 143), in order, each once. Returns how many; `exits`
 * has room for `room`. */
size_t mishap_cli_exits(const mishap_app *app, const mishap_operation *operation,
                        mishap_exit *exits, size_t room);

/* -- help.c, manifest.c, complete.c, manual.c -------------------------------------------------- */

/* Help for the program (operation NULL) or for one operation, for people; with escape sequences if
 * `color`. */
void mishap_cli_put_help(mishap_buffer *buffer, const mishap_app *app,
                         const mishap_operation *operation, bool color);

/* … and for the commands of a group: `users` of `users create` and `users list`. */
void mishap_cli_put_help_of(mishap_buffer *buffer, const mishap_app *app, mishap_text group,
                            bool color);

/* {schema_version, framework_version, etag, commands{…}}: the same bytes for the same declarations.
 */
void mishap_cli_put_manifest(mishap_buffer *buffer, const mishap_app *app);

/* A completion script for `bash`, `zsh` or `fish`; false if there is none for that shell. */
bool mishap_cli_put_completion(mishap_buffer *buffer, const mishap_app *app, const char *shell);

/* A manual page (troff) for the whole program. */
void mishap_cli_put_manual(mishap_buffer *buffer, const mishap_app *app);

/* -- arguments.c and words.c ------------------------------------------------------------------- */

/*
 * The words behind the command as a JSON object for the operation, and the flags that every command
 * has into `cli`. All that is wrong is collected: an ARG_ERROR with a field each.
 */
mishap *mishap_cli_read_arguments(mishap_cli *cli, const char *const *words, size_t count,
                                  mishap_buffer *object);

/* The whole of a file, or of standard input for "-". */
bool mishap_cli_read_whole(const char *path, mishap_buffer *to);

/* -- settings.c -------------------------------------------------------------------------------- */

/*
 * The flags of a command beside its own parameters: --config, --store, and one for each setting of
 * a service. A command that serves has those of all services; any other those of its own service,
 * which it opens in its own process.
 */
typedef struct mishap_cli_flags_of {
    const mishap_param *list; /* its parameters, then these; the list ends with { 0 } */
    size_t own, count;        /* how many are its parameters; how many there are in all */
    size_t config, store;     /* where --config and --store are; SIZE_MAX: it has none */
    bool config_by_variable;  /* no flag gives --config */
    struct mishap_cli_setting {
        const mishap_service *service;
        const mishap_param *setting; /* NULL: it is none */
    } * settings;                    /* of each that is no parameter */
} mishap_cli_flags_of;

/* Is it a command that serves: one that stays, and has a data folder? */
bool mishap_cli_serves(const mishap_operation *operation);

/* All flags of a command, in the arena. False: there is no memory. */
bool mishap_cli_list_flags(const mishap_app *app, const mishap_operation *operation,
                           mishap_arena *arena, mishap_cli_flags_of *flags);

/* The program as help, manifest, completion and manual describe it: the same operations with all of
 * their flags as parameters. False: there is no memory. */
bool mishap_cli_describe(const mishap_app *app, mishap_arena *arena, mishap_app *described);

/*
 * Read the file that --config names, and use what flags (`values`, the JSON of each), variables and
 * that file say of the services that the command may open. *found has a field for each thing that
 * is wrong, named by where it came from; NULL: nothing is.
 */
mishap *mishap_cli_use_settings(mishap_cli *cli, const mishap_cli_flags_of *flags,
                                const mishap_buffer *values, mishap **found);

/* -- capture.c --------------------------------------------------------------------------------- */

/* Catch what is written to descriptor 1 from now on; cli->out is the real one. */
mishap *mishap_cli_capture(mishap_cli *cli);

/* What was caught since, up to some limit and without secrets, into the buffer, which is empty;
 * true if anything was. */
bool mishap_cli_captured(mishap_buffer *buffer, const mishap_secrets *secrets);

/* The same as a JSON string, for the warnings of an answer that is not main()'s. */
bool mishap_cli_put_captured(mishap_buffer *warning, const mishap_cli *cli);

/* -- answer.c ---------------------------------------------------------------------------------- */

typedef struct mishap_cli_answer {
    mishap *failure;        /* NULL: it worked */
    mishap_text data;       /* JSON, may be empty */
    bool as_json;           /* … which is shown as JSON to people, too */
    mishap_text text;       /* the same for a person; may be empty */
    mishap_text document;   /* printed as it is instead, if there is data in it */
    const char *media_type; /* of bytes that are the answer; NULL: there are none */
    mishap_text bytes;      /* … those that are not out already */
    mishap_text warnings;   /* JSON strings with commas between */
    size_t listed, total;   /* of a list that was cut; else both 0 */
    const char *signal;     /* the name of the signal that ended it, or NULL */
    int exit_code;          /* 0: as the failure says */
} mishap_cli_answer;

/* Keep what is private of a failure: in the log file, and with --verbose on stderr. True: the log
 * has it. Any thread. */
bool mishap_cli_record(const mishap_cli *cli, const mishap *failure);

/* Print the one answer and return the exit code. Nothing else of this boundary writes to standard
 * output. */
int mishap_cli_tell(mishap_cli *cli, const mishap_cli_answer *answer);

/* Write all of it; false: it could not be, and stderr says why. A reader that left is no failure,
 * but *gone. */
bool mishap_cli_write(const mishap_cli *cli, int file, mishap_text text, bool *gone);

/* -- remote.c ---------------------------------------------------------------------------------- */

/* Have the call run by the server that --server names, and wait: its answer is the call's. */
mishap *mishap_cli_ask_server(const mishap_cli *cli, mishap_call *call);

/* -- bytes.c ----------------------------------------------------------------------------------- */

/* Before the handler runs: read the body, open the file for the answer, refuse to show bytes on a
 * terminal. */
mishap *mishap_cli_bytes_begin(mishap_cli *cli);

/* The call gets its body, and pieces of a stream are written when they come. */
void mishap_cli_bytes_use(mishap_cli *cli, mishap_call *call);

/* The bytes of an answer: into the file or to standard output. *data becomes what is told of them,
 * as JSON; it stays empty if they are the answer. NULL: it worked. */
mishap *mishap_cli_bytes_write(mishap_cli *cli, const mishap_cli_answer *answer,
                               mishap_buffer *data);

/* Close the file. One that was not there before goes away with a failure. */
void mishap_cli_bytes_end(mishap_cli *cli, bool failed);

/* -- watch.c ----------------------------------------------------------------------------------- */

/* Watch the clock and SIGTERM, SIGINT from another thread, which answers and ends the program when
 * one of them comes. The call, NULL before there is one, is then told that it is cancelled. */
mishap *mishap_cli_watch(mishap_cli *cli, int timeout_ms, mishap_call *call);

/* Claim the right to answer. Only the first thread gets it; any other thread waits here for the end
 * of the program. */
void mishap_cli_claim_answer(void);

/* Claim it, and say whether it was given. */
bool mishap_cli_claim_first(void);

/* -- main.c ------------------------------------------------------------------------------------ */

/* Say on standard error what is wrong with the declarations, and return the exit code for it. */
int mishap_cli_refuse_program(mishap *broken);

/* -- leave.c ----------------------------------------------------------------------------------- */

/* From now on exit() and quick_exit(), on any thread of this process, answer INTERNAL_ERROR. */
mishap *mishap_cli_guard_exit(mishap_cli *cli, const mishap_call *call);

/* main() has answered, with this exit code: exit() is the program's again. */
void mishap_cli_unguard_exit(int status);

#endif
