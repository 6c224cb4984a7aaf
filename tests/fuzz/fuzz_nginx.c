/*
 * An error response on its way through nginx: the lines of the input are the status, the coding of
 * the body and the Accept field, and what follows is the body. Each is answered: the answer is
 * UTF-8, the record is one line, and a compressed body gives no more than the limit.
 */
#include "fuzz.h"
#include "nginx/tell.h"

static mishap_text next_line(mishap_text *rest)
{
    if (!rest->length)
        return (mishap_text){ "", 0 };
    const char *feed = memchr(rest->data, '\n', rest->length);
    size_t length = feed ? (size_t)(feed - rest->data) : rest->length;
    mishap_text line = { rest->data, length };
    rest->data += feed ? length + 1 : length;
    rest->length -= feed ? length + 1 : length;
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text rest = input_text(data, size), status = next_line(&rest);
    mishap_nginx_error error = { .status = 0,
                                 .encoding = next_line(&rest),
                                 .accept = next_line(&rest),
                                 .method = MISHAP_TEXT("GET"),
                                 .path = MISHAP_TEXT("/"),
                                 .caller = "192.0.2.7" };
    mishap_nginx_answer answer;
    for (size_t i = 0; i < 3 && i < status.length; i++)
        error.status = error.status * 10 + (status.data[i] & 7);
    error.body = rest;
    if (rest.length > MISHAP_NGINX_MOST)
        error.body.length = MISHAP_NGINX_MOST;
    mishap_nginx_tell(&error, mishap_dialect_find("http-api"), true, &answer);
    EXPECT(answer.body.length && answer.media_type, "no answer");
    expect_utf8(answer.body);
    expect_utf8(answer.record);
    EXPECT(memchr(answer.record.data, '\n', answer.record.length) ==
               answer.record.data + answer.record.length - 1,
           "not one line");
    mishap_nginx_answer_release(&answer);
    return 0;
}
