/*
 * keys add, keys list, keys remove, keys disable: the API keys of a server, beside `serve`.
 *
 * The file is never written in place. A new one is written next to it and takes its name, so a
 * server that reads at that moment sees the old keys or the new ones. A process that changes the
 * keys holds a lock on a separate file, `keys.lock`, because the file of keys is replaced by each
 * change. That file stays: it says that there were keys (operation/caller.h).
 */
#include "http/keys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "operation/call.h"

enum { LOCK_PATIENCE_MS = 10000, LOCK_PAUSE_MS = 10 };

/* The folder of the keys. All text lives as long as the call. */
struct place {
    const char *folder, *keys, *lock;
    char *fresh; /* the new file, before it is renamed */
    bool named;  /* the caller has named the folder, so failures may show it */
};

static mishap *find_place(mishap_call *call, struct place *place)
{
    place->named = mishap_given(call, "data");
    place->folder = mishap_call_data_folder(call);
    if (!place->folder)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED, "No data folder is configured."),
                              "Give a data folder with --data.");
    place->keys = mishap_call_print(call, "%s/keys", place->folder);
    place->lock = mishap_call_print(call, "%s/keys.lock", place->folder);
    size_t size = strlen(place->folder) + sizeof "/.keys-XXXXXX";
    place->fresh = mishap_call_take(call, size);
    snprintf(place->fresh, size, "%s/.keys-XXXXXX", place->folder);
    return NULL;
}

/* If the caller has named the folder, the failure says which file it was. */
static mishap *tell_place(const struct place *place, mishap *failure)
{
    return place->named ? mishap_tell(failure, "file", place->keys) : failure;
}

static void warn_of_readers(mishap_call *call, const struct place *place)
{
    char line[4400];
    if (mishap_key_file_advise(place->folder, place->keys, place->named ? place->keys : "keys",
                               line, sizeof line))
        mishap_warn(call, "%s", line);
}

/* Warn if no key is left and callers still cannot name themselves. */
static void warn_of_none(mishap_call *call, const struct place *place)
{
    if (mishap_caller_keys_of(place->folder) == MISHAP_CALLER_KEYS_GONE)
        mishap_warn(call, "%s",
                    "There is no API key. Callers that name themselves are refused all the same, "
                    "until `keys disable` allows it.");
}

static mishap *unwritable(const char *path, int error)
{
    return mishap_key_blame(mishap_raise(OUTPUT_FAILED, "Cannot write the file of API keys."),
                            error, path);
}

static bool is_of_operator(const char *name)
{
    return strcmp(name, MISHAP_KEY_OPERATOR) == 0;
}

/* -- the lock ---------------------------------------------------------------------------------- */

/* The folder and those above it, for this user only. */
static mishap *make_folder(mishap_call *call, const char *folder)
{
    char *path = mishap_call_take(call, strlen(folder) + 1);
    memcpy(path, folder, strlen(folder) + 1);
    return mishap_system_make_folder(path) ? NULL : unwritable(folder, errno);
}

/* A new file gets owner and mode of the file that it replaces. Only root can change the owner;
 * otherwise it stays with the user who made it. */
static void make_alike(int file, const struct place *place)
{
    struct stat old;
    if (stat(place->keys, &old) != 0) {
        mishap_key_give_to_owner(file, place->folder);
    } else if (fchown(file, old.st_uid, old.st_gid) == 0 ||
               fchown(file, (uid_t)-1, old.st_gid) == 0) {
        if (fchmod(file, old.st_mode & 0666) != 0)
            errno = 0;
    }
}

static int open_lock(const struct place *place)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    int file = open(place->lock, flags | O_CREAT | O_EXCL, 0600);
    if (file >= 0)
        mishap_key_give_to_owner(file, place->folder);
    else if (errno == EEXIST)
        file = open(place->lock, flags);
    return file;
}

/* Wait for the lock, which is released when the file is closed. */
static mishap *take_lock(const struct place *place, int *out)
{
    int file = open_lock(place);
    if (file < 0)
        return unwritable(place->lock, errno);
    for (int waited = 0; flock(file, LOCK_EX | LOCK_NB) != 0; waited += LOCK_PAUSE_MS) {
        int error = errno;
        if (error == EWOULDBLOCK && waited < LOCK_PATIENCE_MS) {
            nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_MS * 1000000L }, NULL);
            continue;
        }
        close(file);
        return error == EWOULDBLOCK
                   ? mishap_note(mishap_raise(LOCKED, "Another process is changing the API keys."),
                                 "file", place->lock)
                   : unwritable(place->lock, error);
    }
    *out = file;
    return NULL;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* Replace the old file by a new one. */
