/* A program whose services are run by tests/worker/foreign.c, for tests: its path is in
 * FOREIGN_PROGRAM. */
#ifndef MISHAP_TESTS_ABROAD_H
#define MISHAP_TESTS_ABROAD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "mishap/worker.h"

static inline mishap *abroad_ended(const mishap_foreign_end *end)
{
    mishap *m = end->timed_out ? mishap_raise(TIMEOUT, "%s took too long.", end->operation)
                               : mishap_raise(RUNTIME_ERROR, "The evaluator has ended.");
    return mishap_tell(m, "fresh", true);
}

static inline mishap *abroad_unusable(void)
{
    return mishap_suggest(mishap_raise(NOT_CONFIGURED, "There is no evaluator on this machine."),
                          "Install the package evaluator.");
}

static const char *const abroad_ready[] = { "ready", NULL };
static const char *const abroad_unready[] = { "unready", NULL };
static const char *const abroad_gone[] = { "gone", NULL };

static const char *const abroad_readable[] = { MISHAP_SANDBOX_LIBRARIES, NULL };
static const mishap_sandbox_profile abroad_profile = { .readable = abroad_readable,
                                                       .temporary_bytes = 1 << 20,
                                                       .memory_bytes = 256 << 20,
                                                       .address_bytes = 512 << 20 };

static const mishap_foreign_code abroad_code = { .raises = MISHAP_RAISES(RUNTIME_ERROR),
                                                 .context = MISHAP_CHOICES("line"),
                                                 .type = "Error" };

/* How long a process may take to stop: a busy machine needs seconds for those that do. Tests of
 * those that do not set the short time. */
enum { ABROAD_GRACE_MS = 120000, ABROAD_SHORT_GRACE_MS = 300 };

static mishap_foreign abroad_pool = { .arguments = abroad_ready, .grace_ms = ABROAD_GRACE_MS },
                      abroad_once = { .arguments = abroad_ready, .once = true },
                      abroad_kept = { .arguments = abroad_ready,
                                      .grace_ms = ABROAD_GRACE_MS,
                                      .sessions = true,
                                      .ended = abroad_ended },
                      abroad_boxed = { .arguments = abroad_ready,
                                       .sandbox = &abroad_profile,
                                       .grace_ms = ABROAD_GRACE_MS,
                                       .sessions = true },
                      abroad_coded = { .arguments = abroad_ready,
                                       .grace_ms = ABROAD_GRACE_MS,
                                       .code = &abroad_code },
                      abroad_bad = { .arguments = abroad_unready },
                      abroad_dead = { .arguments = abroad_gone },
                      abroad_none = { .usable = abroad_unusable };

/* Before anything is started. */
static inline void abroad_begin(void)
{
    const char *program = getenv("FOREIGN_PROGRAM"), *idle = getenv("FOREIGN_IDLE_MS"),
               *most = getenv("FOREIGN_MOST"), *grace = getenv("FOREIGN_GRACE_MS");
    mishap_foreign *const all[] = { &abroad_pool, &abroad_once, &abroad_kept, &abroad_boxed,
                                    &abroad_bad,  &abroad_dead, &abroad_none, &abroad_coded };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i]->program = program;
    if (idle)
        abroad_kept.idle_ms = abroad_kept.unnamed_ms = (int)strtol(idle, NULL, 10);
    if (grace)
        abroad_kept.grace_ms = (int)strtol(grace, NULL, 10);
    if (most)
        abroad_kept.most_sessions = (int)strtol(most, NULL, 10);
}

static const mishap_service
    service_pool = { "pool", .summary = "Processes for any call", .worker = &abroad_pool },
    service_once = { "once", .summary = "A process for each call", .worker = &abroad_once },
    service_kept = { "kept", .summary = "A process for each session", .worker = &abroad_kept,
                     .dialect = "condition-report" },
    service_boxed = { "boxed", .summary = "In a sandbox", .worker = &abroad_boxed },
    service_coded = { "coded", .summary = "It runs code of callers", .worker = &abroad_coded },
    service_bad = { "bad", .summary = "It cannot start", .worker = &abroad_bad },
    service_dead = { "dead", .summary = "It dies at its start", .worker = &abroad_dead },
    service_none = { "none", .summary = "It is not there", .worker = &abroad_none };

