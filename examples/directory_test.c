/*
 * The tests of the directory: its operations called as a C program would. The same file tests
 * directory.cc, if it is compiled as C++:
 *
 *     cc -o directory_test directory_test.c $(pkg-config --cflags --libs mishap)
 *     c++ -std=c++20 -o directory_test -x c++ directory_test.c -x none \
 *         $(pkg-config --cflags --libs mishap)
 */
#include <mishap/test.h>

#include <stdio.h>

/* The program is one file, and this is a program of its own. */
int directory_main(int argc, char **argv);
#define main directory_main
#ifdef __cplusplus
#include "directory.cc"
#else
#include "directory.c"
#endif
#undef main

static const char ada[] = "{\"name\":\"Ada \\\"A.\\\" Lovelace\",\"age\":36,"
                          "\"email\":\"ada@example.com\"}";

static void create(mishap_test *t)
{
    mishap_test_call(t, "users.list", NULL);
    mishap_expect_answer(t, "[]");
    mishap_test_call(t, "users.create", ada);
    mishap_expect_answer(t, ada);
    mishap_expect_status(t, 201);
    mishap_test_call_with(t, "users.create",
                          MISHAP_PAIRS({ "name", MISHAP_VALUE("Bob") },
                                       { "email", MISHAP_VALUE("bob@example.com") }));
    mishap_expect_value(t, "name", "Bob");
    mishap_expect_nothing(t, "age");
    mishap_test_call(t, "users.create", ada);
    mishap_expect_code(t, ALREADY_EXISTS);
    mishap_expect_told(t, "email", "ada@example.com");
    mishap_expect_status(t, 409);
}

static void look_up(mishap_test *t)
{
    mishap_test_call(t, "users.get", "{\"email\":\"ada@example.com\"}");
    mishap_expect_answer(t, ada);
    mishap_test_call(t, "users.get", "{\"email\":\"ada@example.co\"}");
    mishap_expect_code(t, NOT_FOUND);
    mishap_test_call(t, "users.list", NULL);
    mishap_expect_value(t, "[0].age", 36);
    mishap_expect_value(t, "[1].email", "bob@example.com");
    mishap_expect_nothing(t, "[2]");
}

static void refuse(mishap_test *t)
{
    mishap_test_call(t, "users.create", "{\"name\":\"\",\"age\":200,\"email\":\"invalid\"}");
    mishap_expect_code(t, VALIDATION_ERROR);
    mishap_expect_field(t, "name", "field_required");
    mishap_expect_field(t, "age", "value_out_of_range");
    mishap_expect_field(t, "email", "pattern_mismatch");
    mishap_test_call(t, "users.get", "{\"email\":7}");
    mishap_expect_field(t, "email", "invalid_type");
}

/* A folder is no file that can be written. */
static void fail(mishap_test *t, char *file, size_t size)
{
    snprintf(file, size, "%s", mishap_test_folder(t));
    mishap_test_call(t, "users.create", ada);
    mishap_expect_code(t, UNAVAILABLE);
}

int main(void)
{
    static char file[4096]; /* the state of the program: where the users are */
    mishap_app app = { .name = "directory", .version = "1.0", .operations = operations };
    app.state = file;
    mishap_test *t = mishap_test_begin(&app);
    snprintf(file, sizeof file, "%s/users.txt", mishap_test_folder(t));
    create(t);
    look_up(t);
    refuse(t);
    mishap_expect_getters(t);
    fail(t, file, sizeof file);
    return mishap_test_end(t);
}
