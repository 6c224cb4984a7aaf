/* What the files of src/index share that keep the index in SQLite: days, groups. See index.h. */
#ifndef MISHAP_INDEX_INSIDE_H
#define MISHAP_INDEX_INSIDE_H

#include "index/engine.h"
#include "index/sqlite.h"

/* -- files.c --------------------------------------------------------------------------------------
 */

/* A file of a day. */
typedef struct index_file {
    int64_t day; /* since 1970 */
    int part;    /* from 1 */
    bool damaged;
    uint64_t bytes;
} index_file;

typedef struct index_files {
    index_file *all; /* by day and part */
    size_t count;
} index_files;

/* Without memory, or if the folder cannot be read, there are none. */
bool mishap_index_files_list(const char *folder, index_files *files);
void mishap_index_files_free(index_files *files);
uint64_t mishap_index_file_bytes(const char *path); /* with its log; 0: it is not there */
bool mishap_index_file_path(const char *folder, int64_t day, int part, bool damaged,
                            char path[INDEX_PATH]);

/* Delete files of days that are too old, and the oldest beyond the size; never the last part of
 * the newest day, or of today. */
void mishap_index_files_retain(const char *folder, int64_t today, int days, uint64_t max_bytes);

/* Move a damaged file aside. */
void mishap_index_file_set_aside(const char *path);

/* -- owner.c: whose index it is ------------------------------------------------------------------
 */

/* From now on the files of a data folder belong to the server with this journal. */
void mishap_index_own(const char *data, const char *journal);

/* True if it belongs to a server with another journal. */
bool mishap_index_is_of_other(const char *folder, const char *journal);

/* -- day.c, day_put.c: one file
 * -------------------------------------------------------------------- */

extern const index_schema mishap_index_day_schema;

/* Statements of a day. */
enum index_day_sql {
    DAY_KIND_FIND,
    DAY_KIND_ADD,
    DAY_KIND_COUNT,
    DAY_CALLER_FIND,
    DAY_CALLER_ADD,
    DAY_CALLER_NAME,
    DAY_LIKE_FIND,
    DAY_LIKE_ADD,
    DAY_LIKE_ID,
    DAY_WHOLE_ADD,
    DAY_WHOLE_RECORD,
    DAY_WORDS_ADD,
    DAY_COMPACT_ADD,
    DAY_COMPACT_IDS,
    DAY_COMPACT_SAME,
    DAY_COMPACT_LAST,
    DAY_MINUTE_ADD,
    DAY_HOUR_ADD,
    DAY_CALLER_HOUR_ADD,
    DAY_KINDS_ALL,
    DAY_KINDS_BY_GROUP,
    DAY_WHOLE_ROW,
    DAY_COMPACT_ROW,
    DAY_COMPACT_AROUND,
    DAY_NEXT_WHOLE,
    DAY_NEXT_WHOLE_OF_KIND,
    DAY_NEXT_WHOLE_OF_CALLER,
    DAY_NEXT_WHOLE_OF_TRACE,
    DAY_NEXT_WHOLE_OF_WORDS,
    DAY_NEXT_COMPACT,
    DAY_NEXT_COMPACT_OF_KIND,
    DAY_NEXT_COMPACT_OF_CALLER,
    DAY_MINUTES,
    DAY_HOURS,
    DAY_CALLER_HOURS,
    DAY_VERSION,
    DAY_SQL,
};

/* What failures have in common, except for status, caller and time. */
typedef struct index_kind {
    int64_t number;
    uint64_t group;
    int64_t count, first_ms, last_ms; /* of this batch; count 0: none */
} index_kind;

/* One file that is written to. */
typedef struct index_day {
    index_db db;
    int64_t day, part;
    int64_t version; /* PRAGMA data_version: changes of other processes make the maps invalid */
    int64_t before;  /* the largest key of a compact row that other processes may have written */
    bool begun;      /* a transaction */
    index_map kinds; /* hash → place in `list` + 1 */
    index_kind *list;
    size_t kind_count, kind_room;
    index_map callers, likes;        /* keyed hash → number */
    index_map newest;                /* kind and caller → the largest key of a compact row */
    index_map minutes, caller_hours; /* of this batch */
    uint64_t secret[2];
} index_day;

bool mishap_index_day_open(index_day *day, const char *folder, int64_t number, int part);
void mishap_index_day_close(index_day *day);

