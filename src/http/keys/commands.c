/* keys add, keys list, keys remove, keys disable: the API keys of a server, beside `serve`. */
#include <unistd.h>

#include "base/hex.h"
#include "http/keys/blocks.h"
#include "http/keys/in_cluster.h"
#include "http/keys/place.h"
#include "operation/call.h"

static void warn_of_readers(mishap_call *call, const mishap_key_place *place)
{
    char line[4400];
    if (mishap_key_file_advise(place->folder, place->file, place->named ? place->file : "keys",
                               line, sizeof line))
        mishap_warn(call, "%s", line);
}

/* Warn if no key is left and callers still cannot name themselves. */
static void warn_of_none(mishap_call *call, const mishap_key_place *place)
{
    if (mishap_caller_keys_of(place->folder) == MISHAP_CALLER_KEYS_GONE)
        mishap_warn(call, "%s",
                    "There is no API key. Callers that name themselves are refused all the same, "
                    "until `keys disable` allows it.");
}

static bool is_of_operator(const char *name)
{
    return strcmp(name, MISHAP_KEY_OPERATOR) == 0;
}

/* -- keys add ---------------------------------------------------------------------------------- */

/* A new key. */
struct added {
    const char *name, *key;
    unsigned scopes;
};

/* The usual scopes are left out, as they are in files that are older than scopes. */
static void put_line(mishap_buffer *b, const mishap_scope *declared, const struct added *added)
{
    unsigned char hash[MISHAP_KEY_HASH];
    char digits[2 * MISHAP_KEY_HASH];
    mishap_key_hash(mishap_text_of(added->key), hash);
    mishap_buffer_put_text(b, mishap_text_of(added->name));
    MISHAP_PUT(b, " ");
    mishap_hex_write(digits, hash, sizeof hash);
    mishap_buffer_put(b, digits, sizeof digits);
    MISHAP_PUT(b, " ");
    mishap_clock_put_timestamp(b, mishap_clock_now_ms());
    if (added->scopes != MISHAP_SCOPES_USUAL) {
        MISHAP_PUT(b, " ");
        mishap_scopes_put(b, declared, added->scopes, ',');
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

static mishap *add_line(const mishap_key_place *place, const mishap_scope *declared,
                        const struct added *added)
{
    const char *name = added->name;
    mishap_key_file file = { 0 };
    mishap_buffer *text = &file.text;
    int lock = -1;
    mishap *failure = mishap_key_place_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->file, declared, &file);
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
    put_line(text, declared, added);
    failure = mishap_key_place_replace(place, text);
done:
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *no_such_scope(mishap_call *call, mishap_text name)
{
    mishap_buffer known = { 0 };
    mishap_text near = mishap_scope_nearest(call->app->scopes, name);
    mishap_scopes_put(&known, call->app->scopes, MISHAP_SCOPES_ALL, ' ');
    mishap_text all = mishap_buffer_text(&known);
    mishap *m = known.failed
                    ? mishap_out_of_memory()
                    : mishap_raise(ARG_ERROR, "There is no scope `%.*s`. The scopes are: %.*s.",
                                   (int)mishap_utf8_cut(name, 40), name.data ? name.data : "",
                                   (int)all.length, all.data);
    mishap_buffer_release(&known);
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
            unsigned scope = mishap_scope_find(call->app->scopes, name);
            if (!scope)
                return no_such_scope(call, name);
            *scopes |= scope;
        }
    }
    return NULL;
}

static mishap *add_to_folder(mishap_call *call, const struct added *added)
{
    mishap_key_place place;
    mishap *failure = mishap_key_place_find(call, "keys", &place);
    if (failure)
        return failure;
    failure = mishap_key_place_make(call, &place);
    if (!failure)
        failure = add_line(&place, call->app->scopes, added);
    if (!failure)
        warn_of_readers(call, &place);
    return failure ? mishap_key_place_tell(&place, failure) : NULL;
}

static mishap *run_add(mishap_call *call)
{
    char key[MISHAP_KEY_LENGTH + 1];
    struct added added = { mishap_string(call, "name"), key, 0 };
    mishap *failure = read_scopes(call, &added.scopes);
    if (!failure && !mishap_key_make(key))
        failure = mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    if (!failure)
        failure = mishap_keys_are_in_cluster(call)
                      ? mishap_keys_cluster_add(call, added.name, key, added.scopes)
                      : add_to_folder(call, &added);
    if (failure)
        return failure;
    mishap_answer_member(call, "name", added.name);
    mishap_answer_member(call, "key", (const char *)key);
    mishap_buffer words = { 0 };
    mishap_scopes_put(&words, call->app->scopes, added.scopes, ',');
    mishap_buffer_put_char(&words, '\0');
    if (!words.failed)
        mishap_answer_member(call, "scopes", (const char *)words.data);
    mishap_buffer_release(&words);
    return mishap_answer_member(call, "note",
                                "Copy this key now: it is shown only once and is not stored.");
}

