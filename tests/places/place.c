/*
 * Run a program with the capabilities and the system calls that some other machine would leave to
 * it, such as a container:
 *
 *     place RULES PROGRAM [ARGUMENT…]
 *
 * RULES is a file with a rule on each line:
 *
 *     otherwise ERRNO                            what no rule names; 0: it is allowed. The first
 * line allow NAME [ARGUMENT OPERATOR VALUE VALUE]… refuse ERRNO NAME [ARGUMENT OPERATOR VALUE
 * VALUE]… keep NUMBER…                               the capabilities that are left
 *
 * NAME is that of a system call, or its number. A name that this processor does not have is passed
 * over.
 */
#include <errno.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 6, LONGEST_LINE = 4096, LAST_CAPABILITY = 63 };

static const struct {
    const char *name;
    enum scmp_compare compare;
} operators[] = {
    { "NE", SCMP_CMP_NE },
    { "LT", SCMP_CMP_LT },
    { "LE", SCMP_CMP_LE },
    { "EQ", SCMP_CMP_EQ },
    { "GE", SCMP_CMP_GE },
    { "GT", SCMP_CMP_GT },
    { "MASKED_EQ", SCMP_CMP_MASKED_EQ },
};

static _Noreturn void stop(int status, const char *why)
{
    fprintf(stderr, "place: %s\n", why);
    exit(status);
}

static const char *word(void)
{
    return strtok(NULL, " \n");
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = text ? strtoull(text, &end, 0) : 0;
    if (!text || *end)
        stop(2, "a number is missing");
    return value;
}

static struct scmp_arg_cmp comparison(const char *argument)
{
    struct scmp_arg_cmp found = { .arg = (unsigned)number(argument) };
    const char *name = word();
    size_t i = 0, count = sizeof operators / sizeof *operators;
    while (i < count && (!name || strcmp(operators[i].name, name) != 0))
        i++;
    if (i == count)
        stop(2, "an operator is not known");
    found.op = operators[i].compare;
    found.datum_a = number(word());
    found.datum_b = number(word());
    return found;
}

/* A rule that says what holds anyway is refused by the library. */
static void add(scmp_filter_ctx context, uint32_t action, uint32_t otherwise)
{
    struct scmp_arg_cmp arguments[MOST_ARGUMENTS];
    unsigned count = 0;
    const char *name = word();
    if (!name)
        stop(2, "a name is missing");
    int call = name[0] >= '0' && name[0] <= '9' ? (int)number(name)
                                                : seccomp_syscall_resolve_name(name);
    for (const char *argument = word(); argument && count < MOST_ARGUMENTS; argument = word())
        arguments[count++] = comparison(argument);
    if (call < 0 || action == otherwise)
        return;
    int failed = seccomp_rule_add_array(context, action, call, count, arguments);
    if (failed && failed != -EEXIST)
        stop(3, name);
}

static uint32_t action_of(uint64_t error)
{
    return error ? SCMP_ACT_ERRNO(error) : SCMP_ACT_ALLOW;
}

/* Root that has capabilities at all loads a filter without no_new_privs, as a container's manager
 * does: what it runs can tell the difference. */
static void load(scmp_filter_ctx context)
{
    if (geteuid() == 0)
        seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0);
    if (seccomp_load(context) != 0 &&
        (seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 1) != 0 || seccomp_load(context) != 0))
        stop(4, "the filter cannot be loaded");
}

static void keep_capabilities(uint64_t kept)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    for (unsigned long i = 0; i <= LAST_CAPABILITY; i++)
        if (!(kept >> i & 1))
            prctl(PR_CAPBSET_DROP, i, 0, 0, 0); /* those that the kernel does not know: EINVAL */
    if (syscall(SYS_capget, &head, sets) != 0)
        stop(4, "capget");
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        uint32_t mask = (uint32_t)(kept >> 32 * i);
        sets[i].permitted &= mask;
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    if (syscall(SYS_capset, &head, sets) != 0)
        stop(4, "capset");
}

int main(int argc, char **argv)
{
    char line[LONGEST_LINE];
    uint64_t kept = UINT64_MAX;
    uint32_t otherwise = SCMP_ACT_ALLOW;
    scmp_filter_ctx context = NULL;
    FILE *rules = argc > 2 ? fopen(argv[1], "re") : NULL;
    if (!rules)
        stop(2, "usage: place RULES PROGRAM [ARGUMENT…]");
    while (fgets(line, sizeof line, rules)) {
        const char *verb = strtok(line, " \n");
        if (!verb)
            continue;
        if (!context && strcmp(verb, "otherwise") == 0) {
            otherwise = action_of(number(word()));
            context = seccomp_init(otherwise);
        } else if (strcmp(verb, "keep") == 0) {
            kept = 0;
            for (const char *capability = word(); capability; capability = word())
                kept |= UINT64_C(1) << (number(capability) & LAST_CAPABILITY);
        } else if (context && strcmp(verb, "allow") == 0) {
            add(context, SCMP_ACT_ALLOW, otherwise);
        } else if (context && strcmp(verb, "refuse") == 0) {
            add(context, action_of(number(word())), otherwise);
        } else {
            stop(2, "a rule is not known");
        }
    }
    fclose(rules);
    if (!context)
        stop(2, "the rules do not begin with `otherwise`");
    load(context);
    if (kept != UINT64_MAX)
        keep_capabilities(kept);
    execv(argv[2], argv + 2);
    stop(5, strerror(errno));
}
