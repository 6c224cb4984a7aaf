/*
 * Events that were sent in sessions are stored, so that a client can resume a stream. The memory
 * consists of blocks. The number of blocks of a session is limited: new events replace its oldest
 * ones. If no block is free, the caller with the most blocks loses the oldest events of its largest
 * session. A caller with many events therefore cannot displace the events of callers with few.
 */
#include <unistd.h>

#include "mcp/sessions/shared.h"

enum {
    SHARE = 8,    /* a session may have one of so many parts of all blocks */
    AT_ONCE = 64, /* blocks that are freed together, since the search for them is slow */
};

typedef struct mishap_mcp_place owner;

struct event {
    uint32_t after;  /* the next event of the session, by its first block; 0: none */
    uint32_t blocks; /* the number of its blocks */
    size_t length;   /* of its data, which follows the head */
    uint64_t stream, place;
    mishap_life
        /* If this is a will, by which the stream is ended if the process dies: the process that
         * runs the call. The place is 0 then, and the data is the id of the request. */
        will_of;
    bool last;       /* its stream ends with it; of a will: the stream has ended */
    uint32_t scopes; /* of a will: what the caller could do that the stream answers */
    bool lost;       /* of a will of another server: that server is gone */
    bool here;       /* no other server needs it */
    uint64_t number; /* grows with each event of a session; 0: it is here */
};

_Static_assert(sizeof(struct event) <= sizeof((struct mishap_mcp_block *)0)->data, "a head fits");

static struct mishap_mcp_block *block_at(mishap_mcp_sessions *s, uint32_t number)
{
    return &s->blocks[number - 1];
}

/* Heads are copied, since a block does not align them. */
static struct event read_head(mishap_mcp_sessions *s, uint32_t number)
{
    struct event event;
    memcpy(&event, block_at(s, number)->data, sizeof event);
    return event;
}

static void write_head(mishap_mcp_sessions *s, uint32_t number, const struct event *event)
{
    memcpy(block_at(s, number)->data, event, sizeof *event);
}

/* -- blocks ------------------------------------------------------------------------------------ */

/* No block is touched before it is needed: most servers never need most of them. */
void mishap_mcp_events_begin(mishap_mcp_sessions *s)
{
    s->free_count = s->block_count;
    s->first_free = 0;
    s->used = 0;
}

void mishap_mcp_events_forget_all(mishap_mcp_sessions *s)
{
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++)
        s->places[i].events = (struct mishap_mcp_kept){ 0 };
    mishap_mcp_events_begin(s);
}

static void free_blocks(mishap_mcp_sessions *s, uint32_t first, uint32_t count)
{
    uint32_t last = first;
    while (block_at(s, last)->next)
        last = block_at(s, last)->next;
    block_at(s, last)->next = s->first_free;
    s->first_free = first;
    s->free_count += count;
}

static uint32_t take_block(mishap_mcp_sessions *s)
{
    uint32_t taken = s->first_free;
    if (taken)
        s->first_free = block_at(s, taken)->next;
    else
        taken = ++s->used;
    s->free_count--;
    block_at(s, taken)->next = 0;
    return taken;
}

/* Append bytes: `at` is the offset in the block, which is advanced. */
static void write_bytes(mishap_mcp_sessions *s, uint32_t *block, size_t *at, const char *data,
                        size_t length)
{
    while (length) {
        size_t room = sizeof block_at(s, *block)->data - *at;
        if (!room) {
            uint32_t more = take_block(s);
            block_at(s, *block)->next = more;
            *block = more;
            *at = 0;
            continue;
        }
        size_t part = length < room ? length : room;
        memcpy(block_at(s, *block)->data + *at, data, part);
        *at += part;
        data += part;
        length -= part;
    }
}

static void read_data(mishap_mcp_sessions *s, uint32_t block, mishap_buffer *data)
{
    size_t at = sizeof(struct event), left = read_head(s, block).length;
    for (; left; block = block_at(s, block)->next, at = 0) {
        size_t room = sizeof block_at(s, block)->data - at;
        size_t part = left < room ? left : room;
        mishap_buffer_put(data, block_at(s, block)->data + at, part);
        left -= part;
    }
}

/* -- events of a session ----------------------------------------------------------------------- */

/* Remove an event, whose predecessor is `before` (0: it is the first). */
static void drop(mishap_mcp_sessions *s, owner *p, uint32_t number, uint32_t before)
{
    struct event event = read_head(s, number);
    if (before) {
        struct event previous = read_head(s, before);
        previous.after = event.after;
        write_head(s, before, &previous);
    } else {
        p->events.first = event.after;
    }
    if (p->events.last == number)
        p->events.last = before;
    if (p->events.read == number)
        p->events.read = 0;
    p->events.blocks -= event.blocks;
    free_blocks(s, number, event.blocks);
}

