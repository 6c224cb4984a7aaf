/*
 * The identity of a process: its id and its start time. The process id alone is not sufficient,
 * because the kernel reuses it after the process has ended.
 */
#ifndef MISHAP_BASE_LIFE_H
#define MISHAP_BASE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* A process id and the time at which its process was started, as one number that can be kept in
 * memory which processes share. 0: none. */
typedef uint64_t mishap_life;

/* `started` is field 22 of /proc/PID/stat: ticks since the machine was started; 0: not known, then
 * only the process id is used. */
mishap_life mishap_life_of(int process, uint64_t started);
int mishap_life_process(mishap_life life);

/* This process. */
mishap_life mishap_life_self(void);

/* The state of a process from /proc/PID/stat: 'R' runs or wants to, 'S' sleeps, 'Z' is dead, … '?':
 * it is not known. */
char mishap_life_state(int process);

/* True if the main thread of a process blocks a signal, or the process ignores it. False: not, or
 * not known. */
bool mishap_life_is_deaf(int process, int signal);

/* True if it has ended. If its process id was reused, that may be noticed a second late. */
bool mishap_life_is_over(mishap_life life);

#endif
