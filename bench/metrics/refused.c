/*
 * A request that is refused with 422, answered many times in this process: for the cost of the
 * metrics on the path of a request.
 *
 *     refused COUNT with|without
 */
#include <stdlib.h>
#include <string.h>

#include "memory_server.h"

static const char request[] =
    "POST /users HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
    "Content-Length: 39\r\n\r\n"
    "{\"name\":\"\",\"age\":200,\"email\":\"invalid\"}";

/* All metrics that the server has. An earlier commit, which this is built with, too, has fewer. */
static mishap *make_metrics(const mishap_http_routes *routes, mishap_http_metrics **metrics)
{
#if __has_include("server/metrics.h")
    static const char *const calls[] = { "users.create" }, *const services[] = { "none" };
    const mishap_http_counted counted = { calls, 1, services, 1 };
    return mishap_http_metrics_make(routes, &counted, metrics);
#else
    return mishap_http_metrics_make(routes, metrics);
#endif
}

int main(int count, char **words)
{
    static memory_server m;
    mishap_http_metrics *metrics = NULL;
    long times = count > 1 ? strtol(words[1], NULL, 10) : 0;
    memory_server_open(&m);
    if (count > 2 && strcmp(words[2], "with") == 0 && make_metrics(m.routes, &metrics))
        return 1;
    m.server.metrics = metrics;
    for (long i = 0; i < times; i++) {
        mishap_buffer out = { 0 };
        mishap_http_server_look_at_clock(&m.server); /* as at each iteration of a loop */
        memory_server_talk(&m, (mishap_text){ request, sizeof request - 1 }, NULL, 0, &out);
        if (!out.data || !memmem(out.data, out.length, "HTTP/1.1 422 ", 13))
            return 1;
        mishap_buffer_release(&out);
    }
    m.server.metrics = NULL;
    memory_server_close(&m);
    mishap_http_metrics_free(metrics);
    return 0;
}
