/* One incident by its id, and what happened near it. Also: the files that queries have open. */
#include <stdio.h>

#include "base/hex.h"
#include "index/inside.h"

enum { MOST_VIEWS = 64, KEEP_VIEWS = 40 };

/* -- files that are open ----------------------------------------------------------------------- */

static index_view *find_view(mishap_index *index, const index_file *file)
{
    for (size_t i = 0; i < index->view_count; i++)
        if (index->views[i].day == file->day && index->views[i].part == file->part)
            return &index->views[i];
    return NULL;
}

/* The rest moves up: pointers into the list are not kept across this. */
static void drop_view(mishap_index *index, size_t at)
{
    mishap_index_db_close(&index->views[at].db);
    memmove(&index->views[at], &index->views[at + 1],
            (--index->view_count - at) * sizeof *index->views);
}

/* Those that are gone, have failed, or are many and not asked now. */
static void drop_views(mishap_index *index, const index_files *files, int64_t first, int64_t last)
{
    bool many = index->view_count > KEEP_VIEWS;
    for (size_t i = index->view_count; i-- > 0;) {
        bool there = false;
        if (many && (index->views[i].day < first || index->views[i].day > last)) {
            drop_view(index, i);
            continue;
        }
        for (size_t j = 0; j < files->count && !there; j++)
            there = files->all[j].day == index->views[i].day &&
                    files->all[j].part == index->views[i].part && !files->all[j].damaged;
        if (!there || index->views[i].db.trouble ||
            !mishap_index_db_is_current(&index->views[i].db))
            drop_view(index, i);
    }
}

static mishap *open_view(mishap_index *index, const index_file *file, index_view **out)
{
    char path[INDEX_PATH];
    *out = find_view(index, file);
    if (*out || !mishap_index_file_path(index->folder, file->day, file->part, false, path))
        return NULL;
    if (!index->views)
        index->views = mishap_allocate(MOST_VIEWS * sizeof *index->views);
    if (!index->views)
        return mishap_out_of_memory();
    index_view *view = &index->views[index->view_count];
    *view = (index_view){ .day = file->day, .part = file->part };
    if (mishap_index_db_open(&view->db, path, &mishap_index_day_schema, INDEX_READS)) {
        index->view_count++;
        *out = view;
        return NULL;
    }
    if (view->db.trouble == INDEX_DAMAGED && !index->has_lock)
        mishap_index_repair(index, &view->db);
    bool matters = view->db.trouble == INDEX_BUSY || view->db.trouble == INDEX_NO_MEMORY;
    return matters ? mishap_index_db_failure(&view->db) : NULL;
}

mishap *mishap_index_views(mishap_index *index, int64_t first, int64_t last, index_view ***out,
                           size_t *count)
{
    index_files files;
    mishap *failure = NULL;
    *count = 0;
    *out = NULL;
    mishap_index_files_list(index->folder, &files);
    drop_views(index, &files, first, last);
    if (files.count && !(*out = mishap_allocate(files.count * sizeof **out)))
        failure = mishap_out_of_memory();
    for (size_t i = files.count; i-- > 0 && !failure;) {
        const index_file *file = &files.all[i];
        index_view *view = NULL;
        if (file->damaged || file->day < first || file->day > last ||
            (index->view_count == MOST_VIEWS && !find_view(index, file)))
            continue;
        failure = open_view(index, file, &view);
        if (view)
            (*out)[(*count)++] = view;
    }
    mishap_index_files_free(&files);
    return failure;
}

size_t mishap_index_days(mishap_index *index, int64_t first, int64_t last, int64_t **out)
{
    index_files files;
    size_t count = 0;
    mishap_index_files_list(index->folder, &files);
    *out = files.count ? mishap_allocate(files.count * sizeof **out) : NULL;
    for (size_t i = files.count; i-- > 0 && *out;) {
        const index_file *file = &files.all[i];
        if (!file->damaged && file->day >= first && file->day <= last &&
            (!count || (*out)[count - 1] != file->day))
            (*out)[count++] = file->day;
    }
    mishap_index_files_free(&files);
    return count;
}

static mishap *ask_once(mishap_index *index, int64_t day, index_question ask, void *context,
                        mishap_buffer *json, bool *damaged)
{
    index_view **views;
    size_t count;
    mishap *failure = mishap_index_views(index, day, day, &views, &count);
    if (!failure)
        ask(index, views, count, context, json);
    for (size_t i = 0; i < count; i++) {
        index_db *db = &views[i]->db;
        if (db->trouble == INDEX_DAMAGED) {
            mishap_index_repair(index, db);
            *damaged = true;
        } else if (db->trouble && !failure) {
            failure = mishap_index_db_failure(db);
        }
    }
    mishap_release(views);
    return failure;
}

