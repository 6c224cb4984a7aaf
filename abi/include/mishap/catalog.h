/*
 * The catalog: the fixed properties of each error code.
 *
 * The rows are generated from a table in plain text (catalog/codes.txt). A program adds a table of
 * its own, made by the same generator, with mishap_catalog_add().
 *
 * Tables are constant and live as long as the program: the caller must not free anything. Any
 * thread may call these functions after all tables were added. A name that is NULL or empty is not
 * found.
 */
#ifndef MISHAP_CATALOG_H
#define MISHAP_CATALOG_H

#include <stdint.h>

#include "mishap/text.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The category of a failure: where its origin lies. */
typedef enum mishap_category {
    MISHAP_VALIDATION, /* the input of the caller is wrong */
    MISHAP_PERMISSION, /* the caller has no permission */
    MISHAP_RESOURCE,   /* a resource is missing, or exists already */
    MISHAP_EXECUTION,  /* the operation started and failed */
    MISHAP_SYSTEM,     /* a fault of this system, or of one that it depends on */
} mishap_category;
enum { MISHAP_CATEGORIES = MISHAP_SYSTEM + 1 };

typedef enum mishap_retry {
    MISHAP_RETRY_NEVER, /* the same call will fail again */
    MISHAP_RETRY_FIX,   /* it may succeed after the caller has corrected it */
    MISHAP_RETRY_YES,   /* the same call may succeed later */
} mishap_retry;

/* The effects that a failed call can leave. */
typedef enum mishap_effects {
    MISHAP_EFFECTS_NONE,
    MISHAP_EFFECTS_PARTIAL,
} mishap_effects;

/*
 * A row. Each code is an object of its own (mishap_code_NOT_FOUND), and its address identifies it.
 * Programs may hold a copy of such an object, so its size and the places of its members never
 * change: new members take the place of `reserved`.
 */
typedef struct mishap_code {
    mishap_text name;         /* NOT_FOUND */
    mishap_text condition;    /* NOT-FOUND: the type in a condition report */
    mishap_text snake;        /* not_found: the code of an artifact */
    mishap_text http_name;    /* not_found: the `error` of the HTTP API */
    mishap_text tool_type;    /* ValueError: one of the six types of a tool result */
    mishap_text title;        /* Not found: the kind of failure in a few words */
    mishap_text message;      /* the default message */
    mishap_text http_message; /* the default message of the HTTP API, if it differs; else empty */
    mishap_text suggestion;   /* what the caller can do; may be empty */
    mishap_text docs_url;     /* empty if the catalog has no documentation URL */
    mishap_category category;
    mishap_retry retry;
    mishap_effects effects;
    int http_status;
    int exit_code;
    int rpc_code;
    int64_t retry_after_ms; /* -1: no advice */
    bool masked;  /* messages raised under this code are private: the caller gets `message` */
    uint16_t row; /* its place in its table */
    const void *reserved[7]; /* NULL */
} mishap_code;

/* The spellings by which a code can be found. */
typedef enum mishap_spelling {
    MISHAP_SPELLING_NAME,
    MISHAP_SPELLING_CONDITION,
    MISHAP_SPELLING_SNAKE,
    MISHAP_SPELLING_HTTP,
    MISHAP_SPELLING_TOOL, /* the one code that a type is read back as */
} mishap_spelling;
enum { MISHAP_SPELLINGS = MISHAP_SPELLING_TOOL + 1 };

/* Rows in the order of one spelling: shorter first, then by bytes. */
typedef struct mishap_catalog_index {
    const uint16_t *rows;
    size_t count;
} mishap_catalog_index;

/* One table, as the generator writes it. Its size and the places of its members never change. */
typedef struct mishap_catalog {
    const char *name;
    const mishap_code *const *codes;
    size_t count;
    const mishap_catalog_index *index; /* one for each spelling */
    size_t spellings;                  /* how many */
    struct mishap_catalog *next;       /* set by the library */
    const void *reserved[2];           /* NULL */
} mishap_catalog;

/* The table of catalog/codes.txt. */
extern mishap_catalog mishap_code_table;

/*
 * Register the table of a program. Its codes can then be declared, and documents with these codes
 * can be read. Call it at the start, before other threads run. The program owns the table, which
 * must live until the program ends. NULL, or a table that was added before, changes nothing. If two
 * tables have the same code, the table that was added first is used; the built-in table is the very
 * first.
 */
void mishap_catalog_add(mishap_catalog *catalog);

/* All tables, the built-in one first. */
const mishap_catalog *mishap_catalog_first(void);

/* The row with this spelling, NULL if no table has it. */
const mishap_code *mishap_catalog_find(mishap_spelling spelling, mishap_text text);

/* The row that is named like the HTTP status itself (402: PAYMENT_REQUIRED), NULL if the status has
 * no name. */
const mishap_code *mishap_catalog_for_status(int http_status);

/* The phrase of an HTTP status of an error ("Payment Required"), NULL if it has none. */
const char *mishap_http_phrase(int http_status);

/* `validation`, `permission`, … and back: NULL and false if there is no such category. */
const char *mishap_category_name(mishap_category category);
bool mishap_category_find(mishap_text name, mishap_category *category);

/* UPPER_SNAKE, the only form of a name: a capital letter, then at least one more of A-Z, 0-9 and _.
 */
bool mishap_code_name_valid(mishap_text name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
