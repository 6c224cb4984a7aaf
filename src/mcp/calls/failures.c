/* A failure as data: members that are added to the dialect, and the parts of a report as
 * members. */
#include "mcp/calls/result.h"
#include "dialect/parts.h"
#include "operation/hide.h"

/* Add the missing members, unless the tool has told something of its own under that name. */
void mishap_mcp_put_code(mishap_buffer *json, const mishap_public *told)
{
    const mishap_code *row = mishap_catalog_find(MISHAP_SPELLING_TOOL, told->code->tool_type);
    bool own = told->suggestion.length &&
               !(row && mishap_text_equal(told->suggestion, row->suggestion));
    mishap_text suggestion = mishap_public_suggestion(told);
    if (json->failed)
        return;
    json->length--; /* without its last bracket */
    if (!own && suggestion.length) {
        MISHAP_JSON_KEY(json, "suggestion");
        mishap_json_string(json, suggestion);
    }
    if (!mishap_public_member(told, "code")) {
        MISHAP_JSON_KEY(json, "code");
        mishap_json_string(json, told->code->name);
    }
    if (!mishap_public_member(told, "retryable")) {
        MISHAP_JSON_KEY(json, "retryable");
        mishap_json_bool(json, told->retryable);
    }
    mishap_json_close(json, '}');
}

static void put_words(mishap_buffer *json, const char *key, mishap_text words)
{
    if (!words.length)
        return;
    mishap_json_key(json, mishap_text_of(key));
    mishap_json_string(json, words);
}

static void put_frames(mishap_buffer *json, const mishap_public *told)
{
    size_t count = 0;
    MISHAP_JSON_KEY(json, "backtrace");
    mishap_json_open(json, '[');
    for (const mishap_frame *f = told->frames; f && count < MISHAP_REPORT_FRAME_LIMIT;
         f = f->next) {
        mishap_json_string(json, f->text);
        count++;
    }
    if (!count)
        mishap_json_string(json, mishap_report_no_frame);
    mishap_json_close(json, ']');
}

static bool is_taken(mishap_text key)
{
    static const char *const taken[] = { "type",   "message",   "stdout",         "backtrace",
                                         "code",   "retryable", "fields",         "suggestion",
                                         "cause",  "docs_url",  "retry_after_ms", "incident",
                                         "session" };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (mishap_text_equal(key, mishap_text_of(taken[i])))
            return true;
    return false;
}

/* Add what was told beside the report, under names that have no other meaning. It is no part of the
 * report, so it must not contain a leak. */
static mishap *put_others(mishap_buffer *json, const mishap_public *told, const mishap_call *call,
                          const mishap_secrets *secrets)
{
    mishap_buffer others = { 0 };
    mishap_json_open(&others, '{');
    for (const mishap_member *member = told->context; member; member = member->next) {
        if (is_taken(member->key))
            continue;
        mishap_json_key(&others, member->key);
        mishap_json_value(&others, &member->value);
    }
    if (!mishap_public_member(told, "restarts")) {
        MISHAP_JSON_KEY(&others, "restarts");
        MISHAP_PUT(&others, "[]");
    }
    mishap_json_close(&others, '}');
    mishap *removed = others.failed
                          ? NULL
                          : mishap_hide_json(&others, secrets, &(mishap_sent){ .call = call });
    if (others.failed) {
        mishap_buffer_reserve(json, SIZE_MAX); /* makes the buffer fail */
    } else if (others.length > 2) {
        mishap_json_comma(json);
        mishap_buffer_put(json, others.data + 1, others.length - 2);
    }
    mishap_buffer_release(&others);
    return removed;
}

mishap *mishap_mcp_put_report_members(mishap_buffer *json, const mishap_public *told,
                                      const mishap_call *call, const mishap_secrets *secrets)
{
    mishap_json_open(json, '{');
    MISHAP_JSON_KEY(json, "type");
    mishap_json_string(json, told->type.length ? told->type : told->code->condition);
    MISHAP_JSON_KEY(json, "message");
    mishap_json_string(json, mishap_public_message(told));
    MISHAP_JSON_KEY(json, "stdout");
    mishap_json_string(json, told->output);
    put_frames(json, told);
    MISHAP_JSON_KEY(json, "code");
    mishap_json_string(json, told->code->name);
    MISHAP_JSON_KEY(json, "retryable");
    mishap_json_bool(json, told->retryable);
    put_words(json, "suggestion", mishap_public_suggestion(told));
    put_words(json, "cause", told->cause);
    put_words(json, "docs_url", told->docs_url);
    put_words(json, "incident", told->incident);
    put_words(json, "session", mishap_text_of(call && call->session_is ? call->session_is : ""));
    if (told->fields) {
        MISHAP_JSON_KEY(json, "fields");
        mishap_put_fields(json, told);
    }
    if (told->retry_after_ms >= 0) {
        MISHAP_JSON_KEY(json, "retry_after_ms");
        mishap_json_int(json, told->retry_after_ms);
    }
    mishap *removed = put_others(json, told, call, secrets);
    mishap_json_close(json, '}');
    mishap_hide_json_secrets(json, secrets);
    return removed;
}
