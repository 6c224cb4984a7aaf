/* Lists and maps of field errors, and the names of fields in our spelling: items[2].name. */
#include "upstream/inside.h"

enum {
    DEEPEST = 16,        /* maps in maps that are followed */
    LONGEST_PATH = 200,  /* bytes of the name of a field */
    LONGEST_FIELD = 300, /* bytes of the sentence on a field */
};

/* -- names of fields --------------------------------------------------------------------------- */

/* Parts of a request that frameworks put in front of the name of a field. */
static const char *const places[] = { "body",   "query",   "querystring", "path",
                                      "params", "header",  "json",        "cookie",
                                      "form",   "headers", "$",           NULL };

static bool is_one_of(mishap_text word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (mishap_text_equal(word, mishap_text_of(words[i])))
            return true;
    return false;
}

static bool is_digits(mishap_text word)
{
    for (size_t i = 0; i < word.length; i++)
        if (word.data[i] < '0' || word.data[i] > '9')
            return false;
    return word.length > 0;
}

/* One more step of a path: a member behind a point, an index in brackets. */
static void put_step(mishap_buffer *path, mishap_text step)
{
    if (path->length + step.length > LONGEST_PATH || !step.length)
        return;
    if (is_digits(step)) {
        mishap_buffer_put_char(path, '[');
        mishap_buffer_put_text(path, step);
        mishap_buffer_put_char(path, ']');
        return;
    }
    if (path->length)
        mishap_buffer_put_char(path, '.');
    mishap_buffer_put_text(path, step);
}

static void put_index(mishap_buffer *path, size_t index)
{
    if (path->length > LONGEST_PATH)
        return;
    mishap_buffer_put_char(path, '[');
    mishap_buffer_put_uint(path, index);
    mishap_buffer_put_char(path, ']');
}

/* items.0.price, /items/0/price, $.items[0].price: the steps behind the place. */
static void put_steps(mishap_buffer *path, mishap_text name, bool place_first)
{
    size_t start = 0;
    bool first = place_first;
    for (size_t i = 0; name.length && i <= name.length; i++) {
        if (i < name.length && name.data[i] != '.' && name.data[i] != '/')
            continue;
        mishap_text step = { name.data + start, i - start };
        if (step.length && !(first && is_one_of(step, places)))
            put_step(path, step);
        first = first && !step.length;
        start = i + 1;
    }
}

/* ["body", "items", 0, "price"] */
static void put_list_of_steps(mishap_buffer *path, yyjson_val *list, bool place_first)
{
    size_t index, count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item) {
        mishap_text step = mishap_json_text(item);
        if (yyjson_is_uint(item))
            put_index(path, (size_t)yyjson_get_uint(item));
        else if (!(index == 0 && place_first && is_one_of(step, places)))
            put_step(path, step);
    }
}

static mishap_text keep_path(mishap_upstream_reading *reading, const mishap_buffer *path)
{
    mishap_text kept = path->failed ? (mishap_text){ NULL, 0 }
                                    : mishap_arena_copy(&reading->arena, mishap_buffer_text(path));
    reading->no_memory = reading->no_memory || !kept.data;
    return kept;
}

/* -- sentences --------------------------------------------------------------------------------- */

static mishap_text short_sentence(mishap_text text)
{
    text = mishap_upstream_trim(text);
    text.length = mishap_utf8_cut(text, LONGEST_FIELD);
    return text;
}

/* What stands between the first two apostrophes. */
static mishap_text in_apostrophes(mishap_text text)
{
    const char *from = text.length ? memchr(text.data, '\'', text.length) : NULL;
    const char *end = from ? memchr(from + 1, '\'', (size_t)(text.data + text.length - from - 1))
                           : NULL;
    return end ? (mishap_text){ from + 1, (size_t)(end - from - 1) } : (mishap_text){ NULL, 0 };
}

/* Ajv: "body/items/0 must have required property 'price'". */
static void add_ajv_sentence(mishap_upstream_reading *reading, mishap_text sentence)
{
    char storage[256];
    mishap_buffer path;
    const char *blank = memchr(sentence.data, ' ', sentence.length);
    size_t head = blank ? (size_t)(blank - sentence.data) : sentence.length;
    mishap_buffer_init(&path, storage, sizeof storage);
    put_steps(&path, (mishap_text){ sentence.data, head }, true);
    if (mishap_upstream_find(sentence, "required property"))
        put_step(&path, in_apostrophes(sentence));
    mishap_upstream_add(
        reading, &(mishap_upstream_item){ .field = keep_path(reading, &path),
                                          .sentence = short_sentence((mishap_text){
                                              sentence.data + head, sentence.length - head }) });
    mishap_buffer_release(&path);
}

