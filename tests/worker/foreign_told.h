/* What a caller was told of a call to a foreign program, and what was noted of it. */
#ifndef MISHAP_FOREIGN_TOLD_H
#define MISHAP_FOREIGN_TOLD_H

#include "testing.h"

#include "worker_set_up.h"

static inline const mishap_code *code_of(const struct ours *o)
{
    return o->failure ? mishap_told(o->failure)->code : NULL;
}

static inline bool is_noted(const struct ours *o, const char *words)
{
    char account[6000];
    account_of(o->failure, account, sizeof account);
    if (!strstr(account, words))
        print_message("%s\n", account);
    return strstr(account, words) != NULL;
}

static inline const char *text_of(mishap_text text)
{
    static char room[400];
    snprintf(room, sizeof room, "%.*s", (int)text.length, text.data ? text.data : "");
    return room;
}

static inline void told_nothing_private(const struct ours *o)
{
    mishap_buffer told = { 0 };
    mishap_text text = mishap_render(mishap_dialect_find("canonical"), o->failure, &told);
    assert_null(memmem(text.data, text.length, "secret-of-the-operator", 22));
    mishap_buffer_release(&told);
}

#endif
