/*
 * `--detach`: a command stores its call as a task, prints the id and ends. The task runs in a
 * server that has the data folder; its process finds new rows of commands once a second. Otherwise
 * it runs in a supervisor that the command has forked, with a keeper and a process of tasks as a
 * server has them. That one ends when no task is left; while a server has the data folder it waits,
 * in case the server dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/system.h"
#include "incident/incident.h"
#include "operation/chosen.h"
#include "operation/call.h"
#include "task/commands/commands.h"
#include "task/task.h"

enum {
    PLACES = 4, /* as `serve --tasks` */
    MOST = 1000,
    MOST_BYTES = 64 << 20,
    KEEP_MS = 24 * 3600 * 1000,
    STOP_MS = 30000,
    LOOK_MS = 50,
    LOG_BYTES = 64 << 20,
};

/* -- the supervisor ---------------------------------------------------------------------------- */

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
    (void)number;
    told_to_end = 1;
}

/* A program that reads what the command prints must not wait for this process. */
static void leave_command(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    int nothing = open("/dev/null", O_RDWR);
    setsid();
    for (int file = STDIN_FILENO; file <= STDERR_FILENO && nothing >= 0; file++)
        dup2(nothing, file);
    close_range(3, ~0U, 0);
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGHUP, SIG_IGN);
    mishap_signals_survive();
    prctl(PR_SET_NAME, "mishap-detached");
}

static void look_after(mishap_served *served)
{
    int status;
    while (!told_to_end && !mishap_task_process_is_done()) {
        mishap_keeper_look(&served->keeper);
        for (pid_t pid; (pid = mishap_task_process_pid()) > 0 &&
                        waitpid(pid, &status, WNOHANG | WUNTRACED) == pid;)
            mishap_task_process_ended(pid, status);
        mishap_task_process_look();
        poll(NULL, 0, LOOK_MS);
    }
}

/* No caller waits for it: a failure is for the operator, and the task stays queued. */
static _Noreturn void run_detached(const mishap_app *whole, const char *folder, const char *store,
                                   const char *incident)
{
    static mishap_app app;
    static mishap_served served;
    static mishap_task_plan plan;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    leave_command();
    served = (mishap_served){ .app = &app,
                              .setup = { .data = folder },
                              .handlers = PLACES,
                              .log_bytes = LOG_BYTES,
                              .keeper.socket = -1 };
    plan = (mishap_task_plan){ .served = &served,
                               .engine = whole->task_store,
                               .address = store,
                               .places = PLACES,
                               .most = SIZE_MAX,
                               .most_bytes = SIZE_MAX,
                               .keep_ms = KEEP_MS,
                               .stop_ms = STOP_MS,
                               .detached = true };
    mishap *failure = mishap_app_choose(whole, NULL, &arena, &app);
    if (!failure)
        failure = mishap_served_begin(&served);
    if (!failure)
        failure = mishap_task_process_start(&plan);
    if (failure)
        mishap_incident_record(&(mishap_incident_entry){ .program = whole->name,
                                                         .version = whole->version,
                                                         .operation = "tasks",
                                                         .id = incident,
                                                         .failure = failure });
    else
        look_after(&served);
    mishap_task_process_end();
    mishap_served_end(&served);
    _exit(failure ? 1 : 0);
}

/* -- the command ------------------------------------------------------------------------------- */

struct held {
    int64_t count, bytes;
};

static void count_owner(void *context, mishap_text owner, int64_t count, int64_t bytes)
{
    struct held *held = context;
    if (mishap_text_equal(owner, (mishap_text)MISHAP_TEXT(MISHAP_TASK_BY_COMMAND)))
        *held = (struct held){ count, bytes };
}

static mishap *check_room(const struct mishap_task_engine *engine, mishap_task_rows *rows,
                          size_t bytes)
{
    struct held held = { 0, 0 };
    MISHAP_TRY(engine->count(rows, count_owner, &held));
    if (held.count < MOST && (uint64_t)held.bytes + bytes <= MOST_BYTES)
        return NULL;
    return mishap_suggest(mishap_raise(RATE_LIMITED,
                                       "There are %lld tasks of commands, which is all that are "
                                       "kept.",
                                       (long long)held.count),
                          "They are forgotten a day after their end.");
}