/* -- keys list --------------------------------------------------------------------------------- */

static void put_listed(mishap_buffer *json, const mishap_scope *declared,
                       const mishap_key_line *line)
{
    mishap_json_open(json, '{');
    MISHAP_JSON_TEXT_MEMBER(json, "name", line->name);
    MISHAP_JSON_TEXT_MEMBER(json, "created", line->created);
    MISHAP_JSON_KEY(json, "scopes");
    MISHAP_PUT(json, "\"");
    mishap_scopes_put(json, declared, line->scopes, ',');
    MISHAP_PUT(json, "\"");
    mishap_json_close(json, '}');
}

/* Callers that are blocked, if there are any: keys, and subjects of tokens. */
static mishap *put_blocked(mishap_call *call, const mishap_key_place *place, mishap_buffer *json)
{
    mishap_block_file file;
    mishap *failure = mishap_block_file_read(
        mishap_call_print(call, "%s/" MISHAP_BLOCKS_FILE, place->folder), &file);
    if (!failure && file.count) {
        MISHAP_JSON_KEY(json, "blocked");
        mishap_json_open(json, '[');
        for (size_t i = 0; i < file.count; i++) {
            mishap_json_open(json, '{');
            MISHAP_JSON_TEXT_MEMBER(json, "name", file.lines[i].name);
            MISHAP_JSON_TEXT_MEMBER(json, "since", file.lines[i].since);
            mishap_json_close(json, '}');
        }
        mishap_json_close(json, ']');
    }
    mishap_block_file_release(&file);
    return failure;
}

