/*
 * Patterns: Perl-compatible regular expressions that cannot run away.
 *
 * A pattern is compiled once, for all threads, and kept. Compiled patterns are in a table that only
 * grows: a new pattern is inserted at the head of its chain by one atomic exchange, and readers of
 * the chain need no lock. To limit the memory of a program that generates patterns, only the first
 * thousand are kept; the others are compiled for one search.
 *
 * Nothing is given back at exit, where other threads may still be searching: all of it can be
 * reached from here, and so counts for no leak. mishap_pattern_forget() gives it back earlier.
 *
 * Three things are not as Perl has them, so that a pattern means what it means in a JSON Schema: $
 * is only the very end, \d and \w are ASCII, and \C, which would cut characters in pieces, is
 * refused.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/memory.h"
#include "operation/findings.h"

enum {
    CHAINS = 256,
    MOST_KEPT = 1024,
    SLOW_SEARCHES = 4,       /* before machine code, which takes a hundred of them to make */
    MATCH_LIMIT = 100000,    /* steps of a search: a millisecond or two, less in machine code */
    HEAP_LIMIT_KB = 8192,    /* of a search that runs no machine code */
    STACK_FIRST = 32 * 1024, /* of one that does; it grows as needed */
    STACK_MOST = 1024 * 1024,
};

static const uint32_t compile_options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;

static void *take_block(size_t size, void *state)
{
    (void)state;
    return mishap_allocate(size);
}

static void give_block(void *block, void *state)
{
    (void)state;
    mishap_release(block);
}

/* -- compiled patterns ------------------------------------------------------------------------- */

struct mishap_pattern {
    struct mishap_pattern *next;
    uint64_t hash;
    pcre2_code *code;           /* NULL: it has a flaw */
    _Atomic(pcre2_code *) fast; /* a copy with machine code; the other may be in use meanwhile */
    atomic_uint searches;       /* without it */
    char flaw[160];             /* why it cannot be compiled */
    char pattern[];
};

static _Atomic(mishap_pattern *) chains[CHAINS];
static atomic_size_t kept;

static mishap_pattern *find_compiled(mishap_pattern *from, const mishap_pattern *until,
                                     const char *pattern, uint64_t sum)
{
    for (; from != until; from = from->next)
        if (from->hash == sum && strcmp(from->pattern, pattern) == 0)
            return from;
    return NULL;
}

static void discard(mishap_pattern *compiled)
{
    pcre2_code_free(compiled->code);
    pcre2_code_free(atomic_load(&compiled->fast));
    mishap_release(compiled);
}

/* False without memory. That a pattern is wrong is an outcome, too. */
static bool compile_into(mishap_pattern *compiled, pcre2_compile_context *context)
{
    int error;
    size_t offset;
    char words[128];
    compiled->code = pcre2_compile((PCRE2_SPTR)compiled->pattern, PCRE2_ZERO_TERMINATED,
                                   compile_options, &error, &offset, context);
    if (compiled->code || error == PCRE2_ERROR_HEAP_FAILED)
        return compiled->code;
    pcre2_get_error_message(error, (PCRE2_UCHAR *)words, sizeof words);
    snprintf(compiled->flaw, sizeof compiled->flaw, "%s (at byte %zu)", words, offset);
    return true;
}

static mishap_pattern *compile(const char *pattern, uint64_t sum)
{
    size_t size = strlen(pattern) + 1;
    mishap_pattern *compiled = mishap_allocate(sizeof *compiled + size);
    if (!compiled)
        return NULL;
    *compiled = (mishap_pattern){ .hash = sum };
    memcpy(compiled->pattern, pattern, size);

    pcre2_general_context *memory = pcre2_general_context_create(take_block, give_block, NULL);
    pcre2_compile_context *context = memory ? pcre2_compile_context_create(memory) : NULL;
    if (!context || !compile_into(compiled, context)) {
        mishap_release(compiled);
        compiled = NULL;
    }
    pcre2_compile_context_free(context);
    pcre2_general_context_free(memory);
    return compiled;
}

/* Put it into its chain, unless another thread was faster: then that one's is used. */
static mishap_pattern *keep_compiled(mishap_pattern *compiled)
{
    _Atomic(mishap_pattern *) *chain = &chains[compiled->hash % CHAINS];
    mishap_pattern *seen = NULL, *first = atomic_load_explicit(chain, memory_order_acquire);
    do {
        mishap_pattern *same = find_compiled(first, seen, compiled->pattern, compiled->hash);
        if (same) {
            atomic_fetch_sub(&kept, 1);
            discard(compiled);
            return same;
        }
        compiled->next = seen = first;
    } while (!atomic_compare_exchange_weak_explicit(chain, &first, compiled, memory_order_release,
                                                    memory_order_acquire));
    return compiled;
}

/* The pattern, compiled; NULL without memory. `ours` is set if it is not kept and must be discarded
 * after use. */
static mishap_pattern *get(const char *pattern, bool *ours)
{
    uint64_t sum = mishap_text_hash(mishap_text_of(pattern));
    *ours = false;
    mishap_pattern *first = atomic_load_explicit(&chains[sum % CHAINS], memory_order_acquire);
    mishap_pattern *compiled = find_compiled(first, NULL, pattern, sum);
    if (compiled || !(compiled = compile(pattern, sum)))
        return compiled;
    if (atomic_fetch_add(&kept, 1) < MOST_KEPT)
        return keep_compiled(compiled);
    atomic_fetch_sub(&kept, 1);
    *ours = true;
    return compiled;
}

const char *mishap_pattern_flaw(const char *pattern)
{
    bool ours;
    const char *flaw = NULL;
    mishap_pattern *compiled = get(pattern, &ours);
    if (!compiled)
        return "there is not enough memory to compile it";
    if (!compiled->code)
        flaw = ours ? "it cannot be compiled" : compiled->flaw;
    if (ours)
        discard(compiled);
    return flaw;
}

