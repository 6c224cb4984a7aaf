/*
 * Check what an operation is for agents: a tool, a resource, a prompt; and what they are shown
 * with them.
 */
#include <strings.h>

#include "operation/declare.h"

enum { LONGEST_PROMPT = 64 }; /* that common clients accept */

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-.";

static mishap *check_reach(const mishap_declared *what, const char *as)
{
    const mishap_operation *operation = what->operation;
    if (operation->local)
        return mishap_declared_wrongly(what,
                                       "is declared for the command line only, but it is a %s", as);
    if (operation->resident)
        return mishap_declared_wrongly(what, "is resident, but it is a %s", as);
    return NULL;
}

/* -- addresses --------------------------------------------------------------------------------- */

/* The name of the variable that opens here, without its braces; no data if it is not closed. */
static mishap_text variable_at(const char *brace)
{
    size_t length = strcspn(brace + 1, "{}/");
    return brace[1 + length] == '}' ? (mishap_text){ brace + 1, length } : (mishap_text){ NULL, 0 };
}

/* True if there is a {variable} of this name before `end`. */
static bool has_variable(const char *address, const char *end, mishap_text name)
{
    for (const char *at = address; (at = strchr(at, '{')) && at < end; at++)
        if (mishap_text_equal(variable_at(at), name))
            return true;
    return false;
}

/* The value of a variable ends with the next slash, so a variable must be everything between two
 * slashes. */
static mishap *check_variable(const mishap_declared *what, const char *brace)
{
    mishap_text name = variable_at(brace);
    if (!name.data)
        return mishap_declared_wrongly(what, "has an address with a brace that does not close");
    if (brace[-1] != '/' || (name.data[name.length + 1] && name.data[name.length + 1] != '/'))
        return mishap_declared_wrongly(
            what, "has an address in which {%.*s} is not a complete segment between two slashes",
            (int)name.length, name.data);
    const mishap_param *param = mishap_param_find(what->operation->params, name);
    if (!param)
        return mishap_declared_wrongly(what, "has an address with {%.*s}, which is not a parameter",
                                       (int)name.length, name.data);
    if (param->type >= MISHAP_ARRAY || param->secret)
        return mishap_declared_wrongly(
            what, "has {%s} in its address, which must be a scalar and not secret", param->name);
    if (has_variable(what->operation->resource, brace, name))
        return mishap_declared_wrongly(what, "has {%s} twice in its address", param->name);
    return NULL;
}

/* True if it has a scheme, and outside of the braces only characters of an address. */
static bool is_address(const char *text)
{
    char plain[1024];
    size_t length = 0;
    for (const char *at = text; *at; at++) {
        if (length == sizeof plain)
            return false;
        if (*at == '{' || *at == '}')
            continue;
        if ((unsigned char)*at > '~' || (*at == '%' && mishap_url_escape(at, at + strlen(at)) < 0))
            return false;
        plain[length++] = *at;
    }
    return mishap_url_valid((mishap_text){ plain, length });
}

/* A segment `:id` is a parameter in a route, but plain text in an address: so it is probably a
 * mistake. */
static mishap *check_colons(const mishap_declared *what)
{
    for (const char *at = what->operation->resource; (at = strstr(at, "/:"));) {
        at += 2;
        mishap_text name = { at, strcspn(at, "/") };
        if (mishap_param_find(what->operation->params, name))
            return mishap_declared_wrongly(
                what, "has an address with :%.*s; there a parameter is written {%.*s}",
                (int)name.length, name.data, (int)name.length, name.data);
    }
    return NULL;
}

