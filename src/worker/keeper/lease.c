/* The sessions of foreign programs that the keeper has: see lease.h. Runs in the keeper. */
#include "worker/keeper/lease.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    MOST_SESSIONS = 2048, /* including ended ones whose reason is still to be told */
    MOST_ASKED = 64,
    NO_LOOP = -1,
    IDLE_MS = 30 * 60 * 1000,
    MOST_LIVING = 128, /* of a service, if it declares no limit */
    PART_OF_FILES = 8, /* one session for so many files that a process may open */
    WORDS = MISHAP_KEEPER_LOOPS / 64,
    WEIGH_MS = 500, /* between checks of the memory that callers hold */
    QUIET_MS = 10,  /* between checks of a process that may still run a call whose loop has ended */
    QUIET_LOOKS = 3,  /* … checks after it has read all messages */
    MOST_LOOKS = 200, /* … checks at most */
};

struct session {
    bool known; /* false: the place is free */
    uint8_t key[MISHAP_SESSION_KEY];
    uint32_t group;
    uint32_t worker; /* 0: it has no process any more */
    int32_t pid;
    uint64_t holder;
    int end;  /* the loop's end of the connection: each loop that uses the session gets a copy */
    int loop; /* the loop that uses it, or NO_LOOP */
    uint64_t wanted[WORDS]; /* loops that wait for it, a bit each */
    uint32_t next;          /* the loop whose turn is next */
    int64_t since_ns;       /* when its loop released it, or when it ended */
    uint8_t reason; /* why it ended, if its caller is still to be told; else MISHAP_SESSION_NEW */
    bool again;     /* this is not its first process */
    bool dismissed; /* it is to end when no loop uses it … */
    uint8_t dismissed_for; /* … because of this */
    int quiet_looks; /* checks that are left before it is free: it may still run a call of a loop
                        that has ended */
    int64_t quiet_at_ns; /* … and when the next check is */
};

/* The state of this file: one in a process. */
static struct {
    const mishap_keeper_plan *plan;
    struct session all[MOST_SESSIONS];
    size_t end; /* all places from here on are free */
    struct {
        size_t loop;
        mishap_keeper_message message;
    } asked[MOST_ASKED]; /* requests for sessions that were not served yet */
    size_t asked_count;
    int64_t weighed_ns; /* when the memory of callers was checked last */
} l;

void mishap_leases_begin(const mishap_keeper_plan *plan)
{
    l.plan = plan;
}

size_t mishap_leases_most(const mishap_foreign *foreign)
{
    size_t most = foreign->most_sessions > 0 ? (size_t)foreign->most_sessions : MOST_LIVING;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / PART_OF_FILES < most)
        most = (size_t)files.rlim_cur / PART_OF_FILES;
    return most ? most : 1;
}

static const mishap_foreign *foreign_of(uint32_t group)
{
    const mishap_foreign *foreign = group < l.plan->groups.count
                                        ? l.plan->groups.groups[group].foreign
                                        : NULL;
    return foreign && foreign->sessions ? foreign : NULL;
}

static struct session *find_session(uint32_t group, const uint8_t key[MISHAP_SESSION_KEY])
{
    for (size_t i = 0; i < l.end; i++)
        if (l.all[i].known && l.all[i].group == group &&
            memcmp(l.all[i].key, key, MISHAP_SESSION_KEY) == 0)
            return &l.all[i];
    return NULL;
}

static struct session *find_worker(uint32_t worker)
{
    for (size_t i = 0; worker && i < l.end; i++)
        if (l.all[i].worker == worker)
            return &l.all[i];
    return NULL;
}

/* If there is no free place, the oldest session that has ended loses its place, and its reason with
 * it. */
static struct session *take_place(void)
{
    struct session *oldest = NULL;
    for (size_t i = 0; i < l.end; i++) {
        struct session *s = &l.all[i];
        if (!s->known)
            return s;
        if (!s->worker && (!oldest || s->since_ns < oldest->since_ns))
            oldest = s;
    }
    return l.end < MOST_SESSIONS ? &l.all[l.end++] : oldest;
}

/* -- leases ------------------------------------------------------------------------------------ */

static mishap_keeper_message message_of(const struct session *s, mishap_keeper_word word)
{
    mishap_keeper_message message = {
        .word = word, .group = s->group, .worker = s->worker, .pid = s->pid
    };
    memcpy(message.session, s->key, MISHAP_SESSION_KEY);
    return message;
}

