/*
 * Broken documents: each file tests/broken/DIALECT/RULE--WHAT breaks the rule that it is named
 * after, and no other. A name that ends in `.strict` is checked strictly.
 */
#include "testing.h"

enum { AT_LEAST = 25 }; /* for each dialect */

struct broken {
    const mishap_dialect *dialect;
    char path[512];
    char rule[64];
    bool strict;
};

static void breaks_exactly_its_rule(void **state)
{
    const struct broken *broken = *state;
    size_t length;
    char *document = read_file(broken->path, &length);
    char *rules = broken_rules(broken->dialect, document, length, broken->strict);
    assert_string_equal(rules, broken->rule);
    free(rules);
    free(document);
}

static void has_enough_broken_documents(void **state)
{
    assert_true(*(const size_t *)*state >= AT_LEAST);
}

int main(void)
{
    static struct CMUnitTest *tests; /* static, so that nothing counts as leaked */
    size_t count = 0;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        char folder[256], title[400];
        size_t *files = malloc(sizeof *files);
        snprintf(folder, sizeof folder, "%s/broken/%s", tests_folder(),
                 mishap_dialect_name(*dialect));
        char **names = list_folder(folder, files);
        tests = realloc(tests, (count + *files + 1) * sizeof *tests);
        for (size_t i = 0; i < *files; i++) {
            struct broken *broken = calloc(1, sizeof *broken);
            const char *end = strstr(names[i], "--");
            broken->dialect = *dialect;
            broken->strict = strstr(names[i], ".strict") != NULL;
            snprintf(broken->path, sizeof broken->path, "%s/%s", folder, names[i]);
            snprintf(broken->rule, sizeof broken->rule, "%.*s", end ? (int)(end - names[i]) : 0,
                     names[i]);
            snprintf(title, sizeof title, "%s/%s", mishap_dialect_name(*dialect), names[i]);
            tests[count++] = (struct CMUnitTest){ strdup(title), breaks_exactly_its_rule, NULL,
                                                  NULL, broken };
            free(names[i]);
        }
        free(names);
        snprintf(title, sizeof title, "%s has enough broken documents",
                 mishap_dialect_name(*dialect));
        tests[count++] = (struct CMUnitTest){ strdup(title), has_enough_broken_documents, NULL,
                                              NULL, files };
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("broken", tests, count, NULL, NULL);
}
