/* What has changed lately, in memory that all loops of a server share. */
#include "operation/news.h"
#include "testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = MISHAP_NEWS_KEPT };

static mishap_news *make(void)
{
    mishap_news *news;
    assert_null(mishap_news_make(&news));
    return news;
}

static void change(mishap_news *news, const char *address)
{
    mishap_news_add(news, mishap_text_of(address));
}

/* The next address; "any"; NULL: none. */
static const char *next(mishap_news *news, uint64_t *seen)
{
    static char found[MISHAP_ADDRESS_LIMIT + 1];
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text address;
    if (!mishap_news_next(news, seen, room, &address))
        return NULL;
    snprintf(found, sizeof found, "%.*s", (int)address.length, address.data ? address.data : "");
    return address.data ? found : "any";
}

static void changes_come_in_their_order_and_each_address_once(void **state)
{
    (void)state;
    mishap_news *w = make();
    uint64_t seen = 0, late = 0;
    assert_null(next(w, &seen));
    change(w, "a://1");
    change(w, "a://2");
    change(w, "a://1");
    change(w, "a://3");
    assert_int_equal(mishap_news_count(w), 4);
    assert_string_equal(next(w, &seen), "a://2");
    assert_string_equal(next(w, &seen), "a://1");
    assert_string_equal(next(w, &seen), "a://3");
    assert_null(next(w, &seen));
    change(w, "a://1");
    assert_string_equal(next(w, &seen), "a://1");
    assert_null(next(w, &seen));
    assert_string_equal(next(w, &late), "a://2"); /* each who asks has a place of its own */
    mishap_news_free(w);
}

static void who_falls_behind_is_told_that_any_may_have_changed(void **state)
{
    (void)state;
    mishap_news *w = make();
    char uri[40];
    uint64_t seen = 0, behind = 0;
    for (int i = 0; i < KEPT; i++) {
        snprintf(uri, sizeof uri, "a://%d", i);
        change(w, uri);
    }
    for (int i = 0; i < KEPT; i++) {
        snprintf(uri, sizeof uri, "a://%d", i);
        assert_string_equal(next(w, &seen), uri);
    }
    assert_null(next(w, &seen));
    assert_true(mishap_news_has(w, 0, T("a://7")));
    change(w, "a://one more");
    assert_true(mishap_news_has(w, 0, T("a://none of them"))); /* it may have been */
    assert_string_equal(next(w, &behind), "any");
    assert_null(next(w, &behind));
    change(w, "a://then");
    assert_string_equal(next(w, &behind), "a://then");
    mishap_news_free(w);
}

static void an_address_that_is_too_long_is_no_news(void **state)
{
    (void)state;
    mishap_news *w = make();
    static char longest[MISHAP_ADDRESS_LIMIT + 2];
    uint64_t seen = 0;
    memset(longest, 'x', MISHAP_ADDRESS_LIMIT + 1);
    change(w, longest);
    assert_null(next(w, &seen));
    longest[MISHAP_ADDRESS_LIMIT] = '\0';
    change(w, longest);
    assert_string_equal(next(w, &seen), longest);
    mishap_news_free(w);
}

static void one_address_is_asked_for(void **state)
{
    (void)state;
    mishap_news *w = make();
    change(w, "a://1");
    uint64_t seen = mishap_news_count(w);
    assert_false(mishap_news_has(w, seen, T("a://1")));
    assert_true(mishap_news_has(w, 0, T("a://1")));
    assert_false(mishap_news_has(w, 0, T("a://12")));
    change(w, "a://2");
    assert_false(mishap_news_has(w, seen, T("a://1")));
    assert_true(mishap_news_has(w, seen, T("a://2")));
    mishap_news_free(w);
}

static void without_memory_for_news_nothing_happens(void **state)
{
    (void)state;
    uint64_t seen = 0;
    mishap_news_add(NULL, T("a://1"));
    assert_int_equal(mishap_news_count(NULL), 0);
    assert_null(next(NULL, &seen));
    assert_false(mishap_news_has(NULL, 0, T("a://1")));
}

static void what_a_process_says_before_it_dies_is_told(void **state)
{
    (void)state;
    mishap_news *w = make();
    uint64_t seen = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        change(w, "a://last");
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    assert_string_equal(next(w, &seen), "a://last");
    mishap_news_free(w);
}

