/* What extensions hear in the supervisor and in a loop: in which order, with what, and what comes
 * of failures. */
#include "server/state.h"
#include "testing.h"

/* What was called, one word each: NAME.HOOK, and with what. */
static char heard[1024];

static void hear(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void hear(const char *format, ...)
{
    va_list arguments;
    size_t length = strlen(heard);
    va_start(arguments, format);
    vsnprintf(heard + length, sizeof heard - length, format, arguments);
    va_end(arguments);
}

#define EXPECT_HEARD(...)                                                                          \
    do {                                                                                           \
        assert_string_equal(heard, "" __VA_ARGS__);                                                \
        heard[0] = '\0';                                                                           \
    } while (0)

static const char *failing; /* the state of the extension whose prepare() fails */
static const char *theirs;  /* … of the one whose child has ended */

#define HOOKS(name, number)                                                                        \
    static mishap *name##_prepare(const mishap_http_settings *settings, void **shared)             \
    {                                                                                              \
        static char own[] = #name;                                                                 \
        (void)settings;                                                                            \
        *shared = own;                                                                             \
        hear(#name ".prepare ");                                                                   \
        return failing && strcmp(failing, own) == 0                                                \
                   ? mishap_raise(UNAVAILABLE, "No room for %s.", own)                             \
                   : NULL;                                                                         \
    }                                                                                              \
    static int name##_before_loop(void *shared)                                                    \
    {                                                                                              \
        hear(#name ".before(%s) ", (char *)shared);                                                \
        return number;                                                                             \
    }

static void on_dismiss(void *shared)
{
    hear("%s.dismiss ", shared ? (char *)shared : "NULL");
}

static void on_forked(void *shared)
{
    hear("%s.forked ", (char *)shared);
}

static void on_ended(void *shared, int number)
{
    hear("%s.ended(%d) ", (char *)shared, number);
}

static bool on_child(void *shared, int pid, int status)
{
    hear("%s.child(%d,%d) ", (char *)shared, pid, status);
    return theirs && strcmp(theirs, shared) == 0;
}

/* In a loop the state of an extension is what it has shared. */
static mishap *on_open(mishap_http_server *server, void *own, void **state)
{
    (void)server;
    hear("%s.open ", (char *)own);
    if (failing && strcmp(failing, own) == 0)
        return mishap_raise(UNAVAILABLE, "No room for %s.", (char *)own);
    *state = own;
    return NULL;
}

static void on_tick(void *state)
{
    hear("%s.tick ", (char *)state);
}

static void on_drain(void *state)
{
    hear("%s.drain ", (char *)state);
}

static bool on_busy(void *state)
{
    hear("%s.busy ", (char *)state);
    return theirs && strcmp(theirs, state) == 0;
}

static void on_close(void *state)
{
    hear("%s.close ", (char *)state);
}

HOOKS(a, 7)
HOOKS(b, 0)

static const mishap_http_extension a = { .name = "a",
                                         .prepare = a_prepare,
                                         .dismiss = on_dismiss,
                                         .before_loop = a_before_loop,
                                         .loop_forked = on_forked,
                                         .loop_ended = on_ended,
                                         .child_ended = on_child,
                                         .open = on_open,
                                         .tick = on_tick,
                                         .drain = on_drain,
                                         .busy = on_busy,
                                         .close = on_close };
static const mishap_http_extension b = { .name = "b",
                                         .prepare = b_prepare,
                                         .dismiss = on_dismiss,
                                         .before_loop = b_before_loop,
                                         .loop_forked = on_forked,
                                         .loop_ended = on_ended,
                                         .child_ended = on_child,
                                         .open = on_open,
                                         .tick = on_tick,
                                         .drain = on_drain,
                                         .busy = on_busy,
                                         .close = on_close };
static const mishap_http_extension without = { .name = "without" };

static const mishap_http_extension *const all[] = { &a, &without, &b, NULL };
static const mishap_http_settings settings = { .extensions = all, .program = "extensions" };
static void *shared[MISHAP_HTTP_MOST_EXTENSIONS];

static void prepare_all(void)
{
    failing = theirs = NULL;
    memset(shared, 0, sizeof shared);
    assert_null(mishap_http_extensions_prepare(&settings, shared));
    EXPECT_HEARD("a.prepare b.prepare ");
    assert_string_equal(shared[0], "a");
    assert_null(shared[1]);
    assert_string_equal(shared[2], "b");
}

static void they_are_dismissed_in_the_opposite_order(void **state)
{
    (void)state;
    prepare_all();
    mishap_http_extensions_dismiss(&settings, shared);
    EXPECT_HEARD("b.dismiss a.dismiss ");
}

/* With what it has begun, and those before it; an extension that was not prepared is not
 * dismissed. */
static void one_that_cannot_be_prepared_is_dismissed_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *failing, *heard;
    } rows[] = { { "a", "a.prepare a.dismiss " },
                 { "b", "a.prepare b.prepare b.dismiss a.dismiss " } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        failing = rows[i].failing;
        mishap *failure = mishap_http_extensions_prepare(&settings, shared);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
        assert_string_equal(heard, rows[i].heard);
        heard[0] = '\0';
        mishap_free(failure);
    }
    failing = NULL;
}

static void too_many_are_refused_before_any_is_prepared(void **state)
{
    (void)state;
    const mishap_http_extension *many[MISHAP_HTTP_MOST_EXTENSIONS + 2] = { 0 };
    mishap_http_settings crowded = { .extensions = many, .program = "extensions" };
    for (size_t i = 0; i < MISHAP_HTTP_MOST_EXTENSIONS + 1; i++)
        many[i] = &a;
    mishap *failure = mishap_http_extensions_prepare(&crowded, shared);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
    EXPECT_HEARD("");
    mishap_free(failure);
    failure = mishap_http_supervise(&crowded); /* which has nothing to dismiss either */
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
    EXPECT_HEARD("");
    mishap_free(failure);
}

static void a_server_that_cannot_be_prepared_dismisses_each_once(void **state)
{
    (void)state;
    mishap_http_settings own = settings;
    failing = "b";
    mishap *failure = mishap_http_supervise(&own);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    EXPECT_HEARD("a.prepare b.prepare b.dismiss a.dismiss ");
    mishap_free(failure);
    failing = NULL;
}

/* … nor does one that cannot listen leave anything behind. */
static void a_server_that_cannot_begin_dismisses_what_was_prepared(void **state)
{
    (void)state;
    mishap_http_settings own = settings;
    own.host = "192.0.2.1"; /* no machine has it: it is for documentation */
    own.loops = 1;
    mishap *failure = mishap_http_supervise(&own);
    assert_non_null(failure);
    EXPECT_HEARD("a.prepare b.prepare b.dismiss a.dismiss ");
    mishap_free(failure);
}

/* Each knows a loop by a number of its own, which may be 0; who gives none is -1. */
static void each_gets_its_own_number_back_when_a_loop_ends(void **state)
{
    (void)state;
    int first[MISHAP_HTTP_MOST_EXTENSIONS], second[] = { 21, 22, 23 };
    prepare_all();
    mishap_http_extensions_before_loop(&settings, shared, first);
    EXPECT_HEARD("a.before(a) b.before(b) ");
    assert_int_equal(first[0], 7);
    assert_int_equal(first[1], -1);
    assert_int_equal(first[2], 0);
    mishap_http_extensions_loop_forked(&settings, shared);
    EXPECT_HEARD("a.forked b.forked ");
    mishap_http_extensions_loop_ended(&settings, shared, second);
    EXPECT_HEARD("a.ended(21) b.ended(23) ");
    mishap_http_extensions_loop_ended(&settings, shared, first);
    EXPECT_HEARD("a.ended(7) b.ended(0) ");
}

static void a_child_is_asked_about_until_one_knows_it(void **state)
{
    (void)state;
    prepare_all();
    assert_false(mishap_http_extensions_child_ended(&settings, shared, 4711, 9));
    EXPECT_HEARD("a.child(4711,9) b.child(4711,9) ");
    theirs = "a";
    assert_true(mishap_http_extensions_child_ended(&settings, shared, 4712, 256));
    EXPECT_HEARD("a.child(4712,256) ");
    theirs = "b";
    assert_true(mishap_http_extensions_child_ended(&settings, shared, 4713, 0));
    EXPECT_HEARD("a.child(4713,0) b.child(4713,0) ");
}

static void a_loop_opens_them_in_order_and_closes_them_in_the_opposite_order(void **state)
{
    (void)state;
    mishap_http_server server = { .settings = &settings };
    prepare_all();
    assert_null(mishap_http_extensions_open(&server, shared));
    EXPECT_HEARD("a.open b.open ");
    assert_string_equal(mishap_http_state_of(&server, &b), "b");
    assert_null(mishap_http_state_of(&server, &without));
    mishap_http_extensions_tick(&server);
    mishap_http_extensions_drain(&server);
    EXPECT_HEARD("a.tick b.tick a.drain b.drain ");
    assert_false(mishap_http_extensions_busy(&server));
    EXPECT_HEARD("a.busy b.busy ");
    theirs = "b";
    assert_true(mishap_http_extensions_busy(&server));
    EXPECT_HEARD("a.busy b.busy ");
    mishap_http_extensions_close(&server);
    EXPECT_HEARD("b.close a.close ");
    mishap_http_extensions_close(&server); /* none is open any more */
    mishap_http_extensions_tick(&server);
    EXPECT_HEARD("");
    assert_null(mishap_http_state_of(&server, &b));
}

static void one_that_cannot_be_opened_is_not_closed(void **state)
{
    (void)state;
    mishap_http_server server = { .settings = &settings };
    prepare_all();
    failing = "b";
    mishap *failure = mishap_http_extensions_open(&server, shared);
    failing = NULL;
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_free(failure);
    EXPECT_HEARD("a.open b.open ");
    mishap_http_extensions_close(&server);
    EXPECT_HEARD("a.close ");
}

static void a_server_without_extensions_has_nobody_to_tell(void **state)
{
    (void)state;
    int numbers[MISHAP_HTTP_MOST_EXTENSIONS];
    const mishap_http_extension *const only[] = { &without, NULL };
    const mishap_http_settings empty[] = { { 0 }, { .extensions = only } };
    for (size_t i = 0; i < 2; i++) {
        assert_null(mishap_http_extensions_prepare(&empty[i], shared));
        mishap_http_extensions_before_loop(&empty[i], shared, numbers);
        mishap_http_extensions_loop_forked(&empty[i], shared);
        mishap_http_extensions_loop_ended(&empty[i], shared, numbers);
        assert_false(mishap_http_extensions_child_ended(&empty[i], shared, 1, 0));
        mishap_http_extensions_dismiss(&empty[i], shared);
    }
    EXPECT_HEARD("");
}

int main(void)
{
    setenv("EXTENSIONS_LOG", "", 1); /* no log */
    const struct CMUnitTest tests[] = {
        TEST(they_are_dismissed_in_the_opposite_order),
        TEST(one_that_cannot_be_prepared_is_dismissed_at_once),
        TEST(too_many_are_refused_before_any_is_prepared),
        TEST(a_server_that_cannot_be_prepared_dismisses_each_once),
        TEST(a_server_that_cannot_begin_dismisses_what_was_prepared),
        TEST(each_gets_its_own_number_back_when_a_loop_ends),
        TEST(a_child_is_asked_about_until_one_knows_it),
        TEST(a_loop_opens_them_in_order_and_closes_them_in_the_opposite_order),
        TEST(one_that_cannot_be_opened_is_not_closed),
        TEST(a_server_without_extensions_has_nobody_to_tell),
    };
    return RUN(tests);
}
