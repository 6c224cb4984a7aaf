/* A value on one line. */
#include "cli/screen/readable.h"

bool mishap_cli_is_scalar(yyjson_val *value)
{
    return !yyjson_is_ctn(value);
}

bool mishap_cli_lists_scalars(yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    if (!yyjson_arr_size(list))
        return false;
    MISHAP_JSON_ITEMS (list, index, count, item)
        if (!mishap_cli_is_scalar(item))
            return false;
    return true;
}

bool mishap_cli_lists_objects(yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    if (!yyjson_arr_size(list))
        return false;
    MISHAP_JSON_ITEMS (list, index, count, item)
        if (!yyjson_is_obj(item))
            return false;
    return true;
}

/* -- in a few words ---------------------------------------------------------------------------- */

/* A line that is being written, until it is full. */
struct line {
    mishap_buffer *out;
    size_t most, columns;
};

static void add_text(struct line *line, mishap_text text)
{
    size_t left = line->most - line->columns;
    if (left)
        line->columns += mishap_cli_put_shown(line->out, text, left, MISHAP_CLI_ONE_LINE);
}

/* True for a time of RFC 3339: 2026-01-31T12:00:00.000Z. */
static bool is_time(mishap_text text)
{
    static const char shape[] = "0000-00-00T00:00:00";
    if (text.length < sizeof shape || text.length > 40)
        return false;
    for (size_t i = 0; i + 1 < sizeof shape; i++)
        if (shape[i] == '0' ? text.data[i] < '0' || text.data[i] > '9' : text.data[i] != shape[i])
            return false;
    return true;
}

/* If there is little room, a time is shown to the minute or the day: half a date is of no use. */
static void add_time(struct line *line, mishap_text time, size_t left)
{
    enum { TO_MINUTE = 16, TO_DAY = 10 };
    char shown[TO_MINUTE];
    memcpy(shown, time.data, TO_MINUTE);
    shown[TO_DAY] = ' ';
    add_text(line, (mishap_text){ shown, left >= TO_MINUTE ? TO_MINUTE : TO_DAY });
}

static void add_scalar(struct line *line, yyjson_val *value)
{
    char room[64];
    mishap_buffer number;
    mishap_text text = mishap_json_text(value);
    size_t left = line->most - line->columns;
    if (text.data && text.length > left && is_time(text)) {
        add_time(line, text, left);
    } else if (text.data) {
        add_text(line, text);
    } else if (yyjson_is_null(value)) {
        add_text(line, (mishap_text)MISHAP_TEXT("-"));
    } else {
        mishap_buffer_init(&number, room, sizeof room);
        mishap_json_copy(&number, value);
        add_text(line, mishap_buffer_text(&number));
        line->out->failed = line->out->failed || number.failed;
        mishap_buffer_release(&number);
    }
}

static void add_count(struct line *line, yyjson_val *list)
{
    char words[40];
    size_t count = yyjson_arr_size(list);
    snprintf(words, sizeof words, "%zu item%s", count, count == 1 ? "" : "s");
    add_text(line, mishap_text_of(words));
}

static void add_list(struct line *line, yyjson_val *list)
{
    size_t index, count;
    yyjson_val *item;
    if (!yyjson_arr_size(list))
        add_text(line, (mishap_text)MISHAP_TEXT("[]"));
    else if (!mishap_cli_lists_scalars(list))
        add_count(line, list);
    else
        MISHAP_JSON_ITEMS (list, index, count, item) {
            if (line->columns >= line->most)
                break;
            if (index)
                add_text(line, (mishap_text)MISHAP_TEXT(", "));
            add_scalar(line, item);
        }
}

/* Members that have members themselves are not shown in detail. */
static void add_object(struct line *line, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *key, *member;
    if (!yyjson_obj_size(object))
        add_text(line, (mishap_text)MISHAP_TEXT("{}"));
    MISHAP_JSON_MEMBERS (object, index, count, key, member) {
        if (line->columns >= line->most)
            break;
        if (index)
            add_text(line, (mishap_text)MISHAP_TEXT(", "));
        add_text(line, mishap_json_text(key));
        add_text(line, (mishap_text)MISHAP_TEXT(": "));
        if (yyjson_is_obj(member))
            add_text(line, yyjson_obj_size(member) ? (mishap_text)MISHAP_TEXT("{…}")
                                                   : (mishap_text)MISHAP_TEXT("{}"));
        else if (yyjson_is_arr(member))
            add_list(line, member);
        else
            add_scalar(line, member);
    }
}

/* If pieces exactly filled the line, it would not show that others are missing. So one more column
 * is allowed first, and then the whole is cut. */
static size_t put_pieces(mishap_buffer *out, yyjson_val *value, size_t most)
{
    char room[512];
    mishap_buffer pieces;
    mishap_buffer_init(&pieces, room, sizeof room);
    struct line line = { .out = &pieces, .most = most < MISHAP_CLI_ANY_WIDTH ? most + 1 : most };
    if (yyjson_is_obj(value))
        add_object(&line, value);
    else
        add_list(&line, value);
    size_t columns = mishap_cli_put_shown(out, mishap_buffer_text(&pieces), most,
                                          MISHAP_CLI_ONE_LINE);
    out->failed = out->failed || pieces.failed;
    mishap_buffer_release(&pieces);
    return columns;
}

size_t mishap_cli_put_short(mishap_buffer *out, yyjson_val *value, size_t most)
{
    struct line line = { .out = out, .most = most };
    if (!mishap_cli_is_scalar(value))
        return put_pieces(out, value, most);
    add_scalar(&line, value);
    return line.columns;
}
