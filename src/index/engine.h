/*
 * What an engine of the index is, and what all engines share: ids, lines of the journal, and the
 * JSON of rows, groups and counts. There are two engines: SQLite files of this folder, and
 * PostgreSQL (src/archive), which src/index does not know: a program hands it in
 * (mishap_index_use()).
 */
#ifndef MISHAP_INDEX_ENGINE_H
#define MISHAP_INDEX_ENGINE_H

#include "incident/follow.h"
#include "incident/readers.h"
#include "index/index.h"

enum {
    INDEX_ID = 16,           /* bytes of an id */
    INDEX_SPAN_MS = 1000,    /* the ids of one compact row have times at most so far apart */
    INDEX_KEY_BITS = 36,     /* of a key, below the milliseconds */
    INDEX_KINDS = 40000,     /* in one file; further ones are put together */
    INDEX_MOST_FILES = 4096, /* files of days that are looked at */
    INDEX_OPEN_DAYS = 8,     /* days that are written to at once */
    INDEX_NAME = 200,        /* bytes of names: operation, code, … */
    INDEX_CALLER = 255,
    INDEX_MESSAGE = 1000, /* bytes of a message in lists; the record has all of it */
};

#define INDEX_DAY_MS INT64_C(86400000)

/* -- an engine --------------------------------------------------------------------------------- */

/* What the process of a server tells /health and metrics. Counts are since it was opened, but for
 * groups, which are counted since the index began. */
typedef struct index_report {
    mishap_reader_state state;
    int error;        /* errno; 0: none */
    bool busy;        /* it waits for another process that writes */
    uint64_t lag;     /* bytes of the journal that are not in the index */
    uint64_t records; /* that were added */
    uint64_t rebuilt; /* files that were moved aside, and are made again */
    uint64_t bad_lines;
    bool has_groups;
    uint64_t fresh, regressed;
} index_report;

/*
 * The functions that index.h describes, by the same names. `rows` adds rows of a list without
 * brackets, but for the one with the id `not_id`, which may be NULL; `next` is the cursor of the
 * next page, "" if there is none.
 */
enum { INDEX_CURSOR = 64 };
struct mishap_index_engine {
    mishap *(*open)(const mishap_index_plan *plan, mishap_index **out);
    void (*close)(mishap_index *index);
    mishap *(*catch_up)(mishap_index *index, int wait_ms);
    void (*report)(mishap_index *index, index_report *report);
    mishap *(*rows)(mishap_index *index, const mishap_index_filter *filter,
                    const unsigned char *not_id, mishap_buffer *json, char next[INDEX_CURSOR]);
    mishap *(*find)(mishap_index *index, mishap_text id, mishap_index_found *found,
                    mishap_buffer *json);
    mishap *(*groups)(mishap_index *index, const mishap_index_groups_filter *filter,
                      mishap_buffer *json);
    mishap *(*group)(mishap_index *index, mishap_text group, mishap_buffer *json);
    mishap *(*group_set)(mishap_index *index, mishap_text group, mishap_group_state state);
    mishap *(*group_undo)(mishap_index *index, mishap_text group, mishap_group_state state);
    mishap *(*stats)(mishap_index *index, const mishap_index_span *span, mishap_buffer *json);
};

/* Every index begins with this. */
typedef struct index_base {
    const mishap_index_engine *engine;
    int64_t now_ms;                        /* the time, for tests; 0: that of the clock */
    void (*progress)(mishap_index *index); /* called after each batch; NULL: not */
} index_base;

/* The time, or that of a test. */
int64_t mishap_index_now(const mishap_index *index);

extern const mishap_index_engine mishap_index_in_files;

/* -- keys -------------------------------------------------------------------------------------- */

/*
 * The key of a row: milliseconds of the day and 36 random bits of its id (UUIDv7). Keys of one day
 * are in the order of the ids. So an id is found by its key, and needs no index of its own.
 */
