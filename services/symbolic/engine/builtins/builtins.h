/*
 * builtins: Python's built-in functions, and the methods of its own types.
 *
 * It knows no class of the code and no statement. Where a function calls another one (a key of
 * sorted()), it asks the runner of the machine.
 */
#ifndef SYMBOLIC_BUILTINS_H
#define SYMBOLIC_BUILTINS_H

#include "theories/theories.h"

/* -- functions (builtin.c, builtin_items.c, sorting.c) ----------------------------------------- */
/* Call a built-in function by its name. NULL: raised. */
value *call_builtin(machine *m, const char *name, arguments *given, int line);
/* The builtin functions that iterate over items (builtin_items.c). False: it is none of these. */
bool call_over_items(machine *m, const char *name, arguments *given, value **result, int line);
/* dict() and dict.update(): what came before an exception is in it. False: raised. */
bool update_dict(machine *m, value *dict, arguments *given, int line);
value *dict_fromkeys(machine *m, arguments *given, int line);
/* `*comparing` is set when the first items are compared: an incomplete sort may raise. */
value *sorted(machine *m, values items, value *key, bool reverse, bool *comparing, int line);
/* Check that this is a valid flag in each version of Python. Before 3.12 it had to fit a C int. */
void require_flag(machine *m, const value *reverse, int line);

/* -- methods (method.c, text_method.c, text_search.c) ------------------------------------------ */
/* Of a value that is no object of the code. */
value *call_method(machine *m, value *self, const char *name, arguments *given, int line);
value *list_method(machine *m, value *self, const char *name, arguments *given, int line);
value *call_str_method(machine *m, value *self, const char *name, arguments *given, int line);
/* … by the characters of a str that has been settled. NULL without `raised`: it is none of
 * these. */
value *text_search(machine *m, value *self, const char *name, arguments *given, int line);

/* -- bytes (bytes_method.c, bytes_int.c) ------------------------------------------------------- */
value *bytes_method(machine *m, value *self, const char *name, arguments *given, int line);
/* bytes(), and str(), int.from_bytes() and the like of bytes. False: it is none of these. */
bool call_bytes(machine *m, const char *name, arguments *given, value **result, int line);
bool is_bytes_function(const char *type, const char *name); /* "int", "from_bytes" */
value *int_from_bytes(machine *m, arguments *given, int line);
value *int_to_bytes(machine *m, value *self, arguments *given, int line);

/* -- Counter, defaultdict, OrderedDict, deque (kin.c) ------------------------------------------ */
value *make_kin(machine *m, value *class, arguments *given, int line);
bool kin_in_place(machine *m, operator_kind op, value *l, value *r, value **result, int line);
value *kin_attribute(machine *m, value *v, const char *name, int line);
value *deque_method(machine *m, value *self, const char *name, arguments *given, int line);

/* -- modules that are written in Python (library.c) -------------------------------------------- */
/* Call an internal function of such a module, which Python does not have; the name follows
 * "library.". */
value *call_library(machine *m, const char *name, arguments *given, int line);

#endif
