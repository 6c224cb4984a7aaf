/* Scopes: what a program may declare, what an operation needs, and what a caller then has. */
#include "testing.h"

#include "mishap/invoke.h"
#include "operation/call.h"

static mishap *answer(mishap_call *call)
{
    return mishap_answer_member(call, "may", mishap_may(call, "books:write"));
}

static mishap *pass_on(mishap_call *call);

static const mishap_service library = { .name = "library", .scope = "books:read" };

static const mishap_operation operations[] = {
    { "list", "List books", .run = answer, .service = &library },
    { "add", "Add a book", .run = answer, .service = &library, .scope = "books:write" },
    { "both", "Do both", .run = answer, .scope = " books:write  books:lend " },
    { "open", "Show when it is open", .run = answer, .service = &library, .scope = "" },
    { "keep", "Show what is private", .run = answer, .operator_only = true, .service = &library },
    { "pass-on", "Add a book for the caller", .run = pass_on },
    { 0 },
};

static const mishap_scope scopes[] = {
    { "books:read", .help = "See books" },
    { "books:write", .implies = "books:read" },
    { "books:lend", .implies = "books:circle" },
    { "books:circle", .implies = "books:lend books:write" },
    { "books:all", .implies = "books:circle call" },
    { 0 },
};

static const mishap_app app = { .name = "books", .operations = operations, .scopes = scopes };

/* The handler acts for its caller, which may do less than the program. */
static mishap *pass_on(mishap_call *call)
{
    mishap *failure = mishap_invoke(&app, "add", NULL, &(mishap_invocation){ .within = call },
                                    NULL);
    return failure ? failure : mishap_answer_member(call, "may", true);
}

enum {
    READ = MISHAP_SCOPE_FIRST_DECLARED,
    WRITE = READ << 1,
    LEND = READ << 2,
    CIRCLE = READ << 3
};

static void what_an_operation_needs_is_declared(void **state)
{
    (void)state;
    static const unsigned needed[] = {
        MISHAP_SCOPE_CALL | READ, MISHAP_SCOPE_CALL | WRITE, MISHAP_SCOPE_CALL | WRITE | LEND,
        MISHAP_SCOPE_CALL,        MISHAP_SCOPE_OPERATOR,     MISHAP_SCOPE_CALL,
    };
    assert_null(mishap_declaration_check(&app));
    for (size_t i = 0; operations[i].name; i++)
        assert_int_equal(mishap_operation_scopes(&app, &operations[i]), needed[i]);
}

static void what_is_implied_is_followed_to_its_end(void **state)
{
    (void)state;
    const unsigned all = READ | WRITE | LEND | CIRCLE;
    assert_int_equal(mishap_scopes_expand(scopes, READ), READ);
    assert_int_equal(mishap_scopes_expand(scopes, WRITE), WRITE | READ);
    assert_int_equal(mishap_scopes_expand(scopes, LEND), all);
    assert_int_equal(mishap_scopes_expand(scopes, READ << 4), all | READ << 4 | MISHAP_SCOPE_CALL);
    assert_int_equal(mishap_scopes_expand(scopes, MISHAP_SCOPES_USUAL), MISHAP_SCOPES_USUAL);
    assert_int_equal(mishap_scopes_expand(NULL, 5), 5);
}

static void assert_written(mishap_buffer *b, const char *expected)
{
    mishap_buffer_put_char(b, '\0');
    assert_false(b->failed);
    assert_string_equal(b->data, expected);
}

static void lists_of_names_are_read_and_written(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        bool fine;
        unsigned scopes;
    } cases[] = {
        { "call", true, 1 },
        { "operator,call,books:read", true, 5 | READ },
        { "books:gone", true, 0 },
        { "call,books:gone,books:read", true, 1 | READ },
        { "call,call", false, 0 },
        { "books:gone,call,books:gone", false, 0 },
        { "", false, 0 },
        { "call,", false, 0 },
        { ",call", false, 0 },
        { "call books:read", false, 0 },
        { "\"call\"", false, 0 },
        { "c\xc3\xa4ll", false, 0 },
        { "a\\b", false, 0 },
        { "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg", false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned found;
        assert_int_equal(mishap_scopes_read(scopes, mishap_text_of(cases[i].list), &found),
                         cases[i].fine);
        if (cases[i].fine)
            assert_int_equal(found, cases[i].scopes);
    }
    mishap_buffer b = { 0 };
    mishap_scopes_put(&b, scopes, MISHAP_SCOPES_ALL, ' ');
    assert_written(&b, "call metrics operator books:read books:write books:lend "
                       "books:circle books:all");
    mishap_buffer_reset(&b);
    mishap_scopes_put(&b, NULL, MISHAP_SCOPES_USUAL, ',');
    assert_written(&b, "call,metrics");
    mishap_buffer_release(&b);
}

static void assert_refused(const mishap_app *program, const char *words)
{
    mishap *m = mishap_declaration_check(program);
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    if (!strstr(mishap_told(m)->message.data, words))
        fail_msg("\"%s\" has no \"%s\"", mishap_told(m)->message.data, words);
    mishap_free(m);
}

