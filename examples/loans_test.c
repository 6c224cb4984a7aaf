/*
 * The tests of the loans service: they call its operations as a program would, and say what is
 * expected. Each expectation is a line of the Test Anything Protocol.
 *
 *     cc -o loans_test loans_test.c loans_codes.c $(pkg-config --cflags --libs mishap-store)
 *     MISHAP_TEST_POSTGRESQL=postgresql://me@localhost/test ./loans_test
 */
#include <mishap/test.h>

/* The service is one file, and this is a program of its own. */
int loans_main(int argc, char **argv);
#define main loans_main
#include "loans.c"
#undef main

static const char lend_two[] =
    "{\"member_id\":1,\"due\":\"2030-02-28\","
    "\"books\":[{\"book_id\":1},{\"book_id\":2,\"condition\":\"worn\"}]}";

static void add(mishap_test *t)
{
    mishap_test_call(t, "books.add", "{\"title\":\"A \\\"quoted\\\" title\",\"author\":\"Ö\"}");
    mishap_expect_answer(t, "{\"id\":1}");
    mishap_test_call_with(
        t, "books.add",
        MISHAP_PAIRS({ "title", MISHAP_VALUE("Emma") }, { "author", MISHAP_VALUE("Jane Austen") }));
    mishap_expect_value(t, "id", 2);
    mishap_test_call(t, "members.add",
                     "{\"name\":\"Ada\",\"email\":\"ada@example.com\","
                     "\"address\":{\"street\":\"1 Mill Lane\",\"city\":\"Bath\"}}");
    mishap_expect_value(t, "id", 1);
    mishap_test_call(t, "members.add", "{\"name\":\"Eve\",\"email\":\"ada@example.com\"}");
    mishap_expect_code(t, ALREADY_EXISTS);
    mishap_expect_told(t, "email", "ada@example.com");
    mishap_test_call(t, "members.list", NULL);
    mishap_expect_value(t, "items[0].address.city", "Bath");
    mishap_expect_nothing(t, "items[1]");
}

static void turn_pages(mishap_test *t)
{
    mishap_test_call(t, "books.list", "{\"limit\":1}");
    mishap_expect_value(t, "items[0].title", "A \"quoted\" title");
    mishap_expect_value(t, "next", 1);
    mishap_test_call(t, "books.list", "{\"limit\":1,\"after\":1}");
    mishap_expect_value(t, "items[0].title", "Emma");
    mishap_expect_nothing(t, "next");
    mishap_test_call(t, "books.list", "{\"after\":2}");
    mishap_expect_answer(t, "{\"items\":[]}");
}

static void lend(mishap_test *t)
{
    mishap_test_call(t, "lend", lend_two);
    mishap_expect_answer(t, "{\"id\":1}");
    mishap_test_call(t, "list", NULL);
    mishap_expect_value(t, "items[0].books[1].condition", "worn");
    mishap_test_call(t, "books.list", NULL);
    mishap_expect_value(t, "items[1].loan_id", 1);
    mishap_test_call(t, "lend", lend_two);
    mishap_expect_code(t, BOOK_LENT);
    mishap_expect_told(t, "book_id", 1);

    /* A loan that fails leaves nothing behind. */
    mishap_test_call(t, "return", "{\"id\":1.0}");
    mishap_expect_ok(t);
    mishap_test_call(t, "lend",
                     "{\"member_id\":1,\"due\":\"2030-02-28\","
                     "\"books\":[{\"book_id\":1},{\"book_id\":77}]}");
    mishap_expect_code(t, UNKNOWN_ID);
    mishap_expect_told(t, "book_id", 77);
    mishap_test_call(t, "list", NULL);
    mishap_expect_answer(t, "{\"items\":[]}");
    mishap_test_call(t, "return", "{\"id\":1}");
    mishap_expect_code(t, UNKNOWN_ID);
}

static void refuse(mishap_test *t)
{
    mishap_test_call(t, "lend",
                     "{\"member_id\":\"1\",\"due\":\"2030-02-31\",\"books\":"
                     "[{\"book_id\":1,\"condition\":\"torn\"},{\"bok_id\":2}]}");
    mishap_expect_code(t, VALIDATION_ERROR);
    mishap_expect_field(t, "member_id", "invalid_type");
    mishap_expect_field(t, "due", "pattern_mismatch");
    mishap_expect_field(t, "books[0].condition", "pattern_mismatch");
    mishap_expect_field(t, "books[1].book_id", "field_required");
}

/* Five loans are the most that a member may have; all of them are reminded of, once. */
static void remind(mishap_test *t)
{
    static const char *const one_book[] = { "[{\"book_id\":1}]", "[{\"book_id\":2}]",
                                            "[{\"book_id\":3}]", "[{\"book_id\":4}]",
                                            "[{\"book_id\":5}]", "[{\"book_id\":6}]" };
    for (int i = 0; i < 6; i++) {
        mishap_test_call(t, "books.add", "{\"title\":\"Another\",\"author\":\"Anon\"}");
        mishap_expect_ok(t);
        mishap_test_call_with(t, "lend",
                              MISHAP_PAIRS({ "member_id", MISHAP_VALUE(1) },
                                           { "books", mishap_value_of_json(one_book[i]) },
                                           { "due", MISHAP_VALUE("2030-02-28") }));
        if (i < 5)
            mishap_expect_ok(t);
    }
    mishap_expect_code(t, LOAN_LIMIT);
    mishap_test_call(t, "remind", "{\"day\":\"2030-03-01\"}");
    mishap_expect_answer(t, "{\"reminded\":5}");
    mishap_test_call(t, "remind", "{\"day\":\"2030-03-01\"}");
    mishap_expect_answer(t, "{\"reminded\":0}");
}

