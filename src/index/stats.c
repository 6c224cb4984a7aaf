/* Counts of failures over time, by category, code, operation and caller, for all engines: see
 * engine.h. */
#include "index/engine.h"

enum {
    MOST_STEPS = 1500,
    CHOSEN_STEPS = 300, /* if the step is chosen here */
    MOST_NAMES = 4096,  /* of codes, operations, callers; further ones are not listed */
    SHOWN_NAMES = 50,
    MINUTE = 60,
    HOUR = 3600,
    DAY = 86400,
};

/* Names with their counts. */
struct name {
    char text[INDEX_CALLER + 1];
    size_t length;
    int64_t count;
};
struct names {
    struct name *list;
    size_t count, room;
    index_map places; /* hash → place + 1 */
};

struct index_stats {
    const mishap_index_span *span;
    int64_t from_s, to_s, step_s;
    size_t steps;
    struct names categories, codes, operations, callers;
    int64_t *counts; /* steps of the first category, of the second, … */
    size_t rows;     /* categories that have room there */
    int64_t total;
    bool failed;
};

/* -- names ------------------------------------------------------------------------------------- */

/* The place of a name; -1: there is no room. */
static int64_t place_of(index_stats *s, struct names *names, mishap_text text)
{
    int64_t *at = mishap_index_map_at(&names->places, mishap_text_hash(text), true);
    if (at && *at)
        return *at - 1;
    if (!at || names->count == MOST_NAMES || text.length > INDEX_CALLER) {
        s->failed = s->failed || !at;
        return -1;
    }
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 16;
        struct name *list = mishap_resize(names->list, room * sizeof *list);
        if (!list) {
            s->failed = true;
            return -1;
        }
        names->list = list;
        names->room = room;
    }
    struct name *name = &names->list[names->count++];
    *name = (struct name){ .length = text.length };
    if (text.length)
        memcpy(name->text, text.data, text.length);
    *at = (int64_t)names->count;
    return *at - 1;
}

static void count_name(index_stats *s, struct names *names, mishap_text text, int64_t count)
{
    int64_t at = text.length ? place_of(s, names, text) : -1;
    if (at >= 0)
        names->list[at].count += count;
}

