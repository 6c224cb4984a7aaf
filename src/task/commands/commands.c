/* tasks list, show, wait, answer and cancel: see commands.h. */
#include "task/commands/commands.h"

#include <stdio.h>
#include <unistd.h>

#include "operation/call.h"
#include "task/task.h"

enum { FIRST_PAUSE_MS = 10, LONGEST_PAUSE_MS = 1000 };

/* -- the store --------------------------------------------------------------------------------- */

struct opened {
    const struct mishap_task_engine *engine;
    mishap_task_rows *rows;
};

static void close_rows(void *state)
{
    struct opened *opened = state;
    opened->engine->close(opened->rows);
}

/* A folder without tasks is most likely a mistake in its name; nothing is made there. */
static mishap *check_folder(mishap_call *call, const char *folder)
{
    if (!folder)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED, "No data folder is configured."),
                              "Give a data folder with --data.");
    if (access(mishap_call_print(call, "%s/tasks.sqlite", folder), F_OK) == 0)
        return NULL;
    return mishap_suggest(mishap_raise(NOT_CONFIGURED, "There are no tasks in the data folder."),
                          "Give the folder that `serve --data` has, or the store of "
                          "`serve --task-store`.");
}

static mishap *open_rows(mishap_call *call, struct opened **out)
{
    struct opened *opened = mishap_call_take(call, sizeof *opened);
    const char *address = mishap_string(call, "task_store");
    const char *folder = mishap_call_data_folder(call);
    opened->engine = mishap_app_of(call)->task_store;
    if (!address)
        MISHAP_TRY(check_folder(call, folder));
    MISHAP_TRY(opened->engine->open(address, folder ? folder : "", &opened->rows));
    mishap_call_defer(call, close_rows, opened);
    *out = opened;
    return NULL;
}

/* -- rows -------------------------------------------------------------------------------------- */

struct found {
    mishap_call *call;
    unsigned char secret[MISHAP_TASK_SECRET];
    bool any;
    mishap_task_row row; /* … with copies of its text */
};

static mishap_text keep(mishap_call *call, mishap_text text)
{
    return text.data ? mishap_arena_copy(&call->arena, text) : text;
}

static void keep_row(void *context, const mishap_task_row *row)
{
    struct found *found = context;
    found->any = true;
    found->row = *row;
    found->row.operation = keep(found->call, row->operation);
    found->row.incident = keep(found->call, row->incident);
    found->row.owner = keep(found->call, row->owner);
    found->row.key = keep(found->call, row->key);
    found->row.call = found->row.outcome = (mishap_text){ NULL, 0 };
    if (!mishap_task_has_ended(row->state)) /* `wait` reads it again and again */
        return;
    found->row.call = keep(found->call, row->call);
    found->row.outcome = keep(found->call, row->outcome);
}

static mishap *find_row(mishap_call *call, const struct opened *opened, struct found *found)
{
    mishap_text id = mishap_text_of(mishap_string(call, "id"));
    *found = (struct found){ .call = call };
    if (id.length >= MISHAP_TASK_KEY)
        MISHAP_TRY(opened->engine->find(opened->rows, MISHAP_TASK_ONE,
                                        (mishap_text){ id.data, MISHAP_TASK_KEY }, 0, keep_row,
                                        found));
    MISHAP_TRY(opened->engine->secret(opened->rows, found->secret));
    bool sound = found->any && (id.length == MISHAP_TASK_KEY ||
                                mishap_task_id_check(found->secret, found->row.owner, id));
    return sound ? NULL
                 : mishap_suggest(mishap_raise(NOT_FOUND, "There is no such task."),
                                  "`tasks list` shows all of them.");
}

static void answer_time(mishap_call *call, const char *key, int64_t ms)
{
    mishap_buffer text = { 0 };
    mishap_clock_put_timestamp(&text, ms);
    mishap_answer_member(call, key, mishap_buffer_text(&text));
    mishap_buffer_release(&text);
}

