/*
 * inputs: the parameters of a function by their annotations, as symbols, and their values in a
 * model: a witness, which is a call of the function in Python's syntax.
 */
#ifndef SYMBOLIC_INPUTS_H
#define SYMBOLIC_INPUTS_H

#include <yyjson.h>

#include "interpreter/interpreter.h"

typedef enum type_kind {
    T_INT,
    T_BOOL,
    T_FLOAT,
    T_STR,
    T_BYTES,
    T_NONE,
    T_LIST,
    T_TUPLE,
    T_TUPLE_OF, /* tuple[int, ...] */
    T_DICT,
    T_SET,
    T_FROZENSET,
    T_UNION,
    T_LITERAL,
    T_OBJECT, /* a dataclass or NamedTuple */
    T_DATE,   /* of the module datetime; `words` is its name in the code */
    T_DELTA,  /* … a timedelta */
    T_ENUM,
} type_kind;

typedef struct type {
    type_kind kind;
    const struct type *parts[16];
    const char
        *names[16]; /* T_OBJECT: of its fields; a dict of keywords: what is no key, to NULL */
    size_t count;
    bool keywords;    /* T_DICT: that of **kwargs */
    const node *node; /* T_OBJECT, T_ENUM: its class statement; T_LITERAL: the subscript */
    bool assumed;     /* without an annotation: int was assumed */
    const char *words;
} type;

typedef struct parameter {
    const char *name;
    const type *type;
    bool keyword; /* keyword-only */
    bool rest;    /* `*args`, or with `keyword` `**kwargs`: its type is that of the tuple or dict */
} parameter;

enum { MOST_PARAMETERS = 16 };

/* The parameters of a function; false: `wrong` says which one is not supported. `guess` is the type
 * of parameters without an annotation, and `guessed` says whether there are any. `other`: a
 * function that is called with the same arguments; NULL: none. */
bool input_parameters(tree *t, const node *function, const node *other, type_kind guess,
                      parameter *out, size_t *count, fault *wrong, const char **assumed,
                      bool *guessed);

/* A fresh symbol of a type; it may fork. */
value *input_make(machine *m, const type *t, const char *name);

/* Preferences that make a witness easier to read, such as short strs: NULL if there are none. The
 * characters of strs are printable ASCII or, with `latin`, any up to U+FF: beyond that some methods
 * of str are guesses, and a witness that depends on a wrong guess is useless. */
Z3_ast input_wishes(machine *m, values inputs, bool latin);

/* The value in a model; NULL: it cannot be written as a literal. */
value *input_concrete(machine *m, Z3_model model, const value *v);
/* A known value as a Python literal, and as JSON. */
bool input_write(machine *m, const value *v, text *out);
yyjson_mut_val *input_json(machine *m, const value *v, yyjson_mut_doc *doc);

#endif
