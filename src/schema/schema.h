/*
 * src/schema: JSON values held against a JSON Schema that another program wrote, such as the
 * inputSchema of an MCP tool. A schema is compiled once; a check then reads only the compiled form.
 *
 *     compile.c      from the JSON of a schema to nodes
 *     keywords.c     … each keyword
 *     members.c      … the names of properties, sorted
 *     reference.c    $id, $anchor and $ref
 *     address.c      a relative address against its base (RFC 3986)
 *     expression.c   a pattern of ECMAScript as one of our matcher
 *     number.c       numbers against numbers; values that are equal
 *     judge.c        does a value fit?
 *     evaluated.c    unevaluatedProperties and unevaluatedItems
 *     tell.c         what is wrong with it, as findings
 *     alternatives.c … where it fits none of several schemas
 *     words.c        … in words
 *
 * What it knows: draft 7, 2019-09 and 2020-12, which is meant where `$schema` is missing. Drafts 4
 * and 6 are read as draft 7. What it does not know it does not judge: such a part of a schema
 * neither accepts nor refuses a value, and neither does a `not`, an `anyOf` or an `if` that depends
 * on it. So a value is refused only if the schema refuses it for certain. Not judged are:
 *
 *     $recursiveRef, and a $dynamicRef to a name that several anchors have
 *     a $ref to a document that is not inside of this one
 *     a pattern that expression.c cannot translate, or whose search gives up or has no memory
 *     `format` in 2019-09 and 2020-12, where it is an annotation; formats that we do not check
 *     a keyword whose value is not what the draft says; `dependencies` after draft 7
 *     everything beyond the limits below
 */
#ifndef MISHAP_SCHEMA_SCHEMA_H
#define MISHAP_SCHEMA_SCHEMA_H

#include "base/base.h"
#include "mishap/mishap.h"

/* Limits. Of a schema that is above one of the first six nothing is judged. */
enum {
    MISHAP_SCHEMA_MOST_BYTES = 1024 * 1024,
    MISHAP_SCHEMA_MOST_NODES = 20000, /* schemas inside of it, itself included */
    MISHAP_SCHEMA_MOST_PATTERNS = 200,
    MISHAP_SCHEMA_MOST_ADDRESSES = 1000,   /* $id and $anchor */
    MISHAP_SCHEMA_MOST_LOOKUPS = 40000000, /* steps to what $ref leads to */
    MISHAP_SCHEMA_MOST_NAMES = 50000, /* members of all objects of the schema that are properties */
    MISHAP_SCHEMA_MOST_DEPTH = 200,   /* schemas that are applied inside of each other */
    MISHAP_SCHEMA_MOST_STEPS =
        1000000, /* of one check: some ten milliseconds. What is left is not judged */
    MISHAP_SCHEMA_MOST_TEXT = 4096, /* bytes of a string that is searched for a pattern */
};

typedef struct mishap_schema mishap_schema;

/*
 * Compile a schema. The text is copied. The only failure is that there is no memory. A schema that
 * cannot be used is no failure: it accepts everything, and mishap_schema_unread() says why.
 */
mishap *mishap_schema_compile(mishap_text json, mishap_schema **schema);

/* NULL, too. No other thread may be using the schema. */
void mishap_schema_free(mishap_schema *schema);

/* Why nothing of a schema is judged, as a sentence that lives for ever; NULL: it is judged. */
const char *mishap_schema_unread(const mishap_schema *schema);

/* The schema of a property of the root, as far as `properties` has it; NULL: there is none. It
 * belongs to the schema, and is for mishap_schema_refuses() alone. */
typedef struct schema_node mishap_schema_part;
const mishap_schema_part *mishap_schema_property(const mishap_schema *schema, mishap_text name);

/* True if the part of a schema refuses the value for certain. */
bool mishap_schema_refuses(const mishap_schema_part *part, yyjson_val *value);

/*
 * Hold the arguments of a call against the schema; NULL as `arguments` is {}. They come from a
 * document without a flaw of base/json_read.h. Any number of threads may check at the same time.
 *
 * NULL if nothing is wrong for certain. Else one VALIDATION_ERROR with all findings, up to
 * MISHAP_MOST_FINDINGS, as the checks of our own operations make them (operation/findings.h): the
 * field is the way to the value (`items[2].name`, which the dialect json-api writes as the pointer
 * /items/2/name), `arguments` for all of them. An unknown name and a wrong choice come with the
 * name that may be meant. Values of names that are secret are not shown.
 */
mishap *mishap_schema_check(const mishap_schema *schema, yyjson_val *arguments);

#endif