/* Begin a transaction if there is none. Commit, with the counts of the batch; or roll back. */
void mishap_index_day_begin(index_day *day);
void mishap_index_day_commit(index_day *day);
void mishap_index_day_roll_back(index_day *day);

/* Numbers, made if they are new; 0: none. */
int64_t mishap_index_day_kind(index_day *day, const index_record *record, uint64_t group);
int64_t mishap_index_day_caller(index_day *day, mishap_text name);
int64_t mishap_index_day_like(index_day *day, const unsigned char id[INDEX_ID]);

/* Put rows into it: items `first` to `last` of a record, of this day. What it has already is
 * skipped. The result is how many were new. */
size_t mishap_index_day_put_whole(index_day *day, const index_record *record, uint64_t group);
size_t mishap_index_day_put_compact(index_day *day, const index_record *record, uint64_t group,
                                    size_t first, size_t last);

/* True if it has the id, as a whole or a compact row. */
bool mishap_index_day_has(index_db *db, const unsigned char id[INDEX_ID]);

/* The place of an id among those of a compact row; -1: it is not there. */
ptrdiff_t mishap_index_ids_find(mishap_text ids, const unsigned char id[INDEX_ID]);

/* -- groups.c: groups.sqlite
 * ------------------------------------------------------------------------ */

typedef struct index_group {
    uint64_t key;
    int64_t first_ms, last_ms, changed_ms;
    mishap_group_state state;
    bool told;                      /* it has a message */
    bool dirty, has_newest;         /* in this batch */
    unsigned char newest[INDEX_ID]; /* … a whole record of it */
} index_group;

typedef struct index_groups {
    index_db db;
    int64_t version;
    index_map places; /* key → place in `list` + 1 */
    index_group *list;
    size_t count, room;
    size_t validations;        /* groups of this category */
    bool begun;                /* a transaction */
    uint64_t fresh, regressed; /* of this batch */
} index_groups;

extern const index_schema mishap_index_groups_schema;
bool mishap_index_groups_open(index_groups *groups, const char *folder);
void mishap_index_groups_close(index_groups *groups);

/* Read all of it again if another process has changed it. */
void mishap_index_groups_refresh(index_groups *groups);

/* The group that a record counts for: its own, or "other" of its operation. It is noted that it has
 * failed at these times. */
uint64_t mishap_index_groups_note(index_groups *groups, const index_record *record);

/* In one transaction: what was noted, and the place in the journal. */
void mishap_index_groups_commit(index_groups *groups, mishap_text journal,
                                mishap_follow_place place);
void mishap_index_groups_roll_back(index_groups *groups);
void mishap_index_groups_end(index_groups *groups); /* … with nothing to store */
mishap_follow_place mishap_index_groups_place(index_groups *groups, mishap_text journal);

/* The journal is to be read again from its beginning. */
void mishap_index_groups_forget_places(index_groups *groups);

/* The limits of a server, for commands; false: none are stored. */
bool mishap_index_groups_limits(index_groups *groups, int *days, uint64_t *max_bytes);
void mishap_index_groups_set_limits(index_groups *groups, int days, uint64_t max_bytes);

/* How many groups were new, and how many have failed again, since the index began; whichever
 * process has found that. */
void mishap_index_groups_totals(index_groups *groups, uint64_t *fresh, uint64_t *regressed);

/* groups.sqlite was lost: make known what a file of a day knows. */
void mishap_index_groups_import(index_groups *groups, index_db *day);

/* Forget groups that are older than what is kept, and about which nothing was decided. */
void mishap_index_groups_retain(index_groups *groups, int64_t oldest_ms);

/* What an operator has decided about a group, through any connection. False: it is not known, or
 * db->trouble says why it failed. */
bool mishap_index_groups_decide(index_db *db, uint64_t key, mishap_group_state state,
                                int64_t now_ms);

/* Take the last decision back, if it was this one: the group has the state from before. False as
 * above. */
bool mishap_index_groups_undo(index_db *db, uint64_t key, mishap_group_state state);

enum index_groups_sql {
    GROUPS_ALL,
    GROUPS_ADD,
    GROUPS_TELL,
    GROUPS_UPDATE,
    GROUPS_SET,
    GROUPS_UNDO,
    GROUPS_RESTORE,
    GROUPS_HISTORY_ADD,
    GROUPS_HISTORY,
    GROUPS_PLACE,
    GROUPS_PLACE_SET,
    GROUPS_FORGET_PLACES,
    GROUPS_LIMITS,
    GROUPS_LIMITS_SET,
    GROUPS_TOTALS,
    GROUPS_TOTALS_ADD,
    GROUPS_IMPORT,
    GROUPS_RETAIN,
    GROUPS_ONE,
    GROUPS_PAGE,
    GROUPS_VERSION,
    GROUPS_SQL,
};

