/* A JSON value as lines of text: names and values, with nested values indented. */
#include "cli/screen/readable.h"

enum {
    DEEPEST = 8,      /* levels that are laid out; deeper values are shortened */
    STEP = 2,         /* indentation of a level */
    WIDEST_NAME = 28, /* of the column of names */
    LEAST_TEXT = 20,  /* columns that are needed to wrap a text */
};

/* The page that is being made. */
struct page {
    mishap_buffer *out, *remarks;
    const mishap_cli_asked *asked;
    mishap_cli_look look;
};

static void put_style(const struct page *p, const char *style)
{
    if (p->look.styles)
        mishap_buffer_put_text(p->out, mishap_text_of(style));
}

/* -- texts ------------------------------------------------------------------------------------- */

/* How much of a line fits: all of it, else up to the last blank that fits, else its first word. */
static size_t fitting(mishap_text line, size_t columns)
{
    size_t width = 0, blank = 0;
    for (size_t at = 0, next; at < line.length; at = next) {
        next = at + 1;
        while (next < line.length && ((unsigned char)line.data[next] & 0xC0) == 0x80)
            next++;
        if (width > columns && line.data[at] == ' ')
            return at;
        if (line.data[at] == ' ' && at)
            blank = at;
        width += mishap_cli_width((mishap_text){ line.data + at, next - at });
        if (width > columns && blank && line.data[at] != ' ')
            return blank;
    }
    return line.length;
}

/* Wrap one line of a text. The first part begins at the current column, the others in `column`. */
static void put_wrapped(const struct page *p, mishap_text line, size_t column)
{
    size_t columns = p->look.width == MISHAP_CLI_ANY_WIDTH || column + LEAST_TEXT > p->look.width
                         ? MISHAP_CLI_ANY_WIDTH
                         : p->look.width - column;
    for (bool first = true; line.length; first = false) {
        if (!first) {
            MISHAP_PUT(p->out, "\n");
            mishap_cli_put_blanks(p->out, column);
        }
        size_t length = fitting(line, columns);
        mishap_buffer_put(p->out, line.data, length);
        while (length < line.length && line.data[length] == ' ')
            length++;
        line.data += length;
        line.length -= length;
    }
}

static void put_inline(const struct page *p, yyjson_val *value, size_t column);

/* A string with all its lines; all but the first begin in `column`. It ends with a line feed. */
static void put_text(const struct page *p, mishap_text text, size_t column)
{
    mishap_buffer shown = { 0 };
    mishap_cli_put_shown(&shown, text, MISHAP_CLI_ANY_WIDTH, MISHAP_CLI_ALL_LINES);
    p->out->failed = p->out->failed || shown.failed;
    mishap_text rest = mishap_buffer_text(&shown);
    while (rest.length && rest.data[rest.length - 1] == '\n')
        rest.length--;
    for (bool first = true; rest.length; first = false) {
        const char *end = memchr(rest.data, '\n', rest.length);
        size_t length = end ? (size_t)(end - rest.data) : rest.length;
        if (!first && length)
            mishap_cli_put_blanks(p->out, column);
        put_wrapped(p, (mishap_text){ rest.data, length }, column);
        length += end != NULL;
        rest.data += length;
        rest.length -= length;
        if (rest.length)
            MISHAP_PUT(p->out, "\n");
    }
    MISHAP_PUT(p->out, "\n");
    mishap_buffer_release(&shown);
}

/* True if a text contains commas: with commas between them, the texts could not be told apart. */
static bool has_commas_inside(yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item)
        if (yyjson_is_str(item) && memchr(yyjson_get_str(item), ',', yyjson_get_len(item)))
            return count > 1;
    return false;
}

/* A line for each item, or several; all but the first begin in `column`. */
static void put_points(const struct page *p, yyjson_val *list, size_t column)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item) {
        mishap_cli_put_blanks(p->out, index ? column : 0);
        MISHAP_PUT(p->out, "- ");
        put_inline(p, item, column + STEP);
    }
}

/* A value that takes one line, or several if it is a long text or a list of them. */
static void put_inline(const struct page *p, yyjson_val *value, size_t column)
{
    mishap_buffer words = { 0 };
    if (yyjson_is_str(value)) {
        put_text(p, mishap_json_text(value), column);
        return;
    }
    if (mishap_cli_lists_scalars(value) && has_commas_inside(value)) {
        put_points(p, value, column);
        return;
    }
    mishap_cli_put_short(&words, value, MISHAP_CLI_ANY_WIDTH);
    p->out->failed = p->out->failed || words.failed;
    put_wrapped(p, mishap_buffer_text(&words), column);
    MISHAP_PUT(p->out, "\n");
    mishap_buffer_release(&words);
}

/* -- objects and lists ------------------------------------------------------------------------- */

static void put_members(const struct page *p, yyjson_val *object, size_t indent, int depth);

/* True if a value stands behind its name, and not below it. */
static bool is_inline(yyjson_val *value, int depth)
{
    return mishap_cli_is_scalar(value) || !unsafe_yyjson_get_len(value) || depth >= DEEPEST ||
           mishap_cli_lists_scalars(value);
}

