/* The whole API: every operation with its rules, its failures and its examples. */
#include "todo/todo.h"

#include "todo/handlers.h"

/* -- lists and times --------------------------------------------------------------------------- */

/* clang-format off */
#define LIMIT                                                                                      \
    { "limit", MISHAP_INTEGER, .range = { 1, 100 }, .initial = "20",                               \
      .help = "The largest number of entries to list" }
#define AFTER                                                                                      \
    { "after", MISHAP_STRING, .pattern = "^(0|[1-9][0-9]{0,17})$",                                 \
      .looks = "an id such as 17",                                                                \
      .help = "List what comes after this id, the `next` of the page before" }
#define NEXT                                                                                       \
    { "next", MISHAP_STRING, .help = "The value for `after` of the next page; absent on the last page" }
#define CREATED_AT                                                                                 \
    { "created_at", MISHAP_STRING, .required = true,                                               \
      .help = "Time of creation, as an RFC 3339 timestamp" }
/* clang-format on */

/* -- users ------------------------------------------------------------------------------------- */

/* clang-format off */
#define USER_ID                                                                                    \
    { "id", MISHAP_STRING, .required = true, .positional = true, .help = "Id of the user" }
#define NAME(need)                                                                                 \
    { "name", MISHAP_STRING, .required = (need), .length = { 1, 200 }, .help = "Full name" }
#define AGE                                                                                        \
    { "age", MISHAP_INTEGER, .range = { 0, 150 }, .help = "Age in years" }
#define EMAIL(need)                                                                                \
    { "email", MISHAP_STRING, .required = (need), .length = { 0, 320 }, .pattern = ".*@.*\\..*",   \
      .help = "E-mail address, which must be unique" }
/* clang-format on */

/* In the order in which flaws of them are reported. */
static const mishap_param new_user[] = { NAME(true), AGE, EMAIL(true), { 0 } };
static const mishap_param user_id[] = { USER_ID, { 0 } };
static const mishap_param user_change[] = { USER_ID, NAME(false), AGE, EMAIL(false), { 0 } };
static const mishap_param page_of_users[] = { LIMIT, AFTER, { 0 } };

static const mishap_param a_user[] = {
    { "id", MISHAP_STRING, .required = true, .help = "Id of the user" },
    { "name", MISHAP_STRING, .required = true, .help = "Full name" },
    { "age", MISHAP_INTEGER, .help = "Age in years, if known" },
    { "email", MISHAP_STRING, .required = true, .help = "E-mail address" },
    CREATED_AT,
    { 0 },
};
static const mishap_param user_item = { "user", MISHAP_OBJECT, .members = a_user };
static const mishap_param some_users[] = {
    { "items", MISHAP_ARRAY, .required = true, .items = &user_item,
      .help = "Users in the order of their ids" },
    NEXT,
    { 0 },
};

/* -- todos ------------------------------------------------------------------------------------- */

/* clang-format off */
#define TODO_ID                                                                                    \
    { "id", MISHAP_STRING, .required = true, .positional = true, .help = "Id of the todo" }
#define TITLE(need)                                                                                \
    { "title", MISHAP_STRING, .required = (need), .length = { 1, 200 }, .help = "The task" }
#define USER                                                                                       \
    { "user_id", MISHAP_STRING, .help = "Id of the user that the todo belongs to" }
/* clang-format on */

static const mishap_param new_todo[] = {
    TITLE(true),
    { "done", MISHAP_BOOLEAN, .initial = "false", .help = "Whether the todo is already done" },
    USER,
    { 0 },
};
static const mishap_param todo_id[] = { TODO_ID, { 0 } };
static const mishap_param todo_change[] = {
    TODO_ID, TITLE(false), { "done", MISHAP_BOOLEAN, .help = "Whether the todo is done" },
    USER,    { 0 },
};
static const mishap_param page_of_todos[] = {
    LIMIT,
    AFTER,
    { "done", MISHAP_BOOLEAN, .help = "List only todos that are done (true) or not done (false)" },
    { "user_id", MISHAP_STRING, .help = "List only the todos of this user" },
    { 0 },
};

static const mishap_param a_todo[] = {
    { "id", MISHAP_STRING, .required = true, .help = "Id of the todo" },
    { "title", MISHAP_STRING, .required = true, .help = "The task" },
    { "done", MISHAP_BOOLEAN, .required = true, .help = "Whether the todo is done" },
    { "user_id", MISHAP_STRING, .help = "Id of the user that the todo belongs to, if any" },
    CREATED_AT,
    { 0 },
};
static const mishap_param todo_item = { "todo", MISHAP_OBJECT, .members = a_todo };
static const mishap_param some_todos[] = {
    { "items", MISHAP_ARRAY, .required = true, .items = &todo_item,
      .help = "Todos in the order of their ids" },
    NEXT,
    { 0 },
};

