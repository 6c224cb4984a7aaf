#include "base/json_read.h"

#include <stdlib.h>

#include "base/hex.h"
#include "base/memory.h"
#include "base/sort.h"

/* Documents up to this size are read into one block that the reader keeps. */
enum { POOLED = 64 * 1024 };

static const yyjson_read_flag flags = YYJSON_READ_BIGNUM_AS_RAW;

/* -- reading ----------------------------------------------------------------------------------- */

static void *take_block(void *state, size_t size)
{
    (void)state;
    return mishap_allocate(size);
}

static void *retake(void *state, void *block, size_t old_size, size_t size)
{
    (void)state, (void)old_size;
    return mishap_resize(block, size);
}

static void give_block(void *state, void *block)
{
    (void)state;
    mishap_release(block);
}

static const yyjson_alc heap = { take_block, retake, give_block, NULL };

static bool use_pool(mishap_json_reader *reader, size_t length, yyjson_alc *memory)
{
    size_t need = yyjson_read_max_memory_usage(length, flags);
    if (need <= reader->storage_size)
        return yyjson_alc_pool_init(memory, reader->storage, reader->storage_size);
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
        int digit = mishap_hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/*
 * Replace each \uD800…\uDFFF that is not part of a pair by \ufffd, which has the same length, so
 * that positions do not change. Returns the offset of the first one, or `length` if there was none.
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
            at++; /* the escaped character starts no escape itself */
        }
    }
    return first;
}

static void forget_document(mishap_json_reader *reader)
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
    bool pooled = text.length <= POOLED;
    if (pooled && !use_pool(reader, text.length, &memory)) {
        error->code = YYJSON_READ_ERROR_MEMORY_ALLOCATION;
        return false;
    }
    /* yyjson writes to the text only when told that it may. */
    char *start = (char *)(uintptr_t)text.data;
    reader->document = yyjson_read_opts(start, text.length, flags, &memory, error);
    /* The pool is enough for any valid JSON; brackets that are never closed take more before they
     * are refused. */
    if (!reader->document && pooled && error->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        reader->document = yyjson_read_opts(start, text.length, flags, &heap, error);
    reader->root = yyjson_doc_get_root(reader->document);
    return reader->document != NULL;
}

bool mishap_json_read(mishap_json_reader *reader, mishap_text text)
{
    yyjson_read_err error = { 0 };
    forget_document(reader);
    reader->text = text;
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
        if (first < text.length &&
            read_once(reader, (mishap_text){ reader->mended, text.length }, &second)) {
            reader->flaw = MISHAP_JSON_LONE_SURROGATE;
            reader->problem = "half of a surrogate pair";
            place_of(text, first, &reader->line, &reader->column);
            return true;
        }
        if (!reader->mended)
            error.code = YYJSON_READ_ERROR_MEMORY_ALLOCATION;
        else if (second.code)
            error = second; /* it has another flaw, too, which is the reason to refuse it */
    }
    if (error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
        reader->flaw = MISHAP_JSON_NO_MEMORY;
        reader->problem = "not enough memory";
    } else {
        reader->flaw = MISHAP_JSON_MALFORMED;
        reader->problem = text.length ? error.msg : "the text is empty";
    }
    place_of(text, error.pos, &reader->line, &reader->column);
    return false;
}

yyjson_val *mishap_json_read_into(mishap_arena *arena, mishap_text text)
{
    yyjson_alc memory;
    size_t need = yyjson_read_max_memory_usage(text.length, flags);
    void *pool = need ? mishap_arena_take(arena, need) : NULL;
    if (!pool || !yyjson_alc_pool_init(&memory, pool, need))
        return NULL;
    char *start = (char *)(uintptr_t)text.data; /* as above */
    return yyjson_doc_get_root(yyjson_read_opts(start, text.length, flags, &memory, NULL));
}

void mishap_json_reader_release(mishap_json_reader *reader)
{
    forget_document(reader);
    mishap_release(reader->pool);
    reader->pool = NULL;
    reader->pool_size = 0;
}

/* The end of the scalar that starts at `at`. */
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
 * yyjson stores keys and values in one array, in the order of the text. So the index of a value
 * says how many tokens come before it: opening brackets, strings, numbers and words.
 */
