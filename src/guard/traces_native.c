/* Checks for traces of compiled languages: C, C++, Go, Rust, Swift, Haskell, and of Lisp. */
#include "guard/rules.h"

static bool in_path(char c)
{
    return (unsigned char)c > ' ' && !leak_quote(c) && c != '(' && c != ')' && c != '<' &&
           c != '>' && c != ',' && c != ';';
}

/* The number of a frame before this place: `#12  `; NULL if there is none. */
static const char *frame_number(mishap_leak_place *place, const char *at)
{
    at = leak_skip_back(place, at, leak_blank, 8);
    const char *digits = leak_skip_back(place, at, leak_digit, 5);
    return digits < at && digits > place->start && digits[-1] == '#' ? digits - 1 : NULL;
}

static bool is_hex(char c)
{
    return leak_hex(c);
}

/* `#0  0x000055 in main () at a.c:3`, `#0 0x55 in main a.c:3:5`, `#1 0x55 (a.out+0x12)`; the
 * literal is ` 0x5` with a blank or a digit before. */
bool mishap_leak_gdb_address(mishap_leak_place *place)
{
    const char *zero = place->behind - 3;
    const char *number = frame_number(place, zero);
    const char *end = leak_skip(place, place->behind, is_hex, 20);
    if (!number || end - zero < 6 || (!leak_is(place, end, " in ") && !leak_is(place, end, " (")))
        return false;
    place->from = number;
    place->to = end;
    return true;
}

/* `#1  main () at a.c:3`; the literal is `) at `. */
bool mishap_leak_gdb_frame(mishap_leak_place *place)
{
    const char *from = leak_line_start(place, place->at);
    while (from < place->at && leak_blank(*from))
        from++;
    if (leak_char(place, from) != '#' || !leak_digit(leak_char(place, from + 1)))
        return false;
    const char *end = leak_skip(place, place->behind, in_path, 300);
    const char *digits = leak_skip_back(place, end, leak_digit, 9);
    if (digits == end || digits[-1] != ':' || digits - place->behind < 3)
        return false;
    place->from = from;
    place->to = end;
    return true;
}

/* `a.out(main+0x1d) [0x55]`; the literal is `) [0x`. */
bool mishap_leak_glibc_frame(mishap_leak_place *place)
{
    const char *from = leak_line_start(place, place->at);
    if (!leak_find(place, from, place->at, "(+0x") && !leak_find(place, from, place->at, "+0x") &&
        !leak_ends(place, place->at, "("))
        return false;
    const char *end = leak_skip(place, place->behind, is_hex, 20);
    if (leak_char(place, end) != ']' || end - place->behind < 3)
        return false;
    place->from = leak_skip_back(place, place->at, in_path, 300);
    place->to = end + 1;
    return true;
}

/* `  by 0x10A: main (a.c:3)` of valgrind, `==1==    at 0x…`. */
bool mishap_leak_valgrind_frame(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, is_hex, 20);
    if (!leak_is(place, end, ": ") || end - place->behind < 4)
        return false;
    place->to = end;
    return true;
}

/* `a.c:3: main: Assertion `x' failed.` */
bool mishap_leak_assertion(mishap_leak_place *place)
{
    const char *failed = leak_find(place, place->behind, leak_line_end(place, place->behind),
                                   " failed");
    const char *from = leak_line_start(place, place->at);
    if (!failed || !leak_find(place, from, place->at, ":"))
        return false;
    place->from = from;
    return true;
}

/* `main.go:12 +0x1d`; the literal is ` +0x1`. */
bool mishap_leak_go_frame(mishap_leak_place *place)
{
    const char *digits = leak_skip_back(place, place->at, leak_digit, 9);
    if (digits == place->at || digits == place->start || digits[-1] != ':')
        return false;
    place->from = leak_skip_back(place, digits, in_path, 300);
    place->to = leak_skip(place, place->behind, is_hex, 16);
    return true;
}

/* `goroutine 1 [running]:` */
bool mishap_leak_goroutine(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_digit, 12);
    if (!leak_is(place, end, " ["))
        return false;
    const char *close = leak_find(place, end, leak_line_end(place, end), "]");
    if (!close)
        return false;
    place->to = close + 1;
    return true;
}

