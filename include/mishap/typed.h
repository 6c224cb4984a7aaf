/*
 * Typed arguments: a struct that is declared once with its parameters, and a handler that receives
 * it filled.
 *
 *     #define BOOKING(member)                                                                  \
 *         member(MISHAP_STRING, guest, .required = true, .length = { 1, 80 })                  \
 *         member(MISHAP_TIMESTAMP, starts, .required = true)                                   \
 *         member(MISHAP_DECIMAL, price, .required = true, .scale = 2)                          \
 *         member(MISHAP_ENUM_OF(cabin), cabin, .initial = "\"economy\"")                       \
 *         member(MISHAP_OBJECT_OF(address), address)                                           \
 *         member(MISHAP_ARRAY_OF(MISHAP_STRING, .length = { 1, 20 }), tags)                    \
 *         member(MISHAP_OBJECTS_OF(extra), extras, .length = { 0, 10 })
 *     MISHAP_STRUCT(booking, BOOKING);
 *
 *     static mishap *book(mishap_call *call, const struct booking *in)
 *     {
 *         for (size_t i = 0; i < in->extras.count; i++)
 *             add(in->extras.data[i].name);
 *         if (in->is.address == MISHAP_GIVEN)
 *             send_to(in->address.street);
 *         …
 *     }
 *
 *     { "bookings.create", "Book a room", MISHAP_TYPED(booking, book), .route = "POST /bookings" }
 *
 * MISHAP_STRUCT(booking, BOOKING) defines `struct booking` and the list `booking_params`. A member
 * is a type, a name, and the members of mishap_param (mishap/operation.h) except `name`, `type`,
 * `items` and `members`. The types, and what a member of the struct is:
 *
 *     MISHAP_STRING                    const char *
 *     MISHAP_INTEGER, _NUMBER          int64_t, double
 *     MISHAP_BOOLEAN                   bool
 *     MISHAP_ENUM_OF(tag)              enum tag, defined by MISHAP_CHOICE_ENUM
 *     MISHAP_DECIMAL, _DECIMAL_NUMBER  mishap_decimal
 *     MISHAP_MONEY, _TIMESTAMP, _DATE, _DURATION, _UUID
 *                                      mishap_money and so on
 *     MISHAP_BYTES                     mishap_text, decoded
 *     MISHAP_FILE                      mishap_text: its bytes; none if it is streamed
 *     MISHAP_OBJECT_OF(tag)            struct tag, defined by MISHAP_STRUCT
 *     MISHAP_OBJECTS_OF(tag)           an array of them: `.data` and `.count`
 *     MISHAP_ARRAY_OF(TYPE, …)         an array of a type without OF: `.data` and `.count`
 *     MISHAP_MAP_OF(TYPE, …)           a map: `.data[i].key`, `.data[i].value` and `.count`
 *     MISHAP_ARRAY, _OBJECT, _MAP      const mishap_call *: any values, for its getters
 *
 * What follows TYPE are members of the mishap_param of the items. The name and the type of a file,
 * and the bytes of one that is streamed, are read with mishap_file_name(), mishap_file_type() and
 * mishap_file_read().
 *
 * The member `is` has a member of the same name for each parameter, which says where its value
 * comes from: MISHAP_ABSENT, MISHAP_IS_NULL, MISHAP_GIVEN or MISHAP_DEFAULT. The value of one that
 * is absent or null is 0, false or NULL, in all its parts. The call owns all that the struct points
 * to.
 *
 * A name that is not a member, a member of another type, and a handler for another struct do not
 * compile. This header makes three warnings of the compiler errors for that: implicit conversions
 * between pointers and integers, between pointers of different types, and calls of functions that
 * are not declared. The macros are for C; a program in C++ declares lists of parameters.
 */
#ifndef MISHAP_TYPED_H
#define MISHAP_TYPED_H

#include <stddef.h>

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the value of a member comes from. */
typedef unsigned char mishap_presence;
enum {
    MISHAP_ABSENT,  /* it was not given */
    MISHAP_IS_NULL, /* it was given as null */
    MISHAP_GIVEN,
    MISHAP_DEFAULT, /* it was not given, and the default took its place */
};

/* How a struct is filled: made by MISHAP_STRUCT. */
typedef struct mishap_struct mishap_struct;
typedef struct mishap_struct_member {
    size_t offset;                    /* of the member */
    size_t presence;                  /* of its member of `is` */
    size_t item;                      /* bytes of one item of an array or a map; else 0 */
    const mishap_struct *(*of)(void); /* of an object, and of the items of an array; or NULL */
} mishap_struct_member;

struct mishap_struct {
    size_t size;
    const mishap_param *params;
    const mishap_struct_member *members; /* one for each parameter */
    mishap *(*call)(mishap_call *call, void (*handler)(void), const void *in);
};

/* The `.run` of an operation that is declared with MISHAP_TYPED: fills the struct, and calls the
 * handler. */
