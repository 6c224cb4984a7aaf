/*
 * The tree: Python code as the interpreter reads it.
 *
 * CPython's own parser makes the syntax tree, so that syntax errors and their lines are Python's.
 * It is turned at once into nodes of our own, which are constant from then on: no other file of the
 * interpreter touches a Python object.
 */
#ifndef SYMBOLIC_TREE_H
#define SYMBOLIC_TREE_H

#include <stdbool.h>

#include "base/base.h"

/* Every kind of node: its class in Python's ast, and which of its fields goes where in `node`. */
#define TREE_NODES(X)                                                                              \
    X(MODULE, "Module", "body:x")                                                                  \
    X(FUNCTION, "FunctionDef", "name:n args:a body:x decorator_list:y returns:b type_params:z")    \
    X(LAMBDA, "Lambda", "args:a body:b")                                                           \
    X(ARGUMENTS, "arguments",                                                                      \
      "posonlyargs:x args:y vararg:a kwonlyargs:z kw_defaults:w kwarg:b defaults:v")               \
    X(ARG, "arg", "arg:n annotation:a")                                                            \
    X(CLASS, "ClassDef", "name:n bases:x keywords:y body:z decorator_list:w type_params:v")        \
    X(RETURN, "Return", "value:a")                                                                 \
    X(DELETE, "Delete", "targets:x")                                                               \
    X(ASSIGN, "Assign", "targets:x value:a")                                                       \
    X(AUGASSIGN, "AugAssign", "target:a op:o value:b")                                             \
    X(ANNASSIGN, "AnnAssign", "target:a annotation:b value:c")                                     \
    X(FOR, "For", "target:a iter:b body:x orelse:y")                                               \
    X(WHILE, "While", "test:a body:x orelse:y")                                                    \
    X(IF, "If", "test:a body:x orelse:y")                                                          \
    X(MATCH, "Match", "subject:a cases:x")                                                         \
    X(MATCH_CASE, "match_case", "pattern:a guard:b body:x")                                        \
    X(RAISE, "Raise", "exc:a cause:b")                                                             \
    X(WITH, "With", "items:y body:x")                                                              \
    X(WITH_ITEM, "withitem", "context_expr:a optional_vars:b")                                     \
    X(TRY, "Try", "body:x handlers:y orelse:z finalbody:w")                                        \
    X(HANDLER, "ExceptHandler", "type:a name:n body:x")                                            \
    X(ASSERT, "Assert", "test:a msg:b")                                                            \
    X(IMPORT, "Import", "names:x")                                                                 \
    X(IMPORT_FROM, "ImportFrom", "module:n names:x level:i")                                       \
    X(ALIAS, "alias", "name:n asname:m")                                                           \
    X(TYPE_ALIAS, "TypeAlias", "name:a type_params:x value:b")                                     \
    X(GLOBAL, "Global", "names:x")                                                                 \
    X(NONLOCAL, "Nonlocal", "names:x")                                                             \
    X(EXPR, "Expr", "value:a")                                                                     \
    X(PASS, "Pass", "")                                                                            \
    X(BREAK, "Break", "")                                                                          \
    X(CONTINUE, "Continue", "")                                                                    \
    X(BOOLOP, "BoolOp", "op:o values:x")                                                           \
    X(NAMED, "NamedExpr", "target:a value:b")                                                      \
    X(BINOP, "BinOp", "left:a op:o right:b")                                                       \
    X(UNARYOP, "UnaryOp", "op:o operand:a")                                                        \
    X(IFEXP, "IfExp", "test:a body:b orelse:c")                                                    \
    X(DICT, "Dict", "keys:x values:y")                                                             \
    X(SET, "Set", "elts:x")                                                                        \
    X(LISTCOMP, "ListComp", "elt:a generators:x")                                                  \
    X(SETCOMP, "SetComp", "elt:a generators:x")                                                    \
    X(DICTCOMP, "DictComp", "key:a value:b generators:x")                                          \
    X(GENERATOR, "GeneratorExp", "elt:a generators:x")                                             \
    X(COMPREHENSION, "comprehension", "target:a iter:b ifs:x is_async:i")                          \
    X(COMPARE, "Compare", "left:a ops:y comparators:x")                                            \
    X(CALL, "Call", "func:a args:x keywords:y")                                                    \
    X(KEYWORD, "keyword", "arg:n value:a")                                                         \
    X(FORMATTED, "FormattedValue", "value:a conversion:i format_spec:b")                           \
    X(JOINED, "JoinedStr", "values:x")                                                             \
    X(CONSTANT, "Constant", "value:k")                                                             \
    X(ATTRIBUTE, "Attribute", "value:a attr:n")                                                    \
    X(SUBSCRIPT, "Subscript", "value:a slice:b")                                                   \
    X(YIELD, "Yield", "value:a")                                                                   \
    X(YIELD_FROM, "YieldFrom", "value:a")                                                          \
    X(STARRED, "Starred", "value:a")                                                               \
    X(NAME, "Name", "id:n")                                                                        \
    X(LIST, "List", "elts:x")                                                                      \
    X(TUPLE, "Tuple", "elts:x")                                                                    \
    X(SLICE, "Slice", "lower:a upper:b step:c")                                                    \
    X(MATCH_VALUE, "MatchValue", "value:a")                                                        \
    X(MATCH_SINGLETON, "MatchSingleton", "value:k")                                                \
    X(MATCH_SEQUENCE, "MatchSequence", "patterns:x")                                               \
    X(MATCH_MAPPING, "MatchMapping", "keys:x patterns:y rest:n")                                   \
    X(MATCH_CLASS, "MatchClass", "cls:a patterns:x kwd_attrs:y kwd_patterns:z")                    \
    X(MATCH_STAR, "MatchStar", "name:n")                                                           \
    X(MATCH_AS, "MatchAs", "pattern:a name:n")                                                     \
    X(MATCH_OR, "MatchOr", "patterns:x")                                                           \
    X(OPERATOR, "", "")   /* in a list of operators */                                             \
    X(IDENTIFIER, "", "") /* in a list of names */                                                 \
    X(OTHER, "", "")      /* all else: `name` is the class, `x` has what is inside of it */