static int by_count(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void put_names(struct names *names, const char *list, const char *member,
                      mishap_buffer *json)
{
    mishap_sort(names->list, names->count, sizeof *names->list, by_count);
    mishap_json_key(json, mishap_text_of(list));
    mishap_json_open(json, '[');
    for (size_t i = 0; i < names->count && i < SHOWN_NAMES; i++) {
        mishap_json_open(json, '{');
        mishap_json_key(json, mishap_text_of(member));
        mishap_json_string(json, (mishap_text){ names->list[i].text, names->list[i].length });
        MISHAP_JSON_KEY(json, "count");
        mishap_json_int(json, names->list[i].count);
        mishap_json_close(json, '}');
    }
    mishap_json_close(json, ']');
}

static void release_names(struct names *names)
{
    mishap_release(names->list);
    mishap_index_map_free(&names->places);
}

/* -- counting ---------------------------------------------------------------------------------- */

/* Room for the series of this category. */
static bool has_series(index_stats *s, int64_t category)
{
    if (category < 0)
        return false;
    if ((size_t)category < s->rows)
        return true;
    size_t rows = (size_t)category + 8;
    int64_t *counts = mishap_resize(s->counts, rows * s->steps * sizeof *counts);
    if (!counts) {
        s->failed = true;
        return false;
    }
    memset(counts + s->rows * s->steps, 0, (rows - s->rows) * s->steps * sizeof *counts);
    s->counts = counts;
    s->rows = rows;
    return true;
}

int64_t mishap_index_stats_category(index_stats *s, mishap_text category)
{
    return place_of(s, &s->categories, category);
}

void mishap_index_stats_add(index_stats *s, int64_t category, int64_t when_s, int64_t count)
{
    int64_t step = (when_s - s->from_s) / s->step_s;
    if (when_s >= s->from_s && (size_t)step < s->steps && has_series(s, category))
        s->counts[(size_t)category * s->steps + (size_t)step] += count;
}

void mishap_index_stats_add_names(index_stats *s, mishap_text operation, mishap_text code,
                                  int64_t count)
{
    s->total += count;
    count_name(s, &s->operations, operation, count);
    count_name(s, &s->codes, code, count);
}

void mishap_index_stats_add_caller(index_stats *s, mishap_text caller, int64_t count)
{
    count_name(s, &s->callers, caller, count);
}

bool mishap_index_stats_failed(const index_stats *s)
{
    return s->failed;
}

index_stats_span mishap_index_stats_span(const index_stats *s)
{
    return (index_stats_span){ s->from_s,     s->to_s,           s->step_s,
                               s->span->code, s->span->category, s->span->operation };
}

/* -- the span ---------------------------------------------------------------------------------- */

static mishap *read_span(const mishap_index *index, index_stats *s)
{
    int64_t to_ms = s->span->to_ms ? s->span->to_ms : mishap_index_now(index) + 1;
    int64_t from_ms = s->span->from_ms ? s->span->from_ms : to_ms - INDEX_DAY_MS;
    int64_t length = (to_ms - from_ms) / 1000;
    if (from_ms < 0 || from_ms >= to_ms || to_ms > INT64_C(253402300800000))
        return mishap_index_refuse("from", "before `to`");
    s->step_s = s->span->step_s;
    if (!s->step_s)
        s->step_s = length <= CHOSEN_STEPS * MINUTE ? MINUTE
                    : length <= CHOSEN_STEPS * HOUR ? HOUR
                                                    : DAY;
    if (s->step_s != MINUTE && s->step_s != HOUR && s->step_s != DAY)
        return mishap_index_refuse("step_s", "60, 3600 or 86400");
    s->from_s = from_ms / 1000 / s->step_s * s->step_s;
    s->to_s = (to_ms + 1000 * s->step_s - 1) / 1000 / s->step_s * s->step_s;
    int64_t steps = (s->to_s - s->from_s) / s->step_s;
    if (steps > MOST_STEPS)
        return mishap_index_refuse("step_s", "larger for such a span: at most 1500 steps");
    s->steps = (size_t)steps;
    return NULL;
}

/* The series that comes next in the order of names; `before` is the one before it, or NULL. */
static const struct name *next_series(const index_stats *s, const struct name *before)
{
    const struct name *next = NULL;
    for (size_t i = 0; i < s->categories.count && i < s->rows; i++) {
        const struct name *name = &s->categories.list[i];
        if ((!before || strcmp(name->text, before->text) > 0) &&
            (!next || strcmp(name->text, next->text) < 0))
            next = name;
    }
    return next;
}

static void put_series(const index_stats *s, mishap_buffer *json)
{
    MISHAP_JSON_KEY(json, "series");
    mishap_json_open(json, '[');
    for (const struct name *name = next_series(s, NULL); name; name = next_series(s, name)) {
        size_t i = (size_t)(name - s->categories.list);
        mishap_json_open(json, '{');
        MISHAP_JSON_KEY(json, "category");
        mishap_json_string(json, (mishap_text){ name->text, name->length });
        MISHAP_JSON_KEY(json, "counts");
        mishap_json_open(json, '[');
        for (size_t j = 0; j < s->steps; j++)
            mishap_json_int(json, s->counts[i * s->steps + j]);
        mishap_json_close(json, ']');
        mishap_json_close(json, '}');
    }
    mishap_json_close(json, ']');
}

static void put_stats(index_stats *s, mishap_buffer *json)
{
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "from");
    mishap_index_put_time(json, s->from_s * 1000);
    MISHAP_JSON_KEY(json, "to");
    mishap_index_put_time(json, s->to_s * 1000);
    MISHAP_JSON_KEY(json, "step_s");
    mishap_json_int(json, s->step_s);
    put_series(s, json);
    put_names(&s->codes, "codes", "code", json);
    put_names(&s->operations, "operations", "operation", json);
    put_names(&s->callers, "callers", "caller", json);
    MISHAP_JSON_KEY(json, "total");
    mishap_json_int(json, s->total);
    mishap_json_close(json, '}');
}

mishap *mishap_index_stats_begin(const mishap_index *index, const mishap_index_span *span,
                                 index_stats **out)
{
    index_stats *s = mishap_allocate(sizeof *s);
    *out = NULL;
    if (!s)
        return mishap_out_of_memory();
    *s = (index_stats){ .span = span };
    mishap *failure = read_span(index, s);
    if (failure)
        mishap_release(s);
    else
        *out = s;
    return failure;
}

mishap *mishap_index_stats_end(index_stats *s, mishap *failure, mishap_buffer *json)
{
    if (!s)
        return failure;
    if (!failure && s->failed)
        failure = mishap_out_of_memory();
    if (!failure)
        put_stats(s, json);
    mishap_release(s->counts);
    release_names(&s->categories);
    release_names(&s->codes);
    release_names(&s->operations);
    release_names(&s->callers);
    mishap_release(s);
    return failure ? failure : json->failed ? mishap_out_of_memory() : NULL;
}
