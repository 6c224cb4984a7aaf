/* The group of a failure: see group.h. */
#include "incident/group.h"

#include <endian.h>
#include <link.h>
#include <stdatomic.h>

#include "base/base.h"
#include "mishap/inside.h"
#include "mishap/symbols.h"

enum {
    TOP = 3,      /* functions of the stack */
    KNOWN = 1024, /* addresses whose functions are remembered */
};

__extension__ typedef unsigned __int128 wide;

/* -- a hash ------------------------------------------------------------------------------------ */

/* Not for tables of hostile texts: a group is a name for people, and must be the same tomorrow and
 * on another machine. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    wide product = (wide)(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xd6e8feb86659fd93);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The first bytes of a word, from 1 to 7, in the order of little endian. Copying so many would be a
 * call of the C library. */
static inline uint64_t word_of_rest(const char *bytes, size_t length)
{
    uint32_t first, last;
    if (length >= sizeof first) {
        memcpy(&first, bytes, sizeof first);
        memcpy(&last, bytes + length - sizeof last, sizeof last);
        return le32toh(first) | (uint64_t)le32toh(last) << 8 * (length - sizeof last);
    }
    size_t middle = length / 2, end = length - 1;
    return (uint64_t)(unsigned char)bytes[0] |
           (uint64_t)(unsigned char)bytes[middle] << 8 * middle |
           (uint64_t)(unsigned char)bytes[end] << 8 * end;
}

static uint64_t fold_bytes(uint64_t hash, const char *bytes, size_t length)
{
    uint64_t word;
    hash = fold(hash, length);
    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = fold(hash, le64toh(word));
    }
    return length ? fold(hash, word_of_rest(bytes, length)) : hash;
}

static uint64_t fold_text(uint64_t hash, mishap_text text)
{
    return fold_bytes(hash, text.data, text.length);
}

static uint64_t fold_words(uint64_t hash, const char *words)
{
    return words ? fold_bytes(hash, words, strlen(words)) : fold(hash, 0);
}

/* -- functions --------------------------------------------------------------------------------- */

/* The table of functions that each program file has for unwinding (.eh_frame_hdr): pairs of 32-bit
 * numbers, sorted by the first, which is where a function begins, counted from the table's head. */
struct table_head {
    unsigned char version, pointer_as, count_as, pairs_as;
    int32_t pointer;
    uint32_t count;
    int32_t pairs[][2];
};
enum { AS_UDATA4 = 0x03, AS_SDATA4_HERE = 0x1B, AS_SDATA4_FROM_HEAD = 0x3B };

struct search {
    uintptr_t address;
    uint64_t function; /* where it begins in its file; 0: not found */
};

static uint64_t find_in_table(const struct table_head *table, uintptr_t address, uintptr_t base)
{
    uintptr_t head = (uintptr_t)table;
    size_t low = 0, high = table->count;
    if (table->version != 1 || table->pointer_as != AS_SDATA4_HERE ||
        table->count_as != AS_UDATA4 || table->pairs_as != AS_SDATA4_FROM_HEAD)
        return 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (head + (uintptr_t)(intptr_t)table->pairs[middle][0] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? head + (uintptr_t)(intptr_t)table->pairs[low - 1][0] - base : 0;
}

static int search_file(struct dl_phdr_info *info, size_t size, void *state)
{
    struct search *search = state;
    const struct table_head *table = NULL;
    bool has = false;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && search->address >= start &&
            search->address - start < info->dlpi_phdr[i].p_memsz)
            has = true;
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            table = (const struct table_head *)start;
    }
    if (has && table)
        search->function = find_in_table(table, search->address, info->dlpi_addr);
    return has;
}

/* The name of a function, or where it is in its file: addresses differ from run to run. A return
 * address may stand behind the last instruction of its function. */
static uint64_t name_function(const mishap_symbol *symbol)
{
    if (symbol->name)
        return fold_words(1, symbol->name);
    struct search search = { .address = (uintptr_t)symbol->address - 1 };
    dl_iterate_phdr(search_file, &search);
    return fold(2, search.function);
}

/* Looking them up takes microseconds, so what was found is remembered. `check` is the address and
 * the function in one word: a pair that two threads wrote at once does not fit together. */
static struct {
    _Atomic uint64_t check, function;
} found[KNOWN];

static uint64_t key_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static bool know_function(const void *address, uint64_t *function)
{
    uint64_t key = key_of(address), at = fold(key, 3) % KNOWN;
    *function = atomic_load_explicit(&found[at].function, memory_order_relaxed);
    uint64_t check = atomic_load_explicit(&found[at].check, memory_order_relaxed);
    return (check ^ *function) == key;
}

