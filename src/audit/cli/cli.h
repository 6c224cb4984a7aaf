/*
 * src/audit/cli: the audit of a command.
 *
 *     cli.c       the audit: which runs are made, in which order
 *     judge.c     what every run is held against
 *     help.c      what the text of --help says about commands
 *     envelope.c  the rules of programs that print the error envelope of a Mishap program
 *     checks.c    the table of the checks
 *
 * A run has an empty HOME, an empty working folder, an empty standard input and a time limit
 * (src/audit/process). The runs are: --help; a flag that does not exist; a command that does not
 * exist, if the help lists commands; --help with an output that nothing reads; and the command as
 * it is, which gets SIGTERM.
 */
#ifndef MISHAP_AUDIT_CLI_CLI_H
#define MISHAP_AUDIT_CLI_CLI_H

#include "audit/audit.h"

typedef struct mishap_audit_cli_target {
    const char *const *argv; /* the command; ends with NULL */
    int run_ms;              /* time limit of a run; 0: 10 s */
} mishap_audit_cli_target;

/* The checks; the list ends with { 0 }. */
extern const mishap_audit_check mishap_audit_cli_checks[];

/* A failure means that there was no audit, such as a command that does not exist. What a target
 * does wrong is a finding. */
mishap *mishap_audit_cli(mishap_audit *audit, const mishap_audit_cli_target *target);

#endif
