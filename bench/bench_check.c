/*
 * The speed of the rule checks: the complete example of the HTTP API from bytes to findings, and
 * how it grows. As in bench.c: the median of many short rounds, each figure against something else
 * that was measured in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "measure.h"
#include "operation/operation.h"
#include "schema/schema.h"

static volatile size_t sink;

/* -- the complete example ---------------------------------------------------------------------- */

static const char body[] = "{\n  \"name\": \"\",\n  \"age\": 200,\n  \"email\": \"invalid\"\n}\n";

static const mishap_param user_params[] = {
    { "name", MISHAP_STRING, .required = true },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "email", MISHAP_STRING, .required = true, .pattern = ".*@.*\\..*" },
    { 0 },
};

static void end(mishap *m)
{
    sink = m ? mishap_told(m)->field_count : 0;
    mishap_free(m);
}

static void require_all(void)
{
    mishap_requirements *v = mishap_require_begin(body, sizeof body - 1);
    mishap_require_fields(v, "name", "email", NULL);
    mishap_require_type(v, "age", MISHAP_INTEGER);
    mishap_require_range(v, "age", 0, 150);
    mishap_require_pattern(v, "email", ".*@.*\\..*");
    end(mishap_require_end(v));
}

static void check_declared(void)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap_json_read(&reader, (mishap_text){ body, sizeof body - 1 });
    end(mishap_params_check(user_params, reader.root));
    mishap_json_reader_release(&reader);
}

static void read_with_yyjson(void)
{
    yyjson_doc *document = yyjson_read(body, sizeof body - 1, 0);
    sink = yyjson_doc_get_val_count(document);
    yyjson_doc_free(document);
}

static void bench_example(const char *what, work *checks)
{
    double ours, theirs;
    checks();
    if (sink != 3)
        end_void(what, "there should be 3 findings");
    compare(checks, read_with_yyjson, SERIES, &ours, &theirs);
    printf("%s: read %zu bytes, five rules, three findings, free\n"
           "    %.0f ns (at most 1,500: %s) against %.0f ns for yyjson_read: ratio %.1f\n",
           what, sizeof body - 1, figure(what, ours), outcome(ours, 0, 1500),
           figure("yyjson_read", theirs), ours / theirs);
}

/* -- growth ------------------------------------------------------------------------------------ */

enum { MOST = 1000 };

static size_t amount;
static char names[MOST][16];
static mishap_param fields[MOST + 1];
static char *documents[4], *document; /* with 1, 10, 100, 1,000 fields */
static size_t sizes[4], size;
static bool backwards;

/* An object with so many fields, all of them right, so that the time is that of the rules. */
static char *make_document(size_t count, size_t *length)
{
    char *text = malloc(count * 64 + 3), *at = text;
    *at++ = '{';
    for (size_t i = 0; i < count; i++) {
        size_t field = backwards ? count - 1 - i : i;
        at += snprintf(at, 64, "%s\"field_%zu\":\"someone%zu@example.com\"", i ? "," : "", field,
                       field);
    }
    *at++ = '}';
    *length = (size_t)(at - text);
    return text;
}

static void make_fields(size_t count)
{
    for (size_t i = 0; i < MOST; i++) {
        snprintf(names[i], sizeof names[i], "field_%zu", i);
        fields[i] = (mishap_param){ names[i], MISHAP_STRING, .required = true, .length = { 1, 200 },
                                    .pattern = ".*@.*\\..*" };
    }
    fields[count] = (mishap_param){ 0 };
}

static void check_fields(void)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_json_read(&reader, (mishap_text){ document, size });
    end(mishap_params_check(fields, reader.root));
    mishap_json_reader_release(&reader);
}

static void require_each(void)
{
    mishap_requirements *v = mishap_require_begin(document, size);
    for (size_t i = 0; i < amount; i++) {
        mishap_require_fields(v, names[i], NULL);
        mishap_require_length(v, names[i], 1, 200);
        mishap_require_pattern(v, names[i], ".*@.*\\..*");
    }
    end(mishap_require_end(v));
}

/* The same rule a hundred, a thousand times over one field. */
static void require_again(void)
{
    mishap_requirements *v = mishap_require_begin(documents[0], sizes[0]);
    for (size_t i = 0; i < amount; i++)
        mishap_require_length(v, names[0], 1, 200);
    end(mishap_require_end(v));
}

static void read_fields(void)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_json_read(&reader, (mishap_text){ document, size });
    sink = yyjson_obj_size(reader.root);
    mishap_json_reader_release(&reader);
}

/* The time of n units over n times the time that one more unit takes: near 1 when it is linear,
 * with any fixed cost. */
