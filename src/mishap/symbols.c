#include "mishap/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include "base/buffer.h"
#include "found.h"

static void put_offset(mishap_buffer *buffer, size_t offset)
{
    char digits[2 * sizeof offset], *at = digits + sizeof digits;
    do
        *--at = "0123456789abcdef"[offset & 15];
    while (offset >>= 4);
    MISHAP_PUT(buffer, "+0x");
    mishap_buffer_put(buffer, at, (size_t)(digits + sizeof digits - at));
}

static void put_object(mishap_buffer *buffer, const char *file)
{
    MISHAP_PUT(buffer, " (");
    mishap_buffer_put_text(buffer, mishap_text_of(file ? file : "?"));
    MISHAP_PUT(buffer, ")");
}

void mishap_symbols_put_found(mishap_buffer *buffer, const mishap_symbol *symbol)
{
    mishap_buffer_put_text(buffer, mishap_text_of(symbol->name ? symbol->name : ""));
    put_offset(buffer, (uintptr_t)symbol->address - symbol->start);
    put_object(buffer, symbol->file);
    MISHAP_PUT(buffer, "\n");
}

#if FOUND_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <sys/auxv.h>
#include <unistd.h>

/* -- the library ------------------------------------------------------------------------------- */

#define FUNCTIONS(DO)                                                                              \
    DO(dwarf_attr)                                                                                 \
    DO(dwarf_dieoffset)                                                                            \
    DO(dwarf_diename)                                                                              \
    DO(dwarf_filesrc)                                                                              \
    DO(dwarf_formudata)                                                                            \
    DO(dwarf_getscopes)                                                                            \
    DO(dwarf_getscopes_die)                                                                        \
    DO(dwarf_getsrc_die)                                                                           \
    DO(dwarf_getsrcfiles)                                                                          \
    DO(dwarf_haspc)                                                                                \
    DO(dwarf_lineno)                                                                               \
    DO(dwarf_linesrc)                                                                              \
    DO(dwarf_offdie)                                                                               \
    DO(dwarf_tag)                                                                                  \
    DO(dwfl_addrmodule)                                                                            \
    DO(dwfl_begin)                                                                                 \
    DO(dwfl_build_id_find_debuginfo)                                                               \
    DO(dwfl_module_addrdie)                                                                        \
    DO(dwfl_module_addrinfo)                                                                       \
    DO(dwfl_module_getdwarf)                                                                       \
    DO(dwfl_module_nextcu)                                                                         \
    DO(dwfl_report_begin_add)                                                                      \
    DO(dwfl_report_elf)                                                                            \
    DO(dwfl_report_end)

#define MEMBER(name) __typeof__(name) *name;
static struct {
    bool tried;
    Dwfl *dwfl; /* what was read; NULL: there is no such library */
    FUNCTIONS(MEMBER)
} dw;

/* The file of this program, also if it was replaced meanwhile. Without /proc, as it was started. */
static const char *program(void)
{
    static const char link[] = "/proc/self/exe";
    const char *started = (const char *)getauxval(AT_EXECFN);
    return access(link, R_OK) == 0 || !started ? link : started;
}

/* Debug information in a file of its own is read for the program, not for libraries: that of the C
 * library takes a fifth of a second. The way that libdw would take by itself also asks servers of
 * the network. */
static int find_debuginfo(Dwfl_Module *module, void **state, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word sum, char **found)
{
    return strcmp(name, program()) == 0
               ? dw.dwfl_build_id_find_debuginfo(module, state, name, base, file, link, sum, found)
               : -1;
}

static void load_libdw(void)
{
    void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL), *address;
    dw.tried = true;
    if (!library)
        return;