static void put_items(const struct page *p, yyjson_val *list, size_t indent, int depth)
{
    size_t index, count;
    yyjson_val *item;
    bool objects = mishap_cli_lists_objects(list);
    MISHAP_JSON_ITEMS (list, index, count, item) {
        if (yyjson_is_obj(item) && yyjson_obj_size(item) && depth < DEEPEST) {
            if (objects && index)
                MISHAP_PUT(p->out, "\n");
            put_members(p, item, indent, depth);
        } else {
            mishap_cli_put_blanks(p->out, indent);
            put_inline(p, item, indent);
        }
    }
}

static void put_list(const struct page *p, yyjson_val *list, size_t indent, int depth)
{
    if (!mishap_cli_put_table(p->out, list, indent, p->look))
        put_items(p, list, indent, depth);
}

static size_t name_width(mishap_text name)
{
    mishap_buffer shown = { 0 };
    size_t width = mishap_cli_put_shown(&shown, name, WIDEST_NAME, MISHAP_CLI_ONE_LINE);
    mishap_buffer_release(&shown);
    return width;
}

/* The column in which the values stand behind their names. */
static size_t value_column(yyjson_val *object, size_t indent, int depth)
{
    size_t index, count, widest = 0, width;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        width = is_inline(value, depth) ? name_width(mishap_json_text(key)) : 0;
        widest = width > widest ? width : widest;
    }
    return indent + widest + STEP;
}

static size_t put_name(const struct page *p, mishap_text name, size_t indent)
{
    mishap_cli_put_blanks(p->out, indent);
    put_style(p, MISHAP_CLI_FAINT);
    size_t width = mishap_cli_put_shown(p->out, name, MISHAP_CLI_ANY_WIDTH, MISHAP_CLI_ONE_LINE);
    put_style(p, MISHAP_CLI_PLAIN);
    return indent + width;
}

static void put_member(const struct page *p, mishap_text name, yyjson_val *value, size_t indent,
                       size_t column, int depth)
{
    size_t at = put_name(p, name, indent);
    if (is_inline(value, depth)) {
        if (!yyjson_equals_strn(value, "", 0))
            mishap_cli_put_blanks(p->out, at + STEP > column ? STEP : column - at);
        put_inline(p, value, column);
        return;
    }
    MISHAP_PUT(p->out, "\n");
    if (yyjson_is_obj(value))
        put_members(p, value, indent + STEP, depth + 1);
    else
        put_list(p, value, indent + STEP, depth + 1);
}

static void put_members(const struct page *p, yyjson_val *object, size_t indent, int depth)
{
    size_t index, count, column = value_column(object, indent, depth);
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value)
        put_member(p, mishap_json_text(key), value, indent, column, depth);
}

/* -- pages of a list --------------------------------------------------------------------------- */

static const char *const names_of_lists[] = { "items", "results", "entries", "records", "data" };

/* The list of a page: the one member that is no scalar, under one of the usual names, or the only
 * member that there is. The answer of a command that can be asked for the next page is a page,
 * under any name of its list. */
static yyjson_val *list_of_page(yyjson_val *object, const mishap_cli_asked *asked)
{
    bool pages = mishap_cli_has_pages(asked->operation);
    size_t index, count;
    yyjson_val *key, *value, *list = NULL;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        bool usual = pages || yyjson_obj_size(object) == 1;
        for (size_t i = 0; i < sizeof names_of_lists / sizeof *names_of_lists; i++)
            usual = usual ||
                    mishap_text_equal(mishap_json_text(key), mishap_text_of(names_of_lists[i]));
        if (!mishap_cli_is_scalar(value) && (list || !usual || !yyjson_is_arr(value)))
            return NULL;
        list = mishap_cli_is_scalar(value) ? list : value;
    }
    return list;
}

static void put_top_list(const struct page *p, yyjson_val *list)
{
    if (yyjson_arr_size(list))
        put_list(p, list, 0, 0);
    else
        MISHAP_PUT(p->remarks, "The list is empty.\n");
}

/* The list, then the other members of the page. */
static void put_page(const struct page *p, yyjson_val *object, yyjson_val *list)
{
    size_t index, count, column = value_column(object, 0, 0);
    yyjson_val *key, *value;
    bool first = true;
    put_top_list(p, list);
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        if (value == list || yyjson_is_null(value) ||
            mishap_cli_put_next(p->remarks, mishap_json_text(key), value, p->asked))
            continue;
        if (first && yyjson_arr_size(list))
            MISHAP_PUT(p->out, "\n");
        first = false;
        put_member(p, mishap_json_text(key), value, 0, column, 0);
    }
}

void mishap_cli_put_readable(mishap_buffer *out, mishap_buffer *remarks, yyjson_val *value,
                             const mishap_cli_asked *asked, mishap_cli_look look)
{
    struct page page = { .out = out, .remarks = remarks, .asked = asked, .look = look };
    yyjson_val *list = yyjson_is_obj(value) ? list_of_page(value, asked) : NULL;
    if (yyjson_is_null(value))
        return;
    if (list)
        put_page(&page, value, list);
    else if (yyjson_is_obj(value))
        put_members(&page, value, 0, 0);
    else if (yyjson_is_arr(value))
        put_top_list(&page, value);
    else
        put_inline(&page, value, 0);
}
