/* The texts of the public side, each set as a whole: message, cause, suggestion and their like. */
#include "base/base.h"
#include "mishap/inside.h"
#include "mishap/restore.h"

mishap *mishap_message(mishap *m, mishap_text message)
{
    if (!mishap_fixed(m))
        mishap_set_message(m, mishap_keep_words(m, message));
    return m;
}

/* A type is one word: white space and control characters become hyphens. That comes first, since it
 * may make an address of what was none. */
static mishap_text keep_type(mishap *m, mishap_text text)
{
    mishap_text type = mishap_keep_words(m, text);
    char *letters = (char *)(uintptr_t)type.data; /* ours, just made */
    for (size_t i = 0; i < type.length; i++)
        if ((unsigned char)letters[i] <= ' ' || letters[i] == 127)
            letters[i] = '-';
    /* One that the catalog has for the code anyway is not the occurrence's own. */
    return mishap_text_equal(type, m->told.code->condition) ? (mishap_text){ "", 0 }
                                                            : mishap_keep_words(m, type);
}

mishap *mishap_restore_part(mishap *m, mishap_part part, mishap_text text)
{
    if (mishap_fixed(m))
        return m;
    static const mishap_text none = { "", 0 };
    const mishap_code *code = m->told.code;
    switch (part) {
    case MISHAP_PART_MESSAGE:
        return mishap_message(m, text);
    case MISHAP_PART_CAUSE:
        m->told.cause = mishap_keep_words(m, text);
        break;
    case MISHAP_PART_SUGGESTION:
        m->told.suggestion = mishap_keep_words(m, mishap_text_equal(text, code->suggestion) ? none
                                                                                            : text);
        break;
    case MISHAP_PART_DOCS_URL:
        /* What is no address leads nowhere. */
        m->told.docs_url = mishap_keep_words(
            m, !mishap_url_valid(text) || mishap_text_equal(text, code->docs_url) ? none : text);
        break;
    case MISHAP_PART_INCIDENT:
        m->told.incident = mishap_keep_words(m, text);
        break;
    case MISHAP_PART_TYPE:
        m->told.type = keep_type(m, text);
        break;
    case MISHAP_PART_OUTPUT:
        m->told.output = mishap_keep(m, text);
        break;
    }
    return m;
}

mishap *mishap_tell_cause(mishap *m, const char *summary)
{
    return mishap_restore_part(m, MISHAP_PART_CAUSE, mishap_text_of(summary));
}

mishap *mishap_suggest(mishap *m, const char *suggestion)
{
    return mishap_restore_part(m, MISHAP_PART_SUGGESTION, mishap_text_of(suggestion));
}

mishap *mishap_docs(mishap *m, const char *url)
{
    return mishap_restore_part(m, MISHAP_PART_DOCS_URL, mishap_text_of(url));
}

mishap *mishap_incident(mishap *m, const char *id)
{
    return mishap_restore_part(m, MISHAP_PART_INCIDENT, mishap_text_of(id));
}

mishap *mishap_type(mishap *m, const char *type)
{
    return mishap_restore_part(m, MISHAP_PART_TYPE, mishap_text_of(type));
}

mishap *mishap_output(mishap *m, mishap_text output)
{
    return mishap_restore_part(m, MISHAP_PART_OUTPUT, output);
}
