/* Counters that worker processes write and loops read. */
#include "base/tally.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/shared.h"
#include "testing.h"

static void what_another_process_counts_is_read(void **state)
{
    (void)state;
    mishap_tally_add(MISHAP_TALLY_SQLITE_QUERIES); /* nothing is counted yet */
    assert_int_equal(mishap_tally_read(MISHAP_TALLY_SQLITE_QUERIES), 0);
    assert_true(mishap_tallies_begin());
    assert_true(mishap_tallies_begin());
    pid_t child = fork();
    if (child == 0) {
        mishap_shared_leave(); /* as a worker does */
        for (int i = 0; i < 1000; i++)
            mishap_tally_add(MISHAP_TALLY_SQLITE_QUERIES);
        mishap_tally_add(MISHAP_TALLY_POSTGRESQL_FAILURES);
        _exit(0);
    }
    for (int i = 0; i < 1000; i++)
        mishap_tally_add(MISHAP_TALLY_SQLITE_QUERIES);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(mishap_tally_read(MISHAP_TALLY_SQLITE_QUERIES), 2000);
    assert_int_equal(mishap_tally_read(MISHAP_TALLY_SQLITE_FAILURES), 0);
    assert_int_equal(mishap_tally_read(MISHAP_TALLY_POSTGRESQL_FAILURES), 1);
    mishap_tallies_end();
    assert_int_equal(mishap_tally_read(MISHAP_TALLY_SQLITE_QUERIES), 0);
    mishap_tallies_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(what_another_process_counts_is_read) };
    return RUN(tests);
}