typedef enum node_kind {
#define X(kind, class, fields) N_##kind,
    TREE_NODES(X)
#undef X
} node_kind;

#define TREE_OPERATORS(X)                                                                          \
    X(ADD, "Add", "+")                                                                             \
    X(SUB, "Sub", "-")                                                                             \
    X(MULT, "Mult", "*")                                                                           \
    X(DIV, "Div", "/") X(FLOORDIV, "FloorDiv", "//") X(MOD, "Mod", "%") X(POW, "Pow", "**")        \
        X(LSHIFT, "LShift", "<<") X(RSHIFT, "RShift", ">>") X(BITOR, "BitOr", "|")                 \
            X(BITXOR, "BitXor", "^") X(BITAND, "BitAnd", "&") X(MATMULT, "MatMult", "@")           \
                X(INVERT, "Invert", "~") X(NOT, "Not", "not ") X(UADD, "UAdd", "+")                \
                    X(USUB, "USub", "-") X(AND, "And", "and") X(OR, "Or", "or") X(EQ, "Eq", "==")  \
                        X(NOTEQ, "NotEq", "!=") X(LT, "Lt", "<") X(LTE, "LtE", "<=")               \
                            X(GT, "Gt", ">") X(GTE, "GtE", ">=") X(IS, "Is", "is")                 \
                                X(ISNOT, "IsNot", "is not") X(IN, "In", "in")                      \
                                    X(NOTIN, "NotIn", "not in")

typedef enum operator_kind {
    OP_NONE,
#define X(op, class, sign) OP_##op,
    TREE_OPERATORS(X)
#undef X
} operator_kind;

typedef struct node node;
typedef struct nodes {
    const node **at; /* an item is NULL where Python has None (a default that is not there) */
    size_t count;
} nodes;

typedef enum constant_kind {
    C_NONE,
    C_BOOL,
    C_INT,
    C_FLOAT,
    C_STR,
    C_BYTES, /* as a str of code points up to 255 */
    C_ELLIPSIS,
    C_OTHER /* complex: `text` has the name of the type */
} constant_kind;

typedef struct constant {
    constant_kind kind;
    bool truth;
    bool small; /* an int that `number` holds; else `text` has its digits */
    int64_t number;
    double real;
    const char *text;
    const uint32_t *chars; /* a str: its code points */
    size_t count;
} constant;

struct node {
    node_kind kind;
    operator_kind op;
    int line, column, end_line, end_column; /* from 1; columns from 0, in bytes of UTF-8 */
    int number;                             /* field `i`: a flag or a level */
    unsigned id;                            /* from 0, in the order of the tree */
    const char *name, *other;               /* names are equal if their addresses are */
    const node *a, *b, *c;
    nodes x, y, z, w, v;
    const constant *constant;
};

typedef struct tree {
    arena *arena;
    const char *source;
    size_t length;
    const node *module;
    unsigned count; /* of nodes */
    struct names *names;
    bool without_places; /* the nodes get no lines: it is not code of the caller */
    bool unread;         /* Python could not read an expression for a reason of the engine */
} tree;

enum { TREE_MOST_BYTES = 64 * 1024, TREE_MOST_DEPTH = 100 };

/* What was wrong with code: one of the error types and a message; NULL: nothing. */
typedef struct fault {
    const char *type; /* "SyntaxError", "ValidationError", … */
    const char *message;
    int line; /* 0: none */
} fault;

/* Start and end libpython: once a process. It is isolated, and imports nothing by itself. */
void tree_open(unsigned long seed); /* … of the hashes of strs */
const char *tree_python_version(void);

/* Parse the source of a module. False: `wrong` says why. */
bool tree_parse(tree *t, const char *source, size_t length, fault *wrong);
/* The engine's own Python failed, so that code could not be read. */
extern const fault tree_unread;
/* … one expression, as in a contract or an annotation that is a string. NULL: it is none. */
const node *tree_expression(tree *t, const char *source);
/* The one address of a name. */
const char *tree_name(tree *t, const char *name);
/* The source text of a node, on one line. */
const char *tree_source(const tree *t, arena *a, const node *n);
const char *tree_sign(operator_kind op);
/* How a construct is called in a message: "a with statement". */
const char *tree_construct(const node *n);
/* Does a target of an assignment bind the name, or one of several? NULL is no target. */
bool tree_target_binds(const node *target, const char *name);
bool tree_targets_bind(nodes targets, const char *name);
/* The first node in here, in the order of the tree, for which the test holds; NULL: none. */
typedef bool tree_test(const node *n, const void *context);
const node *tree_first(const node *n, tree_test *test, const void *context);
const node *tree_first_of(nodes list, tree_test *test, const void *context);
/* Is there a `yield` in here, other than in a function, lambda or class inside of it? */
bool tree_yields(const node *n);
bool tree_any_yields(nodes list);
/* Does a call of this function, or of this lambda, make a generator? */
bool tree_generates(const node *function);

#endif