static void refuse_loop(size_t loop, const mishap_keeper_message *asked, int error)
{
    mishap_keeper_message answer = { .word = MISHAP_KEEPER_REFUSED,
                                     .number = asked->number,
                                     .group = asked->group,
                                     .status = error };
    memcpy(answer.session, asked->session, MISHAP_SESSION_KEY);
    mishap_keeper_tell_loop(loop, &answer, NULL);
}

/* `joined`: the process runs already. */
static void grant(struct session *s, size_t loop, bool joined)
{
    mishap_keeper_message answer = message_of(s, MISHAP_KEEPER_STARTED);
    answer.joined = joined;
    answer.reason = joined ? MISHAP_SESSION_NEW : s->reason;
    answer.known = s->again;
    answer.holder = s->holder;
    s->reason = MISHAP_SESSION_NEW;
    s->wanted[loop / 64] &= ~(UINT64_C(1) << (loop % 64));
    if (!mishap_keeper_tell_loop(loop, &answer, &s->end))
        return; /* the loop asks again */
    s->loop = (int)loop;
    mishap_keeper_set_user(s->worker, loop, true);
}

static void close_session(struct session *s, mishap_session_reason reason);

/* Its loop has released it: it goes to the next loop that wants it. */
static void pass_on(struct session *s)
{
    if (s->dismissed) {
        close_session(s, (mishap_session_reason)s->dismissed_for);
        return;
    }
    s->loop = NO_LOOP;
    s->quiet_looks = 0;
    s->since_ns = mishap_clock_monotonic_ns();
    for (uint32_t i = 0; i < MISHAP_KEEPER_LOOPS && s->loop == NO_LOOP; i++) {
        uint32_t loop = (s->next + i) % MISHAP_KEEPER_LOOPS;
        if (s->wanted[loop / 64] >> (loop % 64) & 1) {
            s->next = loop + 1;
            grant(s, loop, true);
        }
    }
}

/* Of the sessions of this caller that no loop has used for MISHAP_SESSION_RESTS_MS, end the one
 * that was idle for the longest time. False: there is none. */
static bool end_resting(uint32_t group, uint64_t holder)
{
    struct session *oldest = NULL;
    int64_t before = mishap_clock_monotonic_ns() - MISHAP_SESSION_RESTS_MS * INT64_C(1000000);
    for (size_t i = 0; i < l.end; i++) {
        struct session *s = &l.all[i];
        if (s->worker && s->group == group && s->holder == holder && s->loop == NO_LOOP &&
            !s->quiet_looks && s->since_ns < before && (!oldest || s->since_ns < oldest->since_ns))
            oldest = s;
    }
    if (oldest)
        close_session(oldest, MISHAP_SESSION_IDLE);
    return oldest != NULL;
}

/* 0, or the error that says why no further session can be started. */
static int check_room(uint32_t group, uint64_t holder)
{
    size_t most = mishap_leases_most(foreign_of(group));
    size_t share = most * (size_t)l.plan->caller_share / 100, living = 0, of_holder = 0;
    for (size_t i = 0; i < l.end; i++)
        if (l.all[i].worker && l.all[i].group == group) {
            living++;
            of_holder += l.all[i].holder == holder;
        }
    share = share || !l.plan->caller_share ? share : 1;
    if (living >= most)
        return EUSERS;
    return holder && share && of_holder >= share ? EDQUOT : 0;
}

/* Start its process, the first one or a new one. False: errno says why. */
static bool begin_session(struct session *s, const mishap_keeper_message *asked)
{
    uint32_t worker;
    int32_t pid;
    int end, error = check_room(asked->group, asked->holder);
    if (error && end_resting(asked->group, asked->holder))
        error = 0;
    struct session *place = s ? s : take_place();
    if (error || !place) {
        errno = error ? error : EUSERS;
        return false;
    }
    if (!mishap_keeper_begin_foreign(asked->group, true, &worker, &pid, &end))
        return false;
    *place = (struct session){ .known = true,
                               .group = asked->group,
                               .worker = worker,
                               .pid = pid,
                               .holder = asked->holder,
                               .end = end,
                               .loop = NO_LOOP,
                               .reason = s ? s->reason : MISHAP_SESSION_NEW,
                               .again = s != NULL };
    memcpy(place->key, asked->session, MISHAP_SESSION_KEY);
    return true;
}

