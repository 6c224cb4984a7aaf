/* src/operation/answer: answers written piece by piece, and held against what is declared. */
#include "testing.h"

#include "base/base.h"
#include "mishap/inside.h"
#include "operation/call.h"

static void (*written)(mishap_call *call);
static mishap *returned;

static mishap *write_it(mishap_call *call)
{
    written(call);
    return returned;
}

static const mishap_param line_members[] = {
    { "title", MISHAP_STRING, .required = true },
    { "count", MISHAP_INTEGER, .range = { 0, 9 } },
    { .name = "gift", .type = MISHAP_BOOLEAN },
    { "flags", MISHAP_ARRAY, .items = &(const mishap_param){ NULL, .type = MISHAP_BOOLEAN } },
    { 0 },
};
static const mishap_param line = { "line", MISHAP_OBJECT, .members = line_members };
static const mishap_param answers[] = {
    { "deleted", MISHAP_BOOLEAN, .required = true },
    { .name = "name", .type = MISHAP_STRING },
    { "lines", MISHAP_ARRAY, .items = &line },
    { 0 },
};
static const mishap_operation operations[] = {
    { .name = "free", .summary = "Anything", .run = write_it },
    { .name = "bound", .summary = "Declared", .run = write_it, .answers = answers },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = operations };

/* The answer as text that is to be freed; NULL with *failure otherwise. */
static char *answer_of(const mishap_operation *operation, void (*handler)(mishap_call *call),
                       mishap **failure)
{
    mishap_call *call;
    mishap_answer_kind kind;
    char *answer = NULL;
    written = handler;
    returned = NULL;
    *failure = mishap_call_begin(&app, operation, T("{}"), &call);
    if (*failure)
        return NULL;
    *failure = mishap_call_run(call);
    mishap_text text = mishap_call_answer(call, &kind);
    if (!*failure) {
        if (kind != MISHAP_ANSWER_JSON)
            text = T("(nothing)");
        answer = malloc(text.length + 1);
        memcpy(answer, text.data, text.length);
        answer[text.length] = '\0';
        assert_true(kind == MISHAP_ANSWER_JSON || kind == MISHAP_ANSWER_NOTHING);
    } else {
        assert_int_equal(kind, MISHAP_ANSWER_NOTHING);
        assert_int_equal(text.length, 0);
    }
    mishap_call_end(call);
    return answer;
}

/* -- pieces ------------------------------------------------------------------------------------ */

static void write_members(mishap_call *call)
{
    bool flag = false;
    mishap_answer_member(call, "name", "A\"da\n");
    mishap_answer_member(call, "k\"ey", 1);
    mishap_answer_member(call, "yes", true);
    mishap_answer_member(call, "no", false);
    mishap_answer_member(call, "flag", flag);
    mishap_answer_member(call, "left_out", mishap_value_none());
    mishap_answer_member(call, "none", (const char *)NULL);
    mishap_answer_member(call, "real", 1.5);
    mishap_answer_member(call, "nan", __builtin_nan(""));
    mishap_answer_member(call, "big", UINT64_MAX);
    mishap_answer_member(call, "bytes", ((mishap_text){ "a\xff\0b", 4 }));
    mishap_answer_member(call, "json", mishap_value_of_json(" [1, {\"a\" : 2}] "));
    mishap_answer_member(call, "no_json", mishap_value_of_json("1,\"admin\":true"));
}

static void write_nested(mishap_call *call)
{
    mishap_answer_object(call, "address");
    mishap_answer_member(call, "zip", "1");
    mishap_answer_end(call);
    mishap_answer_array(call, "lines");
    for (int i = 0; i < 2; i++) {
        mishap_answer_object(call, NULL);
        mishap_answer_member(call, "count", i);
        mishap_answer_array(call, "tags");
        mishap_answer_item(call, "a");
        mishap_answer_item(call, true);
        mishap_answer_item(call, mishap_value_none());
        mishap_answer_end(call);
        mishap_answer_end(call);
    }
    mishap_answer_array(call, NULL);
    mishap_answer_end(call);
    mishap_answer_json(call, NULL, "null");
    mishap_answer_end(call);
    mishap_answer_object(call, "empty");
    mishap_answer_end(call);
    mishap_answer_json(call, "piece", "{ \"x\" : [ ] }");
    mishap_answer_json(call, "nothing", NULL);
}

