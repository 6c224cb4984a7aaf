/* Loading libcurl. */
#include "client/libcurl.h"

#include <dlfcn.h>

libcurl mishap_libcurl;

#define LIBCURL_ROW(type, name, parameters) { #name, offsetof(libcurl, name) },
static const struct {
    const char *name;
    size_t offset;
} functions[] = { LIBCURL(LIBCURL_ROW) };

/* Debian has libcurl with OpenSSL, and with GnuTLS under another name. */
static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static mishap *libcurl_missing(const char *why)
{
    mishap *m = mishap_raise(PRECONDITION, "The library for HTTP requests, libcurl, is not "
                                           "installed.");
    m = mishap_suggest(m, "Install the package libcurl4 (on Debian 13 libcurl4t64).");
    return mishap_note(m, "libcurl", why);
}

/* It stays loaded until the program ends: its TLS library has exit handlers, and unloading those is
 * not safe. */
mishap *mishap_libcurl_load(void)
{
    static bool loaded;
    void *library = NULL;
    if (loaded)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return libcurl_missing(dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return libcurl_missing(functions[i].name);
        memcpy((char *)&mishap_libcurl + functions[i].offset, &found, sizeof found);
    }
    int result = mishap_libcurl.curl_global_init(CURL_INIT_ALL);
    if (result != CURL_FINE)
        return libcurl_missing(mishap_libcurl.curl_easy_strerror(result));
    loaded = true;
    return NULL;
}
