/* Which dialect an Accept field asks for. */
#include "http/wire/wire.h"
#include "dialect/dialect.h"
#include "dialect/negotiate.h"
#include "testing.h"

static const mishap_dialect *usual = &mishap_http_api;

static const mishap_dialect *negotiate(mishap_text accept)
{
    return mishap_dialect_negotiate(accept, usual);
}

struct field {
    const char *accept, *dialect;
};

static void assert_fields(const struct field *fields)
{
    for (; fields->accept; fields++) {
        /* Not a byte more than the field, so that reading beyond its end shows. */
        size_t length = strlen(fields->accept);
        char *copy = malloc(length ? length : 1);
        memcpy(copy, fields->accept, length);
        const mishap_dialect *dialect = negotiate((mishap_text){ copy, length });
        if (strcmp(mishap_dialect_name(dialect), fields->dialect) != 0)
            fail_msg("%s: %s", fields->accept, mishap_dialect_name(dialect));
        free(copy);
    }
}

static void without_a_wish_it_is_the_http_api(void **state)
{
    (void)state;
    assert_string_equal(mishap_dialect_name(negotiate((mishap_text){ NULL, 0 })), "http-api");
    assert_fields((const struct field[]){
        { "", "http-api" },
        { "*/*", "http-api" },
        { "application/json", "http-api" },
        { "application/json; charset=utf-8", "http-api" },
        { "application/*", "http-api" },
        { "text/html", "http-api" },
        { "text/plain", "http-api" },
        { "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
          "http-api" },
        { "application/json, text/plain, */*", "http-api" },
        { 0 },
    });
}

static void every_dialect_of_json_goes_by_its_media_type(void **state)
{
    (void)state;
    assert_fields((const struct field[]){
        { "application/problem+json", "problem" },
        { "application/vnd.api+json", "json-api" },
        { "application/graphql-response+json", "graphql" },
        { "application/vnd.mishap+json", "canonical" },
        { "Application/Problem+JSON", "problem" },
        { " \tapplication/problem+json\t ", "problem" },
        { 0 },
    });
    const mishap_dialect *const *all = mishap_dialects();
    for (size_t i = 0; all[i]; i++) {
        mishap_text type = mishap_text_of(mishap_dialect_media_type(all[i]));
        bool own = negotiate(type) == all[i];
        bool shared = mishap_text_equal(type, T("application/json")) ||
                      mishap_text_equal(type, T("text/plain"));
        assert_true(own != shared || strcmp(mishap_dialect_name(all[i]), "http-api") == 0);
    }
}

static void the_best_quality_wins(void **state)
{
    (void)state;
    assert_fields((const struct field[]){
        { "application/problem+json;q=0.9, application/json", "http-api" },
        { "application/problem+json, application/json;q=0.9", "problem" },
        { "application/problem+json;q=0.1,application/vnd.api+json;q=0.11", "json-api" },
        { "application/problem+json;q=0.999,application/json;q=1.000", "http-api" },
        { "application/problem+json;q=1.,application/json;q=0.", "problem" },
        { "application/problem+json ; Q=0.5 , application/json ; q=0.4", "problem" },
        { "application/problem+json, */*;q=0.1", "problem" },
        { "text/html;q=1, application/problem+json;q=0.001", "problem" },
        { "application/problem+json;q=0.001, text/html", "problem" },
        { "application/problem+json, application/problem+json;q=0.1, application/json;q=0.5",
          "problem" },
        { 0 },
    });
}

static void among_equals_a_failure_that_is_named_wins(void **state)
{
    (void)state;
    assert_fields((const struct field[]){
        { "application/json, application/problem+json", "problem" },
        { "application/problem+json, application/json", "problem" },
        { "*/*, application/problem+json", "problem" },
        { "application/vnd.api+json, application/problem+json", "json-api" },
        { "application/problem+json, application/vnd.api+json", "problem" },
        { "application/*, */*", "http-api" },
        { 0 },
    });
}

