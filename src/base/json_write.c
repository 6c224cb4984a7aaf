#include "base/json_write.h"

#include "base/json_read.h"

/* What JSON wants escaped: quotation mark, backslash, control characters. DEL is escaped too: it is legal, but
 * terminals act on it. */
static const char escapes[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't',   ['\n'] = 'n', [11] = 'u',  ['\f'] = 'f',
    ['\r'] = 'r',    ['"'] = '"',  ['\\'] = '\\', [127] = 'u',  [14 ... 31] = 'u',
};

static void put_escape(mishap_buffer *buffer, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char escape[6] = { '\\', escapes[c], '0', '0', hex[c >> 4], hex[c & 15] };
    mishap_buffer_put(buffer, escape, escapes[c] == 'u' ? 6 : 2);
}

static void put_escaped(mishap_buffer *buffer, mishap_text text)
{
    size_t done = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (escapes[c]) {
            mishap_buffer_put(buffer, text.data + done, i - done);
            put_escape(buffer, c);
            done = i + 1;
        }
    }
    mishap_buffer_put(buffer, text.data + done, text.length - done);
}

static void put_string(mishap_buffer *buffer, mishap_text text)
{
    mishap_buffer_put_char(buffer, '"');
    if (text.length)
        put_escaped(buffer, text);
    mishap_buffer_put_char(buffer, '"');
}

void mishap_json_key(mishap_buffer *buffer, mishap_text key)
{
    mishap_json_comma(buffer);
    put_string(buffer, key);
    mishap_buffer_put_char(buffer, ':');
}

void mishap_json_string(mishap_buffer *buffer, mishap_text text)
{
    mishap_json_comma(buffer);
    put_string(buffer, text);
}

void mishap_json_bool(mishap_buffer *buffer, bool value)
{
    mishap_json_comma(buffer);
    mishap_buffer_put_text(buffer, mishap_text_of(value ? "true" : "false"));
}

void mishap_json_null(mishap_buffer *buffer)
{
    mishap_json_comma(buffer);
    MISHAP_PUT(buffer, "null");
}

void mishap_json_int(mishap_buffer *buffer, int64_t number)
{
    mishap_json_comma(buffer);
    mishap_buffer_put_int(buffer, number);
}

void mishap_json_value(mishap_buffer *buffer, const mishap_value *value)
{
    mishap_json_comma(buffer);
    mishap_json_bare(buffer, value);
}

void mishap_json_bare(mishap_buffer *buffer, const mishap_value *value)
{
    switch (value->kind) {
    case MISHAP_KIND_NONE:
    case MISHAP_KIND_NULL:
        MISHAP_PUT(buffer, "null");
        break;
    case MISHAP_KIND_BOOL:
        mishap_buffer_put_text(buffer, mishap_text_of(value->boolean ? "true" : "false"));
        break;
    case MISHAP_KIND_INT:
        mishap_buffer_put_int(buffer, value->integer);
        break;
    case MISHAP_KIND_UINT:
        mishap_buffer_put_uint(buffer, value->natural);
        break;
    case MISHAP_KIND_REAL:
        mishap_buffer_put_real(buffer, value->real);
        break;
    case MISHAP_KIND_TEXT:
        put_string(buffer, value->text);
        break;
    case MISHAP_KIND_JSON:
        mishap_buffer_put_text(buffer, value->text);
        break;
    }
}


void mishap_json_copy(mishap_buffer *buffer, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_OBJ:
        mishap_json_open(buffer, '{');
        yyjson_obj_foreach(value, index, count, key, item)
        {
            mishap_json_key(buffer, mishap_json_text(key));
            mishap_json_copy(buffer, item);
        }
        mishap_json_close(buffer, '}');
        break;
    case YYJSON_TYPE_ARR:
        mishap_json_open(buffer, '[');
        yyjson_arr_foreach(value, index, count, item) mishap_json_copy(buffer, item);
        mishap_json_close(buffer, ']');
        break;
    case YYJSON_TYPE_RAW:
        mishap_json_comma(buffer);
        mishap_buffer_put_text(buffer, mishap_json_text(value));
        break;
    default: {
        mishap_value scalar = mishap_json_scalar(value);
        mishap_json_value(buffer, &scalar);
    }
    }
}