static mishap *run_list(mishap_call *call)
{
    mishap_key_place place = { 0 };
    mishap_key_file file = { 0 };
    mishap_buffer json = { 0 };
    bool in_cluster = mishap_keys_are_in_cluster(call);
    mishap *failure = in_cluster ? NULL : mishap_key_place_find(call, "keys", &place);
    if (failure)
        return failure;
    failure = in_cluster ? mishap_keys_cluster_read(call, &file)
                         : mishap_key_file_read(place.file, call->app->scopes, &file);
    if (failure)
        goto done;
    if (!in_cluster) {
        warn_of_readers(call, &place);
        warn_of_none(call, &place);
    }
    mishap_json_open(&json, '{');
    MISHAP_JSON_KEY(&json, "keys");
    mishap_json_open(&json, '[');
    mishap_key_line own;
    char created[MISHAP_KEY_CREATED + 1];
    bool has_own = !in_cluster && mishap_key_operator_line(place.folder, &own, created);
    for (size_t i = 0; i < file.count; i++) {
        if (has_own && mishap_key_order(own.name, file.lines[i].name) <= 0) {
            put_listed(&json, call->app->scopes, &own);
            has_own = false;
        }
        put_listed(&json, call->app->scopes, &file.lines[i]);
    }
    if (has_own)
        put_listed(&json, call->app->scopes, &own);
    MISHAP_PUT(&json, "]");
    failure = in_cluster ? mishap_keys_cluster_put_blocked(call, &json)
                         : put_blocked(call, &place, &json);
    if (failure)
        goto done;
    MISHAP_PUT(&json, "}");
    mishap_buffer_put_char(&json, '\0');
    failure = json.failed ? mishap_out_of_memory() : mishap_answer(call, json.data);
done:
    mishap_buffer_release(&json);
    mishap_key_file_release(&file);
    return failure ? mishap_key_place_tell(&place, failure) : NULL;
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

static mishap *remove_line(const mishap_key_place *place, const char *name)
{
    mishap_key_file file;
    mishap_buffer text = { 0 };
    int lock = -1;
    /* First searched without the lock: if there is nothing to remove, nothing is created. */
    mishap *failure = mishap_key_file_read(place->file, NULL, &file);
    if (!failure && !mishap_key_file_find(&file, mishap_text_of(name)))
        failure = no_such_key(name);
    mishap_key_file_release(&file);
    if (!failure)
        failure = mishap_key_place_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->file, NULL, &file);
    if (failure)
        goto done;
    const mishap_key_line *line = mishap_key_file_find(&file, mishap_text_of(name));
    if (!line) {
        failure = no_such_key(name);
        goto done;
    }
    put_without(&text, &file, line->whole);
    failure = mishap_key_place_replace(place, &text);
done:
    mishap_buffer_release(&text);
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_remove(mishap_call *call)
{
    mishap_key_place place;
    const char *name = mishap_string(call, "name");
    if (mishap_keys_are_in_cluster(call))
        return mishap_keys_cluster_remove(call);
    mishap *failure = mishap_key_place_find(call, "keys", &place);
    if (failure)
        return failure;
    failure = remove_line(&place, name);
    if (failure && is_of_operator(name) && mishap_told(failure)->code == MISHAP_CODE_NOT_FOUND &&
        mishap_key_operator_remove(place.folder)) {
        mishap_free(failure);
        failure = NULL;
    }
    if (failure)
        return mishap_key_place_tell(&place, failure);
    warn_of_readers(call, &place);
    warn_of_none(call, &place);
    mishap_answer_member(call, "name", name);
    return mishap_answer_member(call, "removed", (bool)true);
}

/* -- keys disable ------------------------------------------------------------------------------ */

/* Write the line `disabled` into the file, unless it is there. */
static mishap *put_disabled(const mishap_key_place *place)
{
    mishap_key_file file = { 0 };
    int lock = -1;
    mishap *failure = mishap_key_place_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->file, NULL, &file);
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
    failure = mishap_key_place_replace(place, &file.text);
done:
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_disable(mishap_call *call)
{
    mishap_key_place place;
    if (mishap_keys_are_in_cluster(call))
        return mishap_keys_cluster_disable(call);
    mishap *failure = mishap_key_place_find(call, "keys", &place);
    if (failure)
        return failure;
    failure = mishap_key_place_make(call, &place);
    if (!failure)
        failure = put_disabled(&place);
    if (failure)
        return mishap_key_place_tell(&place, failure);
    warn_of_readers(call, &place);
    return mishap_answer_member(call, "disabled", (bool)true);
}

/* -- the operations ---------------------------------------------------------------------------- */

static const mishap_param scope_item = { "item", MISHAP_STRING, .length = { 1, 100 } };
static const mishap_param add_params[] = {
    MISHAP_KEYS_NAME_PARAM,
    { "scope", MISHAP_ARRAY, .items = &scope_item, .length = { 1, 30 }, .placeholder = "SCOPE",
      .help = "call, metrics, operator or a scope of the program; several with commas, or with "
              "several flags. By default all but operator" },
    MISHAP_KEYS_DATA_PARAM,
    MISHAP_KEYS_CLUSTER_PARAM,
    { 0 },
};
static const mishap_param name_and_data[] = {
    MISHAP_KEYS_NAME_PARAM, MISHAP_KEYS_DATA_PARAM, MISHAP_KEYS_CLUSTER_PARAM, { 0 }
};
static const mishap_param data_alone[] = { MISHAP_KEYS_DATA_PARAM,
                                           MISHAP_KEYS_CLUSTER_PARAM,
                                           { 0 } };

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
static const mishap_param blocked_members[] = {
    { "name", MISHAP_STRING, .required = true },
    { "since", MISHAP_STRING, .required = true, .help = "Time of the block, in UTC" },
    { 0 },
};
static const mishap_param blocked = { "", MISHAP_OBJECT, .members = blocked_members };
static const mishap_param list_answers[] = {
    { "keys", MISHAP_ARRAY, .required = true, .items = &listed, .help = "By name" },
    { "blocked", MISHAP_ARRAY, .items = &blocked, .help = "Callers that are refused, by name" },
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
                   "for /metrics, and operator for the private side of failures (/incidents). "
                   "An operation may also need scopes of the program, beside call.",
    .params = add_params,
    .run = run_add,
    .local = true,
    .raises = MISHAP_RAISES(ALREADY_EXISTS, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE, OUTPUT_FAILED,
                            UNAVAILABLE, TIMEOUT),
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
    .raises = MISHAP_RAISES(NOT_CONFIGURED, INPUT_UNREADABLE, UNAVAILABLE),
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
    .raises = MISHAP_RAISES(NOT_FOUND, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE, OUTPUT_FAILED,
                            UNAVAILABLE, TIMEOUT),
    .danger = MISHAP_DESTRUCTIVE,
    .examples = remove_examples,
    .group = "Server",
    .answers = remove_answers,
};

const mishap_operation mishap_keys_disable = {
    .name = "keys.disable",
    .summary = "Confirm that no API keys are used, after the last one was removed",
    .description =
        "Once a data folder has had an API key, callers cannot name themselves any more, "
        "even if no key is left, because the file of keys may have been lost. This "
        "command confirms that there is no key on purpose: callers can name themselves "
        "again. It fails while a key exists. A running server accepts the change after "
        "one or two seconds. `keys add` undoes it.",
    .params = data_alone,
    .run = run_disable,
    .local = true,
    .raises = MISHAP_RAISES(CONFLICT, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE, OUTPUT_FAILED,
                            UNAVAILABLE, TIMEOUT),
    .danger = MISHAP_MUTATING,
    .examples = disable_examples,
    .group = "Server",
    .answers = disable_answers,
};