static void the_closest_range_counts(void **state)
{
    (void)state;
    assert_fields((const struct field[]){
        { "*/*, application/*;q=0.5, application/json;q=0.2", "problem" },
        { "application/json;q=0.2, application/*;q=0.5, */*", "problem" },
        { "application/*;q=0.5, application/vnd.api+json", "json-api" },
        { "application/*, application/problem+json;q=0.1", "http-api" },
        { "*/problem+json, application/json;q=0.5", "http-api" }, /* a name, but no range */
        { 0 },
    });
}

static void quality_zero_is_a_refusal(void **state)
{
    (void)state;
    assert_fields((const struct field[]){
        { "application/problem+json;q=0", "http-api" },
        { "application/problem+json;q=0.000, */*", "http-api" },
        { "application/json;q=0, application/problem+json;q=0.1", "problem" },
        { "application/json;q=0, */*", "problem" },
        { "*/*;q=0", "http-api" }, /* something must be said */
        { "application/*;q=0, */*", "http-api" },
        { 0 },
    });
}

static void what_is_no_accept_field_says_nothing(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "application",
        "application/",
        "/",
        "/json",
        "application/problem+json;q",
        "application/problem+json;q=",
        "application/problem+json;q=2",
        "application/problem+json;q=1.1",
        "application/problem+json;q=1.001",
        "application/problem+json;q=0.1234",
        "application/problem+json;q=.5",
        "application/problem+json;q=-1",
        "application/problem+json;q=0.a",
        "application/problem+json;q=\"1\"",
        "application/problem+json;q=1;=",
        "application/problem+json;a=\"b",
        "application/problem+json;a=\"b\\",
        "application/problem+json;a=\"b\x01\"",
        "application/problem+json;=b",
        "application/problem+json application/json",
        "application /problem+json",
        "application/ problem+json",
        "application/problem+json, *",
        "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
        "application/problem+json, \x80/x",
        "application/problem+json\x01",
        "(",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_fields((const struct field[]){ { broken[i], "http-api" }, { 0 } });
    assert_string_equal(mishap_dialect_name(negotiate(T("application/problem+json\0"))),
                        "http-api");
}

static void what_is_unusual_and_correct_is_read(void **state)
{
    (void)state;
    assert_fields((const struct field[]){
        { "application/problem+json;", "problem" },
        { "application/problem+json; ;q=0.5", "problem" },
        { "application/problem+json,,", "problem" },
        { ", ,application/problem+json", "problem" },
        { ",", "http-api" },
        { 0 },
    });
}

static void other_parameters_are_read_over(void **state)
{
    (void)state;
    assert_fields((const struct field[]){
        { "application/problem+json;profile=\"a, b;q=0\";q=0.5, application/json;q=0.4",
          "problem" },
        { "application/problem+json;a=\"\\\"\", x/y", "problem" },
        { "application/problem+json;charset=utf-8", "problem" },
        { "application/problem+json; q=0.5; ext=1, application/json;q=0.6", "http-api" },
        { 0 },
    });
}

static void long_fields_are_read_in_one_go(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    static const char last[] = "application/problem+json";
    char *field = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        field[i] = "a/b,"[i % 4];
    memcpy(field + SIZE - (sizeof last - 1), last, sizeof last - 1);
    assert_string_equal(mishap_dialect_name(negotiate((mishap_text){ field, SIZE })), "problem");
    memset(field, 'a', SIZE);
    assert_string_equal(mishap_dialect_name(negotiate((mishap_text){ field, SIZE })), "http-api");
    memset(field, ';', SIZE);
    memcpy(field, "a/b", 3);
    assert_string_equal(mishap_dialect_name(negotiate((mishap_text){ field, SIZE })), "http-api");
    free(field);
}

/* -- services with a dialect of their own ------------------------------------------------------ */