static void answer_row(struct found *found, const mishap_task_row *row)
{
    mishap_call *call = found->call;
    char id[MISHAP_TASK_ID + 1];
    if (row->key.length != MISHAP_TASK_KEY)
        return;
    memcpy(id, row->key.data, MISHAP_TASK_KEY);
    mishap_task_id_prove(found->secret, row->owner, id);
    mishap_text whole = { id, MISHAP_TASK_ID };
    mishap_answer_member(call, "id", whole);
    mishap_answer_member(call, "operation", row->operation);
    mishap_answer_member(call, "state", mishap_task_state_words[row->state]);
    answer_time(call, "created", row->made_ms);
    answer_time(call, "updated", row->changed_ms);
    mishap_answer_member(call, "incident", row->incident);
}

/* -- the commands ------------------------------------------------------------------------------ */

static void list_row(void *context, const mishap_task_row *row)
{
    struct found *found = context;
    mishap_answer_object(found->call, NULL);
    answer_row(found, row);
    mishap_answer_end(found->call);
}

static mishap *run_list(mishap_call *call)
{
    struct opened *opened;
    struct found found = { .call = call };
    MISHAP_TRY(open_rows(call, &opened));
    MISHAP_TRY(opened->engine->secret(opened->rows, found.secret));
    mishap_answer_array(call, "tasks");
    MISHAP_TRY(opened->engine->find(opened->rows, MISHAP_TASK_NEWEST, (mishap_text){ NULL, 0 },
                                    mishap_integer(call, "limit"), list_row, &found));
    return mishap_answer_end(call);
}

static mishap *run_show(mishap_call *call)
{
    struct opened *opened;
    struct found found;
    MISHAP_TRY(open_rows(call, &opened));
    MISHAP_TRY(find_row(call, opened, &found));
    answer_row(&found, &found.row);
    return NULL;
}

static mishap *run_cancel(mishap_call *call)
{
    struct opened *opened;
    struct found found;
    MISHAP_TRY(open_rows(call, &opened));
    MISHAP_TRY(find_row(call, opened, &found));
    mishap_task_change change = { .kind = MISHAP_TASK_CANCEL, .row = { .key = found.row.key } };
    if (mishap_task_has_ended(found.row.state))
        return mishap_suggest(mishap_tell(mishap_raise(CONFLICT, "The task has ended."), "state",
                                          mishap_task_state_words[found.row.state]),
                              "`tasks answer` shows its outcome.");
    MISHAP_TRY(opened->engine->apply(opened->rows, &change, 1));
    return mishap_answer_member(call, "cancelled", (bool)true);
}

/* The outcome is that of the command. */
static mishap *replay(mishap_call *call, const mishap_task_row *row)
{
    const mishap_app *app = mishap_app_of(call);
    const mishap_operation *operation = app->operations;
    mishap_call *of = NULL;
    mishap *failure = NULL;
    mishap_answer_kind kind;
    while (operation->name && !mishap_text_equal(mishap_text_of(operation->name), row->operation))
        operation++;
    if (!operation->name)
        return mishap_raise(NOT_FOUND, "This program does not have the operation of the task.");
    MISHAP_TRY(mishap_task_remake(app, operation, row->call, row->outcome, &of, &failure));
    mishap_text answer = mishap_call_answer(of, &kind);
    mishap_buffer_put_text(&call->warnings, mishap_call_warnings(of));
    if (!failure && kind == MISHAP_ANSWER_JSON)
        failure = mishap_answer(call,
                                mishap_call_print(call, "%.*s", (int)answer.length, answer.data));
    else if (!failure && kind != MISHAP_ANSWER_NOTHING)
        failure = mishap_answer_bytes(call, keep(call, answer),
                                      of->answer_type
                                          ? mishap_call_print(call, "%s", of->answer_type)
                                          : "application/octet-stream");
    mishap_call_end(of);
    return failure;
}

static mishap *run_answer(mishap_call *call)
{
    struct opened *opened;
    struct found found;
    MISHAP_TRY(open_rows(call, &opened));
    MISHAP_TRY(find_row(call, opened, &found));
    if (!mishap_task_has_ended(found.row.state))
        return mishap_suggest(mishap_raise(CONFLICT, "The task has not ended yet."),
                              "`tasks wait` waits for it.");
    return replay(call, &found.row);
}

