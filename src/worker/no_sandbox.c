/* Stands in for src/sandbox in a build without it: no program can be run in a sandbox then. */
#include "sandbox/sandbox.h"

#include <errno.h>

#define STAND_IN __attribute__((weak))

STAND_IN mishap *mishap_sandbox_check(mishap_sandbox_mode mode)
{
    (void)mode;
    return mishap_raise(NOT_CONFIGURED, "This program was built without a sandbox.");
}

STAND_IN mishap *mishap_sandbox_prepare(const mishap_sandbox_profile *profile,
                                        mishap_sandbox_mode mode, mishap_sandbox **sandbox)
{
    (void)profile;
    *sandbox = NULL;
    return mishap_sandbox_check(mode);
}

STAND_IN pid_t mishap_sandbox_fork(const mishap_sandbox *sandbox, mishap_sandbox_place *place)
{
    (void)sandbox, (void)place;
    errno = ENOSYS;
    return -1;
}

STAND_IN const char *mishap_sandbox_exec(const mishap_sandbox *sandbox,
                                         const mishap_sandbox_place *place,
                                         const char *const *program)
{
    (void)sandbox, (void)place, (void)program;
    errno = ENOSYS;
    return "sandbox";
}

STAND_IN void mishap_sandbox_remove(mishap_sandbox_place *place)
{
    (void)place;
}
