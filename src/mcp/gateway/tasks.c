/*
 * Tasks that have failed. A message about a task is a success of the protocol, so what the task
 * says of its failure would pass: in the text of its status, in an error of JSON-RPC, or in the
 * result of a tool. Such a message is written anew.
 */
#include "incident/incident.h"
#include "incident/record.h"
#include "mcp/gateway/tell.h"
#include "operation/secret.h"

/* A task is told in its status, in an error of JSON-RPC or in the result of a tool. */
static bool says_failure(yyjson_val *task)
{
    yyjson_val *result = yyjson_obj_get(task, "result");
    yyjson_val *failed = yyjson_obj_get(result, "isError");
    return yyjson_is_str(yyjson_obj_get(task, "status")) &&
           (yyjson_obj_get(task, "statusMessage") || yyjson_obj_get(task, "error") ||
            (failed && !yyjson_is_false(failed) && !yyjson_is_null(failed)));
}

bool mishap_mcp_gateway_has_failed_task(yyjson_val *holder)
{
    size_t index, count;
    yyjson_val *task;
    if (says_failure(holder) || says_failure(yyjson_obj_get(holder, "task")))
        return true;
    MISHAP_JSON_ITEMS (yyjson_obj_get(holder, "tasks"), index, count, task)
        if (says_failure(task))
            return true;
    return false;
}

/* A message that is written anew. */
struct tasks {
    gateway_told told;
    mishap_buffer out;
    mishap *failure; /* the first that is not told as it was; NULL: none */
    char id[MISHAP_ID_LENGTH + 1];
};

static void keep_failure(struct tasks *t, mishap *failure)
{
    if (t->failure) {
        mishap_free(failure); /* the record has the whole message */
        return;
    }
    t->failure = failure;
    if (!*t->id)
        mishap_record_choose_id(failure, t->id);
}

static void put_status(struct tasks *t, yyjson_val *text)
{
    mishap *m = mishap_mcp_gateway_read_text(mishap_json_text(text), t->told.sent);
    mishap_text message = mishap_told(m)->message;
    mishap_json_string(&t->out, message);
    if (mishap_text_equal(message, mishap_json_text(text)))
        mishap_free(m);
    else
        keep_failure(t, m);
}

static void put_task_error(struct tasks *t, yyjson_val *error)
{
    mishap_json_open(&t->out, '{');
    yyjson_val *code = yyjson_obj_get(error, "code");
    MISHAP_JSON_KEY(&t->out, "code");
    mishap_json_int(&t->out, yyjson_is_int(code) ? yyjson_get_sint(code) : -32603);
    MISHAP_JSON_KEY(&t->out, "message");
    put_status(t, yyjson_obj_get(error, "message"));
    mishap_json_close(&t->out, '}');
}

static void put_task_result(struct tasks *t, yyjson_val *result)
{
    mishap_buffer text = { 0 };
    mishap_mcp_gateway_put_texts(&text, result);
    mishap *m = text.failed ? mishap_out_of_memory()
                            : mishap_mcp_gateway_read_text(mishap_buffer_text(&text), t->told.sent);
    mishap_buffer_release(&text);
    if (!*t->id)
        mishap_record_choose_id(m, t->id);
    mishap_free(mishap_mcp_gateway_put_result(&t->out, &t->told, m, t->id));
    keep_failure(t, m);
}

static void put_task(struct tasks *t, yyjson_val *task)
{
    size_t index, count;
    yyjson_val *key, *value;
    if (!says_failure(task)) {
        mishap_json_copy(&t->out, task);
        return;
    }
    mishap_json_open(&t->out, '{');
    MISHAP_JSON_MEMBERS (task, index, count, key, value) {
        mishap_json_key(&t->out, mishap_json_text(key));
        if (MISHAP_JSON_IS(key, "statusMessage"))
            put_status(t, value);
        else if (MISHAP_JSON_IS(key, "error"))
            put_task_error(t, value);
        else if (MISHAP_JSON_IS(key, "result"))
            put_task_result(t, value);
        else
            mishap_json_copy(&t->out, value);
    }
    mishap_json_close(&t->out, '}');
}

/* A result or parameters: a task, or an object with tasks. */
static void put_holder(struct tasks *t, yyjson_val *holder)
{
    size_t index, count, i, length;
    yyjson_val *key, *value, *task;
    if (says_failure(holder)) {
        put_task(t, holder);
        return;
    }
    mishap_json_open(&t->out, '{');
    MISHAP_JSON_MEMBERS (holder, index, count, key, value) {
        mishap_json_key(&t->out, mishap_json_text(key));
        if (MISHAP_JSON_IS(key, "task")) {
            put_task(t, value);
        } else if (MISHAP_JSON_IS(key, "tasks")) {
            mishap_json_open(&t->out, '[');
            MISHAP_JSON_ITEMS (value, i, length, task)
                put_task(t, task);
            mishap_json_close(&t->out, ']');
        } else {
            mishap_json_copy(&t->out, value);
        }
    }
    mishap_json_close(&t->out, '}');
}

bool mishap_mcp_gateway_tell_tasks(gateway *g, const gateway_call *call, mishap_text line,
                                   yyjson_val *root)
{
    gateway_sent sent;
    struct tasks t = { .told = { .g = g, .call = call, .sent = &sent } };
    size_t index, count;
    yyjson_val *key, *value;
    mishap_mcp_gateway_sent_read(&sent, call ? call->line : (mishap_text){ NULL, 0 });
    mishap_json_open(&t.out, '{');
    MISHAP_JSON_MEMBERS (root, index, count, key, value) {
        mishap_json_key(&t.out, mishap_json_text(key));
        if (MISHAP_JSON_IS(key, "result") || MISHAP_JSON_IS(key, "params"))
            put_holder(&t, value);
        else
            mishap_json_copy(&t.out, value);
    }
    mishap_json_close(&t.out, '}');
    mishap_hide_json_secrets(&t.out, g->settings->secrets);
    t.told.response = mishap_buffer_text(&t.out);
    bool put = !t.out.failed && mishap_mcp_gateway_to_client(g, mishap_buffer_text(&t.out));
    if (put && t.failure) {
        t.failure = mishap_mcp_gateway_note_original(t.failure, line);
        mishap_hide_failure(t.failure, NULL, g->settings->secrets);
        mishap_incident(t.failure, t.id);
        mishap_mcp_gateway_record(&t.told, t.failure, NULL, t.id);
    }
    mishap_free(t.failure);
    mishap_buffer_release(&t.out);
    mishap_mcp_gateway_sent_release(&sent);
    return put;
}
