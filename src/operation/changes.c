#include "operation/changes.h"

#include <stdarg.h>
#include <stdio.h>

#include "operation/contain.h"

enum { MOST = 4 };

/* Written while no handler runs. */
static struct {
    void (*hear)(void *state, mishap_text address);
    void *state;
} hearers[MOST];
static size_t hearer_count;

void mishap_changes_heard_by(void (*hear)(void *state, mishap_text address), void *state)
{
    if (!hear)
        hearer_count = 0;
    if (!hear || hearer_count == MOST)
        return;
    hearers[hearer_count].hear = hear;
    hearers[hearer_count++].state = state;
}

/* Who hears of it may write it down where other processes read. */
void mishap_changes_tell(mishap_text address)
{
    if (!hearer_count)
        return;
    mishap_contained *contained = mishap_contain_pause();
    for (size_t i = 0; i < hearer_count; i++)
        hearers[i].hear(hearers[i].state, address);
    mishap_contain_resume(contained);
}

/* The memory of a call is one thread's, and this may be another: so it is the stack's. */
void mishap_changed(mishap_call *call, const char *format, ...)
{
    char address[MISHAP_ADDRESS_LIMIT + 1];
    va_list arguments;
    (void)call;
    if (!hearer_count)
        return;
    va_start(arguments, format);
    int length = vsnprintf(address, sizeof address, format, arguments);
    va_end(arguments);
    if (length > 0 && length <= MISHAP_ADDRESS_LIMIT)
        mishap_changes_tell((mishap_text){ address, (size_t)length });
}
