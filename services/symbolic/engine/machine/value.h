/*
 * Values of the interpreter: the representation of Python's objects on a path.
 *
 * A bool, int, float or str is either known, and computed with as Python does, or a term of the
 * solver's theory: Bool, Int (unbounded), Float64, String. Containers have a known shape with
 * values in it, with two exceptions. A list that is a parameter has a term as its length and an
 * array as its items until the code needs more than single items. A container after a join may have
 * items that exist only under a condition: slots (theories/slots.c).
 */
#ifndef SYMBOLIC_VALUE_H
#define SYMBOLIC_VALUE_H

#include <stdbool.h>

#include <z3.h>

#include "base/base.h"
#include "tree/tree.h"

typedef enum value_kind {
    V_NONE,
    V_BOOL,
    V_INT,
    V_FLOAT,
    V_STR,
    V_BYTES, /* as a str of the same code points, up to 255: see theories/bytes.c */
    V_TUPLE,
    V_LIST,
    V_DICT,
    V_SET,
    V_RANGE,
    V_FUNCTION, /* defined in the code; a lambda */
    V_BUILTIN,  /* a function or type of Python's own, by its name */
    V_METHOD,   /* a method of a value, by its name */
    V_CLASS,    /* defined in the code, and every exception */
    V_OBJECT,   /* an instance of one, exceptions included */
    V_MODULE,   /* imported, by its name */
    V_ITERATOR, /* lazily produced items: a generator expression, zip, enumerate, … */
    V_VIEW,     /* keys(), values() or items() of a dict */
    V_HUGE,     /* a parameter with more items than are explored: it has only a length, `term` */
    V_DATE,     /* of the module datetime: see dates.c */
    V_DELTA,    /* a timedelta */
    V_WRAPPER,  /* in a class: a property, static method or class method */
    V_SUPER,    /* super(): the members of the classes after a class */
    V_NOT_IMPLEMENTED,
    V_EITHER, /* only in a scope: a name with one of two values after a join */
} value_kind;

typedef struct value value;
typedef struct scope scope;

/* The state of an iteration. All zero: it has not begun. */
typedef struct cursor {
    size_t turn, count; /* `count`: the number of keys of a dict or set when it began */
    unsigned undecided; /* iterations for which the path forked */
    unsigned version;   /* of a dict or set when it began */
    bool begun;
    bool ended; /* it has ended, and stays ended even if items are added */
} cursor;

typedef struct values {
    value **at;
    size_t count, room;
} values;

/* A field of a dataclass or NamedTuple. */
typedef struct field {
    const char *name;
    value *otherwise; /* its default; NULL: none */
    value *factory;   /* a function that makes the default; NULL: none */
    bool init, compared, shown, keyword;
} field;

/* An item that exists if its guard holds. */
typedef struct slot {
    Z3_ast guard; /* NULL: it always exists */
    value *item, *other;
} slot;

typedef struct slots {
    slot *at;
    size_t count, room;
} slots;

struct value {
    value_kind kind;
    bool known;       /* a scalar whose value is in the union, not in `term` */
    bool frozen;      /* a frozenset, a frozen dataclass */
    unsigned serial;  /* the order of creation: see path_touch() */
    unsigned version; /* a dict or set: counts added and removed keys; a list: changes */
    /* A list, dict or set whose items exist under conditions, in the order of these slots. `in` is
     * not used then: its count is so large that code which does not handle slots fails. */
    slots *slots;
    Z3_ast term; /* of a scalar that is not known, or of an int that is too big for `number` */
    /* A float that is the quotient of two ints, rounded: comparisons are exact with these, and
     * `term` is not used. `below` is positive. A str that was made of an int has it as `above`. */
    Z3_ast above, below;
    bool flipped; /* … whose divisor may have been negative: the result may be -0.0 */
    /* A subclass of dict or list: a Counter, a defaultdict and its factory, a deque and its
     * maxlen. */
    value *of_class, *factory;
    union {
        bool truth;
        int64_t number;
        double real;
        struct {
            const uint32_t *chars;
            size_t count;
            /* Unknown, but of known length: `count` code points. */
            const Z3_ast *codes;
            /* Not known, and not needed so far: the sum of two strs, or repr() of `left`, or
             * ascii() of it (theories/text_quoted.c). */
            value *left, *right;
            bool ascii;
        } str;
        struct {
            value *text;
        } bytes;
        struct {
            values items;  /* of a dict: its keys */
            values others; /* of a dict: its values */
        } in;
        struct { /* an iterator: returns each item once */
            enum {
                BY_ITEMS,
                BY_SOURCE,   /* those of its one source */
                BY_REVERSED, /* those of a list from the end, read when they are needed */
                BY_GENERATOR,
                BY_FUNCTION, /* what a function with `yield` gives */
                BY_MAP,
                BY_FILTER,
                BY_ZIP,
                BY_ENUMERATE,
                BY_OBJECT /* of the library: what its method __next__ gives */
            } how;
            values sources;  /* the iterables that it reads; BY_ITEMS: the items themselves */
            cursor *cursors; /* one for each of these, unless BY_ITEMS */
            size_t turn;
            bool ended;
            const node *node;            /* BY_GENERATOR: the expression, */
            scope *scope;                /* … where its names are */
            struct generator *generator; /* BY_FUNCTION: its state */
            value *function; /* BY_MAP, BY_FILTER: the function; BY_ENUMERATE: the first number;
                                BY_REVERSED: the first index; BY_OBJECT: the object */
        } iterator;
        struct { /* a list that is a parameter, while `length` is set */
            values items;
            values others;
            Z3_ast length, array;
            value_kind of;
        } lazy;
        struct { /* chosen by the condition `term`; NULL: not bound */
            value *yes, *no;
        } either;
        struct {
            value *from, *to, *step;
        } range;
        struct {
            value *dict;
            char part; /* 'k', 'v' or 'i' */
        } view;
        struct {
            /* NULL: they were not needed so far, and `ordinal` is there. */
            value *year, *month, *day;
            value *ordinal;    /* NULL: it was not needed so far */
            const char *words; /* of a parameter: the name of the class in the code */
        } date;
        struct {
            value *days, *us;  /* 0 <= us < a day */
            const char *words; /* as in a date */
        } delta;
        struct {
            const node *node; /* a FunctionDef or Lambda */
            scope *scope;     /* where it was defined */
            values defaults;
            values keyword_defaults;
            bool abstract; /* it has the decorator abstractmethod: see class_is_abstract() */
            value *cache;  /* lru_cache: results by arguments, as a dict; NULL: it has none */
            size_t most_kept;
        } function;
        struct {
            const char *name;
            value *self; /* of a method: the value that it is bound to */
            value *call; /* … a function of the code */
        } builtin;
        struct {
            const char *name;
            values mro; /* the class itself and its bases; empty: itself alone */
            scope *members;
            value_kind
                /* The container of its objects' items: a dict, a list; V_NONE: neither. */
                container;
            const node *node;
            field *fields; /* of a dataclass or NamedTuple, including inherited ones */
            size_t field_count;
            values enumerated; /* of an Enum: its members */
            value_kind like;   /* … which are also of this type; V_NONE: they are not */
            bool exception, dataclass, enumeration, named;
            bool bare;     /* … an IntEnum or StrEnum, whose text is that of the value */
            bool slotted;  /* a dataclass with slots */
            bool abc;      /* inherits from abc.ABC */
            bool protocol; /* … from typing.Protocol */
            bool inner;    /* defined in a function or class, whose name is a part of its own */
        } class;
        struct {
            enum { AS_STATIC, AS_CLASS, AS_PROPERTY } as;
            value *get, *set, *delete;
        } wrapper;
        struct {
            value *after, *self; /* the class of the current method, and the object or class that it
                                    was called for */
        } super;
        struct {
            value *class;
            values names, fields; /* attributes: names as str */
            /* The int, str or tuple that an object also is, such as an Enum's member. */
            value *plain;
            values arguments; /* of an exception */
            bool opaque;      /* … raised by Python itself: its message is not modelled */
            int line;
        } object;
    };
};