static void write_array(mishap_call *call)
{
    mishap_answer_array(call, NULL);
    mishap_answer_item(call, 1);
    mishap_answer_array(call, NULL);
    mishap_answer_item(call, 2);
}

static void write_items(mishap_call *call)
{
    mishap_answer_item(call, 1);
    mishap_answer_item(call, "two");
    mishap_answer_item(call, mishap_value_of_json("{\"three\":3}"));
}

static void write_piece(mishap_call *call)
{
    mishap_answer_json(call, NULL, "[ 1 , 2 ]");
}

static void write_scalar_piece(mishap_call *call)
{
    mishap_answer_json(call, NULL, "1");
    mishap_answer_json(call, NULL, "2");
}

static void write_object_alone(mishap_call *call)
{
    mishap_answer_object(call, NULL);
}

static void write_only_what_is_left_out(mishap_call *call)
{
    mishap_answer_member(call, "a", mishap_value_none());
}

static void write_twice(mishap_call *call)
{
    mishap_answer_array(call, NULL);
    mishap_answer_item(call, 1);
    mishap_answer(call, NULL);
    mishap_answer_member(call, "a", 1);
    mishap_answer_object(call, "b");
    mishap_answer(call, "{\"whole\" : 1}");
}

static void write_after_a_whole(mishap_call *call)
{
    mishap_answer(call, "{\"whole\":1}");
    mishap_answer_member(call, "a", 1);
}

static void write_and_say_created(mishap_call *call)
{
    mishap_answer_member(call, "a", 1);
    mishap_created(call, NULL, "/a/1");
}

static void write_and_say_no_content(mishap_call *call)
{
    mishap_answer_member(call, "a", 1);
    mishap_no_content(call);
}

static void write_deep(mishap_call *call)
{
    for (int i = 0; i < MISHAP_JSON_MAX_DEPTH; i++)
        mishap_answer_array(call, NULL);
}

static void pieces_add_up_to_one_answer(void **state)
{
    (void)state;
    char deep[2 * MISHAP_JSON_MAX_DEPTH + 1] = "";
    memset(deep, '[', MISHAP_JSON_MAX_DEPTH);
    memset(deep + MISHAP_JSON_MAX_DEPTH, ']', MISHAP_JSON_MAX_DEPTH);
    const struct {
        void (*handler)(mishap_call *call);
        const char *json;
    } answered[] = {
        { write_members,
          "{\"name\":\"A\\\"da\\n\",\"k\\\"ey\":1,\"yes\":true,\"no\":false,\"flag\":false,"
          "\"none\":null,\"real\":1.5,\"nan\":null,\"big\":18446744073709551615,"
          "\"bytes\":\"a\xef\xbf\xbd\xef\xbf\xbd"
          "b\",\"json\":[1,{\"a\":2}],"
          "\"no_json\":\"1,\\\"admin\\\":true\"}" },
        { write_nested,
          "{\"address\":{\"zip\":\"1\"},\"lines\":[{\"count\":0,\"tags\":[\"a\",true]},"
          "{\"count\":1,\"tags\":[\"a\",true]},[],null],\"empty\":{},\"piece\":{\"x\":[]},"
          "\"nothing\":null}" },
        { write_array, "[1,[2]]" },
        { write_items, "[1,\"two\",{\"three\":3}]" },
        { write_piece, "[1,2]" },
        { write_scalar_piece, "[1,2]" },
        { write_object_alone, "{}" },
        { write_only_what_is_left_out, "{}" },
        { write_twice, "{\"whole\":1}" },
        { write_after_a_whole, "{\"a\":1}" },
        { write_and_say_created, "{\"a\":1}" },
        { write_and_say_no_content, "(nothing)" },
        { write_deep, deep },
    };
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++) {
        mishap *failure;
        char *answer = answer_of(&operations[0], answered[i].handler, &failure);
        assert_null(failure);
        assert_string_equal(answer, answered[i].json);
        free(answer);
    }
}

/* -- mistakes of the program ------------------------------------------------------------------- */

