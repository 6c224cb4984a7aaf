/* Documentation that says what the code says: tables made from code, and names that must be
 * mentioned. */
#include "testing.h"

static void the_rules_are_documented(void **state)
{
    (void)state;
    static const char *const severities[] = { "warning", "error", "fatal" };
    char *table = NULL;
    size_t size;
    FILE *out = open_memstream(&table, &size);
    fputs("| rule | severity | it asks for |\n|---|---|---|\n", out);
    for (const mishap_rule *rule = mishap_rules(); rule->name; rule++)
        fprintf(out, "| `%s` | %s%s | %s |\n", rule->name, severities[rule->severity],
                rule->strict ? ", strict" : "", rule->sentence);
    fclose(out);
    assert_table_in_docs("rules.md", table);
    free(table);
}

static void every_dialect_is_in_the_readme_and_in_its_page(void **state)
{
    (void)state;
    static const char *const pages[] = { "README.md", "docs/dialects.md", "scripts/demo" };
    for (size_t i = 0; i < 3; i++) {
        char path[400], name[64];
        snprintf(path, sizeof path, "%s/../%s", tests_folder(), pages[i]);
        char *text = read_file(path, NULL);
        for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
            snprintf(name, sizeof name, "%s", mishap_dialect_name(*dialect));
            if (!strstr(text, name))
                fail_msg("%s does not mention %s", pages[i], name);
        }
        free(text);
    }
}

/* Each rule refuses at least one broken document, so none is there only on paper. */
static void every_rule_has_a_broken_document(void **state)
{
    (void)state;
    for (const mishap_rule *rule = mishap_rules(); rule->name; rule++) {
        bool found = false;
        char prefix[80];
        snprintf(prefix, sizeof prefix, "%s--", rule->name);
        for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
            char folder[300];
            size_t count;
            snprintf(folder, sizeof folder, "%s/broken/%s", tests_folder(),
                     mishap_dialect_name(*dialect));
            char **names = list_folder(folder, &count);
            for (size_t i = 0; i < count; i++) {
                found = found || strncmp(names[i], prefix, strlen(prefix)) == 0;
                free(names[i]);
            }
            free(names);
        }
        if (!found)
            fail_msg("no document breaks the rule %s", rule->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_rules_are_documented),
        TEST(every_dialect_is_in_the_readme_and_in_its_page),
        TEST(every_rule_has_a_broken_document),
    };
    return RUN(tests);
}
