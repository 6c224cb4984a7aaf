/* The list of dialects, and the code that all of them share: parsing JSON before it is read or
 * checked. */
#include <stdarg.h>
#include <stdio.h>

#include "dialect/dialect.h"
#include "guard/guard.h"

static const mishap_dialect *const dialects[] = {
    &mishap_condition_report, &mishap_cli_envelope, &mishap_artifact,  &mishap_http_api,
    &mishap_tool_result,      &mishap_problem,      &mishap_json_rpc,  &mishap_google_rpc,
    &mishap_json_api,         &mishap_graphql,      &mishap_canonical, NULL,
};

const mishap_dialect *const *mishap_dialects(void)
{
    return dialects;
}

const mishap_dialect *mishap_dialect_find(const char *name)
{
    for (size_t i = 0; name && dialects[i]; i++)
        if (strcmp(dialects[i]->name, name) == 0)
            return dialects[i];
    return NULL;
}

const char *mishap_dialect_name(const mishap_dialect *dialect)
{
    return dialect ? dialect->name : NULL;
}

const char *mishap_dialect_media_type(const mishap_dialect *dialect)
{
    return dialect ? dialect->media_type : NULL;
}

/* -- rendering --------------------------------------------------------------------------------- */

mishap_text mishap_render(const mishap_dialect *dialect, const mishap *m, mishap_buffer *buffer)
{
    dialect->render(mishap_told(m ? m : mishap_out_of_memory()), buffer);
    return buffer->failed ? dialect->last_words : mishap_buffer_text(buffer);
}

void mishap_dialect_answer(const mishap_dialect *dialect, const mishap_public *told,
                           mishap_buffer *buffer)
{
    const mishap_code *nearest = dialect->nearest ? dialect->nearest(told) : told->code;
    if (nearest == told->code) {
        dialect->render(told, buffer);
        return;
    }
    mishap_public answer = *told;
    answer.message = mishap_public_message(told);
    answer.code = nearest;
    dialect->render(&answer, buffer);
}

mishap_text mishap_render_answer(const mishap_dialect *dialect, const mishap *m,
                                 mishap_buffer *buffer)
{
    mishap_dialect_answer(dialect, mishap_told(m ? m : mishap_out_of_memory()), buffer);
    return buffer->failed ? dialect->last_words : mishap_buffer_text(buffer);
}

/* -- parsing ----------------------------------------------------------------------------------- */

static void put_pointer_to(mishap_buffer *pointer, yyjson_val *at, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    mishap_json_path step = { .depth = 1 };
    while (at != value && yyjson_is_ctn(at)) {
        yyjson_val *into = NULL;
        if (yyjson_is_obj(at)) {
            MISHAP_JSON_MEMBERS (at, index, count, key, item) {
                if (item <= value) {
                    into = item;
                    step.steps[0] = (struct mishap_json_step){ mishap_json_text(key), 0 };
                }
            }
        } else {
            MISHAP_JSON_ITEMS (at, index, count, item) {
                if (item <= value) {
                    into = item;
                    step.steps[0] = (struct mishap_json_step){ { NULL, 0 }, index };
                }
            }
        }
        if (!into)
            break;
        mishap_json_put_pointer(pointer, &step);
        at = into;
    }
}

mishap *mishap_refuse(const mishap_source *source, yyjson_val *value, const char *format, ...)
{
    char sentence[256], storage[256];
    size_t line, column;
    va_list arguments;
    mishap_buffer pointer;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    mishap_buffer_init(&pointer, storage, sizeof storage);
    put_pointer_to(&pointer, source->root, value);
    mishap_json_locate(source->text, source->root, value, &line, &column);
    mishap *m = mishap_raise(MALFORMED_INPUT, "At line %zu, column %zu: %s", line, column,
                             sentence);
    m = mishap_tell(mishap_tell(m, "line", line), "column", column);
    if (!pointer.failed)
        m = mishap_tell(m, "pointer", mishap_buffer_text(&pointer));
    mishap_buffer_release(&pointer);
    return m;
}

mishap *mishap_finish(mishap *m, mishap **out)
{
    return mishap_restore_end(m, out) ? NULL : mishap_out_of_memory();
}

static mishap *refuse_unreadable(const mishap_json_reader *reader)
{
    if (reader->flaw == MISHAP_JSON_NO_MEMORY)
        return mishap_out_of_memory();
    mishap *m = mishap_raise(MALFORMED_INPUT, "At line %zu, column %zu: This is not JSON: %s.",
                             reader->line, reader->column, reader->problem);
    return mishap_tell(mishap_tell(m, "line", reader->line), "column", reader->column);
}

/* What a document must not have, for one that is to be understood. */
static mishap *refuse_flaw(const mishap_source *source, mishap_json_flaw flaw, yyjson_val *at)
{
    switch (flaw) {
    case MISHAP_JSON_DUPLICATE_KEY:
        return mishap_refuse(source, at, "An object has a duplicate key.");
    case MISHAP_JSON_NUL_IN_KEY:
        return mishap_refuse(source, at, "A key contains a NUL character.");
    case MISHAP_JSON_TOO_DEEP:
        return mishap_refuse(source, at, "Values are nested more than %d levels deep.",
                             MISHAP_JSON_MAX_DEPTH);
    default:
        return mishap_out_of_memory();
    }
}

