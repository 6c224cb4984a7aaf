/* API keys in the database of a cluster; and `keys import`. */
#include "http/keys/in_cluster.h"

#include "base/hex.h"
#include "http/keys/blocks.h"
#include "operation/call.h"

enum { LONGEST_SCOPES = 2000 };

bool mishap_keys_are_in_cluster(mishap_call *call)
{
    return mishap_given(call, "cluster");
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool is_plain(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] <= ' ' || (unsigned char)text.data[i] >= 127)
            return false;
    return true;
}

/* A row may have been written by hand: a line feed in it must not make two lines. */
bool mishap_key_put_row(mishap_buffer *text, const mishap_cluster_key *row)
{
    char digits[2 * MISHAP_KEY_HASH];
    mishap_key_line line;
    size_t before = text->length;
    if (row->hash.length != MISHAP_KEY_HASH || row->created.length != MISHAP_KEY_CREATED ||
        row->scopes.length > LONGEST_SCOPES || !mishap_caller_is_name(row->name) ||
        !is_plain(row->created) || !is_plain(row->scopes))
        return false;
    mishap_hex_write(digits, (const unsigned char *)row->hash.data, MISHAP_KEY_HASH);
    mishap_buffer_put_text(text, row->name);
    MISHAP_PUT(text, " ");
    mishap_buffer_put(text, digits, sizeof digits);
    MISHAP_PUT(text, " ");
    mishap_buffer_put_text(text, row->created);
    if (row->scopes.length) {
        MISHAP_PUT(text, " ");
        mishap_buffer_put_text(text, row->scopes);
    }
    if (text->failed)
        return true; /* the caller finds out */
    if (!mishap_key_line_read((mishap_text){ text->data + before, text->length - before }, NULL,
                              &line)) {
        text->length = before;
        return false;
    }
    MISHAP_PUT(text, "\n");
    return true;
}

/* -- the connection ---------------------------------------------------------------------------- */

static mishap *open_cluster(mishap_call *call, mishap_cluster **cluster)
{
    *cluster = NULL;
    if (!call->app->cluster)
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "This program cannot use the keys of a cluster."),
            "Leave out --cluster; or set .cluster of its mishap_app, and link "
            "mishap-store.");
    return call->app->cluster->open(mishap_string(call, "cluster"), NULL, cluster);
}

static mishap *already_exists(mishap_text name)
{
    mishap *m = mishap_raise(ALREADY_EXISTS,
                             "A key named %.*s already exists, or the same key has "
                             "another name.",
                             (int)name.length, name.data);
    return mishap_suggest(mishap_tell(m, "name", name),
                          "Choose another name, or remove that key first.");
}

/* -- the commands ------------------------------------------------------------------------------ */

mishap *mishap_keys_cluster_add(mishap_call *call, const char *name, const char *key,
                                unsigned scopes)
{
    unsigned char hash[MISHAP_KEY_HASH];
    mishap_buffer words = { 0 };
    mishap_cluster *cluster;
    size_t taken = 1;
    mishap_key_hash(mishap_text_of(key), hash);
    if (scopes != MISHAP_SCOPES_USUAL)
        mishap_scopes_put(&words, call->app->scopes, scopes, ',');
    const mishap_cluster_key row = { .name = mishap_text_of(name),
                                     .hash = { (const char *)hash, sizeof hash },
                                     .scopes = words.length ? mishap_buffer_text(&words)
                                                            : (mishap_text)MISHAP_TEXT("") };
    mishap *failure = words.failed ? mishap_out_of_memory() : open_cluster(call, &cluster);
    if (!failure) {
        failure = call->app->cluster->add(cluster, &row, 1, false, &taken);
        call->app->cluster->close(cluster);
    }
    mishap_buffer_release(&words);
    return failure || taken == 1 ? failure : already_exists(row.name);
}

mishap *mishap_keys_cluster_remove(mishap_call *call)
{
    const char *name = mishap_string(call, "name");
    mishap_cluster *cluster;
    bool removed = false;
    mishap *failure = open_cluster(call, &cluster);
    if (failure)
        return failure;
    failure = call->app->cluster->remove(cluster, mishap_text_of(name), &removed);
    call->app->cluster->close(cluster);
    if (failure)
        return failure;
    mishap_answer_member(call, "name", name);
    if (removed)
        return mishap_answer_member(call, "removed", (bool)true);
    mishap *m = mishap_raise(NOT_FOUND, "No key of the cluster is named %s.", name);
    return mishap_suggest(mishap_tell(m, "name", name), "List the names with `keys list`.");
}

mishap *mishap_keys_cluster_disable(mishap_call *call)
{
    mishap_cluster *cluster;
    bool disabled = false;
    mishap *failure = open_cluster(call, &cluster);
    if (failure)
        return failure;
    failure = call->app->cluster->disable(cluster, &disabled);
    call->app->cluster->close(cluster);
    if (failure || disabled)
        return failure ? failure : mishap_answer_member(call, "disabled", (bool)true);
    return mishap_suggest(mishap_raise(CONFLICT, "There are API keys."),
                          "Remove them first, with `keys remove`.");
}

/* -- blocked callers --------------------------------------------------------------------------- */

mishap *mishap_keys_cluster_block(mishap_call *call, bool blocked, bool *done)
{
    mishap_cluster *cluster;
    mishap *failure = open_cluster(call, &cluster);
    if (failure)
        return failure;
    const mishap_cluster_engine *engine = call->app->cluster;
    failure = (blocked ? engine->block : engine->unblock)(
        cluster, mishap_text_of(mishap_string(call, "name")), done);
    engine->close(cluster);
    return failure;
}

