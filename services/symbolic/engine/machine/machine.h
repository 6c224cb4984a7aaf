/*
 * The interpreter: it runs the tree with values that may be symbolic, one path at a time.
 *
 * Evaluating an expression that raises returns NULL, and `raised` is the exception. A construct
 * that is not modelled exactly ends the path (path_unsupported()), so that it can never lead to a
 * wrong verdict.
 */
#ifndef SYMBOLIC_MACHINE_H
#define SYMBOLIC_MACHINE_H

#include "base/arena.h"
#include "machine/path.h"
#include "solver/solver.h"
#include "tree/tree.h"
#include "machine/value.h"

typedef enum outcome { DONE, RETURNED, BROKE, CONTINUED, RAISED } outcome;

enum {
    MOST_CALLS = 400,     /* nested calls */
    MOST_NESTED = 200,    /* nested containers */
    MOST_STEPS = 1000000, /* statements and expressions of a path */
    MOST_ITEMS = 200000,  /* items of a container */
    MOST_BITS = 1 << 16,  /* bits of an int */
    MOST_CONCRETE_CHARS = 1 << 20,
    MOST_SETTLED = 20, /* a str that surely has no more characters is split into characters */
};

struct machine {
    solver *solver;
    tree *tree;
    arena *arena; /* freed with the path */
    arena *kept;  /* freed with the analysis */
    path path;

    scope *globals;
    value *raised;   /* the exception that propagates */
    value *returned; /* the value of a `return` */
    value *handling; /* the exception that a handler handles, for a bare `raise` */
    int line;        /* the current line */
    unsigned calls, serial;
    unsigned nested;  /* depth of the containers that are compared or printed */
    unsigned lasting; /* values that are older than this must not be changed: see path_touch() */
    uint64_t steps;

    /* Limits that an exploration sets, and whether one was reached. */
    unsigned most_turns; /* iterations of one loop whose condition is undecided */
    unsigned most_items; /* items of a container that is a parameter */
    unsigned most_forks; /* forks of one path */
    bool digits_assumed; /* an int was converted to text, which Python limits to 4,300 digits */
    bool joined;         /* sides were joined, or an attempt was made */
    bool left_out;       /* a statement of the module was skipped, since it is not supported */
    bool mixed;          /* an object was made that is an int, str or tuple, too: see throw() */
    bool no_joins;       /* joins are off: a construct may not be able to use a joined value */

    /* The receiver of the branches that are reached and the lines that are run; NULL: none. */
    struct survey *survey;
    /* Values with smaller serials belong to the module; was any of them changed? */
    unsigned loaded;
    bool module_changed;
    /* A leading assert of this function is a precondition. */
    const node *contract_of;

    value *none, *yes, *no;
    struct { /* exceptions of Python, created when they are needed */
        const char *name;
        value *class;
    } exceptions[64];
    size_t exception_count;
    struct { /* modules that are modelled in Python (library.c) and that the path has imported */
        const char *module;
        scope *members;
    } libraries[16];
    size_t library_count;
};

/* -- expressions (expression.c) ---------------------------------------------------------------- */
value *eval(machine *m, scope *s, const node *n);
/* The truth of an expression, which may be a symbolic bool. */
value *eval_truth(machine *m, scope *s, const node *n);
value *truth_of(machine *m, value *v);
/* … decided. -1: it raised. */
int decide_truth(machine *m, value *v, bool prefer);
bool assign(machine *m, scope *s, const node *target, value *v);
value *eval_comprehension(machine *m, scope *s, const node *n);
/* All items of a generator expression to which there is no other reference (`frozen`), as a list,
 * if the time at which they are made does not matter: nothing is raised or changed. NULL: it may
 * matter. */
value *items_at_once(machine *m, value *of);

/* -- statements (statement.c, trying.c, with.c, matching.c)
 * -------------------------------------------- */
outcome run(machine *m, scope *s, nodes body);
/* Run the body of a loop or function. Its end, and a statement that ends it (`meet`: CONTINUED or
 * RETURNED), count as the same place, where the sides of an `if` can be joined (branching.c). */
