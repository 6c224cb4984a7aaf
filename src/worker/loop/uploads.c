/*
 * Calls whose handlers read a streamed file: the time in which a handler waits for bytes is not
 * counted, and the page says how the file has ended. Runs in a loop.
 */
#include "operation/upload.h"
#include "worker/loop/inside.h"

void mishap_runner_upload_ended(const mishap_run *run, mishap_upload *upload, mishap_upload_end end)
{
    upload->end = end;
    upload->ended_ns = mishap_clock_monotonic_ns();
    if (run && run->link)
        atomic_store(&run->link->page->uploads[run->slot], (unsigned char)end);
}

/* The worker says how long its handler has waited. It may say anything, so no more is believed than
 * the file took to arrive; and a handler for which bytes are there does not wait. */
int64_t mishap_link_waited(const mishap_link *link, const mishap_upload *upload, int64_t begun,
                           int64_t now)
{
    if (!upload || !begun)
        return 0;
    int64_t until = upload->ended_ns ? upload->ended_ns : now;
    int64_t most = until > begun ? until - begun : 0;
    int64_t waited = atomic_load(&link->page->waited_ns);
    int64_t since = atomic_load(&link->page->waiting_ns);
    since = since < begun ? begun : since;
    if (waited < 0 || waited > most)
        return most;
    if (atomic_load(&link->page->waiting_ns) && !upload->full && since < until)
        waited += until - since;
    return waited < most ? waited : most;
}
