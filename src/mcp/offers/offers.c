/*
 * The tables of tools, resources and prompts that a server offers, and their names. They are
 * derived from the declarations of the operations.
 */
#include "mcp/offers/offers.h"

#include <ctype.h>
#include <stdio.h>

#include "dialect/dialect.h"

enum { LONGEST_NAME = 64 }; /* that common clients accept */

/* -- which ------------------------------------------------------------------------------------- */

static bool is_offered(const mishap_operation *operation, bool chaos)
{
    return !operation->local && !operation->resident && (!operation->chaos || chaos);
}

/* A person asks for a prompt, a model calls a tool: an operation is seldom meant to be both. */
static bool is_tool(const mishap_operation *operation)
{
    return operation->tool ? *operation->tool || !operation->resource : !operation->prompt;
}

/* -- tools by name ----------------------------------------------------------------------------- */

/* The slot of the tool of this name, or the one where it would be. There is always a free slot. */
static const mishap_mcp_offer **slot_of(const mishap_mcp_server *server, mishap_text name)
{
    size_t at = mishap_text_hash(name) & (server->slot_count - 1);
    while (server->slots[at] && !mishap_text_equal(server->slots[at]->name, name))
        at = (at + 1) & (server->slot_count - 1);
    return &server->slots[at];
}

const mishap_mcp_offer *mishap_mcp_tool_find(const mishap_mcp_server *server, unsigned scopes,
                                             mishap_text name)
{
    const mishap_mcp_offer *tool = NULL;
    if (server->slot_count && name.length <= LONGEST_NAME)
        tool = *slot_of(server, name);
    return tool && mishap_mcp_is_shown(tool, scopes) ? tool : NULL;
}

const mishap_mcp_offer *mishap_mcp_prompt_find(const mishap_mcp_server *server, mishap_text name)
{
    for (size_t i = 0; i < server->prompt_count; i++)
        if (mishap_text_equal(server->prompts[i].name, name))
            return &server->prompts[i];
    return NULL;
}

/* -- what there is not ------------------------------------------------------------------------- */

static mishap *no_such(const mishap_mcp_offer *offers, size_t count, unsigned scopes,
                       const char *sort, mishap_text name)
{
    mishap_guess guess = { .word = name };
    char words[200];
    for (size_t i = 0; i < count; i++)
        if (mishap_mcp_is_shown(&offers[i], scopes))
            mishap_guess_weigh(&guess, offers[i].name);
    /* Clients show the message and drop the rest. */
    char meant[LONGEST_NAME + 32] = ".";
    if (guess.name.data)
        snprintf(meant, sizeof meant, "; did you mean `%.*s`?", (int)guess.name.length,
                 guess.name.data);
    if (guess.name.data)
        snprintf(words, sizeof words, "Did you mean `%.*s`? Call %ss/list to get all %ss.",
                 (int)guess.name.length, guess.name.data, sort, sort);
    else
        snprintf(words, sizeof words, "Call %ss/list to get all %ss.", sort, sort);
    name.length = mishap_utf8_cut(name, LONGEST_NAME);
    mishap *m = mishap_raise(NOT_FOUND, "The %s does not exist%s", sort, meant);
    return mishap_suggest(mishap_tell(m, sort, name), words);
}

mishap *mishap_mcp_no_tool(const mishap_mcp_server *server, unsigned scopes, mishap_text name)
{
    return no_such(server->tools, server->tool_count, scopes, "tool", name);
}

mishap *mishap_mcp_no_prompt(const mishap_mcp_server *server, mishap_text name)
{
    return no_such(server->prompts, server->prompt_count, MISHAP_SCOPE_CALL, "prompt", name);
}

/* -- adding ------------------------------------------------------------------------------------ */

static bool is_name(mishap_text name)
{
    for (size_t i = 0; i < name.length; i++)
        if (!isalnum((unsigned char)name.data[i]) && !strchr("_.-", name.data[i]))
            return false;
    return name.length > 0 && name.length <= LONGEST_NAME;
}

/* The declared name, or one that is made of the operation's name, in `room`. */
static mishap_text name_of(const mishap_operation *operation, char **room)
{
    if (operation->tool)
        return mishap_text_of(operation->tool);
    char *name = *room;
    size_t length = strlen(operation->name);
    for (size_t i = 0; i < length; i++)
        name[i] = isalnum((unsigned char)operation->name[i]) ? operation->name[i] : '_';
    *room += length;
    return (mishap_text){ name, length };
}

/* The dialects in which an agent can be told of a failure. */
static const mishap_dialect *dialect_of(const mishap_operation *operation)
{
    static const mishap_dialect *const all[] = { &mishap_tool_result, &mishap_condition_report,
                                                 &mishap_artifact };
    const char *name = operation->service ? operation->service->dialect : NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!name || strcmp(name, all[i]->name) == 0)
            return all[i];
    return NULL;
}

static mishap *taken(const mishap_operation *operation, const char *what, mishap_text name)
{
    return mishap_tell(mishap_raise(NOT_CONFIGURED, "Two operations have the same %s name `%.*s`.",
                                    what, (int)name.length, name.data),
                       "operation", operation->name);
}

