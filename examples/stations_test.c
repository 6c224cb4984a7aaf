/* The tests of the weather stations: they call its operations as a program would. */
#include <mishap/test.h>

/* The service is one file, and this is a program of its own. */
int stations_main(int argc, char **argv);
#define main stations_main
#include "stations.c"
#undef main

static void list_some(mishap_test *t)
{
    mishap_test_call(t, "list", "{\"region\":\"north\"}");
    mishap_expect_value(t, "stations[0].name", "Alta");
    mishap_expect_value(t, "stations[1].name", "Oulu");
    mishap_expect_nothing(t, "stations[2]");
    mishap_test_call(t, "list", NULL);
    mishap_expect_value(t, "stations[3].region", "south");
    mishap_test_call(t, "list", "{\"region\":\"east\"}");
    mishap_expect_code(t, VALIDATION_ERROR);
}

static void show(mishap_test *t)
{
    mishap_test_call(t, "page", NULL);
    mishap_expect_ok(t);
}

int main(void)
{
    mishap_test *t = mishap_test_begin(&app);
    mishap_expect_getters(t);
    list_some(t);
    show(t);
    return mishap_test_end(t);
}
