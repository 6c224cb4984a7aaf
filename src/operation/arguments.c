/*
 * The getters of a handler: a value by its name or by a path, the number of items, and iteration.
 * The getters accept a call or a part of one. A declared parameter must be requested with its
 * declared type; otherwise the handler has made a mistake, and the call is aborted. Where any type
 * is allowed, such as in an object that declares no members, a value of another type counts as not
 * given.
 */
#include <math.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/memory.h"
#include "operation/call.h"
#include "operation/file.h"
#include "operation/type.h"

/* -- from a path to a value -------------------------------------------------------------------- */

struct found {
    const mishap_param *param; /* NULL: not declared, any value is allowed */
    yyjson_val *value;         /* NULL: not given */
};

static const char not_declared[] = "the handler asked for a parameter that is not declared";
static const char other_type[] =
    "the handler asked for a parameter with a type other than the declared type";
static const char bad_path[] = "the handler asked for a parameter by a path that is not valid";

static struct found step_to_member(mishap_call *call, struct found at, const char *path,
                                   const char *name, size_t length)
{
    struct found to = { NULL, NULL };
    bool map = at.param && at.param->type == MISHAP_MAP;
    if (at.param && at.param->type != MISHAP_OBJECT && !map)
        mishap_call_misuse(call, other_type, path);
    if (map)
        to.param = at.param->items;
    if (at.param && at.param->members)
        to.param = mishap_param_find(at.param->members, (mishap_text){ name, length });
    if (at.param && at.param->members && !to.param)
        mishap_call_misuse(call, not_declared, path);
    to.value = yyjson_obj_getn(at.value, name, length);
    return to;
}

static struct found step_to_item(mishap_call *call, struct found at, const char *path, size_t index)
{
    if (at.param && at.param->type != MISHAP_ARRAY)
        mishap_call_misuse(call, other_type, path);
    return (struct found){ at.param ? at.param->items : NULL, yyjson_arr_get(at.value, index) };
}

/* The first name of a path leads to a parameter of the call. Most handlers ask for them in the
 * order of declaration, so the next one is tried first. */
static struct found begin_at_call(mishap_call *call, const char *path, size_t length)
{
    const mishap_param *params = call->operation->params, *param;
    mishap_text name = { path, length };
    size_t i = __atomic_load_n(&call->next_param, __ATOMIC_RELAXED);
    if (i < call->param_count && mishap_param_is_named(&params[i], name))
        param = &params[i];
    else
        param = mishap_param_find(params, name);
    i = param ? (size_t)(param - params) : call->param_count;
    __atomic_store_n(&call->next_param, i + 1, __ATOMIC_RELAXED);
    if (i >= call->param_count)
        mishap_call_misuse(call, not_declared, path);
    return (struct found){ param, call->values[i] };
}

/* name, name.name, name[2].name, [2], and nothing at all for the part itself. */
static struct found find_value(const mishap_call *from, const char *path)
{
    const mishap_call_part *part = (const mishap_call_part *)from;
    if (!part) /* the part that mishap_at() returns for an absent object has no members */
        return (struct found){ NULL, NULL };
    mishap_call *call = part->call;
    struct found at = { part->param, part->value };
    if (!path)
        mishap_call_misuse(call, bad_path, "");
    const char *rest = path;
    if (part == &call->whole) {
        rest += strcspn(path, ".[");
        at = begin_at_call(call, path, (size_t)(rest - path));
    }
    while (*rest) {
        if (*rest == '[') {
            char *end;
            unsigned long long index = strtoull(rest + 1, &end, 10);
            if (rest[1] < '0' || rest[1] > '9' || *end != ']')
                mishap_call_misuse(call, bad_path, path);
            at = step_to_item(call, at, path, index < SIZE_MAX ? (size_t)index : SIZE_MAX);
            rest = end + 1;
            continue;
        }
        if (rest > path && *rest++ != '.')
            mishap_call_misuse(call, bad_path, path);
        size_t length = strcspn(rest, ".[");
        if (!length)
            mishap_call_misuse(call, bad_path, path);
        at = step_to_member(call, at, path, rest, length);
        rest += length;
    }
    if (yyjson_is_null(at.value))
        at.value = NULL;
    return at;
}

/* -- values ------------------------------------------------------------------------------------ */

enum {
    INTEGERS = 1 << MISHAP_INTEGER,
    NUMBERS = 1 << MISHAP_INTEGER | 1 << MISHAP_NUMBER,
    BOOLEANS = 1 << MISHAP_BOOLEAN,
    CONTAINERS = 1 << MISHAP_ARRAY | 1 << MISHAP_OBJECT | 1 << MISHAP_MAP,
    FORMS = 1 << MISHAP_DECIMAL | 1 << MISHAP_MONEY | 1 << MISHAP_TIMESTAMP | 1 << MISHAP_DATE |
            1 << MISHAP_DURATION | 1 << MISHAP_UUID | 1 << MISHAP_BYTES,
    DECIMALS = 1 << MISHAP_DECIMAL | 1 << MISHAP_DECIMAL_NUMBER,
};

