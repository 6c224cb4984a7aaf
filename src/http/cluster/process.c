/*
 * The process `mishap-cluster`. It looks whether keys have changed several times per second, says
 * that this server is alive once per second, decides claims, and carries notices: at once while
 * there are any, else after a short pause. If the database does not answer, everything else goes
 * on: loops see that the keys were not confirmed, and notices are kept.
 */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base.h"
#include "http/cluster/inside.h"
#include "incident/logs.h"
#include "server/child.h"

enum {
    SOON_MS = 2,     /* between looks, while there are changes … */
    LOOK_MS = 10,    /* … and otherwise; those of others are looked at */
    QUIET_MS = 100,  /* … only so often then */
    LATELY_MS = 500, /* for so long after the last one */
    KEYS_MS = 250,
    ALL_KEYS_MS = 5000, /* the keys are read even if their version is the same: a row may have been
                           changed by hand */
    BEAT_MS = 1000,
    AGAIN_MS = 250, /* after a failure */
};

struct work {
    mishap_cluster *cluster; /* NULL: it is not open */
    cluster_notices *notices;
    cluster_rates rates;
    cluster_claims claims;
    cluster_handover handover;
    int64_t version; /* of the keys in the file */
    int64_t keys_due, all_due, beat_due, hear_due, changed;
    size_t odd;
    bool failing;
};

static int64_t now_ms(void)
{
    return mishap_clock_monotonic_ns() / 1000000;
}

/* A line when trouble begins, and one when it ends. */
static void tell_failure(struct work *w, const mishap *failure)
{
    const char *program = mishap_cluster_own.plan.program;
    if (failure && !w->failing) {
        mishap_text message = mishap_told(failure)->message;
        mishap_log_say("%s: the database of the cluster cannot be used: %.*s The last known API "
                       "keys are used for %lld seconds.\n",
                       program, (int)message.length, message.data,
                       (long long)(mishap_cluster_own.plan.keys_stale_ms / 1000));
    } else if (!failure && w->failing) {
        mishap_log_say("%s: the database of the cluster can be used again\n", program);
    }
    w->failing = failure;
}

/* The rows themselves are never shown. */
static void tell_odd(struct work *w, size_t odd)
{
    if (odd && odd != w->odd)
        mishap_log_say("%s: %zu rows of the tables `keys` and `blocks` of the cluster are no keys "
                       "and no names, and are left out\n",
                       mishap_cluster_own.plan.program, odd);
    w->odd = odd;
}

static mishap *look_at_keys(struct work *w, int64_t now)
{
    int64_t asked_ns = mishap_clock_monotonic_ns();
    int64_t version = now >= w->all_due ? -1 : w->version, before = version;
    size_t odd;
    mishap *failure = mishap_cluster_write_keys(w->cluster, &version, &odd);
    if (failure)
        return failure;
    if (before == -1)
        w->all_due = now + ALL_KEYS_MS;
    if (version != before)
        tell_odd(w, odd);
    w->version = version;
    /* Release: a loop that sees this time finds the file that was written before. */
    atomic_store_explicit(&mishap_cluster_own.page->confirmed_ns, asked_ns, memory_order_release);
    w->keys_due = now_ms() + KEYS_MS;
    return NULL;
}

static bool is_busy(const struct work *w, int64_t now)
{
    return w->changed && now - w->changed < LATELY_MS;
}

static mishap *carry_notices(struct work *w)
{
    bool any = false;
    mishap *failure = mishap_cluster_notices_turn(w->notices, w->cluster, &any);
    int64_t now = now_ms();
    if (any)
        w->changed = now;
    w->hear_due = is_busy(w, now) ? now : now + QUIET_MS;
    return failure;
}

/* What is done once a second. */
static mishap *beat_and_share(struct work *w)
{
    MISHAP_TRY(mishap_cluster_notices_beat(w->notices, w->cluster, w->rates.part));
    MISHAP_TRY(mishap_cluster_own.plan.engine->timelines(w->cluster));
    return mishap_cluster_rates_divide(&w->rates, w->cluster,
                                       mishap_cluster_notices_id(w->notices));
}

static mishap *do_what_is_due(struct work *w)
{
    const cluster_own *own = &mishap_cluster_own;
    mishap *failure = NULL;
    if (!w->cluster)
        failure = own->plan.engine->open(own->address, own->plan.data, &w->cluster);
    if (!failure)
        failure = mishap_cluster_claims_turn(&w->claims, w->cluster, now_ms());
    if (!failure)
        own->plan.engine->survey(w->cluster);
    if (!failure && now_ms() >= w->keys_due)
        failure = look_at_keys(w, now_ms());
    if (!failure && now_ms() >= w->beat_due) {
        failure = beat_and_share(w);
        w->beat_due = now_ms() + BEAT_MS;
    }
    if (!failure)
        failure = mishap_cluster_rates_lease(&w->rates, w->cluster, now_ms());
    if (!failure && (now_ms() >= w->hear_due || mishap_cluster_notices_wait(w->notices)))
        failure = carry_notices(w);
    if (!failure)
        failure = mishap_cluster_handover_turn(&w->handover, w->notices, w->cluster, now_ms());
    return failure;
}

/* The store connects again by itself; after this it does so in any case. */
static void close_after(struct work *w, const mishap *failure)
{
    if (!failure || mishap_told(failure)->retryable)
        return;
    mishap_cluster_own.plan.engine->close(w->cluster);
    w->cluster = NULL;
}

void mishap_cluster_run(void)
{
    struct work w = { .version = mishap_cluster_own.version };
    mishap_cluster_rates_begin(&w.rates);
    mishap_cluster_claims_fail(); /* of a process before this one: their rows may be there */
    w.notices = mishap_cluster_notices_make(mishap_cluster_own.news);
    while (!mishap_http_child_ends) {
        mishap *failure = w.notices ? do_what_is_due(&w) : mishap_out_of_memory();
        if (mishap_http_child_ends) {
            mishap_free(failure);
            break;
        }
        tell_failure(&w, failure);
        if (failure)
            mishap_cluster_handover_fail(&w.handover);
        if (!w.cluster)
            mishap_cluster_claims_fail();
        close_after(&w, failure);
        mishap_free(failure);
        poll(NULL, 0, w.failing ? AGAIN_MS : is_busy(&w, now_ms()) ? SOON_MS : LOOK_MS);
    }
    /* Loops outlive a supervisor that was killed, and may tell of changes yet. So this server does
     * not leave: the others notice that it is silent. */
    if (w.notices && w.cluster && getppid() == mishap_cluster_own.parent)
        mishap_free(mishap_cluster_notices_end(w.notices, w.cluster));
    mishap_cluster_own.plan.engine->close(w.cluster);
}
