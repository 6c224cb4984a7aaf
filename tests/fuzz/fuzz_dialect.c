/*
 * Any document in one dialect, which the build names (FUZZ_DIALECT):
 *
 * - reading and checking it ends well, and what is found has a rule, a place and a sentence;
 * - a document that conforms can be read, and one that conforms strictly conforms;
 * - what was read can be told in every dialect, this one included, and each rendering is sound: see
 * expect_sound().
 */
#include "fuzz.h"

#include "fuzz_report.h"
#include "mishap/dialect.h"

/*
 * The one rule that our own rendering may break: text with a stack trace in it is told as it came,
 * and found. All other rules are enforced when a mishap is read, or when it is rendered.
 */
static const char about_content[] = "stack-trace";

/* -- findings
 * -------------------------------------------------------------------------------------------------
 */

struct findings {
    mishap_text own; /* the document, if it is our own rendering */
    size_t errors;
};

static bool listed(const char *rule)
{
    for (const mishap_rule *known = mishap_rules(); known->name; known++)
        if (strcmp(known->name, rule) == 0)
            return true;
    return false;
}

static void found(void *state, const mishap_finding *finding)
{
    struct findings *findings = state;
    EXPECT(finding->rule && listed(finding->rule), "%s", finding->rule);
    EXPECT(finding->sentence.length && finding->place.data, "%s", finding->rule);
    expect_utf8(finding->sentence);
    expect_utf8(finding->place);
    if (finding->severity == MISHAP_WARNING)
        return;
    findings->errors++;
    EXPECT(!findings->own.data || strcmp(finding->rule, about_content) == 0,
           "%s at %.*s: %.*s\n%.*s", finding->rule, SHOWN(finding->place), SHOWN(finding->sentence),
           SHOWN(findings->own));
}

static size_t count_errors(const mishap_dialect *dialect, mishap_text document, bool strict,
                           bool own)
{
    struct findings findings = { own ? document : (mishap_text){ NULL, 0 }, 0 };
    mishap *failure = mishap_verify(dialect, document, strict, found, &findings);
    EXPECT(!failure, "out of memory");
    return findings.errors;
}

/* -- renderings
 * -----------------------------------------------------------------------------------------------
 */

static bool is_report(const mishap_dialect *dialect)
{
    return strcmp(mishap_dialect_name(dialect), "condition-report") == 0;
}

/* JSON stands on one line and has nothing in it that a terminal would act on. */
static void expect_one_line(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        EXPECT((unsigned char)text.data[i] >= ' ' && text.data[i] != 127, "byte %zu of %.*s", i,
               SHOWN(text));
}

/*
 * The rendering is UTF-8, breaks no rule, can be read, and rendering what was read gives the same
 * bytes again. A condition report is also understood by the reader of the seed.
 */
static void expect_sound(const mishap_dialect *dialect, const mishap *m)
{
    mishap *read = NULL;
    mishap_buffer first, second;
    mishap_buffer_init(&first, NULL, 0);
    mishap_buffer_init(&second, NULL, 0);
    mishap_text text = mishap_render(dialect, m, &first);
    const char *name = mishap_dialect_name(dialect);
    EXPECT(text.length && !first.failed, "%s", name);
    expect_utf8(text);
    if (!is_report(dialect))
        expect_one_line(text);

    mishap *failure = mishap_parse(dialect, text, &read);
    EXPECT(!failure, "%s: %s\n%.*s", name, mishap_public_message(mishap_told(failure)).data,
           SHOWN(text));
    mishap_text again = mishap_render(dialect, read, &second);
    EXPECT(mishap_text_equal(text, again), "%s:\n%.*s\n%.*s", name, SHOWN(text), SHOWN(again));
    if (is_report(dialect))
        expect_seed_reads(text, mishap_told(read));
    count_errors(dialect, text, false, true);

    mishap_free(read);
    mishap_buffer_release(&first);
    mishap_buffer_release(&second);
}

/* -- the input
 * ------------------------------------------------------------------------------------------------
 */

/* Some dialects also have documents that tell of success. They conform, and there is no mishap in
 * them to read. */
static bool has_successes(const mishap_dialect *dialect)
{
    static const char *const names[] = { "cli-envelope", "artifact", "tool-result", "json-rpc",
                                         "graphql" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(mishap_dialect_name(dialect), names[i]) == 0)
            return true;
    return false;
}

/* The account for the operator is text, for all that is told. */
static void expect_account(const mishap *m)
{
    mishap_buffer account;
    mishap_buffer_init(&account, NULL, 0);
    mishap_account(m, &account);
    EXPECT(account.length && !account.failed, "no account");
    expect_utf8(mishap_buffer_text(&account));
    mishap_buffer_release(&account);
}

/* What cannot be read is refused with the place where it breaks. */
static void expect_refusal(const mishap_public *told)
{
    bool line = false, column = false;
    EXPECT(told->code == MISHAP_CODE_MALFORMED_INPUT, "%s", told->code->name.data);
    for (const mishap_member *member = told->context; member; member = member->next) {
        bool counted = member->value.kind == MISHAP_KIND_INT && member->value.integer > 0;
        line = line || (counted && mishap_text_equal(member->key, mishap_text_of("line")));
        column = column || (counted && mishap_text_equal(member->key, mishap_text_of("column")));
    }
    EXPECT(line && column, "no place: %s", told->message.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text document = input_text(data, size);
    const mishap_dialect *dialect = mishap_dialect_find(FUZZ_DIALECT);
    mishap *m = NULL, *failure = mishap_parse(dialect, document, &m);
    EXPECT(!failure != !m, "neither read nor refused, or both");
    if (failure)
        expect_refusal(mishap_told(failure));

    size_t errors = count_errors(dialect, document, false, false);
    size_t strict = count_errors(dialect, document, true, false);
    EXPECT(strict >= errors, "%zu errors, but %zu when strict", errors, strict);
    EXPECT(m || errors || has_successes(dialect), "it conforms, but: %s",
           mishap_public_message(mishap_told(failure)).data);

    expect_account(m ? m : failure);
    for (const mishap_dialect *const *each = mishap_dialects(); *each; each++)
        expect_sound(*each, m ? m : failure);
    mishap_free(failure);
    mishap_free(m);
    return 0;
}
