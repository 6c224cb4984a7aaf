/*
 * bindings/node/src: the addon of the npm package, on Node-API 8 and on mishap/bind.h.
 *
 *     taken.c   texts and values of JavaScript as those of the library
 *     build.c   a mishap from the arguments of a call
 *     addon.c   the functions that lib/native.cjs calls, and the tables that it reads at its start
 *
 * The addon keeps no state of its own, so it can be loaded by any number of worker threads. The
 * JavaScript beside it checks arguments; a call with wrong ones makes no error here, its parts are
 * left out.
 */
#ifndef MISHAP_NODE_TAKEN_H
#define MISHAP_NODE_TAKEN_H

#define NAPI_VERSION 8
#include <node_api.h>

#include "mishap/bind.h"

/* The bytes of one text at a time. */
typedef struct node_room {
    char *data; /* `own`, or memory of the heap */
    size_t size;
    char own[1024];
} node_room;

void node_room_init(node_room *room);
void node_room_release(node_room *room);

/*
 * The text of a string, or the bytes of a typed array or a Buffer. Half of a surrogate pair becomes
 * U+FFFD. It lives until the room is used again. Text without data: it is something else, or there
 * is no memory.
 */
mishap_text node_take_text(napi_env env, napi_value value, node_room *room);

/* A string, number, boolean, null or bigint. Anything else has the kind NONE. */
mishap_value node_take_value(napi_env env, napi_value value, node_room *room);

/* A number as int; `otherwise` if it is none. */
int32_t node_take_int(napi_env env, napi_value value, int32_t otherwise);
bool node_take_bool(napi_env env, napi_value value);

/* The code at a place of the catalog, and how many there are; NULL: there is none at this place. */
const mishap_code *node_code_at(int32_t place);
size_t node_code_count(void);

/* A string of JavaScript; NULL if it is too long for one. */
napi_value node_give_text(napi_env env, mishap_text text);

/* A list of texts, such as what a caller sent. They own their bytes. */
typedef struct node_texts {
    mishap_text *list;
    size_t count;
} node_texts;

node_texts node_take_texts(napi_env env, napi_value array);
void node_texts_release(node_texts *texts);

/*
 * Make a mishap of a code, which is its place in the catalog, a message and a list of parts. The
 * caller owns it.
 *
 * node_build_pairs() takes key, value, key, value … as arguments: the parts that most mishaps have.
 * node_build_parts() takes an array of any parts, each of them a number of node_part and what
 * belongs to it.
 */
typedef enum node_part {
    NODE_TELL,        /* key, value */
    NODE_TELL_JSON,   /* key, JSON */
    NODE_SUGGESTION,  /* text */
    NODE_DOCS,        /* text */
    NODE_REASON,      /* text */
    NODE_RETRYABLE,   /* boolean */
    NODE_RETRY_AFTER, /* milliseconds */
    NODE_INCIDENT,    /* text */
    NODE_CATEGORY,    /* number */
    NODE_FIELD,       /* path, error, sentence */
    NODE_OF_FIELD,    /* 0 to 3: expected, actual, min, max; value */
    NODE_OF_FIELD_JSON,
} node_part;

mishap *node_build_pairs(napi_env env, int32_t code, napi_value message, const napi_value *pairs,
                         size_t count);
mishap *node_build_parts(napi_env env, int32_t code, napi_value message, napi_value parts);

#endif
