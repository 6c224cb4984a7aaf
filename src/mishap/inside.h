/*
 * src/mishap: the value, the catalog, the trace. What one failure is, and what is known of its kind.
 *
 * This header is the inside of the value. Dialects do not include it: they see mishap_public and nothing else.
 */
#ifndef MISHAP_MISHAP_INSIDE_H
#define MISHAP_MISHAP_INSIDE_H

#include "base/arena.h"
#include "mishap/mishap.h"
#include "mishap/trace.h"

/*
 * One block holds the mishap and, in its tail, the start of its arena: a mishap with a few fields is one
 * allocation. 1 KB is what malloc serves from its fastest lists.
 */
enum { MISHAP_BLOCK = 1024 };

struct mishap {
    mishap_public told;
    mishap_member *last_told;
    mishap_field *last_field;
    mishap_frame *last_frame;

    mishap_text masked_message; /* what was said under a masked code */
    const mishap_member *noted;
    mishap_member *last_noted;
    mishap *cause;
    mishap_place place;
    mishap_trace trace;
    bool restored;   /* read from a document: its message was public already */
    bool incomplete; /* a part was left out for lack of memory */
    bool constant;   /* the one that stands for "no memory": never changed, never freed */
    int reserve;     /* which block of the reserve it lives in, -1 for the heap */
    mishap_arena arena;
};

/* A new mishap with this code and nothing else; from the reserve, or the constant one, without memory. */
mishap *mishap_make(const mishap_code *code);

#endif
