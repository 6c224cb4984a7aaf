/* Loading libpq. */
#include "store/libpq.h"

#include <dlfcn.h>

libpq mishap_libpq;

#define LIBPQ_ROW(type, name, parameters) { #name, offsetof(libpq, name) },
static const struct {
    const char *name;
    size_t offset;
} functions[] = { LIBPQ(LIBPQ_ROW) };

static mishap *missing(const char *why)
{
    mishap *m = mishap_raise(NOT_CONFIGURED,
                             "The client library of PostgreSQL, libpq, is not installed.");
    m = mishap_suggest(m, "Install the package libpq5, or store the data in SQLite.");
    return mishap_note(m, "libpq", why);
}

/* It stays loaded until the program ends: unloading a library that may have threads or exit
 * handlers, such as its TLS library, is not safe. */
mishap *mishap_libpq_load(void)
{
    static bool loaded;
    if (loaded)
        return NULL;
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return missing(dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return missing(functions[i].name);
        memcpy((char *)&mishap_libpq + functions[i].offset, &found, sizeof found);
    }
    loaded = true;
    return NULL;
}
