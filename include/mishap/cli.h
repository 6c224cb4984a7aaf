/*
 * A program's operations as commands of a command line.
 *
 *     int main(int argc, char **argv)
 *     {
 *         return mishap_cli_main(argc, argv,
 *                                &(mishap_app){ .name = "directory", .operations = operations });
 *     }
 *
 * `directory users create --name Ada` then runs the operation users.create. On a terminal a person
 * gets readable text; a program gets the envelope: one JSON object, one line feed, nothing else on
 * standard output.
 */
#ifndef MISHAP_CLI_H
#define MISHAP_CLI_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Run the command that argv names and return the exit code. A declaration that is broken ends here,
 * with a sentence on stderr and exit 70, whatever the command; so does an app that is NULL.
 *
 * To be called once, by main(), while the program has no other thread: it changes standard output,
 * signals and the order of argv. `argv` and `app` stay the caller's.
 */
int mishap_cli_main(int argc, char **argv, const mishap_app *app);

#ifdef __cplusplus
}
#endif

#endif
