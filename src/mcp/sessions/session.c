/*
 * Sessions of the older revisions over HTTP: see session.h. Runs in the loops, under the lock of
 * the table.
 */
#include <errno.h>
#include <unistd.h>

#include "base/shared.h"
#include "mcp/sessions/shared.h"
#include "operation/contain.h"

enum {
    PLACES = MISHAP_MCP_PLACES,
    CALLER = MISHAP_MCP_CALLER,
};

/* Ids are random: their first characters are enough. */
static size_t start_of(const char *id)
{
    return mishap_text_hash((mishap_text){ id, 8 }) & (PLACES - 1);
}

/* A place is free as long as its id is empty, so the id is written last. */
static void put_id(struct mishap_mcp_place *place, const char *id)
{
    memcpy(place->id + 1, id + 1, sizeof place->id - 1);
    mishap_mcp_first_this();
    place->id[0] = id[0];
    mishap_mcp_first_this();
}

static void move(struct mishap_mcp_place *to, struct mishap_mcp_place *from)
{
    const size_t id = sizeof from->id;
    to->id[0] = '\0';
    mishap_mcp_first_this();
    memcpy((char *)to + id, (const char *)from + id, sizeof *from - id);
    put_id(to, from->id);
    from->id[0] = '\0';
}

/* Repair the table after a process died with the lock: a place may be missing between others, be
 * there twice, or not be counted. An entry that is not found at its place moves up, also over
 * another one of the same id: that is where it was about to be moved to. */
static void mend(mishap_mcp_sessions *s)
{
    for (bool moved = true; moved;) {
        moved = false;
        s->count = 0;
        for (size_t i = 0; i < PLACES; i++) {
            struct mishap_mcp_place *place = &s->places[i];
            size_t at = start_of(place->id);
            if (!place->id[0])
                continue;
            while (at != i && s->places[at].id[0] &&
                   memcmp(s->places[at].id, place->id, sizeof place->id) != 0)
                at = (at + 1) & (PLACES - 1);
            if (at == i) {
                s->count++;
                continue;
            }
            move(&s->places[at], place);
            moved = true;
        }
    }
}

void mishap_mcp_sessions_lock(mishap_mcp_sessions *s)
{
    if (pthread_mutex_lock(&s->lock) == EOWNERDEAD) {
        mend(s);
        mishap_mcp_events_forget_all(s); /* the stored events are dropped */
        pthread_mutex_consistent(&s->lock);
    }
}

mishap *mishap_mcp_sessions_make(size_t event_bytes, int64_t idle_ms, size_t of_one,
                                 mishap_mcp_sessions **out)
{
    pthread_mutexattr_t kind;
    size_t blocks = event_bytes / MISHAP_MCP_BLOCK;
    size_t size = sizeof **out + blocks * MISHAP_MCP_BLOCK;
    mishap_mcp_sessions *s = *out = mishap_shared_map(size);
    if (!s)
        return mishap_out_of_memory();
    s->secret.count = 1;
    while (!mishap_system_random(s->secret.keys[0], sizeof s->secret.keys[0]))
        continue; /* an id that can be guessed is worse than none */
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&s->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    s->mapped = size;
    s->block_count = (uint32_t)blocks;
    s->idle_ns = idle_ms * 1000000;
    s->of_one = of_one;
    /* No stream gets the number of a stream of an earlier run: a client that resumes that one must
     * not get another. */
    s->streams = (uint64_t)mishap_clock_now_ms() * 1000;
    mishap_mcp_events_begin(s); /* the rest is zero */
    return NULL;
}

void mishap_mcp_sessions_name_server(mishap_mcp_sessions *s, unsigned server)
{
    s->server = server;
}

void mishap_mcp_sessions_free(mishap_mcp_sessions *s)
{
    if (s)
        mishap_shared_unmap(s, s->mapped);
}

/* -- the table --------------------------------------------------------------------------------- */

