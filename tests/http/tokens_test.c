/* Access tokens over HTTP, the parts that need no server: how many checks may fail, how long a key
 * set is used, which addresses are safe, and how long a checked token is known. */
#include "http/tokens/fetch.h"

#include "testing.h"

#define SECOND INT64_C(1000000000)
#define START  (1000 * SECOND)

/* -- failed checks ----------------------------------------------------------------------------- */

static mishap_http_request from(const char *remote)
{
    return (mishap_http_request){ .remote = mishap_text_of(remote) };
}

/* How many checks of an address fail before it has to wait. */
static int use_all(mishap_http_budget *budget, const char *remote, int64_t now_ns)
{
    const mishap_http_request request = from(remote);
    int count = 0;
    while (!mishap_http_budget_wait(budget, &request, now_ns) && count < 1000) {
        mishap_http_budget_use(budget, &request, now_ns);
        count++;
    }
    return count;
}

static void an_address_has_a_budget_of_failed_checks(void **state)
{
    mishap_http_budget budget = { .secret = { 1, 2 } };
    const mishap_http_request request = from("192.0.2.1");
    (void)state;
    assert_int_equal(use_all(&budget, "192.0.2.1", START), MISHAP_HTTP_FAILED_AT_ONCE);
    int64_t wait_ms = mishap_http_budget_wait(&budget, &request, START);
    assert_in_range(wait_ms, 1, 1000 / MISHAP_HTTP_FAILED_PER_SECOND + 1);
    assert_int_equal(mishap_http_budget_wait(&budget, &request, START + wait_ms * 1000000), 0);
    assert_int_equal(use_all(&budget, "192.0.2.1", START + SECOND), MISHAP_HTTP_FAILED_PER_SECOND);
    assert_int_equal(use_all(&budget, "192.0.2.1", START + 100 * SECOND),
                     MISHAP_HTTP_FAILED_AT_ONCE);
}

static void addresses_have_budgets_of_their_own(void **state)
{
    mishap_http_budget budget = { .secret = { 1, 2 } };
    (void)state;
    use_all(&budget, "192.0.2.1", START);
    assert_int_equal(use_all(&budget, "192.0.2.2", START), MISHAP_HTTP_FAILED_AT_ONCE);
    use_all(&budget, "2001:db8::1", START);
    assert_int_equal(use_all(&budget, "2001:db8::2", START), 0); /* of the same network */
    assert_int_equal(use_all(&budget, "2001:db8:0:1::1", START), MISHAP_HTTP_FAILED_AT_ONCE);
}

/* -- key sets ---------------------------------------------------------------------------------- */

