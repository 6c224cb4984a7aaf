/*
 * Detection of stack traces of the most common languages. Each language is a row: a line that
 * starts like this and, further on, has each of these pieces in turn. A piece that begins a line is
 * not enough to name a trace by itself where prose could begin the same way.
 */
#include "guard/guard.h"

static const struct look {
    const char *language;
    const char
        *start; /* what the line starts with, after white space; "" for anywhere in the line */
    const char *pieces[3]; /* what follows, in this order; \x01 stands for a digit */
} looks[] = {
    { "Python", "", { "Traceback (most recent call last)" } },
    { "Python", "File \"", { "\", line \x01" } },
    { "Python", "", { " File \"", "\", line \x01" } },
    { "Java", "at ", { "(", ".java:\x01", ")" } },
    { "Java", "at ", { "(", ".kt:\x01", ")" } },
    { "Java", "at ", { "(", ".scala:\x01", ")" } },
    { "Java", "at ", { "(Native Method)" } },
    { "Java", "at ", { "(Unknown Source)" } },
    { "Java", "", { "Exception in thread \"" } },
    { "JavaScript", "at ", { ".js:\x01", ":\x01" } },
    { "JavaScript", "at ", { ".mjs:\x01", ":\x01" } },
    { "JavaScript", "at ", { ".cjs:\x01", ":\x01" } },
    { "JavaScript", "at ", { ".ts:\x01", ":\x01" } },
    { "JavaScript", "at ", { "(node:", ":\x01", ")" } },
    { "C#", "at ", { ")", " in ", ":line \x01" } },
    { "Go", "goroutine \x01", { " [", "]:" } },
    { "Go", "", { ".go:\x01", " +0x" } },
    { "Rust", "thread '", { "panicked at ", ":" } },
    { "Rust", "stack backtrace:", { 0 } },
    { "Ruby", "from ", { ".rb:\x01", ":in " } },
    { "Ruby", "", { ".rb:\x01", ":in `" } },
    { "Ruby", "", { ".rb:\x01", ":in '" } },
    { "PHP", "#\x01", { ".php(\x01", "):" } },
    { "PHP", "#\x01 {main}", { 0 } },
    { "PHP", "#\x01\x01 {main}", { 0 } },
    { "C", "#\x01 0x", { " in " } },
    { "C", "#\x01  0x", { " in " } },
    { "C", "#\x01\x01 0x", { " in " } },
    { "Lisp", "\x01: (", { "SB-" } },
};

static bool piece_at(const char *at, const char *end, const char *piece)
{
    for (; *piece; piece++, at++) {
        if (at == end || (*piece == '\x01' ? *at < '0' || *at > '9' : *at != *piece))
            return false;
    }
    return true;
}

/* Behind the piece where it first stands, NULL if it does not. */
static const char *find_piece(const char *at, const char *end, const char *piece)
{
    size_t length = strlen(piece);
    while ((at = memchr(at, piece[0], (size_t)(end - at)))) { /* none starts with a digit */
        if (piece_at(at, end, piece))
            return at + length;
        at++;
    }
    return NULL;
}

static bool line_has(const char *at, const char *end, const struct look *look)
{
    if (!piece_at(at, end, look->start))
        return false;
    at += strlen(look->start);
    for (size_t i = 0; i < 3 && look->pieces[i]; i++)
        if (!(at = find_piece(at, end, look->pieces[i])))
            return false;
    return true;
}

/* Every look has one of these characters in it; most texts have none of them. */
static bool may_have_trace(mishap_text text)
{
    static const bool telling[256] = { [':'] = true, ['('] = true, ['"'] = true, ['#'] = true };
    if (text.length < 8)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (telling[(unsigned char)text.data[i]])
            return true;
    return false;
}

bool mishap_guard_suspects(mishap_text text, mishap_text name)
{
    /* A password in an address comes with a colon, so the first look finds it too. */
    return may_have_trace(text) || (name.length && mishap_guard_secret_name(name));
}

bool mishap_guard_finds_trace(mishap_text text, const char **language)
{
    /* Every look has a space in it, or a # that the line starts with: no address and no time do. */
    if (!may_have_trace(text) ||
        (!memchr(text.data, ' ', text.length) && !memchr(text.data, '#', text.length)))
        return false;
    const char *end = text.data + text.length;
    for (const char *line = text.data; line < end;) {
        const char *line_end = memchr(line, '\n', (size_t)(end - line));
        if (!line_end)
            line_end = end;
        while (line < line_end && (*line == ' ' || *line == '\t'))
            line++;
        for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
            if (line_has(line, line_end, &looks[i])) {
                if (language)
                    *language = looks[i].language;
                return true;
            }
        }
        line = line_end + 1;
    }
    return false;
}
