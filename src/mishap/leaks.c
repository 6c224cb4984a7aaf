/* Find the leaks of a failure, decide which are replaced, and tell the operator. */
#include "mishap/leaks.h"

#include <stdatomic.h>

#include "base/base.h"
#include "guard/guard.h"

/* -- what is done about a leak ----------------------------------------------------------------- */

/* Set before a server forks its processes. */
static atomic_bool strict;

const char *const mishap_leaks_guards[] = { "normal", "strict", NULL };

bool mishap_leaks_set_guard(const char *name)
{
    bool is_strict = strcmp(name, "strict") == 0;
    if (!is_strict && strcmp(name, "normal") != 0)
        return false;
    atomic_store(&strict, is_strict);
    return true;
}

void mishap_leaks_read_variable(const char *program)
{
    const char *value = mishap_system_setting(program, "GUARD");
    if (value && strcmp(value, "strict") == 0)
        mishap_leaks_set_guard(value);
}

/* What stands in place of a text, and what the operator reads. */
static const struct {
    mishap_text sentence;
    const char *removed;
    bool always; /* replaced at high confidence, not only if the guard is strict */
} kinds[MISHAP_LEAK_KINDS] = {
    [MISHAP_LEAK_TRACE] = { MISHAP_TEXT("A stack trace was removed here."),
                            "A stack trace was removed from a failure.", true },
    [MISHAP_LEAK_SQL] = { MISHAP_TEXT("A message of a database was removed here."),
                          "A message of a database was removed from a failure.", true },
    [MISHAP_LEAK_CONNECTION] = { MISHAP_TEXT("A connection string was removed here."),
                                 "A connection string was removed from a failure.", true },
    [MISHAP_LEAK_CREDENTIAL] = { MISHAP_TEXT("A credential was removed here."),
                                 "A credential was removed from a failure.", true },
    [MISHAP_LEAK_ENVIRONMENT] = { MISHAP_TEXT("Environment variables were removed here."),
                                  "Environment variables were removed from a failure.", true },
    [MISHAP_LEAK_PATH] = { MISHAP_TEXT("A path was removed here."),
                           "A path was removed from a failure.", false },
    [MISHAP_LEAK_HOST] = { MISHAP_TEXT("An internal address was removed here."),
                           "An internal address was removed from a failure.", false },
    [MISHAP_LEAK_SOURCE] = { MISHAP_TEXT("Source code was removed here."),
                             "Source code was removed from a failure.", false },
    [MISHAP_LEAK_LIMIT] = { MISHAP_TEXT("Text that could not be checked was removed here."),
                            "Text that could not be checked was removed from a failure.", true },
};

mishap_text mishap_leaks_sentence(mishap_leak_kind kind)
{
    return kinds[kind].sentence;
}

bool mishap_leaks_is_sentence(mishap_text text)
{
    for (size_t i = 0; i < MISHAP_LEAK_KINDS; i++)
        if (mishap_text_equal(text, kinds[i].sentence))
            return true;
    return false;
}

static bool is_replaced(const mishap_leaks *leaks, const mishap_leak *leak)
{
    return (kinds[leak->kind].always && leak->confidence == MISHAP_LEAK_HIGH) || leaks->strict;
}

/* -- what the caller sent ---------------------------------------------------------------------- */

enum {
    MOST_VALUES = 512,
    LEAST_BYTES = 4, /* no rule matches less */
    DEEPEST = MISHAP_JSON_MAX_DEPTH
};

/* A text that was read because it may be JSON. */
struct read_text {
    mishap_json_reader reader;
    struct read_text *next;
};

struct mishap_leaks_values {
    mishap_leak_known known;
    size_t left;
    mishap_text list[MOST_VALUES];
    struct read_text *read; /* the last */
    mishap_arena arena;
    char storage[sizeof(struct read_text) + 64];
};

void mishap_leaks_add_value(mishap_leaks_values *values, mishap_text value)
{
    if (value.length >= LEAST_BYTES && values->known.count < MOST_VALUES)
        values->list[values->known.count++] = value;
}

static void add_json(mishap_leaks_values *values, yyjson_val *value, size_t depth)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (depth > DEEPEST)
        return;
    if (yyjson_is_str(value))
        mishap_leaks_add_value(values, mishap_json_text(value));
    else if (yyjson_is_arr(value))
        MISHAP_JSON_ITEMS (value, index, count, item)
            add_json(values, item, depth + 1);
    else if (yyjson_is_obj(value))
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            mishap_leaks_add_value(values, mishap_json_text(key));
            add_json(values, item, depth + 1);
        }
}

