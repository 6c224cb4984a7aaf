/* A program with some of its services only. */
#include "operation/chosen.h"

#include "testing.h"
#include "operation/settings.h"

static mishap *do_nothing(mishap_call *call)
{
    return mishap_answer(call, "{}");
}

static const mishap_service todo = { .name = "todo" }, lisp = { .name = "lisp" },
                            screen = { .name = "screen" }, console = { .name = "console" },
                            listed = { .name = "listed" };
static const mishap_operation operations[] = {
    { .name = "todos.list", .summary = "List", .run = do_nothing, .service = &todo },
    { .name = "lisp.run", .summary = "Run", .run = do_nothing, .service = &lisp },
    { .name = "todos.show", .summary = "Show", .run = do_nothing, .service = &todo },
    { .name = "free", .summary = "Of no service", .run = do_nothing },
    { .name = "drill", .summary = "Fail", .run = do_nothing, .chaos = true },
    { .name = "lisp.drill", .summary = "Fail", .run = do_nothing, .chaos = true, .service = &lisp },
    { .name = "screen.draw",
      .summary = "A command alone",
      .run = do_nothing,
      .local = true,
      .service = &screen },
    { .name = "failures.list",
      .summary = "For the operator",
      .run = do_nothing,
      .service = &console,
      .operator_only = true },
    { 0 },
};
static const mishap_app app = { .name = "chosen",
                                .operations = operations,
                                .services = MISHAP_SERVICES(&listed, &lisp) };

static void assert_chosen(const char *names, const char *expected)
{
    char found[200] = "";
    mishap_app out;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    assert_null(mishap_app_choose(&app, names, &arena, &out));
    assert_string_equal(out.name, "chosen");
    for (const mishap_operation *o = out.operations; o->name; o++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s ", o->name);
    assert_string_equal(found, expected);
    mishap_arena_release(&arena);
}

static void other_services_are_absent(void **state)
{
    (void)state;
    assert_chosen(
        NULL, "todos.list lisp.run todos.show free drill lisp.drill screen.draw failures.list ");
    assert_chosen("todo", "todos.list todos.show drill screen.draw failures.list ");
    assert_chosen("lisp", "lisp.run drill lisp.drill screen.draw failures.list ");
    assert_chosen("lisp,todo,lisp",
                  "todos.list lisp.run todos.show drill lisp.drill screen.draw failures.list ");
}

static void settings_of_other_services_are_absent_too(void **state)
{
    mishap_app out;
    mishap_arena arena;
    (void)state;
    mishap_arena_init(&arena, NULL, 0);
    assert_null(mishap_app_choose(&app, "lisp", &arena, &out));
    assert_ptr_equal(out.services[0], &lisp);
    assert_null(out.services[1]);
    mishap_arena_release(&arena);
}

#define ASSERT_TEXT(found, expected)                                                               \
    do {                                                                                           \
        assert_int_equal((found).length, strlen(expected));                                        \
        assert_memory_equal((found).data, expected, (found).length);                               \
    } while (0)

static void assert_unknown(const char *names, const char *message, const char *suggestion)
{
    mishap_app out;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    mishap *m = mishap_app_choose(&app, names, &arena, &out);
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_ARG_ERROR);
    ASSERT_TEXT(mishap_told(m)->message, message);
    ASSERT_TEXT(mishap_told(m)->suggestion, suggestion);
    mishap_free(m);
    mishap_arena_release(&arena);
}

static void an_unknown_name_is_refused_with_the_nearest(void **state)
{
    (void)state;
    assert_unknown("tood", "No service is named `tood`.",
                   "Did you mean `todo`? The services are: todo, lisp");
    assert_unknown("todo,lips", "No service is named `lips`.",
                   "Did you mean `lisp`? The services are: todo, lisp");
    assert_unknown("quite another", "No service is named `quite another`.",
                   "The services are: todo, lisp");
    for (size_t i = 0; i < 4; i++)
        assert_unknown((const char *const[]){ "", ",", "todo,", "todo,,lisp" }[i],
                       "A name of a service is empty.", "The services are: todo, lisp");
    /* No server has them. */
    assert_unknown("screen", "No service is named `screen`.", "The services are: todo, lisp");
    assert_unknown("console", "No service is named `console`.", "The services are: todo, lisp");
    assert_unknown("listed", "No service is named `listed`.", "The services are: todo, lisp");
}

static void a_program_without_services_says_so(void **state)
{
    static const mishap_operation one[] = {
        { .name = "free", .summary = "Of none", .run = do_nothing }, { 0 }
    };
    const mishap_app none = { .name = "none", .operations = one };
    mishap_app out;
    mishap_arena arena;
    (void)state;
    mishap_arena_init(&arena, NULL, 0);
    mishap *m = mishap_app_choose(&none, "todo", &arena, &out);
    assert_non_null(m);
    ASSERT_TEXT(mishap_told(m)->suggestion, "The program has no services.");
    mishap_free(m);
    mishap_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(other_services_are_absent),
        TEST(settings_of_other_services_are_absent_too),
        TEST(an_unknown_name_is_refused_with_the_nearest),
        TEST(a_program_without_services_says_so),
    };
    return RUN(tests);
}
