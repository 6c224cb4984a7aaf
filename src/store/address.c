/*
 * Finds the engine of an address. An address may contain a password, so it is never repeated in a
 * message, not even a wrong one: with a mistyped scheme, the rest must not be taken for a path and
 * shown.
 */
#include "store/store.h"

#include <stdio.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The path of a file; NULL: it is no such address. */
static const char *path_of(const char *address)
{
    static const char scheme[] = "sqlite:";
    if (begins(address, scheme))
        return address + strlen(scheme);
    return begins(address, "/") || begins(address, "./") || begins(address, "../") ? address : NULL;
}

static bool is_postgresql(const char *address)
{
    return begins(address, "postgresql://") || begins(address, "postgres://");
}

static mishap *not_supported(void)
{
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED, "The store address is not supported."),
        "Give a store address of the form sqlite:PATH or postgresql://USER@HOST/DATABASE, or omit "
        "it. A path without sqlite: begins with / or ./");
}

/* -- SQLite ------------------------------------------------------------------------------------ */

/* FOLDER/ is FOLDER/NAME.sqlite: one address for several services. */
static mishap *make_sqlite(const char *path, const mishap_store_schema *schema, mishap_store **out)
{
    char name[64];
    mishap_buffer whole;
    if (!schema->sqlite)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED,
                                           "The service %s can be stored in PostgreSQL only.",
                                           schema->name),
                              "Give a store address of the form postgresql://USER@HOST/DATABASE.");
    mishap_buffer_init(&whole, NULL, 0);
    mishap_buffer_add(&whole, path, strlen(path));
    snprintf(name, sizeof name, "%s.sqlite", schema->name);
    if (path[strlen(path) - 1] == '/')
        mishap_buffer_add(&whole, name, strlen(name));
    *out = whole.failed ? NULL : mishap_sqlite_store_new(mishap_buffer_text(&whole), schema);
    mishap_buffer_release(&whole);
    return *out ? NULL : mishap_out_of_memory();
}

/* -- PostgreSQL -------------------------------------------------------------------------------- */

static mishap *make_postgresql(const char *address, const mishap_store_schema *schema,
                               mishap_store **out)
{
    if (!schema->postgresql)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED,
                                           "The service %s cannot be stored in PostgreSQL.",
                                           schema->name),
                              "Give a store address of the form sqlite:PATH, or omit it.");
    *out = mishap_postgresql_store_new(address, schema);
    return *out ? NULL : mishap_out_of_memory();
}

mishap *mishap_store_for_address(const char *address, const mishap_store_schema *schema,
                                 mishap_store **out)
{
    const char *path = path_of(address);
    *out = NULL;
    if (is_postgresql(address))
        return make_postgresql(address, schema, out);
    return path && *path ? make_sqlite(path, schema, out) : not_supported();
}
