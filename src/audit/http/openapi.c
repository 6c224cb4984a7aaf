/* Reading an OpenAPI document: operations, parameters, bodies, references. */
#include "audit/http/openapi.h"

static yyjson_val *member_of(yyjson_val *object, const char *name)
{
    return yyjson_is_obj(object) ? yyjson_obj_get(object, name) : NULL;
}

static mishap_text text_member(yyjson_val *object, const char *name)
{
    yyjson_val *value = member_of(object, name);
    return yyjson_is_str(value) ? mishap_json_text(value) : (mishap_text){ NULL, 0 };
}

static bool text_is(mishap_text text, const char *literal)
{
    return mishap_text_equal(text, mishap_text_of(literal));
}

/* -- references -------------------------------------------------------------------------------- */

/* One step of a JSON pointer (RFC 6901): ~1 is a slash, ~0 a tilde. */
static bool is_step(mishap_text step, yyjson_val *key)
{
    mishap_text name = mishap_json_text(key);
    size_t at = 0;
    for (size_t i = 0; i < step.length; i++, at++) {
        char c = step.data[i];
        if (c == '~' && i + 1 < step.length && (step.data[i + 1] == '0' || step.data[i + 1] == '1'))
            c = step.data[++i] == '1' ? '/' : '~';
        if (at >= name.length || name.data[at] != c)
            return false;
    }
    return at == name.length;
}

static yyjson_val *find_step(mishap_openapi *document, yyjson_val *object, mishap_text step)
{
    size_t index, count;
    yyjson_val *key, *value;
    if (!yyjson_is_obj(object))
        return NULL;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        if (document->looked++ >= MISHAP_OPENAPI_MOST_LOOKED)
            return NULL;
        if (is_step(step, key))
            return value;
    }
    return NULL;
}

static yyjson_val *find_pointer(mishap_openapi *document, mishap_text pointer)
{
    yyjson_val *at = document->root;
    const char *from = pointer.data, *end = pointer.data + pointer.length;
    for (size_t depth = 0; at && from < end; depth++) {
        if (*from != '/' || depth > MISHAP_JSON_MAX_DEPTH)
            return NULL;
        const char *slash = memchr(from + 1, '/', (size_t)(end - from - 1));
        const char *step_end = slash ? slash : end;
        at = find_step(document, at, (mishap_text){ from + 1, (size_t)(step_end - from - 1) });
        from = step_end;
    }
    return at;
}

yyjson_val *mishap_openapi_resolve(mishap_openapi *document, yyjson_val *value)
{
    for (int i = 0; i < MISHAP_OPENAPI_MOST_REFERENCES; i++) {
        mishap_text to = text_member(value, "$ref");
        if (!to.data)
            return value;
        if (!to.length || to.data[0] != '#')
            return NULL;
        value = find_pointer(document, (mishap_text){ to.data + 1, to.length - 1 });
        if (!value)
            return NULL;
    }
    return NULL;
}

/* -- schemas ----------------------------------------------------------------------------------- */

static unsigned type_of(mishap_text name)
{
    static const char *const names[] = { "string", "integer", "number", "boolean",
                                         "array",  "object",  "null" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(name, names[i]))
            return 1U << i;
    return 0;
}

unsigned mishap_openapi_types(yyjson_val *schema)
{
    size_t index, count;
    yyjson_val *item, *type = member_of(schema, "type");
    unsigned types = 0;
    if (yyjson_is_str(type)) {
        types = type_of(mishap_json_text(type));
    } else if (yyjson_is_arr(type)) {
        MISHAP_JSON_ITEMS (type, index, count, item) {
            unsigned one = yyjson_is_str(item) ? type_of(mishap_json_text(item)) : 0;
            if (!one)
                return 0;
            types |= one;
        }
    }
    if (types && yyjson_is_true(member_of(schema, "nullable")))
        types |= MISHAP_OPENAPI_NULL;
    return types;
}

static bool is_read_only(mishap_openapi *document, yyjson_val *schema, mishap_text name)
{
    yyjson_val *properties = member_of(schema, "properties");
    yyjson_val *property = yyjson_is_obj(properties)
                               ? yyjson_obj_getn(properties, name.data, name.length)
                               : NULL;
    return yyjson_is_true(member_of(property, "readOnly")) ||
           yyjson_is_true(member_of(mishap_openapi_resolve(document, property), "readOnly"));
}

