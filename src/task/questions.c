/* What a task asks, as bytes, and answers to it held against the row of the task. */
#include <stdio.h>

#include "task/inside.h"
#include "worker/wire/frame.h"

/* -- as bytes ---------------------------------------------------------------------------------- */

/* Questions have their names, not their places: a later version of the program may have others. */
void mishap_task_questions_put(mishap_buffer *out, const mishap_task_questions *questions)
{
    mishap_pack_u8(out, (uint8_t)questions->count);
    for (size_t i = 0; i < questions->count; i++) {
        const mishap_task_question *q = &questions->list[i];
        mishap_pack_u8(out, (uint8_t)q->number);
        mishap_pack_text(out, mishap_text_of(q->asked.question->name));
        mishap_pack_u32(out, (uint32_t)q->plain.length);
        mishap_pack_text(out, q->asked.message);
    }
}

/* The message is written to callers as it is, and of a request to a client as JSON. */
static bool is_sound(const mishap_question *question, mishap_text message)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (mishap_utf8_valid_length(message) != message.length ||
        (message.length && memchr(message.data, '\0', message.length)))
        return false;
    if (!question->method)
        return true;
    bool sound = mishap_json_read(&reader, message) && yyjson_is_obj(reader.root);
    mishap_json_reader_release(&reader);
    return sound;
}

bool mishap_task_questions_take(mishap_text bytes, const mishap_operation *operation,
                                mishap_task_questions *questions)
{
    mishap_unpack in = mishap_unpack_of(bytes);
    size_t count = mishap_unpack_u8(&in);
    questions->count = 0;
    if (count > MISHAP_ASKING_QUESTIONS)
        return false;
    for (size_t i = 0; i < count; i++) {
        mishap_task_question q = { .number = mishap_unpack_u8(&in) };
        q.asked.question = mishap_question_find(operation, mishap_unpack_text(&in));
        size_t plain = mishap_unpack_u32(&in);
        q.asked.message = mishap_unpack_text(&in);
        q.plain = (mishap_text){ q.asked.message.data, plain };
        if (in.failed || plain > q.asked.message.length)
            return false;
        if (!q.asked.question)
            continue;
        if (!is_sound(q.asked.question, q.asked.message))
            return false;
        questions->list[questions->count++] = q;
    }
    return mishap_unpack_ended(&in) && questions->count;
}

/* No name of a question has a hyphen. */
void mishap_task_question_put_key(mishap_buffer *out, const mishap_task_question *question)
{
    char number[16];
    mishap_buffer_put_text(out, mishap_text_of(question->asked.question->name));
    if (question->number < 2)
        return;
    snprintf(number, sizeof number, "-%u", question->number);
    mishap_buffer_put_text(out, mishap_text_of(number));
}

/* -- rows -------------------------------------------------------------------------------------- */

const mishap_operation *mishap_task_operation(const mishap_app *app, mishap_text name)
{
    const mishap_operation *o = app->operations;
    while (o->name && !mishap_text_equal(mishap_text_of(o->name), name))
        o++;
    return o->name ? o : NULL;
}

static bool copy_text(mishap_arena *arena, mishap_text *text)
{
    if (text->data)
        *text = mishap_arena_copy(arena, *text);
    return text->data;
}

bool mishap_task_copy_row(mishap_arena *arena, const mishap_task_row *row, mishap_task_row *copy)
{
    *copy = *row;
    bool made = copy_text(arena, &copy->key) && copy_text(arena, &copy->owner) &&
                copy_text(arena, &copy->operation) && copy_text(arena, &copy->server) &&
                copy_text(arena, &copy->incident);
    return made && (!row->call.data || copy_text(arena, &copy->call)) &&
           (!row->outcome.data || copy_text(arena, &copy->outcome)) &&
           (!row->mark.data || copy_text(arena, &copy->mark));
}

/* Without memory it has no text, and `*failed` is true. */
static mishap_text keep_bytes(mishap_arena *arena, mishap_buffer *bytes, bool *failed)
{
    mishap_text kept = { NULL, 0 };
    if (!bytes->failed)
        kept = mishap_arena_copy(arena, mishap_buffer_text(bytes));
    *failed = *failed || !kept.data;
    mishap_buffer_release(bytes);
    return kept;
}

