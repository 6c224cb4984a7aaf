/* What the files of src/audit/cli share. */
#ifndef MISHAP_AUDIT_CLI_INSIDE_H
#define MISHAP_AUDIT_CLI_INSIDE_H

#include "audit/cli/cli.h"
#include "audit/process/process.h"

/* The checks, in the order of the table. */
enum {
    CLI_ENDS,
    CLI_BOUNDED,
    CLI_CRASH,
    CLI_FLAG_FAILS,
    CLI_FLAG_REPORTED,
    CLI_FLAG_NAMED,
    CLI_COMMAND_FAILS,
    CLI_COMMAND_NAMED,
    CLI_HELP_EXIT,
    CLI_HELP_TEXT,
    CLI_HELP_FILES,
    CLI_ESCAPES,
    CLI_LEAK,
    CLI_SIGTERM,
    CLI_PIPE,
    CLI_LEFT,
    CLI_ENVELOPE,
    CLI_OK,
    CLI_USAGE_EXIT,
    CLI_MANIFEST,
};

/* One run of the command. */
typedef struct cli_run {
    const char *place; /* the last word of its command line; "(no argument)" */
    mishap_text line;  /* the whole command line */
    mishap_audit_process process;
} cli_run;

/* What the help says of commands. */
typedef struct cli_help {
    bool lists_commands;
    bool has_manifest; /* one of them is `manifest`, and it shows the commands */
} cli_help;

/* Read the text of --help. It is not trusted. */
cli_help mishap_audit_cli_read_help(mishap_text help);

/* Is there an escape sequence in the text? */
bool mishap_audit_cli_has_escape(mishap_text text);

/* What was seen in a run: a sentence, and how it ended with the begin of its output. */
__attribute__((format(printf, 5, 6))) void mishap_audit_cli_judge(mishap_audit *audit, int check,
                                                                  bool holds, cli_run *run,
                                                                  const char *format, ...);

/* The checks that each run is held against. False: it did not end by itself, so nothing more can be
 * said about it. `is_help`: its output is documentation, which may have examples of passwords. */
bool mishap_audit_cli_judge_run(mishap_audit *audit, cli_run *run, bool is_help);

/* Is the standard output an error envelope (seed 001)? */
bool mishap_audit_cli_has_envelope(const cli_run *run);

/* The checks of seed 001 for a run that is refused. */
void mishap_audit_cli_judge_envelope(mishap_audit *audit, cli_run *run);

/* The manifest of seed 001: has this output one? And the check of it. */
bool mishap_audit_cli_has_manifest(const cli_run *run);
void mishap_audit_cli_judge_manifest(mishap_audit *audit, cli_run *run);

#endif
