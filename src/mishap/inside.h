/*
 * src/mishap: the value, the catalog, the trace. What one failure is, what is known of its kind,
 * how leaks are taken out of it (hide.h), and how it crosses to another process (carry.h).
 *
 * This header is the inside of the value. Dialects do not include it: they see mishap_public and
 * nothing else.
 */
#ifndef MISHAP_MISHAP_INSIDE_H
#define MISHAP_MISHAP_INSIDE_H

#include <stdarg.h>

#include "base/arena.h"
#include "mishap/keys.h"
#include "mishap/mishap.h"
#include "mishap/trace.h"

/*
 * One block holds the mishap and, in its tail, the start of its arena: a mishap with a few fields
 * is one allocation. 1 KB is what malloc serves from its fastest lists.
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
    mishap_keys *keys; /* of both lists; NULL: there are few members, or some were taken out. Three
                          findings must still fit into the block: seed 003's 422 has them */
    const mishap_frame *stack; /* of another language, from the innermost frame */
    mishap_frame *last_stack;
    size_t stack_count;
    mishap *cause;
    mishap_place place;
    mishap_trace trace;
    bool restored;     /* read from a document: its message was public already */
    bool status_known; /* the HTTP status of a derived code came with the document */
    bool incomplete;   /* a part was left out for lack of memory */
    bool of_worker;    /* it comes from another process of the program, which runs handlers */
    bool constant;     /* the one that stands for "no memory": never changed, never freed */
    int reserve;       /* which block of the reserve it lives in, -1 for the heap */
    mishap_arena arena;
};

/* A new mishap with this code and nothing else; from the reserve, or the constant one, without
 * memory. */
mishap *mishap_make(const mishap_code *code);

/* After members were taken out of the lists of a mishap: its keys are looked up anew. */
static inline void mishap_forget_keys(mishap *m)
{
    m->keys = NULL;
}

/* What mishap_account() writes of this one, without its causes, up to the lines of its stack. */
void mishap_account_put_one(mishap_buffer *buffer, const mishap *m);

/* The message, once it is kept: what is said under a masked code is private, unless it was public
 * already. */
static inline void mishap_set_message(mishap *m, mishap_text kept)
{
    if (m->told.code->masked && !m->restored)
        m->masked_message = kept;
    else
        m->told.message = kept;
}

/*
 * Add a field error that is known to be sound: its texts are clean, hold no secret and live as long
 * as the program, its bounds are numbers in order. Nothing but the struct is copied.
 */
void mishap_field_add_sound(mishap *m, const mishap_field *field);

/* Add a frame to the stack of another language; those behind the limit are dropped. */
enum { MISHAP_STACK_MOST = 256 };
void mishap_stack_put(mishap *m, mishap_text frame);

/* True if nothing can be added to it: there is none, or it is the constant one. */
static inline bool mishap_fixed(const mishap *m)
{
    return !m || m->constant;
}

/* It was raised by a worker, or tells how one ended. */
static inline void mishap_set_of_worker(mishap *m)
{
    if (!mishap_fixed(m))
        m->of_worker = true;
}

/*
 * Keep text or a value in the arena of a mishap: as valid UTF-8 without NUL, passwords in addresses
 * redacted, JSON written anew. Without memory it is nothing, and the mishap is marked. Words that
 * say nothing are none.
 */
mishap_text mishap_keep(mishap *m, mishap_text text);
mishap_text mishap_keep_words(mishap *m, mishap_text text);
__attribute__((format(printf, 2, 0))) mishap_text mishap_keep_printed(mishap *m, const char *format,
                                                                      va_list arguments);
void mishap_keep_text_value(mishap *m, mishap_value *value);

/* Numbers need no keeping, and most values are numbers or none. */
static inline void mishap_keep_value(mishap *m, mishap_value *value)
{
    if (value->kind >= MISHAP_KIND_TEXT)
        mishap_keep_text_value(m, value);
}

#endif
