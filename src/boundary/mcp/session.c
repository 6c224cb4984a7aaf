#include "boundary/mcp/session.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PLACES = 4096,    /* of the table of sessions: a power of two */
    MOST = 2048,      /* sessions at once */
    CANCELS = 256,    /* requests that were cancelled and whose worker has not seen it yet */
    CALLER = 64,      /* the name of an API key has at most 63 characters */
    LONGEST_ID = 128, /* of a request, as far as it is compared */
};

struct place {
    char id[MISHAP_MCP_SESSION_ID + 1]; /* empty: free */
    char caller[CALLER];
    mishap_mcp_session session;
    uint64_t standing; /* its latest stream that belongs to no request */
    int64_t used_ns;
};

struct cancel {
    uint64_t session; /* 0: free */
    size_t length;
    char request[LONGEST_ID];
};

/* An event in the ring; its data follows it. */
struct event {
    uint32_t size; /* of all of it, in bytes; a multiple of 8 */
    uint32_t length;
    uint64_t session, stream, place; /* session 0: filling, up to the end of the ring */
    pid_t will_of;                   /* if it is one: the process that must be gone; place is 0 */
    bool last;
};

/* Sizes and places in the ring are multiples of this, so there is room for a head wherever one may
 * begin. */
enum { EVENT = sizeof(struct event) };

/* All of it is guarded by the lock, which is given up by whoever dies with it. */
struct mishap_mcp_sessions {
    pthread_mutex_t lock;
    size_t mapped;
    int64_t idle_ns;
    uint64_t numbers, streams; /* given out so far */
    uint64_t changes[MISHAP_MCP_LISTS];
    size_t count, next_cancel;
    struct place places[PLACES];
    struct cancel cancels[CANCELS];
    size_t capacity, first,
        used; /* of the ring: where the oldest event is, and how many bytes are */
    char ring[];
};

/* Ids are random, so their first characters are as good as a hash. */
static size_t start_of(const char *id)
{
    uint64_t hash = 0;
    for (int i = 0; i < 8; i++)
        hash = hash * 31 + (unsigned char)id[i];
    return hash & (PLACES - 1);
}

/* After the death of one who had the lock: a place may be missing between others, stand twice, or
 * not be counted. Whatever is not found where it stands moves up. */
static void mend(mishap_mcp_sessions *s)
{
    for (bool moved = true; moved;) {
        moved = false;
        s->count = 0;
        for (size_t i = 0; i < PLACES; i++) {
            struct place *place = &s->places[i];
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
            if (!s->places[at].id[0])
                s->places[at] = *place;
            place->id[0] = '\0';
            moved = true;
        }
    }
}

static void take_lock(mishap_mcp_sessions *s)
{
    if (pthread_mutex_lock(&s->lock) == EOWNERDEAD) {
        mend(s);
        s->first = s->used = 0; /* what was kept of streams is given up */
        pthread_mutex_consistent(&s->lock);
    }
}

mishap *mishap_mcp_sessions_make(size_t event_bytes, int64_t idle_ms, mishap_mcp_sessions **out)
{
    pthread_mutexattr_t kind;
    size_t capacity = event_bytes / EVENT * EVENT, size = sizeof **out + capacity;
    mishap_mcp_sessions *s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                  -1, 0);
    if (s == MAP_FAILED)
        return mishap_out_of_memory();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&s->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    s->mapped = size;
    s->capacity = capacity;
    s->idle_ns = idle_ms * 1000000;
    *out = s;
    return NULL;
}

void mishap_mcp_sessions_free(mishap_mcp_sessions *s)
{
    if (s)
        munmap(s, s->mapped);
}

/* -- the table --------------------------------------------------------------------------------- */

static bool equal_in_constant_time(const char *a, const char *b, size_t length)
{
    unsigned char difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

static struct place *look_up(mishap_mcp_sessions *s, mishap_text id)
{
    if (id.length != MISHAP_MCP_SESSION_ID)
        return NULL;
    for (size_t i = start_of(id.data), n = 0; n < PLACES && s->places[i].id[0];
         i = (i + 1) & (PLACES - 1), n++)
        if (equal_in_constant_time(s->places[i].id, id.data, id.length))
            return &s->places[i];
    return NULL;
}

/* Free a place, and move up those behind it that would not be found any more. */
static void clear(mishap_mcp_sessions *s, struct place *place)
{
    size_t hole = (size_t)(place - s->places), at = hole;
    s->count--;
    for (;;) {
        s->places[hole].id[0] = '\0';
        size_t home;
        do {
            at = (at + 1) & (PLACES - 1);
            if (!s->places[at].id[0])
                return;
            home = start_of(s->places[at].id);
        } while (((at - home) & (PLACES - 1)) < ((at - hole) & (PLACES - 1)));
        s->places[hole] = s->places[at];
        hole = at;
    }
}

static bool is_over(const mishap_mcp_sessions *s, const struct place *place, int64_t now)
{
    return now - place->used_ns > s->idle_ns;
}

static void clear_old(mishap_mcp_sessions *s)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (size_t i = 0; i < PLACES; i++)
        while (s->places[i].id[0] && is_over(s, &s->places[i], now))
            clear(s, &s->places[i]);
}

