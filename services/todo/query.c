/* One statement from its values to its outcome, on a connection that it has for itself so long. */
#include "todo/store.h"

static int prepare(todo_connection *connection, todo_statement which)
{
    if (connection->kept[which])
        return SQLITE_OK;
    return sqlite3_prepare_v3(connection->database, todo_sql_of[which].text, -1,
                              SQLITE_PREPARE_PERSISTENT, &connection->kept[which], NULL);
}

void todo_query_begin(todo_query *query, todo_store *store, todo_statement which)
{
    *query = (todo_query){ .store = store, .result = SQLITE_OK };
    query->failure = todo_store_take(store, todo_sql_of[which].writes, &query->connection);
    if (query->failure) {
        query->result = SQLITE_ERROR;
        return;
    }
    query->result = prepare(query->connection, which);
    query->statement = query->connection->kept[which];
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
    if (query->result == SQLITE_OK || query->result == SQLITE_ROW)
        query->result = sqlite3_step(query->statement);
    return query->result == SQLITE_ROW;
}

mishap *todo_query_end(todo_query *query)
{
    int result = query->result;
    if (!query->connection)
        return query->failure;
    query->taken = result == SQLITE_CONSTRAINT_UNIQUE;
    query->dangling = result == SQLITE_CONSTRAINT_FOREIGNKEY;
    mishap *failure = NULL;
    if (!query->taken && !query->dangling)
        failure = todo_store_failure(query->connection->database, result);
    if (query->statement) {
        sqlite3_reset(query->statement);
        sqlite3_clear_bindings(query->statement);
    }
    /* After anything but a wait in vain, a new connection is a new start. */
    bool broken = failure && mishap_told(failure)->code != MISHAP_CODE_UNAVAILABLE;
    todo_store_give_back(query->store, query->connection, broken);
    return failure;
}
