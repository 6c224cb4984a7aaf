/*
 * Parameters declared secret, of every type and at every depth: no failure shows them, in no
 * dialect and in no account.
 */
#include "testing.h"

#include "operation/call.h"

/* A secret text contains this; a secret number begins so. */
#define MARK   "Mk7xQ"
#define NUMBER "815472"

/* -- what a failure shows ---------------------------------------------------------------------- */

/* All dialects and the account, one after the other. */
static void put_everything(mishap_buffer *all, const mishap *failure)
{
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        mishap_render(*dialect, failure, all);
        MISHAP_PUT(all, "\n");
    }
    mishap_account(failure, all);
    mishap_buffer_put_char(all, '\0');
}

/* Call it, and hide as a boundary does; what is shown is malloc'ed. */
static char *shown(const mishap_operation *operation, const char *arguments)
{
    static const mishap_app app = { .name = "sample" };
    mishap_call *call;
    mishap_buffer all = { 0 };
    mishap *failure = mishap_call_begin(&app, operation, mishap_text_of(arguments), &call);
    if (!failure)
        failure = mishap_call_run(call);
    assert_non_null(failure);
    mishap_hide_failure(failure, operation->params, call ? mishap_call_secrets(call) : NULL);
    put_everything(&all, failure);
    mishap_free(failure);
    mishap_call_end(call);
    char *text = strdup(all.data);
    mishap_buffer_release(&all);
    return text;
}

/* -- a handler that says all it knows, in every way -------------------------------------------- */

static const mishap_param *spoken; /* its parameters */

static mishap *tell_all(mishap_call *call)
{
    mishap *m = mishap_raise(NOT_FOUND, "It starts.");
    mishap_buffer all = { 0 };
    for (const mishap_param *param = spoken; param->name; param++) {
        if (!mishap_given(call, param->name))
            continue;
        const char *json = mishap_json(call, param->name);
        mishap_buffer_put_text(&all, mishap_text_of(json));
        MISHAP_PUT(&all, " and ");
        m = mishap_tell(m, mishap_call_print(call, "given_%s", param->name),
                        mishap_value_of_json(json));
        m = mishap_note(m, param->name, mishap_value_of_json(json));
        m = mishap_field_add(m, &(mishap_field){ .field = mishap_text_of(param->name),
                                                 .error = T("not_liked"),
                                                 .expected = mishap_value_of_string(json),
                                                 .actual = mishap_value_of_json(json) });
        m = mishap_field_says(m, "%s is not liked.", json);
        m = mishap_field_range(m, "other", mishap_value_of_json(json), mishap_value_none(),
                               mishap_value_of_json(json));
        m = mishap_because(
            m, mishap_note(mishap_raise(TIMEOUT, "Because of %s.", json), "json", json));
    }
    mishap_buffer_put_char(&all, '\0');
    m = mishap_message(m, mishap_text_of(all.data));
    m = mishap_suggest(mishap_tell_cause(m, all.data), all.data);
    m = mishap_frame_add(mishap_output(m, mishap_text_of(all.data)), mishap_text_of(all.data));
    mishap_buffer_release(&all);
    return m;
}

static mishap *tell_undeclared(mishap_call *call)
{
    return mishap_because(mishap_raise(CONFLICT, "It is %s.", mishap_json(call, "value")),
                          tell_all(call));
}

static mishap *answer_nonsense(mishap_call *call)
{
    return mishap_answer(call, mishap_call_print(call, "{\"a\":%s", mishap_json(call, "value")));
}

/* -- every type, at every depth ---------------------------------------------------------------- */

static const char *const modes[] = { MARK "-one", MARK "-two", NULL };

static const struct kind {
    const char *what;
    mishap_param param;
    const char *good, *bad; /* as JSON */
} kinds[] = {
    { "string",
      { .type = MISHAP_STRING, .length = { 0, 40 } },
      "\"" MARK " %22\\\"\\u00e9\\\\\"",
      "\"" MARK "1234567890123456789012345678901234567890\"" },
    { "integer",
      { .type = MISHAP_INTEGER, .range = { 0, 999999999 } },
      NUMBER "111",
      NUMBER "99999" },
    { "number", { .type = MISHAP_NUMBER, .range = { 0, 999999999 } }, NUMBER ".25", NUMBER "9e9" },
    { "enum", { .type = MISHAP_ENUM, .choices = modes }, "\"" MARK "-two\"", "\"" MARK "-three\"" },
    { "array",
      { .type = MISHAP_ARRAY, .items = &(const mishap_param){ .type = MISHAP_STRING } },
      "[\"" MARK "\",\"x" MARK "y\"]",
      "[\"" MARK "\"," NUMBER "1]" },
    { "object",
      { .type = MISHAP_OBJECT },
      "{\"" MARK "\":{\"b\":[" NUMBER "5,\"" MARK "b\"]}}",
      "\"" MARK "\"" },
    { "boolean", { .type = MISHAP_BOOLEAN }, "true", "\"" MARK "\"" },
};

