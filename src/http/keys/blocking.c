/* keys block, keys unblock: callers that a server refuses with any key or token. */
#include <unistd.h>

#include "http/keys/blocks.h"
#include "http/keys/in_cluster.h"
#include "http/keys/place.h"
#include "operation/call.h"

#define HEADING "# Blocked callers: name, and when it was blocked.\n"

/* -- keys block -------------------------------------------------------------------------------- */

static mishap *already(const char *name)
{
    if (!name)
        name = "";
    return mishap_tell(mishap_raise(ALREADY_EXISTS, "The caller %s is blocked already.", name),
                       "name", name);
}

static mishap *add_line(const mishap_key_place *place, const char *name)
{
    mishap_block_file file = { 0 };
    mishap_buffer *text = &file.text;
    int lock = -1;
    mishap *failure = mishap_key_place_lock(place, &lock);
    if (!failure)
        failure = mishap_block_file_read(place->file, &file);
    if (!failure && mishap_block_file_find(&file, mishap_text_of(name)))
        failure = already(name);
    if (failure)
        goto done;
    /* The lines point into the text, which may move: they must not be used any more. */
    if (text->length == 0)
        MISHAP_PUT(text, HEADING);
    else if (text->data[text->length - 1] != '\n')
        MISHAP_PUT(text, "\n");
    mishap_buffer_put_text(text, mishap_text_of(name));
    MISHAP_PUT(text, " ");
    mishap_clock_put_timestamp(text, mishap_clock_now_ms());
    MISHAP_PUT(text, "\n");
    failure = mishap_key_place_replace(place, text);
done:
    mishap_block_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *answer(mishap_call *call, const char *name, bool blocked)
{
    mishap_answer_member(call, "name", name);
    return mishap_answer_member(call, "blocked", blocked);
}

static mishap *run_block(mishap_call *call)
{
    mishap_key_place place;
    const char *name = mishap_string(call, "name");
    if (mishap_keys_are_in_cluster(call)) {
        bool done = false;
        MISHAP_TRY(mishap_keys_cluster_block(call, true, &done));
        return done ? answer(call, name, true) : already(name);
    }
    mishap *failure = mishap_key_place_find(call, MISHAP_BLOCKS_FILE, &place);
    if (failure)
        return failure;
    failure = mishap_key_place_make(call, &place);
    if (!failure)
        failure = add_line(&place, name);
    if (failure)
        return mishap_key_place_tell(&place, failure);
    return answer(call, name, true);
}

/* -- keys unblock ------------------------------------------------------------------------------ */

static mishap *is_not_blocked(const char *name)
{
    if (!name)
        name = "";
    mishap *m = mishap_raise(NOT_FOUND, "The caller %s is not blocked.", name);
    return mishap_suggest(mishap_tell(m, "name", name), "List blocked callers with `keys list`.");
}

static mishap *remove_line(const mishap_key_place *place, const char *name)
{
    mishap_block_file file = { 0 };
    mishap_buffer rest = { 0 };
    int lock = -1;
    mishap *failure = mishap_key_place_lock(place, &lock);
    if (!failure)
        failure = mishap_block_file_read(place->file, &file);
    const struct mishap_blocked *line = failure
                                            ? NULL
                                            : mishap_block_file_find(&file, mishap_text_of(name));
    if (!failure && !line)
        failure = is_not_blocked(name);
    if (failure)
        goto done;
    size_t before = (size_t)(line->whole.data - file.text.data);
    size_t after = before + line->whole.length;
    mishap_buffer_put(&rest, file.text.data, before);
    mishap_buffer_put(&rest, file.text.data + after, file.text.length - after);
    failure = mishap_key_place_replace(place, &rest);
done:
    mishap_buffer_release(&rest);
    mishap_block_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_unblock(mishap_call *call)
{
    mishap_key_place place;
    const char *name = mishap_string(call, "name");
    if (mishap_keys_are_in_cluster(call)) {
        bool done = false;
        MISHAP_TRY(mishap_keys_cluster_block(call, false, &done));
        return done ? answer(call, name, false) : is_not_blocked(name);
    }
    mishap *failure = mishap_key_place_find(call, MISHAP_BLOCKS_FILE, &place);
    if (!failure)
        failure = mishap_key_place_make(call, &place);
    if (!failure)
        failure = remove_line(&place, name);
    if (failure)
        return mishap_key_place_tell(&place, failure);
    return answer(call, name, false);
}

/* -- the operations ---------------------------------------------------------------------------- */

static const mishap_param params[] = {
    { "name", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 63 },
      .pattern = "^[!\"$-~][!-~]*$", .looks = "ci or oauth:mallory, without spaces",
      .placeholder = "NAME",
      .help = "Name of the caller: of an API key, or ALIAS:SUBJECT of a token" },
    { "data", MISHAP_STRING, .file = true, .length = { 1, 4000 }, .placeholder = "DIR",
      .help = "Data folder of the server" },
    { "cluster", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "URL",
      .help = "Change the list of blocked callers of this cluster, for all its servers: "
              "postgresql://USER@HOST/DATABASE, or @FILE with that in it" },
    { 0 },
};
static const mishap_param answers[] = {
    { "name", MISHAP_STRING, .required = true },
    { "blocked", MISHAP_BOOLEAN, .required = true },
    { 0 },
};
static const mishap_example block_examples[] = {
    { "keys block oauth:mallory", "Refuse all tokens of a subject" },
    { "keys block deploy", "Refuse an API key, and keep it" },
    { 0 },
};
static const mishap_example unblock_examples[] = {
    { "keys unblock deploy", "Accept the key again" },
    { 0 },
};

const mishap_operation mishap_keys_block = {
    .name = "keys.block",
    .summary = "Refuse a caller",
    .description =
        "A running server refuses all requests of a caller with this name after one or two "
        "seconds, and ends its sessions, open streams and running calls. The name is that of an "
        "API key, or that of an access token: ALIAS:SUBJECT, as the log has it. A key is not "
        "removed.",
    .params = params,
    .run = run_block,
    .local = true,
    .raises = MISHAP_RAISES(ALREADY_EXISTS, LOCKED, UNAVAILABLE, TIMEOUT, NOT_CONFIGURED,
                            INPUT_UNREADABLE, OUTPUT_FAILED),
    .danger = MISHAP_MUTATING,
    .examples = block_examples,
    .group = "Server",
    .answers = answers,
};

const mishap_operation mishap_keys_unblock = {
    .name = "keys.unblock",
    .summary = "Accept a blocked caller again",
    .description = "A running server follows after one or two seconds. Calls and streams that were "
                   "ended stay ended.",
    .params = params,
    .run = run_unblock,
    .local = true,
    .raises = MISHAP_RAISES(NOT_FOUND, LOCKED, UNAVAILABLE, TIMEOUT, NOT_CONFIGURED,
                            INPUT_UNREADABLE, OUTPUT_FAILED),
    .danger = MISHAP_MUTATING,
    .examples = unblock_examples,
    .group = "Server",
    .answers = answers,
};
