/* Which parameters of a declaration are secret, and what values a call has of them. */
#include "operation/secret.h"

#include "base/base64.h"
#include "operation/call.h"
#include "operation/declare.h"
#include "operation/file.h"
#include "operation/settings.h"

/* -- declarations ------------------------------------------------------------------------------ */

/* A declaration that contains itself is refused at the start; until then it must not be endless. */
static bool has_secret(const mishap_param *param, size_t depth)
{
    if (param->secret)
        return true;
    if (depth > MISHAP_DEEPEST_PARAM)
        return false;
    for (const mishap_param *member = param->members; member && member->name; member++)
        if (has_secret(member, depth + 1))
            return true;
    return param->items && has_secret(param->items, depth + 1);
}

bool mishap_param_has_secret(const mishap_param *param)
{
    return has_secret(param, 0);
}

bool mishap_params_have_secret(const mishap_param *params)
{
    for (; params && params->name; params++)
        if (has_secret(params, 0))
            return true;
    return false;
}

bool mishap_operation_has_secret(const mishap_operation *operation)
{
    return mishap_params_have_secret(operation->params) ||
           (operation->service && mishap_params_have_secret(operation->service->settings));
}

/* Is there a secret parameter of this name? An array of secrets is one by its own name, too. */
static bool names_secret(const mishap_param *params, mishap_text name, bool inside, size_t depth)
{
    for (; params && params->name && depth <= MISHAP_DEEPEST_PARAM; params++) {
        const mishap_param *inner = params;
        bool secret = inside || params->secret;
        for (size_t i = 0; inner->items && i <= MISHAP_DEEPEST_PARAM; i++) {
            inner = inner->items;
            secret = secret || inner->secret;
        }
        if ((secret && mishap_param_is_named(params, name)) ||
            names_secret(inner->members, name, secret, depth + 1))
            return true;
    }
    return false;
}

bool mishap_path_names_secret(const mishap_param *params, mishap_text path)
{
    size_t from = 0;
    for (size_t at = 0; at <= path.length; at++) {
        if (at < path.length && !strchr(".[]/", path.data[at]))
            continue;
        if (at > from &&
            names_secret(params, (mishap_text){ path.data + from, at - from }, false, 0))
            return true;
        from = at + 1;
    }
    return false;
}

/* -- values ------------------------------------------------------------------------------------ */

/* What is called with each value that is secret as a whole, and how it is declared. */
typedef void visitor(void *state, const mishap_param *param, yyjson_val *value);

static void walk(const mishap_param *param, yyjson_val *value, visitor *visit, void *state,
                 size_t depth)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (!value || depth > MISHAP_DEEPEST_PARAM || !has_secret(param, depth))
        return;
    if (param->secret) {
        visit(state, param, value);
        return;
    }
    for (const mishap_param *member = param->members; member && member->name; member++) {
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            if (mishap_param_is_named(member, mishap_json_text(key)))
                walk(member, item, visit, state, depth + 1);
        }
    }
    if (param->items) {
        MISHAP_JSON_ITEMS (value, index, count, item)
            walk(param->items, item, visit, state, depth + 1);
        MISHAP_JSON_MEMBERS (value, index, count, key, item)
            walk(param->items, item, visit, state, depth + 1);
    }
}

static void note_one(void *state, const mishap_param *param, yyjson_val *value)
{
    bool *found = state;
    (void)param;
    *found = *found || !yyjson_is_null(value);
}

bool mishap_param_value_has_secret(const mishap_param *param, yyjson_val *value)
{
    bool found = false;
    walk(param, value, note_one, &found, 0);
    return found;
}

struct place {
    yyjson_val *at;
    bool found;
};

/* The values of a document lie behind one another, those of a container right behind it. */
static void compare_place(void *state, const mishap_param *param, yyjson_val *value)
{
    struct place *place = state;
    (void)param;
    if (place->at >= value && place->at < unsafe_yyjson_get_next(value))
        place->found = true;
}

bool mishap_secret_stands_at(const mishap_param *params, yyjson_val *object, yyjson_val *at)
{
    struct place place = { at, false };
    walk(&(mishap_param){ .type = MISHAP_OBJECT, .members = params }, object, compare_place, &place,
         0);
    return place.found;
}

/* -- learning ---------------------------------------------------------------------------------- */

struct learning {
    mishap_secrets *secrets;
    mishap_arena *arena;
};

/* As JSON spells it, in the arena: the value may be the only place that has it. */
static void learn_number(struct learning *learning, yyjson_val *value)
{
    char storage[64];
    mishap_buffer spelled;
    mishap_buffer_init(&spelled, storage, sizeof storage);
    mishap_json_copy(&spelled, value);
    mishap_text text = mishap_buffer_text(&spelled);
    if (learning->secrets->numbers)
        text = mishap_arena_copy(learning->arena, text);
    if (spelled.failed || !text.data)
        learning->secrets->unknown = true;
    else
        mishap_secrets_add_number(learning->secrets, text);
    mishap_buffer_release(&spelled);
}

