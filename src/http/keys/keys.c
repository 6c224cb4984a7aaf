/*
 * The API keys of a server: identify the caller of a request.
 *
 * All keys are in memory, sorted by hash. A request costs one SHA-256 and a binary search. The time
 * of the search depends only on the hash of the key that was sent, which reveals nothing about
 * stored hashes. The final comparison takes constant time.
 */
#include "http/keys/file.h"
#include "operation/operation.h"

#include <endian.h>
#include <stdatomic.h>
#include <strings.h>

/* -- the keys of a server ---------------------------------------------------------------------- */

struct known {
    unsigned char hash[MISHAP_KEY_HASH];
    const char *name;
    unsigned scopes; /* base/scope.h */
};

/* A number that identifies a key, even among keys of the same name. Never 0. */
static uint64_t number_of(const unsigned char hash[MISHAP_KEY_HASH])
{
    uint64_t word;
    memcpy(&word, hash + MISHAP_KEY_HASH - sizeof word, sizeof word);
    return be64toh(word) | UINT64_C(1) << 63;
}

/*
 * The names are stored apart, for as long as the server lives: a request may still run when its key
 * is removed. A known name is not stored again, so this grows only by new names.
 */
struct mishap_http_keys {
    struct known *known;  /* sorted by hash */
    mishap_text *by_name; /* the names alone, sorted; in the same block */
    size_t count;
    mishap_arena names;
    mishap_key_stamp stamp;     /* of the file that they were read from */
    struct known own;           /* the key of the operator; no name: there is none … */
    mishap_key_stamp own_stamp; /* … and the state of its file, or … */
    mishap_key_stamp own_tried; /* … the state that could not be read and was reported */
    bool seen; /* there was a key since the server began, and the operator has not disabled keys
                  since */
    /* Callers may not name themselves: there is a key, or there was one at some time … */
    bool used;
    bool gone;              /* … and there is none any more */
    bool unsound;           /* the file cannot be read now: no key is accepted … */
    mishap_key_stamp tried; /* … and this is the state of the file that was reported */
    void (*removed)(void *context, uint64_t key); /* NULL: not wanted */
    void *context;
    const mishap_scope *declared;        /* the scopes of the program, or NULL */
    const _Atomic int64_t *confirmed_ns; /* NULL: there is no cluster */
    int64_t stale_ns;
    bool stale;             /* the keys were not confirmed for so long: none is accepted */
    const char *folder;     /* of the file, and … */
    const char *own_folder; /* … of the key of the operator; behind the path */
    char path[];
};

/* The text of a name, which lives as long as the keys: the stored one, else a copy. `*from` is how
 * far the old names were searched. */
static mishap_text keep_name(mishap_http_keys *keys, mishap_text name, size_t *from)
{
    while (*from < keys->count && mishap_key_order(keys->by_name[*from], name) < 0)
        ++*from;
    if (*from < keys->count && mishap_text_equal(keys->by_name[*from], name))
        return keys->by_name[*from];
    return mishap_arena_copy(&keys->names, name);
}

/* Report the keys in a list that the server does not have any more, or that may do less now. Both
 * are sorted by hash. */
static void tell_removed(const mishap_http_keys *keys, const struct known *old, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        int order = -1;
        while (at < keys->count &&
               (order = memcmp(keys->known[at].hash, old[i].hash, MISHAP_KEY_HASH)) < 0)
            at++;
        if (at == keys->count || order > 0 || old[i].scopes & ~keys->known[at].scopes)
            keys->removed(keys->context, number_of(old[i].hash));
    }
}

/* Record in the data folder that keys are used, even if the file was not made by `keys add`. A file
 * without any key counts as one whose keys were lost. */
static void keep_in_mind(mishap_http_keys *keys, const mishap_key_file *file)
{
    bool remembered = mishap_caller_keys_were_used(keys->folder);
    if (file->count && !remembered)
        mishap_caller_keys_remember(keys->folder);
    keys->seen = file->count || (keys->seen && !file->disabled.data);
    keys->used = keys->seen || (!file->disabled.data && (file->is_there || remembered));
    keys->gone = keys->used && !file->count;
}

