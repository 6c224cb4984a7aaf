/*
 * Sessions that go on at another server: from the memory of this server to rows, and back
 * (operation/handover.h). What is in the bytes, only src/mcp knows.
 *
 * A client that comes back has a position: up to which change of each server it has heard. All
 * notices of the last minute are rows, so what has changed since is found there. If a row is
 * missing, the client hears that anything may have changed.
 */
#include "base/memory.h"
#include "http/cluster/inside.h"
#include "operation/handover.h"
#include "worker/serving/served.h"

enum {
    AT_ONCE = 64,            /* events that are stored together … */
    BYTES_AT_ONCE = 1 << 20, /* … about */
    SESSIONS_AT_ONCE = 256,  /* in one turn */
    MOST_NOTICES = 2000,     /* that are read for one client */
    AGAIN_MS = 100,          /* between looks for what a stream waits for */
    PRUNE_MS = 10 * 1000,
    RENEW_MS = 10 * 60 * 1000, /* rows of sessions that are in use are written again */
    WILL = 1,                  /* flags of an event */
    LAST = 2,
};

static const mishap_handover *table(void)
{
    const mishap_served *served = mishap_cluster_own.served;
    return served ? served->handover : NULL;
}

/* -- to rows ----------------------------------------------------------------------------------- */

struct batch {
    mishap_handover_session about;
    mishap_cluster_event events[AT_ONCE];
    size_t begins[AT_ONCE + 1]; /* of their data */
    mishap_buffer data;
    size_t count;
};

static void collect_events(struct batch *batch, uint64_t session, int64_t id)
{
    mishap_handover_event event;
    while (batch->count < AT_ONCE && batch->data.length < BYTES_AT_ONCE &&
           table()->read_event(table()->state, session, batch->about.event, &event, &batch->data)) {
        batch->about.event = event.number;
        batch->events[batch->count] = (mishap_cluster_event){
            .session = { (const char *)batch->about.key, sizeof batch->about.key },
            .holder = batch->about.holder,
            .server = id,
            .stream = (int64_t)event.stream,
            .place = (int64_t)event.place,
            .flags = (event.will ? WILL : 0) | (event.last ? LAST : 0),
            .scopes = event.scopes
        };
        batch->begins[++batch->count] = batch->data.length;
    }
    for (size_t i = 0; i < batch->count && !batch->data.failed; i++)
        batch->events[i].data = (mishap_text){ batch->data.data + batch->begins[i],
                                               batch->begins[i + 1] - batch->begins[i] };
}

static mishap *store_events(struct batch *batch, mishap_cluster *cluster, uint64_t session,
                            int64_t id)
{
    mishap_buffer_reset(&batch->data);
    collect_events(batch, session, id);
    if (batch->data.failed)
        return mishap_out_of_memory();
    if (!batch->count)
        return NULL;
    MISHAP_TRY(mishap_cluster_own.plan.engine->keep_events(cluster, batch->events, batch->count));
    if (batch->count == AT_ONCE || batch->data.length >= BYTES_AT_ONCE)
        table()->again(table()->state, session);
    return NULL;
}

/* What a row says of a session. */
struct found {
    uint64_t session;
    bool any;
};

static void hear_state(void *context, mishap_text state)
{
    struct found *found = context;
    table()->restore(table()->state, found->session, state);
    found->any = true;
}

static mishap *restore_session(const struct batch *batch, mishap_cluster *cluster, uint64_t session)
{
    struct found found = { session, false };
    mishap_text key = { (const char *)batch->about.key, sizeof batch->about.key };
    MISHAP_TRY(mishap_cluster_own.plan.engine->find_session(cluster, key, hear_state, &found));
    if (!found.any)
        table()->restore(table()->state, session, (mishap_text){ NULL, 0 });
    return NULL;
}