outcome run_until(machine *m, scope *s, nodes body, outcome meet);
outcome run_one(machine *m, scope *s, const node *n);
outcome run_if(machine *m, scope *s, const node *n);
/* The body of a `for` over a container with slots: BROKE, or DONE, RETURNED, RAISED. */
outcome run_over_slots(machine *m, scope *s, const node *n, value *of);
outcome run_try(machine *m, scope *s, const node *n);
/* The first handler of a `try` that handles an exception: 1; 0: there is none; -1: raised. */
int find_handler(machine *m, scope *s, const node *n, value *raised, const node **out);
outcome run_with(machine *m, scope *s, const node *n);
outcome run_match(machine *m, scope *s, const node *n);
outcome run_class(machine *m, scope *s, const node *n);
outcome run_import(machine *m, scope *s, const node *n);

/* -- names (scope.c) --------------------------------------------------------------------------- */
scope *scope_new(machine *m, scope *up, const node *owner);
value *scope_get(machine *m, scope *s, const char *name); /* NULL: raised */
value *scope_peek(const scope *s, const char *name);      /* only in this scope; NULL: not bound */
void scope_set(machine *m, scope *s, const char *name, value *v);
bool scope_unset(machine *m, scope *s, const char *name);
bool scope_binds(machine *m, const node *function, const char *name);
/* `global` and `nonlocal` statements hold for a whole function, even before their line. */
void scope_declare(machine *m, scope *s, nodes body);
/* How many of these statements bind a name, not counting imports from `typing` and the like. */
size_t scope_count(nodes body, const char *name);
/* Python evaluates annotations: check that their names exist. False: raised. */
bool annotation_exists(machine *m, scope *s, const node *n);

/* -- calls (call.c) ---------------------------------------------------------------------------- */
typedef struct arguments {
    values places;
    values names; /* of keywords, as str */
    values keywords;
} arguments;

value *eval_call(machine *m, scope *s, const node *n);
value *call(machine *m, value *callee, arguments *given, int line);
value *call_with(machine *m, value *callee, value *argument, int line); /* one argument */
value *make_function(machine *m, scope *s, const node *n);              /* NULL: raised */
value *call_builtin(machine *m, const char *name, arguments *given, int line);
/* dict() and dict.update(): what came before an exception is in it. False: raised. */
bool update_dict(machine *m, value *dict, arguments *given, int line);
value *dict_fromkeys(machine *m, arguments *given, int line);
/* The builtin functions that iterate over items (builtin_items.c). False: it is none of these. */
bool call_over_items(machine *m, const char *name, arguments *given, value **result, int line);
/* Take the keyword argument of this name out of the arguments; NULL: there is none. */
value *keyword_argument(arguments *given, const char *name);
/* Check for `least` to `most` arguments, and no keywords that were not taken. False: raised. */
bool arguments_fit(machine *m, const arguments *given, size_t least, size_t most, int line);
value *call_math(machine *m, const char *name, arguments *given, int line);
value *call_method(machine *m, value *self, const char *name, arguments *given, int line);
value *call_str_method(machine *m, value *self, const char *name, arguments *given, int line);
/* … by the characters of a str that has been settled (text_search.c, text_layout.c). NULL without
 * `raised`: it is none of these. */
value *text_search(machine *m, value *self, const char *name, arguments *given, int line);
value *text_layout(machine *m, value *self, const char *name, arguments *given, int line);
value *make_object(machine *m, value *class, arguments *given, int line);
value *class_member(value *class, const char *name);
value *object_field(machine *m, const value *object, const char *name);
void object_set(machine *m, value *object, const char *name, value *v);
/* The fields of a dataclass or NamedTuple in their order: those that count for ==, order and hash
 * or, with `all`, the positional parameters of __init__. */
values object_declared(machine *m, const value *object, bool all, int line);
value *get_attribute(machine *m, value *v, const char *name, int line);
bool is_builtin_name(const char *name);
bool is_module_member(const char *module, const char *name);

/* -- modules whose model is in Python (interpreter/library.c) -----------------------------------
 */
