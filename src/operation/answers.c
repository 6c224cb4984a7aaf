/* Answers of callers to questions of handlers: checked, and put together with earlier ones. */
#include "operation/asking.h"

/* -- what is wrong with one -------------------------------------------------------------------- */

/* "(sure: must be a boolean)", for the question when it is asked again. */
static void put_flaws(mishap_buffer *json, const mishap *findings)
{
    char room[512];
    mishap_buffer words;
    mishap_buffer_init(&words, room, sizeof room);
    MISHAP_PUT(&words, "(");
    for (const mishap_field *f = mishap_told(findings)->fields; f; f = f->next) {
        if (words.length > 1)
            MISHAP_PUT(&words, ", ");
        mishap_buffer_put_text(&words, f->field);
        MISHAP_PUT(&words, ": ");
        for (size_t i = 0; i < f->error.length; i++)
            mishap_buffer_put_char(&words, f->error.data[i] == '_' ? ' ' : f->error.data[i]);
        if (f->expected.kind != MISHAP_KIND_NONE) {
            MISHAP_PUT(&words, ", expected ");
            mishap_json_plain(&words, &f->expected);
        }
    }
    MISHAP_PUT(&words, ")");
    json->failed = json->failed || words.failed;
    MISHAP_JSON_KEY(json, "wrong");
    mishap_json_string(json,
                       words.failed ? (mishap_text)MISHAP_TEXT("") : mishap_buffer_text(&words));
    mishap_buffer_release(&words);
}

static void put_flaw(mishap_buffer *json, const char *words)
{
    MISHAP_JSON_KEY(json, "wrong");
    mishap_json_string(json, mishap_text_of(words));
}

/* -- one answer -------------------------------------------------------------------------------- */

/* What is declared, with defaults for what was not given, and nothing else. */
static void put_content(mishap_buffer *json, const mishap_param *params, yyjson_val *content)
{
    MISHAP_JSON_KEY(json, "accept");
    mishap_json_open(json, '{');
    for (const mishap_param *p = params; p && p->name; p++) {
        yyjson_val *value = yyjson_obj_get(content, p->name);
        if (!value || yyjson_is_null(value)) {
            if (!p->initial)
                continue;
            mishap_json_key(json, mishap_text_of(p->name));
            mishap_buffer_put_text(json, mishap_text_of(p->initial));
            continue;
        }
        mishap_json_key(json, mishap_text_of(p->name));
        mishap_json_copy(json, value);
    }
    mishap_json_close(json, '}');
}

static void put_accepted(mishap_buffer *json, const mishap_question *question, yyjson_val *content)
{
    mishap *findings = yyjson_is_obj(content) ? mishap_params_check(question->params, content)
                                              : NULL;
    if (!yyjson_is_obj(content))
        put_flaw(json, "(The answer must be an object.)");
    else if (findings)
        put_flaws(json, findings);
    else
        put_content(json, question->params, content);
    mishap_free(findings);
}

static void put_refused(mishap_buffer *json, bool cancelled)
{
    if (cancelled)
        MISHAP_JSON_KEY(json, "cancel");
    else
        MISHAP_JSON_KEY(json, "decline");
    mishap_json_bool(json, true);
}

static void put_answer_of_client(mishap_buffer *json, const mishap_question *question,
                                 yyjson_val *given)
{
    static yyjson_val none = { .tag = YYJSON_TYPE_OBJ };
    yyjson_val *action = yyjson_obj_get(given, "action"),
               *content = yyjson_obj_get(given, "content");
    if (yyjson_equals_str(action, "accept"))
        put_accepted(json, question, content ? content : &none);
    else if (yyjson_equals_str(action, "decline") || yyjson_equals_str(action, "cancel"))
        put_refused(json, yyjson_equals_str(action, "cancel"));
    else
        put_flaw(json, "(The answer must have an action: accept, decline or cancel.)");
}

static void put_answer(mishap_buffer *json, const mishap_question *question, yyjson_val *given,
                       mishap_answers_form form)
{
    mishap_json_key(json, mishap_text_of(question->name));
    mishap_json_open(json, '{');
    if (question->method && !yyjson_is_null(given) && !yyjson_is_obj(given)) {
        put_flaw(json, "(The answer must be an object.)");
    } else if (question->method && !yyjson_is_null(given)) {
        MISHAP_JSON_KEY(json, "accept");
        mishap_json_copy(json, given);
    } else if (form == MISHAP_ANSWERS_OF_CLIENT && !question->method) {
        put_answer_of_client(json, question, given);
    } else if (yyjson_is_null(given)) {
        put_refused(json, false);
    } else {
        put_accepted(json, question, given);
    }
    mishap_json_close(json, '}');
}

/* -- all of them ------------------------------------------------------------------------------- */

static mishap *keep_replies(mishap_call *call, mishap_buffer *json)
{
    mishap *failure = NULL;
    mishap_text kept = { NULL, 0 };
    if (json->failed)
        failure = mishap_out_of_memory();
    else if (json->length > MISHAP_ASKING_REPLIES)
        failure = mishap_raise(CONTENT_TOO_LARGE, "The answers are longer than %d bytes.",
                               (int)MISHAP_ASKING_REPLIES);
    else
        kept = mishap_arena_copy(&call->arena, mishap_buffer_text(json));
    if (!failure && !kept.data)
        failure = mishap_out_of_memory();
    if (!failure) {
        call->replies = kept;
        call->replies_read = NULL;
    }
    return failure;
}

