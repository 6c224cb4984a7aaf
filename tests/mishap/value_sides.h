/* What is told of a mishap, and what its account has. */
#ifndef MISHAP_VALUE_SIDES_H
#define MISHAP_VALUE_SIDES_H

#include "testing.h"

static inline void assert_text(mishap_text text, const char *expected)
{
    assert_non_null(text.data);
    assert_string_equal(text.data, expected); /* so it has a NUL after its end, too */
    assert_int_equal(text.length, strlen(expected));
}

/* The account, valid until the next one. */
static inline const char *account_of(const mishap *m)
{
    static char text[65536];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, text, sizeof text);
    mishap_account(m, &buffer);
    mishap_buffer_add(&buffer, "", 1);
    assert_false(buffer.failed || buffer.on_heap);
    return text;
}

static inline void assert_account_has(const mishap *m, const char *piece)
{
    const char *account = account_of(m);
    if (!strstr(account, piece))
        fail_msg("no `%s` in the account:\n%s", piece, account);
}

static inline void assert_account_lacks(const mishap *m, const char *piece)
{
    const char *account = account_of(m);
    if (strstr(account, piece))
        fail_msg("`%s` in the account:\n%s", piece, account);
}

#endif
