/*
 * The search for slow inputs: every literal of every rule again and again, with what may stand
 * between; then the slowest of them on lines of several lengths, and in pairs. It knows nothing of
 * the checks, so a rule that is added is searched as well.
 */
#include "slow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../measure.h"
#include "base/base.h"
#include "guard/leak.h"
#include "guard/rules.h"

enum {
    SIZE = 1 << 16,
    TURNS = 2,
    MORE_TURNS = 24, /* for a text that seems slow: other programs can only make it slower */
    KEPT = 40,       /* of the slowest texts */
    PAIRED = 10,
    LONGEST = 200,
};

/* What stands between two literals; the last ones make other views of the text. */
static const char *const separators[] = { "", " ", "\n", "\"", "\",\"", "=", "<", "&lt;", "\\n" };

/* A line feed follows as soon as a line has so many bytes; 0: there is none. */
static const size_t line_lengths[] = { 0, 1, 80, 4096 };

enum {
    SEPARATORS = sizeof separators / sizeof *separators,
    LINE_LENGTHS = sizeof line_lengths / sizeof *line_lengths,
};

struct text {
    char piece[LONGEST];
    size_t line; /* its length */
    double speed;
};

static struct {
    struct text slowest[KEPT]; /* the slowest first */
    size_t kept, tried, below;
    double least; /* the goal */
} search;

static void ignore_leak(void *state, const mishap_leak *leak)
{
    (void)state;
    (void)leak;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The least CPU time of several turns, in MB/s. */
static double speed_of(const struct text *text, int more)
{
    static char bytes[SIZE + LONGEST + 1];
    size_t length = 0, piece = strlen(text->piece), line = 0;
    while (length < SIZE) {
        memcpy(bytes + length, text->piece, piece);
        length += piece;
        line += piece;
        if (text->line && line >= text->line) {
            bytes[length++] = '\n';
            line = 0;
        }
    }
    double best = 1e9;
    for (int turn = 0; turn < TURNS || (turn < more && (double)length / 1e6 / best < search.least);
         turn++) {
        double start = cpu_seconds();
        mishap_leak_scan((mishap_text){ bytes, length }, NULL, ignore_leak, NULL);
        double time = cpu_seconds() - start;
        best = time < best ? time : best;
    }
    return figure(text->piece, (double)length / 1e6 / best);
}

static void add_to_piece(struct text *text, const char *more)
{
    size_t length = strlen(text->piece), added = strlen(more);
    if (added < sizeof text->piece - length)
        memcpy(text->piece + length, more, added + 1);
}

static void try_text(const char *one, const char *other, const char *separator, size_t line)
{
    struct text text = { .line = line };
    add_to_piece(&text, one);
    add_to_piece(&text, separator);
    add_to_piece(&text, other);
    text.speed = speed_of(&text, MORE_TURNS);
    search.tried++;
    search.below += text.speed < search.least;
    size_t at = search.kept;
    while (at && search.slowest[at - 1].speed > text.speed)
        at--;
    if (at == KEPT)
        return;
    search.kept += search.kept < KEPT;
    memmove(&search.slowest[at + 1], &search.slowest[at],
            (search.kept - at - 1) * sizeof *search.slowest);
    search.slowest[at] = text;
}

/* A text for a literal: one character of each class. */
static void spell_literal(char *to, const char *literal)
{
    static const char classes[] = { 0, '1', ' ', 'A', 'a', 'f', 'a', 'f' };
    for (; *literal; literal++)
        *to++ = (unsigned char)*literal < sizeof classes ? classes[(unsigned char)*literal]
                                                         : *literal;
    *to = '\0';
}

static void try_literals(void)
{
    char literal[80];
    for (size_t r = 0; r < mishap_leak_rule_count; r++)
        for (size_t i = 0; i < MISHAP_LEAK_LITERALS && mishap_leak_rules[r].literals[i]; i++)
            for (size_t separator = 0; separator < SEPARATORS; separator++) {
                spell_literal(literal, mishap_leak_rules[r].literals[i]);
                try_text(literal, "", separators[separator], 0);
            }
}

/* The slowest texts on lines, then the slowest of all in pairs. */
static void try_slowest(void)
{
    struct text slowest[KEPT];
    size_t kept = search.kept;
    memcpy(slowest, search.slowest, sizeof slowest);
    for (size_t i = 0; i < kept; i++)
        for (size_t line = 1; line < LINE_LENGTHS; line++)
            try_text(slowest[i].piece, "", "", line_lengths[line]);
    memcpy(slowest, search.slowest, sizeof slowest);
    for (size_t i = 0; i < kept && i < PAIRED; i++)
        for (size_t j = 0; j < kept && j < PAIRED; j++)
            for (size_t separator = 0; i != j && separator < SEPARATORS; separator++)
                try_text(slowest[i].piece, slowest[j].piece, separators[separator], 0);
}

static void write_text(const struct text *text)
{
    printf("    %4.0f MB/s `", text->speed);
    for (const char *c = text->piece; *c; c++)
        if (*c == '\n')
            fputs("\\n", stdout);
        else
            putchar(*c);
    putchar('`');
    if (text->line)
        printf(", a line feed after %zu bytes", text->line);
    putchar('\n');
}

void tell_slowest(double least)
{
    enum { TOLD = 10 };
    search.least = least;
    try_literals();
    try_slowest();
    double slowest = figure("the search for slow texts", search.kept ? search.slowest[0].speed : 0);
    printf("%-34s %7.0f MB/s is the slowest of %zu texts, %zu below; target %.0f: %s\n",
           "literals, repeated", slowest, search.tried, search.below, least,
           search.below ? "MISSED" : "met");
    for (size_t i = 0; i < search.kept && i < TOLD; i++)
        write_text(&search.slowest[i]);
}
