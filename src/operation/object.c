/* Parse a JSON object of a caller. An object with any flaw is refused, with the position of the
 * flaw. */
#include <stdio.h>

#include "base/printable.h"
#include "operation/secret.h"

enum { SHOWN_KEY = 64 }; /* a longer key is not shown */

static mishap *refuse_at(size_t line, size_t column, const char *sentence)
{
    mishap *m = mishap_raise(BAD_REQUEST, "At line %zu, column %zu: %s", line, column, sentence);
    return mishap_tell(mishap_tell(m, "line", line), "column", column);
}

static mishap *refuse_value(const mishap_json_reader *reader, yyjson_val *value,
                            const char *sentence)
{
    size_t line, column;
    mishap_json_locate(reader->text, reader->root, value, &line, &column);
    return refuse_at(line, column, sentence);
}

static mishap *refuse_unreadable(const mishap_json_reader *reader)
{
    char sentence[256];
    snprintf(sentence, sizeof sentence, "This is not JSON: %s.", reader->problem);
    return refuse_at(reader->line, reader->column, sentence);
}

static const char *kind_of(yyjson_val *value)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_ARR:
        return "an array";
    case YYJSON_TYPE_STR:
        return "a string";
    case YYJSON_TYPE_NUM:
    case YYJSON_TYPE_RAW:
        return "a number";
    case YYJSON_TYPE_BOOL:
        return "a boolean";
    default:
        return "null";
    }
}

static mishap *refuse_kind(const mishap_json_reader *reader)
{
    char sentence[64];
    snprintf(sentence, sizeof sentence, "This must be a JSON object, but it is %s.",
             kind_of(reader->root));
    return refuse_value(reader, reader->root, sentence);
}

/* True if it is short, and contains nothing that a terminal would act on. */
static bool can_be_shown(mishap_text key)
{
    const char *end = key.data + key.length;
    for (const char *at = key.data; at < end; at++)
        if ((unsigned char)*at < ' ' || *at == 127 || mishap_is_c1(at, end))
            return false;
    return key.length <= SHOWN_KEY;
}

/* A key inside of a secret is not shown. */
static mishap *refuse_double(const mishap_json_reader *reader, yyjson_val *key,
                             const mishap_param *params)
{
    char sentence[SHOWN_KEY + 64] = "An object has a duplicate key.";
    mishap_text name = mishap_json_text(key);
    if (can_be_shown(name) && !mishap_secret_stands_at(params, reader->root, key))
        snprintf(sentence, sizeof sentence, "The object has the key `%.*s` twice.",
                 (int)name.length, name.data);
    return refuse_value(reader, key, sentence);
}

static mishap *refuse_flaw(const mishap_json_reader *reader, mishap_json_flaw flaw, yyjson_val *at,
                           const mishap_param *params)
{
    char sentence[64];
    switch (flaw) {
    case MISHAP_JSON_SOUND:
        return NULL;
    case MISHAP_JSON_DUPLICATE_KEY:
        return refuse_double(reader, at - 1, params); /* a value follows its key */
    case MISHAP_JSON_NUL_IN_KEY:
        return refuse_value(reader, at - 1, "A key contains a NUL character.");
    case MISHAP_JSON_TOO_DEEP:
        snprintf(sentence, sizeof sentence, "Values are nested more than %d levels deep.",
                 MISHAP_JSON_MAX_DEPTH);
        return refuse_value(reader, at, sentence);
    default:
        return mishap_out_of_memory();
    }
}

mishap *mishap_object_read(mishap_json_reader *reader, mishap_text text, const mishap_param *params)
{
    yyjson_val *at = NULL;
    if (!mishap_json_read(reader, text))
        return reader->flaw == MISHAP_JSON_NO_MEMORY ? mishap_out_of_memory()
                                                     : refuse_unreadable(reader);
    if (!yyjson_is_obj(reader->root))
        return refuse_kind(reader);
    if (reader->flaw == MISHAP_JSON_LONE_SURROGATE)
        return refuse_at(reader->line, reader->column,
                         "A string contains half of a surrogate pair.");
    mishap_json_flaw flaw = mishap_json_first_flaw(reader, &at);
    return refuse_flaw(reader, flaw, at, params);
}
