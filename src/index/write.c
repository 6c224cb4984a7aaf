/*
 * From the journal into the files, batch by batch.
 *
 * A process that writes has the lock of the folder for the time of a batch. Which place of the
 * journal is the next is read from groups.sqlite under that lock, so it does not matter which
 * process has written the batch before. The files of days are committed first, then groups.sqlite
 * with the place: a process that is killed in between leaves lines that are read again, and rows
 * that are there already are skipped.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/inside.h"

enum {
    BATCH_LINES = 10000,
    BATCH_BYTES = 8 << 20,
    MOST_REPAIRS = 4, /* in one go */
    RETAIN_MS = 5000, /* between looks at the sizes of files */
    PARTS = 4,        /* a file has at most a part of what all may have */
};

/* -- opening and closing ----------------------------------------------------------------------- */

static mishap *open_files(const mishap_index_plan *plan, mishap_index **out)
{
    *out = NULL;
    mishap *failure = mishap_index_sqlite_load();
    if (failure)
        return failure;
    size_t length = plan->journal ? strlen(plan->journal) + 1 : 0;
    mishap_index *index = mishap_allocate(sizeof *index + length);
    if (!index)
        return mishap_out_of_memory();
    *index = (mishap_index){ .base = { .engine = &mishap_index_in_files, .now_ms = plan->now_ms },
                             .days = plan->days,
                             .max_bytes = plan->max_bytes,
                             .lock = -1,
                             .replays = true };
    if (length)
        index->journal = memcpy(index + 1, plan->journal, length);
    int written = snprintf(index->folder, sizeof index->folder, "%s/incidents", plan->data);
    if (written < 0 || (size_t)written >= sizeof index->folder - 64) {
        mishap_release(index);
        return mishap_raise(NOT_CONFIGURED, "The path of the data folder is too long.");
    }
    if (plan->days < 0 && plan->journal && mishap_index_is_of_other(index->folder, plan->journal))
        snprintf(index->folder + written, sizeof index->folder - (size_t)written,
                 "/log-%016" PRIx64, mishap_text_hash(mishap_text_of(plan->journal)));
    if (!mishap_system_make_folder(index->folder)) {
        failure = mishap_raise_errno(errno, "The folder of the index of incidents cannot be made.");
        failure = mishap_note(failure, "folder", index->folder);
        mishap_release(index);
        return failure;
    }
    *out = index;
    return NULL;
}

static void close_days(mishap_index *index)
{
    for (size_t i = 0; i < index->writing_count; i++)
        mishap_index_day_close(&index->writing[i]);
    index->writing_count = 0;
}

void mishap_index_stop_writing(mishap_index *index)
{
    close_days(index);
    if (index->groups_open)
        mishap_index_groups_close(&index->groups);
    index->groups_open = false;
    if (index->follow)
        index->bad_lines += mishap_follow_lost(index->follow);
    mishap_follow_close(index->follow);
    index->follow = NULL;
}

static void close_files(mishap_index *index)
{
    mishap_index_stop_writing(index);
    mishap_index_unlock(index);
    if (index->lock >= 0)
        close(index->lock);
    mishap_index_db_close(&index->questions);
    for (size_t i = 0; i < index->view_count; i++)
        mishap_index_db_close(&index->views[i].db);
    mishap_release(index->views);
    mishap_release(index->writing);
    mishap_index_reader_release(&index->reader);
    mishap_release(index);
}

/* The folder may have been removed, or may not have been there. The data folder above it is not
 * made anew: an operator who has moved it away puts it back. */
static bool open_lock(mishap_index *index)
{
    char path[INDEX_PATH + 8];
    struct stat at_path, opened;
    snprintf(path, sizeof path, "%s/lock", index->folder);
    if (index->lock >= 0 && stat(path, &at_path) == 0 && fstat(index->lock, &opened) == 0 &&
        at_path.st_ino == opened.st_ino && at_path.st_dev == opened.st_dev)
        return true;
    mishap_index_stop_writing(index);
    if (index->lock >= 0)
        close(index->lock);
    mishap_system_make_one(index->folder);
    index->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (index->lock >= 0)
        mishap_system_give_to_owner(index->lock, path);
    return index->lock >= 0;
}

bool mishap_index_lock(mishap_index *index, int wait_ms)
{
    if (!open_lock(index)) {
        index->trouble = errno == ENOSPC || errno == EDQUOT ? INDEX_FULL : INDEX_BROKEN;
        index->error = errno;
        return false;
    }
    for (int waited = 0; flock(index->lock, LOCK_EX | LOCK_NB) != 0; waited += 5) {
        if (waited >= wait_ms || (errno != EWOULDBLOCK && errno != EINTR)) {
            index->trouble = INDEX_BUSY;
            index->error = errno;
            return false;
        }
        poll(NULL, 0, 5);
    }
    return index->has_lock = true;
}

