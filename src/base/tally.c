#include "base/tally.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

static _Atomic uint64_t *tallies; /* NULL: nothing is counted */

enum { SIZE = MISHAP_TALLIES * sizeof(uint64_t) };

bool mishap_tallies_begin(void)
{
    void *memory = tallies ? tallies
                           : mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                  -1, 0);
    if (memory == MAP_FAILED)
        return false;
    tallies = memory;
    return true;
}

void mishap_tallies_end(void)
{
    if (tallies)
        munmap((void *)(uintptr_t)tallies, SIZE);
    tallies = NULL;
}

void mishap_tally_add(mishap_tally tally)
{
    if (tallies)
        atomic_fetch_add_explicit(&tallies[tally], 1, memory_order_relaxed);
}

uint64_t mishap_tally_read(mishap_tally tally)
{
    return tallies ? atomic_load_explicit(&tallies[tally], memory_order_relaxed) : 0;
}