enum { STRINGS = 1 << MISHAP_STRING | 1 << MISHAP_ENUM | FORMS };

static struct found find_typed(const mishap_call *call, const char *path, unsigned types)
{
    struct found at = find_value(call, path);
    if (at.param && !(types >> at.param->type & 1))
        mishap_call_misuse(call, other_type, path);
    return at;
}

static yyjson_val *value_of(const mishap_call *call, const char *path, unsigned types)
{
    return find_typed(call, path, types).value;
}

yyjson_val *mishap_call_file(const mishap_call *call, const char *path, const mishap_param **param)
{
    struct found at = find_typed(call, path, 1 << MISHAP_FILE);
    *param = at.param;
    return at.value;
}

bool mishap_given(const mishap_call *call, const char *path)
{
    return find_value(call, path).value != NULL;
}

const char *mishap_string(const mishap_call *call, const char *path)
{
    return yyjson_get_str(value_of(call, path, STRINGS));
}

size_t mishap_string_length(const mishap_call *call, const char *path)
{
    yyjson_val *value = value_of(call, path, STRINGS);
    return yyjson_is_str(value) ? yyjson_get_len(value) : 0;
}

int64_t mishap_integer(const mishap_call *call, const char *path)
{
    yyjson_val *value = value_of(call, path, INTEGERS);
    /* 3.0 is an integer. The checks have made sure that it is one, and that it fits; but not where
     * any value is allowed: there a number of another kind counts as not given. */
    if (yyjson_is_real(value)) {
        double real = unsafe_yyjson_get_real(value);
        bool fits = real >= -0x1p63 && real < 0x1p63;
        return fits && (double)(int64_t)real == real ? (int64_t)real : 0;
    }
    if (yyjson_is_uint(value) && unsafe_yyjson_get_uint(value) > INT64_MAX)
        return 0;
    return yyjson_get_sint(value);
}

double mishap_number(const mishap_call *call, const char *path)
{
    yyjson_val *value = value_of(call, path, NUMBERS);
    /* An integer beyond 64 bits is stored as its digits, which strtod() reads in any locale. Where
     * any value is allowed, it may be larger than any double. */
    double number = yyjson_is_raw(value) ? strtod(yyjson_get_raw(value), NULL)
                                         : yyjson_get_num(value);
    return isfinite(number) ? number : 0;
}

bool mishap_boolean(const mishap_call *call, const char *path)
{
    return yyjson_get_bool(value_of(call, path, BOOLEANS));
}

/* -- values of types that JSON does not have --------------------------------------------------- */

/* The checks have made sure that these can be read. Where any value is allowed, one that cannot be
 * read counts as not given. */
#define GETTER(name, bit)                                                                          \
    mishap_##name mishap_##name##_of(const mishap_call *call, const char *path)                    \
    {                                                                                              \
        mishap_##name read;                                                                        \
        memset(&read, 0, sizeof read);                                                             \
        mishap_##name##_read(mishap_json_text(value_of(call, path, 1 << (bit))), &read);           \
        return read;                                                                               \
    }
GETTER(money, MISHAP_MONEY)
GETTER(timestamp, MISHAP_TIMESTAMP)
GETTER(date, MISHAP_DATE)
GETTER(duration, MISHAP_DURATION)
GETTER(uuid, MISHAP_UUID)
#undef GETTER

mishap_decimal mishap_decimal_of(const mishap_call *call, const char *path)
{
    mishap_decimal read = { 0, 0 };
    struct found at = find_typed(call, path, DECIMALS);
    mishap_decimal_of_json(at.value, &read);
    return mishap_decimal_as_declared(at.param, read);
}

mishap_text mishap_bytes_of(const mishap_call *call, const char *path)
{
    yyjson_val *value = value_of(call, path, 1 << MISHAP_BYTES);
    size_t length;
    if (!yyjson_is_str(value) || !mishap_base64_measure(mishap_json_text(value), &length))
        return (mishap_text){ NULL, 0 };
    return mishap_call_decode(call, mishap_json_text(value));
}

int mishap_choice_of(const mishap_call *call, const char *path)
{
    struct found at = find_typed(call, path, 1 << MISHAP_ENUM);
    return at.param ? mishap_param_choice(at.param, at.value) : 0;
}

/* A value without its undeclared members. */
static void put_declared(mishap_buffer *json, const mishap_param *param, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (yyjson_is_obj(value) && param && param->type == MISHAP_MAP && param->items) {
        mishap_json_open(json, '{');
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            mishap_json_key(json, mishap_json_text(key));
            put_declared(json, param->items, item);
        }
        mishap_json_close(json, '}');
    } else if (yyjson_is_arr(value) && param && param->items) {
        mishap_json_open(json, '[');
        MISHAP_JSON_ITEMS (value, index, count, item)
            put_declared(json, param->items, item);
        mishap_json_close(json, ']');
    } else if (yyjson_is_obj(value) && param && param->members) {
        mishap_json_open(json, '{');
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            const mishap_param *member = mishap_param_find(param->members, mishap_json_text(key));
            if (!member)
                continue;
            mishap_json_key(json, mishap_json_text(key));
            put_declared(json, member, item);
        }
        mishap_json_close(json, '}');
    } else {
        mishap_json_copy(json, value);
    }
}

