/* The process of tasks: what its files share. It has one thread. */
#ifndef MISHAP_TASK_INSIDE_H
#define MISHAP_TASK_INSIDE_H

#include "task/message.h"
#include "task/task.h"
#include "worker/wire/frame.h"

enum {
    TASK_OWNERS = 4096,   /* of the table of owners */
    TASK_WORDS = 4096,    /* of the table of tasks by id */
    TASK_BATCH = 256,     /* changes that are committed together */
    TASK_MOST = 100000,   /* calls and tasks that have not ended, at most */
    TASK_MARKS_MS = 100,  /* marks are stored so often, at most */
    TASK_WATCHES = 16384, /* followers of tasks; of one caller a quarter */
    TASK_FULL = 4 << 20,  /* bytes that a connection has to send: with more, no outcome is added */
};
#define TASK_MS INT64_C(1000000)

/* A question for an outcome that waits until its connection has less to send. */
typedef struct task_postponed {
    struct task_postponed *next;
    uint32_t number;
    char id[MISHAP_TASK_ID + 1], owner[MISHAP_TASK_OWNER + 1];
} task_postponed;

/* A connection to a loop. */
typedef struct task_conn {
    struct task_conn *next;
    task_postponed *postponed; /* the oldest first */
    bool owes;                 /* a follower was not told something, since there is much to send */
    int socket;                /* -1: it was closed, and is freed soon */
    bool known;                /* it has said the secret */
    mishap_buffer in, out;
    size_t sent;
    bool waits_to_send;
} task_conn;

/* What a caller has: rows of the store, and what is going to be one. */
typedef struct task_owner {
    struct task_owner *chain; /* those with the same word */
    size_t count, bytes;      /* tasks; their calls and outcomes */
    size_t live;              /* tasks in memory that point here */
    size_t running;           /* … and have a place */
    char name[];
} task_owner;

typedef enum task_phase {
    TASK_WAITS, /* for its turn */
    TASK_MARKS, /* its row is to say that it begins */
    TASK_RUNS,
    TASK_ASKS,  /* its row is to say so, and is then all that is left of it */
    TASK_ENDED, /* its row is to say so */
} task_phase;

/* A call, or a task that has not ended as far as its row says. */
typedef struct task {
    mishap_run run; /* the first member */
    mishap_watcher watcher;
    mishap_turn turn;
    mishap_turns_caller *taken;
    int64_t taken_ns;
    struct task *next, *previous; /* all of them */
    struct task *chain;           /* those with the same word, once it is stored */

    char id[MISHAP_TASK_ID + 1]; /* "": it is no task yet */
    task_owner *owner;
    char incident[MISHAP_ID_LENGTH + 1];
    uint64_t holder;
    const mishap_operation *operation;
    mishap_buffer call, outcome;
    mishap_buffer mark; /* that its handler has set last */
    bool marked;        /* … and its row does not have it yet */
    task_phase phase;
    mishap_task_state state;
    bool adds;   /* its row is to be added with the next commit */
    bool stored; /* it has a row */
    bool unsure; /* … perhaps: whether its row was added is not known */
    bool again, secret, cancel;
    bool older; /* the program's list of scopes was another one when it was made */
    int attempts, rounds;
    int64_t made_ms, changed_ms, due_ns; /* due: when the call becomes a task */

    task_conn *from; /* the loop that waits for it; NULL: none */
    uint32_t number;

    uint32_t version; /* raised with each change that a caller can see */
    bool has_progress;
    double done, total;
    char words[200];
} task;

/* A caller follows a task. */
typedef struct task_watch {
    struct task_watch *next;
    task_conn *from; /* NULL: it is over, and freed soon */
    uint32_t number;
    char id[MISHAP_TASK_ID + 1], owner[MISHAP_TASK_OWNER + 1];
    bool whole;      /* the last time it is told the outcome, too */
    bool told, live; /* something was told; of a task of this process */
    uint32_t version;
    mishap_task_state state; /* as it was told */
    int64_t changed_ms, told_ns, row_ns;
} task_watch;

