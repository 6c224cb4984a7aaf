/* The functions of index.h, by the engine of an index; and lists that are made of others. */
#include "index/engine.h"
#include "base/hex.h"

static const mishap_index_engine *engine_of_stores;

void mishap_index_use(const mishap_index_engine *engine)
{
    engine_of_stores = engine;
}

static const mishap_index_engine *engine_of(const mishap_index *index)
{
    return ((const index_base *)index)->engine;
}

int64_t mishap_index_now(const mishap_index *index)
{
    int64_t now_ms = ((const index_base *)index)->now_ms;
    return now_ms ? now_ms : mishap_clock_now_ms();
}

/* An address may have a password in it: no message repeats any of it. */
mishap *mishap_index_store_check(const char *store)
{
    static const char *const schemes[] = { "postgresql://", "postgres://" };
    if (!store)
        return NULL;
    if (!engine_of_stores)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED, "This program cannot keep incidents in "
                                                           "PostgreSQL."),
                              "Leave out --incident-store; or set .incident_store of its "
                              "mishap_app, and link mishap-store.");
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(store, schemes[i], strlen(schemes[i])) == 0)
            return NULL;
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED, "The store of incidents must be in PostgreSQL."),
        "Give --incident-store as postgresql://USER@HOST/DATABASE, or leave it out.");
}

mishap *mishap_index_open(const mishap_index_plan *plan, mishap_index **out)
{
    *out = NULL;
    mishap *failure = mishap_index_store_check(plan->store);
    if (failure)
        return failure;
    return plan->store ? engine_of_stores->open(plan, out) : mishap_index_in_files.open(plan, out);
}

void mishap_index_close(mishap_index *index)
{
    if (index)
        engine_of(index)->close(index);
}

mishap *mishap_index_catch_up(mishap_index *index, int wait_ms)
{
    return engine_of(index)->catch_up(index, wait_ms);
}

mishap *mishap_index_find(mishap_index *index, mishap_text id, mishap_index_found *found,
                          mishap_buffer *json)
{
    return engine_of(index)->find(index, id, found, json);
}

mishap *mishap_index_groups(mishap_index *index, const mishap_index_groups_filter *filter,
                            mishap_buffer *json)
{
    return engine_of(index)->groups(index, filter, json);
}

mishap *mishap_index_group(mishap_index *index, mishap_text group, mishap_buffer *json)
{
    return engine_of(index)->group(index, group, json);
}

mishap *mishap_index_group_set(mishap_index *index, mishap_text group, mishap_group_state state)
{
    return engine_of(index)->group_set(index, group, state);
}

mishap *mishap_index_group_undo(mishap_index *index, mishap_text group, mishap_group_state state)
{
    return engine_of(index)->group_undo(index, group, state);
}

mishap *mishap_index_stats(mishap_index *index, const mishap_index_span *span, mishap_buffer *json)
{
    return engine_of(index)->stats(index, span, json);
}

bool mishap_index_has(mishap_index *index, mishap_text id)
{
    mishap_buffer json = { 0 };
    mishap_index_found found;
    mishap *failure = mishap_index_find(index, id, &found, &json);
    bool there = !failure;
    mishap_free(failure);
    mishap_buffer_release(&json);
    return there;
}

mishap *mishap_index_refuse(const char *field, const char *looks)
{
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    m = mishap_field_pattern(m, field, looks);
    return mishap_field_says(m, "%s must be %s.", field, looks);
}

mishap *mishap_index_read_filter(const mishap_index_filter *filter, size_t *limit, uint64_t *group,
                                 unsigned char trace[16])
{
    enum { DEFAULT_ROWS = 50 };
    *limit = filter->limit ? filter->limit : DEFAULT_ROWS;
    if (*limit > MISHAP_INDEX_MOST_ROWS)
        *limit = MISHAP_INDEX_MOST_ROWS;
    if (filter->group.length && !mishap_index_group_read(filter->group, group))
        return mishap_index_refuse("group", "16 hexadecimal digits");
    if (filter->trace.length &&
        (filter->trace.length != 32 || !mishap_hex_read(filter->trace.data, trace, 16)))
        return mishap_index_refuse("trace", "32 hexadecimal digits");
    return NULL;
}

