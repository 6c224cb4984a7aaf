/*
 * src/task: calls that outlive the request that made them, *tasks* (docs/tasks.md).
 *
 * A server has one process for them, `mishap-tasks`. A loop hands it a call of an operation that is
 * `.task`, if the caller takes a task. The process runs the call in a worker, as a loop would. If
 * the call ends in time, the loop gets the outcome, and nothing is stored. Otherwise the process
 * writes a row for it, and when that is durable the loop gets the id. The process writes the end of
 * the task, too, so no task depends on a loop, on a connection or on a request.
 *
 *     id.c       ids, which prove their owner
 *     owners.c   how much each caller has
 *     message.c  messages between a loop and the process
 *     life.c     what becomes of a task: it waits, runs, ends
 *     ask.c      … and asks its caller: then only its row is left
 *     keep.c     … and is stored: rows are written in batches
 *     look.c     … and is asked for, cancelled and removed
 *     watch.c    … and is followed until its end
 *     postpone.c … unless its loop has much to read: then an outcome waits
 *     process.c  the process: its connections and its clock
 *     parent.c   … and the supervisor, which starts it again
 *     questions.c  what a task asks, as bytes; and answers to it
 *     folder.c   the name of a data folder, and who runs its tasks
 *     client/    the loop's end: its connection to the process
 *     commands/  the commands of the operator, and --detach
 *     store/     rows in a store (src/store): an engine, in the library of stores
 *
 * What becomes of a task when a process dies:
 *
 *     a worker    a task that may run again (safe or `.idempotent`, without secret parameters)
 * does, three times at most, with the same id of its call; any other one has failed the keeper  the
 * same: its workers die with it a loop      nothing; a call that is no task yet ends, as any call
 * of that loop this one    its successor reads the rows: a task that had not begun waits as before;
 * one that had begun runs again if it may, else it has failed, with an incident the server  the
 * same, when it starts again
 *
 * So no task runs twice that may not: its row says that it begins before it does.
 *
 * A task that asks is a row and nothing else. The row has the call with the answers so far, and the
 * open questions. Each process that gets an answer changes the row, if it has not changed since it
 * was read: so each answer counts once. If nothing is open any more, the task is queued again, and
 * the process of its data folder takes it.
 */
#ifndef MISHAP_TASK_TASK_H
#define MISHAP_TASK_TASK_H

#include "operation/asking.h"
#include "worker/serving/served.h"

enum {
    MISHAP_TASK_KEY = 22,   /* characters of an id that name the row: 131 random bits */
    MISHAP_TASK_PROOF = 21, /* … and those that prove its owner: 126 bits */
    MISHAP_TASK_ID = MISHAP_TASK_KEY + MISHAP_TASK_PROOF,
    MISHAP_TASK_OWNER = 320, /* bytes of an owner, at most */
    MISHAP_TASK_SECRET = 32,
    MISHAP_TASK_FORMAT =
        2,                 /* of calls and outcomes in rows: raised when worker/wire/frame.h changes
                              how it writes them. Rows of another format cannot be read any more */
    MISHAP_TASK_TRIES = 3, /* runs of a task that may run again */
    MISHAP_TASK_POLL_MS = 1000,      /* how often a client should ask */
    MISHAP_TASK_OUTCOME = 128 << 20, /* bytes of an outcome, at most */
};

typedef enum mishap_task_state {
    MISHAP_TASK_QUEUED,
    MISHAP_TASK_RUNNING,
    MISHAP_TASK_SUCCEEDED, /* this one and those after it have ended */
    MISHAP_TASK_FAILED,
    MISHAP_TASK_CANCELLED, /* … up to this one */
    MISHAP_TASK_ASKING,    /* it has open questions. The last: rows have these numbers */
    MISHAP_TASK_STATES,
} mishap_task_state;

extern const char *const mishap_task_state_words[MISHAP_TASK_STATES + 1];

static inline bool mishap_task_has_ended(mishap_task_state state)
{
    return state >= MISHAP_TASK_SUCCEEDED && state <= MISHAP_TASK_CANCELLED;
}