static void lease(size_t loop, const mishap_keeper_message *asked)
{
    struct session *s = foreign_of(asked->group) ? find_session(asked->group, asked->session)
                                                 : NULL;
    if (!foreign_of(asked->group)) {
        refuse_loop(loop, asked, EINVAL);
    } else if (!s || !s->worker) {
        if (begin_session(s, asked))
            grant(find_session(asked->group, asked->session), loop, false);
        else
            refuse_loop(loop, asked, errno);
    } else if (s->quiet_looks) {
        s->wanted[loop / 64] |= UINT64_C(1) << (loop % 64);
    } else if (s->loop == NO_LOOP || s->loop == (int)loop) {
        grant(s, loop, true);
    } else {
        mishap_keeper_message recall = message_of(s, MISHAP_KEEPER_RECALL);
        s->wanted[loop / 64] |= UINT64_C(1) << (loop % 64);
        mishap_keeper_tell_loop((size_t)s->loop, &recall, NULL);
    }
}

/* -- ends -------------------------------------------------------------------------------------- */

/* Its process has ended. Loops that wait for it ask again, and so start a new process. */
static void forget_process(struct session *s, mishap_session_reason reason)
{
    if (s->end >= 0)
        close(s->end);
    s->end = -1;
    s->worker = 0;
    s->quiet_looks = 0;
    s->dismissed = false;
    s->dismissed_for = MISHAP_SESSION_NEW;
    s->reason = (uint8_t)reason;
    s->since_ns = mishap_clock_monotonic_ns();
    s->loop = NO_LOOP;
    for (size_t loop = 0; loop < MISHAP_KEEPER_LOOPS; loop++)
        if (s->wanted[loop / 64] >> (loop % 64) & 1) {
            mishap_keeper_message again = message_of(s, MISHAP_KEEPER_REFUSED);
            again.status = ECHILD; /* the process has ended: the loop asks again, at once */
            mishap_keeper_tell_loop(loop, &again, NULL);
        }
    memset(s->wanted, 0, sizeof s->wanted);
}

/* Close its connection: then the process ends by itself. */
static void close_session(struct session *s, mishap_session_reason reason)
{
    uint32_t worker = s->worker;
    forget_process(s, reason);
    mishap_keeper_let_end(worker);
}

/* The loop that uses it gives it back after its call. Then it ends. */
static void dismiss(struct session *s, mishap_session_reason reason)
{
    s->dismissed_for = (uint8_t)reason;
    if (!s->worker) {
        s->reason = (uint8_t)reason;
    } else if (s->loop != NO_LOOP) {
        mishap_keeper_message recall = message_of(s, MISHAP_KEEPER_RECALL);
        s->dismissed = true;
        mishap_keeper_tell_loop((size_t)s->loop, &recall, NULL);
    } else if (s->quiet_looks) {
        s->dismissed = true;
    } else {
        close_session(s, reason);
    }
}

/* The memory that the sessions of a caller hold together. `lasting`: without sessions that end
 * after their call anyway. */
static uint64_t held_by(uint32_t group, uint64_t holder, bool lasting, struct session **largest)
{
    uint64_t all = 0, most = 0;
    *largest = NULL;
    for (size_t i = 0; i < l.end; i++) {
        struct session *s = &l.all[i];
        if (!s->worker || (lasting && s->dismissed) || s->group != group || s->holder != holder)
            continue;
        uint64_t bytes = mishap_keeper_resident(s->worker);
        all += bytes;
        if (bytes >= most) {
            most = bytes;
            *largest = s;
        }
    }
    return all;
}

/* A caller that holds too much loses its largest session, after its call. Only one is ended at a
 * time: the next check sees what is left. But a call may take minutes, and a caller may have many:
 * above twice the limit, the session is killed at once. */
static void look_at_memory(int64_t now_ns)
{
    if (now_ns - l.weighed_ns < WEIGH_MS * INT64_C(1000000))
        return;
    l.weighed_ns = now_ns;
    for (size_t i = 0; i < l.end; i++) {
        const struct session *s = &l.all[i];
        struct session *largest;
        uint64_t most = s->worker ? foreign_of(s->group)->caller_bytes : 0;
        if (!s->worker || !most || !s->holder)
            continue;
        if (held_by(s->group, s->holder, false, &largest) > 2 * most)
            mishap_keeper_end_heavy(largest->worker);
        else if (!s->dismissed && held_by(s->group, s->holder, true, &largest) > most)
            dismiss(largest, MISHAP_SESSION_HEAVY);
    }
}

bool mishap_leases_wait(void)
{
    return l.asked_count > 0;
}

void mishap_leases_serve(void)
{
    for (size_t i = 0; i < l.asked_count; i++)
        if (l.asked[i].loop < MISHAP_KEEPER_LOOPS)
            lease(l.asked[i].loop, &l.asked[i].message);
    l.asked_count = 0;
}