void mishap_leaks_add_json(mishap_leaks_values *values, const yyjson_val *json)
{
    if (json)
        add_json(values, (yyjson_val *)(uintptr_t)json, 0);
}

void mishap_leaks_add_text(mishap_leaks_values *values, mishap_text text)
{
    struct read_text *read = text.length ? mishap_arena_take(&values->arena, sizeof *read) : NULL;
    mishap_leaks_add_value(values, text);
    if (!read)
        return;
    *read = (struct read_text){ MISHAP_JSON_READER, values->read };
    values->read = read;
    if (mishap_json_read(&read->reader, text))
        add_json(values, read->reader.root, 0);
}

/* NULL if the caller sent nothing, or without memory: then more counts as a leak. */
static mishap_leaks_values *values_of(const mishap_leaks_known *known)
{
    mishap_leaks_values *values = known->collect ? mishap_allocate(sizeof *values) : NULL;
    if (!values)
        return NULL;
    values->left = MISHAP_LEAK_KNOWN_BYTES;
    values->known = (mishap_leak_known){ values->list, 0, &values->left };
    values->read = NULL;
    mishap_arena_init(&values->arena, values->storage, sizeof values->storage);
    known->collect(values, known->sent);
    return values;
}

static const mishap_leak_known *known_values(mishap_leaks_known *known)
{
    if (known && !known->values)
        known->values = values_of(known);
    return known && known->values ? &known->values->known : NULL;
}

void mishap_leaks_known_release(mishap_leaks_known *known)
{
    if (!known->values)
        return;
    for (struct read_text *read = known->values->read; read; read = read->next)
        mishap_json_reader_release(&read->reader);
    mishap_arena_release(&known->values->arena);
    mishap_release(known->values);
    known->values = NULL;
}

/* -- texts without leaks ----------------------------------------------------------------------- */

enum { CLEAN_TEXTS = 32, LONGEST_CLEAN = 1024, PARTS = 5, FIRST_JUDGED = 8 };

/* Texts that were judged before, each at the place of its hash, and all bytes of them: two texts
 * with one hash are told apart. A thread that finds the list taken judges its text. A command
 * judges few texts, and should not pay for the memory: so the first ones are only counted. */
static struct {
    atomic_flag taken;
    atomic_uint judged; /* up to FIRST_JUDGED */
    struct clean_text {
        size_t length; /* 0: none */
        char text[LONGEST_CLEAN];
    } list[CLEAN_TEXTS];
} clean = { .taken = ATOMIC_FLAG_INIT };

/* Its length, beginning, middle and end are enough: most texts that differ do so there. */
static struct clean_text *place_of(mishap_text text)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = text.length * odd, words[2];
    if (text.length >= sizeof words)
        for (size_t part = 0; part < PARTS; part++) {
            size_t at = (text.length - sizeof words) * part / (PARTS - 1);
            memcpy(words, text.data + at, sizeof words);
            hash = (((hash ^ words[0]) * odd >> 1) ^ words[1]) * odd;
        }
    return &clean.list[(hash >> 32) % CLEAN_TEXTS];
}

static bool was_clean(mishap_text text)
{
    if (atomic_load_explicit(&clean.judged, memory_order_relaxed) < FIRST_JUDGED)
        return false;
    if (text.length > LONGEST_CLEAN ||
        atomic_flag_test_and_set_explicit(&clean.taken, memory_order_acquire))
        return false;
    const struct clean_text *known = place_of(text);
    bool found = known->length == text.length && memcmp(known->text, text.data, text.length) == 0;
    atomic_flag_clear_explicit(&clean.taken, memory_order_release);
    return found;
}

static void note_clean(mishap_text text)
{
    if (atomic_load_explicit(&clean.judged, memory_order_relaxed) < FIRST_JUDGED) {
        atomic_fetch_add_explicit(&clean.judged, 1, memory_order_relaxed);
        return;
    }
    if (text.length > LONGEST_CLEAN ||
        atomic_flag_test_and_set_explicit(&clean.taken, memory_order_acquire))
        return;
    struct clean_text *known = place_of(text);
    known->length = text.length;
    memcpy(known->text, text.data, text.length);
    atomic_flag_clear_explicit(&clean.taken, memory_order_release);
}

/* -- finding ----------------------------------------------------------------------------------- */

static void note_any(void *state, const mishap_leak *leak)
{
    (void)leak;
    *(bool *)state = true;
}

/* Most failures have none: then nothing else is done. Programs tell the same failures again and
 * again. */
static bool has_any(mishap_text text)
{
    bool any = false;
    if (!text.length || was_clean(text))
        return false;
    mishap_leak_scan(text, NULL, note_any, &any);
    if (!any)
        note_clean(text);
    return any;
}

