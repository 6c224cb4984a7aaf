/* Loading libcrypto. */
#include "oauth/libcrypto.h"

#include <dlfcn.h>
#include <string.h>

#include "oauth/oauth.h"

libcrypto mishap_libcrypto;
mishap_crypto_tools mishap_crypto;

#define LIBCRYPTO_ROW(type, name, parameters) { #name, offsetof(libcrypto, name) },
static const struct {
    const char *name;
    size_t offset;
} functions[] = { LIBCRYPTO(LIBCRYPTO_ROW) };

static mishap *libcrypto_missing(const char *why)
{
    mishap *m = mishap_raise(PRECONDITION, "The library that checks signatures of access tokens, "
                                           "libcrypto 3, cannot be used.");
    m = mishap_suggest(m, "Install the package libssl3 (on Debian 13 libssl3t64).");
    return mishap_note(m, "libcrypto", why ? why : "");
}

/* What is fetched here is not fetched again by each process that is forked later. */
static bool make_tools(void)
{
    mishap_crypto.sha256 = mishap_libcrypto.EVP_MD_fetch(NULL, "SHA256", NULL);
    mishap_crypto.sha384 = mishap_libcrypto.EVP_MD_fetch(NULL, "SHA384", NULL);
    mishap_crypto.digest = mishap_libcrypto.EVP_MD_CTX_new();
    mishap_crypto.verify = mishap_libcrypto.EVP_MD_CTX_new();
    return mishap_crypto.sha256 && mishap_crypto.sha384 && mishap_crypto.digest &&
           mishap_crypto.verify;
}

/* It stays loaded until the program ends, since it has exit handlers. */
mishap *mishap_oauth_load(void)
{
    static bool loaded;
    if (loaded)
        return NULL;
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return libcrypto_missing(dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return libcrypto_missing(functions[i].name);
        memcpy((char *)&mishap_libcrypto + functions[i].offset, &found, sizeof found);
    }
    if (!make_tools())
        return libcrypto_missing("it has no SHA-256");
    loaded = true;
    return NULL;
}

bool mishap_oauth_digest(mishap_text text, unsigned char digest[MISHAP_OAUTH_DIGEST])
{
    unsigned length = 0;
    return mishap_libcrypto.EVP_DigestInit_ex(mishap_crypto.digest, mishap_crypto.sha256, NULL) ==
               1 &&
           mishap_libcrypto.EVP_DigestUpdate(mishap_crypto.digest, text.data, text.length) == 1 &&
           mishap_libcrypto.EVP_DigestFinal_ex(mishap_crypto.digest, digest, &length) == 1 &&
           length == MISHAP_OAUTH_DIGEST;
}
