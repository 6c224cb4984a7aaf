/*
 * A line of the journal as what the index stores. The journal is trusted as little as any file: a
 * line may be torn, of another version, or written by another program. What does not look as
 * described in docs/incident.schema.json is skipped and counted.
 */
#include <stdio.h>

#include "base/hex.h"
#include "index/inside.h"

/* -- ids --------------------------------------------------------------------------------------- */

bool mishap_index_id_is_sound(const unsigned char id[INDEX_ID])
{
    /* The years 1970 to 9999, in which a day has a name. */
    return id[6] >> 4 == 7 && id[8] >> 6 == 2 && mishap_index_ms(id) < INT64_C(253402300800000);
}

bool mishap_index_id_read(mishap_text text, unsigned char id[INDEX_ID])
{
    size_t digits = 0;
    for (size_t i = 0; i < text.length; i++) {
        int digit = mishap_hex_digit(text.data[i]);
        if (digit < 0 && text.data[i] == '-' && text.length == MISHAP_ID_LENGTH &&
            (i == 8 || i == 13 || i == 18 || i == 23))
            continue;
        if (digit < 0 || digits == 2 * INDEX_ID)
            return false;
        if (digits % 2 == 0)
            id[digits / 2] = (unsigned char)(digit << 4);
        else
            id[digits / 2] = (unsigned char)(id[digits / 2] | digit);
        digits++;
    }
    return digits == 2 * INDEX_ID && mishap_index_id_is_sound(id);
}

void mishap_index_id_write(const unsigned char id[INDEX_ID], char text[MISHAP_ID_LENGTH + 1])
{
    static const unsigned char pieces[] = { 4, 2, 2, 2, 6 };
    for (size_t i = 0; i < sizeof pieces; i++) {
        mishap_hex_write(text, id, pieces[i]);
        text += 2 * pieces[i];
        id += pieces[i];
        *text++ = i + 1 < sizeof pieces ? '-' : '\0';
    }
}

void mishap_index_group_write(uint64_t group, char text[17])
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(group >> (56 - 8 * i));
    mishap_hex_write(text, bytes, sizeof bytes);
    text[16] = '\0';
}

bool mishap_index_group_read(mishap_text text, uint64_t *group)
{
    unsigned char bytes[8];
    if (text.length != 16 || !mishap_hex_read(text.data, bytes, sizeof bytes))
        return false;
    *group = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        *group = *group << 8 | bytes[i];
    return true;
}

/* -- members ----------------------------------------------------------------------------------- */

static mishap_text cut_text(mishap_text text, size_t limit)
{
    if (text.length > limit)
        text.length = mishap_utf8_cut(text, limit);
    return text;
}

/* A name that is too long is none of ours. */
static bool read_name(yyjson_val *value, mishap_text *name)
{
    *name = mishap_json_text(value);
    return yyjson_is_str(value) && name->length <= INDEX_NAME;
}

static bool read_trace(yyjson_val *trace, index_record *record)
{
    mishap_text id = mishap_json_text(yyjson_obj_get(trace, "id"));
    record->has_trace = id.length == 32 &&
                        mishap_hex_read(id.data, record->trace, sizeof record->trace);
    return record->has_trace;
}

static void read_place(index_reader *reader, yyjson_val *place, index_record *record)
{
    mishap_text file = mishap_json_text(yyjson_obj_get(place, "file"));
    if (!file.length || file.length > INDEX_NAME)
        return;
    int length = snprintf(reader->place, sizeof reader->place, "%.*s:%lld", (int)file.length,
                          file.data, (long long)yyjson_get_sint(yyjson_obj_get(place, "line")));
    if (length > 0 && (size_t)length < sizeof reader->place)
        record->place = (mishap_text){ reader->place, (size_t)length };
}

