/* The header Mishap-Position: what can be read, what cannot, and what is sent back. */
#include "testing.h"

#include "http/wire/wire.h"

static mishap *do_run(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_service shop = { .name = "shop" }, books = { .name = "books" };
static const mishap_operation operations[] = {
    { "list", "Read", NULL, do_run, .service = &shop, .stale = true },
    { "books", "Read", NULL, do_run, .service = &books, .stale = true },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

static void a_position_is_read(void **state)
{
    static const struct {
        const char *field;
        uint64_t position;
    } rows[] = {
        { "", 0 },
        { "shop=1", 1 },
        { "shop=16B3748", 0x16B3748 },
        { "shop=FFFFFFFFFFFFFFFF", UINT64_MAX },
        { "books=2", 0 },
        { "books=2, shop=3", 3 },
        { "shop=3,books=2", 3 },
        { "shop=3,", 3 },
        { "  shop=3  ,  books=2  ", 3 },
        { "shop=3, shop=5, shop=4", 5 },
        { "unknown-1_x=9, shop=3", 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(mishap_http_position_of(mishap_text_of(rows[i].field), &shop),
                         rows[i].position);
    assert_int_equal(mishap_http_position_of((mishap_text){ NULL, 0 }, &shop), 0);
}

/* Then the call reads at the primary. */
static void what_is_no_position_asks_for_the_primary(void **state)
{
    static const char *const rows[] = {
        " ",
        "shop",
        "shop=",
        "=1",
        "shop=0",
        "shop=1f",
        "shop=G",
        "shop=-1",
        "shop= 1",
        ",shop=1",
        "shop=1,,shop=2",
        "shop=1;2",
        "SHOP=1",
        "shop =1",
        "shop==1",
        "0/16B3748",
        "shop=11111111111111111",
        "sh\xC3\xB6p=1",
        "shop=1\t",
    };
    static char long_one[5000], long_name[100];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(mishap_http_position_of(mishap_text_of(rows[i]), &shop),
                         MISHAP_LOG_UNKNOWN);
    memset(long_one, ' ', sizeof long_one - 1);
    memcpy(long_one, "shop=1,", 7);
    assert_int_equal(mishap_http_position_of(mishap_text_of(long_one), &shop), MISHAP_LOG_UNKNOWN);
    memset(long_name, 'a', 65);
    memcpy(long_name + 65, "=1", 3);
    assert_int_equal(mishap_http_position_of(mishap_text_of(long_name), &shop), MISHAP_LOG_UNKNOWN);
    assert_int_equal(mishap_http_position_of(mishap_text_of(long_name + 1), &shop), 0);
    assert_int_equal(mishap_http_position_of((mishap_text){ "shop=1\0", 7 }, &shop),
                     MISHAP_LOG_UNKNOWN);
}

static void expect_sent(const char *asked, const char *sent)
{
    const mishap_call call = { .app = &app, .operation = &operations[0], .log_position = 0xAB };
    mishap_http_reply reply = { 0 };
    mishap_http_put_position(&reply, &call, mishap_text_of(asked));
    mishap_buffer_put_char(&reply.fields, '\0');
    assert_string_equal(reply.fields.data, sent);
    mishap_http_reply_release(&reply);
}

/* Only names of services that are served are repeated, and nothing behind what cannot be read. */
static void a_caller_gets_its_other_positions_back(void **state)
{
    (void)state;
    expect_sent("", "Mishap-Position: shop=AB\r\n");
    expect_sent("shop=FFFF", "Mishap-Position: shop=AB\r\n");
    expect_sent("books=2", "Mishap-Position: shop=AB, books=2\r\n");
    expect_sent("books=2, books=3, ghost=4", "Mishap-Position: shop=AB, books=2\r\n");
    expect_sent("ghost=4, books=2", "Mishap-Position: shop=AB, books=2\r\n");
    expect_sent("books=2\r\nX: 1", "Mishap-Position: shop=AB\r\n");
    expect_sent("bo%oks=2, books=3", "Mishap-Position: shop=AB\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_position_is_read),
        TEST(what_is_no_position_asks_for_the_primary),
        TEST(a_caller_gets_its_other_positions_back),
    };
    return RUN(tests);
}