/* `thread 'main' panicked at src/main.rs:3:5`; the literal is `panicked at `. */
bool mishap_leak_rust_panic(mishap_leak_place *place)
{
    const char *from = leak_line_start(place, place->at);
    const char *thread = leak_find(place, from, place->at, "thread ");
    const char *end = leak_line_end(place, place->behind);
    if (!thread && !leak_find(place, place->behind, end, ".rs:"))
        return false;
    place->from = thread ? thread : place->at;
    place->to = place->behind;
    const char *file = leak_find(place, place->behind, end, ".rs:");
    if (file)
        place->to = leak_skip(place, file + 4, leak_digit, 9);
    return true;
}

/* `at ./src/main.rs:3:5`, `error at src/a.rs:3:5`; the literal is `.rs:1`. The same of Swift,
 * Haskell and C: a name of a file, its line and its column, behind `at `, `in ` or alone on its
 * line. */
bool mishap_leak_native_place(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_digit, 9);
    const char *from = leak_skip_back(place, place->at, in_path, 300);
    if (from == place->at)
        return false;
    if (leak_char(place, end) == ':' && leak_digit(leak_char(place, end + 1)))
        end = leak_skip(place, end + 1, leak_digit, 9);
    else if (leak_char(place, end) != ':' && leak_char(place, end) != '\n' &&
             !leak_ends(place, from, " at "))
        return false;
    if (!leak_ends(place, from, "at ") && !leak_ends(place, from, "(")) {
        if (!leak_is(place, end, ": ") && !leak_is(place, end, ":\n"))
            return false;
        place->confidence = MISHAP_LEAK_MEDIUM; /* as compilers say it */
    }
    place->from = from;
    place->to = end;
    return true;
}

/* `a.hs:(3,1)-(4,9): Non-exhaustive patterns`, `error, called at a.hs:3:5 in main:Main`. */
bool mishap_leak_haskell_frame(mishap_leak_place *place)
{
    const char *end = leak_line_end(place, place->behind);
    const char *file = leak_find(place, place->behind, end, ".hs:");
    if (!file || file - place->behind > 200)
        return false;
    place->to = leak_skip(place, file + 4, leak_digit, 9);
    return true;
}

/* -- Lisp -------------------------------------------------------------------------------------- */

/* `0: (SB-KERNEL::…`, `#<SB-THREAD:THREAD`, `SB-INT:SIMPLE-…`: a package of SBCL and a colon. */
bool mishap_leak_sbcl(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_upper, 20);
    if ((leak_char(place, end) != ':' && place->behind[-1] != ':') ||
        leak_word(leak_char(place, place->at - 1)))
        return false;
    place->to = end;
    return true;
}

/* `3: ((LAMBDA …`, `0: (F 1 2)`: a number, a colon and a form, on a line of its own. Only beside
 * another such line. The literal is `\n0: (`. */
bool mishap_leak_lisp_frame(mishap_leak_place *place)
{
    const char *from = leak_line_start(place, place->at);
    const char *number = leak_skip(place, from, leak_blank, 8);
    if (leak_skip(place, number, leak_digit, 4) == number)
        return false;
    const char *end = leak_line_end(place, place->behind);
    const char *next = leak_skip(place, end + (end < place->end), leak_blank, 8);
    const char *digits = leak_skip(place, next, leak_digit, 4);
    bool inside = leak_find(place, place->behind, end, "SB-");
    if (!inside && (digits == next || !leak_is(place, digits, ": (")))
        return false;
    if (!inside) /* it may be the caller's own */
        place->confidence = MISHAP_LEAK_MEDIUM;
    place->from = number;
    place->to = end;
    return true;
}

/* `Assertion failed: x > 0, file a.c, line 12`, `Assertion failed: x > 0 (a.c: main: 12)`. */
bool mishap_leak_assertion_failed(mishap_leak_place *place)
{
    const char *end = leak_line_end(place, place->behind), *last = end;
    while (last > place->behind && (leak_space(last[-1]) || last[-1] == '.'))
        last--;
    const char *digits = leak_skip_back(place, last - (leak_ends(place, last, ")")), leak_digit, 9);
    if (!leak_ends(place, digits, ", line ") && !leak_ends(place, digits, ": "))
        return false;
    place->to = last;
    return digits < last && leak_digit(*digits);
}
