/* How far the journal was sent: a small file in the data folder. */
#ifndef MISHAP_OTLP_PLACE_H
#define MISHAP_OTLP_PLACE_H

#include "incident/follow.h"

/* The path of the file, DATA/otlp/place, in `path`; its folder is made. False: errno says why. */
bool mishap_otlp_place_path(const char *data, char *path, size_t size);

/* The place that was saved; the start of the oldest file if there is none, or it is damaged:
 * sending twice is better than not at all. */
mishap_follow_place mishap_otlp_place_read(const char *path);

/* Save it: the file has the old place or the new one, also after a power loss. False: errno says
 * why. */
bool mishap_otlp_place_save(const char *path, mishap_follow_place place);

#endif
