/*
 * Values held against schemas, for tests that have another opinion of them: each line of the input
 * is {"schema":…, "data":…}, each line of the output is `fits`, `unread`, or what is wrong with the
 * value in the dialect json-api, whose pointers tell where.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "mishap/dialect.h"
#include "schema/schema.h"

static void answer(const mishap_schema *schema, yyjson_val *data)
{
    mishap_buffer rendered = { 0 };
    mishap *m = mishap_schema_check(schema, data);
    if (m) {
        mishap_text text = mishap_render(mishap_dialect_find("json-api"), m, &rendered);
        printf("%.*s\n", (int)text.length, text.data);
    } else {
        puts(mishap_schema_unread(schema) ? "unread" : "fits");
    }
    mishap_buffer_release(&rendered);
    mishap_free(m);
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    mishap_json_reader reader = MISHAP_JSON_READER;
    while ((length = getline(&line, &size, stdin)) > 0) {
        mishap_buffer json = { 0 };
        mishap_schema *schema = NULL;
        if (!mishap_json_read(&reader, (mishap_text){ line, (size_t)length }))
            return 1;
        mishap_json_copy(&json, yyjson_obj_get(reader.root, "schema"));
        if (mishap_schema_compile(mishap_buffer_text(&json), &schema))
            return 1;
        answer(schema, yyjson_obj_get(reader.root, "data"));
        mishap_schema_free(schema);
        mishap_buffer_release(&json);
    }
    mishap_json_reader_release(&reader);
    free(line);
    return 0;
}