/* Take over the contents of a file, all of it or nothing. */
static mishap *adopt(mishap_http_keys *keys, const mishap_key_file *file)
{
    struct known *known = NULL;
    mishap_text *by_name = NULL;
    size_t from = 0;
    if (file->count) {
        known = mishap_allocate(file->count * (sizeof *known + sizeof *by_name));
        if (!known)
            return mishap_out_of_memory();
        by_name = (mishap_text *)(known + file->count);
    }
    for (size_t i = 0; i < file->count; i++) {
        by_name[i] = keep_name(keys, file->lines[i].name, &from);
        if (!by_name[i].data) {
            mishap_release(known);
            return mishap_out_of_memory();
        }
    }
    for (size_t i = 0; i < file->count; i++) {
        const mishap_key_line *line = file->by_hash[i];
        memcpy(known[i].hash, line->hash, MISHAP_KEY_HASH);
        known[i].name = by_name[line - file->lines].data;
        known[i].scopes = mishap_scopes_expand(keys->declared, line->scopes);
    }
    struct known *old = keys->known;
    size_t count = keys->count;
    keys->known = known;
    keys->by_name = by_name;
    keys->count = file->count;
    keys->stamp = file->stamp;
    keys->unsound = false;
    keep_in_mind(keys, file);
    if (keys->removed)
        tell_removed(keys, old, count);
    mishap_release(old);
    return NULL;
}

static bool is_same_file(const mishap_key_stamp *a, const mishap_key_stamp *b)
{
    return a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

/* Read the key of the operator again if its file has changed. A file that cannot be used has no
 * key; it is tried again, and the failure is reported once for each state of the file. */
static mishap *load_own(mishap_http_keys *keys)
{
    char key[MISHAP_KEY_LENGTH + 1];
    struct known old = keys->own;
    mishap_key_stamp now = mishap_key_operator_stamp(keys->own_folder);
    if (is_same_file(&now, &keys->own_stamp))
        return NULL;
    mishap *failure = mishap_key_operator_read(keys->own_folder, key);
    keys->own_stamp = failure ? (mishap_key_stamp){ .size = -1 } : now;
    keys->own = (struct known){ 0 };
    if (key[0]) {
        keys->own.name = MISHAP_KEY_OPERATOR;
        keys->own.scopes = MISHAP_KEY_OPERATOR_SCOPES;
        mishap_key_hash(mishap_text_of(key), keys->own.hash);
    }
    explicit_bzero(key, sizeof key);
    if (keys->removed && old.name && memcmp(old.hash, keys->own.hash, MISHAP_KEY_HASH) != 0)
        keys->removed(keys->context, number_of(old.hash));
    if (!failure || !is_same_file(&now, &keys->own_tried)) {
        keys->own_tried = failure ? now : (mishap_key_stamp){ 0 };
        return failure;
    }
    mishap_free(failure);
    return NULL;
}

static mishap *load_keys(mishap_http_keys *keys)
{
    mishap_key_file file;
    mishap *failure = mishap_key_file_read(keys->path, keys->declared, &file);
    if (!failure)
        failure = adopt(keys, &file);
    mishap_key_file_release(&file);
    return failure;
}

mishap *mishap_http_keys_make_in(const char *folder, const char *data, const mishap_scope *declared,
                                 mishap_http_keys **out)
{
    size_t length = strlen(folder), path = length + sizeof "/keys", own = path + length + 1;
    mishap_http_keys *keys = mishap_allocate(sizeof *keys + own + strlen(data) + 1);
    *out = keys;
    if (!keys)
        return mishap_out_of_memory();
    *keys = (mishap_http_keys){ .unsound = true, .tried = { .size = -1 }, .declared = declared };
    mishap_arena_init(&keys->names, NULL, 0);
    memcpy(keys->path, folder, length);
    memcpy(keys->path + length, "/keys", sizeof "/keys");
    keys->folder = memcpy(keys->path + path, folder, length + 1);
    keys->own_folder = memcpy(keys->path + own, data, strlen(data) + 1);
    return NULL;
}

mishap *mishap_http_keys_make(const char *data, const mishap_scope *declared,
                              mishap_http_keys **out)
{
    return mishap_http_keys_make_in(data, data, declared, out);
}

mishap *mishap_http_keys_open(const char *data, const mishap_scope *declared,
                              mishap_http_keys **out)
{
    return mishap_http_keys_open_in(data, data, declared, out);
}

mishap *mishap_http_keys_open_in(const char *folder, const char *data, const mishap_scope *declared,
                                 mishap_http_keys **out)
{
    mishap *failure = mishap_http_keys_make_in(folder, data, declared, out);
    if (!failure)
        failure = load_keys(*out);
    if (!failure)
        failure = load_own(*out);
    if (failure) {
        mishap_http_keys_close(*out);
        *out = NULL;
    }
    return failure;
}

void mishap_http_keys_close(mishap_http_keys *keys)
{
    if (!keys)
        return;
    mishap_release(keys->known);
    mishap_arena_release(&keys->names);
    mishap_release(keys);
}

static mishap *are_gone(void)
{
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED,
                     "API keys were used with this data folder, and there is none any more. "
                     "Callers that name themselves are refused."),
        MISHAP_CALLER_KEYS_ADVICE);
}

