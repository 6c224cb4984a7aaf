/* What a mishap tells beside its message, as JSON. */
#ifndef MISHAP_MEMBERS_H
#define MISHAP_MEMBERS_H

#include "base/base.h"
#include "mishap/mishap.h"

/* Append all members, within an object that the caller opens and closes. */
static inline void mishap_members_put(mishap_buffer *json, const mishap_member *first)
{
    for (const mishap_member *at = first; at; at = at->next) {
        mishap_json_key(json, at->key);
        mishap_json_value(json, &at->value);
    }
}

/* The same with the object. */
static inline void mishap_members_put_object(mishap_buffer *json, const mishap_member *first)
{
    mishap_json_open(json, '{');
    mishap_members_put(json, first);
    mishap_json_close(json, '}');
}

#endif
