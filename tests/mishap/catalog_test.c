/* The catalog: the rows that the seeds ask for, the rules that hold for all rows, and tables of a
 * program's own. */
#include "testing.h"

#include <ctype.h>

#include "mishap/code.h"
#include "own_codes.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_text(mishap_text text, const char *expected)
{
    assert_non_null(text.data);
    assert_string_equal(text.data, expected);
    assert_int_equal(text.length, strlen(expected));
}

static const mishap_code *found(mishap_spelling spelling, const char *text)
{
    const mishap_code *code = mishap_catalog_find(spelling, mishap_text_of(text));
    if (!code)
        fail_msg("there is no %s", text);
    return code;
}

static mishap_text spelled(const mishap_code *code, mishap_spelling spelling)
{
    switch (spelling) {
    case MISHAP_SPELLING_NAME:
        return code->name;
    case MISHAP_SPELLING_CONDITION:
        return code->condition;
    case MISHAP_SPELLING_SNAKE:
        return code->snake;
    case MISHAP_SPELLING_HTTP:
        return code->http_name;
    case MISHAP_SPELLING_TOOL:
        return code->tool_type;
    }
    return (mishap_text){ NULL, 0 };
}

/* -- what the seeds ask for -------------------------------------------------------------------- */

static void seed_001_finds_its_codes_with_their_exit_codes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int exit_code;
        mishap_retry retry;
        mishap_effects effects;
    } codes[] = {
        { "GENERAL_ERROR", 1, MISHAP_RETRY_NEVER, MISHAP_EFFECTS_PARTIAL },
        { "ARG_ERROR", 2, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
        { "PARTIAL_FAILURE", 3, MISHAP_RETRY_NEVER, MISHAP_EFFECTS_PARTIAL },
        { "PRECONDITION", 4, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
        { "NOT_FOUND", 5, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
        { "CONFLICT", 6, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
        { "PERMISSION_DENIED", 7, MISHAP_RETRY_NEVER, MISHAP_EFFECTS_NONE },
        { "AUTH_REQUIRED", 8, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
        { "PAYMENT_REQUIRED", 9, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
        { "TIMEOUT", 10, MISHAP_RETRY_NEVER, MISHAP_EFFECTS_PARTIAL },
        { "RATE_LIMITED", 11, MISHAP_RETRY_YES, MISHAP_EFFECTS_NONE },
        { "UNAVAILABLE", 12, MISHAP_RETRY_YES, MISHAP_EFFECTS_NONE },
        { "REDIRECTED", 13, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
        { "CONNECTION_REFUSED", 12, MISHAP_RETRY_YES, MISHAP_EFFECTS_NONE },
        { "AUTH_TOKEN_EXPIRED", 8, MISHAP_RETRY_FIX, MISHAP_EFFECTS_NONE },
    };
    for (size_t i = 0; i < COUNT(codes); i++) {
        const mishap_code *code = found(MISHAP_SPELLING_NAME, codes[i].name);
        assert_text(code->name, codes[i].name);
        assert_int_equal(code->exit_code, codes[i].exit_code);
        assert_int_equal(code->retry, codes[i].retry);
        assert_int_equal(code->effects, codes[i].effects);
    }
    assert_true(found(MISHAP_SPELLING_NAME, "RATE_LIMITED")->retry_after_ms > 0);
    assert_text(found(MISHAP_SPELLING_NAME, "AUTH_TOKEN_EXPIRED")->message,
                "Credentials are missing or expired.");
}

static void seed_002_finds_its_codes_with_their_categories(void **state)
{
    (void)state;
    static const struct {
        const char *snake;
        mishap_category category;
    } codes[] = {
        { "missing_argument", MISHAP_VALIDATION }, { "invalid_argument", MISHAP_VALIDATION },
        { "invalid_type", MISHAP_VALIDATION },     { "not_owner", MISHAP_PERMISSION },
        { "not_authorized", MISHAP_PERMISSION },   { "insufficient_funds", MISHAP_PERMISSION },
        { "not_found", MISHAP_RESOURCE },          { "already_exists", MISHAP_RESOURCE },
        { "already_listed", MISHAP_RESOURCE },     { "timeout", MISHAP_EXECUTION },
        { "runtime_error", MISHAP_EXECUTION },     { "syntax_error", MISHAP_EXECUTION },
        { "internal_error", MISHAP_SYSTEM },       { "not_configured", MISHAP_SYSTEM },
    };
    assert_int_equal(COUNT(codes), 14);
    for (size_t i = 0; i < COUNT(codes); i++) {
        const mishap_code *code = found(MISHAP_SPELLING_SNAKE, codes[i].snake);
        assert_text(code->snake, codes[i].snake);
        assert_int_equal(code->category, codes[i].category);
    }
}

static void seed_003_finds_its_names_with_their_statuses(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int http_status;
        const char *message; /* the HTTP API's own wording */
    } codes[] = {
        { "bad_request", 400, "Bad request" },
        { "not_found", 404, "" },
        { "validation_error", 422, "Validation failed" },
        { "internal_server_error", 500, "Internal server error" },
        { "payment_required", 402, "" },
        { "field_required", 422, "" },
        { "invalid_type", 422, "" },
        { "invalid_length", 422, "" },
        { "value_out_of_range", 422, "" },
        { "pattern_mismatch", 422, "" },
    };
    for (size_t i = 0; i < COUNT(codes); i++) {
        const mishap_code *code = found(MISHAP_SPELLING_HTTP, codes[i].name);
        assert_text(code->http_name, codes[i].name);
        assert_int_equal(code->http_status, codes[i].http_status);
        assert_text(code->http_message, codes[i].message);
    }
    assert_ptr_equal(found(MISHAP_SPELLING_HTTP, "internal_server_error"),
                     MISHAP_CODE_INTERNAL_ERROR);
    assert_null(mishap_catalog_find(MISHAP_SPELLING_HTTP,
                                    T("internal_error"))); /* that is another wire's word */
}

static void seed_004_finds_its_six_types(void **state)
{
    (void)state;
    static const struct {
        const char *type, *name;
    } types[] = {
        { "ValueError", "VALUE_ERROR" },
        { "SyntaxError", "SYNTAX_ERROR" },
        { "ValidationError", "VALIDATION_ERROR" },
        { "ImportError", "IMPORT_ERROR" },
        { "TimeoutError", "TIMEOUT" },
        { "RuntimeError", "RUNTIME_ERROR" },
    };
    for (size_t i = 0; i < COUNT(types); i++) {
        const mishap_code *code = found(MISHAP_SPELLING_TOOL, types[i].type);
        assert_text(code->tool_type, types[i].type);
        assert_text(code->name, types[i].name);
    }
    assert_int_equal(mishap_code_table.index[MISHAP_SPELLING_TOOL].count, COUNT(types));
    for (size_t i = 0; i < mishap_code_table.count; i++)
        found(MISHAP_SPELLING_TOOL,
              mishap_code_table.codes[i]->tool_type.data); /* no row has a seventh */
}

/* -- every row --------------------------------------------------------------------------------- */

static void every_row_is_found_by_every_spelling(void **state)
{
    (void)state;
    assert_true(mishap_code_table.count > 60);
    for (size_t i = 0; i < mishap_code_table.count; i++) {
        const mishap_code *code = mishap_code_table.codes[i];
        for (int spelling = 0; spelling < MISHAP_SPELLING_TOOL; spelling++) {
            mishap_text text = spelled(code, (mishap_spelling)spelling);
            assert_ptr_equal(mishap_catalog_find((mishap_spelling)spelling, text), code);
            char *bare = malloc(text.length); /* without a NUL after it */
            memcpy(bare, text.data, text.length);
            assert_ptr_equal(
                mishap_catalog_find((mishap_spelling)spelling, (mishap_text){ bare, text.length }),
                code);
            /* One byte less or other is another name. */
            assert_ptr_not_equal(mishap_catalog_find((mishap_spelling)spelling,
                                                     (mishap_text){ bare, text.length - 1 }),
                                 code);
            bare[text.length - 1] = '~';
            assert_null(
                mishap_catalog_find((mishap_spelling)spelling, (mishap_text){ bare, text.length }));
            free(bare);
        }
    }
}

static void what_no_row_has_is_not_found(void **state)
{
    (void)state;
    static const char *const strangers[] = {
        "", "A", "~", "Not_Found", "NOT_FOUND ", "NOT_A_CODE_OF_ANY_TABLE_THAT_WE_KNOW",
    };
    for (int spelling = 0; spelling < MISHAP_SPELLINGS; spelling++) {
        for (size_t i = 0; i < COUNT(strangers); i++)
            assert_null(
                mishap_catalog_find((mishap_spelling)spelling, mishap_text_of(strangers[i])));
        assert_null(mishap_catalog_find((mishap_spelling)spelling, (mishap_text){ NULL, 0 }));
    }
    assert_null(mishap_catalog_find(MISHAP_SPELLING_NAME, T("not_found")));
    assert_null(mishap_catalog_find(MISHAP_SPELLING_SNAKE, T("NOT_FOUND")));
    assert_null(mishap_catalog_find(MISHAP_SPELLING_CONDITION, T("NOT_FOUND")));
}

static bool is_sentence(mishap_text text)
{
    return text.length > 2 && text.data[0] >= 'A' && text.data[0] <= 'Z' &&
           strchr(".!?`", text.data[text.length - 1]);
}

static void every_row_keeps_the_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < mishap_code_table.count; i++) {
        const mishap_code *code = mishap_code_table.codes[i];
        bool good = mishap_code_name_valid(code->name) && is_sentence(code->message);
        good = good && code->http_status >= 400 && code->http_status <= 599;
        int exit_code = code->exit_code;
        good = good &&
               ((exit_code >= 1 && exit_code <= 13) || (exit_code >= 64 && exit_code <= 125));
        /* The range that JSON-RPC keeps for itself is used for its own five only. */
        good = good &&
               (code->rpc_code < -32768 || code->rpc_code > -32000 || code->rpc_code == -32700 ||
                (code->rpc_code >= -32603 && code->rpc_code <= -32600));
        good = good && (code->retry != MISHAP_RETRY_YES || code->effects == MISHAP_EFFECTS_NONE);
        good = good && (code->retry == MISHAP_RETRY_NEVER || is_sentence(code->suggestion));
        good = good && (code->retry_after_ms == -1 ||
                        (code->retry == MISHAP_RETRY_YES && code->retry_after_ms > 0));
        good = good && code->masked == (code == MISHAP_CODE_INTERNAL_ERROR);
        if (!good)
            fail_msg("%s breaks a rule", code->name.data);
        for (int spelling = 0; spelling < MISHAP_SPELLINGS; spelling++)
            assert_true(spelled(code, (mishap_spelling)spelling).length > 0);
    }
}

static void spellings_are_derived_from_the_name(void **state)
{
    (void)state;
    const mishap_code *code = MISHAP_CODE_UNDEFINED_FUNCTION;
    assert_text(code->name, "UNDEFINED_FUNCTION");
    assert_text(code->condition, "UNDEFINED-FUNCTION");
    assert_text(code->snake, "undefined_function");
    assert_text(code->http_name, "undefined_function");
    assert_text(code->title, "Undefined function");
    assert_text(code->tool_type, "RuntimeError");
    assert_int_equal(code->rpc_code, 422); /* a `-` takes the HTTP status */
}

static void names_are_upper_snake(void **state)
{
    (void)state;
    static const char *const good[] = { "AB", "A1", "A_", "NOT_FOUND", "E2BIG", "HTTP_2_ERROR" };
    static const char *const bad[] = {
        "", "A", "a", "ab", "Ab", "1A", "_A", "A-B", "A B", "AB ", "A.B", "\xC3\x84_B", "A\nB",
    };
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(mishap_code_name_valid(mishap_text_of(good[i])));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(mishap_code_name_valid(mishap_text_of(bad[i])));
    assert_false(mishap_code_name_valid(T("AB\0")));
}

/* -- statuses and categories ------------------------------------------------------------------- */

static void every_status_has_the_row_that_is_named_like_it(void **state)
{
    (void)state;
    int known = 0;
    for (int status = -1; status < 700; status++) {
        const mishap_code *code = mishap_catalog_for_status(status);
        const char *phrase = mishap_http_phrase(status);
        assert_int_equal(code != NULL, phrase != NULL);
        if (!code)
            continue;
        known++;
        assert_int_equal(code->http_status, status);
        char name[64];
        for (size_t i = 0; i <= strlen(phrase); i++)
            name[i] = (char)(phrase[i] == ' ' ? '_' : tolower((unsigned char)phrase[i]));
        assert_text(code->http_name, status == 499 ? "cancelled" : name);
    }
    assert_int_equal(known, 39);
    assert_string_equal(mishap_http_phrase(402), "Payment Required");
    assert_ptr_equal(mishap_catalog_for_status(402), MISHAP_CODE_PAYMENT_REQUIRED);
    assert_ptr_equal(mishap_catalog_for_status(500), MISHAP_CODE_INTERNAL_ERROR);
    assert_null(mishap_catalog_for_status(200));
    assert_null(mishap_catalog_for_status(418));
}

static void categories_have_names(void **state)
{
    (void)state;
    static const char *const names[] = { "validation", "permission", "resource", "execution",
                                         "system" };
    assert_int_equal(COUNT(names), MISHAP_CATEGORIES);
    for (int i = 0; i < MISHAP_CATEGORIES; i++) {
        mishap_category category = (mishap_category)-1;
        assert_string_equal(mishap_category_name((mishap_category)i), names[i]);
        assert_true(mishap_category_find(mishap_text_of(names[i]), &category));
        assert_int_equal(category, i);
    }
    mishap_category untouched = MISHAP_RESOURCE;
    assert_false(mishap_category_find(T("System"), &untouched));
    assert_false(mishap_category_find(T("syste"), &untouched));
    assert_false(mishap_category_find((mishap_text){ NULL, 0 }, &untouched));
    assert_int_equal(untouched, MISHAP_RESOURCE);
}

/* -- names that no table has ------------------------------------------------------------------- */

static void any_spelling_gives_the_name(void **state)
{
    (void)state;
    static const struct {
        const char *spelling, *name;
    } good[] = {
        { "not-found", "NOT_FOUND" },
        { "not_found", "NOT_FOUND" },
        { "NotFound", "NOT_FOUND" },
        { "notFound", "NOT_FOUND" },
        { "NOT_FOUND", "NOT_FOUND" },
        { "NOT-FOUND", "NOT_FOUND" },
        { "Not Found", "NOT_FOUND" },
        { "user.not.found", "USER_NOT_FOUND" },
        { "HTTPError", "HTTPERROR" },
        { "E2BIG", "E2BIG" },
        { "ValueError", "VALUE_ERROR" },
        { "SB-INT:X", NULL },
        { "", NULL },
        { "x", NULL },
        { "2fast", NULL },
        { "_x", NULL },
        { "not/found", NULL },
        { "gr\xC3\xBC\xC3\x9F"
          "e",
          NULL },
        { "what?", NULL },
        { " x", NULL },
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        char name[64];
        bool valid = mishap_code_unspell(mishap_text_of(good[i].spelling), name, sizeof name);
        assert_int_equal(valid, good[i].name != NULL);
        if (valid)
            assert_string_equal(name, good[i].name);
    }
    assert_false(mishap_code_unspell(T("AB\0CD"), (char[64]){ 0 }, 64));
    assert_false(mishap_code_unspell((mishap_text){ NULL, 0 }, (char[64]){ 0 }, 64));
}

static void a_spelling_that_is_too_long_gives_no_name(void **state)
{
    (void)state;
    static const char spelling[] = "aBcDeFgHiJkLmN";
    for (size_t size = 1; size < 40; size++) {
        char *name = malloc(
            size); /* to the byte, so that a sanitizer sees what is written behind it */
        bool fits = mishap_code_unspell(mishap_text_of(spelling), name, size);
        if (size < sizeof "A_BC_DE_FG_HI_JK_LM_N")
            assert_false(fits);
        if (size > sizeof "A_BC_DE_FG_HI_JK_LM_N" + 2)
            assert_true(fits);
        if (fits)
            assert_string_equal(name, "A_BC_DE_FG_HI_JK_LM_N");
        free(name);
    }
}

static void a_row_is_derived_from_name_category_and_status(void **state)
{
    (void)state;
    static const struct {
        int http_status, exit_code, rpc_code;
        const char *tool_type;
    } usual[MISHAP_CATEGORIES] = {
        [MISHAP_VALIDATION] = { 422, 2, -32602, "ValueError" },
        [MISHAP_PERMISSION] = { 403, 7, 403, "ValidationError" },
        [MISHAP_RESOURCE] = { 404, 5, 404, "ValueError" },
        [MISHAP_EXECUTION] = { 500, 1, 500, "RuntimeError" },
        [MISHAP_SYSTEM] = { 500, 1, -32603, "RuntimeError" },
    };
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (int i = 0; i < MISHAP_CATEGORIES; i++) {
        const mishap_code *code = mishap_code_derive(&arena, T("OUT_OF_FLOUR_2"),
                                                     (mishap_category)i, 0);
        assert_text(code->name, "OUT_OF_FLOUR_2");
        assert_text(code->condition, "OUT-OF-FLOUR-2");
        assert_text(code->snake, "out_of_flour_2");
        assert_text(code->http_name, "out_of_flour_2");
        assert_text(code->title, "Out of flour 2");
        assert_true(is_sentence(code->message));
        assert_text(code->tool_type, usual[i].tool_type);
        assert_int_equal(code->category, i);
        assert_int_equal(code->http_status, usual[i].http_status);
        assert_int_equal(code->exit_code, usual[i].exit_code);
        assert_int_equal(code->rpc_code, usual[i].rpc_code);
        assert_int_equal(code->retry, MISHAP_RETRY_NEVER);
        assert_int_equal(code->effects, MISHAP_EFFECTS_PARTIAL);
        assert_int_equal(code->retry_after_ms, -1);
        assert_int_equal(
            code->suggestion.length + code->docs_url.length + code->http_message.length, 0);
        assert_false(code->masked);
    }
    assert_int_equal(mishap_code_derive(&arena, T("TEAPOT"), MISHAP_VALIDATION, 418)->http_status,
                     418);
    mishap_arena_release(&arena);
}

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

static void *no_more_memory(void *block, size_t size)
{
    (void)block, (void)size;
    return NULL;
}

static void a_row_is_derived_whole_or_not_at_all(void **state)
{
    (void)state;
    size_t derived = 0;
    mishap_use_allocator(&(mishap_allocator){ no_memory, no_more_memory, free });
    for (size_t room = 0; room <= 512; room++) {
        static char storage[512];
        mishap_arena arena;
        mishap_arena_init(&arena, storage, room);
        const mishap_code *code = mishap_code_derive(&arena, T("OUT_OF_FLOUR"), MISHAP_SYSTEM, 0);
        if (code) {
            assert_text(code->name, "OUT_OF_FLOUR");
            assert_text(code->condition, "OUT-OF-FLOUR");
            assert_text(code->snake, "out_of_flour");
            assert_text(code->title, "Out of flour");
            derived++;
        }
    }
    mishap_use_allocator(NULL);
    assert_true(derived > 0 && derived < 512 - sizeof(mishap_code));
}

/* -- a program's own table --------------------------------------------------------------------- */

static size_t tables(void)
{
    size_t count = 0;
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog; catalog = catalog->next)
        count++;
    return count;
}

/* A table that was written by hand: one row of its own, and one whose name the built-in table has.
 */
static const mishap_code odd_codes[] = {
    { .name = MISHAP_TEXT("ODD_ONE"),
      .condition = MISHAP_TEXT("ODD-ONE"),
      .snake = MISHAP_TEXT("odd_one"),
      .http_name = MISHAP_TEXT("odd_one"),
      .tool_type = MISHAP_TEXT("ValueError"),
      .message = MISHAP_TEXT("Odd.") },
    { .name = MISHAP_TEXT("NOT_FOUND"),
      .condition = MISHAP_TEXT("NOT-FOUND"),
      .snake = MISHAP_TEXT("not_found"),
      .http_name = MISHAP_TEXT("not_found"),
      .tool_type = MISHAP_TEXT("ValueError"),
      .message = MISHAP_TEXT("Odd.") },
};
static const uint16_t odd_order[] = { 0, 1 }; /* the shorter name first */
static const mishap_code *const odd_rows[] = { &odd_codes[0], &odd_codes[1] };
static const mishap_catalog_index odd_index[] = {
    { odd_order, 2 }, { odd_order, 2 }, { odd_order, 2 }, { odd_order, 2 }, { odd_order, 1 },
};
static mishap_catalog odd_table = {
    .name = "odd",
    .codes = odd_rows,
    .count = 2,
    .index = odd_index,
    .spellings = 5,
};

static void own_codes_are_found_once_their_table_is_added(void **state)
{
    (void)state;
    assert_int_equal(tables(), 1);
    assert_null(mishap_catalog_find(MISHAP_SPELLING_NAME, T("CART_EMPTY")));
    mishap_catalog_add(&own_code_table);
    assert_int_equal(tables(), 2);
    for (size_t i = 0; i < own_code_table.count; i++) {
        for (int s = 0; s < MISHAP_SPELLING_TOOL; s++) {
            mishap_text text = spelled(own_code_table.codes[i], (mishap_spelling)s);
            assert_ptr_equal(mishap_catalog_find((mishap_spelling)s, text),
                             own_code_table.codes[i]);
        }
    }
    assert_ptr_equal(found(MISHAP_SPELLING_NAME, "NOT_FOUND"), MISHAP_CODE_NOT_FOUND);
    /* Both tables have one; the built-in table comes first. */
    assert_ptr_equal(found(MISHAP_SPELLING_TOOL, "RuntimeError"), MISHAP_CODE_RUNTIME_ERROR);
}

static void a_table_can_be_added_again_and_another_behind_it(void **state)
{
    (void)state;
    mishap_catalog_add(&own_code_table);
    mishap_catalog_add(&own_code_table);
    mishap_catalog_add(&mishap_code_table);
    assert_int_equal(tables(), 2);
    mishap_catalog_add(&odd_table);
    mishap_catalog_add(&own_code_table);
    mishap_catalog_add(&odd_table);
    assert_int_equal(tables(), 3);
    assert_ptr_equal(mishap_catalog_first(), &mishap_code_table);
    assert_ptr_equal(mishap_catalog_first()->next, &own_code_table);
    assert_ptr_equal(mishap_catalog_first()->next->next, &odd_table);
    assert_ptr_equal(found(MISHAP_SPELLING_NAME, "ODD_ONE"), &odd_codes[0]);
    assert_ptr_equal(found(MISHAP_SPELLING_NAME, "CART_EMPTY"), own_code_table.codes[0]);
    assert_ptr_equal(found(MISHAP_SPELLING_NAME, "NOT_FOUND"),
                     MISHAP_CODE_NOT_FOUND); /* the table that came first */
}

static void own_rows_say_what_their_table_says(void **state)
{
    (void)state;
    assert_string_equal(own_code_table.name, "own");
    assert_int_equal(own_code_table.count, 4);
    const mishap_code *code = MISHAP_CODE_CART_EMPTY;
    assert_text(code->message, "The cart is empty.");
    assert_text(code->suggestion, "Put something into the cart, \"bread\" for example.");
    assert_text(code->docs_url, "https://bakery.example/errors/CART_EMPTY");
    assert_int_equal(code->category, MISHAP_VALIDATION);
    assert_int_equal(code->exit_code, 79);
    assert_int_equal(code->retry, MISHAP_RETRY_FIX);
    code = MISHAP_CODE_OVEN_OFFLINE;
    assert_int_equal(code->rpc_code, 1042);
    assert_int_equal(code->retry, MISHAP_RETRY_YES);
    assert_int_equal(code->retry_after_ms, 5000);
    code = MISHAP_CODE_PARCEL_LOST;
    assert_text(code->condition, "LOST-PARCEL");
    assert_text(code->http_name, "lost_parcel");
    assert_text(code->snake, "parcel_lost");
    assert_text(code->http_message, "Parcel lost");
    assert_text(code->tool_type, "RuntimeError");
    assert_int_equal(code->effects, MISHAP_EFFECTS_PARTIAL);
    assert_true(MISHAP_CODE_KITCHEN_FIRE->masked);
}

static void own_codes_are_raised_like_any_other(void **state)
{
    (void)state;
    mishap *m = mishap_raise(CART_EMPTY, "The cart of %s is empty.", "Bob");
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_CART_EMPTY);
    assert_int_equal(mishap_told(m)->category, MISHAP_VALIDATION);
    assert_text(mishap_told(m)->message, "The cart of Bob is empty.");
    assert_text(mishap_public_docs_url(mishap_told(m)), "https://bakery.example/errors/CART_EMPTY");
    mishap_free(m);
    m = mishap_raise(OVEN_OFFLINE, NULL);
    assert_true(mishap_told(m)->retryable);
    assert_int_equal(mishap_told(m)->retry_after_ms, 5000);
    assert_text(mishap_public_message(mishap_told(m)), "The oven does not answer.");
    mishap_free(m);
    m = mishap_resource_as(PARCEL_LOST, "Gone.");
    assert_int_equal(mishap_told(m)->category, MISHAP_RESOURCE);
    mishap_free(m);
    m = mishap_raise(KITCHEN_FIRE, "The flour exploded.");
    assert_text(mishap_public_message(mishap_told(m)), "The bakery is closed.");
    mishap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(seed_001_finds_its_codes_with_their_exit_codes),
        TEST(seed_002_finds_its_codes_with_their_categories),
        TEST(seed_003_finds_its_names_with_their_statuses),
        TEST(seed_004_finds_its_six_types),
        TEST(every_row_is_found_by_every_spelling),
        TEST(what_no_row_has_is_not_found),
        TEST(every_row_keeps_the_rules),
        TEST(spellings_are_derived_from_the_name),
        TEST(names_are_upper_snake),
        TEST(every_status_has_the_row_that_is_named_like_it),
        TEST(categories_have_names),
        TEST(any_spelling_gives_the_name),
        TEST(a_spelling_that_is_too_long_gives_no_name),
        TEST(a_row_is_derived_from_name_category_and_status),
        TEST(a_row_is_derived_whole_or_not_at_all),
        TEST(own_codes_are_found_once_their_table_is_added),
        TEST(a_table_can_be_added_again_and_another_behind_it),
        TEST(own_rows_say_what_their_table_says),
        TEST(own_codes_are_raised_like_any_other),
    };
    return RUN(tests);
}
