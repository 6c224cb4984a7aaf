/*
 * services/todo: users and their todos, on SQLite or PostgreSQL. The HTTP API of seed 003's
 * examples.
 *
 *     todo.c     every operation and its rules        schema.c   tables and SQL
 *     users.c    /users                               rows.c     rows as JSON
 *     todos.c    /todos                               service.c  opening and closing the store
 *     plan.c     a prompt                             drills.c   402, and failing on purpose
 */
#ifndef TODO_H
#define TODO_H

#include <mishap/operation.h>

/* Opened with DATA/todo.sqlite, or with the store that its setting `store` names. */
extern const mishap_service todo_service;

/* All operations of the service; the list ends with { 0 }. */
extern const mishap_operation todo_operations[];

/* The scopes of these operations, for the program (mishap_app.scopes); the list ends with { 0 }. */
extern const mishap_scope todo_scopes[];

#endif
