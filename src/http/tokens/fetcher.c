/* The process `mishap-issuers`: when it fetches; and the supervisor, which starts it again. */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/shared.h"
#include "http/tokens/fetch.h"
#include "incident/logs.h"
#include "server/child.h"

enum { TURN_MS = 250 };

/* How many tokens had a key that is not in the set of their issuer; written by loops. */
struct wanted {
    _Atomic uint32_t of[MISHAP_HTTP_MOST_ISSUERS];
};

static void run_fetcher(void);

static struct {
    const mishap_http_issuers *issuers; /* NULL: nothing is fetched */
    const char *program;
    struct wanted *wanted;
    mishap_http_child child;
} fetcher = { .child = { .name = "mishap-issuers", .run = run_fetcher } };

void mishap_http_want_keys(size_t issuer)
{
    if (fetcher.wanted)
        atomic_fetch_add_explicit(&fetcher.wanted->of[issuer], 1, memory_order_relaxed);
}

/* -- the process ------------------------------------------------------------------------------- */

/* The state of one issuer. */
struct source {
    uint32_t seen; /* … of `wanted` */
    int64_t fetched_ns, due_ns;
    bool failing;
};

/* A line when trouble begins, and one when it ends. */
static void tell(struct source *source, const struct mishap_http_issuer *issuer,
                 const mishap *failure)
{
    if (failure && !source->failing)
        mishap_log_say("%s: the key set of the issuer %.*s could not be fetched: %s The last good "
                       "one is used until it can be.\n",
                       fetcher.program, (int)issuer->url.length, issuer->url.data,
                       mishap_told(failure)->message.data);
    else if (!failure && source->failing)
        mishap_log_say("%s: the key set of the issuer %.*s was fetched\n", fetcher.program,
                       (int)issuer->url.length, issuer->url.data);
    source->failing = failure;
}

static bool is_due(const struct source *source, uint32_t wanted, int64_t now_ns)
{
    const int64_t pause_ns = MISHAP_FETCH_UNKNOWN_S * INT64_C(1000000000);
    return now_ns >= source->due_ns ||
           (wanted != source->seen && now_ns - source->fetched_ns >= pause_ns);
}

static void look_at_source(struct source *source, mishap_client *client, size_t i)
{
    const struct mishap_http_issuer *issuer = &fetcher.issuers->list[i];
    uint32_t wanted = atomic_load_explicit(&fetcher.wanted->of[i], memory_order_relaxed);
    int64_t now_ns = mishap_clock_monotonic_ns(), for_s;
    if (!issuer->fetched || !is_due(source, wanted, now_ns))
        return;
    mishap *failure = mishap_fetch_keys(client, issuer, &for_s);
    tell(source, issuer, mishap_http_child_ends ? NULL : failure);
    mishap_free(failure);
    source->seen = wanted;
    source->fetched_ns = now_ns;
    source->due_ns = now_ns + for_s * INT64_C(1000000000);
}

static void run_fetcher(void)
{
    struct source sources[MISHAP_HTTP_MOST_ISSUERS] = { 0 };
    const mishap_client_settings settings = { .agent = "mishap", .stop = &mishap_http_child_ends };
    mishap_client *client = NULL;
    mishap *failure = mishap_client_open(&settings, &client);
    if (failure) {
        mishap_log_say("%s: key sets of issuers cannot be fetched: %s\n", fetcher.program,
                       mishap_told(failure)->message.data);
        while (!mishap_http_child_ends)
            poll(NULL, 0, TURN_MS); /* another process would lack the same */
    }
    while (!mishap_http_child_ends) {
        for (size_t i = 0; i < fetcher.issuers->count && !mishap_http_child_ends; i++)
            look_at_source(&sources[i], client, i);
        if (!mishap_http_child_ends)
            poll(NULL, 0, TURN_MS);
    }
}

/* -- the supervisor ---------------------------------------------------------------------------- */

mishap *mishap_http_fetcher_prepare(const mishap_http_settings *settings, void **shared)
{
    const mishap_http_issuers *issuers = settings->issuers;
    bool any = false;
    *shared = NULL;
    for (size_t i = 0; issuers && i < issuers->count; i++)
        any = any || issuers->list[i].fetched;
    if (!any)
        return NULL;
    fetcher.wanted = mishap_shared_map(sizeof *fetcher.wanted);
    if (!fetcher.wanted)
        return mishap_out_of_memory();
    fetcher.issuers = issuers;
    fetcher.program = settings->program;
    mishap_http_child_want(&fetcher.child);
    *shared = &fetcher;
    return NULL;
}

void mishap_http_fetcher_look(void *shared)
{
    if (shared)
        mishap_http_child_look(&fetcher.child);
}

bool mishap_http_fetcher_ended(void *shared, int pid, int status)
{
    return shared && mishap_http_child_ended(&fetcher.child, pid, status);
}

void mishap_http_fetcher_dismiss(void *shared)
{
    if (!shared)
        return;
    mishap_http_child_dismiss(&fetcher.child);
    mishap_shared_unmap(fetcher.wanted, sizeof *fetcher.wanted);
    fetcher.wanted = NULL;
}
