/*
 * Typed arguments beside getters: the same call of the same operation, whose handler reads every
 * parameter, with its checks and its end. CPU time for each call; under callgrind, with a number of
 * calls as its argument, the instructions of each function.
 *
 *     typed_bench [CALLS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mishap/typed.h"
#include "operation/call.h"

#define LINE(member)                                                                               \
    member(MISHAP_STRING, title, .required = true) member(MISHAP_INTEGER, count, .required = true) \
        member(MISHAP_DECIMAL, price, .required = true, .scale = 2)
MISHAP_STRUCT(line, LINE);

#define ORDER(member)                                                                              \
    member(MISHAP_STRING, name, .required = true, .length = { 1, 200 })                            \
        member(MISHAP_STRING, email, .required = true, .format = "email")                          \
            member(MISHAP_INTEGER, age, .range = { 0, 150 })                                       \
                member(MISHAP_TIMESTAMP, starts, .required = true)                                 \
                    member(MISHAP_DECIMAL, price, .required = true, .scale = 2)                    \
                        member(MISHAP_BOOLEAN, gift)                                               \
                            member(MISHAP_OBJECTS_OF(line), lines, .required = true)
MISHAP_STRUCT(order, ORDER);

static int64_t sum;

static mishap *by_struct(mishap_call *call, const struct order *in)
{
    (void)call;
    sum += in->name[0] + in->email[0] + in->age + in->starts.time.tv_sec + in->price.units +
           in->gift;
    for (size_t i = 0; i < in->lines.count; i++)
        sum += in->lines.data[i].title[0] + in->lines.data[i].count * in->lines.data[i].price.units;
    return NULL;
}

static mishap *by_getters(mishap_call *call)
{
    sum += mishap_string(call, "name")[0] + mishap_string(call, "email")[0] +
           mishap_integer(call, "age") + mishap_timestamp_of(call, "starts").time.tv_sec +
           mishap_decimal_of(call, "price").units + mishap_boolean(call, "gift");
    for (const mishap_call *line = mishap_first(call, "lines"); line; line = mishap_next(line))
        sum += mishap_string(line, "title")[0] +
               mishap_integer(line, "count") * mishap_decimal_of(line, "price").units;
    return NULL;
}

static const mishap_operation operations[] = {
    { "struct", "By a struct", MISHAP_TYPED(order, by_struct) },
    { "getters", "By getters", order_params, by_getters },
    { 0 },
};
static const mishap_app app = { .name = "typed", .operations = operations };

static const char arguments[] =
    "{\"name\":\"Ada Lovelace\",\"email\":\"ada@example.com\",\"age\":36,"
    "\"starts\":\"2026-02-28T18:30:00+01:00\",\"price\":\"120.50\",\"gift\":true,"
    "\"lines\":[{\"title\":\"tea\",\"count\":2,\"price\":\"1.50\"},"
    "{\"title\":\"milk\",\"count\":1,\"price\":\"2\"}]}";

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double measure(const mishap_operation *operation, long calls)
{
    double start = seconds();
    for (long i = 0; i < calls; i++) {
        mishap_call *call;
        mishap *m = mishap_call_begin(&app, operation, mishap_text_of(arguments), &call);
        m = m ? m : mishap_call_run(call);
        if (m)
            abort();
        mishap_call_end(call);
    }
    return (seconds() - start) / (double)calls * 1e9;
}

int main(int argc, char **argv)
{
    enum { ROUNDS = 9 };
    long calls = argc > 1 ? atol(argv[1]) : 20000;
    double best[2] = { 1e9, 1e9 };
    for (int round = 0; round < (argc > 1 ? 1 : ROUNDS); round++)
        for (int i = 0; i < 2; i++) {
            double found = measure(&operations[i], calls);
            best[i] = found < best[i] ? found : best[i];
        }
    const double most = 1.0;
    double ratio = best[0] / best[1];
    printf(
        "a struct: %.0f ns a call, getters: %.0f ns a call, ratio %.3f (goal: at most %.1f): %s\n",
        best[0], best[1], ratio, most, ratio <= most ? "reached" : "missed");
    if (sum == 0)
        abort(); /* nothing was read */
    return ratio > most;
}