static void a_set_is_used_as_long_as_its_response_says(void **state)
{
    static const struct {
        const char *field;
        int64_t seconds;
    } rows[] = {
        { "", MISHAP_FETCH_USUAL_S },
        { "no-cache", MISHAP_FETCH_USUAL_S },
        { "max-age", MISHAP_FETCH_USUAL_S },
        { "max-age=", MISHAP_FETCH_USUAL_S },
        { "max-age=x", MISHAP_FETCH_USUAL_S },
        { "max-age=-5", MISHAP_FETCH_USUAL_S },
        { "s-maxage=900", MISHAP_FETCH_USUAL_S },
        { "max-age=900", 900 },
        { "Max-Age=900", 900 },
        { "public, max-age=900, must-revalidate", 900 },
        { "s-maxage=5,max-age=900", 900 },
        { "max-age=0", MISHAP_FETCH_LEAST_S },
        { "max-age=59", MISHAP_FETCH_LEAST_S },
        { "max-age=61", 61 },
        { "max-age=86401", MISHAP_FETCH_MOST_S },
        { "max-age=99999999999999999999999999", MISHAP_FETCH_MOST_S },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(mishap_fetch_age(mishap_text_of(rows[i].field)), rows[i].seconds);
}

static void only_https_and_this_machine_are_safe(void **state)
{
    static const char *const safe[] = { "https://a.example",  "https://a.example:1/b",
                                        "http://127.0.0.1",   "http://127.0.0.1:80/a",
                                        "http://localhost/a", "http://[::1]:80" };
    static const char *const others[] = { "http://a.example",
                                          "http://127.0.0.1.a.example",
                                          "http://localhost.a.example",
                                          "http://127.0.0.11",
                                          "ftp://127.0.0.1",
                                          "file:///a",
                                          "https:/a",
                                          "",
                                          "http://[::1].a.example" };
    (void)state;
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        assert_true(mishap_http_issuer_is_safe(mishap_text_of(safe[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(mishap_http_issuer_is_safe(mishap_text_of(others[i])));
}

/* -- checked tokens ---------------------------------------------------------------------------- */

enum { NOW_S = 1000000 };

static void a_checked_token_is_known_for_five_minutes_or_until_it_ends(void **state)
{
    static const unsigned char digest[2][MISHAP_OAUTH_DIGEST] = { { 1 }, { 2 } };
    const mishap_identity lasting = { .name = "a:long", .ends_s = NOW_S + 3600 };
    const mishap_identity ending = { .name = "a:short", .ends_s = NOW_S + 10 };
    mishap_token_cache *cache;
    (void)state;
    assert_null(mishap_token_cache_make(&cache));
    mishap_token_cache_add(cache, digest[0], &lasting, NOW_S);
    mishap_token_cache_add(cache, digest[1], &ending, NOW_S);
    assert_string_equal(mishap_token_cache_find(cache, digest[0], NOW_S + 299)->name, "a:long");
    assert_null(mishap_token_cache_find(cache, digest[0], NOW_S + MISHAP_TOKEN_CACHED_S));
    assert_string_equal(mishap_token_cache_find(cache, digest[1], NOW_S + 69)->name, "a:short");
    assert_null(mishap_token_cache_find(cache, digest[1], NOW_S + 10 + MISHAP_TOKEN_SKEW_S));
    mishap_token_cache_clear(cache);
    assert_null(mishap_token_cache_find(cache, digest[0], NOW_S));
    mishap_token_cache_free(cache);
}

/* Tokens whose digests begin alike share few places: the one that ends first makes room. */
static void the_token_that_ends_first_makes_room(void **state)
{
    unsigned char digest[MISHAP_OAUTH_DIGEST] = { 0 };
    mishap_token_cache *cache;
    size_t known = 0;
    (void)state;
    assert_null(mishap_token_cache_make(&cache));
    for (unsigned char i = 0; i < 5; i++) {
        const mishap_identity identity = { .name = "a:b", .ends_s = NOW_S + (i == 2 ? 1 : 60 + i) };
        digest[31] = i;
        mishap_token_cache_add(cache, digest, &identity, NOW_S);
    }
    for (unsigned char i = 0; i < 5; i++) {
        digest[31] = i;
        bool found = mishap_token_cache_find(cache, digest, NOW_S);
        assert_true(found == (i != 2));
        known += found;
    }
    assert_int_equal(known, 4);
    mishap_token_cache_free(cache);
}

/* Each byte of a token counts, and each cache has a key of its own: what one process has counted
 * out is of no use to another. */
static void each_token_has_a_digest_of_its_own_in_each_cache(void **state)
{
    enum { LENGTH = 613 };
    char bytes[LENGTH];
    unsigned char digest[MISHAP_OAUTH_DIGEST], other[MISHAP_OAUTH_DIGEST];
    const mishap_text token = { bytes, LENGTH };
    const mishap_identity identity = { .name = "a:b", .ends_s = NOW_S + 3600 };
    mishap_token_cache *caches[2];
    (void)state;
    assert_null(mishap_oauth_load());
    for (size_t i = 0; i < 2; i++)
        assert_null(mishap_token_cache_make(&caches[i]));
    memset(bytes, 'a', LENGTH);
    assert_true(mishap_token_cache_digest(caches[0], token, digest));
    mishap_token_cache_add(caches[0], digest, &identity, NOW_S);
    assert_true(mishap_token_cache_digest(caches[1], token, other));
    assert_memory_not_equal(digest, other, sizeof digest);
    for (size_t i = 0; i < LENGTH; i++) {
        bytes[i] ^= 1;
        assert_true(mishap_token_cache_digest(caches[0], token, other));
        assert_null(mishap_token_cache_find(caches[0], other, NOW_S));
        bytes[i] ^= 1;
    }
    assert_true(mishap_token_cache_digest(caches[0], (mishap_text){ bytes, LENGTH - 1 }, other));
    assert_null(mishap_token_cache_find(caches[0], other, NOW_S));
    assert_true(mishap_token_cache_digest(caches[0], token, other));
    assert_non_null(mishap_token_cache_find(caches[0], other, NOW_S));
    for (size_t i = 0; i < 2; i++)
        mishap_token_cache_free(caches[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_address_has_a_budget_of_failed_checks),
        TEST(addresses_have_budgets_of_their_own),
        TEST(a_set_is_used_as_long_as_its_response_says),
        TEST(only_https_and_this_machine_are_safe),
        TEST(a_checked_token_is_known_for_five_minutes_or_until_it_ends),
        TEST(the_token_that_ends_first_makes_room),
        TEST(each_token_has_a_digest_of_its_own_in_each_cache),
    };
    return RUN(tests);
}