static const mishap_param cleared_todos[] = {
    { "done", MISHAP_BOOLEAN,
      .help = "Delete only todos that are done (true) or not done (false)" },
    { "user_id", MISHAP_STRING, .help = "Delete only the todos of this user" },
    { 0 },
};
static const mishap_param confirm_params[] = {
    { "sure", MISHAP_BOOLEAN, .required = true, .help = "Delete them" },
    { 0 },
};
static const mishap_param deleted_todos[] = {
    { "deleted", MISHAP_INTEGER, .required = true, .help = "How many todos were deleted" },
    { 0 },
};

static const mishap_param plan_params[] = {
    { "user_id", MISHAP_STRING, .help = "Only the todos of this user" },
    { "minutes", MISHAP_INTEGER, .range = { 5, 1440 }, .help = "The available time in minutes" },
    { 0 },
};

/* -- drills ------------------------------------------------------------------------------------ */

static const mishap_param drill[] = {
    { "how", MISHAP_ENUM, .required = true, .positional = true, .choices = todo_drills,
      .help = "The kind of failure to cause" },
    { "marker", MISHAP_STRING, .length = { 0, 200 },
      .help = "A text for the private notes, which must never reach a caller" },
    { 0 },
};

/* -- operations -------------------------------------------------------------------------------- */

/* clang-format off */
#define EXAMPLES(...) (const mishap_example[]){ __VA_ARGS__, { 0 } }
/* clang-format on */
/* Reading needs no more than `call`. */
const mishap_scope todo_scopes[] = {
    { "todos:write", .help = "Create and change users and todos" },
    { "todos:delete", .implies = "todos:write", .help = "Delete users and todos" },
    { 0 },
};

/* What all operations on the store have in common. */
#define ON_STORE .service = &todo_service, .group = "Users and todos"