static mishap *add_tool(mishap_mcp_server *server, const mishap_operation *operation, char **room)
{
    mishap_mcp_offer *tool = &server->tools[server->tool_count];
    *tool = (mishap_mcp_offer){ operation, name_of(operation, room), dialect_of(operation),
                                .sort = MISHAP_MCP_TOOL,
                                .needs = mishap_operation_scopes(server->app, operation) };
    if (!is_name(tool->name))
        return mishap_tell(mishap_raise(NOT_CONFIGURED,
                                        "`%.*s` is not a valid tool name. A tool name has at most "
                                        "%d characters: letters, digits, _, - and dots.",
                                        (int)tool->name.length, tool->name.data, LONGEST_NAME),
                           "operation", operation->name);
    if (!tool->dialect)
        return mishap_tell(mishap_raise(NOT_CONFIGURED, "The dialect `%s` cannot be used for MCP.",
                                        operation->service->dialect),
                           "service", operation->service->name);
    const mishap_mcp_offer **slot = slot_of(server, tool->name);
    if (*slot)
        return taken(operation, "tool", tool->name);
    *slot = tool;
    server->tool_count++;
    return NULL;
}

/* The program's own addresses were checked for duplicates at its start. */
static mishap *add_resource(mishap_mcp_server *server, const mishap_operation *operation, bool ours)
{
    static const char reserved[] = "catalog:";
    if (!ours && strncmp(operation->resource, reserved, sizeof reserved - 1) == 0)
        return mishap_tell(
            mishap_raise(NOT_CONFIGURED,
                         "URIs that begin with catalog: are reserved for error codes."),
            "operation", operation->name);
    server->resources[server->resource_count++] = (mishap_mcp_offer){
        operation, mishap_text_of(operation->name), .sort = MISHAP_MCP_RESOURCE, .ours = ours,
        .needs = mishap_operation_scopes(server->app, operation)
    };
    return NULL;
}

static mishap *add_prompt(mishap_mcp_server *server, const mishap_operation *operation, bool ours)
{
    mishap_text name = mishap_text_of(operation->prompt);
    if (mishap_mcp_prompt_find(server, name))
        return taken(operation, "prompt", name);
    server->prompts[server->prompt_count++] = (mishap_mcp_offer){
        operation, name, .sort = MISHAP_MCP_PROMPT, .ours = ours,
        .needs = mishap_operation_scopes(server->app, operation)
    };
    return NULL;
}

/* -- the tables -------------------------------------------------------------------------------- */

/* The memory that the tables need. */
struct sizes {
    size_t tools, slots, resources, prompts, letters;
};

static void count(struct sizes *sizes, const mishap_operation *operation, bool ours)
{
    sizes->tools += is_tool(operation) && !ours;
    sizes->resources += operation->resource != NULL;
    sizes->prompts += operation->prompt != NULL;
    sizes->letters += strlen(operation->name);
}

/* Tables, slots and generated names are in one block. */
static char *take_room(mishap_mcp_server *server, const struct sizes *sizes)
{
    size_t offers = sizes->tools + sizes->resources + sizes->prompts;
    size_t size = offers * sizeof *server->tools + sizes->slots * sizeof *server->slots;
    char *block = mishap_allocate(size + sizes->letters);
    if (!block)
        return NULL;
    memset(block, 0, size);
    server->tools = (mishap_mcp_offer *)(void *)block;
    server->resources = server->tools + sizes->tools;
    server->prompts = server->resources + sizes->resources;
    server->slots = (const mishap_mcp_offer **)(void *)(server->prompts + sizes->prompts);
    server->slot_count = sizes->slots;
    return block + size;
}

static mishap *add_offer(mishap_mcp_server *server, const mishap_operation *operation, bool ours,
                         char **room)
{
    mishap *failure = NULL;
    if (is_tool(operation) && !ours)
        failure = add_tool(server, operation, room);
    if (!failure && operation->resource)
        failure = add_resource(server, operation, ours);
    if (!failure && operation->prompt)
        failure = add_prompt(server, operation, ours);
    return failure;
}

mishap *mishap_mcp_server_make(mishap_mcp_server *server, bool chaos)
{
    struct sizes sizes = { .slots = 4 };
    mishap *failure = NULL;
    const mishap_operation *o;
    for (o = mishap_mcp_ours; o->name; o++)
        count(&sizes, o, true);
    for (o = server->app->operations; o && o->name; o++)
        if (is_offered(o, chaos))
            count(&sizes, o, false);
    while (sizes.slots < 2 * sizes.tools)
        sizes.slots *= 2;
    server->tool_count = server->resource_count = server->prompt_count = 0;
    char *room = take_room(server, &sizes);
    if (!room)
        return mishap_out_of_memory();
    for (o = mishap_mcp_ours; o->name && !failure; o++)
        failure = add_offer(server, o, true, &room);
    for (o = server->app->operations; o && o->name && !failure; o++)
        if (is_offered(o, chaos))
            failure = add_offer(server, o, false, &room);
    if (failure)
        mishap_mcp_server_release(server);
    return failure;
}

void mishap_mcp_server_release(mishap_mcp_server *server)
{
    mishap_release(server->tools);
    server->tools = server->resources = server->prompts = NULL;
    server->slots = NULL;
    server->tool_count = server->slot_count = server->resource_count = server->prompt_count = 0;
}
