/*
 * show: one incident, found by its id in any text. What the caller saw stands beside what happened;
 * below are the source lines, other failures of the trace and of the caller, and the group.
 */
#include "operation/call.h"
#include "operator/inside.h"

enum {
    MOST_IDS = 200, /* of a text that are looked up */
    MOST_NEAR = 20,
};

/* -- which ------------------------------------------------------------------------------------- */

static mishap *no_id(void)
{
    mishap *m = mishap_field_add(mishap_raise(VALIDATION_ERROR, NULL),
                                 &(mishap_field){ .field = MISHAP_TEXT("id"),
                                                  .error = MISHAP_TEXT("pattern_mismatch"),
                                                  .expected = mishap_value_of_string(
                                                      "a text with the id of an incident in it") });
    m = mishap_field_says(m, "There is no id in this text.");
    return mishap_suggest(
        m, "An id looks like 0192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e01; callers get it with a failure.");
}

/* The first id of a text that is known. If none is, the first one that could be one of ours:
 * looking it up says why it is not there. */
static mishap *choose_id(mishap_index *index, mishap_text text, char id[MISHAP_ID_LENGTH + 1])
{
    char next[MISHAP_ID_LENGTH + 1];
    size_t found = 0;
    while (found < MOST_IDS && mishap_operator_next_id(&text, next)) {
        bool ours = next[14] == '7'; /* the version of the UUID */
        if (!found++ || (ours && id[14] != '7'))
            memcpy(id, next, sizeof next);
        if (mishap_index_has(index, (mishap_text){ next, MISHAP_ID_LENGTH })) {
            memcpy(id, next, sizeof next);
            return NULL;
        }
    }
    return found ? NULL : no_id();
}

/* -- the two sides ----------------------------------------------------------------------------- */

static const char *const public_members[] = {
    "status", "code", "category", "message",  "suggestion",    "told",
    "cause",  "type", "fields",   "response", "response_type", NULL,
};
static const char *const private_members[] = {
    "noted", "private_message", "request",   "incomplete", "cut",       "causes",
    "place", "stack",           "backtrace", "stdout",     "arguments", "headers",
    "lines", "process",         "version",   NULL,
};

/* The members of these names, of a record. */
static void put_members(mishap_buffer *json, yyjson_val *record, const char *const *names)
{
    mishap_json_open(json, '{');
    for (; *names; names++) {
        yyjson_val *value = yyjson_obj_get(record, *names);
        if (!value)
            continue;
        mishap_json_key(json, mishap_text_of(*names));
        mishap_json_copy(json, value);
    }
}

/* Where the program's own code was, if the place of the record is one of the library: a crash is
 * raised by the process that finds it, and invalid arguments by the checks before the handler. */
static void put_own_code(mishap_buffer *json, yyjson_val *record)
{
    yyjson_val *place = yyjson_obj_get(record, "place");
    switch (mishap_operator_who_raised(record)) {
    case MISHAP_RAISED_BY_CODE:
        return;
    case MISHAP_RAISED_BY_CHECKS:
        MISHAP_JSON_KEY(json, "raised_by");
        mishap_json_string(json, (mishap_text)MISHAP_TEXT("the checks of the arguments, before the "
                                                          "handler ran"));
        return;
    case MISHAP_RAISED_BY_LIBRARY: {
        mishap_text frame = mishap_operator_handler_frame(yyjson_obj_get(record, "stack"));
        MISHAP_JSON_TEXT_MEMBER(json, "handler_frame", frame);
        MISHAP_JSON_KEY(json, "raised_by");
        mishap_buffer words = { 0 };
        mishap_buffer_put_text(&words, mishap_operator_text(place, "function"));
        MISHAP_PUT(&words, "() of the library");
        mishap_json_string(json, mishap_buffer_text(&words));
        json->failed = json->failed || words.failed;
        mishap_buffer_release(&words);
    }
    }
}

/* `record` is what is known of this very incident; `whole` the record that has a private side: the
 * same one, or a similar one. */
static void put_sides(mishap_buffer *json, yyjson_val *record, yyjson_val *whole, int64_t time_ms)
{
    MISHAP_JSON_KEY(json, "public");
    put_members(json, record, public_members);
    mishap_json_close(json, '}');
    MISHAP_JSON_KEY(json, "private");
    put_members(json, whole, private_members);
    put_own_code(json, whole);
    MISHAP_JSON_KEY(json, "source");
    mishap_operator_put_source(json, whole, time_ms);
    mishap_json_close(json, '}');
}