enum { DEPTHS = 6 };

/* The parameter `value` with the secret in it, so deep, and the value around that of the secret. */
static void wrap(size_t depth, mishap_param *secret, mishap_param room[3][2], char *json,
                 size_t size, const char *inner)
{
    static const mishap_param end = { 0 };
    mishap_param *items = room[2];
    secret->secret = true;
    secret->name = "value";
    room[0][1] = room[1][1] = end;
    switch (depth) {
    case 0: /* the parameter itself */
        room[0][0] = *secret;
        snprintf(json, size, "{\"value\":%s}", inner);
        return;
    case 1: /* an item */
        room[0][0] = (mishap_param){ .name = "value", .type = MISHAP_ARRAY, .items = secret };
        snprintf(json, size, "{\"value\":[%s,%s]}", inner, inner);
        return;
    case 2: /* a member */
        secret->name = "pin";
        room[1][0] = *secret;
        room[0][0] = (mishap_param){ .name = "value", .type = MISHAP_OBJECT, .members = room[1] };
        snprintf(json, size, "{\"value\":{\"pin\":%s,\"more\":\"shown\"}}", inner);
        return;
    case 3: /* a member of an item */
        secret->name = "pin";
        room[1][0] = *secret;
        items[0] = (mishap_param){ .type = MISHAP_OBJECT, .members = room[1] };
        room[0][0] = (mishap_param){ .name = "value", .type = MISHAP_ARRAY, .items = items };
        snprintf(json, size, "{\"value\":[{},{\"pin\":%s}]}", inner);
        return;
    case 4: /* an item of an item */
        items[0] = (mishap_param){ .type = MISHAP_ARRAY, .items = secret };
        room[0][0] = (mishap_param){ .name = "value", .type = MISHAP_ARRAY, .items = items };
        snprintf(json, size, "{\"value\":[[],[%s]]}", inner);
        return;
    default: /* in something that is secret as a whole */
        secret->name = "pin";
        secret->secret = false;
        room[1][0] = *secret;
        room[0][0] = (mishap_param){
            .name = "value", .type = MISHAP_OBJECT, .members = room[1], .secret = true
        };
        snprintf(json, size, "{\"value\":{\"pin\":%s}}", inner);
    }
}

static void assert_hidden(const struct kind *kind, size_t depth, const char *how, char *text)
{
    if (strstr(text, MARK) || strstr(text, NUMBER))
        fail_msg("%s at depth %zu, %s: %s", kind->what, depth, how, text);
    free(text);
}

static void no_type_at_no_depth_is_shown(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t depth = 0; depth < DEPTHS; depth++) {
            char good[300], bad[300];
            mishap_param room[3][2], secret = kinds[k].param;
            wrap(depth, &secret, room, good, sizeof good, kinds[k].good);
            secret = kinds[k].param;
            wrap(depth, &secret, room, bad, sizeof bad, kinds[k].bad);
            /* The choices of an enum are declared, and public: a rejected value is none of them. */
            bool public = kinds[k].param.type == MISHAP_ENUM;
            mishap_operation operation = { .name = "tell",
                                           .summary = "Tell",
                                           .params = room[0],
                                           .run = tell_all,
                                           .raises = MISHAP_RAISES(NOT_FOUND) };
            spoken = room[0];
            assert_hidden(&kinds[k], depth, "raised", shown(&operation, good));
            operation.run = tell_undeclared;
            assert_hidden(&kinds[k], depth, "undeclared", shown(&operation, good));
            operation.run = answer_nonsense;
            assert_hidden(&kinds[k], depth, "nonsense", shown(&operation, good));
            char *refused = shown(&operation, bad);
            assert_non_null(strstr(refused, "VALIDATION_ERROR"));
            if (public) {
                assert_null(strstr(refused, MARK "-three"));
                free(refused);
            } else {
                assert_hidden(&kinds[k], depth, "refused", refused);
            }
        }
}

