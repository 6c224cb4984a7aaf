/*
 * Sessions that go on at another server of a cluster: the memory of this server as the process that
 * talks to the database sees it (operation/handover.h).
 *
 * What changes is put into a ring of the numbers of sessions, and read from there. A session that
 * this server does not know is restored: it works at once, and what it has subscribed to follows
 * when the row was read. A client that comes back with Last-Event-ID waits for an answer, on a
 * stream that is open.
 *
 * The lock of the watches is never taken while that of the sessions is held.
 */
#include "base/memory.h"
#include "base/utf8.h"
#include "mcp/sessions/shared.h"

enum { RING = MISHAP_MCP_PLACES };

/* In each process: the same memory. */
static struct both {
    mishap_mcp_sessions *sessions;
    mishap_mcp_watches *watches;
} both;

const mishap_text mishap_mcp_list_addresses[MISHAP_MCP_LISTS] = {
    [MISHAP_MCP_TOOLS_CHANGED] = MISHAP_TEXT(MISHAP_ADDRESS_LISTS "/tools"),
    [MISHAP_MCP_PROMPTS_CHANGED] = MISHAP_TEXT(MISHAP_ADDRESS_LISTS "/prompts"),
    [MISHAP_MCP_RESOURCES_CHANGED] = MISHAP_TEXT(MISHAP_ADDRESS_LISTS "/resources"),
};

static void unlock(mishap_mcp_sessions *s)
{
    pthread_mutex_unlock(&s->lock);
}

/* -- in the loops ------------------------------------------------------------------------------ */

/* If the ring is full, the session is found when it changes once more, or by renew(). */
void mishap_mcp_place_changed(mishap_mcp_sessions *s, struct mishap_mcp_place *place)
{
    if (!s->shared || place->listed || s->changed_count - s->changed_first >= RING)
        return;
    place->listed = true;
    s->changed[s->changed_count++ % RING] = place->session.number;
    atomic_fetch_add(&s->handovers, 1);
}

bool mishap_mcp_sessions_are_shared(const mishap_mcp_sessions *s)
{
    return s->shared;
}

void mishap_mcp_session_changed(mishap_mcp_sessions *s, uint64_t number)
{
    if (!s->shared)
        return;
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    if (place) {
        place->version++;
        mishap_mcp_place_changed(s, place);
    }
    unlock(s);
}

mishap *mishap_mcp_session_complete(mishap_mcp_sessions *s, uint64_t number)
{
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    bool restoring = place && place->restoring;
    unlock(s);
    if (!restoring)
        return NULL;
    return mishap_retry_after(
        mishap_raise(UNAVAILABLE, "The subscriptions of this session are not known here yet."),
        1000);
}

bool mishap_mcp_session_doubtful(mishap_mcp_sessions *s, uint64_t number)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    bool doubtful = place && place->doubtful;
    if (doubtful)
        place->doubtful = false;
    unlock(s);
    return doubtful;
}

/* -- questions of loops ------------------------------------------------------------------------ */

static struct mishap_mcp_wish *find_free(mishap_mcp_sessions *s)
{
    for (size_t i = 0; i < MISHAP_MCP_WISHES; i++)
        if (!s->wishes[i].loop || mishap_life_is_over(s->wishes[i].loop))
            return &s->wishes[i];
    return NULL;
}

size_t mishap_mcp_wish_begin(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                             uint64_t place, mishap_text position)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_wish *wish = position.length <= MISHAP_POSITION_LIMIT ? find_free(s) : NULL;
    if (wish) {
        wish->answer = MISHAP_MCP_ASKED;
        wish->session = session;
        wish->stream = stream;
        wish->place = place;
        if (position.length)
            memcpy(wish->position, position.data, position.length);
        wish->position[position.length] = '\0';
        mishap_mcp_first_this();
        wish->loop = mishap_life_self();
        atomic_fetch_add(&s->handovers, 1);
    }
    unlock(s);
    return wish ? (size_t)(wish - s->wishes) + 1 : 0;
}

mishap_mcp_answer mishap_mcp_wish_look(mishap_mcp_sessions *s, size_t wish)
{
    mishap_mcp_sessions_lock(s);
    mishap_mcp_answer answer = s->wishes[wish - 1].answer;
    unlock(s);
    return answer;
}

void mishap_mcp_wish_end(mishap_mcp_sessions *s, size_t wish)
{
    if (!wish)
        return;
    mishap_mcp_sessions_lock(s);
    s->wishes[wish - 1].loop = 0;
    unlock(s);
}

/* -- in the process that talks to the database: from this server to rows ----------------------- */

static uint64_t count(void *state)
{
    const struct both *b = state;
    return atomic_load(&b->sessions->handovers);
}

