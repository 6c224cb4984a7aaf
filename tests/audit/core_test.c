/* The core of an audit: reports are joined, bounded, redacted and ordered; the score; the budget.
 */
#include "audit/audit.h"
#include "testing.h"

static const mishap_audit_check checks[] = {
    { "http-one", "One holds.", "RFC 1", "Mend one.", false, "no response was seen" },
    { "http-two", "Two holds.", "RFC 2", "Mend two.", false, "no response was seen" },
    { "http-advised", "Advice holds.", "RFC 3", "Consider it.", true, "no response was seen" },
    { "http-leak", "No leak.", "CWE-209", "Hide it.", false, "no response was seen" },
    { 0 },
};

static mishap_audit *opened(const mishap_audit_settings *settings)
{
    mishap_audit_settings own = *settings;
    own.checks = checks;
    own.target = "http://127.0.0.1/";
    mishap_audit *audit = mishap_audit_open(&own);
    assert_non_null(audit);
    return audit;
}

static const mishap_audit_results *ended(mishap_audit *audit)
{
    const mishap_audit_results *results = NULL;
    assert_null(mishap_audit_end(audit, &results));
    assert_non_null(results);
    return results;
}

static void fail_at_place(mishap_audit *audit, size_t check, const char *place, const char *key)
{
    mishap_audit_report(audit, &checks[check], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){ .place = place, .key = key, .detail = T("Bad.") });
}

static void a_check_fails_if_it_failed_at_one_place(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    mishap_audit_pass(audit, &checks[0], "GET /a");
    fail_at_place(audit, 0, "GET /b", NULL);
    mishap_audit_pass(audit, &checks[0], "GET /c");
    mishap_audit_pass(audit, &checks[1], "GET /a");
    fail_at_place(audit, 2, "GET /a", NULL);
    const mishap_audit_results *r = ended(audit);
    assert_int_equal(r->check_count, 4);
    assert_int_equal(r->checks[0].outcome, MISHAP_AUDIT_FAILED);
    assert_int_equal(r->checks[0].passed, 2);
    assert_int_equal(r->checks[0].count, 1);
    assert_int_equal(r->checks[1].outcome, MISHAP_AUDIT_PASSED);
    assert_int_equal(r->checks[2].outcome, MISHAP_AUDIT_ADVICE); /* advice is never a failure */
    assert_int_equal(r->checks[3].outcome, MISHAP_AUDIT_UNDECIDED);
    assert_int_equal(r->score, 50); /* neither advice nor undecided counts */
    assert_int_equal(r->findings, 1);
    mishap_audit_free(audit);
}

static void without_a_decision_there_is_no_score(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    fail_at_place(audit, 2, "GET /", NULL);
    assert_int_equal(ended(audit)->score, -1);
    mishap_audit_free(audit);
}

static void findings_do_not_depend_on_the_order_of_reports(void **state)
{
    (void)state;
    static const char *const places[] = { "GET /b", "GET /a", "POST /a", "GET /c" };
    char seen[2][4][40];
    for (size_t run = 0; run < 2; run++) {
        mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
        for (size_t i = 0; i < 4; i++) {
            fail_at_place(audit, 0, places[run ? 3 - i : i], NULL);
            fail_at_place(audit, 0, places[run ? 3 - i : i], NULL); /* the same again */
        }
        const mishap_audit_results *r = ended(audit);
        assert_int_equal(r->checks[0].count, 4);
        for (size_t i = 0; i < 4; i++)
            snprintf(seen[run][i], sizeof seen[run][i], "%s %s",
                     r->checks[0].findings[i].place.data, r->checks[0].findings[i].fingerprint);
        mishap_audit_free(audit);
    }
    assert_memory_equal(seen[0][0], "GET /a ", 7);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(seen[0][i], seen[1][i]);
}

static void a_fingerprint_is_of_check_place_and_key(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    fail_at_place(audit, 0, "GET /a", "x");
    fail_at_place(audit, 0, "GET /a", "y");
    fail_at_place(audit, 1, "GET /a", "x");
    fail_at_place(audit, 1, "GET /ax", "");
    const mishap_audit_results *r = ended(audit);
    const mishap_audit_finding *all[] = { &r->checks[0].findings[0], &r->checks[0].findings[1],
                                          &r->checks[1].findings[0], &r->checks[1].findings[1] };
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(all[i]->fingerprint, all[j]->fingerprint);
    /* Stored in baselines: it never changes. */
    assert_string_equal(all[0]->fingerprint, "9ecf2b04bd824b4c");
    mishap_audit_free(audit);
}