static void give_an_item_a_name(mishap_call *call)
{
    mishap_answer_array(call, "a");
    mishap_answer_member(call, "k", 1);
}
static void leave_out_a_name(mishap_call *call)
{
    mishap_answer_object(call, "a");
    mishap_answer_item(call, 1);
}
static void leave_out_the_name_of_an_object(mishap_call *call)
{
    mishap_answer_member(call, "a", 1);
    mishap_answer_object(call, NULL);
}
static void name_a_member_nothing(mishap_call *call)
{
    mishap_answer_member(call, (const char *)NULL, 1);
}
static void end_what_is_not_open(mishap_call *call)
{
    mishap_answer_end(call);
}
static void end_too_often(mishap_call *call)
{
    mishap_answer_member(call, "a", 1);
    mishap_answer_end(call);
    mishap_answer_end(call);
}
static void go_on_after_the_end(mishap_call *call)
{
    mishap_answer_array(call, NULL);
    mishap_answer_end(call);
    mishap_answer_item(call, 1);
}
static void go_on_after_a_piece(mishap_call *call)
{
    mishap_answer_json(call, NULL, "{}");
    mishap_answer_member(call, "a", 1);
}
static void answer_two_values_as_a_piece(mishap_call *call)
{
    mishap_answer_json(call, "a", "1,\"admin\":true");
}
static void answer_a_key_twice_in_a_piece(mishap_call *call)
{
    mishap_answer_json(call, "a", "{\"x\":1,\"x\":2}");
}
static void answer_a_key_twice(mishap_call *call)
{
    mishap_answer_member(call, "a", 1);
    mishap_answer_member(call, "a", 2);
}
static void nest_too_deep(mishap_call *call)
{
    for (int i = 0; i <= MISHAP_JSON_MAX_DEPTH; i++)
        mishap_answer_array(call, NULL);
}

static void pieces_that_make_no_sense_end_the_call(void **state)
{
    (void)state;
    static const struct {
        void (*handler)(mishap_call *call);
        const char *why;
    } mistakes[] = {
        { give_an_item_a_name, "an item of an array with a name" },
        { leave_out_a_name, "a member of an object without a name" },
        { leave_out_the_name_of_an_object, "a member of an object without a name" },
        { name_a_member_nothing, "a member of an object without a name" },
        { end_what_is_not_open, "not open" },
        { end_too_often, "not open" },
        { go_on_after_the_end, "after the end" },
        { go_on_after_a_piece, "after the end" },
        { answer_two_values_as_a_piece, "JSON that is not valid" },
        { answer_a_key_twice_in_a_piece, "JSON that is not valid" },
        { answer_a_key_twice, "is not a JSON object" },
        { nest_too_deep, "too deep" },
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        mishap *failure;
        assert_null(answer_of(&operations[0], mistakes[i].handler, &failure));
        assert_non_null(failure);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_INTERNAL_ERROR);
        assert_non_null(strstr(failure->masked_message.data, mistakes[i].why));
        mishap_free(failure);
    }
}

static void an_answer_without_memory_fails_as_a_whole(void **state)
{
    (void)state;
    size_t failed = 0;
    char *answer = NULL;
    mishap_use_allocator(&failing_allocator);
    for (size_t at = 1; !answer; at++) {
        mishap *failure;
        calls = 0;
        fail_at = at;
        answer = answer_of(&operations[0], write_members, &failure);
        failed += failure != NULL;
        mishap_free(failure);
        fail_at = 0;
        assert_true(at < 200);
    }
    mishap_use_allocator(NULL);
    assert_int_equal(strncmp(answer, "{\"name\":", 8), 0);
    assert_true(failed > 1);
    assert_int_equal(blocks, 0);
    free(answer);
}

/* -- what is declared -------------------------------------------------------------------------- */

static void answer_a_number_for_a_boolean(mishap_call *call)
{
    mishap_answer_member(call, "deleted", 2);
}
static void answer_without_what_is_required(mishap_call *call)
{
    mishap_answer_member(call, "name", "x");
}
static void answer_null_for_what_is_required(mishap_call *call)
{
    mishap_answer_member(call, "deleted", (const char *)NULL);
}
static void answer_a_line_that_is_wrong(mishap_call *call)
{
    mishap_answer(call, "{\"deleted\":true,\"lines\":[{\"title\":\"\",\"count\":9},"
                        "{\"title\":\"b\",\"count\":10}]}");
}
static void answer_an_array(mishap_call *call)
{
    mishap_answer_item(call, 1);
}
static void answer_nothing(mishap_call *call)
{
    mishap_answer(call, NULL);
}

