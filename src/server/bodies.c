/*
 * How much memory the bodies of requests take, in all loops together.
 *
 * Each loop writes only its own number, so counting needs no atomic instruction, and a killed loop
 * leaves no wrong sum: the supervisor resets its number. The sum is computed when it is needed.
 * Bytes are counted when they arrive, not when they are announced: a slow sender uses only the
 * memory for the bytes that it has sent. Therefore several requests may start that do not all fit;
 * a request that does not fit any more is refused, and its memory is released.
 */
#include <stdatomic.h>

#include "base/shared.h"
#include "server/state.h"

/* Processors must not slow each other down by writing to the same cache line: it has 64 bytes, 128
 * on some arm64. */
enum { LINE = 128, FEW = 64 * 1024 };

struct mishap_http_bodies {
    size_t size; /* of the whole mapping */
    size_t limit;
    _Atomic size_t places; /* places that were ever in use */
    struct {
        _Alignas(LINE) _Atomic size_t held; /* each in a cache line of its own */
    } loops[];
};

mishap *mishap_http_bodies_make(size_t limit, size_t places, mishap_http_bodies **out)
{
    mishap_http_bodies *bodies;
    size_t size = sizeof *bodies + places * sizeof bodies->loops[0];
    *out = NULL;
    if (!limit)
        return NULL;
    bodies = mishap_shared_map(size);
    if (!bodies)
        return mishap_out_of_memory();
    bodies->size = size;
    bodies->limit = limit;
    *out = bodies;
    return NULL;
}

void mishap_http_bodies_free(mishap_http_bodies *bodies)
{
    if (bodies)
        mishap_shared_unmap(bodies, bodies->size);
}

/* Relaxed: each number is whole by itself, and says nothing about other memory. A sum that is late
 * by a moment only lets one request more or less begin. */
static void set(mishap_http_bodies *bodies, size_t place, size_t held)
{
    atomic_store_explicit(&bodies->loops[place].held, held, memory_order_relaxed);
}

static size_t held_by(const mishap_http_bodies *bodies, size_t place)
{
    return atomic_load_explicit(&bodies->loops[place].held, memory_order_relaxed);
}

void mishap_http_bodies_come(mishap_http_bodies *bodies, size_t place)
{
    if (bodies && place >= atomic_load_explicit(&bodies->places, memory_order_relaxed))
        atomic_store_explicit(&bodies->places, place + 1, memory_order_relaxed);
}

void mishap_http_bodies_gone(mishap_http_bodies *bodies, size_t place)
{
    if (bodies)
        set(bodies, place, 0);
}

void mishap_http_bodies_add(mishap_http_server *server, size_t more)
{
    if (server->bodies && more)
        set(server->bodies, server->place, held_by(server->bodies, server->place) + more);
}

void mishap_http_bodies_remove(mishap_http_server *server, size_t fewer)
{
    if (server->bodies && fewer)
        set(server->bodies, server->place, held_by(server->bodies, server->place) - fewer);
}

void mishap_http_bodies_look(mishap_http_server *server)
{
    const mishap_http_bodies *bodies = server->bodies;
    size_t places = bodies ? atomic_load_explicit(&bodies->places, memory_order_relaxed) : 0;
    server->held_elsewhere = 0;
    for (size_t i = 0; i < places; i++)
        if (i != server->place)
            server->held_elsewhere += held_by(bodies, i);
}

bool mishap_http_bodies_fit(mishap_http_server *server, size_t more)
{
    const mishap_http_bodies *bodies = server->bodies;
    if (!bodies)
        return true;
    if (more > FEW)
        mishap_http_bodies_look(server);
    size_t held = held_by(bodies, server->place) + server->held_elsewhere;
    return held <= bodies->limit && more <= bodies->limit - held;
}

mishap *mishap_http_bodies_full(void)
{
    mishap *m = mishap_raise(UNAVAILABLE,
                             "The server has no memory for another request body at the moment.");
    return mishap_retry_after(m, 1000);
}