struct scope {
    scope *up; /* the enclosing function, where names are searched next */
    const char **names;
    value **values; /* NULL: not bound yet */
    size_t count, room;
    const node *owner; /* the function; NULL: a module, a class or a comprehension */
    bool comprehension, is_class;
    value *class; /* of a class: itself, once it is made */
    unsigned serial;
    const char **globals; /* names that `global` declares */
    size_t global_count;
    const char **outers; /* … that `nonlocal` declares */
    size_t outer_count;
};

struct machine;
typedef struct machine machine;

value *value_new(machine *m, value_kind kind);
value *value_none(machine *m);
value *value_bool(machine *m, bool truth);
value *value_int(machine *m, int64_t number);
value *value_float(machine *m, double real);
value *value_str(machine *m, const uint32_t *chars, size_t count);
value *value_ascii(machine *m, const char *words); /* UTF-8 is understood, too */
value *value_bytes(machine *m, value *text);       /* NULL: NULL */
value *value_constant(machine *m, const constant *k);

/* Terms. A term that is a constant becomes a known value. */
value *value_of_bool(machine *m, Z3_ast term);
value *value_of_int(machine *m, Z3_ast term);
value *value_of_float(machine *m, Z3_ast term);
value *value_of_str(machine *m, Z3_ast term);
value *value_of(machine *m, value_kind kind, Z3_ast term);
/* A str of these code points, each of which must be valid. */
value *value_letters(machine *m, const Z3_ast *codes, size_t count);
/* The code points of a str; NULL: its length is not known. It ends the path if a character is
 * beyond those of the solvers. */
const Z3_ast *value_codes(machine *m, const value *v);
/* The term of a bool, int, float or str. */
Z3_ast value_term(machine *m, const value *v);
/* … of a bool or int as an Int. */
Z3_ast value_int_term(machine *m, const value *v);
/* … as a Float64; NULL: an int that is not known has no exact one. */
Z3_ast value_float_term(machine *m, const value *v);

/* The float that is nearest to above / below, which must lie within the range of floats. */
value *value_quotient(machine *m, Z3_ast above, Z3_ast below);
bool value_is_quotient(const value *v);

bool value_is_number(const value *v);   /* bool, int or float */
bool value_is_integral(const value *v); /* bool or int */
bool value_is_scalar(const value *v);   /* … or str */
/* A bool or int as a C number, if it is known and fits. */
bool value_whole(const value *v, int64_t *number);
/* True if it and everything in it is known. */
bool value_is_concrete(machine *m, const value *v);

value *value_sequence(machine *m, value_kind kind, size_t room);
void values_add(machine *m, values *to, value *v);
bool value_is_lazy(const value *v);
/* A copy with containers of its own. */
value *value_copy(machine *m, const value *v);

/* "int", "list", the name of a class. */
const char *value_type(const value *v);
const char *value_utf8(machine *m, const value *v); /* a known str */
bool value_says(const value *v, const char *ascii); /* … is it this? */

#endif
