/* The tables of the store and every statement that is ever run on them. */
#ifndef TODO_SCHEMA_H
#define TODO_SCHEMA_H

#include <mishap/store.h>

/* The tables of both engines, and the statements. */
extern const mishap_store_schema todo_schema;

/* Statements take their values by number, ?1 and so on; NULL where none is bound. */
typedef enum todo_statement {
    TODO_USER_INSERT, /* 1 name, 2 age, 3 email */
    TODO_USER_GET,    /* 1 id */
    TODO_USER_UPDATE, /* 1 id, 2 name, 3 age, 4 email: NULL leaves it as it is */
    TODO_USER_DELETE, /* 1 id */
    TODO_USER_LIST,   /* 1 after, 2 limit */
    TODO_USER_COUNT,

    TODO_TODO_INSERT, /* 1 title, 2 done, 3 user */
    TODO_TODO_GET,    /* 1 id */
    TODO_TODO_UPDATE, /* 1 id, 2 title, 3 done, 4 user: NULL leaves it as it is */
    TODO_TODO_DELETE, /* 1 id */
    TODO_TODO_LIST,   /* 1 after, 2 limit; by filters: add TODO_BY_… */
    TODO_TODO_COUNT = TODO_TODO_LIST + 4,  /* as TODO_TODO_LIST */
    TODO_TODO_CLEAR = TODO_TODO_COUNT + 4, /* as TODO_TODO_COUNT */
    TODO_STATEMENTS = TODO_TODO_CLEAR + 4,
} todo_statement;

/* Filters for lists of todos, and for their count. */
enum {
    TODO_BY_DONE = 1, /* 3 done */
    TODO_BY_USER = 2, /* 4 user */
};

#endif
