/*
 * A list of objects as a table.
 *
 * Cells are measured first and written afterwards; nothing is stored in between. If the table is
 * too wide, the widest columns become narrower, but stay recognizable. A short list inside of an
 * answer was asked for, so none of its cells is cut: if it is too wide, it is not shown as a table.
 */
#include "cli/screen/readable.h"

enum {
    MOST_COLUMNS = 64,
    GAP = 2,            /* between two columns */
    WIDEST_HEADER = 40, /* a name may have any length */
    WIDEST_PADDED = 80, /* if nothing is cut: a wider cell moves the rest of its line */
    LEAST = 8,          /* the least width of a column that is cut */
    LEAST_HEADER = 10,  /* … and of its header */
    MANY_CELLS = 4096,  /* with more cells, this part of them must have a value: */
    SPARSE = 8,         /* otherwise a small answer would make a huge table of blanks */
    SHORT_LIST = 16, /* items of a list inside of an answer that may take a line for each member */
};

struct column {
    mishap_text name;
    size_t width, floor; /* how wide it is, and how narrow it may become */
    bool text;           /* it contains something that is no number */
    bool number;         /* it has a number in it */
};

struct table {
    mishap_buffer *out;
    mishap_buffer cell; /* one cell, while it is measured or put */
    yyjson_val *list;
    size_t indent, row; /* row: where in `out` the line begins */
    mishap_cli_look look;
    size_t count;
    struct column columns[MOST_COLUMNS];
};

/* -- which columns ----------------------------------------------------------------------------- */

static bool add_column(struct table *t, mishap_text name, size_t expected)
{
    if (expected < t->count && mishap_text_equal(t->columns[expected].name, name))
        return true; /* most objects have their members in the same order */
    for (size_t i = 0; i < t->count; i++)
        if (mishap_text_equal(t->columns[i].name, name))
            return true;
    if (t->count == MOST_COLUMNS)
        return false;
    t->columns[t->count++] = (struct column){ .name = name };
    return true;
}

static bool find_columns(struct table *t)
{
    size_t index, count, i, members, values = 0;
    yyjson_val *item, *key, *value;
    MISHAP_JSON_ITEMS (t->list, index, count, item) {
        MISHAP_JSON_MEMBERS (item, i, members, key, value)
            if (!add_column(t, mishap_json_text(key), i))
                return false;
        values += yyjson_obj_size(item);
    }
    size_t cells = yyjson_arr_size(t->list) * t->count;
    return t->count > 0 && (cells <= MANY_CELLS || values >= cells / SPARSE);
}

static yyjson_val *value_of(const struct table *t, yyjson_val *item, size_t column)
{
    mishap_text name = t->columns[column].name;
    return yyjson_obj_getn(item, name.data ? name.data : "", name.length);
}

/* -- cells ------------------------------------------------------------------------------------- */

