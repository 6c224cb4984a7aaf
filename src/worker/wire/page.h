/*
 * The page of memory that one loop and one worker share: the state of each call between them, and
 * what the worker leaves behind when it dies (last_words).
 *
 * A call that is handed over has a slot. Its state changes by compare-and-swap, so both sides agree
 * on what became of it:
 *
 *     HANDED → BEGUN   the worker begins it
 *     HANDED → TAKEN   the loop takes it back: the worker skips it
 *     BEGUN → DONE     its handler has returned: the answer follows
 *     BEGUN → KILLED   the loop decides to kill: no answer follows
 *     BEGUN → RAN      its handler has returned, and what it did is to be settled with others
 *     RAN → DONE       it was settled, or could not be: the answer follows
 *
 * A slot is used again and again, and a call that was taken back may still be on its way to the
 * worker. So the state has the number of its call beside it: the worker begins the call that is
 * meant, and no other.
 *
 * Memory order: all atomics here are sequentially consistent. The worker writes `begun_ns` before
 * the slot becomes BEGUN, and the loop reads it after it has seen BEGUN; so with `ran_us` and the
 * answer. The fields that last_words describes are written before last_words (a release), and read
 * after it (an acquire). A frame that travels over the socket is ordered by the kernel: the slot is
 * HANDED before the call is sent, and DONE before the answer is.
 *
 * The worker may write anything here, since a handler may write anywhere in its process. So the
 * loop reads nothing but states and times from it, and clamps the times.
 */
#ifndef MISHAP_WORKER_WIRE_PAGE_H
#define MISHAP_WORKER_WIRE_PAGE_H

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mishap/trace.h"

enum { MISHAP_SLOTS = 64 }; /* calls that one worker has of one loop */

typedef enum mishap_slot_state {
    MISHAP_SLOT_FREE,
    MISHAP_SLOT_HANDED,
    MISHAP_SLOT_TAKEN,
    MISHAP_SLOT_BEGUN,
    MISHAP_SLOT_DONE,
    MISHAP_SLOT_KILLED,
    MISHAP_SLOT_RAN,
} mishap_slot_state;

/* How a worker died, as far as it could record that itself. */
typedef enum mishap_last_words {
    MISHAP_WORDS_NONE,
    MISHAP_WORDS_CRASH, /* a fatal signal: base/signals.h */
    MISHAP_WORDS_EXIT,  /* its handler called exit() */
    MISHAP_WORDS_STACK, /* the keeper or its own timer asked for its stack */
} mishap_last_words;

/* The signal that asks a worker for its stack. The worker ends after it. */
static inline int mishap_words_signal(void)
{
    return SIGRTMIN + 3;
}

enum { MISHAP_WORDS_QUICK = INT_MIN }; /* instead of a status: the handler called quick_exit() */

typedef struct mishap_worker_page {
    atomic_uint slots[MISHAP_SLOTS];      /* see mishap_slot_word() */
    atomic_uchar cancelled[MISHAP_SLOTS]; /* see mishap_cancelled_how */
    atomic_uint ran_us[MISHAP_SLOTS];     /* time of its handler; 0: it has not returned */
    atomic_int_least64_t begun_ns;        /* when the running handler began */
    /* Of the running handler, if it reads a streamed file (operation/upload.h): since when it waits
     * for bytes, 0: it does not; and for how long it has waited before. */
    atomic_int_least64_t waiting_ns, waited_ns;
    atomic_uchar uploads[MISHAP_SLOTS]; /* … how that file has ended: mishap_upload_end */
    /* When the worker began to settle calls; 0: it settles none. */
    atomic_int_least64_t settling_ns;
    atomic_uint has_begun; /* the worker has begun a call of any loop */
    atomic_uint left_by; /* a handler has left a thread behind: the number of its operation, counted
                            from 1; 0: none has */
    atomic_uint last_words; /* written last, after the fields below */
    int number;             /* the signal, or the status of exit() */
    uint64_t address;       /* the address whose access failed */
    int aside;              /* another thread than the one that runs handlers */
    mishap_trace trace;     /* of the handler */
} mishap_worker_page;

/* A slot holds the number of its call and its state in one word. The state of call `number` is FREE
 * if the slot belongs to another call by now. */
static inline unsigned mishap_slot_word(uint32_t number, mishap_slot_state state)
{
    return number << 3 | (unsigned)state;
}

static inline mishap_slot_state mishap_slot_state_of(const mishap_worker_page *page, unsigned slot,
                                                     uint32_t number)
{
    unsigned word = atomic_load(&page->slots[slot]);
    return word >> 3 == (number << 3) >> 3 ? (mishap_slot_state)(word & 7) : MISHAP_SLOT_FREE;
}

static inline bool mishap_slot_change(mishap_worker_page *page, unsigned slot, uint32_t number,
                                      mishap_slot_state from, mishap_slot_state to)
{
    unsigned expected = mishap_slot_word(number, from);
    return atomic_compare_exchange_strong(&page->slots[slot], &expected,
                                          mishap_slot_word(number, to));
}

#endif
