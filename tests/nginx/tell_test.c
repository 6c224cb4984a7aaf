/* From an error response to an answer and a record (src/nginx/tell.h): little memory, and bodies
 * that are compressed with bad intent. */
#include "nginx/tell.h"

#include <stdio.h>
#include <zlib.h>

#include "testing.h"

static const char detail[] = "{\"detail\":[{\"loc\":[\"body\",\"age\"],\"msg\":\"Field required\","
                             "\"type\":\"missing\"}]}";

static mishap_nginx_error an_error(int status, mishap_text body)
{
    return (mishap_nginx_error){ .status = status,
                                 .type = MISHAP_TEXT("application/json"),
                                 .body = body,
                                 .method = MISHAP_TEXT("GET"),
                                 .path = MISHAP_TEXT("/users"),
                                 .caller = "192.0.2.7",
                                 .location = "/" };
}

/* Compressed by zlib; the window tells the form. */
static mishap_text deflated(mishap_text text, int bits, char *room, size_t size)
{
    z_stream stream = { 0 };
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text.data;
    stream.avail_in = (uInt)text.length;
    stream.next_out = (Bytef *)room;
    stream.avail_out = (uInt)size;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t length = size - stream.avail_out;
    deflateEnd(&stream);
    return (mishap_text){ room, length };
}

static void an_error_is_told_and_recorded(void **state)
{
    (void)state;
    mishap_nginx_answer answer;
    mishap_nginx_error error = an_error(422, mishap_text_of(detail));
    mishap_nginx_tell(&error, mishap_dialect_find("problem"), true, &answer);
    assert_string_equal(answer.media_type, "application/problem+json");
    assert_non_null(memmem(answer.body.data, answer.body.length, answer.id, MISHAP_ID_LENGTH));
    assert_non_null(memmem(answer.record.data, answer.record.length, answer.id, MISHAP_ID_LENGTH));
    assert_non_null(memmem(answer.record.data, answer.record.length, "\"fastapi\"", 9));
    assert_int_equal(answer.record.data[answer.record.length - 1], '\n');
    mishap_nginx_answer_release(&answer);
}

static void without_a_log_there_is_neither_record_nor_id(void **state)
{
    (void)state;
    mishap_nginx_answer answer;
    mishap_nginx_error error = an_error(500, mishap_text_of(detail));
    mishap_nginx_tell(&error, mishap_dialect_find("problem"), false, &answer);
    assert_null(memmem(answer.body.data, answer.body.length, "incident", strlen("incident")));
    assert_string_equal(answer.id, "");
    assert_int_equal(answer.record.length, 0);
    mishap_nginx_answer_release(&answer);
}

static void compressed_bodies_are_read_up_to_the_limit(void **state)
{
    (void)state;
    static char packed[MISHAP_NGINX_MOST], room[MISHAP_NGINX_MOST], zeros[8 * MISHAP_NGINX_MOST];
    static const int forms[] = { 15 + 16, 15, -15 }; /* gzip, zlib, deflate alone */
    bool whole;
    for (size_t i = 0; i < 3; i++) {
        mishap_text body = deflated(mishap_text_of(detail), forms[i], packed, sizeof packed);
        mishap_text coding = i ? (mishap_text)MISHAP_TEXT("deflate")
                               : (mishap_text)MISHAP_TEXT("GZIP");
        mishap_text read = mishap_nginx_inflate(coding, body, room, &whole);
        assert_true(whole && mishap_text_equal(read, mishap_text_of(detail)));
        for (size_t length = 0; length < body.length; length++) { /* cut anywhere */
            read = mishap_nginx_inflate(coding, (mishap_text){ packed, length }, room, &whole);
            assert_true(read.length <= sizeof detail - 1);
            assert_memory_equal(read.data, detail, read.length);
        }
    }
    mishap_text bomb = deflated((mishap_text){ zeros, sizeof zeros }, 31, packed, sizeof packed);
    mishap_text read = mishap_nginx_inflate((mishap_text)MISHAP_TEXT("gzip"), bomb, room, &whole);
    assert_true(!whole && read.length == MISHAP_NGINX_MOST);
    assert_null(mishap_nginx_inflate((mishap_text)MISHAP_TEXT("br"), bomb, room, &whole).data);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void tell_with_little_memory(const void *input)
{
    const mishap_nginx_error *error = input;
    mishap_nginx_answer answer;
    mishap_nginx_tell(error, mishap_dialect_find("problem"), true, &answer);
    assert_true(answer.body.length > 20 && answer.body.data[0] == '{');
    assert_int_equal(answer.body.data[answer.body.length - 1], '}');
    assert_string_equal(answer.media_type, "application/problem+json");
    assert_non_null(memmem(answer.record.data, answer.record.length, answer.id, MISHAP_ID_LENGTH));
    assert_int_equal(answer.record.data[answer.record.length - 1], '\n');
    mishap_nginx_answer_release(&answer);
}

static void an_answer_needs_no_memory(void **state)
{
    (void)state;
    char packed[1024];
    mishap_nginx_error plain = an_error(422, mishap_text_of(detail)), zipped = plain;
    zipped.body = deflated(mishap_text_of(detail), 31, packed, sizeof packed);
    zipped.encoding = (mishap_text)MISHAP_TEXT("gzip");
    zipped.end = "cut";
    zipped.removed = (mishap_text)MISHAP_TEXT("X-Debug: /srv/app\n");
    mishap_use_allocator(&failing_allocator);
    torture(tell_with_little_memory, &plain);
    torture(tell_with_little_memory, &zipped);
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_error_is_told_and_recorded),
        TEST(without_a_log_there_is_neither_record_nor_id),
        TEST(compressed_bodies_are_read_up_to_the_limit),
        TEST(an_answer_needs_no_memory),
    };
    return RUN(tests);
}
