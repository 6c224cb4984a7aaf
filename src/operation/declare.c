/*
 * Check the declarations of a program once, at its start, so that a mistake is found by its author
 * and not by a caller. The first finding is reported, with its operation and parameter.
 */
#include "operation/declare.h"
#include "operation/rules.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>

#include "mishap/code.h"
#include "operation/media.h"
#include "operation/secret.h"
#include "operation/upload.h"

enum { LONGEST_SUMMARY = 120, LONGEST_TOOL = 64 };

/* -- saying what is wrong ---------------------------------------------------------------------- */

mishap *mishap_declared_wrongly(const mishap_declared *what, const char *format, ...)
{
    char words[400], subject[300] = "it";
    const char *kind = what->service ? "service" : what->operation ? "operation" : "program";
    const char *name = what->service     ? what->service->name
                       : what->operation ? what->operation->name
                                         : what->app->name;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (what->param)
        snprintf(subject, sizeof subject, "its %s `%s`", what->service ? "setting" : "parameter",
                 what->param);
    mishap *m = mishap_raise(NOT_CONFIGURED, "The declaration of the %s `%s` is not valid: %s %s.",
                             kind, name ? name : "", subject, words);
    m = mishap_suggest(m, "Correct the declaration and build the program again.");
    if (what->operation)
        m = mishap_tell(m, "operation", what->operation->name);
    if (what->service)
        m = mishap_tell(m, "service", what->service->name);
    if (what->param)
        m = mishap_tell(m, what->service ? "setting" : "parameter", what->param);
    return m;
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool mishap_words_valid(const char *text, char between, const char *inside)
{
    char before = between;
    for (const char *c = text; *c; before = *c++) {
        bool joins = *c == between || strchr(inside, *c);
        if (!joins && !in_word(*c))
            return false;
        if (joins && !in_word(before)) /* it needs a character of a word before it */
            return false;
        if (before == between && !(*c >= 'a' && *c <= 'z') && (c == text || between == '.'))
            return false;
    }
    return in_word(before);
}

/* True for eight ASCII characters without control characters, as most text is: no sum below carries
 * over into the next byte. */
static bool eight_plain(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return !(word & high) && !((word + ones) & high) &&   /* below DEL */
           ((word + ones * (0x80 - ' ')) & high) == high; /* a space or above */
}

const char *mishap_line_flaw(const char *text)
{
    mishap_text line = mishap_text_of(text);
    bool plain = true;
    if (strspn(text, " ") == line.length)
        return "empty";
    for (size_t i = 0; i < line.length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (line.length - i >= 8 && eight_plain(text + i)) {
            i += 7;
            continue;
        }
        if (c < ' ' || c == 127)
            return "more than one line or has control characters";
        plain = plain && c < 0x80;
    }
    return plain || mishap_utf8_valid_length(line) == line.length ? NULL : "not UTF-8";
}

/* -- routes ------------------------------------------------------------------------------------ */

/* The path of a route, after the method and a space. NULL: the method is unknown. */
static const char *path_of(const char *route)
{
    static const char *const methods[] = { "GET ", "POST ", "PUT ", "PATCH ", "DELETE " };
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strncmp(route, methods[i], strlen(methods[i])) == 0)
            return route + strlen(methods[i]);
    return NULL;
}

/* A segment `:id` stands for a parameter, which must be required. A tail contains slashes, so it
 * must be a string. */
static mishap *check_route_param(const mishap_declared *what, const mishap_route_part *part)
{
    mishap_text name = part->text;
    const mishap_param *param = mishap_param_find(what->operation->params, name);
    if (!param)
        return mishap_declared_wrongly(
            what, "has a route with the parameter `%.*s`, which is not declared", (int)name.length,
            name.data);
    if (!param->required || param->type >= MISHAP_ARRAY || param->secret)
        return mishap_declared_wrongly(
            what,
            "has the parameter `%s` in its route, which must be required, a scalar and not secret",
            param->name);
    if (part->tail && param->type != MISHAP_STRING)
        return mishap_declared_wrongly(
            what, "has the parameter `%s` as the tail of its route, which must be a string",
            param->name);
    return NULL;
}

