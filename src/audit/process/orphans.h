/*
 * The children of a process, and what is left of a command whose watchers were killed.
 *
 * The audit is a child subreaper. If a command kills its warden and the deputy, the command and its
 * descendants become children of the audit, which kills them.
 */
#ifndef MISHAP_AUDIT_PROCESS_ORPHANS_H
#define MISHAP_AUDIT_PROCESS_ORPHANS_H

#include <stdint.h>
#include <sys/types.h>

enum { MISHAP_AUDIT_MOST_PROCESSES = 512 }; /* whose ids are read at once */

/* The children of this process that began at `since` or later, which has the unit of
 * mishap_audit_began(); 0: all. Children of a child that has ended are among them, if this process
 * is a child subreaper. At most MISHAP_AUDIT_MOST_PROCESSES are listed. */
int mishap_audit_list_children(uint64_t since, pid_t *pids);

/* When a process began; 0: it is not known. */
uint64_t mishap_audit_began(pid_t pid);

/* Kill all children that began at `since` or later, and their descendants, and wait for them. The
 * result is how many there were at first; `*status` is set to that of `command` if it is among
 * those. */
int mishap_audit_kill_orphans(uint64_t since, pid_t command, int *status);

#endif
