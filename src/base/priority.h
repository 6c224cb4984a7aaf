/* The share of the processors that a process gets while others want them as well. */
#ifndef MISHAP_BASE_PRIORITY_H
#define MISHAP_BASE_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

/* True if this process may restore a priority that it has lowered: only with CAP_SYS_NICE. */
bool mishap_priority_can_be_restored(void);

/*
 * Set the priority of a process that leads a session: so much lower than that of this process, up
 * to 19; 0: the same. It holds for its process group, and for its session where the system shares
 * processors between sessions (autogroup). With a lower priority it also gives way at once to any
 * process that wakes up, where the system supports that. Steps that the system refuses are skipped.
 */
void mishap_priority_lower(pid_t pid, int by);

#endif