static mishap *are_stale(void)
{
    return mishap_suggest(mishap_raise(UNAVAILABLE,
                                       "The API keys of the cluster could not be read for too "
                                       "long. All keys are refused until they can be read."),
                          "See why the database cannot be used: standard error of the server says "
                          "so.");
}

/* Acquire: the file that was written before this time is seen. Returns what was true before. */
static bool look_at_age(mishap_http_keys *keys)
{
    bool before = keys->stale;
    if (keys->confirmed_ns)
        keys->stale = mishap_clock_monotonic_ns() -
                          atomic_load_explicit(keys->confirmed_ns, memory_order_acquire) >
                      keys->stale_ns;
    return before;
}

/* A file that could not be read is tried again even if it looks unchanged: new permissions, or free
 * memory, do not show in its stamp. */
mishap *mishap_http_keys_refresh(mishap_http_keys *keys)
{
    bool was_stale = look_at_age(keys); /* before the file, which is written first */
    mishap_key_stamp now = mishap_key_file_stamp(keys->path);
    mishap *own = load_own(keys);
    if (!own && keys->stale && !was_stale)
        own = are_stale();
    if (own)
        return own; /* the other keys follow the next time */
    if (!keys->unsound && is_same_file(&now, &keys->stamp))
        return NULL;
    bool known = keys->unsound && is_same_file(&now, &keys->tried), were_gone = keys->gone;
    mishap *failure = load_keys(keys);
    if (!failure)
        return keys->gone && !were_gone ? are_gone() : NULL;
    keys->unsound = true;
    keys->tried = now;
    if (!known)
        return mishap_because(
            mishap_suggest(mishap_raise(UNAVAILABLE,
                                        "The file of API keys cannot be read. All keys are "
                                        "refused until the file can be read."),
                           "Correct the file. The server checks it once a second."),
            failure);
    mishap_free(failure);
    return NULL;
}

void mishap_http_keys_expire(mishap_http_keys *keys, const _Atomic int64_t *confirmed_ns,
                             int64_t stale_ns)
{
    keys->confirmed_ns = confirmed_ns;
    keys->stale_ns = stale_ns;
}

void mishap_http_keys_watch(mishap_http_keys *keys, void (*removed)(void *context, uint64_t key),
                            void *context)
{
    keys->removed = removed;
    keys->context = context;
}

size_t mishap_http_keys_count(const mishap_http_keys *keys)
{
    return keys->count;
}

bool mishap_http_keys_are_unused(const mishap_http_keys *keys)
{
    return !keys->unsound && !keys->stale && !keys->used;
}

bool mishap_http_keys_are_gone(const mishap_http_keys *keys)
{
    return !keys->unsound && keys->gone;
}

/* -- who calls --------------------------------------------------------------------------------- */

