#include "base/json_read.h"

#include <stdlib.h>

#include "base/memory.h"

/* Documents up to this size are read into one piece of memory that the reader keeps. */
enum { POOLED = 64 * 1024 };

static const yyjson_read_flag flags = YYJSON_READ_BIGNUM_AS_RAW;

/* -- reading -------------------------------------------------------------------------------------------------- */

static void *take(void *state, size_t size)
{
    (void)state;
    return mishap_allocate(size);
}

static void *retake(void *state, void *block, size_t old_size, size_t size)
{
    (void)state, (void)old_size;
    return mishap_resize(block, size);
}

static void give(void *state, void *block)
{
    (void)state;
    mishap_release(block);
}

static const yyjson_alc heap = { take, retake, give, NULL };

static bool use_pool(mishap_json_reader *reader, size_t length, yyjson_alc *memory)
{
    size_t need = yyjson_read_max_memory_usage(length, flags);
    if (need > reader->pool_size) {
        mishap_release(reader->pool);
        reader->pool = mishap_allocate(need);
        reader->pool_size = reader->pool ? need : 0;
    }
    return reader->pool && yyjson_alc_pool_init(memory, reader->pool, reader->pool_size);
}

static void place_of(mishap_text text, size_t position, size_t *line, size_t *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < position && i < text.length; i++) {
        *column += 1;
        if (text.data[i] == '\n') {
            *line += 1;
            *column = 1;
        }
    }
}

