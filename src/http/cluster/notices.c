/*
 * Notices: which addresses have changed at which server.
 *
 * Each server numbers its notices from 1 on, and writes them one after the other. So a reader that
 * has read number 7 expects 8. If 9 comes, or the heartbeat of that server names a later one that
 * is not there, a notice was lost: an old row was removed, or the database has crashed or failed
 * over. If a server is silent, its last changes may not have been sent. In all these cases the
 * clients of this server hear that anything may have changed. Nothing else can be lost: what could
 * not be written is kept until it can be.
 */
#include <string.h>

#include "base/base.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "http/cluster/inside.h"
#include "operation/changes.h"
#include "worker/serving/served.h"

enum {
    MOST_PENDING = 64 * 1024, /* bytes of changes that wait to be sent; beyond it: anything */
    DRAIN_EVERY = 64,         /* foreign changes between two looks at our own */
    KEPT_BEATS = 60,          /* so many seconds a notice can be read */
    PRUNE_BEATS = 10,
    MOST_READS = 16, /* of notices, in one look at the others */
};

/* Another server. Its `last` is the number of the notice that was read last. */
struct peer {
    mishap_cluster_peer at;
    bool fresh;   /* it has said nothing since it was found */
    bool present; /* it is in the list that was read last */
};

struct cluster_notices {
    int64_t id, last; /* of our last notice */
    int64_t changes;  /* of this server, that it has told */
    int64_t before[KEPT_BEATS];
    uint64_t beats;
    char timeline[MISHAP_CLUSTER_TIMELINE + 1];
    mishap_news *news;
    uint64_t seen;
    size_t heard; /* foreign changes since our own were looked at */
    mishap_buffer pending;
    bool any_pending; /* in place of all that is pending */
    bool any_heard;
    bool told_any; /* in this turn */
    struct peer peers[MISHAP_CLUSTER_PEERS];
    size_t count;
    bool listed; /* the servers were read once */
};

static const mishap_handover *handover(void)
{
    const mishap_served *served = mishap_cluster_own.served;
    return served ? served->handover : NULL;
}

/* Of this server, so far: those that were collected before are among them. */
static int64_t count_changes(void)
{
    return handover() ? handover()->changes(handover()->state) : 0;
}

cluster_notices *mishap_cluster_notices_make(mishap_news *news)
{
    cluster_notices *n = mishap_allocate(sizeof *n);
    if (!n)
        return NULL;
    *n = (cluster_notices){ .news = news, .seen = mishap_news_count(news) };
    while (!mishap_system_random(&n->id, sizeof n->id))
        continue; /* two servers must not have the same */
    n->id &= INT64_MAX;
    n->changes = count_changes();
    return n;
}

/* -- our own changes --------------------------------------------------------------------------- */

bool mishap_cluster_notices_wait(const cluster_notices *n)
{
    return n->pending.length || n->any_pending || n->seen != mishap_news_count(n->news);
}

/* Live tails of incidents look at the log of this server. */
static bool is_ours_alone(mishap_text address)
{
    return mishap_text_equal(address, (mishap_text)MISHAP_TEXT(MISHAP_NEWS_INCIDENTS));
}

static void collect(cluster_notices *n)
{
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text address;
    n->heard = 0;
    while (mishap_news_next_own(n->news, &n->seen, room, &address)) {
        if (!address.data || n->pending.length > MOST_PENDING) {
            n->any_pending = true;
        } else if (!is_ours_alone(address)) {
            mishap_buffer_put_text(&n->pending, address);
            mishap_buffer_put_char(&n->pending, '\0');
        }
    }
    if (n->pending.failed)
        n->any_pending = true;
    if (n->any_pending)
        mishap_buffer_release(&n->pending);
}

/* If the answer is lost, the row may be there: the same changes come again under the next number,
 * and a number that is missing is noticed. */
static mishap *send_own(cluster_notices *n, mishap_cluster *cluster, bool *any)
{
    static const char nothing[] = "";
    collect(n);
    if (!n->pending.length && !n->any_pending)
        return NULL;
    *any = true;
    mishap_text addresses = n->any_pending ? (mishap_text){ nothing, 1 }
                                           : mishap_buffer_text(&n->pending);
    mishap_cluster_notice notice = { n->id, ++n->last, n->changes, count_changes(), addresses };
    MISHAP_TRY(mishap_cluster_own.plan.engine->publish(cluster, &notice));
    n->changes = notice.changes;
    mishap_buffer_reset_within(&n->pending, MOST_PENDING);
    n->any_pending = false;
    return NULL;
}

