/*
 * classes: objects of classes of the code - how they are made, and their attributes (object.c),
 * what dataclass() and field() add to a class (dataclass.c), Enums (enumeration.c) and NamedTuples
 * (named.c).
 *
 * A class has an order in which it and its bases are searched for a member (C3, as in Python).
 * Methods that a dataclass generates are members, too: builtin functions whose `self` is the class.
 * The statements that make a class are in the interpreter.
 */
#ifndef SYMBOLIC_CLASSES_H
#define SYMBOLIC_CLASSES_H

#include "builtins/builtins.h"

/* -- objects and attributes (object.c) --------------------------------------------------------- */
value *make_object(machine *m, value *class, arguments *given, int line);
value *get_attribute(machine *m, value *v, const char *name, int line);
/* Set or delete an attribute, as `of.name = v` does. False: raised. */
bool attribute_set(machine *m, value *of, const char *name, value *v, int line);
bool attribute_delete(machine *m, value *of, const char *name, int line);
/* Call a member of object or BaseException itself: __init__ or __eq__. */
value *call_root(machine *m, const char *name, arguments *given, int line);

/* -- dataclasses (dataclass.c) ----------------------------------------------------------------- */
/* Apply dataclass() with the options of a decorator. False: raised. */
bool class_becomes_dataclass(machine *m, value *class, const node *decorator);
/* Call a method that a dataclass generated. */
value *call_generated(machine *m, value *callee, arguments *given, int line);
/* dataclasses.field(), replace(), asdict(), astuple(), typing.NewType(); false: none of these. */
bool call_class_library(machine *m, const char *name, arguments *given, value **result, int line);
bool is_class_library(const char *name);
/* May the attribute be set? False: FrozenInstanceError or AttributeError is raised. */
bool may_set_field(machine *m, value *object, const char *name, int line);

/* -- Enums (enumeration.c) --------------------------------------------------------------------- */
value *enum_lookup(machine *m, value *class, arguments *given, int line);
/* A built-in attribute of a member: name, value. NULL: it is neither. */
value *enum_attribute(machine *m, value *member, const char *name, int line);

/* -- NamedTuples (named.c) --------------------------------------------------------------------- */
bool make_named(machine *m, value *class);
value *named_of_call(machine *m, arguments *given, int line);
value *named_make(machine *m, value *class, arguments *given, int line);
value *named_attribute(machine *m, value *object, const char *name, int line);
value *named_class_attribute(machine *m, value *class, const char *name, int line);
value *call_named_method(machine *m, value *self, const char *name, arguments *given, int line);

#endif