/* -- rows: an engine --------------------------------------------------------------------------- */

/* A task as it is stored. Text belongs to what hands it over. */
typedef struct mishap_task_row {
    mishap_text key; /* the first part of its id */
    mishap_text owner, operation;
    mishap_text server;   /* the data folder whose server runs it */
    mishap_text incident; /* the id of the request, and of a failure */
    mishap_task_state state;
    bool again;  /* it may run again if its process has died */
    bool cancel; /* a command has cancelled it */
    int attempts;
    int rounds; /* how often it has asked */
    int64_t made_ms, changed_ms;
    int64_t scopes;      /* a mark of the program's list of scopes when it was made */
    mishap_text call;    /* no data: it is not stored */
    mishap_text outcome; /* … or there is none yet. Of a task that asks: its open questions */
    mishap_text mark;    /* for the next run; no data: none */
} mishap_task_row;

typedef enum mishap_task_change_kind {
    MISHAP_TASK_ADD,    /* a row; one that is there and has not ended gets the same state */
    MISHAP_TASK_BEGIN,  /* `key` runs from now on: state, attempts, changed_ms, mark */
    MISHAP_TASK_MARK,   /* `key` has another mark */
    MISHAP_TASK_PAUSE,  /* `key` asks: state, call, outcome, rounds, changed_ms, mark */
    MISHAP_TASK_END,    /* `key` has ended: state, outcome, changed_ms; its mark is removed. Only
                         * the first end counts */
    MISHAP_TASK_CANCEL, /* `key` is to be cancelled, by its server */
    MISHAP_TASK_REMOVE, /* `key` is forgotten, if it has ended */
    MISHAP_TASK_EXPIRE, /* … and all that have ended before changed_ms; of one owner, if it has text
                         */
    MISHAP_TASK_CHANGES,
} mishap_task_change_kind;

typedef struct mishap_task_change {
    mishap_task_change_kind kind;
    mishap_task_row row;
} mishap_task_change;

typedef enum mishap_task_find {
    MISHAP_TASK_ONE,        /* whose key is `text` */
    MISHAP_TASK_STATE,      /* … without mark and rounds; call and outcome only if it asks */
    MISHAP_TASK_UNFINISHED, /* of the server `text`, the oldest first */
    MISHAP_TASK_CANCELLING, /* … those that are to be cancelled */
    MISHAP_TASK_DETACHED, /* … of commands, made since `number`; those that were answered since */
    MISHAP_TASK_NEWEST,   /* `number` of them, the newest first; without call and outcome */
    MISHAP_TASK_OVERDUE,  /* of the server `text`: some that ask since `number`, or are to be
                             cancelled */
    MISHAP_TASK_OVERDUE_HERE, /* … of commands */
    MISHAP_TASK_ASKING_OF,    /* some that ask, of callers of the name `text` */
    MISHAP_TASK_FINDS,
} mishap_task_find;

typedef struct mishap_task_rows mishap_task_rows;

/* Each row that was found; its text lives until the function returns. */
typedef void mishap_task_each(void *context, const mishap_task_row *row);
typedef void mishap_task_each_owner(void *context, mishap_text owner, int64_t count, int64_t bytes);

/* Where rows are. A program hands one in (`.task_store` of its mishap_app). */
struct mishap_task_engine {
    /* Open the rows at an address of a store; NULL: an SQLite file in this folder. */
    mishap *(*open)(const char *address, const char *folder, mishap_task_rows **out);
    void (*close)(mishap_task_rows *rows); /* NULL: nothing happens */

    /* Make all of these changes durable, or none. Doing so a second time changes nothing. */
    mishap *(*apply)(mishap_task_rows *rows, const mishap_task_change *changes, size_t count);
    mishap *(*find)(mishap_task_rows *rows, mishap_task_find what, mishap_text text, int64_t number,
                    mishap_task_each *each, void *context);
    mishap *(*count)(mishap_task_rows *rows, mishap_task_each_owner *each, void *context);