static mishap *add_row(const mishap_call *call, mishap_task_rows *rows, const char *server,
                       mishap_text payload, char id[MISHAP_TASK_ID + 1], int64_t now)
{
    const struct mishap_task_engine *engine = call->app->task_store;
    const mishap_text owner = MISHAP_TEXT(MISHAP_TASK_BY_COMMAND);
    unsigned char secret[MISHAP_TASK_SECRET];
    mishap_task_change change = { .kind = MISHAP_TASK_ADD,
                                  .row = { .key = { id, MISHAP_TASK_KEY },
                                           .owner = owner,
                                           .operation = mishap_text_of(call->operation->name),
                                           .server = mishap_text_of(server),
                                           .incident = call->request_id,
                                           .state = MISHAP_TASK_QUEUED,
                                           .again = mishap_task_may_repeat(call->operation),
                                           .made_ms = now,
                                           .changed_ms = now,
                                           .scopes = mishap_task_scopes_mark(call->app),
                                           .call = payload } };
    MISHAP_TRY(engine->secret(rows, secret));
    mishap_task_key_draw(id);
    mishap_task_id_prove(secret, owner, id);
    return engine->apply(rows, &change, 1);
}

static void put_answer(mishap_buffer *b, const mishap_call *call, const char *id, int64_t now)
{
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "id");
    mishap_json_string(b, mishap_text_of(id));
    MISHAP_JSON_KEY(b, "operation");
    mishap_json_string(b, mishap_text_of(call->operation->name));
    MISHAP_JSON_KEY(b, "state");
    mishap_json_string(b, mishap_text_of(mishap_task_state_words[MISHAP_TASK_QUEUED]));
    MISHAP_JSON_KEY(b, "created");
    mishap_buffer_put_char(b, '"');
    mishap_clock_put_timestamp(b, now);
    mishap_buffer_put_char(b, '"');
    mishap_json_close(b, '}');
}

static mishap *store_call(mishap_call *call, const char *folder, const char *store,
                          mishap_buffer *answer)
{
    const struct mishap_task_engine *engine = call->app->task_store;
    char server[MISHAP_TASK_SERVER + 1], id[MISHAP_TASK_ID + 1];
    int64_t now = mishap_clock_now_ms();
    mishap_buffer packed = { 0 };
    mishap_task_rows *rows = NULL;
    mishap *failure = mishap_task_folder_name(folder, call->app->name, server, NULL);
    if (!failure)
        failure = mishap_task_put_call(&packed, call, call->timeout_ms) ? NULL
                                                                        : mishap_out_of_memory();
    if (!failure)
        failure = engine->open(store, folder, &rows);
    if (!failure)
        failure = check_room(engine, rows, packed.length);
    if (!failure)
        failure = add_row(call, rows, server, mishap_buffer_text(&packed), id, now);
    if (!failure)
        put_answer(answer, call, id, now);
    engine->close(rows);
    mishap_buffer_release(&packed);
    return failure;
}

static bool name_folder(const mishap_call *call, const char *folder, char *room, size_t size)
{
    return folder ? (size_t)snprintf(room, size, "%s", folder) < size
                  : mishap_data_folder(call->app->name, room, size);
}

/* The child has its own copies of these names. */
void mishap_task_go_on(mishap_call *call, const char *folder, const char *store)
{
    char incident[MISHAP_ID_LENGTH + 1];
    mishap_id_make(incident);
    pid_t pid = fork();
    if (pid == 0)
        run_detached(call->app, folder, store, incident);
    if (pid < 0)
        mishap_warn(call, "No process could be started for the task: it waits for a server.");
}

mishap *mishap_task_detach(mishap_call *call, const char *folder, const char *store,
                           mishap_buffer *answer)
{
    static char room[4096];
    if (!name_folder(call, folder, room, sizeof room) || !mishap_system_make_folder(room))
        return mishap_raise(NOT_CONFIGURED, "The data folder cannot be created.");
    MISHAP_TRY(store_call(call, room, store, answer));
    mishap_task_go_on(call, room, store);
    return NULL;
}