static void texts_are_redacted_repaired_and_cut(void **state)
{
    (void)state;
    mishap_secret list[2];
    mishap_secrets secrets = { .texts = list };
    mishap_secrets_add_text(&secrets, T("Bearer s3cr3t-value"));
    mishap_secrets_sort(&secrets);
    mishap_audit *audit = opened(&(mishap_audit_settings){ .secrets = &secrets });
    size_t length = 1 << 20;
    char *large = malloc(length);
    assert_non_null(large);
    memset(large, 'a', length);
    memcpy(large + 1990, "Bearer s3cr3t-value", 19); /* at the place of the cut */
    mishap_audit_report(audit, &checks[0], MISHAP_AUDIT_FAILED,
                        &(mishap_audit_seen){ .place = "GET /\xff\x00",
                                              .detail = { large, length },
                                              .sent = T("Authorization: Bearer s3cr3t-value\r\n"),
                                              .got = T("postgres://u:hunter2@db/x \xc3(") });
    const mishap_audit_finding *f = &ended(audit)->checks[0].findings[0];
    assert_string_equal(f->place.data, "GET /\xef\xbf\xbd");
    assert_true(f->detail.length <= 2000);
    assert_null(strstr(f->detail.data, "s3cr"));
    assert_null(strstr(f->sent.data, "s3cr3t"));
    assert_null(strstr(f->got.data, "hunter2"));
    assert_non_null(strstr(f->got.data, "\xef\xbf\xbd("));
    assert_int_equal(mishap_utf8_valid_length(f->detail), f->detail.length);
    mishap_audit_free(audit);
    free(large);
}

static void findings_are_bounded(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    char place[40];
    for (int i = 0; i < 2100; i++) {
        snprintf(place, sizeof place, "GET /%d", i);
        fail_at_place(audit, 0, place, NULL);
    }
    const mishap_audit_results *r = ended(audit);
    assert_int_equal(r->findings, 2000);
    assert_int_equal(r->cut, 100);
    mishap_audit_free(audit);
}

static void a_leak_makes_the_score_zero(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    for (size_t i = 0; i < 3; i++)
        mishap_audit_pass(audit, &checks[i], "GET /");
    mishap_audit_scan(audit, &checks[3], "GET /", T("{\"error\":\"bad_request\"}"), NULL);
    mishap_audit_scan(audit, &checks[3], "GET /x",
                      T("Traceback (most recent call last):\n  File \"/srv/app.py\", line 7, in f\n"
                        "    g()\nValueError: no\n"),
                      NULL);
    const mishap_audit_results *r = ended(audit);
    assert_true(r->leak);
    assert_int_equal(r->score, 0);
    assert_int_equal(r->checks[3].outcome, MISHAP_AUDIT_FAILED);
    assert_int_equal(r->checks[3].passed, 1);
    mishap_audit_free(audit);
}

/* A path may be one of the caller: it is told, and costs nothing. */
static void what_is_only_likely_a_leak_is_advice(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    mishap_audit_pass(audit, &checks[0], "GET /");
    mishap_audit_scan(audit, &checks[3], "GET /", T("cannot read /srv/app/lib/settings.yml"), NULL);
    const mishap_audit_results *r = ended(audit);
    assert_false(r->leak);
    assert_int_equal(r->checks[3].outcome, MISHAP_AUDIT_ADVICE);
    assert_int_equal(r->checks[3].count, 1);
    assert_int_equal(r->findings, 0);
    assert_int_equal(r->score, 100);
    mishap_audit_free(audit);
}

static void a_leak_that_is_only_advised_against_leaves_the_score(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    mishap_audit_pass(audit, &checks[0], "GET /");
    mishap_audit_scan(audit, &checks[2], "GET /", T("    at pay (/srv/app/pay.js:3:14)\n"), NULL);
    const mishap_audit_results *r = ended(audit);
    assert_int_equal(r->checks[2].outcome, MISHAP_AUDIT_ADVICE);
    assert_true(r->checks[2].count > 0);
    assert_false(r->leak);
    assert_int_equal(r->score, 100);
    mishap_audit_free(audit);
}

static void requests_have_a_budget_and_a_rate(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ .max_requests = 5, .rate = 200 });
    int64_t begun = mishap_clock_monotonic_ns();
    for (int i = 0; i < 5; i++) {
        assert_false(mishap_audit_stopped(audit));
        assert_true(mishap_audit_next(audit, "GET /", T("GET / HTTP/1.1\r\n\r\n")));
    }
    assert_true(mishap_clock_monotonic_ns() - begun >= 4 * 5000000);
    assert_false(mishap_audit_next(audit, "GET /", T("GET / HTTP/1.1\r\n\r\n")));
    assert_true(mishap_audit_stopped(audit));
    const mishap_audit_results *r = ended(audit);
    assert_int_equal(r->requests, 5);
    assert_true(r->used_up);
    mishap_audit_free(audit);
}

