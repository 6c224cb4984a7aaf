/*
 * Fill the struct of a handler that is declared with MISHAP_TYPED (mishap/typed.h). The checks have
 * made sure that each value is of its type. The values of the call are in the order of the
 * parameters, and so are the members of the struct: nothing is searched for by name, except in
 * nested objects.
 */
#include <stdlib.h>

#include "base/base64.h"
#include "base/memory.h"
#include "mishap/typed.h"
#include "operation/call.h"
#include "operation/file.h"
#include "operation/type.h"

static void fill_object(mishap_call *call, const mishap_struct *of, yyjson_val *object, char *to);

static void *take_memory(mishap_call *call, size_t size)
{
    char *memory = mishap_call_take(call, size);
    memset(memory, 0, size);
    return memory;
}

static int64_t integer_of(yyjson_val *value)
{
    return yyjson_is_real(value) ? (int64_t)unsafe_yyjson_get_real(value) : yyjson_get_sint(value);
}

static double number_of(yyjson_val *value)
{
    return yyjson_is_raw(value) ? strtod(yyjson_get_raw(value), NULL) : yyjson_get_num(value);
}

/* The handler reads a streamed file itself. */
static mishap_text bytes_of_file(mishap_call *call, const mishap_param *param, mishap_text text)
{
    mishap_file_parts file;
    if (param->streamed || !mishap_file_split(text, &file))
        return (mishap_text){ NULL, 0 };
    return mishap_call_decode(call, file.base64);
}

/* A value at a place of its C type, unless it is a struct. */
static void fill_scalar(mishap_call *call, const mishap_param *param, yyjson_val *value, void *to)
{
    mishap_decimal decimal = { 0, 0 };
    mishap_text text = mishap_json_text(value);
    switch (param->type) {
    case MISHAP_STRING:
        *(const char **)to = yyjson_get_str(value);
        break;
    case MISHAP_INTEGER:
        *(int64_t *)to = integer_of(value);
        break;
    case MISHAP_NUMBER:
        *(double *)to = number_of(value);
        break;
    case MISHAP_BOOLEAN:
        *(bool *)to = yyjson_get_bool(value);
        break;
    case MISHAP_ENUM:
        *(int *)to = mishap_param_choice(param, value);
        break;
    case MISHAP_DECIMAL:
    case MISHAP_DECIMAL_NUMBER:
        mishap_decimal_of_json(value, &decimal);
        *(mishap_decimal *)to = mishap_decimal_as_declared(param, decimal);
        break;
    case MISHAP_MONEY:
        mishap_money_read(text, to);
        break;
    case MISHAP_TIMESTAMP:
        mishap_timestamp_read(text, to);
        break;
    case MISHAP_DATE:
        mishap_date_read(text, to);
        break;
    case MISHAP_DURATION:
        mishap_duration_read(text, to);
        break;
    case MISHAP_UUID:
        mishap_uuid_read(text, to);
        break;
    case MISHAP_BYTES:
        *(mishap_text *)to = mishap_call_decode(call, text);
        break;
    case MISHAP_FILE:
        *(mishap_text *)to = bytes_of_file(call, param, text);
        break;
    case MISHAP_ARRAY:
    case MISHAP_OBJECT:
    case MISHAP_MAP: /* an item with any values */
        *(const mishap_call **)to = mishap_call_part_of(call, param, value);
        break;
    default:
        break;
    }
}

/* What MISHAP_OBJECTS_OF, MISHAP_ARRAY_OF and MISHAP_MAP_OF are in C. */
struct filled_items {
    const void *data;
    size_t count;
};

static void fill_items(mishap_call *call, const mishap_param *param,
                       const mishap_struct_member *place, yyjson_val *array, void *to)
{
    size_t index, count = yyjson_arr_size(array), all;
    yyjson_val *item;
    char *data = count ? take_memory(call, count * place->item) : NULL;
    MISHAP_JSON_ITEMS (array, index, all, item) {
        char *at = data + index * place->item;
        if (place->of)
            fill_object(call, place->of(), item, at);
        else
            fill_scalar(call, param->items, item, at);
    }
    *(struct filled_items *)to = (struct filled_items){ data, count };
}

static void fill_map(mishap_call *call, const mishap_param *param,
                     const mishap_struct_member *place, yyjson_val *map, void *to)
{
    size_t index, count = yyjson_obj_size(map), all;
    yyjson_val *key, *value;
    char *data = count ? take_memory(call, count * place->item) : NULL;
    MISHAP_JSON_MEMBERS (map, index, all, key, value) {
        char *at = data + index * place->item;
        *(const char **)(void *)at = yyjson_get_str(key);
        fill_scalar(call, param->items, value, at + sizeof(const char *));
    }
    *(struct filled_items *)to = (struct filled_items){ data, count };
}

static void fill_member(mishap_call *call, const mishap_param *param,
                        const mishap_struct_member *place, yyjson_val *value, void *to)
{
    if (place->item && param->type == MISHAP_MAP)
        fill_map(call, param, place, value, to);
    else if (place->item)
        fill_items(call, param, place, value, to);
    else if (place->of)
        fill_object(call, place->of(), value, to);
    else
        fill_scalar(call, param, value, to);
}

/* An object has its members in any order, mostly in that of the declaration. */
static void fill_object(mishap_call *call, const mishap_struct *of, yyjson_val *object, char *to)
{
    size_t index, count, next = 0;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        const mishap_param *param = &of->params[next];
        if (!param->name || !mishap_param_is_named(param, name))
            param = mishap_param_find(of->params, name);
        if (!param)
            continue;
        next = (size_t)(param - of->params);
        const mishap_struct_member *place = &of->members[next++];
        to[place->presence] = yyjson_is_null(value) ? MISHAP_IS_NULL : MISHAP_GIVEN;
        if (!yyjson_is_null(value))
            fill_member(call, param, place, value, to + place->offset);
    }
}

mishap *mishap_run_typed(mishap_call *call)
{
    const mishap_operation *operation = call->operation;
    const mishap_struct *of = operation->fills();
    char *in = take_memory(call, of->size);
    for (size_t i = 0; i < call->param_count; i++) {
        const mishap_struct_member *place = &of->members[i];
        in[place->presence] = (char)call->presence[i];
        if (call->values[i])
            fill_member(call, &operation->params[i], place, call->values[i], in + place->offset);
    }
    return of->call(call, operation->handler, in);
}
