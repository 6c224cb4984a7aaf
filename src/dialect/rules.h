/*
 * The rules of mishap_verify(). There is one list for all dialects, so that the same mistake has
 * the same name in every format; docs/rules.md is generated from it.
 */
#ifndef MISHAP_DIALECT_RULES_H
#define MISHAP_DIALECT_RULES_H

/* clang-format off: one row a line */
/*  id, name, severity, only when strict, what it asks for */
#define MISHAP_DIALECT_RULES(RULE)                                                                 \
    RULE(NOT_JSON, "not-json", MISHAP_FATAL, false, "The document is JSON.")                       \
    RULE(NOT_TEXT, "not-text", MISHAP_FATAL, false, "The document is UTF-8 text, and not empty.")  \
    RULE(DUPLICATE_KEY, "duplicate-key", MISHAP_ERROR, false, "No object has a duplicate key.")    \
    RULE(NUL_IN_KEY, "nul-in-key", MISHAP_ERROR, false, "No key contains a NUL character.")        \
    RULE(TOO_DEEP, "too-deep", MISHAP_ERROR, false, "Values are nested at most 128 levels deep.")  \
    RULE(LONE_SURROGATE, "lone-surrogate", MISHAP_ERROR, false, "Surrogates come in pairs.")       \
    RULE(STACK_TRACE, "stack-trace", MISHAP_ERROR, false, "No text contains a stack trace.")       \
    RULE(SECRET, "secret", MISHAP_ERROR, false, "No text contains a secret.")                      \
    RULE(WRONG_ROOT, "wrong-root", MISHAP_ERROR, false, "The document is an object.")              \
    RULE(MISSING_MEMBER, "missing-member", MISHAP_ERROR, false,                                    \
         "Every required member is present.")                                                      \
    RULE(UNKNOWN_MEMBER, "unknown-member", MISHAP_ERROR, false,                                    \
         "Every member is defined by the format.")                                                 \
    RULE(WRONG_TYPE, "wrong-type", MISHAP_ERROR, false, "Every member has the right type.")        \
    RULE(WRONG_VALUE, "wrong-value", MISHAP_ERROR, false,                                          \
         "A member whose value is fixed has that value.")                                          \
    RULE(EMPTY_TEXT, "empty-text", MISHAP_ERROR, false, "Required text is not empty.")             \
    RULE(NOT_A_SENTENCE, "not-a-sentence", MISHAP_WARNING, false,                                  \
         "A message is a complete sentence.")                                                      \
    RULE(CODE_SPELLING, "code-spelling", MISHAP_ERROR, false,                                      \
         "A code is spelled as the format spells codes.")                                          \
    RULE(UNKNOWN_CODE, "unknown-code", MISHAP_ERROR, true,                                         \
         "A code is one of the codes that the format lists.")                                      \
    RULE(UNKNOWN_CATEGORY, "unknown-category", MISHAP_ERROR, false,                                \
         "A category is one of the five categories.")                                              \
    RULE(NOT_A_URL, "not-a-url", MISHAP_ERROR, false, "An address is an absolute URL.")            \
    RULE(NEGATIVE, "negative", MISHAP_ERROR, false, "A duration or a count is not negative.")      \
    RULE(RETRY_CONFLICT, "retry-conflict", MISHAP_ERROR, false,                                    \
         "A retry delay is given only for an error that can be retried.")                          \
    RULE(MISSING_SUGGESTION, "missing-suggestion", MISHAP_ERROR, false,                            \
         "An error that the caller can correct has a suggestion.")                                 \
    RULE(FIELD_ERROR_NAME, "field-error-name", MISHAP_ERROR, false,                                \
         "A field error is named in lower_snake.")                                                 \
    RULE(UNKNOWN_FIELD_ERROR, "unknown-field-error", MISHAP_ERROR, true,                           \
         "A field error is one of the five field errors.")                                         \
    RULE(FIELD_BOUNDS, "field-bounds", MISHAP_ERROR, false, "`min` is not greater than `max`.")    \
    RULE(FIELD_MEMBERS, "field-members", MISHAP_ERROR, true,                                       \
         "A field error has the members of its kind.")                                             \
    RULE(STATUS_RANGE, "status-range", MISHAP_ERROR, false,                                        \
         "A status is that of an error: 400 to 599.")                                              \
    RULE(STATUS_MISMATCH, "status-mismatch", MISHAP_ERROR, false,                                  \
         "The status is that of the code.")                                                        \
    RULE(SECTION_MISSING, "section-missing", MISHAP_ERROR, false,                                  \
         "The report has [ERROR] and [Backtrace].")                                                \
    RULE(SECTION_ORDER, "section-order", MISHAP_ERROR, false,                                      \
         "[stdout] comes before [ERROR] before [Backtrace].")                                      \
    RULE(SECTION_FORGED, "section-forged", MISHAP_ERROR, false,                                    \
         "Each marker occurs once, and none is part of the message.")                              \
    RULE(SECTION_LAYOUT, "section-layout", MISHAP_ERROR, false,                                    \
         "A marker starts a line, after a blank line.")                                            \
    RULE(TYPE_MISSING, "type-missing", MISHAP_ERROR, false, "The condition type follows [ERROR].") \
    RULE(TYPE_SPELLING, "type-spelling", MISHAP_ERROR, false,                                      \
         "A condition type is one word; strict: in capitals.")                                     \
    RULE(MESSAGE_MISSING, "message-missing", MISHAP_ERROR, false, "A message follows the type.")   \
    RULE(MESSAGE_TOO_LONG, "message-too-long", MISHAP_ERROR, false,                                \
         "The message is at most 64 KiB.")                                                         \
    RULE(FRAME_MISSING, "frame-missing", MISHAP_ERROR, false, "The backtrace has a frame 0.")      \
    RULE(FRAME_FORM, "frame-form", MISHAP_ERROR, false,                                            \
         "A frame is a number, a colon and a form in parentheses.")                                \
    RULE(FRAME_ORDER, "frame-order", MISHAP_ERROR, false,                                          \
         "Frames are counted from 0, one by one.")                                                 \
    RULE(FRAME_LIMIT, "frame-limit", MISHAP_ERROR, false,                                          \
         "There are at most 20 frames, then `...`.")
/* clang-format on */

typedef enum mishap_rule_id {
#define MISHAP_RULE_ID(id, name, severity, strict, sentence) MISHAP_RULE_##id,
    MISHAP_DIALECT_RULES(MISHAP_RULE_ID)
#undef MISHAP_RULE_ID
} mishap_rule_id;

#endif