mishap *mishap_run_typed(mishap_call *call);

#ifdef __cplusplus
}
#else

#pragma GCC diagnostic error "-Wint-conversion"
#pragma GCC diagnostic error "-Wincompatible-pointer-types"
#pragma GCC diagnostic error "-Wimplicit-function-declaration"

/* clang-format off */

/* A struct with its parameters: see above. */
#define MISHAP_STRUCT(tag, LIST)                                                                   \
    struct tag {                                                                                   \
        LIST(MISHAP_STRUCT_MEMBER)                                                                 \
        struct {                                                                                   \
            LIST(MISHAP_STRUCT_PRESENCE)                                                           \
        } is;                                                                                      \
    };                                                                                             \
    static const mishap_param tag##_params[] = { LIST(MISHAP_STRUCT_PARAM) { .name = NULL } };     \
    static inline mishap *tag##_call(mishap_call *call, void (*handler)(void), const void *in)     \
    {                                                                                              \
        return ((mishap *(*)(mishap_call *, const struct tag *))handler)(call, in);                \
    }                                                                                              \
    static inline const mishap_struct *tag##_struct(void)                                          \
    {                                                                                              \
        typedef struct tag mishap_struct_here;                                                     \
        static const mishap_struct_member members[] = { LIST(MISHAP_STRUCT_PLACE) };               \
        static const mishap_struct itself = { sizeof(struct tag), tag##_params, members,           \
                                              tag##_call };                                        \
        return &itself;                                                                            \
    }                                                                                              \
    struct tag

#define MISHAP_STRUCT_MEMBER(type, member, ...)   MISHAP_C_##type member;
#define MISHAP_STRUCT_PRESENCE(type, member, ...) mishap_presence member;
#define MISHAP_STRUCT_PARAM(type, member, ...)    { .name = #member, MISHAP_P_##type, __VA_ARGS__ },
#define MISHAP_STRUCT_PLACE(type, member, ...)                                                     \
    { offsetof(mishap_struct_here, member), offsetof(mishap_struct_here, is.member),               \
      MISHAP_I_##type },

/*
 * An enum and the texts of its constants:
 *
 *     #define CABINS(choice) choice(CABIN_ECONOMY, "economy") choice(CABIN_PREMIUM, "premium")
 *     MISHAP_CHOICE_ENUM(cabin, CABINS);
 *
 * defines `enum cabin`, whose first constant is 1, and `cabin_choices`. 0: not given.
 */
#define MISHAP_CHOICE_ENUM(tag, LIST)                                                              \
    enum { mishap_before_##tag, LIST(MISHAP_CHOICE_NUMBER) };                                      \
    enum tag { LIST(MISHAP_CHOICE_CONSTANT) };                                                     \
    _Static_assert(sizeof(enum tag) == sizeof(int), "the enum is filled as an int");               \
    static const char *const tag##_choices[] = { LIST(MISHAP_CHOICE_TEXT) NULL }
#define MISHAP_CHOICE_NUMBER(constant, text)   mishap_number_of_##constant,
#define MISHAP_CHOICE_CONSTANT(constant, text) constant = mishap_number_of_##constant,
#define MISHAP_CHOICE_TEXT(constant, text)     text,

/* For the declaration of an operation: the handler must take this struct. */
#define MISHAP_TYPED(tag, function)                                                                \
    .params = tag##_params, .run = mishap_run_typed, .fills = tag##_struct,                        \
    .handler = (void (*)(void))_Generic((function),                                                \
        mishap *(*)(mishap_call *, const struct tag *): (function))

/* What a member of each type is in C (C), as a parameter (P), and as a place to fill (I). */
#define MISHAP_C_MISHAP_STRING                 const char *
#define MISHAP_C_MISHAP_INTEGER                int64_t
#define MISHAP_C_MISHAP_NUMBER                 double
#define MISHAP_C_MISHAP_BOOLEAN                bool
#define MISHAP_C_MISHAP_DECIMAL                mishap_decimal
#define MISHAP_C_MISHAP_DECIMAL_NUMBER         mishap_decimal
#define MISHAP_C_MISHAP_MONEY                  mishap_money
#define MISHAP_C_MISHAP_TIMESTAMP              mishap_timestamp
#define MISHAP_C_MISHAP_DATE                   mishap_date
#define MISHAP_C_MISHAP_DURATION               mishap_duration
#define MISHAP_C_MISHAP_UUID                   mishap_uuid
#define MISHAP_C_MISHAP_BYTES                  mishap_text
#define MISHAP_C_MISHAP_FILE                   mishap_text
#define MISHAP_C_MISHAP_ARRAY                  const mishap_call *
#define MISHAP_C_MISHAP_OBJECT                 const mishap_call *
#define MISHAP_C_MISHAP_MAP                    const mishap_call *
#define MISHAP_C_MISHAP_ENUM_OF(tag)           enum tag
#define MISHAP_C_MISHAP_OBJECT_OF(tag)         struct tag
#define MISHAP_C_MISHAP_OBJECTS_OF(tag)        struct { const struct tag *data; size_t count; }
#define MISHAP_C_MISHAP_ARRAY_OF(type, ...)                                                        \
    struct { MISHAP_C_##type const *data; size_t count; }
#define MISHAP_C_MISHAP_MAP_OF(type, ...)                                                          \
    struct { const struct { const char *key; MISHAP_C_##type value; } *data; size_t count; }

#define MISHAP_P_MISHAP_STRING                 .type = MISHAP_STRING
#define MISHAP_P_MISHAP_INTEGER                .type = MISHAP_INTEGER
#define MISHAP_P_MISHAP_NUMBER                 .type = MISHAP_NUMBER
#define MISHAP_P_MISHAP_BOOLEAN                .type = MISHAP_BOOLEAN
#define MISHAP_P_MISHAP_DECIMAL                .type = MISHAP_DECIMAL
#define MISHAP_P_MISHAP_DECIMAL_NUMBER         .type = MISHAP_DECIMAL_NUMBER
#define MISHAP_P_MISHAP_MONEY                  .type = MISHAP_MONEY
#define MISHAP_P_MISHAP_TIMESTAMP              .type = MISHAP_TIMESTAMP
#define MISHAP_P_MISHAP_DATE                   .type = MISHAP_DATE
#define MISHAP_P_MISHAP_DURATION               .type = MISHAP_DURATION
#define MISHAP_P_MISHAP_UUID                   .type = MISHAP_UUID
#define MISHAP_P_MISHAP_BYTES                  .type = MISHAP_BYTES
#define MISHAP_P_MISHAP_FILE                   .type = MISHAP_FILE
#define MISHAP_P_MISHAP_ARRAY                  .type = MISHAP_ARRAY
#define MISHAP_P_MISHAP_OBJECT                 .type = MISHAP_OBJECT
#define MISHAP_P_MISHAP_MAP                    .type = MISHAP_MAP
#define MISHAP_P_MISHAP_ENUM_OF(tag)           .type = MISHAP_ENUM, .choices = tag##_choices
#define MISHAP_P_MISHAP_OBJECT_OF(tag)         .type = MISHAP_OBJECT, .members = tag##_params
#define MISHAP_P_MISHAP_OBJECTS_OF(tag)                                                            \
    .type = MISHAP_ARRAY, .items = MISHAP_STRUCT_ITEM(.type = MISHAP_OBJECT, .members = tag##_params)
#define MISHAP_P_MISHAP_ARRAY_OF(type_, ...)                                                       \
    .type = MISHAP_ARRAY, .items = MISHAP_STRUCT_ITEM(MISHAP_P_##type_, __VA_ARGS__)
#define MISHAP_P_MISHAP_MAP_OF(type_, ...)                                                         \
    .type = MISHAP_MAP, .items = MISHAP_STRUCT_ITEM(MISHAP_P_##type_, __VA_ARGS__)
#define MISHAP_STRUCT_ITEM(...) MISHAP_LIST_OF(const mishap_param, { .name = "item", __VA_ARGS__ })

#define MISHAP_I_MISHAP_STRING                 0, NULL
#define MISHAP_I_MISHAP_INTEGER                0, NULL
#define MISHAP_I_MISHAP_NUMBER                 0, NULL
#define MISHAP_I_MISHAP_BOOLEAN                0, NULL
#define MISHAP_I_MISHAP_DECIMAL                0, NULL
#define MISHAP_I_MISHAP_DECIMAL_NUMBER         0, NULL
#define MISHAP_I_MISHAP_MONEY                  0, NULL
#define MISHAP_I_MISHAP_TIMESTAMP              0, NULL
#define MISHAP_I_MISHAP_DATE                   0, NULL
#define MISHAP_I_MISHAP_DURATION               0, NULL
#define MISHAP_I_MISHAP_UUID                   0, NULL
#define MISHAP_I_MISHAP_BYTES                  0, NULL
#define MISHAP_I_MISHAP_FILE                   0, NULL
#define MISHAP_I_MISHAP_ARRAY                  0, NULL
#define MISHAP_I_MISHAP_OBJECT                 0, NULL
#define MISHAP_I_MISHAP_MAP                    0, NULL
#define MISHAP_I_MISHAP_ENUM_OF(tag)           0, NULL
#define MISHAP_I_MISHAP_OBJECT_OF(tag)         0, tag##_struct
#define MISHAP_I_MISHAP_OBJECTS_OF(tag)        sizeof(struct tag), tag##_struct
#define MISHAP_I_MISHAP_ARRAY_OF(type, ...)    sizeof(MISHAP_C_##type), NULL
#define MISHAP_I_MISHAP_MAP_OF(type, ...)                                                          \
    sizeof(struct { const char *key; MISHAP_C_##type value; }), NULL

/* clang-format on */

#endif

#endif
