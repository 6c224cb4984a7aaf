/* A program with two services that have settings, for settings_test.py. Both have a store and a
 * secret, and tell what they were opened with. */
#include <mishap/main.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct opened {
    const char *store, *token; /* settings live until the service is closed */
    char folder[100];          /* the last name of the data folder, whose path does not */
    int process;
};

static mishap *open_works(const mishap_setup *setup, void **state)
{
    const char *store = mishap_string(setup->settings, "store");
    const char *token = mishap_string(setup->settings, "token");
    if (store && strcmp(store, "broken:") == 0)
        return mishap_note(mishap_raise(NOT_CONFIGURED, "The store wants another token than %s.",
                                        token ? token : "none"),
                           "token_that_was_sent", token);
    struct opened *opened = malloc(sizeof *opened);
    if (!opened)
        return mishap_raise(INTERNAL_ERROR, "There is no memory.");
    *opened = (struct opened){ store, token, .process = (int)getpid() };
    snprintf(opened->folder, sizeof opened->folder, "%s", strrchr(setup->data, '/') + 1);
    *state = opened;
    return NULL;
}

static void close_works(void *state)
{
    free(state);
}

static const mishap_param press_settings[] = {
    { "store", MISHAP_STRING, .length = { 1, 200 }, .help = "Where prints are kept" },
    { "copies", MISHAP_INTEGER, .range = { 1, 9 }, .initial = "2", .help = "Copies of each" },
    { "paper", MISHAP_ENUM, .choices = MISHAP_CHOICES("a4", "letter"), .initial = "\"a4\"" },
    { "token", MISHAP_STRING, .secret = true, .length = { 8, 100 }, .help = "For the printer" },
    { "loud", MISHAP_BOOLEAN, .help = "Whether it may be heard" },
    { 0 },
};
static const mishap_param vault_settings[] = {
    { "store", MISHAP_STRING, .length = { 1, 200 }, .help = "Where it is kept" },
    { "token", MISHAP_STRING, .secret = true, .help = "For the door" },
    { "door", MISHAP_OBJECT,
      .members = MISHAP_PARAMS({ "number", MISHAP_INTEGER, .required = true }) },
    { 0 },
};

static const mishap_service press = { "press", "Prints", open_works, .close = close_works,
                                      .settings = press_settings };
static const mishap_service vault = { "vault", "Keeps things", open_works, .close = close_works,
                                      .settings = vault_settings };

static mishap *show_press(mishap_call *call)
{
    const struct opened *opened = mishap_state(call);
    mishap_answer_member(call, "store", opened->store);
    mishap_answer_member(call, "folder", opened->folder);
    mishap_answer_member(call, "paper", mishap_string(mishap_settings(call), "paper"));
    if (mishap_given(mishap_settings(call), "loud"))
        mishap_answer_member(call, "loud", mishap_boolean(mishap_settings(call), "loud"));
    mishap_answer_member(call, "opened_here", (bool)(opened->process == (int)getpid()));
    mishap_answer_member(call, "token_length", opened->token ? strlen(opened->token) : 0);
    return mishap_answer_member(call, "copies", mishap_integer(mishap_settings(call), "copies"));
}

static mishap *show_vault(mishap_call *call)
{
    const struct opened *opened = mishap_state(call);
    mishap_answer_member(call, "store", opened->store);
    return mishap_answer_member(call, "door", mishap_integer(mishap_settings(call), "door.number"));
}

/* Tells its secret in every way there is. */
static mishap *blab(mishap_call *call)
{
    const struct opened *opened = mishap_state(call);
    const char *token = opened->token ? opened->token : "none";
    mishap_tell_operator(call, "The token is %s.", token);
    mishap *m = mishap_tell(mishap_raise(UNAVAILABLE, "The token %s is not taken.", token), "sent",
                            token);
    return mishap_note(mishap_suggest(mishap_tell_cause(m, token), token), "noted", token);
}

static const mishap_operation operations[] = {
    { "press.show", "Show the press", .run = show_press, .route = "GET /press", .service = &press },
    { "press.blab", "Tell a secret", .run = blab, .route = "GET /blab", .service = &press,
      .raises = MISHAP_RAISES(UNAVAILABLE) },
    { "vault.show", "Show the vault", .run = show_vault, .route = "GET /vault", .service = &vault },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "works",
                                      .version = "1.0",
                                      .operations = operations,
                                      .services = MISHAP_SERVICES(&press, &vault) });
}