static void put_block(void *context, mishap_text name, mishap_text since)
{
    mishap_buffer *json = context;
    if (!mishap_blocked_is_name(name))
        return;
    mishap_json_open(json, '{');
    MISHAP_JSON_TEXT_MEMBER(json, "name", name);
    MISHAP_JSON_TEXT_MEMBER(json, "since", since);
    mishap_json_close(json, '}');
}

mishap *mishap_keys_cluster_put_blocked(mishap_call *call, mishap_buffer *json)
{
    mishap_cluster *cluster;
    mishap_buffer items = { 0 };
    mishap *failure = open_cluster(call, &cluster);
    if (failure)
        return failure;
    failure = call->app->cluster->blocks(cluster, put_block, &items);
    call->app->cluster->close(cluster);
    if (!failure && items.length) {
        MISHAP_JSON_KEY(json, "blocked");
        mishap_json_open(json, '[');
        mishap_buffer_put_text(json, mishap_buffer_text(&items));
        mishap_json_close(json, ']');
    }
    json->failed = json->failed || items.failed;
    mishap_buffer_release(&items);
    return failure;
}

/* -- reading ----------------------------------------------------------------------------------- */

struct gathered {
    mishap_buffer text;
    size_t odd;
};

static void hear_key(void *context, const mishap_cluster_key *key)
{
    struct gathered *gathered = context;
    gathered->odd += !mishap_key_put_row(&gathered->text, key);
}

mishap *mishap_keys_cluster_read(mishap_call *call, mishap_key_file *file)
{
    struct gathered gathered = { 0 };
    mishap_cluster *cluster;
    *file = (mishap_key_file){ 0 };
    mishap *failure = open_cluster(call, &cluster);
    if (failure)
        return failure;
    failure = call->app->cluster->keys(cluster, hear_key, &gathered);
    call->app->cluster->close(cluster);
    file->text = gathered.text;
    if (!failure && file->text.failed)
        failure = mishap_out_of_memory();
    if (failure)
        return failure;
    if (gathered.odd)
        mishap_warn(call, "%zu rows of the table `keys` are no keys, and no server accepts them.",
                    gathered.odd);
    return mishap_key_file_parse("keys", call->app->scopes, file);
}

/* -- keys import ------------------------------------------------------------------------------- */

/* The scopes of a line, which may name some that this program does not declare. */
static mishap_text scopes_of(const mishap_key_line *line)
{
    mishap_text all = line->whole;
    while (all.length && (all.data[all.length - 1] == '\n' || all.data[all.length - 1] == '\r'))
        all.length--;
    const char *behind = line->created.data + line->created.length;
    if (behind < all.data + all.length)
        return (mishap_text){ behind + 1, (size_t)(all.data + all.length - behind - 1) };
    return (mishap_text)MISHAP_TEXT("");
}

static mishap *import_file(mishap_call *call, const mishap_key_file *file)
{
    mishap_cluster *cluster;
    size_t taken = file->count;
    mishap_cluster_key *rows = mishap_call_take(call, (file->count + 1) * sizeof *rows);
    for (size_t i = 0; i < file->count; i++)
        rows[i] = (mishap_cluster_key){ .name = file->lines[i].name,
                                        .hash = { (const char *)file->lines[i].hash,
                                                  MISHAP_KEY_HASH },
                                        .created = file->lines[i].created,
                                        .scopes = scopes_of(&file->lines[i]) };
    mishap *failure = open_cluster(call, &cluster);
    if (!failure) {
        failure = call->app->cluster->add(cluster, rows, file->count, true, &taken);
        call->app->cluster->close(cluster);
    }
    return failure || taken == file->count ? failure : already_exists(rows[taken].name);
}

static mishap *run_import(mishap_call *call)
{
    const char *path = mishap_string(call, "file");
    mishap_key_file file;
    mishap *failure = mishap_key_file_read(path, call->app->scopes, &file);
    if (!failure && !file.is_there)
        failure = mishap_suggest(mishap_raise(NOT_FOUND, "There is no such file of keys."),
                                 "Give --file the path of the file `keys` in a data folder.");
    if (!failure)
        failure = import_file(call, &file);
    size_t count = file.count;
    mishap_key_file_release(&file);
    return failure ? mishap_tell(failure, "file", path)
                   : mishap_answer_member(call, "imported", (int64_t)count);
}

static const mishap_param params[] = {
    { "file", MISHAP_STRING, .required = true, .file = true, .length = { 1, 4000 },
      .placeholder = "FILE", .help = "The file `keys` of a data folder" },
    { "cluster", MISHAP_STRING, .required = true, .length = { 1, 4000 }, .placeholder = "URL",
      .help = "The cluster that gets them: postgresql://USER@HOST/DATABASE, or @FILE with that in "
              "it" },
    { 0 },
};
static const mishap_param answers[] = {
    { "imported", MISHAP_INTEGER, .required = true, .help = "How many keys the file has" },
    { 0 },
};
static const mishap_example examples[] = {
    { "keys import --file /var/lib/service/keys --cluster @/etc/service/cluster",
      "Move the keys of a server to a cluster" },
    { 0 },
};

const mishap_operation mishap_keys_import = {
    .name = "keys.import",
    .summary = "Add the keys of a file to a cluster",
    .description = "All keys of the file are added, or none: a name or a key that exists already "
                   "is a failure, unless both belong together. So the command can be repeated. The "
                   "file stays as it is, and servers with --cluster ignore it. All servers of the "
                   "cluster accept the keys after one or two seconds.",
    .params = params,
    .run = run_import,
    .local = true,
    .raises = MISHAP_RAISES(NOT_FOUND, ALREADY_EXISTS, UNAVAILABLE, TIMEOUT, NOT_CONFIGURED,
                            INPUT_UNREADABLE),
    .danger = MISHAP_MUTATING,
    .examples = examples,
    .group = "Server",
    .answers = answers,
};