static mishap *check_segment(const mishap_declared *what, const mishap_route_part *part)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    mishap_text segment = part->text;
    if (part->param)
        return check_route_param(what, part);
    for (size_t i = 0; i < segment.length; i++)
        if (!strchr(letters, segment.data[i]))
            return mishap_declared_wrongly(
                what, "has a route with the character `%c`; parameters are written :name",
                segment.data[i]);
    if (segment.length == 0 || mishap_text_equal(segment, (mishap_text)MISHAP_TEXT(".")) ||
        mishap_text_equal(segment, (mishap_text)MISHAP_TEXT("..")))
        return mishap_declared_wrongly(
            what, "has a route with an empty segment, or with the segment . or ..");
    return NULL;
}

/* A parameter may occur only once: otherwise two parts of a path could contradict each other. */
static bool repeated(const char *path, const mishap_route_part *part)
{
    mishap_route_part earlier;
    while (part->param && mishap_route_next(&path, &earlier) && earlier.text.data < part->text.data)
        if (earlier.param && mishap_text_equal(earlier.text, part->text))
            return true;
    return false;
}

/* GET reads; PUT, PATCH and DELETE write; POST may do either. */
static bool method_fits(const char *route, mishap_danger danger)
{
    if (strncmp(route, "POST ", 5) == 0)
        return true;
    return (strncmp(route, "GET ", 4) == 0) == (danger == MISHAP_SAFE);
}

mishap_danger mishap_operation_danger(const mishap_operation *operation)
{
    const char *route = operation->route;
    if (operation->danger != MISHAP_BY_ROUTE)
        return operation->danger;
    if (!route || strncmp(route, "GET ", 4) == 0)
        return MISHAP_SAFE;
    return strncmp(route, "DELETE ", 7) == 0 ? MISHAP_DESTRUCTIVE : MISHAP_MUTATING;
}

static mishap *check_route(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    if (!operation->route)
        return NULL;
    const char *path = path_of(operation->route);
    if (!path || *path != '/')
        return mishap_declared_wrongly(
            what, "has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path");
    mishap_danger danger = mishap_operation_danger(operation);
    if (!method_fits(operation->route, danger))
        return mishap_declared_wrongly(what, "has a route with %.*s, but is declared to change %s",
                                       (int)(path - operation->route - 1), operation->route,
                                       danger == MISHAP_SAFE ? "nothing" : "something");
    mishap_route_part part;
    const char *at = path[1] ? path : path + 1;
    while (mishap_route_next(&at, &part)) {
        mishap *m = check_segment(what, &part);
        if (m)
            return m;
        if (repeated(path, &part))
            return mishap_declared_wrongly(what, "has the same parameter twice in its route");
        if (part.tail && *at)
            return mishap_declared_wrongly(what, "has a route with a segment after its tail");
    }
    return NULL;
}

/* -- operations -------------------------------------------------------------------------------- */

/* A code is identified by its address. A code that is no row of a registered table would appear in
 * documents that cannot be read back, and would be counted under no name. */
static bool is_added(const mishap_code *code)
{
    size_t place;
    const mishap_catalog *table = mishap_catalog_first();
    while (table && !mishap_catalog_place(table, code, &place))
        table = table->next;
    return table;
}

static mishap *check_raises(const mishap_declared *what, const mishap_code *const *raises)
{
    for (size_t i = 0; raises && raises[i]; i++) {
        const mishap_code *code = raises[i];
        for (size_t earlier = 0; earlier < i; earlier++)
            if (raises[earlier] == code)
                return mishap_declared_wrongly(what, "declares %s twice", code->name.data);
        if (!mishap_code_name_valid(code->name))
            return mishap_declared_wrongly(what, "declares a code whose name is not UPPER_SNAKE");
        if (code->exit_code < 1 || code->exit_code > 125)
            return mishap_declared_wrongly(what,
                                           "declares %s, whose exit code %d is not among 1 to 125",
                                           code->name.data, code->exit_code);
        if (code->retry == MISHAP_RETRY_YES && code->effects != MISHAP_EFFECTS_NONE)
            return mishap_declared_wrongly(
                what, "declares %s, which is retryable but can leave partial effects",
                code->name.data);
        if (!is_added(code))
            return mishap_declared_wrongly(
                what, "declares %s, whose table was not added; call mishap_catalog_add() first",
                code->name.data);
    }
    return NULL;
}

/* Check the failures that its service declares for all of its operations. */
static mishap *check_service(const mishap_declared *what)
{
    const mishap_service *service = what->operation->service;
    if (!service)
        return NULL;
    if (!service->name || !*service->name)
        return mishap_declared_wrongly(what, "belongs to a service without a name");
    return check_raises(
        &(mishap_declared){ .app = what->app, .operation = what->operation, .service = service },
        service->raises);
}

