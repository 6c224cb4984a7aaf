/*
 * Limit the number of open streams of one caller, so that streams are left for other callers.
 * Streams stay open for hours, so the limit applies even while streams are free: an open stream
 * could not be taken back later. A loop bounds its own streams, and counts them in its own memory.
 * When a loop dies, its counts are lost together with its streams.
 */
#include "server/state.h"

size_t mishap_http_share_of(const mishap_http_settings *settings, size_t all)
{
    size_t percent = settings->caller_share > 0 ? (size_t)settings->caller_share : 100;
    size_t share = all * percent / 100;
    return share ? share : 1;
}

static mishap *over_share(size_t share)
{
    mishap *m = mishap_raise(RATE_LIMITED, "One caller can have at most %zu open streams.", share);
    return mishap_suggest(mishap_retry_after(m, 1000), "Close an open stream first.");
}

mishap *mishap_http_stream_begins(mishap_http_server *server, const mishap_http_request *request,
                                  uint32_t *held)
{
    size_t share = mishap_http_share_of(server->settings, MISHAP_HTTP_STREAMS);
    uint32_t word = (uint32_t)(mishap_http_caller_of(server, request) % MISHAP_HTTP_SHARE_WORDS);
    *held = 0;
    if (server->streams_of[word] >= share)
        return over_share(share);
    if (server->streams >= MISHAP_HTTP_STREAMS)
        return mishap_http_busy();
    server->streams++;
    server->streams_of[word]++;
    *held = word + 1;
    return NULL;
}

void mishap_http_stream_ended(mishap_http_server *server, uint32_t held)
{
    if (!held)
        return;
    server->streams--;
    server->streams_of[held - 1]--;
}
