/* Which command is meant, what may have been meant, and which exit codes a command has. */
#include "cli/manual/manual.h"
#include "cli/words/command.h"
#include "operation/operation.h"
#include "sample_app.h"
#include "testing.h"

static void the_samples_are_declared_soundly(void **state)
{
    (void)state;
    const mishap_app *apps[] = { &small_app, &large_app };
    for (size_t i = 0; i < 2; i++) {
        mishap *broken = mishap_declaration_check(apps[i]);
        if (broken)
            fail_msg("%s", mishap_public_message(mishap_told(broken)).data);
    }
}

/* -- commands ---------------------------------------------------------------------------------- */

static void assert_found(const mishap_app *app, const char *const *words, size_t count,
                         const char *name, size_t used)
{
    size_t taken = 99;
    const mishap_operation *found = mishap_cli_find(app, words, count, &taken);
    if (name)
        assert_string_equal(found ? found->name : "none", name);
    else
        assert_null(found);
    assert_int_equal(taken, used);
}
#define FOUND(app, name, used, ...)                                                                \
    assert_found((app), (const char *const[]){ __VA_ARGS__ },                                      \
                 sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), (name), (used))

static void words_name_an_operation(void **state)
{
    (void)state;
    FOUND(&large_app, "items.create", 2, "items", "create");
    FOUND(&large_app, "items.create", 2, "items", "create", "more", "words");
    FOUND(&large_app, "network.hosts.list", 3, "network", "hosts", "list", "--help");
    FOUND(&large_app, "connect", 1, "connect", "items", "create");
    FOUND(&large_app, NULL, 0, "items");
    FOUND(&large_app, NULL, 0, "items", "creat");
    FOUND(&large_app, NULL, 0, "items", "creates");
    FOUND(&large_app, NULL, 0, "items.create");
    FOUND(&large_app, NULL, 0, "Items", "create");
    FOUND(&large_app, NULL, 0, "");
    FOUND(&large_app, NULL, 0, "help");
    assert_found(&large_app, NULL, 0, NULL, 0);
}

static void words_stop_at_the_first_flag(void **state)
{
    (void)state;
    FOUND(&large_app, NULL, 0, "items", "--verbose", "create");
    FOUND(&large_app, NULL, 0, "--verbose", "connect");
    FOUND(&large_app, "connect", 1, "connect", "--verbose");
}

static void an_underscore_may_be_typed_as_a_hyphen(void **state)
{
    (void)state;
    FOUND(&large_app, "network.hosts.show_all", 3, "network", "hosts", "show_all");
    FOUND(&large_app, "network.hosts.show_all", 3, "network", "hosts", "show-all");
    FOUND(&large_app, NULL, 0, "net_work", "hosts", "list");
}

static void the_longest_name_wins(void **state)
{
    (void)state;
    const mishap_operation operations[] = {
        { .name = "a" }, { .name = "a.b" }, { .name = "a.b.c" }, { 0 }
    };
    const mishap_app app = { .name = "x", .operations = operations };
    FOUND(&app, "a.b.c", 3, "a", "b", "c", "d");
    FOUND(&app, "a.b", 2, "a", "b", "d");
    FOUND(&app, "a", 1, "a", "c");
}

static void names_are_spelled_for_a_command_line(void **state)
{
    (void)state;
    mishap_buffer b = { 0 };
    mishap_cli_put_command(&b, "network.hosts.show_all");
    mishap_buffer_add(&b, "|", 1);
    mishap_cli_put_flag(&b, "timeout_ms");
    mishap_buffer_add(&b, "", 1);
    assert_string_equal(b.data, "network hosts show_all|timeout-ms");
    mishap_buffer_release(&b);
}

/* A program's own command comes in place of the one that every program has; so does a parameter. */
static void what_is_declared_replaces_what_all_have(void **state)
{
    (void)state;
    const mishap_operation operations[] = {
        { .name = "manifest", .params = operation_of(&large_app, "items.import")->params }, { 0 }
    };
    const mishap_app app = { .name = "x", .operations = operations };
    char seen[200] = "";
    for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(&app, o));)
        strcat(strcat(seen, o->name), o == operations ? "! " : " ");
    assert_string_equal(seen, "manifest! help completion manual ");
    seen[0] = '\0';
    const mishap_param *verbose = mishap_cli_flags;
    while (strcmp(verbose->name, "verbose") != 0)
        verbose++;
    for (const mishap_param *p = NULL; (p = mishap_cli_next_flag(operations, p));)
        strcat(strcat(seen, p->name), mishap_cli_is_common(p) ? "* " : " ");
    assert_string_equal(
        seen, "format file limit report verbose output* dialect* timeout_ms* help* version* ");
    assert_int_equal(mishap_cli_letter(operation_of(&large_app, "items.remove"), verbose), 0);
    assert_int_equal(mishap_cli_letter(operation_of(&large_app, "connect"), verbose), 'v');
}

