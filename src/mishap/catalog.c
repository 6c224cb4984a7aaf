/* Finding rows, in the built-in table and in those that programs add. */
#include "mishap/catalog.h"

#include "mishap/code.h"
#include "mishap/codes.h"

/* -- tables ------------------------------------------------------------------------------------ */

const mishap_catalog *mishap_catalog_first(void)
{
    return &mishap_code_table;
}

void mishap_catalog_add(mishap_catalog *catalog)
{
    mishap_catalog *last = &mishap_code_table;
    for (; catalog && last != catalog; last = last->next) {
        if (!last->next) {
            last->next = catalog;
            catalog->next = NULL;
        }
    }
}

bool mishap_catalog_place(const mishap_catalog *table, const mishap_code *code, size_t *place)
{
    *place = code->row;
    if (mishap_catalog_has_row(table, code))
        return true;
    for (*place = 0; *place < table->count; ++*place) /* a table that was written by hand */
        if (table->codes[*place] == code)
            return true;
    return false;
}

static mishap_text spelled(const mishap_code *code, mishap_spelling spelling)
{
    switch (spelling) {
    case MISHAP_SPELLING_CONDITION:
        return code->condition;
    case MISHAP_SPELLING_SNAKE:
        return code->snake;
    case MISHAP_SPELLING_HTTP:
        return code->http_name;
    case MISHAP_SPELLING_TOOL:
        return code->tool_type;
    case MISHAP_SPELLING_NAME:
        break;
    }
    return code->name;
}

/* Shorter names first, then by their bytes. The first byte tells most of them apart without a call.
 */
static int order_of(mishap_text a, mishap_text b)
{
    if (a.length != b.length)
        return a.length < b.length ? -1 : 1;
    int first = (unsigned char)a.data[0] - (unsigned char)b.data[0];
    return first ? first : memcmp(a.data, b.data, a.length);
}

