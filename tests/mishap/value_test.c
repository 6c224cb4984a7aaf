/*
 * src/mishap: the value and its two sides. What is told is in value_told_test.c, what becomes of it
 * when memory is short in reserve_test.c.
 */
#include "testing.h"

#include <errno.h>
#include "value_sides.h"

/* -- raising ----------------------------------------------------------------------------------- */

static void raising_takes_a_code_and_a_sentence(void **state)
{
    (void)state;
    mishap *m = mishap_raise(ALREADY_EXISTS, "A user with this e-mail already exists.");
    const mishap_public *public = mishap_told(m);
    assert_ptr_equal(public->code, MISHAP_CODE_ALREADY_EXISTS);
    assert_text(public->message, "A user with this e-mail already exists.");
    assert_int_equal(public->category, MISHAP_RESOURCE);
    assert_false(public->retryable);
    assert_false(public->retry_stated);
    assert_int_equal(public->retry_after_ms, -1);
    assert_null(public->context);
    assert_null(public->fields);
    assert_null(public->frames);
    assert_int_equal(public->cause.length + public->suggestion.length + public->docs_url.length, 0);
    assert_int_equal(public->incident.length + public->type.length + public->output.length, 0);
    assert_null(mishap_cause(m));
    mishap_free(m);
}

static void the_message_is_formatted(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, "No user %d of %s, %.1f%% sure.", 42, "acme", 99.5);
    assert_text(mishap_told(m)->message, "No user 42 of acme, 99.5% sure.");
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, "%s", "Handed over whole: 100%d.");
    assert_text(mishap_told(m)->message, "Handed over whole: 100%d.");
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, "100%%");
    assert_text(mishap_told(m)->message, "100%");
    mishap_free(m);
}

static void a_long_message_is_kept_whole(void **state)
{
    (void)state;
    static char word[100001];
    static const size_t lengths[] = { 100, 500, 509, 510, 511, 512, 513, 600, 5000, 100000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(word, 'w', lengths[i]);
        word[lengths[i]] = '\0';
        mishap *m = mishap_raise(NOT_FOUND, "<%s>", word);
        mishap_text message = mishap_told(m)->message;
        assert_int_equal(message.length, lengths[i] + 2);
        assert_int_equal(strspn(message.data + 1, "w"), lengths[i]);
        assert_string_equal(message.data + lengths[i] + 1, ">");
        mishap_free(m);
        m = mishap_raise(NOT_FOUND, "%s", word);
        assert_text(mishap_told(m)->message, word);
        mishap_free(m);
    }
}

static void without_a_message_the_catalog_speaks(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, NULL);
    assert_int_equal(mishap_told(m)->message.length, 0);
    assert_text(mishap_public_message(mishap_told(m)), "The requested resource was not found.");
    assert_text(mishap_public_suggestion(mishap_told(m)), "Check the name or id that was given.");
    assert_int_equal(mishap_public_docs_url(mishap_told(m)).length, 0);
    mishap_message(m, T("No such user."));
    assert_text(mishap_public_message(mishap_told(m)), "No such user.");
    mishap_suggest(mishap_docs(m, "https://example.com/errors"), "Look again.");
    assert_text(mishap_public_suggestion(mishap_told(m)), "Look again.");
    assert_text(mishap_public_docs_url(mishap_told(m)), "https://example.com/errors");
    mishap_message(m, T(""));
    assert_text(mishap_public_message(mishap_told(m)), "The requested resource was not found.");
    mishap_free(m);
}

/* Memory that changes errno whenever it is asked for some, as malloc() may. */
static void *allocate_and_change_errno(size_t size)
{
    void *block = malloc(size);
    errno = EDOM;
    return block;
}

static void *resize_and_change_errno(void *block, size_t size)
{
    void *resized = realloc(block, size);
    errno = EDOM;
    return resized;
}

static void errno_survives_raising(void **state)
{
    (void)state;
    static const mishap_allocator changing = { allocate_and_change_errno, resize_and_change_errno,
                                               free };
    char expected[100];
    mishap_use_allocator(&changing);
    errno = ENOTTY;
    mishap *m = mishap_raise(NOT_FOUND, "%2000d %m", 1);
    assert_int_equal(errno, ENOTTY);
    snprintf(expected, sizeof expected, " 1 %s", strerror(ENOTTY));
    assert_non_null(strstr(mishap_told(m)->message.data, expected));
    mishap_free(m);
    mishap_use_allocator(NULL);
}

