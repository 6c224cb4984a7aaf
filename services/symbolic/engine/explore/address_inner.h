/*
 * Where values go (address_flow.c, address_call.c), for the question whether the address of an
 * object may show (address.c).
 *
 * A place is a variable, the attributes of one name, or the results of a function. If a value may
 * get from one place to another, in either direction, the two are one from then on: the order of
 * statements does not count. A place is dirty if it may have an object whose text has an address:
 * a function, an iterator, an object of a class without __repr__; or the name of the module, which
 * a replay does not know: a class of the code. An address shows if text is made of what a dirty
 * place has.
 */
#ifndef SYMBOLIC_ADDRESS_INNER_H
#define SYMBOLIC_ADDRESS_INNER_H

#include "explore/nature.h"

/* An index; 0 stands for values that never show an address. */
typedef size_t place;

typedef enum place_kind {
    PLACE_VARIABLE,  /* of a function, or of the module */
    PLACE_ATTRIBUTE, /* of any object */
    PLACE_RESULT,    /* of all functions, or of all classes, of a name */
    PLACE_KNOWN      /* what is known of a name: `is` */
} place_kind;

typedef enum name_fact {
    IS_FUNCTION = 1,
    IS_CLASS = 2,
    IS_VARIABLE = 4,   /* anything else binds it */
    IS_ATTRIBUTE = 8,  /* the code sets it as an attribute */
    IS_IMPORTED = 16,  /* a function or a class of a module */
    IS_MODULE = 32,    /* `import math` */
    IS_OF_MODULE = 64, /* a variable of the module */
    IS_PROPERTY = 128,
    IS_FIELD = 256,      /* of a namedtuple */
    IS_NAMED_TUPLE = 512 /* a class that namedtuple() makes */
} name_fact;

typedef struct spot {
    place_kind kind;
    const node *owner;
    const char *name;
    place up;   /* the place that this one is a part of; itself: it is none */
    place next; /* with the same hash */
    bool dirty;
    unsigned is;
} spot;

typedef struct shown {
    place at;
    int line;
    struct shown *next;
} shown;

enum { PLACE_HASHES = 1024 };

typedef struct flow {
    arena *arena;
    tree *tree;
    spot *spots;
    size_t count, room;
    place heads[PLACE_HASHES];
    const node *owner;    /* the outermost function around; NULL: the module */
    const node *function; /* the innermost one */
    const node **functions, **classes;
    const node **scopes; /* of the variables of each function: the outermost one around it */
    size_t function_count, class_count;
    place called;   /* what functions get and give that are called as values */
    place operands; /* what special methods get and give */
    place raised;   /* what exceptions have */
    bool has_operators;
    shown *shown;
    int loose;  /* the line where `str` or the like is passed on, to be called with anything */
    int within; /* the line of the function whose contract is followed; 0: it is the code */
    int first;  /* the line of the first dirty from; 0: there is none */
} flow;

/* -- places (address_flow.c) ------------------------------------------------------------------- */
place flow_place(flow *f, place_kind kind, const node *owner, const char *name);
place flow_variable(flow *f, const char *name); /* of the current function */
place flow_variable_in(flow *f, const node *owner, const char *name);
int flow_line(const flow *f, const node *n);
place flow_join(flow *f, place a, place b);
/* A new place with an object whose text has an address. */
place flow_dirty(flow *f, const node *n);
/* A text is made of the value at this place. */
void flow_show(flow *f, place at, const node *n);
unsigned flow_known(flow *f, const char *name);

/* What an expression gives. `items`: only its items are used, so an iterator itself does not
 * show. */
place flow_of(flow *f, const node *n, bool items);
void flow_all(flow *f, nodes list);
/* … and the defaults of parameters. */
place flow_defaults(flow *f, const node *function);
/* A value gets to a target of an assignment. */
void flow_bind(flow *f, const node *target, place from);

/* -- calls (address_call.c) -------------------------------------------------------------------- */
place flow_call(flow *f, const node *n, bool items);
/* What `n` gives when it is called with these values. */
place flow_callback(flow *f, const node *n, place given);
/* A function that is a from, and may be called from anywhere. */
void flow_escapes(flow *f, const node *function);
/* A class that is a value, and may be called from anywhere. */
void flow_instances(flow *f, const node *class);
void flow_parameters(flow *f, const node *function, place given);
/* An attribute that is no call. */
place flow_attribute(flow *f, const node *n);
/* A name that is no variable: of a function, a builtin, or something imported. */
place flow_named(flow *f, const node *n);

/* -- what is known of names (address.c) -------------------------------------------------------- */
bool address_in(const char *name, const char *const *list);
/* True if the text of an object of this class has its address. */
bool class_has_no_text(const flow *f, const node *class, int depth);
/* True if the text of the class itself has the name of its module; NULL: of any class. An Enum's
 * has not. */
bool class_shows_module(const flow *f, const char *name);
/* True if decorators leave the function what it is. */
bool is_decorated(const node *function);
bool is_static(const node *function);
bool makes_named_tuple(const node *n);  /* namedtuple('P', 'x y') */
bool is_of_class(const node *function); /* a classmethod */
/* True if a decorator may make something else of the class. */
bool is_remade(const node *class);
/* The builtins and functions of modules that make text of anything. */
extern const char *const address_shows[];
/* … that give an iterator. */
extern const char *const address_iterators[];

#endif