bool library_has(const char *module);
/* Advice what to write instead of something that has no model. */
const char *library_instead(const char *what);
/* The member of a module by this name; NULL: it is not modelled. */
value *library_member(machine *m, const char *module, const char *name);
/* Call an internal function of such a module, which Python does not have; the name follows
 * "library.". */
value *call_library(machine *m, const char *name, arguments *given, int line);
/* lru_cache and cache; the callers of this function handle other decorators. */
void decorate_function(machine *m, scope *s, const node *n, value *function);
typedef value *cached_call(machine *m, value *function, arguments *given, int line);
value *call_cached(machine *m, value *function, arguments *given, int line, cached_call *otherwise);

/* -- date and timedelta (theories/dates.c) ------------------------------------------------------
 */
value *date_of_parts(machine *m, value *year, value *month, value *day);
value *date_is_valid(machine *m, value *year, value *month, value *day);
/* Make sure that a date has its year, month and day. */
void date_parts(machine *m, value *v);
value *delta_of_parts(machine *m, value *days, value *us);
value *date_binary(machine *m, operator_kind kind, value *l, value *r, int line);
value *date_negative(machine *m, value *delta, int line);
value *date_compare(machine *m, operator_kind kind, value *l, value *r);
value *date_truth(machine *m, value *delta);
value *date_choose(machine *m, Z3_ast condition, value *yes, value *no);
value *date_attribute(machine *m, value *v, const char *name, int line);
value *date_class_attribute(machine *m, const char *type, const char *name, int line);
value *call_datetime(machine *m, const char *name, arguments *given, int line);
value *date_text(machine *m, value *v, bool representation, int line);

/* -- regular expressions (theories/regex.c) ------------------------------------------------------
 */
/* Check that it is a valid pattern. None; NULL: raised. */
value *regex_check(machine *m, value *pattern, value *flags, int line);
/* `given`: the method, the pattern, the text and the flags. None, or its parts and its spans. */
value *regex_match(machine *m, const char *how, values *given, int line);
/* … and two more for sub, split and findall. None: something is not known. */
value *regex_call(machine *m, const char *how, values *given, int line);
/* The data of a Match, and the spans of all matches: of the pattern in the text, with the flags. */
value *regex_all(machine *m, values *given, int line);
/* The parts of a replacement of sub(): the pattern, the replacement, the flags. */
value *regex_template(machine *m, values *given, int line);

/* -- Counter, defaultdict, OrderedDict, deque (interpreter/kin.c) --------------------------------
 */
value *make_kin(machine *m, value *class, arguments *given, int line);
/* The value of a dict for a missing key; NULL: raised. */
value *missing_key(machine *m, value *dict, value *key, int line);
/* Operators of values with an `of_class`. False: they are those of a dict or list. */
bool kin_compare(machine *m, operator_kind op, value *l, value *r, value **result, int line);
bool kin_binary(machine *m, operator_kind op, value *l, value *r, value **result, int line);
bool kin_unary(machine *m, operator_kind op, value *v, value **result, int line);
bool kin_in_place(machine *m, operator_kind op, value *l, value *r, value **result, int line);
bool kin_delete(machine *m, value *of, value *index, bool *good, int line);
value *kin_attribute(machine *m, value *v, const char *name, int line);
value *kin_text(machine *m, value *v, int line);
value *deque_method(machine *m, value *self, const char *name, arguments *given, int line);
value *list_method(machine *m, value *self, const char *name, arguments *given, int line);

/* -- operators --------------------------------------------------------------------------------- */
value *binary(machine *m, operator_kind op, value *l, value *r, int line);         /* operate.c */
value *unary(machine *m, operator_kind op, value *v, int line);                    /* operate.c */
value *integer_binary(machine *m, operator_kind op, value *l, value *r, int line); /* integer.c */
value *integer_bits(machine *m, operator_kind op, value *l, value *r,
                    int line); /* integer_bits.c */