/* All parameters that were given or have a default, as they were declared. */
static void put_all(mishap_buffer *json, const mishap_call *call)
{
    mishap_json_open(json, '{');
    for (size_t i = 0; i < call->param_count; i++)
        if (call->values[i]) {
            mishap_json_key(json, mishap_text_of(call->operation->params[i].name));
            put_declared(json, &call->operation->params[i], call->values[i]);
        }
    mishap_json_close(json, '}');
}

const char *mishap_json(const mishap_call *call, const char *path)
{
    bool all = call && path && !*path && call == mishap_call_whole(call);
    struct found at = { NULL, NULL };
    mishap_buffer json = { 0 };
    if (!all)
        at = find_value(call, path);
    if (!at.value && !all)
        return NULL;
    if (all)
        put_all(&json, call);
    else
        put_declared(&json, at.param, at.value);
    mishap_text kept = { NULL, 0 };
    if (!json.failed)
        kept = mishap_arena_copy(&mishap_call_whole(call)->arena, mishap_buffer_text(&json));
    mishap_buffer_release(&json);
    if (!kept.data)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, path);
    return kept.data;
}

mishap_kind mishap_kind_of(const mishap_call *call, const char *path)
{
    struct found at = find_value(call, path);
    if (!at.value)
        return MISHAP_KIND_NONE;
    if (at.param && at.param->type == MISHAP_INTEGER)
        return MISHAP_KIND_INT; /* so is 3.0: mishap_integer() reads both */
    return yyjson_is_ctn(at.value) || yyjson_is_raw(at.value) ? MISHAP_KIND_JSON
                                                              : mishap_json_scalar(at.value).kind;
}

/* -- parts ------------------------------------------------------------------------------------- */

/* If the members of an object are declared, its undeclared members are ignored. */
static bool is_seen(const mishap_param *container, yyjson_val *key)
{
    return !key || !container || !container->members ||
           mishap_param_find(container->members, mishap_json_text(key));
}

size_t mishap_count(const mishap_call *call, const char *path)
{
    struct found at = find_typed(call, path, CONTAINERS);
    size_t seen = 0, index, count;
    yyjson_val *key, *value;
    if (!yyjson_is_obj(at.value) || !at.param || !at.param->members)
        return yyjson_is_ctn(at.value) ? yyjson_get_len(at.value) : 0;
    MISHAP_JSON_MEMBERS (at.value, index, count, key, value)
        seen += is_seen(at.param, key);
    return seen;
}

static mishap_call_part *make_part(const mishap_call *of, struct found at)
{
    mishap_call *call = mishap_call_whole(of);
    mishap_call_part *part = mishap_arena_take(&call->arena, sizeof *part);
    if (!part)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, "");
    *part = (mishap_call_part){ .call = call, .param = at.param, .value = at.value };
    return part;
}

const mishap_call *mishap_call_part_of(mishap_call *call, const mishap_param *param,
                                       yyjson_val *value)
{
    return (const mishap_call *)make_part(call, (struct found){ param, value });
}

const mishap_call *mishap_at(const mishap_call *call, const char *path)
{
    struct found at = find_value(call, path);
    return at.value ? (const mishap_call *)make_part(call, at) : NULL;
}

/* In an object a key comes before each value. */
static void stand_on(mishap_call_part *part, yyjson_val *key_or_item)
{
    part->value = part->key ? key_or_item + 1 : key_or_item;
    if (part->key)
        part->key = key_or_item;
}

static const mishap_param *declared_as(const mishap_param *container, yyjson_val *key)
{
    if (!container || container->type != MISHAP_OBJECT)
        return container ? container->items : NULL;
    return container->members ? mishap_param_find(container->members, mishap_json_text(key)) : NULL;
}

const mishap_call *mishap_next(const mishap_call *item)
{
    mishap_call_part *part = (mishap_call_part *)(uintptr_t)item;
    while (part && part->left) {
        part->left--;
        stand_on(part, unsafe_yyjson_get_next(part->value));
        part->param = declared_as(part->container, part->key);
        if (is_seen(part->container, part->key))
            return item;
    }
    return NULL;
}

const mishap_call *mishap_first(const mishap_call *call, const char *path)
{
    struct found at = find_typed(call, path, CONTAINERS);
    if (!yyjson_is_ctn(at.value) || !yyjson_get_len(at.value))
        return NULL;
    yyjson_val *first = unsafe_yyjson_get_first(at.value);
    mishap_call_part *part = make_part(call, at);
    part->container = at.param;
    part->left = yyjson_get_len(at.value) - 1;
    part->key = yyjson_is_obj(at.value) ? first : NULL;
    stand_on(part, first);
    part->param = declared_as(at.param, part->key);
    return is_seen(at.param, part->key) ? (const mishap_call *)part
                                        : mishap_next((const mishap_call *)part);
}

const char *mishap_key(const mishap_call *member)
{
    return member ? yyjson_get_str(((const mishap_call_part *)member)->key) : NULL;
}
