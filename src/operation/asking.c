/* Questions of handlers, and the answers to them: see asking.h. */
#include "operation/pass_on.h"

#include <stdarg.h>
#include <stdio.h>

#include "mishap/inside.h"

const mishap_question *mishap_question_find(const mishap_operation *operation, mishap_text name)
{
    for (const mishap_question *q = operation->asks; q && q->name; q++)
        if (mishap_text_equal(mishap_text_of(q->name), name))
            return q;
    return NULL;
}

static const mishap_question *need_question(const mishap_call *call, const char *name)
{
    const mishap_question *question = name ? mishap_question_find(call->operation,
                                                                  mishap_text_of(name))
                                           : NULL;
    if (!question)
        mishap_call_misuse(call, "the handler named a question that its operation does not declare",
                           name);
    return question;
}

/* -- answers, for the handler ------------------------------------------------------------------ */

/* The entry of `replies` about a question; NULL: none. */
static yyjson_val *entry_of(const mishap_call *part, const char *name)
{
    mishap_call *call = mishap_call_whole(part);
    need_question(call, name);
    if (!call->replies.length)
        return NULL;
    if (!call->replies_read)
        call->replies_read = mishap_json_read_into(&call->arena, call->replies);
    if (!call->replies_read)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, name);
    return yyjson_obj_get(call->replies_read, name);
}

const mishap_call *mishap_reply(const mishap_call *part, const char *name)
{
    mishap_call *call = mishap_call_whole(part);
    const mishap_question *question = need_question(call, name);
    yyjson_val *content = yyjson_obj_get(entry_of(call, name), "accept");
    mishap_param *param = NULL;
    if (!content)
        return NULL;
    if (!question->method) {
        param = mishap_call_take(call, sizeof *param);
        *param = (mishap_param){ .name = question->name,
                                 .type = MISHAP_OBJECT,
                                 .members = question->params };
    }
    return mishap_call_part_of(call, param, content);
}

mishap_reply_kind mishap_reply_state(const mishap_call *call, const char *name)
{
    yyjson_val *entry = entry_of(call, name);
    return yyjson_obj_get(entry, "accept")    ? MISHAP_REPLY_ACCEPTED
           : yyjson_obj_get(entry, "decline") ? MISHAP_REPLY_DECLINED
           : yyjson_obj_get(entry, "cancel")  ? MISHAP_REPLY_DISMISSED
                                              : MISHAP_REPLY_NONE;
}

/* -- asking ------------------------------------------------------------------------------------ */

/* Stands for the questions of the call until its handler has returned. Never written to. */
static struct mishap asking = {
    .told = { .code = MISHAP_CODE_INPUT_REQUIRED,
              .category = MISHAP_VALIDATION,
              .retry_stated = true,
              .retry_after_ms = -1 },
    .constant = true,
    .reserve = -1,
};

bool mishap_asking_is_due(const mishap *outcome)
{
    return outcome == &asking;
}

mishap *mishap_asking_pass_on(mishap_call *call, mishap_asked *questions)
{
    call->questions = questions;
    return &asking;
}

static mishap *refuse_more(const mishap_call *call, const char *name, const char *why)
{
    mishap *m = mishap_raise(CANCELLED, "`%s` was cancelled: its question `%s` %s.",
                             call->operation->name, name, why);
    return mishap_tell(m, "question", name);
}

/* A question that is asked a second time in one run replaces the first. */
static mishap *add_question(mishap_call *call, const mishap_question *question, mishap_text message)
{
    mishap_asked **at = &call->questions;
    while (*at && (*at)->question != question)
        at = &(*at)->next;
    if (!*at) {
        *at = mishap_call_take(call, sizeof **at);
        **at = (mishap_asked){ .question = question };
    }
    (*at)->message = message;
    return &asking;
}

/* NULL: the question may be asked. */
static mishap *mind_refusal(mishap_call *call, const mishap_question *question)
{
    mishap_reply_kind kind = mishap_reply_state(call, question->name);
    if (kind == MISHAP_REPLY_DECLINED)
        return refuse_more(call, question->name, "was declined");
    if (kind == MISHAP_REPLY_DISMISSED)
        return refuse_more(call, question->name, "was closed without an answer");
    if (call->rounds >= MISHAP_ASKING_ROUNDS)
        return refuse_more(call, question->name, "was still open after 8 rounds of questions");
    return NULL;
}

static mishap_text cut_message(mishap_text text)
{
    return (mishap_text){ text.data, mishap_utf8_cut(text, MISHAP_ASKING_MESSAGE) };
}