static void an_answer_that_does_not_fit_is_an_internal_error(void **state)
{
    (void)state;
    static const struct {
        void (*handler)(mishap_call *call);
        const char *where;
    } misfits[] = {
        { answer_a_number_for_a_boolean, "deleted: invalid_type" },
        { answer_without_what_is_required, "deleted: field_required" },
        { answer_null_for_what_is_required, "deleted: field_required" },
        { answer_a_line_that_is_wrong, "lines[1].count: value_out_of_range" },
        { answer_an_array, "the answer is an array, but an object is declared" },
        { answer_nothing, "the handler has answered nothing" },
    };
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++) {
        mishap *failure;
        assert_null(answer_of(&operations[1], misfits[i].handler, &failure));
        assert_non_null(failure);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_INTERNAL_ERROR);
        assert_string_equal(failure->masked_message.data,
                            "The answer of bound does not match its declaration.");
        assert_string_equal(failure->noted->value.text.data, misfits[i].where);
        mishap_free(failure);
    }
}

static void answer_as_declared(mishap_call *call)
{
    mishap_answer_member(call, "deleted", call != NULL); /* an int in C */
    mishap_answer_member(call, "name", "");
    mishap_answer_array(call, "lines");
    mishap_answer_object(call, NULL);
    mishap_answer_member(call, "gift", call == NULL);
    mishap_answer_array(call, "flags");
    mishap_answer_item(call, 1 > 0);
    mishap_answer_end(call);
    mishap_answer_json(call, "title", "\"a\\u0000b\"");
    mishap_answer_member(call, "count", (const char *)NULL);
    mishap_answer_member(call, "more", 1);
    mishap_answer_end(call);
    mishap_answer_object(call, NULL);
    mishap_answer_member(call, "title", "b");
    mishap_answer_member(call, "count", 1); /* declared as an integer: it stays one */
}

static void answer_content_blocks(mishap_call *call)
{
    mishap_answer_content(call, "[{\"type\":\"text\",\"text\":\"a\"}]");
}

static void an_answer_that_fits_is_sent_as_it_is(void **state)
{
    (void)state;
    mishap *failure;
    char *answer = answer_of(&operations[1], answer_as_declared, &failure);
    assert_null(failure);
    assert_string_equal(answer,
                        "{\"deleted\":true,\"name\":\"\",\"lines\":[{\"gift\":false,"
                        "\"flags\":[true],\"title\":\"a\\u0000b\",\"count\":null,\"more\":1},"
                        "{\"title\":\"b\",\"count\":1}]}");
    free(answer);
    /* `.answers` says nothing of content blocks. */
    answer = answer_of(&operations[1], answer_content_blocks, &failure);
    assert_null(failure);
    assert_string_equal(answer, "[{\"type\":\"text\",\"text\":\"a\"}]");
    free(answer);
}

static void a_failure_drops_what_was_written(void **state)
{
    (void)state;
    mishap_call *call;
    mishap_answer_kind kind;
    written = write_array;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    returned = mishap_raise(BAD_REQUEST, "No.");
    mishap *failure = mishap_call_run(call);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_BAD_REQUEST);
    assert_int_equal(mishap_call_answer(call, &kind).length, 0);
    assert_int_equal(kind, MISHAP_ANSWER_NOTHING);
    mishap_free(failure);
    mishap_call_end(call);
}

static void answer_a_report(mishap_call *call)
{
    mishap_answer(call, "{\"findings\" : 3}");
}

static void a_whole_answer_may_come_with_a_failure(void **state)
{
    (void)state;
    mishap_call *call;
    mishap_answer_kind kind;
    written = answer_a_report;
    assert_null(mishap_call_begin(&app, &operations[1], T("{}"), &call));
    returned = mishap_raise(BAD_REQUEST, "No.");
    mishap *failure = mishap_call_run(call);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_BAD_REQUEST);
    assert_true(mishap_text_equal(mishap_call_answer(call, &kind), T("{\"findings\":3}")));
    mishap_free(failure);
    mishap_call_end(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pieces_add_up_to_one_answer),
        TEST(pieces_that_make_no_sense_end_the_call),
        TEST(an_answer_without_memory_fails_as_a_whole),
        TEST(an_answer_that_does_not_fit_is_an_internal_error),
        TEST(an_answer_that_fits_is_sent_as_it_is),
        TEST(a_failure_drops_what_was_written),
        TEST(a_whole_answer_may_come_with_a_failure),
    };
    return RUN(tests);
}
