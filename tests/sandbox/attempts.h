/*
 * What a hostile program tries in the sandbox, and which layers stop it: each of them by itself.
 * The program (attacker.c) has a function for each row, the test (sandbox_test.c) tries
 * each layer alone on its rows and all together on all, and docs/sandbox.md has the same table.
 *
 *     S seccomp  L landlock  R limits  M mounts  P processes  N network  I ipc  H host  U users
 *     C privileges  G groups
 *
 * A digit behind L is the version of Landlock from which on it does. `*`: no layer is needed, it is
 * how a program is started. `plain` is true where the attempt succeeds without a sandbox on any
 * machine, which is tried, too: an attempt that never works shows nothing. A PID namespace limits
 * threads from Linux 6.14 on, together with a mount namespace.
 */
/* clang-format off */
#define SANDBOX_ATTEMPTS(A) \
    /* name               layers  plain  what is tried */ \
    A(read_file,          "LM",   true,  "read a file that is not named") \
    A(read_openat2,       "SLM",  true,  "the same with openat2()") \
    A(read_by_link,       "LM",   true,  "the same through a symbolic link of its own") \
    A(read_by_hard_link,  "LM",   false, "the same through a hard link of its own") \
    A(read_above,         "LM",   true,  "the same by a path above the root folder") \
    A(read_by_handle,     "SUC",  false, "open a file by its handle") \
    A(read_device,        "LM",   true,  "open a device") \
    A(read_kernel,        "LM",   true,  "read settings of the kernel in /proc/sys") \
    A(list_folder,        "LM",   true,  "list a folder that is not named") \
    A(see_file,           "M",    true,  "learn whether a file exists, and its size") \
    A(watch_folder,       "SM",   true,  "be told of changes in a folder (inotify)") \
    A(write_file,         "LM",   true,  "make a file outside of the temporary folder") \
    A(write_root,         "LM",   false, "make a file in the root folder") \
    A(write_readable,     "LM",   false, "write to a file that it may read") \
    A(truncate_file,      "SML3", true,  "truncate a file by its path") \
    A(truncate_by_open,   "SLM",  true,  "truncate a file by opening it") \
    A(unlink_file,        "LM",   true,  "remove a file") \
    A(rename_file,        "LM",   true,  "rename a file") \
    A(make_folder,        "LM",   true,  "make a folder") \
    A(make_device,        "SLUC", false, "make a device") \
    A(change_mode,        "SM",   true,  "change the mode of a file") \
    A(change_owner,       "SM",   true,  "change the owner of a file") \
    A(change_times,       "SM",   true,  "change the times of a file") \
    A(change_attribute,   "SM",   false, "set an extended attribute of a file") \
    A(change_kernel,      "LM", false, "write a setting of the kernel") \
    A(fill_folder,        "M",    true,  "fill the temporary folder with many files") \
    A(fill_file,          "MR",   true,  "fill the temporary folder with one file") \
    A(execute,            "SLM",  true,  "execute another program") \
    A(execute_itself,     "S",    true,  "execute itself again") \
    A(execute_by_file,    "S",    true,  "execute itself by a descriptor (execveat)") \
    A(execute_memory,     "S",    true,  "execute a file in memory (memfd)") \
    A(execute_written,    "SLM",  true,  "execute a program that it has written") \
    A(fork_process,       "S",    true,  "fork") \
    A(vfork_process,      "S",    true,  "vfork") \
    A(clone_process,      "S",    true,  "clone() that makes no thread") \
    A(clone3_process,     "S",    true,  "clone3()") \
    A(clone_namespace,    "S",    false, "clone() into a new user namespace") \
    A(clone_thread,       "SUC",  false, "clone() of a thread into a new network namespace") \
    A(trace_parent,       "SLPU", false, "ptrace its parent") \
    A(trace_me,           "S",    true,  "be traced by its parent") \
    A(signal_parent,      "SPL6", true,  "send a signal to its parent") \
    A(signal_thread,      "SPL6", true,  "the same with tkill()") \
    A(signal_queue,       "SPL6", false, "the same with rt_sigqueueinfo()") \
    A(signal_tgkill,      "SPL6", true,  "the same with tgkill()") \
    A(signal_tgqueue,     "SPL6", false, "the same with rt_tgsigqueueinfo()") \
    A(signal_group,       "S",    true,  "send a signal to its process group") \
    A(signal_all,         "SP",   true,  "send a signal to all processes") \
    A(signal_by_file,     "SP",   true,  "have the kernel send one, by the owner of a file") \
    A(signal_by_owner,    "SP",   true,  "the same with F_SETOWN_EX") \
    A(signal_of_file,     "S",    true,  "choose that signal (F_SETSIG)") \
    A(parent_pidfd,       "SP",   true,  "open its parent as a descriptor (pidfd)") \
    A(parent_handle,      "S",    false, "the same by its socket (SO_PEERPIDFD)") \
    A(parent_credentials, "S",    true,  "ask its socket for its parent (SO_PEERCRED)") \
    A(parent_files,       "SPU",  false, "take a descriptor of its parent (pidfd_getfd)") \
    A(parent_read,        "SLPU", false, "read the memory of its parent") \
    A(parent_write,       "SLPU", false, "write the memory of its parent") \
    A(parent_mem,         "LMU",  false, "the same by /proc/PID/mem") \
    A(parent_environment, "LMU",  true,  "read the environment of its parent") \
    A(parent_command,     "LM",   true,  "read the command line of its parent") \
    A(parent_session,     "SP",   true,  "learn the session of its parent") \
    A(parent_group,       "SP",   true,  "learn the process group of its parent") \
    A(parent_nice,        "SP",   true,  "learn the priority of its parent") \
    A(parent_policy,      "SP",   true,  "learn the scheduler of its parent") \
    A(parent_processors,  "SP",   true,  "learn the processors of its parent") \
    A(parent_compare,     "SLPU", false, "compare its files with those of its parent (kcmp)") \
    A(parent_priority,    "SP",   true,  "set the priority of its parent") \
    A(parent_limits,      "SP",   true,  "read the limits of its parent") \
    A(parent_scheduler,   "SP",   true,  "set the scheduler of its parent") \
    A(list_processes,     "LM",   true,  "list all processes") \
    A(own_memory,         "LM",   true,  "write its own memory by /proc/self/mem") \
    A(connect_tcp,        "SNL4", true,  "connect to a port of this machine") \
    A(send_udp,           "SN",   true,  "send a datagram to this machine") \
    A(bind_tcp,           "SL4", true,  "listen on a port") \
    A(socket_inet6,       "S",    false, "make a socket for IPv6") \
    A(socket_netlink,     "S",    true,  "make a socket for netlink") \
    A(socket_packet,      "SUC",  false, "make a socket for packets") \
    A(socket_raw,         "SUC",  false, "make a raw socket") \
    A(socket_vsock,       "S",    false, "make a socket to the host of a virtual machine") \
    A(socket_crypto,      "S",    false, "make a socket for the ciphers of the kernel") \
    A(socket_pair,        "S",    true,  "make a pair of sockets") \
    A(connect_unix,       "SM",   true,  "connect to a socket by its path") \
    A(connect_abstract,   "SNL6", true,  "connect to an abstract socket") \
    A(send_elsewhere,     "S",    true,  "send to another address over its socket") \
    A(send_file,          "S",    true,  "send a descriptor over its socket") \
    A(shared_memory,      "SI",   true,  "attach shared memory of others (System V)") \
    A(shared_messages,    "SI",   true,  "open a message queue of others (System V)") \
    A(shared_semaphores,  "SI",   true,  "open semaphores of others (System V)") \
    A(posix_queue,        "SI",   false, "open a message queue of others (POSIX)") \
    A(host_name,          "H",    true,  "learn the name of the host") \
    A(set_host_name,      "SUC",  false, "set the name of the host") \
    A(set_clock,          "SUC",  false, "set the clock") \
    A(mount_files,        "SLUC", false, "mount a file system") \
    A(mount_context,      "SUC",  false, "the same with fsopen()") \
    A(unmount,            "SUC",  false, "unmount one") \
    A(change_root,        "SUC",  false, "chroot") \
    A(pivot_root,         "SLUC", false, "pivot_root") \
    A(leave_namespace,    "SUC",  false, "unshare its mounts") \
    A(leave_users,        "S",    false, "unshare its user namespace") \
    A(join_namespace,     "SMUC", false, "join a namespace (setns)") \
    A(set_user,           "SUC",  false, "become another user") \
    A(set_groups,         "SUC",  false, "set its groups") \
    A(raise_capabilities, "SUC",  false, "raise its capabilities") \
    A(set_limit,          "S",    true,  "set a limit to what it is") \
    A(raise_limit,        "SUC",  false, "raise a limit") \
    A(raise_priority,     "SUC",  false, "raise its priority") \
    A(real_time,          "SUC",  false, "run in real time") \
    A(pin_processor,      "S",    true,  "choose its processor") \
    A(lock_memory,        "S",    false, "lock memory") \
    A(undumpable,         "S",    true,  "hide from its parent (PR_SET_DUMPABLE)") \
    A(outlive_parent,     "S",    true,  "outlive its parent (PR_SET_PDEATHSIG)") \
    A(own_session,        "S",    false, "begin a session") \
    A(no_randomness,      "S",    true,  "change its personality") \
    A(own_filter,         "S",    true,  "install a filter with a listener of its own") \
    A(input_terminal,     "S",    true,  "type into a terminal (TIOCSTI)") \
    A(ring,               "S",    false, "io_uring") \
    A(kernel_program,     "SUC",  false, "load a program into the kernel (bpf)") \
    A(kernel_module,      "SUC",  false, "load a module into the kernel") \
    A(kernel_reboot,      "SUC",  false, "reboot") \
    A(kernel_kexec,       "SUC",  false, "load another kernel") \
    A(kernel_swap,        "SUC",  false, "swap to a file") \
    A(kernel_account,     "SUC",  false, "account processes to a file") \
    A(kernel_quota,       "S",    false, "ask for quotas") \
    A(kernel_log,         "S",    false, "read the log of the kernel") \
    A(kernel_keys,        "S",    true,  "use the keyrings of the kernel") \
    A(kernel_faults,      "S",    false, "handle page faults of the kernel (userfaultfd)") \
    A(kernel_counters,    "S",    false, "count events of the processor (perf_event_open)") \
    A(kernel_ports,       "SUC",  false, "use ports of the processor") \
    A(other_abi,          "S",    false, "call the kernel as a 32-bit program") \
    A(take_memory,        "R",    true,  "take more memory than its limit") \
    A(take_files,         "R",    true,  "open more files than its limit") \
    A(take_threads,       "GP",   true,  "start more threads than its limit") \
    A(take_processor,     "R",    false, "use the processor for ever") \
    A(dump_core,          "R",    false, "leave a core file") \
    A(see_environment,    "*",    false, "find a variable in its environment") \
    A(see_descriptors,    "*",    false, "find a descriptor that it was not given")
/* clang-format on */