/* An example starts with the name of the operation: "users create …". */
static bool starts_with_name(const char *command, const char *name)
{
    for (; *name; name++, command++)
        if (*command != (*name == '.' ? ' ' : *name))
            return false;
    return *command == '\0' || *command == ' ';
}

/* What a model is shown must be accepted. */
static mishap *check_tool_example(const mishap_declared *what)
{
    const char *arguments = what->operation->tool_example;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!arguments || what->shape_only)
        return NULL;
    bool accepted = mishap_json_read(&reader, mishap_text_of(arguments)) &&
                    yyjson_is_obj(reader.root);
    if (accepted) {
        const mishap_param *params = what->operation->params;
        const mishap_relation *rules = what->operation->rules;
        mishap *failure = mishap_params_refuse_unknown(params, rules, reader.root, reader.root,
                                                       NULL, NULL);
        if (!failure)
            failure = mishap_arguments_check(params, rules, reader.root);
        accepted = !failure;
        mishap_free(failure);
    }
    mishap_json_reader_release(&reader);
    return accepted ? NULL
                    : mishap_declared_wrongly(what, "has a tool example that it would refuse: %s",
                                              arguments);
}

static mishap *check_examples(const mishap_declared *what)
{
    const mishap_example *examples = what->operation->examples;
    size_t i = 0;
    for (; examples && examples[i].command; i++) {
        const char *flaw = mishap_line_flaw(examples[i].command);
        if (!flaw && examples[i].what)
            flaw = mishap_line_flaw(examples[i].what);
        if (flaw)
            return mishap_declared_wrongly(what, "has an example, number %zu, that is %s", i + 1,
                                           flaw);
        if (!starts_with_name(examples[i].command, what->operation->name))
            return mishap_declared_wrongly(what, "has an example that runs another command: `%s`",
                                           examples[i].command);
    }
    if (examples && examples[i].what)
        return mishap_declared_wrongly(what, "has an example, number %zu, without a command",
                                       i + 1);
    return NULL;
}

static mishap *check_texts(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    if (!operation->summary)
        return mishap_declared_wrongly(what, "has no summary");
    mishap_text summary = mishap_text_of(operation->summary);
    const char *flaw = mishap_line_flaw(operation->summary);
    if (flaw)
        return mishap_declared_wrongly(what, "has a summary that is %s", flaw);
    if (mishap_utf8_count(summary) > LONGEST_SUMMARY)
        return mishap_declared_wrongly(what, "has a summary of more than %d characters",
                                       LONGEST_SUMMARY);
    if (summary.data[summary.length - 1] == '.')
        return mishap_declared_wrongly(what, "has a summary that ends with a full stop");
    if (operation->group && (flaw = mishap_line_flaw(operation->group)))
        return mishap_declared_wrongly(what, "has a group that is %s", flaw);
    mishap_text description = mishap_text_of(operation->description ? operation->description : "");
    if (mishap_utf8_valid_length(description) != description.length)
        return mishap_declared_wrongly(what, "has a description that is not UTF-8");
    return NULL;
}

/* Names that common agents accept. A name that is made of the operation's name is always valid. */
static bool is_tool_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strlen(name);
    return length > 0 && length <= LONGEST_TOOL && strspn(name, letters) == length;
}

/* The parameter names that commands and agents use for a body. */
static bool is_of_body(const char *name)
{
    return strcmp(name, "body") == 0 || strcmp(name, "body_type") == 0 ||
           strcmp(name, "body_base64") == 0;
}