const mishap_operation todo_operations[] = {
    { "users.create", "Create a user", new_user, todo_users_create, .route = "POST /users",
      .tool = "create_user",
      .tool_example = "{\"name\":\"Ada\",\"age\":36,\"email\":\"ada@example.com\"}",
      .raises = MISHAP_RAISES(ALREADY_EXISTS), .danger = MISHAP_MUTATING,
      .description = "The e-mail address of each user must be unique.",
      .examples = EXAMPLES({ "users create --name Ada --email ada@example.com", "Create a user" },
                           { "users create --name Ada --age 36 --email ada@example.com",
                             "Create a user with an age" }),
      .answers = a_user, .status = 201, .scope = "todos:write", ON_STORE },
    { "users.get", "Show a user", user_id, todo_users_get, .route = "GET /users/:id",
      .tool = "get_user", .tool_example = "{\"id\":\"1\"}", .resource = "todo://users/{id}",
      .raises = MISHAP_RAISES(NOT_FOUND),
      .examples = EXAMPLES({ "users get 1", "Show the user with the id 1" }), .answers = a_user,
      .status = 200, ON_STORE },
    { "users.list", "List users", page_of_users, todo_users_list, .route = "GET /users",
      .tool = "list_users", .tool_example = "{\"limit\":100,\"after\":\"17\"}",
      .resource = "todo://users",
      .description = "Users are listed in the order of their creation, one page at a time. If "
                     "there are more users, `next` is the value for `after` of the next page.",
      .examples = EXAMPLES(
          { "users list", "List the first 20 users" },
          { "users list --limit 100 --after 17", "List 100 users after the user with the id 17" }),
      .answers = some_users, .status = 200, .stale = true, ON_STORE },
    { "users.update", "Change a user", user_change, todo_users_update, .route = "PATCH /users/:id",
      .tool = "update_user", .tool_example = "{\"id\":\"1\",\"age\":37}",
      .raises = MISHAP_RAISES(NOT_FOUND, ALREADY_EXISTS), .danger = MISHAP_MUTATING,
      .description = "Fields that are not given keep their values.",
      .examples = EXAMPLES({ "users update 1 --age 37", "Change the age of a user" }),
      .answers = a_user, .status = 200, .scope = "todos:write", ON_STORE },
    { "users.delete", "Delete a user", user_id, todo_users_delete, .route = "DELETE /users/:id",
      .tool = "delete_user", .tool_example = "{\"id\":\"1\"}", .raises = MISHAP_RAISES(NOT_FOUND),
      .danger = MISHAP_DESTRUCTIVE,
      .description = "The todos of the user are not deleted; they then belong to no user.",
      .examples = EXAMPLES({ "users delete 1", "Delete the user with the id 1" }), .status = 204,
      .scope = "todos:delete", ON_STORE },

    { "todos.create", "Create a todo", new_todo, todo_todos_create, .route = "POST /todos",
      .tool = "create_todo", .tool_example = "{\"title\":\"Buy milk\",\"user_id\":\"1\"}",
      .raises = MISHAP_RAISES(NOT_FOUND), .danger = MISHAP_MUTATING,
      .description = "If a user id is given, that user must exist.",
      .examples = EXAMPLES({ "todos create --title 'Buy milk'", "Create a todo" },
                           { "todos create --title 'Buy milk' --user-id 1",
                             "Create a todo of the user with the id 1" }),
      .answers = a_todo, .status = 201, .scope = "todos:write", ON_STORE },
    { "todos.get", "Show a todo", todo_id, todo_todos_get, .route = "GET /todos/:id",
      .tool = "get_todo", .tool_example = "{\"id\":\"1\"}", .resource = "todo://todos/{id}",
      .raises = MISHAP_RAISES(NOT_FOUND),
      .examples = EXAMPLES({ "todos get 1", "Show the todo with the id 1" }), .answers = a_todo,
      .status = 200, ON_STORE },
    { "todos.list", "List todos", page_of_todos, todo_todos_list, .route = "GET /todos",
      .tool = "list_todos", .tool_example = "{\"done\":false}", .resource = "todo://todos",
      .description = "Todos are listed in the order of their creation, one page at a time. If "
                     "there are more todos, `next` is the value for `after` of the next page.",
      .examples = EXAMPLES(
          { "todos list --done=false", "List the first 20 todos that are not done" },
          { "todos list --user-id 1", "List the todos of a user" }),
      .answers = some_todos, .status = 200, .stale = true, ON_STORE },
    { "todos.update", "Change a todo", todo_change, todo_todos_update, .route = "PATCH /todos/:id",
      .tool = "update_todo", .tool_example = "{\"id\":\"1\",\"done\":true}",
      .raises = MISHAP_RAISES(NOT_FOUND), .danger = MISHAP_MUTATING,
      .description = "Fields that are not given keep their values. The error NOT_FOUND is also "
                     "raised if the new user does not exist.",
      .examples = EXAMPLES({ "todos update 1 --done", "Mark a todo as done" }), .answers = a_todo,
      .status = 200, .scope = "todos:write", ON_STORE },
    { "todos.delete", "Delete a todo", todo_id, todo_todos_delete, .route = "DELETE /todos/:id",
      .tool = "delete_todo", .tool_example = "{\"id\":\"1\"}", .raises = MISHAP_RAISES(NOT_FOUND),
      .danger = MISHAP_DESTRUCTIVE,
      .examples = EXAMPLES({ "todos delete 1", "Delete the todo with the id 1" }), .status = 204,
      .scope = "todos:delete", ON_STORE },

    { "todos.clear", "Delete many todos", cleared_todos, todo_todos_clear, .route = "DELETE /todos",
      .tool = "delete_todos", .tool_example = "{\"done\":true}", .danger = MISHAP_DESTRUCTIVE,
      .description = "Without a filter all todos are deleted. The caller is asked first.",
      .examples = EXAMPLES({ "todos clear --done", "Delete the todos that are done" },
                           { "todos clear --user-id 1 --answers '{\"confirm\":{\"sure\":true}}'",
                             "Delete the todos of a user without a prompt" }),
      .answers = deleted_todos, .status = 200, .scope = "todos:delete",
      .asks = MISHAP_ASKS({ "confirm", .params = confirm_params }), .task = true, ON_STORE },

    { "todos.plan", "Plan the day", plan_params, todo_todos_plan, .prompt = "plan_day",

      .description = "A prompt that lists all open todos and asks a model to plan them. On the "
                     "command line it prints the text of the prompt.",
      .examples = EXAMPLES(
          { "todos plan", "Plan all todos that are not done" },
          { "todos plan --user-id 1 --minutes 90", "Plan 90 minutes of one user" }),
      .stale = true, ON_STORE },

    { "premium.report", "Show the premium report", NULL, todo_premium_report,
      .route = "GET /premium/report", .tool = "get_premium_report",
      .raises = MISHAP_RAISES(PAYMENT_REQUIRED),
      .description = "This operation always fails with PAYMENT_REQUIRED. It shows how a required "
                     "payment is reported.",
      .examples = EXAMPLES({ "premium report", "See how a required payment is reported" }),
      .group = "Drills", .status = 200, .quick = true },
    { "chaos.fail", "Fail on purpose", drill, todo_chaos_fail, .route = "POST /chaos",
      .tool = "cause_chaos",
      .description = "For drills: the handler fails in a way that a handler should never fail. The "
                     "caller must get a correct error response, and other requests must not be "
                     "affected. A server has this operation only if it is started with --chaos.",
      .examples = EXAMPLES(
          { "chaos fail --how crash", "Crash by reading from an invalid memory address" }),
      .group = "Drills", .status = 200, .stateless = true, .chaos = true },
    { 0 },
};