size_t mishap_openapi_required(mishap_openapi *document, yyjson_val *schema, mishap_text *names,
                               size_t most)
{
    size_t index, count, found = 0;
    yyjson_val *item, *required = member_of(schema, "required");
    if (!yyjson_is_arr(required) ||
        (mishap_openapi_types(schema) && !(mishap_openapi_types(schema) & MISHAP_OPENAPI_OBJECT)))
        return 0;
    MISHAP_JSON_ITEMS (required, index, count, item) {
        mishap_text name = yyjson_is_str(item) ? mishap_json_text(item) : (mishap_text){ NULL, 0 };
        if (name.length && found < most && !is_read_only(document, schema, name))
            names[found++] = name;
    }
    return found;
}

bool mishap_openapi_documents(const mishap_openapi_operation *operation, int status)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (operation->responses, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        (void)value;
        if (text_is(name, "default"))
            return true;
        if (name.length == 3 && name.data[0] == '0' + status / 100 &&
            (((name.data[1] | 32) == 'x' && (name.data[2] | 32) == 'x') ||
             (name.data[1] == '0' + status / 10 % 10 && name.data[2] == '0' + status % 10)))
            return true;
    }
    return false;
}

bool mishap_openapi_fits(mishap_text template, mishap_text path)
{
    size_t i = 0, j = 0;
    while (i < template.length && j < path.length) {
        if (template.data[i] == '{') {
            size_t begun = j;
            while (i < template.length && template.data[i] != '}')
                i++;
            i += i < template.length;
            while (j < path.length && path.data[j] != '/' &&
                   (i >= template.length || path.data[j] != template.data[i]))
                j++;
            if (j == begun)
                return false;
        } else if (template.data[i++] != path.data[j++]) {
            return false;
        }
    }
    return i == template.length && j == path.length;
}

/* -- operations -------------------------------------------------------------------------------- */

/* A parameter of the operation replaces one of its path with the same name and place. */
static mishap_openapi_parameter *parameter_place(mishap_openapi_operation *operation,
                                                 mishap_text name, mishap_text in)
{
    for (size_t i = 0; i < operation->parameter_count; i++)
        if (mishap_text_equal(operation->parameters[i].name, name) &&
            mishap_text_equal(operation->parameters[i].in, in))
            return &operation->parameters[i];
    return operation->parameter_count < MISHAP_OPENAPI_MOST_PARAMETERS
               ? &operation->parameters[operation->parameter_count++]
               : NULL;
}

static void read_parameters(mishap_openapi *document, yyjson_val *list,
                            mishap_openapi_operation *operation)
{
    size_t index, count;
    yyjson_val *item;
    if (!yyjson_is_arr(list))
        return;
    MISHAP_JSON_ITEMS (list, index, count, item) {
        yyjson_val *value = mishap_openapi_resolve(document, item);
        mishap_text name = text_member(value, "name"), in = text_member(value, "in");
        mishap_openapi_parameter *place = name.length && in.data
                                              ? parameter_place(operation, name, in)
                                              : NULL;
        if (!place) {
            operation->whole = false;
            continue;
        }
        *place = (mishap_openapi_parameter){
            .name = name,
            .in = in,
            .required = yyjson_is_true(member_of(value, "required")),
            .schema = mishap_openapi_resolve(document, member_of(value, "schema")),
        };
    }
}

static bool is_json_type(mishap_text type)
{
    size_t length = 0;
    while (length < type.length && type.data[length] != ';' && type.data[length] != ' ')
        length++;
    type.length = length;
    return text_is(type, "application/json") ||
           (length > 5 && memcmp(type.data + length - 5, "+json", 5) == 0);
}

/* The schema of a JSON body, resolved; NULL: none is named. */
static yyjson_val *schema_of_content(mishap_openapi *document, yyjson_val *holder)
{
    size_t index, count;
    yyjson_val *key, *media,
        *content = member_of(mishap_openapi_resolve(document, holder), "content");
    if (!yyjson_is_obj(content))
        return NULL;
    MISHAP_JSON_MEMBERS (content, index, count, key, media) {
        yyjson_val *schema = is_json_type(mishap_json_text(key))
                                 ? mishap_openapi_resolve(document, member_of(media, "schema"))
                                 : NULL;
        if (schema)
            return schema;
    }
    return NULL;
}

static void read_responses(mishap_openapi *document, yyjson_val *responses,
                           mishap_openapi_operation *operation)
{
    if (!yyjson_is_obj(responses))
        return;
    yyjson_val *all = member_of(responses, "default");
    operation->responses = responses;
    operation->errors = schema_of_content(document, all ? all : member_of(responses, "4XX"));
}

