/*
 * The leak detector of a program that has none, for the benchmark alone: the linker takes this
 * function in place of mishap_leak_scan(), and all else in the program is the same. No option of a
 * program switches the detector off.
 */
#include "guard/leak.h"

void __wrap_mishap_leak_scan(mishap_text text, const mishap_leak_known *known,
                             mishap_leak_found *found, void *state);

void __wrap_mishap_leak_scan(mishap_text text, const mishap_leak_known *known,
                             mishap_leak_found *found, void *state)
{
    (void)text, (void)known, (void)found, (void)state;
}
