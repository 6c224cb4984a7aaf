/* The manifest equals the declarations, value by value, and its etag changes when they do. */
#include "cli/manual/manual.h"
#include "cli/words/command.h"
#include "sample_app.h"
#include "testing.h"

/* -- bytes ------------------------------------------------------------------------------------- */

static const char small_command[] =
    "\"commands\":{\"users.create\":{\"description\":\"Create a "
    "user\",\"danger_level\":\"mutating\",\"flags\":{"
    "\"name\":{\"type\":\"string\",\"required\":true,\"description\":\"Full name (1 to 200 "
    "characters)\"},"
    "\"age\":{\"type\":\"integer\",\"required\":false,\"description\":\"0 to 150\"},"
    "\"email\":{\"type\":\"string\",\"required\":true,\"description\":\"Matches "
    ".*@.*\\\\..*\",\"short\":\"e\"},"
    "\"output\":{\"type\":\"enum\",\"required\":false,\"description\":\"Output format; the default "
    "is json when standard "
    "output is not a terminal\",\"enum_values\":[\"text\",\"json\"]},"
    "\"dialect\":{\"type\":\"enum\",\"required\":false,\"description\":\"Print a failure in this "
    "error "
    "format instead of the envelope\",\"enum_values\":[\"condition-report\",\"cli-envelope\","
    "\"artifact\",\"http-api\",\"tool-result\",\"problem\",\"json-rpc\",\"google-rpc\",\"json-"
    "api\","
    "\"graphql\",\"canonical\"]},"
    "\"timeout-ms\":{\"type\":\"integer\",\"required\":false,\"description\":\"Timeout in "
    "milliseconds (1 to 86400000)\"},"
    "\"verbose\":{\"type\":\"boolean\",\"required\":false,\"description\":\"Print all details of a "
    "failure to standard error\",\"short\":\"v\"},"
    "\"help\":{\"type\":\"boolean\",\"required\":false,\"description\":\"Show help and "
    "exit\",\"short\":\"h\"},"
    "\"version\":{\"type\":\"boolean\",\"required\":false,\"description\":\"Show the version and "
    "exit\"}},"
    "\"exit_codes\":{"
    "\"0\":{\"name\":\"SUCCESS\",\"description\":\"The command "
    "succeeded.\",\"retryable\":false,"
    "\"side_effects\":\"complete\"},"
    "\"1\":{\"name\":\"GENERAL_ERROR\",\"description\":\"The command failed; no other exit code "
    "applies.\","
    "\"retryable\":false,\"side_effects\":\"partial\"},"
    "\"2\":{\"name\":\"ARG_ERROR\",\"description\":\"The arguments are not valid; nothing was "
    "done.\","
    "\"retryable\":false,\"side_effects\":\"none\"},"
    "\"4\":{\"name\":\"PRECONDITION\",\"description\":\"A precondition does not hold; nothing was "
    "done.\","
    "\"retryable\":false,\"side_effects\":\"none\"},"
    "\"6\":{\"name\":\"CONFLICT\",\"description\":\"The command conflicts with existing data "
    "(ALREADY_EXISTS).\","
    "\"retryable\":false,\"side_effects\":\"none\"},"
    "\"10\":{\"name\":\"TIMEOUT\",\"description\":\"The command exceeded its "
    "timeout.\",\"retryable\":false,"
    "\"side_effects\":\"partial\"},"
    "\"130\":{\"name\":\"INTERRUPTED\",\"description\":\"The command was interrupted by "
    "SIGINT.\",\"retryable\":false,"
    "\"side_effects\":\"partial\"},"
    "\"143\":{\"name\":\"TERMINATED\",\"description\":\"The command was terminated by "
    "SIGTERM.\",\"retryable\":false,"
    "\"side_effects\":\"partial\"}}},\"help\":{";

static void a_small_program_has_this_manifest(void **state)
{
    (void)state;
    static const char start[] = "{\"schema_version\":\"1.0\",\"framework_version\":\"";
    char *manifest = manifest_of(&small_app);
    assert_int_equal(strncmp(manifest, start, sizeof start - 1), 0);
    const char *commands = strstr(manifest, "\"commands\"");
    assert_non_null(commands);
    if (strncmp(commands, small_command, sizeof small_command - 1) != 0)
        assert_string_equal(commands, small_command);
    free(manifest);
}

/* -- values ------------------------------------------------------------------------------------ */

static yyjson_doc *read_manifest(const mishap_app *app)
{
    char *manifest = manifest_of(app);
    yyjson_doc *doc = yyjson_read(manifest, strlen(manifest), 0);
    assert_non_null(doc);
    free(manifest);
    return doc;
}

