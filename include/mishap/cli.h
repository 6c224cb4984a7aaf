/*
 * A program's operations as commands of a command line.
 *
 *     int main(int argc, char **argv)
 *     {
 *         return mishap_cli_main(argc, argv,
 *                                &(mishap_app){ .name = "directory", .operations = operations });
 *     }
 *
 * `directory users create --name Ada` then runs the operation users.create. If standard output is a
 * terminal, the answer is readable text. Otherwise it is the envelope: one JSON object and one line
 * feed, and nothing else.
 */
#ifndef MISHAP_CLI_H
#define MISHAP_CLI_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Run the command that argv names and return the exit code. If a declaration is not valid, or if
 * `app` is NULL, the function prints a sentence to stderr and returns 70, for every command.
 *
 * To be called once, by main(), while the program has no other thread: the function changes
 * standard output, signals and the order of argv. The caller keeps `argv` and `app`.
 */
int mishap_cli_main(int argc, char **argv, const mishap_app *app);

#ifdef __cplusplus
}
#endif

#endif
