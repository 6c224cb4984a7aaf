/* A record that is too long for a line is shortened. */
#ifndef MISHAP_INCIDENT_FIT_H
#define MISHAP_INCIDENT_FIT_H

#include "base/buffer.h"

/* The longest line of the journal, with its line feed. */
enum { MISHAP_INCIDENT_LINE = 128 << 10 };

/*
 * Shorten a JSON object without a line feed to MISHAP_INCIDENT_LINE - 1 bytes, if it is longer: its
 * longest members lose what has no room, at the end, and are named in the member `cut`. Without
 * memory the buffer is left as it is and has failed.
 */
void mishap_incident_fit(mishap_buffer *json);

#endif
