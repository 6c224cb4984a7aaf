/*
 * Seed 000's own reader of condition reports, `parse-error-response`, restated: it finds sections
 * by plain search and knows nothing of escapes. What it finds in our reports must be what we put
 * there.
 */
#ifndef MISHAP_FUZZ_REPORT_H
#define MISHAP_FUZZ_REPORT_H

#include "fuzz.h"
#include "mishap/mishap.h"

static inline const char *search(mishap_text text, const char *piece)
{
    return text.data ? memmem(text.data, text.length, piece, strlen(piece)) : NULL;
}

static inline mishap_text part(const char *from, const char *to)
{
    return (mishap_text){ from, (size_t)(to - from) };
}

/* (string-trim characters text) */
static inline mishap_text trim(mishap_text text, const char *characters)
{
    while (text.length && strchr(characters, text.data[0]))
        text = part(text.data + 1, text.data + text.length);
    while (text.length && strchr(characters, text.data[text.length - 1]))
        text.length--;
    return text;
}

/* What was escaped is read with its backslashes here, so only text without any can be compared. */
static inline void expect_same(mishap_text found, mishap_text told)
{
    EXPECT(memchr(found.data, '\\', found.length) || mishap_text_equal(found, trim(told, "\n ")),
           "found: %.*s\ntold: %.*s", SHOWN(found), SHOWN(told));
}

static inline void expect_seed_reads(mishap_text text, const mishap_public *told)
{
    const char *error = search(text, "[ERROR]"), *backtrace = search(text, "[Backtrace]");
    const char *output = search(text, "[stdout]"), *end = text.data + text.length;
    EXPECT(error && backtrace && error < backtrace, "%.*s", SHOWN(text));
    EXPECT(!output || output == text.data, "%.*s", SHOWN(text));
    EXPECT(!search(text, "[warnings]"), "%.*s", SHOWN(text));

    const char *line_end = memchr(error, '\n', (size_t)(end - error));
    EXPECT(line_end && line_end > error + 8, "%.*s", SHOWN(text));
    mishap_text type = trim(part(error + 8, line_end), " ");
    EXPECT(type.length, "%.*s", SHOWN(text));
    expect_same(type, told->type.length ? told->type : told->code->condition);

    mishap_text message = trim(part(line_end, backtrace), "\n ");
    EXPECT(message.length, "%.*s", SHOWN(text));
    expect_same(message, mishap_public_message(told));

    mishap_text frames = part(backtrace + strlen("[Backtrace]"), end);
    EXPECT(search(frames, "0:") && search(frames, "("), "%.*s", SHOWN(text));
}

#endif
