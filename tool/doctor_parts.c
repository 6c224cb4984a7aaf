/* The programs and libraries that services use: each service lists its own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/search.h"
#include "doctor.h"
#include "lisp/lisp.h"
#include "python/python.h"
#include "symbolic/symbolic.h"

/* What the library itself uses, and loads when it needs it. */
static const service_part library_parts[] = {
    { "libpq.so.5", "a store in PostgreSQL", "libpq5", NULL },
    { "libcurl.so.4", "audits of a URL, mcp-gateway --to, --otlp", "libcurl4", NULL },
    { "libdw.so.1", "lines of source code in stacks", "libdw1", NULL },
    { 0 },
};

static const service_part *const all_parts[] = { lisp_parts, python_parts, symbolic_parts,
                                                 library_parts };
enum { LISTS = sizeof all_parts / sizeof *all_parts, LONGEST_PATH = 4096 };

/* -- where they are ---------------------------------------------------------------------------- */

/* The path of a library in the cache of the dynamic loader, in which all paths are texts. */
static bool find_in_cache(const char *cache, size_t length, const char *name, char *path,
                          size_t size)
{
    char wanted[100];
    size_t count = (size_t)snprintf(wanted, sizeof wanted, "/%s", name) + 1;
    const char *found = memmem(cache, length, wanted, count), *start = found;
    while (start && start > cache && start[-1])
        start--;
    return found && (size_t)snprintf(path, size, "%s", start) < size && access(path, R_OK) == 0;
}

/* To load a library only to see that it is there would run what it does at its start. */
static bool find_library(const char *name, char *path, size_t size)
{
    struct stat status;
    bool found = false;
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        size_t length = (size_t)status.st_size;
        void *cache = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
        found = cache != MAP_FAILED && find_in_cache(cache, length, name, path, size);
        if (cache != MAP_FAILED)
            munmap(cache, length);
    }
    close(file);
    return found;
}

bool doctor_find(const service_part *part, char *path, size_t size)
{
    if (part->made) {
        const char *made = part->made();
        return made && (size_t)snprintf(path, size, "%s", made) < size;
    }
    return strstr(part->name, ".so") ? find_library(part->name, path, size)
                                     : mishap_search_program(part->name, path, size);
}

/* -- what is said of them ---------------------------------------------------------------------- */

void doctor_put_packages(mishap_buffer *b, const service_part *parts, bool missing_only)
{
    char path[LONGEST_PATH];
    const char *last = NULL;
    for (const service_part *part = parts; part->name; part++) {
        if ((missing_only && doctor_find(part, path, sizeof path)) ||
            (last && strcmp(last, part->package) == 0))
            continue;
        doctor_say(b, "%s%s", last ? " " : "", part->package);
        last = part->package;
    }
}

static void put_part(mishap_buffer *json, const service_part *part)
{
    char path[LONGEST_PATH];
    bool found = doctor_find(part, path, sizeof path);
    mishap_json_open(json, '{');
    doctor_put_member(json, "name", part->name);
    MISHAP_JSON_KEY(json, "found");
    mishap_json_bool(json, found);
    doctor_put_member(json, "path", found ? path : NULL);
    doctor_put_member(json, "use", part->use);
    doctor_put_member(json, "package", part->package);
    mishap_json_close(json, '}');
}

void doctor_put_parts(mishap_buffer *json)
{
    mishap_json_open(json, '[');
    for (size_t i = 0; i < LISTS; i++)
        for (const service_part *part = all_parts[i]; part->name; part++)
            put_part(json, part);
    mishap_json_close(json, ']');
}

static bool say_part(mishap_buffer *text, const service_part *part)
{
    char path[LONGEST_PATH];
    bool found = doctor_find(part, path, sizeof path);
    doctor_say(text, "  %s  %-16s  %s\n", found ? "ok     " : "MISSING", part->name, part->use);
    if (found)
        doctor_say(text, "           %s\n", path);
    else if (part->made)
        doctor_say(text,
                   "           try:  Install the package mishap-services. For a build from source, "
                   "install the package %s, then build and install Mishap again.\n",
                   part->package);
    else
        doctor_say(text, "           try:  Install the package %s.\n", part->package);
    return found;
}

size_t doctor_say_parts(mishap_buffer *text)
{
    size_t missing = 0;
    doctor_say(text, "\nPrograms and libraries\n");
    for (size_t i = 0; i < LISTS; i++)
        for (const service_part *part = all_parts[i]; part->name; part++)
            missing += !say_part(text, part);
    return missing;
}