/* Two changes in one millisecond are two: the time is what tells them apart. */
static void touch(mishap_task_row *row)
{
    int64_t now = mishap_clock_now_ms();
    row->changed_ms = now > row->changed_ms ? now : row->changed_ms + 1;
}

mishap *mishap_task_end_row(mishap_arena *arena, mishap_task_row *row, mishap_task_state state,
                            const mishap *failure)
{
    mishap_buffer outcome = { 0 };
    bool failed = false;
    mishap_task_put_outcome(&outcome, NULL, failure);
    mishap_text kept = keep_bytes(arena, &outcome, &failed);
    if (failed)
        return mishap_out_of_memory();
    row->state = state;
    row->outcome = kept;
    touch(row);
    return NULL;
}

/* A call as a row has it: a frame without its head. */
bool mishap_task_put_call(mishap_buffer *out, const mishap_call *call, int limit_ms)
{
    mishap_frame_put_call(out, 0, 0, call, (uint32_t)(limit_ms > 0 ? limit_ms : 0));
    if (out->failed || out->length < MISHAP_FRAME_HEAD)
        return false;
    out->length -= MISHAP_FRAME_HEAD;
    memmove(out->data, out->data + MISHAP_FRAME_HEAD, out->length);
    return true;
}

static mishap_text keep(mishap_call *call, mishap_text text)
{
    return text.data ? mishap_arena_copy(&call->arena, text) : text;
}

/* The bytes may be freed before the call ends, so it has copies of its own. */
void mishap_task_prepare(mishap_call *call, const mishap_frame_call *asked)
{
    call->verbose = asked->verbose;
    call->caller = asked->caller.data ? keep(call, asked->caller).data : NULL;
    call->caller_is_free = asked->caller_is_free;
    call->boundary = asked->boundary;
    call->scopes = asked->scopes;
    call->request_id = keep(call, asked->request_id);
    call->remote = keep(call, asked->remote);
    call->headers = keep(call, asked->headers);
    call->traceparent = keep(call, asked->traceparent);
    call->if_match = keep(call, asked->if_match);
    call->if_none_match = keep(call, asked->if_none_match);
    call->id = keep(call, asked->id);
    call->body = keep(call, asked->body);
    call->body_type = asked->body_type.data ? keep(call, asked->body_type).data : NULL;
    call->limit_ms = (int)asked->limit_ms;
    call->replies = keep(call, asked->replies);
    call->rounds = asked->rounds;
}

/* -- answers ----------------------------------------------------------------------------------- */

/* What answers are held against. */
struct giving {
    const mishap_task_given *given;
    mishap_arena *arena;
    mishap_task_row *row;
    mishap_call *call; /* of the task */
    mishap_task_questions open;
    yyjson_val *answers;
    mishap *wrong;
    bool refused; /* one was declined: the handler decides what that means */
};

static mishap_text key_of(const struct giving *g, const mishap_task_question *q,
                          mishap_buffer *room)
{
    mishap_buffer_reset(room);
    if (g->given->form == MISHAP_ANSWERS_OF_CLIENT)
        mishap_task_question_put_key(room, q);
    else
        mishap_buffer_put_text(room, mishap_text_of(q->asked.question->name));
    return mishap_buffer_text(room);
}

/* The answer to a question, if one was given. */
static yyjson_val *find_given(const struct giving *g, const mishap_task_question *q)
{
    char storage[256];
    mishap_buffer room;
    mishap_buffer_init(&room, storage, sizeof storage);
    mishap_text key = key_of(g, q, &room);
    yyjson_val *found = room.failed ? NULL : yyjson_obj_getn(g->answers, key.data, key.length);
    mishap_buffer_release(&room);
    return found;
}

/* A program may send a name that is a mistake. Clients of MCP may send what they have sent before.
 */
static mishap *refuse_unknown(const struct giving *g)
{
    size_t index, count, known = 0;
    yyjson_val *key, *value;
    mishap *m = NULL;
    for (size_t i = 0; i < g->open.count; i++)
        known += find_given(g, &g->open.list[i]) != NULL;
    if (g->given->form == MISHAP_ANSWERS_OF_CLIENT || known == yyjson_obj_size(g->answers))
        return NULL;
    m = mishap_raise(VALIDATION_ERROR, "The answers name a question that the task does not ask.");
    MISHAP_JSON_MEMBERS (g->answers, index, count, key, value) {
        bool open = false;
        for (size_t i = 0; i < g->open.count; i++)
            open = open || find_given(g, &g->open.list[i]) == value;
        if (!open)
            m = mishap_field_add(m, &(mishap_field){ .field = mishap_json_text(key),
                                                     .error = MISHAP_TEXT("unknown_field") });
    }
    return m;
}

