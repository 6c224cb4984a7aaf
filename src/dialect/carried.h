/*
 * The members of the canonical form inside an object that is open to others: `data` of json-rpc,
 * `extensions` of graphql. What such an object says beside them is not lost: it is context.
 */
#ifndef MISHAP_DIALECT_CARRIED_H
#define MISHAP_DIALECT_CARRIED_H

#include "dialect/parts.h"

/* A member that a dialect understands, as long as its value has this form. */
typedef struct mishap_known {
    mishap_text key;
    bool (*form)(yyjson_val *value);
} mishap_known;

#define MISHAP_KNOWN_COUNT(known) (sizeof(known) / sizeof *(known))

/* Forms beside those of yyjson: a string that names a code, a category, an array of field errors.
 */
bool mishap_is_code(yyjson_val *value);
bool mishap_is_category(yyjson_val *value);
bool mishap_is_fields(yyjson_val *value);

/* Members of the canonical form: those that say of what kind the failure is, and with code, address
 * and incident. */
/* clang-format off */
#define MISHAP_KNOWN_KIND                                                                          \
    { MISHAP_TEXT("category"), mishap_is_category },                                               \
    { MISHAP_TEXT("retryable"), yyjson_is_bool },                                                  \
    { MISHAP_TEXT("retry_after_ms"), yyjson_is_int },                                              \
    { MISHAP_TEXT("cause"), yyjson_is_str },                                                       \
    { MISHAP_TEXT("suggestion"), yyjson_is_str }
#define MISHAP_KNOWN_CANONICAL                                                                     \
    { MISHAP_TEXT("code"), mishap_is_code },                                                       \
    MISHAP_KNOWN_KIND,                                                                             \
    { MISHAP_TEXT("docs_url"), yyjson_is_str },                                                    \
    { MISHAP_TEXT("incident"), yyjson_is_str }
/* clang-format on */

/*
 * Tell `context`, and every member that is not known. `context` must not be in the list: its
 * members are told one by one only if there is nothing else to tell, so that no name can stand
 * twice.
 */
void mishap_read_others(mishap *m, yyjson_val *object, const mishap_known *known, size_t count);

/* All members of the canonical form but code and message, and the others. A `message` is one of the
 * others unless it is said to be the message. */
void mishap_read_carried(mishap *m, yyjson_val *object, unsigned with);

/* There is a `code`, and every member of the canonical form but `message` is as it must be. */
void mishap_check_carried(mishap_check *check, yyjson_val *object);

#endif
