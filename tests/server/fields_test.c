/* The header fields that a server keeps: its own, and those that its extensions ask for. */
#include "server/exchange.h"
#include "testing.h"

static const mishap_http_wish first_wishes[] = { { "X-First", .from_pages = true },
                                                 { "X-Both", .from_pages = true, .to_pages = true },
                                                 { 0 } };
static const mishap_http_wish second_wishes[] = { { "x-both", .to_pages = true },
                                                  { "X-B", .to_pages = true },
                                                  { .name = "X-Second" },
                                                  { .name = "Accept" },
                                                  { 0 } };
static const mishap_http_extension first = { .name = "first", .fields = first_wishes };
static const mishap_http_extension second = { .name = "second", .fields = second_wishes };
static const mishap_http_extension without = { .name = "without" };
static const mishap_http_extension *const all[] = { &first, &without, &second, NULL };

static mishap_http_fields *made(const mishap_http_extension *const *extensions)
{
    mishap_http_fields *fields = NULL;
    assert_null(mishap_http_fields_make(extensions, &fields));
    return fields;
}

static void a_field_that_two_ask_for_has_one_place(void **state)
{
    (void)state;
    mishap_http_fields *fields = made(all);
    assert_int_equal(mishap_http_field_find(fields, T("Host")), MISHAP_HTTP_HOST);
    assert_int_equal(mishap_http_field_find(fields, T("x-forwarded-FOR")),
                     MISHAP_HTTP_FORWARDED_FOR);
    assert_int_equal(mishap_http_field_find(fields, T("Accept")), MISHAP_HTTP_ACCEPT);
    assert_int_equal(mishap_http_field_find(fields, T("X-First")), MISHAP_HTTP_OWN_FIELDS);
    assert_int_equal(mishap_http_field_find(fields, T("X-Both")), MISHAP_HTTP_OWN_FIELDS + 1);
    assert_int_equal(mishap_http_field_find(fields, T("x-second")), MISHAP_HTTP_OWN_FIELDS + 3);
    assert_int_equal(fields->count, MISHAP_HTTP_OWN_FIELDS + 4);
    mishap_http_fields_free(fields);
}

static void any_other_field_has_none(void **state)
{
    (void)state;
    mishap_http_fields *fields = made(all);
    static const char *const others[] = { "", "X", "X-Thirds", "X-Firsts", "Hosts", "Most" };
    char name[300];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(mishap_http_field_find(fields, mishap_text_of(others[i])), -1);
    memset(name, 'a', sizeof name);
    for (size_t length = 0; length <= sizeof name; length++)
        assert_int_equal(mishap_http_field_find(fields, (mishap_text){ name, length }), -1);
    mishap_http_fields_free(fields);
}

static void assert_list(const mishap_buffer *list, const char *wanted)
{
    assert_int_equal(list->length, strlen(wanted));
    assert_memory_equal(list->data, wanted, list->length);
}

static void pages_may_send_and_read_what_extensions_say(void **state)
{
    (void)state;
    mishap_http_fields *fields = made(all);
    assert_list(&fields->allowed, "Content-Type, Authorization, X-First, X-Both");
    assert_list(&fields->exposed, "X-Request-Id, Location, Retry-After, Allow, X-Both, X-B");
    mishap_http_fields_free(fields);
    fields = made(NULL);
    assert_list(&fields->allowed, "Content-Type, Authorization");
    assert_list(&fields->exposed, "X-Request-Id, Location, Retry-After, Allow");
    mishap_http_fields_free(fields);
}

/* Read one request with a server that keeps these fields. */
static mishap_http_progress read_with(const mishap_http_fields *fields, const char *head,
                                      mishap_http_reader *reader, mishap_http_request *request)
{
    static char bytes[512];
    static mishap_http_settings settings = { .head_limit = 16384, .target_limit = 8192 };
    settings.fields = fields;
    snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nHost: h\r\n%s\r\n", head);
    mishap_http_reader_init(reader, &settings);
    assert_true(mishap_http_reader_take(reader, bytes, strlen(bytes)));
    return mishap_http_reader_next(reader, request);
}

static void a_request_has_what_was_asked_for(void **state)
{
    (void)state;
    mishap_http_fields *fields = made(all);
    mishap_http_reader reader;
    mishap_http_request request;
    int place = mishap_http_field_find(fields, T("X-Second"));
    assert_int_equal(read_with(fields, "X-Other: o\r\nx-SECOND: 2 \r\n", &reader, &request),
                     MISHAP_HTTP_WHOLE);
    assert_true(mishap_text_equal(request.fields[place], T("2")));
    assert_null(request.fields[place - 1].data);
    assert_int_equal(read_with(fields, "X-Second: 1\r\nX-Second: 2\r\n", &reader, &request),
                     MISHAP_HTTP_FLAW);
    mishap_http_fields_free(fields);
    fields = made(NULL); /* if no extension asks for it, it is dropped */
    assert_int_equal(read_with(fields, "X-Second: 1\r\nX-Second: 2\r\n", &reader, &request),
                     MISHAP_HTTP_WHOLE);
    assert_null(request.fields[place].data);
    mishap_http_fields_free(fields);
}

static void more_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    enum { ROOM = MISHAP_HTTP_MOST_FIELDS - MISHAP_HTTP_OWN_FIELDS };
    char names[ROOM + 1][8];
    mishap_http_wish wishes[ROOM + 2] = { 0 };
    const mishap_http_extension greedy = { .name = "greedy", .fields = wishes };
    const mishap_http_extension *const list[] = { &greedy, NULL };
    for (size_t i = 0; i < ROOM + 1; i++) {
        snprintf(names[i], sizeof names[i], "X-%zu", 100 + i);
        wishes[i].name = names[i];
    }
    mishap_http_fields *fields = NULL;
    mishap *m = mishap_http_fields_make(list, &fields);
    assert_null(fields);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    mishap_free(m);
    wishes[ROOM].name = NULL;
    fields = made(list);
    assert_int_equal(fields->count, MISHAP_HTTP_MOST_FIELDS);
    for (size_t i = 0; i < ROOM; i++)
        assert_int_equal(mishap_http_field_find(fields, mishap_text_of(names[i])),
                         MISHAP_HTTP_OWN_FIELDS + i);
    mishap_http_fields_free(fields);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    mishap_use_allocator(&failing_allocator);
    for (size_t at = 1; !done; at++) {
        mishap_http_fields *fields = NULL;
        calls = 0, blocks = 0, fail_at = at, fail_once = false;
        mishap *m = mishap_http_fields_make(all, &fields);
        done = m == NULL;
        assert_true(done == (fields != NULL));
        mishap_free(m);
        mishap_http_fields_free(fields);
        assert_int_equal(blocks, 0);
        assert_true(at < 100);
    }
    fail_at = 0;
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_field_that_two_ask_for_has_one_place),      TEST(any_other_field_has_none),
        TEST(pages_may_send_and_read_what_extensions_say), TEST(a_request_has_what_was_asked_for),
        TEST(more_than_there_is_room_for_are_refused),     TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
