/* What the record of a failure says of its call: its arguments, and what its handler told the
 * operator. */
#include "operation/call.h"

#include <stdio.h>

#include "operation/secret.h"

enum { MOST_SAID = 8 << 10 };

/* The value of a member that is not declared may be a secret whose name was misspelled, and it may
 * be large. So only its name is kept, and only of some. */
static void put_declared(mishap_buffer *json, const mishap_param *params, yyjson_val *given)
{
    enum { MOST_OTHERS = 20, LONGEST = 64 };
    size_t at, count, others = 0;
    yyjson_val *key, *value;
    mishap_json_open(json, '{');
    yyjson_obj_foreach(given, at, count, key, value)
    {
        mishap_text name = { yyjson_get_str(key), yyjson_get_len(key) };
        if (mishap_param_find(params, name)) {
            mishap_json_key(json, name);
            mishap_json_copy(json, value);
        } else if (others++ < MOST_OTHERS && name.length <= LONGEST) {
            mishap_json_key(json, name);
            MISHAP_PUT(json, "\"[not declared]\"");
        }
    }
    mishap_json_close(json, '}');
}

void mishap_operation_put_arguments(const mishap_operation *operation, mishap_text arguments,
                                    mishap_buffer *json)
{
    char storage[MISHAP_JSON_STORAGE], words[80];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    if (!arguments.length)
        return;
    if (mishap_json_read(&reader, arguments) && yyjson_is_obj(reader.root)) {
        put_declared(json, operation->params, reader.root);
        mishap_hide_data(json, operation->params, NULL);
    } else { /* it may contain anything, also the value of a secret */
        snprintf(words, sizeof words, "no JSON object: %zu bytes", arguments.length);
        mishap_json_string(json, mishap_text_of(words));
    }
    mishap_json_reader_release(&reader);
}

void mishap_call_put_arguments(const mishap_call *call, mishap_buffer *json)
{
    const mishap_param *params = call->operation->params;
    mishap_json_open(json, '{');
    for (size_t i = 0; i < call->param_count; i++) {
        if (!call->values || !call->values[i])
            continue;
        mishap_json_key(json, mishap_text_of(params[i].name));
        mishap_json_copy(json, call->values[i]);
    }
    mishap_json_close(json, '}');
    if (!json->failed)
        mishap_hide_data(json, params, call->secrets);
}

void mishap_call_keep_words(mishap_call *call, mishap_text words)
{
    if (call->said.length + words.length > MOST_SAID ||
        mishap_utf8_valid_length(words) != words.length)
        return;
    if (call->said.length)
        mishap_buffer_put_char(&call->said, ',');
    mishap_buffer_put_char(&call->said, '\n'); /* so that the string has no comma before it */
    mishap_json_string(&call->said, words);
}

void mishap_call_put_words(const mishap_call *call, mishap_buffer *json)
{
    if (!call->said.length || call->said.failed)
        return;
    mishap_buffer_put_char(json, '[');
    mishap_buffer_put_text(json, mishap_buffer_text(&call->said));
    mishap_buffer_put_char(json, ']');
}
