/*
 * Checking a JSON document: where we are in it, what is wrong there, and shapes, which say what
 * members an object has.
 */
#ifndef MISHAP_DIALECT_CHECK_H
#define MISHAP_DIALECT_CHECK_H

#include "base/json_read.h"
#include "dialect/rules.h"
#include "mishap/dialect.h"

typedef struct mishap_check {
    const mishap_dialect *dialect;
    bool strict;
    mishap_found *found;
    void *state;
    mishap_json_path path; /* the value that is being checked */
    bool no_memory;
} mishap_check;

/* Report that a rule is broken at the current place. Rules that are strict are silent otherwise. */
__attribute__((format(printf, 3, 4))) void
mishap_check_say(mishap_check *check, mishap_rule_id rule, const char *format, ...);

/* The same at a place that is given in words, for documents that are not JSON: "line 3". */
__attribute__((format(printf, 4, 5))) void mishap_check_say_at(mishap_check *check,
                                                               const char *place,
                                                               mishap_rule_id rule,
                                                               const char *format, ...);

/* Go into a member or an item for the time of a check, and out again. */
static inline void mishap_check_enter(mishap_check *check, mishap_text key)
{
    check->path.steps[check->path.depth++].key = key;
}
static inline void mishap_check_enter_item(mishap_check *check, size_t index)
{
    check->path.steps[check->path.depth++] = (struct mishap_json_step){ { NULL, 0 }, index };
}
static inline void mishap_check_leave(mishap_check *check)
{
    check->path.depth--;
}

/* -- shapes ------------------------------------------------------------------------------------ */

/* The types that a member may have, added up. An integer is also a number. */
enum {
    MISHAP_SHAPE_STRING = 1,
    MISHAP_SHAPE_INTEGER = 2,
    MISHAP_SHAPE_NUMBER = 4,
    MISHAP_SHAPE_BOOL = 8,
    MISHAP_SHAPE_NULL = 16,
    MISHAP_SHAPE_ARRAY = 32,
    MISHAP_SHAPE_OBJECT = 64,
    MISHAP_SHAPE_ANY = 127,
};

typedef struct mishap_shape {
    mishap_text key;
    unsigned types;
    bool required;
    void (*check)(mishap_check *check,
                  yyjson_val *value); /* what the type does not say; may be NULL */
} mishap_shape;

#define MISHAP_SHAPE(literal, ...)                                                                 \
    {                                                                                              \
        .key = MISHAP_TEXT(literal), __VA_ARGS__                                                   \
    }
#define MISHAP_SHAPE_COUNT(shapes) (sizeof(shapes) / sizeof *(shapes))

/*
 * Check the members of an object: those that must be there, their types, and each by its own
 * function. Others are reported if the object is closed. False if it is not an object at all, which
 * is reported too.
 */
bool mishap_check_object(mishap_check *check, yyjson_val *object, const mishap_shape *shapes,
                         size_t count, bool closed);

/* Check each item of an array with one function, inside the item's place. */
void mishap_check_items(mishap_check *check, yyjson_val *array,
                        void (*item)(mishap_check *, yyjson_val *));

/* The same for an array `errors`, which must have one at least. */
void mishap_check_errors(mishap_check *check, yyjson_val *array,
                         void (*item)(mishap_check *, yyjson_val *));

/* -- checks that several dialects share -------------------------------------------------------- */

void mishap_check_message(mishap_check *check, yyjson_val *value);  /* not empty */
void mishap_check_sentence(mishap_check *check, yyjson_val *value); /* … and a complete sentence */
void mishap_check_not_empty(mishap_check *check,
                            yyjson_val *value); /* a string with something in it */
void mishap_check_code_name(mishap_check *check, yyjson_val *value); /* UPPER_SNAKE */
bool mishap_check_snake_name(mishap_check *check,
                             yyjson_val *value); /* lower_snake; false if not */
void mishap_check_category(mishap_check *check, yyjson_val *value);
void mishap_check_url(mishap_check *check,
                      yyjson_val *value); /* absolute: scheme and something after it */
void mishap_check_not_negative(mishap_check *check, yyjson_val *value);
void mishap_check_fields(mishap_check *check,
                         yyjson_val *value); /* the field errors of the HTTP API */
/* The five errors of the HTTP API have no message; errors of a program may have one. */
void mishap_check_bare_fields(mishap_check *check, yyjson_val *value);

/* retry advice may stand only where `retryable` is true. */
void mishap_check_retry(mishap_check *check, yyjson_val *object, const char *retryable,
                        const char *advice);

#endif
