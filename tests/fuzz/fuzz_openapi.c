/*
 * Any bytes as an OpenAPI document. Its operations, references and schemas are read to their end
 * within the limits; a value that is made for a schema is JSON, and one for a parameter has only
 * characters of a URL.
 */
#include "fuzz.h"

#include "audit/http/openapi.h"

static void expect_json(const mishap_buffer *made)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    EXPECT(mishap_json_read(&reader, mishap_buffer_text(made)), "no JSON: %.*s",
           SHOWN(mishap_buffer_text(made)));
    EXPECT(made->length < 2 * MISHAP_OPENAPI_MOST_SAMPLE, "%zu bytes", made->length);
    mishap_json_reader_release(&reader);
}

static void sample_body(mishap_openapi *document, yyjson_val *schema)
{
    for (int flaw = MISHAP_OPENAPI_VALID; flaw <= MISHAP_OPENAPI_OUT_OF_LIMITS; flaw++) {
        mishap_buffer made = { 0 };
        mishap_text broken = { NULL, 0 };
        if (mishap_openapi_sample(document, schema, (mishap_openapi_flaw)flaw, &made, &broken))
            expect_json(&made);
        mishap_buffer_release(&made);
    }
}

static void sample_parameter(mishap_openapi *document, yyjson_val *schema)
{
    for (int flaw = MISHAP_OPENAPI_VALID; flaw <= MISHAP_OPENAPI_OUT_OF_LIMITS; flaw++) {
        mishap_buffer made = { 0 };
        if (mishap_openapi_sample_text(document, schema, (mishap_openapi_flaw)flaw, &made))
            for (size_t i = 0; i < made.length; i++)
                EXPECT(made.data[i] > ' ' && made.data[i] <= '~' && !strchr("/?#&", made.data[i]),
                       "%.*s", SHOWN(mishap_buffer_text(&made)));
        mishap_buffer_release(&made);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_openapi document;
    mishap_text names[64];
    const char *why = mishap_openapi_read(&document, input_text(data, size));
    EXPECT(document.count <= MISHAP_OPENAPI_MOST_OPERATIONS, "%zu operations", document.count);
    for (size_t i = 0; i < document.count && !why; i++) {
        const mishap_openapi_operation *operation = &document.operations[i];
        EXPECT(operation->path.length && operation->path.data[0] == '/', "a path");
        EXPECT(operation->line >= 1 && operation->line <= size + 1, "line %zu", operation->line);
        mishap_openapi_documents(operation, 404);
        EXPECT(memchr(operation->path.data, '{', operation->path.length) ||
                   mishap_openapi_fits(operation->path, operation->path),
               "it does not fit itself: %.*s", SHOWN(operation->path));
        for (size_t j = 0; j < operation->parameter_count; j++)
            sample_parameter(&document, operation->parameters[j].schema);
        if (!operation->body)
            continue;
        EXPECT(mishap_openapi_required(&document, operation->body, names, 64) <= 64, "names");
        sample_body(&document, operation->body);
    }
    mishap_openapi_release(&document);
    return 0;
}
