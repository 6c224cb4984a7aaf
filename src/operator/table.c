/*
 * Lists of incidents and groups, and counts, as lines for a person. They fit the terminal: columns
 * are cut, and left out from the right, until a line has room. Into a pipe nothing is cut.
 */
#include <stdio.h>

#include "base/utf8.h"
#include "operation/call.h"
#include "operator/inside.h"

enum {
    NARROW = 100,
    WIDE = 120,
    BRIEF = 21 /* of "(not written in full)" */,
    MOMENT = 14,
    SHORT_MOMENT = 11,
    GAP = 2
};

size_t mishap_operator_width(const mishap_call *call)
{
    return call->columns ? call->columns : SIZE_MAX;
}

void mishap_operator_put_cell(mishap_buffer *text, mishap_text words, size_t columns, bool fill)
{
    size_t count = mishap_utf8_count(words);
    if (count > columns) {
        words.length = mishap_utf8_bytes(words, columns ? columns - 1 : 0);
        mishap_put_printable_line(text, words);
        MISHAP_PUT(text, "…");
        return;
    }
    mishap_put_printable_line(text, words);
    for (; fill && count < columns; count++)
        MISHAP_PUT(text, " ");
}

static size_t moment_width(size_t width)
{
    return width < NARROW ? SHORT_MOMENT : MOMENT;
}

/* "2026-11-17T16:00:00.123Z" as "11-17 16:00:00", without the seconds where there is little
 * room. */
static void put_moment(mishap_buffer *text, mishap_text time, size_t columns)
{
    if (time.length < 19) {
        mishap_operator_put_cell(text, time, columns, true);
        return;
    }
    mishap_put_printable_line(text, (mishap_text){ time.data + 5, 5 });
    MISHAP_PUT(text, " ");
    mishap_put_printable_line(text, (mishap_text){ time.data + 11, columns - 6 });
}

/* The columns of a line that have no fixed width, in the order in which they get room. */
struct column {
    const char *member;
    size_t least; /* with less it is left out */
    size_t most;  /* of a terminal */
    size_t width; /* 0: left out */
};

static size_t longest_of(yyjson_val *list, const char *member)
{
    size_t index, count, longest = 1;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item) {
        size_t length = mishap_utf8_count(mishap_operator_text(item, member));
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* A line that stands alone, of a tail, has the columns of those before and after it. */
static void fit_columns(struct column *columns, size_t count, yyjson_val *list, size_t width,
                        size_t used)
{
    bool cuts = width != SIZE_MAX, alone = yyjson_arr_size(list) == 1;
    size_t room = !cuts ? SIZE_MAX : width > used ? width - used : 0;
    for (size_t i = 0; i < count; i++) {
        struct column *c = &columns[i];
        size_t wanted = longest_of(list, c->member);
        if (strcmp(c->member, "message") == 0 && wanted < BRIEF)
            wanted = BRIEF;
        if (alone && wanted < c->least)
            wanted = c->least;
        if (cuts && wanted > c->most)
            wanted = c->most;
        size_t least = wanted < c->least ? wanted : c->least;
        c->width = 0;
        if (room < GAP + least)
            break; /* what is further right is left out, too */
        c->width = wanted < room - GAP ? wanted : room - GAP;
        room -= cuts ? GAP + c->width : 0;
    }
}

static void put_column(mishap_buffer *text, yyjson_val *row, const char *name, size_t columns)
{
    static const mishap_text none = MISHAP_TEXT("-"), brief = MISHAP_TEXT("(not written in full)");
    mishap_text words = mishap_operator_text(row, name);
    bool is_brief = yyjson_is_false(yyjson_obj_get(row, "whole")) && strcmp(name, "message") == 0;
    MISHAP_PUT(text, "  ");
    mishap_operator_put_cell(text, words.length ? words : is_brief ? brief : none, columns, true);
}

static void put_columns(mishap_buffer *text, yyjson_val *row, const struct column *columns,
                        size_t count)
{
    for (size_t i = 0; i < count && columns[i].width; i++)
        put_column(text, row, columns[i].member, columns[i].width);
}

static void end_line(mishap_buffer *text)
{
    while (text->length && text->data[text->length - 1] == ' ')
        text->length--;
    MISHAP_PUT(text, "\n");
}

/* -- incidents --------------------------------------------------------------------------------- */

/* The id is never cut: it is there to be copied. */
void mishap_operator_put_rows(mishap_buffer *text, yyjson_val *rows, const char *indent,
                              size_t width)
{
    struct column columns[] = { { "code", 8, 24, 0 },
                                { "operation", 10, 28, 0 },
                                { "caller", 9, 20, 0 },
                                { "message", 12, SIZE_MAX, 0 } };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    size_t index, count, moment = moment_width(width);
    yyjson_val *row;
    fit_columns(columns, COLUMNS, rows, width, strlen(indent) + moment + GAP + MISHAP_ID_LENGTH);
    MISHAP_JSON_ITEMS (rows, index, count, row) {
        mishap_buffer_put_text(text, mishap_text_of(indent));
        put_moment(text, mishap_operator_text(row, "time"), moment);
        put_column(text, row, "id", MISHAP_ID_LENGTH);
        put_columns(text, row, columns, COLUMNS);
        end_line(text);
    }
}

/* -- groups ------------------------------------------------------------------------------------ */

void mishap_operator_put_trend(mishap_buffer *text, yyjson_val *counts)
{
    static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    size_t index, count;
    uint64_t most = 1;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (counts, index, count, item)
        most = yyjson_get_uint(item) > most ? yyjson_get_uint(item) : most;
    MISHAP_JSON_ITEMS (counts, index, count, item) {
        uint64_t number = yyjson_get_uint(item);
        size_t bar = (size_t)((number * 7 + most - 1) / most);
        mishap_buffer_put_text(text, mishap_text_of(!number    ? "·"
                                                    : bar == 0 ? bars[0]
                                                               : bars[bar < 8 ? bar : 7]));
    }
}

static void put_number(mishap_buffer *text, yyjson_val *number, int columns)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%*llu", columns, (unsigned long long)yyjson_get_uint(number));
    mishap_buffer_put_text(text, mishap_text_of(digits));
}

