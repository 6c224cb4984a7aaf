/* What the readers of src/upstream share: what was found in a body so far. */
#ifndef MISHAP_UPSTREAM_INSIDE_H
#define MISHAP_UPSTREAM_INSIDE_H

#include "base/base.h"
#include "base/trim.h"
#include "upstream/upstream.h"

typedef struct mishap_upstream_field {
    struct mishap_upstream_field *next;
    mishap_field field;
} mishap_upstream_field;

typedef struct mishap_upstream_reading {
    const mishap_upstream_response *response;
    mishap_arena arena;        /* texts that had to be made */
    mishap_json_reader reader; /* of the body … */
    mishap_json_reader inner;  /* … and of JSON in a string of it */
    const char *shape;
    int status;          /* that the body names; 0: it names none */
    mishap_text message; /* as it stands in the body: it may be anything */
    mishap_text code;    /* the name of the failure, in the words of the other program */
    yyjson_val *object;  /* whose further members may be told; NULL: none */
    bool malformed;      /* the request was not JSON */
    int retry_seconds;   /* when to try again; 0: the body does not say it */
    mishap_upstream_field *fields, *last;
    size_t field_count; /* of all that were found, also those that are not kept */
    bool no_memory;
} mishap_upstream_reading;

/* -- text -------------------------------------------------------------------------------------- */

/* Where a phrase in small letters begins in the text, in any case; NULL: nowhere. */
const char *mishap_upstream_find(mishap_text text, const char *phrase);

/* True if the text begins with the phrase, in any case. */
bool mishap_upstream_begins(mishap_text text, const char *phrase);

/* True if the text is UTF-8 without control characters and without those that change the direction
 * of writing. Others are for no caller: the leak guard does not see a word with NUL in it. */
bool mishap_upstream_readable(mishap_text text);

/* The text without white space at both ends. */
static inline mishap_text mishap_upstream_trim(mishap_text text)
{
    return mishap_trim(text, " \t\r\n");
}

/* The status of an error that a text begins with, "404 Not Found"; 0: none. */
int mishap_upstream_status_in(mishap_text text);

/* -- ours.c ------------------------------------------------------------------------------------ */

/*
 * Read a body that is in one of our dialects and names a code of the catalog. False: it is none, or
 * it has more than MISHAP_UPSTREAM_NOTED bytes, so that what is told stays small.
 * Without memory `no_memory` is set. `root` is NULL for a body that is not JSON.
 */
bool mishap_upstream_read_ours(mishap_upstream_reading *reading, yyjson_val *root, mishap **out);

/* -- shapes.c, page.c -------------------------------------------------------------------------- */

/* Each sets `shape` if it knows the shape, and what it finds. */
void mishap_upstream_read_json(mishap_upstream_reading *reading, yyjson_val *root);
void mishap_upstream_read_page(mishap_upstream_reading *reading, mishap_text page);
void mishap_upstream_read_text(mishap_upstream_reading *reading, mishap_text text);

/* -- fields.c ---------------------------------------------------------------------------------- */

/* A list of field errors: objects that name a field and say what is wrong, or sentences. False: the
 * value is no such list. */
bool mishap_upstream_read_list(mishap_upstream_reading *reading, yyjson_val *list);

/* A map from the names of fields to sentences, lists of sentences, or further maps. False: it is
 * none. */
bool mishap_upstream_read_map(mishap_upstream_reading *reading, yyjson_val *map);

/* "body/age must be integer, body must have required property 'name'", or lines of Go's validator:
 * false if it is no such sentence. */
bool mishap_upstream_read_sentences(mishap_upstream_reading *reading, mishap_text text);

/* -- kinds.c ----------------------------------------------------------------------------------- */

/* What is known of one field error. */
typedef struct mishap_upstream_item {
    mishap_text field;    /* in our spelling: items[2].name; empty: the document as a whole */
    mishap_text type;     /* the name that the other program has for this error; may be empty */
    mishap_text sentence; /* may be empty */
    yyjson_val *members;  /* an object with bounds and such; may be NULL */
} mishap_upstream_item;

/* Add it with the error of ours that it is. */
void mishap_upstream_add(mishap_upstream_reading *reading, const mishap_upstream_item *item);

#endif