static uint32_t read_us(yyjson_val *value)
{
    uint64_t us = yyjson_get_uint(value);
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

/* The members that both kinds have. False: one of them is not as it should be. */
static bool read_member(index_reader *reader, yyjson_val *key, yyjson_val *value,
                        index_record *record)
{
    static const struct {
        const char *name;
        size_t offset;
    } names[] = {
        { "program", offsetof(index_record, program) },
        { "service", offsetof(index_record, service) },
        { "operation", offsetof(index_record, operation) },
        { "boundary", offsetof(index_record, boundary) },
        { "code", offsetof(index_record, code) },
        { "category", offsetof(index_record, category) },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (yyjson_equals_str(key, names[i].name)) {
            mishap_text name;
            bool sound = read_name(value, &name);
            memcpy((char *)record + names[i].offset, &name, sizeof name);
            return sound;
        }
    if (MISHAP_JSON_IS(key, "group"))
        return mishap_index_group_read(mishap_json_text(value), &record->group);
    if (MISHAP_JSON_IS(key, "caller"))
        record->caller = cut_text(mishap_json_text(value), INDEX_CALLER);
    else if (MISHAP_JSON_IS(key, "message"))
        record->message = cut_text(mishap_json_text(value), INDEX_MESSAGE);
    else if (MISHAP_JSON_IS(key, "status") && yyjson_is_int(value))
        record->status = yyjson_get_sint(value);
    else if (MISHAP_JSON_IS(key, "trace"))
        return read_trace(value, record);
    else if (MISHAP_JSON_IS(key, "place"))
        read_place(reader, value, record);
    else if (MISHAP_JSON_IS(key, "like"))
        return record->has_like = mishap_index_id_read(mishap_json_text(value), record->like);
    return true;
}

/* -- kinds of lines ---------------------------------------------------------------------------- */

static index_line read_whole(index_reader *reader, yyjson_val *root, index_record *record)
{
    yyjson_val *us = yyjson_obj_get(root, "duration_us");
    record->items = &reader->item;
    record->count = 1;
    record->has_us = yyjson_is_uint(us);
    reader->item.us = read_us(us);
    return mishap_index_id_read(mishap_json_text(yyjson_obj_get(root, "id")), reader->item.id)
               ? INDEX_WHOLE
               : INDEX_LINE_BAD;
}

static int by_id(const void *a, const void *b)
{
    return memcmp(((const index_item *)a)->id, ((const index_item *)b)->id, INDEX_ID);
}

/* The first item from `at` on that is below the one before it. */
static size_t end_of_run(const index_record *record, size_t at)
{
    while (at < record->count && by_id(&record->items[at - 1], &record->items[at]) <= 0)
        at++;
    return at;
}

static void turn_round(index_item *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        index_item item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

/* A process makes its ids in order, and its records are read from a ring: so a line has one run, or
 * two of which the second comes before the first. Lines of several processes are sorted. */
static void order_items(index_record *record)
{
    size_t first = end_of_run(record, 1);
    if (first >= record->count)
        return;
    if (end_of_run(record, first + 1) == record->count &&
        by_id(&record->items[record->count - 1], &record->items[0]) <= 0) {
        turn_round(record->items, first);
        turn_round(record->items + first, record->count - first);
        turn_round(record->items, record->count);
        return;
    }
    mishap_sort(record->items, record->count, sizeof *record->items, by_id);
}

static index_line read_compact(index_reader *reader, yyjson_val *root, index_record *record)
{
    yyjson_val *us = yyjson_obj_get(root, "us"), *item;
    mishap_text ids = mishap_json_text(yyjson_obj_get(root, "ids"));
    size_t index, count;
    mishap_buffer_reset(&reader->bytes);
    mishap_buffer_reset(&reader->items);
    if (!ids.length || !mishap_base64_read(&reader->bytes, ids) ||
        reader->bytes.length % INDEX_ID != 0)
        return reader->bytes.failed ? INDEX_LINE_NO_MEMORY : INDEX_LINE_BAD;
    record->count = reader->bytes.length / INDEX_ID;
    record->has_us = yyjson_arr_size(us) == record->count;
    if (yyjson_get_uint(yyjson_obj_get(root, "count")) != record->count)
        return INDEX_LINE_BAD;
    if (!mishap_buffer_reserve(&reader->items, record->count * sizeof(index_item)))
        return INDEX_LINE_NO_MEMORY;
    record->items = (void *)reader->items.data;
    for (size_t i = 0; i < record->count; i++) {
        memcpy(record->items[i].id, reader->bytes.data + i * INDEX_ID, INDEX_ID);
        record->items[i].us = 0;
        if (!mishap_index_id_is_sound(record->items[i].id))
            return INDEX_LINE_BAD;
    }
    MISHAP_JSON_ITEMS (us, index, count, item)
        if (record->has_us)
            record->items[index].us = read_us(item);
    order_items(record);
    return INDEX_COMPACT;
}

index_line mishap_index_line_read(index_reader *reader, mishap_text line, index_record *record)
{
    yyjson_val *key, *value;
    size_t index, count;
    *record = (index_record){ .line = line, .status = INT64_MIN };
    if (line.length > MISHAP_FOLLOW_LINE)
        return INDEX_LINE_BAD;
    if (!mishap_json_read(&reader->json, line))
        return reader->json.flaw == MISHAP_JSON_NO_MEMORY ? INDEX_LINE_NO_MEMORY : INDEX_LINE_BAD;
    yyjson_val *root = reader->json.root;
    if (yyjson_get_uint(yyjson_obj_get(root, "v")) != 1)
        return INDEX_LINE_BAD;
    mishap_text kind = mishap_json_text(yyjson_obj_get(root, "kind"));
    bool whole = mishap_text_equal(kind, (mishap_text)MISHAP_TEXT("whole"));
    if (!whole && !mishap_text_equal(kind, (mishap_text)MISHAP_TEXT("compact")))
        return kind.length ? INDEX_LINE_OTHER : INDEX_LINE_BAD;
    MISHAP_JSON_MEMBERS (root, index, count, key, value)
        if (!read_member(reader, key, value, record))
            return INDEX_LINE_BAD;
    return whole ? read_whole(reader, root, record) : read_compact(reader, root, record);
}

void mishap_index_reader_release(index_reader *reader)
{
    mishap_json_reader_release(&reader->json);
    mishap_buffer_release(&reader->bytes);
    mishap_buffer_release(&reader->items);
}
