/*
 * What a handler adds to an HTTP response: header lines, cookies, the version of what it answers.
 * The lines are checked when a handler sets them, and again where another process reads them.
 */
#ifndef MISHAP_OPERATION_FIELDS_H
#define MISHAP_OPERATION_FIELDS_H

#include "base/base.h"
#include "mishap/call.h"

enum {
    MISHAP_ANSWER_FIELDS_LIMIT = 8192, /* bytes of all lines */
    MISHAP_VERSION_LIMIT = 80,
};

/* True if the text is header lines, each `Name: value` and CR LF, that a program may set. */
bool mishap_answer_fields_are_sound(mishap_text lines);

/* The value of the first of these lines with this name; no data: there is none. */
mishap_text mishap_answer_fields_find(mishap_text lines, const char *name);

bool mishap_version_is_sound(mishap_text version);

/* True if a list of entity tags (If-Match, If-None-Match) has this version, or is a star. A tag of
 * a compressed answer, `"7;gzip"`, stands for the version 7. `weak`: tags that are weak count, too.
 */
bool mishap_version_is_listed(mishap_text tags, mishap_text version, bool weak);

/* True if the list has exactly this tag, strong or weak. */
bool mishap_version_tag_is_listed(mishap_text tags, mishap_text tag);

#endif
