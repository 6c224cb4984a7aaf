/* The schema of a tool's answer, or of its failure: each dialect of tools has one. */
#include "mcp/offers/schema.h"
#include "dialect/dialect.h"
#include "operation/schema.h"

/* A failure as a JSON Schema. Members that the schema does not name belong to the tool. */
#define WORDS "{\"type\":\"string\"}"
static const struct failure_schema {
    const mishap_dialect *dialect;
    mishap_text schema;
} failure_schemas[] = {
    { &mishap_tool_result,
      MISHAP_TEXT(
          "{\"type\":\"object\",\"description\":\"The answer of a failed call\","
          "\"properties\":{\"status\":{\"type\":\"string\",\"enum\":[\"error\",\"timeout\"]},"
          "\"error_type\":{\"type\":\"string\",\"description\":\"ValueError, SyntaxError, "
          "ValidationError, ImportError, TimeoutError or RuntimeError\"},"
          "\"message\":" WORDS ",\"code\":{\"type\":\"string\",\"description\":\"NOT_FOUND, "
          "VALIDATION_ERROR or another of catalog://codes\"},"
          "\"retryable\":{\"type\":\"boolean\",\"description\":\"The same call may succeed "
          "later\"},"
          "\"fields\":{\"type\":\"array\",\"description\":\"What is wrong "
          "with each argument\",\"items\":{\"type\":\"object\",\"properties\":{\"field\":" WORDS
          ",\"error\":" WORDS ",\"message\":" WORDS "},\"required\":[\"field\",\"error\"]}},"
          "\"suggestion\":" WORDS ",\"retry_after_ms\":{\"type\":\"integer\",\"minimum\":0},"
          "\"cause\":" WORDS ",\"docs_url\":" WORDS ",\"incident\":" WORDS "},"
          "\"required\":[\"status\",\"error_type\",\"message\"]}") },
    { &mishap_artifact,
      MISHAP_TEXT("{\"type\":\"object\",\"description\":\"The answer of a failed call\","
                  "\"properties\":{\"success\":{\"type\":\"boolean\",\"const\":false},"
                  "\"error\":" WORDS ",\"code\":" WORDS
                  ",\"category\":{\"type\":\"string\",\"enum\":["
                  "\"validation\",\"permission\",\"resource\",\"execution\",\"system\"]},"
                  "\"retriable\":{\"type\":\"boolean\"},\"details\":{\"type\":\"object\"}},"
                  "\"required\":[\"success\",\"error\",\"code\",\"category\",\"retriable\"]}") },
    { &mishap_condition_report,
      MISHAP_TEXT("{\"type\":\"object\",\"description\":\"The answer of a failed call\","
                  "\"properties\":{\"type\":{\"type\":\"string\",\"description\":\"The class of "
                  "the condition\"},\"message\":" WORDS ",\"stdout\":{\"type\":\"string\","
                  "\"description\":\"The output before the failure\"},"
                  "\"backtrace\":{\"type\":\"array\",\"description\":\"The frames, the "
                  "innermost first\",\"items\":" WORDS "},"
                  "\"restarts\":{\"type\":\"array\",\"description\":\"The restarts that were "
                  "available\"},\"code\":{\"type\":\"string\",\"description\":\"TYPE_ERROR or "
                  "another of catalog://codes\"},\"retryable\":{\"type\":\"boolean\"},"
                  "\"fields\":{\"type\":\"array\"},\"suggestion\":" WORDS
                  ",\"retry_after_ms\":{\"type\":\"integer\",\"minimum\":0},\"cause\":" WORDS
                  ",\"docs_url\":" WORDS ",\"incident\":" WORDS ",\"session\":" WORDS "},"
                  "\"required\":[\"type\",\"message\",\"stdout\",\"backtrace\",\"restarts\","
                  "\"code\",\"retryable\"]}") },
};

bool mishap_mcp_is_text(const mishap_dialect *dialect)
{
    return dialect == &mishap_condition_report;
}

/* NULL for a dialect that no tool has. */
static const struct failure_schema *schema_of(const mishap_dialect *dialect)
{
    for (size_t i = 0; i < sizeof failure_schemas / sizeof *failure_schemas; i++)
        if (failure_schemas[i].dialect == dialect)
            return &failure_schemas[i];
    return NULL;
}

bool mishap_mcp_put_output_schema(mishap_buffer *buffer, const mishap_mcp_offer *tool, bool full)
{
    const struct failure_schema *failure = schema_of(tool->dialect);
    mishap_buffer answers = { 0 };
    if (!tool->operation->answers || tool->operation->answers_type || !failure)
        return false;
    if (!full) {
        mishap_answers_put_names(buffer, tool->operation->answers);
        return true;
    }
    mishap_answers_put_schema(&answers, tool->operation->answers);
    if (answers.failed)
        /* Makes the buffer fail: half a schema is worse than none. */
        mishap_buffer_reserve(buffer, SIZE_MAX);
    mishap_json_open(buffer, '{');
    MISHAP_PUT(buffer, "\"type\":\"object\",\"anyOf\":[");
    mishap_mcp_put_schema(buffer, mishap_buffer_text(&answers));
    mishap_json_comma(buffer);
    mishap_buffer_put_text(buffer, failure->schema);
    MISHAP_PUT(buffer, "]}");
    mishap_buffer_release(&answers);
    return true;
}