static void bench_growth(const char *what, work *checks, bool from_behind)
{
    static const size_t amounts[] = { 1, 10, 100, 1000 };
    double ns[4], reading;
    backwards = from_behind;
    for (int i = 0; i < 4; i++) {
        amount = amounts[i];
        make_fields(amount);
        document = documents[i] = make_document(amount, &size);
        sizes[i] = size;
        checks();
        if (sink != 0)
            end_void(what, "there should be no findings");
        compare(checks, read_fields, amount > 50 ? 5 : 100, &ns[i], &reading);
    }
    double unit = figure(what, (ns[2] - ns[0]) / 99);
    printf("%-36s %6.0f %6.0f %6.0f %7.0f ns for 1, 10, 100, 1,000: ", what, ns[0], ns[1], ns[2],
           ns[3]);
    printf("the last 900 cost %.2f times what the first 100 predict; reading alone: %.0f ns\n",
           figure(what, (ns[3] - ns[2]) / 900 / unit), reading);
    for (int i = 0; i < 4; i++)
        free(documents[i]);
}

/* -- a schema of another program --------------------------------------------------------------- */

/* A tool as MCP servers have them: an issue tracker's search. */
static const char input_schema[] =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"properties\":{"
    "\"owner\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Repository owner\"},"
    "\"repo\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9._-]+$\"},"
    "\"state\":{\"type\":\"string\",\"enum\":[\"open\",\"closed\",\"all\"]},"
    "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":20},"
    "\"since\":{\"type\":[\"string\",\"null\"]},"
    "\"page\":{\"type\":\"integer\",\"minimum\":1},"
    "\"per_page\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},"
    "\"sort\":{\"anyOf\":[{\"const\":\"created\"},{\"const\":\"updated\"}]}},"
    "\"required\":[\"owner\",\"repo\"],\"additionalProperties\":false}";
static const char right_call[] =
    "{\"owner\":\"example\",\"repo\":\"hello-world\",\"state\":\"open\",\"labels\":[\"bug\",\"help "
    "wanted\"],\"page\":1,\"per_page\":30,\"sort\":\"updated\"}";
static const char wrong_call[] =
    "{\"owner\":\"\",\"repository\":\"hello-world\",\"state\":\"opne\",\"labels\":\"bug\","
    "\"per_page\":1000}";

static mishap_schema *schema;
static yyjson_val *arguments;

static void check_schema(void)
{
    end(mishap_schema_check(schema, arguments));
}

static void compile_schema(void)
{
    mishap_schema *made = NULL;
    mishap_free(
        mishap_schema_compile((mishap_text){ input_schema, sizeof input_schema - 1 }, &made));
    sink = made != NULL;
    mishap_schema_free(made);
}

static void read_right_call(void)
{
    yyjson_doc *read = yyjson_read(right_call, sizeof right_call - 1, 0);
    sink = yyjson_doc_get_val_count(read);
    yyjson_doc_free(read);
}

static void bench_schema(const char *what, const char *call, size_t findings, double at_most)
{
    double ours, theirs;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!mishap_json_read(&reader, mishap_text_of(call)))
        end_void(what, "the arguments cannot be read");
    arguments = reader.root;
    check_schema();
    if (sink != findings)
        end_void(what, "there are other findings");
    compare(check_schema, read_right_call, SERIES, &ours, &theirs);
    printf("%s: %.0f ns (at most %.0f: %s) against %.0f ns for yyjson_read of the right one\n",
           what, figure(what, ours), at_most, outcome(ours, 0, at_most),
           figure("yyjson_read", theirs));
    mishap_json_reader_release(&reader);
}

static void bench_schemas(void)
{
    double ours, theirs;
    mishap_free(
        mishap_schema_compile((mishap_text){ input_schema, sizeof input_schema - 1 }, &schema));
    if (!schema)
        end_void("schema", "there is no memory");
    bench_schema("a right call of a tool against its inputSchema", right_call, 0, 700);
    bench_schema("a wrong one, six findings with near names", wrong_call, 6, 30000);
    compare(compile_schema, read_right_call, 20, &ours, &theirs);
    printf("compiling that inputSchema of %zu bytes, once: %.0f ns\n", sizeof input_schema - 1,
           figure("compile", ours));
    mishap_schema_free(schema);
}

int main(void)
{
    bench_example("require_fields, require_type, …", require_all);
    bench_example("declared parameters", check_declared);
    bench_schemas();
    bench_growth("declared fields, in order", check_fields, false);
    bench_growth("declared fields, from behind", check_fields, true);
    bench_growth("required fields, in order", require_each, false);
    bench_growth("required fields, from behind", require_each, true);
    bench_growth("rules of one field", require_again, false);
    return 0;
}