/* The code unit of the \uXXXX at `at`, -1 if there is none. */
static int code_unit(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    int unit = 0;
    for (int i = 2; i < 6; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/*
 * Replace each \uD800…\uDFFF that is not part of a pair by \ufffd, which has the same length, so that places stay
 * what they were. Returns the offset of the first one, or `length` if there was none.
 */
static size_t mend_surrogates(char *text, size_t length)
{
    size_t first = length;
    const char *end = text + length;
    for (char *at = text; at < end; at++) {
        if (*at != '\\')
            continue;
        int unit = code_unit(at, end);
        int next = unit >= 0 ? code_unit(at + 6, end) : -1;
        if (unit >= 0xD800 && unit <= 0xDBFF && next >= 0xDC00 && next <= 0xDFFF) {
            at += 11;
        } else if (unit >= 0xD800 && unit <= 0xDFFF) {
            if (first == length)
                first = (size_t)(at - text);
            memcpy(at, "\\ufffd", 6);
            at += 5;
        } else {
            at++; /* whatever is escaped, it starts no escape itself */
        }
    }
    return first;
}

static void forget(mishap_json_reader *reader)
{
    yyjson_doc_free(reader->document);
    reader->document = NULL;
    reader->root = NULL;
    mishap_release(reader->mended);
    reader->mended = NULL;
    reader->flaw = MISHAP_JSON_SOUND;
    reader->problem = NULL;
}

static bool read_once(mishap_json_reader *reader, mishap_text text, yyjson_read_err *error)
{
    yyjson_alc memory = heap;
    if (text.length <= POOLED && !use_pool(reader, text.length, &memory)) {
        error->code = YYJSON_READ_ERROR_MEMORY_ALLOCATION;
        return false;
    }
    /* yyjson writes to the text only when told that it may. */
    reader->document = yyjson_read_opts((char *)(uintptr_t)text.data, text.length, flags, &memory, error);
    reader->root = yyjson_doc_get_root(reader->document);
    return reader->document != NULL;
}

bool mishap_json_read(mishap_json_reader *reader, mishap_text text)
{
    yyjson_read_err error = { 0 };
    forget(reader);
    if (read_once(reader, text, &error))
        return true;

    if (error.code == YYJSON_READ_ERROR_INVALID_STRING) {
        yyjson_read_err second = { 0 };
        size_t first = text.length;
        reader->mended = mishap_allocate(text.length);
        if (reader->mended) {
            memcpy(reader->mended, text.data, text.length);
            first = mend_surrogates(reader->mended, text.length);
        }
        if (first < text.length && read_once(reader, (mishap_text){ reader->mended, text.length }, &second)) {
            reader->flaw = MISHAP_JSON_LONE_SURROGATE;
            reader->problem = "half of a surrogate pair";
            place_of(text, first, &reader->line, &reader->column);
            return true;
        }
        if (!reader->mended || second.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
            error.code = YYJSON_READ_ERROR_MEMORY_ALLOCATION;
    }
    if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
        reader->flaw = MISHAP_JSON_NO_MEMORY;
        reader->problem = "not enough memory";
    } else {
        reader->flaw = MISHAP_JSON_MALFORMED;
        reader->problem = text.length ? error.msg : "there is nothing to read";
    }
    place_of(text, error.pos, &reader->line, &reader->column);
    return false;
}

void mishap_json_reader_release(mishap_json_reader *reader)
{
    forget(reader);
    mishap_release(reader->pool);
    *reader = (mishap_json_reader)MISHAP_JSON_READER;
}

/* Behind the scalar that starts at `at`. */
static const char *skip_scalar(const char *at, const char *end)
{
    if (*at != '"') {
        while (at < end && !strchr(" \t\r\n,:]}", *at))
            at++;
        return at;
    }
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/*
 * yyjson keeps keys and values in one array, in the order in which they stand in the text. So the value's place in the
 * array says how many tokens come before it: brackets that open, strings, numbers and words.
 */
void mishap_json_locate(mishap_text text, yyjson_val *root, yyjson_val *value, size_t *line, size_t *column)
{
    const char *at = text.data, *end = text.data + text.length;
    for (ptrdiff_t before = value - root; at < end; before--) {
        while (at < end && strchr(" \t\r\n,:]}", *at))
            at++;
        if (before == 0 || at == end)
            break;
        at = *at == '{' || *at == '[' ? at + 1 : skip_scalar(at, end);
    }
    place_of(text, (size_t)(at - text.data), line, column);
}

/* -- values --------------------------------------------------------------------------------------------------- */

mishap_value mishap_json_scalar(yyjson_val *value)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL:
        return (mishap_value){ .kind = MISHAP_KIND_NULL };
    case YYJSON_TYPE_BOOL:
        return mishap_value_of_bool(unsafe_yyjson_get_bool(value));
    case YYJSON_TYPE_NUM:
        if (yyjson_is_real(value))
            return mishap_value_of_real(unsafe_yyjson_get_real(value));
        return yyjson_is_sint(value) ? mishap_value_of_int(unsafe_yyjson_get_sint(value))
                                     : mishap_value_of_uint(unsafe_yyjson_get_uint(value));
    case YYJSON_TYPE_STR:
        return mishap_value_of_text(mishap_json_text(value));
    default:
        return mishap_value_none();
    }
}

/* -- the checks that yyjson leaves to us ---------------------------------------------------------------------- */

struct walk {
    const mishap_json_visitor *visitor;
    mishap_json_path path;
    bool told_depth;
};

static void step_key(struct walk *walk, yyjson_val *key)
{
    walk->path.steps[walk->path.depth - 1] = (struct mishap_json_step){ mishap_json_text(key), 0 };
}

static void step_index(struct walk *walk, size_t index)
{
    walk->path.steps[walk->path.depth - 1] = (struct mishap_json_step){ { NULL, 0 }, index };
}

static void report(struct walk *walk, mishap_json_flaw flaw)
{
    walk->visitor->flaw(walk->visitor->state, flaw, &walk->path);
}

/* Shortest first, then by bytes: all that matters is that the same keys meet. */
static int compare_keys(const void *a, const void *b)
{
    mishap_text x = mishap_json_text(*(yyjson_val *const *)a), y = mishap_json_text(*(yyjson_val *const *)b);
    if (x.length != y.length)
        return x.length < y.length ? -1 : 1;
    int order = memcmp(x.data, y.data, x.length);
    /* Equal keys stay in the order of the document, so that the later one is the one that is named. */
    yyjson_val *first = *(yyjson_val *const *)a, *second = *(yyjson_val *const *)b;
    return order ? order : (first > second) - (first < second);
}

/* Few keys are compared each with each; many are sorted, so that no document makes this slow. */
static void find_duplicates(struct walk *walk, yyjson_val *object)
{
    enum { FEW = 12 };
    yyjson_val *few[FEW], **keys = few, *key, *value;
    size_t index, count = unsafe_yyjson_get_len(object);
    if (count > FEW && !(keys = mishap_allocate(count * sizeof *keys))) {
        report(walk, MISHAP_JSON_NO_MEMORY);
        return;
    }
    yyjson_obj_foreach(object, index, count, key, value)
    {
        keys[index] = key;
        if (count > FEW)
            continue;
        mishap_text name = mishap_json_text(key);
        for (size_t i = 0; i < index; i++) {
            if (mishap_text_equal(name, mishap_json_text(keys[i]))) {
                step_key(walk, key);
                report(walk, MISHAP_JSON_DUPLICATE_KEY);
                break;
            }
        }
    }
    if (count > FEW) {
        qsort(keys, count, sizeof *keys, compare_keys);
        for (size_t i = 1; i < count; i++) {
            if (mishap_text_equal(mishap_json_text(keys[i - 1]), mishap_json_text(keys[i]))) {
                step_key(walk, keys[i]);
                report(walk, MISHAP_JSON_DUPLICATE_KEY);
            }
        }
        mishap_release(keys);
    }
}

static void inspect(struct walk *walk, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (yyjson_is_str(value) && walk->visitor->string)
        walk->visitor->string(walk->visitor->state, value, &walk->path);
    if (!yyjson_is_ctn(value))
        return;
    if (walk->path.depth == MISHAP_JSON_MAX_DEPTH) {
        if (!walk->told_depth)
            report(walk, MISHAP_JSON_TOO_DEEP);
        walk->told_depth = true;
        return;
    }
    walk->path.depth++;
    step_index(walk, 0);
    if (yyjson_is_obj(value)) {
        find_duplicates(walk, value);
        yyjson_obj_foreach(value, index, count, key, item)
        {
            step_key(walk, key);
            if (memchr(unsafe_yyjson_get_str(key), 0, unsafe_yyjson_get_len(key)))
                report(walk, MISHAP_JSON_NUL_IN_KEY);
            inspect(walk, item);
        }
    } else {
        yyjson_arr_foreach(value, index, count, item)
        {
            step_index(walk, index);
            inspect(walk, item);
        }
    }
    walk->path.depth--;
}

void mishap_json_inspect(yyjson_val *root, const mishap_json_visitor *visitor)
{
    struct walk walk;
    walk.visitor = visitor;
    walk.path.depth = 0;
    walk.told_depth = false;
    inspect(&walk, root);
}

void mishap_json_put_pointer(mishap_buffer *buffer, const mishap_json_path *path)
{
    for (size_t i = 0; i < path->depth; i++) {
        const struct mishap_json_step *step = &path->steps[i];
        mishap_buffer_put_char(buffer, '/');
        if (!step->key.data)
            mishap_buffer_put_uint(buffer, step->index);
        for (size_t c = 0; c < step->key.length; c++) {
            if (step->key.data[c] == '~')
                MISHAP_PUT(buffer, "~0");
            else if (step->key.data[c] == '/')
                MISHAP_PUT(buffer, "~1");
            else
                mishap_buffer_put_char(buffer, step->key.data[c]);
        }
    }
}