static void the_dialect_of_a_service_stands_for_its_media_type(void **state)
{
    (void)state;
    usual = &mishap_artifact;
    assert_fields((const struct field[]){
        { "", "artifact" },
        { "*/*", "artifact" },
        { "application/json", "artifact" },
        { "text/html", "artifact" },
        { "application/problem+json", "problem" },
        { "application/json, application/problem+json", "problem" },
        { "application/problem+json;q=0.5, application/json", "artifact" },
        { "application/vnd.mishap+json", "canonical" },
        { 0 },
    });
    usual = &mishap_problem;
    assert_fields((const struct field[]){
        { "", "problem" },
        { "*/*", "problem" },
        { "application/problem+json", "problem" },
        { "application/json", "http-api" },
        { "application/json, application/problem+json", "problem" },
        { 0 },
    });
    usual = &mishap_http_api;
}

static const mishap_service own = { "own", .http_dialect = "artifact" },
                            other = { "other", .http_dialect = "problem" },
                            silent = { .name = "silent" };
static const mishap_operation operations[] = {
    { .name = "a", .route = "POST /books/:id/:method", .service = &own },
    { .name = "b", .route = "GET /books/list", .service = &own },
    { .name = "c", .route = "GET /books/other/:id", .service = &other },
    { .name = "d", .route = "GET /books/quiet/{path...}", .service = &silent },
    { .name = "e", .route = "GET /", .service = &silent },
    { .name = "f", .route = "GET /:any", .service = &own },
    { .name = "g", .service = &own },
    { 0 },
};
static const mishap_app app = { "sample", .operations = operations };

static void check_dialects_below(const mishap_app *asked)
{
    static const struct field paths[] = {
        { "/books", "artifact" },
        { "/books/", "artifact" },
        { "/books/7/x/y/z", "artifact" },
        { "/books/list", "artifact" },
        { "/books/list/x", "artifact" },
        { "/books/lists", "artifact" },
        { "/books/other", "problem" },
        { "/books/other/7", "problem" },
        { "/books/others", "artifact" },
        { "/books/quiet/a", "http-api" },
        { "/bookshelf", "http-api" },
        { "/", "http-api" },
        { "", "http-api" },
        { "/x", "http-api" },
        { "*", "http-api" },
        { 0 },
    };
    for (const struct field *f = paths; f->accept; f++) {
        const mishap_dialect *found = mishap_http_dialect_of(asked, mishap_text_of(f->accept));
        if (strcmp(mishap_dialect_name(found), f->dialect) != 0)
            fail_msg("%s: %s", f->accept, mishap_dialect_name(found));
    }
}

static void failures_below_the_routes_of_a_service_are_in_its_dialect(void **state)
{
    (void)state;
    check_dialects_below(&app);
    assert_ptr_equal(mishap_http_dialect_by(NULL), &mishap_http_api);
    assert_ptr_equal(mishap_http_dialect_by(&silent), &mishap_http_api);
}

static void a_program_may_have_routes_with_hundreds_of_beginnings(void **state)
{
    enum { OTHERS = 300, OWN = sizeof operations / sizeof *operations };
    static char routes[OTHERS][16];
    static mishap_operation many[OTHERS + OWN];
    mishap_app large = { "large", .operations = many };
    (void)state;
    for (size_t i = 0; i < OTHERS; i++) {
        snprintf(routes[i], sizeof routes[i], "GET /n%zu", i);
        many[i] = (mishap_operation){ .name = "n", .route = routes[i], .service = &silent };
    }
    memcpy(many + OTHERS, operations, sizeof operations);
    check_dialects_below(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_wish_it_is_the_http_api),
        TEST(every_dialect_of_json_goes_by_its_media_type),
        TEST(the_best_quality_wins),
        TEST(among_equals_a_failure_that_is_named_wins),
        TEST(the_closest_range_counts),
        TEST(quality_zero_is_a_refusal),
        TEST(what_is_no_accept_field_says_nothing),
        TEST(what_is_unusual_and_correct_is_read),
        TEST(other_parameters_are_read_over),
        TEST(long_fields_are_read_in_one_go),
        TEST(the_dialect_of_a_service_stands_for_its_media_type),
        TEST(failures_below_the_routes_of_a_service_are_in_its_dialect),
        TEST(a_program_may_have_routes_with_hundreds_of_beginnings),
    };
    return RUN(tests);
}
