#include "base/rehearsal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

mishap_rehearsal *mishap_rehearsal_page;

/* Only allocations of handlers fail when a test asks for it. */
static _Thread_local bool handling;

/* Not registered as shared memory (base/shared.h): workers need it. */
bool mishap_rehearsal_begin(void)
{
    if (mishap_rehearsal_page)
        return true;
    void *page = mmap(NULL, sizeof *mishap_rehearsal_page, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    mishap_rehearsal_page = page;
    mishap_rehearsal_page->home = getpid();
    return true;
}

void mishap_rehearsal_end(void)
{
    mishap_rehearsal *page = mishap_rehearsal_page;
    mishap_rehearsal_page = NULL;
    if (page)
        munmap(page, sizeof *page);
}

/* -- faults ------------------------------------------------------------------------------------ */

void mishap_rehearsal_ask(mishap_rehearsal_fault fault, size_t at)
{
    mishap_rehearsal *page = mishap_rehearsal_page;
    if (!page)
        return;
    atomic_store(&page->fault, MISHAP_REHEARSAL_NONE);
    atomic_store(&page->at, at);
    atomic_store(&page->uses, 0);
    atomic_store(&page->happened, false);
    atomic_store(&page->fault, (unsigned)fault);
}

/* A fault of this kind happens now, at its use number `at` or later. */
static bool happens_now(mishap_rehearsal_fault fault, bool later)
{
    mishap_rehearsal *page = mishap_rehearsal_page;
    if (!page || atomic_load(&page->fault) != (unsigned)fault)
        return false;
    size_t use = atomic_fetch_add(&page->uses, 1) + 1, at = atomic_load(&page->at);
    if (use != at && !(later && use > at))
        return false;
    atomic_store(&page->happened, true);
    return true;
}

static void end_process(void)
{
    if (getpid() != mishap_rehearsal_page->home)
        kill(getpid(), SIGKILL);
}

bool mishap_rehearsal_use_store(void)
{
    if (happens_now(MISHAP_REHEARSAL_KILLED, false))
        end_process();
    return happens_now(MISHAP_REHEARSAL_STORE_GONE, true);
}

bool mishap_rehearsal_store_is_gone(void)
{
    mishap_rehearsal *page = mishap_rehearsal_page;
    return page && atomic_load(&page->fault) == MISHAP_REHEARSAL_STORE_GONE &&
           atomic_load(&page->happened);
}

void mishap_rehearsal_returned(void)
{
    mishap_rehearsal *page = mishap_rehearsal_page;
    if (page && atomic_load(&page->fault) == MISHAP_REHEARSAL_KILLED &&
        atomic_load(&page->at) == 0) {
        atomic_store(&page->happened, true);
        end_process();
    }
}

bool mishap_rehearsal_handle(bool handles)
{
    bool before = handling;
    handling = handles;
    return before;
}

bool mishap_rehearsal_lacks_memory(void)
{
    return handling && (happens_now(MISHAP_REHEARSAL_NO_MEMORY_ONCE, false) ||
                        happens_now(MISHAP_REHEARSAL_NO_MEMORY, true));
}

/* -- schemas ----------------------------------------------------------------------------------- */

bool mishap_rehearsal_keep_schema(mishap_rehearsal_drop *drop, const char *address,
                                  const char *name)
{
    mishap_rehearsal *page = mishap_rehearsal_page;
    if (!page || strlen(address) >= MISHAP_REHEARSAL_ADDRESS ||
        strlen(name) >= MISHAP_REHEARSAL_NAME)
        return false;
    atomic_store(&page->drop, drop);
    for (size_t i = 0; i < MISHAP_REHEARSAL_SCHEMAS; i++) {
        mishap_rehearsal_schema *schema = &page->schemas[i];
        bool kept = false;
        if (atomic_compare_exchange_strong(&schema->kept, &kept, true)) {
            snprintf(schema->name, sizeof schema->name, "%s", name);
            snprintf(schema->address, sizeof schema->address, "%s", address);
            return true;
        }
        if (strcmp(schema->name, name) == 0 && strcmp(schema->address, address) == 0)
            return true;
    }
    return false;
}

const char *mishap_rehearsal_drop_schemas(void)
{
    mishap_rehearsal *page = mishap_rehearsal_page;
    const char *left = "";
    mishap_rehearsal_drop *drop = page ? atomic_load(&page->drop) : NULL;
    for (size_t i = 0; drop && i < MISHAP_REHEARSAL_SCHEMAS; i++) {
        mishap_rehearsal_schema *schema = &page->schemas[i];
        if (!atomic_load(&schema->kept))
            break;
        if (!drop(schema->address, schema->name) && !*left)
            left = schema->name;
        atomic_store(&schema->kept, false);
    }
    return left;
}