/* Go's validator: "Key: 'User.Name' Error:Field validation for 'Name' failed on the 'min' tag". The
 * names are those of the source; the tag says what is wrong. */
static bool add_go_sentence(mishap_upstream_reading *reading, mishap_text sentence)
{
    const char *field = mishap_upstream_find(sentence, "field validation for '");
    const char *tag = mishap_upstream_find(sentence, "failed on the '");
    if (!field || !tag)
        return false;
    const char *end = sentence.data + sentence.length;
    mishap_upstream_add(reading,
                        &(mishap_upstream_item){
                            .field = in_apostrophes((mishap_text){ field, (size_t)(end - field) }),
                            .type = in_apostrophes((mishap_text){ tag, (size_t)(end - tag) }) });
    return true;
}

static bool read_go_sentences(mishap_upstream_reading *reading, mishap_text text)
{
    size_t start = 0;
    bool found = false;
    for (size_t i = 0; text.length && i <= text.length; i++)
        if (i == text.length || text.data[i] == '\n') {
            mishap_text line = { text.data + start, i - start };
            found = add_go_sentence(reading, line) || found;
            start = i + 1;
        }
    return found;
}

/* The place that Fastify begins a sentence with; 0: none. */
static size_t begins_with_place(mishap_text text)
{
    static const char *const begins[] = { "body", "querystring", "params", "headers" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t length = strlen(begins[i]);
        if (text.length > length && memcmp(text.data, begins[i], length) == 0 &&
            (text.data[length] == '/' || text.data[length] == ' '))
            return length;
    }
    return 0;
}

bool mishap_upstream_read_sentences(mishap_upstream_reading *reading, mishap_text text)
{
    size_t place = begins_with_place(text), start = 0;
    if (!place || !mishap_upstream_find(text, " must "))
        return read_go_sentences(reading, text);
    for (size_t i = 1; i <= text.length; i++) {
        mishap_text rest = { text.data + i, text.length - i };
        bool next = i + 2 < text.length && text.data[i] == ',' && text.data[i + 1] == ' ' &&
                    begins_with_place((mishap_text){ rest.data + 2, rest.length - 2 });
        if (i < text.length && !next)
            continue;
        add_ajv_sentence(reading, (mishap_text){ text.data + start, i - start });
        start = i + 2;
    }
    return true;
}

/* "Email address can't be blank", "items.0.price must be a number": the name stands in front of the
 * verb. A sentence without one is about the document. */
static void add_sentence(mishap_upstream_reading *reading, mishap_text sentence)
{
    static const char *const verbs[] = { " can't ",  " must ", " is ",      " has ",
                                         " should ", " does ", " are not ", NULL };
    char storage[256];
    mishap_buffer path;
    size_t head = 0;
    sentence = short_sentence(sentence);
    if (add_go_sentence(reading, sentence))
        return;
    for (size_t i = 0; verbs[i]; i++) {
        const char *at = mishap_upstream_find(sentence, verbs[i]);
        if (at && (!head || (size_t)(at - sentence.data) < head))
            head = (size_t)(at - sentence.data);
    }
    mishap_buffer_init(&path, storage, sizeof storage);
    bool name = head > 0 && head <= 40;
    for (size_t i = 0; name && i < head; i++) {
        char c = sentence.data[i];
        bool upper = c >= 'A' && c <= 'Z', first = i == 0;
        name = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ' ' || c == '_' ||
               c == '.' || c == '[' || c == ']';
        mishap_buffer_put_char(&path, c == ' ' ? '_' : (char)(upper && first ? c + 32 : c));
    }
    if (!name)
        mishap_buffer_reset(&path);
    mishap_buffer steps = { 0 };
    put_steps(&steps, mishap_buffer_text(&path), false);
    mishap_upstream_add(reading, &(mishap_upstream_item){ .field = keep_path(reading, &steps),
                                                          .sentence = sentence });
    mishap_buffer_release(&steps);
    mishap_buffer_release(&path);
}

/* -- lists ------------------------------------------------------------------------------------- */

static uint64_t bit_of(char initial)
{
    return UINT64_C(1) << ((unsigned char)initial & 63);
}

/* The first member of these names that is a text. Most objects have few of the names: one whose
 * first byte no key has is not looked up. */
static mishap_text text_of(yyjson_val *object, const char *const *names)
{
    uint64_t initials = 0;
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (object, index, count, key, value)
        initials |= bit_of(unsafe_yyjson_get_str(key)[0]);
    for (size_t i = 0; names[i]; i++) {
        value = initials & bit_of(names[i][0]) ? yyjson_obj_get(object, names[i]) : NULL;
        if (yyjson_is_str(value))
            return mishap_json_text(value);
    }
    return (mishap_text){ NULL, 0 };
}