mishap *mishap_parse(const mishap_dialect *dialect, mishap_text document, mishap **out)
{
    mishap *failure = NULL;
    if (!document.data)
        document = (mishap_text){ "", 0 };
    if (dialect->read_text)
        return dialect->read_text(document, out);

    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    if (!mishap_json_read(&reader, document)) {
        failure = refuse_unreadable(&reader);
        goto done;
    }
    mishap_source source = { document, reader.root };
    yyjson_val *at = NULL;
    mishap_json_flaw flaw = mishap_json_first_flaw(&reader, &at);
    if (flaw != MISHAP_JSON_SOUND)
        failure = refuse_flaw(&source, flaw, at);
    else if (!yyjson_is_obj(reader.root))
        failure = mishap_refuse(&source, reader.root, "The document is not an object.");
    else
        failure = dialect->read(&source, out);
done:
    mishap_json_reader_release(&reader);
    return failure;
}

/* -- verifying --------------------------------------------------------------------------------- */

static void say_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    mishap_check *check = state;
    check->path = *path;
    switch (flaw) {
    case MISHAP_JSON_DUPLICATE_KEY:
        mishap_check_say(check, MISHAP_RULE_DUPLICATE_KEY,
                         "This key is a duplicate in its object.");
        break;
    case MISHAP_JSON_NUL_IN_KEY:
        mishap_check_say(check, MISHAP_RULE_NUL_IN_KEY, "This key contains a NUL character.");
        break;
    case MISHAP_JSON_TOO_DEEP:
        mishap_check_say(check, MISHAP_RULE_TOO_DEEP, "Values are nested more than %d levels deep.",
                         MISHAP_JSON_MAX_DEPTH);
        break;
    default:
        check->no_memory = true;
    }
}

/* In every format: no text may contain a stack trace or a secret. */
static void check_string(void *state, yyjson_val *string, const mishap_json_path *path)
{
    mishap_check *check = state;
    const char *language;
    mishap_text text = mishap_json_text(string);
    mishap_text top = path->depth ? path->steps[0].key : (mishap_text){ NULL, 0 };
    mishap_text name = path->depth ? path->steps[path->depth - 1].key : (mishap_text){ NULL, 0 };
    bool subject = check->dialect->carries_subject &&
                   (mishap_text_equal(top, (mishap_text)MISHAP_TEXT("stdout")) ||
                    mishap_text_equal(top, (mishap_text)MISHAP_TEXT("backtrace")));
    bool trace = !subject && mishap_guard_finds_trace(text, &language);
    bool secret = mishap_guard_has_password(text);
    if (name.data && mishap_guard_secret_name(name) && text.length &&
        !mishap_text_equal(text, mishap_guard_redacted))
        secret = true;
    if (!trace && !secret)
        return;
    check->path = *path;
    if (trace)
        mishap_check_say(check, MISHAP_RULE_STACK_TRACE, "This text contains a %s stack trace.",
                         language);
    if (secret)
        mishap_check_say(check, MISHAP_RULE_SECRET,
                         "This text looks like a secret that was not redacted.");
}

static void check_json(mishap_check *check, mishap_text document)
{
    char place[64];
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    if (mishap_json_read(&reader, document)) {
        if (reader.flaw == MISHAP_JSON_LONE_SURROGATE) {
            snprintf(place, sizeof place, "line %zu, column %zu", reader.line, reader.column);
            mishap_check_say_at(check, place, MISHAP_RULE_LONE_SURROGATE,
                                "This is half of a surrogate pair.");
        }
        mishap_json_inspect(&reader, &(mishap_json_visitor){ .flaw = say_flaw,
                                                             .string = check_string,
                                                             .suspect = mishap_guard_suspects,
                                                             .state = check });
        check->path.depth = 0;
        check->dialect->check(check, reader.root);
    } else if (reader.flaw == MISHAP_JSON_NO_MEMORY) {
        check->no_memory = true;
    } else {
        snprintf(place, sizeof place, "line %zu, column %zu", reader.line, reader.column);
        mishap_check_say_at(check, place, MISHAP_RULE_NOT_JSON, "This is not JSON: %s.",
                            reader.problem);
    }
    mishap_json_reader_release(&reader);
}

mishap *mishap_verify(const mishap_dialect *dialect, mishap_text document, bool strict,
                      mishap_found *found, void *state)
{
    mishap_check check;
    check.dialect = dialect;
    check.strict = strict;
    check.found = found;
    check.state = state;
    check.path.depth = 0;
    check.no_memory = false;
    if (!document.data)
        document = (mishap_text){ "", 0 };
    if (dialect->check_text)
        dialect->check_text(&check, document);
    else
        check_json(&check, document);
    return check.no_memory ? mishap_out_of_memory() : NULL;
}