/* -- what is too short to be looked for -------------------------------------------------------- */

static mishap *tell_short(mishap_call *call)
{
    mishap *m = mishap_raise(NOT_FOUND, "At line 7 of 42 ab is true.");
    m = mishap_tell(m, "account", mishap_value_of_json(mishap_json(call, "account")));
    m = mishap_tell(m, "pin", 7);
    m = mishap_note(m, "account.pin", 7);
    m = mishap_tell(m, "line", 42);
    m = mishap_field_range(m, "account.pin", mishap_value_of_int(8), mishap_value_none(),
                           mishap_value_of_int(7));
    return mishap_field_range(m, "/account/owner", mishap_value_of_int(8), mishap_value_none(),
                              mishap_value_of_int(5));
}

static void a_short_secret_is_hidden_by_its_name(void **state)
{
    (void)state;
    static const mishap_param members[] = {
        { .name = "pin", .type = MISHAP_INTEGER, .secret = true },
        { .name = "word", .type = MISHAP_STRING, .secret = true },
        { .name = "on", .type = MISHAP_BOOLEAN, .secret = true },
        { .name = "owner", .type = MISHAP_STRING },
        { 0 },
    };
    static const mishap_param params[] = {
        { "account", MISHAP_OBJECT, .required = true, .members = members }, { 0 }
    };
    const mishap_operation operation = {
        .name = "tell", .params = params, .run = tell_short, .raises = MISHAP_RAISES(NOT_FOUND)
    };
    char *text = shown(&operation, "{\"account\":{\"pin\":7,\"word\":\"ab\",\"on\":true,"
                                   "\"owner\":\"me\"}}");
    /* Words of a sentence stay: a text without its small numbers says nothing. */
    assert_non_null(strstr(text, "At line 7 of 42 ab is true."));
    assert_non_null(strstr(text, "{\"pin\":\"[redacted]\",\"word\":\"[redacted]\","
                                 "\"on\":\"[redacted]\",\"owner\":\"me\"}"));
    assert_non_null(strstr(text, "\"pin\":\"[redacted]\""));
    assert_non_null(strstr(text, "noted account.pin = \"[redacted]\""));
    assert_non_null(strstr(text, "\"line\":42"));
    assert_null(strstr(text, "\"actual\":7"));
    assert_non_null(strstr(text, "\"actual\":5"));
    free(text);
}

/* -- texts that are cut ------------------------------------------------------------------------ */

static char heard[4096];

static void hear(const char *program, const char *operation, const char *id, mishap_text words,
                 bool verbose)
{
    (void)program, (void)operation, (void)id, (void)verbose;
    snprintf(heard, sizeof heard, "%.*s", (int)words.length, words.data);
}

/* So that the secret lies across the place where the text is cut. */
static mishap *say_much(mishap_call *call)
{
    const char *value = mishap_string(call, "value");
    mishap_tell_operator(call, "%02040d %s", 0, value);
    mishap_warn(call, "%0501d %s", 0, value);
    mishap_warn(call, "short: %s", value);
    return mishap_raise(NOT_FOUND, NULL);
}

static void the_beginning_of_a_secret_is_not_shown_where_a_text_is_cut(void **state)
{
    (void)state;
    static const mishap_app app = { .name = "sample" };
    static const mishap_param params[] = { { "value", MISHAP_STRING, .secret = true }, { 0 } };
    static const mishap_operation operation = { .name = "say", .params = params, .run = say_much };
    mishap_call *call;
    assert_null(
        mishap_call_begin(&app, &operation, T("{\"value\":\"" MARK "-and-much-more\"}"), &call));
    call->to_operator = hear;
    mishap_free(mishap_call_run(call));
    assert_null(strstr(heard, MARK));
    assert_int_equal(strlen(heard), 2000);
    mishap_text warnings = mishap_call_warnings(call);
    char first[516] = { 0 };
    assert_true(warnings.length > 515);
    memcpy(first, warnings.data, 515);
    assert_null(strstr(first, MARK));
    assert_string_equal(first + 502, " [redacted\",\"");
    mishap_call_end(call);
}

