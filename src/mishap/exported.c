/*
 * Which exported functions stand at some addresses. The loader has the symbols of each file in
 * memory, in no order of addresses, so dladdr() reads all of them for each address: 30 microseconds
 * in a program with 5,000 symbols. A stack has a dozen addresses, and here all of them are looked
 * for in one pass.
 */
#include <errno.h>
#include <link.h>

#include "base/base.h"
#include "mishap/symbols.h"

enum { AT_ONCE = 32, PARTS = 256 };

/* What is looked for, in the order of addresses. */
struct search {
    const mishap_symbol *first; /* as the caller has them */
    mishap_symbol *symbols[AT_ONCE];
    uintptr_t calls[AT_ONCE]; /* the address of each, by call_before() */
    size_t count;
    /* The addresses in one file, from the start of the memory that has the first one to the last.
     * Of each part of that memory: a function that begins there and is no larger than this ends
     * before the next address. */
    uintptr_t low, high;
    unsigned shift; /* the size of a part, as a power of two */
    uint32_t misses[PARTS];
};

/* What the dynamic section of a file points to. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *gnu_hash, *hash;
};

/* One byte before a return address is the call; behind it may be another function. */
static uintptr_t call_before(const mishap_symbol *symbol)
{
    return (uintptr_t)symbol->address - 1;
}

/* `start` is where the memory of the file begins that has the address. */
static bool has_address(const struct dl_phdr_info *file, uintptr_t address, uintptr_t *start)
{
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        *start = file->dlpi_addr + file->dlpi_phdr[i].p_vaddr;
        if (file->dlpi_phdr[i].p_type == PT_LOAD && address >= *start &&
            address - *start < file->dlpi_phdr[i].p_memsz)
            return true;
    }
    return false;
}

static const ElfW(Dyn) * dynamic_section(const struct dl_phdr_info *file)
{
    for (size_t i = 0; i < file->dlpi_phnum; i++)
        if (file->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr);
    return NULL;
}

/* The loader has made addresses of the offsets in this section, but for the file of the kernel
 * (vdso), which it may not write. */
static const void *table_at(const struct dl_phdr_info *file, const ElfW(Dyn) * entry)
{
    uintptr_t at = entry->d_un.d_ptr;
    return (const void *)(at < file->dlpi_addr ? at + file->dlpi_addr : at);
}

static struct tables tables_of(const struct dl_phdr_info *file)
{
    struct tables found = { 0 };
    const ElfW(Dyn) *entry = dynamic_section(file);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            found.symbols = table_at(file, entry);
        else if (entry->d_tag == DT_STRTAB)
            found.names = table_at(file, entry);
        else if (entry->d_tag == DT_GNU_HASH)
            found.gnu_hash = table_at(file, entry);
        else if (entry->d_tag == DT_HASH)
            found.hash = table_at(file, entry);
    }
    return found;
}

/* How many symbols there are: one more than the last one of the last chain. The table has four
 * numbers, a filter, the first symbol of each chain, and a word for each symbol from `first` on,
 * whose lowest bit is set at the end of a chain. */
static size_t count_by_gnu_hash(const uint32_t *table)
{
    uint32_t chains = table[0], first = table[1], filter_words = table[2], last = 0;
    const uint32_t *heads = (const uint32_t *)((const ElfW(Addr) *)(table + 4) + filter_words);
    const uint32_t *words = heads + chains;
    for (uint32_t i = 0; i < chains; i++)
        last = heads[i] > last ? heads[i] : last;
    if (last < first)
        return first;
    while (!(words[last - first] & 1))
        last++;
    return (size_t)last + 1;
}

static bool is_function(const ElfW(Sym) * symbol)
{
    return symbol->st_value && symbol->st_shndx != SHN_UNDEF &&
           ELF64_ST_TYPE(symbol->st_info) != STT_TLS;
}

/* The C library's function that calls main() is in most stacks and is not exported, so its symbols
 * need not be read for it. The program comes before its libraries: main() is known by then. */
static bool has_called_main(const struct search *search, const mishap_symbol *wanted)
{
    return wanted > search->first && wanted[-1].name && strcmp(wanted[-1].name, "main") == 0;
}