bool mishap_mcp_same_bytes(const char *a, const char *b, size_t length)
{
    unsigned char difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

static struct mishap_mcp_place *look_up(mishap_mcp_sessions *s, mishap_text id)
{
    if (id.length != MISHAP_MCP_SESSION_ID)
        return NULL;
    for (size_t i = start_of(id.data), n = 0; n < PLACES && s->places[i].id[0];
         i = (i + 1) & (PLACES - 1), n++)
        if (mishap_mcp_same_bytes(s->places[i].id, id.data, id.length) && !s->places[i].reserved)
            return &s->places[i];
    return NULL;
}

/* Free a place, and move up those behind it that would not be found any more. */
void mishap_mcp_place_clear(mishap_mcp_sessions *s, struct mishap_mcp_place *place)
{
    size_t hole = (size_t)(place - s->places), at = hole;
    mishap_mcp_events_forget(s, place);
    s->count--;
    place->id[0] = '\0';
    for (;;) {
        size_t home;
        do {
            at = (at + 1) & (PLACES - 1);
            if (!s->places[at].id[0])
                return;
            home = start_of(s->places[at].id);
        } while (((at - home) & (PLACES - 1)) < ((at - hole) & (PLACES - 1)));
        move(&s->places[hole], &s->places[at]);
        hole = at;
    }
}

/* True if it has ended. A place that was reserved by a loop which died never becomes a session. */
static bool is_over(const mishap_mcp_sessions *s, const struct mishap_mcp_place *place, int64_t now)
{
    return now - place->used_ns > s->idle_ns ||
           (place->reserved && mishap_life_is_over(place->reserved));
}

void mishap_mcp_places_clear_old(mishap_mcp_sessions *s)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (size_t i = 0; i < PLACES; i++)
        while (s->places[i].id[0] && is_over(s, &s->places[i], now))
            mishap_mcp_place_clear(s, &s->places[i]);
}

void mishap_mcp_sessions_clear(mishap_mcp_sessions *s)
{
    mishap_mcp_sessions_lock(s);
    mishap_mcp_places_clear_old(s);
    pthread_mutex_unlock(&s->lock);
}

size_t mishap_mcp_sessions_count(mishap_mcp_sessions *s)
{
    mishap_mcp_sessions_lock(s);
    size_t count = s->count;
    pthread_mutex_unlock(&s->lock);
    return count;
}

size_t mishap_mcp_sessions_in_use(mishap_mcp_sessions *s)
{
    size_t count = 0;
    int64_t now = mishap_clock_monotonic_ns();
    mishap_mcp_sessions_lock(s);
    for (size_t i = 0; i < MISHAP_MCP_PLACES && s->count; i++)
        count += s->places[i].id[0] && !mishap_mcp_place_is_idle(&s->places[i], now);
    pthread_mutex_unlock(&s->lock);
    return count;
}

static void copy_caller(char to[CALLER], const char *caller)
{
    size_t length = caller ? strlen(caller) : 0;
    if (length >= CALLER)
        length = CALLER - 1;
    memset(to, 0, CALLER);
    memcpy(to, caller ? caller : "", length);
}

/* Put a new session into the table, with a number that leads to its place, like its id. */
static struct mishap_mcp_place *add_session(mishap_mcp_sessions *s, mishap_mcp_owner owner,
                                            uint64_t holder, const mishap_mcp_session *session,
                                            mishap_life reserved, const char *id)
{
    size_t i = start_of(id);
    while (s->places[i].id[0])
        i = (i + 1) & (PLACES - 1);
    struct mishap_mcp_place *place = &s->places[i];
    *place = (struct mishap_mcp_place){ .session = *session,
                                        .key = owner.key,
                                        .holder = holder,
                                        .reserved = reserved,
                                        .used_ns = mishap_clock_monotonic_ns() };
    /* Earlier changes are not announced to it. */
    memcpy(place->told, s->changes, sizeof place->told);
    copy_caller(place->caller, owner.name);
    place->session.number = ++s->numbers * PLACES + start_of(id);
    put_id(place, id);
    s->count++;
    return place;
}

