/*
 * src/worker/wire/packets: which messages of a foreign program are some, and how long they may be.
 */
#include "testing.h"

#include "worker_set_up.h"

static const char *flaw_of(mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_foreign_message message;
    const char *flaw = mishap_foreign_read(&reader, text, &message);
    mishap_json_reader_release(&reader);
    return flaw;
}

/* What one reader takes for the answer, another must not take for something else. */
static void a_message_with_a_flaw_is_none(void **state)
{
    static const char *const flawed[] = {
        "{\"id\":1,\"answer\":{\"n\":1},\"answer\":{\"n\":2}}",
        "{\"id\":1,\"answer\":{\"n\":1,\"n\":2}}",
        "{\"id\":1073741824,\"answer\":{}}",
        "{\"id\":0,\"answer\":{}}",
        "{\"id\":-1,\"answer\":{}}",
        "{\"id\":\"1\",\"answer\":{}}",
        "[]",
        "{}",
        "{\"ready\":2}",
        "{\"failure\":\"none\"}",
        "{\"id\":1,\"answer\":{},\"failure\":{}}",
        "{\"id\":1,\"answer\":[]}",
        "{\"id\":1,\"failure\":3}",
        "{\"id\":1,\"answer\":{},\"text\":3}",
        "{\"id\":1,\"answer\":{},\"warnings\":\"one\"}",
        "{\"id\":1,\"answer\":{},\"warnings\":[\"one\",2]}",
        "{\"id\":1,\"answer\":{},\"notes\":[]}",
        "{\"id\":1,\"progress\":\"half\"}",
        "{\"id\":1,\"progress\":1,\"total\":\"two\"}",
        "{\"id\":1,\"progress\":1,\"words\":2}",
        "{\"id\":1,\"log\":\"info\"}",
        "{\"id\":1,\"log\":\"loud\",\"words\":\"w\"}",
    };
    static const char *const sound[] = {
        "{\"ready\":1}",
        "{\"failure\":{}}",
        "{\"id\":1073741823,\"answer\":{},\"text\":\"t\",\"warnings\":[\"w\"],\"notes\":{}}",
        "{\"id\":1,\"failure\":{}}",
        "{\"id\":1,\"progress\":1,\"total\":2,\"words\":\"w\"}",
        "{\"id\":1,\"progress\":1}",
        "{\"id\":1,\"log\":\"operator\",\"words\":\"w\"}",
        "{\"id\":1,\"begins\":true}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof flawed / sizeof *flawed; i++)
        if (!flaw_of(mishap_text_of(flawed[i])))
            fail_msg("%s", flawed[i]);
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        if (flaw_of(mishap_text_of(sound[i])))
            fail_msg("%s: %s", sound[i], flaw_of(mishap_text_of(sound[i])));
}

/* To compare its keys takes longer the more of them there are. */
static void an_object_has_so_many_members_and_not_one_more(void **state)
{
    enum { MOST = 4096 };
    (void)state;
    for (int count = MOST; count <= MOST + 1; count++) {
        mishap_buffer text = { 0 };
        MISHAP_PUT(&text, "{\"id\":1,\"answer\":{\"inner\":{\"m\":0");
        for (int i = 1; i < count; i++) {
            char member[32];
            snprintf(member, sizeof member, ",\"m%d\":0", i);
            mishap_buffer_put_text(&text, mishap_text_of(member));
        }
        MISHAP_PUT(&text, "}}}");
        assert_int_equal(flaw_of(mishap_buffer_text(&text)) != NULL, count > MOST);
        mishap_buffer_release(&text);
    }
}

/* The packets of a message, each as long as may be, and the message too. */
static void a_message_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    static char packet[MISHAP_PACKET + 2];
    mishap_buffer held = { 0 };
    mishap_text message;
    (void)state;
    memset(packet, 'x', sizeof packet);
    packet[0] = '=';
    mishap_text whole = { packet, MISHAP_PACKET }, longer = { packet, MISHAP_PACKET + 1 };
    const size_t piece = MISHAP_PACKET - 1;
    assert_int_equal(mishap_foreign_gather(&held, whole, piece, &message), MISHAP_GATHERED_WHOLE);
    assert_int_equal(message.length, piece);
    assert_int_equal(mishap_foreign_gather(&held, whole, piece - 1, &message), MISHAP_GATHERED_BAD);
    assert_int_equal(mishap_foreign_gather(&held, longer, 2 * piece, &message),
                     MISHAP_GATHERED_BAD);
    assert_int_equal(mishap_foreign_gather(&held, (mishap_text){ packet, 0 }, piece, &message),
                     MISHAP_GATHERED_BAD);
    for (size_t limit = 3 * piece - 1; limit <= 3 * piece; limit++) {
        packet[0] = '<';
        assert_int_equal(mishap_foreign_gather(&held, whole, limit, &message),
                         MISHAP_GATHERED_PART);
        packet[0] = '-';
        assert_int_equal(mishap_foreign_gather(&held, whole, limit, &message),
                         MISHAP_GATHERED_PART);
        packet[0] = '>';
        assert_int_equal(mishap_foreign_gather(&held, whole, limit, &message),
                         limit < 3 * piece ? MISHAP_GATHERED_BAD : MISHAP_GATHERED_WHOLE);
    }
    assert_int_equal(message.length, 3 * piece);
    packet[0] = '<'; /* one that was begun is dropped for the next */
    assert_int_equal(mishap_foreign_gather(&held, whole, piece, &message), MISHAP_GATHERED_PART);
    packet[0] = '>';
    mishap_buffer_release(&held);
    assert_int_equal(mishap_foreign_gather(&held, whole, piece, &message), MISHAP_GATHERED_PART);
    mishap_buffer_release(&held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_message_with_a_flaw_is_none),
        TEST(an_object_has_so_many_members_and_not_one_more),
        TEST(a_message_is_as_long_as_may_be_and_not_one_byte_more),
    };
    return RUN(tests);
}
