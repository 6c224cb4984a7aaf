/* What every test program includes: cmocka, the library, and a few words to keep tests short. */
#ifndef MISHAP_TESTING_H
#define MISHAP_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mishap/dialect.h"
#include "mishap/mishap.h"

/* Does a sanitizer look on? It catches signals itself, its processes are large, and a fork() of one
 * takes milliseconds. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define TEST(name) cmocka_unit_test(name)
#define T(literal) ((mishap_text)MISHAP_TEXT(literal))

/* Run one group and speak TAP. */
#define RUN(tests)                                                                                 \
    (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests((tests), NULL, NULL))

/* Remove a folder with all that is in it: 0, or -1 and errno. */
int remove_tree(const char *folder);

/* The whole content of a file, which ends the program if it cannot be read. Ends with a NUL; free()
 * it. */
char *read_file(const char *path, size_t *length);

/* JSON without the white space between its tokens, in place. */
void squeeze_json(char *text, size_t *length);

/* The names of the entries of a folder below tests/, sorted, without those that start with a dot.
 */
char **list_folder(const char *path, size_t *count);

/* Render into malloc'ed memory with a NUL after it. */
char *rendered(const mishap_dialect *dialect, const mishap *m);

/* Parse, which must work. */
mishap *parsed(const mishap_dialect *dialect, const char *document, size_t length);

/* The names of the rules that a document breaks, separated by spaces, each once, in the order of
 * their first finding; warnings too. */
char *broken_rules(const mishap_dialect *dialect, const char *document, size_t length, bool strict);

/*
 * The table that a page of docs/ has between its two marks must be this one. With
 * MISHAP_UPDATE_DOCS in the environment it is written there instead.
 */
void assert_table_in_docs(const char *page, const char *table);

/* How many mappings this process has that others may share. */
size_t shared_mappings(void);

/*
 * An allocator that counts and fails: the `fail_at`-th call and all after it, or with `fail_once`
 * only that one; 0: none. `blocks` is how many it gave out and has not got back. In use after
 * mishap_use_allocator(&failing_allocator).
 */
extern size_t calls, fail_at;
extern bool fail_once;
extern long blocks;
extern const mishap_allocator failing_allocator;

/*
 * Run a scenario with the 1st, 2nd, … allocation failing, alone and with all after it, until one
 * run needs no more allocations than were allowed. Each run must leave no block behind. The
 * failing allocator is in use already.
 */
void torture(void (*scenario)(const void *input), const void *input);

/* What came of such a run is all of it, in canonical form, or the mishap that stands for no memory;
 * nothing in between. Frees the mishap. */
void assert_whole_or_no_memory(mishap *m, const char *whole);

/* The folder that holds the tests' data. */
const char *tests_folder(void);

#endif