value *integer_bit_count(machine *m, value *v, bool length, int line);
/* int(), math.floor(), math.ceil() and round() of a float (rounding.c): t, f, c or r. */
value *float_to_int(machine *m, value *v, char how, int line);
value *rounded_to(machine *m, value *v, value *digits, int line);
/* above / below * 10**places, rounded to an even int, if this is certain to agree with the float of
 * the quotient. */
Z3_ast quotient_rounded(machine *m, Z3_ast above, Z3_ast below, int64_t places, int line);
value *power_modulo(machine *m, value *base, value *exponent, value *modulus, int line);
value *float_binary(machine *m, operator_kind op, value *l, value *r, int line); /* floating.c */
value *float_divide(machine *m, operator_kind op, value *l, value *r, int line); /* remainder.c */
value *float_fmod(machine *m, value *l, value *r, int line);
value *float_power(machine *m, value *l, value *r, int line); /* float_maths.c */
value *float_rounded(machine *m, value *v, int64_t places, int line);
value *float_is_integer(machine *m, value *v, int line);
/* A function of the module math; NULL without `raised`: it is none of these. */
value *float_math(machine *m, const char *name, arguments *given, int line);
/* An int that can only be one of a few values becomes known: the path forks on its value. NULL:
 * there are too many. */
value *settled_int(machine *m, value *v);
/* float() of a bool or int. NULL: it is too big, and raised. */
value *int_to_float(machine *m, value *v, int line);
value *absolute(machine *m, value *v, int line);
value *compare(machine *m, operator_kind op, value *l, value *r, int line);       /* compare.c */
value *ratio_compare(machine *m, operator_kind op, value *l, value *r, int line); /* ratio.c */
/* Equality as of ==: a bool, maybe symbolic; NULL: raised. */
value *equal(machine *m, value *l, value *r, int line);
/* … as items of containers are compared: an object is equal to itself, NaN included. */
value *same_or_equal(machine *m, value *l, value *r, int line);
/* Are two results of functions the same (alike.c)? A bool, maybe symbolic. It may fork. */
value *alike(machine *m, value *l, value *r);
bool classes_alike(machine *m, value *l, value *r);
value *contains(machine *m, value *in, value *item, int line);
/* The value that `in`, remove() and discard() of a set search for. */
value *sought_in(machine *m, const value *in, value *item);
/* Make sure that a settled container was not changed by a method of the code that was called for an
 * item. */
void require_unchanged(machine *m, const value *list, unsigned version, int line);
value *negated(machine *m, value *truth);
value *both(machine *m, value *l, value *r);
value *either(machine *m, value *l, value *r);
/* One of two scalars of one kind by a condition; NULL: they have no common kind. */
value *choose(machine *m, Z3_ast condition, value *yes, value *no);
bool is_subclass(const value *class, const value *of);
/* isinstance(): a known bool, NULL: raised. */
value *is_instance(machine *m, value *v, value *class, int line);

/* -- containers (container.c, text.c) -----------------------------------------------------------
 */
value *length_of(machine *m, value *v, int line);
value *item_get(machine *m, value *of, value *index, int line);
/* If CPython converts an int to a Py_ssize_t, an int beyond 64 bits raises OverflowError before
 * anything else is checked. False: raised. The table at its definition lists these places. */
bool is_index(machine *m, value *v, int line);
/* Assigning or deleting an item of a type without that: TypeError, but IndexError beyond 64
 * bits. */
void refuse_item(machine *m, const value *of, value *index, int line);
bool item_set(machine *m, value *of, value *index, value *v, int line);
bool item_delete(machine *m, value *of, value *index, int line);
value *slice_get(machine *m, value *of, value *from, value *to, value *step, int line);
/* The step of a range: the path forks on it, if it has few possible values. */
int64_t range_step(machine *m, value *range, int line);
/* The number of items of a range, which may be more than len() can return; whether it has any; and
 * the reversed range. */
value *range_size(machine *m, value *range, int line);
value *range_truth(machine *m, const value *range);
value *range_reversed(machine *m, value *range, int line);
/* Give a list, dict or set a known shape: the path forks on its length, or on which of its slots
 * are filled. */
