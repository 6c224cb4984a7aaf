/* list, groups, group, resolve, mute, stats: what the index says, and for a person as lines. */
#include "operation/call.h"
#include "operator/inside.h"

/* -- for a person ------------------------------------------------------------------------------ */

typedef void put_lines(mishap_buffer *text, yyjson_val *answer, const mishap_call *call);

/* Answer with JSON and, to a command, with the lines that a terminal shows. */
static mishap *answer_with_lines(mishap_call *call, mishap_buffer *json, put_lines *put)
{
    mishap *failure = mishap_operator_answer(call, json);
    if (failure || mishap_boundary(call) != MISHAP_BY_COMMAND)
        return failure;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer *text = mishap_operator_buffer(call);
    if (mishap_json_read(&reader, (mishap_text){ json->data, json->length - 1 }))
        put(text, reader.root, call);
    mishap_json_reader_release(&reader);
    if (text->failed)
        return mishap_out_of_memory();
    return text->length ? mishap_answer_text(call, mishap_buffer_text(text)) : NULL;
}

static void put_next_page(mishap_buffer *text, yyjson_val *page)
{
    mishap_text next = mishap_operator_text(page, "next");
    if (!next.length)
        return;
    MISHAP_PUT(text, "There are more: add --cursor ");
    mishap_put_printable_line(text, next);
    MISHAP_PUT(text, "\n");
}

static void put_list_lines(mishap_buffer *text, yyjson_val *answer, const mishap_call *call)
{
    yyjson_val *rows = yyjson_obj_get(answer, "incidents");
    mishap_operator_put_rows(text, rows, "", mishap_operator_width(call));
    if (!yyjson_arr_size(rows))
        MISHAP_PUT(text, "No incident was found.\n");
    put_next_page(text, answer);
}

static void put_groups_lines(mishap_buffer *text, yyjson_val *answer, const mishap_call *call)
{
    yyjson_val *groups = yyjson_obj_get(answer, "groups");
    mishap_operator_put_groups(text, groups, mishap_operator_width(call));
    if (!yyjson_arr_size(groups))
        MISHAP_PUT(text, "No group was found.\n");
    put_next_page(text, answer);
}

static void put_stats_lines(mishap_buffer *text, yyjson_val *answer, const mishap_call *call)
{
    (void)call;
    mishap_operator_put_stats(text, answer);
}

/* -- list -------------------------------------------------------------------------------------- */

typedef mishap *ask_index(mishap_call *call, mishap_index *index, const mishap_index_filter *filter,
                          mishap_buffer *json);

/* Read the filters, ask the index, and answer. */
static mishap *answer_query(mishap_call *call, ask_index *ask, put_lines *put)
{
    mishap_index *index;
    mishap_index_filter filter;
    mishap_buffer *json = mishap_operator_buffer(call);
    mishap *failure = mishap_operator_read_filter(call, &filter);
    if (!failure)
        failure = mishap_operator_index(call, &index);
    if (!failure)
        failure = ask(call, index, &filter, json);
    return failure ? failure : answer_with_lines(call, json, put);
}

static mishap *ask_for_list(mishap_call *call, mishap_index *index,
                            const mishap_index_filter *filter, mishap_buffer *json)
{
    (void)call;
    return mishap_index_list(index, filter, json);
}

mishap *mishap_operator_list(mishap_call *call)
{
    return answer_query(call, ask_for_list, put_list_lines);
}

/* -- groups ------------------------------------------------------------------------------------ */

/* The states as bits. */
static unsigned states_of(const mishap_call *call)
{
    unsigned states = 0;
    for (const mishap_call *item = mishap_first(call, "state"); item; item = mishap_next(item))
        for (unsigned i = 0; i < MISHAP_GROUP_STATES; i++)
            if (strcmp(mishap_string(item, ""), mishap_group_state_names[i]) == 0)
                states |= 1U << i;
    return states;
}

static mishap *ask_for_groups(mishap_call *call, mishap_index *index,
                              const mishap_index_filter *filter, mishap_buffer *json)
{
    return mishap_index_groups(
        index,
        &(mishap_index_groups_filter){ .states = states_of(call),
                                       .code = filter->code,
                                       .category = filter->category,
                                       .operation = filter->operation,
                                       .service = filter->service,
                                       .not_operation = filter->not_operation,
                                       .cursor = filter->cursor,
                                       .limit = filter->limit },
        json);
}

mishap *mishap_operator_groups(mishap_call *call)
{
    return answer_query(call, ask_for_groups, put_groups_lines);
}

static mishap_text group_of(const mishap_call *call)
{
    return mishap_text_of(mishap_string(call, "group"));
}

static mishap *ask_for_group(mishap_call *call, mishap_index *index,
                             const mishap_index_filter *filter, mishap_buffer *json)
{
    (void)filter;
    return mishap_index_group(index, group_of(call), json);
}

mishap *mishap_operator_group(mishap_call *call)
{
    return answer_query(call, ask_for_group, mishap_operator_put_group_page);
}

static mishap *set_state(mishap_call *call, mishap_index *index, mishap_group_state state,
                         mishap_buffer *json)
{
    mishap *failure = mishap_boolean(call, "undo")
                          ? mishap_index_group_undo(index, group_of(call), state)
                          : mishap_index_group_set(index, group_of(call), state);
    return failure ? failure : mishap_index_group(index, group_of(call), json);
}

static mishap *set_resolved(mishap_call *call, mishap_index *index,
                            const mishap_index_filter *filter, mishap_buffer *json)
{
    (void)filter;
    return set_state(call, index, MISHAP_GROUP_RESOLVED, json);
}

static mishap *set_muted(mishap_call *call, mishap_index *index, const mishap_index_filter *filter,
                         mishap_buffer *json)
{
    (void)filter;
    return set_state(call, index, MISHAP_GROUP_MUTED, json);
}

mishap *mishap_operator_resolve(mishap_call *call)
{
    return answer_query(call, set_resolved, mishap_operator_put_group_page);
}

mishap *mishap_operator_mute(mishap_call *call)
{
    return answer_query(call, set_muted, mishap_operator_put_group_page);
}

/* -- stats ------------------------------------------------------------------------------------- */

static int step_of(const mishap_call *call)
{
    const char *step = mishap_given(call, "step") ? mishap_string(call, "step") : "";
    return strcmp(step, "minute") == 0 ? 60
           : strcmp(step, "hour") == 0 ? 3600
           : strcmp(step, "day") == 0  ? 86400
                                       : 0;
}

static mishap *ask_for_stats(mishap_call *call, mishap_index *index,
                             const mishap_index_filter *filter, mishap_buffer *json)
{
    return mishap_index_stats(index,
                              &(mishap_index_span){ .from_ms = filter->from_ms,
                                                    .to_ms = filter->to_ms,
                                                    .step_s = step_of(call),
                                                    .code = filter->code,
                                                    .category = filter->category,
                                                    .operation = filter->operation },
                              json);
}

mishap *mishap_operator_stats(mishap_call *call)
{
    return answer_query(call, ask_for_stats, put_stats_lines);
}
