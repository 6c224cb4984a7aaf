/*
 * The version of the library.
 *
 * MISHAP_VERSION is that of the header that a program was compiled with, and mishap_version() that
 * of the library that it runs with. They differ if the shared library was upgraded. Numbers can be
 * compared: 0.1.0 is 1000, 1.2.3 is 1002003.
 */
#ifndef MISHAP_VERSION_H
#define MISHAP_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define MISHAP_VERSION        "0.1.0"
#define MISHAP_VERSION_NUMBER 1000

/* The version of the library that runs: "0.1.0". */
const char *mishap_version(void);

/* The same as a number. */
int mishap_version_number(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