void mishap_index_unlock(mishap_index *index)
{
    if (index->has_lock)
        flock(index->lock, LOCK_UN);
    index->has_lock = false;
}

/* -- which file -------------------------------------------------------------------------------- */

static bool part_exists(const mishap_index *index, int64_t day, int part, uint64_t *bytes)
{
    char path[INDEX_PATH];
    if (!mishap_index_file_path(index->folder, day, part, false, path) || access(path, F_OK) != 0)
        return false;
    *bytes = mishap_index_file_bytes(path);
    return true;
}

/* The last part that exists, or the next one if that is large. */
static int part_for(const mishap_index *index, int64_t day)
{
    index_files files;
    int last = 0;
    uint64_t bytes = 0;
    mishap_index_files_list(index->folder, &files);
    for (size_t i = 0; i < files.count; i++)
        if (files.all[i].day == day && !files.all[i].damaged && files.all[i].part > last) {
            last = files.all[i].part;
            bytes = files.all[i].bytes;
        }
    mishap_index_files_free(&files);
    return !last ? 1 : index->max_bytes && bytes > index->max_bytes / PARTS ? last + 1 : last;
}

/* Between batches: a file that is large is not written to any more, nor one after which another
 * process has begun the next part. Files of past days are closed, so that SQLite folds their logs
 * into them. */
static void look_at_parts(mishap_index *index)
{
    size_t left = 0;
    int64_t today = mishap_index_now(index) / INDEX_DAY_MS;
    for (size_t i = 0; i < index->writing_count; i++) {
        index_day *day = &index->writing[i];
        uint64_t bytes = 0, next = 0;
        bool there = part_exists(index, day->day, (int)day->part, &bytes) &&
                     mishap_index_db_is_current(&day->db);
        bool follows = part_exists(index, day->day, (int)day->part + 1, &next);
        index->replays = index->replays || follows;
        if (!there || follows || day->day < today - 1 ||
            (index->max_bytes && bytes > index->max_bytes / PARTS))
            mishap_index_day_close(day);
        else
            index->writing[left++] = *day;
    }
    index->writing_count = left;
}

static void note_db(mishap_index *index, const index_db *db)
{
    if (index->trouble)
        return;
    index->trouble = db->trouble;
    index->error = db->error;
}

static void commit_days(mishap_index *index)
{
    for (size_t i = 0; i < index->writing_count && !index->trouble; i++) {
        mishap_index_day_commit(&index->writing[i]);
        note_db(index, &index->writing[i].db);
    }
}

static index_day *day_of(mishap_index *index, int64_t number)
{
    for (size_t i = 0; i < index->writing_count; i++)
        if (index->writing[i].day == number)
            return &index->writing[i];
    if (!index->writing)
        index->writing = mishap_allocate(INDEX_OPEN_DAYS * sizeof *index->writing);
    if (!index->writing) {
        index->trouble = INDEX_NO_MEMORY;
        return NULL;
    }
    if (index->writing_count == INDEX_OPEN_DAYS) {
        commit_days(index);
        if (index->trouble)
            return NULL;
        close_days(index);
    }
    index_day *day = &index->writing[index->writing_count++];
    mishap_index_day_open(day, index->folder, number, part_for(index, number));
    note_db(index, &day->db);
    return day->db.trouble ? NULL : day;
}

/* -- rows -------------------------------------------------------------------------------------- */

/* In another part of its day. Only asked while lines may come twice. */
static bool is_elsewhere(mishap_index *index, const index_day *day, const unsigned char *id)
{
    index_view **views = NULL;
    size_t count = 0;
    bool found = false;
    mishap_free(mishap_index_views(index, day->day, day->day, &views, &count));
    for (size_t i = 0; i < count && !found; i++)
        if (views[i]->part != day->part)
            found = mishap_index_day_has(&views[i]->db, id);
    mishap_release(views);
    return found;
}

static bool is_too_old(const mishap_index *index, int64_t day)
{
    return index->days > 0 && day <= mishap_index_now(index) / INDEX_DAY_MS - index->days;
}

/* Items of one day that are not in another part; the result is how many. */
static size_t take_items(mishap_index *index, const index_day *day, index_item *items, size_t count)
{
    size_t left = 0;
    if (!index->replays || day->part < 2)
        return count;
    for (size_t i = 0; i < count; i++)
        if (!is_elsewhere(index, day, items[i].id))
            items[left++] = items[i];
    return left;
}