enum { MOST_WORDS = 32 }; /* leaks that the operator reads about */

static void put_words(mishap_buffer *words, const mishap_leak *leak)
{
    char place[64];
    snprintf(place, sizeof place, " at byte %zu: ", leak->start);
    mishap_buffer_put_text(words, mishap_text_of(mishap_leak_kind_names[leak->kind]));
    mishap_buffer_put_char(words, ' ');
    mishap_buffer_put_text(words, mishap_text_of(leak->rule));
    mishap_buffer_put_text(words, mishap_text_of(place));
    mishap_buffer_put_text(words, leak->excerpt);
    mishap_buffer_put_char(words, '\n');
}

static void note_leak(void *state, const mishap_leak *leak)
{
    mishap_leaks *leaks = state;
    bool replaced = is_replaced(leaks, leak);
    if (leaks->count == MISHAP_MOST_LEAKS) { /* too many to tell apart */
        leaks->list[MISHAP_MOST_LEAKS - 1].end = SIZE_MAX;
        if (replaced && !leaks->list[MISHAP_MOST_LEAKS - 1].replaced) {
            leaks->list[MISHAP_MOST_LEAKS - 1].replaced = true;
            leaks->replaced++;
        }
        return;
    }
    leaks->list[leaks->count++] = (struct mishap_leak_range){
        .start = leak->start,
        .end = leak->start + leak->length,
        .own_end = leak->start + leak->length,
        .secret = leak->secret,
        .secret_end = leak->secret + (leak->secret_length ? leak->secret_length : leak->length),
        .kind = leak->kind,
        .replaced = replaced,
        .rule = leak->rule,
    };
    leaks->replaced += replaced;
    if (leaks->count <= MOST_WORDS)
        put_words(&leaks->words, leak);
}

bool mishap_leaks_find(mishap_leaks *leaks, mishap_text text, mishap_leaks_known *known)
{
    leaks->count = leaks->replaced = 0;
    leaks->words = (mishap_buffer){ 0 };
    leaks->strict = (known && known->strict) || atomic_load(&strict);
    if (!has_any(text))
        return false;
    mishap_leak_scan(text, known_values(known), note_leak, leaks);
    return leaks->count > 0;
}

void mishap_leaks_release(mishap_leaks *leaks)
{
    mishap_buffer_release(&leaks->words);
}

mishap_leak_kind mishap_leaks_kind(mishap_text text, mishap_leaks_known *known)
{
    mishap_leaks leaks;
    mishap_leak_kind kind = (mishap_leak_kind)MISHAP_LEAK_KINDS;
    if (mishap_leaks_find(&leaks, text, known))
        for (size_t i = 0; i < leaks.count; i++)
            if (leaks.list[i].replaced) {
                kind = leaks.list[i].kind;
                break;
            }
    mishap_leaks_release(&leaks);
    return kind;
}

/* -- the operator ------------------------------------------------------------------------------ */

/* The mistake is found without these, so they are not in the log either. */
static bool is_secret(mishap_leak_kind kind)
{
    return kind == MISHAP_LEAK_CONNECTION || kind == MISHAP_LEAK_CREDENTIAL ||
           kind == MISHAP_LEAK_ENVIRONMENT;
}

static void put_redacted(mishap_buffer *b, const mishap_leaks *leaks, mishap_text document)
{
    size_t at = 0;
    for (size_t i = 0; i < leaks->count; i++) {
        size_t start = leaks->list[i].start, end = leaks->list[i].end;
        end = end < document.length ? end : document.length;
        if (!is_secret(leaks->list[i].kind) || end <= at)
            continue;
        start = start > at ? start : at;
        mishap_buffer_put(b, document.data + at, start - at);
        mishap_buffer_put_text(b, mishap_guard_redacted);
        at = end;
    }
    mishap_buffer_put(b, document.data + at, document.length - at);
}

static mishap *raise_found(const mishap_leaks *leaks)
{
    for (size_t i = 0; i < leaks->count; i++)
        if (leaks->list[i].replaced)
            return mishap_raise(RUNTIME_ERROR, "%s", kinds[leaks->list[i].kind].removed);
    return mishap_raise(VALUE_ERROR, "A failure may show the inside of the program.");
}

mishap *mishap_leaks_tell(const mishap_leaks *leaks, mishap_text document)
{
    mishap_buffer shown = { 0 };
    if (!leaks->count)
        return NULL;
    put_redacted(&shown, leaks, document);
    mishap *m = raise_found(leaks);
    m = mishap_note(m, "found", mishap_buffer_text(&leaks->words));
    m = mishap_note(m, "failure", mishap_buffer_text(&shown));
    mishap_buffer_release(&shown);
    return m;
}
