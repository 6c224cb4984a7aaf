/* tasks list, show, wait, answer, reply and cancel: see commands.h. */
#include "task/commands/commands.h"

#include <stdio.h>
#include <unistd.h>

#include "operation/call.h"
#include "operation/pass_on.h"
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

/* The file of an address, as store/address.c reads it; NULL: it is none of a file. */
static const char *file_of(mishap_call *call, const char *address)
{
    static const char scheme[] = "sqlite:";
    if (strncmp(address, scheme, sizeof scheme - 1) == 0)
        address += sizeof scheme - 1;
    else if (*address != '/' && *address != '.')
        return NULL;
    bool is_folder = *address && address[strlen(address) - 1] == '/';
    return mishap_call_print(call, "%s%s", address, is_folder ? "tasks.sqlite" : "");
}

/* A file that does not exist is most likely a mistake in its name; it is not made. */
static mishap *check_address(mishap_call *call, const char *address)
{
    const char *file = file_of(call, address);
    if (!file || access(file, F_OK) == 0)
        return NULL;
    return mishap_suggest(mishap_raise(NOT_CONFIGURED, "The store of tasks does not exist."),
                          "Give the address that `serve --task-store` has.");
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
    MISHAP_TRY(address ? check_address(call, address) : check_folder(call, folder));
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
    mishap_task_row wanted = *row;
    if (!mishap_task_has_ended(row->state) && row->state != MISHAP_TASK_ASKING)
        wanted.call = wanted.outcome = (mishap_text){ NULL, 0 }; /* `wait` reads it often */
    found->any = mishap_task_copy_row(&found->call->arena, &wanted, &found->row);
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

/* What a task asks; false: nothing, or the program does not know its questions any more. */
static bool read_questions(mishap_call *call, const mishap_task_row *row,
                           mishap_task_questions *open)
{
    const mishap_operation *operation = mishap_task_operation(mishap_app_of(call), row->operation);
    return row->state == MISHAP_TASK_ASKING && operation && row->outcome.length &&
           mishap_task_questions_take(row->outcome, operation, open);
}

static mishap *answer_questions(mishap_call *call, const mishap_task_row *row)
{
    mishap_task_questions open;
    mishap_buffer json = { 0 };
    if (!read_questions(call, row, &open))
        return NULL;
    mishap_json_open(&json, '{');
    for (size_t i = 0; i < open.count; i++)
        mishap_asking_put_question(&json, &open.list[i].asked);
    mishap_json_close(&json, '}');
    mishap *failure = json.failed
                          ? mishap_out_of_memory()
                          : mishap_answer_json(
                                call, "questions",
                                mishap_call_print(call, "%.*s", (int)json.length, json.data));
    mishap_buffer_release(&json);
    return failure;
}

static mishap *run_show(mishap_call *call)
{
    struct opened *opened;
    struct found found;
    MISHAP_TRY(open_rows(call, &opened));
    MISHAP_TRY(find_row(call, opened, &found));
    answer_row(&found, &found.row);
    return answer_questions(call, &found.row);
}

/* -- answers to what a task asks --------------------------------------------------------------- */

static bool is_ours(const mishap_task_row *row)
{
    return mishap_text_equal(row->owner, (mishap_text)MISHAP_TEXT(MISHAP_TASK_BY_COMMAND));
}

/* No connection to the store may be open while a process is forked. The process of another data
 * folder that shares the store finds the row itself. */
static mishap *go_on(mishap_call *call, struct opened *opened, const char *folder,
                     mishap_text server)
{
    char name[MISHAP_TASK_SERVER + 1];
    const char *address = mishap_string(call, "task_store");
    MISHAP_TRY(mishap_task_folder_name(folder, call->app->name, name, NULL));
    if (!mishap_text_equal(mishap_text_of(name), server))
        return NULL;
    opened->engine->close(opened->rows);
    opened->rows = NULL;
    mishap_task_go_on(call, folder, address);
    return opened->engine->open(address, folder, &opened->rows);
}

/* Change the row, and have the task go on if that was the last answer. */
static mishap *give(mishap_call *call, struct opened *opened, mishap_task_row *row,
                    const mishap_task_given *given)
{
    const char *folder = mishap_call_data_folder(call);
    int64_t seen_ms = row->changed_ms;
    bool done = false;
    mishap *wrong = NULL;
    MISHAP_TRY(mishap_task_give(mishap_app_of(call), &call->arena, given, row, &wrong));
    mishap *failure = opened->engine->revise(opened->rows, row, seen_ms, &done);
    if (!failure && !done)
        failure = mishap_task_asks_nothing();
    if (failure) {
        mishap_free(wrong);
        return failure;
    }
    failure = row->state == MISHAP_TASK_QUEUED && folder ? go_on(call, opened, folder, row->server)
                                                         : NULL;
    if (!failure)
        return wrong;
    mishap_free(wrong);
    return failure;
}

static mishap *run_reply(mishap_call *call)
{
    struct opened *opened;
    struct found found;
    mishap_task_given given = { .form = MISHAP_ANSWERS_OF_SCRIPT,
                                .scopes = MISHAP_SCOPES_ALL,
                                .answers = mishap_text_of(mishap_json(call, "answers")) };
    MISHAP_TRY(open_rows(call, &opened));
    MISHAP_TRY(find_row(call, opened, &found));
    if (!is_ours(&found.row))
        return mishap_raise(FORBIDDEN, "Only the caller of the task can answer.");
    MISHAP_TRY(give(call, opened, &found.row, &given));
    answer_row(&found, &found.row);
    return answer_questions(call, &found.row);
}

/* The person at the terminal is asked what the task asks. */
static mishap *pass_on(mishap_call *call, const mishap_task_row *row)
{
    mishap_task_questions open;
    mishap_asked *first = NULL;
    if (!read_questions(call, row, &open))
        return mishap_raise(NOT_FOUND, "This program does not have the questions of the task.");
    for (size_t i = open.count; i-- > 0;) {
        mishap_asked *asked = mishap_call_take(call, sizeof *asked);
        *asked = open.list[i].asked;
        asked->next = first;
        first = asked;
    }
    return mishap_asking_pass_on(call, first);
}

/* A wrong answer is asked for again; one that comes too late is of no use. */
static mishap *give_typed(mishap_call *call, struct opened *opened)
{
    struct found found;
    mishap_task_given given = { .form = MISHAP_ANSWERS_PLAIN,
                                .scopes = MISHAP_SCOPES_ALL,
                                .answers = call->replies };
    if (!call->replies.length)
        return NULL;
    MISHAP_TRY(find_row(call, opened, &found));
    mishap *failure = give(call, opened, &found.row, &given);
    call->replies = (mishap_text){ NULL, 0 };
    if (!failure || mishap_is(failure, VALIDATION_ERROR) || mishap_is(failure, CONFLICT)) {
        mishap_free(failure);
        return NULL;
    }
    return failure;
}

/* No process has it. If it was answered meanwhile, its process finds the mark of the cancellation.
 */
static mishap *end_asking(mishap_call *call, const struct opened *opened, mishap_task_row *row)
{
    bool done;
    int64_t seen_ms = row->changed_ms;
    mishap *cancelled = mishap_raise(CANCELLED, "The task was cancelled.");
    mishap *failure = mishap_task_end_row(&call->arena, row, MISHAP_TASK_CANCELLED, cancelled);
    mishap_free(cancelled);
    return failure ? failure : opened->engine->revise(opened->rows, row, seen_ms, &done);
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
    if (found.row.state == MISHAP_TASK_ASKING)
        MISHAP_TRY(end_asking(call, opened, &found.row));
    return mishap_answer_member(call, "cancelled", (bool)true);
}

/* The outcome is that of the command. */
static mishap *replay(mishap_call *call, const mishap_task_row *row)
{
    const mishap_app *app = mishap_app_of(call);
    const mishap_operation *operation = mishap_task_operation(app, row->operation);
    mishap_call *of = NULL;
    mishap *failure = NULL;
    mishap_answer_kind kind;
    if (!operation)
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
    if (found.row.state == MISHAP_TASK_ASKING)
        return mishap_suggest(mishap_raise(CONFLICT, "The task asks, and has not ended yet."),
                              "`tasks show` shows what it asks, `tasks reply` answers.");
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
    MISHAP_TRY(give_typed(call, opened));
    for (int64_t pause_ms = FIRST_PAUSE_MS;; pause_ms *= 2) {
        int64_t left_ms = call->timeout_ms ? mishap_call_time_left(call) : LONGEST_PAUSE_MS;
        MISHAP_TRY(find_row(call, opened, &found));
        if (mishap_task_has_ended(found.row.state))
            return replay(call, &found.row);
        if (found.row.state == MISHAP_TASK_ASKING && is_ours(&found.row))
            return pass_on(call, &found.row);
        if (left_ms <= 0)
            return mishap_retryable(
                mishap_suggest(
                    mishap_raise(TIMEOUT, "The task did not end within %d ms.", call->timeout_ms),
                    "The task goes on. Run `tasks wait` again."),
                true); /* the wait; the outcome of a task has its own word */
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
static const mishap_param asking_members[] = {
    ROW,
    { "questions", MISHAP_OBJECT, .help = "What it asks, if its state is `asking`" },
    { 0 },
};
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
static const mishap_param reply_params[] = {
    { "id", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 100 },
      .help = "The id of the task" },
    { "answers", MISHAP_OBJECT, .required = true, .placeholder = "JSON",
      .help = "{\"QUESTION\":{…}}, or {\"QUESTION\":null} to decline" },
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
      .answers = asking_members,
      WAY },
    { .name = "tasks.wait",
      .summary = "Wait for a task to end, and exit as its operation did",
      .description =
          "The output and the exit code are those of the operation. Without "
          "--timeout-ms the command waits for as long as the task takes. If a task of "
          "a command asks a question, the command asks it at the terminal; without a terminal it "
          "fails with INPUT_REQUIRED.",
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
    { .name = "tasks.reply",
      .summary = "Answer what a task of a command asks",
      .description = "`tasks show` shows the questions. The task goes on with the last answer.",
      .params = reply_params,
      .run = run_reply,
      .answers = asking_members,
      .danger = MISHAP_MUTATING,
      .local = true,
      .resident = true,
      .group = "Server",
      .raises = MISHAP_RAISES(NOT_FOUND, CONFLICT, FORBIDDEN, NOT_CONFIGURED, UNAVAILABLE,
                              CONTENT_TOO_LARGE) },
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
