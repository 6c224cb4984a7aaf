/*
 * The program whose cost grows: bench/growth/measure.py starts it with so many operations, so many
 * parameters of one of them, and an answer of so many bytes. All handlers run on the loop, so that
 * what is measured is the library.
 */
#include <mishap/main.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 4000, MOST_PARAMS = 1000, NAME = 24 };

static char names[MOST_OPERATIONS][NAME], routes[MOST_OPERATIONS][2 * NAME];
static char param_names[MOST_PARAMS][NAME];
static mishap_operation operations[MOST_OPERATIONS + 1];
static mishap_param params[MOST_PARAMS + 1];
static char *filled;
static size_t filled_bytes;

static const mishap_param one_param[] = {
    { "number", MISHAP_INTEGER, .range = { 0, 1000000 }, .help = "Any number" },
    { 0 },
};

static mishap *echo_number(mishap_call *call)
{
    return mishap_answer_member(call, "number", mishap_integer(call, "number"));
}

static mishap *add_numbers(mishap_call *call)
{
    int64_t sum = 0;
    for (const mishap_param *param = params; param->name; param++)
        sum += mishap_integer(call, param->name);
    return mishap_answer_member(call, "number", sum);
}

static mishap *send_bytes(mishap_call *call)
{
    return mishap_answer_bytes(call, (mishap_text){ filled, filled_bytes },
                               "application/octet-stream");
}

/* A number of the environment; it is at least 1. */
static size_t number_of(const char *name, size_t most)
{
    const char *value = getenv(name);
    size_t number = value ? strtoul(value, NULL, 10) : 1;
    return number < 1 ? 1 : number > most ? most : number;
}

static void declare_params(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(param_names[i], NAME, "p%zu", i);
        params[i] = (mishap_param){ param_names[i], MISHAP_INTEGER, .range = { 0, 1000000 },
                                    .required = true, .help = "Any number" };
    }
}

static void declare_operations(size_t count)
{
    operations[0] = (mishap_operation){ .name = "sum",
                                        .summary = "Add all numbers",
                                        .params = params,
                                        .run = add_numbers,
                                        .route = "POST /sum",
                                        .quick = true };
    operations[1] = (mishap_operation){ .name = "bytes",
                                        .summary = "Send bytes",
                                        .answers_type = "application/octet-stream",
                                        .run = send_bytes,
                                        .route = "GET /bytes",
                                        .quick = true };
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], NAME, "echo%zu", i);
        snprintf(routes[i], sizeof routes[i], "GET /echo%zu", i);
        operations[i + 2] = (mishap_operation){ .name = names[i],
                                                .summary = "Say a number again",
                                                .params = one_param,
                                                .run = echo_number,
                                                .route = routes[i],
                                                .quick = true };
    }
}

int main(int argc, char **argv)
{
    filled_bytes = number_of("GROWTH_BYTES", 1 << 30);
    filled = malloc(filled_bytes);
    if (!filled)
        return 1;
    memset(filled, 'x', filled_bytes);
    declare_params(number_of("GROWTH_PARAMETERS", MOST_PARAMS));
    declare_operations(number_of("GROWTH_OPERATIONS", MOST_OPERATIONS - 2));
    return mishap_main(
        argc, argv, &(mishap_app){ .name = "growth", .version = "1.0", .operations = operations });
}
