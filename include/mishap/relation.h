/*
 * Rules across parameters: what several parameters of one list must be together.
 *
 *     { "bookings.create", "Book a room", booking_params, create_booking,
 *       .rules = MISHAP_RULES(
 *           MISHAP_AFTER("ends", "starts"),
 *           MISHAP_EXACTLY_ONE("email", "phone"),
 *           MISHAP_REQUIRED_IF("vat_id", "kind", "company"),
 *           MISHAP_CHECK(check_nights, "a booking is for at most 30 nights")) }
 *
 * The findings of these rules are reported together with those of each parameter. The JSON Schema
 * states the rules that it can state; descriptions state all of them. A declaration is data: see
 * mishap/operation.h, which includes this header.
 */
#ifndef MISHAP_RELATION_H
#define MISHAP_RELATION_H

#include "mishap/call.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MISHAP_RELATION_FIELDS = 8 }; /* names in one rule, at most */

typedef enum mishap_relation_kind {
    MISHAP_RELATION_AFTER = 1,
    MISHAP_RELATION_NOT_BEFORE,
    MISHAP_RELATION_EXACTLY_ONE,
    MISHAP_RELATION_AT_LEAST_ONE,
    MISHAP_RELATION_REQUIRED_IF,
    MISHAP_RELATION_FUNCTION,
} mishap_relation_kind;

/*
 * One rule. Write it with one of the macros below; a list ends with { 0 }.
 *
 *     AFTER(a, b)               a is after b, or greater. Both are of the same type: a timestamp, a
 *                               date, an integer, a number or a decimal
 *     NOT_BEFORE(a, b)          a is not before b, nor less
 *     EXACTLY_ONE(a, …)         one of them is given, and no other
 *     AT_LEAST_ONE(a, …)        one of them is given, or more
 *     REQUIRED_IF(a, b, value)  a is given if b has this value: a text, or a number, true or false
 *                               in quotes. NULL: if b is given
 *     CHECK(function, words)    the function returns NULL, or a VALIDATION_ERROR whose fields are
 *                               added to the other findings. The words state the rule for people;
 *                               they may be NULL. Only for the rules of an operation
 *
 * null counts as not given, unless the parameter is `.nullable`. A parameter that was refused by its
 * own rules is not compared.
 *
 * The function of CHECK only reads parameters. It is called before the handler, on every boundary,
 * perhaps more than once; in a server it runs in the process of the server, so it must be quick.
 * Parameters that were refused are not given for it. It is not called if a name is not known.
 */
typedef struct mishap_relation {
    mishap_relation_kind kind;
    const char
        *fields[MISHAP_RELATION_FIELDS + 1];   /* names of parameters; the list ends with NULL */
    const char *value;                         /* of REQUIRED_IF */
    mishap *(*check)(const mishap_call *call); /* of CHECK */
    const char *words;                         /* of CHECK */
} mishap_relation;

/* clang-format off */
#define MISHAP_RULES(...)        MISHAP_LIST_OF(const mishap_relation, __VA_ARGS__, MISHAP_LIST_END)
#define MISHAP_AFTER(a, b)       { MISHAP_RELATION_AFTER, { a, b }, NULL, NULL, NULL }
#define MISHAP_NOT_BEFORE(a, b)  { MISHAP_RELATION_NOT_BEFORE, { a, b }, NULL, NULL, NULL }
#define MISHAP_EXACTLY_ONE(...)  { MISHAP_RELATION_EXACTLY_ONE, { __VA_ARGS__ }, NULL, NULL, NULL }
#define MISHAP_AT_LEAST_ONE(...) { MISHAP_RELATION_AT_LEAST_ONE, { __VA_ARGS__ }, NULL, NULL, NULL }
#define MISHAP_REQUIRED_IF(a, b, value) { MISHAP_RELATION_REQUIRED_IF, { a, b }, value, NULL, NULL }
#define MISHAP_CHECK(function, words)   { MISHAP_RELATION_FUNCTION, { NULL }, NULL, function, words }
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
