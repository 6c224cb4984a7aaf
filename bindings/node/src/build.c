/* A mishap from the arguments of a call. */
#include "taken.h"

/* Most texts are added one after the other; what belongs together has a room each. */
typedef struct building {
    napi_env env;
    mishap *m;
    node_room rooms[3];
    napi_value parts; /* an array */
    uint32_t at, count;
} building;

const mishap_code *node_code_at(int32_t place)
{
    const mishap_catalog *catalog = mishap_catalog_first();
    return place >= 0 && (size_t)place < catalog->count ? catalog->codes[place] : NULL;
}

size_t node_code_count(void)
{
    return mishap_catalog_first()->count;
}

static void begin_mishap(building *b, napi_env env, int32_t code, napi_value message)
{
    b->env = env;
    for (size_t i = 0; i < 3; i++)
        node_room_init(&b->rooms[i]);
    b->m = mishap_raise_text(node_code_at(code), node_take_text(env, message, &b->rooms[0]));
}

static mishap *end_mishap(building *b)
{
    for (size_t i = 0; i < 3; i++)
        node_room_release(&b->rooms[i]);
    return b->m;
}

static void tell_pair(building *b, napi_value key, napi_value value)
{
    mishap_text name = node_take_text(b->env, key, &b->rooms[0]);
    b->m = mishap_tell_value(b->m, name, node_take_value(b->env, value, &b->rooms[1]));
}

mishap *node_build_pairs(napi_env env, int32_t code, napi_value message, const napi_value *pairs,
                         size_t count)
{
    building b;
    begin_mishap(&b, env, code, message);
    for (size_t i = 0; i + 1 < count; i += 2)
        tell_pair(&b, pairs[i], pairs[i + 1]);
    return end_mishap(&b);
}

/* -- parts of an array ------------------------------------------------------------------------- */

/* The next item; undefined behind the last one. */
static napi_value next_item(building *b)
{
    napi_value item = NULL;
    if (b->at >= b->count || napi_get_element(b->env, b->parts, b->at, &item) != napi_ok)
        napi_get_undefined(b->env, &item);
    b->at++;
    return item;
}

static mishap_text next_text(building *b, size_t room)
{
    return node_take_text(b->env, next_item(b), &b->rooms[room]);
}

static mishap_value next_json(building *b, size_t room)
{
    mishap_value value = mishap_value_of_text(next_text(b, room));
    if (value.kind == MISHAP_KIND_TEXT)
        value.kind = MISHAP_KIND_JSON;
    return value;
}

static void put_in_field(building *b, int32_t which, mishap_value value)
{
    static mishap *(*const put[])(mishap *, mishap_value) = {
        mishap_field_put_expected,
        mishap_field_put_actual,
        mishap_field_put_min,
        mishap_field_put_max,
    };
    if (which >= 0 && (size_t)which < sizeof put / sizeof *put)
        b->m = put[which](b->m, value);
}

static void add_field(building *b)
{
    mishap_text field = next_text(b, 0);
    mishap_text error = next_text(b, 1);
    b->m = mishap_field_put(b->m, field, error, next_text(b, 2));
}

static void put_retry_after(building *b)
{
    double milliseconds = -1;
    napi_get_value_double(b->env, next_item(b), &milliseconds);
    if (milliseconds >= 0 && milliseconds < 9e15)
        b->m = mishap_retry_after(b->m, (int64_t)milliseconds);
}

static void put_category(building *b)
{
    int32_t category = node_take_int(b->env, next_item(b), -1);
    if (category >= 0 && category < MISHAP_CATEGORIES)
        b->m = mishap_file_under(b->m, (mishap_category)category);
}

static void add_part(building *b, int32_t part)
{
    mishap_text key;
    int32_t which;
    switch ((node_part)part) {
    case NODE_TELL:
        key = next_text(b, 0);
        b->m = mishap_tell_value(b->m, key, node_take_value(b->env, next_item(b), &b->rooms[1]));
        break;
    case NODE_TELL_JSON:
        key = next_text(b, 0);
        b->m = mishap_tell_json(b->m, key, next_text(b, 1));
        break;
    case NODE_SUGGESTION:
        b->m = mishap_put_suggestion(b->m, next_text(b, 0));
        break;
    case NODE_DOCS:
        b->m = mishap_put_docs(b->m, next_text(b, 0));
        break;
    case NODE_REASON:
        b->m = mishap_put_cause(b->m, next_text(b, 0));
        break;
    case NODE_RETRYABLE:
        b->m = mishap_retryable(b->m, node_take_bool(b->env, next_item(b)));
        break;
    case NODE_RETRY_AFTER:
        put_retry_after(b);
        break;
    case NODE_INCIDENT:
        b->m = mishap_put_incident(b->m, next_text(b, 0));
        break;
    case NODE_CATEGORY:
        put_category(b);
        break;
    case NODE_FIELD:
        add_field(b);
        break;
    case NODE_OF_FIELD:
        which = node_take_int(b->env, next_item(b), -1);
        put_in_field(b, which, node_take_value(b->env, next_item(b), &b->rooms[0]));
        break;
    case NODE_OF_FIELD_JSON:
        which = node_take_int(b->env, next_item(b), -1);
        put_in_field(b, which, next_json(b, 0));
        break;
    }
}

mishap *node_build_parts(napi_env env, int32_t code, napi_value message, napi_value parts)
{
    building b;
    bool is_array = false;
    begin_mishap(&b, env, code, message);
    b.parts = parts;
    b.at = b.count = 0;
    if (napi_is_array(env, parts, &is_array) == napi_ok && is_array)
        napi_get_array_length(env, parts, &b.count);
    while (b.at < b.count) {
        napi_handle_scope scope;
        if (napi_open_handle_scope(env, &scope) != napi_ok)
            break;
        add_part(&b, node_take_int(env, next_item(&b), -1));
        napi_close_handle_scope(env, scope);
    }
    return end_mishap(&b);
}