static char shown_place[400];

static void show_place(void *state, size_t requests, const char *place)
{
    (void)state, (void)requests;
    snprintf(shown_place, sizeof shown_place, "%s", place);
}

static void progress_is_redacted(void **state)
{
    (void)state;
    mishap_secret list[1];
    mishap_secrets secrets = { .texts = list };
    mishap_secrets_add_text(&secrets, T("marker-1"));
    mishap_secrets_sort(&secrets);
    mishap_audit *audit = opened(
        &(mishap_audit_settings){ .rate = 10000, .progress = show_place, .secrets = &secrets });
    assert_true(mishap_audit_next(audit, "GET /a/marker-1/http://app:Zq9vXk2LmP@db/x", T("")));
    assert_null(strstr(shown_place, "marker-1"));
    assert_null(strstr(shown_place, "Zq9vXk2LmP"));
    assert_non_null(strstr(shown_place, "GET /a/"));
    mishap_audit_free(audit);
}

static void a_dry_run_lists_requests_and_allows_none(void **state)
{
    (void)state;
    mishap_audit *audit = opened(&(mishap_audit_settings){ .max_requests = 2, .dry_run = true });
    assert_true(mishap_audit_is_dry(audit));
    assert_false(mishap_audit_next(audit, "GET /", T("GET / HTTP/1.1\r\n\r\n")));
    assert_false(mishap_audit_next(audit, "POST /", T("POST / HTTP/1.1\r\n\r\n{}")));
    assert_false(mishap_audit_next(audit, "PUT /", T("PUT / HTTP/1.1\r\n\r\n{}")));
    const mishap_audit_results *r = ended(audit);
    assert_int_equal(r->requests, 0);
    assert_int_equal(r->planned_count, 2);
    assert_string_equal(r->planned[1].text.data, "POST / HTTP/1.1\r\n\r\n{}");
    assert_true(r->used_up);
    mishap_audit_free(audit);
}

static bool say_yes(void *state)
{
    return ++*(int *)state > 2;
}

static void a_cancelled_audit_sends_nothing_more(void **state)
{
    (void)state;
    int asked = 0;
    mishap_audit *audit = opened(
        &(mishap_audit_settings){ .rate = 1000, .cancelled = say_yes, .state = &asked });
    int sent = 0;
    for (int i = 0; i < 10; i++)
        sent += mishap_audit_next(audit, "GET /", T(""));
    assert_true(sent < 3);
    assert_true(ended(audit)->cancelled);
    mishap_audit_free(audit);
}

static void a_baseline_forgives_what_it_has(void **state)
{
    (void)state;
    mishap_buffer file = { 0 };
    size_t stale = 9;
    mishap_audit *before = opened(&(mishap_audit_settings){ 0 });
    fail_at_place(before, 0, "GET /old \"quoted\"", NULL);
    fail_at_place(before, 0, "GET /gone", NULL);
    mishap_audit_put_baseline(&file, ended(before));
    mishap_audit_free(before);
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    fail_at_place(audit, 0, "GET /old \"quoted\"", NULL);
    fail_at_place(audit, 1, "GET /new", NULL);
    const mishap_audit_results *r = ended(audit);
    assert_int_equal(r->new_findings, 2);
    assert_null(mishap_audit_forgive(audit, mishap_buffer_text(&file), &stale));
    assert_int_equal(r->findings, 2);
    assert_int_equal(r->new_findings, 1);
    assert_int_equal(stale, 1);
    assert_true(r->checks[0].findings[0].known);
    assert_false(r->checks[1].findings[0].known);
    mishap_audit_free(audit);
    mishap_buffer_release(&file);
}

/* An entry that stands twice forgives once, and what is advice needs no forgiveness. */
static void a_baseline_forgives_each_finding_once(void **state)
{
    (void)state;
    char text[400];
    size_t stale = 9;
    mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
    fail_at_place(audit, 0, "GET /old", NULL);
    fail_at_place(audit, 1, "GET /new", NULL);
    fail_at_place(audit, 2, "GET /advised", NULL);
    const mishap_audit_results *r = ended(audit);
    const char *old = r->checks[0].findings[0].fingerprint;
    snprintf(text, sizeof text,
             "{\"mishap_audit_baseline\":1,\"findings\":[{\"fingerprint\":\"%s\"},"
             "{\"fingerprint\":\"%s\"},{\"fingerprint\":\"%s\"}]}",
             old, old, r->checks[2].findings[0].fingerprint);
    assert_null(mishap_audit_forgive(audit, mishap_text_of(text), &stale));
    assert_int_equal(r->new_findings, 1);
    assert_false(r->checks[1].findings[0].known);
    assert_false(r->checks[2].findings[0].known);
    assert_int_equal(stale, 1);
    mishap_audit_free(audit);
}