/* The answers to open questions, by their names. */
static mishap *take_given(struct giving *g)
{
    mishap_buffer json = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = NULL;
    mishap_json_open(&json, '{');
    for (size_t i = 0; i < g->open.count; i++) {
        yyjson_val *value = find_given(g, &g->open.list[i]);
        if (!value)
            continue;
        mishap_json_key(&json, mishap_text_of(g->open.list[i].asked.question->name));
        mishap_json_copy(&json, value);
    }
    mishap_json_close(&json, '}');
    if (json.failed || !mishap_json_read(&reader, mishap_buffer_text(&json)))
        failure = mishap_out_of_memory();
    else
        failure = mishap_asking_answer(g->call, reader.root, g->given->form);
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&json);
    return failure;
}

/* Each finding of an answer, under the name of its question. */
static void tell_wrong(struct giving *g, const mishap_task_question *q, mishap_text flaw)
{
    yyjson_val *content = find_given(g, q);
    mishap_buffer path = { 0 };
    if (g->given->form == MISHAP_ANSWERS_OF_CLIENT)
        content = yyjson_obj_get(content, "content");
    mishap *findings = yyjson_is_obj(content) && !q->asked.question->method
                           ? mishap_params_check(q->asked.question->params, content)
                           : NULL;
    if (!g->wrong)
        g->wrong = mishap_raise(VALIDATION_ERROR,
                                "An answer is not valid, so the task asks its question again. %.*s",
                                (int)flaw.length, flaw.data);
    const mishap_field *f = findings ? mishap_told(findings)->fields : NULL;
    if (!f)
        g->wrong = mishap_field_add(
            g->wrong, &(mishap_field){ .field = mishap_text_of(q->asked.question->name),
                                       .error = MISHAP_TEXT("invalid") });
    for (; f; f = f->next) {
        mishap_field named = *f;
        mishap_buffer_reset(&path);
        mishap_buffer_put_text(&path, mishap_text_of(q->asked.question->name));
        mishap_buffer_put_text(&path, mishap_text_of("."));
        mishap_buffer_put_text(&path, f->field);
        if (!path.failed)
            named.field = mishap_buffer_text(&path);
        named.next = NULL;
        g->wrong = mishap_field_add(g->wrong, &named);
    }
    mishap_free(findings);
    mishap_buffer_release(&path);
}

/* It is asked again, with what was wrong. */
static bool ask_again(struct giving *g, mishap_task_question *q, mishap_text flaw)
{
    mishap_buffer words = { 0 };
    bool failed = false;
    tell_wrong(g, q, flaw);
    q->number = g->call->rounds + 1;
    if (q->asked.question->method)
        return true;
    mishap_buffer_put_text(&words, q->plain);
    size_t plain = words.length;
    mishap_buffer_put_text(&words, mishap_text_of(" "));
    mishap_buffer_put_text(&words, flaw);
    q->asked.message = keep_bytes(g->arena, &words, &failed);
    q->plain = (mishap_text){ q->asked.message.data, failed ? 0 : plain };
    return !failed;
}

/* Leave the questions that are still open. False: there is no memory. */
static bool leave_open(struct giving *g)
{
    mishap_task_questions left = { 0 };
    yyjson_val *replies = mishap_json_read_into(&g->call->arena, g->call->replies);
    bool made = replies;
    for (size_t i = 0; made && i < g->open.count; i++) {
        mishap_task_question *q = &g->open.list[i];
        yyjson_val *reply = yyjson_obj_get(replies, q->asked.question->name);
        yyjson_val *flaw = yyjson_obj_get(reply, "wrong");
        if (flaw)
            made = ask_again(g, q, mishap_json_text(flaw));
        else if (reply)
            g->refused = g->refused || !yyjson_obj_get(reply, "accept");
        if (flaw || !reply)
            left.list[left.count++] = *q;
    }
    g->open = left;
    g->call->rounds += g->wrong != NULL;
    return made;
}

