/* src/incident/group.c and fit.c: what makes a group of failures, and where a long record is cut;
 * and what is read as an id (record.c). */
#include "testing.h"

#include <stdlib.h>

#include "base/base.h"
#include "incident/fit.h"
#include "incident/group.h"
#include "incident/record.h"
#include "mishap/inside.h"

/* -- groups ------------------------------------------------------------------------------------ */

/* The group of a failure with this place and stack. */
static uint64_t group_at(const char *operation, const char *file, int line,
                         const void *const *stack, size_t count)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "It failed.");
    m->place = (mishap_place){ .file = file, .line = line, .function = "run" };
    m->trace.count = count;
    for (size_t i = 0; i < count; i++)
        m->trace.addresses[i] = (void *)((uintptr_t)stack[i] + 1); /* a return address */
    uint64_t group = mishap_incident_group(operation, m);
    mishap_free(m);
    return group;
}

#define IN(function) (const void *)(uintptr_t)(function)

static void a_group_is_operation_code_and_place(void **state)
{
    (void)state;
    uint64_t group = group_at("todos.get", "todo.c", 12, NULL, 0);
    assert_true(group != 0);
    assert_true(group == group_at("todos.get", "todo.c", 12, NULL, 0));
    assert_true(group == group_at("todos.get", "../../todo.c", 12, NULL, 0));
    assert_true(group != group_at("todos.get", "todo.c", 13, NULL, 0));
    assert_true(group != group_at("todos.get", "rows.c", 12, NULL, 0));
    assert_true(group != group_at("todos.add", "todo.c", 12, NULL, 0));
    assert_true(group != group_at(NULL, "todo.c", 12, NULL, 0));
    mishap *other = mishap_raise(TIMEOUT, "It failed.");
    other->place = (mishap_place){ .file = "todo.c", .line = 12, .function = "run" };
    other->trace.count = 0;
    assert_true(group != mishap_incident_group("todos.get", other));
    mishap_free(other);
}

static void the_top_three_functions_count(void **state)
{
    (void)state;
    const void *const one[] = { IN(strlen), IN(abort), IN(qsort), IN(getenv) };
    const void *const fourth[] = { IN(strlen), IN(abort), IN(qsort), IN(exit) };
    const void *const third[] = { IN(strlen), IN(abort), IN(exit), IN(getenv) };
    const void *const first[] = { IN(exit), IN(abort), IN(qsort), IN(getenv) };
    uint64_t group = group_at("todos.get", "todo.c", 12, one, 4);
    assert_true(group == group_at("todos.get", "todo.c", 12, fourth, 4));
    assert_true(group != group_at("todos.get", "todo.c", 12, third, 4));
    assert_true(group != group_at("todos.get", "todo.c", 12, first, 4));
}

/* The group of findings, each a field and an error, in a list that ends with NULL. */
static uint64_t group_of_findings(const char *const *findings)
{
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    for (; *findings; findings += 2)
        m = mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(findings[0]),
                                                 .error = mishap_text_of(findings[1]) });
    uint64_t group = mishap_incident_group("users.create", m);
    mishap_free(m);
    return group;
}

#define FINDINGS(...) group_of_findings((const char *const[]){ __VA_ARGS__, NULL })

static void a_caller_cannot_make_groups_with_its_arguments(void **state)
{
    (void)state;
    uint64_t one = FINDINGS("items[0].name", "field_required");
    assert_true(one == FINDINGS("items[7].name", "field_required"));
    assert_true(one ==
                FINDINGS("items[0].name", "field_required", "items[1].name", "field_required"));
    assert_true(one != FINDINGS("items[0].name", "pattern_mismatch"));
    assert_true(one != FINDINGS("items[0].age", "field_required"));
    uint64_t two = FINDINGS("name", "field_required", "age", "value_out_of_range");
    assert_true(two == FINDINGS("age", "value_out_of_range", "name", "field_required"));
    assert_true(two != FINDINGS("name", "field_required"));
    assert_true(FINDINGS("invented", "unknown_field") == FINDINGS("another", "unknown_field"));
}

/* An operator has decided about a group, so its number stays as it was in an earlier version: here
 * with texts of each length up to nine bytes. */
static void the_number_of_a_group_stays(void **state)
{
    (void)state;
    assert_true(FINDINGS("a", "field_required", "ab", "field_required", "abc", "field_required",
                         "abcd", "field_required", "abcde", "field_required", "abcdef",
                         "field_required", "abcdefg", "field_required", "abcdefgh",
                         "field_required", "abcdefghi",
                         "field_required") == UINT64_C(0x7917887ac415317e));
}