static const char *string_at(yyjson_val *object, const char *key)
{
    const char *string = yyjson_get_str(yyjson_obj_get(object, key));
    if (!string)
        fail_msg("there is no string `%s`", key);
    return string;
}

static void assert_flag(yyjson_val *flag, const mishap_operation *operation,
                        const mishap_param *param)
{
    static const char *const types[] = {
        [MISHAP_STRING] = "string",   [MISHAP_INTEGER] = "integer", [MISHAP_NUMBER] = "number",
        [MISHAP_BOOLEAN] = "boolean", [MISHAP_ENUM] = "enum",       [MISHAP_ARRAY] = "array",
        [MISHAP_OBJECT] = "object",   [MISHAP_FILE] = "file",       [MISHAP_MAP] = "map",
    };
    char letter[] = { mishap_cli_letter(operation, param), '\0' };
    size_t members = 3;
    assert_string_equal(string_at(flag, "type"), types[param->type]);
    assert_int_equal(yyjson_get_bool(yyjson_obj_get(flag, "required")), param->required);
    const char *description = string_at(flag, "description");
    assert_int_equal(strncmp(description, param->help ? param->help : "",
                             strlen(param->help ? param->help : "")),
                     0);
    if (param->pattern)
        assert_non_null(strstr(description, param->pattern));
    if (param->environment)
        assert_non_null(strstr(description, param->environment));
    if (param->initial && !param->secret) {
        yyjson_doc *initial = yyjson_read(param->initial, strlen(param->initial), 0);
        assert_true(yyjson_equals(yyjson_obj_get(flag, "default"), yyjson_doc_get_root(initial)));
        yyjson_doc_free(initial);
        members++;
    }
    if (param->type == MISHAP_ENUM) {
        yyjson_val *values = yyjson_obj_get(flag, "enum_values");
        size_t count = 0;
        for (; param->choices[count]; count++)
            assert_string_equal(yyjson_get_str(yyjson_arr_get(values, count)),
                                param->choices[count]);
        assert_int_equal(yyjson_arr_size(values), count);
        members++;
    }
    if (letter[0]) {
        assert_string_equal(string_at(flag, "short"), letter);
        members++;
    }
    assert_int_equal(yyjson_obj_size(flag), members);
}

static void assert_exits(yyjson_val *map, const mishap_operation *operation)
{
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    size_t count = mishap_cli_exits(NULL, operation, exits, MISHAP_CLI_MOST_EXITS);
    assert_int_equal(yyjson_obj_size(map), count);
    for (size_t i = 0; i < count; i++) {
        char code[16];
        snprintf(code, sizeof code, "%d", exits[i].code);
        yyjson_val *row = yyjson_obj_get(map, code);
        assert_string_equal(string_at(row, "name"), exits[i].name);
        assert_string_equal(string_at(row, "description"), exits[i].description);
        assert_string_equal(string_at(row, "side_effects"), exits[i].side_effects);
        assert_int_equal(yyjson_get_bool(yyjson_obj_get(row, "retryable")), exits[i].retryable);
        assert_int_equal(yyjson_obj_size(row), 4);
    }
}

static void assert_examples(yyjson_val *list, const mishap_app *app, const mishap_example *examples)
{
    size_t count = 0;
    for (; examples && examples[count].command; count++) {
        char command[400];
        yyjson_val *example = yyjson_arr_get(list, count);
        snprintf(command, sizeof command, "%s %s", app->name, examples[count].command);
        assert_string_equal(string_at(example, "command"), command);
        assert_string_equal(string_at(example, "description"),
                            examples[count].what ? examples[count].what : "");
    }
    assert_int_equal(yyjson_arr_size(list), count);
}

