/* Where nginx and the module are. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/search.h"
#include "gateway/gateway.h"

/* Behind PATH: users who are no administrators often do not have these in theirs. */
static const char *const more_folders[] = { "/usr/sbin", "/usr/local/sbin", "/sbin" };

static const char module_name[] = "ngx_http_mishap_module.so";

/* From the folder of this program: in the tree of a build, where it is installed, and last where
 * Debian's nginx has its modules. */
static const char *const module_folders[] = { "src/nginx", "../src/nginx", "../lib/nginx/modules" };
static const char usual_place[] = "/usr/lib/nginx/modules";

/* What cannot be used leaves no path behind. */
static bool take(const char *file, int mode, char *path, size_t size)
{
    if (access(file, mode) == 0 && mishap_search_absolute(file, path, size))
        return true;
    *path = '\0';
    return false;
}

bool mishap_gateway_find_nginx(const char *given, char *path, size_t size)
{
    const char *name = given ? given : "nginx";
    char file[PATH_MAX];
    if (strchr(name, '/'))
        return take(name, X_OK, path, size);
    if (mishap_search_program(name, path, size))
        return true;
    for (size_t i = 0; i < sizeof more_folders / sizeof *more_folders; i++) {
        int length = snprintf(file, sizeof file, "%s/%s", more_folders[i], name);
        if (length > 0 && (size_t)length < sizeof file && take(file, X_OK, path, size))
            return true;
    }
    return false;
}

bool mishap_gateway_find_module(const char *given, char *path, size_t size)
{
    char program[PATH_MAX], file[PATH_MAX + 64];
    if (given)
        return take(given, R_OK, path, size);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *slash = length > 0 ? memrchr(program, '/', (size_t)length) : NULL;
    for (size_t i = 0; slash && i < sizeof module_folders / sizeof *module_folders; i++) {
        snprintf(file, sizeof file, "%.*s/%s/%s", (int)(slash - program), program,
                 module_folders[i], module_name);
        if (take(file, R_OK, path, size))
            return true;
    }
    snprintf(file, sizeof file, "%s/%s", usual_place, module_name);
    return take(file, R_OK, path, size);
}
