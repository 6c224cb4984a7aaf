/* Groups of failures as JSON, for all engines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "index/engine.h"

enum { NEW_MS = 24 * 3600 * 1000 };

const char *const mishap_group_state_names[MISHAP_GROUP_STATES] = { "new", "known", "resolved",
                                                                    "regressed", "muted" };

const mishap_text mishap_index_other_message = MISHAP_TEXT("Further groups of this operation");

uint64_t mishap_index_other_group(mishap_text operation)
{
    uint64_t hash = mishap_text_hash((mishap_text)MISHAP_TEXT("other"));
    return mishap_text_hash_on(hash, operation);
}

mishap_group_state mishap_index_shown_state(const mishap_index *index, int64_t state,
                                            int64_t first_ms)
{
    if (state < 0 || state >= MISHAP_GROUP_STATES)
        return MISHAP_GROUP_KNOWN;
    if (state == MISHAP_GROUP_NEW && mishap_index_now(index) - first_ms > NEW_MS)
        return MISHAP_GROUP_KNOWN;
    return (mishap_group_state)state;
}

mishap *mishap_index_no_group(mishap_text group)
{
    return mishap_tell(mishap_raise(NOT_FOUND, "There is no such group of failures."), "group",
                       group);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void put_member_time(mishap_buffer *json, const char *name, int64_t ms)
{
    mishap_json_key(json, mishap_text_of(name));
    mishap_index_put_time(json, ms);
}

void mishap_index_put_group(const mishap_index *index, const index_group_row *row,
                            mishap_buffer *json)
{
    char text[MISHAP_ID_LENGTH + 1];
    mishap_index_group_write(row->group, text);
    MISHAP_JSON_KEY(json, "group");
    mishap_json_string(json, mishap_text_of(text));
    MISHAP_JSON_TEXT_MEMBER(json, "operation", row->operation);
    MISHAP_JSON_TEXT_MEMBER(json, "service", row->service);
    MISHAP_JSON_TEXT_MEMBER(json, "code", row->code);
    MISHAP_JSON_TEXT_MEMBER(json, "category", row->category);
    MISHAP_JSON_TEXT_MEMBER(json, "message", row->message);
    MISHAP_JSON_TEXT_MEMBER(json, "place", row->place);
    MISHAP_JSON_KEY(json, "count");
    mishap_json_int(json, row->count);
    put_member_time(json, "first", row->first_ms);
    put_member_time(json, "last", row->last_ms);
    mishap_group_state state = mishap_index_shown_state(index, row->state, row->first_ms);
    MISHAP_JSON_KEY(json, "state");
    mishap_json_string(json, mishap_text_of(mishap_group_state_names[state]));
    MISHAP_JSON_KEY(json, "trend");
    mishap_json_open(json, '[');
    for (size_t i = 0; i < INDEX_HOURS; i++)
        mishap_json_int(json, row->trend[i]);
    mishap_json_close(json, ']');
    if (row->has_newest) {
        mishap_index_id_write(row->newest, text);
        MISHAP_JSON_KEY(json, "like");
        mishap_json_string(json, mishap_text_of(text));
    }
}

void mishap_index_put_history(mishap_buffer *json, int64_t time_ms, int64_t state)
{
    bool known = state >= 0 && state < MISHAP_GROUP_STATES;
    mishap_json_open(json, '{');
    put_member_time(json, "time", time_ms);
    MISHAP_JSON_KEY(json, "state");
    mishap_json_string(json, mishap_text_of(known ? mishap_group_state_names[state] : "known"));
    mishap_json_close(json, '}');
}

void mishap_index_put_day(mishap_buffer *json, int64_t day, int64_t count)
{
    char name[16];
    mishap_index_day_name(day, name);
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "day");
    mishap_json_string(json, mishap_text_of(name));
    MISHAP_JSON_KEY(json, "count");
    mishap_json_int(json, count);
    mishap_json_close(json, '}');
}

/* -- cursors ----------------------------------------------------------------------------------- */

/* "LAST-GROUP", both in hexadecimal digits. */
bool mishap_index_groups_cursor_read(mishap_text text, int64_t *last_ms, int64_t *group)
{
    char copy[INDEX_CURSOR], *end;
    uint64_t key;
    *last_ms = INT64_MAX;
    *group = 0;
    if (!text.length)
        return true;
    if (text.length < 18 || text.length >= sizeof copy || text.data[text.length - 17] != '-' ||
        !mishap_index_group_read((mishap_text){ text.data + text.length - 16, 16 }, &key))
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    *last_ms = strtoll(copy, &end, 16);
    *group = (int64_t)key;
    return end == copy + text.length - 17 && *last_ms >= 0;
}

void mishap_index_groups_cursor_write(int64_t last_ms, int64_t group, char next[INDEX_CURSOR])
{
    char digits[17];
    mishap_index_group_write((uint64_t)group, digits);
    snprintf(next, INDEX_CURSOR, "%" PRIx64 "-%s", (uint64_t)last_ms, digits);
}
