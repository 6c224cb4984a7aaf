/*
 * tests/fuzz: one harness a parser. A harness is one function that takes any bytes and aborts when
 * something is not as it must be. libFuzzer calls it with what it makes up (scripts/fuzz), replay.c
 * with the inputs that are kept (meson test).
 */
#ifndef MISHAP_FUZZ_H
#define MISHAP_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "mishap/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Say what is wrong, as for printf, and abort unless the condition holds. */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The arguments for %.*s. */
#define SHOWN(text) (int)(text).length, (text).data

/* The input as text. Nothing at all has no address, as in a buffer that was never written to. */
static inline mishap_text input_text(const uint8_t *data, size_t size)
{
    return (mishap_text){ size ? (const char *)data : NULL, size };
}

static inline void expect_utf8(mishap_text text)
{
    size_t valid = mishap_utf8_valid_length(text);
    EXPECT(valid == text.length, "breaks at byte %zu: %.*s", valid, SHOWN(text));
}

#endif
