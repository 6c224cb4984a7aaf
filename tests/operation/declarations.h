/* Declarations, and the sentence that each is refused with. */
#ifndef MISHAP_DECLARATIONS_H
#define MISHAP_DECLARATIONS_H

#include <unistd.h>

#include "mishap/main.h"
#include "operation/findings.h"
#include "testing.h"

static inline mishap *run(mishap_call *call)
{
    (void)call;
    return NULL;
}

/* The sentence must be this; NULL: the program is sound. */
static inline void assert_app(const mishap_app *app, const char *sentence)
{
    mishap *m = mishap_declaration_check(app);
    if (!sentence) {
        if (m)
            fail_msg("%s", mishap_public_message(mishap_told(m)).data);
        return;
    }
    if (!m)
        fail_msg("should be refused: %s", sentence);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    assert_string_equal(mishap_public_message(mishap_told(m)).data, sentence);
    mishap_free(m);
}

static inline void assert_operations(const mishap_operation *operations, const char *sentence)
{
    assert_app(&(mishap_app){ .name = "directory", .operations = operations }, sentence);
}

/* An operation that is sound but for what is given. */
#define OPERATION(...)                                                                             \
    ((const mishap_operation[]){                                                                   \
        { .name = "users.create", .summary = "Create a user", .run = run, __VA_ARGS__ }, { 0 } })

#define ASSERT_OPERATION(why, ...)                                                                 \
    assert_operations(OPERATION(__VA_ARGS__),                                                      \
                      "The declaration of the operation `users.create` is not valid: " why ".")

#define ASSERT_SOUND(...) assert_operations(OPERATION(__VA_ARGS__), NULL)

#define PARAMS(...)                                                                                \
    .params = (const mishap_param[])                                                               \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

#pragma GCC diagnostic ignored "-Woverride-init"

#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

#define TWO(first, second, ...)                                                                    \
    ((const mishap_operation[]){ { .name = first, .summary = "One", .run = run, __VA_ARGS__ },     \
                                 { .name = second, .summary = "Two", .run = run, __VA_ARGS__ },    \
                                 { 0 } })

/* The first line that a program says on standard error, which ends with this exit code. */
static inline void assert_program_says(const mishap_app *app, int status, const char *line)
{
    char said[400] = "", *argv[] = { (char[]){ "directory" }, (char[]){ "--version" }, NULL };
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO), out = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(file), STDERR_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    int ended = mishap_main(2, argv, app);
    fflush(stdout);
    dup2(before, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    close(before);
    close(out);
    rewind(file);
    assert_non_null(fgets(said, sizeof said, file));
    fclose(file);
    said[strcspn(said, "\n")] = '\0';
    assert_string_equal(said, line);
    assert_int_equal(ended, status);
}

#endif
