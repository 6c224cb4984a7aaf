/* Rows of the store as JSON, one or a page of them, and ids as the API has them. */
#ifndef TODO_ROWS_H
#define TODO_ROWS_H

#include <mishap/operation.h>

#include "todo/schema.h"

typedef enum todo_column_kind { TODO_ID, TODO_TEXT, TODO_NUMBER, TODO_FLAG } todo_column_kind;

/* A column of a statement, in the statement's order. NULL in the store is null in JSON. */
typedef struct todo_column {
    const char *key; /* the list ends with NULL */
    todo_column_kind kind;
} todo_column;

/* -- ids --------------------------------------------------------------------------------------- */

/* The number of an id; 0, which no row has, if it is not a valid id. */
int64_t todo_id(const mishap_call *call, const char *param);

/* -- parameters into a query ------------------------------------------------------------------- */

/* Bind a parameter of the call, if it is given. */
void todo_bind_string(mishap_query *query, int place, const mishap_call *call, const char *param);
void todo_bind_integer(mishap_query *query, int place, const mishap_call *call, const char *param);
void todo_bind_flag(mishap_query *query, int place, const mishap_call *call, const char *param);
void todo_bind_id(mishap_query *query, int place, const mishap_call *call, const char *param);

/* -- one row ----------------------------------------------------------------------------------- */

/* How rows of a table appear in the API. */
typedef struct todo_kind {
    const todo_column *columns;
    const char *path;    /* "/users/", before the id */
    const char *address; /* "todo://users", of the list, for agents */
    const char *missing; /* "User not found" */
    const char *find;    /* how to find one that is there, for the caller */
} todo_kind;

/* Run a query to its end and answer with its one row: as created, as found, or, for a deleted one,
 * with nothing. NOT_FOUND if it has none. If a constraint of the tables refuses the query, the
 * caller of this function says what that means: see `taken` and `dangling` of the query. */
mishap *todo_answer_created(mishap_call *call, mishap_query *query, const todo_kind *kind);
mishap *todo_answer_found(mishap_call *call, mishap_query *query, const todo_kind *kind);
mishap *todo_answer_deleted(mishap_call *call, mishap_query *query, const todo_kind *kind);

/* Clients that watch this row, or a list that contains it, are told. A row that was created or
 * deleted is announced by itself. */
void todo_changed(mishap_call *call, const todo_kind *kind, int64_t id);

/* -- a page of rows ---------------------------------------------------------------------------- */

/* What to list; NULL where there is no filter. */
typedef struct todo_page {
    todo_statement list, count;
    const todo_kind *kind;
    const bool *done;
    const int64_t *user;
} todo_page;

/* Answer {"items":[…],"next":…} by the call's parameters `limit` and `after`. */
mishap *todo_page_answer(mishap_call *call, const todo_page *page);

#endif