/* -- those of others --------------------------------------------------------------------------- */

/* Other listeners, such as those of MCP, hear it on this process, too: they share memory. */
static void tell_any(cluster_notices *n)
{
    if (n->told_any)
        return;
    n->told_any = true;
    mishap_news_add_foreign(n->news, (mishap_text){ NULL, 0 });
    mishap_changes_tell((mishap_text){ NULL, 0 });
    mishap_changes_tell((mishap_text)MISHAP_TEXT(MISHAP_ADDRESS_LISTS));
}

bool mishap_cluster_next_address(mishap_text *row, mishap_text *address, bool *sound)
{
    const char *end = row->length ? memchr(row->data, '\0', row->length) : NULL;
    *sound = !row->length || end;
    if (!end)
        return false;
    *address = (mishap_text){ row->data, (size_t)(end - row->data) };
    row->data = end + 1;
    row->length -= address->length + 1;
    *sound = address->length > 0 && address->length <= MISHAP_ADDRESS_LIMIT &&
             mishap_utf8_valid_length(*address) == address->length;
    return *sound;
}

/* Sessions hear all addresses of a notice at once, so that a position has all of them or none. */
static void hear_row(cluster_notices *n, const mishap_cluster_notice *notice)
{
    mishap_text row = notice->addresses, address;
    bool sound;
    if (handover())
        handover()->hear(handover()->state, (uint32_t)notice->server, notice->changes, row);
    while (mishap_cluster_next_address(&row, &address, &sound)) {
        mishap_news_add_foreign(n->news, address);
        if (!handover())
            mishap_changes_tell(address);
        if (++n->heard >= DRAIN_EVERY)
            collect(n); /* before ours are no longer kept */
    }
    if (!sound)
        tell_any(n);
}

static struct peer *find_peer(cluster_notices *n, int64_t id)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->peers[i].at.id == id)
            return &n->peers[i];
    return NULL;
}

static void hear_notice(void *context, const mishap_cluster_notice *notice)
{
    cluster_notices *n = context;
    struct peer *peer = find_peer(n, notice->server);
    n->any_heard = true;
    if (!peer || notice->n <= peer->at.last)
        return;
    if (notice->n != peer->at.last + 1)
        tell_any(n);
    peer->at.last = notice->n;
    peer->at.changes = notice->changes;
    hear_row(n, notice);
}

static mishap *hear_others(cluster_notices *n, mishap_cluster *cluster, bool *any)
{
    mishap_cluster_peer peers[MISHAP_CLUSTER_PEERS];
    for (size_t i = 0; i < n->count; i++)
        peers[i] = n->peers[i].at;
    n->any_heard = n->told_any = false;
    mishap *failure = mishap_cluster_own.plan.engine->hear(cluster, peers, n->count, hear_notice,
                                                           n);
    *any = *any || n->any_heard;
    return failure;
}

mishap *mishap_cluster_notices_turn(cluster_notices *n, mishap_cluster *cluster, bool *any)
{
    *any = false;
    mishap *failure = send_own(n, cluster, any);
    return failure ? failure : hear_others(n, cluster, any);
}

/* -- which servers there are ------------------------------------------------------------------- */

/* One that was there before this server is of interest from now on; one that has come since, from
 * its first notice on. */
static void add_peer(cluster_notices *n, const mishap_cluster_peer *found)
{
    if (n->count == MISHAP_CLUSTER_PEERS)
        return;
    n->peers[n->count++] = (struct peer){ .at = { .id = found->id,
                                                  .last = n->listed ? 0 : found->last,
                                                  .changes = n->listed ? 0 : found->changes,
                                                  .silent = found->silent },
                                          .present = true };
}

/* Called after all rows were read that there were when `found` was read. */
static void judge_peer(cluster_notices *n, struct peer *peer, const mishap_cluster_peer *found)
{
    if (found->last > peer->at.last) { /* the notices up to there are gone */
        tell_any(n);
        peer->at.last = found->last;
        peer->at.changes = found->changes;
    }
    if (found->silent && !peer->at.silent)
        tell_any(n);
    peer->at.silent = found->silent;
    peer->present = true;
}