/* A member with loans is removed only by a caller that says so. */
static void ask_before_loans_end(mishap_test *t)
{
    static const char ada[] = "{\"member_id\":1}";
    mishap_test_call(t, "members.add", "{\"name\":\"Eve\",\"email\":\"eve@example.com\"}");
    mishap_expect_ok(t);
    int64_t eve = mishap_integer(mishap_test_answered(t)->json, "id");
    const mishap_pair *her = MISHAP_PAIRS({ "member_id", MISHAP_VALUE(eve) });
    mishap_test_call_with(t, "members.remove", her);
    mishap_expect_ok(t); /* there is nothing to ask */
    mishap_test_call_with(t, "members.remove", her);
    mishap_expect_code(t, UNKNOWN_ID);
    mishap_test_call(t, "members.remove", ada);
    mishap_expect_code(t, INPUT_REQUIRED);
    mishap *m = mishap_invoke(&app, "members.remove", ada,
                              &(mishap_invocation){ .answers = "{\"end_loans\":{\"sure\":false}}" },
                              NULL);
    mishap_expect(t, m && mishap_is(m, CANCELLED), "it is cancelled");
    mishap_free(m);
    mishap_test_call(t, "list", NULL);
    mishap_expect_value(t, "items[0].member_id", 1);
    m = mishap_invoke(&app, "members.remove", ada,
                      &(mishap_invocation){ .answers = "{\"end_loans\":{\"sure\":true}}" }, NULL);
    mishap_expect(t, !m, "it is removed");
    mishap_free(m);
    mishap_test_call(t, "list", NULL);
    mishap_expect_answer(t, "{\"items\":[]}");
    mishap_test_call(t, "members.list", NULL);
    mishap_expect_answer(t, "{\"items\":[]}");
}

/* A loan is made as a whole or not at all, wherever it is interrupted. */
static void interrupt(mishap_test *t)
{
    static const mishap_fault faults[] = { MISHAP_FAULT_STORE_GONE, MISHAP_FAULT_WORKER_KILLED };
    mishap_test_call(t, "books.add", "{\"title\":\"Emma\",\"author\":\"Jane Austen\"}");
    mishap_test_call(t, "books.add", "{\"title\":\"Dune\",\"author\":\"Frank Herbert\"}");
    mishap_test_call(t, "members.add", "{\"name\":\"Ada\",\"email\":\"ada@example.com\"}");
    mishap_expect_ok(t);
    for (size_t i = 0; i < 2; i++)
        for (size_t at = 1; at <= 6; at++) { /* begin, four queries, commit */
            mishap_test_fault(t, faults[i], at);
            mishap_test_call(t, "lend", lend_two);
            mishap_expect(t, mishap_test_fault_happened(t), "it is interrupted at %zu", at);
            mishap_test_call(t, "list", NULL);
            mishap_expect_answer(t, "{\"items\":[]}");
        }
    mishap_test_call(t, "lend", lend_two);
    mishap_expect_ok(t);
}

/* The same over HTTP: its statuses, and who may call. */
static void call_over_http(mishap_test *t)
{
    const char *key = mishap_test_key(t, "staff", NULL);
    mishap_text book = mishap_text_of("{\"title\":\"Emma\",\"author\":\"Jane Austen\"}");
    mishap_test_send(t, &(mishap_test_request){ .path = "/books", .body = book });
    mishap_expect_status(t, 401);
    mishap_test_send(t, &(mishap_test_request){ .path = "/books", .body = book, .key = key });
    mishap_expect_status(t, 201);
    mishap_test_send(t, &(mishap_test_request){ .path = "/books", .key = key });
    mishap_expect_value(t, "items[0].title", "Emma");
    mishap_test_send(t,
                     &(mishap_test_request){ .method = "DELETE", .path = "/loans/7", .key = key });
    mishap_expect_code(t, UNKNOWN_ID);
    key = mishap_test_key(t, "visitor", "call"); /* without loans:write */
    mishap_test_send(t, &(mishap_test_request){ .path = "/books", .key = key });
    mishap_expect_status(t, 200);
    mishap_test_send(t, &(mishap_test_request){ .path = "/books", .body = book, .key = key });
    mishap_expect_status(t, 403);
}

static void test_store(mishap_test *t, const char *name, mishap_test_store store)
{
    if (!mishap_test_case(t, name, store))
        return;
    add(t);
    turn_pages(t);
    lend(t);
    refuse(t);
    remind(t);
    ask_before_loans_end(t);
    mishap_test_case(t, name, store);
    interrupt(t);
    mishap_test_case(t, name, store);
    call_over_http(t);
}

int main(void)
{
    mishap_catalog_add(&loans_code_table);
    mishap_test *t = mishap_test_begin(&app);
    mishap_expect_getters(t);
    test_store(t, "on SQLite", MISHAP_TEST_SQLITE);
    test_store(t, "on PostgreSQL", MISHAP_TEST_POSTGRESQL);
    return mishap_test_end(t);
}
