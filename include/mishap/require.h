/*
 * Checking JSON without an operation: a sequence of calls that collects all findings.
 *
 *     mishap_requirements *v = mishap_require_begin(json, length);
 *     mishap_require_fields(v, "name", "email", NULL);
 *     mishap_require_type(v, "age", MISHAP_INTEGER);
 *     mishap_require_range(v, "age", 0, 150);
 *     mishap_require_pattern(v, "email", ".*@.*\\..*");
 *     return mishap_require_end(v);
 *
 * Any thread may call these functions, but only one thread at a time may use the same `v`.
 * mishap_require_begin() reads the JSON, which is not needed afterwards. It returns NULL if there
 * is no memory; all functions accept NULL, and mishap_require_end() then reports the lack of
 * memory. A field or a pattern that is NULL is ignored.
 */
#ifndef MISHAP_REQUIRE_H
#define MISHAP_REQUIRE_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mishap_requirements mishap_requirements;
mishap_requirements *mishap_require_begin(const char *json, size_t length);
void mishap_require_fields(mishap_requirements *v, const char *field, ...)
    __attribute__((sentinel));
void mishap_require_type(mishap_requirements *v, const char *field, mishap_type_of_param type);
void mishap_require_length(mishap_requirements *v, const char *field, size_t min, size_t max);
void mishap_require_range(mishap_requirements *v, const char *field, double min, double max);
void mishap_require_pattern(mishap_requirements *v, const char *field, const char *pattern);

/* Returns NULL if all checks hold; otherwise one VALIDATION_ERROR with all findings, or
 * BAD_REQUEST if the text is not a JSON object. The caller owns the mishap. The function frees
 * `v`. */
__attribute__((warn_unused_result)) mishap *mishap_require_end(mishap_requirements *v);

/* Their old names, which the release after 0.1 will not have any more. */
typedef mishap_requirements mishap_validation_of
    __attribute__((deprecated("use mishap_requirements")));
__attribute__((deprecated("use mishap_require_begin()"))) static inline mishap_requirements *
mishap_validate(const char *json, size_t length)
{
    return mishap_require_begin(json, length);
}
__attribute__((deprecated("use mishap_require_end()"), warn_unused_result)) static inline mishap *
mishap_validated(mishap_requirements *v)
{
    return mishap_require_end(v);
}

#ifdef __cplusplus
}
#endif

#endif
