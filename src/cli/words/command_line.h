/*
 * The words of a command line: which command they name, and the JSON object that it is called with.
 *
 *     command.c    which commands and flags there are: command.h
 *     words.c      flags and other words, and the values that they give
 *     settings.c   flags for settings of services, and the file of --config
 *     arguments.c  all together, and what is wrong with them: arguments.h
 */
#ifndef MISHAP_CLI_WORDS_COMMAND_LINE_H
#define MISHAP_CLI_WORDS_COMMAND_LINE_H

#include "base/base.h"
#include "cli/words/command.h"
#include "guard/guard.h"
#include "mishap/cli.h"
#include "mishap/dialect.h"
#include "operation/call.h"
#include "operation/upload.h"

/* One run of the program. It belongs to the main thread until the watcher claims the answer
 * (watch.c). */
typedef struct mishap_cli {
    const mishap_app *app;
    const mishap_operation *operation; /* NULL until it is known */
    const char *const *words;          /* the words after the program's name on the command line */
    size_t word_count;

    bool json;    /* the envelope, not text for a person */
    bool verbose; /* the private side on stderr too */
    bool color;
    bool envelope;  /* … because a flag says so */
    int out;        /* the real standard output, while descriptor 1 is captured */
    const char *to; /* --to: the file for an answer of bytes; NULL: standard output */
    int to_file;    /* … which is open; -1: it is not */
    bool to_made;   /* … and did not exist before */
    const char *body_file, *body_type; /* --body and --body-type; NULL: not given */
    const char *server;                /* --server; NULL: not given */
    const char *caller;                /* --caller; NULL: not given */
    const char *answers;               /* --answers; NULL: not given */
    bool detach;                       /* --detach */
    const char *task_store;            /* --task-store; NULL: not given */
    const char *read_data, *read_log;  /* --data and --log of the operator; NULL: not given */
    const mishap_dialect *dialect;     /* --dialect, of a failure; NULL: not given */
    mishap_buffer body;                /* the body that was read */
    mishap_upload upload;              /* the file that its handler reads, if it … */
    bool has_upload;                   /* … has one that is streamed */
    bool streamed;                     /* pieces of the answer were written already */
    uint64_t written;                  /* … so many bytes */
    int64_t started_ns, started_ms;
    int timeout_ms;    /* of the operation; 0 until it is known */
    int timeout_given; /* … if a flag gave it; else 0 */
    char request_id[MISHAP_ID_LENGTH + 1];
    const mishap_secrets *secrets; /* the values of secret parameters; the call owns them */
    mishap_text arguments;         /* of the operation, as JSON; no data: they were not read */
    const mishap_call *ended;      /* the call, when its handler has returned; or NULL */
    mishap_setup setup;     /* where services store their data, if the file of --config says it */
    mishap_watcher watcher; /* receives the reports of the running call */
} mishap_cli;

/* -- arguments.c and words.c --------------------------------------------------------------------
 */

/*
 * Convert the words after the command to a JSON object for the operation, and put the common flags
 * into `cli`. All mistakes are collected: an ARG_ERROR with a field for each.
 */
mishap *mishap_cli_read_arguments(mishap_cli *cli, const char *const *words, size_t count,
                                  mishap_buffer *object);

/* Read a whole file, or standard input for "-". */
bool mishap_cli_read_whole(const char *path, mishap_buffer *to);

/* -- settings.c ---------------------------------------------------------------------------------
 */

/*
 * The flags of a command beside its own parameters: --config, --store, and one for each setting of
 * a service. A command that serves has those of all services; any other those of its own service,
 * which it opens in its own process.
 */
typedef struct mishap_cli_flags_of {
    const mishap_param *list; /* its parameters, then these; the list ends with { 0 } */
    size_t own, count;        /* how many are its parameters; how many there are in all */
    size_t config, store;     /* the index of --config and --store; SIZE_MAX: it has none */
    bool config_by_variable;  /* a variable, and no flag, gives --config */
    struct mishap_cli_setting {
        const mishap_service *service;
        const mishap_param *setting; /* NULL: it is no setting */
    } * settings;                    /* of each that is no parameter */
} mishap_cli_flags_of;

/* True for a command that serves: one that keeps running, and has a data folder. */
bool mishap_cli_serves(const mishap_operation *operation);

/* All flags of a command, in the arena. False: there is no memory. */
bool mishap_cli_list_flags(const mishap_app *app, const mishap_operation *operation,
                           mishap_arena *arena, mishap_cli_flags_of *flags);

/* The program as help, manifest, completion and manual describe it: the same operations with all of
 * their flags as parameters. False: there is no memory. */
bool mishap_cli_describe(const mishap_app *app, mishap_arena *arena, mishap_app *described);

/*
 * Read the file that --config names, and use the values of flags (`values`, the JSON of each),
 * variables and that file for the services that the command may open. *found has a field for each
 * mistake, named by its source; NULL: there is none.
 */
mishap *mishap_cli_use_settings(mishap_cli *cli, const mishap_cli_flags_of *flags,
                                const mishap_buffer *values, mishap **found);

#endif
