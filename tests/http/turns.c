/*
 * A program whose quick operations take longer than a turn of the loop, and note in which order
 * they ran: for turns_test.py. They run in the loop, so all share one list.
 */
#include <mishap/main.h>

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORK_MS = 6, MOST = 1000 }; /* a turn has 5 */

static char order[MOST + 1];
static size_t count;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1000 + (double)time.tv_nsec / 1e6;
}

/* Say that it has begun, and wait until the test has done what it wants to do meanwhile. */
static void wait_at(const char *gate)
{
    int mark = open(gate, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (mark >= 0)
        close(mark);
    while (access(gate, F_OK) == 0)
        usleep(1000);
}

static mishap *work(mishap_call *call)
{
    const char *gate = mishap_string(call, "gate");
    if (count < MOST)
        order[count++] = mishap_string(call, "client")[0];
    if (gate)
        wait_at(gate);
    for (double until = now() + WORK_MS; now() < until;)
        continue;
    return mishap_answer_member(call, "count", (int64_t)count);
}

/* The order so far, which begins anew. */
static mishap *tell(mishap_call *call)
{
    mishap *failure = mishap_answer_member(call, "order", order);
    if (mishap_boolean(call, "clear")) {
        memset(order, 0, sizeof order);
        count = 0;
    }
    return failure;
}

static const mishap_param work_params[] = {
    { "client", MISHAP_STRING, .required = true, .length = { 1, 1 } },
    { "gate", MISHAP_STRING, .length = { 1, 200 } },
    { 0 },
};
static const mishap_param tell_params[] = {
    { "clear", MISHAP_BOOLEAN, .help = "Begin anew" },
    { 0 },
};

static const mishap_operation operations[] = {
    { "work", "Work", work_params, work, .route = "GET /work", .quick = true },
    { "order", "Tell the order", tell_params, tell, .route = "GET /order", .quick = true },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &(mishap_app){ .name = "turns", .operations = operations });
}
