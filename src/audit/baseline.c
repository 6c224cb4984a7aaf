/* A baseline: findings that are known already, so that a build fails on new ones only. */
#include "audit/inside.h"

#define VERSION_KEY "mishap_audit_baseline"

/* -- reading ----------------------------------------------------------------------------------- */

/* MALFORMED_INPUT with the place of a value. */
static mishap *refuse_value(mishap_text text, yyjson_val *root, yyjson_val *value, const char *why)
{
    size_t line = 1, column = 1;
    if (value)
        mishap_json_locate(text, root, value, &line, &column);
    return mishap_raise(MALFORMED_INPUT, "The baseline is not valid at line %zu, column %zu: %s",
                        line, column, why);
}

/* 16 hexadecimal digits in lower case. */
static bool is_fingerprint(mishap_text text)
{
    size_t i = 0;
    while (i < text.length && ((text.data[i] >= '0' && text.data[i] <= '9') ||
                               (text.data[i] >= 'a' && text.data[i] <= 'f')))
        i++;
    return text.length == 16 && i == 16;
}

/* True if a finding of these results has it. */
static bool forgive_one(mishap_audit_results *results, mishap_text fingerprint)
{
    bool found = false;
    for (size_t i = 0; i < results->check_count; i++)
        for (size_t f = 0; f < results->checks[i].count; f++) {
            mishap_audit_finding *finding = &results->checks[i].findings[f];
            if (finding->outcome == MISHAP_AUDIT_FAILED &&
                memcmp(finding->fingerprint, fingerprint.data, 16) == 0) {
                results->new_findings -= !finding->known;
                finding->known = found = true;
            }
        }
    return found;
}

static mishap *check_document(const mishap_json_reader *reader, mishap_text text)
{
    yyjson_val *root = reader->root, *at = NULL;
    if (mishap_json_first_flaw(reader, &at) != MISHAP_JSON_SOUND)
        return refuse_value(text, root, at, "A name stands twice, or the nesting is too deep.");
    if (!yyjson_is_obj(root))
        return refuse_value(text, root, root, "It must be an object.");
    yyjson_val *version = yyjson_obj_get(root, VERSION_KEY);
    if (!yyjson_is_uint(version) || yyjson_get_uint(version) != 1)
        return refuse_value(text, root, version ? version : root,
                            "The member " VERSION_KEY " must be 1.");
    yyjson_val *findings = yyjson_obj_get(root, "findings");
    if (!yyjson_is_arr(findings))
        return refuse_value(text, root, findings ? findings : root,
                            "The member findings must be an array.");
    return NULL;
}

static mishap *check_entry(mishap_text text, yyjson_val *root, yyjson_val *entry)
{
    yyjson_val *fingerprint = yyjson_obj_get(entry, "fingerprint");
    if (!yyjson_is_obj(entry))
        return refuse_value(text, root, entry, "Each finding must be an object.");
    if (!is_fingerprint(mishap_json_text(fingerprint)) || !yyjson_is_str(fingerprint))
        return refuse_value(text, root, fingerprint ? fingerprint : entry,
                            "The member fingerprint must be 16 hexadecimal digits.");
    return NULL;
}

/* Read it into the reader, and check all of it. */
static mishap *read_baseline(mishap_json_reader *reader, mishap_text text)
{
    size_t index, count;
    yyjson_val *entry;
    if (!mishap_json_read(reader, text))
        return reader->flaw == MISHAP_JSON_NO_MEMORY
                   ? mishap_out_of_memory()
                   : mishap_raise(MALFORMED_INPUT,
                                  "The baseline is not valid at line %zu, column %zu: %s.",
                                  reader->line, reader->column, reader->problem);
    mishap *failure = check_document(reader, text);
    yyjson_val *findings = failure ? NULL : yyjson_obj_get(reader->root, "findings");
    MISHAP_JSON_ITEMS (findings, index, count, entry) {
        failure = check_entry(text, reader->root, entry);
        if (failure)
            break;
    }
    return failure;
}

mishap *mishap_audit_check_baseline(mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = read_baseline(&reader, text);
    mishap_json_reader_release(&reader);
    return failure;
}

mishap *mishap_audit_forgive(mishap_audit *audit, mishap_text text, size_t *stale)
{
    size_t index, count, unused = 0;
    yyjson_val *entry;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = read_baseline(&reader, text);
    yyjson_val *findings = failure ? NULL : yyjson_obj_get(reader.root, "findings");
    MISHAP_JSON_ITEMS (findings, index, count, entry)
        unused += !forgive_one(&audit->results,
                               mishap_json_text(yyjson_obj_get(entry, "fingerprint")));
    audit->results.compared = audit->results.compared || !failure;
    if (stale && !failure)
        *stale = unused;
    mishap_json_reader_release(&reader);
    return failure;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* One finding on a line: a change of the file is easy to review. */
void mishap_audit_put_baseline(mishap_buffer *buffer, const mishap_audit_results *results)
{
    bool first = true;
    MISHAP_PUT(buffer, "{\"" VERSION_KEY "\":1,\"findings\":[");
    for (size_t i = 0; i < results->check_count; i++)
        for (size_t f = 0; f < results->checks[i].count; f++) {
            const mishap_audit_finding *finding = &results->checks[i].findings[f];
            if (finding->outcome != MISHAP_AUDIT_FAILED)
                continue;
            if (first)
                MISHAP_PUT(buffer, "\n");
            else
                MISHAP_PUT(buffer, ",\n");
            first = false;
            MISHAP_PUT(buffer, "{\"fingerprint\":\"");
            mishap_buffer_put_text(buffer, mishap_text_of(finding->fingerprint));
            MISHAP_PUT(buffer, "\"");
            MISHAP_JSON_KEY(buffer, "check");
            mishap_json_string(buffer, mishap_text_of(finding->check->id));
            MISHAP_JSON_KEY(buffer, "place");
            mishap_json_string(buffer, finding->place);
            MISHAP_JSON_TEXT_MEMBER(buffer, "key", finding->key);
            MISHAP_PUT(buffer, "}");
        }
    MISHAP_PUT(buffer, "\n]}\n");
}
