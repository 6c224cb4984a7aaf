/* Z3 4.8 can read wild memory when its time limit interrupts it, and no caller of it can prevent
 * that. The process ends, and the service starts another one. The operator and the tests have to
 * know that it was not the engine's own code. */
#include "solver/fault.h"

#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* Written before the handlers are installed, and only read from then on. */
static struct library {
    const char *name;
    uintptr_t start, end;
} libraries[] = { { "libz3", 0, 0 }, { "libcvc5", 0, 0 } };
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static int note_library(struct dl_phdr_info *info, size_t size, void *state)
{
    (void)size, (void)state;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    for (size_t i = 0; i < LIBRARIES; i++)
        for (int part = 0; part < info->dlpi_phnum; part++) {
            const ElfW(Phdr) *header = &info->dlpi_phdr[part];
            if (strncmp(name, libraries[i].name, strlen(libraries[i].name)) == 0 &&
                header->p_type == PT_LOAD && (header->p_flags & PF_X)) {
                libraries[i].start = info->dlpi_addr + header->p_vaddr;
                libraries[i].end = libraries[i].start + header->p_memsz;
            }
        }
    return 0;
}

static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS]; /* the system's, or that of a sanitizer */

/* The signal is raised once more, with the action that it had before, and delivered when this
 * returns. */
static void tell_library(int signal, siginfo_t *info, void *context)
{
    (void)info;
    uintptr_t at = interrupted_at(context);
    for (size_t i = 0; i < LIBRARIES; i++)
        if (at >= libraries[i].start && at < libraries[i].end) {
            say("mishap-symbolic: a fault inside of ");
            say(libraries[i].name);
            say("\n");
        }
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == signal)
            sigaction(signal, &before[i], NULL);
    raise(signal);
}

void fault_watch(void)
{
    struct sigaction action = { .sa_sigaction = tell_library, .sa_flags = SA_SIGINFO };
    dl_iterate_phdr(note_library, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
}