static inline int64_t mishap_index_ms(const unsigned char id[INDEX_ID])
{
    uint64_t ms = 0;
    for (size_t i = 0; i < 6; i++)
        ms = ms << 8 | id[i];
    return (int64_t)ms;
}

static inline int64_t mishap_index_key(const unsigned char id[INDEX_ID])
{
    int64_t ms = mishap_index_ms(id) % INDEX_DAY_MS;
    return ms << INDEX_KEY_BITS | (int64_t)(id[6] & 15) << 32 | (int64_t)id[7] << 24 |
           (int64_t)(id[8] & 63) << 18 | (int64_t)id[9] << 10 | (int64_t)id[10] << 2 | id[11] >> 6;
}

static inline int64_t mishap_index_key_of_ms(int64_t ms)
{
    return (ms % INDEX_DAY_MS) << INDEX_KEY_BITS;
}

/* An id from its text, with or without hyphens, in capitals or not. False: it is none with a time
 * (UUID version 7). */
bool mishap_index_id_read(mishap_text text, unsigned char id[INDEX_ID]);
void mishap_index_id_write(const unsigned char id[INDEX_ID], char text[MISHAP_ID_LENGTH + 1]);
bool mishap_index_id_is_sound(const unsigned char id[INDEX_ID]);

/* True if an operation is one of those that a list leaves out: it begins so. */
static inline bool mishap_index_leaves_out(mishap_text beginning, mishap_text operation)
{
    return beginning.length && operation.length >= beginning.length &&
           memcmp(operation.data, beginning.data, beginning.length) == 0;
}

/* -- map.c: numbers by numbers ------------------------------------------------------------------
 */

typedef struct index_map {
    struct index_map_entry {
        uint64_t key;
        int64_t value;
        bool used;
    } * entries;
    size_t size, count; /* the size is a power of two, or 0 */
} index_map;

/* The place of a value, added as 0 if `add`. NULL: it is not there, or there is no memory. It moves
 * when another one is added. */
int64_t *mishap_index_map_at(index_map *map, uint64_t key, bool add);
void mishap_index_map_clear(index_map *map);
void mishap_index_map_free(index_map *map);

/* -- line.c: a line of the journal ---------------------------------------------------------------
 */

typedef enum index_line {
    INDEX_LINE_BAD,
    INDEX_LINE_OTHER,
    INDEX_LINE_NO_MEMORY,
    INDEX_WHOLE,
    INDEX_COMPACT,
} index_line;

/* One failure of a compact line. */
typedef struct index_item {
    unsigned char id[INDEX_ID];
    uint32_t us;
} index_item;

/* A whole record has one item. Text points into the line, or the memory of the reader. */
typedef struct index_record {
    mishap_text line;
    mishap_text program, service, operation, boundary, code, category; /* no data: absent */
    mishap_text caller, message, place;
    uint64_t group;
    int64_t status; /* INT64_MIN: absent */
    bool has_trace, has_like, has_us;
    unsigned char trace[16], like[INDEX_ID];
    index_item *items; /* in the order of ids */
    size_t count;
} index_record;

typedef struct index_reader {
    mishap_json_reader json;
    mishap_buffer bytes, items;
    char place[256];
    index_item item;
} index_reader;

index_line mishap_index_line_read(index_reader *reader, mishap_text line, index_record *record);
void mishap_index_reader_release(index_reader *reader);

/* -- rows as JSON (rows.c) ----------------------------------------------------------------------
 */

/* The members that come of a record's kind. */
typedef struct index_row {
    unsigned char id[INDEX_ID];
    mishap_text operation, boundary, service, caller, code, category, message;
    uint64_t group;
    int64_t status, us; /* INT64_MIN, -1: absent */
    bool whole, has_like;
    unsigned char like[INDEX_ID];
    mishap_text server; /* no data: this one is the only one */
} index_row;
void mishap_index_put_row(const index_row *row, mishap_buffer *json);

