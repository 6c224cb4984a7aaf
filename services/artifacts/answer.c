/* JSON of answers. An answer is stored together with the changes that it describes, so it is made
 * here, and not by the functions of mishap/call.h, which would only send it. */
#include <stdio.h>
#include <time.h>

#include "artifacts/request.h"

void artifacts_put_time(mishap_buffer *b, const char *key, int64_t ms)
{
    char text[40], fraction[8];
    struct tm day;
    time_t seconds = (time_t)(ms / 1000);
    gmtime_r(&seconds, &day);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &day);
    snprintf(fraction, sizeof fraction, ".%03dZ", (int)(ms % 1000));
    memcpy(text + strlen(text), fraction, sizeof fraction);
    mishap_json_put(b, key, text);
}

void artifacts_answer_begin(artifacts_request *r)
{
    mishap_buffer_reset(&r->answer);
    mishap_buffer_reset(&r->event);
    mishap_json_put_object(&r->answer, NULL);
    mishap_json_put(&r->answer, "success", true);
}

void artifacts_answer_end(artifacts_request *r)
{
    mishap_json_put_end(&r->answer, '}');
}