typedef struct tasks {
    const mishap_task_plan *plan;
    mishap_runner *runner;
    mishap_task_rows *rows; /* NULL: not open, or they are another process's */
    unsigned char secret[MISHAP_TASK_SECRET];
    char server[MISHAP_TASK_SERVER + 1]; /* the name of the data folder */
    bool revived; /* the rows that had not ended were read: there can be new ones */
    int lock;
    int epoll, listener;
    task_conn *conns;
    task *first; /* all */
    size_t count, running;
    task *words[TASK_WORDS];
    mishap_turns turns;
    task_owner *owners[TASK_OWNERS];
    task_watch *watches;
    bool news;                            /* a task has another version, or has ended */
    bool drained;                         /* a connection has room again for what it waits for */
    int64_t watch_ns;                     /* when a watch is due in any case */
    int64_t reads_ns;                     /* since when rows of other servers were read … */
    int reads;                            /* … so many times */
    bool changed;                         /* a change is to be committed */
    int64_t mark_ns, marked_ns;           /* when marks are to be stored, 0: there are no new ones;
                                             when some were last */
    int64_t retry_ns;                     /* the store has failed: when to try again */
    bool told;                            /* … and standard error says so */
    int64_t tick_ns, expire_ns, taken_ms; /* taken: when rows of commands were read last */
    bool ending;                          /* nothing more begins */
} tasks;

/* -- life.c ------------------------------------------------------------------------------------ */

void mishap_tasks_start(tasks *t, task_conn *from, uint32_t number,
                        const mishap_task_started *asked);
void mishap_tasks_left(tasks *t, const task_conn *from, uint32_t number);
void mishap_tasks_conn_gone(tasks *t, const task_conn *from);

/* A row of a server that was killed. */
void mishap_tasks_revive(tasks *t, const mishap_task_row *row);

/* Begin as many as there are places for. */
void mishap_tasks_schedule(tasks *t);

/* Its row says that it begins. */
void mishap_tasks_hand(tasks *t, task *x);

void mishap_tasks_cancel(tasks *t, task *x);
void mishap_tasks_free(tasks *t, task *x);

/* Marks that are due are a change to be committed. Returns when the next ones are. */
int64_t mishap_tasks_look_at_marks(tasks *t, int64_t now);

/* Calls whose time is over become tasks. Returns when the next one does. */
int64_t mishap_tasks_look_at_due(tasks *t, int64_t now);

task *mishap_tasks_find(tasks *t, mishap_text key);
void mishap_tasks_remember(tasks *t, task *x);

/* It has ended; takes the call, which may be NULL, and the failure. */
void mishap_tasks_finish(tasks *t, task *x, mishap_call *call, mishap *failure);
mishap *mishap_tasks_cancelled(void); /* the failure of a task that was cancelled */
void mishap_tasks_refuse(tasks *t, task_conn *from, uint32_t number,
                         mishap *failure); /* takes it */

/* No caller waits for a task, so its failure is recorded here. The call may be NULL. */
void mishap_tasks_record(const tasks *t, const char *incident, const mishap_operation *operation,
                         mishap_call *call, const mishap *failure);

/* -- questions.c ------------------------------------------------------------------------------- */

/* What was asked, on a call that was made again (mishap_call_remake), which gets copies of it. */
void mishap_task_prepare(mishap_call *call, const mishap_frame_call *asked);

/* -- ask.c ------------------------------------------------------------------------------------- */

/* A task whose run has ended with questions. Takes the call and the failure. */
void mishap_tasks_pause(tasks *t, task *x, mishap_call *call, mishap *failure);

/* Answers to a task that asks. */
void mishap_tasks_give(tasks *t, task_conn *from, uint32_t number, mishap_text owner,
                       mishap_text id, const mishap_task_given *given);

/* End a task that asks with this failure. `row` is what was read of it, and has its
 * end afterwards; `*done` is false if its row has changed since. */
mishap *mishap_tasks_end_asking(tasks *t, mishap_arena *arena, mishap_task_row *row,
                                mishap_task_state state, const mishap *failure, bool *done);

