/*
 * src/worker: child processes that run calls, one at a time, and can be killed at any moment
 * without harm to others. A folder for each process says where a line runs:
 *
 *     supervisor: owns the listening sockets; restarts keeper and loops
 *         keeper: forks workers on request, reaps them, kills them, reads their stacks
 *             worker, worker, …: one call at a time; each opens its service for itself
 *         loop, loop, …: read requests, check them, hand calls over, answer
 *
 * Each of these processes has one thread.
 *
 *     wire/     both ends of a connection: messages, and the page that a loop and a worker share
 *     spawn/    any process that starts another one: how a child begins, and why it could not
 *     command/  a command without a server: a foreign program for one call
 *     plan/     all processes of a server: which operations share a process, and the limits
 *     child/    inside of a worker: from frames to calls, and back; its last words
 *     keeper/   the keeper, and parent.c: the keeper as its parent sees it
 *     loop/     a loop: calls that wait, run and end; which worker is next; sessions; time
 *     serving/  supervisor and loops: what the boundaries of one server share
 *
 * Arrows between them point up in this list, from a folder to those above it (tests/house).
 *
 * Ownership: a worker is the child of the keeper, and only the keeper may reap, kill and ptrace it.
 * The connection between a worker and a loop, a socket and a page, belongs to these two. A call
 * belongs to the loop; the worker has a copy of its arguments.
 *
 * This header is what the boundaries that share one server have in common, though they do not know
 * each other: the program whose operations they call, how it was started, and the runner of its
 * calls.
 */
#ifndef MISHAP_WORKER_SERVING_SERVED_H
#define MISHAP_WORKER_SERVING_SERVED_H

#include "mishap/leaks.h"
#include "operation/news.h"
#include "worker/keeper/keeper.h"
#include "worker/loop/runner.h"
#include "worker/loop/standing.h"
#include "worker/wire/session_handles.h"

enum { MISHAP_CALLS_FOR_EACH_HANDLER = 64 }; /* calls that may wait or run at once */

typedef struct mishap_served {
    const mishap_app *app; /* with the services that are wanted: operation/chosen.h */
    int server_number;     /* of this server among those behind a load balancer; 0: none */
    const char *services;  /* … their names, separated by commas; NULL: all */
    uint64_t log_bytes;    /* the size at which the log of incidents is rotated; 0: never */
    bool log_json;         /* records go to standard error as JSON */
    mishap_setup setup;    /* the data folder */
    bool chaos;            /* with the operations of the chaos service, which fail on purpose */
    bool verbose;          /* the private side of a failure on stderr, too */
    int call_ms;           /* time limit of every handler; 0: as its operation declares */
    size_t message_limit;  /* bytes of a message to /mcp */
    bool full_schemas;     /* lists of MCP tools have everything, not only what a model needs */
    /* Calls that may wait or run at once; 0: depends on the number of handlers. */
    size_t most_calls;
    int caller_share; /* percent of these that one caller may have when others want some; 0: all */
    int handlers;     /* workers of a service in each loop, at most; 0: handlers run in the loop */

    /* What services report in /health, as JSON, collected once at the start. */
    mishap_buffer health;
    mishap_keeper_plan plan;
    mishap_keeper keeper;             /* in the supervisor */
    mishap_news *news;                /* changed resources, for all loops */
    struct mishap_handover *handover; /* sessions that other servers may go on with; NULL: none */
    mishap_standing *standing;        /* which services can be opened, for all loops */
    struct mishap_trials *trials;     /* which services work, for all loops */
    struct mishap_trying *trying; /* … in each process that serves: the trials that it runs now */
    mishap_sessions *sessions;    /* sessions of foreign programs, for all loops */
    struct mishap_permits *permits; /* permits to compute, for callers with many long calls */
    struct mishap_seal *seal;       /* of the state of calls that ask, for all loops */
    /* Shared with other servers: --secret (operation/shared_secret.h); NULL: there is none. */
    const struct mishap_shared_secret *secret;
    struct mishap_positions *positions; /* what callers have changed; NULL: no standby is used */
    struct mishap_crowd *crowd;         /* which callers there were lately, for all loops */
    int connection; /* the loop's end of the keeper connection, for the loop that is forked next */
    mishap_runner *runner; /* in each process that serves, used by the thread of its loop */
    struct mishap_task_client *tasks; /* the same (src/task); NULL: there are no tasks */
} mishap_served;

/* The parameters of a command that serves: which services, where handlers run, and the log.
 * mishap_served_read() (below) puts their values into `handlers`, `log_bytes` and the limits of the
 * plan. */