static void drop_will(mishap_mcp_sessions *s, owner *p, uint64_t stream)
{
    for (uint32_t at = p->events.first, before = 0; at; before = at, at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        if (event.will_of && event.stream == stream) {
            drop(s, p, at, before);
            return;
        }
    }
}

/* Remove the oldest event. A will, by which its stream can at least be ended, goes only if nothing
 * else is left. With the end of a stream its will goes, too. False: there was nothing. */
static bool drop_oldest(mishap_mcp_sessions *s, owner *p)
{
    uint32_t at = p->events.first, before = 0;
    while (at && read_head(s, at).will_of) {
        before = at;
        at = read_head(s, at).after;
    }
    if (!at) {
        at = p->events.first;
        before = 0;
    }
    if (!at)
        return false;
    struct event event = read_head(s, at);
    drop(s, p, at, before);
    if (event.last && !event.will_of)
        drop_will(s, p, event.stream);
    return true;
}

void mishap_mcp_events_forget(mishap_mcp_sessions *s, owner *p)
{
    while (p->events.first)
        drop(s, p, p->events.first, 0);
}

/* The largest session of the caller with the most blocks. */
static owner *who_has_most(mishap_mcp_sessions *s)
{
    uint32_t sums[MISHAP_MCP_HOLDERS] = { 0 }, most = 0;
    owner *found = NULL;
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++)
        if (s->places[i].id[0])
            sums[mishap_mcp_holder_word(s->places[i].holder)] += s->places[i].events.blocks;
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++) {
        owner *p = &s->places[i];
        uint32_t sum = p->id[0] ? sums[mishap_mcp_holder_word(p->holder)] : 0;
        if (!p->id[0] ||
            (found && (sum < most || (sum == most && p->events.blocks <= found->events.blocks))))
            continue;
        found = p;
        most = sum;
    }
    return found; /* never NULL: there is at least the session that needs blocks */
}

/* Free blocks of the largest session of the caller with the most, until so many are free; but half
 * of the blocks of that session at most, since then another one may be the largest. False: there
 * was nothing. */
static bool drop_of_most(mishap_mcp_sessions *s, size_t wanted)
{
    owner *most = who_has_most(s);
    uint32_t half = most->events.blocks / 2;
    bool dropped = false;
    while (s->free_count < wanted && most->events.blocks > half && drop_oldest(s, most))
        dropped = true;
    return dropped;
}

static bool make_room(mishap_mcp_sessions *s, owner *p, size_t blocks)
{
    size_t share = s->block_count / SHARE;
    if (blocks > share)
        return false;
    while (p->events.blocks + blocks > share && drop_oldest(s, p))
        continue;
    while (s->free_count < blocks && drop_of_most(s, blocks + AT_ONCE))
        continue;
    return s->free_count >= blocks && p->events.blocks + blocks <= share;
}

static void put_event(mishap_mcp_sessions *s, owner *p, const struct event *event, mishap_text data)
{
    uint32_t first = take_block(s), block = first;
    size_t at = 0;
    write_bytes(s, &block, &at, (const char *)event, sizeof *event);
    write_bytes(s, &block, &at, data.data, data.length);
    if (p->events.last) {
        struct event previous = read_head(s, p->events.last);
        previous.after = first;
        write_head(s, p->events.last, &previous);
    } else {
        p->events.first = first;
    }
    p->events.last = first;
    p->events.blocks += event->blocks;
}

/* Mark the will of a stream that has ended: from now on only the id in it is used. */
static void note_end(mishap_mcp_sessions *s, const owner *p, uint64_t stream)
{
    for (uint32_t at = p->events.first; at; at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        if (event.will_of && event.stream == stream) {
            event.last = true;
            write_head(s, at, &event);
            return;
        }
    }
}

static bool add_event(mishap_mcp_sessions *s, uint64_t session, struct event event,
                      mishap_text data)
{
    const size_t block = sizeof((struct mishap_mcp_block *)0)->data;
    size_t blocks = (sizeof event + data.length + block - 1) / block;
    event.blocks = (uint32_t)blocks;
    event.length = data.length;
    mishap_mcp_sessions_lock(s);
    owner *p = mishap_mcp_place_find(s, session);
    bool kept = p && make_room(s, p, blocks);
    if (kept && !event.here)
        event.number = ++p->event_numbers;
    if (kept)
        put_event(s, p, &event, data);
    if (kept && !event.here)
        mishap_mcp_place_changed(s, p);
    if (p && event.last)
        note_end(s, p, event.stream);
    pthread_mutex_unlock(&s->lock);
    return kept;
}

bool mishap_mcp_event_add(mishap_mcp_sessions *s, uint64_t session, uint64_t stream, uint64_t place,
                          mishap_text data, bool last)
{
    return add_event(s, session, (struct event){ .stream = stream, .place = place, .last = last },
                     data);
}