static void an_errno_has_its_code_and_its_name(void **state)
{
    (void)state;
    static const struct {
        int error;
        const mishap_code *code;
        const char *name;
    } rows[] = {
        { ENOENT, MISHAP_CODE_NOT_FOUND, "ENOENT" },
        { ENOTDIR, MISHAP_CODE_NOT_FOUND, "ENOTDIR" },
        { EEXIST, MISHAP_CODE_ALREADY_EXISTS, "EEXIST" },
        { EACCES, MISHAP_CODE_NOT_AUTHORIZED, "EACCES" },
        { EPERM, MISHAP_CODE_NOT_AUTHORIZED, "EPERM" },
        { EROFS, MISHAP_CODE_NOT_AUTHORIZED, "EROFS" },
        { ETIMEDOUT, MISHAP_CODE_TIMEOUT, "ETIMEDOUT" },
        { ENOSPC, MISHAP_CODE_UNAVAILABLE, "ENOSPC" },
        { EBADF, MISHAP_CODE_INTERNAL_ERROR, "EBADF" },
        { 9999, MISHAP_CODE_INTERNAL_ERROR, "unknown" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        mishap_buffer account = { 0 };
        errno = ENOTTY;
        mishap *m = mishap_raise_errno(rows[i].error, "It failed: %m.");
        assert_int_equal(errno, ENOTTY);
        assert_ptr_equal(mishap_told(m)->code, rows[i].code);
        mishap_account(m, &account);
        mishap_buffer_add(&account, "", 1);
        snprintf(name, sizeof name, "noted errno = \"%s\"", rows[i].name);
        assert_non_null(strstr(account.data, name));
        assert_non_null(strstr(account.data, strerror(rows[i].error)));
        assert_non_null(strstr(account.data, "value_test.c"));
        mishap_buffer_release(&account);
        mishap_free(m);
    }
}

static mishap *try_to(mishap *outcome, bool *went_on)
{
    MISHAP_TRY(outcome);
    *went_on = true;
    return NULL;
}

static void a_try_returns_what_failed(void **state)
{
    (void)state;
    bool went_on = false;
    assert_null(try_to(NULL, &went_on));
    assert_true(went_on);
    went_on = false;
    mishap *m = try_to(mishap_raise(NOT_FOUND, "No."), &went_on);
    assert_false(went_on);
    assert_true(mishap_is(m, NOT_FOUND));
    assert_false(mishap_is(m, ALREADY_EXISTS));
    assert_false(mishap_is(NULL, NOT_FOUND));
    mishap_free(m);
}

static void the_factories_have_their_codes_and_categories(void **state)
{
    (void)state;
    const struct {
        mishap *m;
        const mishap_code *code;
        mishap_category category;
    } made[] = {
        { mishap_validation("Made %d.", 1), MISHAP_CODE_INVALID_ARGUMENT, MISHAP_VALIDATION },
        { mishap_permission("Made %d.", 1), MISHAP_CODE_NOT_AUTHORIZED, MISHAP_PERMISSION },
        { mishap_resource("Made %d.", 1), MISHAP_CODE_NOT_FOUND, MISHAP_RESOURCE },
        { mishap_execution("Made %d.", 1), MISHAP_CODE_RUNTIME_ERROR, MISHAP_EXECUTION },
        { mishap_system("Made %d.", 1), MISHAP_CODE_INTERNAL_ERROR, MISHAP_SYSTEM },
        /* The category is that of the factory, for any code. */
        { mishap_validation_as(NOT_FOUND, "Made %d.", 1), MISHAP_CODE_NOT_FOUND,
          MISHAP_VALIDATION },
        { mishap_permission_as(TIMEOUT, "Made %d.", 1), MISHAP_CODE_TIMEOUT, MISHAP_PERMISSION },
        { mishap_resource_as(INSUFFICIENT_FUNDS, "Made %d.", 1), MISHAP_CODE_INSUFFICIENT_FUNDS,
          MISHAP_RESOURCE },
        { mishap_execution_as(UNAVAILABLE, "Made %d.", 1), MISHAP_CODE_UNAVAILABLE,
          MISHAP_EXECUTION },
        { mishap_system_as(RATE_LIMITED, "Made %d.", 1), MISHAP_CODE_RATE_LIMITED, MISHAP_SYSTEM },
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const mishap_public *public = mishap_told(made[i].m);
        assert_ptr_equal(public->code, made[i].code);
        assert_int_equal(public->category, made[i].category);
        assert_false(public->retryable); /* even where the catalog would retry */
        assert_int_equal(public->retry_after_ms, -1);
        if (public->code != MISHAP_CODE_INTERNAL_ERROR)
            assert_text(public->message, "Made 1.");
        assert_account_has(made[i].m, "in the_factories_have_their_codes_and_categories");
        mishap_free(made[i].m);
    }
    mishap *m = mishap_retryable(mishap_execution_as(UNAVAILABLE, "Try me."), true);
    assert_true(mishap_told(m)->retryable);
    assert_int_equal(mishap_told(m)->category, MISHAP_EXECUTION);
    mishap_free(m);
}

/* -- masking ----------------------------------------------------------------------------------- */

static void what_is_raised_as_an_internal_error_stays_private(void **state)
{
    (void)state;
    mishap *m = mishap_raise(INTERNAL_ERROR, "Disk %d of host %s is broken.", 3, "db-7");
    assert_int_equal(mishap_told(m)->message.length, 0);
    assert_text(mishap_public_message(mishap_told(m)), "An internal error occurred.");
    assert_account_has(m, "Disk 3 of host db-7 is broken.");
    mishap_message(m, T("Disk 4 is broken."));
    assert_int_equal(mishap_told(m)->message.length, 0);
    assert_text(mishap_public_message(mishap_told(m)), "An internal error occurred.");
    assert_account_has(m, "Disk 4 is broken.");
    mishap_free(m);
}

/* -- fields and frames ------------------------------------------------------------------------- */

static void the_five_rules_fill_in_their_members(void **state)
{
    (void)state;
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    mishap_field_required(m, "email");
    mishap_field_type(m, "age", "integer", "string");
    mishap_field_length(m, "title", mishap_value_of_int(1), mishap_value_of_int(200), 250);
    mishap_field_range(m, "age", mishap_value_none(), mishap_value_of_real(1.5),
                       mishap_value_of_int(200));
    mishap_field_pattern(m, "items[2].name", ".*@.*\\..*");
    assert_int_equal(mishap_told(m)->field_count, 5);

    const mishap_field *at = mishap_told(m)->fields;
    assert_text(at->field, "email");
    assert_text(at->error, "field_required");
    assert_int_equal(at->expected.kind | at->actual.kind | at->min.kind | at->max.kind,
                     MISHAP_KIND_NONE);

    at = at->next;
    assert_text(at->field, "age");
    assert_text(at->error, "invalid_type");
    assert_text(at->expected.text, "integer");
    assert_text(at->actual.text, "string");
    assert_int_equal(at->min.kind | at->max.kind, MISHAP_KIND_NONE);

    at = at->next;
    assert_text(at->error, "invalid_length");
    assert_int_equal(at->min.integer, 1);
    assert_int_equal(at->max.integer, 200);
    assert_int_equal(at->actual.integer, 250);
    assert_int_equal(at->expected.kind, MISHAP_KIND_NONE);

    at = at->next;
    assert_text(at->error, "value_out_of_range");
    assert_int_equal(at->min.kind, MISHAP_KIND_NONE);
    assert_true(at->max.real == 1.5);
    assert_int_equal(at->actual.integer, 200);

    at = at->next;
    assert_text(at->field, "items[2].name");
    assert_text(at->error, "pattern_mismatch");
    assert_text(at->expected.text, ".*@.*\\..*");
    assert_int_equal(at->actual.kind, MISHAP_KIND_NONE);
    assert_null(at->next);
    assert_account_has(m, "field items[2].name: pattern_mismatch expected \".*@.*\\\\..*\"\n");
    mishap_free(m);
}

static void a_field_is_added_alone_whatever_follows_it(void **state)
{
    (void)state;
    mishap_field other = { .field = T("b"), .error = T("x") };
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    mishap_field_add(m, &(mishap_field){ .next = &other, .field = T("a"), .error = T("x") });
    assert_null(mishap_told(m)->fields->next);
    assert_int_equal(mishap_told(m)->field_count, 1);
    mishap_free(m);
}

static void thousands_of_parts_are_kept_in_order(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "part%d", i);
        mishap_field_required(m, name);
        mishap_frame_add(m, mishap_text_of(name));
    }
    const mishap_field *field = mishap_told(m)->fields;
    const mishap_frame *frame = mishap_told(m)->frames;
    for (int i = 0; i < MANY; i++, field = field->next, frame = frame->next) {
        char name[32];
        snprintf(name, sizeof name, "part%d", i);
        assert_text(field->field, name);
        assert_text(frame->text, name);
    }
    assert_null(field);
    assert_null(frame);
    assert_int_equal(mishap_told(m)->field_count, MANY);
    assert_int_equal(mishap_told(m)->frame_count, MANY);
    mishap_free(m);
}