static mishap *replace_file(const struct place *place, const mishap_buffer *text)
{
    if (text->failed)
        return mishap_out_of_memory();
    int file = mkostemp(place->fresh, O_CLOEXEC); /* with mode 0600 */
    if (file < 0)
        return unwritable(place->keys, errno);
    make_alike(file, place);
    int error = mishap_key_write(file, mishap_buffer_text(text));
    if (close(file) != 0 && !error)
        error = errno;
    if (!error && rename(place->fresh, place->keys) != 0)
        error = errno;
    if (!error) {
        mishap_key_keep_folder(place->folder);
        return NULL;
    }
    unlink(place->fresh);
    return unwritable(place->keys, error);
}

/* -- keys add ---------------------------------------------------------------------------------- */

/* The usual scopes are left out, as they are in files that are older than scopes. */
static void put_line(mishap_buffer *b, const char *name, const char *key, unsigned scopes)
{
    unsigned char hash[MISHAP_KEY_HASH];
    char digits[2 * MISHAP_KEY_HASH];
    mishap_key_hash(mishap_text_of(key), hash);
    mishap_buffer_put_text(b, mishap_text_of(name));
    MISHAP_PUT(b, " ");
    mishap_hex_write(digits, hash, sizeof hash);
    mishap_buffer_put(b, digits, sizeof digits);
    MISHAP_PUT(b, " ");
    mishap_clock_put_timestamp(b, mishap_clock_now_ms());
    if (scopes != MISHAP_SCOPES_USUAL) {
        MISHAP_PUT(b, " ");
        mishap_scopes_put(b, scopes);
    }
    MISHAP_PUT(b, "\n");
}

#define HEADING "# API keys: name, SHA-256 of the key, time of creation, scopes if not the usual.\n"

static mishap *already_exists(mishap_text name)
{
    mishap *m = mishap_tell(mishap_raise(ALREADY_EXISTS, "A key named %.*s already exists.",
                                         (int)name.length, name.data),
                            "name", name);
    return mishap_suggest(m, "Choose another name, or remove that key first.");
}

static mishap *add_line(const struct place *place, const char *name, const char *key,
                        unsigned scopes)
{
    mishap_key_file file = { 0 };
    mishap_buffer *text = &file.text;
    int lock = -1;
    mishap *failure = take_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->keys, &file);
    if (failure)
        goto done;
    if (mishap_key_file_find(&file, mishap_text_of(name)) ||
        (is_of_operator(name) && mishap_key_operator_stamp(place->folder).inode)) {
        failure = already_exists(mishap_text_of(name));
        goto done;
    }
    if (file.disabled.data) { /* it is not disabled any more */
        size_t at = (size_t)(file.disabled.data - text->data), length = file.disabled.length;
        memmove(text->data + at, text->data + at + length, text->length - at - length);
        text->length -= length;
    }
    /* The lines point into the text, which may move from now on: they must not be used any more. */
    if (text->length == 0)
        MISHAP_PUT(text, HEADING);
    else if (text->data[text->length - 1] != '\n')
        MISHAP_PUT(text, "\n");
    put_line(text, name, key, scopes);
    failure = replace_file(place, text);
done:
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *no_such_scope(mishap_call *call, mishap_text name)
{
    mishap_text near = mishap_scope_nearest(name);
    mishap *m = mishap_raise(ARG_ERROR,
                             "There is no scope `%.*s`. A scope is call, metrics or "
                             "operator.",
                             (int)mishap_utf8_cut(name, 40), name.data ? name.data : "");
    return near.data ? mishap_suggest(m, mishap_call_print(call, "Did you mean `%.*s`?",
                                                           (int)near.length, near.data))
                     : m;
}