mishap *mishap_index_query(mishap_index *index, int64_t day, index_question ask, void *context,
                           mishap_buffer *json)
{
    size_t length = json->length;
    mishap *failure = NULL;
    bool damaged = true;
    for (int i = 0; i < 3 && damaged && !failure; i++) {
        damaged = false;
        json->length = length;
        failure = ask_once(index, day, ask, context, json, &damaged);
        if (damaged)
            mishap_free(mishap_index_catch_up(index, 1000));
    }
    return failure ? failure : json->failed ? mishap_out_of_memory() : NULL;
}

mishap *mishap_index_questions(mishap_index *index, index_db **out)
{
    char path[INDEX_PATH + 16];
    index_db *db = &index->questions;
    *out = NULL;
    if (db->handle && (db->trouble || !mishap_index_db_is_current(db)))
        mishap_index_db_close(db);
    if (!db->handle) {
        snprintf(path, sizeof path, "%s/groups.sqlite", index->folder);
        if (!mishap_index_db_open(db, path, &mishap_index_groups_schema, INDEX_READS))
            return db->trouble == INDEX_MISSING ? NULL : mishap_index_db_failure(db);
    }
    *out = db;
    return NULL;
}

/* -- one incident ------------------------------------------------------------------------------ */

struct wanted {
    unsigned char id[INDEX_ID];
    mishap_index_found *found;
    bool there;
};

/* Records whose keys are the same have their rows side by side. */
static bool put_if_whole(index_db *db, const unsigned char *id, mishap_index_found *found,
                         mishap_buffer *json)
{
    char text[MISHAP_ID_LENGTH + 1];
    mishap_index_id_write(id, text);
    for (int64_t key = mishap_index_key(id);; key++) {
        sqlite3_stmt *statement = mishap_index_ask(db, DAY_WHOLE_ROW);
        mishap_index_bind(statement, 1, key);
        if (!mishap_index_row(db, statement))
            return false;
        mishap_text at = mishap_index_text(statement, 0);
        bool same = at.length == INDEX_ID && memcmp(at.data, id, INDEX_ID) == 0;
        mishap_index_sqlite.reset(statement);
        if (same)
            return mishap_index_put_whole(db, key, true, found, json);
    }
}

static bool put_if_compact(index_db *db, const unsigned char *id, mishap_index_found *found,
                           mishap_buffer *json)
{
    int64_t key = mishap_index_key(id), at = 0;
    ptrdiff_t item = -1;
    sqlite3_stmt *statement = mishap_index_ask(db, DAY_COMPACT_AROUND);
    mishap_index_bind(statement, 1, key);
    mishap_index_bind(statement, 2, key + ((int64_t)(INDEX_SPAN_MS + 1) << INDEX_KEY_BITS));
    while (item < 0 && mishap_index_row(db, statement)) {
        at = mishap_index_number(statement, 0);
        item = mishap_index_ids_find(mishap_index_text(statement, 1), id);
    }
    if (statement)
        mishap_index_sqlite.reset(statement);
    return item >= 0 && mishap_index_put_compact(db, at, (size_t)item, found, json);
}

static void ask_for_one(mishap_index *index, index_view **views, size_t count, void *context,
                        mishap_buffer *json)
{
    struct wanted *wanted = context;
    (void)index;
    wanted->there = false;
    for (size_t i = 0; i < count && !wanted->there; i++)
        wanted->there = put_if_whole(&views[i]->db, wanted->id, wanted->found, json);
    for (size_t i = 0; i < count && !wanted->there; i++)
        wanted->there = put_if_compact(&views[i]->db, wanted->id, wanted->found, json);
}

/* The oldest day that is kept; -1: none. */
static int64_t first_day(const mishap_index *index)
{
    index_files files;
    mishap_index_files_list(index->folder, &files);
    int64_t day = files.count ? files.all[0].day : -1;
    mishap_index_files_free(&files);
    return day;
}

mishap *mishap_index_sqlite_find(mishap_index *index, mishap_text id, mishap_index_found *found,
                                 mishap_buffer *json)
{
    struct wanted wanted = { .found = found };
    if (!mishap_index_id_read(id, wanted.id))
        return mishap_index_refuse("id", "the id of an incident, a UUID of version 7");
    int64_t day = mishap_index_ms(wanted.id) / INDEX_DAY_MS;
    mishap *failure = mishap_index_query(index, day, ask_for_one, &wanted, json);
    return failure || wanted.there ? failure
                                   : mishap_index_not_there(index, wanted.id, first_day(index));
}
