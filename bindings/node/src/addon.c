/* The functions that lib/native.cjs calls, and the tables that it reads at its start. */
#include "mishap/json.h"
#include "taken.h"

enum { MOST_ARGUMENTS = 12 };

/* The arguments of a call; those that are missing are undefined. */
typedef struct arguments {
    napi_value list[MOST_ARGUMENTS];
    size_t count;
} arguments;

static arguments arguments_of(napi_env env, napi_callback_info info)
{
    arguments a = { .count = MOST_ARGUMENTS };
    napi_get_cb_info(env, info, &a.count, a.list, NULL, NULL);
    a.count = a.count < MOST_ARGUMENTS ? a.count : MOST_ARGUMENTS;
    return a;
}

static const mishap_dialect *dialect_at(napi_env env, napi_value place)
{
    const mishap_dialect *const *all = mishap_dialects();
    int32_t left = node_take_int(env, place, 0);
    size_t i = 0;
    while (all[i + 1] && left-- > 0)
        i++;
    return all[i];
}

/* -- rendering --------------------------------------------------------------------------------- */

/* Room for most documents. */
enum { USUAL_DOCUMENT = 4096 };

/* raise(dialect, code, message, key, value, …): the document. */
static napi_value call_raise(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    char storage[USUAL_DOCUMENT];
    mishap_buffer buffer;
    mishap *m = node_build_pairs(env, node_take_int(env, a.list[1], -1), a.list[2], a.list + 3,
                                 a.count > 3 ? a.count - 3 : 0);
    mishap_buffer_init(&buffer, storage, sizeof storage);
    napi_value text = node_give_text(env, mishap_render(dialect_at(env, a.list[0]), m, &buffer));
    mishap_buffer_release(&buffer);
    mishap_free(m);
    return text;
}

/* A list with one text: the document is not the one that the program wrote. */
static napi_value give_changed(napi_env env, mishap_text text)
{
    napi_value list = NULL, item = node_give_text(env, text);
    if (!item || napi_create_array_with_length(env, 1, &list) != napi_ok)
        return NULL;
    napi_set_element(env, list, 0, item);
    return list;
}

/*
 * The guard over a document. Without memory for it the constant document of the dialect is sent:
 * what could not be checked does not go out.
 */
static mishap_text guard_document(mishap_buffer *buffer, const mishap_dialect *dialect, bool strict,
                                  const node_texts *known, bool *replaced)
{
    mishap *found = mishap_guard_json(buffer, strict, known->list, known->count);
    *replaced = buffer->failed || mishap_is(found, RUNTIME_ERROR);
    mishap_free(found);
    return buffer->failed ? mishap_render(dialect, mishap_out_of_memory(), buffer)
                          : mishap_buffer_text(buffer);
}

/* The mishap of a document in canonical form, with a code that the catalog does not have. NULL: it
 * cannot be read. */
static mishap *read_canonical(napi_env env, napi_value document)
{
    mishap *read = NULL;
    node_room room;
    node_room_init(&room);
    mishap_text text = node_take_text(env, document, &room);
    if (text.data)
        mishap_free(mishap_parse(mishap_dialect_find("canonical"), text, &read));
    node_room_release(&room);
    return read;
}

/* A mishap from `code, message, parts`, or from a document in place of the parts; NULL if that
 * cannot be read. */
static mishap *build_any(napi_env env, const napi_value *list)
{
    napi_valuetype type = napi_undefined;
    napi_typeof(env, list[2], &type);
    if (type == napi_string)
        return read_canonical(env, list[2]);
    return node_build_parts(env, node_take_int(env, list[0], -1), list[1], list[2]);
}

/* render(dialect, code, message, parts): the document. */
static napi_value call_render(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    mishap_buffer buffer;
    mishap *m = build_any(env, a.list + 1);
    if (!m)
        return NULL;
    mishap_buffer_init(&buffer, NULL, 0);
    napi_value text = node_give_text(env, mishap_render(dialect_at(env, a.list[0]), m, &buffer));
    mishap_buffer_release(&buffer);
    mishap_free(m);
    return text;
}

/* guarded(dialect, code, message, parts, strict, known): the document for a caller, of a dialect
 * that is JSON; a list with it if the guard has replaced something. */