/* -- patterns that are not kept --------------------------------------------------------------- */

bool mishap_pattern_make(const char *pattern, mishap_pattern **made)
{
    mishap_pattern *compiled = compile(pattern, 0);
    if (compiled && !compiled->code) {
        discard(compiled);
        *made = NULL;
        return true;
    }
    *made = compiled;
    return compiled;
}

void mishap_pattern_free(mishap_pattern *pattern)
{
    if (pattern)
        discard(pattern);
}

/* -- searching --------------------------------------------------------------------------------- */

/* What one thread needs to search with. It is kept as long as the thread lives. */
struct searcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* for machine code: made when there is some; else NULL */
};

static _Thread_local struct searcher *own;
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void dismiss(void *state)
{
    struct searcher *searcher = state;
    pcre2_match_data_free(searcher->data);
    pcre2_match_context_free(searcher->context);
    pcre2_jit_stack_free(searcher->stack);
    mishap_release(searcher);
    own = NULL;
}

static void make_key(void)
{
    has_key = pthread_key_create(&at_thread_end, dismiss) == 0;
}

static struct searcher *hire(void)
{
    pcre2_general_context *memory = pcre2_general_context_create(take_block, give_block, NULL);
    struct searcher *searcher = memory ? mishap_allocate(sizeof *searcher) : NULL;
    if (searcher) {
        /* One pair of offsets: whether it matched is all that is asked. */
        *searcher = (struct searcher){ pcre2_match_data_create(1, memory),
                                       pcre2_match_context_create(memory), NULL };
        if (!searcher->data || !searcher->context) {
            dismiss(searcher);
            searcher = NULL;
        }
    }
    pcre2_general_context_free(memory);
    if (searcher) {
        pcre2_set_match_limit(searcher->context, MATCH_LIMIT);
        pcre2_set_heap_limit(searcher->context, HEAP_LIMIT_KB);
    }
    return searcher;
}

/* Without memory for a stack of its own, machine code gets by with what PCRE2 puts on the thread's.
 */
static void give_stack(struct searcher *searcher)
{
    pcre2_general_context *memory = pcre2_general_context_create(take_block, give_block, NULL);
    if (memory)
        searcher->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MOST, memory);
    pcre2_general_context_free(memory);
    pcre2_jit_stack_assign(searcher->context, NULL, searcher->stack);
}

/* The searcher of this thread; NULL: no memory. It is not kept if it would not be released at the
 * end of the thread. */
static struct searcher *get_searcher(void)
{
    if (own)
        return own;
    pthread_once(&once, make_key);
    struct searcher *searcher = hire();
    if (searcher && has_key && pthread_setspecific(at_thread_end, searcher) == 0)
        own = searcher;
    return searcher;
}

/* Make machine code. Where that cannot be done searches take longer and have the same limit. */
static pcre2_code *speed_up(mishap_pattern *compiled)
{
    pcre2_code *fast = pcre2_code_copy(compiled->code);
    if (fast && pcre2_jit_compile(fast, PCRE2_JIT_COMPLETE) != 0) {
        pcre2_code_free(fast);
        fast = NULL;
    }
    atomic_store_explicit(&compiled->fast, fast, memory_order_release);
    return fast;
}

static mishap_match search(mishap_pattern *compiled, mishap_text text)
{
    PCRE2_SPTR start = (PCRE2_SPTR)text.data;
    struct searcher *searcher = compiled->code ? get_searcher() : NULL;
    if (!searcher)
        return MISHAP_MATCH_GAVE_UP;
    pcre2_code *fast = atomic_load_explicit(&compiled->fast, memory_order_acquire);
    if (!fast &&
        atomic_fetch_add_explicit(&compiled->searches, 1, memory_order_relaxed) == SLOW_SEARCHES)
        fast = speed_up(compiled);
    if (fast && !searcher->stack)
        give_stack(searcher);
    int result = fast ? pcre2_jit_match(fast, start, text.length, 0, 0, searcher->data,
                                        searcher->context)
                      : pcre2_match(compiled->code, start, text.length, 0, PCRE2_NO_UTF_CHECK,
                                    searcher->data, searcher->context);
    if (searcher != own)
        dismiss(searcher);
    if (result == PCRE2_ERROR_NOMATCH)
        return MISHAP_MATCH_NO;
    return result >= 0 ? MISHAP_MATCH_YES : MISHAP_MATCH_GAVE_UP;
}

mishap_match mishap_pattern_match(mishap_pattern *compiled, mishap_text text)
{
    if (text.length == 0)
        text.data = "";
    /* Compiled code takes the text for UTF-8 and runs over its end if it is not. No pattern matches
     * what is no text. */
    if (mishap_utf8_valid_length(text) != text.length)
        return MISHAP_MATCH_NO;
    return search(compiled, text);
}

mishap_match mishap_pattern_search(const char *pattern, mishap_text text)
{
    bool ours;
    mishap_pattern *compiled = get(pattern, &ours);
    if (!compiled)
        return MISHAP_MATCH_GAVE_UP;
    mishap_match match = mishap_pattern_match(compiled, text);
    if (ours)
        discard(compiled);
    return match;
}

void mishap_pattern_forget(void)
{
    for (size_t i = 0; i < CHAINS; i++) {
        mishap_pattern *compiled = atomic_exchange(&chains[i], NULL);
        while (compiled) {
            mishap_pattern *next = compiled->next;
            discard(compiled);
            compiled = next;
        }
    }
    atomic_store(&kept, 0);
    if (own) {
        pthread_setspecific(at_thread_end, NULL);
        dismiss(own);
    }
}