static void wrong_lists_are_refused_at_the_start(void **state)
{
    (void)state;
    static const struct {
        mishap_scope list[3];
        const char *words;
    } cases[] = {
        { { { .name = "two words" } }, "has a scope whose name is not" },
        { { { .name = "" } }, "has a scope whose name is not" },
        { { { .name = "a,b" } }, "has a scope whose name is not" },
        { { { .name = "a" }, { .name = "a" } }, "has the scope `a` twice" },
        { { { .name = "operator" } }, "has the scope `operator`, which every program has" },
        { { { .name = "a", .implies = "b" } },
          "has the scope `a`, which implies `b`, a scope that is not declared" },
        { { { .name = "a", .implies = "operator" } },
          "which implies `operator`: only keys have that scope" },
        { { { .name = "a", .implies = "metrics" } },
          "which implies `metrics`: only keys have that scope" },
        { { { "a", NULL, "two\nlines" } }, "has the scope `a`, whose help is more than one line" },
        { { { .name = "a" }, { .implies = "a" } }, "has a scope, number 2, without a name" },
    };
    static const mishap_operation plain[] = { { "a", "A", .run = answer }, { 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(&(mishap_app){ .name = "a", .operations = plain, .scopes = cases[i].list },
                       cases[i].words);
}

static void too_many_are_refused_and_the_most_are_not(void **state)
{
    (void)state;
    static const mishap_operation plain[] = { { "a", "A", .run = answer, .scope = "s24" }, { 0 } };
    char names[MISHAP_MOST_SCOPES + 1][8];
    mishap_scope list[MISHAP_MOST_SCOPES + 2] = { { 0 } };
    mishap_app many = { .name = "a", .operations = plain, .scopes = list };
    for (int i = 0; i < MISHAP_MOST_SCOPES; i++) {
        snprintf(names[i], sizeof names[i], "s%d", i + 1);
        list[i].name = names[i];
    }
    assert_null(mishap_declaration_check(&many));
    assert_int_equal(mishap_operation_scopes(&many, plain),
                     (MISHAP_SCOPES_ALL + 1) / 2 | MISHAP_SCOPE_CALL);
    list[MISHAP_MOST_SCOPES].name = "one-more";
    assert_refused(&many, "has more than 24 scopes");
}

static void an_operation_needs_only_what_is_listed(void **state)
{
    (void)state;
    mishap_operation list[] = { { "a", "A", .run = answer, .scope = "books:read books:wriet" },
                                { 0 } };
    mishap_app wrong = { .name = "a", .operations = list, .scopes = scopes };
    assert_refused(&wrong, "needs the scope `books:wriet`, which the program does not list");
    list[0].scope = "call";
    assert_refused(&wrong, "needs the scope `call`, which the program does not list");
    list[0].scope = "books:read";
    wrong.scopes = NULL;
    assert_refused(&wrong, "needs the scope `books:read`, which the program does not list");
    wrong.scopes = scopes;
    list[0].operator_only = true;
    assert_refused(&wrong, "is for the operator only, and has a scope as well");
}

static mishap *invoke(const char *operation, const char *has, bool *may)
{
    mishap_answered *answered;
    mishap *m = mishap_invoke(&app, operation, NULL, &(mishap_invocation){ .scopes = has },
                              &answered);
    *may = !m && mishap_boolean(answered->json, "may");
    mishap_answered_free(answered);
    return m;
}

static void a_call_from_c_names_its_scopes(void **state)
{
    (void)state;
    static const struct {
        const char *operation, *has;
        const char *refused; /* NULL: it is not */
        bool may;
    } cases[] = {
        { "add", NULL, NULL, true },
        { "keep", NULL, NULL, true },
        { "list", "call books:read", NULL, false },
        { "list", " call  books:write", NULL, true },
        { "list", "books:all", NULL, true },
        { "open", "call books:gone", NULL, false },
        { "add", "call books:read", "The caller does not have the scope `books:write`.", false },
        { "both", "call", "The caller does not have the scopes `books:write books:lend`.", false },
        { "list", "", "The caller does not have the scopes `call books:read`.", false },
        { "keep", "books:all", "The caller does not have the scope `operator`.", false },
        { "pass-on", NULL, NULL, true },
        { "pass-on", "call books:write", NULL, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool may;
        mishap *m = invoke(cases[i].operation, cases[i].has, &may);
        assert_int_equal(m != NULL, cases[i].refused != NULL);
        assert_int_equal(may, cases[i].may);
        if (m) {
            assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_FORBIDDEN);
            assert_string_equal(mishap_told(m)->message.data, cases[i].refused);
        }
        mishap_free(m);
    }
}

/* The operation does not declare FORBIDDEN, so its own failure is another one. */
static void a_call_within_another_has_its_scopes(void **state)
{
    (void)state;
    bool may;
    mishap *m = invoke("pass-on", "call books:read", &may);
    assert_non_null(m);
    assert_false(may);
    mishap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_an_operation_needs_is_declared),
        TEST(what_is_implied_is_followed_to_its_end),
        TEST(lists_of_names_are_read_and_written),
        TEST(wrong_lists_are_refused_at_the_start),
        TEST(too_many_are_refused_and_the_most_are_not),
        TEST(an_operation_needs_only_what_is_listed),
        TEST(a_call_from_c_names_its_scopes),
        TEST(a_call_within_another_has_its_scopes),
    };
    return RUN(tests);
}