/* Each --scope is a name, or several with commas between them. */
static mishap *read_scopes(mishap_call *call, unsigned *scopes)
{
    *scopes = mishap_count(call, "scope") ? 0 : MISHAP_SCOPES_USUAL;
    for (const mishap_call *item = mishap_first(call, "scope"); item; item = mishap_next(item)) {
        mishap_text list = mishap_text_of(mishap_string(item, "")), name;
        while (mishap_scopes_next(&list, &name)) {
            unsigned scope = mishap_scope_find(name);
            if (!scope)
                return no_such_scope(call, name);
            *scopes |= scope;
        }
    }
    return NULL;
}

static mishap *run_add(mishap_call *call)
{
    unsigned scopes;
    struct place place;
    char key[MISHAP_KEY_LENGTH + 1];
    const char *name = mishap_string(call, "name");
    mishap *failure = read_scopes(call, &scopes);
    if (!failure)
        failure = find_place(call, &place);
    if (failure)
        return failure;
    if (!mishap_key_make(key))
        return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    failure = make_folder(call, place.folder);
    if (!failure)
        failure = add_line(&place, name, key, scopes);
    if (failure)
        return tell_place(&place, failure);
    warn_of_readers(call, &place);
    mishap_answer_member(call, "name", name);
    mishap_answer_member(call, "key", (const char *)key);
    mishap_buffer words = { 0 };
    mishap_scopes_put(&words, scopes);
    mishap_buffer_put_char(&words, '\0');
    if (!words.failed)
        mishap_answer_member(call, "scopes", (const char *)words.data);
    mishap_buffer_release(&words);
    return mishap_answer_member(call, "note",
                                "Copy this key now: it is shown only once and is not stored.");
}

/* -- keys list --------------------------------------------------------------------------------- */

static void put_listed(mishap_buffer *json, const mishap_key_line *line)
{
    mishap_json_open(json, '{');
    MISHAP_JSON_TEXT_MEMBER(json, "name", line->name);
    MISHAP_JSON_TEXT_MEMBER(json, "created", line->created);
    MISHAP_JSON_KEY(json, "scopes");
    MISHAP_PUT(json, "\"");
    mishap_scopes_put(json, line->scopes);
    MISHAP_PUT(json, "\"");
    mishap_json_close(json, '}');
}

static mishap *run_list(mishap_call *call)
{
    struct place place;
    mishap_key_file file = { 0 };
    mishap_buffer json = { 0 };
    mishap *failure = find_place(call, &place);
    if (failure)
        return failure;
    failure = mishap_key_file_read(place.keys, &file);
    if (failure)
        goto done;
    warn_of_readers(call, &place);
    warn_of_none(call, &place);
    mishap_json_open(&json, '{');
    MISHAP_JSON_KEY(&json, "keys");
    mishap_json_open(&json, '[');
    mishap_key_line own;
    char created[MISHAP_KEY_CREATED + 1];
    bool has_own = mishap_key_operator_line(place.folder, &own, created);
    for (size_t i = 0; i < file.count; i++) {
        if (has_own && mishap_key_order(own.name, file.lines[i].name) <= 0) {
            put_listed(&json, &own);
            has_own = false;
        }
        put_listed(&json, &file.lines[i]);
    }
    if (has_own)
        put_listed(&json, &own);
    MISHAP_PUT(&json, "]}");
    mishap_buffer_put_char(&json, '\0');
    failure = json.failed ? mishap_out_of_memory() : mishap_answer(call, json.data);
done:
    mishap_buffer_release(&json);
    mishap_key_file_release(&file);
    return failure ? tell_place(&place, failure) : NULL;
}

/* -- keys remove ------------------------------------------------------------------------------- */

static mishap *no_such_key(const char *name)
{
    if (!name)
        name = "";
    mishap *m = mishap_raise(NOT_FOUND, "No key is named %s.", name);
    return mishap_suggest(mishap_tell(m, "name", name), "List the names with `keys list`.");
}

/* Everything but one line, comments included. */
static void put_without(mishap_buffer *b, const mishap_key_file *file, mishap_text line)
{
    size_t before = (size_t)(line.data - file->text.data), after = before + line.length;
    mishap_buffer_put(b, file->text.data, before);
    mishap_buffer_put(b, file->text.data + after, file->text.length - after);
}