mishap *mishap_asking_answer(mishap_call *call, yyjson_val *answers, mishap_answers_form form)
{
    mishap_buffer json = { 0 };
    yyjson_val *earlier = call->replies.length ? mishap_json_read_into(&call->arena, call->replies)
                                               : NULL;
    if (call->replies.length && !earlier)
        return mishap_out_of_memory();
    mishap_json_open(&json, '{');
    for (const mishap_question *q = call->operation->asks; q && q->name; q++) {
        yyjson_val *given = yyjson_obj_get(answers, q->name),
                   *before = yyjson_obj_get(earlier, q->name);
        /* Not what a person must say, nor what the program of a client must. */
        if ((q->person || q->method) && form == MISHAP_ANSWERS_OF_SCRIPT)
            given = NULL;
        if (given) {
            put_answer(&json, q, given, form);
        } else if (before && !yyjson_obj_get(before, "wrong")) {
            mishap_json_key(&json, mishap_text_of(q->name));
            mishap_json_copy(&json, before);
        }
    }
    mishap_json_close(&json, '}');
    mishap *failure = keep_replies(call, &json);
    mishap_buffer_release(&json);
    return failure;
}

static mishap *refuse_unknown(const mishap_call *call, yyjson_val *answers)
{
    size_t index, count;
    yyjson_val *key, *value;
    MISHAP_JSON_MEMBERS (answers, index, count, key, value) {
        mishap_text name = mishap_json_text(key);
        if (!mishap_question_find(call->operation, name))
            return mishap_field_add(
                mishap_raise(VALIDATION_ERROR, "The answers name a question that %s does not ask.",
                             call->operation->name),
                &(mishap_field){ .field = name, .error = MISHAP_TEXT("unknown_field") });
    }
    return NULL;
}

mishap *mishap_asking_check(const mishap_call *call, mishap_json_reader *reader,
                            yyjson_val **answers)
{
    if (!*answers || yyjson_is_null(*answers))
        return NULL;
    if (yyjson_is_str(*answers)) {
        mishap *failure = mishap_object_read(reader, mishap_json_text(*answers), NULL);
        *answers = failure ? NULL : reader->root;
        return failure ? failure : refuse_unknown(call, *answers);
    }
    if (yyjson_is_obj(*answers))
        return refuse_unknown(call, *answers);
    return mishap_field_add(
        mishap_raise(VALIDATION_ERROR, "The answers are not an object."),
        &(mishap_field){ .field = MISHAP_TEXT("_answers"),
                         .error = MISHAP_TEXT("invalid_type"),
                         .expected = mishap_value_of_text(mishap_text_of("object")) });
}

mishap *mishap_asking_answer_text(mishap_call *call, mishap_text json, mishap_answers_form form)
{
    if (call->questions && !call->operation->asks) { /* mishap_asking_pass_on() */
        call->replies = mishap_arena_copy(&call->arena, json);
        return call->replies.data ? NULL : mishap_out_of_memory();
    }
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = mishap_object_read(&reader, json, NULL);
    if (!failure)
        failure = refuse_unknown(call, reader.root);
    if (!failure)
        failure = mishap_asking_answer(call, reader.root, form);
    mishap_json_reader_release(&reader);
    return failure;
}

static bool is_asked_again(const mishap_call *call, yyjson_val *key)
{
    for (const mishap_asked *a = call->questions; a; a = a->next)
        if (yyjson_equals_str(key, a->question->name))
            return true;
    return false;
}

void mishap_asking_put_kept(mishap_buffer *out, const mishap_call *call)
{
    size_t index, count;
    yyjson_val *key, *value;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!call->replies.length) {
        mishap_buffer_put_text(out, mishap_text_of("{}"));
        return;
    }
    if (!mishap_json_read(&reader, call->replies)) {
        out->failed = true;
        return;
    }
    mishap_json_open(out, '{');
    MISHAP_JSON_MEMBERS (reader.root, index, count, key, value) {
        if (yyjson_obj_get(value, "wrong") || is_asked_again(call, key))
            continue;
        mishap_json_key(out, mishap_json_text(key));
        mishap_json_copy(out, value);
    }
    mishap_json_close(out, '}');
    mishap_json_reader_release(&reader);
}

void mishap_asking_again(mishap_call *call)
{
    mishap_buffer_reset(&call->answer);
    mishap_buffer_reset(&call->text);
    mishap_buffer_reset(&call->fields);
    mishap_buffer_reset(&call->warnings);
    mishap_buffer_reset(&call->changes);
    call->answer_kind = MISHAP_ANSWER_NOTHING;
    call->writing.begun = false;
    call->writing.depth = 0;
    call->styled = call->content = false;
    call->listed = call->total = 0;
    call->status = 0;
    call->location = call->answer_type = call->version = NULL;
    call->reading.value = NULL;
    call->questions = NULL;
    call->replies_read = NULL;
    call->rounds++;
    call->deadline_ns = mishap_clock_monotonic_ns() + call->limit_ms * INT64_C(1000000);
}