static void the_subject_has_a_type_an_output_and_frames(void **state)
{
    (void)state;
    mishap *m = mishap_raise(TYPE_ERROR, "The value \"hello\" is not of type NUMBER.");
    mishap_type(m, "SIMPLE-TYPE-ERROR");
    mishap_output(m, T("before\nthe error\n"));
    mishap_frame_add(mishap_frame_add(m, T("(+ 1 \"hello\")")), T("(FOO)"));
    const mishap_public *public = mishap_told(m);
    assert_text(public->type, "SIMPLE-TYPE-ERROR");
    assert_text(public->output, "before\nthe error\n");
    assert_int_equal(public->frame_count, 2);
    assert_text(public->frames->text, "(+ 1 \"hello\")");
    assert_text(public->frames->next->text, "(FOO)");
    assert_null(public->frames->next->next);
    mishap_free(m);
}

/* -- retrying ---------------------------------------------------------------------------------- */

static void assert_retry(mishap *m, bool retryable, bool stated, int64_t after_ms)
{
    assert_int_equal(mishap_told(m)->retryable, retryable);
    assert_int_equal(mishap_told(m)->retry_stated, stated);
    assert_int_equal(mishap_told(m)->retry_after_ms, after_ms);
}

static void the_catalog_says_whether_to_retry_until_the_occurrence_does(void **state)
{
    (void)state;
    mishap *m = mishap_raise(RATE_LIMITED, NULL);
    assert_retry(m, true, false, 1000);
    assert_retry(mishap_retry_after(m, 250), true, true, 250);
    assert_retry(mishap_retry_after(m, -5), true, true, 250); /* no time: nothing was said */
    assert_retry(mishap_retry_after(m, 0), true, true, 0);
    assert_retry(mishap_retryable(m, false), false, true, -1);
    assert_retry(mishap_retryable(m, true), true, true,
                 1000); /* the catalog's advice is as good as before */
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, NULL);
    assert_retry(m, false, false, -1);
    assert_retry(mishap_retry_after(m, 5), true, true, 5); /* when implies that */
    mishap_free(m);
    m = mishap_raise(UNAVAILABLE, NULL);
    assert_retry(m, true, false, -1);
    mishap_free(m);
}