/* A resident command has no watcher, so `wait` compares its own time with --timeout-ms. */
static mishap *run_wait(mishap_call *call)
{
    struct opened *opened;
    struct found found;
    MISHAP_TRY(open_rows(call, &opened));
    for (int64_t pause_ms = FIRST_PAUSE_MS;; pause_ms *= 2) {
        int64_t left_ms = call->timeout_ms ? mishap_call_time_left(call) : LONGEST_PAUSE_MS;
        MISHAP_TRY(find_row(call, opened, &found));
        if (mishap_task_has_ended(found.row.state))
            return replay(call, &found.row);
        if (left_ms <= 0)
            return mishap_suggest(
                mishap_raise(TIMEOUT, "The task did not end within %d ms.", call->timeout_ms),
                "The task goes on. Run `tasks wait` again.");
        if (pause_ms > LONGEST_PAUSE_MS)
            pause_ms = LONGEST_PAUSE_MS;
        usleep((useconds_t)(pause_ms < left_ms ? pause_ms : left_ms) * 1000);
    }
}

/* -- declarations ------------------------------------------------------------------------------ */

/* clang-format off */
#define PLACE                                                                                      \
    { "data", MISHAP_STRING, .file = true, .length = { 1, 4000 }, .placeholder = "DIR",            \
      .help = "Data folder of the server" },                                                       \
    { "task_store", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "URL",                    \
      .help = "The store of tasks, if the server has --task-store" }
#define ROW                                                                                        \
    { "id", MISHAP_STRING, .required = true },                                                     \
    { "operation", MISHAP_STRING, .required = true },                                              \
    { "state", MISHAP_ENUM, .required = true, .choices = mishap_task_state_words },                \
    { "created", MISHAP_STRING, .required = true },                                                \
    { "updated", MISHAP_STRING, .required = true },                                                \
    { "incident", MISHAP_STRING, .required = true, .help = "The id of its request, in the log" }
#define WAY                                                                                        \
    .local = true, .group = "Server",                                                              \
    .raises = MISHAP_RAISES(NOT_FOUND, CONFLICT, NOT_CONFIGURED, UNAVAILABLE)
/* clang-format on */

static const mishap_param row_members[] = { ROW, { 0 } };
static const mishap_param one_row = { "task", MISHAP_OBJECT, .members = row_members };
static const mishap_param list_params[] = {
    PLACE,
    { "limit", MISHAP_INTEGER, .range = { 1, 100000 }, .initial = "100", .placeholder = "N",
      .help = "Most tasks, the newest first" },
    { 0 },
};
static const mishap_param list_answers[] = {
    { "tasks", MISHAP_ARRAY, .required = true, .items = &one_row },
    { 0 },
};
static const mishap_param id_params[] = {
    { "id", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 100 },
      .help = "The id of the task" },
    PLACE,
    { 0 },
};
static const mishap_param cancel_answers[] = {
    { "cancelled", MISHAP_BOOLEAN, .required = true },
    { 0 },
};

const mishap_operation mishap_task_commands[MISHAP_TASK_COMMANDS + 1] = {
    { .name = "tasks.list",
      .summary = "List tasks, the newest first",
      .params = list_params,
      .run = run_list,
      .answers = list_answers,
      WAY },
    { .name = "tasks.show",
      .summary = "Show the state of a task",
      .params = id_params,
      .run = run_show,
      .answers = row_members,
      WAY },
    { .name = "tasks.wait",
      .summary = "Wait for a task to end, and exit as its operation did",
      .description = "The output and the exit code are those of the operation. Without "
                     "--timeout-ms the command waits for as long as the task takes.",
      .params = id_params,
      .run = run_wait,
      .resident = true,
      .relays = true,
      WAY },
    { .name = "tasks.answer",
      .summary = "Show the answer of a task that has ended",
      .description = "The output and the exit code are those of the operation.",
      .params = id_params,
      .run = run_answer,
      .resident = true,
      .relays = true,
      WAY },
    { .name = "tasks.cancel",
      .summary = "Cancel a task",
      .description = "The server notices it within about a second. A handler that has begun is "
                     "told, and may go on until its time is over.",
      .params = id_params,
      .run = run_cancel,
      .answers = cancel_answers,
      .danger = MISHAP_MUTATING,
      WAY },
    { 0 },
};
