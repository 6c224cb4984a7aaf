/*
 * Any bytes for the leak detector. The findings lie inside of the input, their excerpts are short,
 * valid UTF-8 and on one line, and the same findings come of pieces, wherever the input is cut. What
 * the caller sent as a whole is no leak. The first byte of the input chooses the cuts.
 */
#include "fuzz.h"

#include <string.h>

#include "base/base.h"
#include "guard/leak.h"

struct findings {
    size_t size; /* of the input */
    mishap_buffer lines;
};

static void note(void *state, const mishap_leak *leak)
{
    struct findings *findings = state;
    char line[64];
    EXPECT(leak->start <= findings->size && leak->length <= findings->size - leak->start,
           "%s from %zu, %zu bytes", leak->rule, leak->start, leak->length);
    EXPECT(leak->excerpt.length <= MISHAP_LEAK_EXCERPT, "%zu bytes", leak->excerpt.length);
    EXPECT(!memchr(leak->excerpt.data, '\n', leak->excerpt.length), "%s", leak->rule);
    EXPECT(leak->line && leak->column, "%s", leak->rule);
    EXPECT((leak->kind == MISHAP_LEAK_LIMIT) == (strcmp(leak->rule, "limit") == 0), "%s",
           leak->rule);
    expect_utf8(leak->excerpt);
    int length = snprintf(line, sizeof line, "%d %zu %zu %zu:%zu ", leak->kind, leak->start,
                          leak->length, leak->line, leak->column);
    mishap_buffer_put(&findings->lines, line, (size_t)length);
    mishap_buffer_put_text(&findings->lines, mishap_text_of(leak->rule));
    mishap_buffer_put_text(&findings->lines, mishap_text_of(leak->view));
    mishap_buffer_put_text(&findings->lines, leak->excerpt);
}

static void count_sure(void *state, const mishap_leak *leak)
{
    if (leak->kind != MISHAP_LEAK_LIMIT)
        ++*(size_t *)state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text text = input_text(data, size);
    struct findings whole = { .size = size }, cut = { .size = size };
    mishap_leak_scan(text, NULL, note, &whole);
    mishap_leak_stream *stream = mishap_leak_open(NULL, note, &cut);
    if (!stream)
        return 0;
    uint32_t chance = size ? data[0] * 2654435761u + 1 : 1;
    for (size_t at = 0; at < size;) {
        chance = chance * 1664525u + 1013904223u;
        size_t length = 1 + (chance >> 16) % (1u << (chance >> 28));
        length = length < size - at ? length : size - at;
        mishap_leak_feed(stream, (mishap_text){ text.data + at, length });
        at += length;
    }
    mishap_leak_close(stream);
    EXPECT(mishap_text_equal(mishap_buffer_text(&whole.lines), mishap_buffer_text(&cut.lines)),
           "whole: %.*s\ncut: %.*s", SHOWN(mishap_buffer_text(&whole.lines)),
           SHOWN(mishap_buffer_text(&cut.lines)));
    size_t sure = 0;
    mishap_leak_scan(text, &(mishap_leak_known){ .values = &text, .count = 1 }, count_sure, &sure);
    EXPECT(sure == 0 || memchr(text.data, '\\', size) || memchr(text.data, '&', size) ||
               memchr(text.data, '<', size),
           "%zu findings in what was sent", sure);
    mishap_buffer_release(&whole.lines);
    mishap_buffer_release(&cut.lines);
    return 0;
}