    /* Change a task that asks, unless its row has changed since: `*done` is false if it has, or if
     * it does not ask any more. All of the state, outcome, rounds, attempts and changed_ms; the
     * call, if it has data. The mark stays, unless the task has ended. `seen_ms` is changed_ms of
     * the row as it was read. */
    mishap *(*revise)(mishap_task_rows *rows, const mishap_task_row *row, int64_t seen_ms,
                      bool *done);

    /* The secret that ids are proved with, made when it is first asked for. All servers that share
     * a store have the same. */
    mishap *(*secret)(mishap_task_rows *rows, unsigned char secret[MISHAP_TASK_SECRET]);
};

/* -- ids --------------------------------------------------------------------------------------- */

/* Draw the key of a new id. */
void mishap_task_key_draw(char id[MISHAP_TASK_ID + 1]);
/* Complete an id whose key is there. */
void mishap_task_id_prove(const unsigned char secret[MISHAP_TASK_SECRET], mishap_text owner,
                          char id[MISHAP_TASK_ID + 1]);
/* True if it is an id of this owner. Takes the same time for every id of the right length. */
bool mishap_task_id_check(const unsigned char secret[MISHAP_TASK_SECRET], mishap_text owner,
                          mishap_text id);

/* Who makes a task, or asks for one. */
typedef struct mishap_task_asker {
    uint64_t number;    /* mishap_http_owner_of(); 0: a caller without a key and a name */
    const char *name;   /* of its key, or its own; NULL: none */
    mishap_text remote; /* its address */
} mishap_task_asker;

/* The owner as text, which no two callers share: number and name; without them the address, of IPv6
 * the network. A name that is too long is cut: its number is another one in any case. */
void mishap_task_owner_write(const mishap_task_asker *asker, char owner[MISHAP_TASK_OWNER + 1]);

/* True if what belongs to `owner` is the asker's. An owner without a key and a name has its address
 * for limits alone: its tasks belong to each such caller that has their ids. */
bool mishap_task_owner_is(mishap_text owner, mishap_text asker);

/* -- outcomes ---------------------------------------------------------------------------------- */

/* An outcome as bytes, for a row or a message: the payload of a frame (worker/wire/frame.h). A call
 * that was never made has only a failure. Appends; without memory the buffer fails. */
void mishap_task_put_outcome(mishap_buffer *out, const mishap_call *call, const mishap *failure);

/* Make the call of a task again, for reading its outcome alone, and read the outcome. `bytes` may
 * have no data: then the call has no arguments. A failure of its own: the bytes are of no use. */
mishap *mishap_task_remake(const mishap_app *app, const mishap_operation *operation,
                           mishap_text bytes, mishap_text outcome, mishap_call **call,
                           mishap **failure);

/* -- questions (questions.c) ------------------------------------------------------------------- */

/* A question that a task asks. `asked.message` says what was wrong with the last answer, too;
 * `plain` is the part before that. */
typedef struct mishap_task_question {
    mishap_asked asked;
    mishap_text plain;
    unsigned number; /* the round in which it was asked */
} mishap_task_question;

typedef struct mishap_task_questions {
    size_t count;
    mishap_task_question list[MISHAP_ASKING_QUESTIONS];
} mishap_task_questions;

/* As bytes, for a row or a message, and back. What was read points into the bytes. False: it is not
 * sound, or the operation does not declare any of these questions any more. */
void mishap_task_questions_put(mishap_buffer *out, const mishap_task_questions *questions);
bool mishap_task_questions_take(mishap_text bytes, const mishap_operation *operation,
                                mishap_task_questions *questions);

/* The key of a question for clients of MCP: no other question of the task has it, and neither has
 * the same question when it is asked again. */
void mishap_task_question_put_key(mishap_buffer *out, const mishap_task_question *question);

/* Answers to a task. */
typedef struct mishap_task_given {
    mishap_answers_form form;
    unsigned scopes;     /* of the caller */
    mishap_text answers; /* an object, as it came. Of clients of MCP its members are keys */
} mishap_task_given;

