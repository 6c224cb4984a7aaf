/*
 * Run a program as on a machine that does not offer some layers of the sandbox:
 *
 *     without namespaces,landlock PROGRAM …
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <unistd.h>

/* The filter looks at the flags one by one. */
static int refuse_namespaces(scmp_filter_ctx context)
{
    static const unsigned flags[] = { CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,
                                      CLONE_NEWNET,  CLONE_NEWIPC, CLONE_NEWUTS };
    int failed = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        failed |= seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                   SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    return failed;
}

int main(int argc, char **argv)
{
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
    if (argc < 3 || !context)
        return 2;
    if (strstr(argv[1], "namespaces") && refuse_namespaces(context) != 0)
        return 3;
    if (strstr(argv[1], "landlock") && seccomp_rule_add(context, SCMP_ACT_ERRNO(EOPNOTSUPP),
                                                        SCMP_SYS(landlock_create_ruleset), 0) != 0)
        return 3;
    if (seccomp_load(context) != 0)
        return 4;
    execv(argv[2], argv + 2);
    return 5;
}
