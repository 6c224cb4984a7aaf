/* Requests of one signal. */
#include "otlp/send.h"
#include "mishap/version.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    FIRST_DELAY_MS = 1000,
    LONGEST_DELAY_MS = 60000,
    LONGEST_WAIT_MS = 3600 * 1000, /* however long Retry-After is */
    MOST_BODY = 64 << 10,
    NO_RESPONSE = 1,
};

mishap *mishap_otlp_signal_open(mishap_otlp_signal *signal, mishap_otlp_kind kind,
                                const mishap_otlp_target *target, const volatile sig_atomic_t *stop)
{
    memset(signal, 0, sizeof *signal);
    signal->target = target;
    signal->kind = kind;
    signal->delay_ms = FIRST_DELAY_MS;
    if (!target->url)
        return NULL;
    mishap *failure = mishap_client_open(
        &(mishap_client_settings){ .agent = "mishap/" MISHAP_VERSION,
                                   .authorities = target->authorities,
                                   .certificate = target->certificate,
                                   .key = target->key,
                                   .stop = stop },
        &signal->client);
    return failure ? failure
                   : mishap_client_check(
                         &(mishap_client_request){ .url = target->url,
                                                   .headers = target->headers,
                                                   .header_count = target->header_count });
}

void mishap_otlp_signal_close(mishap_otlp_signal *signal)
{
    mishap_client_response_release(&signal->response);
    mishap_client_close(signal->client);
    signal->client = NULL;
}

bool mishap_otlp_signal_may_send(const mishap_otlp_signal *signal)
{
    return mishap_clock_monotonic_ns() >= signal->not_before_ns;
}

/* Pause, with a random part so that many servers do not return at once. */
static mishap_otlp_result pause_signal(mishap_otlp_signal *signal, int64_t asked_ms)
{
    uint32_t random = 0;
    mishap_system_random(&random, sizeof random);
    int64_t wait_ms = signal->delay_ms / 2 + (int64_t)(random % (uint32_t)signal->delay_ms);
    if (asked_ms > wait_ms)
        wait_ms = asked_ms < LONGEST_WAIT_MS ? asked_ms : LONGEST_WAIT_MS;
    signal->not_before_ns = mishap_clock_monotonic_ns() + wait_ms * 1000000;
    signal->delay_ms *= 2;
    if (signal->delay_ms > LONGEST_DELAY_MS)
        signal->delay_ms = LONGEST_DELAY_MS;
    return MISHAP_OTLP_LATER;
}

/* `{"partialSuccess":{"rejectedLogRecords":"3"}}`: the collector has refused some of them. */
static uint64_t count_rejected(const mishap_otlp_signal *signal)
{
    static const char *const names[MISHAP_OTLP_KINDS] = { "rejectedLogRecords",
                                                          "rejectedDataPoints", "rejectedSpans" };
    mishap_json_reader reader = MISHAP_JSON_READER;
    uint64_t count = 0;
    if (signal->response.body.length &&
        mishap_json_read(&reader, mishap_buffer_text(&signal->response.body))) {
        yyjson_val *partial = yyjson_obj_get(reader.root, "partialSuccess");
        yyjson_val *value = yyjson_obj_get(partial, names[signal->kind]);
        if (yyjson_is_str(value))
            count = strtoull(unsafe_yyjson_get_str(value), NULL, 10);
        else if (yyjson_is_uint(value))
            count = yyjson_get_uint(value);
    }
    mishap_json_reader_release(&reader);
    return count;
}

static bool is_retried(int status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* What a status means. */
static mishap_otlp_result judge_status(mishap_otlp_signal *signal, uint64_t *rejected)
{
    int status = signal->response.status;
    snprintf(signal->words, sizeof signal->words, "the collector answers with status %d", status);
    signal->error = status;
    if (status >= 200 && status < 300) {
        *rejected = count_rejected(signal);
        signal->error = 0;
        signal->words[0] = '\0';
        signal->delay_ms = FIRST_DELAY_MS;
        signal->not_before_ns = 0;
        return MISHAP_OTLP_SENT;
    }
    if (is_retried(status))
        return pause_signal(signal,
                            mishap_client_retry_after(&signal->response, mishap_clock_now_ms()));
    return status == 413 ? MISHAP_OTLP_TOO_LARGE : MISHAP_OTLP_REFUSED;
}

mishap_otlp_result mishap_otlp_signal_send(mishap_otlp_signal *signal, mishap_text body,
                                           int timeout_ms, uint64_t *rejected)
{
    const mishap_otlp_target *target = signal->target;
    *rejected = 0;
    mishap *failure = mishap_client_send(
        signal->client,
        &(mishap_client_request){ .url = target->url,
                                  .headers = target->headers,
                                  .header_count = target->header_count,
                                  .method = "POST",
                                  .body = body,
                                  .total_ms = timeout_ms ? timeout_ms : target->timeout_ms,
                                  .most_body = MOST_BODY,
                                  .redirects = 3 },
        &signal->response);
    if (!failure || (signal->response.status >= 200 && signal->response.status < 300)) {
        if (failure) /* it was taken, and the rest of the response does not matter */
            mishap_buffer_reset(&signal->response.body);
        mishap_free(failure);
        return judge_status(signal, rejected);
    }
    mishap_text message = mishap_public_message(mishap_told(failure));
    snprintf(signal->words, sizeof signal->words, "%.*s", (int)message.length, message.data);
    signal->error = NO_RESPONSE;
    bool stopped = mishap_is(failure, CANCELLED);
    mishap_free(failure);
    if (stopped)
        return MISHAP_OTLP_LATER;
    return pause_signal(signal, 0);
}
