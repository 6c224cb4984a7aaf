/*
 * Checks for absolute paths of files. Paths of addresses look the same, so the first folder has to
 * be one that systems have, and nothing that belongs to an address may stand before it.
 */
#include "guard/rules.h"

static bool in_path(char c)
{
    return leak_kinds(c) & LEAK_PATH;
}

static bool in_part(char c)
{
    return in_path(c) && c != '/';
}

/* Files of programs, and what they write. */
static bool has_file_ending(const char *from, const char *to)
{
    enum { LONGEST = 8 };
    static const char endings[][LONGEST] = {
        "py",    "js",   "ts",    "rb",    "php", "go",  "rs",   "java",   "c",       "cc",
        "cpp",   "h",    "pl",    "pm",    "lua", "ex",  "exs",  "erl",    "hs",      "ml",
        "cs",    "kt",   "scala", "swift", "so",  "log", "sql",  "conf",   "cfg",     "ini",
        "yml",   "yaml", "toml",  "env",   "pem", "key", "db",   "sqlite", "sqlite3", "jar",
        "class", "dll",  "exe",   "mjs",   "cjs", "tsx", "jsx",  "lisp",   "dart",    "sock",
        "pid",   "sh",   "crt",   "jsonl", "csv", "bak", "dump",
    };
    const char *point = memrchr(from, '.', (size_t)(to - from));
    if (!point || to - point == 1 || to - point > LONGEST)
        return false;
    char ending[LONGEST] = { 0 }; /* compared as one number */
    memcpy(ending, point + 1, (size_t)(to - point - 1));
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (memcmp(endings[i], ending, LONGEST) == 0)
            return true;
    return false;
}

/* What may stand before an absolute path: nothing that belongs to an address. */
static bool may_begin_path(const mishap_leak_place *place, const char *at)
{
    char before = leak_char(place, at - 1);
    if (leak_word(before) || before == '.' || before == '-' || before == '~' || before == '}' ||
        before == '%' || before == '$' || before == '*' || before == '!')
        return false;
    if (before == '/') /* file:///srv, but not https:///srv */
        return leak_ends(place, at, "file://") || leak_ends(place, at, "unix://");
    if (before == ':' && leak_word(leak_char(place, at - 2)))
        return !leak_ends(place, at, "http:") && !leak_ends(place, at, "https:");
    return true;
}

static size_t count_parts(const char *from, const char *to)
{
    size_t parts = 0;
    for (const char *c = from; c < to; c++)
        parts += *c == '/' && c + 1 < to && c[1] != '/';
    return parts;
}

static bool all_digits(const char *from, const char *to)
{
    bool hex = from < to, digit = false;
    for (; from < to; from++) {
        hex = hex && (leak_hex(*from) || *from == '-');
        digit = digit || leak_digit(*from);
    }
    return hex && digit;
}

/* Behind the path that begins here, without the sentence's point. */
static const char *path_end(mishap_leak_place *place, const char *from)
{
    const char *end = leak_skip(place, from, in_path, LEAK_FAR);
    if (leak_is_far(from, end))
        return end;
    while (end > from && (end[-1] == '.' || end[-1] == '-' || end[-1] == '@'))
        end--;
    return end;
}

/* The literal is `/srv/` or the like, with what may stand before it. */
bool mishap_leak_unix_path(mishap_leak_place *place)
{
    const char *from = place->at;
    if (*from != '/' || (leak_is(place, from, "//") && leak_char(place, from + 2) != '/'))
        from++;
    if (leak_char(place, from) != '/' || !may_begin_path(place, from))
        return false;
    const char *end = path_end(place, from), *first = leak_skip(place, from + 1, in_part, 64);
    const char *name = first + 1;
    size_t parts = count_parts(from, end);
    if (parts < 2 || end - name < 2)
        return false;
    bool file = has_file_ending(from, end) || leak_is_far(from, end); /* it may be one */
    /* /home/ada, /Users/ada: with something below; a number is an id of an API. */
    if (leak_is(place, from, "/home/") || leak_is(place, from, "/Users/")) {
        const char *user = leak_skip(place, name, in_part, 64);
        if (parts < 3 || all_digits(name, user) || !leak_letter(*name))
            return false;
    }
    if ((leak_is(place, from, "/app/") || leak_is(place, from, "/data/") ||
         leak_is(place, from, "/build/") || leak_is(place, from, "/code/") ||
         leak_is(place, from, "/workspace/") || leak_is(place, from, "/mnt/")) &&
        !(parts >= 4 && leak_blank(leak_char(place, from - 1))) && !file)
        return false;
    if (leak_is(place, from, "/usr/bin/env") || leak_ends(place, from, "#!"))
        return false;
    place->from = from;
    place->to = end;
    return true;
}

/* `…/node_modules/x/`, `…/site-packages/x`: the folder of a library, with something before it. */
bool mishap_leak_library_path(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at, in_path, LEAK_FAR);
    const char *end = path_end(place, place->behind);
    if (leak_ends(place, from, ":") && *from == '/' && from[1] == '/')
        return false; /* an address */
    if (leak_is_far(from, place->at) || leak_is_far(place->behind, end))
        return leak_gave_up(place);
    if (end - place->behind < 3 || !has_file_ending(place->behind, end) || *from != '/')
        return false;
    place->from = from;
    place->to = end;
    return true;
}