mishap *mishap_ask(mishap_call *part, const char *name, const struct mishap_param *params,
                   const char *format, ...)
{
    mishap_call *call = mishap_call_whole(part);
    const mishap_question *question = need_question(call, name);
    va_list arguments, again;
    if (question->method || (params && params != question->params))
        mishap_call_misuse(call, "the handler asked a question in another form than declared",
                           name);
    mishap *refused = mind_refusal(call, question);
    if (refused)
        return refused;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    mishap_text wrong = mishap_json_text(yyjson_obj_get(entry_of(call, name), "wrong"));
    size_t size = (length < 0 ? 0 : (size_t)length) + wrong.length + 2;
    char *words = mishap_call_take(call, size);
    words[0] = '\0';
    if (length > 0)
        vsnprintf(words, size, format, again);
    va_end(again);
    va_end(arguments);
    if (wrong.length)
        snprintf(words + strlen(words), size - strlen(words), " %s", wrong.data);
    mishap_text clean = mishap_utf8_clean(&call->arena, mishap_text_of(words));
    if (!clean.data)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, name);
    return add_question(call, question, cut_message(clean)); /* cleaning makes it longer */
}

mishap *mishap_ask_client(mishap_call *part, const char *name, const char *params)
{
    mishap_call *call = mishap_call_whole(part);
    const mishap_question *question = need_question(call, name);
    mishap_buffer compact = { 0 };
    if (!question->method)
        mishap_call_misuse(call, "the handler asked a question in another form than declared",
                           name);
    mishap *refused = mind_refusal(call, question);
    if (refused)
        return refused;
    yyjson_val *object = mishap_json_read_into(&call->arena,
                                               mishap_text_of(params ? params : "{}"));
    if (!yyjson_is_obj(object))
        mishap_call_misuse(call, "the handler asked the client with something that is no object",
                           name);
    mishap_json_copy(&compact, object);
    mishap_text kept = compact.failed
                           ? (mishap_text){ NULL, 0 }
                           : mishap_arena_copy(&call->arena, mishap_buffer_text(&compact));
    mishap_buffer_release(&compact);
    if (!kept.data)
        mishap_call_misuse(call, MISHAP_NO_MEMORY, name);
    return add_question(call, question, kept);
}

/* -- the failure ------------------------------------------------------------------------------- */

void mishap_asking_put_question(mishap_buffer *json, const mishap_asked *asked)
{
    const mishap_question *question = asked->question;
    mishap_json_key(json, mishap_text_of(question->name));
    mishap_json_open(json, '{');
    if (question->method) {
        MISHAP_JSON_KEY(json, "method");
        mishap_json_string(json, mishap_text_of(question->method));
        MISHAP_JSON_KEY(json, "params");
        mishap_buffer_put_text(json, asked->message);
    } else {
        MISHAP_JSON_KEY(json, "message");
        mishap_json_string(json, asked->message);
        MISHAP_JSON_KEY(json, "schema");
        mishap_question_put_schema(json, question);
        if (question->person) {
            MISHAP_JSON_KEY(json, "person");
            mishap_json_bool(json, true);
        }
    }
    mishap_json_close(json, '}');
}

static void put_message(mishap_buffer *words, const mishap_asked *asked)
{
    for (; asked; asked = asked->next) {
        if (words->length)
            MISHAP_PUT(words, " ");
        if (asked->question->method) {
            MISHAP_PUT(words, "The client is asked for ");
            mishap_buffer_put_text(words, mishap_text_of(asked->question->method));
            MISHAP_PUT(words, ".");
        } else {
            mishap_buffer_put_text(words, asked->message);
        }
    }
}

mishap *mishap_asking_conclude(mishap_call *call)
{
    mishap_buffer json = { 0 }, words = { 0 };
    mishap_json_open(&json, '{');
    for (const mishap_asked *asked = call->questions; asked; asked = asked->next)
        mishap_asking_put_question(&json, asked);
    mishap_json_close(&json, '}');
    put_message(&words, call->questions);
    mishap *m = json.failed || words.failed
                    ? mishap_out_of_memory()
                    : mishap_message(mishap_make(MISHAP_CODE_INPUT_REQUIRED),
                                     mishap_buffer_text(&words));
    if (!json.failed)
        m = mishap_tell_value(
            m, (mishap_text)MISHAP_TEXT("questions"),
            (mishap_value){ .kind = MISHAP_KIND_JSON, .text = mishap_buffer_text(&json) });
    mishap_buffer_release(&json);
    mishap_buffer_release(&words);
    return m;
}
