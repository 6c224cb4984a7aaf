"""Filters of system calls of other machines, as rules for tests/places/place.c.

What is written down here is what a filter refuses: that is short, and tells what is lost. A system call that is newer than these
tables is refused as well, as the lists of what is allowed do.
"""
import json
import platform

EPERM, ENOSYS, EOPNOTSUPP = 1, 38, 95

# From here on the numbers are of calls that none of the filters knows. They are the same on all processors.
FIRST_NEW, LAST_NEW = 463, 500

# Flags of clone(): mounts, control groups, UTS, IPC, users, PIDs, network.
NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)

CAPABILITIES = {name: number for number, name in enumerate(
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST "
    "NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE "
    "SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM "
    "BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE".split())}

# What root is left with in a container of Docker, and of systemd-nspawn.
DOCKER_KEEPS = ("CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE "
                "SETFCAP").split()
NSPAWN_KEEPS = DOCKER_KEEPS + ("AUDIT_CONTROL DAC_READ_SEARCH IPC_OWNER LEASE LINUX_IMMUTABLE NET_BROADCAST SYS_ADMIN SYS_BOOT SYS_NICE "
                               "SYS_PTRACE SYS_RESOURCE SYS_TTY_CONFIG").split()

# What no profile lets through: the clock, modules, other kernels, swapping, ports, the log of the kernel, quotas …
MACHINE = """acct adjtimex bpf clock_adjtime clock_settime delete_module fanotify_init finit_module init_module ioperm iopl
    kexec_file_load kexec_load lookup_dcookie nfsservctl open_by_handle_at perf_event_open pidfd_getfd quotactl quotactl_fd
    settimeofday swapoff swapon sysfs syslog uselib ustat _sysctl""".split()
LANDLOCK = "landlock_create_ruleset landlock_add_rule landlock_restrict_self".split()
MOUNTS = "mount umount2 pivot_root fsopen fsconfig fsmount fspick open_tree move_mount mount_setattr".split()
TRACING = "ptrace process_vm_readv process_vm_writev".split()


def refuse(names, error=EPERM):
    return ["refuse %d %s" % (error, name) for name in names]


def refuse_namespaces():
    """clone() with one of the flags, and all of clone3(), whose flags no filter can see: the C library goes on with clone()."""
    return refuse(["clone 0 MASKED_EQ %d %d" % (flag, flag) for flag in NAMESPACES] + ["unshare", "setns"]) + refuse(["clone3"], ENOSYS)


def refuse_new():
    return refuse([str(number) for number in range(FIRST_NEW, LAST_NEW)])


def keep(names):
    return ["keep " + " ".join(str(CAPABILITIES[name]) for name in names)]


PROFILES = {
    "no namespaces": refuse_namespaces(),
    "no landlock": refuse(LANDLOCK, EOPNOTSUPP),
    "no ptrace": refuse(TRACING),
    "no seccomp": refuse(["seccomp"], ENOSYS),
    "nothing": refuse_namespaces() + refuse(LANDLOCK, EOPNOTSUPP) + refuse(TRACING),

    # The profile of Docker 20.10, with what a container is given if nothing else is said.
    "docker": refuse(MACHINE + MOUNTS + """process_vm_readv process_vm_writev add_key cachestat fchmodat2 futex_requeue futex_wait
        futex_wake get_mempolicy kcmp keyctl map_shadow_stack mbind migrate_pages move_pages name_to_handle_at pkey_alloc pkey_free
        pkey_mprotect process_madvise reboot request_key set_mempolicy set_mempolicy_home_node setdomainname sethostname userfaultfd
        vhangup""".split()) + refuse_namespaces() + refuse_new() + keep(DOCKER_KEEPS),

    # The list of systemd-nspawn. Before version 254 Landlock was not on it.
    "nspawn": refuse(MACHINE + """fanotify_mark futex_requeue futex_wait futex_wake map_shadow_stack memfd_secret mlock mlock2 mlockall
        modify_ldt munlock munlockall pkey_alloc pkey_free pkey_mprotect process_mrelease""".split())
    + refuse(LANDLOCK) + refuse_new() + keep(NSPAWN_KEEPS),

    # SystemCallFilter=@system-service of a unit, since 254, and before.
    "system-service": refuse(MACHINE + MOUNTS + """chroot fanotify_mark futex_requeue futex_wait futex_wake map_shadow_stack memfd_secret
        mincore modify_ldt pkey_alloc pkey_free pkey_mprotect process_mrelease ptrace reboot setdomainname sethostname
        vhangup""".split()) + refuse_new(),
}
PROFILES["system-service 252"] = PROFILES["system-service"] + refuse(LANDLOCK + ["seccomp"])
for rules in PROFILES.values():
    rules.insert(0, "otherwise 0")

# ---- A profile in a file, in the format of Docker and Podman -------------------------------------

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def applies(rule, kept):
    """Does a rule hold on this machine, for a process with these capabilities?"""
    having = {"CAP_" + name for name in kept}
    machine = MACHINES.get(platform.machine(), platform.machine())
    within, beyond = rule.get("includes") or {}, rule.get("excludes") or {}
    return (set(within.get("caps") or []) <= having and machine in (within.get("arches") or [machine])
            and not set(beyond.get("caps") or []) & having and machine not in (beyond.get("arches") or []))


def read(path, kept):
    """The rules of a profile. Those about kernels before 4.8 are held to apply."""
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    lines = ["otherwise %d" % (profile.get("defaultErrnoRet") or EPERM)]
    for rule in profile["syscalls"]:
        verb = "allow" if rule["action"] == "SCMP_ACT_ALLOW" else "refuse %d" % (rule.get("errnoRet") or EPERM)
        conditions = "".join(" %d %s %d %d" % (part["index"], part["op"].replace("SCMP_CMP_", ""), part["value"], part.get("valueTwo") or 0)
                             for part in rule.get("args") or [])
        if applies(rule, kept):
            lines += ["%s %s%s" % (verb, name, conditions) for name in rule["names"]]
    return lines + keep(kept)