mishap *mishap_mcp_session_reserve(mishap_mcp_sessions *s, mishap_mcp_owner owner, uint64_t holder,
                                   mishap_mcp_session *session, char id[MISHAP_MCP_SESSION_ID + 1])
{
    int64_t wait_ns;
    mishap_mcp_id_draw(s, id);
    mishap_mcp_sessions_lock(s);
    mishap_mcp_room room = mishap_mcp_room_make(s, holder, mishap_clock_monotonic_ns(), &wait_ns);
    if (room == MISHAP_MCP_ROOM)
        *session = add_session(s, owner, holder, session, mishap_life_self(), id)->session;
    pthread_mutex_unlock(&s->lock);
    return room == MISHAP_MCP_ROOM ? NULL : mishap_mcp_room_refuse(s, room, wait_ns);
}

/* The first part of the id, which leads to its place, stays as it was drawn. */
void mishap_mcp_session_begin(mishap_mcp_sessions *s, mishap_mcp_owner owner,
                              const mishap_mcp_session *session, char id[MISHAP_MCP_SESSION_ID + 1])
{
    mishap_mcp_id_prove(s, owner, session, id);
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session->number);
    if (place) {
        memcpy(place->id, id, sizeof place->id);
        place->session = *session;
        mishap_mcp_first_this();
        place->reserved = 0;
    }
    pthread_mutex_unlock(&s->lock);
}

/* -- finding ----------------------------------------------------------------------------------- */

/* The place of a session of this owner that has not ended. */
static struct mishap_mcp_place *find_of(mishap_mcp_sessions *s, mishap_text id,
                                        mishap_mcp_owner owner)
{
    char name[CALLER];
    int64_t now = mishap_clock_monotonic_ns();
    struct mishap_mcp_place *place = look_up(s, id);
    copy_caller(name, owner.name);
    if (!place || place->key != owner.key || memcmp(place->caller, name, CALLER) != 0)
        return NULL;
    if (is_over(s, place, now)) {
        mishap_mcp_place_clear(s, place);
        return NULL;
    }
    place->used_ns = now;
    return place;
}

bool mishap_mcp_session_find(mishap_mcp_sessions *s, mishap_text id, mishap_mcp_owner owner,
                             mishap_mcp_session *session)
{
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *place = find_of(s, id, owner);
    if (place)
        *session = place->session;
    pthread_mutex_unlock(&s->lock);
    return place;
}

mishap *mishap_mcp_no_session(void)
{
    return mishap_suggest(mishap_raise(NOT_FOUND, "The session does not exist or has expired."),
                          "Start a new session with initialize.");
}

/* Another server may know more of it. */
static struct mishap_mcp_place *restore_session(mishap_mcp_sessions *s,
                                                struct mishap_mcp_place *place)
{
    place->restoring = place->doubtful = s->shared;
    mishap_mcp_place_changed(s, place);
    return place;
}

/* Ids are checked without the lock, so that many invalid ids do not delay other callers. */
mishap *mishap_mcp_session_revive(mishap_mcp_sessions *s, mishap_text id, mishap_mcp_owner owner,
                                  uint64_t holder, mishap_mcp_session *session)
{
    char text[MISHAP_MCP_SESSION_ID + 1] = "";
    int64_t wait_ns;
    mishap_mcp_room room = MISHAP_MCP_ROOM;
    mishap_mcp_session anew = { .initialized = true, .level = MISHAP_INFO };
    anew.revision = mishap_mcp_id_check(s, id, owner, &anew.capabilities);
    if (anew.revision == MISHAP_MCP_NONE)
        return mishap_mcp_no_session();
    memcpy(text, id.data, MISHAP_MCP_SESSION_ID);
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *place = find_of(s, id, owner); /* another loop was faster */
    if (!place && !mishap_mcp_ended_has(s, id)) {
        room = mishap_mcp_room_make(s, holder, mishap_clock_monotonic_ns(), &wait_ns);
        if (room == MISHAP_MCP_ROOM)
            place = restore_session(s, add_session(s, owner, holder, &anew, 0, text));
    }
    if (place)
        *session = place->session;
    pthread_mutex_unlock(&s->lock);
    if (room != MISHAP_MCP_ROOM)
        return mishap_mcp_room_refuse(s, room, wait_ns);
    return place ? NULL : mishap_mcp_no_session();
}

