/*
 * Lists, newest first.
 *
 * A filter on code, operation, category or group becomes numbers of kinds, and each kind is one
 * range of an index. The ranges are merged by a heap: the one whose next row is the newest is at
 * the top. A range that was not read yet stands there with the largest key that it can have, which
 * the table of kinds knows; so ranges whose rows are all too old are never read.
 *
 * A compact row holds many ids. When it comes to the top, its ids join the heap as a range of their
 * own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "index/inside.h"

enum { FETCH = 24, MOST_EXAMINED = 10000 };

static const int64_t span = (int64_t)(INDEX_SPAN_MS + 1) << INDEX_KEY_BITS;

/* A range of rows, or the ids of one compact row. */
struct range {
    int64_t key;   /* of its next row, or a bound of it */
    int64_t bound; /* rows from this key on were taken, or are not wanted */
    index_db *db;
    int sql;
    int64_t number; /* kind or caller */
    size_t view;    /* the place of its file in the list */
    bool compact;
    struct fetched {
        int64_t key, kind, caller, status;
    } rows[FETCH];
    size_t count, at;
    char *ids; /* of a compact row; NULL: it is a range of rows */
    int64_t row;
    size_t items;
};

/* What one list looks for, in all days. */
struct search {
    const mishap_index_filter *filter;
    size_t limit, taken, examined;
    int64_t day;          /* that is asked now */
    int64_t before, from; /* keys of that day */
    uint64_t group;
    unsigned char trace[16], not_id[INDEX_ID];
    bool leaves_out; /* not_id */
    mishap_buffer words;
    int64_t next_key; /* the bound with which the next page begins */
    bool cut;         /* there may be more */
    struct range **heap;
    size_t count, room;
    size_t view;        /* that is prepared now */
    bool by_kind;       /* only kinds that are in … */
    index_map wanted;   /* … view and kind → 1 */
    index_map unwanted; /* the same: left out */
    bool failed;
};

/* -- the heap ---------------------------------------------------------------------------------- */

static void sift_down(struct search *s, size_t at)
{
    for (;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->count; child++)
            if (s->heap[child]->key > s->heap[best]->key)
                best = child;
        if (best == at)
            return;
        struct range *range = s->heap[at];
        s->heap[at] = s->heap[best];
        s->heap[best] = range;
        at = best;
    }
}

static void add_range(struct search *s, const struct range *from)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        struct range **heap = mishap_resize(s->heap, room * sizeof *heap);
        s->failed = s->failed || !heap;
        s->heap = heap ? heap : s->heap;
        s->room = heap ? room : s->room;
    }
    struct range *range = s->failed ? NULL : mishap_allocate(sizeof *range);
    if (!range) {
        mishap_release(from->ids);
        s->failed = true;
        return;
    }
    *range = *from;
    size_t at = s->count++;
    s->heap[at] = range;
    for (; at && s->heap[(at - 1) / 2]->key < s->heap[at]->key; at = (at - 1) / 2) {
        s->heap[at] = s->heap[(at - 1) / 2];
        s->heap[(at - 1) / 2] = range;
    }
}