/* -- what may have been meant ------------------------------------------------------------------ */

static void the_nearest_name_is_found(void **state)
{
    (void)state;
    static const char *const names[] = { "render",  "translate", "check",   "catalog",
                                         "explain", "manifest",  "connect", "users create",
                                         "ls",      "--dialect", NULL };
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        { "rendr", "render" },
        { "redner", "render" },
        { "RENDER", "render" },
        { "translat", "translate" },
        { "trasnlaet", "translate" },
        { "chekc", "check" },
        { "chek", "check" },
        { "hceck", "check" },
        { "cat", "catalog" },
        { "catlog", "catalog" },
        { "mainfest", "manifest" },
        { "users.create", "users create" },
        { "user create", "users create" },
        { "users_creat", "users create" },
        { "ls", "ls" },
        { "LS", "ls" },
        { "--dialekt", "--dialect" },
        { "con", "connect" },
        { "chk", "check" },
        { "ctlg", "catalog" },
        { "rdr", "render" },
        { "edr", NULL }, /* not from its first letter on */
        { "mft", NULL }, /* fewer than half of them */
        { "dialect", "--dialect" },
        { "ab", NULL },
        { "l", NULL },
        { "", NULL },
        { "xyzzy", NULL },
        { "rundown", NULL },
        { "checkout", NULL },
        { "c", NULL },
        { "a very long text that is longer than any name of a command could ever be", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *nearest = mishap_cli_nearest(cases[i].word, names);
        if ((nearest == NULL) != (cases[i].nearest == NULL) ||
            (nearest && strcmp(nearest, cases[i].nearest) != 0))
            fail_msg("`%s` is near `%s`, not `%s`", cases[i].word,
                     cases[i].nearest ? cases[i].nearest : "nothing",
                     nearest ? nearest : "nothing");
    }
    assert_null(mishap_cli_nearest("anything", (const char *const[]){ NULL }));
}

static void fewer_mistakes_are_nearer_and_the_first_wins(void **state)
{
    (void)state;
    assert_string_equal(
        mishap_cli_nearest("stats", (const char *const[]){ "state", "status", "stat", NULL }),
        "state");
    assert_string_equal(mishap_cli_nearest("lists", (const char *const[]){ "lints", "list", NULL }),
                        "lints");
    assert_string_equal(
        mishap_cli_nearest("comp", (const char *const[]){ "completion", "camp", NULL }), "camp");
    assert_string_equal(
        mishap_cli_nearest("comp", (const char *const[]){ "completion", "compare", NULL }),
        "completion");
    /* The start of a name is worse than one mistake, better than two. */
    assert_string_equal(
        mishap_cli_nearest("compar", (const char *const[]){ "comdor", "comparison", NULL }),
        "comparison");
}

/* -- exit codes -------------------------------------------------------------------------------- */

static const mishap_exit *row(const mishap_exit *exits, size_t count, int code)
{
    for (size_t i = 0; i < count; i++)
        if (exits[i].code == code)
            return &exits[i];
    fail_msg("there is no row for %d", code);
    return &exits[0]; /* not reached */
}

static void assert_row(const mishap_operation *operation, int code, const char *name,
                       const char *description, bool retryable, const char *side_effects)
{
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    const mishap_exit *found = row(
        exits, mishap_cli_exits(NULL, operation, exits, MISHAP_CLI_MOST_EXITS), code);
    assert_string_equal(found->name, name);
    assert_string_equal(found->description, description);
    assert_int_equal(found->retryable, retryable);
    assert_string_equal(found->side_effects, side_effects);
}

static void every_map_of_exit_codes_is_sound(void **state)
{
    (void)state;
    static const int needed[] = { 0, 1, 2, 4, 10, 130, 143 };
    for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(&large_app, o));) {
        mishap_exit exits[MISHAP_CLI_MOST_EXITS];
        size_t count = mishap_cli_exits(NULL, o, exits, MISHAP_CLI_MOST_EXITS);
        for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
            row(exits, count, needed[i]);
        for (size_t i = 0; o->raises && o->raises[i]; i++)
            row(exits, count, o->raises[i]->exit_code);
        for (size_t i = 0; i < count; i++) {
            assert_true(i == 0 || exits[i - 1].code < exits[i].code);
            assert_true(strlen(exits[i].name) > 0);
            assert_true(strlen(exits[i].description) > 0 && strlen(exits[i].description) <= 120);
            assert_true(!exits[i].retryable || strcmp(exits[i].side_effects, "none") == 0);
            assert_true(exits[i].code == 0 || strcmp(exits[i].side_effects, "complete") != 0);
            assert_true(mishap_operation_danger(o) != MISHAP_SAFE ||
                        strcmp(exits[i].side_effects, "none") == 0);
        }
    }
}

