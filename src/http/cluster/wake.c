/*
 * In a loop: what has changed is told to clients within milliseconds, also if another server or
 * another loop has changed it. Without a cluster a loop finds such changes when it ticks. Here a
 * timer looks at the number of changes, which is in shared memory, more often while there are some.
 */
#include <uv.h>

#include "http/cluster/inside.h"
#include "worker/serving/served.h"

enum { SOON_MS = 4, QUIET_MS = 40, LATELY_MS = 1000 };

/* One in a process. */
static struct {
    uv_timer_t timer;
    mishap_http_server *server;
    const mishap_news *news;
    uint64_t seen, changed_ms;
} wake;

static void on_timer(uv_timer_t *timer)
{
    uint64_t count = mishap_news_count(wake.news), now_ms = uv_now(timer->loop);
    if (count != wake.seen) {
        wake.seen = count;
        wake.changed_ms = now_ms;
        mishap_http_tick(wake.server);
    }
    uv_timer_set_repeat(timer, now_ms - wake.changed_ms < LATELY_MS ? SOON_MS : QUIET_MS);
}

mishap *mishap_cluster_wake_open(mishap_http_server *server, void *shared, void **state)
{
    *state = NULL;
    if (!shared)
        return NULL;
    wake.server = server;
    wake.news = mishap_http_settings_of(server)->served->news;
    wake.seen = mishap_news_count(wake.news);
    int error = uv_timer_init(mishap_http_uv(server), &wake.timer);
    if (error == 0)
        error = uv_timer_start(&wake.timer, on_timer, QUIET_MS, QUIET_MS);
    if (error)
        return mishap_raise(INTERNAL_ERROR, "The server process cannot set a timer: %s.",
                            uv_strerror(error));
    *state = &wake;
    return NULL;
}

void mishap_cluster_wake_close(void *state)
{
    if (state)
        uv_close((uv_handle_t *)&wake.timer, NULL);
}