void settle(machine *m, value *list);
/* The same for what gives items one by one: of a view it is its dict. */
void settle_source(machine *m, value *of);
/* The index of a key in a dict or set; -1: it is not there, -2: it raised. */
long find_key(machine *m, value *of, value *key, int line);
bool set_key(machine *m, value *dict, value *key, value *v, int line);
bool add_item(machine *m, value *set, value *item, int line);
/* All items of an iterable; false: raised. The order of a set is not modelled: its items are
 * returned only with `any_order`. */
bool items_of(machine *m, value *v, bool any_order, values *out, int line);
/* The next item; NULL: there is none, or `raised`. */
value *item_next(machine *m, value *of, cursor *at, int line);
/* False: it cannot be iterated, and a TypeError is raised. */
bool is_iterable(machine *m, const value *v, int line);
/* … and an object of the code is replaced by the result of its __iter__, as in iter(). */
bool iterable(machine *m, value **of, int line);
/* The next item of a generator (generator.c). */
value *generator_next(machine *m, value *of, int line);
value *make_generator(machine *m, const node *function, scope *inside);
bool has_yield(const node *n);
value *iterator_over(machine *m, values items);
/* … over the results of the method __next__ of an object of the library. */
value *iterator_by(machine *m, value *object);
/* An iterator that takes from these sources. */
value *iterator_from(machine *m, int how, values sources);
/* list(), tuple() and the like ask for the number of items: for a range, or an iterator over one,
 * with more items than len() can return, that raises. False: raised. */
bool has_length_hint(machine *m, value *v, int line);
/* Both: the items of an iterable that becomes a list or tuple. */
bool list_items(machine *m, value *v, values *out, int line);
/* Append items to a list one by one: if one raises, those before it stay. */
bool extend(machine *m, value *list, value *with, int line);
value *repeat(machine *m, value *sequence, value *times, int line);
/* `*comparing` is set when the first items are compared: an incomplete sort may raise. */
value *sorted(machine *m, values items, value *key, bool reverse, bool *comparing, int line);
/* Check that this is a valid flag in each version of Python. Before 3.12 it had to fit a C int. */
void require_flag(machine *m, const value *reverse, int line);
/* -- slots: items that are there on a condition (slots.c, slot_keys.c) ---------------------------
 */
/* Join the two states of a container after both sides of a condition; `no` is changed. */
bool slots_join(machine *m, Z3_ast condition, const value *yes, value *no);
/* The items as slots, with or without conditions. */
slots slots_of(machine *m, const value *v);
/* The container that an iteration over a list, dict or view of a dict reads, if it has ordered
 * slots; NULL: it has none. The second: the items of the iteration. */
value *slots_owner(value *of);
slots slots_over(machine *m, const value *of, bool any_order);
/* Those of a dict or set, with one slot for a key that has several where the order does not
 * matter. */
slots slots_by_key(machine *m, const value *v);
/* True if comparing the items, or testing their truth, has no side effect. */
bool slots_are_plain(machine *m, const value *of);
/* True if they are certainly the same key. */
bool is_same_key(const value *l, const value *r);
/* Give a container these items. If no guard is left, they become plain items again. */
void slots_give(machine *m, value *v, slots items);
void slots_add(machine *m, slots *to, Z3_ast guard, value *item, value *other);
/* NULL is the guard that always holds. */
Z3_ast guard_and(machine *m, Z3_ast l, Z3_ast r);
value *guard_truth(machine *m, Z3_ast guard);
value *slots_length(machine *m, const value *v);
value *slots_truth(machine *m, const value *v);
/* Compare two sequences item by item. NULL: their items are of a kind that is not compared like
 * that, or too many. */
value *slots_equal(machine *m, const value *l, const value *r,
                   value *(*same)(machine *m, value *l, value *r, void *context), void *context);
value *slots_get(machine *m, value *list, value *index, int line, bool *done);
bool slots_set(machine *m, value *list, value *index, value *v, int line);
/* Take out the first or last item; NULL: raised, or not `*done`. */
value *slots_pop(machine *m, value *list, bool first, int line, bool *done);

