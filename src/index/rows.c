/* Rows as JSON. */
#include <stdio.h>

#include "base/hex.h"
#include "index/inside.h"

void mishap_index_put_time(mishap_buffer *json, int64_t ms)
{
    mishap_json_comma(json);
    mishap_buffer_put_char(json, '"');
    mishap_clock_put_timestamp(json, ms);
    mishap_buffer_put_char(json, '"');
}

void mishap_index_put_row(const index_row *row, mishap_buffer *json)
{
    char id[MISHAP_ID_LENGTH + 1], group[17];
    mishap_index_id_write(row->id, id);
    mishap_index_group_write(row->group, group);
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "id");
    mishap_json_string(json, mishap_text_of(id));
    MISHAP_JSON_KEY(json, "time");
    mishap_index_put_time(json, mishap_index_ms(row->id));
    MISHAP_JSON_TEXT_MEMBER(json, "operation", row->operation);
    MISHAP_JSON_TEXT_MEMBER(json, "boundary", row->boundary);
    MISHAP_JSON_TEXT_MEMBER(json, "service", row->service);
    MISHAP_JSON_TEXT_MEMBER(json, "caller", row->caller);
    MISHAP_JSON_TEXT_MEMBER(json, "server", row->server);
    MISHAP_JSON_TEXT_MEMBER(json, "code", row->code);
    MISHAP_JSON_TEXT_MEMBER(json, "category", row->category);
    if (row->status != INT64_MIN) {
        MISHAP_JSON_KEY(json, "status");
        mishap_json_int(json, row->status);
    }
    MISHAP_JSON_TEXT_MEMBER(json, "message", row->message);
    MISHAP_JSON_KEY(json, "group");
    mishap_json_string(json, mishap_text_of(group));
    if (row->us >= 0) {
        MISHAP_JSON_KEY(json, "duration_us");
        mishap_json_int(json, row->us);
    }
    MISHAP_JSON_KEY(json, "whole");
    mishap_json_bool(json, row->whole);
    if (row->has_like) {
        mishap_index_id_write(row->like, id);
        MISHAP_JSON_KEY(json, "like");
        mishap_json_string(json, mishap_text_of(id));
    }
    mishap_json_close(json, '}');
}

/* The columns that rows of both tables have, from the second on. */
static void read_row(sqlite3_stmt *statement, index_row *row)
{
    *row = (index_row){ .operation = mishap_index_text(statement, 1),
                        .boundary = mishap_index_text(statement, 2),
                        .service = mishap_index_text(statement, 3),
                        .caller = mishap_index_text(statement, 4),
                        .code = mishap_index_text(statement, 5),
                        .category = mishap_index_text(statement, 6),
                        .message = mishap_index_text(statement, 7),
                        .group = (uint64_t)mishap_index_number(statement, 8),
                        .status = INT64_MIN,
                        .us = -1 };
    if (!mishap_index_is_null(statement, 9))
        row->status = mishap_index_number(statement, 9);
}

void mishap_index_fill_found(const index_row *row, mishap_index_found *found)
{
    *found = (mishap_index_found){ .whole = row->whole, .time_ms = mishap_index_ms(row->id) };
    mishap_index_group_write(row->group, found->group);
    if (row->has_like)
        mishap_index_id_write(row->like, found->like);
    size_t length = row->caller.length < sizeof found->caller ? row->caller.length : 0;
    if (length)
        memcpy(found->caller, row->caller.data, length);
    length = row->server.length < sizeof found->server ? row->server.length : 0;
    if (length)
        memcpy(found->server, row->server.data, length);
}

bool mishap_index_put_whole(index_db *db, int64_t key, bool record, mishap_index_found *found,
                            mishap_buffer *json)
{
    index_row row;
    unsigned char trace[16];
    sqlite3_stmt *statement = mishap_index_ask(db, DAY_WHOLE_ROW);
    mishap_index_bind(statement, 1, key);
    if (!mishap_index_row(db, statement))
        return false;
    read_row(statement, &row);
    row.whole = true;
    mishap_index_blob(statement, 0, row.id, INDEX_ID);
    if (!mishap_index_is_null(statement, 10))
        row.us = mishap_index_number(statement, 10);
    if (found)
        mishap_index_fill_found(&row, found);
    if (found && mishap_index_blob(statement, 11, trace, sizeof trace))
        mishap_hex_write(found->trace, trace, sizeof trace);
    if (record) {
        mishap_json_comma(json);
        mishap_buffer_put_text(json, mishap_index_text(statement, 12));
    } else {
        mishap_index_put_row(&row, json);
    }
    mishap_index_do(db, statement);
    return true;
}

/* Numbers of seven bits a byte (day_put.c): that of this place; -1: there is none. */
static int64_t number_at(mishap_text bytes, size_t item)
{
    int64_t number = 0;
    int shift = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        if (item == 0 && shift < 35)
            number |= (int64_t)(byte & 127) << shift;
        shift += 7;
        if (byte & 128)
            continue;
        if (item-- == 0)
            return number;
        shift = 0;
    }
    return -1;
}

bool mishap_index_put_compact(index_db *db, int64_t key, size_t item, mishap_index_found *found,
                              mishap_buffer *json)
{
    index_row row;
    sqlite3_stmt *statement = mishap_index_ask(db, DAY_COMPACT_ROW);
    mishap_index_bind(statement, 1, key);
    if (!mishap_index_row(db, statement))
        return false;
    mishap_text ids = mishap_index_text(statement, 0);
    bool there = item < ids.length / INDEX_ID;
    if (there) {
        read_row(statement, &row);
        memcpy(row.id, ids.data + item * INDEX_ID, INDEX_ID);
        row.us = number_at(mishap_index_text(statement, 10), item);
        row.has_like = mishap_index_blob(statement, 11, row.like, INDEX_ID);
        if (found)
            mishap_index_fill_found(&row, found);
        mishap_index_put_row(&row, json);
    }
    mishap_index_do(db, statement);
    return there;
}
