/*
 * The service: its settings, its store, and how calls are settled. On SQLite one process settles
 * up to 64 calls with one commit, each in a savepoint; only code of artifacts and reads that take
 * long run elsewhere. On PostgreSQL each call is a transaction of its own, in any process of any
 * server.
 */
#include <strings.h>

#include "artifacts/request.h"
#include "python/python.h"

/* The state of the batch, in the process that settles. */
static struct {
    bool open;   /* a transaction is open */
    bool inside; /* … and in it the savepoint of a call */
} batch;

/* -- settling ---------------------------------------------------------------------------------- */

static mishap *begin_call(mishap_call *call)
{
    mishap_store *store = mishap_state(call);
    if (batch.inside) /* the call before it crashed */
        mishap_store_roll_back(store);
    batch.inside = false;
    if (!batch.open)
        MISHAP_TRY(mishap_store_begin(store));
    batch.open = true;
    MISHAP_TRY(mishap_store_begin(store));
    batch.inside = true;
    return NULL;
}

static mishap *end_call(mishap_call *call, bool keep)
{
    mishap_store *store = mishap_state(call);
    mishap *failure = NULL;
    if (!batch.inside)
        return NULL;
    if (keep)
        failure = mishap_store_commit(store);
    else
        mishap_store_roll_back(store);
    batch.inside = false;
    return failure;
}

static mishap *settle_calls(void *state)
{
    if (!batch.open)
        return NULL;
    batch.open = false;
    MISHAP_TRY(mishap_store_commit(state));
    artifacts_purge_if_due(state, artifacts_now());
    return NULL;
}

/* Shows whether code can be run at all. */
static const mishap_operation trial = { "artifacts.trial", "Run some code",
                                        .run = artifacts_try_code, .service = &artifacts_service };

static const mishap_trial code_trial = { &trial, "{}", "result", "3" };

static bool is_method_apart(const char *artifact, const char *method)
{
    const artifacts_genesis *genesis = artifacts_genesis_find(artifact);
    if (!genesis)
        return strcmp(method, "run") == 0;
    for (const artifacts_method *m = genesis->methods; m->name; m++)
        if (strcmp(m->name, method) == 0)
            return m->apart;
    return false;
}

/* True if a call takes long: it runs the code of an artifact, or reads much. */
static bool is_call_apart(const mishap_call *call)
{
    const char *name = mishap_operation_name(call);
    return strcmp(name, trial.name) == 0 ||
           (strcmp(name, "artifacts.invoke") == 0 &&
            is_method_apart(mishap_string(call, "artifact"), mishap_string(call, "method")));
}

static const mishap_settlement settlement = {
    .begin = begin_call, .end = end_call, .settle = settle_calls, .apart = is_call_apart
};

/* With PostgreSQL, calls run in parallel: only code that runs long is set apart. */
static const mishap_settlement apart_alone = { .apart = is_call_apart };

/* -- opening ----------------------------------------------------------------------------------- */

static mishap *prepare_artifacts(const mishap_setup *setup)
{
    const char *address = mishap_string(setup->settings, "store");
    bool embedded = !address || (strncasecmp(address, "postgresql:", 11) != 0 &&
                                 strncasecmp(address, "postgres:", 9) != 0);
    artifacts_embed(embedded);
    artifacts_service.settlement = embedded ? &settlement : &apart_alone;
    return NULL;
}

static mishap *open_service(const mishap_setup *setup, void **state)
{
    mishap_store *store = NULL;
    memset(&batch, 0, sizeof batch);
    artifacts_purge_begin(mishap_integer(setup->settings, "keep_events"),
                          mishap_integer(setup->settings, "keep_days"));
    mishap *failure = mishap_store_open_service(setup, &artifacts_schema, &store);
    if (!failure && !setup->identity)
        failure = artifacts_genesis_fill(store, mishap_string(setup->settings, "genesis"));
    if (failure) {
        mishap_store_close(store);
        store = NULL;
    }
    *state = store;
    return failure;
}

static void close_service(void *state)
{
    python_cool();
    mishap_store_close(state);
}

static const char *identity_of(void *state)
{
    return mishap_store_identity(state);
}

/* Reports whether code can be run here. */
static void tell_health(const mishap_setup *setup, mishap_health *out)
{
    python_service.health(setup, out);
}

static const mishap_param settings[] = {
    MISHAP_STORE_SETTING,
    { "genesis", MISHAP_STRING, .length = { 1, 4000 }, .file = true, .placeholder = "FILE",
      .help =
          "Who has what in a new store, as JSON; by default alice and bob have 100 scrip each" },
    { "auction_seconds", MISHAP_INTEGER, .range = { 1, 86400 * 365 }, .initial = "60",
      .placeholder = "N", .help = "How long an auction of the mint lasts after its first bid" },
    { "auction_bidders", MISHAP_INTEGER, .range = { 0, 1000000 }, .initial = "0",
      .placeholder = "N",
      .help = "How many principals bid until an auction ends before its time; 0: any number" },
    { "keep_events", MISHAP_INTEGER, .range = { 1, INT64_C(1) << 40 }, .initial = "1000000",
      .placeholder = "N", .help = "How many events the log has; older ones are removed" },
    { "keep_days", MISHAP_INTEGER, .range = { 1, 36500 }, .initial = "30", .placeholder = "N",
      .help = "For how many days the log has an event" },
    { "run_seconds", MISHAP_NUMBER, .range = { 0.1, 20 }, .initial = "5", .placeholder = "N",
      .help = "How long the code of an artifact may run" },
    { 0 },
};

mishap_service artifacts_service = {
    .name = "artifacts",
    .summary = "A ledger, a mint, an escrow and a store of artifacts",
    .open = open_service,
    .close = close_service,
    .identity = identity_of,
    .dialect = "artifact",
    .http_dialect = "artifact",
    .names_callers = true,
    .settings = settings,
    .health = tell_health,
    .trial = &code_trial,
    .prepare = prepare_artifacts,
    .settlement = &settlement,
    .raises = MISHAP_RAISES(UNAVAILABLE, INSUFFICIENT_STORAGE),
};
