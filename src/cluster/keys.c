/* API keys, and the secret of MCP sessions. */
#include <string.h>

#include "base/system.h"
#include "cluster/inside.h"

/* The rows that the schema begins with are missing, or have been changed by hand. */
static mishap *is_damaged(const char *what)
{
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED, "The schema `mishap` of the cluster %s.", what),
        "Restore the schema from a backup. Or drop it, start a server, which "
        "makes a new one, and add the keys again.");
}

mishap *mishap_cluster_read_state(mishap_cluster *cluster, mishap_cluster_state *state)
{
    mishap_query query;
    bool is_there = false;
    mishap_query_begin(&query, cluster->store, CLUSTER_STATE);
    while (mishap_query_step(&query)) {
        *state = (mishap_cluster_state){ mishap_query_integer(&query, 0),
                                         mishap_query_boolean(&query, 1),
                                         mishap_query_boolean(&query, 2) };
        is_there = true;
    }
    mishap *failure = mishap_query_end(&query);
    return failure || is_there ? failure : is_damaged("has no row `state`");
}

mishap *mishap_cluster_read_keys(mishap_cluster *cluster,
                                 void (*hear)(void *context, const mishap_cluster_key *key),
                                 void *context)
{
    mishap_query query;
    int64_t count = 0;
    mishap_query_begin(&query, cluster->store, CLUSTER_KEYS);
    mishap_query_bind_integer(&query, 1, MISHAP_CLUSTER_KEYS + 1);
    while (mishap_query_step(&query)) {
        mishap_cluster_key key = { .name = mishap_query_text(&query, 0),
                                   .hash = mishap_query_blob(&query, 1),
                                   .created = mishap_query_text(&query, 2),
                                   .scopes = mishap_query_text(&query, 3) };
        if (++count <= MISHAP_CLUSTER_KEYS)
            hear(context, &key);
    }
    mishap *failure = mishap_query_end(&query);
    return failure || count <= MISHAP_CLUSTER_KEYS ? failure : is_damaged("has too many keys");
}

/* -- changes ----------------------------------------------------------------------------------- */

/* True if the statement has had a row. */
static mishap *run_change(mishap_query *query, bool *done)
{
    *done = false;
    while (mishap_query_step(query))
        *done = true;
    return mishap_query_end(query);
}

static mishap *add_one(mishap_store *store, const mishap_cluster_key *key, bool *added)
{
    mishap_query query;
    mishap_query_begin(&query, store, CLUSTER_KEY_ADD);
    mishap_query_bind_text(&query, 1, key->name);
    mishap_query_bind_blob(&query, 2, key->hash);
    mishap_query_bind_text(&query, 3, key->created);
    mishap_query_bind_text(&query, 4, key->scopes);
    return run_change(&query, added);
}

static mishap *is_known(mishap_store *store, const mishap_cluster_key *key, bool *known)
{
    mishap_query query;
    mishap_query_begin(&query, store, CLUSTER_KEY_IS);
    mishap_query_bind_text(&query, 1, key->name);
    mishap_query_bind_blob(&query, 2, key->hash);
    mishap_query_bind_text(&query, 3, key->scopes);
    return run_change(&query, known);
}

struct adding {
    const mishap_cluster_key *keys;
    size_t count, taken;
    bool again;
};

/* A key that exists is rolled back with the ones before it: CONFLICT is not seen outside. */
static mishap *add_all(mishap_store *store, void *state)
{
    struct adding *adding = state;
    mishap *failure = NULL;
    adding->taken = adding->count;
    for (size_t i = 0; i < adding->count && !failure && adding->taken == adding->count; i++) {
        bool fine = false;
        failure = add_one(store, &adding->keys[i], &fine);
        if (!failure && !fine && adding->again)
            failure = is_known(store, &adding->keys[i], &fine);
        if (!failure && !fine)
            adding->taken = i;
    }
    if (!failure && adding->taken < adding->count)
        failure = mishap_raise(CONFLICT, "A key exists already.");
    return failure;
}

mishap *mishap_cluster_add_keys(mishap_cluster *cluster, const mishap_cluster_key *keys,
                                size_t count, bool again, size_t *taken)
{
    struct adding adding = { .keys = keys, .count = count, .again = again };
    mishap *failure = mishap_store_transact(
        cluster->store, &(mishap_transaction){ .work = add_all, .state = &adding });
    *taken = adding.taken;
    if (failure && adding.taken < count && mishap_told(failure)->code == MISHAP_CODE_CONFLICT) {
        mishap_free(failure);
        return NULL;
    }
    *taken = count;
    return failure;
}

mishap *mishap_cluster_remove_key(mishap_cluster *cluster, mishap_text name, bool *removed)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_KEY_REMOVE);
    mishap_query_bind_text(&query, 1, name);
    return run_change(&query, removed);
}

mishap *mishap_cluster_disable_keys(mishap_cluster *cluster, bool *disabled)
{
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_KEYS_DISABLE);
    return run_change(&query, disabled);
}

/* -- the secret -------------------------------------------------------------------------------- */

static mishap *find_secret(mishap_cluster *cluster, unsigned char secret[MISHAP_CLUSTER_SECRET],
                           bool *found)
{
    mishap_query query;
    bool fits = true;
    *found = false;
    mishap_query_begin(&query, cluster->store, CLUSTER_SECRET);
    while (mishap_query_step(&query)) {
        mishap_text bytes = mishap_query_blob(&query, 0);
        *found = true;
        fits = bytes.length == MISHAP_CLUSTER_SECRET;
        if (fits)
            memcpy(secret, bytes.data, bytes.length);
    }
    mishap *failure = mishap_query_end(&query);
    return failure || fits ? failure : is_damaged("has a secret of another length");
}

/* The first server makes it. Of two at once one is first, and both use what is stored then. */
mishap *mishap_cluster_read_secret(mishap_cluster *cluster,
                                   unsigned char secret[MISHAP_CLUSTER_SECRET])
{
    unsigned char fresh[MISHAP_CLUSTER_SECRET];
    bool found;
    mishap *failure = find_secret(cluster, secret, &found);
    if (failure || found)
        return failure;
    if (!mishap_system_random(fresh, sizeof fresh))
        return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    mishap_query query;
    mishap_query_begin(&query, cluster->store, CLUSTER_SECRET_ADD);
    mishap_query_bind_blob(&query, 1, (mishap_text){ (const char *)fresh, sizeof fresh });
    failure = run_change(&query, &found);
    explicit_bzero(fresh, sizeof fresh);
    if (!failure)
        failure = find_secret(cluster, secret, &found);
    return failure || found ? failure : is_damaged("has no secret");
}
