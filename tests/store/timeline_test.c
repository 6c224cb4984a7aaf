/* The timelines that a server has seen: kept over restarts, shared by processes, whatever the file
 * has. */
#include "store/timeline.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

enum { CLUSTER = 7000, OTHER = 9000 };

static char folder[64], path[128];

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/mishap-timelines-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/timelines", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return remove_tree(folder);
}

static bool admit(store_timelines *t, uint64_t cluster, uint32_t timeline)
{
    uint32_t highest;
    return mishap_timelines_admit(t, cluster, timeline, &highest);
}

static void a_lower_timeline_is_refused_also_after_a_restart(void **state)
{
    store_timelines t;
    uint32_t highest = 0;
    (void)state;
    mishap_timelines_open(&t, folder);
    assert_true(admit(&t, CLUSTER, 5));
    assert_true(admit(&t, CLUSTER, 5));
    assert_true(admit(&t, CLUSTER, 6));
    assert_false(admit(&t, CLUSTER, 5));
    mishap_timelines_close(&t);
    mishap_timelines_open(&t, folder);
    assert_false(mishap_timelines_admit(&t, CLUSTER, 5, &highest));
    assert_int_equal(highest, 6);
    assert_true(admit(&t, CLUSTER, 6));
    mishap_timelines_close(&t);
}

/* A dump that was restored, or pg_upgrade, begins anew. */
static void another_cluster_has_timelines_of_its_own(void **state)
{
    store_timelines t;
    (void)state;
    mishap_timelines_open(&t, folder);
    assert_true(admit(&t, CLUSTER, 9));
    assert_true(admit(&t, OTHER, 1));
    assert_false(admit(&t, CLUSTER, 8));
    assert_true(admit(&t, UINT64_MAX, UINT32_MAX));
    assert_false(admit(&t, UINT64_MAX, 1));
    assert_true(admit(&t, OTHER, 1));
    mishap_timelines_close(&t);
}

static void a_process_learns_that_another_has_seen_a_higher_one(void **state)
{
    store_timelines one, other;
    (void)state;
    mishap_timelines_open(&one, folder);
    mishap_timelines_open(&other, folder);
    assert_false(mishap_timelines_overtaken(&one));
    assert_true(admit(&one, CLUSTER, 5));
    assert_true(admit(&other, CLUSTER, 5));
    assert_false(mishap_timelines_overtaken(&one));
    assert_true(admit(&other, CLUSTER, 6));
    assert_true(mishap_timelines_overtaken(&one));
    assert_false(mishap_timelines_overtaken(&other));
    assert_false(admit(&one, CLUSTER, 5));
    mishap_timelines_close(&one);
    mishap_timelines_close(&other);
}

static void without_a_folder_only_the_process_knows(void **state)
{
    store_timelines t;
    const char *const folders[] = { NULL, "", "/nowhere/at/all" };
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        mishap_timelines_open(&t, folders[i]);
        assert_true(admit(&t, CLUSTER, 3));
        assert_false(admit(&t, CLUSTER, 2));
        assert_false(mishap_timelines_overtaken(&t));
        mishap_timelines_close(&t);
    }
}

static void write_file(const char *text, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(file, text, length), length);
    close(file);
}

/* Damaged lines say nothing, are written anew, and leave the others alone. */
static void whatever_the_file_has_the_rest_of_it_holds(void **state)
{
    static const char good[] = "00000000000000007000 0000000005\n";
    static const char *const bad[] = {
        "",
        "x",
        "\n\n\n\n",
        "00000000000000007000 99999999999\n",
        "99999999999999999999 0000000001\n",
        "00000000000000007000-0000000009\n",
        "0000000000000000700\n 0000000009\n",
        ("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
         "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        store_timelines t;
        int length = snprintf(text, sizeof text, "%s%.32s%s", good, bad[i], bad[i]);
        write_file(text, (size_t)length);
        mishap_timelines_open(&t, folder);
        assert_false(admit(&t, CLUSTER, 4));
        assert_true(admit(&t, OTHER, 2));
        assert_false(admit(&t, OTHER, 1));
        assert_false(admit(&t, CLUSTER, 4));
        mishap_timelines_close(&t);
        mishap_timelines_open(&t, folder);
        assert_false(admit(&t, OTHER, 1));
        mishap_timelines_close(&t);
    }
}

static void a_file_that_becomes_short_refuses_nothing_and_harms_nothing(void **state)
{
    store_timelines t;
    (void)state;
    mishap_timelines_open(&t, folder);
    assert_true(admit(&t, CLUSTER, 5));
    assert_int_equal(truncate(path, 3), 0);
    assert_false(mishap_timelines_overtaken(&t));
    assert_false(admit(&t, CLUSTER, 4)); /* this process knows */
    assert_true(admit(&t, CLUSTER, 5));
    mishap_timelines_close(&t);
    mishap_timelines_open(&t, folder);
    assert_false(admit(&t, CLUSTER, 4));
    mishap_timelines_close(&t);
}

static void only_the_user_can_read_it(void **state)
{
    struct stat found;
    store_timelines t;
    (void)state;
    mishap_timelines_open(&t, folder);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    mishap_timelines_close(&t);
}

int main(void)
{
#define TIMELINE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TIMELINE(a_lower_timeline_is_refused_also_after_a_restart),
        TIMELINE(another_cluster_has_timelines_of_its_own),
        TIMELINE(a_process_learns_that_another_has_seen_a_higher_one),
        TIMELINE(without_a_folder_only_the_process_knows),
        TIMELINE(whatever_the_file_has_the_rest_of_it_holds),
        TIMELINE(a_file_that_becomes_short_refuses_nothing_and_harms_nothing),
        TIMELINE(only_the_user_can_read_it),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
