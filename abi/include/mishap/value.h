/*
 * A value for a member of an error or an answer: none, null, a boolean, a number, text, or a piece
 * of JSON.
 *
 * A value only points to its text. Functions that store a value copy the text. A string that is
 * NULL, and text without data, become null. Any thread may call these functions.
 */
#ifndef MISHAP_VALUE_H
#define MISHAP_VALUE_H

#include <stdint.h>
#include <string.h>

#include "mishap/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mishap_kind {
    MISHAP_KIND_NONE, /* no value: the member is omitted */
    MISHAP_KIND_NULL,
    MISHAP_KIND_BOOL,
    MISHAP_KIND_INT,
    MISHAP_KIND_UINT, /* above INT64_MAX only */
    MISHAP_KIND_REAL,
    MISHAP_KIND_TEXT,
    MISHAP_KIND_JSON, /* an array, an object or a number beyond 64 bits, as compact JSON */
} mishap_kind;

typedef struct mishap_value {
    mishap_kind kind;
    union {
        bool boolean;
        int64_t integer;
        uint64_t natural;
        double real;
        mishap_text text;
    };
} mishap_value;

/* The value of a C type: no value, a boolean, a number, text or a C string. A natural number that
 * fits int64_t is of kind INT. Text without data, and a string that is NULL, are null. */
static inline mishap_value mishap_value_none(void)
{
    mishap_value value = { MISHAP_KIND_NONE, { false } };
    return value;
}
static inline mishap_value mishap_value_of_bool(bool boolean)
{
    mishap_value value = mishap_value_none();
    value.kind = MISHAP_KIND_BOOL;
    value.boolean = boolean;
    return value;
}
static inline mishap_value mishap_value_of_int(int64_t integer)
{
    mishap_value value = mishap_value_none();
    value.kind = MISHAP_KIND_INT;
    value.integer = integer;
    return value;
}
static inline mishap_value mishap_value_of_uint(uint64_t natural)
{
    if (natural <= INT64_MAX)
        return mishap_value_of_int((int64_t)natural);
    mishap_value value = mishap_value_none();
    value.kind = MISHAP_KIND_UINT;
    value.natural = natural;
    return value;
}
static inline mishap_value mishap_value_of_real(double real)
{
    mishap_value value = mishap_value_none();
    value.kind = MISHAP_KIND_REAL;
    value.real = real;
    return value;
}
static inline mishap_value mishap_value_of_text(mishap_text text)
{
    mishap_value value = mishap_value_none();
    value.kind = text.data ? MISHAP_KIND_TEXT : MISHAP_KIND_NULL;
    value.text = text;
    return value;
}
static inline mishap_value mishap_value_of_string(const char *string)
{
    return mishap_value_of_text(mishap_text_of(string));
}
/* A piece of JSON; if it is not well-formed, it is written as a string. */
static inline mishap_value mishap_value_of_json(const char *json)
{
    mishap_value value = mishap_value_of_string(json);
    if (json)
        value.kind = MISHAP_KIND_JSON;
    return value;
}
/* In C17 the words true and false are numbers. This function turns them into booleans. `spelled`
 * is the source text of the value. */
static inline mishap_value mishap_value_as_spelled(mishap_value value, const char *spelled)
{
    if (value.kind == MISHAP_KIND_INT &&
        (strcmp(spelled, "true") == 0 || strcmp(spelled, "false") == 0))
        return mishap_value_of_bool(value.integer != 0);
    return value;
}
/* The value as it is: what MISHAP_VALUE() calls for a value. */
static inline mishap_value mishap_value_itself(mishap_value value)
{
    return value;
}

/* The value of a C expression: any number, a C string, a mishap_text or a mishap_value. In C17
 * the words true and false are numbers; a variable of type bool, or (bool)true, is a boolean.
 * The macros that take a value, such as mishap_tell(), recognize the words by their source text. */
#ifndef __cplusplus
#define MISHAP_VALUE(x)                                                                            \
    _Generic((x),                                                                                  \
        bool: mishap_value_of_bool,                                                                \
        char: mishap_value_of_int,                                                                 \
        signed char: mishap_value_of_int,                                                          \
        short: mishap_value_of_int,                                                                \
        int: mishap_value_of_int,                                                                  \
        long: mishap_value_of_int,                                                                 \
        long long: mishap_value_of_int,                                                            \
        unsigned char: mishap_value_of_uint,                                                       \
        unsigned short: mishap_value_of_uint,                                                      \
        unsigned int: mishap_value_of_uint,                                                        \
        unsigned long: mishap_value_of_uint,                                                       \
        unsigned long long: mishap_value_of_uint,                                                  \
        float: mishap_value_of_real,                                                               \
        double: mishap_value_of_real,                                                              \
        char *: mishap_value_of_string,                                                            \
        const char *: mishap_value_of_string,                                                      \
        mishap_text: mishap_value_of_text,                                                         \
        mishap_value: mishap_value_itself)(x)
#else
#define MISHAP_VALUE(x) mishap_value_from(x)
#endif

#ifdef __cplusplus
}
#endif

/* In C++ the value is chosen by overloads; a type with data() and size(), such as std::string,
 * is text. */
#ifdef __cplusplus
/* clang-format off */
static inline mishap_value mishap_value_from(bool x) { return mishap_value_of_bool(x); }
static inline mishap_value mishap_value_from(char x) { return mishap_value_of_int(x); }
static inline mishap_value mishap_value_from(signed char x) { return mishap_value_of_int(x); }
static inline mishap_value mishap_value_from(short x) { return mishap_value_of_int(x); }
static inline mishap_value mishap_value_from(int x) { return mishap_value_of_int(x); }
static inline mishap_value mishap_value_from(long x) { return mishap_value_of_int(x); }
static inline mishap_value mishap_value_from(long long x) { return mishap_value_of_int(x); }
static inline mishap_value mishap_value_from(unsigned char x) { return mishap_value_of_uint(x); }
static inline mishap_value mishap_value_from(unsigned short x) { return mishap_value_of_uint(x); }
static inline mishap_value mishap_value_from(unsigned x) { return mishap_value_of_uint(x); }
static inline mishap_value mishap_value_from(unsigned long x) { return mishap_value_of_uint(x); }
static inline mishap_value mishap_value_from(unsigned long long x)
{
    return mishap_value_of_uint(x);
}
static inline mishap_value mishap_value_from(float x) { return mishap_value_of_real(double(x)); }
static inline mishap_value mishap_value_from(double x) { return mishap_value_of_real(x); }
static inline mishap_value mishap_value_from(const char *x) { return mishap_value_of_string(x); }
static inline mishap_value mishap_value_from(char *x) { return mishap_value_of_string(x); }
static inline mishap_value mishap_value_from(mishap_text x) { return mishap_value_of_text(x); }
static inline mishap_value mishap_value_from(mishap_value x) { return x; }
/* clang-format on */
template <typename T>
mishap_value mishap_value_from(T *) = delete; /* otherwise a pointer would become a bool */
template <typename T>
auto mishap_value_from(const T &x) -> decltype(x.data(), x.size(), mishap_value())
{
    mishap_text text = { x.data(), x.size() };
    return mishap_value_of_text(text);
}
#endif

#endif
