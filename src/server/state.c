/* The state of a server in one loop: its clock, what it opens, and what it does several times per
 * second. */
#include "server/state.h"
#include "server/ending.h"

#include <stdio.h>
#include <time.h>

static void set_date(mishap_http_server *server)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    struct tm at;
    gmtime_r(&now, &at);
    int length = snprintf(server->date, sizeof server->date,
                          "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + at.tm_wday * 3,
                          at.tm_mday, months + at.tm_mon * 3, at.tm_year + 1900, at.tm_hour,
                          at.tm_min, at.tm_sec);
    server->date_length = length < (int)sizeof server->date ? (size_t)length : 0;
}

void mishap_http_server_look_at_clock(mishap_http_server *server)
{
    server->now_ms = mishap_clock_now_ms();
    server->now_ns = mishap_clock_monotonic_ns();
}

mishap *mishap_http_server_open(mishap_http_server *server)
{
    set_date(server);
    mishap_http_server_look_at_clock(server);
    return mishap_http_access_open(server->settings->access_log, &server->access);
}

void mishap_http_server_close(mishap_http_server *server)
{
    mishap_http_access_close(server->access);
    mishap_buffer_release(&server->out);
    mishap_buffer_release(&server->aside);
    mishap_http_reply_release(&server->reply);
    server->access = NULL;
}

void mishap_http_server_tick(mishap_http_server *server)
{
    set_date(server);
    mishap_http_server_look_at_clock(server);
    mishap_http_access_flush(server->access);
    mishap_http_bodies_look(server);
}

/* -- for extensions ---------------------------------------------------------------------------- */

const mishap_http_settings *mishap_http_settings_of(const mishap_http_server *server)
{
    return server->settings;
}

bool mishap_http_is_stopping(const mishap_http_server *server)
{
    return server->stopping;
}

int64_t mishap_http_sessions_end_in(const mishap_http_server *server)
{
    int64_t left_ns = server->stops_ns - mishap_clock_monotonic_ns();
    if (!server->stopping || !server->settings->sessions_ms)
        return -1;
    return left_ns > 0 ? left_ns / 1000000 : 0;
}

uv_loop_t *mishap_http_uv(const mishap_http_server *server)
{
    return server->loop;
}

uint64_t mishap_http_caller_of(const mishap_http_server *server, const mishap_http_request *request)
{
    return mishap_http_caller_number(server->settings->secret, request);
}

mishap *mishap_http_check_rate(mishap_http_server *server, const mishap_http_request *request,
                               size_t count)
{
    return mishap_http_rates_check_all(server->rates, request, count, mishap_clock_monotonic_ns());
}

void mishap_http_revoke(mishap_http_server *server, uint64_t key)
{
    mishap_http_extensions_revoke(server, key, NULL);
    if (server->revoke)
        server->revoke(server, key, NULL, 0);
}

void mishap_http_block(mishap_http_server *server, const char *caller)
{
    mishap_http_extensions_revoke(server, 0, caller);
    if (server->revoke)
        server->revoke(server, 0, caller, 0);
}

void mishap_http_expire(mishap_http_server *server, int64_t now_s)
{
    if (server->revoke)
        server->revoke(server, 0, NULL, now_s);
}

void mishap_http_count(mishap_http_server *server, mishap_http_gauge gauge, int64_t change)
{
    if (server->metrics)
        mishap_http_metrics_add(server->metrics, gauge, change);
}

void mishap_http_count_call(mishap_http_server *server, size_t call, const mishap_code *code,
                            int64_t duration_ns)
{
    if (server->metrics)
        mishap_http_metrics_count_call(server->metrics, call, code, duration_ns);
}

void mishap_http_tell_of_loop(mishap_http_server *server, mishap_metric metric, size_t service,
                              int64_t value)
{
    if (server->metrics)
        mishap_http_metrics_tell(server->metrics, metric, service, value);
}

void mishap_http_put_counts(mishap_buffer *buffer, const mishap_http_server *server)
{
    mishap_http_measures measures = { 0 };
    if (!server->metrics)
        return;
    mishap_http_extensions_measure(server, &measures);
    mishap_http_metrics_put(buffer, server->metrics, server->routes, &measures);
}