static void learn_function(const mishap_symbol *symbol)
{
    uint64_t key = key_of(symbol->address), at = fold(key, 3) % KNOWN;
    uint64_t function = name_function(symbol);
    atomic_store_explicit(&found[at].function, function, memory_order_relaxed);
    atomic_store_explicit(&found[at].check, function ^ key, memory_order_relaxed);
}

/* The functions at the top of a stack. Two of them may share a place in the table: then the first
 * is known no more when the second is, so each is found again by itself. */
static uint64_t fold_functions(uint64_t hash, const mishap_trace *trace)
{
    mishap_symbol unknown[TOP];
    size_t count = 0, top = trace->count < TOP ? trace->count : TOP;
    uint64_t function;
    for (size_t i = 0; i < top; i++)
        if (!know_function(trace->addresses[i], &function))
            unknown[count++].address = trace->addresses[i];
    if (count)
        mishap_symbols_find(unknown, count);
    for (size_t i = 0; i < count; i++)
        learn_function(&unknown[i]);
    for (size_t i = 0; i < top; i++) {
        if (!know_function(trace->addresses[i], &function)) {
            mishap_symbol symbol = { .address = trace->addresses[i] };
            mishap_symbols_find(&symbol, 1);
            function = name_function(&symbol);
        }
        hash = fold(hash, function);
    }
    return hash;
}

static uint64_t fold_symbols(uint64_t hash, const mishap_symbol *symbols, size_t count)
{
    for (size_t i = 0; i < count && i < TOP; i++)
        hash = fold(hash, name_function(&symbols[i]));
    return hash;
}

const char *mishap_incident_source(const char *file)
{
    while (file && strncmp(file, "../", 3) == 0)
        file += 3;
    return file;
}

static uint64_t fold_place(uint64_t hash, const mishap *failure, const mishap_symbol *symbols)
{
    hash = fold_words(hash, mishap_incident_source(failure->place.file));
    hash = fold(hash, (uint64_t)failure->place.line);
    return symbols ? fold_symbols(hash, symbols, failure->trace.count)
                   : fold_functions(hash, &failure->trace);
}

/* -- fields ------------------------------------------------------------------------------------ */

/* The name without indexes: items[2].name and items[3].name are one field. */
static uint64_t fold_field_name(uint64_t hash, mishap_text name)
{
    const char *bracket = name.length ? memchr(name.data, '[', name.length) : NULL;
    while (bracket) {
        size_t before = (size_t)(bracket + 1 - name.data);
        hash = fold_bytes(hash, name.data, before);
        name.data += before;
        name.length -= before;
        while (name.length && name.data[0] >= '0' && name.data[0] <= '9') {
            name.data++;
            name.length--;
        }
        bracket = name.length ? memchr(name.data, '[', name.length) : NULL;
    }
    return fold_text(hash, name);
}

/* One unknown name is like any other: callers invent them. */
static uint64_t finding_of(const mishap_field *field)
{
    static const mishap_text unknown = MISHAP_TEXT("unknown_field");
    uint64_t hash = fold_text(0, field->error);
    return mishap_text_equal(field->error, unknown) ? hash : fold_field_name(hash, field->field);
}

/* Each finding counts once, in any order: an array with two mistakes is like one with three. */
static uint64_t fold_fields(uint64_t hash, const mishap_field *field)
{
    enum { MOST = 16 };
    uint64_t known[MOST], sum = 0;
    size_t count = 0;
    for (; field && count < MOST; field = field->next) {
        uint64_t finding = finding_of(field);
        size_t at = 0;
        while (at < count && known[at] != finding)
            at++;
        if (at < count)
            continue;
        known[count++] = finding;
        sum += finding;
    }
    return fold(hash, sum);
}

uint64_t mishap_incident_group_once(const char *operation, const mishap *failure,
                                    const mishap_symbol *symbols)
{
    const mishap_public *told = mishap_told(failure);
    uint64_t hash = fold_text(fold_words(0, operation), told->code->name);
    bool by_fields = told->category == MISHAP_VALIDATION && told->fields;
    hash = by_fields ? fold_fields(hash, told->fields) : fold_place(hash, failure, symbols);
    return hash ? hash : 1;
}

uint64_t mishap_incident_group(const char *operation, const mishap *failure)
{
    return mishap_incident_group_once(operation, failure, NULL);
}
