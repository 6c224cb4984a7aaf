#include "operation/changes.h"

#include <stdarg.h>
#include <stdio.h>

#include "operation/contain.h"

static struct {
    void (*hear)(void *state, mishap_text address);
    void *state;
} hearer; /* written while no handler runs */

void mishap_changes_heard_by(void (*hear)(void *state, mishap_text address), void *state)
{
    hearer.hear = hear;
    hearer.state = state;
}

/* Who hears of it may write it down where other processes read. */
void mishap_changes_tell(mishap_text address)
{
    if (!hearer.hear)
        return;
    mishap_contained *contained = mishap_contain_pause();
    hearer.hear(hearer.state, address);
    mishap_contain_resume(contained);
}

/* The memory of a call is one thread's, and this may be another: so it is the stack's. */
void mishap_changed(mishap_call *call, const char *format, ...)
{
    char address[MISHAP_ADDRESS_LIMIT + 1];
    va_list arguments;
    (void)call;
    if (!hearer.hear)
        return;
    va_start(arguments, format);
    int length = vsnprintf(address, sizeof address, format, arguments);
    va_end(arguments);
    if (length > 0 && length <= MISHAP_ADDRESS_LIMIT)
        mishap_changes_tell((mishap_text){ address, (size_t)length });
}
