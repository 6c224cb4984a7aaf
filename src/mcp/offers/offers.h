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

/* What an operation can be for an agent; one operation may be several of these. */
typedef enum mishap_mcp_sort {
    MISHAP_MCP_TOOL,
    MISHAP_MCP_RESOURCE, /* at operation->resource */
    MISHAP_MCP_PROMPT,
} mishap_mcp_sort;

/* An operation as one of these. */
typedef struct mishap_mcp_offer {
    const mishap_operation *operation;
    mishap_text name; /* of a tool operation->tool, or the operation's name with underscores; of a
                         prompt operation->prompt; of a resource the operation's name */
    /* Of a tool: the dialect of its service; tool-result if that declares none. */
    const mishap_dialect *dialect;
    mishap_mcp_sort sort;
    bool ours;      /* every server has it, and its answer only repeats its arguments */
    unsigned needs; /* the scopes of its callers, all of them (base/scope.h) */
} mishap_mcp_offer;

/* The operations that every server has: the catalog to read, and explain_failure. The list ends
 * with { 0 } (ours.c). */
extern const mishap_operation mishap_mcp_ours[];

/* What all conversations of a process share. It is constant after it was made. */
typedef struct mishap_mcp_server {
    const mishap_app *app;
    const char *services;    /* the names of the services of `app`, separated by commas, if they are
                                only some; NULL: all */
    mishap_mcp_offer *tools; /* in the order of declaration */
    size_t tool_count;
    const mishap_mcp_offer **slots; /* hash table by name, for mishap_mcp_tool_find() */
    size_t slot_count;
    mishap_mcp_offer *resources; /* the catalog comes first */
    size_t resource_count;
    mishap_mcp_offer *prompts; /* explain_failure comes first */
    size_t prompt_count;
    size_t page_size;     /* of lists; 0: 50 */
    bool full_schemas;    /* --schemas full: lists of tools have everything, not the least */
    size_t message_limit; /* bytes of one message */
    size_t flight_limit;  /* calls of one peer that run at once */
    int call_ms;          /* time limit of every handler; 0: as its operation declares */
    bool verbose;         /* the private side of failures on stderr too */
    struct mishap_runner *runner;            /* for calls that are not quick */
    struct mishap_seal *seal;                /* of the state of calls that ask */
    struct mishap_task_client *const *tasks; /* for calls that may become tasks; NULL, or NULL in
                                                it: there are none */
    /* Count a call that has ended, or was refused; `code`: of its failure, or NULL. NULL: calls are
     * not counted. */
    void (*count)(const struct mishap_mcp_server *server, const mishap_operation *operation,
                  const mishap_code *code, int64_t duration_ns);
} mishap_mcp_server;

/*
 * Make the tables of tools, resources and prompts: of every operation that is neither local nor
 * resident; operations for drills only with `chaos`. A prompt is a tool only if it declares a tool
 * name. NOT_CONFIGURED: two have the same name.
 */
mishap *mishap_mcp_server_make(mishap_mcp_server *server, bool chaos);
void mishap_mcp_server_release(mishap_mcp_server *server);

/* The tool of this name, if it exists for a caller with these scopes. One for the operator does not
 * exist for others: it is neither listed nor suggested. All other tools exist for all callers:
 * without the scope a call is refused, which tells the client which scope to ask for. */
const mishap_mcp_offer *mishap_mcp_tool_find(const mishap_mcp_server *server, unsigned scopes,
                                             mishap_text name);
static inline bool mishap_mcp_is_shown(const mishap_mcp_offer *tool, unsigned scopes)
{
    return !(tool->needs & ~scopes & MISHAP_SCOPE_OPERATOR);
}

/* An operation that answers with a page of HTML, which shows the answers of tools (MCP Apps). */
#define MISHAP_MCP_PAGE_TYPE "text/html;profile=mcp-app"
static inline bool mishap_mcp_is_page(const mishap_operation *operation)
{
    return operation->resource && strncmp(operation->resource, "ui://", 5) == 0;
}
const mishap_mcp_offer *mishap_mcp_prompt_find(const mishap_mcp_server *server, mishap_text name);

/* NOT_FOUND: there is no tool, or prompt, of this name. The failure suggests a similar name. */
mishap *mishap_mcp_no_tool(const mishap_mcp_server *server, unsigned scopes, mishap_text name);
mishap *mishap_mcp_no_prompt(const mishap_mcp_server *server, mishap_text name);

/* -- lists (lists.c) ----------------------------------------------------------------------------
 */

/* Write the title and the icons of a list item, in revisions that have them, and its description
 * with the codes that it may fail with; `brief`: without those of its service and the program,
 * which mishap_mcp_put_shared_codes() tells once for all. */
void mishap_mcp_put_words(mishap_buffer *buffer, const mishap_app *app,
                          const mishap_operation *operation, mishap_mcp_revision revision,
                          bool brief);
void mishap_mcp_put_shared_codes(mishap_buffer *words, const mishap_mcp_server *server,
                                 unsigned scopes);

/* Paging: the index of the first item for params.cursor; false: it is not a cursor of this server.
 * The second is the failure then; the last writes the member nextCursor, if there is more. */
bool mishap_mcp_cursor_read(const mishap_mcp_message *message, size_t count, size_t *first);
mishap *mishap_mcp_no_cursor(void);
void mishap_mcp_put_cursor(mishap_buffer *result, size_t next, size_t count);

#endif