void mishap_operator_put_groups(mishap_buffer *text, yyjson_val *groups, size_t width)
{
    struct column columns[] = { { "code", 8, 24, 0 },
                                { "operation", 10, 28, 0 },
                                { "message", 12, SIZE_MAX, 0 } };
    enum { COLUMNS = sizeof columns / sizeof *columns, STATE = 9, NUMBER = 8, TREND = 24 };
    size_t index, count, moment = moment_width(width);
    bool trend = width >= WIDE;
    yyjson_val *group;
    fit_columns(columns, COLUMNS, groups, width,
                STATE + NUMBER + GAP + (trend ? GAP + TREND : 0) + GAP + moment + GAP + 16);
    MISHAP_JSON_ITEMS (groups, index, count, group) {
        mishap_operator_put_cell(text, mishap_operator_text(group, "state"), STATE, true);
        put_number(text, yyjson_obj_get(group, "count"), NUMBER + GAP);
        if (trend) {
            MISHAP_PUT(text, "  ");
            mishap_operator_put_trend(text, yyjson_obj_get(group, "trend"));
        }
        MISHAP_PUT(text, "  ");
        put_moment(text, mishap_operator_text(group, "last"), moment);
        put_column(text, group, "group", 16);
        put_columns(text, group, columns, COLUMNS);
        end_line(text);
    }
}

/* -- counts ------------------------------------------------------------------------------------ */

static uint64_t sum_of(yyjson_val *counts)
{
    size_t index, count;
    uint64_t sum = 0;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (counts, index, count, item)
        sum += yyjson_get_uint(item);
    return sum;
}

static void put_counts(mishap_buffer *text, yyjson_val *stats, const char *list, const char *name)
{
    size_t index, count;
    yyjson_val *item, *items = yyjson_obj_get(stats, list);
    if (!yyjson_arr_size(items))
        return;
    mishap_buffer_put_text(text, mishap_text_of(list));
    MISHAP_PUT(text, "\n");
    MISHAP_JSON_ITEMS (items, index, count, item) {
        put_number(text, yyjson_obj_get(item, "count"), 10);
        MISHAP_PUT(text, "  ");
        mishap_put_printable_line(text, mishap_operator_text(item, name));
        MISHAP_PUT(text, "\n");
    }
}

void mishap_operator_put_stats(mishap_buffer *text, yyjson_val *stats)
{
    size_t index, count;
    yyjson_val *series;
    char line[64];
    mishap_put_printable_line(text, mishap_operator_text(stats, "from"));
    MISHAP_PUT(text, " to ");
    mishap_put_printable_line(text, mishap_operator_text(stats, "to"));
    MISHAP_PUT(text, ": ");
    mishap_buffer_put_uint(text, yyjson_get_uint(yyjson_obj_get(stats, "total")));
    MISHAP_PUT(text, " failures\n");
    MISHAP_JSON_ITEMS (yyjson_obj_get(stats, "series"), index, count, series) {
        yyjson_val *counts = yyjson_obj_get(series, "counts");
        snprintf(line, sizeof line, "%10llu  ", (unsigned long long)sum_of(counts));
        mishap_buffer_put_text(text, mishap_text_of(line));
        mishap_put_printable_line(text, mishap_operator_text(series, "category"));
        MISHAP_PUT(text, "\n");
    }
    put_counts(text, stats, "codes", "code");
    put_counts(text, stats, "operations", "operation");
    put_counts(text, stats, "callers", "caller");
}
