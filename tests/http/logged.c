/* A program whose operations fail and print, for tests of what becomes of its logs. */
#include <mishap/main.h>

#include <stdio.h>

static mishap *fine(mishap_call *call)
{
    return mishap_answer_member(call, "fine", true);
}

/* The server's fault. */
static mishap *fault(mishap_call *call)
{
    (void)call;
    return mishap_note(mishap_raise(INTERNAL_ERROR, "The disk is full."), "disk", "sda1");
}

/* The caller's, with something for the operator. */
static mishap *missing(mishap_call *call)
{
    return mishap_note(mishap_raise(NOT_FOUND, "There is no such thing."), "looked_for",
                       mishap_string(call, "name") ? mishap_string(call, "name") : "nothing");
}

static mishap *print(mishap_call *call)
{
    for (int i = 0; i < 1000; i++)
        fprintf(stderr, "a line of a handler, which is longer than it would have to be: %d\n", i);
    return mishap_answer_member(call, "printed", true);
}

static const mishap_param named[] = { { "name", MISHAP_STRING, .help = "What" }, { 0 } };

static const mishap_operation operations[] = {
    { .name = "fine", .summary = "Work", .route = "GET /fine", .run = fine, .quick = true },
    { .name = "fault", .summary = "Fail", .route = "GET /fault", .run = fault, .quick = true },
    { .name = "missing",
      .summary = "Find nothing",
      .route = "GET /missing",
      .params = named,
      .run = missing,
      .raises = MISHAP_RAISES(NOT_FOUND),
      .quick = true },
    { .name = "print", .summary = "Print", .route = "GET /print", .run = print, .stateless = true },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv, &(mishap_app){ .name = "logged", .version = "1.0", .operations = operations });
}