static mishap *check_resource(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    const char *address = operation->resource;
    mishap *m = NULL;
    if (!address)
        return NULL;
    if ((m = check_reach(what, "resource")))
        return m;
    if (mishap_operation_danger(operation) != MISHAP_SAFE)
        return mishap_declared_wrongly(what, "is a resource, but is declared to change something");
    if (*address == '{' || !is_address(address))
        return mishap_declared_wrongly(
            what, "has an address that is not a URI such as todo://todos/{id}");
    if ((m = check_colons(what)))
        return m;
    for (const char *at = address; !m && *(at += strcspn(at, "{}"));) {
        if (*at == '}')
            return mishap_declared_wrongly(what, "has an address with a brace that was not opened");
        if (!(m = check_variable(what, at)))
            at = strchr(at, '}') + 1;
    }
    for (const mishap_param *param = operation->params; !m && param && param->name; param++)
        if (param->required &&
            !has_variable(address, address + strlen(address), mishap_text_of(param->name)))
            m = mishap_declared_wrongly(
                what, "requires `%s`, which its address %s does not contain", param->name, address);
    return m;
}

/* Two addresses are the same if they differ only in the names of their variables. */
static bool same_address(const char *a, const char *b)
{
    for (; *a && *b && *a == *b; a++, b++) {
        if (*a == '{') {
            a = strchr(a, '}');
            b = strchr(b, '}');
        }
    }
    return !*a && !*b;
}

/* -- prompts ----------------------------------------------------------------------------------- */

static mishap *check_prompt(const mishap_declared *what)
{
    const char *prompt = what->operation->prompt;
    if (!prompt)
        return NULL;
    size_t length = strlen(prompt);
    if (!length || length > LONGEST_PROMPT || strspn(prompt, name_letters) != length)
        return mishap_declared_wrongly(
            what, "is a prompt whose name is not letters, digits, _, - and ., %d at most",
            LONGEST_PROMPT);
    return check_reach(what, "prompt");
}

/* -- tools ------------------------------------------------------------------------------------- */

static bool is_tool(const mishap_operation *operation)
{
    return !operation->local && !operation->resident &&
           (operation->tool ? *operation->tool || !operation->resource : !operation->prompt);
}

/* A letter of its name for agents: the declared one, or the operation's name with underscores. */
static char tool_letter(const mishap_operation *operation, size_t at)
{
    if (operation->tool)
        return operation->tool[at];
    char letter = operation->name[at];
    return letter == '.' || letter == '-' ? '_' : letter;
}

static bool same_tool(const mishap_operation *a, const mishap_operation *b)
{
    size_t at = 0;
    if (!is_tool(a) || !is_tool(b))
        return false;
    while (tool_letter(a, at) && tool_letter(a, at) == tool_letter(b, at))
        at++;
    return tool_letter(a, at) == tool_letter(b, at);
}

/* -- headers that repeat a parameter ----------------------------------------------------------- */

/* A client may repeat only what is a string, an integer or a boolean in its schema. */
static bool may_repeat(const mishap_param *param)
{
    switch (param->type) {
    case MISHAP_NUMBER:
    case MISHAP_DECIMAL_NUMBER:
    case MISHAP_FILE:
    case MISHAP_BYTES:
        return false;
    default:
        return param->type < MISHAP_ARRAY;
    }
}

mishap *mishap_param_header_declared(const mishap_declared *what, const mishap_param *param,
                                     bool inner)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    const char *header = param->header;
    size_t length = header ? strlen(header) : 0;
    if (!header)
        return NULL;
    if (!length || length > MISHAP_PARAM_HEADER_LONGEST || strspn(header, letters) != length)
        return mishap_declared_wrongly(what,
                                       "has a `.header` that is not up to %d letters, digits and -",
                                       MISHAP_PARAM_HEADER_LONGEST);
    if (inner || !what->operation)
        return mishap_declared_wrongly(what, "has a `.header`, which only a parameter of an "
                                             "operation has");
    if (!may_repeat(param) || param->nullable)
        return mishap_declared_wrongly(what, "has a `.header`, so it must be a string, an enum, an "
                                             "integer or a boolean, and not nullable");
    if (param->secret)
        return mishap_declared_wrongly(what, "is secret and has a `.header`, which proxies read");
    const mishap_param *earlier = what->operation->params;
    for (; earlier && earlier->name && earlier != param; earlier++)
        if (earlier->header && strcasecmp(earlier->header, header) == 0)
            return mishap_declared_wrongly(what, "has the same `.header` as `%s`", earlier->name);
    return NULL;
}

