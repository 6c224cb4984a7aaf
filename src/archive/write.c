/*
 * From the journal into the database, batch by batch.
 *
 * The place up to which the journal was read is a row of the database. A batch begins at that
 * place; its transaction reads the place again, changes nothing if another process was faster, and
 * sets it behind the batch. So each line is stored once, and a commit of which no answer came can
 * be looked up.
 */
#include <poll.h>

#include "archive/archive.h"

enum {
    BATCH_LINES = 4000,
    RETAIN_MS = 5000, /* between looks at the sizes of days */
    LOCK_STEP_MS = 10,
    PARTS = 4,      /* a part of a day has at most a quarter of what all may have */
    MOST_RACES = 8, /* batches that other processes were faster with */
    HOUR_MS = 3600000,
};

/* -- the place --------------------------------------------------------------------------------- */

static bool is_same_place(mishap_follow_place a, mishap_follow_place b)
{
    return a.device == b.device && a.inode == b.inode && a.mark == b.mark && a.offset == b.offset;
}

static mishap_follow_place place_in(mishap_query *query, int column)
{
    return (mishap_follow_place){ .device = (uint64_t)mishap_query_integer(query, column),
                                  .inode = (uint64_t)mishap_query_integer(query, column + 1),
                                  .mark = (uint64_t)mishap_query_integer(query, column + 2),
                                  .offset = (uint64_t)mishap_query_integer(query, column + 3) };
}

static void bind_server(archive *a, mishap_query *query)
{
    mishap_query_bind_text(query, 1, mishap_text_of(a->identity));
    mishap_query_bind_text(query, 2, mishap_text_of(a->host));
    mishap_query_bind_text(query, 3, mishap_text_of(a->journal));
}

/* Where to go on; the server is added if it is new. */
static mishap *find_place(archive *a, mishap_follow_place *place)
{
    mishap_query query;
    mishap *failure = NULL;
    a->server = 0;
    for (int i = 0; i < 2 && !a->server && !failure; i++) {
        mishap_query_begin(&query, a->store, ARCHIVE_PLACE);
        bind_server(a, &query);
        while (mishap_query_step(&query)) {
            a->server = mishap_query_integer(&query, 0);
            *place = place_in(&query, 1);
        }
        failure = mishap_query_end(&query);
        if (failure || a->server)
            break;
        mishap_query_begin(&query, a->store, ARCHIVE_SERVER_ADD);
        bind_server(a, &query);
        mishap_query_bind_text(&query, 4, mishap_text_of(a->program));
        mishap_query_step(&query);
        failure = mishap_query_end(&query);
    }
    return failure || a->server ? failure : mishap_raise(UNAVAILABLE, "The store is busy.");
}

static void forget_follow(archive *a)
{
    if (a->follow)
        a->bad_lines += mishap_follow_lost(a->follow);
    mishap_follow_close(a->follow);
    a->follow = NULL;
}

static mishap *follow_from(archive *a, mishap_follow_place place)
{
    a->place = place;
    if (a->follow && is_same_place(place, mishap_follow_at(a->follow)))
        return NULL;
    forget_follow(a);
    return mishap_follow_open(a->journal, place, &a->follow);
}

/* -- one batch --------------------------------------------------------------------------------- */

/* What a transaction works on. */
struct work {
    archive *a;
    bool late;        /* another process has stored these lines */
    uint64_t records; /* that were new */
    bool only_place;  /* the rows are refused by the database: go on behind them */
};

/* Is there no room for another group? As in src/index: those of invalid input leave half of the
 * places to all others. */
static bool is_full(const archive_group *group, int64_t known, int64_t validations)
{
    static const mishap_text validation = MISHAP_TEXT("validation");
    return known >= MISHAP_INDEX_GROUPS || (mishap_text_equal(group->category, validation) &&
                                            validations >= MISHAP_INDEX_GROUPS / 2);
}

/* Groups that are not known are new as long as there is room, else they count for "other". */
static mishap *settle_groups(archive *a)
{
    archive_batch *batch = &a->batch;
    archive_group *groups = mishap_archive_groups(batch);
    mishap_buffer keys = { 0 };
    mishap_query query;
    int64_t made = 0;
    for (size_t i = 0; i < batch->group_count; i++) {
        mishap_archive_put_number(&keys, (int64_t)groups[i].key);
        groups[i].unknown = false;
    }
    mishap_query_begin(&query, a->store, ARCHIVE_GROUPS_UNKNOWN);
    mishap_query_bind_text(&query, 1, mishap_archive_array(&keys));
    while (mishap_query_step(&query)) {
        uint64_t key = (uint64_t)mishap_query_integer(&query, 0);
        int64_t *at = mishap_index_map_at(&batch->group_places, key, false);
        if (!at || !*at)
            continue;
        groups[*at - 1].unknown = is_full(&groups[*at - 1], mishap_query_integer(&query, 1) + made,
                                          mishap_query_integer(&query, 2) + made);
        made += !groups[*at - 1].unknown;
    }
    mishap *failure = mishap_query_end(&query);
    bool failed = keys.failed;
    mishap_buffer_release(&keys);
    for (size_t i = 0; i < batch->kind_count && !failure; i++) {
        archive_kind *kind = &mishap_archive_kinds(batch)[i];
        int64_t *at = mishap_index_map_at(&batch->group_places, kind->group, false);
        bool other = at && *at && groups[*at - 1].unknown;
        kind->stored_group = other ? mishap_index_other_group(kind->operation) : kind->group;
        kind->hash = mishap_archive_kind_hash(kind, kind->stored_group);
    }
    return failure ? failure : failed ? mishap_out_of_memory() : NULL;
}

