/* Bring what was written to the disk, in a thread, so that the process that writes does not wait.
 */
#ifndef MISHAP_INCIDENT_SYNC_H
#define MISHAP_INCIDENT_SYNC_H

/* The open file was written to: its data is on the disk within half a second, unless the disk is
 * slower. For one thread of a process. */
void mishap_sync_soon(int file);

/* At the end: now. */
void mishap_sync_now(int file);

#endif
