/* Texts and values of JavaScript, as those of the library and back. */
#include <math.h>

#include "taken.h"

/* A character of UTF-8 has at most so many bytes: Node cuts a text before one that does not fit. */
enum { LONGEST_CHARACTER = 4 };

void node_room_init(node_room *room)
{
    room->data = room->own;
    room->size = sizeof room->own;
}

void node_room_release(node_room *room)
{
    if (room->data != room->own)
        mishap_release(room->data);
    node_room_init(room);
}

static bool grow_room(node_room *room, size_t length)
{
    char *data = length > SIZE_MAX - 16 ? NULL : mishap_allocate(length + 16);
    if (!data)
        return false;
    node_room_release(room);
    room->data = data;
    room->size = length + 16;
    return true;
}

static mishap_text take_bytes(napi_env env, napi_value value)
{
    static const mishap_text none;
    bool is_bytes = false;
    napi_typedarray_type type;
    size_t length = 0;
    void *data = NULL;
    if (napi_is_typedarray(env, value, &is_bytes) != napi_ok || !is_bytes ||
        napi_get_typedarray_info(env, value, &type, &length, &data, NULL, NULL) != napi_ok ||
        (type != napi_uint8_array && type != napi_uint8_clamped_array))
        return none;
    return (mishap_text){ data ? data : "", data ? length : 0 };
}

mishap_text node_take_text(napi_env env, napi_value value, node_room *room)
{
    static const mishap_text none;
    size_t length = 0;
    if (napi_get_value_string_utf8(env, value, room->data, room->size, &length) != napi_ok)
        return take_bytes(env, value);
    if (length + LONGEST_CHARACTER >= room->size) { /* it may have been cut */
        if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok ||
            !grow_room(room, length) ||
            napi_get_value_string_utf8(env, value, room->data, room->size, &length) != napi_ok)
            return none;
    }
    return (mishap_text){ room->data, length };
}

/* The integers that a number of JavaScript has exactly. */
static mishap_value value_of_number(double number)
{
    static const double most = 9007199254740992.0;
    if (!isfinite(number))
        return mishap_value_of_text((mishap_text){ NULL, 0 }); /* null, as JSON.stringify does it */
    if (number >= -most && number <= most && number == floor(number))
        return mishap_value_of_int((int64_t)number);
    return mishap_value_of_real(number);
}

static mishap_value value_of_bigint(napi_env env, napi_value value)
{
    int64_t integer = 0;
    uint64_t natural = 0;
    bool whole = false;
    if (napi_get_value_bigint_int64(env, value, &integer, &whole) == napi_ok && whole)
        return mishap_value_of_int(integer);
    if (napi_get_value_bigint_uint64(env, value, &natural, &whole) == napi_ok && whole)
        return mishap_value_of_uint(natural);
    return mishap_value_none();
}

mishap_value node_take_value(napi_env env, napi_value value, node_room *room)
{
    napi_valuetype type = napi_undefined;
    double number = 0;
    mishap_text text;
    napi_typeof(env, value, &type);
    switch (type) {
    case napi_null:
        return mishap_value_of_text((mishap_text){ NULL, 0 });
    case napi_boolean:
        return mishap_value_of_bool(node_take_bool(env, value));
    case napi_number:
        napi_get_value_double(env, value, &number);
        return value_of_number(number);
    case napi_bigint:
        return value_of_bigint(env, value);
    case napi_string:
    case napi_object:
        text = node_take_text(env, value, room);
        return text.data ? mishap_value_of_text(text) : mishap_value_none();
    default:
        return mishap_value_none();
    }
}

int32_t node_take_int(napi_env env, napi_value value, int32_t otherwise)
{
    int32_t number = 0;
    return napi_get_value_int32(env, value, &number) == napi_ok ? number : otherwise;
}

bool node_take_bool(napi_env env, napi_value value)
{
    bool yes = false;
    return napi_get_value_bool(env, value, &yes) == napi_ok && yes;
}

/* Most documents are ASCII, for which there is a quicker function. */
static bool is_ascii(mishap_text text)
{
    unsigned char all = 0;
    for (size_t i = 0; i < text.length; i++)
        all |= (unsigned char)text.data[i];
    return all < 0x80;
}

napi_value node_give_text(napi_env env, mishap_text text)
{
    napi_value string = NULL;
    napi_status status = is_ascii(text)
                             ? napi_create_string_latin1(env, text.data, text.length, &string)
                             : napi_create_string_utf8(env, text.data, text.length, &string);
    return status == napi_ok ? string : NULL;
}

/* -- lists ------------------------------------------------------------------------------------- */

static void add_copy(node_texts *texts, mishap_text text)
{
    char *copy = text.length ? mishap_allocate(text.length) : NULL;
    if (!copy)
        return;
    memcpy(copy, text.data, text.length);
    texts->list[texts->count++] = (mishap_text){ copy, text.length };
}

node_texts node_take_texts(napi_env env, napi_value array)
{
    node_texts texts = { NULL, 0 };
    uint32_t length = 0;
    bool is_array = false;
    if (napi_is_array(env, array, &is_array) != napi_ok || !is_array ||
        napi_get_array_length(env, array, &length) != napi_ok || !length)
        return texts;
    texts.list = mishap_allocate(length * sizeof *texts.list);
    node_room room;
    node_room_init(&room);
    for (uint32_t i = 0; texts.list && i < length; i++) {
        napi_value item;
        if (napi_get_element(env, array, i, &item) == napi_ok)
            add_copy(&texts, node_take_text(env, item, &room));
    }
    node_room_release(&room);
    return texts;
}

void node_texts_release(node_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        mishap_release((char *)(uintptr_t)texts->list[i].data);
    mishap_release(texts->list);
    texts->list = NULL;
    texts->count = 0;
}