void mishap_json_locate(mishap_text text, yyjson_val *root, yyjson_val *value, size_t *line,
                        size_t *column)
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

/* -- the checks that yyjson leaves to us ------------------------------------------------------- */

struct walk {
    const mishap_json_visitor *visitor;
    mishap_json_path path;
    bool told_depth;
    bool may_have_nul; /* the text has a \\u0000 somewhere, the only way to write a NUL */
};

static void step_key(struct walk *walk, yyjson_val *key)
{
    walk->path.steps[walk->path.depth - 1].key = (mishap_text){ unsafe_yyjson_get_str(key),
                                                                unsafe_yyjson_get_len(key) };
}

static void step_index(struct walk *walk, size_t index)
{
    walk->path.steps[walk->path.depth - 1] = (struct mishap_json_step){ { NULL, 0 }, index };
}

static void report(struct walk *walk, mishap_json_flaw flaw)
{
    walk->visitor->flaw(walk->visitor->state, flaw, &walk->path);
}

/* Shortest first, then by bytes: it only matters that equal keys are next to each other. */
static int compare_keys(const void *a, const void *b)
{
    mishap_text x = mishap_json_text(*(yyjson_val *const *)a),
                y = mishap_json_text(*(yyjson_val *const *)b);
    if (x.length != y.length)
        return x.length < y.length ? -1 : 1;
    int order = memcmp(x.data, y.data, x.length);
    /* Equal keys stay in the order of the document, so that the later one is reported. */
    yyjson_val *first = *(yyjson_val *const *)a, *second = *(yyjson_val *const *)b;
    return order ? order : (first > second) - (first < second);
}

/* One of 64 bits, by length and two letters: keys of which each has a bit of its own are all
 * different. */
static uint64_t key_bit(yyjson_val *key)
{
    const char *name = unsafe_yyjson_get_str(key);
    size_t length = unsafe_yyjson_get_len(key);
    size_t last = length ? length - 1 : 0;
    return UINT64_C(1) << ((length + (unsigned char)name[0] * 7u +
                            (unsigned char)name[last] * 11u) &
                           63);
}

/* The keys are sorted, so that no document makes this slow, and equal ones are next to each
 * other. */
static void find_duplicates(struct walk *walk, yyjson_val *object)
{
    enum { FEW = 16 };
    yyjson_val *few[FEW], **keys = few, *key, *value;
    size_t index, count = unsafe_yyjson_get_len(object);
    if (count > FEW && !(keys = mishap_allocate(count * sizeof *keys))) {
        report(walk, MISHAP_JSON_NO_MEMORY);
        return;
    }
    MISHAP_JSON_MEMBERS (object, index, count, key, value)
        keys[index] = key;
    mishap_sort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++) {
        if (mishap_text_equal(mishap_json_text(keys[i - 1]), mishap_json_text(keys[i]))) {
            step_key(walk, keys[i]);
            report(walk, MISHAP_JSON_DUPLICATE_KEY);
        }
    }
    if (keys != few)
        mishap_release(keys);
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
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            step_key(walk, key);
            if (walk->may_have_nul &&
                memchr(unsafe_yyjson_get_str(key), 0, unsafe_yyjson_get_len(key)))
                report(walk, MISHAP_JSON_NUL_IN_KEY);
            inspect(walk, item);
        }
    } else {
        MISHAP_JSON_ITEMS (value, index, count, item) {
            step_index(walk, index);
            inspect(walk, item);
        }
    }
    walk->path.depth--;
}

/* A NUL can be written in one way only. */
static bool has_escaped_nul(mishap_text text)
{
    const char *at = text.data, *end = text.data + text.length;
    while ((at = memchr(at, '\\', (size_t)(end - at))) && end - at >= 6) {
        if (memcmp(at, "\\u0000", 6) == 0)
            return true;
        at += 2;
    }
    return false;
}

static bool suspect(const mishap_json_visitor *visitor, yyjson_val *value, yyjson_val *key)
{
    static const mishap_text no_name = { NULL, 0 };
    return visitor->string && yyjson_is_str(value) &&
           visitor->suspect(mishap_json_text(value), key ? mishap_json_text(key) : no_name);
}