static void make_id(char id[MISHAP_MCP_SESSION_ID + 1])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[MISHAP_MCP_SESSION_ID];
    while (!mishap_system_random(bytes, sizeof bytes))
        continue; /* an id that can be guessed is worse than none */
    for (size_t i = 0; i < sizeof bytes; i++)
        id[i] = letters[bytes[i] & 63];
    id[MISHAP_MCP_SESSION_ID] = '\0';
}

static void copy_caller(char to[CALLER], const char *caller)
{
    size_t length = caller ? strlen(caller) : 0;
    if (length >= CALLER)
        length = CALLER - 1;
    memset(to, 0, CALLER);
    memcpy(to, caller ? caller : "", length);
}

bool mishap_mcp_session_begin(mishap_mcp_sessions *s, const char *caller,
                              const mishap_mcp_session *session, char id[MISHAP_MCP_SESSION_ID + 1])
{
    make_id(id);
    take_lock(s);
    if (s->count >= MOST)
        clear_old(s);
    bool room = s->count < MOST;
    if (room) {
        size_t i = start_of(id);
        while (s->places[i].id[0])
            i = (i + 1) & (PLACES - 1);
        struct place *place = &s->places[i];
        copy_caller(place->caller, caller);
        place->session = *session;
        place->session.number = ++s->numbers * PLACES + start_of(id);
        place->standing = 0;
        place->used_ns = mishap_clock_monotonic_ns();
        memcpy(place->id, id, sizeof place->id);
        s->count++;
    }
    pthread_mutex_unlock(&s->lock);
    return room;
}

/* The place of a session of this caller that is not over. */
static struct place *find_of(mishap_mcp_sessions *s, mishap_text id, const char *caller)
{
    char name[CALLER];
    int64_t now = mishap_clock_monotonic_ns();
    struct place *place = look_up(s, id);
    copy_caller(name, caller);
    if (!place || memcmp(place->caller, name, CALLER) != 0)
        return NULL;
    if (is_over(s, place, now)) {
        clear(s, place);
        return NULL;
    }
    place->used_ns = now;
    return place;
}

bool mishap_mcp_session_find(mishap_mcp_sessions *s, mishap_text id, const char *caller,
                             mishap_mcp_session *session)
{
    take_lock(s);
    const struct place *place = find_of(s, id, caller);
    if (place)
        *session = place->session;
    pthread_mutex_unlock(&s->lock);
    return place;
}

/* A number tells where its place would be, like the id. */
static struct place *by_number(mishap_mcp_sessions *s, uint64_t number)
{
    for (size_t i = number & (PLACES - 1), n = 0; n < PLACES && s->places[i].id[0];
         i = (i + 1) & (PLACES - 1), n++)
        if (s->places[i].session.number == number)
            return &s->places[i];
    return NULL;
}

void mishap_mcp_session_keep(mishap_mcp_sessions *s, const mishap_mcp_session *session)
{
    take_lock(s);
    struct place *place = by_number(s, session->number);
    if (place)
        place->session = *session;
    pthread_mutex_unlock(&s->lock);
}

bool mishap_mcp_session_end(mishap_mcp_sessions *s, mishap_text id, const char *caller)
{
    take_lock(s);
    struct place *place = find_of(s, id, caller);
    if (place)
        clear(s, place);
    pthread_mutex_unlock(&s->lock);
    return place;
}

bool mishap_mcp_session_lives(mishap_mcp_sessions *s, uint64_t number)
{
    take_lock(s);
    bool lives = by_number(s, number);
    pthread_mutex_unlock(&s->lock);
    return lives;
}

uint64_t mishap_mcp_session_stand(mishap_mcp_sessions *s, uint64_t number)
{
    take_lock(s);
    struct place *place = by_number(s, number);
    uint64_t standing = ++s->streams;
    if (place)
        place->standing = standing;
    pthread_mutex_unlock(&s->lock);
    return standing;
}

bool mishap_mcp_session_stands(mishap_mcp_sessions *s, uint64_t number, uint64_t standing)
{
    take_lock(s);
    struct place *place = by_number(s, number);
    bool stands = place && place->standing == standing;
    if (stands)
        place->used_ns = mishap_clock_monotonic_ns(); /* who listens is there */
    pthread_mutex_unlock(&s->lock);
    return stands;
}

/* -- changes ----------------------------------------------------------------------------------- */

void mishap_mcp_sessions_change(mishap_mcp_sessions *s, mishap_mcp_change change)
{
    take_lock(s);
    s->changes[change]++;
    pthread_mutex_unlock(&s->lock);
}

bool mishap_mcp_sessions_changed(mishap_mcp_sessions *s, mishap_mcp_change change, uint64_t *seen)
{
    take_lock(s);
    bool changed = *seen != s->changes[change];
    *seen = s->changes[change];
    pthread_mutex_unlock(&s->lock);
    return changed;
}