static void a_malformed_baseline_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place;
    } cases[] = {
        { "", "line 1" },
        { "{\n\"mishap_audit_baseline\":1,\n\"findings\":[}", "line 3" },
        { "[]", "line 1, column 1" },
        { "{}", "mishap_audit_baseline" },
        { "{\"mishap_audit_baseline\":2,\"findings\":[]}", "line 1, column 26" },
        { "{\"mishap_audit_baseline\":\"\",\"findings\":[]}", "line 1, column 26" },
        { "{\"mishap_audit_baseline\":1}", "findings" },
        { "{\"mishap_audit_baseline\":1,\"findings\":{}}", "findings" },
        { "{\"mishap_audit_baseline\":1,\"findings\":[\n7]}", "line 2, column 1" },
        { "{\"mishap_audit_baseline\":1,\"findings\":[\n{}]}", "line 2, column 1" },
        { "{\"mishap_audit_baseline\":1,\"findings\":[\n{\"fingerprint\":\"XYZ\"}]}", "line 2" },
        { "{\"mishap_audit_baseline\":1,\"findings\":[{\"fingerprint\":1}]}", "16 hex" },
        { "{\"mishap_audit_baseline\":1,\"mishap_audit_baseline\":1,\"findings\":[]}", "twice" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_audit *audit = opened(&(mishap_audit_settings){ 0 });
        ended(audit);
        mishap *failure = mishap_audit_forgive(audit, mishap_text_of(cases[i].text), NULL);
        assert_non_null(failure);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_MALFORMED_INPUT);
        if (!strstr(mishap_told(failure)->message.data, cases[i].place))
            fail_msg("%s: %s", cases[i].text, mishap_told(failure)->message.data);
        mishap_free(failure);
        mishap_audit_free(audit);
    }
}

/* Every allocation fails in turn: there is a result, or a failure that says so, and no leak. */
static bool audit_once(void)
{
    mishap_buffer file = { 0 };
    const mishap_audit_results *r = NULL;
    mishap *failure = NULL;
    mishap_audit *audit = mishap_audit_open(
        &(mishap_audit_settings){ .checks = checks, .dry_run = true });
    if (audit) {
        mishap_audit_next(audit, "GET /", T("GET /"));
        mishap_audit_remark(audit, "A remark of %d.", 1);
        mishap_audit_created(audit, "POST /", 201);
        fail_at_place(audit, 0, "GET /a", "k");
        mishap_audit_scan(audit, &checks[3], "GET /", T("fine"), NULL);
        failure = mishap_audit_end(audit, &r);
        if (!failure) {
            mishap_audit_put_baseline(&file, r);
            if (!file.failed)
                failure = mishap_audit_forgive(audit, mishap_buffer_text(&file), NULL);
        }
    }
    bool worked = audit && !failure && !file.failed;
    mishap_free(failure);
    mishap_audit_free(audit);
    mishap_buffer_release(&file);
    return worked;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    for (int once = 0; once < 2; once++) {
        fail_once = once;
        bool worked = false;
        for (size_t i = 1; !worked && i < 500; i++) {
            calls = 0;
            fail_at = i;
            long before = blocks;
            worked = audit_once() && calls < i;
            fail_at = 0;
            assert_int_equal(blocks, before);
        }
        assert_true(worked);
    }
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_check_fails_if_it_failed_at_one_place),
        TEST(without_a_decision_there_is_no_score),
        TEST(findings_do_not_depend_on_the_order_of_reports),
        TEST(a_fingerprint_is_of_check_place_and_key),
        TEST(texts_are_redacted_repaired_and_cut),
        TEST(findings_are_bounded),
        TEST(a_leak_makes_the_score_zero),
        TEST(what_is_only_likely_a_leak_is_advice),
        TEST(a_leak_that_is_only_advised_against_leaves_the_score),
        TEST(requests_have_a_budget_and_a_rate),
        TEST(progress_is_redacted),
        TEST(a_dry_run_lists_requests_and_allows_none),
        TEST(a_cancelled_audit_sends_nothing_more),
        TEST(a_baseline_forgives_what_it_has),
        TEST(a_baseline_forgives_each_finding_once),
        TEST(a_malformed_baseline_is_refused_with_its_place),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