static char capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static bool is_small(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* created_at and createdAt as CREATED AT. */
static size_t put_header(mishap_buffer *out, mishap_text name, size_t most)
{
    char room[256];
    mishap_buffer words;
    mishap_buffer_init(&words, room, sizeof room);
    for (size_t i = 0; i < name.length; i++) {
        if (i && is_small(name.data[i - 1]) && name.data[i] >= 'A' && name.data[i] <= 'Z')
            mishap_buffer_put_char(&words, ' ');
        mishap_buffer_put_char(&words, name.data[i] == '_' ? ' ' : capital(name.data[i]));
    }
    size_t width = mishap_cli_put_shown(out, mishap_buffer_text(&words),
                                        most < WIDEST_HEADER ? most : WIDEST_HEADER,
                                        MISHAP_CLI_ONE_LINE);
    out->failed = out->failed || words.failed;
    mishap_buffer_release(&words);
    return width;
}

/* Make a cell in t->cell; returns its width. No item: the header. */
static size_t make_cell(struct table *t, yyjson_val *item, size_t column, size_t most)
{
    yyjson_val none = { .tag = YYJSON_TYPE_NULL }, *value = item ? value_of(t, item, column) : NULL;
    mishap_buffer_reset(&t->cell);
    size_t width = item ? mishap_cli_put_short(&t->cell, value ? value : &none, most)
                        : put_header(&t->cell, t->columns[column].name, most);
    t->out->failed = t->out->failed || t->cell.failed; /* before the cell is used again */
    return width;
}

static bool is_number(yyjson_val *value)
{
    return yyjson_is_num(value) || yyjson_is_raw(value);
}

static void measure(struct table *t, size_t column)
{
    size_t index, count, width, widest = 0;
    yyjson_val *item, *value;
    struct column *c = &t->columns[column];
    size_t header = make_cell(t, NULL, column, t->look.width);
    MISHAP_JSON_ITEMS (t->list, index, count, item) {
        width = make_cell(t, item, column, t->look.width);
        value = value_of(t, item, column);
        widest = width > widest ? width : widest;
        c->number = c->number || is_number(value);
        c->text = c->text || (value && !yyjson_is_null(value) && !is_number(value));
    }
    size_t least = header < LEAST_HEADER ? header : LEAST_HEADER;
    /* A number must not be cut: it would be another number. */
    size_t needed = c->text && widest > LEAST ? LEAST : widest;
    c->width = widest > header ? widest : header;
    c->floor = needed > least ? needed : least;
}

/* -- widths ------------------------------------------------------------------------------------ */

static size_t width_within(const struct column *c, size_t level)
{
    size_t width = level > c->floor ? level : c->floor;
    return width < c->width ? width : c->width;
}

static size_t sum_within(const struct table *t, size_t level)
{
    size_t sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += width_within(&t->columns[i], level);
    return sum;
}

/* True if cells may be cut. */
static bool may_cut(const struct table *t)
{
    return t->indent == 0 || yyjson_arr_size(t->list) > SHORT_LIST;
}

/* Make the widest columns so narrow that the table fits. False: it cannot. */
static bool fit(struct table *t)
{
    size_t beside = t->indent + (t->count - 1) * GAP, level = t->look.width;
    if (t->look.width == MISHAP_CLI_ANY_WIDTH)
        return true;
    if (beside >= t->look.width)
        return false;
    size_t room = t->look.width - beside;
    if (sum_within(t, may_cut(t) ? 0 : level) > room)
        return false;
    while (sum_within(t, level) > room)
        level--;
    size_t left = room - sum_within(t, level);
    for (size_t i = 0; i < t->count; i++) {
        struct column *c = &t->columns[i];
        size_t width = width_within(c, level);
        if (left && width < c->width) {
            width++;
            left--;
        }
        c->width = width;
    }
    return true;
}

/* -- lines ------------------------------------------------------------------------------------- */

static void put_cell(struct table *t, yyjson_val *item, size_t column)
{
    const struct column *c = &t->columns[column];
    bool any = t->look.width == MISHAP_CLI_ANY_WIDTH;
    size_t wanted = any && c->width > WIDEST_PADDED ? WIDEST_PADDED : c->width;
    size_t width = make_cell(t, item, column, any ? MISHAP_CLI_ANY_WIDTH : c->width);
    size_t blanks = width < wanted ? wanted - width : 0;
    bool right = c->number && !c->text;
    mishap_cli_put_blanks(t->out, (column ? GAP : 0) + (right ? blanks : 0));
    mishap_buffer_put_text(t->out, mishap_buffer_text(&t->cell));
    mishap_cli_put_blanks(t->out, right ? 0 : blanks);
}

static void end_line(struct table *t)
{
    while (t->out->length > t->row && t->out->data[t->out->length - 1] == ' ')
        t->out->length--;
}

/* No item: the header. */
static void put_line(struct table *t, yyjson_val *item)
{
    bool bold = !item && t->look.styles;
    mishap_cli_put_blanks(t->out, t->indent);
    if (bold)
        MISHAP_PUT(t->out, MISHAP_CLI_BOLD);
    t->row = t->out->length;
    for (size_t i = 0; i < t->count; i++)
        put_cell(t, item, i);
    end_line(t);
    if (bold)
        MISHAP_PUT(t->out, MISHAP_CLI_PLAIN);
    MISHAP_PUT(t->out, "\n");
}

bool mishap_cli_put_table(mishap_buffer *out, yyjson_val *list, size_t indent, mishap_cli_look look)
{
    struct table t = { .out = out, .list = list, .indent = indent, .look = look };
    size_t index, count;
    yyjson_val *item;
    bool fits = mishap_cli_lists_objects(list) && find_columns(&t);
    for (size_t i = 0; fits && i < t.count; i++)
        measure(&t, i);
    fits = fits && fit(&t);
    if (fits) {
        put_line(&t, NULL);
        MISHAP_JSON_ITEMS (list, index, count, item)
            put_line(&t, item);
    }
    mishap_buffer_release(&t.cell);
    return fits;
}
