/* The tables of checks: their form, and docs/audit.md, which shows them all. */
#include "audit/cli/cli.h"
#include "audit/http/http.h"
#include "audit/mcp/mcp.h"
#include "testing.h"

static const mishap_audit_check *const areas[MISHAP_AUDIT_AREAS] = {
    [MISHAP_AUDIT_HTTP] = mishap_audit_http_checks,
    [MISHAP_AUDIT_MCP] = mishap_audit_mcp_checks,
    [MISHAP_AUDIT_CLI] = mishap_audit_cli_checks,
};

static void expect_line(const char *id, const char *text, bool sentence)
{
    size_t length = text ? strlen(text) : 0;
    if (length < 4 || length > 400)
        fail_msg("%s: a text has %zu bytes", id, length);
    for (const char *c = text; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '|' || *c == '`')
            fail_msg("%s: a text is not printable ASCII without | and `: %s", id, text);
    if (sentence && (text[length - 1] != '.' || text[length - 2] == ' '))
        fail_msg("%s: no sentence: %s", id, text);
}

static void each_check_has_an_id_a_sentence_evidence_and_a_remedy(void **state)
{
    (void)state;
    for (size_t area = 0; area < MISHAP_AUDIT_AREAS; area++)
        for (const mishap_audit_check *check = areas[area]; check->id; check++) {
            size_t prefix = strlen(mishap_audit_area_names[area]);
            const char *rest = check->id + prefix + 1;
            if (strncmp(check->id, mishap_audit_area_names[area], prefix) != 0 ||
                check->id[prefix] != '-' || !*rest ||
                strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(rest))
                fail_msg("%s is no id", check->id);
            expect_line(check->id, check->sentence, true);
            expect_line(check->id, check->evidence, false);
            expect_line(check->id, check->fix, true);
            expect_line(check->id, check->needs, false);
            assert_int_not_equal(check->needs[strlen(check->needs) - 1], '.');
            for (const mishap_audit_check *earlier = areas[area]; earlier < check; earlier++)
                assert_string_not_equal(earlier->id, check->id);
        }
}

/* Text in a table of Markdown. */
static void put_angles(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '*' || *text == '_')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
}

static void the_checks_are_documented(void **state)
{
    (void)state;
    char *table = NULL;
    size_t size;
    FILE *out = open_memstream(&table, &size);
    for (size_t area = 0; area < MISHAP_AUDIT_AREAS; area++) {
        fprintf(out, "\n### audit %s\n\n| check | what is demanded | evidence |\n|---|---|---|\n",
                mishap_audit_area_names[area]);
        for (const mishap_audit_check *check = areas[area]; check->id; check++) {
            fprintf(out, "| `%s`%s | ", check->id, check->advice ? " *advice*" : "");
            put_angles(out, check->sentence);
            fputs(" | ", out);
            put_angles(out, check->evidence);
            fputs(" |\n", out);
        }
    }
    fputs("\n", out);
    fclose(out);
    assert_table_in_docs("audit.md", table);
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_check_has_an_id_a_sentence_evidence_and_a_remedy),
        TEST(the_checks_are_documented),
    };
    return RUN(tests);
}
