/*
 * The types of parameters, as a table: what each is in JSON, and its words for people. Code that
 * treats types alike asks here; what a value of a type must be is in expect_type.c.
 */
#ifndef MISHAP_OPERATION_TYPE_H
#define MISHAP_OPERATION_TYPE_H

#include "base/json_read.h"
#include "mishap/operation.h"

typedef struct mishap_type_facts {
    const char *json;   /* the type in JSON: "string" */
    const char *name;   /* the type itself: "timestamp" */
    const char *value;  /* stands for a value on a command line: "TIME" */
    const char *looks;  /* a description for people; NULL: the type says it all */
    const char *format; /* in JSON Schema; NULL: none */
} mishap_type_facts;

/* NULL: there is no such type. */
const mishap_type_facts *mishap_type_find(mishap_type_of_param type);

/* True for a type that is one string of a certain form: a decimal, a date and so on. */
static inline bool mishap_type_is_form(mishap_type_of_param type)
{
    return type >= MISHAP_DECIMAL && type <= MISHAP_BYTES && type != MISHAP_DECIMAL_NUMBER;
}

static inline bool mishap_type_is_decimal(mishap_type_of_param type)
{
    return type == MISHAP_DECIMAL || type == MISHAP_DECIMAL_NUMBER;
}

static inline bool mishap_type_has_range(mishap_type_of_param type)
{
    return type == MISHAP_INTEGER || type == MISHAP_NUMBER || mishap_type_is_decimal(type) ||
           type == MISHAP_MONEY;
}

static inline bool mishap_type_has_length(mishap_type_of_param type)
{
    return type == MISHAP_STRING || type == MISHAP_BYTES || type == MISHAP_FILE ||
           type == MISHAP_ARRAY || type == MISHAP_MAP;
}

/* The number of a choice, from 1; 0: it is none. */
int mishap_param_choice(const mishap_param *param, yyjson_val *value);

/* A decimal in either form. False: it is none, or a number of more digits than a double has. */
bool mishap_decimal_of_json(yyjson_val *value, mishap_decimal *out);

/* A bound of a range, which is finite, as the decimal that it is written as. False: it has too many
 * digits. */
bool mishap_decimal_of_bound(double bound, mishap_decimal *out);

/* A value of a parameter with the declared scale. */
mishap_decimal mishap_decimal_as_declared(const mishap_param *param, mishap_decimal value);

#endif