#define ABROAD_OPERATIONS(service_name, session_param, session_answer)                             \
    { #service_name ".count",                                                                      \
      "Count",                                                                                     \
      .run = mishap_foreign_run,                                                                   \
      .service = &service_##service_name,                                                          \
      .route = "POST /" #service_name "/count",                                                    \
      .raises = MISHAP_RAISES(NOT_FOUND),                                                          \
      .params = MISHAP_PARAMS({ "by", MISHAP_INTEGER, .initial = "1" } session_param),             \
      .answers = MISHAP_PARAMS({ "n", MISHAP_INTEGER, .help = "Sum" },                             \
                               { "pid", MISHAP_INTEGER, .help = "Process" } session_answer) },     \
        { #service_name ".echo",                                                                   \
          "Echo",                                                                                  \
          .run = mishap_foreign_run,                                                               \
          .service = &service_##service_name,                                                      \
          .route = "POST /" #service_name "/echo",                                                 \
          .raises = MISHAP_RAISES(NOT_FOUND),                                                      \
          .params = MISHAP_PARAMS({ "text", MISHAP_STRING, .help = "Text" },                       \
                                  { "depth", MISHAP_INTEGER, .initial = "3" } session_param) },    \
        { #service_name ".fail",                                                                   \
          "Fail",                                                                                  \
          .run = mishap_foreign_run,                                                               \
          .service = &service_##service_name,                                                      \
          .route = "POST /" #service_name "/fail",                                                 \
          .raises = MISHAP_RAISES(TYPE_ERROR, NOT_FOUND),                                          \
          .params = MISHAP_PARAMS({ "text", MISHAP_STRING, .help = "Text" } session_param) },      \
        { #service_name ".do",                                                                     \
          "Misbehave",                                                                             \
          .run = mishap_foreign_run,                                                               \
          .service = &service_##service_name,                                                      \
          .route = "POST /" #service_name "/do",                                                   \
          .raises = MISHAP_RAISES(NOT_FOUND, RUNTIME_ERROR),                                       \
          .params = MISHAP_PARAMS({ "way", MISHAP_STRING, .required = true } session_param),       \
          .answers = MISHAP_PARAMS({ "n", MISHAP_INTEGER, .help = "Sum" }),                        \
          .timeout_ms = 120000 },                                                                  \
    {                                                                                              \
#service_name ".late", "Misbehave until the time is over",                                 \
            .run = mishap_foreign_run, .service = &service_##service_name,                         \
            .route = "POST /" #service_name "/late",                                               \
            .raises = MISHAP_RAISES(NOT_FOUND, RUNTIME_ERROR),                                     \
            .params = MISHAP_PARAMS({ "way", MISHAP_STRING, .required = true } session_param),     \
            .answers = MISHAP_PARAMS({ "n", MISHAP_INTEGER, .help = "Sum" }), .timeout_ms = 1000   \
    }

static inline mishap *do_local(mishap_call *call)
{
    return mishap_answer_member(call, "n", 42);
}

#define ABROAD_NOTHING
#define ABROAD_SESSION    , MISHAP_SESSION_PARAM
#define ABROAD_SESSION_IS , MISHAP_SESSION_ANSWER

static const mishap_operation abroad_operations[] = {
    ABROAD_OPERATIONS(pool, ABROAD_NOTHING, ABROAD_NOTHING),
    ABROAD_OPERATIONS(once, ABROAD_NOTHING, ABROAD_NOTHING),
    ABROAD_OPERATIONS(kept, ABROAD_SESSION, ABROAD_SESSION_IS),
    ABROAD_OPERATIONS(boxed, ABROAD_SESSION, ABROAD_SESSION_IS),
    ABROAD_OPERATIONS(coded, ABROAD_NOTHING, ABROAD_NOTHING),
    ABROAD_OPERATIONS(bad, ABROAD_NOTHING, ABROAD_NOTHING),
    ABROAD_OPERATIONS(dead, ABROAD_NOTHING, ABROAD_NOTHING),
    ABROAD_OPERATIONS(none, ABROAD_NOTHING, ABROAD_NOTHING),
    { "pool.local", "Needs no other program", .run = do_local, .service = &service_pool,
      .route = "GET /pool/local" },
    { 0 },
};

static const mishap_app abroad_app = { "abroad", "1.0", "Foreign programs as workers",
                                       .operations = abroad_operations };

#endif