/* A number leads to its place, like the id. */
struct mishap_mcp_place *mishap_mcp_place_find(mishap_mcp_sessions *s, uint64_t number)
{
    for (size_t i = number & (PLACES - 1), n = 0; n < PLACES && s->places[i].id[0];
         i = (i + 1) & (PLACES - 1), n++)
        if (s->places[i].session.number == number)
            return &s->places[i];
    return NULL;
}

void mishap_mcp_session_keep(mishap_mcp_sessions *s, const mishap_mcp_session *session)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session->number);
    if (place && place->session.level != session->level) {
        place->version++;
        mishap_mcp_place_changed(s, place);
    }
    if (place)
        place->session = *session;
    pthread_mutex_unlock(&s->lock);
}

/* A session that lost its place, or that is of an earlier run, can be ended without a place. */
bool mishap_mcp_session_end(mishap_mcp_sessions *s, mishap_text id, mishap_mcp_owner owner,
                            uint64_t *number)
{
    size_t at = 0;
    *number = 0;
    if (mishap_mcp_id_check(s, id, owner, NULL) == MISHAP_MCP_NONE)
        return false;
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = find_of(s, id, owner);
    bool ends = place || !mishap_mcp_ended_has(s, id);
    if (place) {
        *number = place->session.number;
        mishap_mcp_place_clear(s, place);
    }
    if (ends)
        at = mishap_mcp_ended_add(s, id);
    pthread_mutex_unlock(&s->lock);
    if (ends)
        mishap_mcp_ended_write(s, id, at);
    return ends;
}

static bool is_of(const struct mishap_mcp_place *place, uint64_t key, const char *caller)
{
    return place->id[0] && (caller ? strcmp(place->caller, caller) == 0 : place->key == key);
}

size_t mishap_mcp_sessions_revoke(mishap_mcp_sessions *s, uint64_t key, const char *caller,
                                  uint64_t *numbers, size_t most)
{
    size_t count = 0;
    mishap_mcp_sessions_lock(s);
    for (size_t i = 0; i < PLACES; i++)
        while (count < most && is_of(&s->places[i], key, caller)) {
            numbers[count++] = s->places[i].session.number;
            mishap_mcp_place_clear(s, &s->places[i]);
        }
    pthread_mutex_unlock(&s->lock);
    return count;
}

bool mishap_mcp_session_lives(mishap_mcp_sessions *s, uint64_t number)
{
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    bool lives = place && !is_over(s, place, mishap_clock_monotonic_ns());
    pthread_mutex_unlock(&s->lock);
    return lives;
}

int64_t mishap_mcp_session_idle_ns(mishap_mcp_sessions *s, uint64_t number)
{
    int64_t now = mishap_clock_monotonic_ns();
    mishap_mcp_sessions_lock(s);
    const struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    int64_t idle_ns = place && mishap_mcp_place_is_idle(place, now) ? now - place->used_ns : 0;
    pthread_mutex_unlock(&s->lock);
    return idle_ns;
}

void mishap_mcp_session_drop(mishap_mcp_sessions *s, uint64_t number)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    if (place)
        mishap_mcp_place_clear(s, place);
    pthread_mutex_unlock(&s->lock);
}

uint64_t mishap_mcp_session_stand(mishap_mcp_sessions *s, uint64_t number)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    uint64_t standing = ++s->streams;
    if (place)
        place->standing = standing;
    pthread_mutex_unlock(&s->lock);
    return standing;
}

bool mishap_mcp_session_stands(mishap_mcp_sessions *s, uint64_t number, uint64_t standing)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    bool stands = place && place->standing == standing;
    if (stands)
        place->used_ns = mishap_clock_monotonic_ns(); /* a client that listens uses the session */
    pthread_mutex_unlock(&s->lock);
    return stands;
}

/* -- changes ----------------------------------------------------------------------------------- */

/* Called while a `.quick` handler runs, too: see mishap_contain_pause(). */
void mishap_mcp_sessions_change(mishap_mcp_sessions *s, mishap_mcp_change change)
{
    mishap_contained *contained = mishap_contain_pause();
    mishap_mcp_sessions_lock(s);
    s->changes[change]++;
    pthread_mutex_unlock(&s->lock);
    mishap_contain_resume(contained);
}

