/*
 * What goes without saying. google-rpc and json-api have open places for what is ours alone, and
 * say there only what a reader could not take for granted from the code and the HTTP status. Field
 * errors they tell in the words of others: a name in UPPER_SNAKE and a sentence.
 */
#ifndef MISHAP_DIALECT_IMPLIED_H
#define MISHAP_DIALECT_IMPLIED_H

#include "dialect/parts.h"

/* The row that stands for an HTTP status (0: unknown) where nothing else is known. Never NULL. */
const mishap_code *mishap_implied_by_status(int http_status);

/* The row that says what holds for a code of which nothing more is said: the code itself, or, if no
 * table has it, the one that stands for its HTTP status. */
const mishap_code *mishap_implied(const mishap_code *code);

/* True if it must be said whether a retry can help. Advice on when to retry says it already. */
bool mishap_retry_not_implied(const mishap_public *told);

/* Restore whether and when to retry: what was stated (NULL: nothing), and the advice (-1: none). */
void mishap_restore_retry(mishap *m, const bool *stated, int64_t retry_after_ms);

/* value_out_of_range as VALUE_OUT_OF_RANGE, with a NUL; false if that could not be turned back. */
bool mishap_field_error_upper(mishap_text error, char *name, size_t size);

/*
 * A field error as others tell it. What is absent is NULL; what has the wrong type is left alone. A
 * description that is not what we would say is the message.
 */
typedef struct mishap_told_field {
    mishap_text field;
    yyjson_val *error; /* as we name it, where `name` cannot */
    yyjson_val *name;  /* in any spelling of a code */
    yyjson_val *description;
    yyjson_val *expected, *actual, *min, *max;
} mishap_told_field;
void mishap_read_told_field(mishap *m, const mishap_told_field *told);

#endif
