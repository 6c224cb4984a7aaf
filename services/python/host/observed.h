/*
 * What code may have seen of the process that runs it: how many addresses Python has written into
 * texts, and how many allocations have failed. Two programs count this: mishap-python and the
 * symbolic engine, whose replay driver asks for it as the module `_mishap_observed`.
 */
#ifndef MISHAP_PYTHON_OBSERVED_H
#define MISHAP_PYTHON_OBSERVED_H

#include <stdbool.h>

/* Offer the module; before the interpreter starts. False: there is no memory for it. */
bool observed_offer(void);

/* Count the allocations of Python that fail from now on. */
void observed_memory(void);

#endif