/* Run a statement whose values are arrays, which are released. */
static mishap *run_arrays(archive *a, size_t statement, mishap_buffer *arrays, int count)
{
    mishap_query query;
    bool failed = false;
    mishap_query_begin(&query, a->store, statement);
    for (int i = 0; i < count; i++) {
        mishap_query_bind_text(&query, i + 1, mishap_archive_array(&arrays[i]));
        failed = failed || arrays[i].failed;
    }
    if (!failed)
        mishap_query_step(&query);
    mishap *failure = mishap_query_end(&query);
    for (int i = 0; i < count; i++)
        mishap_buffer_release(&arrays[i]);
    return failure ? failure : failed ? mishap_out_of_memory() : NULL;
}

/* One group "other" gathers those of an operation, so it is put once. */
static mishap *put_groups(archive *a)
{
    archive_batch *batch = &a->batch;
    mishap_buffer arrays[10] = { 0 }, lasts[2] = { 0 };
    index_map others = { 0 };
    bool failed = false;
    for (size_t i = 0; i < batch->group_count; i++) {
        const archive_group *g = &mishap_archive_groups(batch)[i];
        const mishap_text none = { NULL, 0 };
        bool other = g->unknown;
        uint64_t key = other ? mishap_index_other_group(g->operation) : g->key;
        int64_t *at = other ? mishap_index_map_at(&others, key, true) : NULL;
        failed = failed || (other && !at);
        if (failed || (at && (*at)++))
            continue;
        mishap_archive_put_number(&lasts[0], (int64_t)key);
        mishap_archive_put_number(&lasts[1], g->last_ms);
        mishap_archive_put_number(&arrays[0], (int64_t)key);
        mishap_archive_put_text(&arrays[1], g->operation);
        mishap_archive_put_text(&arrays[2], other ? none : g->code);
        mishap_archive_put_text(&arrays[3], other ? none : g->category);
        mishap_archive_put_text(&arrays[4], other ? none : g->service);
        mishap_archive_put_text(&arrays[5], other ? mishap_index_other_message : g->message);
        mishap_archive_put_text(&arrays[6], other ? none : g->place);
        mishap_archive_put_number(&arrays[7], g->first_ms);
        mishap_archive_put_number(&arrays[8], g->last_ms);
        if (g->has_newest)
            mishap_archive_put_id(&arrays[9], g->newest);
        else
            mishap_archive_put_null(&arrays[9]);
    }
    mishap_index_map_free(&others);
    mishap *failure = run_arrays(a, ARCHIVE_REGRESS, lasts, 2);
    mishap *more = run_arrays(a, ARCHIVE_GROUPS_PUT, arrays, 10);
    if (failure)
        mishap_free(more);
    failure = failure ? failure : more;
    return failure ? failure : failed ? mishap_out_of_memory() : NULL;
}

static mishap *put_kinds(archive *a)
{
    archive_batch *batch = &a->batch;
    mishap_buffer arrays[8] = { 0 };
    for (size_t i = 0; i < batch->kind_count; i++) {
        const archive_kind *kind = &mishap_archive_kinds(batch)[i];
        mishap_archive_put_number(&arrays[0], (int64_t)kind->hash);
        mishap_archive_put_number(&arrays[1], (int64_t)kind->stored_group);
        mishap_archive_put_text(&arrays[2], kind->operation);
        mishap_archive_put_text(&arrays[3], kind->code);
        mishap_archive_put_text(&arrays[4], kind->category);
        mishap_archive_put_text(&arrays[5], kind->service);
        mishap_archive_put_text(&arrays[6], kind->boundary);
        mishap_archive_put_number(&arrays[7], (kind->last_ms / HOUR_MS + 1) * HOUR_MS);
    }
    return run_arrays(a, ARCHIVE_KINDS_PUT, arrays, 8);
}

