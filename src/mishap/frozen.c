/*
 * What never changes in the ABI of the core (docs/library.md): sizes and places of members that
 * programs were compiled with. Structs that the library alone makes may grow at the end; of these,
 * the members that exist are held here.
 */
#include <stddef.h>

#include "mishap/bind.h"

#define SIZE(type, size)        _Static_assert(sizeof(type) == (size), "the size of " #type)
#define PLACE(type, member, at) _Static_assert(offsetof(type, member) == (at), #type "." #member)

#if defined(__LP64__)

SIZE(mishap_text, 16);
PLACE(mishap_text, data, 0);
PLACE(mishap_text, length, 8);

SIZE(mishap_value, 24);
PLACE(mishap_value, kind, 0);
PLACE(mishap_value, boolean, 8);
PLACE(mishap_value, integer, 8);
PLACE(mishap_value, natural, 8);
PLACE(mishap_value, real, 8);
PLACE(mishap_value, text, 8);

SIZE(mishap_buffer, 32);
PLACE(mishap_buffer, data, 0);
PLACE(mishap_buffer, length, 8);
PLACE(mishap_buffer, capacity, 16);
PLACE(mishap_buffer, on_heap, 24);
PLACE(mishap_buffer, failed, 25);

SIZE(mishap_place, 24);
PLACE(mishap_place, file, 0);
PLACE(mishap_place, function, 8);
PLACE(mishap_place, line, 16);

SIZE(mishap_allocator, 24);
PLACE(mishap_allocator, allocate, 0);
PLACE(mishap_allocator, resize, 8);
PLACE(mishap_allocator, release, 16);

SIZE(mishap_code, 256);
PLACE(mishap_code, name, 0);
PLACE(mishap_code, condition, 16);
PLACE(mishap_code, snake, 32);
PLACE(mishap_code, http_name, 48);
PLACE(mishap_code, tool_type, 64);
PLACE(mishap_code, title, 80);
PLACE(mishap_code, message, 96);
PLACE(mishap_code, http_message, 112);
PLACE(mishap_code, suggestion, 128);
PLACE(mishap_code, docs_url, 144);
PLACE(mishap_code, category, 160);
PLACE(mishap_code, retry, 164);
PLACE(mishap_code, effects, 168);
PLACE(mishap_code, http_status, 172);
PLACE(mishap_code, exit_code, 176);
PLACE(mishap_code, rpc_code, 180);
PLACE(mishap_code, retry_after_ms, 184);
PLACE(mishap_code, masked, 192);
PLACE(mishap_code, row, 194);
PLACE(mishap_code, reserved, 200);

SIZE(mishap_catalog_index, 16);
SIZE(mishap_catalog, 64);
PLACE(mishap_catalog, name, 0);
PLACE(mishap_catalog, codes, 8);
PLACE(mishap_catalog, count, 16);
PLACE(mishap_catalog, index, 24);
PLACE(mishap_catalog, spellings, 32);
PLACE(mishap_catalog, next, 40);
PLACE(mishap_catalog, reserved, 48);

/* mishap_rules() returns an array of them. */
SIZE(mishap_rule, 32);
PLACE(mishap_rule, name, 0);
PLACE(mishap_rule, severity, 8);
PLACE(mishap_rule, sentence, 16);
PLACE(mishap_rule, strict, 24);

/* These may grow at the end. */
PLACE(mishap_member, next, 0);
PLACE(mishap_member, key, 8);
PLACE(mishap_member, value, 24);
PLACE(mishap_frame, next, 0);
PLACE(mishap_frame, text, 8);
PLACE(mishap_field, next, 0);
PLACE(mishap_field, field, 8);
PLACE(mishap_field, error, 24);
PLACE(mishap_field, expected, 40);
PLACE(mishap_field, actual, 64);
PLACE(mishap_field, min, 88);
PLACE(mishap_field, max, 112);
PLACE(mishap_field, message, 136);
PLACE(mishap_public, code, 0);
PLACE(mishap_public, category, 8);
PLACE(mishap_public, retryable, 12);
PLACE(mishap_public, retry_stated, 13);
PLACE(mishap_public, retry_after_ms, 16);
PLACE(mishap_public, message, 24);
PLACE(mishap_public, cause, 40);
PLACE(mishap_public, suggestion, 56);
PLACE(mishap_public, docs_url, 72);
PLACE(mishap_public, incident, 88);
PLACE(mishap_public, context, 104);
PLACE(mishap_public, fields, 112);
PLACE(mishap_public, field_count, 120);
PLACE(mishap_public, type, 128);
PLACE(mishap_public, output, 144);
PLACE(mishap_public, frames, 160);
PLACE(mishap_public, frame_count, 168);
PLACE(mishap_finding, rule, 0);
PLACE(mishap_finding, severity, 8);
PLACE(mishap_finding, place, 16);
PLACE(mishap_finding, sentence, 32);

#endif

/* A kind, a category and a spelling keep their numbers. */
_Static_assert(MISHAP_KIND_NONE == 0 && MISHAP_KIND_NULL == 1 && MISHAP_KIND_BOOL == 2 &&
                   MISHAP_KIND_INT == 3 && MISHAP_KIND_UINT == 4 && MISHAP_KIND_REAL == 5 &&
                   MISHAP_KIND_TEXT == 6 && MISHAP_KIND_JSON == 7,
               "mishap_kind");
_Static_assert(MISHAP_VALIDATION == 0 && MISHAP_PERMISSION == 1 && MISHAP_RESOURCE == 2 &&
                   MISHAP_EXECUTION == 3 && MISHAP_SYSTEM == 4,
               "mishap_category");
_Static_assert(MISHAP_RETRY_NEVER == 0 && MISHAP_RETRY_FIX == 1 && MISHAP_RETRY_YES == 2,
               "mishap_retry");
_Static_assert(MISHAP_SPELLING_NAME == 0 && MISHAP_SPELLING_CONDITION == 1 &&
                   MISHAP_SPELLING_SNAKE == 2 && MISHAP_SPELLING_HTTP == 3 &&
                   MISHAP_SPELLING_TOOL == 4,
               "mishap_spelling");
_Static_assert(MISHAP_WARNING == 0 && MISHAP_ERROR == 1 && MISHAP_FATAL == 2, "mishap_severity");
