/* A program with a declaration that is wrong: two of its operations have one name. With CHECKED=1
 * it says that its build has checked them. */
#include <stdlib.h>

#include <mishap/cli.h>
#include <mishap/operation.h>

static mishap *run_sound(mishap_call *call)
{
    return mishap_answer_member(call, "done", 1);
}

static const mishap_operation operations[] = {
    { .name = "sound", .summary = "Do it", .run = run_sound },
    { .name = "twice", .summary = "Do it", .run = run_sound },
    { .name = "twice", .summary = "Do it again", .run = run_sound },
    { 0 },
};

int main(int argc, char **argv)
{
    const mishap_app app = { .name = "checked",
                             .version = "1",
                             .operations = operations,
                             .checked = getenv("CHECKED") != NULL };
    return mishap_cli_main(argc, argv, &app);
}
