/*
 * Classes: what a class statement makes (class.c), what dataclass() and field() add to it
 * (dataclass.c), Enums (enumeration.c), NamedTuples (named.c), and the attributes of objects
 * (object.c).
 *
 * A class has an order in which it and its bases are searched for a member (C3, as in Python).
 * Methods that a dataclass generates are members, too: builtin functions whose `self` is the class.
 */
#ifndef SYMBOLIC_CLASS_H
#define SYMBOLIC_CLASS_H

#include "machine/machine.h"

/* The full name of an imported name: "enum.Enum"; NULL: it does not come from a module. */
const char *library_name(machine *m, scope *s, const node *n);

/* -- members and attributes (object.c) --------------------------------------------------------- */
/* A member of the class itself. */
value *own_member(const value *class, const char *name);
/* … of the class or of the first base after `after` that has one. */
value *member_after(value *class, const value *after, const char *name);
void put_member(machine *m, value *class, const char *name, value *v);
/* Set or delete an attribute, as `of.name = v` does. False: raised. */
bool attribute_set(machine *m, value *of, const char *name, value *v, int line);
bool attribute_delete(machine *m, value *of, const char *name, int line);
/* Call a member with an object as its first argument. */
value *call_member(machine *m, value *self, value *member, arguments *given, int line);
/* Call a member of object or BaseException itself: __init__ or __eq__. */
value *call_root(machine *m, const char *name, arguments *given, int line);

/* -- class statements and decorators (class.c) ------------------------------------------------- */
/* The function of a definition after its decorators. NULL: raised. */
value *decorated_function(machine *m, scope *s, const node *n);
/* property(), staticmethod(), classmethod() and the like; false: it is none of these. */
bool call_decorator(machine *m, const char *name, arguments *given, value **result, int line);
value *property_with(machine *m, const value *property, const char *part, arguments *given,
                     int line);
value *eval_super(machine *m, scope *s, const node *n);
bool class_is_abstract(value *class);

/* -- dataclasses (dataclass.c) ----------------------------------------------------------------- */
/* The class whose fields an object has, if it is a dataclass or inherits from one; else NULL. */
value *record_of(value *class);
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
outcome run_enumeration(machine *m, scope *members, value *class);
value *enum_lookup(machine *m, value *class, arguments *given, int line);
value *enum_named(machine *m, value *class, value *name, int line);
/* A built-in attribute of a member: name, value. NULL: it is neither. */
value *enum_attribute(machine *m, value *member, const char *name, int line);
value *enum_text(machine *m, value *member, bool representation, int line);

/* -- NamedTuples (named.c) --------------------------------------------------------------------- */
bool make_named(machine *m, value *class);
value *named_of_call(machine *m, arguments *given, int line);
value *named_make(machine *m, value *class, arguments *given, int line);
value *named_attribute(machine *m, value *object, const char *name, int line);
value *named_class_attribute(machine *m, value *class, const char *name, int line);
value *call_named_method(machine *m, value *self, const char *name, arguments *given, int line);
value *named_text(machine *m, value *object, int line);

/* -- special methods (theories/special.c) ------------------------------------------------------ */
value *special_of(const value *v, const char *name); /* NULL: it has none */
value *call_method_with(machine *m, value *self, value *method, values given, int line);
/* Call one with one argument, or none if it is NULL. */
value *call_special(machine *m, value *self, value *method, value *argument, int line);
/* The int, str or tuple that an object also is; otherwise the value itself. */
value *plain_of(value *v);
/* ==, <, … if one side is an object: the result of its method. NULL: raised. */
value *rich_compare(machine *m, operator_kind op, value *l, value *r, int line);
/* True if a method of the code defines equality or order, of the value or of something inside of
 * it. */
bool has_own_order(const value *v);
value *object_binary(machine *m, operator_kind op, value *l, value *r, int line);
value *object_unary(machine *m, operator_kind op, value *v, int line);
value *object_truth(machine *m, value *v);
value *object_length(machine *m, value *v, int line);
value *object_item(machine *m, value *of, value *index, int line);
bool object_item_set(machine *m, value *of, value *index, value *v, int line);
value *object_contains(machine *m, value *in, value *item, int line);
/* … in the items of an iterator, up to the one that is found. */
value *iterator_contains(machine *m, value *from, value *item, int line);
/* An object with keys() is taken as a mapping, which is not modelled. */
void refuse_mapping(machine *m, const value *v, int line);
/* -1: a method of the code computes its hash; 0: it has none; 1: it has one. */
int object_hashes(machine *m, const value *v, values *parts, int line);

#endif
