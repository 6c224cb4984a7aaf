/* What the lists of tools, resources and prompts share: title and description of an item, and the
 * cursors of pages. */
#include "mcp/offers/offers.h"
#include "mcp/wire/write.h"
#include "operation/rules.h"

/* -- items of lists ---------------------------------------------------------------------------- */

/* How a call looks. */
static void put_example(mishap_buffer *words, const mishap_operation *operation)
{
    if (!operation->tool_example)
        return;
    if (words->length && words->data[words->length - 1] != '.')
        MISHAP_PUT(words, ".");
    MISHAP_PUT(words, " Example: ");
    mishap_buffer_put_text(words, mishap_text_of(operation->tool_example));
    MISHAP_PUT(words, ".");
}

/* The description of an operation, and the codes with which it can fail: a result or an error names
 * them. */
static void put_description(mishap_buffer *words, const mishap_app *app,
                            const mishap_operation *operation, bool brief)
{
    const mishap_operation own = { .raises = operation->raises };
    const mishap_code *code;
    bool any = false;
    mishap_buffer_put_text(words, mishap_text_of(operation->summary));
    if (operation->description) {
        MISHAP_PUT(words, ". ");
        mishap_buffer_put_text(words, mishap_text_of(operation->description));
    }
    if (operation->rules) {
        bool ended = words->length && words->data[words->length - 1] == '.';
        mishap_buffer_put_text(words, mishap_text_of(ended ? " Rules: " : ". Rules: "));
        mishap_rules_put_words(words, operation->rules);
        MISHAP_PUT(words, ".");
    }
    put_example(words, operation);
    if (brief)
        app = NULL, operation = &own;
    for (size_t at = 0; (code = mishap_operation_code(app, operation, &at)); any = true) {
        bool ended = words->length && words->data[words->length - 1] == '.';
        const char *before = any ? ", " : ended ? " May fail with " : ". May fail with ";
        mishap_buffer_put_text(words, mishap_text_of(before));
        mishap_buffer_put_text(words, code->name);
    }
    if (any)
        MISHAP_PUT(words, ".");
}

/* " KIND NAME may also fail with A, B." */
static void put_codes_of(mishap_buffer *words, const char *kind, const char *name,
                         const mishap_code *const *codes)
{
    if (!codes || !*codes)
        return;
    mishap_buffer_put_text(words, mishap_text_of(kind));
    mishap_buffer_put_text(words, mishap_text_of(name));
    MISHAP_PUT(words, " may also fail with ");
    for (size_t i = 0; codes[i]; i++) {
        if (i)
            MISHAP_PUT(words, ", ");
        mishap_buffer_put_text(words, codes[i]->name);
    }
    MISHAP_PUT(words, ".");
}

void mishap_mcp_put_shared_codes(mishap_buffer *words, const mishap_mcp_server *server,
                                 unsigned scopes)
{
    const mishap_service *last = NULL;
    for (size_t i = 0; i < server->tool_count; i++) {
        const mishap_service *service = server->tools[i].operation->service;
        if (!mishap_mcp_is_shown(&server->tools[i], scopes))
            continue;
        if (service && service != last)
            put_codes_of(words, " The tools of the service ", service->name, service->raises);
        last = service;
    }
    put_codes_of(words, " All tools", "", server->app->raises);
}

void mishap_mcp_put_words(mishap_buffer *buffer, const mishap_app *app,
                          const mishap_operation *operation, mishap_mcp_revision revision,
                          bool brief)
{
    mishap_buffer words = { 0 };
    put_description(&words, app, operation, brief);
    if (words.failed)
        /* Makes the buffer fail: half a description is worse than none. */
        mishap_buffer_reserve(buffer, SIZE_MAX);
    if (revision >= MISHAP_MCP_2025_06_18) {
        MISHAP_JSON_KEY(buffer, "title");
        mishap_json_string(buffer, mishap_text_of(operation->summary));
    }
    MISHAP_JSON_KEY(buffer, "description");
    mishap_json_string(buffer, mishap_buffer_text(&words));
    mishap_buffer_release(&words);
    mishap_mcp_put_icons(buffer, operation->icons, revision);
}

/* -- pages ------------------------------------------------------------------------------------- */

enum { CURSOR_LENGTH = 16 };

/* A cursor is the index of the next item and a checksum. So the server stores nothing for it, and
 * recognizes text that is no cursor. */
static void write_cursor(size_t next, size_t count, char cursor[CURSOR_LENGTH])
{
    static const char hex[] = "0123456789abcdef";
    uint64_t check = (uint64_t)next * UINT64_C(0x9E3779B97F4A7C15) +
                     (uint64_t)count * UINT64_C(0xC2B2AE3D27D4EB4F);
    check ^= check >> 29;
    uint64_t value = (uint64_t)next << 32 | (uint32_t)(check * UINT64_C(0xBF58476D1CE4E5B9) >> 32);
    for (size_t i = CURSOR_LENGTH; i-- > 0; value >>= 4)
        cursor[i] = hex[value & 15];
}

bool mishap_mcp_cursor_read(const mishap_mcp_message *message, size_t count, size_t *first)
{
    char ours[CURSOR_LENGTH];
    yyjson_val *cursor = yyjson_obj_get(message->params, "cursor");
    mishap_text given = mishap_json_text(cursor);
    size_t next = 0;
    *first = 0;
    if (!cursor || yyjson_is_null(cursor))
        return true;
    if (!yyjson_is_str(cursor) || given.length != CURSOR_LENGTH)
        return false;
    for (size_t i = 0; i < CURSOR_LENGTH / 2; i++) {
        char c = given.data[i];
        next = next * 16 + (size_t)(c >= '0' && c <= '9' ? c - '0' : (c - 'a' + 10) & 15);
    }
    write_cursor(next, count, ours);
    if (next >= count || memcmp(given.data, ours, CURSOR_LENGTH) != 0)
        return false;
    *first = next;
    return true;
}

mishap *mishap_mcp_no_cursor(void)
{
    return mishap_suggest(mishap_raise(INVALID_ARGUMENT, "The cursor is not valid."),
                          "Send `nextCursor` of the page before as it is, or no cursor for the "
                          "first page.");
}

void mishap_mcp_put_cursor(mishap_buffer *result, size_t next, size_t count)
{
    char cursor[CURSOR_LENGTH];
    if (next >= count)
        return;
    write_cursor(next, count, cursor);
    MISHAP_JSON_KEY(result, "nextCursor");
    mishap_json_string(result, (mishap_text){ cursor, sizeof cursor });
}
