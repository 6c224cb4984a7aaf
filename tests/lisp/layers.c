/*
 * Runs a program with some layers of the sandbox alone, and the profile of the Lisp service:
 *
 *     layers LAYER,LAYER… FILE PROGRAM [ARGUMENT…]
 *
 * `none` is no layer at all, `offers` prints what this machine offers and ends. FILE is readable,
 * as the core is. Descriptors are passed on. A namespace gets a user namespace, which it needs.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/inside.h"

enum { MEMORY_MB = 656, ADDRESS_MB = 876, TEMPORARY_MB = 16 };

static const char *readable[] = { MISHAP_SANDBOX_LIBRARIES, "/usr/local/lib", NULL, NULL };
static const mishap_sandbox_profile profile = {
    .readable = readable,
    .temporary_bytes = (uint64_t)TEMPORARY_MB << 20,
    .memory_bytes = (uint64_t)MEMORY_MB << 20,
    .address_bytes = (uint64_t)ADDRESS_MB << 20,
    .cpu_seconds = 3600,
};

static void print_offers(const mishap_sandbox_report *report)
{
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++)
        if (report->offers[i].offered)
            printf("%s\n", report->offers[i].name);
    printf("landlock %d\n", mishap_sandbox_landlock_version());
}

static unsigned layers_named(const mishap_sandbox_report *report, const char *names)
{
    unsigned layers = 0;
    for (size_t i = 0; i < MISHAP_SANDBOX_LAYERS; i++) {
        const char *name = report->offers[i].name, *found = strstr(names, name);
        size_t length = strlen(name);
        if (found && (found[length] == ',' || found[length] == '\0'))
            layers |= report->offers[i].layer;
    }
    return layers & MISHAP_SANDBOX_NAMESPACES ? layers | (report->layers & MISHAP_LAYER_USERS)
                                              : layers;
}

int main(int argc, char **argv)
{
    const mishap_sandbox_report *report = mishap_sandbox_probe();
    mishap_sandbox *sandbox;
    mishap_sandbox_place place;
    int status = 0;
    if (argc == 2 && strcmp(argv[1], "offers") == 0) {
        print_offers(report);
        return 0;
    }
    if (argc < 4)
        return 2;
    readable[sizeof readable / sizeof *readable - 2] = argv[2];
    if (mishap_sandbox_prepare_layers(&profile, layers_named(report, argv[1]), &sandbox))
        return 3;
    pid_t pid = mishap_sandbox_fork(sandbox, &place);
    if (pid == 0) {
        const char *step = mishap_sandbox_exec(sandbox, &place, (const char *const *)argv + 3);
        fprintf(stderr, "the sandbox cannot be entered: %s\n", step);
        _exit(99);
    }
    for (int file = 0; file <= 3; file++)
        close(file); /* its end is seen by its descriptors */
    if (pid > 0)
        waitpid(pid, &status, 0);
    mishap_sandbox_remove(&place);
    mishap_sandbox_release(sandbox);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
