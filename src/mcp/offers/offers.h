/*
 * What a server offers: which operations are tools, resources and prompts, under which names.
 *
 *     offers.c         the tables, made once
 *     ours.c           what every server has: the catalog, explain_failure
 *     lists.c          what items and pages of all lists have in common
 *     address.c        addresses of resources, and which resource one is of
 *     schema.c         schemas that any client can read
 *     output_schema.c  … of what a tool answers, or how it fails
 *     body.c           the body of an operation, among the arguments of its tool
 */
#ifndef MISHAP_MCP_OFFERS_OFFERS_H
#define MISHAP_MCP_OFFERS_OFFERS_H

#include "mcp/wire/message.h"
#include "mishap/dialect.h"
#include "operation/operation.h"

/* What an operation can be for an agent; the same one may be all of it. */
typedef enum mishap_mcp_sort {
    MISHAP_MCP_TOOL,
    MISHAP_MCP_RESOURCE, /* at operation->resource */
    MISHAP_MCP_PROMPT,
} mishap_mcp_sort;

/* An operation as one of these. */
typedef struct mishap_mcp_offer {
    const mishap_operation *operation;
    mishap_text name; /* of a tool operation->tool, or its own with underscores; of a prompt
                         operation->prompt; of a resource its own */
    const mishap_dialect *dialect; /* of a tool: of its service; tool-result if that says none */
    mishap_mcp_sort sort;
    bool ours; /* it is one that every server has, and only says again what was given to it */
} mishap_mcp_offer;

/* The operations that every server has: the catalog to read, and explain_failure. The list ends
 * with { 0 } (ours.c). */
extern const mishap_operation mishap_mcp_ours[];

/* What all conversations of a process share. It does not change after it is made. */
typedef struct mishap_mcp_server {
    const mishap_app *app;
    const char *service;     /* only what is of this one; NULL: all */
    mishap_mcp_offer *tools; /* in the order of declaration */
    size_t tool_count;
    const mishap_mcp_offer **slots; /* the same by name, for mishap_mcp_tool_find() */
    size_t slot_count;
    mishap_mcp_offer *resources; /* the catalog first */
    size_t resource_count;
    mishap_mcp_offer *prompts; /* explain_failure first */
    size_t prompt_count;
    size_t page_size;             /* of lists; 0: 50 */
    size_t message_limit;         /* bytes of one message */
    size_t flight_limit;          /* calls of one peer that run at once */
    int call_ms;                  /* how long any handler may take; 0: as its operation says */
    bool verbose;                 /* the private side of failures on stderr too */
    struct mishap_runner *runner; /* of calls that are not quick */
} mishap_mcp_server;

/*
 * Make the tables of tools, resources and prompts: of every operation that is neither local nor
 * resident, nor for drills unless `chaos`. A prompt is a tool only if it says which. NOT_CONFIGURED
 * if two have the same name or there is no such service.
 */
mishap *mishap_mcp_server_make(mishap_mcp_server *server, bool chaos);
void mishap_mcp_server_release(mishap_mcp_server *server);
const mishap_mcp_offer *mishap_mcp_tool_find(const mishap_mcp_server *server, mishap_text name);
const mishap_mcp_offer *mishap_mcp_prompt_find(const mishap_mcp_server *server, mishap_text name);

/* There is no tool, or prompt, of this name: NOT_FOUND, with the one that may be meant. */
mishap *mishap_mcp_no_tool(const mishap_mcp_server *server, mishap_text name);
mishap *mishap_mcp_no_prompt(const mishap_mcp_server *server, mishap_text name);

/* -- lists (lists.c) ----------------------------------------------------------------------------
 */

/* An item of a list: its title, in the revisions that have one, and its description. */
void mishap_mcp_put_words(mishap_buffer *buffer, const mishap_app *app,
                          const mishap_operation *operation, mishap_mcp_revision revision);

/* Paging: the first item that params.cursor stands for; false: it is no cursor of ours. And the
 * member nextCursor, if there is more. */
bool mishap_mcp_cursor_read(const mishap_mcp_message *message, size_t count, size_t *first);
void mishap_mcp_put_cursor(mishap_buffer *result, size_t next, size_t count);

#endif