/* A handler gets the bytes of a base64 text, and may repeat them. */
static void learn_bytes(struct learning *learning, mishap_text base64, size_t size)
{
    mishap_buffer decoded = { 0 };
    mishap_text bytes = { base64.data, size }; /* while they are counted, the length is enough */
    if (learning->secrets->texts) {
        if (!mishap_base64_read(&decoded, base64))
            decoded.failed = true;
        bytes = mishap_buffer_text(&decoded);
        if (!decoded.failed)
            bytes = mishap_arena_copy(learning->arena, bytes);
        if (decoded.failed || !bytes.data)
            learning->secrets->unknown = true;
        mishap_buffer_release(&decoded);
    }
    if (bytes.data)
        mishap_secrets_add_text(learning->secrets, bytes);
}

/* A text that a handler gets in another form is a secret in that form, too. */
static void learn_read(struct learning *learning, const mishap_param *param, mishap_text text)
{
    mishap_file_parts file;
    size_t size;
    char written[MISHAP_WRITTEN];
    mishap_uuid uuid;
    if (param->type == MISHAP_FILE && mishap_file_split(text, &file)) {
        learn_bytes(learning, file.base64, file.size);
    } else if (param->type == MISHAP_BYTES && mishap_base64_measure(text, &size)) {
        learn_bytes(learning, text, size);
    } else if (param->type == MISHAP_UUID && mishap_uuid_read(text, &uuid)) {
        mishap_text small = mishap_text_of(mishap_uuid_write(uuid, written));
        if (learning->secrets->texts)
            small = mishap_arena_copy(learning->arena, small);
        if (!small.data)
            learning->secrets->unknown = true;
        else
            mishap_secrets_add_text(learning->secrets, small);
    }
}

/* Each text and number in a secret is one, and so is a key that no declaration makes public. */
static void learn(struct learning *learning, const mishap_param *param, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (yyjson_is_str(value) && param)
        learn_read(learning, param, mishap_json_text(value));
    if (yyjson_is_str(value))
        mishap_secrets_add_text(learning->secrets, mishap_json_text(value));
    else if (yyjson_is_num(value) || yyjson_is_raw(value))
        learn_number(learning, value);
    MISHAP_JSON_MEMBERS (value, index, count, key, item) {
        const mishap_param *member = mishap_param_find(param ? param->members : NULL,
                                                       mishap_json_text(key));
        if (!member)
            mishap_secrets_add_text(learning->secrets, mishap_json_text(key));
        learn(learning, member || !param ? member : param->items, item);
    }
    MISHAP_JSON_ITEMS (value, index, count, item)
        learn(learning, param ? param->items : NULL, item);
}

static void learn_one(void *state, const mishap_param *param, yyjson_val *value)
{
    learn(state, param, value);
}

static void learn_settings(struct learning *learning, const mishap_service *service)
{
    const mishap_param *declared;
    yyjson_val *value;
    if (mishap_settings_find(service, &declared, &value))
        walk(declared, value, learn_one, learning, 0);
}

/* `call` may be NULL. */
static void learn_all(struct learning *learning, const mishap_call *call,
                      const mishap_service *service)
{
    for (size_t i = 0; call && i < call->param_count; i++)
        walk(&call->operation->params[i], call->values[i], learn_one, learning, 0);
    learn_settings(learning, service);
}

/* Once to count them, once to keep them. */
static void learn_twice(mishap_secrets *secrets, mishap_arena *arena, const mishap_call *call,
                        const mishap_service *service)
{
    struct learning learning = { secrets, arena };
    *secrets = (mishap_secrets){ 0 };
    learn_all(&learning, call, service);
    if (mishap_secrets_none(secrets))
        return;
    secrets->texts = mishap_arena_take(arena, (secrets->count + 1) * sizeof *secrets->texts);
    secrets->numbers = mishap_arena_take(arena,
                                         (secrets->number_count + 1) * sizeof *secrets->numbers);
    if (!secrets->texts || !secrets->numbers || secrets->unknown) {
        *secrets = (mishap_secrets){ .unknown = true };
        return;
    }
    secrets->count = secrets->number_count = 0;
    learn_all(&learning, call, service);
    mishap_secrets_sort(secrets);
}

void mishap_secrets_learn(mishap_secrets *secrets, mishap_arena *arena, const mishap_call *call)
{
    learn_twice(secrets, arena, call, call->operation->service);
}

void mishap_settings_learn(mishap_secrets *secrets, mishap_arena *arena,
                           const mishap_service *service)
{
    learn_twice(secrets, arena, NULL, service);
}

const mishap_secrets *mishap_call_secrets(mishap_call *call)
{
    static const mishap_secrets unknown = { .unknown = true };
    if (call->secrets || !mishap_operation_has_secret(call->operation))
        return call->secrets;
    mishap_secrets *secrets = mishap_arena_take(&call->arena, sizeof *secrets);
    if (!secrets)
        return &unknown;
    mishap_secrets_learn(secrets, &call->arena, call);
    call->secrets = secrets;
    return secrets;
}