bool mishap_mcp_event_add_here(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                               uint64_t place, mishap_text data)
{
    return add_event(s, session,
                     (struct event){ .stream = stream, .place = place, .last = true, .here = true },
                     data);
}

bool mishap_mcp_stream_will(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                            mishap_text id, unsigned scopes)
{
    return add_event(
        s, session,
        (struct event){ .stream = stream, .will_of = mishap_life_self(), .scopes = scopes }, id);
}

/* While an event of a stream is stored, so is its will, which has the scopes: see drop_oldest(). */
bool mishap_mcp_event_known(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                            uint64_t place, unsigned scopes)
{
    bool known = false, may = true;
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *p = mishap_mcp_place_find(s, session);
    for (uint32_t at = p ? p->events.first : 0; at; at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        if (event.stream != stream)
            continue;
        known = known || (event.place == place && !event.will_of);
        may = may && !(event.scopes & ~scopes);
    }
    pthread_mutex_unlock(&s->lock);
    return known && may;
}

void mishap_mcp_events_drop(mishap_mcp_sessions *s, uint64_t session, uint64_t stream)
{
    mishap_mcp_sessions_lock(s);
    owner *p = mishap_mcp_place_find(s, session);
    for (uint32_t at = p ? p->events.first : 0, before = 0, next; at; at = next) {
        struct event event = read_head(s, at);
        next = event.after;
        if (event.stream == stream)
            drop(s, p, at, before);
        else
            before = at;
    }
    pthread_mutex_unlock(&s->lock);
}

/* What is known of a stream, after a place. */
struct found {
    uint32_t next, will; /* by their first blocks; 0: none */
    bool over;           /* the event at this place was the last */
};

/* A client that catches up asks for one event after the other: then the search starts at the last
 * one found, and not at the first. 0: the cached place does not fit. */
static uint32_t look_on(mishap_mcp_sessions *s, const owner *p, uint64_t stream, uint64_t place)
{
    struct event event;
    if (!p->events.read)
        return 0;
    event = read_head(s, p->events.read);
    if (event.stream != stream || event.place != place)
        return 0;
    for (uint32_t at = event.after; at; at = event.after) {
        event = read_head(s, at);
        if (event.stream == stream && event.place == place + 1)
            return at;
    }
    return 0;
}

static struct found look_up_events(mishap_mcp_sessions *s, const owner *p, uint64_t stream,
                                   uint64_t place)
{
    struct found found = { .next = look_on(s, p, stream, place) };
    uint64_t nearest = UINT64_MAX;
    if (found.next)
        return found;
    for (uint32_t at = p->events.first; at; at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        if (event.stream != stream)
            continue;
        if (event.will_of) {
            found.will = at;
        } else if (event.place == place) {
            found.over = event.last;
        } else if (event.place > place && event.place < nearest) {
            nearest = event.place;
            found.next = at;
        }
    }
    return found;
}

static mishap_mcp_next judge(mishap_mcp_sessions *s, const struct found *found, uint64_t place)
{
    if (found->over)
        return MISHAP_MCP_STREAM_OVER;
    if (found->next)
        return read_head(s, found->next).place == place + 1 ? MISHAP_MCP_EVENT
                                                            : MISHAP_MCP_STREAM_DROPPED;
    if (!found->will)
        return MISHAP_MCP_STREAM_DROPPED;
    struct event will = read_head(s, found->will);
    return will.last                                        ? MISHAP_MCP_STREAM_DROPPED
           : will.lost || mishap_life_is_over(will.will_of) ? MISHAP_MCP_STREAM_LOST
                                                            : MISHAP_MCP_NOTHING_YET;
}

mishap_mcp_next mishap_mcp_event_next(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                                      uint64_t place, mishap_buffer *data, bool *last)
{
    mishap_mcp_sessions_lock(s);
    owner *p = mishap_mcp_place_find(s, session);
    struct found found = p ? look_up_events(s, p, stream, place) : (struct found){ 0 };
    mishap_mcp_next next = judge(s, &found, place);
    *last = next == MISHAP_MCP_EVENT && read_head(s, found.next).last;
    if (next == MISHAP_MCP_EVENT) {
        read_data(s, found.next, data);
        p->events.read = found.next;
    } else if (found.will &&
               (next == MISHAP_MCP_STREAM_LOST || next == MISHAP_MCP_STREAM_DROPPED)) {
        read_data(s, found.will, data);
    }
    pthread_mutex_unlock(&s->lock);
    return next;
}

/* -- other servers ----------------------------------------------------------------------------- */