static void put_record(mishap_index *index, index_record *record, bool whole)
{
    size_t first = 0, total = record->count;
    index_item *items = record->items;
    uint64_t group = mishap_index_groups_note(&index->groups, record);
    note_db(index, &index->groups.db);
    while (first < total && !index->trouble) {
        int64_t number = mishap_index_ms(items[first].id) / INDEX_DAY_MS;
        size_t count = 1;
        while (first + count < total &&
               mishap_index_ms(items[first + count].id) / INDEX_DAY_MS == number)
            count++;
        index_day *day = is_too_old(index, number) ? NULL : day_of(index, number);
        record->items = items + first;
        first += count;
        if (!day)
            continue;
        record->count = take_items(index, day, record->items, count);
        if (!record->count)
            continue;
        index->records += whole
                              ? mishap_index_day_put_whole(day, record, group)
                              : mishap_index_day_put_compact(day, record, group, 0, record->count);
        note_db(index, &day->db);
    }
}

/* -- batches ----------------------------------------------------------------------------------- */

static void restore_groups(mishap_index *index)
{
    int64_t *days = NULL;
    size_t day_count = mishap_index_days(index, 0, INT64_MAX, &days);
    for (size_t d = 0; d < day_count; d++) {
        index_view **views = NULL;
        size_t count = 0;
        mishap_free(mishap_index_views(index, days[d], days[d], &views, &count));
        for (size_t i = 0; i < count && !index->groups.db.trouble; i++)
            mishap_index_groups_import(&index->groups, &views[i]->db);
        mishap_release(views);
    }
    mishap_release(days);
    mishap_index_groups_end(&index->groups);
    mishap_index_groups_refresh(&index->groups);
}

static void open_groups(mishap_index *index)
{
    index->groups_open = mishap_index_groups_open(&index->groups, index->folder);
    mishap_index_groups_refresh(&index->groups);
    if (index->groups_open && !index->groups.count)
        restore_groups(index);
    if (index->days >= 0)
        mishap_index_groups_set_limits(&index->groups, index->days, index->max_bytes);
    else if (!mishap_index_groups_limits(&index->groups, &index->days, &index->max_bytes)) {
        index->days = MISHAP_INDEX_DAYS;
        index->max_bytes = (uint64_t)MISHAP_INDEX_MAX_MB << 20;
    }
}

static bool same_place(mishap_follow_place a, mishap_follow_place b)
{
    return a.device == b.device && a.inode == b.inode && a.offset == b.offset;
}

static void note_rebuilt(mishap_index *index)
{
    index->rebuilt = index->replays = true;
    index->rebuilt_count++;
}

/* The place in the journal that is stored. If there was one, and there is none now, another
 * process, such as one that runs a query, has moved a damaged file aside. */
static void note_place(mishap_index *index, mishap_follow_place place)
{
    if (index->placed && !place.inode && !index->replays)
        note_rebuilt(index);
    index->placed = place.inode;
}

/* Groups and journal as the batch before has left them, whichever process that was. */
static void prepare_batch(mishap_index *index)
{
    if (index->groups_open && !mishap_index_db_is_current(&index->groups.db)) {
        mishap_index_groups_close(&index->groups);
        index->groups_open = false;
    }
    if (!index->groups_open)
        open_groups(index);
    else
        mishap_index_groups_refresh(&index->groups);
    mishap_follow_place place = mishap_index_groups_place(&index->groups,
                                                          mishap_text_of(index->journal));
    note_db(index, &index->groups.db);
    if (!index->trouble)
        note_place(index, place);
    if (index->trouble || (index->follow && same_place(place, mishap_follow_at(index->follow))))
        return;
    if (index->follow)
        index->bad_lines += mishap_follow_lost(index->follow);
    mishap_follow_close(index->follow);
    index->follow = NULL;
    mishap *failure = mishap_follow_open(index->journal, place, &index->follow);
    if (failure)
        index->trouble = INDEX_NO_MEMORY;
    mishap_free(failure);
}

static void retain_files(mishap_index *index)
{
    int64_t now = mishap_index_now(index);
    if (index->retained_ms && now - index->retained_ms < RETAIN_MS && now >= index->retained_ms)
        return;
    index->retained_ms = now;
    mishap_index_files_retain(index->folder, now / INDEX_DAY_MS, index->days, index->max_bytes);
    if (index->days > 0)
        mishap_index_groups_retain(&index->groups,
                                   (now / INDEX_DAY_MS - index->days) * INDEX_DAY_MS);
}