/* -- beside it --------------------------------------------------------------------------------- */

/* What cannot be read is left out: the incident itself is worth showing. A query that failed half
 * way is undone. */
static void put_list_or_none(mishap_buffer *json, size_t before, mishap *failure, const char *none)
{
    if (!failure)
        return;
    mishap_free(failure);
    if (json->failed)
        return;
    json->length = before;
    mishap_buffer_put_text(json, mishap_text_of(none));
}

static void put_beside(mishap_call *call, mishap_index *index, const mishap_index_found *found,
                       mishap_text id, mishap_buffer *json)
{
    (void)call;
    MISHAP_JSON_KEY(json, "trace");
    size_t before = json->length;
    put_list_or_none(json, before, mishap_index_same_trace(index, found, id, json), "[]");
    MISHAP_JSON_KEY(json, "near");
    before = json->length;
    put_list_or_none(json, before, mishap_index_near(index, found, id, MOST_NEAR, json), "[]");
    MISHAP_JSON_KEY(json, "group");
    before = json->length;
    put_list_or_none(json, before, mishap_index_group(index, mishap_text_of(found->group), json),
                     "null");
}

/* -- the answer -------------------------------------------------------------------------------- */

/* The record of a similar failure, for an incident that has none of its own. */
static void find_like(mishap_index *index, const mishap_index_found *found, mishap_buffer *like)
{
    mishap_index_found ignored;
    if (found->whole || !found->like[0])
        return;
    mishap *failure = mishap_index_find(index, mishap_text_of(found->like), &ignored, like);
    if (failure || !ignored.whole)
        mishap_buffer_reset(like);
    mishap_free(failure);
}

static mishap *put_shown(mishap_call *call, mishap_index *index, mishap_text id,
                         mishap_buffer *json)
{
    mishap_index_found found;
    mishap_buffer *record = mishap_operator_buffer(call), *like = mishap_operator_buffer(call);
    mishap *failure = mishap_index_find(index, id, &found, record);
    if (failure)
        return failure;
    find_like(index, &found, like);
    yyjson_val *known = mishap_json_read_into(&call->arena, mishap_buffer_text(record));
    yyjson_val *whole = found.whole ? known : NULL;
    if (like->length)
        whole = mishap_json_read_into(&call->arena, mishap_buffer_text(like));
    if (!known || record->failed || like->failed)
        return mishap_out_of_memory();
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "incident");
    mishap_json_copy(json, known);
    put_sides(json, known, whole, found.time_ms);
    MISHAP_JSON_KEY(json, "whole");
    mishap_json_bool(json, found.whole);
    if (found.server[0]) {
        MISHAP_JSON_KEY(json, "server");
        mishap_json_string(json, mishap_text_of(found.server));
    }
    if (like->length) {
        MISHAP_JSON_KEY(json, "like");
        mishap_json_copy(json, whole);
    }
    put_beside(call, index, &found, id, json);
    mishap_json_close(json, '}');
    return NULL;
}

/* The page is for a person at a terminal, and for an agent. */
static mishap *answer_page(mishap_call *call, const mishap_buffer *json)
{
    mishap_boundary_kind boundary = mishap_boundary(call);
    if (boundary != MISHAP_BY_COMMAND && boundary != MISHAP_BY_MCP)
        return NULL;
    mishap_buffer *text = mishap_operator_buffer(call);
    yyjson_val *shown = mishap_json_read_into(&call->arena,
                                              (mishap_text){ json->data, json->length - 1 });
    if (shown)
        mishap_operator_put_page(text, shown, call);
    if (!shown || text->failed)
        return mishap_out_of_memory();
    return mishap_answer_text(call, mishap_buffer_text(text));
}

mishap *mishap_operator_show(mishap_call *call)
{
    mishap_index *index;
    char id[MISHAP_ID_LENGTH + 1];
    mishap_buffer *json = mishap_operator_buffer(call);
    mishap_text text = { mishap_string(call, "id"), mishap_string_length(call, "id") };
    mishap *failure = mishap_operator_index(call, &index);
    if (!failure)
        failure = choose_id(index, text, id);
    if (!failure)
        failure = put_shown(call, index, (mishap_text){ id, MISHAP_ID_LENGTH }, json);
    if (!failure)
        failure = mishap_operator_answer(call, json);
    return failure ? failure : answer_page(call, json);
}