/* Find the addresses of this file. False: it has none of them that is to be searched for. */
static bool take_file(struct search *search, const struct dl_phdr_info *file)
{
    bool any = false;
    for (size_t i = 0; i < search->count; i++) {
        mishap_symbol *wanted = search->symbols[i];
        uintptr_t start;
        if (wanted->file || !has_address(file, call_before(wanted), &start))
            continue;
        wanted->file = *file->dlpi_name ? file->dlpi_name : program_invocation_name;
        wanted->start = file->dlpi_addr;
        if (has_called_main(search, wanted))
            continue;
        search->low = any ? search->low : start;
        search->high = call_before(wanted);
        any = true;
    }
    return any;
}

/* Most symbols of a file are near none of the addresses. This table tells so with one look. */
static void divide_into_parts(struct search *search)
{
    size_t next = 0;
    search->shift = 0;
    while ((search->high - search->low) >> search->shift >= PARTS)
        search->shift++;
    for (size_t part = 0; part <= (search->high - search->low) >> search->shift; part++) {
        uintptr_t start = search->low + ((uintptr_t)part << search->shift);
        uintptr_t end = start + ((uintptr_t)1 << search->shift);
        while (search->calls[next] < start)
            next++;
        uintptr_t least = search->calls[next] > end ? search->calls[next] - end : 0;
        search->misses[part] = least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
    }
}

/* Of two functions at one address the one that begins later is meant, as with dladdr(). */
static void hold_against(const struct tables *tables, const ElfW(Sym) * symbol, uintptr_t start,
                         const struct search *search)
{
    size_t i = 0;
    while (search->calls[i] < start)
        i++;
    for (; i < search->count; i++) {
        mishap_symbol *wanted = search->symbols[i];
        if (search->calls[i] - start >= symbol->st_size)
            return;
        if (!is_function(symbol) || (wanted->name && wanted->start >= start))
            continue;
        wanted->name = tables->names + symbol->st_name;
        wanted->start = start;
    }
}

static inline bool is_near(const struct search *search, uintptr_t low, uintptr_t span,
                           const ElfW(Sym) * symbol)
{
    uintptr_t from_low = symbol->st_value - low;
    return from_low <= span && symbol->st_size > search->misses[from_low >> search->shift];
}

/* The first symbol from here on that may be near an address. This looks at every symbol of the
 * file, so four of them are one step. */
static const ElfW(Sym) * find_near(const struct search *search, uintptr_t low,
                                   const ElfW(Sym) * symbol, const ElfW(Sym) * end)
{
    const uintptr_t span = search->high - search->low;
    for (; end - symbol >= 4; symbol += 4) {
        if (is_near(search, low, span, symbol))
            return symbol;
        if (is_near(search, low, span, symbol + 1))
            return symbol + 1;
        if (is_near(search, low, span, symbol + 2))
            return symbol + 2;
        if (is_near(search, low, span, symbol + 3))
            return symbol + 3;
    }
    while (symbol < end && !is_near(search, low, span, symbol))
        symbol++;
    return symbol;
}

static void look_at_all(const struct tables *tables, size_t count, uintptr_t base,
                        const struct search *search)
{
    const ElfW(Sym) *symbol = tables->symbols, *end = symbol + count;
    while ((symbol = find_near(search, search->low - base, symbol, end)) < end) {
        hold_against(tables, symbol, base + symbol->st_value, search);
        symbol++;
    }
}

static int search_file(struct dl_phdr_info *file, size_t size, void *state)
{
    struct search *search = state;
    (void)size;
    struct tables tables = take_file(search, file) ? tables_of(file) : (struct tables){ 0 };
    if (!tables.symbols || !tables.names || !(tables.gnu_hash || tables.hash))
        return 0;
    divide_into_parts(search);
    size_t count = tables.gnu_hash ? count_by_gnu_hash(tables.gnu_hash) : tables.hash[1];
    look_at_all(&tables, count, file->dlpi_addr, search);
    return 0;
}

static void find_some(mishap_symbol *symbols, size_t count)
{
    struct search search = { .first = symbols, .count = count };
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        symbols[i] = (mishap_symbol){ .address = symbols[i].address };
        for (; at && call_before(search.symbols[at - 1]) > call_before(&symbols[i]); at--)
            search.symbols[at] = search.symbols[at - 1];
        search.symbols[at] = &symbols[i];
    }
    for (size_t i = 0; i < count; i++)
        search.calls[i] = call_before(search.symbols[i]);
    dl_iterate_phdr(search_file, &search);
}

void mishap_symbols_find(mishap_symbol *symbols, size_t count)
{
    for (size_t at = 0; at < count; at += AT_ONCE)
        find_some(symbols + at, count - at < AT_ONCE ? count - at : AT_ONCE);
}