static void the_effects_follow_from_what_is_declared(void **state)
{
    (void)state;
    const mishap_operation *safe = operation_of(&large_app, "connect"),
                           *mutating = operation_of(&large_app, "items.create");
    assert_row(safe, 0, "SUCCESS", "The command succeeded.", false, "none");
    assert_row(mutating, 0, "SUCCESS", "The command succeeded.", false, "complete");
    assert_row(mutating, 1, "GENERAL_ERROR", "The command failed; no other exit code applies.",
               false, "partial");
    assert_row(mutating, 2, "ARG_ERROR", "The arguments are not valid; nothing was done.", false,
               "none");
    assert_row(mutating, 10, "TIMEOUT", "The command exceeded its timeout.", false, "partial");
    assert_row(safe, 10, "TIMEOUT", "The command exceeded its timeout (REQUEST_TIMEOUT).", true,
               "none");
    assert_row(mutating, 143, "TERMINATED", "The command was terminated by SIGTERM.", false,
               "partial");
}

static void codes_with_one_exit_code_share_a_row(void **state)
{
    (void)state;
    const mishap_operation *create = operation_of(&large_app, "items.create"),
                           *connect = operation_of(&large_app, "connect");
    /* LOCKED alone may be retried, ALREADY_EXISTS may not. */
    assert_row(create, 6, "CONFLICT",
               "The command conflicts with existing data (ALREADY_EXISTS, LOCKED).", false, "none");
    assert_row(create, 74, "EX_IOERR",
               "There is no space left to store this. The output could not be written.", false,
               "none");
    assert_row(create, 11, "RATE_LIMITED", "There were too many requests.", true, "none");
    assert_row(connect, 12, "UNAVAILABLE",
               "A required service is not available (CONNECTION_REFUSED, CONNECTION_TIMEOUT, "
               "HOST_NOT_FOUND, HOST_UNREACHABLE, ...).",
               true, "none");
    assert_row(connect, 4, "PRECONDITION",
               "A precondition does not hold; nothing was done (TOO_EARLY).", false, "none");
    assert_row(operation_of(&large_app, "items.import"), 79, "NONCONFORMING",
               "The document does not conform to its format.", false, "none");
    assert_row(operation_of(&large_app, "items.import"), 3, "PARTIAL_FAILURE",
               "Only a part of the work was done.", false, "partial");
}

static void what_a_service_may_fail_with_is_an_exit_of_its_operations(void **state)
{
    (void)state;
    static const mishap_service service = { .name = "store" };
    const mishap_operation plain = { .name = "a" }, stored = { .name = "b", .service = &service };
    const mishap_operation declared = { .name = "c",
                                        .service = &service,
                                        .raises = MISHAP_RAISES(UNAVAILABLE) };
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    size_t few = mishap_cli_exits(NULL, &plain, exits, MISHAP_CLI_MOST_EXITS);
    assert_int_equal(mishap_cli_exits(NULL, &stored, exits, MISHAP_CLI_MOST_EXITS), few + 2);
    row(exits, few + 2, 12);
    row(exits, few + 2, 78);
    assert_row(&stored, 12, "UNAVAILABLE", "A required service is not available.", true, "none");
    assert_int_equal(mishap_cli_exits(NULL, &declared, exits, MISHAP_CLI_MOST_EXITS), few + 2);
}

static mishap *do_nothing(mishap_call *call)
{
    (void)call;
    return NULL;
}

static void what_a_service_and_a_program_declare_is_an_exit_of_their_operations(void **state)
{
    (void)state;
    const mishap_service service = { .name = "store", .raises = MISHAP_RAISES(NOT_FOUND) };
    const mishap_app app = { .name = "d", .raises = MISHAP_RAISES(RATE_LIMITED) };
    const mishap_operation stored = { .name = "a", .run = do_nothing, .service = &service };
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    size_t count = mishap_cli_exits(&app, &stored, exits, MISHAP_CLI_MOST_EXITS);
    row(exits, count, MISHAP_CODE_NOT_FOUND->exit_code);
    row(exits, count, MISHAP_CODE_RATE_LIMITED->exit_code);
    /* What every program has, such as `help`, raises nothing of the program's. */
    assert_int_equal(mishap_cli_exits(&app, mishap_cli_builtins, exits, MISHAP_CLI_MOST_EXITS),
                     mishap_cli_exits(NULL, mishap_cli_builtins, exits, MISHAP_CLI_MOST_EXITS));
}

