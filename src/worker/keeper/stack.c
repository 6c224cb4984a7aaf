/*
 * Reads the stack of a worker from outside, with ptrace and process_vm_readv: see stack.h. Runs in
 * the keeper.
 */
#include "worker/keeper/stack.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

enum {
    LOWEST = 4096, /* no code lies below this address, with any page size */
};

/* A frame record, as the ABIs of x86-64 and arm64 lay it out. */
struct record {
    uint64_t caller, return_address;
};

/* The process whose stack is read, and its /proc/PID/pagemap; -1: there is none. */
struct process {
    int pid, pages;
};

/* Is this address in memory? Reading a page that is not would block until a disk, a file system, or
 * a thread of the worker itself (userfaultfd) provides it. The keeper must not block on any of
 * these. */
static bool is_present(const struct process *p, uint64_t address)
{
    uint64_t page = address / (uint64_t)sysconf(_SC_PAGESIZE), entry;
    return p->pages < 0 ||
           (pread(p->pages, &entry, sizeof entry, (off_t)(page * sizeof entry)) == sizeof entry &&
            entry >> 63 & 1);
}

static bool read_memory(const struct process *p, uint64_t address, struct record *record)
{
    struct iovec here = { record, sizeof *record };
    struct iovec there = { (void *)(uintptr_t)address, sizeof *record };
    return is_present(p, address) && is_present(p, address + sizeof *record - 1) &&
           process_vm_readv(p->pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof *record;
}

/* Is this instruction in a library, where functions have no frame pointers? A worker is forked from
 * this process, so libraries have the same addresses here and there. */
static bool is_in_library(uint64_t instruction)
{
    Dl_info there, here;
    union {
        bool (*function)(int pid, mishap_trace *trace);
        void *address;
    } ours = { mishap_stack_read };
    return dladdr((void *)(uintptr_t)instruction, &there) && dladdr(ours.address, &here) &&
           there.dli_fbase != here.dli_fbase;
}

/* Is this a return address: in a known function, right behind a call? */
static bool is_behind_call(const void *address)
{
    Dl_info found;
    return dladdr(address, &found) && found.dli_sname && mishap_trace_is_behind_call(address);
}

/* Code without frame pointers may leave any value in the register. So each frame record must lie
 * above the one before, and not too far away. */
static void follow(const struct process *p, mishap_trace *trace, uint64_t instruction,
                   uint64_t frame, uint64_t stack, uint64_t caller)
{
    const uint64_t most = 64 * 1024 * 1024;
    uint64_t low = stack;
    struct record record;
    trace->addresses[trace->count++] = (void *)(uintptr_t)(instruction + 1);
    if (caller)
        trace->addresses[trace->count++] = (void *)(uintptr_t)caller;
    while (trace->count < MISHAP_TRACE_MAX && frame >= low && frame - stack < most &&
           frame % sizeof(void *) == 0 && read_memory(p, frame, &record) &&
           record.return_address >= LOWEST) {
        void *address = mishap_trace_strip((void *)(uintptr_t)record.return_address);
        /* Otherwise the function has a frame record, too, and would be listed twice. */
        if (low != stack || address != (void *)(uintptr_t)caller)
            trace->addresses[trace->count++] = address;
        low = frame + 1;
        frame = record.caller;
    }
}

static bool read_registers(const struct process *p, mishap_trace *trace)
{
#if defined(__x86_64__)
    struct user_regs_struct registers;
    struct iovec room = { &registers, sizeof registers };
    if (ptrace(PTRACE_GETREGSET, p->pid, NT_PRSTATUS, &room) != 0)
        return false;
    /* In a system call of a library, the return address is on top of the stack. */
    struct record top = { 0, 0 };
    if (!is_in_library(registers.rip) || !read_memory(p, registers.rsp, &top) ||
        !is_behind_call((const void *)(uintptr_t)top.caller))
        top.caller = 0;
    follow(p, trace, registers.rip, registers.rbp, registers.rsp, top.caller);
    return true;
#elif defined(__aarch64__)
    struct user_regs_struct registers;
    struct iovec room = { &registers, sizeof registers };
    if (ptrace(PTRACE_GETREGSET, p->pid, NT_PRSTATUS, &room) != 0)
        return false;
    void *link = mishap_trace_strip((void *)(uintptr_t)registers.regs[30]);
    uint64_t caller = is_in_library(registers.pc) && is_behind_call(link) ? (uintptr_t)link : 0;
    follow(p, trace, registers.pc, registers.regs[29], registers.sp, caller);
    return true;
#else
    (void)p, (void)trace;
    return false;
#endif
}

bool mishap_stack_stop(int pid)
{
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 &&
           ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0;
}

bool mishap_stack_read(int pid, mishap_trace *trace)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    struct process p = { pid, open(path, O_RDONLY | O_CLOEXEC) };
    trace->count = 0;
    bool read = read_registers(&p, trace);
    if (p.pages >= 0)
        close(p.pages);
    return read;
}