static const mishap_code *find_in(const mishap_catalog *catalog, mishap_spelling spelling,
                                  mishap_text text)
{
    if ((size_t)spelling >= catalog->spellings)
        return NULL;
    const mishap_catalog_index *index = &catalog->index[spelling];
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const mishap_code *code = catalog->codes[index->rows[middle]];
        mishap_text candidate = spelled(code, spelling);
        int order = order_of(candidate, text);
        if (order == 0)
            return code;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const mishap_code *mishap_catalog_find(mishap_spelling spelling, mishap_text text)
{
    const mishap_code *code = NULL;
    if (text.length == 0)
        return NULL;
    for (const mishap_catalog *catalog = mishap_catalog_first(); catalog && !code;
         catalog = catalog->next)
        code = find_in(catalog, spelling, text);
    return code;
}

/* -- HTTP statuses ----------------------------------------------------------------------------- */

/* The statuses of errors with the phrases of RFC 9110 and the IANA registry, and the rows that are
 * named like them. 499 is in no standard, but widely used for a client that left. */
static const struct status {
    int status;
    const char *phrase;
    const mishap_code *code;
} statuses[] = {
    { 400, "Bad Request", MISHAP_CODE_BAD_REQUEST },
    { 401, "Unauthorized", MISHAP_CODE_UNAUTHORIZED },
    { 402, "Payment Required", MISHAP_CODE_PAYMENT_REQUIRED },
    { 403, "Forbidden", MISHAP_CODE_FORBIDDEN },
    { 404, "Not Found", MISHAP_CODE_NOT_FOUND },
    { 405, "Method Not Allowed", MISHAP_CODE_METHOD_NOT_ALLOWED },
    { 406, "Not Acceptable", MISHAP_CODE_NOT_ACCEPTABLE },
    { 407, "Proxy Authentication Required", MISHAP_CODE_PROXY_AUTHENTICATION_REQUIRED },
    { 408, "Request Timeout", MISHAP_CODE_REQUEST_TIMEOUT },
    { 409, "Conflict", MISHAP_CODE_CONFLICT },
    { 410, "Gone", MISHAP_CODE_GONE },
    { 411, "Length Required", MISHAP_CODE_LENGTH_REQUIRED },
    { 412, "Precondition Failed", MISHAP_CODE_PRECONDITION_FAILED },
    { 413, "Content Too Large", MISHAP_CODE_CONTENT_TOO_LARGE },
    { 414, "URI Too Long", MISHAP_CODE_URI_TOO_LONG },
    { 415, "Unsupported Media Type", MISHAP_CODE_UNSUPPORTED_MEDIA_TYPE },
    { 416, "Range Not Satisfiable", MISHAP_CODE_RANGE_NOT_SATISFIABLE },
    { 417, "Expectation Failed", MISHAP_CODE_EXPECTATION_FAILED },
    { 421, "Misdirected Request", MISHAP_CODE_MISDIRECTED_REQUEST },
    { 422, "Unprocessable Content", MISHAP_CODE_UNPROCESSABLE_CONTENT },
    { 423, "Locked", MISHAP_CODE_LOCKED },
    { 424, "Failed Dependency", MISHAP_CODE_FAILED_DEPENDENCY },
    { 425, "Too Early", MISHAP_CODE_TOO_EARLY },
    { 426, "Upgrade Required", MISHAP_CODE_UPGRADE_REQUIRED },
    { 428, "Precondition Required", MISHAP_CODE_PRECONDITION_REQUIRED },
    { 429, "Too Many Requests", MISHAP_CODE_TOO_MANY_REQUESTS },
    { 431, "Request Header Fields Too Large", MISHAP_CODE_REQUEST_HEADER_FIELDS_TOO_LARGE },
    { 451, "Unavailable For Legal Reasons", MISHAP_CODE_UNAVAILABLE_FOR_LEGAL_REASONS },
    { 499, "Client Closed Request", MISHAP_CODE_CANCELLED },
    { 500, "Internal Server Error", MISHAP_CODE_INTERNAL_ERROR },
    { 501, "Not Implemented", MISHAP_CODE_NOT_IMPLEMENTED },
    { 502, "Bad Gateway", MISHAP_CODE_BAD_GATEWAY },
    { 503, "Service Unavailable", MISHAP_CODE_SERVICE_UNAVAILABLE },
    { 504, "Gateway Timeout", MISHAP_CODE_GATEWAY_TIMEOUT },
    { 505, "HTTP Version Not Supported", MISHAP_CODE_HTTP_VERSION_NOT_SUPPORTED },
    { 506, "Variant Also Negotiates", MISHAP_CODE_VARIANT_ALSO_NEGOTIATES },
    { 507, "Insufficient Storage", MISHAP_CODE_INSUFFICIENT_STORAGE },
    { 508, "Loop Detected", MISHAP_CODE_LOOP_DETECTED },
    { 511, "Network Authentication Required", MISHAP_CODE_NETWORK_AUTHENTICATION_REQUIRED },
};

static const struct status *find_status(int http_status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == http_status)
            return &statuses[i];
    return NULL;
}

const mishap_code *mishap_catalog_for_status(int http_status)
{
    const struct status *status = find_status(http_status);
    return status ? status->code : NULL;
}

const mishap_code *mishap_code_by_status(int http_status)
{
    const mishap_code *code = mishap_catalog_for_status(http_status);
    if (!code && http_status >= 400 && http_status <= 599)
        code = mishap_catalog_for_status(http_status / 100 * 100);
    return code;
}

const char *mishap_http_phrase(int http_status)
{
    const struct status *status = find_status(http_status);
    return status ? status->phrase : NULL;
}

/* -- categories -------------------------------------------------------------------------------- */

static const char *const category_names[MISHAP_CATEGORIES] = {
    "validation", "permission", "resource", "execution", "system",
};