/*
 * Hold answers against the row of a task, and change the row accordingly: to one that is queued
 * again with its answers, that asks on, or that has ended since it was asked too often. New text is
 * in the arena. The first failure: nothing was changed, since the task does not ask (CONFLICT), the
 * caller lacks a scope, or the answers are not what they should be. `*wrong`: what is wrong with
 * some of them, which are asked for again; NULL: nothing.
 */
mishap *mishap_task_give(const mishap_app *app, mishap_arena *arena, const mishap_task_given *given,
                         mishap_task_row *row, mishap **wrong);

mishap *mishap_task_asks_nothing(void); /* … and that CONFLICT */

/* Change a row to one that has ended with this failure. */
mishap *mishap_task_end_row(mishap_arena *arena, mishap_task_row *row, mishap_task_state state,
                            const mishap *failure);

/* Write a call as a row has it. False: there is no memory. */
bool mishap_task_put_call(mishap_buffer *out, const mishap_call *call, int limit_ms);

/* Copy a row that was found, and its text. False: there is no memory. */
bool mishap_task_copy_row(mishap_arena *arena, const mishap_task_row *row, mishap_task_row *copy);

/* The operation of a task; NULL: the program does not have it any more. */
const mishap_operation *mishap_task_operation(const mishap_app *app, mishap_text name);

/* -- the supervisor ---------------------------------------------------------------------------- */

typedef struct mishap_task_plan {
    mishap_served *served;
    const struct mishap_task_engine *engine;
    const char *address; /* of the store; NULL: in the data folder */
    size_t places;       /* tasks that run at once */
    int after_ms;        /* a call that runs for so long becomes a task */
    size_t most;         /* tasks of one caller */
    size_t most_bytes;   /* … and bytes of their calls and answers */
    int64_t keep_ms;     /* how long a task is kept after its end */
    int stop_ms;         /* how long tasks may take when the server stops */
    bool detached;       /* there is no server: the process ends when no task is left */
} mishap_task_plan;

/* Start the process: at once if there may be tasks, else when mishap_task_process_look() finds some
 * or the connection of a loop. The plan and its text must live as long as the server. */
mishap *mishap_task_process_start(const mishap_task_plan *plan);
int mishap_task_process_wakes(void); /* it can be read when a loop connects; -1: not waited for */
bool mishap_task_process_ended(int pid, int status);
void mishap_task_process_look(void);
void mishap_task_process_end(void);
int mishap_task_process_pid(void);      /* 0: none runs */
bool mishap_task_process_is_done(void); /* it has ended since no task is left */

/* -- a data folder ----------------------------------------------------------------------------- */

enum { MISHAP_TASK_SERVER = 32 };

/* The file of a program in a data folder, which has the name below; it exists when the program has
 * had tasks there. False: the path is too long. */
bool mishap_task_folder_file(const char *folder, const char *program, char *path, size_t size);

/* The name by which the rows of a program and a data folder are known in a store that others use,
 * too; made when it is first asked for. `*lock` belongs to the one process that runs their tasks;
 * -1: another one has it. `lock` NULL: it is not wanted. */
mishap *mishap_task_folder_name(const char *folder, const char *program,
                                char name[MISHAP_TASK_SERVER + 1], int *lock);

/* -- commands ---------------------------------------------------------------------------------- */

/* The owner of tasks that commands make. No caller of a server is it. */
#define MISHAP_TASK_BY_COMMAND "+command"

/* A task of the operation may run again; its call is not stored. */
bool mishap_task_may_repeat(const mishap_operation *operation);
bool mishap_task_has_secret(const mishap_operation *operation);

/* A mark of a list of scopes: scopes are bits in a call, which mean others if the list changes. */
int64_t mishap_task_scopes_mark(const mishap_app *app);

/* -- a loop ------------------------------------------------------------------------------------ */

typedef struct mishap_task_client mishap_task_client;

