/*
 * Connections against the limit of open files: see files.h. Each loop is a process with a limit of
 * its own. The number of files for other uses than connections is known in advance and reserved: a
 * log that cannot be reopened, or a worker that cannot be started, would affect all requests; one
 * connection less affects none.
 */
#include "server/files.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "incident/logs.h"

enum {
    /* Standard input, output and error; the poll, wake-up, signal and spare files of libuv; the
     * connection to the supervisor; access log, incident log, keys; and some spare. */
    OWN_FILES = 20,
    LEAST_LINGERING = 8,
    MOST_LINGERING = 64,
    GUESS = 1024, /* files of a loop beside connections, before the exact number is known */
};

/* The limit; it is raised if `wanted` is higher. */
static rlim_t limit_for(rlim_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return RLIM_INFINITY;
    if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = { limit.rlim_max, limit.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    return limit.rlim_cur;
}

void mishap_http_files_raise(const mishap_http_settings *settings)
{
    limit_for((rlim_t)settings->max_connections + GUESS);
}

/* Connections over the limit stay open for a moment, while they are refused. */
static int most_lingering(rlim_t limit)
{
    rlim_t part = limit / 8;
    return part < LEAST_LINGERING  ? LEAST_LINGERING
           : part > MOST_LINGERING ? MOST_LINGERING
                                   : (int)part;
}

mishap *mishap_http_files_fit(mishap_http_settings *settings, size_t listening, size_t others)
{
    size_t reserve = OWN_FILES + MOST_LINGERING + listening + others;
    rlim_t limit = limit_for((rlim_t)settings->max_connections + reserve);
    settings->most_lingering = most_lingering(limit);
    reserve -= (size_t)(MOST_LINGERING - settings->most_lingering);
    if (limit >= (rlim_t)settings->max_connections + reserve)
        return NULL;
    if (limit <= reserve)
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED,
                         "The limit of %llu open files (ulimit -n) is too low: a server process "
                         "needs %zu, and one more for each connection.",
                         (unsigned long long)limit, reserve),
            "Raise the limit, or start with a smaller --handlers.");
    int room = (int)(limit - reserve);
    /* A few less than were asked for are not worth a message. */
    if (room < settings->max_connections - settings->max_connections / 20)
        mishap_log_say(
            "%s: --max-connections is %d instead of %d for each server process: the limit of open "
            "files (ulimit -n) is %llu, and %zu of them are reserved for other uses\n",
            settings->program, room, settings->max_connections, (unsigned long long)limit, reserve);
    settings->max_connections = room;
    return NULL;
}