bool mishap_mcp_sessions_changed(mishap_mcp_sessions *s, mishap_mcp_change change, uint64_t *seen)
{
    mishap_mcp_sessions_lock(s);
    bool changed = *seen != s->changes[change];
    *seen = s->changes[change];
    pthread_mutex_unlock(&s->lock);
    return changed;
}

bool mishap_mcp_session_untold(mishap_mcp_sessions *s, uint64_t number, uint64_t standing,
                               bool lists[MISHAP_MCP_LISTS])
{
    bool any = false;
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, number);
    for (size_t i = 0; place && place->standing == standing && i < MISHAP_MCP_LISTS; i++) {
        lists[i] = place->told[i] != s->changes[i];
        place->told[i] = s->changes[i];
        any = any || lists[i];
    }
    pthread_mutex_unlock(&s->lock);
    return any;
}

/* -- calls that run ---------------------------------------------------------------------------- */

/* A loop that died has answered none of its calls, and never will. */
static bool runs(const struct mishap_mcp_running *call)
{
    return call->stream && !mishap_life_is_over(call->loop);
}

/* The call of this id, if it runs. */
static struct mishap_mcp_running *find_call(mishap_mcp_sessions *s, uint64_t session,
                                            mishap_text id)
{
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session);
    uint64_t hash = mishap_text_hash(id);
    for (size_t i = 0; place && i < MISHAP_MCP_RUNNING; i++)
        if (place->running[i].stream && place->running[i].id == hash && runs(&place->running[i]))
            return &place->running[i];
    return NULL;
}

static struct mishap_mcp_running *find_free(struct mishap_mcp_place *place)
{
    for (size_t i = 0; i < MISHAP_MCP_RUNNING; i++)
        if (!place->running[i].stream)
            return &place->running[i];
    for (size_t i = 0; i < MISHAP_MCP_RUNNING; i++)
        if (!runs(&place->running[i]))
            return &place->running[i];
    return NULL;
}

bool mishap_mcp_call_runs(mishap_mcp_sessions *s, uint64_t session, mishap_text id)
{
    mishap_mcp_sessions_lock(s);
    bool found = find_call(s, session, id);
    pthread_mutex_unlock(&s->lock);
    return found;
}

bool mishap_mcp_call_begin(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                           mishap_text id)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session);
    struct mishap_mcp_running *call = place && !find_call(s, session, id) ? find_free(place) : NULL;
    if (call)
        *call = (struct mishap_mcp_running){ .id = mishap_text_hash(id),
                                             .stream = stream,
                                             .loop = mishap_life_self() };
    pthread_mutex_unlock(&s->lock);
    return call;
}

void mishap_mcp_calls_end(mishap_mcp_sessions *s, uint64_t session, uint64_t stream)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session);
    for (size_t i = 0; place && i < MISHAP_MCP_RUNNING; i++)
        if (place->running[i].stream == stream)
            place->running[i] = (struct mishap_mcp_running){ 0 };
    pthread_mutex_unlock(&s->lock);
}

void mishap_mcp_call_cancel(mishap_mcp_sessions *s, uint64_t session, mishap_text id)
{
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_running *call = find_call(s, session, id);
    if (call)
        call->cancelled = true;
    pthread_mutex_unlock(&s->lock);
}

bool mishap_mcp_call_cancelled(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                               mishap_text id)
{
    uint64_t hash = mishap_text_hash(id);
    bool cancelled = true; /* a call ends with its session */
    mishap_mcp_sessions_lock(s);
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, session);
    if (place) {
        cancelled = false;
        /* A client waits for an answer, so the session is used. */
        place->used_ns = mishap_clock_monotonic_ns();
    }
    for (size_t i = 0; place && i < MISHAP_MCP_RUNNING; i++)
        if (place->running[i].stream == stream && place->running[i].id == hash)
            cancelled = place->running[i].cancelled;
    pthread_mutex_unlock(&s->lock);
    return cancelled;
}