static napi_value call_guarded(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    const mishap_dialect *dialect = dialect_at(env, a.list[0]);
    mishap *m = build_any(env, a.list + 1);
    if (!m)
        return NULL;
    node_texts known = node_take_texts(env, a.list[5]);
    mishap_buffer buffer;
    bool replaced = false;
    mishap_buffer_init(&buffer, NULL, 0);
    mishap_text text = mishap_render_answer(dialect, m, &buffer);
    if (text.data == buffer.data) /* else it is a constant */
        text = guard_document(&buffer, dialect, node_take_bool(env, a.list[4]), &known, &replaced);
    napi_value given = replaced ? give_changed(env, text) : node_give_text(env, text);
    node_texts_release(&known);
    mishap_buffer_release(&buffer);
    mishap_free(m);
    return given;
}

/* -- documents --------------------------------------------------------------------------------- */

/* What is wrong with a document: a list with the canonical form. */
static napi_value give_failure(napi_env env, mishap *failure)
{
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    napi_value list = give_changed(
        env, mishap_render(mishap_dialect_find("canonical"), failure, &buffer));
    mishap_buffer_release(&buffer);
    mishap_free(failure);
    return list;
}

static napi_value translate_document(napi_env env, const mishap_dialect *from,
                                     const mishap_dialect *to, napi_value document)
{
    char storage[USUAL_DOCUMENT];
    mishap_buffer buffer;
    node_room room;
    node_room_init(&room);
    mishap_buffer_init(&buffer, storage, sizeof storage);
    mishap_text text = node_take_text(env, document, &room);
    mishap *failure = text.data ? mishap_translate(from, to, text, &buffer)
                                : mishap_out_of_memory();
    napi_value given = failure ? give_failure(env, failure)
                               : node_give_text(env, mishap_buffer_text(&buffer));
    mishap_buffer_release(&buffer);
    node_room_release(&room);
    return given;
}

/* translate(from, to, document): the document, or a list with what is wrong. */
static napi_value call_translate(napi_env env, napi_callback_info info)
{
    napi_value list[3];
    size_t count = 3;
    napi_get_cb_info(env, info, &count, list, NULL, NULL);
    return translate_document(env, dialect_at(env, list[0]), dialect_at(env, list[1]), list[2]);
}

static void put_finding(void *state, const mishap_finding *finding)
{
    static const char *const severities[] = { "warning", "error", "fatal" };
    mishap_buffer *json = state;
    mishap_json_put_object(json, NULL);
    mishap_json_put(json, "rule", finding->rule);
    mishap_json_put(json, "severity", severities[finding->severity]);
    mishap_json_put(json, "place", finding->place);
    mishap_json_put(json, "sentence", finding->sentence);
    mishap_json_put_end(json, '}');
}

/* verify(dialect, document, strict): the findings as JSON, or a list with a failure. */
static napi_value call_verify(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    mishap_buffer json;
    node_room room;
    node_room_init(&room);
    mishap_buffer_init(&json, NULL, 0);
    mishap_text text = node_take_text(env, a.list[1], &room);
    mishap_json_put_array(&json, NULL);
    mishap *failure = text.data ? mishap_verify(dialect_at(env, a.list[0]), text,
                                                node_take_bool(env, a.list[2]), put_finding, &json)
                                : mishap_out_of_memory();
    mishap_json_put_end(&json, ']');
    if (!failure && json.failed)
        failure = mishap_out_of_memory();
    napi_value given = failure ? give_failure(env, failure)
                               : node_give_text(env, mishap_buffer_text(&json));
    mishap_buffer_release(&json);
    node_room_release(&room);
    return given;
}

/* guard(text, strict, known): the text, or the sentence in its place. */
static napi_value call_guard(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    node_texts known = node_take_texts(env, a.list[2]);
    mishap_buffer out;
    node_room room;
    node_room_init(&room);
    mishap_buffer_init(&out, NULL, 0);
    mishap_text text = node_take_text(env, a.list[0], &room);
    mishap_guard_text(text, node_take_bool(env, a.list[1]), known.list, known.count, &out);
    napi_value given = !text.data || out.failed ? give_failure(env, mishap_out_of_memory())
                                                : node_give_text(env, mishap_buffer_text(&out));
    mishap_buffer_release(&out);
    node_room_release(&room);
    node_texts_release(&known);
    return given;
}

/* -- the catalog ------------------------------------------------------------------------------- */

