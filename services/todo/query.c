/* One statement from its values to its outcome. */
#include "todo/store.h"

void todo_query_begin(todo_query *query, todo_store *store, todo_statement which)
{
    *query = (todo_query){ .store = store,
                           .writes = todo_sql_of[which].writes,
                           .result = SQLITE_ERROR };
    query->failure = todo_store_begin(store, which, &query->statement, &query->result);
}

void todo_query_bind_text(todo_query *query, int place, mishap_text text)
{
    if (query->result == SQLITE_OK)
        query->result = sqlite3_bind_text64(query->statement, place, text.data, text.length,
                                            SQLITE_STATIC, SQLITE_UTF8);
}

void todo_query_bind_integer(todo_query *query, int place, int64_t integer)
{
    if (query->result == SQLITE_OK)
        query->result = sqlite3_bind_int64(query->statement, place, integer);
}

bool todo_query_step(todo_query *query)
{
    bool first = query->result == SQLITE_OK;
    if (first && query->writes)
        todo_store_wait_for_turn(query->store);
    if (first || query->result == SQLITE_ROW)
        query->result = sqlite3_step(query->statement);
    return query->result == SQLITE_ROW;
}

/* To connect takes room on the disk, for the index of the log. So where a write has failed for lack
 * of room, the connection is kept: reading goes on with it. */
static bool no_room(int result)
{
    return (result & 0xff) == SQLITE_FULL || result == SQLITE_IOERR_WRITE;
}

mishap *todo_query_end(todo_query *query)
{
    int result = query->result;
    if (query->failure)
        return query->failure;
    query->taken = result == SQLITE_CONSTRAINT_UNIQUE;
    query->dangling = result == SQLITE_CONSTRAINT_FOREIGNKEY;
    mishap *failure = NULL;
    if (!query->taken && !query->dangling)
        failure = todo_store_failure(query->store, result);
    /* A change in files that nobody finds any more is none. */
    if (!failure && query->writes && (failure = todo_store_look(query->store, TODO_HAS_WRITTEN)))
        return failure;
    /* After anything but a wait in vain or a full disk, a new connection is a new start. */
    bool broken = failure && mishap_told(failure)->code != MISHAP_CODE_UNAVAILABLE &&
                  !no_room(result);
    mishap *lost = todo_store_end(query->store, broken);
    return lost ? mishap_because(lost, failure) : failure;
}
