/*
 * src/archive: the index of incidents in PostgreSQL, for several servers together.
 *
 *     archive.h   this file: what its files share
 *     tables.c    tables and statements
 *     archive.c   opening and closing; which journal this is; the engine
 *     batch.c     lines of the journal as the columns of one statement
 *     write.c     from the journal into the database, batch by batch
 *     rows.c      lists, and one incident by its id
 *     groups.c    groups and decisions about them
 *     counts.c    counts by time
 *
 * It is an engine of src/index, which does not know it: it needs src/store, which lies above. A
 * program hands it in as `.incident_store` of its mishap_app, and an operator gives the address.
 *
 * Each server reads its own journal, and all write into one database. A row has the server that it
 * came from. The place up to which a journal was read is committed together with the rows before
 * it, so each line is stored once; the id of an incident is a key, so one that comes again in
 * another line is skipped. Days are partitions, which are dropped as a whole.
 *
 * Transactions are serializable, so any number of processes may write at any time. So that they do
 * not make each other repeat their work, a process first takes a lock of the database; it goes on
 * without one if another process has it for too long.
 */
#ifndef MISHAP_ARCHIVE_ARCHIVE_H
#define MISHAP_ARCHIVE_ARCHIVE_H

#include "index/engine.h"
#include "mishap/store.h"

enum {
    ARCHIVE_HOST = 64,
    ARCHIVE_IDENTITY = 33,
    ARCHIVE_DAYS = 16,       /* days in one batch, at most */
    ARCHIVE_PARTS = 1000000, /* a part of a day has the number day × ARCHIVE_PARTS + part */
};

/* -- tables.c ---------------------------------------------------------------------------------- */

extern const mishap_store_schema mishap_archive_schema;

enum archive_statement {
    ARCHIVE_PLACE,
    ARCHIVE_SERVER_ADD,
    ARCHIVE_PLACE_TAKE,
    ARCHIVE_PLACE_SET,
    ARCHIVE_LOCK,
    ARCHIVE_UNLOCK,
    ARCHIVE_PART,
    ARCHIVE_RETAIN,
    ARCHIVE_GROUPS_UNKNOWN,
    ARCHIVE_REGRESS,
    ARCHIVE_GROUPS_PUT,
    ARCHIVE_KINDS_PUT,
    ARCHIVE_ROWS_PUT,
    ARCHIVE_ROWS_PUT_ONCE,
    ARCHIVE_TOTALS,
    ARCHIVE_DAYS_ALL,
    ARCHIVE_FIND,
    ARCHIVE_LIST,
    ARCHIVE_LIST_KINDS,
    ARCHIVE_LIST_CALLER,
    ARCHIVE_LIST_TRACE,
    ARCHIVE_LIST_WORDS,
    ARCHIVE_GROUPS_PAGE,
    ARCHIVE_GROUP_ONE,
    ARCHIVE_GROUPS_TREND,
    ARCHIVE_GROUP_DAYS,
    ARCHIVE_HISTORY,
    ARCHIVE_GROUP_STATE,
    ARCHIVE_GROUP_SET,
    ARCHIVE_GROUP_UNDO,
    ARCHIVE_GROUP_RESTORE,
    ARCHIVE_HISTORY_ADD,
    ARCHIVE_MINUTES,
    ARCHIVE_HOURS,
    ARCHIVE_CALLERS,
    ARCHIVE_STATEMENTS,
};

/* -- batch.c ----------------------------------------------------------------------------------- */

/* What failures of a batch have in common; its texts are in the arena of the batch. */
typedef struct archive_kind {
    mishap_text operation, code, category, service, boundary;
    uint64_t group;              /* as the journal has it */
    uint64_t stored_group, hash; /* … and as it is stored: see write.c */
    int64_t last_ms;
} archive_kind;

typedef struct archive_group {
    uint64_t key;
    mishap_text operation, code, category, service, message, place;
    int64_t first_ms, last_ms;
    bool has_newest, unknown; /* not in the database yet */
    unsigned char newest[INDEX_ID];
} archive_group;

/* Columns of the rows of a batch, as arrays of PostgreSQL. */
enum archive_column {
    COLUMN_ID,
    COLUMN_SUM,
    COLUMN_DAY,
    COLUMN_KIND,
    COLUMN_CALLER,
    COLUMN_STATUS,
    COLUMN_US,
    COLUMN_LIKE,
    COLUMN_TRACE,
    COLUMN_MESSAGE,
    COLUMN_WORDS,
    COLUMN_RECORD,
    ARCHIVE_COLUMNS,
};