/* Those whose questions were open for too long; those of a caller that was blocked. */
mishap *mishap_tasks_end_overdue(tasks *t);
mishap *mishap_tasks_end_asking_of(tasks *t, mishap_text name);

/* -- owners.c ---------------------------------------------------------------------------------- */

/* NULL: there is no memory. It is valid until mishap_tasks_count(), or as long as a task points to
 * it. */
task_owner *mishap_tasks_owner_of(tasks *t, mishap_text name);
void mishap_tasks_owner_change(task_owner *owner, int count, int64_t bytes);

/* NULL: the owner may have one more task, with a call of so many bytes. */
mishap *mishap_tasks_owner_check(const tasks *t, const task_owner *owner, size_t bytes);

/* The bytes of its call that no row has, and that count for its caller until it has ended. */
size_t mishap_tasks_held_bytes(const task *x);

/* Count all rows of the store anew: other servers and commands write some, too. */
mishap *mishap_tasks_count(tasks *t);

/* -- keep.c ------------------------------------------------------------------------------------ */

/* Open the rows, unless another process has the data folder; and read those that have not ended. */
void mishap_tasks_open_rows(tasks *t);

/* Commit what has changed, and act on it. */
void mishap_tasks_commit(tasks *t);

/* Once a second: what a command has cancelled; what has expired. */
void mishap_tasks_tick(tasks *t, int64_t now);

/* A failure of the store; freed. */
void mishap_tasks_store_failed(tasks *t, mishap *failure);

/* -- look.c ------------------------------------------------------------------------------------ */

void mishap_tasks_ask(tasks *t, task_conn *from, uint32_t number, mishap_task_wish wish,
                      mishap_text owner, mishap_text id);
void mishap_tasks_tell(tasks *t, const task *x, mishap_task_told *told);

/* Cancel all tasks of a caller that was blocked. */
void mishap_tasks_block(tasks *t, mishap_text name);

/* How a row is told, without its call and outcome. */
mishap_task_told mishap_tasks_row_told(const tasks *t, const mishap_task_row *row, mishap_text id);

mishap *mishap_tasks_unreadable(void); /* the failure of a question about a task then */

/* False: the store has failed, and is tried again soon; until then no question waits for it. */
bool mishap_tasks_can_read(const tasks *t);

/* -- watch.c ----------------------------------------------------------------------------------- */

/* Follow a task whose id was checked. NULL: its replies come. */
mishap *mishap_tasks_watch(tasks *t, task_conn *from, uint32_t number, mishap_task_wish wish,
                           mishap_text owner, mishap_text id);
void mishap_tasks_unwatch(tasks *t, const task_conn *from, uint32_t number);
void mishap_tasks_watches_gone(tasks *t, const task_conn *from);

/* Once a turn: tell those that follow a task what is new. */
void mishap_tasks_tell_watches(tasks *t);

/* A task has changed so that its callers can see it. */
void mishap_tasks_note(tasks *t, task *x);

/* -- postpone.c -------------------------------------------------------------------------------- */

/* True if a loop has so much to read that no outcome is added. */
bool mishap_tasks_is_full(const task_conn *c);

/* False: the question need not wait, or there is no memory for that. */
bool mishap_tasks_postpone(task_conn *c, uint32_t number, mishap_task_wish wish, mishap_text owner,
                           mishap_text id);
void mishap_tasks_forget_postponed(task_conn *c, uint32_t number);
void mishap_tasks_release_postponed(task_conn *c);

/* Once a turn: answer as many of the postponed questions as there is room for. */
void mishap_tasks_ask_postponed(tasks *t, task_conn *c);

/* -- process.c --------------------------------------------------------------------------------- */

void mishap_tasks_end(void); /* as if the supervisor had said so */

/* Answer a question. A reply that is too long, or for which there is no memory, is replaced by a
 * refusal: false. */
bool mishap_tasks_reply(tasks *t, task_conn *to, uint32_t number, const mishap_task_reply *reply);

_Noreturn void mishap_task_process_run(const mishap_task_plan *plan, int keeper, int parent);

#endif