static mishap *remove_line(const struct place *place, const char *name)
{
    mishap_key_file file;
    mishap_buffer text = { 0 };
    int lock = -1;
    /* First searched without the lock: if there is nothing to remove, nothing is created. */
    mishap *failure = mishap_key_file_read(place->keys, &file);
    if (!failure && !mishap_key_file_find(&file, mishap_text_of(name)))
        failure = no_such_key(name);
    mishap_key_file_release(&file);
    if (!failure)
        failure = take_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->keys, &file);
    if (failure)
        goto done;
    const mishap_key_line *line = mishap_key_file_find(&file, mishap_text_of(name));
    if (!line) {
        failure = no_such_key(name);
        goto done;
    }
    put_without(&text, &file, line->whole);
    failure = replace_file(place, &text);
done:
    mishap_buffer_release(&text);
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_remove(mishap_call *call)
{
    struct place place;
    const char *name = mishap_string(call, "name");
    mishap *failure = find_place(call, &place);
    if (failure)
        return failure;
    failure = remove_line(&place, name);
    if (failure && is_of_operator(name) && mishap_told(failure)->code == MISHAP_CODE_NOT_FOUND &&
        mishap_key_operator_remove(place.folder)) {
        mishap_free(failure);
        failure = NULL;
    }
    if (failure)
        return tell_place(&place, failure);
    warn_of_readers(call, &place);
    warn_of_none(call, &place);
    mishap_answer_member(call, "name", name);
    return mishap_answer_member(call, "removed", (bool)true);
}

/* -- keys disable ------------------------------------------------------------------------------ */

/* Write the line `disabled` into the file, unless it is there. */
static mishap *put_disabled(const struct place *place)
{
    mishap_key_file file = { 0 };
    int lock = -1;
    mishap *failure = take_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->keys, &file);
    if (failure || (file.disabled.data && !file.count))
        goto done;
    if (file.count) {
        failure = mishap_suggest(
            mishap_tell(mishap_raise(CONFLICT, "There are API keys."), "keys", file.count),
            "Remove them first, with `keys remove`.");
        goto done;
    }
    if (file.text.length && file.text.data[file.text.length - 1] != '\n')
        MISHAP_PUT(&file.text, "\n");
    MISHAP_PUT(&file.text, MISHAP_CALLER_DISABLED "\n");
    failure = replace_file(place, &file.text);
done:
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_disable(mishap_call *call)
{
    struct place place;
    mishap *failure = find_place(call, &place);
    if (failure)
        return failure;
    failure = make_folder(call, place.folder);
    if (!failure)
        failure = put_disabled(&place);
    if (failure)
        return tell_place(&place, failure);
    warn_of_readers(call, &place);
    return mishap_answer_member(call, "disabled", (bool)true);
}

/* -- the operations ---------------------------------------------------------------------------- */

#define NAME_PARAM                                                                                 \
    {                                                                                              \
        "name", MISHAP_STRING, .required = true, .pattern = MISHAP_KEY_NAME_PATTERN,               \
                               .looks = MISHAP_KEY_NAME_LOOKS, .placeholder = "NAME",              \
                               .help = "Name of the client that uses the key"                      \
    }
#define DATA_PARAM                                                                                 \
    {                                                                                              \
        "data", MISHAP_STRING, .file = true, .length = { 1, 4000 }, .placeholder = "DIR",          \
                               .help = "Data folder of the server"                                 \
    }

static const mishap_param scope_item = { "item", MISHAP_STRING, .length = { 1, 100 } };
static const mishap_param add_params[] = {
    NAME_PARAM,
    { "scope", MISHAP_ARRAY, .items = &scope_item, .length = { 1, 10 }, .placeholder = "SCOPE",
      .help = "call, metrics or operator; several with commas, or with several flags. By default "
              "call,metrics" },
    DATA_PARAM,
    { 0 },
};
static const mishap_param name_and_data[] = { NAME_PARAM, DATA_PARAM, { 0 } };
static const mishap_param data_alone[] = { DATA_PARAM, { 0 } };

