/*
 * What a test has asked of the library (mishap/test.h): a time, and faults.
 *
 * It is one page of memory that the process of a test shares with all processes that it forks, so a
 * server that a test has started obeys, too. A program that is no test has no such page, and pays
 * for one look at a pointer.
 */
#ifndef MISHAP_BASE_TRIAL_H
#define MISHAP_BASE_TRIAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum mishap_rehearsal_fault {
    MISHAP_REHEARSAL_NONE,
    MISHAP_REHEARSAL_STORE_GONE,     /* from the use number `at` of the store on, it is gone */
    MISHAP_REHEARSAL_KILLED,         /* the process ends at this use of the store; at 0: when the
                                    handler has returned */
    MISHAP_REHEARSAL_NO_MEMORY_ONCE, /* the allocation number `at` of a handler fails */
    MISHAP_REHEARSAL_NO_MEMORY,      /* … and all that follow in this call */
} mishap_rehearsal_fault;

enum { MISHAP_REHEARSAL_SCHEMAS = 16, MISHAP_REHEARSAL_ADDRESS = 4096, MISHAP_REHEARSAL_NAME = 64 };

/* A schema of PostgreSQL that was made for the test. */
typedef struct mishap_rehearsal_schema {
    atomic_bool kept;
    char name[MISHAP_REHEARSAL_NAME];
    char address[MISHAP_REHEARSAL_ADDRESS];
} mishap_rehearsal_schema;

/* Drop a schema. False: that failed. */
typedef bool mishap_rehearsal_drop(const char *address, const char *name);

typedef struct mishap_rehearsal {
    pid_t home; /* the process of the test, which no fault kills */
    atomic_bool time_is_set;
    _Atomic int64_t now_ms;
    atomic_uint fault; /* a mishap_rehearsal_fault */
    atomic_size_t at, uses;
    atomic_bool happened;
    char suffix[24];                       /* of the names of schemas; "": there is none */
    _Atomic(mishap_rehearsal_drop *) drop; /* valid in all processes, which were forked */
    mishap_rehearsal_schema schemas[MISHAP_REHEARSAL_SCHEMAS];
} mishap_rehearsal;

/* NULL: this program is no test. Written by the two functions below only, while there is one
 * thread. */
extern mishap_rehearsal *mishap_rehearsal_page;

/* False: there is no memory. */
bool mishap_rehearsal_begin(void);
void mishap_rehearsal_end(void);

/* Ask for a fault, in place of any other. `at` counts from 1. */
void mishap_rehearsal_ask(mishap_rehearsal_fault fault, size_t at);

/* One use of a store. True: the store is gone. */
bool mishap_rehearsal_use_store(void);

/* The store is gone already. */
bool mishap_rehearsal_store_is_gone(void);

/* This thread begins to run a handler, or has ended it; returns how it was before. */
bool mishap_rehearsal_handle(bool handles);

/* The handler has returned. */
void mishap_rehearsal_returned(void);

/* One allocation. True: it is to fail. */
bool mishap_rehearsal_lacks_memory(void);

/* Remember a schema that this test has made. False: there is no place, or the text is too long. */
bool mishap_rehearsal_keep_schema(mishap_rehearsal_drop *drop, const char *address,
                                  const char *name);

/* Drop all of them. The name of the first that could not be dropped, "" if all were. */
const char *mishap_rehearsal_drop_schemas(void);

#endif