/* True unless this key is surely none of those before it in a small object. */
static bool may_repeat(yyjson_val *object, yyjson_val *key, size_t at)
{
    enum { FEW = 16 };
    size_t index, count;
    yyjson_val *before, *value;
    if (at >= FEW)
        return true;
    MISHAP_JSON_MEMBERS (object, index, count, before, value) {
        if (index == at)
            return false;
        if (mishap_text_equal(mishap_json_text(before), mishap_json_text(key)))
            return true;
    }
    return false;
}

/* True if this object has no flaw itself: each key has a bit of its own or is compared, and no
 * string is suspect. */
static bool sound_object(const mishap_json_visitor *visitor, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *key, *value;
    uint64_t seen = 0;
    MISHAP_JSON_MEMBERS (object, index, count, key, value) {
        uint64_t bit = key_bit(key);
        if ((seen & bit && may_repeat(object, key, index)) || suspect(visitor, value, key))
            return false;
        seen |= bit;
    }
    return true;
}

static bool sound_array(const mishap_json_visitor *visitor, yyjson_val *array)
{
    size_t index, count;
    yyjson_val *value;
    MISHAP_JSON_ITEMS (array, index, count, value) {
        if (suspect(visitor, value, NULL))
            return false;
    }
    return true;
}

/*
 * Most documents have no flaw. One pass over all values, which are in one array in the order of the
 * document, finds that out without following the path to each: true if there is nothing to report,
 * false if a walk is needed.
 */
static bool surely_sound(const mishap_json_reader *reader, const mishap_json_visitor *visitor)
{
    size_t count = yyjson_doc_get_val_count(reader->document);
    if (count > MISHAP_JSON_MAX_DEPTH) /* otherwise nothing can be nested too deeply */
        return false;
    for (yyjson_val *value = reader->root, *end = value + count; value < end; value++) {
        if (unsafe_yyjson_is_obj(value)
                ? !sound_object(visitor, value)
                : unsafe_yyjson_is_arr(value) && !sound_array(visitor, value))
            return false;
    }
    return !suspect(visitor, reader->root, NULL);
}

void mishap_json_inspect(const mishap_json_reader *reader, const mishap_json_visitor *visitor)
{
    bool may_have_nul = has_escaped_nul(reader->text);
    if (!may_have_nul && surely_sound(reader, visitor))
        return;
    struct walk walk;
    walk.visitor = visitor;
    walk.path.depth = 0;
    walk.told_depth = false;
    walk.may_have_nul = may_have_nul;
    inspect(&walk, reader->root);
}

/* -- the first flaw ---------------------------------------------------------------------------- */

struct first_flaw {
    mishap_json_flaw flaw;
    mishap_json_path path;
};

static void keep_first_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    struct first_flaw *first = state;
    if (first->flaw == MISHAP_JSON_SOUND) {
        first->flaw = flaw;
        first->path = *path;
    }
}

/* The member with exactly this key, not another one with the same spelling: a key is identified by
 * its address. */
static yyjson_val *member_of(yyjson_val *object, mishap_text key)
{
    size_t index, count;
    yyjson_val *name, *value;
    MISHAP_JSON_MEMBERS (object, index, count, name, value) {
        if (unsafe_yyjson_get_str(name) == key.data)
            return value;
    }
    return NULL;
}

static yyjson_val *value_at(yyjson_val *root, const mishap_json_path *path)
{
    yyjson_val *at = root;
    for (size_t i = 0; i < path->depth; i++) {
        const struct mishap_json_step *step = &path->steps[i];
        yyjson_val *next = yyjson_is_arr(at) ? yyjson_arr_get(at, step->index)
                                             : member_of(at, step->key);
        if (!next)
            break;
        at = next;
    }
    return at;
}

mishap_json_flaw mishap_json_first_flaw(const mishap_json_reader *reader, yyjson_val **at)
{
    struct first_flaw first;
    first.flaw = MISHAP_JSON_SOUND;
    mishap_json_inspect(reader, &(mishap_json_visitor){ .flaw = keep_first_flaw, .state = &first });
    if (first.flaw != MISHAP_JSON_SOUND)
        *at = value_at(reader->root, &first.path);
    return first.flaw;
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
