#include "mishap/restore.h"

#include "base/base.h"
#include "mishap/code.h"
#include "mishap/inside.h"

mishap *mishap_restore_code(const mishap_code *code)
{
    mishap *m = mishap_make(code);
    if (!m->constant)
        m->restored = true;
    return m;
}

/* A row for a name that no table has. One that the HTTP API would spell like a row that is there
 * means that row. */
static const mishap_code *derive(mishap *m, mishap_text name, mishap_category category,
                                 int http_status)
{
    const mishap_code *derived = mishap_code_derive(&m->arena, name, category, http_status);
    const mishap_code *same = derived
                                  ? mishap_catalog_find(MISHAP_SPELLING_HTTP, derived->http_name)
                                  : NULL;
    m->status_known = http_status != 0;
    return same ? same : derived;
}

mishap *mishap_restore(mishap_spelling spelling, mishap_text text, mishap_category category,
                       int http_status, const mishap_code *otherwise)
{
    char name[128];
    const mishap_code *code = mishap_catalog_find(spelling, text);
    if (code)
        return mishap_restore_code(code);
    mishap *m = mishap_restore_code(otherwise);
    if (m->constant || !mishap_code_unspell(text, name, sizeof name))
        return m;
    code = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_text_of(name));
    if (!code)
        code = derive(m, mishap_text_of(name), category, http_status);
    if (!code) {
        m->incomplete = true;
        return m;
    }
    m->told.code = code;
    m->told.category = code->category;
    m->told.retryable = code->retry == MISHAP_RETRY_YES;
    m->told.retry_after_ms = code->retry_after_ms;
    return m;
}

/* A row that was derived says what its category says, but for the HTTP status where that was known.
 */
static const mishap_code *derive_again(mishap *m, mishap_category category)
{
    const mishap_code *old = m->told.code;
    if (old->category == category || mishap_catalog_find(MISHAP_SPELLING_NAME, old->name))
        return old;
    return mishap_code_derive(&m->arena, old->name, category,
                              m->status_known ? old->http_status : 0);
}

void mishap_restore_category(mishap *m, mishap_category category)
{
    if (mishap_fixed(m))
        return;
    const mishap_code *code = derive_again(m, category);
    m->told.category = category;
    m->told.code = code ? code : m->told.code;
    m->incomplete = m->incomplete || !code;
}

void mishap_restore_failed(mishap *m)
{
    if (!mishap_fixed(m))
        m->incomplete = true;
}

bool mishap_restore_end(mishap *m, mishap **out)
{
    if (mishap_fixed(m) || m->incomplete) {
        mishap_free(m);
        return false;
    }
    *out = m;
    return true;
}
