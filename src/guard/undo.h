/* Undo the escapes of JSON and of HTML in a piece of text, and find the way back: which byte of the
 * input a byte of the result came from. */
#ifndef MISHAP_GUARD_UNDO_H
#define MISHAP_GUARD_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mishap_leak_escape { MISHAP_LEAK_JSON, MISHAP_LEAK_HTML } mishap_leak_escape;

/* Every MISHAP_LEAK_MARK bytes of the result a mark says where its text began. */
enum { MISHAP_LEAK_MARK = 16 };

typedef struct mishap_leak_mark {
    uint16_t out, in;
} mishap_leak_mark;

/* The first place from `at` on where there is something to undo that a rule could notice; `to` if
 * there is none. */
const char *mishap_leak_escaped(mishap_leak_escape escape, const char *at, const char *to);

/* Undo all escapes; `out` has room for as many bytes, at most 65535, `marks` for one in
 * MISHAP_LEAK_MARK of them and one more. Returns the length of the result. `marks` may be NULL. */
size_t mishap_leak_undo(mishap_leak_escape escape, const char *from, const char *to, char *out,
                        mishap_leak_mark *marks);

/* Is this the text with all escapes undone? */
bool mishap_leak_undoes_to(mishap_leak_escape escape, const char *from, const char *to,
                           const char *text, size_t length);

/* The byte of the input that this byte of the result came from; for the end of a piece of the
 * result, the end of its input. `last` is where the way before this one ended, { 0 } at first: a
 * byte behind it is looked for from there on. */
size_t mishap_leak_way_back(mishap_leak_escape escape, const char *from, const char *to,
                            const mishap_leak_mark *marks, mishap_leak_mark *last, size_t at,
                            bool end);

#endif
