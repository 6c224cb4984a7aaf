#include "worker/child/execute.h"

#include <fcntl.h>
#include <unistd.h>

#include "worker/wire/keeper_messages.h"

_Noreturn void mishap_worker_execute(const char *const *program, const int *files)
{
    union {
        const char *const *given;
        char *const *base; /* execve() does not write to them */
    } arguments = { program };
    char *environment[] = { NULL };
    for (size_t i = 0; i < MISHAP_KEEPER_FILES; i++)
        if (fcntl(files[i], F_SETFD, 0) != 0) /* the two stay open across execve() */
            _exit(127);
    execve(program[0], arguments.base, environment);
    _exit(127);
}