static const mishap_param add_answers[] = {
    { "name", MISHAP_STRING, .required = true },
    { "key", MISHAP_STRING, .required = true,
      .help = "The key that a client sends; it is not shown again" },
    { "scopes", MISHAP_STRING, .required = true, .help = "What the key allows" },
    { "note", MISHAP_STRING, .required = true },
    { 0 },
};
static const mishap_param listed_members[] = {
    { "name", MISHAP_STRING, .required = true },
    { "created", MISHAP_STRING, .required = true, .help = "Time of creation, in UTC" },
    { "scopes", MISHAP_STRING, .required = true, .help = "What the key allows" },
    { 0 },
};
static const mishap_param listed = { "", MISHAP_OBJECT, .members = listed_members };
static const mishap_param list_answers[] = {
    { "keys", MISHAP_ARRAY, .required = true, .items = &listed, .help = "By name" },
    { 0 },
};
static const mishap_param remove_answers[] = {
    { "name", MISHAP_STRING, .required = true },
    { "removed", MISHAP_BOOLEAN, .required = true },
    { 0 },
};
static const mishap_param disable_answers[] = {
    { "disabled", MISHAP_BOOLEAN, .required = true },
    { 0 },
};

static const mishap_example add_examples[] = {
    { "keys add --name deploy", "Create a key for a deployment client" },
    { "keys add --name ci.nightly --data /var/lib/service",
      "Create a key for the server with that data folder" },
    { "keys add --name grafana --scope metrics", "Create a key that can only read /metrics" },
    { 0 },
};
static const mishap_example list_examples[] = {
    { "keys list", "List the names of all keys" },
    { 0 },
};
static const mishap_example remove_examples[] = {
    { "keys remove --name deploy", "Remove the key; the server then refuses it" },
    { 0 },
};
static const mishap_example disable_examples[] = {
    { "keys disable", "Let callers on this machine name themselves again" },
    { 0 },
};

const mishap_operation mishap_keys_add = {
    .name = "keys.add",
    .summary = "Create an API key",
    .description = "The key is shown once; the server stores only its hash. A client sends the key "
                   "as `Authorization: Bearer KEY` or `X-Api-Key: KEY`. The name of the key then "
                   "identifies the client, for example in the access log. A running server accepts "
                   "the key after one or two seconds.\n\nThe scope call is for operations, metrics "
                   "for /metrics, and operator for the private side of failures (/incidents).",
    .params = add_params,
    .run = run_add,
    .local = true,
    .raises = MISHAP_RAISES(ALREADY_EXISTS, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE,
                            OUTPUT_FAILED),
    .danger = MISHAP_MUTATING,
    .examples = add_examples,
    .group = "Server",
    .answers = add_answers,
};

const mishap_operation mishap_keys_list = {
    .name = "keys.list",
    .summary = "List the API keys",
    .description =
        "List the name, the time of creation and the scopes of each key. The keys themselves are "
        "not stored. `operator` is the key that `serve` has made, in the file operator.key.",
    .params = data_alone,
    .run = run_list,
    .local = true,
    .raises = MISHAP_RAISES(NOT_CONFIGURED, INPUT_UNREADABLE),
    .examples = list_examples,
    .group = "Server",
    .answers = list_answers,
};

const mishap_operation mishap_keys_remove = {
    .name = "keys.remove",
    .summary = "Remove an API key",
    .description =
        "A running server refuses the key after one or two seconds and ends its sessions and open "
        "streams. A removed key cannot be restored: a new key of the same name is a different key. "
        "When the last key is removed, callers still cannot name themselves: see `keys disable`. "
        "The key `operator` is made anew when a server starts.",
    .params = name_and_data,
    .run = run_remove,
    .local = true,
    .raises = MISHAP_RAISES(NOT_FOUND, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE, OUTPUT_FAILED),
    .danger = MISHAP_DESTRUCTIVE,
    .examples = remove_examples,
    .group = "Server",
    .answers = remove_answers,
};

const mishap_operation mishap_keys_disable = {
    .name = "keys.disable",
    .summary = "Say that API keys are not used any more",
    .description = "Once there was an API key, callers cannot name themselves any more, even if no "
                   "key is left: the file of keys may have been lost. This command says that it is "
                   "right that there is no key. It fails while there is one. A running server "
                   "follows after one or two seconds; `keys add` is the way back.",
    .params = data_alone,
    .run = run_disable,
    .local = true,
    .raises = MISHAP_RAISES(CONFLICT, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE, OUTPUT_FAILED),
    .danger = MISHAP_MUTATING,
    .examples = disable_examples,
    .group = "Server",
    .answers = disable_answers,
};
