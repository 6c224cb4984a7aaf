/* Ids of tasks: they prove their owner, and nothing that is not an id does. */
#include "testing.h"

#include "task/task.h"

static const unsigned char secret[MISHAP_TASK_SECRET] = "0123456789abcdef0123456789abcde";

static void make(const char *owner, char id[MISHAP_TASK_ID + 1])
{
    mishap_task_key_draw(id);
    mishap_task_id_prove(secret, mishap_text_of(owner), id);
}

static void an_id_proves_its_owner_alone(void **state)
{
    char owner[MISHAP_TASK_OWNER + 1], other[MISHAP_TASK_OWNER + 1], id[MISHAP_TASK_ID + 1];
    const unsigned char another[MISHAP_TASK_SECRET] = "another";
    (void)state;
    mishap_task_owner_write(7, owner);
    mishap_task_owner_write(8, other);
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
    mishap_task_owner_write(UINT64_MAX, owner);
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
    mishap_task_owner_write(1, owner);
    make(owner, id);
    for (size_t length = 0; length < MISHAP_TASK_ID; length++)
        assert_false(
            mishap_task_id_check(secret, mishap_text_of(owner), (mishap_text){ id, length }));
}

static void two_ids_differ(void **state)
{
    char one[MISHAP_TASK_ID + 1], other[MISHAP_TASK_ID + 1];
    (void)state;
    mishap_task_key_draw(one);
    mishap_task_key_draw(other);
    assert_memory_not_equal(one, other, MISHAP_TASK_KEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_id_proves_its_owner_alone),
        TEST(each_changed_character_is_noticed),
        TEST(what_has_another_length_is_none),
        TEST(two_ids_differ),
    };
    return RUN(tests);
}