static void the_manifest_equals_the_declarations(void **state)
{
    (void)state;
    static const char *const dangers[] = { "", "safe", "mutating", "destructive" };
    yyjson_doc *doc = read_manifest(&large_app);
    yyjson_val *root = yyjson_doc_get_root(doc), *commands = yyjson_obj_get(root, "commands");
    assert_int_equal(yyjson_obj_size(root), 4);
    assert_string_equal(string_at(root, "schema_version"), "1.0");
    assert_int_equal(strlen(string_at(root, "etag")), 16);
    size_t count = 0;
    for (const mishap_operation *o = NULL; (o = mishap_cli_next_command(&large_app, o)); count++) {
        yyjson_val *command = yyjson_obj_get(commands, o->name),
                   *flags = yyjson_obj_get(command, "flags");
        assert_non_null(command);
        assert_string_equal(string_at(command, "description"), o->summary);
        assert_string_equal(string_at(command, "danger_level"),
                            dangers[mishap_operation_danger(o)]);
        size_t flag_count = 0;
        for (const mishap_param *p = NULL; (p = mishap_cli_next_flag(o, p)); flag_count++) {
            mishap_buffer name = { 0 };
            mishap_cli_put_flag(&name, p->name);
            assert_flag(yyjson_obj_getn(flags, name.data, name.length), o, p);
            mishap_buffer_release(&name);
        }
        assert_int_equal(yyjson_obj_size(flags), flag_count);
        assert_exits(yyjson_obj_get(command, "exit_codes"), o);
        assert_examples(yyjson_obj_get(command, "examples"), &large_app, o->examples);
        assert_int_equal(yyjson_obj_size(command), 4 + (o->examples != NULL));
    }
    assert_int_equal(yyjson_obj_size(commands), count);
    assert_int_equal(count, LARGE_OPERATIONS + 4);
    yyjson_doc_free(doc);
}

/* Both readers of the manifest see the same: no key twice, in the order of declaration. */
static void keys_stand_once_and_in_order(void **state)
{
    (void)state;
    char *manifest = manifest_of(&large_app);
    const char *at = strstr(manifest, "\"items.create\":{");
    for (const mishap_param *p = operation_of(&large_app, "items.create")->params; p->name; p++) {
        mishap_buffer key = { 0 };
        mishap_buffer_add(&key, "\"", 1);
        mishap_cli_put_flag(&key, p->name);
        mishap_buffer_add(&key, "\":{", 4);
        at = strstr(at, key.data);
        if (!at)
            fail_msg("%s is missing or out of order", key.data);
        mishap_buffer_release(&key);
    }
    free(manifest);
}

/* A declaration with such a default is refused at the start; even so it would not come out here. */
static void the_default_of_a_secret_is_never_shown(void **state)
{
    (void)state;
    const mishap_param params[] = {
        { "key", MISHAP_STRING, .secret = true, .initial = "\"hunter2\"" }, { 0 }
    };
    const mishap_operation operations[] = { { .name = "x", .params = params }, { 0 } };
    const mishap_app app = { .name = "x", .operations = operations };
    char *texts[] = { manifest_of(&app), manual_of(&app), help_of(&app, "x", false),
                      offers_of(&app, (const char *[]){ "x", "--" }, 2) };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_non_null(strstr(texts[i], "key"));
        assert_null(strstr(texts[i], "hunter2"));
        free(texts[i]);
    }
}

static void it_can_follow_other_bytes(void **state)
{
    (void)state;
    mishap_buffer buffer = { 0 };
    char *alone = manifest_of(&small_app);
    mishap_buffer_add(&buffer, "before\n", 7);
    mishap_cli_put_manifest(&buffer, &small_app);
    assert_int_equal(buffer.length, strlen(alone) + 7);
    assert_memory_equal(buffer.data + 7, alone, strlen(alone));
    mishap_buffer_release(&buffer);
    free(alone);
}

/* -- the etag ---------------------------------------------------------------------------------- */

static void read_etag(const mishap_app *app, char etag[17])
{
    yyjson_doc *doc = read_manifest(app);
    snprintf(etag, 17, "%s", string_at(yyjson_doc_get_root(doc), "etag"));
    assert_int_equal(strspn(etag, "0123456789abcdef"), 16);
    yyjson_doc_free(doc);
}

/* A copy of the large program that can be changed. */
static struct copy {
    mishap_app app;
    mishap_operation operations[LARGE_OPERATIONS + 1];
    mishap_param params[32], members[8], item;
} copy;

static mishap_param *param_of_copy(const char *name)
{
    mishap_param *param = copy.params;
    while (strcmp(param->name, name) != 0)
        param++;
    return param;
}

static void make_copy(void)
{
    copy = (struct copy){ .app = large_app };
    memcpy(copy.operations, large_app.operations, sizeof copy.operations);
    for (size_t i = 0; copy.operations[0].params[i].name; i++)
        copy.params[i] = copy.operations[0].params[i];
    copy.app.operations = copy.operations;
    copy.operations[0].params = copy.params;
    mishap_param *address = param_of_copy("address"), *tags = param_of_copy("tags");
    for (size_t i = 0; address->members[i].name; i++)
        copy.members[i] = address->members[i];
    address->members = copy.members;
    copy.item = *tags->items;
    tags->items = &copy.item;
}