/* -- the index
 * ----------------------------------------------------------------------------------------- */

/* A file that queries have open. */
typedef struct index_view {
    index_db db;
    int64_t day;
    int part;
} index_view;

struct mishap_index {
    index_base base;
    int days;
    uint64_t max_bytes;
    char folder[INDEX_PATH];
    char *journal; /* NULL: none */

    /* For writing: open while there is something to write. */
    int lock; /* the file; -1: not open */
    bool has_lock;
    mishap_follow *follow;
    index_reader reader;
    index_groups groups;
    bool groups_open;
    index_day *writing; /* INDEX_OPEN_DAYS of them */
    size_t writing_count;
    bool replays;                /* some of what comes may be there already, also in another part */
    int64_t retained_ms;         /* when files were last deleted */
    uint64_t records, bad_lines; /* since it was opened */
    index_trouble trouble;       /* of the last try to write */
    int error;
    bool rebuilt;           /* since that was last reported */
    bool placed;            /* a place in the journal was stored at the last batch */
    uint64_t rebuilt_count; /* since it was opened */

    /* For queries. */
    index_db questions; /* groups.sqlite */
    index_view *views;
    size_t view_count;
};

/* -- write.c -- */

/* The lock of the folder. False: another process has it for longer than that. */
bool mishap_index_lock(mishap_index *index, int wait_ms);
void mishap_index_unlock(mishap_index *index);
void mishap_index_stop_writing(mishap_index *index);

/* A query has found a damaged file: move it aside, so that the journal is read again. */
void mishap_index_repair(mishap_index *index, const index_db *db);

/* -- the functions of the engine (engine.h) -----------------------------------------------------
 */

mishap *mishap_index_sqlite_rows(mishap_index *index, const mishap_index_filter *filter,
                                 const unsigned char *not_id, mishap_buffer *json,
                                 char next[INDEX_CURSOR]);
mishap *mishap_index_sqlite_find(mishap_index *index, mishap_text id, mishap_index_found *found,
                                 mishap_buffer *json);
mishap *mishap_index_sqlite_groups(mishap_index *index, const mishap_index_groups_filter *filter,
                                   mishap_buffer *json);
mishap *mishap_index_sqlite_group(mishap_index *index, mishap_text group, mishap_buffer *json);
mishap *mishap_index_sqlite_group_set(mishap_index *index, mishap_text group,
                                      mishap_group_state state);
mishap *mishap_index_sqlite_group_undo(mishap_index *index, mishap_text group,
                                       mishap_group_state state);
mishap *mishap_index_sqlite_stats(mishap_index *index, const mishap_index_span *span,
                                  mishap_buffer *json);

/* -- find.c -- */

/* The files of the days from `first` to `last`, newest first, opened; those that are gone are
 * closed. The list is released by the caller. Files that are missing, damaged or of a newer version
 * are left out. */
mishap *mishap_index_views(mishap_index *index, int64_t first, int64_t last, index_view ***out,
                           size_t *count);

/* The days that have files, newest first, released by the caller. */
size_t mishap_index_days(mishap_index *index, int64_t first, int64_t last, int64_t **out);

/* Ask the files of a day. If one turns out to be damaged, it is moved aside, and they are asked
 * again; what was added to the buffer is taken back. */
typedef void (*index_question)(mishap_index *index, index_view **views, size_t count, void *context,
                               mishap_buffer *json);
mishap *mishap_index_query(mishap_index *index, int64_t day, index_question ask, void *context,
                           mishap_buffer *json);

/* groups.sqlite for queries; NULL: there is none yet. */
mishap *mishap_index_questions(mishap_index *index, index_db **out);

/* -- rows.c -- */

/* One row as JSON, or its whole record. `found` may be NULL. False: there is none. */
bool mishap_index_put_whole(index_db *db, int64_t key, bool record, mishap_index_found *found,
                            mishap_buffer *json);
/* The item of a compact row with this place among its ids. */
bool mishap_index_put_compact(index_db *db, int64_t key, size_t item, mishap_index_found *found,
                              mishap_buffer *json);

#endif
