/*
 * Ways to die by one signal of the processor, the same one on each: what C has for it does not mean
 * the same everywhere. On arm64 a division by zero is 0, and __builtin_trap() is SIGTRAP; on x86-64
 * they are SIGFPE and SIGILL. Where no instruction raises the signal, raise() does.
 */
#ifndef TESTS_DYING_H
#define TESTS_DYING_H

#include <signal.h>

/* SIGFPE */
static inline int die_by_division(int number)
{
#if defined(__x86_64__)
    int quotient = number, rest = 0;
    __asm__ volatile("idivl %2" : "+a"(quotient), "+d"(rest) : "r"(0) : "cc");
    return quotient;
#else
    raise(SIGFPE);
    return number;
#endif
}

/* SIGILL */
static inline void die_by_illegal_instruction(void)
{
#if defined(__x86_64__)
    __asm__ volatile("ud2");
#elif defined(__aarch64__)
    __asm__ volatile(".inst 0x00000000"); /* udf #0 */
#else
    raise(SIGILL);
#endif
}

/* SIGTRAP */
static inline void die_by_breakpoint(void)
{
#if defined(__x86_64__)
    __asm__ volatile("int3");
#elif defined(__aarch64__)
    __asm__ volatile("brk #1000");        /* what __builtin_trap() of gcc is */
#else
    raise(SIGTRAP);
#endif
}

#endif
