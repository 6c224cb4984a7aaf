/* The formats of JSON Schema that a string parameter can have. */
#ifndef MISHAP_OPERATION_FORMAT_H
#define MISHAP_OPERATION_FORMAT_H

#include "mishap/operation.h"

typedef struct mishap_format {
    const char *name;  /* "date", as JSON Schema has it */
    const char *looks; /* a description for people: "a date such as 2026-02-28" */
    bool (*holds)(mishap_text text);
} mishap_format;

/* The format of this name; NULL if there is none. */
const mishap_format *mishap_format_find(const char *name);

/* A description of a valid value: its own, or that of its format or type. NULL: there is none. */
const char *mishap_param_looks(const mishap_param *param);

/* A description that begins with an article says what it is ("a date"); any other, what it looks
 * like ("HOST:PORT"). */
bool mishap_looks_name_it(const char *looks);

/* The names of all, with commas between. */
extern const char mishap_format_names[];

#endif
