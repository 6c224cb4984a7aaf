/* A program that tells its trace: for tests/http/trace_test.py. */
#include <mishap/main.h>

#include <unistd.h>

/* What a handler would send as a header with requests of its own. */
static mishap *tell(mishap_call *call)
{
    mishap_answer_member(call, "trace", mishap_call_trace(call));
    mishap_answer_member(call, "again", mishap_call_trace(call));
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

static mishap *lose(mishap_call *call)
{
    return mishap_tell(mishap_raise(NOT_FOUND, "There is nothing."), "trace",
                       mishap_call_trace(call));
}

static const mishap_operation operations[] = {
    { .name = "trace.tell",
      .summary = "Tell the trace",
      .route = "GET /trace",
      .run = tell,
      .stateless = true },
    { .name = "trace.quick",
      .summary = "Tell the trace at once",
      .route = "GET /trace/quick",
      .run = tell,
      .quick = true },
    { .name = "trace.lose",
      .summary = "Find nothing",
      .route = "GET /trace/lost",
      .run = lose,
      .raises = MISHAP_RAISES(NOT_FOUND),
      .stateless = true },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv, &(mishap_app){ .name = "traced", .version = "1.0", .operations = operations });
}