static mishap *carry_session(struct batch *batch, mishap_cluster *cluster, uint64_t session,
                             int64_t id)
{
    batch->count = 0;
    mishap_buffer_reset(&batch->data);
    if (!table()->read(table()->state, session, &batch->about, &batch->data))
        return NULL;
    mishap_text key = { (const char *)batch->about.key, sizeof batch->about.key };
    if (batch->about.restoring)
        MISHAP_TRY(restore_session(batch, cluster, session));
    if (batch->data.failed)
        return mishap_out_of_memory();
    if (batch->about.changed)
        MISHAP_TRY(mishap_cluster_own.plan.engine->keep_session(cluster, key, batch->about.holder,
                                                                mishap_buffer_text(&batch->data)));
    MISHAP_TRY(store_events(batch, cluster, session, id));
    table()->stored(table()->state, &batch->about, session);
    return NULL;
}

static mishap *carry_sessions(mishap_cluster *cluster, int64_t id)
{
    struct batch *batch = mishap_allocate(sizeof *batch);
    mishap *failure = NULL;
    uint64_t session = 0;
    if (!batch)
        return mishap_out_of_memory();
    *batch = (struct batch){ .count = 0 };
    for (int i = 0; i < SESSIONS_AT_ONCE && !failure; i++) {
        session = table()->next(table()->state);
        if (!session)
            break;
        failure = carry_session(batch, cluster, session, id);
        if (failure)
            table()->again(table()->state, session);
    }
    mishap_buffer_release(&batch->data);
    mishap_release(batch);
    return failure;
}

/* -- changes since a position ------------------------------------------------------------------ */

struct replay {
    uint64_t session;
    mishap_position position;
    uint32_t covered[MISHAP_POSITION_SERVERS * 2]; /* servers of which a notice was read */
    size_t covered_count, count;
    bool gap; /* something is missing */
};

static bool is_covered(const struct replay *replay, uint32_t server)
{
    for (size_t i = 0; i < replay->covered_count; i++)
        if (replay->covered[i] == server)
            return true;
    return false;
}

/* The first notice of a server says whether there was one between it and the position. */
static void cover(struct replay *replay, uint32_t server, int64_t since, int64_t known)
{
    if (is_covered(replay, server))
        return;
    if (replay->covered_count == sizeof replay->covered / sizeof *replay->covered || since > known)
        replay->gap = true;
    else
        replay->covered[replay->covered_count++] = server;
}

static void hear_notice(void *context, const mishap_cluster_notice *notice)
{
    struct replay *replay = context;
    uint32_t server = (uint32_t)notice->server;
    int64_t known = mishap_position_of(&replay->position, server);
    mishap_text row = notice->addresses, address;
    bool sound = true;
    replay->count++;
    cover(replay, server, notice->since, known < 0 ? 0 : known);
    if (notice->changes <= known)
        return;
    while (mishap_cluster_next_address(&row, &address, &sound))
        table()->change(table()->state, replay->session, address);
    replay->gap = replay->gap || !sound;
}

/* A server without a notice has nothing new, if it says so. */
static void check_servers(struct replay *replay, const mishap_position *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        uint32_t server = servers->marks[i].server;
        int64_t known = mishap_position_of(&replay->position, server);
        if (!is_covered(replay, server) && servers->marks[i].change > (known < 0 ? 0 : known))
            replay->gap = true;
    }
    for (size_t i = 0; i < replay->position.count; i++) {
        uint32_t server = replay->position.marks[i].server;
        if (!is_covered(replay, server) && mishap_position_of(servers, server) < 0)
            replay->gap = true;
    }
}

static mishap *read_changes(struct replay *replay, cluster_notices *notices,
                            mishap_cluster *cluster)
{
    uint32_t servers[MISHAP_POSITION_SERVERS];
    int64_t changes[MISHAP_POSITION_SERVERS];
    mishap_position known;
    for (size_t i = 0; i < replay->position.count; i++) {
        servers[i] = replay->position.marks[i].server;
        changes[i] = replay->position.marks[i].change;
    }
    MISHAP_TRY(mishap_cluster_notices_send(notices, cluster));
    MISHAP_TRY(mishap_cluster_own.plan.engine->hear_since(
        cluster, servers, changes, replay->position.count, MOST_NOTICES, hear_notice, replay));
    mishap_cluster_notices_position(notices, &known);
    check_servers(replay, &known);
    replay->gap = replay->gap || replay->count == MOST_NOTICES;
    return NULL;
}