/* For each item of a dict or set, the condition that it equals a key, as bools. False: this needs a
 * fork, or at most one item can be equal, so the key is found in the usual way. */
bool key_hits(machine *m, value *of, value *key, slots *items, value ***hits, int line);
/* The value of a dict for a key; `otherwise` may be NULL. NULL: there is none, or not `*done`. */
value *keyed_get(machine *m, value *dict, value *key, value *otherwise, bool *there, bool *done,
                 int line);
/* Set a key of a dict, or add one to a set (`v` is NULL). False: not done. */
bool keyed_set(machine *m, value *of, value *key, value *v, int line);

value *text_binary(machine *m, operator_kind op, value *l, value *r, int line);
value *text_compare(machine *m, operator_kind op, value *l, value *r);
/* Strs as code points (text_letters.c). The first splits a str into its characters: the path forks
 * on their number, which must be small. */
value *text_settled(machine *m, value *of);
bool text_is_short(machine *m, const value *of, int64_t most); /* surely no more characters */
/* One of two by a condition. `*joined`: the result is final; NULL then means that there is none. */
value *text_choose(machine *m, Z3_ast condition, value *yes, value *no, bool *joined);
/* NULL: they cannot be compared by code points. */
value *letters_compare(machine *m, operator_kind op, const value *l, const value *r);
/* Are the first `count` letters of both the same? A Bool. */
Z3_ast letters_match(machine *m, const Z3_ast *whole, const Z3_ast *part, size_t count);
/* The digits of an int that has `count` of them and is not negative. */
void letters_digits(machine *m, Z3_ast size, int base, size_t count, Z3_ast *digits);
value *letters_at(machine *m, const value *of, Z3_ast place);
/* `count` of them, from `first` on. */
value *letters_part(machine *m, const value *of, size_t first, size_t count);
value *text_ord(machine *m, value *c, int line);
value *text_chr(machine *m, value *code, int line);
value *text_item(machine *m, value *of, value *index, int line);
value *text_slice(machine *m, value *of, value *from, value *to, value *step, int line);
value *text_of(machine *m, value *v, bool representation, int line); /* str() and repr() */
/* repr() and ascii() of a str that is not known, which stay pending until their characters are
 * needed, and sums of such strs (text_quoted.c). */
value *text_quoted(machine *m, value *of, bool ascii);
value *text_pending_sum(machine *m, value *l, value *r);
bool text_is_pending(const value *v);
value *text_pending_settled(machine *m, value *of);
value *text_looked_at(machine *m, value *v);       /* with its characters, if it was pending */
value *text_ascii(machine *m, value *v, int line); /* ascii() of anything */
typedef struct character_shift character_shift;
/* A method that tests the class of characters, or changes their case (text_class.c). NULL: it is
 * none of these. */
value *text_class(machine *m, value *self, const char *name, int line);
value *text_is_blank(machine *m, value *c);
/* Is a code point of this class: "isalpha" and the like? A Bool. */
Z3_ast letter_is(machine *m, Z3_ast code, const char *name);
Z3_ast letter_in(machine *m, Z3_ast code, const character_shift *ranges, size_t count);
value *text_case(machine *m, value *self, const char *name); /* upper() and its kin (text_case.c) */
/* Its characters one by one: the path forks on their number, which must be small. */
void text_characters(machine *m, value *of, values *out, int line);
/* int() of a str that is not known (text_number.c); base 0: no base was given. */
value *text_to_int(machine *m, value *v, int base, int line);
value *format(machine *m, value *v, const value *spec, int line);
/* … of an unknown value with a known specification (text_layout.c). */
value *text_format(machine *m, value *v, value *spec, int line);
/* str.format() and % (text_template.c). */
value *text_from_template(machine *m, value *self, arguments *given, int line);
value *text_percent(machine *m, value *self, value *with, int line);
value *int_in_base(machine *m, value *v, int base); /* bin(), oct() and hex() */
/* The bounds of a slice for a sequence of `length` items. False: raised. */
bool slice_bounds(machine *m, int64_t length, value *from, value *to, value *step, int line,
                  int64_t *first, int64_t *stride, size_t *count);