static void drop_top(struct search *s)
{
    mishap_release(s->heap[0]->ids);
    mishap_release(s->heap[0]);
    s->heap[0] = s->heap[--s->count];
    sift_down(s, 0);
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* Read the next rows of a range; false: there are none. */
static bool fetch_rows(struct search *s, struct range *range)
{
    sqlite3_stmt *statement = mishap_index_ask(range->db, range->sql);
    mishap_index_bind(statement, 1, range->bound);
    mishap_index_bind(statement, 2, FETCH);
    if (range->sql == DAY_NEXT_WHOLE_OF_TRACE)
        mishap_index_bind_blob(statement, 3, s->trace, sizeof s->trace);
    else if (range->sql == DAY_NEXT_WHOLE_OF_WORDS)
        mishap_index_bind_text(statement, 3, mishap_buffer_text(&s->words));
    else if (range->number)
        mishap_index_bind(statement, 3, range->number);
    range->count = range->at = 0;
    while (mishap_index_row(range->db, statement)) {
        struct fetched *row = &range->rows[range->count++];
        row->key = range->bound = mishap_index_number(statement, 0);
        row->kind = mishap_index_number(statement, 1);
        row->caller = mishap_index_number(statement, 2);
        row->status = mishap_index_number(statement, 3); /* none is 0 */
        if (range->count == FETCH)
            break;
    }
    mishap_index_sqlite.reset(statement);
    return range->count > 0;
}

static void add_rows(struct search *s, index_db *db, int sql, int64_t number, bool compact,
                     int64_t last_key)
{
    int64_t bound = s->before;
    if (compact)
        bound = bound > INT64_MAX - span ? INT64_MAX : bound + span;
    struct range range = { .db = db,
                           .view = s->view,
                           .sql = sql,
                           .number = number,
                           .compact = compact,
                           .bound = bound,
                           .key = bound <= last_key ? bound - 1 : last_key };
    add_range(s, &range);
}

/* The ids of a compact row that come before the bound join the heap. */
static void open_compact(struct search *s, const struct range *range, int64_t key)
{
    sqlite3_stmt *statement = mishap_index_ask(range->db, DAY_COMPACT_IDS);
    mishap_index_bind(statement, 1, key);
    if (!mishap_index_row(range->db, statement))
        return;
    mishap_text ids = mishap_index_text(statement, 0);
    struct range row = { .db = range->db, .row = key, .items = ids.length / INDEX_ID };
    row.ids = mishap_allocate(ids.length + 1);
    if (row.ids)
        memcpy(row.ids, ids.data, ids.length);
    s->failed = s->failed || !row.ids;
    mishap_index_sqlite.reset(statement);
    while (row.ids && row.items &&
           (row.key = mishap_index_key((unsigned char *)row.ids + (row.items - 1) * INDEX_ID)) >=
               s->before)
        row.items--;
    if (row.ids && row.items)
        add_range(s, &row);
    else
        mishap_release(row.ids);
}

/* -- which ranges ------------------------------------------------------------------------------ */

static bool fits_text(mishap_text wanted, sqlite3_stmt *statement, int column)
{
    return !wanted.length || mishap_text_equal(wanted, mishap_index_text(statement, column));
}

static bool chooses_kinds(const mishap_index_filter *f)
{
    return f->code.length || f->category.length || f->operation.length || f->group.length ||
           f->boundary.length || f->service.length;
}

/* Files number their kinds by themselves. */
static uint64_t kind_key(size_t view, int64_t kind)
{
    return (uint64_t)view << 40 ^ (uint64_t)kind;
}

static void add_kind(struct search *s, index_map *kinds, int64_t number)
{
    int64_t *at = mishap_index_map_at(kinds, kind_key(s->view, number), true);
    s->failed = s->failed || !at;
    if (at)
        *at = 1;
}

/* The kinds that are left out of a list that has all others. */
static void leave_out_kinds(struct search *s, index_db *db)
{
    sqlite3_stmt *statement = mishap_index_ask(db, DAY_KINDS_ALL);
    while (mishap_index_row(db, statement))
        if (mishap_index_leaves_out(s->filter->not_operation, mishap_index_text(statement, 2)))
            add_kind(s, &s->unwanted, mishap_index_number(statement, 0));
}

/* The kinds that are wanted; if `ranges`, each becomes two ranges. False: there are none. */
static bool choose_kinds(struct search *s, index_db *db, bool ranges)
{
    const mishap_index_filter *f = s->filter;
    size_t before = s->wanted.count;
    sqlite3_stmt *statement = mishap_index_ask(db, DAY_KINDS_ALL);
    while (mishap_index_row(db, statement)) {
        int64_t number = mishap_index_number(statement, 0);
        if ((f->group.length && (uint64_t)mishap_index_number(statement, 1) != s->group) ||
            !fits_text(f->operation, statement, 2) || !fits_text(f->code, statement, 3) ||
            !fits_text(f->category, statement, 4) || !fits_text(f->service, statement, 8) ||
            !fits_text(f->boundary, statement, 9) ||
            mishap_index_leaves_out(f->not_operation, mishap_index_text(statement, 2)))
            continue;
        add_kind(s, &s->wanted, number);
        int64_t last = mishap_index_key_of_ms(mishap_index_number(statement, 7)) |
                       ((INT64_C(1) << INDEX_KEY_BITS) - 1);
        if (ranges && last >= s->from) {
            add_rows(s, db, DAY_NEXT_WHOLE_OF_KIND, number, false, last);
            add_rows(s, db, DAY_NEXT_COMPACT_OF_KIND, number, true, last);
        }
    }
    return s->wanted.count > before;
}

static int64_t find_caller(index_db *db, mishap_text name)
{
    sqlite3_stmt *statement = mishap_index_ask(db, DAY_CALLER_FIND);
    int64_t number = 0;
    mishap_index_bind_text(statement, 1, name);
    if (mishap_index_row(db, statement))
        number = mishap_index_number(statement, 0);
    mishap_index_do(db, statement);
    return number;
}

static void choose_ranges(struct search *s, index_db *db)
{
    const mishap_index_filter *f = s->filter;
    bool first = f->trace.length || f->text.length || f->caller.length;
    if (s->by_kind && (!choose_kinds(s, db, !first) || !first))
        return;
    if (!s->by_kind && f->not_operation.length)
        leave_out_kinds(s, db);
    if (f->trace.length)
        add_rows(s, db, DAY_NEXT_WHOLE_OF_TRACE, 0, false, INT64_MAX);
    else if (f->text.length)
        add_rows(s, db, DAY_NEXT_WHOLE_OF_WORDS, 0, false, INT64_MAX);
    else {
        int64_t caller = f->caller.length ? find_caller(db, f->caller) : 0;
        if (f->caller.length && !caller)
            return;
        add_rows(s, db, caller ? DAY_NEXT_WHOLE_OF_CALLER : DAY_NEXT_WHOLE, caller, false,
                 INT64_MAX);
        add_rows(s, db, caller ? DAY_NEXT_COMPACT_OF_CALLER : DAY_NEXT_COMPACT, caller, true,
                 INT64_MAX);
    }
}

/* -- taking rows ------------------------------------------------------------------------------- */

static bool fits_row(struct search *s, const struct range *range, const struct fetched *row)
{
    const mishap_index_filter *f = s->filter;
    uint64_t kind = kind_key(range->view, row->kind);
    if ((s->by_kind && !mishap_index_map_at(&s->wanted, kind, false)) ||
        (s->unwanted.count && mishap_index_map_at(&s->unwanted, kind, false)) ||
        (f->status && f->status != row->status))
        return false;
    return !f->caller.length || row->caller == find_caller(range->db, f->caller);
}

static bool is_left_out(const struct search *s, int64_t key)
{
    return s->leaves_out && key == mishap_index_key(s->not_id) &&
           s->day == mishap_index_ms(s->not_id) / INDEX_DAY_MS;
}

static void take_row(struct search *s, struct range *range, mishap_buffer *json)
{
    struct fetched row = range->rows[range->at++];
    bool fits = fits_row(s, range, &row);
    s->examined++;
    if (range->compact) {
        if (fits && row.key >= s->from)
            open_compact(s, range, row.key);
        return;
    }
    if (fits && !is_left_out(s, row.key) &&
        mishap_index_put_whole(range->db, row.key, s->filter->records, NULL, json))
        s->taken++;
}

static void take_item(struct search *s, struct range *range, mishap_buffer *json)
{
    size_t item = --range->items;
    if (!is_left_out(s, range->key) &&
        mishap_index_put_compact(range->db, range->row, item, NULL, json))
        s->taken++;
    if (item)
        range->key = mishap_index_key((unsigned char *)range->ids + (item - 1) * INDEX_ID);
}

/* One step: the newest range. False: the day is done, or the page is full. */
static bool step_search(struct search *s, mishap_buffer *json)
{
    if (!s->count || s->failed || s->heap[0]->key < s->from)
        return false;
    if (s->taken == s->limit || s->examined > MOST_EXAMINED) {
        s->cut = true;
        s->next_key = s->heap[0]->key + 1;
        return false;
    }
    struct range *top = s->heap[0];
    bool more = true;
    if (top->ids) {
        take_item(s, top, json);
        more = top->items > 0;
    } else if (top->at < top->count && top->key == top->rows[top->at].key) {
        struct range copy = *top; /* opening a compact row moves ranges of the heap */
        top->at++;
        if (top->at < top->count)
            top->key = top->rows[top->at].key;
        else
            top->key = top->bound - 1;
        sift_down(s, 0);
        take_row(s, &copy, json);
        return true;
    } else {
        more = fetch_rows(s, top);
        if (more)
            top->key = top->rows[0].key;
    }
    if (more)
        sift_down(s, 0);
    else
        drop_top(s);
    return true;
}

static void ask_for_rows(mishap_index *index, index_view **views, size_t count, void *context,
                         mishap_buffer *json)
{
    struct search *s = context;
    size_t taken = s->taken, examined = s->examined;
    (void)index;
    mishap_index_map_clear(&s->wanted);
    mishap_index_map_clear(&s->unwanted);
    for (s->view = 0; s->view < count; s->view++)
        choose_ranges(s, &views[s->view]->db);
    while (step_search(s, json))
        ;
    bool damaged = false;
    for (size_t i = 0; i < count; i++)
        damaged = damaged || views[i]->db.trouble;
    if (damaged) { /* the same day may be asked again */
        s->taken = taken;
        s->examined = examined;
        s->cut = false;
    }
    while (s->count)
        drop_top(s);
}

/* -- filters ----------------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
}

/* Each word in quotes: nothing in it is syntax of FTS5. A star behind a word finds its beginnings.
 */
static void put_words(mishap_buffer *to, mishap_text text)
{
    for (size_t i = 0; i < text.length;) {
        size_t end = i;
        while (end < text.length && is_of_word(text.data[end]))
            end++;
        if (end > i) {
            MISHAP_PUT(to, "\"");
            mishap_buffer_put(to, text.data + i, end - i);
            MISHAP_PUT(to, "\"");
            if (end < text.length && text.data[end] == '*')
                MISHAP_PUT(to, "*");
            MISHAP_PUT(to, " ");
        }
        i = end + 1;
    }
}

static bool read_cursor(mishap_text text, int64_t *day, int64_t *key)
{
    char copy[64], *end;
    if (text.length >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    *day = strtoll(copy, &end, 16);
    if (end == copy || *end != '-' || *day < 0)
        return false;
    const char *begin = end + 1;
    *key = strtoll(begin, &end, 16);
    return end != begin && !*end && *key >= 0;
}

static mishap *read_filter(struct search *s)
{
    const mishap_index_filter *f = s->filter;
    mishap *failure = mishap_index_read_filter(f, &s->limit, &s->group, s->trace);
    if (failure)
        return failure;
    s->by_kind = chooses_kinds(f);
    put_words(&s->words, f->text);
    if (s->words.failed)
        return mishap_out_of_memory();
    if (f->text.length && !s->words.length)
        return mishap_index_refuse("text", "at least one word");
    return NULL;
}

/* -- lists ------------------------------------------------------------------------------------- */

/* Days from `last` down to `first`; `before` and `from` are bounds in milliseconds. */
static mishap *search_days(mishap_index *index, struct search *s, int64_t cursor_day,
                           int64_t cursor_key, mishap_buffer *json)
{
    const mishap_index_filter *f = s->filter;
    int64_t first = f->from_ms / INDEX_DAY_MS;
    int64_t last = f->to_ms ? (f->to_ms - 1) / INDEX_DAY_MS : INT64_MAX;
    int64_t *days = NULL;
    mishap *failure = NULL;
    if (cursor_day >= 0 && cursor_day < last)
        last = cursor_day;
    size_t count = mishap_index_days(index, first, last, &days);
    for (size_t i = 0; i < count && !failure && !s->cut; i++) {
        s->day = days[i];
        if (s->taken == s->limit) {
            s->cut = true;
            s->next_key = INT64_MAX;
            break;
        }
        s->from = f->from_ms && days[i] == first ? mishap_index_key_of_ms(f->from_ms) : 0;
        s->before = f->to_ms && days[i] == f->to_ms / INDEX_DAY_MS
                        ? mishap_index_key_of_ms(f->to_ms)
                        : INT64_MAX;
        if (days[i] == cursor_day && cursor_key < s->before)
            s->before = cursor_key;
        failure = mishap_index_query(index, days[i], ask_for_rows, s, json);
    }
    mishap_release(days);
    return failure ? failure : s->failed ? mishap_out_of_memory() : NULL;
}

static void release_search(struct search *s)
{
    mishap_release(s->heap);
    mishap_index_map_free(&s->wanted);
    mishap_index_map_free(&s->unwanted);
    mishap_buffer_release(&s->words);
}

mishap *mishap_index_sqlite_rows(mishap_index *index, const mishap_index_filter *filter,
                                 const unsigned char *not_id, mishap_buffer *json,
                                 char next[INDEX_CURSOR])
{
    struct search s = { .filter = filter, .leaves_out = not_id != NULL };
    int64_t day = -1, key = 0;
    if (not_id)
        memcpy(s.not_id, not_id, INDEX_ID);
    next[0] = '\0';
    mishap *failure = read_filter(&s);
    if (!failure && filter->cursor.length && !read_cursor(filter->cursor, &day, &key))
        failure = mishap_index_refuse("cursor", "`next` of another page");
    if (!failure)
        failure = search_days(index, &s, day, key, json);
    if (s.cut)
        snprintf(next, INDEX_CURSOR, "%" PRIx64 "-%" PRIx64, (uint64_t)s.day, (uint64_t)s.next_key);
    release_search(&s);
    return failure;
}
