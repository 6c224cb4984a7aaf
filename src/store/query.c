/* One statement from its values to its outcome, on any engine; and pages of rows. */
#include "store/store.h"

void mishap_query_begin(mishap_query *query, mishap_store *store, size_t statement)
{
    *query = (mishap_query){ .store = store, .statement = statement };
    if (store->running)
        store->engine->abandon(store);
    if (statement >= store->schema->statement_count)
        query->failure = mishap_raise(INTERNAL_ERROR, "There is no statement %zu.", statement);
    else if (store->failed_depth)
        query->failure = mishap_because(
            mishap_store_failure(mishap_store_trouble_of(store)),
            mishap_raise(INTERNAL_ERROR, "An earlier query of the transaction has failed."));
    else
        query->failure = mishap_store_use(store);
    if (query->failure)
        return;
    mishap_tally_add(store->engine->queries);
    query->writes = store->schema->statements[statement].writes;
    store->engine->begin(query);
}

/* -- values ------------------------------------------------------------------------------------ */

static void bind(mishap_query *query, int place, const store_value *value)
{
    if (!query->failure)
        query->store->engine->bind(query, place, value);
}

void mishap_query_bind_integer(mishap_query *query, int place, int64_t value)
{
    bind(query, place, &(store_value){ .kind = STORE_INTEGER, .integer = value });
}

void mishap_query_bind_boolean(mishap_query *query, int place, bool value)
{
    bind(query, place, &(store_value){ .kind = STORE_BOOLEAN, .integer = value });
}

void mishap_query_bind_double(mishap_query *query, int place, double value)
{
    bind(query, place, &(store_value){ .kind = STORE_DOUBLE, .real = value });
}

void mishap_query_bind_text(mishap_query *query, int place, mishap_text value)
{
    bind(query, place,
         &(store_value){ .kind = value.data ? STORE_TEXT : STORE_NULL, .text = value });
}

void mishap_query_bind_blob(mishap_query *query, int place, mishap_text bytes)
{
    bind(query, place,
         &(store_value){ .kind = bytes.data ? STORE_BLOB : STORE_NULL, .text = bytes });
}

void mishap_query_bind_null(mishap_query *query, int place)
{
    bind(query, place, &(store_value){ .kind = STORE_NULL });
}

/* -- rows -------------------------------------------------------------------------------------- */

bool mishap_query_step(mishap_query *query)
{
    return !query->failure && !query->misfit && query->store->engine->step(query);
}

bool mishap_query_is_null(mishap_query *query, int column)
{
    return query->store->engine->is_null(query, column);
}

int64_t mishap_query_integer(mishap_query *query, int column)
{
    return query->store->engine->integer(query, column);
}

bool mishap_query_boolean(mishap_query *query, int column)
{
    return query->store->engine->integer(query, column) != 0;
}

double mishap_query_double(mishap_query *query, int column)
{
    return query->store->engine->real(query, column);
}

mishap_text mishap_query_text(mishap_query *query, int column)
{
    return query->store->engine->text(query, column, false);
}

mishap_text mishap_query_blob(mishap_query *query, int column)
{
    return query->store->engine->text(query, column, true);
}

/* -- the end ----------------------------------------------------------------------------------- */

mishap *mishap_query_end(mishap_query *query)
{
    store_trouble trouble = STORE_FINE;
    mishap *failure = query->failure;
    query->failure = NULL;
    if (failure) { /* it could not begin */
        mishap_store_note_trouble(query->store, STORE_BROKEN);
        return failure;
    }
    failure = query->store->engine->end(query, &trouble);
    query->taken = trouble == STORE_TAKEN;
    query->dangling = trouble == STORE_DANGLING;
    if (!failure && query->no_memory) {
        trouble = STORE_BROKEN;
        failure = mishap_out_of_memory();
    }
    if (!failure && query->misfit) {
        trouble = STORE_BROKEN;
        failure = mishap_raise(INTERNAL_ERROR, "A value does not fit the type of its column.");
    }
    mishap_store_note_trouble(query->store, trouble);
    return failure;
}

/* -- pages ------------------------------------------------------------------------------------- */

void mishap_page_begin(mishap_page *page, mishap_query *query, int place, int64_t limit)
{
    *page = (mishap_page){ .limit = limit };
    mishap_query_bind_integer(query, place, limit < INT64_MAX ? limit + 1 : limit);
}

bool mishap_page_step(mishap_page *page, mishap_query *query)
{
    if (page->more || !mishap_query_step(query))
        return false;
    page->more = page->listed == page->limit;
    page->listed += !page->more;
    return !page->more;
}