static uint64_t next_session(void *state)
{
    mishap_mcp_sessions *s = ((struct both *)state)->sessions;
    uint64_t found = 0;
    mishap_mcp_sessions_lock(s);
    while (!found && s->changed_first != s->changed_count) {
        uint64_t number = s->changed[s->changed_first++ % RING];
        struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
        if (!place || !place->listed)
            continue;
        place->listed = false;
        found = number;
    }
    unlock(s);
    return found;
}

static void list_again(void *state, uint64_t session)
{
    mishap_mcp_sessions *s = ((struct both *)state)->sessions;
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session);
    if (place)
        mishap_mcp_place_changed(s, place);
    unlock(s);
}

/* An id is a secret of its client: rows have a code of it, from which the id cannot be computed. */
static void make_key(const char *id, unsigned char key[MISHAP_HANDOVER_KEY])
{
    static const unsigned char purpose[MISHAP_MAC_KEY] = "mishap mcp session of a cluster";
    _Static_assert((int)MISHAP_MAC == (int)MISHAP_HANDOVER_KEY, "the key is such a code");
    mishap_mac(purpose, (mishap_text){ id, MISHAP_MCP_SESSION_ID }, key);
}

/* The same at every server, if the caller has a name. */
static int64_t holder_of(const struct mishap_mcp_place *place)
{
    uint64_t number = place->caller[0] ? mishap_text_hash(mishap_text_of(place->caller))
                                       : place->holder;
    return (int64_t)(number >> 1);
}

static bool read_session(void *state, uint64_t session, mishap_handover_session *about,
                         mishap_buffer *data)
{
    struct both *b = state;
    mishap_level level = MISHAP_INFO;
    mishap_mcp_sessions_lock(b->sessions);
    const struct mishap_mcp_place *place = mishap_mcp_place_find(b->sessions, session);
    if (place && !place->reserved) {
        make_key(place->id, about->key);
        about->holder = holder_of(place);
        about->version = place->version;
        about->event = place->event_stored;
        about->changed = place->version != place->stored && !place->restoring;
        about->restoring = place->restoring;
        level = place->session.level;
    }
    bool lives = place && !place->reserved;
    unlock(b->sessions);
    if (!lives || !about->changed)
        return lives;
    mishap_buffer_put_char(data, (char)('0' + level));
    mishap_mcp_watches_list(b->watches, session, data);
    return true;
}

static bool read_event(void *state, uint64_t session, uint64_t after, mishap_handover_event *event,
                       mishap_buffer *data)
{
    return mishap_mcp_event_read(((struct both *)state)->sessions, session, after, event, data);
}

static void note_stored(void *state, const mishap_handover_session *about, uint64_t session)
{
    mishap_mcp_sessions *s = ((struct both *)state)->sessions;
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session);
    if (place) {
        if (about->changed)
            place->stored = about->version;
        place->event_stored = about->event;
    }
    unlock(s);
}

static void renew(void *state)
{
    mishap_mcp_sessions *s = ((struct both *)state)->sessions;
    mishap_mcp_sessions_lock(s);
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++) {
        struct mishap_mcp_place *place = &s->places[i];
        if (!place->id[0] || !place->version || place->restoring)
            continue;
        place->stored = place->version - 1;
        mishap_mcp_place_changed(s, place);
    }
    unlock(s);
}

/* -- … from rows to this server ---------------------------------------------------------------- */

bool mishap_mcp_next_watched(mishap_text *row, mishap_text *uri)
{
    const char *end = row->length ? memchr(row->data, '\0', row->length) : NULL;
    if (!end)
        return false;
    *uri = (mishap_text){ row->data, (size_t)(end - row->data) };
    row->data = end + 1;
    row->length -= uri->length + 1;
    return uri->length && uri->length <= MISHAP_ADDRESS_LIMIT &&
           mishap_utf8_valid_length(*uri) == uri->length;
}

static bool is_level(char digit)
{
    return digit >= '0' && digit <= '0' + (int)MISHAP_EMERGENCY;
}

/* What was done here while the row was read counts more. */
static void restore(void *state, uint64_t session, mishap_text row)
{
    struct both *b = state;
    bool sound = row.length && is_level(row.data[0]);
    uint64_t holder = 0;
    mishap_mcp_sessions_lock(b->sessions);
    struct mishap_mcp_place *place = mishap_mcp_place_find(b->sessions, session);
    if (place && sound && place->version == 0) {
        place->session.level = (mishap_level)(row.data[0] - '0');
        place->version = place->stored = 1;
    }
    if (place)
        holder = place->holder;
    unlock(b->sessions);
    mishap_text uri;
    row = sound ? (mishap_text){ row.data + 1, row.length - 1 } : (mishap_text){ NULL, 0 };
    while (place && mishap_mcp_next_watched(&row, &uri))
        mishap_mcp_watch_restore(b->watches, session, holder, uri);
    mishap_mcp_sessions_lock(b->sessions);
    place = mishap_mcp_place_find(b->sessions, session);
    if (place) {
        place->restoring = false;
        mishap_mcp_place_changed(b->sessions, place);
    }
    atomic_fetch_add(&b->sessions->handovers, 1);
    unlock(b->sessions);
}

