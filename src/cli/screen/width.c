/*
 * The tables are made by the build from Unicode's data (widths.py): marks and format characters
 * (Mn, Me, Cf, vowels and finals of Hangul) take no column, East Asian Width W and F two. Ranges
 * run across code points that are not assigned.
 */
#include "cli/screen/width.h"

#include <stdlib.h>

enum { MOST_MARKS = 8 }; /* after one character: no script has more */

struct range {
    uint32_t first, last;
};

/* no_columns: combining marks and invisible characters. two_columns: East Asian characters and
 * emoji. */
#include "widths.h"

static int compare(const void *character, const void *range)
{
    const struct range *r = range;
    uint32_t c = *(const uint32_t *)character;
    return c < r->first ? -1 : c > r->last;
}

#define IS_IN(c, table)                                                                            \
    (bsearch(&(c), (table), sizeof(table) / sizeof *(table), sizeof *(table), compare) != NULL)

size_t mishap_cli_char_width(uint32_t c)
{
    if (c < no_columns[0].first)
        return 1;
    return IS_IN(c, no_columns) ? 0 : IS_IN(c, two_columns) ? 2 : 1;
}

/* -- characters -------------------------------------------------------------------------------- */

/* A character; at the end there is none. `bytes` is 0 then, and 1 for a byte that is not UTF-8. */
struct character {
    uint32_t code;
    size_t bytes;
    bool sound;
};

static struct character first_of(mishap_text text)
{
    uint32_t code;
    size_t bytes = mishap_text_character(text, &code);
    bool sound = bytes > 1 || (bytes == 1 && code != MISHAP_NO_CHARACTER);
    return (struct character){ sound ? code : 0, bytes, sound };
}

static bool is_space(uint32_t c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == 0x2028 || c == 0x2029;
}

/* True if a terminal would act on it, or if it changes the order in which text is shown. */
static bool is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
}

/* -- texts ------------------------------------------------------------------------------------- */

/* A text that is being written. */
struct line {
    mishap_buffer *out;
    size_t most, columns;
    size_t kept, kept_columns; /* the part that stays if it has to be cut */
    size_t marks;              /* marks behind the last character */
    bool cut;
};

static void add_character(struct line *line, const char *bytes, size_t length, size_t columns)
{
    line->marks = columns ? 0 : line->marks + 1;
    if (line->cut || line->marks > MOST_MARKS)
        return;
    if (columns > line->most - line->columns) {
        line->cut = true;
        return;
    }
    mishap_buffer_put(line->out, bytes, length);
    line->columns += columns;
    if (line->columns < line->most) {
        line->kept = line->out->length;
        line->kept_columns = line->columns;
    }
}

static void feed(struct line *line)
{
    line->marks = 0;
    mishap_buffer_put_char(line->out, '\n');
    line->kept = line->out->length;
}

static void end_line(struct line *line)
{
    if (!line->cut || !line->most || line->out->failed)
        return;
    line->out->length = line->kept;
    MISHAP_PUT(line->out, "…");
    line->columns = line->kept_columns + 1;
}

size_t mishap_cli_put_shown(mishap_buffer *buffer, mishap_text text, size_t most,
                            mishap_cli_lines lines)
{
    struct line line = { .out = buffer, .most = most, .kept = buffer->length };
    bool blank = false; /* in a run of white space */
    while (text.length && !line.cut) {
        struct character c = first_of(text);
        bool all = lines == MISHAP_CLI_ALL_LINES, space = c.sound && is_space(c.code);
        bool fed = all && space && c.code == '\r' && text.length > 1 && text.data[1] == '\n';
        if (all && space && c.code == '\n')
            feed(&line);
        else if (all && space && c.code == '\t')
            add_character(&line, "    ", 4, 4);
        else if (space && !fed && (all || !blank))
            add_character(&line, " ", 1, 1);
        else if (!space && (!c.sound || is_harmful(c.code)))
            add_character(&line, "?", 1, 1);
        else if (!space)
            add_character(&line, text.data, c.bytes, mishap_cli_char_width(c.code));
        blank = space;
        text.data += c.bytes;
        text.length -= c.bytes;
    }
    end_line(&line);
    return line.columns;
}

size_t mishap_cli_width(mishap_text shown)
{
    size_t columns = 0;
    while (shown.length) {
        struct character c = first_of(shown);
        columns += c.code == '\n' ? 0 : mishap_cli_char_width(c.code);
        shown.data += c.bytes;
        shown.length -= c.bytes;
    }
    return columns;
}

void mishap_cli_put_blanks(mishap_buffer *buffer, size_t count)
{
    if (!count || !mishap_buffer_reserve(buffer, count))
        return;
    memset(buffer->data + buffer->length, ' ', count);
    buffer->length += count;
}