static bool in_windows_path(char c)
{
    return leak_word(c) || c == '\\' || c == '/' || c == '.' || c == '-' || c == '~' || c == ' ' ||
           c == '(' || c == ')' || (c & 0x80);
}

static bool in_windows_name(char c)
{
    return leak_word(c) || c == '.' || c == '-' || c == ' ' || c == '~' || c == '(' || c == ')' ||
           c == '$';
}

/* `C:\Users\ada\a.cs`, `\\server\share`; the literal is `C:\` with what stands before. */
bool mishap_leak_windows_path(mishap_leak_place *place)
{
    const char *colon = place->behind - 3;
    if (*colon != ':' || (colon[1] == '/' && colon[2] == '/'))
        return false;
    const char *from = colon - 1;
    if (from < place->start || !leak_letter(*from) || leak_word(leak_char(place, from - 1)))
        return false;
    const char *name = colon + 2;
    while (leak_char(place, name) == '\\')
        name++;
    const char *part = leak_skip(place, name, in_windows_name, 64);
    if (part - name < 2 || (leak_char(place, part) != '\\' && leak_char(place, part) != '/'))
        return has_file_ending(name, part) && (place->from = from, place->to = part, true);
    const char *end = leak_skip(place, part, in_windows_path, 300);
    const char *blank = memchr(part, ' ', (size_t)(end - part));
    if (blank && !memchr(blank, '\\', (size_t)(end - blank)))
        end = blank; /* the sentence goes on */
    place->from = from;
    place->to = end;
    return true;
}

/* `\\server\share`; the literal begins with what stands before. */
bool mishap_leak_share_path(mishap_leak_place *place)
{
    const char *from = place->at + (place->at[0] != '\\' || place->behind - place->at > 4);
    if (leak_char(place, from) != '\\')
        return false;
    const char *host = leak_skip(place, from + 2, leak_host, 64);
    if (host - from < 4 || leak_char(place, host) != '\\')
        return false;
    const char *end = leak_skip(place, host + 1, in_windows_name, 64);
    const char *blank = memchr(host, ' ', (size_t)(end - host));
    if (end - host < 3)
        return false;
    place->from = from;
    place->to = blank ? blank : end;
    return true;
}

/* Behind `    at `, `    at NAME (`, `#1 ` or a tab at the start of the line, a path is a frame. */
static bool stands_in_frame(mishap_leak_place *place, const char *from)
{
    const char *line = leak_line_start(place, from), *at = leak_skip(place, line, leak_blank, 40);
    if (from - line > 200)
        return false;
    if (*from != '/') /* at Orders->find(7) (src/Orders.php:12) */
        return leak_is(place, at, "at ") && leak_ends(place, from, ") (");
    if (at == from)
        return at > line && *line == '\t' && place->at[1] == 'g'; /* of Go */
    if (leak_is(place, at, "#") && leak_digit(leak_char(place, at + 1)))
        return leak_skip(place, at + 1, leak_digit, 4) + 1 == from;
    return at - line >= 2 && leak_is(place, at, "at ") && (at + 3 == from || from[-1] == '(');
}

/* `a.js:12`, then the line itself, then a line with ^ alone, as Node.js prints it. */
static bool has_caret_below(mishap_leak_place *place, const char *end)
{
    if (leak_char(place, end) != '\n' || end >= place->end)
        return false;
    const char *second = leak_line_end(place, end + 1);
    const char *mark = leak_skip(place, second + (second < place->end), leak_blank, 200);
    return leak_char(place, mark) == '^' && mark > second + 1;
}

/* `/srv/a.py:12`, `app.js:12:5`: a place of a program without its stack. */
bool mishap_leak_file_place(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at, in_path, 300);
    const char *end = leak_skip(place, place->behind, leak_digit, 9);
    if (place->at - from < 2 || leak_ends(place, from, ":") || leak_word(leak_char(place, end)))
        return false;
    if (leak_char(place, end) == ':' && leak_digit(leak_char(place, end + 1)))
        end = leak_skip(place, end + 1, leak_digit, 9);
    if (leak_is(place, end, ": ")) { /* /srv/a.py:4: UserWarning: … */
        const char *class = leak_skip(place, end + 2, leak_word, 60);
        if ((leak_char(place, class) == ':' || leak_char(place, class) == '\n') &&
            (leak_ends(place, class, "Warning") || leak_ends(place, class, "Error")))
            place->confidence = MISHAP_LEAK_HIGH;
    }
    if ((stands_in_frame(place, from) && !leak_is(place, end, " +0x")) ||
        leak_is(place, end, ", in ") || leak_is(place, end, ": in ") ||
        has_caret_below(place, end) ||
        (leak_ends(place, from, "(at ") && leak_char(place, end) == ')'))
        place->confidence = MISHAP_LEAK_HIGH;
    place->from = from;
    place->to = end;
    return true;
}