/* Headers with keys are reserved for the server: mishap_caller() returns the caller. */
static mishap *check_headers(const mishap_declared *what)
{
    static const char *const keys[] = { "authorization", "x-api-key" };
    enum { LONGEST_HEADER = 63 };
    for (const char *const *name = what->operation->headers; name && *name; name++) {
        size_t length = strspn(*name,
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
        if (!length || length > LONGEST_HEADER || (*name)[length])
            return mishap_declared_wrongly(
                what, "reads a header whose name is not up to %d letters, digits and -",
                LONGEST_HEADER);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (strcasecmp(*name, keys[i]) == 0)
                return mishap_declared_wrongly(
                    what, "reads the header %s, which contains the API key of the caller", *name);
    }
    return NULL;
}

static mishap *check_takes(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    if (!operation->takes)
        return NULL;
    if (!mishap_media_is_list(operation->takes))
        return mishap_declared_wrongly(
            what, "has a `takes` that is not a list of media types separated by commas");
    if (operation->route && operation->route[0] != 'P')
        return mishap_declared_wrongly(what, "takes a body, but its route has no POST, PUT or "
                                             "PATCH");
    for (const mishap_param *param = operation->params; param && param->name; param++)
        if (is_of_body(param->name))
            return mishap_declared_wrongly(
                what, "takes a body, and has a parameter `%s` whose name is reserved for the body",
                param->name);
    return NULL;
}

static bool is_status(int status)
{
    return status == 200 || status == 201 || status == 202 || status == 204;
}

/* `help users` shows the help of `users`, for a group and for an operation of that name. */
static bool is_help(const char *name)
{
    return strcmp(name, "help") == 0 || strncmp(name, "help.", 5) == 0;
}

/* What is read at a standby may be old: no change may depend on it. */
static mishap *check_stale(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    const char *flaw = NULL;
    if (!operation->stale)
        return NULL;
    if (mishap_operation_danger(operation) != MISHAP_SAFE)
        flaw = "is `.stale`, and changes something";
    else if (!operation->service || operation->service->worker)
        flaw = "is `.stale`, and has no service with a store";
    else if (operation->quick || operation->local || operation->resident)
        flaw = "is `.stale`, and also quick, local or resident";
    else if (operation->answers_type)
        flaw = "is `.stale`, and answers bytes or a stream: its reader must not miss a change";
    return flaw ? mishap_declared_wrongly(what, "%s", flaw) : NULL;
}

/* A task is run by a process without a caller, which has nothing of the request but the call. */
static mishap *check_task(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    const char *flaw = NULL;
    if (!operation->task && operation->task_only)
        return mishap_declared_wrongly(what, "is `.task_only`, but not `.task`");
    if (!operation->task)
        return NULL;
    if (operation->quick || operation->local || operation->resident)
        flaw = "is `.task`, and also quick, local or resident";
    else if (mishap_streamed_param(operation))
        flaw = "is `.task`, and has a file that is streamed";
    else if (operation->service && operation->service->worker)
        flaw = "is `.task`, and is run by a foreign program";
    else if (operation->asks &&
             (mishap_params_have_secret(operation->params) || operation->headers))
        flaw = "is `.task`, and asks questions: its call is stored meanwhile, so it must have "
               "neither secret parameters nor headers";
    else if (operation->task_only && (operation->resource || operation->prompt))
        flaw = "is `.task_only`, and also a resource or a prompt, which cannot be tasks";
    else if (!what->app->task_store)
        flaw = "is `.task`, but its program has no `.task_store`";
    return flaw ? mishap_declared_wrongly(what, "%s", flaw) : NULL;
}

static mishap *check_operation(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    mishap *m;
    if (!mishap_words_valid(operation->name, '.', "-_"))
        return mishap_declared_wrongly(what,
                                       "has a name that is not lower-case words separated by dots");
    if (is_help(operation->name))
        return mishap_declared_wrongly(
            what, "could not be called on a command line, because `help` shows the help");
    if ((m = check_texts(what)))
        return m;
    if (!operation->run)
        return mishap_declared_wrongly(what, "has no handler function");
    if (operation->danger > MISHAP_DESTRUCTIVE)
        return mishap_declared_wrongly(what, "is neither safe nor mutating nor destructive");
    if (operation->timeout_ms < 0)
        return mishap_declared_wrongly(what, "has a timeout below zero");
    if (operation->status && !is_status(operation->status))
        return mishap_declared_wrongly(what,
                                       "has the status %d, which is none of 200, 201, 202 "
                                       "and 204",
                                       operation->status);
    if (operation->tool && !is_tool_name(operation->tool) &&
        (*operation->tool || !operation->resource))
        return mishap_declared_wrongly(
            what, "is a tool whose name is not up to %d letters, digits, _, - and .", LONGEST_TOOL);
    if (operation->answers_type && !mishap_media_is_type(operation->answers_type))
        return mishap_declared_wrongly(
            what, "has an `answers_type` that is not a media type such as image/png");
    if ((m = check_takes(what)) || (m = check_headers(what)))
        return m;
    if (operation->quotes && !operation->local)
        return mishap_declared_wrongly(what, "quotes other programs, but is not local");
    if (operation->judges && !operation->local)
        return mishap_declared_wrongly(what, "judges other programs, but is not local");
    if (operation->relays && !(operation->local && operation->resident))
        return mishap_declared_wrongly(what, "relays, but is not both local and resident");
    if (operation->resident && operation->route)
        return mishap_declared_wrongly(what, "is resident and has a route");
    if ((m = mishap_params_declared(what, operation->params)) ||
        (m = mishap_rules_declared(what, operation->params, operation->rules, false)) ||
        (m = check_route(what)) || (m = mishap_agents_declared(what)) ||
        (m = check_raises(what, operation->raises)) || (m = check_service(what)) ||
        (m = mishap_scopes_needed(what)) || (m = mishap_asks_declared(what)))
        return m;
    MISHAP_TRY(check_tool_example(what));
    MISHAP_TRY(mishap_schema_declared(what, NULL, operation->schema));
    return check_examples(what);
}

/* True if `group` is the beginning of `name`, up to a dot. */
static bool is_group_of(const char *group, const char *name)
{
    size_t length = strlen(group);
    return strncmp(group, name, length) == 0 && name[length] == '.';
}

static mishap *check_against(const mishap_declared *what, const mishap_operation *earlier)
{
    const mishap_operation *operation = what->operation;
    if (strcmp(operation->name, earlier->name) == 0)
        return mishap_declared_wrongly(what, "is declared twice");
    if (is_group_of(operation->name, earlier->name) || is_group_of(earlier->name, operation->name))
        return mishap_declared_wrongly(what, "and `%s` are the same command on the command line",
                                       earlier->name);
    if (operation->route && earlier->route && mishap_route_same(operation->route, earlier->route))
        return mishap_declared_wrongly(what, "has the same route as `%s`", earlier->name);
    return mishap_agents_declared_against(what, earlier);
}

/* -- the program ------------------------------------------------------------------------------- */

static mishap *check_program(const mishap_declared *what)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    const mishap_app *app = what->app;
    if (!app->name || !*app->name || strspn(app->name, letters) != strlen(app->name))
        return mishap_declared_wrongly(what, "has no name, or one that is not a word");
    const char *flaw = app->version ? mishap_line_flaw(app->version) : NULL;
    if (flaw)
        return mishap_declared_wrongly(what, "has a version that is %s", flaw);
    flaw = app->summary ? mishap_line_flaw(app->summary) : NULL;
    if (flaw)
        return mishap_declared_wrongly(what, "has a summary that is %s", flaw);
    if (app->timeout_ms < 0)
        return mishap_declared_wrongly(what, "has a timeout below zero");
    if (!app->operations ||
        !(app->operations->name || app->operations->summary || app->operations->run))
        return mishap_declared_wrongly(what, "has no operations");
    MISHAP_TRY(mishap_scopes_declared(app));
    MISHAP_TRY(mishap_icons_declared(what, app->icons));
    return check_raises(what, app->raises);
}