/* -- cancelling -------------------------------------------------------------------------------- */

static bool is_cancel(const struct cancel *cancel, uint64_t number, mishap_text request)
{
    size_t length = request.length < LONGEST_ID ? request.length : LONGEST_ID;
    return cancel->session == number && cancel->length == request.length &&
           memcmp(cancel->request, request.data, length) == 0;
}

void mishap_mcp_session_cancel(mishap_mcp_sessions *s, uint64_t number, mishap_text request)
{
    take_lock(s);
    struct cancel *cancel = &s->cancels[s->next_cancel++ % CANCELS];
    cancel->session = number;
    cancel->length = request.length;
    memcpy(cancel->request, request.data,
           request.length < LONGEST_ID ? request.length : LONGEST_ID);
    pthread_mutex_unlock(&s->lock);
}

bool mishap_mcp_session_cancelled(mishap_mcp_sessions *s, uint64_t number, mishap_text request)
{
    bool found = false;
    take_lock(s);
    for (size_t i = 0; i < CANCELS && !found; i++) {
        found = is_cancel(&s->cancels[i], number, request);
        if (found)
            s->cancels[i].session = 0;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* -- events ------------------------------------------------------------------------------------ */

uint64_t mishap_mcp_stream_begin(mishap_mcp_sessions *s)
{
    take_lock(s);
    uint64_t number = ++s->streams;
    pthread_mutex_unlock(&s->lock);
    return number;
}

static struct event *event_at(mishap_mcp_sessions *s, size_t at)
{
    return (struct event *)(void *)(s->ring + at);
}

static void drop_oldest(mishap_mcp_sessions *s)
{
    size_t size = event_at(s, s->first)->size;
    s->used -= size;
    s->first = (s->first + size) % s->capacity;
}

/* Where `size` bytes in one piece are free, after dropping as many old events as that takes. */
static size_t make_room(mishap_mcp_sessions *s, size_t size)
{
    size_t end = (s->first + s->used) % s->capacity, to_end = s->capacity - end;
    size_t need = size > to_end ? size + to_end : size;
    while (s->capacity - s->used < need)
        drop_oldest(s);
    if (size > to_end) {
        /* What is left at the end of the ring is filled. */
        event_at(s, end)->size = (uint32_t)to_end;
        event_at(s, end)->session = 0;
        s->used += to_end;
        end = 0;
    }
    return end;
}

/* Put an event, whose size and length are not said yet, into the ring. */
static void add(mishap_mcp_sessions *s, struct event event, mishap_text data)
{
    size_t size = (sizeof event + data.length + EVENT - 1) / EVENT * EVENT;
    if (size > s->capacity / 4)
        return; /* it cannot be resumed; who asks is told so */
    event.size = (uint32_t)size;
    event.length = (uint32_t)data.length;
    take_lock(s);
    struct event *place = event_at(s, make_room(s, size));
    *place = event;
    memcpy(place + 1, data.data, data.length);
    s->used += size;
    pthread_mutex_unlock(&s->lock);
}

void mishap_mcp_event_add(mishap_mcp_sessions *s, uint64_t session, uint64_t stream, uint64_t place,
                          mishap_text data, bool last)
{
    add(s, (struct event){ .session = session, .stream = stream, .place = place, .last = last },
        data);
}

void mishap_mcp_stream_will(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                            mishap_text data)
{
    add(s,
        (struct event){ .session = session, .stream = stream, .will_of = getpid(), .last = true },
        data);
}

static bool is_gone(pid_t process)
{
    return kill(process, 0) != 0 && errno == ESRCH;
}

bool mishap_mcp_event_known(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                            uint64_t place)
{
    bool known = false;
    take_lock(s);
    for (size_t at = s->first, seen = 0; seen < s->used && !known;) {
        const struct event *event = event_at(s, at);
        known = event->session == session && event->stream == stream && event->place == place &&
                !event->will_of;
        seen += event->size;
        at = (at + event->size) % s->capacity;
    }
    pthread_mutex_unlock(&s->lock);
    return known;
}

bool mishap_mcp_event_next(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                           uint64_t place, mishap_buffer *data, bool *last, bool *gone)
{
    const struct event *next = NULL, *will = NULL;
    bool over = false; /* the event at this place was the last */
    *gone = false;
    take_lock(s);
    for (size_t at = s->first, seen = 0; seen < s->used;) {
        const struct event *event = event_at(s, at);
        seen += event->size;
        at = (at + event->size) % s->capacity;
        if (event->session != session || event->stream != stream)
            continue;
        if (event->will_of)
            will = event;
        else if (event->place == place)
            over = event->last;
        else if (event->place > place && (!next || event->place < next->place))
            next = event;
    }
    if (next && next->place != place + 1)
        *gone = true;
    if (!next && !over && will && is_gone(will->will_of))
        next = will;
    bool found = next && !*gone;
    if (found)
        mishap_buffer_put(data, (const char *)(next + 1), next->length);
    *last = found ? next->last : over;
    pthread_mutex_unlock(&s->lock);
    return found;
}