static mishap *put_rows(archive *a, uint64_t *records)
{
    archive_batch *batch = &a->batch;
    mishap_buffer parts = { 0 }, hashes = { 0 };
    mishap_query query;
    bool several = false;
    for (size_t i = 0; i < batch->day_count; i++) {
        mishap_archive_put_number(&parts, batch->parts[i]);
        several = several || batch->parts[i] % ARCHIVE_PARTS > 1;
    }
    for (size_t i = 0; i < batch->kind_count; i++)
        mishap_archive_put_number(&hashes, (int64_t)mishap_archive_kinds(batch)[i].hash);
    mishap_query_begin(&query, a->store, several ? ARCHIVE_ROWS_PUT_ONCE : ARCHIVE_ROWS_PUT);
    mishap_query_bind_text(&query, 1, mishap_archive_array(&parts));
    mishap_query_bind_text(&query, 2, mishap_archive_array(&hashes));
    mishap_query_bind_integer(&query, 3, a->server);
    for (int i = 0; i < ARCHIVE_COLUMNS; i++)
        mishap_query_bind_text(&query, i + 4, mishap_archive_array(&batch->columns[i]));
    bool failed = parts.failed || hashes.failed;
    while (!failed && mishap_query_step(&query))
        *records = (uint64_t)mishap_query_integer(&query, 0);
    mishap *failure = mishap_query_end(&query);
    mishap_buffer_release(&parts);
    mishap_buffer_release(&hashes);
    return failure ? failure : failed ? mishap_out_of_memory() : NULL;
}

static mishap *take_place(archive *a, mishap_follow_place *place)
{
    mishap_query query;
    mishap_query_begin(&query, a->store, ARCHIVE_PLACE_TAKE);
    mishap_query_bind_integer(&query, 1, a->server);
    while (mishap_query_step(&query))
        *place = place_in(&query, 0);
    return mishap_query_end(&query);
}

