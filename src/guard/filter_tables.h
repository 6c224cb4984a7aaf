/*
 * The tables of the filter, which are made when the program is built (make_filter.c): a process
 * that judges its first text only reads them. They have no addresses in them, so a program that
 * judges nothing does not pay for them when it starts.
 *
 * Each literal has two entries, for four bytes of it and for the four that begin one byte later:
 * one of them stands at an even place. Of all such pairs the one is taken that most texts have
 * least often: `Traceback` is found by `Trac`, `the above exception` not by `the `. A character
 * that stands for several becomes as many entries. A table of bits says whether four bytes are an
 * entry at all; a hash table says of which literals.
 */
#ifndef MISHAP_GUARD_FILTER_TABLES_H
#define MISHAP_GUARD_FILTER_TABLES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEAK_GRAM = 4,
    LEAK_BITS = 20,      /* 128 KB: it has to stay in the caches of a core */
    LEAK_SLOT_BITS = 15, /* of the hash table */
    LEAK_SLOTS = 1 << LEAK_SLOT_BITS,
    LEAK_SPLIT_BITS = 13,
    LEAK_SPLITS = 1 << LEAK_SPLIT_BITS,
    LEAK_SPLIT = 1,     /* in a slot, as the character behind: look in the table of splits */
    LEAK_CLASSES = 8,   /* \1 to \7 of a literal stand for several characters */
    LEAK_LONGEST = 64,  /* literal, with the 0 behind it */
    LEAK_BEGINNING = 16 /* so many characters of a literal are compared at once */
};

/* A literal of a rule. */
typedef struct mishap_leak_literal {
    uint16_t rule, text; /* where it begins in the texts, which each end with a 0 */
    uint8_t length, kind;
    uint16_t several; /* a bit for each of its first characters that stands for several … */
    char begin[LEAK_BEGINNING]; /* … which are 0 here and in the mask */
    char mask[LEAK_BEGINNING];
} mishap_leak_literal;

/* One reading of four bytes of a literal. Those of the same four bytes follow each other; behind
 * the last one is an entry with the length 0. */
typedef struct mishap_leak_entry {
    uint16_t literal;
    uint8_t length, kind; /* of the literal */
    uint8_t offset;       /* in the literal */
    uint8_t other;        /* the place in it of another character, which is looked at first … */
    char character;       /* … and is this one; 0: all others stand for several */
    uint8_t rule;
} mishap_leak_entry;

/* Four bytes, and the first of their entries; 0: the place is free. If all entries have the same
 * character before the four bytes, or behind them, it is here; 0: they do not. */
typedef struct mishap_leak_slot {
    uint32_t gram;
    uint16_t first;
    char before, behind;
} mishap_leak_slot;

/* The entries of four bytes that may have this character behind them: where many literals have the
 * same four, few are compared. */
typedef struct mishap_leak_split {
    uint32_t gram;
    uint16_t first; /* 0: the place is free */
    char behind;    /* 0: any that has no place of its own */
} mishap_leak_split;

extern const uint64_t mishap_leak_bits[(1 << LEAK_BITS) / 64];
extern const mishap_leak_slot mishap_leak_slots[LEAK_SLOTS];
extern const mishap_leak_split mishap_leak_splits[LEAK_SPLITS];
extern const mishap_leak_entry mishap_leak_entries[];
extern const mishap_leak_literal mishap_leak_literals[];
extern const char mishap_leak_texts[];

static inline uint32_t leak_bit_of(uint32_t gram)
{
    return gram * 0x9E3779B1u >> (32 - LEAK_BITS);
}

static inline uint32_t leak_slot_of(uint32_t gram)
{
    return gram * 0x85EBCA6Bu >> (32 - LEAK_SLOT_BITS);
}

static inline uint32_t leak_split_of(uint32_t gram, char behind)
{
    return (gram + (unsigned char)behind * 0x01000193u) * 0x85EBCA6Bu >> (32 - LEAK_SPLIT_BITS);
}

#endif
