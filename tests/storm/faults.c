/*
 * A server whose handlers die in every way that a process can, among handlers that work. storm.py,
 * kills_test.py and rows_test.py run it.
 *
 *     faults serve --listen 127.0.0.1:0
 *     faults mcp
 *
 * Each kind of fault is an operation, fault.NAME at POST /fault/NAME. GET /faults says which there
 * are and what is expected of each, so that the tests have one table with the program.
 */
#include "program.h"

#define TABLE_ROW(name, statuses, frame, way, timeout)                                             \
    "{\"name\":\"" #name "\",\"statuses\":\"" statuses "\",\"frame\":\"" frame "\",\"way\":\"" way \
    "\",\"timeout_ms\":" #timeout "},"

/* The table of faults; its last row, a null, takes the comma of the one before. */
HANDLER(list_faults)
{
    return mishap_answer(call, "[" EACH_FAULT(TABLE_ROW) "null]");
}

#define FAULT(kind, statuses, frame, way, timeout)                                                 \
    { .name = "fault." #kind,                                                                      \
      .summary = "Fail: " #kind,                                                                   \
      .route = "POST /fault/" #kind,                                                               \
      .service = &failing,                                                                         \
      .timeout_ms = timeout,                                                                       \
      .run = fault_##kind },

#define GOOD(kind, where, whose, parameters, timeout)                                              \
    { .name = "good." #kind,                                                                       \
      .summary = "Work: " #kind,                                                                   \
      .route = where,                                                                              \
      .service = whose,                                                                            \
      .params = parameters,                                                                        \
      .timeout_ms = timeout,                                                                       \
      .raises = MISHAP_RAISES(UNAVAILABLE),                                                        \
      .run = good_##kind },

static const mishap_operation operations[] = {
    EACH_FAULT(FAULT) EACH_GOOD(GOOD){ .name = "good.quick",
                                       .summary = "Work: quick",
                                       .route = "GET /good/quick",
                                       .params = number_params,
                                       .quick = true,
                                       .run = good_quick },
    { .name = "good.trap",
      .summary = "Hold the loop up for ever",
      .route = "POST /good/trap",
      .quick = true,
      .run = good_trap },
    { .name = "faults",
      .summary = "The table of faults",
      .route = "GET /faults",
      .quick = true,
      .run = list_faults },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "faults",
                                      .version = "1.0",
                                      .summary = "Handlers that die in every way",
                                      .timeout_ms = 60000, /* the machine may be busy */
                                      .operations = operations });
}