static void put_row(mishap_buffer *json, const mishap_code *code)
{
    static const char *const retries[] = { "never", "fix", "yes" };
    mishap_json_put_array(json, NULL);
    mishap_json_put(json, NULL, code->name);
    mishap_json_put(json, NULL, code->title);
    mishap_json_put(json, NULL, code->message);
    mishap_json_put(json, NULL, code->suggestion);
    mishap_json_put(json, NULL, code->docs_url);
    mishap_json_put(json, NULL, (int64_t)code->category);
    mishap_json_put(json, NULL, code->http_status);
    mishap_json_put(json, NULL, code->exit_code);
    mishap_json_put(json, NULL, code->rpc_code);
    mishap_json_put(json, NULL, retries[code->retry]);
    mishap_json_put(json, NULL, code->retry_after_ms);
    mishap_json_put(json, NULL, code->masked);
    mishap_json_put_end(json, ']');
}

static void put_dialects(mishap_buffer *json)
{
    mishap_json_put_array(json, "dialects");
    for (const mishap_dialect *const *all = mishap_dialects(); *all; all++) {
        mishap_json_put_array(json, NULL);
        mishap_json_put(json, NULL, mishap_dialect_name(*all));
        mishap_json_put(json, NULL, mishap_dialect_media_type(*all));
        mishap_json_put_end(json, ']');
    }
    mishap_json_put_end(json, ']');
}

static void put_categories(mishap_buffer *json)
{
    mishap_json_put_array(json, "categories");
    for (int i = 0; i < MISHAP_CATEGORIES; i++)
        mishap_json_put(json, NULL, mishap_category_name((mishap_category)i));
    mishap_json_put_end(json, ']');
}

/* tables(): JSON with the version, the codes, the dialects and the categories. */
static napi_value call_tables(napi_env env, napi_callback_info info)
{
    mishap_buffer json;
    (void)info;
    mishap_buffer_init(&json, NULL, 0);
    mishap_json_put_object(&json, NULL);
    mishap_json_put(&json, "version", mishap_version());
    mishap_json_put_array(&json, "codes");
    for (size_t i = 0; i < node_code_count(); i++)
        put_row(&json, node_code_at((int32_t)i));
    mishap_json_put_end(&json, ']');
    put_dialects(&json);
    put_categories(&json);
    mishap_json_put_end(&json, '}');
    napi_value given = json.failed ? NULL : node_give_text(env, mishap_buffer_text(&json));
    mishap_buffer_release(&json);
    return given;
}

/* derived(document): the row of a code that the catalog does not have, as the core derives it. */
static napi_value call_derived(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    mishap *m = read_canonical(env, a.list[0]);
    if (!m)
        return NULL;
    mishap_buffer json;
    mishap_buffer_init(&json, NULL, 0);
    put_row(&json, mishap_told(m)->code);
    napi_value given = json.failed ? NULL : node_give_text(env, mishap_buffer_text(&json));
    mishap_buffer_release(&json);
    mishap_free(m);
    return given;
}

/* nearest(name): the name of a code that is like it, or undefined. */
static napi_value call_nearest(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    node_room room;
    node_room_init(&room);
    mishap_text name = mishap_code_nearest(node_take_text(env, a.list[0], &room));
    node_room_release(&room);
    return name.data ? node_give_text(env, name) : NULL;
}

/* status(number): the name of the code of an HTTP status, or undefined. */
static napi_value call_status(napi_env env, napi_callback_info info)
{
    arguments a = arguments_of(env, info);
    const mishap_code *code = mishap_catalog_for_status(node_take_int(env, a.list[0], 0));
    return code ? node_give_text(env, code->name) : NULL;
}

/* incident(): a new id. */
static napi_value call_incident(napi_env env, napi_callback_info info)
{
    char id[MISHAP_INCIDENT_ID_SIZE];
    (void)info;
    return node_give_text(env, (mishap_text){ id, mishap_new_incident(id) });
}

/* The two functions that Node looks for, with prototypes, which its macro for them lacks. */
NAPI_MODULE_EXPORT int32_t node_api_module_get_api_version_v1(void);
NAPI_MODULE_EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports);

int32_t node_api_module_get_api_version_v1(void)
{
    return NAPI_VERSION;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
    static const struct {
        const char *name;
        napi_callback function;
    } functions[] = {
        { "raise", call_raise },         { "render", call_render },   { "guarded", call_guarded },
        { "translate", call_translate }, { "verify", call_verify },   { "guard", call_guard },
        { "tables", call_tables },       { "nearest", call_nearest }, { "status", call_status },
        { "incident", call_incident },   { "derived", call_derived },
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        napi_value function;
        if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function,
                                 NULL, &function) != napi_ok ||
            napi_set_named_property(env, exports, functions[i].name, function) != napi_ok)
            return NULL;
    }
    return exports;
}