mishap_text mishap_http_bearer_of(mishap_text field)
{
    static const char scheme[] = "bearer";
    const size_t length = sizeof scheme - 1;
    if (field.length < length || strncasecmp(field.data, scheme, length) != 0 ||
        (field.length > length && field.data[length] != ' '))
        return (mishap_text){ NULL, 0 };
    mishap_text key = { field.data + length, field.length - length };
    while (key.length && key.data[0] == ' ') {
        key.data++;
        key.length--;
    }
    return key;
}

/* Takes the same time for all bytes. */
static bool same_hash(const unsigned char *a, const unsigned char *b)
{
    unsigned difference = 0;
    for (size_t i = 0; i < MISHAP_KEY_HASH; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

static uint64_t beginning(const unsigned char *hash)
{
    uint64_t word;
    memcpy(&word, hash, sizeof word);
    return be64toh(word);
}

/* NULL: it is not known. */
static const struct known *find_key(const mishap_http_keys *keys, mishap_text key)
{
    unsigned char hash[MISHAP_KEY_HASH];
    const struct known *found = NULL;
    size_t low = 0, high = keys ? keys->count : 0;
    bool has_own = keys && keys->own.name;
    if ((high == 0 && !has_own) || !mishap_key_is_one(key))
        return NULL;
    mishap_key_hash(key, hash);
    if (has_own && same_hash(keys->own.hash, hash))
        found = &keys->own;
    uint64_t wanted = beginning(hash);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (beginning(keys->known[middle].hash) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < keys->count && beginning(keys->known[low].hash) == wanted; low++)
        if (same_hash(keys->known[low].hash, hash))
            found = &keys->known[low];
    return found;
}

/* The failure does not say whether it was no key at all, a removed one, or one that never
 * existed. */
static mishap *unauthorized(const char *what)
{
    return mishap_suggest(mishap_raise(UNAUTHORIZED, "%s", what),
                          "Check the key, or ask the operator of this server for a new key.");
}

static mishap *nothing_sent(mishap_key_need need)
{
    if (need == MISHAP_KEY_OPTIONAL)
        return NULL;
    if (need == MISHAP_KEY_REQUIRED)
        return mishap_suggest(
            mishap_raise(AUTH_REQUIRED, "An API key is required."),
            "Send an API key as `Authorization: Bearer KEY` or as `X-Api-Key: KEY`.");
    return mishap_suggest(mishap_raise(AUTH_REQUIRED, "An API key or an access token is required."),
                          "Send an access token as `Authorization: Bearer TOKEN`, or an API key as "
                          "`Authorization: Bearer KEY` or as `X-Api-Key: KEY`.");
}

mishap *mishap_http_keys_check(const mishap_http_keys *keys, mishap_http_request *request,
                               mishap_text own, mishap_key_need need)
{
    mishap_text bearer = mishap_http_bearer_of(request->fields[MISHAP_HTTP_AUTHORIZATION]);
    request->caller = NULL;
    request->caller_key = 0;
    request->scopes = MISHAP_SCOPES_USUAL;
    if (!bearer.data && !own.data)
        return nothing_sent(need);
    if (keys && (keys->unsound || keys->stale))
        return mishap_retry_after(
            mishap_raise(UNAVAILABLE, "The server cannot check API keys at the moment."), 1000);
    if (bearer.data && own.data && !mishap_text_equal(bearer, own))
        return unauthorized("The request has two different API keys.");
    const struct known *key = find_key(keys, bearer.data ? bearer : own);
    if (!key)
        return unauthorized("The API key is not valid.");
    request->caller = key->name;
    request->caller_key = number_of(key->hash);
    request->scopes = key->scopes;
    return NULL;
}

/* The same words for every path: they do not say what there is. */
mishap *mishap_http_keys_permit(const mishap_app *app, const mishap_http_request *request,
                                unsigned scopes)
{
    static const char *const advice[] = {
        "Ask the operator of this server for a key with this scope.",
        "Get an access token with this scope."
    };
    mishap *m = mishap_scopes_permit(app, request->scopes, scopes,
                                     request->has_token ? "access token" : "API key");
    return m ? mishap_suggest(m, advice[request->has_token]) : NULL;
}