static bool is_open(mishap_mcp_sessions *s, struct mishap_mcp_wish *wish,
                    const struct mishap_mcp_place **place)
{
    if (!wish->loop || wish->answer == MISHAP_MCP_ANSWERED)
        return false;
    *place = mishap_mcp_place_find(s, wish->session);
    if (!*place)
        wish->answer = MISHAP_MCP_ANSWERED; /* the session has ended */
    return *place && !(*place)->restoring;
}

static bool next_wish(void *state, size_t *at, mishap_handover_wish *to)
{
    mishap_mcp_sessions *s = ((struct both *)state)->sessions;
    const struct mishap_mcp_place *place;
    bool found = false;
    mishap_mcp_sessions_lock(s);
    while (!found && *at < MISHAP_MCP_WISHES) {
        struct mishap_mcp_wish *wish = &s->wishes[(*at)++];
        found = is_open(s, wish, &place);
        if (!found)
            continue;
        to->session = wish->session;
        to->stream = wish->stream;
        to->place = wish->place;
        make_key(place->id, to->key);
        memcpy(to->position, wish->position, sizeof to->position);
    }
    unlock(s);
    return found;
}

static bool is_list(mishap_text address, mishap_mcp_change list)
{
    return !address.data || mishap_text_equal(address, mishap_mcp_list_addresses[list]) ||
           mishap_text_equal(address, (mishap_text)MISHAP_TEXT(MISHAP_ADDRESS_LISTS));
}

static void change(void *state, uint64_t session, mishap_text address)
{
    struct both *b = state;
    mishap_mcp_sessions_lock(b->sessions);
    struct mishap_mcp_place *place = mishap_mcp_place_find(b->sessions, session);
    for (mishap_mcp_change list = 0; place && list < MISHAP_MCP_RESOURCE_UPDATED; list++)
        if (address.data && is_list(address, list))
            place->told[list] = b->sessions->changes[list] - 1;
    unlock(b->sessions);
    mishap_mcp_watch_change(b->watches, session, address);
}

static void add_event(void *state, uint64_t session, const mishap_handover_event *event,
                      mishap_text data)
{
    mishap_mcp_event_restore(((struct both *)state)->sessions, session, event, data);
}

static void fulfil(void *state, size_t at, mishap_handover_outcome outcome)
{
    mishap_mcp_sessions *s = ((struct both *)state)->sessions;
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_wish *wish = &s->wishes[at - 1];
    uint64_t session = wish->session, stream = wish->stream;
    unlock(s);
    if (outcome == MISHAP_HANDOVER_LOST)
        mishap_mcp_stream_lose(s, session, stream); /* before its reader hears that this is all */
    mishap_mcp_sessions_lock(s);
    if (wish->session == session && wish->stream == stream)
        wish->answer = outcome == MISHAP_HANDOVER_MORE ? MISHAP_MCP_PARTLY : MISHAP_MCP_ANSWERED;
    unlock(s);
}

/* -- positions --------------------------------------------------------------------------------- */

static int64_t changes(void *state)
{
    return mishap_mcp_watches_changes(((struct both *)state)->watches);
}

static void hear(void *state, uint32_t server, int64_t number, mishap_text addresses)
{
    struct both *b = state;
    mishap_text rest = addresses, address;
    while (mishap_mcp_next_watched(&rest, &address))
        for (mishap_mcp_change list = 0; list < MISHAP_MCP_RESOURCE_UPDATED; list++)
            if (is_list(address, list))
                mishap_mcp_sessions_change(b->sessions, list);
    mishap_mcp_watches_hear(b->watches, server, number, addresses);
}

static void place_servers(void *state, const mishap_position *position)
{
    mishap_mcp_watches_place(((struct both *)state)->watches, position);
}

void mishap_mcp_sessions_hand_over(mishap_mcp_sessions *sessions, mishap_mcp_watches *watches,
                                   mishap_handover *handover)
{
    both = (struct both){ sessions, watches };
    sessions->shared = true;
    *handover = (mishap_handover){ .state = &both,
                                   .count = count,
                                   .next = next_session,
                                   .again = list_again,
                                   .read = read_session,
                                   .read_event = read_event,
                                   .stored = note_stored,
                                   .renew = renew,
                                   .restore = restore,
                                   .next_wish = next_wish,
                                   .change = change,
                                   .add_event = add_event,
                                   .fulfil = fulfil,
                                   .changes = changes,
                                   .hear = hear,
                                   .place = place_servers };
}