static void a_key_that_stands_twice_in_a_secret_is_not_named(void **state)
{
    (void)state;
    static const mishap_param params[] = {
        { .name = "vault", .type = MISHAP_OBJECT, .secret = true },
        { .name = "open", .type = MISHAP_OBJECT },
        { 0 },
    };
    static const mishap_operation operation = { .name = "tell", .params = params, .run = tell_all };
    char *text = shown(&operation, "{\"vault\":{\"a\":[{\"" MARK "\":1,\"" MARK "\":2}]}}");
    assert_non_null(strstr(text, "An object has a duplicate key."));
    assert_null(strstr(text, MARK));
    free(text);
    text = shown(&operation, "{\"open\":{\"x\":1,\"x\":2}}");
    assert_non_null(strstr(text, "The object has the key `x` twice"));
    free(text);
    text = shown(&operation, "{\"vault\":{},\"vault\":{}}");
    assert_non_null(strstr(text, "The object has the key `vault` twice"));
    free(text);
}

/* -- anything at all --------------------------------------------------------------------------- */

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

enum { MOST_PARAMS = 400, WIDEST = 3, DEEPEST = 4 };
static mishap_param made[MOST_PARAMS];
static size_t made_count;
static char names[MOST_PARAMS][12];

static const mishap_param *make_list(size_t depth);

/* A parameter of any type; what is deep is simple. */
static mishap_param make_param(size_t depth)
{
    static const mishap_type_of_param types[] = { MISHAP_STRING,  MISHAP_INTEGER, MISHAP_NUMBER,
                                                  MISHAP_BOOLEAN, MISHAP_ARRAY,   MISHAP_OBJECT };
    mishap_param param = { .type = types[draw(depth < DEEPEST ? 6 : 4)], .secret = draw(3) == 0 };
    if (param.type == MISHAP_ARRAY) {
        mishap_param items = make_param(depth + 1);
        made[made_count] = items;
        param.items = &made[made_count++];
    }
    if (param.type == MISHAP_OBJECT && draw(4))
        param.members = make_list(depth + 1);
    return param;
}

static const mishap_param *make_list(size_t depth)
{
    mishap_param list[WIDEST + 1] = { 0 };
    size_t count = 1 + draw(WIDEST);
    for (size_t i = 0; i < count; i++)
        list[i] = make_param(depth);
    mishap_param *kept = &made[made_count];
    assert_true(made_count + count + 1 < MOST_PARAMS);
    made_count += count + 1;
    for (size_t i = 0; i <= count; i++) {
        kept[i] = list[i];
        if (i < count) {
            snprintf(names[kept - made + i], sizeof names[0], "p_%zu", (size_t)(kept - made) + i);
            kept[i].name = names[kept - made + i];
        }
    }
    return kept;
}

/* What JSON, addresses and terminals escape, around the mark. */
static void put_text(mishap_buffer *b, bool secret)
{
    static const char *const odd[] = {
        "",        " ",   "\"", "\\", "%",   "/", "\xC3\xA9", "\n", "\xF0\x9F\x94\x91",
        "\\u0041", "%41", "+",  "'",  "\x7F"
    };
    char text[100];
    snprintf(text, sizeof text, "%s%s%s%u%s", odd[draw(14)], secret ? MARK : "open", odd[draw(14)],
             (unsigned)draw(1000), odd[draw(14)]);
    mishap_json_string(b, mishap_text_of(text));
}

static void put_number(mishap_buffer *b, bool secret, bool whole)
{
    static const char *const ends[] = { "", "", ".5", ".0", "e2", "E+3" };
    char text[40];
    snprintf(text, sizeof text, "%s%s%u%s", draw(2) ? "-" : "", secret ? NUMBER : "1",
             (unsigned)draw(1000), ends[draw(whole ? 2 : 6)]);
    mishap_json_comma(b);
    mishap_buffer_put_text(b, mishap_text_of(text));
}

static void put_value(mishap_buffer *b, const mishap_param *param, bool secret, size_t depth);

/* An object of which nothing is declared. */
static void put_any(mishap_buffer *b, bool secret, size_t depth)
{
    mishap_json_open(b, '{');
    for (size_t i = draw(3); i > 0; i--) {
        char key[40];
        snprintf(key, sizeof key, "%s%zu", secret ? MARK : "open", i);
        mishap_json_key(b, mishap_text_of(key));
        mishap_param any = { .type = depth > 8 || draw(2) ? MISHAP_STRING : MISHAP_OBJECT };
        put_value(b, &any, secret, depth + 1);
    }
    mishap_json_close(b, '}');
}