/* 16 digits. */
void mishap_index_group_write(uint64_t group, char text[17]);
bool mishap_index_group_read(mishap_text text, uint64_t *group);

/* {"key":"2026-11-17T16:00:00.000Z"}, for a member of an object. */
void mishap_index_put_time(mishap_buffer *json, int64_t ms);

/* "2026-11-17" */
void mishap_index_day_name(int64_t day, char name[16]);

/* A value of a filter that cannot be right. */
mishap *mishap_index_refuse(const char *field, const char *looks);

/* What every engine reads of a filter: the number of rows, and, if they are given, group and trace.
 */
mishap *mishap_index_read_filter(const mishap_index_filter *filter, size_t *limit, uint64_t *group,
                                 unsigned char trace[16]);

/* NOT_FOUND for an id; `first_day` is the oldest day that is kept, since 1970; -1: none. */
mishap *mishap_index_not_there(const mishap_index *index, const unsigned char id[INDEX_ID],
                               int64_t first_day);

/* Fill what a row of a list does not show; the trace is left empty. */
void mishap_index_fill_found(const index_row *row, mishap_index_found *found);

/* -- groups as JSON (group.c) -------------------------------------------------------------------
 */

enum { INDEX_HOURS = 24 };

/* A group, with its counts. */
typedef struct index_group_row {
    uint64_t group;
    mishap_text operation, service, code, category, message, place;
    int64_t first_ms, last_ms, state;
    bool has_newest;
    unsigned char newest[INDEX_ID];
    int64_t count;
    int64_t trend[INDEX_HOURS];
} index_group_row;

/* Its members, without the braces. */
void mishap_index_put_group(const mishap_index *index, const index_group_row *row,
                            mishap_buffer *json);

/* A group that is new for a day is known from then on. */
mishap_group_state mishap_index_shown_state(const mishap_index *index, int64_t state,
                                            int64_t first_ms);

/* {"time","state"} of its history, {"day","count"} of its days. */
void mishap_index_put_history(mishap_buffer *json, int64_t time_ms, int64_t state);
void mishap_index_put_day(mishap_buffer *json, int64_t day, int64_t count);

/* `next` of a page of groups, or null if `next` is "". */
void mishap_index_put_next(mishap_buffer *json, const char *next);

/* The cursor of a page of groups: the last one of the page before. */
bool mishap_index_groups_cursor_read(mishap_text text, int64_t *last_ms, int64_t *group);
void mishap_index_groups_cursor_write(int64_t last_ms, int64_t group, char next[INDEX_CURSOR]);

/* The group of an operation for which there is no room, and its message. */
uint64_t mishap_index_other_group(mishap_text operation);
extern const mishap_text mishap_index_other_message;

/* NOT_FOUND. */
mishap *mishap_index_no_group(mishap_text group);

/* -- counts over time (stats.c) -----------------------------------------------------------------
 */

typedef struct index_stats index_stats;

/* Begin to count. The span is completed: from, to (seconds) and step. VALIDATION_ERROR. */
mishap *mishap_index_stats_begin(const mishap_index *index, const mishap_index_span *span,
                                 index_stats **out);
typedef struct index_stats_span {
    int64_t from_s, to_s, step_s;
    mishap_text code, category, operation;
} index_stats_span;
index_stats_span mishap_index_stats_span(const index_stats *stats);

/* The number of a category, for the next call; a negative one cannot be counted. */
int64_t mishap_index_stats_category(index_stats *stats, mishap_text category);
void mishap_index_stats_add(index_stats *stats, int64_t category, int64_t when_s, int64_t count);
void mishap_index_stats_add_names(index_stats *stats, mishap_text operation, mishap_text code,
                                  int64_t count);
void mishap_index_stats_add_caller(index_stats *stats, mishap_text caller, int64_t count);
bool mishap_index_stats_failed(const index_stats *stats);

/* Add the JSON, unless there was a failure, and release it. */
mishap *mishap_index_stats_end(index_stats *stats, mishap *failure, mishap_buffer *json);

#endif
