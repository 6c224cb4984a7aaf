/*
 * theories: what operators mean, as terms of the solver's theories - ints, floats, quotients,
 * texts, bytes, containers, dates, comparisons, iteration, and the special methods of objects.
 *
 * It knows no function of Python and no statement. Where an operator runs code (a method __add__,
 * a generator), it asks the runner of the machine.
 */
#ifndef SYMBOLIC_THEORIES_H
#define SYMBOLIC_THEORIES_H

#include "machine/machine.h"

/* How values are joined, for the machine. */
extern const joiner theories_joiner;

/* -- truth (operate.c) ------------------------------------------------------------------------- */
/* The truth of a value, which may be a symbolic bool. */
value *truth_of(machine *m, value *v);
/* … decided. -1: it raised. */
int decide_truth(machine *m, value *v, bool prefer);

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
/* … two exceptions that were raised, of which a caller sees the class. */
bool raised_alike(machine *m, value *l, value *r);
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
/* isinstance(): a known bool, NULL: raised. */
value *is_instance(machine *m, value *v, value *class, int line);
value *call_math(machine *m, const char *name, arguments *given, int line);
/* 2 ** exponent, of any size; 1 if the exponent is negative. */
Z3_ast term_power_of_two(const machine *m, int64_t exponent);

/* -- containers (container.c) ------------------------------------------------------------------ */
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
value *repeat(machine *m, value *sequence, value *times, int line);
/* The bounds of a slice for a sequence of `length` items. False: raised. */
bool slice_bounds(machine *m, int64_t length, value *from, value *to, value *step, int line,
                  int64_t *first, int64_t *stride, size_t *count);

/* -- iteration (iterate.c) --------------------------------------------------------------------- */
/* All items of an iterable; false: raised. The order of a set is not modelled: its items are
 * returned only with `any_order`. */
bool items_of(machine *m, value *v, bool any_order, values *out, int line);
/* The next item; NULL: there is none, or `raised`. */
value *item_next(machine *m, value *of, cursor *at, int line);
/* False: it cannot be iterated, and a TypeError is raised. */
bool is_iterable(machine *m, const value *v, int line);
/* … and an object of the code is replaced by the result of its __iter__, as in iter(). */
bool iterable(machine *m, value **of, int line);
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

/* -- slots: items that are there on a condition (slots.c, slot_keys.c) ------------------------- */
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

/* -- texts (text.c, text_*.c) ------------------------------------------------------------------ */
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
/* Methods that lay out a text that has been settled: zfill(), center() and the like
 * (text_layout.c). NULL without `raised`: it is none of these. */
value *text_layout(machine *m, value *self, const char *name, arguments *given, int line);

/* -- bytes (bytes.c, codec.c) ------------------------------------------------------------------ */
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
value *bytes_decode(machine *m, value *self, arguments *given, int line);
value *text_encode(machine *m, value *self, arguments *given, int line);
value *bytes_hex(machine *m, value *self);

/* -- date and timedelta (dates.c) -------------------------------------------------------------- */
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

/* -- regular expressions (regex.c) ------------------------------------------------------------- */
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

/* -- Counter, defaultdict, OrderedDict, deque (kin.c) ------------------------------------------ */
/* The value of a dict for a missing key; NULL: raised. */
value *missing_key(machine *m, value *dict, value *key, int line);
/* Operators of values with an `of_class`. False: they are those of a dict or list. */
bool kin_compare(machine *m, operator_kind op, value *l, value *r, value **result, int line);
bool kin_binary(machine *m, operator_kind op, value *l, value *r, value **result, int line);
bool kin_unary(machine *m, operator_kind op, value *v, value **result, int line);
bool kin_delete(machine *m, value *of, value *index, bool *good, int line);
value *kin_text(machine *m, value *v, int line);
/* A member of its class, by name or for an operator; NULL: it has none. */
value *kin_member(const value *v, const char *name);
value *kin_method(const value *v, operator_kind op, bool in_place);
/* Call a member with one argument, or none if `other` is NULL. */
value *kin_call(machine *m, value *v, value *method, value *other, int line);

/* -- Enums and NamedTuples (record.c) ---------------------------------------------------------- */
/* The member of an Enum with this name. NULL: raised. */
value *enum_named(machine *m, value *class, value *name, int line);
value *enum_text(machine *m, value *member, bool representation, int line);
value *named_text(machine *m, value *object, int line);

/* -- special methods (special.c) --------------------------------------------------------------- */
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
/* -1: a method of the code computes its hash; 0: it has none; 1: it has one, of these parts. */
int object_hashes(machine *m, const value *v, values *parts, int line);
/* The attributes of which __hash__ and __eq__ of the code are made, if these are written in a way
 * that keys can be compared by __eq__ alone (hashing.c). Ends the path if a name in these methods
 * may mean something else later. */
bool own_hash_parts(machine *m, const value *v, values *parts, int line);
/* One of the classes has an __eq__ or a __hash__ of the code. Its objects may be equal to those of
 * a derived dataclass, which have another hash. */
bool inherits_equality(const value *class);
/* Ends the path if a key of a dict or set may get another hash by an attribute that is set or
 * deleted. */
void keep_own_hash(machine *m, const value *object, const char *name, int line);

#endif