static const char *method_name(yyjson_val *key)
{
    static const char *const names[][2] = { { "get", "GET" },
                                            { "post", "POST" },
                                            { "put", "PUT" },
                                            { "patch", "PATCH" },
                                            { "delete", "DELETE" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(mishap_json_text(key), names[i][0]))
            return names[i][1];
    return NULL;
}

/* A path that can stand in the first line of a request, with its braces in pairs. */
static bool is_path(mishap_text path)
{
    bool open = false;
    if (!path.length || path.data[0] != '/' || path.length > 1000)
        return false;
    for (size_t i = 0; i < path.length; i++) {
        char c = path.data[i];
        if (c <= ' ' || c > '~' || c == '?' || c == '#' || (c == '{' && open) ||
            (c == '}' && !open))
            return false;
        open = c == '{' ? true : c == '}' ? false : open;
    }
    return !open;
}

static void read_operation(mishap_openapi *document, mishap_text path, yyjson_val *item,
                           const char *method, yyjson_val *value)
{
    if (document->count == MISHAP_OPENAPI_MOST_OPERATIONS) {
        document->left_out++;
        return;
    }
    mishap_openapi_operation *operation = &document->operations[document->count];
    *operation = (mishap_openapi_operation){ .method = mishap_text_of(method),
                                             .path = path,
                                             .whole = true };
    operation->parameters = mishap_arena_take(&document->arena, MISHAP_OPENAPI_MOST_PARAMETERS *
                                                                    sizeof *operation->parameters);
    if (!operation->parameters) {
        document->left_out++;
        return;
    }
    read_parameters(document, member_of(item, "parameters"), operation);
    read_parameters(document, member_of(value, "parameters"), operation);
    operation->body_known = member_of(value, "requestBody") != NULL;
    operation->body = schema_of_content(document, member_of(value, "requestBody"));
    read_responses(document, member_of(value, "responses"), operation);
    size_t column;
    mishap_json_locate(document->reader.text, document->root, value, &operation->line, &column);
    document->count++;
}

static void read_paths(mishap_openapi *document, yyjson_val *paths)
{
    size_t i, j, path_count, count;
    yyjson_val *path, *value, *key, *operation;
    MISHAP_JSON_MEMBERS (paths, i, path_count, path, value) {
        yyjson_val *item = mishap_openapi_resolve(document, value);
        if (!is_path(mishap_json_text(path)) || !yyjson_is_obj(item))
            continue;
        MISHAP_JSON_MEMBERS (item, j, count, key, operation) {
            const char *method = method_name(key);
            if (method && yyjson_is_obj(operation))
                read_operation(document, mishap_json_text(path), item, method, operation);
        }
    }
}

/* Of https://example.com/v1/ it is /v1. A server with variables, and anything strange, has none. */
static mishap_text server_path(yyjson_val *root)
{
    static const mishap_text none = MISHAP_TEXT("");
    mishap_text url = text_member(yyjson_arr_get_first(member_of(root, "servers")), "url");
    const char *begin = url.data, *end = url.data ? url.data + url.length : NULL;
    for (size_t i = 0; i + 3 <= url.length && begin == url.data; i++)
        if (memcmp(url.data + i, "://", 3) == 0)
            begin = url.data + i + 3;
    if (begin != url.data)
        begin = memchr(begin, '/', (size_t)(end - begin));
    if (!begin)
        return none;
    while (end > begin && end[-1] == '/')
        end--;
    mishap_text path = { begin, (size_t)(end - begin) };
    return is_path(path) && !memchr(path.data, '{', path.length) ? path : none;
}

const char *mishap_openapi_read(mishap_openapi *document, mishap_text text)
{
    memset(document, 0, sizeof *document);
    mishap_arena_init(&document->arena, NULL, 0);
    document->prefix = mishap_text_of("");
    if (!mishap_json_read(&document->reader, text))
        return document->reader.flaw == MISHAP_JSON_NO_MEMORY
                   ? "there is not enough memory for it"
                   : "it is not JSON (a document in YAML is not read)";
    document->root = document->reader.root;
    mishap_text version = text_member(document->root, "openapi");
    yyjson_val *paths = member_of(document->root, "paths");
    if (member_of(document->root, "swagger"))
        return "it is a Swagger 2.0 document; only OpenAPI 3 is read";
    if (version.length < 2 || version.data[0] != '3' || version.data[1] != '.' ||
        !yyjson_is_obj(paths))
        return "it is no OpenAPI 3 document with paths";
    document->operations = mishap_arena_take(&document->arena, MISHAP_OPENAPI_MOST_OPERATIONS *
                                                                   sizeof *document->operations);
    if (!document->operations)
        return "there is not enough memory for it";
    document->prefix = server_path(document->root);
    read_paths(document, paths);
    return NULL;
}

void mishap_openapi_release(mishap_openapi *document)
{
    mishap_json_reader_release(&document->reader);
    mishap_arena_release(&document->arena);
    memset(document, 0, sizeof *document);
}
