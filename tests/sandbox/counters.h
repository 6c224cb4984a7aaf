/*
 * What a hostile program takes of that which the system counts for a whole user or for the whole
 * machine. The program (sandbox_attack_counters.c) has a function for each row, which takes as much
 * as it gets and says how much that was; the test (shares_test.c) holds the number against
 * the row, and looks whether others still have what they need.
 *
 * `most` is what a program in the sandbox may have at once. `plain` is true where more than that is
 * had without a sandbox on any machine, which is tried, too.
 */
/* clang-format off */
#define SANDBOX_COUNTERS(C) \
    /* name              most  plain  what is taken                              counted by */ \
    C(queued_signals,    0,    true,  "queued signals (rt_sigqueueinfo)",        "RLIMIT_SIGPENDING") \
    C(queued_tgsignals,  0,    true,  "queued signals (rt_tgsigqueueinfo)",      "RLIMIT_SIGPENDING") \
    C(real_time_signals, 0,    true,  "signals of real time (kill)",             "RLIMIT_SIGPENDING") \
    C(thread_signals,    0,    true,  "signals of real time (tgkill)",           "RLIMIT_SIGPENDING") \
    C(timers,            0,    true,  "timers (timer_create)",                   "RLIMIT_SIGPENDING") \
    C(threads,           18,   true,  "threads",                                 "RLIMIT_NPROC") \
    C(processes,         0,    false, "processes",                               "RLIMIT_NPROC") \
    C(message_queues,    0,    true,  "message queues (POSIX)",                  "RLIMIT_MSGQUEUE") \
    C(locked_memory,     0,    false, "locked memory (mlock)",                   "RLIMIT_MEMLOCK") \
    C(locked_mappings,   0,    false, "locked memory (MAP_LOCKED)",              "RLIMIT_MEMLOCK") \
    C(huge_pages,        0,    false, "huge pages (MAP_HUGETLB)",                "nr_hugepages") \
    C(inotify_groups,    0,    true,  "groups of inotify",                       "max_user_instances") \
    C(fanotify_groups,   0,    false, "groups of fanotify",                      "max_user_groups") \
    C(watches,           0,    true,  "watches of epoll",                        "max_user_watches") \
    C(pipes,             0,    true,  "pipes",                                   "pipe-user-pages-soft") \
    C(pipe_pages,        0,    true,  "pages of a pipe (F_SETPIPE_SZ)",          "pipe-user-pages-soft") \
    C(copying_pipes,     0,    true,  "pipes inside of the system (sendfile)",   "pipe-user-pages-soft") \
    C(keys,              0,    false, "keys (add_key)",                          "kernel.keys.maxkeys") \
    C(shared_segments,   0,    true,  "shared memory (System V)",                "kernel.shmmni") \
    C(semaphores,        0,    true,  "semaphores (System V)",                   "kernel.sem") \
    C(messages,          0,    true,  "message queues (System V)",               "kernel.msgmni") \
    C(requests,          0,    false, "asynchronous requests (io_setup)",        "fs.aio-max-nr") \
    C(rings,             0,    false, "rings (io_uring)",                        "RLIMIT_MEMLOCK") \
    C(maps,              0,    false, "maps of the kernel (bpf)",                "RLIMIT_MEMLOCK") \
    C(event_counters,    0,    false, "counters of events (perf_event_open)",    "perf_event_mlock_kb") \
    C(namespaces,        0,    false, "user namespaces",                         "user.max_user_namespaces") \
    C(terminals,         0,    false, "terminals (/dev/ptmx)",                   "kernel.pty.max") \
    C(sent_files,        0,    true,  "descriptors on their way (SCM_RIGHTS)",   "RLIMIT_NOFILE") \
    C(file_locks,        0,    true,  "locks of a library's file (flock)",       "nothing") \
    C(record_locks,      0,    true,  "locks of a library's bytes (fcntl)",      "nothing") \
    C(leases,            0,    false, "leases of a library's file (F_SETLEASE)", "nothing") \
    C(memory_files,      0,    true,  "files in memory (memfd_create)",          "nothing") \
    C(event_files,       64,   true,  "open files (eventfd)",                    "fs.file-max") \
    C(temporary_files,   1040, true,  "files in the temporary folder",           "its file system")

/* How a program tries to have more memory than its profile gives it. */
#define SANDBOX_GROWTHS(G) \
    G(grow_private,  "private memory (mmap)") \
    G(grow_heap,     "its heap (brk)") \
    G(grow_shared,   "shared memory without a file") \
    G(grow_memfd,    "a file in memory (memfd_create)") \
    G(grow_system_v, "shared memory (System V)") \
    G(grow_zero,     "shared memory of /dev/zero") \
    G(grow_file,     "a file that it may read") \
    G(grow_copy,     "a private copy of a file that it may read") \
    G(grow_folder,   "files of its temporary folder, mapped") \
    G(grow_down,     "memory that grows downward (MAP_GROWSDOWN)") \
    G(grow_stack,    "its stack") \
    G(grow_stacks,   "stacks of threads") \
    G(grow_tables,   "page tables")
/* clang-format on */