/* True: there may be more. */
static bool write_batch(mishap_index *index)
{
    size_t lines = 0, bytes = 0;
    bool more = true;
    mishap_text line;
    index_record record;
    while (lines < BATCH_LINES && bytes < BATCH_BYTES && !index->trouble &&
           (more = mishap_follow_next(index->follow, &line))) {
        lines++;
        bytes += line.length;
        index_line kind = mishap_index_line_read(&index->reader, line, &record);
        index->bad_lines += kind == INDEX_LINE_BAD;
        if (kind == INDEX_LINE_NO_MEMORY)
            index->trouble = INDEX_NO_MEMORY;
        if (kind == INDEX_WHOLE || kind == INDEX_COMPACT)
            put_record(index, &record, kind == INDEX_WHOLE);
    }
    commit_days(index);
    if (index->trouble)
        return false;
    if (lines)
        mishap_index_groups_commit(&index->groups, mishap_text_of(index->journal),
                                   mishap_follow_at(index->follow));
    else
        mishap_index_groups_end(&index->groups);
    note_db(index, &index->groups.db);
    return more && !index->trouble;
}

/* -- trouble ----------------------------------------------------------------------------------- */

/* The lock is held. */
static void set_aside(mishap_index *index, const char *path)
{
    mishap_index_file_set_aside(path);
    note_rebuilt(index);
    if (mishap_index_groups_open(&index->groups, index->folder))
        mishap_index_groups_forget_places(&index->groups);
    mishap_index_groups_close(&index->groups);
}

/* Undo the batch. True: what was damaged is moved aside, and the next try may succeed. */
static bool recover(mishap_index *index)
{
    char path[INDEX_PATH] = "";
    for (size_t i = 0; i < index->writing_count; i++)
        if (index->writing[i].db.trouble == INDEX_DAMAGED)
            memcpy(path, index->writing[i].db.path, sizeof path);
    if (index->groups.db.trouble == INDEX_DAMAGED)
        memcpy(path, index->groups.db.path, sizeof path);
    mishap_index_stop_writing(index);
    if (!path[0])
        return false;
    set_aside(index, path);
    return true;
}

void mishap_index_repair(mishap_index *index, const index_db *db)
{
    char path[INDEX_PATH];
    memcpy(path, db->path, sizeof path);
    if (!mishap_index_lock(index, 2000))
        return;
    mishap_index_stop_writing(index);
    set_aside(index, path);
    mishap_index_unlock(index);
}

static mishap *tell_trouble(const mishap_index *index)
{
    index_db db = { .trouble = index->trouble, .error = index->error };
    snprintf(db.path, sizeof db.path, "%s", index->folder);
    return mishap_index_db_failure(&db);
}

static mishap *catch_up(mishap_index *index, int wait_ms)
{
    if (!index->journal)
        return NULL;
    index->trouble = INDEX_FINE;
    index->error = 0;
    if (!mishap_index_lock(index, wait_ms))
        return tell_trouble(index);
    int repairs = 0;
    bool more = true;
    while (more) {
        index->trouble = INDEX_FINE;
        look_at_parts(index);
        prepare_batch(index);
        more = !index->trouble && write_batch(index);
        if (!index->trouble)
            retain_files(index);
        else
            more = recover(index) && repairs++ < MOST_REPAIRS;
    }
    index->replays = index->replays && index->trouble;
    mishap_index_unlock(index);
    return index->trouble ? tell_trouble(index) : NULL;
}

/* -- for a server ------------------------------------------------------------------------------ */

static mishap_reader_state state_of(const mishap_index *index)
{
    if (index->trouble == INDEX_NEWER)
        return MISHAP_READER_REFUSES;
    if (index->trouble)
        return MISHAP_READER_RETRIES;
    return index->rebuilt ? MISHAP_READER_REBUILDS : MISHAP_READER_FOLLOWS;
}

/* What was made again is told once. */
static void report(mishap_index *index, index_report *report)
{
    *report = (index_report){
        .state = state_of(index),
        .error = index->error,
        .busy = index->trouble == INDEX_BUSY,
        .lag = index->follow ? mishap_follow_behind(index->follow) : 0,
        .records = index->records,
        .rebuilt = index->rebuilt_count,
        .bad_lines = index->bad_lines + (index->follow ? mishap_follow_lost(index->follow) : 0),
        .has_groups = index->groups_open,
    };
    if (index->groups_open)
        mishap_index_groups_totals(&index->groups, &report->fresh, &report->regressed);
    index->rebuilt = index->rebuilt && index->trouble;
}

const mishap_index_engine mishap_index_in_files = {
    .open = open_files,
    .close = close_files,
    .catch_up = catch_up,
    .report = report,
    .rows = mishap_index_sqlite_rows,
    .find = mishap_index_sqlite_find,
    .groups = mishap_index_sqlite_groups,
    .group = mishap_index_sqlite_group,
    .group_set = mishap_index_sqlite_group_set,
    .group_undo = mishap_index_sqlite_group_undo,
    .stats = mishap_index_sqlite_stats,
};
