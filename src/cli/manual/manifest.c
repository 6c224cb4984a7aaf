/*
 * The manifest: all commands of a program as one JSON object, so that a calling program can plan a
 * call, and the reaction to its failures, in advance. It follows the order of the declarations, so
 * the same declarations give the same bytes.
 */
#include "cli/manual/describe.h"
#include "cli/manual/manual.h"
#include "mishap/version.h"
#include "operation/type.h"

static void put_string(mishap_buffer *b, const char *string)
{
    mishap_json_string(b, mishap_text_of(string ? string : ""));
}

static const char *type_name(mishap_type_of_param type)
{
    const mishap_type_facts *facts = mishap_type_find(type);
    return facts ? facts->name : "string";
}

/* -- flags ------------------------------------------------------------------------------------- */

static void put_flag(mishap_buffer *b, const mishap_operation *operation, const mishap_param *param,
                     mishap_buffer *words)
{
    char letter[] = { mishap_cli_letter(operation, param), '\0' };
    mishap_json_comma(b);
    MISHAP_PUT(b, "\"");
    mishap_cli_put_flag(b, param->name);
    MISHAP_PUT(b, "\":{");
    MISHAP_JSON_KEY(b, "type");
    put_string(b, type_name(param->type));
    MISHAP_JSON_KEY(b, "required");
    mishap_json_bool(b, param->required);
    words->length = 0;
    mishap_cli_put_about(words, param, true);
    MISHAP_JSON_KEY(b, "description");
    mishap_json_string(b, mishap_buffer_text(words));
    if (param->initial && !param->secret) {
        MISHAP_JSON_KEY(b, "default");
        mishap_cli_put_compact(b, param->initial);
    }
    if (param->type == MISHAP_ENUM) {
        MISHAP_JSON_KEY(b, "enum_values");
        mishap_json_open(b, '[');
        for (size_t i = 0; param->choices && param->choices[i]; i++)
            put_string(b, param->choices[i]);
        mishap_json_close(b, ']');
    }
    if (letter[0]) {
        MISHAP_JSON_KEY(b, "short");
        put_string(b, letter);
    }
    mishap_json_close(b, '}');
}

/* -- exit codes, examples ---------------------------------------------------------------------- */

static void put_exits(mishap_buffer *b, const mishap_app *app, const mishap_operation *operation)
{
    mishap_exit exits[MISHAP_CLI_MOST_EXITS];
    size_t count = mishap_cli_exits(app, operation, exits, MISHAP_CLI_MOST_EXITS);
    MISHAP_JSON_KEY(b, "exit_codes");
    mishap_json_open(b, '{');
    for (size_t i = 0; i < count; i++) {
        mishap_json_comma(b);
        MISHAP_PUT(b, "\"");
        mishap_buffer_put_int(b, exits[i].code);
        MISHAP_PUT(b, "\":{");
        MISHAP_JSON_KEY(b, "name");
        put_string(b, exits[i].name);
        MISHAP_JSON_KEY(b, "description");
        put_string(b, exits[i].description);
        MISHAP_JSON_KEY(b, "retryable");
        mishap_json_bool(b, exits[i].retryable);
        MISHAP_JSON_KEY(b, "side_effects");
        put_string(b, exits[i].side_effects);
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, '}');
}

static void put_examples(mishap_buffer *b, const mishap_app *app, const mishap_operation *operation,
                         mishap_buffer *words)
{
    if (!operation->examples || !operation->examples->command)
        return;
    MISHAP_JSON_KEY(b, "examples");
    mishap_json_open(b, '[');
    for (const mishap_example *example = operation->examples; example->command; example++) {
        words->length = 0;
        mishap_cli_put(words, app->name);
        MISHAP_PUT(words, " ");
        mishap_cli_put(words, example->command);
        mishap_json_open(b, '{');
        MISHAP_JSON_KEY(b, "description");
        put_string(b, example->what);
        MISHAP_JSON_KEY(b, "command");
        mishap_json_string(b, mishap_buffer_text(words));
        mishap_json_close(b, '}');
    }
    mishap_json_close(b, ']');
}

/* -- commands ---------------------------------------------------------------------------------- */

static void put_command(mishap_buffer *b, const mishap_app *app, const mishap_operation *operation,
                        mishap_buffer *words)
{
    static const char *const dangers[] = {
        [MISHAP_SAFE] = "safe", [MISHAP_MUTATING] = "mutating", [MISHAP_DESTRUCTIVE] = "destructive"
    };
    mishap_json_key(b, mishap_text_of(operation->name));
    mishap_json_open(b, '{');
    MISHAP_JSON_KEY(b, "description");
    put_string(b, operation->summary);
    MISHAP_JSON_KEY(b, "danger_level");
    put_string(b, dangers[mishap_operation_danger(operation)]);
    MISHAP_JSON_KEY(b, "flags");
    mishap_json_open(b, '{');
    const mishap_param *param = NULL;
    while ((param = mishap_cli_next_flag(operation, param)))
        put_flag(b, operation, param, words);
    mishap_json_close(b, '}');
    put_exits(b, app, operation);
    put_examples(b, app, operation, words);
    mishap_json_close(b, '}');
}

void mishap_cli_put_manifest(mishap_buffer *b, const mishap_app *app)
{
    enum { ETAG_LENGTH = 16 };
    mishap_buffer words = { 0 };
    size_t start = b->length;
    MISHAP_PUT(b, "{\"schema_version\":\"1.0\",\"framework_version\":\"" MISHAP_VERSION
                  "\",\"etag\":\"");
    size_t etag = b->length;
    MISHAP_PUT(b, "0000000000000000\"");
    MISHAP_JSON_KEY(b, "commands");
    mishap_json_open(b, '{');
    const mishap_operation *operation = NULL;
    while ((operation = mishap_cli_next_command(app, operation)))
        put_command(b, app, operation, &words);
    mishap_json_close(b, '}');
    mishap_json_close(b, '}');
    b->failed = b->failed || words.failed;
    mishap_buffer_release(&words);
    if (b->failed)
        return;
    /* An attacker gains nothing from two manifests with the same etag; it only has to show a
     * change. */
    uint64_t sum = mishap_text_hash((mishap_text){ b->data + start, etag - start });
    size_t behind = etag + ETAG_LENGTH;
    sum = mishap_text_hash_on(sum, (mishap_text){ b->data + behind, b->length - behind });
    for (size_t i = 0; i < ETAG_LENGTH; i++, sum <<= 4)
        b->data[etag + i] = "0123456789abcdef"[sum >> 60];
}