static mishap *set_place(archive *a, mishap_follow_place place)
{
    mishap_query query;
    mishap_query_begin(&query, a->store, ARCHIVE_PLACE_SET);
    mishap_query_bind_integer(&query, 1, a->server);
    mishap_query_bind_integer(&query, 2, (int64_t)place.device);
    mishap_query_bind_integer(&query, 3, (int64_t)place.inode);
    mishap_query_bind_integer(&query, 4, (int64_t)place.mark);
    mishap_query_bind_integer(&query, 5, (int64_t)place.offset);
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

static mishap *store_batch(mishap_store *store, void *state)
{
    struct work *work = state;
    archive *a = work->a;
    mishap_follow_place place = { 0 };
    (void)store;
    work->records = 0;
    mishap *failure = take_place(a, &place);
    work->late = !failure && !is_same_place(place, a->batch.from);
    if (failure || work->late)
        return failure;
    if (a->batch.group_count && !work->only_place) {
        failure = settle_groups(a);
        if (!failure)
            failure = put_groups(a);
        if (!failure)
            failure = put_kinds(a);
        if (!failure && a->batch.rows)
            failure = put_rows(a, &work->records);
    }
    return failure ? failure : set_place(a, a->batch.to);
}

static mishap *look_up_batch(mishap_store *store, void *state, bool *done)
{
    const struct work *work = state;
    mishap_follow_place place = { 0 };
    (void)store;
    mishap *failure = take_place(work->a, &place);
    *done = !failure && is_same_place(place, work->a->batch.to);
    return failure;
}

/* -- parts and locks --------------------------------------------------------------------------- */

static mishap *find_parts(archive *a)
{
    mishap *failure = NULL;
    for (size_t i = 0; i < a->batch.day_count && !failure; i++) {
        mishap_query query;
        mishap_query_begin(&query, a->store, ARCHIVE_PART);
        mishap_query_bind_integer(&query, 1, a->batch.days[i]);
        mishap_query_bind_integer(&query, 2, a->days < 0 ? 0 : (int64_t)(a->max_bytes / PARTS));
        while (mishap_query_step(&query))
            a->batch.parts[i] = mishap_query_integer(&query, 0);
        failure = mishap_query_end(&query);
    }
    return failure;
}

static mishap *ask_lock(archive *a, size_t statement, bool *yes)
{
    mishap_query query;
    mishap_query_begin(&query, a->store, statement);
    while (mishap_query_step(&query))
        *yes = mishap_query_boolean(&query, 0);
    return mishap_query_end(&query);
}

/* Without the lock it works as well, but transactions may have to be repeated. */
static mishap *lock_writers(archive *a, int wait_ms, bool *has)
{
    mishap *failure = ask_lock(a, ARCHIVE_LOCK, has);
    for (int waited = 0; !failure && !*has && waited < wait_ms; waited += LOCK_STEP_MS) {
        poll(NULL, 0, LOCK_STEP_MS);
        failure = ask_lock(a, ARCHIVE_LOCK, has);
    }
    return failure;
}

static mishap *retain_days(archive *a)
{
    int64_t now = mishap_index_now((mishap_index *)(void *)a);
    mishap_query query;
    if (a->days < 0 ||
        (a->retained_ms && now >= a->retained_ms && now - a->retained_ms < RETAIN_MS))
        return NULL;
    a->retained_ms = now;
    mishap_query_begin(&query, a->store, ARCHIVE_RETAIN);
    mishap_query_bind_integer(&query, 1, now / INDEX_DAY_MS);
    mishap_query_bind_integer(&query, 2, a->days);
    mishap_query_bind_integer(&query, 3, (int64_t)(a->max_bytes > INT64_MAX ? 0 : a->max_bytes));
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

static mishap *read_totals(archive *a)
{
    mishap_query query;
    mishap_query_begin(&query, a->store, ARCHIVE_TOTALS);
    while (mishap_query_step(&query)) {
        a->fresh = (uint64_t)mishap_query_integer(&query, 0);
        a->regressed = (uint64_t)mishap_query_integer(&query, 1);
        a->has_groups = true;
    }
    return mishap_query_end(&query);
}

/* -- catching up ------------------------------------------------------------------------------- */

static mishap *transact_batch(archive *a, struct work *work)
{
    mishap_transaction transaction = { store_batch, look_up_batch, work };
    return mishap_store_transact(a->store, &transaction);
}

/* A line that the database refuses for what is in it must not hold up those behind it: it is found
 * by storing lines one by one, and is then left out. */
static mishap *leave_out(archive *a, struct work *work, mishap *failure)
{
    if (!mishap_is(failure, INTERNAL_ERROR))
        return failure;
    mishap_free(failure);
    if (a->batch.lines > 1) {
        a->careful = a->batch.lines;
        work->late = true; /* the lines are to be read again */
        return NULL;
    }
    work->only_place = true;
    a->batch.bad_lines++;
    return transact_batch(a, work);
}

static mishap *write_batch(archive *a, int wait_ms, bool *late)
{
    struct work work = { .a = a };
    bool locked = false;
    if (a->batch.failed)
        return mishap_out_of_memory();
    mishap *failure = lock_writers(a, wait_ms, &locked);
    if (!failure)
        failure = find_parts(a);
    if (!failure)
        failure = transact_batch(a, &work);
    if (failure)
        failure = leave_out(a, &work, failure);
    if (locked) {
        mishap *unlocking = ask_lock(a, ARCHIVE_UNLOCK, &locked);
        mishap_free(unlocking);
    }
    *late = work.late;
    if (failure || work.late) {
        forget_follow(a);
        return failure;
    }
    a->place = a->batch.to;
    a->records += work.records;
    a->bad_lines += a->batch.bad_lines;
    a->careful -= a->careful && a->batch.lines <= a->careful ? a->batch.lines : a->careful;
    return NULL;
}

static mishap *write_all(archive *a, int wait_ms)
{
    int64_t oldest = a->days > 0
                         ? mishap_index_now((mishap_index *)(void *)a) / INDEX_DAY_MS - a->days + 1
                         : INT64_MIN;
    for (int races = 0; races < MOST_RACES;) {
        mishap_follow_place place = { 0 };
        bool late = false;
        mishap *failure = find_place(a, &place);
        if (!failure)
            failure = follow_from(a, place);
        if (failure)
            return failure;
        mishap_archive_batch_clear(&a->batch);
        if (!mishap_archive_batch_read(&a->batch, a->follow, &a->reader,
                                       a->careful ? 1 : BATCH_LINES, oldest))
            return a->batch.failed ? mishap_out_of_memory() : NULL;
        failure = write_batch(a, wait_ms, &late);
        if (failure)
            return failure;
        races += late && !a->careful;
        if (a->base.progress)
            a->base.progress((mishap_index *)(void *)a);
    }
    return mishap_raise(UNAVAILABLE, "Another process writes the index of incidents.");
}

mishap *mishap_archive_catch_up(mishap_index *index, int wait_ms)
{
    archive *a = (archive *)(void *)index;
    if (!a->journal)
        return NULL;
    mishap *failure = mishap_archive_connect(a);
    if (!failure)
        failure = write_all(a, wait_ms);
    if (!failure)
        failure = retain_days(a);
    if (!failure && a->days >= 0)
        failure = read_totals(a);
    if (failure) { /* the lag is told also while there is no database */
        forget_follow(a);
        mishap_free(mishap_follow_open(a->journal, a->place, &a->follow));
    }
    a->state = !failure                             ? MISHAP_READER_FOLLOWS
               : mishap_is(failure, NOT_CONFIGURED) ? MISHAP_READER_REFUSES
                                                    : MISHAP_READER_RETRIES;
    return failure;
}