/* What a client is told of a task. Text lives until the function returns. */
typedef struct mishap_task_told {
    mishap_text id, operation, incident;
    mishap_task_state state;
    int64_t made_ms, changed_ms, keep_ms;
    bool cancel; /* it was cancelled, and runs on */
    bool has_progress;
    double done, total; /* total 0: unknown */
    mishap_text words;
    mishap_text call, outcome; /* if they were asked for and it has ended */
    mishap_text questions;     /* if it asks: mishap_task_questions_take() */
} mishap_task_told;

typedef enum mishap_task_reply_kind {
    MISHAP_TASK_DONE = 1, /* the call has ended: `outcome`; there is no task */
    MISHAP_TASK_TOLD,     /* a task: `told` */
    MISHAP_TASK_REMOVED,  /* it had ended, and is forgotten from now on */
    MISHAP_TASK_NONE,     /* there is no such task */
    MISHAP_TASK_REFUSED,  /* `failure`, which the reply keeps */
    MISHAP_TASK_DECLINED, /* there are no tasks now: the loop runs the call itself */
    MISHAP_TASK_LOST,     /* the process has died */
} mishap_task_reply_kind;

typedef struct mishap_task_reply {
    mishap_task_reply_kind kind;
    mishap_text outcome;
    mishap_task_told told;
    mishap *failure;
} mishap_task_reply;

/* A question that waits for its reply: a member of the boundary's own struct for it. `answered` is
 * called once, from mishap_task_client_turn(), unless it was left; the wait may be freed in it. One
 * that follows a task may be left in it instead, before the last reply. */
typedef struct mishap_task_wait {
    void (*answered)(struct mishap_task_wait *wait, const mishap_task_reply *reply);
    uint32_t number;
    bool stays; /* it follows a task: `answered` is called for each change, until its end */
    struct mishap_task_wait *next, *previous;
} mishap_task_wait;

mishap *mishap_task_client_open(mishap_task_client **out);
void mishap_task_client_close(mishap_task_client *client); /* no reply follows */

/* A descriptor to wait for, and the function to call when it can be read. */
int mishap_task_client_file(const mishap_task_client *client);
void mishap_task_client_turn(mishap_task_client *client);

/* Have a call run that was checked. `after_ms` -1: as the server was started. False: it cannot be
 * sent now, and the loop runs it itself. */
bool mishap_task_client_start(mishap_task_client *client, mishap_task_wait *wait,
                              const mishap_call *call, const mishap_task_asker *asker,
                              int after_ms);

typedef enum mishap_task_wish {
    MISHAP_TASK_SHOW,
    MISHAP_TASK_ANSWER, /* … with its outcome, if it has ended */
    MISHAP_TASK_STOP,   /* cancel it, unless it has ended */
    MISHAP_TASK_DROP,   /* cancel it, or remove it if it has ended */
    MISHAP_TASK_WATCH,  /* follow it: now and at each change, until its end */
    MISHAP_TASK_FOLLOW, /* … the last time with its outcome */
    MISHAP_TASK_WISHES,
} mishap_task_wish;

/* Ask for a task; cancel it, or remove it if it has ended. False: it cannot be sent now. */
bool mishap_task_client_ask(mishap_task_client *client, mishap_task_wait *wait,
                            mishap_task_wish wish, const mishap_task_asker *asker, mishap_text id);

/* Answer what a task asks. The reply has its new state, or says what is wrong. */
bool mishap_task_client_give(mishap_task_client *client, mishap_task_wait *wait,
                             const mishap_task_asker *asker, mishap_text id,
                             const mishap_task_given *given);

/* The caller has gone. A call that is no task yet is cancelled. */
void mishap_task_client_leave(mishap_task_client *client, mishap_task_wait *wait);

/* A caller was blocked: its tasks are cancelled. */
void mishap_task_client_block(mishap_task_client *client, const char *caller);

/* True if nothing follows this reply. */
bool mishap_task_reply_is_last(const mishap_task_wait *wait, const mishap_task_reply *reply);

#endif