static mishap *grant_changes(const mishap_handover_wish *wish, cluster_notices *notices,
                             mishap_cluster *cluster)
{
    struct replay replay = { .session = wish->session };
    if (!mishap_position_read(mishap_text_of(wish->position), &replay.position))
        replay.gap = true;
    else
        MISHAP_TRY(read_changes(&replay, notices, cluster));
    if (replay.gap)
        table()->change(table()->state, wish->session, (mishap_text){ NULL, 0 });
    return NULL;
}

/* -- events behind a place --------------------------------------------------------------------- */

struct resumed {
    uint64_t session;
    int64_t server; /* that has stored them; 0: there is none */
    bool last;
};

static void hear_event(void *context, const mishap_cluster_event *row)
{
    struct resumed *resumed = context;
    mishap_handover_event event = { .stream = (uint64_t)row->stream,
                                    .place = (uint64_t)row->place,
                                    .last = row->flags & LAST,
                                    .will = row->flags & WILL,
                                    .scopes = (unsigned)row->scopes };
    resumed->server = row->server;
    resumed->last = resumed->last || event.last;
    table()->add_event(table()->state, resumed->session, &event, row->data);
}

static mishap *grant_events(const mishap_handover_wish *wish, const cluster_notices *notices,
                            mishap_cluster *cluster, mishap_handover_outcome *outcome)
{
    struct resumed resumed = { .session = wish->session };
    MISHAP_TRY(mishap_cluster_own.plan.engine->find_events(
        cluster, (mishap_text){ (const char *)wish->key, sizeof wish->key }, (int64_t)wish->stream,
        (int64_t)wish->place, hear_event, &resumed));
    *outcome = resumed.last || !resumed.server                         ? MISHAP_HANDOVER_ALL
               : mishap_cluster_notices_alive(notices, resumed.server) ? MISHAP_HANDOVER_MORE
                                                                       : MISHAP_HANDOVER_LOST;
    return NULL;
}

/* -- turns ------------------------------------------------------------------------------------- */

static mishap *grant_wishes(cluster_handover *h, cluster_notices *notices, mishap_cluster *cluster)
{
    mishap_handover_wish wish;
    mishap *failure = NULL;
    h->waits = false;
    for (size_t at = 0; !failure && table()->next_wish(table()->state, &at, &wish);) {
        mishap_handover_outcome outcome = MISHAP_HANDOVER_ALL;
        failure = wish.stream ? grant_events(&wish, notices, cluster, &outcome)
                              : grant_changes(&wish, notices, cluster);
        if (!failure)
            table()->fulfil(table()->state, at, outcome);
        h->waits = h->waits || failure || outcome == MISHAP_HANDOVER_MORE;
    }
    return failure;
}

static mishap *do_what_is_rare(cluster_handover *h, mishap_cluster *cluster, int64_t now_ms)
{
    if (now_ms >= h->renew_due) {
        if (h->renew_due)
            table()->renew(table()->state);
        h->renew_due = now_ms + RENEW_MS;
    }
    if (now_ms < h->prune_due)
        return NULL;
    h->prune_due = now_ms + PRUNE_MS;
    return mishap_cluster_own.plan.engine->prune_sessions(cluster);
}

mishap *mishap_cluster_handover_turn(cluster_handover *h, cluster_notices *notices,
                                     mishap_cluster *cluster, int64_t now_ms)
{
    if (!table())
        return NULL;
    uint64_t count = table()->count(table()->state);
    MISHAP_TRY(do_what_is_rare(h, cluster, now_ms));
    if (count == h->seen && (!h->waits || now_ms < h->due))
        return NULL;
    h->seen = count;
    h->due = now_ms + AGAIN_MS;
    MISHAP_TRY(carry_sessions(cluster, mishap_cluster_notices_id(notices)));
    return grant_wishes(h, notices, cluster);
}

void mishap_cluster_handover_fail(cluster_handover *h)
{
    mishap_handover_wish wish;
    if (!table())
        return;
    h->seen--; /* what there was is looked at again */
    for (size_t at = 0; table()->next_wish(table()->state, &at, &wish);) {
        if (wish.stream)
            continue;
        table()->change(table()->state, wish.session, (mishap_text){ NULL, 0 });
        table()->fulfil(table()->state, at, MISHAP_HANDOVER_ALL);
    }
}
