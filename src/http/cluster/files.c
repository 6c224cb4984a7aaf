/*
 * What was read of the database, as files: DATA/cluster/keys, DATA/cluster/blocked and
 * DATA/cluster/mcp-sessions, in the forms that the server has without a cluster (http/keys/file.h,
 * http/keys/blocks.h, mcp/sessions/lasting.c). A file is
 * replaced as a whole. Rows may have been written by hand: one that is no key is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hex.h"
#include "http/cluster/inside.h"
#include "http/keys/blocks.h"
#include "http/keys/file.h"
#include "http/keys/in_cluster.h"
#include "operation/caller.h"

static mishap *unwritable(const char *path, int error)
{
    return mishap_key_blame(
        mishap_raise(OUTPUT_FAILED, "Cannot write what the servers of the cluster share to the "
                                    "data folder."),
        error, path);
}

static bool put_path(char path[CLUSTER_PATH], const char *name)
{
    return (size_t)snprintf(path, CLUSTER_PATH, "%s/%s", mishap_cluster_own.folder, name) <
           CLUSTER_PATH;
}

/* A reader has the old contents or the new ones. */
static mishap *replace_file(const char *name, mishap_text text)
{
    char path[CLUSTER_PATH], fresh[CLUSTER_PATH];
    if (!put_path(path, name) || !put_path(fresh, ".fresh-XXXXXX"))
        return unwritable(name, ENAMETOOLONG);
    int file = mkostemp(fresh, O_CLOEXEC); /* with mode 0600 */
    if (file < 0)
        return unwritable(path, errno);
    mishap_key_give_to_owner(file, mishap_cluster_own.folder);
    int error = mishap_key_write(file, text);
    if (close(file) != 0 && !error)
        error = errno;
    if (!error && rename(fresh, path) != 0)
        error = errno;
    if (error)
        unlink(fresh);
    return error ? unwritable(path, error) : NULL;
}

/* -- the secret of MCP sessions ---------------------------------------------------------------- */

static bool has_secret(const unsigned char secret[MISHAP_CLUSTER_SECRET])
{
    char path[CLUSTER_PATH];
    unsigned char found[MISHAP_CLUSTER_SECRET];
    int file = put_path(path, "mcp-sessions") ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    ssize_t count = file < 0 ? -1 : read(file, found, sizeof found);
    if (file >= 0)
        close(file);
    return count == (ssize_t)sizeof found && memcmp(found, secret, sizeof found) == 0;
}

/* The file also has the sessions that were ended here: with the same secret it stays as it is. */
mishap *mishap_cluster_write_secret(mishap_cluster *cluster)
{
    unsigned char secret[MISHAP_CLUSTER_SECRET];
    char folder[CLUSTER_PATH];
    memcpy(folder, mishap_cluster_own.folder, sizeof folder);
    if (!mishap_system_make_folder(folder))
        return unwritable(mishap_cluster_own.folder, errno);
    mishap *failure = mishap_cluster_own.plan.engine->secret(cluster, secret);
    if (!failure && !has_secret(secret))
        failure = replace_file("mcp-sessions",
                               (mishap_text){ (const char *)secret, sizeof secret });
    explicit_bzero(secret, sizeof secret);
    return failure;
}

/* -- keys -------------------------------------------------------------------------------------- */

struct gathered {
    mishap_buffer text;
    size_t count, odd;
};

static void hear_key(void *context, const mishap_cluster_key *key)
{
    struct gathered *gathered = context;
    if (mishap_key_put_row(&gathered->text, key))
        gathered->count++;
    else
        gathered->odd++;
}

/* Rows are read again and again: they are written only if they have changed, or if the file was
 * removed. `written` is what the file has. */
static mishap *write_changed(const char *name, mishap_buffer *text, mishap_buffer *written)
{
    char path[CLUSTER_PATH];
    if (text->failed)
        return mishap_out_of_memory();
    if (mishap_text_equal(mishap_buffer_text(text), mishap_buffer_text(written)) &&
        put_path(path, name) && access(path, F_OK) == 0)
        return NULL;
    mishap *failure = replace_file(name, mishap_buffer_text(text));
    mishap_buffer_release(written);
    if (!failure) {
        *written = *text;
        *text = (mishap_buffer){ 0 };
    }
    return failure;
}

/* Without any key the file says why: keys are disabled, or there were some (operation/caller.h), or
 * there is no file, because there never was one. */
static mishap *write_all(struct gathered *gathered, const mishap_cluster_state *state)
{
    static mishap_buffer written;
    char path[CLUSTER_PATH];
    if (!gathered->count && !state->used && !gathered->odd) {
        static const char *const names[] = { "keys", "keys.lock" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (put_path(path, names[i]) && unlink(path) != 0 && errno != ENOENT)
                return unwritable(path, errno);
        if (!state->disabled)
            return NULL;
    }
    if (!gathered->count && state->disabled)
        MISHAP_PUT(&gathered->text, MISHAP_CALLER_DISABLED "\n");
    return write_changed("keys", &gathered->text, &written);
}

/* -- blocked callers --------------------------------------------------------------------------- */

static void hear_block(void *context, mishap_text name, mishap_text since)
{
    struct gathered *gathered = context;
    if (!mishap_block_put_line(&gathered->text, name, since))
        gathered->odd++;
}

/* They are written before the keys of the same version are confirmed. */
static mishap *write_blocks(mishap_cluster *cluster, size_t *odd)
{
    static mishap_buffer written;
    struct gathered gathered = { 0 };
    MISHAP_PUT(&gathered.text, "# The blocked callers of the cluster. Changes of this file have no "
                               "effect: use `keys block` with --cluster.\n");
    mishap *failure = mishap_cluster_own.plan.engine->blocks(cluster, hear_block, &gathered);
    if (!failure)
        failure = write_changed(MISHAP_BLOCKS_FILE, &gathered.text, &written);
    mishap_buffer_release(&gathered.text);
    *odd += gathered.odd;
    return failure;
}

mishap *mishap_cluster_write_keys(mishap_cluster *cluster, int64_t *version, size_t *odd)
{
    const mishap_cluster_engine *engine = mishap_cluster_own.plan.engine;
    struct gathered gathered = { 0 };
    mishap_cluster_state state;
    *odd = 0;
    mishap *failure = engine->state(cluster, &state); /* before the rows, which may be newer */
    if (failure || (*version >= 0 && state.version == *version)) /* negative: nothing was read */
        return failure;
    MISHAP_PUT(&gathered.text, "# The keys of the cluster, as they were read last. Changes of this "
                               "file have no effect: use `keys` with --cluster.\n");
    failure = engine->keys(cluster, hear_key, &gathered);
    if (!failure)
        failure = write_all(&gathered, &state);
    *odd = gathered.odd;
    if (!failure)
        failure = write_blocks(cluster, odd);
    if (!failure)
        *version = state.version;
    mishap_buffer_release(&gathered.text);
    return failure;
}