mishap *mishap_declaration_check_program(const mishap_app *app)
{
    return app ? check_program(&(mishap_declared){ .app = app })
               : mishap_raise(NOT_CONFIGURED, "The program is missing: `app` is NULL.");
}

static mishap *check_all(const mishap_app *app, bool shape_only)
{
    mishap *m = mishap_declaration_check_program(app);
    size_t i = 0;
    for (; !m && app->operations[i].name; i++) {
        mishap_declared what = { .app = app,
                                 .operation = &app->operations[i],
                                 .shape_only = shape_only };
        m = check_operation(&what);
        if (!m)
            m = check_task(&what);
        if (!m)
            m = check_stale(&what);
        for (size_t earlier = 0; !m && earlier < i; earlier++)
            m = check_against(&what, &app->operations[earlier]);
    }
    if (!m && (app->operations[i].summary || app->operations[i].run || app->operations[i].params))
        m = mishap_declared_wrongly(&(mishap_declared){ .app = app },
                                    "has an operation, number %zu, without a name", i + 1);
    return m ? m : mishap_services_declared(app, shape_only);
}

mishap *mishap_declaration_check(const mishap_app *app)
{
    return check_all(app, false);
}

mishap *mishap_declaration_check_shape(const mishap_app *app)
{
    return check_all(app, true);
}

mishap *mishap_declaration_check_operation(const mishap_app *app, const mishap_operation *operation)
{
    const mishap_service *service = operation->service;
    mishap *m = check_operation(&(mishap_declared){ .app = app, .operation = operation });
    return m || !service || !service->settings
               ? m
               : mishap_params_declared(&(mishap_declared){ .app = app, .service = service },
                                        service->settings);
}
