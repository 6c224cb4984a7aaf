/*
 * Golden folders: tests/golden/DIALECT/CASE/mishap.json is rendered in the dialect and must give
 * `expected`, byte for byte apart from the white space of JSON and from `duration_ms`. What is
 * expected must also conform to the dialect's own rules, and reading it and rendering it again must
 * change nothing.
 */
#include "testing.h"

struct golden {
    const mishap_dialect *dialect;
    char path[512];
};

static bool is_json(const mishap_dialect *dialect)
{
    return strcmp(mishap_dialect_name(dialect), "condition-report") != 0;
}

/* The one value that varies. */
static void forget_duration(char *text, size_t *length)
{
    char *digits = strstr(text, "\"duration_ms\":");
    if (!digits)
        return;
    digits += strlen("\"duration_ms\":");
    size_t count = strspn(digits, "0123456789");
    memmove(digits, digits + count, strlen(digits + count) + 1);
    *length -= count;
}

static void normalize(const mishap_dialect *dialect, char *text)
{
    size_t length = strlen(text);
    if (is_json(dialect)) {
        squeeze_json(text, &length);
        forget_duration(text, &length);
    }
}

static char *expected_of(const struct golden *golden, size_t *length)
{
    char path[600];
    snprintf(path, sizeof path, "%s/expected", golden->path);
    return read_file(path, length);
}

static void renders_as_expected(void **state)
{
    const struct golden *golden = *state;
    char path[600];
    size_t length, expected_length;
    snprintf(path, sizeof path, "%s/mishap.json", golden->path);
    char *source = read_file(path, &length), *expected = expected_of(golden, &expected_length);
    mishap *m = parsed(mishap_dialect_find("canonical"), source, length);
    char *actual = rendered(golden->dialect, m);
    normalize(golden->dialect, actual);
    normalize(golden->dialect, expected);
    assert_string_equal(actual, expected);
    free(actual);
    free(expected);
    free(source);
    mishap_free(m);
}

static void expected_conforms(void **state)
{
    const struct golden *golden = *state;
    size_t length;
    char *expected = expected_of(golden, &length);
    char *rules = broken_rules(golden->dialect, expected, length, false);
    /* Messages of the HTTP API are phrases, not sentences; that is a warning at most. */
    assert_true(strcmp(rules, "") == 0 || strcmp(rules, "not-a-sentence") == 0);
    free(rules);
    free(expected);
}

static void reading_it_changes_nothing(void **state)
{
    const struct golden *golden = *state;
    size_t length;
    char *expected = expected_of(golden, &length);
    mishap *m = parsed(golden->dialect, expected, length);
    char *again = rendered(golden->dialect, m);
    normalize(golden->dialect, again);
    normalize(golden->dialect, expected);
    assert_string_equal(again, expected);
    free(again);
    free(expected);
    mishap_free(m);
}

int main(void)
{
    static const struct {
        const char *what;
        void (*run)(void **);
    } checks[] = {
        { "renders as expected", renders_as_expected },
        { "expected conforms", expected_conforms },
        { "reading it changes nothing", reading_it_changes_nothing },
    };
    static struct CMUnitTest *tests; /* static, so that nothing counts as leaked */
    size_t count = 0;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        char folder[256];
        size_t cases;
        snprintf(folder, sizeof folder, "%s/golden/%s", tests_folder(),
                 mishap_dialect_name(*dialect));
        char **names = list_folder(folder, &cases);
        for (size_t i = 0; i < cases; i++) {
            struct golden *golden = calloc(1, sizeof *golden);
            golden->dialect = *dialect;
            snprintf(golden->path, sizeof golden->path, "%s/%s", folder, names[i]);
            for (size_t c = 0; c < 3; c++) {
                char title[400];
                snprintf(title, sizeof title, "%s/%s: %s", mishap_dialect_name(*dialect), names[i],
                         checks[c].what);
                tests = realloc(tests, (count + 1) * sizeof *tests);
                tests[count++] = (struct CMUnitTest){ strdup(title), checks[c].run, NULL, NULL,
                                                      golden };
            }
            free(names[i]);
        }
        free(names);
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("golden", tests, count, NULL, NULL);
}
