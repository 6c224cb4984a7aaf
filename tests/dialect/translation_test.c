/*
 * What each dialect can carry, measured: a mishap that has the part is rendered, read again, and
 * the part compared. The table of docs/dialects.md is made of these measurements; with
 * MISHAP_UPDATE_DOCS set it is written anew, else a difference is a failure.
 *
 * Then every pair of dialects: what the one between can carry, or the catalog knows, is still there
 * on the way back.
 */
#include "testing.h"

/* -- the parts --------------------------------------------------------------------------------- */

static bool same_value(const mishap_value *a, const mishap_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == MISHAP_KIND_TEXT || a->kind == MISHAP_KIND_JSON)
        return mishap_text_equal(a->text, b->text);
    return a->kind == MISHAP_KIND_NONE || a->integer == b->integer;
}

static bool same_code(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(a->code->name, b->code->name);
}
static bool same_message(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(mishap_public_message(a), mishap_public_message(b));
}
static bool same_category(const mishap_public *a, const mishap_public *b)
{
    return a->category == b->category;
}
static bool same_retryable(const mishap_public *a, const mishap_public *b)
{
    return a->retryable == b->retryable;
}
static bool same_retry_after(const mishap_public *a, const mishap_public *b)
{
    return a->retry_after_ms == b->retry_after_ms;
}
static bool same_cause(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(a->cause, b->cause);
}
static bool same_suggestion(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(mishap_public_suggestion(a), mishap_public_suggestion(b));
}
static bool same_docs(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(mishap_public_docs_url(a), mishap_public_docs_url(b));
}
static bool same_context(const mishap_public *a, const mishap_public *b)
{
    const mishap_member *x = a->context, *y = b->context;
    for (; x && y; x = x->next, y = y->next)
        if (!mishap_text_equal(x->key, y->key) || !same_value(&x->value, &y->value))
            return false;
    return !x && !y;
}
static bool same_fields(const mishap_public *a, const mishap_public *b)
{
    const mishap_field *x = a->fields, *y = b->fields;
    for (; x && y; x = x->next, y = y->next)
        if (!mishap_text_equal(x->field, y->field) || !mishap_text_equal(x->error, y->error))
            return false;
    return !x && !y;
}
static bool same_bounds(const mishap_public *a, const mishap_public *b)
{
    const mishap_field *x = a->fields, *y = b->fields;
    for (; x && y; x = x->next, y = y->next)
        if (!same_value(&x->expected, &y->expected) || !same_value(&x->actual, &y->actual) ||
            !same_value(&x->min, &y->min) || !same_value(&x->max, &y->max))
            return false;
    return !x && !y;
}
static bool same_sentences(const mishap_public *a, const mishap_public *b)
{
    const mishap_field *x = a->fields, *y = b->fields;
    for (; x && y; x = x->next, y = y->next)
        if (!mishap_text_equal(x->message, y->message))
            return false;
    return !x && !y;
}
static bool same_incident(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(a->incident, b->incident);
}
static bool same_type(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(a->type, b->type);
}
static bool same_output(const mishap_public *a, const mishap_public *b)
{
    return mishap_text_equal(a->output, b->output);
}
static bool same_frames(const mishap_public *a, const mishap_public *b)
{
    const mishap_frame *x = a->frames, *y = b->frames;
    for (; x && y; x = x->next, y = y->next)
        if (!mishap_text_equal(x->text, y->text))
            return false;
    return !x && !y;
}

