#include "wrap/lines.h"

#include "base/utf8.h"
#include "wrap/rules.h"

/* Words of lines that tell an error, as patterns of rules are. */
static const mishap_text alarming = MISHAP_TEXT(
    "error | fatal | cannot | can't | could not | couldn't | failed | failure | unable | denied | "
    "refused | not found | no such | invalid | unknown | missing | unrecognized | not recognized | "
    "illegal | abort | panic | ^E: | ERR! | exception | timed out | does not exist | not "
    "permitted");

/* -- what a terminal would show of a line ------------------------------------------------------ */

/* The length of an escape sequence at the beginning of the text; 0: there is none. */
static size_t escape_length(mishap_text text)
{
    size_t at = 2;
    if (text.length < 2 || text.data[0] != '\x1b')
        return 0;
    if (text.data[1] == ']') { /* a title, up to BEL or ESC \ */
        while (at < text.length && text.data[at] != '\a' && text.data[at] != '\x1b')
            at++;
        return at < text.length && text.data[at] == '\x1b' ? at + 2 : at + 1;
    }
    if (text.data[1] != '[')
        return 2;
    while (at < text.length && (unsigned char)text.data[at] < 0x40)
        at++;
    return at + 1;
}

/* The line without escape sequences, control characters and what a carriage return has overwritten,
 * in the arena. */
static mishap_text clean_line(mishap_arena *arena, mishap_text raw)
{
    while (raw.length && mishap_wrap_is_space(raw.data[raw.length - 1]))
        raw.length--;
    const char *overwritten = raw.length ? memrchr(raw.data, '\r', raw.length) : NULL;
    if (overwritten) {
        raw.length -= (size_t)(overwritten + 1 - raw.data);
        raw.data = overwritten + 1;
    }
    if (raw.length > MISHAP_WRAP_LINE_LENGTH)
        raw.length = mishap_utf8_cut(raw, MISHAP_WRAP_LINE_LENGTH);
    char *clean = mishap_arena_take(arena, raw.length + 1);
    size_t length = 0;
    for (size_t at = 0; clean && at < raw.length;) {
        size_t escape = escape_length((mishap_text){ raw.data + at, raw.length - at });
        unsigned char c = (unsigned char)raw.data[at];
        if (!escape && (c >= 0x20 || c == '\t') && c != 0x7f)
            clean[length++] = raw.data[at];
        at += escape ? escape : 1;
    }
    return clean ? mishap_utf8_clean(arena, (mishap_text){ clean, length }) : (mishap_text){ 0 };
}

/* -- which lines count ------------------------------------------------------------------------- */

/* A line that points at the one above it: "    ^~~~~" */
static bool is_pointer(mishap_text line)
{
    bool any = false;
    for (size_t i = 0; i < line.length; i++) {
        any = any || line.data[i] == '^';
        if (!strchr(" \t^~|-", line.data[i]))
            return false;
    }
    return any;
}

/* Source lines and frames of a stack trace are indented; so are lists of options, and files that
 * are listed below a message. */
static bool is_detail(mishap_text line)
{
    size_t indent = 0;
    while (indent < line.length && line.data[indent] == ' ')
        indent++;
    if (indent == line.length)
        return true;
    char first = line.data[indent];
    mishap_text rest = { line.data + indent, line.length - indent };
    if (mishap_wrap_matches((mishap_text)MISHAP_TEXT("^[cause]: | ^caused by"), rest))
        return false;
    return first == '\t' || indent >= 4 || (indent && first == '-') ||
           (indent && mishap_wrap_matches((mishap_text)MISHAP_TEXT("^File \" | ^at "), rest));
}

static bool is_error(mishap_text line)
{
    return mishap_wrap_matches(alarming, line) &&
           !mishap_wrap_matches(
               (mishap_text)MISHAP_TEXT("^warning | : warning: | ^hint: | ^usage:"), line);
}

void mishap_wrap_lines_read(mishap_wrap_lines *lines, mishap_text text, size_t most)
{
    mishap_text others[MISHAP_WRAP_LINES];
    size_t other_count = 0, seen = 0;
    bool source = false; /* the line below points at this one */
    lines->count = lines->errors = 0;
    mishap_arena_init(&lines->arena, NULL, 0);
    most = most < MISHAP_WRAP_LINES ? most : MISHAP_WRAP_LINES;
    while (text.length && seen < most) {
        const char *feed = memrchr(text.data, '\n', text.length);
        const char *start = feed ? feed + 1 : text.data;
        mishap_text raw = { start, (size_t)(text.data + text.length - start) };
        text.length = feed ? (size_t)(feed - text.data) : 0;
        mishap_text line = clean_line(&lines->arena, raw);
        bool pointer = line.data && is_pointer(line);
        if (line.data && line.length && !pointer && !source && !is_detail(line)) {
            if (is_error(line))
                lines->lines[lines->errors++] = line;
            else
                others[other_count++] = line;
            seen++;
        }
        source = pointer;
    }
    lines->count = lines->errors;
    for (size_t i = 0; i < other_count; i++)
        lines->lines[lines->count++] = others[i];
}

void mishap_wrap_lines_release(mishap_wrap_lines *lines)
{
    mishap_arena_release(&lines->arena);
}
