/* A program whose handlers ask, for asking_test.py: deletions that a person or a program confirms,
 * with and without a settlement, and what only a client of MCP can answer. */
#include <mishap/main.h>

static const mishap_param confirm_params[] = {
    { "sure", MISHAP_BOOLEAN, .required = true, .help = "Delete them" },
    { "why", MISHAP_STRING, .length = { 0, 20 }, .initial = "\"none\"", .help = "Reason" },
    { 0 },
};
static const mishap_param name_params[] = {
    { "name", MISHAP_STRING, .required = true, .help = "Whose" },
    { "password", MISHAP_STRING, .secret = true },
    { 0 },
};

static mishap *purge(mishap_call *call)
{
    const mishap_call *confirm = mishap_reply(call, "confirm");
    if (!confirm)
        return mishap_ask(call, "confirm", confirm_params, "Delete %d todos of %s?", 3,
                          mishap_string(call, "name"));
    mishap_answer_member(call, "deleted", mishap_boolean(confirm, "sure") ? 3 : 0);
    return mishap_answer_member(call, "why", mishap_string(confirm, "why"));
}

static const mishap_param reason_params[] = { { "name", MISHAP_STRING, .required = true }, { 0 } };
static const char *const colours[] = { "red", "green", "blue", NULL };
static const mishap_param colour = { .type = MISHAP_ENUM, .choices = colours };
static const mishap_param choice_params[] = { { "colours", MISHAP_ARRAY, .items = &colour },
                                              { 0 } };

/* Two questions in one run; the third has a form that came later. */
static mishap *both(mishap_call *call)
{
    mishap *asked = NULL;
    if (!mishap_reply(call, "confirm"))
        asked = mishap_ask(call, "confirm", NULL, "First?");
    if (mishap_reply_state(call, "confirm") > MISHAP_REPLY_ACCEPTED)
        return asked; /* it was refused */
    if (!mishap_reply(call, "reason"))
        asked = mishap_ask(call, "reason", NULL, "Second?");
    if (asked)
        return asked;
    mishap_answer_member(call, "sure", mishap_boolean(mishap_reply(call, "confirm"), "sure"));
    return mishap_answer_member(call, "name", mishap_string(mishap_reply(call, "reason"), "name"));
}

static mishap *choose(mishap_call *call)
{
    if (!mishap_reply(call, "colours"))
        return mishap_ask(call, "colours", NULL, "Which?");
    return mishap_answer(call, mishap_json(mishap_reply(call, "colours"), ""));
}

/* It asks nothing, and needs a worker. */
static mishap *plain(mishap_call *call)
{
    return mishap_answer_member(call, "name", mishap_string(call, "name"));
}

static mishap *roots(mishap_call *call)
{
    if (!mishap_reply(call, "roots"))
        return mishap_ask_client(call, "roots", NULL);
    return mishap_answer(call, mishap_json(mishap_reply(call, "roots"), ""));
}

/* It repeats its secret, which no question may show. */
static mishap *leaks(mishap_call *call)
{
    return mishap_ask(call, "confirm", NULL, "Is %s right?", mishap_string(call, "password"));
}

/* -- what is undone ---------------------------------------------------------------------------- */

static int kept, tried;

static mishap *begin(mishap_call *call)
{
    (void)call;
    tried = kept;
    return NULL;
}

static mishap *end(mishap_call *call, bool keep)
{
    (void)call;
    kept = keep ? tried : kept;
    return NULL;
}

static mishap *settle(void *state)
{
    (void)state;
    return NULL;
}

static mishap *add(mishap_call *call)
{
    tried++;
    if (!mishap_reply(call, "confirm"))
        return mishap_ask(call, "confirm", NULL, "Add to %d?", tried - 1);
    return mishap_answer_member(call, "count", tried);
}

static mishap *open_counter(const mishap_setup *setup, void **state)
{
    (void)setup;
    *state = &kept;
    return NULL;
}

static const mishap_settlement settlement = { .begin = begin, .end = end, .settle = settle };
static const mishap_service counter = {
    .name = "counter", .summary = "A number", .open = open_counter, .settlement = &settlement
};

#define ASKS MISHAP_ASKS({ "confirm", .params = confirm_params })
static const mishap_operation operations[] = {
    { "purge", "Delete all todos", name_params, purge, .route = "DELETE /todos", .asks = ASKS,
      .stateless = true },
    { "rename", "Rename all todos", name_params, purge, .route = "POST /rename/:name", .asks = ASKS,
      .stateless = true },
    { "look", "Ask and change nothing", name_params, purge, .route = "GET /look", .asks = ASKS,
      .stateless = true },
    { "quick", "Ask in the server", name_params, purge, .route = "POST /quick", .asks = ASKS,
      .quick = true },
    { "person", "Ask a person", name_params, purge, .route = "POST /person",
      .asks = MISHAP_ASKS({ "confirm", .params = confirm_params, .person = true }),
      .stateless = true },
    { "roots", "Ask the client", NULL, roots, .route = "POST /roots",
      .asks = MISHAP_ASKS({ "roots", .method = "roots/list" }), .stateless = true },
    { "both", "Ask two questions", NULL, both,
      .asks = MISHAP_ASKS({ "confirm", .params = confirm_params },
                          { "reason", .params = reason_params }),
      .stateless = true },
    { "choose", "Ask for several of some", NULL, choose,
      .asks = MISHAP_ASKS({ "colours", .params = choice_params }), .stateless = true },
    { "plain", "Ask nothing", name_params, plain, .stateless = true },
    { "leaks", "Ask with a secret", name_params, leaks, .route = "POST /leaks", .asks = ASKS,
      .stateless = true },
    { "counter.add", "Add one", NULL, add, .route = "POST /counter", .asks = ASKS,
      .service = &counter },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "asking",
                                      .version = "1.0",
                                      .summary = "Handlers that ask",
                                      .operations = operations });
}
