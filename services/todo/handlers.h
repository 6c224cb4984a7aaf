/* The functions that the operations run. Their parameters are declared in todo.c. */
#ifndef TODO_HANDLERS_H
#define TODO_HANDLERS_H

#include <mishap/operation.h>

mishap *todo_users_create(mishap_call *call);
mishap *todo_users_get(mishap_call *call);
mishap *todo_users_list(mishap_call *call);
mishap *todo_users_update(mishap_call *call);
mishap *todo_users_delete(mishap_call *call);

mishap *todo_todos_create(mishap_call *call);
mishap *todo_todos_get(mishap_call *call);
mishap *todo_todos_list(mishap_call *call);
mishap *todo_todos_update(mishap_call *call);
mishap *todo_todos_delete(mishap_call *call);
mishap *todo_todos_clear(mishap_call *call);
mishap *todo_todos_plan(mishap_call *call);

/* The first todos of a user, `most` at most; returns how many. The second announces that they have
 * changed. */
size_t todo_todos_of_user(mishap_call *call, int64_t user, int64_t *ids, size_t most);
void todo_todos_changed(mishap_call *call, const int64_t *ids, size_t count);

mishap *todo_premium_report(mishap_call *call);

/* The ways in which chaos.fail fails; the list ends with NULL. */
extern const char *const todo_drills[];
mishap *todo_chaos_fail(mishap_call *call);

#endif