#define LOOK_UP(name)                                                                              \
    if (!(address = dlsym(library, #name)))                                                        \
        return;                                                                                    \
    memcpy(&dw.name, &address, sizeof address);
    FUNCTIONS(LOOK_UP)
    static const Dwfl_Callbacks callbacks = { .find_debuginfo = find_debuginfo };
    dw.dwfl = dw.dwfl_begin(&callbacks);
}

/* One byte before a return address is the call; behind it may be another function. */
static uintptr_t place_of(const void *address)
{
    return (uintptr_t)address - 1;
}

/* The file that has this address, as the loader knows it. */
static const struct link_map *object_of(uintptr_t place, Dl_info *found)
{
    void *map = NULL;
    *found = (Dl_info){ 0 };
    return dladdr1((void *)place, found, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Only files that a stack leads to are read. */
static Dwfl_Module *module_at(uintptr_t place, const struct link_map *object)
{
    Dwfl_Module *module = dw.dwfl_addrmodule(dw.dwfl, place);
    if (module || !object)
        return module;
    const char *path = object->l_name && *object->l_name ? object->l_name : program();
    dw.dwfl_report_begin_add(dw.dwfl);
    dw.dwfl_report_elf(dw.dwfl, path, path, -1, object->l_addr, true);
    dw.dwfl_report_end(dw.dwfl, NULL, NULL);
    return dw.dwfl_addrmodule(dw.dwfl, place);
}

/* -- functions that were put into others ---------------------------------------------------------
 */

/* A place in the sources. */
struct source {
    const char *file; /* NULL: it is not known */
    int line;
};

static void put_source(mishap_buffer *buffer, const struct source *source)
{
    if (!source->file)
        return;
    MISHAP_PUT(buffer, " at ");
    mishap_buffer_put_text(buffer, mishap_text_of(source->file));
    if (source->line > 0) {
        MISHAP_PUT(buffer, ":");
        mishap_buffer_put_int(buffer, source->line);
    }
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (!dw.dwarf_attr(die, name, &attribute) || dw.dwarf_formudata(&attribute, &number) != 0)
        return 0;
    return number;
}

/* Where a function was put in: the line of its call. */
static struct source call_of(Dwarf_Die *unit, Dwarf_Die *die)
{
    Dwarf_Files *files;
    size_t count = 0, file = (size_t)number_of(die, DW_AT_call_file);
    struct source source = { NULL, (int)number_of(die, DW_AT_call_line) };
    if (dw.dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        source.file = dw.dwarf_filesrc(files, file, NULL, NULL);
    return source;
}

/* The scopes around a place, innermost first. Asked for twice, since the first answer goes on with
 * where an inlined function was written, and not with where it was put in. Nothing is given back:
 * the process ends soon. */
static int scopes_at(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr place, Dwarf_Die **scopes)
{
    Dwarf_Addr bias;
    Dwarf_Die innermost;
    Dwarf *all = dw.dwfl_module_getdwarf(module, &bias);
    *scopes = NULL;
    if (dw.dwarf_getscopes(unit, place, scopes) <= 0)
        return 0;
    bool found = dw.dwarf_offdie(all, dw.dwarf_dieoffset(*scopes), &innermost);
    return found ? dw.dwarf_getscopes_die(&innermost, scopes) : 0;
}

/* Write those that are inlined here. *source is where the innermost one is, and becomes where the
 * function with a frame is. */
static void put_inlined(mishap_buffer *buffer, Dwfl_Module *module, Dwarf_Die *unit,
                        Dwarf_Addr place, struct source *source)
{
    Dwarf_Die *scopes;
    int count = scopes_at(module, unit, place, &scopes);
    for (int i = 0; i < count; i++) {
        if (dw.dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        const char *name = dw.dwarf_diename(&scopes[i]);
        mishap_buffer_put_text(buffer, mishap_text_of(name ? name : "?"));
        MISHAP_PUT(buffer, " (inlined)");
        put_source(buffer, source);
        MISHAP_PUT(buffer, "\n");
        *source = call_of(unit, &scopes[i]);
    }
}

/* -- all of it --------------------------------------------------------------------------------- */

/* What was compiled together with this place; NULL if that is not known. Not every compiler writes
 * the table in which it is found at once: then the answer is another unit, or none. */
static Dwarf_Die *unit_at(Dwfl_Module *module, Dwarf_Addr place, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dw.dwfl_module_addrdie(module, place, bias);
    if (unit && dw.dwarf_haspc(unit, place - *bias) == 1)
        return unit;
    unit = NULL;
    while ((unit = dw.dwfl_module_nextcu(module, unit, bias)))
        if (dw.dwarf_haspc(unit, place - *bias) == 1)
            return unit;
    return NULL;
}

static struct source source_at(Dwarf_Die *unit, Dwarf_Addr place)
{
    struct source source = { 0 };
    Dwarf_Line *line = dw.dwarf_getsrc_die(unit, place);
    if (line) {
        source.file = dw.dwarf_linesrc(line, NULL, NULL);
        dw.dwarf_lineno(line, &source.line);
    }
    return source;
}

/* The name as it is in the sources: variants that a compiler makes have something behind a dot. */
static void put_name(mishap_buffer *buffer, const char *name)
{
    size_t length = strcspn(name, ".");
    mishap_buffer_put(buffer, name, length ? length : strlen(name));
}

bool mishap_symbols_put(mishap_buffer *buffer, const void *address)
{
    Dl_info found;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    Dwarf_Addr bias = 0;
    struct source source = { 0 };
    uintptr_t place = place_of(address);
    if (!dw.tried)
        load_libdw();
    const struct link_map *object = dw.dwfl ? object_of(place, &found) : NULL;
    Dwfl_Module *module = dw.dwfl ? module_at(place, object) : NULL;
    const char *name = module ? dw.dwfl_module_addrinfo(module, place, &offset, &symbol, NULL, NULL,
                                                        NULL)
                              : NULL;
    if (!name)
        return false;
    Dwarf_Die *unit = unit_at(module, place, &bias);
    if (unit) {
        source = source_at(unit, place - bias);
        put_inlined(buffer, module, unit, place - bias, &source);
    }
    put_name(buffer, name);
    put_offset(buffer, (size_t)offset + 1);
    put_object(buffer, found.dli_fname);
    put_source(buffer, &source);
    MISHAP_PUT(buffer, "\n");
    return true;
}

#else

bool mishap_symbols_put(mishap_buffer *buffer, const void *address)
{
    (void)buffer, (void)address;
    return false;
}

#endif