/* A mishap that has the part, in a way that the catalog does not know. */
static mishap *plain(void)
{
    return mishap_raise(NOT_FOUND, "There is no user 7.");
}
static mishap *with_code(void)
{
    return mishap_raise(ALREADY_LISTED, "Seen before.");
}
static mishap *with_category(void)
{
    return mishap_file_under(plain(), MISHAP_PERMISSION);
}
static mishap *with_retryable(void)
{
    return mishap_retryable(plain(), true);
}
static mishap *with_retry_after(void)
{
    return mishap_retry_after(plain(), 2500);
}
static mishap *with_cause(void)
{
    return mishap_tell_cause(plain(), "Connection refused (ECONNREFUSED)");
}
static mishap *with_suggestion(void)
{
    return mishap_suggest(plain(), "List the users first.");
}
static mishap *with_docs(void)
{
    return mishap_docs(plain(), "https://docs.example.com/errors/NOT_FOUND");
}
static mishap *with_context(void)
{
    mishap *m = mishap_tell(mishap_tell(plain(), "host", "db.example.com"), "port", 5432);
    m = mishap_tell(mishap_tell(m, "live", true), "ratio", 0.25);
    return mishap_tell(m, "list", mishap_value_of_json("[1,{\"a\":null}]"));
}
static mishap *with_fields(void)
{
    mishap *m = mishap_raise(VALIDATION_ERROR, "Validation failed");
    m = mishap_field_required(m, "name");
    m = mishap_field_range(m, "age", mishap_value_of_int(0), mishap_value_of_int(150),
                           mishap_value_of_int(200));
    m = mishap_field_length(m, "items[2].title", mishap_value_of_int(1), mishap_value_of_int(200),
                            250);
    m = mishap_field_type(m, "size", "integer", "string");
    return mishap_field_pattern(m, "email", ".*@.*\\..*");
}
static mishap *with_sentences(void)
{
    mishap *m = mishap_field_says(with_fields(), "email must be an e-mail address, not %s.", "a@");
    m = mishap_field_says(mishap_field_required(m, "zip"), "A zip code is needed in this country.");
    return mishap_field_required(m, "town");
}
static mishap *with_incident(void)
{
    return mishap_incident(plain(), "0192f7a0-1111-7000-8000-000000000000");
}
static mishap *with_type(void)
{
    return mishap_type(mishap_raise(RUNTIME_ERROR, "It failed."), "MY-APP::BROKEN");
}
static mishap *with_output(void)
{
    return mishap_output(mishap_raise(RUNTIME_ERROR, "It failed."), T("hello\n"));
}
static mishap *with_frames(void)
{
    mishap *m = mishap_frame_add(mishap_raise(RUNTIME_ERROR, "It failed."), T("(+ 1 \"hello\")"));
    return mishap_frame_add(m, T("(EVAL X)"));
}

enum part {
    CODE,
    MESSAGE,
    CATEGORY,
    RETRYABLE,
    RETRY_AFTER,
    CAUSE,
    SUGGESTION,
    DOCS,
    CONTEXT,
    FIELDS,
    BOUNDS,
    SENTENCES,
    INCIDENT,
    TYPE,
    OUTPUT,
    FRAMES,
    PARTS
};

static const struct {
    const char *name;
    mishap *(*make)(void);
    bool (*same)(const mishap_public *, const mishap_public *);
} parts[PARTS] = {
    [CODE] = { "code", with_code, same_code },
    [MESSAGE] = { "message", plain, same_message },
    [CATEGORY] = { "category", with_category, same_category },
    [RETRYABLE] = { "retryable", with_retryable, same_retryable },
    [RETRY_AFTER] = { "retry after", with_retry_after, same_retry_after },
    [CAUSE] = { "cause", with_cause, same_cause },
    [SUGGESTION] = { "suggestion", with_suggestion, same_suggestion },
    [DOCS] = { "docs link", with_docs, same_docs },
    [CONTEXT] = { "context", with_context, same_context },
    [FIELDS] = { "field errors", with_fields, same_fields },
    [BOUNDS] = { "… with bounds", with_fields, same_bounds },
    [SENTENCES] = { "… with sentences", with_sentences, same_sentences },
    [INCIDENT] = { "incident id", with_incident, same_incident },
    [TYPE] = { "condition type", with_type, same_type },
    [OUTPUT] = { "subject's output", with_output, same_output },
    [FRAMES] = { "subject's backtrace", with_frames, same_frames },
};

enum { DIALECTS = 11 };

static mishap *through(const mishap_dialect *dialect, const mishap *m)
{
    char *text = rendered(dialect, m);
    mishap *read = parsed(dialect, text, strlen(text));
    free(text);
    return read;
}

static bool carries(const mishap_dialect *dialect, enum part part)
{
    mishap *m = parts[part].make(), *read = through(dialect, m);
    bool same = parts[part].same(mishap_told(m), mishap_told(read));
    mishap_free(m);
    mishap_free(read);
    return same;
}

/* -- the table --------------------------------------------------------------------------------- */

static char *make_table(void)
{
    char *table = calloc(1, 16384), *at = table;
    at += sprintf(at, "| dialect |");
    for (int part = 0; part < PARTS; part++)
        at += sprintf(at, " %s |", parts[part].name);
    at += sprintf(at, "\n|---|");
    for (int part = 0; part < PARTS; part++)
        at += sprintf(at, ":-:|");
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        at += sprintf(at, "\n| `%s` |", mishap_dialect_name(*dialect));
        for (int part = 0; part < PARTS; part++)
            at += sprintf(at, " %s |", carries(*dialect, (enum part)part) ? "yes" : "–");
    }
    sprintf(at, "\n");
    return table;
}

static void the_documented_table_is_what_is_measured(void **state)
{
    (void)state;
    char *table = make_table();
    assert_table_in_docs("dialects.md", table);
    free(table);
}