/* A command looks its functions up once, and a server remembers them. */
static void a_command_and_a_server_name_the_same_group(void **state)
{
    (void)state;
    const void *const stack[] = { IN(group_at), IN(strlen), IN(qsort), IN(abort) };
    enum { COUNT = sizeof stack / sizeof *stack };
    mishap_symbol symbols[MISHAP_TRACE_MAX];
    for (size_t count = 0; count <= COUNT; count++) {
        mishap *m = mishap_raise(INTERNAL_ERROR, "It failed.");
        m->trace.count = count;
        for (size_t i = 0; i < count; i++)
            m->trace.addresses[i] = (void *)((uintptr_t)stack[i] + 1);
        mishap_symbols_find_trace(symbols, &m->trace);
        uint64_t group = mishap_incident_group_once("todos.get", m, symbols);
        assert_true(group == mishap_incident_group("todos.get", m));
        assert_true(group == mishap_incident_group_once("todos.get", m, NULL));
        mishap_free(m);
    }
}

/* -- ids --------------------------------------------------------------------------------------- */

static void an_id_has_small_digits_in_all_of_its_places(void **state)
{
    (void)state;
    static const char good[] = "01a1f663-e141-74c4-a0cb-9876543210ef";
    static const unsigned char bytes[16] = { 0x01, 0xa1, 0xf6, 0x63, 0xe1, 0x41, 0x74, 0xc4,
                                             0xa0, 0xcb, 0x98, 0x76, 0x54, 0x32, 0x10, 0xef };
    unsigned char found[16];
    static const unsigned char none[16];
    assert_true(mishap_record_read_id(good, found));
    assert_memory_equal(found, bytes, sizeof bytes);
    for (size_t at = 0; at < sizeof good - 1; at++)
        for (int c = 1; c < 256; c++) {
            char id[sizeof good];
            memcpy(id, good, sizeof good);
            id[at] = (char)c;
            bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || good[at] == '-';
            assert_int_equal(mishap_record_read_id(id, found), digit);
            if (!digit)
                assert_memory_equal(found, none, sizeof none);
        }
    assert_false(mishap_record_read_id("01a1f663-e141-74c4-a0cb-9876543210e", found));
    assert_false(mishap_record_read_id("01a1f663-e141-74c4-a0cb-9876543210eff", found));
    assert_false(mishap_record_read_id(NULL, found));
}

/* -- cutting ----------------------------------------------------------------------------------- */

/* An object with one string of this piece, again and again, behind some letters. */
static void put_long_object(mishap_buffer *json, const char *piece, size_t letters)
{
    MISHAP_PUT(json, "{\"text\":\"");
    for (size_t i = 0; i < letters; i++)
        mishap_buffer_put_char(json, 'x');
    while (json->length < 2 * MISHAP_INCIDENT_LINE)
        mishap_buffer_put_text(json, mishap_text_of(piece));
    MISHAP_PUT(json, "\"}");
}

/* A reader refuses half a character, half an escape and half a pair of surrogates. */
static void a_cut_leaves_no_half_of_a_character(void **state)
{
    (void)state;
    static const char *const pieces[] = { "é", "€", "😀", "\\n", "\\u20ac", "\\ud83d\\ude00" };
    mishap_json_reader reader = MISHAP_JSON_READER;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t letters = 0; letters < 12; letters++) {
            mishap_buffer json = { 0 };
            put_long_object(&json, pieces[i], letters);
            mishap_incident_fit(&json);
            assert_false(json.failed);
            assert_true(json.length < MISHAP_INCIDENT_LINE);
            assert_true(json.length > MISHAP_INCIDENT_LINE / 2);
            if (!mishap_json_read(&reader, mishap_buffer_text(&json)))
                fail_msg("%s behind %zu letters is cut in two", pieces[i], letters);
            mishap_buffer_release(&json);
        }
    mishap_json_reader_release(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_operation_code_and_place),
        cmocka_unit_test(the_top_three_functions_count),
        cmocka_unit_test(a_caller_cannot_make_groups_with_its_arguments),
        cmocka_unit_test(the_number_of_a_group_stays),
        cmocka_unit_test(a_command_and_a_server_name_the_same_group),
        cmocka_unit_test(an_id_has_small_digits_in_all_of_its_places),
        cmocka_unit_test(a_cut_leaves_no_half_of_a_character),
    };
    return RUN(tests);
}
