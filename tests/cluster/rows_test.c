/* Rows of a cluster that may have been written by hand: keys, and addresses that have changed. */
#include "http/cluster/inside.h"
#include "http/keys/in_cluster.h"
#include "mcp/sessions/session.h"
#include "testing.h"

static const char hash[] = "\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10";

static mishap_cluster_key sound(void)
{
    return (mishap_cluster_key){
        T("deploy"), { hash, 32 }, T("2026-02-09T10:20:30.123Z"), T("call,metrics")
    };
}

static bool put(mishap_cluster_key row, mishap_buffer *text)
{
    return mishap_key_put_row(text, &row);
}

static void a_sound_row_is_a_line_of_the_file(void **state)
{
    (void)state;
    mishap_buffer text = { 0 };
    assert_true(put(sound(), &text));
    assert_true(text.length > 100 && text.data[text.length - 1] == '\n');
    mishap_key_file file = { .text = text };
    assert_null(mishap_key_file_parse("keys", NULL, &file));
    assert_int_equal(file.count, 1);
    assert_memory_equal(file.lines[0].hash, hash, 32);
    mishap_key_file_release(&file);
}

static void a_row_that_is_no_key_is_left_out(void **state)
{
    (void)state;
    mishap_buffer text = { 0 };
    mishap_cluster_key rows[16];
    for (size_t i = 0; i < 16; i++)
        rows[i] = sound();
    rows[0].name = T("");
    rows[1].name = T("A");
    rows[2].name = T("a\nb 0");
    rows[3].name = T("a b");
    rows[4].hash.length = 31;
    rows[5].hash = (mishap_text){ NULL, 0 };
    rows[6].created = T("2026-02-09T10:20:30.123");
    rows[7].created = T("20260-02-09T10:20:30.12Z");
    rows[8].created = T("2026-02-09 10:20:30.123Z");
    rows[9].scopes = T(" ");
    rows[10].scopes = T("call metrics");
    rows[11].scopes = T("call\ndisabled");
    rows[12].scopes = T("call,call");
    rows[13].scopes = T(",");
    rows[14].created = (mishap_text){ NULL, 0 };
    rows[15].name = (mishap_text){ "a\0b", 3 };
    for (size_t i = 0; i < 16; i++) {
        assert_false(put(rows[i], &text));
        assert_int_equal(text.length, 0);
    }
    mishap_buffer_release(&text);
}

/* The addresses of a row, each in brackets; with ! if it is no sound row. */
static const char *addresses(const char *data, size_t length)
{
    static char found[2000];
    mishap_text row = { data, length }, address;
    bool is_sound;
    size_t used = 0;
    found[0] = '\0';
    while (mishap_cluster_next_address(&row, &address, &is_sound))
        used += (size_t)snprintf(found + used, sizeof found - used, "[%.*s]", (int)address.length,
                                 address.data);
    return strcat(found, is_sound ? "" : "!");
}

static void addresses_of_a_row_are_read_one_by_one(void **state)
{
    (void)state;
    assert_string_equal(addresses("a://1\0b://2", 12), "[a://1][b://2]");
    assert_string_equal(addresses("", 0), "");
}

static void a_row_that_is_no_list_of_addresses_means_anything(void **state)
{
    (void)state;
    char longest[MISHAP_ADDRESS_LIMIT + 2];
    memset(longest, 'x', sizeof longest);
    assert_string_equal(addresses("", 1), "!"); /* how a server says it */
    assert_string_equal(addresses("a://1", 5), "!");
    assert_string_equal(addresses("a://1\0b", 7), "[a://1]!");
    assert_string_equal(addresses("a://1\0\0", 7), "[a://1]!");
    assert_string_equal(addresses("\xff\xfe", 3), "!");
    longest[MISHAP_ADDRESS_LIMIT + 1] = '\0';
    assert_string_equal(addresses(longest, sizeof longest), "!");
}

static void a_position_is_read_as_it_was_written(void **state)
{
    (void)state;
    mishap_position position = { 2, { { 0x1a2b3c4d, 17 }, { 0xbeef, 0 } } }, found;
    mishap_buffer text = { 0 };
    mishap_position_put(&text, &position);
    assert_true(mishap_text_equal(mishap_buffer_text(&text), T("m1a2b3c4d-17.0000beef-0")));
    assert_true(mishap_position_read(mishap_buffer_text(&text), &found));
    assert_int_equal(found.count, 2);
    assert_int_equal(mishap_position_of(&found, 0x1a2b3c4d), 17);
    assert_int_equal(mishap_position_of(&found, 0xbeef), 0);
    assert_int_equal(mishap_position_of(&found, 1), -1);
    for (size_t i = 0; i < MISHAP_POSITION_SERVERS; i++)
        position.marks[i] = (struct mishap_position_mark){ UINT32_MAX,
                                                           INT64_C(999999999999999999) };
    position.count = MISHAP_POSITION_SERVERS;
    mishap_buffer_reset(&text);
    mishap_position_put(&text, &position);
    assert_int_equal(text.length, MISHAP_POSITION_LIMIT);
    assert_true(mishap_position_read(mishap_buffer_text(&text), &found));
    assert_int_equal(mishap_position_of(&found, UINT32_MAX), INT64_C(999999999999999999));
    mishap_buffer_put_char(&text, '0');
    assert_false(mishap_position_read(mishap_buffer_text(&text), &found));
    mishap_buffer_release(&text);
}

static void what_is_no_position_is_not_read(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "m",
        "m1-1",
        "1a2b3c4d-1",
        "m1a2b3c4d",
        "m1a2b3c4d-",
        "m1a2b3c4d-1.",
        "m1a2b3c4d--1",
        "m1A2b3c4d-1",
        "m1a2b3c4d-1m1a2b3c4d-1",
        "m1a2b3c4d-1 ",
        "m1a2b3c4d-1234567890123456789",
    };
    mishap_position found;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mishap_position_read(mishap_text_of(wrong[i]), &found));
    assert_false(mishap_position_read((mishap_text){ "m1a2\0c4d-1", 11 }, &found));
}

static void what_a_session_watches_is_read_until_it_is_no_address(void **state)
{
    (void)state;
    mishap_text list = { "a://1\0b://2\0\xff\0c://3", 19 }, uri;
    assert_true(mishap_mcp_next_watched(&list, &uri));
    assert_true(mishap_text_equal(uri, T("a://1")));
    assert_true(mishap_mcp_next_watched(&list, &uri));
    assert_true(mishap_text_equal(uri, T("b://2")));
    assert_false(mishap_mcp_next_watched(&list, &uri));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sound_row_is_a_line_of_the_file),
        TEST(a_row_that_is_no_key_is_left_out),
        TEST(addresses_of_a_row_are_read_one_by_one),
        TEST(a_row_that_is_no_list_of_addresses_means_anything),
        TEST(a_position_is_read_as_it_was_written),
        TEST(what_is_no_position_is_not_read),
        TEST(what_a_session_watches_is_read_until_it_is_no_address),
    };
    return RUN(tests);
}