static const char *const other_choices[] = { "admin", "guest", NULL };
static const mishap_code *const *const other_raises = MISHAP_RAISES(ALREADY_EXISTS);
static const mishap_example other_examples[] = { { "items create", "Otherwise" }, { 0 } };

#define CHANGE(number, statement)                                                                  \
    case number:                                                                                   \
        statement;                                                                                 \
        return true

static bool change(size_t number)
{
    mishap_operation *operation = copy.operations;
    switch (number) {
        CHANGE(0, operation->name = "items.make");
        CHANGE(1, operation->summary = "Create an Item");
        CHANGE(2, operation->danger = MISHAP_DESTRUCTIVE; operation->raises = NULL);
        CHANGE(3, operation->danger = MISHAP_SAFE);
        CHANGE(4, operation->raises = other_raises);
        CHANGE(5, operation->raises = NULL);
        CHANGE(6, operation->examples = other_examples);
        CHANGE(7, operation->examples = NULL);
        CHANGE(8, operation->params = NULL);
        CHANGE(9, copy.operations[LARGE_OPERATIONS - 1] = (mishap_operation){ 0 });
        CHANGE(10, copy.operations[1] = operation[0]; copy.operations[0] = large_app.operations[1]);
        CHANGE(11, copy.app.name = "other");
        CHANGE(12, param_of_copy("title")->name = "heading");
        CHANGE(13, param_of_copy("title")->required = false);
        CHANGE(14, param_of_copy("title")->length.min = 2);
        CHANGE(15, param_of_copy("title")->length.max = 201);
        CHANGE(16, param_of_copy("title")->letter = 'T');
        CHANGE(17, param_of_copy("title")->letter = 0);
        CHANGE(18, param_of_copy("title")->help = "What it is named");
        CHANGE(19, param_of_copy("title")->type = MISHAP_ENUM);
        CHANGE(20, param_of_copy("count")->range.min = 1);
        CHANGE(21, param_of_copy("count")->range.max = 151);
        CHANGE(22, param_of_copy("count")->initial = "6");
        CHANGE(23, param_of_copy("count")->initial = NULL);
        CHANGE(24, param_of_copy("count")->type = MISHAP_NUMBER);
        CHANGE(25, param_of_copy("most")->range.max = 2.25);
        CHANGE(26, param_of_copy("email")->pattern = ".");
        CHANGE(27, param_of_copy("role")->choices = other_choices);
        CHANGE(28, param_of_copy("ratio")->environment = "OTHER");
        CHANGE(29, param_of_copy("ratio")->environment = NULL);
        CHANGE(30, param_of_copy("note")->secret = true);
        CHANGE(31, copy.item.length.max = 21);
        CHANGE(32, copy.item.type = MISHAP_INTEGER);
        CHANGE(33, copy.members[0].required = false);
        CHANGE(34, copy.members[1].name = "postcode");
        CHANGE(35, copy.members[2].choices = other_choices);
        CHANGE(36, copy.members[2].type = MISHAP_STRING);
        CHANGE(37, param_of_copy("extra")->members = copy.members);
        CHANGE(38, *param_of_copy("size") = (mishap_param){ 0 });
    default:
        return false;
    }
}

static void the_etag_changes_with_any_declaration(void **state)
{
    (void)state;
    char etags[64][17];
    size_t count = 1;
    read_etag(&large_app, etags[0]);
    for (size_t number = 0;; number++) {
        make_copy();
        read_etag(&copy.app, etags[count]);
        assert_string_equal(etags[count], etags[0]); /* a copy is the same program */
        if (!change(number))
            break;
        read_etag(&copy.app, etags[count]);
        for (size_t i = 0; i < count; i++)
            if (strcmp(etags[i], etags[count]) == 0)
                fail_msg("change %zu has the etag of %zu", number, i);
        count++;
    }
    assert_int_equal(count, 40);
}

static void the_same_declarations_give_the_same_bytes(void **state)
{
    (void)state;
    char *first = manifest_of(&large_app), *second = manifest_of(&large_app);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void put_manifest(mishap_buffer *b)
{
    mishap_cli_put_manifest(b, &large_app);
}

static void lack_of_memory_is_said(void **state)
{
    (void)state;
    assert_survives_lack_of_memory(put_manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_small_program_has_this_manifest),
        TEST(the_manifest_equals_the_declarations),
        TEST(keys_stand_once_and_in_order),
        TEST(the_default_of_a_secret_is_never_shown),
        TEST(it_can_follow_other_bytes),
        TEST(the_etag_changes_with_any_declaration),
        TEST(the_same_declarations_give_the_same_bytes),
        TEST(lack_of_memory_is_said),
    };
    return RUN(tests);
}
