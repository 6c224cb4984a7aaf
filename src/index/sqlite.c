/* Finding SQLite: see sqlite.h. */
#include "index/sqlite.h"

#include <dlfcn.h>

enum { OLDEST = 3035000 }; /* the first with RETURNING */

index_sqlite mishap_index_sqlite;

#define INDEX_SQLITE_ROW(type, name, parameters) { "sqlite3_" #name, offsetof(index_sqlite, name) },
static const struct {
    const char *name;
    size_t offset;
} functions[] = { INDEX_SQLITE(INDEX_SQLITE_ROW) };

static mishap *no_sqlite(const char *why)
{
    mishap *m = mishap_raise(NOT_CONFIGURED,
                             "The index of incidents needs SQLite, which is not installed.");
    m = mishap_suggest(m, "Install the package libsqlite3-0. The log file has all incidents.");
    return mishap_note(m, "sqlite", why);
}

/* All functions from one library. NULL: it has them; otherwise what is missing. */
static const char *take_functions(void *library, index_sqlite *to)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return functions[i].name;
        memcpy((char *)to + functions[i].offset, &found, sizeof found);
    }
    return NULL;
}

/* The copy in the program comes first: two copies in one process are safe only as long as they have
 * no file in common. It stays loaded until the program ends. */
mishap *mishap_index_sqlite_load(void)
{
    static bool loaded;
    index_sqlite found;
    if (loaded)
        return NULL;
    if (take_functions(RTLD_DEFAULT, &found)) {
        void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return no_sqlite(dlerror());
        const char *missing = take_functions(library, &found);
        if (missing)
            return no_sqlite(missing);
    }
    if (found.libversion_number() < OLDEST)
        return no_sqlite("It is older than 3.35.");
    if (!found.compileoption_used("ENABLE_FTS5"))
        return no_sqlite("It has no full-text search (FTS5).");
    mishap_index_sqlite = found;
    loaded = true;
    return NULL;
}
