/*
 * services/todo: users and their todos, on SQLite. The HTTP API of seed 003's examples.
 *
 *     todo.c     every operation and its rules        store.c   the file and its connections
 *     users.c    /users                               schema.c  tables and SQL
 *     todos.c    /todos                               query.c   one statement
 *     drills.c   402, and failing on purpose          rows.c    rows as JSON
 *     service.c  opening and closing
 */
#ifndef TODO_H
#define TODO_H

#include <mishap/operation.h>

/* Opened with DATA/todo.sqlite, or with the file that its setting `store` names: sqlite:PATH. */
extern const mishap_service todo_service;

/* All operations of the service; the list ends with { 0 }. */
extern const mishap_operation todo_operations[];

#endif