static const char *const sentence_names[] = { "msg",    "message",     "defaultMessage", "error",
                                              "detail", "description", "reason",         NULL };
static const char *const path_names[] = { "field",        "path",      "param",
                                          "instancePath", "pointer",   "property",
                                          "propertyPath", "attribute", "propertyName",
                                          "name",         NULL };
static const char *const type_names[] = { "type", "code", "keyword", "rule", NULL };

/* The type of express-validator is always `field`; that of Zod 3 is what has the wrong size. */
static mishap_text type_of(yyjson_val *item)
{
    mishap_text code = mishap_json_text(yyjson_obj_get(item, "code"));
    bool zod = code.length && yyjson_is_arr(yyjson_obj_get(item, "path"));
    bool spring = code.length && yyjson_obj_get(item, "defaultMessage");
    return zod || spring ? code : text_of(item, type_names);
}

static bool add_object(mishap_upstream_reading *reading, yyjson_val *item)
{
    char storage[256];
    mishap_buffer path;
    yyjson_val *loc = yyjson_obj_get(item, "loc"), *steps = yyjson_obj_get(item, "path");
    mishap_text name = text_of(item, path_names), sentence = text_of(item, sentence_names);
    if (!yyjson_is_arr(loc) && !yyjson_is_arr(steps) && !name.data)
        return false;
    mishap_buffer_init(&path, storage, sizeof storage);
    if (yyjson_is_arr(loc))
        put_list_of_steps(&path, loc, true);
    else if (yyjson_is_arr(steps))
        put_list_of_steps(&path, steps, false);
    else
        put_steps(&path, name, false);
    mishap_upstream_add(reading, &(mishap_upstream_item){ .field = keep_path(reading, &path),
                                                          .type = type_of(item),
                                                          .sentence = short_sentence(sentence),
                                                          .members = item });
    mishap_buffer_release(&path);
    return true;
}

bool mishap_upstream_read_list(mishap_upstream_reading *reading, yyjson_val *list)
{
    size_t index, count, before = reading->field_count;
    yyjson_val *item;
    MISHAP_JSON_ITEMS (list, index, count, item) {
        if (yyjson_is_str(item) && !mishap_blank(mishap_json_text(item)))
            add_sentence(reading, mishap_json_text(item));
        else if (yyjson_is_obj(item))
            add_object(reading, item);
    }
    return reading->field_count > before;
}

/* -- maps -------------------------------------------------------------------------------------- */

/* Names that stand for the object itself. */
static const char *const selves[] = {
    "non_field_errors", "__all__", "base", "_schema", "$", "", NULL
};

static void read_value(mishap_upstream_reading *reading, mishap_buffer *path, yyjson_val *value,
                       size_t depth);

static void read_members(mishap_upstream_reading *reading, mishap_buffer *path, yyjson_val *map,
                         size_t depth)
{
    size_t index, count, length = path->length;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (map, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        bool place = depth == 0 && yyjson_is_obj(value) && is_one_of(name, places);
        if (!place && !is_one_of(name, selves))
            put_steps(path, name, depth == 0 && name.data[0] == '$');
        read_value(reading, path, value, depth + 1);
        path->length = length;
    }
}

static void read_value(mishap_upstream_reading *reading, mishap_buffer *path, yyjson_val *value,
                       size_t depth)
{
    size_t index, count, length = path->length;
    yyjson_val *item;
    if (depth > DEEPEST)
        return;
    if (yyjson_is_str(value) && reading->field_count >= MISHAP_UPSTREAM_FIELDS) {
        reading->field_count++; /* it is not kept: its path takes no memory */
    } else if (yyjson_is_str(value)) {
        mishap_upstream_add(reading, &(mishap_upstream_item){
                                         .field = keep_path(reading, path),
                                         .sentence = short_sentence(mishap_json_text(value)) });
    } else if (yyjson_is_obj(value)) {
        read_members(reading, path, value, depth);
    } else {
        MISHAP_JSON_ITEMS (value, index, count, item) {
            if (!yyjson_is_str(item))
                put_index(path, index);
            read_value(reading, path, item, depth + 1);
            path->length = length;
        }
    }
}

bool mishap_upstream_read_map(mishap_upstream_reading *reading, yyjson_val *map)
{
    size_t before = reading->field_count;
    char storage[512];
    mishap_buffer path;
    mishap_buffer_init(&path, storage, sizeof storage);
    if (yyjson_is_obj(map))
        read_members(reading, &path, map, 0);
    else
        read_value(reading, &path, map, 0);
    mishap_buffer_release(&path);
    return reading->field_count > before;
}