static void filing_under_a_category_takes_the_retry_away(void **state)
{
    (void)state;
    mishap *m = mishap_raise(RATE_LIMITED, NULL);
    assert_int_equal(mishap_told(m)->category, MISHAP_SYSTEM);
    mishap_file_under(m, MISHAP_PERMISSION);
    assert_int_equal(mishap_told(m)->category, MISHAP_PERMISSION);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_RATE_LIMITED);
    assert_retry(m, false, true, -1);
    assert_retry(mishap_retryable(m, true), true, true, 1000);
    assert_account_has(m, "category permission\n");
    mishap_free(m);
}

static void what_is_recoverable_has_a_suggestion(void **state)
{
    (void)state;
    for (size_t i = 0; i < mishap_code_table.count; i++) {
        for (int said = 0; said < 3; said++) {
            mishap *m = mishap_raise_at(mishap_code_table.codes[i], MISHAP_HERE, NULL);
            if (said)
                mishap_retryable(m, said == 1);
            bool helpless = !mishap_public_suggestion(mishap_told(m)).length;
            if (mishap_public_recoverable(mishap_told(m)) && helpless)
                fail_msg("%s has none (%d)", mishap_code_table.codes[i]->name.data, said);
            mishap_free(m);
        }
    }
    mishap *m = mishap_raise(TIMEOUT, NULL);
    assert_false(mishap_public_recoverable(mishap_told(m)));
    assert_true(mishap_public_recoverable(mishap_told(mishap_retryable(m, true))));
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, NULL);
    assert_true(
        mishap_public_recoverable(mishap_told(m))); /* not retryable, but the caller can mend it */
    mishap_free(m);
}

/* -- causes ------------------------------------------------------------------------------------ */