mishap *mishap_index_not_there(const mishap_index *index, const unsigned char id[INDEX_ID],
                               int64_t first_day)
{
    char name[16];
    int64_t day = mishap_index_ms(id) / INDEX_DAY_MS;
    bool older = first_day >= 0 && day < first_day;
    mishap *m;
    if (older) {
        mishap_index_day_name(first_day, name);
        m = mishap_raise(NOT_FOUND, "The incident is older than what is kept, which begins on %s.",
                         name);
    } else if (mishap_index_ms(id) > mishap_index_now(index) + 60000) {
        m = mishap_raise(NOT_FOUND, "The time in this id lies in the future.");
    } else {
        m = mishap_raise(NOT_FOUND, "There is no incident with this id.");
    }
    m = mishap_tell(m, "older", (bool)older);
    if (older)
        return mishap_suggest(m, "Keep incidents for longer: --incident-days, --incident-max-mb.");
    return mishap_suggest(m, "The request of this id may have succeeded, or another server has "
                             "answered it.");
}

/* -- lists ------------------------------------------------------------------------------------- */

void mishap_index_put_next(mishap_buffer *json, const char *next)
{
    MISHAP_JSON_KEY(json, "next");
    if (next[0])
        mishap_json_string(json, mishap_text_of(next));
    else
        mishap_json_null(json);
}

mishap *mishap_index_list(mishap_index *index, const mishap_index_filter *filter,
                          mishap_buffer *json)
{
    char next[INDEX_CURSOR] = "";
    size_t length = json->length;
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "incidents");
    mishap_json_open(json, '[');
    mishap *failure = engine_of(index)->rows(index, filter, NULL, json, next);
    mishap_json_close(json, ']');
    mishap_index_put_next(json, next);
    mishap_json_close(json, '}');
    if (failure)
        json->length = length;
    return failure ? failure : json->failed ? mishap_out_of_memory() : NULL;
}

/* Rows but for that of the id. *cut: there are more. */
static mishap *list_beside(mishap_index *index, const mishap_index_filter *filter, mishap_text id,
                           mishap_buffer *json, bool *cut)
{
    unsigned char not_id[INDEX_ID];
    char next[INDEX_CURSOR] = "";
    bool leaves_out = mishap_index_id_read(id, not_id);
    mishap *failure = engine_of(index)->rows(index, filter, leaves_out ? not_id : NULL, json, next);
    *cut = next[0];
    return failure;
}

mishap *mishap_index_same_trace(mishap_index *index, const mishap_index_found *found,
                                mishap_text id, mishap_buffer *json)
{
    mishap *failure = NULL;
    bool cut;
    mishap_index_filter filter = { .trace = mishap_text_of(found->trace),
                                   .limit = 100,
                                   .from_ms = found->time_ms - INDEX_DAY_MS,
                                   .to_ms = found->time_ms + INDEX_DAY_MS };
    mishap_json_open(json, '[');
    if (filter.trace.length)
        failure = list_beside(index, &filter, id, json, &cut);
    mishap_json_close(json, ']');
    return failure;
}

/* Half of the rows are from before, half from after. Lists begin with the newest; so that those
 * after are near, the time is shortened until they fit. */
mishap *mishap_index_near(mishap_index *index, const mishap_index_found *found, mishap_text id,
                          size_t limit, mishap_buffer *json)
{
    static const int64_t after_ms[] = { 300000, 60000, 10000, 1000, 100 };
    mishap_index_filter filter = { .caller = mishap_text_of(found->caller),
                                   .not_operation = MISHAP_TEXT("incidents."),
                                   .limit = limit / 2 + 1,
                                   .from_ms = found->time_ms + 1 };
    mishap *failure = NULL;
    mishap_json_open(json, '[');
    size_t length = json->length;
    bool cut = filter.caller.length > 0;
    for (size_t i = 0; i < sizeof after_ms / sizeof *after_ms && cut && !failure; i++) {
        json->length = length;
        filter.to_ms = found->time_ms + after_ms[i];
        failure = list_beside(index, &filter, id, json, &cut);
    }
    filter.from_ms = found->time_ms - after_ms[0];
    filter.to_ms = found->time_ms + 1;
    if (!failure && filter.caller.length)
        failure = list_beside(index, &filter, id, json, &cut);
    mishap_json_close(json, ']');
    return failure;
}
