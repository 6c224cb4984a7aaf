/* The forms of reports without memory: each allocation fails in turn, and the buffer says so. */
#include "audit/report/report.h"
#include "testing.h"

static const mishap_audit_check checks[] = {
    { "http-one", "One holds.", "RFC 1", "Mend one.", false, "no response was seen" },
    { "http-two", "Two holds.", "RFC 2", "Mend two.", true, "no response was seen" },
    { 0 },
};

static void each_form_fails_without_memory_and_leaves_nothing_behind(void **state)
{
    (void)state;
    for (int dry = 0; dry < 2; dry++) {
        const mishap_audit_results *results = NULL;
        mishap_audit *audit = mishap_audit_open(&(mishap_audit_settings){
            .checks = checks, .target = "http://127.0.0.1", .dry_run = dry });
        assert_non_null(audit);
        mishap_audit_next(audit, "GET /", T("GET / HTTP/1.1\r\n\r\n"));
        mishap_audit_remark(audit, "A remark.");
        mishap_audit_created(audit, "POST /", 201);
        for (size_t i = 0; i < 2; i++)
            mishap_audit_report(audit, &checks[i], MISHAP_AUDIT_FAILED,
                                &(mishap_audit_seen){ .place = "GET /",
                                                      .detail = T("It is wrong."),
                                                      .sent = T("GET /"),
                                                      .got = T("500") });
        assert_null(mishap_audit_end(audit, &results));
        for (const mishap_audit_form *form = mishap_audit_forms; form->name; form++) {
            bool made = false;
            for (size_t i = 1; !made && i < 500; i++) {
                mishap_buffer out = { 0 };
                mishap_use_allocator(&failing_allocator);
                calls = 0;
                fail_at = i;
                fail_once = true;
                long before = blocks;
                form->put(&out, results);
                made = calls < i;
                fail_at = 0;
                assert_true(made != out.failed);
                mishap_buffer_release(&out);
                assert_int_equal(blocks, before);
                mishap_use_allocator(NULL);
            }
            assert_true(made);
        }
        mishap_audit_free(audit);
    }
}

static void findings_at_one_place_are_told_apart_by_their_key(void **state)
{
    (void)state;
    const mishap_audit_results *results = NULL;
    mishap_buffer out = { 0 };
    mishap_audit *audit = mishap_audit_open(
        &(mishap_audit_settings){ .checks = checks, .target = "http://127.0.0.1" });
    static const char *const places[] = { "GET /a", "GET /a", "GET /b" };
    static const char *const keys[] = { "name", "age", "name" };
    for (size_t i = 0; i < 3; i++)
        mishap_audit_report(audit, &checks[0], MISHAP_AUDIT_FAILED,
                            &(mishap_audit_seen){ .place = places[i], .key = keys[i] });
    for (char place[] = "GET /0"; place[5] < '9'; place[5]++)
        mishap_audit_report(audit, &checks[1], MISHAP_AUDIT_FAILED,
                            &(mishap_audit_seen){ .place = place });
    assert_null(mishap_audit_end(audit, &results));
    mishap_audit_put_table(&out, results);
    mishap_buffer_put_char(&out, '\0');
    assert_false(out.failed);
    assert_non_null(strstr(out.data, "at    GET /a (age)\n"));
    assert_non_null(strstr(out.data, "at    GET /a (name)\n"));
    assert_non_null(strstr(out.data, "at    GET /b\n"));
    assert_non_null(strstr(out.data, "and at 1 further place ("));
    mishap_buffer_release(&out);
    mishap_audit_free(audit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(findings_at_one_place_are_told_apart_by_their_key),
        TEST(each_form_fails_without_memory_and_leaves_nothing_behind),
    };
    return RUN(tests);
}