static void causes_form_a_chain(void **state)
{
    (void)state;
    mishap *a = mishap_raise(UNAVAILABLE, "First."),
           *b = mishap_raise(CONNECTION_REFUSED, "Second."),
           *c = mishap_raise(HOST_UNREACHABLE, "Third."), *d = mishap_raise(TIMEOUT, "Fourth.");
    assert_ptr_equal(mishap_because(a, b), a);
    assert_ptr_equal(mishap_because(a, mishap_because(c, d)), a);
    assert_ptr_equal(mishap_cause(a), b);
    assert_ptr_equal(mishap_cause(b), c);
    assert_ptr_equal(mishap_cause(c), d);
    assert_null(mishap_cause(d));
    const char *account = account_of(a),
               *second = strstr(account, "caused by CONNECTION_REFUSED: Second.\n"),
               *third = strstr(account, "caused by HOST_UNREACHABLE: Third.\n"),
               *fourth = strstr(account, "caused by TIMEOUT: Fourth.\n");
    assert_int_equal(strncmp(account, "UNAVAILABLE: First.\n", 20), 0);
    assert_true(second && third > second && fourth > third);
    assert_int_equal(mishap_told(a)->cause.length, 0); /* a cause is not told by itself */
    mishap_free(a);
}

static void a_cause_may_be_missing_on_either_side(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, NULL);
    assert_ptr_equal(mishap_because(m, NULL), m);
    assert_ptr_equal(mishap_because(NULL, m), m);
    assert_null(mishap_because(NULL, NULL));
    assert_null(mishap_cause(m));
    mishap_free(m);
}

static void nothing_is_its_own_cause(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, NULL);
    assert_ptr_equal(mishap_because(m, m), m);
    assert_null(mishap_cause(m));
    mishap_free(m);
}

static void a_chain_of_100000_causes_is_freed(void **state)
{
    (void)state;
    mishap *m = NULL;
    for (int i = 0; i < 100000; i++)
        m = mishap_because(mishap_raise(NOT_FOUND, NULL), m);
    mishap_free(m);
}

/* -- the account ------------------------------------------------------------------------------- */

/* Not static and not inlined, so that the stack has it and its name can be looked up. */
mishap *raise_by_name(int depth);

__attribute__((noinline)) mishap *raise_by_name(int depth)
{
    return mishap_raise(INTERNAL_ERROR, "Raised %d deep.", depth);
}

static void the_account_names_the_place_and_the_stack(void **state)
{
    (void)state;
    char place[256];
    mishap *m = raise_by_name(1);
    snprintf(place, sizeof place, "raised at %s:%d in raise_by_name\n", __FILE__, __LINE__ - 8);
    assert_account_has(m, place);
    assert_account_has(m, "native stack:\n    #0 raise_by_name+0x");
    mishap_free(m);
}