typedef struct archive_batch {
    mishap_follow_place from, to; /* of the journal */
    size_t lines, bytes, rows, bad_lines;
    int64_t days[ARCHIVE_DAYS], parts[ARCHIVE_DAYS];
    size_t day_count;
    mishap_buffer columns[ARCHIVE_COLUMNS];
    mishap_buffer kinds, groups; /* archive_kind, archive_group */
    size_t kind_count, group_count;
    index_map kind_places, group_places; /* hash, key → place + 1 */
    mishap_arena arena;
    bool failed; /* no memory */
} archive_batch;

static inline archive_kind *mishap_archive_kinds(archive_batch *batch)
{
    return (archive_kind *)(void *)batch->kinds.data;
}

static inline archive_group *mishap_archive_groups(archive_batch *batch)
{
    return (archive_group *)(void *)batch->groups.data;
}

void mishap_archive_batch_clear(archive_batch *batch);
void mishap_archive_batch_release(archive_batch *batch);

/* Read lines into a batch that is empty: `most` of them at most. Days before `oldest` are left out.
 * False: there is no line. */
bool mishap_archive_batch_read(archive_batch *batch, mishap_follow *follow, index_reader *reader,
                               size_t most, int64_t oldest);

/* The number of a kind from all that it has, the same on every machine. */
uint64_t mishap_archive_kind_hash(const archive_kind *kind, uint64_t group);

/* Items of an array of PostgreSQL: the first one opens it. Text without data is NULL; NUL, which
 * PostgreSQL cannot store, becomes U+FFFD. */
void mishap_archive_put_text(mishap_buffer *array, mishap_text text);
void mishap_archive_put_number(mishap_buffer *array, int64_t number);
void mishap_archive_put_null(mishap_buffer *array);
void mishap_archive_put_id(mishap_buffer *array, const unsigned char id[INDEX_ID]);
/* The array as a value; an empty one if nothing was put. */
mishap_text mishap_archive_array(mishap_buffer *array);

/* Words of a text with blanks between them, without anything that PostgreSQL's parser of texts
 * would take for a part of an address, a path or a number. */
void mishap_archive_put_words(mishap_buffer *to, mishap_text text);

/* The same as a question: each word must be there; a star behind a word finds its beginnings. */
void mishap_archive_put_question(mishap_buffer *to, mishap_text text);

/* -- the index --------------------------------------------------------------------------------- */

typedef struct archive {
    index_base base;
    mishap_store *store;               /* NULL: not open */
    char *address, *journal, *program; /* behind this struct; the journal may be NULL */
    char identity[ARCHIVE_IDENTITY], host[ARCHIVE_HOST];
    int days; /* -1: nothing is deleted here */
    uint64_t max_bytes;

    int64_t server;            /* its number in the database; 0: not known yet */
    mishap_follow_place place; /* where to go on, as far as is known */
    mishap_follow *follow;
    index_reader reader;
    archive_batch batch;
    size_t careful;      /* so many lines are stored one by one: the database refuses one of them */
    int64_t retained_ms; /* when days were last deleted */

    uint64_t records, bad_lines, fresh, regressed;
    bool has_groups;
    mishap_reader_state state;
} archive;

/* Open the store, unless it is. */
mishap *mishap_archive_connect(archive *a);

mishap *mishap_archive_catch_up(mishap_index *index, int wait_ms);
mishap *mishap_archive_rows(mishap_index *index, const mishap_index_filter *filter,
                            const unsigned char *not_id, mishap_buffer *json,
                            char next[INDEX_CURSOR]);
mishap *mishap_archive_find(mishap_index *index, mishap_text id, mishap_index_found *found,
                            mishap_buffer *json);
mishap *mishap_archive_groups_page(mishap_index *index, const mishap_index_groups_filter *filter,
                                   mishap_buffer *json);
mishap *mishap_archive_group_one(mishap_index *index, mishap_text group, mishap_buffer *json);
mishap *mishap_archive_group_set(mishap_index *index, mishap_text group, mishap_group_state state);
mishap *mishap_archive_group_undo(mishap_index *index, mishap_text group, mishap_group_state state);
mishap *mishap_archive_stats(mishap_index *index, const mishap_index_span *span,
                             mishap_buffer *json);

/* A filter: text of length 0 is NULL. */
static inline void mishap_archive_bind_filter(mishap_query *query, int place, mishap_text text)
{
    mishap_query_bind_text(query, place, text.length ? text : (mishap_text){ NULL, 0 });
}

#endif
