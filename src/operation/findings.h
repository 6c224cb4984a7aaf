/*
 * The rules: functions that check one value against one rule and collect findings. check.c, which
 * iterates over a declaration, and require.c, which gets one rule after the other, use them. These
 * files decide when a rule applies; the meaning of a rule and the text of its finding are defined
 * only here.
 */
#ifndef MISHAP_OPERATION_FINDINGS_H
#define MISHAP_OPERATION_FINDINGS_H

#include "operation/operation.h"

/* The place of a value: the way back to the object that is checked. It is formatted only when
 * something is found. */
typedef struct mishap_spot {
    const struct mishap_spot *outer; /* NULL: a member of the checked object */
    mishap_text name;                /* without data: an item of an array */
    size_t index;
    size_t depth;
    bool secret; /* the value is never shown */
} mishap_spot;

/* What was found so far. It starts as { 0 } and ends with mishap_findings_end(). */
typedef struct mishap_findings {
    mishap *m;       /* NULL as long as nothing was found */
    size_t count;    /* the number of all findings, including those that were left out */
    mishap *failure; /* why the checks cannot go on */
    bool no_memory;
    bool declared; /* names and patterns come from a declaration, which lives as long as the program
                      and was checked at its start */
    bool answered; /* the values are an answer, in which an empty string is valid */
} mishap_findings;

/* The outcome, which the caller owns: NULL if nothing was found. It contains all findings, or says
 * that memory ran out. */
mishap *mishap_findings_end(mishap_findings *findings);

/* A missing value: field_required. It expects what the parameter declares: its choices, the words
 * of its format or of `looks`, else its type. NULL: nothing is known. */
void mishap_miss(mishap_findings *findings, const mishap_spot *spot, const mishap_param *param);

/* An undeclared name: unknown_field, with a similar name if there is one. If there is none, the
 * sentence lists the names of `params`, which may be NULL. A name inside of a secret is not shown:
 * the finding is about the object that contains it. */
void mishap_find_unknown(mishap_findings *findings, const mishap_spot *spot, mishap_value meant,
                         const mishap_param *params);

/*
 * The rules. True if it holds. The value has a type that the rule is for: a string or an array has
 * a length, a number a range, a string a pattern and choices.
 *
 *     type      null, a wrong type: invalid_type. `true` is no number; 3.0 is an integer, as it is
 *               in JSON Schema
 *     length    of characters or items; max 0 is none: invalid_length with the bounds there are
 *     range     bounds included, infinite where there is none; what the type (0: any number) has
 *               no room for is out of range, too, and then the bounds of the type stand for those
 *               that are not there
 *     text      no NUL: pattern_mismatch that expects anything else
 *     pattern   searched for; if the search gives up that is a failure of its own, unless `wrong`
 *               says that the value was found wrong already
 *               What is expected is told in the words of `looks`, where there are some: "must
 *               look like" them, or "must be" them if they begin with an article
 *     format    one that format.h knows: pattern_mismatch that expects its words
 *     file      base64 text, or a data URL with it: pattern_mismatch; its bytes have a length
 *     choice    one of a list: pattern_mismatch that expects ["one","of","them"]
 *
 * What is told in words has a sentence of its own, which also shows the value, if that is short and
 * no secret.
 */
bool mishap_expect_type(mishap_findings *findings, const mishap_spot *spot,
                        mishap_type_of_param type, yyjson_val *value);
bool mishap_expect_length(mishap_findings *findings, const mishap_spot *spot, size_t min,
                          size_t max, yyjson_val *value);
bool mishap_expect_range(mishap_findings *findings, const mishap_spot *spot, double min, double max,
                         mishap_type_of_param type, yyjson_val *value);
bool mishap_expect_text(mishap_findings *findings, const mishap_spot *spot, yyjson_val *value);
bool mishap_expect_pattern(mishap_findings *findings, const mishap_spot *spot, const char *pattern,
                           const char *looks, bool wrong, yyjson_val *value);
bool mishap_expect_format(mishap_findings *findings, const mishap_spot *spot, const char *format,
                          const char *looks, yyjson_val *value);
bool mishap_expect_file(mishap_findings *findings, const mishap_spot *spot, size_t min, size_t max,
                        yyjson_val *value);
bool mishap_expect_choice(mishap_findings *findings, const mishap_spot *spot,
                          const char *const *choices, yyjson_val *value);

/* The rules of a type of mishap_type_is_form() or of a decimal number; the value is a string, or a
 * number. */
bool mishap_expect_form(mishap_findings *findings, const mishap_spot *spot,
                        const mishap_param *param, yyjson_val *value);

/* A finding with a sentence: the place, these words, and the value if it is a string that may be
 * shown. The message of `wrong` is set here. */
void mishap_find_saying(mishap_findings *findings, const mishap_spot *spot, mishap_field *wrong,
                        const char *words, yyjson_val *value);

/* Check the members of an object against a declaration, with the rules across them, or NULL. */
void mishap_expect_members(mishap_findings *findings, const mishap_param *params,
                           const mishap_relation *rules, yyjson_val *object);

/* Check one value against all rules of a parameter but `required`; the spot is that of the
 * value. */
void mishap_expect_param(mishap_findings *findings, const mishap_spot *spot,
                         const mishap_param *param, yyjson_val *value);

/* Choices as items of a JSON array, and as "a, b or c". */
void mishap_choices_put_items(mishap_buffer *b, const char *const *choices);
void mishap_choices_put_words(mishap_buffer *b, const char *const *choices);

/* Release all compiled patterns, and the memory of this thread for searching. No other thread may
 * be searching. */
void mishap_pattern_forget(void);

#endif