static void the_account_has_every_part(void **state)
{
    (void)state;
    mishap *m = mishap_raise(INTERNAL_ERROR, "The private message.");
    mishap_note(mishap_tell(m, "told-key", "told value"), "noted-key", "noted value");
    mishap_note(m, "noted-json", mishap_value_of_json("{\"a\": 1}"));
    mishap_tell_cause(m, "the summary");
    mishap_suggest(m, "The suggestion.");
    mishap_incident(m, "0190-incident");
    mishap_field_required(m, "the-field");
    mishap_type(m, "THE-TYPE");
    mishap_output(m, T("the output"));
    mishap_frame_add(mishap_frame_add(m, T("(FRAME-A)")), T("(FRAME-B)"));
    mishap_because(m, mishap_note(mishap_raise(CONNECTION_REFUSED, "The cause."), "errno", 111));
    static const char *const pieces[] = {
        "INTERNAL_ERROR: An internal error occurred.\n",
        "in detail: The private message.\n",
        "category system\n",
        "incident 0190-incident\n",
        "cause as told: the summary\n",
        "suggestion: The suggestion.\n",
        "raised at ",
        " in the_account_has_every_part\n",
        "told told-key = \"told value\"\n",
        "noted noted-key = \"noted value\"\n",
        "noted noted-json = {\"a\":1}\n",
        "field the-field: field_required\n",
        "condition type THE-TYPE\n",
        "output: the output\n",
        "frame 0: (FRAME-A)\n",
        "frame 1: (FRAME-B)\n",
        "native stack:\n    #0 ",
        "caused by CONNECTION_REFUSED: The cause.\n",
        "noted errno = 111\n",
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        assert_account_has(m, pieces[i]);
    assert_account_lacks(m, "left out");
    mishap_free(m);
}

/* -- NULL -------------------------------------------------------------------------------------- */

static void success_can_be_passed_to_everything(void **state)
{
    (void)state;
    mishap *none = NULL;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    assert_null(mishap_tell(none, "k", 1));
    assert_null(mishap_note(none, "k", 1));
    assert_null(mishap_message(none, T("x")));
    assert_null(mishap_tell_cause(none, "x"));
    assert_null(mishap_suggest(none, "x"));
    assert_null(mishap_docs(none, "x"));
    assert_null(mishap_retryable(none, true));
    assert_null(mishap_retry_after(none, 1));
    assert_null(mishap_file_under(none, MISHAP_SYSTEM));
    assert_null(mishap_incident(none, "x"));
    assert_null(mishap_field_required(none, "f"));
    assert_null(mishap_field_type(none, "f", "a", "b"));
    assert_null(mishap_field_length(none, "f", mishap_value_none(), mishap_value_none(), 1));
    assert_null(mishap_field_range(none, "f", mishap_value_none(), mishap_value_none(),
                                   mishap_value_none()));
    assert_null(mishap_field_pattern(none, "f", "x"));
    assert_null(mishap_field_add(none, &(mishap_field){ 0 }));
    assert_null(mishap_type(none, "T"));
    assert_null(mishap_output(none, T("x")));
    assert_null(mishap_frame_add(none, T("x")));
    assert_null(mishap_cause(none));
    assert_null(mishap_told(none));
    mishap_account(none, &buffer);
    assert_int_equal(buffer.length, 0);
    mishap_free(none);
}

static void no_text_can_be_passed_to_everything(void **state)
{
    (void)state;
    const char *none = NULL;
    mishap_text empty = { NULL, 0 };
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    assert_ptr_equal(mishap_tell(m, none, 1), m);
    assert_ptr_equal(mishap_note(m, none, 1), m);
    assert_ptr_equal(mishap_message(m, empty), m);
    assert_ptr_equal(mishap_tell_cause(m, none), m);
    assert_ptr_equal(mishap_suggest(m, none), m);
    assert_ptr_equal(mishap_docs(m, none), m);
    assert_ptr_equal(mishap_incident(m, none), m);
    assert_ptr_equal(mishap_type(m, none), m);
    assert_ptr_equal(mishap_output(m, empty), m);
    assert_null(mishap_told(m)->context); /* without a name nothing is told */
    assert_account_lacks(m, "noted");
    assert_ptr_equal(mishap_frame_add(m, empty), m);
    assert_ptr_equal(mishap_field_required(m, none), m);
    assert_ptr_equal(mishap_field_type(m, none, none, none), m);
    assert_ptr_equal(mishap_field_pattern(m, none, none), m);
    assert_int_equal(mishap_told(m)->field_count, 3);
    assert_text(mishap_public_suggestion(mishap_told(m)),
                MISHAP_CODE_VALIDATION_ERROR->suggestion.data);
    mishap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(raising_takes_a_code_and_a_sentence),
        TEST(the_message_is_formatted),
        TEST(a_long_message_is_kept_whole),
        TEST(without_a_message_the_catalog_speaks),
        TEST(errno_survives_raising),
        TEST(an_errno_has_its_code_and_its_name),
        TEST(a_try_returns_what_failed),
        TEST(the_factories_have_their_codes_and_categories),
        TEST(what_is_raised_as_an_internal_error_stays_private),
        TEST(the_five_rules_fill_in_their_members),
        TEST(a_field_is_added_alone_whatever_follows_it),
        TEST(thousands_of_parts_are_kept_in_order),
        TEST(the_subject_has_a_type_an_output_and_frames),
        TEST(the_catalog_says_whether_to_retry_until_the_occurrence_does),
        TEST(filing_under_a_category_takes_the_retry_away),
        TEST(what_is_recoverable_has_a_suggestion),
        TEST(causes_form_a_chain),
        TEST(a_cause_may_be_missing_on_either_side),
        TEST(nothing_is_its_own_cause),
        TEST(a_chain_of_100000_causes_is_freed),
        TEST(the_account_names_the_place_and_the_stack),
        TEST(the_account_has_every_part),
        TEST(success_can_be_passed_to_everything),
        TEST(no_text_can_be_passed_to_everything),
    };
    return RUN(tests);
}