/* -- bytes (theories/bytes.c, theories/codec.c, interpreter/bytes_method.c) -----------------------
 */
/* The str with the same code points. One that is surely short is split: questions about single
 * bytes are decided faster. */
value *bytes_view(machine *m, value *of);
/* The int of a str of one code point; of NULL: NULL. */
value *byte_of(machine *m, value *letter);
/* Bytes with one int: ValueError beyond 255. */
value *byte_text(machine *m, value *code, int line);
value *bytes_binary(machine *m, operator_kind op, value *l, value *r, int line);
value *bytes_slice(machine *m, value *of, value *from, value *to, value *step, int line);
value *bytes_contains(machine *m, value *in, value *item, int line);
value *bytes_method(machine *m, value *self, const char *name, arguments *given, int line);
/* bytes(), and str(), int.from_bytes() and the like of bytes. False: it is none of these. */
bool call_bytes(machine *m, const char *name, arguments *given, value **result, int line);
bool is_bytes_function(const char *type, const char *name); /* "int", "from_bytes" */
value *bytes_decode(machine *m, value *self, arguments *given, int line);
value *text_encode(machine *m, value *self, arguments *given, int line);
value *int_from_bytes(machine *m, arguments *given, int line);
value *int_to_bytes(machine *m, value *self, arguments *given, int line);
value *bytes_hex(machine *m, value *self);

/* -- exceptions (exception.c) ------------------------------------------------------------------ */
value *exception_class(machine *m, const char *name); /* NULL: Python has none of that name */
/* Raise an exception of Python; gives NULL, to be returned. */
value *throw(machine * m, const char *name, int line);
value *throw_value(machine *m, value *exception, int line);
/* For a TypeError of Python itself: an object that is also an int, str or tuple may have caused it,
 * which is not supported then. */
void check_mixed(machine *m, const char *name, int line);
value *new_exception(machine *m, value *class, values given);

/* -- known values, by CPython itself (bridge.c) ------------------------------------------------ */
/* The result of `expression` over known values `a`, `b`, `c`; NULL: raised. */
value *bridge(machine *m, const char *expression, const values *given, int line);

/* The same for a method of `self`, with up to three positional arguments. */
value *bridge_method(machine *m, value *self, const char *name, const arguments *given, int line);

/* Run statements of the engine, whose names later expressions may use. False: they failed. */
bool bridge_define(const char *source);

/* Python's classification of a single character (characters.c): the result of `str.method()`. */
bool character_is(uint32_t c, const char *method);
/* … of a character after a letter. */
bool character_continues(uint32_t c);
/* Ranges of characters. A method of their case adds by[0] to the even ones, by[1] to the odd ones.
 */
struct character_shift {
    uint32_t from, to;
    int32_t by[2];
};
/* For characters that become one other character: those up to U+FF (`plain`), or those beyond. */
const character_shift *character_shifts(const char *method, bool plain, size_t *count);
/* The characters that become several. */
const character_shift *character_others(const char *method, size_t *count);
/* The result for one character: how many, and which. */
enum { MOST_EXPANDED = 3 };
size_t character_turned(uint32_t c, const char *method, uint32_t out[MOST_EXPANDED]);
/* Those that have a case, as title() sees it. */
const character_shift *character_cased(size_t *count);
/* Long ranges beyond U+FF in which all characters are printable (by[0] is 1), or none is. */
const character_shift *character_printable(size_t *count);

/* True if Python has a builtin of this name. The second: does a type have such an attribute (1: a
 * method, 2: another one)? */
bool bridge_has_builtin(const char *name);
/* 0: there is no such module, 1: it has no such name, 2: it has. `name` may be NULL. */
int bridge_import(const char *module, const char *name);
int bridge_attribute(const char *builtin_type, const char *name);

/* -- branches and lines (survey.c) ------------------------------------------------------------- */
void survey_branch(machine *m, const node *n, Z3_ast condition);
void survey_line(machine *m, int line);

/* Count a step; ends the path when there were too many or the time is over. */
void step(machine *m);

#endif