bool mishap_mcp_stream_known(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                             unsigned scopes)
{
    bool known = false, may = true;
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *p = mishap_mcp_place_find(s, session);
    for (uint32_t at = p ? p->events.first : 0; at; at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        known = known || event.stream == stream;
        may = may && !(event.stream == stream && event.scopes & ~scopes);
    }
    pthread_mutex_unlock(&s->lock);
    return known && may;
}

bool mishap_mcp_event_read(mishap_mcp_sessions *s, uint64_t session, uint64_t after,
                           mishap_handover_event *to, mishap_buffer *data)
{
    bool found = false;
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *p = mishap_mcp_place_find(s, session);
    for (uint32_t at = p ? p->events.first : 0; at && !found; at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        found = event.number > after;
        if (!found)
            continue;
        *to = (mishap_handover_event){ .number = event.number,
                                       .stream = event.stream,
                                       .place = event.place,
                                       .last = event.last && !event.will_of,
                                       .will = event.will_of,
                                       .scopes = event.scopes };
        read_data(s, at, data);
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

static bool has_event(mishap_mcp_sessions *s, uint64_t session, const mishap_handover_event *wanted)
{
    bool has = false;
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *p = mishap_mcp_place_find(s, session);
    for (uint32_t at = p ? p->events.first : 0; at && !has; at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        has = event.stream == wanted->stream && event.place == wanted->place &&
              !event.will_of == !wanted->will;
    }
    pthread_mutex_unlock(&s->lock);
    return has;
}

/* Only the process that talks to the database does this: so the will lasts as long as that. */
void mishap_mcp_event_restore(mishap_mcp_sessions *s, uint64_t session,
                              const mishap_handover_event *event, mishap_text data)
{
    struct event own = { .stream = event->stream,
                         .place = event->place,
                         .last = event->last,
                         .scopes = event->scopes,
                         .will_of = event->will ? mishap_life_self() : 0,
                         .here = true };
    if (!has_event(s, session, event))
        add_event(s, session, own, data);
}

void mishap_mcp_stream_lose(mishap_mcp_sessions *s, uint64_t session, uint64_t stream)
{
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *p = mishap_mcp_place_find(s, session);
    for (uint32_t at = p ? p->events.first : 0; at; at = read_head(s, at).after) {
        struct event event = read_head(s, at);
        if (!event.will_of || event.stream != stream)
            continue;
        event.lost = true;
        write_head(s, at, &event);
    }
    pthread_mutex_unlock(&s->lock);
}

/* -- who sends a stream ------------------------------------------------------------------------ */

uint64_t mishap_mcp_stream_begin(mishap_mcp_sessions *s)
{
    mishap_mcp_sessions_lock(s);
    uint64_t number = ++s->streams;
    pthread_mutex_unlock(&s->lock);
    return number;
}

static struct mishap_mcp_taken *find_taken(owner *p, uint64_t stream)
{
    for (size_t i = 0; p && i < MISHAP_MCP_TAKEN_OVER; i++)
        if (p->taken[i].by && p->taken[i].stream == stream)
            return &p->taken[i];
    return NULL;
}

/* Make room for another stream: free the oldest one whose sender is gone. A stream that a client
 * waits for is not freed: it would end without its answer. NULL: there is none. */
static struct mishap_mcp_taken *find_room(owner *p)
{
    struct mishap_mcp_taken *found = NULL;
    for (size_t i = 0; i < MISHAP_MCP_TAKEN_OVER; i++) {
        struct mishap_mcp_taken *taken = &p->taken[i];
        bool over = !taken->loop || mishap_life_is_over(taken->loop);
        if (over && (!found || taken->by < found->by))
            found = taken;
    }
    return found;
}

uint64_t mishap_mcp_stream_take_over(mishap_mcp_sessions *s, uint64_t session, uint64_t stream)
{
    mishap_mcp_sessions_lock(s);
    uint64_t by = ++s->streams;
    owner *p = mishap_mcp_place_find(s, session);
    struct mishap_mcp_taken *taken = find_taken(p, stream);
    if (p && !taken)
        taken = find_room(p);
    if (taken)
        *taken = (struct mishap_mcp_taken){ stream, by, mishap_life_self() };
    pthread_mutex_unlock(&s->lock);
    return taken || !p ? by : 0;
}

uint64_t mishap_mcp_stream_sender(mishap_mcp_sessions *s, uint64_t session, uint64_t stream)
{
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_taken *taken = find_taken(mishap_mcp_place_find(s, session), stream);
    uint64_t by = taken ? taken->by : 0;
    pthread_mutex_unlock(&s->lock);
    return by;
}

void mishap_mcp_stream_let_go(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                              uint64_t by)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_taken *taken = find_taken(mishap_mcp_place_find(s, session), stream);
    if (taken && taken->by == by) /* its number stays known, for the connection that it replaced */
        taken->loop = 0;
    pthread_mutex_unlock(&s->lock);
}
