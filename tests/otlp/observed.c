/* A program whose operations fail, for tests of what a collector is told. */
#include <mishap/main.h>

static mishap *fine(mishap_call *call)
{
    return mishap_answer_member(call, "fine", true);
}

/* The server's fault, with something for the operator, and secrets in every place. */
static mishap *fault(mishap_call *call)
{
    (void)call;
    mishap *m = mishap_raise(INTERNAL_ERROR, "The disk marker-private-disk is full.");
    m = mishap_note(m, "disk", "marker-private-sda1");
    m = mishap_note(m, "password", "s3cret-noted");
    return mishap_because(
        m, mishap_note(mishap_raise(UNAVAILABLE, "No answer."), "token", "s3cret-cause"));
}

/* The caller's fault. */
static mishap *missing(mishap_call *call)
{
    return mishap_tell(mishap_raise(NOT_FOUND, "There is no thing of that name."), "name",
                       mishap_string(call, "name"));
}

/* Fail with what it was told in confidence in every part of the failure. */
static mishap *confide(mishap_call *call)
{
    const char *pin = mishap_string(call, "account.pin"),
               *card = mishap_string(call, "cards[0].number");
    bool own = mishap_boolean(call, "own");
    mishap_tell_operator(call, "marker-private-line: %s and %s.", pin, card);
    mishap *m = own ? mishap_raise(INTERNAL_ERROR, "marker-private-message: %s, %s.", pin, card)
                    : mishap_raise(NOT_FOUND, "There is no %s, nor %s.", pin, card);
    m = mishap_suggest(m, mishap_call_print(call, "Try another one than %s.", card));
    m = mishap_field_says(mishap_field_required(m, "account.name"), "It goes with %s.", pin);
    m = mishap_tell(mishap_tell(m, "given", pin), "authorization", "Bearer s3cret-told");
    m = mishap_tell(
        m, "whole",
        mishap_value_of_json(mishap_call_print(call, "{\"a\":[{\"b\":\"%s\"}]}", card)));
    m = mishap_note(mishap_note(m, "marker-private-note", card), "api_key", "s3cret-api-key");
    m = mishap_note(m, "store", "postgresql://user:s3cret-address@host/");
    mishap *cause = mishap_raise(UNAVAILABLE, "marker-private-cause: %s.", pin);
    return mishap_because(m, mishap_note(cause, "client_secret", "s3cret-client"));
}

static const mishap_param secret_account[] = {
    { "name", MISHAP_STRING, .help = "Its name" },
    { "pin", MISHAP_STRING, .required = true, .secret = true,
      .help = "A secret inside of an object" },
    { 0 },
};
static const mishap_param secret_card[] = {
    { "number", MISHAP_STRING, .required = true, .secret = true,
      .help = "A secret inside of an array" },
    { 0 },
};
static const mishap_param one_card = { .type = MISHAP_OBJECT, .members = secret_card };
static const mishap_param confided[] = {
    { "account", MISHAP_OBJECT, .required = true, .members = secret_account, .help = "An account" },
    { "cards", MISHAP_ARRAY, .required = true, .items = &one_card, .help = "Cards" },
    { "own", MISHAP_BOOLEAN, .help = "Whether it is a fault of its own" },
    { "size", MISHAP_INTEGER, .range = { 1, 9 }, .help = "A number" },
    { 0 },
};

static const mishap_param named[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 100 }, .help = "Which" },
    { "password", MISHAP_STRING, .secret = true, .help = "A secret" },
    { 0 },
};

static const mishap_operation operations[] = {
    { .name = "things.fine", .summary = "Work", .route = "GET /fine", .run = fine, .quick = true },
    { .name = "things.fault",
      .summary = "Fail",
      .route = "POST /fault",
      .params = named,
      .run = fault,
      .stateless = true },
    { .name = "things.show",
      .summary = "Find nothing",
      .route = "GET /things/:name",
      .params = named,
      .run = missing,
      .raises = MISHAP_RAISES(NOT_FOUND),
      .quick = true },
    { .name = "things.confide",
      .summary = "Fail with secrets",
      .route = "POST /confide",
      .params = confided,
      .run = confide,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(
        argc, argv,
        &(mishap_app){ .name = "observed", .version = "1.2", .operations = operations });
}