static mishap *write_row(struct giving *g)
{
    mishap_buffer call = { 0 }, questions = { 0 };
    bool failed = false, asks = g->open.count && !g->refused;
    if (asks)
        mishap_task_questions_put(&questions, &g->open);
    mishap_task_put_call(&call, g->call, g->call->limit_ms);
    mishap_text kept = keep_bytes(g->arena, &call, &failed);
    mishap_text open = asks ? keep_bytes(g->arena, &questions, &failed) : (mishap_text){ NULL, 0 };
    if (failed)
        return mishap_out_of_memory();
    g->row->call = kept;
    g->row->outcome = open;
    g->row->state = asks ? MISHAP_TASK_ASKING : MISHAP_TASK_QUEUED;
    g->row->rounds = (int)g->call->rounds;
    g->row->attempts = asks ? g->row->attempts : 0;
    touch(g->row);
    return NULL;
}

mishap *mishap_task_asks_nothing(void)
{
    return mishap_suggest(mishap_raise(CONFLICT, "The task asks nothing now."),
                          "Another answer may have come first. Ask for the state of the task.");
}

static mishap *too_often(const struct giving *g)
{
    return mishap_raise(
        CANCELLED,
        "`%s` was cancelled: its question `%s` was still open after %d rounds of questions.",
        g->call->operation->name, g->open.list[0].asked.question->name, (int)MISHAP_ASKING_ROUNDS);
}

static mishap *give(struct giving *g)
{
    MISHAP_TRY(refuse_unknown(g));
    MISHAP_TRY(take_given(g));
    if (!leave_open(g))
        return mishap_out_of_memory();
    if (!g->wrong || g->refused || g->call->rounds <= MISHAP_ASKING_ROUNDS)
        return write_row(g);
    mishap *last = too_often(g);
    mishap *failure = mishap_task_end_row(g->arena, g->row, MISHAP_TASK_CANCELLED, last);
    mishap_free(last);
    return failure;
}

static mishap *read_given(struct giving *g, mishap_json_reader *reader)
{
    if (g->given->answers.length > MISHAP_ASKING_REPLIES)
        return mishap_raise(CONTENT_TOO_LARGE, "The answers are longer than %d bytes.",
                            (int)MISHAP_ASKING_REPLIES);
    mishap *failure = mishap_object_read(reader, g->given->answers, NULL);
    g->answers = reader->root;
    return failure ? failure : give(g);
}

static mishap *remake(const mishap_app *app, const mishap_operation *operation, mishap_text bytes,
                      mishap_call **call)
{
    mishap_frame_call asked;
    if (!mishap_frame_take_call(bytes, &asked))
        return mishap_raise(INTERNAL_ERROR, "The stored call of %s cannot be read.",
                            operation->name);
    MISHAP_TRY(mishap_call_remake(app, operation, asked.arguments, call));
    mishap_task_prepare(*call, &asked);
    return NULL;
}

mishap *mishap_task_give(const mishap_app *app, mishap_arena *arena, const mishap_task_given *given,
                         mishap_task_row *row, mishap **wrong)
{
    const mishap_operation *operation = mishap_task_operation(app, row->operation);
    struct giving g = { .given = given, .arena = arena, .row = row };
    mishap_json_reader reader = MISHAP_JSON_READER;
    *wrong = NULL;
    if (!operation)
        return mishap_raise(NOT_FOUND, "The operation of this task does not exist any more.");
    MISHAP_TRY(mishap_scopes_permit(app, given->scopes, mishap_operation_scopes(app, operation),
                                    "caller"));
    if (row->state != MISHAP_TASK_ASKING)
        return mishap_tell(mishap_task_asks_nothing(), "state",
                           mishap_task_state_words[row->state]);
    if (!mishap_task_questions_take(row->outcome, operation, &g.open))
        return mishap_raise(INTERNAL_ERROR, "The stored questions of %s cannot be read.",
                            operation->name);
    mishap *failure = remake(app, operation, row->call, &g.call);
    if (!failure)
        failure = read_given(&g, &reader);
    mishap_json_reader_release(&reader);
    mishap_call_end(g.call);
    if (failure)
        mishap_free(g.wrong);
    else
        *wrong = g.wrong;
    return failure;
}