/* The floor below which no dialect may fall, for any entry of the table. */
static void every_dialect_carries_the_message_and_lossless_ones_all(void **state)
{
    (void)state;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        assert_true(carries(*dialect, MESSAGE));
        bool six_types = strcmp(mishap_dialect_name(*dialect), "tool-result") == 0;
        assert_int_equal(carries(*dialect, CODE), !six_types);
    }
    for (int part = 0; part < PARTS; part++)
        assert_true(carries(mishap_dialect_find("canonical"), (enum part)part));
}

/* -- every pair -------------------------------------------------------------------------------- */

/* Part of what the catalog says of the code, and not said of the occurrence: it comes back only
 * where the code does. */
static bool from_catalog(enum part part, const mishap_public *told)
{
    switch (part) {
    case SUGGESTION:
        return !told->suggestion.length;
    case RETRYABLE:
        return told->retryable == (told->code->retry == MISHAP_RETRY_YES);
    case RETRY_AFTER:
        return told->retry_after_ms == told->code->retry_after_ms;
    default:
        return false;
    }
}

/* There and back: from the first dialect through the second. What both carry must be as it was. */
static void translate(const mishap_dialect *first, const mishap_dialect *between,
                      const bool table[2][PARTS], mishap *(*make)(void))
{
    static const enum part kept[] = { CODE,      MESSAGE,     FIELDS,    BOUNDS,
                                      RETRYABLE, RETRY_AFTER, SUGGESTION };
    mishap *m = make(), *start = through(first, m), *back = through(between, start),
           *again = through(first, back);
    const mishap_public *before = mishap_told(start), *after = mishap_told(again);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        enum part part = kept[i];
        if (!table[0][part] || !table[1][part])
            continue;
        if (from_catalog(part, before) && !(table[0][CODE] && table[1][CODE]))
            continue;
        if (!parts[part].same(before, after))
            fail_msg("%s is lost from %s through %s", parts[part].name, mishap_dialect_name(first),
                     mishap_dialect_name(between));
    }
    mishap_free(m);
    mishap_free(start);
    mishap_free(back);
    mishap_free(again);
}

static mishap *everything(void)
{
    mishap *m = with_fields();
    m = mishap_tell(mishap_tell_cause(m, "Too old."), "port", 1);
    m = mishap_retry_after(mishap_suggest(m, "Be younger."), 100);
    return mishap_incident(mishap_docs(m, "https://example.com/x"),
                           "0192f7a0-1111-7000-8000-000000000000");
}

static mishap *by_the_catalog(void)
{
    return mishap_raise(RATE_LIMITED, "Slow down.");
}

static void what_both_carry_survives_every_pair(void **state)
{
    (void)state;
    static mishap *(*const makers[])(
        void) = { plain,       with_code,      with_retryable, with_retry_after, with_suggestion,
                  with_fields, with_sentences, everything,     by_the_catalog };
    bool table[DIALECTS][PARTS];
    const mishap_dialect *const *all = mishap_dialects();
    for (int d = 0; d < DIALECTS; d++)
        for (int part = 0; part < PARTS; part++)
            table[d][part] = carries(all[d], (enum part)part);
    for (int a = 0; a < DIALECTS; a++) {
        for (int b = 0; b < DIALECTS; b++) {
            bool both[2][PARTS];
            memcpy(both[0], table[a], sizeof both[0]);
            memcpy(both[1], table[b], sizeof both[1]);
            for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
                translate(all[a], all[b], both, makers[i]);
        }
    }
}

/* What the catalog knows needs no place: the code alone brings it back. */
static void the_catalog_brings_back_what_it_knows(void **state)
{
    (void)state;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        if (strcmp(mishap_dialect_name(*dialect), "tool-result") == 0)
            continue; /* of the code it keeps the type only */
        mishap *m = by_the_catalog(), *read = through(*dialect, m);
        const mishap_public *before = mishap_told(m), *after = mishap_told(read);
        assert_true(same_code(before, after));
        assert_true(same_category(before, after));
        assert_true(same_retryable(before, after));
        assert_true(same_retry_after(before, after));
        assert_true(same_suggestion(before, after));
        mishap_free(m);
        mishap_free(read);
    }
}

static void rendering_is_a_fixed_point(void **state)
{
    (void)state;
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        for (int part = 0; part <= PARTS; part++) {
            mishap *m = part < PARTS ? parts[part].make() : everything();
            char *first = rendered(*dialect, m);
            mishap *read = parsed(*dialect, first, strlen(first));
            char *second = rendered(*dialect, read);
            assert_string_equal(first, second);
            free(first);
            free(second);
            mishap_free(m);
            mishap_free(read);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rendering_is_a_fixed_point),
        TEST(the_documented_table_is_what_is_measured),
        TEST(every_dialect_carries_the_message_and_lossless_ones_all),
        TEST(what_both_carry_survives_every_pair),
        TEST(the_catalog_brings_back_what_it_knows),
    };
    return RUN(tests);
}