static void danger_that_is_not_said_follows_from_the_route(void **state)
{
    (void)state;
    static const struct {
        const char *route;
        mishap_danger said, danger;
    } cases[] = {
        { NULL, MISHAP_BY_ROUTE, MISHAP_SAFE },
        { NULL, MISHAP_MUTATING, MISHAP_MUTATING },
        { "GET /a", MISHAP_BY_ROUTE, MISHAP_SAFE },
        { "POST /a", MISHAP_BY_ROUTE, MISHAP_MUTATING },
        { "POST /a", MISHAP_SAFE, MISHAP_SAFE },
        { "PUT /a", MISHAP_BY_ROUTE, MISHAP_MUTATING },
        { "PATCH /a", MISHAP_BY_ROUTE, MISHAP_MUTATING },
        { "DELETE /a", MISHAP_BY_ROUTE, MISHAP_DESTRUCTIVE },
        { "DELETE /a", MISHAP_MUTATING, MISHAP_MUTATING },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_operation operation = { .name = "a",
                                       .route = cases[i].route,
                                       .danger = cases[i].said };
        assert_int_equal(mishap_operation_danger(&operation), cases[i].danger);
    }
}

/* Codes of a program's own table can have long names and sentences. */
static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    static const char words[] =
        "Größe ist nicht alles, aber ohne Größe ist alles nichts, und so weiter, und so fort, bis "
        "mehr als 120 Bytes beisammen sind, was öfter vorkommt.";
    static const char name[] =
        "A_NAME_THAT_IS_LONGER_THAN_ANY_ROOM_THAT_WAS_LEFT_FOR_THE_NAMES_OF_CODES";
    mishap_code long_code = { .name = MISHAP_TEXT("LONG"),
                              .exit_code = 80,
                              .retry = MISHAP_RETRY_YES };
    long_code.name = mishap_text_of(name);
    for (size_t cut = 0; cut < 8; cut++) {
        long_code.message = mishap_text_of(words + cut * (cut != 3 && cut != 5));
        const mishap_code *const raises[] = { &long_code, MISHAP_CODE_NONCONFORMING, &long_code,
                                              NULL };
        const mishap_operation operation = { .name = "x", .raises = raises };
        mishap_exit exits[MISHAP_CLI_MOST_EXITS];
        const mishap_exit *found = row(
            exits, mishap_cli_exits(NULL, &operation, exits, MISHAP_CLI_MOST_EXITS), 80);
        mishap_text text = { found->description,
                             strnlen(found->description, sizeof found->description) };
        assert_true(text.length >= 117 && text.length <= 120);
        assert_int_equal(mishap_utf8_valid_length(text), text.length);
        assert_int_equal(strnlen(found->name, sizeof found->name), sizeof found->name - 1);
        assert_true(found->retryable);
    }
}

static void rows_end_where_the_room_ends(void **state)
{
    (void)state;
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    for (size_t room = 0; room < MISHAP_CLI_MOST_EXITS; room++) {
        memset(exits, 0x55, sizeof exits);
        size_t count = mishap_cli_exits(NULL, operation_of(&large_app, "connect"), exits, room);
        assert_true(count <= room && count <= 8);
        assert_true(room < 8 || count == 8);
        assert_int_equal(((const unsigned char *)(exits + room))[0], 0x55);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_samples_are_declared_soundly),
        TEST(words_name_an_operation),
        TEST(words_stop_at_the_first_flag),
        TEST(an_underscore_may_be_typed_as_a_hyphen),
        TEST(the_longest_name_wins),
        TEST(names_are_spelled_for_a_command_line),
        TEST(what_is_declared_replaces_what_all_have),
        TEST(the_nearest_name_is_found),
        TEST(fewer_mistakes_are_nearer_and_the_first_wins),
        TEST(every_map_of_exit_codes_is_sound),
        TEST(the_effects_follow_from_what_is_declared),
        TEST(codes_with_one_exit_code_share_a_row),
        TEST(what_a_service_may_fail_with_is_an_exit_of_its_operations),
        TEST(what_a_service_and_a_program_declare_is_an_exit_of_their_operations),
        TEST(danger_that_is_not_said_follows_from_the_route),
        TEST(long_texts_are_cut_between_characters),
        TEST(rows_end_where_the_room_ends),
    };
    return RUN(tests);
}
