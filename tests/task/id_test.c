/* Ids of tasks: they prove their owner, and nothing that is not an id does. */
#include "testing.h"

#include "task/task.h"

static const unsigned char secret[MISHAP_TASK_SECRET] = "0123456789abcdef0123456789abcde";

static void make(const char *owner, char id[MISHAP_TASK_ID + 1])
{
    mishap_task_key_draw(id);
    mishap_task_id_prove(secret, mishap_text_of(owner), id);
}

static void write_owner(uint64_t number, const char *name, const char *remote, char *owner)
{
    mishap_task_asker asker = { number, name, mishap_text_of(remote) };
    mishap_task_owner_write(&asker, owner);
}

static void an_id_proves_its_owner_alone(void **state)
{
    char owner[MISHAP_TASK_OWNER + 1], other[MISHAP_TASK_OWNER + 1], id[MISHAP_TASK_ID + 1];
    const unsigned char another[MISHAP_TASK_SECRET] = "another";
    (void)state;
    write_owner(7, "ada", "", owner);
    write_owner(8, "ada", "", other);
    make(owner, id);
    assert_int_equal(strlen(id), MISHAP_TASK_ID);
    assert_true(mishap_task_id_check(secret, mishap_text_of(owner), mishap_text_of(id)));
    assert_false(mishap_task_id_check(secret, mishap_text_of(other), mishap_text_of(id)));
    assert_false(mishap_task_id_check(another, mishap_text_of(owner), mishap_text_of(id)));
}

static void each_changed_character_is_noticed(void **state)
{
    char owner[MISHAP_TASK_OWNER + 1], id[MISHAP_TASK_ID + 1];
    (void)state;
    write_owner(UINT64_MAX, "ada", "", owner);
    make(owner, id);
    for (size_t i = 0; i < MISHAP_TASK_ID; i++) {
        char was = id[i];
        id[i] = was == 'A' ? 'B' : 'A';
        assert_false(mishap_task_id_check(secret, mishap_text_of(owner), mishap_text_of(id)));
        id[i] = was;
    }
}

static void what_has_another_length_is_none(void **state)
{
    char owner[MISHAP_TASK_OWNER + 1], id[MISHAP_TASK_ID + 1];
    (void)state;
    write_owner(1, NULL, "", owner);
    make(owner, id);
    for (size_t length = 0; length < MISHAP_TASK_ID; length++)
        assert_false(
            mishap_task_id_check(secret, mishap_text_of(owner), (mishap_text){ id, length }));
}

/* Names whose numbers agree are two owners, and so are numbers whose names agree. */
static void owners_are_compared_by_name_and_number(void **state)
{
    static const struct {
        uint64_t number;
        const char *name, *remote;
    } owners[] = {
        { 7, "ada", "" },
        { 7, "bob", "" },
        { 8, "ada", "" },
        { 7, NULL, "" },
        { 0, "ada", "192.0.2.1" },
        { 0, "ada", "192.0.2.2" },
        { 0, NULL, "2001:db8::1" },
        { 0, NULL, "2001:db8:0:1::1" },
        { 0, NULL, "" },
    };
    enum { COUNT = sizeof owners / sizeof *owners };
    char one[MISHAP_TASK_OWNER + 1], other[MISHAP_TASK_OWNER + 1];
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            bool unnamed = !owners[i].number && !owners[j].number;
            write_owner(owners[i].number, owners[i].name, owners[i].remote, one);
            write_owner(owners[j].number, owners[j].name, owners[j].remote, other);
            assert_int_equal(strcmp(one, other) == 0, i == j);
            assert_int_equal(mishap_task_owner_is(mishap_text_of(one), mishap_text_of(other)),
                             i == j || unnamed);
        }
}

static void an_ipv6_address_counts_for_its_network(void **state)
{
    char one[MISHAP_TASK_OWNER + 1], other[MISHAP_TASK_OWNER + 1];
    (void)state;
    write_owner(0, NULL, "2001:db8::1", one);
    write_owner(0, NULL, "2001:db8::ffff:1", other);
    assert_string_equal(one, other);
}

static void an_id_without_a_name_is_proved_from_any_address(void **state)
{
    char here[MISHAP_TASK_OWNER + 1], there[MISHAP_TASK_OWNER + 1], id[MISHAP_TASK_ID + 1];
    (void)state;
    write_owner(0, NULL, "192.0.2.1", here);
    write_owner(0, NULL, "192.0.2.2", there);
    make(here, id);
    assert_true(mishap_task_id_check(secret, mishap_text_of(there), mishap_text_of(id)));
    write_owner(7, "ada", "192.0.2.1", there);
    assert_false(mishap_task_id_check(secret, mishap_text_of(there), mishap_text_of(id)));
}

static void a_long_name_is_cut_and_no_other_owner(void **state)
{
    char name[1000], one[MISHAP_TASK_OWNER + 1], other[MISHAP_TASK_OWNER + 1];
    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    write_owner(7, name, "", one);
    write_owner(8, name, "", other);
    assert_int_equal(strlen(one), MISHAP_TASK_OWNER);
    assert_string_not_equal(one, other);
}

static void two_ids_differ(void **state)
{
    char one[MISHAP_TASK_ID + 1], other[MISHAP_TASK_ID + 1];
    (void)state;
    mishap_task_key_draw(one);
    mishap_task_key_draw(other);
    assert_memory_not_equal(one, other, MISHAP_TASK_KEY);
}

/* A command would take a hyphen for an option. */
static void an_id_begins_with_a_letter(void **state)
{
    char id[MISHAP_TASK_ID + 1];
    (void)state;
    for (int i = 0; i < 1000; i++) {
        mishap_task_key_draw(id);
        assert_true((id[0] >= 'A' && id[0] <= 'Z') || (id[0] >= 'a' && id[0] <= 'z'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_id_proves_its_owner_alone),
        TEST(each_changed_character_is_noticed),
        TEST(what_has_another_length_is_none),
        TEST(owners_are_compared_by_name_and_number),
        TEST(an_ipv6_address_counts_for_its_network),
        TEST(an_id_without_a_name_is_proved_from_any_address),
        TEST(a_long_name_is_cut_and_no_other_owner),
        TEST(two_ids_differ),
        TEST(an_id_begins_with_a_letter),
    };
    return RUN(tests);
}
