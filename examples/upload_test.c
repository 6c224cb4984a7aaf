/* The tests of the upload: its operation called as a C program would. */
#include <mishap/test.h>

int upload_main(int argc, char **argv);
#define main upload_main
#include "upload.c"
#undef main

static void files(mishap_test *t)
{
    mishap_test_call(t, "files.measure", "{\"file\":\"aGVsbG8K\",\"label\":\"a word\"}");
    mishap_expect_value(t, "bytes", 6);
    mishap_expect_value(t, "lines", 1);
    mishap_expect_value(t, "adler32", 0x084B021F);
    mishap_expect_value(t, "label", "a word");
    mishap_expect_nothing(t, "name");
    mishap_test_call(t, "files.measure", "{\"file\":\"data:text/plain;name=a.txt;base64,\"}");
    mishap_expect_value(t, "bytes", 0);
    mishap_expect_value(t, "adler32", 1);
    mishap_expect_value(t, "name", "a.txt");
    mishap_test_call(t, "files.measure", "{}");
    mishap_expect_code(t, VALIDATION_ERROR);
}

int main(void)
{
    const mishap_app app = { .name = "upload", .operations = operations };
    mishap_test *t = mishap_test_begin(&app);
    files(t);
    mishap_expect_getters(t);
    return mishap_test_end(t);
}
