/*
 * API keys that are in the database of a cluster (src/cluster): the commands for them, which take
 * the same flags with --cluster ADDRESS, and rows as lines of the file (file.h).
 */
#ifndef MISHAP_HTTP_KEYS_IN_CLUSTER_H
#define MISHAP_HTTP_KEYS_IN_CLUSTER_H

#include "cluster/cluster.h"
#include "http/keys/file.h"

/* The flags of these commands. */
/* clang-format off */
#define MISHAP_KEYS_NAME_PARAM                                                                                 \
    {                                                                                              \
        "name", MISHAP_STRING, .required = true, .pattern = MISHAP_KEY_NAME_PATTERN,               \
                               .looks = MISHAP_KEY_NAME_LOOKS, .placeholder = "NAME",              \
                               .help = "Name of the client that uses the key"                      \
    }
#define MISHAP_KEYS_DATA_PARAM                                                                                 \
    {                                                                                              \
        "data", MISHAP_STRING, .file = true, .length = { 1, 4000 }, .placeholder = "DIR",          \
                               .help = "Data folder of the server"                                 \
    }
#define MISHAP_KEYS_CLUSTER_PARAM                                                                  \
    { "cluster", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "URL",                       \
      .help = "The keys are those of a cluster: postgresql://USER@HOST/DATABASE, or @FILE with "   \
              "that in it" }
/* clang-format on */

/* True if a command was given --cluster. */
bool mishap_keys_are_in_cluster(mishap_call *call);

/* Append a row as a line of the file. False: the row is no key, and nothing was appended. */
bool mishap_key_put_row(mishap_buffer *text, const mishap_cluster_key *row);

/* The change of `keys add`; and `keys remove` and `keys disable`, with their answers. */
mishap *mishap_keys_cluster_add(mishap_call *call, const char *name, const char *key,
                                unsigned scopes);
mishap *mishap_keys_cluster_remove(mishap_call *call);
mishap *mishap_keys_cluster_disable(mishap_call *call);

/* The change of `keys block` and `keys unblock`. *done false: it was so already. The second writes
 * the member `blocked`, if there are blocked callers. */
mishap *mishap_keys_cluster_block(mishap_call *call, bool blocked, bool *done);
mishap *mishap_keys_cluster_put_blocked(mishap_call *call, mishap_buffer *json);

/* The sound ones, as a file is read. Release it in any case. The caller of the command is warned if
 * there are others. */
mishap *mishap_keys_cluster_read(mishap_call *call, mishap_key_file *file);

#endif