/* -- icons ------------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* "48x48 96x96", or "any" */
static bool are_sizes(const char *sizes)
{
    static const char digits[] = "0123456789";
    if (strcmp(sizes, "any") == 0)
        return true;
    for (const char *at = sizes;; at++) {
        size_t width = strspn(at, digits), height;
        if (!width || at[width] != 'x' || !(height = strspn(at + width + 1, digits)))
            return false;
        at += width + 1 + height;
        if (*at != ' ')
            return !*at;
    }
}

mishap *mishap_icons_declared(const mishap_declared *what, const mishap_icon *icons)
{
    for (; icons && icons->source; icons++) {
        if (!begins_with(icons->source, "https://") && !begins_with(icons->source, "http://") &&
            !begins_with(icons->source, "data:image/"))
            return mishap_declared_wrongly(
                what, "has an icon whose address does not begin with https://, http:// or "
                      "data:image/");
        if (!mishap_url_valid(mishap_text_of(icons->source)))
            return mishap_declared_wrongly(what, "has an icon whose address is not a URI");
        if (icons->type && !begins_with(icons->type, "image/"))
            return mishap_declared_wrongly(what, "has an icon whose type is not image/…");
        if (icons->sizes && !are_sizes(icons->sizes))
            return mishap_declared_wrongly(what, "has an icon whose sizes are neither such as "
                                                 "`48x48 96x96` nor `any`");
        if (icons->theme && strcmp(icons->theme, "light") != 0 && strcmp(icons->theme, "dark") != 0)
            return mishap_declared_wrongly(what,
                                           "has an icon whose theme is neither light nor dark");
    }
    return NULL;
}

/* -- pages that show answers ------------------------------------------------------------------- */

/* The operation whose page a tool names. */
static const mishap_operation *find_page(const mishap_app *app, const char *address)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (o->resource && strcmp(o->resource, address) == 0)
            return o;
    return NULL;
}

static mishap *check_view(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    const char *resource = operation->resource, *view = operation->view;
    if (resource && begins_with(resource, "ui://")) {
        if (strchr(resource, '{'))
            return mishap_declared_wrongly(what,
                                           "is a page (ui://) with a variable in its address");
        if (operation->answers_type || operation->answers)
            return mishap_declared_wrongly(what, "is a page (ui://), so its answer is a document, "
                                                 "without `.answers` and `.answers_type`");
    }
    if (!view)
        return NULL;
    if (!begins_with(view, "ui://"))
        return mishap_declared_wrongly(what, "has a `.view` that does not begin with ui://");
    if (!is_tool(operation))
        return mishap_declared_wrongly(what, "has a `.view`, but is no tool");
    return find_page(what->app, view)
               ? NULL
               : mishap_declared_wrongly(
                     what, "has the `.view` %s, which is the `.resource` of no operation", view);
}

/* -- all of them ------------------------------------------------------------------------------- */

mishap *mishap_agents_declared(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    if (operation->operator_only && (operation->resource || operation->prompt))
        return mishap_declared_wrongly(what, "is for the operator only, so it can be neither a "
                                             "resource nor a prompt");
    MISHAP_TRY(check_resource(what));
    MISHAP_TRY(check_prompt(what));
    MISHAP_TRY(check_view(what));
    return mishap_icons_declared(what, operation->icons);
}

mishap *mishap_agents_declared_against(const mishap_declared *what, const mishap_operation *earlier)
{
    const mishap_operation *operation = what->operation;
    if (same_tool(operation, earlier))
        return mishap_declared_wrongly(what, "is the same tool as `%s`; `.tool` names it otherwise",
                                       earlier->name);
    if (operation->resource && earlier->resource &&
        same_address(operation->resource, earlier->resource))
        return mishap_declared_wrongly(what, "has the same address as `%s`", earlier->name);
    if (operation->prompt && earlier->prompt && strcmp(operation->prompt, earlier->prompt) == 0)
        return mishap_declared_wrongly(what, "is the same prompt as `%s`", earlier->name);
    return NULL;
}