/* clang-format off */
#define MISHAP_SERVED_PARAMS                                                                       \
    { "service", MISHAP_STRING, .length = { 1, 1000 }, .placeholder = "NAME[,NAME]",               \
      .help = "Serve only the operations of these services; by default all operations" },          \
    { "sandbox", MISHAP_ENUM, .choices = mishap_sandbox_words, .help =                             \
      "strict: refuse operations that run foreign programs if this machine lacks a required "      \
      "layer of their sandbox; weak: run them without that layer (default: strict)" },             \
    { "handlers", MISHAP_INTEGER, .range = { 0, 256 }, .initial = "8", .placeholder = "N",         \
      .help = "Most processes that run handlers, for each service and loop; 0: handlers run in "   \
              "the server itself, for a debugger" },                                               \
    { "handler_batch", MISHAP_INTEGER, .range = { 1, 64 }, .initial = "64", .placeholder = "N",    \
      .help = "Most calls that share one commit, in services that commit calls in batches" },      \
    { "handler_memory_mb", MISHAP_INTEGER, .range = { 0, 1 << 20 }, .initial = "0",                \
      .placeholder = "N", .help = "Memory that a process of handlers may take, in MB; 0: any" },   \
    { "handler_files", MISHAP_INTEGER, .range = { 0, 1 << 20 }, .initial = "0",                    \
      .placeholder = "N", .help = "Files that a process of handlers may have open; 0: any" },      \
    { "handler_file_mb", MISHAP_INTEGER, .range = { 0, 1 << 20 }, .initial = "0",                  \
      .placeholder = "N", .help = "Size of a file that a handler may write, in MB; 0: any" },      \
    { "handler_cpu_seconds", MISHAP_INTEGER, .range = { 0, 1 << 30 }, .initial = "0",              \
      .placeholder = "N",                                                                          \
      .help = "Processor time that a process of handlers may use, all of its calls together; 0: "  \
              "any" },                                                                             \
    { "handler_processes", MISHAP_INTEGER, .range = { 0, 1 << 20 }, .initial = "0",                \
      .placeholder = "N",                                                                          \
      .help = "A handler can start a process only while its user has fewer than N processes on "   \
              "this machine; 0: no limit" },                                                       \
    { "log_max_mb", MISHAP_INTEGER, .range = { 0, 1 << 20 }, .initial = "64", .placeholder = "N",  \
      .help = "Size in MB at which the log file is renamed to FILE.1, and FILE.1 to FILE.2; 0: "   \
              "never" },                                                                           \
    { "guard", MISHAP_ENUM, .choices = mishap_leaks_guards,                                        \
      .help = "strict: replace also paths, internal addresses and source code in failures; "       \
              "normal: only record them" },                                                        \
    { "schemas", MISHAP_ENUM, .choices = mishap_schema_sizes, .initial = "\"brief\"",              \
      .help = "brief: lists of MCP tools have what a model needs; full: also the whole schemas "   \
              "of answers, all hints and all codes of each tool" },                                \
    { "log_format", MISHAP_ENUM, .choices = mishap_log_formats, .initial = "\"text\"",             \
      .help = "How failures are written to standard error with --verbose" }
/* clang-format on */
extern const char *const mishap_sandbox_words[];
extern const char *const mishap_log_formats[];
extern const char *const mishap_schema_sizes[];
void mishap_served_read(mishap_served *served, mishap_call *call);

/*
 * In the supervisor: make the plan, fork the keeper, and try each service in a worker. If handlers
 * run in the loop, only the services are tried. The failure can be told to the person who starts
 * the server.
 */
mishap *mishap_served_begin(mishap_served *served);
void mishap_served_end(mishap_served *served);

/* How many files a loop needs for its workers, the keeper, and stores of `.quick` handlers. */
size_t mishap_served_files(const mishap_served *served);

/* In a process that serves: make the runner, over a connection to the keeper. The runner owns
 * `connection`. From now on, changes that this process reports are published to all loops. */
mishap *mishap_served_open(mishap_served *served, int connection);
void mishap_served_close(mishap_served *served);

/* Iterate over the names of the services that cannot be opened now; NULL at the end. *at is 0 at
 * first. May be called in any process that serves. */
const char *mishap_served_unavailable(const mishap_served *served, size_t *at);

/* Ask each service for its part of /health: an object with one member for each service that has
 * something to report; empty if none has. */
void mishap_health_collect(const mishap_worker_groups *groups, const mishap_setup *setup,
                           mishap_buffer *json);

#endif