static void put_members(mishap_buffer *b, const mishap_param *params, bool secret, size_t depth)
{
    mishap_json_open(b, '{');
    for (; params->name; params++)
        if (draw(8)) {
            mishap_json_key(b, mishap_text_of(params->name));
            put_value(b, params, secret, depth + 1);
        }
    mishap_json_close(b, '}');
}

static void put_value(mishap_buffer *b, const mishap_param *param, bool secret, size_t depth)
{
    secret = secret || param->secret;
    switch (param->type) {
    case MISHAP_STRING:
        put_text(b, secret);
        break;
    case MISHAP_BOOLEAN:
        mishap_json_bool(b, draw(2));
        break;
    case MISHAP_ARRAY:
        mishap_json_open(b, '[');
        for (size_t i = draw(4); i > 0; i--)
            put_value(b, param->items, secret, depth + 1);
        mishap_json_close(b, ']');
        break;
    case MISHAP_OBJECT:
        if (param->members)
            put_members(b, param->members, secret, depth);
        else
            put_any(b, secret, depth);
        break;
    default:
        put_number(b, secret, param->type == MISHAP_INTEGER);
    }
}

/* A secret number in any spelling begins with the same digits. */
static void nothing_random_is_shown(void **state)
{
    (void)state;
    for (uint32_t round = 1; round <= 400; round++) {
        mishap_buffer arguments = { 0 };
        seed = round * 2654435761u;
        made_count = 0;
        spoken = make_list(0);
        put_members(&arguments, spoken, false, 0);
        mishap_buffer_put_char(&arguments, '\0');
        const mishap_operation operation = {
            .name = "tell", .params = spoken, .run = tell_all, .raises = MISHAP_RAISES(NOT_FOUND)
        };
        char *text = shown(&operation, arguments.data);
        char *flat = strdup(text), *to = flat;
        for (const char *at = text; *at; at++) /* 8.15472e9 */
            if (*at != '.')
                *to++ = *at;
        *to = '\0';
        if (strstr(text, MARK) || strstr(flat, NUMBER))
            fail_msg("round %u, %s: %s", round, arguments.data, text);
        assert_non_null(strstr(text, "NOT_FOUND"));
        free(text);
        free(flat);
        mishap_buffer_release(&arguments);
    }
}

/* -- without memory ---------------------------------------------------------------------------- */

static void hide_one(const void *input)
{
    const mishap_operation *operation = input;
    static const mishap_app app = { .name = "sample" };
    mishap_call *call;
    size_t allowed = fail_at, used = calls;
    fail_at = 0; /* what is told is whole; hiding it is what fails */
    assert_null(mishap_call_begin(
        &app, operation,
        T("{\"value\":{\"pin\":\"" MARK "\\\"\",\"number\":" NUMBER "1,\"plain\":\"x\"}}"), &call));
    mishap *failure = mishap_call_run(call);
    calls = used;
    fail_at = allowed;
    mishap_hide_failure(failure, operation->params, mishap_call_secrets(call));
    allowed = fail_at, used = calls;
    fail_at = 0;
    mishap_buffer all = { 0 };
    put_everything(&all, failure);
    assert_null(strstr(all.data, MARK));
    assert_null(strstr(all.data, NUMBER));
    mishap_buffer_release(&all);
    calls = used;
    fail_at = allowed;
    mishap_free(failure);
    mishap_call_end(call);
}

static void without_memory_nothing_is_shown(void **state)
{
    (void)state;
    static const mishap_param members[] = {
        { .name = "pin", .type = MISHAP_STRING, .secret = true },
        { .name = "number", .type = MISHAP_INTEGER, .secret = true },
        { .name = "plain", .type = MISHAP_STRING },
        { 0 },
    };
    static const mishap_param params[] = {
        { .name = "value", .type = MISHAP_OBJECT, .members = members }, { 0 }
    };
    const mishap_operation operation = {
        .name = "tell", .params = params, .run = tell_all, .raises = MISHAP_RAISES(NOT_FOUND)
    };
    spoken = params;
    mishap_use_allocator(&failing_allocator);
    torture(hide_one, &operation);
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_type_at_no_depth_is_shown),
        TEST(a_short_secret_is_hidden_by_its_name),
        TEST(the_beginning_of_a_secret_is_not_shown_where_a_text_is_cut),
        TEST(a_key_that_stands_twice_in_a_secret_is_not_named),
        TEST(nothing_random_is_shown),
        TEST(without_memory_nothing_is_shown),
    };
    return RUN(tests);
}