const char *mishap_category_name(mishap_category category)
{
    return category <= MISHAP_SYSTEM ? category_names[category] : NULL;
}

bool mishap_category_find(mishap_text name, mishap_category *category)
{
    for (int i = 0; i < MISHAP_CATEGORIES; i++) {
        if (mishap_text_equal(name, mishap_text_of(category_names[i]))) {
            *category = (mishap_category)i;
            return true;
        }
    }
    return false;
}

/* -- names that no table has ------------------------------------------------------------------- */

bool mishap_code_name_valid(mishap_text name)
{
    if (name.length < 2 || !(name.data[0] >= 'A' && name.data[0] <= 'Z'))
        return false;
    for (size_t i = 1; i < name.length; i++) {
        char c = name.data[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

bool mishap_code_unspell(mishap_text spelling, char *name, size_t size)
{
    size_t length = 0;
    bool after_small = false;
    for (size_t i = 0; i < spelling.length; i++) {
        char c = spelling.data[i];
        bool small = c >= 'a' && c <= 'z', large = c >= 'A' && c <= 'Z';
        if (length + 2 >= size)
            return false;
        if (large && after_small)
            name[length++] = '_';
        name[length++] = (char)(small ? c - 32 : c == '-' || c == ' ' || c == '.' ? '_' : c);
        after_small = small;
    }
    name[length] = '\0';
    return mishap_code_name_valid((mishap_text){ name, length });
}

/* What is taken to hold for a code of which only the category is known. */
static const struct category_defaults {
    int http_status, exit_code, rpc_code;
    const char *tool_type;
} defaults[MISHAP_CATEGORIES] = {
    [MISHAP_VALIDATION] = { 422, 2, -32602, "ValueError" },
    [MISHAP_PERMISSION] = { 403, 7, 403, "ValidationError" },
    [MISHAP_RESOURCE] = { 404, 5, 404, "ValueError" },
    [MISHAP_EXECUTION] = { 500, 1, 500, "RuntimeError" },
    [MISHAP_SYSTEM] = { 500, 1, -32603, "RuntimeError" },
};

/* A copy of the name in which each letter is changed by `change`, and _ becomes `gap`. */
static mishap_text respell(mishap_arena *arena, mishap_text name, int (*change)(int), char gap)
{
    mishap_text copy = mishap_arena_copy(arena, name);
    char *letters = (char *)(uintptr_t)copy.data; /* ours, just made */
    for (size_t i = 0; i < copy.length; i++)
        letters[i] = letters[i] == '_' ? gap : (char)change(letters[i]);
    return copy;
}

static int unchanged(int c)
{
    return c;
}

static int small_letter(int c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

const mishap_code *mishap_code_derive(mishap_arena *arena, mishap_text name,
                                      mishap_category category, int http_status)
{
    const struct category_defaults *usual = &defaults[category];
    mishap_code *code = mishap_arena_take(arena, sizeof *code);
    if (!code)
        return NULL;
    *code = (mishap_code){
        .name = mishap_arena_copy(arena, name),
        .condition = respell(arena, name, unchanged, '-'),
        .snake = respell(arena, name, small_letter, '_'),
        .title = respell(arena, name, small_letter, ' '),
        .tool_type = mishap_text_of(usual->tool_type),
        .message = MISHAP_CODE_GENERAL_ERROR->message,
        .category = category,
        .retry = MISHAP_RETRY_NEVER,
        .effects = MISHAP_EFFECTS_PARTIAL,
        .http_status = http_status ? http_status : usual->http_status,
        .exit_code = usual->exit_code,
        .rpc_code = usual->rpc_code,
        .retry_after_ms = -1,
    };
    code->http_name = code->snake;
    if (!code->name.data || !code->condition.data || !code->snake.data || !code->title.data)
        return NULL;
    ((char *)(uintptr_t)code->title.data)[0] = name.data[0];
    return code;
}
