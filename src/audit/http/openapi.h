/*
 * An OpenAPI document (3.0 or 3.1, JSON), as far as an audit reads it: its operations, their
 * parameters and the schema of their bodies. Of a schema it reads `type`, `required`, `minimum`,
 * `maximum`, `minLength`, `maxLength`, `enum`, `properties` and references into the same document.
 *
 * The document comes from a target that may be hostile. References are followed a bounded number of
 * times, values are made to a bounded depth and size, and what has another form is not read.
 */
#ifndef MISHAP_AUDIT_HTTP_OPENAPI_H
#define MISHAP_AUDIT_HTTP_OPENAPI_H

#include "base/base.h"

enum {
    MISHAP_OPENAPI_MOST_OPERATIONS = 100,
    MISHAP_OPENAPI_MOST_PARAMETERS = 32,
    MISHAP_OPENAPI_MOST_REFERENCES = 16, /* from one place to the next, until there is a value */
    MISHAP_OPENAPI_MOST_DEPTH = 8,       /* of a value that is made */
    MISHAP_OPENAPI_MOST_SAMPLE = 16384,  /* … and its bytes */
    MISHAP_OPENAPI_MOST_LOOKED = 20000000,
};

typedef struct mishap_openapi_parameter {
    mishap_text name, in; /* "path", "query", "header", "cookie" */
    bool required;
    yyjson_val *schema; /* resolved; NULL: none */
} mishap_openapi_parameter;

typedef struct mishap_openapi_operation {
    mishap_text method; /* upper case */
    mishap_text path;   /* "/users/{id}" */
    mishap_openapi_parameter *parameters;
    size_t parameter_count;
    yyjson_val *body;      /* the schema of a JSON body, resolved; NULL: none */
    bool body_known;       /* … or there is a body of another form */
    yyjson_val *responses; /* NULL: none are documented */
    yyjson_val *errors;    /* the schema that all its errors have (`default`, `4XX`); NULL: none */
    bool whole;            /* all parameters could be read */
    size_t line;           /* where it stands in the document, from 1 */
} mishap_openapi_operation;

typedef struct mishap_openapi {
    mishap_json_reader reader;
    mishap_arena arena;
    yyjson_val *root;
    mishap_text prefix; /* the path of the first server, without a slash at its end; may be empty */
    mishap_openapi_operation *operations;
    size_t count;
    size_t left_out; /* operations beyond the limit */
    size_t looked;   /* names that were compared for references; beyond a limit none is followed */
} mishap_openapi;

/*
 * Read a document. NULL: it was read, and `text` must stay until it is released. Else a sentence
 * that says why not. Release it in either case.
 */
const char *mishap_openapi_read(mishap_openapi *document, mishap_text text);
void mishap_openapi_release(mishap_openapi *document);

/* The value that a local reference leads to, or the value itself if it is none; NULL: it leads
 * nowhere, to another document, or in a circle. */
yyjson_val *mishap_openapi_resolve(mishap_openapi *document, yyjson_val *value);

/* The types of a schema, as bits; 0: none is named, or one that is not known. */
enum {
    MISHAP_OPENAPI_STRING = 1,
    MISHAP_OPENAPI_INTEGER = 2,
    MISHAP_OPENAPI_NUMBER = 4,
    MISHAP_OPENAPI_BOOLEAN = 8,
    MISHAP_OPENAPI_ARRAY = 16,
    MISHAP_OPENAPI_OBJECT = 32,
    MISHAP_OPENAPI_NULL = 64,
};
unsigned mishap_openapi_types(yyjson_val *schema);

/* The names of `required` that a request must have: without those that are read-only. */
size_t mishap_openapi_required(mishap_openapi *document, yyjson_val *schema, mishap_text *names,
                               size_t most);

/* Is this status documented for an operation: by itself, as 4XX, or as `default`? */
bool mishap_openapi_documents(const mishap_openapi_operation *operation, int status);

/* Does a path template, such as /users/{id}, fit this path? */
bool mishap_openapi_fits(mishap_text template, mishap_text path);

/* -- values: sample.c -------------------------------------------------------------------------- */

/* Which rule of a schema a value breaks. */
typedef enum mishap_openapi_flaw {
    MISHAP_OPENAPI_VALID,
    MISHAP_OPENAPI_WRONG_TYPE,
    MISHAP_OPENAPI_OUT_OF_LIMITS, /* minimum, maximum, minLength, maxLength or enum */
} mishap_openapi_flaw;

/*
 * Write a JSON value that a schema allows, or one with this flaw. False: none can be made, since
 * the schema has rules that are not read, or no rule to break. The buffer may have changed then.
 * Of an object, one member has the flaw, and `*broken` is its name.
 */
bool mishap_openapi_sample(mishap_openapi *document, yyjson_val *schema, mishap_openapi_flaw flaw,
                           mishap_buffer *out, mishap_text *broken);

/* The same for a parameter: the characters for a URL, percent-encoded. */
bool mishap_openapi_sample_text(mishap_openapi *document, yyjson_val *schema,
                                mishap_openapi_flaw flaw, mishap_buffer *out);

#endif
