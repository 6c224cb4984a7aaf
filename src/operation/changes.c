#include "operation/changes.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "operation/contain.h"
#include "operation/running.h"

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

/* A listener may write it to memory that other processes read. */
void mishap_changes_tell(mishap_text address)
{
    if (!hearer_count)
        return;
    mishap_contained *contained = mishap_contain_pause();
    for (size_t i = 0; i < hearer_count; i++)
        hearers[i].hear(hearers[i].state, address);
    mishap_contain_resume(contained);
}

static bool is_of_unknown_outcome(const mishap *failure)
{
    const mishap_member *outcome = mishap_public_member(mishap_told(failure), "outcome");
    return outcome && outcome->value.kind == MISHAP_KIND_TEXT &&
           mishap_text_equal(outcome->value.text, (mishap_text)MISHAP_TEXT("unknown"));
}

/* An unnecessary read is better than a missed change. */
void mishap_changes_tell_doubt(const mishap_operation *operation, const mishap *failure)
{
    if (mishap_operation_danger(operation) == MISHAP_SAFE)
        return;
    if (!failure || is_of_unknown_outcome(failure))
        mishap_changes_tell((mishap_text){ NULL, 0 });
}

void mishap_changes_tell_all(mishap_text addresses)
{
    while (addresses.length) {
        mishap_text first = { addresses.data, strlen(addresses.data) };
        mishap_changes_tell(first);
        addresses.data += first.length + 1;
        addresses.length -= first.length + 1;
    }
}

/* A change that may still be undone is announced when it is settled. Any thread of the handler may
 * call this. */
static void keep_for_later(mishap_call *call, mishap_text address)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    size_t before = call->changes.length;
    mishap_buffer_put_text(&call->changes, address);
    mishap_buffer_put_char(&call->changes, '\0');
    if (call->changes.failed)
        call->changes.length = before;
    pthread_mutex_unlock(&lock);
}

/* The arena of a call belongs to one thread, and this may be another: so the stack is used. */
void mishap_changed(mishap_call *call, const char *format, ...)
{
    char address[MISHAP_ADDRESS_LIMIT + 1];
    va_list arguments;
    if (!hearer_count)
        return;
    va_start(arguments, format);
    int length = vsnprintf(address, sizeof address, format, arguments);
    va_end(arguments);
    if (length <= 0 || length > MISHAP_ADDRESS_LIMIT)
        return;
    mishap_text changed = { address, (size_t)length };
    mishap_call *whole = mishap_call_whole(call);
    if (whole->settlement && !whole->batched)
        keep_for_later(whole, changed);
    else
        mishap_changes_tell(changed);
}
