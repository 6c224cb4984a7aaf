/*
 * src/wrap: a command of another program, run as if it were started directly, and the reason why it
 * failed.
 *
 *     run.c        starts the command, passes its output on and waits for its end
 *
 *     stream.c     one output: bytes from the command to their reader, and the last of them
 *
 *     terminal.c   a pseudo-terminal for a command whose stderr is a terminal
 *
 *     keys.c       … and the keys of the terminal that send signals
 *
 *     start.c      what keeps a command from starting, and programs with a similar name
 *
 *     rules.c      reads rules: which text or exit code of which program has which code
 *
 *     match.c      … a rule against lines, exit codes and names of programs
 *
 *     builtin/     the rules that are compiled in, a file for each theme
 *
 *     lines.c      the lines of an output that may say why, without those of a stack trace
 *
 *     judge.c      from the end of a command to a mishap
 *
 * The command keeps the environment, the working folder, standard input, further descriptors, the
 * process group and the ignored signals that this process was started with. Its output, the order
 * of it, its exit code and its death by a signal reach the caller as without this process.
 */
#ifndef MISHAP_WRAP_H
#define MISHAP_WRAP_H

#include <signal.h>
#include <sys/types.h>

#include "base/base.h"
#include "mishap/mishap.h"

/* What this process was started with, and has changed since. */
typedef struct mishap_wrap_origin {
    bool pipe_ignored, size_ignored; /* SIGPIPE, SIGXFSZ */
    unsigned closed;                 /* a bit for each of the three standard descriptors */
} mishap_wrap_origin;

/* To be called first in main(), before anything is opened or any signal is changed. */
void mishap_wrap_look(mishap_wrap_origin *origin);

enum { MISHAP_WRAP_TAIL = 64 * 1024 }; /* bytes that are kept of each output */

typedef struct mishap_wrap_command {
    const char *const *argv; /* ends with NULL; a name without a slash is searched in PATH */
    mishap_wrap_origin origin;
    int64_t timeout_ms; /* then its process group is ended; 0: never */
    bool capture;       /* standard output is not passed on, but kept … */
    size_t limit;       /* … up to so many bytes, and in a file if there are more */
} mishap_wrap_command;

/* How a command ended. */
typedef struct mishap_wrap_end {
    int error;              /* errno: it could not be started; 0: it was */
    int status;             /* as waitpid() has it */
    bool timed_out;         /* it was ended by this process */
    mishap_buffer err, out; /* the last MISHAP_WRAP_TAIL bytes of both; of standard output there are
                               none if it is a terminal or a file, and `err` has both if they are
                               the same */
    mishap_buffer captured; /* all of standard output, unless it is in a file */
    char file[128];         /* … this one; "": none */
    uint64_t bytes;         /* of standard output */
    int lost;               /* errno: some of standard output could not be written; 0: none */
} mishap_wrap_end;

/*
 * Run it. NULL: it has ended, or could not be started; mishap_wrap_end_release() is due in any
 * case. UNAVAILABLE: this process itself could not do its work, and nothing was started.
 */
mishap *mishap_wrap_run(const mishap_wrap_command *command, mishap_wrap_end *end);

void mishap_wrap_end_release(mishap_wrap_end *end);

/* -- start.c ----------------------------------------------------------------------------------- */

/* The mishap for a command that could not be started. Its exit code is 127 if there is no such
 * program, else 126. */
mishap *mishap_wrap_not_started(const char *const *argv, int error);
int mishap_wrap_start_status(int error);

/* -- rules.c ----------------------------------------------------------------------------------- */

typedef struct mishap_wrap_rules mishap_wrap_rules;

/* The rules that are compiled in: the files of builtin/, in the order in which they are tried; the
 * last row has no name. */
typedef struct mishap_wrap_builtin {
    const char *name; /* such as "builtin/git.rules" */
    mishap_text text;
} mishap_wrap_builtin;

extern const mishap_wrap_builtin mishap_wrap_builtins[];

/*
 * Read rules, in front of those that were read before; `name` is for messages. NULL: they are
 * right. VALIDATION_ERROR: all mistakes, each with its line. The text has to live as long as the
 * rules. *rules is NULL at first.
 */
mishap *mishap_wrap_rules_read(mishap_wrap_rules **rules, const char *name, mishap_text text);

/* Read those that are compiled in. */
mishap *mishap_wrap_rules_read_builtin(mishap_wrap_rules **rules);

void mishap_wrap_rules_free(mishap_wrap_rules *rules);

/* -- judge.c ----------------------------------------------------------------------------------- */

enum { MISHAP_WRAP_LONGEST_RULE = 4300 }; /* a path has 4,000 bytes at most */

/*
 * The failure of a command that has ended, NULL if it did not fail: its exit code is 0, or an
 * answer, as that of `grep` without a match. *rule is the rule that decided it, in `room`: its
 * file, its line and its programs, such as "builtin/git.rules:82 (git)"; it is "" if none did.
 */
mishap *mishap_wrap_judge(const mishap_wrap_rules *rules, const char *const *argv,
                          const mishap_wrap_end *end, char *rule, size_t room);

#endif