/* One that has left in order has sent everything before. */
static void drop_absent(cluster_notices *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++)
        if (n->peers[i].present)
            n->peers[kept++] = n->peers[i];
    n->count = kept;
    for (size_t i = 0; i < n->count; i++)
        n->peers[i].present = false;
}

void mishap_cluster_notices_position(const cluster_notices *n, mishap_position *position)
{
    position->count = 1 + n->count;
    position->marks[0].server = (uint32_t)n->id;
    position->marks[0].change = n->changes;
    for (size_t i = 0; i < n->count; i++) {
        position->marks[i + 1].server = (uint32_t)n->peers[i].at.id;
        position->marks[i + 1].change = n->peers[i].at.changes;
    }
}

/* Ids of events have positions from now on. */
static void tell_position(const cluster_notices *n)
{
    mishap_position position;
    if (!handover())
        return;
    mishap_cluster_notices_position(n, &position);
    handover()->place(handover()->state, &position);
}

bool mishap_cluster_notices_alive(const cluster_notices *n, int64_t id)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->peers[i].at.id == id)
            return !n->peers[i].at.silent;
    return false;
}

static mishap *look_at_peers(cluster_notices *n, mishap_cluster *cluster)
{
    mishap_cluster_peer found[MISHAP_CLUSTER_PEERS];
    size_t count;
    bool any = false;
    mishap *failure = mishap_cluster_own.plan.engine->peers(cluster, n->id, found, &count);
    for (size_t i = 0; i < count && !failure; i++)
        if (!find_peer(n, found[i].id))
            add_peer(n, &found[i]);
    /* A server writes its notice before its heartbeat: so what the heartbeat names is there now. If
     * others write all the time, the rest is read later: at worst one event too many says that
     * anything may have changed. */
    for (int i = 0; i < MOST_READS && !failure && (i == 0 || n->any_heard); i++)
        failure = hear_others(n, cluster, &any);
    if (failure)
        return failure;
    for (size_t i = 0; i < count; i++) {
        struct peer *peer = find_peer(n, found[i].id);
        if (peer)
            judge_peer(n, peer, &found[i]);
    }
    n->listed = true;
    drop_absent(n);
    tell_position(n);
    return NULL;
}

/* After a failover the last transactions may be undone, which this server has told its clients. */
static void judge_timeline(cluster_notices *n, const char *timeline)
{
    if (n->timeline[0] && strcmp(n->timeline, timeline) != 0)
        tell_any(n);
    memcpy(n->timeline, timeline, sizeof n->timeline);
}

int64_t mishap_cluster_notices_id(const cluster_notices *n)
{
    return n->id;
}

mishap *mishap_cluster_notices_beat(cluster_notices *n, mishap_cluster *cluster, int64_t part)
{
    const mishap_cluster_engine *engine = mishap_cluster_own.plan.engine;
    char timeline[MISHAP_CLUSTER_TIMELINE + 1] = "";
    n->told_any = false;
    mishap_cluster_peer own = { .id = n->id, .last = n->last, .changes = n->changes };
    mishap *failure = engine->beat(cluster, &own, mishap_text_of(mishap_cluster_own.name), part,
                                   timeline);
    if (failure)
        return failure;
    judge_timeline(n, timeline);
    failure = look_at_peers(n, cluster);
    size_t at = n->beats % KEPT_BEATS;
    int64_t upto = n->beats >= KEPT_BEATS ? n->before[at] : 0;
    n->before[at] = n->last;
    if (!failure && n->beats % PRUNE_BEATS == PRUNE_BEATS - 1)
        failure = engine->prune(cluster, n->id, upto);
    n->beats++;
    return failure;
}

mishap *mishap_cluster_notices_send(cluster_notices *n, mishap_cluster *cluster)
{
    bool any;
    return send_own(n, cluster, &any);
}

mishap *mishap_cluster_notices_end(cluster_notices *n, mishap_cluster *cluster)
{
    bool any;
    mishap *failure = send_own(n, cluster, &any);
    return failure ? failure : mishap_cluster_own.plan.engine->leave(cluster, n->id);
}