static void who_is_killed_holds_up_nobody(void **state)
{
    (void)state;
    mishap_news *w = make();
    uint64_t seen = 0;
    for (int round = 0; round < 50; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        while (child == 0)
            change(w, "a://busy");
        usleep(1000 + 100 * (useconds_t)round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (next(w, &seen))
            continue;
        change(w, "a://1");
        const char *found = next(w, &seen);
        assert_true(found && (strcmp(found, "a://1") == 0 || strcmp(found, "any") == 0));
    }
    mishap_news_free(w);
}

/* What it was about to write down is not known to any reader. The lock is the first member. */
static void after_a_process_that_died_with_the_lock_any_may_have_changed(void **state)
{
    (void)state;
    mishap_news *w = make();
    change(w, "a://1");
    uint64_t seen = mishap_news_count(w), before = seen;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pthread_mutex_lock((pthread_mutex_t *)(void *)w);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    change(w, "a://2");
    assert_true(mishap_news_has(w, before, T("a://other")));
    assert_string_equal(next(w, &seen), "any");
    assert_null(next(w, &seen));
    change(w, "a://3"); /* the lock can be used again */
    assert_string_equal(next(w, &seen), "a://3");
    mishap_news_free(w);
}

static void *say(void *w)
{
    char address[40];
    for (int i = 0; i < 2000; i++) {
        snprintf(address, sizeof address, "a://%d", i % 7);
        change(w, address);
    }
    return NULL;
}

static void threads_may_say_so_at_once(void **state)
{
    (void)state;
    mishap_news *w = make();
    pthread_t threads[4];
    uint64_t seen = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, say, w), 0);
    for (int i = 0; i < 1000; i++)
        next(w, &seen);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(mishap_news_count(w), 8000);
    mishap_news_free(w);
}

/* The next own one, as next(). */
static const char *next_own(mishap_news *news, uint64_t *seen)
{
    static char found[MISHAP_ADDRESS_LIMIT + 1];
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text address;
    if (!mishap_news_next_own(news, seen, room, &address))
        return NULL;
    snprintf(found, sizeof found, "%.*s", (int)address.length, address.data ? address.data : "");
    return address.data ? found : "any";
}

static void changes_at_other_servers_are_told_but_are_not_own_ones(void **state)
{
    (void)state;
    mishap_news *w = make();
    uint64_t seen = 0, own = 0, later = 0;
    mishap_news_add_foreign(w, T("a://theirs"));
    change(w, "a://both");
    change(w, "a://ours");
    mishap_news_add_foreign(w, T("a://both"));
    assert_string_equal(next(w, &seen), "a://theirs");
    assert_string_equal(next(w, &seen), "a://ours");
    assert_string_equal(next(w, &seen), "a://both");
    assert_null(next(w, &seen));
    assert_string_equal(next_own(w, &own), "a://both"); /* the foreign one does not stand for it */
    assert_string_equal(next_own(w, &own), "a://ours");
    assert_null(next_own(w, &own));
    later = mishap_news_count(w);
    mishap_news_add_foreign(w, T("a://theirs"));
    assert_null(next_own(w, &own));
    assert_int_equal(own, mishap_news_count(w));
    assert_true(mishap_news_has(w, later, T("a://theirs")));
    mishap_news_free(w);
}

static void anything_may_have_changed_here(void **state)
{
    (void)state;
    mishap_news *w = make();
    uint64_t seen = 0, own = 0;
    mishap_news_add(w, (mishap_text){ NULL, 0 });
    assert_true(mishap_news_has(w, 0, T("a://whatever")));
    assert_string_equal(next(w, &seen), "any");
    assert_null(next(w, &seen));
    assert_string_equal(next_own(w, &own), "any");
    mishap_news_free(w);
}

static void anything_may_have_changed_at_another_server(void **state)
{
    (void)state;
    mishap_news *w = make();
    uint64_t seen = 0, own = 0, later;
    change(w, "a://1");
    later = mishap_news_count(w);
    mishap_news_add_foreign(w, (mishap_text){ NULL, 0 });
    change(w, "a://2");
    assert_string_equal(next(w, &seen), "a://1");
    assert_string_equal(next(w, &seen), "any");
    assert_string_equal(next(w, &seen), "a://2");
    assert_null(next(w, &seen));
    assert_true(mishap_news_has(w, later, T("a://whatever")));
    assert_false(mishap_news_has(w, later + 1, T("a://whatever")));
    assert_string_equal(next_own(w, &own), "a://1");
    assert_string_equal(next_own(w, &own), "a://2");
    assert_null(next_own(w, &own));
    mishap_news_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(changes_come_in_their_order_and_each_address_once),
        TEST(who_falls_behind_is_told_that_any_may_have_changed),
        TEST(an_address_that_is_too_long_is_no_news),
        TEST(one_address_is_asked_for),
        TEST(without_memory_for_news_nothing_happens),
        TEST(what_a_process_says_before_it_dies_is_told),
        TEST(who_is_killed_holds_up_nobody),
        TEST(after_a_process_that_died_with_the_lock_any_may_have_changed),
        TEST(threads_may_say_so_at_once),
        TEST(changes_at_other_servers_are_told_but_are_not_own_ones),
        TEST(anything_may_have_changed_here),
        TEST(anything_may_have_changed_at_another_server),
    };
    return RUN(tests);
}