static void tell_count(size_t loop)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_COUNT };
    for (size_t i = 0; i < l.end; i++)
        message.number += l.all[i].known && l.all[i].worker;
    mishap_keeper_tell_loop(loop, &message, NULL);
}

void mishap_leases_hear(size_t loop, const mishap_keeper_message *message)
{
    struct session *s = find_worker(message->worker);
    bool its = s && s->loop == (int)loop;
    if (message->reason > MISHAP_SESSION_LAST_REASON)
        return;
    switch ((int)message->word) {
    case MISHAP_KEEPER_LEASE:
        if (l.asked_count == MOST_ASKED)
            mishap_leases_serve();
        l.asked[l.asked_count].loop = loop;
        l.asked[l.asked_count++].message = *message;
        break;
    case MISHAP_KEEPER_RELEASE:
        if (!its)
            return;
        mishap_keeper_set_user(s->worker, loop, false);
        pass_on(s);
        break;
    case MISHAP_KEEPER_CLOSE:
        if (its) {
            mishap_keeper_set_user(s->worker, loop, false);
            close_session(s, (mishap_session_reason)message->reason);
            return;
        }
        s = find_session(message->group, message->session); /* it may have ended meanwhile */
        if (s && !s->worker)
            s->reason = message->reason;
        break;
    case MISHAP_KEEPER_TOLD:
        s = find_session(message->group, message->session);
        if (s && !s->worker)
            s->reason = MISHAP_SESSION_NEW;
        break;
    case MISHAP_KEEPER_DISMISS:
        s = find_session(message->group, message->session);
        if (s)
            dismiss(s, MISHAP_SESSION_NEW);
        break;
    case MISHAP_KEEPER_COUNT:
        tell_count(loop);
        break;
    default:
        break;
    }
}

/* The loop of this session has ended. A call that it had handed over may still run, or be about to,
 * though its answer goes nowhere. So the program is interrupted, and gets a moment to stop. A
 * signal before it has read the call would have no effect. */
static void look_for_quiet(struct session *s, int64_t now_ns)
{
    int unread = 0;
    bool has_read = ioctl(s->end, SIOCOUTQ, &unread) != 0 || unread == 0;
    if (has_read && s->quiet_looks > QUIET_LOOKS)
        s->quiet_looks = QUIET_LOOKS;
    if (has_read)
        mishap_keeper_interrupt(s->worker, 0);
    s->quiet_at_ns = now_ns + QUIET_MS * INT64_C(1000000);
    if (--s->quiet_looks == 0)
        pass_on(s);
}

void mishap_leases_loop_gone(size_t loop)
{
    for (size_t i = 0; i < l.asked_count; i++)
        if (l.asked[i].loop == loop)
            l.asked[i].loop = MISHAP_KEEPER_LOOPS; /* no loop: the request is dropped */
    for (size_t i = 0; i < l.end; i++) {
        struct session *s = &l.all[i];
        s->wanted[loop / 64] &= ~(UINT64_C(1) << (loop % 64));
        if (s->worker && s->loop == (int)loop) {
            s->loop = NO_LOOP;
            s->quiet_looks = MOST_LOOKS;
            look_for_quiet(s, mishap_clock_monotonic_ns());
        }
    }
}

void mishap_leases_worker_ended(uint32_t worker)
{
    struct session *s = find_worker(worker);
    if (s)
        forget_process(s, MISHAP_SESSION_DIED);
}

int64_t mishap_leases_look(int64_t now_ns)
{
    int64_t next = INT64_MAX;
    look_at_memory(now_ns);
    for (size_t i = 0; i < l.end; i++) {
        struct session *s = &l.all[i];
        if (!s->worker || s->loop != NO_LOOP)
            continue;
        if (s->quiet_looks && s->quiet_at_ns <= now_ns)
            look_for_quiet(s, now_ns);
        if (!s->worker)
            continue;
        if (s->quiet_looks) {
            next = s->quiet_at_ns < next ? s->quiet_at_ns : next;
            continue;
        }
        if (s->loop != NO_LOOP)
            continue;
        int idle_ms = foreign_of(s->group)->idle_ms;
        int64_t due = s->since_ns + (idle_ms > 0 ? idle_ms : IDLE_MS) * INT64_C(1000000);
        if (due <= now_ns)
            close_session(s, MISHAP_SESSION_IDLE);
        else if (due < next)
            next = due;
    }
    return next;
}

void mishap_leases_stop(void)
{
    for (size_t i = 0; i < l.end; i++)
        if (l.all[i].worker && l.all[i].end >= 0)
            close(l.all[i].end);
    l.end = 0;
}
